"""Where bodies touch: one row per contact point, as arrays."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices, Integers
from nonsmooth.collision.kernels.closed_forms.pairs import Output
from nonsmooth.collision.kernels.matching import merge

if TYPE_CHECKING:
    from nonsmooth.collision.certificate import ContactCertificate


@dataclass(frozen=True)
class Contacts:
    """c contacts, ordered by (shape a, shape b, feature), each of these three being ascending.

    The normal points from body A to body B; the impulse on B along it is never negative.
    """

    shapes: Indices
    """(c, 2) the two shapes, rows of the system's shape table; the first is the smaller."""
    bodies: Indices
    """(c, 2) their bodies A and B."""
    feature: Integers
    """(c,) which corner, edge or face made the contact: the same number as long as the same ones do."""
    point: Floats
    """(c, 3) midpoint between the two surface points, in the world frame, in m."""
    normal: Floats
    """(c, 3) unit vector from A to B, in the world frame."""
    gap: Floats
    """(c,) distance of the surfaces along the normal in m; negative where they overlap."""
    friction: Floats
    """(c,) friction coefficient of the two materials."""
    restitution: Floats
    """(c,) restitution coefficient of the two materials."""
    certificate: ContactCertificate | None = None
    """What a check of these contacts found; None if there was none."""

    def __len__(self) -> int:
        return len(self.gap)

    @classmethod
    def allocate(cls, count: int) -> Contacts:
        """Rows whose content is not set yet."""
        return cls(
            shapes=np.empty((count, 2), dtype=np.int32),
            bodies=np.empty((count, 2), dtype=np.int32),
            feature=np.empty(count, dtype=np.int64),
            point=np.empty((count, 3)),
            normal=np.empty((count, 3)),
            gap=np.empty(count),
            friction=np.empty(count),
            restitution=np.empty(count),
        )

    @classmethod
    def empty(cls) -> Contacts:
        """No contact."""
        return cls.allocate(0)

    def columns(self) -> tuple[NDArray[Any], ...]:
        """The arrays in the order of the fields."""
        return (
            self.shapes,
            self.bodies,
            self.feature,
            self.point,
            self.normal,
            self.gap,
            self.friction,
            self.restitution,
        )

    def take(self, rows: slice | NDArray[np.intp]) -> Contacts:
        """Some rows; a slice gives views."""
        return Contacts(*[column[rows] for column in self.columns()])  # type: ignore[arg-type]

    def joined(self, other: Contacts) -> Contacts:
        """The rows of both, in the order of a `Contacts`."""
        both = Contacts.allocate(len(self) + len(other))
        merge(Output(*self.columns()), Output(*other.columns()), Output(*both.columns()))
        return both


class Rooms:
    """Arrays for contacts, taken again once nobody holds the contacts that were in them.

    Fresh memory costs more than the contacts that are written to it: the system clears it page by page.
    """

    def __init__(self) -> None:
        self._rooms: list[Contacts] = []
        self._unheld = _holders(Contacts.empty())

    def get(self, count: int) -> Contacts:
        """Rows for at least `count` contacts, whose content is not set."""
        for room in self._rooms:
            if len(room) >= count and _holders(room) == self._unheld:
                return room
        room = Contacts.allocate(count + count // 4)
        # The last step's contacts and this step's are held as a rule: one more is free.
        self._rooms = [*(old for old in self._rooms if len(old) >= count), room][-3:]
        return room


def _holders(contacts: Contacts) -> list[int]:
    """How many references each array has: views of it count."""
    return [sys.getrefcount(column) for column in contacts.columns()]
