"""A solve that does not reach its tolerance: save the problem to a file, load it and continue.

The file holds the problem without rounding, so that it can be attached to a bug report.
"""

import tempfile
from pathlib import Path

import numpy as np

import nonsmooth as ns
from nonsmooth.io import read_problem, read_start, write_problem

# Masses over three orders of magnitude and redundant contacts: two iterations are not enough.
problem = ns.problems.random_problem(seed=5, contacts=30, mass_ratio=1e3)
folder = Path(tempfile.mkdtemp())
path = folder / "failing.h5"

try:
    ns.solve(problem, ns.solvers.APGD(), tolerance=1e-9, max_iterations=2)
    raise AssertionError("two iterations were enough")
except ns.SolveError as error:
    print(error)
    write_problem(problem, path, solution=error.solution)
    reached = error.solution.certificate.residual
assert reached > 1e-9

again = read_problem(path)
np.testing.assert_array_equal(again.free_velocity, problem.free_velocity)
np.testing.assert_array_equal(again.jacobian, problem.jacobian)

# throw=False returns the last iterate with its status instead of raising.
first_try = ns.solve(again, ns.solvers.APGD(), tolerance=1e-9, max_iterations=2, throw=False)
print(repr(first_try))
assert first_try.status is ns.Status.ITERATION_LIMIT
assert first_try.certificate.residual == reached  # bitwise identical

# Another solver, warm-started from the stored impulses, converges.
solution = ns.solve(again, ns.solvers.Newton(), tolerance=1e-9, start=read_start(path))
print(repr(solution))
assert solution.certificate.holds(1e-9)

path.unlink()
folder.rmdir()
