"""Lemke's complementary pivoting with the lexicographic ratio test, on a condensed dense tableau.

With w = q + M z + d z₀ the variables are numbered w (0 … n−1), z (n … 2n−1), z₀ (2n). The tableau keeps
the columns of the n + 1 variables outside the basis alone, half of the usual one:

    basic_i + Σ_j body[i, j] nonbasic_j = right[i]

A pivot at (r, s) with p = body[r, s] exchanges the two variables: row r becomes row/p, column s −column/p,
their crossing 1/p, and everything else loses column·row/p. Pivoting reads one column and one row a step, so
on large problems that last part waits until `_BLOCK` of them can be done as one matrix product.
"""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inner_kernel

SOLVED, RAY, PIVOT_LIMIT = 0, 1, 2

_BLOCK = 32
_PANEL = 32
_WAIT_FROM = 96
"""Size from which updates wait: below, the product costs more than it saves."""
_ZERO = 1e-11
"""Pivots below this part of their column (or of 1, what the caller should scale the matrix to) are zero."""
_TIE = 1e-12
"""Ratios that differ by less than this part are equal."""
_FEASIBLE = 1e-10
"""How far below zero a basic variable may be in the last step, the one that drives the artificial one out."""


class Tableau(NamedTuple):
    """The state of the pivoting, changed in place."""

    body: np.ndarray
    right: np.ndarray
    basis: np.ndarray
    """Variable of each row."""
    nonbasic: np.ndarray
    """Variable of each column."""
    place: np.ndarray
    """Of each variable its row, or −1 − column."""


@allocating_kernel
def prepare(matrix, right, cover):
    """The tableau at z = 0, z₀ = 0 for 0 ≤ z ⟂ M z + q ≥ 0 and the positive covering vector `cover`."""
    n = len(right)
    body = np.empty((n, n + 1))
    place = np.empty(2 * n + 1, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            body[i, j] = -matrix[i, j]
        body[i, n] = -cover[i]
        place[i] = i
        place[n + i] = -1 - i
    place[2 * n] = -1 - n
    return Tableau(body, right.copy(), np.arange(n), np.arange(n, 2 * n + 1), place)


@inner_kernel
def _entry(body, columns, rows, waiting, i, j):
    found = body[i, j]
    for k in range(waiting):
        found -= columns[k, i] * rows[k, j]
    return found


@inner_kernel
def _first_row(tableau, cover):
    """Row that z₀ pushes out first; of equal ones the last, as its w is last in the lexicographic order."""
    row = 0
    for i in range(len(cover)):
        if tableau.right[i] / cover[i] <= tableau.right[row] / cover[row]:
            row = i
    return row


@inner_kernel
def _leaving_row(tableau, column, candidates, columns, rows, waiting):
    """Row with the lexicographically smallest ratio; −1 if the entering variable can grow without bound.

    Equal ratios are told apart by the columns of w (those of the basis inverse), each divided by the
    pivot: no two rows are equal in all of them, so that the method cannot cycle. The artificial
    variable leaves as soon as it can: at a degenerate solution rounding would else go on among the zeros.
    """
    n = len(tableau.right)
    largest = 1.0
    for i in range(n):
        largest = max(largest, abs(column[i]))
    zero = _ZERO * largest
    smallest = np.inf
    for i in range(n):
        if column[i] > zero:
            smallest = min(smallest, max(tableau.right[i], 0.0) / column[i])
    if smallest == np.inf:
        return -1
    artificial = tableau.place[2 * n]
    if column[artificial] > zero:
        step = max(tableau.right[artificial], 0.0) / column[artificial]
        feasible = True
        for i in range(n):
            feasible = feasible and tableau.right[i] - step * column[i] >= -_FEASIBLE
        if feasible:
            return artificial
    limit = smallest + _TIE * (1.0 + smallest)
    count = 0
    for i in range(n):
        if column[i] > zero and max(tableau.right[i], 0.0) <= limit * column[i]:
            candidates[count] = i
            count += 1
    w = 0
    while count > 1 and w < n:
        place = tableau.place[w]
        if place >= 0:  # a unit column: the row of w has the one ratio that is not zero
            kept = 0
            for k in range(count):
                if candidates[k] != place:
                    candidates[kept] = candidates[k]
                    kept += 1
            count = kept
        else:
            smallest = np.inf
            for k in range(count):
                i = candidates[k]
                ratio = _entry(tableau.body, columns, rows, waiting, i, -1 - place) / column[i]
                smallest = min(smallest, ratio)
            limit = smallest + _TIE * (1.0 + abs(smallest))
            kept = 0
            for k in range(count):
                i = candidates[k]
                if _entry(tableau.body, columns, rows, waiting, i, -1 - place) / column[i] <= limit:
                    candidates[kept] = i
                    kept += 1
            count = kept
        w += 1
    return candidates[0]


@inner_kernel
def _exchange(tableau, r, s, column, columns, rows, waiting):
    """Pivot at (r, s) but for the part that waits, which goes to columns[waiting], rows[waiting]."""
    n = len(tableau.right)
    body, right = tableau.body, tableau.right
    new_column, new_row = columns[waiting], rows[waiting]
    pivot = column[r]
    source = body[r]
    for j in range(n + 1):
        new_row[j] = source[j]
    for k in range(waiting):
        factor = columns[k, r]
        if factor != 0.0:
            earlier = rows[k]
            for j in range(n + 1):
                new_row[j] -= factor * earlier[j]
    for j in range(n + 1):
        new_row[j] /= pivot
        source[j] = new_row[j]
    step = right[r] / pivot
    for i in range(n):
        new_column[i] = column[i]
        if column[i] != 0.0:
            right[i] -= step * column[i]
            body[i, s] = -column[i] / pivot
        else:
            body[i, s] = 0.0
    right[r] = step
    body[r, s] = 1.0 / pivot
    new_column[r] = 0.0
    new_row[s] = 0.0
    for k in range(waiting):
        columns[k, r] = 0.0
        rows[k, s] = 0.0
    entering, leaving = tableau.nonbasic[s], tableau.basis[r]
    tableau.basis[r], tableau.nonbasic[s] = entering, leaving
    tableau.place[entering], tableau.place[leaving] = r, -1 - s


@inner_kernel
def _subtract(body, column, row):
    for i in range(len(column)):
        factor = column[i]
        if factor != 0.0:
            target = body[i]
            for j in range(len(row)):
                target[j] -= factor * row[j]


@allocating_kernel
def _subtract_product(body, columns, rows):
    """Subtract columnsᵀ·rows, a panel of rows at a time: the product of a panel stays in the cache."""
    panel = np.empty((_PANEL, rows.shape[1]))
    for first in range(0, len(body), _PANEL):
        last = min(first + _PANEL, len(body))
        np.dot(np.ascontiguousarray(columns[:, first:last].T), rows, panel[: last - first])
        for i in range(first, last):
            target, part = body[i], panel[i - first]
            for j in range(len(part)):
                target[j] -= part[j]


@allocating_kernel
def pivot(tableau, cover, entering, limit):
    """Pivot until z₀ leaves the basis, a ray, or `limit` pivots. Returns (entering, pivots, outcome).

    `entering` is the variable to begin with: 2n (z₀) on a fresh tableau, then what the last call returned.
    """
    n = len(tableau.right)
    block = _BLOCK if n >= _WAIT_FROM else 1
    columns, rows = np.empty((block, n)), np.empty((block, n + 1))
    column, candidates = np.empty(n), np.empty(n, dtype=np.int64)
    waiting, pivots, outcome = 0, 0, PIVOT_LIMIT
    while pivots < limit:
        s = -1 - tableau.place[entering]
        for i in range(n):
            column[i] = tableau.body[i, s]
        for k in range(waiting):
            factor, earlier = rows[k, s], columns[k]
            for i in range(n):
                column[i] -= factor * earlier[i]
        if entering == 2 * n:
            r = _first_row(tableau, cover)
        else:
            r = _leaving_row(tableau, column, candidates, columns, rows, waiting)
        if r < 0:
            outcome = RAY
            break
        leaving = tableau.basis[r]
        _exchange(tableau, r, s, column, columns, rows, waiting)
        waiting += 1
        pivots += 1
        if waiting == block:
            if block == 1:
                _subtract(tableau.body, columns[0], rows[0])
            else:
                _subtract_product(tableau.body, columns, rows)
            waiting = 0
        if leaving == 2 * n:
            outcome = SOLVED
            break
        entering = leaving + n if leaving < n else leaving - n
    for k in range(waiting):
        _subtract(tableau.body, columns[k], rows[k])
    return entering, pivots, outcome


@allocating_kernel
def unknowns(tableau):
    """z of the tableau's basis, and which z are basic."""
    n = len(tableau.right)
    z, basic = np.zeros(n), np.zeros(n, dtype=np.bool_)
    for i in range(n):
        if n <= tableau.basis[i] < 2 * n:
            z[tableau.basis[i] - n] = max(tableau.right[i], 0.0)
            basic[tableau.basis[i] - n] = True
    return z, basic
