"""Bars and pins in the plane of x and z; points are complex numbers x + iz in m, velocities in m/s.

Turns go from x towards z: counterclockwise when seen along +y, right-handed about `AXIS`.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Revolute
from nonsmooth.model.shapes import Shape
from nonsmooth.model.system import System

AXIS = (0.0, -1.0, 0.0)
"""Axis of all pins."""
_THIN = 1e-3
"""Moment of inertia of a bar about its own line, as a part of the one across."""

Vector = tuple[float, float, float]


def in_space(point: complex, y: float = 0.0) -> Vector:
    """Return a point or a velocity of the plane as a vector."""
    return (point.real, y, point.imag)


def turned(angle: float) -> np.ndarray:
    """Return the orientation of a body whose x axis has this angle (rad) from the world's."""
    return quaternions.from_axis_angle(AXIS, angle)


def add_bar(
    system: System,
    name: str | None,
    ends: tuple[complex, complex],
    velocities: tuple[complex, complex] = (0j, 0j),
    *,
    mass: float,
    y: float = 0.0,
    shape: Shape | None = None,
    material: str = "default",
) -> int:
    """Add a thin uniform bar with its x axis from one end to the other, and return its index."""
    line = ends[1] - ends[0]
    across = mass * abs(line) ** 2 / 12.0
    rate = ((velocities[1] - velocities[0]) / line).imag
    return system.add_body(
        shape,
        mass=mass,
        inertia=(_THIN * across, across, across),
        position=in_space(0.5 * (ends[0] + ends[1]), y),
        orientation=turned(cmath.phase(line)),
        velocity=in_space(0.5 * (velocities[0] + velocities[1])),
        angular_velocity=(0.0, -rate, 0.0),
        material=material,
        name=name,
    )


def add_pin(
    system: System, a: int | str | None, b: int | str | None, point: complex, name: str | None = None
) -> int:
    """Join two bodies, or a body and the ground (None), by a pin along y, and return the joint's index."""
    return system.add_joint(Revolute(a, b, point=in_space(point), axis=AXIS, name=name))


def dyad(
    start: tuple[complex, complex], end: tuple[complex, complex], lengths: tuple[float, float], side: float
) -> tuple[complex, complex]:
    """Return the pin of two bars of these `lengths` (m) that join `start` to `end`, and its velocity.

    `start` and `end` are points and their velocities; the pin is to the left (side = 1) or to the right
    (side = −1) of the way from start to end.
    """
    line = end[0] - start[0]
    along = 0.5 * (abs(line) ** 2 + lengths[0] ** 2 - lengths[1] ** 2) / abs(line)
    across = lengths[0] ** 2 - along**2
    if across < 0.0:
        raise OptionError(
            f"bars of {lengths[0]:g} m and {lengths[1]:g} m cannot join points {abs(line):g} m apart: "
            "change their lengths"
        )
    first = line / abs(line) * complex(along, side * math.sqrt(across))
    second = first - line
    # The pin moves across either bar as seen from the bar's end: v₁ + i α first = v₂ + i β second.
    apart = -1j * (end[1] - start[1])
    turn = (second.conjugate() * apart).imag / (second.conjugate() * first).imag
    return start[0] + first, start[1] + 1j * turn * first


def at_least(name: str, value: int, least: int) -> None:
    """Raise unless a count is a whole number and not below `least`."""
    if not (isinstance(value, int | np.integer) and value >= least):
        raise OptionError(f"{name} is {value!r}: give a whole number, {least} or more")
