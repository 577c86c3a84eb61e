"""Kernels of meshes and height fields: their arrays, trees, sides and contacts."""
