"""Cones and proximal maps, for arrays of contacts, and the set-valued laws as membership tests.

All functions take points in the last axis: (n,), (n, t) or (n, t1, t2) for cones; one or two
tangential components for disks. They have no units: results are in the units of the arguments.
Equation numbers are those of Studer and Glocker (2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.problem.kernels import cones as kernels


def _padded(points: ArrayLike, width: int) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Return the points, the same as rows of `width` components (zeros added), and the leading shape."""
    x = np.asarray(points, dtype=float)
    if x.ndim == 0 or not 1 <= x.shape[-1] <= width:
        raise ProblemError(
            f"points have shape {x.shape}: the last axis must hold 1 to {width} components of a contact"
        )
    rows = np.zeros((int(np.prod(x.shape[:-1])), width))
    rows[:, : x.shape[-1]] = x.reshape(len(rows), x.shape[-1])
    return x, rows, x.shape[:-1]


def _per_row(value: ArrayLike, leading: tuple[int, ...], name: str) -> Floats:
    given = np.asarray(value, dtype=float)
    if np.any(given < 0.0) or not np.all(np.isfinite(given)):
        raise ProblemError(f"{name} must be finite and not negative")
    try:
        return np.ascontiguousarray(np.broadcast_to(given, leading)).ravel()
    except ValueError:
        raise ProblemError(
            f"{name} has shape {given.shape} for points of shape {leading}: give one number, or one per point"
        ) from None


def project_cone(points: ArrayLike, friction: ArrayLike, sides: int = 0) -> Floats:
    """Nearest points of the friction cones |x_t| ≤ μ x_n; with `sides`, of the inscribed pyramids."""
    if sides != 0 and sides < 3:
        raise ProblemError(f"sides is {sides}: a pyramid has at least 3 sides, and 0 means the round cone")
    x, rows, leading = _padded(points, 3)
    out = np.empty_like(rows)
    kernels.project_cones(rows, _per_row(friction, leading, "friction"), sides, out)
    return out[:, : x.shape[-1]].reshape(x.shape)


def project_polar_cone(points: ArrayLike, friction: ArrayLike) -> Floats:
    """Nearest points of the polar cones x_n ≤ −μ |x_t|."""
    x, rows, leading = _padded(points, 3)
    out = np.empty_like(rows)
    kernels.project_polar_cones(rows, _per_row(friction, leading, "friction"), out)
    return out[:, : x.shape[-1]].reshape(x.shape)


def project_dual_cone(points: ArrayLike, friction: ArrayLike) -> Floats:
    """Nearest points of the dual cones x_n ≥ μ |x_t|, where the (tilted) contact velocities live."""
    return -project_polar_cone(-np.asarray(points, dtype=float), friction)


def project_half_line(points: ArrayLike) -> Floats:
    """prox of the half line x ≥ 0 (Eq. 21)."""
    return np.asarray(np.maximum(np.asarray(points, dtype=float), 0.0))


def project_box(points: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Floats:
    """Nearest points of the box lower ≤ x ≤ upper."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if np.any(low > high):
        raise ProblemError("lower is above upper: the box is empty")
    return np.asarray(np.minimum(np.maximum(np.asarray(points, dtype=float), low), high))


def project_disk(points: ArrayLike, radius: ArrayLike) -> Floats:
    """prox of the disk |x| ≤ radius (Eq. 22); with one component, of the interval."""
    x, rows, leading = _padded(points, 2)
    out = np.empty_like(rows)
    kernels.project_disks(rows, _per_row(radius, leading, "radius"), out)
    return out[:, : x.shape[-1]].reshape(x.shape)


def kappa_disk(points: ArrayLike, r: ArrayLike, radius: ArrayLike) -> Floats:
    """κ_S(ξ, r) of Eq. 23: ξ shortened by r·radius, and zero where ξ/r lies in the disk.

    r is one number or one per point. Identity (130): κ_S(ξ, r) = ξ − prox_{rS}(ξ).
    """
    given = np.asarray(r, dtype=float)
    if not np.all(given > 0.0):
        raise ProblemError(f"r = {given}: the factor of κ_S must be positive")
    x, _, leading = _padded(points, 2)
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    reach = (_per_row(given, leading, "r") * _per_row(radius, leading, "radius")).reshape(leading)[..., None]
    outside = length > reach
    direction = np.divide(x, length, out=np.zeros_like(x), where=length > 0.0)
    return np.where(outside, x - reach * direction, 0.0)


def regularised_normal(velocity: ArrayLike, offset: ArrayLike, r: ArrayLike) -> Floats:
    """λ = prox(λ* − r γ̇) on the half line λ ≥ 0: Upr as a line of slope −r through λ* at γ̇ = 0 (Eq. 109).

    The regularised and the set-valued law agree at the points with λ = λ* (Eq. 112).
    """
    return project_half_line(np.asarray(offset, dtype=float) - np.asarray(r) * np.asarray(velocity))


def regularised_friction(velocity: ArrayLike, offset: ArrayLike, r: ArrayLike, radius: ArrayLike) -> Floats:
    """λ = prox_S(λ* − r γ̇) on the disk |λ| ≤ radius: friction as a law of slope −r (Fig. 10).

    `velocity` and `offset` have one or two components in the last axis, and r broadcasts to them.
    """
    return project_disk(np.asarray(offset, dtype=float) - np.asarray(r) * np.asarray(velocity), radius)


def in_upr(minus_force: ArrayLike, velocity: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Return where −λ ∈ Upr(γ̇) holds (Eq. 2): no pull, no approach, and one of the two is zero."""
    force, speed = -np.asarray(minus_force, dtype=float), np.asarray(velocity, dtype=float)
    no_pull_no_approach = (force >= -tolerance) & (speed >= -tolerance)
    return np.asarray(no_pull_no_approach & (np.minimum(force, speed) <= tolerance))


def in_sgn_sp(
    minus_force: ArrayLike, velocity: ArrayLike, radius: ArrayLike, tolerance: float = 0.0
) -> NDArray[np.bool_]:
    """Return where −λ ∈ a SgnSp(γ̇) holds (Eq. 5): |λ| ≤ a, and λ = −a γ̇/|γ̇| if it slides."""
    force, speed = -np.asarray(minus_force, dtype=float), np.asarray(velocity, dtype=float)
    bound = np.asarray(radius, dtype=float)
    length = np.linalg.norm(speed, axis=-1)
    admissible = np.linalg.norm(force, axis=-1) <= bound + tolerance
    direction = np.divide(speed, length[..., None], out=np.zeros_like(speed), where=length[..., None] > 0.0)
    opposed = np.linalg.norm(force + bound[..., None] * direction, axis=-1) <= tolerance
    return np.asarray(admissible & np.isfinite(length) & ((length <= tolerance) | opposed))
