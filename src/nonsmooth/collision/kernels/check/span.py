"""Does a manifold span the area where two shapes touch? Flat geometry in the plane normal to n."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.check.support import BOX, CAPSULE, CONE, CONVEX_HULL, CYLINDER, farthest

MOST_CORNERS = 64  # of a footprint; further corners of larger faces are not looked at
_RIM = 24


@inlined_kernel
def set_tangents(nx, ny, nz, u):
    """Write two unit vectors normal to n and to each other to u (6,)."""
    u[0], u[1], u[2] = (0.0, -nz, ny) if abs(nx) < 0.6 else (-nz, 0.0, nx)
    length = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    u[0], u[1], u[2] = u[0] / length, u[1] / length, u[2] / length
    u[3], u[4], u[5] = ny * u[2] - nz * u[1], nz * u[0] - nx * u[2], nx * u[1] - ny * u[0]


@inlined_kernel
def _put(points, count, x, y, z, u):
    """Append the plane coordinates of a point."""
    if count < MOST_CORNERS:
        points[count, 0] = u[0] * x + u[1] * y + u[2] * z
        points[count, 1] = u[3] * x + u[4] * y + u[5] * z
        count += 1
    return count


@inner_kernel
def footprint(scene, s, ox, oy, oz, nx, ny, nz, depth, u, points):
    """Corners of the core of s within `depth` of its support plane along n; their number.

    Points are relative to o and in the coordinates of the two tangents in `u` (6,); a sphere or an ellipsoid
    has one.
    """
    kind = scene.kind[s]
    axes, size = scene.axes, scene.size
    px, py, pz = farthest(scene, s, nx, ny, nz)
    least = nx * px + ny * py + nz * pz - depth
    count = 0
    if kind in (BOX, CONVEX_HULL):
        part = scene.part[s]
        for v in range(scene.first[part, 0], scene.first[part + 1, 0]):
            lx, ly, lz = scene.vertices[v, 0], scene.vertices[v, 1], scene.vertices[v, 2]
            if kind == BOX:
                lx, ly, lz = lx * size[s, 0], ly * size[s, 1], lz * size[s, 2]
            x = axes[s, 0, 0] * lx + axes[s, 0, 1] * ly + axes[s, 0, 2] * lz
            y = axes[s, 1, 0] * lx + axes[s, 1, 1] * ly + axes[s, 1, 2] * lz
            z = axes[s, 2, 0] * lx + axes[s, 2, 1] * ly + axes[s, 2, 2] * lz
            if nx * x + ny * y + nz * z >= least:
                count = _put(points, count, x - ox, y - oy, z - oz, u)
        return count
    if kind in (CAPSULE, CYLINDER, CONE):
        # the direction of n across the axis is the first of a rim
        cx = axes[s, 0, 0] * nx + axes[s, 1, 0] * ny + axes[s, 2, 0] * nz
        cy = axes[s, 0, 1] * nx + axes[s, 1, 1] * ny + axes[s, 2, 1] * nz
        toward = math.atan2(cy, cx) if cx != 0.0 or cy != 0.0 else 0.0
        for end in range(2):
            lz = size[s, 1] if end == 0 else -size[s, 1]
            across = size[s, 0]
            if kind == CAPSULE or (kind == CONE and end == 0):
                across = 0.0
            for k in range(_RIM if across > 0.0 else 1):
                angle = toward + 2.0 * math.pi * k / _RIM
                lx, ly = across * math.cos(angle), across * math.sin(angle)
                x = axes[s, 0, 0] * lx + axes[s, 0, 1] * ly + axes[s, 0, 2] * lz
                y = axes[s, 1, 0] * lx + axes[s, 1, 1] * ly + axes[s, 1, 2] * lz
                z = axes[s, 2, 0] * lx + axes[s, 2, 1] * ly + axes[s, 2, 2] * lz
                if nx * x + ny * y + nz * z >= least:
                    count = _put(points, count, x - ox, y - oy, z - oz, u)
        return count
    return _put(points, 0, px - ox, py - oy, pz - oz, u)


@inlined_kernel
def _turn(points, i, j, x, y):
    """Twice the area of the triangle of points i, j and (x, y); positive if counterclockwise."""
    return (points[j, 0] - points[i, 0]) * (y - points[i, 1]) - (points[j, 1] - points[i, 1]) * (
        x - points[i, 0]
    )


@inner_kernel
def flat_hull(points, count, hull):
    """Corners of the convex hull of flat points in `hull`, counterclockwise; sorts points. Their number."""
    for i in range(1, count):
        x, y = points[i, 0], points[i, 1]
        j = i - 1
        while j >= 0 and (points[j, 0] > x or (points[j, 0] == x and points[j, 1] > y)):
            points[j + 1, 0], points[j + 1, 1] = points[j, 0], points[j, 1]
            j -= 1
        points[j + 1, 0], points[j + 1, 1] = x, y
    if count <= 2:
        for i in range(count):
            hull[i, 0], hull[i, 1] = points[i, 0], points[i, 1]
        return count
    size = 0
    floor = 0
    for chain in range(2):
        for k in range(count):
            i = k if chain == 0 else count - 1 - k
            x, y = points[i, 0], points[i, 1]
            while size - floor >= 2 and _turn(hull, size - 2, size - 1, x, y) <= 0.0:
                size -= 1
            hull[size, 0], hull[size, 1] = x, y
            size += 1
        size -= 1
        floor = size
    return max(size, 1)


@inner_kernel
def distance_to_hull(hull, count, x, y):
    """Distance of a flat point from the convex polygon, segment or point `hull`; 0 inside."""
    inside = count > 2
    nearest = math.inf
    for i in range(count):
        j = (i + 1) % count
        if inside and _turn(hull, i, j, x, y) < 0.0:
            inside = False
        dx, dy = hull[j, 0] - hull[i, 0], hull[j, 1] - hull[i, 1]
        square = dx * dx + dy * dy
        t = 0.0
        if square > 0.0:
            t = min(max(((x - hull[i, 0]) * dx + (y - hull[i, 1]) * dy) / square, 0.0), 1.0)
        nearest = min(nearest, math.hypot(x - hull[i, 0] - t * dx, y - hull[i, 1] - t * dy))
    return 0.0 if inside else nearest


@inner_kernel
def beyond(first, count_first, second, count_second, spanned, count_spanned, near):
    """How far the common area of two convex polygons reaches beyond `spanned`, and that area's bounds.

    Corners of the area are corners of one polygon within `near` of the other, and crossings of their sides.
    """
    error = 0.0
    low_x, low_y, high_x, high_y = math.inf, math.inf, -math.inf, -math.inf
    for side in range(2):
        for i in range(count_first if side == 0 else count_second):
            x, y = (first[i, 0], first[i, 1]) if side == 0 else (second[i, 0], second[i, 1])
            if side == 0:
                away = distance_to_hull(second, count_second, x, y)
            else:
                away = distance_to_hull(first, count_first, x, y)
            if away <= near:
                error = max(error, distance_to_hull(spanned, count_spanned, x, y))
                low_x, low_y = min(low_x, x), min(low_y, y)
                high_x, high_y = max(high_x, x), max(high_y, y)
    for i in range(count_first):
        k = (i + 1) % count_first
        ax, ay = first[k, 0] - first[i, 0], first[k, 1] - first[i, 1]
        for j in range(count_second):
            m = (j + 1) % count_second
            bx, by = second[m, 0] - second[j, 0], second[m, 1] - second[j, 1]
            cross = ax * by - ay * bx
            if abs(cross) <= 1e-9 * math.hypot(ax, ay) * math.hypot(bx, by):
                continue
            cx, cy = second[j, 0] - first[i, 0], second[j, 1] - first[i, 1]
            s, t = (cx * by - cy * bx) / cross, (cx * ay - cy * ax) / cross
            if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
                x, y = first[i, 0] + s * ax, first[i, 1] + s * ay
                error = max(error, distance_to_hull(spanned, count_spanned, x, y))
                low_x, low_y = min(low_x, x), min(low_y, y)
                high_x, high_y = max(high_x, x), max(high_y, y)
    return error, low_x, low_y, high_x, high_y
