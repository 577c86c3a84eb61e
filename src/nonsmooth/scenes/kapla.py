"""The Kapla tower of SimBenchmark: storeys of cross-pieces and planks, laid without glue."""

from __future__ import annotations

import itertools

import numpy as np

from nonsmooth.errors import OptionError
from nonsmooth.model.shapes import Box, ConvexHull, Shape
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene

_SHORT, _LONG, _HEIGHT = 0.05, 0.2, 0.1
"""Of a plank, in m; a cross-piece is longer by `_SHORT`."""


@scene("a tower of 102 wooden blocks laid loosely (SimBenchmark)", small={"floors": 2, "bases": 4})
def kapla(
    floors: int = 6,
    *,
    bases: int = 8,
    hull: bool = False,
    mass: float = 10.0,
    friction: float = 0.5,
    gravity: float = 9.81,
) -> System:
    """Return the tower at rest: `floors` (2 `bases` + 1) blocks, 102 by default. The last body is "floor".

    A storey has `bases` cross-pieces along y, 0.2 m apart along x. On their front ends lie planks over every
    other gap; on their back ends planks over the gaps between those, and over the first and the last gap. So
    every block of the next storey rests on a quarter or a half of its end faces, and an end cross-piece has
    its centre exactly over the edge of what carries it: the weight above holds it.

    Args:
        floors: storeys.
        bases: cross-pieces of a storey; an even number of at least 4.
        hull: whether blocks are convex hulls of eight points in place of boxes.
        mass: of each block, in kg.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    if floors < 1:
        raise OptionError(f"floors is {floors}: give a whole number, 1 or more")
    if bases < 4 or bases % 2:
        raise OptionError(f"bases is {bases}: give an even number of at least 4")
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("wood", friction=friction)
    cross = _block((_SHORT, _LONG + _SHORT, _HEIGHT), hull)
    plank = _block((_LONG, _SHORT, _HEIGHT), hull)
    front = [2 * gap for gap in range(bases // 2)]
    back = [2 * gap + 1 for gap in range(bases // 2 - 1)] + [0, bases - 2]
    middle = 0.5 * (bases - 1)
    for floor in range(floors):
        low = 2 * floor * _HEIGHT
        for base in range(bases):
            place = ((base - middle) * _LONG, 0.0, low + 0.5 * _HEIGHT)
            system.add_body(cross, mass=mass, position=place, material="wood")
        for side, gaps in ((-0.5, front), (0.5, back)):
            for gap in gaps:
                place = ((gap + 0.5 - middle) * _LONG, side * _LONG, low + 1.5 * _HEIGHT)
                system.add_body(plank, mass=mass, position=place, material="wood")
    system.add_plane(material="wood", name="floor")
    return system


def _block(size: tuple[float, float, float], hull: bool) -> Shape:
    if not hull:
        return Box(size)
    corners = itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size))
    return ConvexHull(np.array(list(corners)))
