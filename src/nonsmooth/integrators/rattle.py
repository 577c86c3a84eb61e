"""RATTLE: a step of second order between impacts, with joints on position and on velocity level.

    v½ = v + M⁻¹(h/2 f(t, q, v) + G(q) λ) ,     q⁺ = free flight from (q, v½) for h ,    g(q⁺, t⁺) = 0
    v⁺ = v½ + M⁻¹(h/2 f(t⁺, q⁺, ·) + G(q⁺) μ) ,     G(q⁺)ᵀv⁺ + ∂g/∂t = 0

It is symmetric, and symplectic where forces do not depend on velocities (Andersen 1983; Breuling et al. 2023
for the nonsmooth case). Free flight includes the gyroscopic term by the implicit midpoint rule. Forces that
depend on velocities take v + h v̇ of the first half for v⁺, which keeps the order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.integrators import _flight_kernels as flight_kernels
from nonsmooth.integrators import _joint_step_kernels as joint_kernels
from nonsmooth.integrators import _motion_kernels as kernels
from nonsmooth.integrators._motion_kernels import Bodies, State
from nonsmooth.integrators.mechanism import Mechanism, RowState
from nonsmooth.integrators.outcome import JointOutcome, Outcome
from nonsmooth.integrators.projection import CLOSED
from nonsmooth.integrators.step_problem import (
    JointPart,
    JointSystem,
    Motion,
    no_contacts,
    step_problem,
)
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.solve import solve

Floats = NDArray[np.float64]

_TOLERANCE = 1e-8
"""Relative residual of the linear problems; most of them come out with all digits."""
_LAW = Law.parse("relaxed")


@dataclass(frozen=True, eq=False)
class _Place:
    """The joint rows at a state, and the linear system of the bilateral ones."""

    rows: RowState
    system: JointSystem
    position: Floats
    quaternion: Floats

    def is_at(self, state: State) -> bool:
        """Tell whether the bodies are where they were."""
        same = np.array_equal(self.position, state.position)
        return same and np.array_equal(self.quaternion, state.quaternion)


class RattleStep:
    """Does smooth steps of one length on a system's state, in place, where nothing touches."""

    def __init__(
        self,
        system: System,
        bodies: Bodies,
        mass: BodyMass,
        mechanism: Mechanism,
        detector: Detector,
        step: float,
    ) -> None:
        self._system, self._bodies, self._mass = system, bodies, mass
        self._mechanism, self._detector, self._step = mechanism, detector, step
        self._none = Contacts.empty()
        self._bilateral, self._chosen = mechanism.bilateral, np.flatnonzero(mechanism.bilateral)
        self._place: _Place | None = None
        self.impulses = np.zeros(int(self._bilateral.sum()))
        """λ of the last flight in N·s or N·m·s: where the next one's iteration starts."""

    def attempt(self, state: State, t: float, force: Floats, contacts: Contacts) -> Outcome | None:
        """Step from time t (s) with the forces (n, 6) there; None, and nothing done, if it is not smooth.

        It is not where a contact or a limit is closed at the beginning or passed at the end, and where the
        joints cannot be closed at the end.
        """
        if not self._mechanism.smooth or np.any(contacts.gap <= 0.0):
            return None
        before, turns = tuple(part.copy() for part in state), self._system.joints.memory()
        outcome = self._step_from(state, t, force)
        if outcome is None or not self._apart(state, t, contacts):
            for part, old in zip(state, before, strict=True):
                part[:] = old
            self._system.joints.restore(turns)
            return None
        return outcome

    def _step_from(self, state: State, t: float, force: Floats) -> Outcome | None:
        bodies, h = self._bodies, self._step
        start = np.empty((len(bodies.mass), 6))
        kernels.step_velocity(bodies, state, start)
        half = start.copy()
        kernels.kick(bodies, state, force, 0.5 * h, half)
        flown = self._fly(state, t, half)
        if flown is None:
            return None
        end, half = flown
        kernels.take_velocity(bodies, state, end + half - start)  # for forces that depend on velocities
        kernels.kick(bodies, state, self._system.forces(t + h), 0.5 * h, end)
        return self._finish(state, t + h, end)

    def _fly(self, state: State, t: float, half: Floats) -> tuple[Floats, Floats] | None:
        """Free flight to where the joints are closed; returns the velocities at its end and its beginning.

        The impulses λ are found by Newton's method with the matrix of the beginning, from those of the last
        step.
        """
        bodies, mechanism, h = self._bodies, self._mechanism, self._step
        end = np.empty_like(half)
        if mechanism.count == 0:
            end[:] = half
            kernels.drift(bodies, state, end, h)
            kernels.set_rotations(state.quaternion, state.rotation)
            return end, half
        place = self._place_at(state)
        joints, chosen = place.system.joints, self._chosen
        if len(joints.blocks) == 0:  # a factor of all joints would be too large
            return None
        closed = CLOSED * max(1.0, float(np.abs(place.position[~bodies.fixed]).max(initial=0.0)))
        reached, rate = mechanism.table.offsets(t + h)[0], mechanism.table.offsets(t + 0.5 * h)[1]
        target = np.where(mechanism.on_position, reached, rate - place.rows.rows.carried)
        rows, number = place.rows.rows, place.system.order
        flight = flight_kernels.Flight(
            chosen, mechanism.table.on_velocity[chosen], number, joints.root[number],
            rows.bodies[chosen], rows.rows[chosen], rows.columns[chosen], target[chosen],
        )  # fmt: skip
        joint_kernels.add_impulses(flight.pairs, flight.columns, self.impulses, bodies, half)
        impulses, near = self.impulses.copy(), self._system.joints.angles
        done = flight_kernels.fly(
            bodies, state, mechanism.table.rows, near, flight, joints.panels, joints.free, h, closed,
            half, end, impulses,
        )  # fmt: skip
        self.impulses = impulses if done else np.zeros_like(impulses)
        return (end, half) if done else None

    def _place_at(self, state: State) -> _Place:
        """Joint rows where the step begins: those of the end of the last step, if nobody moved the bodies."""
        known = self._place
        if known is not None and known.is_at(state):
            return known
        count = len(self._bodies.mass)
        rest = Motion(np.zeros((count, 6)), np.zeros((count, 6)))
        return self._new_place(state, rest, np.zeros(self._mechanism.count))

    def _new_place(self, state: State, motion: Motion, bias: Floats) -> _Place:
        rows, chosen = self._mechanism.at(state), self._bilateral
        part = JointPart(rows.rows, bias + rows.rows.carried, self._mechanism.bounds).chosen(chosen)
        problem = step_problem(self._mass, motion, no_contacts(), np.zeros(0), _LAW, part)
        position, quaternion = state.position.copy(), state.quaternion.copy()
        return _Place(rows, JointSystem(problem), position, quaternion)

    def _finish(self, state: State, t: float, end: Floats) -> Outcome | None:
        """Bring the velocities onto the joints at time t (s) at the end of the step."""
        mechanism, bodies = self._mechanism, self._bodies
        momentum = np.empty_like(end)
        kernels.momentum_of(bodies, end, momentum)
        place, motion = None, Motion(momentum, end)
        if mechanism.count:
            place = self._new_place(state, motion, mechanism.partial_rate(t))
            solution = place.system.solve(_TOLERANCE)
        else:
            problem = step_problem(self._mass, motion, no_contacts(), np.zeros(0), _LAW)
            solution = solve(problem, tolerance=_TOLERANCE, throw=False)
        if not solution.certificate.residual <= _TOLERANCE:
            return None
        assert solution.velocity is not None
        velocity = solution.velocity.reshape(-1, 6)
        kernels.take_velocity(bodies, state, velocity)
        outcome = None
        if place is not None:
            impulses = np.zeros(mechanism.count)
            impulses[self._bilateral] = solution.joint_impulses
            outcome = JointOutcome(
                place.rows, impulses, 0.5 * self._step, self._bilateral, place.position, place.quaternion
            )
        self._place = place
        energy = float(kernels.kinetic_energy(bodies, end))
        return Outcome(solution, velocity, self._none, np.zeros((0, 3)), outcome, energy, closed=True)

    def _apart(self, state: State, t: float, contacts: Contacts) -> bool:
        """Tell whether no contact overlaps and no limit is passed at the end of the step."""
        mechanism = self._mechanism
        if mechanism.limit.any():
            reached = mechanism.coordinates(mechanism.at(state), t + self._step)
            if np.any(reached[mechanism.limit] < 0.0):
                return False
        if len(contacts) == 0:
            return True
        return not np.any(self._detector.detect(state.position, state.quaternion).gap < 0.0)
