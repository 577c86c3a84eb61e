"""A body held by a joint above a running belt: joint rows, a contact, and a moving surface.

        ┌─────┐
    ○───┤  ·  │   2 kg; the joint allows motion along z only
        └──▼──┘
    ══════════════ →  belt at 1 m/s, μ = 0.5

One body in blocks of six: three linear components, three angular ones. Ground is body −1.
"""

import numpy as np

import nonsmooth as ns

MASS, STEP, BELT, FRICTION, ARM = 2.0, 0.01, 1.0, 0.5, 0.5

# Rows of Dᵀ for the contact point (0, 0, −ARM): the velocity of a point is v + ω × r.
contact = np.zeros((1, 2, 3, 6))  # (contacts, bodies A and B, components, 6); A is ground
contact[0, 1, 0] = [0, 0, 1, 0, 0, 0]  # normal: from ground (A) to the body (B)
contact[0, 1, 1] = [1, 0, 0, 0, -ARM, 0]  # t1 = x
contact[0, 1, 2] = [0, 1, 0, ARM, 0, 0]  # t2 = y

joint = np.zeros((5, 2, 6))  # x, y and the three rotations are held
joint[np.arange(5), 1, [0, 1, 3, 4, 5]] = 1.0

problem = ns.ContactProblem(
    mass=[[MASS, MASS, MASS, 0.3, 0.3, 0.3]],
    jacobian=contact,
    bodies=[[-1, 0]],
    momentum=[0.0, 0.0, -MASS * 9.81 * STEP, 0.0, 0.0, 0.0],
    bias=[0.0, -BELT, 0.0],  # minus the velocity of the belt
    friction=FRICTION,
    joint_jacobian=joint,
    joint_bodies=[[-1, 0]] * 5,
)
solution = ns.solve(problem, tolerance=1e-11)

weight = MASS * 9.81 * STEP
print("contact impulse (n, t1, t2):", np.round(solution.impulses, 6) + 0.0, "N·s")
print("joint impulses (x, y, rx, ry, rz):", np.round(solution.joint_impulses, 6) + 0.0)
print(f"friction dissipates {solution.certificate.dissipation:.6f} J in this step")

# The belt slides under the body and pulls it along +x; the joint balances force and moment.
np.testing.assert_allclose(solution.impulses, [weight, FRICTION * weight, 0.0], atol=1e-9)
wanted = [-FRICTION * weight, 0.0, 0.0, ARM * FRICTION * weight, 0.0]
np.testing.assert_allclose(solution.joint_impulses, wanted, atol=1e-9)
np.testing.assert_allclose(solution.velocity, np.zeros(6), atol=1e-9)
np.testing.assert_allclose(solution.certificate.dissipation, FRICTION * weight * BELT, atol=1e-9)
