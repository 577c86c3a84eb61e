"""Equations of contacts in Poisson's expansion, whose normal impulse has a least value, in Newton's method.

As in the solvers, in the weighted variables x = γ/√ρ and u = √ρ u, both in √J.
"""

import math

from nonsmooth._support.jit import kernel


@kernel
def fill_expansions(given, friction, x, u, F, A, B):
    """Overwrite F, A = ∂F/∂x and B = ∂F/∂u of the contacts with given > 0 by Alart and Curnier's equations.

    With z = x_n − given − u_n: F_n = x_n − given − max(0, z) and F_t = x_t − Π_D(x_t − u_t), where D has the
    radius μ (given + max(0, z)).
    """
    for i in range(x.shape[0]):
        if given[i] <= 0.0:
            continue
        A[i] = 0.0
        B[i] = 0.0
        mu = friction[i]
        z = x[i, 0] - given[i] - u[i, 0]
        closed = z > 0.0
        if closed:
            F[i, 0] = u[i, 0]
            B[i, 0, 0] = 1.0
        else:
            F[i, 0] = x[i, 0] - given[i]
            A[i, 0, 0] = 1.0
        p1, p2 = x[i, 1] - u[i, 1], x[i, 2] - u[i, 2]
        size = math.sqrt(p1 * p1 + p2 * p2)
        radius = mu * (given[i] + max(0.0, z))
        if size <= radius:
            F[i, 1], F[i, 2] = u[i, 1], u[i, 2]
            B[i, 1, 1] = B[i, 2, 2] = 1.0
            continue
        d1, d2 = p1 / size, p2 / size
        bend = radius / size
        s11, s12, s22 = bend * d2 * d2, -bend * d1 * d2, bend * d1 * d1
        F[i, 1], F[i, 2] = x[i, 1] - radius * d1, x[i, 2] - radius * d2
        A[i, 1, 1], A[i, 1, 2], A[i, 2, 1], A[i, 2, 2] = 1.0 - s11, -s12, -s12, 1.0 - s22
        B[i, 1, 1], B[i, 1, 2], B[i, 2, 1], B[i, 2, 2] = s11, s12, s12, s22
        if closed:
            A[i, 1, 0], A[i, 2, 0] = -mu * d1, -mu * d2
            B[i, 1, 0], B[i, 2, 0] = mu * d1, mu * d2
