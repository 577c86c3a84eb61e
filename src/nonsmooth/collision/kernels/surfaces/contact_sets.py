"""From rows of faces, edges and vertices to contacts: one direction per patch, no doubles, few points.

1. A patch touches along its normal if the solid's lowest point is over it; else along the direction of an
   edge or a vertex of its rim that is nearly its normal; else a neighbour touches and the patch does not.
2. An overlap that ends sooner another way, near by and round a convex edge, is dropped.
3. Points of one plane and direction are reduced to the corners of their convex hull.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.surfaces.features.rows import ASKED_FOR, OF_EDGE, OF_VERTEX, OUTSIDE, WEAK
from nonsmooth.collision.kernels.surfaces.turned_rows import turn_row

_OPEN, _DROPPED, _KEPT, _DONE = 0, 1, 2, 3  # states
NEARLY = 5e-5  # one less the cosine of 0.01 rad: a patch that lies along the solid's face but for a tilt
_SAME = 5e-13  # one less the cosine of 1e-6 rad: one direction
_HARDLY = 0.01  # part of its depth up to which a point is hardly inside the solid another way
_TILT = 0.015  # slope up to which a point counts as no higher than another
CONCAVE_FOOT = 1  # third tag of a point at a concave edge
COMING = -1  # third tag of edges that are apart now and may come to touch
MOST = 16  # points of one manifold


@inner_kernel
def _dot(spots, i, j):
    """Cosine between two normals."""
    return spots[i, 3] * spots[j, 3] + spots[i, 4] * spots[j, 4] + spots[i, 5] * spots[j, 5]


@inner_kernel
def _above(spots, i, j):
    """Height of point j over the plane of row i."""
    return (
        spots[i, 3] * (spots[j, 0] - spots[i, 0])
        + spots[i, 4] * (spots[j, 1] - spots[i, 1])
        + spots[i, 5] * (spots[j, 2] - spots[i, 2])
    )


@inner_kernel
def choose_directions(rows, count, radius, tiny):
    """Step 1: set the state of all rows, and normals and gaps of patches that touch along another's."""
    spots, tags, plane = rows.spots, rows.tags, rows.plane
    for i in range(count):
        if tags[i, 0] != 0 or tags[i, 3] != _OPEN:
            continue
        patch = tags[i, 1]
        low = i
        for j in range(i, count):
            if tags[j, 0] == 0 and tags[j, 1] == patch and spots[j, 6] < spots[low, 6]:
                low = j
        nx, ny, nz = spots[i, 3], spots[i, 4], spots[i, 5]
        best, most, found = -1, -math.inf, False
        if spots[low, 6] <= plane[i, 3] + tiny or tags[low, 2] == CONCAVE_FOOT:
            found, most = True, plane[i, 3]
        for j in range(count):
            if tags[j, 0] == 0 or _dot(spots, i, j) <= 1.0 - NEARLY or abs(_above(spots, i, j)) > tiny:
                continue
            if tags[j, 2] == OUTSIDE or tags[j, 2] == WEAK:
                continue
            apart = _separation_along(spots, tags, plane, i, j, count, tiny)
            if best >= 0 and apart == most:
                # the other end of an edge, or another vertex
                if spots[j, 6] < spots[best, 6]:
                    best = j
            elif apart > most + (tiny if found else 0.0):
                best, most, found = j, apart, True
        if most <= plane[i, 3]:
            # no direction beside separates better than the patch's own
            best, most = -1, plane[i, 3]
        for j in range(i, count):
            if tags[j, 0] == 0 and tags[j, 1] == patch:
                tags[j, 3] = _KEPT if found else _DROPPED
                plane[j, 3] = most
                if best >= 0:
                    turn_row(rows, j, (spots[best, 3], spots[best, 4], spots[best, 5]), radius, most)
        if found:
            # what else is nearly along this patch and in its plane is the same contact
            for j in range(count):
                cosine = nx * spots[j, 3] + ny * spots[j, 4] + nz * spots[j, 5]
                if tags[j, 0] != 0 and cosine > 1.0 - NEARLY:
                    up = (
                        nx * (spots[j, 0] - spots[i, 0])
                        + ny * (spots[j, 1] - spots[i, 1])
                        + nz * (spots[j, 2] - spots[i, 2])
                    )
                    if abs(up) <= tiny and j != best:
                        tags[j, 3] = _DONE
    for i in range(count):
        if tags[i, 0] != 0:
            tags[i, 3] = _DROPPED if tags[i, 3] == _DONE else _KEPT
    _lean_on_others(spots, tags, plane, count, radius, tiny)


@inner_kernel
def _separation_along(spots, tags, plane, i, j, count, tiny):
    """Separation of the patch of row i along the direction of row j: the least of its edges and vertices."""
    least = plane[j, 3]
    for k in range(count):
        if (
            tags[k, 0] != 0
            and tags[k, 2] != OUTSIDE
            and tags[k, 2] != WEAK
            and plane[k, 3] < least
            and _dot(spots, j, k) > 1.0 - _SAME
            and abs(_above(spots, i, k)) <= tiny
        ):
            least = plane[k, 3]
    return least


@inner_kernel
def _lean_on_others(spots, tags, plane, count, radius, tiny):
    """Give edges that lie along the solid but for a tilt the direction of the vertex or edge at their end.

    Of an overlap, so is an edge whose end separates a little better along the direction of its vertex. An
    edge that rises along the direction of another has not that direction.
    """
    for i in range(count):
        weak = tags[i, 2] == WEAK
        overlap = tags[i, 0] == OF_EDGE and tags[i, 2] == 0 and spots[i, 6] < 0.0
        if not (weak or overlap) or tags[i, 3] != _KEPT:
            continue
        best = -1
        for j in range(count):
            if (
                (tags[j, 0] == OF_VERTEX or (weak and tags[j, 0] != 0))
                and tags[j, 2] != OUTSIDE
                and tags[j, 2] != WEAK
                and plane[j, 3] >= plane[i, 3] - (tiny if weak else 0.0)
                and _dot(spots, i, j) > 1.0 - NEARLY
                and abs(_above(spots, i, j)) <= tiny
                and _above(spots, j, i) <= tiny
                and (best < 0 or plane[j, 3] > plane[best, 3])
            ):
                best = j
        if best < 0:
            if weak:
                tags[i, 3] = _DROPPED
            continue
        spots[i, 6] = max((spots[i, 6] + radius) * _dot(spots, i, best) - radius, plane[best, 3])
        spots[i, 3], spots[i, 4], spots[i, 5] = spots[best, 3], spots[best, 4], spots[best, 5]
        plane[i, 3] = plane[best, 3]
        tags[best, 3] = _KEPT


@inner_kernel
def drop_ways_around(spots, tags, plane, count, size, tiny):
    """Step 2: of overlaps near one another on both sides of a convex edge, the shallower one stays.

    How deep a direction is, is its separation in `plane`, and not the depth at a point. A round body of
    size r that is d deep overlaps over √(r d): what is no farther apart is near. A point that another
    direction shows to be outside the solid, or hardly inside, goes wherever it is, unless it is at the foot
    of a wall. The place of a point is known to `tiny` and to the way that it slid when its row was turned.
    """
    for i in range(count):
        depth = -plane[i, 3]
        # a point that is apart shows nothing of the overlap farther along its edge or patch
        if tags[i, 3] != _KEPT or depth <= 0.5 * tiny or spots[i, 6] > 0.0:
            continue
        for j in range(count):
            other = -plane[j, 3]
            if tags[j, 3] == _DROPPED or other >= depth or tags[j, 2] == COMING:
                continue
            if tags[i, 2] not in (OUTSIDE, ASKED_FOR) and _dot(spots, i, j) >= 1.0 - _SAME:
                continue
            outside = tags[i, 2] != CONCAVE_FOOT and _above(spots, j, i) + other <= max(_HARDLY * depth, tiny)
            if other <= -tiny and not outside:
                continue
            x, y, z = spots[i, 0] - spots[j, 0], spots[i, 1] - spots[j, 1], spots[i, 2] - spots[j, 2]
            apart = math.sqrt(x * x + y * y + z * z)
            near = 10.0 * depth + 2.0 * math.sqrt(size * depth)
            if apart > near and not outside and not _is_between(spots, tags, plane, i, j, count, near):
                continue
            if _above(spots, i, j) <= tiny + plane[i, 4] + plane[j, 4] + _TILT * apart and _is_convex(
                spots, tags, plane, i, j, count, tiny
            ):
                tags[i, 3] = _DONE
                if tags[i, 2] != OUTSIDE and tags[j, 2] == OUTSIDE:
                    tags[j, 2] = ASKED_FOR
                break
    for i in range(count):
        if tags[i, 3] != _KEPT or not (tags[i, 0] == OF_EDGE or spots[i, 6] > 0.0 > plane[i, 3]):
            continue
        # the other end of an edge, and what is apart of a patch, goes with the deepest point
        low = i
        for j in range(count):
            if tags[j, 0] == tags[i, 0] and plane[i, 3] == plane[j, 3] and spots[j, 6] < spots[low, 6]:
                low = j
        if tags[low, 3] == _DONE:
            tags[i, 3] = _DONE
    for i in range(count):
        if tags[i, 3] == _DONE or tags[i, 2] == OUTSIDE:
            tags[i, 3] = _DROPPED


@inner_kernel
def _is_convex(spots, tags, plane, i, j, count, tiny):
    """True if point i is not above the plane of row j, but for a tilt, seen from each of its points.

    The way from any of them to point i leads over the edge at which the surface is tilted.
    """
    for k in range(count):
        if k != j and (tags[k, 0] != tags[j, 0] or tags[k, 1] != tags[j, 1] or plane[k, 3] != plane[j, 3]):
            continue
        x, y, z = spots[i, 0] - spots[k, 0], spots[i, 1] - spots[k, 1], spots[i, 2] - spots[k, 2]
        height = spots[j, 3] * x + spots[j, 4] * y + spots[j, 5] * z
        if height > tiny + plane[i, 4] + plane[k, 4] + _TILT * math.sqrt(x * x + y * y + z * z):
            return False
    return True


@inner_kernel
def _is_between(spots, tags, plane, i, j, count, near):
    """True if point i is near the line from point j to another of the same patch and way out."""
    x, y, z = spots[i, 0] - spots[j, 0], spots[i, 1] - spots[j, 1], spots[i, 2] - spots[j, 2]
    for k in range(count):
        if k == j or tags[k, 3] == _DROPPED or tags[k, 1] != tags[j, 1] or plane[k, 3] != plane[j, 3]:
            continue
        ex, ey, ez = spots[k, 0] - spots[j, 0], spots[k, 1] - spots[j, 1], spots[k, 2] - spots[j, 2]
        square = ex * ex + ey * ey + ez * ez
        along = x * ex + y * ey + z * ez
        if not 0.0 < along < square:
            continue
        part = along / square
        dx, dy, dz = x - part * ex, y - part * ey, z - part * ez
        if dx * dx + dy * dy + dz * dz <= near * near:
            return True
    return False


@inner_kernel
def reduce(spots, marks, tags, flat, order, count, tiny):
    """Step 3: drop points that are not corners of the hull of their plane's points; at most 16 stay."""
    for i in range(count):
        if tags[i, 3] != _KEPT:
            continue
        nx, ny, nz = spots[i, 3], spots[i, 4], spots[i, 5]
        if abs(nx) < 0.6:
            ux, uy, uz = 0.0, nz, -ny
        else:
            ux, uy, uz = -nz, 0.0, nx
        scale = math.sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / scale, uy / scale, uz / scale
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        members = 0
        for j in range(i, count):
            if tags[j, 3] != _KEPT or _dot(spots, i, j) < 1.0 - _SAME:
                continue
            x, y, z = spots[j, 0] - spots[i, 0], spots[j, 1] - spots[i, 1], spots[j, 2] - spots[i, 2]
            across = math.sqrt(x * x + y * y + z * z)
            if abs(nx * x + ny * y + nz * z) > 1e-2 * across + tiny:
                continue
            flat[j, 0], flat[j, 1] = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
            order[0, members] = j
            members += 1
        _lay_along(order[0], flat, members)
        _sort(order[0], flat, members)
        kept = _drop_straight(order[1], flat, marks, _hull(order[0], order[1], flat, members), tiny)
        if kept > MOST:
            kept = _spread(order[1], order[2], flat, spots, kept)
        kept = _with_deepest(order[0], order[1], flat, spots, members, kept, 1e4 * tiny)
        for k in range(members):
            tags[order[0, k], 3] = _DROPPED
        for k in range(kept):
            tags[order[1, k], 3] = _DONE


@inner_kernel
def _lay_along(rows, flat, members):
    """Turn points by a right angle if they spread more along the second coordinate than along the first.

    Points of one line across the first coordinate would be sorted by rounding.
    """
    low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
    for k in range(members):
        x, y = flat[rows[k], 0], flat[rows[k], 1]
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
    if high_y - low_y > high_x - low_x:
        for k in range(members):
            row = rows[k]
            flat[row, 0], flat[row, 1] = flat[row, 1], -flat[row, 0]


@inner_kernel
def _sort(rows, flat, members):
    """Sort rows by their first coordinate, then the second (Shell's way: no memory, no recursion)."""
    step = 1
    while 3 * step + 1 < members:
        step = 3 * step + 1
    while step >= 1:
        for i in range(step, members):
            row = rows[i]
            x, y = flat[row, 0], flat[row, 1]
            j = i
            while j >= step:
                other = rows[j - step]
                if flat[other, 0] < x or (flat[other, 0] == x and flat[other, 1] <= y):
                    break
                rows[j] = other
                j -= step
            rows[j] = row
        step //= 3


@inner_kernel
def _turns_left(flat, a, b, c):
    """True if the way from a over b to c turns left at b."""
    return (flat[b, 0] - flat[a, 0]) * (flat[c, 1] - flat[a, 1]) > (flat[b, 1] - flat[a, 1]) * (
        flat[c, 0] - flat[a, 0]
    )


@inner_kernel
def _hull(rows, out, flat, members):
    """Corners of the convex hull of sorted points, counterclockwise, in `out`; their number.

    No tolerance: the order of points that are one but for rounding would decide which of them are compared.
    """
    count = 0
    for i in range(members):
        while count >= 2 and not _turns_left(flat, out[count - 2], out[count - 1], rows[i]):
            count -= 1
        out[count] = rows[i]
        count += 1
    base = count
    for i in range(members - 2, -1, -1):
        while count > base and not _turns_left(flat, out[count - 2], out[count - 1], rows[i]):
            count -= 1
        out[count] = rows[i]
        count += 1
    # the way back ends at the first point again
    return max(count - 1, 1)


@inner_kernel
def _from_side(flat, a, b, c):
    """Distance of point b from the line from a to c, both ends included."""
    x, y = flat[b, 0] - flat[a, 0], flat[b, 1] - flat[a, 1]
    u, v = flat[c, 0] - flat[a, 0], flat[c, 1] - flat[a, 1]
    square = u * u + v * v
    part = min(max((x * u + y * v) / square, 0.0), 1.0) if square > 0.0 else 0.0
    x, y = x - part * u, y - part * v
    return math.sqrt(x * x + y * y)


@inner_kernel
def _drop_straight(corners, flat, marks, count, tiny):
    """Drop corners that stand out by no more than `tiny` from the line between their neighbours.

    Those of the greatest marks go first: of points that are one but for rounding, the same one stays in every
    step.
    """
    while count > 1:
        last = -1
        for k in range(count):
            before, after = corners[k - 1 if k > 0 else count - 1], corners[k + 1 if k + 1 < count else 0]
            if (last < 0 or marks[corners[k]] > marks[corners[last]]) and _from_side(
                flat, before, corners[k], after
            ) <= tiny:
                last = k
        if last < 0:
            break
        count -= 1
        for k in range(last, count):
            corners[k] = corners[k + 1]
    return count


@inner_kernel
def _with_deepest(rows, kept, flat, spots, members, count, near):
    """Put the deepest of all rows in the place of a kept one near by, or add it; the number kept."""
    deepest = rows[0]
    for k in range(1, members):
        if spots[rows[k], 6] < spots[deepest, 6]:
            deepest = rows[k]
    best, least = -1, near * near
    for k in range(count):
        if spots[kept[k], 6] <= spots[deepest, 6]:
            return count
        x, y = flat[kept[k], 0] - flat[deepest, 0], flat[kept[k], 1] - flat[deepest, 1]
        if x * x + y * y < least:
            best, least = k, x * x + y * y
    if best >= 0:
        kept[best] = deepest
        return count
    kept[count] = deepest
    return count + 1


@inner_kernel
def _spread(rows, chosen, flat, spots, count):
    """Of the corners of a hull the deepest, and those farthest along 15 directions around."""
    deepest = 0
    for k in range(count):
        if spots[rows[k], 6] < spots[rows[deepest], 6]:
            deepest = k
    chosen[0] = rows[deepest]
    taken = 1
    for way in range(MOST - 1):
        angle = 2.0 * math.pi * way / (MOST - 1)
        c, s = math.cos(angle), math.sin(angle)
        best = 0
        for k in range(count):
            x, y = flat[rows[k], 0] - flat[rows[best], 0], flat[rows[k], 1] - flat[rows[best], 1]
            if c * x + s * y > 0.0:
                best = k
        new = True
        for k in range(taken):
            if chosen[k] == rows[best]:
                new = False
        if new:
            chosen[taken] = rows[best]
            taken += 1
    for k in range(taken):
        rows[k] = chosen[k]
    return taken


@inner_kernel
def write_contacts(spots, marks, tags, count, x, y, z, axes):
    """Move the rows that stayed to the front, as contacts in the world; their number.

    (x, y, z) and axes are the place of the surface. Rows stay in the order of their marks.
    """
    found = 0
    for i in range(count):
        if tags[i, 3] != _DONE:
            continue
        gap = spots[i, 6]
        nx, ny, nz = spots[i, 3], spots[i, 4], spots[i, 5]
        px, py, pz = spots[i, 0] + 0.5 * gap * nx, spots[i, 1] + 0.5 * gap * ny, spots[i, 2] + 0.5 * gap * nz
        mark = marks[i]
        at = found
        while at > 0 and marks[at - 1] > mark:
            marks[at] = marks[at - 1]
            for k in range(7):
                spots[at, k] = spots[at - 1, k]
            at -= 1
        marks[at] = mark
        out = spots[at]
        for k in range(3):
            a, b, c = axes[k, 0], axes[k, 1], axes[k, 2]
            out[k] = a * px + b * py + c * pz + (x if k == 0 else (y if k == 1 else z))
            out[3 + k] = a * nx + b * ny + c * nz
        out[6] = gap
        found += 1
    return found
