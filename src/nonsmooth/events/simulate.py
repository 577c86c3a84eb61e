"""`simulate_events`: smooth motion of high order between events that are located to rounding.

One iteration: impacts, if anything approaches; then the inclusions on acceleration level decide which
contacts open, stick and slide; then smooth motion in these modes, until a gap closes, a normal force
vanishes, friction reaches its limit or sliding stops.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853, Radau

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import overridden
from nonsmooth._support.progress import Progress
from nonsmooth.errors import OptionError
from nonsmooth.events.accumulation import ImpactRhythm
from nonsmooth.events.changes import changes
from nonsmooth.events.decide import decide
from nonsmooth.events.impacts import Collision, Impact
from nonsmooth.events.locate import Crossing, first_crossing
from nonsmooth.events.options import EventOptions, EventOverrides
from nonsmooth.events.projection import project
from nonsmooth.events.run import Event, EventCertificate, EventError, EventKind, EventRun, Piece
from nonsmooth.events.smooth import Closed, NotFinite, SmoothMotion, State
from nonsmooth.events.start import check_start
from nonsmooth.iteration.status import Status
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics

_PARTS = 1000
"""Number of parts of the duration for progress."""
_TOUCH = 1e-3
"""Fraction of the gap tolerance within which a contact that was open counts as touching."""
_DRIFT = 1e-11
"""Drift in m or m/s of a closed contact at which smooth motion is interrupted to correct it."""
_MOST_SHORT = 50
"""Consecutive steps of no duration after which smooth motion counts as stuck."""
_NO_TIME = 1e-13
"""Duration in s that counts as zero, relative to the time itself if that is longer than 1 s."""


def simulate_events(
    system: GeneralisedSystem,
    q: ArrayLike,
    u: ArrayLike,
    *,
    duration: float,
    time: float = 0.0,
    options: EventOptions | None = None,
    progress: Progress | None = None,
    throw: bool = False,
    **overrides: Unpack[EventOverrides],
) -> EventRun:
    """Simulate a system with few contacts from event to event.

    Args:
        system: in generalised coordinates, with its gap functions.
        q: initial coordinates; no contact may overlap.
        u: initial velocities; a contact that is closed and approaches causes an impact at once.
        duration: in s.
        time: initial time in s.
        options: options of event location; the fields of `EventOptions` are keywords of this call as well,
            such as impact="poisson" or relative=1e-10.
        progress: called as progress(done, total, what).
        throw: raise `EventError`, which has the run, if the simulation cannot continue. The default returns
            the results up to then, with the reason in `status` and `message`: that the laws have no solution
            (Painlevé's paradox), or infinitely many events, is often the result of interest.
        **overrides: fields of `EventOptions` that replace those of `options`.
    """
    settings = overridden("simulate_events", EventOptions, options, overrides)
    try:
        lasts = bool(0.0 < duration < np.inf)
    except TypeError:
        lasts = False
    if not lasts:
        raise OptionError(f"duration is {duration}: give seconds, more than 0")
    start = State(time, np.array(q, dtype=float), np.array(u, dtype=float))
    check_start(system, start, settings)
    run = _Simulation(system, start, time + duration, settings, progress).run(throw)
    if throw and run.status is not Status.DONE:
        raise EventError(run)
    return run


class _Stop(Exception):
    """Ends a simulation that cannot continue."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class _Simulation:
    def __init__(
        self,
        system: GeneralisedSystem,
        start: State,
        end: float,
        options: EventOptions,
        progress: Progress | None,
    ) -> None:
        self.system, self.options, self.progress = system, options, progress
        self.start, self.state, self.end = start, start, end
        self.longest_look = (end - start.t) / options.looks
        self.events: list[Event] = []
        self.pieces: list[Piece] = []
        self.rhythm = ImpactRhythm()
        gaps = [float(contact.gap(start.q, start.t)) for contact in system.contacts]
        self.touching = {i for i, gap in enumerate(gaps) if gap <= options.gap_tolerance}
        self.stopped: set[int] = set()
        """Contacts whose sliding has just stopped."""
        self.previous: SmoothMotion | None = None
        self.at_limit = False
        """True if smooth motion ended because a force reached its limit."""
        self.at_once, self.last_time, self.short_steps = 0, -np.inf, 0
        self.penetration = self.drift = self.residual = 0.0
        self.energy_error = 0.0
        self.energy_scale = system.kinetic_energy(start.q, start.u)
        self.total = self._total(start)

    # ---- main loop ----------------------------------------------------------------------------------

    def run(self, throw: bool) -> EventRun:
        status, message = Status.DONE, ""
        try:
            while self.state.t < self.end:
                self._guard()
                if self._approaching():
                    self._collide()
                else:
                    self._move(self._decide())
        except _Stop as stop:
            status, message = stop.status, stop.message
        except KeyboardInterrupt:
            if throw:
                raise
            status, message = Status.INTERRUPTED, f"stopped by the user at t = {self.state.t:.9g} s"
        certificate = EventCertificate(
            self.energy_error if self.system.potential is not None else np.nan,
            self.energy_scale,
            self.penetration,
            self.drift,
            self.residual,
        )
        return EventRun(
            self.system, status, message, tuple(self.events), certificate, self.state, self.start,
            tuple(self.pieces),
        )  # fmt: skip

    def _guard(self) -> None:
        """Count events that occur without time passing, and stop if there are too many."""
        passed = self.state.t - self.last_time > _NO_TIME * max(1.0, abs(self.state.t))
        self.at_once = 0 if passed else self.at_once + 1
        self.last_time = self.state.t
        where = f"at t = {self.state.t:.9g} s; the last ones: {self._last_events()}"
        if self.at_once > self.options.max_events_at_once:
            raise _Stop(
                Status.EVENT_LIMIT,
                f"{self.options.max_events_at_once} decisions without time passing {where} "
                "(check_derivatives reports whether a contact's functions are inconsistent)",
            )
        if len(self.events) >= self.options.max_events:
            raise _Stop(Status.EVENT_LIMIT, f"max_events = {self.options.max_events} reached {where}")

    def _last_events(self) -> str:
        return "; ".join(f"{each.kind} of {', '.join(each.contacts)}" for each in self.events[-3:]) or "none"

    def _tell(self) -> None:
        if self.progress is not None:
            done = int(_PARTS * (self.state.t - self.start.t) / (self.end - self.start.t))
            self.progress(min(done, _PARTS), _PARTS, f"t = {self.state.t:.4g} s, {len(self.events)} events")

    def _note(
        self, kind: EventKind, contacts: list[int], *, time: float | None = None, impulses: Any = ()
    ) -> None:
        names = tuple(self.system.contacts[i].name for i in contacts)
        moment = float(self.state.t if time is None else time)
        self.events.append(Event(moment, kind, names, tuple(impulses)))

    # ---- impacts ------------------------------------------------------------------------------------

    def _place(self, index: int) -> Kinematics:
        return Kinematics(self.system, self.system.contacts[index], self.state.q, self.state.t)

    def _approaching(self) -> list[int]:
        limit = -self.options.velocity_tolerance
        self.touching |= {
            i
            for i in range(len(self.system.contacts))
            if self._place(i).gap <= _TOUCH * self.options.gap_tolerance
        }
        return [i for i in self.touching if self._place(i).velocity(self.state.u)[0] < limit]

    def _collide(self) -> None:
        contacts = sorted(self.touching)
        hit = self._approaching()
        collision = Collision(self.system, self.state, contacts)
        impact = collision.resolve(self.options.impact)
        shares = dict(zip(contacts, impact.impulses, strict=True))
        self._apply(impact)
        self._note(EventKind.IMPACT, hit, impulses=[shares[i] for i in hit])
        self.rhythm.note(self.state.t, max(-collision.before[contacts.index(i)][0] for i in hit), hit)
        if not self._pass_chatter(contacts):
            self._pass_accumulation(contacts)
        self.previous, self.at_limit, self.stopped = None, False, set()
        leaving = self.options.velocity_tolerance
        self.touching = {i for i in contacts if self._place(i).velocity(self.state.u)[0] <= leaving}

    def _apply(self, impact: Impact) -> None:
        state = self.state
        self.residual = max(self.residual, impact.residual)
        self.state = State(
            state.t, state.q, impact.velocity, state.dissipated + impact.dissipated, state.work + impact.work
        )
        self._weigh()

    def _pass_chatter(self, contacts: list[int]) -> bool:
        """Hold contacts that hit in turn with no time left for all further impacts; True if so."""
        near = max(self.options.gap_tolerance, self.rhythm.reach)
        chattering = {i for i in self.rhythm.chatter() if self._place(i).gap <= near}
        if not chattering:
            return False
        every = sorted(chattering | set(contacts))
        self._apply(Collision(self.system, self.state, every).hold())
        self._note(EventKind.ACCUMULATION, sorted(chattering))
        contacts[:] = every
        self.rhythm = ImpactRhythm()
        return True

    def _pass_accumulation(self, contacts: list[int]) -> None:
        """After an impact: if all further bounces are too low to matter, hold the contacts at once."""
        free = np.linalg.solve(
            self.system.mass_matrix(self.state.q),
            self.system.forces(self.state.q, self.state.u, self.state.t),
        )
        rising, longest = [], 0.0
        for i in contacts:
            at = self._place(i)
            speed = at.velocity(self.state.u)[0]
            if speed > self.options.velocity_tolerance:
                pull = -float(at.normal @ free + at.drift(self.state.u)[0])
                if pull <= 0.0 or speed**2 / (2.0 * pull) > self.options.accumulation_gap:
                    return
                rising.append(i)
                longest = max(longest, 2.0 * speed / pull)
        if not rising:
            return
        restitution = max(self.system.contacts[i].restitution for i in rising)
        rest = self.rhythm.time_to_rest(longest, restitution)
        if rest is None:
            return
        self._apply(Collision(self.system, self.state, contacts).hold())
        self._note(EventKind.ACCUMULATION, rising, time=self.state.t + rest)

    # ---- decisions ----------------------------------------------------------------------------------

    def _decide(self) -> Closed:
        before = None if self.previous is None else self.previous.closed
        if self.at_limit and self.previous is not None:
            # a force is on its limit: a moment later it is past it, and the decision is unambiguous
            state = self._moment_later(self.previous)
            candidates = {
                i: self.previous.sliding(
                    i, Kinematics(self.system, self.system.contacts[i], state.q, state.t), state.u
                )
                for i in self.previous.closed
            }
        else:
            state, candidates = self.state, self._candidates()
        decision = decide(self.system, state, candidates, before)
        self.residual = max(self.residual, decision.residual)
        if decision.closed is None:
            return self._jump(sorted(candidates), decision.paradoxical)
        if decision.several:
            self._note(EventKind.INDETERMINATE, sorted(candidates))
        for kind, index in changes(self.system.contacts, before, decision.closed, candidates):
            self._note(kind, [index])
        self.touching = set(decision.closed)
        self.at_limit, self.stopped = False, set()
        return decision.closed

    def _moment_later(self, motion: SmoothMotion) -> State:
        """The state a moment after an event with the modes unchanged: one step of the midpoint rule."""
        t, vector, step = self.state.t, self.state.vector, self.options.look_ahead
        middle = vector + 0.5 * step * motion.rates(t, vector)
        return State.of(t + step, vector + step * motion.rates(t + 0.5 * step, middle), motion.coordinates)

    def _candidates(self) -> Closed:
        """P_N with the sliding directions; None in P_T."""
        found: Closed = {}
        limit = self.options.velocity_tolerance
        for i in sorted(self.touching):
            velocity = self._place(i).velocity(self.state.u)
            if velocity[0] > limit:
                continue
            size = float(np.linalg.norm(velocity[1:]))
            rests = i in self.stopped or size <= limit or self.system.contacts[i].static_friction == 0.0
            found[i] = None if rests else velocity[1:] / size
        return found

    def _jump(self, contacts: list[int], paradoxical: tuple[int, ...]) -> Closed:
        """Without a solution for accelerations: an impact without collision, then decide again."""
        names = ", ".join(repr(self.system.contacts[contacts[k]].name) for k in paradoxical)
        impact = None
        if paradoxical:
            impact = Collision(self.system, self.state, contacts).without_approach(paradoxical)
        if impact is None or not np.abs(impact.velocity - self.state.u).max() > 0.0:
            raise _Stop(
                Status.NO_SOLUTION,
                f"contact {names or 'forces'} has no acceleration that obeys the contact laws at "
                f"t = {self.state.t:.9g} s, and no impact without collision either",
            )
        self._apply(impact)
        self._note(
            EventKind.IMPACT_WITHOUT_COLLISION, [contacts[k] for k in paradoxical],
            impulses=[impact.impulses[k] for k in paradoxical],
        )  # fmt: skip
        self._guard()
        self.previous, self.at_limit, self.stopped = None, False, set()
        if self._approaching():
            self._collide()
        return self._decide()

    # ---- smooth motion ------------------------------------------------------------------------------

    def _move(self, closed: Closed) -> None:
        self.state = project(self.system, self.state, closed)
        try:
            motion = SmoothMotion(self.system, closed, self.state, self.options)
        except np.linalg.LinAlgError:
            raise self._failure(
                self.state.t, "accelerations are not finite, or a matrix is singular"
            ) from None
        self.previous = motion
        stiff = motion.is_stiff(self.state)
        solver = self._solver(motion, self.state.t, self.state.vector, self.end, stiff)
        while solver.status == "running":
            before = (solver.t, solver.y.copy())
            self._step(solver)
            dense = solver.dense_output()
            try:
                found = first_crossing(motion, dense, before[0], solver.t, self.longest_look)
            except NotFinite as error:
                raise self._failure(solver.t, str(error)) from None
            if found is not None:
                self._finish(motion, before, found, stiff)
                return
            self._keep(motion, before[0], solver.t, dense, solver.y)
            if self._drifts(motion) or motion.is_over(self.state):
                return
            if stiff and not motion.is_stiff(self.state):
                return

    def _solver(self, motion: SmoothMotion, t: float, vector: Floats, end: float, stiff: bool) -> Any:
        given = self.options
        how = {"rtol": given.relative, "atol": given.absolute, "max_step": given.max_step}
        if stiff:
            return Radau(motion.rates, t, vector, end, jac=motion.slopes, **how)
        return DOP853(motion.rates, t, vector, end, **how)

    def _step(self, solver: Any) -> None:
        try:
            message = solver.step()
        except np.linalg.LinAlgError:
            message = "a mass matrix or the contacts' matrix became singular"
        shortest = _NO_TIME * max(1.0, abs(solver.t))
        self.short_steps = self.short_steps + 1 if (solver.step_size or 1.0) < shortest else 0
        if self.short_steps > _MOST_SHORT:
            message = f"{_MOST_SHORT} steps of less than {shortest:.0e} s each"
        if solver.status == "failed" or message:
            raise self._failure(solver.t, str(message))

    @staticmethod
    def _failure(t: float, message: str) -> _Stop:
        return _Stop(
            Status.STEP_FAILED,
            f"smooth motion stopped at t = {t:.9g} s: {message}; the motion has no smooth continuation there "
            "(forces that grow without bound, or functions that return no number?)",
        )

    def _keep(self, motion: SmoothMotion, begin: float, end: float, dense: Any, vector: Floats) -> None:
        self.pieces.append(Piece(begin, end, motion, dense))
        self.state = State.of(end, vector, motion.coordinates)
        self._weigh()
        self._tell()

    def _finish(
        self, motion: SmoothMotion, before: tuple[float, Floats], found: Crossing, stiff: bool
    ) -> None:
        """Integrate again up to the event itself, which is more accurate than interpolation."""
        begin, vector = before
        if found.time > begin:
            solver = self._solver(motion, begin, vector, found.time, stiff)
            while solver.status == "running":
                at = solver.t
                self._step(solver)
                self._keep(motion, at, solver.t, solver.dense_output(), solver.y)
        self.at_limit = not any(label in ("gap", "slip") for label, _ in found.labels)
        for label, index in found.labels:
            if label == "gap":
                self.touching.add(index)
            elif label == "slip":
                self.stopped.add(index)
        self._drifts(motion)

    def _drifts(self, motion: SmoothMotion) -> bool:
        """Measure how far closed contacts have drifted from their modes; True if too far."""
        worst = 0.0
        for i, slip in motion.closed.items():
            at = self._place(i)
            velocity = at.velocity(self.state.u)
            self.penetration = max(self.penetration, -at.gap)
            sticks = slip is None and self.system.contacts[i].static_friction > 0.0
            forbidden = float(np.abs(velocity if sticks else velocity[:1]).max())
            self.drift = max(self.drift, forbidden)
            worst = max(worst, abs(at.gap), forbidden)
        return worst > _DRIFT

    # ---- energy -------------------------------------------------------------------------------------

    def _total(self, state: State) -> float:
        system = self.system
        return (
            system.kinetic_energy(state.q, state.u)
            + system.potential_energy(state.q)
            + state.dissipated
            - state.work
        )

    def _weigh(self) -> None:
        self.energy_scale = max(self.energy_scale, self.system.kinetic_energy(self.state.q, self.state.u))
        error = abs(self._total(self.state) - self.total)
        self.energy_error = float(np.maximum(self.energy_error, error))  # propagates NaN
