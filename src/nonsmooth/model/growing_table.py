"""Arrays that grow by rows in constant time per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingTable:
    """Named columns with a common number of rows; the capacity doubles when it is exhausted."""

    def __init__(self, **columns: tuple[tuple[int, ...], Any]) -> None:
        """Take for each column the shape of a row and the type of its numbers."""
        self.count = 0
        self._room = {name: np.zeros((0, *shape), dtype=kind) for name, (shape, kind) in columns.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a writable view of a column."""
        return self._room[name][: self.count]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._room)

    def frozen(self, name: str) -> NDArray[Any]:
        """Return a read-only view of a column."""
        view = self[name]
        view.flags.writeable = False
        return view

    def append(self, rows: int, **values: Any) -> None:
        """Add rows; a value has one entry for each of them, or is the same for all."""
        new = self.count + rows
        for name, column in self._room.items():
            if new > len(column):
                grown = np.zeros((max(new, 2 * len(column)), *column.shape[1:]), dtype=column.dtype)
                grown[: self.count] = column[: self.count]
                self._room[name] = column = grown
            column[self.count : new] = values[name]
        self.count = new

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Keep the rows where the mask (count,) is True, in their order."""
        self._room = {name: self[name][mask] for name in self._room}
        self.count = int(np.sum(mask))

    def copy(self) -> GrowingTable:
        """Return an independent copy."""
        other = GrowingTable()
        other.count = self.count
        other._room = {name: self[name].copy() for name in self._room}
        return other
