"""The Delassus operator N = [D G]ᵀ M⁻¹ [D G]: one interface, three representations.

All vectors are (blocks, 3) arrays as `Layout` arranges them. N maps impulses (N·s) to contact
velocities (m/s); its entries are in 1/kg for forces at a point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import csgraph, sparse_linalg
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.problem.kernels import operator as kernels
from nonsmooth.problem.kernels.operator import BlockSparse, Factored
from nonsmooth.problem.layout import Layout
from nonsmooth.problem.mass import BodyMass, MatrixMass

_FORMED_AT_ONCE = 600
"""Largest number of rows for which a product is formed with the problem: a few megabytes."""

_COLUMNS_AT_ONCE = 192
"""Columns of a product with M⁻¹ stored as a dense matrix."""

_DENSE_EIGENVALUES = 60
"""Largest number of rows for which eigenvalues are computed from a dense matrix."""


class DelassusOperator(ABC):
    """Interface for solvers: apply N, form it, read its diagonal, estimate its largest eigenvalue."""

    layout: Layout

    applies_by_kernel: bool = True
    """False if N x is computed from the factors of N instead of from `kernel_form`."""

    @property
    def kernel_form(self) -> Factored | BlockSparse:
        """Form for the compiled kernels: factored if bodies are known, else block-sparse."""
        return self.block_sparse

    @property
    @abstractmethod
    def block_sparse(self) -> BlockSparse:
        """N formed, as rows of 3×3 blocks."""

    def know(self, diagonal_blocks: Floats, islands: NDArray[np.int64]) -> None:
        """Take over what a time step has computed already."""
        vars(self).update(diagonal_blocks=diagonal_blocks, islands=islands)

    @cached_property
    def diagonal_blocks(self) -> Floats:
        """The 3×3 blocks N_ii (blocks, 3, 3); rows that only pad have 1 on the diagonal."""
        form = self.block_sparse
        row = np.repeat(np.arange(self.layout.blocks), np.diff(form.start))
        out = np.zeros((self.layout.blocks, 3, 3))
        own = form.column == row
        out[row[own]] = form.values[own]
        return self._fill_padding(out)

    def _fill_padding(self, diagonal: Floats) -> Floats:
        block, component = np.nonzero(self.layout.padding)
        diagonal[block, component, component] = 1.0
        diagonal.setflags(write=False)
        return diagonal

    @cached_property
    def islands(self) -> NDArray[np.int64]:
        """Island index of every block: islands are sets of blocks coupled directly or through others."""
        form, island = self.block_sparse, np.empty(self.layout.blocks, dtype=np.int64)
        kernels.sparse_islands(form.start, form.column, island)
        return island

    @property
    def work_rows(self) -> int:
        """Number of bodies whose mass-weighted velocities A x kernels keep; one if they keep none."""
        form = self.kernel_form
        return form.body_count if isinstance(form, Factored) else 1

    def work(self) -> Floats:
        """Work array for the mass-weighted velocities A x, (bodies, 6)."""
        return np.zeros((self.work_rows, 6))

    def apply(self, x: Floats) -> Floats:
        """N x."""
        out = np.empty_like(x)
        kernels.apply(self.kernel_form, x, self.work(), out)
        return out

    def matrix(self) -> Any:
        """N as a scipy sparse array over the user's rows: contact components, then joint rows."""
        form = self.block_sparse
        size = 3 * self.layout.blocks
        if len(form.values) == 0:
            return sp.csr_array((self.layout.rows, self.layout.rows))
        full = sp.bsr_array((form.values, form.column, form.start), shape=(size, size)).tocsr()
        return full[self.layout.slot][:, self.layout.slot]

    def largest_eigenvalue(self) -> float:
        """Largest eigenvalue of N by Lanczos' method: a lower bound, usually within 0.1 %."""
        rows = self.layout.rows
        if rows <= _DENSE_EIGENVALUES:
            return float(np.linalg.eigvalsh(self.matrix().toarray()).max(initial=0.0))

        def product(flat: Floats) -> Floats:
            return self.layout.unpad(self.apply(self.layout.pad(flat.ravel())))

        shape = sparse_linalg.LinearOperator((rows, rows), matvec=product, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(rows)
        return float(sparse_linalg.eigsh(shape, k=1, tol=1e-4, v0=start, return_eigenvectors=False)[0])


class FactoredOperator(DelassusOperator):
    """N = AᵀA with A = L⁻¹ [D G], by bodies: the fast path, O(1) memory and work per contact."""

    def __init__(self, layout: Layout, form: Factored) -> None:
        self.layout = layout
        self._form = form

    @classmethod
    def of_rows(
        cls, layout: Layout, mass: BodyMass, bodies: NDArray[np.int64], rows: Floats
    ) -> FactoredOperator:
        """From the rows of [D G]ᵀ by body, (blocks, 2, 3, 6); body −1 is ground."""
        lower = np.concatenate([mass.lower, np.eye(6)[None]])
        columns = np.empty((layout.blocks, 2, 3, 6))
        for side in range(2):
            solved = np.linalg.solve(lower[bodies[:, side]], np.swapaxes(rows[:, side], 1, 2))
            columns[:, side] = np.swapaxes(solved, 1, 2)
            columns[bodies[:, side] < 0, side] = 0.0
        return cls.of_columns(layout, bodies, columns, mass.bodies)

    @classmethod
    def of_columns(
        cls, layout: Layout, bodies: NDArray[np.int64], columns: Floats, count: int
    ) -> FactoredOperator:
        """From L⁻¹ of those rows, zero for ground, and the number of bodies."""
        return cls(
            layout, Factored(np.where(bodies < 0, count, bodies).astype(np.uint32), columns, count + 1)
        )

    @property
    def kernel_form(self) -> Factored:
        """The factored form itself."""
        return self._form

    def weighted_velocity(self, x: Floats) -> Floats:
        """A x = L⁻¹ [D G] x by body, without ground."""
        work = self.work()
        kernels.weigh(self._form, x, work)
        return work[:-1]

    @cached_property
    def islands(self) -> NDArray[np.int64]:
        """Island index of every block: blocks connected by the coordinates of moving bodies.

        A block and a coordinate are connected if the block's columns of A are nonzero, so that
        uncoupled coordinates grouped in one body stay separate.
        """
        label = np.empty(self.layout.blocks, dtype=np.int64)
        kernels.factored_islands(self._form, np.arange(6 * self._form.body_count), label)
        return np.unique(label, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def diagonal_blocks(self) -> Floats:
        """The 3×3 blocks N_ii; rows that only pad have 1 on the diagonal."""
        out = np.empty((self.layout.blocks, 3, 3))
        kernels.factored_diagonal(self._form, out)
        return self._fill_padding(out)

    @cached_property
    def block_sparse(self) -> BlockSparse:
        """N formed: blocks that share a moving body are neighbours."""
        bodies, ground = self._form.bodies, self._form.body_count - 1
        order = np.argsort(bodies.ravel(), kind="stable")
        body_start = np.searchsorted(bodies.ravel()[order], np.arange(ground + 2)).astype(np.int32)
        body_blocks = (order // 2).astype(np.int32)
        start = np.empty(self.layout.blocks + 1, dtype=np.int32)
        kernels.factored_pattern(bodies, body_start, body_blocks, ground, start)
        column = np.empty(start[-1], dtype=np.int32)
        values = np.empty((start[-1], 3, 3))
        kernels.factored_blocks(self._form, body_start, body_blocks, ground, start, column, values)
        return BlockSparse(start, column, values)


class ExplicitOperator(DelassusOperator):
    """N given as a matrix over the user's rows."""

    def __init__(self, layout: Layout, matrix: Any) -> None:
        self.layout = layout
        self._matrix = matrix

    @cached_property
    def block_sparse(self) -> BlockSparse:
        """N as rows of 3×3 blocks, padding included."""
        entries = sp.coo_array(self._matrix)
        slot, size = self.layout.slot, 3 * self.layout.blocks
        row, column = entries.coords
        if self.layout.blocks == 0:
            return BlockSparse(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros((0, 3, 3)))
        padded = sp.coo_array((entries.data, (slot[row], slot[column])), shape=(size, size))
        blocks = padded.tobsr(blocksize=(3, 3))
        blocks.sort_indices()
        return BlockSparse(
            blocks.indptr.astype(np.int32),
            blocks.indices.astype(np.int32),
            np.ascontiguousarray(blocks.data, dtype=float),
        )


class ProductOperator(DelassusOperator):
    """N = Pᵀ M⁻¹ P with P = [D G] and any mass: formed for the kernels; if large, applied unformed."""

    def __init__(self, layout: Layout, mass: MatrixMass, jacobian: Any) -> None:
        self.layout = layout
        self._mass = mass
        self._jacobian = jacobian
        self.applies_by_kernel = layout.rows <= _FORMED_AT_ONCE

    def apply(self, x: Floats) -> Floats:
        """N x by one product with P, one solve with M and one product with Pᵀ."""
        if self.applies_by_kernel:
            return super().apply(x)
        velocity = self._mass.solve(np.asarray(self._jacobian @ self.layout.unpad(x)))
        return self.layout.pad(np.asarray(self._jacobian.T @ velocity))

    @cached_property
    def block_sparse(self) -> BlockSparse:
        """N formed as Pᵀ (M⁻¹ P), without rounding noise at structural zeros of N."""
        product = sp.csr_array(sp.hstack([sp.csc_array(part) for _, part in self._columns()]))
        if self._mass.symmetric:
            product = 0.5 * (product + product.T)
        return ExplicitOperator(self.layout, product).block_sparse

    @cached_property
    def diagonal_blocks(self) -> Floats:
        """The 3×3 blocks N_ii; a large N is not formed, because it may be dense for sparse M and P."""
        if self.applies_by_kernel:
            return super().diagonal_blocks
        out = np.zeros((self.layout.blocks, 3, 3))
        slot = self.layout.slot
        for first, part in self._columns():
            column = slot[first : first + part.shape[1]]
            for k in range(3):
                place = 3 * (column // 3) + k  # rows of the same block, where they exist
                row = np.minimum(np.searchsorted(slot, place), len(slot) - 1)
                own = np.flatnonzero(slot[row] == place)
                out[column[own] // 3, k, column[own] % 3] = part[row[own], own]
        if self._mass.symmetric:
            out = 0.5 * (out + np.swapaxes(out, 1, 2))
        return self._fill_padding(out)

    @cached_property
    def islands(self) -> NDArray[np.int64]:
        """Island index of every block: blocks connected by coordinates that M couples."""
        mass, rows, blocks = sp.coo_array(self._mass.matrix), sp.coo_array(self._jacobian), self.layout.blocks
        coordinate = [*mass.coords[0], *rows.coords[0]]
        other = [*mass.coords[1], *(self._mass.size + self.layout.slot[rows.coords[1]] // 3)]
        size = self._mass.size + blocks
        graph = sp.coo_array((np.ones(len(other)), (coordinate, other)), shape=(size, size))
        label = csgraph.connected_components(graph, directed=False)[1][self._mass.size :]
        return np.unique(label, return_inverse=True)[1].astype(np.int64)

    def _columns(self) -> Iterator[tuple[int, Floats]]:
        """Groups of columns of Pᵀ (M⁻¹ P): the index of the first one, and (rows, columns)."""
        matrix = sp.csc_array(self._jacobian)
        for first in range(0, max(matrix.shape[1], 1), _COLUMNS_AT_ONCE):
            dense = matrix[:, first : first + _COLUMNS_AT_ONCE].toarray()
            yield first, np.asarray(self._jacobian.T @ self._mass.solve(dense))
