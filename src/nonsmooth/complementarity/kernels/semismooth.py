"""Functions that are zero exactly where complementarity holds, with an element of their derivative."""

from __future__ import annotations

import math

from nonsmooth._support.jit import inlined_kernel, kernel


@inlined_kernel
def fischer_burmeister(a, b):
    """φ(a, b) = a + b − √(a² + b²) and its derivatives; zero iff a ≥ 0, b ≥ 0, ab = 0.

    Written without cancellation. At a = b = 0, where φ has a kink, the derivatives are those along (1, 1).
    """
    size = math.hypot(a, b)
    if size == 0.0:
        slope = 1.0 - math.sqrt(0.5)
        return 0.0, slope, slope
    value = 2.0 * a * (b / (a + b + size)) if a + b > 0.0 else a + b - size
    by_a = b / size * (b / (size + a)) if a > 0.0 else 1.0 - a / size
    by_b = a / size * (a / (size + b)) if b > 0.0 else 1.0 - b / size
    return value, by_a, by_b


@kernel
def merit_function(z, f, lower, upper, phi, by_z, by_f):
    """Φ(z) row by row with its derivatives by z_i and F_i; returns ½‖Φ‖².

    φ(z − l, F) over a lower bound, −φ(u − z, −F) under an upper one, φ(z − l, −φ(u − z, −F)) between
    both (Billups), F without bounds, and z − l where the bounds leave one value.
    """
    total = 0.0
    for i in range(len(z)):
        low, high = lower[i], upper[i]
        if low == high:
            phi[i], by_z[i], by_f[i] = z[i] - low, 1.0, 0.0
        else:
            value, of_z, of_f = f[i], 0.0, 1.0
            if high < math.inf:
                inner, by_a, by_b = fischer_burmeister(high - z[i], -f[i])
                value, of_z, of_f = -inner, by_a, by_b
            if low > -math.inf:
                value, by_a, by_b = fischer_burmeister(z[i] - low, value)
                of_z, of_f = by_a + by_b * of_z, by_b * of_f
            phi[i], by_z[i], by_f[i] = value, of_z, of_f
        total += phi[i] * phi[i]
    return 0.5 * total


@kernel
def natural_map(z, f, lower, upper, phi, by_z, by_f):
    """The natural map z − mid(l, z − F, u) row by row with its derivatives: 1, 0 at a bound, else 0, 1."""
    for i in range(len(z)):
        if z[i] - f[i] <= lower[i]:
            phi[i], by_z[i], by_f[i] = z[i] - lower[i], 1.0, 0.0
        elif z[i] - f[i] >= upper[i]:
            phi[i], by_z[i], by_f[i] = z[i] - upper[i], 1.0, 0.0
        else:
            phi[i], by_z[i], by_f[i] = f[i], 0.0, 1.0
