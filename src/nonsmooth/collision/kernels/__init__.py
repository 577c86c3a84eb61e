"""Narrow phase on arrays: convex solids in the world, how far they are apart, and where they touch."""
