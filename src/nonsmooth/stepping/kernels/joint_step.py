"""Joint rows of a time step: brought to the velocities that a step is solved with, weighted by the masses."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import kernel
from nonsmooth._support.kernels.rotations import turned


class JointRows(NamedTuple):
    """What `fill_rows` fills, for r rows."""

    bodies: np.ndarray  # (r, 2) int64, −1 for ground and fixed bodies
    rows: np.ndarray  # (r, 2, 6) rows of Gᵀ
    columns: np.ndarray  # (r, 2, 6) rows of GᵀL⁻ᵀ
    carried: np.ndarray  # (r,) velocity that the fixed bodies' own motion gives, m/s or rad/s


@kernel
def fill_rows(bodies, state, pairs, gradient, out):
    """Turn gradients (r, 2, 6), angular parts in body frames, into rows for the step's velocities.

    Round bodies have their angular velocity in the world frame there. What fixed bodies do on their own goes
    to `out.carried`, and their rows are zero.
    """
    for i in range(pairs.shape[0]):
        out.carried[i] = 0.0
        for side in range(2):
            body = pairs[i, side]
            g = gradient[i, side]
            if body < 0 or bodies.fixed[body]:
                out.bodies[i, side] = -1
                if body >= 0:
                    for k in range(3):
                        out.carried[i] += g[k] * state.linear[body, k] + g[3 + k] * state.angular[body, k]
                for k in range(6):
                    out.rows[i, side, k] = 0.0
                    out.columns[i, side, k] = 0.0
                continue
            out.bodies[i, side] = body
            c0, c1, c2 = g[3], g[4], g[5]
            if bodies.round_body[body]:
                c0, c1, c2 = turned(state.rotation, body, c0, c1, c2)
            root = bodies.inverse_root_mass[body]
            for k in range(3):
                out.rows[i, side, k] = g[k]
                out.columns[i, side, k] = root * g[k]
            out.rows[i, side, 3], out.rows[i, side, 4], out.rows[i, side, 5] = c0, c1, c2
            out.columns[i, side, 3], out.columns[i, side, 4], out.columns[i, side, 5] = turned(
                bodies.inverse_lower, body, c0, c1, c2
            )


@kernel
def row_velocities(pairs, rows, velocity, out):
    """Gᵀv for velocities (n, 6) in the frames of the rows."""
    for i in range(pairs.shape[0]):
        total = 0.0
        for side in range(2):
            body = pairs[i, side]
            if body >= 0:
                for k in range(6):
                    total += rows[i, side, k] * velocity[body, k]
        out[i] = total


@kernel
def add_impulses(pairs, columns, impulses, bodies, velocity):
    """v += M⁻¹G λ, where `columns` are the rows of GᵀL⁻ᵀ."""
    for i in range(pairs.shape[0]):
        for side in range(2):
            body = pairs[i, side]
            if body < 0:
                continue
            root = bodies.inverse_root_mass[body]
            lower = bodies.inverse_lower[body]
            for k in range(3):
                velocity[body, k] += root * columns[i, side, k] * impulses[i]
                for j in range(3):
                    velocity[body, 3 + k] += lower[j, k] * columns[i, side, 3 + j] * impulses[i]


@kernel
def largest_entry(values, chosen):
    """Largest |value| where `chosen` is true; NaN if one is not a number."""
    worst = 0.0
    for i in range(values.shape[0]):
        if chosen[i]:
            if math.isnan(values[i]):
                return math.nan
            worst = max(worst, abs(values[i]))
    return worst
