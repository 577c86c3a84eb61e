"""The block on two corners: Studer and Glocker §5.8, Fig. 8, and the proximal maps of Figs. 3, 4, 9 and 10.

A planar block (library.named.planar_block) is solved on acceleration level by JORprox and SORprox with
r_i = ω/G_ii. The experiment counts iterations as ω varies, and finds the ω beyond which they diverge.
Forces in N, accelerations in m/s². The paper prints neither loads nor forces: ours are derived by hand.

Order of rows: the paper counts both normals, then both frictions; the package counts corner by corner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.studer import block_figures as figures
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.named import BLOCK_LOADS, planar_block
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.projection_iterations import JORProx, SORProx
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

FRICTION = 0.3
TOLERANCE = 1e-8
"""Relative residual of the certificate at which an iteration counts as converged."""
LIMIT, PATIENT_LIMIT = 500, 20_000
"""Iteration limits in Fig. 8, and in the search for the limit of convergence."""
OMEGA_STEP = 0.005
"""Step of ω in the search for the limit of convergence."""
METHODS: dict[str, Callable[[float], Solver]] = {
    "JORprox": lambda omega: JORProx(strategy="diagonal", omega=omega),
    "SORprox": lambda omega: SORProx(strategy="diagonal", omega=omega, order="normals-first"),
}
_PAPER_ORDER = [0, 2, 1, 3]
DOMINANT = np.array([[2.0, 0.5, 0.3], [0.5, 2.0, 0.4], [0.3, 0.4, 2.0]])
"""A matrix G whose diagonal outweighs each row, for Fig. 5; the paper prints none."""
CASES = {
    "stick": "both closed, both stick",
    "slide": "both closed, both slide",
    "open": "one closed and sticks, one opens",
}
LOCAL_LIMITS = {
    "stick": 4.0 / (128 / 37 + np.sqrt((128 / 37) ** 2 - 4.0 * 1080 / 481)),
    "slide": 37.0 / 27.0,
    "open": 2.0 / (1.0 + 9.0 / np.sqrt(481.0)),
}
"""2/ρ(D⁻¹G) on the rows that do not project, by hand, with D the diagonal of G.

21 G = 37 on the normals' diagonal and −17 beside it, 13 among the frictions, ∓9 between them.

- slide: the normals alone, ρ = 1 + 17/37;
- open: one normal and its friction, ρ = 1 + √(9²/(37·13));
- stick: all rows; λ = (a, −a, b, b) reduces them to [[54/37, −18/37], [−18/13, 2]], whose trace is
  128/37 and whose determinant is 1080/481.
"""
FORCES = {
    "stick": {"λ1": 20.6 / 2 - 1 / 3, "λ2": 20.6 / 2 + 1 / 3, "λ3 + λ4": -2.0},
    "slide": {"λ1": 9.27, "λ2": 11.33, "λ3": -2.781, "λ4": -3.399},
    "open": {"λ1": 24.695, "λ2": 0.0, "λ3": -1.365, "λ4": 0.0},
}
"""Forces in N by hand (library.named); of sticking friction forces only the sum is unique."""


@dataclass(frozen=True)
class Sweep:
    """Iterations of one method in one case for each ω, and whether it converged."""

    case: str
    method: str
    omega: Floats
    iterations: NDArray[np.int64]
    solved: NDArray[np.bool_]


def sweep(case: str, method: str, omegas: Floats) -> Sweep:
    """Count iterations from λ = 0. All iterations are checked, so the counts are exact."""
    problem = planar_block(BLOCK_LOADS[case], FRICTION)
    runs = [
        solve(
            problem,
            METHODS[method](omega),
            tolerance=TOLERANCE,
            max_iterations=LIMIT,
            history=True,
            throw=False,
        )
        for omega in omegas.tolist()
    ]
    counts = np.array([run.statistics.iterations for run in runs])
    return Sweep(case, method, omegas, counts, np.array([run.status is Status.SOLVED for run in runs]))


def converges(problem: ContactProblem, solver: Solver) -> bool:
    """Whether a solver reaches the tolerance from λ = 0 within the larger limit."""
    found = solve(problem, solver, tolerance=TOLERANCE, max_iterations=PATIENT_LIMIT, throw=False)
    return found.status is Status.SOLVED


def end_of_convergence(case: str, method: str) -> float:
    """The largest ω up to which the method converges from λ = 0, in steps of `OMEGA_STEP` from 0.5."""
    problem = planar_block(BLOCK_LOADS[case], FRICTION)
    omegas = OMEGA_STEP * np.arange(round(0.5 / OMEGA_STEP), round(2.0 / OMEGA_STEP))
    reached = np.nan
    for omega in omegas.tolist():
        if not converges(problem, METHODS[method](omega)):
            break
        reached = omega
    return float(reached)


def local_limit(answer: Solution) -> float:
    """2/ρ(D⁻¹G) on the rows that do not project at the answer: beyond it JORprox diverges locally."""
    matrix = answer.problem.operator.matrix().toarray()
    blocks = answer.impulses.reshape(-1, 2)
    closed = blocks[:, 0] > 0.0
    sticks = closed & (np.abs(blocks[:, 1]) < FRICTION * blocks[:, 0] * (1.0 - 1e-6))
    rows = np.flatnonzero(np.column_stack([closed, sticks]).ravel())
    part = matrix[np.ix_(rows, rows)]
    return float(2.0 / np.abs(np.linalg.eigvals(part / np.diag(part)[:, None])).max())


PRINTED = {"G11": (0, 0, 1.8), "G12": (0, 1, -0.8), "G13": (0, 2, -0.4), "G33": (2, 2, 0.6)}
"""Entries of G by name: row, column, and the paper's value in 1/kg."""
LEAST_EIGENVALUE = Quantity("least eigenvalue of G")
FORCE, ACCELERATION = Quantity("λ{}, {}"), Quantity("γ̇{}, {}")
LOCAL_LIMIT = Quantity("local limit of ω, {}, {}")
MEASURED_END = Quantity("measured end of ω, {}, {}")
FEWEST = Quantity("fewest iterations, {}, {}")


class Found(NamedTuple):
    """What the experiment computes."""

    sweeps: list[Sweep]
    answers: dict[str, Solution]
    limits: dict[str, float]
    ends: dict[str, dict[str, float]]


class StuderBlock(Experiment[Floats, Found]):
    """Set up by the values of ω."""

    name = "studer-block"
    summary = "a block on two corners: iterations of JORprox and SORprox against ω, and the proximal maps"
    paper = "Studer and Glocker, normal cone inclusions, §5.8, Figs. 3, 4, 8, 9 and 10"
    seconds = (10.0, 30.0)
    FULL = np.linspace(0.03, 1.98, 66)
    QUICK = np.linspace(0.06, 1.98, 33)

    def measure(self, setup: Floats, work: Work) -> Found:
        """Count iterations over ω, and find the limit of convergence."""
        work.expect(3 * len(CASES))
        sweeps = []
        for case in CASES:
            for method in METHODS:
                work.begin(f"Fig. 8, {case}, {method}")
                sweeps.append(sweep(case, method, setup))
        answers, limits, ends = {}, {}, {}
        for case, load in BLOCK_LOADS.items():
            work.begin(f"end of convergence, {case}")
            answers[case] = solve(planar_block(load, FRICTION), METHODS["SORprox"](1.0), tolerance=1e-12)
            limits[case] = local_limit(answers[case])
            ends[case] = {method: end_of_convergence(case, method) for method in METHODS}
        return Found(sweeps, answers, limits, ends)

    def data(self, found: Found) -> Data:
        """Iterations, and the block's matrix and forces."""
        return {"iterations.csv": _iterations_table(found.sweeps), "block.json": _block(found.answers)}

    def figures(self, found: Found) -> Figures:
        """Fig. 8, and explanatory figures."""
        matrix = found.answers["stick"].problem.operator.matrix().toarray()
        matrices = {"strictly diagonally dominant": DOMINANT, "the block of §5.8": matrix}
        return {
            "fig03_prox_half_line": figures.prox_half_line(),
            "fig04_contraction": figures.contraction(),
            "fig05_lipschitz": figures.lipschitz(matrices),
            "fig08_iterations": figures.iterations(
                found.sweeps, CASES, found.limits, limit=LIMIT, tolerance=TOLERANCE
            ),
            "fig09_exact_regularisation": figures.exact_regularisation(),
            "fig10_force_laws": figures.force_laws(),
        }

    def compare(self, found: Found) -> Rows:
        """Compare with the paper's values and those derived by hand."""
        sweeps, answers, limits, ends = found
        matrix = _in_paper_order(answers["stick"].problem.operator.matrix().toarray())
        for name, (i, j, paper) in PRINTED.items():
            note = f"rounds to {matrix[i, j]:.1f}, one decimal is printed"
            yield Comparison(name, paper, float(matrix[i, j]), "1/kg", note)
        other = 1.0 / 2.1 + 0.15**2 / 0.018
        note = f"rounds to {other:.1f}: J = 0.0175 is meant"
        yield Comparison("G11 with the printed J = 0.018", 1.8, other, "1/kg", note)
        least = float(np.linalg.eigvalsh(matrix)[0])
        yield paper_row(LEAST_EIGENVALUE, 0.0, least, "1/kg", "only semidefinite")
        for case, forces in FORCES.items():
            normals_frictions = answers[case].impulses[_PAPER_ORDER] + 0.0  # turns −0 into 0
            named = dict(zip(("λ1", "λ2", "λ3", "λ4"), normals_frictions.tolist(), strict=True))
            named["λ3 + λ4"] = named["λ3"] + named["λ4"]
            for name, value in forces.items():
                yield exact_row(FORCE(name.removeprefix("λ"), case), value, named[name], "N")
        accelerations = {"slide": (3, (10.0 - 6.18) / 2.1), "open": (2, 3.9)}
        for case, (row, value) in accelerations.items():
            ours = float(answers[case].contact_velocities[_PAPER_ORDER][row - 1])
            yield exact_row(ACCELERATION(row, case), value, ours, "m/s²")
        for case, value in LOCAL_LIMITS.items():
            yield exact_row(LOCAL_LIMIT("JORprox", case), value, limits[case], "")
        for case, by_method in ends.items():
            for method, end in by_method.items():
                note = f"largest ω below 2 that converges from λ = 0, in steps of {OMEGA_STEP:g}"
                if method == "JORprox":
                    note += f"; {limits[case] - end:.3f} below the local limit"
                yield Comparison(MEASURED_END(method, case), None, end, "", note)
        for part in sweeps:
            counts = np.where(part.solved, part.iterations, np.inf)
            best = int(np.argmin(counts))
            note = f"at ω = {part.omega[best]:.2f}, to a relative residual of {TOLERANCE:g}"
            yield Comparison(FEWEST(part.method, part.case), None, float(counts[best]), "", note)


def _in_paper_order(matrix: Floats) -> Floats:
    return matrix[np.ix_(_PAPER_ORDER, _PAPER_ORDER)]


def _iterations_table(sweeps: list[Sweep]) -> Table:
    rows = [
        (part.case, part.method, omega, count if solved else None, "yes" if solved else "no")
        for part in sweeps
        for omega, count, solved in zip(
            part.omega.tolist(), part.iterations.tolist(), part.solved.tolist(), strict=True
        )
    ]
    return Table(("case", "method", "omega", "iterations", "converged"), rows)


def _block(answers: dict[str, Solution]) -> dict[str, Any]:
    cases = {
        case: {
            "load_N_N_Nm": list(BLOCK_LOADS[case]),
            "forces_N": answer.impulses[_PAPER_ORDER].tolist(),
            "contact_accelerations_m_per_s2": answer.contact_velocities[_PAPER_ORDER].tolist(),
            "residual": answer.certificate.residual,
        }
        for case, answer in answers.items()
    }
    matrix = _in_paper_order(answers["stick"].problem.operator.matrix().toarray())
    return {
        "G_per_kg": matrix.tolist(),
        "friction": FRICTION,
        "tolerance": TOLERANCE,
        "iteration_limit": LIMIT,
        "cases": cases,
    }
