"""Band matrices over the bodies: an order in which neighbours are close, and Cholesky factors.

A lower band of `width` + 1 entries a column is kept column by column in one row of numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel


class BodyOrder(NamedTuple):
    """Moving bodies that are touched, in order, and scratch."""

    order: np.ndarray  # (bodies,) int64, the first ones
    place: np.ndarray  # (bodies + 1,) int64: place in the order, −1 for others and for ground
    start: np.ndarray  # (bodies + 1,) int64
    near: np.ndarray  # (2 rows,) int64: neighbours of each body


@inner_kernel
def _list_neighbours(pairs, ground, out):
    """List the moving neighbours of every moving body, with repetition; `place` is −1 for all that are
    touched, and −2 for others."""
    start, near, place = out.start, out.near, out.place
    for body in range(ground + 1):
        place[body] = -2
        start[body] = 0
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        place[a] = place[b] = -1
        if a != ground and b != ground and a != b:
            start[a] += 1
            start[b] += 1
    total = 0
    for body in range(ground):
        total += start[body]
        start[body] = total
    start[ground] = total
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        if a != ground and b != ground and a != b:
            start[a] -= 1
            near[start[a]] = b
            start[b] -= 1
            near[start[b]] = a
    place[ground] = -2


@inner_kernel
def _enqueue(body, out, first, last):
    """Append a body's new neighbours to the order, those with few neighbours first; the new end."""
    order, place, start, near = out.order, out.place, out.start, out.near
    end = last
    for k in range(start[body], start[body + 1]):
        other = near[k]
        if place[other] != -1:
            continue
        place[other] = 0
        degree = start[other + 1] - start[other]
        at = end
        while at > last and start[order[at - 1] + 1] - start[order[at - 1]] > degree:
            order[at] = order[at - 1]
            at -= 1
        order[at] = other
        end += 1
    return end


@kernel
def order_bodies(pairs, ground, out):
    """Order the moving bodies of `pairs` (r, 2) by Cuthill and McKee; returns their number and the width of
    the band in coordinates."""
    _list_neighbours(pairs, ground, out)
    order, place, start = out.order, out.place, out.start
    count = 0
    while True:
        root = -1
        for body in range(ground):
            if place[body] == -1 and (
                root < 0 or start[body + 1] - start[body] < start[root + 1] - start[root]
            ):
                root = body
        if root < 0:
            break
        place[root] = 0
        order[count] = root
        done, count = count, count + 1
        while done < count:
            count = _enqueue(order[done], out, done, count)
            done += 1
    for body in range(ground + 1):
        place[body] = -1
    for k in range(count):
        place[order[k]] = k
    width = 0
    for i in range(pairs.shape[0]):
        a, b = place[pairs[i, 0]], place[pairs[i, 1]]
        if a >= 0 and b >= 0:
            width = max(width, abs(a - b))
    return count, 6 * width + 5


@inner_kernel
def _eliminate(factor, first, end, row):
    """Cholesky's method on the six columns of a body, whose entries reach to row `end`; False if it fails."""
    for j in range(first, first + 6):
        at = j * row - j
        pivot = factor[at + j]
        if not (0.0 < pivot < math.inf):
            return False
        root = math.sqrt(pivot)
        factor[at + j] = root
        for i in range(j + 1, end):
            factor[at + i] /= root
        for k in range(j + 1, first + 6):
            part, to = factor[at + k], k * row - k
            for i in range(k, end):
                factor[to + i] -= part * factor[at + i]
    return True


@inner_kernel
def _subtract(factor, first, end, row, columns):
    """Take what the six columns of a body contribute to the columns after them; they are copied first, so
    that the compiler sees what is written."""
    for j in range(6):
        at = (first + j) * row - first - j
        for i in range(first + 6, end):
            columns[j * row + i - first] = factor[at + i]
    for k in range(first + 6, end):
        c0, c1, c2 = columns[k - first], columns[row + k - first], columns[2 * row + k - first]
        c3, c4, c5 = columns[3 * row + k - first], columns[4 * row + k - first], columns[5 * row + k - first]
        to = k * row - k
        for i in range(k, end):
            m = i - first
            part = c0 * columns[m] + c1 * columns[row + m] + c2 * columns[2 * row + m]
            part += c3 * columns[3 * row + m] + c4 * columns[4 * row + m] + c5 * columns[5 * row + m]
            factor[to + i] -= part


@kernel
def factorise_band(band, shift, size, width, factor, columns):
    """Cholesky factor of a band matrix plus a multiple of the identity; False if it has none.

    Its `size` coordinates are six a body, and the blocks of a body's columns end together. `columns`
    (6 (width + 1),) is scratch.
    """
    row = width + 1
    for k in range(size * row):
        factor[k] = band[k]
    for j in range(size):
        factor[j * row] += shift
    for first in range(0, size, 6):
        end = min(first + row, size)
        if not _eliminate(factor, first, end, row):
            return False
        _subtract(factor, first, end, row, columns)
    return True


@kernel
def solve_band(factor, size, width, x):
    """Solve with such a factor in place."""
    row = width + 1
    for j in range(size):
        at = j * row
        value = x[j] / factor[at]
        x[j] = value
        for k in range(1, min(width, size - 1 - j) + 1):
            x[j + k] -= factor[at + k] * value
    for j in range(size - 1, -1, -1):
        at = j * row
        value = x[j]
        for k in range(1, min(width, size - 1 - j) + 1):
            value -= factor[at + k] * x[j + k]
        x[j] = value / factor[at]
