"""The cylinder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.shapes.base import (
    RoundedAboutZ,
    Symmetric,
    Triple,
    bound,
    from_second_moments,
)
from nonsmooth.model.shapes.surfaces import (
    ROUND_SEGMENTS,
    TriangleMesh,
    cylinder_mesh,
    mirrored,
    quarter_circle,
    turned,
)

CYLINDER = 4


@dataclass(frozen=True)
class Cylinder(RoundedAboutZ, Symmetric):
    """A cylinder about the z axis of `radius` and `length` (m), its middle at the origin.

    `rounding` (m) is the radius of a ball that is swept around it.
    """

    kind: ClassVar[int] = CYLINDER
    title: ClassVar[str] = "cylinder"
    scene_name: ClassVar[str] = "cylinder"

    @property
    def volume(self) -> float:
        """π r² l in m³, plus the volume swept around it."""
        if self.rounding == 0.0:
            return math.pi * self.radius**2 * self.length
        return self._integrals()[0]

    @property
    def _moments(self) -> Triple:
        if self.rounding == 0.0:
            across = self.radius**2 / 4.0 + self.length**2 / 12.0
            return (across, across, 0.5 * self.radius**2)
        volume, across, along = self._integrals()
        return from_second_moments((across / volume, across / volume, along / volume))

    def _integrals(self) -> tuple[float, float, float]:
        """Volume (m³), ∫ x² dV and ∫ z² dV (m⁵) of the rounded cylinder: a stack of discs.

        The discs have the radius R + r up to |z| = h, and R + s with s² = r² − t² at |z| = h + t.
        """
        big, half, r = self.radius, 0.5 * self.length, self.rounding
        # ∫ sᵏ dt, ∫ sᵏ t dt and ∫ sᵏ t² dt for t from 0 to r
        s = (r, math.pi * r**2 / 4.0, 2.0 * r**3 / 3.0, 3.0 * math.pi * r**4 / 16.0, 8.0 * r**5 / 15.0)
        st = (r**2 / 2.0, r**3 / 3.0, r**4 / 4.0)
        stt = (r**3 / 3.0, math.pi * r**4 / 16.0, 2.0 * r**5 / 15.0)
        area, area_t, area_tt = (big**2 * k[0] + 2.0 * big * k[1] + k[2] for k in (s, st, stt))
        fourth = sum(math.comb(4, k) * big ** (4 - k) * s[k] for k in range(5))
        wide = big + r
        volume = 2.0 * math.pi * (wide**2 * half + area)
        across = 0.5 * math.pi * (wide**4 * half + fourth)
        along = 2.0 * math.pi * (wide**2 * half**3 / 3.0 + half**2 * area + 2.0 * half * area_t + area_tt)
        return volume, across, along

    def reach(self, point: Floats) -> float:
        """Return the largest distance (m) of the cylinder from a point of its frame."""
        x, y, z = np.abs(point)
        return math.hypot(math.hypot(x, y) + self.radius, z + 0.5 * self.length) + self.rounding

    def core_support(self, direction: Floats) -> Floats:
        """Return a point of a rim."""
        x, y, z = direction.tolist()
        across = math.hypot(x, y)
        ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
        return np.array([self.radius * ux, self.radius * uy, math.copysign(0.5 * self.length, z)])

    def local_bound(self) -> Floats:
        """Return a box and a ball, with the rounding."""
        radius, half, r = self.radius, 0.5 * self.length, self.rounding
        return bound((radius + r, radius + r, half + r), float(np.hypot(radius, half)) + r)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a cylinder; vertices of its rims are duplicated for sharp edges, unless it is rounded."""
        radius, half, r = self.radius, 0.5 * self.length, self.rounding
        if r == 0.0:
            return cylinder_mesh(radius, half, detail)
        upper = [(radius + x, half + z) for x, z in quarter_circle(r, detail)]
        return turned(mirrored([*upper, (0.0, half + r)]), detail)
