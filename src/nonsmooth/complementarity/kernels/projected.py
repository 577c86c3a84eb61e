"""Sweeps of the projected Gauss-Seidel method over the rows of a sparse matrix."""

import numpy as np

from nonsmooth._support.jit import kernel


@kernel
def sweep(indptr, indices, data, vector, lower, upper, diagonal, omega, z, count, small, large):
    """Do up to `count` sweeps of z_i ← mid(l_i, z_i − ω (M z + q)_i / M_ii, u_i), in place.

    They end early when every natural map that a sweep meets is within `small`, when one is above `large` or
    not a number (which counts as infinite), or when a sweep changes nothing. Returns (sweeps, largest
    natural map met in the last one, whether it changed z). Rows with l_i = u_i stay where they are.
    """
    n = len(vector)
    done, worst, changed = 0, 0.0, True
    while done < count:
        worst, changed = 0.0, False
        for i in range(n):
            if lower[i] == upper[i]:
                continue
            value = vector[i]
            for k in range(indptr[i], indptr[i + 1]):
                value += data[k] * z[indices[k]]
            old = z[i]
            natural = old - min(max(old - value, lower[i]), upper[i])
            if abs(natural) > worst:
                worst = abs(natural)
            elif natural != natural:
                worst = np.inf
            z[i] = min(max(old - omega * value / diagonal[i], lower[i]), upper[i])
            if z[i] != old:
                changed = True
        done += 1
        if not (small < worst <= large and changed):
            break
    return done, worst, changed
