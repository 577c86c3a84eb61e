"""Exports of runs: the contents of their files."""
