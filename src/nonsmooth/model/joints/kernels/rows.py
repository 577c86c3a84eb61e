"""Rows of joints: coordinates of one body relative to another, and their exact derivatives.

A row has bodies A and B; −1 is the ground, at the origin with the world's axes. p_A and p_B are the
anchors in the world, d = p_B − p_A. Unit vectors x_A, y_A of A and x_B, y_B of B are `direction` 0 to 3.

    POINT      f₀ x_A·d                                          m
    AXES       f₀ x_A·x_B                                        cosine of an angle: rad near zero
    DISTANCE   f₀ |d|                                            m
    ANGLE      f₀ θ, the twist of B relative to A about x × y    rad
    SCREW      f₀ (x_A × y_A)·d − f₁ θ                           m; f₁ = pitch/2π
    GEAR       f₀ φ_A + f₁ φ_B                                   m; f = radii
    ANGLE_SUM  f₀ θ_A + f₁ θ_B                                   rad

θ is the angle of the swing-twist decomposition, tan θ = (x_B·y_A − y_B·x_A) / (x_B·x_A + y_B·y_A): where
the axes are parallel, that of turning about them, and else the same seen from A or from B. φ_A and φ_B are
the angles of d in the plane of x, y of A and B: tan φ = y·d / x·d. In ANGLE_SUM the directions are fixed in
the ground, and `anchor` holds instead a unit vector e of each body: tan θ_A = e_A·y_A / e_A·x_A.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth._support.kernels.rotations import set_rotation, turned, turned_back

POINT, AXES, DISTANCE, ANGLE, SCREW, GEAR, ANGLE_SUM = range(7)

_FULL = 2.0 * math.pi


class RowTable(NamedTuple):
    """What the rows are, in body frames; see the module."""

    kind: np.ndarray  # (r,) int64
    bodies: np.ndarray  # (r, 2) int64; −1 is the ground
    anchor: np.ndarray  # (r, 2, 3) m, of A and B
    direction: np.ndarray  # (r, 4, 3) unit vectors: two of A, two of B
    factor: np.ndarray  # (r, 2)


@inlined_kernel
def _to_world(rotation, body, x, y, z):
    """R v; the ground has the world's axes."""
    if body < 0:
        return x, y, z
    return turned(rotation, body, x, y, z)


@inlined_kernel
def _direction(table, rotation, r, k):
    """Direction k of a row in the world."""
    v = table.direction
    return _to_world(rotation, table.bodies[r, k // 2], v[r, k, 0], v[r, k, 1], v[r, k, 2])


@inlined_kernel
def _gap(table, position, rotation, r):
    """d = p_B − p_A in the world."""
    a, b, anchor = table.bodies[r, 0], table.bodies[r, 1], table.anchor
    ax, ay, az = _to_world(rotation, a, anchor[r, 0, 0], anchor[r, 0, 1], anchor[r, 0, 2])
    bx, by, bz = _to_world(rotation, b, anchor[r, 1, 0], anchor[r, 1, 1], anchor[r, 1, 2])
    dx, dy, dz = bx - ax, by - ay, bz - az
    if a >= 0:
        dx, dy, dz = dx - position[a, 0], dy - position[a, 1], dz - position[a, 2]
    if b >= 0:
        dx, dy, dz = dx + position[b, 0], dy + position[b, 1], dz + position[b, 2]
    return dx, dy, dz


@inner_kernel
def _add_push(table, rotation, r, x, y, z, rows):
    """Add u·δd of a vector u = (x, y, z) of the world that does not turn."""
    for side in range(2):
        body = table.bodies[r, side]
        if body < 0:
            continue
        sign = 2.0 * side - 1.0
        u, v, w = turned_back(rotation, body, sign * x, sign * y, sign * z)
        sx, sy, sz = table.anchor[r, side, 0], table.anchor[r, side, 1], table.anchor[r, side, 2]
        rows[r, side, 0] += sign * x
        rows[r, side, 1] += sign * y
        rows[r, side, 2] += sign * z
        rows[r, side, 3] += sy * w - sz * v
        rows[r, side, 4] += sz * u - sx * w
        rows[r, side, 5] += sx * v - sy * u


@inner_kernel
def _add_turn(table, rotation, r, side, own, x, y, z, rows):
    """Add δe·u of a vector e = `own` (3,) of the body on that side; u = (x, y, z) does not turn."""
    body = table.bodies[r, side]
    if body < 0:
        return
    u, v, w = turned_back(rotation, body, x, y, z)
    rows[r, side, 3] += own[1] * w - own[2] * v
    rows[r, side, 4] += own[2] * u - own[0] * w
    rows[r, side, 5] += own[0] * v - own[1] * u


@inner_kernel
def _add_axes(table, rotation, r, i, j, weight, rows):
    """Add weight · δ(e·f) of direction e = i of A and f = j of B."""
    x, y, z = _direction(table, rotation, r, j)
    _add_turn(table, rotation, r, 0, table.direction[r, i], weight * x, weight * y, weight * z, rows)
    x, y, z = _direction(table, rotation, r, i)
    _add_turn(table, rotation, r, 1, table.direction[r, j], weight * x, weight * y, weight * z, rows)


@inner_kernel
def _add_along(table, rotation, r, k, gap, weight, rows):
    """Add weight · δ(e·d) of direction e = k."""
    x, y, z = _direction(table, rotation, r, k)
    _add_push(table, rotation, r, weight * x, weight * y, weight * z, rows)
    x, y, z = weight * gap[0], weight * gap[1], weight * gap[2]
    _add_turn(table, rotation, r, k // 2, table.direction[r, k], x, y, z, rows)


@inlined_kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined_kernel
def _unwrapped(sine, cosine, near):
    """The angle nearest to `near`, and its derivatives by sine and cosine.

    Where both are zero there is no angle: the old one stays, and nothing changes it.
    """
    square = sine * sine + cosine * cosine
    if square == 0.0:
        return near, 0.0, 0.0
    angle = math.atan2(sine, cosine)
    angle += _FULL * math.floor((near - angle) / _FULL + 0.5)
    return angle, cosine / square, -sine / square


@inner_kernel
def _add_twist(table, rotation, r, near, weight, rows):
    """Return θ, and add weight · δθ."""
    xa, ya = _direction(table, rotation, r, 0), _direction(table, rotation, r, 1)
    xb, yb = _direction(table, rotation, r, 2), _direction(table, rotation, r, 3)
    sine, cosine = _dot(xb, ya) - _dot(yb, xa), _dot(xb, xa) + _dot(yb, ya)
    angle, by_sine, by_cosine = _unwrapped(sine, cosine, near)
    _add_axes(table, rotation, r, 1, 2, weight * by_sine, rows)
    _add_axes(table, rotation, r, 0, 3, -weight * by_sine, rows)
    _add_axes(table, rotation, r, 0, 2, weight * by_cosine, rows)
    _add_axes(table, rotation, r, 1, 3, weight * by_cosine, rows)
    return angle


@inner_kernel
def _add_line_angle(table, rotation, r, side, gap, near, weight, rows):
    """Return φ of that side, and add weight · δφ."""
    x, y = _direction(table, rotation, r, 2 * side), _direction(table, rotation, r, 2 * side + 1)
    angle, by_sine, by_cosine = _unwrapped(_dot(y, gap), _dot(x, gap), near)
    _add_along(table, rotation, r, 2 * side + 1, gap, weight * by_sine, rows)
    _add_along(table, rotation, r, 2 * side, gap, weight * by_cosine, rows)
    return angle


@inner_kernel
def _add_own_angle(table, rotation, r, side, near, weight, rows):
    """Return θ of that side's body relative to the ground, and add weight · δθ."""
    own, ground = table.anchor[r, side], table.direction[r]
    e = _to_world(rotation, table.bodies[r, side], own[0], own[1], own[2])
    x, y = ground[2 * side], ground[2 * side + 1]
    angle, by_sine, by_cosine = _unwrapped(_dot(y, e), _dot(x, e), near)
    s, c = weight * by_sine, weight * by_cosine
    vx, vy, vz = s * y[0] + c * x[0], s * y[1] + c * x[1], s * y[2] + c * x[2]
    _add_turn(table, rotation, r, side, own, vx, vy, vz, rows)
    return angle


@kernel
def evaluate(table, position, rotation, near, value, angle, rows):
    """Fill the coordinates of all rows and their derivatives, exact also where a joint is open.

    `position` (n, 3) in m and `rotation` (n, 3, 3), body to world, are of all bodies; `near` (r, 2) holds
    angles in rad. Filled are `value` (r,) in m or rad; `angle` (r, 2), the row's angles by whole turns
    nearest to `near`, zero where it has none; and `rows` (r, 2, 6), the derivatives by the motion of A and
    B: linear in the world frame, angular in the BODY frame; zero for the ground.
    """
    factor, gap = table.factor, (0.0, 0.0, 0.0)
    for r in range(table.kind.shape[0]):
        kind, f0, f1 = table.kind[r], factor[r, 0], factor[r, 1]
        angle[r, 0], angle[r, 1] = 0.0, 0.0
        rows[r] = 0.0
        if kind in (POINT, DISTANCE, SCREW, GEAR):
            gap = _gap(table, position, rotation, r)
        if kind == POINT:
            value[r] = f0 * _dot(_direction(table, rotation, r, 0), gap)
            _add_along(table, rotation, r, 0, gap, f0, rows)
        elif kind == AXES:
            value[r] = f0 * _dot(_direction(table, rotation, r, 0), _direction(table, rotation, r, 2))
            _add_axes(table, rotation, r, 0, 2, f0, rows)
        elif kind == DISTANCE:
            length = math.sqrt(_dot(gap, gap))
            value[r] = f0 * length
            if length > 0.0:
                x, y, z = gap[0] / length, gap[1] / length, gap[2] / length
            else:  # any direction: the length grows whatever way the points part
                x, y, z = _direction(table, rotation, r, 0)
            _add_push(table, rotation, r, f0 * x, f0 * y, f0 * z, rows)
        elif kind == ANGLE:
            angle[r, 0] = _add_twist(table, rotation, r, near[r, 0], f0, rows)
            value[r] = f0 * angle[r, 0]
        elif kind == SCREW:
            angle[r, 0] = _add_twist(table, rotation, r, near[r, 0], -f1, rows)
            x, y = table.direction[r, 0], table.direction[r, 1]
            axis = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
            along = _to_world(rotation, table.bodies[r, 0], axis[0], axis[1], axis[2])
            value[r] = f0 * _dot(along, gap) - f1 * angle[r, 0]
            _add_push(table, rotation, r, f0 * along[0], f0 * along[1], f0 * along[2], rows)
            _add_turn(table, rotation, r, 0, axis, f0 * gap[0], f0 * gap[1], f0 * gap[2], rows)
        elif kind == GEAR:
            angle[r, 0] = _add_line_angle(table, rotation, r, 0, gap, near[r, 0], f0, rows)
            angle[r, 1] = _add_line_angle(table, rotation, r, 1, gap, near[r, 1], f1, rows)
            value[r] = f0 * angle[r, 0] + f1 * angle[r, 1]
        else:
            angle[r, 0] = _add_own_angle(table, rotation, r, 0, near[r, 0], f0, rows)
            angle[r, 1] = _add_own_angle(table, rotation, r, 1, near[r, 1], f1, rows)
            value[r] = f0 * angle[r, 0] + f1 * angle[r, 1]


@kernel
def add_turns(table, position, rotation, linear, angular, step, rows, angle):
    """Add to the rows' angles (r, 2) what they change by at the present velocities in a time `step` (s).

    Velocities (n, 3) are linear in the world frame and angular in the body frame; `rows` (r, 2, 6) is room.
    """
    for r in range(table.kind.shape[0]):
        kind = table.kind[r]
        for k in range(1 if kind in (ANGLE, SCREW) else 2):
            rows[r] = 0.0
            if kind in (ANGLE, SCREW):
                _add_twist(table, rotation, r, 0.0, 1.0, rows)
            elif kind == GEAR:
                _add_line_angle(table, rotation, r, k, _gap(table, position, rotation, r), 0.0, 1.0, rows)
            elif kind == ANGLE_SUM:
                _add_own_angle(table, rotation, r, k, 0.0, 1.0, rows)
            else:
                continue
            for side in range(2):
                body = table.bodies[r, side]
                if body >= 0:
                    for i in range(3):
                        angle[r, k] += step * rows[r, side, i] * linear[body, i]
                        angle[r, k] += step * rows[r, side, 3 + i] * angular[body, i]


@kernel
def set_rotations(bodies, quaternion, rotation):
    """Fill the rotation matrices of the bodies (r, 2) that rows refer to; those of all others stay."""
    for r in range(bodies.shape[0]):
        for side in range(2):
            i = bodies[r, side]
            if i >= 0:
                set_rotation(quaternion, rotation, i)


@kernel
def rates(bodies, rows, linear, angular, rate):
    """Fill how fast the coordinates change (r,), in m/s or rad/s: the derivatives times the velocities."""
    for r in range(bodies.shape[0]):
        total = 0.0
        for side in range(2):
            body = bodies[r, side]
            if body >= 0:
                for k in range(3):
                    total += rows[r, side, k] * linear[body, k] + rows[r, side, 3 + k] * angular[body, k]
        rate[r] = total


@kernel
def add_forces(bodies, rows, force, fixed, total):
    """Add forces (r,) on the coordinates, in N or N·m, to `total` (n, 6) of the bodies that are not fixed."""
    for r in range(bodies.shape[0]):
        for side in range(2):
            body = bodies[r, side]
            if body >= 0 and not fixed[body]:
                for k in range(6):
                    total[body, k] += force[r] * rows[r, side, k]
