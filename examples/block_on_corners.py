"""The planar block of Studer and Glocker §5.8, on acceleration level.

The problem type is the same, with forces (N) instead of impulses and accelerations (m/s²) instead of
velocities. The block rests on its two lower corners, which stick, slide or open depending on the load
(F_x, F_y, M). Each state is compared with its equilibrium.
"""

import numpy as np

import nonsmooth as ns
from nonsmooth.problem.library.named import BLOCK_LOADS, planar_block

MASS, LENGTH, HEIGHT, FRICTION = 2.1, 0.15, 0.05, 0.3

found = {}
for state, load in BLOCK_LOADS.items():
    solution = ns.solve(planar_block(load, FRICTION), ns.solvers.SORProx(), tolerance=1e-11)
    found[state] = solution
    (n1, t1), (n2, t2) = solution.impulses.reshape(2, 2)
    x, y, turn = solution.velocity
    print(
        f"{state:6} λ_n = ({n1:7.4f}, {n2:7.4f}) N, λ_t = ({t1:7.4f}, {t2:7.4f}) N, "
        f"accelerations ({x:.2f}, {y:.2f}) m/s², {turn:.2f} rad/s²"
    )
    # Newton's law for the block holds in every state
    np.testing.assert_allclose(
        [MASS * x, MASS * y, 0.0175 * turn],
        [load[0] + t1 + t2, load[1] + n1 + n2, load[2] + LENGTH * (n2 - n1) + HEIGHT * (t1 + t2)],
        atol=1e-8,
    )

# stick: friction of the two corners balances the push; only its sum is determined
stick = found["stick"]
np.testing.assert_allclose(stick.velocity, 0.0, atol=1e-8)
np.testing.assert_allclose(stick.impulses[1] + stick.impulses[3], -2.0, atol=1e-8)
# slide: λ_t = −μ λ_n at both corners
np.testing.assert_allclose(found["slide"].impulses, [9.27, -2.781, 11.33, -3.399], atol=1e-8)
# open: corner 2 leaves the ground at 3.9 m/s²
np.testing.assert_allclose(found["open"].impulses, [24.695, -1.365, 0.0, 0.0], atol=1e-8)
np.testing.assert_allclose(found["open"].contact_velocities[2], 3.9, atol=1e-8)
