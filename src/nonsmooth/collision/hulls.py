"""The hulls of a scene as arrays for the kernels: vertices, flat faces, edges and neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.collision.kernels.directions.solids import CELLS_ACROSS, Hulls

_COPLANAR = 1e-10
"""Largest distance of the corners of a flat face from its plane, as a fraction of the size."""


class Faces:
    """Flat faces and edges of a convex solid given by outward triangles."""

    def __init__(self, vertices: Floats, triangles: NDArray[np.integer]) -> None:
        self.vertices = np.ascontiguousarray(vertices, dtype=float)
        given = triangles.astype(np.int64)
        size = float(np.abs(self.vertices - self.vertices.mean(axis=0)).max())
        face_of = _merged(self.vertices, given, _COPLANAR * size)
        self.loops = [_loop(given[face_of == face]) for face in range(int(face_of.max()) + 1)]
        self.planes = np.array([_plane(self.vertices[loop]) for loop in self.loops])
        self.edges = _edges(self.loops)
        ends = np.vstack([self.edges[:, :2], self.edges[:, 1::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        self.neighbours: Integers = np.ascontiguousarray(ends[:, 1])
        self.neighbour_first: Integers = np.searchsorted(ends[:, 0], np.arange(len(self.vertices) + 1))


def pack(solids: list[Faces]) -> Hulls:
    """Concatenate the faces of several solids."""
    counts = np.zeros((len(solids) + 1, 5), dtype=np.int64)
    for row, solid in enumerate(solids, 1):
        corners = sum(len(loop) for loop in solid.loops)
        counts[row] = (
            len(solid.vertices), len(solid.loops), len(solid.edges), corners, len(solid.neighbours)
        )  # fmt: skip
    first = np.cumsum(counts, axis=0)
    lengths = [len(loop) for solid in solids for loop in solid.loops]
    neighbour_first = [
        solid.neighbour_first[:-1] + start for solid, start in zip(solids, first[:, 4], strict=False)
    ]
    return Hulls(
        first,
        _stacked([solid.vertices for solid in solids], (0, 3)),
        _stacked([solid.planes for solid in solids], (0, 4)),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        _stacked([loop for solid in solids for loop in solid.loops], (0,), np.int64),
        _stacked([solid.edges for solid in solids], (0, 4), np.int64),
        np.concatenate([*neighbour_first, first[-1:, 4]]).astype(np.int64),
        _stacked([solid.neighbours for solid in solids], (0,), np.int64),
        _stacked([_starts(solid.vertices)[None] for solid in solids], (0, 6 * CELLS_ACROSS**2), np.int64),
    )


def _starts(vertices: Floats) -> Integers:
    """The vertex farthest along the middle of each cell of a cube: sides x, y, z, −x, −y, −z."""
    middles = (2.0 * np.arange(CELLS_ACROSS) + 1.0) / CELLS_ACROSS - 1.0
    u, v = (grid.ravel() for grid in np.meshgrid(middles, middles, indexing="ij"))
    one = np.ones_like(u)
    sides = [np.column_stack(columns) for columns in ((one, u, v), (u, one, v), (u, v, one))]
    sides += [side * np.where(np.arange(3) == axis, -1.0, 1.0) for axis, side in enumerate(sides)]
    farthest = [int(np.argmax(vertices @ way)) for side in sides for way in side]
    return np.array(farthest, dtype=np.int64)


def _stacked(parts: list[NDArray], shape: tuple[int, ...], dtype: type = np.float64) -> NDArray:  # type: ignore[type-arg]
    return np.concatenate(parts).astype(dtype) if parts else np.empty(shape, dtype)


def _merged(vertices: Floats, triangles: Integers, tolerance: float) -> Integers:
    """The flat face of each triangle, numbered from 0 in the order of the triangles.

    Faces grow from their largest triangle over edges to triangles whose corners lie in its plane.
    """
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    normal = cross / np.where(area > 0.0, area, 1.0)[:, None]
    beside: dict[tuple[int, int], int] = {}
    for t, (p, q, r) in enumerate(triangles.tolist()):
        beside[p, q] = beside[q, r] = beside[r, p] = t
    face = np.full(len(triangles), -1, dtype=np.int64)
    for seed in np.argsort(-area, kind="stable").tolist():
        if face[seed] >= 0:
            continue
        face[seed], open_ends = seed, [seed]
        while open_ends:
            p, q, r = triangles[open_ends.pop()].tolist()
            for edge in ((q, p), (r, q), (p, r)):
                t = beside[edge]
                heights = (vertices[triangles[t]] - vertices[triangles[seed, 0]]) @ normal[seed]
                if face[t] < 0 and np.abs(heights).max() <= tolerance:
                    face[t] = seed
                    open_ends.append(t)
    return np.unique(face, return_inverse=True)[1].astype(np.int64)


def _loop(triangles: Integers) -> Integers:
    """Vertices around a face, counterclockwise seen from outside: edges without an opposite edge."""
    ways = {(p, q) for row in triangles.tolist() for p, q in zip(row, row[1:] + row[:1], strict=True)}
    after = {p: q for p, q in ways if (q, p) not in ways}
    start = min(after)
    loop = [start]
    while after[loop[-1]] != start:
        loop.append(after[loop[-1]])
    return np.array(loop, dtype=np.int64)


def _plane(corners: Floats) -> Floats:
    """Outward unit normal (Newell) and offset of a face."""
    middle = corners.mean(axis=0)
    arms = corners - middle
    normal = np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)
    normal /= np.linalg.norm(normal)
    return np.append(normal, (corners @ normal).max())


def _edges(loops: list[Integers]) -> Integers:
    """(e, 4) two vertices, the face with the edge from first to second, the face with the opposite edge."""
    owner = {
        (p, q): face
        for face, loop in enumerate(loops)
        for p, q in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True)
    }
    return np.array(
        [(p, q, face, owner[q, p]) for (p, q), face in sorted(owner.items()) if p < q], dtype=np.int64
    )
