"""Terminal output: tables, progress bars, plots, and JSON."""
