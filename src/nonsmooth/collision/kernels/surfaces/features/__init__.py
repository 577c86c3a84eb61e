"""Rows of a triangle's face, edges and vertices under a convex solid."""
