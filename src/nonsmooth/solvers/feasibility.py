"""Whether joints contradict each other, asked after a solve has failed."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import lsmr

from nonsmooth.problem.contact_problem import ContactProblem

_DENSE_ROWS = 1500
"""Joint rows up to which a dense least-squares solution is affordable."""
_CONTRADICTION = 1e-5
"""Part of the joints' velocity that no impulse can reach, relative, above which they contradict."""


def joints_contradict(problem: ContactProblem) -> bool:
    """Tell whether no λ satisfies the joint rows without bounds, even with every contact open.

    The rows Gᵀv + b_G = 0 have a solution for some v exactly if q_G lies in the range of
    GᵀM⁻¹G: contacts and rows with bounds act through the same v and cannot mend a contradiction.
    """
    held = np.flatnonzero(np.isinf(problem.joint_bounds).all(axis=1))
    if len(held) == 0:
        return False
    rows = problem.layout.contact_rows + held
    matrix = problem.operator.matrix()[rows][:, rows]
    scale = 1.0 / np.sqrt(matrix.diagonal())
    scaled = matrix.multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
    wanted = -scale * problem.joint_free_velocity[held]
    if len(held) <= _DENSE_ROWS:
        found, threshold = np.linalg.lstsq(scaled.toarray(), wanted, rcond=1e-13)[0], _CONTRADICTION
    else:  # an iterative solver leaves more behind on long chains
        limit = 20 * len(held) + 100
        found = lsmr(scaled, wanted, atol=1e-14, btol=1e-14, conlim=0.0, maxiter=limit)[0]
        threshold = 1e-2
    left = np.linalg.norm(scaled @ found - wanted)
    return bool(left > threshold * np.linalg.norm(wanted))
