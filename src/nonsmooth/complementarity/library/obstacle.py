"""obstacle: a membrane over the unit square, pushed by a constant force between two obstacles (MCPLIB)."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import whole
from nonsmooth.complementarity.library.entry import NamedProblem
from nonsmooth.complementarity.problem import LCP


def obstacle(points: int = 50, force: float = 1.0) -> LCP:
    """Heights v of a membrane at points × points inner nodes; it is held at 0 on the edge.

        (dy/dx)(2v_ij − v_i±1,j) + (dx/dy)(2v_ij − v_i,j±1) − force·dx·dy ⟂ lower ≤ v ≤ upper,
        lower = (sin 9.2x sin 9.3y)³,   upper = (sin 9.2x sin 9.3y)² + 0.2

    The matrix is symmetric and positive definite, so the solution is unique: it minimises
    the membrane's energy.
    """
    whole("obstacle", "points", points, 1)
    spacing = 1.0 / (points + 1)
    along = spacing * np.arange(1, points + 1)
    x, y = (part.ravel() for part in np.meshgrid(along, along, indexing="ij"))
    shape = np.sin(9.2 * x) * np.sin(9.3 * y)
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(points, points))
    one = sp.eye_array(points)
    matrix = sp.kron(line, one) + sp.kron(one, line)  # dx = dy
    vector = np.full(points**2, -force * spacing**2)
    return LCP(matrix, vector, lower=shape**3, upper=shape**2 + 0.2, name="obstacle")


def energy(problem: LCP, z: Floats) -> float:
    """½ zᵀMz + qᵀz of a problem with a symmetric matrix; the solution minimises it within the bounds."""
    return float(0.5 * z @ (problem.matrix @ z) + problem.vector @ z)


def _starts() -> dict[str, Floats]:
    problem = obstacle()
    return {"flat": problem.start, "upper": problem.upper}


PROBLEMS = (
    NamedProblem(
        "obstacle", "a membrane between two obstacles, 50 × 50 nodes", "MCPLIB obstacle", obstacle, _starts
    ),
)
"""The problems of this file."""
