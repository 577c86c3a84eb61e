"""The flight of RATTLE: impulses at its beginning that close the joints at its end, by Newton's method."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel
from nonsmooth.model.joints.kernels.rows import evaluate
from nonsmooth.solvers.kernels.joint_factor import solve
from nonsmooth.stepping.kernels.joint_step import add_impulses
from nonsmooth.stepping.kernels.motion import drift, set_rotations

_ITERATIONS = 30
_WORSE = 4.0
"""Growth of the error with which the iteration is given up."""


class Flight(NamedTuple):
    """The bilateral rows where a flight begins; r of all rows, b of them bilateral."""

    chosen: np.ndarray  # (b,) int64: which of all rows they are
    on_velocity: np.ndarray  # (b,) bool: rows whose rate alone is prescribed
    number: np.ndarray  # (b,) int64: their order of elimination
    root: np.ndarray  # (b,) √ρ
    pairs: np.ndarray  # (b, 2) int64
    rows: np.ndarray  # (b, 2, 6)
    columns: np.ndarray  # (b, 2, 6)
    target: np.ndarray  # (b,) value at the end in m or rad; where the rate is prescribed, this rate


@allocating_kernel
def fly(bodies, state, table, near, flight, panels, factor, step, closed, half, end, impulses):
    """Move the state by a flight of one step, with impulses at its beginning such that it closes.

    `half` (n, 6) is the velocity at the beginning, to which the impulses are added, and `end` becomes that at
    the end; `impulses` (b,) become the sum of what was added, in N·s or N·m·s.
    The matrix is that of the beginning. Returns whether all rows are within `closed` (m or rad).
    """
    count = near.shape[0]
    value, angle, gradient = np.empty(count), np.empty((count, 2)), np.empty((count, 2, 6))
    error = np.empty(flight.chosen.shape[0])
    position, quaternion, rotation = state.position.copy(), state.quaternion.copy(), state.rotation.copy()
    last = math.inf
    impulses[:] = 0.0
    for _ in range(_ITERATIONS):
        end[:] = half
        drift(bodies, state, end, step)
        set_rotations(state.quaternion, state.rotation)
        evaluate(table, state.position, state.rotation, near, value, angle, gradient)
        worst = errors(flight, value, half, step, error)
        if worst <= 0.01 * closed or (worst <= closed and worst >= 0.5 * last):
            return True
        if not worst < _WORSE * last:
            return False
        last = worst
        state.position[:] = position
        state.quaternion[:] = quaternion
        state.rotation[:] = rotation
        right = np.empty(error.shape[0])
        for j in range(error.shape[0]):
            right[flight.number[j]] = -flight.root[j] * error[j] / step
        solve(panels, factor, right)
        for j in range(error.shape[0]):
            error[j] = flight.root[j] * right[flight.number[j]]
            impulses[j] += error[j]
        add_impulses(flight.pairs, flight.columns, error, bodies, half)
    return False


@allocating_kernel
def errors(flight, value, half, step, error):
    """Fill in how far the rows are from where they must be; returns the largest, NaN if one is NaN."""
    worst = 0.0
    for j in range(error.shape[0]):
        if flight.on_velocity[j]:
            speed = -flight.target[j]
            for side in range(2):
                body = flight.pairs[j, side]
                if body >= 0:
                    for k in range(6):
                        speed += flight.rows[j, side, k] * half[body, k]
            error[j] = step * speed
        else:
            error[j] = value[flight.chosen[j]] - flight.target[j]
        if math.isnan(error[j]):
            return math.nan
        worst = max(worst, abs(error[j]))
    return worst
