"""The best direction of a sharp edge against a convex solid: on the arc between its two faces' normals.

Seen along the edge, the solid is a convex figure in the plane and the edge a point. Coordinates are x along
the first face's normal and y out of that face, across the edge; a direction is (c, s). The separation
along it, f = min c x + s y over the figure, grows along the arc while the lowest point has c y − s x > 0.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import CONE, CYLINDER, ELLIPSOID, support

_TURNS = 100
_TRIES = 300
_SMALL = 0.02  # angle in rad within which a curved figure has one best direction
_FINE = 1e-16


@inner_kernel
def _lowest(solid, hulls, frame, c, s):
    """Lowest point of the solid along c n + s t, in plane coordinates; frame: edge point, n, t."""
    px, py, pz, _ = support(
        solid,
        hulls,
        -(c * frame[3] + s * frame[6]),
        -(c * frame[4] + s * frame[7]),
        -(c * frame[5] + s * frame[8]),
        0,
    )
    px, py, pz = px - frame[0], py - frame[1], pz - frame[2]
    return (
        frame[3] * px + frame[4] * py + frame[5] * pz,
        frame[6] * px + frame[7] * py + frame[8] * pz,
    )


@inner_kernel
def _climb(solid, hulls, frame, c1, s1, c2, s2):
    """True if a direction inside the arc from (c1, s1) to (c2, s2) is the best of it; it, its separation."""
    x1, y1 = _lowest(solid, hulls, frame, c1, s1)
    if c1 * y1 - s1 * x1 <= 0.0:
        return False, c1, s1, c1 * x1 + s1 * y1
    x2, y2 = _lowest(solid, hulls, frame, c2, s2)
    if c2 * y2 - s2 * x2 >= 0.0:
        return False, c2, s2, c2 * x2 + s2 * y2
    size = math.sqrt(max(x1 * x1 + y1 * y1, x2 * x2 + y2 * y2))
    nothing = 4.0 * _FINE * size
    for turn in range(_TURNS):
        dx, dy = x2 - x1, y2 - y1
        length = math.sqrt(dx * dx + dy * dy)
        same = length <= nothing
        if same:
            length = math.sqrt(x1 * x1 + y1 * y1)
            c, s = x1 / length, y1 / length
        else:
            c, s = dy / length, -dx / length
            if c * (c1 + c2) + s * (s1 + s2) < 0.0:
                c, s = -c, -s
        inside = c1 * s - s1 * c > 0.0 and c * s2 - s * c2 > 0.0
        if inside and same:
            return True, c, s, c * x1 + s * y1
        if not inside or (turn & 3) == 3:
            # a curved figure is halved now and then, so that no end of the bracket stays
            hc, hs = c1 + c2, s1 + s2
            length = math.sqrt(hc * hc + hs * hs)
            if length < 1e-8:
                hc, hs, length = -s1, c1, 1.0
            if (c1 - c2) ** 2 + (s1 - s2) ** 2 < 1e-31:
                return True, c1, s1, min(c1 * x1 + s1 * y1, c1 * x2 + s1 * y2)
            if not inside:
                c, s = hc / length, hs / length
        x3, y3 = _lowest(solid, hulls, frame, c, s)
        at1, at2, at3 = c * x1 + s * y1, c * x2 + s * y2, c * x3 + s * y3
        if inside and at3 >= min(at1, at2) - nothing:
            # both are lowest: the best direction, unless one of them is already past its own best
            if c * y1 - s * x1 < 0.0:
                c2, s2, x2, y2 = c, s, x1, y1
            elif c * y2 - s * x2 > 0.0:
                c1, s1, x1, y1 = c, s, x2, y2
            else:
                return True, c, s, min(at1, at2)
        elif c * y3 - s * x3 > 0.0:
            c1, s1, x1, y1 = c, s, x3, y3
        else:
            c2, s2, x2, y2 = c, s, x3, y3
    return True, c1, s1, min(c1 * x1 + s1 * y1, c1 * x2 + s1 * y2)


@inner_kernel
def peaks_on_arc(solid, hulls, frame, end_c, end_s, tiny, stack, peaks):
    """Directions inside the arc from (1, 0) to (end_c, end_s) that no other near them betters; their number.

    `frame` (9,) is a point of the edge, the first face's normal, and the unit vector out of that face across
    the edge. A row of `peaks` is (c, s) and the separation. Apart there is at most one. In overlap every
    corner of the figure between two of its lowest points may be one: all are tried. The ends of the arc
    are not among them: faces speak for them.
    """
    found, c, s, most = _climb(solid, hulls, frame, 1.0, 0.0, end_c, end_s)
    if most > -tiny:
        peaks[0, 0], peaks[0, 1], peaks[0, 2] = c, s, most
        return 1 if found else 0
    count = 0
    curved = solid.kind in (CYLINDER, CONE, ELLIPSOID)
    x, y = _lowest(solid, hulls, frame, 1.0, 0.0)
    size = math.sqrt(x * x + y * y)
    row = stack[0]
    row[0], row[1], row[2], row[3], row[4], row[5] = 1.0, 0.0, x, y, end_c, end_s
    row[6], row[7] = _lowest(solid, hulls, frame, end_c, end_s)
    place = max(abs(frame[0]), abs(frame[1]), abs(frame[2]))
    nothing = 4.0 * _FINE * (place + max(size, math.sqrt(row[6] * row[6] + row[7] * row[7])))
    depth, tries = 1, 0
    while depth > 0 and tries < _TRIES:
        depth -= 1
        tries += 1
        row = stack[depth]
        c1, s1, x1, y1, c2, s2, x2, y2 = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]
        dx, dy = x2 - x1, y2 - y1
        length = math.sqrt(dx * dx + dy * dy)
        if length <= nothing:
            continue
        c, s = dy / length, -dx / length
        if c * (c1 + c2) + s * (s1 + s2) < 0.0:
            c, s = -c, -s
        if c1 * s - s1 * c <= 0.0 or c * s2 - s * c2 <= 0.0:
            if abs(c1 + c2) + abs(s1 + s2) > 1e-8:
                continue
            c, s = -s1, c1  # a half circle: any direction between is as good
        x3, y3 = _lowest(solid, hulls, frame, c, s)
        at1, at2, at3 = c * x1 + s * y1, c * x2 + s * y2, c * x3 + s * y3
        if at3 >= min(at1, at2) - nothing:
            better = c * y1 - s * x1 >= 0.0 and c * y2 - s * x2 <= 0.0
            most = min(at1, at2)
        elif curved and c1 * s2 - s1 * c2 < _SMALL and c1 * c2 + s1 * s2 > 0.0:
            better, c, s, most = _climb(solid, hulls, frame, c1, s1, c2, s2)
        else:
            better = False
            if depth + 2 <= stack.shape[0]:
                row[4], row[5], row[6], row[7] = c, s, x3, y3
                row = stack[depth + 1]
                row[0], row[1], row[2], row[3] = c, s, x3, y3
                row[4], row[5], row[6], row[7] = c2, s2, x2, y2
                depth += 2
        if better and count < peaks.shape[0]:
            peaks[count, 0], peaks[count, 1], peaks[count, 2] = c, s, most
            count += 1
    return count
