"""Lines of contact: ends of segments that run side by side, and surfaces beside such a line.

The line of a round side is where it touches. Beside it the surface falls off, and the end of the line becomes
a rim. Heights there are those of the side itself along the contact normal, in closed form.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import CONE, CYLINDER, to_local
from nonsmooth.collision.kernels.manifolds.clipping import vertex_mark

ASIDE = 0.03  # rad: how far the normals of curved surfaces may turn beside the line of contact
LEVEL = 0.01  # slope of a line against the normal above which there is nothing beside it
_ROUNDS = 4
_END = 1e-13  # of a line's length: how exactly its ends are met


@inner_kernel
def _side_height(solid, x, y, z, nx, ny, nz):
    """How far the round side of a cylinder or cone is from a point near it, along the outward n, and the
    height along the axis there; infinite if the ray passes it.
    """
    x, y, z = to_local(solid.axes, x - solid.x, y - solid.y, z - solid.z)
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    # the root next to the point of a t² + 2 b t + c = 0
    a = lx * lx + ly * ly
    b = x * lx + y * ly
    c = (x * x + y * y) - solid.a * solid.a
    if solid.kind == CONE:
        slope = 0.5 * solid.a / solid.b
        radius = slope * (solid.b - z)
        a -= slope * slope * lz * lz
        b += slope * radius * lz
        c = (x * x + y * y) - radius * radius
    inside = b * b - a * c
    if inside < 0.0 or b <= 0.0:
        return math.inf, z
    t = -c / (b + math.sqrt(inside))
    return t, z + t * lz


@inner_kernel
def beside(solid, work, side, s, ox, oy, frame, at_end):
    """Place and height of a surface beside its line, at the part s of it and the offset (ox, oy) across it.

    `frame` holds the normal and two vectors across it. A place at the end of the line (`at_end`) is moved
    along the line to the rim. The height is that of the core less what the swept ball falls off by.
    """
    flat = work.flat
    nx, ny, nz, ux, uy, uz, vx, vy, vz = frame
    x0, y0, h0 = flat[side, 0, 0], flat[side, 0, 1], flat[side, 0, 2]
    dx, dy, dh = flat[side, 1, 0] - x0, flat[side, 1, 1] - y0, flat[side, 1, 2] - h0
    sign = 1.0 if side == 0 else -1.0
    bend = work.bend[side, 0] + s * (work.bend[side, 1] - work.bend[side, 0])
    share = bend / (bend + solid.radius) if bend > 0.0 else 0.0  # of the core, the rest is the ball's
    ball = (1.0 - share) * math.sqrt(ox * ox + oy * oy)
    fall = solid.radius - math.sqrt(max(solid.radius * solid.radius - ball * ball, 0.0))
    h = h0 + s * dh
    if solid.kind in (CYLINDER, CONE) and bend > 0.0:
        for _ in range(_ROUNDS):
            x, y, line = x0 + s * dx + share * ox, y0 + s * dy + share * oy, h0 + s * dh
            rise, z = _side_height(
                solid, x * ux + y * vx + line * nx, x * uy + y * vy + line * ny, x * uz + y * vz + line * nz,
                sign * nx, sign * ny, sign * nz,
            )  # fmt: skip
            h = line + sign * rise
            beyond = (z - min(max(z, -solid.b), solid.b)) / (2.0 * solid.b)
            if not at_end or not abs(beyond) > _END:
                break
            s -= beyond
    return x0 + s * dx + ox, y0 + s * dy + oy, h - sign * fall


@inner_kernel
def segment_on_segment(p, q, work, slack, frame):
    """Ends of the part that two segments run side by side, where they diverge by little of their radii.

    The end of one is on its rim, where the two surfaces are nearest to one another.
    """
    flat, labels = work.flat, work.labels
    ux, uy = flat[0, 1, 0] - flat[0, 0, 0], flat[0, 1, 1] - flat[0, 0, 1]
    vx, vy = flat[1, 1, 0] - flat[1, 0, 0], flat[1, 1, 1] - flat[1, 0, 1]
    uh, vh = flat[0, 1, 2] - flat[0, 0, 2], flat[1, 1, 2] - flat[1, 0, 2]
    square_p, square_q = ux * ux + uy * uy, vx * vx + vy * vy
    level = LEVEL * LEVEL
    wide = ASIDE if uh * uh <= level * square_p and vh * vh <= level * square_q else 0.0
    count = 0
    # ends of p over q, then ends of q over p
    for end in range(4):
        own, s = (0, 1.0 * end) if end < 2 else (1, 1.0 * (end - 2))
        other = 1 - own
        ex, ey, square = (ux, uy, square_p) if own == 0 else (vx, vy, square_q)
        fx, fy, square_f = (vx, vy, square_q) if own == 0 else (ux, uy, square_p)
        length, length_f = math.sqrt(square), math.sqrt(square_f)
        x = flat[own, 0, 0] + s * ex - flat[other, 0, 0]
        y = flat[own, 0, 1] + s * ey - flat[other, 0, 1]
        t = (x * fx + y * fy) / square_f
        if t < 0.0 or t > 1.0:
            continue
        swept, swept_f = (p.radius, q.radius) if own == 0 else (q.radius, p.radius)
        bend = work.bend[own, 0] + s * (work.bend[own, 1] - work.bend[own, 0]) + swept
        bend_f = work.bend[other, 0] + t * (work.bend[other, 1] - work.bend[other, 0]) + swept_f
        aside = (fx * y - fy * x) / length_f  # of the other line
        if abs(aside) > wide * (bend + bend_f) + slack:
            continue
        # along the rim to where the two surfaces, which fall off by squares, are nearest
        cosine = (ex * fx + ey * fy) / (length * length_f)
        whole = bend_f + cosine * cosine * bend
        off = -aside * cosine * bend / whole if whole > 0.0 else 0.0
        ox, oy = -ey / length * off, ex / length * off
        h = 0.0
        for _ in range(_ROUNDS):
            if own == 0:
                x, y, h = beside(p, work, own, s, ox, oy, frame, True)
            else:
                x, y, h = beside(q, work, own, s, ox, oy, frame, True)
            t = ((x - flat[other, 0, 0]) * fx + (y - flat[other, 0, 1]) * fy) / square_f
            beyond = t - min(max(t, 0.0), 1.0)
            if not abs(beyond) > _END:
                break
            s -= beyond * length_f / (length * cosine)
        fx, fy = x - flat[other, 0, 0] - t * fx, y - flat[other, 0, 1] - t * fy
        if own == 0:
            _, _, h_f = beside(q, work, other, t, fx, fy, frame, False)
        else:
            _, _, h_f = beside(p, work, other, t, fx, fy, frame, False)
        if not abs(h_f - h) < math.inf:
            continue
        work.found[count, 0], work.found[count, 1] = x, y
        work.heights[count, own], work.heights[count, other] = h, h_f
        work.names[count] = vertex_mark(own, labels[own, end % 2])
        count += 1
    return count
