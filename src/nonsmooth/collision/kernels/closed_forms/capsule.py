"""Two capsules, quickly; for `spots` and `marks` see `ball_plane`.

Axes that meet, or that lie side by side and are not parallel, are left to the kernels for convex solids.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.closed_forms.ball_plane import set_spot
from nonsmooth.collision.kernels.closed_forms.box_box import TIE, UNDECIDED

_PARALLEL = 1e-12  # squared sine of an angle that counts as zero
_ALONG = 0.1  # largest sine between axes that lie side by side
_STRAIGHT = 1e-8  # largest sine between axes at whose ends nothing has fallen off
_SHORT = 1e-3  # an overlap this part of the shorter segment is a point


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


@inner_kernel
def capsule_capsule(p, q, size, centre, axes, spots, marks):
    """One contact (feature 0), or two (1, 2 along p) where the axes lie side by side.

    The smallest gap is the distance of the axes less the radii. Both contacts of two share its normal.
    """
    ux, uy, uz, half_u, radius_u = axes[p, 0, 2], axes[p, 1, 2], axes[p, 2, 2], size[p, 1], size[p, 0]
    vx, vy, vz, half_v, radius_v = axes[q, 0, 2], axes[q, 1, 2], axes[q, 2, 2], size[q, 1], size[q, 0]
    rx, ry, rz = centre[p, 0] - centre[q, 0], centre[p, 1] - centre[q, 1], centre[p, 2] - centre[q, 2]
    s, t = closest_parameters(rx, ry, rz, ux, uy, uz, half_u, vx, vy, vz, half_v)
    nx, ny, nz = t * vx - s * ux - rx, t * vy - s * uy - ry, t * vz - s * uz - rz
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    scale = half_u + half_v + radius_u + radius_v
    if distance <= 1e-6 * scale:
        return UNDECIDED
    nx, ny, nz = nx / distance, ny / distance, nz / distance
    wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine = math.sqrt(wx * wx + wy * wy + wz * wz)
    cosine = ux * vx + uy * vy + uz * vz
    along_u = -(ux * rx + uy * ry + uz * rz)  # of the second centre, from the first
    along_v = vx * rx + vy * ry + vz * rz
    low_v, high_v = along_u - half_v * abs(cosine), along_u + half_v * abs(cosine)
    low, high = max(-half_u, low_v), min(half_u, high_v)
    overlap = high - low
    gap = distance - radius_u - radius_v
    if sine <= _ALONG and overlap > _SHORT * min(half_u, half_v):
        if sine > _STRAIGHT:
            return UNDECIDED
        turned = 1.0 if cosine >= 0.0 else -1.0
        least = math.inf
        for end in range(2):
            if end == 0:
                s, own, other = low, low_v <= -half_u, -half_v * turned
            else:
                s, own, other = high, high_v >= half_u, half_v * turned
            t = min(max(cosine * s + along_v, -half_v), half_v) if own else other
            px, py, pz = centre[p, 0] + s * ux, centre[p, 1] + s * uy, centre[p, 2] + s * uz
            qx, qy, qz = centre[q, 0] + t * vx, centre[q, 1] + t * vy, centre[q, 2] + t * vz
            own_gap = nx * (qx - px) + ny * (qy - py) + nz * (qz - pz) - radius_u - radius_v
            least = min(least, own_gap)
            shift = 0.5 * (radius_u - radius_v)
            set_spot(
                spots, marks, end, 1 + end,
                0.5 * (px + qx) + shift * nx, 0.5 * (py + qy) + shift * ny, 0.5 * (pz + qz) + shift * nz,
                nx, ny, nz, own_gap,
            )  # fmt: skip
        return 2 if abs(least - gap) <= TIE * min(half_u + radius_u, half_v + radius_v) else UNDECIDED
    middle = radius_u + 0.5 * gap
    set_spot(
        spots, marks, 0, 0,
        centre[p, 0] + s * ux + middle * nx,
        centre[p, 1] + s * uy + middle * ny,
        centre[p, 2] + s * uz + middle * nz,
        nx, ny, nz, gap,
    )  # fmt: skip
    return 1
