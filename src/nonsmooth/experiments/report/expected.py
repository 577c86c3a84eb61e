"""How long experiments take, roughly: for the bar, until times were measured in the folder itself."""

from __future__ import annotations

from nonsmooth.experiments.report.runs import Reproduction

_QUICK_AND_FULL: dict[str, tuple[float, float]] = {
    "melanz-ball": (10.0, 10.0),
    "melanz-filling": (15.0, 370.0),
    "melanz-compaction": (25.0, 3600.0),
    "melanz-scaling": (10.0, 3600.0),
    "stirrer": (30.0, 150.0),
    "slider-crank": (20.0, 50.0),
    "double-pendulum": (15.0, 30.0),
    "catenary": (15.0, 10.0),
    "spinning-top": (20.0, 30.0),
    "iftomm-pendulum": (15.0, 35.0),
    "iftomm-four-bar": (20.0, 55.0),
    "iftomm-squeezer": (25.0, 55.0),
    "iftomm-bricard": (25.0, 40.0),
    "iftomm-governor": (25.0, 130.0),
    "mazhar-static": (20.0, 140.0),
    "mazhar-scaling": (20.0, 2900.0),
    "mazhar-dynamics": (90.0, 100.0),
    "rolling-transition": (15.0, 30.0),
    "studer-block": (10.0, 30.0),
    "studer-load": (35.0, 75.0),
    "bouncing-ball": (10.0, 12.0),
    "rocking-block": (30.0, 75.0),
    "stick-slip-belt": (10.0, 80.0),
    "woodpecker": (15.0, 180.0),
    "slider-clearance": (8.0, 15.0),
    "painleve-rod": (10.0, 15.0),
    "andreani-mcplib": (10.0, 1000.0),
    "andreani-grasps": (5.0, 40.0),
    "andreani-pyramid": (10.0, 25.0),
    "andreani-solvers": (25.0, 350.0),
    "arch": (15.0, 60.0),
    "card-house": (15.0, 120.0),
    "kapla": (15.0, 60.0),
}
"""Seconds by experiment on one core; only how they compare matters.

Measured and rounded; guessed for the full forms of `melanz-compaction`, `melanz-scaling` and `woodpecker`.
"""
_OTHERS = (15.0, 60.0)


def expected_seconds(run: Reproduction) -> list[float]:
    """Seconds of every experiment that is left: measured before in this folder and form, or expected."""
    return [
        run.earlier_seconds(each.name) or _QUICK_AND_FULL.get(each.name, _OTHERS)[0 if run.quick else 1]
        for each in run.left
    ]
