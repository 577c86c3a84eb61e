"""The options of a time step: frozen, checked, and with defaults derived from the system."""

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
"""Default relative residual that every step must reach."""
SCHEMES = ("stabilised", "projected", "rattle", "ballistic")
"""How bodies are moved, and how joints and overlaps are treated on position level."""
Corners = tuple[tuple[float, ...], tuple[float, ...]]
"""Lower and upper corner of a box in m."""

_MARGIN = 0.05
"""Default margin, relative to the smallest moving body's bounding radius."""
_PUSH_OUT = 0.2
"""Default push-out speed, relative to √(g r) with the smallest moving body's bounding radius r."""
_SLOWEST = 0.01
"""Default restitution speed, relative to the velocity that gravity adds in a step."""


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
    """Options of a time step. Fields that are None are derived from the system: see `for_system`."""

    law: Law | str = "coulomb"
    """Law of friction: "coulomb" (exact), "relaxed" or "pyramid(m)"."""
    solver: Solver | None = None
    """Any solver object; None selects `Auto`, which chooses a solver for every step."""
    tolerance: float = STEP_TOLERANCE
    """Relative residual of the certificate that every step must reach. It is relative to the residual of zero
    impulses; in a heap at rest, where impulses are much larger than what gravity adds in a step, 1e-3 already
    gives contact forces to about 2e-5 (`run.steps["force_error"]`): a looser tolerance is often sufficient
    there, and much faster."""
    max_iterations: int | None = None
    """Iterations after which the solver's latest result is accepted (and the step counts as failed); None
    selects the solver's own limit."""
    margin: float | None = None
    """Contacts are created where the gap is at most this (m), or closes within the step; by default 5 %
    of the smallest body's bounding radius. An impact within the step can close other gaps, so that a margin
    of zero allows overlaps for a step; where bodies move further than the margin in a step, it is
    doubled."""
    push_out_speed: float | None = None
    """Largest speed (m/s) at which overlaps (negative gaps) are removed, so that bodies that overlap at the
    start do not fly apart; by default 0.2 √(g r) with the smallest body's bounding radius r, which lifts a
    body by no more than 2 % of r. Without gravity: 0.2 r per second."""
    restitution_speed: float | None = None
    """Approach speed (m/s) below which restitution is ignored; by default 1 % of the velocity that gravity
    adds in a step, so that solver errors in resting contacts do not cause bounces. Bodies come to rest even
    at 0: a bounce that gravity ends within the step is resolved by the contact problem. Where Newton's law
    would create energy (with friction: Kane's paradox), the coefficients of that impact alone are reduced
    until it does not."""
    scheme: str = "stabilised"
    """How joints and overlaps are treated on position level. "stabilised" (half-implicit Euler): the
    velocity removes the error g in one step (Negrut and Serban, Eq. 9c). "projected": velocities are not
    corrected; after every step the bodies are moved onto g = 0 and out of overlaps, by the least motion in
    the metric of the masses. "rattle": second order while nothing touches, else "projected". "ballistic":
    "stabilised", but bodies that neither contacts nor joints push move by x + h v + ½ h² a, which is exact in
    uniform gravity: with restitution 1 and no friction the energy is kept."""
    world: ArrayLike | None = None
    """Lower and upper corner, ((x, y, z), (x, y, z)) in m, of a box that no body may leave; None for no
    limit."""
    contact_check: str = "sampled"
    """Which contacts are checked, by code that is independent of the narrow phase: "sampled" (each pair and
    each shape once in 50 steps), "all" or "none". A step whose contacts do not pass counts as failed."""
    threads: int | None = None
    """Threads of the contact solver; None selects the solver's own option. Results are bitwise identical
    for any number."""

    def __post_init__(self) -> None:
        owner = "StepOptions"
        if self.solver is not None:
            check_solver(self.solver, Solver, "ns.solvers.Newton(), or ns.solvers.by_name('newton')")
        choice(owner, "scheme", self.scheme, SCHEMES)
        choice(owner, "contact_check", self.contact_check, MODES)
        Goal(self.tolerance, self.max_iterations)  # raises on invalid values
        for name in ("margin", "push_out_speed", "restitution_speed"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0.0 <= float(value) < math.inf):
                raise OptionError(f"{name} is {value}: give a finite number that is not negative")
        if self.threads is not None:
            whole(owner, "threads", self.threads, 1)
        object.__setattr__(self, "law", Law.parse(self.law))
        object.__setattr__(self, "world", _corners(self.world))

    def for_system(self, system: System, step: float) -> ChosenOptions:
        """Return the same options with all defaults derived from this system and step (s)."""
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
        """The solver, with the number of threads set."""
        solver = Auto() if self.solver is None else self.solver
        return solver if self.threads is None else solver.on_threads(self.threads)

    def settings(self, duration: float | None, step: float) -> dict[str, Any]:
        """Return the options as numbers and strings, for the recording; times in s, None for no end."""
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
            # as given: values derived from the system and the step need not be compared on resuming
            "margin": self.margin,
            "push_out_speed": self.push_out_speed,
            "restitution_speed": self.restitution_speed,
        }


@dataclass(frozen=True, kw_only=True)
class ChosenOptions(StepOptions):
    """Options of a step with all defaults filled in: what `StepOptions.for_system` returns."""

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
