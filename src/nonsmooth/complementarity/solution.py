"""Result of a solve of a complementarity problem: the point, its certificate, and statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.complementarity.certificate import Certificate, certify
from nonsmooth.complementarity.problem import MCP, MNCP
from nonsmooth.iteration import solution
from nonsmooth.iteration.status import Status


@dataclass(frozen=True)
class Entry(solution.Entry):
    """One record of an iteration."""

    merit: float = math.nan
    """Merit function of the method."""
    evaluations: int = 0
    """Function evaluations so far."""


@dataclass(frozen=True)
class History(solution.History[Entry]):
    """One entry per call of the method: one iteration, or as many as one call does."""

    @property
    def merit(self) -> Floats:
        """Merit function of the method (NaN if it has none)."""
        return self._column("merit")

    @property
    def evaluations(self) -> Integers:
        """Function evaluations so far."""
        return self._column("evaluations").astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Statistics(solution.Statistics):
    """Statistics of a solve, counted over the whole solve.

    Iterations are those of the method: ItBox in the paper's tables for BoxTrustRegion, pivots for Lemke.
    """

    history: History
    function_evaluations: int
    """FE in the paper's tables, without those for differences in the Jacobian."""
    jacobian_evaluations: int
    difference_evaluations: int
    """Function evaluations for differences in the Jacobian."""
    inner_iterations: int
    """Iterations of the inner method, ItQua in the paper's tables; 0 if there is none."""
    products: int
    """Products of the model's matrix with a vector, MVP in the paper's tables; 0 if there are none."""


@dataclass(frozen=True, repr=False)
class Solution(solution.Solution):
    """A solution of a complementarity problem. Only status SOLVED means that the certificate holds."""

    residual_name: ClassVar[str] = "natural residual"

    problem: MCP
    status: Status
    point: Floats
    """z, the best point found, (n,)."""
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
        """(u, v) of an `MNCP`; z and an empty array for other problems."""
        if isinstance(self.problem, MNCP):
            return self.problem.split(self.point)
        return self.point, np.empty(0)
