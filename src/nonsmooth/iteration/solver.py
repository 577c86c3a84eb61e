"""Base class of solvers: a small frozen object with options, which begins an iteration on a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import MissingPackageError, OptionError, UnsupportedError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.iteration import Iteration

ProblemT = TypeVar("ProblemT")
GoalT = TypeVar("GoalT", bound=Goal)
IterationT = TypeVar("IterationT", bound=Iteration[Any])


@dataclass(frozen=True)
class Solver(ABC, Generic[ProblemT, GoalT, IterationT]):
    """A method with its options. Subclasses are frozen dataclasses whose fields are the options."""

    name: ClassVar[str]
    """The name in the registry and on the command line."""
    summary: ClassVar[str]
    """One-line summary for lists."""
    default_iterations: ClassVar[int] = 10_000
    """Iteration limit if the goal has none."""

    @abstractmethod
    def begin(self, problem: ProblemT, start: Floats, goal: GoalT) -> IterationT:
        """Start on a problem from a first answer."""

    def check(self, problem: ProblemT) -> None:
        """Raise `UnsupportedError` if the method does not support this problem."""
        return None

    def takes(self, problem: ProblemT) -> bool:
        """Return whether the method supports this problem on this machine."""
        try:
            self.check(problem)
        except (UnsupportedError, MissingPackageError):
            return False
        return True

    def on_threads(self, count: int) -> Self:
        """Return the same method on `count` threads; the method itself if it has no such option."""
        if not any(option.name == "threads" for option in fields(self)):
            return self
        return replace(self, threads=count)  # type: ignore[call-arg]

    def iteration_limit(self, goal: Goal) -> int:
        """Iteration limit of the goal, or else of the method."""
        return self.default_iterations if goal.max_iterations is None else goal.max_iterations


def check_arguments(
    problem: object, problem_type: type, wanted: str, solver: object, solver_type: type, example: str
) -> None:
    """Raise `OptionError` unless these are a problem and a solver of one family."""
    if not isinstance(problem, problem_type):
        raise OptionError(f"problem is a {type(problem).__name__}: give {wanted}")
    check_solver(solver, solver_type, example)


def check_solver(solver: object, solver_type: type, example: str) -> None:
    """Raise `OptionError` unless this is a solver object of the family; `example` is one."""
    if isinstance(solver, type) and issubclass(solver, solver_type):
        raise OptionError(f"solver is the class {solver.__name__}: give an object, {solver.__name__}()")
    if not isinstance(solver, solver_type):
        raise OptionError(f"solver is {solver!r}: give a solver object such as {example}")
