"""A run at one time, for pictures and the browser page: a frame, or an interpolation of two frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.errors import OptionError
from nonsmooth.io import RecordedFrame, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.view.drawing.interpolate_frames import between

if TYPE_CHECKING:
    from nonsmooth.model.system import System
    from nonsmooth.stepping.frame import Frame


class Snapshot:
    """One frame of a run; contacts are read on demand."""

    def __init__(self, frame: RecordedFrame, read_contacts: Callable[[], ContactForces | None]) -> None:
        if frame.position is None:
            raise OptionError("positions were not recorded: record them to see anything")
        self.frame = frame
        self.position: Floats = frame.position
        """(n, 3) in m."""
        count = len(frame.position)
        turned = frame.quaternion
        self.quaternion: Floats = np.tile(quaternions.IDENTITY, (count, 1)) if turned is None else turned
        """(n, 4), body to world; no rotation if none was recorded."""
        self._read_contacts = read_contacts
        self.recorded = self
        """The recorded snapshot for numbers: itself, or one of the two that it interpolates."""

    @classmethod
    def between(
        cls, before: Snapshot, after: Snapshot, share: float, recorded: Snapshot | None = None
    ) -> Snapshot:
        """Return the interpolation at a fraction (0 to 1) between two recorded frames.

        Bodies move along straight lines and rotate the shorter way. Contacts are those of `recorded`, one of
        the two frames; of the earlier one if it is not given.
        """
        one = recorded or before
        found = cls(between(before.frame, after.frame, share), lambda: one.contacts)
        found.recorded = one
        return found

    @classmethod
    def of_recording(cls, trajectory: Trajectory, number: int) -> Snapshot:
        """Read a frame of a recording."""
        recorded = "contacts" in trajectory.fields
        return cls(trajectory.frame(number), lambda: trajectory.contacts(number) if recorded else None)

    @classmethod
    def of_step(cls, frame: Frame) -> Snapshot:
        """Copy the result of a time step, which changes with the next step."""
        recorded = frame.contact_forces
        return cls(
            RecordedFrame(
                frame.index, frame.time, frame.position.copy(), frame.quaternion.copy(),
                frame.linear_velocity.copy(), frame.angular_velocity.copy(),
            ),
            lambda: recorded,
        )  # fmt: skip

    @classmethod
    def of_start(cls, system: System) -> Snapshot:
        """Copy the initial state of a run, which has no contacts yet."""
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
