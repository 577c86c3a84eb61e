"""Exact friction by a sequence of relaxed problems: fixed-point iteration on the tilting term."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth._options import positive
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Run, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.solve import run_to_goal
from nonsmooth.solvers.status import Status

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FixedPoint(Solver):
    """TR-2014-11 §4.3, Eqs. 26 and 27: solve the relaxed problem with s held, set s = μ|u_t|, repeat.

    The inner solver is warm-started and asked for `tightening` times the outer residual, never for
    more than a tenth of the tolerance: no effort is spent on an s that will change anyway.
    """

    name: ClassVar[str] = "fixed-point"
    summary: ClassVar[str] = "fixed-point iteration on the tilting term with a relaxed solver inside"
    laws: ClassVar[tuple[str, ...]] = ("coulomb",)
    default_iterations: ClassVar[int] = 1000

    inner: Solver = field(default_factory=GaussSeidel)
    """Any solver that takes the relaxed law."""
    tightening: float = 0.1
    """Inner tolerance as a part of the outer residual."""
    damping: float = 0.5
    """When the residual grows, the change of s is shortened by this factor (and recovers slowly)."""

    def __post_init__(self) -> None:
        positive("FixedPoint", "tightening", self.tightening)
        positive("FixedPoint", "damping", self.damping)

    def check(self, problem: ContactProblem) -> None:
        """Raise if this solver or the inner one cannot take the problem."""
        super().check(problem)
        self.inner.check(problem.with_law("relaxed"))

    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        """Start on a problem."""
        return _FixedPointRun(self, problem, initial, goal)


class _FixedPointRun(Run):
    def __init__(self, solver: FixedPoint, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.x = initial
        self.relaxed = problem.with_law("relaxed")
        self.inner_iterations = 0
        self.s: Floats | None = None
        self.step_length = 1.0
        self.last = self.residual_of(initial)
        self.best, self.best_x, self.unimproved = self.last, initial, 0

    @property
    def impulses(self) -> Floats:
        return self.best_x

    def advance(self, count: int, stop: float) -> int:
        problem, layout = self.problem, self.problem.layout
        u = problem.operator.apply(self.x) + problem.free_blocks
        new = problem.cones.friction * np.hypot(u[:, 1], u[:, 2])
        self.s = new if self.s is None else self.s + self.step_length * (new - self.s)
        shift = np.zeros((layout.blocks, 3))
        shift[:, 0] = self.s
        tilted = self.relaxed.shifted(layout.unpad(shift)[: layout.contact_rows])
        tolerance = max(self.solver.tightening * min(self.last, 1.0), 0.1 * self.goal.tolerance)
        inner = run_to_goal(tilted, self.solver.inner, self.x, Goal(tolerance, time_limit=self.time_left()))
        self.inner_iterations += inner.statistics.iterations
        self.note = f"{self.inner_iterations} iterations of {self.solver.inner.name} inside"
        if inner.status in (Status.DIVERGED, Status.FAILED, Status.INFEASIBLE):
            self.finished = inner.status
            self.note += f"; the last one ended: {inner.status}"
            return 1
        self.x = layout.pad(np.concatenate([inner.impulses, inner.joint_impulses]))
        self._judge()
        return 1

    def _judge(self) -> None:
        """Keep the best iterate; an outer iteration that cycles has stalled."""
        before, self.last = self.last, self.residual_of(self.x)
        grown = self.last > before
        self.step_length = (
            self.step_length * self.solver.damping if grown else min(1.0, 1.2 * self.step_length)
        )
        self.estimate = self.last * self.problem.scales.whole
        self.unimproved = 0 if self.last < 0.9 * self.best else self.unimproved + 1
        if self.last < self.best:
            self.best, self.best_x = self.last, self.x
        if self.unimproved > 100:
            self.finished = Status.STALLED
