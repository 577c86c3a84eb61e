"""Radius of a ball inside each shape: shapes that overlap by less are separated in the correct direction."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.collision.kernels.directions.solids import Hulls
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import (
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
)


def inner_radii(table: ShapeTable, hulls: Hulls, piece: Indices) -> Floats:
    """(s,) in m; infinite for half-spaces, zero for meshes and height fields, which may be thin anywhere.

    `piece` (s,) is the row of each shape's hull in `hulls`.
    """
    inner = np.zeros(len(table))
    for row, (kind, size) in enumerate(zip(table.kind.tolist(), table.size.tolist(), strict=True)):
        if kind == HALF_SPACE:
            inner[row] = math.inf
        elif kind in (SPHERE, CAPSULE):
            inner[row] = size[0]
        elif kind == CYLINDER:
            inner[row] = min(size[:2]) + size[3]
        elif kind == CONE:
            inner[row] = 2.0 * size[0] * size[1] / (size[0] + math.hypot(size[0], 2.0 * size[1]))
        elif kind == CONVEX_HULL:
            inner[row] = _inside(hulls, int(piece[row])) + size[3]
        elif kind not in (MESH, HEIGHT_FIELD):
            inner[row] = min(size[:3]) + size[3]
    return inner


def _inside(hulls: Hulls, row: int) -> float:
    """Distance of the mean of a hull's vertices from its nearest face."""
    (first, plane), (end, last) = hulls.first[row, :2], hulls.first[row + 1, :2]
    middle = hulls.vertices[first:end].mean(axis=0)
    planes = hulls.planes[plane:last]
    return float(np.min(planes[:, 3] - planes[:, :3] @ middle))
