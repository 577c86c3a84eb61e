"""Every solver of complementarity problems over every named problem and start, and performance profiles.

Andreani et al. compare nothing: this is the table that a user needs to choose a method. Each method has the
same tolerance on the natural residual and the same time limit. A profile (Dolan and Moré 2002) shows for each
method the share of the problems that it solves at no more than τ times the cost of the cheapest method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Progress
from nonsmooth.complementarity import REGISTRY
from nonsmooth.complementarity.library import NAMED
from nonsmooth.experiments.andreani import figures
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.andreani.methods import Outcome
from nonsmooth.experiments.base import Old
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.output import prepare_folder, write_csv, write_text
from nonsmooth.experiments.summary import Comparison, Summary

FASTEST = 1e-4
"""CPU time in s below which times count as this: shorter ones are the noise of the clock."""
BY_MATRIX = ("lemke", "projected-gauss-seidel", "auto")
"""They work on the matrix of a linear problem: evaluations of its function do not measure their cost."""
LARGEST_FOR_LIBRARIES = 500
"""Most variables with which a library's minimiser is tried: some hold dense matrices, and none can be stopped
between two evaluations."""
QUICK_LIBRARIES = ("slsqp", "l-bfgs-b")
AGREES = 1e-6
"""How far a solved point may be from the nearest reference, beyond the reference's own accuracy."""


@dataclass(frozen=True)
class Case:
    """A problem and a start."""

    problem: str
    start: str


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`. `quick`: one start each, and few libraries' methods."""
    prepare_folder(folder)
    limit, starts = (1.0, 1) if quick else (2.0, None)
    solvers = shared.methods()
    if quick:
        solvers = {label: one for label, one in solvers.items() if label in (*REGISTRY, *QUICK_LIBRARIES)}
    cases = [Case(name, start) for name, named in NAMED.items() for start in list(named.starts)[:starts]]
    total = len(NAMED) + 2
    progress(0, total, "compiling kernels, where that was not done before")
    shared.compile_kernels(solvers)
    outcomes: dict[tuple[str, Case], Outcome] = {}
    linear = set()
    for done, (name, named) in enumerate(NAMED.items()):
        progress(1 + done, total, name)
        problem = named.build()
        if problem.matrix is not None:
            linear.add(name)
        for case in cases:
            if case.problem != name:
                continue
            for label, solver in solvers.items():
                if solver.takes(problem) and problem.size <= _largest(label):
                    names = (name, case.start, label)
                    outcomes[label, case] = shared.timed_solve(
                        problem, named.starts[case.start], solver, limit, names
                    )
    progress(total - 1, total, "tables and figures")
    labels = list(solvers)
    files = [
        write_csv(folder / "solvers.csv", (*shared.HEADER, "distance"), map(_row, outcomes.values())),
        write_text(folder / "solvers.md", table(labels, cases, outcomes, limit)),
        plots.save_figure(
            figures.profiles(_panels(labels, cases, outcomes, linear), labels, shared.own(labels)),
            folder / "profiles.png",
        ),
    ]
    progress(total, total, "done")
    rows = compare(labels, cases, outcomes, linear)
    return Summary(ANDREANI_SOLVERS.name, ANDREANI_SOLVERS.paper, tuple(rows), tuple(files)).write(folder)


def _largest(label: str) -> float:
    """Most variables with which a method is tried."""
    return math.inf if label in REGISTRY else LARGEST_FOR_LIBRARIES


def _row(outcome: Outcome) -> tuple[object, ...]:
    distance = NAMED[outcome.problem].distance(outcome.point)
    return (*shared.row(outcome), distance if math.isfinite(distance) else None)


def table(
    labels: Sequence[str], cases: Sequence[Case], outcomes: dict[tuple[str, Case], Outcome], limit: float
) -> str:
    """A Markdown page: for each problem and start, the residual, evaluations and time of each method."""
    lines = [
        "# Every solver over every named problem", "",
        f"Solved: natural residual at most {shared.TOLERANCE:g}, within {limit:g} s. A cell holds the "
        "residual, function evaluations and CPU time in ms, or how a method failed; a dash where it does not "
        f"take the problem, or is a library's and there are more than {LARGEST_FOR_LIBRARIES} variables.", "",
        "| problem | start | " + " | ".join(labels) + " |", "| --- | --- |" + " --- |" * len(labels),
    ]  # fmt: skip
    for case in cases:
        cells = [_cell(outcomes.get((label, case))) for label in labels]
        lines.append(f"| {case.problem} | {case.start} | " + " | ".join(cells) + " |")
    solved = [sum(_solved(outcomes, label, case) for case in cases) for label in labels]
    lines.append(f"| solved of {len(cases)} | | " + " | ".join(map(str, solved)) + " |")
    return "\n".join([*lines, ""])


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "–"
    if not outcome.solved:
        return f"*{outcome.status}*"
    return f"{outcome.residual:.0e}, {outcome.evaluations}, {1e3 * outcome.seconds:.3g}"


def _solved(outcomes: dict[tuple[str, Case], Outcome], label: str, case: Case) -> bool:
    found = outcomes.get((label, case))
    return found is not None and found.solved


# ---- profiles -----------------------------------------------------------------------------------------


def _seconds(outcome: Outcome) -> float:
    return max(outcome.seconds, FASTEST)


def _evaluations(outcome: Outcome) -> float:
    return float(outcome.evaluations + outcome.jacobians)


def ratios(
    labels: Sequence[str],
    cases: Sequence[Case],
    outcomes: dict[tuple[str, Case], Outcome],
    cost: Callable[[Outcome], float],
) -> dict[str, Floats]:
    """Each method's cost on each problem as a multiple of the cheapest's; infinity where not solved."""
    costs = np.array(
        [
            [cost(outcomes[label, case]) if _solved(outcomes, label, case) else math.inf for case in cases]
            for label in labels
        ]
    )
    best = costs.min(axis=0, initial=math.inf)
    with np.errstate(invalid="ignore"):
        multiples = np.where(np.isfinite(costs), costs / best, math.inf)
    return dict(zip(labels, multiples, strict=True))


def _panels(
    labels: Sequence[str], cases: Sequence[Case], outcomes: dict[tuple[str, Case], Outcome], linear: set[str]
) -> dict[str, dict[str, Floats]]:
    """Time, and evaluations where they measure the cost, over all problems and over the linear ones."""
    counted = [label for label in labels if label not in BY_MATRIX]
    straight = [case for case in cases if case.problem in linear]
    return {
        f"all {len(cases)} cases, by CPU time": ratios(labels, cases, outcomes, _seconds),
        f"all {len(cases)} cases, by evaluations of F and J": ratios(counted, cases, outcomes, _evaluations),
        f"{len(straight)} linear cases, by CPU time": ratios(labels, straight, outcomes, _seconds),
        f"{len(straight)} linear cases, by evaluations of F and J": ratios(
            counted, straight, outcomes, _evaluations
        ),
    }


def compare(
    labels: Sequence[str], cases: Sequence[Case], outcomes: dict[tuple[str, Case], Outcome], linear: set[str]
) -> list[Comparison]:
    """How many cases each method takes and solves, and how many of its answers miss every reference."""
    by_time = ratios(labels, cases, outcomes, _seconds)
    rows = []
    for label in labels:
        taken = [outcomes[label, case] for case in cases if (label, case) in outcomes]
        solved = [outcome for outcome in taken if outcome.solved]
        finite = by_time[label][np.isfinite(by_time[label])]
        typical = f"{np.median(finite):.3g} times the fastest's time in the median" if len(finite) else ""
        rows.append(
            Comparison(f"{label}: solved", None, len(solved), "", f"of {len(taken)} that it takes; {typical}")
        )
        astray = [
            outcome
            for outcome in solved
            if NAMED[outcome.problem].references and not NAMED[outcome.problem].agrees(outcome.point, AGREES)
        ]
        note = "; ".join(f"{one.problem} from {one.start}" for one in astray)
        rows.append(Comparison(f"{label}: solved, but not a reference answer", None, len(astray), "", note))
    unsolved = [case for case in cases if not any(_solved(outcomes, label, case) for label in labels)]
    note = "; ".join(f"{case.problem} from {case.start}" for case in unsolved)
    rows.append(Comparison("cases that no method solves", None, len(unsolved), "", note))
    return rows


ANDREANI_SOLVERS = Old(
    "andreani-solvers",
    "every complementarity solver over every named problem and start, with performance profiles",
    "Andreani, Friedlander, Mello and Santos §4, and the problems of MCPLIB",
    run,
)
