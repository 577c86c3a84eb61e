"""Contact laws on acceleration level, Studer and Glocker Sect. 2: γ̇ = G λ + c over the active contacts.

    level = AccelerationLevel.of(system, q, u, t)
    solution = solve(level.problem, SORProx(), tolerance=1e-10)
    level.acceleration(solution.impulses)                            # u̇

Only contacts that are active on velocity level count: P_N = {g = 0, γ_N = 0}. A contact that does not
slide (γ_T = 0, the set P_T) has rows for friction. For a contact that slides, friction follows from the
normal force, λ_T = −μ λ_N γ_T/|γ_T|, so that it is one row whose force acts along w_N − μ W_T γ_T/|γ_T|:
then G is not symmetric, and there may be no solution or several (Painlevé).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics
from nonsmooth.problem.contact_problem import ContactProblem

GAP_TOLERANCE = 1e-9
"""Gap in m up to which a contact counts as closed."""
VELOCITY_TOLERANCE = 1e-9
"""Speed in m/s up to which a contact counts as neither opening, closing nor sliding."""


@dataclass(frozen=True, eq=False)
class ActiveContact:
    """A contact of P_N: its directions [w_N W_T] (n, 1 + d), drift (1 + d,), and friction.

    `slip` is the unit vector (d,) of the sliding direction; None without sliding.
    """

    directions: Floats
    drift: Floats
    friction: float
    sticking_friction: float
    slip: Floats | None = None
    name: str = ""

    @property
    def has_friction_rows(self) -> bool:
        """True in P_T: the friction force is a separate unknown."""
        return self.slip is None and self.directions.shape[1] > 1

    @property
    def rows(self) -> int:
        """Number of unknowns."""
        return self.directions.shape[1] if self.has_friction_rows else 1

    def force_directions(self) -> Floats:
        """(n, rows): directions of the forces of its unknowns."""
        if self.slip is None:
            return self.directions[:, : self.rows]
        return self.push_while_sliding(self.slip)[:, None]

    def push_while_sliding(self, slip: Floats) -> Floats:
        """w_N − μ W_T slip (n,)."""
        return np.asarray(self.directions[:, 0] - self.friction * (self.directions[:, 1:] @ slip))


class AccelerationLevel:
    """M u̇ = h + F λ and γ̇ = Wᵀu̇ + ζ, hence γ̇ = G λ + c (Eq. 9), for given arrays.

    For an impact, read velocities after and before it, and impulses.

    Args:
        mass: M (n, n).
        force: h (n,), or M u⁻ of an impact.
        contacts: those of P_N.
    """

    def __init__(self, mass: ArrayLike, force: ArrayLike, contacts: Sequence[ActiveContact]) -> None:
        self.mass, self.force = np.asarray(mass, dtype=float), np.asarray(force, dtype=float)
        self.contacts = tuple(contacts)
        size = len(self.force)
        wide = [each.directions[:, : each.rows] for each in self.contacts]
        self.directions = np.hstack([np.zeros((size, 0)), *wide])
        self.force_directions = np.hstack(
            [np.zeros((size, 0)), *(c.force_directions() for c in self.contacts)]
        )
        self.drift = np.concatenate([np.zeros(0), *(c.drift[: c.rows] for c in self.contacts)])

    @classmethod
    def of(
        cls,
        system: GeneralisedSystem,
        q: ArrayLike,
        u: ArrayLike,
        t: float = 0.0,
        *,
        gap_tolerance: float = GAP_TOLERANCE,
        velocity_tolerance: float = VELOCITY_TOLERANCE,
    ) -> AccelerationLevel:
        """Return the problem of a state after impacts; its index sets follow from gaps and velocities.

        Args:
            system: with its contacts.
            q: coordinates.
            u: velocities after any impact.
            t: time in s.
            gap_tolerance: gap in m up to which a contact counts as closed.
            velocity_tolerance: speed in m/s up to which it counts as neither opening nor sliding.
        """
        place, speed = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
        active = []
        for contact in system.contacts:
            at = Kinematics(system, contact, place, t)
            if at.gap > gap_tolerance:
                continue
            velocity = at.velocity(speed)
            if velocity[0] < -velocity_tolerance:
                raise ProblemError(
                    f"contact {contact.name!r} is closed and approaches at {-velocity[0]:.3g} m/s: an impact "
                    "comes before accelerations; simulate_events resolves it"
                )
            if velocity[0] <= velocity_tolerance:
                slips = np.linalg.norm(velocity[1:]) > velocity_tolerance and contact.static_friction > 0.0
                active.append(active_contact(at, speed, velocity[1:] if slips else None))
        return cls(system.mass_matrix(place), system.forces(place, speed, t), active)

    @cached_property
    def _freely(self) -> Floats:
        """M⁻¹[F h] (n, rows + 1)."""
        both = np.column_stack([self.force_directions, self.force])
        return np.asarray(np.linalg.solve(self.mass, both))

    @cached_property
    def matrix(self) -> Floats:
        """G (rows, rows)."""
        return np.asarray(self.directions.T @ self._freely[:, :-1])

    @cached_property
    def constant(self) -> Floats:
        """c (rows,) in m/s²: γ̇ without contact forces."""
        return np.asarray(self.directions.T @ self._freely[:, -1] + self.drift)

    @cached_property
    def problem(self) -> ContactProblem:
        """The inclusions (10) to (13) for the solvers: its impulses are forces in N, its velocities γ̇.

        Friction uses the sticking coefficient: a contact that begins to slide may have less.
        """
        if not self.contacts:
            raise ProblemError("no contact is active on velocity level: the motion is free, M u̇ = h")
        for i, contact in enumerate(self.contacts):
            row = sum(each.rows for each in self.contacts[:i])
            if not self.matrix[row, row] > 0.0:
                raise ProblemError(
                    f"the sliding contact {contact.name or i} has G_NN = {self.matrix[row, row]:.3g} 1/kg, "
                    "which is not positive (Painlevé): events.all_solutions returns all solutions, "
                    "if there are any"
                )
        return ContactProblem(
            delassus=self.matrix,
            free_velocity=self.constant,
            components=[each.rows for each in self.contacts],
            friction=[each.sticking_friction if each.rows > 1 else 0.0 for each in self.contacts],
            allow_asymmetry=True,
        )

    def acceleration(self, forces: ArrayLike) -> Floats:
        """u̇ = M⁻¹(h + F λ) for λ (rows,)."""
        return np.asarray(self._freely[:, -1] + self._freely[:, :-1] @ np.asarray(forces, dtype=float))


def active_contact(at: Kinematics, u: Floats, slip_velocity: Floats | None) -> ActiveContact:
    """A contact of P_N from its kinematics; `slip_velocity` is None without sliding."""
    contact = at.contact
    slip = None if slip_velocity is None else slip_velocity / np.linalg.norm(slip_velocity)
    count = at.directions.shape[1] if contact.static_friction > 0.0 else 1
    return ActiveContact(
        at.directions[:, :count], at.drift(u)[:count], contact.friction, contact.static_friction, slip,
        contact.name,
    )  # fmt: skip
