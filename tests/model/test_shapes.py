"""Shapes: rounded solids against integration, supports, bounds, surfaces, and what bad input gets."""

import math

import numpy as np
import pytest

from nonsmooth.errors import GeometryWarning, ProblemError
from nonsmooth.model import System, polyhedra, quaternions
from nonsmooth.model.shapes import (
    BY_KIND,
    BY_NAME,
    PRIMITIVES,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
)

CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
RNG = np.random.default_rng(7)
CLOUD = RNG.normal(size=(40, 3)) * [0.4, 0.7, 1.1] + [0.3, -0.2, 0.1]
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], dtype=float)

CONVEX = [
    Sphere(0.7),
    Box((1.0, 2.0, 0.5)),
    Box((1.0, 2.0, 0.5), rounding=0.3),
    Sphere(0.7, rounding=0.2),
    Capsule(0.3, 1.2),
    Capsule(0.3, 1.2, rounding=0.1),
    Cone(0.4, 1.5),
    Cone(0.4, 1.5, rounding=0.2),
    Cone(0.8, 0.2, rounding=0.5),
    Cylinder(0.4, 1.5),
    Cylinder(0.4, 1.5, rounding=0.2),
    Ellipsoid((0.3, 0.6, 1.1)),
    Ellipsoid((0.3, 0.6, 1.1), rounding=0.25),
    ConvexHull(TETRAHEDRON),
    ConvexHull(TETRAHEDRON, rounding=0.4),
    ConvexHull(CLOUD, rounding=0.15),
]


def by_integration(shape, count: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre and inertia at unit density from the support function alone.

    It is a polyhedron of support points, for a grid of directions that is tilted: where a direction is the
    normal of a face, the support point is not unique.
    """
    heights, angles = np.linspace(-1.0, 1.0, count + 1), np.linspace(0.0, 2.0 * math.pi, 2 * count + 1)
    z = np.sin(0.5 * math.pi * heights)
    ring = np.sqrt(np.maximum(0.0, 1.0 - z**2))
    grid = np.stack(
        [np.outer(ring, np.cos(angles)), np.outer(ring, np.sin(angles)), np.outer(z, np.ones_like(angles))], 2
    )
    grid[:, -1] = grid[:, 0]
    grid = grid @ quaternions.matrix(quaternions.normalise(np.array([0.9, 0.31, -0.17, 0.22]))).T
    points = np.array([[shape.support(n) for n in row] for row in grid])
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    corners = np.concatenate(
        [np.stack([a, b, c], 2).reshape(-1, 3, 3), np.stack([a, c, d], 2).reshape(-1, 3, 3)]
    )
    vertices = corners.reshape(-1, 3)
    return polyhedra.moments(vertices, np.arange(len(vertices)).reshape(-1, 3))


@pytest.mark.parametrize(
    "shape",
    [shape for shape in CONVEX if getattr(shape, "rounding", 0.0)],
    ids=lambda shape: shape.title,
)
def test_mass_of_rounded_shapes_is_that_of_their_support_function(shape):
    """The polyhedron of support points lies inside and converges with the square of the spacing."""
    coarse, fine = by_integration(shape, 40), by_integration(shape, 80)
    mass, centre, inertia = shape.mass_properties(1.0)
    assert mass == pytest.approx(shape.volume)
    for exact, rough, better in zip((mass, centre, inertia), coarse, fine, strict=True):
        limit = (4.0 * np.asarray(better) - np.asarray(rough)) / 3.0
        np.testing.assert_allclose(exact, limit, rtol=0, atol=1e-3 * np.abs(np.asarray(exact)).max() + 1e-4)


def test_rounded_boxes_are_rounded_hulls_of_their_corners():
    size, r = np.array([1.0, 2.0, 0.5]), 0.3
    box = Box(size, rounding=r).mass_properties(2.0)
    hull = ConvexHull(CORNERS * size + [3.0, -1.0, 2.0], rounding=r).mass_properties(2.0)
    assert hull.mass == pytest.approx(box.mass, rel=1e-13)
    np.testing.assert_allclose(hull.centre, [3.0, -1.0, 2.0], rtol=1e-13)
    np.testing.assert_allclose(hull.inertia, box.inertia, rtol=1e-12, atol=1e-12)


def test_a_rounded_prism_of_many_sides_becomes_the_rounded_cylinder():
    angles = np.linspace(0.0, 2.0 * math.pi, 2000, endpoint=False)
    rim = np.column_stack([0.4 * np.cos(angles), 0.4 * np.sin(angles)])
    points = np.vstack([np.column_stack([rim, np.full(len(rim), z)]) for z in (-0.75, 0.75)])
    prism = ConvexHull(points, rounding=0.2).mass_properties(1.0)
    cylinder = Cylinder(0.4, 1.5, rounding=0.2).mass_properties(1.0)
    assert prism.mass == pytest.approx(cylinder.mass, rel=1e-5)
    np.testing.assert_allclose(prism.inertia, cylinder.inertia, rtol=1e-5, atol=1e-9)


def test_a_rounded_ball_is_a_larger_ball():
    ball = Ellipsoid((0.3, 0.3, 0.3), rounding=0.2).mass_properties(1.0)
    whole = Sphere(0.5).mass_properties(1.0)
    assert ball.mass == pytest.approx(whole.mass, rel=1e-12)
    np.testing.assert_allclose(ball.inertia, whole.inertia, rtol=1e-12, atol=1e-15)


def test_the_rounding_of_balls_and_capsules_adds_to_their_radius():
    assert Sphere(0.25, rounding=0.5) == Sphere(0.75)
    assert Capsule(0.25, 1.0, rounding=0.5) == Capsule(0.75, 1.0)
    system = System()
    system.add_sphere(0.25, rounding=0.5, density=2.0)
    system.add_capsule(0.25, 1.0, rounding=0.5, density=2.0)
    system.add_cone(0.25, 1.0, rounding=0.5, density=2.0)
    for mass, shape in zip(
        system.mass, (Sphere(0.75), Capsule(0.75, 1.0), Cone(0.25, 1.0, 0.5)), strict=True
    ):
        assert mass == 2.0 * shape.volume
    with pytest.raises(ProblemError, match="body 'b': the rounding of a capsule is -1 m: it must not be neg"):
        system.add_capsule(0.25, 1.0, rounding=-1, mass=1.0, name="b")


def test_volume_of_a_rounded_cone_is_steiners():
    """V + S r + M r² + 4/3 π r³; M is half the integral of edge lengths times angles, side included."""
    for radius, length, r in ((0.4, 1.5, 0.2), (1.0, 0.1, 0.05), (0.05, 1.0, 3.0)):
        slant, lean = math.hypot(radius, length), math.atan2(radius, length)
        surface = math.pi * radius * (radius + slant)
        mean = math.pi * radius * (0.5 * math.pi + lean) + math.pi * length
        steiner = math.pi * radius**2 * length / 3 + surface * r + mean * r**2 + 4 / 3 * math.pi * r**3
        assert Cone(radius, length, rounding=r).volume == pytest.approx(steiner, rel=1e-14)


def test_a_rounded_pyramid_of_many_sides_becomes_the_rounded_cone():
    angles = np.linspace(0.0, 2.0 * math.pi, 2000, endpoint=False)
    base = np.column_stack([0.4 * np.cos(angles), 0.4 * np.sin(angles), np.full(2000, -0.75)])
    pyramid = ConvexHull(np.vstack([base, [0.0, 0.0, 0.75]]), rounding=0.2).mass_properties(1.0)
    cone = Cone(0.4, 1.5, rounding=0.2).mass_properties(1.0)
    assert pyramid.mass == pytest.approx(cone.mass, rel=1e-5)
    np.testing.assert_allclose(pyramid.centre, cone.centre, atol=1e-6)
    np.testing.assert_allclose(pyramid.inertia, cone.inertia, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("radii", [(0.3, 0.6, 1.1), (1.0, 1.0, 0.1), (0.1, 0.1, 1.0)])
def test_a_rounding_that_vanishes_leaves_the_ellipsoid(radii):
    sharp, rounded = Ellipsoid(radii), Ellipsoid(radii, rounding=1e-12)
    assert rounded.volume == pytest.approx(sharp.volume, rel=1e-9)
    np.testing.assert_allclose(
        rounded.mass_properties(1.0).inertia, sharp.mass_properties(1.0).inertia, rtol=1e-9, atol=1e-15
    )


def test_volume_of_a_flat_rounded_ellipsoid_is_steiners():
    """V + S r + M r² + 4/3 π r³: S of a spheroid in closed form, M is the integral of its support."""
    a, c, r = 1.0, 0.01, 0.05
    off = math.sqrt(1.0 - c**2 / a**2)
    surface = 2.0 * math.pi * a**2 * (1.0 + (1.0 - off**2) / off * math.atanh(off))
    mean = 2.0 * math.pi * (c + a**2 / math.sqrt(a**2 - c**2) * math.asin(math.sqrt(a**2 - c**2) / a))
    steiner = 4.0 / 3.0 * math.pi * (a * a * c + r**3) + surface * r + mean * r**2
    assert Ellipsoid((a, c, a), rounding=r).volume == pytest.approx(steiner, rel=1e-12)


@pytest.mark.parametrize("shape", CONVEX, ids=repr)
def test_supports_bounds_and_surfaces_agree(shape):
    directions = RNG.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = np.array([shape.support(3.0 * n) for n in directions])
    bound = shape.local_bound()
    assert np.all(np.abs(points - bound[:3]) <= bound[3:6] * (1 + 1e-12))
    assert np.all(np.linalg.norm(points - bound[:3], axis=1) <= bound[6] * (1 + 1e-12))
    for axis in range(3):
        unit = np.eye(3)[axis]
        assert shape.support(unit)[axis] == pytest.approx(bound[axis] + bound[3 + axis], abs=1e-12)
        assert shape.support(-unit)[axis] == pytest.approx(bound[axis] - bound[3 + axis], abs=1e-12)
    vertices, faces = shape.surface()
    assert 0.9 * shape.volume <= polyhedra.moments(vertices, faces).volume <= shape.volume * (1 + 1e-9)
    heights = np.einsum("ni,ni->n", points, directions)
    size = bound[6]
    assert np.all((vertices @ directions.T).max(axis=0) <= heights + 1e-9 * size)
    assert np.all((vertices @ directions.T).max(axis=0) >= heights - 0.03 * size)
    row = shape.local_bounds([shape, shape], np.array([shape.sizes] * 2))
    np.testing.assert_allclose(row, [bound, bound], rtol=1e-15)
    assert shape.reach(np.zeros(3)) >= np.linalg.norm(points, axis=1).max() * (1 - 1e-12)


def test_every_shape_is_in_the_registry():
    assert [shape.kind for shape in PRIMITIVES] == list(range(len(PRIMITIVES)))
    assert set(BY_KIND.values()) == set(BY_NAME.values()) == set(PRIMITIVES)
    assert BY_NAME["plane"] is HalfSpace


@pytest.mark.parametrize("shape", CONVEX, ids=repr)
def test_shapes_are_rebuilt_from_what_a_recording_keeps(shape):
    arrays = shape.stored or (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    again = BY_KIND[shape.kind].rebuilt(shape.sizes, *arrays)
    assert again.sizes == shape.sizes
    assert again.volume == pytest.approx(shape.volume, rel=1e-14)


# ---- meshes and height fields -------------------------------------------------------------------

FACES = ConvexHull(CORNERS).triangles
HEIGHTS = np.array([[0.0, 0.1, 0.3, 0.0], [0.2, 0.5, 0.1, 0.0], [0.0, 0.0, -0.2, 0.1]])


def test_doubles_and_leftovers_of_a_mesh_are_cleaned_and_counted():
    vertices = np.vstack([CORNERS, CORNERS[0], [[9.0, 9.0, 9.0]]])
    faces = FACES.copy()
    faces[faces == 0] = 8  # a twin of vertex 0, used by no other triangle
    faces = np.vstack([faces, faces[:2, [1, 2, 0]], [[1, 1, 2], [3, 4, 3]]])
    system, mesh = System(), Mesh(vertices, faces)
    with pytest.warns(GeometryWarning) as caught:
        system.add_body(mesh, mass=1.0, name="part")
    (first,) = caught
    system.add_body(mesh, mass=1.0)  # is not told again
    with pytest.warns(GeometryWarning) as caught:
        system.add_hull(np.vstack([CORNERS, CORNERS[:2], -CORNERS[:1]]), mass=1.0)
    (second,) = caught
    assert str(first.message) == (
        "body 'part': removed from its mesh: 1 repeated vertex, 2 repeated triangles, "
        "2 triangles without area, 1 unused vertex"
    )
    assert str(second.message) == "body 2: removed from its convex hull: 3 repeated points"
    assert first.filename == second.filename == __file__
    assert len(system.shapes.objects[2].points) == 8
    assert mesh.closed
    assert (len(mesh.vertices), len(mesh.triangles)) == (8, 12)
    assert mesh.volume == pytest.approx(1.0)
    again = Mesh(mesh.vertices, mesh.triangles)  # clean now: no warning
    np.testing.assert_array_equal(again.triangles, mesh.triangles)
    assert not again.notes


def test_open_meshes_are_for_fixed_bodies():
    system = System()
    lid = system.add_mesh(CORNERS + 5.0, FACES[1:], fixed=True, name="bin")
    assert not system.shapes.objects[0].closed
    np.testing.assert_array_equal(system.shapes.offset[lid], 0.0)  # no centroid: it stays where it is
    with pytest.raises(
        ProblemError,
        match=r"body 'cup' has a mesh whose triangles do not close: there is only one at the edge from",
    ):
        system.add_mesh(CORNERS, FACES[1:], mass=1.0, name="cup")
    sheet = np.vstack([FACES[:1], FACES[:1, ::-1]])
    with pytest.raises(ProblemError, match="body 1 has a mesh whose triangles enclose no volume; repair"):
        system.add_mesh(CORNERS, sheet, mass=1.0)
    flipped = np.vstack([FACES[:1, ::-1], FACES[1:]])
    with pytest.raises(ProblemError, match=r"the two at the edge from .* run along it the same way"):
        system.add_mesh(CORNERS, flipped, mass=1.0)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            lambda s: s.add_mesh(CORNERS, FACES[:, ::-1], mass=1.0, name="b"),
            "body 'b': the triangles of a mesh are inside out",
        ),
        (
            lambda s: s.add_mesh(CORNERS, FACES[:, ::-1], fixed=True, name="b"),
            "body 'b': the triangles of a mesh are inside out",
        ),
        (
            lambda s: s.add_mesh(CORNERS, FACES + 1, fixed=True),
            "body 0: triangles of a mesh: row 5 is [6, 7, 8]",
        ),
        (lambda s: s.add_mesh(CORNERS * np.nan, FACES, fixed=True), "vertices of a mesh is nan at index"),
        (lambda s: s.add_mesh(CORNERS * 0.0, FACES, fixed=True), "no triangle with an area"),
        (
            lambda s: s.add_hull(CORNERS[:3], mass=1.0, name="b"),
            "body 'b': points of a convex hull: there are 3 that differ, give at least four",
        ),
        (lambda s: s.add_hull(np.repeat(CORNERS[:2], 9, axis=0), mass=1.0), "there are 2 that differ"),
        (
            lambda s: s.add_hull(np.arange(15.0).reshape(5, 3), mass=1.0),
            "the 5 points of a convex hull lie on a",
        ),
        (lambda s: s.add_hull(CORNERS * 1e-200, mass=1.0), "within 1e-200 m of each other: at least 1e-40 m"),
        (lambda s: s.add_hull(CORNERS * [1, 1, 0], mass=1.0), "lie in a plane: give at least four"),
        (lambda s: s.add_hull(CORNERS * [1, np.nan, 1], mass=1.0), "points of a convex hull is nan at index"),
        (lambda s: s.add_box((1, 1, 1), rounding=-0.1, mass=1.0), "the rounding of a box is -0.1 m: it must"),
        (
            lambda s: s.add_box((1, 0, 1), mass=1.0, name="b"),
            "body 'b': size of a box along y (index 1) is 0 m",
        ),
        (lambda s: s.add_height_field([[0.0, 1.0]], (1, 1), name="hill"), "body 'hill': heights of a height"),
        (lambda s: s.add_height_field(HEIGHTS, (1, 0)), "spacing of a height field along y is 0 m"),
        (lambda s: s.add_height_field(HEIGHTS, (1, 1), fixed=False, mass=1.0), "body 0 has a height field"),
        (lambda s: s.add_body(HeightField(HEIGHTS, (1, 1))), "mass is not finite: make it fixed=True"),
        (lambda s: s.add_height_field(HEIGHTS, (1, 1), mass=1.0, name="hill"), "takes no mass: omit mass"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_the_body(add, message):
    system = System()
    with pytest.raises(ProblemError) as caught:
        add(system)
    assert message in str(caught.value)
    assert system.count == 0


def test_height_field_is_centred_and_solid_below():
    field = HeightField(HEIGHTS, (0.5, 2.0))
    assert field.origin == (-0.5, -3.0)
    np.testing.assert_allclose(field.support((0, 0, 1)), [0.0, -1.0, 0.5])
    vertices, faces = field.surface()
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    assert np.all(np.cross(b - a, c - a)[:, 2] > 0)
    bound = field.local_bound()
    assert np.all(np.abs(vertices - bound[:3]) <= bound[3:6] + 1e-15)
    again = HeightField.rebuilt(field.sizes, *field.stored)
    np.testing.assert_array_equal(again.heights, field.heights)
    assert again.spacing == field.spacing
    wide = HeightField(np.zeros((1001, 5)), (1.0, 1.0))
    vertices, faces = wide.surface()
    assert len(vertices) < 5000
    np.testing.assert_array_equal(np.ptp(vertices, axis=0), [1000.0, 4.0, 0.0])


def test_a_hull_that_is_flat_but_for_rounding_is_refused() -> None:
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1e-12]])
    with pytest.raises(ProblemError, match=r"lie in a plane within"):
        ConvexHull(points)
    points[3, 2] = 1e-6
    assert ConvexHull(points).volume > 0.0


def test_a_negative_rounding_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"is -0.1 m: it must not be negative"):
        Box((1.0, 1.0, 1.0), rounding=-0.1)
