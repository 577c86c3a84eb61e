"""Base classes of shapes: geometry in a local frame, in metres.

A `Primitive` is a single shape for collision detection: a `kind` and four numbers of `sizes`, the last of
which is the radius of a ball swept around the rest. All other properties of a primitive are methods or class
variables here; only the kernels of collision branch on the kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions
from nonsmooth.model.shapes.surfaces import ROUND_SEGMENTS, TriangleMesh

Triple = tuple[float, float, float]
Quadruple = tuple[float, float, float, float]


class MassProperties(NamedTuple):
    """Mass (kg), centre of mass (3,) in m, and inertia (3, 3) about that centre in kg·m²."""

    mass: float
    centre: Floats
    inertia: Floats


class Piece(NamedTuple):
    """A placed primitive: its origin (3,) in m and its quaternion (4,)."""

    shape: Primitive
    position: Floats
    orientation: Floats


class Shape(ABC):
    """Geometry in a local frame."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume in m³; infinite for a half-space."""

    @property
    def without_mass(self) -> str:
        """Reason and cure for an unknown mass, as the end of "the body has …"; empty if it is known."""
        return ""

    @abstractmethod
    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""

    @abstractmethod
    def reach(self, point: Floats) -> float:
        """Return an upper bound (m) on the distance of the shape's points from a point of its frame."""

    @abstractmethod
    def pieces(self) -> list[Piece]:
        """Return the primitives of the shape."""


class Primitive(Shape):
    """A single shape for collision detection."""

    kind: ClassVar[int]
    """Number in `ShapeTable.kind` and in recordings."""
    title: ClassVar[str]
    """Name in messages."""
    scene_name: ClassVar[str]
    """Value of `shape` in scene files."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Arguments, in order, which are also keys in scene files."""
    optional_keys: ClassVar[tuple[str, ...]] = ()
    """Optional keyword arguments, which are also keys in scene files."""
    notes: str = ""
    """Parts removed from the given geometry, such as "2 repeated points"; empty for none."""
    smooth: ClassVar[bool] = False
    """Whether a drawing averages the normals at the vertices of `surface`."""

    @property
    def extents(self) -> Triple:
        """The first three numbers of `ShapeTable.size`, in m."""
        return (0.0, 0.0, 0.0)

    @property
    def sizes(self) -> Quadruple:
        """The row of `ShapeTable.size` in m: three extents and the rounding."""
        return (*self.extents, 0.0)

    @property
    def swept_radius(self) -> float:
        """Radius (m) of the ball swept around the shape's core."""
        return self.sizes[3]

    @abstractmethod
    def core_support(self, direction: Floats) -> Floats:
        """Return the farthest point (3,) in m of the core along a unit vector, in its frame."""

    def support(self, direction: ArrayLike) -> Floats:
        """Return the point (3,) in m that is farthest along `direction` (3,), in the shape's frame."""
        along = check.vector("direction", direction)
        length = float(np.linalg.norm(along))
        if length == 0.0:
            raise ProblemError("direction is zero: give a nonzero direction")
        unit = along / length
        return self.core_support(unit) + self.swept_radius * unit

    @abstractmethod
    def local_bound(self) -> Floats:
        """Return (7,) in m: centre of a box along the shape's axes, its half extents, radius of a ball.

        The box and the ball have the same centre and both contain the shape. All are zero if it is unbounded.
        """

    @classmethod
    def local_bounds(cls, shapes: Sequence[Primitive], size: Floats) -> Floats:
        """Return `local_bound` of k shapes of this class, whose rows of sizes are `size` (k, 4)."""
        known: dict[int, Floats] = {}
        for shape in shapes:
            if id(shape) not in known:
                known[id(shape)] = shape.local_bound()
        return np.array([known[id(shape)] for shape in shapes]).reshape(-1, 7)

    @abstractmethod
    def surface(self, detail: int = ROUND_SEGMENTS, extent: float = 1.0) -> TriangleMesh:
        """Return vertices (v, 3) in m and outward triangles (f, 3) that show the shape in its own frame.

        Args:
            detail: straight pieces of a full circle.
            extent: m, side of the square that stands for an infinite plane.
        """

    @property
    def stored(self) -> tuple[Floats, Indices] | None:
        """Vertices (v, 3) and triangles (t, 3) stored in a recording besides the sizes; None for none."""
        return None

    @classmethod
    @abstractmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Primitive:
        """Return the shape that has these `sizes`, and these arrays if its `stored` is not None."""

    def pieces(self) -> list[Piece]:
        """Return the shape itself, at the origin."""
        return [Piece(self, np.zeros(3), np.array(quaternions.IDENTITY))]


class Symmetric(Primitive):
    """A primitive with its centre at its origin and its principal axes along x, y, z."""

    @property
    @abstractmethod
    def _moments(self) -> Triple:
        """Principal moments of inertia divided by the mass, in m²."""

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre and inertia of the shape filled with `density` (kg/m³)."""
        mass = check.positive("density", density, "kg/m³") * self.volume
        return MassProperties(mass, np.zeros(3), mass * np.diag(self._moments))


class Rounded(Primitive):
    """A primitive with a ball of radius `rounding` (m) swept around it: its sizes are those of the core."""

    rounding: float
    optional_keys: ClassVar[tuple[str, ...]] = ("rounding",)

    @property
    def sizes(self) -> Quadruple:
        """The row of `ShapeTable.size` in m: three extents and the rounding."""
        return (*self.extents, self.rounding)

    def _check_rounding(self, owner: str) -> None:
        object.__setattr__(self, "rounding", checked_rounding(owner, self.rounding))


@dataclass(frozen=True)
class RoundedAboutZ(Rounded):
    """A rounded solid that looks the same all around the z axis, of `radius` and `length` (m)."""

    keys: ClassVar[tuple[str, ...]] = ("radius", "length")
    smooth: ClassVar[bool] = True
    radius: float
    length: float
    rounding: float = 0.0

    def __post_init__(self) -> None:
        check_round(self, f"a {self.title}")
        self._check_rounding(f"a {self.title}")

    @property
    def extents(self) -> Triple:
        """(radius, half the length, 0) in m."""
        return (self.radius, 0.5 * self.length, 0.0)

    @classmethod
    def rebuilt(cls, size: Quadruple, vertices: Floats, triangles: Indices) -> Self:
        """Return the solid of these sizes."""
        return cls(size[0], 2.0 * size[1], size[3])


def bound(half: ArrayLike, radius: float, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """Return a row of `local_bounds`: half extents (3,) and ball radius about `centre` (3,), all in m."""
    return np.array([*np.asarray(centre).tolist(), *np.asarray(half).tolist(), radius])


def lengths(name: str, owner: str, value: Any) -> Triple:
    """Return three positive lengths (m)."""
    found = check.array(f"{name} of {owner}", value, (3,), "three lengths")
    x, y, z = (
        check.positive(f"{name} of {owner} along {axis} (index {i})", length, "m")
        for i, (axis, length) in enumerate(zip("xyz", found.tolist(), strict=True))
    )
    return x, y, z


def check_round(shape: Primitive, owner: str) -> None:
    """Check that `radius` and `length` of a shape are positive numbers."""
    for name in ("radius", "length"):
        object.__setattr__(shape, name, check.positive(f"the {name} of {owner}", getattr(shape, name), "m"))


def checked_rounding(owner: str, value: Any) -> float:
    """Return a rounding (m), zero or positive."""
    name = f"the rounding of {owner}"
    rounding = check.number(name, value)
    if rounding < 0.0:
        raise ProblemError(f"{name} is {rounding:g} m: it must not be negative")
    return rounding if rounding == 0.0 else check.positive(name, rounding, "m")


def from_squares(values: Triple, divisor: float) -> Triple:
    """Return the moments about x, y, z from mean squares along them, which are values² / divisor."""
    a, b, c = (value * value / divisor for value in values)
    return (b + c, c + a, a + b)


def from_second_moments(second: Sequence[float]) -> Triple:
    """Return the moments about x, y, z from the mean squares (m²) along them."""
    a, b, c = second
    return (b + c, c + a, a + b)


def counted(counts: dict[str, int]) -> str:
    """Return a text such as "1 repeated vertex, 2 unused vertices"; keys are names of one thing."""
    return ", ".join(f"{count} {_plural(name, count)}" for name, count in counts.items() if count)


def _plural(name: str, count: int) -> str:
    if count == 1:
        return name
    if name.endswith("vertex"):
        return name[:-2] + "ices"
    first, _, rest = name.partition(" without ")
    return f"{first}s without {rest}" if rest else name + "s"


def set_frozen(shape: Shape, **arrays: NDArray[Any]) -> None:
    """Set read-only arrays as attributes of a frozen shape."""
    for name, array in arrays.items():
        array.flags.writeable = False
        object.__setattr__(shape, name, array)
