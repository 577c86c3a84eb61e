"""Any linear problem with bounds, l ≤ z ≤ u ⟂ M z + q, as one without: 0 ≤ y ⟂ M′ y + q′ ≥ 0.

A fixed variable is substituted; one with a lower bound is measured from it, one with only an upper bound
downwards from that; two bounds need an additional multiplier ν:

    0 ≤ y ⟂ F + ν ≥ 0,   0 ≤ ν ⟂ u − l − y ≥ 0

Free variables v are eliminated by a principal pivot: on their block of M if it is regular (then M′ is
its Schur complement), otherwise on that block and as few bounded variables K as make it regular, whose y
and w then change places. If equations remain dependent, their v are written as differences of two y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import linalg
from nonsmooth.complementarity.problem import LCP, MCP

Indices = NDArray[np.intp]

_REGULAR = 1e-10
"""Smallest reciprocal condition number of a block that is pivoted on, and smallest pivot in its search."""

_ROUNDING = 1e-15
"""Fraction of its terms below which a sum is taken as zero."""


@dataclass(frozen=True)
class StandardForm:
    """0 ≤ y ⟂ M y + q ≥ 0 and the way back, z = origin + directions · y."""

    matrix: Floats
    """M, (N, N)."""
    vector: Floats
    """q, (N,)."""
    origin: Floats
    """z at y = 0, (n,)."""
    directions: Floats
    """∂z/∂y, (n, N). Unknowns may be scaled by powers of two."""

    @property
    def size(self) -> int:
        """N, the number of unknowns y."""
        return len(self.vector)

    def point(self, y: Floats) -> Floats:
        """z of y."""
        return self.origin + self.directions @ y


def affine_vector(problem: MCP) -> Floats:
    """q of a problem whose function is M z + q."""
    if isinstance(problem, LCP):
        return problem.vector
    assert problem.matrix is not None
    return np.asarray(problem.value(problem.start) - problem.matrix @ problem.start)


def unknowns_of(problem: MCP) -> int:
    """Largest number of unknowns of the standard form: one for each bound of a variable that is not fixed."""
    loose = problem.lower < problem.upper
    return int(np.isfinite(problem.lower[loose]).sum() + np.isfinite(problem.upper[loose]).sum())


def standard_form(problem: MCP) -> StandardForm:
    """The standard form of a problem whose matrix is known."""
    assert problem.matrix is not None
    lower, upper = problem.lower, problem.upper
    matrix, vector = problem.matrix.toarray(), affine_vector(problem)
    loose = np.flatnonzero(lower < upper)
    mirrored = np.isinf(lower) & np.isfinite(upper)
    origin = np.where(mirrored, upper, np.where(np.isfinite(lower), lower, 0.0))
    sign = np.where(mirrored, -1.0, 1.0)
    twice = np.flatnonzero(np.isfinite(lower[loose]) & np.isfinite(upper[loose]))
    free = np.flatnonzero(np.isinf(lower[loose]) & np.isinf(upper[loose]))

    count, extra = len(loose), len(twice)
    nu = count + np.arange(extra)
    whole = np.zeros((count + extra, count + extra))
    whole[:count, :count] = sign[loose, None] * matrix[np.ix_(loose, loose)] * sign[loose]
    whole[twice, nu], whole[nu, twice] = 1.0, -1.0
    right = np.concatenate([sign * (vector + matrix @ origin), np.zeros(extra)])
    right = np.concatenate([right[loose], (upper - lower)[loose][twice]])
    directions = np.zeros((problem.size, count + extra))
    directions[loose, np.arange(count)] = sign[loose]
    if not len(free):
        return StandardForm(whole, right, origin, directions)
    rows, columns = equilibrating(whole)  # makes the size of pivots independent of units
    scaled = StandardForm(rows[:, None] * whole * columns, rows * right, origin, directions * columns)
    return _without_free(scaled, free)


def equilibrating(matrix: Floats) -> tuple[Floats, Floats]:
    """Factors for the rows and for the columns, powers of two, that bring all entries near 1 or below."""
    magnitude = np.abs(matrix)
    rows, columns = np.ones(len(matrix)), np.ones(len(matrix))
    for _ in range(3):
        now = rows[:, None] * magnitude * columns
        rows /= _root(now.max(axis=1, initial=0.0))
        columns /= _root(now.max(axis=0, initial=0.0))
    return rows, columns


def _root(largest: Floats) -> Floats:
    """The power of two at or below the square root; 1 for an empty row."""
    exponent = np.frexp(largest)[1] - (largest > 0.0)
    return np.asarray(np.ldexp(1.0, exponent // 2))


def _without_free(form: StandardForm, free: Indices) -> StandardForm:
    """Eliminate the unknowns `free`, whose w must vanish and whose sign is free."""
    block = form.matrix[np.ix_(free, free)]
    partners, split = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    if not _regular(block):
        gone, partners = _pivots(form.matrix, free)
        split = np.setdiff1d(free, gone)
        free = gone
    pivoted = np.concatenate([free, partners]).astype(np.intp)
    rest = np.setdiff1d(np.arange(form.size), pivoted)
    if not len(pivoted):
        return _split(form, split)
    block = form.matrix[np.ix_(pivoted, pivoted)]
    inverse = np.asarray(np.linalg.inv(block), dtype=float)
    own = slice(len(free), None)  # the partners' place among the pivoted: their w are unknowns now
    # z_pivoted = inverse[:, own] w_own − inverse M z_rest − inverse q, substituted into the rest
    beside, below = form.matrix[np.ix_(pivoted, rest)], form.matrix[np.ix_(rest, pivoted)]
    right = form.vector[pivoted]
    parts = beside, below, form.matrix[np.ix_(rest, rest)], right, form.vector[rest]
    matrix, vector = _pivoted(inverse, parts, own, 1.0)
    error = np.abs(inverse) @ np.abs(block) @ np.abs(inverse)  # of the inverse, in units of rounding
    matrix_terms, vector_terms = _pivoted(error, tuple(np.abs(part) for part in parts), own, -1.0)
    matrix[np.abs(matrix) <= _ROUNDING * matrix_terms] = 0.0  # rounding errors of zeros would be scaled up
    vector[np.abs(vector) <= _ROUNDING * vector_terms] = 0.0  # and might be infeasible
    directions = form.directions[:, pivoted] @ np.hstack([inverse[:, own], -inverse @ beside])
    directions[:, len(partners) :] += form.directions[:, rest]
    origin = form.origin - form.directions[:, pivoted] @ inverse @ right
    reduced = StandardForm(matrix, vector, origin, directions)
    return _split(reduced, len(partners) + np.searchsorted(rest, split))


def _pivoted(inverse: Floats, parts: tuple[Floats, ...], own: slice, sign: float) -> tuple[Floats, Floats]:
    """Matrix and vector after a principal pivot; the sums of their terms for sign = −1 and positive parts."""
    beside, below, corner, right, right_below = parts
    from_unknowns = np.hstack([inverse[:, own], -sign * inverse @ beside])
    shift = -sign * inverse @ right
    rest = below @ from_unknowns
    rest[:, rest.shape[1] - corner.shape[1] :] += corner
    return np.vstack([from_unknowns[own], rest]), np.concatenate([shift[own], right_below + below @ shift])


def _split(form: StandardForm, free: Indices) -> StandardForm:
    """Write each unknown of `free` as the difference of two that are not negative.

    Their equations depend on others: the rounding that elimination left is set to zero.
    """
    if not len(free):
        return form
    matrix, vector = form.matrix.copy(), form.vector.copy()
    small = np.abs(matrix) <= _REGULAR * np.abs(matrix).max()
    bounded = np.setdiff1d(np.arange(form.size), free)
    small[np.ix_(bounded, bounded)] = False
    matrix[small] = 0.0
    dependent = np.abs(vector[free]) <= _REGULAR * np.abs(vector).max()
    vector[free[dependent]] = 0.0
    both = np.hstack([np.eye(form.size), np.zeros((form.size, len(free)))])
    both[free, form.size + np.arange(len(free))] = -1.0
    return StandardForm(both.T @ matrix @ both, both.T @ vector, form.origin, form.directions @ both)


def _regular(block: Floats) -> bool:
    norm = np.linalg.norm(block, 1)
    if norm == 0.0:
        return False
    factor, _, info = linalg.lapack.dgetrf(block)
    return bool(info == 0 and linalg.lapack.dgecon(factor, norm)[0] > _REGULAR)


def _pivots(matrix: Floats, free: Indices) -> tuple[Indices, Indices]:
    """The unknowns of `free` that can be eliminated, and the others that have to be pivoted on with them.

    Pivots of order one and two as in a symmetric indefinite factorisation, the largest first.
    """
    rest = matrix.copy()
    scale = max(float(np.abs(matrix).max()), np.finfo(float).tiny)
    waiting, others = list(free), np.setdiff1d(np.arange(len(matrix)), free).tolist()
    gone: list[int] = []
    partners: list[int] = []
    while waiting:
        open_ = waiting + others
        diagonal = np.abs(np.diag(rest)[waiting])
        products = rest[np.ix_(waiting, open_)] * rest[np.ix_(open_, waiting)].T
        minors = np.abs(np.outer(np.diag(rest)[waiting], np.diag(rest)[open_]) - products)
        minors[np.arange(len(waiting)), np.arange(len(waiting))] = 0.0
        row, column = np.unravel_index(int(minors.argmax()), minors.shape)
        if diagonal.max() >= 0.6 * np.sqrt(minors.max()):  # the larger one; order one if nearly as large
            taken = [waiting[int(diagonal.argmax())]]
            size = float(diagonal.max())
        else:
            taken = [waiting[row], open_[column]]
            size = float(np.sqrt(minors.max()))
        if size <= _REGULAR * scale:
            break
        inverse = np.linalg.inv(rest[np.ix_(taken, taken)])
        rest -= rest[:, taken] @ inverse @ rest[taken, :]
        for index in taken:
            if index in waiting:
                waiting.remove(index)
                gone.append(index)
            else:
                others.remove(index)
                partners.append(index)
    return np.array(gone, dtype=np.intp), np.array(partners, dtype=np.intp)
