"""Triangles of a mesh that pass through one another or overlap, found by the tree.

Two triangles intersect if

- both have corners on both sides of the other's plane, and a part of the planes' line is in both;
- an edge of one lies in the other, or along one of its edges, and the triangles beside the edge are on
  different sides of the surface there;
- they lie in one plane, with the same orientation, and overlap.

Triangles that touch do not: coplanar ones of opposite orientation are where two solids share a face. A length
of less than 1e-10 of the mesh's size counts as none.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.surfaces.trees import boxes_meet, next_leaf

_NOTHING = 1e-10  # part of the mesh's size


@inlined_kernel
def _normal(vertices, t):
    """Unit normal of triangle t."""
    a, b, c = vertices[t[0]], vertices[t[1]], vertices[t[2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return nx / length, ny / length, nz / length


@inlined_kernel
def _above(vertices, t, nx, ny, nz, p, nothing):
    """Height of vertex p above triangle t with normal n; 0 for its own vertices and below `nothing`."""
    if p in (t[0], t[1], t[2]):
        return 0.0
    a, b = vertices[t[0]], vertices[p]
    height = nx * (b[0] - a[0]) + ny * (b[1] - a[1]) + nz * (b[2] - a[2])
    return height if abs(height) > nothing else 0.0


@inlined_kernel
def _set_heights(vertices, t, u, nothing, heights):
    """Heights of the corners of triangle u above the plane of t; the lowest and the highest."""
    nx, ny, nz = _normal(vertices, t)
    a = _above(vertices, t, nx, ny, nz, u[0], nothing)
    b = _above(vertices, t, nx, ny, nz, u[1], nothing)
    c = _above(vertices, t, nx, ny, nz, u[2], nothing)
    heights[0], heights[1], heights[2] = a, b, c
    return min(a, b, c), max(a, b, c)


@inner_kernel
def _interval(vertices, t, heights, dx, dy, dz, nothing):
    """Where the plane of another triangle cuts t, whose corners are at `heights` (3,), along direction d.

    It is shortened at both ends by what the heights' tolerance can move them.
    """
    low, high = math.inf, -math.inf
    for i in range(3):
        j = (i + 1) % 3
        p, q = vertices[t[i]], vertices[t[j]]
        at_p = dx * p[0] + dy * p[1] + dz * p[2]
        if heights[i] == 0.0:
            low, high = min(low, at_p), max(high, at_p)
        elif heights[i] * heights[j] < 0.0:
            along = dx * q[0] + dy * q[1] + dz * q[2] - at_p
            part = heights[i] / (heights[i] - heights[j])
            spare = abs(along) * nothing / abs(heights[i] - heights[j])
            low, high = min(low, at_p + part * along + spare), max(high, at_p + part * along - spare)
    return low, high


@inner_kernel
def _pass_through(vertices, t, u, of_t, of_u, nothing):
    """True if the planes' line has a part in both triangles, each of which is on both sides of the other."""
    ax, ay, az = _normal(vertices, t)
    bx, by, bz = _normal(vertices, u)
    dx, dy, dz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length == 0.0:
        return False
    dx, dy, dz = dx / length, dy / length, dz / length
    low_t, high_t = _interval(vertices, t, of_t, dx, dy, dz, nothing)
    low_u, high_u = _interval(vertices, u, of_u, dx, dy, dz, nothing)
    return min(high_t, high_u) - max(low_t, low_u) > nothing


@inlined_kernel
def _beyond(vertices, t, k, p, nx, ny, nz):
    """How far vertex p is outside edge k of triangle t, whose normal is n, in its plane."""
    a, b, c = vertices[t[k]], vertices[t[(k + 1) % 3]], vertices[p]
    ex, ey, ez = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    ox, oy, oz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx
    away = ox * (c[0] - a[0]) + oy * (c[1] - a[1]) + oz * (c[2] - a[2])
    return away / math.sqrt(ox * ox + oy * oy + oz * oz)


@inner_kernel
def _overlap(vertices, t, u, nothing):
    """True if triangles of one plane have an area in common: no edge of either has the other outside."""
    for turn in range(2):
        one, two = (t, u) if turn == 0 else (u, t)
        nx, ny, nz = _normal(vertices, one)
        for k in range(3):
            nearest = math.inf
            for p in two:
                nearest = min(nearest, _beyond(vertices, one, k, p, nx, ny, nz))
            if nearest >= -nothing:
                return False
    return True


@inner_kernel
def _edge_within(vertices, p, q, u, nothing):
    """Where the edge from p to q lies in triangle u, whose plane it is in.

    −1 if nowhere, 3 if inside, otherwise the number of the edge of u that it lies along.
    """
    nx, ny, nz = _normal(vertices, u)
    begin, end, along = 0.0, 1.0, 3
    for k in range(3):
        at_p, at_q = _beyond(vertices, u, k, p, nx, ny, nz), _beyond(vertices, u, k, q, nx, ny, nz)
        if max(abs(at_p), abs(at_q)) <= nothing:
            along = k
        elif at_p >= -nothing and at_q >= -nothing:
            return -1
        elif at_p > 0.0:
            begin = max(begin, at_p / (at_p - at_q))
        elif at_q > 0.0:
            end = min(end, at_p / (at_p - at_q))
    a, b = vertices[p], vertices[q]
    length = math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    return along if (end - begin) * length > nothing else -1


@inlined_kernel
def _third(triangle, p, q):
    """The vertex of a triangle that is neither p nor q."""
    for vertex in triangle:
        if vertex not in (p, q):
            return vertex
    return p


@inner_kernel
def _side(vertices, r, u, other, nothing):
    """Side of the surface on which vertex r is, seen from the edge between triangles u and `other`.

    −1 inside, 1 outside, 0 on it. Both are the same where the surface is flat.
    """
    ax, ay, az = _normal(vertices, u)
    bx, by, bz = _normal(vertices, other)
    one = _above(vertices, u, ax, ay, az, r, nothing)
    two = _above(vertices, other, bx, by, bz, r, nothing)
    bend = 0.0
    for p in other:
        bend += _above(vertices, u, ax, ay, az, p, nothing)  # of the vertex that is not u's
    # a convex edge is inside of both planes, a concave one outside of both
    most = max(one, two) if bend <= 0.0 else min(one, two)
    return 1 if most > 0.0 else (-1 if most < 0.0 else 0)


@inner_kernel
def _passes_at_edge(vertices, triangles, beside, t, u, of_t, nothing):
    """True if the surface passes through triangle u, or through its edge, along an edge of triangle t."""
    one, two = triangles[t], triangles[u]
    for k in range(3):
        p, q = one[k], one[(k + 1) % 3]
        if of_t[k] != 0.0 or of_t[(k + 1) % 3] != 0.0 or beside[t, k] < 0 or beside[t, k] == u:
            continue
        along = _edge_within(vertices, p, q, two, nothing)
        if along < 0 or (along < 3 and (beside[u, along] < 0 or beside[u, along] == t)):
            continue
        other = two if along == 3 else triangles[beside[u, along]]
        here = _side(vertices, one[(k + 2) % 3], two, other, nothing)
        there = _side(vertices, _third(triangles[beside[t, k]], p, q), two, other, nothing)
        if here * there < 0:
            return True
    return False


@inner_kernel
def _intersect(vertices, triangles, beside, t, u, of_t, of_u, nothing):
    """True if triangles t and u intersect. `of_t` and `of_u` (3,) are scratch for heights."""
    one, two = triangles[t], triangles[u]
    low, high = _set_heights(vertices, two, one, nothing, of_t)
    if low > 0.0 or high < 0.0:
        return False  # true of nearly all pairs
    least, most = _set_heights(vertices, one, two, nothing, of_u)
    if least > 0.0 or most < 0.0:
        return False
    if low == high or least == most:  # all are 0
        ax, ay, az = _normal(vertices, one)
        bx, by, bz = _normal(vertices, two)
        return ax * bx + ay * by + az * bz > 0.0 and _overlap(vertices, one, two, nothing)
    if low < 0.0 < high and least < 0.0 < most:
        return _pass_through(vertices, one, two, of_t, of_u, nothing)
    return _passes_at_edge(vertices, triangles, beside, t, u, of_t, nothing) or _passes_at_edge(
        vertices, triangles, beside, u, t, of_u, nothing
    )


@inner_kernel
def _set_box(vertices, triangle, spare, box):
    """Bounds of a triangle, wider by `spare`."""
    for axis in range(3):
        a, b, c = vertices[triangle[0], axis], vertices[triangle[1], axis], vertices[triangle[2], axis]
        box[axis], box[3 + axis] = min(a, b, c) - spare, max(a, b, c) + spare


@kernel
def find_crossing(vertices, triangles, beside, boxes, levels, size, own, room, stack, pair):
    """True if two triangles intersect; then their numbers are in `pair` (2,).

    `beside` (t, 3) has the triangle across each edge, −1 at a border. `own` (LEAF, 6), `room` (3, 6) and
    `stack` are scratch.
    """
    total, inner = triangles.shape[0], (1 << levels) - 1
    nothing = _NOTHING * size
    other, whole, of_t, of_u = room[0], room[1], room[2, :3], room[2, 3:]
    for leaf in range(1 << levels):
        begin, end = (leaf * total) >> levels, ((leaf + 1) * total) >> levels
        for t in range(begin, end):
            _set_box(vertices, triangles[t], nothing, own[t - begin])
        for axis in range(3):
            whole[axis] = boxes[inner + leaf, axis] - nothing
            whole[3 + axis] = boxes[inner + leaf, 3 + axis] + nothing
        # this leaf and all that is to the right of the way up from it: each pair of leaves once
        node, depth = inner + leaf, 1
        stack[0] = node
        while node > 0:
            if node % 2 == 1:
                stack[depth], depth = node + 1, depth + 1
            node = (node - 1) // 2
        found, depth = next_leaf(boxes, 0, levels, whole, stack, depth)
        while found >= 0:
            for u in range((found * total) >> levels, ((found + 1) * total) >> levels):
                _set_box(vertices, triangles[u], 0.0, other)
                for t in range(begin, min(end, u)):
                    if boxes_meet(own, t - begin, other) and _intersect(
                        vertices, triangles, beside, t, u, of_t, of_u, nothing
                    ):
                        pair[0], pair[1] = t, u
                        return True
            found, depth = next_leaf(boxes, 0, levels, whole, stack, depth)
    return False
