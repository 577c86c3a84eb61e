"""Projection of closed contacts onto the constraints of their modes, against drift of smooth motion."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events.smooth import Closed, State
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics

_ROUNDS = 3
_SMALL = 1e-15
"""Error in m and m/s that is not corrected."""


def project(system: GeneralisedSystem, state: State, closed: Closed) -> State:
    """Return the state with g = 0 and γ_N = 0 at closed contacts, γ_T = 0 where they stick.

    The shortest way in the metric of the masses. Energies of the state are unchanged.
    """
    if not closed:
        return state
    q, u = state.q, state.u
    mass = system.mass_matrix(q)
    for _ in range(_ROUNDS):
        places = [Kinematics(system, system.contacts[i], q, state.t) for i in closed]
        gaps = np.array([at.gap for at in places])
        if np.abs(gaps).max() <= _SMALL:
            break
        normals = np.column_stack([at.normal for at in places])
        q = q + system.rates(q, _shortest(mass, normals, -gaps))
    rows, wanted = [], []
    for i, slip in closed.items():
        at = Kinematics(system, system.contacts[i], q, state.t)
        sticks = slip is None and system.contacts[i].static_friction > 0.0
        count = at.directions.shape[1] if sticks else 1
        rows.append(at.directions[:, :count])
        wanted.append(-at.velocity(u)[:count])
    missing = np.concatenate(wanted)
    if np.abs(missing).max() > _SMALL:
        u = u + _shortest(mass, np.hstack(rows), missing)
    return State(state.t, q, u, state.dissipated, state.work)


def _shortest(mass: Floats, directions: Floats, wanted: Floats) -> Floats:
    """The smallest change in the metric of the masses with the required components along the directions."""
    mobile = np.linalg.solve(mass, directions)
    return np.asarray(mobile @ np.linalg.lstsq(directions.T @ mobile, wanted, rcond=1e-11)[0])
