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
