"""Contacts that are withheld, or reported with the normal of a later time."""

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
    """Mask (n,) of the bodies that are fixed or have joints.

    The point of a swept contact is moved back with the body outside the mask; else it is in the middle.
    """
    mask = np.array(system.fixed, dtype=bool)
    pairs = np.asarray(system.joints.table.rows.bodies)
    mask[pairs[pairs >= 0]] = True
    return mask


@dataclass(frozen=True)
class Withheld:
    """w contacts that are withheld or whose normal is changed.

    SEAM: an edge or side hidden by a neighbour that the moving shape touches. SWEPT: the contact is
    reported with the normal of the time of impact, and its point is moved back, see `led_bodies`.
    """

    shapes: NDArray[np.int32]
    """(w, 2) rows of the shape table, in ascending order."""
    reason: NDArray[np.int64]
    """(w,) SEAM or SWEPT."""
    normal: Floats
    """(w, 3) unit vector from the first shape to the second."""
    point: Floats
    """(w, 3) midpoint between the two surface points in m."""
    gap: Floats
    """(w,) in m."""
    part: Floats
    """(w,) fraction 0…1 of the step until the time of impact; used for SWEPT only."""

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
        """Contacts with one reason."""
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
