"""Edges of two surfaces that lie along one another but for a tilt: both ends of the length that they share.

Such edges have no direction of their own: all that lie on the arcs of both will do. A contact that is found
elsewhere on them, mostly at a corner at one end, has one of these, and the ends take it, as further support.
Until then a row has the middle of the arc in common as its normal; `plane` begins with the cosine of half of
that arc, `ways` is the unit vector along the first edge and the way from its point to that of the second.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.surfaces.arrays import BORDER, edge_kind
from nonsmooth.collision.kernels.surfaces.features.rows import add_row
from nonsmooth.collision.kernels.surfaces.sides import edge

ALONG = 3  # first bits of marks
_WIDE = 0.01  # rad: an arc in common that is less is the direction of faces, whose points are found as theirs
_LEVEL = 0.01  # slope of the edges along a direction up to which their ends are further support
_TILT = 0.015  # slope up to which two points lie in one plane


@inner_kernel
def _angle(frame, sign, x, y, z):
    """Angle of a direction, or the opposite one if `sign` is -1, in the frame of two unit vectors."""
    cx, cy, cz, sx, sy, sz = frame
    return math.atan2(sign * (sx * x + sy * y + sz * z), sign * (cx * x + cy * y + cz * z))


@inner_kernel
def _turn(angle):
    """The same angle between -π and π."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@inner_kernel
def _arc(frame, sign, normals, k, border, ex, ey, ez):
    """Middle and half of the width of the arc of edge k, whose unit direction is (e); see `_angle`."""
    nx, ny, nz = normals[3, 0], normals[3, 1], normals[3, 2]
    begin = _angle(frame, sign, nx, ny, nz)
    if border:
        # up to the direction that leads away from the triangle, in its plane
        end = _angle(frame, sign, ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx)
    else:
        end = _angle(frame, sign, normals[k, 0], normals[k, 1], normals[k, 2])
    half = 0.5 * _turn(end - begin)
    return begin + half, abs(half)


@inner_kernel
def add_ends_along(i, j, edges, s_corners, s_numbers, s_normals, t_corners, t_numbers, t_normals, reach,
                   tiny, rows, count):  # fmt: skip
    """Rows of both ends of what edges i and j, nearly parallel, share; `edges` are their numbers."""
    ax, ay, az, ux, uy, uz, u_length = edge(s_corners, i)
    bx, by, bz, vx, vy, vz, v_length = edge(t_corners, j)
    cosine = ux * vx + uy * vy + uz * vz
    bx, by, bz = bx - ax, by - ay, bz - az
    from_b = ux * bx + uy * by + uz * bz
    to_b = from_b + v_length * cosine
    begin, end = max(0.0, min(from_b, to_b)), min(u_length, max(from_b, to_b))
    sx, sy, sz = bx - from_b * ux, by - from_b * uy, bz - from_b * uz
    # the sine of the angle between them is too small to bring them nearer along their length
    if end - begin <= tiny or sx * sx + sy * sy + sz * sz > (2.0 * reach + tiny) ** 2:
        return count
    nx, ny, nz = s_normals[3, 0], s_normals[3, 1], s_normals[3, 2]
    frame = (nx, ny, nz, uy * nz - uz * ny, uz * nx - ux * nz, ux * ny - uy * nx)
    s_border, t_border = edge_kind(s_numbers[3], i) == BORDER, edge_kind(t_numbers[3], j) == BORDER
    s_middle, s_half = _arc(frame, 1.0, s_normals, i, s_border, ux, uy, uz)
    t_middle, t_half = _arc(frame, -1.0, t_normals, j, t_border, vx, vy, vz)
    t_middle = s_middle + _turn(t_middle - s_middle)
    low, high = max(s_middle - s_half, t_middle - t_half), min(s_middle + s_half, t_middle + t_half)
    if high - low < _WIDE:
        return count
    c, s = math.cos(0.5 * (low + high)), math.sin(0.5 * (low + high))
    mx, my, mz = c * nx + s * frame[3], c * ny + s * frame[4], c * nz + s * frame[5]
    for which in range(2):
        along = begin if which == 0 else end
        q = (along - from_b) / cosine
        dx, dy, dz = bx + q * vx - along * ux, by + q * vy - along * uy, bz + q * vz - along * uz
        gap = mx * dx + my * dy + mz * dz
        if dx * dx + dy * dy + dz * dz > reach * reach:
            continue
        if count < rows.tags.shape[0]:
            rows.plane[count, 0] = math.cos(0.5 * (high - low) + _LEVEL)
            ways = rows.ways[count]
            ways[0], ways[1], ways[2], ways[3], ways[4], ways[5] = ux, uy, uz, dx, dy, dz
        mark = ALONG << 60 | edges[0] << 30 | 2 * edges[1] + which
        count = add_row(
            rows, count, 1, s_numbers[4], 0, mark,
            ax + along * ux, ay + along * uy, az + along * uz, mx, my, mz, gap, gap,
        )  # fmt: skip
    return count


@inner_kernel
def fits_along(rows, i, lead, beside, tiny):
    """True if the direction of row `lead` is one of the edges of row i, and both lie in one plane.

    The points of row i must lie on one another along it, but for `beside`, and be no nearer than the lead's.
    """
    spot, ways, other = rows.spots[i], rows.ways[i], rows.spots[lead]
    nx, ny, nz = other[3], other[4], other[5]
    slope = nx * ways[0] + ny * ways[1] + nz * ways[2]
    if abs(slope) > _LEVEL or nx * spot[3] + ny * spot[4] + nz * spot[5] < rows.plane[i, 0]:
        return False
    x, y, z = spot[0] - other[0], spot[1] - other[1], spot[2] - other[2]
    if abs(nx * x + ny * y + nz * z) > _TILT * math.sqrt(x * x + y * y + z * z) + tiny:
        return False
    gap = nx * ways[3] + ny * ways[4] + nz * ways[5]
    x, y, z = ways[3] - gap * nx, ways[4] - gap * ny, ways[5] - gap * nz
    return gap >= other[6] - tiny and x * x + y * y + z * z <= (beside + tiny) ** 2


@inner_kernel
def turn_along(rows, i, lead):
    """Give row i the direction of row `lead`."""
    spot, ways, other = rows.spots[i], rows.ways[i], rows.spots[lead]
    spot[3], spot[4], spot[5] = other[3], other[4], other[5]
    spot[6] = spot[3] * ways[3] + spot[4] * ways[4] + spot[5] * ways[5]
    rows.plane[i, 3] = rows.plane[lead, 3]
