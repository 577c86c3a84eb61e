"""A tree of boxes over the triangles of a mesh: perfect and binary, so that no links are stored.

The triangles are sorted such that each node holds a run of them: node i of level l holds triangles
i n >> l to (i + 1) n >> l, its children are nodes 2i and 2i + 1 of the next level, and its number is
2ˡ − 1 + i. A search needs a stack of one node per level.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel

LEAF = 4  # most triangles of a node of the last level


def levels_for(count: int) -> int:
    """Number of levels below the root for a tree over `count` triangles."""
    levels = 0
    while (count >> levels) + 1 > LEAF and count > LEAF:
        levels += 1
    return levels


@inner_kernel
def _select(order, key, low, high, middle):
    """Order order[low:high] such that keys before `middle` are no greater than those from it on."""
    last = high - 1
    while low < last:
        # the middle of three as pivot: sorted and mirrored input stays fast
        a, b, c = key[order[low]], key[order[(low + last) >> 1]], key[order[last]]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, last
        while i <= j:
            while key[order[i]] < pivot:
                i += 1
            while key[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def sort_triangles(centres, levels, order):
    """Permute `order` (t,) such that each node of the tree holds a run: halves along the longest side.

    `centres` (3, t) are the triangles' centres.
    """
    count = order.shape[0]
    for level in range(levels):
        for node in range(1 << level):
            low, high = (node * count) >> level, ((node + 1) * count) >> level
            middle = ((2 * node + 1) * count) >> (level + 1)
            best, most = 0, -1.0
            for axis in range(3):
                least, greatest = math.inf, -math.inf
                for i in range(low, high):
                    value = centres[axis, order[i]]
                    least, greatest = min(least, value), max(greatest, value)
                if greatest - least > most:
                    best, most = axis, greatest - least
            if low < middle < high:
                _select(order, centres[best], low, high, middle)


@inlined_kernel
def join_children(boxes, at):
    """Widen the bounds of a node, empty so far, to hold those of its two children."""
    for child in (2 * at + 1, 2 * at + 2):
        for axis in range(3):
            boxes[at, axis] = min(boxes[at, axis], boxes[child, axis])
            boxes[at, 3 + axis] = max(boxes[at, 3 + axis], boxes[child, 3 + axis])


@kernel
def fill_boxes(vertices, triangles, levels, boxes):
    """Bounds (x, y, z from, x, y, z to) of all nodes, from the leaves up."""
    count = triangles.shape[0]
    for level in range(levels, -1, -1):
        for node in range(1 << level):
            at = (1 << level) - 1 + node
            box = boxes[at]
            box[:3], box[3:] = math.inf, -math.inf
            if level == levels:
                for t in range((node * count) >> level, ((node + 1) * count) >> level):
                    for corner in range(3):
                        for axis in range(3):
                            value = vertices[triangles[t, corner], axis]
                            box[axis] = min(box[axis], value)
                            box[3 + axis] = max(box[3 + axis], value)
            else:
                join_children(boxes, at)


@inner_kernel
def boxes_meet(boxes, at, box):
    """True if box number `at` and `box` (6,) have a point in common."""
    return (
        boxes[at, 0] <= box[3]
        and boxes[at, 1] <= box[4]
        and boxes[at, 2] <= box[5]
        and boxes[at, 3] >= box[0]
        and boxes[at, 4] >= box[1]
        and boxes[at, 5] >= box[2]
    )


@inner_kernel
def next_leaf(boxes, first, levels, box, stack, depth):
    """Go on with a search: pop nodes from the stack until a leaf that meets `box`.

    Returns the leaf's number within the last level, −1 at the end, and the depth of the stack. A search
    begins with stack[0] = 0 and depth 1.
    """
    inner = (1 << levels) - 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if boxes_meet(boxes, first + node, box):
            if node >= inner:
                return node - inner, depth
            stack[depth] = 2 * node + 2
            stack[depth + 1] = 2 * node + 1
            depth += 2
    return -1, 0
