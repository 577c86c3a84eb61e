"""One time step after the other inside compiled code: forces → free motion → contacts → problem → new state.

`walk` returns where something must be done outside of it, and goes on at the next stage when it is called
again. What must leave: forces that change, contacts that `Detector` has to find, a check of the contacts,
schemes with joints or impacts, a problem for a solver that sweeps do not solve, fast bodies.
"""

import math

from nonsmooth._support.cycles import cycles
from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.check.step import EVERY, check_found, summarise
from nonsmooth.collision.kernels.detection import ELSEWHERE, ROOM, find_contacts, first_rows
from nonsmooth.collision.kernels.matching import carry_over, match
from nonsmooth.collision.kernels.motion.fast_pairs import any_fast
from nonsmooth.problem.kernels.operator import copy_into
from nonsmooth.stepping.kernels import motion
from nonsmooth.stepping.kernels.joint_walk import follow, settle
from nonsmooth.stepping.kernels.log_step import judge, log_step
from nonsmooth.stepping.kernels.solve_step import (
    assemble_problem,
    solve_idle,
    solve_joints,
    solve_small,
    solve_tower,
)
from nonsmooth.stepping.kernels.step import to_vectors
from nonsmooth.stepping.kernels.turning import Planes, sweep_planes
from nonsmooth.stepping.kernels.world import (
    ASSEMBLY,
    CERTIFYING,
    COLLISION,
    FORCES_CHANGE,
    FOUND,
    FOUND_OUTSIDE,
    JOINTS_ALONE,
    KNOWN,
    LATE_FOUND,
    LATE_LIMIT,
    LOGGED,
    MARGIN,
    METHOD,
    MOTION,
    OUTSIDE,
    SHORTENED,
    SOLVING,
    STAGE,
    STEP,
    UNTIL,
    WITHHELD,
    H,
    bodies_of,
    rows_of,
    state_of,
)

BEGIN, READY, DETECT, CHECK, MATCH, SOLVE, FINISH, MOVE = range(8)
"""Stages at which a walk goes on."""
DONE, FORCES, GROW, CONTACTS, CHECKING, SCHEME, SOLVER, FAST = range(8)
"""Why a walk returns: all steps are done, or what must be done outside."""


@inner_kernel
def _free_motion(world):
    """The motion without impulses, bounds on displacements, and the margin of this step."""
    bodies, state, move, h = bodies_of(world), state_of(world), world.move, world.real[H]
    for i in range(move.centres.shape[0]):
        for k in range(3):
            move.centres[i, k] = state.position[i, k]
    motion.set_rotations(state.quaternion, state.rotation)
    motion.free_motion(bodies, state, move.force, h, move.momentum, move.free)
    motion.reach(bodies, state, move.free, move.spin_radius, h, move.displacement, move.turn)
    p = world.planes
    sweep_planes(Planes(p.body, p.normal, p.others, p.radius), state, h, move.displacement, move.turn)
    world.count[WITHHELD] = 0
    if world.joints.slot.shape[0] > 0:
        follow(world.joints, state)


@inner_kernel
def set_margin(world):
    """The margin of a step: doubled at most, where bodies move further than it."""
    d = world.move.displacement
    fastest = 0.0
    for i in range(d.shape[0]):
        fastest = max(fastest, d[i, 0] * d[i, 0] + d[i, 1] * d[i, 1] + d[i, 2] * d[i, 2])
    margin = world.real[MARGIN]
    world.detection.margins[0] = min(max(margin, math.sqrt(fastest)), 2.0 * margin)


@inner_kernel
def _match(world):
    """Impulses to begin with, and contacts that were found too late."""
    c, known = world.count[FOUND], world.count[KNOWN]
    found, matched = world.detection.contacts.found, world.matched
    match(
        matched.shapes[:known], matched.feature[:known], found.shapes[:c], found.feature[:c], matched.old[:c]
    )
    carry_over(matched.old[:c], matched.impulses, matched.start[:c])
    limit = -world.real[LATE_LIMIT] * world.real[MARGIN]
    late = 0
    if world.count[STEP] > 0:
        for i in range(c):
            late += found.gap[i] < limit and matched.old[i] < 0
    world.count[LATE_FOUND] = late


@inner_kernel
def _remember(world):
    """Keep the contacts and their impulses for the next step."""
    c = world.count[FOUND]
    found, matched, impulses = world.detection.contacts.found, world.matched, world.problem.impulses
    for i in range(c):
        matched.shapes[i, 0], matched.shapes[i, 1] = found.shapes[i, 0], found.shapes[i, 1]
        matched.feature[i] = found.feature[i]
        for k in range(3):
            matched.impulses[i, k] = impulses[i, k]
    world.count[KNOWN] = c


@inner_kernel
def _all_finite(values):
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            if not math.isfinite(values[i, k]):
                return False
    return True


@inner_kernel
def _finish(world):
    """Velocities and impulses of the solve; returns whether a body moves so fast that its way is followed."""
    c, bodies, state, move = world.count[FOUND], bodies_of(world), state_of(world), world.move
    impulses = world.problem.impulses[:c]
    if world.count[METHOD] != JOINTS_ALONE:
        judge(world)
    if not _all_finite(move.velocity):
        # the solver diverged: bodies move freely in this step, and its status reports it
        copy_into(move.velocity, move.free)
        for i in range(c):
            impulses[i, 0], impulses[i, 1], impulses[i, 2] = 0.0, 0.0, 0.0
    else:
        to_vectors(rows_of(world, c).frame, world.problem.x[:c], impulses)
    motion.ways(
        bodies, state, move.velocity, move.spin_radius, world.real[H], move.displacement, move.rotation,
        move.turn,
    )  # fmt: skip
    return any_fast(move.displacement, move.turn, world.detection.placed.hasty, move.least)


@inner_kernel
def _find(world):
    """Number of contacts, or why they have to be found elsewhere: as `find_contacts`."""
    if world.count[FOUND_OUTSIDE]:
        return ELSEWHERE
    state, move = state_of(world), world.move
    return find_contacts(world.detection, state.position, state.quaternion, move.displacement, move.turn)


@inner_kernel
def _check(world):
    """Check the contacts if that is due; False if it has to be done elsewhere."""
    count, every, checked, state = world.count, world.check.plan[EVERY], world.checked, world.state
    for k in range(checked.shape[0]):
        checked[k] = 0.0
    if every == 0 or count[STEP] % every != 0:
        return True
    if count[WITHHELD] > 0:
        return False
    margin = world.detection.margins[0]
    found = first_rows(world.detection.contacts.found, count[FOUND])
    check_found(world.check, world.check_rows, found, state.position, state.quaternion, margin, count[STEP])
    summarise(world.check, checked)
    return True


@inner_kernel
def _end(world):
    """Move the bodies, remember the contacts, and append the numbers of the step to the log."""
    count, move = world.count, world.move
    _remember(world)
    motion.move(bodies_of(world), state_of(world), move.velocity, move.times)
    if count[SHORTENED]:
        count[SHORTENED] = 0
        for i in range(move.times.shape[0]):
            move.times[i] = world.real[H]
    if count[METHOD] == JOINTS_ALONE:
        state = state_of(world)
        motion.set_rotations(state.quaternion, state.rotation)
        settle(world.joints, state, world.real[H])
    log_step(world)
    count[STEP] += 1


@kernel
def walk(world):
    """Go on until step UNTIL is done or something must be done outside; returns what."""
    count, spent = world.count, world.cycles
    while True:
        if count[STAGE] == BEGIN:
            if count[STEP] >= count[UNTIL] or count[LOGGED] == world.log.shape[0]:
                return DONE
            count[STAGE] = READY
            if count[FORCES_CHANGE]:
                return FORCES
        if count[STAGE] == READY or count[STAGE] == DETECT:
            count[STAGE] = DETECT
            began = cycles()
            _free_motion(world)
            set_margin(world)
            moved = cycles()
            found = _find(world)
            spent[MOTION] += moved - began
            spent[COLLISION] += cycles() - moved
            if found == ROOM:
                return GROW
            count[STAGE] = CHECK
            if found < 0:
                return CONTACTS
            count[FOUND] = found
        if count[STAGE] == CHECK:
            count[STAGE] = MATCH
            began = cycles()
            if not _check(world):
                return CHECKING
            spent[CERTIFYING] += cycles() - began
        if count[STAGE] == MATCH:
            began = cycles()
            _match(world)
            spent[ASSEMBLY] += cycles() - began
            count[STAGE] = SOLVE
            jointed = world.joints.slot.shape[0] > 0
            if count[OUTSIDE] or (jointed and count[FOUND] > 0):
                return SCHEME
            if jointed:
                began = cycles()
                solved = solve_joints(world)
                spent[SOLVING] += cycles() - began
                if not solved:
                    return SCHEME
                count[STAGE] = FINISH
        if count[STAGE] == SOLVE:
            began = cycles()
            assemble_problem(world)
            assembled = cycles()
            solved = solve_idle(world) or solve_tower(world) or solve_small(world)
            spent[ASSEMBLY] += assembled - began
            spent[SOLVING] += cycles() - assembled
            count[STAGE] = FINISH
            if not solved:
                return SOLVER
        began = cycles()
        if count[STAGE] == FINISH:
            count[STAGE] = MOVE
            if _finish(world):
                return FAST
        _end(world)
        count[STAGE] = BEGIN
        spent[MOTION] += cycles() - began
