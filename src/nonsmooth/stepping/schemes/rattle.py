"""RATTLE: a second-order step between impacts, with joints on position and on velocity level.

    v½ = v + M⁻¹(h/2 f(t, q, v) + G(q) λ) ,     q⁺ = free flight from (q, v½) for h ,    g(q⁺, t⁺) = 0
    v⁺ = v½ + M⁻¹(h/2 f(t⁺, q⁺, ·) + G(q⁺) μ) ,     G(q⁺)ᵀv⁺ + ∂g/∂t = 0

It is symmetric, and symplectic where forces do not depend on velocities (Andersen 1983; Breuling et al. 2023
for the nonsmooth case). Free flight includes the gyroscopic term by the implicit midpoint rule. Forces that
depend on velocities use v + h v̇ of the first half for v⁺, which keeps the order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.solve import solve
from nonsmooth.stepping.assembly import columns_matrix
from nonsmooth.stepping.kernels import flight as flight_kernels
from nonsmooth.stepping.kernels import joint_step as joint_kernels
from nonsmooth.stepping.kernels import motion as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.schemes.mechanism import Mechanism, RowState
from nonsmooth.stepping.schemes.projection import CLOSED
from nonsmooth.stepping.schemes.step_problem import JointPart, JointSystem, Motion, no_contacts, step_problem
from nonsmooth.stepping.schemes.step_result import JointOutcome, StepResult

_TOLERANCE = 1e-8
"""Relative residual of the linear problems; most are solved to machine precision."""
_ITERATIONS, _SINGULAR, _MOST_DENSE_ROWS = 12, 1e-11, 1000
"""Of Newton's method at singular positions: iterations, singular values that count as zero, rows."""
_LAW = Law.parse("relaxed")


@dataclass(frozen=True, eq=False)
class _Place:
    """The joint rows at a state, and the linear system of the bilateral ones."""

    rows: RowState
    system: JointSystem
    position: Floats
    quaternion: Floats

    def is_at(self, state: State) -> bool:
        """Whether the bodies are unchanged."""
        same = np.array_equal(self.position, state.position)
        return same and np.array_equal(self.quaternion, state.quaternion)


class RattleStep:
    """Does smooth steps of one length in place, on a system's state, without contacts."""

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

    def attempt(self, state: State, t: float, force: Floats, contacts: Contacts) -> StepResult | None:
        """Step from time t (s) with the forces (n, 6) there; None, with no change, if it is not smooth.

        It is not smooth where a contact or a limit is closed at the beginning or violated at the end, or
        if joints cannot be closed at the end.
        """
        if not self._mechanism.smooth or np.any(contacts.gap <= 0.0):
            return None
        before, turns = tuple(part.copy() for part in state), self._system.joints.memory()
        self._system.joints.run_on(self._system, self._step)
        outcome = self._step_from(state, t, force)
        if outcome is None or not self._apart(state, t, contacts):
            for part, old in zip(state, before, strict=True):
                part[:] = old
            self._system.joints.restore(turns)
            return None
        return outcome

    def _step_from(self, state: State, t: float, force: Floats) -> StepResult | None:
        bodies, h = self._bodies, self._step
        start = np.empty((len(bodies.mass), 6))
        kernels.step_velocity(bodies, state, start)
        half = start.copy()
        kernels.kick(bodies, state, force, 0.5 * h, half)
        flown = self._fly(state, t, half)
        if flown is None:
            return None
        end, half, impulses = flown
        kernels.take_velocity(bodies, state, end + half - start)  # for forces that depend on velocities
        kernels.kick(bodies, state, self._system.forces(t + h), 0.5 * h, end)
        return self._finish(state, t + h, end, impulses)

    def _fly(self, state: State, t: float, half: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Free flight to closed joints; returns the velocities at its end and its beginning, and λ.

        The impulses λ are found by Newton's method with the matrix of the beginning, which suffices except at
        singular positions.
        """
        bodies, mechanism, h = self._bodies, self._mechanism, self._step
        if len(self._chosen) == 0:
            end = half.copy()
            kernels.drift(bodies, state, end, h)
            kernels.set_rotations(state.quaternion, state.rotation)
            return end, half, np.zeros(0)
        place, chosen = self._place_at(state), self._chosen
        joints, rows = place.system.joints, place.rows.rows
        if joints is None:  # the factor of all joints would be too large
            return None
        number = joints.place.ravel()[place.system.problem.layout.slot]
        closed = CLOSED * max(1.0, float(np.abs(place.position[~bodies.fixed]).max(initial=0.0)))
        reached, rate = mechanism.table.offsets(t + h)[0], mechanism.table.offsets(t + 0.5 * h)[1]
        target = np.where(mechanism.on_position, reached, rate - rows.carried)
        flight = flight_kernels.Flight(
            chosen, mechanism.table.on_velocity[chosen], number, joints.root[number],
            rows.bodies[chosen], rows.rows[chosen], rows.columns[chosen], target[chosen],
        )  # fmt: skip
        half_given, end, rotation = half.copy(), np.empty_like(half), state.rotation.copy()
        impulses = np.empty(len(chosen))
        near = self._system.joints.angles
        if flight_kernels.fly(
            bodies,
            state,
            mechanism.table.rows,
            near,
            flight,
            joints.panels,
            joints.free,
            h,
            closed,
            half,
            end,
            impulses,
        ):
            return end, half, impulses
        state.position[:], state.quaternion[:] = place.position, place.quaternion
        state.rotation[:] = rotation
        return self._fly_through(state, flight, half_given, closed)

    def _fly_through(
        self, state: State, flight: flight_kernels.Flight, half: Floats, closed: float
    ) -> tuple[Floats, Floats, Floats] | None:
        """The same near a singular position, with the exact matrix G(q⁺)ᵀM⁻¹G(q) and least squares.

        There λ changes its sign from one step to the next, and the matrix changes with it.
        """
        if len(flight.chosen) > _MOST_DENSE_ROWS:
            return None
        bodies, mechanism, h = self._bodies, self._mechanism, self._step
        before = State(*(part.copy() for part in state))
        count, last, impulses = len(bodies.mass), np.inf, np.zeros(len(flight.chosen))
        columns = columns_matrix(flight.pairs, flight.columns, count).toarray()
        for _ in range(_ITERATIONS):
            end = half.copy()
            kernels.drift(bodies, state, end, h)
            kernels.set_rotations(state.quaternion, state.rotation)
            now = mechanism.at(state)
            error = np.empty(len(flight.chosen))
            worst = float(flight_kernels.errors(flight, now.value, half, h, error))
            if worst <= 0.01 * closed or (worst <= closed and worst >= 0.5 * last):
                return end, half, impulses
            last = worst
            for part, old in zip(state, before, strict=True):
                part[:] = old
            reached = now.rows.columns[self._chosen].copy()
            reached[flight.on_velocity] = flight.columns[flight.on_velocity]
            matrix = columns_matrix(flight.pairs, reached, count).toarray()
            change = np.linalg.lstsq(matrix.T @ columns, -error / h, rcond=_SINGULAR)[0]
            joint_kernels.add_impulses(flight.pairs, flight.columns, change, bodies, half)
            impulses += change
        return None

    def _place_at(self, state: State) -> _Place:
        """Joint rows at the beginning of the step: those of the end of the last step if nothing has moved."""
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

    def _finish(self, state: State, t: float, end: Floats, first: Floats) -> StepResult | None:
        """Project the velocities onto the joints at time t (s) at the end of the step; `first` is λ (b,)."""
        mechanism, bodies = self._mechanism, self._bodies
        momentum = np.empty_like(end)
        kernels.momentum_of(bodies, end, momentum)
        place, motion = None, Motion(momentum, end)
        if len(self._chosen):
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
        if mechanism.count:
            impulses = np.zeros(mechanism.count)
            impulses[self._bilateral] = first + solution.joint_impulses  # λ + μ: all impulses of the step
            rows = mechanism.at(state) if place is None else place.rows
            position, quaternion = state.position.copy(), state.quaternion.copy()
            outcome = JointOutcome(rows, impulses, self._step, self._bilateral, position, quaternion)
        self._place = place
        energy = float(kernels.kinetic_energy(bodies, end))
        work = float(kernels.kinetic_energy(bodies, velocity)) - energy
        return StepResult(
            solution, velocity, self._none, np.zeros((0, 3)), outcome, energy, joint_work=work, closed=True
        )

    def _apart(self, state: State, t: float, contacts: Contacts) -> bool:
        """Whether no contact overlaps and no limit is violated at the end of the step."""
        mechanism = self._mechanism
        if mechanism.limit.any():
            reached = mechanism.coordinates(mechanism.at(state), t + self._step)
            if np.any(reached[mechanism.limit] < 0.0):
                return False
        if len(contacts) == 0:
            return True
        return not np.any(self._detector.detect(state.position, state.quaternion).gap < 0.0)
