"""The half-space, which scene files call a plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.errors import ProblemError
from nonsmooth.model.shapes.base import MassProperties, Primitive, Quadruple
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, square_mesh

HALF_SPACE = 1


@dataclass(frozen=True)
class HalfSpace(Primitive):
    """All points with z ≤ 0 in its frame; the outward normal is +z. Only for fixed bodies."""

    kind: ClassVar[int] = HALF_SPACE
    title: ClassVar[str] = "half-space"
    scene_name: ClassVar[str] = "plane"

    @property
    def volume(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def without_mass(self) -> str:
        """Reason and cure for the infinite mass."""
        return "a half-space, whose mass is not finite: make it fixed=True"

    def mass_properties(self, density: float) -> MassProperties:
        """Raise: half a space has no finite mass."""
        raise ProblemError("a half-space has no finite mass: make its body fixed")

    def reach(self, point: Floats) -> float:
        """Return infinity."""
        return math.inf

    def core_support(self, direction: Floats) -> Floats:
        """Return the origin if the direction is +z; along all others a half-space is unbounded."""
        if direction[0] != 0.0 or direction[1] != 0.0 or direction[2] < 0.0:
            raise ProblemError(
                f"a half-space is unbounded along {direction.tolist()}: use its outward normal (0, 0, 1)"
            )
        return np.zeros(3)

    def local_bound(self) -> Floats:
        """Return zeros: it is unbounded."""
        return np.zeros(7)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a square of side `extent` (m) about the origin, of 10 by 10 cells."""
        return square_mesh(extent)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> HalfSpace:
        """Return the half-space."""
        return cls()
