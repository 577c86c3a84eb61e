"""What a solve of a complementarity problem returns: the point, its certificate, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.certificate import Certificate, certify
from nonsmooth.complementarity.problem import MCP, MNCP
from nonsmooth.errors import NonsmoothError
from nonsmooth.iteration.status import Status


@dataclass(frozen=True)
class Entry:
    """One look at a run: iterations so far, natural residual, the method's merit, evaluations, seconds."""

    iteration: int
    residual: float
    merit: float
    evaluations: int
    time: float


@dataclass(frozen=True)
class Statistics:
    """How the answer was found, counted over the whole solve."""

    solver: str
    iterations: int
    """Iterations of the method: ItBox in the paper's tables for BoxTrustRegion, pivots for Lemke."""
    function_evaluations: int
    """FE in the paper's tables; those for differences in the Jacobian are not counted here."""
    jacobian_evaluations: int
    difference_evaluations: int
    """Function evaluations that differences in the Jacobian took."""
    inner_iterations: int
    """Iterations of the method inside, ItQua in the paper's tables; 0 where there is none."""
    products: int
    """Products of the model's matrix with a vector, MVP in the paper's tables; 0 where there are none."""
    time: float
    """Wall time in s."""
    history: tuple[Entry, ...]
    note: str = ""


@dataclass(frozen=True)
class Solution:
    """An answer to a complementarity problem. Only status SOLVED means that the certificate holds."""

    problem: MCP
    status: Status
    point: Floats
    """z, the best point that was found, (n,)."""
    statistics: Statistics

    @cached_property
    def value(self) -> Floats:
        """F(z), recomputed."""
        return self.problem.value(self.point)

    @cached_property
    def certificate(self) -> Certificate:
        """Every residual of the point, recomputed from the problem."""
        return certify(self.problem, self.point)

    def split(self) -> tuple[Floats, Floats]:
        """(u, v) of an `MNCP`; all of z and nothing for other problems."""
        if isinstance(self.problem, MNCP):
            return self.problem.split(self.point)
        return self.point, np.empty(0)

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, residual={self.certificate.residual:.2e}, "
            f"solver={self.statistics.solver}, iterations={self.statistics.iterations})"
        )


class SolveError(NonsmoothError, RuntimeError):
    """A solve did not reach its tolerance; `solution` holds what was found."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        note = f" ({solution.statistics.note})" if solution.statistics.note else ""
        super().__init__(
            f"{solution.statistics.solver} stopped with status '{solution.status}' at a natural residual of "
            f"{solution.certificate.residual:.2e} after {solution.statistics.iterations} iterations{note}. "
            f"{solution.status.sentence} (throw=False returns the solution as it is.)"
        )
