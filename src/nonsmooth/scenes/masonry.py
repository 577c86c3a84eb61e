"""A masonry arch of wedge-shaped stones, each the convex hull of its eight corners."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import optimize
from nonsmooth.errors import OptionError
from nonsmooth.model.shapes import ConvexHull
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene

_FRICTION = {25: 0.8, 101: 0.5}
"""μ of the arches that others publish numbers for, by their number of stones."""


@scene("a masonry arch of wedge-shaped stones between two fixed ones", small={"stones": 9})
def arch(
    stones: int = 25,
    *,
    friction: float | None = None,
    span: float = 8.0,
    rise: float = 6.0,
    thickness: float = 0.5,
    depth: float = 1.0,
    density: float = 2000.0,
    gravity: float = 9.81,
) -> System:
    """Return an arch in the plane of x and z whose centre line is a catenary.

    The first and the last stone ("left springer", "right springer") are fixed and count as stones; all others
    are held by contact alone. Joints are at equal distances along the centre line and at right angles to it.
    The line of thrust of an arch of uniform thickness follows the catenary but for the curvature's share in
    the weight, so that the arch stands with any thickness that is not tiny and with little friction. The last
    body is "floor"; it touches the springers only.

    Args:
        stones: how many, the springers included; 3 or more.
        friction: μ; by default 0.8, and 0.5 for 101 stones, as in the scenes of Song et al. (SCA 2026).
        span: of the centre line between its ends, in m.
        rise: of the centre line above its ends, in m.
        thickness: of the arch, in m; below twice the smallest radius of curvature.
        depth: of the arch along y, in m.
        density: kg/m³.
        gravity: m/s², downwards (−z).
    """
    if stones < 3:
        raise OptionError(f"stones is {stones}: give a whole number, 3 or more")
    for name, value in (("span", span), ("rise", rise), ("thickness", thickness), ("depth", depth)):
        if not (math.isfinite(value) and value > 0.0):
            raise OptionError(f"{name} is {value} m: give a positive length")
    joints = _joints(stones, span, rise, thickness)
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("stone", friction=_FRICTION.get(stones, 0.8) if friction is None else friction)
    names = {0: "left springer", stones - 1: "right springer"}
    for stone in range(stones):
        _add_stone(system, joints[stone : stone + 2], depth, density, names.get(stone))
    lowest = float(joints[[0, -1], :, 1].min())
    system.add_plane(point=(0.0, 0.0, lowest), material="stone", name="floor")
    return system


def _joints(stones: int, span: float, rise: float, thickness: float) -> Floats:
    """Return the joints from left to right, (stones + 1, 2, 2): inner and outer end, as (x, z) in m."""
    # z = rise − a (cosh(x/a) − 1) with z(span/2) = 0: the parameter a in m, which is also the smallest radius
    # of curvature.
    half = 0.5 * span
    ratio = rise / half
    bend = optimize.brentq(lambda s: (math.cosh(s) - 1.0) / s - ratio, 1e-9, 20.0 + ratio, xtol=1e-15)
    a = half / float(bend)
    if thickness >= 2.0 * a:
        raise OptionError(
            f"thickness is {thickness} m, too much for the crown's curvature: give less than {2.0 * a:.3g}"
        )
    length = a * math.sinh(half / a)
    arc = np.linspace(-length, length, stones + 1)
    x = a * np.arcsinh(arc / a)
    slope = arc / a  # −dz/dx
    middle = np.stack([x, rise - a * (np.hypot(1.0, slope) - 1.0)], axis=1)
    outward = np.stack([slope, np.ones_like(slope)], axis=1) / np.hypot(1.0, slope)[:, None]
    reach = 0.5 * thickness * outward
    return np.stack([middle - reach, middle + reach], axis=1)


def _add_stone(system: System, ends: Floats, depth: float, density: float, springer: str | None) -> None:
    """Add the stone between two joints, (2, 2, 2) as in `_joints`; a springer has a name and is fixed."""
    corners = ends.reshape(4, 2)
    points = np.array([[x, y, z] for x, z in corners for y in (-0.5 * depth, 0.5 * depth)])
    near = points.mean(axis=0)  # the hull is kept near its origin, where its coordinates are exact
    hull = ConvexHull(points - near)
    system.add_body(
        hull,
        density=None if springer else density,
        position=near + hull.mass_properties(density).centre,
        material="stone",
        fixed=springer is not None,
        name=springer,
    )
