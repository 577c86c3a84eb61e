"""One time step on arrays: momentum of the free motion, rows of Dᵀ, and the move to the new state.

A body whose inertia is the same about every axis (`round_body`) has its angular velocity in the world frame
while a step is solved, all others in the body frame: then the contacts of spheres keep the simple form that
solvers like, and masses are the same in every step.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._jit import inlined_kernel, kernel

_NEWTON_STEPS = 10
_MOST_PARTS = 1000


class Bodies(NamedTuple):
    """What does not change: masses and their factors, M = L Lᵀ by body."""

    mass: np.ndarray  # (n,)
    inertia: np.ndarray  # (n, 3, 3)
    inverse_root_mass: np.ndarray  # (n,)
    inverse_lower: np.ndarray  # (n, 3, 3) inverse of the Cholesky factor of the inertia
    fixed: np.ndarray  # (n,) bool
    round_body: np.ndarray  # (n,) bool
    ball_radius: np.ndarray  # (shapes,) radius of spheres at the origin of their body, else 0


class State(NamedTuple):
    """Positions and velocities at the beginning of the step, and the rotation matrices that go with them."""

    position: np.ndarray  # (n, 3)
    quaternion: np.ndarray  # (n, 4)
    linear: np.ndarray  # (n, 3) world frame
    angular: np.ndarray  # (n, 3) body frame
    rotation: np.ndarray  # (n, 3, 3) body → world


class Rows(NamedTuple):
    """What `assemble` fills, for c contacts."""

    bodies: np.ndarray  # (c, 2) int64, −1 for fixed bodies
    rows: np.ndarray  # (c, 2, 3, 6) rows of Dᵀ
    columns: np.ndarray  # (c, 2, 3, 6) rows of DᵀL⁻ᵀ
    bias: np.ndarray  # (c, 3) m/s
    free: np.ndarray  # (c, 3) velocity without impulses, bias included, m/s
    frame: np.ndarray  # (c, 3, 3): n, t1, t2


@inlined_kernel
def _turned(rotation, i, x, y, z):
    """R v."""
    r = rotation
    return (
        r[i, 0, 0] * x + r[i, 0, 1] * y + r[i, 0, 2] * z,
        r[i, 1, 0] * x + r[i, 1, 1] * y + r[i, 1, 2] * z,
        r[i, 2, 0] * x + r[i, 2, 1] * y + r[i, 2, 2] * z,
    )


@inlined_kernel
def _turned_back(rotation, i, x, y, z):
    """Rᵀ v."""
    r = rotation
    return (
        r[i, 0, 0] * x + r[i, 1, 0] * y + r[i, 2, 0] * z,
        r[i, 0, 1] * x + r[i, 1, 1] * y + r[i, 2, 1] * z,
        r[i, 0, 2] * x + r[i, 1, 2] * y + r[i, 2, 2] * z,
    )


@kernel
def set_rotations(quaternion, rotation):
    """Fill the rotation matrices of unit quaternions (w, x, y, z)."""
    for i in range(quaternion.shape[0]):
        w, x, y, z = quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3]
        rotation[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
        rotation[i, 0, 1] = 2.0 * (x * y - w * z)
        rotation[i, 0, 2] = 2.0 * (x * z + w * y)
        rotation[i, 1, 0] = 2.0 * (x * y + w * z)
        rotation[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
        rotation[i, 1, 2] = 2.0 * (y * z - w * x)
        rotation[i, 2, 0] = 2.0 * (x * z - w * y)
        rotation[i, 2, 1] = 2.0 * (y * z + w * x)
        rotation[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)


@inlined_kernel
def _gyrate(inertia, i, w0, w1, w2, step):
    """Angular velocity after a step of the torque-free motion J ω' = −ω × J ω, in the body frame.

    By the implicit midpoint rule, which keeps the energy and |J ω| whatever the step: the explicit term
    of the papers feeds energy into fast rotations until they burst. Newton's method solves it, in parts
    of the step that turn the body by a quarter of a radian at most.
    """
    speed = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    parts = min(1 + int(4.0 * step * speed), _MOST_PARTS)
    h = step / parts
    for _ in range(parts):
        x0, x1, x2 = w0, w1, w2
        for _ in range(_NEWTON_STEPS):
            m0, m1, m2 = 0.5 * (w0 + x0), 0.5 * (w1 + x1), 0.5 * (w2 + x2)
            l0, l1, l2 = _turned(inertia, i, m0, m1, m2)
            f0, f1, f2 = _turned(inertia, i, x0 - w0, x1 - w1, x2 - w2)
            f0 += h * (m1 * l2 - m2 * l1)
            f1 += h * (m2 * l0 - m0 * l2)
            f2 += h * (m0 * l1 - m1 * l0)
            # derivative J + h/2 ([ω]× J − [J ω]×), solved by Cramer's rule
            g = 0.5 * h
            a00 = inertia[i, 0, 0] + g * (m1 * inertia[i, 2, 0] - m2 * inertia[i, 1, 0])
            a01 = inertia[i, 0, 1] + g * (m1 * inertia[i, 2, 1] - m2 * inertia[i, 1, 1] + l2)
            a02 = inertia[i, 0, 2] + g * (m1 * inertia[i, 2, 2] - m2 * inertia[i, 1, 2] - l1)
            a10 = inertia[i, 1, 0] + g * (m2 * inertia[i, 0, 0] - m0 * inertia[i, 2, 0] - l2)
            a11 = inertia[i, 1, 1] + g * (m2 * inertia[i, 0, 1] - m0 * inertia[i, 2, 1])
            a12 = inertia[i, 1, 2] + g * (m2 * inertia[i, 0, 2] - m0 * inertia[i, 2, 2] + l0)
            a20 = inertia[i, 2, 0] + g * (m0 * inertia[i, 1, 0] - m1 * inertia[i, 0, 0] + l1)
            a21 = inertia[i, 2, 1] + g * (m0 * inertia[i, 1, 1] - m1 * inertia[i, 0, 1] - l0)
            a22 = inertia[i, 2, 2] + g * (m0 * inertia[i, 1, 2] - m1 * inertia[i, 0, 2])
            c0, c1, c2 = a11 * a22 - a12 * a21, a12 * a20 - a10 * a22, a10 * a21 - a11 * a20
            det = a00 * c0 + a01 * c1 + a02 * c2
            d0 = (f0 * c0 + a01 * (a12 * f2 - f1 * a22) + a02 * (f1 * a21 - a11 * f2)) / det
            d1 = (a00 * (f1 * a22 - a12 * f2) + f0 * c1 + a02 * (a10 * f2 - f1 * a20)) / det
            d2 = (a00 * (a11 * f2 - f1 * a21) + a01 * (f1 * a20 - a10 * f2) + f0 * c2) / det
            x0, x1, x2 = x0 - d0, x1 - d1, x2 - d2
            if abs(d0) + abs(d1) + abs(d2) <= 1e-15 * (abs(x0) + abs(x1) + abs(x2)):
                break
        w0, w1, w2 = x0, x1, x2
    return w0, w1, w2


@kernel
def free_motion(bodies, state, force, step, momentum, velocity):
    """Momentum k = M v + h f, gyroscopic term included, and the velocity M⁻¹k; zero for fixed bodies.

    `force` (n, 6) is in N in the world frame and N·m in the body frame.
    """
    for i in range(momentum.shape[0]):
        for k in range(6):
            momentum[i, k] = 0.0
            velocity[i, k] = 0.0
        if bodies.fixed[i]:
            continue
        for k in range(3):
            momentum[i, k] = bodies.mass[i] * state.linear[i, k] + step * force[i, k]
            velocity[i, k] = momentum[i, k] / bodies.mass[i]
        w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        t0, t1, t2 = force[i, 3], force[i, 4], force[i, 5]
        if bodies.round_body[i]:
            moment = bodies.inertia[i, 0, 0]
            w0, w1, w2 = _turned(state.rotation, i, w0, w1, w2)
            t0, t1, t2 = _turned(state.rotation, i, t0, t1, t2)
            momentum[i, 3] = moment * w0 + step * t0
            momentum[i, 4] = moment * w1 + step * t1
            momentum[i, 5] = moment * w2 + step * t2
            for k in range(3, 6):
                velocity[i, k] = momentum[i, k] / moment
        else:
            w0, w1, w2 = _gyrate(bodies.inertia, i, w0, w1, w2, step)
            l0, l1, l2 = _turned(bodies.inertia, i, w0, w1, w2)
            momentum[i, 3], momentum[i, 4], momentum[i, 5] = l0 + step * t0, l1 + step * t1, l2 + step * t2
            a0, a1, a2 = _turned(bodies.inverse_lower, i, momentum[i, 3], momentum[i, 4], momentum[i, 5])
            velocity[i, 3], velocity[i, 4], velocity[i, 5] = _turned_back(bodies.inverse_lower, i, a0, a1, a2)


@kernel
def reach(bodies, state, velocity, bounding_radius, step, displacement, turn):
    """Fill the expected motion of every body in this step and the largest way of its surface by rotation."""
    for i in range(displacement.shape[0]):
        w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        for k in range(3):
            v = state.linear[i, k] if bodies.fixed[i] else velocity[i, k]
            displacement[i, k] = step * v
        if not bodies.fixed[i]:
            w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
        size = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
        turn[i] = step * size * bounding_radius[i] if size > 0.0 else 0.0


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
    w0, w1, w2 = _turned(
        state.rotation, body, state.angular[body, 0], state.angular[body, 1], state.angular[body, 2]
    )
    v0 = state.linear[body, 0] + w1 * r2 - w2 * r1
    v1 = state.linear[body, 1] + w2 * r0 - w0 * r2
    v2 = state.linear[body, 2] + w0 * r1 - w1 * r0
    return e0 * v0 + e1 * v1 + e2 * v2


@inlined_kernel
def _old_velocity(bodies, state, body, rows, i, side):
    """Velocity before the step along the normal's row of Dᵀ."""
    w0, w1, w2 = state.angular[body, 0], state.angular[body, 1], state.angular[body, 2]
    if bodies.round_body[body]:
        w0, w1, w2 = _turned(state.rotation, body, w0, w1, w2)
    v = state.linear
    linear = (
        rows[i, side, 0, 0] * v[body, 0] + rows[i, side, 0, 1] * v[body, 1] + rows[i, side, 0, 2] * v[body, 2]
    )
    return linear + rows[i, side, 0, 3] * w0 + rows[i, side, 0, 4] * w1 + rows[i, side, 0, 5] * w2


@kernel
def assemble(bodies, state, velocity, contacts, step, push_out, restitution_speed, bounce, out):
    """Fill frames, rows of Dᵀ, biases and free velocities of the contacts (shapes, bodies, point, …).

    The bias of the normal is Φ/h, where it is negative no more than `push_out` (m/s). Where a contact with
    restitution closes faster than `restitution_speed` (m/s) within this step, it is e u_n instead, with e
    reduced by `bounce`. Returns how many contacts do so.
    """
    bouncing = 0
    shapes, pairs, point, normal, gap, restitution = contacts
    for i in range(gap.shape[0]):
        n0, n1, n2 = normal[i, 0], normal[i, 1], normal[i, 2]
        a0, a1, a2, b0, b1, b2 = _tangents(n0, n1, n2)
        f = out.frame
        f[i, 0, 0], f[i, 0, 1], f[i, 0, 2] = n0, n1, n2
        f[i, 1, 0], f[i, 1, 1], f[i, 1, 2] = a0, a1, a2
        f[i, 2, 0], f[i, 2, 1], f[i, 2, 2] = b0, b1, b2
        before = 0.0
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
                    before += u if p == 0 else 0.0
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
            root = bodies.inverse_root_mass[body]
            r = out.rows
            c = out.columns
            for p in range(3):
                e0, e1, e2 = sign * f[i, p, 0], sign * f[i, p, 1], sign * f[i, p, 2]
                c0, c1, c2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
                if not bodies.round_body[body]:
                    c0, c1, c2 = _turned_back(state.rotation, body, c0, c1, c2)
                r[i, side, p, 0], r[i, side, p, 1], r[i, side, p, 2] = e0, e1, e2
                r[i, side, p, 3], r[i, side, p, 4], r[i, side, p, 5] = c0, c1, c2
                c[i, side, p, 0], c[i, side, p, 1], c[i, side, p, 2] = root * e0, root * e1, root * e2
                c[i, side, p, 3], c[i, side, p, 4], c[i, side, p, 5] = _turned(
                    bodies.inverse_lower, body, c0, c1, c2
                )
                u = e0 * velocity[body, 0] + e1 * velocity[body, 1] + e2 * velocity[body, 2]
                u += c0 * velocity[body, 3] + c1 * velocity[body, 4] + c2 * velocity[body, 5]
                out.free[i, p] += u
            before += _old_velocity(bodies, state, body, r, i, side)
        closing = gap[i] + step * (out.free[i, 0] + out.bias[i, 0]) <= 0.0
        if restitution[i] > 0.0 and closing and before < -restitution_speed:
            out.bias[i, 0] += bounce * restitution[i] * before + max(min(gap[i], 0.0) / step, -push_out)
            bouncing += 1
        else:
            out.bias[i, 0] += max(gap[i] / step, -push_out)
        for p in range(3):
            out.free[i, p] += out.bias[i, p]
    return bouncing


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
def move(bodies, state, velocity, step):
    """The new state: velocities as solved, positions by q + h T(q) v; rotations are exact for constant ω."""
    for i in range(velocity.shape[0]):
        if not bodies.fixed[i]:
            for k in range(3):
                state.linear[i, k] = velocity[i, k]
            w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
            if bodies.round_body[i]:
                w0, w1, w2 = _turned_back(state.rotation, i, w0, w1, w2)
            state.angular[i, 0], state.angular[i, 1], state.angular[i, 2] = w0, w1, w2
        w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        for k in range(3):
            state.position[i, k] += step * state.linear[i, k]
        size = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
        if size == 0.0:
            continue
        half = 0.5 * step * size
        d0, scale = math.cos(half), math.sin(half) / size
        d1, d2, d3 = scale * w0, scale * w1, scale * w2
        q = state.quaternion
        q0, q1, q2, q3 = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        p0 = q0 * d0 - q1 * d1 - q2 * d2 - q3 * d3
        p1 = q0 * d1 + q1 * d0 + q2 * d3 - q3 * d2
        p2 = q0 * d2 - q1 * d3 + q2 * d0 + q3 * d1
        p3 = q0 * d3 + q1 * d2 - q2 * d1 + q3 * d0
        norm = 1.0 / math.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p0 * norm, p1 * norm, p2 * norm, p3 * norm


@kernel
def kinetic_energy(bodies, velocity):
    """½ vᵀM v over the moving bodies in J; velocities as a step is solved with."""
    total = 0.0
    for i in range(velocity.shape[0]):
        if not bodies.fixed[i]:
            own = 0.0
            for k in range(3):
                own += bodies.mass[i] * velocity[i, k] * velocity[i, k]
                for j in range(3):
                    own += bodies.inertia[i, k, j] * velocity[i, 3 + k] * velocity[i, 3 + j]
            total += 0.5 * own
    return total


@kernel
def body_numbers(bodies, position, velocity, gravity):
    """Largest speed of the moving bodies in m/s, and their potential energy in J."""
    fastest = 0.0
    potential = 0.0
    for i in range(velocity.shape[0]):
        if not bodies.fixed[i]:
            square = velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + velocity[i, 2] ** 2
            fastest = max(fastest, square)
            for k in range(3):
                potential -= bodies.mass[i] * gravity[k] * position[i, k]
    return math.sqrt(fastest), potential


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
