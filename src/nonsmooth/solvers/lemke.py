"""Lemke's method on the linear complementarity problem of a polyhedral friction law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import whole
from nonsmooth.complementarity.problem import LCP
from nonsmooth.complementarity.solvers.lemke import Lemke as PointLemke
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.goal import Goal as PointGoal
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver

_POINT_LEMKE = PointLemke()
_FAR = 1e3
"""Bounds above this multiple of the free velocities (all in √J) are first replaced by it: impulses measured
from such a distant bound would lose digits."""


@dataclass(frozen=True)
class Lemke(Solver):
    """Complementary pivoting, exact up to rounding, for small problems; the law's option is the sides.

    For `pyramid(m)`, and for `coulomb` where every contact is planar (its cone is a polygon already):

        0 ≤ γ_n ⟂ u_n ≥ 0,   0 ≤ β ⟂ λ e + dᵀu_t ≥ 0,   0 ≤ λ ⟂ μ γ_n − eᵀβ ≥ 0,   γ_t = d β

    with m directions d. For `relaxed` with planar contacts: 0 ≤ β ⟂ Rᵀ(Nγ + q) ≥ 0, γ = R β with the
    two edges R of each cone. Joint rows are lower ≤ λ ≤ upper ⟂ w with their velocity w. The pivoting
    is that of `nonsmooth.complementarity.Lemke`, which eliminates rows without bounds first.
    """

    name: ClassVar[str] = "lemke"
    summary: ClassVar[str] = "Lemke's pivoting for the pyramid law and for planar contacts (small problems)"
    laws: ClassVar[tuple[str, ...]] = ("pyramid", "coulomb", "relaxed")
    default_iterations: ClassVar[int] = 20_000
    in_one_call: ClassVar[bool] = True

    max_unknowns: int = 3000
    """Largest number of unknowns of the linear complementarity problem: the tableau is dense."""

    def __post_init__(self) -> None:
        whole("Lemke", "max_unknowns", self.max_unknowns, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise for round cones and for problems that are too large."""
        super().check(problem)
        if problem.law.name != "pyramid" and np.any(problem.cones.friction[problem.components_are(3)] > 0.0):
            raise UnsupportedError(
                f"lemke supports polyhedral cones only, and this problem has round ones (law {problem.law}): "
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
        """Start on a problem; pivoting ignores the start."""
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
        """Pivot from several covering vectors until the residual is within the tolerance."""
        linear = _LinearProblem(self.problem)
        best, pivots = self.residual(), 0
        for bounds in linear.bounds():
            if best <= self.goal.tolerance:
                break
            work = _POINT_LEMKE.begin(
                linear.of(bounds), np.zeros(linear.size), PointGoal(self.goal.tolerance)
            )
            while best > self.goal.tolerance and work.outcome is None and pivots < count:
                pivots += work.advance(count - pivots, stop)
                residual = self.residual_of(x := linear.impulses(work.point))
                if residual < best:
                    self.x, best = x, residual
            self.note = f"{pivots} pivots, {work.note}"
        self.own_residual = best * self.problem.scales.total
        self.outcome = Status.FAILED if pivots < count else None
        return max(pivots, 1)


class _LinearProblem:
    """0 ≤ z ⟂ M z + q ≥ 0 for the unknowns of the contacts, l ≤ λ ≤ u ⟂ w for joint rows; all of size one."""

    def __init__(self, problem: ContactProblem) -> None:
        layout, contacts = problem.layout, problem.layout.contact_rows
        self._problem = problem
        self._root = np.sqrt(problem.cones.weight.ravel()[layout.slot])
        matrix = self._root[:, None] * problem.operator.matrix().toarray() * self._root
        right = self._root * layout.unpad(problem.free_blocks)
        edges, own, own_right = _complementarity(problem, matrix[:contacts, :contacts], right[:contacts])
        self._edges, self._contacts = edges, edges.shape[1]
        across = edges.T @ matrix[:contacts, contacts:]
        back = matrix[contacts:, :contacts] @ edges
        self._matrix = np.block([[own, across], [back, matrix[contacts:, contacts:]]])
        self._right = np.concatenate([own_right, right[contacts:]])
        self.size = len(self._right)
        self._scale = max(float(np.abs(self._right).max(initial=0.0)), 1e-300)

    def bounds(self) -> Iterator[Floats]:
        """Bounds of the joint rows (rows, 2); first with distant ones replaced by nearer ones."""
        root = self._root[self._problem.layout.contact_rows :, None]
        given = self._problem.joint_bounds / (self._scale * root)
        near = np.where(np.isfinite(given), np.clip(given, -_FAR, _FAR), given)
        yield near
        if np.any(near != given):
            yield given

    def of(self, bounds: Floats) -> LCP:
        """The problem with these bounds of the joint rows."""
        none = np.zeros(self._contacts)
        lower, upper = np.concatenate([none, bounds[:, 0]]), np.concatenate([none + np.inf, bounds[:, 1]])
        return LCP(self._matrix, self._right / self._scale, lower=lower, upper=upper)

    def impulses(self, z: Floats) -> Floats:
        """Impulses (blocks, 3) of a point."""
        flat = np.concatenate([self._edges @ z[: self._contacts], z[self._contacts :]])
        return self._problem.layout.pad(self._root * (self._scale * flat))


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
