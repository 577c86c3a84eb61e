"""The world: all arrays of a run behind one pointer, which a compiled step reads and writes.

Buffers of contacts and pairs have a capacity, see `Detection`. Numbers that are no arrays stand in `count`
(int64) and `real` (float64), under the names below.
"""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel
from nonsmooth.collision.kernels.check.step import CheckRows, StepCheck
from nonsmooth.collision.kernels.detection import Detection
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.problem.kernels.residuals import Cones
from nonsmooth.solvers.kernels.admm import Run
from nonsmooth.solvers.kernels.anderson import Mixture
from nonsmooth.solvers.kernels.bands import BodyOrder
from nonsmooth.solvers.kernels.gauss_seidel import Room
from nonsmooth.stepping.kernels.joint_walk import Joints
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.kernels.step import Rows
from nonsmooth.stepping.kernels.turning import Planes

# count
(
    STEP,  # steps done
    UNTIL,  # number of the step before which the walk ends
    STAGE,  # where the walk goes on
    FOUND,  # contacts of this step
    KNOWN,  # contacts of the last step
    LATE_FOUND,  # contacts of this step that overlap and are new
    SWEPT,  # iterations of the solve
    REACHED,  # 1 if the solve has reached its tolerance
    ISLANDS,
    SIDES,  # of the law's cone; 0: round
    FORCES_CHANGE,  # 1 if forces must be computed anew for every step
    OUTSIDE,  # 1 if impacts, joints or another scheme do the step after the contacts were matched
    SWEEPS,  # largest number of sweeps of a small problem
    SMALL,  # largest number of contacts of a small problem; −1: the solver is not `Auto`
    LOGGED,  # rows of the log that are filled
    WITHHELD,  # contacts withheld or changed in this step
    SHORTENED,  # 1 if bodies do a part of this step only
    FOUND_OUTSIDE,  # 1 if `Detector` must find all contacts
    AHEAD,  # iterations of ADMM on a tower; 0: none
    METHOD,  # that solved the problem, or the last one tried: NOTHING, SWEEPING, …
) = range(20)
COUNTS = 20
NOTHING, SWEEPING, TOWER, AFTER_TOWER, JOINTS_ALONE = range(5)

# real
(
    H,  # the step in s
    MARGIN,  # m, as chosen; that of a step may be twice as large
    PUSH_OUT,  # m/s
    TOLERANCE,
    TILTING,  # 1: exact law; 0: relaxed
    GROWTH,  # of the change of a sweep, above which the momentum restarts
    ZERO_RESIDUAL,  # of zero impulses over all islands, √J
    WHOLE,  # scale over all islands, √J
    SOLVED_TO,  # true relative residual of the sweeps
    RESIDUAL,  # of the certificate
    DISSIPATION,  # J
    COMPLEMENTARITY,  # J
    FORCE_ERROR,
    LATE_LIMIT,  # part of the margin by which a new contact overlaps that was found too late
    DEEP_LIMIT,  # part of the smaller bounding radius by which an overlap is deep
) = range(15)
REALS = 15

CHECK_NUMBERS = 5
"""Of the check: see `summarise`."""


class Masses(NamedTuple):
    """Blocks of M by body and their factors, M = L Lᵀ."""

    blocks: np.ndarray  # (n, 6, 6)
    lower: np.ndarray  # (n, 6, 6)
    lower_inverse: np.ndarray  # (n, 6, 6)


class Move(NamedTuple):
    """The motion of the bodies in a step, in the frames that a step is solved in."""

    force: np.ndarray  # (n, 6) N, world frame; N·m, body frame
    momentum: np.ndarray  # (n, 6)
    free: np.ndarray  # (n, 6) velocity without impulses
    velocity: np.ndarray  # (n, 6) velocity at the end of the step
    displacement: np.ndarray  # (n, 3) m, expected
    turn: np.ndarray  # (n,) m
    spin_radius: np.ndarray  # (n,) m
    bounding_radius: np.ndarray  # (n,) m
    least: np.ndarray  # (n,) m: least inner radius of each body's shapes
    rotation: np.ndarray  # (n, 3) rad, along the solved motion
    times: np.ndarray  # (n,) s: the step, unless a body meets another on its way
    centres: np.ndarray  # (n, 3) m: positions at the beginning of the step
    gravity: np.ndarray  # (3,) m/s²


class Matched(NamedTuple):
    """Contacts of the last step with their impulses, and what the new ones take over."""

    shapes: np.ndarray  # (C, 2) int32
    feature: np.ndarray  # (C,) int64
    impulses: np.ndarray  # (C, 3) N·s on body B, world frame
    old: np.ndarray  # (C,) int64: the contact that a new one was, −1 for none
    start: np.ndarray  # (C, 3) impulses to begin with


class Problem(NamedTuple):
    """The contact problem of a step."""

    rows: Rows
    gap: np.ndarray  # (C,) m, with vertices that turn
    shift: np.ndarray  # (C, 2, 3) m
    cornered: np.ndarray  # (s,) bool: hulls of moving bodies; empty if there are none
    pairs: np.ndarray  # (C, 2) uint32, ground is n
    kind: np.ndarray  # (C,) uint8, zeros
    weight: np.ndarray  # (C, 3)
    lower: np.ndarray  # (C, 3) −∞
    upper: np.ndarray  # (C, 3) ∞
    components: np.ndarray  # (C,) int64, threes
    diagonal: np.ndarray  # (C, 3, 3)
    zero: np.ndarray  # (C, 3) zeros
    island: np.ndarray  # (C,) int64
    scale: np.ndarray  # (C,) by island
    scale_of_block: np.ndarray  # (C,)
    parent: np.ndarray  # (6 (n + 1),) int64
    x: np.ndarray  # (C, 3) impulses in the contacts' frames
    impulses: np.ndarray  # (C, 3) N·s on body B, world frame
    worst: np.ndarray  # (2, 6)


class Tower(NamedTuple):
    """For ADMM on a tower."""

    level: np.ndarray  # (n + 1,) int64
    count: np.ndarray  # (n + 1,) int64
    order: BodyOrder
    run: Run
    mixture: Mixture
    band: np.ndarray  # flat
    factor: np.ndarray
    w: np.ndarray  # (n + 1, 6)
    solved: np.ndarray  # (6 (n + 1),)
    columns: np.ndarray  # (36 (n + 1),) scratch


class World(NamedTuple):
    """Everything."""

    count: np.ndarray  # int64
    real: np.ndarray
    bodies: Bodies
    state: State
    masses: Masses
    move: Move
    planes: Planes
    detection: Detection
    matched: Matched
    problem: Problem
    room: Room
    tower: Tower
    joints: Joints
    joint_impulses: np.ndarray  # (r,) of the last step, N·s or N·m·s, whoever did it
    check: StepCheck
    check_rows: CheckRows
    checked: np.ndarray  # (CHECK_NUMBERS,)
    log: np.ndarray  # (rows, names)
    cycles: np.ndarray  # (PARTS,) int64


MOTION, COLLISION, CERTIFYING, ASSEMBLY, SOLVING = range(5)
"""Entries of `World.cycles`."""
PARTS = ("motion", "collision", "checking", "assembly", "solver")
"""Their names in `Timings`."""


@inlined_kernel
def bodies_of(world):
    """The tuple that kernels of motion take."""
    b = world.bodies
    return Bodies(
        b.mass, b.inertia, b.inverse_root_mass, b.inverse_lower, b.fixed, b.round_body, b.ball_radius
    )


@inlined_kernel
def state_of(world):
    """The tuple that kernels of motion take."""
    s = world.state
    return State(s.position, s.quaternion, s.linear, s.angular, s.rotation)


@inlined_kernel
def rows_of(world, count):
    """Rows of this step's contacts."""
    r = world.problem.rows
    return Rows(
        r.bodies[:count], r.rows[:count], r.columns[:count], r.bias[:count], r.free[:count], r.frame[:count]
    )


@inlined_kernel
def form_of(world, count):
    """The operator of this step's contacts."""
    p = world.problem
    return Factored(p.pairs[:count], p.rows.columns[:count], world.state.position.shape[0] + 1)


@inlined_kernel
def cones_of(world, count):
    """The law of this step's contacts."""
    p = world.problem
    friction = world.detection.contacts.found.friction
    return Cones(
        friction[:count], p.kind[:count], p.weight[:count], p.lower[:count], p.upper[:count],
        world.count[SIDES], world.real[TILTING],
    )  # fmt: skip


@inlined_kernel
def room_of(world, count):
    """Scratch for the sweeps over this step's contacts."""
    r = world.room
    islands = world.count[ISLANDS]
    return Room(
        r.block[:count], r.inverse[:count], r.multiplier[:count], r.visited[:count], r.point[:count],
        r.before[:count], r.velocity[:count], r.w, r.w_last, r.w_judged, r.momentum, r.residual[:islands],
        r.size[:islands],
    )  # fmt: skip
