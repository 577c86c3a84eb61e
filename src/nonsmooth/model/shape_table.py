"""All shapes of a system as arrays, for collision detection."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model.shapes import Primitive


@dataclass(frozen=True, eq=False)
class ShapeTable:
    """One row per primitive, ordered by body; the arrays are read-only.

    Args:
        body: (s,) the body that carries the shape.
        kind: (s,) `kind` of the shape: SPHERE, HALF_SPACE, BOX, …
        size: (s, 4) in m, `sizes` of the shape: (radius, 0, 0) of a sphere, half extents of a box, (radius,
            half length, 0) of a capsule or cylinder, radii of an ellipsoid; then the rounding.
        offset: (s, 3) origin of the shape's frame in the body frame, in m.
        rotation: (s, 4) unit quaternion from the shape's frame to the body frame.
        material: (s,) number of the material.
        objects: the s shapes.
    """

    body: Indices
    kind: Indices
    size: Floats
    offset: Floats
    rotation: Floats
    material: Indices
    objects: tuple[Primitive, ...]

    def __len__(self) -> int:
        return len(self.body)
