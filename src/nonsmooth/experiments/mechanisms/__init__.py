"""Mechanisms of joints beside references."""
