"""Coloured Gauss-Seidel: build the schedule, run the kernel on threads, and collect the impulses."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.iteration.status import Status
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import operator as operator_kernels
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.solvers.base import Goal, Iteration
from nonsmooth.solvers.kernels import coloured as kernels
from nonsmooth.solvers.kernels import simd_lanes as lane_kernels
from nonsmooth.solvers.kernels.coloured import Moving, Schedule, Team
from nonsmooth.solvers.kernels.gauss_seidel import Equations, Local
from nonsmooth.solvers.kernels.simd_lanes import LANES, ROW, SCRATCH, Lanes
from nonsmooth.solvers.parts.joint_block import MOST_ALONE
from nonsmooth.solvers.parts.local_blocks import local_blocks

if TYPE_CHECKING:
    from nonsmooth.solvers.gauss_seidel import GaussSeidel


_NO_BLOCKS = Local(np.empty((0, 3, 3)), np.empty((0, 3, 3)), np.empty(0))


_SERIAL, _ELSEWHERE = -1, -2
"""In place of a colour: blocks visited one after the other, and those solved elsewhere."""
_OPEN = 2**62
"""A count at which no thread waits at the barrier."""


@cache
def _crew(process: int, count: int) -> tuple[ThreadPoolExecutor, Lock]:
    """Threads of this process, which a fork does not copy, and the lock of the team that uses them."""
    return ThreadPoolExecutor(count, thread_name_prefix="nonsmooth"), Lock()


def schedule_of(
    form: Factored, fits: NDArray[np.uint8], visited: NDArray[np.int64]
) -> tuple[Schedule, NDArray[np.int32]]:
    """Colour the blocks that are visited one by one.

    Returns the schedule and, for every lane, its contact (−1 where it is empty).
    """
    colour, own = np.full(len(form.bodies), _ELSEWHERE), np.empty(len(visited), dtype=np.int64)
    colours = kernels.colour_blocks(form.bodies[visited], form.body_count - 1, own)
    colour[visited] = own
    lanes = np.flatnonzero((fits == 1) & (colour >= 0))
    others = np.flatnonzero((fits == 0) & (colour >= 0))
    lanes = lanes[np.argsort(colour[lanes], kind="stable")]
    others = others[np.argsort(colour[others], kind="stable")]
    sizes = np.bincount(colour[lanes], minlength=colours)
    row_start = np.concatenate([[0], np.cumsum(-(-sizes // LANES))])
    contact = np.full(int(row_start[-1]) * LANES, -1, dtype=np.int32)
    within = np.arange(len(lanes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    contact[row_start[colour[lanes]] * LANES + within] = lanes
    block_start = np.concatenate([[0], np.cumsum(np.bincount(colour[others], minlength=colours))])
    blocks = np.concatenate([others, np.flatnonzero(colour == _SERIAL)])
    return Schedule(row_start, block_start, blocks), contact.reshape(-1, LANES)


def _cache_lines(rows: int) -> Floats:
    """Zeros (rows, 8), one cache line per row, so that two threads never share a line."""
    room = np.zeros(8 * rows + 8)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + 8 * rows].reshape(rows, 8)


def _chunks(schedule: Schedule) -> int:
    """Number of sums that a sweep collects: one for each chunk, and one for the serial blocks."""
    rows = -(-np.diff(schedule.row_start) // kernels.CHUNK_ROWS)
    blocks = -(-np.diff(schedule.block_start) // kernels.CHUNK_BLOCKS)
    return int(rows.sum() + blocks.sum()) + 1


class ColouredIteration(Iteration):
    """Plain or accelerated sweeps by colours."""

    def __init__(
        self,
        solver: GaussSeidel,
        problem: ContactProblem,
        start: Floats,
        goal: Goal,
    ) -> None:
        super().__init__(problem, goal)
        form = problem.operator.kernel_form
        assert isinstance(form, Factored)
        self.solver, self.form = solver, form
        fits = np.empty(problem.layout.blocks, dtype=np.uint8)
        lane_kernels.find_round(form, problem.cones, fits)
        if solver.relaxation != 1.0:
            fits[:] = 0
        visited, joints, self.note = solver.parts(problem, form)
        self.schedule, self.contact = schedule_of(form, fits, visited)
        local = local_blocks(problem, visited) if len(self.schedule.blocks) else _NO_BLOCKS
        self.equations = Equations(
            form, problem.cones, local, problem.free_blocks, visited, joints, solver.relaxation, False
        )
        batches = len(self.contact)
        self.lanes = Lanes(
            np.empty((batches, ROW)),
            np.empty((batches, LANES), dtype=np.uint32),
            np.empty((batches, LANES), dtype=np.uint32),
        )
        lane_kernels.pack(form, problem.cones, problem.free_blocks, self.contact, self.lanes)
        self.state = Moving(
            start.copy(), start.copy(), _cache_lines(form.body_count), _cache_lines(form.body_count)
        )
        self.momentum = np.array([1.0, math.inf, 0.0])
        self._unloaded = True
        self.swept = 0
        chunks = _chunks(self.schedule)
        self.team = Team(
            np.zeros(8, dtype=np.int64), np.zeros((solver.threads, SCRATCH)), _cache_lines(chunks)
        )
        self._load()

    def _load(self) -> None:
        """Recompute lanes and bodies from the impulses."""
        lane_kernels.load(self.form, self.contact, self.lanes, self.state.x, self.state.last)
        operator_kernels.weigh(self.form, self.state.x, self.state.w)
        operator_kernels.weigh(self.form, self.state.last, self.state.w_last)

    def refresh(self) -> None:
        """Recompute w = A x, which drifts by the rounding of every increment."""
        self._unload()
        self._load()

    def _unload(self) -> None:
        if self._unloaded:
            return
        self._unloaded = True
        lane_kernels.unload(self.form, self.contact, self.lanes, self.state.x, self.state.last)

    @property
    def impulses(self) -> Floats:
        """Impulses after the last sweep, (blocks, 3)."""
        self._unload()
        return self.state.x

    def advance(self, count: int, stop: float) -> int:
        """Sweep on all threads."""
        threads = self.solver.threads
        self.team.gate[0] = 0
        self._unloaded = False
        accelerate = self.solver.acceleration == "nesterov"

        def work(thread: int) -> tuple[int, float]:
            return kernels.coloured_sweeps(  # type: ignore[no-any-return]
                self.equations, self.lanes, self.schedule, self.state, self.team, self.momentum,
                accelerate, self.solver.restart_growth, count, stop, thread, threads,
            )  # fmt: skip

        done, self.own_residual = work(0) if threads == 1 else self._together(work)
        self.step_length = self.own_residual
        self.swept += int(done)
        if len(self.equations.visited) == 0 and self.swept >= MOST_ALONE:
            self.outcome = Status.STALLED
        return int(done)

    def _together(self, work: Callable[[int], tuple[int, float]]) -> tuple[int, float]:
        """Run the kernel on all threads; an interrupt opens the barrier, so that no thread hangs."""
        pool, lock = _crew(os.getpid(), self.solver.threads - 1)
        with lock:
            others = []
            try:
                for thread in range(1, self.solver.threads):
                    others.append(pool.submit(work, thread))
                return work(0)
            except BaseException:
                self.team.gate[0] = _OPEN
                raise
            finally:
                wait(others)
