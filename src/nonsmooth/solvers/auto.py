"""The default solver: picks a method by law, size and progress, and reports its choice.

The rules come from benchmarks/choose_solver.py and from the league table. A cheap iteration is fastest if it
converges: Gauss-Seidel with momentum, and APGD for pyramids. Its progress is checked at intervals. If it
would need many more iterations than a factorising method costs, the solver switches to that method: proximal
points by Newton's method, or Lemke for small pyramids. On towers, in which sweeps carry forces too slowly, a
few iterations of ADMM come first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import whole
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.admm import ADMM
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.lemke import Lemke, lemke_unknowns
from nonsmooth.solvers.parts.first_sweeps import FirstSweeps, small_enough, sweep_small_problem
from nonsmooth.solvers.parts.joint_block import too_many_joints
from nonsmooth.solvers.parts.stacks import is_tall_stack
from nonsmooth.solvers.proximal_point import Proximal

_SECOND_WORK = 100_000
"""Visits of blocks that the second method may use even if its iteration limit is smaller."""
_ALONE = 20
"""Iterations of the second method on joints alone: the first has solved them to rounding."""
_AFFORDABLE_BLOCKS, _GROWTH = 500, 2.5
"""Largest number of blocks for which a proximal solve costs `patience` sweeps, and the power of its growth
above."""
_TRIAL = 0.25
"""Fraction of the cost of the second method always granted to the first: warm starts converge slowly at
first."""
TOWER, AFTER = "bodies stand one upon the other", "after admm on a tower"
"""Reasons for a choice."""
AHEAD = 50
"""Iterations of ADMM on a tower; more do not pay if these did not converge."""
_DIVERGED_CHANGE = 1e4
"""Change of impulses in one iteration, in multiples of the problem's scale, above which a method diverges."""
_FALSE_CONVERGENCES = 10
"""Number of times that the first method may report convergence wrongly before it counts as slow."""


@dataclass(frozen=True)
class Auto(Solver):
    """A cheap method first (Gauss-Seidel, for pyramids APGD); if it is slow, one that factors or pivots."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a method by law, size and progress, and reports it (default)"
    laws: ClassVar[tuple[str, ...]] = ("coulomb", "relaxed", "pyramid")
    default_iterations: ClassVar[int] = 50_000

    window: int = 100
    """Iterations between progress checks of the first method."""
    patience: int = 1000
    """Estimated number of remaining iterations above which the first method counts as slow; above 500 blocks
    it grows with the power 2.5, because factorisations grow faster than sweeps."""
    max_proximal_blocks: int = 5000
    """Largest number of contacts and joint blocks for which factorisations are affordable."""
    max_lemke_unknowns: int = 1000
    """Largest number of unknowns of a pyramid's linear complementarity problem that is solved by Lemke."""
    threads: int = 1
    """Threads for Gauss-Seidel's sweeps; results are bitwise identical for any number."""

    def __post_init__(self) -> None:
        whole("Auto", "window", self.window, 1)
        whole("Auto", "patience", self.patience, 1)
        whole("Auto", "max_proximal_blocks", self.max_proximal_blocks)
        whole("Auto", "max_lemke_unknowns", self.max_lemke_unknowns)
        whole("Auto", "threads", self.threads, 1)

    def first_sweeps(self, problem: ContactProblem, start: Floats, goal: Goal) -> FirstSweeps | None:
        """Sweep a small problem in one call, but a tower: ADMM comes first there."""
        sweeps = small_enough(problem) and not is_tall_stack(problem)
        return sweep_small_problem(problem, start, goal) if sweeps else None

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return self.begin_after(problem, start, goal, None)

    def begin_after(
        self, problem: ContactProblem, start: Floats, goal: Goal, sweeps: FirstSweeps | None
    ) -> Iteration:
        """Start on a problem; ADMM is tried once."""
        return _AutoIteration(self, problem, start, goal, tower=sweeps is not None and sweeps.tower)

    def second(self, problem: ContactProblem) -> Solver | str:
        """The method used if the first one is slow, or the reason why there is none."""
        blocks = problem.layout.blocks
        if problem.law.name == "pyramid":
            unknowns = lemke_unknowns(problem)
            if unknowns <= self.max_lemke_unknowns:
                return Lemke()
            return f"{unknowns} unknowns are too many for Lemke's dense tableau"
        if blocks > self.max_proximal_blocks:
            return f"{blocks} blocks are too many for factorisations"
        if too_many_joints(problem):
            return "too many joints act on each other for factorisations"
        return Proximal(warm_sweeps=0)


@cache
def _first(law: str, threads: int) -> Solver:
    """The cheap method that is tried first."""
    return APGD() if law == "pyramid" else GaussSeidel(threads=threads)


class _AutoIteration(Iteration):
    """One method after the other, each from the point that the last one reached.

    On a tower, a few iterations of ADMM come first. The first method runs until it is slow, the second one
    until it has used its iterations; if that does not converge, the first one continues to the end.
    """

    def __init__(
        self, solver: Auto, problem: ContactProblem, start: Floats, goal: Goal, *, tower: bool
    ) -> None:
        """Take `tower`: whether ADMM was tried on a tower."""
        super().__init__(problem, goal)
        self.solver = solver
        self.first = _first(problem.law.name, solver.threads)
        self.patience = solver.patience * max(1.0, problem.layout.blocks / _AFFORDABLE_BLOCKS) ** _GROWTH
        self.done = 0
        self.start = start
        if tower:
            self._take("first", self.first, AFTER, start)
        elif problem.law.name != "pyramid" and is_tall_stack(problem):
            self._take("ahead", ADMM(), TOWER, start)
        else:
            self._take("first", self.first, "its iterations are cheap and they converge", start)

    @property
    def impulses(self) -> Floats:
        return self.run.impulses

    def residual(self) -> float:
        """True relative residual; progress is measured from the first one computed."""
        residual = self.run.residual()
        if not self.looks:
            self.looks.append((0, residual))
        return residual

    def advance(self, count: int, stop: float) -> int:
        limit = self.goal.max_iterations or self.solver.default_iterations
        if self.picked.in_one_call:
            count = min(self.picked.default_iterations, limit - self.done)
        elif self.stage == "ahead":
            count = min(count, AHEAD)
        done = self.run.advance(count, stop)
        self.done += done
        self.false_convergences += self.run.own_residual <= stop
        judge = {"ahead": self._judge_ahead, "first": self._judge_first, "second": self._judge_second}
        if self.stage in judge:
            judge[self.stage]()
        self.own_residual, self.outcome = self.run.own_residual, self.run.outcome
        self.step_length = self.run.step_length
        self._say()
        return done

    def _say(self) -> None:
        """Write the choice and its reason into the note."""
        inner = f" ({self.run.note})" if self.run.note else ""
        self.note = f"picked {self.picked.name}: {self.why}{inner}"

    def refresh(self) -> None:
        """Recompute the carried state of the present method."""
        self.run.refresh()

    def _take(self, stage: str, method: Solver, why: str, start: Floats) -> None:
        """Start a method from impulses."""
        self.stage, self.picked, self.why = stage, method, why
        self.run = method.begin(self.problem, start, self.goal)
        self.began = self.judged = self.done
        self.looks: list[tuple[int, float]] = []
        self.false_convergences = 0
        self._say()

    def _judge_ahead(self) -> None:
        """Switch to the first method when ADMM has used its iterations."""
        used = self.done - self.began >= AHEAD or self.run.outcome is not None
        if used and not self.residual() <= self.goal.tolerance:
            better = self.residual() < self.residual_of(self.start)
            start = self.run.impulses if better else self.start
            self._take("first", self.first, AFTER, start)
            self.residual()

    def _judge_first(self) -> None:
        """Switch to the second method if the first is slow, stops, or reports convergence wrongly."""
        failed = self.false_convergences > _FALSE_CONVERGENCES or self.run.outcome is not None
        if not self.run.own_residual <= _DIVERGED_CHANGE * self.problem.scales.total:
            self._leave(f"{self.picked.name} diverged", np.zeros_like(self.impulses))
            return
        if not failed and self.done - self.judged < self.solver.window:
            return
        residual, self.judged = self.residual(), self.done
        if residual <= self.goal.tolerance:
            return
        self.looks.append((self.done - self.began, min(residual, self.looks[-1][1])))
        tried = self.done - self.began >= _TRIAL * self.patience
        slow = failed or (tried and not self._still_to_come() <= self.patience)
        if not slow:
            return
        reached = f"(residual {residual:.1e} after {self.done} iterations)"
        self._leave(f"{self.picked.name} converged slowly {reached}", self.run.impulses.copy())

    def _leave(self, why: str, start: Floats) -> None:
        """Start the second method from impulses, if there is one."""
        second = self.solver.second(self.problem)
        if isinstance(second, str):
            self.stage, self.why = "last", f"{why}, but {second}"
            return
        self.left = self.run
        self._take("second", second, why, start)

    def _still_to_come(self) -> float:
        """Iterations to the tolerance, extrapolated from the second half of those done."""
        now, residual = self.looks[-1]
        then, before = max(look for look in self.looks if 2 * look[0] <= now)
        if not residual < before:
            return math.inf
        return (now - then) * math.log(residual / self.goal.tolerance) / math.log(before / residual)

    def _judge_second(self) -> None:
        """Return to the first method, at its last point, if the second has failed within its iterations."""
        budget = max(self.picked.default_iterations, _SECOND_WORK // self.problem.layout.blocks)
        if self.problem.contacts == 0:
            budget = _ALONE
        used = self.picked.in_one_call or self.done - self.began >= budget
        if not used or self.residual() <= self.goal.tolerance:
            return
        why, start = f"it converged slowly, but {self.picked.name} did not converge either", self.run.impulses
        if self.residual() < self.left.residual():
            self._take("last", self.first, why, start.copy())
        else:
            self.stage, self.picked, self.run, self.why = "last", self.first, self.left, why
