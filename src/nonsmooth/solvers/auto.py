"""The default solver: picks a method by law, size and progress, and says what it picked and why.

The rules come from benchmarks/choose_solver.py: accelerated Gauss-Seidel wins wherever it gets there
(its sweeps cost a thousandth of a Newton step and less). On the hyperstatic and badly scaled problems
where the sweeps crawl, Newton wins under the exact law as long as its factorisation is affordable, and
the interior-point method under the relaxed law, which is convex, as long as the problem is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Run, Solver, positive
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.lemke import Lemke, lemke_unknowns
from nonsmooth.solvers.newton import Newton
from nonsmooth.solvers.prox import SORProx

Floats = NDArray[np.float64]

_USEFUL = 0.1
"""A window of sweeps must bring the residual down to this part, or the sweeps count as crawling."""


@dataclass(frozen=True)
class Auto(Solver):
    """Gauss-Seidel with momentum first; where it crawls, Newton or interior point; Lemke for pyramids."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a method by law, size and progress, and says which (the default)"
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")
    default_iterations: ClassVar[int] = 50_000

    window: int = 500
    """Sweeps after which the progress of Gauss-Seidel is judged."""
    newton_blocks: int = 1500
    """Most contacts and joint blocks for which Newton's factorisation is affordable."""
    interior_point_blocks: int = 300
    """Most contacts and joint blocks that go to the interior-point method under the relaxed law."""
    lemke_unknowns: int = 400
    """Most unknowns of a pyramid's linear complementarity problem that go to Lemke."""

    def __post_init__(self) -> None:
        positive("Auto", "window", self.window)

    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        """Start on a problem."""
        if problem.law.name == "pyramid":
            unknowns = lemke_unknowns(problem)
            if unknowns <= self.lemke_unknowns:
                run, why = Lemke().begin(problem, initial, goal), f"lemke: a pyramid with {unknowns} unknowns"
                return _Picked(problem, goal, run, why, goal.max_iterations or Lemke.default_iterations)
            run = SORProx(strategy="adaptive").begin(problem, initial, goal)
            why = f"sor-prox: a pyramid with {unknowns} unknowns, too many for Lemke's dense tableau"
            return _Picked(problem, goal, run, why)
        return _SweepsThenNewton(self, problem, initial, goal)


class _Picked(Run):
    """A run that was picked once and for all; `at_once` iterations in one call for one that cannot stop."""

    def __init__(self, problem: ContactProblem, goal: Goal, run: Run, why: str, at_once: int = 1) -> None:
        super().__init__(problem, goal)
        self.run, self.why, self.at_once = run, why, at_once

    @property
    def impulses(self) -> Floats:
        return self.run.impulses

    def advance(self, count: int, stop: float) -> int:
        done = self.run.advance(max(count, self.at_once), stop)
        self.estimate, self.finished = self.run.estimate, self.run.finished
        self.step_length = self.run.step_length
        self.note = "picked " + self.why + (f" ({self.run.note})" if self.run.note else "")
        return done


class _SweepsThenNewton(_Picked):
    def __init__(self, solver: Auto, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        run = GaussSeidel().begin(problem, initial, goal)
        super().__init__(problem, goal, run, "gauss-seidel: its sweeps are cheap and they converge")
        self.solver = solver
        self.sweeps = 0
        self.judged, self.reference = 0, self.residual()
        self.sweeping = True

    def advance(self, count: int, stop: float) -> int:
        done = super().advance(count, stop)
        self.sweeps += done
        if self.sweeping and self.sweeps - self.judged >= self.solver.window and not self.estimate <= stop:
            self._judge()
        return done

    def _judge(self) -> None:
        residual = self.residual()
        crawling = not residual <= _USEFUL * self.reference
        self.judged, self.reference = self.sweeps, residual
        if residual <= self.goal.tolerance or not crawling:
            return
        self.sweeping = False
        blocks = self.problem.layout.blocks
        if blocks > self.solver.newton_blocks:
            self.why = (
                f"gauss-seidel: it crawls (residual {residual:.1e} after {self.sweeps} sweeps), but {blocks} "
                "blocks are too many for Newton's factorisation"
            )
            return
        crawled = f"{self.sweeps} sweeps of gauss-seidel crawled at a residual of {residual:.1e}"
        start = self.run.impulses.copy()
        if self.problem.law.name == "relaxed" and blocks <= self.solver.interior_point_blocks:
            self.why = f"interior-point: {crawled}, and the law is convex"
            self.run = InteriorPoint().begin(self.problem, start, self.goal)
            self.at_once = InteriorPoint.default_iterations
        else:
            self.why = f"newton: {crawled}"
            self.run = Newton(warm_sweeps=0).begin(self.problem, start, self.goal)
