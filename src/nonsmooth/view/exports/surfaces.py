"""Surfaces of all bodies as triangles with normals, for files that other programs show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.errors import OptionError
from nonsmooth.io.runs.trajectory import RecordedFrame, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.surfaces import sphere_mesh
from nonsmooth.view.drawing.geometry import (
    Part,
    clip_polygon,
    fan,
    half_space_parts,
    parts_of,
    reach_of,
    skeleton_parts,
    vertex_normals,
)
from nonsmooth.view.drawing.visible_bounds import bounds_of
from nonsmooth.view.exports.quantities import positions

_SPHERE_DETAIL = ((50, 3), (1000, 2))
"""Up to so many spheres, how often the faces of an icosahedron are cut into four; beyond that once."""

_FLOOR_RIM = 0.3
"""How far half-spaces are shown around the bodies, in diagonals of their box."""

_SAMPLES = 24
"""Number of frames used for the box of all bodies."""


class ShadedMesh(NamedTuple):
    """Triangles (f, 3) of vertices (v, 3) in m that have unit normals (v, 3)."""

    vertices: Floats
    normals: Floats
    faces: Indices


def shaded_sphere(spheres: int) -> ShadedMesh:
    """Return a ball of radius 1 m, the coarser the more `spheres` there will be."""
    detail = next((cuts for most, cuts in _SPHERE_DETAIL if spheres <= most), 1)
    vertices, faces = sphere_mesh(detail)
    return ShadedMesh(vertices, vertices, faces)


def shaded_mesh(part: Part) -> ShadedMesh:
    """Return the triangles of a part that is no sphere; where faces are flat, they share no vertices."""
    if part.smooth:
        return ShadedMesh(part.vertices, vertex_normals(part), part.faces)
    vertices = part.vertices[part.faces].reshape(-1, 3)
    faces = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
    return ShadedMesh(vertices, vertex_normals(replace(part, vertices=vertices, faces=faces)), faces)


class Drawn(NamedTuple):
    """All drawn parts of a run, in the frames of bodies; body −1 is the ground, with the world's frame."""

    solids: list[Part]
    """One for each shape that is no half-space."""
    planes: list[Part]
    """Visible parts of half-spaces."""
    mechanism: list[Part]
    """Joints, and bars for bodies that have no shape."""
    size: float
    """Diagonal in m of the box of the bodies."""


def drawn_parts(trajectory: Trajectory, frames: list[int]) -> Drawn:
    """Return what is shown; half-spaces are as large as bodies in these frames need."""
    bodies, shapes, joints = trajectory.bodies, trajectory.shapes, trajectory.joints
    lowest, highest = _bounds(trajectory, frames)
    size = float(np.linalg.norm(highest - lowest))
    solids = [part for part in parts_of(shapes, size) if not part.half_space]
    position, quaternion = pose(trajectory.frame(frames[0]), trajectory)
    rim = _FLOOR_RIM * size
    planes = [
        cut
        for part in half_space_parts(shapes, position, quaternion, lowest, highest)
        if len((cut := _cut(part, position, quaternion, lowest - rim, highest + rim)).vertices) >= 3
    ]
    return Drawn(solids, planes, skeleton_parts(joints, shapes, len(bodies.mass), size), size)


def pose(frame: RecordedFrame, trajectory: Trajectory) -> tuple[Floats, Floats]:
    """Return positions (n, 3) in m and quaternions (n, 4) of a frame, which must have been recorded."""
    if frame.quaternion is None:
        raise OptionError(
            f"quaternions were not recorded in {trajectory.path}, and shapes cannot be placed without "
            "them: record the field 'quaternion'"
        )
    return positions(frame, trajectory), frame.quaternion


def _bounds(trajectory: Trajectory, frames: list[int]) -> tuple[Floats, Floats]:
    """Corners (3,) of the box that bodies need in some of the frames."""
    bodies = trajectory.bodies
    reach = reach_of(bodies.bounding_radius, trajectory.joints)
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _SAMPLES)).round().astype(int))
    boxes = [
        bounds_of(positions(trajectory.frame(frames[at]), trajectory), bodies.fixed, reach) for at in chosen
    ]
    return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)


def _cut(part: Part, position: Floats, quaternion: Floats, lowest: Floats, highest: Floats) -> Part:
    """Cut a piece of a half-space off at the sides of the scene, and a wall below it too."""
    place, turn = position[part.body], quaternion[part.body]
    polygon = place + quaternions.rotate(turn, part.vertices)
    for axis in np.eye(3)[:2]:
        polygon = clip_polygon(polygon, lowest, axis)
        polygon = clip_polygon(polygon, highest, -axis)
    above = clip_polygon(polygon, lowest, np.array([0.0, 0.0, 1.0]))
    if len(above) >= 3:  # a floor may be at any depth
        polygon = above
    return replace(part, vertices=quaternions.rotate_back(turn, polygon - place), faces=fan(len(polygon)))


@dataclass(frozen=True, eq=False)
class Surfaces:
    """All parts as one mesh in the frames of their bodies, to be placed at every frame."""

    mesh: ShadedMesh
    body: Indices
    """(v,) the body that a vertex belongs to; −1 for the ground."""

    @classmethod
    def of(cls, parts: list[Part]) -> Surfaces:
        """Join parts."""
        ball = shaded_sphere(sum(part.radius > 0.0 for part in parts))
        meshes = [
            ball._replace(vertices=part.offset + part.radius * ball.vertices)
            if part.radius > 0.0
            else shaded_mesh(part)
            for part in parts
        ]
        counts = [len(mesh.vertices) for mesh in meshes]
        first = np.cumsum([0, *counts])
        joined = ShadedMesh(
            np.concatenate([np.zeros((0, 3)), *(mesh.vertices for mesh in meshes)]),
            np.concatenate([np.zeros((0, 3)), *(mesh.normals for mesh in meshes)]),
            np.concatenate(
                [np.zeros((0, 3), np.int32), *(m.faces + at for m, at in zip(meshes, first, strict=False))]
            ).astype(np.int32),
        )
        body = np.array([part.body for part in parts], dtype=np.int32)
        return cls(joined, np.repeat(body, counts))

    def placed(self, position: Floats, quaternion: Floats) -> tuple[Floats, Floats]:
        """Return vertices (v, 3) in m and normals (v, 3) in the world frame."""
        # The last row is that of the ground, and the one that index −1 takes.
        turn = quaternions.matrix(np.vstack([quaternion, quaternions.IDENTITY]))[self.body]
        shift = np.vstack([position, np.zeros(3)])[self.body]
        vertices = np.einsum("vij,vj->vi", turn, self.mesh.vertices) + shift
        return vertices, np.einsum("vij,vj->vi", turn, self.mesh.normals)

    def of_bodies(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return numbers (n,) of the bodies for every vertex; 0 for the ground."""
        return np.append(values, 0)[self.body]
