"""Contacts of meshes and height fields with everything else, pair after pair."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._jit import inner_kernel, kernel
from nonsmooth.collision.kernels.coming_vertices import (
    Approach,
    add_coming_on_solid,
    add_coming_on_surfaces,
)
from nonsmooth.collision.kernels.fast_pairs import CLOSE, left_out, strikes
from nonsmooth.collision.kernels.half_spaces import plane_vertices
from nonsmooth.collision.kernels.inside_meshes import solid_inside, surface_inside
from nonsmooth.collision.kernels.mesh_features import EDGE
from nonsmooth.collision.kernels.mesh_pairs import mesh_mesh_contacts
from nonsmooth.collision.kernels.meshes import mesh_contacts
from nonsmooth.collision.kernels.placing import BODY, KIND, PIECE, moved, place_of, solid_of
from nonsmooth.collision.kernels.solids import HALF_SPACE, HEIGHT_FIELD, MESH
from nonsmooth.collision.kernels.touching import faces, keep_counting, pull_back

_STEPS = 1000  # of a sweep past a surface
_LOOK = 0.02  # part of the way that a sweep looks ahead


class Outlines(NamedTuple):
    """Corners of the convex hulls of all surfaces, one after the other: what a half-space can touch."""

    first: np.ndarray  # (g + 1,) int64
    vertices: np.ndarray  # (V, 3)


@inner_kernel
def _may_pass(solid, w, turn, hulls, work, spots, marks, count):
    """True if no contact touches, and a sharp edge or vertex of the surface is in the way of a solid that
    moves by w (m) against it: the solid may go past it.
    """
    edge = False
    for i in range(count):
        nx, ny, nz, gap = spots[i, 3], spots[i, 4], spots[i, 5], spots[i, 6]
        if gap <= turn:
            return False
        if marks[i] >= EDGE << 60 and strikes(gap, nx, ny, nz, *w, turn):
            edge = edge or not faces(solid, hulls, -nx, -ny, -nz, work.feature, 0)
    return edge


@inner_kernel
def _swept_contacts(surface, s, shapes, meshes, hulls, centre, axes, motion, reach, work, spots, marks):
    """Contacts of a surface and a convex shape that meet later in the step, and the part after which they do.

    Nothing touches before the shape has come as far as the gap: this is repeated until it touches or the
    step ends. Contacts have the normal of the time at which they meet, as in `touching`.
    """
    d, of_s, of_surface = motion.displacement, shapes.tags[s, BODY], shapes.tags[surface, BODY]
    wx, wy, wz = (
        d[of_s, 0] - d[of_surface, 0],
        d[of_s, 1] - d[of_surface, 1],
        d[of_s, 2] - d[of_surface, 2],
    )
    back = pull_back(motion.led[of_surface], motion.led[of_s])
    way = math.sqrt(wx * wx + wy * wy + wz * wz)
    limit = motion.turn[of_s] + motion.turn[of_surface] + CLOSE * way
    look = limit + motion.margin + _LOOK * way
    solid = solid_of(shapes, s, centre, axes, 0.0, 0.0, 0.0)
    x, y, z = centre[surface, 0], centre[surface, 1], centre[surface, 2]
    piece = shapes.tags[surface, PIECE]
    t = 0.0
    for _ in range(_STEPS):
        count = mesh_contacts(
            piece, x, y, z, axes[surface], moved(solid, t * wx, t * wy, t * wz), meshes, hulls, look, work,
            spots, marks,
        )  # fmt: skip
        if count > spots.shape[0]:
            return count, t
        nearest = look
        for i in range(count):
            nearest = min(nearest, spots[i, 6])
        if nearest <= limit:
            for i in range(count):
                spots[i, 6] -= t * (spots[i, 3] * wx + spots[i, 4] * wy + spots[i, 5] * wz)
                spots[i, 0] -= back * t * wx
                spots[i, 1] -= back * t * wy
                spots[i, 2] -= back * t * wz
            return count, max(t, 1e-300)
        t += max(nearest - limit, CLOSE * way) / way
        if t > 1.0:
            return 0, t
    return 0, t


@inner_kernel
def _surface_contacts(surface, s, shapes, meshes, hulls, centre, axes, motion, work, spots, marks):
    """Contacts of a surface and another shape, normals out of the surface: their number, and the part of the
    step whose normals they have, as in `touching`.
    """
    place = place_of(shapes, surface, centre, axes)
    body, other_body = shapes.tags[surface, BODY], shapes.tags[s, BODY]
    reach, part = motion.reach[body] + motion.reach[other_body], 0.0
    approach = Approach(motion, np.int64(body), np.int64(other_body), reach)
    if shapes.tags[s, KIND] in (MESH, HEIGHT_FIELD):
        other = place_of(shapes, s, centre, axes)
        count = mesh_mesh_contacts(
            place.piece, place.x, place.y, place.z, place.axes, other.piece, other.x, other.y, other.z,
            other.axes, meshes, reach, work, spots, marks,
        )  # fmt: skip
        if count == 0:
            return surface_inside(place, other, meshes, work, spots, marks), part
        if count <= spots.shape[0]:
            count = add_coming_on_surfaces(place, other, approach, meshes, work, spots, marks, count)
        return count, part
    solid = solid_of(shapes, s, centre, axes, 0.0, 0.0, 0.0)
    count = mesh_contacts(
        place.piece, place.x, place.y, place.z, place.axes, solid, meshes, hulls, reach, work, spots, marks
    )
    if count == 0:
        return solid_inside(place, solid, meshes, hulls, work, spots, marks), part
    if count > spots.shape[0]:
        return count, part
    nearest = spots[0, 6]
    for k in range(1, count):
        nearest = min(nearest, spots[k, 6])
    shift = 0.0, 0.0, 0.0
    if nearest > motion.margin and left_out(motion, surface, s, body, other_body):
        return 0, part
    d, turn = motion.displacement, motion.turn[body] + motion.turn[other_body]
    w = d[other_body, 0] - d[body, 0], d[other_body, 1] - d[body, 1], d[other_body, 2] - d[body, 2]
    if nearest > motion.margin or _may_pass(solid, w, turn, hulls, work, spots, marks, count):
        count, part = _swept_contacts(
            surface, s, shapes, meshes, hulls, centre, axes, motion, reach, work, spots, marks
        )
        shift = part * w[0], part * w[1], part * w[2]
    if 0 < count <= spots.shape[0]:
        count = add_coming_on_solid(place, solid, shift, approach, meshes, hulls, work, spots, marks, count)
    return count, part


@kernel
def touch_surfaces(
    pairs, begin, shapes, meshes, outlines, hulls, centre, axes, motion, work, spots, marks, out, parts, found
):
    """Write the contacts of the pairs from `begin` on after the first `found`.

    Returns the pair that there was no room for (all pairs: their number), how many contacts there are, and
    how many rows of `spots` that pair needs, 0 if it was `out` that was full.
    """
    for i in range(begin, pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        surface, s, sign, part = a, b, 1.0, 0.0
        # of a mesh and a height field, the mesh is the second
        if shapes.tags[a, KIND] not in (MESH, HEIGHT_FIELD) or shapes.tags[b, KIND] == HEIGHT_FIELD:
            surface, s, sign = b, a, -1.0
        reach = motion.reach[shapes.tags[a, BODY]] + motion.reach[shapes.tags[b, BODY]]
        if shapes.tags[s, KIND] == HALF_SPACE:
            x, y, z = centre[surface, 0], centre[surface, 1], centre[surface, 2]
            solid = solid_of(shapes, surface, centre, axes, x, y, z)
            piece = shapes.tags[surface, PIECE]
            count = plane_vertices(
                centre[s, 0] - x, centre[s, 1] - y, centre[s, 2] - z,
                axes[s, 0, 2], axes[s, 1, 2], axes[s, 2, 2], solid, outlines.vertices,
                outlines.first[piece], outlines.first[piece + 1], reach, work.feature, spots, marks,
            )  # fmt: skip
            for k in range(count):
                spots[k, 0] += x
                spots[k, 1] += y
                spots[k, 2] += z
            sign = -sign
        else:
            count, part = _surface_contacts(
                surface, s, shapes, meshes, hulls, centre, axes, motion, work, spots, marks
            )
        if count > spots.shape[0]:
            return i, found, count
        after = keep_counting(count, a, b, sign, part, shapes, motion, spots, marks, out, parts, found)
        if after < 0:
            return i, found, 0
        found = after
    return pairs.shape[0], found, 0
