"""Contacts as arrays, one row per contact point."""

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
    """c contacts in ascending order of (shape a, shape b, feature).

    The normal points from body A to body B; the impulse on B along it is nonnegative.
    """

    shapes: Indices
    """(c, 2) the two shapes, rows of the system's shape table, in ascending order."""
    bodies: Indices
    """(c, 2) their bodies A and B."""
    feature: Integers
    """(c,) identifier of the corner, edge or face in contact, which persists from step to step."""
    point: Floats
    """(c, 3) midpoint between the two surface points, in the world frame, in m."""
    normal: Floats
    """(c, 3) unit vector from A to B, in the world frame."""
    gap: Floats
    """(c,) distance of the surfaces along the normal in m; negative in overlap."""
    friction: Floats
    """(c,) friction coefficient of the two materials."""
    restitution: Floats
    """(c,) restitution coefficient of the two materials."""
    certificate: ContactCertificate | None = None
    """Result of the check of these contacts; None without a check."""

    def __len__(self) -> int:
        return len(self.gap)

    @classmethod
    def allocate(cls, count: int) -> Contacts:
        """Uninitialised rows."""
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

    def copy(self) -> Contacts:
        """The same contacts in arrays of their own, without a certificate."""
        return Contacts(*[column.copy() for column in self.columns()])  # type: ignore[arg-type]

    def joined(self, other: Contacts) -> Contacts:
        """The rows of both, in the order of a `Contacts`."""
        both = Contacts.allocate(len(self) + len(other))
        merge(Output(*self.columns()), Output(*other.columns()), Output(*both.columns()))
        return both


class ContactBuffers:
    """Arrays for contacts, reused as soon as no other object refers to them.

    Fresh memory costs more than writing the contacts, because the operating system clears it page by page.
    """

    def __init__(self) -> None:
        self._rooms: list[Contacts] = []
        self._unheld = _holders(Contacts.empty())

    def get(self, count: int) -> Contacts:
        """Uninitialised rows for at least `count` contacts."""
        for room in self._rooms:
            if len(room) >= count and _holders(room) == self._unheld:
                return room
        room = Contacts.allocate(count + count // 4)
        # Usually the contacts of the previous and of this step are in use: keep one more.
        self._rooms = [*(old for old in self._rooms if len(old) >= count), room][-3:]
        return room


def _holders(contacts: Contacts) -> list[int]:
    """Number of references to each array, including its views."""
    return [sys.getrefcount(column) for column in contacts.columns()]
