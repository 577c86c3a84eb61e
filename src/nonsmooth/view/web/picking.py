"""Which body a ray hits first: what a click on the page selects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model import quaternions
from nonsmooth.view.drawing.geometry import Part


def pick(
    parts: Sequence[Part], position: Floats, quaternion: Floats, origin: Floats, direction: Floats
) -> int | None:
    """Return the body that a ray from `origin` (3,) in m along `direction` (3,) meets first, if any.

    `position` (n, 3) in m and `quaternion` (n, 4) are those of the bodies. Surfaces count from their front.
    """
    direction = direction / np.linalg.norm(direction)
    bodies = np.array([part.body for part in parts], dtype=np.int64)
    centres = np.array([_middle(part) for part in parts]).reshape(-1, 3)
    reach = np.array([part.radius or _reach(part) for part in parts])
    placed = position[bodies] + quaternions.rotate(quaternion[bodies], centres)
    distance = ray_spheres(origin, direction, placed, reach)
    for row in np.flatnonzero(np.isfinite(distance)).tolist():
        part = parts[row]
        if part.radius == 0.0:
            turn, at = quaternion[part.body], position[part.body]
            start, along = (
                quaternions.rotate_back(turn, origin - at),
                quaternions.rotate_back(turn, direction),
            )
            distance[row] = ray_triangles(start, along, part.vertices[part.faces])
    if not np.isfinite(distance).any():
        return None
    return int(bodies[np.argmin(distance)])


def ray_spheres(origin: Floats, direction: Floats, centres: Floats, radii: Floats) -> Floats:
    """Return the distances (m) along a ray to the spheres; infinite for a miss, 0 from inside."""
    towards = centres - origin
    along = towards @ direction
    across = np.einsum("ij,ij->i", towards, towards) - along**2
    hit = (across <= radii**2) & (along >= -radii)
    depth = np.sqrt(np.maximum(radii**2 - across, 0.0))
    return np.where(hit & (along + depth >= 0.0), np.maximum(along - depth, 0.0), np.inf)


def ray_triangles(origin: Floats, direction: Floats, triangles: Floats) -> float:
    """Return the distance (m) along a ray to the front of a triangle (t, 3, 3); infinite for a miss."""
    first = triangles[:, 0]
    one, two = triangles[:, 1] - first, triangles[:, 2] - first
    normal = np.cross(one, two)
    facing = normal @ direction
    front = facing < 0.0
    if not front.any():
        return np.inf
    one, two, normal, facing, first = (x[front] for x in (one, two, normal, facing, first))
    to_first = first - origin
    length = np.einsum("ij,ij->i", to_first, normal) / facing
    turned = np.cross(to_first, direction)
    u = np.einsum("ij,ij->i", two, turned) / facing
    v = -np.einsum("ij,ij->i", one, turned) / facing
    inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (length >= 0.0)
    return float(np.min(length[inside], initial=np.inf))


def _middle(part: Part) -> Floats:
    return part.offset if part.radius else 0.5 * (part.vertices.min(axis=0) + part.vertices.max(axis=0))


def _reach(part: Part) -> float:
    return float(np.linalg.norm(part.vertices - _middle(part), axis=1).max())
