"""Siconos' natural map, ρ = 1, over all contacts of a problem given by W and q."""

import math

import numpy as np

from nonsmooth._support.jit import allocating_kernel, kernel
from nonsmooth.problem.kernels.cones import project_interval, project_round_cone
from nonsmooth.problem.kernels.operator import apply
from nonsmooth.problem.kernels.residuals import BOUNDED


@kernel
def natural_map_size(cones, x, u):
    """|F| over contacts and joint rows: F = γ − Π_K(γ − u − μ|u_t| e_n) for a contact, u for a joint row.

    A joint row with bounds is projected on them.
    """
    total = 0.0
    for i in range(x.shape[0]):
        if not cones.free[i]:
            mu = cones.friction[i]
            tilted = u[i, 0] + mu * math.sqrt(u[i, 1] * u[i, 1] + u[i, 2] * u[i, 2])
            p0, p1, p2 = project_round_cone(x[i, 0] - tilted, x[i, 1] - u[i, 1], x[i, 2] - u[i, 2], mu)
            total += (x[i, 0] - p0) ** 2 + (x[i, 1] - p1) ** 2 + (x[i, 2] - p2) ** 2
        elif cones.free[i] == BOUNDED:
            p0 = project_interval(x[i, 0] - u[i, 0], cones.lower[i, 0], cones.upper[i, 0])
            total += (x[i, 0] - p0) ** 2
        else:
            total += u[i, 0] ** 2 + u[i, 1] ** 2 + u[i, 2] ** 2
    return math.sqrt(total)


@allocating_kernel
def error_of_impulses(form, bodies, cones, q, x):
    """|F| and the largest of |q|, |γ| and |u|, for u = N x + q."""
    u = np.empty_like(x)
    apply(form, x, np.empty((bodies, 6)), u)
    free = 0.0
    impulse = 0.0
    velocity = 0.0
    for i in range(x.shape[0]):
        for k in range(3):
            u[i, k] += q[i, k]
            free += q[i, k] * q[i, k]
            impulse += x[i, k] * x[i, k]
            velocity += u[i, k] * u[i, k]
    return natural_map_size(cones, x, u), math.sqrt(max(free, max(impulse, velocity)))
