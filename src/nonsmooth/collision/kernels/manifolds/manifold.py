"""Contacts of two convex solids from their best direction: where flat and straight parts face each other.

All contacts of a pair share the normal n of the best direction. Both features are projected along n and
clipped by one another. The gap of each point is the separation, along n and at that point, of the two
features (of the cores), less both radii. For sharp solids this is the distance of the two surfaces along n:
a face that n leaves is the surface itself. The smallest gap is the gap of the pair; should the features
miss it (best directions between two edges, or curved surfaces), the pair of witness points is added.

Points that are further than `reach` are left out. No angle decides whether faces count as parallel: only
whether their corners are within reach.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import CONVEX_HULL, ELLIPSOID, SPHERE, to_local, to_world
from nonsmooth.collision.kernels.manifolds.clipping import (
    ALONE_MARK,
    MERGE,
    MOST,
    SNAP,
    clip_faces,
    merge,
    name_crossing,
    orient,
    reduce,
    vertex_mark,
)
from nonsmooth.collision.kernels.manifolds.side_lines import ASIDE, LEVEL, beside, segment_on_segment
from nonsmooth.collision.kernels.manifolds.support_features import (
    ALONE,
    BEHIND,
    CROSSING,
    RIM_SAMPLES,
    ROUND,
    add_to_rim,
    choose,
    fill,
)

SPOTS = 17
"""Rows that `spots` and `marks` must have for one pair."""
_SLACK = 1e-9  # part of the size by which walls are pushed out; less than the check of manifolds allows
_ROUNDING = 1e-14  # part of the larger size
_BESIDE = 0.1  # sine between a line and an edge that it can rest on beside the face
_SAME = 3e-10  # part of the size by which the features may miss the gap of the pair
_BY = 5e-3  # part of the size within which a witness takes the place of a point
_CROSSINGS = 16
_WITHIN = math.cos(math.pi / RIM_SAMPLES)  # part of a rim's radius up to which all is within its samples


@inlined_kernel
def across(x, y, z):
    """Two unit vectors that form a right-handed frame with the unit vector (x, y, z) as the third."""
    if abs(x) < 0.6:
        ux, uy, uz = 0.0, z, -y
    else:
        ux, uy, uz = -z, 0.0, x
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    return ux, uy, uz, y * uz - z * uy, z * ux - x * uz, x * uy - y * ux


@inlined_kernel
def set_spot(spots, marks, at, mark, x, y, z, nx, ny, nz, gap):
    """Write one contact."""
    spots[at, 0], spots[at, 1], spots[at, 2] = x, y, z
    spots[at, 3], spots[at, 4], spots[at, 5] = nx, ny, nz
    spots[at, 6] = gap
    marks[at] = mark


@inner_kernel
def _project(points, flat, side, count, nx, ny, nz):
    """Coordinates of a feature's points across and along the normal."""
    ux, uy, uz, vx, vy, vz = across(nx, ny, nz)
    for i in range(count):
        x, y, z = points[side, i, 0], points[side, i, 1], points[side, i, 2]
        flat[side, i, 0] = ux * x + uy * y + uz * z
        flat[side, i, 1] = vx * x + vy * y + vz * z
        flat[side, i, 2] = nx * x + ny * y + nz * z


@inner_kernel
def _add_crossings(solid, top, work, side, count, others, nx, ny, nz):
    """Points where a rim crosses the sides of the other feature, seen along the normal, into its samples.

    So are those behind a corner of the other feature that is within the rim, but not within its samples.
    """
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    height = solid.b if top == 1 else -solid.b
    added = 0
    last = others - 1 if others > 2 else 0
    bx, by = _on_cap(solid, work, 1 - side, last, lx, ly, lz, height)
    for i in range(others):
        ax, ay = bx, by
        j = i - 1 if i > 0 else last
        bx, by = _on_cap(solid, work, 1 - side, i, lx, ly, lz, height)
        far = math.sqrt(bx * bx + by * by) / solid.a
        if _WITHIN < far < 1.0 and added < _CROSSINGS:
            label = BEHIND + work.labels[1 - side, i]
            count = add_to_rim(solid, work, side, count, label, top, math.atan2(by, bx))
            added += 1
        dx, dy = bx - ax, by - ay
        length2 = dx * dx + dy * dy
        middle = -(ax * dx + ay * dy)
        inside = middle * middle - length2 * (ax * ax + ay * ay - solid.a * solid.a)
        if length2 == 0.0 or inside <= 0.0:
            continue
        root = math.sqrt(inside)
        for k in range(2):
            part = (middle - root if k == 0 else middle + root) / length2
            if 0.0 <= part <= 1.0 and added < _CROSSINGS:
                angle = math.atan2(ay + part * dy, ax + part * dx)
                label = CROSSING + 2 * work.labels[1 - side, j] + k
                count = add_to_rim(solid, work, side, count, label, top, angle)
                added += 1
    return count


@inlined_kernel
def _on_cap(solid, work, side, i, lx, ly, lz, height):
    """A point of the other feature, moved along the normal l into the plane of a cap, in the core's frame."""
    x, y, z = to_local(
        solid.axes,
        work.points[side, i, 0] - solid.x,
        work.points[side, i, 1] - solid.y,
        work.points[side, i, 2] - solid.z,
    )
    part = (height - z) / lz
    return x + part * lx, y + part * ly


@inner_kernel
def _add_rim_crossings(solid, top, other, other_top, work, side, count, nx, ny, nz):
    """The two points where the rims of two caps cross, as if they were parallel."""
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    out = other.b if other_top == 1 else -other.b
    x, y, z = to_local(
        solid.axes,
        other.x + out * other.axes[0, 2] - solid.x,
        other.y + out * other.axes[1, 2] - solid.y,
        other.z + out * other.axes[2, 2] - solid.z,
    )
    part = ((solid.b if top == 1 else -solid.b) - z) / lz
    x, y = x + part * lx, y + part * ly
    distance = math.sqrt(x * x + y * y)
    if abs(solid.a - other.a) < distance < solid.a + other.a:
        cosine = (distance * distance + solid.a * solid.a - other.a * other.a) / (2.0 * distance * solid.a)
        half, middle = math.acos(min(max(cosine, -1.0), 1.0)), math.atan2(y, x)
        count = add_to_rim(solid, work, side, count, CROSSING, top, middle - half)
        count = add_to_rim(solid, work, side, count, CROSSING + 1, top, middle + half)
    return count


@inlined_kernel
def _slope(slopes, side, k, x, y, z, nx, ny, nz):
    """Slope of a face with the normal (x, y, z): its height along n is a + b·(coordinates across n)."""
    ux, uy, uz, vx, vy, vz = across(nx, ny, nz)
    along = x * nx + y * ny + z * nz
    slopes[side, k, 1] = -(x * ux + y * uy + z * uz) / along
    slopes[side, k, 2] = -(x * vx + y * vy + z * vz) / along
    return along


@inner_kernel
def _surface(solid, planes, patch, member_first, members, normal, flat, slopes, side, count, nx, ny, nz):
    """Planes of a face that has been projected; of a patch of a hull's faces those of all of them."""
    if solid.kind == CONVEX_HULL:
        first = member_first[patch]
        number = member_first[patch + 1] - first
        for k in range(number):
            face = members[first + k]
            x, y, z = to_world(solid.axes, planes[face, 0], planes[face, 1], planes[face, 2])
            along = _slope(slopes, side, k, x, y, z, nx, ny, nz)
            offset = planes[face, 3] + x * solid.x + y * solid.y + z * solid.z
            slopes[side, k, 0] = offset / along
        return number
    _slope(slopes, side, 0, normal[side, 0], normal[side, 1], normal[side, 2], nx, ny, nz)
    # through the middle of two corners far apart: rounding of one does not tilt the other
    offset = 0.0
    for k in range(2):
        i = k * (count // 2)
        offset += 0.5 * (
            flat[side, i, 2] - slopes[side, 0, 1] * flat[side, i, 0] - slopes[side, 0, 2] * flat[side, i, 1]
        )
    slopes[side, 0, 0] = offset
    return 1


@inlined_kernel
def _height(slopes, side, planes, x, y):
    """Height of a face or a patch, along the normal: the innermost of its planes."""
    height = slopes[side, 0, 0] + slopes[side, 0, 1] * x + slopes[side, 0, 2] * y
    for k in range(1, planes):
        other = slopes[side, k, 0] + slopes[side, k, 1] * x + slopes[side, k, 2] * y
        height = min(height, other) if side == 0 else max(height, other)
    return height


@inner_kernel
def _nearest_corner_or_side(flat, face, count, x, y):
    """Point of a projected face's outline that is nearest to (x, y)."""
    least, nearest_x, nearest_y = math.inf, x, y
    for j in range(count):
        k = j + 1 if j + 1 < count else 0
        ax, ay = flat[face, j, 0], flat[face, j, 1]
        ex, ey = flat[face, k, 0] - ax, flat[face, k, 1] - ay
        square = ex * ex + ey * ey
        part = min(max(((x - ax) * ex + (y - ay) * ey) / square, 0.0), 1.0) if square > 0.0 else 0.0
        px, py = ax + part * ex, ay + part * ey
        far = (x - px) ** 2 + (y - py) ** 2
        if far < least:
            least, nearest_x, nearest_y = far, px, py
    return nearest_x, nearest_y


@inner_kernel
def _segment_on_face(solid, work, line, count, planes, slack, near, frame):
    """Ends of the part of a segment (feature `line`) that is over a face.

    Curved surfaces rest on an edge of the face too, beside the face itself: walls are pushed out by a part
    of the radius, and ends beyond a wall are moved back onto it: the surface there is beside its line.
    """
    face = 1 - line
    flat, labels = work.flat, work.labels
    x0, y0, h0 = flat[line, 0, 0], flat[line, 0, 1], flat[line, 0, 2]
    dx, dy, dh = flat[line, 1, 0] - x0, flat[line, 1, 1] - y0, flat[line, 1, 2] - h0
    length2 = dx * dx + dy * dy
    bend0, bend1 = work.bend[line, 0] + solid.radius, work.bend[line, 1] + solid.radius
    wide = ASIDE if dh * dh <= LEVEL * LEVEL * length2 else 0.0
    low, high, wall_low, wall_high = 0.0, 1.0, -1, -1
    for j in range(count):
        k = j + 1 if j + 1 < count else 0
        x, y = flat[face, j, 0], flat[face, j, 1]
        ex, ey = flat[face, k, 0] - x, flat[face, k, 1] - y
        length = math.sqrt(ex * ex + ey * ey)
        if length == 0.0:
            continue
        ex, ey = ex / length, ey / length
        turn = ex * dy - ey * dx
        sine2 = turn * turn / length2
        # so far that ends which are moved back across the line are no more than `wide` beside it
        out = wide * math.sqrt(1.0 - sine2) if sine2 <= _BESIDE * _BESIDE else 0.0
        here = ex * (y0 - y) - ey * (x0 - x) + slack + out * bend0
        there = here + turn + out * (bend1 - bend0)
        if here < 0.0 and there < 0.0:
            return 0
        if here < 0.0 or there < 0.0:
            part = here / (here - there)
            if here < 0.0 and part > low:
                low, wall_low = part, j
            elif there < 0.0 and part < high:
                high, wall_high = part, j
    if low > high:
        return 0
    kept = 0
    for end in range(2):
        part, wall = (low, wall_low) if end == 0 else (high, wall_high)
        x, y = x0 + part * dx, y0 + part * dy
        most = 0.0
        for _ in range(4):  # back into the face
            # ends cut at a wall are beyond it by the slack but for rounding, which must not decide
            most, wx, wy = 2.0 * slack, 0.0, 0.0
            for j in range(count):
                k = j + 1 if j + 1 < count else 0
                ex, ey = flat[face, k, 0] - flat[face, j, 0], flat[face, k, 1] - flat[face, j, 1]
                length = math.sqrt(ex * ex + ey * ey)
                if length == 0.0:
                    continue
                beyond = (ey * (x - flat[face, j, 0]) - ex * (y - flat[face, j, 1])) / length
                if beyond > most:
                    most, wx, wy = beyond, ey / length, -ex / length
            if most <= 2.0 * slack:
                break
            # sideways from the line onto an edge beside it, along the line over any other
            along = (wx * dx + wy * dy) / length2
            lx, ly = dx * along, dy * along
            if abs(along) * math.sqrt(length2) <= _BESIDE:
                lx, ly = wx - lx, wy - ly
            step = most / (wx * lx + wy * ly)
            x, y = x - step * lx, y - step * ly
        if most > 100.0 * slack:
            # in a narrow corner of the face, sides lead back and forth
            x, y = _nearest_corner_or_side(flat, face, count, x, y)
        part = min(max(((x - x0) * dx + (y - y0) * dy) / length2, 0.0), 1.0)
        ox, oy = x - x0 - part * dx, y - y0 - part * dy
        if math.sqrt(ox * ox + oy * oy) > wide * max(bend0, bend1) + 100.0 * slack:
            continue  # nothing of the line is over the face there
        _, _, own = beside(solid, work, line, part, ox, oy, frame, False)
        if not abs(own) < math.inf:
            continue
        work.found[kept, 0], work.found[kept, 1] = x, y
        work.heights[kept, line] = own
        work.heights[kept, face] = _height(work.slopes, face, planes, x, y)
        if wall < 0:
            work.names[kept] = vertex_mark(line, labels[line, end])
        else:
            k = wall + 1 if wall + 1 < count else 0
            if line == 0:
                work.names[kept] = name_crossing(flat, labels, 0, 1, wall, k, x, y, near)
            else:
                work.names[kept] = name_crossing(flat, labels, wall, k, 0, 1, x, y, near)
        kept += 1
    return kept


@kernel
def manifold(p, q, hulls, gap, nx, ny, nz, px, py, pz, qx, qy, qz, reach, work, spots, marks):
    """Contacts of solids p and q from their gap, unit normal (p to q) and a witness point on each core.

    `spots` (at least SPOTS rows) takes point, normal and gap in m of each contact, `marks` its feature
    (0 ≤ mark < 2⁵⁹); the number of contacts is returned, 0 if the gap exceeds `reach`.
    """
    if gap > reach:
        return 0
    middle = 0.5 * (p.radius - q.radius)
    wx, wy, wz = 0.5 * (px + qx) + middle * nx, 0.5 * (py + qy) + middle * ny, 0.5 * (pz + qz) + middle * nz
    round_p, round_q = p.kind == SPHERE or p.kind == ELLIPSOID, q.kind == SPHERE or q.kind == ELLIPSOID
    if round_p or round_q:
        set_spot(spots, marks, 0, ALONE_MARK, wx, wy, wz, nx, ny, nz, gap)
        return 1
    form_p, one_p, two_p = choose(p, hulls, nx, ny, nz, work, 0)
    form_q, one_q, two_q = choose(q, hulls, -nx, -ny, -nz, work, 1)
    if form_p == ALONE or form_q == ALONE:
        set_spot(spots, marks, 0, ALONE_MARK, wx, wy, wz, nx, ny, nz, gap)
        return 1
    # the lowest point of a rim is the one nearest to the other's face
    ax, ay, az, bx, by, bz = nx, ny, nz, -nx, -ny, -nz
    if form_q >= 2:
        ax, ay, az = -work.normal[1, 0], -work.normal[1, 1], -work.normal[1, 2]
    if form_p >= 2:
        bx, by, bz = -work.normal[0, 0], -work.normal[0, 1], -work.normal[0, 2]
    count_p = fill(p, hulls, form_p, one_p, two_p, nx, ny, nz, ax, ay, az, work, 0)
    count_q = fill(q, hulls, form_q, one_q, two_q, -nx, -ny, -nz, bx, by, bz, work, 1)
    if form_p == ROUND and form_q == ROUND:
        count_p = _add_rim_crossings(p, one_p, q, one_q, work, 0, count_p, nx, ny, nz)
        count_q = _add_rim_crossings(q, one_q, p, one_p, work, 1, count_q, nx, ny, nz)
    elif form_p == ROUND:
        count_p = _add_crossings(p, one_p, work, 0, count_p, count_q, nx, ny, nz)
    elif form_q == ROUND:
        count_q = _add_crossings(q, one_q, work, 1, count_q, count_p, nx, ny, nz)
    flat, labels, found, heights, names = work.flat, work.labels, work.found, work.heights, work.names
    _project(work.points, flat, 0, count_p, nx, ny, nz)
    _project(work.points, flat, 1, count_q, nx, ny, nz)
    size_p, size_q = orient(flat, labels, 0, count_p), orient(flat, labels, 1, count_q)
    size = min(size_p, size_q)
    slack = _SLACK * size + _ROUNDING * max(size_p, size_q)
    near, planes_p, planes_q = SNAP * size, 0, 0
    ux, uy, uz, vx, vy, vz = across(nx, ny, nz)
    frame = (nx, ny, nz, ux, uy, uz, vx, vy, vz)
    if form_p >= 2:
        planes_p = _surface(
            p,
            hulls.planes,
            one_p,
            work.member_first,
            work.members,
            work.normal,
            flat,
            work.slopes,
            0,
            count_p,
            nx,
            ny,
            nz,
        )
    if form_q >= 2:
        planes_q = _surface(
            q,
            hulls.planes,
            one_q,
            work.member_first,
            work.members,
            work.normal,
            flat,
            work.slopes,
            1,
            count_q,
            nx,
            ny,
            nz,
        )
    if form_p >= 2 and form_q >= 2:
        count = clip_faces(
            flat, labels, work.polygon, work.sides, work.inside, found, names, count_p, count_q, slack, near
        )
        for i in range(count):
            heights[i, 0] = _height(work.slopes, 0, planes_p, found[i, 0], found[i, 1])
            heights[i, 1] = _height(work.slopes, 1, planes_q, found[i, 0], found[i, 1])
    elif form_p >= 2:
        count = _segment_on_face(q, work, 1, count_p, planes_p, slack, near, frame)
    elif form_q >= 2:
        count = _segment_on_face(p, work, 0, count_q, planes_q, slack, near, frame)
    else:
        count = segment_on_segment(p, q, work, slack, frame)
    for i in range(count):
        # no point is nearer than the pair; beyond a wall, within the slack, planes would say so
        found[i, 2] = max(heights[i, 1] - heights[i, 0] - p.radius - q.radius, gap)
    same = 1e-12 + _SAME * size + _ROUNDING * max(size_p, size_q)
    count = merge(found, heights, names, count, MERGE * size, reach)
    count = reduce(found, heights, names, work.sides, work.inside, count, same, MOST)
    deepest = math.inf
    for i in range(count):
        x, y = found[i, 0], found[i, 1]
        h = 0.5 * (heights[i, 0] + p.radius + heights[i, 1] - q.radius)
        set_spot(
            spots, marks, i, names[i],
            x * ux + y * vx + h * nx, x * uy + y * vy + h * ny, x * uz + y * vz + h * nz,
            nx, ny, nz, found[i, 2],
        )  # fmt: skip
        deepest = min(deepest, found[i, 2])
    if deepest > gap + same:
        place, mark = count, ALONE_MARK
        x, y = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
        near = (_BY * size) ** 2
        for i in range(count):
            off = (found[i, 0] - x) ** 2 + (found[i, 1] - y) ** 2
            if off < near:
                place, mark, near = i, marks[i], off
        set_spot(spots, marks, place, mark, wx, wy, wz, nx, ny, nz, gap)
        count = max(count, place + 1)
    return count
