"""Contacts of a mesh or a height field with a convex solid."""

import math

from nonsmooth._jit import inner_kernel, kernel
from nonsmooth.collision.kernels.contact_sets import (
    choose_directions,
    drop_ways_around,
    reduce,
    write_contacts,
)
from nonsmooth.collision.kernels.discs import set_disc
from nonsmooth.collision.kernels.height_fields import cell_range, cell_within, is_under
from nonsmooth.collision.kernels.mesh_features import solid_feature, triangle_rows
from nonsmooth.collision.kernels.mesh_work import Rows
from nonsmooth.collision.kernels.solids import Solid, support, to_local
from nonsmooth.collision.kernels.surface_arrays import load_triangle, triangle_normal
from nonsmooth.collision.kernels.trees import next_leaf

_TINY = 2.5e-10
_DIRECTIONS = 4


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
def _is_far(vertices, triangles, base, at, q, hulls, limit, corners, box):
    """True if a triangle of a mesh is shown to be out of reach; few arguments, as most triangles end here."""
    for k in range(3):
        v = base + triangles[at, k]
        corners[0, k], corners[1, k], corners[2, k] = vertices[v, 0], vertices[v, 1], vertices[v, 2]
    return not near_box(corners, box) or beyond(corners, q, hulls, limit)


@inner_kernel
def beyond(corners, q, hulls, limit):
    """True if a few cheap directions show that a triangle is farther than `limit` from a solid's core."""
    x = q.x - (corners[0, 0] + corners[0, 1] + corners[0, 2]) / 3.0
    y = q.y - (corners[1, 0] + corners[1, 1] + corners[1, 2]) / 3.0
    z = q.z - (corners[2, 0] + corners[2, 1] + corners[2, 2]) / 3.0
    start = 0
    for _ in range(_DIRECTIONS):
        length = math.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            return False
        sx, sy, sz, start = support(q, hulls, -x, -y, -z, start)
        best, most = 0, -math.inf
        for k in range(3):
            height = x * corners[0, k] + y * corners[1, k] + z * corners[2, k]
            if height > most:
                best, most = k, height
        wx, wy, wz = sx - corners[0, best], sy - corners[1, best], sz - corners[2, best]
        if x * wx + y * wy + z * wz > limit * length:
            return True
        # on to the point nearest to the origin between the last difference and this one
        dx, dy, dz = x - wx, y - wy, z - wz
        square = dx * dx + dy * dy + dz * dz
        if square == 0.0:
            return False
        part = min(1.0, max(0.0, -(wx * dx + wy * dy + wz * dz) / square))
        x, y, z = wx + part * dx, wy + part * dy, wz + part * dz
    return False


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
    if meshes.shape[mesh, 0] == 0:
        levels = meshes.shape[mesh, 2]
        first, total = meshes.first[mesh, 3], meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
        base, first_triangle, limit = meshes.first[mesh, 0], meshes.first[mesh, 1], reach + q.radius
        stack = work.stack[0]
        stack[0] = 0
        leaf, depth = next_leaf(meshes.boxes, first, levels, work.box, stack, 1)
        while leaf >= 0:
            for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
                if not _is_far(
                    meshes.vertices, meshes.triangles, base, first_triangle + t, q, hulls, limit,
                    work.corners, work.box,
                ):  # fmt: skip
                    count, kept = _visit(
                        meshes, mesh, t, kept, q, hulls, reach, tiny, size, work, rows, count
                    )
            leaf, depth = next_leaf(meshes.boxes, first, levels, work.box, stack, depth)
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
                            or beyond(work.corners, q, hulls, reach + q.radius)
                        ):
                            continue
                        count, kept = _visit(
                            meshes, mesh, t, kept, q, hulls, reach, tiny, size, work, rows, count
                        )
    if count > room:
        return count
    choose_directions(spots, work.tags, work.plane, count, q.radius, tiny)
    return finish(x, y, z, axes, size, tiny, work, spots, marks, count)


@inner_kernel
def finish(x, y, z, axes, size, tiny, work, spots, marks, count):
    """Contacts from the rows whose direction is chosen."""
    drop_ways_around(spots, work.tags, work.plane, count, size, tiny)
    reduce(spots, work.tags, work.flat, work.order, count, 100.0 * tiny)
    return write_contacts(spots, marks, work.tags, count, x, y, z, axes)
