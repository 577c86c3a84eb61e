"""What an event-driven simulation returns: events, motion at any time, energies and a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.errors import NonsmoothError, OptionError
from nonsmooth.events.smooth import SLIDE, STICK, SmoothMotion, State
from nonsmooth.iteration.status import Status
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics


class EventKind(StrEnum):
    """Kinds of events."""

    IMPACT = "impact"
    CLOSING = "closing"
    OPENING = "opening"
    SLIP = "slip"
    STICK = "stick"
    REVERSAL = "reversal"
    ACCUMULATION = "accumulation"
    IMPACT_WITHOUT_COLLISION = "impact without collision"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True)
class Event:
    """Something that happened at a time (s) at one or more contacts, by name."""

    time: float
    kind: EventKind
    contacts: tuple[str, ...]
    impulses: tuple[Floats, ...] = ()
    """Of impacts: (Λ_N, Λ_T…) of each contact in N·s."""


@dataclass(frozen=True)
class Piece:
    """One step of smooth motion, with an interpolant of the state's vector."""

    begin: float
    end: float
    motion: SmoothMotion
    dense: Callable[[float], Floats]


@dataclass(frozen=True)
class Samples:
    """The motion at given times; at an event, the values after it."""

    time: Floats
    q: Floats
    """(times, coordinates)"""
    u: Floats
    """(times, velocities)"""
    modes: Integers
    """(times, contacts): 0 open, 1 closed and sliding or without friction, 2 sticking."""
    forces: tuple[Floats, ...]
    """(times, 1 + d) in N for each contact: (λ_N, λ_T…)."""


@dataclass(frozen=True)
class Energies:
    """Energies in J at given times."""

    time: Floats
    kinetic: Floats
    potential: Floats
    dissipated: Floats
    """Dissipated by friction and impacts since the start."""
    work: Floats
    """Work of moving surfaces and of `power` since the start."""

    @property
    def balance(self) -> Floats:
        """Kinetic + potential + dissipated − work: a constant."""
        return self.kinetic + self.potential + self.dissipated - self.work


@dataclass(frozen=True)
class EventCertificate:
    """Accuracy of a simulation."""

    energy_error: float
    """Largest change of kinetic + potential + dissipated − work, in J; NaN without a potential."""
    energy_scale: float
    """Largest kinetic energy, in J."""
    penetration: float
    """Largest overlap of any contact, in m."""
    drift: float
    """Largest velocity at a contact that its mode forbids, in m/s, before correction."""
    residual: float
    """Largest relative residual of the inclusions of impacts and accelerations."""

    def holds(self, tolerance: float) -> bool:
        """Whether the inclusions were solved to a relative `tolerance`."""
        return self.residual <= tolerance

    def __str__(self) -> str:
        balance = f"energy balance to {self.energy_error:.1e} J of {self.energy_scale:.3g} J"
        if math.isnan(self.energy_error):
            balance = "energy balance unknown, as the system has no potential"
        return (
            f"{balance}, overlap "
            f"{self.penetration:.1e} m, drift {self.drift:.1e} m/s, inclusions to {self.residual:.1e}"
        )


@dataclass(frozen=True)
class EventRun:
    """The result of `simulate_events`."""

    system: GeneralisedSystem
    status: Status
    """DONE, or why the simulation ended early; `status.sentence` describes it in words."""
    message: str
    """Where and why it ended; empty if it is done."""
    events: tuple[Event, ...]
    certificate: EventCertificate
    final: State
    start: State
    pieces: tuple[Piece, ...]

    def __repr__(self) -> str:
        return (
            f"EventRun({self.status}, t = {self.start.t:g} to {self.final.t:g} s, "
            f"{len(self.events)} events, {self.certificate})"
        )

    def times(self, kind: EventKind | str | None = None, contact: str | None = None) -> Floats:
        """Times (s) of all events, or of those of one kind or at one contact."""
        if kind is not None and kind not in list(EventKind):
            raise OptionError(f"no kind of event is called {kind!r}: choose one of {', '.join(EventKind)}")
        if contact is not None and contact not in {each.name for each in self.system.contacts}:
            names = ", ".join(repr(each.name) for each in self.system.contacts)
            raise OptionError(f"no contact is called {contact!r}: choose one of {names}")
        return np.array(
            [
                each.time
                for each in self.events
                if (kind is None or each.kind == kind) and (contact is None or contact in each.contacts)
            ]
        )

    def sample(self, times: ArrayLike) -> Samples:
        """The motion at given times (s), with contact forces."""
        when = np.atleast_1d(np.asarray(times, dtype=float))
        n, m = len(self.start.q), len(self.start.u)
        q, u = np.empty((len(when), n)), np.empty((len(when), m))
        contacts = self.system.contacts
        modes = np.zeros((len(when), len(contacts)), dtype=np.int64)
        forces = []
        for contact in contacts:
            width = Kinematics(self.system, contact, self.start.q, self.start.t).directions.shape[1]
            forces.append(np.zeros((len(when), width)))
        for k, t in enumerate(when):
            piece, vector = self._at(float(t))
            q[k], u[k] = vector[:n], vector[n:-2]
            if piece is None or not piece.motion.closed:
                continue
            motion = piece.motion
            level = motion.level(float(t), q[k], u[k])
            _, unknowns = motion.accelerations(level)
            for index, own in zip(motion.closed, motion.contact_forces(level, unknowns), strict=True):
                forces[index][k, : len(own)] = own
                sticks = motion.closed[index] is None and contacts[index].static_friction > 0.0
                modes[k, index] = STICK if sticks else SLIDE
        return Samples(when, q, u, modes, tuple(forces))

    def energy(self, times: ArrayLike) -> Energies:
        """Energies at given times (s)."""
        when = np.atleast_1d(np.asarray(times, dtype=float))
        n = len(self.start.q)
        rows = np.empty((len(when), 4))
        for k, t in enumerate(when):
            vector = self._at(float(t))[1]
            q, u = vector[:n], vector[n:-2]
            rows[k] = (
                self.system.kinetic_energy(q, u), self.system.potential_energy(q), vector[-2], vector[-1],
            )  # fmt: skip
        return Energies(when, *rows.T)

    def _at(self, t: float) -> tuple[Piece | None, Floats]:
        """The piece that contains a time, and the vector of the state there."""
        if not self.start.t <= t <= self.final.t:
            raise OptionError(
                f"time {t:g} s is outside of the simulation, which spans {self.start.t:g} s to "
                f"{self.final.t:g} s"
            )
        ends = self._ends
        k = int(np.searchsorted(ends, t, side="right"))
        if k == len(ends) or t == self.final.t:
            return (self.pieces[-1] if self.pieces else None), self.final.vector
        return self.pieces[k], self.pieces[k].dense(t)

    @property
    def _ends(self) -> Floats:
        found = self.__dict__.get("_known_ends")
        if found is None:
            found = np.array([piece.end for piece in self.pieces])
            self.__dict__["_known_ends"] = found
        return np.asarray(found)


class EventError(NonsmoothError):
    """Raised on request where a simulation cannot continue; `run` has the results up to then."""

    def __init__(self, run: EventRun) -> None:
        super().__init__(f"{run.status} at t = {run.final.t:.9g} s: {run.message}")
        self.run = run
