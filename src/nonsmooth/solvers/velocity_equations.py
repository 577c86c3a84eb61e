"""The γ̇-equations of Studer and Glocker, Eqs. 45 and 46: accelerations as unknowns in place of forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import linalg
from nonsmooth._support.options import whole
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.cones import kappa_disk, project_box, project_dual_cone, project_half_line
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration
from nonsmooth.solvers.parts.relaxation_factors import RelaxationSolver

_WORST_CONDITION = 1e10
"""Condition number of the dimensionless G above which G counts as singular: λ = G⁻¹(γ̇ − c) has then lost
ten of sixteen digits."""
_DIVERGED_CHANGE = 1e100
"""Change in √J at which an iteration has diverged; it is stopped before it overflows."""


@dataclass(frozen=True)
class VelocityProx(RelaxationSolver):
    """Jacobi relaxation of the γ̇-equations: γ̇_i ← prox(γ̇_i − r_i λ_i) and κ_S(γ̇_i − r_i λ_i, r_i) for all i
    at once, with λ = G⁻¹(γ̇ − c) and a disk of radius μ times the last iterate's normal force.

    κ_S(ξ, r) = ξ − prox_{rS}(ξ) (Eq. 130), from which its value for other sets of forces follows: zero
    for a joint row, ξ − prox_{[−r upper, −r lower]}(ξ) for a joint row with bounds, the projection on the
    dual cone for the relaxed law. The forces of the solution are λ.

    G must be regular, which contacts that outnumber the degrees of freedom exclude; it need not be
    symmetric. Factors are those of G⁻¹: r = ω/(G⁻¹)_hh or ω/Σ_k|(G⁻¹)_hk|, in 1/kg.
    """

    name: ClassVar[str] = "velocity-prox"
    summary: ClassVar[str] = "Jacobi relaxation of the equations in accelerations (Studer and Glocker)"
    default_iterations: ClassVar[int] = 100_000

    strategy: str = "row-sum"
    """"diagonal": r = ω/(G⁻¹)_hh; "row-sum": r = ω/Σ_k|(G⁻¹)_hk|."""
    max_blocks: int = 500
    """Largest number of contacts and joint blocks accepted: G is inverted."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("VelocityProx", "max_blocks", self.max_blocks, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise if G is singular or too large to be inverted."""
        super().check(problem)
        if problem.layout.blocks > self.max_blocks:
            raise UnsupportedError(
                f"velocity-prox would invert a dense matrix over {problem.layout.blocks} blocks "
                f"(max_blocks={self.max_blocks}): use gauss-seidel or sor-prox, which need no inverse"
            )
        condition = _condition(problem)
        if not condition <= _WORST_CONDITION:
            raise UnsupportedError(
                f"velocity-prox needs a regular G, and this one has condition {condition:.1e} "
                f"(at most {_WORST_CONDITION:.0e}): use sor-prox or gauss-seidel, which solve for the forces"
            )

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _VelocityIteration(self, problem, start, goal)


def _condition(problem: ContactProblem) -> float:
    """Condition number of √ρ G √ρ, which does not depend on units; infinite if G is singular."""
    root = np.sqrt(problem.layout.unpad(problem.cones.weight))
    values = np.linalg.svd(root[:, None] * problem.operator.matrix().toarray() * root, compute_uv=False)
    if len(values) == 0:
        return 1.0
    return float(values[0] / values[-1]) if values[-1] > 0.0 else float("inf")


class _VelocityIteration(Iteration):
    """γ̇ with λ = G⁻¹(γ̇ − c)."""

    def __init__(self, solver: VelocityProx, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        layout, count = problem.layout, problem.contacts
        self.factor = linalg.lu_factor(problem.operator.matrix().toarray())
        inverse = linalg.lu_solve(self.factor, np.eye(layout.rows))
        sums = np.abs(inverse).sum(axis=1) if solver.strategy == "row-sum" else np.diag(inverse)
        self.r = solver.spread_factors(layout, layout.pad(sums))
        self.relaxed = not problem.law.exact
        if self.relaxed:
            own = np.where(layout.padding, np.inf, self.r)[:count]
            self.r[:count] = own.min(axis=1, keepdims=True)
        self.contacts, self.joints = slice(0, count), slice(count, None)
        self.friction = problem.cones.friction[:count]
        self.lower, self.upper = problem.cones.lower[self.joints], problem.cones.upper[self.joints]
        self.force = start.copy()
        self.velocity = problem.operator.apply(start) + problem.free_blocks

    @property
    def impulses(self) -> Floats:
        return self.force

    def advance(self, count: int, stop: float) -> int:
        for done in range(1, count + 1):
            velocity = self._relaxed_velocity()
            change = velocity - self.velocity
            self.velocity, self.force = velocity, self._force_of(velocity)
            self.own_residual = float(np.linalg.norm(change * np.sqrt(self.problem.cones.weight)))
            if self.own_residual > _DIVERGED_CHANGE:
                self.outcome = Status.DIVERGED
            if self.outcome or not self.own_residual > stop:
                return done
        return count

    def _force_of(self, velocity: Floats) -> Floats:
        """λ = G⁻¹(γ̇ − c)."""
        layout = self.problem.layout
        return layout.pad(linalg.lu_solve(self.factor, layout.unpad(velocity - self.problem.free_blocks)))

    def _relaxed_velocity(self) -> Floats:
        """Right-hand sides of Eqs. 45 and 46 at the present γ̇ and λ."""
        one, joint = self.contacts, self.joints
        velocity = self.velocity - self.r * self.force
        if self.relaxed:
            velocity[one] = project_dual_cone(velocity[one], self.friction)
        else:
            radius = self.friction * np.maximum(self.force[one, 0], 0.0)
            velocity[one, 0] = project_half_line(velocity[one, 0])
            velocity[one, 1:] = kappa_disk(velocity[one, 1:], self.r[one, 1], radius)
        velocity[joint] -= project_box(  # κ of an interval
            velocity[joint], -self.r[joint] * self.upper, -self.r[joint] * self.lower
        )
        velocity[self.problem.layout.padding] = 0.0
        return velocity
