"""Lemke's complementary pivoting with the lexicographic ratio test, on a dense tableau."""

import numpy as np

from nonsmooth._jit import allocating_kernel

SOLVED, RAY, PIVOT_LIMIT = 0, 1, 2


@allocating_kernel
def _leaving_row(tableau, entering, size, zero):
    """Row with the lexicographically smallest ratio; −1 if the entering variable can grow without bound.

    Rows are compared by their right-hand side and then by the columns of the basis inverse, all
    divided by the pivot: no two rows are equal there, so that the method cannot cycle.
    """
    best = -1
    for i in range(size):
        pivot = tableau[i, entering]
        if pivot <= zero:
            continue
        if best < 0:
            best = i
            continue
        rival = tableau[best, entering]
        difference = tableau[i, -1] / pivot - tableau[best, -1] / rival
        column = 0
        while abs(difference) <= 1e-11 * (1.0 + abs(tableau[best, -1] / rival)) and column < size:
            difference = tableau[i, column] / pivot - tableau[best, column] / rival
            column += 1
        if difference < 0.0:
            best = i
    return best


@allocating_kernel
def _pivot(tableau, row, column):
    tableau[row] /= tableau[row, column]
    for i in range(tableau.shape[0]):
        if i != row:
            factor = tableau[i, column]
            if factor != 0.0:
                tableau[i] -= factor * tableau[row]


@allocating_kernel
def lemke(matrix, right, cover, limit):
    """Solve 0 ≤ z ⟂ M z + q ≥ 0 with the positive covering vector `cover`. Returns (z, pivots, outcome).

    Columns of the tableau: w (0 … n−1), z (n … 2n−1), the artificial variable (2n), right-hand side.
    """
    n = len(right)
    z = np.zeros(n)
    if right.min() >= 0.0:
        return z, 0, SOLVED
    tableau = np.zeros((n, 2 * n + 2))
    for i in range(n):
        tableau[i, i] = 1.0
        tableau[i, n : 2 * n] = -matrix[i]
        tableau[i, 2 * n] = -cover[i]
        tableau[i, -1] = right[i]
    basis = np.arange(n)
    row = 0
    for i in range(n):  # ties: the last row is lexicographically smallest, as its w column comes last
        if right[i] / cover[i] <= right[row] / cover[row]:
            row = i
    entering = 2 * n
    zero = 1e-11
    for pivots in range(limit):
        _pivot(tableau, row, entering)
        leaving = basis[row]
        basis[row] = entering
        if leaving == 2 * n:
            for i in range(n):
                if n <= basis[i] < 2 * n:
                    z[basis[i] - n] = tableau[i, -1]
            return z, pivots + 1, SOLVED
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(tableau, entering, n, zero)
        if row < 0:
            return z, pivots + 1, RAY
        # the artificial variable leaves as soon as it can
        for i in range(n):
            if basis[i] == 2 * n and tableau[i, entering] > zero:
                ratio = tableau[row, -1] / tableau[row, entering]
                if tableau[i, -1] / tableau[i, entering] <= ratio * (1.0 + 1e-12) + 1e-15:
                    row = i
    return z, limit, PIVOT_LIMIT
