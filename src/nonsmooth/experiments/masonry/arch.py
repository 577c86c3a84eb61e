"""Masonry arches of 25 and 101 stones that stand by contact alone.

The scenes are those of the splitting method for exact friction of SCA 2026, whose stones are convex wedges
between two fixed springers. Every joint is a touching pair of faces: a narrow phase that drops such
a contact, or tilts its normal, makes the arch collapse.
"""

from __future__ import annotations

from functools import partial

from nonsmooth.experiments.masonry.standing import Building, Setup, Standing, StandingBuildings
from nonsmooth.experiments.summary import Comparison
from nonsmooth.scenes.masonry import arch

STEP = 1.0 / 240.0
"""s"""


def _first_residual(each: Standing) -> tuple[float, ...]:
    return (float(each.run.steps["residual"][0]),)


def _time(each: Standing) -> tuple[float, ...]:
    return (1e3 * each.per_step,)


SMALL = Building(
    "arch_25", "25 stones", partial(arch, 25), STEP, 1e-8,
    published=(
        Comparison("time of a step beside others", 6.1, 0.0, "ms",
                   "theirs is DART's rebuilt method at 1e-6 (96 contacts, 600 steps); ours is at 1e-8"),
    ),
    measured=_time,
)  # fmt: skip
LARGE = Building(
    "arch_101", "101 stones", partial(arch, 101), STEP, 1e-8,
    published=(
        Comparison("residual of the first step", 0.78, 0.0, "",
                   "theirs is DART's rebuilt method after 5,000 iterations: the run fails there"),
    ),
    measured=_first_residual,
)  # fmt: skip


class Arch(StandingBuildings):
    """Two arches."""

    name = "arch"
    summary = "masonry arches of 25 and 101 hull stones: every step at 1e-8, and they stand"
    paper = "the arches of the splitting method for exact friction (SCA 2026), and DART's record of it"
    seconds = (15.0, 60.0)
    FULL = Setup((SMALL, LARGE), 600)
    QUICK = Setup((SMALL, LARGE), 40)
