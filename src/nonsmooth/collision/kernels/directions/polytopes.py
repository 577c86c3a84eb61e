"""The best of all directions for two overlapping polytopes, by their faces and pairs of edges.

In overlap the best direction is the outward normal of a face of M = {q − p}: a face normal of p or of q, or
the normal to an edge of each. A point m of M rules out all directions with n·m less than the best
separation known; it rules out all directions between two (of which none is the other's opposite) if it
rules out both. So a few points of M ("cuts") leave only a few faces, and edges whose arc on the sphere of
directions is not ruled out by one cut; only those are tried, and each trial makes a new cut. Whatever is
left out is proven to be no better.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.gjk import separation_along
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    TRIANGLE,
    to_local,
    to_world,
)
from nonsmooth.collision.kernels.directions.work import CUTS

_PARALLEL = 1e-22
"""Squared sine of the angle below which two edges count as parallel."""


@inner_kernel
def add_cut(p, q, work, count, x, y, z):
    """Keep a point of M in all three frames; returns the number of cuts."""
    if count == CUTS:
        return count
    cuts = work.cuts
    cuts[0, count, 0], cuts[0, count, 1], cuts[0, count, 2] = x, y, z
    if p.kind == CONVEX_HULL:
        cuts[1, count, 0], cuts[1, count, 1], cuts[1, count, 2] = to_local(p.axes, x, y, z)
    else:
        cuts[1, count, 0], cuts[1, count, 1], cuts[1, count, 2] = x, y, z
    if q.kind == CONVEX_HULL:
        cuts[2, count, 0], cuts[2, count, 1], cuts[2, count, 2] = to_local(q.axes, -x, -y, -z)
    else:
        cuts[2, count, 0], cuts[2, count, 1], cuts[2, count, 2] = -x, -y, -z
    return count + 1


@inner_kernel
def small_faces(solid, normals):
    """Face normals of a core that is no hull, in the world's frame; how many.

    Arcs of half a circle and more are cut by directions in between: those of a triangle's edges by the
    outward direction in its plane, a segment's circle by four directions across.
    """
    r = solid.axes
    if solid.kind == BOX:
        for k in range(3):
            for i in range(3):
                normals[2 * k, i] = r[i, k]
                normals[2 * k + 1, i] = -r[i, k]
        return 6
    if solid.kind == CAPSULE:
        for i in range(3):
            normals[0, i], normals[1, i] = r[i, 0], r[i, 1]
            normals[2, i], normals[3, i] = -r[i, 0], -r[i, 1]
        return 4
    if solid.kind == CYLINDER:
        for i in range(3):
            normals[0, i], normals[1, i] = r[i, 2], -r[i, 2]
        return 2
    if solid.kind == CONE:
        for i in range(3):
            normals[0, i] = -r[i, 2]
        return 1
    if solid.kind == TRIANGLE:
        ux, uy, uz = r[0, 1] - r[0, 0], r[1, 1] - r[1, 0], r[2, 1] - r[2, 0]
        wx, wy, wz = r[0, 2] - r[0, 0], r[1, 2] - r[1, 0], r[2, 2] - r[2, 0]
        x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        normals[0, 0], normals[0, 1], normals[0, 2] = x, y, z
        normals[1, 0], normals[1, 1], normals[1, 2] = -x, -y, -z
        for k in range(3):
            j = (k + 1) % 3
            ux, uy, uz = r[0, j] - r[0, k], r[1, j] - r[1, k], r[2, j] - r[2, k]
            ox, oy, oz = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
            length = math.sqrt(ox * ox + oy * oy + oz * oz)
            normals[2 + k, 0], normals[2 + k, 1], normals[2 + k, 2] = ox / length, oy / length, oz / length
        return 5
    return 0


@inlined_kernel
def _below(normals, f, cuts, c, target):
    return normals[f, 0] * cuts[c, 0] + normals[f, 1] * cuts[c, 1] + normals[f, 2] * cuts[c, 2] < target


@inner_kernel
def _next_face(normals, first, f, faces, cuts, cut_count, target, killers):
    """The first face from f on that no cut rules out; `faces` if there is none."""
    last = 0
    while f < faces:
        row = first + f
        x, y, z = normals[row, 0], normals[row, 1], normals[row, 2]
        if x * cuts[last, 0] + y * cuts[last, 1] + z * cuts[last, 2] >= target:
            found = False
            for c in range(cut_count):
                if x * cuts[c, 0] + y * cuts[c, 1] + z * cuts[c, 2] < target:
                    last, found = c, True
                    break
            if not found:
                return f
        killers[f] = last
        f += 1
    return f


@inner_kernel
def try_faces(p, q, hulls, work, side, normals, first, faces, cut_count, best, margin):
    """Separation along all face normals of p (side 0) or q (side 1) that no cut rules out.

    `best` is the best separation and its direction; returns the number of cuts and the best now. Directions
    that gain less than `margin` count as ruled out.
    """
    cuts, killers = work.cuts[1 + side], work.killers[side]
    sign = 1.0 - 2.0 * side
    f = _next_face(normals, first, 0, faces, cuts, cut_count, best[0] + margin, killers)
    while f < faces:
        row = first + f
        x, y, z = sign * normals[row, 0], sign * normals[row, 1], sign * normals[row, 2]
        if side == 0 and p.kind == CONVEX_HULL:
            x, y, z = to_world(p.axes, x, y, z)
        elif side == 1 and q.kind == CONVEX_HULL:
            x, y, z = to_world(q.axes, x, y, z)
        apart, mx, my, mz = separation_along(p, q, hulls, work.hints, x, y, z)
        if apart > best[0]:
            best = (apart, x, y, z)
        killers[f] = -1
        if cut_count < CUTS:
            killers[f] = cut_count
            cut_count = add_cut(p, q, work, cut_count, mx, my, mz)
        f = _next_face(normals, first, f + 1, faces, cuts, cut_count, best[0] + margin, killers)
    return cut_count, best


@inner_kernel
def open_edges(
    hull, axes, vertices, first_vertex, cuts, killers, kept, sign,
    normals, first, edges, first_edge, edge_count, cut_count, target,
):  # fmt: skip
    """List the edges whose arc no single cut rules out: direction, and both ends of the arc; how many."""
    r, v = axes, vertices
    count = 0
    for e in range(first_edge, first_edge + edge_count):
        f, g = edges[e, 2], edges[e, 3]
        i, j = killers[f], killers[g]
        if i == j and i >= 0:
            continue
        f, g = first + f, first + g
        if (i >= 0 and _below(normals, g, cuts, i, target)) or (
            j >= 0 and _below(normals, f, cuts, j, target)
        ):
            continue
        ruled_out = False
        for c in range(cut_count):
            if _below(normals, f, cuts, c, target) and _below(normals, g, cuts, c, target):
                ruled_out = True
                break
        if ruled_out:
            continue
        fx, fy, fz = sign * normals[f, 0], sign * normals[f, 1], sign * normals[f, 2]
        gx, gy, gz = sign * normals[g, 0], sign * normals[g, 1], sign * normals[g, 2]
        if hull:
            a, b = first_vertex + edges[e, 0], first_vertex + edges[e, 1]
            x, y, z = v[b, 0] - v[a, 0], v[b, 1] - v[a, 1], v[b, 2] - v[a, 2]
            # as seen from outside on the way from a to b, f is on the left: f × g points along the way
            for i in range(3):
                kept[count, i] = r[i, 0] * x + r[i, 1] * y + r[i, 2] * z
                kept[count, 3 + i] = r[i, 0] * fx + r[i, 1] * fy + r[i, 2] * fz
                kept[count, 6 + i] = r[i, 0] * gx + r[i, 1] * gy + r[i, 2] * gz
        else:
            kept[count, 0], kept[count, 1], kept[count, 2] = (
                fy * gz - fz * gy, fz * gx - fx * gz, fx * gy - fy * gx
            )  # fmt: skip
            kept[count, 3], kept[count, 4], kept[count, 5] = fx, fy, fz
            kept[count, 6], kept[count, 7], kept[count, 8] = gx, gy, gz
        count += 1
    return count


@inner_kernel
def try_edges(p, q, hulls, work, p_count, q_count, cut_count, best, margin):
    """Separation along the normals to pairs of open edges whose arcs cross; number of cuts, the best now."""
    ours, theirs, cuts = work.edges[0], work.edges[1], work.cuts[0]
    last = 0
    for i in range(p_count):
        ex, ey, ez = ours[i, 0], ours[i, 1], ours[i, 2]
        ax, ay, az = ours[i, 3], ours[i, 4], ours[i, 5]
        bx, by, bz = ours[i, 6], ours[i, 7], ours[i, 8]
        for j in range(q_count):
            # ends of each arc on both sides of the other's great circle
            c = ex * theirs[j, 3] + ey * theirs[j, 4] + ez * theirs[j, 5]
            d = ex * theirs[j, 6] + ey * theirs[j, 7] + ez * theirs[j, 8]
            if c * d > 0.0:
                continue
            gx, gy, gz = theirs[j, 0], theirs[j, 1], theirs[j, 2]
            a = gx * ax + gy * ay + gz * az
            b = gx * bx + gy * by + gz * bz
            if a * b > 0.0:
                continue
            x, y, z = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
            square = x * x + y * y + z * z
            if square <= _PARALLEL * (ex * ex + ey * ey + ez * ez) * (gx * gx + gy * gy + gz * gz):
                continue
            length = math.sqrt(square)
            if x * (ax + bx) + y * (ay + by) + z * (az + bz) < 0.0:
                length = -length
            x, y, z = x / length, y / length, z / length
            # the arcs cross at opposite points of the sphere
            if (
                x * (theirs[j, 3] + theirs[j, 6])
                + y * (theirs[j, 4] + theirs[j, 7])
                + z * (theirs[j, 5] + theirs[j, 8])
                < 0.0
            ):
                continue
            target = best[0] + margin
            if x * cuts[last, 0] + y * cuts[last, 1] + z * cuts[last, 2] < target:
                continue
            ruled_out = False
            for k in range(cut_count):
                if x * cuts[k, 0] + y * cuts[k, 1] + z * cuts[k, 2] < target:
                    ruled_out, last = True, k
                    break
            if ruled_out:
                continue
            apart, mx, my, mz = separation_along(p, q, hulls, work.hints, x, y, z)
            if apart > best[0]:
                best = (apart, x, y, z)
            cut_count = add_cut(p, q, work, cut_count, mx, my, mz)
    return cut_count, best
