"""Contacts of two solids bounded by triangles: corners on faces, and edges across edges.

A corner touches a face if none of its edges leads below the face; two edges touch if the direction across
both is between the normals of the faces on either side. Both hold in overlap as well as apart. Which
triangles are near one another is found elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision.contacts import Floats
from nonsmooth.model.shapes import Box, ConvexHull, Mesh

_FLAT = 1e-6  # sine of the angle below which two faces are one
_LEVEL = 1e-3  # slope down to which an edge counts as lying on a face
_INSIDE = 1e-9
_ONE_WAY = 1.0 - 1e-3  # cosine between normals of one manifold
_CORNER_B, _EDGES = 1 << 60, 2 << 60  # marks of corners of A are below
_SECOND = 30  # bits to shift the first number of a mark

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SurfaceContacts:
    """Points (m, 3), normals from A to B (m, 3), gaps (m,), features (m,)."""

    point: Floats
    normal: Floats
    gap: Floats
    feature: Numbers


class Surface:
    """A closed surface in its own frame: corners, triangles, edges, and what is next to what."""

    def __init__(self, shape: Box | ConvexHull | Mesh) -> None:
        if isinstance(shape, Box):
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            shape = ConvexHull(corners * shape.size)
        self.vertices: Floats = shape.vertices
        self.triangles: Numbers = shape.triangles.astype(np.int64)
        a, b, c = np.moveaxis(self.vertices[self.triangles], 1, 0)
        cross = np.cross(b - a, c - a)
        self.normals = cross / np.linalg.norm(cross, axis=1)[:, None]
        sides = np.vstack([self.triangles[:, [0, 1]], self.triangles[:, [1, 2]], self.triangles[:, [2, 0]]])
        owner = np.tile(np.arange(len(self.triangles)), 3)
        self.edges, which = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
        self.edge_of = which.reshape(3, -1).T
        """(t, 3) edges of each triangle."""
        order = np.argsort(which.ravel(), kind="stable")
        self.beside = owner[order].reshape(-1, 2)
        """(e, 2) the two triangles of each edge."""
        both = self.edges[np.argsort(self.edges[:, 0], kind="stable")]
        neighbours: list[list[int]] = [[] for _ in self.vertices]
        for p, q in both:
            neighbours[p].append(int(q))
            neighbours[q].append(int(p))
        self.neighbours = [np.array(sorted(row)) for row in neighbours]
        one, two = self.normals[self.beside[:, 0]], self.normals[self.beside[:, 1]]
        self.sharp = np.linalg.norm(np.cross(one, two), axis=1) > _FLAT
        self.face = self._faces()
        """(t,) the smallest triangle of the flat face that each triangle belongs to."""

    def _faces(self) -> Numbers:
        face = np.arange(len(self.triangles))
        flat = self.beside[~self.sharp]
        while True:
            least = np.minimum(face[flat[:, 0]], face[flat[:, 1]])
            before = face.copy()
            np.minimum.at(face, flat[:, 0], least)
            np.minimum.at(face, flat[:, 1], least)
            if np.array_equal(face, before):
                return face


@dataclass(frozen=True)
class PlacedSurface:
    """A surface in the world."""

    own: Surface
    vertices: Floats
    normals: Floats

    @classmethod
    def at(cls, surface: Surface, centre: Floats, axes: Floats) -> PlacedSurface:
        """Place a surface by its origin (3,) and its axes, the columns of (3, 3)."""
        return cls(surface, centre + surface.vertices @ axes.T, surface.normals @ axes.T)


def surface_contacts(a: PlacedSurface, b: PlacedSurface, near: Numbers, reach: float) -> SurfaceContacts:
    """Contacts of A and B in the pairs `near` (k, 2) of triangles that are close to one another."""
    rows: dict[int, tuple[Floats, Floats, float]] = {}
    for corner, triangle in _corners(a.own, near[:, 0], near[:, 1]):
        found = _corner_on_face(a, corner, b, triangle, reach)
        if found is not None:
            point, normal, gap = found
            rows.setdefault(corner << _SECOND | int(b.own.face[triangle]), (point, -normal, gap))
    for corner, triangle in _corners(b.own, near[:, 1], near[:, 0]):
        found = _corner_on_face(b, corner, a, triangle, reach)
        if found is not None:
            rows.setdefault(_CORNER_B | corner << _SECOND | int(a.own.face[triangle]), found)
    edges = np.stack(
        [np.repeat(a.own.edge_of[near[:, 0]], 3, axis=1), np.tile(b.own.edge_of[near[:, 1]], (1, 3))], axis=-1
    ).reshape(-1, 2)
    edges = edges[a.own.sharp[edges[:, 0]] & b.own.sharp[edges[:, 1]]]
    for e, f in np.unique(edges, axis=0).tolist():
        found = _crossing(a, e, b, f, reach)
        if found is not None:
            rows[_EDGES | e << _SECOND | f] = found
    marks = sorted(rows)
    contacts = SurfaceContacts(
        np.array([rows[mark][0] for mark in marks]).reshape(-1, 3),
        np.array([rows[mark][1] for mark in marks]).reshape(-1, 3),
        np.array([rows[mark][2] for mark in marks]),
        np.array(marks, dtype=np.int64),
    )
    kept = ~_ways_around(contacts)
    return SurfaceContacts(
        contacts.point[kept], contacts.normal[kept], contacts.gap[kept], contacts.feature[kept]
    )


def _ways_around(found: SurfaceContacts) -> NDArray[np.bool_]:
    """Overlaps that end sooner another way: near by there is one that is less deep, in another direction."""
    depth = -found.gap
    apart = np.linalg.norm(found.point[:, None] - found.point[None], axis=2)
    shorter = (depth[None] < depth[:, None]) & (depth[None] > 0.0)
    elsewhere = found.normal @ found.normal.T < _ONE_WAY
    return np.asarray((shorter & elsewhere & (apart <= 2.0 * depth[:, None])).any(axis=1))


def _corners(surface: Surface, own: Numbers, other: Numbers) -> list[tuple[int, int]]:
    """Pairs of a corner of an own triangle and the other triangle, each once, in order."""
    pairs = np.column_stack([surface.triangles[own].ravel(), np.repeat(other, 3)])
    return [(int(corner), int(triangle)) for corner, triangle in np.unique(pairs, axis=0)]


def _corner_on_face(
    a: PlacedSurface, corner: int, b: PlacedSurface, triangle: int, reach: float
) -> tuple[Floats, Floats, float] | None:
    """Midpoint, normal of the face and gap, if the corner of A is over or under the triangle of B."""
    vertex, normal = a.vertices[corner], b.normals[triangle]
    p, q, r = b.vertices[b.own.triangles[triangle]]
    gap = float(normal @ (vertex - p))
    if gap > reach:
        return None
    twice = float(normal @ np.cross(q - p, r - p))
    foot = vertex - gap * normal
    for one, two in ((p, q), (q, r), (r, p)):
        if normal @ np.cross(two - one, foot - one) < -_INSIDE * twice:
            return None
    ways = a.vertices[a.own.neighbours[corner]] - vertex
    if np.any(ways @ normal < -_LEVEL * np.linalg.norm(ways, axis=1)):
        return None
    return vertex - 0.5 * gap * normal, normal, gap


def _crossing(
    a: PlacedSurface, e: int, b: PlacedSurface, f: int, reach: float
) -> tuple[Floats, Floats, float] | None:
    """Midpoint, normal from A to B and gap of two edges that cross, seen along the normal."""
    p, q = a.vertices[a.own.edges[e]]
    r, s = b.vertices[b.own.edges[f]]
    u, v = q - p, s - r
    across = np.cross(u, v)
    length = float(np.linalg.norm(across))
    if length <= _LEVEL * np.linalg.norm(u) * np.linalg.norm(v):
        return None
    normal = across / length
    one, two = a.normals[a.own.beside[e]]
    if (one + two) @ normal < 0.0:
        normal = -normal
    if not _between(normal, one, two) or not _between(-normal, *b.normals[b.own.beside[f]]):
        return None
    gap = float(normal @ (r - p))
    if gap > reach:
        return None
    # p + x u and r + y v lie above one another: solve in the plane across the normal.
    shift = r - p
    x = float(np.cross(shift, v) @ across) / length**2
    y = float(np.cross(shift, u) @ across) / length**2
    if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
        return None
    return 0.5 * (p + x * u + r + y * v), normal, gap


def _between(normal: Floats, one: Floats, two: Floats) -> bool:
    """True if the normal is on the short arc between two unit vectors, in whose plane it lies."""
    middle = one + two
    middle /= np.linalg.norm(middle)
    return bool(normal @ middle >= min(one @ middle, two @ middle) - _FLAT)
