"""Are contacts withheld, or their normals changed, for the reason that is stated?"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.check.direction import best_axis, is_polytope, search
from nonsmooth.collision.kernels.check.rows import angle_between, chosen, tolerance_of
from nonsmooth.collision.kernels.check.support import (
    ELLIPSOID,
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
ANOTHER_WAY = 0.1  # rad: angle of a contact to the plane from which on its mover need not be held there
HELD = 0.07  # part of its diameter by which a mover may reach beyond the points where it is held
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


@inlined_kernel
def face_of(group, contacts, i, hidden, mover):
    """Contact i as a plane: True if it is one of `mover` with a third shape that does not move against
    `hidden`, the normal from the third shape, and a point of the third shape."""
    shapes, point, normal, gap = contacts
    a, b = shapes[i, 0], shapes[i, 1]
    third, sign = (b, -1.0) if a == mover else (a, 1.0)
    found = (a == mover or b == mover) and third != hidden and group[third] == group[hidden]
    ux, uy, uz = sign * normal[i, 0], sign * normal[i, 1], sign * normal[i, 2]
    half = 0.5 * gap[i]
    return found, (ux, uy, uz), (point[i, 0] - half * ux, point[i, 1] - half * uy, point[i, 2] - half * uz)


@inlined_kernel
def same_plane(u, p, v, q, limit):
    """True if the planes through p and q with normals u and v are one but for a height `limit`."""
    rise = u[0] * (q[0] - p[0]) + u[1] * (q[1] - p[1]) + u[2] * (q[2] - p[2])
    return angle_between(u[0], u[1], u[2], v[0], v[1], v[2]) <= SEAM_STEP and abs(rise) <= limit


@inner_kernel
def held_near(scene, group, contacts, hidden, mover, u, p, x, y, z, angle):
    """True if the mover touches the plane (u, p) near its point (x, y, z), or on both sides of that.

    A ball that touches along two directions with an angle between them touches at points that are its radius
    times the angle apart: the radius is at most the mover's diameter.
    """
    size = 2.0 * scene.ball[mover, 3]
    limit = (HELD + angle) * size
    gap = contacts[3]
    for i in range(gap.shape[0]):
        found, v, q = face_of(group, contacts, i, hidden, mover)
        if not (found and same_plane(u, p, v, q, SEAM_STEP * size)):
            continue
        for j in range(i + 1):
            found, v, r = face_of(group, contacts, j, hidden, mover)
            if not (found and same_plane(u, p, v, r, SEAM_STEP * size)):
                continue
            ex, ey, ez = r[0] - q[0], r[1] - q[1], r[2] - q[2]
            square = ex * ex + ey * ey + ez * ez
            dx, dy, dz = x - q[0], y - q[1], z - q[2]
            part = min(max((dx * ex + dy * ey + dz * ez) / square, 0.0), 1.0) if square > 0.0 else 0.0
            dx, dy, dz = dx - part * ex, dy - part * ey, dz - part * ez
            if dx * dx + dy * dy + dz * dz <= limit * limit:
                return True
    return False


@inner_kernel
def seam_hides(scene, group, contacts, withheld, w, hidden, mover, size):
    """True if `mover` touches a third shape, and `hidden` does not rise above the plane of that contact.

    The third shape must not move against `hidden`. If row w of `withheld`, the contact of both, has nearly
    the plane's normal, the mover must be held there: it may lie across both shapes with a tilt.
    """
    sign = 1.0 if withheld.shapes[w, 1] == mover else -1.0
    n, half = withheld.normal[w], 0.5 * withheld.gap[w]
    mx, my, mz = sign * n[0], sign * n[1], sign * n[2]
    if scene.kind[hidden] == HALF_SPACE:
        return False
    for i in range(contacts[3].shape[0]):
        found, u, p = face_of(group, contacts, i, hidden, mover)
        if not found:
            continue
        x, y, z = farthest(scene, hidden, u[0], u[1], u[2])
        above = (
            u[0] * (scene.centre[hidden, 0] + x - p[0])
            + u[1] * (scene.centre[hidden, 1] + y - p[1])
            + u[2] * (scene.centre[hidden, 2] + z - p[2])
            + scene.radius[hidden]
        )
        if above > SEAM_STEP * size:
            continue
        angle = angle_between(u[0], u[1], u[2], mx, my, mz)
        if angle >= ANOTHER_WAY or scene.kind[mover] in (SPHERE, ELLIPSOID):
            return True
        o = withheld.point[w]
        x, y, z = o[0] + half * mx, o[1] + half * my, o[2] + half * mz
        if held_near(scene, group, contacts, hidden, mover, u, p, x, y, z, angle):
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
            holds = seam_hides(scene, group, contacts, withheld, i, b, a, size) or seam_hides(
                scene, group, contacts, withheld, i, a, b, size
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
