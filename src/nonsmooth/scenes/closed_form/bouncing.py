"""Systems whose events are known in closed form: a dropped ball, and one that begins to roll.

    scene = DroppedBall(restitution=0.8)
    run = simulate_events(scene.system(), *scene.start(), duration=5.0)
    run.times("impact") - scene.impact_times(len(run.times("impact")))      # about 1e-13 s

Each has `system()`, `start()` with its coordinates and velocities, and its closed forms as methods. SI units;
in the plane x points right and y up, and angles are positive counterclockwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.registry import model

GRAVITY = 9.81
"""m/s²"""


@model("a ball that bounces until it rests")
@dataclass(frozen=True)
class DroppedBall:
    """A ball that falls from rest and bounces: q = (height of its lowest point in m)."""

    height: float = 1.0
    """m above the floor at the start."""
    restitution: float = 0.8
    mass: float = 1.0
    """kg"""
    gravity: float = GRAVITY

    def system(self) -> GeneralisedSystem:
        """One contact, "floor", without friction."""
        floor = GapContact(
            "floor",
            gap=lambda q, t: q[0],
            normal=lambda q, t: np.ones(1),
            normal_drift=lambda q, u, t: 0.0,
            restitution=self.restitution,
        )
        weight = self.mass * self.gravity
        return GeneralisedSystem(
            mass=[[self.mass]],
            force=lambda q, u, t: np.array([-weight]),
            contacts=[floor],
            potential=lambda q: weight * float(q[0]),
        )

    def start(self) -> tuple[Floats, Floats]:
        """q and u at t = 0."""
        return np.array([self.height]), np.zeros(1)

    @property
    def fall(self) -> float:
        """T = √(2 h / g), the time of the first impact in s."""
        return math.sqrt(2.0 * self.height / self.gravity)

    def impact_times(self, count: int) -> Floats:
        """t_k = T + 2 T e (1 − eᵏ)/(1 − e) in s, for k = 0, 1, …"""
        e, k = self.restitution, np.arange(count)
        sum_of_powers = k if e == 1.0 else e * (1.0 - e**k) / (1.0 - e)
        return np.asarray(self.fall * (1.0 + 2.0 * sum_of_powers))

    @property
    def accumulation(self) -> float:
        """T (1 + e)/(1 − e) in s, at which infinitely many impacts are over; infinite for e = 1."""
        e = self.restitution
        return math.inf if e == 1.0 else self.fall * (1.0 + e) / (1.0 - e)

    def height_at(self, times: Floats) -> Floats:
        """Height in m at times in s."""
        found = np.zeros(len(times))
        for i, t in enumerate(times.tolist()):
            if t < self.fall:
                found[i] = self.height - 0.5 * self.gravity * t**2
            elif t < self.accumulation:
                found[i] = self._in_bounce(t)
        return found

    def _in_bounce(self, t: float) -> float:
        begin, speed, e = self.fall, self.restitution * self.gravity * self.fall, self.restitution
        while t - begin > 2.0 * speed / self.gravity > 0.0:
            begin, speed = begin + 2.0 * speed / self.gravity, e * speed
        return speed * (t - begin) - 0.5 * self.gravity * (t - begin) ** 2


@model("a disc that slides, then rolls")
@dataclass(frozen=True)
class RollingDisc:
    """A ball in a plane that slides without spin, and then rolls: q = (x, y, angle).

    `mass_ratio` is J/(m r²): 2/5 for a ball, 1/2 for a disc.
    """

    speed: float = 2.0
    """m/s along x at the start."""
    friction: float = 0.2
    radius: float = 1.0
    """m"""
    mass: float = 1.0
    """kg"""
    mass_ratio: float = 0.4
    gravity: float = GRAVITY

    def system(self) -> GeneralisedSystem:
        """One contact, "floor", with friction along x."""
        radius, weight = self.radius, self.mass * self.gravity
        floor = GapContact(
            "floor",
            gap=lambda q, t: q[1] - radius,
            normal=lambda q, t: np.array([0.0, 1.0, 0.0]),
            tangent=lambda q, t: np.array([1.0, 0.0, radius]),
            normal_drift=lambda q, u, t: 0.0,
            tangent_drift=lambda q, u, t: 0.0,
            friction=self.friction,
        )
        return GeneralisedSystem(
            mass=np.diag([self.mass, self.mass, self.mass_ratio * self.mass * radius**2]),
            force=lambda q, u, t: np.array([0.0, -weight, 0.0]),
            contacts=[floor],
            potential=lambda q: weight * float(q[1] - radius),
        )

    def start(self) -> tuple[Floats, Floats]:
        """q and u at t = 0."""
        return np.array([0.0, self.radius, 0.0]), np.array([self.speed, 0.0, 0.0])

    @property
    def transition(self) -> float:
        """Time in s at which sliding ends: v/(μ g (1 + m r²/J)), 2 v/(7 μ g) for a ball."""
        return self.speed / (self.friction * self.gravity * (1.0 + 1.0 / self.mass_ratio))

    @property
    def rolling_speed(self) -> float:
        """m/s: 5/7 of the start's for a ball."""
        return self.speed / (1.0 + self.mass_ratio)

    @property
    def dissipated(self) -> float:
        """J: m v²/7 for a ball."""
        return 0.5 * self.mass * self.speed**2 * self.mass_ratio / (1.0 + self.mass_ratio)

    def position_at(self, times: Floats) -> Floats:
        """x in m at times in s."""
        slid = np.minimum(times, self.transition)
        braked = self.speed * slid - 0.5 * self.friction * self.gravity * slid**2
        return np.asarray(braked + self.rolling_speed * (times - slid))


@model("a ball that slides aslant to its spin, then rolls")
@dataclass(frozen=True)
class RollingBall:
    """A ball in space that is thrown over a floor with spin: q = (x, y, z), u = (v, ω), z up.

    Its orientation does not matter, so it is not among the coordinates. The velocity of the contact point,
    γ = (v_x − r ω_y, v_y + r ω_x), keeps its direction ê and shrinks at the rate 7/2 μ g: ball and contact
    point are braked by the force −μ m g ê, and the path is a parabola until the ball rolls.
    """

    velocity: tuple[float, float] = (2.0, 1.0)
    """(v_x, v_y) in m/s at the start."""
    spin: tuple[float, float, float] = (3.0, -1.0, 5.0)
    """ω in rad/s at the start."""
    friction: float = 0.2
    radius: float = 1.0
    """m"""
    mass: float = 1.0
    """kg"""
    gravity: float = GRAVITY

    def system(self) -> GeneralisedSystem:
        """One contact, "floor", with friction along x and y."""
        r, weight = self.radius, self.mass * self.gravity
        tangent = np.array([[1, 0], [0, 1], [0, 0], [0, r], [-r, 0], [0, 0]], dtype=float)
        floor = GapContact(
            "floor",
            gap=lambda q, t: q[2] - r,
            normal=lambda q, t: np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
            tangent=lambda q, t: tangent,
            normal_drift=lambda q, u, t: 0.0,
            tangent_drift=lambda q, u, t: np.zeros(2),
            friction=self.friction,
        )
        return GeneralisedSystem(
            mass=np.diag([self.mass] * 3 + [0.4 * self.mass * r**2] * 3),
            force=lambda q, u, t: np.array([0.0, 0.0, -weight, 0.0, 0.0, 0.0]),
            contacts=[floor],
            rate=lambda q, u: u[:3],
            potential=lambda q: weight * float(q[2] - r),
        )

    def start(self) -> tuple[Floats, Floats]:
        """q and u at t = 0."""
        return np.array([0.0, 0.0, self.radius]), np.array([*self.velocity, 0.0, *self.spin])

    @property
    def slip(self) -> Floats:
        """γ (2,) at the start in m/s."""
        return np.array(
            [self.velocity[0] - self.radius * self.spin[1], self.velocity[1] + self.radius * self.spin[0]]
        )

    @property
    def transition(self) -> float:
        """|γ|/(7/2 μ g): the time in s at which sliding ends."""
        return float(np.linalg.norm(self.slip)) / (3.5 * self.friction * self.gravity)

    @property
    def rolling_velocity(self) -> Floats:
        """v − 2/7 γ (2,) in m/s."""
        return np.asarray(np.array(self.velocity) - 2.0 / 7.0 * self.slip)

    @property
    def dissipated(self) -> float:
        """m γ²/7 in J."""
        return self.mass * float(self.slip @ self.slip) / 7.0

    def position_at(self, times: Floats) -> Floats:
        """(x, y) in m (k, 2) at times in s."""
        slid = np.minimum(times, self.transition)[:, None]
        braking = self.friction * self.gravity * self.slip / np.linalg.norm(self.slip)
        braked = np.array(self.velocity) * slid - 0.5 * braking * slid**2
        return np.asarray(braked + self.rolling_velocity * (times[:, None] - slid))
