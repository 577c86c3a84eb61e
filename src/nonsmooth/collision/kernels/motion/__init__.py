"""What the motion within a step decides: fast pairs, sweeps, points that come or cover others."""
