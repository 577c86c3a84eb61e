"""Exact friction by a sequence of relaxed problems: fixed-point iteration on the tilting term."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import positive, whole
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.solve import run_to_goal

_DEPENDENT = 1e-8
"""Relative distance below which a change of s is a combination of the others and is omitted."""
_SLOW = 0.5
"""Expected reduction of the residual per iteration; if it is not reached, changes of s are combined."""


@dataclass(frozen=True)
class FixedPoint(Solver):
    """TR-2014-11 §4.3, Eqs. 26 and 27: solve the relaxed problem with s held, set s = μ|u_t|, repeat.

    The inner solver is warm-started; its tolerance is `tightening` times the outer residual, but at least a
    tenth of the tolerance, because s still changes. If the iteration converges slowly or cycles, the last few
    changes of s are combined (Anderson 1965).
    """

    name: ClassVar[str] = "fixed-point"
    summary: ClassVar[str] = "fixed-point iteration on the tilting term with a relaxed solver inside"
    laws: ClassVar[tuple[str, ...]] = ("coulomb",)
    default_iterations: ClassVar[int] = 1000

    inner: Solver = field(default_factory=GaussSeidel)
    """Any solver of the relaxed law."""
    tightening: float = 0.1
    """Inner tolerance as a fraction of the outer residual."""
    memory: int = 5
    """Number of earlier changes of s to combine with the next one if the residual falls slowly; with 0, s is
    always μ|u_t|, which cycles on heaps."""
    damping: float = 1.0
    """When the residual grows, the change of s is shortened by this factor (and recovers slowly)."""

    def __post_init__(self) -> None:
        positive("FixedPoint", "tightening", self.tightening)
        whole("FixedPoint", "memory", self.memory)
        positive("FixedPoint", "damping", self.damping)

    def check(self, problem: ContactProblem) -> None:
        """Raise if this solver or the inner one does not support the problem."""
        super().check(problem)
        self.inner.check(problem.with_law("relaxed"))

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _FixedPointIteration(self, problem, start, goal)


class _FixedPointIteration(Iteration):
    def __init__(self, solver: FixedPoint, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.x = start
        self.relaxed = problem.with_law("relaxed")
        self.inner_iterations = 0
        self.s: Floats | None = None
        self.tried: list[tuple[Floats, Floats]] = []
        self.is_slow = False
        self.step_length = 1.0
        self.last = self.residual_of(start)
        self.best, self.best_x, self.unimproved = self.last, start, 0

    @property
    def impulses(self) -> Floats:
        return self.best_x

    def advance(self, count: int, stop: float) -> int:
        problem, layout = self.problem, self.problem.layout
        u = problem.operator.apply(self.x) + problem.free_blocks
        new = problem.cones.friction * np.hypot(u[:, 1], u[:, 2])
        self.s = new if self.s is None else self._mixed(self.s, new - self.s)
        shift = np.zeros((layout.blocks, 3))
        shift[:, 0] = self.s
        tilted = self.relaxed.shifted(layout.unpad(shift)[: layout.contact_rows])
        tolerance = max(self.solver.tightening * min(self.last, 1.0), 0.1 * self.goal.tolerance)
        inner = run_to_goal(tilted, self.solver.inner, self.x, Goal(tolerance, time_limit=self.time_left()))
        self.inner_iterations += inner.statistics.iterations
        self.note = f"{self.inner_iterations} iterations of {self.solver.inner.name} inside"
        if inner.status in (Status.DIVERGED, Status.FAILED, Status.INFEASIBLE):
            self.outcome = inner.status
            self.note += f"; the last one ended: {inner.status}"
            return 1
        self.x = layout.pad(np.concatenate([inner.impulses, inner.joint_impulses]))
        self._judge()
        return 1

    def _mixed(self, s: Floats, change: Floats) -> Floats:
        """The next s: s + change, or if that is slow the combination of the last ones of least change."""
        self.tried = [*self.tried, (s, change)][-1 - self.solver.memory :]
        mixed = s + self.step_length * change
        if self.is_slow and len(self.tried) > 1:
            steps, differences = (np.diff(each, axis=0).T for each in zip(*self.tried, strict=True))
            part = np.linalg.lstsq(differences, change, rcond=_DEPENDENT)[0]
            mixed -= (steps + self.step_length * differences) @ part
        return np.maximum(mixed, 0.0)

    def _judge(self) -> None:
        """Keep the best iterate; an outer iteration that cycles has stalled."""
        before, self.last = self.last, self.residual_of(self.x)
        grown, self.is_slow = self.last > before, self.last > _SLOW * before
        self.step_length = (
            self.step_length * self.solver.damping if grown else min(1.0, 1.2 * self.step_length)
        )
        self.own_residual = self.last * self.problem.scales.total
        self.unimproved = 0 if self.last < 0.9 * self.best else self.unimproved + 1
        if self.last < self.best:
            self.best, self.best_x = self.last, self.x
        if self.unimproved > 100:
            self.outcome = Status.STALLED
