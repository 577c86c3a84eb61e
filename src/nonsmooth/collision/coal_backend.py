"""Pairs that our own kernels do not know, by the collision library coal (`pip install coal`).

- Half-space against cylinder, ellipsoid, hull or mesh: closed forms, without coal.
- Two convex shapes: distance or depth and normal by coal; where a face or a straight side lies on another,
  all corners of their overlap.
- Ball, capsule, cylinder or ellipsoid against a mesh: coal's nearest point of each triangle near by, of
  which those are kept that are nearest within their neighbourhood on the surface.
- Box, hull or mesh against a mesh: coal finds the triangles, corners and edges are tested one by one.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from nonsmooth.collision.contacts import Contacts, Floats, Indices
from nonsmooth.collision.features import (
    ALIGNED,
    Feature,
    HullFaces,
    Manifold,
    feature_contacts,
    support_feature,
)
from nonsmooth.collision.half_space import PlaneTouch
from nonsmooth.collision.surface import PlacedSurface, Surface, surface_contacts
from nonsmooth.errors import MissingPackageError
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import (
    CAPSULE,
    HALF_SPACE,
    MESH,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Primitive,
    Sphere,
)

_TOLERANCE = 1e-9
_ITERATIONS = 512
_MOST_TRIANGLES = 1_000_000
_SAME = 1e-9  # part of the size within which a point is on a triangle
_CLOSE = 1e-4  # part of the size within which contacts of neighbouring triangles are one

Row = tuple[Floats, Floats, float, int]
"""Point, normal from A to B, gap, feature."""


def has_others(table: ShapeTable) -> bool:
    """True if a shape is of a kind that needs this backend."""
    return bool((table.kind > CAPSULE).any())


class CoalBackend:
    """Contacts of pairs with a cylinder, an ellipsoid, a convex hull or a mesh."""

    def __init__(self, table: ShapeTable) -> None:
        self._table = table
        self._coal: Any = None
        self._geometry: dict[int, Any] = {}
        self._planes: dict[int, PlaneTouch] = {}
        self._faces: dict[int, HullFaces] = {}
        self._surfaces: dict[int, Surface] = {}

    def contacts(self, pairs: Indices, centre: Floats, axes: Floats, reach: Floats) -> Contacts:
        """Contacts of the pairs with gaps up to the pair's `reach` (p,) in m; materials are not set."""
        rows: list[Row] = []
        owner: list[int] = []
        for index, (a, b) in enumerate(pairs.tolist()):
            found = self._pair(a, b, centre, axes, float(reach[index]))
            rows += sorted(found, key=lambda row: row[3])
            owner += [index] * len(found)
        out = Contacts.allocate(len(rows))
        out.shapes[:] = pairs[owner].reshape(-1, 2)
        out.bodies[:] = self._table.body[out.shapes]
        for k, (point, normal, gap, feature) in enumerate(rows):
            out.point[k], out.normal[k], out.gap[k], out.feature[k] = point, normal, gap, feature
        return out

    def _pair(self, a: int, b: int, centre: Floats, axes: Floats, reach: float) -> list[Row]:
        kinds = self._table.kind[a], self._table.kind[b]
        if HALF_SPACE in kinds:
            plane, solid = (a, b) if kinds[0] == HALF_SPACE else (b, a)
            if solid not in self._planes:
                self._planes[solid] = PlaneTouch(self._shape(solid))
            found = self._planes[solid].contacts(
                centre[solid], axes[solid], centre[plane], axes[plane][:, 2], reach
            )
            return _rows(found, 1.0 if plane == a else -1.0)
        if MESH not in kinds:
            return self._convex_pair(a, b, centre, axes, reach)
        if isinstance(self._shape(a), Box | ConvexHull | Mesh) and isinstance(
            self._shape(b), Box | ConvexHull | Mesh
        ):
            return self._surface_pair(a, b, centre, axes, reach)
        mesh, solid, sign = (a, b, 1.0) if kinds[0] == MESH else (b, a, -1.0)
        return [
            (point, sign * normal, gap, feature)
            for point, normal, gap, feature in self._mesh_pair(mesh, solid, centre, axes, reach)
        ]

    def _shape(self, s: int) -> Primitive:
        return self._table.objects[s]

    # ---- convex shapes --------------------------------------------------------------------------

    def _convex_pair(self, a: int, b: int, centre: Floats, axes: Floats, reach: float) -> list[Row]:
        coal = self._library()
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.enable_signed_distance = True
        _sharpen(request)
        gap = coal.distance(
            self._solid(a), self._pose(a, centre, axes), self._solid(b), self._pose(b, centre, axes),
            request, result,
        )  # fmt: skip
        if gap > reach:
            return []
        normal = np.array(result.normal)
        size = min(self._size(a), self._size(b))
        manifold = feature_contacts(
            self._feature(a, centre, axes, normal), self._feature(b, centre, axes, -normal), normal, gap, size
        )
        if manifold is not None:
            return _rows(manifold, 1.0)
        point = 0.5 * (np.array(result.getNearestPoint1()) + np.array(result.getNearestPoint2()))
        return [(point, normal, gap, 0)]

    def _feature(self, s: int, centre: Floats, axes: Floats, direction: Floats) -> Feature | None:
        shape = self._shape(s)
        faces = None
        if isinstance(shape, ConvexHull):
            if s not in self._faces:
                self._faces[s] = HullFaces(shape)
            faces = self._faces[s]
        turned = np.eye(3) if isinstance(shape, Sphere) else axes[s]
        return support_feature(shape, faces, centre[s], turned, direction)

    def _size(self, s: int) -> float:
        return self._shape(s).reach(np.zeros(3))

    # ---- meshes ---------------------------------------------------------------------------------

    def _near_triangles(self, a: Any, pose_a: Any, b: Any, pose_b: Any, reach: float) -> list[Any]:
        coal = self._library()
        request = coal.CollisionRequest(coal.CONTACT, _MOST_TRIANGLES)
        request.security_margin = reach
        _sharpen(request)
        result = coal.CollisionResult()
        coal.collide(a, pose_a, b, pose_b, request, result)
        return list(result.getContacts())

    def _surface_pair(self, a: int, b: int, centre: Floats, axes: Floats, reach: float) -> list[Row]:
        near = self._near_triangles(
            self._triangles(a), self._pose(a, centre, axes), self._triangles(b), self._pose(b, centre, axes),
            reach,
        )  # fmt: skip
        if not near:
            return []
        numbers = np.unique(np.array([(contact.b1, contact.b2) for contact in near], dtype=np.int64), axis=0)
        found = surface_contacts(
            PlacedSurface.at(self._surface(a), centre[a], axes[a]),
            PlacedSurface.at(self._surface(b), centre[b], axes[b]),
            numbers,
            reach,
        )
        if len(found.gap):
            return list(
                zip(found.point, found.normal, found.gap.tolist(), found.feature.tolist(), strict=True)
            )
        # Corner to corner or to edge: the nearest points of all triangles.
        least = min(near, key=lambda contact: (abs(contact.penetration_depth), contact.b1, contact.b2))
        return [(np.array(least.pos), np.array(least.normal), float(least.penetration_depth), 3 << 60)]

    def _mesh_pair(self, mesh: int, solid: int, centre: Floats, axes: Floats, reach: float) -> list[Row]:
        near = self._near_triangles(
            self._triangles(mesh), self._pose(mesh, centre, axes),
            self._solid(solid), self._pose(solid, centre, axes),
            reach,
        )  # fmt: skip
        surface = PlacedSurface.at(self._surface(mesh), centre[mesh], axes[mesh])
        size = self._size(solid)
        slopes = [float(surface.normals[contact.b1] @ np.array(contact.normal)) for contact in near]
        order = sorted(
            (0, 0.0, contact.b1, k) if slopes[k] > ALIGNED else (1, contact.penetration_depth, contact.b1, k)
            for k, contact in enumerate(near)
            if slopes[k] > -_SAME  # the backs of triangles do not count
        )
        rows: list[Row] = []
        kept: list[Feature] = []
        for uneven, _, number, k in order:
            contact = near[k]
            normal, gap = np.array(contact.normal), float(contact.penetration_depth)
            foot = np.array(contact.getNearestPoint1())
            if uneven and any(_on_triangle(foot, other, _SAME * size) for other in kept):
                continue  # a neighbour that shares this point is nearer
            triangle = Feature(
                surface.vertices[surface.own.triangles[number]], surface.normals[number], number
            )
            kept.append(triangle)
            side = self._feature(solid, centre, axes, -normal)
            manifold = feature_contacts(triangle, side, normal, gap, size)
            if manifold is not None:
                rows += _rows(manifold, 1.0)
            else:
                rows.append((np.array(contact.pos), normal, gap, number))
        return _distinct(rows, _CLOSE * size)

    def _surface(self, s: int) -> Surface:
        if s not in self._surfaces:
            shape = self._shape(s)
            assert isinstance(shape, Box | ConvexHull | Mesh)
            self._surfaces[s] = Surface(shape)
        return self._surfaces[s]

    # ---- coal's objects -------------------------------------------------------------------------

    def _library(self) -> Any:
        if self._coal is None:
            try:
                self._coal = importlib.import_module("coal")
            except ImportError:
                raise MissingPackageError(
                    "contacts of cylinders, ellipsoids, convex hulls and meshes need coal: "
                    "install it with `pip install coal`."
                ) from None
        return self._coal

    def _pose(self, s: int, centre: Floats, axes: Floats) -> Any:
        turned = np.eye(3) if isinstance(self._shape(s), Sphere) else axes[s]
        return self._library().Transform3s(turned, centre[s])

    def _solid(self, s: int) -> Any:
        """The shape as a convex solid of coal."""
        if s not in self._geometry:
            self._geometry[s] = self._make_solid(self._shape(s))
        return self._geometry[s]

    def _make_solid(self, shape: Primitive) -> Any:
        coal = self._library()
        if isinstance(shape, Sphere):
            return coal.Sphere(shape.radius)
        if isinstance(shape, Box):
            return coal.Box(*shape.size)
        if isinstance(shape, Capsule):
            return coal.Capsule(shape.radius, shape.length)
        if isinstance(shape, Cylinder):
            return coal.Cylinder(shape.radius, shape.length)
        if isinstance(shape, Ellipsoid):
            return coal.Ellipsoid(*shape.radii)
        assert isinstance(shape, ConvexHull)
        return coal.Convex(*self._lists(shape.vertices, shape.triangles))

    def _triangles(self, s: int) -> Any:
        """The shape as a surface of triangles of coal."""
        key = -1 - s  # beside the same shape as a solid
        if key not in self._geometry:
            coal, surface = self._library(), self._surface(s)
            model = coal.BVHModelOBBRSS()
            model.beginModel(len(surface.triangles), len(surface.vertices))
            model.addSubModel(*self._lists(surface.vertices, surface.triangles))
            model.endModel()
            self._geometry[key] = model
        return self._geometry[key]

    def _lists(self, vertices: Floats, triangles: Any) -> tuple[Any, Any]:
        coal = self._library()
        points, corners = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for vertex in vertices:
            points.append(vertex)
        for p, q, r in triangles.tolist():
            corners.append(coal.Triangle(p, q, r))
        return points, corners


def _sharpen(request: Any) -> None:
    """Ask coal for more than its usual six digits."""
    request.gjk_tolerance = request.epa_tolerance = _TOLERANCE
    request.gjk_max_iterations = request.epa_max_iterations = _ITERATIONS


def _rows(manifold: Manifold | None, sign: float) -> list[Row]:
    if manifold is None:
        return []
    normal = sign * manifold.normal
    return [
        (point, normal, gap, feature)
        for point, gap, feature in zip(
            manifold.point, manifold.gap.tolist(), manifold.feature.tolist(), strict=True
        )
    ]


def _distinct(rows: list[Row], distance: float) -> list[Row]:
    """Leave out contacts that repeat an earlier one with the same normal."""
    kept: list[Row] = []
    for row in rows:
        if not any(
            row[1] @ other[1] > ALIGNED and np.linalg.norm(row[0] - other[0]) < distance for other in kept
        ):
            kept.append(row)
    return kept


def _on_triangle(point: Floats, triangle: Feature, tolerance: float) -> bool:
    """True if the point is on the triangle, its rim included."""
    if abs((point - triangle.points[0]) @ triangle.normal) > tolerance:
        return False
    along = np.roll(triangle.points, -1, axis=0) - triangle.points
    inward = np.cross(triangle.normal, along)
    heights = np.einsum("ij,ij->i", inward, point - triangle.points)
    return bool(np.all(heights >= -tolerance * np.linalg.norm(along, axis=1)))
