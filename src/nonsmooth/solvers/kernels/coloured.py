"""Gauss-Seidel sweeps by colours: blocks of one colour share no moving body, so their order is free.

That lets round contacts go through the vector units (`simd_lanes`) and lets threads share a colour, and
the answer has the same bits for any number of threads: what a block sees does not depend on who visits
it, and sums are collected by chunks of a fixed size and added in a fixed order. Blocks of a body with very
many contacts would need a colour each: they are `serial`, visited one after the other at the end. So are the
joints that are held together.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inlined_kernel, kernel
from nonsmooth.problem.kernels.residuals import weighted_square
from nonsmooth.solvers.kernels.gauss_seidel import visit
from nonsmooth.solvers.kernels.joint_block import extrapolate_joints, hold_joints
from nonsmooth.solvers.kernels.simd_lanes import clear_sums, read_sums, visit_row
from nonsmooth.solvers.kernels.threads import barrier

COLOURS = 48
"""Most colours; a body with more blocks than this has all of its blocks visited serially."""
CHUNK_ROWS = 4
CHUNK_BLOCKS = 32
"""What a thread takes at a time, and whose sums are collected together."""
_CHUNK_BODIES = 256


class Schedule(NamedTuple):
    """Who is visited when. Serial blocks stand behind the last colour's."""

    row_start: np.ndarray  # (colours + 1,) int64: rows of lanes of each colour
    block_start: np.ndarray  # (colours + 1,) int64: entries of `blocks` of each colour
    blocks: np.ndarray  # (scalar blocks,) int64


class Moving(NamedTuple):
    """Impulses x and weighted velocities w = A x of the last two sweeps (lanes keep their own impulses)."""

    x: np.ndarray  # (blocks, 3)
    last: np.ndarray
    w: np.ndarray  # (bodies, 8): six numbers, and two that fill up the cache line
    w_last: np.ndarray


class Team(NamedTuple):
    """What threads share: the barrier's counter, scratch for each of them, sums of every chunk."""

    gate: np.ndarray  # (8,) int64
    scratch: np.ndarray  # (threads, …)
    sums: np.ndarray  # (chunks, 8), of which two are used


@allocating_kernel
def colour_blocks(bodies, ground, colour):
    """Fill colour (blocks,) greedily in natural order, −1 for serial blocks; returns how many there are."""
    degree = np.zeros(ground + 1, dtype=np.int64)
    for i in range(bodies.shape[0]):
        degree[bodies[i, 0]] += 1
        degree[bodies[i, 1]] += 1
    degree[ground] = 0
    used = np.zeros(ground + 1, dtype=np.uint64)
    colours = 0
    for i in range(bodies.shape[0]):
        a, b = bodies[i, 0], bodies[i, 1]
        colour[i] = -1
        if degree[a] > COLOURS or degree[b] > COLOURS:
            continue
        taken = used[a] | used[b]
        free = 0
        while free < 64 and (taken >> np.uint64(free)) & np.uint64(1):
            free += 1
        if free == 64:
            continue
        colour[i] = free
        colours = max(colours, free + 1)
        bit = np.uint64(1) << np.uint64(free)
        if a != ground:
            used[a] |= bit
        if b != ground:
            used[b] |= bit
    return colours


@inlined_kernel
def _visit_block(eq, i, x, last, w, beta):
    """Extrapolate and solve one block; returns |Δγ|²/ρ and −Δγ·(γ − last)/ρ."""
    z0, z1, z2 = x[i, 0], x[i, 1], x[i, 2]
    x[i, 0] = z0 + beta * (z0 - last[i, 0])
    x[i, 1] = z1 + beta * (z1 - last[i, 1])
    x[i, 2] = z2 + beta * (z2 - last[i, 2])
    last[i, 0], last[i, 1], last[i, 2] = z0, z1, z2
    d0, d1, d2 = visit(eq, i, x, w)
    along = (
        d0 * (x[i, 0] - z0) / eq.cones.weight[i, 0]
        + d1 * (x[i, 1] - z1) / eq.cones.weight[i, 1]
        + d2 * (x[i, 2] - z2) / eq.cones.weight[i, 2]
    )
    return weighted_square(eq.cones, i, d0, d1, d2), -along


@inlined_kernel
def _rows_of_colour(lanes, first, end, w, scratch, sums, chunk, beta, exact, thread, threads):
    """This thread's share of the lanes of one colour, chunk by chunk."""
    chunks = (end - first + CHUNK_ROWS - 1) // CHUNK_ROWS
    for c in range(chunks * thread // threads, chunks * (thread + 1) // threads):
        clear_sums(scratch)
        for row in range(first + c * CHUNK_ROWS, min(first + (c + 1) * CHUNK_ROWS, end)):
            visit_row(lanes.rows[row], lanes.a[row], lanes.b[row], w, scratch, beta, exact)
        sums[chunk + c, 0], sums[chunk + c, 1] = read_sums(scratch)
    return chunk + chunks


@inlined_kernel
def _blocks_of_colour(eq, blocks, first, end, state, sums, chunk, beta, thread, threads):
    """This thread's share of the other blocks of one colour, chunk by chunk."""
    chunks = (end - first + CHUNK_BLOCKS - 1) // CHUNK_BLOCKS
    for c in range(chunks * thread // threads, chunks * (thread + 1) // threads):
        change = 0.0
        along = 0.0
        for entry in range(first + c * CHUNK_BLOCKS, min(first + (c + 1) * CHUNK_BLOCKS, end)):
            one, other = _visit_block(eq, blocks[entry], state.x, state.last, state.w, beta)
            change += one
            along += other
        sums[chunk + c, 0], sums[chunk + c, 1] = change, along
    return chunk + chunks


@inlined_kernel
def _extrapolate_bodies(w, last, beta, thread, threads):
    """This thread's share of: last ← w, w ← w + β (w − last)."""
    chunks = (w.shape[0] + _CHUNK_BODIES - 1) // _CHUNK_BODIES
    first = chunks * thread // threads * _CHUNK_BODIES
    end = min(chunks * (thread + 1) // threads * _CHUNK_BODIES, w.shape[0])
    for i in range(first, end):
        for k in range(6):
            new = w[i, k]
            w[i, k] = new + beta * (new - last[i, k])
            last[i, k] = new


@kernel
def coloured_sweeps(
    eq, lanes, schedule, state, team, momentum, accelerate, growth, count, stop, thread, threads
):
    """Up to `count` sweeps of one thread of a team, ending early when the change is at most `stop` (in √J).

    With `accelerate`, Nesterov momentum as in `nesterov_sweeps`: the extrapolation of a block waits until it
    is visited. momentum = (t_k, smallest change, β) lives on between calls.
    """
    t, smallest, beta = momentum[0], momentum[1], momentum[2]
    exact = eq.cones.tilting > 0.0
    scratch = team.scratch[thread]
    sums = team.sums
    colours = schedule.row_start.shape[0] - 1
    serial = schedule.block_start[colours]
    change = math.inf
    done = 0
    met = 0
    while done < count and not change <= stop:
        _extrapolate_bodies(state.w, state.w_last, beta, thread, threads)
        met = barrier(team.gate, threads, met)
        chunk = 0
        for c in range(colours):
            first, end = schedule.row_start[c], schedule.row_start[c + 1]
            chunk = _rows_of_colour(
                lanes, first, end, state.w, scratch, sums, chunk, beta, exact, thread, threads
            )
            first, end = schedule.block_start[c], schedule.block_start[c + 1]
            chunk = _blocks_of_colour(
                eq, schedule.blocks, first, end, state, sums, chunk, beta, thread, threads
            )
            met = barrier(team.gate, threads, met)
        if serial < schedule.blocks.shape[0] or eq.visited.shape[0] < state.x.shape[0]:
            if thread == 0:
                squared = 0.0
                along = 0.0
                for entry in range(serial, schedule.blocks.shape[0]):
                    one, other = _visit_block(eq, schedule.blocks[entry], state.x, state.last, state.w, beta)
                    squared += one
                    along += other
                extrapolate_joints(eq.joints, state.x, state.last, beta)
                squared += hold_joints(eq.form, eq.joints, eq.q, eq.relaxation, state.x, state.w)
                sums[chunk, 0], sums[chunk, 1] = squared, along
            met = barrier(team.gate, threads, met)
            chunk += 1
        squared = 0.0
        along = 0.0
        for c in range(chunk):
            squared += sums[c, 0]
            along += sums[c, 1]
        done += 1
        change = math.sqrt(squared)
        beta = 0.0
        if accelerate:
            if along > 0.0 or change > growth * smallest:
                t, smallest = 1.0, change
            else:
                before = t
                t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
                smallest = min(smallest, change)
                beta = (before - 1.0) / t
    met = barrier(team.gate, threads, met)  # nobody may still be reading the momentum
    if thread == 0:
        momentum[0], momentum[1], momentum[2] = t, smallest, beta
    return done, change
