"""What a time step hands out, and how long its parts took."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision.contacts import Contacts
from nonsmooth.solvers.solution import Solution

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """The state after a step, its contacts and impulses, and its certificate.

    The state's arrays belong to the system and change with the next step: copy what you keep.
    """

    index: int
    """Steps done so far."""
    time: float
    """s"""
    step: float
    """s"""
    position: Floats
    """(n, 3) in m."""
    quaternion: Floats
    """(n, 4), (w, x, y, z)."""
    linear_velocity: Floats
    """(n, 3) in m/s, world frame."""
    angular_velocity: Floats
    """(n, 3) in rad/s, body frame."""
    contacts: Contacts
    """At the beginning of the step."""
    impulses: Floats
    """(c, 3) on body B in N·s, world frame; divided by the step they are forces."""
    residual: float
    """The certificate's relative residual."""
    status: str
    iterations: int
    numbers: dict[str, float]
    """Scalars of the step by name: contacts, kinetic_energy, potential_energy, contact_work (J), …"""
    solution: Solution
    """The step's problem, `solution.problem`, and its solution with the whole certificate. They do not change
    with the next step: an observer may keep them, or write them to a file."""

    def force_on(self, body: int) -> Floats:
        """Sum of the contact forces on a body, (3,) in N, world frame: the mean over the step."""
        sign = (self.contacts.bodies[:, 1] == body).astype(float) - (self.contacts.bodies[:, 0] == body)
        return np.asarray(sign @ self.impulses) / self.step


@dataclass
class Timings:
    """Wall time in s that the parts of all steps took together."""

    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, **parts: float) -> None:
        """Add the time of one step's parts."""
        for name, value in parts.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return sum(self.seconds.values())
