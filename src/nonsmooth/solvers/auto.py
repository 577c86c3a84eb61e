"""The default solver: picks a method by law, size and progress, and says what it picked and why.

The rules come from benchmarks/choose_solver.py. A cheap iteration wins wherever it gets there:
Gauss-Seidel with momentum, whose sweeps cost a thousandth of a Newton step and less, and APGD for
pyramids. On the hyperstatic and badly scaled problems where it crawls, Newton wins under the exact law
as long as its factorisation is affordable, the interior-point method under the relaxed law, which is
convex, as long as the problem is small, and Lemke for small pyramids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.base import Goal, Run, Solver, whole
from nonsmooth.solvers.dash import Dash, dash
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.lemke import Lemke, lemke_unknowns
from nonsmooth.solvers.newton import Newton

Floats = NDArray[np.float64]

_USEFUL = 0.1
"""A window of iterations must bring the residual down to this part, or the method counts as crawling."""

_SECOND_WORK = 100_000
"""Visits of blocks that the second method may use where its own iteration limit is smaller."""
_WINDOW_PER_BLOCK = 3
_FOOLED = 10
"""How often the first method may believe that it has converged before it counts as crawling."""


@dataclass(frozen=True)
class Auto(Solver):
    """A cheap method first (Gauss-Seidel, for pyramids APGD); where it crawls, one that factors or pivots."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a method by law, size and progress, and says which (the default)"
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")
    default_iterations: ClassVar[int] = 50_000

    window: int = 500
    """Iterations after which the progress of the first method is judged; at least three per block, because
    the cost of a factorisation grows faster than that of a sweep."""
    newton_blocks: int = 1500
    """Most contacts and joint blocks for which Newton's factorisation is affordable."""
    interior_point_blocks: int = 300
    """Most contacts and joint blocks that go to the interior-point method under the relaxed law."""
    lemke_unknowns: int = 1000
    """Most unknowns of a pyramid's linear complementarity problem that go to Lemke."""
    threads: int = 1
    """Threads for Gauss-Seidel's sweeps; the answer has the same bits for any number of them."""

    def __post_init__(self) -> None:
        whole("Auto", "window", self.window, 1)
        whole("Auto", "newton_blocks", self.newton_blocks)
        whole("Auto", "interior_point_blocks", self.interior_point_blocks)
        whole("Auto", "lemke_unknowns", self.lemke_unknowns)
        whole("Auto", "threads", self.threads, 1)

    def dash(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Dash | None:
        """Sweep a small problem in one call."""
        return dash(problem, initial, goal.tolerance, goal.max_iterations)

    def begin(self, problem: ContactProblem, initial: Floats, goal: Goal) -> Run:
        """Start on a problem."""
        return _AutoRun(self, problem, initial, goal)

    def second(self, problem: ContactProblem) -> Solver | str:
        """What takes over where the first method crawls, or the sentence why nothing can."""
        blocks = problem.layout.blocks
        if problem.law.name == "pyramid":
            unknowns = lemke_unknowns(problem)
            if unknowns <= self.lemke_unknowns:
                return Lemke()
            return f"{unknowns} unknowns are too many for Lemke's dense tableau"
        if problem.law.name == "relaxed" and blocks <= self.interior_point_blocks:
            return InteriorPoint()
        if blocks <= self.newton_blocks:
            return Newton(warm_sweeps=0)
        return f"{blocks} blocks are too many for Newton's factorisation"


@cache
def _first(law: str, threads: int) -> Solver:
    """The cheap method that is tried first."""
    return APGD() if law == "pyramid" else GaussSeidel(threads=threads)


class _AutoRun(Run):
    """The first method until it crawls, then the second one from where the first has come."""

    def __init__(self, solver: Auto, problem: ContactProblem, initial: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        first = _first(problem.law.name, solver.threads)
        self.solver, self.picked, self.why = solver, first, "its iterations are cheap and they converge"
        self.run = first.begin(problem, initial, goal)
        self.done = self.judged = 0
        self.window = max(solver.window, _WINDOW_PER_BLOCK * problem.layout.blocks)
        self.reference = math.inf
        self.on_trial, self.taken_over, self.fooled = True, False, 0
        self.first = (first, self.run)

    @property
    def impulses(self) -> Floats:
        return self.run.impulses

    def residual(self) -> float:
        """True relative residual; the first one that is asked for is what progress is measured by."""
        residual = self.run.residual()
        self.reference = min(self.reference, residual) if self.done == 0 else self.reference
        return residual

    def advance(self, count: int, stop: float) -> int:
        limit = self.goal.max_iterations or self.solver.default_iterations
        if self.picked.in_one_call:
            count = min(self.picked.default_iterations, limit - self.done)
        done = self.run.advance(count, stop)
        self.done += done
        self.fooled += self.run.estimate <= stop
        if self.taken_over:
            self._judge_second()
        elif self.on_trial and (self.fooled > _FOOLED or self.done - self.judged >= self.window):
            self._judge_first()
        self.estimate, self.finished = self.run.estimate, self.run.finished
        self.step_length = self.run.step_length
        inner = f" ({self.run.note})" if self.run.note else ""
        self.note = f"picked {self.picked.name}: {self.why}{inner}"
        return done

    def refresh(self) -> None:
        """Recompute what the present method carries along."""
        self.run.refresh()

    def _judge_first(self) -> None:
        """Let the second method take over if the first crawls, or believes what the residual denies."""
        residual = self.residual()
        crawling = self.fooled > _FOOLED or not residual <= _USEFUL * self.reference
        self.judged, self.reference = self.done, residual
        if residual <= self.goal.tolerance or not crawling:
            return
        self.on_trial = False
        crawled = f"crawled at a residual of {residual:.1e} after {self.done} iterations"
        second = self.solver.second(self.problem)
        if isinstance(second, str):
            self.why = f"it {crawled}, but {second}"
            return
        self.why = f"{self.picked.name} {crawled}"
        self.first, self.picked = (self.picked, self.run), second
        self.run = second.begin(self.problem, self.run.impulses.copy(), self.goal)
        self.taken_over, self.judged = True, self.done

    def _judge_second(self) -> None:
        """Go back to the first method, where it was, if the second has used its iterations for nothing."""
        blocks = self.problem.layout.blocks
        budget = max(self.picked.default_iterations, _SECOND_WORK // blocks)
        used = self.picked.in_one_call or self.done - self.judged >= budget
        if used and self.residual() > self.goal.tolerance:
            failed, start = self.picked.name, self.run.impulses
            self.taken_over = False
            self.picked, self.run = self.first
            if self.residual_of(start) < self.residual():
                self.run = self.picked.begin(self.problem, start.copy(), self.goal)
            self.why = f"it crawled, but {failed} did not get there either"
