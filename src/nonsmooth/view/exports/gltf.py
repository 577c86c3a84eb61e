"""One frame of a recorded run as a glTF file: nodes for bodies and rods, one geometry per distinct shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.io.exports.gltf import Colour, GltfScene
from nonsmooth.io.runs.trajectory import Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.surfaces import cylinder_mesh
from nonsmooth.view.drawing.colours import JOINT_COLOUR, ColourBy, body_colours
from nonsmooth.view.drawing.geometry import Part, stretched, struts
from nonsmooth.view.exports.surfaces import drawn_parts, pose, shaded_mesh, shaded_sphere


def export_gltf(
    trajectory: Trajectory, path: Path, number: int = -1, *, colour_by: ColourBy = ColourBy.BODY
) -> None:
    """Write one frame as a .glb file.

    Args:
        trajectory: a recorded run with positions and quaternions.
        path: of the file.
        number: of the frame; negative ones count from the end.
        colour_by: what the colour of a body says.
    """
    frame, bodies = trajectory.frame(number), trajectory.bodies
    position, quaternion = pose(frame, trajectory)
    contacts = trajectory.contacts(number) if "contacts" in trajectory.fields else None
    colours = body_colours(colour_by, frame, contacts, bodies.fixed).rgb.tolist()
    drawn = drawn_parts(trajectory, [number])
    parts = [*drawn.solids, *drawn.planes, *drawn.mechanism]
    parts_of_body: dict[int, list[Part]] = {body: [] for body in range(len(position))}
    for part in parts:
        parts_of_body.setdefault(part.body, []).append(part)
    names = {body: name for name, body in bodies.names.items()}
    scene = GltfScene("nonsmooth", {"time": frame.time})
    shapes = _Shapes(scene, sum(part.radius > 0.0 for part in parts))

    def shown(part: Part) -> dict[str, Any]:
        return shapes.shown(part, JOINT_COLOUR if part.joint or part.body < 0 else tuple(colours[part.body]))

    for body, own in parts_of_body.items():
        name = "ground" if body < 0 else names.get(body, f"body {body}")
        place = {} if body < 0 else {"position": position[body], "quaternion": quaternion[body]}
        alone = len(own) == 1 and not (own[0].radius and own[0].offset.any())
        node = scene.add_node(name, extras={"body": body}, **place, **(shown(own[0]) if alone else {}))
        for at, part in enumerate([] if alone else own):
            offset = part.offset if part.radius else (0.0, 0.0, 0.0)  # a mesh's is in its vertices
            scene.add_node(f"{name}, shape {at}", parent=node, position=offset, **shown(part))
    start, end, radius = struts(trajectory.joints, position, quaternion, drawn.size)
    rod = Part(-1, 0.0, *cylinder_mesh(1.0, 0.5), np.zeros(3), smooth=True)
    joint_names = {joint: name for name, joint in trajectory.joints.names.items()}
    for joint, tail, head in zip(
        np.flatnonzero(stretched(trajectory.joints)).tolist(), start, end, strict=True
    ):
        length = float(np.linalg.norm(head - tail))
        if length > 0.0:
            scene.add_node(
                joint_names.get(joint, f"joint {joint}"),
                position=0.5 * (tail + head),
                quaternion=quaternions.between((0.0, 0.0, 1.0), head - tail),
                extras={"joint": joint},
                **shapes.shown(rod, JOINT_COLOUR) | {"scale": (radius, radius, length)},
            )
    scene.write(path)


class _Shapes:
    """Stores every distinct shape once; all spheres are one ball, scaled."""

    def __init__(self, scene: GltfScene, spheres: int) -> None:
        self._scene, self._spheres = scene, spheres
        self._known: dict[bytes, int] = {}

    def shown(self, part: Part, colour: Colour) -> dict[str, Any]:
        """Return the arguments of a node that shows a part in a colour."""
        key = part.vertices.tobytes() + part.faces.tobytes()
        if key not in self._known:
            mesh = shaded_sphere(self._spheres) if part.radius else shaded_mesh(part)
            self._known[key] = self._scene.add_geometry(mesh.vertices, mesh.normals, mesh.faces)
        return {"mesh": self._scene.mesh(self._known[key], colour), "scale": part.radius or 1.0}
