"""Coordinates of rows in the present state of a system."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.kernels import rows as kernels


class Evaluation(NamedTuple):
    """Values (r,) in m or rad, angles (r, 2) in rad, and derivatives (r, 2, 6) of rows; see `evaluate`."""

    value: Floats
    angle: Floats
    rows: Floats


def evaluated(table: kernels.RowTable, near: Floats, system: Bodies) -> Evaluation:
    """Return the rows of a table in the present state, with angles nearest to `near` (r, 2)."""
    r = len(table.kind)
    rotation = np.empty((system.count, 3, 3))
    kernels.set_rotations(table.bodies, system.quaternion, rotation)
    out = Evaluation(np.empty(r), np.empty((r, 2)), np.empty((r, 2, 6)))
    kernels.evaluate(table, system.position, rotation, near, *out)
    return out


def run_on(table: kernels.RowTable, angle: Floats, system: Bodies, step: float) -> None:
    """Advance angles (r, 2) in rad by the present velocities over a time `step` (s)."""
    if len(table.kind) == 0:
        return
    rotation = np.empty((system.count, 3, 3))
    kernels.set_rotations(table.bodies, system.quaternion, rotation)
    room = np.empty((len(table.kind), 2, 6))
    linear, angular = system.linear_velocity, system.angular_velocity
    kernels.add_turns(table, system.position, rotation, linear, angular, step, room, angle)


def rates(table: kernels.RowTable, rows: Floats, system: Bodies) -> Floats:
    """Return the rates of the values (r,) in m/s or rad/s; `rows` (r, 2, 6) are their derivatives."""
    rate = np.empty(len(table.kind))
    kernels.rates(table.bodies, rows, system.linear_velocity, system.angular_velocity, rate)
    return rate
