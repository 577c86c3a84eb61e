"""Arches, card houses and Kapla towers of hulls and boxes."""
