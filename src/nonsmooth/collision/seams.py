"""Contacts that are withheld at seams between flush neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.kernels import seams as kernels
from nonsmooth.collision.kernels.closed_forms.pairs import Output
from nonsmooth.collision.narrow_phase import NarrowPhase
from nonsmooth.collision.withheld import SEAM, Withheld
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import HALF_SPACE, SPHERE

_PLANES = 16
"""Largest number of planes of faces that a shape is tested against."""
_OF_MARGIN, _OF_SIZE = 1e-3, 8e-6
"""Largest height of a flush neighbour above a face: fraction of the margin, and of the smaller shape's
diameter. The possible overlap with an edge must not grow with the margin, and the check allows 1e-5 of the
size."""
_BESIDE = 0.02
"""Part of the diameter by which a shape may reach beyond the points where it is held: manifolds leave out
corners that stand out by less."""


def has_seams(table: ShapeTable) -> bool:
    """True if the scene has two shapes with edges, over which a third can slide."""
    return int((~np.isin(table.kind, (SPHERE, HALF_SPACE))).sum()) > 1


class Seams:
    """Finds contacts hidden by a neighbour's face; arrays are reused between calls."""

    def __init__(self, narrow: NarrowPhase, group: NDArray[np.int32], radius: Floats) -> None:
        """Set constant data: shapes of one `group` (s,) do not move relative to each other, and `radius` (s,)
        in m is that of a ball around each shape."""
        self._narrow, self._group = narrow, group
        self._level, self._beside = _OF_SIZE * 2.0 * radius, _BESIDE * 2.0 * radius
        self._first = np.empty(len(narrow.shapes.tags) + 1, dtype=np.int64)
        self._order: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._hidden: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._faces: NDArray[np.int64] = np.empty(_PLANES, dtype=np.int64)

    def withhold(
        self, contacts: Contacts, centre: Floats, axes: Floats, margin: float
    ) -> tuple[Contacts, Withheld]:
        """The contacts to use, and those withheld; `margin` in m as for the detector."""
        count = len(contacts)
        level = np.minimum(self._level, _OF_MARGIN * margin)
        if count > len(self._hidden):
            self._hidden, self._order = np.empty(2 * count, np.int64), np.empty(4 * count, np.int64)
        hidden = self._hidden[:count]
        kernels.list_by_shape(contacts.shapes, self._first, self._order)
        if not kernels.find_hidden(
            Output(*contacts.columns()), self._first, self._order, self._narrow.shapes, self._narrow.hulls,
            centre, axes, kernels.Flush(self._group, level, self._beside), hidden, self._faces,
        ):  # fmt: skip
            return contacts, Withheld.empty()
        withheld = Withheld.of(contacts.take(np.flatnonzero(hidden >= 0)), SEAM)
        return contacts.take(np.flatnonzero(hidden < 0)), withheld
