"""Detection of joints that contradict each other, after a failed solve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse_linalg
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.residuals import JOINT
from nonsmooth.solvers.kernels.joint_block import hold_free
from nonsmooth.solvers.parts.joint_block import joint_block

_REFINEMENTS = 3
_MANY_ROWS = 1500
"""Number of joint rows above which rounding and iterative solvers leave larger errors, as on long chains."""
_CONTRADICTION, _OF_MANY = 1e-5, 1e-2
"""Relative part of the joints' velocity that no impulse can reach, above which they contradict."""


def joints_contradict(problem: ContactProblem) -> bool:
    """Return whether no λ satisfies the joint rows without bounds, even with every contact open.

    The rows Gᵀv + b_G = 0 have a solution for some v exactly if q_G lies in the range of
    GᵀM⁻¹G: contacts and rows with bounds act through the same v and cannot remove a contradiction.
    """
    held = problem.cones.free == JOINT
    if not held.any():
        return False
    root, q = np.sqrt(problem.cones.weight[held]), problem.free_blocks
    left = root * (problem.operator.apply(_least_wrong(problem, held)) + q)[held]
    count = int(held.sum() * 3 - problem.layout.padding[held].sum())
    threshold = _CONTRADICTION if count <= _MANY_ROWS else _OF_MANY
    return bool(np.linalg.norm(left) > threshold * np.linalg.norm(root * q[held]))


def _least_wrong(problem: ContactProblem, held: NDArray[np.bool_]) -> Floats:
    """Impulses (blocks, 3) of the held blocks that violate as few of their rows as possible."""
    operator, x = problem.operator, np.zeros((problem.layout.blocks, 3))
    form = operator.kernel_form
    block = joint_block(problem, form)
    if block is not None:
        work = operator.work()
        for _ in range(_REFINEMENTS):
            hold_free(form, block, problem.free_blocks, x, work, np.empty(len(block.root)))
        return x
    flat = np.zeros_like(x, dtype=bool)
    flat[held] = ~problem.layout.padding[held]
    rows = np.flatnonzero(problem.layout.unpad(flat))
    matrix = operator.matrix()[rows][:, rows]
    scale = 1.0 / np.sqrt(matrix.diagonal())
    scaled = matrix.multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
    wanted = -scale * problem.layout.unpad(problem.free_blocks)[rows]
    limit = 20 * len(rows) + 100
    found = sparse_linalg.lsmr(scaled, wanted, atol=1e-14, btol=1e-14, conlim=0.0, maxiter=limit)[0]
    whole = np.zeros(problem.layout.rows)
    whole[rows] = scale * found
    return problem.layout.pad(whole)
