"""Base classes of the solvers of complementarity problems and of their iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solution import Entry
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration import iteration as iterations
from nonsmooth.iteration import solver as solvers
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status


class Evaluations:
    """A problem's function and Jacobian with counters of their calls, used by every run."""

    def __init__(self, problem: MCP) -> None:
        self._problem = problem
        self.functions = 0
        self.jacobians = 0
        self._before = problem.jacobian_by.evaluations

    def value(self, z: Floats) -> Floats:
        """F(z); NaN or infinity if the function is not defined there."""
        self.functions += 1
        return self._problem.value(z)

    def jacobian(self, z: Floats, value: Floats | None = None) -> sp.csr_array:
        """∂F/∂z; `value` is F(z) if known."""
        self.jacobians += 1
        return self._problem.jacobian(z, value)

    @property
    def differences(self) -> int:
        """Function evaluations for differences in the Jacobian."""
        return self._problem.jacobian_by.evaluations - self._before


class Iteration(iterations.Iteration[MCP]):
    """One solver at work on one complementarity problem; its result is a point within the bounds.

    `advance` does one iteration, or up to `count` if the method cannot be stopped, and updates `point` and
    `value`. A trial point at which the function is not finite is a failed trial; if the method has no other
    trial point it sets `outcome` to UNDEFINED.
    """

    merit: float = math.nan
    """The merit function of the method at the present point."""
    inner_iterations: int = 0
    products: int = 0

    def __init__(self, problem: MCP, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.evaluate = Evaluations(problem)
        self.point = start.copy()
        """The present point z, (n,)."""
        self.value = self.evaluate.value(self.point)
        """F at the present point."""

    @property
    def answer(self) -> Floats:
        """The present point."""
        return self.point

    def residual(self) -> float:
        """Natural residual of the present point; NaN if the function is not finite."""
        return residual_of(self.problem, self.point, self.value)

    def entry(self, iteration: int, residual: float, time: float) -> Entry:
        """Residual, merit and evaluations."""
        return Entry(iteration, residual, time, self.merit, self.evaluate.functions)

    def verdict_at_start(self, residual: float) -> Status | None:
        """UNDEFINED if the function is not finite at the start."""
        return Status.UNDEFINED if math.isnan(residual) else super().verdict_at_start(residual)

    def verdict(self, residual: float, first: float) -> Status | None:
        """UNDEFINED if the function is not finite and the method has set no outcome."""
        status = super().verdict(residual, first)
        return Status.UNDEFINED if status is None and math.isnan(residual) else status


@dataclass(frozen=True)
class Solver(solvers.Solver[MCP, Goal, Iteration]):
    """A method with its options. Subclasses are frozen dataclasses whose fields are the options."""

    default_iterations: ClassVar[int] = 1000

    def check(self, problem: MCP) -> None:
        """Raise `UnsupportedError` if the method does not support this problem."""
        if not problem.square:
            raise UnsupportedError(
                f"{self.name} needs as many functions as variables, and this problem has {problem.rows} "
                f"functions of {problem.size} variables: use box-trust-region"
            )
