"""Steps that `kernels.walk` leaves after it has found the contacts: with joints, impacts, or another scheme.

`EulerStep` does steps with contacts, `RattleStep` steps without, and `Projection` corrects positions.
"""

from __future__ import annotations

import math

from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.model.system import System
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import Auto
from nonsmooth.stepping.frame import Timings
from nonsmooth.stepping.joint_room import can_walk
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels import step as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.kernels.world import World
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes.euler import EulerStep
from nonsmooth.stepping.schemes.mechanism import Mechanism
from nonsmooth.stepping.schemes.projection import Projection
from nonsmooth.stepping.schemes.rattle import RattleStep
from nonsmooth.stepping.schemes.step_problem import Motion
from nonsmooth.stepping.schemes.step_result import StepResult
from nonsmooth.stepping.step_log import numbers_of


class SchemeStep:
    """Does steps of one length on a system's state, in place."""

    def __init__(
        self,
        system: System,
        bodies: Bodies,
        mass: BodyMass,
        detector: Detector,
        step: float,
        options: ChosenOptions,
    ) -> None:
        self._system, self._bodies, self._detector = system, bodies, detector
        self._step, self._options = step, options
        self.mechanism = Mechanism(system, bodies)
        parts = system, bodies, mass, self.mechanism, detector
        self.euler = EulerStep(*parts, step, options)
        self._projection = Projection(*parts)
        self._rattle = RattleStep(*parts, step)
        self.names = numbers_of(system, options.scheme)
        """Names and units of the numbers of this system's steps."""

    @property
    def needed(self) -> bool:
        """Whether the walk can do none of this system's steps."""
        return self._other or (len(self._system.joints) > 0 and not self.holds_joints)

    @property
    def holds_joints(self) -> bool:
        """Whether the walk does the steps in which nothing but joints act."""
        plain = not self._other and isinstance(self._options.solver, Auto)
        return plain and can_walk(self._system, self.mechanism)

    @property
    def _other(self) -> bool:
        """Whether scheme or materials are others than those of the walk."""
        return self._options.scheme != "stabilised" or self.euler.impacts_possible

    def advance(
        self, world: World, index: int, contacts: Contacts, timings: Timings
    ) -> tuple[StepResult, dict[str, float]]:
        """Do a step after `index` steps; the result, and the step's numbers but those of its contacts."""
        state, move = world.state, world.move
        began, system, result = work_seconds(), self._system, None
        t = index * self._step
        if self._options.scheme == "rattle" and not self._detector.follows:
            result = self._rattle.attempt(state, t, move.force, contacts)
        if result is None:
            # a copy, because the problem keeps it and the next step overwrites it
            motion = Motion(move.momentum.copy(), move.free)
            start = world.matched.start[: len(contacts)]
            result = self.euler.advance(
                state, t, motion, contacts, start, world.joint_impulses.copy(), move.force
            )
            system.joints.run_on(system, self._step)
        solved = work_seconds()
        if result.joints is not None:
            world.joint_impulses[:] = result.joints.impulses
        joint_error = self._project_positions(state, (index + 1) * self._step, result)
        numbers = self._numbers(result)
        if len(system.joints):
            numbers["joint_error"] = joint_error
        timings.add(
            motion=work_seconds() - solved,
            assembly=result.assembling,
            solver=solved - began - result.assembling,
        )
        return result, numbers

    def _project_positions(self, state: State, t: float, outcome: StepResult) -> float:
        """Correct positions at time t (s) as the scheme requires; return the joints' error in m or rad."""
        if self._options.projected and not outcome.closed:
            return self._projection.close(state, t).joint_error
        if self.mechanism.count == 0:
            return 0.0
        motion_kernels.set_rotations(state.quaternion, state.rotation)
        rows = self.mechanism.at(state)
        self.mechanism.remember(rows)
        return self.mechanism.error(self.mechanism.coordinates(rows, t))

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
            self._bodies, self._system.position, velocity, self._system.gravity
        )
        numbers = {
            "contacts": float(len(contacts)),
            "kinetic_energy": kinetic,
            "potential_energy": float(potential) + self._system.joints.potential_energy(self._system),
            "contact_work": kinetic - outcome.free_energy - outcome.joint_work,
            "dissipation": certificate.dissipation,
            "complementarity": float(complementarity),
            "force_error": error / math.sqrt(squared) if squared > 0.0 else 0.0,
            "penetration": max(0.0, -float(contacts.gap.min(initial=0.0))),
            "largest_speed": float(speed),
        }
        if "impacts" in self.names:
            impacts = outcome.impacts
            if impacts is not None:  # work of driven surfaces in an impact counts as work of contacts
                numbers["contact_work"] += impacts.driven
            numbers |= {
                "impacts": 0.0 if impacts is None else float(impacts.count),
                "impact_work": 0.0 if impacts is None else impacts.work,
                "reduced_impacts": 0.0 if impacts is None else float(impacts.reduced),
                "unfinished_impacts": 0.0 if impacts is None else float(impacts.unfinished),
            }
        if "flight_work" in self.names:
            numbers["flight_work"] = outcome.flight_work
        return numbers
