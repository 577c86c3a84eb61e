"""Meshes and height fields as the kernels see them: triangles, what is next to them, kinds of edges.

Both are triangles with vertices, numbered within the surface. A mesh stores what is next to what; a height
field computes it: cell c = i (ny − 1) + j between the points (i, j) and (i + 1, j + 1) is the triangles
2c (the points (i, j), (i + 1, j), (i + 1, j + 1)) and 2c + 1 ((i, j), (i + 1, j + 1), (i, j + 1)), and the
point (i, j) is vertex i ny + j. Edge k of a triangle leads from corner k to corner k + 1.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel

FLAT, CONVEX, CONCAVE, BORDER = range(4)  # kinds of edges, two bits each in `flags`
OWN_EDGE = 6  # bit 6 + k: edge k is convex or a border, and this triangle speaks for it
OWN_VERTEX = 9  # bit 9 + k: vertex k may be farther out than all around it; this triangle speaks for it
RIM_VERTEX = 12  # bit 12 + k: vertex k is at the rim of the flat patch


class Meshes(NamedTuple):
    """All distinct meshes and height fields, one after the other."""

    first: np.ndarray  # (g + 1, 6) int64: first vertex, triangle, ring entry, node, height, flag
    shape: (
        np.ndarray
    )  # (g, 4) int64: points of a height field along x and y (0 for a mesh); tree levels; closed
    grid: np.ndarray  # (g, 5): a height field's spacing along x and y, place of its first point; the size
    vertices: np.ndarray  # (V, 3)
    triangles: np.ndarray  # (T, 3) int32: vertices, counterclockwise seen from outside, in the tree's order
    normals: np.ndarray  # (T, 3): outward unit normals; one for a flat patch
    beside: np.ndarray  # (T, 3) int32: the triangle across each edge, −1 if none
    ring_first: np.ndarray  # (V + 1,) int64, counted over all meshes
    ring: np.ndarray  # (R,) int32: vertices that share an edge with each vertex
    outward: np.ndarray  # (V, 3): the normals around a vertex, weighted by angle
    boxes: np.ndarray  # (N, 6): the tree
    heights: np.ndarray  # (H,): z of a height field, y runs fastest
    flags: np.ndarray  # (F,) uint16 for each triangle, height fields' included
    patch: np.ndarray  # (F,) int32: the least triangle of the flat patch


@inner_kernel
def is_field(meshes, mesh):
    """True for a height field."""
    return meshes.shape[mesh, 0] > 0


@inner_kernel
def is_closed(meshes, mesh):
    """True for a mesh without borders: it bounds a solid."""
    return meshes.shape[mesh, 3] > 0


@inner_kernel
def corner(meshes, mesh, triangle, k):
    """Vertex number of corner k."""
    if meshes.shape[mesh, 0] == 0:
        return np.int64(meshes.triangles[meshes.first[mesh, 1] + triangle, k])
    ny = meshes.shape[mesh, 1]
    cell = triangle >> 1
    i, j = cell // (ny - 1), cell % (ny - 1)
    if k == 0:
        return i * ny + j
    if triangle & 1 == 0:
        return (i + 1) * ny + j + (k - 1)
    return (i + 2 - k) * ny + j + 1


@inner_kernel
def vertex(meshes, mesh, v):
    """Place of a vertex in the surface's frame."""
    if meshes.shape[mesh, 0] == 0:
        at = meshes.first[mesh, 0] + v
        return meshes.vertices[at, 0], meshes.vertices[at, 1], meshes.vertices[at, 2]
    ny = meshes.shape[mesh, 1]
    i, j = v // ny, v % ny
    grid = meshes.grid
    return (
        grid[mesh, 2] + i * grid[mesh, 0],
        grid[mesh, 3] + j * grid[mesh, 1],
        meshes.heights[meshes.first[mesh, 4] + v],
    )


@inner_kernel
def beside(meshes, mesh, triangle, k):
    """The triangle across edge k, −1 if there is none."""
    if meshes.shape[mesh, 0] == 0:
        return np.int64(meshes.beside[meshes.first[mesh, 1] + triangle, k])
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    cell = triangle >> 1
    i, j = cell // (ny - 1), cell % (ny - 1)
    if triangle & 1 == 0:
        if k == 0:
            return triangle - 1 if j > 0 else -1
        if k == 1:
            return triangle + 1 + 2 * (ny - 1) if i < nx - 2 else -1
        return triangle + 1
    if k == 0:
        return triangle - 1
    if k == 1:
        return triangle + 1 if j < ny - 2 else -1
    return triangle - 1 - 2 * (ny - 1) if i > 0 else -1


@inner_kernel
def triangle_normal(meshes, mesh, triangle):
    """Outward unit normal."""
    if meshes.shape[mesh, 0] == 0:
        at = meshes.first[mesh, 1] + triangle
        return meshes.normals[at, 0], meshes.normals[at, 1], meshes.normals[at, 2]
    ny = meshes.shape[mesh, 1]
    cell = triangle >> 1
    at = meshes.first[mesh, 4] + cell // (ny - 1) * ny + cell % (ny - 1)
    h = meshes.heights
    a, b, c, d = h[at], h[at + ny], h[at + ny + 1], h[at + 1]  # (0, 0), (1, 0), (1, 1), (0, 1)
    if triangle & 1 == 0:
        rise_x, rise_y = b - a, c - b
    else:
        rise_x, rise_y = c - d, d - a
    x, y = -rise_x / meshes.grid[mesh, 0], -rise_y / meshes.grid[mesh, 1]
    length = math.sqrt(x * x + y * y + 1.0)
    return x / length, y / length, 1.0 / length


@inner_kernel
def edge_kind(flags, k):
    """FLAT, CONVEX, CONCAVE or BORDER."""
    return (flags >> (2 * k)) & 3


@inner_kernel
def _ring_field(nx, ny, i, j, k):
    """Neighbour k of six of the point (i, j): its vertex number, −1 if outside."""
    if k == 0:
        i += 1
    elif k == 1:
        i, j = i + 1, j + 1
    elif k == 2:
        j += 1
    elif k == 3:
        i -= 1
    elif k == 4:
        i, j = i - 1, j - 1
    else:
        j -= 1
    return i * ny + j if 0 <= i < nx and 0 <= j < ny else -1


@inlined_kernel
def _ring_ends(meshes, mesh, v):
    """First and last + 1 place in the ring around vertex v."""
    if meshes.shape[mesh, 0] > 0:
        return 0, 6
    at = meshes.first[mesh, 0] + v
    return np.int64(meshes.ring_first[at]), np.int64(meshes.ring_first[at + 1])


@inlined_kernel
def _ring_vertex(meshes, mesh, v, k):
    """Vertex at place k of the ring around vertex v; -1 beyond the border of a height field."""
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    return _ring_field(nx, ny, v // ny, v % ny, k) if nx > 0 else np.int64(meshes.ring[k])


@inner_kernel
def steepest(meshes, mesh, v, x, y, z):
    """The greatest slope up along the unit vector (x, y, z) of the edges that leave vertex v.

    It is negative if the vertex is farther out along the vector than all around it.
    """
    vx, vy, vz = vertex(meshes, mesh, v)
    begin, end = _ring_ends(meshes, mesh, v)
    most = -math.inf
    for k in range(begin, end):
        w = _ring_vertex(meshes, mesh, v, k)
        if w < 0:
            continue
        wx, wy, wz = vertex(meshes, mesh, w)
        wx, wy, wz = wx - vx, wy - vy, wz - vz
        most = max(most, (x * wx + y * wy + z * wz) / math.sqrt(wx * wx + wy * wy + wz * wz))
    return most


@inner_kernel
def outward(meshes, mesh, v):
    """A vector out of the material at vertex v."""
    if meshes.shape[mesh, 0] > 0:
        return 0.0, 0.0, 1.0
    at = meshes.first[mesh, 0] + v
    return meshes.outward[at, 0], meshes.outward[at, 1], meshes.outward[at, 2]


@inner_kernel
def load_triangle(meshes, mesh, triangle, corners, numbers):
    """Write a triangle's corners (3, 3), in columns, and its numbers (5,): vertices, flags, patch."""
    for k in range(3):
        v = corner(meshes, mesh, triangle, k)
        numbers[k] = v
        corners[0, k], corners[1, k], corners[2, k] = vertex(meshes, mesh, v)
    at = meshes.first[mesh, 5] + triangle
    numbers[3], numbers[4] = meshes.flags[at], meshes.patch[at]


@inner_kernel
def drop_around(meshes, mesh, v, x, y, z):
    """Height along the unit vector (x, y, z) of the highest neighbour of vertex v over it [m]."""
    vx, vy, vz = vertex(meshes, mesh, v)
    begin, end = _ring_ends(meshes, mesh, v)
    most = -math.inf
    for k in range(begin, end):
        w = _ring_vertex(meshes, mesh, v, k)
        if w >= 0:
            wx, wy, wz = vertex(meshes, mesh, w)
            most = max(most, x * (wx - vx) + y * (wy - vy) + z * (wz - vz))
    return most
