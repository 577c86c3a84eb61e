"""Matrices in the text format of Siconos: dense, sparse block and sparse.

A matrix is its storage (0 dense, 1 sparse block, 2 sparse), its rows and columns, and then

    dense         rows and columns again, the values by columns
    sparse block  number of blocks, block rows, block columns, cumulative ends of the block rows and of the
                  block columns, length of the row pointer, number of blocks, row pointer, column of each
                  block, then for each block its number and its values by columns
    sparse        origin (1 triplets, 2 compressed columns, 3 compressed rows, 4 triplets of one half of a
                  symmetric matrix), a line that names a version, a line with sizes, then the entries:
                  "i j : x" as triplets, or "col j : locations a to b" and b − a + 1 times "i : x"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.io.problems.number_text import Tokens

DENSE, SPARSE_BLOCK, SPARSE = 0, 1, 2
_TRIPLETS, _COLUMNS, _ROWS, _HALF = 1, 2, 3, 4

_SIZES = re.compile(rb"(\d{1,18})-by-(\d{1,18}),?")
_LONGEST_VERSION = 64
"""Largest number of words in the version line."""


# ---- reading ------------------------------------------------------------------------------------------


def read_matrix(tokens: Tokens, name: str) -> Any:
    """Read one matrix: an array if it is stored dense, else a sparse array. Stored zeros are kept."""
    storage = tokens.integer(f"the storage of {name} (0 dense, 1 sparse block, 2 sparse)", 0, 2)
    # Every row and every column has a number in some vector after the matrix.
    rows = tokens.integer(f"the number of rows of {name}", 0, tokens.left)
    columns = tokens.integer(f"the number of columns of {name}", 0, tokens.left)
    if storage == DENSE:
        return _read_dense(tokens, name, rows, columns)
    if storage == SPARSE_BLOCK:
        return _read_blocks(tokens, name, rows, columns)
    return _read_sparse(tokens, name, rows, columns)


def _read_dense(tokens: Tokens, name: str, rows: int, columns: int) -> Floats:
    tokens.integer(f"the repeated number of rows of {name}", rows, rows)
    tokens.integer(f"the repeated number of columns of {name}", columns, columns)
    values = tokens.numbers(rows * columns, f"the values of {name} ({rows}×{columns})")
    return values.reshape(columns, rows).T


def _read_blocks(tokens: Tokens, name: str, rows: int, columns: int) -> Any:
    count = tokens.integer(f"the number of blocks of {name}", 0, tokens.left)
    block_rows = tokens.integer(f"the number of block rows of {name}", 0, rows)
    block_columns = tokens.integer(f"the number of block columns of {name}", 0, columns)
    row_edges = _read_edges(tokens, f"the ends of the block rows of {name}", block_rows, rows)
    column_edges = _read_edges(tokens, f"the ends of the block columns of {name}", block_columns, columns)
    # Block rows without blocks may be missing at the end of the row pointer.
    pointers = tokens.integer(f"the length of the row pointer of {name}", 1, block_rows + 1)
    tokens.integer(f"the repeated number of blocks of {name}", count, count)
    what = f"the row pointer of {name}"
    pointer = tokens.integers(pointers, what)
    if pointer[0] != 0 or pointer[-1] != count or np.any(pointer[1:] < pointer[:-1]):
        tokens.fail(f"{what} must rise from 0 to {count}, the number of blocks", back=pointers)
    what = f"the column of each block of {name}"
    column = _read_below(tokens, what, count, block_columns)
    row = np.repeat(np.arange(pointers - 1), np.diff(pointer))
    height, width = np.diff(row_edges)[row], np.diff(column_edges)[column]
    if float(height.astype(float) @ width) > tokens.left:  # in floats, which do not overflow
        tokens.fail(f"the values of the blocks of {name} should follow, but the file is too short", back=0)
    size = height * width
    start = np.cumsum(size + 1) - size  # of the values of each block, after its number
    total = int(size.sum()) + count
    values = tokens.numbers(total, f"the blocks of {name} (each its number, then its values)")
    wrong = np.flatnonzero(values[start - 1] != np.arange(count))
    if len(wrong):
        begin = int(start[wrong[0]]) - 1
        tokens.fail(
            f"block {wrong[0]} of {name} must begin with its number, and {values[begin]:g} stands there",
            back=total - begin,
        )
    block = np.repeat(np.arange(count), size)  # of each value
    within = np.arange(len(block)) - np.repeat(np.cumsum(size) - size, size)
    places = (
        row_edges[row[block]] + within % height[block],
        column_edges[column[block]] + within // height[block],
    )
    return sp.csc_array((values[start[block] + within], places), shape=(rows, columns))


def _read_edges(tokens: Tokens, what: str, count: int, size: int) -> Integers:
    """Edges of blocks, from 0 to `size`, whose ends are given in the file."""
    edges = np.concatenate([[0], tokens.integers(count, what)])
    if edges[-1] != size or np.any(edges[1:] <= edges[:-1]):
        tokens.fail(f"{what} must rise to {size}", back=count)
    return edges


def _read_below(tokens: Tokens, what: str, count: int, limit: int) -> Integers:
    values = tokens.integers(count, what)
    at = _first_outside(values, limit)
    if at is not None:
        tokens.fail(f"{what} must be from 0 to {limit - 1}, and is {values[at]}", back=count - at)
    return values


def _first_outside(index: Integers, limit: int) -> int | None:
    """Position of the first index outside 0 to limit − 1."""
    wrong = np.flatnonzero((index < 0) | (index >= limit))
    return int(wrong[0]) if len(wrong) else None


def _read_sparse(tokens: Tokens, name: str, rows: int, columns: int) -> Any:
    origin = tokens.integer(
        f"the origin of {name} (1 triplets, 2 compressed columns, 3 compressed rows, 4 half triplets)", 1, 4
    )
    count = _read_sizes(tokens, name, origin, rows, columns)
    if origin in (_TRIPLETS, _HALF):
        row, column, value = _read_triplets(tokens, name, count, rows, columns)
    elif origin == _COLUMNS:
        row, column, value = _read_compressed(tokens, name, count, columns, rows)
    else:
        column, row, value = _read_compressed(tokens, name, count, rows, columns)
    if origin == _HALF:
        if rows != columns or (np.any(row > column) and np.any(row < column)):
            tokens.fail(f"{name} is stored as half a symmetric matrix, but has entries in both halves")
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        value = np.concatenate([value, value[off]])
    return sp.csc_array((value, (row, column)), shape=(rows, columns))


def _read_sizes(tokens: Tokens, name: str, origin: int, rows: int, columns: int) -> int:
    """Skip the version line and read the line of sizes; return the number of entries."""
    ahead = tokens.ahead(_LONGEST_VERSION)
    found = next((k for k, word in enumerate(ahead) if _SIZES.fullmatch(word)), None)
    if found is None:
        tokens.fail(f"the sizes of {name} ('{rows}-by-{columns}, nzmax: … nnz: …') should follow", back=0)
    before = tokens.take(found, "the version")
    wanted = {_TRIPLETS: (b"triplet:",), _HALF: (b"triplet:",), _ROWS: (b"csr:", b"")}.get(origin, (b"",))
    tag = before[-1] if before and before[-1] in (b"triplet:", b"csr:") else b""
    if tag not in wanted:
        words = (tag.decode(), wanted[0].decode())
        tokens.fail(
            f"the sizes of {name} begin with {words[0]!r}, and its origin {origin} needs {words[1]!r}", back=0
        )
    sizes = _SIZES.fullmatch(tokens.take(1, "sizes")[0])
    assert sizes is not None
    if (int(sizes[1]), int(sizes[2])) != (rows, columns):
        tokens.fail(f"the sizes of {name} must be {rows}-by-{columns}, as said before")
    _expect(tokens, f"the sizes of {name}", b"nzmax:")
    tokens.take(1, f"nzmax of {name}")
    _expect(tokens, f"the sizes of {name}", b"nnz:")
    number = tokens.take(1, f"the number of entries of {name}")[0].rstrip(b",")
    if not (number.isdigit() and len(number) <= 18):
        tokens.fail(f"the number of entries of {name} must be a whole number")
    if tokens.ahead(1) == [b"1-norm:"]:
        tokens.take(2, f"the 1-norm of {name}")
    return int(number)


def _expect(tokens: Tokens, what: str, word: bytes) -> None:
    if tokens.take(1, what)[0] != word:
        tokens.fail(f"{what} must go on with {word.decode()!r}")


def _read_triplets(
    tokens: Tokens, name: str, count: int, rows: int, columns: int
) -> tuple[Integers, Integers, Floats]:
    row, column, value = tokens.records(count, (int, int, b":", float), f"an entry 'i j : x' of {name}")
    for index, limit, what in ((row, rows, "row"), (column, columns, "column")):
        at = _first_outside(index, limit)
        if at is not None:
            tokens.fail(
                f"the {what} of an entry of {name} must be from 0 to {limit - 1}, and is {index[at]}",
                back=4 * (count - at),
            )
    return row, column, value


def _read_compressed(
    tokens: Tokens, name: str, count: int, along: int, across: int
) -> tuple[Integers, Integers, Floats]:
    """Read `along` columns (or rows), with indices below `across` in them: index, column and value."""
    tokens.require(7 * along + 3 * count, f"the {count} entries of {name} in {along} columns or rows")
    index, values = np.empty(count, dtype=np.int64), np.empty(count)
    sizes = np.zeros(along, dtype=np.int64)
    done = 0
    for j in range(along):
        what = f"'col {j} : locations {done} to …' of {name}"
        head = tokens.take(6, what)
        wanted = [b"%d" % j, b":", b"locations", b"%d" % done, b"to"]
        if head[0] not in (b"col", b"row") or head[1:] != wanted:
            tokens.fail(f"{what} should stand here", back=6)
        end = tokens.integer(f"the last location in {what}", done - 1, count - 1) + 1
        if end > done:
            entries = tokens.records(end - done, (int, b":", float), f"an entry 'i : x' of {name}")
            index[done:end], values[done:end] = entries
        sizes[j], done = end - done, end
    if done != count:
        tokens.fail(f"{name} has {done} entries, and {count} were announced")
    column = np.repeat(np.arange(along), sizes)
    at = _first_outside(index, across)
    if at is not None:
        tokens.fail(
            f"the index of an entry of {name} must be from 0 to {across - 1}, and is {index[at]}",
            back=3 * (count - at) + 7 * (along - 1 - int(column[at])),
        )
    return index, column, values


# ---- writing ------------------------------------------------------------------------------------------


def line_of(values: Iterable[float]) -> str:
    """Numbers on one line, each with the digits (17 at most) needed to read the same bits."""
    return " ".join(map(repr, values)) + "\n"


def matrix_lines(matrix: Any, storage: int, row_edges: Integers, column_edges: Integers) -> Iterator[str]:
    """Lines of a matrix (dense or sparse). The edges, from 0 to its sizes, are those of its blocks."""
    rows, columns = matrix.shape
    yield f"{storage}\n{rows}\n{columns}\n"
    if storage == DENSE:
        yield f"{rows}\t{columns}\n"
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        yield from (line_of(column) for column in dense.T.tolist())
    elif storage == SPARSE_BLOCK:
        yield from _block_lines(sp.coo_array(matrix), row_edges, column_edges)
    else:
        entries = sp.coo_array(matrix)
        yield f"{_TRIPLETS}\nCSparse layout, written by nonsmooth\n"
        yield f"triplet: {rows}-by-{columns}, nzmax: {max(entries.nnz, 1)} nnz: {entries.nnz}\n"
        row, column = entries.coords
        for entry in zip(row.tolist(), column.tolist(), entries.data.tolist(), strict=True):
            yield "    {} {} : {!r}\n".format(*entry)


def _block_lines(entries: Any, row_edges: Integers, column_edges: Integers) -> Iterator[str]:
    block_rows, block_columns = len(row_edges) - 1, len(column_edges) - 1
    row, column = entries.coords
    block_row = np.searchsorted(row_edges, row, side="right") - 1
    block_column = np.searchsorted(column_edges, column, side="right") - 1
    keys, block = np.unique(block_row * block_columns + block_column, return_inverse=True)
    in_row, in_column = np.divmod(keys, max(block_columns, 1))
    height = np.diff(row_edges)[in_row]
    size = height * np.diff(column_edges)[in_column]
    end = np.cumsum(size)
    start = end - size
    values = np.zeros(int(size.sum()))
    place = start[block] + (column - column_edges[block_column]) * height[block] + row - row_edges[block_row]
    np.add.at(values, place, entries.data)
    pointer = np.searchsorted(in_row, np.arange(block_rows + 1))
    yield f"{len(keys)}\n{block_rows}\n{block_columns}\n"
    yield line_of(row_edges[1:].tolist()) + line_of(column_edges[1:].tolist())
    yield f"{block_rows + 1}\n{len(keys)}\n" + line_of(pointer.tolist()) + line_of(in_column.tolist())
    for number, (first, last) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        yield f"{number}\n" + line_of(values[first:last].tolist())
