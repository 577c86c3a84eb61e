"""Rays against meshes and height fields: triangles whose boxes the ray passes."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import to_local, to_world
from nonsmooth.collision.kernels.surfaces.arrays import corner, triangle_normal, vertex
from nonsmooth.collision.kernels.surfaces.depth import depth_in_mesh
from nonsmooth.collision.kernels.surfaces.height_fields import is_under, triangle_over

_RIM = 1e-12  # part by which a ray may pass beside a triangle, so that none slips between two


@inlined_kernel
def enters(boxes, at, o, d, limit):
    """Where the ray o + t d, 0 ≤ t ≤ limit, enters box number `at`; infinite if it does not."""
    near, far = 0.0, limit
    for k in range(3):
        if d[k] == 0.0:
            if o[k] < boxes[at, k] or o[k] > boxes[at, 3 + k]:
                return math.inf
            continue
        one, two = (boxes[at, k] - o[k]) / d[k], (boxes[at, 3 + k] - o[k]) / d[k]
        near, far = max(near, min(one, two)), min(far, max(one, two))
    return near if near <= far * (1.0 + 1e-12) + 1e-300 else math.inf


@inlined_kernel
def push_children(boxes, first, node, o, d, limit, stack, depth):
    """Put the children of a node that the ray enters on the stack, the nearer one on top; its new depth."""
    left, right = 2 * node + 1, 2 * node + 2
    to_left, to_right = enters(boxes, first + left, o, d, limit), enters(boxes, first + right, o, d, limit)
    if to_left > to_right:
        left, right, to_left, to_right = right, left, to_right, to_left
    if to_right < math.inf:
        stack[depth], depth = right, depth + 1
    if to_left < math.inf:
        stack[depth], depth = left, depth + 1
    return depth


@inlined_kernel
def _hit(meshes, mesh, t, o, d, limit):
    """Distance to triangle t along the ray, infinite if it passes by."""
    ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
    bx, by, bz = vertex(meshes, mesh, corner(meshes, mesh, t, 1))
    cx, cy, cz = vertex(meshes, mesh, corner(meshes, mesh, t, 2))
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    det = ux * px + uy * py + uz * pz
    if det == 0.0:
        return math.inf
    sx, sy, sz = o[0] - ax, o[1] - ay, o[2] - az
    one = (sx * px + sy * py + sz * pz) / det
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    two = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    if one < -_RIM or two < -_RIM or one + two > 1.0 + _RIM:
        return math.inf
    along = (vx * qx + vy * qy + vz * qz) / det
    return along if 0.0 <= along <= limit else math.inf


@inner_kernel
def first_in_tree(meshes, mesh, o, d, limit, stack):
    """Nearest triangle of a mesh and its distance."""
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    inner = (1 << levels) - 1
    best, found = limit, -1
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if enters(meshes.boxes, first + node, o, d, best) == math.inf:
            continue
        if node < inner:
            depth = push_children(meshes.boxes, first, node, o, d, best, stack, depth)
            continue
        leaf = node - inner
        for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
            along = _hit(meshes, mesh, t, o, d, best)
            if along < math.inf and (along < best or found < 0):
                best, found = along, t
    return found, best


@inner_kernel
def _in_field(meshes, mesh, o, d, limit):
    """Nearest triangle of a height field and its distance: the cells below the ray, one after the other."""
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    dx, dy, x, y = meshes.grid[mesh, 0], meshes.grid[mesh, 1], meshes.grid[mesh, 2], meshes.grid[mesh, 3]
    # The part of the ray over the grid.
    begin, end = 0.0, limit
    for k in range(2):
        low, high = (x, x + (nx - 1) * dx) if k == 0 else (y, y + (ny - 1) * dy)
        if d[k] == 0.0:
            if o[k] < low or o[k] > high:
                return -1, limit
            continue
        one, two = (low - o[k]) / d[k], (high - o[k]) / d[k]
        begin, end = max(begin, min(one, two)), min(end, max(one, two))
    if begin > end:
        return -1, limit
    i = min(max(int((o[0] + begin * d[0] - x) / dx), 0), nx - 2)
    j = min(max(int((o[1] + begin * d[1] - y) / dy), 0), ny - 2)
    while 0 <= i < nx - 1 and 0 <= j < ny - 1:
        best, found = limit, -1
        for t in range(2 * (i * (ny - 1) + j), 2 * (i * (ny - 1) + j) + 2):
            along = _hit(meshes, mesh, t, o, d, best)
            if along < math.inf and (along < best or found < 0):
                best, found = along, t
        if found >= 0:
            return found, best
        next_x = math.inf if d[0] == 0.0 else (x + (i + (1 if d[0] > 0.0 else 0)) * dx - o[0]) / d[0]
        next_y = math.inf if d[1] == 0.0 else (y + (j + (1 if d[1] > 0.0 else 0)) * dy - o[1]) / d[1]
        if min(next_x, next_y) > end:
            return -1, limit
        if next_x <= next_y:
            i += 1 if d[0] > 0.0 else -1
        else:
            j += 1 if d[1] > 0.0 else -1
    return -1, limit


@inner_kernel
def _hit_mesh(meshes, mesh, o, d, limit, closed, work, known):
    """Distance (m) along a ray to a mesh, infinite beyond `limit`; and the outward normal there.

    `known` (7,) is the last origin whose depth was computed, the depth and the normal: rays often share it.
    """
    # A ray that first leaves the mesh begins inside it, however far the way out.
    root = meshes.first[mesh, 3]
    within = closed
    for k in range(3):
        within = within and meshes.boxes[root, k] <= o[k] <= meshes.boxes[root, 3 + k]
    triangle, along = first_in_tree(meshes, mesh, o, d, math.inf if within else limit, work.stack)
    if triangle < 0:
        return math.inf, 0.0, 0.0, 1.0
    nx, ny, nz = triangle_normal(meshes, mesh, triangle)
    if within and nx * d[0] + ny * d[1] + nz * d[2] > 0.0:
        if not (known[0] == o[0] and known[1] == o[1] and known[2] == o[2]):
            known[0], known[1], known[2] = o[0], o[1], o[2]
            known[3], known[4], known[5], known[6] = depth_in_mesh(
                meshes, mesh, o[0], o[1], o[2], work.box, work.stack, work.corners
            )
        if known[3] <= 0.0:
            return 0.0, known[4], known[5], known[6]
    return (along if along <= limit else math.inf), nx, ny, nz


@inner_kernel
def _hit_field(meshes, mesh, o, d, limit):
    """The same for a height field, solid below."""
    if is_under(meshes, mesh, o[0], o[1], o[2]):
        nx, ny, nz = triangle_normal(meshes, mesh, triangle_over(meshes, mesh, o[0], o[1]))
        return 0.0, nx, ny, nz
    triangle, along = _in_field(meshes, mesh, o, d, limit)
    if triangle < 0:
        return math.inf, 0.0, 0.0, 1.0
    nx, ny, nz = triangle_normal(meshes, mesh, triangle)
    return along, nx, ny, nz


@kernel
def cast_on_surfaces(
    rows, pieces, closed, meshes, centre, axes, origins, ways, limit, work, local, hit, distance, normal
):
    """Take surfaces `rows` (k,), with numbers `pieces` among the meshes, into the answers of `solids.cast`.

    `closed` (k,) says which meshes bound a solid; `work` (NearestWork) and `local` (13,) are scratch.
    """
    o, d, known = local[:3], local[3:6], local[6:]
    for k in range(rows.shape[0]):
        s, mesh = rows[k], pieces[k]
        known[0] = math.nan
        for i in range(origins.shape[0]):
            reach = min(limit, distance[i])
            x, y, z = origins[i, 0] - centre[s, 0], origins[i, 1] - centre[s, 1], origins[i, 2] - centre[s, 2]
            o[0], o[1], o[2] = to_local(axes[s], x, y, z)
            d[0], d[1], d[2] = to_local(axes[s], ways[i, 0], ways[i, 1], ways[i, 2])
            if meshes.shape[mesh, 0] == 0:
                along, nx, ny, nz = _hit_mesh(meshes, mesh, o, d, reach, closed[k], work, known)
            else:
                along, nx, ny, nz = _hit_field(meshes, mesh, o, d, reach)
            if along < distance[i]:
                hit[i], distance[i] = s, along
                normal[i, 0], normal[i, 1], normal[i, 2] = to_world(axes[s], nx, ny, nz)
