"""Contacts of meshes and height fields, judged by the triangles at the point.

A point of a surface has the directions in which it is the farthest of the triangles that meet there, and the
normals of these triangles. No neighbours are stored: the triangles within rounding of the point are asked.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.check.rows import BESIDE, angle_between
from nonsmooth.collision.kernels.check.support import HEIGHT_FIELD, MESH, from_frame, height, to_frame

BLOCK = 32  # triangles in a box, boxes in a larger box
SURFACE_ANGLE = 3e-6  # rad: flatter than this, triangles count as one plane
_ALONG = 0.9  # cosine above which a triangle is one that n leaves, but for a tilt
_SURFACE_OFF = 1e-9  # part of the size by which a corner may be off the plane of its triangle's patch


_DESCENT = 30


class Surfaces(NamedTuple):
    """All distinct meshes and height fields as triangles, in an order that keeps neighbours together."""

    of_shape: np.ndarray  # (s,) int64: row of `first`, −1 for other shapes
    first: np.ndarray  # (g + 1, 3) int64: first triangle, box, larger box
    corners: np.ndarray  # (T, 9)
    boxes: np.ndarray  # (B, 6) low, high
    large: np.ndarray  # (L, 6)
    near: np.ndarray  # (k,) int64 room for triangles that are near
    pieces: np.ndarray  # (2, k, 7) room for flat pieces of both shapes: number of corners, their places
    closed: np.ndarray  # (g,) bool: meshes without borders, which bound a solid


@inlined_kernel
def is_surface(kind):
    """True for meshes and height fields."""
    return kind in (MESH, HEIGHT_FIELD)


@inlined_kernel
def _apart(boxes, i, x, y, z, reach):
    """True if box i is farther than `reach` from a point along an axis."""
    return (
        boxes[i, 0] > x + reach
        or boxes[i, 1] > y + reach
        or boxes[i, 2] > z + reach
        or boxes[i, 3] < x - reach
        or boxes[i, 4] < y - reach
        or boxes[i, 5] < z - reach
    )


@inner_kernel
def gather(surfaces, surface, x, y, z, reach):
    """Triangles within `reach` of a point of the surface's frame, in `near`; their number."""
    count = 0
    c = surfaces.corners
    first, end = surfaces.first[surface, 0], surfaces.first[surface + 1, 0]
    box, box_end = surfaces.first[surface, 1], surfaces.first[surface + 1, 1]
    for k in range(surfaces.first[surface, 2], surfaces.first[surface + 1, 2]):
        if _apart(surfaces.large, k, x, y, z, reach):
            continue
        low = box + BLOCK * (k - surfaces.first[surface, 2])
        for b in range(low, min(low + BLOCK, box_end)):
            if _apart(surfaces.boxes, b, x, y, z, reach):
                continue
            start = first + BLOCK * (b - box)
            for t in range(start, min(start + BLOCK, end)):
                if (
                    min(c[t, 0], c[t, 3], c[t, 6]) <= x + reach
                    and max(c[t, 0], c[t, 3], c[t, 6]) >= x - reach
                    and min(c[t, 1], c[t, 4], c[t, 7]) <= y + reach
                    and max(c[t, 1], c[t, 4], c[t, 7]) >= y - reach
                    and min(c[t, 2], c[t, 5], c[t, 8]) <= z + reach
                    and max(c[t, 2], c[t, 5], c[t, 8]) >= z - reach
                    and count < surfaces.near.shape[0]
                ):
                    surfaces.near[count] = t
                    count += 1
    return count


@inlined_kernel
def triangle_normal(c, t):
    """Unit normal of triangle t."""
    ax, ay, az = c[t, 3] - c[t, 0], c[t, 4] - c[t, 1], c[t, 5] - c[t, 2]
    bx, by, bz = c[t, 6] - c[t, 0], c[t, 7] - c[t, 1], c[t, 8] - c[t, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / length, ny / length, nz / length) if length > 0.0 else (0.0, 0.0, 0.0)


@inner_kernel
def nearest_on_triangle(c, t, x, y, z):
    """Point of triangle t nearest to (x, y, z)."""
    nx, ny, nz = triangle_normal(c, t)
    inside = nx != 0.0 or ny != 0.0 or nz != 0.0
    nearest = math.inf
    px, py, pz = x, y, z
    for k in range(3):
        i, j = 3 * k, 3 * ((k + 1) % 3)
        ex, ey, ez = c[t, j] - c[t, i], c[t, j + 1] - c[t, i + 1], c[t, j + 2] - c[t, i + 2]
        dx, dy, dz = x - c[t, i], y - c[t, i + 1], z - c[t, i + 2]
        if nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx) < 0.0:
            inside = False
        square = ex * ex + ey * ey + ez * ez
        s = min(max((dx * ex + dy * ey + dz * ez) / square, 0.0), 1.0) if square > 0.0 else 0.0
        dx, dy, dz = dx - s * ex, dy - s * ey, dz - s * ez
        if dx * dx + dy * dy + dz * dz < nearest:
            nearest = dx * dx + dy * dy + dz * dz
            px, py, pz = x - dx, y - dy, z - dz
    if inside:
        above = nx * (x - c[t, 0]) + ny * (y - c[t, 1]) + nz * (z - c[t, 2])
        px, py, pz = x - above * nx, y - above * ny, z - above * nz
    return px, py, pz


@inlined_kernel
def distance_to_triangle(c, t, x, y, z):
    """Distance of a point from triangle t."""
    px, py, pz = nearest_on_triangle(c, t, x, y, z)
    return math.sqrt((x - px) * (x - px) + (y - py) * (y - py) + (z - pz) * (z - pz))


@inner_kernel
def judge_point(scene, surfaces, s, x, y, z, nx, ny, nz, tolerance, size):
    """Judge a point (world, relative to the centre of s) of a surface and its outward normal there.

    Returned are the distance from the surface, or from the plane of a triangle along n that the point is
    hardly beside; the angle by which n is outside the directions of the point; True if n is the normal of a
    triangle there; and True if all triangles there have one normal.
    """
    surface = surfaces.of_shape[s]
    x, y, z = to_frame(scene.axes, s, x, y, z)
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    c = surfaces.corners
    reach = max(100.0 * tolerance, 1e-6 * size, BESIDE * size)
    count = gather(surfaces, surface, x, y, z, reach)
    off = above = math.inf
    for k in range(count):
        t = surfaces.near[k]
        far = distance_to_triangle(c, t, x, y, z)
        off = min(off, far)
        fx, fy, fz = triangle_normal(c, t)
        if far <= BESIDE * size and nx * fx + ny * fy + nz * fz > _ALONG:
            above = min(above, abs(fx * (x - c[t, 0]) + fy * (y - c[t, 1]) + fz * (z - c[t, 2])))
    of_face, of_corner, single = math.inf, 0.0, True
    gx = gy = gz = 0.0
    for k in range(count):
        t = surfaces.near[k]
        if distance_to_triangle(c, t, x, y, z) > off + 10.0 * tolerance:
            continue
        fx, fy, fz = triangle_normal(c, t)
        if gx == gy == gz == 0.0:
            gx, gy, gz = fx, fy, fz
        single = single and angle_between(fx, fy, fz, gx, gy, gz) <= SURFACE_ANGLE
        flat = 0.0
        for i in range(0, 9, 3):
            dx, dy, dz = c[t, i] - x, c[t, i + 1] - y, c[t, i + 2] - z
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            rise = nx * dx + ny * dy + nz * dz
            spare = _SURFACE_OFF * size + 10.0 * tolerance
            if length > spare:
                flat = max(flat, (abs(rise) - spare) / length)
                of_corner = max(of_corner, (rise - spare) / length)
        if nx * fx + ny * fy + nz * fz > 0.0:
            of_face = min(of_face, flat)
    angle = min(of_face, of_corner)
    return min(off, above), max(angle, 0.0), of_face <= SURFACE_ANGLE, single


@inner_kernel
def gather_flat(surfaces, surface, x, y, z, nx, ny, nz, depth, cx, cy, cz, reach):
    """Triangles with a corner on the plane through (x, y, z) normal to n, within `depth`, and none above it.

    Triangles farther than `reach` from c along an axis are left out. All is in the surface's frame; the
    triangles are in `near`, their number is returned.
    """
    c, boxes, count = surfaces.corners, surfaces.boxes, 0
    level = nx * x + ny * y + nz * z
    first, end = surfaces.first[surface, 0], surfaces.first[surface + 1, 0]
    box, box_end = surfaces.first[surface, 1], surfaces.first[surface + 1, 1]
    for k in range(surfaces.first[surface, 2], surfaces.first[surface + 1, 2]):
        if _apart(surfaces.large, k, cx, cy, cz, reach):
            continue
        low = box + BLOCK * (k - surfaces.first[surface, 2])
        for b in range(low, min(low + BLOCK, box_end)):
            if _apart(boxes, b, cx, cy, cz, reach):
                continue
            most = nx * (boxes[b, 3] if nx > 0.0 else boxes[b, 0]) - level
            most += ny * (boxes[b, 4] if ny > 0.0 else boxes[b, 1])
            most += nz * (boxes[b, 5] if nz > 0.0 else boxes[b, 2])
            if most < -depth:
                continue
            start = first + BLOCK * (b - box)
            for t in range(start, min(start + BLOCK, end)):
                most = -math.inf
                for i in range(0, 9, 3):
                    most = max(most, nx * c[t, i] + ny * c[t, i + 1] + nz * c[t, i + 2] - level)
                if abs(most) <= depth and count < surfaces.near.shape[0]:
                    surfaces.near[count] = t
                    count += 1
    return count


@inner_kernel
def edge_at(scene, surfaces, s, x, y, z, nx, ny, nz, tolerance):
    """Unit vector along an edge at right angles to n on which a point is; zero if there is none.

    The point, relative to the centre of s, and both vectors are of the world.
    """
    x, y, z = to_frame(scene.axes, s, x, y, z)
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    c = surfaces.corners
    count = gather(surfaces, surfaces.of_shape[s], x, y, z, tolerance)
    for k in range(count):
        t = surfaces.near[k]
        for i in range(0, 9, 3):
            j = (i + 3) % 9
            ex, ey, ez = c[t, j] - c[t, i], c[t, j + 1] - c[t, i + 1], c[t, j + 2] - c[t, i + 2]
            length = math.sqrt(ex * ex + ey * ey + ez * ez)
            if abs(nx * ex + ny * ey + nz * ez) > SURFACE_ANGLE * length:
                continue
            dx, dy, dz = x - c[t, i], y - c[t, i + 1], z - c[t, i + 2]
            part = min(max((dx * ex + dy * ey + dz * ez) / (length * length), 0.0), 1.0)
            dx, dy, dz = dx - part * ex, dy - part * ey, dz - part * ez
            if dx * dx + dy * dy + dz * dz <= tolerance * tolerance:
                return from_frame(scene.axes, s, ex / length, ey / length, ez / length)
    return 0.0, 0.0, 0.0


@inner_kernel
def on_surface(scene, surfaces, s, x, y, z, tolerance):
    """True if a point (world, relative to the centre of s) is on the surface."""
    x, y, z = to_frame(scene.axes, s, x, y, z)
    count = gather(surfaces, surfaces.of_shape[s], x, y, z, tolerance)
    for k in range(count):
        if distance_to_triangle(surfaces.corners, surfaces.near[k], x, y, z) <= tolerance:
            return True
    return False


@inner_kernel
def surface_inside(scene, surfaces, s, q, tolerance):
    """True if a point of surface s is inside the convex shape q by more than ten times the tolerance.

    On each triangle near q the way leads down q's height function, a convex one, by Polyak's steps.
    """
    c, a = surfaces.corners, scene.axes
    cx = scene.centre[q, 0] - scene.centre[s, 0]
    cy = scene.centre[q, 1] - scene.centre[s, 1]
    cz = scene.centre[q, 2] - scene.centre[s, 2]
    mx = scene.middle[q, 0] - scene.centre[s, 0]
    my = scene.middle[q, 1] - scene.centre[s, 1]
    mz = scene.middle[q, 2] - scene.centre[s, 2]
    mx, my, mz = to_frame(scene.axes, s, mx, my, mz)
    count = gather(surfaces, surfaces.of_shape[s], mx, my, mz, scene.ball[q, 3])
    goal = scene.radius[q] - 10.0 * tolerance
    for k in range(count):
        t = surfaces.near[k]
        x, y, z = nearest_on_triangle(c, t, mx, my, mz)
        for _ in range(_DESCENT):
            wx = a[s, 0, 0] * x + a[s, 0, 1] * y + a[s, 0, 2] * z - cx
            wy = a[s, 1, 0] * x + a[s, 1, 1] * y + a[s, 1, 2] * z - cy
            wz = a[s, 2, 0] * x + a[s, 2, 1] * y + a[s, 2, 2] * z - cz
            above, gx, gy, gz = height(scene, q, wx, wy, wz, 0.0, 0.0, 1.0, 0.0)
            if above < goal:
                return True
            far = 0.0
            for i in range(0, 9, 3):
                far = max(far, abs(c[t, i] - x) + abs(c[t, i + 1] - y) + abs(c[t, i + 2] - z))
            if above - goal > far:
                break
            step = above - goal + tolerance
            gx, gy, gz = to_frame(scene.axes, s, gx, gy, gz)
            x, y, z = nearest_on_triangle(c, t, x - step * gx, y - step * gy, z - step * gz)
    return False


@inlined_kernel
def _is_corner(c, t, x, y, z, near):
    """True if a corner of triangle t is at a point."""
    for i in range(0, 9, 3):
        if abs(c[t, i] - x) <= near and abs(c[t, i + 1] - y) <= near and abs(c[t, i + 2] - z) <= near:
            return True
    return False


@inner_kernel
def along_edge(scene, surfaces, s, x, y, z, nx, ny, nz, tolerance, size):
    """True if n is a direction of an edge that ends at a point (world, relative to the centre of s).

    It is normal to the edge, and of the triangles beside it none rises along it. Other triangles at the end
    of the edge may: they have contacts of their own.
    """
    x, y, z = to_frame(scene.axes, s, x, y, z)
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    c = surfaces.corners
    near = _SURFACE_OFF * size + 10.0 * tolerance
    count = gather(surfaces, surfaces.of_shape[s], x, y, z, near)
    for k in range(count):
        t = surfaces.near[k]
        for i in range(0, 9, 3):
            dx, dy, dz = c[t, i] - x, c[t, i + 1] - y, c[t, i + 2] - z
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            if length <= near or abs(nx * dx + ny * dy + nz * dz) > near + SURFACE_ANGLE * length:
                continue
            most = -math.inf
            for m in range(count):
                u = surfaces.near[m]
                if not _is_corner(c, u, x, y, z, near) or not _is_corner(c, u, x + dx, y + dy, z + dz, near):
                    continue
                for j in range(0, 9, 3):
                    ex, ey, ez = c[u, j] - x, c[u, j + 1] - y, c[u, j + 2] - z
                    rise = nx * ex + ny * ey + nz * ez - near
                    most = max(most, rise - SURFACE_ANGLE * math.sqrt(ex * ex + ey * ey + ez * ez))
            if -math.inf < most <= 0.0:
                return True
    return False
