"""Datasets that grow by rows while others read them, written chunk by chunk.

A chunk is written when it is full. If it must be visible earlier, it is written partly filled, overwritten
in place later, and stays uncompressed: a compressed chunk that grows would leave its previous copy in the
file as a hole, at every flush.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError
from nonsmooth.io._hdf5 import FilePath, Node, suspicion, write_text
from nonsmooth.io.runs.compression import FILTERS, RAW, deflated

CHUNK_BYTES = 256 * 1024
"""Size of a chunk in bytes; it holds at least one row."""


class Chunk(NamedTuple):
    """Rows to write: a whole chunk, of which the first rows count if it is not full yet."""

    first: int
    values: NDArray[Any]
    raw: bool


class Column:
    """A growing dataset: rows are appended to a buffer, from which chunks are taken for writing."""

    def __init__(self, dataset: Any) -> None:
        self.name = str(dataset.name).lstrip("/")
        self.rows = len(dataset)
        """Rows in the dataset and appended so far."""
        self._dataset = dataset
        self._length = int(dataset.chunks[0])
        self._compressed = dataset.compression is not None
        self._full: list[Chunk] = []
        self._written = self.rows  # rows taken for writing
        whole = self.rows - self.rows % self._length
        self._raw_chunk = whole if self.rows > whole else -1  # the chunk written before it was full
        self._renew()
        self._buffer[: self.rows - whole] = dataset[whole:]

    def _renew(self) -> None:
        self._buffer = np.zeros(self._dataset.chunks, dtype=self._dataset.dtype)

    def append(self, row: Any) -> int:
        """Add one row; return the number of bytes that now wait for writing because of it."""
        at = self.rows % self._length
        self._buffer[at] = row
        self.rows += 1
        return self._seal() if at + 1 == self._length else 0

    def extend(self, rows: NDArray[Any]) -> int:
        """Add several rows; return the number of bytes that now wait for writing because of them."""
        taken, waiting = 0, 0
        while taken < len(rows):
            at = self.rows % self._length
            count = min(self._length - at, len(rows) - taken)
            self._buffer[at : at + count] = rows[taken : taken + count]
            self.rows += count
            taken += count
            if at + count == self._length:
                waiting += self._seal()
        return waiting

    def _seal(self) -> int:
        first = self.rows - self._length
        self._full.append(Chunk(first, self._buffer, raw=first == self._raw_chunk))
        self._renew()
        return int(self._full[-1].values.nbytes)

    def take(self, *, unfinished: bool) -> list[Chunk]:
        """Return the full chunks for writing, and on request the partly filled one."""
        chunks, self._full = self._full, []
        at = self.rows % self._length
        if unfinished and at and self._written < self.rows:
            self._raw_chunk = self.rows - at
            chunks.append(Chunk(self._raw_chunk, self._buffer.copy(), raw=True))
        if chunks:
            self._written = self.rows if unfinished else chunks[-1].first + self._length
        return chunks

    def write(self, chunks: list[Chunk], rows: int) -> None:
        """Write chunks that were taken when `rows` rows had been appended."""
        if not chunks:
            return
        last = chunks[-1].first + self._length
        self._dataset.resize(min(rows, last), axis=0)
        for chunk in chunks:
            data: Any = chunk.values
            mask = RAW if self._compressed else 0
            if self._compressed and not chunk.raw:
                small = deflated(chunk.values)
                if small is not None:
                    data, mask = small, 0
            _put(self._dataset, chunk.first, data, mask)


def copy_rows(source: Any, target: Any, rows: int, path: FilePath) -> None:
    """Copy the first rows of a dataset in the file `path` to an empty one of the same kind, as chunks."""
    length = source.chunks[0]
    whole = rows - rows % length
    target.resize(rows, axis=0)
    for first in range(0, whole, length):
        with suspicion(path):
            mask, data = source.id.read_direct_chunk(_corner(source, first))
        _put(target, first, data, mask)
    if rows > whole:
        tail = np.zeros(source.chunks, dtype=source.dtype)
        with suspicion(path):
            tail[: rows - whole] = source[whole:rows]
        _put(target, whole, tail, RAW if target.compression is not None else 0)


def _put(dataset: Any, first: int, data: Any, mask: int) -> None:
    dataset.id.write_direct_chunk(_corner(dataset, first), data, mask)


def _corner(dataset: Any, first: int) -> tuple[int, ...]:
    return (first, *(0 for _ in dataset.shape[1:]))


class ColumnKind(NamedTuple):
    """Definition of a column: path in the file, shape and type of a row, unit, rows in a chunk."""

    path: str
    row: tuple[int, ...]
    dtype: Any
    unit: str
    rows: int

    @property
    def chunk_rows(self) -> int:
        """Rows in a chunk: as given, or as many as fit."""
        size = int(np.dtype(self.dtype).itemsize * math.prod(self.row))
        return max(1, min(CHUNK_BYTES // size, self.rows))

    def create(self, file: Any, *, compressed: bool) -> None:
        """Create the empty dataset."""
        node = file.create_dataset(
            self.path,
            shape=(0, *self.row),
            maxshape=(None, *self.row),
            chunks=(self.chunk_rows, *self.row),
            dtype=self.dtype,
            **(FILTERS if compressed else {}),
        )
        write_text(node, unit=self.unit)

    def find(self, root: Node) -> Any:
        """Return the dataset in a file; raises if its layout is wrong."""
        group, name = self.path.split("/")
        kind = np.dtype(self.dtype)
        dataset = root.group(group).dataset(name, ("bytes" if kind.kind == "S" else kind.name,))
        wanted = (self.chunk_rows, *self.row)
        same_type = dataset.dtype.itemsize == kind.itemsize
        if not same_type or dataset.chunks != wanted or dataset.shape[1:] != self.row:
            raise FileFormatError(
                f"{root.path}: dataset {self.path!r} has the shape {dataset.shape}, in chunks "
                f"{dataset.chunks}: its chunks must be {wanted}"
            )
        root.check_size(self.path, dataset, compressed=True)
        return dataset
