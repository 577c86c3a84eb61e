"""Lemke's complementary pivoting for linear complementarity problems, exact up to rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import whole
from nonsmooth.complementarity.base import Iteration, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.kernels import lemke as kernels
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.standard_form import StandardForm, equilibrating, standard_form, unknowns_of
from nonsmooth.complementarity.theory.infeasible_signs import missed_signs
from nonsmooth.complementarity.theory.matrix_classes import Limits, matrix_class
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status

_WORK = 2e8
"""Entries of the tableau changed in one call of the kernel; limits are checked between calls."""


@dataclass(frozen=True)
class Lemke(Solver):
    """Lemke's method with the lexicographic ratio test, for problems whose function is linear, M z + q.

    It needs no start and ends after a finite number of pivots (the iterations), in the worst case 2ⁿ,
    usually about n. With a row sufficient matrix (positive semidefinite ones and P-matrices are) it finds a
    solution if there is one. The tableau is dense: (number of finite bounds)² numbers.
    """

    name: ClassVar[str] = "lemke"
    summary: ClassVar[str] = "Lemke's pivoting for linear problems, exact up to rounding"
    default_iterations: ClassVar[int] = 1_000_000

    max_unknowns: int = 3000
    """Largest number of unknowns (finite bounds) accepted."""
    max_covers: int = 6
    """Number of covering vectors tried: all ones first, then random ones of a fixed seed."""

    def __post_init__(self) -> None:
        whole("Lemke", "max_unknowns", self.max_unknowns, 1)
        whole("Lemke", "max_covers", self.max_covers, 1)

    def check(self, problem: MCP) -> None:
        """Raise for functions that are not linear and for problems that are too large."""
        super().check(problem)
        if problem.matrix is None:
            raise UnsupportedError(
                "lemke supports linear problems, and the matrix of this one is not known: give an LCP(M, q), "
                "or use semismooth-newton"
            )
        unknowns = max(unknowns_of(problem), problem.size)
        if unknowns > self.max_unknowns:
            raise UnsupportedError(
                f"lemke would need a dense tableau for {unknowns} unknowns "
                f"(max_unknowns={self.max_unknowns}): "
                "use semismooth-newton or projected-gauss-seidel for large problems"
            )

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem; pivoting ignores the start."""
        return _LemkeIteration(problem, start, goal, self)


class _LemkeIteration(Iteration):
    def __init__(self, problem: MCP, start: Floats, goal: Goal, options: Lemke) -> None:
        super().__init__(problem, start, goal)
        self._options = options
        self._generator = np.random.default_rng(0)
        self._best = residual_of(problem, self.point, self.value)
        self._covers = self._rays = 0
        self._pivoting: _Pivoting | None = None

    @cached_property
    def _form(self) -> StandardForm:
        return standard_form(self.problem)

    @cached_property
    def _scaled(self) -> _Scaled:
        return _Scaled(self._form)

    def advance(self, count: int, stop: float) -> int:
        if self._form.vector.min(initial=0.0) >= 0.0:
            self._take(np.zeros(self._form.size))
            self.outcome = Status.SOLVED
            return 1
        if self._pivoting is None:
            self._pivoting = _Pivoting(self._scaled, self._next_cover())
        pivots = self._pivoting.go_on(count)
        outcome = self._pivoting.outcome
        if outcome == kernels.SOLVED:
            self._take(self._scaled.unscaled(self._pivoting.unknowns()))
        elif outcome == kernels.RAY:
            self._rays += 1
        if outcome != kernels.PIVOT_LIMIT:
            self._pivoting = None
            self._judge()
        return max(pivots, 1)

    def _next_cover(self) -> Floats:
        self._covers += 1
        self._say()
        if self._covers == 1:
            return np.ones(self._form.size)
        return self._generator.uniform(1.0, 2.0, self._form.size)

    def _take(self, y: Floats) -> None:
        z = polished(self.problem, self.problem.clip(self._form.point(y)))
        value = self.evaluate.value(z)
        residual = residual_of(self.problem, z, value)
        if residual < self._best:
            self.point, self.value, self._best = z, value, residual

    def _judge(self) -> None:
        """Outcome at the end of a path: solved, infeasible, another covering vector, or failed."""
        if self._best <= self.goal.tolerance:
            self.outcome = Status.SOLVED
        elif self._covers == 1 and (missed := missed_signs(self.problem)) > 0.0:
            self.outcome = Status.INFEASIBLE
            self._say(f"a linear program shows that some sign is missed by {missed:.3g} everywhere")
        elif self._covers == self._options.max_covers:
            all_rays = self._rays == self._covers
            self.outcome = Status.RAY if all_rays else Status.STALLED
            self._say(_what_a_ray_means(self._form.matrix) if all_rays else "")

    def _say(self, what: str = "") -> None:
        plural = "s" if self._covers > 1 else ""
        counts = f"{self._form.size} unknowns, {self._covers} covering vector{plural}"
        self.note = f"{counts}; {what}" if what else counts


class _Scaled:
    """The standard form with rows and columns multiplied by powers of two, so that its entries are near 1."""

    def __init__(self, form: StandardForm) -> None:
        rows, columns = equilibrating(form.matrix)
        right = rows * form.vector
        self._length = 2.0 ** np.round(np.log2(max(float(np.abs(right).max(initial=0.0)), 1e-300)))
        self._columns = columns
        self.matrix = rows[:, None] * form.matrix * columns
        self.right = right / self._length

    def unscaled(self, y: Floats) -> Floats:
        """y of the form itself."""
        return self._length * self._columns * y


class _Pivoting:
    """One pivoting path from one covering vector, in portions."""

    def __init__(self, scaled: _Scaled, cover: Floats) -> None:
        self._scaled, self._cover = scaled, cover
        self._tableau = kernels.prepare(scaled.matrix, scaled.right, cover)
        self._entering = 2 * len(cover)
        self._portion = max(int(_WORK / len(cover) ** 2), 32)
        self._rebuilt_at, self._pivots = 0, 0
        self.outcome = kernels.PIVOT_LIMIT

    def go_on(self, count: int) -> int:
        """Do up to `count` pivots; fewer on a large problem. A ray is accepted only on a fresh tableau."""
        self._entering, pivots, self.outcome = kernels.pivot(
            self._tableau, self._cover, self._entering, min(count, self._portion)
        )
        self._pivots += pivots
        if self.outcome == kernels.RAY and self._rebuilt_at < self._pivots and self._rebuild():
            self._rebuilt_at = self._pivots
            self.outcome = kernels.PIVOT_LIMIT
        return int(pivots)

    def unknowns(self) -> Floats:
        """y of the present basis."""
        return np.asarray(kernels.unknowns(self._tableau)[0])

    def _rebuild(self) -> bool:
        """Recompute the tableau from its basis, without accumulated rounding; False if singular."""
        size = len(self._cover)
        columns = np.hstack([np.eye(size), -self._scaled.matrix, -self._cover[:, None]])
        try:
            inverse = np.linalg.inv(columns[:, self._tableau.basis])
        except np.linalg.LinAlgError:
            return False
        self._tableau.body[:] = inverse @ columns[:, self._tableau.nonbasic]
        self._tableau.right[:] = inverse @ self._scaled.right
        return bool(np.isfinite(self._tableau.body).all())


def polished(problem: MCP, z: Floats) -> Floats:
    """Solve the final basis again from the problem data; return the better of both points.

    The basic variables follow from the natural map: those with l < z − F < u, whose F must vanish.
    """
    assert problem.matrix is not None
    value = problem.value(z)
    residual = residual_of(problem, z, value)
    good_enough = 4.0 * np.finfo(float).eps * max(np.abs(z).max(initial=0.0), np.abs(value).max(initial=0.0))
    dense = problem.matrix.toarray() if residual > good_enough else np.empty((0, 0))
    while residual > good_enough:
        target = z - value
        basic = np.flatnonzero((target > problem.lower) & (target < problem.upper))
        better = problem.clip(target)
        better[basic] = z[basic]
        block, wrong = dense[np.ix_(basic, basic)], problem.value(better)[basic]
        try:
            better[basic] -= np.linalg.solve(block, wrong)
        except np.linalg.LinAlgError:
            better[basic] -= np.linalg.lstsq(block, wrong, rcond=1e-12)[0]
        better = problem.clip(better)
        value_there = problem.value(better)
        found = residual_of(problem, better, value_there)
        if not found < 0.5 * residual:
            return better if found < residual else z
        z, value, residual = better, value_there, found
    return z


def _what_a_ray_means(matrix: Floats) -> str:
    known = matrix_class(matrix, limits=Limits(minors=10, pivots=8, programs=0))
    if known.row_sufficient:
        return (
            "the matrix is row sufficient and the signs can be met, so that a solution exists: "
            "the ray comes from rounding"
        )
    return "every covering vector ended on a ray; for this matrix that does not prove that no solution exists"
