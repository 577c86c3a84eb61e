"""Contacts of a mesh or a height field with a convex solid."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.gjk import BEYOND, distance
from nonsmooth.collision.kernels.directions.solids import TRIANGLE, Solid, support, to_local
from nonsmooth.collision.kernels.surfaces.arrays import load_triangle, triangle_normal
from nonsmooth.collision.kernels.surfaces.contact_sets import (
    choose_directions,
    drop_ways_around,
    reduce,
    write_contacts,
)
from nonsmooth.collision.kernels.surfaces.features.discs import set_disc
from nonsmooth.collision.kernels.surfaces.features.rows import solid_feature
from nonsmooth.collision.kernels.surfaces.features.triangles import triangle_rows
from nonsmooth.collision.kernels.surfaces.height_fields import cell_range, cell_within, is_under
from nonsmooth.collision.kernels.surfaces.trees import boxes_meet
from nonsmooth.collision.kernels.surfaces.work import Rows

_TINY = 2.5e-10
_KEPT = 4  # directions in which triangles were out of reach


@inner_kernel
def place_solid(solid, x, y, z, axes, work):
    """The solid in the frame of a surface at (x, y, z) with the given axes."""
    turned = work.axes
    for k in range(3):
        turned[0, k], turned[1, k], turned[2, k] = to_local(
            axes, solid.axes[0, k], solid.axes[1, k], solid.axes[2, k]
        )
    sx, sy, sz = to_local(axes, solid.x - x, solid.y - y, solid.z - z)
    return Solid(solid.kind, solid.a, solid.b, solid.c, solid.radius, sx, sy, sz, turned, solid.hull)


@inner_kernel
def set_box(solid, hulls, reach, box):
    """Bounds of a solid, `reach` farther on all sides; the largest side."""
    more = reach + solid.radius
    size = 0.0
    for k in range(3):
        ex, ey, ez = (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)
        px, py, pz, _ = support(solid, hulls, -ex, -ey, -ez, 0)
        qx, qy, qz, _ = support(solid, hulls, ex, ey, ez, 0)
        low, high = px * ex + py * ey + pz * ez, qx * ex + qy * ey + qz * ez
        size = max(size, high - low + 2.0 * solid.radius)
        box[k], box[3 + k] = low - more, high + more
    return size


@inner_kernel
def near_box(corners, box):
    """True if the bounds of a triangle, whose corners are columns, meet a box."""
    for k in range(3):
        a, b, c = corners[k, 0], corners[k, 1], corners[k, 2]
        if min(a, b, c) > box[3 + k] or max(a, b, c) < box[k]:
            return False
    return True


@inner_kernel
def _is_beyond(corners, q, hulls, limit, work):
    """True if a triangle is farther than `limit` from a solid's core.

    Directions that showed it of other triangles are tried first: `ways_apart` holds them and the lowest
    height of the solid along each, so that a triangle costs no search on the solid.
    """
    ways = work.ways_apart
    for k in range(_KEPT):
        if ways[k, 3] - _highest(corners, ways[k, 0], ways[k, 1], ways[k, 2]) > limit:
            return True
    ax, ay, az = corners[0, 0], corners[1, 0], corners[2, 0]
    for k in range(3):
        work.room[0, k], work.room[1, k], work.room[2, k] = (
            corners[0, k] - ax, corners[1, k] - ay, corners[2, k] - az
        )  # fmt: skip
    flat = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, ax, ay, az, work.room, 0)
    x = q.x - (corners[0, 0] + corners[0, 1] + corners[0, 2]) / 3.0
    y = q.y - (corners[1, 0] + corners[1, 1] + corners[1, 2]) / 3.0
    z = q.z - (corners[2, 0] + corners[2, 1] + corners[2, 2]) / 3.0
    end, _, (nx, ny, nz), apart, _, _, _ = distance(
        flat, q, hulls, work.direction.hints, work.direction.simplex, 0, x, y, z, 0.0, 0.0, 0.0, limit, limit
    )
    if end != BEYOND:
        return False
    for k in range(_KEPT - 1, 0, -1):
        for i in range(4):
            ways[k, i] = ways[k - 1, i]
    ways[0, 0], ways[0, 1], ways[0, 2] = nx, ny, nz
    ways[0, 3] = apart + _highest(corners, nx, ny, nz)
    return True


@inlined_kernel
def _highest(corners, x, y, z):
    """Greatest height of a triangle along (x, y, z)."""
    return max(
        x * corners[0, 0] + y * corners[1, 0] + z * corners[2, 0],
        x * corners[0, 1] + y * corners[1, 1] + z * corners[2, 1],
        x * corners[0, 2] + y * corners[1, 2] + z * corners[2, 2],
    )


@inner_kernel
def _next_leaf(boxes, first, levels, limit, work, depth):
    """As `trees.next_leaf`, without boxes that a direction of `ways_apart` shows to be out of reach."""
    inner, stack, ways = (1 << levels) - 1, work.stack[0], work.ways_apart
    while depth > 0:
        depth -= 1
        node = stack[depth]
        at = first + node
        if not boxes_meet(boxes, at, work.box):
            continue
        x, y, z = boxes[at, 0] + boxes[at, 3], boxes[at, 1] + boxes[at, 4], boxes[at, 2] + boxes[at, 5]
        a, b, c = boxes[at, 3] - boxes[at, 0], boxes[at, 4] - boxes[at, 1], boxes[at, 5] - boxes[at, 2]
        far = False
        for k in range(_KEPT):
            nx, ny, nz = ways[k, 0], ways[k, 1], ways[k, 2]
            top = 0.5 * (nx * x + ny * y + nz * z + abs(nx) * a + abs(ny) * b + abs(nz) * c)
            if ways[k, 3] - top > limit:
                far = True
        if far:
            continue
        if node >= inner:
            return node - inner, depth
        stack[depth], stack[depth + 1] = 2 * node + 2, 2 * node + 1
        depth += 2
    return -1, 0


@inner_kernel
def _view_of_patch(nx, ny, nz, corners, q, hulls, reach, feature, disc):
    """How the solid lies over a patch: points of its feature (side 1), lowest height, offset, top height."""
    offset = nx * corners[0, 0] + ny * corners[1, 0] + nz * corners[2, 0]
    px, py, pz, _ = support(q, hulls, -nx, -ny, -nz, 0)
    lowest = nx * px + ny * py + nz * pz - offset - q.radius
    points, top = 0, math.inf
    if lowest <= reach:
        points = solid_feature(q, hulls, nx, ny, nz, feature, 1)
        set_disc(q, points, feature.normal[1], disc)
        px, py, pz, _ = support(q, hulls, nx, ny, nz, 0)
        top = nx * px + ny * py + nz * pz - offset + q.radius
    return points, lowest, offset, top


@inner_kernel
def _visit(meshes, mesh, triangle, kept, q, hulls, reach, tiny, size, work, rows, count):
    """Rows of one triangle; `kept` is what is known of the patch of the triangle before."""
    load_triangle(meshes, mesh, triangle, work.corners, work.numbers)
    if work.numbers[4] != kept[0]:
        nx, ny, nz = triangle_normal(meshes, mesh, triangle)
        points, lowest, offset, top = _view_of_patch(
            nx, ny, nz, work.corners, q, hulls, reach, work.feature, work.face_disc
        )
        kept = (work.numbers[4], points, (nx, ny, nz, lowest), offset, top)
    _, points, face, offset, top = kept
    if face[3] <= reach:
        count = triangle_rows(
            meshes, mesh, triangle, q, hulls, points, face, offset, top, reach, tiny, size, work, rows, count
        )
    return count, kept


@kernel
def mesh_contacts(mesh, x, y, z, axes, solid, meshes, hulls, reach, work, spots, marks):
    """Contacts of surface `mesh` at (x, y, z) with the given axes and a convex solid; their number.

    Rows of `spots` are the point, the unit normal from the surface to the solid, and the gap, sorted by
    `marks`. If the number is greater than the rows of `spots` or than the capacity of `work`, nothing of
    use is written: call again with as many rows.
    """
    q = place_solid(solid, x, y, z, axes, work)
    size = set_box(q, hulls, reach, work.box)
    tiny = _TINY * min(size, meshes.grid[mesh, 4]) + 1e-12
    room = min(spots.shape[0], work.tags.shape[0])
    rows = Rows(spots, marks, work.tags[:room], work.plane, work.ways)
    count = 0
    nothing = (-1, 0, (0.0, 0.0, 0.0, 0.0), 0.0, 0.0)
    kept = nothing
    work.direction.hints[:] = 0
    work.ways_apart[:, :3] = 0.0
    work.ways_apart[:, 3] = -math.inf
    if meshes.shape[mesh, 0] == 0:
        levels = meshes.shape[mesh, 2]
        first, total = meshes.first[mesh, 3], meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
        base, first_triangle, limit = meshes.first[mesh, 0], meshes.first[mesh, 1], reach + q.radius
        work.stack[0, 0] = 0
        leaf, depth = _next_leaf(meshes.boxes, first, levels, limit, work, 1)
        while leaf >= 0:
            for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
                for k in range(3):
                    v = base + meshes.triangles[first_triangle + t, k]
                    work.corners[0, k], work.corners[1, k], work.corners[2, k] = (
                        meshes.vertices[v, 0], meshes.vertices[v, 1], meshes.vertices[v, 2]
                    )  # fmt: skip
                if near_box(work.corners, work.box) and not _is_beyond(work.corners, q, hulls, limit, work):
                    count, kept = _visit(
                        meshes, mesh, t, kept, q, hulls, reach, tiny, size, work, rows, count
                    )
            leaf, depth = _next_leaf(meshes.boxes, first, levels, limit, work, depth)
    else:
        i_from, i_to, j_from, j_to = cell_range(meshes, mesh, work.box)
        sunk = is_under(meshes, mesh, q.x, q.y, q.z)  # then the surface may be out of reach above
        for i in range(i_from, i_to):
            for j in range(j_from, j_to):
                if cell_within(meshes, mesh, i, j, work.box):
                    cell = i * (meshes.shape[mesh, 1] - 1) + j
                    for t in range(2 * cell, 2 * cell + 2):
                        load_triangle(meshes, mesh, t, work.corners, work.numbers)
                        if not sunk and (
                            not near_box(work.corners, work.box)
                            or _is_beyond(work.corners, q, hulls, reach + q.radius, work)
                        ):
                            continue
                        count, kept = _visit(
                            meshes, mesh, t, kept, q, hulls, reach, tiny, size, work, rows, count
                        )
    if count > room:
        return count
    choose_directions(rows, count, q.radius, tiny)
    return finish(x, y, z, axes, size, tiny, work, spots, marks, count)


@inner_kernel
def finish(x, y, z, axes, size, tiny, work, spots, marks, count):
    """Contacts from the rows whose direction is chosen."""
    drop_ways_around(spots, work.tags, work.plane, count, size, tiny)
    reduce(spots, marks, work.tags, work.flat, work.order, count, 100.0 * tiny)
    return write_contacts(spots, marks, work.tags, count, x, y, z, axes)
