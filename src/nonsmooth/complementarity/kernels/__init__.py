"""Kernels of the complementarity solvers and of the classes of matrices."""
