"""The linear systems of a semismooth Newton step: dense if small, else sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import csgraph, sparse_linalg
from nonsmooth._support.lazy import sparse as sp

_DENSE = 120
"""Largest number of unknowns for which dense factorisations are faster than sparse ones for any pattern."""
_FULL, _MOST_FULL = 0.1, 5000
"""Fraction of nonzeros above which a matrix is treated as dense, and the largest size for that."""
_WORST_RESIDUAL = 1e-4
"""Largest relative residual of a direction; above it the matrix is singular in double precision."""


class NewtonSystem:
    """H = diag(by_z) + diag(by_f)·J, one element of the generalised Jacobian of Φ."""

    def __init__(self, jacobian: sp.csr_array, by_z: Floats, by_f: Floats) -> None:
        self._by_z = by_z
        self._known = by_f == 0.0  # rows that determine their component of d directly
        self._matrix: Any
        if _as_dense(jacobian):
            self._matrix = by_f[:, None] * jacobian.toarray()
            self._matrix[np.diag_indices(len(by_z))] += by_z
        else:
            rows = jacobian.copy()
            rows.data *= np.repeat(by_f, np.diff(rows.indptr))
            self._matrix = (rows + sp.diags_array(by_z, format="csr")).tocsc()

    def gradient(self, phi: Floats) -> Floats:
        """Hᵀφ."""
        found: Floats = self._matrix.T @ phi
        return found

    def column_lengths(self) -> Floats:
        """Euclidean lengths of the columns of H."""
        found: Floats = np.sqrt(np.asarray((self._matrix * self._matrix).sum(axis=0)).ravel())
        return found

    def direction(self, phi: Floats) -> Floats | None:
        """d with H d = −φ; None if H is singular."""
        try:
            if isinstance(self._matrix, np.ndarray):
                found: Floats = np.asarray(np.linalg.solve(self._matrix, -phi), dtype=np.float64)
            else:
                found = self._sparse_direction(phi)
        except (np.linalg.LinAlgError, RuntimeError):
            return None
        left = np.abs(self._matrix @ found + phi).max(initial=0.0)
        return found if left <= _WORST_RESIDUAL * np.abs(phi).max(initial=0.0) else None

    def _sparse_direction(self, phi: Floats) -> Floats:
        """The same after elimination of known components: an active set can be most of the variables."""
        found = np.zeros(len(phi))
        found[self._known] = -phi[self._known] / self._by_z[self._known]
        unknown = np.flatnonzero(~self._known)
        if len(unknown):
            rest = -(phi + self._matrix @ found)[unknown]
            part = (
                self._matrix
                if len(unknown) == len(phi)
                else self._matrix[:, unknown].tocsr()[unknown].tocsc()
            )
            found[unknown] = _solved(part, rest)
        return found

    def damped_direction(self, phi: Floats, damping: float, free: NDArray[np.bool_]) -> Floats | None:
        """d that minimises ‖H d + φ‖² + damping·‖d‖², zero for fixed variables; None if it cannot be found.

        HᵀH is never formed: near a singular solution its rounding would exceed Φ.
        """
        part = self._matrix[:, free]
        count = part.shape[1]
        found = np.zeros(len(phi))
        wanted = np.concatenate([-phi, np.zeros(count)])
        try:
            if isinstance(part, np.ndarray):
                stacked = np.vstack([part, np.sqrt(damping) * np.eye(count)])
                found[free] = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
            else:
                rows = [[-sp.eye_array(len(phi)), part], [part.T, damping * sp.eye_array(count)]]
                found[free] = _solved(sp.block_array(rows, format="csc"), wanted)[len(phi) :]
        except (np.linalg.LinAlgError, RuntimeError):
            return None
        return found if np.isfinite(found).all() else None


def _as_dense(matrix: sp.csr_array) -> bool:
    size = matrix.shape[0]
    return bool(size <= _DENSE or (size <= _MOST_FULL and matrix.nnz > _FULL * size**2))


def _solved(matrix: sp.csc_array, right: Floats) -> Floats:
    """Solve a sparse system; raise RuntimeError if it is singular.

    For structurally singular matrices SuperLU calls BLAS with wrong sizes, which prints messages.
    """
    if csgraph.structural_rank(matrix) < len(right):
        raise RuntimeError("the matrix is structurally singular")
    found: Floats = sparse_linalg.splu(matrix).solve(right)
    return found
