"""Construction of `ProblemData`, from user arrays or from a time step: one function per form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.errors import ProblemError
from nonsmooth.problem import blocks_by_body as by_body
from nonsmooth.problem import checks as check
from nonsmooth.problem import mass as masses
from nonsmooth.problem.data import ProblemData
from nonsmooth.problem.laws import Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.operator import DelassusOperator, ExplicitOperator, FactoredOperator, ProductOperator

_NO_JOINTS = np.zeros((0, 2, 6))
_NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
_NO_BOUNDS, _NO_NUMBERS = np.zeros((0, 2)), np.zeros(0)


def of_delassus(
    *,
    delassus: Any,
    free_velocity: ArrayLike,
    friction: ArrayLike,
    components: ArrayLike | None,
    joint_rows: int,
    joint_bounds: ArrayLike | None,
    law: Law | str,
    allow_asymmetry: bool,
) -> ProblemData:
    """See `ContactProblem.from_delassus`."""
    law = Law.parse(law)
    matrix = check.matrix("delassus", delassus)
    size = matrix.shape[0]
    if matrix.shape[1] != size:
        raise ProblemError(f"delassus has shape {matrix.shape}: it must be square")
    if not allow_asymmetry:
        check.nearly_symmetric("delassus", matrix)
    if not 0 <= joint_rows <= size:
        raise ProblemError(f"joint_rows is {joint_rows}: it must lie between 0 and {size}, the size of W")
    mu, sizes = _contacts(friction, components, size - joint_rows)
    bounds = check.joint_bounds(joint_bounds, joint_rows)
    layout = Layout.of_joints(sizes, np.zeros((joint_rows, 1), dtype=np.int64), bounds)
    flat = check.vector("free_velocity", free_velocity, size, "one number per row of delassus")
    free, joint_free = _split(layout, flat)
    return _movable(
        ProblemData(
            law, mu, sizes, layout, ExplicitOperator(layout, matrix),
            bias=free, free_velocity=free, joint_bias=joint_free, joint_free_velocity=joint_free,
            joint_bounds=bounds, delassus=matrix,
        )
    )  # fmt: skip


def of_blocks(
    *,
    mass: ArrayLike,
    jacobian: ArrayLike,
    bodies: ArrayLike | None,
    friction: ArrayLike,
    momentum: ArrayLike | None,
    bias: ArrayLike | None,
    components: ArrayLike | None,
    joint_jacobian: ArrayLike | None,
    joint_bodies: ArrayLike | None,
    joint_bias: ArrayLike | None,
    joint_bounds: ArrayLike | None,
    law: Law | str,
) -> ProblemData:
    """See `ContactProblem.from_blocks`."""
    law = Law.parse(law)
    blocks = check.array("mass", mass)
    if blocks.ndim not in (2, 3) or blocks.shape[1:] not in ((6,), (6, 6)):
        raise ProblemError(
            f"mass has shape {blocks.shape}: with a jacobian of blocks give (bodies, 6, 6) or (bodies, 6)"
        )
    factors = masses.mass_from_blocks(blocks)
    rows = check.array("jacobian", jacobian)
    if rows.ndim != 4 or (rows.shape[1], rows.shape[3]) != (2, 6) or rows.shape[2] not in (1, 2, 3):
        raise ProblemError(
            f"jacobian has shape {rows.shape}: blocks must be (contacts, 2, d, 6), d = 1, 2 or 3"
        )
    count, _, width, _ = rows.shape
    mu, sizes = _contacts(friction, width if components is None else components, None, count)
    if np.any(sizes > width):
        worst = int(np.argmax(sizes > width))
        raise ProblemError(
            f"components[{worst}] is {sizes[worst]}, but the jacobian's blocks have {width} rows"
        )
    pairs = check.body_indices("bodies", bodies, count, factors.bodies)
    if joint_jacobian is None and joint_bodies is not None:
        raise ProblemError("joint_bodies needs joint_jacobian, which is missing: give both, or neither")
    if joint_jacobian is None:
        joint_jacobian, joint_bodies = _NO_JOINTS, _NO_PAIRS
    joints = check.array("joint_jacobian", joint_jacobian)
    if joints.ndim != 3 or joints.shape[1:] != (2, 6):
        raise ProblemError(f"joint_jacobian has shape {joints.shape}: with blocks give (rows, 2, 6)")
    joint_pairs = check.body_indices("joint_bodies", joint_bodies, len(joints), factors.bodies)
    bounds = check.joint_bounds(joint_bounds, len(joints))
    layout = Layout.of_joints(sizes, joint_pairs, bounds)
    operator = FactoredOperator.of_rows(
        layout, factors, *by_body.rows_in_blocks(layout, rows, pairs, joints, joint_pairs)
    )
    k = check.vector("momentum", momentum, factors.size, "one number per generalised velocity")
    moved = by_body.block_velocities(rows, pairs, sizes, joints, joint_pairs, factors.solve(k))
    return _movable(
        ProblemData(
            law, mu, sizes, layout, operator, *_velocities(layout, bias, joint_bias, moved), bounds,
            mass=blocks, factors=factors, jacobian=rows, bodies=pairs, momentum=k,
            joint_jacobian=joints, joint_bodies=joint_pairs,
        )
    )  # fmt: skip


def of_matrices(
    *,
    mass: Any,
    jacobian: Any,
    friction: ArrayLike,
    momentum: ArrayLike | None,
    bias: ArrayLike | None,
    components: ArrayLike | None,
    joint_jacobian: Any,
    joint_bias: ArrayLike | None,
    joint_bounds: ArrayLike | None,
    law: Law | str,
    allow_asymmetry: bool,
) -> ProblemData:
    """See `ContactProblem.from_matrices`."""
    law = Law.parse(law)
    matrix = check.matrix("mass", mass)
    size = matrix.shape[0]
    if matrix.shape[1] != size:
        raise ProblemError(
            f"mass has shape {matrix.shape}: it must be square; blocks per body go with a jacobian "
            "of blocks (contacts, 2, d, 6)"
        )
    symmetric = masses.check_mass_matrix(matrix, allow_asymmetry)
    contact = check.matrix("jacobian", jacobian)
    if contact.shape[0] != size:
        raise ProblemError(
            f"jacobian has {contact.shape[0]} rows and mass has {size}: D must have one row per "
            "generalised velocity and one column per contact component (is it transposed?)"
        )
    mu, sizes = _contacts(friction, components, contact.shape[1])
    joint = check.matrix("joint_jacobian", np.zeros((size, 0)) if joint_jacobian is None else joint_jacobian)
    if joint.shape[0] != size:
        raise ProblemError(
            f"joint_jacobian has {joint.shape[0]} rows and mass has {size}: "
            "G must have one row per generalised velocity (is it transposed?)"
        )
    bounds = check.joint_bounds(joint_bounds, joint.shape[1])
    both = by_body.stacked(contact, joint)
    both.eliminate_zeros()
    layout, operator, factors = _operator(matrix, symmetric, both, sizes, bounds)
    k = check.vector("momentum", momentum, factors.size, "one number per generalised velocity")
    velocity = factors.solve(k)
    moved = np.concatenate([np.asarray(part.T @ velocity).ravel() for part in (contact, joint)])
    return _movable(
        ProblemData(
            law, mu, sizes, layout, operator, *_velocities(layout, bias, joint_bias, moved), bounds,
            mass=matrix, factors=factors, jacobian=contact, momentum=k, joint_jacobian=joint,
        )
    )  # fmt: skip


def assembled(
    *,
    mass: masses.BodyMass,
    bodies: NDArray[np.int64],
    rows: Floats,
    columns: Floats,
    momentum: Floats,
    bias: Floats,
    free_velocity: Floats,
    friction: Floats,
    law: Law,
    joint_bodies: NDArray[np.int64] = _NO_PAIRS,
    joint_jacobian: Floats = _NO_JOINTS,
    joint_columns: Floats = _NO_JOINTS,
    joint_bias: Floats = _NO_NUMBERS,
    joint_free_velocity: Floats = _NO_NUMBERS,
    joint_bounds: Floats = _NO_BOUNDS,
) -> ProblemData:
    """c contacts with three components each and r joint rows, from arrays that fit; these are not checked.

    Args:
        mass: blocks of n bodies, factored once for all steps.
        bodies: (c, 2), −1 for ground.
        rows: rows of Dᵀ by body, (c, 2, 3, 6); zero for ground.
        columns: the same with L⁻¹ of the body's mass applied.
        momentum: k by body, (n, 6).
        bias: b, (c, 3) in m/s.
        free_velocity: DᵀM⁻¹k + b, (c, 3) in m/s.
        friction: μ, (c,).
        law: the friction law.
        joint_bodies: (r, 2), −1 for ground; consecutive rows of equal pairs are faster.
        joint_jacobian: rows of Gᵀ by body, (r, 2, 6); zero for ground. Every row must move a body.
        joint_columns: the same with L⁻¹ of the body's mass applied.
        joint_bias: b_G, (r,) in m/s or rad/s.
        joint_free_velocity: GᵀM⁻¹k + b_G, (r,) in m/s or rad/s.
        joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (r, 2) in N·s or N·m·s, ±inf for no
            bound.
    """
    sizes = np.full(len(bodies), 3, dtype=np.int64)
    layout = Layout.of_joints(sizes, joint_bodies, joint_bounds)
    pairs, all_columns = by_body.rows_in_blocks(layout, columns, bodies, joint_columns, joint_bodies)
    return ProblemData(
        law, friction, sizes, layout, FactoredOperator.of_columns(layout, pairs, all_columns, mass.bodies),
        bias=bias.ravel(), free_velocity=free_velocity.ravel(),
        joint_bias=joint_bias, joint_free_velocity=joint_free_velocity, joint_bounds=joint_bounds,
        mass=mass.blocks, factors=mass, jacobian=rows, bodies=bodies, momentum=momentum.ravel(),
        joint_jacobian=joint_jacobian, joint_bodies=joint_bodies,
    )  # fmt: skip


# ---- parts ------------------------------------------------------------------------------------------


def _contacts(
    friction: ArrayLike, components: ArrayLike | None, rows: int | None, contacts: int | None = None
) -> tuple[Floats, Integers]:
    """Friction and number of components of each contact."""
    mu = check.array("friction", friction)
    if mu.ndim > 1:
        raise ProblemError(f"friction has shape {mu.shape}: give one number per contact, or one for all")
    if contacts is None:
        contacts = check.contact_count(mu, components, rows)
    mu = check.friction(mu, contacts)
    return mu, check.components(components, contacts, rows, mu)


def _operator(
    mass: Any, symmetric: bool, jacobian: Any, components: Integers, bounds: Floats
) -> tuple[Layout, DelassusOperator, masses.Mass]:
    """By bodies if M has blocks and no column of [D G] touches three of them; else by products."""
    for factors in masses.body_masses(mass) if symmetric else ():
        found = by_body.rows_by_body(factors, jacobian, components, bounds)
        if found is not None:
            layout, pairs, rows = found
            return layout, FactoredOperator.of_rows(layout, factors, pairs, rows), factors
    layout = Layout.of_joints(components, np.zeros((len(bounds), 1), dtype=np.int64), bounds)
    whole = masses.MatrixMass(mass, symmetric)
    return layout, ProductOperator(layout, whole, jacobian), whole


def _velocities(
    layout: Layout, bias: ArrayLike | None, joint_bias: ArrayLike | None, moved: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """b, DᵀM⁻¹k + b, and both of the joints; `moved` is [D G]ᵀM⁻¹k, flat."""
    joints = layout.rows - layout.contact_rows
    own = check.vector("bias", bias, layout.contact_rows, "one number per contact component")
    joint = check.vector("joint_bias", joint_bias, joints, "one number per joint row")
    free, joint_free = _split(layout, moved + np.concatenate([own, joint]))
    return own, free, joint, joint_free


def _split(layout: Layout, flat: Floats) -> tuple[Floats, Floats]:
    return flat[: layout.contact_rows].copy(), flat[layout.contact_rows :].copy()


def _movable(data: ProblemData) -> ProblemData:
    check.movable(np.einsum("bkk->bk", data.operator.diagonal_blocks), data.layout)
    return data
