"""What a solver is: a small frozen object with options, and the run that it begins on a problem."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.certificate import residual_of
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.siconos_error import siconos_error_of_blocks
from nonsmooth.solvers.parts.first_sweeps import Dash

MEASURES = ("invariant", "both")
"""What must be within the tolerance: the certificate's residual, or that and Siconos' error."""


class Run(ABC):
    """One solver at work on one problem. The shared loop calls `advance` until it is enough.

    A run keeps its answer in (blocks, 3) arrays. It judges itself by a cheap number of its own,
    `estimate` (√J), and the loop looks at the true residual only when that number is small.
    """

    finished: Status | None = None
    """Set by a run that cannot go on: SOLVED if it thinks so (the loop checks), or a failure."""
    estimate: float = math.inf
    step_length: float = math.nan
    note: str = ""

    def __init__(self, problem: ContactProblem, goal: Goal) -> None:
        self.problem = problem
        self.goal = goal
        self._began = work_seconds()

    @property
    @abstractmethod
    def impulses(self) -> Floats:
        """The best answer so far, (blocks, 3)."""

    @abstractmethod
    def advance(self, count: int, stop: float) -> int:
        """Do up to `count` iterations, fewer if `estimate` falls to `stop`; return how many were done."""

    def refresh(self) -> None:
        """Recompute what is carried along by increments; called when the run's own estimate was too kind."""
        return None

    def time_left(self) -> float:
        """What is left of the time limit in s, for a solver inside this one; never quite nothing."""
        return max(self.goal.time_limit - (work_seconds() - self._began), 1e-3)

    def residual(self) -> float:
        """True relative residual of the answer so far."""
        return self.residual_of(self.impulses)

    def residual_of(self, x: Floats) -> float:
        """Relative residual of impulses (blocks, 3), recomputed from the problem, in the goal's measure."""
        return self.goal.judge(self.problem, x, residual_of(self.problem, x))


@dataclass(frozen=True)
class Goal:
    """What a run is asked for: relative tolerance, iteration limit, time limit in s, recording, measure."""

    tolerance: float = 1e-8
    max_iterations: int | None = None
    time_limit: float = math.inf
    record: bool = False
    measure: str = "invariant"

    def __post_init__(self) -> None:
        choice("solve", "measure", self.measure, MEASURES)
        positive("solve", "tolerance", self.tolerance)
        positive("solve", "time_limit", self.time_limit)
        if self.max_iterations is not None:
            whole("solve", "max_iterations", self.max_iterations)

    def judge(self, problem: ContactProblem, x: Floats, residual: float) -> float:
        """What is compared with the tolerance, for impulses (blocks, 3) whose invariant residual is known."""
        if self.measure == "invariant" or not residual <= self.tolerance:
            return residual
        error = siconos_error_of_blocks(problem, x)
        return math.nan if math.isnan(error) else max(residual, error)


@dataclass(frozen=True)
class Solver(ABC):
    """A method with its options. Subclasses are frozen dataclasses whose fields are the options."""

    name: ClassVar[str]
    """The name in the registry and on the command line."""
    summary: ClassVar[str]
    """One line for lists."""
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed")
    takes_joints: ClassVar[bool] = True
    default_iterations: ClassVar[int] = 10_000
    in_one_call: ClassVar[bool] = False
    """True where the method cannot be stopped after each iteration: `advance` then runs to its end."""

    @abstractmethod
    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        """Start on a problem from impulses (blocks, 3)."""

    def dash(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Dash | None:
        """Try a small problem in one call, before a run is set up; None where the method cannot."""
        return None

    def check(self, problem: ContactProblem) -> None:
        """Raise `UnsupportedError` if the method cannot take this problem."""
        if problem.law.name not in self.laws:
            raise UnsupportedError(
                f"{self.name} takes {' and '.join(self.laws)} problems, and this one is {problem.law}: "
                + self._cure(problem)
            )
        if problem.joint_rows and not self.takes_joints:
            raise UnsupportedError(f"{self.name} cannot take joint rows: use gauss-seidel, newton or apgd")

    def on_threads(self, count: int) -> Solver:
        """Return the same method on so many threads; itself where it has but one."""
        if not any(option.name == "threads" for option in fields(self)):
            return self
        return replace(self, threads=count)  # type: ignore[call-arg]

    def _cure(self, problem: ContactProblem) -> str:
        if problem.law.name == "pyramid":
            return "use apgd, sor-prox or lemke, or problem.with_law('coulomb')"
        return f"use gauss-seidel or newton, or problem.with_law({self.laws[0]!r})"
