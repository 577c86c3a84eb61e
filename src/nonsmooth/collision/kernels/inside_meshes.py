"""Shapes that are wholly inside the solid that a surface bounds, where they meet none of its triangles.

A closed mesh bounds a solid, a height field all that is below it; an open mesh bounds none. The contact of
such a deep overlap leads out by the nearest way: its direction is that from the middle of the shape to the
nearest point of the surface, its depth the length after which all of the shape is past the plane across that
direction there.
"""

import math

from nonsmooth._jit import inner_kernel
from nonsmooth.collision.kernels.height_fields import is_under
from nonsmooth.collision.kernels.manifolds import set_spot
from nonsmooth.collision.kernels.meshes import place_solid
from nonsmooth.collision.kernels.solids import CONVEX_HULL, support, to_local, to_world
from nonsmooth.collision.kernels.surface_arrays import corner, is_closed, is_field, triangle_normal, vertex
from nonsmooth.collision.kernels.surface_rays import first_in_tree

_MARK = 7 << 60


@inner_kernel
def _is_inside(meshes, mesh, x, y, z, o, d, stack):
    """True if a point is inside a closed mesh: two rays from it leave the solid where they first hit."""
    root = meshes.first[mesh, 3]
    for k in range(3):
        value = x if k == 0 else (y if k == 1 else z)
        if value < meshes.boxes[root, k] or value > meshes.boxes[root, 3 + k]:
            return False
    o[0], o[1], o[2] = x, y, z
    for way in range(2):
        # along no edge of anything that is built at right angles
        d[0], d[1], d[2] = (0.3713, 0.5571, 0.7429) if way == 0 else (-0.6767, 0.2861, -0.6784)
        t, _ = first_in_tree(meshes, mesh, o, d, math.inf, stack)
        if t < 0:
            return False
        nx, ny, nz = triangle_normal(meshes, mesh, t)
        if nx * d[0] + ny * d[1] + nz * d[2] <= 0.0:
            return False
    return True


@inner_kernel
def _far_from_box(boxes, at, x, y, z):
    """Square of the distance of a point from box number `at`."""
    dx = max(boxes[at, 0] - x, x - boxes[at, 3], 0.0)
    dy = max(boxes[at, 1] - y, y - boxes[at, 4], 0.0)
    dz = max(boxes[at, 2] - z, z - boxes[at, 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@inner_kernel
def _nearest_on(meshes, mesh, t, x, y, z):
    """Point of triangle t that is nearest to (x, y, z): over the face, else on the nearest edge."""
    nx, ny, nz = triangle_normal(meshes, mesh, t)
    ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
    height = nx * (x - ax) + ny * (y - ay) + nz * (z - az)
    bx, by, bz = x - height * nx, y - height * ny, z - height * nz
    inside, least = True, math.inf
    for k in range(3):
        cx, cy, cz = vertex(meshes, mesh, corner(meshes, mesh, t, (k + 1) % 3))
        ex, ey, ez, dx, dy, dz = cx - ax, cy - ay, cz - az, x - ax, y - ay, z - az
        if nx * (ey * dz - ez * dy) + ny * (ez * dx - ex * dz) + nz * (ex * dy - ey * dx) < 0.0:
            inside = False
            part = (ex * dx + ey * dy + ez * dz) / (ex * ex + ey * ey + ez * ez)
            part = min(max(part, 0.0), 1.0)
            dx, dy, dz = dx - part * ex, dy - part * ey, dz - part * ez
            far = dx * dx + dy * dy + dz * dz
            if far < least:
                least, bx, by, bz = far, x - dx, y - dy, z - dz
        ax, ay, az = cx, cy, cz
    return (height * height if inside else least), bx, by, bz


@inner_kernel
def _nearest_point(meshes, mesh, x, y, z, stack):
    """The triangle of a mesh nearest to a point, the nearest point on it and its distance."""
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    inner = (1 << levels) - 1
    least, found, bx, by, bz = math.inf, 0, x, y, z
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if _far_from_box(meshes.boxes, first + node, x, y, z) >= least:
            continue
        if node < inner:
            one, two = 2 * node + 1, 2 * node + 2
            if _far_from_box(meshes.boxes, first + two, x, y, z) < _far_from_box(
                meshes.boxes, first + one, x, y, z
            ):
                one, two = two, one
            stack[depth], stack[depth + 1] = two, one
            depth += 2
            continue
        leaf = node - inner
        for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
            far, px, py, pz = _nearest_on(meshes, mesh, t, x, y, z)
            if far < least:
                least, found, bx, by, bz = far, t, px, py, pz
    return found, bx, by, bz, math.sqrt(least)


@inner_kernel
def _way_out(meshes, mesh, x, y, z, o, d, stack):
    """True if a point is in the solid of a surface; the point where it leaves it, and the direction."""
    if is_field(meshes, mesh):
        if not is_under(meshes, mesh, x, y, z):
            return False, x, y, z, 0.0, 0.0, 1.0
        ny = meshes.shape[mesh, 1]
        u = (x - meshes.grid[mesh, 2]) / meshes.grid[mesh, 0]
        v = (y - meshes.grid[mesh, 3]) / meshes.grid[mesh, 1]
        i, j = min(int(u), meshes.shape[mesh, 0] - 2), min(int(v), ny - 2)
        t = 2 * (i * (ny - 1) + j) + (0 if u - i >= v - j else 1)
        nx, ny, nz = triangle_normal(meshes, mesh, t)
        ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
        return True, x, y, az - (nx * (x - ax) + ny * (y - ay)) / nz, nx, ny, nz
    if not is_closed(meshes, mesh) or not _is_inside(meshes, mesh, x, y, z, o, d, stack):
        return False, x, y, z, 0.0, 0.0, 1.0
    t, px, py, pz, far = _nearest_point(meshes, mesh, x, y, z, stack)
    nx, ny, nz = triangle_normal(meshes, mesh, t)
    if far > 1e-9 * meshes.grid[mesh, 4]:
        nx, ny, nz = (px - x) / far, (py - y) / far, (pz - z) / far
    return True, px, py, pz, nx, ny, nz


@inner_kernel
def _write(place, sign, x, y, z, nx, ny, nz, gap, spots, marks):
    """Write the contact at (x, y, z) of the surface, along n of its frame, or turned if sign is −1."""
    axes, half = place.axes, 0.5 * gap
    x, y, z = to_world(axes, x + half * nx, y + half * ny, z + half * nz)
    nx, ny, nz = to_world(axes, sign * nx, sign * ny, sign * nz)
    set_spot(spots, marks, 0, _MARK, x + place.x, y + place.y, z + place.z, nx, ny, nz, gap)
    return 1


@inner_kernel
def _mean(vertices, first, end):
    """Mean of the vertices first … end − 1."""
    x = y = z = 0.0
    for v in range(first, end):
        x, y, z = x + vertices[v, 0], y + vertices[v, 1], z + vertices[v, 2]
    return x / (end - first), y / (end - first), z / (end - first)


@inner_kernel
def solid_inside(place, solid, meshes, hulls, work, spots, marks):
    """The contact of a surface with a solid that is wholly inside; 1, or 0 if it is not."""
    q = place_solid(solid, place.x, place.y, place.z, place.axes, work)
    x, y, z = q.x, q.y, q.z
    if q.kind == CONVEX_HULL:
        first, end = hulls.first[q.hull, 0], hulls.first[q.hull + 1, 0]
        x, y, z = _mean(hulls.vertices, first, end)
        x, y, z = to_world(q.axes, x, y, z)
        x, y, z = x + q.x, y + q.y, z + q.z
    inside, x, y, z, nx, ny, nz = _way_out(
        meshes, place.piece, x, y, z, work.frame[:3], work.frame[3:6], work.stack[0]
    )
    if not inside:
        return 0
    ax, ay, az, _ = support(q, hulls, -nx, -ny, -nz, 0)
    gap = nx * (ax - x) + ny * (ay - y) + nz * (az - z) - q.radius
    return _write(place, 1.0, x, y, z, nx, ny, nz, gap, spots, marks) if gap < 0.0 else 0


@inner_kernel
def _surface_inside(place, other, sign, meshes, work, spots, marks):
    """The contact of a surface with a mesh that is wholly inside; sign is −1 if the first shape is inside."""
    base = meshes.first[other.piece, 0]
    if is_field(meshes, other.piece):
        return 0
    end = meshes.first[other.piece + 1, 0]
    vertices, o, d, stack = meshes.vertices, work.frame[:3], work.frame[3:6], work.stack[0]
    ax, ay, az = _seen_from(place, other, vertices[base, 0], vertices[base, 1], vertices[base, 2])
    inside, x, y, z, nx, ny, nz = _way_out(meshes, place.piece, ax, ay, az, o, d, stack)
    if not inside:
        return 0
    # a vertex tells whether all is inside, the middle finds the better way
    mx, my, mz = _mean(vertices, base, end)
    ax, ay, az = _seen_from(place, other, mx, my, mz)
    central, ax, ay, az, bx, by, bz = _way_out(meshes, place.piece, ax, ay, az, o, d, stack)
    if central:
        x, y, z, nx, ny, nz = ax, ay, az, bx, by, bz
    gap = math.inf
    for v in range(base, end):
        ax, ay, az = _seen_from(place, other, vertices[v, 0], vertices[v, 1], vertices[v, 2])
        gap = min(gap, nx * (ax - x) + ny * (ay - y) + nz * (az - z))
    return _write(place, sign, x, y, z, nx, ny, nz, gap, spots, marks) if gap < 0.0 else 0


@inner_kernel
def _seen_from(place, other, x, y, z):
    """A point of one surface in the frame of another."""
    x, y, z = to_world(other.axes, x, y, z)
    return to_local(place.axes, x + other.x - place.x, y + other.y - place.y, z + other.z - place.z)


@inner_kernel
def surface_inside(place, other, meshes, work, spots, marks):
    """The contact of two surfaces of which one is wholly inside the other; 1, or 0 if none is."""
    found = _surface_inside(place, other, 1.0, meshes, work, spots, marks)
    if found == 0:
        found = _surface_inside(other, place, -1.0, meshes, work, spots, marks)
    return found
