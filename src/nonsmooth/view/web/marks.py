"""Contacts and their forces in the web viewer: points, arrows, and chains of normal forces."""

from __future__ import annotations

import numpy as np
import viser

from nonsmooth._support.arrays import Floats
from nonsmooth.model.shapes.surfaces import turned
from nonsmooth.view.drawing.colours import CONTACT_COLOURS, contact_friction, contact_states
from nonsmooth.view.drawing.contact_forces import FORCE_COLOUR, LEAST_ARROW, chain_ends, force_on_movable
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.choice import Choice, linear
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import CHAIN_CLASSES, ForceScale, chain_class

CHAIN_COLOURS = ((244, 190, 110), (240, 150, 70), (222, 100, 55), (190, 55, 60), (140, 20, 60))
"""Of the force chains, from the weakest class to the strongest."""
_ARROW = [(0.0, 0.0), (0.03, 0.0), (0.03, 0.72), (0.09, 0.72), (0.0, 1.0)]
"""Radius and height in m of an arrow of length 1 m."""


class ContactMarks:
    """Points coloured by the state of contacts, arrows for their forces, and chains of normal forces."""

    def __init__(self, server: viser.ViserServer, grain: float) -> None:
        none = np.zeros((0, 3), dtype=np.float32)
        scene = server.scene
        self._points = scene.add_point_cloud(
            "/contacts/points", none, (0, 0, 0), point_size=0.15 * grain, point_shape="circle",
            precision="float32", point_shading="flat", visible=False,
        )  # fmt: skip
        vertices, faces = turned(_ARROW, 10)
        self._arrows = scene.add_batched_meshes_simple(
            "/contacts/arrows", vertices, faces, np.zeros((0, 4)), none, batched_scales=np.zeros(0),
            batched_colors=linear(FORCE_COLOUR), lod="off", cast_shadow=False, receive_shadow=False,
            visible=False,
        )  # fmt: skip
        self._chains = [
            scene.add_line_segments(
                f"/contacts/chains/{k}", np.zeros((0, 2, 3)), CHAIN_COLOURS[k],
                thickness=0.6 * grain * (k + 1) / CHAIN_CLASSES, visible=False,
            )
            for k in range(CHAIN_CLASSES)
        ]  # fmt: skip

    def show(self, stage: Stage, snapshot: Snapshot, choice: Choice, scale: ForceScale, arrow: float) -> None:
        """Show the chosen marks; an arrow of the force `scale.top` has the length `arrow`."""
        contacts = snapshot.contacts if choice.look.overlay else None
        some = contacts is not None and len(contacts) > 0
        self._points.visible = some and choice.look.contacts
        self._arrows.visible = some and choice.look.forces
        if contacts is None or not some or not choice.look.chains:
            for chain in self._chains:
                chain.visible = False
        if contacts is None or not some:
            return
        if choice.look.contacts:
            states = contact_states(contacts, contact_friction(contacts, stage.shapes, stage.pairs))
            palette = np.array([CONTACT_COLOURS[state] for state in sorted(CONTACT_COLOURS)], dtype=np.uint8)
            self._points.points = contacts.point.astype(np.float32)
            self._points.colors = palette[states]
        if choice.look.forces:
            force = force_on_movable(contacts, stage.fixed)
            size = np.linalg.norm(force, axis=1)
            pushing = size > LEAST_ARROW * scale.top
            self._arrows.batched_positions = contacts.point[pushing].astype(np.float32)
            self._arrows.batched_wxyzs = along(force[pushing] / size[pushing, None]).astype(np.float32)
            self._arrows.batched_scales = (arrow * size[pushing] / scale.top).astype(np.float32)
            self._arrows.visible = bool(pushing.any())
        if choice.look.chains:
            classes = chain_class(np.einsum("ij,ij->i", contacts.force, contacts.normal), scale.top)
            lines = chain_ends(contacts, stage.fixed, snapshot.position).astype(np.float32)
            for k, chain in enumerate(self._chains):
                here = classes == k
                chain.visible = bool(here.any())
                if chain.visible:
                    chain.points = lines[here]


def along(direction: Floats) -> Floats:
    """Return quaternions (m, 4) that turn the z axis into unit vectors (m, 3)."""
    x, y, z = direction.T
    turn = np.stack([1.0 + z, -y, x, np.zeros_like(x)], axis=1)
    turn[z < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)  # half a turn about x
    return np.asarray(turn / np.linalg.norm(turn, axis=1, keepdims=True))
