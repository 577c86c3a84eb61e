"""The best direction between two convex solids, proven, and nearest points."""
