"""The shapes of a system as arrays for the contact check."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.collision.hulls import Faces
from nonsmooth.collision.kernels.check.mesh import BLOCK, Surfaces
from nonsmooth.collision.kernels.check.rows import Work
from nonsmooth.collision.kernels.check.span import MOST_CORNERS
from nonsmooth.collision.kernels.check.support import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH,
    SPHERE,
    Scene,
)
from nonsmooth.model.shape_table import ShapeTable

_NEAR = 8192
"""Largest number of triangles near a shape that are checked."""
_PIECES = 1024
"""Largest number of flat pieces of a surface, outside the area that the contacts span, that are checked."""


class Polytope:
    """Vertices, supporting planes and edges (two vertices, two planes) of a convex solid."""

    def __init__(self, vertices: Floats, loops: list[Integers], edges: Integers) -> None:
        self.vertices = np.asarray(vertices, dtype=float)
        self.edges = edges
        self.planes = np.empty((len(loops), 4))
        for row, loop in enumerate(loops):
            arms = self.vertices[loop[1:]] - self.vertices[loop[0]]
            normal = np.cross(arms[:-1], arms[1:]).sum(axis=0)
            normal /= np.linalg.norm(normal)
            self.planes[row] = *normal, (self.vertices @ normal).max()


def unit_box() -> Polytope:
    """The cube of edge 2 about the origin."""
    corners = np.array([[(k >> axis & 1) * 2.0 - 1.0 for axis in range(3)] for k in range(8)])
    loops, edges = [], []
    for axis in range(3):
        u, v = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        low = np.array([0, v, u + v, u], dtype=np.int64)
        loops += [low, low[::-1] + (1 << axis)]  # faces 2·axis (−) and 2·axis + 1 (+)
    for axis in range(3):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        for a in range(2):
            for b in range(2):
                base = (a << j) + (b << k)
                edges.append((base, base + (1 << axis), 2 * j + a, 2 * k + b))
    return Polytope(corners, loops, np.array(edges, dtype=np.int64))


def make_scene(table: ShapeTable) -> tuple[Scene, Work]:
    """Arrays of all shapes, and work space for the check of one pair."""
    kind = table.kind.astype(np.int64)
    count = len(table)
    part = np.full(count, -1, dtype=np.int64)
    part[kind == BOX] = 0
    polytopes, known = [unit_box()], {}
    for row in np.flatnonzero(kind == CONVEX_HULL):
        shape = table.objects[row]
        if id(shape) not in known:
            known[id(shape)] = len(polytopes)
            faces = Faces(shape.vertices, shape.triangles)  # type: ignore[attr-defined]
            polytopes.append(Polytope(faces.vertices, faces.loops, faces.edges))
        part[row] = known[id(shape)]
    first = np.zeros((len(polytopes) + 1, 3), dtype=np.int64)
    for number, solid in enumerate(polytopes):
        first[number + 1] = first[number] + (len(solid.vertices), len(solid.planes), len(solid.edges))
    edges = [
        solid.edges + np.array([start[0], start[0], start[1], start[1]])
        for solid, start in zip(polytopes, first, strict=False)
    ]
    scene = Scene(
        kind=kind,
        body=table.body.astype(np.int64),
        size=np.array(table.size[:, :3], dtype=float, order="C"),  # writeable: kernels are compiled for that
        radius=_radius(table),
        ball=_ball(table),
        offset=table.offset.astype(float),
        rotation=table.rotation.astype(float),
        part=part,
        first=first,
        vertices=np.concatenate([solid.vertices for solid in polytopes]),
        planes=np.concatenate([solid.planes for solid in polytopes]),
        edges=np.ascontiguousarray(np.concatenate(edges), dtype=np.int64),
        centre=np.zeros((count, 3)),
        axes=np.zeros((count, 3, 3)),
        middle=np.zeros((count, 3)),
    )
    most = max(len(solid.edges) for solid in polytopes)
    room = MOST_CORNERS + 2
    work = Work(
        np.empty((most, 10)),
        np.empty((most, 10)),
        np.empty((room, 2)),
        np.empty((3, 2 * room, 2)),
        np.empty(6),
        np.empty((4, 4)),
    )
    return scene, work


def _triangles(shape: Any) -> Floats:
    """(t, 9) corners of the triangles of a mesh or of a height field, counterclockwise seen from outside."""
    if getattr(shape, "triangles", None) is not None:
        vertices: Floats = np.asarray(shape.vertices, dtype=float)
        corners: Floats = vertices[shape.triangles].reshape(-1, 9)
        return corners
    heights = np.asarray(shape.heights, dtype=float)
    steps, origin = shape.spacing, getattr(shape, "origin", (0.0, 0.0))
    x, y = (origin[k] + steps[k] * np.arange(heights.shape[k]) for k in range(2))
    points = np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    return np.concatenate([a, b, c, a, c, d], axis=-1).reshape(-1, 9)


def make_surfaces(table: ShapeTable) -> Surfaces:
    """Triangles of all meshes and height fields, with a box around each block of them."""
    of_shape = np.full(len(table), -1, dtype=np.int64)
    known: dict[int, int] = {}
    corners, boxes, large = [np.empty((0, 9))], [np.empty((0, 6))], [np.empty((0, 6))]
    first, closed = [(0, 0, 0)], []
    for row in np.flatnonzero(np.isin(table.kind, (MESH, HEIGHT_FIELD))):
        shape = table.objects[row]
        if id(shape) not in known:
            known[id(shape)] = len(known)
            triangles = _triangles(shape)
            triangles = triangles[_along_a_curve(triangles)]
            points = triangles.reshape(-1, 3, 3)
            closed.append(table.kind[row] == MESH and _is_closed(points))
            small = _blocks(points.min(axis=1), points.max(axis=1))
            corners.append(triangles)
            boxes.append(small)
            large.append(_blocks(small[:, :3], small[:, 3:]))
            a, b, c = first[-1]
            first.append((a + len(triangles), b + len(small), c + len(large[-1])))
        of_shape[row] = known[id(shape)]
    return Surfaces(
        of_shape,
        np.array(first, dtype=np.int64),
        np.concatenate(corners),
        np.concatenate(boxes),
        np.concatenate(large),
        np.empty(_NEAR, dtype=np.int64),
        np.empty((2, _PIECES, 7)),
        np.array(closed, dtype=bool),
    )


def _is_closed(triangles: Floats) -> bool:
    """Whether every edge of triangles (t, 3, 3) occurs equally often in both directions."""
    _, number = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    start = number.reshape(-1, 3)
    end = np.roll(start, -1, axis=1)
    count = int(start.max()) + 1
    there = np.sort((start * count + end).ravel())
    return bool(np.array_equal(there, np.sort((end * count + start).ravel())))


def _along_a_curve(triangles: Floats) -> Integers:
    """Order of triangles along a space-filling (Morton) curve, so that neighbours share boxes."""
    middle = triangles.reshape(-1, 3, 3).mean(axis=1)
    low, size = middle.min(axis=0), max(float(np.ptp(middle, axis=0).max()), 1e-300)
    cell = ((middle - low) / size * 1023.0).astype(np.int64)
    code = np.zeros(len(middle), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= (cell[:, axis] >> bit & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


def _blocks(low: Floats, high: Floats) -> Floats:
    """Boxes (b, 6) around each `BLOCK` rows."""
    starts = np.arange(0, len(low), BLOCK)
    return np.hstack([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)])


def _rounding(table: ShapeTable) -> Floats:
    """Radius (m) swept around each shape: the fourth column of sizes, or an attribute of the shape."""
    if table.size.shape[1] > 3:
        return np.asarray(table.size[:, 3], dtype=float)
    return np.array([float(getattr(shape, "rounding", 0.0) or 0.0) for shape in table.objects])


def _radius(table: ShapeTable) -> Floats:
    round_core = np.isin(table.kind, (SPHERE, CAPSULE))
    return np.where(round_core, table.size[:, 0], _rounding(table))


def _ball(table: ShapeTable) -> Floats:
    """(s, 4) bounding ball of each shape, in its frame; infinite for half-spaces."""
    ball = np.zeros((len(table), 4))
    kind, size = table.kind, table.size[:, :3]
    a, b = size[:, 0], size[:, 1]
    long = np.isin(kind, (CYLINDER, CONE))
    ball[:, 3] = np.select(
        [kind == HALF_SPACE, kind == BOX, kind == CAPSULE, long, kind == ELLIPSOID],
        [np.inf, np.linalg.norm(size, axis=1), b, np.hypot(a, b), size.max(axis=1, initial=0.0)],
        0.0,
    )
    for row, shape in enumerate(table.objects):
        vertices = getattr(shape, "vertices", None)
        if kind[row] == HEIGHT_FIELD:
            vertices = _triangles(shape).reshape(-1, 3)
        if vertices is not None:
            middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
            ball[row, :3] = middle
            ball[row, 3] = np.linalg.norm(vertices - middle, axis=1).max()
    ball[:, 3] += _radius(table)
    return ball
