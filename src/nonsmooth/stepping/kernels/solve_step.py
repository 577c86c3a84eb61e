"""The contact problem of a step in the world's arrays, and its solution by sweeps if it is small."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.problem.kernels.operator import factored_diagonal, factored_islands
from nonsmooth.problem.kernels.residuals import block_weights, fill_scales
from nonsmooth.solvers.kernels.gauss_seidel import Scaled, sweep_to_goal
from nonsmooth.stepping.kernels.step import assemble, to_components
from nonsmooth.stepping.kernels.turning import turn_vertices
from nonsmooth.stepping.kernels.world import (
    FOUND,
    GROWTH,
    ISLANDS,
    PUSH_OUT,
    REACHED,
    SIDES,
    SMALL,
    SOLVED_TO,
    SWEEPS,
    SWEPT,
    TOLERANCE,
    WHOLE,
    ZERO_RESIDUAL,
    H,
    bodies_of,
    cones_of,
    form_of,
    room_of,
    rows_of,
    state_of,
)

_ROUNDING_SHARE = 1e-6  # as in `Scales`


@inner_kernel
def assemble_problem(world):
    """Rows, biases, operator, weights, islands and scales of the contacts; impulses to begin with."""
    c, bodies, state = world.count[FOUND], bodies_of(world), state_of(world)
    p, move, h = world.problem, world.move, world.real[H]
    found = world.detection.contacts.found
    rows, gap, shift = rows_of(world, c), found.gap[:c], p.shift[:0]
    if p.cornered.shape[0] > 0 and c > 0:
        gap, shift = p.gap[:c], p.shift[:c]
        for i in range(c):
            gap[i] = found.gap[i]
        turn_vertices(
            bodies, state, move.free, found.shapes[:c], found.bodies[:c], found.point[:c], found.normal[:c],
            p.cornered, h, gap, shift,
        )  # fmt: skip
    parts = (found.shapes[:c], found.bodies[:c], found.point[:c], found.normal[:c], gap, shift)
    assemble(bodies, state, move.free, parts, h, world.real[PUSH_OUT], rows)
    ground = state.position.shape[0]
    for i in range(c):
        for side in range(2):
            body = rows.bodies[i, side]
            p.pairs[i, side] = ground if body < 0 else body
    form = form_of(world, c)
    factored_diagonal(form, p.diagonal[:c])
    block_weights(p.diagonal[:c], p.components[:c], p.weight[:c])
    islands = _number_islands(form, p.parent, p.island[:c])
    world.count[ISLANDS] = islands
    cones, scale = cones_of(world, c), p.scale[:islands]
    world.real[ZERO_RESIDUAL] = fill_scales(
        cones, rows.free, p.zero[:c], p.island[:c], _ROUNDING_SHARE, scale, world.room.size[:islands]
    )
    whole = 0.0
    for j in range(islands):
        whole += scale[j] * scale[j]
    world.real[WHOLE] = math.sqrt(whole)
    to_components(rows.frame, world.matched.start[:c], p.x[:c])
    for i in range(c):
        p.scale_of_block[i] = scale[p.island[i]]


@inner_kernel
def _number_islands(form, parent, island):
    """Fill in the island of every contact, 0, 1, … by their smallest coordinate; their number."""
    for i in range(parent.shape[0]):
        parent[i] = i
    factored_islands(form, parent, island)
    for i in range(parent.shape[0]):
        parent[i] = -1
    for i in range(island.shape[0]):
        parent[island[i]] = 0
    islands = 0
    for i in range(parent.shape[0]):
        if parent[i] == 0:
            parent[i] = islands
            islands += 1
    for i in range(island.shape[0]):
        island[i] = parent[island[i]]
    return islands


@inner_kernel
def solve_small(world):
    """Solve the problem if nothing approaches, or if it is small and sweeps reach the tolerance."""
    c, p, count, real = world.count[FOUND], world.problem, world.count, world.real
    x = p.x[:c]
    idle = False
    warm = False
    for i in range(c):
        idle = idle or p.scale_of_block[i] == 0.0
        warm = warm or x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0
    if real[ZERO_RESIDUAL] == 0.0 and (not warm or real[WHOLE] == 0.0):
        for i in range(c):
            x[i, 0], x[i, 1], x[i, 2] = 0.0, 0.0, 0.0
        count[SWEPT], count[REACHED], real[SOLVED_TO] = 0, 1, 0.0
        return True
    if c > count[SMALL] or count[SIDES] > 0:
        return False
    if idle or real[ZERO_RESIDUAL] == 0.0:
        for i in range(c):
            if p.scale_of_block[i] == 0.0:
                x[i, 0], x[i, 1], x[i, 2] = 0.0, 0.0, 0.0
    rows, scaled = rows_of(world, c), Scaled(p.island[:c], p.scale[: count[ISLANDS]], real[WHOLE])
    limits = real[GROWTH], count[SWEEPS], real[TOLERANCE]
    swept, residual = sweep_to_goal(
        form_of(world, c), cones_of(world, c), (p.diagonal[:c], rows.free), scaled, x, room_of(world, c),
        limits,
    )  # fmt: skip
    count[SWEPT], real[SOLVED_TO] = swept, residual
    count[REACHED] = residual <= real[TOLERANCE]
    return residual <= real[TOLERANCE]
