"""A quadratic, not necessarily convex, and its minimisation on a box without forming its matrix.

The method is QUACAN of Friedlander and Martínez (SIAM J. Optim. 4, 1994) and Bielschowsky et al. (1997):
conjugate gradients inside a face of the box; a face is left when the chopped gradient outweighs the gradient
inside it; directions of negative curvature are followed to the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.kernels import quadratic_box as kernels
from nonsmooth.complementarity.kernels.quadratic_box import SparseRows

NO_ROWS = SparseRows(np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0))


def rows_of(matrix: Any) -> SparseRows:
    """The rows of a sparse or dense matrix."""
    rows = sp.csr_array(matrix, dtype=float)
    return SparseRows(rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)


@dataclass(frozen=True)
class Quadratic:
    """q(p) = gᵀp + ½ pᵀHp with H = JᵀJ + S, stored as J and S, either of which may be omitted."""

    gradient: Floats
    """g (n,)."""
    jacobian: SparseRows = NO_ROWS
    """J (m, n)."""
    symmetric: SparseRows = NO_ROWS
    """S (n, n), both triangles."""

    @property
    def hessian(self) -> tuple[SparseRows, SparseRows]:
        """J and S in the form for the kernels."""
        return self.jacobian, self.symmetric

    @cached_property
    def metric(self) -> Floats:
        """Inverse of the diagonal of H, the preconditioner, with zeros replaced by a small number."""
        found = np.empty(len(self.gradient))
        kernels.diagonal(self.hessian, found)
        largest = float(found.max(initial=0.0))
        return 1.0 / np.maximum(found, 1e-12 * largest) if largest > 0.0 else np.ones_like(found)

    def product(self, vector: Floats) -> Floats:
        """Hv."""
        out = np.empty_like(vector)
        kernels.multiply(self.hessian, vector, out)
        return out

    def value(self, step: Floats) -> float:
        """q(p)."""
        return float(self.gradient @ step + 0.5 * step @ self.product(step))


def default_products(size: int) -> int:
    """Limit of products for one quadratic of so many variables."""
    return min(20 * size + 2000, 50_000)


@dataclass(frozen=True)
class QuadraticMinimum:
    """Result of the minimisation of a quadratic on a box."""

    step: Floats
    """p, within the box."""
    change: float
    """q(p), not positive."""
    iterations: int
    """Iterations, ItQua of the paper's tables."""
    products: int
    """Products with H, MVP of the paper's tables."""
    converged: bool
    """Whether the projected gradient reached the accuracy."""


def minimise_quadratic(
    quadratic: Quadratic,
    lower: Floats,
    upper: Floats,
    *,
    accuracy: float = 1e-8,
    leave: float = 2.0,
    max_products: int | None = None,
) -> QuadraticMinimum:
    """Minimise a quadratic on a box that contains p = 0, starting there.

    Args:
        quadratic: q.
        lower: lower bounds of p, none positive; finite if q may have negative curvature.
        upper: upper bounds of p, none negative; finite likewise.
        accuracy: relative length of the projected gradient, compared with the start, at which to end.
        leave: ratio of the chopped gradient to the gradient inside a face above which the face is left.
        max_products: limit of products with H; 20 n + 2000, but no more than 50,000, unless given.

    Returns:
        A stationary point of q on the box, to the accuracy; the minimum if q is convex.
    """
    limit = default_products(len(lower)) if max_products is None else max_products
    return QuadraticMinimum(
        *kernels.minimise(
            quadratic.hessian, quadratic.gradient, lower, upper, quadratic.metric, accuracy, leave, limit
        )
    )
