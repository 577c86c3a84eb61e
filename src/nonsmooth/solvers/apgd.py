"""Accelerated projected gradient descent, with the anti-relaxation step of Melanz et al."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice
from nonsmooth.errors import OptionError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.kernels import apgd as kernels
from nonsmooth.solvers.kernels.joint_block import hold_at
from nonsmooth.solvers.parts.joint_block import joint_block


@dataclass(frozen=True)
class APGD(Solver):
    """Melanz, Mazhar and Negrut §2.3, line by line: Nesterov's method on min ½γᵀNγ + (r + a)ᵀγ, γ ∈ K.

    Adaptive step that shrinks (lines 11–15) and grows (31), gradient restart (27–30), fall-back to the
    best iterate (20–23). Under the exact law the anti-relaxation term a_i = μ_i|u_t,i| (Eq. 28) is
    updated in every iteration (33–38). The residual is the certificate's, not the paper's Eq. 39: both
    are natural maps, but the former has a step per contact and does not depend on the units. Joints are
    solved exactly for the contacts' impulses in every iteration, so that γ is that of the contacts alone.
    """

    name: ClassVar[str] = "apgd"
    summary: ClassVar[str] = "accelerated projected gradient descent (Melanz et al.), relaxed or anti-relaxed"
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")

    anti_relaxation: bool | None = None
    """True: the exact law, False: the relaxed law; None follows the problem's law."""
    step: str = "adaptive"
    """"adaptive" as in the paper, or "fixed": 1/L with L the largest eigenvalue of N."""

    def __post_init__(self) -> None:
        choice("APGD", "step", self.step, ("adaptive", "fixed"))

    def check(self, problem: ContactProblem) -> None:
        """Raise if the option and the problem's law contradict each other."""
        super().check(problem)
        if self.anti_relaxation is not None and self.anti_relaxation != problem.law.exact:
            wanted = "coulomb" if self.anti_relaxation else "relaxed"
            raise OptionError(
                f"APGD(anti_relaxation={self.anti_relaxation}) solves the law {wanted}, and this problem has "
                f"{problem.law}: use problem.with_law({wanted!r}), or omit anti_relaxation"
            )

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _APGDIteration(self, problem, start, goal)


class _APGDIteration(Iteration):
    def __init__(self, solver: APGD, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.adaptive = solver.step == "adaptive"
        operator, self.w = problem.operator, problem.operator.work()
        self.joints = joint_block(problem, operator.kernel_form)
        self.stepped = problem.layout.blocks if self.joints is None else problem.contacts
        if self.joints is not None:
            start = start.copy()
            hold_at(operator.kernel_form, self.joints, problem.free_blocks, start, self.w)
        n_gamma = operator.apply(start)
        self.iterate = kernels.Iterate(
            start.copy(), n_gamma, start.copy(), n_gamma.copy(), start.copy(), n_gamma.copy(),
            start.copy(), np.zeros(problem.layout.blocks), np.zeros(problem.layout.blocks),
            np.array([1.0, self._first_l(start), math.inf]),
        )  # fmt: skip
        if start.any():
            self._start_from(start)

    def _start_from(self, start: Floats) -> None:
        """A warm start counts as the best iterate so far and sets its anti-relaxation term."""
        cones, u = self.problem.cones, self.iterate.n_gamma + self.problem.free_blocks
        self.iterate.scalar[2] = self.problem.scales.total_residual(cones, start, u)
        kernels.tilting_terms(cones, u, self.iterate.shift)

    def _first_l(self, start: Floats) -> float:
        """Line 6: L = |N(γ_0 − γ̂_0)| / |γ_0 − γ̂_0| with γ̂_0 = 1; with a fixed step, 1.01 λ_max.

        If N maps that difference to zero, the largest diagonal entry of N is the first guess.
        """
        operator = self.problem.operator
        if not self.adaptive:
            return max(1.01 * operator.largest_eigenvalue(), 1e-300)
        difference = start - 1.0
        difference[self.problem.layout.padding] = 0.0
        ratio = np.linalg.norm(operator.apply(difference)) / max(float(np.linalg.norm(difference)), 1e-300)
        diagonal = float(np.einsum("bkk->bk", operator.diagonal_blocks).max())
        return float(ratio) if ratio > 1e-6 * diagonal else diagonal

    @property
    def impulses(self) -> Floats:
        return self.iterate.best

    def advance(self, count: int, stop: float) -> int:
        form, q = self.problem.operator.kernel_form, self.problem.free_blocks
        done, self.own_residual = kernels.apgd(
            form, self.joints, self.problem.cones, q, self.iterate, self.w, self.stepped, self.adaptive,
            count, stop,
        )  # fmt: skip
        self.step_length = 1.0 / self.iterate.scalar[1]
        return int(done)
