"""All joint rows as one block of a sweep, solved exactly for the present state of all others.

Rows without bounds are a linear system, for which a factor is at hand. Rows with bounds make it a convex
problem, min ½ λᵀNλ + uᵀλ over lower ≤ λ ≤ upper, in which the others follow: Newton's method with projection
(Bertsekas 1982). Rows at a bound that push further are left out, the rest is solved as if it had no bounds
and cut at them, and a step that goes uphill is halved. Each of these needs a factor without the rows that are
left out; from sweep to sweep they stay the same as a rule, and so does the factor.

Vectors over the rows are weighted, λ/√ρ and √ρ u, both in √J, in the order of elimination.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from nonsmooth._support.jit import INLINED_OVERLOAD, inner_kernel, kernel
from nonsmooth.problem.kernels.cones import project_interval
from nonsmooth.problem.kernels.operator import accumulate, add_impulse, block_velocity
from nonsmooth.solvers.kernels.joint_factor import Panels, factorise, leave_out, solve

_MOST_STEPS = 100
"""Newton steps in one sweep; the next sweep goes on."""
_DECREASE, _SHORTEST = 1e-4, 1e-9
"""Part of the linear decrease that a step must bring (Armijo), and the shortest step that is tried."""
_ROUNDING = 1e-15
"""Residual relative to the impulses below which rows with bounds count as solved."""


class JointBlock(NamedTuple):
    """The joint rows that are held together."""

    blocks: np.ndarray  # (joints,) int64: blocks of the problem
    place: np.ndarray  # (joints, 3) int64: number of every row, −1 where a block has none
    root: np.ndarray  # (rows,) √ρ
    lower: np.ndarray  # (rows,) in N·s, as the problem has it
    upper: np.ndarray  # (rows,)
    panels: Panels
    assembled: np.ndarray  # √ρ N √ρ; not needed where no row has bounds
    free: np.ndarray  # its factor without rows that have bounds
    active: np.ndarray  # its factor without rows that are fixed
    fixed: np.ndarray  # (rows,) uint8: which these are
    bounded: np.ndarray  # int64: which of `blocks` are a row with bounds
    work: np.ndarray  # (5, rows)


def hold_joints(form, joints, q, relaxation, x, w):
    """Solve all joint rows at once for the present state of all others; nothing where `joints` is None.

    Returns their squared natural map before, in J: Σ ρu² for rows without bounds.
    """
    raise TypeError("for use in kernels alone")


def extrapolate_joints(joints, x, last, beta):
    """last ← x,  x ← x + β (x − last) for the joint rows."""
    raise TypeError("for use in kernels alone")


@inner_kernel
def _velocities(form, joints, q, x, w, u):
    """Fill in the rows' velocities."""
    for mine in range(joints.blocks.shape[0]):
        i = joints.blocks[mine]
        u0, u1, u2 = block_velocity(form, i, x, w)
        velocity = (u0 + q[i, 0], u1 + q[i, 1], u2 + q[i, 2])
        for k in range(3):
            row = joints.place[mine, k]
            if row >= 0:
                u[row] = joints.root[row] * velocity[k]


@inner_kernel
def _move(form, joints, d, factor, x, w):
    """Add factor · d to the rows' impulses."""
    for mine in range(joints.blocks.shape[0]):
        i = joints.blocks[mine]
        r0, r1, r2 = joints.place[mine, 0], joints.place[mine, 1], joints.place[mine, 2]
        d0 = factor * joints.root[r0] * d[r0]
        d1 = factor * joints.root[r1] * d[r1] if r1 >= 0 else 0.0
        d2 = factor * joints.root[r2] * d[r2] if r2 >= 0 else 0.0
        if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
            x[i, 0] += d0
            x[i, 1] += d1
            x[i, 2] += d2
            add_impulse(form, i, d0, d1, d2, w)


@kernel
def hold_free(form, joints, q, x, w, b):
    """Solve the rows without bounds."""
    _velocities(form, joints, q, x, w, b)
    for mine in joints.bounded:
        b[joints.place[mine, 0]] = 0.0
    solve(joints.panels, joints.free, b)
    _move(form, joints, b, -1.0, x, w)


@inner_kernel
def _cut(form, joints, start, p, length, x, w, d):
    """Let the impulses of rows with bounds be start + length · p, cut at the bounds.

    d becomes the weighted change since `start`.
    """
    for mine in joints.bounded:
        i, row = joints.blocks[mine], joints.place[mine, 0]
        wanted = start[row] + length * joints.root[row] * p[row]
        new = project_interval(wanted, joints.lower[row], joints.upper[row])
        d[row] = (new - start[row]) / joints.root[row]
        change = new - x[i, 0]
        if change != 0.0:
            x[i, 0] = new
            add_impulse(form, i, change, 0.0, 0.0, w)


@inner_kernel
def _bounded_residual(joints, u, x):
    """Squared natural map of the rows with bounds and their squared impulses, in J."""
    wrong = 0.0
    size = 0.0
    for mine in joints.bounded:
        i, row = joints.blocks[mine], joints.place[mine, 0]
        root = joints.root[row]
        r = x[i, 0] - project_interval(x[i, 0] - root * u[row], joints.lower[row], joints.upper[row])
        wrong += (r / root) ** 2
        size += (x[i, 0] / root) ** 2
    return wrong, size


@inner_kernel
def _fix(joints, u, x):
    """Fix the rows at a bound that push further, and tell whether these are others than before."""
    changed = False
    for mine in joints.bounded:
        row = joints.place[mine, 0]
        value, lower, upper = x[joints.blocks[mine], 0], joints.lower[row], joints.upper[row]
        fixed = lower == upper or (value <= lower and u[row] > 0.0) or (value >= upper and u[row] < 0.0)
        changed = changed or fixed != (joints.fixed[row] == 1)
        joints.fixed[row] = 1 if fixed else 0
    return changed


@inner_kernel
def _step(form, joints, q, x, w):
    """One step of Newton's method with projection; returns whether nothing had to be cut."""
    u, start, p, d, b = joints.work[0], joints.work[1], joints.work[2], joints.work[3], joints.work[4]
    for row in range(u.shape[0]):
        p[row] = 0.0 if joints.fixed[row] else u[row]
    solve(joints.panels, joints.active, p)
    cut = False
    for row in range(u.shape[0]):
        p[row] = -p[row]
    for mine in joints.bounded:
        row = joints.place[mine, 0]
        start[row] = x[joints.blocks[mine], 0]
        wanted = start[row] + joints.root[row] * p[row]
        cut = cut or wanted < joints.lower[row] or wanted > joints.upper[row]
    if not cut:
        _move(form, joints, p, 1.0, x, w)
        return True
    length = 1.0
    while length > _SHORTEST:
        _cut(form, joints, start, p, length, x, w, d)
        hold_free(form, joints, q, x, w, b)
        _velocities(form, joints, q, x, w, b)
        slope = 0.0
        change = 0.0
        for mine in joints.bounded:  # rows without bounds have no velocity, so that they do not count
            row = joints.place[mine, 0]
            slope += d[row] * u[row]
            change += 0.5 * d[row] * (u[row] + b[row])
        if change <= _DECREASE * slope:
            break
        length *= 0.5
    return False


@inner_kernel
def _hold_bounded(form, joints, q, x, w):
    """`hold_joints` where some rows have bounds."""
    u, start, p, d, b = joints.work[0], joints.work[1], joints.work[2], joints.work[3], joints.work[4]
    for mine in joints.bounded:  # an extrapolation may have left the bounds
        row = joints.place[mine, 0]
        start[row], p[row] = x[joints.blocks[mine], 0], 0.0
    _cut(form, joints, start, p, 0.0, x, w, d)
    _velocities(form, joints, q, x, w, u)
    before = _bounded_residual(joints, u, x)[0]
    for mine in joints.bounded:
        u[joints.place[mine, 0]] = 0.0
    for row in range(u.shape[0]):
        before += u[row] * u[row]
    hold_free(form, joints, q, x, w, b)
    whole = False
    for _ in range(_MOST_STEPS):
        _velocities(form, joints, q, x, w, u)
        wrong, size = _bounded_residual(joints, u, x)
        if wrong <= _ROUNDING * _ROUNDING * size:
            break
        if _fix(joints, u, x):
            leave_out(joints.panels, joints.fixed, joints.assembled, joints.active)
            factorise(joints.panels, joints.active, b)
        elif whole:
            break
        whole = _step(form, joints, q, x, w)
    return before


# Problems without joints have None in place of the block, and kernels that know nothing of it.


@overload(hold_joints, jit_options=INLINED_OVERLOAD)
def _hold_joints(form, joints, q, relaxation, x, w):
    if isinstance(joints, types.NoneType):
        return lambda form, joints, q, relaxation, x, w: 0.0

    def hold(form, joints, q, relaxation, x, w):
        if joints.bounded.shape[0] > 0:
            return _hold_bounded(form, joints, q, x, w)
        u = joints.work[0]
        _velocities(form, joints, q, x, w, u)
        wrong = 0.0
        for row in range(u.shape[0]):
            wrong += u[row] * u[row]
        if wrong > 0.0:
            solve(joints.panels, joints.free, u)
            _move(form, joints, u, -relaxation, x, w)
        return wrong

    return hold


@overload(extrapolate_joints, jit_options=INLINED_OVERLOAD)
def _extrapolate_joints(joints, x, last, beta):
    if isinstance(joints, types.NoneType):
        return lambda joints, x, last, beta: None

    def extrapolate(joints, x, last, beta):
        for i in joints.blocks:
            for k in range(3):
                new = x[i, k]
                x[i, k] = new + beta * (new - last[i, k])
                last[i, k] = new

    return extrapolate


@kernel
def hold_at(form, joints, q, x, w):
    """Solve all joint rows for given impulses of all others; w becomes A x."""
    accumulate(form, x, w)
    return hold_joints(form, joints, q, 1.0, x, w)
