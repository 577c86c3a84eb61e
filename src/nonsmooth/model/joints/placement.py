"""`Placement`: the place of a joint on its two bodies, and its possible rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.kernels import rows as kernels

X, Y, Z = 0, 1, 2
"""Axes of a joint's frame: z is the axis of the joint, x and y are perpendicular."""

GROUND = -1
"""Index of the ground, given as `None`."""

_FIRST = np.array([[0, GROUND]])
_FIRST.flags.writeable = False

_UNIT = 1e-6
"""Tolerance on the unit length of an axis."""
_PERPENDICULAR = 1e-6
"""Largest cosine of the angle between two axes that have to be perpendicular."""


@dataclass(frozen=True)
class Row:
    """One row of a joint or one of its coordinates.

    Args:
        kind: one of the kinds of `kernels.rows`.
        anchor: (2, 3) in m, in the frames of A and B.
        direction: (4, 3) unit vectors, two of A and two of B.
        factor: two numbers, whose meaning depends on the kind.
        offset: required value, in its unit.
        unit: "m" or "rad".
    """

    kind: int
    anchor: Floats
    direction: Floats
    factor: tuple[float, float] = (1.0, 0.0)
    offset: float = 0.0
    unit: str = "m"


@dataclass(frozen=True)
class Placement:
    """A joint on its bodies.

    Args:
        bodies: indices of A and B, −1 for the ground.
        anchor: (2, 3) in m, in the bodies' frames.
        frame: (2, 3, 3) in the bodies' frames, with x, y, z as columns. If a joint is closed and its
            angle is zero, both coincide.
        world: (2, 3, 3), the same frames in the world when the joint is added.
        span: distance of the anchors in m when the joint is added.
    """

    bodies: tuple[int, int]
    anchor: Floats
    frame: Floats
    world: Floats
    span: float

    @classmethod
    def of(cls, system: Bodies, bodies: tuple[int, int], anchor: Floats, world: Floats) -> Placement:
        """Place a joint with anchors (2, 3) in the bodies' frames and frames (2, 3, 3) in the world."""
        frame = np.array([to_body(system, body, own.T).T for body, own in zip(bodies, world, strict=True)])
        return cls(bodies, anchor, frame, world, float(np.linalg.norm(line(system, bodies, anchor))))

    def along(self, *axes: int) -> list[Row]:
        """Offsets of B's anchor from A's along axes of A's frame (m)."""
        return [self._row(kernels.POINT, (axis, axis), (axis, axis)) for axis in axes]

    def across(self, axis_a: int, axis_b: int) -> Row:
        """Cosine between an axis of A's frame and one of B's."""
        return self._row(kernels.AXES, (axis_a, axis_a), (axis_b, axis_b), unit="rad")

    def parallel(self) -> list[Row]:
        """B's z axis stays along A's: two rows."""
        return [self.across(X, Z), self.across(Y, Z)]

    def locked(self) -> list[Row]:
        """B's frame keeps the orientation of A's: three rows.

        They also vanish if B is half a turn about an axis, or 120° about a diagonal away, and nowhere else:
        no false orientation is near.
        """
        return [self.across(X, Y), self.across(Y, Z), self.across(Z, X)]

    def angle(self) -> Row:
        """Angle of B relative to A about z, right-handed (rad)."""
        return self._row(kernels.ANGLE, (X, Y), (X, Y), unit="rad")

    def distance(self, length: float = 0.0) -> Row:
        """Distance between the anchors (m), which must be `length`."""
        return self._row(kernels.DISTANCE, (Z, Z), (Z, Z), offset=length)

    def screw(self, pitch: float) -> Row:
        """Displacement of B along z (m), less `pitch` (m) for every turn."""
        return self._row(kernels.SCREW, (X, Y), (X, Y), factor=(1.0, pitch / (2.0 * math.pi)))

    def gear(self, radius_a: float, radius_b: float) -> Row:
        """Arc (m) by which one pitch circle is ahead of the other; a radius is negative for a ring gear."""
        return self._row(kernels.GEAR, (X, Y), (X, Y), factor=(radius_a, radius_b))

    def angle_sum(self, ratio: float) -> Row:
        """Rotation of A about its axis, fixed in the ground, plus `ratio` times that of B (rad)."""
        ground = np.concatenate([own.T[[X, Y]] for own in self.world])
        return Row(kernels.ANGLE_SUM, self.frame[:, :, X], ground, (1.0, ratio), unit="rad")

    def _row(
        self,
        kind: int,
        of_a: tuple[int, int],
        of_b: tuple[int, int],
        *,
        factor: tuple[float, float] = (1.0, 0.0),
        offset: float = 0.0,
        unit: str = "m",
    ) -> Row:
        direction = np.concatenate([self.frame[0].T[list(of_a)], self.frame[1].T[list(of_b)]])
        return Row(kind, self.anchor, direction, factor, offset, unit)


def to_world(system: Bodies, body: int, vector: Floats) -> Floats:
    """Return a vector (3,) of a body's frame, or many (k, 3), in the world frame."""
    return vector.copy() if body == GROUND else vector @ _rotation(system, body).T


def to_body(system: Bodies, body: int, vector: Floats) -> Floats:
    """Return a vector (3,) of the world frame, or many (k, 3), in a body's frame."""
    return vector.copy() if body == GROUND else vector @ _rotation(system, body)


def _rotation(system: Bodies, body: int) -> Floats:
    """Return the rotation matrix of one body by the kernel, which is ten times faster than NumPy."""
    rotation = np.empty((1, 3, 3))
    kernels.set_rotations(_FIRST, system.quaternion[body : body + 1], rotation)
    return np.asarray(rotation[0])


def point_of(system: Bodies, body: int, point: Floats) -> Floats:
    """Return the anchor in a body's frame of a point (m) of the world."""
    return point.copy() if body == GROUND else to_body(system, body, point - system.position[body])


def in_world(system: Bodies, body: int, anchor: Floats) -> Floats:
    """Return the place (m) of a body's anchor in the world."""
    return anchor.copy() if body == GROUND else system.position[body] + to_world(system, body, anchor)


def line(system: Bodies, bodies: tuple[int, int], anchor: Floats) -> Floats:
    """Return the vector (3,) in m from A's anchor to B's in the world."""
    p, q = (in_world(system, body, own) for body, own in zip(bodies, anchor, strict=True))
    return np.asarray(q - p)


def unit_axis(label: str, name: str, value: Any) -> Floats:
    """Return an axis of length one; another length is an error."""
    axis = check.vector(f"{name} of {label}", value)
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        raise ProblemError(f"{name} of {label} is zero: give a unit vector such as (0, 0, 1)")
    if abs(length - 1.0) > _UNIT:
        unit = ", ".join(f"{part:.9g}" for part in axis / length)
        raise ProblemError(f"{name} of {label} has length {length:g}: give the unit vector ({unit})")
    return np.asarray(axis / length)


def perpendicular(label: str, first: Floats, second: Floats) -> None:
    """Raise unless two unit axes of the world are perpendicular."""
    cosine = float(first @ second)
    if abs(cosine) > _PERPENDICULAR:
        angle = math.degrees(math.acos(min(1.0, max(-1.0, cosine))))
        raise ProblemError(
            f"the axes of {label} are {angle:.6g}° apart: give perpendicular ones, or axis_a and "
            "axis_b of an assembly that starts open"
        )


def completed(z: Floats) -> Floats:
    """Return a right-handed frame (3, 3) with `z` as third column; the identity for (0, 0, 1).

    The only branch is the sign (Duff et al., Building an orthonormal basis, revisited, 2017).
    """
    sign = math.copysign(1.0, z[2])
    a = -1.0 / (sign + z[2])
    b = z[0] * z[1] * a
    x = [1.0 + sign * z[0] * z[0] * a, sign * b, -sign * z[0]]
    y = [b, sign + z[1] * z[1] * a, -z[1]]
    return np.array([x, y, z]).T


def frame_about(x: Floats, z: Floats) -> Floats:
    """Return a right-handed frame (3, 3) with the unit vector `z`, and x as close to `x` as possible."""
    across = x - (x @ z) * z
    across = across / np.linalg.norm(across)
    return np.array([across, np.cross(z, across), z]).T


def turned_along(frame: Floats, z: Floats) -> Floats:
    """Return a frame (3, 3) after the shortest turn that brings its z to the unit vector `z`."""
    turn = quaternions.between(frame[:, Z], z)
    return quaternions.rotate(turn, frame.T).T
