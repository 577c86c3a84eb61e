"""Pictures and films, drawn without a display."""
