"""Event-driven simulations of systems with impacts and stick-slip."""
