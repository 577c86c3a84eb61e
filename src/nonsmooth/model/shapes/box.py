"""The box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model.shapes.base import (
    Quadruple,
    Rounded,
    Symmetric,
    Triple,
    bound,
    from_second_moments,
    from_squares,
    lengths,
)
from nonsmooth.model.shapes.rounded_polyhedra import rounded_surface
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, box_mesh

BOX = 2


@dataclass(frozen=True)
class Box(Rounded, Symmetric):
    """A cuboid about its origin; `size` holds its three full edge lengths (m) along x, y, z.

    `rounding` (m) is the radius of a ball that is swept around it: the edges become size + 2 rounding long.
    """

    kind: ClassVar[int] = BOX
    title: ClassVar[str] = "box"
    scene_name: ClassVar[str] = "box"
    keys: ClassVar[tuple[str, ...]] = ("size",)
    size: Triple
    rounding: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", lengths("size", "a box", self.size))
        self._check_rounding("a box")

    @property
    def extents(self) -> Triple:
        """Half the edge lengths in m."""
        x, y, z = self.size
        return (0.5 * x, 0.5 * y, 0.5 * z)

    @property
    def volume(self) -> float:
        """Product of the edge lengths in m³, plus the volume swept around it (Steiner's formula)."""
        core = math.prod(self.size)
        if self.rounding == 0.0:
            return core
        (x, y, z), r = self.size, self.rounding
        return (
            core + 2.0 * (x * y + y * z + z * x) * r + math.pi * (x + y + z) * r**2 + 4 / 3 * math.pi * r**3
        )

    @property
    def _moments(self) -> Triple:
        if self.rounding == 0.0:
            return from_squares(self.size, 12.0)
        x, y, z = self.size
        second = (self._second(x, y, z), self._second(y, z, x), self._second(z, x, y))
        return from_second_moments([moment / self.volume for moment in second])

    def _second(self, x: float, y: float, z: float) -> float:
        """∫ x² dV in m⁵ of a rounded box with edges x, y, z, piece by piece."""
        r, h = self.rounding, 0.5 * x
        # The core, the slabs on ±y and ±z, the edges along x: all of length x, x² is x²/12 on average.
        section = y * z + 2.0 * r * (y + z) + math.pi * r**2
        along = section * x**3 / 12.0
        # Slabs on ±x; edges along y and z, quarter discs at ±h; corners, octants of a ball at ±h.
        slabs = 2.0 / 3.0 * y * z * ((h + r) ** 3 - h**3)
        quarter = math.pi * r**2 / 4.0 * h**2 + 2.0 / 3.0 * r**3 * h + math.pi * r**4 / 16.0
        octant = math.pi * r**3 / 6.0 * h**2 + math.pi * r**4 / 8.0 * h + math.pi * r**5 / 30.0
        return along + slabs + 4.0 * (y + z) * quarter + 8.0 * octant

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the box from a point of its frame."""
        return float(np.linalg.norm(np.abs(point) + self.extents)) + self.rounding

    def core_support(self, direction: Floats) -> Floats:
        """Return a corner."""
        return np.copysign(self.extents, direction)

    def local_bound(self) -> Floats:
        """Return the box itself and a ball, with the rounding."""
        half = np.array(self.extents)
        return bound(half + self.rounding, float(np.linalg.norm(half)) + self.rounding)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return six faces of two triangles each, or a rounded surface."""
        if self.rounding == 0.0:
            return box_mesh(self.extents)
        corners, _ = box_mesh(self.extents)
        return rounded_surface(corners, np.vstack([np.eye(3), -np.eye(3)]), self.rounding, detail)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Box:
        """Return the box of these sizes."""
        x, y, z, rounding = size
        return cls((2.0 * x, 2.0 * y, 2.0 * z), rounding)
