"""How far two convex solids are apart, and along which direction: the best of all, proven in overlap.

Cores that are apart by more than rounding: GJK, until its bounds from both sides agree. All others: ascent.
With q moved along the present direction n by more than the overlap, GJK finds the best direction n' of the
moved pair, and sep(n') ≥ sep(n) + t (1 − n·n') for a way t: no step is worse, and the origin is never near
M's surface, so that kissing faces do no harm. In overlap a search over all directions follows, by
features (`polytopes`) or by parts of the sphere (`spheres`).
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.ascent import (
    CLIMBS,
    GAIN,
    POINTS_OFF,
    ROUNDING,
    ascend,
    ascend_far,
    is_curved,
)
from nonsmooth.collision.kernels.directions.gjk import (
    APART,
    BEYOND,
    INSIDE,
    STALLED,
    distance,
    nearest_face,
    probe,
    separation_along,
)
from nonsmooth.collision.kernels.directions.polish import MISSED, aside, polish
from nonsmooth.collision.kernels.directions.polytopes import (
    add_cut,
    open_edges,
    small_faces,
    try_edges,
    try_faces,
)
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    TRIANGLE,
    to_world,
)
from nonsmooth.collision.kernels.directions.spheres import search_sphere

_MARGIN = 1e-2
"""Part of the smaller core by which a moved pair is apart."""
_ANGLE = 3e-7
"""Angle in rad to which the best direction of cores that are apart is found."""
_ALIGNED, _NEAR = 1e-10, 1e-3
"""Parts of the size: how far nearest points may be aside of one another, and from a core's farthest point."""
_NEAR_CAP = 0.7
"""Cosine of the angle to the normal of a cap above which that normal is tried."""
_SNAP = 1e-14
"""Square of the angle to a face normal within which that normal is tried."""


@inner_kernel
def extent(solid, work):
    """Upper bound of the distance of a core's points from its centre."""
    kind = solid.kind
    if kind == SPHERE:
        return 0.0
    if kind == CAPSULE:
        return solid.b
    if kind == BOX:
        return math.sqrt(solid.a * solid.a + solid.b * solid.b + solid.c * solid.c)
    if kind in (CYLINDER, CONE):
        return math.sqrt(solid.a * solid.a + solid.b * solid.b)
    if kind == ELLIPSOID:
        return max(solid.a, solid.b, solid.c)
    if kind == CONVEX_HULL:
        return work.extents[solid.hull]
    r = solid.axes
    return math.sqrt(
        max(
            r[0, 0] * r[0, 0] + r[1, 0] * r[1, 0] + r[2, 0] * r[2, 0],
            r[0, 1] * r[0, 1] + r[1, 1] * r[1, 1] + r[2, 1] * r[2, 1],
            r[0, 2] * r[0, 2] + r[1, 2] * r[1, 2] + r[2, 2] * r[2, 2],
        )
    )


@inner_kernel
def _snapped(solid, p, q, hulls, work, side, best, size):
    """The best direction, put on a face normal of the solid if one is at hand and no worse."""
    sign = 1.0 - 2.0 * side
    apart, x, y, z = best
    r = solid.axes
    if solid.kind == CONVEX_HULL:
        lx = sign * (r[0, 0] * x + r[1, 0] * y + r[2, 0] * z)
        ly = sign * (r[0, 1] * x + r[1, 1] * y + r[2, 1] * z)
        lz = sign * (r[0, 2] * x + r[1, 2] * y + r[2, 2] * z)
        vertex = hulls.first[solid.hull, 0] + work.hints[side]
        first = hulls.first[solid.hull, 1]
        for k in range(work.vertex_face_first[vertex], work.vertex_face_first[vertex + 1]):
            f = first + work.vertex_faces[k]
            nx, ny, nz = hulls.planes[f, 0], hulls.planes[f, 1], hulls.planes[f, 2]
            if (nx - lx) ** 2 + (ny - ly) ** 2 + (nz - lz) ** 2 < _SNAP:
                gx = sign * (r[0, 0] * nx + r[0, 1] * ny + r[0, 2] * nz)
                gy = sign * (r[1, 0] * nx + r[1, 1] * ny + r[1, 2] * nz)
                gz = sign * (r[2, 0] * nx + r[2, 1] * ny + r[2, 2] * nz)
                now, _, _, _ = separation_along(p, q, hulls, work.hints, gx, gy, gz)
                if now >= apart - ROUNDING * size:
                    return True, (now, gx, gy, gz)
    elif solid.kind in (BOX, CYLINDER, CONE):
        for k in range(0 if solid.kind == BOX else 2, 3):
            along = x * r[0, k] + y * r[1, k] + z * r[2, k]
            way = math.copysign(1.0, along)
            gx, gy, gz = way * r[0, k], way * r[1, k], way * r[2, k]
            if (gx - x) ** 2 + (gy - y) ** 2 + (gz - z) ** 2 < _SNAP:
                now, _, _, _ = separation_along(p, q, hulls, work.hints, gx, gy, gz)
                if now >= apart - ROUNDING * size:
                    return True, (now, gx, gy, gz)
    elif solid.kind == TRIANGLE:
        small_faces(solid, work.normals[side])
        nx, ny, nz = work.normals[side, 0, 0], work.normals[side, 0, 1], work.normals[side, 0, 2]
        way = math.copysign(1.0, nx * x + ny * y + nz * z)
        gx, gy, gz = way * nx, way * ny, way * nz
        if (gx - x) ** 2 + (gy - y) ** 2 + (gz - z) ** 2 < _SNAP:
            now, _, _, _ = separation_along(p, q, hulls, work.hints, gx, gy, gz)
            if now >= apart - ROUNDING * size:
                return True, (now, gx, gy, gz)
    return False, best


@inner_kernel
def _open_edges(solid, hulls, work, side, cuts, target):
    at, killers, kept, sign = work.cuts[1 + side], work.killers[side], work.edges[side], 1.0 - 2.0 * side
    if solid.kind == CONVEX_HULL:
        hull = solid.hull
        first_vertex, first, first_edge = hulls.first[hull, 0], hulls.first[hull, 1], hulls.first[hull, 2]
        return open_edges(
            True, solid.axes, hulls.vertices, first_vertex, at, killers, kept, sign,
            hulls.planes, first, hulls.edges, first_edge, hulls.first[hull + 1, 2] - first_edge, cuts, target,
        )  # fmt: skip
    if solid.kind == SPHERE:
        return 0
    table = work.box_edges
    if solid.kind == CAPSULE:
        table = work.segment_edges
    elif solid.kind == TRIANGLE:
        table = work.triangle_edges
    return open_edges(
        False, solid.axes, hulls.vertices, 0, at, killers, kept, sign,
        work.normals[side], 0, table, 0, len(table), cuts, target,
    )  # fmt: skip


@inner_kernel
def _try_faces(solid, p, q, hulls, work, side, cuts, found, gain):
    if solid.kind == CONVEX_HULL:
        first = hulls.first[solid.hull, 1]
        faces = hulls.first[solid.hull + 1, 1] - first
        return try_faces(p, q, hulls, work, side, hulls.planes, first, faces, cuts, found, gain)
    faces = small_faces(solid, work.normals[side])
    return try_faces(p, q, hulls, work, side, work.normals[side], 0, faces, cuts, found, gain)


@inner_kernel
def _add_neighbours(solid, p, q, hulls, work, side, cuts, mx, my, mz):
    """Cuts beside the point m of M: one core's vertex in it replaced by each of its neighbours.

    Where a corner of M is near the origin, they rule out all directions but those of the faces around it.
    """
    if solid.kind != CONVEX_HULL:
        return cuts
    first, v = hulls.first[solid.hull, 0], hulls.vertices
    i = first + work.hints[side]
    sign = 2.0 * side - 1.0
    for k in range(hulls.neighbour_first[i], hulls.neighbour_first[i + 1]):
        j = first + hulls.neighbours[k]
        x, y, z = to_world(solid.axes, v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2])
        cuts = add_cut(p, q, work, cuts, mx + sign * x, my + sign * y, mz + sign * z)
    return cuts


@inner_kernel
def _best_of_all(p, q, hulls, work, rows, best, way, size, margin):
    """The best direction in overlap, given one that is the best near by, its simplex and its point of M."""
    cuts = 0
    for i in range(rows):
        cuts = add_cut(p, q, work, cuts, work.simplex[i, 0], work.simplex[i, 1], work.simplex[i, 2])
    _, mx, my, mz = separation_along(p, q, hulls, work.hints, -best[1], -best[2], -best[3])
    cuts = add_cut(p, q, work, cuts, mx, my, mz)
    _, mx, my, mz = separation_along(p, q, hulls, work.hints, best[1], best[2], best[3])
    cuts = _add_neighbours(p, p, q, hulls, work, 0, cuts, mx, my, mz)
    cuts = _add_neighbours(q, p, q, hulls, work, 1, cuts, mx, my, mz)
    gain = GAIN * size
    cuts, found = _try_faces(p, p, q, hulls, work, 0, cuts, best, gain)
    cuts, found = _try_faces(q, p, q, hulls, work, 1, cuts, found, gain)
    if is_curved(p.kind) or is_curved(q.kind):
        if found[0] > best[0]:
            _, found, _, _, way, _ = ascend(p, q, hulls, work, 0, found, size, margin, CLIMBS)
        return search_sphere(p, q, hulls, work, cuts, found, way, size, margin)
    p_edges = _open_edges(p, hulls, work, 0, cuts, found[0] + gain)
    q_edges = _open_edges(q, hulls, work, 1, cuts, found[0] + gain) if p_edges > 0 else 0
    _, found = try_edges(p, q, hulls, work, p_edges, q_edges, cuts, found, gain)
    return found


@inlined_kernel
def _try_cap(solid, p, q, hulls, work, sign, best):
    """The better of a direction and the normal of the solid's cap that it is near to."""
    if solid.kind != CYLINDER and solid.kind != CONE:
        return best
    r = solid.axes
    along = sign * (r[0, 2] * best[1] + r[1, 2] * best[2] + r[2, 2] * best[3])
    if abs(along) < _NEAR_CAP or (solid.kind == CONE and along > 0.0):
        return best
    way = sign * math.copysign(1.0, along)
    x, y, z = way * r[0, 2], way * r[1, 2], way * r[2, 2]
    now, _, _, _ = separation_along(p, q, hulls, work.hints, x, y, z)
    return (now, x, y, z) if now > best[0] else best


@inner_kernel
def _searched(p, q, hulls, work, rows, best, at_p, at_q, of_m, size, margin):
    """The best direction and its points by a search over all directions, from the best one near by."""
    if best[0] > GAIN * size:
        rows, found, near_p, near_q, _, _ = ascend_far(p, q, hulls, work, best, size, margin)
        if found[0] > best[0] + ROUNDING * size:
            best, at_p, at_q = found, near_p, near_q
    if best[0] < -GAIN * size:
        found = _best_of_all(p, q, hulls, work, rows, best, of_m, size, margin)
        if found[0] > best[0] + ROUNDING * size:
            _, best, at_p, at_q, _, _ = ascend(p, q, hulls, work, 0, found, size, margin, CLIMBS)
    return best, at_p, at_q


@inner_kernel
def _opposite(of_p, of_q, at_p, at_q, best, size):
    """Nearest points that are opposite one another: as found, or by the farthest point of one of the cores.

    Where a rim or a flat curve touches, nearest points are known to the root of the rounding only, but the
    farthest point (of p, of q) along the best direction to full precision, if it is the same.
    """
    if aside(at_p, at_q, best) <= (_ALIGNED * size) ** 2:
        return at_p, at_q
    apart, x, y, z = best
    off_p, off_q = aside(of_p, at_p, best), aside(of_q, at_q, best)
    if min(off_p, off_q) > (_NEAR * size) ** 2:
        return at_p, at_q
    if off_q <= off_p:
        return (of_q[0] - apart * x, of_q[1] - apart * y, of_q[2] - apart * z), of_q
    return of_p, (of_p[0] + apart * x, of_p[1] + apart * y, of_p[2] + apart * z)


@kernel
def separation(p, q, hulls, reach, work):
    """Gap of two solids [m], unit normal from p to q, and a point on each core that realises the gap.

    The gap is the largest separation along any direction: the distance if apart, minus the shortest
    translation that parts them in overlap. A gap beyond `reach` may be any lower bound above it.
    """
    radii = p.radius + q.radius
    limit = reach + radii
    x, y, z = q.x - p.x, q.y - p.y, q.z - p.z
    between = math.sqrt(x * x + y * y + z * z)
    p_extent, q_extent = extent(p, work), extent(q, work)
    if between - p_extent - q_extent > limit:
        x, y, z = x / between, y / between, z / between
        return between - p_extent - q_extent - radii, x, y, z, p.x, p.y, p.z, q.x, q.y, q.z
    if p_extent == 0.0 and q_extent == 0.0:
        if between == 0.0:
            return -radii, 0.0, 0.0, 1.0, p.x, p.y, p.z, q.x, q.y, q.z
        return between - radii, x / between, y / between, z / between, p.x, p.y, p.z, q.x, q.y, q.z
    if between == 0.0:
        x, y, z = p.axes[0, 2], p.axes[1, 2], p.axes[2, 2]
    size = p_extent + q_extent + between
    smaller = min(p_extent, q_extent)
    margin = _MARGIN * (smaller if smaller > 0.0 else max(p_extent, q_extent))
    work.hints[0] = 0
    work.hints[1] = 0
    end, rows, (nx, ny, nz), apart, at_p, at_q, way = distance(
        p, q, hulls, work.hints, work.simplex, 0, x, y, z, 0.0, 0.0, 0.0, limit, ROUNDING * size
    )
    best = (apart, nx, ny, nz)
    if end == BEYOND:
        return apart - radii, nx, ny, nz, at_p[0], at_p[1], at_p[2], at_q[0], at_q[1], at_q[2]
    x, y, z = at_q[0] - at_p[0], at_q[1] - at_p[1], at_q[2] - at_p[2]
    least = max(
        math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]), math.sqrt(x * x + y * y + z * z)
    )
    curved = is_curved(p.kind) or is_curved(q.kind)
    proven = end == APART or (end == STALLED and curved and least - apart < GAIN * size)
    if curved and end == STALLED and apart > margin:
        proven = True
        if 2.0 * (least - apart) > _ANGLE * _ANGLE * apart:
            # the bounds allow for a turn: still farther apart, the best direction is better defined
            _, best, at_p, at_q, _, _ = ascend(p, q, hulls, work, 0, best, size, 2.0 * apart, CLIMBS)
    if not proven or least < GAIN * size:
        if end == INSIDE and rows == 4:
            x, y, z = nearest_face(work.simplex)
            now, _, _, _ = separation_along(p, q, hulls, work.hints, x, y, z)
            if now > apart:
                best = (now, x, y, z)
        best = _try_cap(p, p, q, hulls, work, 1.0, best)
        best = _try_cap(q, p, q, hulls, work, -1.0, best)
        rows = rows if end == INSIDE else 0
        rows, best, at_p, at_q, of_m, proven = ascend(p, q, hulls, work, rows, best, size, margin, CLIMBS)
        if not proven:
            best, at_p, at_q = _searched(p, q, hulls, work, rows, best, at_p, at_q, of_m, size, margin)
    if curved:
        best, at_p, at_q = polish(p, q, hulls, work.hints, best, at_p, at_q, size, MISSED)
    separation_along(p, q, hulls, work.hints, best[1], best[2], best[3])
    put, best = _snapped(p, p, q, hulls, work, 0, best, size)
    if not put:
        put, best = _snapped(q, p, q, hulls, work, 1, best, size)
    apart, nx, ny, nz = best
    px, py, pz, qx, qy, qz = probe(p, q, hulls, work.hints, nx, ny, nz)
    at_p, at_q = _opposite((px, py, pz), (qx, qy, qz), at_p, at_q, best, size)
    # put the points on the planes that bound the cores, unless more than rounding is between
    p_error = nx * (px - at_p[0]) + ny * (py - at_p[1]) + nz * (pz - at_p[2])
    q_error = nx * (qx - at_q[0]) + ny * (qy - at_q[1]) + nz * (qz - at_q[2])
    if max(abs(p_error), abs(q_error)) < POINTS_OFF * size:
        px, py, pz = at_p[0] + p_error * nx, at_p[1] + p_error * ny, at_p[2] + p_error * nz
        qx, qy, qz = at_q[0] + q_error * nx, at_q[1] + q_error * ny, at_q[2] + q_error * nz
    return apart - radii, nx, ny, nz, px, py, pz, qx, qy, qz
