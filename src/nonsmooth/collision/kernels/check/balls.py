"""The check of spheres and half-spaces, for which everything is in closed form."""

import math

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.collision.kernels.check.rows import (
    ANGLE,
    GAP,
    GAP_ABSOLUTE,
    GAP_RELATIVE,
    POINT,
    ROUNDING,
    angle_between,
    chosen,
    end_of,
    is_exempt,
    note,
    reported,
    tolerance_of,
)
from nonsmooth.collision.kernels.check.support import HALF_SPACE, SPHERE, place_middle


@inlined_kernel
def _check_two(scene, rows, a, b, i, result):
    """Two spheres, the first of which has gone its way against the second."""
    ra, rb = scene.radius[a], scene.radius[b]
    ax = scene.middle[a, 0] + rows.way[i, 0]
    ay = scene.middle[a, 1] + rows.way[i, 1]
    az = scene.middle[a, 2] + rows.way[i, 2]
    cx, cy, cz = scene.middle[b, 0] - ax, scene.middle[b, 1] - ay, scene.middle[b, 2] - az
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    x, y, z = rows.point[i, 0] - ax, rows.point[i, 1] - ay, rows.point[i, 2] - az
    far = abs(rows.point[i, 0]) + abs(rows.point[i, 1]) + abs(rows.point[i, 2])
    small, large = (ra, rb) if ra < rb else (rb, ra)
    size = 2.0 * small + 0.2 * large
    tolerance = GAP_ABSOLUTE + GAP_RELATIVE * size + ROUNDING * far
    along = nx * cx + ny * cy + nz * cz
    distance = math.sqrt(cx * cx + cy * cy + cz * cz)
    length = nx * nx + ny * ny + nz * nz
    gap = rows.gap[i]
    middle = ra + 0.5 * gap
    dx, dy, dz = x - middle * nx, y - middle * ny, z - middle * nz
    wrong = max(abs(along - ra - rb - gap), 0.5 * abs(length - 1.0) * size)
    note(result, GAP, wrong, tolerance, i)
    note(result, POINT, math.sqrt(dx * dx + dy * dy + dz * dz), tolerance, i)
    if not distance - along <= tolerance:
        angle = angle_between(nx, ny, nz, cx / distance, cy / distance, cz / distance)
        note(result, ANGLE, angle, angle * tolerance / (distance - along), i)


@inlined_kernel
def _check_on_plane(scene, rows, a, b, i, result):
    """A sphere and a half-space."""
    plane, ball, sign = (a, b, 1.0) if scene.kind[a] == HALF_SPACE else (b, a, -1.0)
    mx, my, mz = scene.axes[plane, 0, 2], scene.axes[plane, 1, 2], scene.axes[plane, 2, 2]
    cx = scene.middle[ball, 0] - scene.centre[plane, 0]
    cy = scene.middle[ball, 1] - scene.centre[plane, 1]
    cz = scene.middle[ball, 2] - scene.centre[plane, 2]
    radius, gap = scene.radius[ball], rows.gap[i]
    far = abs(rows.point[i, 0]) + abs(rows.point[i, 1]) + abs(rows.point[i, 2])
    tolerance = GAP_ABSOLUTE + GAP_RELATIVE * 2.0 * radius + ROUNDING * far
    note(result, GAP, abs(mx * cx + my * cy + mz * cz - radius - gap), tolerance, i)
    angle = angle_between(
        sign * rows.normal[i, 0], sign * rows.normal[i, 1], sign * rows.normal[i, 2], mx, my, mz
    )
    if not angle * 2.0 * radius <= tolerance:
        note(result, ANGLE, angle, 0.5 * tolerance / radius, i)
    drop = radius + 0.5 * gap
    dx = rows.point[i, 0] - scene.middle[ball, 0] + drop * mx
    dy = rows.point[i, 1] - scene.middle[ball, 1] + drop * my
    dz = rows.point[i, 2] - scene.middle[ball, 2] + drop * mz
    note(result, POINT, math.sqrt(dx * dx + dy * dy + dz * dz), tolerance, i)


@kernel
def check_balls(scene, position, quaternion, rows, step, period, result):
    """Check the chosen pairs of spheres and half-spaces; numbers of all pairs, pairs and contacts checked."""
    count = scene.kind.shape[0]
    every = pairs = checked = first = 0
    while first < rows.gap.shape[0]:
        a, b = rows.shapes[first, 0], rows.shapes[first, 1]
        end = end_of(rows, first)
        every += 1
        ka, kb = scene.kind[a], scene.kind[b]
        if max(ka, kb) <= HALF_SPACE and chosen(a, b, count, step, period):
            pairs += 1
            checked += end - first
            place_middle(scene, position, quaternion, a)
            place_middle(scene, position, quaternion, b)
            for i in range(first, end):
                if ka == SPHERE and kb == SPHERE:
                    _check_two(scene, rows, a, b, i, result)
                else:
                    _check_on_plane(scene, rows, a, b, i, result)
        first = end
    return every, pairs, checked


@kernel
def find_missing_balls(scene, position, quaternion, shapes, margin, exempt, step, period, found):
    """See `missing.find_missing`; of scenes that have spheres and half-spaces alone."""
    count = scene.kind.shape[0]
    for s in range(count):
        place_middle(scene, position, quaternion, s)
    missing = tried = 0
    for p in range(count):
        if scene.kind[p] == HALF_SPACE or (period > 1 and (p + step) % period != 0):
            continue
        px, py, pz = scene.middle[p, 0], scene.middle[p, 1], scene.middle[p, 2]
        radius = scene.radius[p] + margin
        for q in range(count):
            dx, dy, dz = scene.middle[q, 0] - px, scene.middle[q, 1] - py, scene.middle[q, 2] - pz
            reach = radius + scene.ball[q, 3]  # infinite for half-spaces
            square = dx * dx + dy * dy + dz * dz
            if square >= reach * reach:
                continue
            if scene.kind[q] == HALF_SPACE:
                dx, dy, dz = scene.centre[q, 0] - px, scene.centre[q, 1] - py, scene.centre[q, 2] - pz
                along = scene.axes[q, 0, 2] * dx + scene.axes[q, 1, 2] * dy + scene.axes[q, 2, 2] * dz
                gap = -along - radius
            else:
                gap = math.sqrt(square) - reach
            if period == 1 and q <= p and scene.kind[q] == SPHERE:
                continue
            if exempt.group[p] == exempt.group[q]:
                continue
            a, b = (p, q) if p < q else (q, p)
            if reported(shapes, a, b):
                continue
            tried += 1
            tolerance, _ = tolerance_of(scene, a, b, px, py, pz)
            if gap < -tolerance and not is_exempt(scene, exempt, a, b):
                if missing < found.shape[0]:
                    found[missing, 0], found[missing, 1] = a, b
                missing += 1
    return missing, tried
