"""The block on two corners: Studer and Glocker §5.8, Fig. 8, and the proximal maps of Figs. 3, 4, 9 and 10.

A planar block (library.named.planar_block) is solved on acceleration level by JORprox and SORprox with
r_i = ω/G_ii. How many iterations do they need as ω changes, and where do they cease to converge?
Forces in N, accelerations in m/s². The paper prints neither loads nor forces: ours are worked out by hand.

Order of rows: the paper counts both normals, then both frictions; the package counts corner by corner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Progress
from nonsmooth.experiments.base import Old
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.output import prepare_folder, write_csv, write_json
from nonsmooth.experiments.studer import block_figures as figures
from nonsmooth.experiments.summary import Comparison, Summary, exact_row, paper_row
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.named import BLOCK_LOADS, planar_block
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.projection_iterations import JORProx, SORProx
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve
from nonsmooth.solvers.status import Status

FRICTION = 0.3
TOLERANCE = 1e-8
"""Relative residual of the certificate at which an iteration counts as converged."""
LIMIT, PATIENT_LIMIT = 500, 20_000
"""Iterations allowed in Fig. 8, and in the search for the end of convergence."""
OMEGA_STEP = 0.005
"""Step of ω in the search for the end of convergence."""
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
- stick: all rows; with λ = (a, −a, b, b) there is left [[54/37, −18/37], [−18/13, 2]], whose trace is
  128/37 and whose determinant is 1080/481.
"""
FORCES = {
    "stick": {"λ1": 20.6 / 2 - 1 / 3, "λ2": 20.6 / 2 + 1 / 3, "λ3 + λ4": -2.0},
    "slide": {"λ1": 9.27, "λ2": 11.33, "λ3": -2.781, "λ4": -3.399},
    "open": {"λ1": 24.695, "λ2": 0.0, "λ3": -1.365, "λ4": 0.0},
}
"""Forces in N by hand (library.named); of the friction forces that stick together only the sum is unique."""


@dataclass(frozen=True)
class Sweep:
    """Iterations of one method in one case for each ω, and whether they were enough."""

    case: str
    method: str
    omega: Floats
    iterations: NDArray[np.int64]
    solved: NDArray[np.bool_]


def sweep(case: str, method: str, omegas: Floats) -> Sweep:
    """Count iterations from λ = 0. Every iteration is judged, so the counts are exact."""
    problem = planar_block(BLOCK_LOADS[case], FRICTION)
    runs = [
        solve(
            problem,
            METHODS[method](omega),
            tolerance=TOLERANCE,
            max_iterations=LIMIT,
            record=True,
            throw=False,
        )
        for omega in omegas.tolist()
    ]
    counts = np.array([run.statistics.iterations for run in runs])
    return Sweep(case, method, omegas, counts, np.array([run.status is Status.SOLVED for run in runs]))


def converges(problem: ContactProblem, solver: Solver) -> bool:
    """Tell whether a solver reaches the tolerance from λ = 0 within the patient limit."""
    found = solve(problem, solver, tolerance=TOLERANCE, max_iterations=PATIENT_LIMIT, throw=False)
    return found.status is Status.SOLVED


def end_of_convergence(case: str, method: str) -> float:
    """The last ω up to which the method converges from λ = 0, in steps of `OMEGA_STEP` from 0.5."""
    problem = planar_block(BLOCK_LOADS[case], FRICTION)
    omegas = OMEGA_STEP * np.arange(round(0.5 / OMEGA_STEP), round(2.0 / OMEGA_STEP))
    reached = np.nan
    for omega in omegas.tolist():
        if not converges(problem, METHODS[method](omega)):
            break
        reached = omega
    return float(reached)


def local_limit(answer: Solution) -> float:
    """2/ρ(D⁻¹G) on the rows that do not project at the answer: beyond it JORprox is driven away."""
    matrix = answer.problem.operator.matrix().toarray()
    blocks = answer.impulses.reshape(-1, 2)
    closed = blocks[:, 0] > 0.0
    sticks = closed & (np.abs(blocks[:, 1]) < FRICTION * blocks[:, 0] * (1.0 - 1e-6))
    rows = np.flatnonzero(np.column_stack([closed, sticks]).ravel())
    part = matrix[np.ix_(rows, rows)]
    return float(2.0 / np.abs(np.linalg.eigvals(part / np.diag(part)[:, None])).max())


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    omegas = np.linspace(0.06, 1.98, 33) if quick else np.linspace(0.03, 1.98, 66)
    total = 3 * len(CASES) + 6
    answers, limits, ends = {}, {}, {}
    sweeps: list[Sweep] = []
    for case in CASES:
        for method in METHODS:
            progress(len(sweeps), total, f"Fig. 8, {case}, {method}")
            sweeps.append(sweep(case, method, omegas))
    done = len(sweeps)
    for case, load in BLOCK_LOADS.items():
        progress(done, total, f"end of convergence, {case}")
        answers[case] = solve(planar_block(load, FRICTION), METHODS["SORprox"](1.0), tolerance=1e-12)
        limits[case] = local_limit(answers[case])
        ends[case] = {method: end_of_convergence(case, method) for method in METHODS}
        done += 1
    files = [
        _write_iterations(folder / "iterations.csv", sweeps),
        _write_block(folder / "block.json", answers),
    ]
    drawn = {
        "fig03_prox_half_line.png": figures.prox_half_line,
        "fig04_contraction.png": figures.contraction,
        "fig05_lipschitz.png": lambda: figures.lipschitz(
            {
                "strictly diagonally dominant": DOMINANT,
                "the block of §5.8": answers["stick"].problem.operator.matrix().toarray(),
            }
        ),
        "fig08_iterations.png": lambda: figures.iterations(
            sweeps, CASES, limits, limit=LIMIT, tolerance=TOLERANCE
        ),
        "fig09_exact_regularisation.png": figures.exact_regularisation,
        "fig10_force_laws.png": figures.force_laws,
    }
    for name, draw in drawn.items():
        progress(done, total, name)
        files.append(plots.save_figure(draw(), folder / name))
        done += 1
    rows = compare(answers, limits, ends, sweeps)
    progress(total, total, "done")
    return Summary(STUDER_BLOCK.name, STUDER_BLOCK.paper, tuple(rows), tuple(files)).write(folder)


def compare(
    answers: dict[str, Solution],
    limits: dict[str, float],
    ends: dict[str, dict[str, float]],
    sweeps: list[Sweep],
) -> list[Comparison]:
    """Set the paper's values, and what was worked out by hand, beside ours."""
    matrix = _in_paper_order(answers["stick"].problem.operator.matrix().toarray())
    printed = {"G11": (0, 0, 1.8), "G12": (0, 1, -0.8), "G13": (0, 2, -0.4), "G33": (2, 2, 0.6)}
    rows = [
        Comparison(
            name, paper, float(matrix[i, j]), "1/kg", f"rounds to {matrix[i, j]:.1f}, one decimal is printed"
        )
        for name, (i, j, paper) in printed.items()
    ]
    other = 1.0 / 2.1 + 0.15**2 / 0.018
    rows.append(
        Comparison(
            "G11 with the printed J = 0.018",
            1.8,
            other,
            "1/kg",
            f"rounds to {other:.1f}: J = 0.0175 is meant",
        )
    )
    least = float(np.linalg.eigvalsh(matrix)[0])
    rows.append(paper_row("least eigenvalue of G", 0.0, least, "1/kg", "only semidefinite"))
    for case, forces in FORCES.items():
        normals_frictions = answers[case].impulses[_PAPER_ORDER] + 0.0  # a force of −0 reads badly
        named = dict(zip(("λ1", "λ2", "λ3", "λ4"), normals_frictions.tolist(), strict=True))
        named["λ3 + λ4"] = named["λ3"] + named["λ4"]
        for name, value in forces.items():
            rows.append(exact_row(f"{name}, {case}", value, named[name], "N"))
    accelerations = {"slide": ("γ̇3", 2, (10.0 - 6.18) / 2.1), "open": ("γ̇2", 1, 3.9)}
    for case, (name, row, value) in accelerations.items():
        found = float(answers[case].contact_velocities[_PAPER_ORDER][row])
        rows.append(exact_row(f"{name}, {case}", value, found, "m/s²"))
    for case, value in LOCAL_LIMITS.items():
        rows.append(exact_row(f"local limit of ω, JORprox, {case}", value, limits[case], ""))
    for case, by_method in ends.items():
        for method, end in by_method.items():
            note = f"last ω below 2 that converges from λ = 0, in steps of {OMEGA_STEP:g}"
            if method == "JORprox":
                note += f"; {limits[case] - end:.3f} below the local limit"
            rows.append(Comparison(f"measured end of ω, {method}, {case}", None, end, "", note))
    for part in sweeps:
        counts = np.where(part.solved, part.iterations, np.inf)
        best = int(np.argmin(counts))
        note = f"at ω = {part.omega[best]:.2f}, to a relative residual of {TOLERANCE:g}"
        rows.append(
            Comparison(f"fewest iterations, {part.method}, {part.case}", None, float(counts[best]), "", note)
        )
    return rows


def _in_paper_order(matrix: Floats) -> Floats:
    return matrix[np.ix_(_PAPER_ORDER, _PAPER_ORDER)]


def _write_iterations(path: Path, sweeps: list[Sweep]) -> Path:
    rows = [
        (part.case, part.method, omega, count if solved else None, "yes" if solved else "no")
        for part in sweeps
        for omega, count, solved in zip(
            part.omega.tolist(), part.iterations.tolist(), part.solved.tolist(), strict=True
        )
    ]
    return write_csv(path, ("case", "method", "omega", "iterations", "converged"), rows)


def _write_block(path: Path, answers: dict[str, Solution]) -> Path:
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
    content = {
        "G_per_kg": matrix.tolist(),
        "friction": FRICTION,
        "tolerance": TOLERANCE,
        "iteration_limit": LIMIT,
        "cases": cases,
    }
    return write_json(path, content)


STUDER_BLOCK = Old(
    "studer-block",
    "a block on two corners: iterations of JORprox and SORprox against ω, and the proximal maps",
    "Studer and Glocker, normal cone inclusions, §5.8, Figs. 3, 4, 8, 9 and 10",
    run,
)
