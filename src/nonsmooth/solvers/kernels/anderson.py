"""Anderson acceleration (type II) of p ← p + f(p): the mixture of past points whose f is smallest."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel

KEPT, ROW, STARTED = range(3)
"""Entries of `Mixture.place`."""
_GROWTH = 2.0
"""The acceleration restarts when a change exceeds the smallest since its start by this factor."""
_GRAM_SHIFT = 1e-12
"""Fraction of the trace added to the normal equations, whose columns may be parallel."""


class Mixture(NamedTuple):
    """Past points, (depth, blocks, 3), in a ring; none are combined if the depth is 0.

    There may be room for more blocks than there are.
    """

    changes: np.ndarray
    values: np.ndarray
    last: np.ndarray  # (2, blocks, 3)
    gram: np.ndarray  # (depth, depth)
    matrix: np.ndarray  # (depth, depth) scratch
    mix: np.ndarray  # (depth,)
    place: np.ndarray  # (3,) int64
    smallest: np.ndarray  # (1,)


@kernel
def clear(m):
    """Discard the past points."""
    m.place[KEPT], m.place[ROW], m.place[STARTED] = 0, 0, 0
    m.smallest[0] = math.inf


@inner_kernel
def _product(a, b, blocks):
    total = 0.0
    for i in range(blocks):
        total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
    return total


@inner_kernel
def _keep(m, p, f):
    """Store the differences to the last point; restart after a bad one."""
    size = _product(f, f, f.shape[0])
    if size > _GROWTH * _GROWTH * m.smallest[0]:
        clear(m)
    m.smallest[0] = min(m.smallest[0], size)
    depth = m.changes.shape[0]
    if m.place[STARTED]:
        row = m.place[ROW]
        for i in range(f.shape[0]):
            for k in range(3):
                m.changes[row, i, k] = f[i, k] - m.last[0, i, k]
                m.values[row, i, k] = p[i, k] + f[i, k] - m.last[1, i, k]
        m.place[KEPT] = min(m.place[KEPT] + 1, depth)
        m.place[ROW] = (row + 1) % depth
        for j in range(m.place[KEPT]):
            m.gram[row, j] = m.gram[j, row] = _product(m.changes[j], m.changes[row], f.shape[0])
    m.place[STARTED] = 1
    for i in range(f.shape[0]):
        for k in range(3):
            m.last[0, i, k] = f[i, k]
            m.last[1, i, k] = p[i, k] + f[i, k]


@inner_kernel
def _solve(matrix, right, size):
    """Solve a symmetric positive definite system in place by elimination."""
    for j in range(size):
        for i in range(j + 1, size):
            part = matrix[i, j] / matrix[j, j]
            for k in range(j, size):
                matrix[i, k] -= part * matrix[j, k]
            right[i] -= part * right[j]
    for j in range(size - 1, -1, -1):
        for k in range(j + 1, size):
            right[j] -= matrix[j, k] * right[k]
        right[j] /= matrix[j, j]


@kernel
def follow(m, p, f):
    """Set p to the next point, for the change f at p."""
    if m.changes.shape[0] > 0:
        _keep(m, p, f)
    for i in range(p.shape[0]):
        for k in range(3):
            p[i, k] += f[i, k]
    kept = m.place[KEPT]
    if kept == 0:
        return
    trace = 0.0
    for j in range(kept):
        trace += m.gram[j, j]
        m.mix[j] = _product(m.changes[j], f, f.shape[0])
        for k in range(kept):
            m.matrix[j, k] = m.gram[j, k]
    for j in range(kept):
        m.matrix[j, j] += _GRAM_SHIFT * trace + 1e-300
    _solve(m.matrix, m.mix, kept)
    for j in range(kept):
        for i in range(p.shape[0]):
            for k in range(3):
                p[i, k] -= m.mix[j] * m.values[j, i, k]
