"""Block Gauss-Seidel sweeps, plain and with momentum or conjugate directions over the sweeps.

x is where the next sweep starts, w = A x its mass-weighted velocity (factored form only), `answer`
the impulses after the last sweep, which lie in their cones. `Local` holds what one block's solve
needs. All inner products are weighted with 1/ρ, so that they are energies.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._jit import inlined_kernel, kernel
from nonsmooth.problem._cone_kernels import project_round_cone
from nonsmooth.problem._operator_kernels import add_impulse, block_velocity, copy_into
from nonsmooth.problem._residual_kernels import weighted_square
from nonsmooth.solvers._local_kernels import solve_contact


class Local(NamedTuple):
    """The diagonal blocks, their (pseudo-)inverses and the last sliding multiplier of each block."""

    block: np.ndarray  # (blocks, 3, 3)
    inverse: np.ndarray  # (blocks, 3, 3)
    multiplier: np.ndarray  # (blocks,)


@inlined_kernel
def visit(form, cones, local, q, i, x, w, relaxation):
    """Solve block i for the present state of all others; returns the change of its impulse."""
    u0, u1, u2 = block_velocity(form, i, x, w)
    u0 += q[i, 0]
    u1 += q[i, 1]
    u2 += q[i, 2]
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    inverse = local.inverse[i]
    if cones.free[i]:
        d0 = -(inverse[0, 0] * u0 + inverse[0, 1] * u1 + inverse[0, 2] * u2) * relaxation
        d1 = -(inverse[1, 0] * u0 + inverse[1, 1] * u1 + inverse[1, 2] * u2) * relaxation
        d2 = -(inverse[2, 0] * u0 + inverse[2, 1] * u1 + inverse[2, 2] * u2) * relaxation
    else:
        mu = cones.friction[i]
        y0, y1, y2, local.multiplier[i] = solve_contact(
            local.block[i], inverse, mu, cones.tilting, x0, x1, x2, u0, u1, u2, local.multiplier[i]
        )
        if relaxation != 1.0:
            y0, y1, y2 = project_round_cone(
                x0 + relaxation * (y0 - x0), x1 + relaxation * (y1 - x1), x2 + relaxation * (y2 - x2), mu
            )
        d0, d1, d2 = y0 - x0, y1 - x1, y2 - x2
    if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
        x[i, 0] = x0 + d0
        x[i, 1] = x1 + d1
        x[i, 2] = x2 + d2
        add_impulse(form, i, d0, d1, d2, w)
    return d0, d1, d2


@kernel
def sweep(form, cones, local, q, x, w, relaxation, backward):
    """One pass over all blocks; returns Σ |Δγ|²/ρ."""
    change = 0.0
    blocks = x.shape[0]
    for k in range(blocks):
        i = blocks - 1 - k if backward else k
        d0, d1, d2 = visit(form, cones, local, q, i, x, w, relaxation)
        change += weighted_square(cones, i, d0, d1, d2)
    return change


@inlined_kernel
def full_sweep(form, cones, local, q, x, w, relaxation, symmetric):
    """A forward pass, followed by a backward one if `symmetric`; returns the last Σ |Δγ|²/ρ."""
    change = sweep(form, cones, local, q, x, w, relaxation, False)
    if symmetric:
        change = sweep(form, cones, local, q, x, w, relaxation, True)
    return change


@kernel
def plain_sweeps(form, cones, local, q, x, w, relaxation, symmetric, count, stop):
    """Up to `count` sweeps, ending early when the change is at most `stop` (in √J)."""
    change = math.inf
    done = 0
    while done < count and not change <= stop:
        change = math.sqrt(full_sweep(form, cones, local, q, x, w, relaxation, symmetric))
        done += 1
    return done, change


@kernel
def nesterov_sweeps(
    form,
    cones,
    local,
    q,
    x,
    w,
    answer,
    answer_w,
    before,
    relaxation,
    symmetric,
    momentum,
    growth,
    count,
    stop,
):
    """Sweeps with Nesterov momentum: x⁺ = sweep(y), y⁺ = x⁺ + β (x⁺ − x).

    Restarted when (y − x⁺)·(x⁺ − x) > 0, or when the sweep's change is more than `growth` times the
    smallest since the last restart. momentum = (t_k, smallest change) lives on between calls.
    """
    change = math.inf
    done = 0
    blocks = x.shape[0]
    while done < count and not change <= stop:
        copy_into(before, x)
        full_sweep(form, cones, local, q, x, w, relaxation, symmetric)
        done += 1
        squared = 0.0
        along = 0.0
        for i in range(blocks):
            for k in range(3):
                step = x[i, k] - before[i, k]
                share = step / cones.weight[i, k]
                squared += step * share
                along -= share * (x[i, k] - answer[i, k])
        change = math.sqrt(squared)
        t = momentum[0]
        if along > 0.0 or change > growth * momentum[1]:
            t = 1.0
            momentum[1] = change
            beta = 0.0
            momentum[0] = 1.0
        else:
            momentum[1] = min(momentum[1], change)
            momentum[0] = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
            beta = (t - 1.0) / momentum[0]
        _extrapolate(x, answer, beta)
        _extrapolate(w, answer_w, beta)
    return done, change


@inlined_kernel
def _extrapolate(x, last, beta):
    """last ← x,  x ← x + β (x − last)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            new = x[i, k]
            x[i, k] = new + beta * (new - last[i, k])
            last[i, k] = new


@kernel
def nncg_sweeps(
    form, cones, local, q, x, w, answer, direction, direction_w, before, before_w, relaxation, symmetric,
    energy, count, stop,
):  # fmt: skip
    """Sweeps as the gradient of a nonlinear conjugate gradient method (Silcowitz, Niebe, Erleben).

    With g_k = x_k − sweep(x_k) and β = |g_{k+1}|²/|g_k|²: x ← sweep(x) + β p, p ← β p − g; p is
    dropped when β > 1. energy[0] = |g_k|² lives on between calls.
    """
    change = math.inf
    done = 0
    blocks = x.shape[0]
    while done < count and not change <= stop:
        copy_into(before, x)
        copy_into(before_w, w)
        full_sweep(form, cones, local, q, x, w, relaxation, symmetric)
        done += 1
        copy_into(answer, x)
        squared = 0.0
        for i in range(blocks):
            for k in range(3):
                step = x[i, k] - before[i, k]
                squared += step * step / cones.weight[i, k]
        change = math.sqrt(squared)
        beta = squared / energy[0] if energy[0] > 0.0 else 2.0
        energy[0] = squared
        if beta > 1.0:
            direction[:] = 0.0
            direction_w[:] = 0.0
            beta = 0.0
        _conjugate(x, before, direction, beta)
        _conjugate(w, before_w, direction_w, beta)
    return done, change


@inlined_kernel
def _conjugate(x, before, direction, beta):
    """x ← x + β p,  p ← β p + (x − before)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            step = x[i, k] - before[i, k]
            x[i, k] += beta * direction[i, k]
            direction[i, k] = beta * direction[i, k] + step
