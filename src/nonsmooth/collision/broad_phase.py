"""Broad phase: the pairs of shapes whose bounds overlap, in time linear in the number of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.collision.kernels import broad_phase as kernels


class BroadPhase:
    """Finds pairs by a hierarchy of hashed cells; half-spaces are tested against all shapes.

    `group` (s,): shapes of one group are never paired. `half_space` (s,) marks half-spaces.
    Work arrays are reused between calls and grow with the number of pairs.
    """

    def __init__(self, group: Indices, half_space: NDArray[np.bool_]) -> None:
        self._group = group
        self._half_spaces = np.flatnonzero(half_space).astype(np.int32)
        self._bounded = np.flatnonzero(~half_space).astype(np.int32)
        (
            self._level, self._cell, self._bin_count, self._bin_size, self._key, self._table, self._start,
            self._order, self._sorted_bound, self._sorted_key,
        ) = self.make_work()  # fmt: skip
        self._tally = np.empty(len(group) + 1, dtype=np.int32)
        self._pairs = np.empty((8 * len(group) + 64, 2), dtype=np.int32)
        self._scratch = np.empty_like(self._pairs)

    @property
    def of_shapes(self) -> tuple[Indices, Indices, Indices]:
        """The group of every shape, the half-spaces, and the other shapes."""
        return self._group, self._half_spaces, self._bounded

    def make_work(self) -> tuple[NDArray[Any], ...]:
        """New work arrays for the cells."""
        count = len(self._bounded)
        return (
            np.empty(count, dtype=np.int32), np.empty(kernels.LEVELS), np.zeros(kernels.BINS, dtype=np.int32),
            np.zeros(kernels.BINS), np.empty((count, 2), dtype=np.int64),
            np.empty((kernels.LEVELS, 2), dtype=np.int64),
            np.empty(4 * count + 16 * kernels.LEVELS + 1, dtype=np.int32), np.empty(count, dtype=np.int32),
            np.empty((count, 7)), np.empty(count, dtype=np.int64),
        )  # fmt: skip

    def pairs(self, bound: Floats, centre: Floats, axes: Floats) -> Indices:
        """Pairs (p, 2) with a < b, sorted by a, then b; a view that the next call overwrites.

        `bound` (s, 7) holds boxes and balls that include the motion of each shape; the first three columns
        of `centre` and the third column of `axes` (s, 3, 3) give a point and the outward normal of
        half-spaces.
        """
        buckets = kernels.choose_levels(
            bound, self._bounded, self._level, self._cell, self._table, self._bin_count, self._bin_size
        )
        kernels.fill_cells(
            bound,
            self._bounded,
            self._level,
            self._cell,
            self._table,
            buckets,
            self._key,
            self._start,
            self._order,
            self._sorted_bound,
            self._sorted_key,
        )
        found = self._search(bound, centre, axes)
        if found > len(self._pairs):
            self._pairs = np.empty((found + found // 4, 2), dtype=np.int32)
            self._scratch = np.empty_like(self._pairs)
            found = self._search(bound, centre, axes)
        kernels.sort_pairs(self._pairs, found, len(self._group), self._tally, self._scratch)
        return self._pairs[:found]

    def _search(self, bound: Floats, centre: Floats, axes: Floats) -> int:
        """Number of pairs; all are written if the array is large enough."""
        found = kernels.search_half_spaces(
            self._half_spaces, self._bounded, self._group, centre, axes, bound, self._pairs
        )
        return int(
            kernels.search_cells(
                self._bounded,
                self._level,
                self._cell,
                self._table,
                self._group,
                self._start,
                self._order,
                self._sorted_bound,
                self._sorted_key,
                self._pairs,
                found,
            )
        )
