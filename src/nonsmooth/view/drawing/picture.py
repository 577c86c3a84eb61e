"""Pictures of a recorded run at any time: bodies, floor, joints, forces, and legends.

    with Trajectory("run.h5") as trajectory:
        painter = Painter(trajectory, [2.0], Look(colour=ColourBy.FORCE))
        pixels = painter.paint(2.0)  # (height, width, 3)

Between two frames positions and velocities are interpolated linearly, and orientations by normalised linear
interpolation along the shorter rotation; contacts are those of the nearest frame. Frames are read one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth.errors import OptionError
from nonsmooth.io import Trajectory
from nonsmooth.view.drawing.camera import Camera, View
from nonsmooth.view.drawing.colours import (
    AT_REST,
    JOINT_COLOUR,
    ColourBy,
    Colours,
    body_colours,
    body_values,
    scale_colours,
    scale_top,
)
from nonsmooth.view.drawing.contact_glyphs import MARK_COLOURS, Marks
from nonsmooth.view.drawing.geometry import Part, half_space_parts, parts_of, reach_of, skeleton_parts, struts
from nonsmooth.view.drawing.legend import AIR, Key, annotate, free_edges
from nonsmooth.view.drawing.look import Look
from nonsmooth.view.drawing.raster import PLANE_COLOUR, Assembly, Canvas, Layer, Palette, Solids, paled, rods
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.drawing.visible_bounds import bounds_of, outline

_GLASS_OPACITY = 0.22
_HIDING = 0.03
"""Fraction of the pixels of movable bodies that a fixed body hides, above which it is drawn as glass."""
_SAMPLES = 24
"""Number of times of a film used to choose camera and scales."""


class Painter:
    """Draws a recorded run; camera and scales are the same for all of its pictures.

    Args:
        trajectory: the run; it must stay open while pictures are drawn.
        times: of the pictures, in s; camera and scales are chosen for them.
        look: display options.
        view: direction of the view; the camera is placed so that the movable bodies fill the picture.
        camera: an explicit camera in place of `view`.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        times: ArrayLike,
        look: Look | None = None,
        view: View | None = None,
        camera: Camera | None = None,
    ) -> None:
        self.look = look or Look()
        self._trajectory = trajectory
        recorded_span(trajectory)
        self._times = trajectory.times
        self._fixed = trajectory.bodies.fixed
        self._reach = reach_of(trajectory.bodies.bounding_radius, trajectory.joints)
        self._check_recorded()
        samples = self._choose_samples(times)
        parts = self._parts(samples)
        poses = [(snapshot.position, snapshot.quaternion) for snapshot in samples]
        centres, radii = outline(parts, poses, self._fixed, self._reach)
        self._lowest = np.min(centres - radii[:, None], axis=0)
        self._highest = np.max(centres + radii[:, None], axis=0)
        self._centre = 0.5 * (self._lowest + self._highest)
        self._diagonal = float(np.linalg.norm(self._highest - self._lowest))
        self._set_scales(samples)
        self.camera = camera or self._framing(centres, radii, view, samples[0])
        self._assemble(parts, samples[0])
        self._glass = np.zeros(self._owners, dtype=bool)

    def paint(self, time: float) -> Pixels:
        """Return the picture (height, width, 3) of the run at a time in s: red, green, blue."""
        snapshot = self.snapshot(time)
        colours = self._colours(snapshot)
        position, quaternion = snapshot.position, snapshot.quaternion
        canvas = Canvas(self.camera, self.look.width, self.look.height, self._centre, self._diagonal)
        movable = Solids.joined(
            [self._movable.placed(position, quaternion), self._struts(position, quaternion)]
        )
        fixed = self._still.placed(position, quaternion)
        planes = _facing(self._planes.placed(position, quaternion), self.camera)
        base = canvas.layer()
        canvas.draw(base, movable)
        self._find_glass(canvas, base, fixed)
        solid = fixed.owned_by(~self._glass)
        for solids in (planes, solid):
            canvas.draw(base, solids)
        for solids in (movable, solid):
            canvas.cast_shadows(solids)
        palette = self._palette(colours)
        layers = [(canvas.shaded(base, palette), 1.0)]
        if self._glass.any():
            glass = canvas.layer()
            canvas.draw(glass, fixed.owned_by(self._glass))
            # Glass counts only where it is in front.
            glass.owner[glass.nearness < base.nearness] = -1
            layers.append((canvas.shaded(glass, palette), _GLASS_OPACITY))
        keys: list[Key] = []
        if self.look.overlay and snapshot.contacts is not None:
            keys = self._marks.keys(self._pixels(self.camera), snapshot.contacts)
            over = canvas.layer()
            canvas.draw(over, self._marks.solids(snapshot.contacts, position))
            layers.append((canvas.shaded(over, palette, shadows=False), 1.0))
        ramp = paled(scale_colours()) if self.look.overlay else scale_colours()
        return annotate(canvas.finished(layers), snapshot.frame.time, colours, keys, ramp)

    def snapshot(self, time: float) -> Snapshot:
        """Return the run at a time in s within the recording, between frames by interpolation."""
        self._check_time(time)
        times = self._times
        after = int(np.clip(np.searchsorted(times, time), 0, len(times) - 1))
        before = max(after - 1, 0)
        gap = times[after] - times[before]
        share = float(np.clip((time - times[before]) / gap, 0.0, 1.0)) if gap > 0.0 else 1.0
        if share in (0.0, 1.0):
            return Snapshot.of_recording(self._trajectory, after if share else before)
        first, second = (Snapshot.of_recording(self._trajectory, number) for number in (before, after))
        return Snapshot.between(first, second, share, recorded=second if share >= 0.5 else first)

    # ---- once, for all pictures ---------------------------------------------------------------------

    def _check_recorded(self) -> None:
        """Raise if the file lacks data to be drawn."""
        path, fields = self._trajectory.path, self._trajectory.fields
        needed = {"position": "positions are missing", "quaternion": "orientations are missing"}
        if self.look.colour is ColourBy.SPEED:
            needed["linear_velocity"] = "colours by speed need it, colours by body do not"
        if self.look.colour is ColourBy.FORCE or self.look.overlay:
            needed["contacts"] = "forces, chains and contact points need them"
        for name, why in needed.items():
            if name not in fields:
                raise OptionError(f"{name!r} was not recorded in {path}: {why}")

    def _check_time(self, time: float) -> None:
        """Raise for a time before the first or after the last frame, beyond rounding."""
        first, last = float(self._times[0]), float(self._times[-1])
        slack = 1e-9 * max(abs(first), abs(last), 1.0)
        if not first - slack <= time <= last + slack:
            raise OptionError(
                f"time {time:g} s is not in {self._trajectory.path}: "
                f"it was recorded from {first:g} s to {last:g} s"
            )

    def _choose_samples(self, times: ArrayLike) -> list[Snapshot]:
        """Snapshots used to choose camera and scales."""
        wanted = np.asarray(times, dtype=np.float64).reshape(-1)
        if not wanted.size:
            raise OptionError("a picture needs a time: give at least one")
        for time in (wanted.min(), wanted.max()):
            self._check_time(float(time))
        chosen = np.linspace(0, wanted.size - 1, min(wanted.size, _SAMPLES)).round().astype(int)
        return [self.snapshot(float(wanted[at])) for at in chosen]

    def _parts(self, samples: list[Snapshot]) -> list[Part]:
        """All drawn parts of bodies except half-spaces."""
        trajectory = self._trajectory
        boxes = [bounds_of(snapshot.position, self._fixed, self._reach) for snapshot in samples]
        lowest, highest = (np.array(corner) for corner in zip(*boxes, strict=True))
        size = float(np.linalg.norm(highest.max(axis=0) - lowest.min(axis=0)))
        parts = [part for part in parts_of(trajectory.shapes, size) if not part.half_space]
        return parts + skeleton_parts(trajectory.joints, trajectory.shapes, len(self._fixed), size)

    def _set_scales(self, samples: list[Snapshot]) -> None:
        """Ends of the scales of colours and forces."""
        self._scale_top: float | None = None
        if self.look.colour is not ColourBy.BODY:
            values = [
                body_values(self.look.colour, snapshot.frame, snapshot.contacts, len(self._fixed))[
                    ~self._fixed
                ]
                for snapshot in samples
            ]
            least = AT_REST * self._diagonal if self.look.colour is ColourBy.SPEED else 0.0
            self._scale_top = scale_top(np.concatenate(values), least)
        contacts = [snapshot.contacts for snapshot in samples if snapshot.contacts is not None]
        shown = frozenset(name for name in ("forces", "chains", "contacts") if getattr(self.look, name))
        owner = len(self._fixed) + 1
        self._marks = Marks(self._trajectory, contacts, self._reach, self._diagonal, shown, owner)

    def _framing(self, centres: Floats, radii: Floats, view: View | None, first: Snapshot) -> Camera:
        """A camera from which balls (k, 3) and (k,) in m fill the part of the picture without legends."""
        width, height = self.look.width, self.look.height
        # The length of the arrow in the legend depends on the camera, and is largest from near.
        near = Camera.framing(centres, radii, width / height, view, [AIR])
        keys = self._marks.keys(self._pixels(near), first.contacts) if self.look.overlay else []
        edges = free_edges(width, height, self._colours(first), keys)
        return Camera.framing(centres, radii, width / height, view, edges)

    def _pixels(self, camera: Camera) -> float:
        """Pixels per metre in the middle of the scene."""
        return camera.focal_length(self.look.height) / float(camera.in_sight(self._centre)[2])

    def _colours(self, snapshot: Snapshot) -> Colours:
        return body_colours(
            self.look.colour, snapshot.frame, snapshot.contacts, self._fixed, high=self._scale_top
        )

    def _assemble(self, parts: list[Part], first: Snapshot) -> None:
        """Sort the drawn parts: movable, fixed, and half-spaces."""
        count = len(self._fixed)
        position, quaternion = first.position, first.quaternion
        # Without movable bodies, fixed ones hide nothing.
        loose = ~self._fixed | bool(self._fixed.all())

        def moves(part: Part) -> bool:
            return part.joint or part.body < 0 or bool(loose[part.body])

        def owner(part: Part) -> int:
            return count if part.joint else part.body

        movable, still = [p for p in parts if moves(p)], [p for p in parts if not moves(p)]
        planes = half_space_parts(self._trajectory.shapes, position, quaternion, self._lowest, self._highest)
        self._movable = Assembly(movable, [owner(part) for part in movable])
        self._still = Assembly(still, [owner(part) for part in still])
        self._planes = Assembly(planes, [part.body for part in planes])
        self._plane_bodies = np.zeros(count, dtype=bool)
        self._plane_bodies[[part.body for part in planes]] = True
        # After the bodies: joints, and marks of contacts.
        self._extra = np.array([JOINT_COLOUR, *MARK_COLOURS], dtype=np.uint8)
        self._owners = count + len(self._extra)

    # ---- for every picture --------------------------------------------------------------------------

    def _struts(self, position: Floats, quaternion: Floats) -> Solids:
        """Joints drawn as rods between two points."""
        start, end, radius = struts(self._trajectory.joints, position, quaternion, self._diagonal)
        return rods(start, end, radius, len(self._fixed))

    def _palette(self, colours: Colours) -> Palette:
        rgb = np.concatenate([colours.rgb, self._extra])
        plane = np.zeros(self._owners, dtype=bool)
        pale = np.zeros(self._owners, dtype=bool)
        plane[: len(self._plane_bodies)] = self._plane_bodies
        rgb[plane] = PLANE_COLOUR
        if self.look.overlay:
            pale[: len(self._fixed)] = ~self._fixed
        return Palette(rgb, plane, pale)

    def _find_glass(self, canvas: Canvas, movable: Layer, fixed: Solids) -> None:
        """Find fixed bodies in front of movable ones; once drawn as glass, a body stays so in a film."""
        if not (len(fixed.radii) or len(fixed.corners)):
            return
        front = canvas.layer()
        canvas.draw(front, fixed)
        hiding = front.owner[(front.nearness > movable.nearness) & (movable.nearness > 0.0)]
        counts = np.bincount(hiding, minlength=self._owners)
        self._glass |= counts > _HIDING * np.count_nonzero(movable.nearness)


def recorded_span(trajectory: Trajectory) -> tuple[float, float]:
    """Return the times of the first and the last frame in s; a run without frames is an error."""
    if not len(trajectory):
        raise OptionError(f"{trajectory.path} holds no frame: there is nothing to draw")
    times = trajectory.times
    return float(times[0]), float(times[-1])


def _facing(solids: Solids, camera: Camera) -> Solids:
    """Triangles that face the camera: a wall seen from behind is not drawn."""
    sight = solids.corners[:, 0] - np.array(camera.eye)
    facing = np.einsum("ij,ij->i", sight, solids.normals[:, 0]) < 0.0
    return solids.where(np.ones(len(solids.radii), dtype=bool), facing)
