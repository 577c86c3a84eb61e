"""Stability of springs and dampers, whose forces are evaluated at the beginning of a step.

If x is a coordinate with the mass m, stiffness k and damping c, symplectic Euler is stable if
h² k/m + 2 h c/m ≤ 4 (Jury's criterion for  v⁺ = v − h (k x + c v)/m ,  x⁺ = x + h v⁺). For many coordinates
with the matrices K and C the same holds along every complex mode, so that

    λ_max(M⁻¹ (h² K + 2 h C)) ≤ 4

is sufficient; without damping it is also necessary. Only motions that the joints allow count: M⁻¹ stands for
M⁻¹ − M⁻¹Gᵀ (G M⁻¹ Gᵀ)⁻¹ G M⁻¹ with the bilateral rows G. Changes of a spring's direction are neglected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.lazy import sparse_linalg
from nonsmooth.model.bodies import Bodies

_LIMIT = 4.0
_DENSE = 60
"""Largest number of elements for which eigenvalues are computed from the dense matrix."""
_REGULAR = 1e-10
"""Relative regularisation of joint rows, which may be redundant."""
_ACCURACY = 1e-3
"""Relative accuracy of the eigenvalue by iteration."""
_TRIALS = 30
"""Largest number of iterations in the search for the longest stable step; a few are enough."""


class Gradients(NamedTuple):
    """Derivatives of coordinates: bodies (r, 2), −1 for the ground, and rows (r, 2, 6)."""

    bodies: Integers
    rows: Floats


class Unstable(NamedTuple):
    """The element with the largest part in the fastest motion, and the longest stable step in s."""

    element: int
    step: float


def first_unstable(
    system: Bodies, elements: Gradients, stiffness: Floats, damping: Floats, joints: Gradients, step: float
) -> Unstable | None:
    """Return the instability at a step (s), None if it is stable.

    `stiffness` (e,) is in N/m or N·m/rad and `damping` (e,) in N·s/m or N·m·s/rad.
    """

    def weight(h: float) -> Floats:
        return np.asarray(np.sqrt(h * h * stiffness + 2.0 * h * damping))

    scaled, scaled_joints = _scaled(system, elements), _scaled(system, joints)
    s = sp.diags_array(weight(step))
    bound = abs(s @ (scaled @ scaled.T) @ s).sum(axis=1)
    if float(np.max(bound, initial=0.0)) <= _LIMIT:  # larger than every eigenvalue, also without joints
        return None
    apply = _compliance(scaled, scaled_joints)
    largest, mode = _largest(apply, weight(step))
    if largest <= _LIMIT:
        return None
    element, longest = int(np.argmax(np.abs(mode))), step
    for _ in range(_TRIALS):
        if largest <= _LIMIT * (1.0 + _ACCURACY):
            break
        # In the motion of this mode, of kinetic energy ½, κ h² + 2 γ h ≤ 4 is needed; others may need less.
        stretch = apply(weight(longest) * mode) ** 2 / largest
        kappa, gamma = float(stiffness @ stretch), float(damping @ stretch)
        longest = _LIMIT / (gamma + math.sqrt(gamma * gamma + _LIMIT * kappa))
        largest, mode = _largest(apply, weight(longest))
    return Unstable(element, longest * min(1.0, _LIMIT / largest))


def _scaled(system: Bodies, gradients: Gradients) -> sp.csr_array:
    """Return the derivatives (r, 6 n) times M^(−1/2); zero for fixed bodies."""
    r = len(gradients.bodies)
    bodies = np.maximum(gradients.bodies, 0)
    moves = (gradients.bodies >= 0) & ~system.fixed[bodies]
    moving, derivative, entries = bodies[moves], gradients.rows[moves], np.zeros((r, 2, 6))
    root = np.linalg.cholesky(system.inertia[moving])
    linear = derivative[:, :3] / np.sqrt(system.mass[moving])[:, None]
    angular = np.linalg.solve(root, derivative[:, 3:, None])[:, :, 0]
    entries[moves] = np.concatenate([linear, angular], axis=1)
    column = 6 * bodies[:, :, None] + np.arange(6)
    row_index = np.broadcast_to(np.arange(r)[:, None, None], (r, 2, 6))
    shape = (r, 6 * system.count)
    return sp.csr_array((entries.ravel(), (row_index.ravel(), column.ravel())), shape=shape)


def _compliance(elements: sp.csr_array, joints: sp.csr_array) -> Callable[[Floats], Floats]:
    """Return the accelerations of the coordinates by forces (e,) on them, subject to the joints."""
    if joints.shape[0] == 0:
        return lambda force: np.asarray(elements @ (elements.T @ force))
    product = sp.csc_array(joints @ joints.T)
    size = product.diagonal()
    inverse = sparse_linalg.splu(
        product + _REGULAR * sp.diags_array(np.where(size > 0.0, size, 1.0), format="csc")
    )

    def apply(force: Floats) -> Floats:
        free = elements.T @ force
        return np.asarray(elements @ (free - joints.T @ inverse.solve(joints @ free)))

    return apply


def _largest(apply: Callable[[Floats], Floats], weight: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of S W S with S = diag(weight), and its vector."""
    e = len(weight)

    def product(x: Floats) -> Floats:
        return weight * apply(weight * x.ravel())

    if e <= _DENSE:
        full = np.array([product(unit) for unit in np.eye(e)])
        values, vectors = np.linalg.eigh(0.5 * (full + full.T))
        return float(values[-1]), vectors[:, -1]
    start = np.random.default_rng(0).standard_normal(e)
    operator = sparse_linalg.LinearOperator((e, e), matvec=product, dtype=np.float64)
    values, vectors = sparse_linalg.eigsh(operator, k=1, which="LA", v0=start, tol=_ACCURACY)
    return float(values[0]), vectors[:, 0]
