"""Shapes placed in the world for brute force, in plain NumPy: it shares no code with the narrow phase.

A shape is a core and a ball of `radius` swept around it. The support function of the core, h(n) = max n·x, is
smooth except on circles and at points of the sphere of directions: `circles` (n·u = c) are the normals of
edges and of straight sides, `tips` are the normals of flat faces. Between them h belongs to a vertex, a rim
or an ellipsoid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull

from nonsmooth.model import shapes

FLAT = 1e-9  # sine below which triangles share a face
SIDES = 48  # corners of the polygon that stands for a round face


@dataclass
class Face:
    """A flat face in the shape's frame: its vertices (k, 3) and the outward unit normal."""

    corners: np.ndarray
    normal: np.ndarray
    round: bool = False

    @cached_property
    def outline(self) -> np.ndarray:
        """Corners without those inside of the face or of its edges: vertices of a mesh lie there too."""
        arms = self.corners - self.corners.mean(axis=0)
        u = arms[np.argmax(np.linalg.norm(arms, axis=1))]
        return self.corners[ConvexHull(np.column_stack([arms @ u, arms @ np.cross(self.normal, u)])).vertices]


@dataclass
class Core:
    """A convex core in its own frame.

    Args:
        vertices: (v, 3) corners; of a round shape the tip of a cone alone.
        edges: (e, 2, 3) ends of sharp straight edges.
        faces: flat faces.
        circles: (k, 4) rows (u, c): the support function is not smooth at unit n with n·u = c.
        rims: (r, 5) rows (centre on the z axis 0, 0, z; radius; 0).
        axes: half axes of an ellipsoid, or None.
        side: (radius at −b, radius at +b, b) of a cylinder's or cone's straight side, or None.
        radius: of the ball swept around the core.
        size: reach of the whole from its origin.
    """

    vertices: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2, 3)))
    faces: list[Face] = field(default_factory=list)
    circles: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    rims: tuple[tuple[float, float], ...] = ()  # (height, radius)
    axes: np.ndarray | None = None
    side: tuple[float, float, float] | None = None
    radius: float = 0.0
    size: float = 0.0


def core_of(shape: shapes.Shape) -> Core:
    """The core of a sphere, box, capsule, cylinder, cone, ellipsoid, hull or convex mesh."""
    name, rounding = type(shape).__name__, float(getattr(shape, "rounding", 0.0) or 0.0)
    if name == "Sphere":
        core = Core(vertices=np.zeros((1, 3)), radius=shape.radius)
    elif name == "Capsule":
        ends = np.array([[0.0, 0.0, -0.5 * shape.length], [0.0, 0.0, 0.5 * shape.length]])
        core = Core(vertices=ends, edges=ends[None], radius=shape.radius)
        core.circles = np.array([[0.0, 0.0, 1.0, 0.0]])
    elif name == "Ellipsoid":
        core = Core(axes=np.array(shape.radii), radius=rounding)
    elif name in ("Cylinder", "Cone"):
        core = _round(shape.radius, 0.5 * shape.length, name == "Cone")
        core.radius = rounding
    elif name == "Box":
        x, y, z = 0.5 * np.array(shape.size)
        corners = np.array([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        hull = shapes.ConvexHull(corners)
        core = _polytope(hull.vertices, hull.triangles)
        core.radius = rounding
    else:
        core = _polytope(np.asarray(shape.vertices), np.asarray(shape.triangles))
        core.radius = rounding
    core.size = float(shape.reach(np.zeros(3)))
    return core


def _round(radius: float, half: float, cone: bool) -> Core:
    angles = 2.0 * math.pi * np.arange(SIDES) / SIDES
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    base = Face(np.column_stack([ring[::-1], np.full(SIDES, -half)]), np.array([0.0, 0.0, -1.0]), round=True)
    if cone:
        sine = radius / math.hypot(radius, 2.0 * half)  # n·z of the normals of the side
        return Core(
            vertices=np.array([[0.0, 0.0, half]]), faces=[base], circles=np.array([[0.0, 0.0, 1.0, sine]]),
            rims=((-half, radius),), side=(radius, 0.0, half),
        )  # fmt: skip
    top = Face(np.column_stack([ring, np.full(SIDES, half)]), np.array([0.0, 0.0, 1.0]), round=True)
    return Core(
        faces=[base, top], circles=np.array([[0.0, 0.0, 1.0, 0.0]]),
        rims=((-half, radius), (half, radius)), side=(radius, radius, half),
    )  # fmt: skip


def _polytope(vertices: np.ndarray, triangles: np.ndarray) -> Core:
    """Faces and edges of a convex solid given by outward triangles; flat neighbours are one face."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    cross = np.cross(b - a, c - a)
    normals = cross / np.linalg.norm(cross, axis=1)[:, None]
    face = np.full(len(triangles), -1)
    faces: list[Face] = []
    size = float(np.abs(vertices - vertices.mean(axis=0)).max())
    for seed in np.argsort(-np.linalg.norm(cross, axis=1), kind="stable"):
        if face[seed] >= 0:
            continue
        off = np.abs((vertices[triangles] - a[seed]) @ normals[seed]).max(axis=1)
        own = (face < 0) & (normals @ normals[seed] > 0.0) & (off < FLAT * size)
        face[own] = len(faces)
        corners = vertices[np.unique(triangles[own])]
        faces.append(Face(_in_order(corners, normals[seed]), normals[seed]))
    owner = {}
    for t, row in enumerate(triangles.tolist()):
        for p, q in zip(row, row[1:] + row[:1], strict=True):
            owner[p, q] = face[t]
    edges = np.array([vertices[[p, q]] for (p, q), f in owner.items() if p < q and owner[q, p] != f])
    along = edges[:, 1] - edges[:, 0]
    along /= np.linalg.norm(along, axis=1)[:, None]
    along *= np.where(along[:, [0]] + 1e-3 * along[:, [1]] + 1e-6 * along[:, [2]] < 0.0, -1.0, 1.0)
    _, first = np.unique(np.round(along, 9), axis=0, return_index=True)
    circles = np.column_stack([along[first], np.zeros(len(first))])
    return Core(vertices=vertices, edges=edges, faces=faces, circles=circles)


def _in_order(corners: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Corners of a face counterclockwise about its normal."""
    middle = corners.mean(axis=0)
    u = corners[0] - middle
    u /= np.linalg.norm(u)
    arms = corners - middle
    return corners[np.argsort(np.arctan2(arms @ np.cross(normal, u), arms @ u))]


class Placed:
    """A core at a pose; all arrays are in the world."""

    def __init__(self, core: Core, position: np.ndarray, axes: np.ndarray) -> None:
        self.core, self.x, self.axes = core, position, axes
        self.vertices = position + core.vertices @ axes.T
        self.edges = position + core.edges @ axes.T
        self.circles = np.column_stack([core.circles[:, :3] @ axes.T, core.circles[:, 3]])
        self.tips = np.array([face.normal for face in core.faces]).reshape(-1, 3) @ axes.T
        self.curved = bool(core.rims) or core.axes is not None

    def height(self, n: np.ndarray) -> np.ndarray:
        """h(n) for the rows of n (m, 3)."""
        core = self.core
        if not self.curved:
            return (n @ self.vertices.T).max(axis=1)
        local = n @ self.axes
        if core.axes is not None:
            return n @ self.x + np.linalg.norm(local * core.axes, axis=1)
        across = np.hypot(local[:, 0], local[:, 1])
        heights = [z * local[:, 2] + r * across for z, r in core.rims]
        heights += [v[2] * local[:, 2] for v in core.vertices]
        return n @ self.x + np.max(heights, axis=0)

    def point(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Farthest points (m, 3) along the rows of n, and the second derivatives of h (m, 3, 3)."""
        core, local = self.core, n @ self.axes
        hessian = np.zeros((len(n), 3, 3))
        if core.axes is not None:
            scaled = local * core.axes
            length = np.linalg.norm(scaled, axis=1)[:, None]
            points = core.axes * scaled / length
            hessian = np.eye(3) * core.axes**2 / length[:, None]
            hessian -= points[:, :, None] * points[:, None, :] / length[:, None]
        elif core.rims:
            across = np.maximum(np.hypot(local[:, 0], local[:, 1]), 1e-300)
            u = np.column_stack([local[:, 0] / across, local[:, 1] / across, np.zeros(len(n))])
            options = [z * local[:, 2] + r * across for z, r in core.rims]
            options += [v[2] * local[:, 2] for v in core.vertices]
            best = np.argmax(options, axis=0)
            heights = np.array([z for z, _ in core.rims] + [v[2] for v in core.vertices])[best]
            radii = np.array([r for _, r in core.rims] + [0.0] * len(core.vertices))[best]
            points = radii[:, None] * u
            points[:, 2] = heights
            t = np.column_stack([-u[:, 1], u[:, 0], np.zeros(len(n))])
            hessian = (radii / np.maximum(across, 1e-9))[:, None, None] * t[:, :, None] * t[:, None, :]
        else:
            return self.vertices[np.argmax(n @ self.vertices.T, axis=1)], hessian
        return self.x + points @ self.axes.T, self.axes @ hessian @ self.axes.T

    def depth(self, points: np.ndarray) -> np.ndarray:
        """How far points (m, 3) are outside the shape, negative inside: exact at faces and smooth sides.

        Beside edges and corners, and away from an ellipsoid, it is less than the distance.
        """
        core = self.core
        local = (points - self.x) @ self.axes
        if core.axes is not None:
            scaled = local / core.axes
            length = np.linalg.norm(scaled, axis=1)
            slope = np.linalg.norm(scaled / core.axes, axis=1) / np.maximum(length, 1e-300)
            return (length - 1.0) / np.maximum(slope, 1e-300) - core.radius
        if core.side is not None:
            low, high, b = core.side
            across = np.hypot(local[:, 0], local[:, 1])
            slant = (across - low - (high - low) * (local[:, 2] + b) / (2 * b)) * (
                2 * b / math.hypot(2 * b, high - low)
            )
            caps = np.abs(local[:, 2]) - b if high else -b - local[:, 2]
            return np.maximum(slant, caps) - core.radius
        if len(core.vertices) <= 2:  # a ball or a capsule
            b = abs(core.vertices[0, 2])
            local[:, 2] -= np.clip(local[:, 2], -b, b)
            return np.linalg.norm(local, axis=1) - core.radius
        offsets = np.array([face.normal @ face.corners[0] for face in core.faces])
        normals = np.array([face.normal for face in core.faces])
        return (local @ normals.T - offsets).max(axis=1) - core.radius
