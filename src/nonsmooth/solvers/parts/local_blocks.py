"""The 3×3 blocks on the diagonal of N, prepared for local solves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.kernels.gauss_seidel import Local
from nonsmooth.solvers.kernels.local import invert_blocks


def local_blocks(problem: ContactProblem, visited: NDArray[np.int64]) -> Local:
    """Symmetric model blocks and their inverses; the error of the model vanishes at the fixed point.

    A joint's singular block gets its pseudo-inverse, because its rows may be redundant, if it is visited.
    """
    given = problem.operator.diagonal_blocks
    block, inverse = np.empty(given.shape), np.empty(given.shape)
    if invert_blocks(given, problem.layout.block_kind, block, inverse):
        singular = visited[np.isnan(inverse[visited, 0, 0])]
        part = block[singular]
        scale = 1.0 / np.sqrt(np.maximum(np.einsum("bkk->bk", part), 1e-300))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse[singular] = np.linalg.pinv(part * outer, rcond=1e-10, hermitian=True) * outer
    return Local(block, inverse, np.zeros(len(block)))
