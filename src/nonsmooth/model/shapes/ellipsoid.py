"""The ellipsoid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model.shapes.base import (
    Quadruple,
    Rounded,
    Symmetric,
    Triple,
    bound,
    from_second_moments,
    from_squares,
    lengths,
)
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh, sphere_mesh, subdivisions_for

ELLIPSOID = 5

_STEP, _TAIL = 0.25, 40.0
"""Spacing of the quadrature in the logarithms of tangents, and how far it goes beyond the aspect ratio."""


@dataclass(frozen=True)
class Ellipsoid(Rounded, Symmetric):
    """An ellipsoid about its origin; `radii` holds its half axes (m) along x, y, z.

    `rounding` (m) is the radius of a ball that is swept around it. Volume and inertia then come from
    a quadrature over the surface with a relative error of 1e-12, for half axes of a ratio of up to 1 : 1000.
    """

    kind: ClassVar[int] = ELLIPSOID
    title: ClassVar[str] = "ellipsoid"
    scene_name: ClassVar[str] = "ellipsoid"
    keys: ClassVar[tuple[str, ...]] = ("radii",)
    smooth: ClassVar[bool] = True
    radii: Triple
    rounding: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", lengths("radii", "an ellipsoid", self.radii))
        self._check_rounding("an ellipsoid")

    @property
    def extents(self) -> Triple:
        """The half axes in m."""
        return self.radii

    @property
    def volume(self) -> float:
        """4/3 π a b c in m³, plus the volume swept around it."""
        if self.rounding == 0.0:
            return 4.0 / 3.0 * math.pi * math.prod(self.radii)
        return _integrals(self.radii, self.rounding)[0]

    @property
    def _moments(self) -> Triple:
        if self.rounding == 0.0:
            return from_squares(self.radii, 5.0)
        volume, *second = _integrals(self.radii, self.rounding)
        return from_second_moments([moment / volume for moment in second])

    def reach(self, point: Floats) -> float:
        """Return a distance (m) that no point of the ellipsoid exceeds: exact from its centre."""
        return float(np.linalg.norm(point)) + max(self.radii) + self.rounding

    def core_support(self, direction: Floats) -> Floats:
        """Return the point of the ellipsoid with this normal."""
        stretched = direction * self.radii
        return np.asarray(stretched * self.radii / np.linalg.norm(stretched))

    def local_bound(self) -> Floats:
        """Return a box and a ball, with the rounding."""
        return bound(np.array(self.radii) + self.rounding, max(self.radii) + self.rounding)

    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return a stretched ball, moved outwards by the rounding."""
        ball, faces = sphere_mesh(subdivisions_for(detail))
        vertices = ball * np.array(self.radii)
        if self.rounding > 0.0:
            normal = ball / np.array(self.radii)
            vertices = vertices + self.rounding * normal / np.linalg.norm(normal, axis=1, keepdims=True)
        return vertices, faces

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Ellipsoid:
        """Return the ellipsoid of these sizes."""
        x, y, z, rounding = size
        return cls((x, y, z), rounding)


@lru_cache(maxsize=256)
def _integrals(radii: Triple, rounding: float) -> tuple[float, ...]:
    """Volume (m³), ∫ x² dV, ∫ y² dV, ∫ z² dV (m⁵) of the rounded ellipsoid.

    By the divergence theorem they are ∮ (p·n)/3 dA and ∮ p² (p·n)/5 dA over the surface, whose area
    element is that of the ellipsoid times (1 + r/R₁)(1 + r/R₂) with the radii of curvature R₁, R₂.
    """
    a, r = np.array(radii), rounding
    # One octant, with s = log tan θ and t = log tan φ as coordinates: flattening an ellipsoid shifts
    # its integrands along s and t and leaves them as smooth, so that equal steps converge
    # exponentially, and as fast for a disc as for a ball.
    end = _TAIL + math.log(max(radii) / min(radii))
    count = math.ceil(end / _STEP)
    tangent = np.exp(_STEP * np.arange(-count, count + 1))
    cosine = 1.0 / np.hypot(1.0, tangent)
    sine = tangent * cosine
    u = np.stack(
        [
            np.outer(sine, cosine).ravel(),
            np.outer(sine, sine).ravel(),
            np.repeat(cosine, len(cosine)),
        ],
        axis=1,
    )
    weight = 8.0 * _STEP**2 * np.outer(sine**2 * cosine, sine * cosine).ravel()
    normal = u / a
    slope = np.linalg.norm(normal, axis=1)
    normal /= slope[:, None]
    support = 1.0 / slope
    product = math.prod(radii)
    both = product**2 * slope**4  # R₁ R₂
    squares = u * u
    others = np.stack([squares[:, [1, 2]], squares[:, [0, 2]], squares[:, [0, 1]]]).sum(axis=2)
    curved = (a * a) @ others / (product**2 * slope**3)  # 1/R₁ + 1/R₂
    area = product * slope * weight * (1.0 + r * curved + r * r / both)
    outward = (support + r) * area
    points = a * u + r * normal
    second = (points**2 * outward[:, None]).sum(axis=0) / 5.0
    return (float(outward.sum()) / 3.0, *second.tolist())
