"""What the terminal shows: tables, bars, plots, and JSON."""
