"""Two SCARA robots and a cube: the three families of 200 contact problems of Andreani et al. §4.2.

Both contacts slide in a known direction (a linear problem of 2 unknowns), both roll with Coulomb's cone (a
mixed problem of 12), both roll with the pyramid (a linear problem of 10). Each is solved by the paper's
method and by SLSQP on its problem (2), by a semismooth Newton method, by Lemke's method where it is linear,
and by the package's contact solvers, whose answers are put into the same problem: one certificate for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.base import Solver
from nonsmooth.complementarity.certificate import certify
from nonsmooth.complementarity.library.grasps import COUNT, Grasp, grasp_matrix, grasps
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solve import solve
from nonsmooth.complementarity.solvers.bounded_minimiser import BoundedMinimiser
from nonsmooth.complementarity.solvers.box_trust_region import BoxTrustRegion
from nonsmooth.complementarity.solvers.lemke import Lemke
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.experiments.andreani import grasp_figures as figures
from nonsmooth.experiments.andreani.grasp_parts import (
    NEGLIGIBLE,
    Polygon,
    angles_between,
    contact_problem,
    in_paper_order,
    outside_cone,
    pinocchio_grasp,
    transitions,
)
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.summary import Comparison, Quantity
from nonsmooth.scenes import grasp as grasp_scene
from nonsmooth.scenes.grasp import grasp_data
from nonsmooth.solvers.solve import solve as solve_contacts

TOLERANCE = 1e-10
"""Natural residual at which an instance counts as solved; forces and accelerations are of size 1."""
SOLVED_OBJECTIVE = 1e-10
"""Objective of problem (2) below which the paper counts an instance as solved."""
_CONTACT_TOLERANCE = 1e-12
OPPOSED = 0.01
"""Angle in degrees within which a force counts as opposing the acceleration."""
FAMILIES: dict[str, tuple[str, Callable[[Grasp], MCP]]] = {
    "sliding": ("both slide, linear", Grasp.sliding),
    "rolling": ("both roll, Coulomb's cone, mixed nonlinear", Grasp.rolling),
    "pyramid": ("both roll, pyramid, linear", Grasp.pyramid),
}
FORCES: dict[str, Callable[[Grasp, Floats], Floats]] = {
    "sliding": Grasp.sliding_force,
    "rolling": Grasp.rolling_force,
    "pyramid": Grasp.pyramid_force,
}
PAPER_SOLVED = {"sliding": 200, "rolling": 183, "pyramid": 194}
PAPER_TIMES = {"rolling": (0.0, 0.2, 8.74), "pyramid": (0.0, 0.03, 0.17)}
"""Table 2: least, mean and largest CPU time in s."""
PAPER_EFFORT = {"rolling": (57.3, 76.3, 984.2, 1150.8), "pyramid": (7.5, 8.9, 90.8, 126.3)}
"""Table 3: means of ItBox, FE, ItQua and MVP."""
PAPER_OPPOSED = {"rolling": (122, 128, 183), "pyramid": (97, 153, 194)}
"""Contact one, contact two, and of how many."""
PAPER_OUTSIDE = (106, 53)
PAPER_SAME_TRANSITION = (98.0, 96.0)
METHODS: dict[str, tuple[Solver, float]] = {
    "box-trust-region": (BoxTrustRegion(), 0.0),
    "box-trust-region from 1": (BoxTrustRegion(), 1.0),
    "bounded-minimiser slsqp": (BoundedMinimiser(method="slsqp"), 0.0),
    "semismooth-newton": (SemismoothNewton(), 0.0),
    "lemke": (Lemke(), 0.0),
}
"""Methods and the initial value of all variables."""
CONTACT_SOLVER = "contact solver"
SOLVED = Quantity("solved, {family}, {method}")
TABLE_2, TABLE_3 = Quantity("Table 2: {} time, {}"), Quantity("Table 3: mean {}, {}")
AGAINST = Quantity("force against acceleration, {}, contact {}")
OUTSIDE = Quantity("pyramid force outside the cone, contact {}")
SAME_TRANSITION = Quantity("same transition with cone and pyramid, contact {}")
COMPONENTS = ("n1", "n2", "t1", "t2", "o1", "o2")
PAPER_METHOD, BEST_METHOD = "box-trust-region", "semismooth-newton"


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of one method for one instance."""

    family: str
    method: str
    number: int
    residual: float
    """Natural residual, recomputed."""
    objective: float
    """Of problem (2) at the point, with the optimal slacks."""
    objective_at_stop: float
    """Of the method itself when it first fell below the paper's 1e-10, or at its end; NaN without history."""
    force: Floats
    effort: tuple[int, int, int, int]
    """Iterations, function evaluations, inner iterations, products."""
    time: float
    """s"""

    @property
    def solved(self) -> bool:
        """Whether the certificate holds."""
        return self.residual <= TOLERANCE


def objective_of(problem: MCP, point: Floats) -> float:
    """½(‖f − z‖² + ‖g‖² + (uᵀz)²) of problem (2) with the slacks z = max(f, 0)."""
    bounded = np.isfinite(problem.lower)
    value = problem.value(point)
    f, slack = value[bounded], np.maximum(value[bounded], 0.0)
    rest = value[~bounded]
    return 0.5 * float((f - slack) @ (f - slack) + rest @ rest + (point[bounded] @ slack) ** 2)


def answer_of(grasp: Grasp, family: str, method: str) -> Answer:
    """Solve an instance by a method of complementarity."""
    solver, first = METHODS[method]
    problem = FAMILIES[family][1](grasp)
    found = solve(problem, solver, tolerance=TOLERANCE, start=np.full(problem.size, first), throw=False)
    merits = np.array([entry.merit for entry in found.statistics.history])
    below = np.flatnonzero(merits < SOLVED_OBJECTIVE)
    taken = found.statistics
    return Answer(
        family,
        method,
        grasp.number,
        found.certificate.residual,
        objective_of(problem, found.point),
        float(merits[below[0] if len(below) else -1]),
        FORCES[family](grasp, found.point),
        (taken.iterations, taken.function_evaluations, taken.inner_iterations, taken.products),
        taken.time,
    )


def contact_answer_of(grasp: Grasp, family: str) -> Answer:
    """Solve an instance of rolling contacts as a contact problem, and insert its answer into the family's."""
    polygon = Polygon(4, circumscribed=True) if family == "pyramid" else None
    contact, turned = contact_problem(grasp, polygon)
    found = solve_contacts(contact, tolerance=_CONTACT_TOLERANCE, throw=False)
    force = in_paper_order(turned.T @ found.impulses)
    point = rolling_point(grasp, force) if polygon is None else pyramid_point(grasp, force)
    problem = FAMILIES[family][1](grasp)
    effort = (found.statistics.iterations, 0, 0, 0)
    return Answer(
        family, CONTACT_SOLVER, grasp.number, certify(problem, point).residual, objective_of(problem, point),
        math.nan, force, effort, found.statistics.time,
    )  # fmt: skip


def rolling_point(grasp: Grasp, force: Floats) -> Floats:
    """The unknowns (c_n, λ, c_t, c_o, a_t, a_o) of `Grasp.rolling` for a force."""
    tangential = grasp.acceleration(force)[2:]
    sliding = np.hypot(tangential[:2], tangential[2:])
    return np.concatenate([force[:2], sliding, force[2:], tangential])


def pyramid_point(grasp: Grasp, force: Floats) -> Floats:
    """The unknowns (c_n, x_t, x_o, a_t⁻, a_o⁻) of `Grasp.pyramid` for a force."""
    from_corner = force[2:] + grasp.friction * np.tile(force[:2], 2)
    return np.concatenate([force[:2], from_corner, np.maximum(-grasp.acceleration(force)[2:], 0.0)])


Answers = dict[tuple[str, str], list[Answer]]
"""Answers by family and method."""


def solve_all(instances: list[Grasp], work: Work) -> Answers:
    """Solve every instance of every family by every applicable method."""
    table: Answers = {}
    for family in FAMILIES:
        for method, (solver, _) in METHODS.items():
            if solver.takes(FAMILIES[family][1](instances[0])):
                work.begin(f"{family}, {method}")
                answer_of(instances[0], family, method)  # compile first
                table[family, method] = [answer_of(grasp, family, method) for grasp in instances]
        if family != "sliding":
            work.begin(f"{family}, {CONTACT_SOLVER}")
            contact_answer_of(instances[0], family)
            table[family, CONTACT_SOLVER] = [contact_answer_of(grasp, family) for grasp in instances]
    return table


class Found(NamedTuple):
    """What the experiment computes."""

    instances: list[Grasp]
    answers: Answers


class AndreaniGrasps(Experiment[int, Found]):
    """Set up by the number of instances."""

    name = "andreani-grasps"
    summary = "two SCARA robots and a cube: 3 × 200 contact problems, cone and pyramid, by six methods"
    paper = (
        "Andreani, Friedlander, Mello and Santos, multi-rigid-body contact problems, §4.2, Figs. 2 and 3, "
        "Tables 2 and 3"
    )
    seconds = (5.0, 40.0)
    FULL = COUNT
    QUICK = 25

    def measure(self, setup: int, work: Work) -> Found:
        """Solve all families by all methods."""
        instances = grasps(setup)
        work.expect(16)
        return Found(instances, solve_all(instances, work))

    def data(self, found: Found) -> Data:
        """Answers, methods, and forces."""
        return {
            "answers.csv": _answers_table(found.answers),
            "methods.csv": _methods_table(found.answers),
            "forces.json": _forces(*found),
        }

    def figures(self, found: Found) -> Figures:
        """Objectives of the cone and of the pyramid, and forces."""
        cone, pyramid = (found.answers[family, PAPER_METHOD] for family in ("rolling", "pyramid"))
        what = "Coulomb's cone, mixed nonlinear problem (paper: 183 of 200 below 1e-10, most in class 10)"
        other = "pyramid, linear problem (paper: 194 of 200 below 1e-10, most in class 10)"
        return {
            "fig02_objective_cone": figures.objectives(cone, what),
            "fig03_objective_pyramid": figures.objectives(pyramid, other),
            "forces": figures.forces(*found),
        }

    def compare(self, found: Found) -> Rows:
        """Matrices, success, effort, forces, and the package's contact solvers."""
        yield from compare_matrices()
        yield from compare_success(found.answers)
        yield from compare_effort(found.answers)
        yield from compare_forces(*found)
        yield from compare_with_contact_solver(found.answers)


# ---- the paper's values beside ours --------------------------------------------------------------------


def compare_matrices() -> Rows:
    """A from the joint-space inertia, from our own model with joints, and from Pinocchio."""
    closed = grasp_matrix()
    own = float(np.abs(grasp_data(grasp_scene())[0] - closed).max())
    yield Comparison("A of our own model, largest difference to the closed form", None, own, "1/kg")
    if find_spec("pinocchio") is not None:
        matrix = pinocchio_grasp().operator.matrix().toarray()
        order = np.arange(6).reshape(2, 3).T.ravel()
        theirs = float(np.abs(matrix[np.ix_(order, order)] - closed).max())
        yield Comparison(
            "A of a URDF by Pinocchio, largest difference to the closed form", None, theirs, "1/kg"
        )


def compare_success(table: Answers) -> Rows:
    """Number of solved instances, by the paper's objective and by the certificate."""
    for (family, method), answers in table.items():
        solved, count = sum(answer.solved for answer in answers), len(answers)
        small = sum(answer.objective < SOLVED_OBJECTIVE for answer in answers)
        worst = max(answer.residual for answer in answers)
        yield Comparison(
            SOLVED(family=family, method=method),
            100.0 * PAPER_SOLVED[family] / 200 if method == PAPER_METHOD else None,
            100.0 * solved / count,
            "%",
            f"{solved} of {count} to a natural residual of {TOLERANCE:g}, {small} with an objective "
            f"below {SOLVED_OBJECTIVE:g}; largest residual {worst:.1e}",
        )


def compare_effort(table: Answers) -> Rows:
    """Tables 2 and 3: the paper's method, stopped by the certificate, which is stricter than the paper's."""
    for family, printed in PAPER_TIMES.items():
        times = [answer.time for answer in table[family, PAPER_METHOD]]
        ours = (min(times), sum(times) / len(times), max(times))
        for name, paper, value in zip(("least", "mean", "largest"), printed, ours, strict=True):
            yield Comparison(TABLE_2(name, family), paper, value, "s", PAPER_METHOD)
    for family, counts in PAPER_EFFORT.items():
        means = np.mean([answer.effort for answer in table[family, PAPER_METHOD]], axis=0)
        for name, paper, value in zip(("ItBox", "FE", "ItQua", "MVP"), counts, means.tolist(), strict=True):
            yield Comparison(TABLE_3(name, family), paper, value, "", PAPER_METHOD)
    for (family, method), answers in table.items():
        if method != PAPER_METHOD:
            times = [answer.time for answer in answers]
            note = f"least {min(times):.2g} s, largest {max(times):.2g} s"
            mean = sum(times) / len(times)
            yield Comparison(f"mean time, {family}, {method}", None, mean, "s", note)


def compare_forces(instances: list[Grasp], table: Answers) -> Rows:
    """Collinearity of force and acceleration, forces outside the cone, and transitions."""
    count = len(instances)
    what: dict[str, list[NDArray[np.str_]]] = {}
    for family, (*printed, of) in PAPER_OPPOSED.items():
        answers = table[family, BEST_METHOD]
        moving = [grasp.acceleration(answer.force) for grasp, answer in zip(instances, answers, strict=True)]
        what[family] = [transitions(a.force, m) for a, m in zip(answers, moving, strict=True)]
        angles = np.array([angles_between(a.force, m) for a, m in zip(answers, moving, strict=True)])
        for contact, paper in enumerate(printed):
            sliding = angles[np.array([kinds[contact] == "slide" for kinds in what[family]]), contact]
            fine = int((sliding <= OPPOSED).sum())
            yield Comparison(
                AGAINST(family, contact + 1),
                100.0 * paper / of,
                100.0 * fine / max(len(sliding), 1),
                "%",
                f"of the {len(sliding)} contacts that begin to slide, {fine} within {OPPOSED:g}°, mean "
                f"angle {sliding.mean():.2g}°; the paper counts {paper} of all {of}, rolling ones too",
            )
    for contact, outside in enumerate(PAPER_OUTSIDE):
        found = sum(
            bool(outside_cone(answer.force, grasp.friction)[contact])
            for grasp, answer in zip(instances, table["pyramid", BEST_METHOD], strict=True)
        )
        yield Comparison(
            OUTSIDE(contact + 1), 100.0 * outside / 200,
            100.0 * found / count, "%", f"{found} of {count}; the paper's friction is not printed",
        )  # fmt: skip
    for contact, agreement in enumerate(PAPER_SAME_TRANSITION):
        pairs = list(zip(what["rolling"], what["pyramid"], strict=True))
        same = sum(bool(a[contact] == b[contact]) for a, b in pairs)
        kinds = {kind: sum(bool(a[contact] == kind) for a, _ in pairs) for kind in ("roll", "slide", "break")}
        yield Comparison(
            SAME_TRANSITION(contact + 1), agreement,
            100.0 * same / count, "%",
            "with the cone: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
        )  # fmt: skip


def compare_with_contact_solver(table: Answers) -> Rows:
    """Forces of the complementarity problems against those of the package's contact solvers."""
    for family, method in ((f, m) for f in ("rolling", "pyramid") for m in (PAPER_METHOD, BEST_METHOD)):
        pairs = list(zip(table[family, method], table[family, CONTACT_SOLVER], strict=True))
        apart = np.array([np.abs(a.force - b.force).reshape(3, 2).max(axis=0) for a, b in pairs])
        closed = np.array([b.force[:2] > NEGLIGIBLE for _, b in pairs])
        for name, chosen in (("stay", closed), ("break", ~closed)):
            yield Comparison(
                f"force of contacts that {name}, {family}: {method} against the contact solver", None,
                float(apart[chosen].max()), "N",
                f"largest of {chosen.sum()}; median {np.median(apart[chosen]):.1e} N",
            )  # fmt: skip


# ---- files ---------------------------------------------------------------------------------------------


def _answers_table(table: Answers) -> Table:
    header = (
        "family", "method", "instance", "natural_residual", "objective", "objective_at_stop", "iterations",
        "evaluations", "inner_iterations", "products", "time_s", *(f"force_{name}_N" for name in COMPONENTS),
    )  # fmt: skip
    rows = [
        (a.family, a.method, a.number, a.residual, a.objective, a.objective_at_stop, *a.effort, a.time,
         *a.force.tolist())
        for answers in table.values()
        for a in answers
    ]  # fmt: skip
    return Table(header, rows)


def _methods_table(table: Answers) -> Table:
    header = (
        "family", "method", "instances", "solved", "objective_below_1e-10", "largest_residual",
        "mean_iterations", "mean_evaluations", "mean_inner_iterations", "mean_products", "mean_time_s",
    )  # fmt: skip
    rows = []
    for (family, method), answers in table.items():
        means = np.mean([[*answer.effort, answer.time] for answer in answers], axis=0)
        rows.append(
            (family, method, len(answers), sum(answer.solved for answer in answers),
             sum(answer.objective < SOLVED_OBJECTIVE for answer in answers),
             max(answer.residual for answer in answers), *means.tolist())
        )  # fmt: skip
    return Table(header, rows)


def _forces(instances: list[Grasp], table: Answers) -> dict[str, Any]:
    return {
        "A_per_kg": instances[0].matrix.tolist(),
        "friction": instances[0].friction,
        "order": list(COMPONENTS),
        "instances": [
            {
                "free_accelerations_m_per_s2": grasp.free.tolist(),
                "slip_directions_rad": grasp.slip.tolist(),
                "forces_N": {family: table[family, BEST_METHOD][k].force.tolist() for family in FAMILIES},
            }
            for k, grasp in enumerate(instances)
        ],
    }
