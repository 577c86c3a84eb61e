"""A house of cards: tents of leaning cards, with cards lying between the storeys."""

from __future__ import annotations

import itertools
import math

import numpy as np

from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import Box, ConvexHull, Shape
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene


@scene("a house of cards that lean against each other by their edges", small={"levels": 2})
def card_house(
    levels: int = 4,
    *,
    hull: bool = False,
    lean: float = math.radians(25.0),
    size: tuple[float, float, float] = (2.5, 1.25, 0.04),
    density: float = 200.0,
    friction: float = 0.8,
    gravity: float = 9.81,
) -> System:
    """Return a house of cards at rest: 4, 5 and 10 levels have 26, 40 and 155 cards.

    Two cards lean against each other with an edge each; their feet are edges too. The next level stands on
    cards that lie butted between the tops of neighbouring tents. Cards have the sizes of Song et al. (SCA
    2026), whose house starts with gaps and settles; here all contacts are closed at the start. With a lean φ
    from the vertical, each lying card can hold its two neighbours with friction tan φ, so that the house
    stands where tan φ ≤ μ. The last body is "floor".

    Args:
        levels: storeys.
        hull: whether cards are convex hulls of eight points in place of boxes.
        lean: angle φ of the leaning cards from the vertical, in rad.
        size: length, width and thickness of a card, in m.
        density: kg/m³.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    if levels < 1:
        raise OptionError(f"levels is {levels}: give a whole number, 1 or more")
    length, width, thickness = size
    if not (lean > 0.0 and length * math.sin(lean) + thickness * math.cos(lean) < 0.5 * length):
        raise OptionError(f"lean is {lean} rad: give an angle above 0 and below about 0.5 (29 degrees)")
    sine, cosine = math.sin(lean), math.cos(lean)
    top = length * cosine + thickness * sine
    """Height of a tent: of the outer upper edges of its cards."""
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("card", friction=friction)
    lying = _card((length, width, thickness), hull)
    leaning = _card((thickness, width, length), hull)
    for level in range(levels):
        tents = levels - level
        ground = level * (top + thickness)
        for tent in range(tents):
            x = (tent - 0.5 * (tents - 1)) * length
            if level > 0:
                place = (x, 0.0, ground - 0.5 * thickness)
                system.add_body(lying, density=density, position=place, material="card")
            for side in (-1.0, 1.0):
                place = (
                    x + side * 0.5 * (length * sine + thickness * cosine),
                    0.0,
                    ground + 0.5 * (length * cosine + thickness * sine),
                )
                turn = quaternions.from_axis_angle((0.0, 1.0, 0.0), -side * lean)
                system.add_body(leaning, density=density, position=place, orientation=turn, material="card")
    system.add_plane(material="card", name="floor")
    return system


def _card(size: tuple[float, float, float], hull: bool) -> Shape:
    if not hull:
        return Box(size)
    corners = itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size))
    return ConvexHull(np.array(list(corners)))
