"""Semismooth Newton on the nonsmooth equations of the contact law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.parts.semismooth import FORMULATIONS, Equations

_SHORTEST = 1e-2
"""Step length below which a direction is rejected: sweeps reduce the residual more for the same work."""
_LEAST_REGULARISATION = 1e-14
_MOST_SWEEPS = 2000
"""Largest number of rescue sweeps; the number doubles with every rescue."""


@dataclass(frozen=True)
class Newton(Solver):
    """Semismooth Newton: (A + B(N + αI)) d = −F(γ), with line search on ½|F|² and a shrinking α.

    F is one of three equations that are zero exactly where the law holds: Alart and Curnier's (exact
    law), the natural map, or Fischer and Burmeister's in the second-order cone (both: either law).
    α is proportional to √|F|, so that a singular N (hyperstatic stacks) leaves the system regular and
    the steps become Newton's near the solution. A step that finds no decrease is replaced by
    Gauss-Seidel sweeps, which are also the start.
    """

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "semismooth Newton with line search and regularisation, for high accuracy"
    default_iterations: ClassVar[int] = 300

    formulation: str = "natural-map"
    """"alart-curnier", "natural-map" or "fischer-burmeister"."""
    warm_sweeps: int = 30
    """Gauss-Seidel sweeps before the first Newton step; may be 0."""
    rescue_sweeps: int = 30
    """Gauss-Seidel sweeps in place of a Newton step that finds no decrease; doubled each time."""
    regularisation: float = 1e-2
    """α relative to the size of F (dimensionless: the equations are weighted)."""
    max_blocks: int = 5000
    """Largest number of contacts and joint blocks accepted; one sparse factorisation then takes seconds."""

    def __post_init__(self) -> None:
        choice("Newton", "formulation", self.formulation, tuple(FORMULATIONS))
        whole("Newton", "warm_sweeps", self.warm_sweeps)
        whole("Newton", "rescue_sweeps", self.rescue_sweeps, 1)
        whole("Newton", "max_blocks", self.max_blocks, 1)
        positive("Newton", "regularisation", self.regularisation)

    def check(self, problem: ContactProblem) -> None:
        """Raise if the formulation does not support the law."""
        super().check(problem)
        if self.formulation == "alart-curnier" and not problem.law.exact:
            raise UnsupportedError(
                "Newton(formulation='alart-curnier') is for the exact law: use 'natural-map' for relaxed"
            )
        self.check_size(problem, self.max_blocks)

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _NewtonIteration(self, problem, start, goal)


class _NewtonIteration(Iteration):
    def __init__(self, solver: Newton, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.equations = Equations(problem, solver.formulation, np.arange(problem.layout.blocks))
        self.root = self.equations.root
        self.x = start / self.root
        self.best, self.best_residual = start, self.residual_of(start)
        if math.isnan(self.best_residual):
            self.best_residual = math.inf
        self.recent: list[float] = []
        self.sweeps = self.rescues = 0
        if solver.warm_sweeps and self.best_residual > goal.tolerance:
            self._sweep(solver.warm_sweeps)

    @property
    def impulses(self) -> Floats:
        return self.best

    def advance(self, count: int, stop: float) -> int:
        if not self._newton_step():
            self._sweep(min(_MOST_SWEEPS, self.solver.rescue_sweeps * 2**self.rescues))
            self.rescues += 1
        self._keep()
        return 1

    def _merit(self, x: Floats) -> float:
        """½|F|² at x; leaves F and its derivatives at x behind."""
        return 0.5 * self.equations.evaluate(x, self.equations.velocities(x)) ** 2

    def _newton_step(self) -> bool:
        merit = self._merit(self.x)
        if not math.isfinite(merit):
            return False
        self.recent = [*self.recent[-4:], merit]
        size = math.sqrt(2.0 * merit)
        scale = self.problem.scales.total
        direction = self.equations.step(
            self.solver.regularisation * math.sqrt(min(1.0, size / scale)) + _LEAST_REGULARISATION
        )
        if direction is None:
            return False
        allowed = max(self.recent)
        length = 1.0
        while length > _SHORTEST:
            trial = self.x + length * direction
            if self._merit(trial) <= (1.0 - 1e-4 * length) * allowed:
                self.x, self.step_length = trial, length
                return True
            length *= 0.5
        return False

    def _sweep(self, count: int) -> None:
        """Replace the iterate by the result of Gauss-Seidel sweeps."""
        sweeps = GaussSeidel().begin(self.problem, self.root * self.x, self.goal)
        self.sweeps += sweeps.advance(count, 0.0)
        self.x = sweeps.impulses / self.root
        self.recent.clear()
        self.note = f"{self.sweeps} Gauss-Seidel sweeps beside Newton's steps"
        self._keep()

    def _keep(self) -> None:
        impulses = self.root * self.x
        residual = self.residual_of(impulses)
        self.own_residual = residual * self.problem.scales.total
        if residual < self.best_residual:
            self.best, self.best_residual = impulses, residual
        if residual <= self.goal.tolerance:
            self.outcome = Status.SOLVED
