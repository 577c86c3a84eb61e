"""The check of contacts of meshes and height fields with convex shapes and with each other."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.check.direction import has_face, is_polytope
from nonsmooth.collision.kernels.check.inside import is_engulfed, lowest_corner
from nonsmooth.collision.kernels.check.mesh import (
    SURFACE_ANGLE,
    along_edge,
    edge_at,
    is_surface,
    judge_point,
    on_surface,
)
from nonsmooth.collision.kernels.check.off_surface import fall_beside_line, off_surface, slope_at
from nonsmooth.collision.kernels.check.rows import (
    ANGLE,
    BESIDE,
    GAP,
    LATERAL,
    POINT,
    angle_between,
    chosen,
    end_of,
    note,
    tolerance_of,
)
from nonsmooth.collision.kernels.check.support import HALF_SPACE, farthest, place
from nonsmooth.collision.kernels.check.surface_span import check_surface_span

_ONE_MANIFOLD = 0.2
"""Angle in rad up to which further points of a manifold may have the normal of its nearest."""
_PARALLEL = 5e-4  # sine of the angle between two edges below which they do not cross
_FALL = 0.02
"""Part of what a round side falls off beside its line of contact by which its height there may be wrong."""


@inner_kernel
def _judge_side(scene, surfaces, rows, s, sign, i, allowed, size):
    """`judge_point` of shape s in contact i, whose normal is outward if `sign` is 1; no error if convex."""
    if not is_surface(scene.kind[s]):
        return 0.0, 0.0, False, False
    nx, ny, nz = sign * rows.normal[i, 0], sign * rows.normal[i, 1], sign * rows.normal[i, 2]
    half = 0.5 * rows.gap[i]
    x = rows.point[i, 0] - scene.centre[s, 0] - half * nx
    y = rows.point[i, 1] - scene.centre[s, 1] - half * ny
    z = rows.point[i, 2] - scene.centre[s, 2] - half * nz
    off, turned, of_face, single = judge_point(scene, surfaces, s, x, y, z, nx, ny, nz, allowed, size)
    if turned > SURFACE_ANGLE and along_edge(scene, surfaces, s, x, y, z, nx, ny, nz, allowed, size):
        turned = 0.0  # of the edge up to its end; that the other is lowest there is judged with the gap
    return off, turned, of_face, single


@inlined_kernel
def _angle(turned_a, of_face_a, single_a, turned_b, of_face_b, single_b):
    """Angle by which a normal is outside the directions of its two points.

    A vertex or an edge has to allow for the normal of a face that it touches, or is the next to touch.
    """
    if of_face_a and not single_b:
        turned_b = 0.0
    if of_face_b and not single_a:
        turned_a = 0.0
    return max(turned_a, turned_b)


@inner_kernel
def _across_edges(scene, surfaces, rows, a, b, i, allowed):
    """True if contact i of two surfaces is where two edges that cross, seen along n, are nearest."""
    if not (is_surface(scene.kind[a]) and is_surface(scene.kind[b])):
        return False
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    half = 0.5 * rows.gap[i]
    x, y, z = rows.point[i, 0], rows.point[i, 1], rows.point[i, 2]
    ax, ay, az = edge_at(
        scene, surfaces, a,
        x - scene.centre[a, 0] - half * nx, y - scene.centre[a, 1] - half * ny,
        z - scene.centre[a, 2] - half * nz, nx, ny, nz, allowed,
    )  # fmt: skip
    bx, by, bz = edge_at(
        scene, surfaces, b,
        x - scene.centre[b, 0] + half * nx, y - scene.centre[b, 1] + half * ny,
        z - scene.centre[b, 2] + half * nz, nx, ny, nz, allowed,
    )  # fmt: skip
    cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return cx * cx + cy * cy + cz * cz > _PARALLEL * _PARALLEL


@inner_kernel
def _check_surface(scene, surfaces, rows, a, b, first, end, result):
    """Check contacts first…end of a pair with at least one mesh or height field, one by one."""
    for i in range(first, end):
        tolerance, size = tolerance_of(scene, a, b, rows.point[i, 0], rows.point[i, 1], rows.point[i, 2])
        allowed = tolerance + LATERAL * size
        nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
        note(result, GAP, abs(math.sqrt(nx * nx + ny * ny + nz * nz) - 1.0) * size, tolerance, i)
        off_a, turned_a, of_face_a, single_a = _judge_side(scene, surfaces, rows, a, 1.0, i, allowed, size)
        off_b, turned_b, of_face_b, single_b = _judge_side(scene, surfaces, rows, b, -1.0, i, allowed, size)
        angle = _angle(turned_a, of_face_a, single_a, turned_b, of_face_b, single_b)
        for side in range(2):
            s, other, sign = (a, b, 1.0) if side == 0 else (b, a, -1.0)
            if not is_surface(scene.kind[s]):
                continue
            off, of_face = (off_a, of_face_a) if side == 0 else (off_b, of_face_b)
            mx, my, mz = sign * nx, sign * ny, sign * nz  # outward
            alone = end - first == 1 and rows.gap[i] < 0.0
            if off > allowed and alone and is_engulfed(scene, surfaces, other, s):
                # the way out of the other one: its length alone is that of this one
                low, half = lowest_corner(scene, surfaces, s, -mx, -my, -mz), 0.5 * rows.gap[i]
                x = rows.point[i, 0] - scene.centre[s, 0] - half * mx
                y = rows.point[i, 1] - scene.centre[s, 1] - half * my
                z = rows.point[i, 2] - scene.centre[s, 2] - half * mz
                note(result, GAP, abs(low + mx * x + my * y + mz * z), allowed, i)
                angle = turned_b if side == 0 else turned_a
                continue
            note(result, POINT, off, allowed, i)
            if is_surface(scene.kind[other]):
                continue
            if has_face(scene, other, -mx, -my, -mz, SURFACE_ANGLE):
                angle = 0.0  # what the surface must not pass: any of its points may be the next to meet it
            _check_against_surface(
                scene, surfaces, rows, s, other, first, end, i, mx, my, mz, of_face, allowed, size, result
            )
        if angle <= SURFACE_ANGLE:
            continue
        may_turn = rows.gap[i] > 0.0 or angle <= _ONE_MANIFOLD
        if may_turn and _across_edges(scene, surfaces, rows, a, b, i, allowed):
            continue  # two edges that motion turns towards each other
        if not (angle <= _ONE_MANIFOLD and _has_lead(scene, surfaces, rows, a, b, first, end, i, angle)):
            note(result, ANGLE, min(angle, math.pi), SURFACE_ANGLE, i)


@inner_kernel
def _has_lead(scene, surfaces, rows, a, b, first, end, i, angle):
    """True if a nearer contact has the normal of contact i, and it is one of the directions there.

    Then contact i is a further point of a manifold, of a face that lies along the other shape but for a tilt.
    It may be deeper by as much as its own direction would make it: the tilt times their distance.
    """
    nx, ny, nz = rows.normal[i, 0], rows.normal[i, 1], rows.normal[i, 2]
    for k in range(first, end):
        cosine = nx * rows.normal[k, 0] + ny * rows.normal[k, 1] + nz * rows.normal[k, 2]
        if k == i or cosine < 1.0 - 1e-11:
            continue
        dx, dy, dz = (
            rows.point[k, 0] - rows.point[i, 0],
            rows.point[k, 1] - rows.point[i, 1],
            rows.point[k, 2] - rows.point[i, 2],
        )
        if rows.gap[k] - rows.gap[i] > angle * math.sqrt(dx * dx + dy * dy + dz * dz):
            continue
        tolerance, size = tolerance_of(scene, a, b, rows.point[k, 0], rows.point[k, 1], rows.point[k, 2])
        allowed = tolerance + LATERAL * size
        _, turned_a, of_face_a, single_a = _judge_side(scene, surfaces, rows, a, 1.0, k, allowed, size)
        _, turned_b, of_face_b, single_b = _judge_side(scene, surfaces, rows, b, -1.0, k, allowed, size)
        if _angle(turned_a, of_face_a, single_a, turned_b, of_face_b, single_b) <= SURFACE_ANGLE:
            return True
    return False


@inner_kernel
def _check_against_surface(
    scene, surfaces, rows, s, q, first, end, i, mx, my, mz, of_face, allowed, size, result
):
    """The part of the convex shape q in contact i with surface s, whose outward normal is m."""
    half = 0.5 * rows.gap[i]
    cx, cy, cz = scene.centre[q, 0], scene.centre[q, 1], scene.centre[q, 2]
    x = rows.point[i, 0] - cx + half * mx
    y = rows.point[i, 1] - cy + half * my
    z = rows.point[i, 2] - cz + half * mz
    if scene.kind[q] == HALF_SPACE:
        px = py = pz = 0.0
        turned = angle_between(-mx, -my, -mz, scene.axes[q, 0, 2], scene.axes[q, 1, 2], scene.axes[q, 2, 2])
        if not turned * size <= allowed:
            note(result, ANGLE, turned, allowed / size, i)
    else:
        px, py, pz = farthest(scene, q, -mx, -my, -mz)
    # how much higher than the lowest point of q, along m
    rise = mx * (x - px) + my * (y - py) + mz * (z - pz) + scene.radius[q]
    least = rows.gap[i]
    for k in range(first, end):
        cosine = abs(mx * rows.normal[k, 0] + my * rows.normal[k, 1] + mz * rows.normal[k, 2])
        if cosine > 1.0 - 1e-11:
            least = min(least, rows.gap[k])
    grown = rows.gap[i] - least
    far = allowed
    if is_polytope(scene, q):
        # a face that touches along its edge's direction is seen along it, up to 0.01 rad aside
        far += 0.02 * grown
    elif grown > 0.0 and scene.kind[q] != HALF_SPACE:
        # how far an edge is beside the line of a round side is measured across the edge
        far += _FALL * fall_beside_line(scene, q, x, y, z, -mx, -my, -mz)
        far += BESIDE * size * slope_at(scene, q, x, y, z, -mx, -my, -mz)
    off = off_surface(scene, q, x, y, z, -mx, -my, -mz, far, size)
    if off > far and end - first == 1 and rows.gap[i] < 0.0 and is_engulfed(scene, surfaces, s, q):
        # the way out of s: its length is what is known of q
        note(result, GAP, abs(rise), allowed, i)
        return
    note(result, POINT, off, far, i)
    if not of_face:
        # an edge or a vertex: q's lowest point is the nearest contact's, further ones are as much higher
        note(result, GAP, max(-rise, rise - grown), allowed, i)
    elif rise - grown > allowed:
        # q reaches farther down than its nearest contact: wrong if the surface is below that point
        lowest = rows.gap[i] - rise
        drop = lowest + scene.radius[q]
        bx, by, bz = scene.centre[s, 0], scene.centre[s, 1], scene.centre[s, 2]
        if on_surface(
            scene, surfaces, s,
            cx + px - drop * mx - bx, cy + py - drop * my - by, cz + pz - drop * mz - bz, allowed,
        ):  # fmt: skip
            note(result, GAP, rise - grown, allowed, i)


@kernel
def check_surfaces(scene, surfaces, position, quaternion, rows, step, period, work, result):
    """Check the chosen pairs with a mesh or a height field; numbers of pairs and contacts checked.

    Rows of shapes that meet later in the step are those of that time: points and gaps along the normal.
    """
    count = scene.kind.shape[0]
    pairs = checked = first = 0
    while first < rows.gap.shape[0]:
        a, b = rows.shapes[first, 0], rows.shapes[first, 1]
        end = end_of(rows, first)
        ka, kb = scene.kind[a], scene.kind[b]
        if (is_surface(ka) or is_surface(kb)) and chosen(a, b, count, step, period):
            pairs += 1
            checked += end - first
            place(scene, position, quaternion, a)
            place(scene, position, quaternion, b)
            if rows.part[first] > 0.0:
                solid = b if is_surface(ka) else a
                for k in range(3):
                    scene.centre[solid, k] += rows.way[first, k]
                    scene.middle[solid, k] += rows.way[first, k]
            else:
                check_surface_span(scene, surfaces, rows, a, b, first, end, work, result)
            _check_surface(scene, surfaces, rows, a, b, first, end, result)
        first = end
    return pairs, checked
