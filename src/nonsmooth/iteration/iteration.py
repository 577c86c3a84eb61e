"""A method at work on one problem: what the loop calls, and what it asks."""

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

    Each family says what its answer, its residual and an entry of its history are. A method may judge
    itself by a cheap number of its own, `own_residual`; the loop then looks at the true residual only
    when that number is small, and every `look_every` iterations.
    """

    look_every: ClassVar[int] = 1
    """Iterations after which the true residual is looked at, whatever `own_residual` says."""
    stalls_after: ClassVar[float] = math.inf
    """Iterations without a smaller residual after which the iteration counts as stalled."""

    outcome: Status | None = None
    """Set by a method that cannot go on: SOLVED if it thinks so (the loop checks), or how it failed."""
    own_residual: float = math.inf
    note: str = ""
    """What the statistics shall say: what was picked and why, what an inner solver did."""

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

        Returns how many were done, at least 1.
        """

    @abstractmethod
    def residual(self) -> float:
        """The true residual of `answer`, recomputed from the problem."""

    @abstractmethod
    def entry(self, iteration: int, residual: float, time: float) -> Entry:
        """What the history keeps of this moment."""

    @property
    def own_scale(self) -> float:
        """What the tolerance is multiplied with to be compared with `own_residual`."""
        return 1.0

    def refresh(self) -> None:
        """Recompute what is carried along by increments; called when `own_residual` was too small."""
        return None

    def verdict_at_start(self, residual: float) -> Status | None:
        """How a look at the start ends the iteration; None if it begins."""
        return Status.SOLVED if residual <= self.goal.tolerance else None

    def verdict(self, residual: float, first: float) -> Status | None:
        """How a look ends the iteration, whose `first` residual is known; None if it goes on."""
        if residual <= self.goal.tolerance:
            return Status.SOLVED
        return Status.STALLED if self.outcome is Status.SOLVED else self.outcome

    def time_left(self) -> float:
        """What is left of the time limit in s, for a solver inside this one; never quite zero."""
        return max(self.goal.time_limit - (work_seconds() - self._began), 1e-3)
