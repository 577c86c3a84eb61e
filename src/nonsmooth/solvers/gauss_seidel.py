"""Block Gauss-Seidel: each contact's 3×3 problem solved exactly, one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.problem import _operator_kernels as operator_kernels
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers import _gauss_seidel_kernels as kernels
from nonsmooth.solvers._gauss_seidel_kernels import Local, Point
from nonsmooth.solvers._local_kernels import invert_blocks
from nonsmooth.solvers.base import Goal, Run, Solver, choice, positive, whole

Floats = NDArray[np.float64]

_ACCELERATIONS = ("none", "nesterov", "nncg", "anderson")
_ORDERS = ("forward", "symmetric")
_FORMS = ("automatic", "factored", "block-sparse")
_SOFTENING = 1e-6
"""Part of a singular contact block's mean diagonal that is added to it in the local model."""


@dataclass(frozen=True)
class GaussSeidel(Solver):
    """Block Gauss-Seidel with exact local solves under the chosen law (Siconos calls it NSGS).

    For contact i with all others held, γ_i solves K ∋ γ_i ⟂ N_ii γ_i + q̃_i + s_i e_n ∈ K*; joints are
    blocks whose local problem is linear. `acceleration` extrapolates over the sweeps.
    """

    name: ClassVar[str] = "gauss-seidel"
    summary: ClassVar[str] = "block Gauss-Seidel with exact local solves, accelerated over the sweeps"

    acceleration: str = "nesterov"
    """"none", "nesterov" (momentum with restart), "nncg" (nonlinear conjugate gradients), "anderson"."""
    order: str = "forward"
    """"forward" sweeps, or "symmetric" ones (forward and backward, counted as one iteration)."""
    relaxation: float = 1.0
    """Over-relaxation ω of each local solve, 0 < ω < 2."""
    form: str = "automatic"
    """"factored" (O(1) work per contact), "block-sparse" (on an explicit N); by default what is there."""
    restart_growth: float = 1.5
    """With momentum: restart when a sweep changes this much more than the smallest since the last restart."""
    depth: int = 5
    """With Anderson acceleration: how many past sweeps are combined."""

    def __post_init__(self) -> None:
        choice("GaussSeidel", "acceleration", self.acceleration, _ACCELERATIONS)
        choice("GaussSeidel", "order", self.order, _ORDERS)
        choice("GaussSeidel", "form", self.form, _FORMS)
        positive("GaussSeidel", "relaxation", self.relaxation)
        if not self.relaxation < 2.0:
            raise OptionError(f"GaussSeidel(relaxation={self.relaxation}): it must be below 2")
        positive("GaussSeidel", "restart_growth", self.restart_growth)
        whole("GaussSeidel", "depth", self.depth, 1)

    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        """Start on a problem."""
        kinds = {"none": _Plain, "nesterov": _Nesterov, "nncg": _Conjugate, "anderson": _Anderson}
        return kinds[self.acceleration](self, problem, initial, goal)


def local_blocks(problem: ContactProblem) -> Local:
    """Model blocks and their inverses, symmetric; what the model misses vanishes at the fixed point.

    A contact's singular block gets a little on its diagonal, so that sticking can be asked for in every
    direction; a joint's gets its pseudo-inverse, because its rows may be redundant.
    """
    block = problem.operator.diagonal_blocks
    block = 0.5 * (block + np.swapaxes(block, 1, 2))
    inverse, singular = np.empty_like(block), np.empty(len(block), dtype=np.bool_)
    invert_blocks(block, inverse, singular)
    contact = singular & (problem.layout.free == 0)
    if contact.any():
        mean = np.einsum("bkk->b", block[contact]) / 3.0
        block[contact] += _SOFTENING * mean[:, None, None] * np.eye(3)
        inverse[contact] = np.linalg.inv(block[contact])
        singular &= ~contact
    if singular.any():
        part = block[singular]
        scale = 1.0 / np.sqrt(np.maximum(np.einsum("bkk->bk", part), 1e-300))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse[singular] = np.linalg.pinv(part * outer, rcond=1e-10, hermitian=True) * outer
    return Local(block, inverse, np.zeros(len(block)))


class _Plain(Run):
    """Sweeps without acceleration; also the state that the accelerated runs share."""

    def __init__(self, solver: GaussSeidel, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        operator = problem.operator
        self.form = operator.block_sparse if solver.form == "block-sparse" else operator.kernel_form
        if solver.form == "factored" and not isinstance(self.form, operator_kernels.Factored):
            raise UnsupportedError(
                "GaussSeidel(form='factored') needs masses by body: this problem is given by a matrix; "
                "use form='block-sparse'"
            )
        self.solver = solver
        self.equations = kernels.Equations(
            self.form, problem.cones, local_blocks(problem), problem.free_blocks,
            solver.relaxation, solver.order == "symmetric",
        )  # fmt: skip
        self.point = self._at(initial)

    def _at(self, x: Floats) -> Point:
        """The point of impulses x."""
        copy, work = x.copy(), self.problem.operator.work()
        operator_kernels.apply(self.form, copy, work, np.empty_like(copy))
        return Point(copy, work)

    def refresh(self) -> None:
        """Recompute w = A x, which drifts by the rounding of every increment."""
        self.point = self._at(self.point.x)

    @property
    def impulses(self) -> Floats:
        return self.point.x

    def advance(self, count: int, stop: float) -> int:
        done, self.estimate = self._sweeps(count, stop)
        self.step_length = self.estimate
        return int(done)

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = kernels.plain_sweeps(self.equations, self.point, count, stop)
        return int(done), float(change)


class _Accelerated(_Plain):
    """A run whose answer is not the point where the next sweep starts."""

    def __init__(self, solver: GaussSeidel, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, initial, goal)
        self.answer = Point(self.point.x.copy(), self.point.w.copy())

    def refresh(self) -> None:
        """Recompute w of both points."""
        super().refresh()
        self.answer = self._at(self.answer.x)

    @property
    def impulses(self) -> Floats:
        return self.answer.x


class _Nesterov(_Accelerated):
    def __init__(self, solver: GaussSeidel, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, initial, goal)
        self.momentum = np.array([1.0, math.inf])

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = kernels.nesterov_sweeps(
            self.equations, self.point, self.answer, self.momentum, self.solver.restart_growth, count, stop
        )
        return int(done), float(change)


class _Conjugate(_Accelerated):
    def __init__(self, solver: GaussSeidel, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, initial, goal)
        x, w = self.point
        self.direction = Point(np.zeros_like(x), np.zeros_like(w))
        self.before = Point(np.empty_like(x), np.empty_like(w))
        self.energy = np.zeros(1)

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = kernels.nncg_sweeps(
            self.equations, self.point, self.answer, self.direction, self.before, self.energy, count, stop
        )
        return int(done), float(change)


class _Anderson(_Accelerated):
    """Combine the last sweeps so that the combined change is smallest (type II), with a restart.

    The history is dropped when a sweep's change grows to more than twice the smallest.
    """

    def __init__(self, solver: GaussSeidel, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, initial, goal)
        self.root = 1.0 / np.sqrt(problem.cones.weight)
        self.swept: list[Floats] = []
        self.changes: list[Floats] = []
        self.smallest = math.inf

    def _sweeps(self, count: int, stop: float) -> tuple[int, float]:
        done, change = 0, math.inf
        while done < count and not change <= stop:
            change = self._sweep_and_mix()
            done += 1
        return done, change

    def _sweep_and_mix(self) -> float:
        before = self.point.x.copy()
        kernels.plain_sweeps(self.equations, self.point, 1, 0.0)
        change = (self.point.x - before) * self.root
        size = float(np.linalg.norm(change))
        self.answer = Point(self.point.x.copy(), self.answer.w)
        if size > 2.0 * self.smallest:
            self.swept.clear()
            self.changes.clear()
            self.smallest = size
        self.smallest = min(self.smallest, size)
        self.swept.append(self.answer.x)
        self.changes.append(change.ravel())
        del self.swept[: -self.solver.depth - 1], self.changes[: -self.solver.depth - 1]
        if len(self.changes) > 1:
            differences = np.diff(np.array(self.changes), axis=0).T
            mix = np.linalg.lstsq(differences, self.changes[-1], rcond=1e-10)[0]
            self.point = self._at(
                self.answer.x - np.tensordot(mix, np.diff(np.array(self.swept), axis=0), axes=1)
            )
        return size
