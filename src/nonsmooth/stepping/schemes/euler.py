"""Half-implicit symplectic Euler with hard contact and joints (Negrut and Serban, Eq. 9).

    M v⁺ = M v + h f(t, q, v) + D γ + G λ ,      q⁺ = q + h T(q) v⁺

with Φ/h as bias of the contacts and g/h + ∂g/∂t as bias of the joints. Where positions are projected after
the step, only Φ of contacts that may close and g of limits that may be reached enter the biases.

Where materials have restitution, impacts are resolved first, at unchanged positions (see `impacts`), and v
is the velocity after them. The contact problem itself has no restitution. In the scheme "ballistic", bodies
that neither contacts nor joints push move by x + h (v + v⁺)/2, which is exact in uniform gravity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.model.system import System
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve
from nonsmooth.stepping.kernels import impacts as impact_kernels
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels import step as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes.body_constants import moving_hulls
from nonsmooth.stepping.schemes.following import Following
from nonsmooth.stepping.schemes.impacts import ImpactStep
from nonsmooth.stepping.schemes.mechanism import Mechanism, RowState
from nonsmooth.stepping.schemes.step_problem import JointPart, JointSystem, Motion, contact_rows, step_problem
from nonsmooth.stepping.schemes.step_result import JointOutcome, StepResult

_PUSHED = 1e-6
"""Velocity change by impulses, relative to that by forces, above which a body is not in free flight."""


class EulerStep:
    """Does steps of one length on a system's state, in place."""

    def __init__(
        self,
        system: System,
        bodies: Bodies,
        mass: BodyMass,
        mechanism: Mechanism,
        detector: Detector,
        step: float,
        options: ChosenOptions,
    ) -> None:
        self._bodies, self._mass, self._mechanism = bodies, mass, mechanism
        self._step, self._options = step, options
        self._projected, self._ballistic = options.projected, options.scheme == "ballistic"
        self._cornered = moving_hulls(system)
        self._impacts = ImpactStep(system, bodies, mechanism, step, options)
        pairs = np.asarray(mechanism.table.rows.bodies)
        self._held = np.zeros(len(bodies.mass), dtype=bool)
        self._held[pairs[pairs >= 0]] = True
        self._following = Following(system, bodies, self._held, detector)
        self._whole = np.full(len(bodies.mass), step)
        self._told = self._impacts.possible or self._ballistic

    @property
    def impacts_possible(self) -> bool:
        """Whether two materials have restitution."""
        return self._impacts.possible

    def advance(
        self,
        state: State,
        t: float,
        motion: Motion,
        contacts: Contacts,
        start: Floats,
        joint_start: Floats,
        force: Floats,
    ) -> StepResult:
        """Step from time t (s), given the forces (n, 6) there and the resulting `motion`.

        `start` (c, 3, world frame) and `joint_start` (r,) are initial guesses of the impulses in N·s.
        """
        bodies, h = self._bodies, self._step
        began = work_seconds()
        joint_rows = self._mechanism.at(state) if self._mechanism.count else None
        joints = None if joint_rows is None else self._joint_part(joint_rows, t)
        impacts = self._impacts.advance(state, motion, contacts, joint_rows)
        if impacts is not None:
            motion_kernels.free_motion(bodies, state, force, h, motion.momentum, motion.velocity)
        before = np.empty_like(motion.velocity) if self._told else None
        if before is not None:
            motion_kernels.step_velocity(bodies, state, before)
        push_out = 0.0 if self._projected else self._options.push_out_speed
        rows = contact_rows(bodies, state, motion, contacts, h, push_out, self._cornered)
        if before is not None and self._ballistic:
            self._follow_parabola(rows, before)
        problem = step_problem(self._mass, motion, rows, contacts.friction, self._options.law, joints)
        initial = np.empty_like(start)
        kernels.to_components(rows.frame, start, initial)
        assembling = work_seconds() - began
        solution = self._solve(problem, np.concatenate([initial.ravel(), joint_start]))
        velocity, impulses, joint_impulses = self._result(solution, rows.frame, motion)
        joint_work = _joint_work(solution, joint_impulses)
        times = self.times(state, motion, velocity, contacts, impulses, force)
        # after _times, which shortens free motion too: work that forces do not do is no work of contacts
        free_energy = float(motion_kernels.kinetic_energy(bodies, motion.velocity))
        outcome = None
        if joint_rows is not None:
            position, quaternion = state.position.copy(), state.quaternion.copy()
            acting = np.ones(self._mechanism.count, dtype=bool)
            outcome = JointOutcome(joint_rows, joint_impulses, h, acting, position, quaternion)
        flight_work = 0.0
        if before is None:
            motion_kernels.move(bodies, state, velocity, times)
        else:
            flying = self._flying(before, motion.velocity, velocity)
            flight_work = motion_kernels.move_and_tell(
                bodies, state, before, motion.velocity, velocity, flying, force, times
            )
        return StepResult(
            solution, velocity, contacts, impulses, outcome, free_energy, joint_work, assembling=assembling,
            impacts=impacts, flight_work=float(flight_work),
        )  # fmt: skip

    def times(
        self, state: State, motion: Motion, velocity: Floats, contacts: Contacts, impulses: Floats,
        force: Floats,
    ) -> Floats:  # fmt: skip
        """Time (n,) in s that each body moves for: the step, or less for bodies that meet on their way.

        Bodies without impulses feel the forces for that time only; their velocities are changed in place.
        """
        part = self._following.parts(state, velocity, self._step, contacts, impulses)
        if part is None:
            return self._whole
        pushed = np.any(velocity != motion.velocity, axis=1)
        lost = np.where(pushed | self._held | self._bodies.fixed, 0.0, (1.0 - part) * self._step)
        change = lost[:, None] * force[:, :3] / self._bodies.mass[:, None]
        velocity[:, :3] -= change
        motion.velocity[:, :3] -= change
        return part * self._step

    def _follow_parabola(self, rows: kernels.Rows, before: Floats) -> None:
        """Measure gaps along the flight of bodies in the scheme "ballistic"."""
        normal = np.empty(len(rows.bodies))
        impact_kernels.row_velocities(rows.bodies, rows.rows, np.zeros_like(rows.bias), before, normal)
        kernels.follow_parabola(rows, normal, self._held)

    def _flying(self, before: Floats, free: Floats, velocity: Floats) -> NDArray[np.bool_]:
        """Mask of the bodies on the parabola of free flight: none in other schemes."""
        if not self._ballistic:
            return np.zeros(len(velocity), dtype=bool)
        pushed = np.linalg.norm(velocity[:, :3] - free[:, :3], axis=1)
        pulled = np.linalg.norm(free[:, :3] - before[:, :3], axis=1)
        return np.asarray((pushed <= _PUSHED * pulled) & ~self._held & ~self._bodies.fixed)

    def _joint_part(self, rows: RowState, t: float) -> JointPart:
        """Rows and biases of the joints for a step from time t (s)."""
        mechanism, h = self._mechanism, self._step
        gap = mechanism.coordinates(rows, t) / h
        if self._projected:
            gap = np.where(mechanism.limit, np.maximum(gap, 0.0), 0.0)
            bias = gap + mechanism.partial_rate(t + h)
        else:
            bias = gap + mechanism.partial_rate(t)
        return JointPart(rows.rows, bias + rows.rows.carried, h * mechanism.bounds)

    def _solve(self, problem: ContactProblem, start: Floats) -> Solution:
        """Solve the step's problem; joints alone to machine precision, unless the user chose a solver."""
        options = self._options
        joints_alone = problem.contacts == 0 and problem.joint_rows > 0 and self._mechanism.all_bilateral
        if joints_alone and isinstance(options.solver, Auto):
            return JointSystem(problem).solve(options.tolerance)
        return solve(
            problem, options.solver, tolerance=options.tolerance, max_iterations=options.max_iterations,
            start=start, throw=False,
        )  # fmt: skip

    def _result(self, solution: Solution, frame: Floats, motion: Motion) -> tuple[Floats, Floats, Floats]:
        """Velocities (n, 6), impulses (c, 3) in the world frame and joint impulses after the solve.

        If the solver diverged, bodies move freely in this step, and its status reports it: the run continues.
        The impulses are then zero, as applied, and not NaN.
        """
        impulses = np.zeros((len(frame), 3))
        if solution.velocity is None or not np.isfinite(solution.velocity).all():
            return motion.velocity.copy(), impulses, np.zeros(len(solution.joint_impulses))
        kernels.to_vectors(frame, solution.impulses.reshape(-1, 3), impulses)
        # a copy: bodies that stop on their way change it, and the certificate refers to the solution
        return solution.velocity.reshape(-1, 6).copy(), impulses, solution.joint_impulses


def _joint_work(solution: Solution, impulses: Floats) -> float:
    """Work of the joint impulses in J: λ · (Gᵀv before + Gᵀv after)/2, from drivers and stabilisation."""
    if not impulses.any():
        return 0.0
    problem = solution.problem
    speeds = problem.joint_free_velocity + solution.joint_velocities - 2.0 * problem.joint_bias
    return 0.5 * float(impulses @ speeds)
