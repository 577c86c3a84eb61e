"""Queries for sensors and planners: distances, closest points, overlaps, rays."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.collision.bounds import local_bounds
from nonsmooth.collision.closest import Closest, Nearest, Placed
from nonsmooth.collision.kernels import placement
from nonsmooth.collision.narrow_phase import NarrowPhase
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import HALF_SPACE, Piece, Primitive, Shape, Sphere
from nonsmooth.model.system import System

_KEPT = 32
"""Largest number of pairs with loose shapes whose arrays are cached."""


@dataclass(frozen=True)
class Distance:
    """Distance and nearest points of two bodies, shapes or points."""

    gap: float
    """m; in overlap, minus the length of the shortest separating translation."""
    point_a: Floats
    """(3,) in m, world frame: on the surface of the first."""
    point_b: Floats
    """(3,) in m, world frame: on the surface of the second."""
    normal: Floats
    """(3,) unit vector from the first to the second."""


@dataclass(frozen=True)
class RayHit:
    """First hit of a ray."""

    body: int
    distance: float
    """m from the ray's origin; 0 if the ray begins inside."""
    point: Floats
    """(3,) in m, world frame."""
    normal: Floats
    """(3,) outward unit normal of the surface there."""


@dataclass(frozen=True, eq=False)
class RayHits(Sequence["RayHit | None"]):
    """First hits of r rays, as arrays; items are `RayHit`, or None."""

    body: Integers
    """(r,) index; −1 without a hit."""
    distance: Floats
    """(r,) in m from the rays' origins; infinite without a hit."""
    point: Floats
    """(r, 3) in m, world frame; NaN without a hit."""
    normal: Floats
    """(r, 3) outward unit normals; NaN without a hit."""

    def __len__(self) -> int:
        return len(self.body)

    def __getitem__(self, ray: Any) -> Any:
        if isinstance(ray, slice):
            return RayHits(self.body[ray], self.distance[ray], self.point[ray], self.normal[ray])
        if self.body[ray] < 0:
            return None
        return RayHit(int(self.body[ray]), float(self.distance[ray]), self.point[ray], self.normal[ray])

    def __iter__(self) -> Iterator[RayHit | None]:
        return (self[ray] for ray in range(len(self)))


class _Side(NamedTuple):
    """One side of a distance, with its pose: a body of the system, or a loose shape."""

    body: int
    """Index; −1 for a loose shape."""
    pieces: list[Piece]
    """Of a loose shape."""
    position: Floats
    quaternion: Floats


class Queries:
    """Queries of a system in its present state; its shapes are read once."""

    def __init__(self, system: System) -> None:
        self._system, self._table = system, system.shapes
        self._materials = system.materials.pair_table()
        self._whole = _Scene(self._table, self._materials)
        self._loose: OrderedDict[tuple[Any, ...], _Scene] = OrderedDict()

    def distance(self, a: Any, b: Any) -> Distance:
        """Distance of two bodies, shapes or points; the smallest over the pairs of their shapes."""
        one, two = self._side("a", a), self._side("b", b)
        if one.body == two.body >= 0:
            raise ProblemError(f"a and b are both {self._system.label(one.body)}: give two different bodies")
        scene, rows = self._whole, [self._rows(side.body) for side in (one, two)]
        if one.body < 0 or two.body < 0:
            scene = self._with_loose(one, two)
            counts = [
                len(found) if side.body >= 0 else len(side.pieces)
                for side, found in zip((one, two), rows, strict=True)
            ]
            rows = [np.arange(counts[0]), np.arange(counts[0], sum(counts))]
        return Distance(*scene.closest(rows[0], rows[1], one, two))

    def overlap(self, a: Any, b: Any) -> bool:
        """Whether two bodies, shapes or points overlap or touch."""
        return self.distance(a, b).gap <= 0.0

    def cast_ray(
        self, origin: ArrayLike, direction: ArrayLike, max_distance: float = math.inf, ignore: Any = None
    ) -> RayHit | None:
        """First body hit by a ray from `origin` (3,) in m along `direction` (3,); None without a hit."""
        start = check.vector("origin of a ray", origin)
        way = check.vector("direction of a ray", direction)
        found: RayHit | None = self.cast_rays(start, way[None], max_distance, ignore)[0]
        return found

    def cast_rays(
        self, origins: ArrayLike, directions: ArrayLike, max_distance: float = math.inf, ignore: Any = None
    ) -> RayHits:
        """`cast_ray` for r rays at once: `origins` (r, 3), or one (3,) for all, and `directions` (r, 3)."""
        way = check.array("directions of rays", directions, (-1, 3), "vectors as an array (r, 3)")
        if np.ndim(origins) == 1:
            start = np.tile(check.vector("origins of rays", origins), (len(way), 1))
        else:
            start = check.array(
                "origins of rays",
                origins,
                (len(way), 3),
                f"a point for each of {len(way)} rays, or one (3,) for all",
            )
        length = np.linalg.norm(way, axis=1)
        if not np.all(length > 0.0):
            raise ProblemError(f"direction {int(np.argmin(length))} of a ray is zero: give a nonzero vector")
        if not max_distance > 0.0:
            raise ProblemError(f"max_distance of a ray is {max_distance} m: give a positive length")
        way = np.ascontiguousarray(way / length[:, None])
        skipped = np.zeros(self._system.count, dtype=np.bool_)
        if ignore is not None:
            several = not isinstance(ignore, str) and isinstance(ignore, Sequence | np.ndarray | set)
            skipped[[self._system.index(body) for body in (ignore if several else [ignore])]] = True
        hit, distance, normal = self._whole.cast(self._system, start, way, float(max_distance), skipped)
        none = hit < 0
        point = start + np.where(none, 0.0, distance)[:, None] * way
        point[none] = normal[none] = np.nan
        body = np.where(none, -1, self._table.body[hit]) if len(self._table) else hit
        return RayHits(body.astype(np.int64), distance, point, normal)

    def _side(self, name: str, given: Any) -> _Side:
        if isinstance(given, str | int | np.integer):
            body = self._system.index(given)  # type: ignore[arg-type]
            if not len(self._rows(body)):
                raise ProblemError(f"{self._system.label(body)} has no shape: distances need one")
            return _Side(body, [], self._system.position[body], self._system.quaternion[body])
        if isinstance(given, Shape):
            given = (given, check.ORIGIN)
        if isinstance(given, tuple | list) and len(given) in (2, 3) and isinstance(given[0], Shape):
            position = check.vector(f"the position of shape {name}", given[1])
            turn = np.array(quaternions.IDENTITY)
            if len(given) == 3:
                turn = check.array(f"the orientation of shape {name}", given[2], (4,), "a quaternion")
                if not np.any(turn):
                    raise ProblemError(f"the orientation of shape {name} is zero: use (1, 0, 0, 0) for none")
                turn = quaternions.normalise(turn)
            return _Side(-1, given[0].pieces(), position, turn)
        if isinstance(given, Sequence | np.ndarray) and np.shape(given) == (3,):
            point = check.vector(f"point {name}", given)
        else:
            raise ProblemError(
                f"{name} is {given!r}: give a body by index or name, a point (3,), a shape, or a tuple "
                "(shape, position) or (shape, position, orientation)"
            )
        return _Side(-1, _POINT, point, np.array(quaternions.IDENTITY))

    def _rows(self, body: int) -> Integers:
        first, end = np.searchsorted(self._table.body, (body, body + 1))
        return np.arange(first, end)

    def _with_loose(self, one: _Side, two: _Side) -> _Scene:
        """A scene of the shapes of both sides; shapes of the same kinds reuse its arrays."""
        key = (*self._key(one), "and", *self._key(two))
        shapes = [*self._pieces(one), *self._pieces(two)]
        scene = self._loose.get(key)
        if scene is None:
            numbers = np.repeat([0, 1], [len(self._pieces(side)) for side in (one, two)])
            scene = _Scene(_table_of(shapes, numbers), self._materials)
            self._loose[key] = scene
            if len(self._loose) > _KEPT:
                self._loose.popitem(last=False)
        self._loose.move_to_end(key)
        scene.fill(shapes)
        return scene

    def _pieces(self, side: _Side) -> list[Piece]:
        if side.body < 0:
            return side.pieces
        t = self._table
        return [Piece(t.objects[s], t.offset[s], t.rotation[s]) for s in self._rows(side.body)]

    def _key(self, side: _Side) -> tuple[Any, ...]:
        if side.body >= 0:
            return ("body", side.body)
        return tuple(piece.shape.kind if piece.shape.stored is None else piece.shape for piece in side.pieces)


class _Scene:
    """Shapes for the narrow phase, and arrays for their placement."""

    def __init__(self, table: ShapeTable, materials: PairTable) -> None:
        self._narrow = NarrowPhase(table, materials)
        self._shapes = list(table.objects)
        self._bound = local_bounds(table)
        count = len(table)
        axes = np.tile(np.eye(3), (count, 1, 1))  # constant for spheres
        self._at = Placed(np.empty((count, 4)), axes, np.empty((count, 7)))
        self._closest = Closest(self._narrow, self._shapes)

    def fill(self, pieces: list[Piece]) -> None:
        """Replace the shapes by others of the same kinds, with the same arrays."""
        shapes = self._narrow.shapes
        for row, (shape, position, orientation) in enumerate(pieces):
            shapes.offset[row], shapes.rotation[row] = position, orientation
            if self._shapes[row] is not shape:  # bounds of large meshes are expensive
                self._shapes[row], shapes.size[row] = shape, shape.sizes
                self._bound[row] = shape.local_bound()

    def closest(self, own: Integers, other: Integers, one: _Side, two: _Side) -> Nearest:
        """Nearest points of the shapes `own` of the first side and `other` of the second."""
        rows = np.concatenate([own, other])
        self._place(
            rows, len(own), np.array([one.position, two.position]), np.array([one.quaternion, two.quaternion])
        )
        bound, kind = self._at.bound, self._narrow.shapes.tags[:, 1]
        apart = np.linalg.norm(bound[own, None, :3] - bound[None, other, :3], axis=2)
        least = apart - bound[own, None, 6] - bound[None, other, 6]  # lower bound of the gap
        least[(kind[own, None] == HALF_SPACE) | (kind[None, other] == HALF_SPACE)] = -np.inf
        best: Nearest | None = None
        for pair in np.argsort(least, axis=None, kind="stable").tolist():
            p, q = divmod(pair, len(other))
            if best is not None and least[p, q] >= best.gap:
                break
            found = self._closest.of(int(own[p]), int(other[q]), self._at)
            if best is None or found.gap < best.gap:
                best = found
        assert best is not None
        return best

    def _place(self, rows: Integers, first: int, position: Floats, quaternion: Floats) -> None:
        """Place some of the shapes: the `first` ones belong to the first side, the rest to the second."""
        shapes, at = self._narrow.shapes, self._at
        tags = shapes.tags[rows]
        tags[:, 0] = np.arange(len(rows)) >= first
        some = shapes._replace(
            tags=tags, size=shapes.size[rows], offset=shapes.offset[rows], rotation=shapes.rotation[rows]
        )
        there = Placed(at.centre[rows], at.axes[rows], at.bound[rows])
        placement.place(some, self._bound[rows], position, quaternion, np.zeros(2), *there)
        at.centre[rows], at.axes[rows], at.bound[rows] = there

    def cast(
        self, system: System, origins: Floats, ways: Floats, limit: float, skipped: NDArray[np.bool_]
    ) -> tuple[Integers, Floats, Floats]:
        """The first shape that each ray hits (−1 for none), its distance, and the normal there."""
        placement.place(
            self._narrow.shapes, self._bound, system.position, system.quaternion, np.zeros(system.count),
            *self._at,
        )  # fmt: skip
        hit = np.full(len(origins), -1, dtype=np.int64)
        distance, normal = np.full(len(origins), np.inf), np.zeros((len(origins), 3))
        self._narrow.cast(*self._at, origins, ways, limit, skipped, hit, distance, normal)
        return hit, distance, normal


class _Point(Sphere):
    """A ball of radius zero."""

    def __init__(self) -> None:
        object.__setattr__(self, "radius", 0.0)


_POINT = _Point().pieces()


def _table_of(pieces: list[Piece], body: Integers) -> ShapeTable:
    """A table of shapes outside a system."""
    shapes: tuple[Primitive, ...] = tuple(piece.shape for piece in pieces)
    return ShapeTable(
        body=body.astype(np.int32),
        kind=np.array([shape.kind for shape in shapes], dtype=np.int32),
        size=np.array([shape.sizes for shape in shapes]),
        offset=np.array([piece.position for piece in pieces]),
        rotation=np.array([piece.orientation for piece in pieces]),
        material=np.zeros(len(shapes), dtype=np.int32),
        objects=shapes,
    )
