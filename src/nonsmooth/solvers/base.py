"""Base classes of the solvers of contact problems and of their iterations."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration import goal as goals
from nonsmooth.iteration import iteration as iterations
from nonsmooth.iteration import solver as solvers
from nonsmooth.iteration.status import Status
from nonsmooth.problem.certificate import residual_of
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.siconos_error import siconos_error_of_blocks
from nonsmooth.solvers.parts.first_sweeps import FirstSweeps
from nonsmooth.solvers.solution import Entry

MEASURES = ("invariant", "both")
"""Errors that must be within the tolerance: the certificate's residual, or also Siconos' error."""
_DIVERGED_RESIDUAL = 1e8
"""Residual, relative to the first one, above which an iteration has diverged."""


@dataclass(frozen=True)
class Goal(goals.Goal):
    """Goal of an iteration on a contact problem; the tolerance is relative."""

    measure: str = "invariant"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("solve", "measure", self.measure, MEASURES)

    def judge(self, problem: ContactProblem, x: Floats, residual: float) -> float:
        """Error compared with the tolerance, for impulses (blocks, 3) whose invariant residual is known."""
        if self.measure == "invariant" or not residual <= self.tolerance:
            return residual
        error = siconos_error_of_blocks(problem, x)
        return math.nan if math.isnan(error) else max(residual, error)


class Iteration(iterations.Iteration[ContactProblem]):
    """One solver at work on one contact problem; its result is impulses (blocks, 3).

    `own_residual` is in √J, `step_length` in a unit of the method.
    """

    look_every: ClassVar[int] = 50
    stalls_after: ClassVar[float] = 10_000

    goal: Goal
    step_length: float = math.nan

    def __init__(self, problem: ContactProblem, goal: Goal) -> None:
        super().__init__(problem, goal)

    @property
    @abstractmethod
    def impulses(self) -> Floats:
        """The best impulses so far, (blocks, 3)."""

    @property
    def answer(self) -> Floats:
        """The impulses."""
        return self.impulses

    @property
    def own_scale(self) -> float:
        """The problem's scale in √J."""
        return self.problem.scales.total

    def residual(self) -> float:
        """True relative residual of the best impulses so far."""
        return self.residual_of(self.impulses)

    def residual_of(self, x: Floats) -> float:
        """Relative residual of impulses (blocks, 3), recomputed from the problem, in the goal's measure."""
        return self.goal.judge(self.problem, x, residual_of(self.problem, x))

    def verdict(self, residual: float, first: float) -> Status | None:
        """DIVERGED if the residual has grown too far or is not finite."""
        if not residual <= _DIVERGED_RESIDUAL * max(1.0, first):
            return Status.DIVERGED
        return super().verdict(residual, first)

    def entry(self, iteration: int, residual: float, time: float) -> Entry:
        """Residual and step length, and the objective if every iteration is recorded."""
        objective = math.nan
        if self.goal.history:
            x = self.impulses
            objective = float(np.sum(x * (0.5 * self.problem.operator.apply(x) + self.problem.free_blocks)))
        return Entry(iteration, residual, time, objective, self.step_length)


@dataclass(frozen=True)
class Solver(solvers.Solver[ContactProblem, Goal, Iteration]):
    """A method with its options. Subclasses are frozen dataclasses whose fields are the options."""

    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed")
    takes_joints: ClassVar[bool] = True
    in_one_call: ClassVar[bool] = False
    """True if the method cannot be stopped after each iteration: `advance` then runs it to its end."""

    def first_sweeps(self, problem: ContactProblem, start: Floats, goal: Goal) -> FirstSweeps | None:
        """Try a small problem in one call, before an iteration is set up; None if not supported."""
        return None

    def begin_after(
        self, problem: ContactProblem, start: Floats, goal: Goal, sweeps: FirstSweeps | None
    ) -> Iteration:
        """Start on a problem after its first sweeps, from the impulses that they reached."""
        return self.begin(problem, start, goal)

    def check(self, problem: ContactProblem) -> None:
        """Raise `UnsupportedError` if the method does not support this problem."""
        if problem.law.name not in self.laws:
            raise UnsupportedError(
                f"{self.name} supports {' and '.join(self.laws)} problems, and this one is {problem.law}: "
                + self._cure(problem)
            )
        if problem.joint_rows and not self.takes_joints:
            raise UnsupportedError(
                f"{self.name} does not support joint rows: use gauss-seidel, newton or apgd"
            )

    def check_size(self, problem: ContactProblem, max_blocks: int) -> None:
        """Raise `UnsupportedError` if the matrix that the method factorises would be too large."""
        if problem.layout.blocks > max_blocks:
            raise UnsupportedError(
                f"{self.name} would factorise {problem.layout.blocks} blocks (max_blocks={max_blocks}): "
                "use gauss-seidel, or raise max_blocks; each factorisation then takes longer"
            )

    def _cure(self, problem: ContactProblem) -> str:
        if problem.law.name == "pyramid":
            return "use apgd, sor-prox or lemke, or problem.with_law('coulomb')"
        return f"use gauss-seidel or newton, or problem.with_law({self.laws[0]!r})"
