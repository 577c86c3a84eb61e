"""Bounds of shapes in their own frames: a box and a ball about a common centre."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import BY_KIND


def local_bounds(table: ShapeTable) -> Floats:
    """(s, 7) in m: centre and half extents of a box along the shape's axes, radius of a ball, same centre.

    Rows of half-spaces are zero.
    """
    bound = np.zeros((len(table), 7))
    for kind in np.unique(table.kind).tolist():
        rows = np.flatnonzero(table.kind == kind)
        bound[rows] = BY_KIND[kind].local_bounds([table.objects[row] for row in rows], table.size[rows])
    return bound
