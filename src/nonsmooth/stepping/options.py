"""The options of a time step, checked, and chosen from the system where the user left them open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice
from nonsmooth.collision.certificate import MODES
from nonsmooth.errors import OptionError
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Goal, Solver

SCHEMES = ("stabilised", "projected", "rattle", "ballistic")
"""How bodies are moved, and how joints and overlaps are held on position level."""
_MARGIN = 0.05
"""Default margin, as a part of the smallest moving body's bounding radius."""
_PUSH_OUT = 0.2
"""Default push-out speed, as a part of √(g r) with the smallest moving body's bounding radius r."""
_SLOWEST = 0.01
"""Default restitution speed, as a part of what gravity gives in a step."""


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
        restitution_speed: approaches slower than this (m/s) are no impacts; by default 1 % of what gravity
            gives in a step, so that what a solver leaves of a resting contact's velocity does not bounce.
            Bodies come to rest without it: the contact problem of the step takes a bounce that gravity ends
            within the step. (It used to be twice what gravity gives in a step, which took energy
            from slow elastic impacts.) Where Newton's law creates energy (with friction: Kane's paradox), the
            coefficients of that impact alone are reduced until it does not.
        scheme: how joints and overlaps are held on position level. "stabilised": the velocity undoes g/h in
            a step (Negrut and Serban, Eq. 9c). "projected": velocities know nothing of it, and after every
            step the bodies are moved onto g = 0 and out of overlaps, by the least motion in the metric of
            the masses. "rattle": of second order as long as nothing touches, else "projected".
            "ballistic": "stabilised", but bodies that neither contacts nor joints push move by
            x + h v + ½ h² a, which is exact in uniform gravity: with restitution 1 and no friction the energy
            is kept.
        world: lower and upper corner (m) of the box that no body may leave; without it bodies may go
            anywhere.
        contact_check: which contacts are checked, by code that shares nothing with the narrow phase:
            "sampled" (each pair and each shape once in 50 steps), "all" or "none". A step whose contacts do
            not pass counts as failed.
    """

    law: Law
    solver: Solver
    tolerance: float
    max_iterations: int | None
    margin: float
    push_out_speed: float
    restitution_speed: float
    scheme: str
    world: tuple[Floats, Floats] | None
    contact_check: str = "sampled"

    @property
    def projected(self) -> bool:
        """Whether bodies are moved onto joints and out of overlaps after a step with contacts."""
        return self.scheme in ("projected", "rattle")

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
        scheme: str = "stabilised",
        world: ArrayLike | None = None,
        contact_check: str = "sampled",
    ) -> StepOptions:
        """Check the options and choose what was left open for this system and step."""
        if not isinstance(system, System):
            raise OptionError(
                f"system is a {type(system).__name__}: give a System, for example ns.scenes.filling()"
            )
        if solver is not None and not isinstance(solver, Solver):
            raise OptionError(f"solver is {solver!r}: give a solver object such as ns.solvers.GaussSeidel()")
        choice("simulate", "scheme", scheme, SCHEMES)
        choice("simulate", "contact_check", contact_check, MODES)
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
            _SLOWEST * pull * step if restitution_speed is None else float(restitution_speed),
            scheme,
            _corners(world),
            contact_check,
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
