"""Position level: the least motion, in the metric of the masses, that closes joints and removes overlaps.

    min ½ δᵀM δ   such that   g(q ⊕ δ, t) = 0 ,   Φ(q ⊕ δ) ≥ 0 ,

by Newton's method: each iteration is a frictionless contact problem whose velocity is δ. Velocities are not
changed, so that no overlap and no drift turns into speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.solve import solve
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.schemes.mechanism import Mechanism
from nonsmooth.stepping.schemes.step_problem import JointPart, JointSystem, Motion, contact_rows, step_problem

CLOSED = 1e-11
"""Tolerance in m and rad, for lengths of about a metre; it scales with larger ones."""
_ITERATIONS, _IDLE = 10, 2
"""Most iterations of Newton's method, and most consecutive ones that may fail to halve the error."""
_TOLERANCE, _SWEEPS = 1e-8, 2000
"""Relative residual of each iteration, and its most inner iterations: the next one corrects it."""
_FRICTIONLESS = Law.parse("relaxed")


@dataclass(frozen=True)
class Projected:
    """Result of a projection."""

    joint_error: float
    """Largest remaining |g|, in m or rad."""
    overlap: float
    """Largest remaining overlap, in m."""


class Projection:
    """Moves bodies onto the position constraints, in place on the given state."""

    def __init__(
        self, system: System, bodies: Bodies, mass: BodyMass, mechanism: Mechanism, detector: Detector
    ) -> None:
        self._bodies, self._mass = bodies, mass
        self._mechanism, self._detector = mechanism, detector
        count = len(bodies.mass)
        self._rest = Motion(np.zeros((count, 6)), np.zeros((count, 6)))
        self._still = np.zeros((count, 3))
        self._touchable = len(system.shapes) > 1

    def close(self, state: State, t: float) -> Projected:
        """Close joints and remove overlaps at time t (s), and update the angles of the joints."""
        mechanism = self._mechanism
        closed = CLOSED * max(1.0, float(np.abs(state.position[~self._bodies.fixed]).max(initial=0.0)))
        best, idle = np.inf, 0
        for iteration in range(_ITERATIONS + 1):
            motion_kernels.set_rotations(state.quaternion, state.rotation)
            rows = mechanism.at(state)
            gaps = mechanism.coordinates(rows, t)
            contacts = self._contacts(state)
            joint_error, overlap = mechanism.error(gaps), max(0.0, -float(contacts.gap.min(initial=0.0)))
            error = max(joint_error, overlap)
            idle = 0 if error < 0.5 * best else idle + 1
            best = min(best, error)
            if error <= closed or iteration == _ITERATIONS or idle == _IDLE:
                break
            part = JointPart(
                rows.rows, gaps, np.where(mechanism.limit[:, None], (0.0, np.inf), (-np.inf, np.inf))
            )
            way = self._way(state, contacts, part.chosen(mechanism.on_position))
            if not np.isfinite(way).all():
                break
            motion_kernels.displace(self._bodies, state, way)
        mechanism.remember(rows)
        return Projected(joint_error, overlap)

    def _contacts(self, state: State) -> Contacts:
        if not self._touchable:
            return Contacts.empty()
        return self._detector.detect(state.position, state.quaternion)

    def _way(self, state: State, contacts: Contacts, joints: JointPart) -> Floats:
        """One iteration of Newton's method: displacements (n, 6) in m and rad."""
        still = state._replace(linear=self._still, angular=self._still)  # fixed bodies do not move here
        rows = contact_rows(self._bodies, still, self._rest, contacts, 1.0, np.inf)
        problem = step_problem(self._mass, self._rest, rows, np.zeros(len(contacts)), _FRICTIONLESS, joints)
        if len(contacts) == 0 and np.all(np.isinf(joints.bounds)):
            return JointSystem(problem).approximate()  # Newton's method corrects itself
        solution = solve(problem, Auto(), tolerance=_TOLERANCE, max_iterations=_SWEEPS, throw=False)
        assert solution.velocity is not None
        return np.asarray(solution.velocity.reshape(-1, 6))
