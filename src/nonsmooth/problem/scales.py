"""The scales that make residuals relative: one for each island of connected bodies.

An island is a set of bodies connected by contacts and joints, ground excluded. Islands do not affect each
other, so that a pebble is not measured on the scale of a boulder that it does not touch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.kernels import residuals as kernels
from nonsmooth.problem.kernels.residuals import Cones

_ROUNDING_SHARE = 1e-6
"""Smallest scale as a fraction of the free velocities, whose rounding enters every residual."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales in √J: the residual of zero impulses in each island, never less than a millionth of the
    island's free velocities."""

    island: NDArray[np.int64]
    """Island of every block."""
    per_island: Floats
    zero_impulse_residual: float
    """Residual of zero impulses over all islands; exactly zero if they are the solution."""
    total: float
    """One scale for the whole problem, for measures over all islands."""

    @classmethod
    def of(cls, cones: Cones, free_blocks: Floats, island: NDArray[np.int64]) -> Scales:
        """Compute the scales from the velocities without impulses, (blocks, 3)."""
        per_island = np.empty(int(island.max(initial=-1)) + 1)
        zero_impulse_residual = kernels.island_scales(cones, free_blocks, island, _ROUNDING_SHARE, per_island)
        return cls(island, per_island, zero_impulse_residual, math.sqrt(float(per_island @ per_island)))

    @cached_property
    def per_block(self) -> Floats:
        """The scale of every block's island."""
        return self.per_island[self.island]

    def relative_residual(self, cones: Cones, x: Floats, u: Floats) -> float:
        """Largest relative natural map over the islands, for impulses x with velocities u (blocks, 3)."""
        return float(kernels.relative_residual(cones, self.island, self.per_island, x, u))

    def total_residual(self, cones: Cones, x: Floats, u: Floats) -> float:
        """Natural map over all blocks in √J."""
        squares = np.empty(len(self.island))
        kernels.squared_residuals(cones, x, u, squares)
        return math.sqrt(squares.sum())
