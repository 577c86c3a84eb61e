"""Bodies and joints in the web viewer, in batches of the same look.

A frame of any number of spheres is then an array of positions and one of colours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.surfaces import sphere_mesh
from nonsmooth.view.drawing.colours import JOINT_COLOUR
from nonsmooth.view.drawing.geometry import Part, struts
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.choice import Choice, linear
from nonsmooth.view.web.lines import edge_mesh
from nonsmooth.view.web.stage import Stage

_EDGE_COLOUR = (140, 146, 156)
_FINENESS = ((300, 3), (3_000, 2), (100_000, 1))
"""Largest numbers of spheres for each subdivision of the icosahedron; above, it is not subdivided."""


class Batch:
    """Parts of the same look: spheres of any radius, or one mesh carried by several bodies."""

    def __init__(
        self,
        handle: viser.BatchedMeshHandle,
        edges: viser.BatchedMeshHandle | None,
        parts: Sequence[Part],
        fixed: bool,
    ) -> None:
        self._handle = handle
        self._edges = edges
        self._bodies = np.array([part.body for part in parts], dtype=np.int64)
        self._spheres = parts[0].radius > 0.0
        self._joints = parts[0].joint
        self._fixed = fixed
        offsets = np.array([part.offset for part in parts])
        self._offsets = offsets if self._spheres and offsets.any() else None

    def show(self, position: Floats, quaternion: Floats, rgb: Pixels, choice: Choice) -> None:
        """Move and colour the instances; unchanged data is not sent."""
        if self._joints:
            self._handle.visible = choice.joints
            if not choice.joints:
                return
        place = position[self._bodies]
        if self._offsets is not None:
            place = place + quaternions.rotate(quaternion[self._bodies], self._offsets)
        for handle in (self._handle, self._edges):
            if handle is not None:
                handle.batched_positions = place.astype(np.float32)
                if not self._spheres:  # rotation of a sphere is invisible
                    handle.batched_wxyzs = quaternion[self._bodies].astype(np.float32)
        self._handle.batched_colors = rgb[np.full_like(self._bodies, -1) if self._joints else self._bodies]
        opacity = 1.0 if self._joints else choice.fixed_opacity if self._fixed else choice.opacity
        self._handle.opacity = None if opacity >= 1.0 else opacity
        chosen = self._bodies == choice.selected  # nothing equals None
        glass = opacity < 1.0 and bool(np.any(chosen))
        # These are multiplied with the opacity of all: the selected body stays solid.
        shares = np.where(chosen, 1.0 / opacity, 1.0).astype(np.float32) if glass else None
        self._handle.batched_opacities = shares


def batches_of(server: viser.ViserServer, stage: Stage, parts: Sequence[Part]) -> list[Batch]:
    """Put every part into a batch of its like on the server."""
    groups: dict[tuple[object, bool, bool], list[Part]] = {}
    for part in parts:
        look = "sphere" if part.radius else (part.vertices.tobytes(), part.faces.tobytes())
        fixed = part.body >= 0 and bool(stage.fixed[part.body])
        groups.setdefault((look, fixed, part.joint), []).append(part)
    batches = []
    for number, ((_, fixed, _), group) in enumerate(groups.items()):
        first, count = group[0], len(group)
        vertices, faces, scales = first.vertices, first.faces, None
        if first.radius:
            cuts = next((cuts for most, cuts in _FINENESS if count <= most), 0)
            vertices, faces = sphere_mesh(cuts)
            scales = np.array([part.radius for part in group], dtype=np.float32)
        handle = server.scene.add_batched_meshes_simple(
            f"/bodies/{number}",
            vertices,
            faces,
            np.tile(np.array(quaternions.IDENTITY), (count, 1)),
            np.zeros((count, 3)),
            batched_scales=scales,
            batched_colors=np.zeros((count, 3), dtype=np.uint8),
            lod="off",
            flat_shading=not (first.radius or first.smooth),
            cast_shadow=False,
            receive_shadow=False,
        )
        edges = None
        if not (first.radius or first.smooth):
            rods = edge_mesh(first, 0.004 * float(np.linalg.norm(np.ptp(first.vertices, axis=0))))
            edges = server.scene.add_batched_meshes_simple(
                f"/bodies/{number}/edges", *rods, np.tile(np.array(quaternions.IDENTITY), (count, 1)),
                np.zeros((count, 3)), batched_colors=linear(_EDGE_COLOUR), lod="off", cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
        batches.append(Batch(handle, edges, group, fixed))
    return batches


class Struts:
    """Joints between two points, whose length may change: lines from one to the other."""

    def __init__(self, server: viser.ViserServer, stage: Stage, size: float) -> None:
        self._stage, self._size = stage, size
        still = np.zeros((stage.count, 3)), np.tile(np.array(quaternions.IDENTITY), (stage.count, 1))
        starts, _, radius = struts(stage.joints, *still, size)
        self._lines: viser.LineSegmentsHandle | None = None
        if len(starts):
            nowhere = np.zeros((len(starts), 2, 3))
            self._lines = server.scene.add_line_segments(
                "/struts", nowhere, JOINT_COLOUR, thickness=2.0 * radius
            )

    def show(self, snapshot: Snapshot, choice: Choice) -> None:
        """Put the lines between the points of their bodies."""
        if self._lines is None:
            return
        self._lines.visible = choice.joints
        if choice.joints:
            start, end, _ = struts(self._stage.joints, snapshot.position, snapshot.quaternion, self._size)
            self._lines.points = np.stack([start, end], axis=1).astype(np.float32)
