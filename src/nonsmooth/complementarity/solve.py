"""`solve`: one call for every method, and the one loop that all of them run in.

The loop owns the limits, the history and the status. A run is called solved only when the natural
residual, recomputed from the problem, is within the tolerance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.complementarity.base import Goal, Run, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solution import Entry, Solution, SolveError, Statistics
from nonsmooth.errors import OptionError, ProblemError
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
        tolerance: wanted natural residual, max |z − mid(l, z − F(z), u)|, in the problem's own units.
        max_iterations: iteration limit; each method has its own default.
        time_limit: in s.
        start: z to start from; the problem's own start if not given. A point outside the bounds is moved to
            the nearest point within them, and the statistics' note says so.
        check_jacobian: compare the Jacobian with differences at the start first, and raise if they differ.
        throw: raise `SolveError` if the tolerance was not reached; if False, return what was found.

    Returns:
        A `Solution` whose certificate is recomputed from the problem.
    """
    if solver is None:
        from nonsmooth.complementarity.solvers.auto import Auto

        solver = Auto()
    _check_arguments(problem, solver)
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
    """Run a solver in the shared loop from a point within the bounds, and judge what it found."""
    began = work_seconds()
    limit = solver.default_iterations if goal.max_iterations is None else goal.max_iterations
    run = solver.begin(problem, start, goal)
    residual = residual_of(problem, run.point, run.value)
    history = [_entry(run, 0, residual, began)]
    best, answer, done = residual, run.point.copy(), 0
    status = Status.SOLVED if residual <= goal.tolerance else None
    if math.isnan(residual):
        status = Status.UNDEFINED
    while status is None:
        if done >= limit:
            status = Status.ITERATION_LIMIT
        elif work_seconds() - began >= goal.time_limit:
            status = Status.TIME_LIMIT
        else:
            done += run.advance(limit - done)
            residual = residual_of(problem, run.point, run.value)
            history.append(_entry(run, done, residual, began))
            if residual < best:
                best, answer = residual, run.point.copy()
            if residual <= goal.tolerance:
                status = Status.SOLVED
            elif run.finished is not None:
                status = Status.STALLED if run.finished is Status.SOLVED else run.finished
            elif math.isnan(residual):
                status = Status.UNDEFINED
    statistics = Statistics(
        solver.name, done, run.evaluate.functions, run.evaluate.jacobians, run.evaluate.differences,
        run.inner_iterations, run.products, work_seconds() - began, tuple(history),
        "; ".join(part for part in (note, run.note) if part),
    )  # fmt: skip
    answer.flags.writeable = False
    solution = Solution(problem, status, answer, statistics)
    if status is Status.SOLVED and not solution.certificate.holds(goal.tolerance):
        return Solution(problem, Status.STALLED, answer, statistics)  # F gave two answers at one point
    return solution


def _entry(run: Run, done: int, residual: float, began: float) -> Entry:
    return Entry(done, residual, run.merit, run.evaluate.functions, work_seconds() - began)


def _check_arguments(problem: object, solver: object) -> None:
    if not isinstance(problem, MCP):
        raise OptionError(f"problem is a {type(problem).__name__}: give an MCP, LCP or MNCP")
    if isinstance(solver, type) and issubclass(solver, Solver):
        raise OptionError(f"solver is the class {solver.__name__}: give an object, {solver.__name__}()")
    if not isinstance(solver, Solver):
        raise OptionError(
            f"solver is {solver!r}: give a solver object such as ns.complementarity.SemismoothNewton()"
        )


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
    return f"{count} components of the start lay outside their bounds and were moved there" if count else ""
