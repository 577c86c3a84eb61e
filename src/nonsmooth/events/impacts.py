"""Impacts: the impulse-level problem of all closed contacts, by Newton's or by Poisson's law.

Newton:  γ_N⁺ + e γ_N⁻ ≥ 0 ⟂ Λ_N ≥ 0, friction by Coulomb's law on γ_T⁺ + e_T γ_T⁻: one contact problem.
Poisson: compression, Newton's law with e = 0, gives Λ_C; then in expansion Λ_N ≥ e Λ_C,N ⟂ γ_N⁺ ≥ 0, with
friction up to μ Λ_N. That is one contact problem as well: the part e Λ_C,N of the normal impulse is given,
and its friction belongs to a contact whose normal row acts on a separate coordinate with that momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from nonsmooth._support.arrays import Floats
from nonsmooth.events.acceleration import AccelerationLevel, ActiveContact
from nonsmooth.events.enumeration import Mode, all_solutions, can_enumerate
from nonsmooth.events.smooth import State
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.solve import solve

TOLERANCE = 1e-12
"""Required relative residual of an impact's problem."""


@dataclass(frozen=True)
class Impact:
    """Velocities after it, impulses of each contact (Λ_N, Λ_T…) in N·s, and energies in J."""

    velocity: Floats
    impulses: tuple[Floats, ...]
    dissipated: float
    work: float
    residual: float


class Collision:
    """The closed contacts of a state, before an impact.

    `pushed` is the velocity without impulses in time stepping; by default that of the state. `sticking` has
    the indices of contacts that use the sticking coefficient of friction.
    """

    def __init__(
        self,
        system: GeneralisedSystem,
        state: State,
        contacts: Sequence[int],
        pushed: Floats | None = None,
        sticking: Sequence[int] = (),
    ) -> None:
        self._pushed = state.u if pushed is None else pushed
        self.system, self.state = system, state
        self.places = [Kinematics(system, system.contacts[i], state.q, state.t) for i in contacts]
        self.mass = system.mass_matrix(state.q)
        self.friction = [
            at.contact.static_friction if k in sticking else at.contact.friction
            for k, at in enumerate(self.places)
        ]
        self.widths = [
            at.directions.shape[1] if mu > 0.0 else 1
            for at, mu in zip(self.places, self.friction, strict=True)
        ]
        self.before = [at.velocity(state.u) for at in self.places]

    def resolve(self, law: str) -> Impact:
        """Return the outcome by "newton" or "poisson"."""
        return self._poisson() if law == "poisson" else self._newton()

    def _newton(self, plastic: bool = False) -> Impact:
        bias = []
        for at, before in zip(self.places, self.before, strict=True):
            contact, own = at.contact, at.surface.copy()
            if not plastic:
                own[0] += contact.restitution * min(before[0], 0.0)
                own[1:] += contact.tangential_restitution * before[1:]
            bias.append(own)
        pushes = [at.directions for at in self.places]
        velocity, parts, residual = self._solve(self.mass, pushes, bias, self._momentum())
        return self._outcome(velocity, parts, residual)

    def _poisson(self) -> Impact:
        compressed = self._newton(plastic=True)
        given = [
            at.contact.restitution * own[0] for at, own in zip(self.places, compressed.impulses, strict=True)
        ]
        back = [k for k, share in enumerate(given) if share > 0.0]
        size, count = len(self.state.u), len(self.places)
        # each separate coordinate has the mass that the contact feels, so that the problem is well scaled
        own = [1.0 / float(at.normal @ np.linalg.solve(self.mass, at.normal)) for at in self.places]
        mass = block_diag(self.mass, np.diag([own[k] for k in back]))
        chosen = [*range(count), *back]
        pushes, bias = [], []
        for position, k in enumerate(chosen):
            at = self.places[k]
            push = np.vstack([at.directions, np.zeros((len(back), at.directions.shape[1]))])
            surface = at.surface.copy()
            if position >= count:
                push[:, 0], surface[0] = 0.0, 0.0
                push[size + position - count, 0] = 1.0
            pushes.append(push)
            bias.append(surface)
        # the given impulse acts on the bodies, and on the coordinate that its friction belongs to
        momentum = self.mass @ compressed.velocity
        for k in back:
            momentum = momentum + given[k] * self.places[k].normal
        pressed = np.concatenate([momentum, [-given[k] for k in back]])
        velocity, parts, residual = self._solve(mass, pushes, bias, pressed, chosen)
        total = [first + part for first, part in zip(compressed.impulses, parts[:count], strict=True)]
        for k, part in zip(back, parts[count:], strict=True):
            total[k][0] += given[k]
            total[k][1:] += part[1:]
        return self._outcome(velocity[:size], total, max(compressed.residual, residual))

    def hold(self) -> Impact:
        """Stop all approach and separation at once: the end of an accumulation of impacts.

        Sliding that is no faster stops as well.
        """
        fastest = max(abs(float(before[0])) for before in self.before)
        widths = []
        for before, mu in zip(self.before, self.friction, strict=True):
            rests = mu > 0.0 and float(np.linalg.norm(before[1:])) <= fastest
            widths.append(len(before) if rests else 1)
        parts = list(zip(self.places, self.before, widths, strict=True))
        rows = np.hstack([at.directions[:, :width] for at, _, width in parts])
        speeds = np.concatenate([before[:width] for _, before, width in parts])
        mobile = np.linalg.solve(self.mass, rows)
        impulse = np.linalg.lstsq(rows.T @ mobile, -speeds, rcond=1e-11)[0]
        ends = np.cumsum(widths)
        impulses = [impulse[end - width : end] for end, width in zip(ends, widths, strict=True)]
        return self._outcome(self.state.u + mobile @ impulse, impulses, 0.0)

    def without_approach(self, paradoxical: Sequence[int]) -> Impact | None:
        """An impact without approach: a last resort where accelerations have no solution.

        Of all impulses that obey the laws of impact, one that is not zero at a paradoxical contact (given by
        index in the collision); spatial friction is taken along the sliding. None if there is none.
        """
        contacts = []
        for at, before in zip(self.places, self.before, strict=True):
            directions, drift = at.directions, at.surface
            if directions.shape[1] == 3:
                size = float(np.linalg.norm(before[1:]))
                along = before[1:] / size if size > 0.0 else np.array([1.0, 0.0])
                directions = np.column_stack([directions[:, 0], directions[:, 1:] @ along])
                drift = np.array([drift[0], drift[1:] @ along])
            if at.contact.friction == 0.0:
                directions, drift = directions[:, :1], drift[:1]
            mu = at.contact.friction
            contacts.append(ActiveContact(directions, drift, mu, mu, None, at.contact.name))
        level = AccelerationLevel(self.mass, self._momentum(), contacts)
        if not can_enumerate(level):
            return None
        for found in sorted(all_solutions(level), key=lambda each: self._size(each.forces)):
            if any(found.modes[k] is not Mode.OPEN and found.forces[k][0] > 0.0 for k in paradoxical):
                impulses = [
                    own
                    if len(own) == at.directions.shape[1] or len(own) == 1
                    else self._in_space(own, before)
                    for own, at, before in zip(found.forces, self.places, self.before, strict=True)
                ]
                return self._outcome(found.acceleration, impulses, max(0.0, -found.margin))
        return None

    @staticmethod
    def _size(forces: Sequence[Floats]) -> float:
        return float(sum(np.abs(force).sum() for force in forces))

    @staticmethod
    def _in_space(own: Floats, before: Floats) -> Floats:
        along = before[1:] / np.linalg.norm(before[1:])
        return np.concatenate([own[:1], own[1] * along])

    def _momentum(self) -> Floats:
        return np.asarray(self.mass @ self._pushed)

    def _solve(
        self,
        mass: Floats,
        pushes: Sequence[Floats],
        bias: Sequence[Floats],
        momentum: Floats,
        chosen: Sequence[int] | None = None,
    ) -> tuple[Floats, list[Floats], float]:
        """Velocity, impulses and residual for the contacts at the indices `chosen` (one may occur twice)."""
        every = list(range(len(self.places)) if chosen is None else chosen)
        widths = [self.widths[k] for k in every]
        rows = np.hstack([push[:, :width] for push, width in zip(pushes, widths, strict=True)])
        mobile = np.linalg.solve(mass, np.column_stack([rows, momentum]))
        matrix = rows.T @ mobile[:, :-1]
        problem = ContactProblem(
            delassus=0.5 * (matrix + matrix.T),
            free_velocity=rows.T @ mobile[:, -1]
            + np.concatenate([own[:width] for own, width in zip(bias, widths, strict=True)]),
            components=widths,
            friction=[self.friction[k] for k in every],
        )
        answer = solve(problem, tolerance=TOLERANCE, throw=False)
        ends = np.cumsum(widths)
        parts = [answer.impulses[end - width : end].copy() for end, width in zip(ends, widths, strict=True)]
        return mobile[:, -1] + mobile[:, :-1] @ answer.impulses, parts, answer.certificate.residual

    def _outcome(self, velocity: Floats, impulses: Sequence[Floats], residual: float) -> Impact:
        lost = work = 0.0
        for at, own, before in zip(self.places, impulses, self.before, strict=True):
            width = len(own)
            mean = 0.5 * (before + at.velocity(velocity))[:width]
            lost -= float(own @ mean)
            work -= float(own @ at.surface[:width])
        return Impact(velocity, tuple(impulses), lost, work, residual)
