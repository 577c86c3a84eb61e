"""The Delassus operator N = [D G]ᵀ M⁻¹ [D G] on blocks of three rows, in two compiled forms.

`Factored`: N = AᵀA with A = L⁻¹ [D G] and M = L Lᵀ. Each block touches two bodies at most, so its
columns of A are two 6-vectors per component; the product A x is the bodies' mass-weighted velocity
change w = Lᵀ Δv. This is the fast path: N is never formed.

`BlockSparse`: N itself as 3×3 blocks in compressed rows, for problems that come that way and for
masses that are not block-diagonal.

A solver written with `block_velocity` and `add_impulse` runs on both; Numba picks the form by type.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from nonsmooth._support.jit import INLINED_OVERLOAD, allocating_kernel, inlined_kernel, inner_kernel, kernel


class Factored(NamedTuple):
    """A by blocks. Ground is the last body: its columns are zero and its velocity stays zero."""

    bodies: np.ndarray  # (blocks, 2) uint32: unsigned, so that no index is checked for being negative
    columns: np.ndarray  # (blocks, 2, 3, 6)
    body_count: int  # ground included


class BlockSparse(NamedTuple):
    """N by rows of 3×3 blocks."""

    start: np.ndarray  # (blocks + 1,) int32
    column: np.ndarray  # (nonzero,) int32, ascending in each row
    values: np.ndarray  # (nonzero, 3, 3)


def block_velocity(form, i, x, w):
    """Three components of (N x)_i; w is A x for the factored form."""
    raise TypeError("for use in kernels alone")


def add_impulse(form, i, d0, d1, d2, w):
    """Keep w = A x when block i of x grows by (d0, d1, d2)."""
    raise TypeError("for use in kernels alone")


def accumulate(form, x, w):
    """Set w = A x."""
    raise TypeError("for use in kernels alone")


# Elements are read one by one in this file: a view of a row costs a reference count in a hot loop.


@inlined_kernel
def _factored_velocity(form, i, x, w):
    a, b = form.bodies[i, 0], form.bodies[i, 1]
    c = form.columns
    u0 = 0.0
    u1 = 0.0
    u2 = 0.0
    for k in range(6):
        wa, wb = w[a, k], w[b, k]
        u0 += c[i, 0, 0, k] * wa + c[i, 1, 0, k] * wb
        u1 += c[i, 0, 1, k] * wa + c[i, 1, 1, k] * wb
        u2 += c[i, 0, 2, k] * wa + c[i, 1, 2, k] * wb
    return u0, u1, u2


@inlined_kernel
def _factored_add(form, i, d0, d1, d2, w):
    a, b = form.bodies[i, 0], form.bodies[i, 1]
    c = form.columns
    for k in range(6):
        w[a, k] += c[i, 0, 0, k] * d0 + c[i, 0, 1, k] * d1 + c[i, 0, 2, k] * d2
    for k in range(6):
        w[b, k] += c[i, 1, 0, k] * d0 + c[i, 1, 1, k] * d1 + c[i, 1, 2, k] * d2


@inlined_kernel
def _factored_accumulate(form, x, w):
    for i in range(w.shape[0]):
        for k in range(6):
            w[i, k] = 0.0
    for i in range(x.shape[0]):
        _factored_add(form, i, x[i, 0], x[i, 1], x[i, 2], w)


@inlined_kernel
def _sparse_velocity(form, i, x, w):
    u0 = 0.0
    u1 = 0.0
    u2 = 0.0
    v = form.values
    for e in range(form.start[i], form.start[i + 1]):
        j = form.column[e]
        y0, y1, y2 = x[j, 0], x[j, 1], x[j, 2]
        u0 += v[e, 0, 0] * y0 + v[e, 0, 1] * y1 + v[e, 0, 2] * y2
        u1 += v[e, 1, 0] * y0 + v[e, 1, 1] * y1 + v[e, 1, 2] * y2
        u2 += v[e, 2, 0] * y0 + v[e, 2, 1] * y1 + v[e, 2, 2] * y2
    return u0, u1, u2


@inlined_kernel
def _sparse_add(form, i, d0, d1, d2, w):
    return None


@inlined_kernel
def _sparse_accumulate(form, x, w):
    return None


def _is_factored(form):
    return getattr(form, "instance_class", None) is Factored


@overload(block_velocity, jit_options=INLINED_OVERLOAD)
def _block_velocity(form, i, x, w):
    if _is_factored(form):
        return lambda form, i, x, w: _factored_velocity(form, i, x, w)
    return lambda form, i, x, w: _sparse_velocity(form, i, x, w)


@overload(add_impulse, jit_options=INLINED_OVERLOAD)
def _add_impulse(form, i, d0, d1, d2, w):
    if _is_factored(form):
        return lambda form, i, d0, d1, d2, w: _factored_add(form, i, d0, d1, d2, w)
    return lambda form, i, d0, d1, d2, w: _sparse_add(form, i, d0, d1, d2, w)


@overload(accumulate, jit_options=INLINED_OVERLOAD)
def _accumulate(form, x, w):
    if _is_factored(form):
        return lambda form, x, w: _factored_accumulate(form, x, w)
    return lambda form, x, w: _sparse_accumulate(form, x, w)


@inner_kernel
def copy_into(target, source):
    """target ← source for two-dimensional arrays (a slice assignment would allocate)."""
    for i in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[i, k] = source[i, k]


@kernel
def weigh(form, x, w):
    """Set w = A x."""
    accumulate(form, x, w)


@kernel
def apply(form, x, w, out):
    """Set out = N x; w is work space for A x."""
    accumulate(form, x, w)
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = block_velocity(form, i, x, w)


@kernel
def factored_diagonal(form, out):
    """Set out[i] = A_iᵀ A_i, the 3×3 diagonal blocks of N."""
    for i in range(form.columns.shape[0]):
        for p in range(3):
            for q in range(3):
                total = 0.0
                for side in range(2):
                    for k in range(6):
                        total += form.columns[i, side, p, k] * form.columns[i, side, q, k]
                out[i, p, q] = total


@inlined_kernel
def _root(parent, i):
    """Representative of i's set, with the path to it halved."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def factored_islands(form, parent, label):
    """Fill label (blocks,) with a representative coordinate of each block's island, by union and find.

    parent (6 × bodies) starts as 0, 1, 2, …; a block joins the coordinates where its columns are not zero.
    """
    for i in range(form.columns.shape[0]):
        first = -1
        for side in range(2):
            for k in range(6):
                c = form.columns
                if c[i, side, 0, k] == 0.0 and c[i, side, 1, k] == 0.0 and c[i, side, 2, k] == 0.0:
                    continue
                other = _root(parent, np.int64(6 * form.bodies[i, side] + k))
                if first < 0:
                    first = other
                else:
                    parent[max(first, other)] = min(first, other)
                    first = min(first, other)
        label[i] = first
    for i in range(label.shape[0]):
        label[i] = _root(parent, label[i])


@allocating_kernel
def sparse_islands(start, column, island):
    """Fill in the island of every block, 0, 1, …, by union and find over the blocks that N couples."""
    blocks = start.shape[0] - 1
    parent = np.arange(blocks)
    for i in range(blocks):
        for e in range(start[i], start[i + 1]):
            a, b = _root(parent, i), _root(parent, column[e])
            parent[max(a, b)] = min(a, b)
    count = 0
    for i in range(blocks):
        first = _root(parent, i)
        if first == i:
            island[i] = count
            count += 1
        else:
            island[i] = island[first]


@allocating_kernel
def factored_pattern(bodies, body_start, body_blocks, ground, start):
    """Count, into start[1:], the distinct blocks that share a moving body with each block."""
    blocks = bodies.shape[0]
    seen = np.full(blocks, -1, dtype=np.int32)
    start[0] = 0
    for i in range(blocks):
        count = 0
        for side in range(2):
            body = bodies[i, side]
            if body == ground:
                continue
            for entry in range(body_start[body], body_start[body + 1]):
                j = body_blocks[entry]
                if seen[j] != i:
                    seen[j] = i
                    count += 1
        start[i + 1] = start[i] + count


@allocating_kernel
def factored_blocks(form, body_start, body_blocks, ground, start, column, values):
    """Fill the 3×3 blocks of N = AᵀA for the pattern that `factored_pattern` counted."""
    blocks = form.bodies.shape[0]
    for i in range(blocks):
        filled = start[i]
        for side in range(2):
            body = form.bodies[i, side]
            if body == ground:
                continue
            for entry in range(body_start[body], body_start[body + 1]):
                j = body_blocks[entry]
                place = -1
                for k in range(start[i], filled):
                    if column[k] == j:
                        place = k
                if place < 0:
                    place = filled
                    filled += 1
                    column[place] = j
                    values[place] = 0.0
                for other in range(2):
                    if form.bodies[j, other] != body:
                        continue
                    for p in range(3):
                        for q in range(3):
                            total = 0.0
                            for k in range(6):
                                total += form.columns[i, side, p, k] * form.columns[j, other, q, k]
                            values[place, p, q] += total
        order = np.argsort(column[start[i] : filled])
        column[start[i] : filled] = column[start[i] : filled][order]
        values[start[i] : filled] = values[start[i] : filled][order]
