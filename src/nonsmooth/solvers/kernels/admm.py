"""ADMM's work contact by contact: the law in closed form, sums over the bodies, and what is judged.

All vectors are weighted: impulses are γ/√ρ_i and velocities √ρ_i u, both in √J. `root` is √ρ_i for every row,
`penalty` the method's σ for every block, without a unit. The bounds of `cones` are weighted like impulses.
"""

import math

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.problem.kernels.cones import project_disk, project_interval, project_round_cone
from nonsmooth.problem.kernels.residuals import BOUNDED


@inlined_kernel
def _resolvent(cones, i, p0, p1, p2):
    """y with y − p = u/σ, where y and u obey the law of block i.

    With an operator that is a multiple of the identity, Coulomb's law has a closed answer: the normal
    part is cut at zero, then friction is cut at its disk. The relaxed law's is the nearest point of K.
    """
    if cones.free[i]:
        if cones.free[i] == BOUNDED:
            p0 = project_interval(p0, cones.lower[i, 0], cones.upper[i, 0])
        return p0, p1, p2
    mu = cones.friction[i]
    if cones.tilting == 0.0:
        return project_round_cone(p0, p1, p2, mu)
    n = max(0.0, p0)
    t1, t2 = project_disk(p1, p2, mu * n)
    return n, t1, t2


@kernel
def resolve(cones, penalty, q, p, y, right):
    """Set y to the law's answer at p, and right = σ(2y − p) − q, the right-hand side for x."""
    for i in range(p.shape[0]):
        y[i, 0], y[i, 1], y[i, 2] = _resolvent(cones, i, p[i, 0], p[i, 1], p[i, 2])
        for k in range(3):
            right[i, k] = penalty[i] * (2.0 * y[i, k] - p[i, k]) - q[i, k]


@kernel
def gather(form, root, softness, right, w):
    """Set w = Â S⁻¹ r by body, where Â is A with weighted columns and S the softness of every block."""
    bodies, c = form.bodies, form.columns
    for i in range(w.shape[0]):
        for k in range(6):
            w[i, k] = 0.0
    for i in range(right.shape[0]):
        a, b = bodies[i, 0], bodies[i, 1]
        d0 = right[i, 0] * root[i, 0] / softness[i]
        d1 = right[i, 1] * root[i, 1] / softness[i]
        d2 = right[i, 2] * root[i, 2] / softness[i]
        for k in range(6):
            w[a, k] += c[i, 0, 0, k] * d0 + c[i, 0, 1, k] * d1 + c[i, 0, 2, k] * d2
        for k in range(6):
            w[b, k] += c[i, 1, 0, k] * d0 + c[i, 1, 1, k] * d1 + c[i, 1, 2, k] * d2


@kernel
def scatter(form, root, w, q, u):
    """Set u = Âᵀ w + q."""
    bodies, c = form.bodies, form.columns
    for i in range(u.shape[0]):
        a, b = bodies[i, 0], bodies[i, 1]
        for j in range(3):
            total = 0.0
            for k in range(6):
                total += c[i, 0, j, k] * w[a, k] + c[i, 1, j, k] * w[b, k]
            u[i, j] = root[i, j] * total + q[i, j]


@kernel
def body_band(form, root, softness, place, band):
    """Add Â S⁻¹ Âᵀ to its lower band (width + 1, coordinates).

    `place` is the position of every body in the band, −1 for ground.
    """
    bodies, c = form.bodies, form.columns
    for i in range(bodies.shape[0]):
        for side in range(2):
            first = 6 * place[bodies[i, side]]
            if first < 0:
                continue
            for other in range(2):
                second = 6 * place[bodies[i, other]]
                if second < 0 or second > first:
                    continue
                for j in range(3):
                    factor = root[i, j] * root[i, j] / softness[i]
                    for k in range(6):
                        part = factor * c[i, side, j, k]
                        for m in range(6):
                            if first + k >= second + m:
                                band[first + k - second - m, second + m] += part * c[i, other, j, m]


@kernel
def judge(cones, penalty, p, y, u, x, change, before, sums):
    """From velocities u = N x + q set x = 2y − p − u/σ and change = x − y; keep y in `before`.

    sums: squares of the natural map at x, of the change, of x, of the law's velocities σ(y − p), and of
    σ(y − before).
    """
    natural = changed = size = speed = moved = 0.0
    for i in range(p.shape[0]):
        for k in range(3):
            x[i, k] = 2.0 * y[i, k] - p[i, k] - u[i, k] / penalty[i]
            change[i, k] = x[i, k] - y[i, k]
            changed += change[i, k] * change[i, k]
            size += x[i, k] * x[i, k]
            speed += (penalty[i] * (y[i, k] - p[i, k])) ** 2
            moved += (penalty[i] * (y[i, k] - before[i, k])) ** 2
            before[i, k] = y[i, k]
        if cones.free[i] == BOUNDED:
            z0 = project_interval(x[i, 0] - u[i, 0], cones.lower[i, 0], cones.upper[i, 0])
            natural += (x[i, 0] - z0) ** 2
            continue
        if cones.free[i]:
            natural += u[i, 0] * u[i, 0] + u[i, 1] * u[i, 1] + u[i, 2] * u[i, 2]
            continue
        mu = cones.friction[i]
        s = cones.tilting * mu * math.sqrt(u[i, 1] * u[i, 1] + u[i, 2] * u[i, 2])
        z0, z1, z2 = project_round_cone(x[i, 0] - u[i, 0] - s, x[i, 1] - u[i, 1], x[i, 2] - u[i, 2], mu)
        natural += (x[i, 0] - z0) ** 2 + (x[i, 1] - z1) ** 2 + (x[i, 2] - z2) ** 2
    sums[0], sums[1], sums[2], sums[3], sums[4] = natural, changed, size, speed, moved
