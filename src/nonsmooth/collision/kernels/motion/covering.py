"""How far pairs of shapes can go along their ways in a step before they meet: conservative advancement.

Along the best direction n, no gap shrinks faster than the centres approach along n and than turning moves
points, |θ| times the body's radius about its centre: nothing can meet before gap / rate. A body that turns
stays in its ball, whose gap closes by the approach of the centres alone: the later of the two times is taken,
and the next direction is found there. Both bounds hold in overlap too, where the gap is minus the depth.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import HEIGHT_FIELD, MESH, support
from nonsmooth.collision.kernels.motion.fast_pairs import approach
from nonsmooth.collision.kernels.motion.placing import BODY, KIND, PIECE, solid_of
from nonsmooth.collision.kernels.surfaces.meshes import mesh_contacts

_STEPS = 500
_DEEP = 0.25  # part of both inner radii that a pair in touch may overlap at the end of its way
_CLOSE = 1e-3  # part of both inner radii within which a pair counts as met, if the margin is less
_LOOK = 0.05  # part of the way that is searched for triangles at once
NEVER = 2.0


class Course(NamedTuple):
    """Ways of all bodies in a step: x + t d, turned by t θ about their centres, t from 0 to 1."""

    position: np.ndarray  # (n, 3) centres of mass
    displacement: np.ndarray  # (n, 3) d in m
    rotation: np.ndarray  # (n, 3) θ in rad, world frame
    radius: np.ndarray  # (n,) of the ball about the centre that holds the body; 0 where turning moves nothing


@inner_kernel
def _place_at(course, body, s, t, centre, axes, place, turned):
    """Fill `place` (4,) and `turned` (3, 3) with centre and axes of shape s of a body at time t."""
    x, y, z = course.rotation[body, 0], course.rotation[body, 1], course.rotation[body, 2]
    angle = math.sqrt(x * x + y * y + z * z)
    rx, ry, rz = (
        centre[s, 0] - course.position[body, 0],
        centre[s, 1] - course.position[body, 1],
        centre[s, 2] - course.position[body, 2],
    )
    place[3] = centre[s, 3]
    if angle == 0.0:
        place[0] = centre[s, 0] + t * course.displacement[body, 0]
        place[1] = centre[s, 1] + t * course.displacement[body, 1]
        place[2] = centre[s, 2] + t * course.displacement[body, 2]
        for i in range(3):
            for j in range(3):
                turned[i, j] = axes[s, i, j]
        return
    x, y, z = x / angle, y / angle, z / angle
    c, si = math.cos(t * angle), math.sin(t * angle)
    d = 1.0 - c
    r00, r01, r02 = c + d * x * x, d * x * y - si * z, d * x * z + si * y
    r10, r11, r12 = d * x * y + si * z, c + d * y * y, d * y * z - si * x
    r20, r21, r22 = d * x * z - si * y, d * y * z + si * x, c + d * z * z
    for j in range(3):
        u, v, w = axes[s, 0, j], axes[s, 1, j], axes[s, 2, j]
        turned[0, j] = r00 * u + r01 * v + r02 * w
        turned[1, j] = r10 * u + r11 * v + r12 * w
        turned[2, j] = r20 * u + r21 * v + r22 * w
    for k in range(3):
        place[k] = course.position[body, k] + t * course.displacement[body, k]
    place[0] += r00 * rx + r01 * ry + r02 * rz
    place[1] += r10 * rx + r11 * ry + r12 * rz
    place[2] += r20 * rx + r21 * ry + r22 * rz


@inlined_kernel
def _levels(gap, margin, inner):
    """The gap at which a pair has met, and how much above it is near enough; inner: both radii together.

    Pairs that are apart stop within half of the margin, so that the next step has their contact. Those in
    touch have contacts, whose rows hold but for what turning adds: they stop where that gets deep.
    """
    if gap > margin:
        close = max(0.25 * margin, _CLOSE * inner)
        return 0.5 * margin - close, close
    deep = _DEEP * inner
    return max(min(-deep, gap - 0.5 * deep), -1.9 * deep), 0.25 * deep


@inlined_kernel
def _slack(course, body, solid, hulls, nx, ny, nz, t, x, y, z):
    """How far a body that turns may yet reach along n beyond its solid, whose coordinates begin at x."""
    if course.radius[body] == 0.0:
        return 0.0
    sx, sy, sz, _ = support(solid, hulls, nx, ny, nz, 0)
    reach = nx * (sx + x - course.position[body, 0] - t * course.displacement[body, 0])
    reach += ny * (sy + y - course.position[body, 1] - t * course.displacement[body, 1])
    reach += nz * (sz + z - course.position[body, 2] - t * course.displacement[body, 2])
    return max(course.radius[body] - reach - solid.radius, 0.0)


@inner_kernel
def _solids_meet(a, b, shapes, hulls, centre, axes, course, turn, inner, margin, work, room):
    """Part of the step (0 to 1) after which convex shapes a and b have met, NEVER if they do not."""
    body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
    d = course.displacement
    wx, wy, wz = d[body_b, 0] - d[body_a, 0], d[body_b, 1] - d[body_a, 1], d[body_b, 2] - d[body_a, 2]
    turning = turn[body_a] + turn[body_b]
    t, level, close = 0.0, 0.0, 0.0
    for step in range(_STEPS):
        _place_at(course, body_a, a, t, centre, axes, room.place[a], room.turned[a])
        _place_at(course, body_b, b, t, centre, axes, room.place[b], room.turned[b])
        x, y, z = room.place[a, 0], room.place[a, 1], room.place[a, 2]
        p = solid_of(shapes, a, room.place, room.turned, x, y, z)
        q = solid_of(shapes, b, room.place, room.turned, x, y, z)
        gap, nx, ny, nz = separation(p, q, hulls, math.inf, work)[:4]
        if step == 0:
            level, close = _levels(gap, margin, inner)
            if gap <= level:
                return NEVER
        if gap <= level + close:
            return t
        closing = -(nx * wx + ny * wy + nz * wz)
        later = math.inf
        if closing + turning > 0.0:
            later = (gap - level) / (closing + turning)
        if turning > 0.0:
            apart = gap - level
            if turn[body_a] > 0.0:
                apart -= _slack(course, body_a, p, hulls, nx, ny, nz, t, x, y, z)
            if turn[body_b] > 0.0:
                apart -= _slack(course, body_b, q, hulls, -nx, -ny, -nz, t, x, y, z)
            if apart > 0.0:
                later = max(later, apart / closing if closing > 0.0 else math.inf)
        t += later
        if t >= 1.0:
            return NEVER
    return t


@inner_kernel
def _surface_meets(surface, s, shapes, meshes, hulls, centre, axes, course, turn, inner, margin, work, room):
    """The same for a surface and a convex shape; −1 if there are more contacts than there is room for."""
    body_s, body_m = shapes.tags[s, BODY], shapes.tags[surface, BODY]
    rate = approach(course.displacement, turn, body_s, body_m)
    piece = np.int64(shapes.tags[surface, PIECE])
    t, level, close = 0.0, 0.0, 0.0
    for step in range(_STEPS):
        _place_at(course, body_m, surface, t, centre, axes, room.place[surface], room.turned[surface])
        _place_at(course, body_s, s, t, centre, axes, room.place[s], room.turned[s])
        x, y, z = room.place[surface, 0], room.place[surface, 1], room.place[surface, 2]
        solid = solid_of(shapes, s, room.place, room.turned, 0.0, 0.0, 0.0)
        look = margin + _LOOK * rate
        count = mesh_contacts(
            piece, x, y, z, room.turned[surface], solid, meshes, hulls, look, work, room.spots, room.marks
        )
        if count > room.spots.shape[0]:
            return -1.0
        gap = look
        for i in range(count):
            gap = min(gap, room.spots[i, 6])
        if step == 0:
            level, close = _levels(gap, margin, inner)
            if gap <= level:
                return NEVER
        if gap <= level + close:
            return t
        t += (gap - level) / rate
        if t >= 1.0:
            return NEVER
    return t


class Room(NamedTuple):
    """Shapes at a time within the step, and contacts of one pair with a mesh."""

    place: np.ndarray  # (s, 4)
    turned: np.ndarray  # (s, 3, 3)
    spots: np.ndarray  # (k, 7)
    marks: np.ndarray  # (k,)


@kernel
def meet_solids(pairs, shapes, hulls, centre, axes, course, turn, inner, margin, work, room, part):
    """Fill `part` (p,) with the part of the step after which each pair of convex shapes meets, or NEVER."""
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        part[i] = _solids_meet(
            a, b, shapes, hulls, centre, axes, course, turn, inner[a] + inner[b], margin, work, room
        )


@kernel
def meet_surfaces(
    pairs, begin, shapes, meshes, hulls, centre, axes, course, turn, inner, margin, work, room, part
):
    """The same for pairs from `begin` on of a mesh or height field and a convex shape.

    Returns the pair whose contacts there was no room for, and their number if all are done.
    """
    for i in range(begin, pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        surface, s = (a, b) if shapes.tags[a, KIND] in (MESH, HEIGHT_FIELD) else (b, a)
        found = _surface_meets(
            surface,
            s,
            shapes,
            meshes,
            hulls,
            centre,
            axes,
            course,
            turn,
            inner[a] + inner[b],
            margin,
            work,
            room,
        )
        if found < 0.0:
            return i
        part[i] = found
    return pairs.shape[0]
