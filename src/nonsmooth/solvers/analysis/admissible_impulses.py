"""Admissible impulses at given velocities: a convex set for every contact and joint row.

With u given, the law K ∋ γ ⟂ u + s e_n ∈ K* leaves for a contact

- zero, if it opens;
- a ray, if it slides: friction opposes u_t, in the ratio μ to the normal impulse; under a pyramid, the
  polygon's corner of largest dissipation, or a wedge between two corners of equal dissipation;
- its whole cone, if it is at rest.

A joint row is free; one with bounds is at its lower bound if u > 0, at its upper one if u < 0, else between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.problem.cones import project_cone
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.residuals import BOUNDED

_PROBE = 1e-7
"""Relative distance over which a pyramid's projection, which is piecewise linear, is differentiated."""


@dataclass(frozen=True, eq=False)
class Faces:
    """The sets of all blocks; contacts in none of them are open."""

    rays: Integers
    """Contacts with a ray."""
    direction: Floats
    """Unit vectors of the rays, (rays, 3)."""
    wedges: Integers
    """Contacts with a wedge between two rays."""
    corners: Floats
    """Unit vectors of the wedges, (wedges, 2, 3)."""
    sticking: Integers
    """Contacts with their whole cone."""
    friction: Floats
    """μ of every block."""
    sides: int
    """Sides of the law's pyramid; 0 for a round cone."""
    bounded: Integers
    """Blocks of joint rows with bounds."""
    lower: Floats
    upper: Floats
    """Bounds of these rows, in N·s."""
    contacts: Integers
    """All contacts."""

    @classmethod
    def of(cls, problem: ContactProblem, x: Floats, rest: float) -> Faces:
        """Find the sets from impulses (blocks, 3); weighted velocities up to `rest` times the scale are zero.

        The scale is the certificate's, and both are in √J.
        """
        cones, contacts = problem.cones, problem.contacts
        u = problem.operator.apply(x) + problem.free_blocks
        none = rest * problem.scales.per_block / np.sqrt(cones.weight[:, 0])
        still, mu = none[:contacts], cones.friction[:contacts]
        speed = np.hypot(u[:contacts, 1], u[:contacts, 2])
        lift = 0.0 if problem.law.exact else mu * speed  # u_n of a contact that slides
        lifted = u[:contacts, 0] - lift
        closed, moves = lifted <= still, (speed > still) & (mu > 0.0)
        plain, sliding = np.flatnonzero(closed & (mu == 0.0)), np.flatnonzero(closed & moves)
        angle = np.arctan2(-u[sliding, 2], -u[sliding, 1])
        angle, other, tied = _corners(angle, speed[sliding] * mu[sliding], still[sliding], problem.law.sides)
        first, second = _slopes(mu[sliding], angle), _slopes(mu[sliding], other)
        bounded = np.flatnonzero(cones.free == BOUNDED)
        row = u[bounded, 0]
        return cls(
            np.concatenate([plain, sliding[~tied]]),
            np.concatenate([np.tile([1.0, 0.0, 0.0], (len(plain), 1)), first[~tied]]),
            sliding[tied],
            np.stack([first[tied], second[tied]], axis=1),
            np.flatnonzero(closed & ~moves & (mu > 0.0)),
            cones.friction,
            problem.law.sides,
            bounded,
            np.where(row < -none[bounded], cones.upper[bounded, 0], cones.lower[bounded, 0]),
            np.where(row > none[bounded], cones.lower[bounded, 0], cones.upper[bounded, 0]),
            np.arange(contacts),
        )

    def scaled(self, factor: float) -> Faces:
        """Return the sets for impulses in another unit."""
        return replace(self, lower=factor * self.lower, upper=factor * self.upper)

    def project(self, x: Floats) -> Floats:
        """Nearest points of the sets, (blocks, 3)."""
        out = x.copy()
        out[self.contacts] = 0.0
        out[self.rays] = _on_rays(x[self.rays], self.direction)
        out[self.wedges] = _on_wedges(x[self.wedges], self.corners)
        out[self.sticking] = project_cone(x[self.sticking], self.friction[self.sticking], self.sides)
        out[self.bounded, 0] = np.clip(x[self.bounded, 0], self.lower, self.upper)
        return out

    def derivative(self, x: Floats) -> Any:
        """One element of the projection's generalised derivative at x, sparse (3 blocks, 3 blocks)."""
        blocks = np.broadcast_to(np.eye(3), (len(x), 3, 3)).copy()
        blocks[self.contacts] = 0.0
        ahead = np.einsum("ik,ik->i", x[self.rays], self.direction) > 0.0
        outer = self.direction[:, :, None] * self.direction[:, None, :]
        blocks[self.rays] = np.where(ahead[:, None, None], outer, 0.0)
        blocks[self.wedges] = _probed(lambda points: _on_wedges(points, self.corners), x[self.wedges])
        mu = self.friction[self.sticking]
        if self.sides:
            blocks[self.sticking] = _probed(
                lambda points: project_cone(points, mu, self.sides), x[self.sticking]
            )
        else:
            blocks[self.sticking] = _of_round_cones(x[self.sticking], mu)
        value = x[self.bounded, 0]
        blocks[self.bounded, 0, 0] = (value > self.lower) & (value < self.upper)
        start = np.arange(len(x) + 1)
        return sp.bsr_array((blocks, start[:-1], start), shape=(3 * len(x), 3 * len(x))).tocsr()


def _corners(
    angle: Floats, limit: Floats, still: Floats, sides: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Angles of the polygon's best and second best corners for friction along `angle`, and where they tie.

    `limit` is μ|u_t|: two corners tie if their dissipation differs by less than `still`. A disk has a
    single best point.
    """
    if sides == 0:
        return angle, angle, np.zeros(len(angle), dtype=bool)
    sector = 2.0 * math.pi / sides
    best = sector * np.round(angle / sector)
    across = angle - best
    other = best + np.where(across >= 0.0, sector, -sector)
    return best, other, limit * (np.cos(across) - np.cos(other - angle)) <= still


def _slopes(mu: Floats, angle: Floats) -> Floats:
    """Unit vectors of the cone's edge (1, μ cos φ, μ sin φ)."""
    edge = np.stack([np.ones_like(mu), mu * np.cos(angle), mu * np.sin(angle)], axis=1)
    return np.asarray(edge / np.linalg.norm(edge, axis=1, keepdims=True))


def _on_rays(x: Floats, direction: Floats) -> Floats:
    return np.asarray(np.maximum(np.einsum("ik,ik->i", x, direction), 0.0)[:, None] * direction)


def _on_wedges(x: Floats, corners: Floats) -> Floats:
    """Nearest points of the cones over two unit vectors."""
    first, second = corners[:, 0], corners[:, 1]
    a, b = np.einsum("ik,ik->i", x, first), np.einsum("ik,ik->i", x, second)
    c = np.einsum("ik,ik->i", first, second)
    p, q = (a - c * b) / (1.0 - c * c), (b - c * a) / (1.0 - c * c)
    inside = (p >= 0.0) & (q >= 0.0)
    on_edge = np.where((a >= b)[:, None], _on_rays(x, first), _on_rays(x, second))
    return np.where(inside[:, None], p[:, None] * first + q[:, None] * second, on_edge)


def _of_round_cones(x: Floats, mu: Floats) -> Floats:
    """Derivative of the projection on round cones, (n, 3, 3)."""
    n, t = x[:, 0], np.hypot(x[:, 1], x[:, 2])
    out = np.zeros((len(x), 3, 3))
    inside, outside = t <= mu * n, mu * t <= -n
    out[inside] = np.eye(3)
    edge = np.flatnonzero(~inside & ~outside)
    mu, n, t = mu[edge], n[edge], t[edge]
    share = 1.0 / (1.0 + mu * mu)
    along = np.stack([np.ones_like(mu), mu * x[edge, 1] / t, mu * x[edge, 2] / t], axis=1)
    around = np.stack([np.zeros_like(mu), -x[edge, 2] / t, x[edge, 1] / t], axis=1)
    bend = mu * (n + mu * t) * share / t
    out[edge] = share[:, None, None] * along[:, :, None] * along[:, None, :]
    out[edge] += bend[:, None, None] * around[:, :, None] * around[:, None, :]
    return out


def _probed(project: Callable[[Floats], Floats], x: Floats) -> Floats:
    """Derivative of a piecewise linear projection by differences, (n, 3, 3).

    At a kink the columns belong to different pieces; the symmetric part, limited to eigenvalues in [0, 1], is
    kept.
    """
    out = np.empty((len(x), 3, 3))
    here, reach = project(x), _PROBE * np.maximum(np.linalg.norm(x, axis=1), 1e-9)
    for k in range(3):
        probe = x.copy()
        probe[:, k] += reach
        out[:, :, k] = (project(probe) - here) / (probe[:, k] - x[:, k])[:, None]
    values, vectors = np.linalg.eigh(0.5 * (out + np.swapaxes(out, 1, 2)))
    return np.asarray((vectors * np.clip(values, 0.0, 1.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2))
