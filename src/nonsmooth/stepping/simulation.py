"""`Simulation`: a system that is advanced step by step.

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
    """Advances a system in steps of equal length, under the caller's control.

    The given system is copied and not changed. After an error or Ctrl-C the simulation is at its last
    complete step.

    Args:
        system: bodies, shapes, materials, joints, forces and the initial state.
        step: time step h in s.
        options: options of a step; the fields of `StepOptions` are keywords as well.
        throw: raise `SolveError` at a step that does not reach its tolerance, and discard that step; the
            default counts such steps in the `certificate`, as `simulate` does.
        **overrides: fields of `StepOptions` that replace those of `options`.
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
        """Options of a step, as given."""
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
        self._outdated = False  # whether bodies were added or removed since the stepper was created
        self._log = StepLog()

    def __repr__(self) -> str:
        return f"Simulation(time={self.time:g} s, step={self._stepper.step:g} s, {self._system!r})"

    # ---- current state --------------------------------------------------------------------------

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
        """Number of steps done."""
        return self._stepper.index

    @property
    def system(self) -> System:
        """The simulated system: its state changes with every step, and values written to it apply at once.

        Fetch its arrays again after adding or removing bodies.
        """
        return self._system

    @property
    def frame(self) -> Frame | None:
        """The last step; None at the beginning and after `reset`, `add`, `remove` or setting `state`."""
        return self._stepper.frame

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with gap and normal."""
        frame = self.frame
        return Contacts.empty() if frame is None else frame.contacts

    @property
    def impulses(self) -> Floats:
        """Impulses (c, 3) of the contacts in the last step in N·s, on body B, world frame."""
        frame = self.frame
        return np.zeros((0, 3)) if frame is None else frame.impulses

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
        """Accuracy of all steps so far."""
        return RunCertificate.of(self._log, self.options.tolerance)

    @property
    def timings(self) -> Timings:
        """Wall times of the parts of all steps so far."""
        return self._stepper.timings

    @property
    def random(self) -> np.random.Generator:
        """Random numbers for the caller's noise and disturbances; `reset(seed=…)` restarts them."""
        return self._random

    # ---- stepping -------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Frame:
        """Do n steps and return the last frame."""
        whole("Simulation.step", "n", n, 1)
        return self._advance(1) if n == 1 else self._advance_to(self.index + n)

    def run(self, *, until: float | Callable[[Frame], bool]) -> Frame | None:
        """Step up to a given time, or until a function of the frame returns True; return the last frame.

        Args:
            until: time in s (the last step is the first one that ends at or after it), or the function.
        """
        if callable(until):
            frame = self.step()
            while not until(frame):
                frame = self.step()
            return frame
        if not is_finite(until):
            raise OptionError(f"until is {until!r}: give a time in s, or a function of the frame")
        last = steps_to(until, self._stepper.step)
        return self._advance_to(last) if self.index < last else self.frame

    def observe(self, hook: Hook) -> Hook:
        """Call a function with the `Frame` of every step from now on; return the function."""
        if not callable(hook):
            raise OptionError(f"observe is {hook!r}: give a function of the frame, or a Sensor")
        self._hooks.append(hook)
        return hook

    def _advance_to(self, last: int) -> Frame:
        """Do all steps up to a number of steps done; the frame of the last one."""
        while self.index < last:
            self._advance(last - self.index)
        frame = self.frame
        assert frame is not None
        return frame

    def _advance(self, most: int) -> Frame:
        """Do up to this number of steps, one alone if somebody looks at each; the frame of the last one."""
        stepper, recorder = self._current(), self._recorder
        recorder = None if recorder is None or recorder.closed else recorder
        judged = self.throw or stepper.options.world is not None  # such a step may be taken back
        if judged or recorder is not None or self._hooks:
            most = 1
        before, last = (stepper.memory(), stepper.frame) if judged else (None, None)
        done = self._log.count
        try:
            frame = stepper.advance(most)
            if self.throw and frame.status != "solved":
                raise _failure(frame)
            if recorder is None:
                self._log.add(stepper.take_rows())  # from here on the steps are complete
            else:
                with uninterrupted():
                    self._log.add(stepper.take_rows())
                    recorder.take(frame)
        except BaseException:
            if self._log.count == done:
                if before is None:
                    self._log.add(stepper.take_rows())
                else:
                    stepper.restore(before, last)
            raise
        for hook in self._hooks:
            hook(frame)
        return frame

    def _current(self) -> TimeStepper:
        """The stepper of the current bodies."""
        if self._outdated:
            self._stepper, self._outdated = self._stepper.again(), False
        return self._stepper

    # ---- saving and restoring -------------------------------------------------------------------

    @property
    def state(self) -> State:
        """A copy of all that the next steps depend on; it can be changed, kept and set again.

        A state can be set only in a system with the same bodies and joints. Its time must be a multiple of
        the step.
        """
        return State.of(self._stepper.memory(), self.time)

    @state.setter
    def state(self, state: State) -> None:
        self._refuse_while_recording("setting another state")
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

    def _index_of(self, state: State, bodies: int) -> int:
        """Number of steps up to a state; checks that it fits this number of bodies."""
        if not isinstance(state, State):
            raise OptionError(f"the state is {state!r}: give the state of a simulation, sim.state")
        step = self._stepper.step
        index = round(state.time / step)
        if index < 0 or abs(index * step - state.time) > 1e-9 * max(step, abs(state.time)):
            raise OptionError(
                f"the state has the time {state.time:g} s, which is not a multiple of the step {step:g} s: "
                "use the step of the simulation that it was taken from"
            )
        if len(state.position) != bodies:
            raise OptionError(
                f"the state has {len(state.position)} bodies and the simulation {bodies}: set it "
                "before bodies are added or removed"
            )
        return index

    def reset(self, state: State | None = None, seed: int | None = None) -> None:
        """Restart: restore bodies, joints, motors and forces as given, with no steps and no controls.

        Functions that observe are kept.

        Args:
            state: initial state; None for that of the given system.
            seed: seed of `random`, which is not restarted if None.
        """
        self._refuse_while_recording("resetting it")
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
        """Record all following steps in a file, which is closed at the end of the `with` block.

        Args:
            recording: a file name, or a `Recording` that says what to save and when; an existing file is an
                error, unless the recording says overwrite=True.
            resume: continue from the last checkpoint of the recording, which must have begun from the current
                state of the simulation. Controls are not saved in the file: set them again.
            duration: final time of the recording in s; a longer existing recording is refused.
        """
        if self._recorder is not None and not self._recorder.closed:
            raise OptionError(
                f"the simulation is already recorded in {self._recorder.path}: close that recording first"
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
                f"the simulation is recorded in {self._recorder.path}, which has one motion of the same "
                f"bodies: close the recording before {what}"
            )

    # ---- controls -------------------------------------------------------------------------------

    def set_force(
        self,
        body: int | str,
        force: ArrayLike | None = None,
        *,
        torque: ArrayLike | None = None,
        point: ArrayLike | None = None,
    ) -> None:
        """Apply a force and a torque to a body from the next step on, until they are set again.

        They are added to the system's own forces and replace earlier controls of this body; with neither
        argument, the control is removed.

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
        """Set the target of a joint's motor from the next step on, until it is set again.

        The system must have the motor: see `System.add_motor`.

        Args:
            joint: index or name.
            speed: of a motor with a speed, in m/s or rad/s.
            force: of a motor with a force, in N or N·m.
            coordinate: which coordinate, if the joint has several.
        """
        control.set_motor(self._system, joint, coordinate, speed=speed, force=force)

    def set_driver(
        self, joint: int | str, position: float, *, rate: float = 0.0, coordinate: str | None = None
    ) -> None:
        """Prescribe a joint's driver: `position` at the end of the next step, moving at `rate` from there.

        The system must have the driver (`System.add_driver`). Its force is unlimited: the joint reaches the
        position in that one step.

        Args:
            joint: index or name.
            position: in m or rad.
            rate: in m/s or rad/s.
            coordinate: which coordinate, if the joint has several.
        """
        end = self.time + self._stepper.step
        control.set_driver(self._system, joint, coordinate, position, rate, end)

    # ---- adding and removing bodies -------------------------------------------------------------

    def add(self, shape: Shape | None, **options: Unpack[BodyOptions]) -> int:
        """Add a body before the next step and return its index; arguments as in `System.add_body`.

        Defaults of `StepOptions` are derived again from the system with this body.
        """
        self._refuse_while_recording("adding a body")
        index = self._system.add_body(shape, **options)
        self._change_bodies()
        return index

    def remove(self, body: int | str) -> None:
        """Remove a body, by index or name, with the forces on it before the next step.

        Names are kept; indices of later bodies decrease by one. All other contacts keep their impulses.
        """
        self._refuse_while_recording("removing a body")
        number = removal.remove_body(self._system, body)
        self._stepper.renumber_shapes(number)
        self._change_bodies()

    def _change_bodies(self) -> None:
        """Let the next step begin with a new stepper."""
        self._stepper.forget()
        self._outdated = True


def _failure(frame: Frame) -> NonsmoothError:
    """The error of a failed step."""
    certificate = frame.contacts.certificate
    if frame.status == WRONG_CONTACTS and certificate is not None:
        return ContactError(
            f"the contacts of step {frame.index} did not pass their check: {certificate.worst}"
        )
    return SolveError(frame.solution, step=frame.index)
