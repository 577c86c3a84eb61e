"""Kernels of a time step: motion, rows of contacts and joints, impacts."""
