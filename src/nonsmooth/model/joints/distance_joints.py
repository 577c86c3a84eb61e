"""Joints along the line between two points: a rod of fixed length, and a strut of any length."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.base import LineJoint
from nonsmooth.model.joints.placement import Placement, Row


@dataclass(frozen=True, eq=False)
class Distance(LineJoint):
    """A rod without mass: two points keep their distance, one row. Coordinate, to be read: length (m).

    Args:
        length: m; the present distance if not given.
    """

    _: KW_ONLY
    length: float | None = None

    fixed_coordinates = True

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        if self.length is not None and check.number(f"length of {label}", self.length) <= 0.0:
            raise ProblemError(
                f"length of {label} is {self.length:g} m: it must be positive; use a Spherical joint for zero"
            )
        return super().place(system, label)

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [place.distance(place.span if self.length is None else float(self.length))]

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"length": place.distance()}


@dataclass(frozen=True, eq=False)
class Strut(LineJoint):
    """Two points and the length (m) between them, which nothing constrains: for springs, ropes, actuators.

    A rope is a strut with an upper limit. Its bodies can touch each other unless collide is False.
    """

    _: KW_ONLY
    collide: bool = True

    def rows(self, place: Placement) -> list[Row]:
        """Return no rows."""
        return []

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {"length": place.distance()}
