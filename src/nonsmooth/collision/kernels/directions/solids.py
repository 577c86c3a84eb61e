"""Convex solids in the world: what the kernels of the narrow phase know of a shape, and its support map.

A solid is a core and a ball of `radius` swept around it. The core of a sphere is a point, that of a capsule
a segment; all other cores are the shape itself, sharp. Separation along a direction n is that of the cores
less both radii, so that cores alone decide the best direction.

Coordinates are relative to a point near the pair, as a rule the first solid's centre: then nothing is lost
far from the origin of the world.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel

SPHERE, HALF_SPACE, BOX, CAPSULE, CYLINDER, ELLIPSOID, CONVEX_HULL, MESH, HEIGHT_FIELD, CONE = range(10)
TRIANGLE = 100  # a triangle of a mesh or a height field; no shape of its own

FEW_VERTICES = 24
"""Largest number of vertices for which a hull is searched whole."""
CELLS_ACROSS = 6
"""Cells along each side of the cube of directions whose farthest vertices are kept."""


class Solid(NamedTuple):
    """A convex core in the world.

    (a, b, c) are the sizes of the shape table: half extents of a box; radius and half length of a capsule,
    cylinder or cone (tip at +b, base at −b along z); half axes of an ellipsoid.
    """

    kind: int
    a: float
    b: float
    c: float
    radius: float  # of the swept ball: a sphere's and a capsule's own, the rounding of all others
    x: float
    y: float
    z: float
    axes: np.ndarray  # (3, 3) columns: the axes; of a triangle: its corners relative to (x, y, z)
    hull: int  # row of `Hulls.first`


class Hulls(NamedTuple):
    """All distinct convex hulls, one after the other; vertex, face and edge numbers count within a hull."""

    first: np.ndarray  # (g + 1, 5) int64: first vertex, face, edge, corner of faces, neighbour
    vertices: np.ndarray  # (V, 3)
    planes: np.ndarray  # (F, 4): outward unit normal n and offset n·x of each flat face
    face_first: np.ndarray  # (F + 1,) int64: first corner of each face, counted over all hulls
    corners: np.ndarray  # (C,) int64: vertices round each face, counterclockwise seen from outside
    edges: (
        np.ndarray
    )  # (E, 4) int64: two vertices; the face on the left of the way between them, on the right
    neighbour_first: np.ndarray  # (V + 1,) int64, counted over all hulls
    neighbours: np.ndarray  # (N,) int64: vertices that share an edge with each vertex
    starts: np.ndarray  # (g, 6 CELLS_ACROSS²) int64: farthest vertex along each cell of a cube


@inlined_kernel
def to_local(axes, x, y, z):
    """Rᵀv."""
    return (
        axes[0, 0] * x + axes[1, 0] * y + axes[2, 0] * z,
        axes[0, 1] * x + axes[1, 1] * y + axes[2, 1] * z,
        axes[0, 2] * x + axes[1, 2] * y + axes[2, 2] * z,
    )


@inlined_kernel
def to_world(axes, x, y, z):
    """R v."""
    return (
        axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z,
        axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z,
        axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z,
    )


@inlined_kernel
def _start(hulls, hull, x, y, z):
    """A vertex near the one farthest along (x, y, z): by the cell of a cube that the direction leads to."""
    axis, most, u, v = 0, x, y, z
    if abs(y) > abs(most):
        axis, most, u, v = 1, y, x, z
    if abs(z) > abs(most):
        axis, most, u, v = 2, z, x, y
    if most < 0.0:
        axis += 3
    scale = 0.5 * CELLS_ACROSS / abs(most) if most != 0.0 else 0.0
    i = min(int(scale * u + 0.5 * CELLS_ACROSS), CELLS_ACROSS - 1)
    j = min(int(scale * v + 0.5 * CELLS_ACROSS), CELLS_ACROSS - 1)
    return hulls.starts[hull, (axis * CELLS_ACROSS + i) * CELLS_ACROSS + j]


@inner_kernel
def hull_support(hulls, hull, x, y, z):
    """Number of the vertex farthest along (x, y, z): of a few, all are tried; else up along edges."""
    first, end = hulls.first[hull, 0], hulls.first[hull + 1, 0]
    v = hulls.vertices
    if end - first <= FEW_VERTICES:
        best, most = first, -math.inf
        for i in range(first, end):
            height = x * v[i, 0] + y * v[i, 1] + z * v[i, 2]
            if height > most:
                best, most = i, height
        return best - first
    best = first + _start(hulls, hull, x, y, z)
    most = x * v[best, 0] + y * v[best, 1] + z * v[best, 2]
    at = -1
    while at != best:
        at = best
        for k in range(hulls.neighbour_first[at], hulls.neighbour_first[at + 1]):
            i = first + hulls.neighbours[k]
            height = x * v[i, 0] + y * v[i, 1] + z * v[i, 2]
            if height > most:
                best, most = i, height
    return best - first


@kernel
def local_support(kind, a, b, c, x, y, z):
    """Point of a core without vertices that is farthest along (x, y, z), in the core's own frame."""
    if kind == BOX:
        return math.copysign(a, x), math.copysign(b, y), math.copysign(c, z)
    if kind == CAPSULE:
        return 0.0, 0.0, math.copysign(b, z)
    if kind == ELLIPSOID:
        px, py, pz = a * x, b * y, c * z
        length = math.sqrt(px * px + py * py + pz * pz)
        if length > 0.0:
            return a * px / length, b * py / length, c * pz / length
        return a, 0.0, 0.0
    if kind in (CYLINDER, CONE):
        across = math.sqrt(x * x + y * y)
        ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
        if kind == CYLINDER:
            return a * ux, a * uy, math.copysign(b, z)
        # the tip is farther than the rim if z 2b ≥ a √(x² + y²)
        if 2.0 * b * z >= a * across:
            return 0.0, 0.0, b
        return a * ux, a * uy, -b
    return 0.0, 0.0, 0.0


@inner_kernel
def support(solid, hulls, x, y, z, start):
    """Point of the core farthest along (x, y, z) in the pair's coordinates, and its vertex number.

    `start` is the number of a vertex near by, 0 if none is known; cores without vertices return 0.
    """
    if solid.kind == SPHERE:
        return solid.x, solid.y, solid.z, 0
    if solid.kind == TRIANGLE:
        corners = solid.axes
        best, most = 0, -math.inf
        for k in range(3):
            height = x * corners[0, k] + y * corners[1, k] + z * corners[2, k]
            if height > most:
                best, most = k, height
        return solid.x + corners[0, best], solid.y + corners[1, best], solid.z + corners[2, best], best
    lx, ly, lz = to_local(solid.axes, x, y, z)
    vertex = 0
    if solid.kind == CONVEX_HULL:
        vertex = hull_support(hulls, solid.hull, lx, ly, lz)
        i = hulls.first[solid.hull, 0] + vertex
        px, py, pz = hulls.vertices[i, 0], hulls.vertices[i, 1], hulls.vertices[i, 2]
    else:
        px, py, pz = local_support(solid.kind, solid.a, solid.b, solid.c, lx, ly, lz)
    wx, wy, wz = to_world(solid.axes, px, py, pz)
    return solid.x + wx, solid.y + wy, solid.z + wz, vertex


@inlined_kernel
def core_separation(p, q, hulls, x, y, z):
    """How far the cores are apart along the unit vector (x, y, z) from p to q; negative in overlap."""
    px, py, pz, _ = support(p, hulls, x, y, z, 0)
    qx, qy, qz, _ = support(q, hulls, -x, -y, -z, 0)
    return x * (qx - px) + y * (qy - py) + z * (qz - pz)
