"""The cone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model import checks as check
from nonsmooth.model.shapes.base import MassProperties, RoundedAboutZ, bound
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, arc, turned

CONE = 9


@dataclass(frozen=True)
class Cone(RoundedAboutZ):
    """A cone about the z axis: its tip at z = length / 2, its base, a disc of `radius` (m), at −length / 2.

    `rounding` (m) is the radius of a ball that is swept around it. Without it the centroid is a quarter of
    `length` (m) above the base.
    """

    kind: ClassVar[int] = CONE
    title: ClassVar[str] = "cone"
    scene_name: ClassVar[str] = "cone"

    @property
    def volume(self) -> float:
        """π r² l / 3 in m³, plus the volume swept around it."""
        return self._integrals()[0]

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        rho = check.positive("density", density, "kg/m³")
        volume, height, across, along = self._integrals()
        side = across + along
        inertia = rho * np.diag([side, side, 2.0 * across])
        return MassProperties(rho * volume, np.array([0.0, 0.0, height]), inertia)

    def _integrals(self) -> tuple[float, float, float, float]:
        """Volume (m³), height of the centroid (m), ∫ x² dV and ∫ (z − height)² dV (m⁵).

        The rounded cone is a stack of discs: from below a ring of the base, a frustum, a cap of a ball.
        """
        radius, half, r = self.extents[0], self.extents[1], self.rounding
        if r == 0.0:
            volume = math.pi * radius**2 * self.length / 3.0
            return volume, -0.5 * half, 0.15 * volume * radius**2, 0.15 * volume * half**2
        turn = self._slant
        low, rim = radius + r * math.cos(turn), -half + r * math.sin(turn)
        parts = [
            _arc_discs(radius, -half, r, -0.5 * math.pi, turn),
            _frustum_discs(low, rim, low - radius, rim + self.length),
            _arc_discs(0.0, half, r, turn, 0.5 * math.pi),
        ]
        wide, z, dz = np.concatenate(parts, axis=1)
        volume = math.pi * float(wide**2 @ dz)
        height = math.pi * float((wide**2 * z) @ dz) / volume
        across = 0.25 * math.pi * float(wide**4 @ dz)
        along = math.pi * float((wide**2 * (z - height) ** 2) @ dz)
        return volume, height, across, along

    @property
    def _slant(self) -> float:
        """Angle (rad) of the side's outward normal above the base."""
        return math.atan2(self.radius, self.length)

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the cone from a point of its frame."""
        x, y, z = np.asarray(point).tolist()
        aside, half = math.hypot(x, y), 0.5 * self.length
        return max(math.hypot(aside + self.radius, z + half), math.hypot(aside, z - half)) + self.rounding

    def core_support(self, direction: Floats) -> Floats:
        """Return the tip or a point of the rim."""
        x, y, z = direction.tolist()
        across = math.hypot(x, y)
        if self.length * z >= self.radius * across:
            return np.array([0.0, 0.0, 0.5 * self.length])
        ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
        return np.array([self.radius * ux, self.radius * uy, -0.5 * self.length])

    def local_bound(self) -> Floats:
        """Return a box and a ball, with the rounding."""
        radius, half, r = self.extents[0], self.extents[1], self.rounding
        return bound((radius + r, radius + r, half + r), math.hypot(radius, half) + r)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a cone; vertices of its rim are duplicated for a sharp edge, unless it is rounded."""
        radius, half, r = self.extents[0], self.extents[1], self.rounding
        if r == 0.0:
            return turned([(0.0, -half), (radius, -half), (radius, -half), (0.0, half)], detail)
        ring = [(radius + x, z - half) for x, z in arc(r, -0.5 * math.pi, self._slant, detail)]
        cap = [(x, z + half) for x, z in arc(r, self._slant, 0.5 * math.pi, detail)]
        return turned([(0.0, -half - r), *ring, *cap], detail)


def _arc_discs(radius: float, height: float, r: float, begin: float, end: float) -> Floats:
    """Radii, heights and thicknesses (3, k) in m of discs under an arc from angle `begin` to `end` (rad).

    The arc has the radius `r` about the point `radius` away from the axis at `height`.
    """
    # In the angle, integrands are polynomials of degree 6 in sine and cosine: 32 nodes integrate them to
    # the last digits.
    at, weight = np.polynomial.legendre.leggauss(32)
    angle = 0.5 * (end - begin) * at + 0.5 * (end + begin)
    thick = 0.5 * (end - begin) * weight * r * np.cos(angle)
    return np.stack([radius + r * np.cos(angle), height + r * np.sin(angle), thick])


def _frustum_discs(low: float, bottom: float, high: float, top: float) -> Floats:
    """The same for a line from radius `low` at height `bottom` to radius `high` at `top`."""
    at, weight = np.polynomial.legendre.leggauss(3)
    part = 0.5 + 0.5 * at
    thick = 0.5 * (top - bottom) * weight
    return np.stack([low + part * (high - low), bottom + part * (top - bottom), thick])
