"""Runs for other programs: what of them is written into which file."""
