"""Gaps and nearest points of pairs of shapes of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.packed import Packed
from nonsmooth.collision.kernels.motion.placing import PIECE
from nonsmooth.collision.kernels.surfaces.depth import depth_in_mesh
from nonsmooth.collision.kernels.surfaces.nearest import make_work, nearest_of_meshes, nearest_of_solid
from nonsmooth.collision.narrow_phase import NarrowPhase
from nonsmooth.errors import ProblemError
from nonsmooth.model.shapes import ConvexHull, HalfSpace, HeightField, Mesh, Primitive


class Nearest(NamedTuple):
    """Gap in m, nearest points (3,) on both shapes in m, unit normal (3,) from the first to the second."""

    gap: float
    point_a: Floats
    point_b: Floats
    normal: Floats

    def turned(self) -> Nearest:
        """The same result with the shapes exchanged."""
        return Nearest(self.gap, self.point_b, self.point_a, -self.normal)


class Placed(NamedTuple):
    """Placement of all shapes: centres (s, 4) in m, axes as columns (s, 3, 3), bounds (s, 7) in m."""

    centre: Floats
    axes: Floats
    bound: Floats


class Closest:
    """Nearest points of the shapes of a narrow phase, whose rows are those of `shapes`."""

    def __init__(self, narrow: NarrowPhase, shapes: Sequence[Primitive]) -> None:
        self._narrow, self._shapes = narrow, shapes
        self._work = Packed(make_work(narrow.tables))

    def of(self, a: int, b: int, at: Placed) -> Nearest:
        """Gap of shapes a and b.

        In overlap it is minus the length of the shortest separating translation for convex shapes and
        half-spaces; with a mesh or a height field, the gap of the deepest contact.
        """
        one, two = self._shapes[a], self._shapes[b]
        endless = HalfSpace | HeightField
        if isinstance(one, endless) and isinstance(two, endless) and HalfSpace in (type(one), type(two)):
            raise ProblemError(
                f"the distance of a {one.title} and a {two.title} is not defined, as both are infinite: "
                "use a body with a finite shape"
            )
        if isinstance(one, Mesh) and not isinstance(two, endless):
            return self._of_mesh(a, b, at)
        if isinstance(two, Mesh) and not isinstance(one, endless):
            return self._of_mesh(b, a, at).turned()
        if isinstance(one, Mesh | HeightField) or isinstance(two, Mesh | HeightField):
            return Nearest(*self._narrow.nearest_contact(a, b, *at))
        return Nearest(*self._narrow.distance(a, b, at.centre, at.axes))

    def _of_mesh(self, mesh: int, other: int, at: Placed) -> Nearest:
        """Gap between a mesh and a mesh or a convex shape, from the mesh to the other."""
        near = self._of_surface(mesh, other, at)
        if near.gap > 0.0:
            inside = self._inside(mesh, other, at)
            if inside is None and isinstance(self._shapes[other], Mesh):
                inside = self._inside(other, mesh, at)
                inside = None if inside is None else inside.turned()
            return near if inside is None else inside
        deep = Nearest(*self._narrow.nearest_contact(mesh, other, *at))
        return deep if deep.gap <= 0.0 else near

    def _of_surface(self, mesh: int, other: int, at: Placed) -> Nearest:
        """Distance from the triangles of a mesh, which have two sides."""
        out = np.empty((3, 3))
        narrow, tags = self._narrow, self._narrow.shapes.tags
        where = (*at.centre[mesh, :3], at.axes[mesh])
        if isinstance(self._shapes[other], Mesh):
            gap = nearest_of_meshes(
                tags[mesh, PIECE], *where, tags[other, PIECE], *at.centre[other, :3], at.axes[other],
                narrow.meshes, narrow.hulls, self._work, out,
            )  # fmt: skip
        else:
            gap = nearest_of_solid(
                tags[mesh, PIECE], *where, narrow.solid(other, at.centre, at.axes), narrow.meshes,
                narrow.hulls, self._work, out,
            )  # fmt: skip
        return Nearest(float(gap), *out)

    def _inside(self, mesh: int, other: int, at: Placed) -> Nearest | None:
        """Gap of a closed mesh and a shape that touches none of its triangles, if it is inside.

        The shape is moved out along the normal of the surface nearest to its middle.
        """
        surface, shape = self._shapes[mesh], self._shapes[other]
        assert isinstance(surface, Mesh)
        if not surface.closed:
            return None
        turn, own = at.axes[mesh], at.axes[other]
        local = turn.T @ (at.centre[other, :3] + own @ _middle(shape) - at.centre[mesh, :3])
        depth, *outward = depth_in_mesh(
            self._narrow.meshes, self._narrow.shapes.tags[mesh, PIECE], *local, self._work.box,
            self._work.stack, self._work.corners,
        )  # fmt: skip
        if depth > 0.0:
            return None
        normal = turn @ np.array(outward)
        base = at.centre[mesh, :3] + turn @ (local - depth * np.array(outward))
        point = at.centre[other, :3] + own @ (
            shape.core_support(-own.T @ normal) - shape.swept_radius * own.T @ normal
        )
        gap = float(normal @ (point - base))
        return Nearest(gap, point - gap * normal, point, normal)


def _middle(shape: Primitive) -> Floats:
    """A point inside the shape, or on it, in its own frame."""
    if isinstance(shape, ConvexHull):
        return np.asarray(shape.vertices.mean(axis=0))
    return np.array(shape.vertices[0]) if isinstance(shape, Mesh) else np.zeros(3)
