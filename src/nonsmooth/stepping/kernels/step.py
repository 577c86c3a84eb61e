"""The contacts of a time step on arrays: their frames, their rows of Dᵀ, and their biases."""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth._support.kernels.rotations import turned, turned_back


class Rows(NamedTuple):
    """What `assemble` fills, for c contacts."""

    bodies: np.ndarray  # (c, 2) int64, −1 for fixed bodies
    rows: np.ndarray  # (c, 2, 3, 6) rows of Dᵀ
    columns: np.ndarray  # (c, 2, 3, 6) rows of DᵀL⁻ᵀ
    bias: np.ndarray  # (c, 3) m/s
    free: np.ndarray  # (c, 3) velocity without impulses, bias included, m/s
    frame: np.ndarray  # (c, 3, 3): n, t1, t2


@inlined_kernel
def _tangents(n0, n1, n2):
    """t1 and t2 = n × t1, orthonormal to n."""
    if abs(n0) < 0.6:
        size = math.sqrt(n1 * n1 + n2 * n2)
        a0, a1, a2 = 0.0, n2 / size, -n1 / size
    else:
        size = math.sqrt(n0 * n0 + n2 * n2)
        a0, a1, a2 = -n2 / size, 0.0, n0 / size
    return a0, a1, a2, n1 * a2 - n2 * a1, n2 * a0 - n0 * a2, n0 * a1 - n1 * a0


@inlined_kernel
def _fixed_velocity(state, body, p, e0, e1, e2):
    """Velocity of point p of a body that moves as prescribed, along e."""
    r0, r1, r2 = (
        p[0] - state.position[body, 0],
        p[1] - state.position[body, 1],
        p[2] - state.position[body, 2],
    )
    w0, w1, w2 = turned(
        state.rotation, body, state.angular[body, 0], state.angular[body, 1], state.angular[body, 2]
    )
    v0 = state.linear[body, 0] + w1 * r2 - w2 * r1
    v1 = state.linear[body, 1] + w2 * r0 - w0 * r2
    v2 = state.linear[body, 2] + w0 * r1 - w1 * r0
    return e0 * v0 + e1 * v1 + e2 * v2


@kernel
def assemble(bodies, state, velocity, contacts, step, push_out, out):
    """Fill frames, rows of Dᵀ, biases and free velocities of the contacts (shapes, bodies, point, …).

    The last of these is what is added to the arms of both bodies (c, 2, 3), or empty.
    The bias of the normal is Φ/h, where it is negative no more than `push_out` (m/s).
    """
    shapes, pairs, point, normal, gap, shift = contacts
    for i in range(gap.shape[0]):
        n0, n1, n2 = normal[i, 0], normal[i, 1], normal[i, 2]
        a0, a1, a2, b0, b1, b2 = _tangents(n0, n1, n2)
        f = out.frame
        f[i, 0, 0], f[i, 0, 1], f[i, 0, 2] = n0, n1, n2
        f[i, 1, 0], f[i, 1, 1], f[i, 1, 2] = a0, a1, a2
        f[i, 2, 0], f[i, 2, 1], f[i, 2, 2] = b0, b1, b2
        for p in range(3):
            out.bias[i, p] = 0.0
            out.free[i, p] = 0.0
        for side in range(2):
            sign = 1.0 if side == 1 else -1.0
            body = pairs[i, side]
            if bodies.fixed[body]:
                out.bodies[i, side] = -1
                for p in range(3):
                    u = sign * _fixed_velocity(state, body, point[i], f[i, p, 0], f[i, p, 1], f[i, p, 2])
                    out.bias[i, p] += u
                    for k in range(6):
                        out.rows[i, side, p, k] = 0.0
                        out.columns[i, side, p, k] = 0.0
                continue
            out.bodies[i, side] = body
            radius = bodies.ball_radius[shapes[i, side]]
            if radius > 0.0:  # exactly along the normal, however far from the origin
                arm = -sign * (radius + 0.5 * gap[i])
                r0, r1, r2 = arm * n0, arm * n1, arm * n2
            else:
                r0 = point[i, 0] - state.position[body, 0]
                r1 = point[i, 1] - state.position[body, 1]
                r2 = point[i, 2] - state.position[body, 2]
                if shift.shape[0] > 0:
                    r0, r1, r2 = r0 + shift[i, side, 0], r1 + shift[i, side, 1], r2 + shift[i, side, 2]
            root = bodies.inverse_root_mass[body]
            r = out.rows
            c = out.columns
            for p in range(3):
                e0, e1, e2 = sign * f[i, p, 0], sign * f[i, p, 1], sign * f[i, p, 2]
                c0, c1, c2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
                if not bodies.round_body[body]:
                    c0, c1, c2 = turned_back(state.rotation, body, c0, c1, c2)
                r[i, side, p, 0], r[i, side, p, 1], r[i, side, p, 2] = e0, e1, e2
                r[i, side, p, 3], r[i, side, p, 4], r[i, side, p, 5] = c0, c1, c2
                c[i, side, p, 0], c[i, side, p, 1], c[i, side, p, 2] = root * e0, root * e1, root * e2
                c[i, side, p, 3], c[i, side, p, 4], c[i, side, p, 5] = turned(
                    bodies.inverse_lower, body, c0, c1, c2
                )
                u = e0 * velocity[body, 0] + e1 * velocity[body, 1] + e2 * velocity[body, 2]
                u += c0 * velocity[body, 3] + c1 * velocity[body, 4] + c2 * velocity[body, 5]
                out.free[i, p] += u
        out.bias[i, 0] += max(gap[i] / step, -push_out)
        for p in range(3):
            out.free[i, p] += out.bias[i, p]


@kernel
def follow_parabola(contacts, before, held):
    """Let the biases of contacts know that bodies that nothing holds fly x + h (v_before + v)/2 in the step.

    `before` (c,) are the normal velocities before the forces. A gap that such a flight leaves open is closed
    by no impulse; one that it closes is treated as ever, because bodies that touch move by h v.
    """
    for i in range(before.shape[0]):
        a, b = contacts.bodies[i, 0], contacts.bodies[i, 1]
        if (a >= 0 and held[a]) or (b >= 0 and held[b]):
            continue
        pull = contacts.free[i, 0] - contacts.bias[i, 0] - before[i]
        if pull > 0.0 or contacts.free[i, 0] - 0.5 * pull >= 0.0:
            contacts.bias[i, 0] -= 0.5 * pull
            contacts.free[i, 0] -= 0.5 * pull


@kernel
def to_components(frame, vector, out):
    """Components (n, t1, t2) of vectors in the world frame."""
    for i in range(out.shape[0]):
        for p in range(3):
            out[i, p] = (
                frame[i, p, 0] * vector[i, 0] + frame[i, p, 1] * vector[i, 1] + frame[i, p, 2] * vector[i, 2]
            )


@kernel
def to_vectors(frame, components, out):
    """Vectors in the world frame from components (n, t1, t2)."""
    for i in range(out.shape[0]):
        for k in range(3):
            out[i, k] = (
                components[i, 0] * frame[i, 0, k]
                + components[i, 1] * frame[i, 1, k]
                + components[i, 2] * frame[i, 2, k]
            )


@kernel
def impulse_numbers(impulses, velocities, weight):
    """Largest |γ_n u_n| over the contacts in J, the error of Eq. 8; and Σ |γ|²/ρ in J."""
    worst = 0.0
    squared = 0.0
    for i in range(impulses.shape[0]):
        worst = max(worst, abs(impulses[i, 0] * velocities[i, 0]))
        for k in range(3):
            squared += impulses[i, k] * impulses[i, k] / weight[i, 0]
    return worst, squared
