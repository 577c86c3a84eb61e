"""Rows of a sharp vertex: its own directions are the cone of the normals around it."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    SPHERE,
    Solid,
    support,
    to_local,
    to_world,
)
from nonsmooth.collision.kernels.surfaces.arrays import BORDER, edge_kind, outward, steepest
from nonsmooth.collision.kernels.surfaces.features.rows import (
    IN_CONE,
    OF_VERTEX,
    OUTSIDE,
    VERTEX_MARK,
    add_row,
)


@inner_kernel
def _vertex_direction(x, y, z, one, solid, hulls, reach, direction):
    """Gap of a point and a solid, and the best direction."""
    point = Solid(SPHERE, 0.0, 0.0, 0.0, 0.0, x, y, z, one, 0)
    gap, nx, ny, nz, _, _, _, _, _, _ = separation(point, solid, hulls, reach, direction)
    return gap, nx, ny, nz


@inner_kernel
def _way_out(solid, hulls, k, x, y, z):
    """Direction k in which a point inside a solid may leave it, through a face; True if there is one.

    The solid is behind that face: (n) points from the point's surface into the solid.
    """
    axes = solid.axes
    if solid.kind == CONVEX_HULL:
        f = hulls.first[solid.hull, 1] + k
        if f >= hulls.first[solid.hull + 1, 1]:
            return False, 0.0, 0.0, 0.0
        nx, ny, nz = to_world(axes, hulls.planes[f, 0], hulls.planes[f, 1], hulls.planes[f, 2])
        return True, -nx, -ny, -nz
    if solid.kind == BOX and k < 6:
        sign = -1.0 if k & 1 else 1.0
        return True, sign * axes[0, k >> 1], sign * axes[1, k >> 1], sign * axes[2, k >> 1]
    if solid.kind in (CYLINDER, CONE) and k < 3:
        if k < 2:
            sign = -1.0 if k == 1 else 1.0
            return solid.kind == CYLINDER or k == 0, sign * axes[0, 2], sign * axes[1, 2], sign * axes[2, 2]
        lx, ly, _ = to_local(axes, x - solid.x, y - solid.y, z - solid.z)
        across = math.sqrt(lx * lx + ly * ly)
        if across == 0.0:
            return False, 0.0, 0.0, 0.0
        rise = solid.a / (2.0 * solid.b) if solid.kind == CONE else 0.0
        scale = 1.0 / math.sqrt(1.0 + rise * rise)
        nx, ny, nz = to_world(axes, lx / across * scale, ly / across * scale, rise * scale)
        return True, -nx, -ny, -nz
    return False, 0.0, 0.0, 0.0


@inner_kernel
def _best_way_out(meshes, mesh, v, x, y, z, solid, hulls):
    """Of the ways out of a solid that lie in the cone of vertex v, the shortest: found, gap, direction."""
    found, most, bx, by, bz = False, -math.inf, 0.0, 0.0, 0.0
    k = 0
    while True:
        there, nx, ny, nz = _way_out(solid, hulls, k, x, y, z)
        k += 1
        if not there:
            if k > 3 or solid.kind not in (CYLINDER, CONE):
                break
            continue
        sx, sy, sz, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        gap = nx * (sx - x) + ny * (sy - y) + nz * (sz - z) - solid.radius
        if gap > most and steepest(meshes, mesh, v, nx, ny, nz) <= IN_CONE:
            found, most, bx, by, bz = True, gap, nx, ny, nz
    return found, most, bx, by, bz


@inner_kernel
def vertex_rows(meshes, mesh, k, corners, numbers, solid, hulls, reach, tiny, work, rows, count):
    """The row of a vertex that is farther out along the best direction than all around it."""
    v, flags = numbers[k], numbers[3]
    x, y, z = corners[0, k], corners[1, k], corners[2, k]
    for axis in range(3):
        if not work.box[axis] <= corners[axis, k] <= work.box[3 + axis]:
            return count
    ox, oy, oz = outward(meshes, mesh, v)
    # no direction is worse than the best: a cheap one may show that the solid is out of reach
    sx, sy, sz, _ = support(solid, hulls, -ox, -oy, -oz, 0)
    far = ox * (sx - x) + oy * (sy - y) + oz * (sz - z)
    if far > (reach + solid.radius) * math.sqrt(ox * ox + oy * oy + oz * oz):
        return count
    gap, nx, ny, nz = _vertex_direction(x, y, z, work.one, solid, hulls, reach, work.direction)
    if gap > reach:
        return count
    at_border = edge_kind(flags, k) == BORDER or edge_kind(flags, (k + 2) % 3) == BORDER
    inward = ox * nx + oy * ny + oz * nz < 0.0 and (gap <= 0.0 or not at_border)
    outside = 0
    if inward or steepest(meshes, mesh, v, nx, ny, nz) > IN_CONE:
        if gap > tiny:
            outside = OUTSIDE
        # the shortest way out is none of this vertex: another may be
        found, gap, nx, ny, nz = _best_way_out(meshes, mesh, v, x, y, z, solid, hulls)
        if not found or gap > tiny or ox * nx + oy * ny + oz * nz < 0.0:
            return count
    return add_row(
        rows, count, OF_VERTEX, numbers[4], outside, VERTEX_MARK | v, x, y, z, nx, ny, nz, gap, gap
    )
