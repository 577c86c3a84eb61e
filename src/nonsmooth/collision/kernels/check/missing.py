"""Touching pairs that no contact reports: brute force over the balls that hold the shapes."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.check.direction import best_axis, is_polytope, nearer_than, search
from nonsmooth.collision.kernels.check.inside import corner_inside, is_engulfed
from nonsmooth.collision.kernels.check.mesh import is_surface, surface_inside
from nonsmooth.collision.kernels.check.rows import is_exempt, reported, tolerance_of
from nonsmooth.collision.kernels.check.support import (
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
    farthest,
    place,
    place_middle,
)

_ROUNDS = 100


@inlined_kernel
def _endless(kind):
    return kind in (HALF_SPACE, MESH, HEIGHT_FIELD)


@inlined_kernel
def _is_tried(kind, other, sampled):
    """True if a shape is tried against another; in samples a mesh is only tried against meshes."""
    if _endless(kind) and (sampled or _endless(other)):
        return kind == MESH and other == MESH
    return True


@inner_kernel
def touching(scene, p, q, margin, work):
    """True if two placed convex shapes are proven to be nearer than the margin less the tolerance."""
    tolerance, size = tolerance_of(scene, p, q, scene.middle[p, 0], scene.middle[p, 1], scene.middle[p, 2])
    cx = scene.centre[q, 0] - scene.centre[p, 0]
    cy = scene.centre[q, 1] - scene.centre[p, 1]
    cz = scene.centre[q, 2] - scene.centre[p, 2]
    radii = scene.radius[p] + scene.radius[q]
    if scene.kind[p] == SPHERE and scene.kind[q] == SPHERE:
        return math.sqrt(cx * cx + cy * cy + cz * cz) - radii < margin - tolerance
    if scene.kind[p] == HALF_SPACE or scene.kind[q] == HALF_SPACE:
        plane, other, sign = (p, q, 1.0) if scene.kind[p] == HALF_SPACE else (q, p, -1.0)
        mx, my, mz = scene.axes[plane, 0, 2], scene.axes[plane, 1, 2], scene.axes[plane, 2, 2]
        x, y, z = farthest(scene, other, -mx, -my, -mz)
        above = mx * (sign * cx + x) + my * (sign * cy + y) + mz * (sign * cz + z)
        return above - radii < margin - tolerance
    limit = margin - tolerance + radii
    sharp = limit <= 0.0
    state = nearer_than(scene, p, q, cx, cy, cz, 1e-4 * size if sharp else limit, _ROUNDS, work.corner)
    if state <= 0 or not sharp:
        return state > 0
    # Without margin and rounding a touching pair has to overlap in every direction.
    if is_polytope(scene, p) and is_polytope(scene, q):
        best, _, _, _ = best_axis(
            scene, p, q, cx, cy, cz, 0.0, 0.0, 0.0, math.inf, -math.inf, 1.0, 0.0, 0.0,
            work.kept_p, work.kept_q,
        )  # fmt: skip
    else:
        best, _, _, _ = search(scene, p, q, cx, cy, cz, 0.0, 0.0, 1.0, size, tolerance)
    return best - radii < margin - tolerance


@kernel
def find_missing(scene, surfaces, position, quaternion, shapes, margin, exempt, step, period, work, found):
    """Touching pairs without contact, the first of them in `found` (k, 2); numbers of missing and tried.

    In each step one of `period` shapes is tried against all others.
    """
    count = scene.kind.shape[0]
    for s in range(count):
        place_middle(scene, position, quaternion, s)
    missing = tried = 0
    for p in range(count):
        if period > 1 and ((p + step) % period != 0 or (_endless(scene.kind[p]) and scene.kind[p] != MESH)):
            continue
        placed = False
        px, py, pz = scene.middle[p, 0], scene.middle[p, 1], scene.middle[p, 2]
        radius = scene.ball[p, 3] + margin
        for q in range(p + 1 if period == 1 else 0, count):
            dx, dy, dz = scene.middle[q, 0] - px, scene.middle[q, 1] - py, scene.middle[q, 2] - pz
            reach = radius + scene.ball[q, 3]
            if dx * dx + dy * dy + dz * dz > reach * reach or exempt.group[p] == exempt.group[q]:
                continue
            if not _is_tried(scene.kind[p], scene.kind[q], period > 1):
                continue
            a, b = (p, q) if p < q else (q, p)
            if reported(shapes, a, b):
                continue
            if not placed:
                place(scene, position, quaternion, p)
                placed = True
            place(scene, position, quaternion, q)
            tried += 1
            if is_surface(scene.kind[a]) or is_surface(scene.kind[b]):
                m, r = (a, b) if is_surface(scene.kind[a]) else (b, a)
                tolerance, _ = tolerance_of(scene, a, b, scene.middle[r, 0], scene.middle[r, 1], 0.0)
                if is_surface(scene.kind[r]):
                    if not corner_inside(scene, surfaces, m, r) and not corner_inside(scene, surfaces, r, m):
                        continue
                elif not (
                    surface_inside(scene, surfaces, m, r, tolerance - min(margin, 0.0))
                    or is_engulfed(scene, surfaces, m, r)
                ):
                    continue
            elif not touching(scene, a, b, margin, work):
                continue
            if is_exempt(scene, exempt, a, b):
                continue
            if missing < found.shape[0]:
                found[missing, 0], found[missing, 1] = a, b
            missing += 1
    return missing, tried
