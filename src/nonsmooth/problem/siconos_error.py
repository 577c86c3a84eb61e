"""The error measure of Siconos, recomputed from the problem; for comparison only.

With F_i = γ_i − Π_K(γ_i − (u_i + μ_i|u_t,i| e_n)), the natural map with ρ = 1,

    problem given by W and q (fc3d, fc2d):   |F| / max(|q|, |γ|, |u|)
    problem given by masses (gfc3d):         |M v − Dγ − k| / max(|k|, |Mv|, |Dγ|)  +  |F| / max(|γ|, |u|)

in Euclidean norms over all contacts; a denominator below the machine epsilon is omitted (Siconos 4.4.0).
Because ρ is 1, impulses in N·s and velocities in m/s are added: the verdict changes with the units, and if
W is small it accepts non-solutions. The residual of the `Certificate` does neither.

Siconos has no joint rows, no error for planar problems with masses and no contacts without friction: they
enter here through the natural map, joint rows with F = Gᵀv + b_G, or clipped at their bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import siconos as kernels
from nonsmooth.problem.momentum import generalised_impulse, velocity_after

_EPSILON = float(np.finfo(float).eps)


def siconos_error(
    problem: ContactProblem,
    impulses: ArrayLike,
    joint_impulses: ArrayLike = (),
    velocity: ArrayLike | None = None,
) -> float:
    """Siconos' error of an answer to a problem, under Coulomb's law; dimensionless, but dependent on units.

    Args:
        problem: the problem; its law is ignored.
        impulses: γ in N·s, flat, contact by contact (n, t1, t2).
        joint_impulses: λ in N·s or N·m·s, one per joint row.
        velocity: v in m/s and rad/s, if masses are known; M⁻¹(k + Dγ + Gλ) if not given.

    Returns:
        The error; NaN if an impulse or a velocity is not finite.
    """
    blocks = problem.blocks_of(impulses, joint_impulses)
    if velocity is None:
        return siconos_error_of_blocks(problem, blocks)
    if not problem.has_masses:
        raise ProblemError("velocity needs masses, and this problem was given by W: omit it")
    v = np.asarray(velocity, dtype=float)
    if v.shape != problem.momentum.shape:
        raise ProblemError(
            f"velocity has shape {v.shape}: this problem has {len(problem.momentum)} generalised velocities"
        )
    return _error_with_masses(problem, blocks, v)


def siconos_error_of_blocks(problem: ContactProblem, blocks: Floats) -> float:
    """The same for impulses as solvers hold them, (blocks, 3)."""
    if problem.has_masses:
        return _error_with_masses(problem, blocks, velocity_after(problem, blocks))
    operator = problem.operator
    error, scale = kernels.error_of_impulses(
        operator.kernel_form, operator.work_rows, problem.cones, problem.free_blocks, blocks
    )
    return _relative(error, scale) if np.isfinite(scale) else float(np.nan)


def _error_with_masses(problem: ContactProblem, blocks: Floats, v: Floats) -> float:
    bias = np.concatenate([problem.bias, problem.joint_bias])
    u = problem.layout.pad(np.asarray(problem.row_matrix().T @ v) + bias)
    carried, pushed = problem.mass_matrix() @ v, generalised_impulse(problem, blocks)
    momentum_error = _norm(carried - pushed - problem.momentum)
    return _relative(momentum_error, _norm(problem.momentum), _norm(carried), _norm(pushed)) + _relative(
        _natural_map(problem, blocks, u), _norm(blocks), _norm(u)
    )


def _natural_map(problem: ContactProblem, blocks: Floats, u: Floats) -> float:
    """|F| over all blocks, with ρ = 1."""
    if not (np.isfinite(blocks).all() and np.isfinite(u).all()):
        return float(np.nan)
    return float(kernels.natural_map_size(problem.cones, blocks, u))


def _norm(values: Floats) -> float:
    return float(np.linalg.norm(values))


def _relative(error: float, *scales: float) -> float:
    """An error divided by the largest of its scales; undivided if all are zero; NaN if any is NaN."""
    largest = float(np.max(scales))
    return error / largest if not largest <= _EPSILON else error
