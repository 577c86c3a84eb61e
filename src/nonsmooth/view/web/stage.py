"""What is on the stage of the web viewer: what does not change of a run, and one moment of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.errors import OptionError
from nonsmooth.io import RecordedFrame, RecordedJoints, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame
from nonsmooth.view.drawing.geometry import reach_of
from nonsmooth.view.drawing.interpolate_frames import between


@dataclass(frozen=True, eq=False)
class Stage:
    """What does not change of the n bodies and the joints of a run."""

    shapes: ShapeTable
    fixed: NDArray[np.bool_]
    """(n,) where bodies cannot be pushed."""
    reach: Floats
    """(n,) how far shapes and joints of a body are from its centre, in m; infinite for half-spaces."""
    names: dict[int, str]
    """Of the bodies that have one."""
    pairs: PairTable
    """What holds where two materials meet."""
    joints: RecordedJoints

    @classmethod
    def of_recording(cls, trajectory: Trajectory) -> Stage:
        """Return the stage of a recorded run."""
        bodies, joints = trajectory.bodies, trajectory.joints
        names = {index: name for name, index in bodies.names.items()}
        reach = reach_of(bodies.bounding_radius, joints)
        return cls(trajectory.shapes, bodies.fixed, reach, names, trajectory.materials.pairs, joints)

    @classmethod
    def of_system(cls, system: System) -> Stage:
        """Return the stage of a system."""
        joints = _joints_of(system)
        names = {index: name for name, index in system.names.items()}
        reach = reach_of(system.bounding_radius, joints)
        pairs = system.materials.pair_table()
        return cls(system.shapes, np.array(system.fixed, dtype=bool), reach, names, pairs, joints)

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.fixed)

    def name(self, body: int) -> str:
        """Return what to call a body."""
        return self.names.get(body, f"body {body}")


def _joints_of(system: System) -> RecordedJoints:
    """The joints of a system, as far as pictures need them, in the form that they have in files."""
    joints = system.joints
    bodies = [[-1 if body is None else system.index(body) for body in (j.a, j.b)] for j in joints]
    anchor, frame = np.zeros((0, 2, 3)), np.zeros((0, 3, 3))
    if len(joints):
        still = np.zeros((system.count, 3)), np.tile(quaternions.IDENTITY, (system.count, 1))
        anchor, frame = joints.anchors(*still), joints.frames(*still)[1]
    return RecordedJoints(
        types=tuple(type(joint).__name__ for joint in joints), names=dict(joints.names),
        bodies=np.array(bodies, dtype=np.int32).reshape(-1, 2), anchor=anchor, frame=frame, elements=(),
        row_labels=(), row_joint=np.zeros(0, dtype=np.int32), row_units=(),
    )  # fmt: skip


class Moment:
    """One frame of a run; contacts are read when they are asked for."""

    def __init__(self, frame: RecordedFrame, read_contacts: Callable[[], ContactForces | None]) -> None:
        if frame.position is None:
            raise OptionError("positions were not recorded: record them to see anything")
        self.frame = frame
        self.position: Floats = frame.position
        """(n, 3) in m."""
        count = len(frame.position)
        turned = frame.quaternion
        self.quaternion: Floats = np.tile(quaternions.IDENTITY, (count, 1)) if turned is None else turned
        """(n, 4), body to world; no rotation where none was recorded."""
        self._read_contacts = read_contacts
        self.recorded = self
        """The moment that numbers are of: itself, or the earlier of the two that it lies between."""

    @classmethod
    def between(cls, before: Moment, after: Moment, share: float) -> Moment:
        """Return a moment on the way from one recorded frame to the next, for smooth motion.

        Bodies move along straight lines and turn the shorter way; contacts are those of `before`.
        """
        moment = cls(between(before.frame, after.frame, share), lambda: before.contacts)
        moment.recorded = before
        return moment

    @classmethod
    def of_recording(cls, trajectory: Trajectory, number: int) -> Moment:
        """Read a frame of a recording."""
        recorded = "contacts" in trajectory.fields
        return cls(trajectory.frame(number), lambda: trajectory.contacts(number) if recorded else None)

    @classmethod
    def of_step(cls, frame: Frame) -> Moment:
        """Copy what a time step has left, which changes with the next step."""
        recorded = frame.contact_forces
        return cls(
            RecordedFrame(
                frame.index, frame.time, frame.position.copy(), frame.quaternion.copy(),
                frame.linear_velocity.copy(), frame.angular_velocity.copy(),
            ),
            lambda: recorded,
        )  # fmt: skip

    @classmethod
    def of_start(cls, system: System) -> Moment:
        """Copy the state that a run begins with; there are no contacts yet."""
        none = ContactForces(
            np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0),
            np.zeros((0, 3)), 1.0, system,
        )  # fmt: skip
        state = (system.position, system.quaternion, system.linear_velocity, system.angular_velocity)
        return cls(RecordedFrame(0, 0.0, *(array.copy() for array in state)), lambda: none)

    @cached_property
    def with_ground(self) -> tuple[Floats, Floats]:
        """Positions (n + 1, 3) and quaternions (n + 1, 4); the last, which −1 means, are the ground's."""
        return (
            np.concatenate([self.position, np.zeros((1, 3))]),
            np.concatenate([self.quaternion, [quaternions.IDENTITY]]),
        )

    @cached_property
    def contacts(self) -> ContactForces | None:
        """The contacts; None if they were not recorded."""
        return self._read_contacts()

    @property
    def time(self) -> float:
        """Simulated time in s."""
        return self.frame.time
