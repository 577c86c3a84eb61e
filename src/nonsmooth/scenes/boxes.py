"""Boxes on an incline, in a stack, in a wall and in a pyramid: flat faces and long paths of forces."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene


@scene("a box on a slope that stays or slides")
def box_on_incline(
    *,
    angle: float = math.radians(20.0),
    friction: float = 0.25,
    size: tuple[float, float, float] = (0.4, 0.3, 0.2),
    mass: float = 1.0,
    gravity: float = 9.81,
) -> System:
    """Return a box at rest on a slope that falls towards +x.

    It stays where tan(angle) ≤ μ, and slides with g (sin − μ cos) where the slope is steeper, as long as it
    does not tip over. Bodies: "box", "slope".

    Args:
        angle: of the slope against the horizontal, in rad.
        friction: μ.
        size: edge lengths in m; the first points down the slope, the last away from it.
        mass: kg.
        gravity: m/s², downwards (−z).
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("wood", friction=friction)
    normal = np.array([math.sin(angle), 0.0, math.cos(angle)])
    turn = quaternions.from_axis_angle((0.0, 1.0, 0.0), angle)
    system.add_box(
        size, mass=mass, position=0.5 * size[2] * normal, orientation=turn, material="wood", name="box"
    )
    system.add_plane(normal, material="wood", name="slope")
    return system


@scene("cubes one upon the other")
def box_stack(
    boxes: int = 5, *, edge: float = 1.0, density: float = 500.0, friction: float = 0.5, gravity: float = 9.81
) -> System:
    """Return cubes at rest, one upon the other. The last body is "floor".

    Args:
        boxes: how many.
        edge: of each cube, in m.
        density: kg/m³.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    _at_least_one("boxes", boxes)
    places = ((0.0, (layer + 0.5) * edge) for layer in range(boxes))
    return _bricks(places, (edge, edge, edge), density, friction, gravity)


@scene("a wall of bricks in running bond")
def box_wall(
    rows: int = 5,
    columns: int = 6,
    *,
    size: tuple[float, float, float] = (0.4, 0.2, 0.2),
    density: float = 2000.0,
    friction: float = 0.6,
    gravity: float = 9.81,
) -> System:
    """Return a wall of bricks along x, every other row shifted by half a brick. The last body is "floor".

    Args:
        rows: layers of bricks.
        columns: bricks in a row.
        size: of a brick, in m.
        density: kg/m³.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    _at_least_one("rows", rows)
    _at_least_one("columns", columns)
    length, _, height = size
    places = (
        ((column - 0.5 * columns + 0.5 * (row % 2)) * length, (row + 0.5) * height)
        for row in range(rows)
        for column in range(columns)
    )
    return _bricks(places, size, density, friction, gravity)


@scene("a pyramid of bricks")
def box_pyramid(
    base: int = 6,
    *,
    size: tuple[float, float, float] = (0.4, 0.2, 0.2),
    density: float = 2000.0,
    friction: float = 0.6,
    gravity: float = 9.81,
) -> System:
    """Return a pyramid of bricks in the plane of x and z: each row has one fewer. The last body is "floor".

    Args:
        base: bricks in the lowest row.
        size: of a brick, in m.
        density: kg/m³.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    _at_least_one("base", base)
    length, _, height = size
    places = (
        ((column - 0.5 * (base - row - 1)) * length, (row + 0.5) * height)
        for row in range(base)
        for column in range(base - row)
    )
    return _bricks(places, size, density, friction, gravity)


def _bricks(
    places: Iterable[tuple[float, float]],
    size: tuple[float, float, float],
    density: float,
    friction: float,
    gravity: float,
) -> System:
    """Bricks with their centres at (x, z) in m, on a floor z = 0."""
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("brick", friction=friction)
    for x, z in places:
        system.add_box(size, density=density, position=(x, 0.0, z), material="brick")
    system.add_plane(material="brick", name="floor")
    return system


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise OptionError(f"{name} is {value}: give a whole number, 1 or more")
