"""Complementarity problems in general: linear, nonlinear and mixed, with a certificate for every solution.

import nonsmooth as ns

problem = ns.complementarity.MCP(function, lower, upper, jacobian=jacobian)
solution = ns.complementarity.solve(problem, tolerance=1e-10)
print(solution.certificate)
"""

from __future__ import annotations

from nonsmooth._support.registry import Registry
from nonsmooth.complementarity import library
from nonsmooth.complementarity.base import Iteration, Solver
from nonsmooth.complementarity.certificate import Certificate, certify
from nonsmooth.complementarity.jacobians import check_jacobian
from nonsmooth.complementarity.problem import LCP, MCP, MNCP
from nonsmooth.complementarity.solution import Solution, Statistics
from nonsmooth.complementarity.solve import solve
from nonsmooth.complementarity.solvers.auto import Auto
from nonsmooth.complementarity.solvers.bounded_minimiser import BoundedMinimiser
from nonsmooth.complementarity.solvers.box_trust_region import BoxTrustRegion
from nonsmooth.complementarity.solvers.lemke import Lemke
from nonsmooth.complementarity.solvers.projected_gauss_seidel import ProjectedGaussSeidel
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.complementarity.theory import conditions
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.solution import SolveError
from nonsmooth.iteration.status import Status

REGISTRY: Registry[type[Solver]] = Registry(
    "solver",
    {solver.name: solver for solver in (
        Auto, SemismoothNewton, BoxTrustRegion, BoundedMinimiser, Lemke, ProjectedGaussSeidel,
    )},
)  # fmt: skip
"""Every solver by its name on the command line."""


def by_name(name: str) -> Solver:
    """Return a solver with its default options."""
    return REGISTRY.by_name(name)()


__all__ = [
    "LCP",
    "MCP",
    "MNCP",
    "REGISTRY",
    "Auto",
    "BoundedMinimiser",
    "BoxTrustRegion",
    "Certificate",
    "Goal",
    "Iteration",
    "Lemke",
    "ProjectedGaussSeidel",
    "SemismoothNewton",
    "Solution",
    "SolveError",
    "Solver",
    "Statistics",
    "Status",
    "by_name",
    "certify",
    "check_jacobian",
    "conditions",
    "library",
    "solve",
]
