"""`ProblemData`: the data of a contact problem, independent of the form given."""

from __future__ import annotations

from typing import Any, NamedTuple

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.problem.laws import Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import Mass
from nonsmooth.problem.operator import DelassusOperator


class ProblemData(NamedTuple):
    """c contacts and r joint rows: checked copies of the arrays, with their operator N.

    Built by `problem.construction`; a `ContactProblem` holds nothing else.
    """

    law: Law
    friction: Floats
    """μ of each contact, (c,)."""
    components: Integers
    """1, 2 or 3 for each contact, (c,)."""
    layout: Layout
    """How contacts and joint rows lie in blocks of three."""
    operator: DelassusOperator
    """N = [D G]ᵀ M⁻¹ [D G]."""
    bias: Floats
    """b, one number per contact component in m/s."""
    free_velocity: Floats
    """DᵀM⁻¹k + b, one number per contact component in m/s."""
    joint_bias: Floats
    """b_G, (r,) in m/s or rad/s."""
    joint_free_velocity: Floats
    """GᵀM⁻¹k + b_G, (r,) in m/s or rad/s."""
    joint_bounds: Floats
    """lower ≤ 0 ≤ upper of each joint row's impulse, (r, 2) in N·s or N·m·s; ±inf for no bound."""
    mass: Any = None
    """M as it was given: a matrix, or blocks by body; None where W was given."""
    factors: Mass | None = None
    """M with its factors; None where W was given."""
    jacobian: Any = None
    """D as a matrix, or the rows of Dᵀ by body, (c, 2, d, 6); None where W was given."""
    bodies: Any = None
    """A and B of each contact, (c, 2), −1 for ground; None without blocks."""
    momentum: Any = None
    """k in N·s and N·m·s; None where W was given."""
    joint_jacobian: Any = None
    """G as a matrix, or the rows of Gᵀ by body, (r, 2, 6); None where W was given."""
    joint_bodies: Any = None
    """A and B of each joint row, (r, 2), −1 for ground; None without blocks."""
    delassus: Any = None
    """W = [D G]ᵀ M⁻¹ [D G] if it was given, else None."""
