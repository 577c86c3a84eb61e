"""Meshes that move: corners that come down within a step, heaps, and bodies inside of closed meshes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import nonsmooth as ns
from nonsmooth.collision.certificate import ContactChecker
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.model.shapes import Box, ConvexHull, Cylinder, HalfSpace, HeightField, Mesh, Shape, Sphere

Floats = NDArray[np.float64]
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
TURN = np.array([0.9, 0.1, 0.3, 0.3]) / np.linalg.norm([0.9, 0.1, 0.3, 0.3])


def cube(*edges: float) -> Mesh:
    hull = ConvexHull(CORNERS * edges)
    return Mesh(hull.vertices, hull.triangles)


def ell() -> Mesh:
    """An L of three cubes with edges of 0.1 m: not convex, with two feet on two of its sides."""
    outline = 0.1 * np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
    vertices = np.vstack([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 0.1)])
    caps = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    sides = [[(i, (i + 1) % 6, (i + 1) % 6 + 6), (i, (i + 1) % 6 + 6, i + 6)] for i in range(6)]
    return Mesh(vertices, np.vstack([caps[:, ::-1], caps + 6, np.array(sides).reshape(-1, 3)]))


def ball() -> Mesh:
    """A dodecahedron's dual, once refined: 42 corners on a sphere of 0.1 m."""
    golden = 0.5 * (1.0 + 5.0**0.5)
    signs = itertools.product((-1.0, 1.0), repeat=2)
    points = np.array([np.roll((0.0, a, b * golden), k) for a, b in signs for k in range(3)])
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    ends = np.argwhere(np.triu(far < 2.1, 1))
    points = np.vstack([points, points[ends].mean(axis=1)])
    hull = ConvexHull(0.1 * points / np.linalg.norm(points, axis=1)[:, None])
    return Mesh(hull.vertices, hull.triangles)


FLOORS: dict[str, Shape] = {
    "half-space": HalfSpace(),
    "box": Box((4.0, 4.0, 1.0)),
    "mesh": cube(4.0, 4.0, 1.0),
    "height field": HeightField(np.zeros((21, 21)), (0.2, 0.2)),
}


def add_floor(system: ns.System, floor: str) -> None:
    low = -0.5 if floor in ("box", "mesh") else 0.0
    system.add_body(FLOORS[floor], fixed=True, position=(0.0, 0.0, low), name="floor")


def tumbling(shape: Shape, floor: str, seed: int, floor_last: bool = False) -> ns.System:
    rng = np.random.default_rng(seed)
    system = ns.System()
    if not floor_last:
        add_floor(system, floor)
    turn = rng.normal(size=4)
    system.add_body(
        shape, density=1000.0, position=(0.0, 0.0, 0.25), orientation=turn / np.linalg.norm(turn), name="cube"
    )
    if floor_last:
        add_floor(system, floor)
    system.angular_velocity[system.index("cube")] = 8.0 * rng.normal(size=3)
    return system


@pytest.mark.parametrize("floor", FLOORS)
def test_a_tumbling_mesh_cube_overlaps_the_floor_no_more_than_a_hull(floor: str) -> None:
    for seed in range(3):
        worst = []
        for shape in (ConvexHull(0.2 * CORNERS), cube(0.2, 0.2, 0.2)):
            run = ns.simulate(tumbling(shape, floor, seed), duration=0.5, step=0.005, contact_check="all")
            assert run.certificate.failed == 0
            assert run.certificate.late_contacts == 0
            worst.append(run.certificate.largest_penetration)
        assert worst[0] < 1e-5
        assert worst[1] < 2.0 * worst[0] + 1e-7


@pytest.mark.parametrize("floor", ["box", "mesh", "height field"])
def test_the_order_of_bodies_does_not_matter_to_a_mesh_that_falls(floor: str) -> None:
    ends = []
    for floor_last in (False, True):
        run = ns.simulate(
            tumbling(cube(0.2, 0.2, 0.2), floor, 1, floor_last), duration=0.3, step=0.005, contact_check="all"
        )
        assert run.certificate.failed == 0
        ends.append(run.system.position[run.system.index("cube")])
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_corners_of_a_mesh_that_come_down_within_the_step_are_contacts() -> None:
    system = ns.System()
    add_floor(system, "box")
    tilt = np.array([np.cos(0.01), np.sin(0.01) * 0.6, np.sin(0.01) * 0.8, 0.0])
    corners = 0.2 * CORNERS
    system.add_body(cube(0.2, 0.2, 0.2), mass=1.0, orientation=tilt, name="cube")
    at = system.index("cube")
    world = corners @ ns.model.quaternions.matrix(tilt).T
    system.position[at, 2] = 1e-5 - world[:, 2].min()
    heights = np.sort(world[:, 2] - world[:, 2].min() + 1e-5)[:4]
    detector = Detector(system, 1e-3)
    displacement = np.zeros((2, 3))
    for speed in (0.002, 0.004, 0.02):
        displacement[at, 2] = -speed
        found = detector.detect(system.position, system.quaternion, displacement, np.zeros(2))
        expected = heights[heights - speed <= 1e-3]
        assert np.abs(np.sort(found.gap) - expected).max() < 1e-12
        assert np.abs(found.normal - [0.0, 0.0, 1.0]).max() < 1e-12
    assert len(found) == 4


@pytest.mark.parametrize("floor", ["half-space", "mesh", "height field"])
def test_contacts_of_a_heap_of_meshes_are_certified(floor: str) -> None:
    rng = np.random.default_rng(5)
    system = ns.System()
    add_floor(system, floor)
    for i in range(9):
        turn = rng.normal(size=4)
        system.add_body(
            (cube(0.2, 0.2, 0.2), ell(), ball())[i % 3],
            density=1000.0,
            position=(0.3 * (i % 2) + 0.02 * rng.random(), 0.02 * rng.random(), 0.25 + 0.2 * i),
            orientation=turn / np.linalg.norm(turn),
        )
    run = ns.simulate(system, duration=0.8, step=0.005, contact_check="all")
    certificate = run.certificate
    assert certificate.contacts_checked == certificate.contacts > 1000
    assert certificate.wrong_contact_steps == 0
    assert certificate.missing_contacts == 0
    assert certificate.deep_contacts == 0


# ---- inside -------------------------------------------------------------------------------------------

INNER: dict[str, Shape] = {
    "sphere": Sphere(0.1),
    "box": Box((0.1, 0.2, 0.3)),
    "cylinder": Cylinder(0.1, 0.2),
    "hull": ConvexHull(0.2 * CORNERS + [0.3, 0.0, 0.0]),
    "mesh": cube(0.1, 0.2, 0.3),
}


def lowest(shape: Shape) -> float:
    """How far the shape, turned by TURN, reaches down from its centre of mass (m)."""
    up = ns.model.quaternions.matrix(TURN).T @ [0.0, 0.0, 1.0]
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Cylinder):
        return float(0.1 * np.hypot(up[0], up[1]) + 0.1 * abs(up[2]))
    if isinstance(shape, Box):
        return float(np.abs(up) @ [0.05, 0.1, 0.15])
    vertices = shape.vertices - shape.mass_properties(1.0).centre
    return float(-(vertices @ up).min())


def inside(name: str, container: Mesh, first: bool) -> ns.System:
    system = ns.System()
    system.gravity = (0.0, 0.0, 0.0)
    place = np.array([0.1, 0.2, 0.6])
    if first:
        system.add_body(container, fixed=True, name="outer")
    system.add_body(INNER[name], mass=1.0, orientation=TURN, name="inner")
    system.position[system.index("inner")] = place  # of the centre of mass
    if not first:
        system.add_body(container, fixed=True, name="outer")
    return system


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", INNER)
def test_a_body_inside_a_closed_mesh_overlaps_it(name: str, first: bool) -> None:
    system = inside(name, cube(2.0, 2.0, 2.0), first)
    found = system.distance("outer", "inner")
    assert found.gap == pytest.approx(-(0.4 + lowest(INNER[name])), abs=1e-12)
    assert np.abs(found.normal - [0.0, 0.0, 1.0]).max() < 1e-12
    back = system.distance("inner", "outer")
    assert back.gap == found.gap
    assert np.abs(back.normal + found.normal).max() == 0.0
    margin = 1e-3
    contacts = Detector(system, margin).detect(system.position, system.quaternion)
    checker = ContactChecker(system, "all")
    assert checker.check(contacts, system.position, system.quaternion, margin=margin).holds
    assert len(contacts) == 1
    none = checker.check(Contacts.empty(), system.position, system.quaternion, margin=margin)
    assert none.missing == 1
    wrong = Contacts.empty().joined(contacts)
    wrong.gap[0] *= 0.9
    assert not checker.check(wrong, system.position, system.quaternion, margin=margin).holds


@pytest.mark.parametrize("name", INNER)
def test_a_body_inside_a_closed_mesh_comes_out(name: str) -> None:
    system = inside(name, cube(2.0, 2.0, 2.0), True)
    run = ns.simulate(system, duration=0.05, step=0.005, scheme="projected", contact_check="all")
    assert run.certificate.failed == 0
    assert run.system.distance("outer", "inner").gap > -1e-9
    assert run.system.position[run.system.index("inner"), 2] > 1.0


@pytest.mark.parametrize("name", INNER)
def test_an_open_mesh_and_a_room_have_no_inside(name: str) -> None:
    closed = cube(2.0, 2.0, 2.0)
    system = inside(name, Mesh(closed.vertices, closed.triangles[1:]), True)
    assert system.distance("outer", "inner").gap > 0.0
    assert len(Detector(system, 1e-3).detect(system.position, system.quaternion)) == 0
    # a room with thick walls: the outer surface, and the inner one turned around
    outer = cube(3.0, 3.0, 3.0)
    walls = Mesh(
        np.vstack([outer.vertices, closed.vertices]),
        np.vstack([outer.triangles, closed.triangles[:, ::-1] + len(outer.vertices)]),
    )
    system = inside(name, walls, True)
    found = system.distance("outer", "inner")
    assert 0.0 < found.gap < 0.4


def test_a_mesh_under_a_height_field_overlaps_it() -> None:
    system = ns.System()
    add_floor(system, "height field")
    system.add_body(cube(0.2, 0.2, 0.2), mass=1.0, position=(0.1, 0.2, -0.7), name="cube")
    found = system.distance("floor", "cube")
    assert found.gap == pytest.approx(-0.8, abs=1e-12)
    assert np.abs(found.normal - [0.0, 0.0, 1.0]).max() < 1e-12
