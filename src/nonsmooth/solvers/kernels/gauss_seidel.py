"""Block Gauss-Seidel sweeps, plain and with momentum or conjugate directions over the sweeps.

A `Point` is a set of impulses x with its mass-weighted velocity w = A x (kept in the factored form only).
`point` is where the next sweep starts, `answer` what the last sweep left, which lies in its cones. All
inner products are weighted with 1/ρ, so that they are energies. Joints that are held together are the last
block of every sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inlined_kernel, inner_kernel, kernel
from nonsmooth.problem.kernels.cones import project_interval, project_round_cone
from nonsmooth.problem.kernels.operator import (
    BlockSparse,
    Factored,
    add_impulse,
    block_velocity,
    copy_into,
    weigh,
)
from nonsmooth.problem.kernels.residuals import (
    BOUNDED,
    Cones,
    residual_by_island,
    residual_of_impulses,
    velocities,
    weighted_square,
)
from nonsmooth.solvers.kernels.joint_block import hold_joints
from nonsmooth.solvers.kernels.local import invert_blocks, solve_contact


class Local(NamedTuple):
    """The diagonal blocks, their (pseudo-)inverses and the last sliding multiplier of each block."""

    block: np.ndarray  # (blocks, 3, 3)
    inverse: np.ndarray  # (blocks, 3, 3)
    multiplier: np.ndarray  # (blocks,)


class Equations(NamedTuple):
    """What is solved and how: the operator's form, the laws, the local blocks, q, and the sweep's options."""

    form: tuple  # Factored or BlockSparse
    cones: tuple
    local: Local
    q: np.ndarray  # (blocks, 3)
    visited: np.ndarray  # int64: blocks that are visited one by one
    joints: tuple | None  # JointBlock: the others, all at once; or None
    relaxation: float
    symmetric: bool


class Point(NamedTuple):
    """Impulses and their mass-weighted velocity."""

    x: np.ndarray  # (blocks, 3)
    w: np.ndarray  # (bodies, 6)


@inlined_kernel
def visit(eq, i, x, w):
    """Solve block i for the present state of all others; returns the change of its impulse."""
    u0, u1, u2 = block_velocity(eq.form, i, x, w)
    u0 += eq.q[i, 0]
    u1 += eq.q[i, 1]
    u2 += eq.q[i, 2]
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    inverse = eq.local.inverse[i]
    if eq.cones.free[i]:
        y0 = x0 - (inverse[0, 0] * u0 + inverse[0, 1] * u1 + inverse[0, 2] * u2) * eq.relaxation
        y1 = x1 - (inverse[1, 0] * u0 + inverse[1, 1] * u1 + inverse[1, 2] * u2) * eq.relaxation
        y2 = x2 - (inverse[2, 0] * u0 + inverse[2, 1] * u1 + inverse[2, 2] * u2) * eq.relaxation
        if eq.cones.free[i] == BOUNDED:
            y0 = project_interval(y0, eq.cones.lower[i, 0], eq.cones.upper[i, 0])
    else:
        mu = eq.cones.friction[i]
        guess = eq.local.multiplier[i]
        y0, y1, y2, eq.local.multiplier[i] = solve_contact(
            eq.local.block[i], inverse, mu, eq.cones.tilting, x0, x1, x2, u0, u1, u2, guess
        )
        if eq.relaxation != 1.0:
            y0, y1, y2 = project_round_cone(
                x0 + eq.relaxation * (y0 - x0),
                x1 + eq.relaxation * (y1 - x1),
                x2 + eq.relaxation * (y2 - x2),
                mu,
            )
    d0, d1, d2 = y0 - x0, y1 - x1, y2 - x2
    if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
        x[i, 0], x[i, 1], x[i, 2] = y0, y1, y2
        add_impulse(eq.form, i, d0, d1, d2, w)
    return d0, d1, d2


@inner_kernel
def sweep(eq, x, w, reference, backward):
    """One pass over the blocks that are visited one by one.

    Returns Σ |Δγ|²/ρ and −Σ Δγ·(γ − reference)/ρ.
    """
    change = 0.0
    along = 0.0
    blocks = eq.visited.shape[0]
    for k in range(blocks):
        i = eq.visited[blocks - 1 - k if backward else k]
        d0, d1, d2 = visit(eq, i, x, w)
        change += weighted_square(eq.cones, i, d0, d1, d2)
        along -= (
            d0 * (x[i, 0] - reference[i, 0]) / eq.cones.weight[i, 0]
            + d1 * (x[i, 1] - reference[i, 1]) / eq.cones.weight[i, 1]
            + d2 * (x[i, 2] - reference[i, 2]) / eq.cones.weight[i, 2]
        )
    return change, along


@inlined_kernel
def full_sweep(eq, x, w, reference):
    """A forward pass, a backward one if `symmetric`, and all joints that are held together.

    Returns what the last pass returned, and adds the joints' residual Σ ρu² before they were solved to the
    change: their impulses may change by much where that hardly moves anything.
    """
    change, along = sweep(eq, x, w, reference, False)
    if eq.symmetric:
        change, along = sweep(eq, x, w, reference, True)
    return change + hold_joints(eq.form, eq.joints, eq.q, eq.relaxation, x, w), along


@kernel
def plain_sweeps(eq, point, count, stop):
    """Up to `count` sweeps, ending early when the change is at most `stop` (in √J)."""
    change = math.inf
    done = 0
    while done < count and not change <= stop:
        squared, _ = full_sweep(eq, point.x, point.w, point.x)
        change = math.sqrt(squared)
        done += 1
    return done, change


@kernel
def nesterov_sweeps(eq, point, answer, momentum, growth, count, stop):
    """Sweeps with Nesterov momentum: x⁺ = sweep(y), y⁺ = x⁺ + β (x⁺ − x).

    Restarted when (y − x⁺)·(x⁺ − x) > 0, or when the sweep's change is more than `growth` times the
    smallest since the last restart. momentum = (t_k, smallest change) lives on between calls. The next
    sweep starts at `point`.
    """
    change = math.inf
    done = 0
    while done < count and not change <= stop:
        squared, along = full_sweep(eq, point.x, point.w, answer.x)
        done += 1
        change = math.sqrt(squared)
        if along > 0.0 or change > growth * momentum[1]:
            momentum[0], momentum[1] = 1.0, change
            beta = 0.0
        else:
            t = momentum[0]
            momentum[0] = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
            momentum[1] = min(momentum[1], change)
            beta = (t - 1.0) / momentum[0]
        _extrapolate(point.x, answer.x, beta)
        _extrapolate(point.w, answer.w, beta)
    return done, change


@allocating_kernel
def judged_nesterov_sweeps(
    form, friction, free, weight, lower, upper, sides, tilting, block, inverse, multiplier, q, visited,
    relaxation, symmetric, island, scale, x, w, last, w_last, momentum, growth, count, stop,
):  # fmt: skip
    """`nesterov_sweeps` without joints that are held together; returns the answer's true residual too.

    Arrays come one by one and the residual is computed here, because on small problems handing over
    nested tuples, twice, takes longer than the sweeps.
    """
    cones = Cones(friction, free, weight, lower, upper, sides, tilting)
    local = Local(block, inverse, multiplier)
    eq = Equations(form, cones, local, q, visited, None, relaxation, symmetric)
    done, change = nesterov_sweeps(eq, Point(x, w), Point(last, w_last), momentum, growth, count, stop)
    return done, change, residual_of_impulses(form, w.shape[0], cones, q, island, scale, last)


@allocating_kernel
def dash_sparse(
    start, column, values, friction, free, weight, lower, upper, sides, tilting, diagonal, q, island, scale,
    whole, x, growth, most, tolerance,
):  # fmt: skip
    """`_dash` on a block-sparse operator, whose arrays come one by one, as all others do."""
    cones = Cones(friction, free, weight, lower, upper, sides, tilting)
    form = BlockSparse(start, column, values)
    return _dash(form, 1, cones, diagonal, q, island, scale, whole, x, growth, most, tolerance)


@allocating_kernel
def dash_factored(
    bodies, columns, body_count, friction, free, weight, lower, upper, sides, tilting, diagonal, q, island,
    scale, whole, x, growth, most, tolerance,
):  # fmt: skip
    """`_dash` on a factored operator."""
    cones = Cones(friction, free, weight, lower, upper, sides, tilting)
    form = Factored(bodies, columns, body_count)
    return _dash(form, body_count, cones, diagonal, q, island, scale, whole, x, growth, most, tolerance)


class Room(NamedTuple):
    """Scratch of `sweep_to_goal`."""

    block: np.ndarray  # (blocks, 3, 3)
    inverse: np.ndarray  # (blocks, 3, 3)
    multiplier: np.ndarray  # (blocks,)
    visited: np.ndarray  # (blocks,) int64
    point: np.ndarray  # (blocks, 3)
    before: np.ndarray  # (blocks, 3)
    velocity: np.ndarray  # (blocks, 3)
    w: np.ndarray  # (bodies, 6)
    w_last: np.ndarray  # (bodies, 6)
    w_judged: np.ndarray  # (bodies, 6)
    momentum: np.ndarray  # (2,)
    residual: np.ndarray  # (islands,)
    size: np.ndarray  # (islands,)


class Scaled(NamedTuple):
    """Islands of the blocks, and the scale of each and of all together, as in `Scales`."""

    island: np.ndarray  # (blocks,) int64
    scale: np.ndarray  # (islands,)
    whole: float


@inlined_kernel
def judge_impulses(form, cones, q, scaled, x, w, room):
    """True relative residual of x; w is scratch, and `room.velocity` is the velocity that belongs to x."""
    velocities(form, x, q, w, room.velocity)
    return residual_by_island(cones, scaled.island, scaled.scale, x, room.velocity, room.residual, room.size)


@kernel
def sweep_to_goal(form, cones, given, scaled, x, room, limits):
    """Sweeps with momentum from x, which becomes the answer, until its true residual is good enough.

    Returns the number of sweeps and the residual. For contacts alone. `given` are the diagonal blocks of N
    and q; `limits` the growth that restarts the momentum, the largest number of sweeps and the tolerance.
    """
    diagonal, q = given
    growth, most, tolerance = limits
    invert_blocks(diagonal, cones.free, room.block, room.inverse)
    for i in range(x.shape[0]):
        room.multiplier[i] = 0.0
        room.visited[i] = i
    local = Local(room.block, room.inverse, room.multiplier)
    eq = Equations(form, cones, local, q, room.visited, None, 1.0, False)
    residual = first = judge_impulses(form, cones, q, scaled, x, room.w_judged, room)
    copy_into(room.point, x)
    copy_into(room.before, x)
    weigh(form, room.point, room.w)
    copy_into(room.w_last, room.w)
    room.momentum[0], room.momentum[1] = 1.0, math.inf
    done, slack = 0, 1.0
    while done < most and not residual <= tolerance:
        count = 1 if done == 0 else most - done  # what stands alone is solved by one visit
        stop = slack * tolerance * scaled.whole
        swept, change = nesterov_sweeps(
            eq, Point(room.point, room.w), Point(x, room.w_last), room.momentum, growth, count, stop
        )
        done += swept
        # the next sweep starts at `point`, whose weighted velocities the judgement must not touch
        residual = judge_impulses(form, cones, q, scaled, x, room.w_judged, room)
        if math.isnan(residual) or change == 0.0:
            break
        slack *= 0.5 if done > 1 else 1.0
    if not residual <= first:
        copy_into(x, room.before)  # it ran away
        residual = first
    return done, residual


@allocating_kernel
def _dash(form, bodies, cones, diagonal, q, island, scale, whole, x, growth, most, tolerance):
    """`sweep_to_goal` with scratch of its own."""
    blocks, islands = x.shape[0], scale.shape[0]
    room = Room(
        np.empty_like(diagonal), np.empty_like(diagonal), np.empty(blocks), np.empty(blocks, dtype=np.int64),
        np.empty_like(x), np.empty_like(x), np.empty_like(x), np.zeros((bodies, 6)), np.zeros((bodies, 6)),
        np.zeros((bodies, 6)), np.empty(2), np.empty(islands), np.empty(islands),
    )  # fmt: skip
    scaled = Scaled(island, scale, whole)
    return sweep_to_goal(form, cones, (diagonal, q), scaled, x, room, (growth, most, tolerance))


@inlined_kernel
def _extrapolate(x, last, beta):
    """last ← x,  x ← x + β (x − last)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            new = x[i, k]
            x[i, k] = new + beta * (new - last[i, k])
            last[i, k] = new


@kernel
def nncg_sweeps(eq, point, answer, direction, before, energy, count, stop):
    """Sweeps as the gradient of a nonlinear conjugate gradient method (Silcowitz, Niebe, Erleben).

    With g_k = x_k − sweep(x_k) and β = |g_{k+1}|²/|g_k|²: x ← sweep(x) + β p, p ← β p − g; p is
    dropped when β > 1. energy[0] = |g_k|² lives on between calls.
    """
    change = math.inf
    done = 0
    while done < count and not change <= stop:
        copy_into(before.x, point.x)
        copy_into(before.w, point.w)
        squared, _ = full_sweep(eq, point.x, point.w, point.x)
        done += 1
        copy_into(answer.x, point.x)
        change = math.sqrt(squared)
        beta = squared / energy[0] if energy[0] > 0.0 else 2.0
        energy[0] = squared
        if beta > 1.0:
            direction.x[:] = 0.0
            direction.w[:] = 0.0
            beta = 0.0
        _conjugate(point.x, before.x, direction.x, beta)
        _conjugate(point.w, before.w, direction.w, beta)
    return done, change


@inlined_kernel
def _conjugate(x, before, direction, beta):
    """x ← x + β p,  p ← β p + (x − before)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            step = x[i, k] - before[i, k]
            x[i, k] += beta * direction[i, k]
            direction[i, k] = beta * direction[i, k] + step
