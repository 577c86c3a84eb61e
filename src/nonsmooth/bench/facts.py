"""Properties of a problem before it is solved: its size and properties of its matrix W."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth.bench.measure import Entry

_LARGEST = 1500
"""Largest number of rows for which singular values and eigenvalues are computed: a few seconds."""


@dataclass(frozen=True)
class ProblemFacts:
    """Facts about a problem; NaN if not computed."""

    digest: str
    kind: str
    """"masses" (M, D, k, b) or "W" (W, q)."""
    contacts: int
    dimension: int
    """Components of its contacts; 0 if they differ."""
    rows: int
    """Contact components and joint rows: the size of W."""
    joint_rows: int
    rank_defect: float
    """Singular values of W below rows · ε of the largest."""
    condition: float
    """Largest singular value over the smallest one outside the defect."""
    asymmetry: float
    """Largest entry of |W − Wᵀ| over the largest of |W|."""
    smallest_eigenvalue: float
    """Of the symmetric part of W, in parts of the largest."""


def facts_of(entry: Entry) -> ProblemFacts:
    """Analyse a problem's matrix."""
    problem = entry.problem
    rows = problem.layout.rows
    matrix = problem.operator.matrix()
    largest = float(abs(matrix).max()) if matrix.nnz else 0.0
    asymmetry = float(abs(matrix - matrix.T).max()) / largest if largest else 0.0
    defect = condition = smallest = math.nan
    if 0 < rows <= _LARGEST and largest:
        dense = matrix.toarray()
        values = np.linalg.svd(dense, compute_uv=False)
        rank = int((values > rows * np.finfo(float).eps * values[0]).sum())
        defect, condition = float(rows - rank), float(values[0] / values[rank - 1])
        eigenvalues = np.linalg.eigvalsh(0.5 * (dense + dense.T))
        smallest = float(eigenvalues[0] / eigenvalues[-1])
    return ProblemFacts(
        digest=entry.digest,
        kind="masses" if problem.has_masses else "W",
        contacts=problem.contacts,
        dimension=entry.dimension,
        rows=rows,
        joint_rows=problem.joint_rows,
        rank_defect=defect,
        condition=condition,
        asymmetry=asymmetry,
        smallest_eigenvalue=smallest,
    )
