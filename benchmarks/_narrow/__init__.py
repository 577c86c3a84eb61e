"""Poses of two shapes, the truth about their contact by brute force, and the judge of what engines find."""
