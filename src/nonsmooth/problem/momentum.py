"""The momentum balance M v = k + D γ + G λ of a problem with masses: v, and the residual of the balance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.mass import BodyMass, MatrixMass
from nonsmooth.problem.operator import FactoredOperator

if TYPE_CHECKING:
    from nonsmooth.problem.contact_problem import ContactProblem


def velocity_after(problem: ContactProblem, blocks: Floats) -> Floats:
    """v = M⁻¹(k + D γ + G λ) for impulses (blocks, 3)."""
    mass, operator = problem.factors, problem.operator
    if isinstance(mass, BodyMass) and isinstance(operator, FactoredOperator):
        return mass.velocity(problem.momentum, operator.weighted_velocity(blocks))
    assert mass is not None
    return mass.solve(problem.momentum + generalised_impulse(problem, blocks))


def generalised_impulse(problem: ContactProblem, blocks: Floats) -> Floats:
    """D γ + G λ for impulses (blocks, 3)."""
    mass, operator = problem.factors, problem.operator
    if isinstance(mass, BodyMass) and isinstance(operator, FactoredOperator):
        return mass.collect(mass.unweight(operator.weighted_velocity(blocks)))
    flat, contact = problem.layout.unpad(blocks), problem.layout.contact_rows
    return np.asarray(problem.jacobian @ flat[:contact] + problem.joint_jacobian @ flat[contact:])


def balance_is_certain(problem: ContactProblem, tolerance: float) -> bool:
    """Return whether M v = k + Dγ + Gλ always closes: no masses, or well-conditioned ones."""
    return problem.factors is None or problem.factors.rounding <= tolerance


def momentum_error(problem: ContactProblem, velocity: Floats, blocks: Floats) -> tuple[float, float]:
    """|M v − k − Dγ − Gλ|: the largest entry (N·s), and the M⁻¹-norm relative to its largest term."""
    mass, operator = problem.factors, problem.operator
    if isinstance(mass, BodyMass) and isinstance(operator, FactoredOperator):
        return mass.balance(velocity, problem.momentum, operator.weighted_velocity(blocks))
    assert isinstance(mass, MatrixMass)
    impulse = generalised_impulse(problem, blocks)
    error = mass.multiply(velocity) - problem.momentum - impulse
    sizes = mass.energies(np.column_stack([error, problem.momentum, impulse]))
    scale = max(sizes[1:])
    relative = 0.0 if sizes[0] == 0.0 else float(np.sqrt(sizes[0] / scale)) if scale > 0.0 else np.inf
    if np.isnan(sizes[0]):
        relative = np.nan
    return float(np.abs(error).max(initial=0.0)), relative
