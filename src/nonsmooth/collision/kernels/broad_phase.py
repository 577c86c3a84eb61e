"""Which bounds overlap: cells of several sizes, hashed by rows, in time linear in the number of shapes.

Shapes of like size share a level, whose cells are as wide as its largest bound. A shape is kept in the
one cell that holds its centre, so two shapes of a level that overlap are in the same cell or in
neighbours; and a shape finds its coarser partners in the few coarse cells that its box, widened by half
a coarse cell, touches.

Cells that follow one another in x have buckets that follow one another: a search reads rows of cells.
Different cells may share a bucket; the exact key of the cell tells them apart.
"""

import math

import numpy as np

from nonsmooth._support.jit import inlined_kernel, kernel

LEVELS = 32  # the last takes all that is smaller
BINS = 4 * 2400  # a quarter of an octave each, for every float64
_ROW, _LAYER = np.int64(1) << 21, np.int64(1) << 42  # keys of neighbours in y and z differ by these
_SLACK = 1.0 + 1e-5  # cells are wider than any bound by far more than the rounding of a cell's number
_FARTHEST = 2.0**31  # cells beyond are merged with the last: shapes there cost time, and are not lost
_SPAN = 3.0  # largest ratio of sizes within a level
_CROWD = 8  # this many times more shapes just below open a level of their own


@inlined_kernel
def _size_bin(size):
    fraction, exponent = math.frexp(size)
    quarter = 0
    if fraction >= 0.8408964152537145:
        quarter = 3
    elif fraction >= 0.7071067811865476:
        quarter = 2
    elif fraction >= 0.5946035575013605:
        quarter = 1
    return 4 * (exponent + 1100) + quarter


@kernel
def choose_levels(bound, bounded, level, cell, table, bin_count, bin_size):
    """Levels from coarse to fine: fills `level` of each bounded shape, and of each level the width of its
    `cell`s and its `table`: where its buckets begin, and their number less one. Returns all buckets.

    A level spans a factor of `_SPAN` in size. A few large shapes do not widen the cells of a crowd.
    The bins are scratch: zero at the call, and zero again when it ends.
    """
    lowest, highest = BINS, -1
    for i in range(bounded.shape[0]):
        s = bounded[i]
        size = 2.0 * max(bound[s, 3], bound[s, 4], bound[s, 5])
        b = _size_bin(size)
        level[i] = b
        bin_count[b] += 1
        bin_size[b] = max(bin_size[b], size)
        lowest, highest = min(lowest, b), max(highest, b)
    levels, collected = 0, 0
    for b in range(highest, lowest - 1, -1):
        if bin_count[b] == 0:
            continue
        own = bin_size[b]
        opens = levels == 0 or _SPAN * own < cell[levels - 1] or bin_count[b] > _CROWD * collected
        if opens and levels < LEVELS:
            cell[levels] = own * _SLACK
            levels += 1
            collected = 0
        collected += bin_count[b]
        bin_count[b] = levels - 1
    for k in range(levels):
        table[k, 0] = 0
    for i in range(bounded.shape[0]):
        level[i] = bin_count[level[i]]
        table[level[i], 0] += 1
    for b in range(lowest, highest + 1):
        bin_count[b] = 0
        bin_size[b] = 0.0
    begin = 0
    for k in range(levels):
        buckets = 16  # more than the cells of one row that a search visits, so that none comes twice
        while buckets < 2 * table[k, 0]:
            buckets *= 2
        table[k, 0] = begin
        table[k, 1] = buckets - 1
        begin += buckets
    return begin


@inlined_kernel
def _cell_number(x, width):
    return np.int64(math.floor(min(max(x / width, -_FARTHEST), _FARTHEST)))


@inlined_kernel
def _key(x, y, z):
    return x + y * _ROW + z * _LAYER


@inlined_kernel
def _bucket(x, y, z, mask):
    """Bucket of a cell within the table of its level."""
    row = y * np.int64(0x1F123BB5) + z * np.int64(0x5F356495AB)
    row *= np.int64(0x9E3779B97F4A7C1)
    return (x + (row >> 31)) & mask


@kernel
def fill_cells(bound, bounded, level, cell, table, buckets, key, start, order, sorted_bound, sorted_key):
    """Sort the bounded shapes by the buckets of their cells: `start` (buckets + 1), the rest per shape."""
    for b in range(buckets + 1):
        start[b] = 0
    for i in range(bounded.shape[0]):
        s, k = bounded[i], level[i]
        x, y, z = (
            _cell_number(bound[s, 0], cell[k]),
            _cell_number(bound[s, 1], cell[k]),
            _cell_number(bound[s, 2], cell[k]),
        )
        bucket = table[k, 0] + _bucket(x, y, z, table[k, 1])
        key[i, 0] = _key(x, y, z)
        key[i, 1] = bucket
        start[bucket] += 1
    total = 0
    for b in range(buckets + 1):
        total += start[b]
        start[b] = total
    for i in range(bounded.shape[0] - 1, -1, -1):
        bucket = key[i, 1]
        start[bucket] -= 1
        at = start[bucket]
        order[at] = i
        sorted_key[at] = key[i, 0]
        s = bounded[i]
        for k in range(7):
            sorted_bound[at, k] = bound[s, k]


@inlined_kernel
def _overlap(bounds, i, k):
    dx, dy, dz = bounds[i, 0] - bounds[k, 0], bounds[i, 1] - bounds[k, 1], bounds[i, 2] - bounds[k, 2]
    radius = bounds[i, 6] + bounds[k, 6]
    # All four at once: the outcome of each is a coin toss, and a wrong guess costs more than three tests.
    return (
        (dx * dx + dy * dy + dz * dz <= radius * radius)
        & (abs(dx) <= bounds[i, 3] + bounds[k, 3])
        & (abs(dy) <= bounds[i, 4] + bounds[k, 4])
        & (abs(dz) <= bounds[i, 5] + bounds[k, 5])
    )


@inlined_kernel
def _scan_row(i, after, x0, x1, y, z, begin, mask, bounded, group, start, order, bounds, keys, pairs, found):
    """Append the partners of sorted shape i in the cells x0 … x1 of a row, from place `after` on."""
    own_shape = bounded[order[i]]
    bucket, cell_key, left = _bucket(x0, y, z, mask), _key(x0, y, z), x1 + 1 - x0
    while left > 0:
        run = min(left, mask + 1 - bucket)  # a row may leave its table at the end and go on at the beginning
        first = max(after, np.int64(start[begin + bucket]))
        for k in range(first, np.int64(start[begin + bucket + run])):
            offset = keys[k] - cell_key
            if offset < 0 or offset > x1 - x0 or not _overlap(bounds, i, k):
                continue
            other_shape = bounded[order[k]]
            if group[other_shape] == group[own_shape]:
                continue
            if found < pairs.shape[0]:
                pairs[found, 0] = min(own_shape, other_shape)
                pairs[found, 1] = max(own_shape, other_shape)
            found += 1
        bucket, after = np.int64(0), np.int64(0)
        left -= run
    return found


@kernel
def search_cells(bounded, level, cell, table, group, start, order, bounds, keys, pairs, found):
    """Append overlapping pairs of bounded shapes (a < b) of different groups after the first `found`.

    Returns how many pairs there are; those that `pairs` has no room for are counted and not written.
    """
    for i in range(bounded.shape[0]):
        own = level[order[i]]
        for k in range(own + 1):
            width, begin, mask = cell[k], table[k, 0], table[k, 1]
            if k < own:
                half = 0.5 * width
                x0, x1 = (
                    _cell_number(bounds[i, 0] - bounds[i, 3] - half, width),
                    _cell_number(bounds[i, 0] + bounds[i, 3] + half, width),
                )
                y0, y1 = (
                    _cell_number(bounds[i, 1] - bounds[i, 4] - half, width),
                    _cell_number(bounds[i, 1] + bounds[i, 4] + half, width),
                )
                z0, z1 = (
                    _cell_number(bounds[i, 2] - bounds[i, 5] - half, width),
                    _cell_number(bounds[i, 2] + bounds[i, 5] + half, width),
                )
                rows = (y1 + 1 - y0) * (z1 + 1 - z0)
            else:
                x, y0, z0 = (
                    _cell_number(bounds[i, 0], width),
                    _cell_number(bounds[i, 1], width),
                    _cell_number(bounds[i, 2], width),
                )
                x0, x1, y1 = x - 1, x + 1, y0 + 1
                rows = 5
            for row in range(rows):
                after = np.int64(0)
                if k < own:
                    first, y, z = x0, y0 + row % (y1 + 1 - y0), z0 + row // (y1 + 1 - y0)
                elif row == 0:
                    # Half of the neighbours: the others find this shape from their side.
                    first, y, z, after = x0 + 1, y0, z0, np.int64(i + 1)
                elif row == 1:
                    first, y, z = x0, y0 + 1, z0
                else:
                    first, y, z = x0, y0 + row - 3, z0 + 1
                found = _scan_row(
                    i, after, first, x1, y, z, begin, mask,
                    bounded, group, start, order, bounds, keys, pairs, found,
                )  # fmt: skip
    return found


@kernel
def search_half_spaces(half_spaces, bounded, group, centre, axes, bound, pairs):
    """Pairs of half-spaces and bounded shapes that may touch; counted and written as in `search_cells`."""
    room = pairs.shape[0]
    found = 0
    for h in range(half_spaces.shape[0]):
        plane = half_spaces[h]
        nx, ny, nz = axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2]
        level = nx * centre[plane, 0] + ny * centre[plane, 1] + nz * centre[plane, 2] + bound[plane, 6]
        for i in range(bounded.shape[0]):
            s = bounded[i]
            height = nx * bound[s, 0] + ny * bound[s, 1] + nz * bound[s, 2] - level
            if height > bound[s, 6] or group[s] == group[plane]:
                continue
            if height > abs(nx) * bound[s, 3] + abs(ny) * bound[s, 4] + abs(nz) * bound[s, 5]:
                continue
            if found < room:
                pairs[found, 0] = min(s, plane)
                pairs[found, 1] = max(s, plane)
            found += 1
    return found


@kernel
def sort_pairs(pairs, count, shapes, tally, scratch):
    """Sort the first `count` pairs by (a, b): one counting pass by b, one by a."""
    for column in (1, 0):
        source, target = (pairs, scratch) if column == 1 else (scratch, pairs)
        for s in range(shapes + 1):
            tally[s] = 0
        for p in range(count):
            tally[source[p, column] + 1] += 1
        for s in range(shapes):
            tally[s + 1] += tally[s]
        for p in range(count):
            s = source[p, column]
            at = tally[s]
            tally[s] += 1
            target[at, 0] = source[p, 0]
            target[at, 1] = source[p, 1]


@kernel
def drop_ignored(pairs, body, start, partner):
    """Move the pairs of shapes whose bodies may touch to the front, in order, and return their number.

    `body` (s,) is that of each shape; body i ignores the larger bodies partner[start[i] : start[i + 1]],
    which are sorted.
    """
    kept = 0
    for p in range(pairs.shape[0]):
        first, second = body[pairs[p, 0]], body[pairs[p, 1]]
        low, high = min(first, second), max(first, second)
        begin, end = start[low], start[low + 1]
        while begin < end:
            middle = (begin + end) // 2
            if partner[middle] < high:
                begin = middle + 1
            else:
                end = middle
        if begin == start[low + 1] or partner[begin] != high:
            pairs[kept, 0], pairs[kept, 1] = pairs[p, 0], pairs[p, 1]
            kept += 1
    return kept
