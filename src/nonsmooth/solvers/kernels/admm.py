"""ADMM: the law of every contact in closed form, and one linear system for all of them.

All vectors are weighted: impulses are γ/√ρ_i and velocities √ρ_i u, both in √J. `root` is √ρ_i for every row,
`penalty` the method's σ for every block, without a unit. The bounds of `cones` are weighted like impulses.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.problem.kernels.cones import project_disk, project_interval, project_round_cone
from nonsmooth.problem.kernels.operator import apply
from nonsmooth.problem.kernels.residuals import BOUNDED, JOINT
from nonsmooth.solvers.kernels.anderson import clear, follow
from nonsmooth.solvers.kernels.bands import factorise_band, solve_band


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
def body_band(form, root, softness, place, width, band):
    """Set Â S⁻¹ Âᵀ, as a lower band: see `bands`.

    `place` is the position of every body in the band, −1 for ground.
    """
    for k in range(band.shape[0]):
        band[k] = 0.0
    bodies, c = form.bodies, form.columns
    for i in range(bodies.shape[0]):
        f0 = root[i, 0] * root[i, 0] / softness[i]
        f1 = root[i, 1] * root[i, 1] / softness[i]
        f2 = root[i, 2] * root[i, 2] / softness[i]
        for side in range(2):
            first = 6 * place[bodies[i, side]]
            if first < 0:
                continue
            for other in range(2):
                second = 6 * place[bodies[i, other]]
                if second < 0 or second > first:
                    continue
                for m in range(6):
                    d0, d1, d2 = f0 * c[i, other, 0, m], f1 * c[i, other, 1, m], f2 * c[i, other, 2, m]
                    at = (second + m) * (width + 1) + first - second - m
                    for k in range(m if first == second else 0, 6):
                        band[at + k] += d0 * c[i, side, 0, k] + d1 * c[i, side, 1, k] + d2 * c[i, side, 2, k]


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


SIGMA, LEAST, RELAXATION = range(3)
"""Entries of `Run.real`: the penalty, its lower bound, over-relaxation."""
DONE, PAUSE, NEXT_LOOK, FACTORISATIONS, BALANCE = range(5)
"""Entries of `Run.count`: iterations, those from one look at σ to the next, that of the next look; number of
factorisations; 1 if σ is adapted."""
FIRST_LOOK = 5
"""Iterations before the first look at σ; the interval doubles with every change of σ."""
_OUT_OF_BALANCE, _LARGEST_CHANGE = 3.0, 100.0
"""σ is changed if it is off by more than the first factor, by at most the second factor."""
LEAST_PENALTY, LARGEST_PENALTY = 1e-3, 10.0
"""Range of σ: below, walls of bricks do not converge; above, steps are too small."""


class Run(NamedTuple):
    """Variables of the iteration, (blocks, 3)."""

    root: np.ndarray
    q: np.ndarray
    x: np.ndarray
    p: np.ndarray
    y: np.ndarray
    u: np.ndarray
    right: np.ndarray
    change: np.ndarray
    before: np.ndarray
    softness: np.ndarray  # (blocks,)
    penalty: np.ndarray  # (blocks,) σ times the softness
    sums: np.ndarray  # (5,): see `judge`
    real: np.ndarray
    count: np.ndarray  # int64


class Bodies(NamedTuple):
    """The linear system over the bodies: (σ + A S⁻¹ Aᵀ) w = A S⁻¹ r and N x = Aᵀ w."""

    order: np.ndarray  # (moving,) int64: see `bands`
    place: np.ndarray  # (bodies,) int64
    band: np.ndarray  # (6 moving · (width + 1),)
    factor: np.ndarray
    w: np.ndarray  # (bodies, 6)
    solved: np.ndarray  # (6 moving,)
    columns: np.ndarray  # (6 (width + 1),) scratch


@kernel
def start_at(form, cones, run, sigma, impulses, w):
    """Set the variables of impulses, whose velocities a warm start includes; w is scratch."""
    count = run.count
    count[DONE], count[FACTORISATIONS] = 0, 0
    count[PAUSE] = count[NEXT_LOOK] = FIRST_LOOK
    warm = False
    for i in range(impulses.shape[0]):
        for k in range(3):
            warm = warm or impulses[i, k] != 0.0
            run.x[i, k] = impulses[i, k] / run.root[i, k]
            run.p[i, k] = run.x[i, k]
            run.right[i, k] = run.root[i, k] * run.x[i, k]
            run.before[i, k] = 0.0
    set_penalty(run, sigma)
    if not warm:
        return
    apply(form, run.right, w, run.u)
    for i in range(impulses.shape[0]):
        if cones.free[i] != JOINT:
            for k in range(3):
                run.p[i, k] -= (run.root[i, k] * run.u[i, k] + run.q[i, k]) / sigma


@kernel
def set_penalty(run, sigma):
    """Set σ."""
    run.real[SIGMA] = sigma
    for i in range(run.penalty.shape[0]):
        run.penalty[i] = sigma * run.softness[i]


@kernel
def rebalance(run, mixture):
    """Change σ if |γ − y|/|γ| and |Δσy|/|u| are far apart; returns whether it was changed."""
    count, sigma = run.count, run.real[SIGMA]
    if not count[BALANCE] or count[DONE] < count[NEXT_LOOK]:
        return False
    count[NEXT_LOOK] = count[DONE] + count[PAUSE]
    primal, size = max(run.sums[1], 1e-300), max(run.sums[2], 1e-300)
    speed, dual = max(run.sums[3], 1e-300), max(run.sums[4], 1e-300)
    ratio = ((primal / size) / (dual / speed)) ** 0.25  # squares: the root of the ratio of the norms
    ratio = min(max(ratio, 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
    better = min(max(sigma * ratio, run.real[LEAST]), LARGEST_PENALTY)
    if 1.0 / _OUT_OF_BALANCE < better / sigma < _OUT_OF_BALANCE:
        return False
    for i in range(run.p.shape[0]):  # the same impulses and velocities
        for k in range(3):
            run.p[i, k] = run.y[i, k] + (run.p[i, k] - run.y[i, k]) * (sigma / better)
    set_penalty(run, better)
    clear(mixture)
    count[PAUSE] *= 2
    count[NEXT_LOOK] = count[DONE] + count[PAUSE]
    return True


@kernel
def move_on(run, mixture):
    """Set p to the next point."""
    for i in range(run.p.shape[0]):
        for k in range(3):
            run.change[i, k] *= run.real[RELAXATION]
    follow(mixture, run.p, run.change)


@kernel
def factorise(run, bodies):
    """Factorise the system over the bodies for σ; False if that breaks down."""
    run.count[FACTORISATIONS] += 1
    size = bodies.solved.shape[0]
    width = bodies.band.shape[0] // size - 1 if size > 0 else 0
    return factorise_band(bodies.band, run.real[SIGMA], size, width, bodies.factor, bodies.columns)


@inner_kernel
def _body_velocities(form, run, bodies):
    """Set u = N x + q for the right-hand side of x."""
    gather(form, run.root, run.softness, run.right, bodies.w)
    moving = bodies.solved.shape[0] // 6
    for j in range(moving):
        for k in range(6):
            bodies.solved[6 * j + k] = bodies.w[bodies.order[j], k]
    size = bodies.solved.shape[0]
    if size > 0:
        solve_band(bodies.factor, size, bodies.band.shape[0] // size - 1, bodies.solved)
    for j in range(moving):
        for k in range(6):
            bodies.w[bodies.order[j], k] = bodies.solved[6 * j + k]
    scatter(form, run.root, bodies.w, run.q, run.u)


@kernel
def iterate(form, cones, run, mixture, bodies, limits):
    """Iterations over the bodies: up to a number of them, or until the natural map is at most a stop (√J).

    Returns the number, the natural map, and False if a factorisation broke down.
    """
    most, stop = limits
    done, own = 0, math.inf
    while done < most:
        resolve(cones, run.penalty, run.q, run.p, run.y, run.right)
        _body_velocities(form, run, bodies)
        judge(cones, run.penalty, run.p, run.y, run.u, run.x, run.change, run.before, run.sums)
        done += 1
        run.count[DONE] += 1
        own = math.sqrt(run.sums[0])
        if not own > stop:
            break
        if rebalance(run, mixture):
            if not factorise(run, bodies):
                return done, own, False
        else:
            move_on(run, mixture)
    return done, own, True
