"""Time stepping: half-implicit symplectic Euler with hard contact (Melanz et al. Eqs. 6 to 9).

A step goes from (q, v) to (q⁺, v⁺) by

    M v⁺ = M v + h f(t, q, v) + D γ ,      q⁺ = q + h T(q) v⁺ ,

where γ solves the contact problem with the gaps Φ(q)/h as bias. System → contacts → problem → solution
with certificate → new state; impulses of contacts that stay are where the next solve starts.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.matching import match_impulses
from nonsmooth.errors import OptionError, ProblemError, WorldError
from nonsmooth.integrators import _step_kernels as kernels
from nonsmooth.integrators.frame import Frame, Timings
from nonsmooth.model.shapes import SPHERE
from nonsmooth.model.system import System
from nonsmooth.problem.assembled import assembled_problem
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import Law
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Goal, Solver
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

Floats = NDArray[np.float64]

_MARGIN = 0.05
"""Default margin, as a part of the smallest moving body's bounding radius."""
_PUSH_OUT = 0.2
"""Default push-out speed, as a part of √(g r) with the smallest moving body's bounding radius r."""
_BOUNCES = (1.0, 0.5, 0.25, 0.0)
"""Parts of the restitution coefficients that are tried in turn, until contacts put no energy in."""
_ROUNDING = 1e-12
"""Part of the kinetic energy that counts as rounding."""
_LATE = 1e-3
"""Overlap, as a part of the margin, from which on a contact that was not known counts as found too late."""
_ROUND = 1e-14
"""Relative difference of principal moments below which a body counts as round."""


@dataclass(frozen=True)
class StepOptions:
    """How a step is done. Numbers that are None are chosen from the sizes of the bodies.

    Args:
        law: "coulomb", "relaxed" or "pyramid(m)".
        solver: any solver; `Auto` if not given.
        tolerance: relative residual that every step is asked for.
        max_iterations: iterations after which a step takes what its solver has found so far; each solver
            has its own default.
        margin: contacts are found where the gap is at most this (m), and where it closes in the step;
            by default 5 % of the smallest body's bounding radius. An impact within the step can close other
            gaps, so that a margin of zero lets bodies overlap for a step; where bodies move further than the
            margin in a step, it is doubled.
        push_out_speed: overlaps (gaps below zero) are undone no faster than this (m/s), so that bodies that
            overlap at the start do not fly apart; by default 0.2 √(g r) with the smallest body's bounding
            radius r, which lifts a body by no more than 2 % of r. Without gravity: 0.2 r per second.
        restitution_speed: impacts slower than this (m/s) do not bounce; by default twice what gravity gives
            in a step. Newton's law of impact can create energy where there is friction (Kane's paradox): in
            such a step all coefficients of restitution are reduced until it does not.
        world: lower and upper corner (m) of the box that no body may leave; without it bodies may go
            anywhere.
    """

    law: Law
    solver: Solver
    tolerance: float
    max_iterations: int | None
    margin: float
    push_out_speed: float
    restitution_speed: float
    world: tuple[Floats, Floats] | None

    @classmethod
    def of(
        cls,
        system: System,
        step: float,
        *,
        law: Law | str = "coulomb",
        solver: Solver | None = None,
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        margin: float | None = None,
        push_out_speed: float | None = None,
        restitution_speed: float | None = None,
        world: ArrayLike | None = None,
    ) -> StepOptions:
        """Check the options and choose what was left open for this system and step."""
        if not isinstance(system, System):
            raise OptionError(
                f"system is a {type(system).__name__}: give a System, for example ns.scenes.filling()"
            )
        if solver is not None and not isinstance(solver, Solver):
            raise OptionError(f"solver is {solver!r}: give a solver object such as ns.solvers.GaussSeidel()")
        Goal(tolerance, max_iterations)  # refuses wrong values before anything is overwritten
        radius = system.bounding_radius[~system.fixed]
        radius = radius[np.isfinite(radius) & (radius > 0.0)]
        size = float(radius.min(initial=np.inf))
        size = size if math.isfinite(size) else 1.0
        pull = float(np.linalg.norm(system.gravity))
        given: dict[str, object] = {
            "margin": margin, "push_out_speed": push_out_speed, "restitution_speed": restitution_speed
        }  # fmt: skip
        for name, value in given.items():
            if value is not None and not (isinstance(value, Real) and 0.0 <= float(value) < math.inf):
                raise OptionError(f"{name} is {value}: give a finite number that is not negative")
        return cls(
            Law.parse(law),
            Auto() if solver is None else solver,
            tolerance,
            max_iterations,
            _MARGIN * size if margin is None else float(margin),
            _PUSH_OUT * (math.sqrt(pull * size) if pull > 0.0 else size)
            if push_out_speed is None
            else float(push_out_speed),
            2.0 * pull * step if restitution_speed is None else float(restitution_speed),
            _corners(world),
        )


def _corners(world: ArrayLike | None) -> tuple[Floats, Floats] | None:
    if world is None:
        return None
    try:
        box = np.asarray(world, dtype=float)
    except (TypeError, ValueError):
        box = np.empty(0)
    if box.shape != (2, 3) or not np.all(box[0] < box[1]):
        raise OptionError("world must be two corners, ((x, y, z), (x, y, z)), the lower one first")
    return box[0], box[1]


class TimeStepper:
    """Moves a system step by step; the system's state arrays are its own state."""

    def __init__(self, system: System, step: float, options: StepOptions) -> None:
        if not (math.isfinite(step) and step > 0.0):
            raise OptionError(f"step is {step} s: give a positive time step, for example 0.01")
        if system.count == 0:
            raise ProblemError("the system has no bodies: add some, for example with add_sphere")
        self.system, self.step, self.options = system, float(step), options
        self.index = 0
        self.timings = Timings()
        self._detector = Detector(system, options.margin)
        self._bodies, self._mass = _constants(system)
        self._spin_radius = _spin_radius(system)
        count = system.count
        self._rotation = np.empty((count, 3, 3))
        self._momentum, self._velocity = np.empty((count, 6)), np.empty((count, 6))
        self._displacement, self._turn = np.empty((count, 3)), np.empty(count)
        self.contacts = Contacts.empty()
        self.impulses = np.zeros((0, 3))
        """World frame, on body B, in N·s."""

    @property
    def time(self) -> float:
        """Time reached, in s."""
        return self.index * self.step

    def advance(self) -> Frame:
        """Do one step and return what happened in it."""
        system, bodies, options = self.system, self._bodies, self.options
        began = time.perf_counter()
        force = system.forces(self.time)
        state = kernels.State(
            system.position,
            system.quaternion,
            system.linear_velocity,
            system.angular_velocity,
            self._rotation,
        )
        kernels.set_rotations(state.quaternion, state.rotation)
        kernels.free_motion(bodies, state, force, self.step, self._momentum, self._velocity)
        kernels.reach(
            bodies, state, self._velocity, self._spin_radius, self.step, self._displacement, self._turn
        )
        fastest = float(np.sqrt(np.max(np.sum(self._displacement**2, axis=1))))
        self._detector.margin = min(max(options.margin, fastest), 2.0 * options.margin)
        moved = time.perf_counter()
        contacts = self._detector.detect(state.position, state.quaternion, self._displacement, self._turn)
        found = time.perf_counter()
        free_energy = float(kernels.kinetic_energy(bodies, self._velocity))
        start = match_impulses(self.contacts, self.impulses, contacts)
        late = self._late(contacts)
        prepared = time.perf_counter()
        for bounce in _BOUNCES:
            solution, frame, bouncing, assembling = self._solve(state, contacts, start, bounce)
            velocity, impulses = self._outcome(solution, frame)
            gain = kernels.kinetic_energy(bodies, velocity) - free_energy
            if not bouncing or gain <= _ROUNDING * free_energy:
                break
        solved = time.perf_counter()
        kernels.move(bodies, state, velocity, self.step)
        self.index += 1
        self.contacts, self.impulses = contacts, impulses
        numbers = self._numbers(solution, velocity, free_energy, contacts)
        numbers["late_contacts"] = float(late)
        self._check_state(state)
        self.timings.add(
            motion=moved - began + time.perf_counter() - solved,
            collision=found - moved,
            assembly=prepared - found + assembling,
            solver=solved - prepared - assembling,
        )
        return Frame(
            index=self.index,
            time=self.time,
            step=self.step,
            position=state.position,
            quaternion=state.quaternion,
            linear_velocity=state.linear,
            angular_velocity=state.angular,
            contacts=contacts,
            impulses=impulses,
            residual=solution.certificate.residual,
            status=str(solution.status),
            iterations=solution.statistics.iterations,
            numbers=numbers,
            solution=solution,
        )

    def _solve(
        self, state: kernels.State, contacts: Contacts, start: Floats, bounce: float
    ) -> tuple[Solution, Floats, int, float]:
        """Put the step's problem together and solve it.

        Returns the solution, the frames (c, 3, 3) of the contacts, how many of them bounce, and the time in
        s that the assembly took.
        """
        began = time.perf_counter()
        options, initial = self.options, np.empty_like(start)
        problem, frame, bouncing = self._assemble(state, contacts, bounce)
        kernels.to_components(frame, start, initial)
        assembled = time.perf_counter() - began
        solution = solve(
            problem, options.solver, tolerance=options.tolerance, max_iterations=options.max_iterations,
            initial=initial.ravel(), throw=False,
        )  # fmt: skip
        return solution, frame, bouncing, assembled

    def _outcome(self, solution: Solution, frame: Floats) -> tuple[Floats, Floats]:
        """Velocities (n, 6) and impulses (c, 3) in the world frame after the solve.

        If a solver ran away, bodies fall freely in this step, and its status says so: the run is not lost.
        """
        impulses = np.zeros((len(frame), 3))
        if solution.velocity is None or not np.isfinite(solution.velocity).all():
            return self._velocity, impulses
        kernels.to_vectors(frame, solution.impulses.reshape(-1, 3), impulses)
        return solution.velocity.reshape(-1, 6), impulses

    def _assemble(
        self, state: kernels.State, contacts: Contacts, bounce: float
    ) -> tuple[ContactProblem, Floats, int]:
        """Return the problem of this step, the frames (c, 3, 3) of its contacts, and how many bounce."""
        c, options = len(contacts), self.options
        rows = kernels.Rows(
            np.empty((c, 2), dtype=np.int64), np.empty((c, 2, 3, 6)), np.empty((c, 2, 3, 6)),
            np.empty((c, 3)), np.empty((c, 3)), np.empty((c, 3, 3)),
        )  # fmt: skip
        parts = (
            contacts.shapes, contacts.bodies, contacts.point, contacts.normal, contacts.gap,
            contacts.restitution,
        )  # fmt: skip
        bouncing = kernels.assemble(
            self._bodies, state, self._velocity, parts, self.step,
            options.push_out_speed, options.restitution_speed, bounce, rows,
        )  # fmt: skip
        problem = assembled_problem(
            mass=self._mass,
            bodies=rows.bodies,
            rows=rows.rows,
            columns=rows.columns,
            momentum=self._momentum.copy(),
            bias=rows.bias,
            free_velocity=rows.free,
            friction=contacts.friction,
            law=options.law,
        )
        return problem, rows.frame, int(bouncing)

    def _late(self, contacts: Contacts) -> int:
        """Number of contacts that overlap and that the last step did not know: they were found too late."""
        deep = np.flatnonzero(contacts.gap < -_LATE * self.options.margin)
        if self.index == 0 or len(deep) == 0:
            return 0
        known = match_impulses(self.contacts, np.ones((len(self.contacts), 3)), contacts)
        return int(np.sum(known[deep, 0] == 0.0))

    def _numbers(
        self,
        solution: Solution,
        velocity: Floats,
        free_energy: float,
        contacts: Contacts,
    ) -> dict[str, float]:
        """The step's scalars; energies in J at its end, penetration in m at its beginning."""
        kinetic = float(kernels.kinetic_energy(self._bodies, velocity))
        certificate, problem = solution.certificate, solution.problem
        complementarity, squared = kernels.impulse_numbers(
            solution.impulses.reshape(-1, 3), solution.contact_velocities.reshape(-1, 3), problem.cones.weight
        )
        error = problem.scales.whole * certificate.natural_map.relative
        speed, potential = kernels.body_numbers(
            self._bodies, self.system.position, velocity, self.system.gravity
        )
        return {
            "contacts": float(len(contacts)),
            "kinetic_energy": kinetic,
            "potential_energy": float(potential),
            "contact_work": kinetic - float(free_energy),
            "dissipation": certificate.dissipation,
            "complementarity": float(complementarity),
            "force_error": error / math.sqrt(squared) if squared > 0.0 else 0.0,
            "penetration": max(0.0, -float(contacts.gap.min(initial=0.0))),
            "largest_speed": float(speed),
        }

    def _check_state(self, state: kernels.State) -> None:
        if self.options.world is None:
            return
        lower, upper = self.options.world
        outside = np.any((state.position < lower) | (state.position > upper), axis=1) & ~self.system.fixed
        if outside.any():
            body = int(np.argmax(outside))
            raise WorldError(
                f"{self.system.label(body)} left the world at t = {self.time:g} s: it is at "
                f"{np.array2string(state.position[body], precision=4)} m; enlarge world, or give it walls"
            )

    # ---- what is needed to go on with the same bits --------------------------------------------

    def memory(self) -> dict[str, Any]:
        """Everything that the next steps depend on, besides the system's constants and the options."""
        system = self.system
        return {
            "index": self.index,
            "position": system.position.copy(),
            "quaternion": system.quaternion.copy(),
            "linear_velocity": system.linear_velocity.copy(),
            "angular_velocity": system.angular_velocity.copy(),
            "contact_shapes": self.contacts.shapes.copy(),
            "contact_feature": self.contacts.feature.copy(),
            "contact_impulses": self.impulses.copy(),
        }

    def restore(self, memory: dict[str, Any]) -> None:
        """Go back to what `memory` returned."""
        system = self.system
        self.index = int(memory["index"])
        for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
            stored = np.asarray(memory[name])
            if stored.shape != getattr(system, name).shape:
                raise ProblemError(
                    f"the checkpoint has {len(stored)} bodies and this system {system.count}: "
                    "resume with the system that the run began with"
                )
            getattr(system, name)[:] = stored
        count = len(memory["contact_feature"])
        self.contacts = Contacts.allocate(count)
        self.contacts.shapes[:] = memory["contact_shapes"]
        self.contacts.feature[:] = memory["contact_feature"]
        self.impulses = np.array(memory["contact_impulses"])


def _constants(system: System) -> tuple[kernels.Bodies, BodyMass]:
    """Masses of all bodies and their factors; fixed bodies, which no row refers to, get unit masses."""
    fixed = np.array(system.fixed)
    mass = np.where(fixed, 1.0, system.mass)
    inertia = np.where(fixed[:, None, None], np.eye(3), system.inertia)
    moment = inertia[:, 0, 0]
    deviation = np.abs(inertia - moment[:, None, None] * np.eye(3)).max(axis=(1, 2))
    blocks = np.zeros((system.count, 6, 6))
    blocks[:, :3, :3] = mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = inertia
    count = system.count
    body_mass = BodyMass(blocks, np.repeat(np.arange(count), 6), np.tile(np.arange(6), count))
    table = system.shapes
    centred = (table.kind == SPHERE) & np.all(table.offset == 0.0, axis=1)
    bodies = kernels.Bodies(
        mass,
        inertia,
        1.0 / np.sqrt(mass),
        np.ascontiguousarray(body_mass.lower_inverse[:, 3:, 3:]),
        fixed,
        deviation <= _ROUND * moment,
        np.where(centred, table.size[:, 0], 0.0),
    )
    return bodies, body_mass


def _spin_radius(system: System) -> Floats:
    """How far a body's surface is from its centre where rotation moves it: zero for centred spheres."""
    table = system.shapes
    uneven = np.zeros(system.count, dtype=bool)
    uneven[table.body[(table.kind != SPHERE) | np.any(table.offset != 0.0, axis=1)]] = True
    return np.where(uneven, system.bounding_radius, 0.0)
