"""The joints of a system in a run: their rows at a state, and the constraints they add to a step.

A row's coordinate is g(q, t) = value(q) − offset(t); its velocity is Gᵀv + ∂g/∂t (Negrut and Serban, Eq. 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.joints.kernels.rows import evaluate
from nonsmooth.model.joints.table import BILATERAL, LIMIT, JointTable
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels import joint_step as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State


@dataclass(frozen=True, eq=False)
class RowState:
    """All joint rows at a state: coordinates without offsets, and gradients."""

    value: Floats
    """(r,) in m or rad."""
    angle: Floats
    """(r, 2) unwrapped angles in rad."""
    gradient: Floats
    """(r, 2, 6) by linear velocity (world frame) and angular velocity (body frame) of A and B."""
    rows: kernels.JointRows
    """The same with respect to the velocities of a step."""


class Mechanism:
    """Joint rows of a system during a run; only `remember` changes the system."""

    def __init__(self, system: System, bodies: Bodies) -> None:
        self.system, self._bodies = system, bodies
        self.count = len(self.table.role)
        self.bilateral = self.table.role == BILATERAL
        self.limit = self.table.role == LIMIT
        self.on_position = ~self.table.on_velocity
        self.held = self.bilateral & self.on_position
        """Mask of rows whose coordinate must be zero."""
        self.bounds = np.column_stack([self.table.lower, self.table.upper])
        self.all_bilateral = bool(np.all(self.bilateral))
        self.smooth = bool(np.all(self.bilateral | self.limit))
        """True if no row has a bounded force: between stops, motion is smooth."""

    @property
    def table(self) -> JointTable:
        """All rows; targets of motors and drivers may change between steps, all else is constant."""
        return self.system.joints.table

    def at(self, state: State) -> RowState:
        """Return all rows at a state with up-to-date rotation matrices."""
        r = self.count
        value, angle, gradient = np.empty(r), np.zeros((r, 2)), np.empty((r, 2, 6))
        near = self.system.joints.angles
        evaluate(self.table.rows, state.position, state.rotation, near, value, angle, gradient)
        rows = kernels.JointRows(
            np.empty((r, 2), dtype=np.int64), np.empty((r, 2, 6)), np.empty((r, 2, 6)), np.empty(r)
        )
        kernels.fill_rows(self._bodies, state, self.table.rows.bodies, gradient, rows)
        return RowState(value, angle, gradient, rows)

    def coordinates(self, rows: RowState, t: float) -> Floats:
        """g(q, t) of every row, in m or rad; zero for rows on velocity level."""
        return np.where(self.on_position, rows.value - self.table.offsets(t)[0], 0.0)

    def partial_rate(self, t: float) -> Floats:
        """∂g/∂t of every row in m/s or rad/s."""
        return -self.table.offsets(t)[1]

    def velocities(self, rows: RowState, velocity: Floats) -> Floats:
        """Gᵀv for velocities (n, 6) of a step, the fixed bodies' prescribed motion included."""
        out = np.empty(self.count)
        kernels.row_velocities(rows.rows.bodies, rows.rows.rows, velocity, out)
        return np.asarray(out + rows.rows.carried)

    def error(self, coordinates: Floats) -> float:
        """Largest |g| over bilateral rows and violated limits, in m or rad."""
        return float(
            max(
                kernels.largest_entry(coordinates, self.held),
                kernels.largest_entry(np.minimum(coordinates, 0.0), self.limit),
            )
        )

    def remember(self, rows: RowState) -> None:
        """Store the angles of the reached state, so that turns are counted."""
        self.system.joints.angles[:] = rows.angle
