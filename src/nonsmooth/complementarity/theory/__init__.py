"""Properties of a problem that can be tested before it is solved."""
