"""What a solve returns: the answer, its certificate, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import NonsmoothError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.certificate import Certificate, certify
from nonsmooth.problem.contact_problem import ContactProblem

_RUNAWAY: Any = {"over": "ignore", "invalid": "ignore"}
"""NumPy's silence: an answer that ran away is judged like any other."""


@dataclass(frozen=True)
class History:
    """One entry per iteration with `record=True`, else one per check of the residual."""

    entries: tuple[tuple[float, ...], ...]
    """(iteration, residual, objective, step, time) of every look, in the order in which they came."""

    @property
    def iteration(self) -> NDArray[np.int64]:
        """Iterations done."""
        return self._column(0).astype(np.int64)

    @property
    def residual(self) -> Floats:
        """Relative residual, as in the certificate."""
        return self._column(1)

    @property
    def objective(self) -> Floats:
        """½ γᵀNγ + qᵀγ in J (NaN where it was not recorded)."""
        return self._column(2)

    @property
    def step(self) -> Floats:
        """The method's own step length (NaN where it has none)."""
        return self._column(3)

    @property
    def time(self) -> Floats:
        """Seconds since the start, without the time spent on recording."""
        return self._column(4)

    def _column(self, index: int) -> Floats:
        return np.array([entry[index] for entry in self.entries])


@dataclass(frozen=True)
class Statistics:
    """How the answer was found."""

    solver: str
    iterations: int
    time: float
    """Wall time of the iteration in s, preparation included; compiling and loading kernels does not count."""
    history: History
    note: str = ""
    """What the solver wants to say: what `Auto` picked and why, what an inner solver did."""


@dataclass(frozen=True)
class Solution:
    """An answer to a `ContactProblem`. Numbers that were not found are NaN, never zero."""

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
        """v = M⁻¹(k + Dγ + Gλ) in m/s and rad/s; None where the masses are not known."""
        if not self.problem.has_masses:
            return None
        with np.errstate(**_RUNAWAY):
            found = self.problem.velocity(self.impulses, self.joint_impulses)
        found.setflags(write=False)  # the certificate is of these velocities: who changes them needs a copy
        return found

    @cached_property
    def certificate(self) -> Certificate:
        """Every residual of this answer, recomputed from the problem when it is first looked at."""
        with np.errstate(**_RUNAWAY):
            return certify(self.problem, self.impulses, self.joint_impulses, self.velocity)

    @property
    def contact_velocities(self) -> Floats:
        """u = Dᵀv + b in m/s, flat like `impulses`."""
        return self._row_velocities()[: self.problem.layout.contact_rows]

    @property
    def joint_velocities(self) -> Floats:
        """Gᵀv + b_G in m/s or rad/s, one per joint row; zero where the joints hold."""
        return self._row_velocities()[self.problem.layout.contact_rows :]

    def _row_velocities(self) -> Floats:
        x = self.problem.layout.pad(np.concatenate([self.impulses, self.joint_impulses]))
        return self.problem.layout.unpad(self.problem.operator.apply(x) + self.problem.free_blocks)

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, residual={self.certificate.residual:.2e}, "
            f"solver={self.statistics.solver}, iterations={self.statistics.iterations})"
        )


class SolveError(NonsmoothError, RuntimeError):
    """A solve did not reach its tolerance; `solution` holds what was found."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        super().__init__(
            f"{solution.statistics.solver} stopped with status '{solution.status}' at a relative residual of "
            f"{solution.certificate.residual:.2e} after {solution.statistics.iterations} iterations. "
            f"{solution.status.sentence} (throw=False returns the solution as it is.)"
        )
