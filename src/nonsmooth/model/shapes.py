"""Shapes: geometry in its own frame, in metres, with volume, mass and inertia at uniform density.

A `Primitive` is what collision knows: it has a `kind` and up to three numbers of `size`. A `Compound`
is several shapes of one body.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ProblemError
from nonsmooth.model import _polyhedra as polyhedra
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]

SPHERE, HALF_SPACE, BOX, CAPSULE, CYLINDER, ELLIPSOID, CONVEX_HULL, MESH = range(8)


class MassProperties(NamedTuple):
    """Mass (kg), centre of mass (3,) in m, and inertia (3, 3) about that centre in kg·m²."""

    mass: float
    centre: Floats
    inertia: Floats


class Piece(NamedTuple):
    """A primitive and where it sits: its origin (3,) in m and its quaternion (4,)."""

    shape: Primitive
    position: Floats
    orientation: Floats


class Shape(ABC):
    """Geometry in its own frame."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume in m³; infinite for a half-space."""

    @abstractmethod
    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""

    @abstractmethod
    def reach(self, point: Floats) -> float:
        """Return how far (m) the shape reaches from a point of its frame; never less than the truth."""

    @abstractmethod
    def pieces(self) -> list[Piece]:
        """Return the primitives that the shape is made of."""


class Primitive(Shape):
    """A shape that collision treats as one."""

    kind: ClassVar[int]
    """One of SPHERE, HALF_SPACE, BOX, CAPSULE, CYLINDER, ELLIPSOID, CONVEX_HULL, MESH."""

    @property
    def extents(self) -> Triple:
        """The three numbers of `ShapeTable.size`, in m."""
        return (0.0, 0.0, 0.0)

    def pieces(self) -> list[Piece]:
        """Return the shape itself, where it is."""
        return [Piece(self, np.zeros(3), np.array(quaternions.IDENTITY))]


class _Symmetric(Primitive):
    """A primitive with its centre at its origin and its principal axes along x, y, z."""

    @property
    @abstractmethod
    def _moments(self) -> Triple:
        """Principal moments of inertia divided by the mass, in m²."""

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        mass = check.positive("density", density, "kg/m³") * self.volume
        return MassProperties(mass, np.zeros(3), mass * np.diag(self._moments))


@dataclass(frozen=True)
class Sphere(_Symmetric):
    """A ball of `radius` (m) about its origin."""

    kind: ClassVar[int] = SPHERE
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check.positive("the radius of a sphere", self.radius, "m"))

    @property
    def extents(self) -> Triple:
        """(radius, 0, 0) in m."""
        return (self.radius, 0.0, 0.0)

    @property
    def volume(self) -> float:
        """4/3 π r³ in m³."""
        return 4.0 / 3.0 * math.pi * self.radius**3

    @property
    def _moments(self) -> Triple:
        moment = 0.4 * self.radius**2
        return (moment, moment, moment)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the sphere reaches from a point of its frame."""
        return float(np.linalg.norm(point)) + self.radius


@dataclass(frozen=True)
class HalfSpace(Primitive):
    """All that lies below z = 0 of its frame; the outward normal is +z. Only fixed bodies can have it."""

    kind: ClassVar[int] = HALF_SPACE

    @property
    def volume(self) -> float:
        """Infinite."""
        return math.inf

    def mass_properties(self, density: float) -> MassProperties:
        """Raise: half a space has no finite mass."""
        raise ProblemError("a half-space has no finite mass: make its body fixed")

    def reach(self, point: Floats) -> float:
        """Return infinity."""
        return math.inf


@dataclass(frozen=True)
class Box(_Symmetric):
    """A cuboid about its origin; `size` holds its three full edge lengths (m) along x, y, z."""

    kind: ClassVar[int] = BOX
    size: Triple

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _lengths("size", "a box", self.size))

    @property
    def extents(self) -> Triple:
        """Half the edge lengths in m."""
        x, y, z = self.size
        return (0.5 * x, 0.5 * y, 0.5 * z)

    @property
    def volume(self) -> float:
        """Product of the edge lengths in m³."""
        return math.prod(self.size)

    @property
    def _moments(self) -> Triple:
        return _from_squares(self.size, 12.0)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the box reaches from a point of its frame."""
        return float(np.linalg.norm(np.abs(point) + self.extents))


@dataclass(frozen=True)
class Capsule(_Symmetric):
    """A cylinder about the z axis of `radius` and `length` (m), with half a ball on either end.

    `length` is that of the cylinder alone: the capsule is length + 2 radius long.
    """

    kind: ClassVar[int] = CAPSULE
    radius: float
    length: float

    def __post_init__(self) -> None:
        _check_round(self, "a capsule")

    @property
    def extents(self) -> Triple:
        """(radius, half the length, 0) in m."""
        return (self.radius, 0.5 * self.length, 0.0)

    @property
    def volume(self) -> float:
        """π r² l + 4/3 π r³ in m³."""
        return math.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    @property
    def _moments(self) -> Triple:
        r, length = self.radius, self.length
        share = length / (length + 4.0 / 3.0 * r)  # of the cylinder in the whole mass
        # A half ball's own moment across and the shift of its centroid (3r/8 above its flat face).
        across = share * (r * r / 4.0 + length * length / 12.0) + (1.0 - share) * (
            0.4 * r * r + length * length / 4.0 + 0.375 * length * r
        )
        along = share * r * r / 2.0 + (1.0 - share) * 0.4 * r * r
        return (across, across, along)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the capsule reaches from a point of its frame."""
        x, y, z = np.abs(point)
        return math.hypot(x, y, z + 0.5 * self.length) + self.radius


@dataclass(frozen=True)
class Cylinder(_Symmetric):
    """A cylinder about the z axis of `radius` and `length` (m), its middle at the origin."""

    kind: ClassVar[int] = CYLINDER
    radius: float
    length: float

    def __post_init__(self) -> None:
        _check_round(self, "a cylinder")

    @property
    def extents(self) -> Triple:
        """(radius, half the length, 0) in m."""
        return (self.radius, 0.5 * self.length, 0.0)

    @property
    def volume(self) -> float:
        """π r² l in m³."""
        return math.pi * self.radius**2 * self.length

    @property
    def _moments(self) -> Triple:
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return (across, across, 0.5 * self.radius**2)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the cylinder reaches from a point of its frame."""
        x, y, z = np.abs(point)
        return math.hypot(math.hypot(x, y) + self.radius, z + 0.5 * self.length)


@dataclass(frozen=True)
class Ellipsoid(_Symmetric):
    """An ellipsoid about its origin; `radii` holds its half axes (m) along x, y, z."""

    kind: ClassVar[int] = ELLIPSOID
    radii: Triple

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", _lengths("radii", "an ellipsoid", self.radii))

    @property
    def extents(self) -> Triple:
        """The half axes in m."""
        return self.radii

    @property
    def volume(self) -> float:
        """4/3 π a b c in m³."""
        return 4.0 / 3.0 * math.pi * math.prod(self.radii)

    @property
    def _moments(self) -> Triple:
        return _from_squares(self.radii, 5.0)

    def reach(self, point: Floats) -> float:
        """Return a distance (m) that no point of the ellipsoid exceeds: exact from its centre."""
        return float(np.linalg.norm(point)) + max(self.radii)


class _Polyhedron(Primitive):
    """A solid bounded by triangles that are counterclockwise when seen from outside."""

    vertices: Floats
    triangles: NDArray[np.int32]

    @property
    def volume(self) -> float:
        """Volume in m³."""
        return polyhedra.moments(self.vertices, self.triangles).volume

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        volume, centre, inertia = polyhedra.moments(self.vertices, self.triangles)
        rho = check.positive("density", density, "kg/m³")
        return MassProperties(rho * volume, centre, rho * inertia)

    def reach(self, point: Floats) -> float:
        """Return how far (m) the shape reaches from a point of its frame."""
        return float(np.max(np.linalg.norm(self.vertices - point, axis=1)))


@dataclass(frozen=True, eq=False)
class ConvexHull(_Polyhedron):
    """The convex hull of `points` (p, 3) in m, which must not lie in a plane.

    `vertices` (v, 3) are those points that are corners of the hull, in the order given, and `triangles`
    (t, 3) its faces; the frame is that of the points.
    """

    kind: ClassVar[int] = CONVEX_HULL
    points: Floats

    def __post_init__(self) -> None:
        points = check.array("points of a convex hull", self.points, (-1, 3), "points as an array (p, 3)")
        vertices, triangles = polyhedra.hull(points)
        _set_frozen(self, points=points, vertices=vertices, triangles=triangles)


@dataclass(frozen=True, eq=False)
class Mesh(_Polyhedron):
    """A solid with the surface `triangles` (t, 3), rows of `vertices` (v, 3) in m.

    The surface must be closed, and each triangle counterclockwise when seen from outside.
    """

    kind: ClassVar[int] = MESH
    vertices: Floats
    triangles: NDArray[np.int32]

    def __post_init__(self) -> None:
        vertices = check.array("vertices of a mesh", self.vertices, (-1, 3), "points as an array (v, 3)")
        triangles = polyhedra.checked_triangles(vertices, self.triangles)
        _set_frozen(self, vertices=vertices, triangles=triangles)


@dataclass(frozen=True)
class Compound(Shape):
    """Several shapes that move as one: `parts` are tuples (shape, position (3,) in m, quaternion (4,)).

    Where parts overlap, the mass from a density counts the overlap for each of them.
    """

    parts: tuple[tuple[Shape, Any, Any], ...]

    def __post_init__(self) -> None:
        parts = []
        for number, part in enumerate(self.parts):
            label = f"part {number} of a compound"
            if not isinstance(part, tuple | list) or len(part) != 3 or not isinstance(part[0], Shape):
                raise ProblemError(f"{label} is {part!r}: give (shape, position, orientation)")
            position = check.vector(f"the position of {label}", part[1])
            orientation = check.array(
                f"the orientation of {label}", part[2], (4,), "a quaternion (w, x, y, z)"
            )
            parts.append((part[0], tuple(position), tuple(quaternions.normalise(orientation))))
        if not parts:
            raise ProblemError("a compound has no parts: give at least one (shape, position, orientation)")
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def volume(self) -> float:
        """Sum of the parts' volumes in m³."""
        return sum(shape.volume for shape, _, _ in self.parts)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the parts filled with `density` (kg/m³)."""
        masses, centres, inertias = [], [], []
        for shape, position, orientation in self.parts:
            mass, centre, inertia = shape.mass_properties(density)
            turn = quaternions.matrix(orientation)
            masses.append(mass)
            centres.append(position + turn @ centre)
            inertias.append(turn @ inertia @ turn.T)
        total = sum(masses)
        middle = np.average(centres, axis=0, weights=masses)
        whole = np.zeros((3, 3))
        for mass, centre, inertia in zip(masses, centres, inertias, strict=True):
            arm = centre - middle
            whole += inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return MassProperties(total, middle, 0.5 * (whole + whole.T))

    def reach(self, point: Floats) -> float:
        """Return how far (m) the parts reach from a point of the compound's frame."""
        return max(
            shape.reach(quaternions.rotate_back(orientation, point - np.asarray(position)))
            for shape, position, orientation in self.parts
        )

    def pieces(self) -> list[Piece]:
        """Return the primitives of all parts, in the compound's frame."""
        return [
            Piece(
                piece.shape,
                position + quaternions.rotate(orientation, piece.position),
                quaternions.normalise(quaternions.product(orientation, piece.orientation)),
            )
            for shape, position, orientation in self.parts
            for piece in shape.pieces()
        ]


def _lengths(name: str, owner: str, value: Any) -> Triple:
    x, y, z = check.array(f"{name} of {owner}", value, (3,), "three lengths")
    return tuple(check.positive(f"{name} of {owner}", length, "m") for length in (x, y, z))  # type: ignore[return-value]


def _check_round(shape: Capsule | Cylinder, owner: str) -> None:
    for name in ("radius", "length"):
        object.__setattr__(shape, name, check.positive(f"the {name} of {owner}", getattr(shape, name), "m"))


def _from_squares(lengths: Triple, divisor: float) -> Triple:
    a, b, c = (length * length / divisor for length in lengths)
    return (b + c, c + a, a + b)


def _set_frozen(shape: Shape, **arrays: NDArray[Any]) -> None:
    for name, array in arrays.items():
        array.flags.writeable = False
        object.__setattr__(shape, name, array)
