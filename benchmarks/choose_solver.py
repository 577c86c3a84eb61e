"""Which solver is best where: the measurement behind `Auto` and docs/choosing-a-solver.md.

    python benchmarks/choose_solver.py [--quick]

Families of problems (random hyperstatic ones with mass ratios up to 1e6 and friction up to 2; sphere
packings) by size and law, each at two tolerances. For every solver: how many were solved, and its time
relative to the fastest solver that solved the whole family (1.0 is the fastest; a solver that left
problems unsolved shows how many instead). Times are wall times in one process, warm kernels.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nonsmooth as ns
from _bench import machine
from nonsmooth.library import random_problem, sphere_packing
from nonsmooth.problem import ContactProblem
from nonsmooth.solvers import (
    APGD,
    Auto,
    FixedPoint,
    GaussSeidel,
    InteriorPoint,
    Lemke,
    Newton,
    Solver,
    SORProx,
    Status,
)

SOLVERS: dict[str, Solver] = {
    "auto": Auto(),
    "gs plain": GaussSeidel(acceleration="none"),
    "gs nesterov": GaussSeidel(),
    "gs nncg": GaussSeidel(acceleration="nncg"),
    "gs anderson": GaussSeidel(acceleration="anderson"),
    "newton": Newton(),
    "newton ac": Newton(formulation="alart-curnier"),
    "newton fb": Newton(formulation="fischer-burmeister"),
    "apgd": APGD(),
    "fixed-point": FixedPoint(),
    "int. point": InteriorPoint(),
    "sor-prox": SORProx(strategy="adaptive"),
    "lemke": Lemke(),
}
TIME_LIMIT = 5.0


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


def measure(problems: list[ContactProblem], solver: Solver, tolerance: float) -> tuple[int, float] | None:
    """How many were solved, and the geometric mean of the times in s; None where the law is not taken."""
    solved, times = 0, []
    for problem in problems:
        start = time.perf_counter()
        try:
            solution = ns.solve(problem, solver, tolerance=tolerance, time_limit=TIME_LIMIT, throw=False)
        except ns.errors.UnsupportedError:
            return None
        times.append(time.perf_counter() - start)
        solved += solution.status is Status.SOLVED
    return solved, float(np.exp(np.mean(np.log(times))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller problems, under a minute")
    quick = parser.parse_args().quick
    print(machine())
    print(f"{'family':<24}{'tol':>6}{'best ms':>9} " + "".join(f"{name:>12}" for name in SOLVERS))
    for family, problems in families(quick).items():
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


if __name__ == "__main__":
    main()
