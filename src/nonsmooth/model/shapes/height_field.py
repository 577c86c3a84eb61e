"""The height field: terrain over a regular grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.shapes.base import MassProperties, Primitive, Quadruple, Triple, bound, set_frozen
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, grid_faces

HEIGHT_FIELD = 8

_MOST_DRAWN = 400
"""Largest number of grid points along a side of a drawing: larger fields show every second, third, …"""


@dataclass(frozen=True, eq=False)
class HeightField(Primitive):
    """Terrain z = `heights` (nx, ny) in m over a grid in the plane z = 0, solid below. Only for fixed bodies.

    Row i of `heights` goes along x and column j along y, `spacing` = (dx, dy) m apart; the middle of the grid
    is at the origin. A cell is two triangles, cut from point (i, j) to (i + 1, j + 1).
    """

    kind: ClassVar[int] = HEIGHT_FIELD
    title: ClassVar[str] = "height field"
    scene_name: ClassVar[str] = "height_field"
    keys: ClassVar[tuple[str, ...]] = ("heights", "spacing")
    smooth: ClassVar[bool] = True
    heights: Floats
    spacing: tuple[float, float]

    def __post_init__(self) -> None:
        meaning = "an array (nx, ny) in m of at least two by two"
        heights = check.array("heights of a height field", self.heights, (-1, -1), meaning)
        if min(heights.shape) < 2:
            raise ProblemError(f"heights of a height field has shape {heights.shape}: give {meaning}")
        given: Any = self.spacing
        both = (given, given) if isinstance(given, int | float) else given
        name = "spacing of a height field"
        dx, dy = check.array(name, both, (2,), "two lengths, along x and y").tolist()
        spacing = check.positive(f"{name} along x", dx, "m"), check.positive(f"{name} along y", dy, "m")
        set_frozen(self, heights=heights)
        object.__setattr__(self, "spacing", spacing)

    @property
    def extents(self) -> Triple:
        """(dx, dy, 0) in m."""
        return (*self.spacing, 0.0)

    @property
    def origin(self) -> tuple[float, float]:
        """x and y (m) of the point of `heights[0, 0]`."""
        (nx, ny), (dx, dy) = self.heights.shape, self.spacing
        return (-0.5 * (nx - 1) * dx, -0.5 * (ny - 1) * dy)

    @property
    def vertices(self) -> Floats:
        """All points (nx · ny, 3) in m, those of one x after each other."""
        return self._points(np.arange(self.heights.shape[0]), np.arange(self.heights.shape[1]))

    def _points(self, i: Any, j: Any) -> Floats:
        (dx, dy), (x, y) = self.spacing, self.origin
        across, along = np.meshgrid(x + dx * i, y + dy * j, indexing="ij")
        return np.stack([across.ravel(), along.ravel(), self.heights[np.ix_(i, j)].ravel()], axis=1)

    @property
    def volume(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def without_mass(self) -> str:
        """The solid below the surface has no finite mass."""
        return "a height field, whose mass is not finite: make it fixed=True"

    def mass_properties(self, density: float) -> MassProperties:
        """Raise: the solid below the surface has no finite mass."""
        raise ProblemError("a height field has no finite mass: make its body fixed")

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the surface from a point of its frame."""
        return float(np.max(np.linalg.norm(self.vertices - point, axis=1)))

    def core_support(self, direction: Floats) -> Floats:
        """Return a point of the grid; downwards the terrain is unbounded."""
        if direction[2] < 0.0:
            raise ProblemError(
                f"a height field is unbounded along {direction.tolist()}: use a direction with z ≥ 0"
            )
        vertices = self.vertices
        return np.array(vertices[np.argmax(vertices @ direction)])

    def local_bound(self) -> Floats:
        """Return a box and a ball: the surface, and as much below it as its longer side."""
        x, y = self.origin
        low, high = float(self.heights.min()), float(self.heights.max())
        low -= 2.0 * max(-x, -y)
        half = np.array([-x, -y, 0.5 * (high - low)])
        return bound(half, float(np.linalg.norm(half)), (0.0, 0.0, 0.5 * (low + high)))

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return two triangles for each cell, of large fields for each second, third, … point."""
        chosen = []
        for count in self.heights.shape:
            step = -(-(count - 1) // _MOST_DRAWN)
            chosen.append(np.unique(np.append(np.arange(0, count, step), count - 1)))
        return self._points(*chosen), grid_faces(len(chosen[0]), len(chosen[1]))

    @property
    def stored(self) -> tuple[Floats, Indices]:
        """All points, and no triangles."""
        return self.vertices, np.zeros((0, 3), dtype=np.int32)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> HeightField:
        """Return the height field of these points."""
        columns = int(np.sum(vertices[:, 0] == vertices[0, 0])) if len(vertices) else 1
        if len(vertices) % columns:
            raise ProblemError(f"{len(vertices)} points do not form a grid with {columns} in a row")
        return cls(vertices[:, 2].reshape(-1, columns), (size[0], size[1]))
