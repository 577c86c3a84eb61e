"""Contacts of pairs of convex solids, and of convex solids with half-spaces."""

import math

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.closed_forms.pairs import write_counting
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import HALF_SPACE, core_separation
from nonsmooth.collision.kernels.manifolds.half_spaces import half_space_contacts
from nonsmooth.collision.kernels.manifolds.manifold import manifold
from nonsmooth.collision.kernels.motion.fast_pairs import CLOSE, left_out, may_pass, pull_back
from nonsmooth.collision.kernels.motion.placing import BODY, KIND, moved, solid_of
from nonsmooth.collision.kernels.motion.sweeps import passing, time_of_impact


@inlined_kernel
def keep_counting(count, a, b, sign, part, shapes, motion, spots, marks, out, parts, found):
    """Write those of the `count` spots of shapes a and b that count in this step, by ascending marks.

    `sign` is -1 where the spots' normals lead from b to a; `part` is kept in `parts`. Returns the number of
    contacts after it, and -1 if there is no room for all.
    """
    if found + count > out.gap.shape[0]:
        return -1
    after = write_counting(count, a, b, sign, shapes, motion, spots, marks, out, found)
    parts[found:after] = part
    return after


@inner_kernel
def _contacts_on_the_way(p, q, hulls, t, nx, ny, nz, wx, wy, wz, reach, back, work, spots, marks):
    """Contacts that solids have after the part t of the step, with the normal n of that time; their number.

    Gaps along n are those of now. Points go `back` by that part of q's way, see `pull_back`.
    """
    there = moved(q, t * wx, t * wy, t * wz)
    gap = core_separation(p, there, hulls, nx, ny, nz) - p.radius - q.radius
    found = separation(p, there, hulls, math.inf, work.separation)
    count = manifold(
        p, there, hulls, gap, nx, ny, nz, found[4], found[5], found[6], found[7], found[8], found[9],
        reach, work.manifold, spots, marks,
    )  # fmt: skip
    closed = -t * (nx * wx + ny * wy + nz * wz)
    for i in range(count):
        spots[i, 6] += closed
        spots[i, 0] -= back * t * wx
        spots[i, 1] -= back * t * wy
        spots[i, 2] -= back * t * wz
    return count


@inner_kernel
def _solid_contacts(a, b, shapes, hulls, centre, axes, motion, work, spots, marks):
    """Contacts of two convex shapes, normals from a to b: their number, and the part of the step whose normal
    they have: that after which they meet. It is 0 within the margin, unless they may fly past one another.
    """
    x, y, z = centre[a, 0], centre[a, 1], centre[a, 2]
    p, q = solid_of(shapes, a, centre, axes, x, y, z), solid_of(shapes, b, centre, axes, x, y, z)
    body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
    reach = motion.reach[body_a] + motion.reach[body_b]
    gap, nx, ny, nz, px, py, pz, qx, qy, qz = separation(p, q, hulls, reach, work.separation)
    if gap > reach or (gap > motion.margin and left_out(motion, a, b, body_a, body_b)):
        return 0, 0.0
    d, turn = motion.displacement, motion.turn[body_a] + motion.turn[body_b]
    wx, wy, wz = d[body_b, 0] - d[body_a, 0], d[body_b, 1] - d[body_a, 1], d[body_b, 2] - d[body_a, 2]
    close, part = CLOSE * math.sqrt(wx * wx + wy * wy + wz * wz), 0.0
    if gap > motion.margin:
        part, nx, ny, nz = time_of_impact(p, q, hulls, wx, wy, wz, turn, close, work.separation)
        if part > 1.0:
            return 0, part
    elif may_pass(gap, nx, ny, nz, wx, wy, wz, turn, motion.margin):
        part, nx, ny, nz = passing(p, q, hulls, wx, wy, wz, turn, close, work.separation)
    if part > 0.0:
        back = pull_back(motion.led[body_a], motion.led[body_b])
        count = _contacts_on_the_way(
            p, q, hulls, part, nx, ny, nz, wx, wy, wz, reach, back, work, spots, marks
        )
    else:
        count = manifold(
            p, q, hulls, gap, nx, ny, nz, px, py, pz, qx, qy, qz, reach, work.manifold, spots, marks
        )
    for i in range(count):
        spots[i, 0] += x
        spots[i, 1] += y
        spots[i, 2] += z
    return count, part


@inlined_kernel
def _plane_contacts(plane, s, shapes, hulls, centre, axes, motion, work, spots, marks):
    """Contacts of a half-space and a convex shape, normals out of the half-space; their number."""
    x, y, z = centre[s, 0], centre[s, 1], centre[s, 2]
    solid = solid_of(shapes, s, centre, axes, x, y, z)
    reach = motion.reach[shapes.tags[plane, BODY]] + motion.reach[shapes.tags[s, BODY]]
    count = half_space_contacts(
        centre[plane, 0] - x, centre[plane, 1] - y, centre[plane, 2] - z,
        axes[plane, 0, 2], axes[plane, 1, 2], axes[plane, 2, 2],
        solid, hulls, reach, work.manifold, spots, marks,
    )  # fmt: skip
    for i in range(count):
        spots[i, 0] += x
        spots[i, 1] += y
        spots[i, 2] += z
    return count


@kernel
def touch_solids(pairs, begin, shapes, hulls, centre, axes, motion, work, spots, marks, out, parts, found):
    """Write the contacts of the pairs from `begin` on after the first `found`, and the part of the step after
    which they meet to `parts`.

    Returns the pair that there was no room for (all pairs: their number), and how many contacts there are.
    """
    for i in range(begin, pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        sign, part = 1.0, 0.0
        if shapes.tags[a, KIND] == HALF_SPACE:
            count = _plane_contacts(a, b, shapes, hulls, centre, axes, motion, work, spots, marks)
        elif shapes.tags[b, KIND] == HALF_SPACE:
            count = _plane_contacts(b, a, shapes, hulls, centre, axes, motion, work, spots, marks)
            sign = -1.0
        else:
            count, part = _solid_contacts(a, b, shapes, hulls, centre, axes, motion, work, spots, marks)
        after = keep_counting(count, a, b, sign, part, shapes, motion, spots, marks, out, parts, found)
        if after < 0:
            return i, found
        found = after
    return pairs.shape[0], found
