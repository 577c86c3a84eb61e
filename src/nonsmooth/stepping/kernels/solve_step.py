"""The contact problem of a step in the world's arrays, and its solution: by sweeps, or by ADMM on a tower."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.problem.kernels import mass
from nonsmooth.problem.kernels.operator import copy_into, factored_diagonal
from nonsmooth.problem.kernels.residuals import block_weights, fill_scales
from nonsmooth.solvers.kernels.admm import Bodies, Run, body_band, factorise, iterate, start_at
from nonsmooth.solvers.kernels.anderson import Mixture, clear
from nonsmooth.solvers.kernels.bands import BodyOrder
from nonsmooth.solvers.kernels.gauss_seidel import Scaled, judge_impulses, sweep_to_goal
from nonsmooth.solvers.kernels.stacks import tower
from nonsmooth.stepping.kernels.islands import ROUNDING_SHARE, number_islands
from nonsmooth.stepping.kernels.joint_walk import SWEEPS as JOINT_SWEEPS
from nonsmooth.stepping.kernels.joint_walk import hold_alone
from nonsmooth.stepping.kernels.step import assemble, to_components
from nonsmooth.stepping.kernels.turning import turn_vertices
from nonsmooth.stepping.kernels.world import (
    AFTER_TOWER,
    AHEAD,
    COMPLEMENTARITY,
    DISSIPATION,
    FORCE_ERROR,
    FOUND,
    GROWTH,
    ISLANDS,
    JOINTS_ALONE,
    METHOD,
    NOTHING,
    PUSH_OUT,
    REACHED,
    RESIDUAL,
    SIDES,
    SMALL,
    SOLVED_TO,
    SWEEPING,
    SWEEPS,
    SWEPT,
    TILTING,
    TOLERANCE,
    TOWER,
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

_PENALTY = 0.1  # as in `ADMM`
_ONWARD = 0.01
"""Part of the tolerance that ADMM on a tower aims at: what is left of a step's error moves the bodies, and
the next step begins there. A wall solved to its tolerance alone takes more iterations in every step."""


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
    islands = number_islands(form, p.parent, p.island[:c])
    world.count[ISLANDS] = islands
    cones, scale = cones_of(world, c), p.scale[:islands]
    world.real[ZERO_RESIDUAL] = fill_scales(
        cones, rows.free, p.zero[:c], p.island[:c], ROUNDING_SHARE, scale, world.room.size[:islands]
    )
    whole = 0.0
    for j in range(islands):
        whole += scale[j] * scale[j]
    world.real[WHOLE] = math.sqrt(whole)
    to_components(rows.frame, world.matched.start[:c], p.x[:c])
    for i in range(c):
        p.scale_of_block[i] = scale[p.island[i]]


@inner_kernel
def solve_idle(world):
    """Zero impulses if nothing approaches; else set those of islands where nothing does to zero."""
    c, p, count, real = world.count[FOUND], world.problem, world.count, world.real
    x = p.x[:c]
    idle = real[ZERO_RESIDUAL] == 0.0
    warm = False
    for i in range(c):
        idle = idle or p.scale_of_block[i] == 0.0
        warm = warm or x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0
    count[SWEPT], count[METHOD] = 0, NOTHING
    if real[ZERO_RESIDUAL] == 0.0 and (not warm or real[WHOLE] == 0.0):
        for i in range(c):
            x[i, 0], x[i, 1], x[i, 2] = 0.0, 0.0, 0.0
        count[REACHED], real[SOLVED_TO] = 1, 0.0
        return True
    if idle:
        for i in range(c):
            if p.scale_of_block[i] == 0.0:
                x[i, 0], x[i, 1], x[i, 2] = 0.0, 0.0, 0.0
    return False


@inner_kernel
def solve_small(world):
    """Sweep a small problem; True if that reaches the tolerance."""
    c, p, count, real = world.count[FOUND], world.problem, world.count, world.real
    if c > count[SMALL] or count[SIDES] > 0:
        return False
    rows, scaled = rows_of(world, c), Scaled(p.island[:c], p.scale[: count[ISLANDS]], real[WHOLE])
    limits = real[GROWTH], count[SWEEPS], real[TOLERANCE]
    swept, real[SOLVED_TO] = sweep_to_goal(
        form_of(world, c), cones_of(world, c), (p.diagonal[:c], rows.free), scaled, p.x[:c],
        room_of(world, c), limits,
    )  # fmt: skip
    count[SWEPT] += swept
    count[METHOD] = SWEEPING if count[METHOD] == NOTHING else AFTER_TOWER
    count[REACHED] = real[SOLVED_TO] <= real[TOLERANCE]
    return real[SOLVED_TO] <= real[TOLERANCE]


@inner_kernel
def solve_tower(world):
    """Solve the problem by ADMM if bodies stand one upon the other; True if it reaches the tolerance.

    As `Auto` does: if it does not reach it, the better of the start and the result is kept.
    """
    c, count, real, t, p = world.count[FOUND], world.count, world.real, world.tower, world.problem
    if count[AHEAD] == 0 or count[SIDES] > 0 or c > t.run.root.shape[0]:
        return False
    form, room, x = form_of(world, c), room_of(world, c), p.x[:c]
    ground = world.state.position.shape[0]
    order = BodyOrder(t.order.order, t.order.place, t.order.start, t.order.near)
    moving, width = tower(form.bodies, c, ground, t.level, t.count, order)
    entries = 6 * moving * (width + 1)
    if moving < 0 or entries > t.band.shape[0]:
        return False
    cones, q = cones_of(world, c), rows_of(world, c).free
    scaled = Scaled(p.island[:c], p.scale[: count[ISLANDS]], real[WHOLE])
    residual = first = judge_impulses(form, cones, q, scaled, x, room.w_judged, room)
    copy_into(room.before, x)
    run = _run_of(t.run, c)
    for i in range(c):
        run.softness[i] = 1.0
        for k in range(3):
            run.root[i, k] = math.sqrt(p.weight[i, k])
            run.q[i, k] = run.root[i, k] * q[i, k]
    start_at(form, cones, run, _PENALTY, x, room.w)
    m = t.mixture
    mixture = Mixture(m.changes, m.values, m.last, m.gram, m.matrix, m.mix, m.place, m.smallest)
    clear(mixture)
    bodies = Bodies(
        t.order.order[:moving],
        t.order.place,
        t.band[:entries],
        t.factor[:entries],
        t.w,
        t.solved[: 6 * moving],
        t.columns,
    )
    body_band(form, run.root, run.softness, bodies.place, width, bodies.band)
    goal = _ONWARD * real[TOLERANCE]
    good, own, done, strictness = factorise(run, bodies), math.inf, 0, 1.0
    while good and done < count[AHEAD] and not residual <= goal and not math.isnan(own):
        stop = strictness * goal * real[WHOLE]
        some, own, good = iterate(form, cones, run, mixture, bodies, (count[AHEAD] - done, stop))
        done += some
        for i in range(c):
            for k in range(3):
                x[i, k] = run.root[i, k] * run.x[i, k]
        residual = judge_impulses(form, cones, q, scaled, x, room.w_judged, room)
        if own <= stop and not residual <= goal:
            strictness *= 0.5 * min(1.0, goal / residual)
    if not residual < first:
        copy_into(x, room.before)
        residual = first
    count[SWEPT] += done
    real[SOLVED_TO], count[METHOD] = residual, TOWER
    count[REACHED] = residual <= real[TOLERANCE]
    return residual <= real[TOLERANCE]


@inner_kernel
def _run_of(run, c):
    """The variables of ADMM for a number of contacts."""
    return Run(
        run.root[:c], run.q[:c], run.x[:c], run.p[:c], run.y[:c], run.u[:c], run.right[:c], run.change[:c],
        run.before[:c], run.softness[:c], run.penalty[:c], run.sums, run.real, run.count,
    )  # fmt: skip


@inner_kernel
def solve_joints(world):
    """Solve a step of joints alone, with the velocities after it; False if that misses the tolerance."""
    count, real, move, masses = world.count, world.real, world.move, world.masses
    given = real[H], count[SIDES], real[TILTING]
    natural = hold_alone(world.joints, bodies_of(world), state_of(world), move.free, given)
    if not natural <= real[TOLERANCE]:
        return False
    weighted = world.joints.w[: move.velocity.shape[0]]
    mass.velocity(masses.lower_inverse, move.momentum, weighted, move.velocity)
    _, balance = mass.balance(
        masses.blocks, masses.lower, masses.lower_inverse, move.momentum, weighted, move.velocity
    )
    real[RESIDUAL] = math.nan if math.isnan(balance) else max(natural, balance)
    real[DISSIPATION] = real[COMPLEMENTARITY] = real[FORCE_ERROR] = 0.0
    count[SWEPT], count[METHOD], count[REACHED] = world.joints.numbers[JOINT_SWEEPS], JOINTS_ALONE, 1
    real[SOLVED_TO] = natural
    return True
