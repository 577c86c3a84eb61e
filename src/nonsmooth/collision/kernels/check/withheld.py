"""Are contacts withheld, or their normals changed, for the reason that is stated?"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.check.direction import best_axis, is_polytope, search
from nonsmooth.collision.kernels.check.rows import chosen, tolerance_of
from nonsmooth.collision.kernels.check.support import (
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
    apart_along,
    farthest,
    place,
    place_moved,
)

SEAM, SWEPT = 1, 2
SEAM_STEP = 1e-5  # part of the size by which a hidden shape may stand above its neighbour's face
SWEPT_LOSS = 1e-3  # part of the size by which another direction may separate better at the time of impact


class Withheld(NamedTuple):
    """Columns of what the detector withheld or changed."""

    shapes: np.ndarray  # (w, 2)
    reason: np.ndarray  # (w,) int64
    normal: np.ndarray  # (w, 3) from the first shape to the second
    point: np.ndarray  # (w, 3)
    gap: np.ndarray  # (w,)
    part: np.ndarray  # (w,) of the step until the time of impact, 0…1


class Move(NamedTuple):
    """Where the bodies are and how they are expected to move."""

    position: np.ndarray
    quaternion: np.ndarray
    displacement: np.ndarray  # (n, 3) m
    rotation: np.ndarray  # (n, 3) rad


@inner_kernel
def seam_hides(scene, group, contacts, hidden, mover, size):
    """True if a contact of `mover` with a third shape has a plane that `hidden` does not rise above.

    The third shape must not move against `hidden`: both are of one group.
    """
    shapes, point, normal, gap = contacts
    for i in range(gap.shape[0]):
        if shapes[i, 0] == mover and shapes[i, 1] != hidden:
            sign = -1.0
        elif shapes[i, 1] == mover and shapes[i, 0] != hidden:
            sign = 1.0
        else:
            continue
        third = shapes[i, 1] if shapes[i, 0] == mover else shapes[i, 0]
        if group[third] != group[hidden]:
            continue
        ux, uy, uz = sign * normal[i, 0], sign * normal[i, 1], sign * normal[i, 2]  # from the third shape
        half = 0.5 * gap[i]
        px, py, pz = point[i, 0] - half * ux, point[i, 1] - half * uy, point[i, 2] - half * uz
        if scene.kind[hidden] == HALF_SPACE:
            continue
        x, y, z = farthest(scene, hidden, ux, uy, uz)
        above = (
            ux * (scene.centre[hidden, 0] + x - px)
            + uy * (scene.centre[hidden, 1] + y - py)
            + uz * (scene.centre[hidden, 2] + z - pz)
            + scene.radius[hidden]
        )
        if above <= SEAM_STEP * size:
            return True
    return False


@inner_kernel
def swept_holds(scene, move, a, b, nx, ny, nz, gap, part, tolerance, size, work):
    """True if the pair's least gap is that along n now, and n is as good as any at the time of impact."""
    radii = scene.radius[a] + scene.radius[b]
    cx = scene.centre[b, 0] - scene.centre[a, 0]
    cy = scene.centre[b, 1] - scene.centre[a, 1]
    cz = scene.centre[b, 2] - scene.centre[a, 2]
    if scene.kind[a] == HALF_SPACE or scene.kind[b] == HALF_SPACE:
        return False  # whose normal never changes
    if not abs(apart_along(scene, a, b, cx, cy, cz, nx, ny, nz) - radii - gap) <= tolerance:
        return False
    for s in (a, b):
        place_moved(scene, move.position, move.quaternion, move.displacement, move.rotation, part, s)
    cx = scene.centre[b, 0] - scene.centre[a, 0]
    cy = scene.centre[b, 1] - scene.centre[a, 1]
    cz = scene.centre[b, 2] - scene.centre[a, 2]
    now = apart_along(scene, a, b, cx, cy, cz, nx, ny, nz)
    if is_polytope(scene, a) and is_polytope(scene, b):
        best, _, _, _ = best_axis(
            scene, a, b, cx, cy, cz, 0.0, 0.0, 0.0, math.inf, now, nx, ny, nz,
            work.kept_p, work.kept_q,
        )  # fmt: skip
    else:
        best, _, _, _ = search(scene, a, b, cx, cy, cz, nx, ny, nz, size, tolerance)
    return best <= now + SWEPT_LOSS * size


@kernel
def check_withheld(scene, group, move, contacts, withheld, step, period, work, counts, first_wrong):
    """Count chosen rows by reason in `counts` (3, 2): checked, wrong. `first_wrong` gets a row or −1."""
    count = scene.kind.shape[0]
    wrong = -1
    for i in range(withheld.gap.shape[0]):
        a, b, reason = withheld.shapes[i, 0], withheld.shapes[i, 1], withheld.reason[i]
        if not chosen(a, b, count, step, period):
            continue
        surface = scene.kind[a] in (MESH, HEIGHT_FIELD) or scene.kind[b] in (MESH, HEIGHT_FIELD)
        balls = scene.kind[a] == SPHERE and scene.kind[b] == SPHERE
        if reason == SWEPT and (surface or balls):
            continue  # `surfaces` and `balls` judge these contacts at the time of impact
        place(scene, move.position, move.quaternion, a)
        place(scene, move.position, move.quaternion, b)
        p, n = withheld.point[i], withheld.normal[i]
        tolerance, size = tolerance_of(scene, a, b, p[0], p[1], p[2])
        holds = False
        if reason == SEAM:
            holds = seam_hides(scene, group, contacts, b, a, size) or seam_hides(
                scene, group, contacts, a, b, size
            )
        elif reason == SWEPT:
            least = withheld.gap[i]
            for j in range(withheld.gap.shape[0]):
                if withheld.shapes[j, 0] == a and withheld.shapes[j, 1] == b and withheld.reason[j] == SWEPT:
                    least = min(least, withheld.gap[j])
            holds = swept_holds(
                scene, move, a, b, n[0], n[1], n[2], least, withheld.part[i], tolerance, size, work
            )
        row = reason if 1 <= reason <= 2 else 0
        counts[row, 0] += 1
        if not holds:
            counts[row, 1] += 1
            if wrong < 0:
                wrong = i
    first_wrong[0] = wrong
