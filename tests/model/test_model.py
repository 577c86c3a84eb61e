"""The model: shapes against closed forms, laws of rotation, materials, forces, and what is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nonsmooth.errors import ProblemError
from nonsmooth.model import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Harmonic,
    HeightField,
    Material,
    Materials,
    Mesh,
    Sphere,
    System,
    quaternions,
)
from nonsmooth.model.shapes import BOX, CAPSULE, CONVEX_HULL, HALF_SPACE, SPHERE

LENGTH = st.floats(0.1, 10.0)
VECTOR = arrays(np.float64, 3, elements=st.floats(-5.0, 5.0))
QUATERNION = arrays(np.float64, 4, elements=st.floats(-1.0, 1.0)).filter(lambda q: np.linalg.norm(q) > 0.1)

BOX_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
BOX_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
     [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip

SOLIDS = [
    Sphere(0.7),
    Box((1.0, 2.0, 3.0)),
    Capsule(0.5, 2.0),
    Cylinder(0.5, 2.0),
    Ellipsoid((0.5, 1.0, 1.5)),
    ConvexHull(BOX_CORNERS * [1.0, 2.0, 3.0]),
    Mesh(BOX_CORNERS * [1.0, 2.0, 3.0], BOX_TRIANGLES),
    Compound(((Sphere(0.5), (1.0, 0.0, 0.0), (1, 0, 0, 0)), (Box((1, 1, 1)), (-1.0, 0, 0), (1, 1, 0, 0)))),
]


def inside(shape, points: np.ndarray) -> np.ndarray:
    """Tell which points lie in a solid, by its definition."""
    x, y, z = points.T
    match shape:
        case Sphere(radius=r):
            return x**2 + y**2 + z**2 <= r**2
        case Box(size=size):
            return np.all(np.abs(points) <= np.array(size) / 2, axis=1)
        case Capsule(radius=r, length=length):
            return x**2 + y**2 + np.maximum(np.abs(z) - length / 2, 0) ** 2 <= r**2
        case Cylinder(radius=r, length=length):
            return (x**2 + y**2 <= r**2) & (np.abs(z) <= length / 2)
        case Ellipsoid(radii=radii):
            return np.sum((points / radii) ** 2, axis=1) <= 1
    raise AssertionError(shape)


# ---- shapes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "half"),
    [
        (Sphere(0.7), (0.7, 0.7, 0.7)),
        (Box((1.0, 2.0, 3.0)), (0.5, 1.0, 1.5)),
        (Capsule(0.5, 2.0), (0.5, 0.5, 1.5)),
        (Cylinder(0.5, 2.0), (0.5, 0.5, 1.0)),
        (Ellipsoid((0.5, 1.0, 1.5)), (0.5, 1.0, 1.5)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_mass_and_inertia_are_integrals_over_the_solid(shape, half):
    """A midpoint sum over a lattice in the bounding box, which errs by half a cell at curved surfaces."""
    n = 100
    ticks = (np.arange(n) + 0.5) / n * 2 - 1
    points = np.stack(np.meshgrid(*(ticks * h for h in half), indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[inside(shape, points)]
    density = 3.0
    cell = density * np.prod(half) * (2 / n) ** 3
    mass, centre, inertia = shape.mass_properties(density)
    second = cell * points.T @ points
    assert cell * len(points) == pytest.approx(mass, rel=2e-3)
    assert mass == density * shape.volume
    np.testing.assert_array_equal(centre, np.zeros(3))
    np.testing.assert_allclose(np.trace(second) * np.eye(3) - second, inertia, atol=2e-3 * inertia.max())


def test_closed_forms():
    assert Sphere(2.0).volume == pytest.approx(4 / 3 * np.pi * 8)
    np.testing.assert_allclose(
        Sphere(2.0).mass_properties(1.0).inertia, 0.4 * Sphere(2.0).volume * 4 * np.eye(3)
    )
    np.testing.assert_allclose(Box((1, 2, 3)).mass_properties(2.0).inertia, np.diag([13.0, 10.0, 5.0]))
    cylinder = Cylinder(1.0, 6.0).mass_properties(1 / (6 * np.pi))  # of 1 kg
    np.testing.assert_allclose(cylinder.inertia, np.diag([3.25, 3.25, 0.5]))
    ball = Ellipsoid((2.0, 2.0, 2.0)).mass_properties(5.0)
    np.testing.assert_allclose(ball.inertia, Sphere(2.0).mass_properties(5.0).inertia)


@given(LENGTH)
def test_capsule_tends_to_a_sphere_and_to_a_rod(r):
    short, sphere = Capsule(r, 1e-9 * r).mass_properties(1.0), Sphere(r).mass_properties(1.0)
    np.testing.assert_allclose(short.inertia, sphere.inertia, rtol=1e-7)
    long = Capsule(r, 1e6 * r).mass_properties(1.0)
    assert long.inertia[0, 0] == pytest.approx(long.mass * (1e6 * r) ** 2 / 12, rel=1e-5)


@given(LENGTH, LENGTH, LENGTH, QUATERNION, VECTOR)
def test_tetrahedron_sums_give_the_box_wherever_it_lies(a, b, c, q, shift):
    turn = quaternions.matrix(quaternions.normalise(q))
    box = Box((a, b, c)).mass_properties(2.0)
    corners = BOX_CORNERS * [a, b, c] @ turn.T + shift
    for solid in (Mesh(corners, BOX_TRIANGLES), ConvexHull(corners)):
        mass, centre, inertia = solid.mass_properties(2.0)
        assert mass == pytest.approx(box.mass, rel=1e-10)
        assert solid.volume == pytest.approx(a * b * c, rel=1e-10)
        np.testing.assert_allclose(centre, shift, atol=1e-9)
        expected = turn @ box.inertia @ turn.T
        np.testing.assert_allclose(inertia, expected, atol=1e-9 * box.inertia.max())


def test_tetrahedron_has_its_known_moments():
    """Unit right tetrahedron: V = 1/6, centroid 1/4, ∫x² = 1/60, ∫xy = 1/120."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    mass, centre, inertia = ConvexHull(corners).mass_properties(1.0)
    assert mass == pytest.approx(1 / 6)
    np.testing.assert_allclose(centre, np.full(3, 0.25))
    second = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - np.full((3, 3), 1 / 96)
    np.testing.assert_allclose(inertia, np.trace(second) * np.eye(3) - second)


@given(VECTOR, QUATERNION, VECTOR, QUATERNION)
def test_compound_of_halves_is_the_whole(shift, q, elsewhere, turn):
    """Two half boxes make a box, also as a compound within a compound that is moved and turned."""
    half = Box((1.0, 2.0, 1.5))
    halves = Compound(((half, (0, 0, 0.75), (1, 0, 0, 0)), (half, (0, 0, -0.75), (1, 0, 0, 0))))
    whole = Box((1.0, 2.0, 3.0)).mass_properties(4.0)
    moved = Compound(((halves, shift, q),))
    mass, centre, inertia = moved.mass_properties(4.0)
    rotation = quaternions.matrix(quaternions.normalise(q))
    assert mass == pytest.approx(whole.mass)
    assert moved.volume == pytest.approx(6.0)
    np.testing.assert_allclose(centre, shift, atol=1e-12)
    np.testing.assert_allclose(inertia, rotation @ whole.inertia @ rotation.T, atol=1e-11 * mass)
    # The pieces are where the nested frames put them.
    outer = Compound(((moved, elsewhere, turn),))
    for piece, sign in zip(outer.pieces(), (1, -1), strict=True):
        inner = np.array(shift) + rotation @ [0, 0, sign * 0.75]
        expected = elsewhere + quaternions.rotate(quaternions.normalise(turn), inner)
        np.testing.assert_allclose(piece.position, expected, atol=1e-12)
        both = quaternions.matrix(quaternions.normalise(turn)) @ rotation
        np.testing.assert_allclose(quaternions.matrix(piece.orientation), both, atol=1e-12)


@given(LENGTH, LENGTH, VECTOR)
def test_parallel_axes(r, distance, direction):
    """Two balls at ±d: I = 2 (I₀ + m (d² 1 − d dᵀ))."""
    assume(np.linalg.norm(direction) > 0.1)
    d = distance * direction / np.linalg.norm(direction)
    ball = Sphere(r).mass_properties(1.0)
    pair = Compound(((Sphere(r), d, (1, 0, 0, 0)), (Sphere(r), -d, (1, 0, 0, 0)))).mass_properties(1.0)
    steiner = ball.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(pair.inertia, 2 * (ball.inertia + steiner), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: type(shape).__name__)
def test_reach_covers_the_solid(shape):
    """No point of the surface is farther than the reach, and some point is nearly as far."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((20000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for point in (np.zeros(3), np.array([0.3, -0.2, 0.1])):
        reach = shape.reach(point)
        surface = np.concatenate(
            [
                piece.position + quaternions.rotate(piece.orientation, surface_of(piece.shape, directions))
                for piece in shape.pieces()
            ]
        )
        farthest = np.linalg.norm(surface - point, axis=1).max()
        assert farthest <= reach * (1 + 1e-12)
        slack = 0.15 if isinstance(shape, Ellipsoid) else 0.01  # a bound for it, not the distance
        assert farthest >= (1 - slack) * reach


def surface_of(shape, directions: np.ndarray) -> np.ndarray:
    """Points of the surface that lie farthest along the directions."""
    x, y, z = directions.T
    match shape:
        case Sphere(radius=r):
            return r * directions
        case Box(size=size):
            return np.sign(directions) * np.array(size) / 2
        case Capsule(radius=r, length=length):
            return r * directions + np.column_stack([0 * x, 0 * x, np.sign(z) * length / 2])
        case Cylinder(radius=r, length=length):
            ring = np.hypot(x, y)
            return np.column_stack([r * x / ring, r * y / ring, np.sign(z) * length / 2])
        case Ellipsoid(radii=radii):
            return directions * radii
    return shape.vertices


def test_hull_keeps_corners_and_faces_outwards():
    rng = np.random.default_rng(3)
    points = np.vstack([rng.uniform(-0.4, 0.4, (20, 3)), BOX_CORNERS])
    hull = ConvexHull(points)
    np.testing.assert_array_equal(hull.vertices, BOX_CORNERS)
    a, b, c = np.moveaxis(hull.vertices[hull.triangles], 1, 0)
    assert np.all(np.einsum("ti,ti->t", np.cross(b - a, c - a), a + b + c) > 0)
    Mesh(hull.vertices, hull.triangles)  # closed, outward
    with pytest.raises(ValueError, match="read-only"):
        hull.vertices[0] = 0.0


def test_shapes_are_immutable():
    with pytest.raises(FrozenInstanceError):
        Sphere(1.0).radius = 2.0
    assert Box([1, 2, 3]) == Box((1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda: Sphere(0.0), "radius of a sphere is 0 m: it must be positive"),
        (lambda: Sphere(np.nan), "must be finite"),
        (lambda: Sphere("1"), "give one number"),
        (lambda: Sphere(True), "give one number"),
        (lambda: Sphere(10**400), "beyond 1e+40"),
        (lambda: Sphere(1e41), "at most 1e+40"),
        (lambda: Sphere(1e-41), "at least 1e-40"),
        (lambda: Box((1, 2, 1e41)), "size of a box is 1e+41 at index 2: give at most 1e+40"),
        (lambda: Box((1, 2)), "three lengths"),
        (lambda: Box((1, 2, -3)), "size of a box along z (index 2) is -3 m: it must be positive"),
        (lambda: Box((1, 0, 1)), "size of a box along y (index 1) is 0 m: it must be positive"),
        (lambda: Capsule(1, 0), "length of a capsule is 0"),
        (lambda: Cylinder(np.inf, 1), "must be finite"),
        (lambda: Ellipsoid((0, 1, 1)), "radii of an ellipsoid along x (index 0) is 0 m"),
        (lambda: HeightField(np.zeros((2, 2)), (1, 0)), "spacing of a height field along y is 0 m"),
        (lambda: ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), "there are 3 that differ"),
        (lambda: ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0]]), "lie in a plane"),
        (lambda: ConvexHull([[0, 0], [1, 0]]), "(p, 3)"),
        (lambda: ConvexHull([[0, 0, 0], [1, 0]]), "rectangular"),
        (
            lambda: Mesh(BOX_CORNERS, BOX_TRIANGLES[:-1]).mass_properties(1.0),
            "do not close: there is only one at the edge",
        ),
        (lambda: Mesh(BOX_CORNERS, np.zeros((0, 3), dtype=int)), "no triangle with an area"),
        (lambda: Mesh(BOX_CORNERS, BOX_TRIANGLES[:, ::-1]), "counterclockwise"),
        (lambda: Mesh(BOX_CORNERS, BOX_TRIANGLES + 1), "row 2 is [5, 7, 8], but the 8 vertices"),
        (lambda: Mesh(BOX_CORNERS, BOX_TRIANGLES - 1), "row 0 is [-1, 0, 2], but the 8 vertices"),
        (lambda: Mesh(BOX_CORNERS, BOX_TRIANGLES * 1.0), "whole numbers"),
        (lambda: Compound(()), "no parts"),
        (lambda: Compound((Sphere(1),)), "give (shape, position, orientation)"),
        (lambda: Compound(((Sphere(1), (0, 0, 0), (0, 0, 0, 0)),)), "zero"),
        (lambda: Sphere(1).mass_properties(0.0), "density is 0 kg/m³: it must be positive"),
        (lambda: HalfSpace().mass_properties(1.0), "make its body fixed"),
    ],
)
def test_bad_shapes_are_refused(make, cause):
    with pytest.raises(ProblemError) as caught:
        make()
    assert cause in str(caught.value)


# ---- quaternions --------------------------------------------------------------------------------


@given(QUATERNION, QUATERNION, VECTOR)
def test_quaternions_are_rotations(p, q, v):
    p, q = quaternions.normalise(p), quaternions.normalise(q)
    turn = quaternions.matrix(q)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(turn) == pytest.approx(1.0)
    np.testing.assert_allclose(quaternions.rotate(q, v), turn @ v, atol=1e-13)
    np.testing.assert_allclose(quaternions.rotate_back(q, quaternions.rotate(q, v)), v, atol=1e-13)
    np.testing.assert_allclose(
        quaternions.matrix(quaternions.product(p, q)), quaternions.matrix(p) @ turn, atol=1e-14
    )


@given(VECTOR, VECTOR)
def test_between_turns_one_direction_into_the_other(a, b):
    assume(np.linalg.norm(a) > 1e-3 and np.linalg.norm(b) > 1e-3)
    q = quaternions.between(a, b)
    np.testing.assert_allclose(quaternions.rotate(q, a / np.linalg.norm(a)), b / np.linalg.norm(b), atol=1e-7)
    assert q[0] >= -1e-8  # the shorter way


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [[1, 2, 3]]]))
def test_between_opposite_directions(axis):
    turned = quaternions.rotate(quaternions.between(axis, -axis), axis)
    np.testing.assert_allclose(turned, -axis, atol=1e-14)
    np.testing.assert_array_equal(quaternions.between(axis * 2, axis), [1, 0, 0, 0])


def test_axis_and_angle():
    quarter = quaternions.from_axis_angle((0, 0, 3), np.pi / 2)
    np.testing.assert_allclose(quaternions.rotate(quarter, (1, 0, 0)), (0, 1, 0), atol=1e-15)
    np.testing.assert_allclose(quaternions.from_rotation_vector((0, 0, np.pi / 2)), quarter)
    np.testing.assert_array_equal(quaternions.from_rotation_vector(np.zeros((2, 3))), [[1, 0, 0, 0]] * 2)
    many = quaternions.from_axis_angle(np.eye(3), np.array([0.1, 0.2, 0.3]))
    assert many.shape == (3, 4)
    np.testing.assert_allclose(many[1], [np.cos(0.1), 0, np.sin(0.1), 0])
    assert quaternions.normalise([1e-300, 0, 0, 1e-300]) == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    for wrong in (
        lambda: quaternions.normalise((0, 0, 0, 0)),
        lambda: quaternions.from_axis_angle((0, 0, 0), 1.0),
        lambda: quaternions.between((0, 0, 0), (1, 0, 0)),
    ):
        with pytest.raises(ProblemError, match="zero"):
            wrong()


# ---- materials ----------------------------------------------------------------------------------


def test_smaller_value_holds_unless_the_pair_says_otherwise():
    materials = Materials()
    assert materials.add(Material("steel", friction=0.3, restitution=0.8)) == 1
    assert materials.add(Material("rubber", friction=0.9, restitution=0.4)) == 2
    friction, restitution = materials.pair_table()
    np.testing.assert_array_equal(friction, [[0.5, 0.3, 0.5], [0.3, 0.3, 0.3], [0.5, 0.3, 0.9]])
    np.testing.assert_array_equal(restitution, [[0, 0, 0], [0, 0.8, 0.4], [0, 0.4, 0.4]])
    other = materials.copy()
    materials.set_pair("rubber", "steel", friction=0.7)
    materials.set_pair("steel", "rubber", restitution=0.1)
    friction, restitution = materials.pair_table()
    assert friction[1, 2] == friction[2, 1] == 0.7
    assert restitution[1, 2] == restitution[2, 1] == 0.1
    assert other.pair_table().friction[1, 2] == 0.3
    materials.add(Material("default", friction=0.1))
    assert materials["default"].friction == 0.1
    assert materials.names == ("default", "steel", "rubber")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (
            lambda s: s.add_material("a", friction=-0.1),
            "friction of material 'a' is -0.1: it must be at least 0",
        ),
        (lambda s: s.add_material("a", restitution=1.1), "from 0 to 1"),
        (lambda s: s.add_material("a", friction=np.nan), "finite"),
        (lambda s: s.add_material(" "), "nonempty string"),
        (lambda s: s.add_material("ice"), "exists already"),
        (
            lambda s: s.set_pair("ice", "wood", friction=1),
            "'wood' is not known: add it with add_material, or",
        ),
        (lambda s: s.set_pair("ice", "ice"), "give friction or restitution"),
        (lambda s: s.set_pair("ice", "ice", friction=-1), "at least 0"),
        (lambda s: s.add_sphere(1, mass=1, material="wood"), "use one of default, ice"),
    ],
)
def test_bad_materials_are_refused(change, cause):
    system = System()
    system.add_material("ice", friction=0.02)
    with pytest.raises(ProblemError) as caught:
        change(system)
    assert cause in str(caught.value)
    assert system.count == 0


# ---- bodies -------------------------------------------------------------------------------------


def test_arrays_of_a_small_system():
    system = System()
    system.add_material("ice", friction=0.02)
    plane = system.add_plane(normal=(0, 0, -2), point=(0, 0, 5), material="ice", name="lid")
    ball = system.add_sphere(0.5, mass=2.0, position=(1, 2, 3), velocity=(4, 5, 6), name="ball")
    box = system.add_box((1, 2, 3), density=2.0, orientation=(0, 0, 0, 7), angular_velocity=(1, 2, 3))
    ghost = system.add_body(None, mass=1.0, inertia=(1, 2, 3))
    belt = system.add_capsule(0.1, 1.0, fixed=True, velocity=(1, 0, 0))
    assert (plane, ball, box, ghost, belt) == (0, 1, 2, 3, 4)
    assert system.count == 5
    assert system.names == {"lid": 0, "ball": 1}
    np.testing.assert_array_equal(system.mass, [np.inf, 2, 12, 1, np.inf])
    np.testing.assert_array_equal(system.fixed, [True, False, False, False, True])
    np.testing.assert_array_equal(system.inertia[0], np.diag([np.inf] * 3))
    np.testing.assert_allclose(system.inertia[1], 0.2 * np.eye(3))
    np.testing.assert_array_equal(system.inertia[3], np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(system.bounding_radius, [np.inf, 0.5, np.sqrt(14) / 2, 0, 0.6])
    np.testing.assert_array_equal(system.quaternion[2], [0, 0, 0, 1])
    np.testing.assert_array_equal(system.linear_velocity[[1, 4]], [[4, 5, 6], [1, 0, 0]])
    np.testing.assert_array_equal(system.angular_velocity[2], [1, 2, 3])
    np.testing.assert_allclose(quaternions.rotate(system.quaternion[0], (0, 0, 1)), (0, 0, -1), atol=1e-15)
    table = system.shapes
    np.testing.assert_array_equal(table.body, [0, 1, 2, 4])
    np.testing.assert_array_equal(table.kind, [HALF_SPACE, SPHERE, BOX, CAPSULE])
    np.testing.assert_array_equal(
        table.size, [[0, 0, 0, 0], [0.5, 0, 0, 0], [0.5, 1, 1.5, 0], [0.1, 0.5, 0, 0]]
    )
    np.testing.assert_array_equal(table.material, [1, 0, 0, 0])
    assert table.objects == (HalfSpace(), Sphere(0.5), Box((1, 2, 3)), Capsule(0.1, 1.0))
    assert table.body.dtype == table.kind.dtype == table.material.dtype == np.int32
    assert len(table) == 4
    assert table is system.shapes


def test_centroid_sits_at_the_position():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    system = System()
    hull = system.add_hull(corners, mass=3.0, position=(7, 8, 9), orientation=(1, 2, 3, 4))
    stone = system.add_hull(corners, fixed=True)
    table = system.shapes
    np.testing.assert_allclose(table.offset, np.full((2, 3), -0.25))
    np.testing.assert_array_equal(table.kind, [CONVEX_HULL] * 2)
    np.testing.assert_array_equal(system.position[[hull, stone]], [[7, 8, 9], [0, 0, 0]])
    assert system.mass[hull] == 3.0
    np.testing.assert_allclose(system.bounding_radius, np.sqrt(0.75**2 + 2 * 0.25**2))
    np.testing.assert_allclose(
        system.inertia[hull], 18 * ConvexHull(corners).mass_properties(1.0).inertia, rtol=1e-14
    )


def test_corner_of_planes_is_a_fixed_compound():
    planes = Compound(((HalfSpace(), (0, 0, -1), (1, 0, 0, 0)), (HalfSpace(), (-1, 0, 0), (1, 0, 1, 0))))
    system = System()
    with pytest.raises(ProblemError, match="half-space, whose mass is not finite"):
        system.add_body(planes, mass=1.0)
    system.add_body(planes, fixed=True)
    np.testing.assert_array_equal(system.shapes.offset, [[0, 0, -1], [-1, 0, 0]])
    assert system.bounding_radius[0] == np.inf


def test_spheres_in_bulk_are_spheres_one_by_one():
    rng = np.random.default_rng(5)
    radii, centres, velocities = rng.uniform(0.1, 1, 7), rng.random((7, 3)), rng.random((7, 3))
    bulk, single = System(), System()
    for system in (bulk, single):
        system.add_material("glass")
        system.add_plane()
    index = bulk.add_spheres(radii, centres, density=2500.0, velocities=velocities, material="glass")
    np.testing.assert_array_equal(index, np.arange(1, 8))
    for r, centre, velocity in zip(radii, centres, velocities, strict=True):
        single.add_sphere(r, density=2500.0, position=centre, velocity=velocity, material="glass")
    for name in ("position", "quaternion", "linear_velocity", "angular_velocity", "fixed", "bounding_radius"):
        np.testing.assert_array_equal(getattr(bulk, name), getattr(single, name), err_msg=name)
    np.testing.assert_allclose(bulk.mass, single.mass, rtol=1e-15)
    np.testing.assert_allclose(bulk.inertia, single.inertia, rtol=1e-15)
    for name in ("body", "kind", "size", "offset", "rotation", "material"):
        np.testing.assert_array_equal(getattr(bulk.shapes, name), getattr(single.shapes, name), err_msg=name)
    assert bulk.shapes.objects == single.shapes.objects
    bulk.add_spheres(0.5, centres, mass=1.0)
    np.testing.assert_array_equal(bulk.mass[8:], np.ones(7))
    assert bulk.add_spheres(0.5, np.zeros((0, 3)), mass=1.0).shape == (0,)


def test_a_hundred_thousand_spheres_are_added_at_once():
    rng = np.random.default_rng(0)
    radii, centres = rng.uniform(0.1, 1.0, 100_000), rng.random((100_000, 3))
    system = System()
    system.add_plane()
    spheres = system.add_spheres(radii, centres, density=2500.0)
    assert len(system.shapes) == 100_001
    weight = 2500.0 * 4.0 / 3.0 * np.pi * radii**3 * 9.81
    np.testing.assert_allclose(-system.forces(0.0)[spheres, 2], weight, rtol=1e-13)


@pytest.mark.parametrize(
    ("add", "cause"),
    [
        (lambda s: s.add_sphere(1), "body 1 has neither mass nor density: give exactly one"),
        (lambda s: s.add_sphere(1, mass=1, density=1), "both mass and density"),
        (lambda s: s.add_sphere(1, mass=0), "mass of body 1 is 0 kg: it must be positive"),
        (lambda s: s.add_sphere(1, mass=-1, name="b"), "mass of body 'b' is -1 kg"),
        (lambda s: s.add_sphere(1, density=np.inf), "finite"),
        (lambda s: s.add_sphere(1, density=-5), "density of body 1 is -5 kg/m³"),
        (lambda s: s.add_sphere(1, mass=1, fixed=True), "takes no mass"),
        (lambda s: s.add_sphere(1, mass=1, position=(0, np.nan, 0)), "position of body 1 is nan at index 1"),
        (lambda s: s.add_sphere(1, mass=1, position=(0, 0)), "has shape (2,): give three numbers"),
        (lambda s: s.add_sphere(1, mass=1, velocity="fast"), "velocity of body 1"),
        (lambda s: s.add_sphere(1, mass=1, orientation=(0, 0, 0, 0)), "no rotation"),
        (lambda s: s.add_sphere(1, mass=1, orientation=(1, 0, 0)), "quaternion"),
        (lambda s: s.add_sphere(1, mass=1, name="floor"), "named 'floor' exists already"),
        (lambda s: s.add_sphere(1, mass=1, name=""), "nonempty string"),
        (lambda s: s.add_body("sphere", mass=1), "give a shape"),
        (lambda s: s.add_body(None, mass=1), "neither shape nor inertia"),
        (lambda s: s.add_body(None, density=1, inertia=(1, 1, 1)), "give mass and inertia"),
        (lambda s: s.add_body(None, mass=1, inertia=(1, 1, 2.1)), "must not exceed the sum"),
        (lambda s: s.add_body(None, mass=1, inertia=(1, 1, 0)), "all three must be positive"),
        (lambda s: s.add_body(None, mass=1, inertia=np.diag([1, 1, -1])), "all three must be positive"),
        (lambda s: s.add_body(None, mass=1, inertia=np.eye(3) + np.eye(3, k=1)), "not symmetric"),
        (lambda s: s.add_body(None, mass=1, inertia=(1, 1)), "three principal moments"),
        (lambda s: s.add_body(None, mass=1, inertia=1.0), "three principal moments"),
        (lambda s: s.add_body(HalfSpace(), mass=1), "make it fixed=True"),
        (lambda s: s.add_plane(normal=(0, 0, 0)), "normal of body 1 is zero"),
        (lambda s: s.add_spheres(1, [[0, 0, 0]]), "neither mass nor density"),
        (
            lambda s: s.add_spheres([1, -1], np.zeros((2, 3)), mass=1),
            "radius at index 1 is -1 m: it must be positive",
        ),
        (lambda s: s.add_spheres([1, 1, 1], np.zeros((2, 3)), mass=1), "one for each of 2 spheres"),
        (lambda s: s.add_spheres(1, np.zeros(3), mass=1), "(n, 3)"),
        (lambda s: s.add_spheres(1, np.zeros((2, 3)), mass=0), "mass is 0 kg"),
        (lambda s: s.add_spheres(1, np.zeros((2, 3)), mass=1, velocities=np.zeros(3)), "2 rows"),
        (lambda s: s.add_force(0, force=(1, 0, 0)), "body 'floor' is fixed"),
        (lambda s: s.add_force(7, force=(1, 0, 0)), "indices go from 0 to 0"),
        (lambda s: s.add_force("roof", force=(1, 0, 0)), "names are floor"),
        (lambda s: s.add_force(True, force=(1, 0, 0)), "an index or a name"),
        (lambda s: s.add_force_field(3), "give a function"),
        (lambda s: s.add_pair_field(lambda d, a, b: d, 0.0), "cutoff"),
        (lambda s: setattr(s, "gravity", (0, 0)), "gravity has shape (2,)"),
    ],
)
def test_bad_bodies_are_refused_and_leave_no_trace(add, cause):
    system = System()
    system.add_plane(name="floor")
    with pytest.raises(ProblemError) as caught:
        add(system)
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)
    assert system.count == len(system.shapes) == 1
    assert system.names == {"floor": 0}


def test_flat_disc_has_an_inertia():
    """The triangle inequality holds with equality for a flat body; rounding must not refuse it."""
    turn = quaternions.matrix(quaternions.normalise((0.3, 0.1, -0.7, 0.2)))
    inertia = turn @ np.diag([0.1, 0.2, 0.3]) @ turn.T
    system = System()
    system.add_body(None, mass=1.0, inertia=inertia)
    np.testing.assert_allclose(system.inertia[0], inertia, rtol=0, atol=1e-16)


# ---- state --------------------------------------------------------------------------------------


def test_state_is_writable_and_copies_are_independent():
    system = System()
    system.add_sphere(1.0, mass=1.0)
    system.position[0] = (1, 2, 3)
    other = system.copy()
    other.position[0] = 0.0
    other.add_sphere(1.0, mass=1.0, name="new")
    other.add_material("ice")
    other.add_force(0, force=(1, 0, 0))
    other.gravity = (0, 0, 0)
    np.testing.assert_array_equal(system.position, [[1, 2, 3]])
    assert (system.count, other.count, len(other.shapes), len(system.shapes)) == (1, 2, 2, 1)
    assert system.names == {}
    assert len(system.materials) == 1
    np.testing.assert_array_equal(system.forces(0.0), [[0, 0, -9.81, 0, 0, 0]])
    np.testing.assert_array_equal(other.forces(0.0), [[1, 0, 0, 0, 0, 0], np.zeros(6)])
    for name in ("mass", "inertia", "fixed", "bounding_radius"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(system, name)[0] = 1


def test_set_state_keeps_every_bit_and_refuses_what_is_wrong():
    system = System()
    system.add_spheres(1.0, np.zeros((3, 3)), mass=1.0)
    rng = np.random.default_rng(1)
    x, v, w = rng.random((3, 3, 3))
    q = quaternions.normalise(rng.random((3, 4))) * (1 + 1e-12)
    held = system.position
    system.set_state(x, q, v, w)
    assert held is not x
    for given_, stored in (
        (x, held),
        (q, system.quaternion),
        (v, system.linear_velocity),
        (w, system.angular_velocity),
    ):
        np.testing.assert_array_equal(stored, given_)
    with pytest.raises(ProblemError, match="unit length"):
        system.set_state(x, 2 * q, v, w)
    with pytest.raises(ProblemError, match="linear_velocity has shape"):
        system.set_state(x, q, v[:2], w)
    with pytest.raises(ProblemError, match="angular_velocity is inf"):
        system.set_state(0 * x, q, v, np.full((3, 3), np.inf))
    np.testing.assert_array_equal(system.position, x)


# ---- forces -------------------------------------------------------------------------------------


def two_balls(distance: float = 2.0) -> System:
    system = System(gravity=(0, 0, -10))
    system.add_plane()
    system.add_sphere(0.5, mass=2.0, name="left")
    system.add_sphere(0.5, mass=3.0, position=(distance, 0, 0), name="right")
    return system


def test_gravity_pulls_moving_bodies():
    np.testing.assert_array_equal(two_balls().forces(0.0)[:, 2], [0, -20, -30])


@given(QUATERNION, VECTOR, VECTOR, VECTOR)
def test_force_at_a_point_turns_the_body(q, force, point, torque):
    """In the world frame the torque is τ + (R p) × F, whatever R is."""
    system = System(gravity=(0, 0, 0))
    body = system.add_sphere(1.0, mass=1.0, orientation=q)
    system.add_force(body, force=force, torque=torque, point=point)
    total = system.forces(0.0)[0]
    turn = quaternions.matrix(system.quaternion[0])
    np.testing.assert_array_equal(total[:3], force)
    expected = turn @ torque + np.cross(turn @ point, force)
    np.testing.assert_allclose(turn @ total[3:], expected, atol=1e-12)


def test_forces_add_up_and_follow_time():
    system = two_balls()
    system.add_force("left", force=(1, 0, 0))
    system.add_force("left", force=lambda t: (0, t, 0), torque=lambda t: (0, 0, 2 * t))
    system.add_force("right", torque=Harmonic((4, 0, 0), frequency=0.25))
    system.add_force_field(lambda t, s: (-0.5 * s.linear_velocity, None))
    system.add_force_field(lambda t, s: (np.full((s.count, 3), t), np.ones((s.count, 3))))
    system.linear_velocity[1] = (2, 0, 0)
    for t in (0.0, 1.0, 3.0):
        expected = [
            np.zeros(6),
            [1 - 1 + t, t + t, -20 + t, 1, 1, 2 * t + 1],
            [t, t, -30 + t, 4 * np.sin(np.pi / 2 * t) + 1, 1, 1],
        ]
        np.testing.assert_allclose(system.forces(t), expected, atol=1e-14)
    assert system.forces(0.0) is not system.forces(0.0)


def test_pair_field_obeys_newtons_third_law():
    """Springs between centres: equal and opposite, along the line, none beyond the cutoff."""
    system = System(gravity=(0, 0, 0))
    rng = np.random.default_rng(2)
    centres = rng.random((40, 3))
    system.add_plane()
    system.add_spheres(0.01, centres, mass=1.0)
    anchor = system.add_sphere(0.1, position=(0.5, 0.5, 0.5), fixed=True)
    system.add_sphere(0.1, position=(0.51, 0.5, 0.5), fixed=True)
    seen = []

    def spring(distance, a, b):
        seen.append((a.copy(), b.copy()))
        return 3.0 * (0.3 - distance) * np.where(b >= anchor, 2.0, 1.0)

    system.add_pair_field(spring, cutoff=0.3)
    total = system.forces(0.0)
    expected = np.zeros((43, 3))
    pairs = []
    for a in range(1, 43):
        for b in range(a + 1, 43):
            arm = system.position[b] - system.position[a]
            d = np.linalg.norm(arm)
            if d <= 0.3 and not (system.fixed[a] and system.fixed[b]):
                push = 3.0 * (0.3 - d) * (2.0 if b >= anchor else 1.0) * arm / d
                expected[b] += push
                expected[a] -= push
                pairs.append((a, b))
    expected[system.fixed] = 0.0
    assert len(pairs) > 50
    np.testing.assert_array_equal(np.transpose(seen[0]), pairs)
    np.testing.assert_allclose(total[:, :3], expected, atol=1e-13)
    np.testing.assert_array_equal(total[:, 3:], 0.0)
    np.testing.assert_array_equal(system.forces(0.0), total)


@pytest.mark.parametrize(
    ("add", "cause"),
    [
        (
            lambda s: s.add_force("left", force=lambda t: (t, 0)),
            "force on body 'left' at t = 1.5 s has shape (2,)",
        ),
        (lambda s: s.add_force("left", torque=lambda t: (np.nan, 0, 0)), "must be finite"),
        (lambda s: s.add_force_field(lambda t, s: np.zeros((3, 3))), "tuple (forces, torques)"),
        (lambda s: s.add_force_field(lambda t, s: (np.zeros((2, 3)), None)), "each of 3 bodies"),
        (lambda s: s.add_force_field(lambda t, s: (np.zeros((3, 3)), np.full((3, 3), np.inf))), "finite"),
        (lambda s: s.add_pair_field(lambda d, a, b: np.ones(7), 5.0), "one number per pair"),
        (
            lambda s: s.position.__setitem__(2, s.position[1]) or s.add_pair_field(lambda d, a, b: d, 1.0),
            "same",
        ),
    ],
)
def test_bad_answers_of_user_functions_are_refused(add, cause):
    system = two_balls()
    add(system)
    with pytest.raises(ProblemError) as caught:
        system.forces(1.5)
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({}, "give force, torque or both"),
        ({"torque": (0, 0, 1), "point": (0, 0, 1)}, "omit point"),
        ({"force": (1, 0)}, "three numbers, or a function of time"),
        ({"force": (1, 0, 0), "point": (0, np.inf, 0)}, "finite"),
    ],
)
def test_bad_forces_are_refused(options, cause):
    with pytest.raises(ProblemError) as caught:
        two_balls().add_force("left", **options)
    assert cause in str(caught.value)
