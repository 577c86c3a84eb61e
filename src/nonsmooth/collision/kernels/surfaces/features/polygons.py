"""Polygons of space as seen along a direction."""

import math

from nonsmooth._support.jit import inner_kernel


@inner_kernel
def _way(points, i, j):
    """From point i to point j."""
    return points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]


@inner_kernel
def within(feature, points, nx, ny, nz, x, y, z, tiny):
    """True if a point lies in a polygon that is seen along (n), whichever way round it runs."""
    left, right = True, True
    for i in range(points):
        j = i + 1 if i + 1 < points else 0
        ex, ey, ez = _way(feature, i, j)
        dx, dy, dz = x - feature[i, 0], y - feature[i, 1], z - feature[i, 2]
        side = nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx)
        limit = tiny * math.sqrt(ex * ex + ey * ey + ez * ez)
        if side < -limit:
            left = False
        if side > limit:
            right = False
    return left or right


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
