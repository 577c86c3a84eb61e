"""`System`: the bodies of a scene as arrays, their shapes and materials, and the forces on them.

    system = System()
    system.add_material("ice", friction=0.02)
    system.add_plane(material="ice")
    ball = system.add_sphere(0.1, density=2500.0, position=(0, 0, 1), name="ball")

SI units. A quaternion (w, x, y, z) takes body coordinates to world coordinates; linear velocity is in the
world frame and angular velocity in the body frame. The position of a body is that of its centre of mass.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Real
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.notes import tell
from nonsmooth.errors import GeometryWarning, ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions, shapes
from nonsmooth.model.forces import AppliedForces, ForceField, OfTime, PairFunction
from nonsmooth.model.inertia import body_mass
from nonsmooth.model.materials import Material, Materials
from nonsmooth.model.queried import Queried
from nonsmooth.model.shapes import Primitive, Shape


class BodyOptions(TypedDict, total=False):
    """Keyword arguments of `System.add_body`."""

    mass: float | None
    density: float | None
    inertia: ArrayLike | None
    position: ArrayLike
    orientation: ArrayLike
    velocity: ArrayLike
    angular_velocity: ArrayLike
    material: str
    fixed: bool
    name: str | None


class System(Queried):
    """Bodies, shapes, materials, joints and applied forces; a builder that grows as bodies are added.

    The state (`position`, `quaternion`, `linear_velocity`, `angular_velocity`) is in writable arrays that
    belong to the system: fetch them again after adding bodies. All other arrays are read-only.

    Args:
        gravity: acceleration (3,) in m/s², world frame.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        super().__init__()
        self._gravity = check.vector("gravity", gravity)
        self._materials = Materials()
        self._forces = AppliedForces()
        self._constant_forces: Floats | None = None
        self._noted: set[int] = set()

    def __repr__(self) -> str:
        return (
            f"System(bodies={self.count}, fixed={int(self.fixed.sum())}, shapes={self._shapes.count}, "
            f"gravity={tuple(self._gravity.tolist())})"
        )

    # ---- materials ------------------------------------------------------------------------------

    @property
    def materials(self) -> Materials:
        """The table of materials; "default" (μ = 0.5, no restitution) always exists."""
        return self._materials

    def add_material(
        self, name: str, *, friction: float = 0.5, restitution: float = 0.0, impact_law: str = "newton"
    ) -> None:
        """Add a material with friction μ ≥ 0 and restitution from 0 to 1; "default" may be redefined.

        The restitution is that of Newton's or of Poisson's law of impact ("newton" or "poisson").
        """
        self._materials.add(Material(name, friction, restitution, impact_law))

    def set_pair(
        self,
        a: str,
        b: str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        impact_law: str | None = None,
    ) -> None:
        """Set friction, restitution or law of impact for contacts between materials `a` and `b`.

        The default is the smaller of their values, and Poisson's law if both materials have it.
        """
        self._materials.set_pair(a, b, friction=friction, restitution=restitution, impact_law=impact_law)

    # ---- bodies ---------------------------------------------------------------------------------

    def add_body(
        self,
        shape: Shape | None,
        *,
        mass: float | None = None,
        density: float | None = None,
        inertia: ArrayLike | None = None,
        position: ArrayLike = check.ORIGIN,
        orientation: ArrayLike = quaternions.IDENTITY,
        velocity: ArrayLike = check.ORIGIN,
        angular_velocity: ArrayLike = check.ORIGIN,
        material: str = "default",
        fixed: bool = False,
        name: str | None = None,
    ) -> int:
        """Add a body and return its index.

        The body's origin is its centre of mass: if the centroid of `shape` (a hull, a mesh, a compound) is
        not at the origin of its frame, the shape is shifted so that it is. Shapes with a half-space have no
        centroid and are not shifted.

        Args:
            shape: geometry, or None for a body that touches nothing.
            mass: kg; a moving body has exactly one of mass and density.
            density: kg/m³, of a body with a shape.
            inertia: about the centre of mass in the body frame, kg·m²: three principal moments or (3, 3);
                from the shape at uniform density if not given.
            position: of the centre of mass, m.
            orientation: quaternion (w, x, y, z), brought to unit length.
            velocity: of the centre of mass, m/s, world frame.
            angular_velocity: rad/s, body frame.
            material: name of a material.
            fixed: no force moves the body; it moves with the velocities given here, if any.
            name: unique name for `index` and `names`.
        """
        if shape is not None and not isinstance(shape, Shape):
            raise ProblemError(f"shape is {shape!r}: give a shape such as Sphere(0.1), or None")
        label = self._new_label(name)
        properties = body_mass(label, shape, mass=mass, density=density, inertia=inertia, fixed=bool(fixed))
        state = {
            "position": check.vector(f"position of {label}", position),
            "quaternion": _unit_quaternion(label, orientation),
            "linear_velocity": check.vector(f"velocity of {label}", velocity),
            "angular_velocity": check.vector(f"angular_velocity of {label}", angular_velocity),
        }
        body, number = self.count, self._materials.index(material)
        pieces = [] if shape is None else shape.pieces()
        for piece in pieces:  # before the body exists: a warning may be an error
            self._note(label, piece.shape)
        for piece in pieces:
            self._shapes.append(
                1,
                body=body,
                kind=piece.shape.kind,
                size=piece.shape.sizes,
                offset=piece.position - properties.centre,
                rotation=piece.orientation,
                material=number,
            )
            self._objects.append(piece.shape)
        self._bodies.append(
            1,
            **state,
            mass=properties.mass,
            inertia=properties.inertia,
            fixed=bool(fixed),
            bounding_radius=0.0 if shape is None else shape.reach(properties.centre),
        )
        if name is not None:
            self._names[name] = body
        self._changed()
        return body

    def add_sphere(self, radius: float, *, rounding: float = 0.0, **options: Unpack[BodyOptions]) -> int:
        """Add a sphere of `radius` + `rounding` (m); options as in `add_body`."""
        return self._add(options, shapes.Sphere, radius, rounding)

    def add_box(self, size: ArrayLike, *, rounding: float = 0.0, **options: Unpack[BodyOptions]) -> int:
        """Add a box with full edge lengths `size` (3,) and `rounding` in m; options as in `add_body`.

        The rounding is the radius of a ball that is swept around the box, which becomes larger by it.
        """
        return self._add(options, shapes.Box, size, rounding)

    def add_capsule(
        self, radius: float, length: float, *, rounding: float = 0.0, **options: Unpack[BodyOptions]
    ) -> int:
        """Add a capsule along z of `radius` + `rounding` (m); options as in `add_body`.

        `length` (m) is that of its cylinder.
        """
        return self._add(options, shapes.Capsule, radius, length, rounding)

    def add_cylinder(
        self, radius: float, length: float, *, rounding: float = 0.0, **options: Unpack[BodyOptions]
    ) -> int:
        """Add a cylinder along z of `radius`, `length` and `rounding` (m); options as in `add_body`."""
        return self._add(options, shapes.Cylinder, radius, length, rounding)

    def add_cone(
        self, radius: float, length: float, *, rounding: float = 0.0, **options: Unpack[BodyOptions]
    ) -> int:
        """Add a cone with its tip along +z; options as in `add_body`.

        `radius` of the base, `length` and `rounding` are in m.
        """
        return self._add(options, shapes.Cone, radius, length, rounding)

    def add_ellipsoid(
        self, radii: ArrayLike, *, rounding: float = 0.0, **options: Unpack[BodyOptions]
    ) -> int:
        """Add an ellipsoid with half axes `radii` (3,) and `rounding` in m; options as in `add_body`."""
        return self._add(options, shapes.Ellipsoid, radii, rounding)

    def add_hull(self, points: ArrayLike, *, rounding: float = 0.0, **options: Unpack[BodyOptions]) -> int:
        """Add the convex hull of `points` (p, 3) in m, with `rounding` (m); options as in `add_body`."""
        return self._add(options, shapes.ConvexHull, points, rounding)

    def add_mesh(self, vertices: ArrayLike, triangles: ArrayLike, **options: Unpack[BodyOptions]) -> int:
        """Add a mesh of `vertices` (v, 3) in m and outward `triangles`; options as in `add_body`.

        The mesh of a moving body must be closed.
        """
        return self._add(options, shapes.Mesh, vertices, triangles)

    def add_height_field(self, heights: ArrayLike, spacing: ArrayLike, **options: Unpack[BodyOptions]) -> int:
        """Add fixed terrain: `heights` (nx, ny) in m over points `spacing` (dx, dy) m apart, solid below.

        The middle of the grid is at `position`. Options as in `add_body`; `fixed` is not needed.
        """
        return self._add(
            {**options, "fixed": options.get("fixed", True)}, shapes.HeightField, heights, spacing
        )

    def _note(self, label: str, shape: Primitive) -> None:
        """Warn, once for each shape, of parts removed from it."""
        if shape.notes and id(shape) not in self._noted:
            self._noted.add(id(shape))
            tell(f"{label}: removed from its {shape.title}: {shape.notes}", GeometryWarning)

    def _add(self, options: BodyOptions, make: Callable[..., Shape], *sizes: Any) -> int:
        """Add a body of a shape that is made from `sizes`; an error names the body."""
        try:
            shape = make(*sizes)
        except ProblemError as error:
            raise ProblemError(f"{self._new_label(options.get('name'))}: {error}") from error
        return self.add_body(shape, **options)

    def add_plane(
        self,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        point: ArrayLike = check.ORIGIN,
        *,
        velocity: ArrayLike = check.ORIGIN,
        angular_velocity: ArrayLike = check.ORIGIN,
        material: str = "default",
        name: str | None = None,
    ) -> int:
        """Add a fixed half-space: solid behind the plane through `point` (m) with the outward `normal`.

        No force moves it; it moves as a rigid surface: `point` with `velocity` (m/s, world frame), and all
        of it turns about `point` with `angular_velocity` (rad/s, body frame, whose z axis is the normal).
        Along the normal that is a turntable; across it, a plane that tilts.
        """
        label = self._new_label(name)
        direction = check.vector(f"normal of {label}", normal)
        if not np.any(direction):
            raise ProblemError(f"normal of {label} is zero: give the direction that points out of the solid")
        return self.add_body(
            shapes.HalfSpace(),
            position=point,
            orientation=quaternions.between((0.0, 0.0, 1.0), direction),
            velocity=velocity,
            angular_velocity=angular_velocity,
            material=material,
            fixed=True,
            name=name,
        )

    def add_spheres(
        self,
        radius: ArrayLike,
        positions: ArrayLike,
        *,
        mass: ArrayLike | None = None,
        density: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        material: str = "default",
    ) -> Integers:
        """Add n moving spheres at once and return their indices (n,).

        Args:
            radius: m, one for all or (n,).
            positions: centres (n, 3) in m.
            mass: kg, one for all or (n,); give exactly one of mass and density.
            density: kg/m³, one for all or (n,).
            velocities: (n, 3) in m/s, world frame; at rest if not given.
            material: name of the material of all.
        """
        centre = check.array("positions", positions, (-1, 3), "centres as an array (n, 3)")
        n = len(centre)
        radii = _per_sphere("radius", radius, n, "m")
        if (mass is None) == (density is None):
            fault = "neither mass nor density" if mass is None else "both mass and density"
            raise ProblemError(f"the spheres have {fault}: give exactly one of them")
        if mass is not None:
            masses = _per_sphere("mass", mass, n, "kg")
        else:
            masses = _per_sphere("density", density, n, "kg/m³") * (4.0 / 3.0 * np.pi * radii**3)
        velocity = np.zeros((n, 3))
        if velocities is not None:
            velocity = check.array("velocities", velocities, (n, 3), f"{n} rows of three numbers")
        number = self._materials.index(material)
        index = np.arange(self.count, self.count + n)
        size = np.zeros((n, 4))
        size[:, 0] = radii
        same = n > 0 and bool(np.all(radii == radii[0]))
        self._objects += [shapes.Sphere(radii[0])] * n if same else [shapes.Sphere(r) for r in radii.tolist()]
        self._shapes.append(
            n,
            body=index,
            kind=shapes.SPHERE,
            size=size,
            offset=0.0,
            rotation=quaternions.IDENTITY,
            material=number,
        )
        self._bodies.append(
            n,
            position=centre,
            quaternion=quaternions.IDENTITY,
            linear_velocity=velocity,
            angular_velocity=0.0,
            mass=masses,
            inertia=(0.4 * masses * radii**2)[:, None, None] * np.eye(3),
            fixed=False,
            bounding_radius=radii,
        )
        self._changed()
        return index

    # ---- applied forces -------------------------------------------------------------------------

    @property
    def gravity(self) -> Floats:
        """Acceleration of gravity (3,) in m/s², world frame."""
        return self._gravity.copy()

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = check.vector("gravity", value)
        self._changed()

    def add_force(
        self,
        body: int | str,
        *,
        force: ArrayLike | OfTime | None = None,
        torque: ArrayLike | OfTime | None = None,
        point: ArrayLike | None = None,
    ) -> None:
        """Let a force or a torque act on a moving body, by index or name.

        Args:
            body: index or name.
            force: (3,) in N, world frame, or a function of time (s) that returns it.
            torque: (3,) in N·m, body frame, or a function of time (s) that returns it.
            point: (3,) in m, body frame: where the force acts; the centre of mass if not given.
        """
        index = self.index(body)
        label = self.label(index)
        if self.fixed[index]:
            raise ProblemError(f"{label} is fixed, so that no force moves it: omit the force, or fixed")
        self._forces.add_on_body(index, label, force, torque, point)
        self._changed()

    def add_force_field(self, function: ForceField) -> None:
        """Add forces and torques on all bodies by a function(t, system), called in every step.

        It receives the time (s) and this system, and returns a tuple: forces (n, 3) in N, world frame, and
        torques (n, 3) in N·m, body frame, or None.
        """
        self._forces.add_field(function)

    def add_pair_field(self, function: PairFunction, cutoff: float) -> None:
        """Let bodies whose centres are within `cutoff` (m) push or pull each other along the line of centres.

        function(distance (p,) in m, a (p,), b (p,)) returns the magnitudes (p,) in N, positive where bodies
        a and b repel each other. It is called once per step with all pairs a < b, in order; planes are
        excluded.
        """
        self._forces.add_pair_field(function, cutoff)

    def forces(self, t: float) -> Floats:
        """Return gravity and all applied forces, also those in joints, at time t (s) in the present state.

        (n, 6): force in N, world frame, then torque in N·m, body frame, about the centre of mass; without the
        gyroscopic term. Zero for fixed bodies.
        """
        total = self._constant().copy()
        self._forces.add_changing(total, t, self)
        self._joints.add_forces(total, t, self)
        return total

    def _constant(self) -> Floats:
        """Gravity and constant forces (n, 6): the same array until the system changes."""
        if self._constant_forces is None:
            constant = np.zeros((self.count, 6))
            moving = ~self.fixed
            constant[moving, :3] = self.mass[moving, None] * self._gravity
            self._forces.add_constant(constant)
            self._constant_forces = constant
        return self._constant_forces

    @property
    def steady_forces(self) -> Floats | None:
        """What `forces` returns if that is the same at all times and in all states: one array; else None.

        `forces` also lets the joints follow the state.
        """
        if self._forces.change or self._joints.forces_act:
            return None
        return self._constant()

    def copy(self) -> System:
        """Return an independent copy of the system; shapes and user functions are shared."""
        other = copy.copy(self)
        other._gravity = self._gravity.copy()
        other._bodies, other._shapes = self._bodies.copy(), self._shapes.copy()
        other._objects, other._names = list(self._objects), dict(self._names)
        other._materials, other._forces = self._materials.copy(), self._forces.copy()
        other._queries, other._noted = None, set(self._noted)
        other._joints, other._ignored = self._joints.copy(), set(self._ignored)
        return other

    def _changed(self) -> None:
        self._queries = None
        self._shape_table = None
        self._constant_forces = None


def _unit_quaternion(label: str, orientation: Any) -> Any:
    if orientation is quaternions.IDENTITY:
        return orientation
    given = check.array(f"orientation of {label}", orientation, (4,), "a quaternion (w, x, y, z)")
    if not np.any(given):
        raise ProblemError(f"orientation of {label} is zero: use (1, 0, 0, 0) for no rotation")
    return quaternions.normalise(given)


def _per_sphere(name: str, value: Any, n: int, unit: str) -> Floats:
    if isinstance(value, Real):
        return np.full(n, check.positive(name, value, unit))
    out = check.array(name, value, (n,), f"one number, or one for each of {n} spheres")
    if n:
        at = int(np.argmin(out))
        check.positive(f"{name} at index {at}", out[at], unit)
    return out
