"""`ContactProblem`: the contact problem of one time step, with joints; checked and immutable."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import is_sparse
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import ProblemError
from nonsmooth.problem import blocks_by_body as by_body
from nonsmooth.problem import checks as check
from nonsmooth.problem import construction
from nonsmooth.problem.data import ProblemData
from nonsmooth.problem.kernels.residuals import Cones, block_weights
from nonsmooth.problem.laws import COULOMB, Law
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import BodyMass, Mass
from nonsmooth.problem.momentum import generalised_impulse, velocity_after
from nonsmooth.problem.operator import DelassusOperator
from nonsmooth.problem.scales import Scales


class ContactProblem:
    """Find impulses γ (contacts) and λ (joints) and the velocity v with

        M v = k + D γ + G λ,    u = Dᵀv + b,    w = Gᵀv + b_G,
        K_i ∋ γ_i ⟂ u_i + s_i e_n ∈ K_i*          for every contact i,
        −w_j ∈ N_[lower,upper](λ_j)               for every joint row j, which is w_j = 0 without bounds,

    where the law defines K and s. Components of a contact are (n), (n, t) or (n, t1, t2);
    the normal points from body A to body B and γ is the impulse on B. SI units: M in kg (kg·m²),
    k, γ and λ in N·s (N·m·s), v, u and b in m/s (rad/s); b_n is the gap divided by the step. On
    acceleration level read accelerations for velocities and forces for impulses.

    Give either `mass` and `jacobian`, or `delassus` and `free_velocity`. `from_matrices`, `from_blocks` and
    `from_delassus` say what each form takes.

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
        delassus: W = [D G]ᵀ M⁻¹ [D G] (dense or sparse), if masses are not known.
        free_velocity: q = [D G]ᵀ M⁻¹ k + b, to go with `delassus`.
        joint_rows: with `delassus`, how many of its last rows are joint rows.
        law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
        allow_asymmetry: accept an M or W that is far from symmetric, as in files of other programs.
    """

    _data: ProblemData

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
        common: dict[str, Any] = {
            "friction": friction, "components": components, "joint_bounds": joint_bounds, "law": law,
        }  # fmt: skip
        masses = {
            "mass": mass, "jacobian": jacobian, "bodies": bodies, "momentum": momentum, "bias": bias,
            "joint_jacobian": joint_jacobian, "joint_bodies": joint_bodies, "joint_bias": joint_bias,
        }  # fmt: skip
        if delassus is not None:
            named = [name for name, value in masses.items() if value is not None]
            if named:
                raise ProblemError(
                    f"{named[0]} and delassus exclude each other: give masses and Jacobians, "
                    "or delassus and free_velocity (with joint_rows for joints)"
                )
            if free_velocity is None:
                raise ProblemError("free_velocity is missing: a problem given by delassus needs it")
            own = {"delassus": delassus, "free_velocity": free_velocity, "joint_rows": joint_rows}
            data = construction.of_delassus(**own, **common, allow_asymmetry=allow_asymmetry)
        else:
            if mass is None or jacobian is None:
                raise ProblemError(
                    f"{'mass' if mass is None else 'jacobian'} is missing: give mass and jacobian, "
                    "or delassus and free_velocity"
                )
            if free_velocity is not None or joint_rows:
                raise ProblemError(
                    "free_velocity and joint_rows need delassus: use momentum, bias, joint_jacobian here"
                )
            if not is_sparse(jacobian):
                masses["jacobian"] = jacobian = check.array("jacobian", jacobian)
            if jacobian.ndim == 4:
                data = construction.of_blocks(**masses, **common)
            else:
                for name in ("bodies", "joint_bodies"):
                    if masses.pop(name) is not None:
                        raise ProblemError(
                            f"{name} needs a jacobian of blocks (contacts, 2, d, 6): omit it here"
                        )
                data = construction.of_matrices(**masses, **common, allow_asymmetry=allow_asymmetry)
        self._take(data)
        _ = self.scales  # as in `_given`

    @classmethod
    def from_matrices(
        cls,
        *,
        mass: Any,
        jacobian: Any,
        friction: ArrayLike,
        momentum: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        components: ArrayLike | None = None,
        joint_jacobian: Any = None,
        joint_bias: ArrayLike | None = None,
        joint_bounds: ArrayLike | None = None,
        law: Law | str = COULOMB,
        allow_asymmetry: bool = False,
    ) -> ContactProblem:
        """Return the problem of generalised coordinates: M, D and G as dense or sparse matrices.

        Args:
            mass: M (n, n) in kg or kg·m², symmetric and positive definite.
            jacobian: D (n, rows) with one column per contact component.
            friction: μ ≥ 0 for each contact, or one number for all.
            momentum: k = M v_old + h f, (n,) in N·s or N·m·s; zero if not given.
            bias: b in m/s, one number per contact component; zero if not given.
            components: 1, 2 or 3 for all contacts or for each; found from the shapes if not given.
            joint_jacobian: G (n, r) with one column per joint row; no joints if not given.
            joint_bias: b_G (r,) in m/s or rad/s; zero if not given.
            joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (r, 2) in N·s or N·m·s; rows hold
                if not given.
            law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
            allow_asymmetry: accept an M that is far from symmetric, as in files of other programs.
        """
        return cls._given(
            construction.of_matrices(
                mass=mass, jacobian=jacobian, friction=friction, momentum=momentum, bias=bias,
                components=components, joint_jacobian=joint_jacobian, joint_bias=joint_bias,
                joint_bounds=joint_bounds, law=law, allow_asymmetry=allow_asymmetry,
            )
        )  # fmt: skip

    @classmethod
    def from_blocks(
        cls,
        *,
        mass: ArrayLike,
        jacobian: ArrayLike,
        bodies: ArrayLike,
        friction: ArrayLike,
        momentum: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        components: ArrayLike | None = None,
        joint_jacobian: ArrayLike | None = None,
        joint_bodies: ArrayLike | None = None,
        joint_bias: ArrayLike | None = None,
        joint_bounds: ArrayLike | None = None,
        law: Law | str = COULOMB,
    ) -> ContactProblem:
        """Return the problem of n rigid bodies: blocks of M, and rows of Dᵀ and Gᵀ by body.

        Velocities of a body are (linear, angular), in m/s and rad/s.

        Args:
            mass: (n, 6, 6) in kg and kg·m², or (n, 6) for diagonals.
            jacobian: (contacts, 2, d, 6), the rows of Dᵀ for bodies A and B with d = 1, 2 or 3 components.
            bodies: (contacts, 2) indices of A and B; −1 is ground.
            friction: μ ≥ 0 for each contact, or one number for all.
            momentum: k = M v_old + h f, (n, 6) or flat, in N·s and N·m·s; zero if not given.
            bias: b in m/s, one number per contact component; zero if not given.
            components: 1 to d for all contacts or for each; d if not given.
            joint_jacobian: (r, 2, 6), the joint rows of Gᵀ for bodies A and B; no joints if not given.
            joint_bodies: (r, 2) indices of A and B for each joint row.
            joint_bias: b_G (r,) in m/s or rad/s; zero if not given.
            joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (r, 2) in N·s or N·m·s; rows hold
                if not given.
            law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
        """
        return cls._given(
            construction.of_blocks(
                mass=mass, jacobian=jacobian, bodies=bodies, friction=friction, momentum=momentum, bias=bias,
                components=components, joint_jacobian=joint_jacobian, joint_bodies=joint_bodies,
                joint_bias=joint_bias, joint_bounds=joint_bounds, law=law,
            )
        )  # fmt: skip

    @classmethod
    def from_delassus(
        cls,
        *,
        delassus: Any,
        free_velocity: ArrayLike,
        friction: ArrayLike,
        components: ArrayLike | None = None,
        joint_rows: int = 0,
        joint_bounds: ArrayLike | None = None,
        law: Law | str = COULOMB,
        allow_asymmetry: bool = False,
    ) -> ContactProblem:
        """Return the problem of a Delassus matrix, for unknown masses.

        Args:
            delassus: W = [D G]ᵀ M⁻¹ [D G], dense or sparse, the rows of contacts first.
            free_velocity: q = [D G]ᵀ M⁻¹ k + b in m/s or rad/s, one number per row of W.
            friction: μ ≥ 0 for each contact, or one number for all.
            components: 1, 2 or 3 for all contacts or for each; found from the shapes if not given.
            joint_rows: how many of the last rows are joint rows.
            joint_bounds: lower ≤ 0 ≤ upper of each joint row's impulse, (joint_rows, 2) in N·s or N·m·s;
                rows hold if not given.
            law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
            allow_asymmetry: accept a W that is far from symmetric, as in files of other programs.
        """
        return cls._given(
            construction.of_delassus(
                delassus=delassus, free_velocity=free_velocity, friction=friction, components=components,
                joint_rows=joint_rows, joint_bounds=joint_bounds, law=law, allow_asymmetry=allow_asymmetry,
            )
        )  # fmt: skip

    @classmethod
    def of_data(cls, data: ProblemData) -> ContactProblem:
        """Return a problem from data assembled by the package, see `problem.construction`."""
        problem = object.__new__(cls)
        problem._take(data)
        return problem

    @classmethod
    def _given(cls, data: ProblemData) -> ContactProblem:
        problem = cls.of_data(data)
        _ = problem.scales  # needed first by every solve
        return problem

    def _take(self, data: ProblemData) -> None:
        for value in data:
            check.freeze(value)
        object.__setattr__(self, "_data", data)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"ContactProblem is immutable: make a new one to change {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"ContactProblem is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return (
            f"ContactProblem(contacts={self.contacts}, joint_rows={self.joint_rows}, law={self.law}, "
            f"{type(self.operator).__name__})"
        )

    # ---- data: see `ProblemData` ----------------------------------------------------------------

    @property
    def law(self) -> Law:
        """The friction law."""
        return self._data.law

    @property
    def friction(self) -> Floats:
        """μ of each contact."""
        return self._data.friction

    @property
    def components(self) -> Integers:
        """1, 2 or 3 for each contact."""
        return self._data.components

    @property
    def layout(self) -> Layout:
        """How contacts and joint rows lie in blocks of three."""
        return self._data.layout

    @property
    def operator(self) -> DelassusOperator:
        """N = [D G]ᵀ M⁻¹ [D G]."""
        return self._data.operator

    @property
    def mass(self) -> Any:
        """M as it was given, a matrix or blocks by body; None where W was given."""
        return self._data.mass

    @property
    def factors(self) -> Mass | None:
        """M with its factors; None where W was given."""
        return self._data.factors

    @property
    def jacobian(self) -> Any:
        """D as a matrix, or the rows of Dᵀ by body, (contacts, 2, d, 6); None where W was given."""
        return self._data.jacobian

    @property
    def bodies(self) -> Any:
        """Bodies A and B of each contact, −1 for ground; None without blocks."""
        return self._data.bodies

    @property
    def momentum(self) -> Any:
        """k in N·s and N·m·s, flat; None where W was given."""
        return self._data.momentum

    @property
    def bias(self) -> Floats:
        """b in m/s, one number per contact component."""
        return self._data.bias

    @property
    def free_velocity(self) -> Floats:
        """DᵀM⁻¹k + b in m/s, one number per contact component."""
        return self._data.free_velocity

    @property
    def joint_jacobian(self) -> Any:
        """G as a matrix, or the rows of Gᵀ by body, (rows, 2, 6); None where W was given."""
        return self._data.joint_jacobian

    @property
    def joint_bodies(self) -> Any:
        """Bodies A and B of each joint row, −1 for ground; None without blocks."""
        return self._data.joint_bodies

    @property
    def joint_bias(self) -> Floats:
        """b_G in m/s or rad/s, one number per joint row."""
        return self._data.joint_bias

    @property
    def joint_free_velocity(self) -> Floats:
        """GᵀM⁻¹k + b_G in m/s or rad/s, one number per joint row."""
        return self._data.joint_free_velocity

    @property
    def joint_bounds(self) -> Floats:
        """lower ≤ 0 ≤ upper of each joint row's impulse, (rows, 2) in N·s or N·m·s."""
        return self._data.joint_bounds

    @property
    def delassus(self) -> Any:
        """W if it was given, else None."""
        return self._data.delassus

    # ---- properties -----------------------------------------------------------------------------

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
        return self.factors is not None

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
        """The scale S of the certificate for each island of connected bodies, in √J."""
        return Scales.of(self.cones, self.free_blocks, self.operator.islands)

    @cached_property
    def free_blocks(self) -> Floats:
        """q, the velocity of contacts and joint rows without impulses, as (blocks, 3)."""
        blocks = self.layout.pad(self._joined(self.free_velocity, self.joint_free_velocity))
        check.freeze(blocks)
        return blocks

    def velocity(self, impulses: ArrayLike, joint_impulses: ArrayLike = ()) -> Floats:
        """v = M⁻¹(k + D γ + G λ) in m/s and rad/s."""
        if self.factors is None:
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
        return self.factors.sparse() if isinstance(self.factors, BodyMass) else sp.csr_array(self.mass)

    def row_matrix(self) -> Any:
        """[D G] as a scipy sparse array: one row per generalised velocity, one column per row."""
        if self.jacobian.ndim == 2:
            return by_body.stacked(self.jacobian, self.joint_jacobian)
        return by_body.matrix_of_blocks(self)

    # ---- variations -----------------------------------------------------------------------------

    def with_law(self, law: Law | str) -> ContactProblem:
        """Return the same problem under another law."""
        return self.of_data(self._data._replace(law=Law.parse(law)))

    def shifted(self, shift: Floats) -> ContactProblem:
        """Return the problem with `shift` (one number per contact component, m/s) added to the bias."""
        change = check.vector("shift", shift, self.layout.contact_rows, "one number per contact component")
        bias, free = self.bias + change, self.free_velocity + change
        return self.of_data(self._data._replace(bias=bias, free_velocity=free))

    # ---- small helpers --------------------------------------------------------------------------

    @staticmethod
    def _joined(contact: Floats, joint: Floats) -> Floats:
        return np.concatenate([contact, joint]) if len(joint) else contact
