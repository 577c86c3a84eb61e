"""Arrays behind one pointer: kernels read the same as from a tuple."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from nonsmooth._support.jit import kernel
from nonsmooth._support.packed import Packed


class Inner(NamedTuple):
    values: np.ndarray
    numbers: np.ndarray


class Outer(NamedTuple):
    flags: np.ndarray
    inner: Inner
    table: np.ndarray


@kernel
def read_and_write(data, row):
    """A mix of all fields; counts calls in `numbers`."""
    inner = data.inner
    inner.numbers[row] += 1
    total = data.table[row, 1, 2] + inner.values[row, 0] + data.table.shape[1] + len(inner.values)
    return total + (10.0 if data.flags[row] else 0.0)


def outer() -> Outer:
    inner = Inner(np.arange(6.0).reshape(3, 2), np.zeros(3, dtype=np.int32))
    return Outer(np.array([True, False, True]), inner, np.arange(24.0).reshape(3, 2, 4))


def test_kernels_read_and_write_the_tuple_s_own_arrays() -> None:
    plain, packed = outer(), Packed(outer())
    for row in range(3):
        assert read_and_write(plain, row) == read_and_write(packed, row)
    np.testing.assert_array_equal(packed.inner.numbers, [1, 1, 1])
    np.testing.assert_array_equal(packed.table, plain.table)


def test_a_part_is_packed_too() -> None:
    packed = Packed(outer())
    assert isinstance(packed.inner, Packed)
    assert packed.inner.packed_type == Packed(outer().inner).packed_type
    with pytest.raises(AttributeError):
        _ = packed.nothing


def test_arrays_with_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Inner.values is not contiguous"):
        Packed(Inner(np.zeros((4, 4))[:, ::2], np.zeros(3)))
