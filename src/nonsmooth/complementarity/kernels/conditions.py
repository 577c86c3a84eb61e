"""Signs of all principal minors of a small matrix."""

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inner_kernel


@inner_kernel
def _sign_of_determinant(work, order, zero):
    """Sign of the determinant of work[:order, :order], overwritten; 0 where a pivot is within `zero`."""
    sign = 1
    for k in range(order):
        best = k
        for i in range(k + 1, order):
            if abs(work[i, k]) > abs(work[best, k]):
                best = i
        if abs(work[best, k]) <= zero:
            return 0
        if best != k:
            sign = -sign
            for j in range(k, order):
                work[k, j], work[best, j] = work[best, j], work[k, j]
        if work[k, k] < 0.0:
            sign = -sign
        for i in range(k + 1, order):
            factor = work[i, k] / work[k, k]
            for j in range(k + 1, order):
                work[i, j] -= factor * work[k, j]
    return sign


@allocating_kernel
def bad_minors(matrix, zero):
    """Two sets of rows, as bits of a whole number, −1 for none: the first whose principal minor is not
    positive, and the first whose principal minor is negative. Pivots within `zero` are taken for zero.

    Elimination with row exchanges for each set: recursion over Schur complements is cheaper, but divides by
    diagonal entries however small they are.
    """
    n = len(matrix)
    work, rows = np.empty((n, n)), np.empty(n, dtype=np.int64)
    not_positive = -1
    for bits in range(1, 1 << n):
        order = 0
        for i in range(n):
            if bits >> i & 1:
                rows[order] = i
                order += 1
        for i in range(order):
            for j in range(order):
                work[i, j] = matrix[rows[i], rows[j]]
        sign = _sign_of_determinant(work, order, zero)
        if sign <= 0 and not_positive < 0:
            not_positive = bits
        if sign < 0:
            return not_positive, bits
    return not_positive, -1
