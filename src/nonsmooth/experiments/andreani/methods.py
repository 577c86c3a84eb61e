"""Shared parts of the experiments on complementarity problems: the methods, and one timed solve."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity import MCP, REGISTRY, BoundedMinimiser, Solver, Status, solve
from nonsmooth.complementarity.library import optimal_control
from nonsmooth.complementarity.reformulation import Reformulation
from nonsmooth.complementarity.solvers.bounded_minimiser import METHODS as MINIMISERS
from nonsmooth.experiments.shared.resume import Store

TOLERANCE = 1e-9
"""Natural residual at which a problem counts as solved."""
SMALL_OBJECTIVE = 1e-10
"""Objective of problem (2) below which the paper counts a problem as solved."""


@dataclass(frozen=True)
class Outcome:
    """One solve: its problem, method and results."""

    problem: str
    start: str
    method: str
    size: int
    """Variables of the problem."""
    status: Status
    residual: float
    """Natural residual, recomputed."""
    objective: float
    """Objective of problem (2) with the optimal slacks."""
    iterations: int
    evaluations: int
    """Evaluations of the function, including those for finite differences."""
    jacobians: int
    inner_iterations: int
    products: int
    seconds: float
    """CPU time."""
    point: Floats

    @property
    def solved(self) -> bool:
        """Whether the certificate holds."""
        return self.status is Status.SOLVED


def methods() -> dict[str, Solver]:
    """Every method by its label: the registry's, and the libraries' minimisers on problem (2)."""
    registry = {name: kind() for name, kind in REGISTRY.items() if kind is not BoundedMinimiser}
    installed = [method for method in MINIMISERS if method != "fides" or find_spec("fides")]
    return {**registry, **{method: BoundedMinimiser(method=method) for method in installed}}


def own(labels: Iterable[str]) -> int:
    """Number of methods of this package, whose labels come first, before those of libraries."""
    return sum(label in REGISTRY for label in labels)


def compile_kernels(solvers: dict[str, Solver]) -> None:
    """Solve a small problem with every method, so that times do not include compilation."""
    problem = optimal_control(3)
    for solver in solvers.values():
        if solver.takes(problem):
            solve(problem, solver, tolerance=TOLERANCE, time_limit=10.0, throw=False)


def objective_of(problem: MCP, point: Floats) -> float:
    """Objective of problem (2) at a point, with the optimal slacks."""
    form = Reformulation(problem)
    value = problem.value(point)
    if not np.isfinite(value).all():
        return math.nan
    residual = form.residual(form.best_slacks(form.with_slacks(point), value), value)
    return 0.5 * float(residual @ residual)


def timed_solve(
    problem: MCP, start: Floats, solver: Solver, time_limit: float, names: tuple[str, str, str]
) -> Outcome:
    """Solve once; `names` are those of the problem, the start and the method."""
    began = time.process_time()
    found = solve(problem, solver, tolerance=TOLERANCE, time_limit=time_limit, start=start, throw=False)
    seconds = time.process_time() - began
    counted = found.statistics
    return Outcome(
        *names, problem.size, found.status, found.certificate.residual, objective_of(problem, found.point),
        counted.iterations, counted.function_evaluations + counted.difference_evaluations,
        counted.jacobian_evaluations, counted.inner_iterations, counted.products, seconds, found.point,
    )  # fmt: skip


def kept_solve(
    store: Store, problem: MCP, start: Floats, solver: Solver, time_limit: float, names: tuple[str, str, str]
) -> Outcome:
    """Return `timed_solve(...)`, or its stored result."""

    def compute() -> dict[str, object]:
        found = timed_solve(problem, start, solver, time_limit, names)
        return vars(found) | {"status": found.status.name}

    identity = (*names, start, problem.value(start), solver, TOLERANCE, time_limit)
    content = store.kept(f"solve {' '.join(names)}", identity, compute)
    return Outcome(**content | {"status": Status[content["status"]]})


def row(outcome: Outcome) -> tuple[object, ...]:
    """An outcome as a row under `HEADER`; None for numbers that are not finite."""
    numbers = (outcome.residual, outcome.objective)
    return (
        outcome.problem, outcome.start, outcome.method, outcome.size, str(outcome.status),
        *(number if math.isfinite(number) else None for number in numbers),
        outcome.iterations, outcome.evaluations, outcome.jacobians, outcome.inner_iterations,
        outcome.products, outcome.seconds,
    )  # fmt: skip


HEADER = (
    "problem", "start", "method", "variables", "status", "residual", "objective", "iterations",
    "function_evaluations", "jacobian_evaluations", "inner_iterations", "products", "cpu_s",
)  # fmt: skip
