"""Contacts of capsules: segments with a radius.

Here and in the other manifold kernels, `spots` (m, 7) takes point, unit normal (from the first shape to
the second) and gap of each contact, `marks` (m,) its feature; the number of contacts is returned.
"""

import math

from nonsmooth._jit import inlined_kernel, kernel

_PARALLEL = 1e-12  # squared sine of an angle that counts as zero
_ALONG = 0.1  # largest sine between axes that lie side by side
_SHORT = 1e-3  # an overlap this part of the shorter segment is a point


@inlined_kernel
def set_spot(spots, marks, at, mark, x, y, z, nx, ny, nz, gap):
    """Write one contact."""
    spots[at, 0], spots[at, 1], spots[at, 2] = x, y, z
    spots[at, 3], spots[at, 4], spots[at, 5] = nx, ny, nz
    spots[at, 6] = gap
    marks[at] = mark


@inlined_kernel
def closest_parameters(rx, ry, rz, ux, uy, uz, half_u, vx, vy, vz, half_v):
    """Parameters (s, t) of the closest points c_u + s u and c_v + t v; r = c_u − c_v; u, v unit vectors."""
    wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine2 = wx * wx + wy * wy + wz * wz
    cosine = ux * vx + uy * vy + uz * vz
    along_u = ux * rx + uy * ry + uz * rz
    along_v = vx * rx + vy * ry + vz * rz
    s = 0.0
    if sine2 > _PARALLEL:
        s = min(max((cosine * along_v - along_u) / sine2, -half_u), half_u)
    t = min(max(cosine * s + along_v, -half_v), half_v)
    s = min(max(cosine * t - along_u, -half_u), half_u)
    return s, t


@inlined_kernel
def _any_normal(ux, uy, uz):
    """A unit vector across the unit vector u."""
    if abs(ux) < 0.6:
        x, y, z = 0.0, uz, -uy
    else:
        x, y, z = -uz, 0.0, ux
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def segment_contacts(
    ax,
    ay,
    az,
    ux,
    uy,
    uz,
    half_u,
    radius_u,
    bx,
    by,
    bz,
    vx,
    vy,
    vz,
    half_v,
    radius_v,
    lateral,
    first_mark,
    spots,
    marks,
):
    """One contact (feature 0), or two (1, 2 along u) where the axes diverge by less than `lateral` in m.

    The smallest gap is the distance of the axes less the radii. Both contacts of two share its normal.
    """  # fmt: skip
    rx, ry, rz = ax - bx, ay - by, az - bz
    s, t = closest_parameters(rx, ry, rz, ux, uy, uz, half_u, vx, vy, vz, half_v)
    nx, ny, nz = t * vx - s * ux - rx, t * vy - s * uy - ry, t * vz - s * uz - rz
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine = math.sqrt(wx * wx + wy * wy + wz * wz)
    if distance > 1e-12 * (half_u + half_v + radius_u + radius_v):
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        if sine > 1e-6:
            nx, ny, nz = wx / sine, wy / sine, wz / sine
        else:
            nx, ny, nz = _any_normal(ux, uy, uz)
        if nx * rx + ny * ry + nz * rz > 0.0:
            nx, ny, nz = -nx, -ny, -nz
    cosine = ux * vx + uy * vy + uz * vz
    along_u = -(ux * rx + uy * ry + uz * rz)  # of the second centre, from the first
    along_v = vx * rx + vy * ry + vz * rz
    low_v, high_v = along_u - half_v * abs(cosine), along_u + half_v * abs(cosine)
    low, high = max(-half_u, low_v), min(half_u, high_v)
    overlap = high - low
    if sine <= _ALONG and overlap > _SHORT * min(half_u, half_v) and sine * overlap <= lateral:
        turned = 1.0 if cosine >= 0.0 else -1.0
        for end in range(2):
            if end == 0:
                s, own, other = low, low_v <= -half_u, -half_v * turned
            else:
                s, own, other = high, high_v >= half_u, half_v * turned
            t = min(max(cosine * s + along_v, -half_v), half_v) if own else other
            px, py, pz = ax + s * ux, ay + s * uy, az + s * uz
            qx, qy, qz = bx + t * vx, by + t * vy, bz + t * vz
            gap = nx * (qx - px) + ny * (qy - py) + nz * (qz - pz) - radius_u - radius_v
            shift = 0.5 * (radius_u - radius_v)
            set_spot(
                spots, marks, end, first_mark + 1 + end,
                0.5 * (px + qx) + shift * nx, 0.5 * (py + qy) + shift * ny, 0.5 * (pz + qz) + shift * nz,
                nx, ny, nz, gap,
            )  # fmt: skip
        return 2
    gap = distance - radius_u - radius_v
    middle = radius_u + 0.5 * gap
    set_spot(
        spots, marks, 0, first_mark,
        ax + s * ux + middle * nx, ay + s * uy + middle * ny, az + s * uz + middle * nz,
        nx, ny, nz, gap,
    )  # fmt: skip
    return 1


@kernel
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
        nx, ny, nz = _any_normal(ux, uy, uz)
    gap = distance - size[ball, 0] - size[capsule, 0]
    middle = size[ball, 0] + 0.5 * gap
    set_spot(
        spots, marks, 0, 0,
        centre[ball, 0] + middle * nx, centre[ball, 1] + middle * ny, centre[ball, 2] + middle * nz,
        nx, ny, nz, gap,
    )  # fmt: skip
    return 1


@kernel
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


@kernel
def capsule_capsule(p, q, size, centre, axes, spots, marks):
    """Two segments; two contacts if they diverge by less than a tenth of the smaller radius."""
    return segment_contacts(
        centre[p, 0], centre[p, 1], centre[p, 2],
        axes[p, 0, 2], axes[p, 1, 2], axes[p, 2, 2], size[p, 1], size[p, 0],
        centre[q, 0], centre[q, 1], centre[q, 2],
        axes[q, 0, 2], axes[q, 1, 2], axes[q, 2, 2], size[q, 1], size[q, 0],
        0.1 * min(size[p, 0], size[q, 0]), 0, spots, marks,
    )  # fmt: skip
