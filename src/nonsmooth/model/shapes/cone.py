"""The cone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth.model import checks as check
from nonsmooth.model.shapes.base import MassProperties, Primitive, Quadruple, Triple, bound, check_round
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, Faces, Floats, TriangleMesh, turned

CONE = 9


@dataclass(frozen=True)
class Cone(Primitive):
    """A cone about the z axis: its tip at z = length / 2, its base, a disc of `radius` (m), at −length / 2.

    Its centroid is a quarter of `length` (m) above its base.
    """

    kind: ClassVar[int] = CONE
    title: ClassVar[str] = "cone"
    scene_name: ClassVar[str] = "cone"
    keys: ClassVar[tuple[str, ...]] = ("radius", "length")
    smooth: ClassVar[bool] = True
    radius: float
    length: float

    def __post_init__(self) -> None:
        check_round(self, "a cone")

    @property
    def extents(self) -> Triple:
        """(radius, half the length, 0) in m."""
        return (self.radius, 0.5 * self.length, 0.0)

    @property
    def volume(self) -> float:
        """π r² l / 3 in m³."""
        return math.pi * self.radius**2 * self.length / 3.0

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        mass = check.positive("density", density, "kg/m³") * self.volume
        across = 0.15 * self.radius**2 + 0.0375 * self.length**2
        inertia = mass * np.diag([across, across, 0.3 * self.radius**2])
        return MassProperties(mass, np.array([0.0, 0.0, -0.25 * self.length]), inertia)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the cone reaches from a point of its frame."""
        x, y, z = np.asarray(point).tolist()
        aside, half = math.hypot(x, y), 0.5 * self.length
        return max(math.hypot(aside + self.radius, z + half), math.hypot(aside, z - half))

    def core_support(self, direction: Floats) -> Floats:
        """Return the tip or a point of the rim."""
        x, y, z = direction.tolist()
        across = math.hypot(x, y)
        if self.length * z >= self.radius * across:
            return np.array([0.0, 0.0, 0.5 * self.length])
        ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
        return np.array([self.radius * ux, self.radius * uy, -0.5 * self.length])

    def local_bound(self) -> Floats:
        """Return a box and a ball."""
        radius, half, _ = self.extents
        return bound((radius, radius, half), math.hypot(radius, half))

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a cone; vertices of its rim are there twice, for a sharp rim."""
        radius, half, _ = self.extents
        return turned([(0.0, -half), (radius, -half), (radius, -half), (0.0, half)], detail)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Faces) -> Cone:
        """Return the cone of these sizes."""
        return cls(size[0], 2.0 * size[1])
