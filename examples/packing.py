"""A heap of 300 spheres with the default solver, and its certificate."""

import numpy as np

import nonsmooth as ns

problem = ns.problems.sphere_packing(300, friction=0.25)
print(problem)

solution = ns.solve(problem, tolerance=1e-8)
print(solution.status, "-", solution.statistics.note)
print(solution.certificate)
assert solution.certificate.holds(1e-8)

# Contacts as rows (n, t1, t2): impulses lie in their cones, and no pair of spheres approaches by more than
# its gap.
impulses = solution.impulses.reshape(-1, 3)
velocities = solution.contact_velocities.reshape(-1, 3)
friction = np.hypot(impulses[:, 1], impulses[:, 2])
assert np.all(friction <= 0.25 * impulses[:, 0] + 1e-9)
assert velocities[:, 0].min() > -1e-7

# The step does not add energy, because no gap is negative.
mass = problem.mass.ravel()
before = 0.5 * mass @ (problem.momentum / mass) ** 2
after = 0.5 * mass @ solution.velocity**2
print(f"kinetic energy {before:.4f} J without contacts, {after:.4f} J with them")
assert after < before

# Warm start: the same heap with slightly larger friction starts from the last answer.
next_problem = ns.problems.sphere_packing(300, friction=0.26)
cold = ns.solve(next_problem, tolerance=1e-8)
warm = ns.solve(next_problem, tolerance=1e-8, start=solution)
print(f"{cold.statistics.iterations} iterations from zero, {warm.statistics.iterations} from the last answer")
assert warm.certificate.holds(1e-8)
