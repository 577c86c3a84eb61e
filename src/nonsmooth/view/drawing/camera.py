"""Cameras: perspective, and the choice of a viewpoint from which all bodies are visible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError

Triple = tuple[float, float, float]

FIELD_OF_VIEW = 30.0
"""Field of view of the default camera in degrees, from the lower to the upper edge of the picture."""


class Edges(NamedTuple):
    """Part of a picture that bodies may fill, as fractions of half its width or height."""

    left: float = 0.74
    right: float = 0.74
    up: float = 0.82
    down: float = 0.82


@dataclass(frozen=True)
class View:
    """Direction of a view; the camera computes its distance."""

    azimuth: float = -60.0
    """Direction of the camera from the scene in degrees, about the z axis: 0 is +x, 90 is +y."""
    elevation: float = 25.0
    """Angle in degrees above the horizon, from -90 to 90."""
    zoom: float = 1.0
    """Bodies fill the picture at 1, and are twice as large at 2."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.azimuth):
            raise OptionError(f"azimuth is {self.azimuth}: give an angle in degrees")
        if not -90.0 <= self.elevation <= 90.0:
            raise OptionError(f"elevation is {self.elevation}: give an angle from -90 to 90 degrees")
        if not 0.0 < self.zoom < math.inf:
            raise OptionError(f"zoom is {self.zoom}: give a positive number, such as 2 for twice as large")


@dataclass(frozen=True)
class Camera:
    """A camera at `eye` that looks at `target`; both are in m, world frame."""

    eye: Triple
    target: Triple
    up: Triple = (0.0, 0.0, 1.0)
    """Up direction of the picture, projected perpendicular to the line of sight."""
    field_of_view: float = FIELD_OF_VIEW
    """Degrees from the lower to the upper edge of the picture."""

    def __post_init__(self) -> None:
        if not 0.0 < self.field_of_view < 180.0:
            raise OptionError(f"field_of_view is {self.field_of_view}: give an angle from 0 to 180 degrees")
        sight = np.subtract(self.target, self.eye)
        if not np.linalg.norm(np.cross(sight, self.up)) > 1e-9 * np.linalg.norm(sight):
            raise OptionError(
                f"a camera at {self.eye} that looks at {self.target} has no up direction {self.up}: "
                "move the eye, or choose another up"
            )

    @property
    def axes(self) -> Floats:
        """(3, 3) unit vectors in the world frame as rows: to the right, down, and ahead in the picture."""
        ahead = np.subtract(self.target, self.eye)
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, self.up)
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(ahead, right), ahead])

    def in_sight(self, points: ArrayLike) -> Floats:
        """Return points (..., 3) of the world along the camera's axes from the eye; the third is depth."""
        return np.asarray((np.asarray(points, dtype=np.float64) - self.eye) @ self.axes.T)

    def focal_length(self, height: int) -> float:
        """Return the length in pixels of a line that is as far away as it is long."""
        return 0.5 * height / math.tan(0.5 * math.radians(self.field_of_view))

    def project(self, points: ArrayLike, width: int, height: int) -> Floats:
        """Return the places of points (..., 3) in a picture: x and y in pixels from the upper left corner.

        The middle of the first pixel is (0.5, 0.5). Points must be ahead of the eye.
        """
        seen = self.in_sight(points)
        scale = self.focal_length(height) / seen[..., 2:]
        return np.asarray(np.array([0.5 * width, 0.5 * height]) + scale * seen[..., :2])

    @classmethod
    def framing(
        cls,
        centres: ArrayLike,
        radii: ArrayLike,
        aspect: float,
        view: View | None = None,
        edges: Sequence[Edges] = (Edges(),),
    ) -> Camera:
        """Return the closest camera that shows all balls with `centres` (k, 3) and `radii` (k,) in m.

        `aspect` is width by height of the picture. Of several `edges` those with the nearest camera are
        chosen.
        """
        view = view or View()
        points, reach = np.asarray(centres, dtype=np.float64), np.asarray(radii, dtype=np.float64)
        azimuth, elevation = math.radians(view.azimuth), math.radians(view.elevation)
        back = np.array(
            [
                math.cos(elevation) * math.cos(azimuth),
                math.cos(elevation) * math.sin(azimuth),
                math.sin(elevation),
            ]
        )
        up: Triple = (0.0, 0.0, 1.0)
        if abs(back[2]) > 0.999:  # from straight above or below up is where the camera came from by tilting
            tilt = -math.copysign(1.0, view.elevation)
            up = (tilt * math.cos(azimuth), tilt * math.sin(azimuth), 0.0)
        right, down, ahead = cls((0.0, 0.0, 0.0), tuple(-back), up).axes
        half = math.tan(0.5 * math.radians(FIELD_OF_VIEW))
        ahead_by = points @ ahead
        middle = float(np.mean([np.min(ahead_by), np.max(ahead_by)]))
        best, target, eye = math.inf, np.zeros(3), np.zeros(3)
        for left, right_edge, upper, lower in edges:
            # A ball is inside the edges with the slopes t and −u, seen from the distance d and the shift s,
            # if x − s + r √(1 + t²) ≤ (z + d) t and s − x + r √(1 + u²) ≤ (z + d) u. Both edges touch a ball
            # for the smallest d.
            sides = []
            for axis, *slopes in (
                (right, right_edge * aspect * half, left * aspect * half),
                (down, lower * half, upper * half),
            ):
                across = points @ axis
                plus, minus = (
                    float(np.max(sign * across + reach * math.hypot(1.0, slope) - ahead_by * slope))
                    for sign, slope in zip((1.0, -1.0), slopes, strict=True)
                )
                sides.append((axis, plus, minus, *slopes))
            distance = max((plus + minus) / (t + u) for _, plus, minus, t, u in sides)
            if distance < best:
                best = distance
                # Zoomed from there, the parts beyond opposite edges are equal. Distances are
                # from the plane through the origin; the target is in the middle of the scene.
                away = (distance + middle) / view.zoom
                target = ahead * middle
                for axis, plus, minus, t, u in sides:
                    target = target + axis * 0.5 * (plus - minus + (away - middle) * (u - t))
                eye = target + back * away
        return cls(_triple(eye), _triple(target), up)


def _triple(vector: Floats) -> Triple:
    x, y, z = vector.tolist()
    return x, y, z
