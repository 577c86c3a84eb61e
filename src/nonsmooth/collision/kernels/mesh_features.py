"""Points where a convex solid may touch a triangle, its sharp edges and its sharp vertices.

Each kind of feature has its own directions, so that no two speak for the same one: a flat patch its normal,
a convex edge the arc between the normals beside it, a vertex the cone of the normals around it. Flat and
concave edges have none. All numbers are in the surface's frame.

A row of `spots` is here the point of the surface, the normal and the gap; `contact_sets` makes contacts
of it. Points of a face are all corners of the area that the solid's own face shares with the patch: corners
of the solid's face, vertices of the patch's rim, and crossings of both outlines. Edges inside the patch
give none.
"""

import math

from nonsmooth._jit import inner_kernel
from nonsmooth.collision.kernels.discs import chord, over_disc, rim_crossing, set_disc
from nonsmooth.collision.kernels.edge_arcs import peaks_on_arc
from nonsmooth.collision.kernels.height_fields import is_under
from nonsmooth.collision.kernels.separation import separation
from nonsmooth.collision.kernels.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    SPHERE,
    TRIANGLE,
    Solid,
    support,
    to_local,
    to_world,
)
from nonsmooth.collision.kernels.support_features import support_feature
from nonsmooth.collision.kernels.surface_arrays import (
    BORDER,
    CONCAVE,
    FLAT,
    OWN_EDGE,
    OWN_VERTEX,
    RIM_VERTEX,
    beside,
    edge_kind,
    is_field,
    outward,
    steepest,
    triangle_normal,
)

OF_FACE, OF_EDGE, OF_VERTEX = 0, 1, 2  # origins
WEAK = 4  # third tag of an edge whose lowest point is past its end: it touches along a vertex's direction
OUTSIDE, ASKED_FOR = 2, 3  # third tag of what is outside the solid, and if an overlap beside it is deeper
CORNER, RIM, CROSSING, EDGE = 0, 1, 2, 3  # first bits of marks
_CORNER, _RIM, _CROSSING, _EDGE = CORNER << 60, RIM << 60, CROSSING << 60, EDGE << 60
VERTEX_MARK = 7 << 59
_IN_CONE = 1e-10
_ALONG = 0.02  # sine of the angle below which two lines lie along one another
_UNCERTAIN = -1
_DEEP = 1e6  # tiny lengths from which on an edge's overlap must be shown to be one
_ASIDE = (
    4e3  # tiny lengths by which a rim's lowest point may be beside the edge: its place is known to √rounding
)
_SLACK = 100.0  # tiny lengths by which the nearest point of an edge that overlaps may be past its end
_BEHIND = 1e-3  # part of the solid's size below a triangle from where on it must be shown to cross it


@inner_kernel
def add_row(rows, count, origin, patch, concave, mark, x, y, z, nx, ny, nz, gap, most):
    """Write a row if there is room; the number of rows. `most` is the separation along the normal."""
    if count < rows.tags.shape[0]:
        rows.plane[count, 3] = most
        spot = rows.spots[count]
        spot[0], spot[1], spot[2] = x, y, z
        spot[3], spot[4], spot[5] = nx, ny, nz
        spot[6] = gap
        rows.marks[count] = mark
        tag = rows.tags[count]
        tag[0], tag[1], tag[2], tag[3] = origin, patch, concave, 0
    return count + 1


@inner_kernel
def solid_feature(solid, hulls, x, y, z, feature, side):
    """What the solid turns to the surface with normal (x, y, z): number of points, at least one.

    Sets the normal of what is no face to zero.
    """
    points = support_feature(solid, hulls, -x, -y, -z, feature, side)
    if points == 0:
        px, py, pz, label = support(solid, hulls, -x, -y, -z, 0)
        feature.points[side, 0, 0], feature.points[side, 0, 1], feature.points[side, 0, 2] = px, py, pz
        feature.labels[side, 0] = label
        points = 1
    if points < 3:
        feature.normal[side, :] = 0.0
    return points


@inner_kernel
def crosses(corners, room, solid, hulls, direction):
    """True if the solid and the triangle have a point in common."""
    ax, ay, az = corners[0, 0], corners[1, 0], corners[2, 0]
    for k in range(3):
        room[0, k], room[1, k], room[2, k] = corners[0, k] - ax, corners[1, k] - ay, corners[2, k] - az
    flat = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, ax, ay, az, room, 0)
    return separation(flat, solid, hulls, 0.0, direction)[0] <= 0.0


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
        over = True
        concave = 0
        for k in range(3):
            inward, _, _ = _across(corners, k, nx, ny, nz, x, y, z)
            if inward < -tiny:
                over = False
            if inward < tiny and edge_kind(flags, k) == CONCAVE:
                concave = 1
        if over:
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
                _, along, length = _across(corners, k, nx, ny, nz, x, y, z)
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
        before, _, _ = _across(corners, k, nx, ny, nz, feature[points - 1, 0], feature[points - 1, 1],
                               feature[points - 1, 2])  # fmt: skip
        for i in range(points):
            x, y, z = feature[i, 0], feature[i, 1], feature[i, 2]
            inward, _, _ = _across(corners, k, nx, ny, nz, x, y, z)
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
                _, along, length = _across(corners, k, nx, ny, nz, x, y, z)
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


@inner_kernel
def _across(corners, k, nx, ny, nz, x, y, z):
    """How far a point is inside edge k, across it, and along the edge from its first corner; its length."""
    j = (k + 1) % 3
    ex, ey, ez = corners[0, j] - corners[0, k], corners[1, j] - corners[1, k], corners[2, j] - corners[2, k]
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    ex, ey, ez = ex / length, ey / length, ez / length
    x, y, z = x - corners[0, k], y - corners[1, k], z - corners[2, k]
    inward = x * (ny * ez - nz * ey) + y * (nz * ex - nx * ez) + z * (nx * ey - ny * ex)
    return inward, ex * x + ey * y + ez * z, length


@inner_kernel
def _way(points, i, j):
    """From point i to point j."""
    return points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]


@inner_kernel
def within(feature, points, nx, ny, nz, x, y, z, tiny):
    """True if a point lies in a polygon that is seen along (n), whichever way round it runs."""
    left, right = True, True
    for i in range(points):
        j = i + 1 if i + 1 < points else 0
        ex, ey, ez = _way(feature, i, j)
        dx, dy, dz = x - feature[i, 0], y - feature[i, 1], z - feature[i, 2]
        side = nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx)
        limit = tiny * math.sqrt(ex * ex + ey * ey + ez * ez)
        if side < -limit:
            left = False
        if side > limit:
            right = False
    return left or right


@inner_kernel
def edge_rows(triangle, k, corners, numbers, nx, ny, nz, ox, oy, oz, solid, hulls, reach, tiny, work,
              rows, count):  # fmt: skip
    """Rows of a convex edge or a border: the ends of what it shares with the solid's feature.

    (n) is the normal of the triangle, (o) that of its neighbour.
    """
    kind, patch = edge_kind(numbers[3], k), numbers[4]
    ax, ay, az = corners[0, k], corners[1, k], corners[2, k]
    j = (k + 1) % 3
    ex, ey, ez = corners[0, j] - ax, corners[1, j] - ay, corners[2, j] - az
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    ex, ey, ez = ex / length, ey / length, ez / length
    for axis in range(3):
        low, high = min(corners[axis, k], corners[axis, j]), max(corners[axis, k], corners[axis, j])
        if low > work.box[3 + axis] or high < work.box[axis]:
            return count
    tx, ty, tz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx
    frame = work.frame
    frame[0], frame[1], frame[2] = ax, ay, az
    frame[3], frame[4], frame[5] = nx, ny, nz
    frame[6], frame[7], frame[8] = tx, ty, tz
    end_c, end_s = -1.0, 0.0
    if kind != BORDER:
        end_c, end_s = nx * ox + ny * oy + nz * oz, tx * ox + ty * oy + tz * oz
        scale = math.sqrt(end_c * end_c + end_s * end_s)
        end_c, end_s = end_c / scale, end_s / scale
    found = peaks_on_arc(solid, hulls, frame, end_c, end_s, tiny, work.arcs, work.peaks)
    for peak in range(found):
        c, s, apart = work.peaks[peak, 0], work.peaks[peak, 1], work.peaks[peak, 2]
        gap = apart - solid.radius
        if gap <= reach and (gap >= 0.0 or kind != BORDER or c >= 0.0):
            outside = 0
            if gap < -_DEEP * tiny and not _meets(ex, ey, ez, length, solid, hulls, work):
                outside = OUTSIDE
            mark = _EDGE | (3 * triangle + k) << 4 | peak << 1
            now = _edge_peak(
                mark, patch, outside, ax, ay, az, ex, ey, ez, length,
                c * nx + s * tx, c * ny + s * ty, c * nz + s * tz, apart, solid, hulls, reach, tiny,
                work.feature, work.disc, rows, count,
            )  # fmt: skip
            if now == _UNCERTAIN:
                now = _nearest_of_edge(
                    mark, patch, ex, ey, ez, length, (end_c, end_s), (c, s, gap), solid, hulls, reach, tiny,
                    work, rows, count,
                )  # fmt: skip
            count = now
    return count


@inner_kernel
def _meets(ex, ey, ez, length, solid, hulls, work):
    """True if the edge that begins at the frame's point and the solid have a point in common."""
    frame, axes = work.frame, work.room
    axes[0, 2], axes[1, 2], axes[2, 2] = ex, ey, ez
    half = 0.5 * length
    x, y, z = frame[0] + half * ex, frame[1] + half * ey, frame[2] + half * ez
    segment = Solid(CAPSULE, 0.0, half, 0.0, 0.0, x, y, z, axes, 0)
    return separation(segment, solid, hulls, 0.0, work.direction)[0] <= 0.0


@inner_kernel
def _nearest_of_edge(mark, patch, ex, ey, ez, length, end, peak, solid, hulls, reach, tiny, work, rows,
                     count):  # fmt: skip
    """The row of an edge that is apart from the solid: both nearest points, if none is an end of the edge.

    `peak` is the best direction on the arc, which ends at `end`, and its gap: if the gap is right, so is the
    direction, to more digits than that of the nearest points.
    """
    frame, axes = work.frame, work.room
    axes[0, 2], axes[1, 2], axes[2, 2] = ex, ey, ez
    half = 0.5 * length
    x, y, z = frame[0] + half * ex, frame[1] + half * ey, frame[2] + half * ez
    segment = Solid(CAPSULE, 0.0, half, 0.0, 0.0, x, y, z, axes, 0)
    gap, nx, ny, nz, px, py, pz, _, _, _ = separation(segment, solid, hulls, reach, work.direction)
    if gap > reach:
        return count
    along = ex * (px - x) + ey * (py - y) + ez * (pz - z)
    if abs(gap - peak[2]) <= tiny:
        c, s, gap = peak
        nx, ny, nz = c * frame[3] + s * frame[6], c * frame[4] + s * frame[7], c * frame[5] + s * frame[8]
        qx, qy, qz, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        along = min(max(ex * (qx - x) + ey * (qy - y) + ez * (qz - z), -half), half)
    else:
        c = nx * frame[3] + ny * frame[4] + nz * frame[5]
        s = nx * frame[6] + ny * frame[7] + nz * frame[8]
        if abs(along) > half or s < -_IN_CONE or c * end[1] - s * end[0] < -_IN_CONE:
            return count
    x, y, z = x + along * ex, y + along * ey, z + along * ez
    return add_row(rows, count, OF_EDGE, patch, 0, mark, x, y, z, nx, ny, nz, gap, gap)


@inner_kernel
def _edge_peak(number, patch, third, ax, ay, az, ex, ey, ez, length, nx, ny, nz, apart, solid, hulls, reach,
               tiny, work_feature, disc, rows, count):  # fmt: skip
    """Rows of the edge from (a) along (e) that touches along (n); `third` is their third tag."""
    gap = apart - solid.radius
    points = solid_feature(solid, hulls, nx, ny, nz, work_feature, 0)
    feature = work_feature.points[0]
    m = work_feature.normal[0]
    slope = m[0] * nx + m[1] * ny + m[2] * nz
    # the part of the edge that lies under the feature, from `begin` to `end`, and the heights there
    begin, end = 0.0, length
    wx, wy, wz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex  # across the edge
    if points >= 3 and slope < -0.02:
        set_disc(solid, points, m, disc)
        low = m[0] * (feature[0, 0] - ax) + m[1] * (feature[0, 1] - ay) + m[2] * (feature[0, 2] - az)
        rise = -(m[0] * ex + m[1] * ey + m[2] * ez)
        if disc[0] > 0.0:
            up, more = low / slope, rise / slope
            begin, end = chord(
                disc, ax + up * nx, ay + up * ny, az + up * nz,
                ex + more * nx, ey + more * ny, ez + more * nz, length, tiny,
            )  # fmt: skip
        else:
            begin, end = clipped(feature, points, nx, ny, nz, ax, ay, az, ex, ey, ez, length, tiny)
        at_begin, at_end = (low + begin * rise) / slope, (low + end * rise) / slope
    else:
        px, py, pz = feature[0, 0] - ax, feature[0, 1] - ay, feature[0, 2] - az
        if points == 1:
            begin = end = ex * px + ey * py + ez * pz
            at_begin = at_end = apart
        else:
            qx, qy, qz = feature[1, 0] - ax, feature[1, 1] - ay, feature[1, 2] - az
            p_side, q_side = wx * px + wy * py + wz * pz, wx * qx + wy * qy + wz * qz
            p_along, q_along = ex * px + ey * py + ez * pz, ex * qx + ey * qy + ez * qz
            p_up, q_up = nx * px + ny * py + nz * pz, nx * qx + ny * qy + nz * qz
            if points == 2 and abs(p_side - q_side) <= _ALONG * abs(p_along - q_along):
                if p_along > q_along:
                    p_along, q_along, p_up, q_up = q_along, p_along, q_up, p_up
                begin, end = max(0.0, p_along), min(length, q_along)
                rise = (q_up - p_up) / (q_along - p_along)
                at_begin, at_end = p_up + rise * (begin - p_along), p_up + rise * (end - p_along)
            elif points == 2 and abs(p_side - q_side) > tiny:
                part = min(1.0, max(0.0, p_side / (p_side - q_side)))
                begin = end = p_along + part * (q_along - p_along)
                at_begin = at_end = p_up + part * (q_up - p_up)
            else:
                x, y, z, _ = support(solid, hulls, -nx, -ny, -nz, 0)
                begin = end = ex * (x - ax) + ey * (y - ay) + ez * (z - az)
                at_begin = at_end = apart
    over = tiny if apart > 0.0 else _SLACK * tiny
    missed = begin > end + tiny or begin > length + over or end < -over
    if missed or min(at_begin, at_end) > apart + tiny:
        # a rim that only grazes the edge: its lowest point alone, if that is over the edge
        x, y, z, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        x, y, z = x - ax, y - ay, z - az
        lowest = ex * x + ey * y + ez * z
        aside = wx * x + wy * y + wz * z
        if -over <= lowest <= length + over and abs(aside) <= _ASIDE * tiny:
            if apart > 0.0 and abs(aside) > tiny:
                return _UNCERTAIN
            begin = end = lowest
            at_begin = at_end = apart
        elif missed:
            return count
        else:
            third = WEAK
    begin, end = min(max(begin, 0.0), length), min(max(end, 0.0), length)
    at_begin, at_end = max(at_begin, apart), max(at_end, apart)
    if at_begin - solid.radius <= reach:
        count = add_row(
            rows, count, OF_EDGE, patch, third, number,
            ax + begin * ex, ay + begin * ey, az + begin * ez, nx, ny, nz, at_begin - solid.radius, gap,
        )  # fmt: skip
    if end - begin > tiny and at_end - solid.radius <= reach:
        count = add_row(
            rows, count, OF_EDGE, patch, third, number | 1,
            ax + end * ex, ay + end * ey, az + end * ez, nx, ny, nz, at_end - solid.radius, gap,
        )  # fmt: skip
    return count


@inner_kernel
def clipped(feature, points, nx, ny, nz, ax, ay, az, ex, ey, ez, length, tiny):
    """The part of a segment that lies in a polygon, seen along (n); from, to along the segment."""
    area = 0.0
    for i in range(1, points - 1):
        ux, uy, uz = _way(feature, 0, i)
        vx, vy, vz = _way(feature, 0, i + 1)
        area += nx * (uy * vz - uz * vy) + ny * (uz * vx - ux * vz) + nz * (ux * vy - uy * vx)
    turn = 1.0 if area > 0.0 else -1.0
    begin, end = 0.0, length
    for i in range(points):
        j = i + 1 if i + 1 < points else 0
        sx, sy, sz = _way(feature, i, j)
        wx, wy, wz = turn * (ny * sz - nz * sy), turn * (nz * sx - nx * sz), turn * (nx * sy - ny * sx)
        scale = math.sqrt(wx * wx + wy * wy + wz * wz)
        if scale == 0.0:
            continue
        side = (
            wx * (ax - feature[i, 0]) + wy * (ay - feature[i, 1]) + wz * (az - feature[i, 2])
        ) / scale + 0.01 * tiny
        rate = (wx * ex + wy * ey + wz * ez) / scale
        if abs(rate) * length < 0.01 * tiny:
            if side < -tiny:
                return 1.0, -1.0 - tiny
        elif rate > 0.0:
            begin = max(begin, -side / rate)
        else:
            end = min(end, -side / rate)
    return begin, end


@inner_kernel
def _vertex_direction(x, y, z, one, solid, hulls, reach, direction):
    """Gap of a point and a solid, and the best direction."""
    point = Solid(SPHERE, 0.0, 0.0, 0.0, 0.0, x, y, z, one, 0)
    gap, nx, ny, nz, _, _, _, _, _, _ = separation(point, solid, hulls, reach, direction)
    return gap, nx, ny, nz


@inner_kernel
def _way_out(solid, hulls, k, x, y, z):
    """Direction k in which a point inside a solid may leave it, through a face; True if there is one.

    The solid is behind that face: (n) points from the point's surface into the solid.
    """
    axes = solid.axes
    if solid.kind == CONVEX_HULL:
        f = hulls.first[solid.hull, 1] + k
        if f >= hulls.first[solid.hull + 1, 1]:
            return False, 0.0, 0.0, 0.0
        nx, ny, nz = to_world(axes, hulls.planes[f, 0], hulls.planes[f, 1], hulls.planes[f, 2])
        return True, -nx, -ny, -nz
    if solid.kind == BOX and k < 6:
        sign = -1.0 if k & 1 else 1.0
        return True, sign * axes[0, k >> 1], sign * axes[1, k >> 1], sign * axes[2, k >> 1]
    if solid.kind in (CYLINDER, CONE) and k < 3:
        if k < 2:
            sign = -1.0 if k == 1 else 1.0
            return solid.kind == CYLINDER or k == 0, sign * axes[0, 2], sign * axes[1, 2], sign * axes[2, 2]
        lx, ly, _ = to_local(axes, x - solid.x, y - solid.y, z - solid.z)
        across = math.sqrt(lx * lx + ly * ly)
        if across == 0.0:
            return False, 0.0, 0.0, 0.0
        rise = solid.a / (2.0 * solid.b) if solid.kind == CONE else 0.0
        scale = 1.0 / math.sqrt(1.0 + rise * rise)
        nx, ny, nz = to_world(axes, lx / across * scale, ly / across * scale, rise * scale)
        return True, -nx, -ny, -nz
    return False, 0.0, 0.0, 0.0


@inner_kernel
def _best_way_out(meshes, mesh, v, x, y, z, solid, hulls):
    """Of the ways out of a solid that lie in the cone of vertex v, the shortest: found, gap, direction."""
    found, most, bx, by, bz = False, -math.inf, 0.0, 0.0, 0.0
    k = 0
    while True:
        there, nx, ny, nz = _way_out(solid, hulls, k, x, y, z)
        k += 1
        if not there:
            if k > 3 or solid.kind not in (CYLINDER, CONE):
                break
            continue
        sx, sy, sz, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        gap = nx * (sx - x) + ny * (sy - y) + nz * (sz - z) - solid.radius
        if gap > most and steepest(meshes, mesh, v, nx, ny, nz) <= _IN_CONE:
            found, most, bx, by, bz = True, gap, nx, ny, nz
    return found, most, bx, by, bz


@inner_kernel
def vertex_rows(meshes, mesh, k, corners, numbers, solid, hulls, reach, tiny, work, rows, count):
    """The row of a vertex that is farther out along the best direction than all around it."""
    v, flags = numbers[k], numbers[3]
    x, y, z = corners[0, k], corners[1, k], corners[2, k]
    for axis in range(3):
        if not work.box[axis] <= corners[axis, k] <= work.box[3 + axis]:
            return count
    ox, oy, oz = outward(meshes, mesh, v)
    # no direction is worse than the best: a cheap one may show that the solid is out of reach
    sx, sy, sz, _ = support(solid, hulls, -ox, -oy, -oz, 0)
    far = ox * (sx - x) + oy * (sy - y) + oz * (sz - z)
    if far > (reach + solid.radius) * math.sqrt(ox * ox + oy * oy + oz * oz):
        return count
    gap, nx, ny, nz = _vertex_direction(x, y, z, work.one, solid, hulls, reach, work.direction)
    if gap > reach:
        return count
    at_border = edge_kind(flags, k) == BORDER or edge_kind(flags, (k + 2) % 3) == BORDER
    inward = ox * nx + oy * ny + oz * nz < 0.0 and (gap <= 0.0 or not at_border)
    outside = 0
    if inward or steepest(meshes, mesh, v, nx, ny, nz) > _IN_CONE:
        if gap > tiny:
            outside = OUTSIDE
        # the shortest way out is none of this vertex: another may be
        found, gap, nx, ny, nz = _best_way_out(meshes, mesh, v, x, y, z, solid, hulls)
        if not found or gap > tiny or ox * nx + oy * ny + oz * nz < 0.0:
            return count
    return add_row(
        rows, count, OF_VERTEX, numbers[4], outside, VERTEX_MARK | v, x, y, z, nx, ny, nz, gap, gap
    )


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
                rows.tags[kept, k], rows.plane[kept, k] = rows.tags[i, k], rows.plane[i, k]
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
