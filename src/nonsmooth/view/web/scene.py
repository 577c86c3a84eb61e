"""The 3D scene of the web viewer: bodies as instanced meshes, floors, joints, contacts and forces.

Bodies of the same look are one batch, so that a frame of any number of spheres is an array of positions and
one of colours. All numbers are in m and N.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import viser

from nonsmooth._support.arrays import Floats
from nonsmooth.model import shapes as kinds
from nonsmooth.view.drawing.camera import FIELD_OF_VIEW, Camera
from nonsmooth.view.drawing.colours import (
    AT_REST,
    JOINT_COLOUR,
    ColourBy,
    Colours,
    body_colours,
    body_values,
    scale_top,
)
from nonsmooth.view.drawing.contact_forces import arrow_length
from nonsmooth.view.drawing.geometry import Part, half_space_parts, parts_of, skeleton_parts
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.drawing.visible_bounds import bounds_of, outline
from nonsmooth.view.web.bodies import Struts, batches_of
from nonsmooth.view.web.choice import Choice, linear
from nonsmooth.view.web.lines import grid_mesh, round_length
from nonsmooth.view.web.marks import ContactMarks
from nonsmooth.view.web.picking import pick
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import ForceScale, Throttle

SELECTED_COLOUR = (255, 45, 160)
_PLANE_COLOUR = (226, 230, 236)
_GRID_COLOUR = (160, 168, 180)


@dataclass(frozen=True)
class Shown:
    """Data of the displayed frame for legends."""

    colours: Colours
    forces: ForceScale
    arrow_length: float
    """Length in m of an arrow for the force `forces.top`."""
    contacts: int | None
    """Number of contacts; None if not recorded, or not read."""


class Scene3D:
    """Shows moments of a run on a viser server."""

    def __init__(self, server: viser.ViserServer, stage: Stage, samples: Sequence[Snapshot]) -> None:
        """Take moments of the run that the camera must show, in order of time."""
        self._server = server
        self.stage = stage
        self._samples = [(snapshot.position, snapshot.quaternion) for snapshot in samples]
        lows, highs = zip(
            *(bounds_of(place, stage.fixed, stage.reach) for place, _ in self._samples), strict=True
        )
        self.size = float(np.linalg.norm(np.max(highs, axis=0) - np.min(lows, axis=0)))
        """Diagonal in m of the box that holds the movable bodies at these moments."""
        movable = stage.reach[~stage.fixed & np.isfinite(stage.reach) & (stage.reach > 0.0)]
        self.grain = min(float(np.median(movable)) if movable.size else self.size, 0.5 * self.size)
        """Radius in m of a body of medium size."""
        self._forces = ForceScale()
        self._scale_tops: dict[ColourBy, float] = {}
        server.scene.set_up_direction("+z")
        _light(server)
        self._solids = [part for part in parts_of(stage.shapes, self.size) if not part.half_space]
        self._solids += skeleton_parts(stage.joints, stage.shapes, stage.count, self.size)
        self._batches = batches_of(server, stage, self._solids)
        self._struts = Struts(server, stage, self.size)
        self._planes = _Planes(server, stage)
        self._marks = ContactMarks(server, min(self.grain, 0.1 * self.size))
        self._axes: viser.BatchedAxesHandle | None = None

    @property
    def encloses(self) -> bool:
        """Whether a fixed body that is no half-space stands around movable ones, and could hide them."""
        solid = {part.body for part in self._solids if part.body >= 0 and not part.joint}
        fixed = [body for body in solid if self.stage.fixed[body]]
        return any(self.stage.reach[body] > 0.4 * self.size for body in fixed)

    def camera(self, snapshot: Snapshot, aspect: float) -> Camera:
        """Return the camera that shows the run and this snapshot; `aspect` is width by height."""
        poses = [*self._samples, (snapshot.position, snapshot.quaternion)]
        centres, radii = outline(self._solids, poses, self.stage.fixed, self.stage.reach)
        return Camera.framing(centres, radii + 0.02 * self.size, aspect)

    def show(self, snapshot: Snapshot, choice: Choice) -> Shown:
        """Show a snapshot; return its data for legends."""
        colours = self._colours(snapshot, choice)
        rgb = colours.rgb
        if choice.selected is not None:
            rgb = rgb.copy()
            rgb[choice.selected] = SELECTED_COLOUR
        contacts = snapshot.contacts if choice.look.overlay else None
        if contacts is not None and len(contacts):
            self._forces = self._forces.including(np.linalg.norm(contacts.force, axis=1))
        arrow = choice.arrow_length * arrow_length(self.grain, self.size)
        with self._server.atomic():
            self._planes.show(snapshot)
            places = snapshot.with_ground
            rgb = linear(np.concatenate([rgb, [JOINT_COLOUR]]))
            for batch in self._batches:
                batch.show(*places, rgb, choice)
            self._struts.show(snapshot, choice)
            self._marks.show(self.stage, snapshot, choice, self._forces, arrow)
            self._show_axes(snapshot, choice.body_axes)
        return Shown(colours, self._forces, arrow, None if contacts is None else len(contacts))

    def pick(self, snapshot: Snapshot, origin: Floats, direction: Floats) -> int | None:
        """Return the body that a ray from `origin` along `direction` meets first, if any."""
        parts = [part for part in (*self._solids, *self._planes.parts) if part.body >= 0]
        return pick(parts, snapshot.position, snapshot.quaternion, origin, direction)

    def _colours(self, snapshot: Snapshot, choice: Choice) -> Colours:
        """Colours on a scale that grows with the data and never shrinks, so that frames are comparable."""
        by, fixed, frame = choice.look.colour, self.stage.fixed, snapshot.frame
        contacts = snapshot.contacts if by is ColourBy.FORCE else None
        missing = contacts is None if by is ColourBy.FORCE else frame.linear_velocity is None
        if by is ColourBy.BODY or missing:
            return body_colours(ColourBy.BODY, frame, None, fixed)
        values = body_values(by, frame, contacts, self.stage.count)[~fixed]
        least = AT_REST * self.size if by is ColourBy.SPEED else 0.0
        top = self._scale_tops.get(by, 0.0)
        if np.any(values > top):
            top = self._scale_tops[by] = max(top, scale_top(values, least))
        return body_colours(by, frame, contacts, fixed, top or scale_top((), least))

    def _show_axes(self, snapshot: Snapshot, wanted: bool) -> None:
        if self._axes is not None:
            self._axes.visible = wanted
        if not wanted:
            return
        movable = ~self.stage.fixed
        position, turn = snapshot.position[movable], snapshot.quaternion[movable]
        if self._axes is None:
            self._axes = self._server.scene.add_batched_axes(
                "/axes", turn, position, axes_length=1.4 * self.grain, axes_radius=0.03 * self.grain
            )
        self._axes.batched_positions = position.astype(np.float32)
        self._axes.batched_wxyzs = turn.astype(np.float32)


def _light(server: viser.ViserServer) -> None:
    """Light the scene by a sky and a sun: no environment map and no shadows, which take most of the time."""
    server.scene.configure_default_lights(enabled=False, cast_shadow=False)
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere(
        "/lights/sky", ground_color=(120, 120, 140), intensity=2.4, position=(0.0, 0.0, 1.0)
    )
    server.scene.add_light_directional("/lights/sun", intensity=2.0, position=(1.0, -1.5, 3.5))


class _Planes:
    """Half-spaces: pieces of their surfaces around the bodies, larger ones when bodies leave them."""

    def __init__(self, server: viser.ViserServer, stage: Stage) -> None:
        self._server = server
        self._stage = stage
        self._low, self._high = np.full(3, np.inf), np.full(3, -np.inf)
        self._nodes: list[tuple[int, viser.FrameHandle]] = []
        self._any = bool((stage.shapes.kind == kinds.HALF_SPACE).any())
        self._look_due = Throttle(2.0)  # looking where all bodies are takes longer than moving them
        self.parts: list[Part] = []
        """The pieces, for picking."""

    def show(self, snapshot: Snapshot) -> None:
        """Put the pieces where their bodies are."""
        if self._any and self._look_due.due(time.monotonic()):
            low, high = bounds_of(snapshot.position, self._stage.fixed, self._stage.reach)
            if np.any(low < self._low) or np.any(high > self._high):
                margin = 0.3 * (high - low) if self.parts else 0.0  # not too often
                self._low = np.minimum(self._low, low - margin)
                self._high = np.maximum(self._high, high + margin)
                self._draw(snapshot)
        for body, node in self._nodes:
            node.position = snapshot.position[body]
            node.wxyz = snapshot.quaternion[body]

    def _draw(self, snapshot: Snapshot) -> None:
        scene = self._server.scene
        size = float(np.linalg.norm(self._high - self._low))
        self.parts = half_space_parts(
            self._stage.shapes, snapshot.position, snapshot.quaternion, self._low, self._high
        )
        self._nodes = []
        for number, part in enumerate(self.parts):
            name = f"/planes/{number}"
            self._nodes.append((part.body, scene.add_frame(name, show_axes=False)))
            grid = grid_mesh(part, round_length(size / 8.0), 0.0012 * size)
            surfaces = {"surface": (part.vertices, part.faces), "grid": grid}
            for what, (vertices, faces) in surfaces.items():
                scene.add_mesh_simple(
                    f"{name}/{what}", vertices, faces, flat_shading=True, side="front",
                    color=_PLANE_COLOUR if what == "surface" else _GRID_COLOUR, cast_shadow=False,
                    receive_shadow=False,
                )  # fmt: skip


OPENING = float(np.radians(FIELD_OF_VIEW))
"""Vertical opening of the page's camera in rad: that of pictures, so that both look alike."""
