"""Whether an event-driven simulation can begin where it is asked to."""

from __future__ import annotations

import numpy as np

from nonsmooth.errors import ProblemError
from nonsmooth.integrators.events.options import EventOptions
from nonsmooth.integrators.events.smooth import State
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics


def check_start(system: GeneralisedSystem, state: State, options: EventOptions) -> None:
    """Raise `ProblemError` where numbers are missing or too many, or where a contact overlaps."""
    for name, value in (("q", state.q), ("u", state.u)):
        if value.ndim != 1 or not np.isfinite(value).all():
            raise ProblemError(f"{name} is {value.tolist()}: give a vector of finite numbers")
    size = system.mass_matrix(state.q).shape
    if size != (len(state.u), len(state.u)):
        raise ProblemError(
            f"mass has shape {size} and u {len(state.u)} numbers: M must be square of that size"
        )
    force = system.forces(state.q, state.u, state.t)
    if force.shape != state.u.shape:
        raise ProblemError(
            f"force returns shape {force.shape} and u has {len(state.u)} numbers: h has as many"
        )
    for contact in system.contacts:
        at = Kinematics(system, contact, state.q, state.t)
        if at.normal.shape != state.u.shape or at.tangent.shape[0] != len(state.u):
            raise ProblemError(
                f"contact {contact.name!r} has a normal of {len(at.normal)} numbers and tangents of "
                f"{at.tangent.shape[0]}: both need {len(state.u)}, one for each velocity"
            )
        if at.gap < -options.gap_tolerance:
            raise ProblemError(
                f"contact {contact.name!r} overlaps by {-at.gap:.3g} m at the start: move the bodies apart, "
                f"or raise gap_tolerance ({options.gap_tolerance:g} m)"
            )
