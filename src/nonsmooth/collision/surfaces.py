"""Meshes and height fields as arrays for the kernels: neighbours, kinds of edges, flat patches, trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import csgraph, sparse
from nonsmooth.collision.kernels.surfaces import trees
from nonsmooth.collision.kernels.surfaces.arrays import (
    BORDER,
    CONCAVE,
    CONVEX,
    FLAT,
    OWN_EDGE,
    OWN_VERTEX,
    RIM_VERTEX,
    Meshes,
)
from nonsmooth.collision.kernels.surfaces.self_intersections import find_crossing
from nonsmooth.errors import ProblemError

Numbers = NDArray[np.integer]

_FLAT_ANGLE = 1e-6
"""Largest angle in rad between two coplanar triangles."""
_COPLANAR = 1e-10
"""Largest distance of a corner from its neighbour's plane, as a fraction of the size: slivers have no exact
normal."""


class TriangleSurface:
    """A mesh in its own frame, ready for `pack`: `vertices` (v, 3) in m and `triangles` (t, 3), cleaned.

    Triangles are counterclockwise seen from outside. Edges of one triangle, of more than two, or of two with
    opposite orientation are borders.
    """

    def __init__(self, vertices: Floats, triangles: Numbers) -> None:
        self.vertices = np.array(vertices, dtype=float, order="C")  # writeable: kernels have one type of it
        given = triangles.astype(np.int32)
        self.size = float(np.ptp(self.vertices, axis=0).max())
        self.levels = trees.levels_for(len(given))
        centres = np.ascontiguousarray(self.vertices[given].mean(axis=1).T)
        order = np.arange(len(given))
        trees.sort_triangles(centres, self.levels, order)
        self.triangles: NDArray[np.int32] = np.ascontiguousarray(given[order])
        self.boxes = np.empty(((2 << self.levels) - 1, 6))
        trees.fill_boxes(self.vertices, self.triangles, self.levels, self.boxes)
        self.beside = _beside(self.triangles, len(self.vertices))
        a, b, c = np.moveaxis(self.vertices[self.triangles], 1, 0)
        cross = np.cross(b - a, c - a)
        twice = np.linalg.norm(cross, axis=1)
        if not twice.all():
            row = int(order[np.argmin(twice)])
            raise ProblemError(f"triangle {row} of a mesh has no area: remove it")
        normals = cross / twice[:, None]
        kinds = self._edge_kinds(normals, twice)
        self.patch = _patches(self.beside, kinds)
        self.normals = _patch_normals(self.vertices, self.triangles, cross, normals, self.patch, self.size)
        self.flags = _flags(self.triangles, self.beside, kinds, len(self.vertices))
        self.outward = self._outward(normals)
        self.ring, self.ring_first = _ring(self.triangles, self.beside, len(self.vertices))

    def _edge_kinds(self, normals: Floats, twice: Floats) -> NDArray[np.int64]:
        """(t, 3) kinds of the edges."""
        kinds = np.full((len(self.triangles), 3), BORDER, dtype=np.int64)
        for k in range(3):
            t = np.flatnonzero(self.beside[:, k] >= 0)
            u = self.beside[t, k]
            larger = np.where(twice[t] >= twice[u], t, u)  # its normal is more accurate
            smaller = np.where(twice[t] >= twice[u], u, t)
            p, q = self.triangles[t, k], self.triangles[t, (k + 1) % 3]
            far = (self.triangles[smaller].sum(axis=1) - p - q).astype(np.int64)
            edge = self.vertices[q] - self.vertices[p]
            height = np.einsum("ti,ti->t", normals[larger], self.vertices[far] - self.vertices[p])
            away = twice[smaller] / np.linalg.norm(edge, axis=1)
            same_side = np.einsum("ti,ti->t", normals[t], normals[u]) > 0.0
            flat = same_side & (np.abs(height) <= np.maximum(_FLAT_ANGLE * away, _COPLANAR * self.size))
            kinds[t, k] = np.where(flat, FLAT, np.where(height <= 0.0, CONVEX, CONCAVE))
        return kinds

    def _outward(self, normals: Floats) -> Floats:
        """Angle-weighted normals around each vertex: positive along every outward direction."""
        total = np.zeros_like(self.vertices)
        corners = self.vertices[self.triangles]
        for k in range(3):
            u = corners[:, (k + 1) % 3] - corners[:, k]
            v = corners[:, (k + 2) % 3] - corners[:, k]
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ti,ti->t", u, v))
            for axis in range(3):
                weights = angle * normals[:, axis]
                total[:, axis] += np.bincount(self.triangles[:, k], weights, len(total))
        return total


class HeightField:
    """Terrain in its own frame, ready for `pack`: z = `heights` (nx, ny) in m over a grid, solid below.

    Point (i, j) is at `origin` + (i, j) · `spacing` in m; a cell is two triangles, cut from (i, j) to
    (i + 1, j + 1).
    """

    def __init__(
        self, heights: Floats, spacing: tuple[float, float], origin: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        self.heights = np.ascontiguousarray(heights, dtype=float)
        self.spacing, self.origin = spacing, origin
        nx, ny = self.heights.shape
        across = (max(nx - 1, 1) * spacing[0], max(ny - 1, 1) * spacing[1])
        self.size = float(max(*across, np.ptp(self.heights)))
        self.flags, self.patch = self._flags_and_patches()

    def _flags_and_patches(self) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
        h = self.heights
        nx, ny = h.shape
        dx, dy = self.spacing
        vertex = np.arange(nx * ny, dtype=np.int32).reshape(nx, ny)
        v00, v10, v11, v01 = vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]
        triangles = np.stack([np.stack([v00, v10, v11], -1), np.stack([v00, v11, v01], -1)], 2).reshape(-1, 3)
        number = np.arange(len(triangles), dtype=np.int32).reshape(nx - 1, ny - 1, 2)
        beside = np.full((nx - 1, ny - 1, 2, 3), -1, dtype=np.int32)
        beside[:, 1:, 0, 0] = number[:, :-1, 1]
        beside[:-1, :, 0, 1] = number[1:, :, 1]
        beside[:, :, 0, 2], beside[:, :, 1, 0] = number[:, :, 1], number[:, :, 0]
        beside[:, :-1, 1, 1] = number[:, 1:, 0]
        beside[1:, :, 1, 2] = number[:-1, :, 0]
        # slopes along x and y of each triangle: an edge is convex if the slope falls across it
        slope = np.empty((nx - 1, ny - 1, 2, 2))
        slope[:, :, 0, 0] = (h[1:, :-1] - h[:-1, :-1]) / dx
        slope[:, :, 0, 1] = (h[1:, 1:] - h[1:, :-1]) / dy
        slope[:, :, 1, 0] = (h[1:, 1:] - h[:-1, 1:]) / dx
        slope[:, :, 1, 1] = (h[:-1, 1:] - h[:-1, :-1]) / dy
        slopes = slope.reshape(-1, 2)
        besides = beside.reshape(-1, 3)
        # outward directions across each edge
        out = np.array([[(0.0, -dx), (dy, 0.0), (-dy, dx)], [(dy, -dx), (0.0, dx), (-dy, 0.0)]])
        out /= np.linalg.norm(out, axis=2, keepdims=True)
        kinds = np.full(besides.shape, BORDER, dtype=np.int64)
        for half in range(2):
            for k in range(3):
                t = half + 2 * np.arange(len(besides) // 2)
                t = t[besides[t, k] >= 0]
                bend = (slopes[besides[t, k]] - slopes[t]) @ out[half, k]
                steep = 1.0 + np.einsum("ti,ti->t", slopes[t], slopes[t])
                flat = np.abs(bend) <= _FLAT_ANGLE * steep
                kinds[t, k] = np.where(flat, FLAT, np.where(bend < 0.0, CONVEX, CONCAVE))
        return _flags(triangles, besides, kinds, nx * ny), _patches(besides, kinds)


def crossing(surface: TriangleSurface) -> Floats | None:
    """A point (3,) in m, in the mesh's frame, near which two of its triangles intersect; None if none do."""
    pair = np.empty(2, dtype=np.int64)
    found = find_crossing(
        surface.vertices, surface.triangles, surface.beside, surface.boxes, surface.levels, surface.size,
        np.empty((trees.LEAF, 6)), np.empty((3, 6)), np.empty(64, dtype=np.int64), pair,
    )  # fmt: skip
    if not found:
        return None
    corners = surface.vertices[surface.triangles[pair]]  # the middle of the intersection of both boxes
    low, high = corners.min(axis=1).max(axis=0), corners.max(axis=1).min(axis=0)
    return np.asarray(0.5 * (low + high))


def pack(surfaces: Sequence[TriangleSurface | HeightField]) -> Meshes:
    """Concatenate several surfaces."""
    first = np.zeros((len(surfaces) + 1, 6), dtype=np.int64)
    shape = np.zeros((len(surfaces), 4), dtype=np.int64)
    grid = np.zeros((len(surfaces), 5))
    meshes = [surface for surface in surfaces if isinstance(surface, TriangleSurface)]
    fields = [surface for surface in surfaces if isinstance(surface, HeightField)]
    for row, surface in enumerate(surfaces):
        flags = len(surface.flags)
        grid[row, 4] = surface.size
        if isinstance(surface, HeightField):
            counts = (0, 0, 0, 0, surface.heights.size, flags)
            shape[row, :2] = surface.heights.shape
            grid[row, :4] = (*surface.spacing, *surface.origin)
        else:
            counts = (len(surface.vertices), flags, len(surface.ring), len(surface.boxes), 0, flags)
            shape[row, 2:] = surface.levels, (surface.beside >= 0).all()
        first[row + 1] = first[row] + counts
    is_mesh = shape[:, 0] == 0
    ring_first = [
        mesh.ring_first[:-1] + start for mesh, start in zip(meshes, first[:-1][is_mesh, 2], strict=True)
    ]
    return Meshes(
        first,
        shape,
        grid,
        _stacked([mesh.vertices for mesh in meshes], (0, 3), np.float64),
        _stacked([mesh.triangles for mesh in meshes], (0, 3), np.int32),
        _stacked([mesh.normals for mesh in meshes], (0, 3), np.float64),
        _stacked([mesh.beside for mesh in meshes], (0, 3), np.int32),
        np.concatenate([*ring_first, first[-1:, 2]]).astype(np.int64),
        _stacked([mesh.ring for mesh in meshes], (0,), np.int32),
        _stacked([mesh.outward for mesh in meshes], (0, 3), np.float64),
        _stacked([mesh.boxes for mesh in meshes], (0, 6), np.float64),
        _stacked([field.heights.ravel() for field in fields], (0,), np.float64),
        _stacked([surface.flags for surface in surfaces], (0,), np.uint16),
        _stacked([surface.patch for surface in surfaces], (0,), np.int32),
    )


def _stacked(parts: list[NDArray], shape: tuple[int, ...], dtype: type) -> NDArray:  # type: ignore[type-arg]
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype)  # a large mesh is not copied
    return np.ascontiguousarray(np.concatenate(parts), dtype) if parts else np.empty(shape, dtype)


def _beside(triangles: NDArray[np.int32], vertices: int) -> NDArray[np.int32]:
    """(t, 3) the triangle across each edge, −1 at a border."""
    count = len(triangles)
    p = triangles.T.ravel().astype(np.int64)
    q = np.roll(triangles, -1, axis=1).T.ravel().astype(np.int64)
    key = np.minimum(p, q) * vertices + np.maximum(p, q)
    order = np.argsort(key)
    sorted_key = key[order]
    starts = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]])
    pairs = starts[np.diff(np.r_[starts, len(key)]) == 2]
    one, two = order[pairs], order[pairs + 1]
    opposite = p[one] == q[two]
    one, two = one[opposite], two[opposite]
    beside = np.full(3 * count, -1, dtype=np.int32)
    beside[one], beside[two] = two % count, one % count
    return np.ascontiguousarray(beside.reshape(3, count).T)


def _ring(
    triangles: NDArray[np.int32], beside: NDArray[np.int32], vertices: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Concatenated neighbours of each vertex, and the index of the first of each."""
    p, q = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    border = beside.ravel() < 0  # no other triangle has the opposite edge
    ends = np.concatenate([p, q[border]]), np.concatenate([q, p[border]])
    graph = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(vertices, vertices)).tocsr()
    graph.sum_duplicates()
    return graph.indices.astype(np.int32), graph.indptr.astype(np.int64)


def _patches(beside: NDArray[np.int32], kinds: NDArray[np.int64]) -> NDArray[np.int32]:
    """(t,) the lowest triangle number in the flat patch of each triangle."""
    count = len(beside)
    t, k = np.nonzero(kinds == FLAT)
    graph = sparse.coo_array((np.ones(len(t), dtype=np.int8), (t, beside[t, k])), shape=(count, count))
    _, part = csgraph.connected_components(graph, directed=False)
    least = np.empty(count, dtype=np.int32)
    least[part[::-1]] = np.arange(count, dtype=np.int32)[::-1]  # the last one written is the least
    patches: NDArray[np.int32] = least[part]
    return patches


def _patch_normals(
    vertices: Floats,
    triangles: NDArray[np.int32],
    cross: Floats,
    normals: Floats,
    patch: NDArray[np.int32],
    size: float,
) -> Floats:
    """One normal for each flat patch; a patch that bends over many triangles keeps separate normals."""
    total = np.column_stack([np.bincount(patch, cross[:, axis], len(patch)) for axis in range(3)])
    shared = (total / np.maximum(np.linalg.norm(total, axis=1), 1e-300)[:, None])[patch]
    base = vertices[triangles[patch, 0]]
    off = np.abs(np.einsum("tki,ti->tk", vertices[triangles] - base[:, None], shared)).max(axis=1)
    bends = np.bincount(patch[off > 10.0 * _COPLANAR * size], minlength=len(patch)) > 0
    return np.where(bends[patch][:, None], normals, shared)


def _flags(
    triangles: NDArray[np.int32], beside: NDArray[np.int32], kinds: NDArray[np.int64], vertices: int
) -> NDArray[np.uint16]:
    """The bits of each triangle, see `kernels.surfaces.arrays`."""
    flags = np.zeros(len(triangles), dtype=np.int64)
    number = np.arange(len(triangles))
    sharp = (kinds == CONVEX) | (kinds == BORDER)
    rim = np.zeros(vertices, dtype=bool)
    ends = np.zeros(vertices)  # convex ends count half, because both triangles of the edge add them
    for k in range(3):
        p, q = triangles[:, k], triangles[:, (k + 1) % 3]
        flags |= kinds[:, k] << 2 * k
        flags |= (sharp[:, k] & (number > beside[:, k])).astype(np.int64) << (OWN_EDGE + k)
        for corner in (p, q):
            rim[corner[kinds[:, k] != FLAT]] = True
            ends += np.bincount(corner, np.where(kinds[:, k] == BORDER, 3.0, 0.5 * sharp[:, k]), vertices)
    owner = np.zeros(vertices, dtype=np.int64)
    owner[triangles[::-1].ravel()] = np.repeat(number[::-1], 3)  # the last one written is the least
    for k in range(3):
        v = triangles[:, k]
        flags |= ((owner[v] == number) & (ends[v] >= 3.0)).astype(np.int64) << (OWN_VERTEX + k)
        flags |= rim[v].astype(np.int64) << (RIM_VERTEX + k)
    return flags.astype(np.uint16)
