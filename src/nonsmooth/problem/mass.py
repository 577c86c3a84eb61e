"""Mass matrices: one block per body, or any symmetric positive definite matrix.

Units: kg for translations, kg·m² for rotations; generalised coordinates have other units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import is_sparse, linalg, sparse_linalg
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import ProblemError
from nonsmooth.problem.kernels import mass as kernels

_SYMMETRY = 1e-10
"""Largest asymmetry accepted, relative to the diagonal entries: a bound on rounding."""

_ROUNDINGS = 100.0
"""Bound on the rounding errors in a product and two triangular solves with a 6×6 block."""

_NOT_DEFINITE = "mass is not positive definite: check inertias and generalised masses"


class Mass(Protocol):
    """Interface of a mass matrix M."""

    size: int
    symmetric: bool
    rounding: float
    """Bound of the relative error of the momentum balance of v = M⁻¹p; infinite if unknown."""

    def multiply(self, velocity: Floats) -> Floats:
        """M v."""

    def solve(self, momentum: Floats) -> Floats:
        """M⁻¹ p (a `MatrixMass` takes the columns of a matrix too)."""


class BodyMass:
    """Blocks of up to 6×6, one per body, stored as (bodies, 6, 6) and factored M = L Lᵀ.

    `body` and `slot` give the place of each generalised coordinate. Smaller blocks are padded with an
    identity that no coordinate refers to.
    """

    symmetric = True

    def __init__(self, blocks: Floats, body: NDArray[np.int64], slot: NDArray[np.int64]) -> None:
        self.body = body
        self.slot = slot
        self.size = len(body)
        diagonal = np.einsum("bkk->bk", blocks)
        _require(
            np.all(diagonal > 0.0, axis=1),
            "mass of body {} has a zero or negative diagonal entry: masses and inertias must be positive; "
            "for a fixed body use the index -1 (ground) in bodies",
        )
        scaled = _scaled(blocks)
        asymmetry = np.abs(scaled - np.swapaxes(scaled, 1, 2)).max(axis=(1, 2), initial=0.0)
        _require(asymmetry <= _SYMMETRY, "mass of body {} is not symmetric: give (M + Mᵀ)/2")
        self.blocks = blocks = 0.5 * (blocks + np.swapaxes(blocks, 1, 2))  # factors use one triangle only
        smallest = np.linalg.eigvalsh(scaled).min(axis=1, initial=np.inf)
        _require(smallest > 1e-14, "mass of body {} is not positive definite: check its inertia")
        self.rounding = _ROUNDINGS * float(np.finfo(float).eps) / float(smallest.min(initial=1.0))
        self.lower: Any = np.linalg.cholesky(blocks)
        self.lower_inverse: Any = np.linalg.inv(self.lower)  # small, scaled alike: safe
        natural = np.arange(6 * len(blocks))
        self._full = np.array_equal(6 * body + slot, natural)
        self._diagonal = not np.any(blocks[:, ~np.eye(6, dtype=bool)])

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.blocks)

    def spread(self, flat: Floats) -> Floats:
        """Arrange a generalised vector as (bodies, 6)."""
        if self._full:
            return flat.reshape(-1, 6)
        out = np.zeros((self.bodies, 6))
        out[self.body, self.slot] = flat
        return out

    def collect(self, by_body: Floats) -> Floats:
        """Inverse of `spread`."""
        if self._full:
            return by_body.reshape(-1)
        return np.asarray(by_body[self.body, self.slot])

    def sparse(self) -> Any:
        """M as a scipy sparse array over the generalised coordinates."""
        size = 6 * self.bodies
        row = np.broadcast_to(
            6 * np.arange(self.bodies)[:, None, None] + np.arange(6)[:, None], self.blocks.shape
        )
        column = np.swapaxes(row, 1, 2)
        full = sp.csr_array((self.blocks.ravel(), (row.ravel(), column.ravel())), shape=(size, size))
        full.eliminate_zeros()
        place = 6 * self.body + self.slot
        return full[place][:, place]

    def multiply(self, velocity: Floats) -> Floats:
        """M v."""
        return self.collect(self._by_body(self.blocks, self.spread(velocity)))

    def half_solve(self, by_body: Floats) -> Floats:
        """L⁻¹ p for (bodies, 6) arrays: the mass-weighted velocity."""
        return self._by_body(self.lower_inverse, by_body)

    def finish_solve(self, weighted: Floats) -> Floats:
        """L⁻ᵀ w for (bodies, 6) arrays: from the mass-weighted velocity to the velocity."""
        return self._by_body(np.swapaxes(self.lower_inverse, 1, 2), weighted)

    def unweight(self, weighted: Floats) -> Floats:
        """L w for (bodies, 6) arrays: from the mass-weighted velocity to the momentum."""
        return self._by_body(self.lower, weighted)

    def _by_body(self, blocks: Floats, vectors: Floats) -> Floats:
        """Product of every body's block with its vector; spheres have diagonal blocks."""
        if self._diagonal:
            return np.asarray(np.einsum("bii->bi", blocks) * vectors)
        return np.asarray(np.einsum("bij,bj->bi", blocks, vectors))

    def velocity(self, momentum: Floats, weighted: Floats) -> Floats:
        """v = M⁻¹(k + L w) from k and the mass-weighted velocity w (bodies, 6) of the impulses."""
        out = np.empty((self.bodies, 6))
        kernels.velocity(self.lower_inverse, self.spread(momentum), weighted, out)
        return self.collect(out)

    def balance(self, velocity: Floats, momentum: Floats, weighted: Floats) -> tuple[float, float]:
        """|M v − k − L w|: the largest entry (N·s), and the M⁻¹-norm relative to its largest term."""
        before, speed = self.spread(momentum), self.spread(velocity)
        largest, relative = kernels.balance(
            self.blocks, self.lower, self.lower_inverse, before, weighted, speed
        )
        return largest, relative

    def solve(self, momentum: Floats) -> Floats:
        """M⁻¹ p."""
        return self.collect(self.finish_solve(self.half_solve(self.spread(momentum))))


class MatrixMass:
    """Any positive definite matrix, dense or sparse, factored once: by Cholesky if it is symmetric."""

    def __init__(self, matrix: Any, symmetric: bool = True) -> None:
        self.matrix = matrix = 0.5 * (matrix + matrix.T) if symmetric else matrix
        self.size = matrix.shape[0]
        self.symmetric = symmetric
        self._solve: Callable[[Floats], Floats]
        if not symmetric:
            try:
                self._solve = sparse_linalg.splu(sp.csc_array(matrix)).solve
            except RuntimeError:  # exactly singular
                raise ProblemError(_NOT_DEFINITE) from None
        elif is_sparse(matrix):
            self._solve = _sparse_factor(matrix).solve
        else:
            try:
                lower = linalg.cho_factor(matrix, lower=True)
            except np.linalg.LinAlgError:
                raise ProblemError(_NOT_DEFINITE) from None
            self._solve = lambda right: linalg.cho_solve(lower, right)
        roundings = _ROUNDINGS * np.sqrt(self.size)  # they add up as in a random walk
        condition = self._condition() if symmetric else np.inf  # pivots depend on units: no bound is known
        self.rounding = float(roundings * np.finfo(float).eps) * condition

    def _condition(self) -> float:
        """Estimate of the condition of a symmetric M scaled to a unit diagonal (1-norm, a few solves)."""
        root = np.sqrt(np.abs(self.matrix.diagonal()))[:, None]
        shape = (self.size, self.size)

        def inverse(right: Floats) -> Floats:
            return np.asarray(root * self._solve(root * right.reshape(self.size, -1)))

        if self.size == 0:
            return 1.0
        operator = sparse_linalg.LinearOperator(
            shape, matvec=inverse, rmatvec=inverse, matmat=inverse, rmatmat=inverse, dtype=np.float64
        )
        scaled = abs(sp.csc_array(self.matrix)) / root / root.T
        return float(scaled.sum(axis=0).max()) * float(sparse_linalg.onenormest(operator))

    def multiply(self, velocity: Floats) -> Floats:
        """M v."""
        return np.asarray(self.matrix @ velocity)

    def solve(self, momentum: Floats) -> Floats:
        """M⁻¹ p."""
        return np.asarray(self._solve(momentum))

    def energies(self, momenta: Floats) -> list[float]:
        """pᵀM⁻¹p in J for every column p; with the diagonal of M only if the rest would be incomplete."""
        solved = self.solve(momenta) if self.symmetric else momenta / self.matrix.diagonal()[:, None]
        energy: Floats = np.abs(np.einsum("ij,ij->j", momenta, solved))
        return [float(each) for each in energy]


def mass_from_blocks(blocks: Floats) -> BodyMass:
    """Mass from (bodies, 6) diagonals or (bodies, 6, 6) blocks."""
    if blocks.ndim == 2:
        blocks = blocks[:, :, None] * np.eye(6)
    count = len(blocks)
    return BodyMass(blocks, np.repeat(np.arange(count), 6), np.tile(np.arange(6), count))


def body_masses(matrix: Any) -> Iterator[BodyMass]:
    """Ways to read a checked mass matrix as consecutive bodies: one body, bodies of 6, bodies of 3."""
    size = matrix.shape[0]
    entries = sp.coo_array(matrix)
    entries.eliminate_zeros()
    row, column = entries.coords
    for width in dict.fromkeys([size] * (0 < size <= 6) + [6, 3]):
        if size % width == 0 and np.array_equal(row // width, column // width):
            coordinate = np.arange(size)
            blocks = np.tile(np.eye(6), (size // width, 1, 1))
            blocks[:, :width, :width] = 0.0
            blocks[row // width, row % width, column % width] = entries.data
            yield BodyMass(blocks, coordinate // width, coordinate % width)


def check_mass_matrix(matrix: Any, allow_asymmetry: bool) -> bool:
    """Raise unless a matrix has a positive diagonal and, if required, is symmetric; return if it is."""
    entries = sp.coo_array(matrix)
    symmetric = _check_symmetry(entries, allow_asymmetry)
    _require(
        entries.diagonal() > 0.0,
        "mass has a zero or negative diagonal entry at index {}: masses and inertias must be positive; "
        "omit fixed bodies from the mass matrix",
    )
    return symmetric


def _sparse_factor(matrix: Any) -> Any:
    """Factors of a sparse matrix with pivots on the diagonal, which are positive if it is definite."""
    try:
        factor = sparse_linalg.splu(
            sp.csc_array(matrix), diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # exactly singular
        raise ProblemError(_NOT_DEFINITE) from None
    if not (np.all(factor.U.diagonal() > 0.0) and np.array_equal(factor.perm_r, factor.perm_c)):
        raise ProblemError(_NOT_DEFINITE)
    return factor


def _scaled(blocks: Floats) -> Floats:
    """Blocks with unit diagonal: definiteness must not depend on the unit of length."""
    root = np.sqrt(np.einsum("bkk->bk", blocks))
    return np.asarray(blocks / (root[:, :, None] * root[:, None, :]))


def _check_symmetry(entries: Any, allow_asymmetry: bool) -> bool:
    """Return whether |M_ij − M_ji| is small relative to √(M_ii M_jj), which is independent of units."""
    difference = sp.coo_array(abs(entries - entries.T))
    row, column = difference.coords
    root = np.sqrt(np.abs(entries.diagonal()))
    excess = difference.data - _SYMMETRY * root[row] * root[column]
    symmetric = not np.any(excess > 0.0)
    if not symmetric and not allow_asymmetry:
        worst = int(np.argmax(excess))
        raise ProblemError(
            f"mass is not symmetric at index ({int(row[worst])}, {int(column[worst])}): give (M + Mᵀ)/2, "
            "or allow_asymmetry=True to accept it"
        )
    return symmetric


def _require(good: NDArray[np.bool_], message: str) -> None:
    bad = np.flatnonzero(~good)
    if len(bad):
        raise ProblemError(message.format(int(bad[0])))
