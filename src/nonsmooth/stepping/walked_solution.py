"""The solution of a step that `kernels.walk` has solved, as an object."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nonsmooth.iteration.status import Status
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import AFTER, TOWER
from nonsmooth.solvers.parts.first_sweeps import SMALL
from nonsmooth.solvers.solution import Entry, History, Solution, Statistics
from nonsmooth.solvers.solve import NOTHING_APPROACHES
from nonsmooth.stepping.kernels import world as at
from nonsmooth.stepping.kernels.joint_step import JointRows
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes.mechanism import RowState
from nonsmooth.stepping.schemes.step_problem import JOINTS_ALONE, JointPart, Motion, step_problem
from nonsmooth.stepping.schemes.step_result import JointOutcome
from nonsmooth.stepping.world import World

_NOTES = (NOTHING_APPROACHES, SMALL, f"picked admm: {TOWER}", f"picked gauss-seidel: {AFTER}", JOINTS_ALONE)


def walked_joints(world: World, step: float) -> JointOutcome | None:
    """Copies of the joint rows of the last step (s) and of their impulses; None if the walk had none."""
    joints = world.arrays.joints
    if len(joints.slot) == 0:
        return None
    found, rows = joints.begin, JointRows(*(part.copy() for part in joints.rows))
    at_begin = RowState(found.value.copy(), found.angle.copy(), found.gradient.copy(), rows)
    acting = np.ones(len(joints.slot), dtype=bool)
    position, quaternion = world.arrays.move.centres.copy(), joints.orientation.copy()
    return JointOutcome(at_begin, joints.impulses.copy(), step, acting, position, quaternion)


def walked_solution(
    world: World, joints: JointOutcome | None, mass: BodyMass, options: ChosenOptions
) -> Callable[[], Solution]:
    """Copy the problem and the impulses of the last step; return what makes the solution of them."""
    count, arrays = world.count, world.arrays
    c, iterations = int(count[at.FOUND]), int(count[at.SWEPT])
    status = Status.SOLVED if count[at.REACHED] else Status.STALLED
    rows, friction = world.rows(), arrays.detection.contacts.found.friction[:c].copy()
    motion = Motion(arrays.move.momentum.copy(), arrays.move.free)
    blocks, residual = arrays.problem.x[:c].copy(), float(arrays.real[at.SOLVED_TO])
    note = _NOTES[int(count[at.METHOD])]
    part = None
    if joints is not None:
        motion = Motion(motion.momentum, arrays.move.free.copy())
        bounds = np.tile([-np.inf, np.inf], (len(joints.impulses), 1))
        part = JointPart(joints.rows.rows, arrays.joints.bias.copy(), bounds)
        blocks = arrays.joints.x.copy()

    def solution() -> Solution:
        problem = step_problem(mass, motion, rows, friction, options.law, part)
        history = History((Entry(iterations, residual, 0.0),))
        statistics = Statistics(options.solver.name, iterations, 0.0, history, note)
        return Solution.of(problem, status, blocks, statistics)

    return solution
