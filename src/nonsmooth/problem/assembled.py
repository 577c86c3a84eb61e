"""Problems put together by the package itself, step after step: no checks, nothing computed twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem import _checks as check
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import BodyMass
from nonsmooth.problem.operator import FactoredOperator

Floats = NDArray[np.float64]


def assembled_problem(
    *,
    mass: BodyMass,
    bodies: NDArray[np.int64],
    rows: Floats,
    columns: Floats,
    momentum: Floats,
    bias: Floats,
    free_velocity: Floats,
    friction: Floats,
    law: Law,
) -> ContactProblem:
    """Return the problem of c contacts with three components each, from arrays that fit together.

    Args:
        mass: blocks of n bodies, factored once for all steps.
        bodies: (c, 2), −1 for ground.
        rows: rows of Dᵀ by body, (c, 2, 3, 6); zero for ground.
        columns: the same with L⁻¹ of the body's mass applied.
        momentum: k by body, (n, 6).
        bias: b, (c, 3) in m/s.
        free_velocity: DᵀM⁻¹k + b, (c, 3) in m/s.
        friction: μ, (c,).
        law: the friction law.
    """
    problem = ContactProblem.__new__(ContactProblem)
    problem.law = law
    problem.friction = friction
    problem.components = np.full(len(bodies), 3, dtype=np.int64)
    problem.layout = Layout(problem.components, np.zeros(0, dtype=np.int64))
    problem.operator = FactoredOperator.of_columns(problem.layout, bodies, columns, mass.bodies)
    problem.mass, problem._mass = mass.blocks, mass
    problem.jacobian, problem.bodies = rows, bodies
    problem.momentum, problem.bias = momentum.ravel(), bias.ravel()
    problem.free_velocity = free_velocity.ravel()
    problem.joint_jacobian, problem.joint_bodies = np.zeros((0, 2, 6)), np.zeros((0, 2), dtype=np.int64)
    problem.joint_bias = problem.joint_free_velocity = np.zeros(0)
    problem.delassus = None
    for value in problem.__dict__.values():
        check.freeze(value)
    problem._sealed = True
    return problem
