"""Distances and rays against closed forms and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nonsmooth as ns
from nonsmooth.errors import ProblemError
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, Mesh, Shape, Sphere

CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def cube_mesh(half: float) -> Mesh:
    hull = ConvexHull(half * CORNERS)
    return Mesh(hull.vertices, hull.triangles)


SHAPES: list[Shape] = [
    Sphere(0.3),
    Box((0.4, 0.6, 0.8)),
    Capsule(0.2, 0.5),
    Cylinder(0.3, 0.6),
    Cone(0.3, 0.6),
    Ellipsoid((0.2, 0.3, 0.5)),
    ConvexHull(0.3 * CORNERS),
    cube_mesh(0.3),
]


def two(a: Shape, b: Shape, away: float, turn: np.ndarray) -> ns.System:
    system = ns.System()
    system.add_body(a, fixed=True, name="a")
    system.add_body(b, mass=1.0, position=(0.0, 0.0, away), orientation=turn, name="b")
    return system


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_distance_to_a_ball_is_that_of_its_centre(shape):
    rng = np.random.default_rng(1)
    for _ in range(5):
        turn = quaternions.normalise(rng.normal(size=4))
        small, large = (two(Sphere(r), shape, 2.0, turn).distance("a", "b") for r in (0.1, 0.3))
        assert small.gap - large.gap == pytest.approx(0.2, abs=1e-12)
        assert np.allclose(small.point_b, large.point_b, rtol=0.0, atol=1e-6)
        assert np.linalg.norm(small.point_b - small.point_a) == pytest.approx(small.gap, abs=1e-9)
        assert np.allclose(small.point_a, 0.1 * small.normal, rtol=0.0, atol=1e-9)
        back = two(Sphere(0.1), shape, 2.0, turn).distance("b", "a")
        assert back.gap == pytest.approx(small.gap, abs=1e-12)
        assert np.allclose(back.normal, -small.normal, rtol=0.0, atol=1e-7)


def test_distances_of_boxes_and_planes():
    system = ns.System()
    system.add_plane(name="floor")
    system.add_box((1, 1, 1), mass=1.0, position=(0, 0, 0.7), name="crate")
    system.add_box((1, 1, 1), mass=1.0, position=(3, 0, 0.45), name="sunk")
    system.add_mesh(
        cube_mesh(0.5).vertices, cube_mesh(0.5).triangles, mass=1.0, position=(0, 3, 0.7), name="mesh"
    )
    assert system.distance("floor", "crate").gap == pytest.approx(0.2)
    assert system.distance("crate", "sunk").gap == pytest.approx(2.0)
    assert system.distance("crate", "mesh").gap == pytest.approx(2.0)
    assert system.distance("mesh", "floor").gap == pytest.approx(0.2)
    assert system.overlap("floor", "sunk")
    assert not system.overlap("floor", "crate")


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rays_meet_shapes_where_brute_force_does(seed):
    rng = np.random.default_rng(seed)
    system = ns.System()
    for k, shape in enumerate(SHAPES):
        place = np.array([1.5 * k, 0.0, 0.0])
        system.add_body(
            shape, mass=1.0, position=place, orientation=quaternions.normalise(rng.normal(size=4))
        )
    target = rng.integers(len(SHAPES))
    origin = np.array([1.5 * target, 0.0, 4.0]) + rng.uniform(-3.0, 3.0, 3) * (1.0, 1.0, 0.5)
    way = np.array([1.5 * target, 0.0, 0.0]) + 0.1 * rng.normal(size=3) - origin
    hit = system.cast_ray(origin, way)
    probe = system.copy()
    if hit is None:
        ball = probe.add_sphere(1e-9, mass=1.0, position=origin, name="probe")
        for part in np.linspace(0.0, 2.0, 50):
            probe.position[ball] = origin + part * way
            assert all(probe.distance("probe", body).gap > 0.0 for body in range(len(SHAPES)))
        return
    # A tiny ball there touches the body that was hit, and no body before it.
    ball = probe.add_sphere(1e-9, mass=1.0, position=hit.point, name="probe")
    assert abs(probe.distance("probe", hit.body).gap) < 1e-8
    assert hit.normal @ (way / np.linalg.norm(way)) < 1e-9
    for part in np.linspace(0.0, 0.999, 7):
        probe.position[ball] = origin + part * hit.distance * way / np.linalg.norm(way)
        assert all(probe.distance("probe", body).gap > -1e-9 for body in range(len(SHAPES)))


def test_rays_on_terrain_planes_and_past_everything():
    system = ns.System()
    x, y = np.meshgrid(np.linspace(-5, 5, 21), np.linspace(-5, 5, 21), indexing="ij")
    system.add_height_field(0.1 * x + 0.2 * y, 0.5, name="slope")
    down = system.cast_rays([[1.0, 2.0, 5.0], [-4.9, 4.9, 5.0], [9.0, 0.0, 5.0]], [[0, 0, -1.0]] * 3)
    assert down[0].distance == pytest.approx(5.0 - 0.5)
    assert np.allclose(down[0].normal, np.array([-0.1, -0.2, 1.0]) / np.sqrt(1.05))
    assert down[1].distance == pytest.approx(5.0 - 0.49)
    assert down[2] is None
    slanted = system.cast_ray((-4.0, -4.0, 3.0), (1.0, 1.0, -0.5))
    assert slanted.point[2] == pytest.approx(0.1 * slanted.point[0] + 0.2 * slanted.point[1])
    system.add_plane(point=(0, 0, -3.0), name="floor")
    assert system.cast_ray((9.0, 0.0, 5.0), (0, 0, -1)).distance == pytest.approx(8.0)
    assert system.cast_ray((9.0, 0.0, 5.0), (0, 0, -1), max_distance=7.0) is None
    assert system.cast_ray((1.0, 2.0, 5.0), (0, 0, -1), ignore="slope").distance == pytest.approx(8.0)


def torus(n: int = 20, m: int = 10) -> Mesh:
    u, w = np.meshgrid(np.arange(n) * 2.0 * np.pi / n, np.arange(m) * 2.0 * np.pi / m, indexing="ij")
    wide = 1.0 + 0.4 * np.cos(w)
    number = np.arange(n * m).reshape(n, m)
    b, d = np.roll(number, -1, 0), np.roll(number, -1, 1)
    c = np.roll(b, -1, 1)
    faces = [np.stack(corners, -1).reshape(-1, 3) for corners in ((number, b, c), (number, c, d))]
    vertices = np.stack([wide * np.cos(u), wide * np.sin(u), 0.4 * np.sin(w)], -1).reshape(-1, 3)
    return Mesh(vertices, np.concatenate(faces))


class Triangles:
    """Distance, inside and rays of a mesh by all its triangles."""

    def __init__(self, mesh: Mesh) -> None:
        self.a, self.b, self.c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))

    def inside(self, point: np.ndarray) -> bool:
        a, b, c = self.a - point, self.b - point, self.c - point
        la, lb, lc = (np.linalg.norm(arm, axis=1) for arm in (a, b, c))
        over = np.einsum("ti,ti->t", a, np.cross(b, c))
        under = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        return bool(np.arctan2(over, under).sum() > np.pi)  # half of the whole solid angle 4π

    def distance(self, point: np.ndarray) -> float:
        n = np.cross(self.b - self.a, self.c - self.a)
        n /= np.linalg.norm(n, axis=1)[:, None]
        height = ((point - self.a) * n).sum(1)
        over, best = np.ones(len(n), dtype=bool), np.inf
        for p, q in ((self.a, self.b), (self.b, self.c), (self.c, self.a)):
            over &= (np.cross(q - p, point - p) * n).sum(1) >= 0.0
            part = np.clip(((point - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0.0, 1.0)
            best = min(best, np.linalg.norm(point - p - part[:, None] * (q - p), axis=1).min())
        return float(min(best, np.abs(height[over]).min(initial=np.inf)))

    def ray(self, origin: np.ndarray, way: np.ndarray) -> float:
        if self.inside(origin):
            return 0.0
        e, f = self.b - self.a, self.c - self.a
        p, s = np.cross(way, f), origin - self.a
        det, q = (e * p).sum(1), np.cross(s, e)
        u, v, t = (s * p).sum(1) / det, (q @ way) / det, (f * q).sum(1) / det
        return float(t[(u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)].min(initial=np.inf))


def test_points_and_rays_of_a_mesh_are_those_of_its_triangles():
    mesh, rng = torus(), np.random.default_rng(4)
    brute, system = Triangles(mesh), ns.System()
    system.add_body(mesh, fixed=True, name="ring")
    system.position[0] = -system.shapes.offset[0]
    inside = 0
    for point in rng.uniform(-1.5, 1.5, (120, 3)) * (1.0, 1.0, 0.4):
        found = system.distance("ring", point)
        sign = -1.0 if brute.inside(point) else 1.0
        inside += sign < 0.0
        assert found.gap == pytest.approx(sign * brute.distance(point), abs=1e-14)
        assert (found.point_b - found.point_a) @ found.normal == pytest.approx(found.gap, abs=1e-14)
        assert system.overlap(point, "ring") == (sign < 0.0)
    assert inside > 10
    origins, ways = rng.normal(size=(150, 3)) * (1.0, 1.0, 0.4), rng.normal(size=(150, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    hits = system.cast_rays(origins, ways)
    assert np.allclose(
        hits.distance, [brute.ray(o, w) for o, w in zip(origins, ways, strict=True)], rtol=0.0, atol=1e-13
    )
    assert np.sum(hits.distance == 0.0) > 5


def test_points_against_closed_forms():
    system = ns.System()
    system.add_plane(name="floor")
    system.add_sphere(0.5, mass=1.0, position=(0, 0, 2.0), name="ball")
    system.add_box((2.0, 2.0, 2.0), mass=1.0, position=(5, 0, 2.0), name="crate")
    assert system.distance("floor", (3.0, 1.0, -0.25)).gap == -0.25
    assert system.distance((0.0, 0.0, 5.0), "ball").gap == pytest.approx(2.5, abs=1e-15)
    assert system.distance((0.1, 0.0, 2.0), "ball").gap == pytest.approx(-0.4, abs=1e-15)
    assert system.distance((5.0, 3.0, 6.0), "crate").gap == pytest.approx(np.sqrt(13.0), abs=1e-14)
    deep = system.distance("crate", (5.2, 0.1, 2.7))
    assert deep.gap == pytest.approx(-0.3, abs=1e-14)
    assert np.allclose(deep.point_a, (5.2, 0.1, 3.0))
    assert np.allclose(deep.normal, (0.0, 0.0, 1.0))
    assert system.distance((0.0, 0.0, 0.0), (0.0, 3.0, 4.0)).gap == 5.0
    assert system.overlap((5.0, 0.0, 1.0), "crate")
    assert not system.overlap((5.0, 0.0, 0.99), "crate")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_loose_shape_is_as_far_as_a_body_there(shape):
    rng, system = np.random.default_rng(6), ns.System()
    system.add_body(torus(), fixed=True, name="ring")
    system.add_box((0.5, 0.5, 0.5), mass=1.0, position=(0, 0, 1.0), name="crate")
    system.add_plane(point=(0, 0, -2.0), name="floor")
    for _ in range(5):
        position, turn = rng.normal(size=3), quaternions.normalise(rng.normal(size=4))
        with_body = system.copy()
        with_body.add_body(shape, mass=1.0, orientation=turn, name="shape")
        centre = shape.mass_properties(1.0).centre
        with_body.position[-1] = position + quaternions.rotate(turn, centre)
        for other in ("ring", "crate", "floor"):
            loose = system.distance((shape, position, turn), other)
            body = with_body.distance("shape", other)
            assert loose.gap == pytest.approx(body.gap, abs=1e-13)
            assert np.allclose(loose.point_b, body.point_b, rtol=0.0, atol=1e-7)
            back = system.distance(other, (shape, position, turn))
            assert back.gap == pytest.approx(loose.gap, abs=1e-13)
            assert np.allclose(back.point_a, loose.point_b, rtol=0.0, atol=1e-7)
    assert system.distance(shape, (0.0, 0.0, 9.0)).gap > 8.0
    two = ns.model.shapes.Compound(((shape, (0, 0, 0), (1, 0, 0, 0)), (Sphere(0.1), (0, 0, 5), (1, 0, 0, 0))))
    assert system.distance((two, (0.0, 0.0, 1.0)), (0.0, 0.0, 9.0)).gap == pytest.approx(2.9)


def test_loose_shapes_of_one_kind_do_not_remember_each_other():
    system = ns.System()
    system.add_sphere(1.0, mass=1.0, name="ball")
    for half in (0.5, 1.0, 1.5, 0.5):
        found = system.distance((Box((2 * half, 2 * half, 2 * half)), (5.0, 0.0, 0.0)), "ball")
        assert found.gap == pytest.approx(4.0 - half, abs=1e-14)
    system.position[0] = (1.0, 0.0, 0.0)
    assert system.distance((Box((1, 1, 1)), (5.0, 0.0, 0.0)), "ball").gap == pytest.approx(2.5, abs=1e-14)


@pytest.mark.parametrize(
    "shape", [s for s in SHAPES if not isinstance(s, Cone)], ids=lambda s: type(s).__name__
)
def test_a_shape_inside_a_mesh_overlaps_it(shape):
    """A shape in the middle of a large cube, of which it touches no triangle: the way out is the shortest."""
    system = ns.System()
    system.add_body(cube_mesh(2.0), fixed=True, name="block")
    found = system.distance("block", (shape, (0.0, 0.0, 0.7)))
    half = shape.local_bound()[5]
    assert found.gap == pytest.approx(-(1.3 + half), abs=1e-12)
    assert np.allclose(found.normal, (0.0, 0.0, 1.0), atol=1e-9)
    assert found.point_a[2] == pytest.approx(2.0)
    assert system.overlap((shape, (0.0, 0.0, 0.7)), "block")
    assert not system.overlap((shape, (0.0, 0.0, 2.8)), "block")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_ray_that_begins_inside_hits_at_once(shape):
    system = ns.System()
    system.add_body(shape, mass=1.0, name="shape")
    for way in np.vstack([np.eye(3), -np.eye(3)]):
        hit = system.cast_ray((0.01, 0.02, 0.03), way, max_distance=0.01)
        assert hit.distance == 0.0
        assert np.allclose(hit.point, (0.01, 0.02, 0.03))
        out = system.distance("shape", (0.01, 0.02, 0.03))
        assert np.allclose(hit.normal, out.normal, atol=1e-6)
        assert system.cast_ray((0.01, 0.02, 0.03), way, ignore="shape") is None


def test_open_meshes_have_no_inside():
    system = ns.System()
    system.add_mesh(*(cube_mesh(1.0).vertices, cube_mesh(1.0).triangles[1:]), fixed=True, name="open")
    assert system.cast_ray((0.2, 0.1, 0.0), (0, 1, 0)).distance == pytest.approx(0.9)
    assert system.distance("open", (0.0, 0.0, 0.75)).gap == pytest.approx(0.25)
    assert not system.overlap("open", (0.0, 0.0, 0.75))


def test_terrain_is_solid_below_for_rays_and_points():
    system = ns.System()
    x = np.linspace(-2.0, 2.0, 5)
    system.add_height_field(np.repeat(0.5 * x[:, None], 5, axis=1), 1.0, name="slope")
    hit = system.cast_ray((1.0, 0.2, -3.0), (0, 0, 1))
    assert hit.distance == 0.0
    assert np.allclose(hit.normal, np.array([-0.5, 0.0, 1.0]) / np.sqrt(1.25))
    assert system.distance("slope", (1.0, 0.2, -0.5)).gap == pytest.approx(-1.0 / np.sqrt(1.25))
    assert system.overlap((1.0, 0.2, -0.5), "slope")


def test_many_rays_at_once_have_the_bits_of_single_ones():
    rng, system = np.random.default_rng(2), ns.System()
    system.add_plane(point=(0, 0, -3.0))
    for k in range(40):
        shape = SHAPES[k % len(SHAPES)]
        place = rng.uniform(-2.0, 2.0, 3)
        system.add_body(shape, mass=1.0, position=place, orientation=rng.normal(size=4))
        system.add_body(shape, mass=1.0, position=place, orientation=system.quaternion[-1])  # a twin
    origins, ways = rng.uniform(-3.0, 3.0, (60, 3)), rng.normal(size=(60, 3))
    hits = system.cast_rays(origins, ways, max_distance=5.0, ignore=[3])
    for hit, origin, way in zip(hits, origins, ways, strict=True):
        single = system.cast_ray(origin, way, max_distance=5.0, ignore=[3])
        assert (hit is None) == (single is None)
        if hit is not None:
            assert (hit.body, hit.distance) == (single.body, single.distance)
            assert np.array_equal(hit.normal, single.normal)
    assert 20 < np.sum(hits.body >= 0) < 60


def test_a_lidar_gets_arrays_and_does_not_see_its_own_body():
    system = ns.System()
    system.add_sphere(0.2, mass=1.0, name="robot")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.3), name="head")
    system.add_sphere(1.0, mass=1.0, position=(3.0, 0, 0), name="rock")
    angles = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)
    ways = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(360)])
    hits = system.cast_rays((0.0, 0.0, 0.0), ways, ignore=["robot", "head"])
    seen = np.abs(np.sin(angles)) * 3.0 < 1.0
    seen &= np.cos(angles) > 0.0
    assert np.array_equal(hits.body == 2, seen)
    assert np.all(hits.body[~seen] == -1)
    assert np.all(np.isinf(hits.distance[~seen]))
    assert np.isnan(hits.point[~seen]).all()
    closed_form = 3.0 * np.cos(angles) - np.sqrt(np.maximum(0.0, 1.0 - 9.0 * np.sin(angles) ** 2))
    assert np.allclose(hits.distance[seen], closed_form[seen], rtol=0.0, atol=1e-11)
    assert hits[0].distance == hits.distance[0]
    assert hits[180] is None
    assert len(hits) == len(list(hits)) == 360
    assert np.all(system.cast_rays((0.0, 0.0, 0.0), ways, ignore="head").distance == 0.0)
    assert system.cast_rays(np.zeros((0, 3)), np.zeros((0, 3))).body.shape == (0,)
    assert np.all(ns.System().cast_rays((0.0, 0.0, 0.0), ways).body == -1)


def test_bad_queries_are_named():
    system = ns.System()
    system.add_sphere(1.0, mass=1.0, name="ball")
    system.add_body(None, mass=1.0, inertia=np.eye(3), name="ghost")
    with pytest.raises(ProblemError, match="direction 0 of a ray is zero"):
        system.cast_ray((0, 0, 0), (0, 0, 0))
    with pytest.raises(ProblemError, match="max_distance of a ray is -1"):
        system.cast_ray((0, 0, 0), (0, 0, 1), max_distance=-1)
    with pytest.raises(ProblemError, match="'ghost' has no shape"):
        system.distance("ball", "ghost")
    with pytest.raises(ProblemError, match="a and b are both body 'ball'"):
        system.distance("ball", 0)
    with pytest.raises(ProblemError, match=r"b is \(1, 2\): give a body by index or name, a point"):
        system.distance("ball", (1, 2))
    with pytest.raises(ProblemError, match="point a is nan at index 1: every number must be finite"):
        system.distance((0, np.nan, 0), "ball")
    with pytest.raises(ProblemError, match="the position of shape b has shape"):
        system.overlap("ball", (Sphere(0.1), (0, 0)))
    with pytest.raises(
        ProblemError, match=r"origins of rays has shape \(2, 3\): give a point for each of 1 rays"
    ):
        system.cast_rays(np.zeros((2, 3)), [[0, 0, 1]])
    system.add_plane(name="floor")
    with pytest.raises(ProblemError, match="a half-space and a half-space is not defined, as both are"):
        system.distance("floor", ns.model.shapes.HalfSpace())
