"""Contacts of two surfaces: vertices on faces, edges across edges, and apart also vertices beside both.

Every pair of features has its own directions, as in `features`: a vertex touches a face if nothing
around it is lower, edges touch if the direction across both lies on the arcs of both. Within a tilt of 0.01
rad a point counts as further support of a contact whose direction holds exactly; it takes that direction.
Edges that are apart and cross one another, seen across both, are contacts of their own: motion within a step
may turn them towards each other.
All numbers are in the frame of the first surface.
"""

import math

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import to_local
from nonsmooth.collision.kernels.surfaces.arrays import BORDER, OWN_EDGE, OWN_VERTEX, drop_around, edge_kind
from nonsmooth.collision.kernels.surfaces.contact_sets import COMING
from nonsmooth.collision.kernels.surfaces.features.edges_along import add_ends_along
from nonsmooth.collision.kernels.surfaces.features.polygons import over_triangle
from nonsmooth.collision.kernels.surfaces.features.rows import add_row
from nonsmooth.collision.kernels.surfaces.height_fields import cell_range, cell_within
from nonsmooth.collision.kernels.surfaces.meshes import finish
from nonsmooth.collision.kernels.surfaces.pair_directions import (
    EDGES,
    EXACT,
    FACE_OF_FIRST,
    FACE_OF_SECOND,
    choose_pair_directions,
)
from nonsmooth.collision.kernels.surfaces.sides import (
    depth_beside,
    edge,
    front,
    load_side,
    slope_at,
    slope_on_arc,
    span,
    turn_side,
)
from nonsmooth.collision.kernels.surfaces.work import Rows

_LEVEL = 0.01  # slope up to which a point is further support
_TURNED = 3.0  # slope, in reaches per size, that motion within a step may turn to zero
_EXACT = 1e-9  # slope up to which a direction holds exactly
_PARALLEL = 1e-3  # sine of the angle between edges below which they do not cross
_VERTEX_EDGE, _VERTICES = 4 << 60, 6 << 60  # first bits of marks; below: vertex on face, edge across edge


@inlined_kernel
def steepest_coming(reach, size):
    """Slope up to which a feature may come to touch in a step in which points move by `reach` at most."""
    return _LEVEL + _TURNED * reach / size


@inner_kernel
def face_mark(of_second, patch, v):
    """Mark of vertex v on a flat patch of the first surface or the second."""
    return np.int64(FACE_OF_SECOND if of_second else FACE_OF_FIRST) << 60 | np.int64(patch) << 30 | v


@inner_kernel
def _vertex_on_face(meshes, mesh, axes, sign, k, corners, numbers, face_corners, face_numbers,
                    face_normals, reach, tiny, rows, count):  # fmt: skip
    """Corner k of a triangle of surface `mesh`, whose frame has these axes, on the other's triangle.

    `sign` is 1 if the face belongs to the first surface.
    """
    x, y, z = corners[0, k], corners[1, k], corners[2, k]
    nx, ny, nz = face_normals[3, 0], face_normals[3, 1], face_normals[3, 2]
    gap = nx * (x - face_corners[0, 0]) + ny * (y - face_corners[1, 0]) + nz * (z - face_corners[2, 0])
    if gap > reach:
        return count
    if not over_triangle(face_corners, nx, ny, nz, x, y, z, tiny):
        return count
    v = numbers[k]
    slope = slope_at(meshes, mesh, v, axes, -nx, -ny, -nz)
    if slope > _LEVEL:
        return count
    if gap < -tiny:
        lx, ly, lz = to_local(axes, nx, ny, nz)
        # all that is around the vertex lies behind the face: it did not come through it
        if gap + drop_around(meshes, mesh, v, lx, ly, lz) < 0.0:
            return count
    exact = EXACT if slope <= _EXACT else 0
    mark = face_mark(sign < 0.0, face_numbers[4], v)
    # rows hold the point of the first surface
    shift = -gap if sign > 0.0 else 0.0
    return add_row(
        rows, count, 0, face_numbers[4], exact, mark,
        x + shift * nx, y + shift * ny, z + shift * nz, sign * nx, sign * ny, sign * nz, gap, gap,
    )  # fmt: skip


@inner_kernel
def _edges(i, j, s_triangle, t_triangle, s_corners, s_numbers, s_normals, t_corners, t_numbers, t_normals,
           reach, steep, tiny, rows, count):  # fmt: skip
    """Edge i of the first surface's triangle across edge j of the second's."""
    ax, ay, az, ux, uy, uz, u_length = edge(s_corners, i)
    bx, by, bz, vx, vy, vz, v_length = edge(t_corners, j)
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine = math.sqrt(nx * nx + ny * ny + nz * nz)
    if sine < _PARALLEL:
        return add_ends_along(
            i, j, (3 * s_triangle + i, 3 * t_triangle + j), s_corners, s_numbers, s_normals, t_corners,
            t_numbers, t_normals, reach, tiny, rows, count,
        )  # fmt: skip
    nx, ny, nz = nx / sine, ny / sine, nz / sine
    s_border, t_border = edge_kind(s_numbers[3], i) == BORDER, edge_kind(t_numbers[3], j) == BORDER
    if front(s_normals, i, s_border, nx, ny, nz) - front(t_normals, j, t_border, nx, ny, nz) < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    slope = max(
        slope_on_arc(s_normals, i, s_border, ux, uy, uz, nx, ny, nz),
        slope_on_arc(t_normals, j, t_border, vx, vy, vz, -nx, -ny, -nz),
    )
    if slope > steep:
        return count
    if front(s_normals, i, s_border, nx, ny, nz) < 0.0 or front(t_normals, j, t_border, nx, ny, nz) > 0.0:
        return count
    dx, dy, dz = bx - ax, by - ay, bz - az
    gap = nx * dx + ny * dy + nz * dz
    if gap > reach or (slope > _LEVEL and gap < tiny):
        return count
    # one edge cannot have come farther into the other surface than the faces beside them lead
    if (
        -gap
        > max(
            depth_beside(s_corners, s_normals, i, s_border, nx, ny, nz),
            depth_beside(t_corners, t_normals, j, t_border, -nx, -ny, -nz),
        )
        + tiny
    ):
        return count
    # a + p u and b + q v lie above one another along n
    cosine = ux * vx + uy * vy + uz * vz
    du, dv = ux * dx + uy * dy + uz * dz, vx * dx + vy * dy + vz * dz
    p = (du - cosine * dv) / (sine * sine)
    q = (cosine * du - dv) / (sine * sine)
    if not (-tiny <= p <= u_length + tiny and -tiny <= q <= v_length + tiny):
        return count
    if count < rows.tags.shape[0]:
        ways = rows.ways[count]
        ways[0], ways[1], ways[2], ways[3], ways[4], ways[5] = ux, uy, uz, vx, vy, vz
    mark = EDGES << 60 | (3 * s_triangle + i) << 30 | (3 * t_triangle + j)
    return add_row(
        rows, count, 1, s_numbers[4], EXACT if slope <= _EXACT else (0 if slope <= _LEVEL else COMING), mark,
        ax + p * ux, ay + p * uy, az + p * uz, nx, ny, nz, gap, gap,
    )  # fmt: skip


@inner_kernel
def _vertex_by_edge(meshes, mesh, axes, sign, k, corners, numbers, e, e_triangle, e_corners, e_numbers,
                    e_normals, reach, tiny, rows, count):  # fmt: skip
    """Corner k of surface `mesh` nearest to edge e of the other; `sign` is 1 if the edge is the first's."""
    ax, ay, az, ex, ey, ez, length = edge(e_corners, e)
    x, y, z = corners[0, k] - ax, corners[1, k] - ay, corners[2, k] - az
    along = x * ex + y * ey + z * ez
    if along < -tiny or along > length + tiny:
        return count
    x, y, z = x - along * ex, y - along * ey, z - along * ez
    gap = math.sqrt(x * x + y * y + z * z)
    if gap > reach or gap < tiny:
        return count
    nx, ny, nz = x / gap, y / gap, z / gap
    # what rounding left of a short way along the edge
    left = nx * ex + ny * ey + nz * ez
    nx, ny, nz = nx - left * ex, ny - left * ey, nz - left * ez
    border = edge_kind(e_numbers[3], e) == BORDER
    if slope_on_arc(e_normals, e, border, ex, ey, ez, nx, ny, nz) > _EXACT:
        return count
    if not border and front(e_normals, e, border, nx, ny, nz) < 0.0:
        return count
    if slope_at(meshes, mesh, numbers[k], axes, -nx, -ny, -nz) > _EXACT:
        return count
    mark = (_VERTEX_EDGE if sign > 0.0 else 5 << 60) | (3 * e_triangle + e) << 30 | numbers[k]
    shift = 0.0 if sign > 0.0 else gap
    return add_row(
        rows, count, 1, e_numbers[4], EXACT, mark,
        ax + along * ex + shift * nx, ay + along * ey + shift * ny, az + along * ez + shift * nz,
        sign * nx, sign * ny, sign * nz, gap, gap,
    )  # fmt: skip


@inner_kernel
def _vertices(meshes, s_mesh, t_mesh, one, axes, i, s_corners, s_numbers, j, t_corners, t_numbers, reach,
              tiny, rows, count):  # fmt: skip
    """Corner i of the first surface's triangle nearest to corner j of the second's."""
    x, y, z = s_corners[0, i], s_corners[1, i], s_corners[2, i]
    nx, ny, nz = t_corners[0, j] - x, t_corners[1, j] - y, t_corners[2, j] - z
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap > reach or gap < tiny:
        return count
    nx, ny, nz = nx / gap, ny / gap, nz / gap
    if slope_at(meshes, s_mesh, s_numbers[i], one, nx, ny, nz) > _EXACT:
        return count
    if slope_at(meshes, t_mesh, t_numbers[j], axes, -nx, -ny, -nz) > _EXACT:
        return count
    return add_row(
        rows, count, 1, s_numbers[4], EXACT, _VERTICES | s_numbers[i] << 30 | t_numbers[j],
        x, y, z, nx, ny, nz, gap, gap,
    )  # fmt: skip


@inner_kernel
def _pair(meshes, s_mesh, t_mesh, s_triangle, t_triangle, axes, reach, tiny, work, rows, count):
    """Rows of two loaded triangles and of the edges and vertices that they speak for."""
    s_corners, s_numbers, s_normals = work.corners, work.numbers, work.normals[0]
    t_corners, t_numbers, t_normals = work.other_corners, work.other_numbers, work.normals[1]
    nx, ny, nz = s_normals[3, 0], s_normals[3, 1], s_normals[3, 2]
    _, top = span(s_corners, nx, ny, nz)
    low, _ = span(t_corners, nx, ny, nz)
    if low - top > reach:
        return count
    nx, ny, nz = t_normals[3, 0], t_normals[3, 1], t_normals[3, 2]
    _, top = span(t_corners, nx, ny, nz)
    low, _ = span(s_corners, nx, ny, nz)
    if low - top > reach:
        return count
    for axis in range(3):
        s_low, s_high = (
            min(s_corners[axis, 0], s_corners[axis, 1], s_corners[axis, 2]),
            max(s_corners[axis, 0], s_corners[axis, 1], s_corners[axis, 2]),
        )
        t_low, t_high = (
            min(t_corners[axis, 0], t_corners[axis, 1], t_corners[axis, 2]),
            max(t_corners[axis, 0], t_corners[axis, 1], t_corners[axis, 2]),
        )
        if t_low - s_high > reach or s_low - t_high > reach:
            return count
    steep = steepest_coming(reach, min(meshes.grid[s_mesh, 4], meshes.grid[t_mesh, 4]))
    s_flags, t_flags = s_numbers[3], t_numbers[3]
    for j in range(3):
        if t_flags >> (OWN_VERTEX + j) & 1:
            count = _vertex_on_face(
                meshes, t_mesh, axes, 1.0, j, t_corners, t_numbers, s_corners, s_numbers, s_normals,
                reach, tiny, rows, count,
            )  # fmt: skip
        if s_flags >> (OWN_VERTEX + j) & 1:
            count = _vertex_on_face(
                meshes, s_mesh, work.one, -1.0, j, s_corners, s_numbers, t_corners, t_numbers, t_normals,
                reach, tiny, rows, count,
            )  # fmt: skip
    for i in range(3):
        s_edge, s_vertex = s_flags >> (OWN_EDGE + i) & 1, s_flags >> (OWN_VERTEX + i) & 1
        if not (s_edge or s_vertex):
            continue
        for j in range(3):
            t_edge, t_vertex = t_flags >> (OWN_EDGE + j) & 1, t_flags >> (OWN_VERTEX + j) & 1
            if s_edge and t_edge:
                count = _edges(
                    i, j, s_triangle, t_triangle, s_corners, s_numbers, s_normals, t_corners, t_numbers,
                    t_normals, reach, steep, tiny, rows, count,
                )  # fmt: skip
            if s_edge and t_vertex:
                count = _vertex_by_edge(
                    meshes, t_mesh, axes, 1.0, j, t_corners, t_numbers, i, s_triangle, s_corners, s_numbers,
                    s_normals, reach, tiny, rows, count,
                )  # fmt: skip
            if s_vertex and t_edge:
                count = _vertex_by_edge(
                    meshes, s_mesh, work.one, -1.0, i, s_corners, s_numbers, j, t_triangle, t_corners,
                    t_numbers, t_normals, reach, tiny, rows, count,
                )  # fmt: skip
            if s_vertex and t_vertex:
                count = _vertices(
                    meshes, s_mesh, t_mesh, work.one, axes, i, s_corners, s_numbers, j, t_corners,
                    t_numbers, reach, tiny, rows, count,
                )  # fmt: skip
    return count


@inner_kernel
def turned_box(boxes, at, axes, x, y, z, reach, box):
    """Bounds of a turned box, `reach` farther on all sides."""
    for k in range(3):
        middle, half = (x if k == 0 else (y if k == 1 else z)), reach
        for i in range(3):
            middle += axes[k, i] * 0.5 * (boxes[at, i] + boxes[at, 3 + i])
            half += abs(axes[k, i]) * 0.5 * (boxes[at, 3 + i] - boxes[at, i])
        box[k], box[3 + k] = middle - half, middle + half


@inner_kernel
def _leaf_pair(meshes, s_mesh, t_mesh, s_from, s_to, t_from, t_to, axes, x, y, z, reach, tiny, work, rows,
               count):  # fmt: skip
    """Rows of runs of triangles of both surfaces."""
    for t in range(t_from, t_to):
        load_side(meshes, t_mesh, t, work.other_corners, work.other_numbers, work.normals[1])
        turn_side(axes, x, y, z, work.other_corners, work.normals[1])
        for s in range(s_from, s_to):
            load_side(meshes, s_mesh, s, work.corners, work.numbers, work.normals[0])
            count = _pair(meshes, s_mesh, t_mesh, s, t, axes, reach, tiny, work, rows, count)
    return count


@inner_kernel
def _search(meshes, s_mesh, t_mesh, axes, x, y, z, reach, tiny, work, rows, count):
    """Rows of all leaves of the second surface, a mesh, that are near leaves or cells of the first."""
    field = meshes.shape[s_mesh, 0] > 0
    s_levels, t_levels = meshes.shape[s_mesh, 2], meshes.shape[t_mesh, 2]
    s_inner, t_inner = (1 << s_levels) - 1, (1 << t_levels) - 1
    s_total = meshes.first[s_mesh + 1, 1] - meshes.first[s_mesh, 1]
    t_total = meshes.first[t_mesh + 1, 1] - meshes.first[t_mesh, 1]
    s_stack, t_stack, box = work.stack[0], work.stack[1], work.box
    s_stack[0], t_stack[0] = 0, 0
    depth = 1
    while depth > 0:
        depth -= 1
        s, t = s_stack[depth], t_stack[depth]
        turned_box(meshes.boxes, meshes.first[t_mesh, 3] + t, axes, x, y, z, reach, box)
        t_leaf = t >= t_inner
        if field:
            i_from, i_to, j_from, j_to = cell_range(meshes, s_mesh, box)
            if i_from >= i_to or j_from >= j_to:
                continue
            if not t_leaf:
                s_stack[depth], t_stack[depth] = 0, 2 * t + 2
                s_stack[depth + 1], t_stack[depth + 1] = 0, 2 * t + 1
                depth += 2
                continue
            leaf = t - t_inner
            for i in range(i_from, i_to):
                for j in range(j_from, j_to):
                    if cell_within(meshes, s_mesh, i, j, box):
                        cell = i * (meshes.shape[s_mesh, 1] - 1) + j
                        count = _leaf_pair(
                            meshes, s_mesh, t_mesh, 2 * cell, 2 * cell + 2, (leaf * t_total) >> t_levels,
                            ((leaf + 1) * t_total) >> t_levels, axes, x, y, z, reach, tiny, work, rows, count,
                        )  # fmt: skip
            continue
        at = meshes.first[s_mesh, 3] + s
        apart = False
        for k in range(3):
            if meshes.boxes[at, k] > box[3 + k] or meshes.boxes[at, 3 + k] < box[k]:
                apart = True
        if apart:
            continue
        s_leaf = s >= s_inner
        if s_leaf and t_leaf:
            i, j = s - s_inner, t - t_inner
            count = _leaf_pair(
                meshes, s_mesh, t_mesh, (i * s_total) >> s_levels, ((i + 1) * s_total) >> s_levels,
                (j * t_total) >> t_levels, ((j + 1) * t_total) >> t_levels, axes, x, y, z, reach, tiny,
                work, rows, count,
            )  # fmt: skip
            continue
        # the larger of both is divided
        s_side, t_side = 0.0, 0.0
        for k in range(3):
            s_side = max(s_side, meshes.boxes[at, 3 + k] - meshes.boxes[at, k])
            t_side = max(t_side, box[3 + k] - box[k] - 2.0 * reach)
        if t_leaf or (not s_leaf and s_side >= t_side):
            s_stack[depth], t_stack[depth] = 2 * s + 2, t
            s_stack[depth + 1], t_stack[depth + 1] = 2 * s + 1, t
        else:
            s_stack[depth], t_stack[depth] = s, 2 * t + 2
            s_stack[depth + 1], t_stack[depth + 1] = s, 2 * t + 1
        depth += 2
    return count


@kernel
def mesh_mesh_contacts(mesh, x, y, z, axes, other, other_x, other_y, other_z, other_axes, meshes, reach,
                       work, spots, marks):  # fmt: skip
    """Contacts of two surfaces, of which the second must be a mesh; their number.

    Rows and numbers beyond the capacity are as in `mesh_contacts`; normals point from `mesh` to `other`.
    """
    turned = work.axes
    for k in range(3):
        turned[0, k], turned[1, k], turned[2, k] = to_local(
            axes, other_axes[0, k], other_axes[1, k], other_axes[2, k]
        )
    dx, dy, dz = to_local(axes, other_x - x, other_y - y, other_z - z)
    size = min(meshes.grid[mesh, 4], meshes.grid[other, 4])
    tiny = 1e-9 * size + 1e-12
    room = min(spots.shape[0], work.tags.shape[0])
    rows = Rows(spots, marks, work.tags[:room], work.plane, work.ways)
    count = _search(meshes, mesh, other, turned, dx, dy, dz, reach, tiny, work, rows, 0)
    if count > room:
        return count
    choose_pair_directions(rows, count, size, tiny)
    return finish(x, y, z, axes, size, tiny, work, spots, marks, count)
