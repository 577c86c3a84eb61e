"""Boxes that lie face on face, quickly; for `spots` and `marks` see `ball_plane`.

All fifteen axes are tried. If a face has the largest separation and realises it, the other box's most opposed
face is clipped by its side walls (Sutherland and Hodgman): each corner of what is left is a contact, with
the mark that the kernels for convex solids give it. Edges that cross at one place are one contact. All else,
such as corners that are nearest and edges along one another, is left to those kernels.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.closed_forms.ball_plane import set_spot
from nonsmooth.collision.kernels.manifolds.clipping import crossing_mark, vertex_mark

UNDECIDED = -1
"""What is returned where the fast way does not apply."""
TIE = 2e-10
"""Part of the size within which two separations are equal; the first then counts."""
_DEEP = 0.02  # part of the smaller box from which on an overlap is left to the general method
_BESIDE = 1e-6  # part of the smaller box up to which a gap may be that of two corners
_PARALLEL = 1e-7  # sine below which edges have no direction across both
_BESIDE_SINE = 1e-3  # sine below which edges that cross may touch along their length
_AT_END = 1e-4  # part of the smaller box from a corner within which a crossing is left to the general method
_SLACK = 4e-6  # part of the size within which a corner of a flat box lies on a wall: equal boxes keep theirs
_ASIDE = 1e-9  # part of the size within which a corner of a tilted box does: edges that all but coincide
_FLAT = 1.0 - 1e-8  # cosine between faces that lie flat on one another
_LEAST_SLOPE = 0.7  # cosine between the faces up to which a clipped face is the one that lies on the other


@inlined_kernel
def _along(axes, p, i, x, y, z):
    return axes[p, 0, i] * x + axes[p, 1, i] * y + axes[p, 2, i] * z


@inlined_kernel
def _turned(axes, p, q, r):
    """Axes of q as p sees them: r[i, j] is the product of axis i of p and axis j of q."""
    for i in range(3):
        for j in range(3):
            r[i, j] = _along(axes, p, i, axes[q, 0, j], axes[q, 1, j], axes[q, 2, j])


@inlined_kernel
def _clip(polygon, labels, source, count, column, limit, slack, sign, label):
    """Cut a polygon by sign · coordinate ≤ limit; from half `source` of the buffers into the other half.

    Corners that are beyond by no more than `slack` are kept. `labels[source, i]` names the side from corner
    i to the next.
    """
    target = 1 - source
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here, there = sign * polygon[source, i, column] - limit, sign * polygon[source, j, column] - limit
        if here <= slack:
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k]
            labels[target, kept] = labels[source, i]
            kept += 1
        if (here <= slack) != (there <= slack):
            part = min(max(here / (here - there), 0.0), 1.0)
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k] + part * (
                    polygon[source, j, k] - polygon[source, i, k]
                )
            labels[target, kept] = label if here <= slack else labels[source, i]
            kept += 1
    return kept


@inlined_kernel
def _corner_of(face, plus, u, v, plus_u, plus_v):
    """Number of a corner of a box: bit k is set if it lies at the positive end of axis k."""
    return (plus << face) | (plus_u << u) | (plus_v << v)


@inlined_kernel
def _ends_of_side(k, face, plus, u, v):
    """Corners at both ends of side k of a face; its corners have the signs (+, +), (−, +), (−, −), (+, −)."""
    j = (k + 1) % 4
    return (
        _corner_of(face, plus, u, v, 1 if k in (0, 3) else 0, 1 if k < 2 else 0),
        _corner_of(face, plus, u, v, 1 if j in (0, 3) else 0, 1 if j < 2 else 0),
    )


@inlined_kernel
def _ends_of_wall(label, face, plus, u, v):
    """Corners at both ends of the edge below wall 4 (u+), 5 (u−), 6 (v+) or 7 (v−)."""
    if label < 6:
        end = 1 if label == 4 else 0
        return _corner_of(face, plus, u, v, end, 0), _corner_of(face, plus, u, v, end, 1)
    end = 1 if label == 6 else 0
    return _corner_of(face, plus, u, v, 0, end), _corner_of(face, plus, u, v, 1, end)


@inlined_kernel
def _name(x, y, before, after, polygon, su, sv, near, first, face, plus, u, v, other, down, a, b):
    """Mark of a corner of the shared area, as in `kernels.clipping`: `first` is 0 if the base is p, else 1.

    Places at a corner of p are named by it, then those at a corner of q, then crossings.
    """
    at_base = abs(abs(x) - su) <= near and abs(abs(y) - sv) <= near
    at_other = -1
    for k in range(4):
        if abs(x - polygon[1, 8 + k, 0]) <= near and abs(y - polygon[1, 8 + k, 1]) <= near:
            at_other = k
    if before < 4 and after < 4:
        at_other = after
    elif before >= 4 and after >= 4:
        at_base = True
    if at_base and (first == 0 or at_other < 0):
        return vertex_mark(first, _corner_of(face, plus, u, v, 1 if x > 0.0 else 0, 1 if y > 0.0 else 0))
    if at_other >= 0:
        corner, _ = _ends_of_side(at_other, other, down, a, b)
        return vertex_mark(1 - first, corner)
    wall, side = (before, after) if before >= 4 else (after, before)
    w0, w1 = _ends_of_wall(wall, face, plus, u, v)
    s0, s1 = _ends_of_side(side, other, down, a, b)
    if first == 0:
        return crossing_mark(w0, w1, s0, s1)
    return crossing_mark(s0, s1, w0, w1)


@inlined_kernel
def _clip_face(base, face, side, other, flip, size, centre, axes, scale, near, polygon, labels, spots, marks):
    """Contacts on one face of box `base` with box `other`; `flip` −1 turns normals towards `base`.

    Lengths to compare with: `scale` where faces lie on one another, `near` where edges do.
    """
    nx, ny, nz = side * axes[base, 0, face], side * axes[base, 1, face], side * axes[base, 2, face]
    opposed, most = 0, -1.0
    for j in range(3):
        slope = abs(_along(axes, other, j, nx, ny, nz))
        if slope > most + TIE:
            opposed, most = j, slope
    down = -1.0 if _along(axes, other, opposed, nx, ny, nz) > 0.0 else 1.0
    u, v = (face + 1) % 3, (face + 2) % 3
    a, b = (opposed + 1) % 3, (opposed + 2) % 3
    for corner in range(4):
        wa = size[other, a] if corner == 0 or corner == 3 else -size[other, a]
        wb = size[other, b] if corner < 2 else -size[other, b]
        wc = down * size[other, opposed]
        x = centre[other, 0] - centre[base, 0]
        y = centre[other, 1] - centre[base, 1]
        z = centre[other, 2] - centre[base, 2]
        x += wa * axes[other, 0, a] + wb * axes[other, 0, b] + wc * axes[other, 0, opposed]
        y += wa * axes[other, 1, a] + wb * axes[other, 1, b] + wc * axes[other, 1, opposed]
        z += wa * axes[other, 2, a] + wb * axes[other, 2, b] + wc * axes[other, 2, opposed]
        polygon[0, corner, 0] = _along(axes, base, u, x, y, z)
        polygon[0, corner, 1] = _along(axes, base, v, x, y, z)
        polygon[0, corner, 2] = nx * x + ny * y + nz * z - size[base, face]
        polygon[1, 8 + corner, 0], polygon[1, 8 + corner, 1] = polygon[0, corner, 0], polygon[0, corner, 1]
        labels[0, corner] = corner
    if most < _LEAST_SLOPE:
        return 0
    # How the gap changes across the face: the lower plane of the other box.
    rise = _along(axes, other, opposed, nx, ny, nz)
    gx = -(axes[other, 0, opposed] * axes[base, 0, u] + axes[other, 1, opposed] * axes[base, 1, u]
           + axes[other, 2, opposed] * axes[base, 2, u]) / rise  # fmt: skip
    gy = -(axes[other, 0, opposed] * axes[base, 0, v] + axes[other, 1, opposed] * axes[base, 1, v]
           + axes[other, 2, opposed] * axes[base, 2, v]) / rise  # fmt: skip
    slack = _SLACK * scale if most > _FLAT else _ASIDE * near
    count = _clip(polygon, labels, 0, 4, 0, size[base, u], slack, 1.0, 4)
    count = _clip(polygon, labels, 1, count, 0, size[base, u], slack, -1.0, 5)
    count = _clip(polygon, labels, 0, count, 1, size[base, v], slack, 1.0, 6)
    count = _clip(polygon, labels, 1, count, 1, size[base, v], slack, -1.0, 7)
    for i in range(count):
        before, after = labels[0, i - 1 if i > 0 else count - 1], labels[0, i]
        x = min(max(polygon[0, i, 0], -size[base, u]), size[base, u])
        y = min(max(polygon[0, i, 1], -size[base, v]), size[base, v])
        gap = polygon[0, i, 2] + gx * (x - polygon[0, i, 0]) + gy * (y - polygon[0, i, 1])
        height = size[base, face] + 0.5 * gap
        mark = _name(
            x, y, before, after, polygon, size[base, u], size[base, v], 1.5 * slack,
            0 if flip > 0.0 else 1, face, 1 if side > 0.0 else 0, u, v, opposed, 1 if down > 0.0 else 0, a, b,
        )  # fmt: skip
        set_spot(
            spots, marks, i, mark,
            centre[base, 0] + x * axes[base, 0, u] + y * axes[base, 0, v] + height * nx,
            centre[base, 1] + x * axes[base, 1, u] + y * axes[base, 1, v] + height * ny,
            centre[base, 2] + x * axes[base, 2, u] + y * axes[base, 2, v] + height * nz,
            flip * nx, flip * ny, flip * nz, gap,
        )  # fmt: skip
    return count


@inlined_kernel
def _without_doubles(count, spots, marks):
    """One contact for those of one mark, the deeper; their number."""
    kept = 0
    for i in range(count):
        place = kept
        for k in range(kept):
            if marks[k] == marks[i]:
                place = k
        if place < kept and spots[place, 6] <= spots[i, 6]:
            continue
        for k in range(7):
            spots[place, k] = spots[i, k]
        marks[place] = marks[i]
        kept = max(kept, place + 1)
    return kept


@inlined_kernel
def _over_edge(base, face, size, centre, axes, spot, small):
    """True if a contact lies over an edge of the face."""
    for k in range(3):
        if k != face:
            along = 0.0
            for i in range(3):
                along += axes[base, i, k] * (spot[i] - centre[base, i])
            if abs(along) > size[base, k] - _BESIDE * small:
                return True
    return False


@inlined_kernel
def _rise(base, i, start, other, j, far, size, axes, nx, ny, nz):
    """How much the gap grows from a crossing along edge i of `base` to the next corner of what faces share.

    The crossing is at `start` on that edge and at `far` on edge j of `other`, whose face next to it, the one
    more along n (from `base` to `other`), falls away.
    """
    f, k = (j + 1) % 3, (j + 2) % 3
    if abs(_along(axes, other, f, nx, ny, nz)) < abs(_along(axes, other, k, nx, ny, nz)):
        f, k = k, f
    ex, ey, ez = axes[base, 0, i], axes[base, 1, i], axes[base, 2, i]
    slope = _along(axes, other, f, ex, ey, ez) / _along(axes, other, f, nx, ny, nz)
    x, y, z = ex - slope * nx, ey - slope * ny, ez - slope * nz
    over, beside = _along(axes, other, k, x, y, z), _along(axes, other, j, x, y, z)
    # the edge is the one farthest against n: its face lies along n
    way = 1.0 if over * _along(axes, other, k, nx, ny, nz) > 0.0 else -1.0
    length = size[base, i] - way * start
    if abs(over) * length > 2.0 * size[other, k]:
        length = 2.0 * size[other, k] / abs(over)
    left = size[other, j] - (far if way * beside > 0.0 else -far)
    if abs(beside) * length > left:
        length = left / abs(beside)
    return abs(slope) * length


@inlined_kernel
def _corners_of_edge(axes, p, i, sign, nx, ny, nz):
    """Corners at the ends of the edge along axis i of box p that is farthest along sign · n."""
    corner = 0
    for k in range(3):
        if k != i and sign * _along(axes, p, k, nx, ny, nz) > 0.0:
            corner |= 1 << k
    return corner, corner | (1 << i)


@inner_kernel
def _cross_edges(p, i, q, j, separation, size, centre, axes, small, reach, spots, marks):
    """The contact where edge i of box p crosses edge j of q; `UNDECIDED` if it may not be alone."""
    x = axes[p, 1, i] * axes[q, 2, j] - axes[p, 2, i] * axes[q, 1, j]
    y = axes[p, 2, i] * axes[q, 0, j] - axes[p, 0, i] * axes[q, 2, j]
    z = axes[p, 0, i] * axes[q, 1, j] - axes[p, 1, i] * axes[q, 0, j]
    dx, dy, dz = centre[q, 0] - centre[p, 0], centre[q, 1] - centre[p, 1], centre[q, 2] - centre[p, 2]
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < _BESIDE_SINE:
        return UNDECIDED
    length = sine if x * dx + y * dy + z * dz >= 0.0 else -sine
    nx, ny, nz = x / length, y / length, z / length
    # middles of both edges, from the centre of p
    px = py = pz = 0.0
    qx, qy, qz = dx, dy, dz
    for k in range(3):
        if k != i:
            to = math.copysign(size[p, k], _along(axes, p, k, nx, ny, nz))
            px, py, pz = px + to * axes[p, 0, k], py + to * axes[p, 1, k], pz + to * axes[p, 2, k]
        if k != j:
            to = -math.copysign(size[q, k], _along(axes, q, k, nx, ny, nz))
            qx, qy, qz = qx + to * axes[q, 0, k], qy + to * axes[q, 1, k], qz + to * axes[q, 2, k]
    wx, wy, wz = qx - px, qy - py, qz - pz
    along_p, along_q = _along(axes, p, i, wx, wy, wz), _along(axes, q, j, wx, wy, wz)
    cosine = _along(axes, p, i, axes[q, 0, j], axes[q, 1, j], axes[q, 2, j])
    at_p = (along_p - cosine * along_q) / (sine * sine)
    at_q = (cosine * along_p - along_q) / (sine * sine)
    near = _AT_END * small
    if abs(at_p) > size[p, i] - near or abs(at_q) > size[q, j] - near:
        return UNDECIDED
    # alone if the faces next to the edges are out of reach where they end
    least = min(
        _rise(p, i, at_p, q, j, at_q, size, axes, nx, ny, nz),
        _rise(q, j, at_q, p, i, at_p, size, axes, -nx, -ny, -nz),
    )
    if separation + least <= reach + near:
        return UNDECIDED
    half = 0.5 * separation
    p0, p1 = _corners_of_edge(axes, p, i, 1.0, nx, ny, nz)
    q0, q1 = _corners_of_edge(axes, q, j, -1.0, nx, ny, nz)
    set_spot(
        spots, marks, 0, crossing_mark(p0, p1, q0, q1),
        centre[p, 0] + px + at_p * axes[p, 0, i] + half * nx,
        centre[p, 1] + py + at_p * axes[p, 1, i] + half * ny,
        centre[p, 2] + pz + at_p * axes[p, 2, i] + half * nz,
        nx, ny, nz, separation,
    )  # fmt: skip
    return 1


@inner_kernel
def box_box(p, q, size, centre, axes, reach, polygon, labels, spots, marks):
    """Contacts of boxes p and q, none if they are further apart than `reach`; normals from p to q.

    `polygon` (2, 12, 3) and `labels` (2, 12) are scratch. `UNDECIDED` if no face is the best direction.
    """
    dx, dy, dz = centre[q, 0] - centre[p, 0], centre[q, 1] - centre[p, 1], centre[q, 2] - centre[p, 2]
    scale_p = max(size[p, 0], size[p, 1], size[p, 2])
    scale_q = max(size[q, 0], size[q, 1], size[q, 2])
    scale = max(scale_p, scale_q)
    near = min(scale_p, scale_q) + 0.1 * scale
    small = min(
        size[p, 0] + size[p, 1] + size[p, 2],
        size[q, 0] + size[q, 1] + size[q, 2],
    )
    tie = TIE * small
    base, other, face, largest = p, q, -1, 0.0
    r = polygon[0]
    _turned(axes, p, q, r)
    px, py, pz = (
        _along(axes, p, 0, dx, dy, dz), _along(axes, p, 1, dx, dy, dz), _along(axes, p, 2, dx, dy, dz)
    )  # fmt: skip
    for i in range(3):
        away = abs(px if i == 0 else (py if i == 1 else pz))
        wide = size[q, 0] * abs(r[i, 0]) + size[q, 1] * abs(r[i, 1]) + size[q, 2] * abs(r[i, 2])
        separation = away - size[p, i] - wide
        if separation > reach:
            return 0
        if face < 0 or separation > largest + tie:
            face, largest = i, separation
    for j in range(3):
        away = abs(_along(axes, q, j, dx, dy, dz))
        wide = size[p, 0] * abs(r[0, j]) + size[p, 1] * abs(r[1, j]) + size[p, 2] * abs(r[2, j])
        separation = away - size[q, j] - wide
        if separation > reach:
            return 0
        if separation > largest + tie:
            base, other, face, largest = q, p, j, separation
    edge_p, edge_q = -1, -1
    for i in range(3):
        u, v = (i + 1) % 3, (i + 2) % 3
        tu, tv = (py, pz) if i == 0 else ((pz, px) if i == 1 else (px, py))
        for j in range(3):
            sine = math.sqrt(r[u, j] * r[u, j] + r[v, j] * r[v, j])
            if sine <= _PARALLEL:
                continue
            k, m = (j + 1) % 3, (j + 2) % 3
            separation = abs(tv * r[u, j] - tu * r[v, j])
            separation -= size[p, u] * abs(r[v, j]) + size[p, v] * abs(r[u, j])
            separation -= size[q, k] * abs(r[i, m]) + size[q, m] * abs(r[i, k])
            if separation > (largest + tie) * sine:
                separation /= sine
                if separation > reach:
                    return 0
                edge_p, edge_q, largest = i, j, separation
    if largest < -_DEEP * small:
        return UNDECIDED
    if edge_p >= 0:
        return _cross_edges(p, edge_p, q, edge_q, largest, size, centre, axes, small, reach, spots, marks)
    flip = 1.0 if base == p else -1.0
    side = 1.0 if flip * _along(axes, base, face, dx, dy, dz) >= 0.0 else -1.0
    count = _clip_face(
        base, face, side, other, flip, size, centre, axes, scale, near, polygon, labels, spots, marks
    )
    if count < 1:
        return UNDECIDED
    low = 0
    for i in range(1, count):
        if spots[i, 6] < spots[low, 6]:
            low = i
    # The face is the best direction if the corners found realise its separation. One that is over an edge of
    # the face may be beside it, by no more than walls are pushed out, and its distance greater.
    if abs(spots[low, 6] - largest) > tie:
        return UNDECIDED
    if 0.0 < largest < _BESIDE * small and _over_edge(base, face, size, centre, axes, spots[low], small):
        return UNDECIDED
    return _without_doubles(count, spots, marks)
