"""The next mode of each closed contact, from the inclusions on acceleration level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nonsmooth.errors import ProblemError
from nonsmooth.events.acceleration import AccelerationLevel, ActiveContact, active_contact
from nonsmooth.events.enumeration import SIGN, Mode, ModeSolution, all_solutions, can_enumerate
from nonsmooth.events.smooth import Closed, State
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics
from nonsmooth.solvers.solve import solve

_TOLERANCE = 1e-12
_GOOD_ENOUGH = 1e-8
"""Largest relative residual of inclusions that counts as solved."""


@dataclass(frozen=True)
class Decision:
    """The contacts that stay closed; None if accelerations have no solution."""

    closed: Closed | None
    several: bool = False
    """True if accelerations have more than one solution, of which one was chosen."""
    paradoxical: tuple[int, ...] = ()
    """Without a solution: the sliding contacts that no normal force can hold."""
    residual: float = 0.0


def decide(
    system: GeneralisedSystem, state: State, candidates: Closed, previous: Closed | None = None
) -> Decision:
    """Return the next modes; `candidates` are the contacts of P_N with their sliding directions.

    Of several solutions the one that changes the fewest contacts of `previous` is chosen.
    """
    if not candidates:
        return Decision({})
    contacts = []
    for index, slip in candidates.items():
        at = Kinematics(system, system.contacts[index], state.q, state.t)
        contacts.append(active_contact(at, state.u, slip))
    level = AccelerationLevel(system.mass_matrix(state.q), system.forces(state.q, state.u, state.t), contacts)
    if can_enumerate(level):
        return _by_enumeration(level, candidates, previous)
    return _by_solver(level, candidates)


def _by_enumeration(level: AccelerationLevel, candidates: Closed, previous: Closed | None) -> Decision:
    found = _prefer_sticking(level, all_solutions(level))
    if not found:
        return Decision(None, paradoxical=_paradoxical(level))
    answers = [_closed_of(level, candidates, each.modes) for each in found]
    best = 0
    if previous is not None and len(found) > 1:
        best = min(range(len(found)), key=lambda k: _changes(answers[k], previous))
    return Decision(answers[best], several=len(found) > 1, residual=max(0.0, -found[best].margin))


def _prefer_sticking(level: AccelerationLevel, found: list[ModeSolution]) -> list[ModeSolution]:
    """A contact with more friction in sticking than in sliding begins to slide only if it cannot stick."""
    for k, contact in enumerate(level.contacts):
        if contact.sticking_friction > contact.friction and any(s.modes[k] is Mode.STICK for s in found):
            found = [each for each in found if each.modes[k] not in SIGN]
    return found


def _closed_of(level: AccelerationLevel, candidates: Closed, modes: tuple[Mode, ...]) -> Closed:
    closed: Closed = {}
    for (index, _), contact, mode in zip(candidates.items(), level.contacts, modes, strict=True):
        if mode in SIGN:
            closed[index] = np.array([SIGN[mode]])
        elif mode is not Mode.OPEN:
            closed[index] = contact.slip if mode is Mode.SLIDE else None
    return closed


def _changes(closed: Closed, previous: Closed) -> int:
    """Number of contacts whose mode changes."""
    count = len(set(closed) ^ set(previous))
    for index in set(closed) & set(previous):
        count += (closed[index] is None) != (previous[index] is None)
    return count


def _paradoxical(level: AccelerationLevel) -> tuple[int, ...]:
    rows = np.cumsum([0, *(each.rows for each in level.contacts)])
    sliding = [k for k, each in enumerate(level.contacts) if each.slip is not None]
    worst = [k for k in sliding if level.matrix[rows[k], rows[k]] <= 0.0]
    return tuple(worst or sliding)


def _by_solver(level: AccelerationLevel, candidates: Closed) -> Decision:
    """With spatial friction: one solution, read contact by contact, then one with sliding friction."""
    try:
        answer = solve(level.problem, tolerance=_TOLERANCE, throw=False)
    except ProblemError:  # Painlevé: a contact that slides has G_NN ≤ 0
        return Decision(None, paradoxical=_paradoxical(level))
    if not answer.certificate.residual <= _GOOD_ENOUGH:
        return Decision(None, paradoxical=_paradoxical(level), residual=answer.certificate.residual)
    closed: Closed = {}
    weaker: list[ActiveContact] = []
    fades = False
    acceleration = level.acceleration(answer.impulses)
    rate_scale = max(float(np.abs(level.constant).max()), 1e-300)
    force_scale = rate_scale / float(np.median(np.diag(level.matrix)))
    at = 0
    for (index, _), contact in zip(candidates.items(), level.contacts, strict=True):
        force = answer.impulses[at : at + contact.rows]
        at += contact.rows
        rate = contact.directions.T @ acceleration + contact.drift
        weaker.append(contact)
        if rate[0] / rate_scale > max(force[0] / force_scale, _GOOD_ENOUGH):
            continue
        closed[index] = contact.slip
        if contact.has_friction_rows:
            room = contact.sticking_friction * force[0] - float(np.linalg.norm(force[1:]))
            slip = float(np.linalg.norm(rate[1:]))
            if slip / rate_scale > max(room / force_scale, _GOOD_ENOUGH):
                closed[index] = rate[1:] / slip
                if contact.sticking_friction > contact.friction:
                    weaker[-1] = replace(contact, sticking_friction=contact.friction)
                    fades = True
    if fades:
        return _by_solver(AccelerationLevel(level.mass, level.force, weaker), candidates)
    return Decision(closed, residual=answer.certificate.residual)
