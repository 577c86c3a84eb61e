"""Kernels that draw triangles and lines into an image."""
