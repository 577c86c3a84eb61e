"""Vertices that a step may bring down on a face of the other shape, though other points are nearer now.

`mesh_contacts` and `mesh_mesh_contacts` find where two shapes touch in their present pose. A body that falls
on one corner turns about it, and its next corners may hit within the same step. Like the corners of a hull's
face they are contacts of this step: a vertex counts if its height over the face may shrink to the margin, and
the slope of what is lower beside it to zero. The direction is the normal of that face, which no point of the
other shape may pass.
"""

import math

import numpy as np

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.closed_forms.pairs import counts
from nonsmooth.collision.kernels.directions.solids import to_local, to_world
from nonsmooth.collision.kernels.manifolds.clipping import MOST
from nonsmooth.collision.kernels.manifolds.half_spaces import thin_out
from nonsmooth.collision.kernels.manifolds.manifold import across, set_spot
from nonsmooth.collision.kernels.manifolds.touching import pull_back
from nonsmooth.collision.kernels.motion.placing import moved
from nonsmooth.collision.kernels.surfaces.arrays import (
    OWN_VERTEX,
    corner,
    is_field,
    outward,
    steepest,
    triangle_normal,
    vertex,
)
from nonsmooth.collision.kernels.surfaces.coming_rims import Rim, add_coming_rim, height_over, is_known
from nonsmooth.collision.kernels.surfaces.features.discs import over_disc, set_disc
from nonsmooth.collision.kernels.surfaces.features.polygons import within
from nonsmooth.collision.kernels.surfaces.features.rows import VERTEX_MARK, solid_feature
from nonsmooth.collision.kernels.surfaces.height_fields import cell_range, cell_within
from nonsmooth.collision.kernels.surfaces.meshes import place_solid, set_box
from nonsmooth.collision.kernels.surfaces.pairs import face_mark, steepest_coming, turned_box
from nonsmooth.collision.kernels.surfaces.trees import boxes_meet, next_leaf

_SAME = 1e-5  # part of the size within which a contact is at a vertex
_FACING = -0.9  # cosine of the angle between a contact's direction and a face that belongs to it
_RIM = 0.08  # part of its radius by which a disc reaches beyond eight points of its rim
_TINY = 2.5e-10  # part of the size by which a vertex may lie beside a face


@inner_kernel
def _add(spots, marks, count, sign, mark, x, y, z, nx, ny, nz, gap):
    """Write the contact at a vertex of the first (sign 1) or second (−1) shape if there is room."""
    if count < spots.shape[0]:
        half = 0.5 * sign * gap
        set_spot(spots, marks, count, mark, x + half * nx, y + half * ny, z + half * nz, nx, ny, nz, gap)
    return count + 1


@inner_kernel
def _own_vertex(meshes, mesh, t, k):
    """Corner k of a triangle if that triangle speaks for it and it may be farther out than all around it."""
    if meshes.flags[meshes.first[mesh, 5] + t] >> (OWN_VERTEX + k) & 1:
        return corner(meshes, mesh, t, k)
    return np.int64(-1)


@inner_kernel
def _parts_in_box(meshes, mesh, box, slab, of_triangles, stack, found):
    """Write the vertices of a surface that lie in a box of its frame, or the triangles that may reach into
    it, if `of_triangles`; their number, also beyond the room.

    `slab` (normal, lowest and highest height along it) tells which parts need not be looked at.
    """
    count = 0
    if is_field(meshes, mesh):
        i_from, i_to, j_from, j_to = cell_range(meshes, mesh, box)
        for i in range(i_from, i_to):
            for j in range(j_from, j_to):
                if cell_within(meshes, mesh, i, j, box):
                    cell = i * (meshes.shape[mesh, 1] - 1) + j
                    count = _of_run(
                        meshes, mesh, 2 * cell, 2 * cell + 2, box, slab, of_triangles, found, count
                    )
        return count
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    nx, ny, nz, low, high = slab
    inner = (1 << levels) - 1
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        at = first + node
        if not boxes_meet(meshes.boxes, at, box):
            continue
        middle, half = 0.0, 0.0
        for k in range(3):
            n = nx if k == 0 else (ny if k == 1 else nz)
            middle += 0.5 * n * (meshes.boxes[at, k] + meshes.boxes[at, 3 + k])
            half += 0.5 * abs(n) * (meshes.boxes[at, 3 + k] - meshes.boxes[at, k])
        if middle - half > high or middle + half < low:
            continue
        if node < inner:
            stack[depth], stack[depth + 1] = 2 * node + 2, 2 * node + 1
            depth += 2
            continue
        leaf = node - inner
        begin, end = (leaf * total) >> levels, ((leaf + 1) * total) >> levels
        count = _of_run(meshes, mesh, begin, end, box, slab, of_triangles, found, count)
    return count


@inner_kernel
def _may_reach(meshes, mesh, t, box, slab):
    """True if the bounds of a triangle meet a box of its frame and the slab."""
    ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
    bx, by, bz = vertex(meshes, mesh, corner(meshes, mesh, t, 1))
    cx, cy, cz = vertex(meshes, mesh, corner(meshes, mesh, t, 2))
    nx, ny, nz, low, high = slab
    a, b, c = nx * ax + ny * ay + nz * az, nx * bx + ny * by + nz * bz, nx * cx + ny * cy + nz * cz
    return (
        min(a, b, c) <= high
        and max(a, b, c) >= low
        and min(ax, bx, cx) <= box[3]
        and max(ax, bx, cx) >= box[0]
        and min(ay, by, cy) <= box[4]
        and max(ay, by, cy) >= box[1]
        and min(az, bz, cz) <= box[5]
        and max(az, bz, cz) >= box[2]
    )


@inner_kernel
def _of_run(meshes, mesh, begin, end, box, slab, of_triangles, found, count):
    """The same for a run of triangles, after the first `count`."""
    for t in range(begin, end):
        if of_triangles:
            if _may_reach(meshes, mesh, t, box, slab):
                if count < found.shape[0]:
                    found[count] = t
                count += 1
            continue
        for k in range(3):
            v = _own_vertex(meshes, mesh, t, k)
            if v < 0:
                continue
            x, y, z = vertex(meshes, mesh, v)
            if box[0] <= x <= box[3] and box[1] <= y <= box[4] and box[2] <= z <= box[5]:
                if count < found.shape[0]:
                    found[count] = v
                count += 1
    return count


@inner_kernel
def _box_over(points, number, normal, up, aside, box):
    """Bounds of a polygon, `aside` farther on all sides, and of all that is up to `up` above it."""
    for k in range(3):
        low, high = math.inf, -math.inf
        for i in range(number):
            low, high = min(low, points[i, k]), max(high, points[i, k])
        rise = up * normal[k]
        box[k], box[3 + k] = low + min(rise, 0.0) - aside, high + max(rise, 0.0) + aside


@inner_kernel
def add_coming_on_solid(place, solid, shift, approach, meshes, hulls, work, spots, marks, count):
    """Add what comes down on or with the faces of a solid that have contacts; the new number of contacts.

    The first `count` rows are the contacts. `shift` is the way (m) that the solid has to go until it meets
    the surface, none if it touches now: there its faces are tried, while gaps and points are those of now. If
    the number is greater than the rows of `spots`, nothing of use is written.
    """
    sx, sy, sz = shift
    led = approach.motion.led
    part = pull_back(led[approach.body], led[approach.other])
    there = place_solid(moved(solid, sx, sy, sz), place.x, place.y, place.z, place.axes, work)
    mesh, axes, reach = place.piece, place.axes, approach.reach
    size = min(meshes.grid[mesh, 4], set_box(there, hulls, reach, work.box))
    steep = steepest_coming(reach, size)
    tiny = _TINY * size + 1e-12
    local = to_local(place.axes, sx, sy, sz)
    points, normal, found = work.feature.points[0], work.feature.normal[0], work.order[2]
    known = count
    for i in range(known):
        lead_x, lead_y, lead_z, low = spots[i, 3], spots[i, 4], spots[i, 5], spots[i, 6]
        seen = False
        for j in range(i):
            if lead_x * spots[j, 3] + lead_y * spots[j, 4] + lead_z * spots[j, 5] > 1.0 - 1e-12:
                seen = True
        if seen:
            continue
        lx, ly, lz = to_local(axes, lead_x, lead_y, lead_z)
        number = solid_feature(there, hulls, lx, ly, lz, work.feature, 0)
        along = lx * normal[0] + ly * normal[1] + lz * normal[2]
        if number < 3 or along > _FACING:
            continue
        set_disc(there, number, normal, work.disc)
        _box_over(points, number, normal, reach + there.radius, _RIM * work.disc[0] + tiny, work.box)
        least = min(low, 0.0) if along < -1.0 + 1e-12 else 0.0
        nx, ny, nz = to_world(axes, -normal[0], -normal[1], -normal[2])
        back = nx * sx + ny * sy + nz * sz
        level = normal[0] * points[0, 0] + normal[1] * points[0, 1] + normal[2] * points[0, 2] + there.radius
        slab = normal[0], normal[1], normal[2], level + back + least - tiny, level + back + reach
        vertices = _parts_in_box(meshes, mesh, work.box, slab, False, work.stack[0], found)
        if vertices > found.shape[0]:
            return vertices
        for k in range(vertices):
            v = found[k]
            x, y, z = vertex(meshes, mesh, v)
            height = (
                normal[0] * (x - points[0, 0])
                + normal[1] * (y - points[0, 1])
                + normal[2] * (z - points[0, 2])
            )
            gap = height - there.radius - back
            ox, oy, oz = outward(meshes, mesh, v)
            if (
                gap < least - tiny
                or ox * normal[0] + oy * normal[1] + oz * normal[2] >= 0.0
                or not counts(approach.motion, approach.body, approach.other, gap, nx, ny, nz)
                or steepest(meshes, mesh, v, -normal[0], -normal[1], -normal[2]) > steep
            ):
                continue
            px, py, pz = x - height * normal[0], y - height * normal[1], z - height * normal[2]
            if work.disc[0] > 0.0:
                over = over_disc(work.disc, px, py, pz, tiny)
            else:
                over = within(points, number, normal[0], normal[1], normal[2], px, py, pz, tiny)
            if not over:
                continue
            x, y, z = to_world(axes, x, y, z)
            x, y, z = x + place.x - part * sx, y + place.y - part * sy, z + place.z - part * sz
            half = 0.5 * back
            x, y, z = x + half * nx, y + half * ny, z + half * nz
            if not is_known(spots, min(count, spots.shape[0]), 1.0, x, y, z, nx, ny, nz, _SAME * size):
                count = _add(spots, marks, count, 1.0, VERTEX_MARK | v, x, y, z, nx, ny, nz, gap)
        if work.disc[0] > 0.0:
            continue
        # corners leave the face's prism by the slope of what they come down on
        _box_over(points, number, normal, reach + there.radius, min(steep, 1.0) * reach + tiny, work.box)
        triangles = _parts_in_box(meshes, mesh, work.box, slab, True, work.stack[0], found)
        if triangles > found.shape[0]:
            return triangles
        rim = Rim(points, number, normal, work.feature.labels[0], there.radius, local, part, steep, tiny)
        count = add_coming_rim(
            place, found, triangles, rim, approach, meshes, work, _SAME * size, spots, marks, count
        )
    return _thinned(known, count, work.feature, spots, marks)


@inner_kernel
def _face_below(meshes, mesh, x, y, z, reach, tiny, box, stack):
    """The triangle that a point of the surface's frame is least above, −1 if none; and the height."""
    box[0], box[1], box[2] = x - reach, y - reach, z - reach
    box[3], box[4], box[5] = x + reach, y + reach, z + reach
    best, least = np.int64(-1), reach
    if is_field(meshes, mesh):
        i_from, i_to, j_from, j_to = cell_range(meshes, mesh, box)
        for i in range(i_from, i_to):
            for j in range(j_from, j_to):
                if cell_within(meshes, mesh, i, j, box):
                    cell = i * (meshes.shape[mesh, 1] - 1) + j
                    for t in range(2 * cell, 2 * cell + 2):
                        height = height_over(meshes, mesh, t, x, y, z, tiny)
                        if height < least:
                            best, least = np.int64(t), height
        return best, least
    levels, first = meshes.shape[mesh, 2], meshes.first[mesh, 3]
    total = meshes.first[mesh + 1, 1] - meshes.first[mesh, 1]
    stack[0] = 0
    leaf, depth = next_leaf(meshes.boxes, first, levels, box, stack, 1)
    while leaf >= 0:
        for t in range((leaf * total) >> levels, ((leaf + 1) * total) >> levels):
            height = height_over(meshes, mesh, t, x, y, z, tiny)
            if height < least:
                best, least = np.int64(t), height
        leaf, depth = next_leaf(meshes.boxes, first, levels, box, stack, depth)
    return best, least


@inner_kernel
def _add_coming_on_surface(place, ground, sign, approach, meshes, work, spots, marks, count):
    """Add vertices of the surface at `place` that come down on faces of the one at `ground`.

    `sign` is 1 if the vertices are those of the first shape.
    """
    mesh, other, reach = place.piece, ground.piece, approach.reach
    size = min(meshes.grid[mesh, 4], meshes.grid[other, 4])
    tiny, steep = _TINY * size + 1e-12, steepest_coming(reach, size)
    found, turned = work.order[2], work.axes
    vertices = _vertices_near(place, ground, meshes, reach, work)
    if vertices > found.shape[0]:
        return vertices
    for k in range(3):
        turned[0, k], turned[1, k], turned[2, k] = to_local(
            ground.axes, place.axes[0, k], place.axes[1, k], place.axes[2, k]
        )
    dx, dy, dz = to_local(ground.axes, place.x - ground.x, place.y - ground.y, place.z - ground.z)
    for k in range(vertices):
        v = found[k]
        x, y, z = vertex(meshes, mesh, v)
        px, py, pz = to_world(turned, x, y, z)
        t, gap = _face_below(meshes, other, px + dx, py + dy, pz + dz, reach, tiny, work.box, work.stack[1])
        if t < 0:
            continue
        lx, ly, lz = triangle_normal(meshes, other, t)
        nx, ny, nz = to_world(ground.axes, -sign * lx, -sign * ly, -sign * lz)
        lx, ly, lz = to_local(turned, lx, ly, lz)
        ox, oy, oz = outward(meshes, mesh, v)
        if ox * lx + oy * ly + oz * lz >= 0.0 or steepest(meshes, mesh, v, -lx, -ly, -lz) > steep:
            continue
        if not counts(approach.motion, approach.body, approach.other, gap, nx, ny, nz):
            continue
        x, y, z = to_world(place.axes, x, y, z)
        x, y, z = x + place.x, y + place.y, z + place.z
        if not is_known(spots, min(count, spots.shape[0]), sign, x, y, z, nx, ny, nz, _SAME * size):
            mark = face_mark(sign < 0.0, meshes.patch[meshes.first[other, 5] + t], v)
            count = _add(spots, marks, count, sign, mark, x, y, z, nx, ny, nz, gap)
    return count


@inner_kernel
def _vertices_near(place, ground, meshes, reach, work):
    """Write the vertices of the surface at `place` that may be near the other to `order[2]`; their number."""
    turned, box = work.axes, work.box
    if is_field(meshes, ground.piece):
        # its cells are found at once: all vertices of the mesh are asked
        box[0], box[1], box[2], box[3], box[4], box[5] = (
            -math.inf, -math.inf, -math.inf, math.inf, math.inf, math.inf
        )  # fmt: skip
    else:
        for k in range(3):
            turned[0, k], turned[1, k], turned[2, k] = to_local(
                place.axes, ground.axes[0, k], ground.axes[1, k], ground.axes[2, k]
            )
        x, y, z = to_local(place.axes, ground.x - place.x, ground.y - place.y, ground.z - place.z)
        turned_box(meshes.boxes, meshes.first[ground.piece, 3], turned, x, y, z, reach, box)
    everywhere = 0.0, 0.0, 0.0, -math.inf, math.inf
    return _parts_in_box(meshes, place.piece, box, everywhere, False, work.stack[0], work.order[2])


@inner_kernel
def add_coming_on_surfaces(place, other, approach, meshes, work, spots, marks, count):
    """Add vertices of either of two surfaces that come down on faces of the other; the new number.

    As in `add_coming_on_solid`.
    """
    known = count
    count = _add_coming_on_surface(place, other, 1.0, approach, meshes, work, spots, marks, count)
    if count <= spots.shape[0]:
        count = _add_coming_on_surface(other, place, -1.0, approach, meshes, work, spots, marks, count)
    return _thinned(known, count, work.feature, spots, marks)


@inner_kernel
def _thinned(begin, count, work, spots, marks):
    """Where more than MOST rows were added from `begin` on, keep those that span them and the lowest."""
    if count - begin <= MOST or count > spots.shape[0]:
        return count
    nx = ny = nz = 0.0
    for i in range(begin, count):
        nx, ny, nz = nx + spots[i, 3], ny + spots[i, 4], nz + spots[i, 5]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        nx, ny, nz = nx / length, ny / length, nz / length
    else:
        nx, ny, nz = spots[begin, 3], spots[begin, 4], spots[begin, 5]
    ux, uy, uz, vx, vy, vz = across(nx, ny, nz)
    for i in range(begin, count):
        x, y, z = spots[i, 0], spots[i, 1], spots[i, 2]
        at = i - begin
        work.found[at, 0], work.found[at, 1] = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
        work.found[at, 2], work.names[at] = spots[i, 6], i
    kept = thin_out(work, count - begin)
    names = work.names
    for k in range(1, kept):
        j, name = k, names[k]
        while j > 0 and names[j - 1] > name:
            names[j] = names[j - 1]
            j -= 1
        names[j] = name
    for k in range(kept):
        i = names[k]
        marks[begin + k] = marks[i]
        for column in range(7):
            spots[begin + k, column] = spots[i, column]
    return begin + kept
