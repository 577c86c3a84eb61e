"""Solvers of contact problems: one file per method, one registry, one loop."""

from __future__ import annotations

from nonsmooth._support.registry import Registry
from nonsmooth.iteration.solution import SolveError
from nonsmooth.iteration.status import Status
from nonsmooth.solvers.admm import ADMM
from nonsmooth.solvers.analysis.minimum_norm import minimum_norm
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.augmented_lagrangian import AugmentedLagrangian
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion
from nonsmooth.solvers.fixed_point import FixedPoint
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.lemke import Lemke
from nonsmooth.solvers.newton import Newton
from nonsmooth.solvers.projection_iterations import JORProx, SORProx
from nonsmooth.solvers.proximal_point import Proximal
from nonsmooth.solvers.solution import History, Solution, Statistics
from nonsmooth.solvers.solve import solve
from nonsmooth.solvers.velocity_equations import VelocityProx

REGISTRY: Registry[type[Solver]] = Registry(
    "solver",
    {solver.name: solver for solver in (
        Auto, APGD, GaussSeidel, Newton, Proximal, ADMM, FixedPoint, InteriorPoint, JORProx, SORProx,
        AugmentedLagrangian, VelocityProx, Lemke, EquationsOfMotion,
    )},
)  # fmt: skip
"""Every solver by its name on the command line."""


def by_name(name: str) -> Solver:
    """Return a solver with its default options."""
    return REGISTRY.by_name(name)()


__all__ = [
    "ADMM",
    "APGD",
    "REGISTRY",
    "AugmentedLagrangian",
    "Auto",
    "EquationsOfMotion",
    "FixedPoint",
    "GaussSeidel",
    "Goal",
    "History",
    "InteriorPoint",
    "Iteration",
    "JORProx",
    "Lemke",
    "Newton",
    "Proximal",
    "SORProx",
    "Solution",
    "SolveError",
    "Solver",
    "Statistics",
    "Status",
    "VelocityProx",
    "by_name",
    "minimum_norm",
    "solve",
]
