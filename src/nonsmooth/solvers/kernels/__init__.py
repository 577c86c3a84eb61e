"""Kernels of the solvers: sweeps, steps and local problems on arrays."""
