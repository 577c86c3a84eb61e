"""`Joint`: the base class of joints, and the two ways to place them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.placement import (
    GROUND,
    Placement,
    Row,
    completed,
    point_of,
    to_world,
    turned_along,
    unit_axis,
)

Body = int | str | None
"""A body by index or name; None is the ground."""

_COINCIDENT = 1e-12
"""Distance of two anchors below which they coincide, relative to 1 m or to their coordinates."""


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """A joint of bodies `a` and `b`, for `System.add_joint`.

    The joint's frame has its origin at A's anchor, z along the joint's axis, and moves with A. Coordinates
    are those of B relative to A; a positive force on one pushes B in its positive direction. The reaction
    is the force and torque on B at B's anchor.

    Args:
        a: index or name of body A, or None for the ground.
        b: index or name of body B, or None for the ground; one of the two must be able to move.
        name: unique name in the system.
        collide: whether the two bodies can touch each other.
    """

    a: Body
    b: Body
    _: KW_ONLY
    name: str | None = None
    collide: bool = False

    fixed_coordinates: ClassVar[bool] = False
    """Whether the coordinates are read-only, because the joint prescribes them."""
    coupled_coordinates: ClassVar[bool] = False
    """Whether the coordinates are one degree of freedom, so that a driver of one drives all."""

    @classmethod
    def scene_name(cls) -> str:
        """Return the name in scene files: point-on-line for PointOnLine."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    @abstractmethod
    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""

    @abstractmethod
    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""

    def coordinates(self, place: Placement) -> dict[str, Row]:
        """Return the coordinates that can be driven and read, by name."""
        return {}

    def objection(self, apart: Floats, axis: Floats) -> str | None:
        """Return why the joint is impossible in the state at the start of a run; None if it is possible.

        `apart` is the vector from A's anchor to B's in m, `axis` the joint's axis, both (3,) in one frame.
        """
        return None

    def bodies(self, system: Bodies, label: str) -> tuple[int, int]:
        """Return the indices of A and B, −1 for the ground."""
        a, b = self._index(system, label, self.a), self._index(system, label, self.b)
        if a == b:
            which = "the ground" if a == GROUND else system.label(a)
            raise ProblemError(
                f"{label} connects {which} with itself: give two different bodies, or one and None"
            )
        if all(body == GROUND or system.fixed[body] for body in (a, b)):
            pair = " and ".join("the ground" if k == GROUND else system.label(k) for k in (a, b))
            raise ProblemError(f"{label} connects {pair}, and neither can move: one must not be fixed")
        return a, b

    @staticmethod
    def _index(system: Bodies, label: str, body: Body) -> int:
        if body is None:
            return GROUND
        try:
            return system.index(body)
        except ProblemError as error:
            raise ProblemError(f"{label}: {error}") from None


@dataclass(frozen=True, eq=False)
class PointJoint(Joint):
    """A joint at one point, with an axis through it.

    Either `point` and `axis` place the joint in the WORLD frame, closed in the present configuration; or
    `anchor_a`, `anchor_b` and `axis_a`, `axis_b` place it in the BODY frames, to be closed by assembly.

    Args:
        a, b, name, collide: as in `Joint`.
        point: (3,) in m, world frame.
        axis: (3,) unit vector, world frame.
        anchor_a: (3,) in m, frame of A.
        anchor_b: (3,) in m, frame of B.
        axis_a: (3,) unit vector, frame of A.
        axis_b: (3,) unit vector, frame of B.
    """

    _: KW_ONLY
    point: ArrayLike | None = None
    axis: ArrayLike | None = None
    anchor_a: ArrayLike | None = None
    anchor_b: ArrayLike | None = None
    axis_a: ArrayLike | None = None
    axis_b: ArrayLike | None = None

    needs_axis: ClassVar[bool] = True
    """Whether an axis must be given; if it only orients the joint's frame, the default is the world's z."""
    axis_of_a_only: ClassVar[bool] = False
    """Whether the axis belongs to A alone, so that there is no axis_b."""

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        bodies = self.bodies(system, label)
        anchor = self._anchors(system, label, bodies)
        return Placement.of(system, bodies, anchor, self._frames(system, label, bodies))

    def _anchors(self, system: Bodies, label: str, bodies: tuple[int, int]) -> Floats:
        given = [self.anchor_a, self.anchor_b]
        check_one_way(label, "point", self.point, anchor_a=self.anchor_a, anchor_b=self.anchor_b)
        if self.point is None:
            return np.array([_point(label, f"anchor_{k}", v) for k, v in zip("ab", given, strict=True)])
        point = _point(label, "point", self.point)
        return np.array([point_of(system, body, point) for body in bodies])

    def _frames(self, system: Bodies, label: str, bodies: tuple[int, int]) -> Floats:
        """Return the frames (2, 3, 3) of A and B in the world; B's has the angle zero to A's."""
        if self.axis_of_a_only and self.axis_b is not None:
            raise ProblemError(f"the axis of {label} belongs to body a: omit axis_b")
        own = (
            {"axis_a": self.axis_a} if self.axis_of_a_only else {"axis_a": self.axis_a, "axis_b": self.axis_b}
        )
        if not self.needs_axis and self.axis is None and all(axis is None for axis in own.values()):
            return np.array([np.eye(3), np.eye(3)])
        check_one_way(label, "axis", self.axis, **own)
        if self.axis is not None:
            frame = completed(unit_axis(label, "axis", self.axis))
            return np.array([frame, frame])
        frame = completed(to_world(system, bodies[0], unit_axis(label, "axis_a", self.axis_a)))
        if self.axis_of_a_only:
            return np.array([frame, frame])
        z = to_world(system, bodies[1], unit_axis(label, "axis_b", self.axis_b))
        return np.array([frame, turned_along(frame, z)])


@dataclass(frozen=True, eq=False)
class LineJoint(Joint):
    """A joint along the line between two points, one of each body.

    The frame of its reaction is that of the world when the joint is added, and moves with A.

    Args:
        a, b, name, collide: as in `Joint`.
        point_a: (3,) in m, the point of A in the WORLD frame in the present configuration.
        point_b: (3,) in m, the point of B in the WORLD frame in the present configuration.
        anchor_a: (3,) in m, the point of A in A's frame, instead of point_a.
        anchor_b: (3,) in m, the point of B in B's frame, instead of point_b.
    """

    _: KW_ONLY
    point_a: ArrayLike | None = None
    point_b: ArrayLike | None = None
    anchor_a: ArrayLike | None = None
    anchor_b: ArrayLike | None = None

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        bodies = self.bodies(system, label)
        anchor = np.array(
            [
                self._end(system, label, "a", bodies[0], self.point_a, self.anchor_a),
                self._end(system, label, "b", bodies[1], self.point_b, self.anchor_b),
            ]
        )
        placed = Placement.of(system, bodies, anchor, np.array([np.eye(3), np.eye(3)]))
        reach = np.abs(anchor).max() + np.abs(system.position[[k for k in bodies if k != GROUND]]).max()
        if placed.span <= _COINCIDENT * max(1.0, float(reach)):
            raise ProblemError(
                f"the anchors of {label} coincide, so that its line has no direction: move one of them, or "
                "use a Spherical joint"
            )
        return placed

    @staticmethod
    def _end(
        system: Bodies, label: str, side: str, body: int, point: ArrayLike | None, anchor: ArrayLike | None
    ) -> Floats:
        if (point is None) == (anchor is None):
            raise ProblemError(
                f"{label} needs one end on body {side}: give point_{side}= in the world frame, or "
                f"anchor_{side}= in the body's frame"
            )
        if anchor is not None:
            return _point(label, f"anchor_{side}", anchor)
        return point_of(system, body, _point(label, f"point_{side}", point))


def check_one_way(label: str, name: str, common: Any, **own: Any) -> None:
    """Raise unless a point or an axis is given once: in the world frame, or in the bodies' frames."""
    missing = [value is None for value in own.values()]
    if all(missing) if common is not None else not any(missing):
        return
    raise ProblemError(
        f"{label} needs its {name} given one way: {name}= in the world frame, or "
        f"{' and '.join(f'{key}=' for key in own)} in the frame of the body"
    )


def _point(label: str, name: str, value: Any) -> Floats:
    return check.vector(f"{name} of {label}", value)
