"""The loop that runs every iterative method.

It enforces the iteration limit and the time limit, stops at numbers that are not finite, and keeps the
history and the status. An iteration is solved only if its residual, recomputed from the problem, is within
the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.iteration.iteration import Iteration
from nonsmooth.iteration.solution import Entry
from nonsmooth.iteration.status import Status


class Clock:
    """Wall time in s since the start, without recording and without compiling or loading kernels."""

    def __init__(self) -> None:
        self._start = work_seconds()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return work_seconds() - self._start

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Exclude the time spent inside the block."""
        moment = work_seconds()
        yield
        self._start += work_seconds() - moment


class Ended(NamedTuple):
    """End of an iteration: status, answer, number of iterations, history."""

    status: Status
    answer: Floats
    iterations: int
    entries: tuple[Any, ...]


@dataclass
class Loop:
    """Runs an iteration until it reaches its goal or a limit, or until the method stops."""

    work: Iteration[Any]
    limit: int
    """Largest number of iterations, those already done included."""
    clock: Clock
    at_once: int
    """Largest number of iterations in one call of `advance`; limits are checked between calls."""
    done: int = 0
    earlier: tuple[Entry, ...] = ()
    """History of the iterations done before."""

    def __post_init__(self) -> None:
        self.goal = self.work.goal
        self.looked_at = self.improved_at = self.done
        self.best, self.answer = math.inf, self.work.answer.copy()
        self.entries = list(self.earlier)
        self.strictness = 1.0
        """Fraction of the tolerance that `own_residual` must reach; reduced each time it was wrong."""

    def run(self) -> Ended:
        """Iterate to the end."""
        first = self._look()
        status = self.work.verdict_at_start(first)
        while status is None:
            status = self._limit_reached() or self._go_on(first)
        if self.looked_at < self.done and self._look() <= self.goal.tolerance:
            status = Status.SOLVED  # a limit was reached between two checks
        return Ended(status, self.answer, self.done, tuple(self.entries))

    def _limit_reached(self) -> Status | None:
        if self.done >= self.limit:
            return Status.ITERATION_LIMIT
        if self.clock.elapsed() >= self.goal.time_limit:
            return Status.TIME_LIMIT
        return None

    def _go_on(self, first: float) -> Status | None:
        """Iterate, and check the answer if due; return the status if the iteration ended."""
        enough = self.strictness * self.goal.tolerance * self.work.own_scale
        self.done += self.work.advance(min(self.at_once, self.limit - self.done), enough)
        claims_enough = self.work.own_residual <= enough
        if not (claims_enough or self._is_time_to_look()):
            return Status.DIVERGED if math.isnan(self.work.own_residual) else None
        residual = self._look()
        status = self.work.verdict(residual, first)
        if status is None and claims_enough:
            self._ask_for_more(residual)
        if status is None and self.done - self.improved_at >= self.work.stalls_after:
            return Status.STALLED
        return status

    def _is_time_to_look(self) -> bool:
        if self.goal.history or self.work.outcome is not None:
            return True
        return self.done - self.looked_at >= self.work.look_every

    def _look(self) -> float:
        """Recompute the residual, record it in the history, and keep the answer if it is the best."""
        residual, self.looked_at = self.work.residual(), self.done
        elapsed = self.clock.elapsed()
        with self.clock.stopped():
            self.entries.append(self.work.entry(self.done, residual, elapsed))
        if residual < self.best:
            self.best, self.improved_at, self.answer = residual, self.done, self.work.answer.copy()
        return residual

    def _ask_for_more(self, residual: float) -> None:
        """`own_residual` was too small: continue until it is smaller still."""
        self.strictness *= 0.5 * min(1.0, self.goal.tolerance / residual)
        self.work.refresh()
