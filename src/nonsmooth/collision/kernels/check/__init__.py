"""Kernels of the contacts' certificate. They share no code with those that find contacts."""
