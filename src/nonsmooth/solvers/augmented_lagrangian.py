"""The augmented Lagrangian of Studer and Glocker Sect. 6: forces as multipliers, r as a penalty.

The principle of least constraint with its multipliers λ, augmented by a penalty r, has the saddle point

    γ̇ = G prox(λ − r γ̇) + c,      λ = prox(λ − r γ̇)          (Eqs. 89 and 90, in contact coordinates)

and the iteration alternates between the two (Eqs. 107 and 108). λ = prox(λ* − r γ̇) is also the regularised
law of Sect. 7, whose offset λ* every update sets to the last force.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.cones import project_box, project_cone, regularised_friction, regularised_normal
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration
from nonsmooth.solvers.parts.relaxation_factors import RelaxationSolver

_NEWTON_STEPS = 50
"""Newton steps for (107) after which a smaller penalty is tried."""
_SHORTEST = 1e-3
"""Step length below which Newton's method stops."""
_WINDOW, _SHRINK, _GROW = 10, 0.3, 2.0
"""Updates between checks of the progress, and the factor applied to the penalty."""
_LEAST_PENALTY = 1e-9
"""Smallest penalty tried, as a fraction of the wanted one."""
_DIVERGED_CHANGE = 1e100
"""Change in √J at which an iteration has diverged; it is stopped before it overflows."""
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class AugmentedLagrangian(RelaxationSolver):
    """Uzawa's iteration on the augmented Lagrangian, Eqs. 107 and 108.

    Under Coulomb's law the disk's radius is μ times the last update's normal force (quasi-optimisation,
    §6.5); under the relaxed law the set is the friction cone, and a contact has one r.

    With `subproblem="inner"` (107) is solved for γ̇ by Newton's method with λ held, which minimises the
    augmented Lagrangian (85); then λ is updated once. A larger r needs fewer updates, but if friction and
    normal forces cycle, only a smaller r damps them: r is then reduced. With `subproblem="once"` γ̇ and λ are
    updated together, as the two equations are printed: the iterates are those of `JORProx` with the same r,
    and r must be equally small.
    """

    name: ClassVar[str] = "augmented-lagrangian"
    summary: ClassVar[str] = "method of multipliers on the augmented Lagrangian (Studer and Glocker)"
    default_iterations: ClassVar[int] = 100_000

    omega: float = 1000.0
    """Factor ω on the strategy's r: a penalty with "inner"; take 1 or less with "once"."""
    subproblem: str = "inner"
    """Method for (107): "inner", Newton's method to an inner tolerance; "once", a single pass."""
    tightening: float = 0.01
    """Error of (107) with "inner", as a fraction of the change of λ."""
    max_blocks: int = 500
    """Largest number of contacts and joint blocks accepted with "inner": the matrix is dense."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("AugmentedLagrangian", "subproblem", self.subproblem, ("inner", "once"))
        positive("AugmentedLagrangian", "tightening", self.tightening)
        whole("AugmentedLagrangian", "max_blocks", self.max_blocks, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise for problems that are too large."""
        super().check(problem)
        if self.subproblem == "inner" and problem.layout.blocks > self.max_blocks:
            raise UnsupportedError(
                f"augmented-lagrangian would factorise a dense matrix over {problem.layout.blocks} blocks "
                f"(max_blocks={self.max_blocks}): use gauss-seidel, or subproblem='once' with a small omega"
            )

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        kind = _InnerIteration if self.subproblem == "inner" else _OnceIteration
        return kind(self, problem, start, goal)


class RegularisedLaws:
    """The laws of all blocks as λ = prox(λ* − r γ̇), with offset λ* and slope r (Sect. 7, Fig. 10).

    Normal rows have the half line, friction the disk of radius μ λ*_n, joint rows the interval of their
    bounds. Under the relaxed law a contact has the friction cone instead, and one r.
    """

    def __init__(self, problem: ContactProblem, r: Floats) -> None:
        """Take the laws of a problem and r (blocks, 3), in kg."""
        cones, count = problem.cones, problem.contacts
        self.relaxed = not problem.law.exact
        self.friction = cones.friction[:count]
        self.contacts, self.joints = slice(0, count), slice(count, None)
        self.lower, self.upper = cones.lower[self.joints], cones.upper[self.joints]
        self.r = r.copy()
        if self.relaxed:
            own = np.where(problem.layout.padding, np.inf, r)[self.contacts]
            self.r[self.contacts] = own.min(axis=1, keepdims=True)

    def forces(self, velocity: Floats, offset: Floats) -> Floats:
        """λ (blocks, 3) at γ̇ (blocks, 3)."""
        one, joint = self.contacts, self.joints
        forces = offset - self.r * velocity
        if self.relaxed:
            forces[one] = project_cone(forces[one], self.friction)
        else:
            forces[one, 0] = regularised_normal(velocity[one, 0], offset[one, 0], self.r[one, 0])
            forces[one, 1:] = regularised_friction(
                velocity[one, 1:], offset[one, 1:], self.r[one, 1:], self._radius(offset)
            )
        forces[joint] = project_box(forces[joint], self.lower, self.upper)
        return forces

    def slopes(self, velocity: Floats, offset: Floats) -> Floats:
        """One derivative of prox at λ* − r γ̇ for each block, (blocks, 3, 3)."""
        one, joint = self.contacts, self.joints
        argument = offset - self.r * velocity
        slopes = np.zeros((*argument.shape, 3))
        if self.relaxed:
            slopes[one] = _cone_slopes(argument[one], self.friction)
        else:
            slopes[one, 0, 0] = argument[one, 0] > 0.0
            slopes[one, 1:, 1:] = _disk_slopes(argument[one, 1:], self._radius(offset))
        inside = (argument[joint] > self.lower) & (argument[joint] < self.upper)
        slopes[joint] = inside[..., None] * np.eye(3)
        return slopes

    def potential(self, velocity: Floats, offset: Floats) -> float:
        """Contribution of the laws to the augmented Lagrangian (85) less −λ*²/2r, in J; its γ̇-gradient is −λ.

        (|ξ|² − |ξ − prox ξ|²)/2r with ξ = λ* − r γ̇, which is (prox ξ)²/2r for the half line.
        """
        argument, forces = offset - self.r * velocity, self.forces(velocity, offset)
        return float(np.sum(forces * (argument - 0.5 * forces) / self.r))

    def _radius(self, offset: Floats) -> Floats:
        return np.asarray(self.friction * np.maximum(offset[self.contacts, 0], 0.0))


class _LagrangianIteration(Iteration):
    """λ with its γ̇, and the two equations."""

    def __init__(
        self, solver: AugmentedLagrangian, problem: ContactProblem, start: Floats, goal: Goal
    ) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.laws = RegularisedLaws(problem, solver.factors(problem))
        self.force = start.copy()
        self.velocity = self.velocity_of(start)

    @property
    def impulses(self) -> Floats:
        return self.force

    def velocity_of(self, force: Floats) -> Floats:
        """γ̇ = G λ + c."""
        return self.problem.operator.apply(force) + self.problem.free_blocks

    def size(self, force: Floats) -> float:
        """|λ| in √J."""
        return float(np.sqrt(np.sum(force**2 / self.problem.cones.weight)))


class _OnceIteration(_LagrangianIteration):
    """(107) and (108) at the same time: both right-hand sides from the last λ and γ̇."""

    def advance(self, count: int, stop: float) -> int:
        for done in range(1, count + 1):
            force = self.laws.forces(self.velocity, self.force)
            self.own_residual = self.size(force - self.force)
            self.force, self.velocity = force, self.velocity_of(force)
            if self.own_residual > _DIVERGED_CHANGE:
                self.outcome = Status.DIVERGED
            if self.outcome or not self.own_residual > stop:
                return done
        return count


class _InnerIteration(_LagrangianIteration):
    """(107) for γ̇ with λ held, then (108) once."""

    def __init__(
        self, solver: AugmentedLagrangian, problem: ContactProblem, start: Floats, goal: Goal
    ) -> None:
        super().__init__(solver, problem, start, goal)
        self.slot = problem.layout.slot
        size = 3 * problem.layout.blocks
        flat = problem.operator.matrix().toarray()
        self.symmetric = bool(np.allclose(flat, flat.T, rtol=0.0, atol=1e-12 * np.abs(flat).max(initial=0.0)))
        self.matrix = np.zeros((size, size))
        self.matrix[np.ix_(self.slot, self.slot)] = flat
        self.row_sums = np.abs(self.matrix).sum(axis=1)
        self.wanted, self.part = self.laws.r.copy(), 1.0
        self.steps = self.updates = 0
        self.reference = math.inf

    def advance(self, count: int, stop: float) -> int:
        while (velocity := self._settled()) is None:
            if self.part < _LEAST_PENALTY:
                self.outcome = Status.STALLED
                return 1
            self._penalise(_SHRINK * self.part)
        forces = self.laws.forces(velocity, self.force)
        change = self.size(forces - self.force)
        self.force, self.velocity = forces, velocity
        self.own_residual, self.step_length = self.residual() * self.problem.scales.total, self.part
        self.updates += 1
        if self.updates % _WINDOW == 0:
            in_circles = not change < (1.0 - 1e-9) * self.reference
            self._penalise(self.part * _SHRINK if in_circles else min(1.0, _GROW * self.part))
            self.reference = change
        self.note = f"{self.steps} Newton steps on (107)"
        return 1

    def _penalise(self, part: float) -> None:
        self.part = part
        self.laws.r = part * self.wanted

    def _settled(self) -> Floats | None:
        """Solve (107) for γ̇ by Newton's method on γ̇ = G z + c, z = prox(λ − r γ̇); None if it stalls."""
        held, z = self.force, self.force
        rounding = 16.0 * _EPSILON * (1.0 + float((self.laws.r.ravel() * self.row_sums).max()))
        for _ in range(_NEWTON_STEPS):
            velocity = self.velocity_of(z)
            forces = self.laws.forces(velocity, held)
            error = z - forces
            allowed = max(self.solver.tightening * self.size(forces - held), rounding * self.size(forces))
            if self.size(error) <= allowed:
                return velocity
            self.steps += 1
            direction = self._direction(velocity, held, error)
            if direction is None:
                return None
            length = self._length(z, direction, held) if self.symmetric else 1.0
            if length < _SHORTEST:
                return None
            z = z + length * direction
        return None

    def _direction(self, velocity: Floats, held: Floats, error: Floats) -> Floats | None:
        """d of (I + P r G) d = −(z − prox), with the slopes P of prox; None if it is singular."""
        slopes = self.laws.slopes(velocity, held) * self.laws.r[:, None, :]
        product = np.einsum("bij,bjk->bik", slopes, self.matrix.reshape(len(slopes), 3, -1))
        system = np.eye(len(self.slot)) + product.reshape(self.matrix.shape)[np.ix_(self.slot, self.slot)]
        try:
            direction = np.linalg.solve(system, -error.reshape(-1)[self.slot])
        except np.linalg.LinAlgError:
            return None
        return self.problem.layout.pad(direction)

    def _length(self, z: Floats, direction: Floats, held: Floats) -> float:
        """Shorten the step until the augmented Lagrangian ½ zᵀG z + potential(G z + c) falls."""
        turn = self.problem.operator.apply(direction)
        start, velocity = self.problem.operator.apply(z), self.velocity_of(z)
        first = 0.5 * float(np.sum(z * start)) + self.laws.potential(velocity, held)
        fall = float(np.sum(turn * (z - self.laws.forces(velocity, held))))
        length = 1.0
        while length >= _SHORTEST:
            ahead = z + length * direction
            energy = 0.5 * float(np.sum(ahead * (start + length * turn)))
            value = energy + self.laws.potential(velocity + length * turn, held)
            if value <= first + 1e-4 * length * fall + 1e-13 * abs(first):
                break
            length *= 0.5
        return length


def _disk_slopes(points: Floats, radius: Floats) -> Floats:
    """Derivatives (n, 2, 2) of the projection on disks at points (n, 2)."""
    length = np.linalg.norm(points, axis=1)
    outside = length > radius
    divisor = np.where(outside, length, 1.0)
    direction, bend = points / divisor[:, None], radius / divisor
    across = np.eye(2) - direction[:, :, None] * direction[:, None, :]
    return np.where(outside[:, None, None], bend[:, None, None] * across, np.eye(2))


def _cone_slopes(points: Floats, friction: Floats) -> Floats:
    """Derivatives (n, 3, 3) of the projection on friction cones at points (n, 3)."""
    normal, length = points[:, 0], np.linalg.norm(points[:, 1:], axis=1)
    inside, beyond = length <= friction * normal, friction * length <= -normal
    share = 1.0 / (1.0 + friction**2)
    divisor = np.where(inside | beyond, 1.0, length)
    direction = points[:, 1:] / divisor[:, None]
    bend = friction * (normal + friction * length) * share / divisor
    slopes = np.zeros((len(points), 3, 3))
    slopes[:, 0, 0] = share
    slopes[:, 0, 1:] = slopes[:, 1:, 0] = (friction * share)[:, None] * direction
    along = direction[:, :, None] * direction[:, None, :]
    slopes[:, 1:, 1:] = bend[:, None, None] * np.eye(2) + (friction**2 * share - bend)[:, None, None] * along
    slopes[inside], slopes[beyond] = np.eye(3), 0.0
    return slopes
