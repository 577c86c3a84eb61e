"""Recordings and checkpoints of runs."""
