"""A sparse Cholesky factor of N over joint rows, by panels.

A panel is a set of rows that are eliminated together, with what lies below them, stored by columns. The
matrix is weighted, √ρ N √ρ, so that its diagonal is 1 and a pivot has no unit. Rows are numbered in the order
of their elimination.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel

_SMALLEST_PIVOT = 1e-10
"""Of a diagonal of 1. A smaller pivot is rounding, and its row follows from the rows before it: a
thousandth of that lets the impulses of redundant rows grow from step to step."""


class Panels(NamedTuple):
    """Where the numbers of a factor are; panel p's own rows and those below make its height."""

    first: np.ndarray  # (panels + 1,) int64: first row of every panel
    below: np.ndarray  # (panels + 1,) int64: where a panel's part of `index` begins
    index: np.ndarray  # int64: rows below the panel's own, ascending
    entry: np.ndarray  # (panels + 1,) int64: where a panel's numbers begin, (height, own) by columns
    owner: np.ndarray  # (rows,) int64: panel of every row
    marks: np.ndarray  # (4, rows) int64: work space


@kernel
def elimination_tree(start, column, parent, ancestor):
    """Fill in the parent of every node: the first that its elimination changes; −1 for roots (Liu 1986)."""
    for i in range(parent.shape[0]):
        parent[i] = -1
        ancestor[i] = -1
        for e in range(start[i], start[i + 1]):
            k = column[e]
            while k != -1 and k < i:
                following = ancestor[k]
                ancestor[k] = i
                if following == -1:
                    parent[k] = i
                k = following


@kernel
def nodes_below(start, column, parent, seen, filled, begin, below):
    """Count in `filled` the nodes below every node in the factor; write them where `below` has room.

    Node i is below all nodes on the paths from its neighbours up the tree (Liu 1986).
    """
    write = below.shape[0] > 0
    for i in range(parent.shape[0]):
        filled[i] = 0
        seen[i] = i
        for e in range(start[i], start[i + 1]):
            k = column[e]
            while k < i and seen[k] != i:
                if write:
                    below[begin[k] + filled[k]] = i
                filled[k] += 1
                seen[k] = i
                k = parent[k]


@inner_kernel
def _number_rows(panels, p, position):
    """Let `position` say where rows stand in panel p; returns its height."""
    first, end = panels.first[p], panels.first[p + 1]
    for row in range(first, end):
        position[row] = row - first
    height = end - first
    for e in range(panels.below[p], panels.below[p + 1]):
        position[panels.index[e]] = height
        height += 1
    return height


@kernel
def assemble_factored(
    form, panels, blocks, place, root, panel_block, block_start, body_start, body_entry, values
):
    """Fill in √ρ N √ρ for N = AᵀA.

    Blocks of panel p are panel_block[block_start[p]:block_start[p + 1]], numbered within `blocks`, and
    body_entry lists 2 block + side for every body.
    """
    c, position = form.columns, panels.marks[0]
    values[:] = 0.0
    for p in range(block_start.shape[0] - 1):
        height = _number_rows(panels, p, position)
        for at in range(block_start[p], block_start[p + 1]):
            mine = panel_block[at]
            j = blocks[mine]
            for side in range(2):
                body = form.bodies[j, side]
                for e in range(body_start[body], body_start[body + 1]):
                    other, across = body_entry[e] // 2, body_entry[e] % 2
                    i = blocks[other]
                    for b in range(3):
                        column = place[mine, b]
                        if column < 0:
                            break
                        to = panels.entry[p] + (column - panels.first[p]) * height
                        for a in range(3):
                            row = place[other, a]
                            if row < column:  # above the diagonal, or not there
                                continue
                            total = 0.0
                            for k in range(6):
                                total += c[i, across, a, k] * c[j, side, b, k]
                            values[to + position[row]] += root[row] * root[column] * total


@kernel
def assemble_sparse(form, panels, blocks, place, root, panel_block, block_start, within, values):
    """The same for a block-sparse N; `within` is the number of each of its blocks in `blocks`, or −1."""
    position = panels.marks[0]
    values[:] = 0.0
    for p in range(block_start.shape[0] - 1):
        height = _number_rows(panels, p, position)
        for at in range(block_start[p], block_start[p + 1]):
            mine = panel_block[at]
            j = blocks[mine]
            for e in range(form.start[j], form.start[j + 1]):
                other = within[form.column[e]]
                if other < 0:
                    continue
                for b in range(3):
                    column = place[mine, b]
                    if column < 0:
                        break
                    to = panels.entry[p] + (column - panels.first[p]) * height
                    for a in range(3):
                        row = place[other, a]
                        if row >= column:
                            values[to + position[row]] += root[row] * root[column] * form.values[e, b, a]


@kernel
def leave_out(panels, fixed, assembled, values):
    """Copy an assembled matrix, with a row and column of the identity for every fixed row."""
    for p in range(panels.first.shape[0] - 1):
        first, own = panels.first[p], panels.first[p + 1] - panels.first[p]
        rows = panels.below[p + 1] - panels.below[p]
        for j in range(own):
            at = panels.entry[p] + j * (own + rows)
            gone = fixed[first + j]
            for r in range(j, own):
                values[at + r] = 0.0 if gone or fixed[first + r] else assembled[at + r]
            for r in range(rows):
                gone_too = gone or fixed[panels.index[panels.below[p] + r]]
                values[at + own + r] = 0.0 if gone_too else assembled[at + own + r]
            if gone:
                values[at + j] = 1.0


@inner_kernel
def _subtract_panel(panels, values, d, start, p, height, position, work):
    """Take what panel d contributes to panel p; its rows from `start` on are those that reach p.

    Returns where the rows begin that lie beyond p.
    """
    index, own = panels.index, panels.first[d + 1] - panels.first[d]
    last, beyond = panels.below[d + 1], start
    tall, top = own + last - panels.below[d], panels.entry[d] + own - panels.below[d]
    while beyond < last and index[beyond] < panels.first[p + 1]:
        beyond += 1
    for c in range(start, beyond):
        for r in range(c, last):
            work[r - c] = 0.0
        for k in range(own):
            at = top + k * tall
            scale = values[at + c]
            for r in range(c, last):
                work[r - c] += values[at + r] * scale
        to = panels.entry[p] + (index[c] - panels.first[p]) * height
        for r in range(c, last):
            values[to + position[index[r]]] -= work[r - c]
    return beyond


@inner_kernel
def _factorise_panel(values, at, own, height):
    """Cholesky's method on the panel's own rows and what is below.

    A row that follows from the rows before it has a pivot of rounding. It gets its whole diagonal back, so
    that its impulse hardly changes: this is the factor of N with something on that diagonal, and where the
    rows do not contradict each other the answer is the same.
    """
    for j in range(own):
        column = at + j * height
        pivot = values[column + j]
        if not pivot > _SMALLEST_PIVOT:
            pivot = 1.0
        root = math.sqrt(pivot)
        values[column + j] = root
        for r in range(j + 1, height):
            values[column + r] /= root
        for k in range(j + 1, own):
            other = at + k * height
            scale = values[column + k]
            for r in range(k, height):
                values[other + r] -= values[column + r] * scale


@kernel
def factorise(panels, values, work):
    """Overwrite an assembled matrix with its factor L, panel by panel from left to right; work (rows,).

    Panels that wait to be subtracted from panel p are a list: head[p], following[head[p]], …; reached[d] is
    how far panel d has been used (supernodal left-looking, Ng and Peyton 1993).
    """
    position, head, following, reached = panels.marks[0], panels.marks[1], panels.marks[2], panels.marks[3]
    count = panels.first.shape[0] - 1
    for p in range(count):
        head[p] = -1
    for p in range(count):
        height = _number_rows(panels, p, position)
        d = head[p]
        while d >= 0:
            after = following[d]
            reached[d] = _subtract_panel(panels, values, d, reached[d], p, height, position, work)
            if reached[d] < panels.below[d + 1]:
                target = panels.owner[panels.index[reached[d]]]
                following[d], head[target] = head[target], d
            d = after
        _factorise_panel(values, panels.entry[p], panels.first[p + 1] - panels.first[p], height)
        reached[p] = panels.below[p]
        if reached[p] < panels.below[p + 1]:
            target = panels.owner[panels.index[reached[p]]]
            following[p], head[target] = head[target], p


@kernel
def solve(panels, values, b):
    """b ← (L Lᵀ)⁻¹ b."""
    first, below, index, entry = panels.first, panels.below, panels.index, panels.entry
    count = first.shape[0] - 1
    for p in range(count):
        row, own, rows = first[p], first[p + 1] - first[p], below[p + 1] - below[p]
        for j in range(own):
            at = entry[p] + j * (own + rows)
            y = b[row + j] / values[at + j]
            b[row + j] = y
            for r in range(j + 1, own):
                b[row + r] -= values[at + r] * y
            for r in range(rows):
                b[index[below[p] + r]] -= values[at + own + r] * y
    for back in range(count):
        p = count - 1 - back
        row, own, rows = first[p], first[p + 1] - first[p], below[p + 1] - below[p]
        for backward in range(own):
            j = own - 1 - backward
            at = entry[p] + j * (own + rows)
            y = b[row + j]
            for r in range(j + 1, own):
                y -= values[at + r] * b[row + r]
            for r in range(rows):
                y -= values[at + own + r] * b[index[below[p] + r]]
            b[row + j] = y / values[at + j]
