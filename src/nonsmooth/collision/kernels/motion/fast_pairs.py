"""Pairs that move so fast that they could pass through each other within a step.

The inner radius of a shape is that of a ball inside it. Two shapes that overlap by less than both inner
radii together are pushed apart to the sides they came from. A pair that moves by more than half of that
against one another in a step is fast: its way is followed, see `covering`.
"""

import math

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import HALF_SPACE, HEIGHT_FIELD, MESH
from nonsmooth.collision.kernels.motion.placing import BODY, KIND

CLOSE = 1e-6
"""Part of the way at which solids that approach have met."""
_PAST = 0.01  # part of the margin
_FAST = 0.5  # part of both inner radii that a pair may move in a step without being followed


@inlined_kernel
def approach(displacement, turn, a, b):
    """The most that the gap of bodies a and b can change in the step."""
    x = displacement[b, 0] - displacement[a, 0]
    y = displacement[b, 1] - displacement[a, 1]
    z = displacement[b, 2] - displacement[a, 2]
    return math.sqrt(x * x + y * y + z * z) + turn[a] + turn[b]


@inlined_kernel
def _moves(displacement, turn, i):
    return (
        turn[i] != 0.0 or displacement[i, 0] != 0.0 or displacement[i, 1] != 0.0 or displacement[i, 2] != 0.0
    )


@inlined_kernel
def is_fast(displacement, turn, inner, led, a, b, body_a, body_b):
    """True if the ways of shapes a and b can be followed, and have to be.

    A body that is led, by a motion that is prescribed or by joints, does not stop on its way.
    """
    if led[body_a] and _moves(displacement, turn, body_a):
        return False
    if led[body_b] and _moves(displacement, turn, body_b):
        return False
    return approach(displacement, turn, body_a, body_b) > _FAST * (inner[a] + inner[b])


@inlined_kernel
def left_out(motion, a, b, body_a, body_b):
    """True, and the bodies are marked, if shapes that are apart have no contact because they are followed."""
    if not is_fast(motion.displacement, motion.turn, motion.inner, motion.led, a, b, body_a, body_b):
        return False
    motion.hasty[body_a] = True
    motion.hasty[body_b] = True
    return True


@inlined_kernel
def may_pass(gap, nx, ny, nz, wx, wy, wz, turn, margin):
    """True if solids that are apart and move by w against one another, turning their points by up to `turn`,
    meet along n within the step, but could have gone past each other by then.

    The way across n until they meet tells how far past an edge they can be. What misses an edge by less than
    a small part of the margin counts as meeting it: so bodies at rest cost no more.
    """
    way2 = wx * wx + wy * wy + wz * wz
    closing = -(nx * wx + ny * wy + nz * wz)
    if closing <= gap or gap <= turn + CLOSE * math.sqrt(way2):
        return False
    aside = gap / closing * math.sqrt(max(way2 - closing * closing, 0.0))
    return aside > _PAST * margin


@inlined_kernel
def pull_back(led_a, led_b):
    """Part of B's way against A until they meet by which a contact's point is taken back to now.

    All of it puts the point where it is on B now, nothing where it is on A. If impulses turn one of the two
    alone, it has the right arm; else it is in the middle.
    """
    if led_a == led_b:
        return 0.5
    return 1.0 if led_a else 0.0


@kernel
def any_fast(displacement, turn, hasty, least):
    """True if a body is marked, or moves further than a pair may without being followed.

    `least` (n,) is the least inner radius of each body's shapes. If a pair is fast, one of its bodies is.
    """
    for i in range(turn.shape[0]):
        x, y, z = displacement[i, 0], displacement[i, 1], displacement[i, 2]
        if hasty[i] or math.sqrt(x * x + y * y + z * z) + turn[i] > _FAST * least[i]:
            return True
    return False


@kernel
def followed(pairs, shapes, motion, chosen):
    """Fill `chosen` (p,): 1 for pairs of convex shapes whose ways are followed, 2 for those with a surface.

    Half-spaces have no other side. Ways of two meshes are not followed.
    """
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        ka, kb = shapes.tags[a, KIND], shapes.tags[b, KIND]
        surfaces = int(ka in (MESH, HEIGHT_FIELD)) + int(kb in (MESH, HEIGHT_FIELD))
        chosen[i] = 0
        if ka == HALF_SPACE or kb == HALF_SPACE or surfaces == 2:
            continue
        body_a, body_b = shapes.tags[a, BODY], shapes.tags[b, BODY]
        hasty = motion.hasty[body_a] and motion.hasty[body_b]
        if hasty or is_fast(motion.displacement, motion.turn, motion.inner, motion.led, a, b, body_a, body_b):
            chosen[i] = 1 + surfaces
