"""How complementarity problems are solved: one file per method."""
