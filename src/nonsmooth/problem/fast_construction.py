"""Problems put together by the package itself, step after step: no checks, nothing computed twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.problem import checks as check
from nonsmooth.problem.blocks_by_body import rows_in_blocks
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import BodyMass
from nonsmooth.problem.operator import FactoredOperator

_NO_JOINTS = np.zeros((0, 2, 6))
_NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
_NO_BOUNDS, _NO_NUMBERS = np.zeros((0, 2)), np.zeros(0)


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
    joint_bodies: NDArray[np.int64] = _NO_PAIRS,
    joint_jacobian: Floats = _NO_JOINTS,
    joint_columns: Floats = _NO_JOINTS,
    joint_bias: Floats = _NO_NUMBERS,
    joint_free_velocity: Floats = _NO_NUMBERS,
    joint_bounds: Floats = _NO_BOUNDS,
) -> ContactProblem:
    """Return the problem of c contacts with three components each and r joint rows, from arrays that fit.

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
        joint_bodies: (r, 2), −1 for ground; rows of equal pairs that stand together are quicker.
        joint_jacobian: rows of Gᵀ by body, (r, 2, 6); zero for ground. Every row must move a body.
        joint_columns: the same with L⁻¹ of the body's mass applied.
        joint_bias: b_G, (r,) in m/s or rad/s.
        joint_free_velocity: GᵀM⁻¹k + b_G, (r,) in m/s or rad/s.
        joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (r, 2) in N·s or N·m·s, ±inf where there
            is no bound.
    """
    problem = ContactProblem.__new__(ContactProblem)
    problem.law = law
    problem.friction = friction
    problem.components = np.full(len(bodies), 3, dtype=np.int64)
    problem.joint_bounds = joint_bounds
    problem.layout = Layout.of_joints(problem.components, joint_bodies, joint_bounds)
    pairs, all_columns = rows_in_blocks(problem.layout, columns, bodies, joint_columns, joint_bodies)
    problem.operator = FactoredOperator.of_columns(problem.layout, pairs, all_columns, mass.bodies)
    problem.mass, problem._mass = mass.blocks, mass
    problem.jacobian, problem.bodies = rows, bodies
    problem.momentum, problem.bias = momentum.ravel(), bias.ravel()
    problem.free_velocity = free_velocity.ravel()
    problem.joint_jacobian, problem.joint_bodies = joint_jacobian, joint_bodies
    problem.joint_bias, problem.joint_free_velocity = joint_bias, joint_free_velocity
    problem.delassus = None
    for value in problem.__dict__.values():
        check.freeze(value)
    problem._sealed = True
    return problem
