"""What a time step hands out, and how long its parts took."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import ProblemError
from nonsmooth.model.system import System
from nonsmooth.solvers.solution import Solution
from nonsmooth.stepping.reactions import Reactions, no_reactions, reactions_of
from nonsmooth.stepping.step_result import JointOutcome


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
    """(c, 3) on body B in N·s, world frame, impacts included; divided by the step they are forces."""
    residual: float
    """The certificate's relative residual."""
    status: str
    iterations: int
    numbers: dict[str, float]
    """Scalars of the step by name: contacts, kinetic_energy, potential_energy, contact_work (J), …"""
    solution: Solution
    """The step's problem, `solution.problem`, and its solution with the whole certificate. They do not change
    with the next step: an observer may keep them, or write them to a file."""

    joints: JointOutcome | None
    """Joint rows and their impulses in this step; None where there are no joints."""
    system: System
    """The system in motion: its state changes with the next step."""

    def reactions(self, *, minimum_norm: bool = True) -> Reactions:
        """Forces in N and torques in N·m of every joint in this step, in the joints' own frames.

        Where joints are redundant, or bodies rest on more contacts than statics can tell apart, motion does
        not determine them: then these are the ones of least norm, see `Reactions`. With
        `minimum_norm=False` they are what the solver happened to find, at no cost.
        """
        if len(self.system.joints) == 0:
            raise ProblemError("this system has no joints: reactions are those of joints, see add_joint")
        if self.joints is None:
            return no_reactions(self.system)
        return reactions_of(self.system, self.solution, self.joints, minimum_norm)

    def force_on(self, body: int) -> Floats:
        """Sum of the contact forces on a body, (3,) in N, world frame: the mean over the step."""
        sign = (self.contacts.bodies[:, 1] == body).astype(float) - (self.contacts.bodies[:, 0] == body)
        return np.asarray(sign @ self.impulses) / self.step


@dataclass
class Timings:
    """Wall time in s that the parts of all steps took together."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By part: motion, collision, checking (of the contacts), assembly, solver, recording."""
    kernels: float = 0.0
    """Wall time in s in which kernels were compiled, or loaded from the cache, at their first call. It is in
    none of the parts: a longer run does not need more of it."""

    def add(self, **parts: float) -> None:
        """Add the time of one step's parts."""
        for name, value in parts.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value

    @property
    def total(self) -> float:
        """Sum of all parts, without `kernels`."""
        return sum(self.seconds.values())
