"""Rigid contact with exact Coulomb friction, and a certificate with every answer.

import nonsmooth as ns

problem = ns.ContactProblem(mass=M, jacobian=D, bias=b, momentum=k, friction=mu)
solution = ns.solve(problem, tolerance=1e-8)
print(solution.certificate)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth import errors, io, library, problem, solvers
    from nonsmooth.problem import Certificate, ContactProblem, Law, cones, pyramid
    from nonsmooth.solvers import Solution, SolveError, Status, solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ContactProblem",
    "Law",
    "Solution",
    "SolveError",
    "Status",
    "cones",
    "errors",
    "io",
    "library",
    "problem",
    "pyramid",
    "solve",
    "solvers",
]

_ROOMS = ("errors", "io", "library", "problem", "solvers")
_FROM_PROBLEM = ("Certificate", "ContactProblem", "Law", "cones", "pyramid")


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the command line answers --help without the compiler."""
    if name in _ROOMS:
        return import_module(f"nonsmooth.{name}")
    if name in __all__:
        home = "nonsmooth.problem" if name in _FROM_PROBLEM else "nonsmooth.solvers"
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'nonsmooth' has no attribute {name!r}: see {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
