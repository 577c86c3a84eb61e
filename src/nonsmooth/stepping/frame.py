"""The result of a time step, and the wall times of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from nonsmooth._support.arrays import Floats
from nonsmooth._support.words import counted
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import ProblemError
from nonsmooth.model.state_by_body import StateByBody
from nonsmooth.model.system import System
from nonsmooth.solvers.solution import Solution
from nonsmooth.stepping.reactions import Reactions, no_reactions, reactions_of
from nonsmooth.stepping.schemes.step_result import JointOutcome


@dataclass(frozen=True, repr=False)
class Frame(StateByBody):
    """The state after a step, its contacts and impulses, and its certificate.

    The state's arrays belong to the system and change with the next step: copy what you keep. Values obtained
    by index or name (`position_of("ball")`, `force_on("ball", by="floor")`) are copies.
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
    centres: Floats
    """(n, 3) positions at the beginning of the step in m, where the contacts were found."""
    impulses: Floats
    """(c, 3) on body B in N·s, world frame, impacts included; divide by the step to obtain forces."""
    residual: float
    """The certificate's relative residual."""
    status: str
    iterations: int
    numbers: dict[str, float]
    """Scalars of the step by name: contacts, kinetic_energy, potential_energy, contact_work (J), …"""
    solution: Solution
    """The step's solution with its certificate, and its problem, `solution.problem`. They do not change
    with the next step: an observer may keep them or write them to a file."""

    joints: JointOutcome | None
    """Joint rows and their impulses in this step; None without joints."""
    system: System
    """The simulated system: its state changes with the next step."""

    def reactions(self, *, minimum_norm: bool = True) -> Reactions:
        """Forces in N and torques in N·m of every joint in this step, in the joints' own frames.

        Redundant joints, or bodies that rest on a statically indeterminate set of contacts, leave them
        undetermined: then the ones of least norm are returned, see `Reactions`. With `minimum_norm=False` the
        solver's own impulses are used, at no extra cost.
        """
        if len(self.system.joints) == 0:
            raise ProblemError("this system has no joints, and so no reactions: see add_joint")
        if self.joints is None:
            return no_reactions(self.system)
        return reactions_of(self.system, self.solution, self.joints, minimum_norm)

    def __repr__(self) -> str:
        there = f"{counted(len(self.position), 'body', 'bodies')}, {counted(len(self.contacts), 'contact')}"
        return (
            f"Frame(index={self.index}, time={self.time:g} s, {there}, {self.status}, "
            f"residual={self.residual:.2e})"
        )

    # ---- by index or name; unknown names are errors ----------------------------------------------

    def _index(self, body: int | str) -> int:
        return self.system.index(body)

    @property
    def contact_forces(self) -> ContactForces:
        """All contacts with their impulses, impacts included; filter them with `of` and `between`."""
        found = self.contacts
        return ContactForces(
            found.bodies, found.point, found.normal, found.gap, self.impulses, self.step, self.system
        )

    def contacts_of(self, body: int | str) -> ContactForces:
        """Return the contacts of a body: normals point to it, forces act on it."""
        return self.contact_forces.of(body)

    def contacts_between(self, a: int | str, b: int | str) -> ContactForces:
        """Return the contacts of two bodies: normals point from `a` to `b`, forces act on `b`."""
        return self.contact_forces.between(a, b)

    def force_on(self, body: int | str, *, by: int | str | None = None) -> Floats:
        """Sum of the contact forces on a body, optionally only those `by` another, (3,) in N, world frame.

        The mean over the step.
        """
        return self.contact_forces.force_on(body, by=by)

    def torque_on(self, body: int | str, *, by: int | str | None = None) -> Floats:
        """Torque of these forces about the body's centre of mass, (3,) in N·m, world frame."""
        centre = self.centres[self.system.index(body)]
        return self.contact_forces.torque_on(body, about=centre, by=by)


@dataclass
class Timings:
    """Total wall time of all steps in s."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By part: motion, collision, checking (of the contacts), assembly, solver, recording."""
    kernels: float = 0.0
    """Wall time in s of compiling kernels, or loading them from the cache, at their first call. It is not
    included in the parts and does not grow with the length of a run."""

    def add(self, **parts: float) -> None:
        """Add the time of one step's parts."""
        for name, value in parts.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value

    @property
    def total(self) -> float:
        """Sum of all parts, without `kernels`."""
        return sum(self.seconds.values())
