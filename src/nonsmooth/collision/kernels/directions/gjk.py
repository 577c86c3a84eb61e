"""Distance of two convex cores by the method of Gilbert, Johnson and Keerthi (1988).

All is said of M = {q − p}: a unit vector n from p to q separates the cores by the least n·m over M, and the
best n points to the point v of M that is nearest to the origin. M may be shifted away from the origin:
nearest points of M + s are found to full precision if the origin is far outside, also where the cores kiss.

A row of the simplex is a point q − p of M without the shift, then p.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CONVEX_HULL,
    SPHERE,
    TRIANGLE,
    hull_support,
    local_support,
    to_local,
    to_world,
)

APART, BEYOND, INSIDE, STALLED = range(4)
"""How a search ends: nearest point proven, farther than asked for, origin in M, no progress."""

_STEPS = 100


@inlined_kernel
def _support(solid, hulls, x, y, z, start):
    """As `solids.support`, but inlined: GJK spends most of its time here."""
    if solid.kind == SPHERE:
        return solid.x, solid.y, solid.z, start
    r = solid.axes
    if solid.kind == TRIANGLE:
        a = x * r[0, 0] + y * r[1, 0] + z * r[2, 0]
        b = x * r[0, 1] + y * r[1, 1] + z * r[2, 1]
        c = x * r[0, 2] + y * r[1, 2] + z * r[2, 2]
        k = 0
        if b > a and b >= c:
            k = 1
        elif c > a and c > b:
            k = 2
        return solid.x + r[0, k], solid.y + r[1, k], solid.z + r[2, k], start
    lx, ly, lz = to_local(r, x, y, z)
    if solid.kind == CONVEX_HULL:
        start = hull_support(hulls, solid.hull, lx, ly, lz)
        i = hulls.first[solid.hull, 0] + start
        px, py, pz = hulls.vertices[i, 0], hulls.vertices[i, 1], hulls.vertices[i, 2]
    elif solid.kind == BOX:
        px, py, pz = math.copysign(solid.a, lx), math.copysign(solid.b, ly), math.copysign(solid.c, lz)
    else:
        px, py, pz = local_support(solid.kind, solid.a, solid.b, solid.c, lx, ly, lz)
    wx, wy, wz = to_world(r, px, py, pz)
    return solid.x + wx, solid.y + wy, solid.z + wz, start


@inlined_kernel
def probe(p, q, hulls, hints, x, y, z):
    """Points of p and q that are farthest along the vector and against it: their difference is M's lowest."""
    px, py, pz, hints[0] = _support(p, hulls, x, y, z, hints[0])
    qx, qy, qz, hints[1] = _support(q, hulls, -x, -y, -z, hints[1])
    return px, py, pz, qx, qy, qz


@inner_kernel
def separation_along(p, q, hulls, hints, x, y, z):
    """Separation along a unit vector, and the point of M that decides it."""
    px, py, pz, qx, qy, qz = probe(p, q, hulls, hints, x, y, z)
    mx, my, mz = qx - px, qy - py, qz - pz
    return x * mx + y * my + z * mz, mx, my, mz


@inner_kernel
def _of_triangle(s, i, j, k, sx, sy, sz):
    """Point of a triangle nearest to the origin: weights of its corners, the point."""
    ax, ay, az = s[i, 0] + sx, s[i, 1] + sy, s[i, 2] + sz
    bx, by, bz = s[j, 0] + sx, s[j, 1] + sy, s[j, 2] + sz
    cx, cy, cz = s[k, 0] + sx, s[k, 1] + sy, s[k, 2] + sz
    ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    wx, wy, wz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(wx * ax + wy * ay + wz * az)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, ax, ay, az
    d3, d4 = -(ux * bx + uy * by + uz * bz), -(wx * bx + wy * by + wz * bz)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, bx, by, bz
    d5, d6 = -(ux * cx + uy * cy + uz * cz), -(wx * cx + wy * cy + wz * cz)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, cx, cy, cz
    # twice the areas of the three parts that the foot of the origin cuts off, times that of the whole
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    of_c, of_b, of_a = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if of_c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        vx, vy, vz = _across(ax + t * ux, ay + t * uy, az + t * uz, ux, uy, uz)
        return 1.0 - t, t, 0.0, vx, vy, vz
    if of_b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        vx, vy, vz = _across(ax + t * wx, ay + t * wy, az + t * wz, wx, wy, wz)
        return 1.0 - t, 0.0, t, vx, vy, vz
    if of_a <= 0.0 and d4 >= d3 and d5 >= d6:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        ex, ey, ez = s[k, 0] - s[j, 0], s[k, 1] - s[j, 1], s[k, 2] - s[j, 2]
        vx, vy, vz = _across(bx + t * ex, by + t * ey, bz + t * ez, ex, ey, ez)
        return 0.0, 1.0 - t, t, vx, vy, vz
    square = nx * nx + ny * ny + nz * nz
    if square == 0.0:
        return 1.0, 0.0, 0.0, ax, ay, az
    h = (nx * ax + ny * ay + nz * az) / square
    whole = of_a + of_b + of_c
    return of_a / whole, of_b / whole, of_c / whole, h * nx, h * ny, h * nz


@inlined_kernel
def _across(x, y, z, ux, uy, uz):
    """The vector without what rounding left of it along u: a direction exact to the last digits."""
    t = (x * ux + y * uy + z * uz) / (ux * ux + uy * uy + uz * uz)
    return x - t * ux, y - t * uy, z - t * uz


@inlined_kernel
def _move(s, to, source):
    for column in range(6):
        s[to, column] = s[source, column]


@inner_kernel
def nearest(s, count, sx, sy, sz):
    """Reduce the simplex to the corners that its point nearest to the origin needs.

    Returns how many remain (4: the origin is inside), their weights and the nearest point.
    """
    if count == 1:
        return 1, 1.0, 0.0, 0.0, s[0, 0] + sx, s[0, 1] + sy, s[0, 2] + sz
    if count == 2:
        ax, ay, az = s[0, 0] + sx, s[0, 1] + sy, s[0, 2] + sz
        ux, uy, uz = s[1, 0] - s[0, 0], s[1, 1] - s[0, 1], s[1, 2] - s[0, 2]
        square = ux * ux + uy * uy + uz * uz
        along = -(ax * ux + ay * uy + az * uz)
        if along <= 0.0 or square == 0.0:
            return 1, 1.0, 0.0, 0.0, ax, ay, az
        if along >= square:
            _move(s, 0, 1)
            return 1, 1.0, 0.0, 0.0, s[0, 0] + sx, s[0, 1] + sy, s[0, 2] + sz
        t = along / square
        vx, vy, vz = _across(ax + t * ux, ay + t * uy, az + t * uz, ux, uy, uz)
        return 2, 1.0 - t, t, 0.0, vx, vy, vz
    i, j, k = 0, 1, 2
    if count == 3:
        wi, wj, wk, vx, vy, vz = _of_triangle(s, 0, 1, 2, sx, sy, sz)
    else:
        least = math.inf
        wi, wj, wk, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for left_out in range(4):
            a = 1 if left_out == 0 else 0
            b = 2 if left_out <= 1 else 1
            c = 3 if left_out <= 2 else 2
            ux, uy, uz = s[b, 0] - s[a, 0], s[b, 1] - s[a, 1], s[b, 2] - s[a, 2]
            wx, wy, wz = s[c, 0] - s[a, 0], s[c, 1] - s[a, 1], s[c, 2] - s[a, 2]
            nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            ours = -(nx * (s[a, 0] + sx) + ny * (s[a, 1] + sy) + nz * (s[a, 2] + sz))
            theirs = (
                nx * (s[left_out, 0] - s[a, 0])
                + ny * (s[left_out, 1] - s[a, 1])
                + nz * (s[left_out, 2] - s[a, 2])
            )
            if ours * theirs > 0.0:
                continue
            w0, w1, w2, x, y, z = _of_triangle(s, a, b, c, sx, sy, sz)
            square = x * x + y * y + z * z
            if square < least:
                least = square
                i, j, k = a, b, c
                wi, wj, wk, vx, vy, vz = w0, w1, w2, x, y, z
        if least == math.inf:
            return 4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    count = 0
    w0, w1, w2 = 0.0, 0.0, 0.0
    # i < j < k: rows move down only onto rows that were read already
    if wi > 0.0:
        _move(s, 0, i)
        w0, count = wi, 1
    if wj > 0.0:
        _move(s, count, j)
        if count == 0:
            w0 = wj
        else:
            w1 = wj
        count += 1
    if wk > 0.0:
        _move(s, count, k)
        if count == 0:
            w0 = wk
        elif count == 1:
            w1 = wk
        else:
            w2 = wk
        count += 1
    return count, w0, w1, w2, vx, vy, vz


@inlined_kernel
def points_of_both(s, count, w0, w1, w2):
    """The points of p and of q at the simplex's nearest point.

    Weights of a narrow triangle are inexact: each point is a mean of its own, so that one of them, if it is
    the same in all rows, is exact.
    """
    px, py, pz = w0 * s[0, 3], w0 * s[0, 4], w0 * s[0, 5]
    qx, qy, qz = w0 * (s[0, 0] + s[0, 3]), w0 * (s[0, 1] + s[0, 4]), w0 * (s[0, 2] + s[0, 5])
    if count > 1:
        px, py, pz = px + w1 * s[1, 3], py + w1 * s[1, 4], pz + w1 * s[1, 5]
        qx, qy, qz = (
            qx + w1 * (s[1, 0] + s[1, 3]),
            qy + w1 * (s[1, 1] + s[1, 4]),
            qz + w1 * (s[1, 2] + s[1, 5]),
        )
    if count > 2:
        px, py, pz = px + w2 * s[2, 3], py + w2 * s[2, 4], pz + w2 * s[2, 5]
        qx, qy, qz = (
            qx + w2 * (s[2, 0] + s[2, 3]),
            qy + w2 * (s[2, 1] + s[2, 4]),
            qz + w2 * (s[2, 2] + s[2, 5]),
        )
    return (px, py, pz), (qx, qy, qz)


@inlined_kernel
def _length(a, b, sx, sy, sz):
    """Distance of two points of which the second is shifted."""
    x, y, z = b[0] - a[0] + sx, b[1] - a[1] + sy, b[2] - a[2] + sz
    return math.sqrt(x * x + y * y + z * z)


@inner_kernel
def nearest_face(s):
    """Unit normal, inwards, of the face of a simplex of four points that the origin is nearest to.

    Where the origin is hardly inside M, it is hardly inside the simplex: the normal is about M's own there.
    """
    least = math.inf
    best = (0.0, 0.0, 1.0)
    for left_out in range(4):
        a = 1 if left_out == 0 else 0
        b = 2 if left_out <= 1 else 1
        c = 3 if left_out <= 2 else 2
        ux, uy, uz = s[b, 0] - s[a, 0], s[b, 1] - s[a, 1], s[b, 2] - s[a, 2]
        wx, wy, wz = s[c, 0] - s[a, 0], s[c, 1] - s[a, 1], s[c, 2] - s[a, 2]
        x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        square = x * x + y * y + z * z
        if square == 0.0:
            continue
        scale = 1.0 / math.sqrt(square)
        inner = s[left_out]
        if x * (inner[0] - s[a, 0]) + y * (inner[1] - s[a, 1]) + z * (inner[2] - s[a, 2]) < 0.0:
            scale = -scale
        x, y, z = scale * x, scale * y, scale * z
        depth = -(x * s[a, 0] + y * s[a, 1] + z * s[a, 2])
        if depth < least:
            least, best = depth, (x, y, z)
    return best


@inlined_kernel
def distance(p, q, hulls, hints, s, count, x, y, z, sx, sy, sz, limit, error):
    """Search for the point of M + (sx, sy, sz) nearest to the origin.

    The search starts with `count` rows of the simplex `s`, or with the direction (x, y, z) if that is 0,
    and ends when the distance is known up to `error`, or exceeds `limit`. Returns how it ended, the rows
    left, the best unit direction and the separation of the shifted cores along it, the nearest points of p
    and of q (not shifted), and the vector between them if q is shifted, whose length is an upper bound of the
    distance.
    """
    best, most = (0.0, 0.0, 1.0), -math.inf
    at_p, at_q, way, least = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), math.inf
    if count > 0:
        count, w0, w1, w2, x, y, z = nearest(s, count, sx, sy, sz)
        if count == 4:
            return INSIDE, count, best, most, at_p, at_q, way
        (at_p, at_q), way = points_of_both(s, count, w0, w1, w2), (x, y, z)
        least = math.sqrt(x * x + y * y + z * z)
    length = math.sqrt(x * x + y * y + z * z)
    for _ in range(_STEPS):
        if length == 0.0:
            return INSIDE, count, best, most, at_p, at_q, way
        x, y, z = x / length, y / length, z / length
        px, py, pz, qx, qy, qz = probe(p, q, hulls, hints, x, y, z)
        mx, my, mz = qx - px, qy - py, qz - pz
        apart = x * (mx + sx) + y * (my + sy) + z * (mz + sz)
        if apart > most:
            best, most = (x, y, z), apart
            if apart > limit:
                if count == 0:
                    at_p, at_q, way = (px, py, pz), (qx, qy, qz), (mx + sx, my + sy, mz + sz)
                return BEYOND, count, best, most, at_p, at_q, way
        if least - most <= error and _length(at_p, at_q, sx, sy, sz) - most <= 4.0 * error:
            # the foot on a narrow triangle may be beside it, but the two points are of the cores
            return APART, count, best, most, at_p, at_q, way
        for i in range(count):
            if s[i, 0] == mx and s[i, 1] == my and s[i, 2] == mz:
                return STALLED, count, best, most, at_p, at_q, way
        s[count, 0], s[count, 1], s[count, 2] = mx, my, mz
        s[count, 3], s[count, 4], s[count, 5] = px, py, pz
        count, w0, w1, w2, x, y, z = nearest(s, count + 1, sx, sy, sz)
        if count == 4:
            # a flat simplex may seem to hold the origin by rounding
            return STALLED if most > 0.0 else INSIDE, count, best, most, at_p, at_q, way
        length = math.sqrt(x * x + y * y + z * z)
        if length >= least:
            return STALLED, count, best, most, at_p, at_q, way
        least = length
        (at_p, at_q), way = points_of_both(s, count, w0, w1, w2), (x, y, z)
    return STALLED, count, best, most, at_p, at_q, way
