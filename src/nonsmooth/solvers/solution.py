"""Result of a solve of a contact problem: the solution, its certificate, and statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.iteration import solution
from nonsmooth.iteration.status import Status
from nonsmooth.problem.certificate import Certificate, certify
from nonsmooth.problem.contact_problem import ContactProblem

_IGNORE_OVERFLOW: Any = {"over": "ignore", "invalid": "ignore"}
"""For NumPy: a diverged result is judged like any other."""


@dataclass(frozen=True)
class Entry(solution.Entry):
    """One record of an iteration."""

    objective: float = math.nan
    """½ γᵀNγ + qᵀγ in J (NaN where it was not recorded)."""
    step: float = math.nan
    """The method's own step length (NaN where it has none)."""


@dataclass(frozen=True)
class History(solution.History[Entry]):
    """One entry per iteration with `history=True`, otherwise one per check of the relative residual."""

    @property
    def objective(self) -> Floats:
        """½ γᵀNγ + qᵀγ in J (NaN where it was not recorded)."""
        return self._column("objective")

    @property
    def step(self) -> Floats:
        """The method's own step length (NaN where it has none)."""
        return self._column("step")


@dataclass(frozen=True)
class Statistics(solution.Statistics):
    """Statistics of a solve."""

    history: History


@dataclass(frozen=True, repr=False)
class Solution(solution.Solution):
    """A solution of a `ContactProblem`. Unknown numbers are NaN, never zero."""

    residual_name: ClassVar[str] = "relative residual"

    problem: ContactProblem
    status: Status
    impulses: Floats
    """γ in N·s, flat, contact by contact (n, t1, t2), so that `D @ impulses` is the generalised impulse."""
    joint_impulses: Floats
    """λ in N·s or N·m·s, one per joint row."""
    statistics: Statistics

    @classmethod
    def of(cls, problem: ContactProblem, status: Status, blocks: Floats, statistics: Statistics) -> Solution:
        """Build a solution from impulses (blocks, 3); everything else is recomputed from the problem."""
        flat = problem.layout.unpad(blocks)
        rows = problem.layout.contact_rows
        return cls(problem, status, flat[:rows], flat[rows:], statistics)

    @cached_property
    def velocity(self) -> Floats | None:
        """v = M⁻¹(k + Dγ + Gλ) in m/s and rad/s; None if the masses are not known."""
        if not self.problem.has_masses:
            return None
        with np.errstate(**_IGNORE_OVERFLOW):
            found = self.problem.velocity(self.impulses, self.joint_impulses)
        found.setflags(write=False)  # the certificate refers to these velocities: copy before changing them
        return found

    @cached_property
    def certificate(self) -> Certificate:
        """Every residual of this solution, recomputed from the problem on first access."""
        with np.errstate(**_IGNORE_OVERFLOW):
            return certify(self.problem, self.impulses, self.joint_impulses, self.velocity)

    @property
    def contact_velocities(self) -> Floats:
        """u = Dᵀv + b in m/s, flat like `impulses`."""
        return self._row_velocities()[: self.problem.layout.contact_rows]

    @property
    def joint_velocities(self) -> Floats:
        """Gᵀv + b_G in m/s or rad/s, one per joint row; zero if the joints hold."""
        return self._row_velocities()[self.problem.layout.contact_rows :]

    def _row_velocities(self) -> Floats:
        x = self.problem.layout.pad(np.concatenate([self.impulses, self.joint_impulses]))
        return self.problem.layout.unpad(self.problem.operator.apply(x) + self.problem.free_blocks)
