"""The capsule."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model.shapes.base import Quadruple, Symmetric, Triple, bound, check_round, checked_rounding
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, capsule_mesh

CAPSULE = 3


@dataclass(frozen=True)
class Capsule(Symmetric):
    """A cylinder about the z axis of `radius` and `length` (m), with half a ball on either end.

    `length` is that of the cylinder alone: the capsule is length + 2 radius long. `rounding` (m) is the
    radius of a ball that is swept around it. It is added to `radius`.
    """

    kind: ClassVar[int] = CAPSULE
    title: ClassVar[str] = "capsule"
    scene_name: ClassVar[str] = "capsule"
    keys: ClassVar[tuple[str, ...]] = ("radius", "length")
    optional_keys: ClassVar[tuple[str, ...]] = ("rounding",)
    smooth: ClassVar[bool] = True
    radius: float
    length: float
    rounding: InitVar[float] = 0.0

    def __post_init__(self, rounding: float) -> None:
        check_round(self, "a capsule")
        object.__setattr__(self, "radius", self.radius + checked_rounding("a capsule", rounding))

    @property
    def extents(self) -> Triple:
        """(radius, half the length, 0) in m."""
        return (self.radius, 0.5 * self.length, 0.0)

    @property
    def swept_radius(self) -> float:
        """The radius in m: the core is a segment."""
        return self.radius

    @property
    def volume(self) -> float:
        """π r² l + 4/3 π r³ in m³."""
        return math.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    @property
    def _moments(self) -> Triple:
        r, length = self.radius, self.length
        share = length / (length + 4.0 / 3.0 * r)  # of the cylinder in the whole mass
        # A half ball's own moment across and the shift of its centroid (3r/8 above its flat face).
        across = share * (r * r / 4.0 + length * length / 12.0) + (1.0 - share) * (
            0.4 * r * r + length * length / 4.0 + 0.375 * length * r
        )
        along = share * r * r / 2.0 + (1.0 - share) * 0.4 * r * r
        return (across, across, along)

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the capsule from a point of its frame."""
        x, y, z = np.abs(point)
        return math.hypot(x, y, z + 0.5 * self.length) + self.radius

    def core_support(self, direction: Floats) -> Floats:
        """Return an end of the segment."""
        return np.array([0.0, 0.0, math.copysign(0.5 * self.length, direction[2])])

    def local_bound(self) -> Floats:
        """Return a box and a ball."""
        radius, half, _ = self.extents
        return bound((radius, radius, radius + half), radius + half)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a cylinder with rounded ends."""
        return capsule_mesh(self.radius, 0.5 * self.length, detail)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Capsule:
        """Return the capsule of these sizes."""
        return cls(size[0], 2.0 * size[1])
