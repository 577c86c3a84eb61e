"""Rows of a triangle's face: corners of the area that the solid's own face shares with the patch.

They are corners of the solid's face, vertices of the patch's rim, and crossings of both outlines. Edges
inside the patch give none.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.surfaces.arrays import CONCAVE, FLAT, RIM_VERTEX, edge_kind
from nonsmooth.collision.kernels.surfaces.features.discs import over_disc, rim_crossing
from nonsmooth.collision.kernels.surfaces.features.polygons import across, over_triangle, within
from nonsmooth.collision.kernels.surfaces.features.rows import CORNER, CROSSING, OF_FACE, RIM, add_row

_CORNER, _RIM, _CROSSING = CORNER << 60, RIM << 60, CROSSING << 60


@inner_kernel
def face_rows(triangle, corners, numbers, feature, labels, m, disc, points, face, offset, radius, reach, tiny,
              rows, count):  # fmt: skip
    """Rows of a triangle: corners of the area that the solid's feature shares with the patch, within it.

    The solid turns `feature`, a face with normal m if it has more than two points, to the patch; `face` is
    the patch's normal and the lowest height of the solid over it, `offset` the patch's height along the
    normal, `tiny` a length of no importance. `corners` and `numbers` are those of `load_triangle`.
    """
    nx, ny, nz, _ = face
    flags, patch = numbers[3], numbers[4]
    slope = m[0] * nx + m[1] * ny + m[2] * nz
    for i in range(points):
        x, y, z = feature[i, 0], feature[i, 1], feature[i, 2]
        gap = nx * x + ny * y + nz * z - offset - radius
        if gap > reach:
            continue
        if over_triangle(corners, nx, ny, nz, x, y, z, tiny):
            concave = 0
            for k in range(3):
                if edge_kind(flags, k) == CONCAVE and across(corners, k, nx, ny, nz, x, y, z)[0] < tiny:
                    concave = 1
            height = gap + radius
            count = _add_of_face(
                rows, count, m, face, patch, concave, _CORNER | patch << 28 | labels[i],
                x - height * nx, y - height * ny, z - height * nz, gap,
            )  # fmt: skip
    for k in range(3):
        kind = edge_kind(flags, k)
        if kind == FLAT or points < 2:
            continue
        if disc[0] > 0.0:
            j = (k + 1) % 3
            ax, ay, az = corners[0, k], corners[1, k], corners[2, k]
            ex, ey, ez = corners[0, j] - ax, corners[1, j] - ay, corners[2, j] - az
            wx, wy, wz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
            for which in range(2):
                there, x, y, z = rim_crossing(disc, wx, wy, wz, ax, ay, az, which)
                if not there:
                    continue
                _, along, length = across(corners, k, nx, ny, nz, x, y, z)
                height = nx * x + ny * y + nz * z - offset
                if -tiny <= along <= length + tiny and height - radius <= reach:
                    dx, dy, dz = x - disc[1], y - disc[2], z - disc[3]
                    _set_ways(
                        rows, count, 0.0, 0.0, 0.0, ex, ey, ez, 0.0, 0.0, 0.0,
                        m[1] * dz - m[2] * dy, m[2] * dx - m[0] * dz, m[0] * dy - m[1] * dx,
                    )  # fmt: skip
                    count = _add_of_face(
                        rows, count, m, face, patch, 1 if kind == CONCAVE else 0,
                        _CROSSING | (3 * triangle + k) << 26 | (40 + which),
                        x - height * nx, y - height * ny, z - height * nz, height - radius,
                    )  # fmt: skip
            continue
        before, _, _ = across(corners, k, nx, ny, nz, feature[points - 1, 0], feature[points - 1, 1],
                               feature[points - 1, 2])  # fmt: skip
        for i in range(points):
            x, y, z = feature[i, 0], feature[i, 1], feature[i, 2]
            inward, _, _ = across(corners, k, nx, ny, nz, x, y, z)
            last = i - 1 if i > 0 else points - 1
            if (before > 0.0) != (inward > 0.0) and (points > 2 or i > 0):
                part = before / (before - inward)
                j = (k + 1) % 3
                _set_ways(
                    rows, count, corners[0, k], corners[1, k], corners[2, k],
                    corners[0, j], corners[1, j], corners[2, j],
                    feature[last, 0], feature[last, 1], feature[last, 2], x, y, z,
                )  # fmt: skip
                x = feature[last, 0] + part * (x - feature[last, 0])
                y = feature[last, 1] + part * (y - feature[last, 1])
                z = feature[last, 2] + part * (z - feature[last, 2])
                _, along, length = across(corners, k, nx, ny, nz, x, y, z)
                height = nx * x + ny * y + nz * z - offset
                if -tiny <= along <= length + tiny and height - radius <= reach:
                    count = _add_of_face(
                        rows, count, m, face, patch, 1 if kind == CONCAVE else 0,
                        _CROSSING | (3 * triangle + k) << 26 | labels[i],
                        x - height * nx, y - height * ny, z - height * nz, height - radius,
                    )  # fmt: skip
            before = inward
    if points < 3 or slope > -0.02:
        return count
    for k in range(3):
        if flags >> (RIM_VERTEX + k) & 1 == 0:
            continue
        x, y, z = corners[0, k], corners[1, k], corners[2, k]
        height = (
            m[0] * (feature[0, 0] - x) + m[1] * (feature[0, 1] - y) + m[2] * (feature[0, 2] - z)
        ) / slope
        if disc[0] > 0.0:
            inside = over_disc(disc, x + height * nx, y + height * ny, z + height * nz, tiny)
        else:
            inside = within(feature, points, nx, ny, nz, x, y, z, tiny)
        if inside and height - radius <= reach:
            concave = 1 if edge_kind(flags, k) == CONCAVE or edge_kind(flags, (k + 2) % 3) == CONCAVE else 0
            v = numbers[k]
            count = _add_of_face(
                rows, count, m, face, patch, concave, _RIM | v << 29 | patch & ((1 << 29) - 1),
                x, y, z, height - radius,
            )  # fmt: skip
    return count


@inner_kernel
def _add_of_face(rows, count, normal, face, patch, concave, mark, x, y, z, gap):
    """Write a row of a face at the surface's point (x, y, z)."""
    nx, ny, nz, lowest = face
    if count < rows.tags.shape[0]:
        plane = rows.plane[count]
        plane[0], plane[1], plane[2] = normal[0], normal[1], normal[2]
    return add_row(rows, count, OF_FACE, patch, concave, mark, x, y, z, nx, ny, nz, gap, lowest)


@inner_kernel
def _set_ways(rows, row, ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Keep the unit vectors along the edges from a to b of the surface and from c to d of the solid."""
    if row < rows.tags.shape[0]:
        ways = rows.ways[row]
        ways[0], ways[1], ways[2] = bx - ax, by - ay, bz - az
        ways[3], ways[4], ways[5] = dx - cx, dy - cy, dz - cz
        for k in range(0, 6, 3):
            length = math.sqrt(ways[k] * ways[k] + ways[k + 1] * ways[k + 1] + ways[k + 2] * ways[k + 2])
            if length > 0.0:
                for i in range(k, k + 3):
                    ways[i] /= length
