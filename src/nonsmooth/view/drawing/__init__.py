"""Pictures and films, drawn without a screen."""
