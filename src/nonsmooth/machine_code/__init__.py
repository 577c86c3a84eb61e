"""Compiled kernels of the whole package: the work that calls them all, and their compilation in one go."""
