"""What turns within a step: vertices of hulls that come down, and half-spaces that sweep."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import kernel
from nonsmooth._support.kernels.rotations import turned


@kernel
def turn_vertices(bodies, state, velocity, shapes, pairs, point, normal, cornered, step, gap, shift):
    """Take vertices to where free motion turns them in the step: gaps (c,), shifts R r − r (c, 2, 3) in m.

    A vertex r that turning brings nearer is at R r at the end of the step. Its gap is linearised there and
    not at r: its arm is R r, and `gap` gets n·(R r − r) − h n·(ω × R r). Linearised at r, the vertex ahead
    of a hull that rolls comes down through the ground and blocks the rolling; and an impulse on it brakes,
    because it is ahead of the line that the hull stands on by the way of the step. Vertices that turning
    takes away stay at r: of a hull with many faces, the next one takes their place. `cornered` (s,) tells
    which shapes are hulls of moving bodies.
    """
    for i in range(gap.shape[0]):
        for side in range(2):
            for k in range(3):
                shift[i, side, k] = 0.0
            body = pairs[i, side]
            if not cornered[shapes[i, side]]:
                continue
            w0, w1, w2 = step * velocity[body, 3], step * velocity[body, 4], step * velocity[body, 5]
            if not bodies.round_body[body]:
                w0, w1, w2 = turned(state.rotation, body, w0, w1, w2)
            angle = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
            if angle == 0.0:
                continue
            r0, r1, r2 = (
                point[i, 0] - state.position[body, 0],
                point[i, 1] - state.position[body, 1],
                point[i, 2] - state.position[body, 2],
            )
            c0, c1, c2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
            d0, d1, d2 = w1 * c2 - w2 * c1, w2 * c0 - w0 * c2, w0 * c1 - w1 * c0
            first, second = math.sin(angle) / angle, (1.0 - math.cos(angle)) / (angle * angle)
            s0, s1, s2 = first * c0 + second * d0, first * c1 + second * d1, first * c2 + second * d2
            fall = -(normal[i, 0] * s0 + normal[i, 1] * s1 + normal[i, 2] * s2)
            if (fall if side == 1 else -fall) <= 0.0:
                continue
            r0, r1, r2 = r0 + s0, r1 + s1, r2 + s2
            rise = normal[i, 0] * (s0 - (w1 * r2 - w2 * r1)) + normal[i, 1] * (s1 - (w2 * r0 - w0 * r2))
            rise += normal[i, 2] * (s2 - (w0 * r1 - w1 * r0))
            gap[i] += rise if side == 1 else -rise
            shift[i, side, 0], shift[i, side, 1], shift[i, side, 2] = s0, s1, s2


class Planes(NamedTuple):
    """Half-spaces, any of which may rotate, and the bodies that they may meet."""

    body: np.ndarray  # (p,) int64
    normal: np.ndarray  # (p, 3) outward, in the frame of the body
    others: np.ndarray  # (m,) int64: moving bodies that have a shape
    radius: np.ndarray  # (m,) m: their bounding radii


@kernel
def sweep_planes(planes, state, step, displacement, turn):
    """Raise `turn` (n,), how far each body's surface may come by rotation in m, where half-spaces sweep.

    A half-space is a rigid surface that moves with its body: the point x of its plane has the velocity
    v + ω × (x − p), with the position p and the velocities v and ω of the body. Towards the outside it is
    n·v + (n × ω)·(x − p): a turntable (ω along n) does not approach, and a plane that tilts sweeps faster the
    farther x is from p. It has no bounding radius; the distance follows from the other bodies' positions.
    """
    for j in range(planes.body.shape[0]):
        body = planes.body[j]
        n0, n1, n2 = planes.normal[j, 0], planes.normal[j, 1], planes.normal[j, 2]
        w0, w1, w2 = state.angular[body, 0], state.angular[body, 1], state.angular[body, 2]
        c0, c1, c2 = n1 * w2 - n2 * w1, n2 * w0 - n0 * w2, n0 * w1 - n1 * w0
        rate = step * math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
        if rate == 0.0:
            continue
        farthest = 0.0
        for i in range(planes.others.shape[0]):
            other = planes.others[i]
            square = 0.0
            for k in range(3):
                arm = state.position[other, k] + displacement[other, k]
                arm -= state.position[body, k] + displacement[body, k]
                square += arm * arm
            farthest = max(farthest, math.sqrt(square) + planes.radius[i])
        turn[body] = max(turn[body], rate * farthest)
