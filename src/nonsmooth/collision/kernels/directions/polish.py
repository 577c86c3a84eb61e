"""The best direction of curved cores to the last digits.

A search by values finds a direction to the root of the rounding only, and where a rim or an ellipsoid
touches, the nearest points are off by that angle times the radius. Both cores' farthest points along the best
direction n are opposite one another. With R the rate at which they move apart as n turns, w the way between
them and s its length along n, Newton's step d of the direction solves (R + s) d = w across n. An edge or a
side line that touches along its length stays normal to n instead.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.gjk import probe
from nonsmooth.collision.kernels.directions.solids import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    to_local,
    to_world,
)

MISSED = 1e-5
"""Angle in rad by which an exact search can have missed the best direction."""
_STEPS = 4
_SAME = 1e-9  # part of the size within which two points are at the same place along a line
_FAR = 1e-5  # part of the size from one vertex or point of an edge to another that says where it leads
_CROSS = 1e-3  # sine of the angle above which two lines cross
_LEVEL = 1e-5  # sine of the angle to n above which a line does not touch along its length
_LOSS = 1e-12  # part of the size that may be lost: as much as the direction of a short edge is uncertain
_STIFF = 1e-6  # part of the size: a direction that changes the separation by less is not defined


@inner_kernel
def _line(solid, of, at, size, nx, ny, nz):
    """1 and the unit direction of the line of the core that touches, 0 for a point, −1 if neither is known.

    `of` is the core's farthest point along n, `at` the one that touches.
    """
    x, y, z = at[0] - of[0], at[1] - of[1], at[2] - of[2]
    length = math.sqrt(x * x + y * y + z * z)
    if solid.kind == SPHERE or solid.kind == ELLIPSOID or length <= _SAME * size:
        return 0, 0.0, 0.0, 0.0
    if solid.kind == CYLINDER or solid.kind == CAPSULE:
        ex, ey, ez = solid.axes[0, 2], solid.axes[1, 2], solid.axes[2, 2]
    elif solid.kind == CONE:
        lx, ly, _ = to_local(solid.axes, nx, ny, nz)
        across = math.sqrt(lx * lx + ly * ly)
        if across == 0.0:
            return -1, 0.0, 0.0, 0.0
        slant = math.sqrt(solid.a * solid.a + 4.0 * solid.b * solid.b)
        out = -solid.a / (slant * across)
        ex, ey, ez = to_world(solid.axes, out * lx, out * ly, 2.0 * solid.b / slant)
    elif length > _FAR * size:
        ex, ey, ez = x / length, y / length, z / length
    else:
        return -1, 0.0, 0.0, 0.0  # too near to one another to say where an edge leads
    if abs(ex * x + ey * y + ez * z) <= _SAME * size:
        return 0, 0.0, 0.0, 0.0  # beside one another on a rim
    if abs(ex * nx + ey * ny + ez * nz) > _LEVEL:
        return -1, 0.0, 0.0, 0.0  # a face, or a cap
    return 1, ex, ey, ez


@inner_kernel
def _shift(solid, straight, at, nx, ny, nz, x, y, z):
    """How the core's farthest point along n moves as n turns by (x, y, z)."""
    if solid.kind == ELLIPSOID:
        lx, ly, lz = to_local(solid.axes, nx, ny, nz)
        dx, dy, dz = to_local(solid.axes, x, y, z)
        a, b, c = solid.a * solid.a, solid.b * solid.b, solid.c * solid.c
        square = a * lx * lx + b * ly * ly + c * lz * lz
        along = (a * lx * dx + b * ly * dy + c * lz * dz) / square
        root = math.sqrt(square)
        return to_world(
            solid.axes,
            a * (dx - along * lx) / root,
            b * (dy - along * ly) / root,
            c * (dz - along * lz) / root,
        )
    if solid.kind != CYLINDER and solid.kind != CONE:
        return 0.0, 0.0, 0.0
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    across = math.sqrt(lx * lx + ly * ly)
    radius = solid.a
    if solid.kind == CONE:
        if straight:
            _, _, height = to_local(solid.axes, at[0] - solid.x, at[1] - solid.y, at[2] - solid.z)
            radius *= 0.5 * (solid.b - height) / solid.b
        elif 2.0 * solid.b * lz >= solid.a * across:
            radius = 0.0
    if across == 0.0:
        return 0.0, 0.0, 0.0
    ux, uy, uz = to_world(solid.axes, -ly / across, lx / across, 0.0)
    rate = radius / across * (ux * x + uy * y + uz * z)
    return rate * ux, rate * uy, rate * uz


@inlined_kernel
def _crossing(of_p, of_q, px, py, pz, qx, qy, qz, nx, ny, nz):
    """Points of two lines that are opposite one another along n, which is normal to both."""
    x, y, z = of_q[0] - of_p[0], of_q[1] - of_p[1], of_q[2] - of_p[2]
    whole = nx * (py * qz - pz * qy) + ny * (pz * qx - px * qz) + nz * (px * qy - py * qx)
    s = (nx * (y * qz - z * qy) + ny * (z * qx - x * qz) + nz * (x * qy - y * qx)) / whole
    t = (nx * (y * pz - z * py) + ny * (z * px - x * pz) + nz * (x * py - y * px)) / whole
    return (
        (of_p[0] + s * px, of_p[1] + s * py, of_p[2] + s * pz),
        (of_q[0] + t * qx, of_q[1] + t * qy, of_q[2] + t * qz),
    )


@inlined_kernel
def aside(a, b, best):
    """Square of the distance of two points across the best direction."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    along = x * best[1] + y * best[2] + z * best[3]
    x, y, z = x - along * best[1], y - along * best[2], z - along * best[3]
    return x * x + y * y + z * z


@inner_kernel
def polish(p, q, hulls, hints, best, at_p, at_q, size, most):
    """The best direction (separation, unit vector) and the two points that touch, to the last digits.

    What was given is returned if nothing within the angle `most` (rad) is as good.
    """
    apart, nx, ny, nz = best
    old = best, at_p, at_q
    on_p = on_q = 0
    px = py = pz = qx = qy = qz = 0.0
    crossing = False
    for _ in range(_STEPS):
        ax, ay, az, bx, by, bz = probe(p, q, hulls, hints, nx, ny, nz)
        of_p, of_q = (ax, ay, az), (bx, by, bz)
        apart = nx * (bx - ax) + ny * (by - ay) + nz * (bz - az)
        if apart < best[0] - _LOSS * size:
            return old
        on_p, px, py, pz = _line(p, of_p, at_p, size, nx, ny, nz)
        on_q, qx, qy, qz = _line(q, of_q, at_q, size, -nx, -ny, -nz)
        if on_p < 0 or on_q < 0:
            return old
        wx, wy, wz = bx - ax, by - ay, bz - az
        # two vectors across n: the first along a line that stays normal to n
        ux, uy, uz = (0.0, nz, -ny) if abs(nx) < 0.6 else (-nz, 0.0, nx)
        if on_p == 1:
            ux, uy, uz = px, py, pz
        elif on_q == 1:
            ux, uy, uz = qx, qy, qz
        along = ux * nx + uy * ny + uz * nz
        ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
        length = math.sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / length, uy / length, uz / length
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        x, y, z = _shift(p, on_p == 1, at_p, nx, ny, nz, vx, vy, vz)
        i, j, k = _shift(q, on_q == 1, at_q, -nx, -ny, -nz, vx, vy, vz)
        vv = vx * (x + i) + vy * (y + j) + vz * (z + k) + apart
        uv = ux * (x + i) + uy * (y + j) + uz * (z + k)
        right = wx * vx + wy * vy + wz * vz
        crossing, of_v = False, 0.0
        if on_p == 1 or on_q == 1:
            of_u = -along
            if on_p == 1 and on_q == 1:
                turn = qx * vx + qy * vy + qz * vz
                crossing = abs(turn) > _CROSS
                if crossing:
                    of_v = -(qx * nx + qy * ny + qz * nz + of_u * (qx * ux + qy * uy + qz * uz)) / turn
            if not crossing:
                if vv < _STIFF * size:
                    return old
                of_v = (right - uv * of_u) / vv
        else:
            x, y, z = _shift(p, False, at_p, nx, ny, nz, ux, uy, uz)
            i, j, k = _shift(q, False, at_q, -nx, -ny, -nz, ux, uy, uz)
            uu = ux * (x + i) + uy * (y + j) + uz * (z + k) + apart
            whole = uu * vv - uv * uv
            if uu < _STIFF * size or vv < _STIFF * size or whole < _STIFF * size * max(uu, vv):
                return old
            left = wx * ux + wy * uy + wz * uz
            of_u, of_v = (left * vv - right * uv) / whole, (right * uu - left * uv) / whole
        turned = math.sqrt(of_u * of_u + of_v * of_v)
        if not turned < most:
            return old
        if turned < 1e-14:
            break
        nx, ny, nz = nx + of_u * ux + of_v * vx, ny + of_u * uy + of_v * vy, nz + of_u * uz + of_v * vz
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx / length, ny / length, nz / length
    ax, ay, az, bx, by, bz = probe(p, q, hulls, hints, nx, ny, nz)
    apart = nx * (bx - ax) + ny * (by - ay) + nz * (bz - az)
    if apart < best[0] - _LOSS * size:
        return old
    best = (apart, nx, ny, nz)
    if on_p == 0 and on_q == 0:
        if aside((ax, ay, az), (bx, by, bz), best) > max((_SAME * size) ** 2, aside(at_p, at_q, best)):
            return old  # rounding took the far end of a line that is all but normal to n
        return best, (ax, ay, az), (bx, by, bz)
    if on_p == 0:
        return best, (ax, ay, az), (ax + apart * nx, ay + apart * ny, az + apart * nz)
    if on_q == 0:
        return best, (bx - apart * nx, by - apart * ny, bz - apart * nz), (bx, by, bz)
    if crossing:
        at_p, at_q = _crossing((ax, ay, az), (bx, by, bz), px, py, pz, qx, qy, qz, nx, ny, nz)
    return best, at_p, at_q
