"""The check of all contacts of a step, and of the pairs that have none."""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.check.balls import check_balls, find_missing_balls
from nonsmooth.collision.kernels.check.contacts import check_convex
from nonsmooth.collision.kernels.check.mesh import Surfaces
from nonsmooth.collision.kernels.check.missing import find_missing
from nonsmooth.collision.kernels.check.rows import Exempt, Result, Rows, Work
from nonsmooth.collision.kernels.check.support import Scene
from nonsmooth.collision.kernels.check.surfaces import check_surfaces

EVERY, PERIOD, SHAPE_PERIOD, ROUND, BODIES = range(5)
"""Entries of `StepCheck.plan`: steps from one check to the next, 0 for none; of how many such steps each pair
and each shape has its turn in one; 1 if all shapes are spheres and half-spaces; number of bodies."""
PAIRS, PAIRS_CHECKED, CHECKED, MISSING = range(4)
"""Entries of `StepCheck.tally`."""


class StepCheck(NamedTuple):
    """All that the check reads and writes, for one system."""

    plan: np.ndarray  # (5,) int64
    scene: Scene
    surfaces: Surfaces
    work: Work
    group: np.ndarray  # (s,) int64: see `Exempt`
    ignored: np.ndarray  # (k,) int64
    result: Result
    tally: np.ndarray  # (4,) int64
    found: np.ndarray  # (m, 2) int64: the first missing pairs


class CheckRows(NamedTuple):
    """Room for the columns of contacts that the check reads in a form of its own."""

    shapes: np.ndarray  # (C, 2) int64
    part: np.ndarray  # (C,) zeros
    way: np.ndarray  # (C, 3) zeros


@inner_kernel
def _clear(result):
    for k in range(4):
        result.value[k], result.ratio[k], result.worst[k] = 0.0, 0.0, 0.0
        result.row[k] = -1


@kernel
def check_step(check, rows, meeting, withheld, position, quaternion, step):
    """Fill `check.result` and `check.tally`. `rows` are the contacts, `meeting` those at the time at which
    shapes meet; `withheld` (k,) are the sorted keys of pairs whose contacts are withheld."""
    scene, plan, tally, result = check.scene, check.plan, check.tally, check.result
    turn, period = step // plan[EVERY], plan[PERIOD]
    _clear(result)
    tally[PAIRS], tally[PAIRS_CHECKED], tally[CHECKED] = check_balls(
        scene, position, quaternion, meeting, turn, period, result
    )
    exempt = Exempt(check.group, check.ignored, plan[BODIES], withheld)
    if plan[ROUND]:
        tally[MISSING], _ = find_missing_balls(
            scene, position, quaternion, rows.shapes, rows.margin, exempt, turn, plan[SHAPE_PERIOD],
            check.found,
        )  # fmt: skip
        return
    pairs, points = check_convex(scene, position, quaternion, rows, turn, period, check.work, result)
    tally[PAIRS_CHECKED] += pairs
    tally[CHECKED] += points
    if check.surfaces.corners.shape[0] > 0:
        pairs, points = check_surfaces(
            scene, check.surfaces, position, quaternion, meeting, turn, period, check.work, result
        )
        tally[PAIRS_CHECKED] += pairs
        tally[CHECKED] += points
    tally[MISSING], _ = find_missing(
        scene, check.surfaces, position, quaternion, rows.shapes, rows.margin, exempt, turn,
        plan[SHAPE_PERIOD], check.work, check.found,
    )  # fmt: skip


@inner_kernel
def check_found(check, room, contacts, position, quaternion, margin, step):
    """Check contacts of which none is withheld or meets later, the `Output` of the narrow phase."""
    c = contacts.gap.shape[0]
    for i in range(c):
        room.shapes[i, 0], room.shapes[i, 1] = contacts.shapes[i, 0], contacts.shapes[i, 1]
    rows = Rows(
        room.shapes[:c], contacts.point, contacts.normal, contacts.gap, margin, room.part[:c], room.way[:c]
    )
    check_step(check, rows, rows, check.tally[:0], position, quaternion, step)


@inner_kernel
def summarise(check, numbers):
    """Set the five numbers of the log: contacts checked, gap error (m), normal error (rad), 1 if something is
    wrong, pairs missing."""
    result, tally = check.result, check.tally
    some = tally[PAIRS_CHECKED] > 0
    numbers[0] = tally[CHECKED]
    numbers[1] = result.value[0] if some else 0.0
    numbers[2] = result.value[1] if some else 0.0
    numbers[3] = 1.0 if tally[MISSING] > 0 else 0.0
    for k in range(4):
        if not result.ratio[k] <= 1.0:
            numbers[3] = 1.0
    numbers[4] = tally[MISSING]
