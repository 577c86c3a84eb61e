"""Jacobians by body and Jacobians as matrices, and conversions between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import BodyMass

if TYPE_CHECKING:
    from nonsmooth.problem.contact_problem import ContactProblem


def rows_by_body(
    mass: BodyMass, jacobian: Any, components: Integers, joint_bounds: Floats
) -> tuple[Layout, Integers, Floats] | None:
    """Arrange the columns of [D G] as two 3×6 blocks each, or None if one touches three bodies.

    Joint rows with a finite bound get a block each.
    """
    entries = sp.coo_array(jacobian)
    coordinate, column = entries.coords
    body = mass.body[coordinate]
    joints = jacobian.shape[1] - int(components.sum())
    touched = sp.csr_array(
        (np.ones(len(column)), (column, body)), shape=(jacobian.shape[1], max(mass.bodies, 1))
    )
    touched.sum_duplicates()
    joint_touched = touched[int(components.sum()) :]
    keys = np.full((joints, 2), -1, dtype=np.int64)
    for row in range(joints):
        own = np.sort(joint_touched.indices[joint_touched.indptr[row] : joint_touched.indptr[row + 1]])
        if len(own) > 2:
            return None
        keys[row, : len(own)] = own
    layout = Layout.of_joints(components, keys, joint_bounds)
    block, component = layout.slot // 3, layout.slot % 3
    pairs = np.unique(np.stack([block[column], body], axis=1), axis=0)
    sides = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
    if sides.max(initial=0) > 1:
        return None
    bodies = np.full((layout.blocks, 2), -1, dtype=np.int64)
    bodies[pairs[:, 0], sides] = pairs[:, 1]
    side = (bodies[block[column], 1] == body).astype(np.int64)
    rows = np.zeros((layout.blocks, 2, 3, 6))
    rows[block[column], side, component[column], mass.slot[coordinate]] = entries.data
    return layout, bodies, rows


def rows_in_blocks(
    layout: Layout, rows: Floats, bodies: Integers, joint_rows: Floats, joint_bodies: Integers
) -> tuple[Integers, Floats]:
    """Body pairs (blocks, 2) and rows by body (blocks, 2, 3, 6) of contacts and joints together.

    Contacts are given as (contacts, 2, d, 6), where rows beyond a contact's components are omitted, joint
    rows as (rows, 2, 6).
    """
    contacts, _, width, _ = rows.shape
    if not len(joint_rows) and layout.rows == 3 * layout.blocks:
        return bodies, rows
    out, pairs = np.zeros((layout.blocks, 2, 3, 6)), np.full((layout.blocks, 2), -1, dtype=np.int64)
    out[:contacts, :, :width] = rows
    block, component = layout.padding[:contacts].nonzero()
    out[block, :, component] = 0.0
    pairs[:contacts] = bodies
    slot = layout.slot[layout.contact_rows :]
    out[slot // 3, :, slot % 3] = joint_rows
    pairs[slot // 3] = joint_bodies
    return pairs, out


def stacked(jacobian: Any, joint_jacobian: Any) -> Any:
    """[D G] from two matrices."""
    return sp.csc_array(sp.hstack([sp.csc_array(jacobian), sp.csc_array(joint_jacobian)]))


def matrix_of_blocks(problem: ContactProblem) -> Any:
    """[D G] of a problem given by blocks, one column per row of the user's flat vector."""
    present = np.arange(problem.jacobian.shape[2]) < problem.components[:, None]
    contact, component = np.nonzero(present)
    values = np.concatenate([problem.jacobian[contact, :, component], problem.joint_jacobian])  # (rows, 2, 6)
    bodies = np.concatenate([problem.bodies[contact], problem.joint_bodies])
    moving = np.broadcast_to(bodies[:, :, None] >= 0, values.shape)
    coordinate = 6 * bodies[:, :, None] + np.arange(6)
    column = np.broadcast_to(np.arange(len(values))[:, None, None], values.shape)
    shape = (6 * len(problem.mass), problem.layout.rows)
    return sp.csc_array((values[moving], (coordinate[moving], column[moving])), shape=shape)


def block_velocities(
    rows: Floats, bodies: Integers, components: Integers, joint_rows: Floats, joint_bodies: Integers,
    velocity: Floats,
) -> Floats:  # fmt: skip
    """[D G]ᵀ v from blocks, flat."""
    by_body = np.concatenate([velocity.reshape(-1, 6), np.zeros((1, 6))])  # index −1 is ground
    contact = np.einsum("csdk,csk->cd", rows, by_body[bodies])
    present = np.arange(contact.shape[1]) < components[:, None]
    joint = np.einsum("rsk,rsk->r", joint_rows, by_body[joint_bodies])
    return np.concatenate([contact[present], joint])
