"""Blocks of three: how contacts of 1, 2 or 3 components and joint rows become one array (blocks, 3).

Kernels work on blocks of three components only. A contact with fewer is padded with rows that act on no
body and stay zero; joint rows are grouped three to a block, but a row with a bounded impulse is a
separate block, so that it is solved exactly by clipping at its bounds. `pad` and `unpad` translate
between the user's flat vector (contacts first, then joint rows) and the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.problem.kernels.residuals import BOUNDED, JOINT


@dataclass(frozen=True, eq=False)
class Layout:
    """Sizes of the blocks: `components` of each contact, `joint_groups` rows of each joint block."""

    components: Integers
    joint_groups: Integers
    bounded: NDArray[np.bool_] | None = None
    """True for every joint block that is one row with a bound; None if there are none."""
    slot: Integers = field(init=False)
    """Place of every row of the flat vector in the flattened (blocks, 3) array."""
    contact_rows: int = field(init=False)
    """Number of contact components, which come first in the flat vector."""

    def __post_init__(self) -> None:
        sizes = np.concatenate([self.components, self.joint_groups])
        block = np.repeat(np.arange(len(sizes)), sizes)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else np.zeros(0, dtype=int)
        within = np.arange(len(block)) - np.repeat(first, sizes)
        slot = 3 * block + within
        slot.setflags(write=False)
        object.__setattr__(self, "slot", slot)
        object.__setattr__(self, "contact_rows", int(self.components.sum()))

    @classmethod
    def of_joints(cls, components: Integers, keys: Integers, joint_bounds: Floats) -> Layout:
        """Group consecutive joint rows of equal `keys` (rows, n), at most three to a block.

        Rows with a finite bound, of `joint_bounds` (rows, 2), stay alone.
        """
        bounded = np.asarray(np.isfinite(joint_bounds).any(axis=1))
        if not bounded.any():
            return cls(components, group_rows(keys))
        groups = group_rows(np.column_stack([keys, np.where(bounded, np.arange(len(keys)), -1)]))
        return cls(components, groups, bounded[np.cumsum(groups) - groups])

    @property
    def contacts(self) -> int:
        """Number of contacts, which are the first blocks."""
        return len(self.components)

    @property
    def blocks(self) -> int:
        """Number of blocks: contacts and joint blocks."""
        return len(self.components) + len(self.joint_groups)

    @property
    def rows(self) -> int:
        """Length of the flat vector."""
        return len(self.slot)

    @cached_property
    def block_kind(self) -> NDArray[np.uint8]:
        """0 for contacts, JOINT for joint blocks, BOUNDED for those that are one row with a bound."""
        kind = np.zeros(self.blocks, dtype=np.uint8)
        kind[self.contacts :] = JOINT
        if self.bounded is not None:
            kind[self.contacts :][self.bounded] = BOUNDED
        kind.setflags(write=False)
        return kind

    @cached_property
    def padding(self) -> NDArray[np.bool_]:
        """True in the (blocks, 3) array for padding, where there is no row of the flat vector."""
        mask = np.ones(3 * self.blocks, dtype=bool)
        mask[self.slot] = False
        mask.setflags(write=False)
        return mask.reshape(self.blocks, 3)

    def bounds(self, joint_bounds: Floats) -> tuple[Floats, Floats]:
        """Lower and upper bounds of all impulses, (blocks, 3), from those of the joint rows (rows, 2)."""
        lower, upper = np.full((self.blocks, 3), -np.inf), np.full((self.blocks, 3), np.inf)
        if self.bounded is not None:
            joint = self.slot[self.contact_rows :]
            lower.reshape(-1)[joint], upper.reshape(-1)[joint] = joint_bounds.T
        return lower, upper

    def pad(self, flat: Floats) -> Floats:
        """Spread a flat vector over the blocks."""
        if len(flat) != self.rows:
            raise ValueError(f"a vector has {len(flat)} numbers and the layout has {self.rows} rows")
        if self.rows == 3 * self.blocks:
            return flat.reshape(-1, 3).copy()
        out = np.zeros(3 * self.blocks)
        out[self.slot] = flat
        return out.reshape(self.blocks, 3)

    def unpad(self, blocks: Floats) -> Floats:
        """Collect the flat vector from the blocks."""
        if self.rows == 3 * self.blocks:
            return blocks.reshape(-1).copy()
        return np.asarray(blocks.reshape(-1)[self.slot])


def group_rows(keys: NDArray[np.int64]) -> Integers:
    """Lengths of runs of equal rows of `keys`, cut to three at most."""
    if len(keys) == 0:
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(np.any(keys[1:] != keys[:-1], axis=1)) + 1
    lengths = np.diff(np.concatenate([[0], changes, [len(keys)]]))
    counts = -(-lengths // 3)
    sizes = np.full(counts.sum(), 3, dtype=np.int64)
    sizes[np.cumsum(counts) - 1] = lengths - 3 * (counts - 1)
    return sizes
