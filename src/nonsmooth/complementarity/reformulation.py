"""A complementarity problem as the bound-constrained minimisation of Andreani et al., problem (2).

For an MNCP with f, g of (u, v):   minimise ½(‖f(u, v) − z‖² + ‖g(u, v)‖² + (uᵀz)²)   with u, z ≥ 0.

In general l ≤ z ≤ u ⟂ F(z), and x = (z, s) with slacks s ≥ 0:

    lower bound only    F_i − s_i        (z_i − l_i) s_i
    upper bound only    F_i + s_i        (u_i − z_i) s_i
    both                F_i − s_i + s'_i    (z_i − l_i) s_i + (u_i − z_i) s'_i
    none                F_i
    fixed, l = u        F_i − s_i with s_i free: F_i is arbitrary

The first column, one row each, and the sum of the second column, the last row, are the residuals r(x); the
objective is ½ rᵀr. It is zero exactly at solutions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.base import Evaluations
from nonsmooth.complementarity.kernels.quadratic_box import SparseRows, transposed_product
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.quadratic_on_box import rows_of

_DIFFERENCE = float(np.sqrt(np.finfo(float).eps))
"""Relative step of differences of Jacobians."""


class Reformulation:
    """Problem (2) of one complementarity problem: bounds, residuals, gradient and second derivatives."""

    def __init__(self, problem: MCP) -> None:
        self.problem = problem
        n = problem.size
        paired = min(problem.rows, n)
        low, high = problem.lower[:paired], problem.upper[:paired]
        fixed = low == high
        self._low = np.flatnonzero(np.isfinite(low) & ~fixed)
        self._high = np.flatnonzero(np.isfinite(high) & ~fixed)
        self._fixed = np.flatnonzero(fixed)
        ends = n + np.cumsum([len(self._low), len(self._high), len(self._fixed)])
        self._of_low = slice(n, int(ends[0]))
        self._of_high = slice(int(ends[0]), int(ends[1]))
        self._of_fixed = slice(int(ends[1]), int(ends[2]))
        self.size = int(ends[2])
        """Number of variables x: n + m + n for an MNCP."""
        self.lower = np.concatenate(
            [problem.lower, np.zeros(ends[1] - n), np.full(len(self._fixed), -np.inf)]
        )
        self.upper = np.concatenate([problem.upper, np.full(self.size - n, np.inf)])
        slacks = np.arange(self._of_low.start, self._of_high.stop)
        self._last_columns = np.concatenate([self._low, self._high, slacks])
        self._slacks = self._slack_entries()
        self._pairs = self._pair_entries()

    @property
    def rows(self) -> int:
        """Number of residuals: one for each function, and the complementarity sum."""
        return self.problem.rows + 1

    def with_slacks(self, z: Floats) -> Floats:
        """x at z, its slacks zero."""
        return np.concatenate([z, np.zeros(self.size - len(z))])

    def best_slacks(self, x: Floats, value: Floats) -> Floats:
        """x with the slacks that minimise the objective for given z and F(z).

        They are the positive parts of ±F − τd, with the distances d of z from its bounds and τ the
        complementarity sum: the root of a convex, decreasing, piecewise linear function, by Newton's method.
        """
        below, above = self._distances(x)
        d = np.concatenate([below, above])
        f = np.concatenate([value[self._low], -value[self._high]])
        tau = 0.0
        for _ in range(100):
            s = np.maximum(f - tau * d, 0.0)
            gap = float(d @ s) - tau
            if not gap > 4e-16 * tau:
                break
            on = s > 0.0
            tau += gap / (1.0 + float(d[on] @ d[on]))
        found = x.copy()
        found[self.problem.size : self._of_high.stop] = s
        found[self._of_fixed] = value[self._fixed]
        return found

    def nearest_face(self, x: Floats, value: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """x with one of each pair, variable or slack, moved to its bound, and a mask of those moved.

        The variable is moved if the natural map is its distance from the bound, otherwise the slack.
        """
        found, held = x.copy(), np.zeros(self.size, dtype=np.bool_)
        below, above = self._distances(x)
        for pairs, slack, distance, f, bound in (
            (self._low, self._of_low, below, value[self._low], self.problem.lower),
            (self._high, self._of_high, above, -value[self._high], self.problem.upper),
        ):
            at = distance < f
            found[pairs[at]], held[pairs[at]] = bound[pairs[at]], True
            slacks = np.arange(slack.start, slack.stop)[~at]
            found[slacks], held[slacks] = 0.0, True
        return found, held

    def point(self, x: Floats) -> Floats:
        """z of x, a copy."""
        return x[: self.problem.size].copy()

    def complementarity(self, x: Floats) -> float:
        """The sum of all products, not negative within the bounds; uᵀz in the paper."""
        below, above = self._distances(x)
        return float(below @ x[self._of_low] + above @ x[self._of_high])

    def residual(self, x: Floats, value: Floats) -> Floats:
        """r(x), with F(z) given."""
        r = np.empty(self.rows)
        r[:-1] = value
        r[self._low] -= x[self._of_low]
        r[self._high] += x[self._of_high]
        r[self._fixed] -= x[self._of_fixed]
        r[-1] = self.complementarity(x)
        return r

    def jacobian(self, x: Floats, derivative: sp.csr_array) -> SparseRows:
        """∂r/∂x by rows, with ∂F/∂z given."""
        a, e = derivative, self._slacks
        below, above = self._distances(x)
        last = np.concatenate([x[self._of_low], -x[self._of_high], below, above])
        # row by row: first the entries of ∂F/∂z, then those of the slacks
        first = np.arange(a.nnz) + np.repeat(e.starts[:-1], np.diff(a.indptr))
        second = np.arange(len(e.entries)) + np.repeat(a.indptr[1:], np.diff(e.starts))
        filled = len(first) + len(second)
        columns = np.empty(filled + len(last), np.int32)
        entries = np.empty(filled + len(last))
        columns[first], entries[first] = a.indices, a.data
        columns[second], entries[second] = e.columns, e.entries
        columns[filled:], entries[filled:] = self._last_columns, last
        starts = np.append(a.indptr + e.starts, filled + len(last)).astype(np.int32)
        return SparseRows(starts, columns, entries)

    def matrix(self, jacobian: SparseRows) -> sp.csr_array:
        """∂r/∂x as a sparse matrix (rows, size)."""
        found = sp.csr_array(
            (jacobian.entries, jacobian.columns, jacobian.starts), shape=(self.rows, self.size)
        )
        found.sum_duplicates()  # a variable with two bounds occurs twice in the last row
        return found

    def gradient(self, residual: Floats, jacobian: SparseRows) -> Floats:
        """∂(½ rᵀr)/∂x = (∂r/∂x)ᵀ r."""
        out = np.empty(self.size)
        transposed_product(jacobian, residual, out)
        return out

    def bilinear(self, residual: Floats) -> SparseRows:
        """The last residual times its second derivatives: the exact curvature of the complementarity sum."""
        return SparseRows(self._pairs.starts, self._pairs.columns, residual[-1] * self._pairs.entries)

    def curvature(
        self, evaluate: Evaluations, x: Floats, residual: Floats, derivative: sp.csr_array
    ) -> SparseRows:
        """`bilinear` and Σ_k r_k ∂²F_k/∂z², by differences of (∂F/∂z)ᵀr: one Jacobian for each variable."""
        problem, n = self.problem, self.problem.size
        z, r = x[:n], residual[:-1]
        here = derivative.T @ r
        found = np.zeros((n, n))
        for j in np.flatnonzero(problem.lower < problem.upper):
            length = _DIFFERENCE * max(1.0, abs(z[j]))
            moved = z.copy()
            moved[j] = z[j] + length if z[j] + length <= problem.upper[j] else z[j] - length
            moved[j] = max(moved[j], problem.lower[j])
            found[:, j] = (evaluate.jacobian(moved).T @ r - here) / (moved[j] - z[j])
        found[~np.isfinite(found)] = 0.0  # a difference left the domain of F
        block = sp.csr_array(0.5 * (found + found.T))
        block.resize((self.size, self.size))
        pairs = self.bilinear(residual)
        bilinear = sp.csr_array((pairs.entries, pairs.columns, pairs.starts), shape=block.shape)
        return rows_of(block + bilinear)

    def _distances(self, x: Floats) -> tuple[Floats, Floats]:
        """z − l and u − z of the variables with such a bound."""
        low, high = self._low, self._high
        return x[low] - self.problem.lower[low], self.problem.upper[high] - x[high]

    def _slack_entries(self) -> SparseRows:
        """∂r/∂s of the first residuals, which is constant; columns are those of x."""
        rows = np.concatenate([self._low, self._high, self._fixed])
        signs = np.repeat([-1.0, 1.0, -1.0], [len(self._low), len(self._high), len(self._fixed)])
        columns = np.arange(self.problem.size, self.size)
        return rows_of(sp.coo_array((signs, (rows, columns)), shape=(self.problem.rows, self.size)))

    def _pair_entries(self) -> SparseRows:
        """Second derivatives of the complementarity sum: ±1 for each variable and its slack."""
        variables, slacks = np.split(self._last_columns, 2)
        signs = np.repeat([1.0, -1.0], [len(self._low), len(self._high)])
        entries = np.concatenate([signs, signs])
        places = (self._last_columns, np.concatenate([slacks, variables]))
        return rows_of(sp.coo_array((entries, places), shape=(self.size, self.size)))
