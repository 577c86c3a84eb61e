"""A block on an inclined belt, held by a spring: stick-slip, with its limit cycle in closed form.

The belt runs uphill with a constant speed v and takes the block along, until the spring and the block's
weight pull harder than sticking friction holds. Then the block slides, about the place where they balance
sliding friction, until it is as fast as the belt again. SI units.

    x up the belt, zero where the spring is free; y away from it
    m ẍ = −k x − m g sin α + λ_T        γ_T = ẋ − v
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.registry import model

NORMAL, TANGENT = np.array([0.0, 1.0]), np.array([1.0, 0.0])


@model("a block on a belt, held by a spring: stick-slip")
@dataclass(frozen=True)
class BeltBlock:
    """The block, q = (x, y) in m.

    Args:
        mass: in kg.
        stiffness: of the spring, in N/m.
        speed: of the belt, in m/s, uphill.
        slope: α in rad.
        friction: μ of sliding.
        sticking_friction: μ of sticking, more than that of sliding.
        gravity: in m/s².
    """

    mass: float = 1.0
    stiffness: float = 100.0
    speed: float = 0.1
    slope: float = math.radians(5.0)
    friction: float = 0.25
    sticking_friction: float = 0.4
    gravity: float = 9.81

    def __post_init__(self) -> None:
        if not self.speed > 0.0:
            raise OptionError(f"speed of the belt is {self.speed} m/s: give more than 0")
        if not self.sticking_friction > self.friction > 0.0:
            raise OptionError(
                f"friction is {self.friction} and sticking_friction {self.sticking_friction}: stick-slip "
                "needs more friction in sticking than in sliding"
            )

    def system(self) -> GeneralisedSystem:
        """The block with its one contact, "belt"."""
        k, down = self.stiffness, self._down

        def force(q: Floats, u: Floats, t: float) -> Floats:
            return np.array([-k * q[0] - down, -self.normal_force])

        belt = GapContact(
            "belt",
            gap=lambda q, t: q[1],
            normal=lambda q, t: NORMAL,
            normal_drift=lambda q, u, t: 0.0,
            tangent=lambda q, t: TANGENT,
            slip_rate=lambda q, t: np.array([-self.speed]),
            tangent_drift=lambda q, u, t: np.zeros(1),
            friction=self.friction,
            sticking_friction=self.sticking_friction,
        )
        return GeneralisedSystem(
            self.mass * np.eye(2),
            force,
            [belt],
            potential=lambda q: 0.5 * k * q[0] ** 2 + down * q[0] + self.normal_force * q[1],
        )

    @property
    def normal_force(self) -> float:
        """N = m g cos α in N."""
        return self.mass * self.gravity * math.cos(self.slope)

    @property
    def frequency(self) -> float:
        """ω of the block on its spring, in rad/s."""
        return math.sqrt(self.stiffness / self.mass)

    @property
    def centre(self) -> float:
        """x about which the block swings while it slides, in m."""
        return (self.friction * self.normal_force - self._down) / self.stiffness

    @property
    def release(self) -> float:
        """x where sticking friction gives in, in m."""
        return (self.sticking_friction * self.normal_force - self._down) / self.stiffness

    @property
    def reach(self) -> float:
        """D: the block begins to slide this far above the centre and sticks again as far below it, in m."""
        return self.release - self.centre

    @property
    def sliding_time(self) -> float:
        """In s: from (D, v) over ξ̇ = v to (−D, v), an arc of π + 2 atan(v / ω D)."""
        omega = self.frequency
        return (math.pi + 2.0 * math.atan(self.speed / (omega * self.reach))) / omega

    @property
    def sticking_time(self) -> float:
        """In s: the way 2 D at the belt's speed."""
        return 2.0 * self.reach / self.speed

    @property
    def period(self) -> float:
        """Of the limit cycle, in s."""
        return self.sticking_time + self.sliding_time

    @property
    def cycle_loss(self) -> float:
        """Energy in J that friction takes in a cycle, and the belt gives."""
        sliding_way = self.speed * self.sliding_time + 2.0 * self.reach
        return self.friction * self.normal_force * sliding_way

    def first_stick(self) -> tuple[float, float]:
        """Time in s and x in m where the block, at rest at x = 0 when let go, is as fast as the belt."""
        swing = self.centre * self.frequency
        if not swing > self.speed:
            raise OptionError(
                f"the block reaches {swing:.3g} m/s from rest and the belt runs at {self.speed} m/s: "
                "take a slower belt"
            )
        arc = math.asin(self.speed / swing)
        return arc / self.frequency, self.centre * (1.0 - math.cos(arc))

    def event_times(self, cycles: int) -> tuple[Floats, Floats]:
        """Times in s at which the block, let go at rest at x = 0, sticks and slides, `cycles` of each."""
        first, place = self.first_stick()
        slides = first + (self.release - place) / self.speed + self.period * np.arange(cycles, dtype=float)
        sticks = np.concatenate([[first], slides[:-1] + self.sliding_time])
        return np.asarray(sticks), np.asarray(slides)

    def exact(self, times: Floats) -> tuple[Floats, Floats]:
        """x in m and ẋ in m/s at times in s, from rest at x = 0."""
        first, _ = self.first_stick()
        begin = float(self.event_times(1)[1][0])
        omega, v, d = self.frequency, self.speed, self.reach
        x, speed = np.empty_like(times), np.empty_like(times)
        early = times < first
        x[early] = self.centre * (1.0 - np.cos(omega * times[early]))
        speed[early] = self.centre * omega * np.sin(omega * times[early])
        carried = (times >= first) & (times < begin)
        x[carried], speed[carried] = self.release + v * (times[carried] - begin), v
        late = times >= begin
        phase = (times[late] - begin) % self.period
        slides = phase < self.sliding_time
        arc = omega * phase
        back = self.release - v * (self.period - phase)
        x[late] = np.where(slides, self.centre + d * np.cos(arc) + v / omega * np.sin(arc), back)
        speed[late] = np.where(slides, v * np.cos(arc) - omega * d * np.sin(arc), v)
        return x, speed

    @property
    def _down(self) -> float:
        return self.mass * self.gravity * math.sin(self.slope)
