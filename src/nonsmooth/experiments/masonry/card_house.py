"""Houses of cards of 4, 5 and 10 levels: cards that lean by their edges, held by friction alone.

The sizes are those of the splitting method for exact friction of SCA 2026 (26, 40 and 155 cards, μ = 0.8, a
step of 1/240 s), as convex hulls. Here every contact is closed at the start, so that the house must not move.
"""

from __future__ import annotations

from functools import partial

from nonsmooth.experiments.masonry.standing import Building, Setup, Standing, StandingBuildings
from nonsmooth.experiments.summary import Comparison
from nonsmooth.scenes.cards import card_house

STEP = 1.0 / 240.0
"""s"""


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


class CardHouse(StandingBuildings):
    """Houses of four, five and ten levels."""

    name = "card-house"
    summary = "houses of 26, 40 and 155 cards that lean by their edges: every step certified, and they stand"
    paper = "the card houses of the splitting method for exact friction (SCA 2026), and DART's record of it"
    seconds = (15.0, 120.0)
    FULL = Setup((SMALL, MIDDLE, LARGE), 600)
    QUICK = Setup((SMALL, MIDDLE), 20)
