"""Proofs that no direction separates two overlapping cores better than the one found, without a search.

All is said of M = {q − p}, as in `gjk`: n is a direction, s < 0 the separation along it.

- A flat part of M. Three points of M at the height s along n hold a disc of radius w around s n. For a
  direction at the angle θ from n, the disc bounds the separation by s cos θ − w sin θ, which is no better
  than s while |s| tan(θ/2) ≤ w. The directions beyond, all near −n if w is greater than |s|, are bounded by
  the point of M that is farthest along n. This proves faces on faces, corners on faces and edges that cross.
- A point inside. The cores overlap by at least the depth of any point of one within the other. If the nearest
  point of q is as deep in p as the cores overlap along n, or the other way round, nothing is better. This
  proves contacts on curved parts.
- Two rims that cross. Circles of radius a through the nearest points, with tangents at an angle β, are in the
  cores. With σ = sin(β/2), one of the tangents is within σ of any direction τ across n, and the way along its
  circle bounds the separation along cos θ n + sin θ τ by s cos θ + e sin θ − a (√(1 + σ² sin² θ) − 1), where
  e is how far the nearest points are aside of one another. With k = a σ²/(1 + √2) this is better than s by no
  more than e²/(2k) while 1 + cos θ ≥ 2|s|/k; the point of M farthest along n bounds the rest.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    to_local,
    to_world,
)


@inlined_kernel
def disc_radius(simplex, best, level):
    """Largest w of a disc around s n in the triangle of the first three rows of the simplex.

    Negative if s n is beside the triangle, or if a corner is higher than s by more than `level`.
    """
    s, nx, ny, nz = best
    area = 0.0
    for i in range(3):
        x, y, z = simplex[i, 0], simplex[i, 1], simplex[i, 2]
        if nx * x + ny * y + nz * z - s > level:
            return -1.0
    ax, ay, az = simplex[0, 0], simplex[0, 1], simplex[0, 2]
    ux, uy, uz = simplex[1, 0] - ax, simplex[1, 1] - ay, simplex[1, 2] - az
    wx, wy, wz = simplex[2, 0] - ax, simplex[2, 1] - ay, simplex[2, 2] - az
    area = (
        nx * (uy * wz - uz * wy) + ny * (uz * wx - ux * wz) + nz * (ux * wy - uy * wx)
    )  # twice the triangle's, counterclockwise about n
    way = 1.0 if area > 0.0 else -1.0
    radius = math.inf
    for i in range(3):
        j = i + 1 if i < 2 else 0
        ax, ay, az = simplex[i, 0], simplex[i, 1], simplex[i, 2]
        ux, uy, uz = simplex[j, 0] - ax, simplex[j, 1] - ay, simplex[j, 2] - az
        ax, ay, az = s * nx - ax, s * ny - ay, s * nz - az
        left = nx * (uy * az - uz * ay) + ny * (uz * ax - ux * az) + nz * (ux * ay - uy * ax)
        length = math.sqrt(ux * ux + uy * uy + uz * uz)
        if length == 0.0:
            return -1.0
        radius = min(radius, way * left / length)
    return radius


@inlined_kernel
def bounded_behind(radius, best, x, y, z):
    """True if the disc and the point (x, y, z) of M bound the separation along all directions by s < 0."""
    s, nx, ny, nz = best
    depth = nx * x + ny * y + nz * z
    aside = math.sqrt(max(x * x + y * y + z * z - depth * depth, 0.0))
    s2, w2 = s * s, radius * radius
    return radius > -s and depth * (w2 - s2) + 2.0 * radius * s * aside >= -s * (s2 + w2)


@inner_kernel
def is_deep_in(solid, planes, first, end, x, y, z, depth):
    """True if a point is at least `depth` inside the core, by its distance from each part of the surface.

    `planes` from `first` to `end` are those of a hull. The point must be at `depth` below a point of an
    ellipsoid, along the normal there: then a ball of that radius fits into it if no curvature is stronger.
    """
    kind = solid.kind
    if kind == ELLIPSOID:
        least, most = min(solid.a, solid.b, solid.c), max(solid.a, solid.b, solid.c)
        return depth * most <= least * least
    lx, ly, lz = to_local(solid.axes, x - solid.x, y - solid.y, z - solid.z)
    if kind == BOX:
        return min(solid.a - abs(lx), solid.b - abs(ly), solid.c - abs(lz)) >= depth
    if kind == CYLINDER:
        return solid.b - abs(lz) >= depth and solid.a - math.sqrt(lx * lx + ly * ly) >= depth
    if kind == CONE:
        slant = math.sqrt(solid.a * solid.a + 4.0 * solid.b * solid.b)
        inside = (solid.a * (solid.b - lz) - 2.0 * solid.b * math.sqrt(lx * lx + ly * ly)) / slant
        return solid.b + lz >= depth and inside >= depth
    if kind == CONVEX_HULL:
        for i in range(first, end):
            if planes[i, 3] - (planes[i, 0] * lx + planes[i, 1] * ly + planes[i, 2] * lz) < depth:
                return False
        return True
    return False


@inlined_kernel
def rim_tangent(solid, x, y, z):
    """True and the unit tangent of the rim at its point farthest along (x, y, z); False where it is none."""
    if solid.kind != CYLINDER and solid.kind != CONE:
        return False, 0.0, 0.0, 0.0
    lx, ly, lz = to_local(solid.axes, x, y, z)
    across = math.sqrt(lx * lx + ly * ly)
    if across == 0.0 or (solid.kind == CONE and 2.0 * solid.b * lz >= solid.a * across):
        return False, 0.0, 0.0, 0.0
    tx, ty, tz = to_world(solid.axes, -ly / across, lx / across, 0.0)
    return True, tx, ty, tz


@inlined_kernel
def rims_cross(p, q, best, aside, far, error):
    """True if the rims of both cores prove that no direction is better than the best by more than `error`.

    `aside` is the square of the distance across n of the cores' farthest points, `far` the point of M that is
    farthest along n.
    """
    s, x, y, z = best
    on_p, px, py, pz = rim_tangent(p, x, y, z)
    on_q, qx, qy, qz = rim_tangent(q, -x, -y, -z)
    if not (on_p and on_q):
        return False
    cosine = min(abs(px * qx + py * qy + pz * qz), 1.0)
    k = min(p.a, q.a) * 0.5 * (1.0 - cosine) / (1.0 + math.sqrt(2.0))
    if k < -4.0 * s or aside > 2.0 * k * error:
        return False
    left = -2.0 * s / k
    depth = x * far[0] + y * far[1] + z * far[2]
    beside = math.sqrt(max(far[0] * far[0] + far[1] * far[1] + far[2] * far[2] - depth * depth, 0.0))
    return depth * (1.0 - left) - beside * math.sqrt(2.0 * left) >= -s
