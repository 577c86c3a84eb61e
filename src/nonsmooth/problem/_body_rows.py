"""Finding bodies in a Jacobian that came as a matrix, so that it can take the fast path."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nonsmooth.problem.layout import Layout, group_rows
from nonsmooth.problem.mass import BodyMass

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def rows_by_body(
    mass: BodyMass, jacobian: Any, components: Integers
) -> tuple[Layout, Integers, Floats] | None:
    """Arrange the columns of [D G] as two 3×6 blocks each, or None if one touches three bodies."""
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
    layout = Layout(components, group_rows(keys))
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
