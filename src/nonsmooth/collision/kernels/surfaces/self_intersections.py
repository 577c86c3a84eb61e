"""Triangles of a mesh that cross one another, found by the tree."""

import math

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.surfaces.trees import boxes_meet, next_leaf


@inner_kernel
def _height(a, b, c, p):
    """Six times the volume of the tetrahedron a, b, c, p."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    return wx * (uy * vz - uz * vy) + wy * (uz * vx - ux * vz) + wz * (ux * vy - uy * vx)


@inner_kernel
def _pierces(p, q, a, b, c, nothing):
    """True if the segment from p to q crosses the inside of the triangle a, b, c."""
    above, below = _height(a, b, c, p), _height(a, b, c, q)
    if not (above > nothing and below < -nothing) and not (above < -nothing and below > nothing):
        return False
    one, two, three = _height(p, q, a, b), _height(p, q, b, c), _height(p, q, c, a)
    return (one > nothing and two > nothing and three > nothing) or (
        one < -nothing and two < -nothing and three < -nothing
    )


@inner_kernel
def _cross(vertices, t, u, nothing):
    """True if triangles t and u, rows of three vertices, cross; not if they share an edge."""
    shared = 0
    for i in range(3):
        for j in range(3):
            if t[i] == u[j]:
                shared += 1
    if shared > 1:
        return False
    low, high = math.inf, -math.inf
    for i in range(3):
        height = _height(vertices[u[0]], vertices[u[1]], vertices[u[2]], vertices[t[i]])
        low, high = min(low, height), max(high, height)
    if low >= -nothing or high <= nothing:
        return False  # one lies on one side of the other's plane: true of nearly all pairs
    for turn in range(2):
        one, two = (t, u) if turn == 0 else (u, t)
        a, b, c = vertices[two[0]], vertices[two[1]], vertices[two[2]]
        for i in range(3):
            p, q = one[i], one[(i + 1) % 3]
            # an edge that begins at the shared vertex cannot cross there
            begins = shared > 0 and (p in (two[0], two[1], two[2]) or q in (two[0], two[1], two[2]))
            if not begins and _pierces(vertices[p], vertices[q], a, b, c, nothing):
                return True
    return False


@inner_kernel
def _set_box(vertices, triangle, box):
    """Bounds of a triangle."""
    for axis in range(3):
        a, b, c = vertices[triangle[0], axis], vertices[triangle[1], axis], vertices[triangle[2], axis]
        box[axis], box[3 + axis] = min(a, b, c), max(a, b, c)


@kernel
def find_crossing(vertices, triangles, boxes, levels, size, own, other, stack, pair):
    """True if two triangles cross; then their numbers are in `pair` (2,).

    `own` (LEAF, 6), `other` (6,) and `stack` are scratch.
    """
    total, inner = triangles.shape[0], (1 << levels) - 1
    nothing = 1e-14 * size * size * size
    for leaf in range(1 << levels):
        begin, end = (leaf * total) >> levels, ((leaf + 1) * total) >> levels
        for t in range(begin, end):
            _set_box(vertices, triangles[t], own[t - begin])
        # this leaf and all that is to the right of the way up from it: each pair of leaves once
        node, depth = inner + leaf, 1
        stack[0] = node
        while node > 0:
            if node % 2 == 1:
                stack[depth], depth = node + 1, depth + 1
            node = (node - 1) // 2
        found, depth = next_leaf(boxes, 0, levels, boxes[inner + leaf], stack, depth)
        while found >= 0:
            for u in range((found * total) >> levels, ((found + 1) * total) >> levels):
                _set_box(vertices, triangles[u], other)
                for t in range(begin, min(end, u)):
                    if boxes_meet(own, t - begin, other) and _cross(
                        vertices, triangles[t], triangles[u], nothing
                    ):
                        pair[0], pair[1] = t, u
                        return True
            found, depth = next_leaf(boxes, 0, levels, boxes[inner + leaf], stack, depth)
    return False
