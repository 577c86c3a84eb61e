"""Moreau's time stepping on the same systems: constant steps, impacts and friction as impulses.

Gaps are evaluated in the middle of a step. Those that are closed there form one contact problem with
Newton's law of impact on velocity level. First order in the step; no event is located.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.events.acceleration import VELOCITY_TOLERANCE
from nonsmooth.events.impacts import Collision, Impact
from nonsmooth.events.smooth import State
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics


@dataclass(frozen=True)
class SteppedRun:
    """Times (s), coordinates (steps + 1, n) and velocities at the ends of steps, and the worst residual."""

    time: Floats
    q: Floats
    u: Floats
    residual: float

    def at(self, t: float) -> tuple[Floats, Floats]:
        """q and u at a time (s), by linear interpolation."""
        q = np.array([np.interp(t, self.time, column) for column in self.q.T])
        u = np.array([np.interp(t, self.time, column) for column in self.u.T])
        return q, u


def simulate_steps(
    system: GeneralisedSystem, q: ArrayLike, u: ArrayLike, *, duration: float, step: float, time: float = 0.0
) -> SteppedRun:
    """Simulate a system by Moreau's midpoint scheme.

    q_m = q + ½ h q̇;  M(q_m)(u⁺ − u) = h · h(q_m, u, t_m) + W Λ;  q⁺ = q_m + ½ h q̇⁺.

    Args:
        system: the same as for `simulate_events`.
        q: initial coordinates.
        u: initial velocities.
        duration: in s; the number of steps is rounded.
        step: h in s.
        time: initial time in s.
    """
    if not (math.isfinite(step) and 0.0 < step <= duration):
        raise OptionError(
            f"step is {step}: give seconds, more than 0 and no more than the duration {duration}"
        )
    count = round(duration / step)
    place, speed = np.array(q, dtype=float), np.array(u, dtype=float)
    path, motion = [place], [speed]
    worst = 0.0
    for k in range(count):
        middle = place + 0.5 * step * system.rates(place, speed)
        moment = time + (k + 0.5) * step
        mass = system.mass_matrix(middle)
        pushed = speed + step * np.linalg.solve(mass, system.forces(middle, speed, moment))
        closed = [i for i, each in enumerate(system.contacts) if each.gap(middle, moment) <= 0.0]
        after = pushed
        if closed:
            impact = _impulses(system, State(moment, middle, speed), closed, pushed)
            after, worst = impact.velocity, max(worst, impact.residual)
        speed = after
        place = middle + 0.5 * step * system.rates(middle, speed)
        path.append(place)
        motion.append(speed)
    moments = np.asarray(time + step * np.arange(count + 1), dtype=float)
    return SteppedRun(moments, np.array(path), np.array(motion), worst)


def _impulses(system: GeneralisedSystem, state: State, closed: list[int], pushed: Floats) -> Impact:
    """Newton's law for the closed contacts, with the sticking coefficient of friction where they stick."""
    sticking = []
    for k, i in enumerate(closed):
        contact = system.contacts[i]
        if contact.static_friction > contact.friction:
            velocity = Kinematics(system, contact, state.q, state.t).velocity(state.u)
            if np.linalg.norm(velocity[1:]) <= VELOCITY_TOLERANCE:
                sticking.append(k)
    while True:
        impact = Collision(system, state, closed, pushed, sticking).resolve("newton")
        speeds = {k: _slip(system, state, closed[k], impact.velocity) for k in sticking}
        slides = [k for k, speed in speeds.items() if speed > VELOCITY_TOLERANCE]
        if not slides:
            return impact
        sticking = [k for k in sticking if k not in slides]


def _slip(system: GeneralisedSystem, state: State, index: int, u: Floats) -> float:
    at = Kinematics(system, system.contacts[index], state.q, state.t)
    return float(np.linalg.norm(at.velocity(u)[1:]))
