"""What a solver of complementarity problems is: a frozen object with options, and the run that it begins."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import scipy.sparse as sp

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth._support.options import positive, whole
from nonsmooth.complementarity.problem import MCP
from nonsmooth.errors import MissingPackageError, UnsupportedError
from nonsmooth.iteration.status import Status


@dataclass(frozen=True)
class Goal:
    """What a run is asked for: tolerance of the natural residual, iteration limit, time limit in s."""

    tolerance: float = 1e-8
    max_iterations: int | None = None
    time_limit: float = math.inf

    def __post_init__(self) -> None:
        positive("solve", "tolerance", self.tolerance)
        positive("solve", "time_limit", self.time_limit)
        if self.max_iterations is not None:
            whole("solve", "max_iterations", self.max_iterations)


class Evaluations:
    """A problem's function and Jacobian with a count of their calls. Every run evaluates through one."""

    def __init__(self, problem: MCP) -> None:
        self._problem = problem
        self.functions = 0
        self.jacobians = 0
        self._before = problem.jacobian_by.evaluations

    def value(self, z: Floats) -> Floats:
        """F(z); NaN or infinity where the function is not defined."""
        self.functions += 1
        return self._problem.value(z)

    def jacobian(self, z: Floats, value: Floats | None = None) -> sp.csr_array:
        """∂F/∂z; `value` is F(z) where it is known."""
        self.jacobians += 1
        return self._problem.jacobian(z, value)

    @property
    def differences(self) -> int:
        """Function evaluations that differences in the Jacobian took."""
        return self._problem.jacobian_by.evaluations - self._before


class Run(ABC):
    """One solver at work on one problem. The shared loop calls `advance` until it is enough."""

    finished: Status | None = None
    """Set by a run that cannot go on: SOLVED if it thinks so (the loop checks), or how it failed."""
    merit: float = math.nan
    """What the method makes small, at the present point."""
    inner_iterations: int = 0
    products: int = 0
    note: str = ""

    def __init__(self, problem: MCP, start: Floats, goal: Goal) -> None:
        self.problem = problem
        self.goal = goal
        self.evaluate = Evaluations(problem)
        self.point = start.copy()
        """The present point z, (n,)."""
        self.value = self.evaluate.value(self.point)
        """F at the present point."""
        self._began = work_seconds()

    @abstractmethod
    def advance(self, count: int) -> int:
        """Do one iteration (a method that cannot be stopped: up to `count`), update `point` and `value`.

        Returns how many were done, at least 1. A trial point where the function is not finite is a failed
        trial; where the method has nowhere else to go it sets `finished` to UNDEFINED.
        """

    def time_left(self) -> float:
        """What is left of the time limit in s, for a solver inside this one; never quite nothing."""
        return max(self.goal.time_limit - (work_seconds() - self._began), 1e-3)


@dataclass(frozen=True)
class Solver(ABC):
    """A method with its options. Subclasses are frozen dataclasses whose fields are the options."""

    name: ClassVar[str]
    """The name in the registry and on the command line."""
    summary: ClassVar[str]
    """One line for lists."""
    default_iterations: ClassVar[int] = 1000

    @abstractmethod
    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Run:
        """Start on a problem from a point within its bounds."""

    def check(self, problem: MCP) -> None:
        """Raise `UnsupportedError` if the method cannot take this problem."""
        if not problem.square:
            raise UnsupportedError(
                f"{self.name} needs as many functions as variables, and this problem has {problem.rows} "
                f"functions of {problem.size} variables: use box-trust-region"
            )

    def takes(self, problem: MCP) -> bool:
        """Tell whether the method can take this problem here."""
        try:
            self.check(problem)
        except (UnsupportedError, MissingPackageError):
            return False
        return True
