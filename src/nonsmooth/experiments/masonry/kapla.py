"""SimBenchmark's Kapla tower of 102 blocks, with blocks as boxes and as convex hulls.

SimBenchmark runs it at 0.01 s until it collapses and counts the steps; a tower in equilibrium must not move.
"""

from __future__ import annotations

from functools import partial

from nonsmooth.experiments.masonry.standing import Building, Setup, StandingBuildings
from nonsmooth.scenes.kapla import kapla

STEP = 0.01
"""Time step in s, as in SimBenchmark."""
_VIEW = (-60.0, 16.0, 1.0)
BUILDINGS = (
    Building("hulls", "102 hulls", partial(kapla, hull=True), STEP, 1e-8, _VIEW),
    Building("boxes", "102 boxes", kapla, STEP, 1e-8, _VIEW),
)


class Kapla(StandingBuildings):
    """The tower of hulls and of boxes."""

    name = "kapla"
    summary = (
        "SimBenchmark's Kapla tower of 102 blocks, as hulls and as boxes: every step at 1e-8, and it stands"
    )
    paper = "SimBenchmark (Kang and Hwangbo), Kapla benchmark: 6 floors of 17 blocks of 10 kg, step 0.01 s"
    seconds = (15.0, 60.0)
    FULL = Setup(BUILDINGS, 600)
    QUICK = Setup(BUILDINGS, 20)
