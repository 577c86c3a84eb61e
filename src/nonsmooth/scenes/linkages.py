"""Mechanisms without contact: slider-crank, double pendulum, chain, top, four-bars and a door.

All but the top move in the plane of x and z, with z up; their pins turn from x towards z. They start closed,
with velocities that their joints and drivers allow.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import optimize
from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Prismatic, Ramp, Revolute, Spherical
from nonsmooth.model.system import System
from nonsmooth.scenes._plane import add_bar, add_pin, at_least, dyad, in_space
from nonsmooth.scenes.registry import scene


@scene("a slider moved by a driven crank")
def slider_crank(
    *,
    crank: float = 0.1,
    rod: float = 0.25,
    speed: float = 10.0,
    angle: float = 0.5,
    crank_mass: float = 1.0,
    rod_mass: float = 0.5,
    slider_mass: float = 0.4,
    gravity: float = 9.81,
) -> System:
    """Return a slider on the x axis, moved by a crank about the origin that a driver turns.

    Bodies: "crank", "rod", "slider"; joints: "shaft" (driven), "crank pin", "slider pin", "guide". Crank and
    rod are thin uniform bars.

    Args:
        crank: length in m.
        rod: length in m, more than the crank's.
        speed: of the crank, in rad/s.
        angle: of the crank from the x axis at the start, in rad.
        crank_mass, rod_mass, slider_mass: kg.
        gravity: m/s², downwards (−z).
    """
    if not rod > crank > 0.0:
        raise OptionError(f"rod is {rod} m and crank {crank} m: the rod must be longer, or the crank stops")
    pin = cmath.rect(crank, angle)
    pin_velocity = 1j * speed * pin
    reach = math.sqrt(rod**2 - pin.imag**2)
    slider = complex(pin.real + reach, 0.0)
    slider_velocity = complex(pin_velocity.real - pin.imag * pin_velocity.imag / reach, 0.0)
    system = System(gravity=(0.0, 0.0, -gravity))
    add_bar(system, "crank", (0j, pin), (0j, pin_velocity), mass=crank_mass)
    add_bar(system, "rod", (pin, slider), (pin_velocity, slider_velocity), mass=rod_mass)
    system.add_body(
        None,
        mass=slider_mass,
        inertia=np.full(3, slider_mass * (0.1 * crank) ** 2),
        position=in_space(slider),
        velocity=in_space(slider_velocity),
        name="slider",
    )
    add_pin(system, None, "crank", 0j, "shaft")
    add_pin(system, "crank", "rod", pin, "crank pin")
    add_pin(system, "rod", "slider", slider, "slider pin")
    system.add_joint(Prismatic(None, "slider", point=in_space(slider), axis=(1, 0, 0), name="guide"))
    system.add_driver("shaft", Ramp(speed))
    return system


@scene("two bars that hang from each other")
def double_pendulum(
    *,
    angles: tuple[float, float] = (0.5 * math.pi, 0.5 * math.pi),
    lengths: tuple[float, float] = (1.0, 1.0),
    masses: tuple[float, float] = (1.0, 1.0),
    gravity: float = 9.81,
) -> System:
    """Return two thin uniform bars that hang at rest from the origin and from each other.

    Bodies: "upper", "lower"; joints: "shoulder", "elbow".

    Args:
        angles: of the bars from the downward vertical, towards x, in rad.
        lengths: m.
        masses: kg.
        gravity: m/s², downwards (−z).
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    elbow = cmath.rect(lengths[0], angles[0] - 0.5 * math.pi)
    add_bar(system, "upper", (0j, elbow), mass=masses[0])
    tip = elbow + cmath.rect(lengths[1], angles[1] - 0.5 * math.pi)
    add_bar(system, "lower", (elbow, tip), mass=masses[1])
    add_pin(system, None, "upper", 0j, "shoulder")
    add_pin(system, "upper", "lower", elbow, "elbow")
    return system


@dataclass(frozen=True)
class Drag:
    """A force field that slows all bodies down: −rate · (momentum), as in a viscous fluid.

    Args:
        rate: in 1/s.
    """

    rate: float

    def __call__(self, t: float, system: System) -> tuple[Floats, Floats]:
        """Return forces (n, 3) in N, world frame, and torques (n, 3) in N·m, body frame."""
        spin = np.einsum("nij,nj->ni", system.inertia, system.angular_velocity)
        return -self.rate * system.mass[:, None] * system.linear_velocity, -self.rate * spin


@scene("links that hang between two points, or from one", small={"links": 10}, scheme="rattle", step=0.001)
def chain(
    links: int = 100,
    *,
    length: float = 1.5,
    span: float | None = 1.0,
    mass: float = 1.0,
    drag: float = 0.0,
    gravity: float = 9.81,
) -> System:
    """Return a chain of equal thin bars with pins along y, at rest, from the origin on.

    Hung between two points at one height it starts as an arc of a circle; free at its far end, it starts
    level along x. Bodies and joints are in order from the origin.

    Args:
        links: how many, 2 or more.
        length: of the whole chain, in m.
        span: distance of the two points in m; None for a chain that is free at its far end.
        mass: of the whole chain, in kg.
        drag: rate in 1/s at which a fluid would slow each link down; none by default.
        gravity: m/s², downwards (−z).
    """
    at_least("links", links, 2)
    joints = np.arange(links + 1) * (length / links) + 0j if span is None else _arc(links, length, span)
    system = System(gravity=(0.0, 0.0, -gravity))
    for start, end in zip(joints[:-1].tolist(), joints[1:].tolist(), strict=True):
        add_bar(system, None, (start, end), mass=mass / links)
    for link in range(links):
        add_pin(system, link - 1 if link else None, link, complex(joints[link]))
    if span is not None:
        add_pin(system, links - 1, None, complex(span, 0.0))
    if drag:
        system.add_force_field(Drag(drag))
    return system


def _arc(links: int, length: float, span: float) -> NDArray[np.complex128]:
    """Joints (links + 1,) of equal bars on an arc of a circle that hangs between 0 and `span`."""
    if not 0.0 < span < length:
        raise OptionError(
            f"span is {span} m: give less than the chain's length of {length} m, and more than 0"
        )
    ratio = span / length
    # Each bar turns by `bend` from the last: their sum is sin(n bend/2) / sin(bend/2) bars long.
    bend = optimize.brentq(
        lambda b: math.sin(0.5 * links * b) / math.sin(0.5 * b) / links - ratio, 1e-9, 2.0 * math.pi / links
    )
    directions = np.exp(1j * bend * (np.arange(links) - 0.5 * (links - 1)))
    return np.concatenate([[0j], np.cumsum(directions) * (length / links)])


@scene("a spinning top on a fixed point")
def top(
    *,
    mass: float = 0.5,
    height: float = 0.04,
    axial: float = 4e-4,
    across: float = 3e-4,
    tilt: float = 0.5,
    spin: float = 150.0,
    precession_rate: float = 0.0,
    gravity: float = 9.81,
) -> System:
    """Return a symmetric top on a fixed point at the origin, tilted towards −y. Body: "top", joint: "tip".

    Args:
        mass: kg.
        height: of the centre of mass above the tip, along the axis, in m.
        axial: moment of inertia about the axis, in kg·m².
        across: moment of inertia across the axis, about the centre of mass, in kg·m².
        tilt: of the axis from the vertical, in rad.
        spin: whole angular velocity about the axis, in rad/s.
        precession_rate: angular velocity in rad/s of the axis about the vertical at the start.
        gravity: m/s², downwards (−z).
    """
    turn = quaternions.from_axis_angle((1.0, 0.0, 0.0), tilt)
    rates = np.array([0.0, precession_rate * math.sin(tilt), spin])  # body frame
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_body(
        None,
        mass=mass,
        inertia=(across, across, axial),
        position=quaternions.rotate(turn, (0.0, 0.0, height)),
        orientation=turn,
        velocity=quaternions.rotate(turn, np.cross(rates, (0.0, 0.0, height))),
        angular_velocity=rates,
        name="top",
    )
    system.add_joint(Spherical(None, "top", point=(0.0, 0.0, 0.0), name="tip"))
    return system


@dataclass(frozen=True)
class FourBar:
    """Lengths in m of a four-bar: the crank can go all the way round if crank and the longest together are
    not longer than the other two."""

    crank: float = 0.3
    coupler: float = 0.9
    rocker: float = 0.7
    ground: float = 1.0


@scene("a crank, a coupler and a rocker, driven or falling")
def four_bar(
    *,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    ground: float = 1.0,
    angle: float = 1.0,
    driven: bool = True,
    speed: float = 2.0 * math.pi,
    gravity: float = 9.81,
) -> System:
    """Return a crank, a coupler and a rocker, thin uniform bars of 1 kg per metre.

    Bodies: "crank", "coupler", "rocker"; joints: "shaft", "crank pin", "rocker pin", "pivot".

    Args:
        crank, coupler, rocker: lengths in m.
        ground: distance of the two fixed pins along x, in m.
        angle: of the crank from the x axis at the start, in rad.
        driven: whether a driver turns the crank; else all starts at rest and falls.
        speed: of the driven crank, in rad/s.
        gravity: m/s², downwards (−z).
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    _add_four_bar(system, FourBar(crank, coupler, rocker, ground), 0j, angle, speed if driven else None, "")
    return system


@scene("many separate four-bars", small={"rows": 2, "columns": 2})
def four_bar_grid(
    rows: int = 10,
    columns: int = 10,
    *,
    driven: bool = True,
    speed: float = 2.0 * math.pi,
    gravity: float = 9.81,
) -> System:
    """Return many separate four-bars side by side, each at another angle of its crank.

    Bodies and joints are named as in `four_bar`, with the number of the four-bar after it: "crank 0", …

    Args:
        rows: one above the other.
        columns: side by side.
        driven: whether drivers turn the cranks; else all starts at rest and falls.
        speed: of the driven cranks, in rad/s.
        gravity: m/s², downwards (−z).
    """
    at_least("rows", rows, 1)
    at_least("columns", columns, 1)
    system, lengths = System(gravity=(0.0, 0.0, -gravity)), FourBar()
    for number in range(rows * columns):
        row, column = divmod(number, columns)
        angle = 2.0 * math.pi * number / (rows * columns)
        origin = complex(2.0 * lengths.ground * column, 2.0 * lengths.ground * row)
        _add_four_bar(system, lengths, origin, angle, speed if driven else None, f" {number}")
    return system


def _add_four_bar(
    system: System, lengths: FourBar, origin: complex, angle: float, speed: float | None, suffix: str
) -> None:
    """Add a four-bar with its shaft at `origin`, and a driver if there is a speed (rad/s)."""
    pin = origin + cmath.rect(lengths.crank, angle)
    pin_velocity = 1j * (speed or 0.0) * (pin - origin)
    pivot = origin + lengths.ground
    knee, knee_velocity = dyad((pin, pin_velocity), (pivot, 0j), (lengths.coupler, lengths.rocker), 1.0)
    crank, coupler, rocker = (f"{name}{suffix}" for name in ("crank", "coupler", "rocker"))
    add_bar(system, crank, (origin, pin), (0j, pin_velocity), mass=lengths.crank)
    add_bar(system, coupler, (pin, knee), (pin_velocity, knee_velocity), mass=lengths.coupler)
    add_bar(system, rocker, (knee, pivot), (knee_velocity, 0j), mass=lengths.rocker)
    add_pin(system, None, crank, origin, f"shaft{suffix}")
    add_pin(system, crank, coupler, pin, f"crank pin{suffix}")
    add_pin(system, coupler, rocker, knee, f"rocker pin{suffix}")
    add_pin(system, rocker, None, pivot, f"pivot{suffix}")
    if speed is not None:
        system.add_driver(f"shaft{suffix}", Ramp(speed))


@scene("a door on redundant hinges")
def door(
    hinges: int = 3,
    *,
    width: float = 1.0,
    height: float = 2.0,
    mass: float = 20.0,
    push: float = 3.0,
    gravity: float = 9.81,
) -> System:
    """Return a door at rest on hinges along its edge, the z axis, with a force that swings it open.

    From two hinges on, they hold more than they need to: motion is the same as on one, and their reactions
    are those of least norm. Body: "door"; joints: "hinge 0" (the lowest), "hinge 1", …

    Args:
        hinges: how many, from a tenth to nine tenths of the height; one is in the middle.
        width, height: m; the door is 0.05 m thick.
        mass: kg.
        push: force in N along +y on the door's centre.
        gravity: m/s², downwards (−z).
    """
    at_least("hinges", hinges, 1)
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_box((width, 0.05, height), mass=mass, position=(0.5 * width, 0, 0.5 * height), name="door")
    parts = np.linspace(0.1, 0.9, hinges) if hinges > 1 else np.array([0.5])
    for number, part in enumerate(parts.tolist()):
        system.add_joint(
            Revolute(None, "door", point=(0, 0, part * height), axis=(0, 0, 1), name=f"hinge {number}")
        )
    if push:
        system.add_force("door", force=(0.0, push, 0.0))
    return system
