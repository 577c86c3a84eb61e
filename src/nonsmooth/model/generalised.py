"""`GeneralisedSystem`: a mechanism in coordinates of the user's choice, with its gap functions.

    def bounce() -> GeneralisedSystem:
        floor = GapContact("floor", gap=lambda q, t: q[0], normal=lambda q, t: np.ones(1), restitution=0.8)
        return GeneralisedSystem(
            mass=np.eye(1), force=lambda q, u, t: np.array([-9.81]), contacts=[floor],
            potential=lambda q: 9.81 * q[0],
        )

    M(q) u̇ = h(q, u, t) + Σ W_i λ_i        q̇ = u, or `rate`

SI units. A contact's force λ acts along w_N (never negative) and W_T; its relative velocities are
γ_N = w_Nᵀu + ∂g/∂t and γ_T = W_Tᵀu + the velocity of the surface (a belt).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError

OfPlace = Callable[[Floats, float], Any]
"""f(q, t)"""
OfMotion = Callable[[Floats, Floats, float], Any]
"""f(q, u, t)"""

_STENCIL = ((1, 8.0), (2, -1.0))
"""Central difference of fourth order: Σ weight (f(+k s) − f(−k s)) / (12 s)."""
_REACH = 1e-3
"""Largest change of a coordinate in that difference, in its unit: errors of about 1e-13 for functions that
vary on a scale of one."""


@dataclass(frozen=True)
class GapContact:
    """A one-sided contact, with friction in one or two directions or without.

    Args:
        name: for messages, events and figures.
        gap: g(q, t) in m (rad for a limit stop), never negative where the motion is allowed.
        normal: w_N(q, t) (n,): the derivative of g along the velocities u.
        gap_rate: ∂g/∂t (q, t) in m/s; zero if not given.
        normal_drift: ζ_N(q, u, t) in m/s² with γ̇_N = w_Nᵀu̇ + ζ_N; by differences if not given.
        tangent: W_T(q, t) (n,) for friction in the plane or (n, 2) in space; required unless friction is 0.
        slip_rate: term added to W_Tᵀu for γ_T (q, t) in m/s: minus the speed of a belt; zero if not given.
        tangent_drift: ζ_T(q, u, t) in m/s² with γ̇_T = W_Tᵀu̇ + ζ_T; by differences if not given.
        friction: μ ≥ 0 of a contact that slides.
        sticking_friction: μ ≥ friction of a contact that sticks; the same as `friction` if not given.
        restitution: from 0 to 1, of the normal direction.
        tangential_restitution: from 0 to 1, under Newton's law of impact.
    """

    name: str
    _: KW_ONLY
    gap: OfPlace
    normal: OfPlace
    gap_rate: OfPlace | None = None
    normal_drift: OfMotion | None = None
    tangent: OfPlace | None = None
    slip_rate: OfPlace | None = None
    tangent_drift: OfMotion | None = None
    friction: float = 0.0
    sticking_friction: float | None = None
    restitution: float = 0.0
    tangential_restitution: float = 0.0

    def __post_init__(self) -> None:
        place = f"of contact {self.name!r}"
        for name in ("gap", "normal"):
            if not callable(getattr(self, name)):
                raise ProblemError(f"{name} {place} is {getattr(self, name)!r}: give a function of q and t")
        if not (math.isfinite(self.friction) and self.friction >= 0.0):
            raise ProblemError(f"friction {place} is {self.friction}: give a number, 0 or more")
        if self.sticking_friction is not None and not self.sticking_friction >= self.friction:
            raise ProblemError(
                f"sticking_friction {place} is {self.sticking_friction} and friction {self.friction}: a "
                "sticking contact holds at least as much as a sliding one; omit it if both are equal"
            )
        for name in ("restitution", "tangential_restitution"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise ProblemError(f"{name} {place} is {value}: give a number from 0 to 1")
        if self.friction > 0.0 and self.tangent is None:
            raise ProblemError(
                f"contact {self.name!r} has friction and no tangent: give W_T(q, t), or friction=0"
            )
        if self.tangent is None and (self.slip_rate is not None or self.tangent_drift is not None):
            raise ProblemError(
                f"contact {self.name!r} has slip_rate or tangent_drift and no tangent: give W_T"
            )

    @property
    def static_friction(self) -> float:
        """μ of the contact while it sticks."""
        return self.friction if self.sticking_friction is None else self.sticking_friction


@dataclass(frozen=True)
class GeneralisedSystem:
    """M(q) u̇ = h(q, u, t) + Σ W λ with unilateral contacts.

    Args:
        mass: M as an array (n, n), or M(q).
        force: h(q, u, t) (n,): all applied and gyroscopic forces.
        contacts: may be empty.
        rate: q̇(q, u) if it is not u, as for quaternions.
        potential: V(q) in J of the conservative part of h, for the energy balance.
        power: P(q, u, t) in W of all applied forces in h outside `potential`: dampers, motors.
    """

    mass: ArrayLike | Callable[[Floats], Any]
    force: OfMotion
    contacts: Sequence[GapContact] = ()
    _: KW_ONLY
    rate: Callable[[Floats, Floats], Any] | None = None
    potential: Callable[[Floats], float] | None = None
    power: OfMotion | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "contacts", tuple(self.contacts))
        names = [contact.name for contact in self.contacts]
        for name in names:
            if names.count(name) > 1:
                raise ProblemError(f"two contacts are named {name!r}: give different names")
        if not callable(self.mass):
            object.__setattr__(self, "mass", np.asarray(self.mass, dtype=float))

    def mass_matrix(self, q: Floats) -> Floats:
        """M(q) (n, n)."""
        found = self.mass(q) if callable(self.mass) else self.mass
        return np.asarray(found, dtype=float)

    def forces(self, q: Floats, u: Floats, t: float) -> Floats:
        """h(q, u, t) (n,)."""
        return np.asarray(self.force(q, u, t), dtype=float)

    def rates(self, q: Floats, u: Floats) -> Floats:
        """q̇."""
        return u if self.rate is None else np.asarray(self.rate(q, u), dtype=float)

    def kinetic_energy(self, q: Floats, u: Floats) -> float:
        """½ uᵀM u in J."""
        return float(0.5 * u @ (self.mass_matrix(q) @ u))

    def potential_energy(self, q: Floats) -> float:
        """V(q) in J; zero if none is given."""
        return 0.0 if self.potential is None else float(self.potential(q))

    def applied_power(self, q: Floats, u: Floats, t: float) -> float:
        """P(q, u, t) in W; zero if none is given."""
        return 0.0 if self.power is None else float(self.power(q, u, t))


class Kinematics:
    """One contact of a system in one state: gap, directions, and velocity of the other side.

    `directions` is [w_N W_T] (n, 1 + d) with d = 0, 1 or 2; `surface` is the contribution of the other side
    to (γ_N, γ_T), that is (∂g/∂t, slip rate) in m/s.
    """

    __slots__ = ("_q", "_system", "_t", "contact", "directions", "surface")

    def __init__(self, system: GeneralisedSystem, contact: GapContact, q: Floats, t: float) -> None:
        self._system, self.contact, self._q, self._t = system, contact, q, t
        normal = np.asarray(contact.normal(q, t), dtype=float).reshape(-1, 1)
        if contact.tangent is None:
            self.directions = normal
        else:
            tangent = np.asarray(contact.tangent(q, t), dtype=float)
            self.directions = np.hstack([normal, tangent.reshape(len(tangent), -1)])
        self.surface: Floats = np.zeros(self.directions.shape[1])
        if contact.gap_rate is not None:
            self.surface[0] = contact.gap_rate(q, t)
        if contact.slip_rate is not None:
            self.surface[1:] = contact.slip_rate(q, t)

    @property
    def gap(self) -> float:
        """g in m."""
        return float(self.contact.gap(self._q, self._t))

    @property
    def normal(self) -> Floats:
        """w_N (n,)."""
        return self.directions[:, 0]

    @property
    def tangent(self) -> Floats:
        """W_T (n, d)."""
        return self.directions[:, 1:]

    def velocity(self, u: Floats) -> Floats:
        """(γ_N, γ_T) in m/s."""
        return np.asarray(self.directions.T @ u + self.surface)

    def drift(self, u: Floats) -> Floats:
        """(ζ_N, ζ_T) in m/s², so that the acceleration is [w_N W_T]ᵀu̇ plus this."""
        contact, q, t = self.contact, self._q, self._t
        friction = contact.tangent is not None
        if contact.normal_drift is not None and (contact.tangent_drift is not None or not friction):
            normal = float(contact.normal_drift(q, u, t))
            if not friction:
                return np.array([normal])
            assert contact.tangent_drift is not None
            return np.concatenate([[normal], np.asarray(contact.tangent_drift(q, u, t), float).ravel()])
        found = self._drift_by_differences(u)
        if contact.normal_drift is not None:
            found[0] = float(contact.normal_drift(q, u, t))
        if contact.tangent_drift is not None:
            found[1:] = np.asarray(contact.tangent_drift(q, u, t), dtype=float).ravel()
        return found

    def _drift_by_differences(self, u: Floats) -> Floats:
        """d/ds of γ(q + s q̇, t + s; u) at s = 0."""
        rate = self._system.rates(self._q, u)
        step = _REACH / max(1.0, float(np.abs(rate).max(initial=0.0)))

        def velocity(s: float) -> Floats:
            place = Kinematics(self._system, self.contact, self._q + s * rate, self._t + s)
            return place.velocity(u)

        total = sum(w * (velocity(k * step) - velocity(-k * step)) for k, w in _STENCIL)
        return np.asarray(total) / (12.0 * step)


def check_derivatives(
    system: GeneralisedSystem, q: ArrayLike, u: ArrayLike, t: float = 0.0, *, tolerance: float = 1e-6
) -> None:
    """Raise `ProblemError` if a contact's derivatives are not those of its gap, by finite differences.

    Compares γ_N = w_Nᵀu + ∂g/∂t with dg/dt along the motion, each component of w_N with the derivative of g
    along it, and ζ_N, ζ_T with differences of γ. Call it in a few states of the motion, with nonzero
    velocities.

    Args:
        system: the system to check.
        q: coordinates.
        u: velocities.
        t: time in s.
        tolerance: largest difference, relative to the size of the terms.
    """
    place, speed = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
    for contact in system.contacts:
        check_gap_derivatives(system, contact, place, speed, t, tolerance)
        at = Kinematics(system, contact, place, t)
        numeric = at._drift_by_differences(speed)
        given = at.drift(speed)
        scale = float(speed @ speed) + float(np.abs(numeric).max(initial=0.0))
        _compare(contact, "normal_drift", given[:1], numeric[:1], tolerance, scale)
        _compare(contact, "tangent_drift", given[1:], numeric[1:], tolerance, scale)


def check_gap_derivatives(
    system: GeneralisedSystem, contact: GapContact, q: Floats, u: Floats, t: float, tolerance: float
) -> None:
    """Raise `ProblemError` if w_N or ∂g/∂t of a contact is not the derivative of its gap."""
    at = Kinematics(system, contact, q, t)
    _compare(contact, "normal", at.normal, _gap_gradient(system, contact, q, u, t), tolerance)
    rate = _along(partial(_gap_later, contact, q, t), 1.0)
    _compare(contact, "gap_rate", at.surface[:1], np.array([rate]), tolerance)


def _gap_gradient(system: GeneralisedSystem, contact: GapContact, q: Floats, u: Floats, t: float) -> Floats:
    """Derivative of g along every velocity, by differences along the rate of its unit vector."""
    found = np.empty(len(u))
    for k in range(len(u)):
        unit = np.zeros(len(u))
        unit[k] = 1.0
        rate = system.rates(q, unit)
        size = max(1.0, float(np.abs(rate).max()))
        found[k] = _along(partial(_gap_beside, contact, q, rate, t), size)
    return found


def _gap_later(contact: GapContact, q: Floats, t: float, s: float) -> Any:
    return contact.gap(q, t + s)


def _gap_beside(contact: GapContact, q: Floats, rate: Floats, t: float, s: float) -> Any:
    return contact.gap(q + s * rate, t)


def _along(function: Callable[[float], Any], size: float) -> float:
    """df/ds at s = 0."""
    step = _REACH / size
    total = sum(w * (float(function(k * step)) - float(function(-k * step))) for k, w in _STENCIL)
    return float(total / (12.0 * step))


def _compare(
    contact: GapContact, name: str, given: Floats, numeric: Floats, tolerance: float, scale: float = 1.0
) -> None:
    size = max(scale, float(np.abs(numeric).max(initial=0.0)))
    wrong = np.abs(given - numeric) > tolerance * size
    if given.shape != numeric.shape or wrong.any():
        raise ProblemError(
            f"{name} of contact {contact.name!r} is {np.round(given, 9).tolist()} and differences give "
            f"{np.round(numeric, 9).tolist()}: correct the function, or omit a drift"
        )
