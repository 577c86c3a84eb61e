"""Contacts of boxes with half-spaces, balls and capsules; for `spots` and `marks` see `_segment_kernels`."""

import math

from nonsmooth._jit import inlined_kernel, kernel
from nonsmooth.collision._segment_kernels import closest_parameters, segment_contacts, set_spot

# Where two ways of contact are equally good to this part of the size or of the depth, the first is kept:
# shapes at rest then keep their features while they tremble.
TIE, TIE_DEPTH = 1e-5, 0.02
EXACT = 1e-9  # part of the size by which two computations of one length may differ
_EDGE_MARK = 100  # and the next two: whichever edge it is, its contacts are the only ones of the pair
_PARALLEL = 1e-6


@inlined_kernel
def better(new, old, size):
    """True if the separation `new` is larger than `old` by more than a tie."""
    return new > old + TIE * size + TIE_DEPTH * abs(old)


@inlined_kernel
def nearer(distance, slope, nearest, least_slope, same):
    """True if a distance is smaller, or the same to a length `same` with a larger slope."""
    return distance < nearest - same or (distance <= nearest + same and slope > least_slope + TIE)


@inlined_kernel
def corner_sign(corner, axis):
    """Side (−1 or 1) of corner 0…7 along an axis."""
    return 1.0 if (corner >> axis) & 1 else -1.0


@inlined_kernel
def edge_offset(edge, half, k):
    """Coordinate k, along the box's axes, of the middle of edge 0…11; edge // 4 is its direction."""
    direction = edge // 4
    if k == direction:
        return 0.0
    bit = 0 if k == (direction + 1) % 3 else 1
    return half if (edge >> bit) & 1 else -half


@kernel
def plane_box(plane, box, size, centre, axes, spots, marks):
    """All eight corners; features 0 to 7."""
    nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
    for corner in range(8):
        a, b, c = (
            corner_sign(corner, 0) * size[box, 0],
            corner_sign(corner, 1) * size[box, 1],
            corner_sign(corner, 2) * size[box, 2],
        )
        x = centre[box, 0] + a * axes[box, 0, 0] + b * axes[box, 0, 1] + c * axes[box, 0, 2]
        y = centre[box, 1] + a * axes[box, 1, 0] + b * axes[box, 1, 1] + c * axes[box, 1, 2]
        z = centre[box, 2] + a * axes[box, 2, 0] + b * axes[box, 2, 1] + c * axes[box, 2, 2]
        gap = nx * (x - centre[plane, 0]) + ny * (y - centre[plane, 1]) + nz * (z - centre[plane, 2])
        drop = 0.5 * gap
        set_spot(spots, marks, corner, corner, x - drop * nx, y - drop * ny, z - drop * nz, nx, ny, nz, gap)
    return 8


@kernel
def sphere_box(ball, box, size, centre, axes, spots, marks):
    """The point of the box nearest to the ball's centre; the nearest face if the centre is inside."""
    dx, dy, dz = (
        centre[ball, 0] - centre[box, 0],
        centre[ball, 1] - centre[box, 1],
        centre[ball, 2] - centre[box, 2],
    )
    outside2, face, depth = 0.0, 0, -math.inf
    nx, ny, nz = 0.0, 0.0, 0.0
    for k in range(3):
        x = axes[box, 0, k] * dx + axes[box, 1, k] * dy + axes[box, 2, k] * dz
        beyond = abs(x) - size[box, k]
        side = 1.0 if x >= 0.0 else -1.0
        if beyond > 0.0:
            outside2 += beyond * beyond
            nx -= side * beyond * axes[box, 0, k]
            ny -= side * beyond * axes[box, 1, k]
            nz -= side * beyond * axes[box, 2, k]
        if beyond > depth:
            face, depth = k, beyond
    if outside2 > 0.0:
        distance = math.sqrt(outside2)
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        distance = depth
        x = axes[box, 0, face] * dx + axes[box, 1, face] * dy + axes[box, 2, face] * dz
        side = 1.0 if x >= 0.0 else -1.0
        nx, ny, nz = -side * axes[box, 0, face], -side * axes[box, 1, face], -side * axes[box, 2, face]
    radius = size[ball, 0]
    middle = 0.5 * (radius + distance)
    set_spot(
        spots, marks, 0, 0,
        centre[ball, 0] + middle * nx, centre[ball, 1] + middle * ny, centre[ball, 2] + middle * nz,
        nx, ny, nz, distance - radius,
    )  # fmt: skip
    return 1


@inlined_kernel
def _in_box(axes, box, k, x, y, z):
    return axes[box, 0, k] * x + axes[box, 1, k] * y + axes[box, 2, k] * z


@inlined_kernel
def _edge_with_segment(box, edge, size, centre, axes, capsule, exact_only, spots, marks):
    """Contacts of one edge of the box, as a segment without radius, with the capsule."""
    direction = edge // 4
    o0, o1, o2 = (
        edge_offset(edge, size[box, 0], 0),
        edge_offset(edge, size[box, 1], 1),
        edge_offset(edge, size[box, 2], 2),
    )
    return segment_contacts(
        centre[box, 0] + axes[box, 0, 0] * o0 + axes[box, 0, 1] * o1 + axes[box, 0, 2] * o2,
        centre[box, 1] + axes[box, 1, 0] * o0 + axes[box, 1, 1] * o1 + axes[box, 1, 2] * o2,
        centre[box, 2] + axes[box, 2, 0] * o0 + axes[box, 2, 1] * o1 + axes[box, 2, 2] * o2,
        axes[box, 0, direction], axes[box, 1, direction], axes[box, 2, direction], size[box, direction], 0.0,
        centre[capsule, 0], centre[capsule, 1], centre[capsule, 2],
        axes[capsule, 0, 2], axes[capsule, 1, 2], axes[capsule, 2, 2], size[capsule, 1], size[capsule, 0],
        -1.0 if exact_only else 0.1 * size[capsule, 0], _EDGE_MARK, spots, marks,
    )  # fmt: skip


@inlined_kernel
def _face_with_segment(box, face, size, centre, axes, capsule, q, w, spots, marks):
    """Ends of the part of the segment that is over the face; q and w: its centre and axis in the box."""
    scale = max(size[box, 0], size[box, 1], size[box, 2])
    half, radius = size[capsule, 1], size[capsule, 0]
    low, high = -half, half
    for k in range(3):
        if k == face:
            continue
        wall = size[box, k] + TIE * scale
        if abs(w[k]) * half > EXACT * scale:
            one, two = (-wall - q[k]) / w[k], (wall - q[k]) / w[k]
            low, high = max(low, min(one, two)), min(high, max(one, two))
        elif abs(q[k]) > wall:
            return 0
    if low > high:
        return 0
    side = 1.0 if q[face] >= 0.0 else -1.0
    nx, ny, nz = side * axes[box, 0, face], side * axes[box, 1, face], side * axes[box, 2, face]
    for end in range(2):
        t = low if end == 0 else high
        distance = side * (q[face] + t * w[face]) - size[box, face]
        drop = 0.5 * (distance + radius)
        mark = 1 + 4 * face + (2 if side > 0.0 else 0) + end
        set_spot(
            spots, marks, end, mark,
            centre[capsule, 0] + t * axes[capsule, 0, 2] - drop * nx,
            centre[capsule, 1] + t * axes[capsule, 1, 2] - drop * ny,
            centre[capsule, 2] + t * axes[capsule, 2, 2] - drop * nz,
            nx, ny, nz, distance - radius,
        )  # fmt: skip
    return 2


@kernel
def box_capsule(box, capsule, size, centre, axes, reach, spots, marks):
    """Separating axes of box and segment; two contacts on a face, else the nearest edge.

    Shapes that are further apart than `reach` have no contact.
    """
    dx, dy, dz = (
        centre[capsule, 0] - centre[box, 0],
        centre[capsule, 1] - centre[box, 1],
        centre[capsule, 2] - centre[box, 2],
    )
    ux, uy, uz = axes[capsule, 0, 2], axes[capsule, 1, 2], axes[capsule, 2, 2]
    q = (
        _in_box(axes, box, 0, dx, dy, dz),
        _in_box(axes, box, 1, dx, dy, dz),
        _in_box(axes, box, 2, dx, dy, dz),
    )
    w = (
        _in_box(axes, box, 0, ux, uy, uz),
        _in_box(axes, box, 1, ux, uy, uz),
        _in_box(axes, box, 2, ux, uy, uz),
    )
    half, radius = size[capsule, 1], size[capsule, 0]
    scale = max(size[box, 0], size[box, 1], size[box, 2], half)
    face, depth, largest_face, largest = 0, -math.inf, 0, -math.inf
    for k in range(3):
        separation = abs(q[k]) - size[box, k] - half * abs(w[k])
        if separation > largest:
            largest_face, largest = k, separation
        if k == 0 or better(separation, depth, scale):
            face, depth = k, separation
    apart, crossed, axis = largest, depth, -1
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        length = math.sqrt(w[i] * w[i] + w[j] * w[j])
        if length <= _PARALLEL:
            continue
        a, b = -w[j] / length, w[i] / length  # axis k × w has no part along k
        separation = abs(q[i] * a + q[j] * b) - size[box, i] * abs(a) - size[box, j] * abs(b)
        apart = max(apart, separation)
        if better(separation, crossed, scale):
            crossed, axis = separation, k
    if apart > reach + radius:
        return 0
    if apart > 0.0:
        nearest, count = math.inf, 0
        for attempt in range(2):
            if attempt == 1:
                # What a tie chose is not the nearest: look at the largest separation itself.
                if face == largest_face:
                    break
                face, depth = largest_face, largest
            count = _face_with_segment(box, face, size, centre, axes, capsule, q, w, spots, marks)
            nearest = min(spots[0, 6], spots[1, 6]) + radius if count > 0 else math.inf
            # No two points are nearer than the largest separation; clipped ones are kept if they are as near.
            if abs(nearest - apart) <= TIE * scale:
                return count
        distance, edge = _nearest_edge(box, size, capsule, q, w)
        if nearest > 0.0 and nearest <= distance + TIE * radius:
            return count
        return _edge_with_segment(box, edge, size, centre, axes, capsule, False, spots, marks)
    if axis < 0:
        count = _face_with_segment(box, face, size, centre, axes, capsule, q, w, spots, marks)
        if count > 0 and min(spots[0, 6], spots[1, 6]) + radius <= max(0.0, depth + TIE * scale):
            return count
        return _deepest_end(
            box, face, 1.0 if q[face] >= 0.0 else -1.0, depth, size, centre, axes, capsule, w, spots, marks
        )
    i, j = (axis + 1) % 3, (axis + 2) % 3
    length = math.sqrt(w[i] * w[i] + w[j] * w[j])
    a, b = -w[j] / length, w[i] / length
    if q[i] * a + q[j] * b < 0.0:
        a, b = -a, -b
    edge = 4 * axis + (1 if a > 0.0 else 0) + (2 if b > 0.0 else 0)
    _edge_with_segment(box, edge, size, centre, axes, capsule, True, spots, marks)
    # If the segment passes the edge on the inside, the way out is against the line from edge to segment.
    nx = a * axes[box, 0, i] + b * axes[box, 0, j]
    ny = a * axes[box, 1, i] + b * axes[box, 1, j]
    nz = a * axes[box, 2, i] + b * axes[box, 2, j]
    mx, my, mz = spots[0, 3], spots[0, 4], spots[0, 5]
    distance = spots[0, 6] + radius
    back = 0.5 * spots[0, 6]
    edge_x, edge_y, edge_z = spots[0, 0] - back * mx, spots[0, 1] - back * my, spots[0, 2] - back * mz
    core_x, core_y, core_z = edge_x + distance * mx, edge_y + distance * my, edge_z + distance * mz
    set_spot(
        spots, marks, 0, _EDGE_MARK,
        0.5 * (edge_x + core_x - radius * nx),
        0.5 * (edge_y + core_y - radius * ny),
        0.5 * (edge_z + core_z - radius * nz),
        nx, ny, nz, crossed - radius,
    )  # fmt: skip
    return 1


@inlined_kernel
def _nearest_edge(box, size, capsule, q, w):
    """Distance of the segment from the box's nearest edge, and that edge.

    Edges that meet in the nearest corner are equally near: the one most along the segment is taken.
    """
    nearest, found, slope = math.inf, 0, 0.0
    same = EXACT * (size[capsule, 0] + size[capsule, 1])
    for edge in range(12):
        direction = edge // 4
        r0 = edge_offset(edge, size[box, 0], 0) - q[0]
        r1 = edge_offset(edge, size[box, 1], 1) - q[1]
        r2 = edge_offset(edge, size[box, 2], 2) - q[2]
        e0 = 1.0 if direction == 0 else 0.0
        e1 = 1.0 if direction == 1 else 0.0
        e2 = 1.0 if direction == 2 else 0.0
        s, t = closest_parameters(
            r0, r1, r2, e0, e1, e2, size[box, direction], w[0], w[1], w[2], size[capsule, 1]
        )
        x, y, z = r0 + s * e0 - t * w[0], r1 + s * e1 - t * w[1], r2 + s * e2 - t * w[2]
        distance = math.sqrt(x * x + y * y + z * z)
        if nearer(distance, abs(w[direction]), nearest, slope, same):
            nearest, found, slope = distance, edge, abs(w[direction])
    return nearest, found


@inlined_kernel
def _deepest_end(box, face, side, depth, size, centre, axes, capsule, w, spots, marks):
    """The end of the segment that is deepest below a face whose side walls it lies outside of."""
    t = -size[capsule, 1] if side * w[face] >= 0.0 else size[capsule, 1]
    nx, ny, nz = side * axes[box, 0, face], side * axes[box, 1, face], side * axes[box, 2, face]
    drop = 0.5 * (depth + size[capsule, 0])
    set_spot(
        spots, marks, 0, 0,
        centre[capsule, 0] + t * axes[capsule, 0, 2] - drop * nx,
        centre[capsule, 1] + t * axes[capsule, 1, 2] - drop * ny,
        centre[capsule, 2] + t * axes[capsule, 2, 2] - drop * nz,
        nx, ny, nz, depth - size[capsule, 0],
    )  # fmt: skip
    return 1
