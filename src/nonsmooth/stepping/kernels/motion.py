"""Bodies in motion on arrays: momentum and velocity without contacts, the move to a new state, energies.

A body whose inertia is the same about every axis (`round_body`) has its angular velocity in the world frame
while a step is solved, all others in the body frame: then the contacts of spheres keep the simple form that
solvers like, and masses are the same in every step.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth._support.kernels.rotations import set_rotation, turned, turned_back

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


@kernel
def set_rotations(quaternion, rotation):
    """Fill the rotation matrices of unit quaternions (w, x, y, z)."""
    for i in range(quaternion.shape[0]):
        set_rotation(quaternion, rotation, i)


@inlined_kernel
def _parts(w0, w1, w2, step):
    """Parts of a step in each of which a body turns by a quarter of a radian at most."""
    return min(1 + int(4.0 * step * math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)), _MOST_PARTS)


@inlined_kernel
def _gyrate(inertia, i, w0, w1, w2, h):
    """Angular velocity after a time h of the torque-free motion J ω' = −ω × J ω, in the body frame.

    By the implicit midpoint rule, which keeps the energy and |J ω| whatever the step: the explicit term
    of the papers feeds energy into fast rotations until they burst. Newton's method solves it.
    """
    x0, x1, x2 = w0, w1, w2
    for _ in range(_NEWTON_STEPS):
        m0, m1, m2 = 0.5 * (w0 + x0), 0.5 * (w1 + x1), 0.5 * (w2 + x2)
        l0, l1, l2 = turned(inertia, i, m0, m1, m2)
        f0, f1, f2 = turned(inertia, i, x0 - w0, x1 - w1, x2 - w2)
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
    return x0, x1, x2


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
            w0, w1, w2 = turned(state.rotation, i, w0, w1, w2)
            t0, t1, t2 = turned(state.rotation, i, t0, t1, t2)
            momentum[i, 3] = moment * w0 + step * t0
            momentum[i, 4] = moment * w1 + step * t1
            momentum[i, 5] = moment * w2 + step * t2
            for k in range(3, 6):
                velocity[i, k] = momentum[i, k] / moment
        else:
            parts = _parts(w0, w1, w2, step)
            for _ in range(parts):
                w0, w1, w2 = _gyrate(bodies.inertia, i, w0, w1, w2, step / parts)
            l0, l1, l2 = turned(bodies.inertia, i, w0, w1, w2)
            momentum[i, 3], momentum[i, 4], momentum[i, 5] = l0 + step * t0, l1 + step * t1, l2 + step * t2
            a0, a1, a2 = turned(bodies.inverse_lower, i, momentum[i, 3], momentum[i, 4], momentum[i, 5])
            velocity[i, 3], velocity[i, 4], velocity[i, 5] = turned_back(bodies.inverse_lower, i, a0, a1, a2)


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


@kernel
def ways(bodies, state, velocity, radius, step, displacement, rotation, turn):
    """Fill the ways of all bodies in a step, the vectors that they turn by, in the world frame, and how far
    that moves points at their `radius`.
    """
    for i in range(displacement.shape[0]):
        fixed = bodies.fixed[i]
        for k in range(3):
            displacement[i, k] = step * (state.linear[i, k] if fixed else velocity[i, k])
        w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        if not fixed:
            w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
        if fixed or not bodies.round_body[i]:
            w0, w1, w2 = turned(state.rotation, i, w0, w1, w2)
        rotation[i, 0], rotation[i, 1], rotation[i, 2] = step * w0, step * w1, step * w2
        size = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
        turn[i] = step * size * radius[i] if size > 0.0 else 0.0


@inlined_kernel
def _turn(quaternion, i, w0, w1, w2, step):
    """Turn body i by the constant angular velocity ω (body frame) for a time `step`, exactly."""
    size = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if size > 0.0:
        half = 0.5 * step * size
        d0, scale = math.cos(half), math.sin(half) / size
        d1, d2, d3 = scale * w0, scale * w1, scale * w2
        q = quaternion
        q0, q1, q2, q3 = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        p0 = q0 * d0 - q1 * d1 - q2 * d2 - q3 * d3
        p1 = q0 * d1 + q1 * d0 + q2 * d3 - q3 * d2
        p2 = q0 * d2 - q1 * d3 + q2 * d0 + q3 * d1
        p3 = q0 * d3 + q1 * d2 - q2 * d1 + q3 * d0
        norm = 1.0 / math.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p0 * norm, p1 * norm, p2 * norm, p3 * norm


@kernel
def move(bodies, state, velocity, step):
    """The new state: velocities as solved, positions by q + h T(q) v; rotations are exact for constant ω.

    `step` (n,) is the time that each body moves for.
    """
    take_velocity(bodies, state, velocity)
    for i in range(velocity.shape[0]):
        for k in range(3):
            state.position[i, k] += step[i] * state.linear[i, k]
        w = state.angular[i]
        _turn(state.quaternion, i, w[0], w[1], w[2], step[i])


@kernel
def move_and_tell(bodies, state, before, free, velocity, flying, force, step):
    """Move as `move` does, but bodies that are `flying` by x + h (v_before + v)/2; returns the flight's work.

    That way is exact where the force on a body does not change. `step` (n,) is the time that each body moves
    for. The work in J is what the impulses of the forces (n, 6) give, from the velocities `before` to the
    `free` ones, less what the forces do along the way that the bodies go: by half-implicit Euler −½ m a² h²
    for a body in free flight, and nothing where it is `flying`. A body that rests has +½ m a² h², which the
    contacts take out again.
    """
    take_velocity(bodies, state, velocity)
    work = 0.0
    for i in range(velocity.shape[0]):
        own = 0.0
        for k in range(3):
            way = step[i] * state.linear[i, k]
            if flying[i]:
                way = 0.5 * step[i] * (before[i, k] + state.linear[i, k])
            state.position[i, k] += way
            own += 0.5 * bodies.mass[i] * (free[i, k] - before[i, k]) * (free[i, k] + before[i, k])
            own -= force[i, k] * way
        w = state.angular[i]
        _turn(state.quaternion, i, w[0], w[1], w[2], step[i])
        for k in range(3):
            own -= step[i] * force[i, 3 + k] * w[k]
            for j in range(3):
                now, was = free[i, 3 + k] * free[i, 3 + j], before[i, 3 + k] * before[i, 3 + j]
                own += 0.5 * bodies.inertia[i, k, j] * (now - was)
        if not bodies.fixed[i]:
            work += own
    return work


@kernel
def displace(bodies, state, way):
    """Move the bodies by `way` (n, 6), in m and rad, in the frames that a step is solved in."""
    for i in range(way.shape[0]):
        if bodies.fixed[i]:
            continue
        for k in range(3):
            state.position[i, k] += way[i, k]
        w0, w1, w2 = way[i, 3], way[i, 4], way[i, 5]
        if bodies.round_body[i]:
            w0, w1, w2 = turned_back(state.rotation, i, w0, w1, w2)
        _turn(state.quaternion, i, w0, w1, w2, 1.0)


@kernel
def drift(bodies, state, velocity, step):
    """Let the bodies fly free of all forces, to second order: positions change, and ω by the gyroscopic term.

    `velocity` (n, 6), in the frames that a step is solved in, is what it is at the end. Fixed bodies move as
    prescribed.
    """
    for i in range(velocity.shape[0]):
        w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
        if bodies.fixed[i]:
            w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        for k in range(3):
            v = state.linear[i, k] if bodies.fixed[i] else velocity[i, k]
            state.position[i, k] += step * v
        if bodies.fixed[i] or bodies.round_body[i]:
            if bodies.round_body[i] and not bodies.fixed[i]:
                w0, w1, w2 = turned_back(state.rotation, i, w0, w1, w2)
            _turn(state.quaternion, i, w0, w1, w2, step)
            continue
        parts = _parts(w0, w1, w2, step)
        for _ in range(parts):
            x0, x1, x2 = _gyrate(bodies.inertia, i, w0, w1, w2, step / parts)
            _turn(state.quaternion, i, 0.5 * (w0 + x0), 0.5 * (w1 + x1), 0.5 * (w2 + x2), step / parts)
            w0, w1, w2 = x0, x1, x2
        velocity[i, 3], velocity[i, 4], velocity[i, 5] = w0, w1, w2


@kernel
def take_velocity(bodies, state, velocity):
    """Give the state of the moving bodies the velocities (n, 6) that a step was solved for."""
    for i in range(velocity.shape[0]):
        if bodies.fixed[i]:
            continue
        for k in range(3):
            state.linear[i, k] = velocity[i, k]
        w0, w1, w2 = velocity[i, 3], velocity[i, 4], velocity[i, 5]
        if bodies.round_body[i]:
            w0, w1, w2 = turned_back(state.rotation, i, w0, w1, w2)
        state.angular[i, 0], state.angular[i, 1], state.angular[i, 2] = w0, w1, w2


@kernel
def step_velocity(bodies, state, velocity):
    """Fill `velocity` (n, 6) with the state's, in the frames that a step is solved in; zero where fixed."""
    for i in range(velocity.shape[0]):
        w0, w1, w2 = state.angular[i, 0], state.angular[i, 1], state.angular[i, 2]
        if bodies.round_body[i]:
            w0, w1, w2 = turned(state.rotation, i, w0, w1, w2)
        moving = 0.0 if bodies.fixed[i] else 1.0
        for k in range(3):
            velocity[i, k] = moving * state.linear[i, k]
        velocity[i, 3], velocity[i, 4], velocity[i, 5] = moving * w0, moving * w1, moving * w2


@kernel
def kick(bodies, state, force, step, velocity):
    """v += h M⁻¹f for the moving bodies, without the gyroscopic term; `force` (n, 6) as in `free_motion`."""
    for i in range(velocity.shape[0]):
        if bodies.fixed[i]:
            continue
        for k in range(3):
            velocity[i, k] += step * force[i, k] / bodies.mass[i]
        t0, t1, t2 = force[i, 3], force[i, 4], force[i, 5]
        if bodies.round_body[i]:
            t0, t1, t2 = turned(state.rotation, i, t0, t1, t2)
        a0, a1, a2 = turned(bodies.inverse_lower, i, t0, t1, t2)
        b0, b1, b2 = turned_back(bodies.inverse_lower, i, a0, a1, a2)
        velocity[i, 3] += step * b0
        velocity[i, 4] += step * b1
        velocity[i, 5] += step * b2


@kernel
def momentum_of(bodies, velocity, momentum):
    """M v by body; zero where fixed."""
    for i in range(velocity.shape[0]):
        moving = 0.0 if bodies.fixed[i] else 1.0
        for k in range(3):
            momentum[i, k] = moving * bodies.mass[i] * velocity[i, k]
        l0, l1, l2 = turned(bodies.inertia, i, velocity[i, 3], velocity[i, 4], velocity[i, 5])
        momentum[i, 3], momentum[i, 4], momentum[i, 5] = moving * l0, moving * l1, moving * l2


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
