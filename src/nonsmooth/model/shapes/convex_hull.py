"""The convex hull of points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model import checks as check
from nonsmooth.model import polyhedra
from nonsmooth.model.shapes.base import MassProperties, Quadruple, Rounded, bound, counted, set_frozen
from nonsmooth.model.shapes.rounded_polyhedra import rounded_moments, rounded_surface
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh

CONVEX_HULL = 6


@dataclass(frozen=True, eq=False)
class ConvexHull(Rounded):
    """The convex hull of `points` (p, 3) in m, which must not lie in a plane.

    `vertices` (v, 3) are those points that are corners of the hull, in the order given, and `triangles`
    (t, 3) its faces with their outward unit `normals` (t, 3); the frame is that of the points. `rounding`
    (m) is the radius of a ball that is swept around it. Points that are equal become one, and `notes` says
    how many were removed.
    """

    kind: ClassVar[int] = CONVEX_HULL
    title: ClassVar[str] = "convex hull"
    scene_name: ClassVar[str] = "hull"
    keys: ClassVar[tuple[str, ...]] = ("points",)
    points: Floats
    rounding: float = 0.0
    vertices: Floats = field(init=False, repr=False)
    triangles: Indices = field(init=False, repr=False)
    normals: Floats = field(init=False, repr=False)
    notes: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = check.array("points of a convex hull", self.points, (-1, 3), "points as an array (p, 3)")
        first = np.unique(given + 0.0, axis=0, return_index=True)[1]  # + 0.0 makes −0 equal to 0
        points = given[np.sort(first)]
        vertices, triangles, normals = polyhedra.hull(points)
        object.__setattr__(self, "notes", counted({"repeated point": len(given) - len(points)}))
        set_frozen(self, points=points, vertices=vertices, triangles=triangles, normals=normals)
        self._check_rounding("a convex hull")

    def _integrals(self) -> polyhedra.Moments:
        core = polyhedra.moments(self.vertices, self.triangles)
        if self.rounding == 0.0:
            return core
        return rounded_moments(core, self.vertices, self.triangles, self.normals, self.rounding)

    @property
    def volume(self) -> float:
        """Volume in m³."""
        return self._integrals().volume

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        volume, centre, inertia = self._integrals()
        rho = check.positive("density", density, "kg/m³")
        return MassProperties(rho * volume, centre, rho * inertia)

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the shape from a point of its frame."""
        return float(np.max(np.linalg.norm(self.vertices - point, axis=1))) + self.rounding

    def core_support(self, direction: Floats) -> Floats:
        """Return a corner."""
        return np.array(self.vertices[np.argmax(self.vertices @ direction)])

    def local_bound(self) -> Floats:
        """Return a box and a ball, with the rounding."""
        return bound_of_points(self.vertices, self.rounding)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return the faces, or a rounded surface."""
        if self.rounding == 0.0:
            return self.vertices, self.triangles
        return rounded_surface(self.vertices, self.normals, self.rounding, detail)

    @property
    def stored(self) -> tuple[Floats, Indices]:
        """The corners and faces."""
        return self.vertices, self.triangles

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> ConvexHull:
        """Return the hull of these vertices."""
        return cls(vertices, size[3])


def bound_of_points(points: Floats, rounding: float = 0.0) -> Floats:
    """Return a row of `local_bounds` for points (p, 3) in m with balls of radius `rounding` about them."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = 0.5 * (low + high)
    radius = float(np.linalg.norm(points - middle, axis=1).max())
    return bound(0.5 * (high - low) + rounding, radius + rounding, middle)
