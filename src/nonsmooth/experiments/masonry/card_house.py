"""Houses of cards of 4, 5 and 10 levels: cards that lean by their edges, held by friction alone.

The sizes are those of the splitting method for exact friction of SCA 2026 (26, 40 and 155 cards, μ = 0.8, a
step of 1/240 s), as convex hulls. Here every contact is closed at the start, so that the house must not move.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nonsmooth._support.progress import Progress
from nonsmooth.experiments.base import Old
from nonsmooth.experiments.masonry.standing import Building, Standing, run_buildings
from nonsmooth.experiments.summary import Comparison, Summary
from nonsmooth.scenes.cards import card_house

STEP = 1.0 / 240.0
"""s"""
FULL, QUICK = 600, 20
"""Steps."""


def _worst(each: Standing) -> tuple[float, ...]:
    return (each.run.certificate.worst,)


def _building(levels: int, cards: int, tolerance: float, published: tuple[Comparison, ...] = ()) -> Building:
    return Building(
        f"levels_{levels}",
        f"{levels} levels, {cards} cards",
        partial(card_house, levels, hull=True),
        STEP,
        tolerance,
        published=published,
        measured=_worst if published else None,
    )


SMALL = _building(
    4, 26, 1e-8,
    (Comparison("largest residual of a step", 4.1e-4, 0.0, "",
                "theirs is an island of 56 contacts after 200 iterations of DART's rebuilt method"),),
)  # fmt: skip
MIDDLE = _building(5, 40, 1e-8)
LARGE = _building(10, 155, 1e-6)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    buildings = (SMALL, MIDDLE) if quick else (SMALL, MIDDLE, LARGE)
    return run_buildings(CARD_HOUSE, buildings, QUICK if quick else FULL, folder, progress)


CARD_HOUSE = Old(
    "card-house",
    "houses of 26, 40 and 155 cards that lean by their edges: every step certified, and they stand",
    "the card houses of the splitting method for exact friction (SCA 2026), and DART's record of it",
    run,
)
