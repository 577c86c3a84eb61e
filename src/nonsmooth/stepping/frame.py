"""The result of a time step, and the wall times of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from nonsmooth._support.arrays import Floats
from nonsmooth._support.words import counted
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import NonsmoothError, ProblemError
from nonsmooth.model.state_by_body import StateByBody
from nonsmooth.model.system import System
from nonsmooth.solvers.solution import Solution
from nonsmooth.stepping.kernels import numbers as columns
from nonsmooth.stepping.kernels.motion import State
from nonsmooth.stepping.reactions import Reactions, no_reactions, reactions_of
from nonsmooth.stepping.schemes.step_result import JointOutcome


class Detail:
    """What a step found and solved, as `Frame` shows it."""

    def __init__(
        self,
        contacts: Contacts,
        centres: Floats,
        impulses: Floats,
        joints: JointOutcome | None,
        solution: Callable[[], Solution],
    ) -> None:
        self.contacts, self.centres, self.impulses, self.joints = contacts, centres, impulses, joints
        self._solution = solution

    @cached_property
    def solution(self) -> Solution:
        """The solution, built when it is first asked for."""
        return self._solution()


class Frame(StateByBody):
    """The state after a step, its contacts and impulses, and its certificate.

    The state's arrays belong to the system and change with the next step: copy what you keep. All else is
    kept. Values obtained by index or name (`position_of("ball")`, `force_on("ball", by="floor")`) are copies.
    """

    def __init__(
        self,
        system: System,
        state: State,
        steps: tuple[int, float],
        status: str,
        row: list[float],
        names: Iterable[str],
        detail: Callable[[], Detail],
    ) -> None:
        """Take the number of `steps` done and their length in s, the `row` of the log, the `names` of the
        numbers to show, and what reads the details."""
        self.system = system
        """The simulated system: its state changes with the next step."""
        self.index, self.step = steps
        """Steps done so far."""
        self.position, self.quaternion = state.position, state.quaternion
        """(n, 3) in m; (n, 4), (w, x, y, z)."""
        self.linear_velocity, self.angular_velocity = state.linear, state.angular
        """(n, 3) in m/s, world frame; (n, 3) in rad/s, body frame."""
        self.status = status
        self._row, self._names = row, names
        self._look: Callable[[], Detail] | None = detail

    @property
    def time(self) -> float:
        """s"""
        return self.index * self.step

    @property
    def residual(self) -> float:
        """The certificate's relative residual."""
        return self._row[columns.RESIDUAL]

    @property
    def iterations(self) -> int:
        """Iterations of the solver."""
        return int(self._row[columns.ITERATIONS])

    @property
    def numbers(self) -> dict[str, float]:
        """Scalars of the step by name: contacts, kinetic_energy, potential_energy, contact_work (J), …"""
        values = dict(zip(columns.NAMES, self._row, strict=True))
        return {name: values[name] for name in self._names}

    # ---- details, read from the simulation when somebody asks for them ---------------------------

    @cached_property
    def _detail(self) -> Detail:
        if self._look is None:
            raise NonsmoothError(
                f"the contacts of step {self.index} are not known any more, because the step after it was "
                "interrupted: look at them before, or do another step"
            )
        return self._look()

    def keep(self) -> None:
        """Copy the details before the next step overwrites them."""
        if self._look is not None:
            _ = self._detail
            self._look = None

    def lose(self) -> None:
        """Give the details up: they are overwritten."""
        self._look = None

    @property
    def contacts(self) -> Contacts:
        """At the beginning of the step."""
        return self._detail.contacts

    @property
    def centres(self) -> Floats:
        """(n, 3) positions at the beginning of the step in m, where the contacts were found."""
        return self._detail.centres

    @property
    def impulses(self) -> Floats:
        """(c, 3) on body B in N·s, world frame, impacts included; divide by the step to obtain forces."""
        return self._detail.impulses

    @property
    def solution(self) -> Solution:
        """The step's solution with its certificate, and its problem, `solution.problem`.

        They do not change with the next step: an observer may keep them or write them to a file.
        """
        return self._detail.solution

    @property
    def joints(self) -> JointOutcome | None:
        """Joint rows and their impulses in this step; None without joints."""
        return self._detail.joints

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
        contacts = int(self._row[columns.CONTACTS])
        there = f"{counted(len(self.position), 'body', 'bodies')}, {counted(contacts, 'contact')}"
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
