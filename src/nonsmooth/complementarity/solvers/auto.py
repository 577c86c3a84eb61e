"""The default solver: picks methods by the kind of problem, one after the other until one succeeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import whole
from nonsmooth.complementarity.base import Iteration, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.complementarity.theory.infeasible_signs import missed_signs
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status


@dataclass(frozen=True)
class Auto(Solver):
    """Lemke for small linear problems, else semismooth Newton; if that fails, the other methods.

    The order is Lemke (linear, small), semismooth Newton, Lemke (linear, larger), the trust region of
    problem (2), and semismooth Newton from the best point so far and from random ones. The note lists the
    methods and how they ended. Runs are deterministic.
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks methods by the kind of problem until one succeeds (the default)"
    default_iterations: ClassVar[int] = 1_000_000

    max_lemke_variables: int = 100
    """Largest number of variables of a linear problem for which Lemke comes first."""
    restarts: int = 20
    """Number of random starts after all other methods failed."""

    def __post_init__(self) -> None:
        whole("Auto", "max_lemke_variables", self.max_lemke_variables)
        whole("Auto", "restarts", self.restarts)

    def check(self, problem: MCP) -> None:
        """Every problem is supported."""

    def stages(self, problem: MCP) -> list[Solver]:
        """The methods in order of trial."""
        from nonsmooth.complementarity.solvers.box_trust_region import BoxTrustRegion
        from nonsmooth.complementarity.solvers.lemke import Lemke

        newton = SemismoothNewton(restarts=0)
        first = [Lemke(), newton] if problem.size <= self.max_lemke_variables else [newton, Lemke()]
        last = SemismoothNewton(restarts=self.restarts)
        return [solver for solver in (*first, BoxTrustRegion(), last) if solver.takes(problem)]

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _AutoIteration(self, problem, start, goal)


@dataclass
class _Stage:
    """One method at work, with its best result."""

    solver: Solver
    run: Iteration
    iterations: int = 0
    best: float = math.inf
    status: Status | None = None

    def __str__(self) -> str:
        ended = f" ended '{self.status}'" if self.status else ""
        return f"{self.solver.name}{ended}{f' ({self.run.note})' if self.run.note else ''}"


class _AutoIteration(Iteration):
    def __init__(self, solver: Auto, problem: MCP, start: Floats, goal: Goal) -> None:
        super().__init__(problem, start, goal)
        self._start = self._best_point = start
        self._best = math.inf
        self._to_come = solver.stages(problem)
        self._begun: list[_Stage] = []
        self._looked = False
        """Whether a linear program has checked that the signs can be met."""
        self._proof: list[str] = []

    def advance(self, count: int, stop: float) -> int:
        if not self._begun or self._begun[-1].status is not None:
            self._begin_stage()
        stage = self._begun[-1]
        done = stage.run.advance(min(count, stage.solver.default_iterations - stage.iterations), stop)
        stage.iterations += done
        residual = residual_of(self.problem, stage.run.point, stage.run.value)
        if not math.isnan(residual):
            self.point, self.value, self.merit = stage.run.point, stage.run.value, stage.run.merit
            stage.best = min(stage.best, residual)
        if residual < self._best:
            self._best, self._best_point = residual, stage.run.point.copy()
        self._count()
        if residual > self.goal.tolerance or math.isnan(residual):
            stage.status = _end(stage, residual)
            self._end_stage(stage)
        self.note = ", then ".join([*(str(each) for each in self._begun), *self._proof])
        return done

    def _begin_stage(self) -> None:
        solver = self._to_come.pop(0)
        start = self._start if self._to_come else self._best_point
        goal = Goal(self.goal.tolerance, None, self.time_left())
        self._begun.append(_Stage(solver, solver.begin(self.problem, start, goal)))

    def _end_stage(self, stage: _Stage) -> None:
        if stage.status is Status.INFEASIBLE:
            self.outcome = Status.INFEASIBLE
        elif stage.status is not None and self.problem.matrix is not None and not self._looked:
            self._looked = True
            missed = missed_signs(self.problem)
            if missed > 0.0:
                self.outcome = Status.INFEASIBLE
                self._proof = [f"a linear program: F misses a required sign by at least {missed:.3g}"]
        if stage.status is not None and self.outcome is None and not self._to_come:
            self.outcome = min(self._begun, key=lambda each: each.best).status

    def _count(self) -> None:
        """Sum the counters of all stages and the one evaluation of this run."""
        runs = [stage.run for stage in self._begun]
        self.evaluate.functions = 1 + sum(run.evaluate.functions for run in runs)
        self.evaluate.jacobians = sum(run.evaluate.jacobians for run in runs)
        self.inner_iterations = sum(run.inner_iterations for run in runs)
        self.products = sum(run.products for run in runs)


def _end(stage: _Stage, residual: float) -> Status | None:
    """Status of a stage that ended without reaching the tolerance; None if it continues."""
    if stage.run.outcome is not None:
        return Status.STALLED if stage.run.outcome is Status.SOLVED else stage.run.outcome
    if math.isnan(residual):
        return Status.UNDEFINED
    if stage.iterations >= stage.solver.default_iterations:
        return Status.ITERATION_LIMIT
    return None
