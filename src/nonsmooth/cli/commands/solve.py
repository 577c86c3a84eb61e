"""The command `nonsmooth solve`: one contact problem, and the certificate of its solution."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.parts import (
    AsJson,
    Group,
    IterationLimit,
    Method,
    MethodOptions,
    OtherLaw,
    ProblemName,
    TimeLimit,
    WantedResidual,
    check_picture,
    check_target,
    command,
    compile_notice,
    option,
)
from nonsmooth.cli.problem import find_problem
from nonsmooth.cli.terminal.console import ERR, OUT, headline, print_json


@command(
    Group.PROBLEMS,
    ("nonsmooth solve sliding-ball", "the default solver"),
    ("nonsmooth solve sliding-ball --law relaxed --solver apgd", "another law"),
    ("nonsmooth solve block-slides --solver sor-prox --option omega=0.5", "options"),
    ("nonsmooth solve block-slides --save block.h5 --plot block.png", "keep it"),
    ("nonsmooth solve block.h5 --start block.h5 --tolerance 1e-12", "go on"),
    ("nonsmooth solve block.h5 --json", "for other programs"),
)
def solve(
    problem: ProblemName,
    solver: Method = "auto",
    option: MethodOptions = None,
    law: OtherLaw = None,
    tolerance: WantedResidual = 1e-8,
    max_iterations: IterationLimit = None,
    time_limit: TimeLimit = math.inf,
    measure: Annotated[
        str,
        option(
            "--measure",
            "NAME",
            "Errors to reduce: invariant (the certificate's residual) or both (Siconos' error also).",
        ),
    ] = "invariant",
    start: Annotated[
        Path | None,
        option("--start", "FILE", "Warm start from the solution stored in this file."),
    ] = None,
    save: Annotated[
        Path | None, option("--save", "FILE", "Save the problem and its solution (HDF5).")
    ] = None,
    plot: Annotated[
        Path | None,
        option("--plot", "FILE.png", "Plot residual and objective over iterations."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve one contact problem and print the certificate of the solution.

    Exits with status 0 if the tolerance was reached, 2 if not; the last iterate is printed and saved in
    either case. On acceleration level read N for N·s and m/s² for m/s.
    """
    from nonsmooth.cli.solver import solver_with
    from nonsmooth.cli.terminal.as_json import solution_as_json
    from nonsmooth.cli.terminal.plots import history_figure
    from nonsmooth.cli.terminal.tables import solution_report
    from nonsmooth.io import read_start, write_problem
    from nonsmooth.problem import siconos_error
    from nonsmooth.solvers import Status, solve

    check_target(save)
    check_picture("--plot", plot)
    with compile_notice():
        method = solver_with(solver, option or [])
        name, summary, question = find_problem(problem)
        if law is not None:
            question = question.with_law(law)
        solution = solve(
            question,
            method,
            tolerance=tolerance,
            max_iterations=max_iterations,
            time_limit=time_limit,
            start=None if start is None else read_start(start),
            history=plot is not None,
            throw=False,
            measure=measure,
        )
    if as_json:
        answer = solution_as_json(name, solution, tolerance)
        print_json(answer)
    else:
        headline(name, summary)
        OUT.print(solution_report(solution, tolerance))
        if measure == "both":
            error = siconos_error(question, solution.impulses, solution.joint_impulses)
            verdict = "within" if error <= tolerance else "above"
            OUT.print(f"Siconos' error {error:.2e}, {verdict} {tolerance:g}")
    say = ERR if as_json else OUT
    if save is not None:
        write_problem(question, save, solution=solution)
        say.print(f"Problem and solution written to {save}", soft_wrap=True)
    if plot is not None:
        history_figure(name, solution, tolerance).savefig(plot)
        say.print(f"Plot written to {plot}", soft_wrap=True)
    if solution.status is not Status.SOLVED:
        raise typer.Exit(2)
