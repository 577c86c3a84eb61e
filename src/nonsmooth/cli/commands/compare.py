"""`nonsmooth compare`: several solvers on one problem, one table and one convergence plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth.cli.parts import (
    AsJson,
    Group,
    IterationLimit,
    OtherLaw,
    ProblemName,
    TimeLimit,
    WantedResidual,
    check_picture,
    command,
    compile_notice,
    option,
)
from nonsmooth.cli.problem import find_problem
from nonsmooth.cli.terminal.console import ERR, OUT, headline, print_json, progress_bar
from nonsmooth.cli.wording import in_flags
from nonsmooth.errors import MissingPackageError, OptionError, UnsupportedError

if TYPE_CHECKING:
    from nonsmooth.cli.terminal.comparison import Attempt
    from nonsmooth.problem import ContactProblem
    from nonsmooth.solvers import Solution, Solver


@command(
    Group.PROBLEMS,
    ("nonsmooth compare cube-glides", "all solvers"),
    ("nonsmooth compare cube-glides --solvers newton,apgd,eom", "three of them"),
    ("nonsmooth compare block.h5 --solvers auto,admm -o block.png", "with a plot"),
    ("nonsmooth compare cube-glides --solvers newton:warm_sweeps=0,newton", "options"),
)
def compare(
    problem: ProblemName,
    solvers: Annotated[
        str,
        option("--solvers", "A,B,C", "Comma-separated names, or all; give options as NAME:key=value."),
    ] = "all",
    law: OtherLaw = None,
    tolerance: WantedResidual = 1e-8,
    max_iterations: IterationLimit = None,
    time_limit: TimeLimit = 60.0,
    output: Annotated[
        Path | None,
        option("--output -o", "FILE.png", "Plot residuals over iterations and over time."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve one contact problem with several solvers and compare them.

    Each solver is called twice, first to compile its kernels; with -o a third
    time, to record every iteration. --time-limit applies to each call [60 s]. A
    solver that does not support the problem is listed with the reason.

    Exits with status 0 if a solver reached the tolerance, 2 if none did.
    """
    from nonsmooth._support.words import counted
    from nonsmooth.cli.terminal.comparison import attempt_report, attempts_as_json, attempts_figure

    check_picture("--output", output)
    methods = _methods(solvers)
    name, summary, question = find_problem(problem)
    if law is not None:
        question = question.with_law(law)
    limits = _Limits(tolerance, max_iterations, time_limit)
    attempts: list[Attempt] = []
    with compile_notice(), progress_bar("compare") as progress:
        for label, method in methods:
            progress(len(attempts), len(methods), label)
            attempts.append(_attempt(label, method, question, limits, output is not None))
    if as_json:
        found = attempts_as_json(name, question, attempts, tolerance)
        print_json(found)
    else:
        headline(name, summary)
        size = f"{counted(question.contacts, 'contact')}, {counted(question.joint_rows, 'joint row')}"
        OUT.print(f"{size}, law {question.law}, tolerance {tolerance:g}\n")
        OUT.print(attempt_report(attempts))
    if output is not None:
        attempts_figure(name, question, attempts, tolerance).savefig(output)
        (ERR if as_json else OUT).print(f"Convergence plot written to {output}", soft_wrap=True)
    if not any(attempt.solved for attempt in attempts):
        raise typer.Exit(2)


class _Limits:
    """Law, tolerance and limits for every solver."""

    def __init__(self, tolerance: float, max_iterations: int | None, time_limit: float) -> None:
        from nonsmooth.solvers import Goal

        Goal(tolerance, max_iterations, time_limit)  # rejects wrong values before any work
        self.tolerance, self.max_iterations, self.time_limit = tolerance, max_iterations, time_limit

    def solve(self, problem: ContactProblem, solver: Solver, history: bool = False) -> Solution:
        """Solve within the limits and return what was found."""
        from nonsmooth.solvers import solve

        return solve(
            problem, solver, tolerance=self.tolerance, max_iterations=self.max_iterations,
            time_limit=self.time_limit, history=history, throw=False,
        )  # fmt: skip


def _methods(text: str) -> list[tuple[str, Solver]]:
    """Solvers named by --solvers, each with the text that named it."""
    from nonsmooth.cli.solver import solver_with
    from nonsmooth.solvers import REGISTRY

    words = list(REGISTRY) if text.strip() == "all" else [word.strip() for word in text.split(",")]
    parts = [word.split(":") for word in words]
    for name, *_ in parts:
        REGISTRY.by_name(name)
    if len(set(words)) < len(words):
        twice = next(word for word in words if words.count(word) > 1)
        raise OptionError(f"--solvers names {twice} twice: name it once")
    return [(word, solver_with(name, pairs)) for word, (name, *pairs) in zip(words, parts, strict=True)]


def _attempt(label: str, solver: Solver, problem: ContactProblem, limits: _Limits, record: bool) -> Attempt:
    from nonsmooth.cli.terminal.comparison import Attempt
    from nonsmooth.solvers import solve

    try:
        for recording in (False, True)[: 1 + record]:  # compiles what is needed
            solve(problem, solver, max_iterations=1, history=recording, throw=False)
        solution = limits.solve(problem, solver)
        recorded = limits.solve(problem, solver, history=True) if record else None
    except (UnsupportedError, MissingPackageError, OptionError) as reason:
        return Attempt(label, None, in_flags(" ".join(str(reason).split())))
    return Attempt(label, solution, recorded=recorded)
