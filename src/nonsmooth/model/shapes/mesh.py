"""The triangle mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import polyhedra
from nonsmooth.model.shapes.base import MassProperties, Primitive, Quadruple, counted, set_frozen
from nonsmooth.model.shapes.convex_hull import bound_of_points
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh

MESH = 7

_FLAT = 1e-14
"""Area of a triangle and volume of a mesh that count as zero, in powers of its size."""


@dataclass(frozen=True, eq=False)
class Mesh(Primitive):
    """A surface of `triangles` (t, 3), rows of `vertices` (v, 3) in m, counterclockwise seen from outside.

    The mesh of a moving body must be closed: each edge is used once in each direction. An open one,
    which is solid behind its triangles, is for fixed bodies. Equal vertices are merged; unused vertices,
    triangles without area and repeated triangles are removed. `notes` gives their numbers, and so does a
    `GeometryWarning` when the mesh is added to a body.
    """

    kind: ClassVar[int] = MESH
    title: ClassVar[str] = "mesh"
    scene_name: ClassVar[str] = "mesh"
    keys: ClassVar[tuple[str, ...]] = ("vertices", "triangles")
    vertices: Floats
    triangles: Indices
    closed: bool = field(init=False)
    """Whether it bounds a solid, so that its mass is known."""
    notes: str = field(init=False)

    def __post_init__(self) -> None:
        vertices = check.array("vertices of a mesh", self.vertices, (-1, 3), "points as an array (v, 3)")
        given = polyhedra.whole_triangles(vertices, self.triangles)
        vertices, triangles, closed, notes = _cleaned(vertices, given)
        size = float(np.ptp(vertices, axis=0).max())
        volume = polyhedra.signed_volume(vertices, triangles) if closed else 0.0
        if volume < -_FLAT * size**3:
            raise ProblemError(
                f"the triangles of a mesh are inside out, as they bound {volume:g} m³: they must run "
                "counterclockwise when seen from outside, swap two columns"
            )
        set_frozen(self, vertices=vertices, triangles=triangles)
        object.__setattr__(self, "closed", closed and volume > _FLAT * size**3)
        object.__setattr__(self, "notes", notes)

    @property
    def volume(self) -> float:
        """Volume in m³; NaN for an open mesh."""
        return polyhedra.moments(self.vertices, self.triangles).volume if self.closed else math.nan

    @property
    def without_mass(self) -> str:
        """Reason and cure for an open mesh, which bounds no solid."""
        if self.closed:
            return ""
        why = polyhedra.why_open(self.vertices, self.triangles)
        return f"a mesh whose triangles {why}; repair the mesh, or make the body fixed"

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        if not self.closed:
            raise ProblemError(f"there is {self.without_mass}")
        volume, centre, inertia = polyhedra.moments(self.vertices, self.triangles)
        rho = check.positive("density", density, "kg/m³")
        return MassProperties(rho * volume, centre, rho * inertia)

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the shape from a point of its frame."""
        return float(np.max(np.linalg.norm(self.vertices - point, axis=1)))

    def core_support(self, direction: Floats) -> Floats:
        """Return a vertex."""
        return np.array(self.vertices[np.argmax(self.vertices @ direction)])

    def local_bound(self) -> Floats:
        """Return a box and a ball."""
        return bound_of_points(self.vertices)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return the triangles."""
        return self.vertices, self.triangles

    @property
    def stored(self) -> tuple[Floats, Indices]:
        """The vertices and triangles."""
        return self.vertices, self.triangles

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Mesh:
        """Return the mesh of these arrays."""
        return cls(vertices, triangles)


def _cleaned(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices, bool, str]:
    """Return vertices and triangles without repeated and unused ones, whether they are closed, and a note."""
    counts: dict[str, int] = {}
    order = np.lexsort(vertices.T)
    new = np.append(True, np.any(np.diff(vertices[order], axis=0) != 0.0, axis=1))
    if not new.all():
        group = np.empty(len(vertices), dtype=np.int64)
        group[order] = np.cumsum(new) - 1
        first = np.full(int(new.sum()), len(vertices), dtype=np.int64)
        np.minimum.at(first, group, np.arange(len(vertices)))
        repeated = first[group] != np.arange(len(vertices))
        counts["repeated vertex"] = int(np.sum(repeated))
        triangles = first[group][triangles].astype(np.int32)
    else:
        repeated = np.zeros(len(vertices), dtype=bool)
    a, b, c = triangles.T
    pointed = (a == b) | (b == c) | (c == a)
    whole = triangles[~pointed]
    turn = np.argmin(whole, axis=1)[:, None]
    cycles = np.take_along_axis(whole, (turn + np.arange(3)) % 3, axis=1)
    single = np.sort(np.unique(cycles, axis=0, return_index=True)[1])
    counts["repeated triangle"] = len(whole) - len(single)
    whole = whole[single]
    closed = len(whole) > 0 and polyhedra.lonely_edge(whole, len(vertices)) is None
    p, q, r = np.moveaxis(vertices[whole], 1, 0)
    size = float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
    flat = np.linalg.norm(np.cross(q - p, r - p), axis=1) <= _FLAT * size**2
    counts["triangle without area"] = int(np.sum(pointed) + np.sum(flat))
    whole = whole[~flat]
    if not len(whole):
        raise ProblemError(
            f"a mesh has no triangle with an area, of {len(triangles)} that were given: give vertices that "
            "span a surface"
        )
    used = np.zeros(len(vertices), dtype=bool)
    used[whole] = True
    counts["unused vertex"] = int(np.sum(~used & ~repeated))
    if not used.all():
        place: NDArray[Any] = np.cumsum(used) - 1
        vertices, whole = vertices[used], place[whole]
    return vertices, np.ascontiguousarray(whole, dtype=np.int32), closed, counted(counts)
