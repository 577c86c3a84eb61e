"""`solve`: one call for every method, and the one loop that all of them run in.

The loop owns the iteration limit, the time limit, the guard against numbers that are not finite, the
history and the status. A run is called solved only when the residual, recomputed from the problem,
is within the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.momentum import balance_is_certain, momentum_error
from nonsmooth.solvers.analysis.contradicting_joints import joints_contradict
from nonsmooth.solvers.base import Goal, Run, Solver
from nonsmooth.solvers.solution import History, Solution, SolveError, Statistics

_STALL_ITERATIONS = 10_000
"""Iterations without a smaller residual after which a run counts as stalled."""
_RUNAWAY = 1e8
"""Residual, in multiples of the first one, above which a run counts as diverged."""
_CHUNK_BLOCKS = 1_000_000
"""Visits of blocks in one call of a run, some 20 ms, so that neither Python nor waking threads counts."""
_DASHED = "picked gauss-seidel: so small a problem is swept in one call"
_LOOK_EVERY = 50
"""Iterations after which the true residual is looked at, whatever the method's own estimate says."""


def solve(
    problem: ContactProblem,
    solver: Solver | None = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    time_limit: float = math.inf,
    initial: Solution | ArrayLike | None = None,
    record: bool = False,
    throw: bool = True,
    measure: str = "invariant",
) -> Solution:
    """Solve a contact problem.

    Args:
        problem: what to solve.
        solver: a solver object such as `APGD()`; `Auto()` if not given.
        tolerance: wanted relative residual of the certificate (no unit).
        max_iterations: iteration limit; each method has its own default.
        time_limit: in s.
        initial: warm start: a `Solution`, or impulses (contacts, then joint rows) in N·s.
        record: keep residual, objective, step length and time of every iteration (slower). The residual is
            then looked at after every iteration, so that a run may end a few iterations earlier.
        throw: raise `SolveError` if the tolerance was not reached; if False, return what was found.
        measure: what must be within the tolerance: "invariant", the certificate's residual, which no unit
            changes, or "both", that and Siconos' error (see `siconos_error`).

    Returns:
        A `Solution` whose certificate was recomputed from the problem.
    """
    if solver is None:
        solver = _default()
    _check_arguments(problem, solver)
    goal = Goal(tolerance, max_iterations, time_limit, record, measure)
    solver.check(problem)
    if measure == "both" and not (problem.law.exact and problem.law.sides == 0):
        raise OptionError(f"measure='both' goes with Coulomb's law, and this problem is {problem.law}")
    start = _start(problem, initial)
    solution = run_to_goal(problem, solver, start, goal)
    if throw and solution.status is not Status.SOLVED:
        raise SolveError(solution)
    return solution


@cache
def _default() -> Solver:
    from nonsmooth.solvers.auto import Auto

    return Auto()


def _check_arguments(problem: object, solver: object) -> None:
    if not isinstance(problem, ContactProblem):
        raise OptionError(f"problem is a {type(problem).__name__}: give a ContactProblem")
    if isinstance(solver, type) and issubclass(solver, Solver):
        raise OptionError(f"solver is the class {solver.__name__}: give an object, {solver.__name__}()")
    if not isinstance(solver, Solver):
        raise OptionError(
            f"solver is {solver!r}: give a solver object such as ns.solvers.Newton(), "
            "or ns.solvers.by_name('newton')"
        )


def run_to_goal(problem: ContactProblem, solver: Solver, start: Floats, goal: Goal) -> Solution:
    """Run a solver in the shared loop and judge what it found."""
    clock = _Clock()
    limit = solver.default_iterations if goal.max_iterations is None else goal.max_iterations
    history: list[tuple[float, ...]] = []
    if problem.scales.idle == 0.0 and (not start.any() or problem.scales.whole == 0.0):
        note = "nothing approaches: zero impulses are the solution"
        history.append((0.0, 0.0, 0.0, math.nan, clock.elapsed()))
        return _conclude(problem, Status.SOLVED, np.zeros_like(start), solver, 0, clock, history, note, goal)
    done = 0
    if problem.scales.idle == 0.0 or not problem.scales.of_island.all():
        start = np.where(problem.scales.of_block[:, None] == 0.0, 0.0, start)  # zero is the answer there
    dash = None if goal.record else solver.dash(problem, start, goal)
    if dash is not None:
        history.append((dash.sweeps, dash.residual, math.nan, math.nan, clock.elapsed()))
        if dash.residual <= goal.tolerance:
            return _conclude(
                problem, Status.SOLVED, dash.impulses, solver, dash.sweeps, clock, history, _DASHED, goal
            )
        if math.isfinite(dash.residual):
            start, done = dash.impulses, dash.sweeps
    run = solver.begin(problem, start, goal)
    chunk = 1 if goal.record else max(1, min(_CHUNK_BLOCKS // problem.layout.blocks, _LOOK_EVERY))
    if solver.in_one_call:
        chunk = limit
    looked = improved = done
    slack = 1.0
    residual = best = run.residual()
    best = math.inf if math.isnan(best) else best
    answer, runaway = run.impulses.copy(), _RUNAWAY * max(1.0, residual)
    status = Status.SOLVED if residual <= goal.tolerance else None
    history.append(_entry(run, done, residual, clock, goal.record))
    while status is None:
        if done >= limit:
            status = Status.ITERATION_LIMIT
            break
        if clock.elapsed() >= goal.time_limit:
            status = Status.TIME_LIMIT
            break
        stop = slack * goal.tolerance * problem.scales.whole
        done += run.advance(min(chunk, limit - done), stop)
        if not (goal.record or run.estimate <= stop or run.finished or done - looked >= _LOOK_EVERY):
            if math.isnan(run.estimate):
                status = Status.DIVERGED
            continue
        looked = done
        residual = run.residual()
        history.append(_entry(run, done, residual, clock, goal.record))
        if not residual <= runaway:
            status = Status.DIVERGED
        elif residual <= goal.tolerance:
            status = Status.SOLVED
        elif run.finished is not None:
            status = Status.STALLED if run.finished is Status.SOLVED else run.finished
        elif run.estimate <= stop:
            slack *= 0.5 * min(1.0, goal.tolerance / residual)  # the estimate was too kind: ask it for more
            run.refresh()
        if residual < best:
            best, improved, answer = residual, done, run.impulses.copy()
        if status is None and done - improved >= _STALL_ITERATIONS:
            status = Status.STALLED
    if done > looked:  # a limit came between two looks
        residual = run.residual()
        history.append(_entry(run, done, residual, clock, goal.record))
        if residual < best:
            answer = run.impulses
        if residual <= goal.tolerance:
            status = Status.SOLVED
    if status is not Status.SOLVED and joints_contradict(problem):
        status = Status.INFEASIBLE
    return _conclude(problem, status, answer, solver, done, clock, history, run.note, goal)


class _Clock:
    """Wall time since the start, less what was spent on recording and on making kernels ready."""

    def __init__(self) -> None:
        self._start = work_seconds()

    def elapsed(self) -> float:
        return work_seconds() - self._start

    def forget_since(self, moment: float) -> None:
        self._start += work_seconds() - moment


def _entry(run: Run, done: int, residual: float, clock: _Clock, record: bool) -> tuple[float, ...]:
    elapsed = clock.elapsed()
    moment = work_seconds()
    objective = math.nan
    if record:
        x = run.impulses
        objective = float(np.sum(x * (0.5 * run.problem.operator.apply(x) + run.problem.free_blocks)))
        clock.forget_since(moment)
    return (done, residual, objective, run.step_length, elapsed)


def _conclude(
    problem: ContactProblem,
    status: Status,
    impulses: Floats,
    solver: Solver,
    done: int,
    clock: _Clock,
    history: Sequence[tuple[float, ...]],
    note: str,
    goal: Goal,
) -> Solution:
    statistics = Statistics(solver.name, done, clock.elapsed(), History(tuple(history)), note)
    solution = Solution.of(problem, status, impulses, statistics)
    if status is not Status.SOLVED or balance_is_certain(problem, goal.tolerance):
        return solution
    assert solution.velocity is not None
    if not momentum_error(problem, solution.velocity, impulses)[1] <= goal.tolerance:
        # the contacts are right, but M v = k + Dγ + Gλ does not close: the mass matrix is near singular
        return replace(solution, status=Status.STALLED)
    return solution


def _start(problem: ContactProblem, initial: Solution | ArrayLike | None) -> Floats:
    if initial is None:
        return np.zeros((problem.layout.blocks, 3))
    if isinstance(initial, Solution):
        flat = np.concatenate([initial.impulses, initial.joint_impulses])
    else:
        flat = np.asarray(initial, dtype=float).ravel()
    if len(flat) != problem.layout.rows:
        raise ProblemError(
            f"initial has {len(flat)} impulses and this problem has {problem.layout.rows} rows "
            f"({problem.layout.contact_rows} of contacts, {problem.joint_rows} of joints)"
        )
    if not np.all(np.isfinite(flat)):
        raise ProblemError("initial has numbers that are not finite: start from zero or a finished solution")
    return problem.layout.pad(flat)
