"""`State`: all that the next steps of a simulation depend on, besides its system and options."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Indices, Integers
from nonsmooth._support.words import counted


@dataclass(eq=False, repr=False)
class State:
    """The state of a simulation between two steps; its arrays are copies and may be changed.

    A simulation restored to it continues bitwise identically, if its controls are the same. The history of
    joints and contacts (angles with whole turns, impulses for the warm start) is included.
    """

    time: float
    """s"""
    position: Floats
    """Centres of mass (n, 3) in m."""
    quaternion: Floats
    """Orientations (n, 4), (w, x, y, z), body to world."""
    linear_velocity: Floats
    """(n, 3) in m/s, world frame."""
    angular_velocity: Floats
    """(n, 3) in rad/s, body frame."""
    joint_angles: Floats
    """(rows and coordinates of joints, 2) in rad, whole turns included."""
    joint_impulses: Floats
    """(rows of joints,) of the last step in N·s or N·m·s."""
    contact_shapes: Indices
    """(c, 2) pairs of shapes of the contacts of the last step."""
    contact_feature: Integers
    """(c,) features (corner, edge or face) that produced the contacts."""
    contact_impulses: Floats
    """(c, 3) impulses of the contacts in N·s on body B, world frame, without those of impacts."""

    def __repr__(self) -> str:
        bodies = counted(len(self.position), "body", "bodies")
        return f"State(time={self.time:g} s, {bodies}, {counted(len(self.contact_shapes), 'contact')})"

    def copy(self) -> State:
        """Return a copy with arrays of its own."""
        return copy.deepcopy(self)

    @classmethod
    def of(cls, memory: Mapping[str, Any], time: float) -> State:
        """Create it from the memory of a `TimeStepper` at a time (s)."""
        return cls(time, **{name: np.array(value) for name, value in memory.items() if name != "index"})

    def memory(self, index: int) -> dict[str, Any]:
        """Return it as the memory of a `TimeStepper` at the given step number."""
        return {**{name: value for name, value in vars(self).items() if name != "time"}, "index": index}
