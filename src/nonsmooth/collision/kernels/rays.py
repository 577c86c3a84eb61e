"""Rays against solids: a ray is a point that moves, so that the sweep of two solids finds where it hits."""

import math

from nonsmooth._jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.placing import KIND, solid_of
from nonsmooth.collision.kernels.solids import HALF_SPACE, HEIGHT_FIELD, MESH, SPHERE, Solid
from nonsmooth.collision.kernels.sweeps import time_of_impact

_CLOSE = 1e-13  # part of the way within which a ray has arrived


@inlined_kernel
def _misses_ball(x, y, z, dx, dy, dz, radius):
    """True if a ray from the origin along the unit vector d stays outside of a ball about (x, y, z)."""
    along = x * dx + y * dy + z * dz
    apart = x * x + y * y + z * z - radius * radius
    return apart > 0.0 and (along <= 0.0 or along * along < apart)


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


@kernel
def cast(shapes, hulls, centre, axes, bound, origins, ways, limit, skipped, work, hit, distance, normal):
    """For each ray the first shape hit (-1 for none), its distance in m and the outward normal there.

    Shapes of bodies that are `skipped` (n,) are passed through; meshes and height fields are not looked at.
    """
    for i in range(origins.shape[0]):
        hit[i], distance[i] = -1, math.inf
        for s in range(shapes.tags.shape[0]):
            kind = shapes.tags[s, KIND]
            if skipped[shapes.tags[s, 0]] or kind in (MESH, HEIGHT_FIELD):
                continue
            reach = min(limit, distance[i])
            if kind != HALF_SPACE:
                x, y, z = (
                    bound[s, 0] - origins[i, 0],
                    bound[s, 1] - origins[i, 1],
                    bound[s, 2] - origins[i, 2],
                )
                if _misses_ball(x, y, z, ways[i, 0], ways[i, 1], ways[i, 2], bound[s, 6]):
                    continue
                reach = min(reach, math.sqrt(x * x + y * y + z * z) + bound[s, 6])
            along, nx, ny, nz = hit_solid(s, shapes, hulls, centre, axes, origins[i], ways[i], reach, work)
            if along < distance[i]:
                hit[i], distance[i] = s, along
                normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz
