"""The residuals of a contact problem, block by block. Everything that judges an answer is here."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inlined_kernel, kernel
from nonsmooth.problem.kernels.cones import project_contact, project_interval, tilt
from nonsmooth.problem.kernels.operator import apply

_EPSILON = float(np.finfo(float).eps)

JOINT, BOUNDED = 1, 2
"""What `Cones.free` says of a block of joint rows: without bounds, or one row with a bound."""


class Cones(NamedTuple):
    """The law of every block, as arrays.

    A joint row's impulse lies in [lower, upper]: a row with a finite bound is a block of its own, whose
    first component it is, and all other rows have infinite bounds.

    `weight` is ρ: d/tr(N_ii) for a contact of d components (all rows alike), 1/N_kk for a row of a
    joint. |γ|/√ρ and |u|·√ρ are both in √J, whatever the unit of length, mass or time.
    """

    friction: np.ndarray  # (blocks,)
    free: np.ndarray  # (blocks,) uint8: 0 for contacts, else JOINT or BOUNDED
    weight: np.ndarray  # (blocks, 3)
    lower: np.ndarray  # (blocks, 3) ≤ 0
    upper: np.ndarray  # (blocks, 3) ≥ 0
    sides: int  # 0: round cone
    tilting: float  # 1: s is part of the law; 0: relaxed


@inlined_kernel
def tilting_term(cones, i, u1, u2):
    """s of block i: what the exact law adds to u_n."""
    if cones.free[i] or cones.tilting == 0.0:
        return 0.0
    return tilt(u1, u2, cones.friction[i], cones.sides)


@inlined_kernel
def natural_map(cones, i, x, u0, u1, u2, s):
    """γ − Π_K(γ − ρ(u + s e_n)) of block i: zero exactly where the law holds.

    A joint without bounds is not projected and has ρu, without the rounding of γ.
    """
    rho = cones.weight[i, 0]
    if cones.free[i]:
        if cones.free[i] == BOUNDED:
            p0 = project_interval(x[i, 0] - rho * u0, cones.lower[i, 0], cones.upper[i, 0])
            return x[i, 0] - p0, 0.0, 0.0
        return rho * u0, cones.weight[i, 1] * u1, cones.weight[i, 2] * u2
    mu = cones.friction[i]
    p0, p1, p2 = project_contact(
        x[i, 0] - rho * (u0 + s), x[i, 1] - rho * u1, x[i, 2] - rho * u2, mu, cones.sides
    )
    return x[i, 0] - p0, x[i, 1] - p1, x[i, 2] - p2


@inlined_kernel
def weighted_square(cones, i, r0, r1, r2):
    """|r|²/ρ of block i, in J; the rows of a contact share one weight."""
    if cones.free[i]:
        return r0 * r0 / cones.weight[i, 0] + r1 * r1 / cones.weight[i, 1] + r2 * r2 / cones.weight[i, 2]
    return (r0 * r0 + r1 * r1 + r2 * r2) / cones.weight[i, 0]


@kernel
def squared_residuals(cones, x, u, out):
    """Fill out (blocks,) with |natural map|²/ρ, in J."""
    for i in range(x.shape[0]):
        s = tilting_term(cones, i, u[i, 1], u[i, 2])
        r0, r1, r2 = natural_map(cones, i, x, u[i, 0], u[i, 1], u[i, 2], s)
        out[i] = weighted_square(cones, i, r0, r1, r2)


@kernel
def block_weights(diagonal, components, weight):
    """Fill in ρ of every row (blocks, 3) from the 3×3 blocks on N's diagonal, whose padding rows have 1."""
    for i in range(diagonal.shape[0]):
        if i < components.shape[0]:
            trace = 0.0
            for k in range(components[i]):
                trace += diagonal[i, k, k]
            weight[i, 0] = weight[i, 1] = weight[i, 2] = components[i] / trace
        else:
            for k in range(3):
                weight[i, k] = 1.0 / diagonal[i, k, k]


@kernel
def fill_scales(cones, q, zero, island, share, idle, moving):
    """Fill in the scale S of every island: the residual of zero impulses, at least a `share` of the
    free velocities. Returns the residual of zero impulses over all islands. In √J.

    `zero` (blocks, 3) are zeros; `moving` (islands,) is scratch.
    """
    for j in range(idle.shape[0]):
        idle[j] = 0.0
        moving[j] = 0.0
    total = 0.0
    for i in range(q.shape[0]):
        s = tilting_term(cones, i, q[i, 1], q[i, 2])
        r0, r1, r2 = natural_map(cones, i, zero, q[i, 0], q[i, 1], q[i, 2], s)
        square = weighted_square(cones, i, r0, r1, r2)
        total += square
        idle[island[i]] += square
        for k in range(3):
            moving[island[i]] += q[i, k] * q[i, k] * cones.weight[i, k]
    for j in range(idle.shape[0]):
        idle[j] = max(math.sqrt(idle[j]), share * math.sqrt(moving[j]))
    return math.sqrt(total)


@allocating_kernel
def island_scales(cones, q, island, share, idle):
    """`fill_scales` with scratch of its own."""
    return fill_scales(cones, q, np.zeros((q.shape[0], 3)), island, share, idle, np.empty(idle.shape[0]))


@kernel
def residual_by_island(cones, island, scale, x, u, residual, size):
    """Largest relative natural map over the islands, for impulses x with velocities u (blocks, 3).

    Not less than the rounding of the impulses: below that γ − Π_K(γ − …) says nothing. NaN stays NaN.
    `residual` and `size` (islands,) are scratch.
    """
    for j in range(scale.shape[0]):
        residual[j] = 0.0
        size[j] = 0.0
    for i in range(x.shape[0]):
        s = tilting_term(cones, i, u[i, 1], u[i, 2])
        r0, r1, r2 = natural_map(cones, i, x, u[i, 0], u[i, 1], u[i, 2], s)
        residual[island[i]] += weighted_square(cones, i, r0, r1, r2)
        size[island[i]] += weighted_square(cones, i, x[i, 0], x[i, 1], x[i, 2])
    worst = 0.0
    for j in range(scale.shape[0]):
        part = math.sqrt(max(residual[j], _EPSILON * _EPSILON * size[j]))
        if math.isnan(residual[j]) or math.isnan(size[j]):
            return math.nan
        if part > 0.0:
            worst = max(worst, part / scale[j] if scale[j] > 0.0 else math.inf)
    return worst


@allocating_kernel
def relative_residual(cones, island, scale, x, u):
    """`residual_by_island` with scratch of its own."""
    return residual_by_island(cones, island, scale, x, u, np.empty(scale.shape[0]), np.empty(scale.shape[0]))


@kernel
def velocities(form, x, q, w, u):
    """Set u = N x + q; w is work space for A x."""
    apply(form, x, w, u)
    for i in range(x.shape[0]):
        for k in range(3):
            u[i, k] += q[i, k]


@allocating_kernel
def residual_of_impulses(form, bodies, cones, q, island, scale, x):
    """The same for impulses alone: u = N x + q. `bodies` is the length of A x in the factored form."""
    u = np.empty_like(x)
    velocities(form, x, q, np.empty((bodies, 6)), u)
    return relative_residual(cones, island, scale, x, u)


@inlined_kernel
def _keep_worst(absolute, root, scale, worst):
    """Put the violations of one block, each not negative, into `worst` where they are larger.

    `absolute`: cone, dual cone, complementarity, natural map, approach, gain; `root` is √ρ.
    """
    cone, dual, gap, natural, approach, gain = absolute
    weighted = (cone / root, dual * root, gap, natural / root, approach * root, gain)
    for k in range(6):
        worst[0, k] = max(worst[0, k], absolute[k])
        if weighted[k] > 0.0:
            energy = k == 2 or k == 5
            worst[1, k] = max(worst[1, k], weighted[k] / (scale * scale if energy else scale))


@inlined_kernel
def _bounded_row(cones, i, x, u):
    """Violations of a joint row with impulse x and velocity u, whose λ must lie in [lower, upper].

    u may be positive at the lower bound alone and negative at the upper one: it must not be towards a bound
    that is infinite (dual cone), and (λ − bound) u must vanish (complementarity).
    """
    lower, upper = cones.lower[i, 0], cones.upper[i, 0]
    cone = abs(x - project_interval(x, lower, upper))
    bound = lower if u > 0.0 else upper
    finite = abs(bound) < math.inf
    dual = 0.0 if finite else abs(u)
    gap = abs((x - bound) * u) if finite else abs(x * u)
    natural = abs(x - project_interval(x - cones.weight[i, 0] * u, lower, upper))
    gain = max(0.0, x * u) if upper - lower < math.inf else 0.0
    return cone, dual, gap, natural, 0.0, gain


@kernel
def worst_violations(cones, x, u, q, scale, worst):
    """Fill `worst` (2, 6) with the largest violations over all contacts and bounded joint rows; returns
    the friction's work.

    Columns: cone of γ, dual cone of u + s e_n, complementarity, natural map, approach speed,
    friction gain. Row 0 in N·s, m/s, J; row 1 weighted with ρ to √J (complementarity and gain: J)
    and divided by the contact's scale (its square).
    The returned number is the energy that friction takes out in J: −Σ γ_t·(q_t + u_t)/2, because the
    velocity goes from q to u in a straight line while the impulse grows. A joint row with two finite bounds
    is dry friction too.
    """
    worst[:] = 0.0
    dissipated = 0.0
    for i in range(x.shape[0]):
        root = math.sqrt(cones.weight[i, 0])
        if cones.free[i]:
            if cones.free[i] == BOUNDED:
                _keep_worst(_bounded_row(cones, i, x[i, 0], u[i, 0]), root, scale[i], worst)
                if cones.upper[i, 0] - cones.lower[i, 0] < math.inf:
                    dissipated -= 0.5 * x[i, 0] * (q[i, 0] + u[i, 0])
            continue
        mu, sides = cones.friction[i], cones.sides
        s = tilting_term(cones, i, u[i, 1], u[i, 2])
        z0, z1, z2 = u[i, 0] + s, u[i, 1], u[i, 2]
        p0, p1, p2 = project_contact(x[i, 0], x[i, 1], x[i, 2], mu, sides)
        cone = math.sqrt((x[i, 0] - p0) ** 2 + (x[i, 1] - p1) ** 2 + (x[i, 2] - p2) ** 2)
        d0, d1, d2 = project_contact(-z0, -z1, -z2, mu, sides)  # Moreau: distance of z from K*
        dual = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        gap = abs(x[i, 0] * z0 + x[i, 1] * z1 + x[i, 2] * z2)
        r0, r1, r2 = natural_map(cones, i, x, u[i, 0], u[i, 1], u[i, 2], s)
        natural = math.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        approach = max(0.0, -u[i, 0])
        work = x[i, 1] * u[i, 1] + x[i, 2] * u[i, 2]
        dissipated -= 0.5 * (work + x[i, 1] * q[i, 1] + x[i, 2] * q[i, 2])
        _keep_worst((cone, dual, gap, natural, approach, max(0.0, work)), root, scale[i], worst)
    return dissipated
