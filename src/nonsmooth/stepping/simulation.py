"""`Simulation`: a system in motion that is driven step by step.

sim = ns.Simulation(system, step=0.001)
while sim.time < 10.0:
    angle = sim.system.coordinate("hinge")
    sim.set_motor("hinge", force=-20.0 * angle)
    sim.step()
print(sim.certificate)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.interrupts import uninterrupted
from nonsmooth._support.options import overridden, whole
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import ContactError, NonsmoothError, OptionError
from nonsmooth.io.runs.recording import Recording
from nonsmooth.iteration.solution import SolveError
from nonsmooth.model import control, removal
from nonsmooth.model.shapes import Shape
from nonsmooth.model.system import BodyOptions, System
from nonsmooth.stepping.assembly import check_assembled
from nonsmooth.stepping.contact_numbers import WRONG_CONTACTS
from nonsmooth.stepping.frame import Frame, Timings
from nonsmooth.stepping.options import StepOptions, StepOverrides
from nonsmooth.stepping.recorder import Recorder
from nonsmooth.stepping.run_certificate import RunCertificate
from nonsmooth.stepping.state import State
from nonsmooth.stepping.step_count import check_step, is_finite, steps_to
from nonsmooth.stepping.step_log import StepLog
from nonsmooth.stepping.time_stepping import TimeStepper

Hook = Callable[[Frame], object]
"""Called with the `Frame` of a step."""


class Simulation:
    """A system that moves in steps of equal length, as far as it is told, and can be steered on its way.

    The system that is given stays as it is: a copy moves. After an error or Ctrl-C the simulation is at its
    last whole step.

    Args:
        system: bodies, shapes, materials, joints, forces, and the state to begin with.
        step: time step h in s.
        options: how a step is done; the fields of `StepOptions` are keywords as well.
        throw: raise `SolveError` at a step that does not reach its tolerance, which is not done then; the
            default counts such steps in the `certificate`, as `simulate` does.
        **overrides: fields of `StepOptions`, in place of those of `options`.
    """

    def __init__(
        self,
        system: System,
        *,
        step: float,
        options: StepOptions | None = None,
        throw: bool = False,
        **overrides: Unpack[StepOverrides],
    ) -> None:
        if not isinstance(system, System):
            raise OptionError(
                f"system is a {type(system).__name__}: give a System, for example ns.scenes.filling()"
            )
        check_step(step)
        self.options = overridden("Simulation", StepOptions, options, overrides)
        """How a step is done, as it was asked for."""
        self.throw = throw
        """Whether a step that misses its tolerance raises."""
        if len(system.joints):
            check_assembled(system)
            system.joints.stiffest(step, system)
        self._first, self._system = system.copy(), system.copy()
        self._hooks: list[Hook] = []
        self._recorder: Recorder | None = None
        self._random = np.random.default_rng(0)
        self._begin(float(step))

    def _begin(self, step: float) -> None:
        self._stepper = TimeStepper(self._system, step, self.options)
        self._outdated = False  # whether bodies came or went since the stepper was made
        self._log = StepLog()
        self._frame: Frame | None = None

    def __repr__(self) -> str:
        return f"Simulation(time={self.time:g} s, step={self._stepper.step:g} s, {self._system!r})"

    # ---- where it is ----------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time reached, in s: the number of steps done times the step."""
        return self._stepper.time

    @property
    def step_size(self) -> float:
        """Time step h in s."""
        return self._stepper.step

    @property
    def index(self) -> int:
        """Steps done."""
        return self._stepper.index

    @property
    def system(self) -> System:
        """The system in motion: its state changes with every step, and what is written to it holds at once.

        Fetch its arrays again after bodies were added or removed.
        """
        return self._system

    @property
    def frame(self) -> Frame | None:
        """The last step; None at the beginning, and after `reset`, `add`, `remove` or another `state`."""
        return self._frame

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with gap and normal."""
        return Contacts.empty() if self._frame is None else self._frame.contacts

    @property
    def impulses(self) -> Floats:
        """Impulses (c, 3) of the contacts in the last step in N·s, on body B, world frame."""
        return np.zeros((0, 3)) if self._frame is None else self._frame.impulses

    @property
    def forces(self) -> Floats:
        """Contact forces (c, 3) in N, on body B, world frame: the mean over the last step."""
        return self.impulses / self.step_size

    @property
    def steps(self) -> StepLog:
        """Numbers of every step so far, by name."""
        return self._log

    @property
    def certificate(self) -> RunCertificate:
        """How exact all steps so far were."""
        return RunCertificate.of(self._log, self.options.tolerance)

    @property
    def timings(self) -> Timings:
        """Wall time of the parts of all steps so far."""
        return self._stepper.timings

    @property
    def random(self) -> np.random.Generator:
        """Random numbers for noise and disturbances of your own; `reset(seed=…)` starts them anew."""
        return self._random

    # ---- moving ---------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Frame:
        """Do n steps and return the last one."""
        whole("Simulation.step", "n", n, 1)
        for _ in range(n):
            frame = self._advance()
        return frame

    def run(self, *, until: float | Callable[[Frame], bool]) -> Frame | None:
        """Do steps up to a time, or until a function of the last step returns True; return the last step.

        Args:
            until: time in s, of which the first step at or after it is the last one done; or the function.
        """
        if callable(until):
            frame = self.step()
            while not until(frame):
                frame = self.step()
            return frame
        if not is_finite(until):
            raise OptionError(f"until is {until!r}: give a time in s, or a function of the frame")
        last = steps_to(until, self._stepper.step)
        while self.index < last:
            self.step()
        return self._frame

    def observe(self, hook: Hook) -> Hook:
        """Call a function with the `Frame` of every step from now on; return the function."""
        if not callable(hook):
            raise OptionError(f"observe is {hook!r}: give a function of the frame, or a Sensor")
        self._hooks.append(hook)
        return hook

    def _advance(self) -> Frame:
        stepper, recorder, done = self._current(), self._recorder, self._log.count
        recorder = None if recorder is None or recorder.closed else recorder
        before = stepper.memory()
        try:
            frame = stepper.advance()
            if self.throw and frame.status != "solved":
                raise _failure(frame)
            with nullcontext() if recorder is None else uninterrupted():
                self._log.add(frame)  # from here on the step counts
                self._frame = frame
                if recorder is not None:
                    recorder.take(frame)
        except BaseException:
            if self._log.count == done:
                stepper.restore(before)
            raise
        for hook in self._hooks:
            hook(frame)
        return frame

    def _current(self) -> TimeStepper:
        """The stepper of the bodies that there are now."""
        if self._outdated:
            self._stepper, self._outdated = self._stepper.again(), False
        return self._stepper

    # ---- going back -----------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """All that the next steps depend on, as a copy; it can be changed, kept, and set again.

        A state that is set belongs to a system with the same bodies and joints. Its time must be a whole
        number of steps.
        """
        return State.of(self._stepper.memory(), self.time)

    @state.setter
    def state(self, state: State) -> None:
        self._refuse_while_recording("set to another state")
        index = self._index_of(state, self._system.count)
        before = self._stepper.memory()
        try:
            self._system.set_state(
                state.position, state.quaternion, state.linear_velocity, state.angular_velocity
            )
            self._stepper.restore(state.memory(index))
        except BaseException:
            self._stepper.restore(before)
            raise
        self._frame = None

    def _index_of(self, state: State, bodies: int) -> int:
        """Steps up to a state, which is to be set when there are so many bodies."""
        if not isinstance(state, State):
            raise OptionError(f"the state is {state!r}: give the state of a simulation, sim.state")
        step = self._stepper.step
        index = round(state.time / step)
        if index < 0 or abs(index * step - state.time) > 1e-9 * max(step, abs(state.time)):
            raise OptionError(
                f"the state is of the time {state.time:g} s, which is no multiple of the step {step:g} s: "
                "give it to a simulation with the step that it comes from"
            )
        if len(state.position) != bodies:
            raise OptionError(
                f"the state has {len(state.position)} bodies and the simulation {bodies}: set it "
                "before bodies are added or removed"
            )
        return index

    def reset(self, state: State | None = None, seed: int | None = None) -> None:
        """Begin again: bodies, joints, motors and forces as they were given, no steps, no controls.

        Functions that observe stay.

        Args:
            state: to begin with; that of the system that was given if None.
            seed: of `random`, which goes on if None.
        """
        self._refuse_while_recording("reset")
        if state is not None:
            self._index_of(state, self._first.count)  # before anything has changed
        if seed is not None:
            self._random = np.random.default_rng(seed)
        removal.become(self._system, self._first)
        self._begin(self._stepper.step)
        if state is not None:
            self.state = state

    # ---- recording ------------------------------------------------------------------------------

    def record(
        self,
        recording: Recording | str | os.PathLike[str],
        *,
        resume: bool = False,
        duration: float | None = None,
    ) -> Recorder:
        """Record all steps from now on in a file, which is closed at the end of the `with` block.

        Args:
            recording: a file name, or a `Recording` that says what to keep and when; an older file is an
                error, unless the recording says overwrite=True.
            resume: go on from the last checkpoint of the recording, which was begun from the state that the
                simulation is in now. Controls are not in the file: give them again.
            duration: time in s that the recording is to reach; an older one that is longer is refused.
        """
        if self._recorder is not None and not self._recorder.closed:
            raise OptionError(
                f"the simulation is recorded in {self._recorder.path} already: close that first"
            )
        if not isinstance(recording, Recording):
            recording = Recording(recording)
        step = self._stepper.step
        self._recorder = Recorder(
            recording, self._current(), self._log, self.options.settings(duration, step), resume=resume,
            steps=None if duration is None else steps_to(duration, step),
        )  # fmt: skip
        return self._recorder

    def _refuse_while_recording(self, what: str) -> None:
        if self._recorder is not None and not self._recorder.closed:
            raise OptionError(
                f"the simulation is recorded in {self._recorder.path}, which shows one motion of the same "
                f"bodies: close the recording before it is {what}"
            )

    # ---- steering -------------------------------------------------------------------------------

    def set_force(
        self,
        body: int | str,
        force: ArrayLike | None = None,
        *,
        torque: ArrayLike | None = None,
        point: ArrayLike | None = None,
    ) -> None:
        """Let a force and a torque act on a body from the next step on, until they are set again.

        They come on top of the system's own forces, and replace what was set before; with neither, nothing
        acts any more.

        Args:
            body: a body that can move, by index or name.
            force: (3,) in N, world frame.
            torque: (3,) in N·m, body frame.
            point: (3,) in m, body frame: where the force acts; the centre of mass if not given.
        """
        control.hold_force(self._system, body, force, torque, point)

    def set_motor(
        self,
        joint: int | str,
        *,
        speed: float | None = None,
        force: float | None = None,
        coordinate: str | None = None,
    ) -> None:
        """Set what a joint's motor does from the next step on, until it is set again.

        The motor is one that the system has: `System.add_motor`.

        Args:
            joint: index or name.
            speed: of a motor with a speed, in m/s or rad/s.
            force: of a motor with a force, in N or N·m.
            coordinate: which one, where the joint has several.
        """
        control.set_motor(self._system, joint, coordinate, speed=speed, force=force)

    def set_driver(
        self, joint: int | str, position: float, *, rate: float = 0.0, coordinate: str | None = None
    ) -> None:
        """Let a joint's driver be at `position` at the end of the next step, and go on at `rate` from there.

        The driver is one that the system has (`System.add_driver`). It has no limit: the joint gets there in
        that one step, whatever force it takes.

        Args:
            joint: index or name.
            position: in m or rad.
            rate: in m/s or rad/s.
            coordinate: which one, where the joint has several.
        """
        end = self.time + self._stepper.step
        control.set_driver(self._system, joint, coordinate, position, rate, end)

    # ---- bodies that come and go ----------------------------------------------------------------

    def add(self, shape: Shape | None, **options: Unpack[BodyOptions]) -> int:
        """Add a body before the next step and return its index; arguments as in `System.add_body`.

        What `StepOptions` leaves open is chosen anew, with this body.
        """
        self._refuse_while_recording("given another body")
        index = self._system.add_body(shape, **options)
        self._outdated, self._frame = True, None
        return index

    def remove(self, body: int | str) -> None:
        """Remove a body, by index or name, with the forces on it before the next step.

        Names stay; indices of the bodies after it go down by one. All other contacts keep their impulses.
        """
        self._refuse_while_recording("robbed of a body")
        number = removal.remove_body(self._system, body)
        self._stepper.renumber_shapes(number)
        self._outdated, self._frame = True, None


def _failure(frame: Frame) -> NonsmoothError:
    """Why a step failed."""
    certificate = frame.contacts.certificate
    if frame.status == WRONG_CONTACTS and certificate is not None:
        return ContactError(
            f"the contacts of step {frame.index} did not pass their check: {certificate.worst}"
        )
    return SolveError(frame.solution, step=frame.index)
