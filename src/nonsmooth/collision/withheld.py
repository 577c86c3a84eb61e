"""Contacts that are left out, or whose normal is not the best of this moment, on purpose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.model.system import System

SEAM, SWEPT = 1, 2
REASONS = {SEAM: "seam", SWEPT: "swept"}


def led_bodies(system: System) -> NDArray[np.bool_]:
    """Which bodies (n,) are fixed or have joints.

    The point of a swept contact is where it is now on the body that is not among them, else in the middle.
    """
    mask = np.array(system.fixed, dtype=bool)
    pairs = np.asarray(system.joints.table.rows.bodies)
    mask[pairs[pairs >= 0]] = True
    return mask


@dataclass(frozen=True)
class Withheld:
    """w contacts that are withheld, or whose normal is changed, on purpose.

    SEAM: an edge or side that is hidden by a neighbour which the moving shape touches. SWEPT: the contact
    is reported, with the normal of the time of impact and its point taken back, see `led_bodies`.
    """

    shapes: NDArray[np.int32]
    """(w, 2) rows of the shape table, the first is the smaller."""
    reason: NDArray[np.int64]
    """(w,) SEAM or SWEPT."""
    normal: Floats
    """(w, 3) unit vector from the first shape to the second."""
    point: Floats
    """(w, 3) midpoint between the two surface points in m."""
    gap: Floats
    """(w,) in m."""
    part: Floats
    """(w,) part 0…1 of the step until the time of impact; read for SWEPT alone."""

    def __len__(self) -> int:
        return len(self.gap)

    @classmethod
    def empty(cls) -> Withheld:
        """Nothing withheld."""
        return cls(
            np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64), np.empty((0, 3)),
            np.empty((0, 3)), np.empty(0), np.empty(0),
        )  # fmt: skip

    @classmethod
    def of(cls, contacts: Contacts, reason: int, part: Floats | None = None) -> Withheld:
        """Contacts that have one reason."""
        count = len(contacts)
        return cls(
            contacts.shapes, np.full(count, reason), contacts.normal, contacts.point, contacts.gap,
            np.zeros(count) if part is None else part,
        )  # fmt: skip

    def joined(self, other: Withheld) -> Withheld:
        """The rows of both."""
        if len(self) == 0 or len(other) == 0:
            return other if len(self) == 0 else self
        return Withheld(
            np.concatenate([self.shapes, other.shapes]),
            np.concatenate([self.reason, other.reason]),
            np.concatenate([self.normal, other.normal]),
            np.concatenate([self.point, other.point]),
            np.concatenate([self.gap, other.gap]),
            np.concatenate([self.part, other.part]),
        )
