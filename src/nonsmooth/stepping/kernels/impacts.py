"""Impacts on arrays: which contacts close, and Newton's and Poisson's law for one island of them at a time.

Velocities are weighted by the masses, w = Lᵀv with M = L Lᵀ by body, so that a contact's impulse γ adds its
columns, w += (L⁻¹D) γ, its velocity is u = (L⁻¹D)ᵀ w + b with b the motion of fixed bodies, and the kinetic
energy is ½|w|². An island whose bodies have joints comes with its whole matrix instead, W = DᵀM̃⁻¹D with the
inverse mass M̃⁻¹ that the joints leave.
"""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth._support.kernels.rotations import turned, turned_back
from nonsmooth.solvers.kernels.local import _trust_region, solve_contact

_ROUNDING = 1e-12  # part of a contact's speeds below which an approach is rounding
_CLOSE = 5e-16  # change of a velocity, as a part of the island's speeds, at which sweeps end
_ENOUGH = 1e-9  # the same, where sweeps that did not end by themselves still count as converged
_SWEEPS = 2000
_CHECKED = 100  # sweeps after which it is judged whether the rest can be enough
GAIN = 1e-12  # part of the energy that the impulses turn over which counts as rounding
HALVINGS = 10  # of the interval of factors of the restitution coefficients, to 1e-3


class Touching(NamedTuple):
    """All c contacts of a step, at its unchanged positions."""

    bodies: np.ndarray  # (c, 2) int64, −1 for fixed bodies
    columns: np.ndarray  # (c, 2, 3, 6) rows of DᵀL⁻ᵀ
    carried: np.ndarray  # (c, 3) velocity from the motion of fixed bodies, m/s
    gap: np.ndarray  # (c,) m
    pull: np.ndarray  # (c,) normal speed that forces add to the way of this step, m/s


class Struck(NamedTuple):
    """The k contacts of a pass, sorted by island."""

    bodies: np.ndarray  # (k, 2) int64
    columns: np.ndarray  # (k, 2, 3, 6)
    before: np.ndarray  # (k, 3) u⁻ in m/s
    friction: np.ndarray  # (k,)
    restitution: np.ndarray  # (k,)
    poisson: np.ndarray  # (k,) bool
    block: np.ndarray  # (k, 3, 3) own 3×3 blocks of W
    inverse: np.ndarray  # (k, 3, 3)
    scale: np.ndarray  # (k,) speeds that rounding is measured by, m/s


class Trial(NamedTuple):
    """What is found for a pass, and room to find it."""

    impulse: np.ndarray  # (k, 3) of the present phase
    first: np.ndarray  # (k, 3) of the compression, where a phase of its own follows
    given: np.ndarray  # (k,) least normal impulse of the expansion
    target: np.ndarray  # (k,) e u_n⁻, added to the normal velocity
    velocity: np.ndarray  # (k, 3) where W is given
    guess: np.ndarray  # (k,)
    w: np.ndarray  # (n, 6) change of the bodies' w in this pass


@kernel
def weighted(bodies, velocity, w):
    """w = Lᵀv; zero for fixed bodies, whose velocities (in the frames of a step) are zero."""
    for i in range(velocity.shape[0]):
        for k in range(3):
            w[i, k] = velocity[i, k] / bodies.inverse_root_mass[i] if not bodies.fixed[i] else 0.0
        l0, l1, l2 = turned(bodies.inertia, i, velocity[i, 3], velocity[i, 4], velocity[i, 5])
        w[i, 3], w[i, 4], w[i, 5] = turned(bodies.inverse_lower, i, l0, l1, l2)


@kernel
def add_changes(bodies, state, changed, change, velocity):
    """Add L⁻ᵀ of the changes of w to the velocities, here and in the state, of the bodies that changed."""
    for i in range(change.shape[0]):
        if not changed[i]:
            continue
        for k in range(3):
            velocity[i, k] += bodies.inverse_root_mass[i] * change[i, k]
            state.linear[i, k] = velocity[i, k]
        d0, d1, d2 = turned_back(bodies.inverse_lower, i, change[i, 3], change[i, 4], change[i, 5])
        velocity[i, 3] += d0
        velocity[i, 4] += d1
        velocity[i, 5] += d2
        w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
        if bodies.round_body[i]:
            w0, w1, w2 = turned_back(state.rotation, i, w0, w1, w2)
        state.angular[i, 0], state.angular[i, 1], state.angular[i, 2] = w0, w1, w2


@inlined_kernel
def _push(bodies, columns, i, g0, g1, g2, w):
    """Add an impulse of contact i to w."""
    for side in range(2):
        body = bodies[i, side]
        if body >= 0:
            for k in range(6):
                w[body, k] += (
                    columns[i, side, 0, k] * g0 + columns[i, side, 1, k] * g1 + columns[i, side, 2, k] * g2
                )


@kernel
def approach(touching, step, slowest, w, velocity, scale, closing):
    """Fill the contacts' velocities u (c, 3) and mark those that close in this step; returns how many.

    A contact does if it approaches faster than `slowest` (m/s), and than rounding of the bodies' speeds, the
    largest of which so far are in `scale`, and if the gap does not outlast the step.
    """
    count = 0
    for i in range(velocity.shape[0]):
        size = 0.0
        for p in range(3):
            velocity[i, p] = touching.carried[i, p]
            size += abs(touching.carried[i, p])
        for side in range(2):
            body = touching.bodies[i, side]
            if body < 0:
                continue
            for p in range(3):
                for k in range(6):
                    part = touching.columns[i, side, p, k] * w[body, k]
                    velocity[i, p] += part
                    size += abs(part)
        scale[i] = max(scale[i], size)
        u = velocity[i, 0]
        fast = u < -max(slowest, _ROUNDING * scale[i])
        closing[i] = fast and touching.gap[i] + step * (u + touching.pull[i]) <= 0.0
        count += closing[i]
    return count


@inlined_kernel
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def unite(pairs, parent):
    """Join the trees of the bodies of each pair (k, 2), −1 for none; the smallest body is the root."""
    for i in range(pairs.shape[0]):
        if pairs[i, 0] >= 0 and pairs[i, 1] >= 0:
            a, b = _root(parent, pairs[i, 0]), _root(parent, pairs[i, 1])
            parent[max(a, b)] = min(a, b)


@kernel
def roots(pairs, parent, out):
    """Root of the tree that each pair belongs to."""
    for i in range(pairs.shape[0]):
        out[i] = _root(parent, max(pairs[i, 0], pairs[i, 1]))


@kernel
def own_blocks(columns, block):
    """Fill the contacts' own 3×3 blocks of W."""
    for i in range(block.shape[0]):
        for p in range(3):
            for q in range(3):
                total = 0.0
                for side in range(2):
                    for k in range(6):
                        total += columns[i, side, p, k] * columns[i, side, q, k]
                block[i, p, q] = total


@inlined_kernel
def _velocity(struck, trial, whole, i, p):
    if whole.shape[0] > 0:
        return trial.velocity[i, p]
    u = struck.before[i, p]
    for side in range(2):
        body = struck.bodies[i, side]
        if body >= 0:
            for k in range(6):
                u += struck.columns[i, side, p, k] * trial.w[body, k]
    return u


@inlined_kernel
def _change(struck, trial, whole, first, i, g0, g1, g2):
    """Add an impulse of contact i to the velocities."""
    if whole.shape[0] == 0:
        _push(struck.bodies, struck.columns, i, g0, g1, g2, trial.w)
        return
    at = 3 * (i - first)
    for j in range(whole.shape[0]):
        trial.velocity[first + j // 3, j % 3] += (
            whole[j, at] * g0 + whole[j, at + 1] * g1 + whole[j, at + 2] * g2
        )


@inlined_kernel
def _expand(W, inverse, mu, given, x0, x1, x2, u0, u1, u2, guess):
    """Impulse of Poisson's expansion: γ_n ≥ given ⟂ u_n ≥ 0, with friction up to μ γ_n against the slip."""
    q0 = u0 - (W[0, 0] * x0 + W[0, 1] * x1 + W[0, 2] * x2)
    q1 = u1 - (W[1, 0] * x0 + W[1, 1] * x1 + W[1, 2] * x2)
    q2 = u2 - (W[2, 0] * x0 + W[2, 1] * x1 + W[2, 2] * x2)
    t1, t2, multiplier = 0.0, 0.0, 0.0
    if mu > 0.0:
        t1, t2, multiplier = _trust_region(
            W[1, 1], W[1, 2], W[2, 2], q1 + W[1, 0] * given, q2 + W[2, 0] * given, mu * given, guess
        )
    if q0 + W[0, 0] * given + W[0, 1] * t1 + W[0, 2] * t2 >= 0.0:
        return given, t1, t2, multiplier
    y0, y1, y2, multiplier = solve_contact(W, inverse, mu, 1.0, x0, x1, x2, u0, u1, u2, guess)
    if y0 < given:
        return given, t1, t2, multiplier
    return y0, y1, y2, multiplier


@inner_kernel
def _sweeps(struck, trial, whole, first, last, tilting, most, hasty):
    """Gauss-Seidel over an island, to rounding but `most` sweeps; returns whether it got there.

    If `hasty`, it ends as soon as the changes shrink too slowly to get there.
    """
    size = 0.0
    for i in range(first, last):
        size = max(size, struck.scale[i])
    change, before = 0.0, np.inf
    for done in range(most):
        if hasty and done > 0 and done % _CHECKED == 0:
            left = (most - done) / _CHECKED
            if change * (change / before) ** left > _CLOSE * size:
                return False
            before = change
        change = 0.0
        for i in range(first, last):
            u0 = _velocity(struck, trial, whole, i, 0) + trial.target[i]
            u1 = _velocity(struck, trial, whole, i, 1)
            u2 = _velocity(struck, trial, whole, i, 2)
            x0, x1, x2 = trial.impulse[i, 0], trial.impulse[i, 1], trial.impulse[i, 2]
            W, inverse, mu, guess = struck.block[i], struck.inverse[i], struck.friction[i], trial.guess[i]
            if trial.given[i] > 0.0:
                y0, y1, y2, guess = _expand(W, inverse, mu, trial.given[i], x0, x1, x2, u0, u1, u2, guess)
            else:
                y0, y1, y2, guess = solve_contact(W, inverse, mu, tilting, x0, x1, x2, u0, u1, u2, guess)
            trial.guess[i] = guess
            d0, d1, d2 = y0 - x0, y1 - x1, y2 - x2
            trial.impulse[i, 0], trial.impulse[i, 1], trial.impulse[i, 2] = y0, y1, y2
            _change(struck, trial, whole, first, i, d0, d1, d2)
            moved = max(W[0, 0] * abs(d0), W[1, 1] * abs(d1), W[2, 2] * abs(d2))
            change = max(change, moved)
        if change <= _CLOSE * size or last - first == 1:
            return True
    return change <= _ENOUGH * size


@kernel
def sweep(struck, trial, whole, tilting, most):
    """Sweep at most so often over the only island, from the impulses and velocities that `trial` has."""
    return _sweeps(struck, trial, whole, 0, trial.impulse.shape[0], tilting, most, False)


@inner_kernel
def _attempt(struck, trial, whole, first, last, tilting, factor, hasty):
    """Impulses of an island with `factor` times its restitution coefficients.

    Returns the work ½ γ·(u⁻ + u⁺) of the impulses in J, the energy that they turn over, and whether the
    sweeps converged. Poisson's law has two phases: in the second one, the contacts of Newton's law bring
    their velocity from rest to −e u_n⁻.
    """
    phases = 1
    for i in range(first, last):
        phases = 2 if struck.poisson[i] else phases
        trial.given[i] = 0.0
        trial.guess[i] = 0.0
        for p in range(3):
            trial.impulse[i, p] = 0.0
            trial.first[i, p] = 0.0
            trial.velocity[i, p] = struck.before[i, p]
        for side in range(2):
            body = struck.bodies[i, side]
            if body >= 0:
                for k in range(6):
                    trial.w[body, k] = 0.0
    converged = True
    if phases == 2:
        for i in range(first, last):
            trial.target[i] = 0.0
        converged = _sweeps(struck, trial, whole, first, last, tilting, _SWEEPS, hasty)
        if hasty and not converged:
            return 0.0, 0.0, False
        for i in range(first, last):
            if not struck.poisson[i]:
                continue
            trial.given[i] = factor * struck.restitution[i] * trial.impulse[i, 0]
            for p in range(3):
                trial.first[i, p] = trial.impulse[i, p]
                trial.impulse[i, p] = 0.0
            trial.impulse[i, 0] = trial.given[i]
            _change(struck, trial, whole, first, i, trial.given[i], 0.0, 0.0)
    for i in range(first, last):
        trial.target[i] = 0.0 if struck.poisson[i] else factor * struck.restitution[i] * struck.before[i, 0]
    done = True
    for i in range(first, last):  # a contact of Poisson's law that gives nothing back stays at rest
        done = done and struck.poisson[i] and trial.given[i] == 0.0
    if phases == 1 or not done:
        converged = _sweeps(struck, trial, whole, first, last, tilting, _SWEEPS, hasty) and converged
    work = 0.0
    turned_over = 0.0
    for i in range(first, last):
        for p in range(3):
            u = _velocity(struck, trial, whole, i, p)
            total = trial.first[i, p] + trial.impulse[i, p]
            work += 0.5 * total * (struck.before[i, p] + u)
            turned_over += abs(total) * (abs(struck.before[i, p]) + abs(u))
    return work, turned_over, converged


@kernel
def resolve(struck, trial, whole, start, tilting, most_hasty, work, factors, converged):
    """Find the impulses of every island (contacts start[j] to start[j + 1]), and the work of each in J.

    Where they would create energy, the restitution coefficients of that island are reduced: `factors` holds
    the largest factor that creates none. It exists, because impulses without restitution never do. An island
    converged if all attempts at it did: the factor rests on each. Islands of at most `most_hasty` contacts
    end with the first attempt that does not, without impulses of use.
    """
    for j in range(start.shape[0] - 1):
        first, last = start[j], start[j + 1]
        hasty = last - first <= most_hasty
        got, turned_over, fine = _attempt(struck, trial, whole, first, last, tilting, 1.0, hasty)
        factor = 1.0
        if not got <= GAIN * turned_over and (fine or not hasty):
            low = 0.0
            high = 1.0
            for _ in range(HALVINGS):
                factor = 0.5 * (low + high)
                got, turned_over, good = _attempt(struck, trial, whole, first, last, tilting, factor, hasty)
                fine = fine and good
                if hasty and not fine:
                    break
                if got <= GAIN * turned_over:
                    low = factor
                else:
                    high = factor
            if factor != low and (fine or not hasty):
                factor = low
                got, turned_over, good = _attempt(struck, trial, whole, first, last, tilting, factor, hasty)
                fine = fine and good
        work[j], factors[j], converged[j] = got, factor, fine
        for i in range(first, last):
            for p in range(3):
                trial.impulse[i, p] += trial.first[i, p]


@kernel
def push_bodies(bodies, columns, impulse, changed, change):
    """Add the impulses (k, 3) of contacts to the changes of w, and mark their bodies."""
    for i in range(impulse.shape[0]):
        _push(bodies, columns, i, impulse[i, 0], impulse[i, 1], impulse[i, 2], change)
        for side in range(2):
            if bodies[i, side] >= 0:
                changed[bodies[i, side]] = True


@kernel
def row_velocities(pairs, rows, bias, velocity, out):
    """Normal velocities Dᵀv + b of contacts whose rows (c, 2, 3, 6) are given."""
    for i in range(out.shape[0]):
        u = bias[i, 0]
        for side in range(2):
            body = pairs[i, side]
            if body >= 0:
                for k in range(6):
                    u += rows[i, side, 0, k] * velocity[body, k]
        out[i] = u
