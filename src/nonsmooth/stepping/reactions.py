"""Joint reactions: forces in N and torques in N·m on the bodies, in the joints' own frames."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.model import quaternions
from nonsmooth.model.joints import JointSet
from nonsmooth.model.system import System
from nonsmooth.solvers.analysis.minimum_norm import minimum_norm as of_minimum_norm
from nonsmooth.solvers.solution import Solution
from nonsmooth.stepping.schemes.step_result import JointOutcome


@dataclass(frozen=True, eq=False)
class Reactions:
    """Force and torque of each joint on its body B, at B's anchor, in the joint's frame (z is its axis).

    Body A receives the opposite; with a `Coupling` the ground takes the difference. Drivers, motors, limits
    and dry friction of a joint are included; springs and torques that do not depend on the solution are not.
    Values are means over the step; in smooth steps of second order, those of its middle to second order.

    If reactions are not unique (redundant joints), these minimise Σ |force|² + |torque|²/L² over all joints
    (drivers and the like counted separately) plus Σ |force|² over all contacts, as if all supports were
    equally and slightly compliant.
    """

    force: Floats
    """(joints, 3) in N."""
    torque: Floats
    """(joints, 3) in N·m."""
    length: float
    """L in m, the root of the mean of J/m over the moving bodies that have joints."""
    rows: dict[str, Floats]
    """Forces (N) or torques (N·m) of the rows by their source, such as "driver of joint 'pin'"."""
    _joints: JointSet

    def of(self, joint: int | str) -> tuple[Floats, Floats]:
        """Return force (3,) in N and torque (3,) in N·m of one joint, by index or name."""
        index = self._joints.index(joint)
        return self.force[index], self.torque[index]


def reactions_of(system: System, solution: Solution, outcome: JointOutcome, minimum_norm: bool) -> Reactions:
    """Compute the reactions of a step from its joint impulses."""
    joints = system.joints
    table, impulses = joints.table, outcome.impulses
    unit, length = _wrenches(system, outcome), _length(system)
    names, element = np.unique(np.array(table.labels), return_inverse=True)
    if minimum_norm:
        chosen = outcome.acting
        scaled = unit / np.array([1.0, 1.0, 1.0, length, length, length])
        metric = _metric(scaled[chosen], element[chosen])
        _, found = of_minimum_norm(solution.problem, solution.impulses, impulses[chosen], metric)
        impulses = impulses.copy()
        impulses[chosen] = found
    total = np.zeros((len(joints), 6))
    forces = impulses / outcome.duration
    np.add.at(total, table.joint, forces[:, None] * unit)
    order = np.argsort(element, kind="stable")
    parts = np.split(forces[order], np.cumsum(np.bincount(element))[:-1])
    rows = dict(zip(names.tolist(), parts, strict=True))
    return Reactions(total[:, :3], total[:, 3:], length, rows, joints)


def no_reactions(system: System) -> Reactions:
    """Return empty reactions, for joints without rows such as struts."""
    count = len(system.joints)
    return Reactions(np.zeros((count, 3)), np.zeros((count, 3)), math.nan, {}, system.joints)


def _wrenches(system: System, outcome: JointOutcome) -> Floats:
    """Force and torque (r, 6) on B at its anchor, in the joint's frame, of each row at unit multiplier."""
    table = system.joints.table
    gradient, pair = outcome.rows.gradient, table.rows.bodies
    side = np.where(pair[:, 1] >= 0, 1, 0)  # on A, with the opposite sign, where B is ground
    body = pair[np.arange(len(pair)), side]
    own = gradient[np.arange(len(pair)), side] * np.where(side == 1, 1.0, -1.0)[:, None]
    force = own[:, :3]
    _, axes = system.joints.frames(outcome.position, outcome.quaternion)
    points = system.joints.anchors(outcome.position, outcome.quaternion)[:, 1]
    torque = quaternions.rotate(outcome.quaternion[body], own[:, 3:])
    torque += np.cross(outcome.position[body] - points[table.joint], force)
    frame = axes[table.joint]
    return np.concatenate(
        [np.einsum("rki,rk->ri", frame, force), np.einsum("rki,rk->ri", frame, torque)], axis=1
    )


def _metric(wrenches: Floats, element: NDArray[np.int64]) -> sp.csr_array:
    """R with λᵀRλ = Σ |wrench|² over the elements: joints, their drivers, motors, limits and frictions.

    Rows of one element are independent, so R is positive definite.
    """
    row = np.arange(len(element))
    spread = sp.csr_array(
        (
            wrenches.ravel(),
            (np.repeat(row, 6), (6 * element[:, None] + np.arange(6)).ravel()),
        ),
        shape=(len(element), 6 * (int(element.max(initial=-1)) + 1)),
    )
    return sp.csr_array(spread @ spread.T)


def _length(system: System) -> float:
    """L = √(mean of tr J/(3 m)) over the moving bodies with joints, in m."""
    bodies = np.unique(system.joints.table.rows.bodies)
    bodies = bodies[bodies >= 0]
    bodies = bodies[~system.fixed[bodies]]
    moment = np.einsum("nii->n", system.inertia[bodies]) / 3.0
    return math.sqrt(float(np.mean(moment / system.mass[bodies])))
