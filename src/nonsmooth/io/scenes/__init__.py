"""Scene files in TOML."""
