"""The certificate of a step's impulses, and the step's numbers: energies, overlaps."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.problem.kernels import mass
from nonsmooth.problem.kernels.residuals import residual_by_island, velocities, worst_violations
from nonsmooth.stepping.kernels import motion, numbers
from nonsmooth.stepping.kernels.joint_walk import OPENING, WORK
from nonsmooth.stepping.kernels.step import impulse_numbers
from nonsmooth.stepping.kernels.world import (
    COMPLEMENTARITY,
    DEEP_LIMIT,
    DISSIPATION,
    FORCE_ERROR,
    FOUND,
    ISLANDS,
    JOINTS_ALONE,
    LATE_FOUND,
    LOGGED,
    METHOD,
    REACHED,
    RESIDUAL,
    STEP,
    SWEPT,
    TOLERANCE,
    WHOLE,
    WITHHELD,
    H,
    bodies_of,
    cones_of,
    form_of,
    room_of,
    rows_of,
)


@inner_kernel
def judge(world):
    """Velocities that the impulses give, and the certificate of both."""
    c, p, move, real = world.count[FOUND], world.problem, world.move, world.real
    rows, room, x = rows_of(world, c), room_of(world, c), p.x[:c]
    cones, scale, u = cones_of(world, c), p.scale[: world.count[ISLANDS]], room.velocity
    velocities(form_of(world, c), x, rows.free, room.w_judged, u)
    natural = residual_by_island(cones, p.island[:c], scale, x, u, room.residual, room.size)
    masses, weighted = world.masses, room.w_judged[: move.velocity.shape[0]]
    mass.velocity(masses.lower_inverse, move.momentum, weighted, move.velocity)
    _, balance = mass.balance(
        masses.blocks, masses.lower, masses.lower_inverse, move.momentum, weighted, move.velocity
    )
    real[RESIDUAL] = math.nan if math.isnan(natural) or math.isnan(balance) else max(natural, balance)
    if not balance <= real[TOLERANCE]:  # a mass matrix near singular
        world.count[REACHED] = 0
    real[DISSIPATION] = worst_violations(cones, x, u, rows.free, p.scale_of_block[:c], p.worst)
    real[COMPLEMENTARITY], squared = impulse_numbers(x, u, p.weight[:c])
    real[FORCE_ERROR] = real[WHOLE] * natural / math.sqrt(squared) if squared > 0.0 else 0.0


@inner_kernel
def log_step(world):
    """Append a row to the log, for bodies at the end of the step."""
    count, real, move, bodies = world.count, world.real, world.move, bodies_of(world)
    row = world.log[count[LOGGED]]
    for k in range(row.shape[0]):
        row[k] = 0.0
    kinetic = motion.kinetic_energy(bodies, move.velocity)
    row[numbers.TIME] = (count[STEP] + 1) * real[H]
    row[numbers.RESIDUAL] = real[RESIDUAL]
    row[numbers.ITERATIONS] = count[SWEPT]
    row[numbers.SOLVED] = 1.0 if count[REACHED] and world.checked[3] == 0.0 else 0.0
    row[numbers.CONTACTS] = count[FOUND]
    row[numbers.KINETIC] = kinetic
    row[numbers.SPEED], row[numbers.POTENTIAL] = motion.body_numbers(
        bodies, world.state.position, move.velocity, move.gravity
    )
    row[numbers.CONTACT_WORK] = kinetic - motion.kinetic_energy(bodies, move.free)
    if count[METHOD] == JOINTS_ALONE:
        row[numbers.CONTACT_WORK] -= world.joints.numbers[WORK]
        row[numbers.JOINT_ERROR] = world.joints.numbers[OPENING]
    row[numbers.DISSIPATION] = real[DISSIPATION]
    row[numbers.COMPLEMENTARITY] = real[COMPLEMENTARITY]
    row[numbers.FORCE_ERROR] = real[FORCE_ERROR]
    row[numbers.PENETRATION], row[numbers.DEEP] = _overlaps(world, count[FOUND])
    row[numbers.LATE] = count[LATE_FOUND]
    row[numbers.FLIGHT_WORK] = math.nan
    row[numbers.CHECKED] = world.checked[0]
    row[numbers.GAP_ERROR] = world.checked[1]
    row[numbers.NORMAL_ERROR] = world.checked[2]
    row[numbers.WRONG] = world.checked[3]
    row[numbers.MISSING] = world.checked[4]
    row[numbers.WITHHELD] = count[WITHHELD]
    count[LOGGED] += 1


@inner_kernel
def _overlaps(world, c):
    """Largest overlap of the contacts in m, and the number of deep ones."""
    found, radius = world.detection.contacts.found, world.move.bounding_radius
    deepest = 0.0
    deep = 0
    for i in range(c):
        gap = found.gap[i]
        deepest = max(deepest, -gap)
        if gap < 0.0:
            least = min(radius[found.bodies[i, 0]], radius[found.bodies[i, 1]])
            deep += gap < -world.real[DEEP_LIMIT] * least
    return deepest, deep
