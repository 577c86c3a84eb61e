"""How long experiments take, roughly: a first guess for the bar, until times were measured."""

from __future__ import annotations

from nonsmooth.reproduce.runs import Reproduction

_QUICK_AND_FULL: dict[str, tuple[float, float]] = {
    "melanz-ball": (8.0, 10.0),
    "melanz-filling": (15.0, 600.0),
    "melanz-compaction": (30.0, 3600.0),
    "melanz-scaling": (8.0, 3600.0),
    "mazhar-dynamics": (40.0, 120.0),
    "mazhar-static": (8.0, 170.0),
    "mazhar-scaling": (8.0, 3600.0),
    "studer-block": (6.0, 10.0),
    "andreani-mcplib": (25.0, 900.0),
    "andreani-pyramid": (12.0, 60.0),
    "andreani-solvers": (25.0, 300.0),
    "painleve-rod": (35.0, 120.0),
    "woodpecker": (20.0, 120.0),
}
"""Seconds by experiment; only how they compare matters."""
_OTHERS = (10.0, 120.0)


def expected_seconds(run: Reproduction) -> list[float]:
    """Seconds of every experiment that is left: measured before in this folder and form, or guessed."""
    return [
        run.earlier_seconds(each.name) or _QUICK_AND_FULL.get(each.name, _OTHERS)[0 if run.quick else 1]
        for each in run.left
    ]
