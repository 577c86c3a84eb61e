"""Points of a face that touches along the direction of its rim: seen along it, they lie elsewhere.

A row of a patch holds a point of the surface; the point of the solid is at a height over it, along the normal
of the patch. Along another direction a corner of the solid is over another point of the patch, a vertex of
the patch under another point of the solid's face, and where two edges cross, both points slide along them.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.surfaces.features.rows import CORNER, CROSSING

_PARALLEL = 0.02  # sine of the angle between two edges below which they do not cross


@inner_kernel
def turn_row(rows, i, direction, radius, most):
    """Give row i of a patch another direction; no point is nearer than `most`, the separation along it."""
    spot, ways, plane = rows.spots[i], rows.ways[i], rows.plane[i]
    nx, ny, nz = spot[3], spot[4], spot[5]
    bx, by, bz = direction
    height = spot[6] + radius
    sx, sy, sz = spot[0], spot[1], spot[2]
    what = rows.marks[i] >> 60
    higher = height / (nx * bx + ny * by + nz * bz)
    part = 1.0  # of the way between the two points that the surface's point goes
    if what == CROSSING:
        ux, uy, uz, vx, vy, vz = ways[0], ways[1], ways[2], ways[3], ways[4], ways[5]
        wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square = wx * wx + wy * wy + wz * wz
        if square > _PARALLEL * _PARALLEL:
            higher = height * (nx * wx + ny * wy + nz * wz) / (bx * wx + by * wy + bz * wz)
            # the change of the vector between the points is q v − p u
            x, y, z = higher * bx - height * nx, higher * by - height * ny, higher * bz - height * nz
            p = -(wx * (y * vz - z * vy) + wy * (z * vx - x * vz) + wz * (x * vy - y * vx)) / square
            spot[0], spot[1], spot[2] = spot[0] + p * ux, spot[1] + p * uy, spot[2] + p * uz
            part = 0.0
    elif what != CORNER:
        higher = (
            height
            * (plane[0] * nx + plane[1] * ny + plane[2] * nz)
            / (plane[0] * bx + plane[1] * by + plane[2] * bz)
        )
        part = 0.0
    spot[0] += part * (height * nx - higher * bx)
    spot[1] += part * (height * ny - higher * by)
    spot[2] += part * (height * nz - higher * bz)
    plane[4] = math.sqrt((spot[0] - sx) ** 2 + (spot[1] - sy) ** 2 + (spot[2] - sz) ** 2)
    spot[3], spot[4], spot[5] = bx, by, bz
    spot[6] = max(higher - radius, most)
