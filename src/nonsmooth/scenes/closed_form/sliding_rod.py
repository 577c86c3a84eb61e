"""Painlevé's rod: it slides on its tip, and above a critical friction its accelerations may have no solution.

After Génot and Brogliato (European Journal of Mechanics A 18, 653–677, 1999). Coordinates q = (x, y, θ): the
centre in m, and the angle in rad by which the rod points down; the tip is ahead, at (x + l cos θ,
y − l sin θ), and slides to the right. SI units.

    γ̇_N = G(θ) λ_N + c(θ, ω)        G = (1 + 3 cos θ (cos θ − μ sin θ)) / m        c = l ω² sin θ − g
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.registry import model

CRITICAL_FRICTION = 4.0 / 3.0
"""μ of a homogeneous rod above which G is negative at some angles."""


class Region(StrEnum):
    """Existence and number of solutions for the accelerations of a sliding rod."""

    SLIDING = "sliding"
    LIFT_OFF = "lift-off"
    INCONSISTENT = "no solution"
    INDETERMINATE = "two solutions"


@model("Painlevé's rod, which slides on its tip (Génot and Brogliato 1999)")
@dataclass(frozen=True)
class SlidingRod:
    """A homogeneous rod on its tip.

    Args:
        half_length: l in m.
        mass: m in kg.
        friction: μ.
        gravity: in m/s².
    """

    half_length: float = 1.0
    mass: float = 1.0
    friction: float = 2.0
    gravity: float = 9.81

    @property
    def inertia(self) -> float:
        """About the centre, in kg m²."""
        return self.mass * self.half_length**2 / 3.0

    def system(self) -> GeneralisedSystem:
        """The rod with its one contact, "tip"."""
        length, m, g = self.half_length, self.mass, self.gravity
        weight = np.array([0.0, -m * g, 0.0])
        tip = GapContact(
            "tip",
            gap=lambda q, t: q[1] - length * math.sin(q[2]),
            normal=lambda q, t: np.array([0.0, 1.0, -length * math.cos(q[2])]),
            normal_drift=lambda q, u, t: length * math.sin(q[2]) * u[2] ** 2,
            tangent=lambda q, t: np.array([1.0, 0.0, -length * math.sin(q[2])]),
            tangent_drift=lambda q, u, t: np.array([-length * math.cos(q[2]) * u[2] ** 2]),
            friction=self.friction,
        )
        return GeneralisedSystem(
            np.diag([m, m, self.inertia]), lambda q, u, t: weight, [tip], potential=lambda q: m * g * q[1]
        )

    def sliding(self, angle: float, spin: float, speed: float) -> tuple[Floats, Floats]:
        """q and u with the tip on the ground, at θ (rad), ω (rad/s) and sliding at `speed` (m/s)."""
        length = self.half_length
        q = np.array([-length * math.cos(angle), length * math.sin(angle), angle])
        u = np.array(
            [speed + length * math.sin(angle) * spin, length * math.cos(angle) * spin, spin], dtype=float
        )
        return q, u

    def compliance(self, angle: Floats | float) -> Floats:
        """G(θ) in 1/kg while the tip slides to the right."""
        sine, cosine = np.sin(angle), np.cos(angle)
        return np.asarray((1.0 + 3.0 * cosine * (cosine - self.friction * sine)) / self.mass)

    def free_acceleration(self, angle: Floats | float, spin: Floats | float) -> Floats:
        """c(θ, ω) in m/s²: γ̇_N of the tip without force."""
        return np.asarray(self.half_length * np.square(spin) * np.sin(angle) - self.gravity)

    def region(self, angle: float, spin: float) -> Region:
        """By the signs of G and c."""
        holds, lifts = self.compliance(angle) > 0.0, self.free_acceleration(angle, spin) > 0.0
        if holds:
            return Region.LIFT_OFF if lifts else Region.SLIDING
        return Region.INDETERMINATE if lifts else Region.INCONSISTENT

    @property
    def singular_angles(self) -> tuple[float, float]:
        """θ in rad with G = 0: tan²θ − 3 μ tan θ + 4 = 0."""
        if not self.friction > CRITICAL_FRICTION:
            raise OptionError(f"friction is {self.friction}: G vanishes nowhere unless it is more than 4/3")
        root = math.sqrt(9.0 * self.friction**2 - 16.0)
        low, high = ((3.0 * self.friction + sign * root) / 2.0 for sign in (-1.0, 1.0))
        return math.atan(low), math.atan(high)

    def lift_off_spin(self, angle: Floats | float) -> Floats:
        """ω > 0 in rad/s with c = 0."""
        return np.asarray(np.sqrt(self.gravity / (self.half_length * np.sin(angle))))

    def jump(self, angle: float, spin: float, speed: float) -> tuple[Floats, Floats, float]:
        """u after an impact without collision, impulses (Λ_N, Λ_T) in N s and the energy lost in J.

        The tip comes to rest at once: WᵀM⁻¹W Λ = −(0, v), of determinant 4/m².
        """
        m, length = self.mass, self.half_length
        sine, cosine = math.sin(angle), math.cos(angle)
        normal, tangent = 0.75 * m * speed * sine * cosine, -0.25 * m * speed * (1.0 + 3.0 * cosine**2)
        _, before = self.sliding(angle, spin, speed)
        torque = -length * (cosine * normal + sine * tangent)
        change = np.array([tangent / m, normal / m, torque / self.inertia])
        return before + change, np.array([normal, tangent]), -0.5 * tangent * speed

    @property
    def singular_exponent(self) -> float:
        """p of −c ∝ Gᵖ on the way into the singular point of the smaller angle.

        In the time τ with dt = G dτ, angle and spin obey θ' = G ω and ω' = −c κ, κ = l (μ sin θ − cos θ) / J.
        The point G = c = 0 is a node, with eigenvalues G_θ ω along the way of G and −c_ω κ along that of c;
        p is the second by the first. The force −c/G stays finite where p > 1, for μ < 8/√27.
        """
        angle = self.singular_angles[0]
        spin = float(self.lift_off_spin(angle))
        sine, cosine, mu = math.sin(angle), math.cos(angle), self.friction
        growth = -3.0 * (math.sin(2.0 * angle) + mu * math.cos(2.0 * angle)) / self.mass
        push = self.half_length * (mu * sine - cosine) / self.inertia
        return -2.0 * self.half_length * spin * sine * push / (growth * spin)
