"""Contacts of pairs that have a fast way: balls, half-spaces, boxes and capsules in plain poses.

All other pairs are left to `kernels.touching` and `kernels.surface_touching`.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.closed_forms.ball_plane import (
    plane_box,
    plane_capsule,
    sphere_box,
    sphere_capsule,
)
from nonsmooth.collision.kernels.closed_forms.box_box import UNDECIDED, box_box
from nonsmooth.collision.kernels.closed_forms.capsule import capsule_capsule
from nonsmooth.collision.kernels.motion.fast_pairs import left_out, may_pass, pull_back

SPHERE, HALF_SPACE, BOX, CAPSULE = 0, 1, 2, 3
BODY, KIND, MATERIAL = 0, 1, 2  # columns of tags
MOST_CONTACTS = np.array([[1, 1, 1, 1], [1, 0, 8, 2], [1, 8, 8, 2], [1, 2, 2, 2]])  # by the two kinds


class Shapes(NamedTuple):
    """What never changes of s shapes, and the materials' pair tables."""

    tags: np.ndarray  # (s, 4) int32: body, kind, material, row of its hull, mesh or height field
    size: np.ndarray  # (s, 4)
    offset: np.ndarray  # (s, 3)
    rotation: np.ndarray  # (s, 4)
    friction: np.ndarray  # (m, m)
    restitution: np.ndarray  # (m, m)


class Motion(NamedTuple):
    """What may happen to the bodies in the step; a contact counts if its gap may shrink to the margin."""

    margin: float
    displacement: np.ndarray  # (bodies, 3)
    turn: np.ndarray  # (bodies,)
    reach: np.ndarray  # (bodies,) the most that a gap can lose by one body, and half the margin
    inner: np.ndarray  # (shapes,) inner radii, see `kernels.fast_pairs`
    led: np.ndarray  # (bodies,) bool: prescribed motion or joints
    hasty: np.ndarray  # (bodies,) bool, filled: bodies of pairs that are apart and whose ways are followed


class Output(NamedTuple):
    """The columns of `Contacts`."""

    shapes: np.ndarray
    bodies: np.ndarray
    feature: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray


class Scratch(NamedTuple):
    """Room for the contacts of one pair, and for clipping."""

    spots: np.ndarray  # (12, 7) point, normal, gap
    marks: np.ndarray  # (12,) int64 features
    polygon: np.ndarray  # (2, 12, 3)
    labels: np.ndarray  # (2, 12) int64


@inlined_kernel
def counts(motion, a, b, gap, nx, ny, nz):
    """True if the gap of bodies a and b is within the margin, or may be at the end of the step."""
    if gap <= motion.margin:
        return True
    if gap > motion.reach[a] + motion.reach[b]:
        return False
    d = motion.displacement
    closing = nx * (d[b, 0] - d[a, 0]) + ny * (d[b, 1] - d[a, 1]) + nz * (d[b, 2] - d[a, 2])
    return gap + closing - motion.turn[a] - motion.turn[b] <= motion.margin


@inlined_kernel
def write(out, at, shapes, a, b, feature, x, y, z, nx, ny, nz, gap):
    """Write contact number `at`."""
    out.shapes[at, 0], out.shapes[at, 1] = a, b
    out.bodies[at, 0], out.bodies[at, 1] = shapes.tags[a, BODY], shapes.tags[b, BODY]
    out.feature[at] = feature
    out.point[at, 0], out.point[at, 1], out.point[at, 2] = x, y, z
    out.normal[at, 0], out.normal[at, 1], out.normal[at, 2] = nx, ny, nz
    out.gap[at] = gap
    p, q = shapes.tags[a, MATERIAL], shapes.tags[b, MATERIAL]
    out.friction[at] = shapes.friction[p, q]
    out.restitution[at] = shapes.restitution[p, q]


@inlined_kernel
def _simple(shapes, a, b, ka, kb):
    """True for pairs of the first four kinds without rounding."""
    return ka <= CAPSULE and kb <= CAPSULE and shapes.size[a, 3] == 0.0 and shapes.size[b, 3] == 0.0


@kernel
def most_contacts(pairs, tags):
    """How many contacts `touch` can find at most."""
    most = 0
    for i in range(pairs.shape[0]):
        ka, kb = tags[pairs[i, 0], KIND], tags[pairs[i, 1], KIND]
        if ka <= CAPSULE and kb <= CAPSULE:
            most += MOST_CONTACTS[ka, kb]
    return most


@inner_kernel
def _manifold(p, q, kp, kq, shapes, centre, axes, reach, scratch):
    """Contacts of shapes p and q of kinds kp ≤ kq in scratch, normals from p to q; their number."""
    size, spots, marks = shapes.size, scratch.spots, scratch.marks
    if kp == SPHERE:
        if kq == BOX:
            return sphere_box(p, q, size, centre, axes, spots, marks)
        return sphere_capsule(p, q, size, centre, axes, spots, marks)
    if kp == HALF_SPACE:
        if kq == BOX:
            return plane_box(p, q, size, centre, axes, spots, marks)
        return plane_capsule(p, q, size, centre, axes, spots, marks)
    if kp == CAPSULE:
        return capsule_capsule(p, q, size, centre, axes, spots, marks)
    if kq == CAPSULE:
        return UNDECIDED
    return box_box(p, q, size, centre, axes, reach, scratch.polygon, scratch.labels, spots, marks)


@inlined_kernel
def write_counting(count, a, b, sign, shapes, motion, spots, marks, out, found):
    """Write those of the `count` spots of shapes a and b that count in this step, by ascending marks.

    `sign` is -1 where the spots' normals lead from b to a. Returns the number of contacts after it.
    """
    body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
    for _ in range(count):
        least = -1
        for i in range(count):
            if marks[i] >= 0 and (least < 0 or marks[i] < marks[least]):
                least = i
        nx, ny, nz = sign * spots[least, 3], sign * spots[least, 4], sign * spots[least, 5]
        gap = spots[least, 6]
        if counts(motion, body_a, body_b, gap, nx, ny, nz):
            x, y, z = spots[least, 0], spots[least, 1], spots[least, 2]
            write(out, found, shapes, a, b, marks[least], x, y, z, nx, ny, nz, gap)
            found += 1
        marks[least] = -1
    return found


@inner_kernel
def _touch_others(a, b, shapes, centre, axes, motion, scratch, out, found):
    """Write the contacts of one pair, by ascending features, after the first `found`; the new number.

    Returns -1 where there is no closed form, and where the motion of the two decides whether and where they
    meet: they are further apart than the margin, or may fly past each other.
    """
    ka, kb = shapes.tags[a, KIND], shapes.tags[b, KIND]
    p, q, sign = (a, b, 1.0) if ka <= kb else (b, a, -1.0)
    body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
    reach = motion.reach[body_a] + motion.reach[body_b]
    count = _manifold(p, q, min(ka, kb), max(ka, kb), shapes, centre, axes, reach, scratch)
    spots, marks = scratch.spots, scratch.marks
    if count == UNDECIDED:
        return -1
    if count > 0 and ka != HALF_SPACE and kb != HALF_SPACE:
        k = 0
        for i in range(1, count):
            k = i if spots[i, 6] < spots[k, 6] else k
        nearest = spots[k, 6]
        if nearest > motion.margin:
            return -1 if nearest <= reach else found
        d, turn = motion.displacement, motion.turn[body_a] + motion.turn[body_b]
        w = d[body_b, 0] - d[body_a, 0], d[body_b, 1] - d[body_a, 1], d[body_b, 2] - d[body_a, 2]
        nx, ny, nz = sign * spots[k, 3], sign * spots[k, 4], sign * spots[k, 5]
        if may_pass(nearest, nx, ny, nz, *w, turn, motion.margin):
            return -1
    return write_counting(count, a, b, sign, shapes, motion, spots, marks, out, found)


@inner_kernel
def _pass_balls(a, b, centre, motion, body_a, body_b, gap, nx, ny, nz):
    """Whether two balls, with the gap and the unit vector n of now, fly past each other in the step; and n at
    their closest approach, the part of the step until then, and the gap there.

    The plane across n separates them all along the way.
    """
    d, turn = motion.displacement, motion.turn[body_a] + motion.turn[body_b]
    wx, wy, wz = d[body_b, 0] - d[body_a, 0], d[body_b, 1] - d[body_a, 1], d[body_b, 2] - d[body_a, 2]
    if not may_pass(gap, nx, ny, nz, wx, wy, wz, turn, motion.margin):
        return False, nx, ny, nz, 0.0, gap
    x, y, z = centre[b, 0] - centre[a, 0], centre[b, 1] - centre[a, 1], centre[b, 2] - centre[a, 2]
    part = min(-(x * wx + y * wy + z * wz) / (wx * wx + wy * wy + wz * wz), 1.0)
    x, y, z = x + part * wx, y + part * wy, z + part * wz
    length = math.sqrt(x * x + y * y + z * z)
    least = length - centre[a, 3] - centre[b, 3]
    if least <= turn:
        return False, nx, ny, nz, 0.0, gap
    return True, x / length, y / length, z / length, part, least


@kernel
def touch(pairs, shapes, centre, axes, motion, scratch, out, parts, later):
    """Write the contacts of pairs with a closed form; their number. `out` has room for `most_contacts`.

    `centre` (s, 4) holds centres and, for balls, radii; `axes` (s, 3, 3) the axes as columns. `parts`, which
    begins as zeros, takes the part of the step whose normal a contact has; how many have one is returned.
    The pairs that are left to the kernels for solids are listed in `later` (p,), whose length is returned.
    """
    found, passing, left = 0, 0, 0
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        ka, kb = shapes.tags[a, KIND], shapes.tags[b, KIND]
        if ka == SPHERE and kb == SPHERE:
            ra, rb = centre[a, 3], centre[b, 3]
            nx, ny, nz = (
                centre[b, 0] - centre[a, 0],
                centre[b, 1] - centre[a, 1],
                centre[b, 2] - centre[a, 2],
            )
            length = math.sqrt(nx * nx + ny * ny + nz * nz)
            gap = length - ra - rb
            if length > 0.0:
                nx, ny, nz = nx / length, ny / length, nz / length
            else:
                nx, ny, nz = 0.0, 0.0, 1.0
            body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
            if counts(motion, body_a, body_b, gap, nx, ny, nz):
                if gap > motion.margin and left_out(motion, a, b, body_a, body_b):
                    continue
                passes, nx, ny, nz, part, gap = _pass_balls(
                    a, b, centre, motion, body_a, body_b, gap, nx, ny, nz
                )
                middle = ra + 0.5 * gap
                x, y, z = centre[a, 0] + middle * nx, centre[a, 1] + middle * ny, centre[a, 2] + middle * nz
                if passes:
                    if gap > motion.margin:
                        continue
                    d, back = motion.displacement, part * pull_back(motion.led[body_a], motion.led[body_b])
                    wx, wy, wz = (
                        d[body_b, 0] - d[body_a, 0],
                        d[body_b, 1] - d[body_a, 1],
                        d[body_b, 2] - d[body_a, 2],
                    )
                    x, y, z = x - back * wx, y - back * wy, z - back * wz
                    gap -= part * (nx * wx + ny * wy + nz * wz)
                    parts[found] = part
                    passing += 1
                write(out, found, shapes, a, b, 0, x, y, z, nx, ny, nz, gap)
                found += 1
        elif ka + kb == 1:
            plane, ball = (a, b) if ka == HALF_SPACE else (b, a)
            radius = centre[ball, 3]
            nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
            height = (
                nx * (centre[ball, 0] - centre[plane, 0])
                + ny * (centre[ball, 1] - centre[plane, 1])
                + nz * (centre[ball, 2] - centre[plane, 2])
            )
            gap = height - radius
            if counts(motion, shapes.tags[plane, BODY], shapes.tags[ball, BODY], gap, nx, ny, nz):
                drop = radius + 0.5 * gap
                x, y, z = (
                    centre[ball, 0] - drop * nx,
                    centre[ball, 1] - drop * ny,
                    centre[ball, 2] - drop * nz,
                )
                if plane == b:
                    nx, ny, nz = -nx, -ny, -nz
                write(out, found, shapes, a, b, 0, x, y, z, nx, ny, nz, gap)
                found += 1
        else:
            after = -1
            if _simple(shapes, a, b, ka, kb):
                after = _touch_others(a, b, shapes, centre, axes, motion, scratch, out, found)
            if after < 0:
                later[left] = i
                left += 1
            else:
                found = after
    return found, passing, left
