"""`solve`: one call for every method, and the parts of the loop particular to complementarity problems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.base import Solver
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solution import History, Solution, Statistics
from nonsmooth.errors import ProblemError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.loop import Clock, Loop
from nonsmooth.iteration.solution import SolveError
from nonsmooth.iteration.solver import check_arguments
from nonsmooth.iteration.status import Status


def solve(
    problem: MCP,
    solver: Solver | None = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    time_limit: float = math.inf,
    start: Solution | ArrayLike | None = None,
    check_jacobian: bool = False,
    throw: bool = True,
) -> Solution:
    """Solve a complementarity problem.

    Args:
        problem: an `MCP`, `LCP` or `MNCP`.
        solver: a solver object such as `SemismoothNewton()`; `Auto()` if not given.
        tolerance: on the natural residual, max |z − mid(l, z − F(z), u)|, in the units of the problem.
        max_iterations: iteration limit; by default that of the method.
        time_limit: in s.
        start: z to start from; the default start of the problem if not given. A point outside the bounds is
            moved to the nearest point within them, with a note in the statistics.
        check_jacobian: compare the Jacobian with differences at the start first, and raise if they differ.
        throw: raise `SolveError` if the tolerance was not reached; if False, return the last result.

    Returns:
        A `Solution` whose certificate is recomputed from the problem.
    """
    if solver is None:
        from nonsmooth.complementarity.solvers.auto import Auto

        solver = Auto()
    example = "ns.complementarity.SemismoothNewton()"
    check_arguments(problem, MCP, "an MCP, LCP or MNCP", solver, Solver, example)
    goal = Goal(tolerance, max_iterations, time_limit)
    solver.check(problem)
    first, note = _start(problem, start)
    if check_jacobian:
        from nonsmooth.complementarity.jacobians import check_jacobian as compare

        compare(problem, first)
    solution = run_to_goal(problem, solver, first, goal, note)
    if throw and solution.status is not Status.SOLVED:
        raise SolveError(solution)
    return solution


def run_to_goal(problem: MCP, solver: Solver, start: Floats, goal: Goal, note: str = "") -> Solution:
    """Run a solver in the shared loop from a point within the bounds, and judge the result."""
    clock = Clock()
    limit = solver.iteration_limit(goal)
    work = solver.begin(problem, start, goal)
    ended = Loop(work, limit, clock, at_once=limit).run()
    statistics = Statistics(
        solver.name,
        ended.iterations,
        clock.elapsed(),
        note="; ".join(part for part in (note, work.note) if part),
        history=History(ended.entries),
        function_evaluations=work.evaluate.functions,
        jacobian_evaluations=work.evaluate.jacobians,
        difference_evaluations=work.evaluate.differences,
        inner_iterations=work.inner_iterations,
        products=work.products,
    )
    ended.answer.flags.writeable = False
    solution = Solution(problem, ended.status, ended.answer, statistics)
    if ended.status is Status.SOLVED and not solution.certificate.holds(goal.tolerance):
        return replace(solution, status=Status.STALLED)  # F returned two values at one point
    return solution


def _start(problem: MCP, start: Solution | ArrayLike | None) -> tuple[Floats, str]:
    if start is None:
        return problem.start.copy(), _moved(problem.moved_at_start)
    wanted = np.array(start.point if isinstance(start, Solution) else start, dtype=float)
    if wanted.shape != (problem.size,):
        raise ProblemError(f"start has shape {wanted.shape} and the problem has {problem.size} variables")
    if not np.isfinite(wanted).all():
        raise ProblemError("start has numbers that are not finite")
    within = problem.clip(wanted)
    return within, _moved(int(np.count_nonzero(within != wanted)))


def _moved(count: int) -> str:
    return (
        f"{count} components of the start were outside their bounds and were moved to them" if count else ""
    )
