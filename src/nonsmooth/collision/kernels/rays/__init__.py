"""Kernels of ray casts: solids, surfaces, and the tree of all shapes."""
