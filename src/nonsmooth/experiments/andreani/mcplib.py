"""Three study cases from MCPLIB: Andreani, Friedlander, Mello and Santos §4.1, Table 1 and Fig. 1.

- Harker's models of spatial competition, four on two networks: dimensions 27 to 129 of problem (2), and its
  objective below 1e-10 for each (the paper's measure of success).
- Scarf's equilibrium with two normalisations: the paper's counts for BOX-QUACAN beside ours, averages over
  four starts. The paper does not print its starts.
- Bertsekas' optimal control problem with N = 10 to 10,000 steps, in four families: Fig. 1, objectives and the
  number of controls at their bounds against PATH, and how the time of every method grows with N.

Times are CPU times of one thread.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth.complementarity import BoxTrustRegion, Solver, Status
from nonsmooth.complementarity.library import NAMED, optimal_control
from nonsmooth.complementarity.library.harker import PROBLEMS as HARKER
from nonsmooth.complementarity.library.optimal_control import (
    AT_BOUND,
    FAMILIES,
    OBJECTIVES,
    SIZES,
    controls_at_bound,
    objective,
    start_of_family,
)
from nonsmooth.complementarity.reformulation import Reformulation
from nonsmooth.experiments.andreani import figures
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.andreani.methods import Outcome
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row, reference_row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPERS_METHOD = "box-trust-region"
TABLE_1 = {"scarfasum": (25.3, 29.8, 848.5, 956.0, 32.0), "scarfanum": (26.3, 30.3, 700.0, 778.9, 30.3)}
"""The paper's averages for BOX-QUACAN: ItBox, FE, ItQua, MVP, CPU in s."""
COLUMNS = ("ItBox", "FE", "ItQua", "MVP", "CPU")
HARKER_SIZES = {1: (27, 46), 2: (27, 46), 3: (27, 46), 4: (72, 129)}
"""Dimension of problem (2) for each model in example 1 and example 2."""
PATIENT_STEPS, FEW_PRODUCTS = 1000, 2000
"""Limit of products per quadratic beyond this N, where a single quadratic can take long: the time limit can
then stop the method between two quadratics, and CPU/ItQua is still measured."""
DENSE, DENSE_STEPS = ("slsqp", "trust-constr", "fides"), 100
"""Methods that build dense matrices of problem (2), (7N)² numbers, and the largest N that they run."""
PAPERS_HOURS = 8.8
"""CPU time of the paper's largest optimal control problem, in h."""


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    sizes: tuple[int, ...]
    """Steps N of the optimal control problem for every method."""
    limit: float
    """CPU time in s after which a method is stopped and skipped at larger N."""
    family_sizes: tuple[int, ...]
    """Steps N with which the paper's method is run in every family."""


DIMENSION = "dimension of problem (2)"
HARKER_DIMENSION = Quantity(f"harkmcp-{{model}}-example-{{example}}: {DIMENSION}")
HARKER_OBJECTIVE = Quantity("harkmcp-{model}-example-{example}: objective")
SCARF = Quantity("{problem}: {column}")
"""A column is one of `COLUMNS` or `DIMENSION`."""
CONTROL = Quantity("bert_oc N={}, {}: J")
PAPERS_OBJECTIVE = Quantity(f"{PAPERS_METHOD}, y(0) = {{}}: objective")
RATE = Quantity("Fig. 1: exponent of CPU/ItQua by dimension")
CPU_TIME = Quantity("{}: CPU time, N = {}")


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    harker: list[Outcome]
    scarf: dict[str, list[Outcome]]
    families: dict[tuple[float, float], list[Outcome]]
    growth: dict[str, list[Outcome]]
    best: str
    answers: list[Outcome]


class AndreaniMcplib(Experiment[Setup, Found]):
    """Harker's, Scarf's and Bertsekas' problems."""

    name = "andreani-mcplib"
    summary = "complementarity problems of MCPLIB: Harker, Scarf, optimal control up to 70,000 variables"
    paper = "Andreani, Friedlander, Mello and Santos §4.1, Table 1 and Fig. 1"
    seconds = (10.0, 1000.0)
    FULL = Setup(SIZES, 120.0, SIZES)
    QUICK = Setup(SIZES[:3], 1.0, (10, 30, 100))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Solve all cases; stored solves are reused."""
        solvers = shared.methods()
        work.expect(4 + len(solvers))
        work.begin("compiling kernels")
        shared.compile_kernels(solvers)
        paper = solvers[PAPERS_METHOD]
        work.begin("Harker's models")
        examples = [problem.name for problem in HARKER if "example" in problem.name]
        harker = [_named(work, name, PAPERS_METHOD, paper, setup.limit)[0] for name in examples]
        work.begin("Scarf's equilibria")
        scarf = {name: _named(work, name, PAPERS_METHOD, paper, setup.limit) for name in TABLE_1}
        work.begin("Fig. 1, four families")
        families = {
            family: _over_sizes(work, family, PAPERS_METHOD, paper, setup.family_sizes, setup.limit)
            for family in FAMILIES
        }
        growth: dict[str, list[Outcome]] = {}
        for label, solver in solvers.items():
            work.begin(f"optimal control by {label}")
            known = families.get(FAMILIES[0]) if label == PAPERS_METHOD else None
            growth[label] = known or _over_sizes(work, FAMILIES[0], label, solver, setup.sizes, setup.limit)
        best = _fastest(growth)
        answers = [
            outcome
            for family in FAMILIES[1:]
            for outcome in _over_sizes(work, family, best, solvers[best], setup.sizes, setup.limit)
        ]
        return Found(setup, harker, scarf, families, growth, best, [*growth[best], *answers])

    def data(self, found: Found) -> Data:
        """Every solve."""
        everything = [*found.harker, *found.scarf["scarfasum"], *found.scarf["scarfanum"]]
        everything += [outcome for runs in found.families.values() for outcome in runs]
        for label, runs in found.growth.items():
            everything += runs if label != PAPERS_METHOD else []
        return {"runs.csv": Table(shared.HEADER, [shared.row(outcome) for outcome in everything])}

    def figures(self, found: Found) -> Figures:
        """Fig. 1, and the growth of every method's time."""
        rates = {f"y(0) = ({a:g}, {b:g})": _rate_curve(runs) for (a, b), runs in found.families.items()}
        return {
            "fig01_cost_of_inner_iterations": figures.cost_of_inner_iterations(
                rates, _rate_exponent(found.families)
            ),
            "growth": _growth(found.growth, found.setup.limit),
        }

    def compare(self, found: Found) -> Rows:
        """Compare with the papers' numbers and PATH's."""
        yield from _compare_harker(found.harker)
        yield from _compare_scarf(found.scarf)
        yield from _compare_control(found.answers, found.best)
        yield from _compare_growth(found)


# ---- runs ---------------------------------------------------------------------------------------------


def _named(work: Work, name: str, label: str, solver: Solver, limit: float) -> list[Outcome]:
    """One method from every start of a named problem."""
    problem = NAMED[name].build()
    return [
        shared.kept_solve(work.store, problem, start, solver, limit, (name, start_name, label))
        for start_name, start in NAMED[name].starts.items()
    ]


def _over_sizes(
    work: Work, family: tuple[float, float], label: str, solver: Solver, sizes: Sequence[int], limit: float
) -> list[Outcome]:
    """One method on the optimal control problem in growing sizes, up to the first failure.

    The paper's method continues: its time for each inner iteration is known whether it solves or not.
    """
    found: list[Outcome] = []
    for steps in sizes:
        if label in DENSE and steps > DENSE_STEPS:
            break
        problem = optimal_control(steps, family)
        if not solver.takes(problem):
            break
        chosen = solver
        if isinstance(solver, BoxTrustRegion) and steps > PATIENT_STEPS:
            chosen = dataclasses.replace(solver, max_products=FEW_PRODUCTS)
        names = (f"bert_oc N={steps}", f"y0=({family[0]:g}, {family[1]:g})", label)
        found.append(
            shared.kept_solve(work.store, problem, start_of_family(family, steps), chosen, limit, names)
        )
        if not found[-1].solved and label != PAPERS_METHOD:
            break
    return found


def _fastest(growth: dict[str, list[Outcome]]) -> str:
    """The method that solves the largest problem in the least time."""
    return min(
        growth,
        key=lambda label: min(
            ((-one.size, one.seconds) for one in growth[label] if one.solved), default=(0, math.inf)
        ),
    )


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log time over log size without the first size, where call overhead dominates; else NaN."""
    if len(sizes) < 3:
        return math.nan
    slope, _ = np.polyfit(np.log(sizes[1:]), np.log(seconds[1:]), 1)
    return float(slope)


def _curve(outcomes: Sequence[Outcome]) -> tuple[list[int], list[float]]:
    """N and CPU time in s of the sizes that were solved."""
    solved = [outcome for outcome in outcomes if outcome.solved]
    return [outcome.size // 5 for outcome in solved], [outcome.seconds for outcome in solved]


def _rate_curve(outcomes: Sequence[Outcome]) -> tuple[list[int], list[float]]:
    """Dimension of problem (2) and CPU/ItQua in s, solved or not: the rate is known either way."""
    counted = [outcome for outcome in outcomes if outcome.inner_iterations]
    sizes = [7 * outcome.size // 5 for outcome in counted]
    return sizes, [outcome.seconds / outcome.inner_iterations for outcome in counted]


# ---- figures ------------------------------------------------------------------------------------------


def _rate_exponent(families: dict[tuple[float, float], list[Outcome]]) -> float:
    known = [exponent(*_rate_curve(found)) for found in families.values()]
    return float(np.mean([slope for slope in known if math.isfinite(slope)] or [math.nan]))


def _growth(growth: dict[str, list[Outcome]], limit: float) -> Figure:
    times = {label: _curve(found) for label, found in growth.items() if found}
    failed = {}
    for label, found in growth.items():
        first = next((one for one in found if not one.solved), None)
        if first is not None:
            least = limit if first.status is Status.TIME_LIMIT else 0.0
            failed[label] = (first.size // 5, max(first.seconds, least))
    exponents = {label: exponent(*curve) for label, curve in times.items()}
    return figures.growth(times, failed, exponents, limit, shared.own(times))


# ---- comparisons --------------------------------------------------------------------------------------


def _compare_harker(outcomes: Sequence[Outcome]) -> Rows:
    for outcome in outcomes:
        named = NAMED[outcome.problem]
        model, example = int(outcome.problem[8]), int(outcome.problem[-1])
        dimension = Reformulation(named.build()).size
        yield exact_row(
            HARKER_DIMENSION(model=model, example=example),
            HARKER_SIZES[model][example - 1],
            dimension,
            "",
            "the paper: between 27 and 129" + ("; stand-in arc costs" if example == 1 else ""),
        )
        reference = "a convex program's" if example == 1 else "PATH's"
        away = f"y, d, p are {named.distance(outcome.point):.1g} from {reference}"
        note = f"{outcome.status}; the paper's is below {shared.SMALL_OBJECTIVE:g}; {away}"
        yield Comparison(HARKER_OBJECTIVE(model=model, example=example), None, outcome.objective, "", note)


def _compare_scarf(scarf: dict[str, list[Outcome]]) -> Rows:
    for name, outcomes in scarf.items():
        solved = [one for one in outcomes if one.solved]
        note = f"average over the {len(solved)} of {len(outcomes)} starts that were solved; starts are ours"
        counts = [
            (one.iterations, one.evaluations, one.inner_iterations, one.products, one.seconds)
            for one in solved
        ]
        means = np.mean(counts, axis=0) if counts else np.full(len(COLUMNS), np.nan)
        for column, paper, mean in zip(COLUMNS, TABLE_1[name], means.tolist(), strict=True):
            unit = "s" if column == "CPU" else ""
            yield Comparison(SCARF(problem=name, column=column), paper, mean, unit, note)
        dimension = Reformulation(NAMED[name].build()).size
        expected = {"scarfasum": 30, "scarfanum": 28}[name]
        yield paper_row(SCARF(problem=name, column=DIMENSION), expected, dimension, "")


def _compare_control(answers: Sequence[Outcome], best: str) -> Rows:
    for outcome in answers:
        steps = outcome.size // 5
        family = next(one for one in FAMILIES if f"y0=({one[0]:g}, {one[1]:g})" == outcome.start)
        column = SIZES.index(steps)
        at_bound = controls_at_bound(outcome.point)
        note = (
            f"{at_bound} controls at their bound, PATH {AT_BOUND[family][column]}; {best}, {outcome.status}"
        )
        yield reference_row(
            CONTROL(steps, outcome.start),
            OBJECTIVES[family][column],
            objective(outcome.point),
            "",
            "PATH",
            note,
        )


def _compare_growth(found: Found) -> Rows:
    setup, largest = found.setup, max(found.setup.sizes)
    yield Comparison(RATE, None, _rate_exponent(found.families), "")
    for (a, b), runs in found.families.items():
        last = runs[-1]
        note = f"N = {last.size // 5}: {last.status}; the paper's are 1e-13 to 1e-4"
        yield Comparison(PAPERS_OBJECTIVE(f"({a:g}, {b:g})"), None, last.objective, "", note)
    for label, runs in found.growth.items():
        sizes, seconds = _curve(runs)
        reached = f"largest N solved {sizes[-1]}" if sizes else "none solved"
        first = next((one for one in runs if not one.solved), None)
        if first is not None:
            reached += f"; at N = {first.size // 5}: {first.status} (limit {setup.limit:g} s)"
        elif label in DENSE and largest > DENSE_STEPS:
            reached += "; not run beyond: its matrices are dense"
        elif len(runs) < len(setup.sizes) and label != PAPERS_METHOD:
            reached += "; it does not support larger ones" if runs else ": it does not support the problem"
        yield Comparison(f"{label}: exponent of time by N", None, exponent(sizes, seconds), "", reached)
        paper = PAPERS_HOURS * 3600.0 if largest == SIZES[-1] else None
        if sizes and sizes[-1] == largest:
            note = (
                "the paper's time is for its own method, its machine and its largest problem" if paper else ""
            )
            yield Comparison(CPU_TIME(label, largest), paper, seconds[-1], "s", note)
