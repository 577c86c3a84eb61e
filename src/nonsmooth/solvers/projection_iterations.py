"""JORprox and SORprox of Studer and Glocker: normal and friction as separate proximal steps."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import operator as operator_kernels
from nonsmooth.solvers.base import Goal, Iteration
from nonsmooth.solvers.kernels import projection as kernels
from nonsmooth.solvers.parts.relaxation_factors import RelaxationSolver

_SHRINK, _GROW, _WINDOW = 0.7, 1.1, 20
"""Changes of the factor in the adaptive strategy, and iterations between its checks."""


@dataclass(frozen=True)
class _Prox(RelaxationSolver):
    """Strategies shared by JORProx and SORProx; "adaptive" starts as "diagonal" and reduces all factors while
    the iterates grow."""

    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")
    default_iterations: ClassVar[int] = 100_000
    strategies: ClassVar[tuple[str, ...]] = ("diagonal", "row-sum", "adaptive")


@dataclass(frozen=True)
class JORProx(_Prox):
    """Jacobi relaxation with projection, Eqs. 60 and 61: λ_i ← prox(λ_i − r_i(Gλ + c)_i) for all i at once.

    The friction disk's radius is μ times the last iterate's normal force, so that an iterate can lie
    outside its cone until the iteration has converged. Converges for strictly diagonally dominant G (§5.5),
    otherwise for small ω.
    """

    name: ClassVar[str] = "jor-prox"
    summary: ClassVar[str] = "Jacobi relaxation with projection (Studer and Glocker)"

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _JORIteration(self, problem, start, goal)


@dataclass(frozen=True)
class SORProx(_Prox):
    """Gauss-Seidel relaxation with projection, Eqs. 71 and 72: each force is used as soon as it is known."""

    name: ClassVar[str] = "sor-prox"
    summary: ClassVar[str] = "Gauss-Seidel relaxation with projection (Studer and Glocker)"

    order: str = "contact"
    """"contact": normal and friction of one contact, then the next; "normals-first": all normals, then all
    frictions, as the paper's example numbers its constraints."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("SORProx", "order", self.order, ("contact", "normals-first"))

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _SORIteration(self, problem, start, goal)


class _ProxIteration(Iteration):
    def __init__(self, solver: _Prox, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.r = solver.factors(problem)
        self.x = start.copy()
        self.u = np.zeros_like(self.x)
        self.w = problem.operator.work()
        self.adaptive = solver.strategy == "adaptive" and solver.r is None
        self.factor, self.reference, self.since = 1.0, 0.0, 0

    @property
    def impulses(self) -> Floats:
        return self.x

    def advance(self, count: int, stop: float) -> int:
        if not self.adaptive:
            done, self.own_residual = self._iterate(self.r, count, stop)
            self.step_length = self.own_residual
            return done
        done = 0
        while done < count:
            _, change = self._iterate(self.factor * self.r, 1, 0.0)
            done += 1
            self.own_residual = change / self.factor  # smaller factors must not pass for convergence
            if self.own_residual <= stop:
                break
            self.since += 1
            self.reference = self.reference or self.own_residual
            if self.since == _WINDOW or self.own_residual > 2.0 * self.reference:
                self._adapt()
        self.step_length = self.factor
        return done

    def _adapt(self) -> None:
        """Reduce all factors if the iterates changed as much as a window ago, else increase them again."""
        shrinking = self.own_residual < (1.0 - 1e-9) * self.reference  # a pure oscillation does not decay
        self.factor = min(1.0, self.factor * _GROW) if shrinking else self.factor * _SHRINK
        self.reference, self.since = self.own_residual, 0

    @abstractmethod
    def _iterate(self, r: Floats, count: int, stop: float) -> tuple[int, float]:
        """Do up to `count` iterations with the factors r; return their number, and the last change in √J."""


class _JORIteration(_ProxIteration):
    def _iterate(self, r: Floats, count: int, stop: float) -> tuple[int, float]:
        form, cones, q = self.problem.operator.kernel_form, self.problem.cones, self.problem.free_blocks
        done, change = kernels.jor_prox(form, cones, q, r, self.x, self.u, self.w, count, stop)
        return int(done), float(change)


class _SORIteration(_ProxIteration):
    def __init__(self, solver: SORProx, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(solver, problem, start, goal)
        self.refresh()
        constraints = np.arange(2 * problem.layout.blocks, dtype=np.int64)
        if solver.order == "normals-first":
            constraints = np.concatenate([constraints[::2], constraints[1::2]])
        self.sequence = constraints

    def refresh(self) -> None:
        """Recompute w = A x, which drifts by the rounding of every increment."""
        operator_kernels.apply(self.problem.operator.kernel_form, self.x, self.w, self.u)

    def _iterate(self, r: Floats, count: int, stop: float) -> tuple[int, float]:
        form, cones, q = self.problem.operator.kernel_form, self.problem.cones, self.problem.free_blocks
        done, change = kernels.sor_prox(form, cones, q, r, self.x, self.w, self.sequence, count, stop)
        return int(done), float(change)
