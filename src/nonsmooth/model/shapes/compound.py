"""Several shapes of one body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.base import MassProperties, Piece, Shape


@dataclass(frozen=True)
class Compound(Shape):
    """Several shapes that move as one: `parts` are tuples (shape, position (3,) in m, quaternion (4,)).

    If parts overlap, the mass from a density counts the overlap for each of them.
    """

    parts: tuple[tuple[Shape, Any, Any], ...]

    def __post_init__(self) -> None:
        parts = []
        for number, part in enumerate(self.parts):
            label = f"part {number} of a compound"
            if not isinstance(part, tuple | list) or len(part) != 3 or not isinstance(part[0], Shape):
                raise ProblemError(f"{label} is {part!r}: give (shape, position, orientation)")
            position = check.vector(f"the position of {label}", part[1])
            orientation = check.array(
                f"the orientation of {label}", part[2], (4,), "a quaternion (w, x, y, z)"
            )
            if not np.any(orientation):
                raise ProblemError(f"the orientation of {label} is zero: use (1, 0, 0, 0) for no rotation")
            parts.append((part[0], tuple(position), tuple(quaternions.normalise(orientation))))
        if not parts:
            raise ProblemError("a compound has no parts: give at least one (shape, position, orientation)")
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def volume(self) -> float:
        """Sum of the parts' volumes in m³."""
        return sum(shape.volume for shape, _, _ in self.parts)

    @property
    def without_mass(self) -> str:
        """Why the mass of a part is not known."""
        return next((shape.without_mass for shape, _, _ in self.parts if shape.without_mass), "")

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the parts filled with `density` (kg/m³)."""
        masses, centres, inertias = [], [], []
        for shape, position, orientation in self.parts:
            mass, centre, inertia = shape.mass_properties(density)
            turn = quaternions.matrix(orientation)
            masses.append(mass)
            centres.append(position + turn @ centre)
            inertias.append(turn @ inertia @ turn.T)
        total = sum(masses)
        middle = np.average(centres, axis=0, weights=masses)
        whole = np.zeros((3, 3))
        for mass, centre, inertia in zip(masses, centres, inertias, strict=True):
            arm = centre - middle
            whole += inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return MassProperties(total, middle, 0.5 * (whole + whole.T))

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the parts from a point of the compound's frame."""
        return max(
            shape.reach(quaternions.rotate_back(orientation, point - np.asarray(position)))
            for shape, position, orientation in self.parts
        )

    def pieces(self) -> list[Piece]:
        """Return the primitives of all parts, in the compound's frame."""
        return [
            Piece(
                piece.shape,
                position + quaternions.rotate(orientation, piece.position),
                quaternions.normalise(quaternions.product(orientation, piece.orientation)),
            )
            for shape, position, orientation in self.parts
            for piece in shape.pieces()
        ]
