"""Contacts of a half-space with every convex kind and with the vertices of a mesh, in closed form.

The plane is given by a point o and its outward unit normal n, which is the normal of all contacts: from the
half-space to the solid. Gaps are heights above the plane, exact for each point on its own. Marks are labels
of `support_features` (numbers of vertices for hulls and meshes), at most MOST of them.

A cylinder that lies has the two ends of its lowest line for contacts, no other points of its rims: these are
ahead of or behind the line, and rolling turns them away. A cap that faces the plane has samples of its rim.
"""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.closed_forms.ball_plane import STEEP, corner_sign, is_above
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    TRIANGLE,
    support,
    to_local,
    to_world,
)
from nonsmooth.collision.kernels.manifolds.clipping import MOST, reduce
from nonsmooth.collision.kernels.manifolds.manifold import across, set_spot
from nonsmooth.collision.kernels.manifolds.support_features import LOWEST, ROUND, TIP, choose, fill

_MANY = 200  # points above which none is left out for being above another: such a body is no thin plate
_INNER = 4  # vertices kept that are not on the outline, where there are too many


@inlined_kernel
def _add(ox, oy, oz, nx, ny, nz, radius, reach, label, x, y, z, count, spots, marks):
    """Add a point of a core to the contacts if it is within reach; the number of contacts."""
    height = nx * (x - ox) + ny * (y - oy) + nz * (z - oz)
    if height - radius > reach:
        return count
    drop = 0.5 * (height + radius)
    set_spot(
        spots, marks, count, label, x - drop * nx, y - drop * ny, z - drop * nz, nx, ny, nz, height - radius
    )
    return count + 1


@inlined_kernel
def _add_own(ox, oy, oz, nx, ny, nz, solid, reach, label, x, y, z, count, spots, marks):
    """The same for a point in the core's own frame."""
    wx, wy, wz = to_world(solid.axes, x, y, z)
    return _add(
        ox, oy, oz, nx, ny, nz, solid.radius, reach, label,
        solid.x + wx, solid.y + wy, solid.z + wz, count, spots, marks,
    )  # fmt: skip


@inner_kernel
def _round_ends(ox, oy, oz, nx, ny, nz, solid, hulls, reach, work, spots, marks):
    """A cylinder or a cone: samples of a cap that faces the plane, lowest points of rims, the tip."""
    count = 0
    form, top, _ = choose(solid, hulls, -nx, -ny, -nz, work, 0)
    lx, ly, lz = to_local(solid.axes, -nx, -ny, -nz)
    beside = math.sqrt(lx * lx + ly * ly)
    ux, uy = (lx / beside, ly / beside) if beside > 0.0 else (1.0, 0.0)
    if form == ROUND:
        samples = fill(solid, hulls, form, top, 0, -nx, -ny, -nz, -nx, -ny, -nz, work, 0)
        for i in range(samples):
            count = _add(
                ox, oy, oz, nx, ny, nz, solid.radius, reach, work.labels[0, i],
                work.points[0, i, 0], work.points[0, i, 1], work.points[0, i, 2], count, spots, marks,
            )  # fmt: skip
        if beside <= 1e-4 * abs(lz):
            return count
    for rim in range(2):
        if form == ROUND and rim == top:
            continue
        if rim == 1 and solid.kind == CONE:
            count = _add_own(
                ox, oy, oz, nx, ny, nz, solid, reach, TIP, 0.0, 0.0, solid.b, count, spots, marks
            )
        else:
            count = _add_own(
                ox, oy, oz, nx, ny, nz, solid, reach, LOWEST + rim,
                solid.a * ux, solid.a * uy, solid.b if rim == 1 else -solid.b, count, spots, marks,
            )  # fmt: skip
    return count


@inlined_kernel
def _swap(work, i, j):
    found, names = work.found, work.names
    for k in range(3):
        found[i, k], found[j, k] = found[j, k], found[i, k]
    names[i], names[j] = names[j], names[i]


@inlined_kernel
def _before(found, i, j):
    return found[i, 0] < found[j, 0] or (found[i, 0] == found[j, 0] and found[i, 1] < found[j, 1])


@inner_kernel
def _sort(work, count):
    """Sort `found` by its first two columns (heap sort: no recursion, no storage)."""
    found = work.found
    for start in range(count // 2 - 1, -count, -1):
        end = count if start >= 0 else count + start
        if start < 0:
            _swap(work, 0, end)
        root = max(start, 0)
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and _before(found, child, child + 1):
                child += 1
            if not _before(found, root, child):
                break
            _swap(work, root, child)
            root = child


@inner_kernel
def _outline(work, count):
    """Convex outline of `found` (Andrew) into sides[0], counterclockwise; its number of corners."""
    found, stack = work.found, work.sides
    _sort(work, count)
    size = 0
    for way in range(2):
        bottom = size + 1
        for step in range(count if way == 0 else count - 1):
            i = step if way == 0 else count - 2 - step
            while size > bottom - (1 if way == 1 else 0) and size >= 2:
                a, b = stack[0, size - 2], stack[0, size - 1]
                turn = (found[b, 0] - found[a, 0]) * (found[i, 1] - found[a, 1])
                turn -= (found[b, 1] - found[a, 1]) * (found[i, 0] - found[a, 0])
                if turn > 0.0:
                    break
                size -= 1
            stack[0, size] = i
            size += 1
    return size - 1 if size > 1 else size


@inner_kernel
def thin_out(work, count):
    """Many vertices: corners of their outline that span it, and the lowest ones inside."""
    found, names, stack = work.found, work.names, work.sides
    size = _outline(work, count)
    for i in range(count):
        work.heights[i, 0] = 0.0
    for i in range(size):
        work.heights[stack[0, i], 0] = 1.0
    inner = 0
    while inner < _INNER:
        lowest = -1
        for i in range(count):
            if work.heights[i, 0] == 0.0 and (lowest < 0 or found[i, 2] < found[lowest, 2]):
                lowest = i
        if lowest < 0:
            break
        work.heights[lowest, 0] = 1.0
        stack[0, size + inner] = lowest
        inner += 1
    total = size + inner
    for i in range(total):
        j = stack[0, i]
        work.polygon[0, i, 0], work.polygon[0, i, 1] = found[j, 0], found[j, 1]
        work.polygon[1, i, 0], stack[1, i] = found[j, 2], names[j]
    for i in range(size):
        found[i, 0], found[i, 1] = work.polygon[0, i, 0], work.polygon[0, i, 1]
        found[i, 2], names[i] = work.polygon[1, i, 0], stack[1, i]
    kept = reduce(found, work.heights, names, stack, work.inside, size, 0.0, MOST - inner)
    for k in range(inner):
        i = size + k
        found[kept + k, 0], found[kept + k, 1] = work.polygon[0, i, 0], work.polygon[0, i, 1]
        found[kept + k, 2], names[kept + k] = work.polygon[1, i, 0], stack[1, i]
    return kept + inner


@inner_kernel
def _without_steep(found, names, count):
    """Leave out points that are steeply above another one, see `is_above`; the number that is left."""
    if count > _MANY:
        return count
    kept = 0
    for i in range(count):
        above = False
        for j in range(count):
            rise = found[i, 2] - found[j, 2]
            dx, dy = found[i, 0] - found[j, 0], found[i, 1] - found[j, 1]
            # rise / distance > STEEP; points that were left out are above others that stay
            if rise > 0.0 and rise * rise > STEEP * STEEP * (dx * dx + dy * dy + rise * rise):
                above = True
                break
        names[i] = -1 - names[i] if above else names[i]
    for i in range(count):
        if names[i] >= 0:
            found[kept, 0], found[kept, 1], found[kept, 2] = found[i, 0], found[i, 1], found[i, 2]
            names[kept] = names[i]
            kept += 1
    return kept


@kernel
def plane_vertices(ox, oy, oz, nx, ny, nz, solid, vertices, first, end, reach, work, spots, marks):
    """Vertices first … end − 1 (in the frame of `solid`, whose position, axes and radius are used) within
    reach of the plane; marks count from `first`. `work` must have room for them all.
    """
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    base = nx * (solid.x - ox) + ny * (solid.y - oy) + nz * (solid.z - oz) - solid.radius
    ux, uy, uz, vx, vy, vz = across(lx, ly, lz)
    found, names = work.found, work.names
    count = 0
    for i in range(first, end):
        x, y, z = vertices[i, 0], vertices[i, 1], vertices[i, 2]
        gap = base + lx * x + ly * y + lz * z
        if gap <= reach:
            found[count, 0], found[count, 1] = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
            found[count, 2], names[count] = gap, i - first
            count += 1
    count = _without_steep(found, names, count)
    if count > MOST:
        count = thin_out(work, count)
    for k in range(count):
        i = first + names[k]
        x, y, z = to_world(solid.axes, vertices[i, 0], vertices[i, 1], vertices[i, 2])
        drop = 0.5 * found[k, 2] + solid.radius
        set_spot(
            spots, marks, k, names[k],
            solid.x + x - drop * nx, solid.y + y - drop * ny, solid.z + z - drop * nz,
            nx, ny, nz, found[k, 2],
        )  # fmt: skip
    return count


@kernel
def half_space_contacts(ox, oy, oz, nx, ny, nz, solid, hulls, reach, work, spots, marks):
    """Contacts of a convex solid with the half-space below the plane through o with unit normal n.

    Returns their number; `spots` and `marks` as for `manifold`.
    """
    kind = solid.kind
    if kind == CONVEX_HULL:
        return plane_vertices(
            ox, oy, oz, nx, ny, nz, solid, hulls.vertices,
            hulls.first[solid.hull, 0], hulls.first[solid.hull + 1, 0], reach, work, spots, marks,
        )  # fmt: skip
    if kind in (CYLINDER, CONE):
        return _round_ends(ox, oy, oz, nx, ny, nz, solid, hulls, reach, work, spots, marks)
    count = 0
    lx, ly, lz = to_local(solid.axes, nx, ny, nz)
    if kind == BOX:
        for corner in range(8):
            if (
                is_above(corner_sign(corner, 0), lx)
                or is_above(corner_sign(corner, 1), ly)
                or is_above(corner_sign(corner, 2), lz)
            ):
                continue
            count = _add_own(
                ox, oy, oz, nx, ny, nz, solid, reach, corner,
                solid.a if corner & 1 else -solid.a,
                solid.b if corner & 2 else -solid.b,
                solid.c if corner & 4 else -solid.c,
                count, spots, marks,
            )  # fmt: skip
        return count
    if kind == CAPSULE:
        for end in range(2):
            z = solid.b if end == 1 else -solid.b
            if is_above(math.copysign(1.0, z), lz):
                continue
            count = _add_own(ox, oy, oz, nx, ny, nz, solid, reach, end, 0.0, 0.0, z, count, spots, marks)
        return count
    if kind == TRIANGLE:
        for k in range(3):
            count = _add(
                ox, oy, oz, nx, ny, nz, solid.radius, reach, k,
                solid.x + solid.axes[0, k], solid.y + solid.axes[1, k], solid.z + solid.axes[2, k],
                count, spots, marks,
            )  # fmt: skip
        return count
    x, y, z, _ = support(solid, hulls, -nx, -ny, -nz, 0)
    return _add(ox, oy, oz, nx, ny, nz, solid.radius, reach, 0, x, y, z, count, spots, marks)
