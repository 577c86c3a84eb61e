"""Does a manifold span the area where a mesh or a height field touches another shape?

The area is that of flat pieces of the surface, the corners, edges and triangles in the plane of a contact,
that are opposite to the flat part of the other shape. Pieces within the area that the contacts span are
passed over: for a right contact nearly all are.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.check.direction import is_polytope
from nonsmooth.collision.kernels.check.mesh import gather_flat, is_surface, triangle_normal
from nonsmooth.collision.kernels.check.rows import (
    NEAR,
    SLAB,
    SPAN,
    SPAN_FLAT,
    SPAN_ROUND,
    note,
    tolerance_of,
)
from nonsmooth.collision.kernels.check.span import (
    MOST_CORNERS,
    beyond,
    distance_to_hull,
    flat_hull,
    footprint,
    set_tangents,
)
from nonsmooth.collision.kernels.check.support import ELLIPSOID, HALF_SPACE, SPHERE, farthest, to_frame

_ALIKE = 0.9998  # cosine above which contacts carry load in the same direction: 0.02 rad
_DEEP = 1e-3  # part of the size: deeper overlaps have several ways out near their border


@inner_kernel
def _is_first(rows, first, end, i, depth):
    """True if no contact with about the normal of contact i is nearer, and none in its plane comes before it.

    Gaps are the same if they differ by less than `depth`.
    """
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    for k in range(first, end):
        cosine = nx * rows.normal[k, 0] + ny * rows.normal[k, 1] + nz * rows.normal[k, 2]
        nearer = rows.gap[i] - rows.gap[k]
        if cosine < _ALIKE or nearer < 0.0 or (nearer == 0.0 and k >= i):
            continue
        x, y, z = (
            rows.point[k, 0] - rows.point[i, 0],
            rows.point[k, 1] - rows.point[i, 1],
            rows.point[k, 2] - rows.point[i, 2],
        )
        if nearer > depth or abs(nx * x + ny * y + nz * z) <= depth:
            return False
    return True


@inner_kernel
def _set_spanned(rows, first, end, i, work):
    """Write the area that contacts with about the normal of contact i span to hulls[2]; its corners.

    None if there are more contacts than room.
    """
    u = work.tangents
    count = 0
    for k in range(first, end):
        cosine = 0.0
        for axis in range(3):
            cosine += rows.normal[i, axis] * rows.normal[k, axis]
        if cosine < _ALIKE:
            continue
        if count == MOST_CORNERS:
            return 0
        work.points[count, :2] = 0.0
        for axis in range(3):
            away = rows.point[k, axis] - rows.point[i, axis]
            work.points[count, 0] += u[axis] * away
            work.points[count, 1] += u[3 + axis] * away
        count += 1
    return flat_hull(work.points, count, work.hulls[2])


@inner_kernel
def _set_pieces(scene, surfaces, rows, s, q, sign, i, depth, corners, work, pieces):
    """Write flat pieces of surface s at contact i that are partly outside of hulls[2]; their number.

    `sign` is 1 if the contact's normal is outward.
    """
    nx, ny, nz = sign * rows.normal[i, 0], sign * rows.normal[i, 1], sign * rows.normal[i, 2]
    half = 0.5 * rows.gap[i]
    x = rows.point[i, 0] - scene.centre[s, 0]
    y = rows.point[i, 1] - scene.centre[s, 1]
    z = rows.point[i, 2] - scene.centre[s, 2]
    cx, cy, cz, reach = x, y, z, math.inf
    if scene.kind[q] != HALF_SPACE:
        cx = scene.middle[q, 0] - scene.centre[s, 0]
        cy = scene.middle[q, 1] - scene.centre[s, 1]
        cz = scene.middle[q, 2] - scene.centre[s, 2]
        reach = scene.ball[q, 3] + abs(rows.gap[i])
    u = work.tangents
    ux, uy, uz = to_frame(scene.axes, s, u[0], u[1], u[2])
    vx, vy, vz = to_frame(scene.axes, s, u[3], u[4], u[5])
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    x, y, z = to_frame(scene.axes, s, x, y, z)
    cx, cy, cz = to_frame(scene.axes, s, cx, cy, cz)
    level = nx * x + ny * y + nz * z - half
    found = gather_flat(
        surfaces, surfaces.of_shape[s], x - half * nx, y - half * ny, z - half * nz, nx, ny, nz, depth,
        cx, cy, cz, reach,
    )  # fmt: skip
    c, count = surfaces.corners, 0
    for k in range(found):
        t = surfaces.near[k]
        corner, out = 0, False
        for j in range(0, 9, 3):
            if nx * c[t, j] + ny * c[t, j + 1] + nz * c[t, j + 2] < level - depth:
                continue
            dx, dy, dz = c[t, j] - x, c[t, j + 1] - y, c[t, j + 2] - z
            across, along = ux * dx + uy * dy + uz * dz, vx * dx + vy * dy + vz * dz
            pieces[count, 1 + 2 * corner], pieces[count, 2 + 2 * corner] = across, along
            out = out or distance_to_hull(work.hulls[2], corners, across, along) > depth
            corner += 1
        fx, fy, fz = triangle_normal(c, t)
        if out and (corner < 3 or nx * fx + ny * fy + nz * fz > 0.0):
            pieces[count, 0] = corner
            count += 1
            if count == pieces.shape[0]:
                break
    return count


@inner_kernel
def _load(piece, work, hull):
    """Write the corners of a piece to a hull; their number."""
    count = int(piece[0])
    for i in range(count):
        work.points[i, 0], work.points[i, 1] = piece[1 + 2 * i], piece[2 + 2 * i]
    return flat_hull(work.points, count, hull)


@inner_kernel
def _are_apart(one, two, near):
    """True if two pieces are farther apart than `near` along an axis."""
    for axis in range(2):
        low, high, least, most = math.inf, -math.inf, math.inf, -math.inf
        for i in range(int(one[0])):
            low, high = min(low, one[1 + 2 * i + axis]), max(high, one[1 + 2 * i + axis])
        for i in range(int(two[0])):
            least, most = min(least, two[1 + 2 * i + axis]), max(most, two[1 + 2 * i + axis])
        if low > most + near or least > high + near:
            return True
    return False


@inner_kernel
def _set_footprint(scene, rows, q, sign, i, depth, work):
    """Write the flat part of the convex shape q at contact i to hulls[1]; its corners.

    None if q reaches farther than the contact, beyond the border of the surface.
    """
    nx, ny, nz = sign * rows.normal[i, 0], sign * rows.normal[i, 1], sign * rows.normal[i, 2]
    x = rows.point[i, 0] - scene.centre[q, 0]
    y = rows.point[i, 1] - scene.centre[q, 1]
    z = rows.point[i, 2] - scene.centre[q, 2]
    px, py, pz = farthest(scene, q, nx, ny, nz)
    lower = nx * (px - x) + ny * (py - y) + nz * (pz - z) + scene.radius[q] + 0.5 * rows.gap[i]
    if abs(lower) > depth:
        return 0
    count = footprint(scene, q, x, y, z, nx, ny, nz, depth, work.tangents, work.points)
    return flat_hull(work.points, count, work.hulls[1])


@inner_kernel
def _check_area(scene, surfaces, rows, a, b, i, depth, near, corners, work, bounds):
    """How far the area at contact i reaches beyond hulls[2]; widens its `bounds` (4,)."""
    s, q, sign = (a, b, 1.0) if is_surface(scene.kind[a]) else (b, a, -1.0)
    count = _set_pieces(scene, surfaces, rows, s, q, sign, i, depth, corners, work, surfaces.pieces[0])
    others, corners_q = 1, 0
    if is_surface(scene.kind[q]):
        others = _set_pieces(scene, surfaces, rows, q, s, -sign, i, depth, corners, work, surfaces.pieces[1])
    elif scene.kind[q] != HALF_SPACE:
        corners_q = _set_footprint(scene, rows, q, -sign, i, depth, work)
        if corners_q == 0:
            return 0.0
    error = 0.0
    for k in range(count):
        corners_s = _load(surfaces.pieces[0, k], work, work.hulls[0])
        for m in range(others):
            if is_surface(scene.kind[q]):
                if _are_apart(surfaces.pieces[0, k], surfaces.pieces[1, m], near):
                    continue
                corners_q = _load(surfaces.pieces[1, m], work, work.hulls[1])
            elif scene.kind[q] == HALF_SPACE:
                corners_q = _load(surfaces.pieces[0, k], work, work.hulls[1])
            more, low_x, low_y, high_x, high_y = beyond(
                work.hulls[0], corners_s, work.hulls[1], corners_q, work.hulls[2], corners, near
            )
            error = max(error, more)
            bounds[0], bounds[1] = min(bounds[0], low_x), min(bounds[1], low_y)
            bounds[2], bounds[3] = max(bounds[2], high_x), max(bounds[3], high_y)
    return error


@inner_kernel
def check_surface_span(scene, surfaces, rows, a, b, first, end, work, result):
    """The areas where two shapes touch, one of them a surface, against those that their contacts span."""
    flat = True
    for s in (a, b):
        if scene.kind[s] in (SPHERE, ELLIPSOID):
            return
        flat = flat and (is_polytope(scene, s) or is_surface(scene.kind[s]) or scene.kind[s] == HALF_SPACE)
    least = math.inf
    for i in range(first, end):
        least = min(least, rows.gap[i])
    for i in range(first, end):
        tolerance, size = tolerance_of(scene, a, b, rows.point[i, 0], rows.point[i, 1], rows.point[i, 2])
        depth = min(SLAB * size, 0.45 * (rows.margin - rows.gap[i]))
        touches = -_DEEP * size <= rows.gap[i] <= max(least, 0.0) + SLAB * size
        if depth <= 0.0 or not touches or not _is_first(rows, first, end, i, depth):
            continue
        set_tangents(rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2], work.tangents)
        corners = _set_spanned(rows, first, end, i, work)
        if corners == 0:
            continue
        bounds = work.corner[0]
        bounds[:2], bounds[2:] = math.inf, -math.inf
        for k in range(corners):
            x, y = work.hulls[2, k, 0], work.hulls[2, k, 1]
            bounds[0], bounds[1] = min(bounds[0], x), min(bounds[1], y)
            bounds[2], bounds[3] = max(bounds[2], x), max(bounds[3], y)
        error = _check_area(scene, surfaces, rows, a, b, i, depth, NEAR * size, corners, work, bounds)
        diameter = math.hypot(bounds[2] - bounds[0], bounds[3] - bounds[1])
        if flat:
            note(result, SPAN, error, SPAN_FLAT * diameter + SLAB * size, i)
        else:
            note(result, SPAN, error, SPAN_ROUND * diameter + math.sqrt(tolerance * size), i)
