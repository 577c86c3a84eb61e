"""One step of 320 settled spheres: Mazhar, Melanz, Ferris and Negrut, TR-2014-11 §5.1, Table 1, Figs. 1–4.

Spheres settle "thoroughly" and "poorly"; then the relaxed dual problem of the next step (Eq. 24) is solved
from zero impulses by interior point and by APGD, and the objective of both is recorded over the iterations.
The report uses Mosek, here it is Clarabel. The report prints no radius, mass, friction or container, so its
objectives and energies can be compared in kind only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mazhar import settled_spheres as spheres
from nonsmooth.experiments.mazhar import static_figures as figures
from nonsmooth.experiments.shared.granular import Effort
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

STEP = 0.0005
"""Time step in s of the problem that is solved, as in the report."""
PARTS = 20
"""Number of progress reports of a settling run."""
LOOSE = 1e-3
"""Tolerance for interior point: it then stops at a relative gap of 1e-8, as it does with default settings."""
TIGHT = 1e-8
"""Tolerance of the reference objective."""
FORMS = ("primal", "dual")
LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Relative distances from the interior point's objective for which APGD iterations are counted."""


@dataclass(frozen=True)
class Printed:
    """The report's numbers for a data set."""

    contacts: int
    condition: float
    kinetic_energy: float
    """In a unit that is not printed."""
    interior_iterations: int
    interior_objective: float
    apgd_iterations: int
    apgd_objective: float

    @property
    def accuracy(self) -> float:
        """Relative distance of APGD from the objective, to the printed digits."""
        return abs(self.apgd_objective / self.interior_objective - 1.0)


PRINTED = {
    "thoroughly": Printed(1049, 8.33e22, 0.0215, 23, -0.0232, 561, -0.023199),
    "poorly": Printed(1050, 4.67e23, 1.5637, 21, -0.5312, 825, -0.53119),
}


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    size: int
    """Number of spheres."""
    duration: float
    """Of settling, in s."""
    step: float
    """Of settling, in s."""
    tolerance: float
    """Of settling."""
    apgd_iterations: int
    """Iteration limit for the next step's problem."""

    def recipes(self) -> tuple[spheres.Recipe, ...]:
        """The two data sets: thoroughly and poorly settled."""
        return tuple(
            spheres.Recipe(name, self.size, self.duration, self.step, Effort(self.tolerance, limit))
            for name, limit in (("thoroughly", 10_000), ("poorly", 10))
        )


@dataclass(frozen=True)
class Spectrum:
    """Extreme eigenvalues of N = DᵀM⁻¹D in 1/kg."""

    largest: float
    smallest: float
    """The smallest modulus, which is rounding where N is singular."""
    smallest_of_range: float
    """The smallest of the `rank` largest ones."""
    rank: int
    size: int

    @classmethod
    def of(cls, problem: ContactProblem) -> Spectrum:
        """All eigenvalues are computed; those above size·ε of the largest count for the rank."""
        values = np.sort(np.abs(np.linalg.eigvalsh(problem.operator.matrix().toarray())))
        zero = len(values) * np.finfo(float).eps * values[-1]
        rank = int(np.sum(values > zero))
        return cls(float(values[-1]), float(values[0]), float(values[-rank]), rank, len(values))

    @property
    def condition(self) -> float:
        """Ratio of the largest to the smallest."""
        return self.largest / self.smallest if self.smallest > 0.0 else np.inf


@dataclass(frozen=True, eq=False)
class Trace:
    """Objective ½γᵀNγ + rᵀγ in J and relative residual after every iteration, including none."""

    solver: str
    iteration: NDArray[np.int64]
    objective: Floats
    residual: Floats

    def reaches(self, target: float, accuracy: float) -> float:
        """Iterations until the objective is above the target by no more than `accuracy` of it; NaN if never.

        For impulses in their cones, as APGD's are: their objective is never below the least one.
        """
        near = np.flatnonzero(self.objective - target <= accuracy * abs(target))
        return float(self.iteration[near[0]]) if len(near) else float("nan")


@dataclass(frozen=True, eq=False)
class Analysis:
    """A data set and the problem of its next step, solved in two ways."""

    settled: spheres.Settled
    problem: ContactProblem
    spectrum: Spectrum
    apgd: Trace
    interior: Trace
    reference: Solution
    """Interior point with Newton steps after it, to `TIGHT`: of both forms the one of smaller residual."""
    snapshots: dict[int, Solution]
    """APGD stopped after given numbers of iterations."""

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.settled.recipe.name

    @property
    def target(self) -> float:
        """The objective at which interior point stops, in J."""
        return float(self.interior.objective[-1])

    @property
    def best_objective(self) -> float:
        """The objective of the reference, in J."""
        return objective(self.reference)


def objective(solution: Solution) -> float:
    """½γᵀNγ + rᵀγ in J, where r = DᵀM⁻¹k + b and u = Nγ + r."""
    gamma = solution.impulses
    return float(0.5 * gamma @ (solution.contact_velocities + solution.problem.free_velocity))


def analyse(settled: spheres.Settled, setup: Setup, work: Work) -> Analysis:
    """Solve the next step of a data set by APGD and by interior point, iteration by iteration."""
    problem = settled.next_problem(STEP)
    name = settled.recipe.name
    work.begin(f"{name} settled: eigenvalues")
    spectrum = Spectrum.of(problem)
    work.begin(f"{name} settled: interior point")
    interior = interior_trace(problem)
    reference = most_exact(problem)
    work.begin(f"{name} settled: APGD")
    apgd = apgd_trace(problem, setup.apgd_iterations)
    found = apgd.reaches(float(interior.objective[-1]), PRINTED[name].accuracy)
    last = int(found) if np.isfinite(found) else setup.apgd_iterations
    snapshots = {
        count: _stopped(problem, count) for count in sorted({10, 30, 100, 300, last}) if count <= last
    }
    return Analysis(settled, problem, spectrum, apgd, interior, reference, snapshots)


def most_exact(problem: ContactProblem) -> Solution:
    """Interior point with Newton steps after it, in the form whose answer has the smaller residual."""
    found = [solve(problem, InteriorPoint(form=form), tolerance=TIGHT, throw=False) for form in FORMS]
    return min(found, key=lambda solution: solution.certificate.residual)


def primal_objective(problem: ContactProblem, velocity: Floats) -> float:
    """½ vᵀMv − kᵀv in J, Eq. 23."""
    return float(0.5 * velocity @ (problem.mass_matrix() @ velocity) - problem.momentum @ velocity)


def apgd_trace(problem: ContactProblem, iterations: int) -> Trace:
    """APGD from zero impulses: its best iterate after every iteration, until the residual is `TIGHT`."""
    found = solve(problem, APGD(), tolerance=TIGHT, max_iterations=iterations, history=True, throw=False)
    history = found.statistics.history
    return Trace("APGD", history.iteration, history.objective, history.residual)


def interior_trace(problem: ContactProblem) -> Trace:
    """Interior point in the dual form: solved repeatedly with an iteration limit of 1, 2, 3 and so on.

    This gives the impulses after every iteration in any version of the package.
    """
    rows = [(0, 0.0, 1.0)]
    method = InteriorPoint(form="dual", polish=0)
    total = solve(problem, method, tolerance=LOOSE, throw=False).statistics.iterations
    for limit in range(1, total + 1):
        found = solve(problem, method, tolerance=LOOSE, max_iterations=limit, history=True, throw=False)
        history = found.statistics.history
        rows.append((limit, float(history.objective[-1]), float(history.residual[-1])))
    iteration, value, residual = zip(*rows, strict=True)
    return Trace("interior point", np.array(iteration), np.array(value), np.array(residual))


def _stopped(problem: ContactProblem, iterations: int) -> Solution:
    return solve(problem, APGD(), tolerance=TIGHT, max_iterations=iterations, throw=False)


CONTACTS = Quantity("contacts, {name} settled")
CONDITION = Quantity("condition number of DᵀM⁻¹D, {name} settled")
KINETIC_ENERGY = Quantity("kinetic energy, {name} settled")
OVERLAP = Quantity("largest overlap, {name} settled")
INTERIOR_OBJECTIVE = Quantity("objective of interior point, {name} settled")
INTERIOR_ITERATIONS = Quantity("iterations of interior point, {name} settled")
APGD_ITERATIONS = Quantity("iterations of APGD to {accuracy} of that objective, {name} settled")
APGD_RESIDUAL = Quantity("residual of APGD at the end, {name} settled")


class MazharStatic(Experiment[Setup, list[Analysis]]):
    """Both data sets, settled and solved."""

    name = "mazhar-static"
    summary = "one step of 320 settled spheres: objective over the iterations of APGD and of interior point"
    paper = "Mazhar, Melanz, Ferris and Negrut, TR-2014-11, §5.1, Table 1 and Figs. 1–4"
    seconds = (20.0, 140.0)
    FULL = Setup(320, 4.0, 0.0005, 1e-3, 20_000)
    """The report's numbers of spheres, steps and iterations."""
    QUICK = Setup(40, 1.5, 0.002, 1e-3, 3_000)
    forgets = False
    """The heaps serve other setups too."""

    def measure(self, setup: Setup, work: Work) -> list[Analysis]:
        """Settle and solve both data sets; a stored one is reused."""
        recipes = setup.recipes()
        work.expect(len(recipes) * (PARTS + 3))
        analyses = []
        for recipe in recipes:
            report = work.each(PARTS, f"{recipe.name} settled")
            data = spheres.settled(recipe, work.store, report)
            report(1, 1, "")
            analyses.append(analyse(data, setup, work))
        return analyses

    def data(self, found: list[Analysis]) -> Data:
        """Table 1, and the objective of every iteration."""
        return {"table1.csv": _table(found), "objective.csv": _traces(found)}

    def figures(self, found: list[Analysis]) -> Figures:
        """Objectives and solutions."""
        return {
            "fig01_fig03_objective": figures.objectives(found),
            "fig02_fig04_solutions": figures.solutions(found),
        }

    def compare(self, found: list[Analysis]) -> Rows:
        """Compare with Table 1 and the numbers of §5.1."""
        for analysis in found:
            yield from _rows(analysis)


def _rows(analysis: Analysis) -> Rows:
    """Compare with Table 1 and the numbers of §5.1."""
    name, printed, settled = analysis.name, PRINTED[analysis.name], analysis.settled
    spectrum, target = analysis.spectrum, analysis.target
    at_rest = -0.5 * float(analysis.problem.momentum @ analysis.problem.velocity(_zeros(analysis)))
    best, gap = analysis.best_objective, abs(analysis.target / analysis.best_objective - 1.0)
    unprinted = "another scene than ours: its masses and sizes are not printed"
    yield Comparison(
        CONTACTS(name=name), printed.contacts, analysis.problem.contacts, "",
        f"{settled.recipe}; radius {spheres.RADIUS:g} m, mass {spheres.MASS:g} kg, "
        f"μ = {spheres.FRICTION:g}, contacts with gaps up to {spheres.MARGIN:g} radii (ours)",
    )  # fmt: skip
    yield Comparison(
        CONDITION(name=name), printed.condition, spectrum.condition, "",
        f"rounding error, in both: {spectrum.size} rows of rank {spectrum.rank}, so that the smallest "
        "eigenvalue is zero",
    )  # fmt: skip
    yield Comparison(
        f"condition number on the range of DᵀM⁻¹D, {name} settled", None,
        spectrum.largest / spectrum.smallest_of_range, "", f"the {spectrum.rank} eigenvalues above zero",
    )  # fmt: skip
    yield Comparison(
        KINETIC_ENERGY(name=name), printed.kinetic_energy, settled.kinetic_energy, "J", unprinted
    )
    yield Comparison(
        f"mean iterations per step of settling, {name} settled", None, settled.mean_iterations, "",
        f"at most {settled.recipe.effort.max_iterations}; {settled.missed} steps missed the tolerance",
    )  # fmt: skip
    yield Comparison(
        OVERLAP(name=name), None, settled.penetration, "m",
        "in the last step; the report: smaller if settled thoroughly",
    )  # fmt: skip
    yield Comparison(
        INTERIOR_OBJECTIVE(name=name), printed.interior_objective, target, "J",
        f"{unprinted}; {gap:.1e} of it from the most accurate answer {best:.9g} J, whose residual is "
        f"{analysis.reference.certificate.residual:.1e}",
    )  # fmt: skip
    yield exact_row(
        f"dual + primal objective, {name} settled", at_rest, best + _primal(analysis.reference), "J",
        "−½ kᵀM⁻¹k, strong duality; the dual objective alone has this value if everything stops",
    )  # fmt: skip
    yield Comparison(
        INTERIOR_ITERATIONS(name=name), printed.interior_iterations,
        float(analysis.interior.iteration[-1]), "",
        "Clarabel to a relative gap of 1e-8; the report: Mosek",
    )  # fmt: skip
    yield Comparison(
        APGD_ITERATIONS(accuracy=f"{printed.accuracy:.1e}", name=name),
        printed.apgd_iterations, analysis.apgd.reaches(target, printed.accuracy), "",
        "from zero impulses, to as many digits as the report prints",
    )  # fmt: skip
    for level in LEVELS:
        yield Comparison(
            APGD_ITERATIONS(accuracy=f"{level:g}", name=name), None,
            analysis.apgd.reaches(target, level), "", f"of {int(analysis.apgd.iteration[-1])} done",
        )  # fmt: skip
    yield Comparison(
        APGD_RESIDUAL(name=name), None, float(analysis.apgd.residual[-1]), "",
        f"after {int(analysis.apgd.iteration[-1])} iterations; interior point: "
        f"{analysis.interior.residual[-1]:.1e}",
    )  # fmt: skip


def _zeros(analysis: Analysis) -> Floats:
    return np.zeros_like(analysis.reference.impulses)


def _primal(solution: Solution) -> float:
    assert solution.velocity is not None
    return primal_objective(solution.problem, solution.velocity)


def _table(analyses: Sequence[Analysis]) -> Table:
    """Table 1 and the text of §5.1, the report's row and ours."""
    header = (
        "data_set", "source", "contacts", "condition_number", "kinetic_energy_J", "largest_iterations",
        "interior_point_iterations", "interior_point_objective_J", "apgd_iterations", "apgd_objective_J",
    )  # fmt: skip
    rows: list[list[object]] = []
    for each in analyses:
        printed, trace = PRINTED[each.name], each.apgd
        reached = trace.reaches(each.target, printed.accuracy)
        limit = each.settled.recipe.effort.max_iterations
        found = np.isfinite(reached)
        rows += [
            [
                each.name, "report", printed.contacts, printed.condition, printed.kinetic_energy, limit,
                printed.interior_iterations, printed.interior_objective, printed.apgd_iterations,
                printed.apgd_objective,
            ],
            [
                each.name, "ours", each.problem.contacts, each.spectrum.condition,
                each.settled.kinetic_energy, limit, int(each.interior.iteration[-1]), each.target,
                int(reached) if found else None,
                float(trace.objective[trace.iteration == reached][0]) if found else None,
            ],
        ]  # fmt: skip
    return Table(header, rows)


def _traces(analyses: Sequence[Analysis]) -> Table:
    header = ("data_set", "solver", "iteration", "objective_J", "relative_residual")
    rows: list[list[object]] = []
    for each in analyses:
        for trace in (each.interior, each.apgd):
            numbers = zip(trace.iteration, trace.objective, trace.residual, strict=True)
            rows += [[each.name, trace.solver, int(k), float(value), float(r)] for k, value, r in numbers]
    return Table(header, rows)
