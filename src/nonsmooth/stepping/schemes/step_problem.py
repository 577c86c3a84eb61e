"""The problem of a step: contacts and joints stacked, P = [D G], ν = (γ, λ) (Negrut and Serban, Eq. 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.collision.contacts import Contacts
from nonsmooth.iteration.status import Status
from nonsmooth.problem.construction import assembled
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import Law
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Goal
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.kernels.joint_block import JointBlock
from nonsmooth.solvers.solution import Entry, History, Solution, Statistics
from nonsmooth.solvers.solve import solve
from nonsmooth.stepping.kernels import joint_step as joint_kernels
from nonsmooth.stepping.kernels import step as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.kernels.turning import turn_vertices

_DIRECT = GaussSeidel(acceleration="none", order="natural")
_SWEEPS = 2
JOINTS_ALONE = "joints alone: one linear system"
"""Note of such a solution."""
_UNMOVED = np.zeros((0, 2, 3))
"""Shifts of vertices in the absence of hulls."""


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion without contact and joint impulses, in the frames that a step is solved in."""

    momentum: Floats
    """k by body, (n, 6) in N·s and N·m·s."""
    velocity: Floats
    """M⁻¹k, (n, 6) in m/s and rad/s; zero for fixed bodies."""


@dataclass(frozen=True, eq=False)
class JointPart:
    """Joint rows of a problem; biases in m/s or rad/s, bounds in N·s or N·m·s."""

    rows: joint_kernels.JointRows
    bias: Floats
    bounds: Floats
    """(r, 2)"""

    def chosen(self, mask: NDArray[np.bool_]) -> JointPart:
        """Return the rows where the mask is true."""
        rows = joint_kernels.JointRows(*(part[mask] for part in self.rows))
        return JointPart(rows, self.bias[mask], self.bounds[mask])


def contact_rows(
    bodies: Bodies,
    state: State,
    motion: Motion,
    contacts: Contacts,
    step: float,
    push_out_speed: float,
    cornered: NDArray[np.bool_] | None = None,
) -> kernels.Rows:
    """Return rows, biases and frames of the contacts.

    Gaps become biases, the velocities that close them within the step (s); negative gaps are limited to
    the push-out speed (m/s). An infinite step ignores the motion of fixed bodies. `cornered` (s,)
    marks the shapes that are hulls of moving bodies, see `kernels.turning`.
    """
    rows = _room(len(contacts))
    gap, shift = contacts.gap, _UNMOVED
    if cornered is not None and len(contacts):
        gap, shift = gap.copy(), np.empty((len(contacts), 2, 3))
        turn_vertices(
            bodies, state, motion.velocity, contacts.shapes, contacts.bodies, contacts.point, contacts.normal,
            cornered, step, gap, shift,
        )  # fmt: skip
    parts = (contacts.shapes, contacts.bodies, contacts.point, contacts.normal, gap, shift)
    kernels.assemble(bodies, state, motion.velocity, parts, step, push_out_speed, rows)
    return rows


def no_contacts() -> kernels.Rows:
    """Return empty contact rows."""
    return _room(0)


def _room(c: int) -> kernels.Rows:
    return kernels.Rows(
        np.empty((c, 2), dtype=np.int64), np.empty((c, 2, 3, 6)), np.empty((c, 2, 3, 6)),
        np.empty((c, 3)), np.empty((c, 3)), np.empty((c, 3, 3)),
    )  # fmt: skip


def step_problem(
    mass: BodyMass,
    motion: Motion,
    contacts: kernels.Rows,
    friction: Floats,
    law: Law,
    joints: JointPart | None = None,
) -> ContactProblem:
    """Return the problem of contacts and joints for a motion."""
    jointed: dict[str, Any] = {}
    if joints is not None and len(joints.bias):
        free = np.empty(len(joints.bias))
        joint_kernels.row_velocities(joints.rows.bodies, joints.rows.rows, motion.velocity, free)
        jointed = {
            "joint_bodies": joints.rows.bodies,
            "joint_jacobian": joints.rows.rows,
            "joint_columns": joints.rows.columns,
            "joint_bias": joints.bias,
            "joint_free_velocity": free + joints.bias,
            "joint_bounds": joints.bounds,
        }
    data = assembled(
        mass=mass,
        bodies=contacts.bodies,
        rows=contacts.rows,
        columns=contacts.columns,
        momentum=motion.momentum,
        bias=contacts.bias,
        free_velocity=contacts.free,
        friction=friction,
        law=law,
        **jointed,
    )
    return ContactProblem.of_data(data)


class JointSystem:
    """A problem of bilateral rows only: one linear system, whose factor is kept."""

    def __init__(self, problem: ContactProblem) -> None:
        self.problem = problem
        self._run: Any = _DIRECT.begin(problem, np.zeros((problem.layout.blocks, 3)), Goal(1.0))

    @property
    def joints(self) -> JointBlock | None:
        """The factor; None if it would be too large."""
        block: JointBlock | None = self._run.equations.joints
        return block

    def approximate(self) -> Floats:
        """Velocities (n, 6) after one approximate solution with the factor."""
        self._run.advance(_SWEEPS, 0.0)
        flat = self.problem.layout.unpad(self._run.impulses)
        velocity = self.problem.velocity(np.zeros(0), flat)
        return np.asarray(velocity.reshape(-1, 6))

    def solve(self, tolerance: float) -> Solution:
        """Solve to the accuracy that the system's conditioning allows.

        One sweep of Gauss-Seidel solves it and the next one refines: errors of joints would accumulate over
        the steps. Redundant or nearly singular joints may be less accurate: if even the tolerance is missed,
        the default solver is tried.
        """
        began = work_seconds()
        sweeps = self._run.advance(_SWEEPS, 0.0)
        residual = self._run.residual()
        if not residual <= tolerance:
            return solve(self.problem, Auto(), tolerance=tolerance, throw=False)
        seconds = work_seconds() - began
        history = History((Entry(sweeps, residual, seconds),))
        statistics = Statistics(_DIRECT.name, sweeps, seconds, history, JOINTS_ALONE)
        return Solution.of(self.problem, Status.SOLVED, self._run.impulses, statistics)
