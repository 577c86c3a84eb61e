"""Interface between the loop and a method at work on one problem."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.solution import Entry
from nonsmooth.iteration.status import Status

ProblemT = TypeVar("ProblemT")


class Iteration(ABC, Generic[ProblemT]):
    """One solver at work on one problem. The loop calls `advance` until the goal is reached.

    Each family defines its answer, its residual and an entry of its history. A method may provide a cheap
    estimate of its residual, `own_residual`; the loop then computes the true residual only when this
    estimate is small, and every `look_every` iterations.
    """

    look_every: ClassVar[int] = 1
    """Iterations after which the true residual is computed, whatever the value of `own_residual`."""
    stalls_after: ClassVar[float] = math.inf
    """Iterations without a smaller residual after which the iteration counts as stalled."""

    outcome: Status | None = None
    """Set by a method that stops: SOLVED if it has converged (the loop checks), or the kind of failure."""
    own_residual: float = math.inf
    note: str = ""
    """Text for the statistics: the choice of a method and its reason, the work of an inner solver."""

    def __init__(self, problem: ProblemT, goal: Goal) -> None:
        self.problem = problem
        self.goal = goal
        self._began = work_seconds()

    @property
    @abstractmethod
    def answer(self) -> Floats:
        """The best answer so far."""

    @abstractmethod
    def advance(self, count: int, stop: float) -> int:
        """Do up to `count` iterations, fewer if `own_residual` falls to `stop`.

        Returns the number of iterations done, at least 1.
        """

    @abstractmethod
    def residual(self) -> float:
        """The true residual of `answer`, recomputed from the problem."""

    @abstractmethod
    def entry(self, iteration: int, residual: float, time: float) -> Entry:
        """Entry of the history for the present iterate."""

    @property
    def own_scale(self) -> float:
        """Factor on the tolerance for comparison with `own_residual`."""
        return 1.0

    def refresh(self) -> None:
        """Recompute quantities that are updated by increments; called when `own_residual` was too small."""
        return None

    def verdict_at_start(self, residual: float) -> Status | None:
        """Status if the check of the start ends the iteration, else None."""
        return Status.SOLVED if residual <= self.goal.tolerance else None

    def verdict(self, residual: float, first: float) -> Status | None:
        """Status if a check ends the iteration, given its `first` residual, else None."""
        if residual <= self.goal.tolerance:
            return Status.SOLVED
        return Status.STALLED if self.outcome is Status.SOLVED else self.outcome

    def time_left(self) -> float:
        """Remaining time in s, for an inner solver; always positive."""
        return max(self.goal.time_limit - (work_seconds() - self._began), 1e-3)
