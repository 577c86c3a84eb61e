"""`solve`: one call for every method, and the parts of the shared loop particular to contact problems.

Zero impulses are returned at once if no contact approaches, a small problem is swept before an iteration is
set up, contradicting joints are distinguished from other failures, and the momentum balance must close.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.iteration.loop import Clock, Ended, Loop
from nonsmooth.iteration.solution import SolveError
from nonsmooth.iteration.solver import check_arguments
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.momentum import balance_is_certain, momentum_error
from nonsmooth.solvers.analysis.contradicting_joints import joints_contradict
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.parts.first_sweeps import FirstSweeps
from nonsmooth.solvers.solution import Entry, History, Solution, Statistics

NOTHING_APPROACHES = "no contact approaches: zero impulses are the solution"
"""The note of such a solution."""
_BLOCKS_AT_ONCE = 1_000_000
"""Visits of blocks in one call of `advance`, about 20 ms, so that Python and threads cost little."""


def solve(
    problem: ContactProblem,
    solver: Solver | None = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    time_limit: float = math.inf,
    start: Solution | ArrayLike | None = None,
    history: bool = False,
    throw: bool = True,
    measure: str = "invariant",
) -> Solution:
    """Solve a contact problem.

    Args:
        problem: the problem to solve.
        solver: a solver object such as `APGD()`; `Auto()` if not given.
        tolerance: tolerance on the relative residual of the certificate (dimensionless).
        max_iterations: iteration limit; each method has its own default.
        time_limit: in s.
        start: warm start: a `Solution`, or impulses (contacts, then joint rows) in N·s.
        history: record residual, objective, step length and time of every iteration (slower). The residual is
            then checked after every iteration, so that a run may end a few iterations earlier.
        throw: raise `SolveError` if the tolerance was not reached; if False, return the last result.
        measure: error that must be within the tolerance: "invariant", the certificate's residual, which does
            not depend on units, or "both", also Siconos' error (see `siconos_error`).

    Returns:
        A `Solution` whose certificate was recomputed from the problem.
    """
    if solver is None:
        solver = _default()
    example = "ns.solvers.Newton(), or ns.solvers.by_name('newton')"
    check_arguments(problem, ContactProblem, "a ContactProblem", solver, Solver, example)
    goal = Goal(tolerance, max_iterations, time_limit, history, measure)
    solver.check(problem)
    if measure == "both" and not (problem.law.exact and problem.law.sides == 0):
        raise OptionError(f"measure='both' needs Coulomb's law, and this problem is {problem.law}")
    solution = run_to_goal(problem, solver, _start(problem, start), goal)
    if throw and solution.status is not Status.SOLVED:
        raise SolveError(solution)
    return solution


@cache
def _default() -> Solver:
    from nonsmooth.solvers.auto import Auto

    return Auto()


def run_to_goal(
    problem: ContactProblem,
    solver: Solver,
    start: Floats,
    goal: Goal,
    sweeps: FirstSweeps | None = None,
) -> Solution:
    """Run a solver in the shared loop and judge its result; `sweeps` are the first ones, if they are done."""
    clock = Clock()
    limit = solver.iteration_limit(goal)
    if _nothing_approaches(problem, start):
        ended = Ended(Status.SOLVED, np.zeros_like(start), 0, (Entry(0, 0.0, clock.elapsed(), 0.0),))
        return _conclude(problem, solver, goal, clock, ended, NOTHING_APPROACHES)
    start = _zero_where_that_is_the_answer(problem, start)
    entries: tuple[Entry, ...] = ()
    if sweeps is None and not goal.history:
        sweeps = solver.first_sweeps(problem, start, goal)
    done = 0
    if sweeps is not None:
        entries = (Entry(sweeps.done, sweeps.residual, clock.elapsed()),)
        if sweeps.residual <= goal.tolerance:
            ended = Ended(Status.SOLVED, sweeps.impulses, sweeps.done, entries)
            return _conclude(problem, solver, goal, clock, ended, sweeps.note)
        if math.isfinite(sweeps.residual):
            start, done = sweeps.impulses, sweeps.done
    work = solver.begin_after(problem, start, goal, sweeps)
    at_once = limit if solver.in_one_call else _iterations_at_once(problem, goal)
    ended = Loop(work, limit, clock, at_once, done, entries).run()
    if ended.status is not Status.SOLVED and joints_contradict(problem):
        ended = ended._replace(status=Status.INFEASIBLE)
    return _conclude(problem, solver, goal, clock, ended, work.note)


def _nothing_approaches(problem: ContactProblem, start: Floats) -> bool:
    """Return whether zero impulses are the solution and no other start was given."""
    scales = problem.scales
    return scales.zero_impulse_residual == 0.0 and (not start.any() or scales.total == 0.0)


def _zero_where_that_is_the_answer(problem: ContactProblem, start: Floats) -> Floats:
    """The start with zero impulses in islands where no contact approaches."""
    scales = problem.scales
    if scales.zero_impulse_residual == 0.0 or not scales.per_island.all():
        return np.where(scales.per_block[:, None] == 0.0, 0.0, start)
    return start


def _iterations_at_once(problem: ContactProblem, goal: Goal) -> int:
    """Iterations in one call of a method that can be stopped after each."""
    if goal.history:
        return 1
    return max(1, min(_BLOCKS_AT_ONCE // problem.layout.blocks, Iteration.look_every))


def _conclude(
    problem: ContactProblem, solver: Solver, goal: Goal, clock: Clock, ended: Ended, note: str
) -> Solution:
    statistics = Statistics(solver.name, ended.iterations, clock.elapsed(), History(ended.entries), note)
    solution = Solution.of(problem, ended.status, ended.answer, statistics)
    if ended.status is not Status.SOLVED or balance_is_certain(problem, goal.tolerance):
        return solution
    assert solution.velocity is not None
    if not momentum_error(problem, solution.velocity, ended.answer)[1] <= goal.tolerance:
        # the contacts are right, but M v = k + Dγ + Gλ does not close: the mass matrix is near singular
        return replace(solution, status=Status.STALLED)
    return solution


def _start(problem: ContactProblem, given: Solution | ArrayLike | None) -> Floats:
    if given is None:
        return np.zeros((problem.layout.blocks, 3))
    if isinstance(given, Solution):
        flat = np.concatenate([given.impulses, given.joint_impulses])
    else:
        flat = np.asarray(given, dtype=float).ravel()
    if len(flat) != problem.layout.rows:
        raise ProblemError(
            f"start has {len(flat)} impulses and this problem has {problem.layout.rows} rows "
            f"({problem.layout.contact_rows} of contacts, {problem.joint_rows} of joints)"
        )
    if not np.all(np.isfinite(flat)):
        raise ProblemError("start is not all finite: start at zero or at a finished solution")
    return problem.layout.pad(flat)
