"""The prox iterations of Studer and Glocker: normal and friction as separate constraints.

A contact is two constraints: the unilateral one (Eqs. 60, 71) with its factor r_n, and friction
(Eqs. 61, 72) with r_t, on the disk whose radius is μ times the current normal impulse. Joint rows
are constraints without a projection, or with one on the interval of their bounds. Under the relaxed law
the unilateral constraint is on u_n − μ |u_t| (Melanz et al. Eq. 10).
"""

import math

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.problem.kernels.cones import project_disk, project_interval, project_polygon, tilt
from nonsmooth.problem.kernels.operator import accumulate, add_impulse, block_velocity
from nonsmooth.problem.kernels.residuals import BOUNDED


@inlined_kernel
def _disk(t1, t2, radius, sides):
    if sides == 0:
        return project_disk(t1, t2, radius)
    return project_polygon(t1, t2, radius, sides)


@inlined_kernel
def _relaxed_part(cones, i, v1, v2):
    """μ |u_t| under the relaxed law, zero under the exact ones and for joints."""
    if cones.tilting > 0.0 or cones.free[i]:
        return 0.0
    return tilt(v1, v2, cones.friction[i], cones.sides)


@kernel
def jor_prox(form, cones, q, r, x, u, w, count, stop):
    """Jacobi: every constraint sees the forces of the last iterate alone, the disk's radius included.

    Returns (done, change).
    """
    change = math.inf
    done = 0
    blocks = x.shape[0]
    while done < count and not change <= stop:
        accumulate(form, x, w)
        for i in range(blocks):
            u[i, 0], u[i, 1], u[i, 2] = block_velocity(form, i, x, w)
        squared = 0.0
        for i in range(blocks):
            lift = _relaxed_part(cones, i, u[i, 1] + q[i, 1], u[i, 2] + q[i, 2])
            y0 = x[i, 0] - r[i, 0] * (u[i, 0] + q[i, 0] - lift)
            y1 = x[i, 1] - r[i, 1] * (u[i, 1] + q[i, 1])
            y2 = x[i, 2] - r[i, 2] * (u[i, 2] + q[i, 2])
            if not cones.free[i]:
                y0 = max(0.0, y0)
                y1, y2 = _disk(y1, y2, cones.friction[i] * max(0.0, x[i, 0]), cones.sides)
            elif cones.free[i] == BOUNDED:
                y0 = project_interval(y0, cones.lower[i, 0], cones.upper[i, 0])
            squared += (
                (y0 - x[i, 0]) ** 2 / cones.weight[i, 0]
                + (y1 - x[i, 1]) ** 2 / cones.weight[i, 1]
                + (y2 - x[i, 2]) ** 2 / cones.weight[i, 2]
            )
            x[i, 0], x[i, 1], x[i, 2] = y0, y1, y2
        change = math.sqrt(squared)
        done += 1
    return done, change


@kernel
def sor_prox(form, cones, q, r, x, w, sequence, count, stop):
    """Gauss-Seidel: each constraint sees what the ones before it have changed.

    `sequence` lists the constraints as 2 i for the normal and 2 i + 1 for the friction of block i
    (for joints: first row, and the other two one after the other).
    """
    change = math.inf
    done = 0
    while done < count and not change <= stop:
        squared = 0.0
        for constraint in sequence:
            i = constraint // 2
            u0, u1, u2 = block_velocity(form, i, x, w)
            d0 = d1 = d2 = 0.0
            if constraint % 2 == 0:
                lift = _relaxed_part(cones, i, u1 + q[i, 1], u2 + q[i, 2])
                y0 = x[i, 0] - r[i, 0] * (u0 + q[i, 0] - lift)
                if not cones.free[i]:
                    y0 = max(0.0, y0)
                elif cones.free[i] == BOUNDED:
                    y0 = project_interval(y0, cones.lower[i, 0], cones.upper[i, 0])
                d0 = y0 - x[i, 0]
                x[i, 0] = y0
            elif cones.free[i]:
                d1 = -r[i, 1] * (u1 + q[i, 1])
                x[i, 1] += d1
                add_impulse(form, i, 0.0, d1, 0.0, w)
                u0, u1, u2 = block_velocity(form, i, x, w)
                squared += d1 * d1 / cones.weight[i, 1]
                d1 = 0.0
                d2 = -r[i, 2] * (u2 + q[i, 2])
                x[i, 2] += d2
            else:
                y1, y2 = _disk(
                    x[i, 1] - r[i, 1] * (u1 + q[i, 1]),
                    x[i, 2] - r[i, 2] * (u2 + q[i, 2]),
                    cones.friction[i] * x[i, 0],
                    cones.sides,
                )
                d1, d2 = y1 - x[i, 1], y2 - x[i, 2]
                x[i, 1], x[i, 2] = y1, y2
            add_impulse(form, i, d0, d1, d2, w)
            squared += (
                d0 * d0 / cones.weight[i, 0] + d1 * d1 / cones.weight[i, 1] + d2 * d2 / cones.weight[i, 2]
            )
        change = math.sqrt(squared)
        done += 1
    return done, change
