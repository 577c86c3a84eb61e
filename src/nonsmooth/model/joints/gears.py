"""Couplings of rotations: gears on parallel axes, and fixed ratios about axes of the ground."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints.base import PointJoint
from nonsmooth.model.joints.placement import (
    GROUND,
    Placement,
    Row,
    Z,
    frame_about,
    line,
)

_MESH = 1e-3
"""Allowed gap between pitch circles, relative to the larger radius."""
_COAXIAL = 1e-9
"""Distance of two axles below which they coincide, relative to the larger radius."""


@dataclass(frozen=True, eq=False)
class Gear(PointJoint):
    """Gears on parallel axes, whose pitch circles roll on each other: one row, the arc in m.

    The line of centres may turn, so that the axles can be on a moving carrier (a planetary gear), which
    other joints hold. The row's force is that on the teeth. There is no backlash.

    Bodies, name and collide are those of every `Joint`.

    Args:
        radii: of the pitch circles of A and B in m.
        internal: whether one gear is a ring around the other, so that both turn the same way.
        axis: (3,) unit vector along both axles, world frame; or axis_a and axis_b in the body frames.
        anchor_a: centre of A in A's frame in m; its centre of mass if not given. The ground needs one.
        anchor_b: centre of B in B's frame in m; likewise.
    """

    _: KW_ONLY
    radii: tuple[float, float]
    internal: bool = False

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        for side, radius in zip("ab", self._radii(label), strict=True):
            check.positive(f"the radius of body {side} in {label}", radius, "m")
        if self.point is not None:
            raise ProblemError(f"{label} has two centres: give anchor_a= and anchor_b= instead of point=")
        bodies = self.bodies(system, label)
        anchor = np.array(
            [
                self._centre(label, f"anchor_{side}", body, own)
                for side, body, own in zip("ab", bodies, (self.anchor_a, self.anchor_b), strict=True)
            ]
        )
        frames, centres = self._frames(system, label, bodies), line(system, bodies, anchor)
        for k in range(2):
            z = frames[k, :, Z]
            if float(np.linalg.norm(np.cross(z, centres))) <= _COAXIAL * max(self.radii):
                raise ProblemError(
                    f"the centres of {label} lie on one axis: move one, or use a Coupling for coaxial gears"
                )
            frames[k] = frame_about(centres, z)
        return Placement.of(system, bodies, anchor, frames)

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        a, b = self.radii
        return [place.gear(float(a), -float(b) if self.internal else float(b))]

    def objection(self, apart: Floats, axis: Floats) -> str | None:
        """Return the reason if the pitch circles do not touch, else None."""
        a, b = self.radii
        distance = float(np.linalg.norm(np.cross(axis, apart)))
        wanted = abs(float(a) - float(b)) if self.internal else float(a) + float(b)
        if abs(distance - wanted) <= _MESH * max(self.radii):
            return None
        return (
            f"has axles {distance:.4g} m apart and pitch circles that touch at {wanted:.4g} m: change radii "
            "or anchors, or use a Coupling for a belt"
        )

    def _radii(self, label: str) -> tuple[float, float]:
        if not isinstance(self.radii, tuple | list) or len(self.radii) != 2:
            raise ProblemError(f"radii of {label} is {self.radii!r}: give two numbers in m")
        return self.radii

    @staticmethod
    def _centre(label: str, name: str, body: int, value: ArrayLike | None) -> Floats:
        if value is None:
            if body == GROUND:
                raise ProblemError(f"{label} needs the centre of the gear on the ground: give {name}=")
            return np.zeros(3)
        return check.vector(f"{name} of {label}", value)


@dataclass(frozen=True, eq=False)
class Coupling(PointJoint):
    """θ_A + ratio · θ_B stays zero, for angles about axes fixed in the GROUND: one row, in rad.

    For bevel gears, belts and shafts whose axles do not move. The angles are zero in the
    configuration in which the joint is added.

    Bodies, name and collide are those of every `Joint`; neither is the ground.

    Args:
        ratio: radius of B over that of A; negative if both turn the same way.
        axis: (3,) unit vector along both axles, world frame; or axis_a and axis_b in the body frames.
    """

    _: KW_ONLY
    ratio: float

    def place(self, system: Bodies, label: str) -> Placement:
        """Return where the joint is on its bodies; `label` names it in errors."""
        if check.number(f"ratio of {label}", self.ratio) == 0.0:
            raise ProblemError(f"ratio of {label} is zero, which couples nothing: give another number")
        bodies = self.bodies(system, label)
        if GROUND in bodies:
            raise ProblemError(f"{label} couples two bodies: give both instead of None")
        for name in ("point", "anchor_a", "anchor_b"):
            if getattr(self, name) is not None:
                raise ProblemError(f"{label} has no point of action: omit {name}")
        return Placement.of(system, bodies, np.zeros((2, 3)), self._frames(system, label, bodies))

    def rows(self, place: Placement) -> list[Row]:
        """Return the rows that the joint keeps at zero."""
        return [place.angle_sum(float(self.ratio))]
