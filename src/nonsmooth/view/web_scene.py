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
from numpy.typing import ArrayLike, NDArray

from nonsmooth.model import quaternions
from nonsmooth.model import shapes as kinds
from nonsmooth.view.camera import FIELD_OF_VIEW, Camera
from nonsmooth.view.colours import (
    CONTACT_COLOURS,
    ColourBy,
    Colours,
    body_colours,
    body_values,
    contact_friction,
    contact_states,
    scale_top,
)
from nonsmooth.view.geometry import (
    Part,
    bounds_of,
    half_space_parts,
    in_sight,
    parts_of,
    skeleton_parts,
    sphere_mesh,
)
from nonsmooth.view.web_lines import edge_mesh, grid_mesh, round_length
from nonsmooth.view.web_picking import pick
from nonsmooth.view.web_stage import Moment, Stage
from nonsmooth.view.web_state import CHAIN_CLASSES, ForceScale, Throttle, chain_class

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]

SELECTED_COLOUR = (255, 45, 160)
ARROW_COLOUR = (196, 49, 38)
CHAIN_COLOURS = ((244, 190, 110), (240, 150, 70), (222, 100, 55), (190, 55, 60), (140, 20, 60))
"""Of the force chains, from the weakest class to the strongest."""
_JOINT_COLOUR = (52, 58, 66)
_PLANE_COLOUR = (226, 230, 236)
_GRID_COLOUR = (160, 168, 180)
_EDGE_COLOUR = (140, 146, 156)

_FINENESS = ((300, 3), (3_000, 2), (100_000, 1))
"""Up to so many spheres each is an icosahedron whose faces are cut so often; beyond, it is not cut."""
_LEAST_SHOWN = 0.01
"""Share of the force scale below which there is no arrow."""
_LINEAR = (255.0 * (np.arange(256) / 255.0) ** 2.2).round().astype(np.uint8)


@dataclass(frozen=True)
class Look:
    """What is to be seen, and how."""

    colour_by: ColourBy = ColourBy.SPEED
    contact_points: bool = False
    force_arrows: bool = False
    force_chains: bool = False
    joints: bool = True
    body_axes: bool = False
    opacity: float = 1.0
    """Of movable bodies, from 0 to 1."""
    fixed_opacity: float = 1.0
    """Of fixed bodies other than half-spaces, from 0 to 1."""
    arrow_length: float = 1.0
    """Arrows are so many times as long as they would be by themselves."""
    selected: int | None = None
    """A body."""

    @property
    def marks(self) -> bool:
        """Whether something of contacts is to be seen."""
        return self.contact_points or self.force_arrows or self.force_chains


@dataclass(frozen=True)
class Shown:
    """What legends need to know about the frame that is seen."""

    colours: Colours
    forces: ForceScale
    arrow_length: float
    """Length in m of an arrow for the force `forces.top`."""
    contacts: int | None
    """How many there are; None if they were not recorded, or not looked at."""


class Scene3D:
    """Shows moments of a run on a viser server."""

    def __init__(self, server: viser.ViserServer, stage: Stage, start: Moment) -> None:
        self._server = server
        self.stage = stage
        low, high = bounds_of(start.position, stage.fixed, stage.reach)
        self.size = float(np.linalg.norm(high - low))
        """Diagonal in m of the box that holds the movable bodies at the start."""
        movable = stage.reach[~stage.fixed & np.isfinite(stage.reach) & (stage.reach > 0.0)]
        self.grain = min(float(np.median(movable)) if movable.size else self.size, 0.5 * self.size)
        """Radius in m of a body of middle size."""
        self._forces = ForceScale()
        self._scale_tops: dict[ColourBy, float] = {}
        server.scene.set_up_direction("+z")
        server.scene.configure_default_lights(cast_shadow=False)  # shadows of thousands of bodies are slow
        self._solids = [part for part in parts_of(stage.shapes, self.size) if not part.half_space]
        self._solids += skeleton_parts(stage.joints, stage.shapes, stage.count, self.size)
        self._batches = _batches(server, stage, self._solids)
        self._planes = _Planes(server, stage)
        self._marks = _ContactMarks(server, min(self.grain, 0.1 * self.size))
        self._axes: viser.BatchedAxesHandle | None = None

    @property
    def encloses(self) -> bool:
        """Whether a fixed body that is no half-space stands around movable ones, and could hide them."""
        solid = {part.body for part in self._solids if part.body >= 0 and not part.joint}
        fixed = [body for body in solid if self.stage.fixed[body]]
        return any(self.stage.reach[body] > 0.4 * self.size for body in fixed)

    def camera(self, moment: Moment, aspect: float) -> Camera:
        """Return the camera that has all movable bodies in sight; `aspect` is width by height."""
        stage = self.stage
        chosen = in_sight(moment.position, stage.fixed, stage.reach)
        if not chosen.any():
            return Camera.framing(np.zeros((1, 3)), np.ones(1), aspect)
        return Camera.framing(moment.position[chosen], stage.reach[chosen] + 0.02 * self.size, aspect)

    def show(self, moment: Moment, look: Look) -> Shown:
        """Show a moment; return what legends say about it."""
        colours = self._colours(moment, look)
        rgb = colours.rgb
        if look.selected is not None:
            rgb = rgb.copy()
            rgb[look.selected] = SELECTED_COLOUR
        contacts = moment.contacts if look.marks else None
        if contacts is not None and len(contacts):
            self._forces = self._forces.including(np.linalg.norm(contacts.force, axis=1))
        arrow = look.arrow_length * min(2.5 * self.grain, 0.2 * self.size)
        with self._server.atomic():
            self._planes.show(moment)
            places = moment.with_ground
            rgb = linear(np.concatenate([rgb, [_JOINT_COLOUR]]))
            for batch in self._batches:
                batch.show(*places, rgb, look)
            self._marks.show(self.stage, moment, look, self._forces, arrow)
            self._show_axes(moment, look.body_axes)
        return Shown(colours, self._forces, arrow, None if contacts is None else len(contacts))

    def pick(self, moment: Moment, origin: Floats, direction: Floats) -> int | None:
        """Return the body that a ray from `origin` along `direction` meets first, if any."""
        parts = [part for part in (*self._solids, *self._planes.parts) if part.body >= 0]
        return pick(parts, moment.position, moment.quaternion, origin, direction)

    def _colours(self, moment: Moment, look: Look) -> Colours:
        """Colours on a scale that grows with what is seen and never shrinks, so that frames compare."""
        by, fixed, frame = look.colour_by, self.stage.fixed, moment.frame
        contacts = moment.contacts if by is ColourBy.FORCE else None
        missing = contacts is None if by is ColourBy.FORCE else frame.linear_velocity is None
        if by is ColourBy.BODY or missing:
            return body_colours(ColourBy.BODY, frame, None, fixed)
        values = body_values(by, frame, contacts, self.stage.count)[~fixed]
        # A body that needs a quarter of an hour to cross the scene is at rest.
        least = 1e-3 * self.size if by is ColourBy.SPEED else 0.0
        top = self._scale_tops.get(by, 0.0)
        if np.any(values > top):
            top = self._scale_tops[by] = max(top, scale_top(values, least))
        return body_colours(by, frame, contacts, fixed, top or scale_top((), least))

    def _show_axes(self, moment: Moment, wanted: bool) -> None:
        if self._axes is not None:
            self._axes.visible = wanted
        if not wanted:
            return
        movable = ~self.stage.fixed
        position, turn = moment.position[movable], moment.quaternion[movable]
        if self._axes is None:
            self._axes = self._server.scene.add_batched_axes(
                "/axes", turn, position, axes_length=1.4 * self.grain, axes_radius=0.03 * self.grain
            )
        self._axes.batched_positions = position.astype(np.float32)
        self._axes.batched_wxyzs = turn.astype(np.float32)


def linear(rgb: ArrayLike) -> Pixels:
    """Return colours (…, 3) of 0 to 255 as viser takes those of instances: in linear light."""
    return np.asarray(_LINEAR[np.asarray(rgb)])


# ---- bodies and joints ------------------------------------------------------------------------------


class _Batch:
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

    def show(self, position: Floats, quaternion: Floats, rgb: Pixels, look: Look) -> None:
        """Move and colour the instances; what has not changed is not sent."""
        if self._joints:
            self._handle.visible = look.joints
            if not look.joints:
                return
        place = position[self._bodies]
        if self._offsets is not None:
            place = place + quaternions.rotate(quaternion[self._bodies], self._offsets)
        for handle in (self._handle, self._edges):
            if handle is not None:
                handle.batched_positions = place.astype(np.float32)
                if not self._spheres:  # nobody sees a sphere turn
                    handle.batched_wxyzs = quaternion[self._bodies].astype(np.float32)
        self._handle.batched_colors = rgb[np.full_like(self._bodies, -1) if self._joints else self._bodies]
        opacity = 1.0 if self._joints else look.fixed_opacity if self._fixed else look.opacity
        self._handle.opacity = None if opacity >= 1.0 else opacity
        chosen = self._bodies == look.selected  # nothing equals None
        glass = opacity < 1.0 and bool(np.any(chosen))
        # These are multiplied with the opacity of all: the selected body stays solid.
        shares = np.where(chosen, 1.0 / opacity, 1.0).astype(np.float32) if glass else None
        self._handle.batched_opacities = shares


def _batches(server: viser.ViserServer, stage: Stage, parts: Sequence[Part]) -> list[_Batch]:
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
        batches.append(_Batch(handle, edges, group, fixed))
    return batches


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

    def show(self, moment: Moment) -> None:
        """Put the pieces where their bodies are."""
        if self._any and self._look_due.due(time.monotonic()):
            low, high = bounds_of(moment.position, self._stage.fixed, self._stage.reach)
            if np.any(low < self._low) or np.any(high > self._high):
                margin = 0.3 * (high - low) if self.parts else 0.0  # so that it does not happen all the time
                self._low = np.minimum(self._low, low - margin)
                self._high = np.maximum(self._high, high + margin)
                self._draw(moment)
        for body, node in self._nodes:
            node.position = moment.position[body]
            node.wxyz = moment.quaternion[body]

    def _draw(self, moment: Moment) -> None:
        scene = self._server.scene
        size = float(np.linalg.norm(self._high - self._low))
        self.parts = half_space_parts(
            self._stage.shapes, moment.position, moment.quaternion, self._low, self._high
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


# ---- contacts and forces ----------------------------------------------------------------------------


class _ContactMarks:
    """Points coloured by what contacts do, arrows for their forces, and chains of normal forces."""

    def __init__(self, server: viser.ViserServer, grain: float) -> None:
        none = np.zeros((0, 3), dtype=np.float32)
        scene = server.scene
        self._points = scene.add_point_cloud(
            "/contacts/points", none, (0, 0, 0), point_size=0.15 * grain, point_shape="circle",
            precision="float32", point_shading="flat", visible=False,
        )  # fmt: skip
        vertices, faces = arrow_mesh()
        self._arrows = scene.add_batched_meshes_simple(
            "/contacts/arrows", vertices, faces, np.zeros((0, 4)), none, batched_scales=np.zeros(0),
            batched_colors=linear(ARROW_COLOUR), lod="off", cast_shadow=False, receive_shadow=False,
            visible=False,
        )  # fmt: skip
        self._chains = [
            scene.add_line_segments(
                f"/contacts/chains/{k}", np.zeros((0, 2, 3)), CHAIN_COLOURS[k],
                thickness=0.6 * grain * (k + 1) / CHAIN_CLASSES, visible=False,
            )
            for k in range(CHAIN_CLASSES)
        ]  # fmt: skip

    def show(self, stage: Stage, moment: Moment, look: Look, scale: ForceScale, arrow: float) -> None:
        """Show what is wanted; an arrow of the force `scale.top` has the length `arrow`."""
        contacts = moment.contacts if look.marks else None
        some = contacts is not None and len(contacts) > 0
        self._points.visible = some and look.contact_points
        self._arrows.visible = some and look.force_arrows
        if contacts is None or not some or not look.force_chains:
            for chain in self._chains:
                chain.visible = False
        if contacts is None or not some:
            return
        if look.contact_points:
            states = contact_states(contacts, contact_friction(contacts, stage.shapes, stage.pairs))
            palette = np.array([CONTACT_COLOURS[state] for state in sorted(CONTACT_COLOURS)], dtype=np.uint8)
            self._points.points = contacts.point.astype(np.float32)
            self._points.colors = palette[states]
        if look.force_arrows:
            force = force_on_movable(stage, moment)
            size = np.linalg.norm(force, axis=1)
            pushing = size > _LEAST_SHOWN * scale.top
            self._arrows.batched_positions = contacts.point[pushing].astype(np.float32)
            self._arrows.batched_wxyzs = along(force[pushing] / size[pushing, None]).astype(np.float32)
            self._arrows.batched_scales = (arrow * size[pushing] / scale.top).astype(np.float32)
            self._arrows.visible = bool(pushing.any())
        if look.force_chains:
            classes = chain_class(np.einsum("ij,ij->i", contacts.force, contacts.normal), scale.top)
            lines = chain_lines(stage, moment).astype(np.float32)
            for k, chain in enumerate(self._chains):
                here = classes == k
                chain.visible = bool(here.any())
                if chain.visible:
                    chain.points = lines[here]


def force_on_movable(stage: Stage, moment: Moment) -> Floats:
    """Return the contact forces (c, 3) in N on body B, or on body A where B is fixed and A is not."""
    contacts = moment.contacts
    assert contacts is not None
    fixed = stage.fixed[contacts.bodies]
    return np.asarray(np.where((fixed[:, 1] & ~fixed[:, 0])[:, None], -contacts.force, contacts.force))


def chain_lines(stage: Stage, moment: Moment) -> Floats:
    """Return the line (c, 2, 3) of every contact between the centres of its bodies.

    A fixed body has no centre that means anything: there the line ends at the contact point.
    """
    contacts = moment.contacts
    assert contacts is not None
    ends = moment.position[contacts.bodies]
    return np.where(stage.fixed[contacts.bodies][..., None], contacts.point[:, None], ends)


def along(direction: Floats) -> Floats:
    """Return quaternions (m, 4) that turn the z axis into unit vectors (m, 3)."""
    x, y, z = direction.T
    turn = np.stack([1.0 + z, -y, x, np.zeros_like(x)], axis=1)
    turn[z < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)  # half a turn about x
    return np.asarray(turn / np.linalg.norm(turn, axis=1, keepdims=True))


def arrow_mesh() -> tuple[Floats, NDArray[np.int32]]:
    """Return an arrow of length 1 m from the origin along z: vertices (v, 3) and faces (f, 3)."""
    profile = ((0.0, 0.0), (0.03, 0.0), (0.03, 0.72), (0.09, 0.72), (0.0, 1.0))
    count = 10
    angles = np.arange(count) * (2.0 * np.pi / count)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(count, z)]) for r, z in profile]
    start = np.arange(count)
    after = (start + 1) % count
    faces = []
    for ring in range(len(profile) - 1):
        a, b = ring * count + start, ring * count + after
        faces += [np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)]
    return np.concatenate(rings), np.concatenate(faces).astype(np.int32)


OPENING = float(np.radians(FIELD_OF_VIEW))
"""Vertical opening of the page's camera in rad: that of pictures, so that both look alike."""
