"""Mechanisms in space of the IFToMM library of computational benchmark problems: A04 and A05.

Bodies have no shapes: nothing touches.
"""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Prismatic, Revolute, Strut
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene


@scene("six bars on edges of a cube, redundant and movable (IFToMM A04)", scheme="rattle")
def bricard(*, length: float = 1.0, mass: float = 1.0, width: float = 0.1, gravity: float = 9.81) -> System:
    """Return Bricard's mechanism: six bars along edges of a cube, one the ground, at rest (IFToMM A04).

    Bars "bar 1" to "bar 5" join the points P1 to P6 by revolute joints of these names, whose axes are y, z,
    x, y, z, x. Counting says that nothing can move: 5 bodies have 30 freedoms and 6 joints take 30. Yet it
    does, since one row is redundant in every position.

    Args:
        length: of every bar, in m.
        mass: of every bar, in kg.
        width: of the bars' square section, in m.
        gravity: m/s², along −y.
    """
    system = System(gravity=(0.0, -gravity, 0.0))
    points = length * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)])
    names = [None, *(f"bar {k}" for k in range(1, 6)), None]
    for name, start, end in zip(names[1:-1], points[:-1], points[1:], strict=True):
        along = np.abs(end - start) / length
        system.add_body(
            None, mass=mass, inertia=_bar(mass, length, width, along), position=0.5 * (start + end), name=name
        )
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        system.add_joint(Revolute(names[k], names[k + 1], point=point, axis=axis, name=f"P{k + 1}"))
    return system


@scene("a flyball governor with stiff springs (IFToMM A05)", scheme="rattle", step=0.0002, duration=0.5)
def governor(
    *,
    spin: float = 2.0 * math.pi,
    angle: float = math.pi / 6.0,
    stiffness: float = 8e5,
    damping: float = 4e4,
    gravity: float = 9.81,
) -> System:
    """Return a flyball governor with stiff springs, whose shaft turns freely (IFToMM A05).

    A "shaft" along z carries two arms of 1 m, "right arm" and "left arm", by pins along y at (±0.05, 0, 1) m,
    each with a ball of 5 kg at its end, and a "slider" of 3 kg, whose way from the start is the coordinate of
    joint "guide". "right spring" and "left spring" join the middles of the arms and the sides of the slider;
    they are relaxed at the start, which puts the slider at the height 1 m · (1 − sin angle).

    Args:
        spin: of all parts about the shaft at the start, in rad/s.
        angle: of the arms below the horizontal at the start, in rad.
        stiffness: of each spring, in N/m.
        damping: of each spring, in N·s/m.
        gravity: m/s², along −z.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    height, up = 1.0 - math.sin(angle), np.array([0.0, 0.0, 1.0])
    system.add_body(
        None, mass=_ROD_MASS, inertia=_bar(_ROD_MASS, 1.0, _ROD_WIDTH, up), position=(0.0, 0.0, 0.5),
        angular_velocity=(0.0, 0.0, spin), name="shaft",
    )  # fmt: skip
    moment = _SLIDER_MASS * _SLIDER_WIDTH**2 / 6.0
    system.add_body(
        None, mass=_SLIDER_MASS, inertia=(moment, moment, moment), position=(0.0, 0.0, height),
        angular_velocity=(0.0, 0.0, spin), name="slider",
    )  # fmt: skip
    system.add_joint(Revolute(None, "shaft", point=(0.0, 0.0, 0.0), axis=up, name="bearing"))
    system.add_joint(Prismatic("shaft", "slider", point=(0.0, 0.0, height), axis=up, name="guide"))
    for name, side in (("right", 1.0), ("left", -1.0)):
        pin, bottom = np.array([0.05 * side, 0.0, 1.0]), np.array([0.05 * side, 0.0, height])
        along = np.array([side * math.cos(angle), 0.0, -math.sin(angle)])
        arm, spring, middle = f"{name} arm", f"{name} spring", pin + 0.5 * along
        _add_arm(system, arm, pin, along, spin)
        system.add_joint(Revolute("shaft", arm, point=pin, axis=(0.0, 1.0, 0.0), name=f"{name} pin"))
        system.add_joint(Strut("slider", arm, point_a=bottom, point_b=middle, name=spring))
        system.add_spring(spring, stiffness=stiffness, damping=damping, rest=0.5)
    return system


_ROD_MASS, _ROD_WIDTH = 0.3, 0.01
_SLIDER_MASS, _SLIDER_WIDTH = 3.0, 0.1
_BALL_MASS = 5.0
"""Parts of the governor: kg and m. Rods are 1 m long; the balls are points."""


def _add_arm(system: System, name: str, pin: Floats, along: Floats, spin: float) -> None:
    """Add a rod of 1 m with a ball at its end, which turns about the world's z axis; its own x is `along`."""
    mass = _ROD_MASS + _BALL_MASS
    centre = (0.5 * _ROD_MASS + _BALL_MASS) / mass  # m from the pin
    offsets = _ROD_MASS * (centre - 0.5) ** 2 + _BALL_MASS * (1.0 - centre) ** 2
    inertia = _bar(_ROD_MASS, 1.0, _ROD_WIDTH, np.array([1.0, 0.0, 0.0])) + np.array([0.0, offsets, offsets])
    turn = quaternions.from_axis_angle((0.0, 1.0, 0.0), math.atan2(-along[2], along[0]))
    place, axis = pin + centre * along, np.array([0.0, 0.0, spin])
    system.add_body(
        None, mass=mass, inertia=inertia, position=place, orientation=turn, velocity=np.cross(axis, place),
        angular_velocity=quaternions.rotate_back(turn, axis), name=name,
    )  # fmt: skip


def _bar(mass: float, length: float, width: float, along: Floats) -> Floats:
    """Principal moments (3,) in kg·m² of a uniform bar of square section along a coordinate axis."""
    across, axial = mass * (length**2 + width**2) / 12.0, mass * width**2 / 6.0
    return across + (axial - across) * along
