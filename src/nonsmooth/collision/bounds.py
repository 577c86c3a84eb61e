"""Bounds of shapes in their own frames: a box and a ball about a common centre."""

from __future__ import annotations

import numpy as np

from nonsmooth.collision.contacts import Floats
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import BOX, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, MESH, SPHERE


def local_bounds(table: ShapeTable) -> Floats:
    """(s, 7) in m: centre of a box along the shape's axes, its half extents, radius of a ball; all hold it.

    Rows of half-spaces are zero.
    """
    bound = np.zeros((len(table), 7))
    kind, size = table.kind, table.size
    first, second = size[:, 0], size[:, 1]

    ball = kind == SPHERE
    bound[ball, 3:] = first[ball, None]

    box = kind == BOX
    bound[box, 3:6] = size[box]
    bound[box, 6] = np.linalg.norm(size[box], axis=1)

    capsule = kind == CAPSULE
    bound[capsule, 3:5] = first[capsule, None]
    bound[capsule, 5] = bound[capsule, 6] = first[capsule] + second[capsule]

    cylinder = kind == CYLINDER
    bound[cylinder, 3:5] = first[cylinder, None]
    bound[cylinder, 5] = second[cylinder]
    bound[cylinder, 6] = np.hypot(first[cylinder], second[cylinder])

    ellipsoid = kind == ELLIPSOID
    bound[ellipsoid, 3:6] = size[ellipsoid]
    bound[ellipsoid, 6] = size[ellipsoid].max(axis=1)

    for row in np.flatnonzero((kind == CONVEX_HULL) | (kind == MESH)):
        vertices = table.objects[row].vertices  # type: ignore[attr-defined]
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        middle = 0.5 * (low + high)
        bound[row, :3], bound[row, 3:6] = middle, 0.5 * (high - low)
        bound[row, 6] = np.linalg.norm(vertices - middle, axis=1).max()
    return bound
