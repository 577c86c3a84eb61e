"""Ascent of the separation from a direction to one that no other near it betters."""

import math

from nonsmooth._jit import inner_kernel
from nonsmooth.collision.kernels.gjk import distance, separation_along

POINTS_OFF = 1e-9
"""Part of the size by which nearest points may be off the planes that bound the cores."""
CLIMBS = 30
"""Most steps of an ascent."""
ROUNDING = 2e-15
"""Part of the size by which a separation is uncertain in double precision."""


CLOSE = 1e-11
"""Part of the size by which a pair that is moved by a short way is at least apart."""


@inner_kernel
def ascend(p, q, hulls, work, rows, best, size, margin, climbs):
    """Climb from a direction to one that no other near it betters.

    `best` is a separation and its direction; `margin` is how far the moved pair is apart, 0 for about as far
    as it overlaps. Returns the rows of the simplex left, the best now, a point on p and on q that realise it,
    and the point of M between them.
    """
    if margin == 0.0:
        margin = 2.0 * abs(best[0]) + CLOSE * size
    # rough at first: the first steps only lead near
    exact = ROUNDING * size
    error = max(1e-2 * margin, exact)
    turned = math.inf
    at_p, at_q, of_m = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for _ in range(climbs):
        apart, x, y, z = best
        t = margin - apart
        sx, sy, sz = t * x, t * y, t * z
        _, rows, (nx, ny, nz), _, near_p, near_q, way = distance(
            p, q, hulls, work.hints, work.simplex, rows, x, y, z, sx, sy, sz, math.inf, error
        )
        if rows == 4:
            # the moved pair is apart: what seems to hold the origin is the flat simplex of an earlier search
            _, rows, (nx, ny, nz), _, near_p, near_q, way = distance(
                p, q, hulls, work.hints, work.simplex, 0, x, y, z, sx, sy, sz, math.inf, error
            )
        now, _, _, _ = separation_along(p, q, hulls, work.hints, nx, ny, nz)
        if now >= apart:
            best = (now, nx, ny, nz)
        if now >= apart - POINTS_OFF * size:
            at_p, at_q, of_m = near_p, near_q, (way[0] - sx, way[1] - sy, way[2] - sz)
        turn = (nx - x) ** 2 + (ny - y) ** 2 + (nz - z) ** 2
        # steps shrink by a factor, gains by its square
        to_come = (now - apart) * min(1.0, 4.0 * turn / turned)
        if rows == 4 or (error == exact and to_come <= exact):
            break
        error = exact if now <= apart + 1e-3 * error else max(1e-5 * error, exact)
        turned = turn if turn > 0.0 else math.inf
    return min(rows, 3), best, at_p, at_q, of_m


@inner_kernel
def ascend_far(p, q, hulls, work, best, size, margin):
    """Climb with long steps, then with exact ones, which are short.

    A step turns by about the separation over the way t that q is moved. Where a corner of M decides, all
    directions near by are nearly as good, and with the long way of exact steps none would get anywhere.
    """
    _, found, _, _, _ = ascend(p, q, hulls, work, 0, best, size, 0.0, CLIMBS)
    return ascend(p, q, hulls, work, 0, found, size, margin, CLIMBS)
