"""The scales that make residuals relative: one for each island of bodies that act on each other.

An island is what contacts and joints connect, ground apart. What happens in one cannot be felt in
another, so that a pebble is not judged by the boulder that lies beside it without touching it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.problem import _residual_kernels as kernels
from nonsmooth.problem._residual_kernels import Cones

Floats = NDArray[np.float64]

_ROUNDING_SHARE = 1e-6
"""Part of the free velocities below which a scale does not fall: their rounding enters every residual."""
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales in √J: the residual of zero impulses in each island, never less than a millionth of the
    island's free velocities."""

    island: NDArray[np.int64]
    """Island of every block."""
    of_island: Floats
    idle: float
    """Residual of zero impulses over all islands; zero exactly where they are the solution."""

    @classmethod
    def of(cls, cones: Cones, free_blocks: Floats, island: NDArray[np.int64]) -> Scales:
        """Compute the scales from the velocities without impulses, (blocks, 3)."""
        squares, velocities = np.empty(len(island)), free_blocks.copy()
        kernels.squared_residuals(cones, np.zeros_like(velocities), velocities, squares)
        idle = np.bincount(island, squares)
        kernels.squared_velocities(cones, velocities, squares)
        least = _ROUNDING_SHARE * np.sqrt(np.bincount(island, squares))
        return cls(island, np.maximum(np.sqrt(idle), least), math.sqrt(idle.sum()))

    @property
    def whole(self) -> float:
        """One scale for the whole problem, for what solvers measure over all islands."""
        return float(np.linalg.norm(self.of_island))

    @property
    def of_block(self) -> Floats:
        """The scale of every block's island."""
        return self.of_island[self.island]

    def relative_residual(self, cones: Cones, x: Floats, u: Floats) -> float:
        """Largest relative natural map over the islands, for impulses x with velocities u (blocks, 3).

        Not less than the rounding of the impulses: below that γ − Π_K(γ − …) says nothing.
        """
        squares = np.empty(len(self.island))
        kernels.squared_residuals(cones, x, u, squares)
        residual = np.bincount(self.island, squares)
        kernels.squared_sizes(cones, x, squares)
        rounding = _EPSILON**2 * np.bincount(self.island, squares)
        parts = np.sqrt(np.maximum(residual, rounding))  # NaN stays NaN
        ratios = np.divide(parts, self.of_island, out=np.full_like(parts, np.inf), where=self.of_island > 0.0)
        ratios[parts == 0.0] = 0.0
        ratios[np.isnan(parts)] = np.nan
        return float(ratios.max(initial=0.0))

    def total_residual(self, cones: Cones, x: Floats, u: Floats) -> float:
        """Natural map over all blocks in √J."""
        squares = np.empty(len(self.island))
        kernels.squared_residuals(cones, x, u, squares)
        return math.sqrt(squares.sum())
