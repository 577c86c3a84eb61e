"""The sphere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model import checks as check
from nonsmooth.model.shapes.base import Primitive, Quadruple, Symmetric, Triple, bound, checked_rounding
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, sphere_mesh, subdivisions_for

SPHERE = 0


@dataclass(frozen=True)
class Sphere(Symmetric):
    """A ball of `radius` (m) about its origin.

    `rounding` (m) is the radius of a ball that is swept around it. It is added to `radius`.
    """

    kind: ClassVar[int] = SPHERE
    title: ClassVar[str] = "sphere"
    scene_name: ClassVar[str] = "sphere"
    keys: ClassVar[tuple[str, ...]] = ("radius",)
    optional_keys: ClassVar[tuple[str, ...]] = ("rounding",)
    smooth: ClassVar[bool] = True
    radius: float
    rounding: InitVar[float] = 0.0

    def __post_init__(self, rounding: float) -> None:
        radius = check.positive("the radius of a sphere", self.radius, "m")
        object.__setattr__(self, "radius", radius + checked_rounding("a sphere", rounding))

    @property
    def extents(self) -> Triple:
        """(radius, 0, 0) in m."""
        return (self.radius, 0.0, 0.0)

    @property
    def swept_radius(self) -> float:
        """The radius in m: the core is a point."""
        return self.radius

    @property
    def volume(self) -> float:
        """4/3 π r³ in m³."""
        return 4.0 / 3.0 * math.pi * self.radius**3

    @property
    def _moments(self) -> Triple:
        moment = 0.4 * self.radius**2
        return (moment, moment, moment)

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the sphere from a point of its frame."""
        return float(np.linalg.norm(point)) + self.radius

    def core_support(self, direction: Floats) -> Floats:
        """Return the centre."""
        return np.zeros(3)

    def local_bound(self) -> Floats:
        """Return a cube and the ball itself."""
        return bound(np.full(3, self.radius), self.radius)

    @classmethod
    def local_bounds(cls, shapes: Sequence[Primitive], size: Floats) -> Floats:
        """Return all bounds at once: scenes may have many spheres of different radii."""
        bounds = np.zeros((len(size), 7))
        bounds[:, 3:] = size[:, :1]
        return bounds

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a subdivided icosahedron."""
        vertices, faces = sphere_mesh(subdivisions_for(detail))
        return self.radius * vertices, faces

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Sphere:
        """Return the sphere of these sizes."""
        return cls(size[0])
