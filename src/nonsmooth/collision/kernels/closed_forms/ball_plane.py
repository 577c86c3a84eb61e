"""Contacts of a ball or a half-space with a box or a capsule, in closed form.

`spots` (m, 7) takes point, unit normal (from the first shape to the second) and gap of each contact, `marks`
(m,) its feature; the number of contacts is returned.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel

STEEP = 0.5
"""Sine of the angle between an edge and a plane above which its upper end does not count."""


@inlined_kernel
def set_spot(spots, marks, at, mark, x, y, z, nx, ny, nz, gap):
    """Write one contact."""
    spots[at, 0], spots[at, 1], spots[at, 2] = x, y, z
    spots[at, 3], spots[at, 4], spots[at, 5] = nx, ny, nz
    spots[at, 6] = gap
    marks[at] = mark


@inlined_kernel
def any_normal(ux, uy, uz):
    """A unit vector across the unit vector u."""
    if abs(ux) < 0.6:
        x, y, z = 0.0, uz, -uy
    else:
        x, y, z = -uz, 0.0, ux
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@inlined_kernel
def is_above(sign, slope):
    """True for the end (sign ±1) of a straight edge that is steeply above the other end.

    `slope` is the product of the edge's direction with the plane's normal. Only a turn of 30° in a step would
    bring the upper end down first: of a thin plate on a plane, the lower corners are the contacts.
    """
    return sign * slope > STEEP


@inlined_kernel
def corner_sign(corner, axis):
    """Side (−1 or 1) of corner 0…7 along an axis."""
    return 1.0 if (corner >> axis) & 1 else -1.0


@inner_kernel
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


@inner_kernel
def plane_box(plane, box, size, centre, axes, spots, marks):
    """Corners that are not steeply above others; features 0 to 7."""
    nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
    u = nx * axes[box, 0, 0] + ny * axes[box, 1, 0] + nz * axes[box, 2, 0]
    v = nx * axes[box, 0, 1] + ny * axes[box, 1, 1] + nz * axes[box, 2, 1]
    w = nx * axes[box, 0, 2] + ny * axes[box, 1, 2] + nz * axes[box, 2, 2]
    count = 0
    for corner in range(8):
        i, j, k = corner_sign(corner, 0), corner_sign(corner, 1), corner_sign(corner, 2)
        if is_above(i, u) or is_above(j, v) or is_above(k, w):
            continue
        a, b, c = i * size[box, 0], j * size[box, 1], k * size[box, 2]
        x = centre[box, 0] + a * axes[box, 0, 0] + b * axes[box, 0, 1] + c * axes[box, 0, 2]
        y = centre[box, 1] + a * axes[box, 1, 0] + b * axes[box, 1, 1] + c * axes[box, 1, 2]
        z = centre[box, 2] + a * axes[box, 2, 0] + b * axes[box, 2, 1] + c * axes[box, 2, 2]
        gap = nx * (x - centre[plane, 0]) + ny * (y - centre[plane, 1]) + nz * (z - centre[plane, 2])
        drop = 0.5 * gap
        set_spot(spots, marks, count, corner, x - drop * nx, y - drop * ny, z - drop * nz, nx, ny, nz, gap)
        count += 1
    return count


@inner_kernel
def sphere_capsule(ball, capsule, size, centre, axes, spots, marks):
    """The point of the capsule's axis that is nearest to the ball's centre decides."""
    ux, uy, uz = axes[capsule, 0, 2], axes[capsule, 1, 2], axes[capsule, 2, 2]
    half = size[capsule, 1]
    rx, ry, rz = (
        centre[capsule, 0] - centre[ball, 0],
        centre[capsule, 1] - centre[ball, 1],
        centre[capsule, 2] - centre[ball, 2],
    )
    t = min(max(-(rx * ux + ry * uy + rz * uz), -half), half)
    nx, ny, nz = rx + t * ux, ry + t * uy, rz + t * uz
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    if distance > 0.0:
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        nx, ny, nz = any_normal(ux, uy, uz)
    gap = distance - size[ball, 0] - size[capsule, 0]
    middle = size[ball, 0] + 0.5 * gap
    set_spot(
        spots, marks, 0, 0,
        centre[ball, 0] + middle * nx, centre[ball, 1] + middle * ny, centre[ball, 2] + middle * nz,
        nx, ny, nz, gap,
    )  # fmt: skip
    return 1


@inner_kernel
def plane_capsule(plane, capsule, size, centre, axes, spots, marks):
    """The capsule's two ends, as balls; features 0 and 1."""
    nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
    for end in range(2):
        t = size[capsule, 1] if end == 1 else -size[capsule, 1]
        x, y, z = (
            centre[capsule, 0] + t * axes[capsule, 0, 2],
            centre[capsule, 1] + t * axes[capsule, 1, 2],
            centre[capsule, 2] + t * axes[capsule, 2, 2],
        )
        height = nx * (x - centre[plane, 0]) + ny * (y - centre[plane, 1]) + nz * (z - centre[plane, 2])
        drop = 0.5 * (height + size[capsule, 0])
        set_spot(
            spots, marks, end, end, x - drop * nx, y - drop * ny, z - drop * nz,
            nx, ny, nz, height - size[capsule, 0],
        )  # fmt: skip
    return 2
