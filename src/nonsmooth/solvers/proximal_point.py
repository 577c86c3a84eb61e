"""Proximal points by semismooth Newton steps, island by island."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import positive, whole
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import residuals as residual_kernels
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.parts.semismooth import Equations

_ENOUGH = 0.3
"""|F| of a proximal point, as a fraction of the residual at its centre, at which it is accepted."""
_ROUNDING = 1e-14
"""Relative |F| below which a point is always accepted."""
_EASY, _HARD = 3, 6
"""Numbers of Newton steps for a proximal point: up to the first the radius grows, from the second it
shrinks."""
_GROWN, _SHRUNK, _GIVEN_UP = 2.0, 0.5, 0.25
"""Factors on the radius after an easy point, a hard one, and one that was not found."""
_CLIMB, _DESCENT = 4, 0.3
"""Number of Newton steps after which |F| must stay below this fraction of its largest value: full steps may
increase |F| at first, because F is curved, but then it falls fast or not at all."""
_FULL_STEPS = 2
"""Consecutive points that may fail before Newton's steps are halved, which ends cycles between two kinks."""
_ALPHA = (1e-13, 10.0)
"""Smallest and largest α (dimensionless: N is weighted, with entries of about one)."""
_MORE_PATIENCE = 10
"""Factor on `patience` for zero impulses and every later start in an island."""
_CHUNK_BLOCKS, _NO_TIME = 1_000_000, 2e-3
_MOST_DOUBLINGS = 5
"""Number of times that the sweeps before a new start are doubled."""
_RESTART_SWEEPS = 100
"""Sweeps of the first start that is neither given nor zero; doubled with every further one."""


@dataclass(frozen=True)
class Proximal(Solver):
    """Proximal point method: x ← the solution with N + αI for N and q − αx for q (Siconos calls it PROX).

    Each of these problems is solved by a few semismooth Newton steps from the last point, on Alart and
    Curnier's equations under the exact law and on the natural map under the relaxed one. The steps are full
    ones: if contacts slide, F is so curved that a line search would converge slowly. Instead α is chosen as
    residual/radius, so that points are about `radius` apart, and the radius grows and shrinks with the
    success of Newton. This regularises hyperstatic problems and allows long steps along the directions in
    which N is singular or nearly so, at a nearly constant residual; near the solution α vanishes and the
    steps become Newton's. α is chosen separately for every island of bodies.
    """

    name: ClassVar[str] = "proximal"
    summary: ClassVar[str] = "proximal points by semismooth Newton, for hyperstatic piles and high accuracy"
    default_iterations: ClassVar[int] = 3000

    warm_sweeps: int = 30
    """Gauss-Seidel sweeps at the start; may be 0. Islands that they solve need no factorisation."""
    radius: float = 30.0
    """First distance between proximal points, in multiples of the island's scale S (dimensionless)."""
    newton_steps: int = 10
    """Largest number of Newton steps for one proximal point; then it is rejected and the radius shrinks."""
    patience: int = 100
    """Newton steps in one island after which it is restarted: from zero, later from more and more sweeps.
    Zero and all later starts get ten times as many."""
    max_blocks: int = 5000
    """Largest number of contacts and joint blocks accepted; one sparse factorisation then takes seconds."""

    def __post_init__(self) -> None:
        whole("Proximal", "warm_sweeps", self.warm_sweeps)
        positive("Proximal", "radius", self.radius)
        whole("Proximal", "newton_steps", self.newton_steps, 1)
        whole("Proximal", "patience", self.patience, 1)
        whole("Proximal", "max_blocks", self.max_blocks, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise if a factorisation would take too long."""
        super().check(problem)
        self.check_size(problem, self.max_blocks)

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _ProximalIteration(self, problem, start, goal)


class _ProximalIteration(Iteration):
    """One island after the other, small ones first; an iteration is one Newton step."""

    def __init__(self, solver: Proximal, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.best = start.copy()
        if solver.warm_sweeps and self.residual() > goal.tolerance:
            swept = self._swept(solver.warm_sweeps)
            self.best = swept if np.isfinite(swept).all() else self.best
        self.waiting = self._unsolved(goal.tolerance)
        self.island: Island | None = None
        self.steps = self.points = 0

    @property
    def impulses(self) -> Floats:
        return self.best

    def advance(self, count: int, stop: float) -> int:
        enough, self.own_residual = stop / self.problem.scales.total, math.inf
        if self.island is None:
            self.island = self._next_island(enough)
        if self.island is None:
            self.own_residual = 0.0  # by the residuals of the islands; the loop checks the whole
            self.outcome = Status.STALLED if enough < _ROUNDING else None  # and may continue
            return 1
        island = self.island
        points, residual = island.points, island.best_residual
        if island.tired:
            island.begin_at(self._new_start(island))
        self.step_length = island.advance()
        self.steps += 1
        self.points += island.points - points
        self.note = f"{self.steps} Newton steps for {self.points} proximal points"
        if island.best_residual < residual:
            self.best[island.equations.blocks] = island.equations.root * island.best
        if island.best_residual <= enough:
            self.island = None
            if not self.waiting:
                self.own_residual = island.best_residual * self.problem.scales.total
        return 1

    def _unsolved(self, enough: float) -> list[NDArray[np.int64]]:
        """Blocks of the islands whose residual is larger than the limit; the smallest island comes last."""
        problem, scales = self.problem, self.problem.scales
        u, squares = problem.operator.apply(self.best) + problem.free_blocks, np.empty(problem.layout.blocks)
        residual_kernels.squared_residuals(problem.cones, self.best, u, squares)
        order = np.argsort(scales.island, kind="stable")
        islands = np.split(order, np.flatnonzero(np.diff(scales.island[order])) + 1)
        scale = scales.per_block
        bad = [blocks for blocks in islands if squares[blocks].sum() > (enough * scale[blocks[0]]) ** 2]
        return sorted(bad, key=len, reverse=True)

    def _next_island(self, enough: float) -> Island | None:
        if not self.waiting:
            self.waiting = self._unsolved(enough)
        if not self.waiting:
            return None
        blocks = self.waiting.pop()
        formulation = "alart-curnier" if self.problem.law.exact else "natural-map"
        equations = Equations(self.problem, formulation, blocks)
        return Island(self.solver, equations, self.problem.scales.per_block[blocks[0]], self.best[blocks])

    def _new_start(self, island: Island) -> Floats:
        """Zero impulses, from which proximal points keep impulses small; later, impulses after sweeps."""
        blocks = island.equations.blocks
        if island.starts == 1 and island.began_loaded:
            return np.zeros((len(blocks), 3))
        return self._swept(_RESTART_SWEEPS * 2 ** min(island.starts - 1, _MOST_DOUBLINGS))[blocks]

    def _swept(self, count: int) -> Floats:
        """The best impulses after Gauss-Seidel sweeps."""
        sweeps, chunk = GaussSeidel().begin(self.problem, self.best, self.goal), self._chunk
        done = 0
        while done < count and self.time_left() > _NO_TIME:
            done += sweeps.advance(min(chunk, count - done), 0.0)
        return sweeps.impulses.copy()

    @property
    def _chunk(self) -> int:
        """Sweeps for about 20 ms, so that the time limit is respected."""
        return max(1, _CHUNK_BLOCKS // self.problem.layout.blocks)


class Island:
    """Proximal points of one island: `centre` is the last one, `x` Newton's iterate for the next."""

    def __init__(self, solver: Proximal, equations: Equations, scale: float, impulses: Floats) -> None:
        self.solver, self.equations, self.scale = solver, equations, scale
        self.began_loaded = bool(impulses.any())
        self.starts = self.points = 0
        self.best, self.best_residual = impulses / equations.root, math.inf
        self.size = self.peak = math.inf
        self.begin_at(impulses)

    def begin_at(self, impulses: Floats) -> None:
        """Start from impulses (blocks, 3) in N·s."""
        self.starts += 1
        unloaded = not impulses.any()
        self.patience = self.solver.patience * (_MORE_PATIENCE if unloaded or self.starts > 1 else 1)
        self.radius, self.failures, self.tired = self.solver.radius, 0, False
        self.x = impulses / self.equations.root
        self._look()
        self._centre_here()

    def advance(self) -> float:
        """One Newton step towards the next proximal point; returns its length in √J."""
        d = self.equations.step(self.alpha)
        self.taken += 1
        self.patience -= 1
        self.tired = self.patience <= 0 or not math.isfinite(self.residual)
        if d is None:
            self._give_up()
            return 0.0
        if self.failures >= _FULL_STEPS:
            d *= 0.5
        self.x = self.x + d
        self._look()
        size = self._evaluate()
        if math.isfinite(size) and size <= max(_ENOUGH * self.residual, _ROUNDING):
            self._found()
        elif self._hopeless(size):
            self._give_up()
        return math.sqrt(float(np.square(d, where=np.abs(d) < 1e150, out=np.zeros_like(d)).sum()))

    def _hopeless(self, size: float) -> bool:
        """Return whether Newton has used its steps, or stays near the maximum of its first steps."""
        self.peak, before = max(self.peak, size), self.size
        self.size = size
        hangs = self.taken >= _CLIMB and min(size, before) > _DESCENT * self.peak
        return hangs or self.taken >= self.solver.newton_steps or not math.isfinite(size)

    def _look(self) -> None:
        """Compute the velocities of x and its natural map; keep x if it is the best."""
        self.u = self.equations.velocities(self.x)
        self.residual_here = self.equations.natural_map(self.x, self.u) / self.scale
        if self.residual_here < self.best_residual:
            self.best, self.best_residual = self.x, self.residual_here

    def _evaluate(self) -> float:
        """|F| of x in the problem of the next proximal point, relative to the scale."""
        shift = (self.alpha * self.equations.softness)[:, None] * (self.x - self.centre)
        return self.equations.evaluate(self.x, self.u + shift) / self.scale

    def _centre_here(self) -> None:
        """Make x the centre and set the next proximal problem."""
        self.centre, self.velocities, self.residual = self.x, self.u, self.residual_here
        self._aim()

    def _aim(self) -> None:
        self.alpha = float(np.clip(self.residual / self.radius, *_ALPHA))
        self.taken = 0
        self.size = self.peak = self._evaluate()

    def _found(self) -> None:
        """Continue from the point found, with a larger or smaller radius by the number of Newton steps."""
        if self.taken <= _EASY:
            self.radius *= _GROWN
        elif self.taken > _HARD:
            self.radius *= _SHRUNK
        self.points += 1
        self.failures = 0
        self._centre_here()

    def _give_up(self) -> None:
        """Return to the centre and set a nearer proximal problem."""
        self.tired = self.tired or self.alpha == _ALPHA[1]
        self.failures += 1
        self.radius *= _GIVEN_UP
        self.x, self.u = self.centre, self.velocities
        self._aim()
