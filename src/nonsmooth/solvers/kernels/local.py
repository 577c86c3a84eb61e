"""One contact's 3×3 problem, solved exactly: given W and q, find γ with u = W γ + q and the law.

Only the sliding case needs an iteration, and it is one scalar equation. With u_t = −λ γ_t, λ ≥ 0:

- coulomb: u_n = 0. Eliminating γ_n leaves (Ŵ + λ I) γ_t = −q̂ with Ŵ = W_tt − W_tn W_nt / W_nn and
  q̂ = q_t − W_tn q_n / W_nn, and λ follows from μ γ_n(λ) = |γ_t(λ)|. The ratio μ γ_n/|γ_t| is nearly
  linear in λ (exactly so for spheres), so that Newton's method needs one to three steps from any start.
- relaxed: u_n = μ |u_t|. For a given γ_n the friction is a trust-region problem in two variables, and
  the remaining equation u_n = μ |u_t| grows monotonically with γ_n.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel

_STEPS = 60
_CLOSE = 1e-15  # a few roundings: a smaller number would be missed for ever
_SOFTENING = 1e-6  # part of a singular contact block's mean diagonal that its local model gets on top


@inlined_kernel
def slide_coulomb(W, q0, q1, q2, mu, guess):
    """Sliding impulse under Coulomb's law for q_n < 0, μ > 0; also returns λ as the next guess."""
    n = W[0, 0]
    c1, c2 = W[1, 0] / n, W[2, 0] / n
    a = W[1, 1] - c1 * W[0, 1]
    b = W[1, 2] - c1 * W[0, 2]
    c = W[2, 2] - c2 * W[0, 2]
    r1, r2 = q1 - c1 * q0, q2 - c2 * q0
    size = math.sqrt(r1 * r1 + r2 * r2)
    low = 0.0
    high = size * (1.0 + mu * math.sqrt(c1 * c1 + c2 * c2)) * n / (-mu * q0)
    x = guess if 0.0 < guess < high else min(high, size * n / (-mu * q0))
    g0 = g1 = g2 = 0.0
    for _ in range(_STEPS):
        d = (a + x) * (c + x) - b * b
        g1 = (b * r2 - (c + x) * r1) / d
        g2 = (b * r1 - (a + x) * r2) / d
        t = math.sqrt(g1 * g1 + g2 * g2)
        g0 = -q0 / n - c1 * g1 - c2 * g2
        if t == 0.0:
            break
        value = mu * g0 / t - 1.0
        if value > 0.0:
            high = x
        else:
            low = x
        d1 = (b * g2 - (c + x) * g1) / d  # dγ_t/dλ
        d2 = (b * g1 - (a + x) * g2) / d
        slope = -mu * ((c1 * d1 + c2 * d2) + g0 * (g1 * d1 + g2 * d2) / (t * t)) / t
        new = x - value / slope
        if not (low < new < high):
            new = 0.5 * (low + high)
        if abs(new - x) <= _CLOSE * (new + a + c) or abs(value) <= _CLOSE:
            break
        x = new
    return g0, g1, g2, x


@inner_kernel
def _trust_region(a, b, c, p1, p2, radius, x):
    """Minimise ½ tᵀ[[a, b], [b, c]]t + p·t over |t| ≤ radius; returns t and the multiplier λ ≥ 0."""
    d = a * c - b * b
    if d > 0.0:
        t1, t2 = (b * p2 - c * p1) / d, (b * p1 - a * p2) / d
        if t1 * t1 + t2 * t2 <= radius * radius:
            return t1, t2, 0.0
    mean, spread = 0.5 * (a + c), math.sqrt(0.25 * (a - c) ** 2 + b * b)
    size = math.sqrt(p1 * p1 + p2 * p2)
    low, high = max(0.0, size / radius - (mean + spread)), max(0.0, size / radius - (mean - spread))
    if not (low < x < high):
        x = low
    t1 = t2 = 0.0
    for _ in range(_STEPS):
        d = (a + x) * (c + x) - b * b
        if d <= 0.0:
            x = high if x == low else 0.5 * (low + high)
            continue
        t1, t2 = (b * p2 - (c + x) * p1) / d, (b * p1 - (a + x) * p2) / d
        tt = t1 * t1 + t2 * t2
        t = math.sqrt(tt)
        value = t / radius - 1.0
        if value > 0.0:
            low = x
        else:
            high = x
        bend = (t1 * ((c + x) * t1 - b * t2) + t2 * ((a + x) * t2 - b * t1)) / d  # tᵀ(T + λ)⁻¹t
        new = x + value * tt / bend
        if not (low <= new <= high):
            new = 0.5 * (low + high)
        if abs(new - x) <= _CLOSE * (new + mean) or abs(value) <= _CLOSE:
            break
        x = new
    return t1, t2, x


@inner_kernel
def slide_relaxed(W, q0, q1, q2, mu, guess):
    """Impulse of the convex cone problem for μ > 0 when neither 0 nor sticking is the answer."""
    n, w1, w2 = W[0, 0], W[0, 1], W[0, 2]
    a, b, c = W[1, 1], W[1, 2], W[2, 2]
    low = 0.0
    high = math.inf
    g = max(-q0, math.sqrt(q1 * q1 + q2 * q2) * mu) / n
    t1 = t2 = 0.0
    x = guess
    for _ in range(2 * _STEPS):
        t1, t2, x = _trust_region(a, b, c, q1 + w1 * g, q2 + w2 * g, mu * g, x)
        value = n * g + q0 + w1 * t1 + w2 * t2 - x * mu * mu * g
        if value > 0.0:
            high = g
        else:
            low = g
        slope = n
        d = (a + x) * (c + x) - b * b
        if d > 0.0:
            z1, z2 = ((c + x) * w1 - b * w2) / d, ((a + x) * w2 - b * w1) / d  # (T + λ)⁻¹ w
            slope -= w1 * z1 + w2 * z2
            if x > 0.0:
                bend = (t1 * ((c + x) * t1 - b * t2) + t2 * ((a + x) * t2 - b * t1)) / d
                turn = mu * mu * g + t1 * z1 + t2 * z2
                slope += turn * turn / bend - mu * mu * x
        new = g - value / slope if slope > 0.0 else -1.0
        if not (low < new < high):
            new = 0.5 * (low + high) if high < math.inf else 2.0 * g
        size = n * g + abs(q0) + abs(w1 * t1) + abs(w2 * t2) + x * mu * mu * g
        if abs(new - g) <= _CLOSE * new or abs(value) <= _CLOSE * size:
            break
        g = new
    return g, t1, t2, x


@inlined_kernel
def solve_contact(W, inverse, mu, tilting, x0, x1, x2, u0, u1, u2, guess):
    """New impulse of a contact that has impulse x and velocity u now; the law by `tilting` (1 or 0).

    Both states enter, so that q = u − W x need not be stored. Returns γ and the next guess for λ.
    """
    q0 = u0 - (W[0, 0] * x0 + W[0, 1] * x1 + W[0, 2] * x2)
    if mu == 0.0:
        return max(0.0, -q0 / W[0, 0]), 0.0, 0.0, 0.0
    if tilting > 0.0 and q0 >= 0.0:
        return 0.0, 0.0, 0.0, guess
    s0 = x0 - (inverse[0, 0] * u0 + inverse[0, 1] * u1 + inverse[0, 2] * u2)
    s1 = x1 - (inverse[1, 0] * u0 + inverse[1, 1] * u1 + inverse[1, 2] * u2)
    s2 = x2 - (inverse[2, 0] * u0 + inverse[2, 1] * u1 + inverse[2, 2] * u2)
    if s1 * s1 + s2 * s2 <= mu * mu * s0 * s0 and s0 >= 0.0:
        return s0, s1, s2, guess
    q1 = u1 - (W[1, 0] * x0 + W[1, 1] * x1 + W[1, 2] * x2)
    q2 = u2 - (W[2, 0] * x0 + W[2, 1] * x1 + W[2, 2] * x2)
    if tilting > 0.0:
        return slide_coulomb(W, q0, q1, q2, mu, guess)
    if q0 >= mu * math.sqrt(q1 * q1 + q2 * q2):
        return 0.0, 0.0, 0.0, guess
    return slide_relaxed(W, q0, q1, q2, mu, guess)


@inlined_kernel
def _invert(block, inverse, i):
    """Inverse of a symmetric 3×3 block by cofactors; returns whether the block is far from singular."""
    a, b, c = block[i, 0, 0], block[i, 0, 1], block[i, 0, 2]
    d, e, f = block[i, 1, 1], block[i, 1, 2], block[i, 2, 2]
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    c11, c12, c22 = a * f - c * c, b * c - a * e, a * d - b * b
    det = a * c00 + b * c01 + c * c02
    inverse[i, 0, 0], inverse[i, 0, 1], inverse[i, 0, 2] = c00 / det, c01 / det, c02 / det
    inverse[i, 1, 0], inverse[i, 1, 1], inverse[i, 1, 2] = c01 / det, c11 / det, c12 / det
    inverse[i, 2, 0], inverse[i, 2, 1], inverse[i, 2, 2] = c02 / det, c12 / det, c22 / det
    return det > 1e-10 * a * d * f


@kernel
def invert_blocks(given, free, block, inverse):
    """Fill in the symmetric parts of 3×3 blocks and their inverses; returns how many joints are singular.

    A contact's singular block gets a little on its diagonal, so that sticking can be asked for in every
    direction. Inverses of singular joints are left to the caller.
    """
    count = 0
    for i in range(block.shape[0]):
        for j in range(3):
            for k in range(3):
                block[i, j, k] = 0.5 * (given[i, j, k] + given[i, k, j])
        if _invert(block, inverse, i):
            continue
        if free[i]:
            inverse[i, 0, 0] = math.nan
            count += 1
            continue
        softening = _SOFTENING * (block[i, 0, 0] + block[i, 1, 1] + block[i, 2, 2]) / 3.0
        for k in range(3):
            block[i, k, k] += softening
        _invert(block, inverse, i)
    return count
