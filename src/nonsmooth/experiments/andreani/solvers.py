"""Every solver of complementarity problems over every named problem and start, and performance profiles.

Andreani et al. compare no methods: this table helps to choose one. Each method has the same tolerance on
the natural residual and the same time limit. A profile (Dolan and Moré 2002) shows for each
method the share of the problems that it solves at no more than τ times the cost of the cheapest method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity import REGISTRY
from nonsmooth.complementarity.library import NAMED
from nonsmooth.experiments.andreani import figures
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.andreani.methods import Outcome
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.summary import Comparison

FASTEST = 1e-4
"""CPU time in s below which times are clamped to this: shorter ones are dominated by clock noise."""
BY_MATRIX = ("lemke", "projected-gauss-seidel", "auto")
"""They work on the matrix of a linear problem: evaluations of its function do not measure their cost."""
LARGEST_FOR_LIBRARIES = 500
"""Most variables for which a library's minimiser is run: some store dense matrices, and none can be stopped
between two evaluations."""
QUICK_LIBRARIES = ("slsqp", "l-bfgs-b")
AGREES = 1e-6
"""Largest distance of a solved point from the nearest reference, beyond the reference's own accuracy."""


@dataclass(frozen=True)
class Case:
    """A problem and a start."""

    problem: str
    start: str


class Setup(NamedTuple):
    """Size of the computation."""

    limit: float
    """Time limit of a solve in s."""
    starts: int | None
    """Number of starts of each problem, in order; None for all."""
    few_libraries: bool
    """Whether the libraries' methods are limited to `QUICK_LIBRARIES`."""


class Found(NamedTuple):
    """What the experiment computes."""

    labels: list[str]
    cases: list[Case]
    outcomes: dict[tuple[str, Case], Outcome]
    linear: set[str]
    limit: float


class AndreaniSolvers(Experiment[Setup, Found]):
    """Set up by the time limit, the starts, and the libraries."""

    name = "andreani-solvers"
    summary = "every complementarity solver over every named problem and start, with performance profiles"
    paper = "Andreani, Friedlander, Mello and Santos §4, and the problems of MCPLIB"
    belongs_to = "andreani"
    seconds = (25.0, 350.0)
    FULL = Setup(2.0, None, few_libraries=False)
    QUICK = Setup(1.0, 1, few_libraries=True)

    def measure(self, setup: Setup, work: Work) -> Found:
        """Solve every problem from its starts by every applicable method."""
        solvers = shared.methods()
        if setup.few_libraries:
            solvers = {label: one for label, one in solvers.items() if label in (*REGISTRY, *QUICK_LIBRARIES)}
        cases = [
            Case(name, start) for name, named in NAMED.items() for start in list(named.starts)[: setup.starts]
        ]
        work.expect(len(NAMED) + 1)
        work.begin("compiling kernels")
        shared.compile_kernels(solvers)
        outcomes: dict[tuple[str, Case], Outcome] = {}
        linear = set()
        for name, named in NAMED.items():
            work.begin(name)
            problem = named.build()
            if problem.matrix is not None:
                linear.add(name)
            for case in cases:
                if case.problem != name:
                    continue
                for label, solver in solvers.items():
                    if solver.takes(problem) and problem.size <= _largest(label):
                        start, names = named.starts[case.start], (name, case.start, label)
                        outcomes[label, case] = shared.timed_solve(problem, start, solver, setup.limit, names)
        return Found(list(solvers), cases, outcomes, linear, setup.limit)

    def data(self, found: Found) -> Data:
        """Every solve, and a readable table."""
        labels, cases, outcomes, _, limit = found
        return {
            "solvers.csv": Table((*shared.HEADER, "distance"), map(_row, outcomes.values())),
            "solvers.md": table(labels, cases, outcomes, limit),
        }

    def figures(self, found: Found) -> Figures:
        """Performance profiles."""
        labels, cases, outcomes, linear, _ = found
        panels = _panels(labels, cases, outcomes, linear)
        return {"profiles": figures.profiles(panels, labels, shared.own(labels))}

    def compare(self, found: Found) -> Rows:
        """Number of cases that each method supports and solves, and of answers that match no reference."""
        labels, cases, outcomes, *_ = found
        by_time = ratios(labels, cases, outcomes, _seconds)
        for label in labels:
            taken = [outcomes[label, case] for case in cases if (label, case) in outcomes]
            solved = [outcome for outcome in taken if outcome.solved]
            finite = by_time[label][np.isfinite(by_time[label])]
            typical = f"{np.median(finite):.3g} times the fastest's time in the median" if len(finite) else ""
            yield Comparison(
                f"{label}: solved", None, len(solved), "", f"of {len(taken)} supported; {typical}"
            )
            astray = [
                outcome
                for outcome in solved
                if NAMED[outcome.problem].references
                and not NAMED[outcome.problem].agrees(outcome.point, AGREES)
            ]
            note = "; ".join(f"{one.problem} from {one.start}" for one in astray)
            yield Comparison(f"{label}: solved, but not a reference answer", None, len(astray), "", note)
        unsolved = [case for case in cases if not any(_solved(outcomes, label, case) for label in labels)]
        note = "; ".join(f"{case.problem} from {case.start}" for case in unsolved)
        yield Comparison("cases that no method solves", None, len(unsolved), "", note)


def _largest(label: str) -> float:
    """Most variables for which a method is run."""
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
        "residual, function evaluations and CPU time in ms, or how a method failed; a dash if it does not "
        f"support the problem, or is a library's with more than {LARGEST_FOR_LIBRARIES} variables.", "",
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
    """Each method's cost on each problem as a multiple of the lowest; infinity if not solved."""
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
