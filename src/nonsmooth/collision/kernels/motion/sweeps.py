"""Solids that fly past or into one another within a step.

For convex solids that move without turning, conservative advancement is exact: along the best direction n
the gap g closes at the rate n·w, so nothing touches before the time g/(n·w), from which the next direction
is found. A plane that separates at the moment of touch separates before it too: its normal is that of the
contact, and the gap along it at the beginning of the step is what the solids may still approach. A bullet
thus stops at a wall however thin, and one that flies past the wall's corner does not touch it.

Solids that fly past one another closely have a contact, in case an impulse turns them aside. Its plane must
separate them all along: the nearest edges of a box and of a table it flies over, 1 mm high, face one another
at the beginning, and a contact along that direction would stop the box.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.motion.placing import moved

_STEPS = 50


@inner_kernel
def time_of_impact(p, q, hulls, wx, wy, wz, limit, close, work):
    """Part of the way (0 to 1) at which q, moving by w (m) against p, comes within `limit` (m), 2 if never;
    and the direction from p to q at that time. What is within `limit` + `close` counts as there.
    """
    t = 0.0
    nx, ny, nz = 0.0, 0.0, 1.0
    for _ in range(_STEPS):
        there = moved(q, t * wx, t * wy, t * wz)
        gap, nx, ny, nz = separation(p, there, hulls, math.inf, work)[:4]
        if gap <= limit + close:
            return t, nx, ny, nz
        closing = -(nx * wx + ny * wy + nz * wz)
        if closing <= 0.0:
            return 2.0, nx, ny, nz
        t += (gap - limit) / closing
        if t > 1.0:
            return 2.0, nx, ny, nz
    return t, nx, ny, nz


@inner_kernel
def passing(p, q, hulls, wx, wy, wz, limit, close, work):
    """Part of the way at which q, moving by w (m) against p, comes within `limit` (m), as `time_of_impact`;
    if never, one at which the best direction has a plane that separates the two all along the way; and that
    direction from p to q.

    The distance is a convex function of the part, and its slope that of the plane: where the gap along it
    closes, a better part is later, else earlier.
    """
    t, low, high = 0.0, 0.0, 1.0
    nx, ny, nz = 0.0, 0.0, 1.0
    for _ in range(_STEPS):
        gap, nx, ny, nz = separation(p, moved(q, t * wx, t * wy, t * wz), hulls, math.inf, work)[:4]
        if gap <= limit + close:
            return t, nx, ny, nz
        closing = -(nx * wx + ny * wy + nz * wz)
        if closing > 0.0:
            low = t + (gap - limit) / closing  # nothing touches before
            if low >= 1.0:
                return t, nx, ny, nz
            t = low if high == 1.0 else 0.5 * (low + high)
        else:
            if gap + t * closing >= 0.5 * gap:
                return t, nx, ny, nz
            high = t
            t = 0.5 * (low + high)
    return t, nx, ny, nz
