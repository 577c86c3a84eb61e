"""The default solver: picks a method by size and accuracy, and says what it picked and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Run, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Auto(Solver):
    """placeholder."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a method by size and accuracy wanted (the default)"
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")

    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        return GaussSeidel().begin(problem, initial, goal)
