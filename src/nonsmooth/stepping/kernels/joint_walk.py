"""A step of joints alone, all of them rows without bounds: one linear system, solved by its factor.

The structure of the factor does not change in a run. What `solvers.parts.joint_factor` and
`schemes.step_problem` do with objects is done here in the world's arrays.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel
from nonsmooth.model.joints.kernels.rows import RowTable, add_turns, evaluate
from nonsmooth.problem.kernels.operator import Factored, factored_diagonal
from nonsmooth.problem.kernels.residuals import (
    Cones,
    block_weights,
    fill_scales,
    residual_by_island,
    velocities,
)
from nonsmooth.solvers.kernels.joint_block import JointBlock, hold_joints
from nonsmooth.solvers.kernels.joint_factor import assemble_factored, factorise
from nonsmooth.stepping.kernels.islands import ROUNDING_SHARE, number_islands
from nonsmooth.stepping.kernels.joint_step import JointRows, fill_rows, row_velocities

_SWEEPS = 2  # as `JointSystem`: the second one refines


class Found(NamedTuple):
    """All rows at a state."""

    value: np.ndarray  # (r,)
    angle: np.ndarray  # (r, 2)
    gradient: np.ndarray  # (r, 2, 6)


class Order(NamedTuple):
    """Of the elimination: see `Structure`."""

    panel_block: np.ndarray
    block_start: np.ndarray
    body_start: np.ndarray
    body_entry: np.ndarray


class Joints(NamedTuple):
    """The joints of a run whose steps the walk does; r rows in b blocks. Without rows there are none."""

    table: RowTable
    offset: np.ndarray  # (r,) m or rad
    rate: np.ndarray  # (r,) m/s or rad/s
    angles: np.ndarray  # (r, 2) last known, rad
    begin: Found
    end: Found
    rows: JointRows
    bias: np.ndarray  # (r,)
    free: np.ndarray  # (r,)
    impulses: np.ndarray  # (r,) N·s or N·m·s
    slot: np.ndarray  # (r,) int64: place of each row in the flat (b, 3)
    orientation: np.ndarray  # (n, 4) at the beginning of the step
    room: np.ndarray  # (r or c, 2, 6)
    coordinates: RowTable  # (c rows) of the joints, which nothing acts on
    coordinate_angles: np.ndarray  # (c, 2) last known, rad
    now: Found  # (c rows)
    pairs: np.ndarray  # (b, 2) uint32
    columns: np.ndarray  # (b, 2, 3, 6), zero where a block has fewer rows
    present: np.ndarray  # (b, 3) bool
    components: np.ndarray  # (0,) int64
    diagonal: np.ndarray  # (b, 3, 3)
    friction: np.ndarray  # (b,) zeros
    kind: np.ndarray  # (b,) uint8
    weight: np.ndarray  # (b, 3)
    lower: np.ndarray  # (b, 3)
    upper: np.ndarray  # (b, 3)
    q: np.ndarray  # (b, 3)
    x: np.ndarray  # (b, 3)
    u: np.ndarray  # (b, 3)
    zero: np.ndarray  # (b, 3)
    island: np.ndarray  # (b,) int64
    scale: np.ndarray  # (b,)
    residual: np.ndarray  # (b,)
    size: np.ndarray  # (b,)
    parent: np.ndarray  # (6 (n + 1),) int64
    order: Order
    block: JointBlock
    w: np.ndarray  # (n + 1, 6)
    numbers: np.ndarray  # (3,): see below


WORK, OPENING, SWEEPS = range(3)
"""Entries of `Joints.numbers`: work of the impulses in J, largest opening in m or rad, sweeps."""


@inner_kernel
def _assemble(j, bodies, state, velocity, step):
    """Rows, biases and the operator by blocks, for the velocities without impulses."""
    rows = JointRows(j.rows.bodies, j.rows.rows, j.rows.columns, j.rows.carried)
    found = j.begin
    evaluate(j.table, state.position, state.rotation, j.angles, found.value, found.angle, found.gradient)
    fill_rows(bodies, state, j.table.bodies, found.gradient, rows)
    row_velocities(rows.bodies, rows.rows, velocity, j.free)
    ground = state.position.shape[0]
    for i in range(ground):
        for k in range(4):
            j.orientation[i, k] = state.quaternion[i, k]
    for r in range(j.slot.shape[0]):
        j.bias[r] = (found.value[r] - j.offset[r]) / step - j.rate[r] + rows.carried[r]
        j.free[r] += j.bias[r]
        block, k = j.slot[r] // 3, j.slot[r] % 3
        j.q[block, k] = j.free[r]
        for side in range(2):
            body = rows.bodies[r, side]
            j.pairs[block, side] = ground if body < 0 else body
            for m in range(6):
                j.columns[block, side, k, m] = rows.columns[r, side, m]


@inner_kernel
def _factorise(j, form):
    """Weights of the rows, and the factor of N."""
    factored_diagonal(form, j.diagonal)
    for i in range(j.present.shape[0]):
        for k in range(3):
            if not j.present[i, k]:
                j.diagonal[i, k, k] = 1.0
    block_weights(j.diagonal, j.components, j.weight)
    place, root = j.block.place, j.block.root
    for i in range(j.present.shape[0]):
        for k in range(3):
            if place[i, k] >= 0:
                root[place[i, k]] = math.sqrt(j.weight[i, k])
    order, panels = j.order, j.block.panels
    assemble_factored(
        form, panels, j.block.blocks, place, root, order.panel_block, order.block_start, order.body_start,
        order.body_entry, j.block.free,
    )  # fmt: skip
    factorise(panels, j.block.free, j.block.work[0])


@inner_kernel
def _work(j):
    """Work of the impulses, λ · (Gᵀv before + Gᵀv after)/2: of stabilisation."""
    total = 0.0
    for r in range(j.slot.shape[0]):
        u = j.u[j.slot[r] // 3, j.slot[r] % 3]
        total += j.impulses[r] * (j.free[r] + u - 2.0 * j.bias[r])
    return 0.5 * total


@inner_kernel
def hold_alone(j, bodies, state, velocity, given):
    """Impulses of the joints in a step without contacts; their relative residual. `j.w` becomes A x.

    `given` are the step in s, the number of sides and the tilting of the law.
    """
    step, sides, tilting = given
    _assemble(j, bodies, state, velocity, step)
    form = Factored(j.pairs, j.columns, state.position.shape[0] + 1)
    _factorise(j, form)
    islands = number_islands(form, j.parent, j.island)
    cones = Cones(j.friction, j.kind, j.weight, j.lower, j.upper, sides, tilting)
    scale = j.scale[:islands]
    fill_scales(cones, j.q, j.zero, j.island, ROUNDING_SHARE, scale, j.size[:islands])
    for i in range(j.x.shape[0]):
        j.x[i, 0], j.x[i, 1], j.x[i, 2] = 0.0, 0.0, 0.0
    for i in range(j.w.shape[0]):
        for k in range(6):
            j.w[i, k] = 0.0
    done, change = 0, math.inf
    while done < _SWEEPS and not change <= 0.0:
        change = hold_joints(form, j.block, j.q, 1.0, j.x, j.w)
        done += 1
    velocities(form, j.x, j.q, j.w, j.u)
    for r in range(j.slot.shape[0]):
        j.impulses[r] = j.x[j.slot[r] // 3, j.slot[r] % 3]
    j.numbers[WORK], j.numbers[SWEEPS] = _work(j), done
    return residual_by_island(cones, j.island, scale, j.x, j.u, j.residual[:islands], j.size[:islands])


@inner_kernel
def follow(j, state):
    """Update the angles of all coordinates to a state with its rotation matrices."""
    now = j.now
    evaluate(
        j.coordinates, state.position, state.rotation, j.coordinate_angles, now.value, now.angle, now.gradient
    )
    for c in range(now.value.shape[0]):
        j.coordinate_angles[c, 0], j.coordinate_angles[c, 1] = now.angle[c, 0], now.angle[c, 1]


@inner_kernel
def settle(j, state, step):
    """Follow the angles to the new state, whose rotation matrices are known, and measure the openings."""
    at = state.position, state.rotation, state.linear, state.angular
    add_turns(j.table, at[0], at[1], at[2], at[3], step, j.room, j.angles)
    add_turns(j.coordinates, at[0], at[1], at[2], at[3], step, j.room, j.coordinate_angles)
    end = j.end
    evaluate(j.table, state.position, state.rotation, j.angles, end.value, end.angle, end.gradient)
    worst = 0.0
    for r in range(j.slot.shape[0]):
        j.angles[r, 0], j.angles[r, 1] = end.angle[r, 0], end.angle[r, 1]
        opening = abs(end.value[r] - j.offset[r])
        if math.isnan(opening):
            worst = math.nan
        worst = max(worst, opening)
    j.numbers[OPENING] = worst
