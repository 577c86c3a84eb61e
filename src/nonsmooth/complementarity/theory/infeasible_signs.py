"""Test by a linear program whether the function of a linear problem can have its required signs."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.lazy import optimize
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.standard_form import affine_vector

_ZERO = 1e-6
"""Fraction of the largest |q| below which a missed sign is taken as rounding: HiGHS solves to 1e-7."""


def missed_signs(problem: MCP) -> float:
    """Smallest t ≥ 0 by which F misses a required sign, over all z within the bounds; NaN if not found.

    F ≥ 0 is required without an upper bound, F ≤ 0 without a lower one. A problem with t > 0 has no solution;
    with t = 0 (to rounding) it is feasible. In the units of F.
    """
    assert problem.matrix is not None
    vector = affine_vector(problem)
    scale = max(float(np.abs(vector).max(initial=0.0)), np.finfo(float).tiny)
    upward, downward = np.isinf(problem.upper), np.isinf(problem.lower)
    signed = sp.vstack([-problem.matrix[upward], problem.matrix[downward]], format="csr")
    if signed.shape[0] == 0:
        return 0.0
    slack = sp.csr_array(np.full((signed.shape[0], 1), -1.0))
    answer = optimize.linprog(
        np.concatenate([np.zeros(problem.size), [1.0]]),
        A_ub=sp.hstack([signed, slack], format="csr"),
        b_ub=np.concatenate([vector[upward], -vector[downward]]) / scale,
        bounds=np.vstack([np.column_stack([problem.lower, problem.upper]) / scale, [[0.0, np.inf]]]),
        method="highs",
    )
    if answer.status != 0:
        return math.nan
    return float(scale * answer.fun) if answer.fun > _ZERO else 0.0
