"""The check of contacts of two convex shapes, pair after pair."""

import math

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.check.direction import best_axis, is_polytope, search
from nonsmooth.collision.kernels.check.off_surface import off_surface
from nonsmooth.collision.kernels.check.rows import (
    ANGLE,
    GAP,
    LATERAL,
    NEAR,
    POINT,
    SLAB,
    SPAN,
    SPAN_FLAT,
    SPAN_ROUND,
    angle_between,
    chosen,
    end_of,
    note,
    tolerance_of,
)
from nonsmooth.collision.kernels.check.span import MOST_CORNERS, beyond, flat_hull, footprint, set_tangents
from nonsmooth.collision.kernels.check.support import (
    BOX,
    CONVEX_HULL,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
    apart_along,
    farthest,
    height,
    place,
)


@inner_kernel
def _check_half_space(scene, rows, a, b, i, tolerance, size, result):
    """Gap and normal of contact i, the nearest of a pair with one half-space; True if the normal holds."""
    plane, other, sign = (a, b, 1.0) if scene.kind[a] == HALF_SPACE else (b, a, -1.0)
    mx, my, mz = scene.axes[plane, 0, 2], scene.axes[plane, 1, 2], scene.axes[plane, 2, 2]
    nx, ny, nz = sign * rows.normal[i, 0], sign * rows.normal[i, 1], sign * rows.normal[i, 2]
    px, py, pz = farthest(scene, other, -mx, -my, -mz)
    gap = (
        mx * (scene.centre[other, 0] - scene.centre[plane, 0] + px)
        + my * (scene.centre[other, 1] - scene.centre[plane, 1] + py)
        + mz * (scene.centre[other, 2] - scene.centre[plane, 2] + pz)
        - scene.radius[other]
        - scene.radius[plane]
    )
    note(result, GAP, abs(gap - rows.gap[i]), tolerance, i)
    angle = angle_between(nx, ny, nz, mx, my, mz)
    if not angle * size <= tolerance:
        note(result, ANGLE, angle, tolerance / size, i)


@inner_kernel
def _check_normal(scene, rows, a, b, first, end, i, tolerance, size, work, result):
    """Gap and normal of contact i, the nearest of contacts first…end of two convex shapes."""
    cx = scene.centre[b, 0] - scene.centre[a, 0]
    cy = scene.centre[b, 1] - scene.centre[a, 1]
    cz = scene.centre[b, 2] - scene.centre[a, 2]
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    ra, rb = scene.radius[a], scene.radius[b]
    apart = apart_along(scene, a, b, cx, cy, cz, nx, ny, nz)
    gap = rows.gap[i]
    note(result, GAP, abs(apart - ra - rb - gap), tolerance, i)
    x = rows.point[i, 0] - scene.centre[a, 0]
    y = rows.point[i, 1] - scene.centre[a, 1]
    z = rows.point[i, 2] - scene.centre[a, 2]
    # Two points of the cores: no direction separates the cores by more than their distance.
    back, forth = 0.5 * gap + ra, 0.5 * gap + rb
    out_p, _, _, _ = height(scene, a, x - back * nx, y - back * ny, z - back * nz, nx, ny, nz, 0.0)
    out_q, _, _, _ = height(
        scene, b, x + forth * nx - cx, y + forth * ny - cy, z + forth * nz - cz, -nx, -ny, -nz, 0.0
    )
    off = max(max(out_p, out_q), 0.0)
    # where curved surfaces are nearest is known to fewer digits than how near they are
    known = is_polytope(scene, a) and is_polytope(scene, b)
    note(result, POINT, off, tolerance if known else tolerance + LATERAL * size, i)
    if apart >= -0.25 * tolerance and off <= tolerance:
        return
    depth = tolerance - apart
    if is_polytope(scene, a) and is_polytope(scene, b):
        # a point of both: the mean of the contacts that overlap
        mx, my, mz, count = 0.0, 0.0, 0.0, 0
        for k in range(first, end):
            if rows.gap[k] + ra + rb <= 0.0:
                shift = 0.5 * (rb - ra)
                mx += rows.point[k, 0] + shift * nx - scene.centre[a, 0]
                my += rows.point[k, 1] + shift * ny - scene.centre[a, 1]
                mz += rows.point[k, 2] + shift * nz - scene.centre[a, 2]
                count += 1
        if apart > 0.0 or count == 0:
            # apart with a wrong point, or deep with a wrong gap: corners too can be nearest
            best, bx, by, bz = search(scene, a, b, cx, cy, cz, nx, ny, nz, size, tolerance)
            depth = math.inf
        else:
            best, bx, by, bz = apart, nx, ny, nz
            mx, my, mz = mx / count, my / count, mz / count
            out_a, _, _, _ = height(scene, a, mx, my, mz, nx, ny, nz, 0.0)
            out_b, _, _, _ = height(scene, b, mx - cx, my - cy, mz - cz, nx, ny, nz, 0.0)
            depth += max(out_a, 0.0) + max(out_b, 0.0)
        best, bx, by, bz = best_axis(
            scene, a, b, cx, cy, cz, mx, my, mz, depth, best, bx, by, bz, work.kept_p, work.kept_q
        )
    else:
        best, bx, by, bz = search(scene, a, b, cx, cy, cz, nx, ny, nz, size, tolerance)
    if best > apart + tolerance:
        angle = angle_between(nx, ny, nz, bx, by, bz)
        note(result, ANGLE, angle, angle * tolerance / (best - apart), i)


@inner_kernel
def _check_span(scene, rows, a, b, first, end, i, tolerance, size, work, result):
    """The area where the shapes touch against the area that the contacts first…end span."""
    if scene.kind[a] == SPHERE or scene.kind[b] == SPHERE:
        return
    if scene.kind[a] == ELLIPSOID or scene.kind[b] == ELLIPSOID:
        return
    slab = min(SLAB * size, 0.45 * (rows.margin - rows.gap[i]))
    if slab <= 0.0:
        return
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    u = work.tangents
    set_tangents(nx, ny, nz, u)
    ox, oy, oz = rows.point[i, 0], rows.point[i, 1], rows.point[i, 2]
    flat = True
    corners_p = corners_q = 0
    for side in range(2):
        s, sign = (a, 1.0) if side == 0 else (b, -1.0)
        if scene.kind[s] == HALF_SPACE:
            continue
        flat = flat and (scene.kind[s] == BOX or scene.kind[s] == CONVEX_HULL)
        count = footprint(
            scene, s,
            ox - scene.centre[s, 0], oy - scene.centre[s, 1], oz - scene.centre[s, 2],
            sign * nx, sign * ny, sign * nz, slab, u, work.points,
        )  # fmt: skip
        count = flat_hull(work.points, count, work.hulls[side])
        if side == 0:
            corners_p = count
        else:
            corners_q = count
    if scene.kind[a] == HALF_SPACE or scene.kind[b] == HALF_SPACE:
        whole = 1 if scene.kind[a] == HALF_SPACE else 0
        other = 1 - whole
        count = corners_p + corners_q
        for k in range(count):
            work.hulls[other, k, 0], work.hulls[other, k, 1] = (
                work.hulls[whole, k, 0],
                work.hulls[whole, k, 1],
            )
        corners_p = corners_q = count
    if corners_p < 2 or corners_q < 2:
        return
    count = 0
    for k in range(first, end):
        if count < MOST_CORNERS:
            x, y, z = rows.point[k, 0] - ox, rows.point[k, 1] - oy, rows.point[k, 2] - oz
            work.points[count, 0] = u[0] * x + u[1] * y + u[2] * z
            work.points[count, 1] = u[3] * x + u[4] * y + u[5] * z
            count += 1
    count = flat_hull(work.points, count, work.hulls[2])
    error, low_x, low_y, high_x, high_y = beyond(
        work.hulls[0], corners_p, work.hulls[1], corners_q, work.hulls[2], count, NEAR * size
    )
    diameter = math.hypot(max(high_x - low_x, 0.0), max(high_y - low_y, 0.0))
    if flat:
        note(result, SPAN, error, SPAN_FLAT * diameter + SLAB * size, i)
    else:
        # a round side has fallen off by d²/2R at a distance d from its line, R ≤ size/2: by the tolerance
        # of a gap where d² is that times the size
        note(result, SPAN, error, SPAN_ROUND * diameter + math.sqrt(tolerance * size), i)


@inner_kernel
def check_pair(scene, rows, a, b, first, end, work, result):
    """Check contacts first…end, those of the convex shapes a and b, which are placed."""
    i = first
    for k in range(first + 1, end):
        if rows.gap[k] < rows.gap[i]:
            i = k
    tolerance, size = tolerance_of(scene, a, b, rows.point[i, 0], rows.point[i, 1], rows.point[i, 2])
    flat = scene.kind[a] == HALF_SPACE or scene.kind[b] == HALF_SPACE
    if flat:
        _check_half_space(scene, rows, a, b, i, tolerance, size, result)
    else:
        _check_normal(scene, rows, a, b, first, end, i, tolerance, size, work, result)
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    note(result, GAP, abs(length - 1.0) * size, tolerance, i)
    for k in range(first, end):
        if k == i and not flat:
            continue
        mx, my, mz = rows.normal[k, 0], rows.normal[k, 1], rows.normal[k, 2]
        turned = angle_between(nx, ny, nz, mx, my, mz)
        if not turned * size <= tolerance:
            note(result, ANGLE, turned, tolerance / size, k)
        allowed = tolerance + LATERAL * size
        half = 0.5 * rows.gap[k]
        error = 0.0
        for side in range(2):
            s, sign = (a, 1.0) if side == 0 else (b, -1.0)
            x = rows.point[k, 0] - scene.centre[s, 0] - sign * half * mx
            y = rows.point[k, 1] - scene.centre[s, 1] - sign * half * my
            z = rows.point[k, 2] - scene.centre[s, 2] - sign * half * mz
            error = max(error, off_surface(scene, s, x, y, z, sign * mx, sign * my, sign * mz, allowed, size))
        note(result, POINT, error, allowed, k)
    _check_span(scene, rows, a, b, first, end, i, tolerance, size, work, result)


@kernel
def check_convex(scene, position, quaternion, rows, step, period, work, result):
    """Check the chosen pairs of convex shapes but those of `balls`; numbers of pairs and contacts."""
    count = scene.kind.shape[0]
    pairs = checked = first = 0
    while first < rows.gap.shape[0]:
        a, b = rows.shapes[first, 0], rows.shapes[first, 1]
        end = end_of(rows, first)
        ka, kb = scene.kind[a], scene.kind[b]
        surface = ka in (MESH, HEIGHT_FIELD) or kb in (MESH, HEIGHT_FIELD)
        if max(ka, kb) > HALF_SPACE and not surface and chosen(a, b, count, step, period):
            pairs += 1
            checked += end - first
            if rows.part[first] == 0.0:  # see `withheld`
                place(scene, position, quaternion, a)
                place(scene, position, quaternion, b)
                check_pair(scene, rows, a, b, first, end, work, result)
        first = end
    return pairs, checked
