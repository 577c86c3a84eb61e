"""ADMM: the law of every contact in closed form, and one factorised linear system for all of them."""

from __future__ import annotations

import math
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
from nonsmooth.solvers.kernels.anderson import Mixture, clear
from nonsmooth.solvers.kernels.bands import order_bodies
from nonsmooth.solvers.parts.stacks import body_order

_FORMS = ("automatic", "bodies", "rows")
_JOINT_SOFTNESS = 1e-3
"""Fraction of σ on joint rows without bounds: having no cone they converge sooner, but rounding grows by its
inverse."""
_DENSE = 450
"""Largest number of rows for which a dense inverse is faster than a sparse factorisation."""


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
        self.solver, self.start = solver, start
        self.root = np.sqrt(problem.cones.weight)
        cones = problem.cones
        self.cones = cones._replace(lower=cones.lower / self.root, upper=cones.upper / self.root)
        self.run: kernels.Run | None = None  # a start within the tolerance needs no factorisation

    @property
    def impulses(self) -> Floats:
        return self.start if self.run is None else np.asarray(self.root * self.run.x)

    def advance(self, count: int, stop: float) -> int:
        run = self._prepare() if self.run is None else self.run
        done = self._over_bodies(run, count, stop) if self.over_bodies else self._over_rows(run, count, stop)
        self.step_length = sigma = float(run.real[kernels.SIGMA])
        factorisations = int(run.count[kernels.FACTORISATIONS])
        self.note = f"{factorisations} factorisations, the last with a penalty of {sigma:.1e}"
        return done

    def _prepare(self) -> kernels.Run:
        problem, solver, cones = self.problem, self.solver, self.cones
        softness = np.where(cones.free == JOINT, _JOINT_SOFTNESS, 1.0)
        least = kernels.LEAST_PENALTY
        if np.any(cones.free == JOINT):  # rounding in joint impulses must not mask the solution
            rounding = np.finfo(float).eps / (_JOINT_SOFTNESS * self.goal.tolerance)
            least = max(least, min(rounding, solver.penalty))
        blocks = len(self.root)
        self.run = run = run_of(solver, self.root, self.root * problem.free_blocks, softness, least)
        self.mixture = mixture_of(solver.depth, blocks)
        clear(self.mixture)
        form: Any = problem.operator.kernel_form
        kernels.start_at(form, cones, run, solver.penalty, self.start, problem.operator.work())
        self.over_bodies = solver.form != "rows" and _has_bodies(problem)
        if self.over_bodies:
            self.bodies = _body_system(form, run)
            self._judge_factors(kernels.factorise(run, self.bodies))
        else:
            self.system = _RowSystem(problem, self.root, softness)
            self._factorise_rows(run)
        return run

    def _judge_factors(self, found: bool) -> None:
        if not found:
            self.outcome = Status.FAILED

    def _over_bodies(self, run: kernels.Run, count: int, stop: float) -> int:
        if self.outcome is not None:
            return 0
        form = self.problem.operator.kernel_form
        done, self.own_residual, found = kernels.iterate(
            form, self.cones, run, self.mixture, self.bodies, (count, stop)
        )
        self._judge_factors(found)
        return int(done)

    def _over_rows(self, run: kernels.Run, count: int, stop: float) -> int:
        done = 0
        while done < count and self.outcome is None:
            kernels.resolve(self.cones, run.penalty, run.q, run.p, run.y, run.right)
            self.system.velocities(run.right, run.q, run.u)
            kernels.judge(
                self.cones, run.penalty, run.p, run.y, run.u, run.x, run.change, run.before, run.sums
            )
            done += 1
            run.count[kernels.DONE] += 1
            self.own_residual = math.sqrt(run.sums[0])
            if not self.own_residual > stop:
                break
            if kernels.rebalance(run, self.mixture):
                self._factorise_rows(run)
            else:
                kernels.move_on(run, self.mixture)
        return done

    def _factorise_rows(self, run: kernels.Run) -> None:
        run.count[kernels.FACTORISATIONS] += 1
        self._judge_factors(self.system.factorise(float(run.real[kernels.SIGMA])))


def run_of(solver: ADMM, root: Floats, q: Floats, softness: Floats, least: float) -> kernels.Run:
    """Variables for weighted velocities q; `root` is √ρ, and σ never falls below `least`."""
    x, p, y, u, right, change, before = (np.zeros_like(q) for _ in range(7))
    real = np.array([0.0, least, solver.relaxation])
    count = np.array([0, 0, 0, 0, solver.balance], dtype=np.int64)
    return kernels.Run(
        root, q, x, p, y, u, right, change, before, softness, np.empty(len(q)), np.zeros(5), real, count
    )


def mixture_of(depth: int, blocks: int) -> Mixture:
    """Room for the past points of Anderson acceleration."""
    return Mixture(
        np.zeros((depth, blocks, 3)), np.zeros((depth, blocks, 3)), np.zeros((2, blocks, 3)),
        np.zeros((depth, depth)), np.zeros((depth, depth)), np.zeros(depth), np.zeros(3, dtype=np.int64),
        np.zeros(1),
    )  # fmt: skip


def _body_system(form: Factored, run: kernels.Run) -> kernels.Bodies:
    """The system over the bodies, not yet factorised."""
    room = body_order(form)
    moving, width = order_bodies(form.bodies, form.body_count - 1, room)
    band = np.empty(6 * moving * (width + 1))
    kernels.body_band(form, run.root, run.softness, room.place, width, band)
    return kernels.Bodies(
        room.order[:moving], room.place, band, np.empty_like(band), np.zeros((form.body_count, 6)),
        np.empty(6 * moving), np.empty(6 * (width + 1)),
    )  # fmt: skip


class _RowSystem:
    """(N + σS) x = r, with N weighted, for any N: LU factors, or a dense inverse for small N."""

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
