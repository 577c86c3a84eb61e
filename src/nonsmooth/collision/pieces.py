"""Hulls, meshes and height fields of a scene as arrays for the kernels, without duplicates."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth._support.lazy import spatial
from nonsmooth.collision import hulls, surfaces
from nonsmooth.collision.kernels.directions.solids import Hulls
from nonsmooth.collision.kernels.surfaces.arrays import Meshes
from nonsmooth.collision.kernels.surfaces.touching import Outlines
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import CONVEX_HULL, HEIGHT_FIELD, MESH, ConvexHull, HeightField, Mesh

_FACES: WeakKeyDictionary[ConvexHull, hulls.Faces] = WeakKeyDictionary()
_SURFACES: WeakKeyDictionary[Mesh, tuple[surfaces.TriangleSurface, Floats]] = WeakKeyDictionary()
"""Data derived from a shape, cached as long as the shape exists and shared by detectors and queries."""


class Pieces(NamedTuple):
    """Data of hulls, meshes and height fields."""

    row: Indices
    """(s,) row of each shape in the hulls or in the surfaces."""
    hulls: Hulls
    meshes: Meshes
    outlines: Outlines


def pieces_of(table: ShapeTable) -> Pieces:
    """Collect the data from a scene's shapes."""
    row = np.zeros(len(table), dtype=np.int32)
    known: dict[int, int] = {}
    solids: list[hulls.Faces] = []
    found: list[surfaces.TriangleSurface | surfaces.HeightField] = []
    corners: list[Floats] = []
    for s in np.flatnonzero(np.isin(table.kind, (CONVEX_HULL, MESH, HEIGHT_FIELD))):
        shape = table.objects[s]
        if id(shape) not in known:
            if isinstance(shape, ConvexHull):
                known[id(shape)] = len(solids)
                solids.append(_faces(shape))
            elif isinstance(shape, Mesh):
                known[id(shape)] = len(found)
                surface, outline = surface_of(shape)
                found.append(surface)
                corners.append(outline)
            elif isinstance(shape, HeightField):
                known[id(shape)] = len(found)
                nx, ny = shape.heights.shape
                dx, dy = shape.spacing
                origin = (-0.5 * (nx - 1) * dx, -0.5 * (ny - 1) * dy)
                found.append(surfaces.HeightField(shape.heights, shape.spacing, origin))
                corners.append(np.empty((0, 3)))
        row[s] = known[id(shape)]
    first = np.concatenate([[0], np.cumsum([len(part) for part in corners])]).astype(np.int64)
    outlines = Outlines(first, np.concatenate([*corners, np.empty((0, 3))]))
    return Pieces(row, hulls.pack(solids), surfaces.pack(found), outlines)


def _faces(shape: ConvexHull) -> hulls.Faces:
    if shape not in _FACES:
        _FACES[shape] = hulls.Faces(shape.vertices, shape.triangles)
    return _FACES[shape]


def surface_of(shape: Mesh) -> tuple[surfaces.TriangleSurface, Floats]:
    """Triangles of a mesh, and the corners of its convex hull."""
    if shape not in _SURFACES:
        _SURFACES[shape] = surfaces.TriangleSurface(shape.vertices, shape.triangles), _corners(shape.vertices)
    return _SURFACES[shape]


def _corners(vertices: Floats) -> Floats:
    """Corners of the convex hull; all vertices if they lie in a plane."""
    try:
        return np.asarray(vertices[np.sort(spatial.ConvexHull(vertices).vertices)])
    except (spatial.QhullError, ValueError):
        return np.asarray(vertices)
