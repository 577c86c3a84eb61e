"""Nearest points of a mesh and a convex solid or another mesh.

Triangles count from both sides: the answer is the distance to the surface, whatever is inside.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.directions import work
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import TRIANGLE, Hulls, Solid, to_local, to_world
from nonsmooth.collision.kernels.surfaces.arrays import corner, vertex
from nonsmooth.collision.kernels.surfaces.meshes import place_solid, set_box


class NearestWork(NamedTuple):
    """Scratch; what is in it before a call does not matter."""

    direction: work.Work
    axes: np.ndarray  # (3, 3) the solid's axes in the frame of the mesh
    corners: np.ndarray  # (3, 3) of a triangle relative to its first corner, in columns
    box: np.ndarray  # (6,)
    stack: np.ndarray  # (128,) int64


def make_work(hulls: Hulls) -> NearestWork:
    """Scratch for solids whose hulls are these."""
    return NearestWork(
        work.make_work(hulls), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(6), np.zeros(128, dtype=np.int64)
    )


@inner_kernel
def boxes_apart(boxes, at, box):
    """Distance (m) of box number `at` and `box` (6,)."""
    square = 0.0
    for k in range(3):
        gap = max(boxes[at, k] - box[3 + k], box[k] - boxes[at, 3 + k], 0.0)
        square += gap * gap
    return math.sqrt(square)


@inner_kernel
def relative_corners(meshes, mesh, triangle, corners):
    """Corners of a triangle relative to its first one, in columns; the first one."""
    ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, triangle, 0))
    for k in range(3):
        x, y, z = vertex(meshes, mesh, corner(meshes, mesh, triangle, k))
        corners[0, k], corners[1, k], corners[2, k] = x - ax, y - ay, z - az
    return ax, ay, az


@inner_kernel
def _search(meshes, mesh, q, hulls, limit, scratch):
    """Triangle nearest to a solid, −1 if none is nearer than `limit`, and what `separation` says of both.

    The search ends at the first triangle that the solid touches. `scratch.box` holds the solid.
    """
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    inner = (1 << levels) - 1
    found, best = -1, (limit, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    stack = scratch.stack
    stack[0], depth = 0, 1
    while depth > 0 and best[0] > 0.0:
        depth -= 1
        node = stack[depth]
        if boxes_apart(meshes.boxes, first + node, scratch.box) >= best[0]:
            continue
        if node < inner:
            left, right = 2 * node + 1, 2 * node + 2
            if boxes_apart(meshes.boxes, first + left, scratch.box) > boxes_apart(
                meshes.boxes, first + right, scratch.box
            ):
                left, right = right, left
            stack[depth], stack[depth + 1] = right, left
            depth += 2
            continue
        leaf = node - inner
        for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
            ax, ay, az = relative_corners(meshes, mesh, t, scratch.corners)
            flat = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, ax, ay, az, scratch.corners, 0)
            one = separation(flat, q, hulls, best[0], scratch.direction)
            if one[0] < best[0]:
                found, best = t, one
    return found, best


@inner_kernel
def _write(x, y, z, axes, best, radius, out):
    """Points on the surface and on the solid, and the normal between them, in the world."""
    _, nx, ny, nz, px, py, pz, qx, qy, qz = best
    px, py, pz = to_world(axes, px, py, pz)
    qx, qy, qz = to_world(axes, qx - radius * nx, qy - radius * ny, qz - radius * nz)
    out[0, 0], out[0, 1], out[0, 2] = x + px, y + py, z + pz
    out[1, 0], out[1, 1], out[1, 2] = x + qx, y + qy, z + qz
    out[2, 0], out[2, 1], out[2, 2] = to_world(axes, nx, ny, nz)


@kernel
def nearest_of_solid(mesh, x, y, z, axes, solid, meshes, hulls, scratch, out):
    """Distance (m) of a mesh at (x, y, z) and a convex solid; not positive if they touch.

    Fills `out` (3, 3): the points on both and the normal from the mesh to the solid.
    """
    q = place_solid(solid, x, y, z, axes, scratch)
    set_box(q, hulls, 0.0, scratch.box)
    _, best = _search(meshes, mesh, q, hulls, math.inf, scratch)
    _write(x, y, z, axes, best, q.radius, out)
    return best[0]


@kernel
def nearest_of_meshes(mesh, x, y, z, axes, other, ox, oy, oz, other_axes, meshes, hulls, scratch, out):
    """The same for two meshes: each triangle of `other` against the tree of `mesh`."""
    nearest = math.inf
    ox, oy, oz = ox - x, oy - y, oz - z
    for t in range(meshes.first[other + 1, 1] - meshes.first[other, 1]):
        for k in range(3):
            px, py, pz = vertex(meshes, other, corner(meshes, other, t, k))
            px, py, pz = to_world(other_axes, px, py, pz)
            px, py, pz = to_local(axes, ox + px, oy + py, oz + pz)
            if k == 0:
                ax, ay, az = px, py, pz
            scratch.axes[0, k], scratch.axes[1, k], scratch.axes[2, k] = px - ax, py - ay, pz - az
        q = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, ax, ay, az, scratch.axes, 0)
        set_box(q, hulls, 0.0, scratch.box)
        found, best = _search(meshes, mesh, q, hulls, nearest, scratch)
        if found >= 0:
            nearest = best[0]
            _write(x, y, z, axes, best, 0.0, out)
            if nearest <= 0.0:
                break
    return nearest
