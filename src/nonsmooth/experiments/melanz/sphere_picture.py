"""Shaded pictures of spheres, boxes and their container, seen from above the front left corner.

Parallel light, parallel projection, one depth for every pixel: the nearest surface is what is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import BOX, SPHERE
from nonsmooth.model.system import System

if TYPE_CHECKING:
    from nonsmooth.experiments.shared.granular import Snapshot


_TURN, _TILT = np.radians(-62.0), np.radians(18.0)
"""Direction of the eye: angle from +x about z, and height above the horizontal, in rad."""
_LIGHT = np.array([-0.45, 0.65, 0.61])
"""Direction to the light in the picture: right, up, towards the eye."""
_AMBIENT = 0.5
_PIXELS = 640
"""Width of a picture."""
_GREY = np.array([0.72, 0.72, 0.74])
"""Colour of boxes."""


def _axes() -> Floats:
    """Rows: the picture's right, up, and towards the eye, in world coordinates."""
    eye = np.array([np.cos(_TURN) * np.cos(_TILT), np.sin(_TURN) * np.cos(_TILT), np.sin(_TILT)])
    right = np.array([-np.sin(_TURN), np.cos(_TURN), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


@dataclass(frozen=True)
class Scene:
    """What stays the same in all pictures of a run: the view and the container."""

    system: System
    spheres: NDArray[np.int64]
    """Bodies that are spheres; the others that move are boxes."""
    view: tuple[Floats, Floats]
    """Lower left and upper right corner of the picture in m."""
    corners: Floats
    """(2, 4, 2): the container's floor and rim in the picture."""

    @classmethod
    def of(cls, system: System, shots: Sequence[Snapshot]) -> Scene:
        """Choose a view that holds the container and all bodies at all times."""
        axes, moving = _axes(), ~system.fixed
        half = system.position[system.names["right"], 0]
        loose = moving.copy()
        loose[system.joints.table.rows.bodies[system.joints.table.rows.bodies >= 0]] = False
        settled = shots[-1].position[loose, 2].max()
        rim = 1.25 * settled + system.bounding_radius[0]
        square = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        corners = np.stack([np.column_stack([square, np.full(4, z)]) @ axes[:2].T for z in (0.0, rim)])
        table = system.shapes
        outline = [*corners.reshape(-1, 2)]
        for shot in shots:
            place, turn = _pieces(system, shot)
            extent = np.einsum("skj,sj->sk", np.abs(axes[:2] @ turn), table.size[:, :3])
            reach = np.where(table.kind[:, None] == BOX, extent, table.size[:, :1])
            shown = moving[table.body]
            seen = place[shown] @ axes[:2].T
            outline += [(seen - reach[shown]).min(axis=0), (seen + reach[shown]).max(axis=0)]
        points = np.array(outline)
        space = 0.02 * np.ptp(points[:, 0])
        view = points.min(axis=0) - space, points.max(axis=0) + space
        return cls(system, np.unique(table.body[table.kind == SPHERE]).astype(np.int64), view, corners)

    @property
    def back_edges(self) -> list[Floats]:
        """Lines of the container behind the bodies, (points, 2) in m."""
        floor, rim = self.corners
        return [floor[[3, 0]], floor[[2, 3]], np.stack([floor[3], rim[3]]), rim[[2, 3, 0]]]

    @property
    def front_edges(self) -> list[Floats]:
        """Lines of the container before the bodies."""
        floor, rim = self.corners
        upright = [np.stack([floor[corner], rim[corner]]) for corner in (0, 1, 2)]
        return [floor[[0, 1, 2]], rim[[0, 1, 2]], *upright]

    def draw(self, shot: Snapshot, colours: Floats) -> Floats:
        """Return the picture (rows, columns, 4), clear where there is nothing; colours (n, 3) by body."""
        canvas = _Canvas(self.view)
        axes, table = _axes(), self.system.shapes
        place, turn = _pieces(self.system, shot)
        for shape in np.flatnonzero(table.kind == SPHERE):
            canvas.add_sphere(axes @ place[shape], table.size[shape, 0], colours[table.body[shape]])
        for shape in np.flatnonzero(table.kind == BOX):
            canvas.add_box(axes @ place[shape], axes @ turn[shape], table.size[shape, :3], _GREY)
        return canvas.image


def _pieces(system: System, shot: Snapshot) -> tuple[Floats, Floats]:
    """Centres (shapes, 3) in m and axes (shapes, 3, 3) of all shapes in the world."""
    table = system.shapes
    turn = shot.quaternion[table.body]
    place = shot.position[table.body] + quaternions.rotate(turn, table.offset)
    return place, quaternions.matrix(quaternions.product(turn, table.rotation))


class _Canvas:
    """An image with the depth of every pixel; row 0 is at the top."""

    def __init__(self, view: tuple[Floats, Floats]) -> None:
        low, high = view
        self.pixel = float(high[0] - low[0]) / _PIXELS
        rows = round(float(high[1] - low[1]) / self.pixel)
        self.x = low[0] + (np.arange(_PIXELS) + 0.5) * self.pixel
        self.y = high[1] - (np.arange(rows) + 0.5) * self.pixel
        self.image = np.zeros((rows, _PIXELS, 4))
        self.depth = np.full((rows, _PIXELS), -np.inf)

    def _window(self, low: Floats, high: Floats) -> tuple[slice, slice]:
        columns = np.searchsorted(self.x, [low[0], high[0]])
        rows = len(self.y) - np.searchsorted(self.y[::-1], [high[1], low[1]])
        return slice(*rows.tolist()), slice(*columns.tolist())

    def add_sphere(self, centre: Floats, radius: float, colour: Floats) -> None:
        """Draw a sphere; the centre is in (right, up, towards the eye)."""
        window = self._window(centre[:2] - radius, centre[:2] + radius)
        x = (self.x[window[1]] - centre[0])[None, :] / radius
        y = (self.y[window[0]] - centre[1])[:, None] / radius
        squared = 1.0 - x * x - y * y
        z = np.sqrt(np.maximum(squared, 0.0))
        light = np.maximum(_LIGHT[0] * x + _LIGHT[1] * y + _LIGHT[2] * z, 0.0)
        self._paint(window, squared > 0.0, centre[2] + radius * z, light, colour)

    def add_box(self, centre: Floats, turn: Floats, half: Floats, colour: Floats) -> None:
        """Draw the faces of a box that look at the eye; `turn` has its axes in the picture as columns."""
        for axis in range(3):
            out = turn[:, axis] * np.sign(turn[2, axis])
            if out[2] < 1e-9:
                continue
            middle = centre + half[axis] * out
            sides = [(turn[:, other], half[other]) for other in range(3) if other != axis]
            reach = sum(np.abs(side[:2]) * size for side, size in sides)
            window = self._window(middle[:2] - reach, middle[:2] + reach)
            x = (self.x[window[1]] - middle[0])[None, :]
            y = (self.y[window[0]] - middle[1])[:, None]
            z = -(out[0] * x + out[1] * y) / out[2]
            inside = np.ones(z.shape, dtype=bool)
            for side, size in sides:
                inside &= np.abs(side[0] * x + side[1] * y + side[2] * z) <= size
            light = np.full(z.shape, max(float(_LIGHT @ out), 0.0))
            self._paint(window, inside, middle[2] + z, light, colour)

    def _paint(
        self,
        window: tuple[slice, slice],
        inside: NDArray[np.bool_],
        depth: Floats,
        light: Floats,
        colour: Floats,
    ) -> None:
        seen = inside & (depth > self.depth[window])
        self.depth[window][seen] = depth[seen]
        bright = _AMBIENT + (1.0 - _AMBIENT) * light[seen]
        self.image[window][seen] = np.column_stack(
            [np.minimum(bright[:, None] * colour * 1.12, 1.0), np.ones(len(bright))]
        )
