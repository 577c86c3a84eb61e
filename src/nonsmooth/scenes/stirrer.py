"""A four-bar stirrer in a bed of spheres: joints, a driver and contacts in one system."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import optimize
from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Ramp
from nonsmooth.model.shapes import Box, Compound
from nonsmooth.model.system import System
from nonsmooth.scenes._plane import AXIS, add_bar, add_pin, at_least, dyad, in_space, turned
from nonsmooth.scenes.filling import add_container, lattice
from nonsmooth.scenes.registry import scene

_COUPLER, _ROCKER, _GROUND, _ARM = 3.0, 2.5, 3.5, 5.0
"""Lengths as multiples of the crank's: pin to pin, rocker, distance of the fixed pins, pin to paddle."""
_ARM_ANGLE = math.radians(-44.9)
"""Angle of the arm in the middle of its swing; the paddle is upright then."""
_TIP = 2.0
"""How far the paddle reaches below the arm's end, in cranks."""
_LOWEST, _CENTRE = -5.98, 3.59
"""Lowest point and middle of the way of the paddle's tip, as seen from the shaft, in cranks."""
_WIDTH = 6.5
"""Of the container, in cranks."""
_BED = 1.1
"""Depth of the bed above the lowest point of the paddle, in cranks."""
_CLEARANCE = 3.0
"""Between the paddle and the floor, in radii of the spheres: three radii cannot jam."""
_PACKING = 0.6
"""Part of the bed's volume that is filled."""


@dataclass(frozen=True)
class _Plan:
    """Sizes of a stirrer in m."""

    width: float
    crank: float
    shaft: complex
    thickness: float
    """Of the bars and of the paddle."""
    paddle: tuple[float, float, float]

    @classmethod
    def of(cls, spheres: int, radius: float) -> _Plan:
        """Choose the container that the spheres fill as deep as the paddle needs it."""
        volume = spheres * 4.0 / 3.0 * math.pi / _PACKING
        radii = optimize.brentq(lambda w: w * w * (_CLEARANCE + _BED / _WIDTH * w) - volume, 0.1, 1e6)
        width = radius * float(radii)
        crank = width / _WIDTH
        shaft = complex(-_CENTRE * crank, _CLEARANCE * radius - _LOWEST * crank)
        thickness = 0.25 * crank
        return cls(width, crank, shaft, thickness, (thickness, 0.4 * width, 2.2 * crank))


@scene("a four-bar that stirs a bed of spheres with a paddle", small={"spheres": 60}, step=0.002)
def stirrer(
    spheres: int = 500,
    *,
    radius: float = 0.05,
    density: float = 2500.0,
    friction: float = 0.3,
    speed: float = 2.0 * math.pi,
    strength: float = 5.0,
    gravity: float = 9.81,
    seed: int = 0,
) -> System:
    """Return a crank that a motor turns at constant speed, and a paddle on the coupler of its four-bar.

    The paddle goes round in a loop through a bed of spheres, which starts as a lattice and settles in the
    first tenths of a second. If spheres jam between paddle and floor, the motor
    yields. The first bodies are the spheres; then come the container as in `filling`, and "crank", "coupler"
    (with the paddle) and "rocker". Joints: "shaft" (driven), "crank pin", "rocker pin", "pivot". All sizes
    follow from the spheres.

    Args:
        spheres: how many.
        radius: of each, in m.
        density: of spheres, bars and paddle, in kg/m³.
        friction: μ of all contacts.
        speed: of the crank, in rad/s.
        strength: largest torque of the motor, as a multiple of all spheres' weight at the end of the crank;
            if it is infinite, a driver takes the motor's place, and nothing stops it.
        gravity: m/s², downwards (−z).
        seed: of the small random shifts of the spheres.
    """
    at_least("spheres", spheres, 20)
    if not (math.isfinite(radius) and radius > 0.0):
        raise OptionError(f"radius is {radius} m: give a positive length")
    plan = _Plan.of(spheres, radius)
    pin = plan.shaft - plan.crank  # the paddle is at its highest
    pin_velocity = -1j * speed * plan.crank
    pivot = plan.shaft + _GROUND * plan.crank
    lengths = _COUPLER * plan.crank, _ROCKER * plan.crank
    knee, knee_velocity = dyad((pin, pin_velocity), (pivot, 0j), lengths, -1.0)
    arm, turn = cmath.phase(knee - pin), ((knee_velocity - pin_velocity) / (knee - pin)).imag
    coupler = _coupler(plan)
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("stuff", friction=friction)
    places = _free_places(spheres, radius, plan, coupler, pin, arm, seed)
    system.add_spheres(radius, places, density=density, material="stuff")
    add_container(system, plan.width, "stuff")
    bar_mass = density * plan.thickness**2
    _add_link(system, plan, "crank", (plan.shaft, pin), (0j, pin_velocity), bar_mass, -1.0)
    centre = complex(*coupler.mass_properties(density).centre[[0, 2]]) * cmath.rect(1.0, arm)
    system.add_body(
        coupler,
        density=density,
        position=in_space(pin + centre),
        orientation=turned(arm),
        velocity=in_space(pin_velocity + 1j * turn * centre),
        angular_velocity=(0.0, -turn, 0.0),
        material="stuff",
        name="coupler",
    )
    _add_link(system, plan, "rocker", (knee, pivot), (knee_velocity, 0j), bar_mass, 1.0)
    add_pin(system, None, "crank", plan.shaft, "shaft")
    add_pin(system, "crank", "coupler", pin, "crank pin")
    add_pin(system, "coupler", "rocker", knee, "rocker pin")
    add_pin(system, "rocker", None, pivot, "pivot")
    if math.isinf(strength):
        system.add_driver("shaft", Ramp(speed))
    else:
        weight = gravity * float(system.mass[:spheres].sum())
        system.add_motor("shaft", speed=speed, limit=strength * weight * plan.crank)
    for link in ("crank", "coupler", "rocker"):  # they stand above the container and reach over its walls
        for plane in ("left", "right", "front", "back"):
            system.ignore_contacts(link, plane)
    return system


def _coupler(plan: _Plan) -> Compound:
    """The arm along x from the crank's pin, and the paddle at its end."""
    length, height = _ARM * plan.crank, plan.paddle[2]
    down = cmath.rect(_TIP * plan.crank - 0.5 * height, -0.5 * math.pi - _ARM_ANGLE)
    upright = quaternions.from_axis_angle(AXIS, -_ARM_ANGLE)
    return Compound(
        (
            (Box((length, plan.thickness, plan.thickness)), (0.5 * length, 0.0, 0.0), quaternions.IDENTITY),
            (Box(plan.paddle), in_space(length + down), upright),
        )
    )


def _add_link(
    system: System,
    plan: _Plan,
    name: str,
    ends: tuple[complex, complex],
    velocities: tuple[complex, complex],
    mass_per_length: float,
    side: float,
) -> None:
    """Add a bar in front of the coupler (side = −1) or behind it (1)."""
    length = abs(ends[1] - ends[0])
    shape = Box((length, plan.thickness, plan.thickness))
    y = 1.2 * side * plan.thickness
    mass = mass_per_length * length
    add_bar(system, name, ends, velocities, mass=mass, y=y, shape=shape, material="stuff")


def _free_places(
    spheres: int, radius: float, plan: _Plan, coupler: Compound, pin: complex, arm: float, seed: int
) -> Floats:
    """Places (spheres, 3) of the lattice in the container that the coupler leaves free."""
    places = lattice(3 * spheres, radius, plan.width, seed)
    own = quaternions.rotate_back(turned(arm), places - in_space(pin))
    free = np.ones(len(places), dtype=bool)
    for piece in coupler.pieces():
        inside = quaternions.rotate_back(piece.orientation, own - piece.position)
        outside = np.maximum(np.abs(inside) - piece.shape.extents, 0.0)
        free &= np.linalg.norm(outside, axis=1) > 1.05 * radius
    return places[free][:spheres]
