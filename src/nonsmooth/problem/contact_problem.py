"""`ContactProblem`: one time step's question about contacts and joints, checked and immutable."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.errors import ProblemError
from nonsmooth.problem import blocks_by_body as by_body
from nonsmooth.problem import checks as check
from nonsmooth.problem import mass as masses
from nonsmooth.problem.kernels.residuals import Cones, block_weights
from nonsmooth.problem.laws import COULOMB, Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.momentum import generalised_impulse, velocity_after
from nonsmooth.problem.operator import DelassusOperator, ExplicitOperator, FactoredOperator, ProductOperator
from nonsmooth.problem.scales import Scales


class ContactProblem:
    """Find impulses γ (contacts) and λ (joints) and the velocity v with

        M v = k + D γ + G λ,    u = Dᵀv + b,    w = Gᵀv + b_G,
        K_i ∋ γ_i ⟂ u_i + s_i e_n ∈ K_i*          for every contact i,
        −w_j ∈ N_[lower,upper](λ_j)               for every joint row j, which is w_j = 0 without bounds,

    where the law says what K and s are. Components of a contact are (n), (n, t) or (n, t1, t2);
    the normal points from body A to body B and γ is the impulse on B. SI units: M in kg (kg·m²),
    k, γ and λ in N·s (N·m·s), v, u and b in m/s (rad/s); b_n is the gap divided by the step. On
    acceleration level read accelerations for velocities and forces for impulses.

    Give either `mass` and `jacobian`, or `delassus` and `free_velocity`.

    Args:
        mass: M as a dense or sparse matrix, or one block per body: (bodies, 6, 6), or (bodies, 6)
            for diagonals, in the order (linear, angular).
        jacobian: D with one column per contact component (dense or sparse), or the rows of Dᵀ as two
            blocks per contact: (contacts, 2, d, 6) for bodies A and B with d = 1, 2 or 3 components.
        bodies: with blocks, the indices of A and B for each contact: (contacts, 2); −1 is ground.
        momentum: k = M v_old + h f; zero if not given.
        bias: b, one number per contact component; zero if not given.
        friction: μ ≥ 0 for each contact, or one number for all.
        components: 1, 2 or 3 for all contacts or for each; found from the shapes if not given.
        joint_jacobian: G with one column per joint row, or blocks (rows, 2, 6) with `joint_bodies`.
        joint_bodies: with blocks, the indices of A and B for each joint row: (rows, 2).
        joint_bias: b_G = g/h + ∂g/∂t for each joint row; zero if not given.
        joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (rows, 2) in N·s or N·m·s; ±inf, where
            not given, is a joint that holds, [0, inf] a limit, [−hT, hT] dry friction or a limited motor.
        delassus: W = [D G]ᵀ M⁻¹ [D G] (dense or sparse), where masses are not known.
        free_velocity: q = [D G]ᵀ M⁻¹ k + b, to go with `delassus`.
        joint_rows: with `delassus`, how many of its last rows are joint rows.
        law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
        allow_asymmetry: take M or W as it is though it is far from symmetric, as files of others may be.
    """

    law: Law
    friction: Floats
    components: Integers
    layout: Layout
    operator: DelassusOperator
    mass: Any
    jacobian: Any
    bodies: Any
    momentum: Any
    bias: Floats
    free_velocity: Floats
    joint_jacobian: Any
    joint_bodies: Any
    joint_bias: Floats
    joint_bounds: Floats
    joint_free_velocity: Floats
    delassus: Any
    _mass: masses.Mass | None

    def __init__(
        self,
        *,
        friction: ArrayLike,
        mass: Any = None,
        jacobian: Any = None,
        bodies: ArrayLike | None = None,
        momentum: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        components: ArrayLike | None = None,
        joint_jacobian: Any = None,
        joint_bodies: ArrayLike | None = None,
        joint_bias: ArrayLike | None = None,
        joint_bounds: ArrayLike | None = None,
        delassus: Any = None,
        free_velocity: ArrayLike | None = None,
        joint_rows: int = 0,
        law: Law | str = COULOMB,
        allow_asymmetry: bool = False,
    ) -> None:
        self.law = Law.parse(law)
        self.mass = self.jacobian = self.bodies = self.momentum = None
        self.joint_jacobian = self.joint_bodies = None
        self.delassus = None
        self._mass = None
        if delassus is not None:
            unwanted = {
                "mass": mass, "jacobian": jacobian, "bodies": bodies, "momentum": momentum, "bias": bias,
                "joint_jacobian": joint_jacobian, "joint_bodies": joint_bodies, "joint_bias": joint_bias,
            }  # fmt: skip
            named = [name for name, value in unwanted.items() if value is not None]
            if named:
                raise ProblemError(
                    f"{named[0]} and delassus exclude each other: give masses and Jacobians, "
                    "or delassus and free_velocity (with joint_rows for joints)"
                )
            if free_velocity is None:
                raise ProblemError("free_velocity is missing: a problem given by delassus needs it")
            self._init_from_delassus(
                delassus, free_velocity, friction, components, joint_rows, joint_bounds, allow_asymmetry
            )
        else:
            if mass is None or jacobian is None:
                raise ProblemError(
                    f"{'mass' if mass is None else 'jacobian'} is missing: give mass and jacobian, "
                    "or delassus and free_velocity"
                )
            if free_velocity is not None or joint_rows:
                raise ProblemError(
                    "free_velocity and joint_rows go with delassus: use momentum, bias, joint_jacobian here"
                )
            if not sp.issparse(jacobian):
                jacobian = check.array("jacobian", jacobian)
            if jacobian.ndim == 4:
                self._init_from_blocks(
                    mass, jacobian, bodies, friction, components, joint_jacobian, joint_bodies, joint_bounds
                )
            else:
                if bodies is not None or joint_bodies is not None:
                    name = "bodies" if bodies is not None else "joint_bodies"
                    raise ProblemError(
                        f"{name} goes with a jacobian of blocks (contacts, 2, d, 6): leave it out here"
                    )
                self._init_from_matrices(
                    mass, jacobian, friction, components, joint_jacobian, joint_bounds, allow_asymmetry
                )
            self._init_right_hand_side(momentum, bias, joint_bias)
        check.movable(np.einsum("bkk->bk", self.operator.diagonal_blocks), self.layout)
        for value in self.__dict__.values():
            check.freeze(value)
        self._sealed = True
        _ = self.scales  # what every solve needs first

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_sealed", False):
            raise AttributeError(f"ContactProblem is immutable: make a new one to change {name}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"ContactProblem is immutable: {name} stays")

    def __repr__(self) -> str:
        return (
            f"ContactProblem(contacts={self.contacts}, joint_rows={self.joint_rows}, law={self.law}, "
            f"{type(self.operator).__name__})"
        )

    @classmethod
    def from_pinocchio(cls, model: Any, data: Any, contacts: Any, **options: Any) -> ContactProblem:
        """Return the problem of a Pinocchio robot's contacts: see `problem.robots.pinocchio_problem`.

        `contacts` is a list of `RobotContact`; options are velocity, step, torque and law.
        """
        from nonsmooth.problem.robots import pinocchio_problem

        return pinocchio_problem(model, data, contacts, **options)

    # ---- construction -------------------------------------------------------------------------

    def _init_from_delassus(
        self,
        delassus: Any,
        free_velocity: Any,
        friction: Any,
        components: Any,
        joint_rows: int,
        joint_bounds: Any,
        allow_asymmetry: bool,
    ) -> None:
        self.delassus = check.matrix("delassus", delassus)
        size = self.delassus.shape[0]
        if self.delassus.shape[1] != size:
            raise ProblemError(f"delassus has shape {self.delassus.shape}: it must be square")
        if not allow_asymmetry:
            check.nearly_symmetric("delassus", self.delassus)
        if not 0 <= joint_rows <= size:
            raise ProblemError(f"joint_rows is {joint_rows}: it must lie between 0 and {size}, the size of W")
        self._init_contacts(friction, components, size - joint_rows)
        self._init_layout(np.zeros((joint_rows, 1), dtype=np.int64), joint_bounds)
        self.operator = ExplicitOperator(self.layout, self.delassus)
        flat = check.vector("free_velocity", free_velocity, size, "one number per row of delassus")
        self.free_velocity, self.joint_free_velocity = self._split(flat)
        self.bias, self.joint_bias = self.free_velocity, self.joint_free_velocity

    def _init_from_blocks(
        self,
        mass: Any,
        jacobian: Any,
        bodies: Any,
        friction: Any,
        components: Any,
        joint_jacobian: Any,
        joint_bodies: Any,
        joint_bounds: Any,
    ) -> None:
        blocks = check.array("mass", mass)
        if blocks.ndim not in (2, 3) or blocks.shape[1:] not in ((6,), (6, 6)):
            raise ProblemError(
                f"mass has shape {blocks.shape}: with a jacobian of blocks give (bodies, 6, 6) or (bodies, 6)"
            )
        self.mass = blocks
        body_mass = masses.mass_from_blocks(blocks)
        self._mass = body_mass
        self.jacobian = check.array("jacobian", jacobian)
        count, sides, width, dofs = self.jacobian.shape
        if sides != 2 or dofs != 6 or width not in (1, 2, 3):
            raise ProblemError(
                f"jacobian has shape {self.jacobian.shape}: blocks must be (contacts, 2, d, 6), d = 1, 2 or 3"
            )
        if components is None:
            components = width
        self._init_contacts(friction, components, None, count)
        if np.any(self.components > width):
            worst = int(np.argmax(self.components > width))
            raise ProblemError(
                f"components[{worst}] is {self.components[worst]}, "
                f"but the jacobian's blocks have {width} rows"
            )
        self.bodies = check.body_indices("bodies", bodies, count, body_mass.bodies)
        if joint_jacobian is None and joint_bodies is not None:
            raise ProblemError(
                "joint_bodies goes with joint_jacobian, which is missing: give both, or neither"
            )
        if joint_jacobian is None:
            joint_jacobian, joint_bodies = np.zeros((0, 2, 6)), np.zeros((0, 2), dtype=int)
        self.joint_jacobian = check.array("joint_jacobian", joint_jacobian)
        if self.joint_jacobian.ndim != 3 or self.joint_jacobian.shape[1:] != (2, 6):
            raise ProblemError(
                f"joint_jacobian has shape {self.joint_jacobian.shape}: with blocks give (rows, 2, 6)"
            )
        self.joint_bodies = check.body_indices(
            "joint_bodies", joint_bodies, len(self.joint_jacobian), body_mass.bodies
        )
        self._init_layout(self.joint_bodies, joint_bounds)
        pairs, rows = by_body.rows_in_blocks(
            self.layout, self.jacobian, self.bodies, self.joint_jacobian, self.joint_bodies
        )
        self.operator = FactoredOperator.of_rows(self.layout, body_mass, pairs, rows)

    def _init_from_matrices(
        self,
        mass: Any,
        jacobian: Any,
        friction: Any,
        components: Any,
        joint_jacobian: Any,
        joint_bounds: Any,
        allow_asymmetry: bool,
    ) -> None:
        self.mass = check.matrix("mass", mass)
        size = self.mass.shape[0]
        if self.mass.shape[1] != size:
            raise ProblemError(
                f"mass has shape {self.mass.shape}: it must be square; blocks per body go with a jacobian "
                "of blocks (contacts, 2, d, 6)"
            )
        symmetric = masses.check_mass_matrix(self.mass, allow_asymmetry)
        self.jacobian = check.matrix("jacobian", jacobian)
        if self.jacobian.shape[0] != size:
            raise ProblemError(
                f"jacobian has {self.jacobian.shape[0]} rows and mass has {size}: D must have one row per "
                "generalised velocity and one column per contact component (is it transposed?)"
            )
        self._init_contacts(friction, components, self.jacobian.shape[1])
        if joint_jacobian is None:
            joint_jacobian = np.zeros((size, 0))
        self.joint_jacobian = check.matrix("joint_jacobian", joint_jacobian)
        if self.joint_jacobian.shape[0] != size:
            raise ProblemError(
                f"joint_jacobian has {self.joint_jacobian.shape[0]} rows and mass has {size}: "
                "G must have one row per generalised velocity (is it transposed?)"
            )
        joints = self.joint_jacobian.shape[1]
        self._init_layout(np.zeros((joints, 1), dtype=np.int64), joint_bounds)
        both = by_body.stacked(self.jacobian, self.joint_jacobian)
        both.eliminate_zeros()
        for body_mass in masses.body_masses(self.mass) if symmetric else ():
            found = by_body.rows_by_body(body_mass, both, self.components, self.joint_bounds)
            if found is not None:
                self.layout, pairs, rows = found
                self._mass = body_mass
                self.operator = FactoredOperator.of_rows(self.layout, body_mass, pairs, rows)
                return
        self._mass = masses.MatrixMass(self.mass, symmetric)
        self.operator = ProductOperator(self.layout, self._mass, both)

    def _init_contacts(
        self, friction: Any, components: Any, rows: int | None, contacts: int | None = None
    ) -> None:
        mu = check.array("friction", friction)
        if mu.ndim > 1:
            raise ProblemError(f"friction has shape {mu.shape}: give one number per contact, or one for all")
        if contacts is None:
            contacts = check.contact_count(mu, components, rows)
        self.friction = check.friction(mu, contacts)
        self.components = check.components(components, contacts, rows, self.friction)

    def _init_layout(self, keys: Integers, joint_bounds: Any) -> None:
        """Arrange joint rows with equal keys in blocks."""
        self.joint_bounds = check.joint_bounds(joint_bounds, len(keys))
        self.layout = Layout.of_joints(self.components, keys, self.joint_bounds)

    def _init_right_hand_side(self, momentum: Any, bias: Any, joint_bias: Any) -> None:
        assert self._mass is not None
        size = self._mass.size
        self.momentum = check.vector("momentum", momentum, size, "one number per generalised velocity")
        self.bias = check.vector("bias", bias, self.layout.contact_rows, "one number per contact component")
        self.joint_bias = check.vector("joint_bias", joint_bias, self.joint_rows, "one number per joint row")
        moved = self._rows_of(self._mass.solve(self.momentum))
        flat = moved + np.concatenate([self.bias, self.joint_bias])
        self.free_velocity, self.joint_free_velocity = self._split(flat)

    # ---- what it says ---------------------------------------------------------------------------

    @property
    def contacts(self) -> int:
        """Number of contacts."""
        return self.layout.contacts

    @property
    def joint_rows(self) -> int:
        """Number of joint rows."""
        return self.layout.rows - self.layout.contact_rows

    @property
    def has_masses(self) -> bool:
        """False for a problem given by its Delassus matrix: then the velocity v is not known."""
        return self._mass is not None

    def components_are(self, count: int) -> NDArray[np.bool_]:
        """True for every block that is a contact of `count` components."""
        flags = np.zeros(self.layout.blocks, dtype=bool)
        flags[: self.contacts] = self.components == count
        return flags

    @cached_property
    def cones(self) -> Cones:
        """Cone, weight ρ and tilting of every block, for the kernels."""
        weight = np.empty((self.layout.blocks, 3))
        block_weights(self.operator.diagonal_blocks, self.components, weight)
        friction = np.zeros(self.layout.blocks)
        friction[: self.contacts] = self.friction * (self.components > 1)
        lower, upper = self.layout.bounds(self.joint_bounds)
        for value in (friction, weight, lower, upper):
            check.freeze(value)
        tilting = 1.0 if self.law.exact else 0.0
        return Cones(friction, self.layout.block_kind, weight, lower, upper, self.law.sides, tilting)

    @cached_property
    def scales(self) -> Scales:
        """The scale S of the certificate for each island of bodies that act on each other, in √J."""
        return Scales.of(self.cones, self.free_blocks, self.operator.islands)

    @cached_property
    def free_blocks(self) -> Floats:
        """q, the velocity of contacts and joint rows without impulses, as (blocks, 3)."""
        blocks = self.layout.pad(self._joined(self.free_velocity, self.joint_free_velocity))
        check.freeze(blocks)
        return blocks

    def velocity(self, impulses: ArrayLike, joint_impulses: ArrayLike = ()) -> Floats:
        """v = M⁻¹(k + D γ + G λ) in m/s and rad/s."""
        if self._mass is None or self.momentum is None:
            raise ProblemError("this problem was given by its Delassus matrix: masses and v are not known")
        return velocity_after(self, self.blocks_of(impulses, joint_impulses))

    def generalised_impulse(self, impulses: ArrayLike, joint_impulses: ArrayLike = ()) -> Floats:
        """D γ + G λ, in N·s and N·m·s."""
        return generalised_impulse(self, self.blocks_of(impulses, joint_impulses))

    def blocks_of(self, impulses: ArrayLike, joint_impulses: ArrayLike = ()) -> Floats:
        """Arrange impulses of contacts and joint rows as (blocks, 3), after a check of their lengths."""
        gamma, joint = np.asarray(impulses, dtype=float), np.asarray(joint_impulses, dtype=float)
        if gamma.shape != (self.layout.contact_rows,) or joint.shape != (self.joint_rows,):
            raise ProblemError(
                f"impulses have shape {gamma.shape} and joint_impulses {joint.shape}: this problem has "
                f"{self.layout.contact_rows} contact components and {self.joint_rows} joint rows"
            )
        return self.layout.pad(self._joined(gamma, joint))

    def mass_matrix(self) -> Any:
        """M as a scipy sparse array."""
        return self._mass.sparse() if isinstance(self._mass, masses.BodyMass) else sp.csr_array(self.mass)

    def row_matrix(self) -> Any:
        """[D G] as a scipy sparse array: one row per generalised velocity, one column per row."""
        if self.jacobian.ndim == 2:
            return by_body.stacked(self.jacobian, self.joint_jacobian)
        return by_body.matrix_of_blocks(self)

    # ---- variations -----------------------------------------------------------------------------

    def with_law(self, law: Law | str) -> ContactProblem:
        """Return the same problem under another law."""
        return self._varied(law=Law.parse(law))

    def shifted(self, shift: Floats) -> ContactProblem:
        """Return the problem with `shift` (one number per contact component, m/s) added to the bias."""
        change = check.vector("shift", shift, self.layout.contact_rows, "one number per contact component")
        bias, free = self.bias + change, self.free_velocity + change
        return self._varied(bias=bias, free_velocity=free)

    def _varied(self, **changes: Any) -> ContactProblem:
        other = copy.copy(self)
        for name in ("cones", "free_blocks", "scales"):
            other.__dict__.pop(name, None)
        for name, value in changes.items():
            check.freeze(value)
            other.__dict__[name] = value
        return other

    # ---- small helpers --------------------------------------------------------------------------

    @staticmethod
    def _joined(contact: Floats, joint: Floats) -> Floats:
        return np.concatenate([contact, joint]) if len(joint) else contact

    def _split(self, flat: Floats) -> tuple[Floats, Floats]:
        return flat[: self.layout.contact_rows].copy(), flat[self.layout.contact_rows :].copy()

    def _rows_of(self, velocity: Floats) -> Floats:
        """[D G]ᵀ v, flat."""
        if self.jacobian.ndim == 4:
            return by_body.block_velocities(self, velocity)
        contact, joint = self.jacobian.T @ velocity, self.joint_jacobian.T @ velocity
        return np.concatenate([np.asarray(contact).ravel(), np.asarray(joint).ravel()])
