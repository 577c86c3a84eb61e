"""Speed on complementarity problems: large optimal control, methods of other libraries, and Lemke.

    python benchmarks/complementarity.py

1. Bertsekas' optimal control problem with N = 100 to 10,000 steps (5N variables; problem (2) of Andreani
   et al. has 7N): CPU time of each method, as a multiple of the fastest in the same run, and the exponent of
   growth. A dash: not supported, or not solved within the limit and therefore not tried for larger N.
2. The same methods over the small named problems: total time and number of solved problems.
3. Lemke's method compared with quantecon's, if that is installed, on random problems: positive definite ones,
   and singular ones with many ties.

CPU times of one thread; the least of several runs for short runs.
"""

from __future__ import annotations

import math
import time
from importlib.util import find_spec

import numpy as np

from _bench import best_time, machine
from nonsmooth.complementarity import LCP, REGISTRY, BoundedMinimiser, Lemke, Solver, Status, certify, solve
from nonsmooth.complementarity.kernels import lemke as lemke_kernels
from nonsmooth.complementarity.library import NAMED, optimal_control
from nonsmooth.complementarity.library.optimal_control import SIZES, start_of_family
from nonsmooth.complementarity.solvers.bounded_minimiser import METHODS as MINIMISERS

STEPS = SIZES[1:]
LIMIT = 30.0
"""CPU time in s after which a method is stopped."""
NAMED_LIMIT = 5.0
"""The same for a named problem."""
TOLERANCE = 1e-9
PIVOTING_SIZES = (10, 50, 200, 500)
INITIAL = (15.0, 5.0)
DENSE, DENSE_STEPS = ("slsqp", "trust-constr", "fides"), 100
"""Minimisers that build dense matrices of 7N variables, and the largest N for which they are tried."""


def methods() -> dict[str, Solver]:
    """The methods of the registry, and the minimisers of other libraries on problem (2)."""
    own = {name: kind() for name, kind in REGISTRY.items() if kind is not BoundedMinimiser}
    installed = [name for name in MINIMISERS if name != "fides" or find_spec("fides")]
    return own | {name: BoundedMinimiser(method=name) for name in installed}


def control_time(solver: Solver, steps: int) -> float:
    """Least CPU time in s of up to three runs; NaN if the problem is not supported or not solved."""
    problem, start = optimal_control(steps, INITIAL), start_of_family(INITIAL, steps)
    if not solver.takes(problem):
        return math.nan
    least = math.inf
    for _ in range(3):
        began = time.process_time()
        found = solve(problem, solver, tolerance=TOLERANCE, time_limit=LIMIT, start=start, throw=False)
        spent = time.process_time() - began
        if found.status is not Status.SOLVED:
            return math.nan
        least = min(least, spent)
        if spent > 1.0:
            break
    return least


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log time over log size; NaN if fewer than two sizes were solved."""
    known = [(n, s) for n, s in zip(sizes, seconds, strict=True) if math.isfinite(s)]
    if len(known) < 2:
        return math.nan
    slope, _ = np.polyfit(*np.log(np.array(known)).T, 1)
    return float(slope)


def control() -> None:
    """Print CPU time in s for each N, its multiple of the fastest, and the exponents."""
    print(
        f"{'optimal control':<26}"
        + "".join(f"{f'N = {n}':>12}{'times':>8}" for n in STEPS)
        + f"{'exponent':>10}"
    )
    rows: dict[str, list[float]] = {}
    for label, solver in methods().items():
        seconds: list[float] = []
        for steps in STEPS:
            stopped = bool(seconds) and math.isnan(seconds[-1])
            stopped |= label in DENSE and steps > DENSE_STEPS
            seconds.append(math.nan if stopped else control_time(solver, steps))
        rows[label] = seconds
    fastest = np.fmin.reduce(np.array(list(rows.values())), axis=0)
    for label, seconds in rows.items():
        cells = "".join(
            f"{'–':>12}{'':>8}" if math.isnan(s) else f"{s:>12.4f}{s / best:>8.1f}"
            for s, best in zip(seconds, fastest, strict=True)
        )
        print(f"{label:<26}{cells}{exponent(list(STEPS), seconds):>10.2f}", flush=True)


def named() -> None:
    """Print the number of solved named problems of up to 200 variables and the mean time of each method."""
    small = {name: one.build() for name, one in NAMED.items()}
    small = {name: problem for name, problem in small.items() if problem.size <= 200}
    print(f"{'named problems':<26}{'taken':>8}{'solved':>8}{'ms each':>10}")
    for label, solver in methods().items():
        taken = [name for name, problem in small.items() if solver.takes(problem)]
        solved, spent = 0, 0.0
        for name in taken:
            start = next(iter(NAMED[name].starts.values()))
            began = time.process_time()
            found = solve(
                small[name], solver, tolerance=TOLERANCE, time_limit=NAMED_LIMIT, start=start, throw=False
            )
            spent += time.process_time() - began
            solved += found.status is Status.SOLVED
        print(f"{label:<26}{len(taken):>8}{solved:>8}{1e3 * spent / max(len(taken), 1):>10.2f}", flush=True)


def definite(size: int) -> LCP:
    """M = AᵀA/n + I with random A, and random q."""
    rng = np.random.default_rng(size)
    a = rng.standard_normal((size, size))
    return LCP(a.T @ a / size + np.eye(size), rng.standard_normal(size))


def degenerate(size: int) -> LCP:
    """M = AᵀA of rank n/2 with A in {−1, 0, 1}, and q with a degenerate solution in {0, 1}."""
    rng = np.random.default_rng(size)
    a = rng.integers(-1, 2, (size // 2, size)).astype(float)
    z = rng.integers(0, 2, size).astype(float)
    w = np.where(z > 0.0, 0.0, rng.integers(0, 2, size))
    return LCP(a.T @ a, w - a.T @ (a @ z))


def pivoting() -> None:
    """Print the times of Lemke's method and of quantecon's in ms, and their ratio.

    "solve" is our whole call with scaling, the final basis and the certificate; "pivoting" is what
    quantecon's call does as well, and "ratio" theirs over that. Natural residuals of both answers.
    """
    if find_spec("quantecon") is None:
        print("quantecon is not installed: no comparison of Lemke's method")
        return
    from quantecon.optimize import lcp_lemke

    print(
        f"{'Lemke':<26}{'solve ms':>12}{'pivoting ms':>13}{'quantecon ms':>14}{'ratio':>8}"
        f"{'residual':>10}{'theirs':>10}"
    )
    for label, family in (("definite", definite), ("degenerate", degenerate)):
        for size in PIVOTING_SIZES:
            problem = family(size)
            dense, q, ones = problem.matrix.toarray(), problem.vector, np.ones(size)
            ours = solve(problem, Lemke(), tolerance=TOLERANCE, throw=False)
            theirs = lcp_lemke(dense, q, max_iter=10**6)
            whole = best_time(lambda: solve(problem, Lemke(), tolerance=TOLERANCE, throw=False), repeats=3)  # noqa: B023
            alone = best_time(lambda: lemke_kernels.lemke(dense, q, ones, 10**6), repeats=3)  # noqa: B023
            other = best_time(lambda: lcp_lemke(dense, q, max_iter=10**6), repeats=3)  # noqa: B023
            print(
                f"{f'{label}, n = {size}':<26}{1e3 * whole:>12.3f}{1e3 * alone:>13.3f}{1e3 * other:>14.3f}"
                f"{other / alone:>8.2f}{ours.certificate.residual:>10.1e}"
                f"{certify(problem, theirs.z).residual:>10.1e}",
                flush=True,
            )


def main() -> None:
    print(machine())
    for solver in methods().values():  # compiling is not timed
        if solver.takes(optimal_control(3)):
            solve(optimal_control(3), solver, tolerance=TOLERANCE, throw=False)
    control()
    named()
    pivoting()


if __name__ == "__main__":
    main()
