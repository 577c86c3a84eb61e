"""Helpers for all packages: compiled kernels and their cache, checks of options, interrupts, texts."""
