"""Impulses of least norm: the unique choice among all that give the same motion and obey the same law.

If joints are redundant, or a body rests on more contacts than statics can resolve, [D G] has linearly
dependent columns, and solvers return different impulses. At given velocities the possible impulses form a
convex set: P ν = D γ + G λ is known, and each contact or joint row has to stay in a convex set C that
follows from its velocity (see `faces`). The point of least νᵀRν is unique. The dual problem,

    max over y   wᵀy − max over ν ∈ C  (yᵀP ν − ½ νᵀRν) ,     w = P ν of the given impulses,

has no constraints, and the inner maximum is a projection on C contact by contact, ν = Π_C(R⁻¹Pᵀy). It is
smooth except for kinks of its gradient w − P ν, so that Newton's method finds y in a few steps (as in Qi and
Sun 2006 for the nearest correlation matrix); then P ν = w to rounding, and ν lies in C exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import linalg, sparse_linalg
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import NonsmoothError, ProblemError, UnsupportedError
from nonsmooth.problem.certificate import residual_of
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.analysis.admissible_impulses import Faces

_AT_REST = 30.0
"""Velocities of a contact below this multiple of the residual of the given impulses count as zero."""
_ROUNDING = 1e-12
"""Relative velocity that always counts as zero."""
_MOST_STEPS, _HALVINGS = 200, 40
_ARMIJO = 1e-4
_SOFTNESS, _LEAST_SOFTNESS = 1e-3, 1e-13
"""Relative shift of the diagonal of the dual's second derivative, times the relative error of P ν."""
_EXACT, _ENOUGH = 1e-14, 1e-9
"""Relative errors of P ν at which the iteration ends, and at which the result is accepted."""
_IDLE = 3
"""Number of steps without halving the error after which an acceptable result is returned."""
_DENSE = 150
"""Largest size of dense linear systems."""
_MOST_ROWS = 1500
"""Largest number of rows of a problem without masses: its matrix is decomposed."""


def minimum_norm(
    problem: ContactProblem, impulses: ArrayLike, joint_impulses: ArrayLike = (), metric: Any = None
) -> tuple[Floats, Floats]:
    """Return (γ, λ) in N·s with the motion of the given ones and the least Σ |γ|² + λᵀRλ.

    The result does not depend on the solver that found the given impulses. It is as accurate as these: a
    contact whose velocity is within their residual counts as at rest.

    Args:
        problem: the problem that the given impulses solve.
        impulses: γ, flat.
        joint_impulses: λ, one per joint row.
        metric: R over the joint rows (r, r), symmetric and positive definite, sparse or dense; the identity
            if not given. Rows with bounds must not be coupled with others.
    """
    x = problem.blocks_of(impulses, joint_impulses)
    if not x.any():
        return np.array(impulses, dtype=float), np.array(joint_impulses, dtype=float)
    residual = residual_of(problem, x)
    if not np.isfinite(residual):
        raise ProblemError("impulses are not all finite: solve the problem first")
    rest = max(_AT_REST * residual, _ROUNDING)
    faces = Faces.of(problem, x, rest)
    weight, inverse = _metric(problem, metric)
    start = faces.project(x)
    size = float(np.abs(start).max()) or 1.0
    balance = _balance(problem)
    found = size * _dual_newton(balance, weight, inverse, faces.scaled(1.0 / size), start / size)
    flat, rows = problem.layout.unpad(found), problem.layout.contact_rows
    return flat[:rows], flat[rows:]


def _balance(problem: ContactProblem) -> Any:
    """P over padded rows (coordinates, 3 blocks): impulses with the same P ν give the same motion."""
    layout = problem.layout
    if problem.has_masses:
        part = sp.coo_array(problem.row_matrix())
    elif layout.rows <= _MOST_ROWS:
        dense = problem.operator.matrix().toarray()
        values, vectors = np.linalg.eigh(0.5 * (dense + dense.T))
        kept = values > 1e-13 * values[-1]
        part = sp.coo_array(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)
    else:
        raise UnsupportedError(
            f"minimum_norm supports problems without masses up to {_MOST_ROWS} rows, and this one has "
            f"{layout.rows}: give masses and Jacobians"
        )
    row, column = part.coords
    return sp.csr_array((part.data, (row, layout.slot[column])), shape=(part.shape[0], 3 * layout.blocks))


def _metric(problem: ContactProblem, metric: Any) -> tuple[Any, Any]:
    """R over padded rows and its inverse: the identity for contacts."""
    layout, joints = problem.layout, problem.joint_rows
    if metric is None:
        whole = sp.eye_array(3 * layout.blocks, format="csr")
        return whole, whole
    own = sp.csc_array(metric)
    if own.shape != (joints, joints):
        raise ProblemError(
            f"metric has shape {own.shape}: give ({joints}, {joints}), one row and column per joint row"
        )
    bounded = np.flatnonzero(np.isfinite(problem.joint_bounds).any(axis=1))
    coupled = sp.csc_array(own - sp.diags_array(own.diagonal()))[:, bounded]
    if np.abs(coupled.data).max(initial=0.0) > 0.0:
        column = bounded[int(np.flatnonzero(np.diff(coupled.indptr))[0])]
        raise ProblemError(
            f"metric couples joint row {column}, which has bounds, with others: leave only its diagonal entry"
        )
    return _padded(problem, own), _padded(problem, _inverse(own))


def _inverse(metric: Any) -> Any:
    """Inverse of a block diagonal matrix, block by block."""
    count, label = sp.csgraph.connected_components(metric, directed=False)
    order = np.argsort(label, kind="stable")
    rows, columns, values = [], [], []
    for own in np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1]):
        block = metric[own][:, own].toarray()
        try:
            linalg.cholesky(block)
        except linalg.LinAlgError:
            raise ProblemError(
                f"metric is not positive definite for joint rows {own.tolist()}: check it there"
            ) from None
        rows.append(np.repeat(own, len(own)))
        columns.append(np.tile(own, len(own)))
        values.append(np.linalg.inv(block).ravel())
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csc_array(entries, shape=metric.shape)


def _padded(problem: ContactProblem, joints: Any) -> Any:
    """A matrix over joint rows as one over padded rows, with the identity elsewhere."""
    layout, size = problem.layout, 3 * problem.layout.blocks
    slot, part = layout.slot[layout.contact_rows :], sp.coo_array(joints)
    row, column = part.coords
    other = np.setdiff1d(np.arange(size), slot)
    entries = np.concatenate([part.data, np.ones(len(other))])
    places = np.concatenate([slot[row], other]), np.concatenate([slot[column], other])
    return sp.csr_array((entries, places), shape=(size, size))


def _dual_newton(balance: Any, weight: Any, inverse: Any, faces: Faces, start: Floats) -> Floats:
    """Solve the dual problem; returns impulses (blocks, 3) with P ν = P start."""
    reach = np.asarray((balance.multiply(balance @ inverse)).sum(axis=1)).ravel()
    moved = np.flatnonzero(reach > 0.0)
    matrix = sp.csr_array(sp.diags_array(1.0 / np.sqrt(reach[moved])) @ balance[moved])
    wanted = matrix @ start.ravel()
    scale = float(np.linalg.norm(wanted)) or 1.0

    def at(y: Floats) -> tuple[float, Floats, Floats, Floats]:
        """The dual's value, its gradient w − P ν, ν, and the point whose projection is ν."""
        pull = matrix.T @ y
        before = np.asarray(inverse @ pull).reshape(start.shape)
        nu = faces.project(before)
        flat = nu.ravel()
        value = float(wanted @ y - (flat @ pull - 0.5 * flat @ (weight @ flat)))
        return value, np.asarray(wanted - matrix @ flat), nu, before

    y = np.zeros(len(moved))
    value, gradient, nu, before = at(y)
    best, smallest, idle = nu, np.inf, 0
    for _ in range(_MOST_STEPS):
        error = float(np.linalg.norm(gradient)) / scale
        idle = idle + 1 if error > 0.5 * smallest else 0
        if error < smallest:
            best, smallest = nu, error
        if error <= _EXACT or (idle == _IDLE and smallest <= _ENOUGH):
            break
        curved = matrix @ faces.derivative(before) @ inverse @ matrix.T
        step = _solve(curved, max(_SOFTNESS * error, _LEAST_SOFTNESS), gradient)
        slope, length = float(gradient @ step), 1.0
        for _ in range(_HALVINGS):
            trial = at(y + length * step)
            smaller = float(np.linalg.norm(trial[1])) <= (1.0 - _ARMIJO) * error * scale
            if smaller or trial[0] >= value + _ARMIJO * length * slope:
                break
            length *= 0.5
        else:
            break  # only rounding is left
        y = y + length * step
        value, gradient, nu, before = trial
    if not smallest <= _ENOUGH:
        raise NonsmoothError(
            f"impulses of least norm were not found: D γ + G λ is missed by {smallest:.1e}, relative; "
            "solve the problem to a smaller tolerance"
        )
    return best


def _solve(matrix: Any, softness: float, right: Floats) -> Floats:
    """(H + softness) x = right for a symmetric positive semidefinite H with a diagonal of about one."""
    if len(right) <= _DENSE:
        dense = matrix.toarray()
        dense[np.diag_indices(len(right))] += softness
        return np.asarray(linalg.cho_solve(linalg.cho_factor(dense), right))
    shifted = sp.csc_array(matrix + sp.diags_array(np.full(len(right), softness)))
    return np.asarray(
        sparse_linalg.splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True}).solve(right)
    )
