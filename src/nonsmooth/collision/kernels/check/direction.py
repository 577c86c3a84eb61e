"""Is there a direction that separates two convex cores better? All axes of polytopes, a search for others."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.check.rows import angle_between
from nonsmooth.collision.kernels.check.support import (
    BOX,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    HALF_SPACE,
    apart_along,
    farthest,
    from_frame,
    to_frame,
)

_ARC = 1e-9  # sine by which an axis may lie outside the arc of an edge
_NEAR = 0.97  # cosine above which a start leads to the same best direction
_STARTS = 13  # directions from the centre of a cube to its faces, edges and corners, and their opposites
_ROUNDS = 10_000  # of a climb


@inlined_kernel
def is_polytope(scene, s):
    """True if faces and edges of shape s are listed."""
    return scene.kind[s] == BOX or scene.kind[s] == CONVEX_HULL


@inner_kernel
def has_face(scene, s, x, y, z, angle):
    """True if the unit vector (x, y, z) is normal to a flat face of s, outward, within `angle` (rad)."""
    x, y, z = to_frame(scene.axes, s, x, y, z)
    if scene.kind[s] == HALF_SPACE:
        return angle_between(x, y, z, 0.0, 0.0, 1.0) <= angle
    if scene.kind[s] in (CYLINDER, CONE):
        return (
            min(
                angle_between(x, y, z, 0.0, 0.0, -1.0),
                angle_between(x, y, z, 0.0, 0.0, 1.0) if scene.kind[s] == CYLINDER else math.inf,
            )
            <= angle
        )
    if is_polytope(scene, s):
        part = scene.part[s]
        for f in range(scene.first[part, 1], scene.first[part + 1, 1]):
            if angle_between(x, y, z, scene.planes[f, 0], scene.planes[f, 1], scene.planes[f, 2]) <= angle:
                return True
    return False


@inlined_kernel
def _vertex(scene, s, v):
    """Vertex v of polytope s in its frame."""
    if scene.kind[s] == BOX:
        return (
            scene.vertices[v, 0] * scene.size[s, 0],
            scene.vertices[v, 1] * scene.size[s, 1],
            scene.vertices[v, 2] * scene.size[s, 2],
        )
    return scene.vertices[v, 0], scene.vertices[v, 1], scene.vertices[v, 2]


@inlined_kernel
def _depth_below(scene, s, f, x, y, z):
    """How far a point in the frame of polytope s is below its plane f."""
    nx, ny, nz, offset = scene.planes[f, 0], scene.planes[f, 1], scene.planes[f, 2], scene.planes[f, 3]
    if scene.kind[s] == BOX:
        offset = abs(nx) * scene.size[s, 0] + abs(ny) * scene.size[s, 1] + abs(nz) * scene.size[s, 2]
    return offset - (nx * x + ny * y + nz * z)


@inner_kernel
def _kept_edges(scene, s, x, y, z, depth, kept):
    """Write the edges of s that a better axis can use: directions, normals of both faces, and depth.

    `kept` is (e, 10). An axis on the arc of an edge has the point (x, y, z), relative to the centre, at least
    as deep below its plane as the less deep of the two faces.
    """
    part = scene.part[s]
    lx, ly, lz = to_frame(scene.axes, s, x, y, z)
    count = 0
    for e in range(scene.first[part, 2], scene.first[part + 1, 2]):
        f, g = scene.edges[e, 2], scene.edges[e, 3]
        below = min(_depth_below(scene, s, f, lx, ly, lz), _depth_below(scene, s, g, lx, ly, lz))
        if below > depth:
            continue
        ax, ay, az = _vertex(scene, s, scene.edges[e, 0])
        bx, by, bz = _vertex(scene, s, scene.edges[e, 1])
        kept[count, 0], kept[count, 1], kept[count, 2] = from_frame(scene.axes, s, bx - ax, by - ay, bz - az)
        p = scene.planes
        kept[count, 3], kept[count, 4], kept[count, 5] = from_frame(scene.axes, s, p[f, 0], p[f, 1], p[f, 2])
        kept[count, 6], kept[count, 7], kept[count, 8] = from_frame(scene.axes, s, p[g, 0], p[g, 1], p[g, 2])
        kept[count, 9] = below
        count += 1
    return count


@inlined_kernel
def _on_arc(kept, i, x, y, z, length):
    """True if (x, y, z), normal to edge i, lies between the normals of its faces."""
    ex, ey, ez = kept[i, 0], kept[i, 1], kept[i, 2]
    ax, ay, az = kept[i, 3], kept[i, 4], kept[i, 5]
    bx, by, bz = kept[i, 6], kept[i, 7], kept[i, 8]
    whole = ex * (ay * bz - az * by) + ey * (az * bx - ax * bz) + ez * (ax * by - ay * bx)
    side = 1.0 if whole >= 0.0 else -1.0
    from_a = ex * (ay * z - az * y) + ey * (az * x - ax * z) + ez * (ax * y - ay * x)
    to_b = ex * (y * bz - z * by) + ey * (z * bx - x * bz) + ez * (x * by - y * bx)
    least = -_ARC * length * math.sqrt(ex * ex + ey * ey + ez * ez)
    return side * from_a >= least and side * to_b >= least


@inner_kernel
def best_axis(scene, p, q, cx, cy, cz, x, y, z, depth, best, bx, by, bz, kept_p, kept_q):
    """Best of `best` along b and of all axes of two polytopes whose separation can exceed −depth.

    (x, y, z) is a point of both, relative to p's centre: an axis with separation −d has it at most d below
    the supporting planes of both together. An infinite depth asks for all axes.
    """
    for side in range(2):
        s, sign = (p, 1.0) if side == 0 else (q, -1.0)
        lx, ly, lz = (x, y, z) if side == 0 else (x - cx, y - cy, z - cz)
        lx, ly, lz = to_frame(scene.axes, s, lx, ly, lz)
        part = scene.part[s]
        for f in range(scene.first[part, 1], scene.first[part + 1, 1]):
            if _depth_below(scene, s, f, lx, ly, lz) > depth:
                continue
            nx, ny, nz = from_frame(
                scene.axes, s, sign * scene.planes[f, 0], sign * scene.planes[f, 1], sign * scene.planes[f, 2]
            )
            apart = apart_along(scene, p, q, cx, cy, cz, nx, ny, nz)
            if apart > best:
                best, bx, by, bz = apart, nx, ny, nz
    count_p = _kept_edges(scene, p, x, y, z, depth, kept_p)
    count_q = _kept_edges(scene, q, x - cx, y - cy, z - cz, depth, kept_q)
    for i in range(count_p):
        for j in range(count_q):
            if kept_p[i, 9] + kept_q[j, 9] > depth:
                continue
            nx = kept_p[i, 1] * kept_q[j, 2] - kept_p[i, 2] * kept_q[j, 1]
            ny = kept_p[i, 2] * kept_q[j, 0] - kept_p[i, 0] * kept_q[j, 2]
            nz = kept_p[i, 0] * kept_q[j, 1] - kept_p[i, 1] * kept_q[j, 0]
            length = math.sqrt(nx * nx + ny * ny + nz * nz)
            if length == 0.0:
                continue
            outward = (
                nx * (kept_p[i, 3] + kept_p[i, 6])
                + ny * (kept_p[i, 4] + kept_p[i, 7])
                + nz * (kept_p[i, 5] + kept_p[i, 8])
            )
            if outward < 0.0:
                nx, ny, nz = -nx, -ny, -nz
            if not _on_arc(kept_p, i, nx, ny, nz, length) or not _on_arc(kept_q, j, -nx, -ny, -nz, length):
                continue
            nx, ny, nz = nx / length, ny / length, nz / length
            apart = apart_along(scene, p, q, cx, cy, cz, nx, ny, nz)
            if apart > best:
                best, bx, by, bz = apart, nx, ny, nz
    return best, bx, by, bz


@inner_kernel
def climb(scene, p, q, cx, cy, cz, nx, ny, nz, step, least):
    """Pattern search for the best separation of cores, from n, with steps (rad) from `step` to `least`.

    Separation has ridges: the eight directions tried are turned each round, so that one runs along a ridge.
    On one as sharp as that of two edges side by side steps stay tiny, and the climb would take many seconds:
    it is given up then. For polytopes, which have such ridges, `best_axis` tries all directions that count.
    """
    best = apart_along(scene, p, q, cx, cy, cz, nx, ny, nz)
    turn = 0.0
    for _ in range(_ROUNDS):
        if step <= least:
            break
        # two directions normal to n
        if abs(nx) < 0.6:
            ux, uy, uz = 0.0, -nz, ny
        else:
            ux, uy, uz = -nz, 0.0, nx
        length = math.sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / length, uy / length, uz / length
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        turn += 0.7
        better, wx, wy, wz = best, nx, ny, nz
        for k in range(8):
            a, b = step * math.cos(turn + k * math.pi / 4.0), step * math.sin(turn + k * math.pi / 4.0)
            tx, ty, tz = nx + a * ux + b * vx, ny + a * uy + b * vy, nz + a * uz + b * vz
            length = math.sqrt(tx * tx + ty * ty + tz * tz)
            tx, ty, tz = tx / length, ty / length, tz / length
            apart = apart_along(scene, p, q, cx, cy, cz, tx, ty, tz)
            if apart > better:
                better, wx, wy, wz = apart, tx, ty, tz
        if better > best:
            best, nx, ny, nz = better, wx, wy, wz
            step *= 1.3
        else:
            step *= 0.4
    return best, nx, ny, nz


@inlined_kernel
def _start(k):
    """Direction k of the 13 from a cube's centre to half of its faces, edges and corners; not a unit."""
    if k < 3:
        return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
    if k < 9:
        sign = 1.0 if k % 2 else -1.0
        if k < 5:
            return 1.0, sign, 0.0
        if k < 7:
            return 1.0, 0.0, sign
        return 0.0, 1.0, sign
    return 1.0, 1.0 if k % 2 else -1.0, 1.0 if k < 11 else -1.0


@inner_kernel
def search(scene, p, q, cx, cy, cz, nx, ny, nz, size, tolerance):
    """Best separation of curved cores found from n, and from the best of directions all round.

    Those are the line of centres, the axes of both shapes and 26 fixed ones; a start near n or a climb that
    leads back to it is not followed further. Steps (rad) shrink until they cannot change the separation of
    shapes of `size` by the tolerance.
    """
    least = 0.2 * tolerance / size
    best, bx, by, bz = climb(scene, p, q, cx, cy, cz, nx, ny, nz, 1e-3, least)
    most, sx, sy, sz = -math.inf, nx, ny, nz
    distance = math.sqrt(cx * cx + cy * cy + cz * cz)
    for k in range(-7, 2 * _STARTS):
        if k == -7:
            if distance == 0.0:
                continue
            x, y, z = cx / distance, cy / distance, cz / distance
        elif k < 0:
            s = p if k < -3 else q
            axis = (k + 6) % 3
            x, y, z = scene.axes[s, 0, axis], scene.axes[s, 1, axis], scene.axes[s, 2, axis]
            if x * cx + y * cy + z * cz < 0.0:
                x, y, z = -x, -y, -z
        else:
            x, y, z = _start(k % _STARTS)
            length = math.sqrt(x * x + y * y + z * z)
            sign = 1.0 if k < _STARTS else -1.0
            x, y, z = sign * x / length, sign * y / length, sign * z / length
        if x * nx + y * ny + z * nz > _NEAR:
            continue
        apart = apart_along(scene, p, q, cx, cy, cz, x, y, z)
        if apart > most:
            most, sx, sy, sz = apart, x, y, z
    if most > -math.inf:
        most, sx, sy, sz = climb(scene, p, q, cx, cy, cz, sx, sy, sz, 0.2, 0.01)
        if sx * nx + sy * ny + sz * nz < _NEAR or most > best:
            most, sx, sy, sz = climb(scene, p, q, cx, cy, cz, sx, sy, sz, 0.01, least)
    if most > best:
        best, bx, by, bz = most, sx, sy, sz
    return best, bx, by, bz


@inner_kernel
def nearer_than(scene, p, q, cx, cy, cz, limit, rounds, corner):
    """1 if the cores are proven to be nearer than `limit` > 0, −1 if proven not to be, 0 if undecided.

    The point w of the difference q − p nearest to the origin is approached over triangles of its support
    points: each w bounds the distance from above, each support plane from below. `corner` is (4, 4): points
    and their weights in w.
    """
    px, py, pz = farthest(scene, p, cx, cy, cz)
    qx, qy, qz = farthest(scene, q, -cx, -cy, -cz)
    corner[0, 0], corner[0, 1], corner[0, 2], corner[0, 3] = cx + qx - px, cy + qy - py, cz + qz - pz, 1.0
    count = 1
    for _ in range(rounds):
        wx = wy = wz = 0.0
        for k in range(count):
            wx += corner[k, 3] * corner[k, 0]
            wy += corner[k, 3] * corner[k, 1]
            wz += corner[k, 3] * corner[k, 2]
        distance = math.sqrt(wx * wx + wy * wy + wz * wz)
        if distance < limit:
            return 1
        ux, uy, uz = wx / distance, wy / distance, wz / distance
        px, py, pz = farthest(scene, p, ux, uy, uz)
        qx, qy, qz = farthest(scene, q, -ux, -uy, -uz)
        vx, vy, vz = cx + qx - px, cy + qy - py, cz + qz - pz
        along = ux * vx + uy * vy + uz * vz
        if along > limit:
            return -1
        if along > distance - 1e-13 * (distance + abs(vx) + abs(vy) + abs(vz)):
            return 0  # the nearest point, to rounding, at the limit
        corner[count, 0], corner[count, 1], corner[count, 2] = vx, vy, vz
        if count == 3 and _surrounds(corner):
            return 1
        count = _nearest_simplex(corner, count + 1)
    return 0


@inlined_kernel
def _volume(c, i, j, k):
    """Six times the volume of the origin and corners i, j, k."""
    return (
        c[i, 0] * (c[j, 1] * c[k, 2] - c[j, 2] * c[k, 1])
        + c[i, 1] * (c[j, 2] * c[k, 0] - c[j, 0] * c[k, 2])
        + c[i, 2] * (c[j, 0] * c[k, 1] - c[j, 1] * c[k, 0])
    )


@inlined_kernel
def _surrounds(c):
    """True if the origin is inside the tetrahedron of four corners."""
    a, b, d, e = _volume(c, 1, 2, 3), -_volume(c, 0, 2, 3), _volume(c, 0, 1, 3), -_volume(c, 0, 1, 2)
    return (a > 0.0 and b > 0.0 and d > 0.0 and e > 0.0) or (a < 0.0 and b < 0.0 and d < 0.0 and e < 0.0)


@inner_kernel
def _weights(c, i, j, k):
    """Weights of corners i, j, k in the point of their triangle nearest to the origin, and its square."""
    best = math.inf
    wi, wj, wk = 1.0, 0.0, 0.0
    ax, ay, az = c[j, 0] - c[i, 0], c[j, 1] - c[i, 1], c[j, 2] - c[i, 2]
    bx, by, bz = c[k, 0] - c[i, 0], c[k, 1] - c[i, 1], c[k, 2] - c[i, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = nx * nx + ny * ny + nz * nz
    if square > 1e-28 * (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz):
        ox, oy, oz = -c[i, 0], -c[i, 1], -c[i, 2]
        t = (
            nx * (ay * oz - az * oy) + ny * (az * ox - ax * oz) + nz * (ax * oy - ay * ox)
        ) / square  # weight of k
        s = (nx * (oy * bz - oz * by) + ny * (oz * bx - ox * bz) + nz * (ox * by - oy * bx)) / square
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            x = c[i, 0] + s * ax + t * bx
            y = c[i, 1] + s * ay + t * by
            z = c[i, 2] + s * az + t * bz
            return 1.0 - s - t, s, t, x * x + y * y + z * z
    for side in range(3):
        p, q = (i, j) if side == 0 else ((j, k) if side == 1 else (k, i))
        dx, dy, dz = c[q, 0] - c[p, 0], c[q, 1] - c[p, 1], c[q, 2] - c[p, 2]
        length = dx * dx + dy * dy + dz * dz
        t = 0.0
        if length > 0.0:
            t = min(max(-(c[p, 0] * dx + c[p, 1] * dy + c[p, 2] * dz) / length, 0.0), 1.0)
        x, y, z = c[p, 0] + t * dx, c[p, 1] + t * dy, c[p, 2] + t * dz
        square = x * x + y * y + z * z
        if square < best:
            best = square
            if side == 0:
                wi, wj, wk = 1.0 - t, t, 0.0
            elif side == 1:
                wi, wj, wk = 0.0, 1.0 - t, t
            else:
                wi, wj, wk = t, 0.0, 1.0 - t
    return wi, wj, wk, best


@inner_kernel
def _nearest_simplex(c, count):
    """Keep the corners whose triangle, with the last corner, is nearest to the origin; their number."""
    new = count - 1
    best, bi, bj = math.inf, 0, 0
    wn = wi = wj = 0.0
    for i in range(new):
        for j in range(i, new):
            if j == i and new > 1:
                continue
            a, b, d, square = _weights(c, new, i, j)
            if square < best:
                best, bi, bj, wn, wi, wj = square, i, j, a, b, d
    if bi == bj:
        wi, wj = wi + wj, 0.0
    ix, iy, iz = c[bi, 0], c[bi, 1], c[bi, 2]
    jx, jy, jz = c[bj, 0], c[bj, 1], c[bj, 2]
    c[0, 0], c[0, 1], c[0, 2], c[0, 3] = c[new, 0], c[new, 1], c[new, 2], wn
    kept = 1
    if wi > 0.0:
        c[kept, 0], c[kept, 1], c[kept, 2], c[kept, 3] = ix, iy, iz, wi
        kept += 1
    if wj > 0.0:
        c[kept, 0], c[kept, 1], c[kept, 2], c[kept, 3] = jx, jy, jz, wj
        kept += 1
    return kept
