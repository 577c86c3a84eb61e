"""Joints at one point: the six lower pairs of kinematics, and the fixed, universal and point joints."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.base import PointJoint, check_one_way
from nonsmooth.model.joints.placement import (
    Placement,
    Row,
    X,
    Y,
    Z,
    completed,
    frame_about,
    perpendicular,
    to_world,
    unit_axis,
)


@dataclass(frozen=True, eq=False)
class Fixed(PointJoint):
    """B moves with A: six rows. The axis only orients the frame of the reaction, and may be omitted."""

    needs_axis = False

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y, Z), *place.locked()]


@dataclass(frozen=True, eq=False)
class Spherical(PointJoint):
    """B turns freely about a point of A: three rows. The axis only orients the frame of the reaction."""

    needs_axis = False

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return place.along(X, Y, Z)


@dataclass(frozen=True, eq=False)
class Revolute(PointJoint):
    """B turns about an axis of A: five rows. Coordinate: angle (rad), zero when the joint is added."""

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y, Z), *place.parallel()]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"angle": place.angle()}


@dataclass(frozen=True, eq=False)
class Prismatic(PointJoint):
    """B slides along an axis of A and does not turn: five rows. Coordinate: position (m) along the axis."""

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y), *place.locked()]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"position": place.along(Z)[0]}


@dataclass(frozen=True, eq=False)
class Cylindrical(PointJoint):
    """B slides along an axis of A and turns about it: four rows.

    Coordinates: angle (rad), position (m) along the axis.
    """

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y), *place.parallel()]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"angle": place.angle(), "position": place.along(Z)[0]}


@dataclass(frozen=True, eq=False)
class Planar(PointJoint):
    """B slides on a plane of A with the axis as normal, and turns about that: three rows.

    Coordinates: x and y (m) along the axes of the joint's frame, angle (rad) about the normal.
    """

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(Z), *place.parallel()]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        x, y = place.along(X, Y)
        return {"x": x, "y": y, "angle": place.angle()}


@dataclass(frozen=True, eq=False)
class Cartesian(PointJoint):
    """B moves along all directions relative to A and does not turn, as on a gantry: three rows.

    Coordinates: x, y and z (m) along the joint's frame. The axis only orients it, and may be omitted.
    """

    needs_axis = False

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return place.locked()

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return dict(zip("xyz", place.along(X, Y, Z), strict=True))


@dataclass(frozen=True, eq=False)
class Screw(PointJoint):
    """B turns about an axis of A and moves along it by `pitch` for every turn: five rows.

    Coordinates: angle (rad), position (m); they are one degree of freedom.

    Args:
        pitch: m for a full turn; positive for a right-handed thread.
    """

    _: KW_ONLY
    pitch: float

    coupled_coordinates = True

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        if check.number(f"pitch of {label}", self.pitch) == 0.0:
            raise ProblemError(f"pitch of {label} is zero: give metres per turn, or use a Revolute joint")
        return super().place(system, label)

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y), *place.parallel(), place.screw(float(self.pitch))]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"angle": place.angle(), "position": place.along(Z)[0]}


@dataclass(frozen=True, eq=False)
class Universal(PointJoint):
    """Hooke's joint: a cross turns about an axis of A and about a perpendicular axis of B: four rows.

    In the world frame, `axis` belongs to A and `second_axis` to B; in the body frames they are axis_a and
    axis_b. z of the joint's frame is A's axis, and x is B's when the joint is added.

    Args:
        second_axis: (3,) unit vector, world frame, perpendicular to `axis`.
    """

    _: KW_ONLY
    second_axis: ArrayLike | None = None

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [*place.along(X, Y, Z), place.across(Z, X)]

    def _frames(self, system: Bodies, label: str, bodies: tuple[int, int]) -> Floats:
        check_one_way(label, "axis", self.axis, axis_a=self.axis_a, axis_b=self.axis_b)
        if (self.axis is None) != (self.second_axis is None):
            raise ProblemError(f"{label} needs two axes in the world frame: give axis= and second_axis=")
        if self.axis is None:
            z = to_world(system, bodies[0], unit_axis(label, "axis_a", self.axis_a))
            x = to_world(system, bodies[1], unit_axis(label, "axis_b", self.axis_b))
            return np.array([completed(z), np.roll(completed(x), 1, axis=1)])
        z, x = unit_axis(label, "axis", self.axis), unit_axis(label, "second_axis", self.second_axis)
        perpendicular(label, z, x)
        frame = frame_about(x, z)
        return np.array([frame, frame])


@dataclass(frozen=True, eq=False)
class PointOnLine(PointJoint):
    """A point of B stays on a line of A along the axis: two rows. Coordinate: position (m) on the line.

    In the body frames, the line goes through anchor_a along axis_a.
    """

    axis_of_a_only = True

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return place.along(X, Y)

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"position": place.along(Z)[0]}


@dataclass(frozen=True, eq=False)
class PointOnPlane(PointJoint):
    """A point of B stays on a plane of A with the axis as normal: one row.

    Coordinates: x and y (m) along the axes of the joint's frame. In the body frames, the plane goes through
    anchor_a across axis_a.
    """

    axis_of_a_only = True

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return place.along(Z)

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        x, y = place.along(X, Y)
        return {"x": x, "y": y}
