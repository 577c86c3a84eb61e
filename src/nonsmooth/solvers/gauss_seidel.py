"""Block Gauss-Seidel: each contact's 3×3 problem solved exactly, one after the other, then all joints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import operator as operator_kernels
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.kernels import gauss_seidel as kernels
from nonsmooth.solvers.kernels.gauss_seidel import Point
from nonsmooth.solvers.kernels.joint_block import JointBlock
from nonsmooth.solvers.parts.coloured import ColouredIteration
from nonsmooth.solvers.parts.joint_block import MOST_ALONE, joint_block
from nonsmooth.solvers.parts.local_blocks import local_blocks

_ACCELERATIONS = ("none", "nesterov", "nncg")
_ORDERS = ("automatic", "natural", "symmetric", "coloured")
_BY_COLOUR = ("none", "nesterov")
"""Accelerations supported by coloured sweeps."""
_WORTH_COLOURING = 64
"""Number of blocks above which colouring pays for its setup."""
_FORMS = ("automatic", "factored", "block-sparse")
_JOINTS = ("together", "separate")


@dataclass(frozen=True)
class GaussSeidel(Solver):
    """Block Gauss-Seidel with exact local solves under the chosen law (Siconos calls it NSGS).

    For contact i with all others held, γ_i solves K ∋ γ_i ⟂ N_ii γ_i + q̃_i + s_i e_n ∈ K*; joints are
    one block, which is solved with a sparse factor. `acceleration` extrapolates over the sweeps.
    """

    name: ClassVar[str] = "gauss-seidel"
    summary: ClassVar[str] = "block Gauss-Seidel with exact local solves, accelerated over the sweeps"

    acceleration: str = "nesterov"
    """"none", "nesterov" (momentum with restart), "nncg" (nonlinear conjugate gradients)."""
    order: str = "automatic"
    """"natural" sweeps, "symmetric" ones (forward and backward, counted as one iteration), or "coloured":
    blocks that share no body together, as vectors and threads need. By default coloured if faster."""
    threads: int = 1
    """Threads that share a coloured sweep; results are bitwise identical for any number."""
    relaxation: float = 1.0
    """Over-relaxation ω of each local solve, 0 < ω < 2."""
    form: str = "automatic"
    """"factored" (O(1) work per contact), "block-sparse" (on an explicit N); default: as available."""
    joints: str = "together"
    """"together": all joint rows are one block, solved exactly, unless its factor would be too large;
    "separate": they are visited like contacts, three rows at a time, which fails on long chains."""
    restart_growth: float = 1.2
    """With momentum: restart when the change of a sweep exceeds the smallest since the last restart by this
    factor."""

    def __post_init__(self) -> None:
        choice("GaussSeidel", "acceleration", self.acceleration, _ACCELERATIONS)
        choice("GaussSeidel", "order", self.order, _ORDERS)
        choice("GaussSeidel", "form", self.form, _FORMS)
        choice("GaussSeidel", "joints", self.joints, _JOINTS)
        positive("GaussSeidel", "relaxation", self.relaxation)
        if not self.relaxation < 2.0:
            raise OptionError(f"GaussSeidel(relaxation={self.relaxation}): it must be below 2")
        positive("GaussSeidel", "restart_growth", self.restart_growth)
        whole("GaussSeidel", "threads", self.threads, 1)

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        if self._colours(problem):
            return ColouredIteration(self, problem, start, goal)
        kinds = {"none": _Plain, "nesterov": _Nesterov, "nncg": _Conjugate}
        return kinds[self.acceleration](self, problem, start, goal)

    def parts(
        self, problem: ContactProblem, form: operator_kernels.Factored | operator_kernels.BlockSparse
    ) -> tuple[NDArray[np.int64], JointBlock | None, str]:
        """Blocks visited one by one, the joint block solved at once, and a note if there can be none."""
        every = np.arange(problem.layout.blocks)
        if self.joints == "separate" or problem.joint_rows == 0:
            return every, None, ""
        block = joint_block(problem, form)
        if block is None:
            return every, None, "joints one by one: a common factor would be too large"
        return every[: problem.contacts], block, ""

    def _colours(self, problem: ContactProblem) -> bool:
        """Return whether sweeps are coloured."""
        factored = self.form != "block-sparse" and isinstance(
            problem.operator.kernel_form, operator_kernels.Factored
        )
        possible = factored and self.acceleration in _BY_COLOUR
        if self.order == "coloured" and not possible:
            raise UnsupportedError(
                "GaussSeidel(order='coloured') needs masses by body, and acceleration 'none' or 'nesterov': "
                "use order='natural'"
            )
        worth = self.order == "automatic" and problem.layout.blocks >= _WORTH_COLOURING
        return self.order == "coloured" or (possible and worth)


class _Plain(Iteration):
    """Sweeps without acceleration; also the state shared by accelerated runs."""

    def __init__(self, solver: GaussSeidel, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        operator = problem.operator
        self.form = operator.block_sparse if solver.form == "block-sparse" else operator.kernel_form
        if solver.form == "factored" and not isinstance(self.form, operator_kernels.Factored):
            raise UnsupportedError(
                "GaussSeidel(form='factored') needs masses by body: this problem is given by a matrix; "
                "use form='block-sparse'"
            )
        self.solver = solver
        visited, joints, self.note = solver.parts(problem, self.form)
        self.equations = kernels.Equations(
            self.form, problem.cones, local_blocks(problem, visited), problem.free_blocks, visited, joints,
            solver.relaxation, solver.order == "symmetric",
        )  # fmt: skip
        self.point = self._at(start)
        self.swept = 0

    def _at(self, x: Floats) -> Point:
        """The point of impulses x."""
        copy, work = x.copy(), self.problem.operator.work()
        if isinstance(self.form, operator_kernels.Factored):
            operator_kernels.weigh(self.form, copy, work)
        return Point(copy, work)

    def refresh(self) -> None:
        """Recompute w = A x, which drifts by the rounding of every increment."""
        self.point = self._at(self.point.x)

    @property
    def impulses(self) -> Floats:
        return self.point.x

    def advance(self, count: int, stop: float) -> int:
        done, self.own_residual = self._sweeps(count, stop)
        self.step_length = self.own_residual
        self.swept += done
        if len(self.equations.visited) == 0 and self.swept >= MOST_ALONE:
            self.outcome = Status.STALLED
        return done

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = kernels.plain_sweeps(self.equations, self.point, count, stop)
        return int(done), float(change)


class _Accelerated(_Plain):
    """A run whose result is not the starting point of the next sweep."""

    def __init__(self, solver: GaussSeidel, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, start, goal)
        self.reached = Point(self.point.x.copy(), self.point.w.copy())

    def refresh(self) -> None:
        """Recompute w of both points."""
        super().refresh()
        self.reached = self._at(self.reached.x)

    @property
    def impulses(self) -> Floats:
        return self.reached.x


class _Nesterov(_Accelerated):
    def __init__(self, solver: GaussSeidel, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, start, goal)
        self.momentum = np.array([1.0, math.inf])
        self.known: float | None = None

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        form, cones, local, q, visited, joints, relaxation, symmetric = self.equations
        growth = self.solver.restart_growth
        if joints is not None:
            done, change = kernels.nesterov_sweeps(
                self.equations, self.point, self.reached, self.momentum, growth, count, stop
            )
            return int(done), float(change)
        scales = self.problem.scales
        done, change, residual = kernels.judged_nesterov_sweeps(
            form, *cones, *local, q, visited, relaxation, symmetric, scales.island, scales.per_island,
            *self.point, *self.reached, self.momentum, growth, count, stop,
        )  # fmt: skip
        if self.problem.operator.applies_by_kernel:
            self.known = residual
        return done, change

    def residual(self) -> float:
        """True relative residual; the kernel computes it at the end of its sweeps."""
        if self.known is None:
            return super().residual()
        return self.goal.judge(self.problem, self.reached.x, self.known)


class _Conjugate(_Accelerated):
    def __init__(self, solver: GaussSeidel, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, start, goal)
        x, w = self.point
        self.direction = Point(np.zeros_like(x), np.zeros_like(w))
        self.before = Point(np.empty_like(x), np.empty_like(w))
        self.energy = np.zeros(1)

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = kernels.nncg_sweeps(
            self.equations, self.point, self.reached, self.direction, self.before, self.energy, count, stop
        )
        return int(done), float(change)
