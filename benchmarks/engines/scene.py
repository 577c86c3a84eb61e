"""The scene that every engine gets, as plain arrays: engines need not have this project installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Filling:
    """Equal spheres and five half-spaces; SI units, gravity along −z."""

    positions: Floats
    """Centres at the start, (spheres, 3) in m; all spheres are at rest."""
    width: float
    """Distance between opposite walls in m; the floor is z = 0."""
    radius: float = 1.0
    mass: float = 1.0
    friction: float = 0.25
    gravity: float = 9.81
    step: float = 0.01

    @property
    def count(self) -> int:
        return len(self.positions)

    @property
    def inertia(self) -> float:
        """Moment of inertia of a solid sphere in kg·m²."""
        return 0.4 * self.mass * self.radius**2

    @property
    def weight(self) -> float:
        """Weight of all spheres in N."""
        return self.count * self.mass * self.gravity

    @property
    def planes(self) -> tuple[Floats, Floats]:
        """Inward normals (5, 3) and a point (5, 3) of the floor and of the walls at −x, +x, −y, +y."""
        normals = np.array([[0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=float)
        points = -0.5 * self.width * normals
        points[0] = 0.0
        return normals, points

    def save(self, path: Path) -> None:
        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> Filling:
        with np.load(path) as data:
            return cls(data["positions"], **{k: float(data[k]) for k in data.files if k != "positions"})
