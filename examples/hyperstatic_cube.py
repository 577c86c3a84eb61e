"""A cube on four corners: the corner impulses are not unique, the velocity is.

Four contacts of three components are twelve unknowns for six degrees of freedom. Two starts give different
corner impulses; both answers are certified, and their sums and the velocity agree.
"""

import numpy as np

import nonsmooth as ns
from nonsmooth.problem.library.named import cube_on_plane

WEIGHT = 9.81 * 0.01  # m g h of 1 kg for a step of 0.01 s, in N·s

problem = cube_on_plane(speed=1.0, friction=0.3)
rank = np.linalg.matrix_rank(problem.operator.matrix().toarray())
print(f"{problem.layout.contact_rows} unknown components, rank {rank} of the Delassus matrix")
assert rank == 6

start = np.random.default_rng(1).uniform(0.0, 0.1, 12)  # another start may give another answer
answers = {
    "from zero": ns.solve(problem, ns.solvers.GaussSeidel(), tolerance=1e-11),
    "from elsewhere": ns.solve(problem, ns.solvers.GaussSeidel(), tolerance=1e-11, start=start),
}
for name, solution in answers.items():
    corners = solution.impulses.reshape(4, 3)
    print(f"{name:15} normal impulses {np.round(corners[:, 0], 5)} N·s, v_x = {solution.velocity[0]:.6f} m/s")
    assert solution.certificate.holds(1e-11)
    # the plane carries the weight, friction is μ times that, and the cube neither turns nor lifts
    np.testing.assert_allclose(corners.sum(axis=0), [WEIGHT, -0.3 * WEIGHT, 0.0], atol=1e-9)
    np.testing.assert_allclose(solution.velocity, [1.0 - 0.3 * WEIGHT, 0, 0, 0, 0, 0], atol=1e-9)

first, second = (solution.impulses for solution in answers.values())
assert np.abs(first - second).max() > 1e-3
