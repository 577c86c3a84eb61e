"""Contacts that are left out on purpose, and why: seams between neighbours that lie flush."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision._narrow_kernels import Output
from nonsmooth.collision.contacts import Contacts, Floats
from nonsmooth.collision.kernels import seams as kernels
from nonsmooth.collision.narrow_phase import NarrowPhase
from nonsmooth.collision.withheld import SEAM, Withheld
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import HALF_SPACE, SPHERE

_PLANES = 16
"""Planes of faces that a shape is tested against at most."""


def has_seams(table: ShapeTable) -> bool:
    """True if the scene has two shapes with edges, over which a third can slide."""
    return int((~np.isin(table.kind, (SPHERE, HALF_SPACE))).sum()) > 1


class Seams:
    """Finds contacts that a neighbour's face hides; arrays are kept from call to call."""

    def __init__(self, narrow: NarrowPhase, group: NDArray[np.int32]) -> None:
        """`group` (s,) is the same for shapes that do not move against one another."""
        self._narrow, self._group = narrow, group
        self._first = np.empty(len(narrow.shapes.tags) + 1, dtype=np.int64)
        self._order: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._hidden: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._faces: NDArray[np.int64] = np.empty(_PLANES, dtype=np.int64)

    def withhold(
        self, contacts: Contacts, centre: Floats, axes: Floats, level: float
    ) -> tuple[Contacts, Withheld]:
        """The contacts that count, and those that do not."""
        count = len(contacts)
        if count > len(self._hidden):
            self._hidden, self._order = np.empty(2 * count, np.int64), np.empty(4 * count, np.int64)
        hidden = self._hidden[:count]
        kernels.list_by_shape(contacts.shapes, self._first, self._order)
        if not kernels.find_hidden(
            Output(*contacts.columns()), self._first, self._order, self._narrow.shapes, self._group,
            self._narrow.hulls, centre, axes, level, hidden, self._faces,
        ):  # fmt: skip
            return contacts, Withheld.empty()
        withheld = Withheld.of(contacts.take(np.flatnonzero(hidden >= 0)), SEAM)
        return contacts.take(np.flatnonzero(hidden < 0)), withheld
