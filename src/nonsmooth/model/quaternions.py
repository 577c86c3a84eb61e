"""Rotations as unit quaternions (w, x, y, z), which take body coordinates to world coordinates.

All functions take one quaternion (4,) or many (..., 4), and broadcast over the leading axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def normalise(quaternion: ArrayLike) -> Floats:
    """Return the quaternions at unit length; a zero quaternion is an error."""
    return _unit(quaternion, "a quaternion is zero or not finite: use (1, 0, 0, 0) for no rotation")


def product(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return a ∘ b, the rotation that first does b and then a."""
    a0, a1, a2, a3 = np.moveaxis(np.asarray(a, dtype=np.float64), -1, 0)
    b0, b1, b2, b3 = np.moveaxis(np.asarray(b, dtype=np.float64), -1, 0)
    return np.stack(
        [
            a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
            a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
            a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1,
            a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0,
        ],
        axis=-1,
    )


def conjugate(quaternion: ArrayLike) -> Floats:
    """Return the inverse rotation of a unit quaternion: world to body."""
    return np.asarray(np.asarray(quaternion, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(quaternion: ArrayLike, vector: ArrayLike) -> Floats:
    """Return body vectors (..., 3) in world coordinates."""
    q, v = np.asarray(quaternion, dtype=np.float64), np.asarray(vector, dtype=np.float64)
    axis = q[..., 1:]
    twice = 2.0 * np.cross(axis, v)
    return np.asarray(v + q[..., :1] * twice + np.cross(axis, twice))


def rotate_back(quaternion: ArrayLike, vector: ArrayLike) -> Floats:
    """Return world vectors (..., 3) in body coordinates."""
    return rotate(conjugate(quaternion), vector)


def matrix(quaternion: ArrayLike) -> Floats:
    """Return rotation matrices (..., 3, 3), whose columns are the body's axes in world coordinates."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=np.float64), -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return the rotation by `angle` (rad) about `axis` (any nonzero length), right-handed."""
    direction = _unit(axis, "the axis of a rotation is zero or not finite: give its direction, as (0, 0, 1)")
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    q = direction * np.sin(half)
    return np.concatenate([np.broadcast_to(np.cos(half), (*q.shape[:-1], 1)), q], axis=-1)


def from_rotation_vector(vector: ArrayLike) -> Floats:
    """Return the rotation by |vector| (rad) about the vector's direction; zero is no rotation."""
    v = np.asarray(vector, dtype=np.float64)
    half = 0.5 * np.sqrt(np.sum(v * v, axis=-1, keepdims=True))
    # np.sinc(x) = sin(πx)/(πx) is smooth at zero, where sin(half)/half is not defined.
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * v], axis=-1)


def between(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the shortest rotation that turns the direction of `a` (3,) into that of `b` (3,)."""
    fault = "a direction is zero or not finite: give a nonzero vector"
    start, end = _unit(a, fault), _unit(b, fault)
    middle = start + end
    size = np.linalg.norm(middle)
    if size < 1e-8:  # opposite: half a turn about any perpendicular axis
        across = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        return from_axis_angle(across, np.pi)
    middle = middle / size
    return normalise(np.concatenate([[start @ middle], np.cross(start, middle)]))


def _unit(vector: ArrayLike, fault: str) -> Floats:
    v = np.asarray(vector, dtype=np.float64)
    largest = np.max(np.abs(v), axis=-1, keepdims=True)  # first, so that no square over- or underflows
    if not np.all((largest > 0.0) & np.isfinite(largest)):
        raise ProblemError(fault)
    scaled = v / largest
    return np.asarray(scaled / np.sqrt(np.sum(scaled * scaled, axis=-1, keepdims=True)))
