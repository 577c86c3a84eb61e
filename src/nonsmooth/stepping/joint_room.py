"""The arrays of `kernels.joint_walk` for a system's joints."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Integers
from nonsmooth.model.joints.kernels.rows import RowTable
from nonsmooth.model.system import System
from nonsmooth.problem.kernels.residuals import JOINT
from nonsmooth.problem.layout import Layout
from nonsmooth.solvers.kernels.joint_block import JointBlock
from nonsmooth.solvers.kernels.joint_factor import Panels
from nonsmooth.solvers.parts.joint_factor import Structure, structure_of_pairs
from nonsmooth.stepping.kernels.joint_step import JointRows
from nonsmooth.stepping.kernels.joint_walk import Found, Joints, Order
from nonsmooth.stepping.schemes.mechanism import Mechanism


def joint_room(system: System, mechanism: Mechanism, *, walked: bool) -> Joints:
    """Room for the joints of a system, without rows if the walk does not do its steps."""
    none = np.empty(0, dtype=np.int64)
    structure = joint_structure(system, mechanism) if walked else None
    order = Order(none, none, none, none)
    if structure is not None:
        order = Order(
            structure.panel_block, structure.block_start, structure.body_start, structure.body_entry
        )
    layout = _layout(moving_pairs(system, mechanism) if walked else np.empty((0, 2), dtype=np.int64))
    coordinates, angles = system.joints.coordinates
    others = len(angles) if walked else 0
    rows, blocks, bodies, table = layout.rows, layout.blocks, system.count, mechanism.table
    in_step = JointRows(
        np.empty((rows, 2), dtype=np.int64), np.empty((rows, 2, 6)), np.empty((rows, 2, 6)), np.empty(rows)
    )
    return Joints(
        RowTable(*(column[:rows].copy() for column in table.rows)), table.offset[:rows].copy(),
        table.rate[:rows].copy(), system.joints.angles if walked else np.empty((0, 2)), _found(rows),
        _found(rows), in_step, np.empty(rows), np.empty(rows), np.zeros(rows), layout.slot.copy(),
        np.empty((bodies, 4)), np.empty((max(rows, others), 2, 6)),
        RowTable(*(column[:others].copy() for column in coordinates)), angles[:others], _found(others),
        np.zeros((blocks, 2), dtype=np.uint32),
        np.zeros((blocks, 2, 3, 6)), ~layout.padding, none, np.empty((blocks, 3, 3)), np.zeros(blocks),
        np.full(blocks, JOINT, dtype=np.uint8), np.empty((blocks, 3)), np.full((blocks, 3), -np.inf),
        np.full((blocks, 3), np.inf), np.zeros((blocks, 3)), np.zeros((blocks, 3)), np.zeros((blocks, 3)),
        np.zeros((blocks, 3)), np.empty(blocks, dtype=np.int64), np.empty(blocks), np.empty(blocks),
        np.empty(blocks), np.empty(6 * (bodies + 1), dtype=np.int64), order, _block(blocks, structure),
        np.zeros((bodies + 1, 6)), np.zeros(3),
    )  # fmt: skip


def can_walk(system: System, mechanism: Mechanism) -> bool:
    """Whether the walk does steps of joints alone: rows without bounds that do not depend on time."""
    plain = mechanism.count > 0 and mechanism.all_bilateral and not mechanism.table.timed
    plain = plain and not system.joints.elements
    return plain and joint_structure(system, mechanism) is not None


def moving_pairs(system: System, mechanism: Mechanism) -> Integers:
    """Bodies (r, 2) of every row, −1 for ground and fixed bodies."""
    pairs = np.array(mechanism.table.rows.bodies)
    pairs[(pairs >= 0) & np.asarray(system.fixed)[pairs]] = -1
    return pairs


def joint_structure(system: System, mechanism: Mechanism) -> Structure | None:
    """Structure of the factor of N over the rows; None if it would be too large."""
    pairs = moving_pairs(system, mechanism)
    sizes = _layout(pairs).joint_groups
    first = np.cumsum(sizes) - sizes
    return structure_of_pairs(np.where(pairs < 0, system.count, pairs)[first], sizes, system.count)


def _layout(pairs: Integers) -> Layout:
    """Blocks of rows without bounds, without contacts."""
    return Layout.of_joints(np.empty(0, dtype=np.int64), pairs, np.tile([-np.inf, np.inf], (len(pairs), 1)))


def _found(rows: int) -> Found:
    return Found(np.empty(rows), np.zeros((rows, 2)), np.empty((rows, 2, 6)))


def _block(blocks: int, structure: Structure | None) -> JointBlock:
    none = np.empty(0, dtype=np.int64)
    panels = Panels(none, none, none, none, none, np.empty((4, 0), dtype=np.int64))
    place, rows, entries = np.full((blocks, 3), -1), 0, 0
    if structure is not None:
        place, panels, rows = structure.place, structure.panels(), len(structure.owner)
        entries = int(structure.entry[-1])
    values, bound = np.empty(entries), np.full(rows, np.inf)
    return JointBlock(
        np.arange(blocks), place, np.empty(rows), -bound, bound, panels, values, values, values,
        np.zeros(rows, dtype=np.uint8), none, np.empty((5, rows)),
    )  # fmt: skip
