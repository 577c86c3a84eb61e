"""Points where a convex solid may touch a triangle, its sharp edges and its sharp vertices.

Each kind of feature has its own directions, so that no two speak for the same one: a flat patch its normal,
a convex edge the arc between the normals beside it, a vertex the cone of the normals around it. Flat and
concave edges have none.
"""

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import TRIANGLE, Solid
from nonsmooth.collision.kernels.surfaces.arrays import (
    BORDER,
    OWN_EDGE,
    OWN_VERTEX,
    beside,
    edge_kind,
    is_field,
    triangle_normal,
)
from nonsmooth.collision.kernels.surfaces.features.edges import edge_rows
from nonsmooth.collision.kernels.surfaces.features.faces import face_rows
from nonsmooth.collision.kernels.surfaces.features.vertices import vertex_rows
from nonsmooth.collision.kernels.surfaces.height_fields import is_under

_BEHIND = 1e-3  # part of the solid's size below a triangle from where on it must be shown to cross it


@inner_kernel
def crosses(corners, room, solid, hulls, direction):
    """True if the solid and the triangle have a point in common."""
    ax, ay, az = corners[0, 0], corners[1, 0], corners[2, 0]
    for k in range(3):
        room[0, k], room[1, k], room[2, k] = corners[0, k] - ax, corners[1, k] - ay, corners[2, k] - az
    flat = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, ax, ay, az, room, 0)
    return separation(flat, solid, hulls, 0.0, direction)[0] <= 0.0


@inner_kernel
def _rows_under(meshes, mesh, rows, before, count):
    """Of the rows from `before` on those where the solid is under a height field: all there is solid."""
    kept = before
    for i in range(before, min(count, rows.tags.shape[0])):
        spot = rows.spots[i]
        gap = spot[6]
        if is_under(meshes, mesh, spot[0] + gap * spot[3], spot[1] + gap * spot[4], spot[2] + gap * spot[5]):
            rows.marks[kept] = rows.marks[i]
            for k in range(7):
                rows.spots[kept, k] = spot[k]
            for k in range(4):
                rows.tags[kept, k] = rows.tags[i, k]
            for k in range(5):
                rows.plane[kept, k] = rows.plane[i, k]
            kept += 1
    return kept if count <= rows.tags.shape[0] else count


@inner_kernel
def triangle_rows(meshes, mesh, triangle, solid, hulls, points, face, offset, top, reach, tiny, size, work,
                  rows, count):  # fmt: skip
    """Rows of a triangle that is loaded, and of the edges and vertices that it speaks for."""
    nx, ny, nz, lowest = face
    corners, numbers = work.corners, work.numbers
    field = is_field(meshes, mesh)
    if top >= -tiny or field:
        behind = lowest < -_BEHIND * size
        before = count
        count = face_rows(
            triangle, corners, numbers, work.feature.points[1], work.feature.labels[1],
            work.feature.normal[1], work.face_disc, points, face, offset, solid.radius, reach, tiny, rows,
            count,
        )  # fmt: skip
        if behind and count > before and not crosses(corners, work.room, solid, hulls, work.direction):
            count = _rows_under(meshes, mesh, rows, before, count) if field else before
    flags = numbers[3]
    for k in range(3):
        if flags >> (OWN_EDGE + k) & 1:
            ox, oy, oz = nx, ny, nz
            if edge_kind(flags, k) != BORDER:
                ox, oy, oz = triangle_normal(meshes, mesh, beside(meshes, mesh, triangle, k))
            count = edge_rows(
                triangle, k, corners, numbers, nx, ny, nz, ox, oy, oz, solid, hulls, reach, tiny, work,
                rows, count,
            )  # fmt: skip
        if flags >> (OWN_VERTEX + k) & 1:
            count = vertex_rows(
                meshes, mesh, k, corners, numbers, solid, hulls, reach, tiny, work, rows, count
            )
    return count
