"""Rigid contact with exact Coulomb friction, and a certificate with every answer.

import nonsmooth as ns

problem = ns.ContactProblem(mass=M, jacobian=D, bias=b, momentum=k, friction=mu)
solution = ns.solve(problem, tolerance=1e-8)
print(solution.certificate)

run = ns.simulate(ns.scenes.filling(spheres=1000), duration=5.0, step=0.01, record="filling.h5")
print(run.certificate)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth import (
        adapters,
        collision,
        complementarity,
        errors,
        events,
        io,
        model,
        problem,
        scenes,
        solvers,
        stepping,
    )
    from nonsmooth.events import EventOptions, simulate_events
    from nonsmooth.io import Recording, Trajectory
    from nonsmooth.model import GapContact, GeneralisedSystem, System, joints
    from nonsmooth.problem import Certificate, ContactProblem, Law
    from nonsmooth.problem import library as problems
    from nonsmooth.solvers import Solution, SolveError, Status, solve
    from nonsmooth.stepping import Frame, Run, Sensor, Simulation, StepOptions, assemble, simulate

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ContactProblem",
    "EventOptions",
    "Frame",
    "GapContact",
    "GeneralisedSystem",
    "Law",
    "Recording",
    "Run",
    "Sensor",
    "Simulation",
    "Solution",
    "SolveError",
    "Status",
    "StepOptions",
    "System",
    "Trajectory",
    "adapters",
    "assemble",
    "collision",
    "complementarity",
    "errors",
    "events",
    "io",
    "joints",
    "model",
    "problem",
    "problems",
    "scenes",
    "simulate",
    "simulate_events",
    "solve",
    "solvers",
    "stepping",
]

_ROOMS = {
    "adapters": "adapters",
    "collision": "collision",
    "complementarity": "complementarity",
    "errors": "errors",
    "events": "events",
    "io": "io",
    "model": "model",
    "problem": "problem",
    "problems": "problem.library",
    "scenes": "scenes",
    "solvers": "solvers",
    "stepping": "stepping",
}
_HOME = {
    **dict.fromkeys(
        ("Certificate", "ContactProblem", "Law"),
        "problem",
    ),
    **dict.fromkeys(("Solution", "SolveError", "Status", "solve"), "solvers"),
    **dict.fromkeys(("Recording", "Trajectory"), "io"),
    **dict.fromkeys(("GapContact", "GeneralisedSystem", "System", "joints"), "model"),
    **dict.fromkeys(
        ("Frame", "Run", "Sensor", "Simulation", "StepOptions", "assemble", "simulate"), "stepping"
    ),
    **dict.fromkeys(("EventOptions", "simulate_events"), "events"),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the command line answers --help without the compiler."""
    if name in _ROOMS:
        return import_module(f"nonsmooth.{_ROOMS[name]}")
    if name in __all__:
        found = getattr(import_module(f"nonsmooth.{_HOME[name]}"), name)
        globals()[name] = found  # the next use finds it without asking here
        return found
    raise AttributeError(f"module 'nonsmooth' has no attribute {name!r}: see {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
