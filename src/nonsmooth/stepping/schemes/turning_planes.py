"""Rotating half-spaces: how far their surfaces come towards other bodies in a step.

A half-space is a rigid surface that moves with its body: the point x of its plane has the velocity
v + ω × (x − p), with the position p and the velocities v and ω of the body. Towards the outside it is
n·v + (n × ω)·(x − p): a turntable (ω along n) does not approach, and a plane that tilts sweeps faster the
farther x is from p. It has no bounding radius; the distance follows from the other bodies' positions.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import HALF_SPACE
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels.motion import State


class TurningPlanes:
    """The half-spaces of a system, any of which may rotate."""

    def __init__(self, system: System) -> None:
        table = system.shapes
        rows = np.flatnonzero(table.kind == HALF_SPACE)
        self._body = table.body[rows]
        self._normal = quaternions.rotate(table.rotation[rows], np.array([0.0, 0.0, 1.0]))
        touchable = np.zeros(system.count, dtype=bool)
        touchable[table.body] = True
        self._others = np.flatnonzero(touchable & ~system.fixed)
        self._radius = system.bounding_radius[self._others]

    def add(self, state: State, step: float, displacement: Floats, turn: Floats) -> None:
        """Raise `turn` (n,), how far each body's surface may come by rotation in m, where planes sweep.

        `displacement` (n, 3) in m is how far bodies move in the step (s).
        """
        if len(self._body) == 0 or len(self._others) == 0 or not state.angular[self._body].any():
            return
        sweep = step * np.linalg.norm(np.cross(self._normal, state.angular[self._body]), axis=1)
        own, moved = self._others, state.position + displacement
        for body, rate in zip(self._body.tolist(), sweep.tolist(), strict=True):
            if rate > 0.0:
                arm = np.linalg.norm(moved[own] - moved[body], axis=1) + self._radius
                turn[body] = max(turn[body], rate * float(arm.max()))
