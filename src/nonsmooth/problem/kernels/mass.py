"""Products with the 6×6 blocks of bodies' masses, body by body."""

import math

from nonsmooth._support.jit import kernel


@kernel
def velocity(lower_inverse, momentum, weighted, out):
    """Set out = L⁻ᵀ(L⁻¹k + w) for every body: the velocity after impulses whose weighted velocity is w."""
    for body in range(out.shape[0]):
        for k in range(6):
            out[body, k] = 0.0
        for j in range(6):
            total = weighted[body, j]
            for k in range(j + 1):
                total += lower_inverse[body, j, k] * momentum[body, k]
            for k in range(j + 1):
                out[body, k] += lower_inverse[body, j, k] * total


@kernel
def balance(mass, lower, lower_inverse, momentum, weighted, speed):
    """Largest entry of M v − k − L w, and its M⁻¹-norm relative to that of k or L w, whichever is larger."""
    largest = 0.0
    error = 0.0
    given = 0.0
    added = 0.0
    for body in range(speed.shape[0]):
        for j in range(6):
            size = 0.0
            start = 0.0
            for k in range(j + 1):
                rest = -momentum[body, k]
                for i in range(6):
                    rest += mass[body, k, i] * speed[body, i]
                for i in range(k + 1):
                    rest -= lower[body, k, i] * weighted[body, i]
                size += lower_inverse[body, j, k] * rest
                start += lower_inverse[body, j, k] * momentum[body, k]
                if k == j and not abs(rest) <= largest:
                    largest = abs(rest)
            error += size * size
            given += start * start
            added += weighted[body, j] * weighted[body, j]
    if error == 0.0 or math.isnan(error):
        return largest, error
    scale = max(given, added)
    return largest, math.sqrt(error / scale) if scale > 0.0 else math.inf
