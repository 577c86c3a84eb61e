"""The command `nonsmooth complementarity`: solve a complementarity problem of the collection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import (
    AsJson,
    Group,
    IterationLimit,
    Method,
    MethodOptions,
    TimeLimit,
    WantedResidual,
    command,
    compile_notice,
    option,
)
from nonsmooth.cli.terminal.console import OUT, headline, print_json
from nonsmooth.cli.terminal.lists import list_complementarity
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.complementarity import Solution
    from nonsmooth.complementarity.library import NamedProblem

_MOST_SHOWN = 12
"""Largest number of variables for which the solution is printed."""


@command(
    Group.PROBLEMS,
    ("nonsmooth complementarity", "list the problems"),
    ("nonsmooth complementarity josephy", "the default solver"),
    ("nonsmooth complementarity kojshin --start ones --solver box-trust-region", "another start and method"),
    ("nonsmooth complementarity josephy --solver bounded-minimiser --option method=trf", "options"),
    ("nonsmooth complementarity obstacle --json", "for other programs"),
)
def complementarity(
    name: Annotated[
        str | None,
        typer.Argument(metavar="PROBLEM", help="Name of the problem; lists all problems if omitted."),
    ] = None,
    solver: Method = "auto",
    option: MethodOptions = None,
    start: Annotated[
        str | None,
        option("--start", "NAME", "Name of a starting point of the problem.", default="the first"),
    ] = None,
    tolerance: WantedResidual = 1e-8,
    max_iterations: IterationLimit = None,
    time_limit: TimeLimit = math.inf,
    as_json: AsJson = False,
) -> None:
    """Solve a complementarity problem of the collection and print the certificate of the solution.

    Exits with status 0 if the tolerance was reached, 2 if not.
    """
    from nonsmooth.cli.solver import built
    from nonsmooth.cli.terminal.complementarity_tables import complementarity_report
    from nonsmooth.complementarity import REGISTRY, Status, solve
    from nonsmooth.complementarity.library import NAMED

    if name is None:
        list_complementarity()
        return
    known = NAMED.by_name(name)
    first = start or next(iter(known.starts))
    if first not in known.starts:
        raise OptionError(f"{name} has no start {first!r}: {advice(first, list(known.starts))}")
    with compile_notice():
        solution = solve(
            known.build(), built(REGISTRY, solver, option or []), tolerance=tolerance,
            max_iterations=max_iterations, time_limit=time_limit, start=known.starts[first], throw=False,
        )  # fmt: skip
    if as_json:
        answer = _as_json(known, first, solution, tolerance)
        print_json(answer)
    else:
        headline(name, f"{known.summary}, from {first}")
        OUT.print(complementarity_report(solution, tolerance, _MOST_SHOWN))
        distance = known.distance(solution.point)
        if not math.isnan(distance):
            OUT.print(f"Largest difference from the known solution: {distance:.2e}")
    if solution.status is not Status.SOLVED:
        raise typer.Exit(2)


def _as_json(known: NamedProblem, start: str, solution: Solution, tolerance: float) -> dict[str, object]:
    statistics, certificate = solution.statistics, solution.certificate
    distance = known.distance(solution.point)

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None  # JSON has no NaN

    return {
        "problem": known.name,
        "start": start,
        "solver": statistics.solver,
        "status": str(solution.status),
        "tolerance": tolerance,
        "point": [finite(value) for value in solution.point.tolist()],
        "certificate": {
            name: finite(getattr(certificate, name))
            for name in ("bounds", "signs", "complementarity", "natural_map")
        },
        "difference_from_known_answer": finite(distance),
        "iterations": statistics.iterations,
        "function_evaluations": statistics.function_evaluations,
        "jacobian_evaluations": statistics.jacobian_evaluations,
        "inner_iterations": statistics.inner_iterations,
        "products": statistics.products,
        "seconds": statistics.time,
        "note": statistics.note,
    }
