"""Cost of one iteration in ns per contact, compared with the bound of memory bandwidth, on sphere packings.

    python benchmarks/per_iteration.py

The bound is bytes touched / copy bandwidth; the bandwidth is measured in the same run with a copy of the
same working set. Bytes are counted from the arrays that each pass of a kernel reads and writes; the
bodies' velocities are counted once per pass. "gauss-seidel" visits contacts in natural order on two 3×6
blocks each, "coloured lanes" sixteen round contacts at a time with implicit tangents. A ratio of 1 would be a
plain copy.
"""

from __future__ import annotations

import time

import numpy as np

from _bench import copy_bandwidth, machine
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import sphere_packing
from nonsmooth.solvers import APGD, GaussSeidel, Goal, Solver

VECTOR, SCALAR, COLUMNS, BODIES, BLOCK = 24, 8, 288, 8, 72
LAW = 2 * SCALAR + 1  # friction, free and, where it is read, one number of the weight

BYTES = {
    # gradient step: y, N y, q, shift → new; scatter: new, columns; gather: columns, new, y, N y, γ, q,
    # shift, weight → N new, new shift; best: new → best; advance: new, N new, γ, N γ → y, N y, γ, N γ, shift
    "apgd": (4 * VECTOR + SCALAR + LAW)
    + (VECTOR + COLUMNS + BODIES)
    + (COLUMNS + BODIES + 7 * VECTOR + 2 * SCALAR + LAW)
    + 2 * VECTOR
    + (8 * VECTOR + 2 * SCALAR),
    # one visit: columns, block, inverse, q, weight, x (read and written), multiplier (read and written)
    "gauss-seidel": COLUMNS + BODIES + 2 * BLOCK + 4 * VECTOR + 2 * SCALAR + LAW,
}
# stored 3×3 blocks: about 13 of them to a row in these packings, each with its index and its impulse
BYTES["gauss-seidel, 3×3 blocks"] = 13 * (BLOCK + 4 + VECTOR) + 2 * BLOCK + 4 * VECTOR + 2 * SCALAR + LAW
# lanes: 22 numbers of a row, 6 of them written too, and the indices of two bodies
BYTES["gauss-seidel, coloured lanes"] = 22 * SCALAR + 6 * SCALAR + BODIES
# momentum: the visit reads the last answer too; extrapolation: x, answer → x, answer
BYTES["gauss-seidel, nesterov"] = BYTES["gauss-seidel"] + 5 * VECTOR
SIZES = (218, 8950)  # spheres: about 1,000 and 50,000 contacts
PASSES_OVER_BODIES = {
    "apgd": 3,
    "gauss-seidel": 2,
    "gauss-seidel, nesterov": 6,
    "gauss-seidel, 3×3 blocks": 0,
    "gauss-seidel, coloured lanes": 6,
}

SOLVERS: dict[str, Solver] = {
    "apgd": APGD(),
    "gauss-seidel": GaussSeidel(acceleration="none", order="natural"),
    "gauss-seidel, nesterov": GaussSeidel(order="natural"),
    "gauss-seidel, 3×3 blocks": GaussSeidel(acceleration="none", order="natural", form="block-sparse"),
    "gauss-seidel, coloured lanes": GaussSeidel(order="coloured"),
}


def nanoseconds(problem: ContactProblem, solver: Solver) -> float:
    """ns per contact and iteration, over the first 20 of a cold solve, while contacts still move."""
    iterations, best = 20, float("inf")
    for _ in range(9):
        run = solver.begin(problem, np.zeros((problem.layout.blocks, 3)), Goal())
        run.advance(1, 0.0)
        start = time.perf_counter()
        done = run.advance(iterations, 0.0)
        best = min(best, (time.perf_counter() - start) / done)
    return best / problem.contacts * 1e9


def main() -> None:
    print(machine())
    print(f"{'contacts':>9} {'solver':<30}{'ns':>8}{'bytes':>8}{'GB/s':>7}{'bound ns':>10}{'ratio':>7}")
    for spheres in SIZES:
        problem = sphere_packing(spheres)
        for name, solver in SOLVERS.items():
            bodies = PASSES_OVER_BODIES[name] * 48 * spheres / problem.contacts
            touched = BYTES[name] + bodies
            measured = nanoseconds(problem, solver)
            bandwidth = copy_bandwidth(int(touched * problem.contacts))
            bound = touched / bandwidth * 1e9
            print(
                f"{problem.contacts:>9} {name:<30}{measured:>8.1f}{touched:>8.0f}{bandwidth / 1e9:>7.1f}"
                f"{bound:>10.1f}{measured / bound:>7.2f}"
            )


if __name__ == "__main__":
    main()
