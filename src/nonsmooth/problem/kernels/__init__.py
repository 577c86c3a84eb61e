"""Kernels of the contact problem: cones, masses, operator and residuals."""
