"""Geometry of bodies for drawing: spheres, and triangles in the body's frame for all other shapes.

Triangles are counterclockwise when seen from outside. Lengths are in m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.io import RecordedJoints
from nonsmooth.model import quaternions
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import HALF_SPACE, HalfSpace, Sphere
from nonsmooth.model.shapes.surfaces import capsule_mesh, cylinder_mesh

FLOOR_SIDE = 6.0
"""Side of the square that shows a half-space, in diagonals of the scene."""

_WALL_RIM = 0.05
"""Height of walls above the scene, relative to its height."""
_STEEP = 0.7
"""Upward component of the normal below which a half-space is a wall."""
_BAR_RADIUS, _PIN_RADIUS = 0.009, 0.013
"""Thickness of the bars and joints of a mechanism, in diagonals of the scene."""
_LINKS = 18.0
"""Largest diagonal of a scene, in half links, for the choice of thickness."""
_RAIL = (0.004, 0.35)
_AXIAL = {"Revolute": (_PIN_RADIUS, 0.022), "Prismatic": _RAIL, "Cylindrical": _RAIL, "Screw": _RAIL}
"""Radii and half lengths of the cylinders that show joints with an axis, in diagonals of the scene."""
_STRETCHED = ("Distance", "Strut")
"""Joints between two points."""


@dataclass(frozen=True, eq=False)
class Part:
    """One drawn shape of a body: a sphere if `radius` is positive, else a triangle mesh."""

    body: int
    """Index of the body that carries it; −1 for the ground, whose frame is the world."""
    radius: float
    """Radius of a sphere in m; 0 for meshes."""
    vertices: Floats
    """(v, 3) in m, in the body frame; none for spheres."""
    faces: Indices
    """(f, 3) rows of `vertices`; none for spheres."""
    offset: Floats
    """(3,) of a sphere's centre in the body frame, in m; of a mesh the origin of the shape."""
    half_space: bool = False
    """Whether the mesh is a piece of an infinite plane; the normals of its faces point outwards."""
    smooth: bool = False
    """Whether normals are averaged at shared vertices; False for flat faces."""
    joint: bool = False
    """Whether it shows a joint and is not a shape of the body."""
    guide: bool = False
    """Whether it shows the guide of a joint, of which only the middle must be visible."""


def parts_of(shapes: ShapeTable, extent: float) -> list[Part]:
    """Return one part per shape, in the order of the table.

    A half-space becomes a square of side `extent` (m) about the origin of its frame, of 10 by 10 cells.
    """
    parts = []
    for row, (body, shape) in enumerate(zip(shapes.body.tolist(), shapes.objects, strict=True)):
        offset = np.asarray(shapes.offset[row], dtype=np.float64)
        if isinstance(shape, Sphere):
            parts.append(_ball(body, shape.radius, offset))
            continue
        vertices, faces = shape.surface(extent=extent)
        turned = offset + vertices @ quaternions.matrix(shapes.rotation[row]).T
        plane = isinstance(shape, HalfSpace)
        parts.append(Part(body, 0.0, turned, faces, offset, half_space=plane, smooth=shape.smooth))
    return parts


def half_space_parts(
    shapes: ShapeTable, position: ArrayLike, quaternion: ArrayLike, lowest: Floats, highest: Floats
) -> list[Part]:
    """Return the visible parts of half-spaces around the scene from `lowest` to `highest` (3,).

    `position` (n, 3) in m and `quaternion` (n, 4) are those of the bodies. Each is a square about the scene,
    cut off where it is inside another half-space, and, if it is steep, above the scene: four walls and
    a floor become an open box.
    """
    places, turns = np.asarray(position, dtype=np.float64), np.asarray(quaternion, dtype=np.float64)
    rows = np.flatnonzero(shapes.kind == HALF_SPACE)
    bodies = shapes.body[rows]
    origins = places[bodies] + quaternions.rotate(turns[bodies], shapes.offset[rows])
    axes = quaternions.matrix(quaternions.product(turns[bodies], shapes.rotation[rows]))
    centre, size = 0.5 * (lowest + highest), float(np.linalg.norm(highest - lowest))
    top = highest[2] + _WALL_RIM * (highest[2] - lowest[2])
    parts = []
    for at, (row, body) in enumerate(zip(rows, bodies.tolist(), strict=True)):
        normal = axes[at, :, 2]
        middle = centre - normal * (normal @ (centre - origins[at]))
        side = 0.5 * FLOOR_SIDE * size
        corners = [(-side, -side), (side, -side), (side, side), (-side, side)]
        polygon = np.array([middle + x * axes[at, :, 0] + y * axes[at, :, 1] for x, y in corners])
        for other in range(len(rows)):
            if other != at and not np.allclose(axes[other, :, 2], normal):
                polygon = clip_polygon(polygon, origins[other], axes[other, :, 2])
        if abs(normal[2]) < _STEEP:
            polygon = clip_polygon(polygon, np.array([0.0, 0.0, top]), np.array([0.0, 0.0, -1.0]))
        if len(polygon) >= 3:
            local = quaternions.rotate_back(turns[body], polygon - places[body])
            offset = np.asarray(shapes.offset[row], dtype=np.float64)
            parts.append(Part(body, 0.0, local, fan(len(polygon)), offset, half_space=True))
    return parts


def skeleton_parts(joints: RecordedJoints, shapes: ShapeTable, count: int, size: float) -> list[Part]:
    """Return the parts that show a mechanism: its joints, and its bodies without shapes.

    Such bodies are bars from their centre of mass to their joints, or a small ball. Hinges are short
    cylinders along their axes, guides are long thin ones, and other joints small balls; they belong to
    their body A, and to body −1 if that is the ground, whose frame is the world. A joint away from the shapes
    of its body is connected by a thin rod. `count` is the number of bodies, `size` (m) the diagonal of the
    scene, which determines thickness.
    """
    size = _mechanism_size(joints, size)
    bar, pin = _BAR_RADIUS * size, _PIN_RADIUS * size
    plain = set(range(count)) - set(shapes.body.tolist())
    parts: list[Part] = []
    for joint, pair in enumerate(joints.bodies.tolist()):
        for body, anchor in zip(pair, joints.anchor[joint], strict=True):
            length = float(np.linalg.norm(anchor))
            if body in plain and length > bar:
                parts.append(_bar(body, np.zeros(3), anchor, bar))
            elif body >= 0 and body not in plain:
                parts += _outrigger(body, anchor, shapes, 0.5 * bar, 3.0 * pin)
    barred = {part.body for part in parts}
    parts += [_ball(body, 2.0 * pin, np.zeros(3)) for body in sorted(plain - barred)]
    for joint, (kind, pair) in enumerate(zip(joints.types, joints.bodies.tolist(), strict=True)):
        anchor = joints.anchor[joint, 0]
        if kind in _AXIAL:
            radius, half = (size * part for part in _AXIAL[kind])
            vertices, faces = cylinder_mesh(radius, half)
            placed = anchor + vertices @ joints.frame[joint].T
            guide = _AXIAL[kind] is _RAIL
            parts.append(Part(pair[0], 0.0, placed, faces, anchor, smooth=True, joint=True, guide=guide))
        else:
            parts.append(replace(_ball(pair[0], 1.3 * pin, anchor), joint=True))
    return parts


def stretched(joints: RecordedJoints) -> NDArray[np.bool_]:
    """Return a mask of the joints (j,) between two points: distances and struts."""
    return np.array([kind in _STRETCHED for kind in joints.types], dtype=bool)


def struts(
    joints: RecordedJoints, position: Floats, quaternion: Floats, size: float
) -> tuple[Floats, Floats, float]:
    """Return the ends (k, 3) and (k, 3) in m of joints between two points, and their thickness.

    `position` (n, 3) in m and `quaternion` (n, 4) are those of the bodies, `size` (m) is the diagonal of the
    scene; the radius is in m.
    """
    chosen = stretched(joints)
    bodies = joints.bodies[chosen]
    places = np.concatenate([position, np.zeros((1, 3))])  # the last row is the ground, body −1
    turns = np.concatenate([quaternion, [quaternions.IDENTITY]])
    ends = places[bodies] + quaternions.rotate(turns[bodies], joints.anchor[chosen])
    return ends[:, 0], ends[:, 1], 0.6 * _BAR_RADIUS * _mechanism_size(joints, size)


def reach_of(bounding_radius: ArrayLike, joints: RecordedJoints) -> Floats:
    """Return the largest distance (n,) in m of each body's shapes and joints from its centre."""
    reach = np.array(bounding_radius, dtype=np.float64)
    for side in range(2):
        carried = joints.bodies[:, side] >= 0
        distance = np.linalg.norm(joints.anchor[carried, side], axis=1)
        np.maximum.at(reach, joints.bodies[carried, side], distance)
    return reach


def vertex_normals(part: Part) -> Floats:
    """Return unit normals (v, 3) at the vertices of a mesh: the mean of its faces', weighted by area."""
    corners = part.vertices[part.faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(part.vertices)
    for corner in range(3):
        np.add.at(normals, part.faces[:, corner], areas)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(lengths > 0.0, lengths, 1.0))


def clip_polygon(polygon: Floats, point: Floats, normal: Floats) -> Floats:
    """Return the part of a convex polygon (k, 3) on the side of a plane to which the normal points."""
    kept: list[Floats] = []
    height = (polygon - point) @ normal
    for at in range(len(polygon)):
        after = (at + 1) % len(polygon)
        if height[at] >= 0.0:
            kept.append(polygon[at])
        if (height[at] >= 0.0) != (height[after] >= 0.0):
            share = height[at] / (height[at] - height[after])
            kept.append(polygon[at] + share * (polygon[after] - polygon[at]))
    return np.array(kept).reshape(-1, 3)


def fan(corners: int) -> Indices:
    """Return the triangles (corners − 2, 3) of a convex polygon."""
    return np.array([(0, k, k + 1) for k in range(1, corners - 1)], dtype=np.int32).reshape(-1, 3)


def _mechanism_size(joints: RecordedJoints, size: float) -> float:
    """Length that determines thickness: the scene's diagonal, limited for many short links."""
    lengths = np.linalg.norm(joints.anchor, axis=2)[joints.bodies >= 0]
    longer = lengths[lengths > 1e-6 * size]
    return min(size, _LINKS * float(np.median(longer))) if longer.size else size


def _bar(body: int, start: Floats, end: Floats, radius: float) -> Part:
    """A bar between two points in the frame of a body."""
    middle, line = 0.5 * (start + end), end - start
    vertices, faces = capsule_mesh(radius, 0.5 * float(np.linalg.norm(line)))
    turn = quaternions.matrix(quaternions.between((0.0, 0.0, 1.0), line))
    return Part(body, 0.0, middle + vertices @ turn.T, faces, middle, smooth=True)


def _outrigger(body: int, anchor: Floats, shapes: ShapeTable, radius: float, least: float) -> list[Part]:
    """A rod from a joint to the box about the nearest shape of its body, if that is farther than `least`."""
    nearest = []
    for row in np.flatnonzero(shapes.body == body):
        if shapes.kind[row] == HALF_SPACE:
            return []
        turn, bound = quaternions.matrix(shapes.rotation[row]), shapes.objects[row].local_bound()
        low, high = bound[:3] - bound[3:6], bound[:3] + bound[3:6]
        local = np.clip((anchor - shapes.offset[row]) @ turn, low, high)
        nearest.append(shapes.offset[row] + turn @ local)
    end = min(nearest, key=lambda point: float(np.linalg.norm(point - anchor)))
    if np.linalg.norm(end - anchor) <= least:
        return []
    return [replace(_bar(body, anchor, end, radius), joint=True)]


def _ball(body: int, radius: float, centre: Floats) -> Part:
    return Part(body, radius, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32), np.asarray(centre))
