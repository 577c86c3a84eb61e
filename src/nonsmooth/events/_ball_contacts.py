"""Contacts of free bodies as arrays: balls on planes and balls on balls, with gaps, directions and drifts.

A ball is a sphere, the end of a capsule, or with radius zero the corner of a box. It belongs to body B of its
contact; a plane or another ball belongs to body A. The normal n points from A to B, so that a force λ_N ≥ 0
pushes B along n and A against it.

    γ = E ((v_B + ω_B × r_B) − (v_A + ω_A × r_A))        rows of E: n, t1, t2 = n × t1
    γ̇ = E ((v̇_B + ω̇_B × r_B) − …) + ζ
    ζ = E (ω_B × ṙ_B − ω_A × ṙ_A) + Ė ((v_B + ω_B × r_B) − …)

The arms r lead from the centres of mass to the nearest points of the two surfaces; γ_T is the relative
velocity of the material there, while ṙ is the rate of change of the arm. Vectors are in the world
frame; since u holds ω in the body's frame and R ω̇ is its derivative in the world frame, ω̇ = 0 in both at
once, and ζ is the part of γ̇ that does not come from u̇. SI units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.events._latest import latest
from nonsmooth.model import quaternions
from nonsmooth.model.system import System

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])

_POLES = np.array([[x * 0.48, y * 0.60, 0.64] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
"""Unit vectors away from the coordinate planes, in which motions often stay."""


def cross(a: Floats, b: Floats) -> Floats:
    """a × b (…, 3); for few rows much faster than NumPy's."""
    return np.asarray(a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT])


class Places(NamedTuple):
    """Positions and orientations of all bodies of a system."""

    centre: Floats
    """(n, 3) in m."""
    turn: Floats
    """(n, 3, 3) rotation matrices, body to world."""


class Motions(NamedTuple):
    """Velocities of all bodies of a system in the world frame."""

    linear: Floats
    """(n, 3) in m/s."""
    angular: Floats
    """(n, 3) in rad/s."""


class BodyStates:
    """Positions and motions of all bodies from coordinates q and velocities u of the moving bodies.

    Fixed bodies move with their given velocities, which are constant.
    """

    def __init__(self, system: System) -> None:
        self.moving = np.flatnonzero(~system.fixed)
        self._position, self._quaternion = system.position.copy(), system.quaternion.copy()
        self._linear, self._spin = system.linear_velocity.copy(), system.angular_velocity.copy()
        self._linear[self.moving] = self._spin[self.moving] = 0.0
        self.driven = np.any(self._linear, axis=1) | np.any(self._spin, axis=1)
        """Mask (n,) of the fixed bodies that move."""
        self.pose = latest(self._pose)
        """pose(q, t): positions (n, 3) in m and unit quaternions (n, 4) at time t (s)."""
        self.places = latest(self._places)
        """places(q, t): the same as `Places`."""

    def _pose(self, q: Floats, t: float) -> tuple[Floats, Floats]:
        rows = q.reshape(-1, 7)
        position, quaternion = self._position + t * self._linear, self._quaternion.copy()
        position[self.moving] = rows[:, :3]
        # Integration keeps the norm of a quaternion only to its tolerance: nothing here depends on it.
        quaternion[self.moving] = quaternions.normalise(rows[:, 3:])
        if self.driven.any():
            turned = quaternions.from_rotation_vector(t * self._spin[self.driven])
            quaternion[self.driven] = quaternions.product(self._quaternion[self.driven], turned)
        return position, quaternion

    def _places(self, q: Floats, t: float) -> Places:
        position, quaternion = self.pose(q, t)
        return Places(position, quaternions.matrix(quaternion))

    def velocities(self, u: Floats) -> tuple[Floats, Floats]:
        """Linear velocities (n, 3) in m/s, world frame, and angular ones (n, 3) in rad/s, body frame."""
        rows = u.reshape(-1, 6)
        linear, spin = self._linear.copy(), self._spin.copy()
        linear[self.moving], spin[self.moving] = rows[:, :3], rows[:, 3:]
        return linear, spin

    def motions(self, u: Floats, places: Places) -> Motions:
        """Velocities of all bodies."""
        linear, spin = self.velocities(u)
        return Motions(linear, np.einsum("nij,nj->ni", places.turn, spin))


class Geometry(NamedTuple):
    """Gaps and axes of c contacts."""

    gap: Floats
    """(c,) in m."""
    axes: Floats
    """(c, 3, 3) E: rows n, t1, t2."""
    arm_a: Floats
    """(c, 3) r_A in m."""
    arm_b: Floats
    """(c, 3) r_B in m."""


class Rates(NamedTuple):
    """Rates of a `Geometry`."""

    axes: Floats
    """(c, 3, 3) Ė."""
    arm_a: Floats
    """(c, 3) ṙ_A in m/s."""
    arm_b: Floats
    """(c, 3) ṙ_B in m/s."""


@dataclass(frozen=True, eq=False)
class Contacts(ABC):
    """c contacts of one kind.

    Args:
        a: (c,) body A.
        b: (c,) body B.
        ball: (c, 3) centre of the ball in B's frame, in m.
        radius: (c,) of that ball, in m.
    """

    a: Integers
    b: Integers
    ball: Floats
    radius: Floats

    @abstractmethod
    def geometry(self, at: Places) -> Geometry:
        """Gaps, axes and arms."""

    @abstractmethod
    def rates(self, at: Places, motion: Motions, now: Geometry) -> Rates:
        """Rates of axes and arms."""

    def velocity(self, motion: Motions, now: Geometry) -> Floats:
        """Velocity (c, 3) of B's surface relative to A's at the contact, in m/s."""
        own = motion.linear[self.b] + cross(motion.angular[self.b], now.arm_b)
        other = motion.linear[self.a] + cross(motion.angular[self.a], now.arm_a)
        return np.asarray(own - other)

    def drift(self, at: Places, motion: Motions, now: Geometry) -> Floats:
        """(ζ_N, ζ_T) (c, 3) in m/s²."""
        rates = self.rates(at, motion, now)
        carried = cross(motion.angular[self.b], rates.arm_b) - cross(motion.angular[self.a], rates.arm_a)
        return _along(now.axes, carried) + _along(rates.axes, self.velocity(motion, now))

    def rows(self, at: Places, now: Geometry, moving: Integers) -> Floats:
        """[w_N W_T] (c, 6 m, 3) over the velocities u of the m moving bodies."""
        total = np.zeros((len(self.a), 6 * len(moving), 3))
        row = np.full(len(at.centre), -1)
        row[moving] = np.arange(len(moving))
        for bodies, arm, sign in ((self.b, now.arm_b, 1.0), (self.a, now.arm_a, -1.0)):
            turning = np.einsum("cej,cjk->cek", cross(arm[:, None, :], now.axes), at.turn[bodies])
            both = sign * np.concatenate([now.axes, turning], axis=2).transpose(0, 2, 1)
            for contact, body in enumerate(row[bodies]):
                if body >= 0:
                    total[contact, 6 * body : 6 * body + 6] += both[contact]
        return total


@dataclass(frozen=True, eq=False)
class OnPlanes(Contacts):
    """Balls on planes.

    Args:
        origin: (c, 3) a point of the plane in A's frame, in m.
        frame: (c, 3, 3) rows n, t1, t2 in A's frame: the tangents turn with A.
    """

    origin: Floats
    frame: Floats

    def geometry(self, at: Places) -> Geometry:
        """Gaps, axes and arms."""
        axes = np.einsum("cej,cij->cei", self.frame, at.turn[self.a])
        normal = axes[:, 0]
        arm = _turned(at.turn[self.b], self.ball)
        centre = at.centre[self.b] + arm - at.centre[self.a]  # relative to A
        height = centre - _turned(at.turn[self.a], self.origin)
        deep = self.radius[:, None] * normal
        return Geometry(_dot(normal, height) - self.radius, axes, centre - deep, arm - deep)

    def rates(self, at: Places, motion: Motions, now: Geometry) -> Rates:
        """Rates of axes and arms."""
        spin_a, spin_b = motion.angular[self.a], motion.angular[self.b]
        axes = cross(spin_a[:, None, :], now.axes)
        deep = self.radius[:, None] * axes[:, 0]
        turned = cross(spin_b, _turned(at.turn[self.b], self.ball))
        apart = motion.linear[self.b] - motion.linear[self.a]
        return Rates(axes, apart + turned - deep, turned - deep)


@dataclass(frozen=True, eq=False)
class OnBalls(Contacts):
    """Balls on balls.

    The tangents are functions of the normal alone: those of a pole k, reflected by the reflection that maps
    k to −n. That is smooth except at n = −k; every choice has such a point.

    Args:
        other: (c, 3) centre of A's ball in A's frame, in m.
        other_radius: (c,) in m.
        pole: (c, 3, 3) rows k, t1, t2.
    """

    other: Floats
    other_radius: Floats
    pole: Floats

    def geometry(self, at: Places) -> Geometry:
        """Gaps, axes and arms."""
        arm_a, arm_b = _turned(at.turn[self.a], self.other), _turned(at.turn[self.b], self.ball)
        across = at.centre[self.b] + arm_b - at.centre[self.a] - arm_a
        distance = np.sqrt(_dot(across, across))
        normal = across / distance[:, None]
        mirror = self.pole[:, 0] + normal
        size = _dot(mirror, mirror)[:, None, None]
        share = np.einsum("cej,cj->ce", self.pole[:, 1:], mirror)[:, :, None]
        tangents = self.pole[:, 1:] - 2.0 * share * mirror[:, None, :] / size
        return Geometry(
            distance - self.radius - self.other_radius,
            np.concatenate([normal[:, None, :], tangents], axis=1),
            arm_a + self.other_radius[:, None] * normal,
            arm_b - self.radius[:, None] * normal,
        )

    def rates(self, at: Places, motion: Motions, now: Geometry) -> Rates:
        """Rates of axes and arms."""
        spin_a, spin_b = motion.angular[self.a], motion.angular[self.b]
        turned_a = cross(spin_a, _turned(at.turn[self.a], self.other))
        turned_b = cross(spin_b, _turned(at.turn[self.b], self.ball))
        apart = motion.linear[self.b] + turned_b - motion.linear[self.a] - turned_a
        normal = now.axes[:, 0]
        distance = now.gap + self.radius + self.other_radius
        rate = (apart - _dot(normal, apart)[:, None] * normal) / distance[:, None]
        mirror = self.pole[:, 0] + normal
        size = _dot(mirror, mirror)[:, None, None]
        share = np.einsum("cej,cj->ce", self.pole[:, 1:], mirror)[:, :, None]
        change = np.einsum("cej,cj->ce", self.pole[:, 1:], rate)[:, :, None]
        growth = 2.0 * _dot(mirror, rate)[:, None, None] / size
        tangents = -2.0 * ((change - growth * share) * mirror[:, None, :] + share * rate[:, None, :]) / size
        return Rates(
            np.concatenate([rate[:, None, :], tangents], axis=1),
            turned_a + self.other_radius[:, None] * rate,
            turned_b - self.radius[:, None] * rate,
        )


def axes_along(normal: Floats) -> Floats:
    """Rows n, t1, t2 = n × t1 (3, 3) for a unit vector n."""
    across = np.zeros(3)
    across[int(np.argmin(np.abs(normal)))] = 1.0
    tangent = np.cross(across, normal)
    tangent = tangent / np.linalg.norm(tangent)
    return np.array([normal, tangent, np.cross(normal, tangent)])


def pole_for(normal: Floats) -> Floats:
    """Rows k, t1, t2 (3, 3) for `OnBalls`, with k initially across a normal and off all usual planes."""
    return axes_along(_POLES[int(np.argmin(np.abs(_POLES @ normal)))])


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ci,ci->c", a, b))


def _turned(turn: Floats, vector: Floats) -> Floats:
    return np.asarray(np.einsum("cij,cj->ci", turn, vector))


def _along(axes: Floats, vector: Floats) -> Floats:
    return np.asarray(np.einsum("cej,cj->ce", axes, vector))
