"""Time stepping: System → contacts → problem → solution with certificate → new state.

`EulerStep` does steps with contacts, `RattleStep` steps without, and `Projection` corrects positions.
Impulses of joints, and of contacts that persist, are the warm start of the next solve.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.kernel_clock import kernel_seconds, work_seconds
from nonsmooth.collision.certificate import ContactChecker
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.matching import match_impulses
from nonsmooth.errors import ProblemError, WorldError
from nonsmooth.model.system import System
from nonsmooth.stepping.contact_numbers import WRONG_CONTACTS, contact_numbers
from nonsmooth.stepping.frame import Frame, Timings
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels import step as kernels
from nonsmooth.stepping.options import StepOptions
from nonsmooth.stepping.schemes.body_constants import body_constants, spin_radius
from nonsmooth.stepping.schemes.euler import EulerStep
from nonsmooth.stepping.schemes.mechanism import Mechanism
from nonsmooth.stepping.schemes.projection import Projection
from nonsmooth.stepping.schemes.rattle import RattleStep
from nonsmooth.stepping.schemes.step_problem import Motion
from nonsmooth.stepping.schemes.step_result import StepResult
from nonsmooth.stepping.schemes.turning_planes import TurningPlanes
from nonsmooth.stepping.step_count import check_step
from nonsmooth.stepping.step_log import numbers_of

_LATE = 1e-3
"""Overlap, relative to the margin, above which a new contact counts as found too late."""


class TimeStepper:
    """Advances a system step by step, in place on the system's state arrays."""

    def __init__(self, system: System, step: float, options: StepOptions | None = None) -> None:
        check_step(step)
        if system.count == 0:
            raise ProblemError("the system has no bodies: add some, for example with add_sphere")
        self._asked = StepOptions() if options is None else options
        self.system, self.step, self.options = system, float(step), self._asked.for_system(system, step)
        options = self.options
        self.index = 0
        self.timings = Timings()
        self._detector = Detector(system, options.margin)
        self._checker = ContactChecker(system, options.contact_check)
        self._bodies, mass = body_constants(system)
        self._spin_radius = spin_radius(system)
        self._planes = TurningPlanes(system)
        self.mechanism = Mechanism(system, self._bodies)
        self._euler = EulerStep(
            system, self._bodies, mass, self.mechanism, self._detector, self.step, options
        )
        self._projection = Projection(system, self._bodies, mass, self.mechanism, self._detector)
        self._rattle = RattleStep(system, self._bodies, mass, self.mechanism, self._detector, self.step)
        count = system.count
        self._rotation = np.empty((count, 3, 3))
        self._motion = Motion(np.empty((count, 6)), np.empty((count, 6)))
        self._displacement, self._turn = np.empty((count, 3)), np.empty(count)
        self.contacts = Contacts.empty()
        self.impulses = np.zeros((0, 3))
        """World frame, on body B, in N·s, without those of impacts: the warm start of the next solve."""
        self._names = numbers_of(system, options.scheme)
        self.joint_impulses = np.zeros(self.mechanism.count)
        """λ in N·s or N·m·s, one per joint row."""

    @property
    def time(self) -> float:
        """Time reached, in s."""
        return self.index * self.step

    def advance(self) -> Frame:
        """Do one step and return its frame."""
        system, options = self.system, self.options
        began, waited = work_seconds(), kernel_seconds()
        force = system.forces(self.time)
        state = self._state()
        centres = state.position.copy()
        self._prepare(state, force)
        moved = work_seconds()
        contacts = self._detector.detect(state.position, state.quaternion, self._displacement, self._turn)
        found = work_seconds()
        contacts = self._checked(state, contacts)
        checked = work_seconds()
        start = match_impulses(self.contacts, self.impulses, contacts)
        late = self._late(contacts)
        prepared = work_seconds()
        outcome = None
        if options.scheme == "rattle" and not self._detector.follows:
            outcome = self._rattle.attempt(state, self.time, force, contacts)
        if outcome is None:
            # a copy, because the problem keeps it and the next step overwrites it
            motion = Motion(self._motion.momentum.copy(), self._motion.velocity)
            outcome = self._euler.advance(
                state, self.time, motion, contacts, start, self.joint_impulses, force
            )
            system.joints.run_on(system, self.step)
        solved = work_seconds()
        self.index += 1
        self.contacts, self.impulses = outcome.contacts, outcome.impulses
        if outcome.joints is not None:
            self.joint_impulses = outcome.joints.impulses
        joint_error = self._project_positions(state, outcome)
        numbers = self._numbers(outcome) | contact_numbers(contacts, system.bounding_radius)
        numbers["late_contacts"] = float(late)
        if len(system.joints):
            numbers["joint_error"] = joint_error
        self._check_state(state)
        self.timings.add(
            motion=moved - began + work_seconds() - solved,
            collision=found - moved,
            checking=checked - found,
            assembly=prepared - checked + outcome.assembling,
            solver=solved - prepared - outcome.assembling,
        )
        self.timings.kernels += kernel_seconds() - waited
        solution = outcome.solution
        return Frame(
            index=self.index,
            time=self.time,
            step=self.step,
            position=state.position,
            quaternion=state.quaternion,
            linear_velocity=state.linear,
            angular_velocity=state.angular,
            contacts=replace(outcome.contacts, certificate=contacts.certificate),
            centres=centres,
            impulses=outcome.all_impulses,
            residual=solution.certificate.residual,
            status=str(solution.status) if numbers["wrong_contacts"] == 0.0 else WRONG_CONTACTS,
            iterations=solution.statistics.iterations,
            numbers=numbers,
            solution=solution,
            joints=outcome.joints,
            system=system,
        )

    def _state(self) -> motion_kernels.State:
        """The system's own arrays, with matching rotation matrices."""
        system = self.system
        state = motion_kernels.State(
            system.position,
            system.quaternion,
            system.linear_velocity,
            system.angular_velocity,
            self._rotation,
        )
        motion_kernels.set_rotations(state.quaternion, state.rotation)
        return state

    def _prepare(self, state: motion_kernels.State, force: Floats) -> None:
        """Compute the motion without impulses, and bounds on the bodies' displacements."""
        motion, options = self._motion, self.options
        motion_kernels.free_motion(self._bodies, state, force, self.step, motion.momentum, motion.velocity)
        motion_kernels.reach(
            self._bodies, state, motion.velocity, self._spin_radius, self.step, self._displacement, self._turn
        )
        self._planes.add(state, self.step, self._displacement, self._turn)
        fastest = float(np.sqrt(np.max(np.sum(self._displacement**2, axis=1))))
        self._detector.margin = min(max(options.margin, fastest), 2.0 * options.margin)

    def _checked(self, state: motion_kernels.State, contacts: Contacts) -> Contacts:
        """The contacts with their certificate."""
        certificate = self._checker.check(
            contacts,
            state.position,
            state.quaternion,
            margin=self._detector.margin,
            step=self.index,
            withheld=self._detector.withheld,
            displacement=self._displacement,
        )
        return replace(contacts, certificate=certificate)

    def _project_positions(self, state: motion_kernels.State, outcome: StepResult) -> float:
        """Correct positions as the scheme requires; return the joints' error in m or rad."""
        if self.options.projected and not outcome.closed:
            return self._projection.close(state, self.time).joint_error
        if self.mechanism.count == 0:
            return 0.0
        motion_kernels.set_rotations(state.quaternion, state.rotation)
        rows = self.mechanism.at(state)
        self.mechanism.remember(rows)
        return self.mechanism.error(self.mechanism.coordinates(rows, self.time))

    def _late(self, contacts: Contacts) -> int:
        """Number of overlapping contacts that the last step did not have: they were found too late."""
        deep = np.flatnonzero(contacts.gap < -_LATE * self.options.margin)
        if self.index == 0 or len(deep) == 0:
            return 0
        known = match_impulses(self.contacts, np.ones((len(self.contacts), 3)), contacts)
        return int(np.sum(known[deep, 0] == 0.0))

    def _numbers(self, outcome: StepResult) -> dict[str, float]:
        """The step's scalars; energies in J at its end, penetration in m at its beginning."""
        solution, velocity, contacts = outcome.solution, outcome.velocity, outcome.contacts
        kinetic = float(motion_kernels.kinetic_energy(self._bodies, velocity))
        certificate, problem = solution.certificate, solution.problem
        complementarity, squared = kernels.impulse_numbers(
            solution.impulses.reshape(-1, 3), solution.contact_velocities.reshape(-1, 3), problem.cones.weight
        )
        error = problem.scales.total * certificate.natural_map.relative
        speed, potential = motion_kernels.body_numbers(
            self._bodies, self.system.position, velocity, self.system.gravity
        )
        numbers = {
            "contacts": float(len(contacts)),
            "kinetic_energy": kinetic,
            "potential_energy": float(potential) + self.system.joints.potential_energy(self.system),
            "contact_work": kinetic - outcome.free_energy - outcome.joint_work,
            "dissipation": certificate.dissipation,
            "complementarity": float(complementarity),
            "force_error": error / math.sqrt(squared) if squared > 0.0 else 0.0,
            "penetration": max(0.0, -float(contacts.gap.min(initial=0.0))),
            "largest_speed": float(speed),
        }
        if "impacts" in self._names:
            impacts = outcome.impacts
            if impacts is not None:  # work of driven surfaces in an impact counts as work of contacts
                numbers["contact_work"] += impacts.driven
            numbers |= {
                "impacts": 0.0 if impacts is None else float(impacts.count),
                "impact_work": 0.0 if impacts is None else impacts.work,
                "reduced_impacts": 0.0 if impacts is None else float(impacts.reduced),
                "unfinished_impacts": 0.0 if impacts is None else float(impacts.unfinished),
            }
        if "flight_work" in self._names:
            numbers["flight_work"] = outcome.flight_work
        return numbers

    def _check_state(self, state: motion_kernels.State) -> None:
        if self.options.world is None:
            return
        lower, upper = self.options.world
        outside = np.any((state.position < lower) | (state.position > upper), axis=1) & ~self.system.fixed
        if outside.any():
            body = int(np.argmax(outside))
            raise WorldError(
                f"{self.system.label(body)} left the world at t = {self.time:g} s: it is at "
                f"{np.array2string(state.position[body], precision=4)} m; enlarge world, or give it walls"
            )

    # ---- state for bitwise identical continuation ------------------------------------------------

    def memory(self) -> dict[str, Any]:
        """Everything that the next steps depend on, besides the system's constants and the options."""
        system = self.system
        return {
            "index": self.index,
            "position": system.position.copy(),
            "quaternion": system.quaternion.copy(),
            "linear_velocity": system.linear_velocity.copy(),
            "angular_velocity": system.angular_velocity.copy(),
            # a step creates new arrays here and does not change these
            "contact_shapes": self.contacts.shapes,
            "contact_feature": self.contacts.feature,
            "contact_impulses": self.impulses,
            "joint_impulses": self.joint_impulses,
            "joint_angles": self.system.joints.memory(),
        }

    def restore(self, memory: dict[str, Any]) -> None:
        """Restore what `memory` returned."""
        system = self.system
        self.index = int(memory["index"])
        for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
            stored = np.asarray(memory[name])
            if stored.shape != getattr(system, name).shape:
                raise ProblemError(
                    f"the checkpoint has {len(stored)} bodies and this system {system.count}: "
                    "resume with the system that the run began with"
                )
            getattr(system, name)[:] = stored
        count = len(memory["contact_feature"])
        self.contacts = Contacts.allocate(count)
        self.contacts.shapes[:] = memory["contact_shapes"]
        self.contacts.feature[:] = memory["contact_feature"]
        self.impulses = np.array(memory["contact_impulses"])
        if "joint_angles" in memory:  # older recordings of systems without joints may lack it
            system.joints.restore(np.asarray(memory["joint_angles"]))
            self.joint_impulses = np.array(memory["joint_impulses"])

    # ---- adding and removing bodies -------------------------------------------------------------

    def again(self) -> TimeStepper:
        """Return a stepper of the system in its current form, which continues from here."""
        other = TimeStepper(self.system, self.step, self._asked)
        other.restore(self.memory())
        other.timings = self.timings
        return other

    def renumber_shapes(self, number: Integers) -> None:
        """Replace the numbers of the shapes by (s,); contacts of shapes with −1 are dropped."""
        shapes = number[self.contacts.shapes]
        kept = np.flatnonzero(np.all(shapes >= 0, axis=1))
        self.contacts, self.impulses = self.contacts.take(kept), self.impulses[kept]
        self.contacts.shapes[:] = shapes[kept]
