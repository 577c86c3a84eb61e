"""Many rays against many shapes: a tree over the shapes' bounds, with the layout of `trees`."""

import math

from nonsmooth._support.jit import kernel
from nonsmooth.collision.kernels.rays.solids import try_shape
from nonsmooth.collision.kernels.rays.surfaces import enters, push_children
from nonsmooth.collision.kernels.surfaces.trees import join_children


@kernel
def fill_bounds(bound, order, levels, boxes):
    """Bounds (x, y, z from, x, y, z to) of all nodes over the shapes `order`, from the leaves up."""
    count = order.shape[0]
    for level in range(levels, -1, -1):
        for node in range(1 << level):
            at = (1 << level) - 1 + node
            box = boxes[at]
            box[:3], box[3:] = math.inf, -math.inf
            if level == levels:
                for k in range((node * count) >> level, ((node + 1) * count) >> level):
                    s = order[k]
                    for axis in range(3):
                        box[axis] = min(box[axis], bound[s, axis] - bound[s, 3 + axis])
                        box[3 + axis] = max(box[3 + axis], bound[s, axis] + bound[s, 3 + axis])
            else:
                join_children(boxes, at)


@kernel
def cast_in_tree(
    order, levels, boxes, stack, shapes, hulls, centre, axes, bound, origins, ways, limit, work, hit,
    distance, normal,
):  # fmt: skip
    """`solids.cast` for the shapes `order` of a tree, with the same answers."""
    count, inner = order.shape[0], (1 << levels) - 1
    for i in range(origins.shape[0]):
        stack[0], depth = 0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            reach = min(limit, distance[i])
            if enters(boxes, node, origins[i], ways[i], reach) == math.inf:
                continue
            if node < inner:
                depth = push_children(boxes, 0, node, origins[i], ways[i], reach, stack, depth)
                continue
            leaf = node - inner
            for k in range((leaf * count) >> levels, ((leaf + 1) * count) >> levels):
                try_shape(
                    i, order[k], shapes, hulls, centre, axes, bound, origins, ways, limit, work, hit,
                    distance, normal,
                )  # fmt: skip
