"""Sparse matrices as FCLib stores them: triplets, compressed columns or compressed rows.

A matrix is a group with the whole numbers `m` (rows), `n` (columns), `nz` (kind), `nzmax` (capacity for
entries) and the arrays `p`, `i` and `x`:

    nz ≥ 0     nz triplets: rows `i`, columns `p`, values `x`; those with the same indices are summed
    nz = −1    compressed columns: rows `i`, values `x`, and column j is the entries p[j] to p[j + 1]
    nz = −2    compressed rows: columns `i`, values `x`, and row j is the entries p[j] to p[j + 1]

Entries come in any order, and zeros may be stored. Arrays may be longer than the part in use. Some programs
store one triangle of a symmetric matrix: `completed` fills in the other on request.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import FileFormatError, OptionError, UnsupportedError
from nonsmooth.io._hdf5 import INTEGERS, Node

Encoding = Literal["triplet", "columns", "rows"]

_KINDS: dict[str, int] = {"triplet": 0, "columns": -1, "rows": -2}
_LARGEST = int(np.iinfo(np.int32).max)


def check_encoding(encoding: str) -> None:
    """Raise if the encoding is unknown."""
    if encoding not in _KINDS:
        raise OptionError(f"encoding is {encoding!r}: it must be one of {', '.join(_KINDS)}")


# ---- writing ------------------------------------------------------------------------------------------


def write_matrix(parent: Any, name: str, matrix: Any, encoding: Encoding) -> None:
    """Write a dense or sparse matrix as the group `name`: sorted entries without duplicates."""
    compressed = sp.csr_array(matrix) if encoding == "rows" else sp.csc_array(matrix)
    compressed.sum_duplicates()
    count = int(compressed.nnz)
    if max(count, *compressed.shape) >= _LARGEST:
        raise UnsupportedError(
            f"{name} is {_size(compressed.shape)} with {count} entries: FCLib counts up to {_LARGEST}; "
            "keep the problem with write_problem"
        )
    if encoding == "triplet":
        entries = compressed.tocoo()
        i, p = entries.coords
        kind = count
    else:
        i, p = compressed.indices, compressed.indptr
        kind = _KINDS[encoding]
    group = parent.create_group(name)
    for part, value in zip(("m", "n", "nz", "nzmax"), (*compressed.shape, kind, count), strict=True):
        write_whole_number(group, part, value)
    group.create_dataset("p", data=p.astype(np.int32))
    group.create_dataset("i", data=i.astype(np.int32))
    group.create_dataset("x", data=compressed.data)


def write_whole_number(group: Any, name: str, value: int) -> None:
    """Write a whole number the way FCLib does: as an array of one."""
    group.create_dataset(name, data=np.array([value], dtype=np.int32))


# ---- reading ------------------------------------------------------------------------------------------


def read_matrix(parent: Node, name: str, shape: tuple[int, int]) -> Any:
    """Read a matrix that must have this shape, known from the lengths of vectors in the file."""
    node = parent.group(name)
    place = f"{node.path}: matrix {parent.prefix + name!r}"
    m, n, kind, room = (read_whole_number(node, part) for part in ("m", "n", "nz", "nzmax"))
    if (m, n) != shape:
        raise FileFormatError(
            f"{place} is declared {_size((m, n))}, and the vectors beside it need {_size(shape)}"
        )
    if kind < -2:
        raise FileFormatError(
            f"{place} has nz = {kind}: it must be a count of triplets, -1 for compressed columns "
            "or -2 for compressed rows"
        )
    p, i, x = (_read_array(node, part) for part in ("p", "i", "x"))
    if kind >= 0:
        count = kind
        _check_lengths(place, count, p=p, i=i, x=x)
    else:
        lines = (n if kind == -1 else m) + 1
        if len(p) != lines:
            raise FileFormatError(f"{place} has {len(p)} pointers in 'p' and must have {lines}")
        if p[0] != 0 or np.any(p[1:] < p[:-1]):
            raise FileFormatError(f"{place} has pointers 'p' that do not rise from 0")
        count = int(p[-1])
        _check_lengths(place, count, i=i, x=x)
    if room < count:
        raise FileFormatError(f"{place} has nzmax = {room} for {count} entries: it must not be smaller")
    i, x = i[:count], x[:count]
    _check_range(place, "i", i, n if kind == -2 else m)
    if kind >= 0:
        p = p[:count]
        _check_range(place, "p", p, n)
        return sp.coo_array((x, (i, p)), shape=shape).tocsc()
    if kind == -1:
        return sp.csc_array((x, i, p), shape=shape)
    return sp.csr_array((x, i, p), shape=shape).tocsc()


def completed(matrix: Any) -> Any:
    """A square matrix that must be symmetric, with its other half if only one triangle is stored."""
    entries = matrix.tocoo()
    entries.eliminate_zeros()
    row, column = entries.coords
    if np.any(row < column) == np.any(row > column):
        return matrix
    return sp.csc_array(matrix + matrix.T - sp.diags_array(matrix.diagonal()))


def read_whole_number(node: Node, name: str) -> int:
    """A dataset that must hold one whole number."""
    found = node.dataset(name, INTEGERS)
    if found.size != 1:
        raise FileFormatError(
            f"{node.path}: dataset {node.prefix + name!r} has the shape {found.shape}: it must be one number"
        )
    node.check_size(name, found)
    return int(found[()].reshape(-1)[0])


def _read_array(node: Node, name: str) -> Any:
    value = node.read(name) if name == "x" else node.read(name, INTEGERS)
    if value.ndim != 1:
        raise FileFormatError(
            f"{node.path}: dataset {node.prefix + name!r} has the shape {value.shape}: it must be one row"
        )
    return value


def _check_lengths(place: str, count: int, **arrays: Any) -> None:
    for name, array in arrays.items():
        if len(array) < count:
            raise FileFormatError(f"{place} has {count} entries, but {name!r} holds {len(array)} numbers")


def _check_range(place: str, name: str, indices: Any, limit: int) -> None:
    bad = np.flatnonzero((indices < 0) | (indices >= limit))
    if len(bad):
        raise FileFormatError(
            f"{place} has {name}[{bad[0]}] = {indices[bad[0]]}: an index must lie between 0 and {limit - 1}"
        )


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} × {shape[1]}"
