"""Kernels of joints: rows, values and rates of all kinds at once."""
