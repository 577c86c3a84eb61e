"""Contacts of two boxes; for `spots` and `marks` see `_segment_kernels`.

The axis of largest separation (three face normals of each box, nine products of edges) is found first.
For a face, the other box's most opposed face is clipped by the side walls of the first (Sutherland and
Hodgman): each corner of what is left is a contact, named by the two edges or walls that meet there. For
two edges there is one contact. Boxes that are apart, and whose distance is not along the axis found, have
their nearest edges for contact: a distance is then exact.
"""

import math

from nonsmooth._jit import inlined_kernel, kernel
from nonsmooth.collision._box_kernels import EXACT, TIE, better, edge_offset, nearer
from nonsmooth.collision._segment_kernels import closest_parameters, segment_contacts, set_spot

_PARALLEL = 1e-6
_ALONE = 1 << 20  # above the marks of faces: whatever corner or edge it is, its contact is the only one
_NEARLY = 1e-3  # a clipped face may exceed the true distance by this part of it


@inlined_kernel
def _dot(axes, p, i, q, j):
    return axes[p, 0, i] * axes[q, 0, j] + axes[p, 1, i] * axes[q, 1, j] + axes[p, 2, i] * axes[q, 2, j]


@inlined_kernel
def _along(axes, p, i, x, y, z):
    return axes[p, 0, i] * x + axes[p, 1, i] * y + axes[p, 2, i] * z


@inlined_kernel
def _extent(axes, size, p, x, y, z):
    """Half the width of box p in the direction (x, y, z)."""
    return (
        size[p, 0] * abs(_along(axes, p, 0, x, y, z))
        + size[p, 1] * abs(_along(axes, p, 1, x, y, z))
        + size[p, 2] * abs(_along(axes, p, 2, x, y, z))
    )


@inlined_kernel
def _edge_axis(axes, p, i, q, j):
    """Unit vector across axis i of p and axis j of q, and the sine between them."""
    x = axes[p, 1, i] * axes[q, 2, j] - axes[p, 2, i] * axes[q, 1, j]
    y = axes[p, 2, i] * axes[q, 0, j] - axes[p, 0, i] * axes[q, 2, j]
    z = axes[p, 0, i] * axes[q, 1, j] - axes[p, 1, i] * axes[q, 0, j]
    sine = math.sqrt(x * x + y * y + z * z)
    if sine > _PARALLEL:
        return x / sine, y / sine, z / sine, sine
    return 0.0, 0.0, 0.0, 0.0


@inlined_kernel
def _clip(polygon, labels, source, count, column, limit, sign, label):
    """Cut a polygon by sign · coordinate ≤ limit; from half `source` of the buffers into the other half.

    `labels[source, i]` names the side from corner i to the next.
    """
    target = 1 - source
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here, there = sign * polygon[source, i, column] - limit, sign * polygon[source, j, column] - limit
        if here <= 0.0:
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k]
            labels[target, kept] = labels[source, i]
            kept += 1
        if (here <= 0.0) != (there <= 0.0):
            part = here / (here - there)
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k] + part * (
                    polygon[source, j, k] - polygon[source, i, k]
                )
            labels[target, kept] = label if here <= 0.0 else labels[source, i]
            kept += 1
    return kept


@inlined_kernel
def _clip_face(base, face, side, other, flip, size, centre, axes, scale, polygon, labels, spots, marks):
    """Contacts on one face of box `base` with box `other`; `flip` −1 turns normals towards `base`."""
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
        labels[0, corner] = corner
    slack = TIE * scale  # equal boxes on one another keep their corners
    count = _clip(polygon, labels, 0, 4, 0, size[base, u] + slack, 1.0, 4)
    count = _clip(polygon, labels, 1, count, 0, size[base, u] + slack, -1.0, 5)
    count = _clip(polygon, labels, 0, count, 1, size[base, v] + slack, 1.0, 6)
    count = _clip(polygon, labels, 1, count, 1, size[base, v] + slack, -1.0, 7)
    mark = 6 * (2 * face + (1 if side > 0.0 else 0)) + 2 * opposed + (1 if down > 0.0 else 0)
    if flip < 0.0:
        mark += 36
    for i in range(count):
        before, after = labels[0, i - 1 if i > 0 else count - 1], labels[0, i]
        x, y, gap = polygon[0, i, 0], polygon[0, i, 1], polygon[0, i, 2]
        height = size[base, face] + 0.5 * gap
        set_spot(
            spots, marks, i, 64 * mark + 8 * min(before, after) + max(before, after),
            centre[base, 0] + x * axes[base, 0, u] + y * axes[base, 0, v] + height * nx,
            centre[base, 1] + x * axes[base, 1, u] + y * axes[base, 1, v] + height * ny,
            centre[base, 2] + x * axes[base, 2, u] + y * axes[base, 2, v] + height * nz,
            flip * nx, flip * ny, flip * nz, gap,
        )  # fmt: skip
    return count


@inlined_kernel
def _support_edge(axes, p, i, x, y, z):
    """The edge along axis i of box p that lies farthest in the direction (x, y, z)."""
    edge = 4 * i
    if _along(axes, p, (i + 1) % 3, x, y, z) > 0.0:
        edge += 1
    if _along(axes, p, (i + 2) % 3, x, y, z) > 0.0:
        edge += 2
    return edge


@inlined_kernel
def _edge_middle(box, edge, size, centre, axes):
    o0, o1, o2 = (
        edge_offset(edge, size[box, 0], 0),
        edge_offset(edge, size[box, 1], 1),
        edge_offset(edge, size[box, 2], 2),
    )
    return (
        centre[box, 0] + axes[box, 0, 0] * o0 + axes[box, 0, 1] * o1 + axes[box, 0, 2] * o2,
        centre[box, 1] + axes[box, 1, 0] * o0 + axes[box, 1, 1] * o1 + axes[box, 1, 2] * o2,
        centre[box, 2] + axes[box, 2, 0] * o0 + axes[box, 2, 1] * o1 + axes[box, 2, 2] * o2,
    )


@inlined_kernel
def _crossing_edges(p, i, q, j, gap, nx, ny, nz, size, centre, axes, spots, marks):
    """One contact of two edges, along the normal from p to q."""
    e, f = _support_edge(axes, p, i, nx, ny, nz), _support_edge(axes, q, j, -nx, -ny, -nz)
    px, py, pz = _edge_middle(p, e, size, centre, axes)
    qx, qy, qz = _edge_middle(q, f, size, centre, axes)
    s, t = closest_parameters(
        px - qx, py - qy, pz - qz,
        axes[p, 0, i], axes[p, 1, i], axes[p, 2, i], size[p, i],
        axes[q, 0, j], axes[q, 1, j], axes[q, 2, j], size[q, j],
    )  # fmt: skip
    set_spot(
        spots, marks, 0, _ALONE,
        0.5 * (px + s * axes[p, 0, i] + qx + t * axes[q, 0, j]),
        0.5 * (py + s * axes[p, 1, i] + qy + t * axes[q, 1, j]),
        0.5 * (pz + s * axes[p, 2, i] + qz + t * axes[q, 2, j]),
        nx, ny, nz, gap,
    )  # fmt: skip
    return 1


@inlined_kernel
def _nearest_edges(p, q, size, centre, axes, scale, reach):
    """Distance of the nearest edges, and the two; −1 for these if none is within reach.

    Edges that meet in a nearest corner are equally near: those most along one another are taken.
    """
    nearest, found, partner, slope = reach * (1.0 + EXACT), -1, -1, 0.0
    for e in range(12):
        i = e // 4
        px, py, pz = _edge_middle(p, e, size, centre, axes)
        for f in range(12):
            j = f // 4
            qx, qy, qz = _edge_middle(q, f, size, centre, axes)
            x, y, z = px - qx, py - qy, pz - qz
            s, t = closest_parameters(
                x, y, z,
                axes[p, 0, i], axes[p, 1, i], axes[p, 2, i], size[p, i],
                axes[q, 0, j], axes[q, 1, j], axes[q, 2, j], size[q, j],
            )  # fmt: skip
            x += s * axes[p, 0, i] - t * axes[q, 0, j]
            y += s * axes[p, 1, i] - t * axes[q, 1, j]
            z += s * axes[p, 2, i] - t * axes[q, 2, j]
            distance, along = math.sqrt(x * x + y * y + z * z), abs(_dot(axes, p, i, q, j))
            if nearer(distance, along, nearest, slope, EXACT * scale):
                nearest, found, partner, slope = distance, e, f, along
    return nearest, found, partner


@inlined_kernel
def _deepest_corner(base, face, side, other, flip, depth, size, centre, axes, spots, marks):
    """The corner of `other` deepest below a face of `base`, where clipping left nothing of it."""
    nx, ny, nz = side * axes[base, 0, face], side * axes[base, 1, face], side * axes[base, 2, face]
    x, y, z = centre[other, 0], centre[other, 1], centre[other, 2]
    for k in range(3):
        out = -size[other, k] if _along(axes, other, k, nx, ny, nz) > 0.0 else size[other, k]
        x += out * axes[other, 0, k]
        y += out * axes[other, 1, k]
        z += out * axes[other, 2, k]
    rise = -0.5 * depth
    set_spot(
        spots, marks, 0, _ALONE, x + rise * nx, y + rise * ny, z + rise * nz,
        flip * nx, flip * ny, flip * nz, depth,
    )  # fmt: skip
    return 1


@kernel
def box_box(p, q, size, centre, axes, reach, polygon, labels, spots, marks):
    """Contacts of boxes p and q, none if they are further apart than `reach`; normals from p to q.

    `polygon` (2, 12, 3) and `labels` (2, 12) are scratch.
    """
    dx, dy, dz = centre[q, 0] - centre[p, 0], centre[q, 1] - centre[p, 1], centre[q, 2] - centre[p, 2]
    scale = max(size[p, 0], size[p, 1], size[p, 2], size[q, 0], size[q, 1], size[q, 2])
    base, other, face, depth = p, q, -1, -math.inf
    largest_base, largest_face, largest = p, -1, -math.inf
    for turn in range(2):
        one = p if turn == 0 else q
        two = q if turn == 0 else p
        for i in range(3):
            x, y, z = axes[one, 0, i], axes[one, 1, i], axes[one, 2, i]
            separation = abs(x * dx + y * dy + z * dz) - size[one, i] - _extent(axes, size, two, x, y, z)
            if separation > reach:
                return 0
            if separation > largest:
                largest_base, largest_face, largest = one, i, separation
            if face < 0 or better(separation, depth, scale):
                base, other, face, depth = one, two, i, separation
    apart, crossed, edge_p, edge_q = largest, depth, -1, -1
    for i in range(3):
        for j in range(3):
            x, y, z, sine = _edge_axis(axes, p, i, q, j)
            if sine == 0.0:
                continue
            separation = abs(x * dx + y * dy + z * dz)
            separation -= _extent(axes, size, p, x, y, z) + _extent(axes, size, q, x, y, z)
            if separation > reach:
                return 0
            apart = max(apart, separation)
            if better(separation, crossed, scale):
                crossed, edge_p, edge_q = separation, i, j
    if apart <= 0.0 and edge_p >= 0:
        x, y, z, _ = _edge_axis(axes, p, edge_p, q, edge_q)
        if x * dx + y * dy + z * dz < 0.0:
            x, y, z = -x, -y, -z
        return _crossing_edges(p, edge_p, q, edge_q, crossed, x, y, z, size, centre, axes, spots, marks)
    nearest, count = math.inf, 0
    for attempt in range(2):
        if attempt == 1:
            # What a tie chose is not the nearest: look at the largest separation itself.
            if base == largest_base and face == largest_face:
                break
            base, other, face, depth = largest_base, p + q - largest_base, largest_face, largest
        flip = 1.0 if base == p else -1.0
        side = 1.0 if flip * _along(axes, base, face, dx, dy, dz) >= 0.0 else -1.0
        count = _clip_face(
            base, face, side, other, flip, size, centre, axes, scale, polygon, labels, spots, marks
        )
        nearest = math.inf
        for i in range(count):
            nearest = min(nearest, spots[i, 6])
        if apart <= 0.0:
            if nearest <= max(0.0, depth + TIE * scale):
                return count
            return _deepest_corner(base, face, side, other, flip, depth, size, centre, axes, spots, marks)
        # No two points are nearer than the largest separation; clipped ones are kept if they are as near.
        if abs(nearest - apart) <= _NEARLY * apart + TIE * scale:
            return count
    distance, e, f = _nearest_edges(p, q, size, centre, axes, scale, reach)
    if e < 0 or (nearest > 0.0 and nearest <= distance * (1.0 + _NEARLY) + TIE * scale):
        return count
    px, py, pz = _edge_middle(p, e, size, centre, axes)
    qx, qy, qz = _edge_middle(q, f, size, centre, axes)
    i, j = e // 4, f // 4
    return segment_contacts(
        px, py, pz, axes[p, 0, i], axes[p, 1, i], axes[p, 2, i], size[p, i], 0.0,
        qx, qy, qz, axes[q, 0, j], axes[q, 1, j], axes[q, 2, j], size[q, j], 0.0,
        TIE * scale, _ALONE, spots, marks,
    )  # fmt: skip
