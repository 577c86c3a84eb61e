"""What a gap gains because a body turns within a step: the part that its linear motion does not have."""

import math

from nonsmooth._jit import kernel
from nonsmooth.integrators._motion_kernels import turned

_RESOLVED = 0.25  # part of the angle between faces by which a step may turn a body and still see each face


@kernel
def lift(bodies, state, velocity, shapes, pairs, point, normal, facet, step, gap):
    """Add to each `gap` (c,) what turning gives beyond the first order, for hulls whose faces pass by.

    A point r turns to R r, and the contact's row knows r + h ω × r. The vertex ahead of a hull that rolls
    comes down to the ground and not through it: without this term it blocks the rolling. `facet` (s,) is
    the smallest angle in rad between neighbouring faces of each shape; a step that turns a body by less
    than a quarter of it meets one face after the other, and needs no more than the row.
    """
    for i in range(gap.shape[0]):
        for side in range(2):
            body = pairs[i, side]
            if bodies.fixed[body] or facet[shapes[i, side]] == math.inf:
                continue
            w0, w1, w2 = step * velocity[body, 3], step * velocity[body, 4], step * velocity[body, 5]
            if not bodies.round_body[body]:
                w0, w1, w2 = turned(state.rotation, body, w0, w1, w2)
            angle = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
            if angle <= _RESOLVED * facet[shapes[i, side]]:
                continue
            r0, r1, r2 = (
                point[i, 0] - state.position[body, 0],
                point[i, 1] - state.position[body, 1],
                point[i, 2] - state.position[body, 2],
            )
            c0, c1, c2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
            d0, d1, d2 = w1 * c2 - w2 * c1, w2 * c0 - w0 * c2, w0 * c1 - w1 * c0
            first, second = math.sin(angle) / angle - 1.0, (1.0 - math.cos(angle)) / (angle * angle)
            rise = normal[i, 0] * (first * c0 + second * d0) + normal[i, 1] * (first * c1 + second * d1)
            rise += normal[i, 2] * (first * c2 + second * d2)
            gap[i] += max(rise if side == 1 else -rise, 0.0)
