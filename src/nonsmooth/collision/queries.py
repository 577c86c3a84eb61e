"""What sensors and planners ask of a scene: distances, closest points, overlaps, rays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.collision import _placement_kernels as placement
from nonsmooth.collision.bounds import local_bounds
from nonsmooth.collision.narrow_phase import NarrowPhase
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.system import System

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """How far two bodies are apart, and where they are nearest."""

    gap: float
    """m; negative in overlap: minus the least translation that ends it."""
    point_a: Floats
    """(3,) in m, world frame: on the surface of the first body."""
    point_b: Floats
    """(3,) in m, world frame: on the surface of the second body."""
    normal: Floats
    """(3,) unit vector from the first to the second."""


@dataclass(frozen=True)
class RayHit:
    """Where a ray first meets a body."""

    body: int
    distance: float
    """m from the ray's origin; 0 if the ray begins inside."""
    point: Floats
    """(3,) in m, world frame."""
    normal: Floats
    """(3,) outward unit normal of the surface there."""


class Queries:
    """Answers for a system in its present state; its shapes are read once."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._table = system.shapes
        self._narrow = NarrowPhase(self._table, system.materials.pair_table())
        self._local_bound = local_bounds(self._table)
        count = len(self._table)
        self._centre, self._axes = np.empty((count, 4)), np.empty((count, 3, 3))
        self._bound = np.empty((count, 7))
        self._no_reach = np.zeros(system.count)

    def distance(self, a: int | str, b: int | str) -> Distance:
        """Distance of two bodies, by index or name; the smallest over their shapes."""
        first, second = self._system.index(a), self._system.index(b)
        own, other = self._shapes_of(first), self._shapes_of(second)
        self._place()
        pairs = np.array([(p, q) for p in own for q in other], dtype=np.int32)
        best: Distance | None = None
        for p, q in pairs.tolist():
            found = self._narrow.distance(p, q, self._centre, self._axes, self._bound)
            if best is None or found[0] < best.gap:
                best = Distance(*found)
        assert best is not None
        return best

    def overlap(self, a: int | str, b: int | str) -> bool:
        """Whether two bodies overlap or touch."""
        return self.distance(a, b).gap <= 0.0

    def cast_ray(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        max_distance: float = math.inf,
        ignore: int | str | None = None,
    ) -> RayHit | None:
        """First body that a ray from `origin` (3,) in m along `direction` (3,) meets; None without one."""
        start = check.vector("origin of a ray", origin)
        way = check.vector("direction of a ray", direction)
        hits = self.cast_rays(start[None], way[None], max_distance, ignore)
        return hits[0]

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: float = math.inf,
        ignore: int | str | None = None,
    ) -> list[RayHit | None]:
        """`cast_ray` for r rays at once: `origins` and `directions` (r, 3)."""
        start = check.array("origins of rays", origins, (-1, 3), "points as an array (r, 3)")
        way = check.array("directions of rays", directions, (len(start), 3), f"{len(start)} rows of three")
        length = np.linalg.norm(way, axis=1)
        if not np.all(length > 0.0):
            raise ProblemError(f"direction {int(np.argmin(length))} of a ray is zero: give where it leads")
        if not max_distance > 0.0:
            raise ProblemError(f"max_distance of a ray is {max_distance} m: give a positive length")
        way = np.ascontiguousarray(way / length[:, None])
        self._place()
        hit = np.empty(len(start), dtype=np.int64)
        distance, normal = np.empty(len(start)), np.zeros((len(start), 3))
        skipped = -1 if ignore is None else self._system.index(ignore)
        self._narrow.cast(
            self._centre, self._axes, self._bound, start, way, float(max_distance), skipped,
            hit, distance, normal,
        )  # fmt: skip
        return [
            None
            if hit[i] < 0
            else RayHit(
                int(self._table.body[hit[i]]),
                float(distance[i]),
                start[i] + distance[i] * way[i],
                normal[i].copy(),
            )
            for i in range(len(start))
        ]

    def _shapes_of(self, body: int) -> list[int]:
        rows = np.flatnonzero(self._table.body == body).tolist()
        if not rows:
            raise ProblemError(f"{self._system.label(body)} has no shape: distances need one")
        return [int(row) for row in rows]

    def _place(self) -> None:
        placement.place(
            self._narrow.shapes, self._local_bound, self._system.position, self._system.quaternion,
            self._no_reach, self._centre, self._axes, self._bound,
        )  # fmt: skip
