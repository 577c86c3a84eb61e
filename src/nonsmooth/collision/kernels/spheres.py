"""The best of all directions for overlapping cores of which one is curved: search over the sphere.

A triangle on the sphere of directions holds nothing better if one point of M rules out its three corners
(see `polytopes`). Others are halved, down to a size at which the ascent from the middle decides.
"""

import math

from nonsmooth._jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.ascent import ascend, ascend_far
from nonsmooth.collision.kernels.gjk import separation_along
from nonsmooth.collision.kernels.polytopes import add_cut
from nonsmooth.collision.kernels.work import CELLS, CUTS

_GAIN = 1e-13
_EXACT = 1e-10
"""Part of the size that the best direction of all may be better than the one found."""
_SMALL = 0.05
"""Square of the longest side of a triangle that is not halved further."""
_PART = 0.25
"""The same as a part of the square of its distance from the nearest peak."""
_PEAKS = 8
_SECTORS = 8
_WIDTH = 2.0 * math.pi / _SECTORS
_TILT = 0.19
"""Largest tangent of the angle between the peak and the ring around it, outside of which all is searched."""


@inlined_kernel
def _known(peaks, count, found, near):
    for k in range(count):
        if found[1] * peaks[k, 0] + found[2] * peaks[k, 1] + found[3] * peaks[k, 2] > near:
            return True
    return False


@inner_kernel
def search_sphere(p, q, hulls, work, cuts, best, size, margin):
    """The best direction, from the best one known so far; `cuts` points of M are in `work.cuts`."""
    cells, points = work.cells, work.cuts[0]
    nx, ny, nz = best[1], best[2], best[3]
    if abs(nx) < 0.6:
        ux, uy, uz = 0.0, nz, -ny
    else:
        ux, uy, uz = -nz, 0.0, nx
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    wx, wy, wz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    # a direction at an angle θ to the peak is at most |separation| θ²/2 better
    tilt = min(_TILT, math.sqrt(2.0 * _EXACT * size / max(-best[0], 1e-300)))
    near = 1.0 - 0.5 * tilt * tilt
    # around the peak a ring of directions; from each two of them a triangle to the opposite of the peak
    for k in range(_SECTORS):
        a, b = tilt * math.cos(_WIDTH * k), tilt * math.sin(_WIDTH * k)
        x, y, z = nx + a * ux + b * wx, ny + a * uy + b * wy, nz + a * uz + b * wz
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        before = (k + _SECTORS - 1) % _SECTORS
        cells[k, 0], cells[k, 1], cells[k, 2] = x, y, z
        cells[before, 3], cells[before, 4], cells[before, 5] = x, y, z
        cells[k, 6], cells[k, 7], cells[k, 8] = -nx, -ny, -nz
    count = _SECTORS
    peaks = 1
    work.peaks[0, 0], work.peaks[0, 1], work.peaks[0, 2] = nx, ny, nz
    gain = _GAIN * size
    oldest = 0
    while count > 0:
        count -= 1
        ax, ay, az = cells[count, 0], cells[count, 1], cells[count, 2]
        bx, by, bz = cells[count, 3], cells[count, 4], cells[count, 5]
        cx, cy, cz = cells[count, 6], cells[count, 7], cells[count, 8]
        target = best[0] + gain
        ruled_out = False
        for k in range(cuts):
            x, y, z = points[k, 0], points[k, 1], points[k, 2]
            if (
                ax * x + ay * y + az * z < target
                and bx * x + by * y + bz * z < target
                and cx * x + cy * y + cz * z < target
            ):
                ruled_out = True
                break
        if ruled_out:
            continue
        # of a triangle that reaches to the other side, the middle of the near side says more
        far = 0.0 if ax * cx + ay * cy + az * cz < -0.9 else 1.0
        x, y, z = ax + bx + far * cx, ay + by + far * cy, az + bz + far * cz
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        nearest = -1.0
        for k in range(peaks):
            nearest = max(nearest, x * work.peaks[k, 0] + y * work.peaks[k, 1] + z * work.peaks[k, 2])
        if nearest > near:
            continue
        apart, mx, my, mz = separation_along(p, q, hulls, work.hints, x, y, z)
        if cuts < CUTS:
            cuts = add_cut(p, q, work, cuts, mx, my, mz)
        else:
            # the first cuts came from the peak and stay
            oldest = (oldest + 1) % (CUTS - 8)
            add_cut(p, q, work, 8 + oldest, mx, my, mz)
        if (
            ax * mx + ay * my + az * mz < target
            and bx * mx + by * my + bz * mz < target
            and cx * mx + cy * my + cz * mz < target
        ):
            continue
        ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
        small = 1.0 - min(ab, bc, ca) < min(0.5 * _SMALL, _PART * (1.0 - nearest))
        if small or apart > target:
            # one step first: as a rule it leads to a peak that is known
            _, found, _, _ = ascend(p, q, hulls, work, 0, (apart, x, y, z), size, 0.0, 1)
            if found[0] > best[0] + gain or not _known(work.peaks, peaks, found, near):
                _, found, _, _ = ascend_far(p, q, hulls, work, found, size, margin)
            if found[0] > best[0]:
                best = found
            if peaks < _PEAKS and not _known(work.peaks, peaks, found, 1.0 - 1e-10):
                work.peaks[peaks, 0], work.peaks[peaks, 1], work.peaks[peaks, 2] = (
                    found[1],
                    found[2],
                    found[3],
                )
                peaks += 1
        if small or count + 2 > CELLS:
            continue
        # halve the longest side: rotate the corners so that it is from a to b
        if bc <= ab and bc <= ca:
            ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
        elif ca <= ab and ca <= bc:
            ax, ay, az, bx, by, bz, cx, cy, cz = cx, cy, cz, ax, ay, az, bx, by, bz
        x, y, z = ax + bx, ay + by, az + bz
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        cells[count, 0], cells[count, 1], cells[count, 2] = ax, ay, az
        cells[count, 3], cells[count, 4], cells[count, 5] = x, y, z
        cells[count, 6], cells[count, 7], cells[count, 8] = cx, cy, cz
        cells[count + 1, 0], cells[count + 1, 1], cells[count + 1, 2] = x, y, z
        cells[count + 1, 3], cells[count + 1, 4], cells[count + 1, 5] = bx, by, bz
        cells[count + 1, 6], cells[count + 1, 7], cells[count + 1, 8] = cx, cy, cz
        count += 2
    return best
