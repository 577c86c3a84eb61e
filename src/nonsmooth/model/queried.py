"""`Queried`: distances, overlaps and rays in the present state of a system, for sensors and planners."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.model.jointed import JointedBodies
from nonsmooth.model.shapes import Shape

Place = int | str | Shape | tuple[Shape, ArrayLike] | tuple[Shape, ArrayLike, ArrayLike] | ArrayLike
"""An end of a distance: a body, a shape that is not in the system, or a point."""

Bodies = int | str | Sequence[int | str]
"""One body or several, by index or name."""


class Queried(JointedBodies):
    """Jointed bodies with geometric queries."""

    def __init__(self) -> None:
        super().__init__()
        self._queries: Any = None

    def distance(self, a: Place, b: Place) -> Any:
        """Return the distance of two bodies, shapes or points in the present state: a `Distance`.

        It has the `gap` in m (negative in overlap: minus the least translation that ends it), the nearest
        points `point_a` and `point_b` (3,) in m and the `normal` (3,) from a to b, all in the world frame.
        The gap of bodies with several shapes is the smallest over the pairs of their shapes. In overlap with
        a mesh or a height field it is that of the deepest contact.

        Args:
            a: a body, by index or name; a point (3,) in m, world frame; a shape that is not in the system,
                whose frame is the world's; or such a shape with the position (3,) in m of its frame's origin
                and, if it is turned, its quaternion: (shape, position) or (shape, position, orientation).
            b: the same.
        """
        return self._asked().distance(a, b)

    def overlap(self, a: Place, b: Place) -> bool:
        """Return whether two bodies, shapes or points overlap or touch; arguments as in `distance`."""
        return bool(self._asked().overlap(a, b))

    def cast_ray(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        max_distance: float = np.inf,
        ignore: Bodies | None = None,
    ) -> Any:
        """Return the first body hit by a ray in the present state: a `RayHit`, or None.

        It has the index `body`, the `distance` in m from the origin, and `point` and outward `normal` (3,) of
        the surface there, in the world frame. If the ray begins inside a solid, the distance is 0 and the
        normal is that of the nearest surface. An open mesh has no inside and is met from both sides.

        Args:
            origin: (3,) in m, world frame.
            direction: (3,), of any length.
            max_distance: m.
            ignore: a body or several that the ray passes through, such as the one that carries the sensor.
        """
        return self._asked().cast_ray(origin, direction, max_distance, ignore)

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: float = np.inf,
        ignore: Bodies | None = None,
    ) -> Any:
        """Return the results of `cast_ray` for r rays at once, as arrays: a `RayHits`.

        It has `body` (r,), −1 for no hit, `distance` (r,) in m, infinite there, and `point` and
        `normal` (r, 3), NaN there. Its items are those of `cast_ray`.

        Args:
            origins: (r, 3) in m, world frame, or one (3,) for all.
            directions: (r, 3), of any length.
            max_distance: m.
            ignore: bodies that the rays pass through.
        """
        return self._asked().cast_rays(origins, directions, max_distance, ignore)

    def _asked(self) -> Any:
        # The narrow phase is above the model and is looked up by name on first use.
        if self._queries is None:
            self._queries = importlib.import_module("nonsmooth.collision.queries").Queries(self)
        return self._queries
