"""The nonsmooth equations of coupled blocks, and the linear systems of Newton's method.

All in the weighted variables x = γ/√ρ and u = √ρ (Nγ + q), both in √J, in which N has entries of about one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse, sparse_linalg
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import residuals as residual_kernels
from nonsmooth.problem.kernels.residuals import JOINT, Cones
from nonsmooth.solvers.kernels import newton as kernels

FORMULATIONS = {
    "alart-curnier": kernels.ALART_CURNIER,
    "natural-map": kernels.NATURAL_MAP,
    "fischer-burmeister": kernels.FISCHER_BURMEISTER,
}
_DENSE = 1000
"""Number of unknowns times filled fraction of the matrix, up to which a dense factorisation is faster."""
_JOINT_SOFTNESS = 1e-6
"""Fraction of α on joint rows without bounds: more prevents convergence on long chains."""


class Equations:
    """F = 0 for blocks not coupled to any others, and the steps (A + B(N + αI)) d = −F."""

    def __init__(self, problem: ContactProblem, formulation: str, blocks: Integers) -> None:
        """Collect the data of the blocks (increasing indices) from the problem."""
        cones, shape = problem.cones, (len(blocks), 3)
        self.kind = FORMULATIONS[formulation]
        self.blocks = blocks
        self.root = np.sqrt(cones.weight[blocks])
        self.padding = problem.layout.padding[blocks]
        self.softness = np.where(cones.free[blocks] == JOINT, _JOINT_SOFTNESS, 1.0)
        self.cones = Cones(
            cones.friction[blocks], cones.free[blocks], np.ones(shape),
            cones.lower[blocks] / self.root, cones.upper[blocks] / self.root, cones.sides, cones.tilting,
        )  # fmt: skip
        self.q = self.root * problem.free_blocks[blocks]
        self.start, self.column, self.values = _weighted_rows(problem, blocks, self.root)
        self.F, self.A, self.B = np.zeros(shape), np.zeros((*shape, 3)), np.zeros((*shape, 3))
        self._squares, self._place = np.zeros(len(blocks)), np.zeros(len(blocks), dtype=np.int64)
        self._data, self._index = np.zeros(self.values.size), np.zeros(self.values.size, dtype=np.int32)

    def velocities(self, x: Floats) -> Floats:
        """u = N x + q."""
        u = np.empty_like(x)
        kernels.velocities(self.start, self.column, self.values, self.q, x, u)
        return u

    def natural_map(self, x: Floats, u: Floats) -> float:
        """Norm of the natural map, the measure of the residual, in √J."""
        residual_kernels.squared_residuals(self.cones, x, u, self._squares)
        return math.sqrt(self._squares.sum())

    def evaluate(self, x: Floats, u: Floats) -> float:
        """Compute F with its derivatives A by x and B by u, and return |F| in √J."""
        return math.sqrt(kernels.equations(self.kind, self.cones, self.padding, x, u, self.F, self.A, self.B))

    def step(self, alpha: float) -> Floats | None:
        """Solve (A + B(N + αI)) d = −F for d; None if the matrix is singular.

        Open contacts, for which d = −F, are removed before the factorisation.
        """
        unknowns = 3 * kernels.place_blocks(self.A, self.B, self._place)
        right, row_start = np.empty(unknowns), np.zeros(unknowns + 1, dtype=np.int32)
        entries = kernels.system_rows(
            self.start, self.column, self.values, self.F, self.A, self.B, alpha * self.softness, self._place,
            self._data, self._index, row_start, right,
        )  # fmt: skip
        try:
            solution = _solve(self._data[:entries], self._index[:entries], row_start, right)
        except (np.linalg.LinAlgError, RuntimeError):
            return None
        d = np.empty_like(self.F)
        kernels.spread(self._place, self.F, solution, d)
        return d if np.isfinite(d).all() else None


def _solve(data: Floats, index: NDArray[np.int32], row_start: NDArray[np.int32], right: Floats) -> Floats:
    """Solve a system whose matrix is given as compressed rows."""
    size = len(right)
    if size**3 <= _DENSE * len(data):
        matrix = np.zeros((size, size))
        kernels.fill_rows(data, index, row_start, matrix)
        return np.asarray(np.linalg.solve(matrix, right))
    # compressed rows, read as compressed columns, are the transpose; pattern and values are nearly symmetric
    transpose = sparse.csc_array((data, index, row_start), shape=(size, size))
    factors = sparse_linalg.splu(transpose, "MMD_AT_PLUS_A", 0.1, options={"SymmetricMode": True})
    return np.asarray(factors.solve(right, "T"))


def _weighted_rows(
    problem: ContactProblem, blocks: Integers, root: Floats
) -> tuple[Integers, Integers, Floats]:
    """√ρ N √ρ as rows of 3×3 blocks, in which every diagonal block is present."""
    form = problem.operator.block_sparse
    counts = form.start[blocks + 1] - form.start[blocks]
    row = np.repeat(np.arange(len(blocks)), counts)
    entries = np.arange(len(row)) + np.repeat(form.start[blocks] - np.cumsum(counts) + counts, counts)
    inside = np.isin(form.column[entries], blocks)  # entries outside are explicit zeros
    row, entries = row[inside], entries[inside]
    column, values = np.searchsorted(blocks, form.column[entries]), form.values[entries]
    missing = np.ones(len(blocks), dtype=bool)
    missing[row[row == column]] = False
    if missing.any():
        added = np.flatnonzero(missing)
        row, column = np.concatenate([row, added]), np.concatenate([column, added])
        values = np.concatenate([values, np.zeros((len(added), 3, 3))])
        order = np.argsort(row, kind="stable")
        row, column, values = row[order], column[order], values[order]
    start = np.searchsorted(row, np.arange(len(blocks) + 1))
    return start, column, values * root[row][:, :, None] * root[column][:, None, :]
