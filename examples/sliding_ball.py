"""A ball slides on a plane, with exact friction and with the relaxed law.

A unit ball (1 kg, radius 1 m, μ = 0.2) slides at 2 m/s; one time step of 0.01 s under gravity.
Coordinates (x, y, ω); the contact has two components, normal (y) and tangential (x, with the spin).
"""

import numpy as np

import nonsmooth as ns

STEP, GRAVITY, FRICTION = 0.01, 9.81, 0.2

exact = ns.ContactProblem(
    mass=np.diag([1.0, 1.0, 0.4]),
    jacobian=[[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]],  # one column per component: n, t
    momentum=[2.0, -GRAVITY * STEP, 0.0],  # M v_old + h f
    friction=[FRICTION],
)
relaxed = exact.with_law("relaxed")

for problem in (exact, relaxed):
    solution = ns.solve(problem, tolerance=1e-12)
    normal, tangential = solution.impulses
    rise, slip = solution.contact_velocities
    print(
        f"{problem.law!s:8} γ_n = {normal:.6f} N·s, γ_t = {tangential:.6f} N·s, "
        f"leaves the plane at {rise:.6f} m/s, slides at {slip:.6f} m/s"
    )
    if problem is exact:  # the plane carries exactly the weight
        np.testing.assert_allclose(normal, GRAVITY * STEP, atol=1e-10)
        np.testing.assert_allclose(rise, 0.0, atol=1e-10)
    else:  # u_n = μ u_t: γ_n − 0.0981 = 0.2 (2 − 0.7 γ_n)
        np.testing.assert_allclose(normal, 0.4981 / 1.14, atol=1e-10)
        np.testing.assert_allclose(rise, FRICTION * slip, atol=1e-10)
    np.testing.assert_allclose(tangential, -FRICTION * normal, atol=1e-10)
    assert solution.certificate.holds(1e-12)
