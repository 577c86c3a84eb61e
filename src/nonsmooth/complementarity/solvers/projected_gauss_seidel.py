"""The projected Gauss-Seidel method for linear problems: cheap sweeps over the rows, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import positive
from nonsmooth.complementarity.base import Iteration, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.kernels.projected import sweep
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.standard_form import affine_vector
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status

_WORK = 2e7
"""Entries of the matrix used in one call of the kernel; limits are checked between calls."""
_DIVERGED = 1e8
"""Growth of the natural residual over its smallest value above which the sweeps diverge."""


@dataclass(frozen=True)
class ProjectedGaussSeidel(Solver):
    """z_i ← mid(l_i, z_i − ω (M z + q)_i / M_ii, u_i) for one row after another, in repeated sweeps.

    For problems whose function is linear, M z + q, with a positive diagonal. It converges for symmetric
    positive definite M with 0 < ω < 2, and for strictly diagonally dominant M with 0 < ω ≤ 1; for others it
    may diverge or oscillate. One iteration is one sweep, as cheap as a product with M.
    """

    name: ClassVar[str] = "projected-gauss-seidel"
    summary: ClassVar[str] = "projected Gauss-Seidel sweeps for large sparse linear problems"
    default_iterations: ClassVar[int] = 100_000

    omega: float = 1.0
    """Relaxation, between 0 and 2; over-relaxation (above 1) converges much faster on large grids."""

    def __post_init__(self) -> None:
        positive("ProjectedGaussSeidel", "omega", self.omega)
        if self.omega >= 2.0:
            raise OptionError(f"ProjectedGaussSeidel(omega={self.omega!r}): it must be below 2")

    def check(self, problem: MCP) -> None:
        """Raise for functions that are not linear and for rows whose diagonal entry is not positive."""
        super().check(problem)
        if problem.matrix is None:
            raise UnsupportedError(
                "projected-gauss-seidel supports linear problems, and the matrix of this one is not known: "
                "give an LCP(M, q), or use semismooth-newton"
            )
        diagonal = problem.matrix.diagonal()
        wrong = np.flatnonzero((diagonal <= 0.0) & (problem.lower < problem.upper))
        if len(wrong):
            i = int(wrong[0])
            raise UnsupportedError(
                f"projected-gauss-seidel divides by the diagonal of the matrix, and row {i} has "
                f"{diagonal[i]:g} there ({len(wrong)} rows are not positive): use lemke or semismooth-newton"
            )

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem from a point within its bounds."""
        return _SweepIteration(problem, start, goal, self.omega)


class _SweepIteration(Iteration):
    def __init__(self, problem: MCP, start: Floats, goal: Goal, omega: float) -> None:
        super().__init__(problem, start, goal)
        assert problem.matrix is not None
        matrix = problem.matrix
        self._rows = (matrix.indptr, matrix.indices, matrix.data, affine_vector(problem))
        self._diagonal, self._omega = matrix.diagonal(), omega
        self._portion = max(int(_WORK / max(matrix.nnz, 1)), 1)
        self._aim = goal.tolerance
        self._best = residual_of(problem, self.point, self.value)

    def advance(self, count: int, stop: float) -> int:
        bounds = self.problem.lower, self.problem.upper
        large = _DIVERGED * max(self._best, self.goal.tolerance)
        z = self.point.copy()
        done, worst, changed = sweep(
            *self._rows, *bounds, self._diagonal, self._omega, z, min(count, self._portion), self._aim, large
        )
        if not worst <= large:
            self.outcome = Status.FAILED
            self.note = (
                f"the sweeps diverge (natural residual {worst:.2g} after {self._best:.2g}): the matrix is "
                "neither symmetric positive definite nor diagonally dominant enough for "
                f"omega={self._omega:g}; use lemke or semismooth-newton"
            )
            return int(done)
        self.point = z
        self.value = self.evaluate.value(z)
        residual = residual_of(self.problem, z, self.value)
        self._best = min(self._best, residual)
        if not changed:
            self.outcome = Status.SOLVED  # no variable moves: the loop distinguishes solved from stalled
        elif worst <= self._aim:  # residuals met during the sweep were smaller than those it left
            self._aim = 0.5 * worst * min(1.0, self.goal.tolerance / max(residual, self.goal.tolerance))
        return int(done)
