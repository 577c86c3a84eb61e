"""Rays against solids: a ray is a point that moves, so that the sweep of two solids finds where it hits."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import HALF_SPACE, SPHERE, Solid
from nonsmooth.collision.kernels.motion.placing import KIND, solid_of
from nonsmooth.collision.kernels.motion.sweeps import time_of_impact

_CLOSE = 1e-13  # part of the way within which a ray has arrived


@inlined_kernel
def _ball_begins(x, y, z, d, radius):
    """Where a ray along the unit vector d enters a ball about (x, y, z), infinite if never."""
    along = x * d[0] + y * d[1] + z * d[2]
    apart = x * x + y * y + z * z - radius * radius
    if apart <= 0.0:
        return 0.0
    if along <= 0.0 or along * along < apart:
        return math.inf
    return along - math.sqrt(along * along - apart)


@inner_kernel
def hit_solid(s, shapes, hulls, centre, axes, origin, way, limit, work):
    """Distance (m) along the ray to shape s, infinite beyond `limit`; and the outward normal there.

    `origin` (3,) and the unit vector `way` (3,) are those of the ray. A ray that begins inside hits at 0.
    """
    x, y, z = centre[s, 0] - origin[0], centre[s, 1] - origin[1], centre[s, 2] - origin[2]
    if shapes.tags[s, KIND] == HALF_SPACE:
        nx, ny, nz = axes[s, 0, 2], axes[s, 1, 2], axes[s, 2, 2]
        height = -(nx * x + ny * y + nz * z)
        fall = -(nx * way[0] + ny * way[1] + nz * way[2])
        if height <= 0.0:
            return 0.0, nx, ny, nz
        if fall <= 0.0 or height > limit * fall:
            return math.inf, nx, ny, nz
        return height / fall, nx, ny, nz
    solid = solid_of(shapes, s, centre, axes, origin[0], origin[1], origin[2])
    point = Solid(SPHERE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, axes[s], 0)
    t, nx, ny, nz = time_of_impact(
        solid, point, hulls, limit * way[0], limit * way[1], limit * way[2], 0.0, _CLOSE * limit, work
    )
    if t > 1.0:
        return math.inf, nx, ny, nz
    return t * limit, nx, ny, nz


@inlined_kernel
def try_shape(i, s, shapes, hulls, centre, axes, bound, origins, ways, limit, work, hit, distance, normal):
    """Take shape s into the answer of ray i, if it is met before the others or is the first of equals.

    How far to look depends on the shape alone, so that answers do not depend on the order of the shapes.
    """
    o, d = origins[i], ways[i]
    reach = limit
    if shapes.tags[s, KIND] != HALF_SPACE:
        x, y, z = bound[s, 0] - o[0], bound[s, 1] - o[1], bound[s, 2] - o[2]
        begins = _ball_begins(x, y, z, d, bound[s, 6])
        if begins == math.inf or begins > min(limit, distance[i]):
            return
        reach = min(limit, math.sqrt(x * x + y * y + z * z) + bound[s, 6])
    along, nx, ny, nz = hit_solid(s, shapes, hulls, centre, axes, o, d, reach, work)
    if along < distance[i] or (along == distance[i] and s < hit[i]):
        hit[i], distance[i] = s, along
        normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz


@kernel
def cast(rows, shapes, hulls, centre, axes, bound, origins, ways, limit, work, hit, distance, normal):
    """For each ray the first of the shapes `rows` that it hits, its distance (m) and the normal there.

    `hit` is −1 and `distance` infinite before the first call. The shapes are convex or half-spaces.
    """
    for i in range(origins.shape[0]):
        for s in rows:
            try_shape(
                i, s, shapes, hulls, centre, axes, bound, origins, ways, limit, work, hit, distance, normal
            )
