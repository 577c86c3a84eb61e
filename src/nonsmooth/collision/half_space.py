"""Contacts of cylinders, ellipsoids, convex hulls and meshes with half-spaces, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull as Hull

from nonsmooth.collision.contacts import Floats
from nonsmooth.collision.features import RIM_POINTS, Manifold, rim
from nonsmooth.model.shapes import ConvexHull, Cylinder, Ellipsoid, Mesh, Primitive

_AS_LOW = 1e-9  # part of the radius


class PlaneTouch:
    """The points of one shape that can touch a half-space.

    - hull and mesh: the corners of the convex hull; the feature is the number of the vertex;
    - cylinder: eight points of each rim (features 0 to 15), and each rim's lowest point (16, 17);
    - ellipsoid: the lowest point.
    """

    def __init__(self, shape: Primitive) -> None:
        self._shape = shape
        self._points = np.empty((0, 3))
        self._features: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        if isinstance(shape, ConvexHull):
            self._points, self._features = shape.vertices, np.arange(len(shape.vertices))
        elif isinstance(shape, Mesh):
            self._features = np.sort(Hull(shape.vertices).vertices).astype(np.int64)
            self._points = shape.vertices[self._features]
        elif isinstance(shape, Cylinder):
            self._points = np.vstack([rim(shape, -1.0), rim(shape, 1.0)])
            self._features = np.arange(2 * RIM_POINTS + 2)

    def contacts(
        self, centre: Floats, axes: Floats, origin: Floats, outward: Floats, reach: float
    ) -> Manifold | None:
        """Contacts within `reach` (m) of the plane through `origin`; the normal is its `outward` one."""
        down = -outward @ axes
        points = self._points
        if isinstance(self._shape, Ellipsoid):
            radii = np.array(self._shape.radii)
            points = (radii * radii * down / np.linalg.norm(radii * down))[None]
        elif isinstance(self._shape, Cylinder):
            points = np.vstack([points, _lowest_of_rims(self._shape, down)])
        world = centre + points @ axes.T
        gap = (world - origin) @ outward
        near = gap <= reach
        if isinstance(self._shape, Cylinder):
            # Each rim's own lowest point is left out where one of its fixed points is as low.
            fixed = gap[:-2].reshape(2, RIM_POINTS).min(axis=1)
            near[-2:] &= gap[-2:] < fixed - _AS_LOW * self._shape.radius
        if not near.any():
            return None
        gap = gap[near]
        return Manifold(world[near] - 0.5 * gap[:, None] * outward, outward, gap, self._features[near])


def _lowest_of_rims(shape: Cylinder, down: Floats) -> Floats:
    across = down[:2] / max(float(np.hypot(down[0], down[1])), 1e-300)
    x, y = shape.radius * across
    return np.array([[x, y, -0.5 * shape.length], [x, y, 0.5 * shape.length]])
