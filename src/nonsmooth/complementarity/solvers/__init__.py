"""Solvers of complementarity problems: one file per method."""
