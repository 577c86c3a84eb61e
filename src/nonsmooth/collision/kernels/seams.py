"""Contacts at seams between neighbours that lie flush, which would stop a body where there is nothing to hit.

A body that slides over two boxes side by side touches the face of one, and the edge or the side of the
other. If no point of the other lies above the plane of that face, the body, which is held above the
plane, cannot meet it: the contact is withheld. That holds as long as the two boxes do not move against one
another: they must belong to one body, or both be fixed. What rises above the plane by less than the smaller
of both shapes' `level` counts as flush. The certificate looks at the same condition with its own support
functions.

The body is held where it touches faces in the plane, and nowhere else: a contact whose normal is nearly that
of the plane may carry a body that lies across both boxes with a tilt, or rocks onto the second. It is
withheld if the ball of the body's round side that it touches is held: if the core's point under the contact
is between those under two contacts with faces in the plane.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
    support,
    to_local,
)
from nonsmooth.collision.kernels.motion.placing import KIND, PIECE, solid_of

_WAYS = 0.995  # cosine between normals of which one is another way, not the same one with a tilt
_FACE = 1e-12  # by how much the cosine between a contact's normal and that of a face may miss one


class Flush(NamedTuple):
    """What is constant of shapes at seams."""

    group: np.ndarray  # (s,) int32: shapes of one group do not move against one another
    level: np.ndarray  # (s,) height in m up to which a shape counts as flush
    beside: np.ndarray  # (s,) length in m by which a shape may reach beyond the points where it is held


@inlined_kernel
def _is_face_normal(shapes, hulls, s, axes, x, y, z):
    """True if (x, y, z), pointing out of shape s, is the normal of one of its flat faces."""
    kind = shapes.tags[s, KIND]
    if kind in (HALF_SPACE, MESH, HEIGHT_FIELD):
        return True
    if kind == SPHERE:
        return False
    lx, ly, lz = to_local(axes[s], x, y, z)
    if kind == BOX:
        return max(abs(lx), max(abs(ly), abs(lz))) >= 1.0 - _FACE
    if kind == CONVEX_HULL:
        hull = shapes.tags[s, PIECE]
        for f in range(hulls.first[hull, 1], hulls.first[hull + 1, 1]):
            if hulls.planes[f, 0] * lx + hulls.planes[f, 1] * ly + hulls.planes[f, 2] * lz >= 1.0 - _FACE:
                return True
    return False


@inlined_kernel
def _outward(contacts, c, side):
    """The normal of contact c from the shape that is not on `side` to the one that is."""
    sign = 1.0 if side == 1 else -1.0
    return sign * contacts.normal[c, 0], sign * contacts.normal[c, 1], sign * contacts.normal[c, 2]


@inlined_kernel
def _same_plane(k, at, j, side, contacts, level):
    """True if contacts k and j of one shape lie on faces in one plane."""
    nx, ny, nz = _outward(contacts, k, at)
    mx, my, mz = _outward(contacts, j, side)
    if nx * mx + ny * my + nz * mz < 1.0 - _FACE:
        return False
    p, q = contacts.point[k], contacts.point[j]
    rise = nx * (q[0] - p[0]) + ny * (q[1] - p[1]) + nz * (q[2] - p[2])
    return abs(rise + 0.5 * (contacts.gap[k] - contacts.gap[j])) <= 0.5 * level


@inner_kernel
def _core_point(c, side, contacts, shapes, centre, axes):
    """The point of the core whose ball touches in contact c, of the shape on `side`, from the shape's centre.

    Round sides have balls too: those of a lying cylinder or cone are on its axis, and an ellipsoid is one.
    """
    s = contacts.shapes[c, side]
    mx, my, mz = _outward(contacts, c, side)
    solid = solid_of(shapes, s, centre, axes, 0.0, 0.0, 0.0)
    if solid.kind == ELLIPSOID:
        return 0.0, 0.0, 0.0
    depth = 0.5 * contacts.gap[c] + solid.radius
    x = contacts.point[c, 0] + depth * mx - solid.x
    y = contacts.point[c, 1] + depth * my - solid.y
    z = contacts.point[c, 2] + depth * mz - solid.z
    if solid.kind in (CYLINDER, CONE):
        ax, ay, az = axes[s, 0, 2], axes[s, 1, 2], axes[s, 2, 2]
        if abs(ax * mx + ay * my + az * mz) < _WAYS:
            along = ax * x + ay * y + az * z
            return along * ax, along * ay, along * az
    return x, y, z


@inner_kernel
def _is_held(c, side, k, at, listed, contacts, shapes, centre, axes, flush, hidden):
    """True if the ball that touches in contact c is between balls held by faces in the plane of contact k.

    `listed` are the contacts of its shape, as in `order`.
    """
    s, other = contacts.shapes[c, side], contacts.shapes[c, 1 - side]
    x, y, z = _core_point(c, side, contacts, shapes, centre, axes)
    rim = shapes.size[s, 0] if shapes.tags[s, KIND] in (CYLINDER, CONE) else 0.0
    for i in range(listed.shape[0]):
        if not _holds(listed[i], k, at, other, contacts, flush, hidden):
            continue
        px, py, pz = _core_point(listed[i] // 2, listed[i] % 2, contacts, shapes, centre, axes)
        for j in range(i + 1):
            if not _holds(listed[j], k, at, other, contacts, flush, hidden):
                continue
            qx, qy, qz = _core_point(listed[j] // 2, listed[j] % 2, contacts, shapes, centre, axes)
            qx, qy, qz = qx - px, qy - py, qz - pz
            square = qx * qx + qy * qy + qz * qz
            along = (x - px) * qx + (y - py) * qy + (z - pz) * qz
            part = min(max(along / square, 0.0), 1.0) if square > 0.0 else 0.0
            dx, dy, dz = x - px - part * qx, y - py - part * qy, z - pz - part * qz
            limit = flush.beside[s]
            if 0.0 < part < 1.0 and square < rim * rim:
                limit += rim - math.sqrt(rim * rim - 0.25 * square)  # from the chord to the arc
            if dx * dx + dy * dy + dz * dz <= limit * limit:
                return True
    return False


@inlined_kernel
def _holds(entry, k, at, other, contacts, flush, hidden):
    """True if a contact, listed as in `order`, is with a face in the plane of contact k.

    The face must be of a third shape, which does not move against `other`.
    """
    j, side = entry // 2, entry % 2
    third = contacts.shapes[j, 1 - side]
    return (
        third != other
        and flush.group[third] == flush.group[other]
        and hidden[j] < 0
        and _same_plane(k, at, j, side, contacts, flush.level[contacts.shapes[j, side]])
    )


@inner_kernel
def _is_needed(c, side, k, at, listed, contacts, shapes, hulls, centre, axes, flush, hidden):
    """True if the body needs contact c, whose normal is nearly that of contact k, to stay above its plane."""
    other = contacts.shapes[c, 1 - side]
    mx, my, mz = _outward(contacts, c, side)
    if _is_face_normal(shapes, hulls, other, axes, mx, my, mz):
        return True
    for i in range(listed.shape[0]):
        j, of_j = listed[i] // 2, listed[i] % 2
        if contacts.shapes[j, 1 - of_j] != other:
            continue
        x, y, z = _outward(contacts, j, of_j)
        # contacts of one pair and normal stay or go together
        if x * mx + y * my + z * mz >= 1.0 - _FACE and not _is_held(
            j, of_j, k, at, listed, contacts, shapes, centre, axes, flush, hidden
        ):
            return True
    return False


@inlined_kernel
def _hides(k, at, c, side, listed, contacts, shapes, hulls, centre, axes, flush, hidden):
    """True if contact k of a shape (which is on its side `at`) lies on a face that hides its contact c."""
    s, other = contacts.shapes[c, side], contacts.shapes[c, 1 - side]
    nx, ny, nz = _outward(contacts, k, at)
    mx, my, mz = _outward(contacts, c, side)
    if nx * mx + ny * my + nz * mz > _WAYS and _is_needed(
        c, side, k, at, listed, contacts, shapes, hulls, centre, axes, flush, hidden
    ):
        return False
    px, py, pz = contacts.point[k, 0], contacts.point[k, 1], contacts.point[k, 2]
    lower = solid_of(shapes, other, centre, axes, px, py, pz)
    x, y, z, _ = support(lower, hulls, nx, ny, nz, 0)
    # The face is half a gap below the contact's point.
    height = nx * x + ny * y + nz * z + lower.radius + 0.5 * contacts.gap[k]
    return height <= min(flush.level[s], flush.level[other])


@kernel
def find_hidden(contacts, first, order, shapes, hulls, centre, axes, flush, hidden, faces):
    """Fill `hidden` (c,) with the contact whose face hides each one, -1 for none; how many are hidden.

    `order` lists for every shape s, from `first`[s] on, 2 c + side of the contacts that it takes part in.
    `faces` (f,) is scratch: its length is the largest number of face planes that are tested for one shape.
    """
    count = 0
    for c in range(hidden.shape[0]):
        hidden[c] = -1
    for s in range(first.shape[0] - 1):
        begin, end = first[s], first[s + 1]
        one = contacts.shapes[order[begin] // 2, 1 - order[begin] % 2] if begin < end else -1
        several = False
        for i in range(begin, end):
            several = several or contacts.shapes[order[i] // 2, 1 - order[i] % 2] != one
        if not several:
            continue
        planes = 0
        for i in range(begin, end):
            c, side = order[i] // 2, order[i] % 2
            known = planes == faces.shape[0]
            for f in range(planes):
                known = known or _same_plane(faces[f] // 2, faces[f] % 2, c, side, contacts, flush.level[s])
            if known:
                continue
            nx, ny, nz = _outward(contacts, c, side)
            if _is_face_normal(shapes, hulls, contacts.shapes[c, 1 - side], axes, nx, ny, nz):
                faces[planes] = order[i]
                planes += 1
        for i in range(begin, end):
            c, side = order[i] // 2, order[i] % 2
            other = contacts.shapes[c, 1 - side]
            if hidden[c] >= 0 or shapes.tags[other, KIND] in (HALF_SPACE, MESH, HEIGHT_FIELD):
                continue
            for f in range(planes):
                k, at = faces[f] // 2, faces[f] % 2
                third = contacts.shapes[k, 1 - at]
                if third == other or flush.group[third] != flush.group[other] or hidden[k] >= 0:
                    continue
                if _hides(
                    k, at, c, side, order[begin:end], contacts, shapes, hulls, centre, axes, flush, hidden
                ):
                    hidden[c] = k
                    count += 1
                    break
    return count


@kernel
def list_by_shape(pairs, first, order):
    """Fill `first` (s + 1,) and `order` (2 c,) for `find_hidden` from the contacts' shapes (c, 2)."""
    for s in range(first.shape[0]):
        first[s] = 0
    for c in range(pairs.shape[0]):
        first[pairs[c, 0] + 1] += 1
        first[pairs[c, 1] + 1] += 1
    for s in range(first.shape[0] - 1):
        first[s + 1] += first[s]
    for c in range(pairs.shape[0] - 1, -1, -1):
        for side in (1, 0):
            s = pairs[c, side]
            first[s + 1] -= 1
            order[first[s + 1]] = 2 * c + side
    # Each start has moved down by one shape.
    for s in range(first.shape[0] - 1):
        first[s] = first[s + 1]
    first[first.shape[0] - 1] = 2 * pairs.shape[0]
