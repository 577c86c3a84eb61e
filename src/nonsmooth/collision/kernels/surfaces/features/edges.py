"""Rows of a convex edge or a border: its own directions are the arc between the normals beside it."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import CAPSULE, Solid, support
from nonsmooth.collision.kernels.manifolds.side_lines import ASIDE
from nonsmooth.collision.kernels.surfaces.arrays import BORDER, edge_kind
from nonsmooth.collision.kernels.surfaces.features.discs import chord, set_disc
from nonsmooth.collision.kernels.surfaces.features.edge_arcs import peaks_on_arc
from nonsmooth.collision.kernels.surfaces.features.polygons import clipped
from nonsmooth.collision.kernels.surfaces.features.rows import (
    EDGE,
    IN_CONE,
    OF_EDGE,
    OUTSIDE,
    WEAK,
    add_row,
    solid_feature,
)

_EDGE = EDGE << 60
_ALONG = 0.02  # sine of the angle below which two lines lie along one another
_UNCERTAIN = -1
_DEEP = 1e6  # tiny lengths from which on an edge's overlap must be shown to be one
_NEAR = 4e3  # tiny lengths by which a rim's lowest point may be beside the edge: known to √rounding
_SLACK = 100.0  # tiny lengths by which the nearest point of an edge that overlaps may be past its end


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
            mark = _EDGE | (3 * triangle + k) << 5 | peak << 2
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
        if abs(along) > half or s < -IN_CONE or c * end[1] - s * end[0] < -IN_CONE:
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
    crossing = -1.0  # where the edge crosses the solid's line, apart from its ends
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
                p_bend, q_bend = (
                    work_feature.bend[0, 0] + solid.radius,
                    work_feature.bend[0, 1] + solid.radius,
                )
                if p_along > q_along:
                    p_along, q_along, p_up, q_up = q_along, p_along, q_up, p_up
                    p_side, q_side, p_bend, q_bend = q_side, p_side, q_bend, p_bend
                rise, turn = (q_up - p_up) / (q_along - p_along), (q_side - p_side) / (q_along - p_along)
                begin, end = _beside_line(
                    p_side - turn * p_along,
                    turn,
                    max(0.0, p_along),
                    min(length, q_along),
                    ASIDE * max(p_bend, q_bend) + tiny,
                    tiny,
                )
                if turn != 0.0 and begin < p_along - p_side / turn < end:
                    meeting = p_along - p_side / turn
                    # a line that is steep along n touches at its end alone
                    if p_up + rise * (meeting - p_along) <= apart + tiny:
                        crossing = meeting
                at_begin, at_end = p_up + rise * (begin - p_along), p_up + rise * (end - p_along)
                taper = (q_bend - p_bend) / (q_along - p_along)
                at_begin += _fall(p_bend + taper * (begin - p_along), p_side + turn * (begin - p_along))
                at_end += _fall(p_bend + taper * (end - p_along), p_side + turn * (end - p_along))
            elif points == 2 and abs(p_side - q_side) > tiny:
                part = min(1.0, max(0.0, p_side / (p_side - q_side)))
                begin = end = p_along + part * (q_along - p_along)
                at_begin = at_end = p_up + part * (q_up - p_up)
            else:
                x, y, z, _ = support(solid, hulls, -nx, -ny, -nz, 0)
                begin = end = ex * (x - ax) + ey * (y - ay) + ez * (z - az)
                at_begin = at_end = apart
    over = tiny if apart > 0.0 else _SLACK * tiny
    missed, weak = begin > end + tiny or begin > length + over or end < -over, True
    if crossing < 0.0 and (missed or min(at_begin, at_end) > apart + tiny):
        # a rim that only grazes the edge: its lowest point alone, if that is over the edge
        x, y, z, _ = support(solid, hulls, -nx, -ny, -nz, 0)
        x, y, z = x - ax, y - ay, z - az
        lowest = ex * x + ey * y + ez * z
        aside = wx * x + wy * y + wz * z
        near = _NEAR * tiny
        if apart > 0.0 and (abs(aside) > tiny or not -over <= lowest <= length + over):
            if abs(aside) <= near and -near <= lowest <= length + near:
                # rounding must not leave the point to neither the edge nor its vertex
                return _UNCERTAIN
        elif -over <= lowest <= length + over and abs(aside) <= near:
            begin = end = lowest
            at_begin = at_end = apart
            missed, weak = False, False
        if missed:
            return count
        if weak:
            third = WEAK
    begin, end = min(max(begin, 0.0), length), min(max(end, 0.0), length)
    at_begin, at_end = max(at_begin, apart), max(at_end, apart)
    if crossing >= 0.0 and min(at_begin, at_end) > apart + tiny:
        count = add_row(
            rows, count, OF_EDGE, patch, third, number | 2,
            ax + crossing * ex, ay + crossing * ey, az + crossing * ez, nx, ny, nz, gap, gap,
        )  # fmt: skip
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
def _beside_line(start, turn, begin, end, wide, tiny):
    """The part from `begin` to `end` where an edge is no more than `wide` beside the line of a round side.

    It is `start` + `turn` · (length along it) beside the line.
    """
    if abs(turn) * (abs(begin) + abs(end)) <= 0.01 * tiny:
        return (begin, end) if abs(start) <= wide else (1.0, -1.0 - tiny)
    one, other = (-wide - start) / turn, (wide - start) / turn
    return max(begin, min(one, other)), min(end, max(one, other))


@inlined_kernel
def _fall(bend, aside):
    """How far a side of radius `bend` has fallen off beside its line."""
    if abs(aside) >= 0.5 * bend:
        return 0.0
    return aside * aside / (bend + math.sqrt(bend * bend - aside * aside))
