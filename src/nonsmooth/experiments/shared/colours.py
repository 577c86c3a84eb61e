"""Colours that colour-blind readers can distinguish; red is reserved for answers."""

from __future__ import annotations

BLUE, ORANGE, GREEN, RED = "#0072B2", "#D55E00", "#009E73", "#CC0000"
LIGHT_GREY, DARK_GREY = "#BBBBBB", "#333333"
