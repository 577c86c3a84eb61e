"""The block of all joint rows that a sweep of Gauss-Seidel solves at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.lazy import sparse as sp
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import BlockSparse, Factored
from nonsmooth.problem.kernels.residuals import BOUNDED
from nonsmooth.solvers.kernels import joint_factor as kernels
from nonsmooth.solvers.kernels.joint_block import JointBlock
from nonsmooth.solvers.parts.joint_factor import Structure, assembled, structure_of

MOST_ALONE = 50
"""Sweeps over joints alone: each refines a direct solution; more do not improve it."""
_ASYMMETRY = 1e-9
"""Largest relative asymmetry of N over joint rows that refinement corrects."""


def too_many_joints(problem: ContactProblem) -> bool:
    """Return whether a factor of N over the joint rows would be too large."""
    return problem.joint_rows > 0 and _structure(problem, problem.operator.kernel_form) is None


def _structure(problem: ContactProblem, form: Factored | BlockSparse) -> Structure | None:
    """Structure of that factor; None also for an unsymmetric matrix, as files may contain."""
    layout = problem.layout
    blocks = np.arange(layout.contacts, layout.blocks)
    if isinstance(form, BlockSparse) and not _symmetric(form, blocks):
        return None
    return structure_of(form, blocks, layout.joint_groups)


def _symmetric(form: BlockSparse, blocks: NDArray[np.int64]) -> bool:
    """Return whether N is symmetric over the blocks."""
    size = 3 * (len(form.start) - 1)
    whole = sp.bsr_array((form.values, form.column, form.start), shape=(size, size)).tocsr()
    rows = (3 * blocks[:, None] + np.arange(3)).ravel()
    part = whole[rows][:, rows]
    difference = abs(part - part.T)
    return bool(difference.max() <= _ASYMMETRY * part.diagonal().max())


def joint_block(problem: ContactProblem, form: Factored | BlockSparse) -> JointBlock | None:
    """Factorise N over all joint rows; None if there are none, or if the factor would be too large.

    `form` is the form of N that the sweeps use. The block stores the set of rows at their bounds between
    sweeps, and belongs to one run.
    """
    cones, layout = problem.cones, problem.layout
    blocks = np.arange(layout.contacts, layout.blocks)
    structure = _structure(problem, form) if len(blocks) else None
    if structure is None:
        return None
    panels, rows = structure.panels(), len(structure.owner)
    present = structure.place >= 0
    root, lower, upper = np.empty((3, rows))
    root[structure.place[present]] = np.sqrt(cones.weight[blocks][present])
    lower[structure.place[present]] = cones.lower[blocks][present]
    upper[structure.place[present]] = cones.upper[blocks][present]
    bounded = np.flatnonzero(cones.free[blocks] == BOUNDED)
    work, fixed = np.empty((5, rows)), np.zeros(rows, dtype=np.uint8)
    fixed[structure.place[bounded, 0]] = 1
    values = assembled(form, structure, panels, blocks, root)
    free = active = values
    if len(bounded):
        free = np.empty_like(values)
        kernels.leave_out(panels, fixed, values, free)
    kernels.factorise(panels, free, work[0])
    if len(bounded):
        active = free.copy()
    return JointBlock(
        blocks, structure.place, root, lower, upper, panels, values, free, active, fixed, bounded, work
    )
