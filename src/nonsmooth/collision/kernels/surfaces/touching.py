"""Contacts of meshes and height fields with everything else, pair after pair."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import HALF_SPACE, HEIGHT_FIELD, MESH
from nonsmooth.collision.kernels.manifolds.half_spaces import plane_vertices
from nonsmooth.collision.kernels.manifolds.touching import keep_counting
from nonsmooth.collision.kernels.motion.fast_pairs import CLOSE, left_out, may_pass, pull_back
from nonsmooth.collision.kernels.motion.placing import BODY, KIND, PIECE, moved, place_of, solid_of
from nonsmooth.collision.kernels.surfaces.coming_rims import Approach
from nonsmooth.collision.kernels.surfaces.coming_vertices import add_coming_on_solid, add_coming_on_surfaces
from nonsmooth.collision.kernels.surfaces.inside import solid_inside, surface_inside
from nonsmooth.collision.kernels.surfaces.meshes import mesh_contacts
from nonsmooth.collision.kernels.surfaces.pairs import mesh_mesh_contacts

_STEPS = 1000  # of a sweep past a surface
_LOOK = 0.02  # part of the way that a sweep looks ahead


class Outlines(NamedTuple):
    """Corners of the convex hulls of all surfaces, one after the other: what a half-space can touch."""

    first: np.ndarray  # (g + 1,) int64
    vertices: np.ndarray  # (V, 3)


@inner_kernel
def _contacts_at(t, w, surface, s, shapes, meshes, hulls, centre, axes, reach, work, spots, marks):
    """Contacts of a surface and another shape that has gone the part t of its way w (m); their number."""
    place = place_of(shapes, surface, centre, axes)
    x, y, z = t * w[0], t * w[1], t * w[2]
    if shapes.tags[s, KIND] in (MESH, HEIGHT_FIELD):
        other = place_of(shapes, s, centre, axes)
        return mesh_mesh_contacts(
            place.piece, place.x, place.y, place.z, place.axes, other.piece, other.x + x, other.y + y,
            other.z + z, other.axes, meshes, reach, work, spots, marks,
        )  # fmt: skip
    solid = moved(solid_of(shapes, s, centre, axes, 0.0, 0.0, 0.0), x, y, z)
    return mesh_contacts(
        place.piece, place.x, place.y, place.z, place.axes, solid, meshes, hulls, reach, work, spots, marks
    )


@inner_kernel
def _any_may_pass(w, turn, margin, spots, count):
    """True if no contact touches, and the shapes may go past one of them, moving by w (m) against another."""
    passing = False
    for i in range(count):
        nx, ny, nz, gap = spots[i, 3], spots[i, 4], spots[i, 5], spots[i, 6]
        if gap <= turn:
            return False
        passing = passing or may_pass(gap, nx, ny, nz, *w, turn, margin)
    return passing


@inner_kernel
def _swept_contacts(w, surface, s, shapes, meshes, hulls, centre, axes, motion, work, spots, marks):
    """Contacts of a surface and another shape that meet later in the step, in which the shape moves by w (m)
    against the surface, and the part of the step after which they do.

    Nothing touches before the shape has come as far as the gap: this is repeated until it touches or the
    step ends. Contacts have the normal of the time at which they meet, as in `touching`.
    """
    of_s, of_surface = shapes.tags[s, BODY], shapes.tags[surface, BODY]
    back = pull_back(motion.led[of_surface], motion.led[of_s])
    way = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    limit = motion.turn[of_s] + motion.turn[of_surface] + CLOSE * way
    look = limit + motion.margin + _LOOK * way
    t = 0.0
    for _ in range(_STEPS):
        count = _contacts_at(t, w, surface, s, shapes, meshes, hulls, centre, axes, look, work, spots, marks)
        if count > spots.shape[0]:
            return count, t
        nearest = look
        for i in range(count):
            nearest = min(nearest, spots[i, 6])
        if nearest <= limit:
            for i in range(count):
                spots[i, 6] -= t * (spots[i, 3] * w[0] + spots[i, 4] * w[1] + spots[i, 5] * w[2])
                for k in range(3):
                    spots[i, k] -= back * t * w[k]
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
    d, turn = motion.displacement, motion.turn[body] + motion.turn[other_body]
    w = d[other_body, 0] - d[body, 0], d[other_body, 1] - d[body, 1], d[other_body, 2] - d[body, 2]
    approach = Approach(motion, np.int64(body), np.int64(other_body), reach)
    count = _contacts_at(0.0, w, surface, s, shapes, meshes, hulls, centre, axes, reach, work, spots, marks)
    if count > spots.shape[0]:
        return count, part
    pair = shapes.tags[s, KIND] in (MESH, HEIGHT_FIELD)
    solid = solid_of(shapes, s, centre, axes, 0.0, 0.0, 0.0)
    other = place_of(shapes, s, centre, axes)
    if count == 0:
        if pair:
            return surface_inside(place, other, meshes, work, spots, marks), part
        return solid_inside(place, solid, meshes, hulls, work, spots, marks), part
    nearest = spots[0, 6]
    for k in range(1, count):
        nearest = min(nearest, spots[k, 6])
    apart = nearest > motion.margin and not pair
    if apart and left_out(motion, surface, s, body, other_body):
        return 0, part
    if apart or _any_may_pass(w, turn, motion.margin, spots, count):
        count, part = _swept_contacts(
            w, surface, s, shapes, meshes, hulls, centre, axes, motion, work, spots, marks
        )
    if count == 0 or count > spots.shape[0]:
        return count, part
    if pair and part == 0.0:
        count = add_coming_on_surfaces(place, other, approach, meshes, work, spots, marks, count)
    elif not pair:
        shift = part * w[0], part * w[1], part * w[2]
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
