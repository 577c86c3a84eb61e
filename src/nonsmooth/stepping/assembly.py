"""`assemble`: move bodies so that all joints are closed, and give them admissible velocities.

Positions are found by the Levenberg-Marquardt method in the metric of the masses, velocities by projection
in the same metric.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.lazy import sparse_linalg
from nonsmooth.errors import ProblemError
from nonsmooth.model.joints.kernels.rows import AXES
from nonsmooth.model.joints.placement import Z
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels import joint_step as joint_kernels
from nonsmooth.stepping.kernels import motion as kernels
from nonsmooth.stepping.schemes.body_constants import body_constants
from nonsmooth.stepping.schemes.mechanism import Mechanism, RowState
from nonsmooth.stepping.schemes.projection import CLOSED

ASSEMBLED = 1e-6
"""Largest opening of a row at the start of a run, in m or rad (for lengths of about a metre)."""
_ITERATIONS = 200
_LARGEST_TURN = 0.5
"""Largest rotation per iteration in rad: beyond it the linearised constraints are inaccurate."""
_SOFTNESS = 1e-10
"""Smallest relative regularisation of GᵀM⁻¹G, which is singular where joints are redundant."""
_FIRST_SOFTNESS = 1e-3
"""Initial regularisation: far from closure, redundant joints are slightly inconsistent."""
_PARALLEL_ROWS, _LOCKED_ROWS = 2, 3
"""Rows that are cosines: of a joint that keeps its axes parallel, and of one that does not rotate."""
_WRONG_SPEED = 1e-6
"""Largest relative inconsistency of joint rows on velocity level."""


def assemble(system: System, *, hold: int | str | Sequence[int | str] = (), time: float = 0.0) -> System:
    """Return a copy of the system with closed joints and admissible velocities.

    The bodies move as little as possible in the metric of their masses: a mechanism that can be closed in
    several ways closes in the nearest one. Contacts are ignored.

    Args:
        system: bodies and joints, not necessarily closed.
        hold: one or several bodies, by index or name, that keep their positions and velocities.
        time: time in s at which drivers are evaluated.

    Raises:
        ProblemError: if a constraint cannot be satisfied; the message names the one with the largest opening.
    """
    system = system.copy()
    held = (hold,) if isinstance(hold, str | int) else hold
    task = _Assembly(system, [system.index(body) for body in held])
    task.close(time)
    task.set_velocities(time)
    return system


def check_assembled(system: System, time: float = 0.0) -> None:
    """Raise unless every joint is closed to within `ASSEMBLED` and the drivers are consistent."""
    task = _Assembly(system, [])
    gaps = task.violations(task.rows(), time)
    task.complain(
        gaps,
        ASSEMBLED * task.size(),
        "close the assembly first, with ns.assemble(system), or assemble = true in a scene file",
    )
    task.allowed_velocities(time, np.zeros((system.count, 6)))
    anchors = system.joints.anchors(system.position, system.quaternion)
    _, axes = system.joints.frames(system.position, system.quaternion)
    for number, (joint, apart, frame) in enumerate(
        zip(system.joints, anchors[:, 1] - anchors[:, 0], axes, strict=True)
    ):
        objection = joint.objection(apart, frame[:, Z])
        if objection is not None:
            raise ProblemError(f"{system.joints.label(number)} {objection}")


class _Assembly:
    def __init__(self, system: System, held: list[int]) -> None:
        self._system = system
        bodies, _ = body_constants(system)
        fixed = bodies.fixed.copy()
        fixed[held] = True
        self._bodies = bodies._replace(fixed=fixed)
        self._mechanism = Mechanism(system, self._bodies)
        self._state = kernels.State(
            system.position,
            system.quaternion,
            system.linear_velocity,
            system.angular_velocity,
            np.empty((system.count, 3, 3)),
        )

    def size(self) -> float:
        """Reference length of the tolerances in m; at least 1."""
        return max(1.0, float(np.abs(self._system.position[~self._system.fixed]).max(initial=0.0)))

    def rows(self) -> RowState:
        """The joint rows at the current state."""
        kernels.set_rotations(self._state.quaternion, self._state.rotation)
        return self._mechanism.at(self._state)

    def violations(self, rows: RowState, t: float) -> Floats:
        """g for bilateral rows, min(g, 0) for limits, and 0 for all other rows."""
        gaps = self._mechanism.coordinates(rows, t)
        gaps = np.where(self._mechanism.limit, np.minimum(gaps, 0.0), gaps)
        gaps = np.where(self._mechanism.held | self._mechanism.limit, gaps, 0.0)
        self._turn_round(gaps)
        return gaps

    def _turn_round(self, gaps: Floats) -> None:
        """Redirect, in place, the gaps of joints that are more than a quarter of a turn off.

        Cosines between axes also vanish where a joint is closed the wrong way round. Beyond a quarter of a
        turn, a gap of size s becomes 2 − s with the opposite sign, so that it decreases on the way back.
        """
        table = self._mechanism.table
        axes = np.flatnonzero(table.rows.kind == AXES)
        if len(axes) == 0:
            return
        joint, cosines = table.joint[axes], self._system.joints.alignment(self._state.quaternion)
        count = np.bincount(joint, minlength=len(cosines))
        wrong = ((count == _PARALLEL_ROWS) & (cosines[:, Z] < 0.0)) | (
            (count == _LOCKED_ROWS) & (cosines.sum(axis=1) < 1.0)
        )
        for k in np.flatnonzero(wrong):
            own = axes[joint == k]
            size = float(np.linalg.norm(gaps[own]))
            if size > 0.0:
                gaps[own] *= 1.0 - 2.0 / size
            else:  # any direction leads back
                gaps[own[0]] = -2.0

    def complain(self, gaps: Floats, allowed: float, cure: str) -> None:
        """Raise if a row is open by more than `allowed`; the message names the worst row."""
        worst = int(np.argmax(np.abs(gaps))) if len(gaps) else 0
        if len(gaps) and abs(gaps[worst]) > allowed:
            table = self._mechanism.table
            raise ProblemError(
                f"{table.labels[worst]} is open by {abs(gaps[worst]):.3g} {table.units[worst]}: {cure}"
            )

    def close(self, t: float) -> None:
        """Close the joints at time t (s)."""
        state, softness = self._state, _FIRST_SOFTNESS
        rows = self.rows()
        gaps = self.violations(rows, t)
        for _ in range(_ITERATIONS):
            if np.abs(gaps).max(initial=0.0) <= CLOSED * self.size():
                break
            way = self._way(rows, gaps, softness)
            before = state.position.copy(), state.quaternion.copy()
            kernels.displace(self._bodies, state, way)
            new_rows = self.rows()
            new_gaps = self.violations(new_rows, t)
            if new_gaps @ new_gaps < gaps @ gaps:
                rows, gaps, softness = new_rows, new_gaps, max(_SOFTNESS, 0.1 * softness)
                self._mechanism.remember(rows)
                self._system.joints.follow(self._system)
                continue
            state.position[:], state.quaternion[:] = before
            softness *= 10.0
            if softness > 1e6:
                break
        self.complain(
            gaps,
            10.0 * CLOSED * self.size(),
            "no nearby position of the bodies satisfies it together with the other joints; check lengths and "
            "anchors, or start nearer to the closed position",
        )

    def set_velocities(self, t: float) -> None:
        """Give the bodies the nearest admissible velocities at time t (s)."""
        velocity = np.empty((self._system.count, 6))
        kernels.step_velocity(self._bodies, self._state, velocity)
        kernels.take_velocity(self._bodies, self._state, self.allowed_velocities(t, velocity))

    def allowed_velocities(self, t: float, velocity: Floats) -> Floats:
        """Return the admissible velocities (n, 6) nearest to given ones at time t (s)."""
        mechanism, rows = self._mechanism, self.rows()
        wanted = mechanism.partial_rate(t)
        chosen = mechanism.bilateral
        for _ in range(3):  # each iteration removes the regularisation error of the previous one
            speed = np.where(chosen, mechanism.velocities(rows, velocity) + wanted, 0.0)
            if not speed.any():
                return velocity
            velocity = velocity + self._way(rows, speed, _SOFTNESS, limit=False)
        left = np.where(chosen, mechanism.velocities(rows, velocity) + wanted, 0.0)
        scale = max(float(np.abs(wanted).max(initial=0.0)), float(np.abs(velocity).max(initial=0.0)))
        worst = int(np.argmax(np.abs(left))) if len(left) else 0
        if len(left) and abs(left[worst]) > _WRONG_SPEED * scale:
            table = mechanism.table
            also = [
                table.labels[i]
                for i in np.flatnonzero(np.abs(left) > 0.1 * abs(left[worst]))
                if table.labels[i] != table.labels[worst]
            ]
            with_others = f" (together with {', '.join(dict.fromkeys(also))})" if also else ""
            raise ProblemError(
                f"{table.labels[worst]} asks for a speed that the other joints and drivers contradict by "
                f"{abs(left[worst]):.3g} {table.units[worst]}/s{with_others}: remove a driver, or change "
                "its motion"
            )
        return velocity

    def _way(self, rows: RowState, gaps: Floats, softness: float, limit: bool = True) -> Floats:
        """Displacements (n, 6) of least M-norm that close the gaps to first order."""
        kept = self._mechanism.held if limit else self._mechanism.bilateral  # closed limits must stay closed
        active = np.flatnonzero(kept | (gaps != 0.0))
        pairs, columns = rows.rows.bodies[active], rows.rows.columns[active]
        matrix = columns_matrix(pairs, columns, self._system.count)
        product = sp.csc_array(matrix.T @ matrix)
        scale = max(float(product.diagonal().max(initial=0.0)), np.finfo(float).tiny)
        soft = np.maximum(product.diagonal(), 1e-6 * scale) * softness
        impulses = sparse_linalg.splu(sp.csc_array(product + sp.diags_array(soft))).solve(-gaps[active])
        way = np.zeros((self._system.count, 6))
        joint_kernels.add_impulses(pairs, columns, impulses, self._bodies, way)
        turn = float(np.abs(way[:, 3:]).max(initial=0.0))
        return way * min(1.0, _LARGEST_TURN / turn) if limit and turn > 0.0 else way


def columns_matrix(pairs: NDArray[np.int64], columns: Floats, bodies: int) -> sp.csc_array:
    """L⁻¹G as a matrix (6 n, rows)."""
    row, side = np.nonzero(pairs >= 0)
    place = 6 * pairs[row, side][:, None] + np.arange(6)
    entries = (columns[row, side].ravel(), (place.ravel(), np.repeat(row, 6)))
    return sp.csc_array(entries, shape=(6 * bodies, len(pairs)))
