"""Compare all solvers on families of problems: the basis of `Auto` and docs/choosing-a-solver.md.

    python benchmarks/choose_solver.py [--quick] [--files DIR] [--plot FILE.png]

Families of problems (random hyperstatic ones with mass ratios up to 1e6 and friction up to 2; sphere
packings; stacks of cubes) by size and law, each at two tolerances, and with --files the problems of a folder
(FCLib's, Siconos' or our own), one by one. For every solver: its time relative to the fastest solver that
solved the whole family (1.0 is the fastest), or the number of solved problems if some were not solved. Times
are CPU times in one process with warm kernels, best of two if under 0.1 s. --plot draws the fastest method on
each problem under the exact law, over its size and condition.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nonsmooth as ns
from _bench import machine
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import random_problem, sphere_packing
from nonsmooth.solvers import (
    ADMM,
    APGD,
    Auto,
    FixedPoint,
    GaussSeidel,
    InteriorPoint,
    Lemke,
    Newton,
    Proximal,
    Solver,
    SORProx,
    Status,
)

SOLVERS: dict[str, Solver] = {
    "auto": Auto(),
    "gs plain": GaussSeidel(acceleration="none"),
    "gs nesterov": GaussSeidel(),
    "gs nncg": GaussSeidel(acceleration="nncg"),
    "newton": Newton(),
    "newton ac": Newton(formulation="alart-curnier"),
    "newton fb": Newton(formulation="fischer-burmeister"),
    "proximal": Proximal(),
    "admm": ADMM(),
    "apgd": APGD(),
    "fixed-point": FixedPoint(),
    "int. point": InteriorPoint(),
    "sor-prox": SORProx(strategy="adaptive"),
    "lemke": Lemke(),
}
METHODS: dict[str, Callable[[str], bool]] = {
    "gauss-seidel": lambda name: name.startswith("gs "),
    "newton": lambda name: name.startswith("newton"),
    **{name: name.__eq__ for name in ("proximal", "admm", "apgd", "sor-prox", "fixed-point")},
}
"""Names of the columns in the plot."""
TIME_LIMIT = 5.0
LARGEST_LOOK = 1500
"""Largest number of rows of W for which its singular values are computed."""


def families(quick: bool) -> dict[str, list[ContactProblem]]:
    count = 4 if quick else 12
    out = {}
    for law in ("coulomb", "relaxed"):
        for contacts in (5, 20, 50) if quick else (5, 20, 50, 200):
            out[f"random {contacts}, {law}"] = [
                random_problem(
                    seed,
                    contacts=contacts,
                    mass_ratio=10.0 ** (2 * (seed % 4)),
                    largest_friction=(0.3, 1.0, 2.0)[seed % 3],
                    law=law,
                )
                for seed in range(count if contacts < 200 else count // 2)
            ]
        for spheres in (30, 250) if quick else (30, 250, 2000):
            problem = sphere_packing(spheres, law=law)
            out[f"packing {problem.contacts}, {law}"] = [problem]
    for contacts in (5, 20, 40) if quick else (5, 20, 40, 80):
        out[f"random {contacts}, pyramid(8)"] = [
            random_problem(seed, contacts=contacts, mass_ratio=10.0 ** (seed % 4), law="pyramid(8)")
            for seed in range(count // 2)
        ]
    return out


def stacks(counts: Iterable[int]) -> dict[str, list[ContactProblem]]:
    """Stacks of cubes at rest: the problem of a late step."""
    out = {}
    for cubes in counts:
        last: list[ContactProblem] = []
        ns.simulate(
            ns.scenes.box_stack(boxes=cubes), duration=0.02, step=1e-3, tolerance=1e-6,
            observe=lambda frame, last=last: last.append(frame.solution.problem),
        )  # fmt: skip
        out[f"stack {last[-1].contacts}, coulomb"] = [last[-1]]
    return out


def files(folder: Path) -> dict[str, list[ContactProblem]]:
    """Every spatial problem of a folder, each as a separate family."""
    out = {}
    for path in sorted(folder.iterdir()):
        try:
            problem = ns.io.read_problem(path)
        except ns.errors.FileFormatError:
            continue
        if np.all(problem.components == 3):
            out[path.name.split(".")[0][:23]] = [problem]
    return out


@dataclass(frozen=True)
class Point:
    """One problem under the exact law: its size, condition and rank of W, and the fastest method."""

    contacts: int
    condition: float
    deficient: bool
    tolerance: float
    fastest: str


def point_of(problem: ContactProblem, tolerance: float, times: dict[str, float]) -> Point | None:
    """Analyse W, scaled to entries of about one; None if that takes too long."""
    if problem.layout.rows > LARGEST_LOOK or not times:
        return None
    root = np.sqrt(problem.layout.unpad(problem.cones.weight))
    values = np.linalg.svd(problem.operator.matrix().toarray() * np.outer(root, root), compute_uv=False)
    kept = values[values > len(values) * 1e-14 * values[0]]
    fastest = min(times, key=lambda name: times[name])
    condition = float(kept[0] / kept[-1])
    return Point(problem.contacts, condition, len(kept) < len(values), tolerance, fastest)


def draw(points: list[Point], path: Path) -> None:
    """The fastest method of every problem over size and condition, for each tolerance."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name in METHODS if any(METHODS[name](point.fastest) for point in points)]
    colours = {name: f"C{index}" for index, name in enumerate(names)}
    tolerances = sorted({point.tolerance for point in points}, reverse=True)
    figure, axes = plt.subplots(1, len(tolerances), figsize=(11, 4.8), sharey=True, layout="constrained")
    for axis, tolerance in zip(np.atleast_1d(axes), tolerances, strict=True):
        for point in points:
            if point.tolerance == tolerance:
                colour = next(colours[name] for name in names if METHODS[name](point.fastest))
                axis.plot(
                    point.contacts, point.condition, "^" if point.deficient else "o", color=colour,
                    alpha=0.8, markersize=9, markeredgecolor="white",
                )  # fmt: skip
        axis.set(xscale="log", yscale="log", xlabel="contacts", title=f"tolerance {tolerance:.0e}")
        axis.grid(True, alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("condition of W on its range")
    marks = [("s", colours[name], name) for name in names]
    marks += [("o", "grey", "W of full rank"), ("^", "grey", "W rank-deficient")]
    handles = [
        plt.Line2D([], [], marker=marker, linestyle="", color=colour, label=label)
        for marker, colour, label in marks
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    figure.suptitle("The fastest method on each problem under Coulomb's law (auto left out)")
    figure.savefig(path, dpi=150)


def measure(problems: list[ContactProblem], solver: Solver, tolerance: float) -> tuple[int, float] | None:
    """Number of solved problems and geometric mean of the times in s; None if the law is not supported."""
    solved, times = 0, []
    for problem in problems:
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            try:
                solution = ns.solve(problem, solver, tolerance=tolerance, time_limit=TIME_LIMIT, throw=False)
            except ns.errors.UnsupportedError:
                return None
            best = min(best, time.process_time() - start)
            if best > 0.1:
                break
        times.append(max(best, 1e-9))
        solved += solution.status is Status.SOLVED
    return solved, float(np.exp(np.mean(np.log(times))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller problems, under a minute")
    parser.add_argument("--files", type=Path, metavar="DIR", help="also the problems of this folder")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="draw the fastest method over size and condition"
    )
    chosen = parser.parse_args()
    print(machine())
    everything = families(chosen.quick) | stacks((5, 20) if chosen.quick else (5, 20, 60))
    if chosen.files is not None:
        everything |= files(chosen.files)
    points: list[Point] = []
    print(f"{'family':<24}{'tol':>6}{'best ms':>9} " + "".join(f"{name:>12}" for name in SOLVERS))
    for family, problems in everything.items():
        for solver in SOLVERS.values():
            measure(problems[:1], solver, 1e-4)  # compile and warm up
        for tolerance in (1e-4, 1e-8):
            results = {name: measure(problems, solver, tolerance) for name, solver in SOLVERS.items()}
            complete = [r[1] for r in results.values() if r is not None and r[0] == len(problems)]
            best = min(complete, default=float("nan"))
            cells = []
            for result in results.values():
                if result is None:
                    cells.append("-")
                elif result[0] < len(problems):
                    cells.append(f"{result[0]}/{len(problems)}")
                else:
                    cells.append(f"{result[1] / best:.1f}")
            row = "".join(f"{cell:>12}" for cell in cells)
            print(f"{family:<24}{tolerance:>6g}{best * 1e3:>9.2f} {row}", flush=True)
            if chosen.plot is not None and problems[0].law.name == "coulomb":
                complete_by = {
                    name: result[1]
                    for name, result in results.items()
                    if name != "auto" and result is not None and result[0] == len(problems)
                }
                point = point_of(problems[0], tolerance, complete_by)
                points += [point] if point is not None else []
    if chosen.plot is not None:
        draw(points, chosen.plot)
        print(f"drawn in {chosen.plot}")


if __name__ == "__main__":
    main()
