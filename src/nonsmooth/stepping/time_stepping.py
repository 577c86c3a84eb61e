"""Time stepping: System → contacts → problem → solution with certificate → new state.

`kernels.walk` does the steps. It returns where something has to be done outside of it, which the methods of
`TimeStepper` do: `EulerStep` steps with joints and impacts, `RattleStep` steps without contacts, and
`Projection` corrects positions. Impulses of joints, and of contacts that persist, are the warm start of the
next solve.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.kernel_clock import kernel_seconds, work_seconds
from nonsmooth.collision.certificate import ContactCertificate, ContactChecker
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.withheld import Withheld
from nonsmooth.errors import ProblemError, WorldError
from nonsmooth.iteration.status import Status
from nonsmooth.model.system import System
from nonsmooth.solvers.base import Goal
from nonsmooth.solvers.parts.first_sweeps import FirstSweeps
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import run_to_goal
from nonsmooth.stepping.contact_numbers import WRONG_CONTACTS, check_numbers, contact_numbers
from nonsmooth.stepping.frame import Detail, Frame, Timings
from nonsmooth.stepping.kernels import numbers as columns
from nonsmooth.stepping.kernels import step as kernels
from nonsmooth.stepping.kernels import walk as stages
from nonsmooth.stepping.kernels import world as at
from nonsmooth.stepping.options import Corners, StepOptions
from nonsmooth.stepping.schemes.body_constants import body_constants
from nonsmooth.stepping.schemes.scheme_step import SchemeStep
from nonsmooth.stepping.schemes.step_problem import Motion, step_problem
from nonsmooth.stepping.schemes.step_result import StepResult
from nonsmooth.stepping.step_count import check_step
from nonsmooth.stepping.step_log import ABSENT
from nonsmooth.stepping.walked_solution import walked_joints, walked_solution
from nonsmooth.stepping.world import LOG_ROWS, World

_LOOK_EVERY = 0.05
"""Time in s after which a walk returns, so that Ctrl-C takes effect."""
_STATE = ("position", "quaternion", "linear_velocity", "angular_velocity")


@dataclass
class _Outside:
    """What was done outside of the walk in a step."""

    step: int = -1
    withheld: Withheld | None = None
    certificate: ContactCertificate | None = None
    solution: Solution | None = None
    result: StepResult | None = None


_NOTHING = _Outside()


class TimeStepper:
    """Advances a system step by step, in place on the system's state arrays."""

    def __init__(self, system: System, step: float, options: StepOptions | None = None) -> None:
        check_step(step)
        if system.count == 0:
            raise ProblemError("the system has no bodies: add some, for example with add_sphere")
        self._asked = StepOptions() if options is None else options
        self.system, self.step, self.options = system, float(step), self._asked.for_system(system, step)
        options = self.options
        self._detector = Detector(system, options.margin)
        self._checker = ContactChecker(system, options.contact_check)
        self._bodies, self._mass = body_constants(system)
        self._scheme = SchemeStep(system, self._bodies, self._mass, self._detector, self.step, options)
        self._world = World(
            system, (self._bodies, self._mass), self._scheme.mechanism, self._detector, self._checker,
            self.step, options, holds_joints=self._scheme.holds_joints,
        )  # fmt: skip
        self._world.count[at.OUTSIDE] = self._scheme.needed
        # `System.forces` lets joints follow the state where the walk does not
        self._joints_follow = len(system.joints) > 0 and not self._scheme.holds_joints
        self._goal = Goal(options.tolerance, options.max_iterations)
        self._steady: Floats | None = None  # the forces in the world, if they do not change
        self._outside = _NOTHING
        self._handlers: dict[int, Callable[[], None]] = {
            stages.FORCES: self._compute_forces,
            stages.GROW: self._world.grow,
            stages.CONTACTS: self._find_contacts,
            stages.CHECKING: self._check_contacts,
            stages.SCHEME: self._do_scheme,
            stages.SOLVER: self._solve,
            stages.FAST: self._follow,
        }
        self._timings, self._walked, self._chunk = Timings(), 0.0, 1
        self._frame: Any = object()
        self._unheld = sys.getrefcount(self._frame)
        self._frame = None

    @property
    def index(self) -> int:
        """Number of steps done."""
        index: int = self._world.count.item(at.STEP)
        return index

    @property
    def time(self) -> float:
        """Time reached, in s."""
        return self.index * self.step

    @property
    def frame(self) -> Frame | None:
        """The last step; None before the first one."""
        frame: Frame | None = self._frame
        return frame

    def advance(self, most: int = 1) -> Frame:
        """Do up to this number of steps, as many as fit between two looks for Ctrl-C; the last one's frame.

        After an error the system is at the last complete step. `take_rows` has the numbers of all steps.
        """
        world, count = self._world, self._world.count
        self._keep_frame()
        began, waited, first = work_seconds(), kernel_seconds(), self.index
        try:
            count[at.LOGGED] = 0
            count[at.UNTIL] = first + min(most, self._chunk)
            self._set_steady_forces()
            started = began
            while (reason := stages.walk(world.packed)) != stages.DONE:
                self._walked += work_seconds() - started
                self._handlers[reason]()
                started = work_seconds()
            ended = work_seconds()
            self._walked += ended - started
            if self.options.world is not None:
                self._check_inside(self.options.world)
            frame = self._frame = self._make_frame()
        except BaseException:
            self._drop_step()
            raise
        if most > 1:
            self._chunk = min(max(int(_LOOK_EVERY * (self.index - first) / (ended - began)), 1), LOG_ROWS)
        self._timings.kernels += kernel_seconds() - waited
        return frame

    def take_rows(self) -> Floats:
        """Numbers (steps, names) of the steps since the last call: see `StepLog`. A view."""
        count = self._world.count
        rows = self._world.arrays.log[: count[at.LOGGED]]
        count[at.LOGGED] = 0
        return rows

    @property
    def timings(self) -> Timings:
        """Wall times of the parts of all steps so far."""
        cycles = self._world.arrays.cycles
        total = float(cycles.sum())
        if total > 0.0:
            shares = (self._walked / total * cycles).tolist()
            self._timings.add(**dict(zip(at.PARTS, shares, strict=True)))
        elif self._walked > 0.0:  # no counter of cycles on this processor
            self._timings.add(steps=self._walked)
        self._walked, cycles[:] = 0.0, 0
        return self._timings

    # ---- frames ----------------------------------------------------------------------------------

    def _make_frame(self) -> Frame:
        """The frame of the last step; its details are read when somebody asks for them."""
        world = self._world
        row = world.arrays.log[world.count[at.LOGGED] - 1].tolist()
        index = self.index
        status = "solved"
        if row[columns.SOLVED] == 0.0:
            status = WRONG_CONTACTS if row[columns.WRONG] else str(self._missed())
        return Frame(
            self.system, world.arrays.state, (index, self.step), status, row, self._scheme.names, self._detail
        )

    def _missed(self) -> Status:
        """Status of the last step's solution if it is not a good one."""
        solution = self._done_outside().solution
        return Status.STALLED if solution is None else solution.status

    def _keep_frame(self) -> None:
        """Copy what the last frame shows, which the next step overwrites, if somebody else holds it."""
        if self._frame is not None and sys.getrefcount(self._frame) > self._unheld:
            self._frame.keep()

    def _done_outside(self) -> _Outside:
        """What was done outside of the walk in the last step."""
        return self._outside if self._outside.step == self.index - 1 else _NOTHING

    def _detail(self) -> Detail:
        """Copies of the contacts of the last step, its impulses and its solution."""
        done, move = self._done_outside(), self._world.arrays.move
        if done.result is not None:
            result = done.result
            found = replace(result.contacts, certificate=done.certificate)
            solution = result.solution
            return Detail(found, move.centres.copy(), result.all_impulses, result.joints, lambda: solution)
        contacts = self._world.contacts().copy()
        found = replace(contacts, certificate=self._certificate(contacts, done, self.index - 1))
        impulses = self._world.arrays.problem.impulses[: len(found)].copy()
        known = done.solution
        joints = walked_joints(self._world, self.step)
        if known is not None:
            return Detail(found, move.centres.copy(), impulses, joints, lambda: known)
        look = walked_solution(self._world, joints, self._mass, self.options)
        return Detail(found, move.centres.copy(), impulses, joints, look)

    def _certificate(self, contacts: Contacts, done: _Outside, step: int) -> ContactCertificate:
        """The certificate of the contacts, also in a step that does not check them."""
        if done.certificate is not None:
            return done.certificate
        if self._checker.every > 0 and step % self._checker.every == 0:
            return self._checker.certificate(contacts, Withheld.empty())
        return self._checker.unchecked(contacts, done.withheld or Withheld.empty())

    def _drop_step(self) -> None:
        """After an error: return to the last complete step."""
        count = self._world.count
        lost = count[at.STAGE] not in (stages.BEGIN, stages.READY)
        count[at.STAGE] = stages.BEGIN
        self._world.move_whole_step()
        if count[at.LOGGED] > 0:
            self._frame = self._make_frame()
        if lost and self._frame is not None:
            self._frame.lose()

    # ---- what leaves the walk --------------------------------------------------------------------

    def _now(self) -> _Outside:
        """The record of what is done outside in this step."""
        if self._outside.step != self.index:
            self._outside = _Outside(self.index)
        return self._outside

    def _set_steady_forces(self) -> None:
        steady = self.system.steady_forces
        self._world.count[at.FORCES_CHANGE] = steady is None or self._joints_follow
        if steady is not None and steady is not self._steady:
            self._world.arrays.move.force[:] = steady
        self._steady = steady

    def _compute_forces(self) -> None:
        began = work_seconds()
        self._world.arrays.move.force[:] = self.system.forces(self.time)
        self._timings.add(motion=work_seconds() - began)

    def _find_contacts(self) -> None:
        began, arrays = work_seconds(), self._world.arrays
        self._detector.margin = float(arrays.detection.margins[0])
        state, move = arrays.state, arrays.move
        contacts = self._detector.detect(state.position, state.quaternion, move.displacement, move.turn)
        self._world.set_contacts(contacts)
        withheld = self._now().withheld = self._detector.withheld
        self._world.count[at.WITHHELD] = len(withheld)
        # the next step is likely to have such contacts too, and would be searched for contacts twice
        self._world.count[at.FOUND_OUTSIDE] = self._detector.needs_python or len(withheld) > 0
        self._timings.add(collision=work_seconds() - began)

    def _check_contacts(self) -> None:
        began, arrays, now = work_seconds(), self._world.arrays, self._now()
        now.certificate = self._checker.check(
            self._world.contacts(), arrays.state.position, arrays.state.quaternion,
            margin=float(arrays.detection.margins[0]), step=self.index, withheld=now.withheld,
            displacement=arrays.move.displacement,
        )  # fmt: skip
        arrays.checked[:] = check_numbers(now.certificate)
        self._timings.add(checking=work_seconds() - began)

    def _solve(self) -> None:
        """Solve the problem of a step that sweeps in the walk do not solve."""
        began, world, options = work_seconds(), self._world, self.options
        count, arrays = world.count, world.arrays
        c = int(count[at.FOUND])
        rows, friction = world.rows(), arrays.detection.contacts.found.friction[:c].copy()
        motion = Motion(arrays.move.momentum.copy(), arrays.move.free)
        problem = step_problem(self._mass, motion, rows, friction, options.law)
        problem.operator.know(arrays.problem.diagonal[:c].copy(), arrays.problem.island[:c].copy())
        start, x = np.empty((c, 3)), arrays.problem.x[:c]
        kernels.to_components(rows.frame, arrays.matched.start[:c], start)
        sweeps, tower = None, bool(count[at.METHOD] in (at.TOWER, at.AFTER_TOWER))
        if count[at.METHOD] != at.NOTHING:
            sweeps = FirstSweeps(x.copy(), int(count[at.SWEPT]), float(arrays.real[at.SOLVED_TO]), tower)
        assembled = work_seconds()
        options.solver.check(problem)
        solution = run_to_goal(problem, options.solver, start, self._goal, sweeps)
        x[:] = solution.impulses.reshape(-1, 3)
        count[at.SWEPT] = solution.statistics.iterations
        count[at.REACHED] = solution.status is Status.SOLVED
        self._now().solution = solution
        self._timings.add(assembly=assembled - began, solver=work_seconds() - assembled)

    def _follow(self) -> None:
        """Follow fast bodies, which stop where they meet others."""
        began, arrays = work_seconds(), self._world.arrays
        move, contacts = arrays.move, self._world.contacts()
        move.times[:] = self._scheme.euler.times(
            arrays.state, Motion(move.momentum, move.free), move.velocity, contacts,
            arrays.problem.impulses[: len(contacts)], move.force,
        )  # fmt: skip
        self._world.count[at.SHORTENED] = 1
        self._timings.add(motion=work_seconds() - began)

    def _do_scheme(self) -> None:
        """Do a step with joints, impacts or another scheme, from its contacts on."""
        before = self.memory()
        try:
            self._do_rest(self._now())
        except BaseException:
            self._set_memory(before)
            raise

    def _do_rest(self, now: _Outside) -> None:
        world = self._world
        contacts = world.contacts().copy()
        now.certificate = self._certificate(contacts, now, self.index)
        now.result, numbers = self._scheme.advance(world.arrays, self.index, contacts, self._timings)
        now.solution = solution = now.result.solution
        late = float(world.count[at.LATE_FOUND])
        world.count[at.STEP] += 1
        world.remember(now.result.contacts.shapes, now.result.contacts.feature, now.result.impulses)
        checked = replace(contacts, certificate=now.certificate)
        numbers |= contact_numbers(checked, self.system.bounding_radius) | {"late_contacts": late}
        right = solution.status is Status.SOLVED and numbers["wrong_contacts"] == 0.0
        world.add_row(
            (
                self.time, solution.certificate.residual, solution.statistics.iterations, right,
                *(numbers.get(name, absent) for name, absent in ABSENT.items()),
            )
        )  # fmt: skip
        world.count[at.STAGE] = stages.BEGIN

    def _check_inside(self, corners: Corners) -> None:
        """Raise if a body has left the world."""
        lower, upper = corners
        position = self.system.position
        outside = np.any((position < lower) | (position > upper), axis=1) & ~self.system.fixed
        if outside.any():
            body = int(np.argmax(outside))
            raise WorldError(
                f"{self.system.label(body)} left the world at t = {self.time:g} s: it is at "
                f"{np.array2string(position[body], precision=4)} m; enlarge world, or give it walls"
            )

    # ---- state for bitwise identical continuation ------------------------------------------------

    def memory(self) -> dict[str, Any]:
        """Everything that the next steps depend on, besides the system's constants and the options."""
        system = self.system
        shapes, feature, impulses = self._world.remembered()
        return {
            "index": self.index,
            "position": system.position.copy(),
            "quaternion": system.quaternion.copy(),
            "linear_velocity": system.linear_velocity.copy(),
            "angular_velocity": system.angular_velocity.copy(),
            "contact_shapes": shapes.copy(),
            "contact_feature": feature.copy(),
            "contact_impulses": impulses.copy(),
            "joint_impulses": self._world.arrays.joint_impulses.copy(),
            "joint_angles": self.system.joints.memory(),
        }

    def restore(self, memory: dict[str, Any], frame: Frame | None = None) -> None:
        """Restore what `memory` returned, and the frame that was the last one then."""
        self._set_memory(memory)
        self.forget()
        self._frame = frame

    def _set_memory(self, memory: dict[str, Any]) -> None:
        system = self.system
        self._world.count[at.STEP] = int(memory["index"])
        for name in _STATE:
            stored = np.asarray(memory[name])
            if stored.shape != getattr(system, name).shape:
                raise ProblemError(
                    f"the checkpoint has {len(stored)} bodies and this system {system.count}: "
                    "resume with the system that the run began with"
                )
            getattr(system, name)[:] = stored
        self._world.remember(memory["contact_shapes"], memory["contact_feature"], memory["contact_impulses"])
        if "joint_angles" in memory:  # older recordings of systems without joints may lack it
            system.joints.restore(np.asarray(memory["joint_angles"]))
            self._world.arrays.joint_impulses[:] = memory["joint_impulses"]

    def forget(self) -> None:
        """Forget the last step's frame and numbers."""
        self._keep_frame()
        self._frame, self._outside = None, _NOTHING
        self._world.count[at.LOGGED] = 0

    # ---- adding and removing bodies -------------------------------------------------------------

    def again(self) -> TimeStepper:
        """Return a stepper of the system in its current form, which continues from here."""
        other = TimeStepper(self.system, self.step, self._asked)
        other.restore(self.memory())
        other._timings = self.timings
        return other

    def renumber_shapes(self, number: Integers) -> None:
        """Replace the numbers of the shapes by (s,); contacts of shapes with −1 are dropped."""
        old, feature, impulses = self._world.remembered()
        shapes = number[old]
        kept = np.flatnonzero(np.all(shapes >= 0, axis=1))
        self._world.remember(shapes[kept].astype(np.int32), feature[kept], impulses[kept])
