"""Nearest points of two convex shapes, or of a convex shape and a half-space."""

import math

from nonsmooth._support.jit import kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import HALF_SPACE, support
from nonsmooth.collision.kernels.motion.placing import KIND, solid_of


@kernel
def nearest(a, b, shapes, hulls, centre, axes, work, out):
    """Gap of shapes a and b (m); fills `out` (3, 3): the points on a and on b, and the normal from a to b."""
    plane, s, sign = (a, b, 1.0) if shapes.tags[a, KIND] == HALF_SPACE else (b, a, -1.0)
    x, y, z = centre[s, 0], centre[s, 1], centre[s, 2]
    if shapes.tags[plane, KIND] == HALF_SPACE:
        solid = solid_of(shapes, s, centre, axes, x, y, z)
        nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
        qx, qy, qz, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        qx, qy, qz = qx - solid.radius * nx, qy - solid.radius * ny, qz - solid.radius * nz
        gap = nx * (x + qx - centre[plane, 0]) + ny * (y + qy - centre[plane, 1])
        gap += nz * (z + qz - centre[plane, 2])
        px, py, pz = qx - gap * nx, qy - gap * ny, qz - gap * nz
        nx, ny, nz = sign * nx, sign * ny, sign * nz
        if sign < 0.0:
            px, py, pz, qx, qy, qz = qx, qy, qz, px, py, pz
    else:
        p, q = solid_of(shapes, a, centre, axes, x, y, z), solid_of(shapes, b, centre, axes, x, y, z)
        gap, nx, ny, nz, px, py, pz, qx, qy, qz = separation(p, q, hulls, math.inf, work)
        px, py, pz = px + p.radius * nx, py + p.radius * ny, pz + p.radius * nz
        qx, qy, qz = qx - q.radius * nx, qy - q.radius * ny, qz - q.radius * nz
    out[0, 0], out[0, 1], out[0, 2] = x + px, y + py, z + pz
    out[1, 0], out[1, 1], out[1, 2] = x + qx, y + qy, z + qz
    out[2, 0], out[2, 1], out[2, 2] = nx, ny, nz
    return gap
