"""Bounds of the bodies of a run that a camera must show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.surfaces import box_mesh
from nonsmooth.view.drawing.geometry import Part

_MANY = 20
"""Number of bodies above which a few may be out of sight."""


def bounds_of(position: ArrayLike, fixed: ArrayLike, bounding_radius: ArrayLike) -> tuple[Floats, Floats]:
    """Return the lowest and the highest corner (3,) in m of the upright box that contains the movable bodies.

    `position` (n, 3) in m, `fixed` (n,) and `bounding_radius` (n,) in m are those of the bodies. Bodies
    without bounds, such as half-spaces, do not count; fixed ones count if there are no movable bodies.
    """
    centres, reach = np.asarray(position, dtype=np.float64), np.asarray(bounding_radius, dtype=np.float64)
    chosen = in_sight(centres, fixed, reach)
    if not chosen.any():
        return np.full(3, -0.5), np.full(3, 0.5)
    lowest = np.min(centres[chosen] - reach[chosen, None], axis=0)
    highest = np.max(centres[chosen] + reach[chosen, None], axis=0)
    if np.all(highest == lowest):
        return lowest - 0.5, highest + 0.5
    return lowest, highest


def in_sight(position: ArrayLike, fixed: ArrayLike, bounding_radius: ArrayLike) -> NDArray[np.bool_]:
    """Return the mask of bodies (n,) that a picture must show; see `bounds_of`.

    Of many bodies a few far away do not count: those farther from the middle than eight times the distance
    that nine of ten bodies do not exceed.
    """
    centres, reach = np.asarray(position, dtype=np.float64), np.asarray(bounding_radius, dtype=np.float64)
    bounded = np.isfinite(reach) & np.all(np.isfinite(centres), axis=1)
    chosen = bounded & ~np.asarray(fixed, dtype=bool)
    if not chosen.any():
        chosen = bounded
    if chosen.sum() >= _MANY:
        distance = np.linalg.norm(centres - np.median(centres[chosen], axis=0), axis=1)
        with np.errstate(invalid="ignore"):
            chosen &= distance <= 8.0 * np.percentile(distance[chosen], 90.0)
    return np.asarray(chosen)


def outline_balls(parts: Sequence[Part]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return balls that enclose parts closely: body (k,), centre (k, 3) in its frame and radius (k,) in m.

    Spheres are balls themselves; a mesh is the eight corners of its box along the body's axes, of radius 0.
    A guide is a point at its middle; half-spaces are omitted.
    """
    body, centre, radius = [], [], []
    for part in parts:
        if part.half_space:
            continue
        points = np.array([part.offset])
        if not (part.guide or part.radius > 0.0):
            lowest, highest = part.vertices.min(axis=0), part.vertices.max(axis=0)
            points = 0.5 * (lowest + highest) + box_mesh(0.5 * (highest - lowest))[0]
        body.append(np.full(len(points), part.body))
        centre.append(points)
        radius.append(np.full(len(points), part.radius))
    none = np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([none, *body]),
        np.concatenate([np.zeros((0, 3)), *centre]),
        np.concatenate([np.zeros(0), *radius]),
    )


def outline(
    parts: Sequence[Part], poses: Iterable[tuple[Floats, Floats]], fixed: ArrayLike, reach: ArrayLike
) -> tuple[Floats, Floats]:
    """Return balls (k, 3) and (k,) in m that enclose, in the world, the drawn parts at several moments.

    `poses` are positions (n, 3) and quaternions (n, 4) of the bodies at these moments; `in_sight`
    marks the bodies that count. Joints with the ground, body −1, always count.
    """
    body, offset, radius = outline_balls(parts)
    centres, radii = [np.zeros((0, 3))], [np.zeros(0)]
    for position, quaternion in poses:
        chosen = np.append(in_sight(position, fixed, reach), True)[body]  # the last row is the ground
        at = body[chosen]
        place = np.concatenate([position, np.zeros((1, 3))])[at]
        turn = np.concatenate([quaternion, [quaternions.IDENTITY]])[at]
        centres.append(place + quaternions.rotate(turn, offset[chosen]))
        radii.append(radius[chosen])
    balls, sizes = np.concatenate(centres), np.concatenate(radii)
    return (balls, sizes) if len(balls) else (np.zeros((1, 3)), np.ones(1))
