"""Whether a stationary point is a solution: Theorems 1 and 2 of Andreani et al.

Minimising ½(‖f − z‖² + ‖g‖² + (uᵀz)²) over u, z ≥ 0, problem (2), may end at a stationary point that is
not a solution. By Theorem 1 it is a solution if the Schur complement of g_v in the Jacobian there is a row
sufficient S-matrix, by Theorem 2 (f and g linear, the problem feasible) if the Jacobian is row sufficient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.theory.infeasible_signs import missed_signs
from nonsmooth.complementarity.theory.matrix_classes import Limits, MatrixClass, matrix_class
from nonsmooth.errors import ProblemError, UnsupportedError

__all__ = ["Limits", "MatrixClass", "Worth", "matrix_class", "schur_complement", "stationary_point_worth"]


_REGULAR = 1e-12
"""Smallest reciprocal condition number of g_v for which a Schur complement is computed."""


@dataclass(frozen=True)
class Worth:
    """Verdict on a stationary point of problem (2) at a point z."""

    must_be_solution: bool | None
    """True: it is a solution, by `theorem`. False: the conditions of neither theorem hold, so that it may or
    may not be. None: a condition was not tested, or no theorem covers such a problem."""
    theorem: int | None
    """1 or 2, the theorem that applies; None if neither does."""
    sentence: str
    """The verdict and its grounds."""
    schur: MatrixClass | None
    """Classes of the Schur complement of g_v; None if there is none."""
    jacobian: MatrixClass | None
    """Classes of the Jacobian, for linear problems; None otherwise."""
    feasible: bool | None
    """Whether the signs can be met, for linear problems; None if not known."""

    def __str__(self) -> str:
        return self.sentence


def schur_complement(problem: MCP, z: ArrayLike) -> Floats:
    """Schur complement of g_v in the Jacobian (3) at z: f_u − f_v g_v⁻¹ g_u.

    v are the variables without bounds and g their functions, u the others (fixed ones omitted). A variable
    with only an upper bound is measured downwards from it, so that all u are bounded below. Raises
    `ProblemError` if g_v is singular or not square.
    """
    return _schur_complement(problem, _jacobian(problem, z))


def _schur_complement(problem: MCP, jacobian: Floats) -> Floats:
    free = _free(problem)
    u, v = np.flatnonzero(_bounded(problem)), np.flatnonzero(free)
    sign = np.where(np.isinf(problem.lower[u]), -1.0, 1.0)
    own = sign[:, None] * jacobian[np.ix_(u, u)] * sign
    if not len(v):
        return own
    block = jacobian[np.ix_(v, v)]
    smallest, largest = np.linalg.svd(block, compute_uv=False)[[-1, 0]]
    if smallest <= _REGULAR * largest:
        raise ProblemError(
            f"g_v, the {len(v)} × {len(v)} block of the free variables and their equations, is singular at "
            f"this point (singular values {smallest:.2g} to {largest:.2g}): it has no Schur complement"
        )
    across = jacobian[np.ix_(u, v)] @ np.linalg.solve(block, jacobian[np.ix_(v, u)])
    return np.asarray(own - sign[:, None] * across * sign)


def stationary_point_worth(
    problem: MCP, z: ArrayLike, *, limits: Limits | None = None, margin: float = 1e-10
) -> Worth:
    """Return whether a stationary point of problem (2) at z must be a solution, by Theorems 1 and 2.

    Args:
        problem: the complementarity problem.
        z: the point, (n,).
        limits: largest size for which each matrix class is tested.
        margin: as in `matrix_class`.
    """
    two_sided = int(
        np.count_nonzero(_bounded(problem) & np.isfinite(problem.lower) & np.isfinite(problem.upper))
    )
    if two_sided:
        return _unknown(
            f"The theorems cover variables with one bound or none, and {two_sided} have two: "
            "what a stationary point is worth is not known."
        )
    if not problem.square:
        return _unknown(
            f"The theorems need as many equations as free variables, and there are {problem.rows} functions "
            f"of {problem.size} variables: what a stationary point is worth is not known."
        )
    jacobian = _jacobian(problem, z)
    worth = _by_theorem_2(problem, jacobian, limits, margin)
    if worth.must_be_solution or worth.feasible is False:
        return worth
    return _by_theorem_1(problem, jacobian, limits, margin, worth)


def _by_theorem_2(problem: MCP, jacobian: Floats, limits: Limits | None, margin: float) -> Worth:
    """The verdict for a linear problem; an empty one for others."""
    if problem.matrix is None:
        return _unknown("")
    loose = np.flatnonzero(problem.lower < problem.upper)
    known = matrix_class(jacobian[np.ix_(loose, loose)], limits=limits, margin=margin)
    missed = missed_signs(problem)
    if missed > 0.0:
        sentence = (
            f"The problem has no solution: a linear program shows that some sign is missed by {missed:.3g} "
            "everywhere. A stationary point is not a solution."
        )
        return Worth(False, None, sentence, None, known, False)
    if missed == 0.0 and known.row_sufficient:
        sentence = (
            "Theorem 2 applies (the problem is linear and feasible, and its Jacobian is row sufficient to "
            f"rounding: {known.reasons['row_sufficient']}): a stationary point is a solution."
        )
        return Worth(True, 2, sentence, None, known, True)
    refuted = known.row_sufficient is False
    return Worth(False if refuted else None, None, "", None, known, True if missed == 0.0 else None)


def _by_theorem_1(
    problem: MCP, jacobian: Floats, limits: Limits | None, margin: float, second: Worth
) -> Worth:
    """The verdict of Theorem 1 if Theorem 2 does not apply (`second` is the verdict of that)."""
    rest = second.jacobian, second.feasible
    try:
        schur = matrix_class(_schur_complement(problem, jacobian), limits=limits, margin=margin)
    except ProblemError as error:
        return Worth(None, None, f"Theorem 1 cannot be applied: {error}.", None, *rest)
    conditions = {"row_sufficient": schur.row_sufficient, "s_matrix": schur.s_matrix}
    words = {"row_sufficient": "row sufficient", "s_matrix": "an S-matrix"}
    matrix = "the Schur complement of g_v" if _free(problem).any() else "the Jacobian"
    if all(conditions.values()):
        sentence = (
            f"Theorem 1 applies ({matrix} at this point is a row sufficient S-matrix to rounding): "
            "a stationary point here is a solution."
        )
        return Worth(True, 1, sentence, schur, *rest)
    failed = [words[name] for name, holds in conditions.items() if holds is False]
    if failed:
        sentence = f"Theorem 1 does not apply: {matrix} at this point is not {' nor '.join(failed)}."
    else:
        untested = [
            f"{words[name]} ({schur.reasons[name]})" for name, holds in conditions.items() if holds is None
        ]
        sentence = f"Not tested: whether {matrix} at this point is {' and '.join(untested)}."
    if problem.matrix is not None:
        refuted = second.must_be_solution is False
        sentence += " Nor does Theorem 2." if refuted else " Whether Theorem 2 does is not known."
    sentence += " A stationary point here may or may not be a solution."
    no_theorem = bool(failed) and (problem.matrix is None or second.must_be_solution is False)
    return Worth(False if no_theorem else None, None, sentence, schur, *rest)


def _unknown(sentence: str) -> Worth:
    return Worth(None, None, sentence, None, None, None)


def _free(problem: MCP) -> NDArray[np.bool_]:
    return np.isinf(problem.lower) & np.isinf(problem.upper)


def _bounded(problem: MCP) -> NDArray[np.bool_]:
    return ~_free(problem) & (problem.lower < problem.upper)


def _jacobian(problem: MCP, z: ArrayLike) -> Floats:
    point = np.array(z, dtype=float)
    if point.shape != (problem.size,):
        raise ProblemError(f"z has shape {point.shape} and the problem has {problem.size} variables")
    if not problem.square:
        raise UnsupportedError(
            f"a Schur complement needs as many equations as free variables, and there are {problem.rows} "
            f"functions of {problem.size} variables"
        )
    jacobian = problem.jacobian(point).toarray()
    if not np.isfinite(jacobian).all():
        raise ProblemError("the Jacobian is not finite at this point: give another point")
    return np.asarray(jacobian)
