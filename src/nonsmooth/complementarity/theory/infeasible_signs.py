"""Can the function of a linear problem have the signs that it needs? A linear program tells."""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.standard_form import affine_vector

_ZERO = 1e-6
"""Part of the largest |q| up to which a missed sign is taken for rounding: HiGHS itself solves to 1e-7."""


def missed_signs(problem: MCP) -> float:
    """Least t ≥ 0 by which F misses a sign that it needs, over all z within the bounds; NaN if not found.

    F ≥ 0 is needed where there is no upper bound, F ≤ 0 where there is no lower one. A problem with t > 0
    has no solution; t = 0 (to rounding) is what is called feasible. In the units of F.
    """
    assert problem.matrix is not None
    vector = affine_vector(problem)
    scale = max(float(np.abs(vector).max(initial=0.0)), np.finfo(float).tiny)
    upward, downward = np.isinf(problem.upper), np.isinf(problem.lower)
    signed = sp.vstack([-problem.matrix[upward], problem.matrix[downward]], format="csr")
    if signed.shape[0] == 0:
        return 0.0
    slack = sp.csr_array(np.full((signed.shape[0], 1), -1.0))
    answer = scipy.optimize.linprog(
        np.concatenate([np.zeros(problem.size), [1.0]]),
        A_ub=sp.hstack([signed, slack], format="csr"),
        b_ub=np.concatenate([vector[upward], -vector[downward]]) / scale,
        bounds=np.vstack([np.column_stack([problem.lower, problem.upper]) / scale, [[0.0, np.inf]]]),
        method="highs",
    )
    if answer.status != 0:
        return math.nan
    return float(scale * answer.fun) if answer.fun > _ZERO else 0.0
