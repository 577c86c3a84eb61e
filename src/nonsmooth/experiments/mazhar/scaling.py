"""Time to solve one step of 64 to 2,560 settled spheres: TR-2014-11 §5.2, Figs. 5 and 6.

Every solver gets the same relaxed problem (Eq. 23 or 24) and the same tolerance, which is checked by the
certificate, and starts from zero impulses. A solver that exceeds its time limit at a size is marked there and
not run beyond, as for PATH in the report. The heaps are settled more coarsely than in the report, by
Gauss-Seidel in steps of 0.002 s; the problem that is solved has the report's step, 0.0005 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import UnsupportedError
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mazhar import settled_spheres as spheres
from nonsmooth.experiments.mazhar import static_figures as figures
from nonsmooth.experiments.shared.granular import Effort
from nonsmooth.experiments.shared.resume import Store
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.admm import ADMM
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.auto import Auto
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion
from nonsmooth.solvers.fixed_point import FixedPoint
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.newton import Newton
from nonsmooth.solvers.projection_iterations import JORProx, SORProx
from nonsmooth.solvers.proximal_point import Proximal
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

STEP = 0.0005
"""Time step in s of the problem that is solved, as in the report."""
REPEATED_BELOW = 1.0
"""A solve shorter than this (s) is repeated, and the shorter time counts."""
MANY = 1_000_000
"""Iteration limit: the time limit comes first."""
TOO_LARGE = "too large"
"""Status of a problem that is too large for a solver."""
SHOWN = 20
"""Number of progress reports of a settling run."""
GIVES_UP = ("time limit", TOO_LARGE)
"""Statuses after which a solver is not run at larger sizes."""


@dataclass(frozen=True)
class Method:
    """A solver under its name in figures and tables."""

    label: str
    solver: Solver
    law: str = "relaxed"


METHODS = (
    Method("APGD", APGD()),
    Method("interior point, dual", InteriorPoint(form="dual")),
    Method("interior point, primal", InteriorPoint(form="primal")),
    Method("EOM", EquationsOfMotion()),
    Method("EOM, 30 sweeps", EquationsOfMotion(sweeps=30)),
    Method("Gauss-Seidel", GaussSeidel()),
    Method("proximal", Proximal()),
    Method("Newton", Newton()),
    Method("ADMM", ADMM()),
    Method("SOR-prox", SORProx()),
    Method("JOR-prox", JORProx()),
    Method("auto", Auto()),
    Method("fixed point (exact law)", FixedPoint(), "coulomb"),
)
"""The report's three first (Mosek is Clarabel, PATH is our semismooth Newton); then other methods."""


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    sizes: tuple[int, ...]
    """Numbers of spheres."""
    duration: float
    """Of settling, in s."""
    step: float
    """Of settling, in s."""
    effort: Effort
    """Of settling."""
    tolerance: float
    """Relative residual that every solver must reach."""
    time_limit: float
    """For every solve, in s."""
    methods: tuple[Method, ...] = METHODS

    def recipe(self, size: int) -> spheres.Recipe:
        """The heap of a size."""
        return spheres.Recipe(
            f"{size:04d}", size, self.duration, self.step, self.effort, GaussSeidel(threads=1)
        )


@dataclass(frozen=True)
class Measured:
    """One solver on one problem."""

    spheres: int
    contacts: int
    method: str
    status: str
    iterations: int
    seconds: float
    """Wall time; NaN if the solver refused the problem."""
    residual: float
    objective_before: float
    """½(v − M⁻¹k)ᵀM(v − M⁻¹k) in J of the initial velocities, which is Eq. 23 plus ½kᵀM⁻¹k."""
    objective_after: float
    """The same of the solver's velocities; NaN if the solver refused the problem."""
    tolerance: float
    time_limit: float
    """s"""

    @property
    def solved(self) -> bool:
        """Whether the certificate meets the tolerance."""
        return self.status == "solved"


def measure(problem: ContactProblem, size: int, before: float, method: Method, setup: Setup) -> Measured:
    """Solve a problem from zero impulses and measure the time."""
    try:
        found = _solve(problem, method, setup)
    except UnsupportedError:
        missing = (TOO_LARGE, 0, math.nan, math.nan, before, math.nan)
        return Measured(size, problem.contacts, method.label, *missing, setup.tolerance, setup.time_limit)
    seconds = found.statistics.time
    if seconds < REPEATED_BELOW:
        seconds = min(seconds, _solve(problem, method, setup).statistics.time)
    late = seconds > setup.time_limit  # a solver that rarely checks the clock may even have converged
    status = "time limit" if late else str(found.status)
    assert found.velocity is not None
    after = distance_from_free_motion(problem, found.velocity)
    return Measured(
        size, problem.contacts, method.label, status, found.statistics.iterations, seconds,
        found.certificate.residual, before, after, setup.tolerance, setup.time_limit,
    )  # fmt: skip


def _solve(problem: ContactProblem, method: Method, setup: Setup) -> Solution:
    return solve(
        problem.with_law(method.law), method.solver, tolerance=setup.tolerance, max_iterations=MANY,
        time_limit=setup.time_limit, throw=False,
    )  # fmt: skip


def distance_from_free_motion(problem: ContactProblem, velocity: Floats) -> float:
    """½(v − M⁻¹k)ᵀM(v − M⁻¹k) in J: the objective of Eq. 23, ½vᵀMv − kᵀv, made positive by a constant."""
    change = velocity - problem.velocity(np.zeros(problem.layout.contact_rows))
    return float(0.5 * change @ (problem.mass_matrix() @ change))


def velocity_before(settled: spheres.Settled, problem: ContactProblem) -> Floats:
    """The velocities before the step: those without impulses, minus what gravity adds in it."""
    system = settled.system()
    free = problem.velocity(np.zeros(problem.layout.contact_rows)).reshape(-1, 6).copy()
    free[~system.fixed, :3] -= STEP * system.gravity
    return np.asarray(free.ravel())


CONTACTS = Quantity("contacts of {} spheres")
POWER = Quantity("time ~ contacts to the power of, {}")
LARGEST = Quantity("time of the largest one solved, {}")
GOES_IN = Quantity("primal objective before solving, {} spheres")
AFTER_BY_BEFORE = Quantity("primal objective after / before, {} spheres")


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    results: list[Measured]


class MazharScaling(Experiment[Setup, Found]):
    """One step of settled heaps by every solver."""

    name = "mazhar-scaling"
    summary = "one step of 64 to 2,560 settled spheres: time of every solver over the number of contacts"
    paper = "Mazhar, Melanz, Ferris and Negrut, TR-2014-11, §5.2, Figs. 5 and 6"
    seconds = (20.0, 2900.0)
    FULL = Setup(tuple(range(64, 2561, 64)), 2.0, 0.002, Effort(1e-2, 100), 1e-4, 60.0)
    """The report's sizes; it has a time limit of 3,600 s."""
    QUICK = Setup((32, 64, 128), 1.0, 0.005, Effort(1e-2, 100), 1e-4, 2.0)
    forgets = False
    """Stored measurements serve runs with more sizes."""

    def measure(self, setup: Setup, work: Work) -> Found:
        """Settle heaps and solve their next step; stored results are reused."""
        work.expect(len(setup.sizes) * (SHOWN + len(setup.methods)) + 1)
        work.begin("compiling kernels")
        _warm_up(setup)
        results: list[Measured] = []
        for size in setup.sizes:
            report = work.each(SHOWN, f"{size} spheres: settling")
            data = spheres.settled(setup.recipe(size), work.store, report)
            report(1, 1, "")
            for method in setup.methods:
                work.begin(f"{size} spheres: {method.label}")
                if _is_open(results, method):
                    results.append(_kept(work.store, data, method, setup))
        return Found(setup, results)

    def data(self, found: Found) -> Data:
        """Every solve."""
        header = [field.name for field in fields(Measured)]
        return {"times.csv": Table(header, [astuple(each) for each in found.results])}

    def figures(self, found: Found) -> Figures:
        """Times and primal objectives."""
        return {
            "fig05_times": figures.times(found.results, found.setup),
            "fig06_primal_objective": figures.primal_objectives(best_of_size(found.results)),
        }

    def compare(self, found: Found) -> Rows:
        """Compare with the report's numbers in §5.2."""
        setup, results = found
        fewest = min(results, key=lambda each: each.spheres)
        most = max(results, key=lambda each: each.spheres)
        note = f"{setup.recipe(fewest.spheres)}; gaps up to {spheres.MARGIN:g} radii count as contacts"
        yield Comparison(CONTACTS(fewest.spheres), _printed(fewest.spheres), fewest.contacts, "", note)
        yield Comparison(CONTACTS(most.spheres), _printed(most.spheres), most.contacts, "")
        for method in setup.methods:
            own = sorted((each for each in results if each.method == method.label), key=lambda e: e.spheres)
            slope, count = exponent(results, method.label)
            solved = [each for each in own if each.solved]
            missed = "".join(
                f"; {each.status} at {each.spheres} spheres"
                + ("" if math.isnan(each.residual) else f" (residual {each.residual:.1e})")
                for each in own
                if not each.solved
            )
            note = f"fitted over {count} sizes, relative residual {setup.tolerance:g}{missed}"
            yield Comparison(POWER(method.label), None, slope, "", note)
            if solved:
                last = solved[-1]
                yield Comparison(
                    LARGEST(method.label), None, last.seconds, "s",
                    f"{last.spheres} spheres, {last.contacts} contacts, {last.iterations} iterations"
                    + ("; the report's PATH: over 3600 s from the seventh size on" * (method.label == "EOM")),
                )  # fmt: skip
        for each in best_of_size(results):
            at_rest = 0.5 * each.spheres * spheres.MASS * (9.81 * STEP) ** 2
            yield exact_row(
                GOES_IN(each.spheres), at_rest, each.objective_before, "J",
                "plus ½kᵀM⁻¹k, so that it is ½ n m (g h)² of the velocities before",
            )  # fmt: skip
            yield Comparison(
                AFTER_BY_BEFORE(each.spheres), None,
                each.objective_after / each.objective_before, "",
                f"{each.method}, residual {each.residual:.1e}; the report: larger after solving",
            )  # fmt: skip


def _quiet(done: int, total: int, what: str) -> None:
    """For the warm-up, which is short."""


def _warm_up(setup: Setup) -> None:
    """Run every solver on a small heap, so that times do not include compilation."""
    small = spheres.Recipe("warm-up", 12, 0.5, 0.01, setup.effort, GaussSeidel())
    problem = spheres.settle(small, _quiet).next_problem(STEP)
    for method in setup.methods:
        measure(problem, 12, math.nan, method, setup)


def _is_open(results: Sequence[Measured], method: Method) -> bool:
    """Whether a method did not fail at a smaller size."""
    return not any(each.method == method.label and each.status in GIVES_UP for each in results)


def _kept(store: Store, data: spheres.Settled, method: Method, setup: Setup) -> Measured:
    """Measure a method on the next step of a heap, or load the stored result."""
    size = data.recipe.spheres

    def compute() -> dict[str, Any]:
        problem = data.next_problem(STEP)  # a new object: methods do not share cached data
        before = distance_from_free_motion(problem, velocity_before(data, problem))
        return vars(measure(problem, size, before, method, setup))

    identity = (data.system(), spheres.MARGIN, STEP, method, setup.tolerance, setup.time_limit)
    return Measured(**store.kept(f"time {size:04d} {method.label}", identity, compute))


def best_of_size(results: Sequence[Measured]) -> list[Measured]:
    """At every size the answer with the smallest residual under the relaxed law."""
    relaxed = {method.label for method in METHODS if method.law == "relaxed"}
    best: dict[int, Measured] = {}
    for each in results:
        known = best.get(each.spheres)
        if each.method in relaxed and each.solved and (known is None or each.residual < known.residual):
            best[each.spheres] = each
    return [best[size] for size in sorted(best)]


def exponent(results: Sequence[Measured], method: str) -> tuple[float, int]:
    """Slope of log time over log contacts where a method reached the tolerance, and the number of sizes.

    NaN with fewer than three.
    """
    own = [each for each in results if each.method == method and each.solved]
    if len(own) < 3:
        return math.nan, len(own)
    contacts, seconds = zip(*((each.contacts, each.seconds) for each in own), strict=True)
    return float(np.polyfit(np.log(contacts), np.log(seconds), 1)[0]), len(own)


def _printed(size: int) -> float | None:
    return {64: 77.0, 2560: 9228.0}.get(size)
