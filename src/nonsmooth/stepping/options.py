"""The options of a time step: frozen, checked, and chosen from the system where they are left open."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.options import choice, whole
from nonsmooth.collision.certificate import MODES
from nonsmooth.errors import OptionError
from nonsmooth.iteration.solver import check_solver
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Goal, Solver

STEP_TOLERANCE = 1e-4
"""Default of the relative residual that every step is asked for."""
SCHEMES = ("stabilised", "projected", "rattle", "ballistic")
"""How bodies are moved, and how joints and overlaps are held on position level."""
Corners = tuple[tuple[float, ...], tuple[float, ...]]
"""Lower and upper corner of a box in m."""

_MARGIN = 0.05
"""Default margin, as a part of the smallest moving body's bounding radius."""
_PUSH_OUT = 0.2
"""Default push-out speed, as a part of √(g r) with the smallest moving body's bounding radius r."""
_SLOWEST = 0.01
"""Default restitution speed, as a part of what gravity gives in a step."""


class StepOverrides(TypedDict, total=False):
    """The fields of `StepOptions` as keywords of `simulate` and `Simulation`; see there."""

    law: Law | str
    solver: Solver | None
    tolerance: float
    max_iterations: int | None
    margin: float | None
    push_out_speed: float | None
    restitution_speed: float | None
    scheme: str
    world: ArrayLike | None
    contact_check: str
    threads: int | None


@dataclass(frozen=True)
class StepOptions:
    """How a step is done. What is None is chosen from the system: see `for_system`."""

    law: Law | str = "coulomb"
    """Law of friction: "coulomb" (exact), "relaxed" or "pyramid(m)"."""
    solver: Solver | None = None
    """Any solver object; None stands for `Auto`, which picks one for every step."""
    tolerance: float = STEP_TOLERANCE
    """Relative residual of the certificate that every step is asked for. It is relative to what zero impulses
    would leave; in a heap at rest, where impulses are much larger than what gravity adds in a step, 1e-3
    means contact forces to about 2e-5 already (`run.steps["force_error"]`): looser is often enough there, and
    much faster."""
    max_iterations: int | None = None
    """Iterations after which a step takes what its solver has found so far (and counts as failed); None
    stands for the solver's own limit."""
    margin: float | None = None
    """Contacts are found where the gap is at most this (m), and where it closes in the step; by default 5 %
    of the smallest body's bounding radius. An impact within the step can close other gaps, so that a margin
    of zero lets bodies overlap for a step; where bodies move further than the margin in a step, it is
    doubled."""
    push_out_speed: float | None = None
    """Overlaps (gaps below zero) are undone no faster than this (m/s), so that bodies that overlap at the
    start do not fly apart; by default 0.2 √(g r) with the smallest body's bounding radius r, which lifts a
    body by no more than 2 % of r. Without gravity: 0.2 r per second."""
    restitution_speed: float | None = None
    """Approaches slower than this (m/s) are no impacts; by default 1 % of what gravity gives in a step, so
    that what a solver leaves of a resting contact's velocity does not bounce. Bodies come to rest without it:
    the contact problem of the step takes a bounce that gravity ends within the step. Where Newton's law
    creates energy (with friction: Kane's paradox), the coefficients of that impact alone are reduced until it
    does not."""
    scheme: str = "stabilised"
    """How joints and overlaps are held on position level. "stabilised" (the papers' half-implicit Euler): the
    velocity undoes g/h in a step (Negrut and Serban, Eq. 9c). "projected": velocities know nothing of it, and
    after every step the bodies are moved onto g = 0 and out of overlaps, by the least motion in the metric of
    the masses. "rattle": of second order as long as nothing touches, else "projected". "ballistic":
    "stabilised", but bodies that neither contacts nor joints push move by x + h v + ½ h² a, which is exact in
    uniform gravity: with restitution 1 and no friction the energy is kept."""
    world: ArrayLike | None = None
    """Lower and upper corner, ((x, y, z), (x, y, z)) in m, of the box that no body may leave; without it
    bodies may go anywhere."""
    contact_check: str = "sampled"
    """Which contacts are checked, by code that shares nothing with the narrow phase: "sampled" (each pair and
    each shape once in 50 steps), "all" or "none". A step whose contacts do not pass counts as failed."""
    threads: int | None = None
    """Threads of the contact solver; None stands for the solver's own option. Results are bitwise identical
    for any number."""

    def __post_init__(self) -> None:
        owner = "StepOptions"
        if self.solver is not None:
            check_solver(self.solver, Solver, "ns.solvers.Newton(), or ns.solvers.by_name('newton')")
        choice(owner, "scheme", self.scheme, SCHEMES)
        choice(owner, "contact_check", self.contact_check, MODES)
        Goal(self.tolerance, self.max_iterations)  # refuses wrong values
        for name in ("margin", "push_out_speed", "restitution_speed"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0.0 <= float(value) < math.inf):
                raise OptionError(f"{name} is {value}: give a finite number that is not negative")
        if self.threads is not None:
            whole(owner, "threads", self.threads, 1)
        object.__setattr__(self, "law", Law.parse(self.law))
        object.__setattr__(self, "world", _corners(self.world))

    def for_system(self, system: System, step: float) -> ChosenOptions:
        """Return the same options with all that was left open chosen for this system and step (s)."""
        radius = system.bounding_radius[~system.fixed]
        radius = radius[np.isfinite(radius) & (radius > 0.0)]
        size = float(radius.min(initial=np.inf))
        size = size if math.isfinite(size) else 1.0
        pull = float(np.linalg.norm(system.gravity))
        chosen: dict[str, Any] = {
            "solver": self._method,
            "margin": _MARGIN * size if self.margin is None else float(self.margin),
            "push_out_speed": _PUSH_OUT * (math.sqrt(pull * size) if pull > 0.0 else size)
            if self.push_out_speed is None
            else float(self.push_out_speed),
            "restitution_speed": _SLOWEST * pull * step
            if self.restitution_speed is None
            else float(self.restitution_speed),
        }
        return ChosenOptions(**({field.name: getattr(self, field.name) for field in fields(self)} | chosen))

    @property
    def _method(self) -> Solver:
        """The solver on its threads."""
        solver = Auto() if self.solver is None else self.solver
        return solver if self.threads is None else solver.on_threads(self.threads)

    def settings(self, duration: float | None, step: float) -> dict[str, Any]:
        """Return what was asked for in numbers and strings, for the record; times in s, None for no end."""
        solver, world = self._method, cast("Corners | None", self.world)
        return ({} if duration is None else {"duration": duration}) | {
            "step": step,
            "law": str(self.law),
            "solver": solver.name,
            "solver_options": {name: value for name, value in asdict(solver).items() if name != "threads"},
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "scheme": self.scheme,
            "world": None if world is None else [list(corner) for corner in world],
            "threads": getattr(solver, "threads", 1),
            # as they were given: what follows from the system and the step need not be compared on resuming
            "margin": self.margin,
            "push_out_speed": self.push_out_speed,
            "restitution_speed": self.restitution_speed,
        }


@dataclass(frozen=True, kw_only=True)
class ChosenOptions(StepOptions):
    """Options of a step that leave nothing open: what `StepOptions.for_system` returns."""

    law: Law
    solver: Solver
    margin: float
    push_out_speed: float
    restitution_speed: float
    world: Corners | None

    @property
    def projected(self) -> bool:
        """Whether bodies are moved onto joints and out of overlaps after a step with contacts."""
        return self.scheme in ("projected", "rattle")


def _corners(world: Any) -> Corners | None:
    if world is None:
        return None
    try:
        box = np.asarray(world, dtype=float)
    except (TypeError, ValueError):
        box = np.empty(0)
    if box.shape != (2, 3) or not np.all(box[0] < box[1]):
        raise OptionError("world must be two corners, ((x, y, z), (x, y, z)), the lower one first")
    return tuple(box[0].tolist()), tuple(box[1].tolist())
