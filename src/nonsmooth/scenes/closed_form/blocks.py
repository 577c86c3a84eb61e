"""Blocks on two corners whose events are known in closed form: one that rocks, and one under a load history.

Each has `system()`, `start()` with its coordinates and velocities, and its closed forms as methods. SI units;
x points right and y up, and angles are positive counterclockwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipj

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.closed_form.bouncing import GRAVITY
from nonsmooth.scenes.registry import model


def _corner(
    name: str, side: float, half_height: float, friction: float, restitution: float = 0.0
) -> GapContact:
    """A lower corner of a block with q = (x, y, φ) of its centre, on the floor y = 0.

    `side` is its place along the block in m: −b for the left one, b for the right one.
    """
    h = half_height

    def across(q: Floats) -> float:
        """Derivative of the corner's height by φ."""
        return side * math.cos(q[2]) + h * math.sin(q[2])

    def above(q: Floats) -> float:
        """Height of the corner above the centre."""
        return side * math.sin(q[2]) - h * math.cos(q[2])

    return GapContact(
        name,
        gap=lambda q, t: q[1] + above(q),
        normal=lambda q, t: np.array([0.0, 1.0, across(q)]),
        tangent=lambda q, t: np.array([1.0, 0.0, -above(q)]),
        normal_drift=lambda q, u, t: -above(q) * u[2] ** 2,
        tangent_drift=lambda q, u, t: -across(q) * u[2] ** 2,
        friction=friction,
        restitution=restitution,
    )


@model("a block that rocks from corner to corner")
@dataclass(frozen=True)
class RockingBlock:
    """A homogeneous block that rocks from corner to corner (Housner 1963): q = (x, y, θ) of its centre.

        ┌───┐    half width b, half height h, R² = b² + h², tan α = b/h; about a corner
        │ · │    I₀ = 4/3 m R², hence I₀ θ̈ = −m g R sin(α − |θ|) sgn θ, p² = m g R/I₀ = 3 g/(4 R)
        └───┘    it stands on its left corner while θ > 0

    It does not slip (μ is large) and its corners do not bounce (e = 0). Then the angular momentum about the
    corner that hits stays, and an impact leaves the part k = 1 − 3/2 sin²α of the angular velocity.
    """

    half_width: float = 0.15
    """b in m."""
    half_height: float = 0.5
    """h in m."""
    lean: float = 0.5
    """θ₀/α: how far it leans at the start, as a part of where it would fall over."""
    friction: float = 1.0
    mass: float = 1.0
    """kg"""
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not 0.0 < self.lean < 1.0:
            raise OptionError(
                f"lean is {self.lean}: give a number between 0 and 1, where the block falls over"
            )

    def system(self) -> GeneralisedSystem:
        """Two contacts, "left" and "right"."""
        b, h, weight = self.half_width, self.half_height, self.mass * self.gravity
        return GeneralisedSystem(
            mass=np.diag([self.mass, self.mass, self.mass * (b**2 + h**2) / 3.0]),
            force=lambda q, u, t: np.array([0.0, -weight, 0.0]),
            contacts=[_corner("left", -b, h, self.friction), _corner("right", b, h, self.friction)],
            potential=lambda q: weight * float(q[1] - h),
        )

    def start(self) -> tuple[Floats, Floats]:
        """At rest on its left corner, leaning by θ₀."""
        b, h, angle = self.half_width, self.half_height, self.lean * self.slenderness
        across = b * math.cos(angle) - h * math.sin(angle)
        return np.array([across - b, b * math.sin(angle) + h * math.cos(angle), angle]), np.zeros(3)

    def falling_flat(self, speed: float) -> tuple[Floats, Floats]:
        """Turning at `speed` (rad/s) about its left corner as the right one hits the floor."""
        turned = -speed * np.array([-self.half_height, self.half_width, 1.0])
        return np.array([0.0, self.half_height, 0.0]), turned

    @property
    def slenderness(self) -> float:
        """α = atan(b/h) in rad."""
        return math.atan2(self.half_width, self.half_height)

    @property
    def frequency(self) -> float:
        """p = √(3 g/(4 R)) in 1/s."""
        return math.sqrt(0.75 * self.gravity / math.hypot(self.half_width, self.half_height))

    @property
    def kept(self) -> float:
        """k: the part of the angular velocity that an impact leaves; none where the block is so stocky
        (b > √2 h) that turning on would need the floor to pull at the other corner."""
        return max(0.0, 1.0 - 1.5 * math.sin(self.slenderness) ** 2)

    def fall_time(self, lean: float) -> float:
        """Time in s from rest at θ = lean·α to the impact, a quarter of a period: by quadrature of energy.

        p t = ∫ dψ/√(2 (cos ψ₀ − cos ψ)) from ψ₀ = α − θ to α; with ψ = ψ₀ + s² nothing in it is singular.
        """
        alpha = self.slenderness
        near = (1.0 - lean) * alpha

        def integrand(s: float) -> float:
            return 1.0 / math.sqrt(math.sin(near + 0.5 * s * s) * 0.5 * _sine_over(0.5 * s * s))

        value, _ = quad(integrand, 0.0, math.sqrt(lean * alpha), epsabs=0.0, epsrel=1e-13, limit=200)
        return float(value) / self.frequency

    def housner_fall_time(self, lean: float) -> float:
        """Housner's formula for the same, (1/p) arcosh(1/(1 − θ/α)): exact as α goes to zero."""
        return math.acosh(1.0 / (1.0 - lean)) / self.frequency

    def leans(self, count: int) -> Floats:
        """θ_n/α after n = 0, 1, … impacts: each leaves the part k² of the energy above standing upright."""
        alpha = self.slenderness
        energy = 2.0 * math.sin(alpha * (1.0 - 0.5 * self.lean)) * math.sin(0.5 * alpha * self.lean)
        return np.array([self._angle(energy * self.kept ** (2 * n)) / alpha for n in range(count)])

    def _angle(self, energy: float) -> float:
        """θ with cos(α − θ) = cos α + energy, without loss of digits where both are small."""
        sine, cosine = math.sin(self.slenderness), math.cos(self.slenderness)
        excess = energy * (2.0 * cosine + energy)
        return math.asin(sine * energy + cosine * excess / (sine + math.sqrt(sine**2 - excess)))

    def housner_leans(self, count: int) -> Floats:
        """Housner's amplitudes after n impacts, 1 − √(1 − kⁿ²(1 − (1 − θ₀/α)²)): for small α."""
        powers = self.kept ** (2 * np.arange(count))
        return np.asarray(1.0 - np.sqrt(1.0 - powers * (1.0 - (1.0 - self.lean) ** 2)))

    def impact_times(self, count: int) -> Floats:
        """In s: a quarter of the first period, then half a period of each amplitude."""
        falls = [self.fall_time(lean) for lean in self.leans(count)]
        return np.cumsum([falls[0], *(2.0 * fall for fall in falls[1:])])

    @property
    def accumulation(self) -> float:
        """Time in s at which infinitely many impacts are over; small amplitudes take times in ratio k."""
        times = self.impact_times(self._many)
        return float(times[-1] + (times[-1] - times[-2]) * self.kept / (1.0 - self.kept))

    @property
    def _many(self) -> int:
        """Impacts after which the speed has shrunk by 1e-16."""
        return 1 + math.ceil(math.log(1e-16) / math.log(self.kept))

    def angle_at(self, times: Floats) -> Floats:
        """θ in rad at times in s: cos(ψ/2) = cos(ψ₀/2) cd(p τ), τ the time from where it turns, ψ = α − |θ|.

        Of Jacobi's elliptic functions, with the parameter cos²(ψ₀/2): a pendulum near its upper end.
        """
        alpha, leans = self.slenderness, self.leans(self._many)
        impacts = self.impact_times(self._many)
        found = np.zeros(len(times))
        for i, t in enumerate(times.tolist()):
            n = int(np.searchsorted(impacts, t, side="right"))
            if n == len(impacts):
                continue
            turned = 0.0 if n == 0 else 0.5 * (impacts[n - 1] + impacts[n])
            outer = math.cos(0.5 * (1.0 - leans[n]) * alpha)
            _, cn, dn, _ = ellipj(self.frequency * (t - turned), outer**2)
            found[i] = (-1) ** n * (alpha - 2.0 * math.acos(outer * cn / dn))
        return found


def _sine_over(x: float) -> float:
    """sin(x)/x."""
    return math.sin(x) / x if x > 0.0 else 1.0


@model("a block that is pushed, tipped and released")
@dataclass(frozen=True)
class LoadedBlock:
    """The planar block of Studer and Glocker §5.8 under a load history: q = (x, y, φ) of its centre.

    The load acts at the centre: a push F_x that makes it slide and lets it stop, then a moment M that lifts
    its right corner and lets it fall back. Weight m g; numbers of the block are those of
    `library.named.planar_block`.

    - F_x = 4 F s (1 − s) with s = t/τ, up to `push` F. With d = √(1 − μ m g/F) the block slips at
      s = (1 − d)/2 and stands still at s = 1/2 + d, which is before τ where d < 1/2; it has come
      9/16 (F/m) d⁴ τ² further.
    - M grows along a line from t = `lift_begin` on, and the corner opens where M = m g ℓ. From then on M is
      what turns the block about its left corner by φ = c σ³ (S − σ), σ the time since opening: it hits the
      floor after S, at w = c S³ (rad/s).
    - The impact (e = 0) brings both corners to rest in normal direction. It cannot stop the sliding, as
      μ < h/ℓ: the block slides on at w (h − μ ℓ), for w (h − μ ℓ)/(μ g).
    - Later M keeps its last value, which is too small to lift anything.
    """

    push: float = 8.0
    """F in N."""
    push_time: float = 0.6
    """τ in s."""
    lift_begin: float = 0.65
    """s"""
    air_time: float = 0.4
    """S in s."""
    impact_rate: float = 1.6
    """w in rad/s."""
    mass: float = 2.1
    """kg"""
    half_length: float = 0.15
    """ℓ in m."""
    half_height: float = 0.05
    """h in m."""
    friction: float = 0.3
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        holding = self.friction * self.weight
        if not holding < self.push < 4.0 / 3.0 * holding:
            raise OptionError(
                f"push is {self.push} N: give between μ m g and 4/3 of it, {holding:.4g} and "
                f"{4.0 / 3.0 * holding:.4g} N, so that the block slips and stops before the push is over"
            )

    @property
    def weight(self) -> float:
        """m g in N."""
        return self.mass * self.gravity

    @property
    def inertia(self) -> float:
        """J about the centre in kg·m²."""
        return self.mass * (self.half_length**2 + self.half_height**2) / 3.0

    @property
    def corner_inertia(self) -> float:
        """J + m (ℓ² + h²), about a corner, in kg·m²."""
        return 4.0 * self.inertia

    @property
    def _growth(self) -> float:
        """c in rad/s⁴."""
        return self.impact_rate / self.air_time**3

    @property
    def _depth(self) -> float:
        """d = √(1 − μ m g/F)."""
        return math.sqrt(1.0 - self.friction * self.weight / self.push)

    def load(self, t: float) -> Floats:
        """(F_x, F_y, M) in N and N·m, without the weight."""
        part = t / self.push_time
        push = 4.0 * self.push * part * (1.0 - part) if 0.0 < part < 1.0 else 0.0
        return np.array([push, 0.0, self._moment(t)])

    def _moment(self, t: float) -> float:
        since = t - self.opening
        if since < 0.0:
            return max(0.0, self.weight * self.half_length + self._slope * since)
        angle, _, acceleration = self._turn(min(since, self.air_time))
        lever = self.half_length * math.cos(angle) - self.half_height * math.sin(angle)
        return self.corner_inertia * acceleration + self.weight * lever

    def _turn(self, since: float) -> tuple[float, float, float]:
        """φ, φ̇ and φ̈ at a time in s since opening."""
        c, air, s = self._growth, self.air_time, since
        return (
            c * s**3 * (air - s), c * s**2 * (3.0 * air - 4.0 * s), c * s * (6.0 * air - 12.0 * s),
        )  # fmt: skip

    @property
    def _slope(self) -> float:
        """Ṁ in N·m/s before opening: the same as after it."""
        return self.corner_inertia * 6.0 * self._growth * self.air_time

    def system(self) -> GeneralisedSystem:
        """Two contacts, "left" and "right"."""
        down = np.array([0.0, -self.weight, 0.0])
        side, h, mu = self.half_length, self.half_height, self.friction
        return GeneralisedSystem(
            mass=np.diag([self.mass, self.mass, self.inertia]),
            force=lambda q, u, t: self.load(t) + down,
            contacts=[_corner("left", -side, h, mu), _corner("right", side, h, mu)],
            potential=lambda q: self.weight * float(q[1] - h),
            power=lambda q, u, t: float(self.load(t) @ u),
        )

    def start(self) -> tuple[Floats, Floats]:
        """At rest on both corners."""
        return np.array([0.0, self.half_height, 0.0]), np.zeros(3)

    # ---- closed forms -------------------------------------------------------------------------------

    @property
    def slip(self) -> float:
        """Time in s at which both corners begin to slide."""
        return 0.5 * self.push_time * (1.0 - self._depth)

    @property
    def stop(self) -> float:
        """Time in s at which they stick again."""
        return self.push_time * (0.5 + self._depth)

    @property
    def opening(self) -> float:
        """Time in s at which the right corner opens."""
        return self.lift_begin + self.weight * self.half_length / self._slope

    @property
    def impact(self) -> float:
        """Time in s at which it hits the floor."""
        return self.opening + self.air_time

    @property
    def speed_after_impact(self) -> float:
        """w (h − μ ℓ) in m/s."""
        return self.impact_rate * (self.half_height - self.friction * self.half_length)

    @property
    def rest(self) -> float:
        """Time in s at which the block stands still for good."""
        return self.impact + self.speed_after_impact / (self.friction * self.gravity)

    @property
    def slid(self) -> float:
        """How far in m the push moves the block."""
        return 9.0 / 16.0 * self.push / self.mass * self._depth**4 * self.push_time**2

    @property
    def dissipated(self) -> float:
        """By friction and the impact over the whole history, in J; the load has done as much work."""
        return self.friction * self.weight * self.slid + 0.5 * self.corner_inertia * self.impact_rate**2

    def place_at(self, t: float) -> Floats:
        """(x, y, φ) at a time in s."""
        h, side = self.half_height, self.half_length
        if t < self.opening:
            return np.array([self._pushed(t), h, 0.0])
        if t < self.impact:
            angle, _, _ = self._turn(t - self.opening)
            x = side * math.cos(angle) - h * math.sin(angle) - side
            return np.array([self.slid + x, side * math.sin(angle) + h * math.cos(angle), angle])
        braking = self.friction * self.gravity
        since = min(t, self.rest) - self.impact
        return np.array([self.slid + self.speed_after_impact * since - 0.5 * braking * since**2, h, 0.0])

    def _pushed(self, t: float) -> float:
        since = min(max(t, self.slip), self.stop) - self.slip
        width, rate = self._depth * self.push_time, 4.0 * self.push / (self.mass * self.push_time**2)
        return rate * (width * since**3 / 6.0 - since**4 / 12.0)
