"""Triangles for drawing. Faces are counterclockwise when seen from outside; lengths are in m."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats, Indices

TriangleMesh = tuple[Floats, Indices]
"""Vertices (v, 3) in m and faces (f, 3), rows of the vertices."""

ROUND_SEGMENTS = 32
"""Straight pieces of a circle in the meshes of round shapes."""

_ICOSAHEDRON_SEGMENTS = 360.0 / 63.4349
"""Edges of an icosahedron along a great circle."""


@cache
def sphere_mesh(subdivisions: int = 2) -> TriangleMesh:
    """Return a ball of radius 1 m: an icosahedron whose 20 faces are cut into four `subdivisions` times."""
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    points = [(s, t * golden, 0.0) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    corners = np.array([np.roll(point, turn) for turn in range(3) for point in points])
    vertices = [tuple(corner) for corner in corners / np.linalg.norm(corners[0])]
    # Faces are the triples whose corners are all one edge length (the shortest distance) apart.
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    near = np.isclose(distance, 2.0)
    faces = [
        (a, b, c) if np.linalg.det(corners[[a, b, c]]) > 0.0 else (a, c, b)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[c, a]
    ]
    for _ in range(subdivisions):
        middles: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int, middles: dict[tuple[int, int], int] = middles) -> int:
            key = (min(a, b), max(a, b))
            if key not in middles:
                point = np.add(vertices[a], vertices[b])
                middles[key] = len(vertices)
                vertices.append(tuple(point / np.linalg.norm(point)))
            return middles[key]

        finer = []
        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    return _frozen(np.array(vertices), np.array(faces, dtype=np.int32))


def subdivisions_for(detail: int) -> int:
    """Return the cuts of `sphere_mesh` that give at least `detail` straight pieces to a full circle."""
    return max(0, math.ceil(math.log2(max(1, detail) / _ICOSAHEDRON_SEGMENTS)))


def box_mesh(half: ArrayLike) -> TriangleMesh:
    """Return a cuboid about the origin with half edge lengths `half` (3,) in m."""
    signs = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return signs * np.asarray(half, dtype=np.float64), np.array(faces, dtype=np.int32)


def square_mesh(side: float, cells: int = 10) -> TriangleMesh:
    """Return a square in the plane z = 0 about the origin, facing +z, of `cells` by `cells` small squares."""
    ticks = np.linspace(-0.5 * side, 0.5 * side, cells + 1)
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    return vertices, grid_faces(cells + 1, cells + 1)


def grid_faces(rows: int, columns: int) -> Indices:
    """Return two triangles for each cell of a grid of `rows` by `columns` vertices; columns run fastest.

    They face +z if x grows with the row and y with the column; the diagonal of a cell starts at its corner
    of the smallest numbers.
    """
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    a, b, c, d = corner, corner + columns, corner + columns + 1, corner + 1
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)


def quarter_circle(radius: float, detail: int) -> list[tuple[float, float]]:
    """Return points (r, z) of an arc from (radius, 0) to (0, radius), of a full circle of `detail` pieces."""
    return arc(radius, 0.0, 0.5 * math.pi, detail)


def arc(radius: float, begin: float, end: float, detail: int) -> list[tuple[float, float]]:
    """Return points (r, z) of an arc between two angles (rad), of a full circle of `detail` pieces.

    Angles are counted from the r axis; at ±π/2 the point is on the z axis.
    """
    pieces = max(1, math.ceil(detail * (end - begin) / (2.0 * math.pi) - 1e-9))
    points = [(radius * math.cos(a), radius * math.sin(a)) for a in np.linspace(begin, end, pieces + 1)]
    if end == 0.5 * math.pi:
        points[-1] = (0.0, radius)
    if begin == -0.5 * math.pi:
        points[0] = (0.0, -radius)
    return points


def turned(profile: list[tuple[float, float]], detail: int = ROUND_SEGMENTS) -> TriangleMesh:
    """Turn a profile of (radius, z), from the lower end to the upper one, about the z axis.

    A repeated point makes a sharp rim: its vertices are repeated as well.
    """
    angles = np.arange(detail) * (2.0 * math.pi / detail)
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate(
        [np.column_stack([radius * rim, np.full(detail, height)]) for radius, height in profile]
    )
    faces = []
    for ring, ((r, z), (above, top)) in enumerate(pairwise(profile)):
        if (r, z) == (above, top):
            continue  # a sharp rim
        for k in range(detail):
            a, b = ring * detail + k, ring * detail + (k + 1) % detail
            if r > 0.0:
                faces.append((a, b, b + detail))
            if above > 0.0:
                faces.append((a, b + detail, a + detail))
    return vertices, np.array(faces, dtype=np.int32)


def capsule_mesh(radius: float, half_length: float, detail: int = ROUND_SEGMENTS) -> TriangleMesh:
    """Return a capsule about the z axis; `half_length` is that of its cylinder, in m."""
    upper = [(r, half_length + z) for r, z in quarter_circle(radius, detail)]
    return turned(mirrored(upper), detail)


def cylinder_mesh(radius: float, half_length: float, detail: int = ROUND_SEGMENTS) -> TriangleMesh:
    """Return a cylinder about the z axis; vertices of its rims are repeated, for sharp rims."""
    return turned(mirrored([(radius, half_length), (radius, half_length), (0.0, half_length)]), detail)


def mirrored(upper: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the profile whose upper half is `upper` and whose lower half is its mirror image."""
    return [(r, -z) for r, z in reversed(upper)] + upper


def _frozen(vertices: Floats, faces: Indices) -> TriangleMesh:
    """Make arrays read-only: they are cached and shared."""
    vertices.flags.writeable = faces.flags.writeable = False
    return vertices, faces
