"""Contacts at seams between neighbours that lie flush, which would stop a body where there is nothing to hit.

A body that slides over two boxes side by side touches the face of one, and the edge or the side of the
other. If no point of the other lies above the plane of that face, the body, which is held above the
plane, cannot meet it: the contact is withheld. That holds as long as the two boxes do not move against one
another: they must belong to one body, or both be fixed. What rises above the plane by less than the smaller
of both shapes' `level` counts as flush. The certificate looks at the same condition with its own support
functions.
"""

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CONVEX_HULL,
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
def _hides(k, at, c, side, s, contacts, shapes, hulls, centre, axes, level):
    """True if contact k of shape s (which is on side `at`) lies on a face that hides its contact c."""
    nx, ny, nz = _outward(contacts, k, at)
    mx, my, mz = _outward(contacts, c, side)
    other = contacts.shapes[c, 1 - side]
    if nx * mx + ny * my + nz * mz > _WAYS:
        # Nearly the same way: a flat body that lies across both needs what it stands on.
        if shapes.tags[s, KIND] in (BOX, CONVEX_HULL, MESH):
            return False
        if _is_face_normal(shapes, hulls, other, axes, mx, my, mz):
            return False
    px, py, pz = contacts.point[k, 0], contacts.point[k, 1], contacts.point[k, 2]
    hidden = solid_of(shapes, other, centre, axes, px, py, pz)
    x, y, z, _ = support(hidden, hulls, nx, ny, nz, 0)
    # The face is half a gap below the contact's point.
    return nx * x + ny * y + nz * z + hidden.radius + 0.5 * contacts.gap[k] <= min(level[s], level[other])


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


@kernel
def find_hidden(contacts, first, order, shapes, group, hulls, centre, axes, level, hidden, faces):
    """Fill `hidden` (c,) with the contact whose face hides each one, -1 for none; how many are hidden.

    Shapes of one `group` (s,) do not move against one another; `level` (s,) in m is as above.

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
                known = known or _same_plane(faces[f] // 2, faces[f] % 2, c, side, contacts, level[s])
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
                if third == other or group[third] != group[other] or hidden[k] >= 0:
                    continue
                if _hides(k, at, c, side, s, contacts, shapes, hulls, centre, axes, level):
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
