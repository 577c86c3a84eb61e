"""Ascent of the separation from a direction to one that no other near it betters."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.gjk import (
    distance,
    nearest,
    points_of_both,
    probe,
    separation_along,
)
from nonsmooth.collision.kernels.directions.polish import polish
from nonsmooth.collision.kernels.directions.proofs import bounded_behind, disc_radius, is_deep_in, rims_cross
from nonsmooth.collision.kernels.directions.solids import CONE, CONVEX_HULL, CYLINDER, ELLIPSOID

POINTS_OFF = 1e-9
"""Part of the size by which nearest points may be off the planes that bound the cores."""
CLIMBS = 30
"""Most steps of an ascent."""
ROUNDING = 2e-15
"""Part of the size by which a separation is uncertain in double precision."""


CLOSE = 1e-11
"""Part of the size by which a pair that is moved by a short way is at least apart."""
GAIN = 1e-13
"""Part of the size by which another direction must be better to be looked for."""
_NEARBY = 0.3
"""Angle in rad within which the best direction of curved cores is looked for by Newton's method."""
_BELOW = 1e-7
"""Part of the size by which a point may be aside of the line below a point of an ellipsoid."""


@inlined_kernel
def is_curved(kind):
    """True for cores that are no polytopes."""
    return kind in (CYLINDER, CONE, ELLIPSOID)


@inlined_kernel
def _is_deep(solid, hulls, surface, inner, best, size):
    """True if `inner`, a point of the other core, is as deep in this one as both overlap along the best.

    `surface` is this core's point that is farthest towards the other.
    """
    s = best[0]
    first, end = 0, 0
    if solid.kind == CONVEX_HULL:
        first, end = hulls.first[solid.hull, 1], hulls.first[solid.hull + 1, 1]
    elif solid.kind == ELLIPSOID:
        x, y, z = inner[0] - surface[0], inner[1] - surface[1], inner[2] - surface[2]
        along = x * best[1] + y * best[2] + z * best[3]
        if x * x + y * y + z * z - along * along > (_BELOW * size) ** 2:
            return False
    return is_deep_in(solid, hulls.planes, first, end, inner[0], inner[1], inner[2], -s - GAIN * size)


@inner_kernel
def _proof(p, q, hulls, work, rows, best, at_p, at_q, size):
    """True if the simplex or the nearest points prove that no direction is better (see `proofs`); then also
    a point on each core that are opposite one another along the best direction.
    """
    s, x, y, z = best
    if rows == 3:
        radius = disc_radius(work.simplex, best, GAIN * size)
        if radius > 0.0:
            bounded = s >= 0.0
            if not bounded:
                _, mx, my, mz = separation_along(p, q, hulls, work.hints, -x, -y, -z)
                bounded = bounded_behind(radius, best, mx, my, mz)
            if bounded:
                t = size - s
                count, w0, w1, w2, _, _, _ = nearest(work.simplex, 3, t * x, t * y, t * z)
                at_p, at_q = points_of_both(work.simplex, count, w0, w1, w2)
                return True, at_p, at_q
    if s >= 0.0:
        return False, at_p, at_q
    of_p, of_q = at_p, at_q
    if is_curved(p.kind) or is_curved(q.kind):
        # where one point of a core is the farthest, it is known better than the nearest one
        px, py, pz, qx, qy, qz = probe(p, q, hulls, work.hints, x, y, z)
        of_p, of_q = (px, py, pz), (qx, qy, qz)
        if _is_deep(p, hulls, of_p, of_q, best, size):
            return True, (qx - s * x, qy - s * y, qz - s * z), of_q
        if _is_deep(q, hulls, of_q, of_p, best, size):
            return True, of_p, (px + s * x, py + s * y, pz + s * z)
        wx, wy, wz = qx - px - s * x, qy - py - s * y, qz - pz - s * z
        _, mx, my, mz = separation_along(p, q, hulls, work.hints, -x, -y, -z)
        if rims_cross(p, q, best, wx * wx + wy * wy + wz * wz, (mx, my, mz), GAIN * size):
            return True, of_p, of_q
    if _is_deep(p, hulls, of_p, at_q, best, size):
        return True, (at_q[0] - s * x, at_q[1] - s * y, at_q[2] - s * z), at_q
    if _is_deep(q, hulls, of_q, at_p, best, size):
        return True, at_p, (at_p[0] + s * x, at_p[1] + s * y, at_p[2] + s * z)
    return False, at_p, at_q


@inner_kernel
def ascend(p, q, hulls, work, rows, best, size, margin, climbs):
    """Climb from a direction to one that no other near it betters.

    `best` is a separation and its direction; `margin` is how far the moved pair is apart, 0 for about as far
    as it overlaps. Returns the rows of the simplex left, the best now, a point on p and on q that realise it,
    the point of M between them, and whether the best of all directions is proven.
    """
    if margin == 0.0:
        margin = 2.0 * abs(best[0]) + CLOSE * size
    # rough at first where surfaces are curved: the first steps only lead near
    exact = ROUNDING * size
    curved = is_curved(p.kind) or is_curved(q.kind)
    error = max(1e-2 * margin, exact) if curved else exact
    turned, proven = math.inf, False
    at_p, at_q, of_m = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for _ in range(climbs):
        apart, x, y, z = best
        t = margin - apart
        sx, sy, sz = t * x, t * y, t * z
        for _ in range(2):
            _, rows, (nx, ny, nz), _, near_p, near_q, way = distance(
                p, q, hulls, work.hints, work.simplex, rows, x, y, z, sx, sy, sz, math.inf, error
            )
            if rows < 4:
                break
            rows = (
                0  # the moved pair is apart: the flat simplex of an earlier search seems to hold the origin
            )
        now, _, _, _ = separation_along(p, q, hulls, work.hints, nx, ny, nz)
        if now >= apart:
            best = (now, nx, ny, nz)
        if now >= apart - POINTS_OFF * size:
            at_p, at_q, of_m = near_p, near_q, (way[0] - sx, way[1] - sy, way[2] - sz)
        turn = (nx - x) ** 2 + (ny - y) ** 2 + (nz - z) ** 2
        # steps shrink by a factor, gains by its square
        to_come = (now - apart) * min(1.0, 4.0 * turn / turned)
        proven, near_p, near_q = _proof(p, q, hulls, work, rows, best, near_p, near_q, size)
        if curved and not proven and now >= apart:
            found, near_p, near_q = polish(p, q, hulls, work.hints, best, near_p, near_q, size, _NEARBY)
            if found[0] > best[0]:
                proven, near_p, near_q = _proof(p, q, hulls, work, 0, found, near_p, near_q, size)
                best = found if proven else best
        if proven:
            at_p, at_q = near_p, near_q
            break
        if error == exact and to_come <= exact:
            break
        error = exact if now <= apart + 1e-3 * error else max(1e-5 * error, exact)
        turned = turn if turn > 0.0 else math.inf
    return rows, best, at_p, at_q, of_m, proven


@inner_kernel
def ascend_far(p, q, hulls, work, best, size, margin):
    """Climb with long steps, then with exact ones, which are short.

    A step turns by about the separation over the way t that q is moved. Where a corner of M decides, all
    directions near by are nearly as good, and with the long way of exact steps none would get anywhere.
    """
    _, found, _, _, _, _ = ascend(p, q, hulls, work, 0, best, size, 0.0, CLIMBS)
    return ascend(p, q, hulls, work, 0, found, size, margin, CLIMBS)
