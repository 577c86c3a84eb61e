"""Recording options of a run, and the data of a step that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import OptionError
from nonsmooth.io._hdf5 import FilePath
from nonsmooth.io.runs.schema import FIELDS


class ReactionsLike(Protocol):
    """Interface to the joints' reactions."""

    @property
    def force(self) -> Floats:
        """(joints, 3) in N on body B, in the joint's frame."""

    @property
    def torque(self) -> Floats:
        """(joints, 3) in N·m on body B at its anchor, in the joint's frame."""

    @property
    def rows(self) -> Mapping[str, Floats]:
        """Forces (N) or torques (N·m) of the rows by their label."""


class FrameLike(Protocol):
    """Interface to a step; the arrays may change after it."""

    @property
    def index(self) -> int:
        """Steps done so far."""

    @property
    def time(self) -> float:
        """Time at the end of the step in s."""

    @property
    def step(self) -> float:
        """Time step in s."""

    @property
    def position(self) -> Floats:
        """(n, 3) in m, at the end of the step."""

    @property
    def quaternion(self) -> Floats:
        """(n, 4), (w, x, y, z), body to world."""

    @property
    def linear_velocity(self) -> Floats:
        """(n, 3) in m/s, world frame."""

    @property
    def angular_velocity(self) -> Floats:
        """(n, 3) in rad/s, body frame."""

    @property
    def contacts(self) -> Contacts:
        """Contacts at the beginning of the step."""

    @property
    def impulses(self) -> Floats:
        """(c, 3) on body B in N·s, world frame."""

    @property
    def residual(self) -> float:
        """The certificate's relative residual."""

    @property
    def status(self) -> str:
        """Status of the solve."""

    @property
    def iterations(self) -> int:
        """Iterations of the solver."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Scalars of the step by name."""

    def reactions(self) -> ReactionsLike:
        """Return the forces of all joints; called only if they are recorded."""


@dataclass(frozen=True)
class Recording:
    """What to record, and where. Scalars of every step are always recorded.

    Frames are chosen by at most one of `every`, `interval` and `times`; without them, every step is one.
    The initial state of the run is always the first frame.
    """

    path: FilePath
    """The trajectory; its checkpoint is `path` + ".checkpoint"."""
    every: int | None = None
    """A frame every N steps."""
    interval: float | None = None
    """A frame every T seconds of simulated time: the first step at or after each multiple."""
    times: tuple[float, ...] | None = None
    """A frame for each of these times in s: the first step at or after it."""
    fields: tuple[str, ...] = FIELDS
    """Fields of a frame: position, quaternion, linear_velocity, angular_velocity, contacts."""
    joints: bool = False
    """Whether a frame holds reactions: force and torque of each joint, and the force of every joint row. They
    are those of least norm (`Frame.reactions`), which takes an additional solve."""
    checkpoint_seconds: float | None = 60.0
    """Wall time in s between checkpoints; None for none. At its end every run writes one of its last complete
    step."""
    checkpoint_every: int | None = None
    """Number of steps between checkpoints; None for none."""
    compression: bool = True
    """Whether chunks are compressed, without loss."""
    overwrite: bool = False
    """Whether an older file of this name is replaced; otherwise it is an error."""

    def __post_init__(self) -> None:
        given = [name for name in ("every", "interval", "times") if getattr(self, name) is not None]
        if len(given) > 1:
            raise OptionError(f"a recording was given {' and '.join(given)}: give one of them")
        for name in ("every", "checkpoint_every"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise OptionError(
                    f"{name} of a recording is {value!r}: it must be a whole number of at least 1"
                )
        for name in ("interval", "checkpoint_seconds"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < np.inf:
                raise OptionError(f"{name} of a recording is {value!r}: it must be a positive time in s")
        if self.times is not None:
            times = tuple(float(moment) for moment in self.times)
            if not all(0.0 <= moment < np.inf for moment in times):
                raise OptionError(f"times of a recording are {times}: each must be finite and not negative")
            object.__setattr__(self, "times", times)
        for name in ("joints", "overwrite"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} of a recording is {getattr(self, name)!r}: give True or False")
        for name in self.fields:
            if name not in FIELDS:
                raise OptionError(f"field {name!r} cannot be recorded: choose from {', '.join(FIELDS)}")
        object.__setattr__(self, "fields", tuple(name for name in FIELDS if name in self.fields))

    def is_frame(self, index: int, moment: float, step: float) -> bool:
        """Return whether step number `index`, which ended at `moment` (s), is a frame."""
        if self.times is not None:
            slack = 1e-9 * step
            return any(moment - step < wanted - slack <= moment for wanted in self.times)
        if self.interval is not None:
            slack = 1e-9
            return bool(
                np.floor(moment / self.interval + slack) > np.floor((moment - step) / self.interval + slack)
            )
        return self.every is None or index % self.every == 0
