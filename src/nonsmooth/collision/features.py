"""Flat and straight parts of convex shapes, and the contacts where two of them lie on one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision.contacts import Floats
from nonsmooth.model.shapes import Box, Capsule, ConvexHull, Cylinder, Primitive

RIM_POINTS = 8
"""The rim of a cylinder's end is followed by this many points, fixed to the cylinder."""
ALIGNED = 1.0 - 1e-4
"""Cosine of the angle up to which a contact's normal is that of a face."""
_COPLANAR = 1e-9
_SLACK = 1e-5  # part of the size by which walls are pushed out, so that equal faces keep their corners
_MISS = 1e-4  # part of the size by which the points may miss the true gap


@dataclass(frozen=True)
class Feature:
    """A face (three or more points, counterclockwise seen from outside) or a straight line (two points).

    `normal` points outward; `number` tells it from the other features of its shape.
    """

    points: Floats
    normal: Floats
    number: int

    @property
    def is_face(self) -> bool:
        """True for three or more points."""
        return len(self.points) > 2


class HullFaces:
    """The flat faces of a convex hull, from its triangles."""

    def __init__(self, hull: ConvexHull) -> None:
        a, b, c = np.moveaxis(hull.vertices[hull.triangles], 1, 0)
        cross = np.cross(b - a, c - a)
        unit = cross / np.linalg.norm(cross, axis=1)[:, None]
        offset = np.einsum("ti,ti->t", unit, a)
        size = float(np.abs(hull.vertices).max())
        left = np.ones(len(unit), dtype=np.bool_)
        self.loops: list[Floats] = []
        normals = []
        # Large triangles first: their planes are the best known.
        for first in np.argsort(-np.linalg.norm(cross, axis=1), kind="stable"):
            if not left[first]:
                continue
            plane = unit[first]
            flat = left & (unit @ plane > 1.0 - _COPLANAR) & (np.abs(offset - offset[first]) < 1e-7 * size)
            left &= ~flat
            left[first] = False
            corners = np.unique(np.append(hull.triangles[flat], hull.triangles[first]))
            self.loops.append(_around(hull.vertices[corners], plane))
            normals.append(plane)
        self.normals = np.array(normals)


def _around(points: Floats, normal: Floats) -> Floats:
    """Sort the corners of a convex face counterclockwise about its normal."""
    spokes = points - points.mean(axis=0)
    first = spokes[0]
    second = np.cross(normal, first)
    return points[np.argsort(np.arctan2(spokes @ second, spokes @ first), kind="stable")]


def support_feature(
    shape: Primitive, faces: HullFaces | None, centre: Floats, axes: Floats, direction: Floats
) -> Feature | None:
    """The part of the shape that faces `direction` (unit, world frame); None for round shapes."""
    local = direction @ axes
    if isinstance(shape, Box):
        k = int(np.argmax(np.abs(local)))
        side = 1.0 if local[k] >= 0.0 else -1.0
        half = np.array(shape.extents)
        u, v = (k + 1) % 3, (k + 2) % 3
        corners = np.zeros((4, 3))
        corners[:, k] = side * half[k]
        corners[:, u] = half[u] * np.array([1.0, -1.0, -1.0, 1.0])
        corners[:, v] = side * half[v] * np.array([1.0, 1.0, -1.0, -1.0])
        number = 2 * k + (side > 0.0)
    elif isinstance(shape, ConvexHull):
        assert faces is not None
        number = int(np.argmax(faces.normals @ local))
        return Feature(centre + faces.loops[number] @ axes.T, axes @ faces.normals[number], number)
    elif isinstance(shape, Cylinder) and abs(local[2]) > np.sqrt(0.5):
        k, side = 2, 1.0 if local[2] >= 0.0 else -1.0
        corners = rim(shape, side)[:: int(side)]
        number = int(side > 0.0)
    elif isinstance(shape, Cylinder | Capsule):
        across = np.array([local[0], local[1], 0.0])
        across /= np.linalg.norm(across)
        ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * shape.length
        return Feature(centre + (ends + shape.radius * across) @ axes.T, axes @ across, 2)
    else:
        return None
    return Feature(centre + corners @ axes.T, side * axes[:, k], int(number))


def rim(shape: Cylinder, side: float) -> Floats:
    """Points (RIM_POINTS, 3) of the rim at the end z = side · length / 2, in the cylinder's frame."""
    angle = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    height = np.full(RIM_POINTS, 0.5 * side * shape.length)
    return np.column_stack([shape.radius * np.cos(angle), shape.radius * np.sin(angle), height])


@dataclass(frozen=True)
class Manifold:
    """Contacts of one pair with a common normal (3,) from A to B: points (m, 3), gaps (m,), features (m,)."""

    point: Floats
    normal: Floats
    gap: Floats
    feature: NDArray[np.int64]


def feature_contacts(
    a: Feature | None, b: Feature | None, normal: Floats, gap: float, size: float
) -> Manifold | None:
    """Contacts of two features whose shapes have `gap` along `normal` (from A to B); None if they only meet
    in a point. `size` is a length of the shapes in m.
    """
    if a is None or b is None:
        return None
    slope_a = float(a.normal @ normal) if a.is_face else -1.0
    slope_b = -float(b.normal @ normal) if b.is_face else -1.0
    if max(slope_a, slope_b) < ALIGNED:
        if a.is_face or b.is_face:
            return None
        base, other, sign, base_normal = a, b, 1.0, normal
    else:
        base, other, sign = (a, b, 1.0) if slope_a >= slope_b - _SLACK else (b, a, -1.0)
        base_normal = base.normal
    clipped = _clip(base, base_normal, other, _SLACK * size)
    if clipped is None:
        return None
    points, labels = clipped
    gaps = (points - base.points[0]) @ base_normal
    if gaps.min() > gap + _MISS * size:
        return None
    number = ((sign < 0.0) << 14 | base.number) << 14 | other.number
    marks = 1 + (number << 24) + (labels.min(axis=1) << 12) + labels.max(axis=1)
    return Manifold(points - 0.5 * gaps[:, None] * base_normal, sign * base_normal, gaps, marks)


def _clip(
    base: Feature, normal: Floats, other: Feature, slack: float
) -> tuple[Floats, NDArray[np.int64]] | None:
    """What is left of `other` between the side walls of `base`, with the two sides that meet in each point.

    Sides of `other` are numbered first, then the walls of `base`.
    """
    count = len(other.points)
    corners: list[tuple[Floats, int]] = [(point, side) for side, point in enumerate(other.points)]
    if base.is_face:
        along = np.roll(base.points, -1, axis=0) - base.points
        walls, feet = np.cross(along, normal), base.points
    else:
        along = base.points[1:] - base.points[:1]
        walls, feet = np.vstack([-along, along]), base.points
        line = other.points[1] - other.points[0]
        if np.linalg.norm(np.cross(along[0], line)) > 1e-2 * np.linalg.norm(along) * np.linalg.norm(line):
            return None
    walls = walls / np.linalg.norm(walls, axis=1)[:, None]
    for wall, (outward, foot) in enumerate(zip(walls, feet, strict=True)):
        corners = _cut(corners, outward, float(outward @ foot) + slack, count + wall, other.is_face)
        if not corners:
            return None
    after = np.array([side for _, side in corners])
    before = np.roll(after, 1) if other.is_face else np.array([4094, 4095])[: len(after)]
    return np.array([point for point, _ in corners]), np.column_stack([before, after])


def _cut(
    corners: list[tuple[Floats, int]], outward: Floats, limit: float, wall: int, closed: bool
) -> list[tuple[Floats, int]]:
    """Keep what lies inside one wall; each corner carries the side that leads on from it."""
    heights = [float(outward @ point) - limit for point, _ in corners]
    kept: list[tuple[Floats, int]] = []
    for i, (point, side) in enumerate(corners):
        if heights[i] <= 0.0:
            kept.append((point, side))
        j = (i + 1) % len(corners)
        if (heights[i] <= 0.0) != (heights[j] <= 0.0) and (closed or j > i):
            part = heights[i] / (heights[i] - heights[j])
            crossing = point + part * (corners[j][0] - point)
            kept.append((crossing, wall if heights[i] <= 0.0 else side))
    return kept
