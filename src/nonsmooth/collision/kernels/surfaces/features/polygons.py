"""Polygons of space as seen along a direction.

A point is in a polygon if it is no farther from it than a length of no importance. The sides alone do not
say that: at a corner of 45° a point can be inside of both, each moved out by that length, and 2.6 of these
lengths away.
"""

import math

from nonsmooth._support.jit import inner_kernel


@inner_kernel
def _way(points, i, j):
    """From point i to point j."""
    return points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]


@inner_kernel
def within(feature, points, nx, ny, nz, x, y, z, tiny):
    """True if a point is in a polygon that is seen along (n), whichever way round it runs."""
    left, right, near = True, True, False
    for i in range(points):
        j = i + 1 if i + 1 < points else 0
        ex, ey, ez = _way(feature, i, j)
        dx, dy, dz = x - feature[i, 0], y - feature[i, 1], z - feature[i, 2]
        side = nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx)
        left, right = left and side >= 0.0, right and side <= 0.0
        up, off = nx * ex + ny * ey + nz * ez, nx * dx + ny * dy + nz * dz
        ex, ey, ez, dx, dy, dz = (
            ex - up * nx,
            ey - up * ny,
            ez - up * nz,
            dx - off * nx,
            dy - off * ny,
            dz - off * nz,
        )
        square = ex * ex + ey * ey + ez * ez
        part = min(max((ex * dx + ey * dy + ez * dz) / square, 0.0), 1.0) if square > 0.0 else 0.0
        dx, dy, dz = dx - part * ex, dy - part * ey, dz - part * ez
        near = near or dx * dx + dy * dy + dz * dz <= tiny * tiny
    return left or right or near


@inner_kernel
def across(corners, k, nx, ny, nz, x, y, z):
    """How far a point is inside edge k of a triangle with normal (n), whose corners are columns, across the
    edge, and along it from its first corner; its length."""
    j = (k + 1) % 3
    ex, ey, ez = corners[0, j] - corners[0, k], corners[1, j] - corners[1, k], corners[2, j] - corners[2, k]
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    ex, ey, ez = ex / length, ey / length, ez / length
    x, y, z = x - corners[0, k], y - corners[1, k], z - corners[2, k]
    inward = x * (ny * ez - nz * ey) + y * (nz * ex - nx * ez) + z * (nx * ey - ny * ex)
    return inward, ex * x + ey * y + ez * z, length


@inner_kernel
def over_triangle(corners, nx, ny, nz, x, y, z, tiny):
    """True if a point is in a triangle with normal (n), whose corners are columns, seen along the normal."""
    inside, near = True, False
    for k in range(3):
        inward, along, length = across(corners, k, nx, ny, nz, x, y, z)
        if inward < 0.0:
            beyond = along - min(max(along, 0.0), length)
            inside, near = False, near or inward * inward + beyond * beyond <= tiny * tiny
    return inside or near


@inner_kernel
def clipped(feature, points, nx, ny, nz, ax, ay, az, ex, ey, ez, length, tiny):
    """The part of a segment that lies in a polygon, seen along (n); from, to along the segment."""
    area = 0.0
    for i in range(1, points - 1):
        ux, uy, uz = _way(feature, 0, i)
        vx, vy, vz = _way(feature, 0, i + 1)
        area += nx * (uy * vz - uz * vy) + ny * (uz * vx - ux * vz) + nz * (ux * vy - uy * vx)
    turn = 1.0 if area > 0.0 else -1.0
    begin, end = 0.0, length
    for i in range(points):
        j = i + 1 if i + 1 < points else 0
        sx, sy, sz = _way(feature, i, j)
        wx, wy, wz = turn * (ny * sz - nz * sy), turn * (nz * sx - nx * sz), turn * (nx * sy - ny * sx)
        scale = math.sqrt(wx * wx + wy * wy + wz * wz)
        if scale == 0.0:
            continue
        side = (
            wx * (ax - feature[i, 0]) + wy * (ay - feature[i, 1]) + wz * (az - feature[i, 2])
        ) / scale + 0.01 * tiny
        rate = (wx * ex + wy * ey + wz * ez) / scale
        if abs(rate) * length < 0.01 * tiny:
            if side < -tiny:
                return 1.0, -1.0 - tiny
        elif rate > 0.0:
            begin = max(begin, -side / rate)
        else:
            end = min(end, -side / rate)
    return begin, end
