"""Smooth motion between two events: contacts keep their modes, and each mode is an equation.

A closed contact keeps γ̇_N = 0; one that sticks keeps γ̇_T = 0 as well, and one that slides has the friction
−μ λ_N along its sliding. So λ follows from G λ = −c, and u̇ is a smooth function of the state.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events.acceleration import AccelerationLevel, active_contact
from nonsmooth.events.enumeration import Mode, can_enumerate, margin_of
from nonsmooth.events.options import EventOptions
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics
from nonsmooth.solvers.solve import solve

Closed = dict[int, Floats | None]
"""For every closed contact by its index: the unit vector of its sliding; None where it sticks (or has
no friction)."""

OPEN, SLIDE, STICK = 0, 1, 2
"""Modes in tables and samples."""
_WORDS = {
    "gap": "the gap", "normal": "the normal force", "stick": "the friction", "slip": "the sliding speed",
    "margin": "the margin of the forces", "regular": "the determinant of G",
}  # fmt: skip
"""Monitored quantities in words."""
_SINGULAR = 1e-11
_FROZEN = 1e-7
"""Speed in m/s below which sliding in space keeps its direction, which would turn too fast to integrate."""
_POSITION_STEP, _VELOCITY_STEP = 1e-7, 1e-10
"""Finite differences in m (rad) and m/s (rad/s): far less than the slowest sliding speed."""
_SLOW = 1e-3
"""Speed in m/s below which sliding in space is integrated by an implicit method."""
_SAME = 1e-7
"""Relative difference of accelerations that agree up to the solver's tolerance."""


class NotFinite(ArithmeticError):
    """A monitored gap, force or speed is not a number."""


class State:
    """t, q, u, the energy dissipated in contacts, and the work of moving surfaces, both in J."""

    def __init__(self, t: float, q: Floats, u: Floats, dissipated: float = 0.0, work: float = 0.0) -> None:
        self.t, self.q, self.u = t, q, u
        self.dissipated, self.work = dissipated, work

    def __repr__(self) -> str:
        return (
            f"State(t={self.t!r}, q={self.q.tolist()}, u={self.u.tolist()}, dissipated={self.dissipated!r}, "
            f"work={self.work!r})"
        )

    @property
    def vector(self) -> Floats:
        """(q, u, dissipated, work), the integrator's vector of smooth motion."""
        return np.concatenate([self.q, self.u, [self.dissipated, self.work]])

    @classmethod
    def of(cls, t: float, vector: Floats, coordinates: int) -> State:
        """From the integrator's vector."""
        return cls(
            t,
            vector[:coordinates].copy(),
            vector[coordinates:-2].copy(),
            float(vector[-2]),
            float(vector[-1]),
        )


class SmoothMotion:
    """The system with each contact in a given mode."""

    def __init__(
        self, system: GeneralisedSystem, closed: Closed, start: State, options: EventOptions
    ) -> None:
        self.system, self.closed, self.options = system, dict(closed), options
        self.coordinates = len(start.q)
        self._frozen = {
            index
            for index, slip in self.closed.items()
            if slip is not None and (len(slip) == 1 or self._slip_speed(index, start) < _FROZEN)
        }
        self._redundant = False
        level = self.level(start.t, start.q, start.u)
        if len(level.drift):
            values = np.linalg.svd(level.matrix, compute_uv=False)
            self._redundant = bool(values[-1] <= _SINGULAR * values[0])
        self._sense = np.sign(self._determinant(level))
        acceleration, forces = self.accelerations(level)
        if not np.isfinite(acceleration).all():
            raise np.linalg.LinAlgError("accelerations are not finite")
        self._force_scale = float(np.abs(forces).max(initial=0.0)) or 1.0

    # ---- dynamics ---------------------------------------------------------------------------------

    def level(self, t: float, q: Floats, u: Floats) -> AccelerationLevel:
        """The closed contacts, each in its mode."""
        return self._level(t, q, u)[0]

    def _level(self, t: float, q: Floats, u: Floats) -> tuple[AccelerationLevel, list[Kinematics]]:
        places = [Kinematics(self.system, self.system.contacts[index], q, t) for index in self.closed]
        contacts = [
            active_contact(at, u, self.sliding(index, at, u))
            for index, at in zip(self.closed, places, strict=True)
        ]
        level = AccelerationLevel(self.system.mass_matrix(q), self.system.forces(q, u, t), contacts)
        return level, places

    def sliding(self, index: int, at: Kinematics, u: Floats) -> Floats | None:
        """Direction of sliding, continued smoothly where the velocity passes zero; None without sliding.

        In the plane, and where sliding in space has just begun, it is that at the start of this motion.
        """
        slip = self.closed[index]
        if slip is None or index in self._frozen:
            return slip
        velocity = at.velocity(u)[1:]
        size = float(np.linalg.norm(velocity))
        return slip if size == 0.0 else np.asarray(np.copysign(1.0, velocity @ slip) * velocity / size)

    def is_over(self, state: State) -> bool:
        """True if sliding in space has become so fast that its direction can no longer be held."""
        return any(
            slip is not None and len(slip) == 2 and self._slip_speed(index, state) > 2.0 * _FROZEN
            for index, slip in self.closed.items()
            if index in self._frozen
        )

    def accelerations(self, level: AccelerationLevel) -> tuple[Floats, Floats]:
        """u̇ and the unknown forces (rows,) with γ̇ = 0 in every row."""
        forces: Floats = np.zeros(0)
        if self._redundant:
            forces = np.asarray(np.linalg.lstsq(level.matrix, -level.constant, rcond=_SINGULAR)[0], float)
        elif len(level.drift):
            forces = np.asarray(np.linalg.solve(level.matrix, -level.constant), float)
        return level.acceleration(forces), forces

    def rates(self, t: float, vector: Floats) -> Floats:
        """d/dt of the vector of a state."""
        q, u = vector[: self.coordinates], vector[self.coordinates : -2]
        level, places = self._level(t, q, u)
        acceleration, forces = self.accelerations(level)
        lost = work = 0.0
        pushes = self.contact_forces(level, forces)
        for at, slip, force in zip(places, self.closed.values(), pushes, strict=True):
            if slip is not None:  # elsewhere γ = 0
                lost -= float(force[1:] @ at.velocity(u)[1:])
            work -= float(force @ at.surface[: len(force)])
        work += self.system.applied_power(q, u, t)
        return np.concatenate([self.system.rates(q, u), acceleration, [lost, work]])

    def slopes(self, t: float, vector: Floats) -> Floats:
        """Jacobian of `rates` by finite differences; energies have no influence."""
        size = len(vector)
        here, found = self.rates(t, vector), np.zeros((size, size))
        for k in range(size - 2):
            # the scale of sliding is its speed, and that of positions is the mechanism's
            step = _POSITION_STEP if k < self.coordinates else _VELOCITY_STEP
            beside = vector.copy()
            beside[k] += step
            found[:, k] = (self.rates(t, beside) - here) / step
        return found

    def is_stiff(self, state: State) -> bool:
        """True if a contact slides slowly in space: its direction then turns fast, as 1/|γ_T|."""
        return any(
            slip is not None and len(slip) == 2 and self._slip_speed(index, state) < _SLOW
            for index, slip in self.closed.items()
        )

    def _slip_speed(self, index: int, state: State) -> float:
        at = Kinematics(self.system, self.system.contacts[index], state.q, state.t)
        return float(np.linalg.norm(at.velocity(state.u)[1:]))

    def contact_forces(self, level: AccelerationLevel, forces: Floats) -> list[Floats]:
        """(λ_N, λ_T…) of each closed contact, from the unknowns."""
        found, at = [], 0
        for contact in level.contacts:
            own = forces[at : at + contact.rows]
            if contact.slip is not None:
                own = np.concatenate([own, -contact.friction * own[0] * contact.slip])
            found.append(own)
            at += contact.rows
        return found

    # ---- end of a mode ----------------------------------------------------------------------------

    @cached_property
    def watched(self) -> list[tuple[str, int]]:
        """Monitored quantities and their contacts: each is a number that must not become negative."""
        labels = [("gap", i) for i in range(len(self.system.contacts)) if i not in self.closed]
        if self._redundant:
            labels.append(("margin", -1))
        for index, slip in self.closed.items():
            if not self._redundant:
                labels.append(("normal", index))
                if slip is None and self.system.contacts[index].static_friction > 0.0:
                    labels.append(("stick", index))
            if slip is not None:
                labels.append(("slip", index))
        if any(slip is not None for slip in self.closed.values()) and not self._redundant:
            labels.append(("regular", -1))
        return labels

    def watch(self, t: float, vector: Floats) -> Floats:
        """The monitored numbers: gaps in m, forces relative to those at the start, sliding speeds in m/s."""
        q, u = vector[: self.coordinates], vector[self.coordinates : -2]
        values: dict[tuple[str, int], float] = {}
        if self.closed:
            level, places = self._level(t, q, u)
            _, unknowns = self.accelerations(level)
            if self._redundant:
                values["margin", -1] = self._margin(level)
            elif any(slip is not None for slip in self.closed.values()):
                values["regular", -1] = self._sense * self._determinant(level)
            pushes = self.contact_forces(level, unknowns)
            for index, at, force in zip(self.closed, places, pushes, strict=True):
                contact = at.contact
                values["normal", index] = force[0] / self._force_scale
                hold = contact.static_friction * force[0] - float(np.linalg.norm(force[1:]))
                values["stick", index] = hold / self._force_scale
                slip = self.closed[index]
                if slip is not None:
                    values["slip", index] = float(at.velocity(u)[1:] @ slip)
        for label, index in self.watched:
            if label == "gap":
                values["gap", index] = float(self.system.contacts[index].gap(q, t))
        for (label, index), value in values.items():
            if np.isnan(value):
                name = f" of contact {self.system.contacts[index].name!r}" if index >= 0 else ""
                raise NotFinite(f"{_WORDS[label]}{name} is not a number")
        return np.array([values[label] for label in self.watched])

    def opening_speed(self, index: int, t: float, vector: Floats) -> float:
        """γ_N of a contact in m/s."""
        q, u = vector[: self.coordinates], vector[self.coordinates : -2]
        return float(Kinematics(self.system, self.system.contacts[index], q, t).velocity(u)[0])

    def thresholds(self) -> Floats:
        """How far below zero each monitored number must be to count as an event."""
        size = {"gap": 1e-3 * self.options.gap_tolerance, "slip": 1e-3 * self.options.velocity_tolerance}
        return np.array([size.get(label, 1e-10) for label, _ in self.watched])

    @staticmethod
    def _determinant(level: AccelerationLevel) -> float:
        """det G, scaled by the diagonal of the same rows without sliding; 1 without contacts."""
        if not len(level.drift):
            return 1.0
        mobility = np.einsum("ij,ij->j", level.directions, np.linalg.solve(level.mass, level.directions))
        return float(np.linalg.det(level.matrix / np.sqrt(np.outer(mobility, mobility))))

    def _margin(self, level: AccelerationLevel) -> float:
        """If statics does not determine the forces: the largest possible margin inside their cones.

        With spatial friction, ±1: whether the inclusions have the same acceleration.
        """
        if can_enumerate(level):
            modes = tuple(Mode.STICK if each.has_friction_rows else Mode.SLIDE for each in level.contacts)
            return max(margin_of(level, modes), -1.0)
        held, _ = self.accelerations(level)
        found = level.acceleration(solve(level.problem, tolerance=1e-10, throw=False).impulses)
        scale = float(np.abs(level.constant).max()) or 1.0
        apart = float(np.abs(level.directions.T @ (found - held)).max())
        return 1.0 if apart <= _SAME * scale else -1.0
