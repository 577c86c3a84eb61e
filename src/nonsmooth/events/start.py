"""Checks of the initial state of an event-driven simulation."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.events.options import EventOptions
from nonsmooth.events.smooth import State
from nonsmooth.model.generalised import GapContact, GeneralisedSystem, Kinematics, check_gap_derivatives

_SYMMETRY = 1e-9
"""Largest asymmetry of a mass matrix, relative to its largest entry."""
_DERIVATIVE = 1e-4
"""Largest relative difference of a contact's direction from the gradient of its gap that is accepted."""


def check_start(system: GeneralisedSystem, state: State, options: EventOptions) -> None:
    """Raise `ProblemError` if numbers are missing, too many or not finite, or if a contact overlaps."""
    if not isinstance(system, GeneralisedSystem):
        raise ProblemError(
            f"system is a {type(system).__name__}: give a GeneralisedSystem; that of the free bodies of an "
            "ns.System is nonsmooth.events.generalised(system).system"
        )
    for name, value in (("q", state.q), ("u", state.u)):
        if value.ndim != 1 or not np.isfinite(value).all():
            raise ProblemError(f"{name} is {value.tolist()}: give a vector of finite numbers")
    if system.rate is None and len(state.q) != len(state.u):
        raise ProblemError(
            f"q has {len(state.q)} numbers and u {len(state.u)}: give as many, or rate(q, u) for q̇"
        )
    _check_mass(system.mass_matrix(state.q), len(state.u))
    force = system.forces(state.q, state.u, state.t)
    if force.shape != state.u.shape:
        raise ProblemError(
            f"force returns shape {force.shape} and u has {len(state.u)} numbers: give as many"
        )
    potential = system.potential_energy(state.q)
    for name, value in (("force", force), ("potential", np.array([potential]))):
        if not np.isfinite(value).all():
            raise ProblemError(
                f"{name} is {value.tolist()} at the start: it must return finite numbers there"
            )
    for contact in system.contacts:
        _check_contact(system, contact, state, options)


def _check_mass(mass: Floats, size: int) -> None:
    if mass.shape != (size, size):
        raise ProblemError(f"mass has shape {mass.shape} and u {size} numbers: M must be square of that size")
    if not np.isfinite(mass).all():
        raise ProblemError("mass is not finite at the start: M(q) must return finite numbers")
    if np.abs(mass - mass.T).max(initial=0.0) > _SYMMETRY * np.abs(mass).max(initial=1.0):
        raise ProblemError("mass is not symmetric: give (M + Mᵀ)/2 if that is meant")
    if size and not np.linalg.eigvalsh(mass)[0] > 0.0:
        raise ProblemError("mass is not positive definite: every velocity needs inertia")


def _check_contact(
    system: GeneralisedSystem, contact: GapContact, state: State, options: EventOptions
) -> None:
    try:
        at = Kinematics(system, contact, state.q, state.t)
    except ValueError:
        raise ProblemError(
            f"contact {contact.name!r} returns a normal, a tangent or a rate of the wrong size: w_N is "
            f"({len(state.u)},), W_T ({len(state.u)},) or ({len(state.u)}, 2), slip_rate one for each tangent"
        ) from None
    if at.directions.shape[0] != len(state.u) or at.directions.shape[1] > 3:
        raise ProblemError(
            f"contact {contact.name!r} has directions of shape {at.directions.shape}: a normal and up to two "
            f"tangents of {len(state.u)} numbers each, one for each velocity"
        )
    if not (np.isfinite(at.gap) and np.isfinite(at.directions).all() and np.isfinite(at.surface).all()):
        raise ProblemError(
            f"contact {contact.name!r} has a gap or a direction that is not finite at the start"
        )
    if at.gap < -options.gap_tolerance:
        raise ProblemError(
            f"contact {contact.name!r} overlaps by {-at.gap:.3g} m at the start: move the bodies apart, "
            f"or raise gap_tolerance ({options.gap_tolerance:g} m)"
        )
    if options.check_gaps:
        check_gap_derivatives(system, contact, state.q, state.u, state.t, _DERIVATIVE)
