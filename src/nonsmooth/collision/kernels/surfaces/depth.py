"""How deep a point is inside a closed mesh.

The nearest point of the surface tells the side: the normals around it, weighted by angle, have a positive
product with the way to every point outside that it is nearest to, and a negative one inside (Bærentzen and
Aanæs 2005).
"""

import math

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.surfaces.arrays import beside, corner, outward, triangle_normal
from nonsmooth.collision.kernels.surfaces.nearest import boxes_apart, relative_corners


@inner_kernel
def _on_triangle(corners, x, y, z):
    """Point of a triangle nearest to (x, y, z), all relative to its first corner, and where it is.

    0 is the face, 1 + k the edge from corner k, 4 + k the corner k.
    """
    bx, by, bz = corners[0, 1], corners[1, 1], corners[2, 1]
    cx, cy, cz = corners[0, 2], corners[1, 2], corners[2, 2]
    d1, d2 = bx * x + by * y + bz * z, cx * x + cy * y + cz * z
    if d1 <= 0.0 and d2 <= 0.0:
        return 0.0, 0.0, 0.0, 4
    bb, bc, cc = bx * bx + by * by + bz * bz, bx * cx + by * cy + bz * cz, cx * cx + cy * cy + cz * cz
    d3, d4, d5, d6 = d1 - bb, d2 - bc, d1 - bc, d2 - cc
    if d3 >= 0.0 and d4 <= d3:
        return bx, by, bz, 5
    if d6 >= 0.0 and d5 <= d6:
        return cx, cy, cz, 6
    of_c = d1 * d4 - d3 * d2
    if of_c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        part = d1 / bb
        return part * bx, part * by, part * bz, 1
    of_b = d5 * d2 - d1 * d6
    if of_b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        part = d2 / cc
        return part * cx, part * cy, part * cz, 3
    of_a = d3 * d6 - d5 * d4
    if of_a <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        part = (d4 - d3) / (d4 - d3 + d5 - d6)
        return bx + part * (cx - bx), by + part * (cy - by), bz + part * (cz - bz), 2
    total = of_a + of_b + of_c
    v, w = of_b / total, of_c / total
    return v * bx + w * cx, v * by + w * cy, v * bz + w * cz, 0


@inner_kernel
def _normal_at(meshes, mesh, triangle, place):
    """A vector out of the material at a face, an edge or a corner, see `_on_triangle`."""
    if place >= 4:
        return outward(meshes, mesh, corner(meshes, mesh, triangle, place - 4))
    nx, ny, nz = triangle_normal(meshes, mesh, triangle)
    if place > 0:
        across = beside(meshes, mesh, triangle, place - 1)
        if across >= 0:
            mx, my, mz = triangle_normal(meshes, mesh, across)
            return nx + mx, ny + my, nz + mz
    return nx, ny, nz


@kernel
def depth_in_mesh(meshes, mesh, x, y, z, box, stack, corners):
    """Distance (m) of a point from a closed mesh, in its frame, negative inside; and the outward unit normal.

    Outside the normal leads from the nearest point of the surface to the point, inside the other way.
    """
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    inner = (1 << levels) - 1
    box[0], box[1], box[2], box[3], box[4], box[5] = x, y, z, x, y, z
    found, place, best, away = -1, 0, math.inf, (0.0, 0.0, 0.0)
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if boxes_apart(meshes.boxes, first + node, box) >= best:
            continue
        if node < inner:
            left, right = 2 * node + 1, 2 * node + 2
            if boxes_apart(meshes.boxes, first + left, box) > boxes_apart(meshes.boxes, first + right, box):
                left, right = right, left
            stack[depth], stack[depth + 1] = right, left
            depth += 2
            continue
        leaf = node - inner
        for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
            ax, ay, az = relative_corners(meshes, mesh, t, corners)
            qx, qy, qz, where = _on_triangle(corners, x - ax, y - ay, z - az)
            dx, dy, dz = x - ax - qx, y - ay - qy, z - az - qz
            apart = math.sqrt(dx * dx + dy * dy + dz * dz)
            if apart < best:
                found, place, best, away = t, where, apart, (dx, dy, dz)
    nx, ny, nz = _normal_at(meshes, mesh, found, place)
    sign = -1.0 if nx * away[0] + ny * away[1] + nz * away[2] <= 0.0 else 1.0
    if best > 0.0:
        nx, ny, nz = sign * away[0], sign * away[1], sign * away[2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return sign * best, nx / length, ny / length, nz / length
