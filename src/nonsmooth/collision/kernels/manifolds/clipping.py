"""Features projected along the contact normal, clipped by one another, and reduced to what spans the area.

Marks name the place of a contact on both bodies, whatever feature was clipped by which:
a vertex of p, a vertex of q, the crossing of a side of p with a side of q, or the only point of a pair.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel

_OF_P, _OF_Q, _CROSSING, ALONE_MARK = 0, 1 << 57, 2 << 57, 3 << 57
_LABEL = (1 << 14) - 1
SNAP = 4e-6  # part of the size within which a crossing counts as the vertex it is at
MERGE = 1e-6  # part of the size within which two points are one
_STRAIGHT = 1e-6  # part of the diameter by which a corner must stand out
_FLAT = 0.02  # … if there are more corners than
_FEW, MOST, _MANY = 8, 16, 24


@inlined_kernel
def vertex_mark(side, label):
    """Mark of a vertex of p (0) or q (1)."""
    return (label & _LABEL) + (_OF_P if side == 0 else _OF_Q)


@inlined_kernel
def crossing_mark(p0, p1, q0, q1):
    """Mark of the crossing of a side of p with a side of q, each given by its labels in any order."""
    p = ((min(p0, p1) & _LABEL) << 14) | (max(p0, p1) & _LABEL)
    q = ((min(q0, q1) & _LABEL) << 14) | (max(q0, q1) & _LABEL)
    return _CROSSING + (p << 28) + q


@inner_kernel
def orient(flat, labels, side, count):
    """Turn the projected corners of a face to run counterclockwise; the feature's largest extent."""
    area = 0.0
    x0, y0 = flat[side, 0, 0], flat[side, 0, 1]
    low_x, high_x, low_y, high_y, low, high = x0, x0, y0, y0, flat[side, 0, 2], flat[side, 0, 2]
    for i in range(1, count):
        x, y = flat[side, i, 0], flat[side, i, 1]
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
        low, high = min(low, flat[side, i, 2]), max(high, flat[side, i, 2])
        if i + 1 < count:
            u, v = flat[side, i + 1, 0], flat[side, i + 1, 1]
            area += (x - x0) * (v - y0) - (u - x0) * (y - y0)
    if area < 0.0 and count > 2:
        for i in range(count // 2):
            j = count - 1 - i
            for k in range(3):
                flat[side, i, k], flat[side, j, k] = flat[side, j, k], flat[side, i, k]
            labels[side, i], labels[side, j] = labels[side, j], labels[side, i]
    return max(high_x - low_x, high_y - low_y, high - low)


@inner_kernel
def clip_faces(flat, labels, polygon, sides, inside, found, names, count_p, count_q, slack, near):
    """Corners of the area that two faces share (Sutherland and Hodgman) into `found` and `names`.

    `slack` is a length by which the walls of q are pushed out, so that areas of no width keep their ends;
    `near` is the distance from a vertex within which a point takes its mark.
    """
    for i in range(count_p):
        polygon[0, i, 0], polygon[0, i, 1] = flat[0, i, 0], flat[0, i, 1]
        sides[0, i] = i
    source, count = 0, count_p
    for j in range(count_q):
        x, y = flat[1, j, 0], flat[1, j, 1]
        k = j + 1 if j + 1 < count_q else 0
        ex, ey = flat[1, k, 0] - x, flat[1, k, 1] - y
        length = math.sqrt(ex * ex + ey * ey)
        if length == 0.0:
            continue
        ex, ey = ex / length, ey / length
        least = math.inf
        for i in range(count):
            inside[i] = ex * (polygon[source, i, 1] - y) - ey * (polygon[source, i, 0] - x) + slack
            least = min(least, inside[i])
        if least >= 0.0:
            continue
        target, kept = 1 - source, 0
        for i in range(count):
            after = i + 1 if i + 1 < count else 0
            here, there = inside[i], inside[after]
            if here >= 0.0:
                polygon[target, kept, 0] = polygon[source, i, 0]
                polygon[target, kept, 1] = polygon[source, i, 1]
                sides[target, kept] = sides[source, i]
                kept += 1
            if (here >= 0.0) != (there >= 0.0):
                part = here / (here - there)
                for axis in range(2):
                    polygon[target, kept, axis] = polygon[source, i, axis] + part * (
                        polygon[source, after, axis] - polygon[source, i, axis]
                    )
                sides[target, kept] = -1 - j if here >= 0.0 else sides[source, i]
                kept += 1
        source, count = target, kept
        if count == 0:
            return 0
    for i in range(count):
        before, after = sides[source, i - 1 if i > 0 else count - 1], sides[source, i]
        x, y = polygon[source, i, 0], polygon[source, i, 1]
        if before < 0 and after < 0 and _at(flat, 1, -1 - after, x, y, near):
            # two walls that are pushed out meet beyond the vertex, the farther the sharper it is
            x, y = flat[1, -1 - after, 0], flat[1, -1 - after, 1]
        found[i, 0], found[i, 1] = x, y
        names[i] = _name(flat, labels, count_p, count_q, before, after, x, y, near)
    return count


@inlined_kernel
def _at(flat, side, i, x, y, near):
    return abs(flat[side, i, 0] - x) < near and abs(flat[side, i, 1] - y) < near


@inlined_kernel
def _name(flat, labels, count_p, count_q, before, after, x, y, near):
    """Mark of the corner between two sides.

    Points at a vertex take its mark, p's before q's: where corners lie on corners, marks are stable.
    """
    if before >= 0 and after >= 0:
        return vertex_mark(0, labels[0, after])
    if before < 0 and after < 0:
        for i in range(count_p):
            if _at(flat, 0, i, x, y, near):
                return vertex_mark(0, labels[0, i])
        return vertex_mark(1, labels[1, -1 - after])
    i = before if before >= 0 else after
    j = -1 - (after if before >= 0 else before)
    return name_crossing(
        flat, labels, i, i + 1 if i + 1 < count_p else 0, j, j + 1 if j + 1 < count_q else 0, x, y, near
    )


@inner_kernel
def name_crossing(flat, labels, i, next_i, j, next_j, x, y, near):
    """Mark of a crossing of two sides, or of the vertex that it is at."""
    if _at(flat, 0, i, x, y, near):
        return vertex_mark(0, labels[0, i])
    if _at(flat, 0, next_i, x, y, near):
        return vertex_mark(0, labels[0, next_i])
    if _at(flat, 1, j, x, y, near):
        return vertex_mark(1, labels[1, j])
    if _at(flat, 1, next_j, x, y, near):
        return vertex_mark(1, labels[1, next_j])
    return crossing_mark(labels[0, i], labels[0, next_i], labels[1, j], labels[1, next_j])


@inlined_kernel
def _move(found, heights, names, source, target):
    for k in range(3):
        found[target, k] = found[source, k]
    heights[target, 0], heights[target, 1] = heights[source, 0], heights[source, 1]
    names[target] = names[source]


@inner_kernel
def merge(found, heights, names, count, near, reach):
    """One point for those of one name or one place, the deeper; then only those within `reach`."""
    near2 = near * near
    kept = 0
    for i in range(count):
        place = -1
        # of many points only neighbours can be one, unless the area has no width: see `reduce`
        for j in range(kept if kept <= _MANY else 1):
            dx, dy = found[i, 0] - found[j, 0], found[i, 1] - found[j, 1]
            if names[i] == names[j] or dx * dx + dy * dy < near2:
                place = j
                break
        if place < 0 and kept > _MANY:
            dx, dy = found[i, 0] - found[kept - 1, 0], found[i, 1] - found[kept - 1, 1]
            if names[i] == names[kept - 1] or dx * dx + dy * dy < near2:
                place = kept - 1
        if place < 0:
            _move(found, heights, names, i, kept)
            kept += 1
        else:
            name = min(names[i], names[place])
            if found[i, 2] < found[place, 2]:
                _move(found, heights, names, i, place)
            names[place] = name
    count, kept = kept, 0
    for i in range(count):
        if found[i, 2] <= reach:
            _move(found, heights, names, i, kept)
            kept += 1
    return kept


@inlined_kernel
def _stand_out(found, before, i, after):
    """Distance of corner i from the segment between its neighbours."""
    x, y = found[i, 0] - found[before, 0], found[i, 1] - found[before, 1]
    u, v = found[after, 0] - found[before, 0], found[after, 1] - found[before, 1]
    length2 = u * u + v * v
    part = min(max((x * u + y * v) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
    x, y = x - part * u, y - part * v
    return math.sqrt(x * x + y * y)


@inner_kernel
def reduce(found, heights, names, sides, inside, count, same_gap, most):
    """Leave out corners that hardly stand out of the polygon `found`; never the only deepest one.

    Corners that lie on a line with their neighbours go, of more than 8 also those nearly so, and of more
    than `most` the flattest.
    """
    if count < 3:
        return count
    low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
    for i in range(count):
        low_x, high_x = min(low_x, found[i, 0]), max(high_x, found[i, 0])
        low_y, high_y = min(low_y, found[i, 1]), max(high_y, found[i, 1])
    diameter = math.sqrt((high_x - low_x) ** 2 + (high_y - low_y) ** 2)
    deepest, deep = math.inf, 0
    for i in range(count):
        deepest = min(deepest, found[i, 2])
    before, after, height = sides[0], sides[1], inside
    for i in range(count):
        before[i], after[i] = i - 1 if i > 0 else count - 1, i + 1 if i + 1 < count else 0
        height[i] = _stand_out(found, before[i], i, after[i])
        if found[i, 2] <= deepest + same_gap:
            deep += 1
    left, some = count, 0
    while left > 2:
        worst, least = -1, math.inf
        i = some
        for _ in range(left):
            if deep > 1 or found[i, 2] > deepest + same_gap:
                tie = abs(height[i] - least) <= 1e-9 * diameter
                if (tie and names[i] > names[worst]) or (not tie and height[i] < least):
                    worst, least = i, height[i]
            i = after[i]
        limit = (_FLAT if left > _FEW else _STRAIGHT) * diameter
        if worst < 0 or (least >= limit and left <= most):
            break
        if found[worst, 2] <= deepest + same_gap:
            deep -= 1
        some, i = after[worst], before[worst]
        after[i], before[some] = some, i
        height[i] = _stand_out(found, before[i], i, some)
        height[some] = _stand_out(found, i, some, after[some])
        names[worst] = -1
        left -= 1
    kept = 0
    for i in range(count):
        if names[i] >= 0:
            if kept < i:
                _move(found, heights, names, i, kept)
            kept += 1
    return kept
