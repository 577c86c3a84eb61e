"""Lines as narrow meshes, which are moved and hidden like bodies: edges of bodies, grids on floors."""

from __future__ import annotations

import math

import numpy as np
import trimesh

from nonsmooth._support.arrays import Floats
from nonsmooth.model.shapes.surfaces import TriangleMesh
from nonsmooth.view.drawing.geometry import Part

_SHARP = math.radians(30.0)
"""Angle in rad between the normals of two faces from which their edge is sharp."""


# ---- edges of bodies --------------------------------------------------------------------------------


def edge_mesh(part: Part, radius: float) -> TriangleMesh:
    """Return rods of three sides along the sharp edges of a mesh, `radius` in m, in the body frame."""
    ends = sharp_edges(part)
    ahead = ends[:, 1] - ends[:, 0]
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    helper = np.eye(3)[np.argmin(np.abs(ahead), axis=1)]
    side = np.cross(ahead, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    third = np.cross(ahead, side)
    angles = np.radians([0.0, 120.0, 240.0])[:, None, None]
    ring = radius * (np.cos(angles) * side + np.sin(angles) * third)  # (3, e, 3)
    corners = np.stack([ends[:, end] + ring for end in (0, 1)])  # (2, 3, e, 3)
    vertices = np.moveaxis(corners, 2, 0).reshape(-1, 3)
    first = 6 * np.arange(len(ends))[:, None]
    faces = [
        first + np.array(f) for k, j in ((0, 1), (1, 2), (2, 0)) for f in ((k, j, j + 3), (k, j + 3, k + 3))
    ]
    return vertices, np.concatenate(faces).astype(np.int32)


def sharp_edges(part: Part) -> Floats:
    """Return the ends (e, 2, 3) in m of the edges at which a mesh bends by 30° or more, or ends."""
    mesh = trimesh.Trimesh(part.vertices, part.faces, process=False)
    mesh.merge_vertices(digits_vertex=12)
    bent = mesh.face_adjacency_edges[mesh.face_adjacency_angles >= _SHARP]
    # Where other than two faces meet, there is no angle.
    ends = mesh.edges_unique[np.bincount(mesh.edges_unique_inverse) != 2]
    return np.asarray(mesh.vertices[np.concatenate([bent, ends])])


# ---- grids on floors --------------------------------------------------------------------------------


def grid_mesh(part: Part, spacing: float, half_width: float) -> TriangleMesh:
    """Return a square grid on a flat convex part as narrow rectangles just above it, all lengths in m.

    Lines of the browser would be seen from behind as well, and the front walls of a container would stripe
    what is in it.
    """
    polygon = part.vertices
    normal = np.cross(polygon[1] - polygon[0], polygon[2] - polygon[0])
    normal /= np.linalg.norm(normal)
    first = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
    along = first - normal * (first @ normal)
    along /= np.linalg.norm(along)
    axes = np.stack([along, np.cross(normal, along)])
    flat = (polygon - part.offset) @ axes.T
    corners = []
    for direction in range(2):
        for place, (start, end) in grid_lines(flat[:, ::-1] if direction else flat, spacing):
            low, high = place - half_width, place + half_width
            quad = np.array([(start, low), (end, low), (end, high), (start, high)])
            corners.append(quad[::-1, ::-1] if direction else quad)
    vertices = part.offset + np.array(corners).reshape(-1, 2) @ axes + half_width * normal
    quads = 4 * np.arange(len(corners))[:, None]
    faces = np.concatenate([quads + np.array([0, 1, 2]), quads + np.array([0, 2, 3])])
    return vertices, faces.astype(np.int32)


def grid_lines(polygon: Floats, spacing: float) -> list[tuple[float, tuple[float, float]]]:
    """Return the lines y = k·spacing inside a convex polygon (p, 2): y, and where x begins and ends."""
    lines = []
    x, y = polygon.T
    for number in range(math.ceil(y.min() / spacing), math.floor(y.max() / spacing) + 1):
        height = y - number * spacing
        after = np.roll(height, -1)
        crossed = (height < 0.0) != (after < 0.0)
        if crossed.sum() == 2:
            share = height[crossed] / (height[crossed] - after[crossed])
            ends = x[crossed] + share * (np.roll(x, -1)[crossed] - x[crossed])
            lines.append((number * spacing, (float(ends.min()), float(ends.max()))))
    return lines


def round_length(length: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a positive length."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(power * step for step in (5.0, 2.0, 1.0) if power * step <= length * (1.0 + 1e-9))
