"""The 3×3 blocks on the diagonal of N, made ready for local solves."""

from __future__ import annotations

import numpy as np

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers._gauss_seidel_kernels import Local
from nonsmooth.solvers._local_kernels import invert_blocks

_SOFTENING = 1e-6
"""Part of a singular contact block's mean diagonal that is added to it in the local model."""


def local_blocks(problem: ContactProblem) -> Local:
    """Model blocks and their inverses, symmetric; what the model misses vanishes at the fixed point.

    A contact's singular block gets a little on its diagonal, so that sticking can be asked for in every
    direction; a joint's gets its pseudo-inverse, because its rows may be redundant.
    """
    block = problem.operator.diagonal_blocks
    block = 0.5 * (block + np.swapaxes(block, 1, 2))
    inverse, singular = np.empty_like(block), np.empty(len(block), dtype=np.bool_)
    invert_blocks(block, inverse, singular)
    contact = singular & (problem.layout.free == 0)
    if contact.any():
        mean = np.einsum("bkk->b", block[contact]) / 3.0
        block[contact] += _SOFTENING * mean[:, None, None] * np.eye(3)
        inverse[contact] = np.linalg.inv(block[contact])
        singular &= ~contact
    if singular.any():
        part = block[singular]
        scale = 1.0 / np.sqrt(np.maximum(np.einsum("bkk->bk", part), 1e-300))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse[singular] = np.linalg.pinv(part * outer, rcond=1e-10, hermitian=True) * outer
    return Local(block, inverse, np.zeros(len(block)))
