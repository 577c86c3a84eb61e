"""The best of all directions for overlapping cores of which one is curved: search over the sphere.

Any point m of M bounds the separation along every direction n by n·m. A triangle on the sphere of directions
holds nothing better than what is known if one such point, a cut, rules out its three corners (see
`polytopes`). The others are halved. Cuts are lowest points of M along the middles of triangles; for small
triangles, also the point of M nearest to −t n, where n is the middle and t several times the overlap. Those
lie on the sharp edges and corners of M, and rule out triangles in which another point is the lowest at each
corner.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.ascent import ascend_far
from nonsmooth.collision.kernels.directions.gjk import INSIDE, distance, separation_along
from nonsmooth.collision.kernels.directions.work import CELLS, CUTS

_ERROR = 2e-11
"""Part of the size by which the best direction of all may be better than the one found."""
_SMALL = 0.05
"""Square of the longest side of a triangle for which a point of M is searched that may rule it out."""
_LEAST = 1e-6
"""Square of the longest side of a triangle that is not halved further."""
_MANY = 500
"""Triangles after which small ones are not halved further: many directions are about as good."""
_MOST = 5_000
_FARTHER = 10.0
"""How much farther than the overlap the point is whose nearest one in M is searched for."""
_OF_PEAKS = 12
"""Cuts that come from peaks and stay; later ones take the place of the oldest others."""
_SECTORS = 8
_WIDTH = 2.0 * math.pi / _SECTORS
_TILT = 0.19
_LEAST_TILT = 1e-4
"""Largest and least tangent of the angle between the first peak and the ring of triangles around it."""


@inlined_kernel
def _set(points, row, x, y, z):
    points[row, 0], points[row, 1], points[row, 2] = x, y, z


@inner_kernel
def _ruled_out(points, cuts, first, triangle, target):
    """The cut that rules out a triangle, −1 if there is none; cut `first` is tried first."""
    ax, ay, az, bx, by, bz, cx, cy, cz = triangle
    k = first
    for i in range(-1, cuts):
        if i >= 0:
            k = i
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        if (
            ax * x + ay * y + az * z < target
            and bx * x + by * y + bz * z < target
            and cx * x + cy * y + cz * z < target
        ):
            return k
    return -1


@inner_kernel
def _set_ring(cells, best, tilt):
    """A ring of directions around the best one; from each two of them a triangle to the opposite of it."""
    nx, ny, nz = best[1], best[2], best[3]
    if abs(nx) < 0.6:
        ux, uy, uz = 0.0, nz, -ny
    else:
        ux, uy, uz = -nz, 0.0, nx
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    wx, wy, wz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    for k in range(_SECTORS):
        a, b = tilt * math.cos(_WIDTH * k), tilt * math.sin(_WIDTH * k)
        x, y, z = nx + a * ux + b * wx, ny + a * uy + b * wy, nz + a * uz + b * wz
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        before = (k + _SECTORS - 1) % _SECTORS
        cells[k, 0], cells[k, 1], cells[k, 2] = x, y, z
        cells[before, 3], cells[before, 4], cells[before, 5] = x, y, z
        cells[k, 6], cells[k, 7], cells[k, 8] = -nx, -ny, -nz


@inner_kernel
def search_sphere(p, q, hulls, work, cuts, best, way, size, margin):
    """The best direction, from the best one known so far and the point of M where an ascent to it ended.

    `cuts` more points of M are in `work.cuts`.
    """
    cells, points = work.cells, work.cuts[0]
    error = _ERROR * size
    if cuts < CUTS:
        _set(points, cuts, points[0, 0], points[0, 1], points[0, 2])
        cuts += 1
    _set(points, 0, way[0], way[1], way[2])
    of_peaks, oldest = 1, _OF_PEAKS - 1
    # a direction at an angle θ to the peak is at most |separation| θ²/2 better, and θ times what `way` is off
    off = math.sqrt(
        (way[0] - best[0] * best[1]) ** 2
        + (way[1] - best[0] * best[2]) ** 2
        + (way[2] - best[0] * best[3]) ** 2
    )
    tilt = min(_TILT, math.sqrt(error / max(-best[0], 1e-300)), 0.5 * error / max(off, 1e-300))
    _set_ring(cells, best, max(tilt, _LEAST_TILT))
    count, visits, last = _SECTORS, 0, 0
    while count > 0 and visits < _MOST:
        count -= 1
        visits += 1
        ax, ay, az = cells[count, 0], cells[count, 1], cells[count, 2]
        bx, by, bz = cells[count, 3], cells[count, 4], cells[count, 5]
        cx, cy, cz = cells[count, 6], cells[count, 7], cells[count, 8]
        target = best[0] + error
        killer = _ruled_out(points, cuts, last, (ax, ay, az, bx, by, bz, cx, cy, cz), target)
        if killer >= 0:
            last = killer
            continue
        # of a triangle that reaches to the other side, the middle of the near side says more
        far = 0.0 if ax * cx + ay * cy + az * cz < -0.9 else 1.0
        x, y, z = ax + bx + far * cx, ay + by + far * cy, az + bz + far * cz
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        apart, mx, my, mz = separation_along(p, q, hulls, work.hints, x, y, z)
        if cuts < CUTS:
            last = cuts
            cuts += 1
        else:
            oldest = oldest + 1 if oldest + 1 < CUTS else _OF_PEAKS
            last = oldest
        _set(points, last, mx, my, mz)
        if (
            ax * mx + ay * my + az * mz < target
            and bx * mx + by * my + bz * mz < target
            and cx * mx + cy * my + cz * mz < target
        ):
            continue
        ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
        width = 1.0 - min(ab, bc, ca)
        found = (apart, x, y, z)
        if width < 0.5 * _SMALL:
            t = -_FARTHER * target
            end, _, (nx, ny, nz), _, _, _, near = distance(
                p, q, hulls, work.hints, work.simplex, 0, x, y, z, t * x, t * y, t * z, math.inf,
                max(-target * width, error),
            )  # fmt: skip
            if end == INSIDE:
                continue  # −t n itself rules out the triangle
            mx, my, mz = near[0] - t * x, near[1] - t * y, near[2] - t * z
            _set(points, last, mx, my, mz)
            apart, _, _, _ = separation_along(p, q, hulls, work.hints, nx, ny, nz)
            if apart > found[0]:
                found = (apart, nx, ny, nz)
        if found[0] > best[0]:
            _, best, _, _, (mx, my, mz), _ = ascend_far(p, q, hulls, work, found, size, margin)
            target = best[0] + error
            of_peaks = min(of_peaks + 1, _OF_PEAKS)
            _set(points, of_peaks - 1, mx, my, mz)
        small = width < 0.5 * (_LEAST if visits < _MANY else _SMALL)
        if small or (
            ax * mx + ay * my + az * mz < target
            and bx * mx + by * my + bz * mz < target
            and cx * mx + cy * my + cz * mz < target
        ):
            continue
        if count + 2 > CELLS:
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
