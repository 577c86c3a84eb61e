"""ADMM: the law of every contact in closed form, and one factorised linear system for all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import linalg, sparse_linalg
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.problem.kernels.residuals import JOINT
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.kernels import admm as kernels
from nonsmooth.solvers.parts.stacks import band_of

_FORMS = ("automatic", "bodies", "rows")
_JOINT_SOFTNESS = 1e-3
"""Fraction of σ on joint rows without bounds: having no cone they converge sooner, but rounding grows by its
inverse."""
_DENSE = 450
"""Largest number of rows for which a dense inverse is faster than a sparse factorisation."""
_FIRST_LOOK = 5
"""Iterations before the first check of σ; the interval doubles with every change of σ."""
_OUT_OF_BALANCE, _LARGEST_CHANGE = 3.0, 100.0
"""σ is changed if it is off by more than the first factor, by at most the second factor."""
_LEAST_PENALTY, _LARGEST_PENALTY = 1e-3, 10.0
"""Range of σ: below, walls of bricks do not converge; above, steps are too small."""
_GROWTH = 2.0
"""The acceleration restarts when a change exceeds the smallest since its start by this factor."""
_GRAM_SHIFT = 1e-12
"""Fraction of the trace added to the acceleration's normal equations, whose columns may be parallel."""


@dataclass(frozen=True)
class ADMM(Solver):
    """Alternating directions (Boyd et al. 2011, §3; here as Douglas and Rachford's iteration) on γ = y.

    y obeys the law contact by contact, γ the dynamics N γ + q = u for all contacts at once:

        y with u = σR (y − p) that obeys the law   contact by contact, in closed form
        γ = (N + σR)⁻¹ (σR (2y − p) − q)           all contacts at once, factorised once for each σ
        p ← p + ω (γ − y)                          with Anderson acceleration (type II)

    where R is the diagonal of 1/ρ_i with the certificate's weights ρ_i, so that the penalty σ has no unit.
    The exact law is not linearised: y and u obey it with the tilting term of this iteration, not of the
    last one. σ balances γ − y and the change of σRy, each relative to its size (Wohlberg 2017). N need not
    be symmetric.

    With masses by body the linear system is solved over the bodies, (σ + A R⁻¹Aᵀ) w = A R⁻¹r, by a banded
    Cholesky factor, which saves more with more contacts per body. A moving body that touches all
    others makes the band as wide as the matrix.
    """

    name: ClassVar[str] = "admm"
    summary: ClassVar[str] = "ADMM with a factorised operator, for towers, stacks and walls at rest"

    penalty: float = 0.1
    """Initial σ (dimensionless): the weight of velocity relative to impulse."""
    balance: bool = True
    """Adapt σ to the balance of the residuals; each change costs a factorisation."""
    depth: int = 8
    """Number of past iterations that Anderson acceleration combines; 0 disables it."""
    relaxation: float = 1.0
    """Over-relaxation ω of each iteration, 0 < ω < 2; use about 1.6 without acceleration."""
    form: str = "automatic"
    """"bodies": factorise over the bodies, "rows": over contacts and joints; by default "bodies" if known."""
    max_blocks: int = 5000
    """Largest number of contacts and joint blocks accepted."""

    def __post_init__(self) -> None:
        positive("ADMM", "penalty", self.penalty)
        positive("ADMM", "relaxation", self.relaxation)
        if not self.relaxation < 2.0:
            raise OptionError(f"ADMM(relaxation={self.relaxation}): it must be below 2")
        whole("ADMM", "depth", self.depth)
        choice("ADMM", "form", self.form, _FORMS)
        whole("ADMM", "max_blocks", self.max_blocks, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise if the problem is too large, or if its masses are not known by body."""
        super().check(problem)
        self.check_size(problem, self.max_blocks)
        if self.form == "bodies" and not _has_bodies(problem):
            raise UnsupportedError(
                "ADMM(form='bodies') needs masses by body: this problem is given by a matrix; use form='rows'"
            )

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _ADMMIteration(self, problem, start, goal)


def _has_bodies(problem: ContactProblem) -> bool:
    form = problem.operator.kernel_form
    return isinstance(form, Factored) and form.body_count > 1


class _ADMMIteration(Iteration):
    """ADMM in weighted variables: impulses γ/√ρ_i and velocities √ρ_i u, both in √J."""

    def __init__(self, solver: ADMM, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.root = np.sqrt(problem.cones.weight)
        self.q = self.root * problem.free_blocks
        cones = problem.cones
        self.cones = cones._replace(lower=cones.lower / self.root, upper=cones.upper / self.root)
        self.softness = np.where(cones.free == JOINT, _JOINT_SOFTNESS, 1.0)
        self.least = _LEAST_PENALTY
        if np.any(cones.free == JOINT):  # rounding in joint impulses must not mask the solution
            rounding = np.finfo(float).eps / (_JOINT_SOFTNESS * goal.tolerance)
            self.least = max(self.least, min(rounding, solver.penalty))
        self.x = start / self.root
        self.p = self.x.copy()
        self.system: _System | None = None  # a start within the tolerance needs no factorisation
        self.history = _Anderson(solver.depth, self.x.size)
        self.done = self.factorisations = 0
        self.pause = self.next_look = _FIRST_LOOK

    @property
    def impulses(self) -> Floats:
        return np.asarray(self.root * self.x)

    def advance(self, count: int, stop: float) -> int:
        if self.system is None:
            self._prepare()
        cones, done = self.cones, 0
        while done < count and self.outcome is None:
            kernels.resolve(cones, self.penalty, self.q, self.p, self.y, self.right)
            self.velocities(self.right, self.q, self.u)
            kernels.judge(
                cones, self.penalty, self.p, self.y, self.u, self.x, self.change, self.before, self.sums
            )
            done += 1
            self.done += 1
            self.own_residual = math.sqrt(self.sums[0])
            if not self.own_residual > stop:
                break
            if not self._rebalanced():
                self.p = self.history.follow(self.p, self.solver.relaxation * self.change)
        self.step_length = self.sigma
        self.note = f"{self.factorisations} factorisations, the last with a penalty of {self.sigma:.1e}"
        return done

    def _prepare(self) -> None:
        bodies = self.solver.form != "rows" and _has_bodies(self.problem)
        kind = _BodySystem if bodies else _RowSystem
        self.system = kind(self.problem, self.root, self.softness)
        self.velocities = self.system.velocities
        self.y, self.u, self.right, self.change, self.before = (np.zeros_like(self.x) for _ in range(5))
        self.sums = np.zeros(5)
        self._factorise(self.solver.penalty)
        if self.x.any():  # a warm start includes its velocities
            u = self.root * self.problem.operator.apply(self.root * self.x) + self.q
            projected = self.cones.free != JOINT
            self.p[projected] -= u[projected] / self.sigma

    def _factorise(self, sigma: float) -> None:
        assert self.system is not None
        self.sigma, self.penalty = sigma, sigma * self.softness
        self.factorisations += 1
        if not self.system.factorise(sigma):
            self.outcome = Status.FAILED

    def _rebalanced(self) -> bool:
        """Change σ if |γ − y|/|γ| and |Δσy|/|u| are far apart; return whether it was changed."""
        if not self.solver.balance or self.done < self.next_look:
            return False
        self.next_look = self.done + self.pause
        _, primal, size, speed, dual = np.maximum(self.sums, 1e-300)
        ratio = ((primal / size) / (dual / speed)) ** 0.25  # squares: the root of the ratio of the norms
        ratio = min(max(ratio, 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
        sigma = min(max(self.sigma * ratio, self.least), _LARGEST_PENALTY)
        if 1.0 / _OUT_OF_BALANCE < sigma / self.sigma < _OUT_OF_BALANCE:
            return False
        self.p = self.y + (self.p - self.y) * (self.sigma / sigma)  # the same impulses and velocities
        self._factorise(sigma)
        self.history.clear()
        self.pause *= 2
        self.next_look = self.done + self.pause
        return True


class _Anderson:
    """Anderson acceleration (type II) of p ← p + f(p): the mixture of past points whose f is smallest."""

    def __init__(self, depth: int, size: int) -> None:
        self.depth = depth
        self.changes, self.values = np.zeros((depth, size)), np.zeros((depth, size))
        self.gram = np.zeros((depth, depth))
        self.clear()

    def clear(self) -> None:
        """Discard the past points."""
        self.kept, self.row, self.smallest = 0, 0, math.inf
        self.last: tuple[Floats, Floats] | None = None

    def follow(self, p: Floats, f: Floats) -> Floats:
        """Return the next point."""
        change, value = f.ravel(), (p + f).ravel()
        if self.depth:
            self._keep(change, value)
        if self.kept == 0:
            return value.reshape(p.shape)
        gram = self.gram[: self.kept, : self.kept].copy()
        gram.flat[:: self.kept + 1] += _GRAM_SHIFT * gram.trace() + 1e-300
        mix = np.linalg.solve(gram, self.changes[: self.kept] @ change)
        return np.asarray(value - mix @ self.values[: self.kept]).reshape(p.shape)

    def _keep(self, change: Floats, value: Floats) -> None:
        """Store the differences to the last point in the ring buffer; restart after a bad one."""
        size = float(change @ change)
        if size > _GROWTH**2 * self.smallest:
            self.clear()
        self.smallest = min(self.smallest, size)
        if self.last is not None:
            row = self.row
            np.subtract(change, self.last[0], out=self.changes[row])
            np.subtract(value, self.last[1], out=self.values[row])
            self.kept, self.row = min(self.kept + 1, self.depth), (row + 1) % self.depth
            products = self.changes[: self.kept] @ self.changes[row]
            self.gram[row, : self.kept] = products
            self.gram[: self.kept, row] = products
        self.last = (change, value)


class _System(ABC):
    """(N + σS) x = r, with N weighted and the softness S of every block."""

    @abstractmethod
    def __init__(self, problem: ContactProblem, root: Floats, softness: Floats) -> None:
        """Assemble the parts that do not depend on σ."""

    @abstractmethod
    def factorise(self, sigma: float) -> bool:
        """Factorise for a penalty σ; False if the factorisation breaks down."""

    @abstractmethod
    def velocities(self, right: Floats, q: Floats, u: Floats) -> None:
        """Set u = N x + q for the right-hand side r, (blocks, 3)."""


class _BodySystem(_System):
    """Over the bodies: (σ + A S⁻¹ Aᵀ) w = A S⁻¹ r and N x = Aᵀ w, with a banded Cholesky factor."""

    def __init__(self, problem: ContactProblem, root: Floats, softness: Floats) -> None:
        form: Any = problem.operator.kernel_form
        self.form, self.root, self.softness = form, root, softness
        ground = form.body_count - 1
        self.order, width = band_of(form)
        place = np.full(ground + 1, -1, dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        self.band = np.zeros((width + 1, 6 * len(self.order)), order="F")
        kernels.body_band(form, root, softness, place, self.band)
        self.w = np.zeros((ground + 1, 6))

    def factorise(self, sigma: float) -> bool:
        shifted = self.band.copy(order="F")
        shifted[0] += sigma
        self.factor, info = linalg.lapack.dpbtrf(shifted, lower=1, overwrite_ab=1)
        return bool(info == 0)

    def velocities(self, right: Floats, q: Floats, u: Floats) -> None:
        kernels.gather(self.form, self.root, self.softness, right, self.w)
        solved, _ = linalg.lapack.dpbtrs(self.factor, self.w[self.order].reshape(-1), lower=1, overwrite_b=1)
        self.w[self.order] = solved.reshape(-1, 6)  # ground, the last, has columns of zeros
        kernels.scatter(self.form, self.root, self.w, q, u)


class _RowSystem(_System):
    """Over contacts and joints, for any N: LU factors, or a dense inverse for small N."""

    def __init__(self, problem: ContactProblem, root: Floats, softness: Floats) -> None:
        form, self.size = problem.operator.block_sparse, 3 * problem.layout.blocks
        row = np.repeat(np.arange(problem.layout.blocks), np.diff(form.start))
        values = form.values * root[row][:, :, None] * root[form.column][:, None, :]
        matrix = sp.bsr_array((values, form.column, form.start), shape=(self.size, self.size))
        self.matrix: Any = matrix.toarray(order="F") if self.size <= _DENSE else matrix.tocsc()
        self.softness = np.repeat(softness, 3)

    def factorise(self, sigma: float) -> bool:
        self.penalty = sigma * self.softness
        self.solve: Callable[[Floats], Floats]
        if self.size > _DENSE:
            try:
                self.solve = sparse_linalg.splu(
                    sp.csc_array(self.matrix + sp.diags_array(self.penalty))
                ).solve
            except RuntimeError:  # exactly singular
                return False
            return True
        factors, pivots, singular = linalg.lapack.dgetrf(self.matrix + np.diag(self.penalty))
        inverse, _ = linalg.lapack.dgetri(factors, pivots)
        self.solve = inverse.dot
        return bool(singular == 0)

    def velocities(self, right: Floats, q: Floats, u: Floats) -> None:
        flat = right.reshape(-1)
        u[:] = (flat - self.penalty * self.solve(flat)).reshape(-1, 3) + q
