"""Lemke's method on the linear complementarity problem of a polyhedral friction law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import whole
from nonsmooth.complementarity.kernels import lemke as kernels
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.residuals import JOINT
from nonsmooth.solvers.base import Goal, Iteration, Solver

_STARTS = 6
"""Covering vectors that are tried."""
_FAR = 1e3
"""Bounds beyond so many times the free velocities (all in √J) are taken for that much at first: impulses
counted from a bound so far off would lose their digits."""


@dataclass(frozen=True)
class Lemke(Solver):
    """Complementary pivoting, exact up to rounding, for small problems; the law's option is the sides.

    For `pyramid(m)`, and for `coulomb` where every contact is planar (its cone is a polygon already):

        0 ≤ γ_n ⟂ u_n ≥ 0,   0 ≤ β ⟂ λ e + dᵀu_t ≥ 0,   0 ≤ λ ⟂ μ γ_n − eᵀβ ≥ 0,   γ_t = d β

    with m directions d. For `relaxed` with planar contacts: 0 ≤ β ⟂ Rᵀ(Nγ + q) ≥ 0, γ = R β with the
    two edges R of each cone. Joint rows without bounds are eliminated first. One with bounds is

        λ = lower + y,   0 ≤ y ⟂ w + ν ≥ 0,   0 ≤ ν ⟂ upper − lower − y ≥ 0

    with its velocity w, without ν where upper is infinite, and mirrored where lower is.
    """

    name: ClassVar[str] = "lemke"
    summary: ClassVar[str] = "Lemke's pivoting for the pyramid law and for planar contacts (small problems)"
    laws: ClassVar[tuple[str, ...]] = ("pyramid", "coulomb", "relaxed")
    default_iterations: ClassVar[int] = 20_000
    in_one_call: ClassVar[bool] = True

    max_unknowns: int = 3000
    """Most unknowns of the linear complementarity problem that are accepted: the tableau is dense."""

    def __post_init__(self) -> None:
        whole("Lemke", "max_unknowns", self.max_unknowns, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise for round cones and for problems that are too large."""
        super().check(problem)
        if problem.law.name != "pyramid" and np.any(problem.cones.friction[problem.components_are(3)] > 0.0):
            raise UnsupportedError(
                f"lemke solves polyhedral cones, and this problem has round ones (law {problem.law}): "
                "use problem.with_law('pyramid(8)'), or another solver"
            )
        unknowns = lemke_unknowns(problem)
        if unknowns > self.max_unknowns:
            raise UnsupportedError(
                f"lemke would need a dense tableau for {unknowns} unknowns "
                f"(max_unknowns={self.max_unknowns}): "
                "use apgd for large pyramids"
            )

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem; pivoting has no use for the start."""
        return _LemkeIteration(problem, start, goal)


class _Directions:
    """Directions of each contact's friction polygon in its tangent plane."""

    def __init__(self, problem: ContactProblem) -> None:
        self.contact: list[int] = []
        self.vector: list[tuple[float, float]] = []
        for i in range(problem.contacts):
            if problem.cones.friction[i] == 0.0:
                continue
            sides = problem.law.sides if problem.components[i] == 3 else 2
            for k in range(sides):
                angle = 2.0 * np.pi * k / sides
                self.contact.append(i)
                self.vector.append((float(np.cos(angle)), float(np.sin(angle)) if sides > 2 else 0.0))
        self.rough = sorted(set(self.contact))
        self.unknowns = problem.contacts + len(self.contact) + len(self.rough)


def lemke_unknowns(problem: ContactProblem) -> int:
    """Size of the linear complementarity problem of an exact law."""
    return _Directions(problem).unknowns + int(np.isfinite(problem.joint_bounds).sum())


class _LemkeIteration(Iteration):
    def __init__(self, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.x = start

    @property
    def impulses(self) -> Floats:
        return self.x

    def advance(self, count: int, stop: float) -> int:
        problem, layout = self.problem, self.problem.layout
        root = np.sqrt(problem.cones.weight.ravel()[layout.slot])
        matrix = root[:, None] * problem.operator.matrix().toarray() * root
        q = root * layout.unpad(problem.free_blocks)
        held = np.isin(layout.slot // 3, np.flatnonzero(problem.cones.free == JOINT))
        rows, joints = np.flatnonzero(~held), np.flatnonzero(held)
        across = matrix[np.ix_(rows, joints)]
        inner = np.linalg.pinv(matrix[np.ix_(joints, joints)], rcond=1e-12, hermitian=True)
        reduced = matrix[np.ix_(rows, rows)] - across @ inner @ matrix[np.ix_(joints, rows)]
        right = q[rows] - across @ inner @ q[joints]
        bounds = problem.joint_bounds[np.isfinite(problem.joint_bounds).any(axis=1)]
        bounds = bounds / root[rows[layout.contact_rows :], None]
        far = _FAR * float(np.abs(right).max(initial=0.0))
        near = np.where(np.isfinite(bounds), np.clip(bounds, -far, far), bounds)

        def pivot(bounds: Floats, limit: int) -> int:
            offset, maps, lcp, lcp_right = _with_bounds(problem, bounds, reduced, right)
            scale = max(float(np.abs(lcp_right).max(initial=0.0)), 1e-300)

            def impulses(z: Floats) -> Floats:
                flat = np.empty(layout.rows)
                flat[rows] = offset + maps @ _polish(lcp, lcp_right, scale * z)
                flat[joints] = -inner @ (q[joints] + matrix[np.ix_(joints, rows)] @ flat[rows])
                return layout.pad(root * flat)

            return self._pivot(lcp, lcp_right / scale, impulses, limit)

        used = pivot(near, count)
        if used < count and self.residual() > self.goal.tolerance and np.any(near != bounds):
            used += pivot(bounds, count - used)
        return used

    def _pivot(self, lcp: Floats, right: Floats, impulses: Callable[[Floats], Floats], limit: int) -> int:
        """Lemke's method from several covering vectors: the first is all ones, the others are random.

        In exact arithmetic the first one decides, and a ray means that there is no solution; with
        rounding another path often gets there. The best answer stays.
        """
        if len(right) == 0:  # joints alone: a linear system
            self.x = impulses(right)
            self.own_residual = self.residual() * self.problem.scales.total
            self.outcome = Status.FAILED
            return 1
        generator = np.random.default_rng(0)
        cover, pivots, best = np.ones(len(right)), 0, self.residual()
        for start in range(_STARTS):
            z, used, outcome = kernels.lemke(lcp, right, cover, limit - pivots)
            pivots += max(int(used), 1)
            if outcome == kernels.SOLVED:
                x = impulses(z)
                residual = self.residual_of(x)
                if residual < best:
                    self.x, best = x, residual
            self.note = f"{len(right)} unknowns, {pivots} pivots from {start + 1} starts"
            if best <= self.goal.tolerance or pivots >= limit:
                break
            cover = generator.uniform(1.0, 2.0, len(right))
        self.own_residual = best * self.problem.scales.total
        self.outcome = Status.FAILED if pivots < limit else None
        return pivots


def _with_bounds(
    problem: ContactProblem, bounds: Floats, matrix: Floats, right: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (a, R, M, q): (γ, λ) = a + R z with 0 ≤ z ⟂ M z + q ≥ 0, λ within its `bounds` (rows, 2).

    z holds the contacts' unknowns, then y of every row, then ν of the rows with two finite bounds.
    """
    contacts, rows = problem.layout.contact_rows, len(bounds)
    edges, own, own_right = _complementarity(problem, matrix[:contacts, :contacts], right[:contacts])
    if rows == 0:
        return np.zeros(contacts), edges, own, own_right
    size, twice = edges.shape[1], np.flatnonzero(np.isfinite(bounds).all(axis=1))
    mirrored = np.isinf(bounds[:, 0])
    start, sign = np.where(mirrored, bounds[:, 1], bounds[:, 0]), np.where(mirrored, -1.0, 1.0)
    offset = np.concatenate([np.zeros(contacts), start])
    maps = np.zeros((contacts + rows, size + rows + len(twice)))
    maps[:contacts, :size] = edges
    y = size + np.arange(rows)
    maps[contacts + np.arange(rows), y] = sign
    nu = size + rows + np.arange(len(twice))
    lcp = maps.T @ matrix @ maps
    lcp[:size, :size] = own  # what couples the unknowns of a contact is there too
    lcp[y[twice], nu], lcp[nu, y[twice]] = 1.0, -1.0
    lcp_right = maps.T @ (right + matrix @ offset)
    lcp_right[nu] = bounds[twice, 1] - bounds[twice, 0]
    return offset, maps, lcp, lcp_right


def _complementarity(problem: ContactProblem, matrix: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (R, M, q): γ = R z with 0 ≤ z ⟂ M z + q ≥ 0."""
    first = np.cumsum(problem.components) - problem.components
    directions = _Directions(problem)
    friction = problem.cones.friction
    if problem.law.name == "relaxed":
        edges = np.zeros((len(right), problem.contacts + len(directions.rough)))
        edges[first, np.arange(problem.contacts)] = 1.0
        for k, i in enumerate(directions.rough):
            edges[first[i] + 1, i] = friction[i]
            edges[first[i], problem.contacts + k] = 1.0
            edges[first[i] + 1, problem.contacts + k] = -friction[i]
        return edges, edges.T @ matrix @ edges, edges.T @ right
    forces = np.zeros((len(right), directions.unknowns))
    forces[first, np.arange(problem.contacts)] = 1.0
    lcp = np.zeros((directions.unknowns, directions.unknowns))
    slack = {i: problem.contacts + len(directions.contact) + k for k, i in enumerate(directions.rough)}
    for k, (i, vector) in enumerate(zip(directions.contact, directions.vector, strict=True)):
        column = problem.contacts + k
        forces[first[i] + 1, column] = vector[0]
        if problem.components[i] == 3:
            forces[first[i] + 2, column] = vector[1]
        lcp[column, slack[i]] = 1.0
        lcp[slack[i], column] = -1.0
        lcp[slack[i], i] = friction[i]
    active = np.asarray(forces.any(axis=0))
    lcp += np.where(active[:, None] & active[None, :], forces.T @ matrix @ forces, 0.0)
    return forces, lcp, forces.T @ right


def _polish(matrix: Floats, right: Floats, z: Floats) -> Floats:
    """Solve the final basis once more, so that the rounding of many pivots does not stay in the answer."""
    basic = z > 0.0
    if not basic.any():
        return z
    part = matrix[np.ix_(basic, basic)]
    better = z.copy()
    better[basic] -= np.linalg.lstsq(part, part @ z[basic] + right[basic], rcond=1e-12)[0]
    return better if better.min() >= 0.0 else z
