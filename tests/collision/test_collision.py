"""Contacts against closed forms, brute force and coal; and what must hold of them in every scene."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.paths import ROOT
from nonsmooth.collision import Contacts, Detector, match_impulses
from nonsmooth.collision.broad_phase import BroadPhase
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Shape,
    Sphere,
)
from nonsmooth.model.system import System

QUARTER = np.sqrt(0.5)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
ALONG_X = (QUARTER, 0.0, QUARTER, 0.0)  # turns z to x
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])

Place = tuple[Shape, tuple[float, ...] | np.ndarray, tuple[float, ...] | np.ndarray]


def scene(*places: Place, plane: bool = False) -> System:
    """Free bodies of given shapes at given places; the plane z = 0 is body 0 if wanted."""
    system = System()
    if plane:
        system.add_plane()
    for shape, position, orientation in places:
        system.add_body(shape, mass=1.0, position=position, orientation=orientation)
    return system


def detect(system: System, margin: float = 0.02, **motion: np.ndarray) -> Contacts:
    return Detector(system, margin).detect(system.position, system.quaternion, **motion)


def as_hull(box: Box) -> ConvexHull:
    return ConvexHull(CORNERS * np.array(box.size))


def as_mesh(box: Box) -> Mesh:
    hull = as_hull(box)
    return Mesh(hull.vertices, hull.triangles)


def random_orientation(rng: np.random.Generator) -> np.ndarray:
    q = rng.standard_normal(4)
    return q / np.linalg.norm(q)


def random_shape(rng: np.random.Generator, kinds: str = "sbc") -> Shape:
    kind = rng.choice(list(kinds))
    if kind == "s":
        return Sphere(rng.uniform(0.2, 1.0))
    if kind == "b":
        return Box(tuple(rng.uniform(0.4, 2.0, 3)))
    return Capsule(rng.uniform(0.1, 0.6), rng.uniform(0.3, 2.0))


def random_pair(rng: np.random.Generator, kinds: str = "sbc") -> list[Place]:
    middle = rng.uniform(-1.0, 1.0, 3)
    return [
        (random_shape(rng, kinds), middle, random_orientation(rng)),
        (random_shape(rng, kinds), middle + rng.normal(0.0, 0.8, 3), random_orientation(rng)),
    ]


def same_bits(one: Contacts, two: Contacts) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.columns(), two.columns(), strict=True))


# ---- broad phase ------------------------------------------------------------------------------------


def overlapping(
    bound: np.ndarray, group: np.ndarray, plane: np.ndarray, slack: float
) -> set[tuple[int, int]]:
    """All pairs by brute force: boxes and balls overlap, or a box and a ball reach below z = 0."""
    found = set()
    for a in range(len(bound)):
        for b in range(a + 1, len(bound)):
            if group[a] == group[b] or (plane[a] and plane[b]):
                continue
            if plane[a] or plane[b]:
                solid, wall = (b, a) if plane[a] else (a, b)
                height = bound[solid, 2] - bound[wall, 6] * slack
                touch = height <= min(bound[solid, 5], bound[solid, 6]) * slack
            else:
                apart = np.abs(bound[a, :3] - bound[b, :3])
                touch = bool(
                    np.all(apart <= (bound[a, 3:6] + bound[b, 3:6]) * slack)
                    and np.linalg.norm(apart) <= (bound[a, 6] + bound[b, 6]) * slack
                )
            if touch:
                found.add((a, b))
    return found


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 60),
    decades=st.sampled_from([0.0, 0.1, 1.0, 3.0, 6.0]),
    spread=st.sampled_from([0.0, 0.5, 5.0, 1e3, 1e7]),
    shift=st.sampled_from([0.0, 1e3, -1e6]),
)
def test_broad_phase_finds_the_pairs_of_brute_force(seed, count, decades, spread, shift):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-decades, 0.0, count)
    bound = np.empty((count, 7))
    bound[:, :3] = rng.uniform(-1.0, 1.0, (count, 3)) * spread * size.mean() if count else 0.0
    bound[:, :3] += shift
    bound[:, 3:6] = size[:, None] * rng.uniform(0.05, 1.0, (count, 3))
    bound[:, 6] = np.linalg.norm(bound[:, 3:6], axis=1) * rng.uniform(0.6, 1.0, count)
    group = rng.integers(-1, max(1, count), count).astype(np.int32)
    plane = rng.random(count) < 0.05
    axes = np.tile(np.eye(3), (count, 1, 1))
    centre = bound[:, :3].copy()
    centre[plane, 2] = 0.0
    broad_phase = BroadPhase(group, plane)
    found = [tuple(pair) for pair in broad_phase.pairs(bound, centre, axes).tolist()]
    assert found == sorted(set(found))
    certain = overlapping(bound, group, plane, 1.0 - 1e-9)
    possible = overlapping(bound, group, plane, 1.0 + 1e-9)
    assert certain <= set(found) <= possible
    assert found == [tuple(pair) for pair in broad_phase.pairs(bound, centre, axes).tolist()]


def test_one_body_that_flew_off_does_not_hide_the_others():
    rng = np.random.default_rng(0)
    positions = rng.uniform(0.0, 4.0, (200, 3))
    system = System()
    system.add_spheres(0.4, positions, mass=1.0)
    before = detect(system)
    for far in (1e9, 1e15, 1e39):
        system = System()
        system.add_spheres(0.4, np.vstack([positions, [far, -far, far]]), mass=1.0)
        assert same_bits(detect(system), before)


def test_more_pairs_than_room_are_all_found():
    count = 200
    system = System()
    system.add_spheres(1.0, np.random.default_rng(0).uniform(0.0, 0.5, (count, 3)), mass=1.0)
    assert len(detect(system)) == count * (count - 1) // 2


def test_a_slab_meets_every_grain_below_it():
    side = 60
    x, y = np.meshgrid(0.001 * np.arange(side), 0.001 * np.arange(side))
    system = System()
    system.add_box((1.0, 1.0, 0.1), mass=1.0, position=(0.0, 0.0, 0.0505))
    system.add_spheres(0.0005, np.column_stack([x.ravel(), y.ravel(), np.zeros(side**2)]), mass=1e-6)
    contacts = detect(system, 1e-7)
    assert np.count_nonzero(contacts.shapes[:, 0] == 0) == side**2
    assert len(contacts) == side**2 + 2 * side * (side - 1)


# ---- what is returned -------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 40),
    speed=st.sampled_from([0.0, 0.01, 0.5]),
    margin=st.sampled_from([0.0, 0.05]),
)
def test_balls_and_planes_that_touch_or_may_touch_in_the_step(seed, count, speed, margin):
    rng = np.random.default_rng(seed)
    radius = 10.0 ** rng.uniform(-1.5, 0.0, count)
    position = rng.uniform(0.0, 1.5, (count, 3))
    system = System()
    system.add_plane()
    system.add_plane(normal=(1.0, 0.0, 1.0), point=(0.2, 0.0, 0.0))
    system.add_spheres(radius, position, mass=1.0)
    displacement = rng.normal(0.0, 1.0, (count + 2, 3)) * speed
    turn = rng.uniform(0.0, 0.1, count + 2) * speed
    contacts = detect(system, margin, displacement=displacement, turn=turn)
    expected = []
    for a in range(count + 2):
        for b in range(a + 1, count + 2):
            if b < 2:
                continue
            if a < 2:
                normal = np.array([0.0, 0.0, 1.0]) if a == 0 else np.array([QUARTER, 0.0, QUARTER])
                gap = normal @ (position[b - 2] - (0.2 * a, 0.0, 0.0)) - radius[b - 2]
            else:
                apart = position[b - 2] - position[a - 2]
                gap = np.linalg.norm(apart) - radius[a - 2] - radius[b - 2]
                normal = apart / np.linalg.norm(apart)
            later = gap + normal @ (displacement[b] - displacement[a]) - turn[a] - turn[b]
            way = np.linalg.norm(displacement[b] - displacement[a]) + turn[a] + turn[b]
            if a >= 2 and gap > margin and way > 0.5 * (radius[a - 2] + radius[b - 2]):
                continue  # fast balls that are apart are followed on their way
            if min(gap, later) > margin:
                continue
            if a >= 2:
                between, slack = displacement[b] - displacement[a], turn[a] + turn[b]
                past = passing_balls(apart, between, radius[a - 2] + radius[b - 2], slack, margin)
                if past is not None:
                    if np.linalg.norm(past) - radius[a - 2] - radius[b - 2] > margin:
                        continue
                    normal = past / np.linalg.norm(past)
                    gap = normal @ apart - radius[a - 2] - radius[b - 2]
            expected.append((a, b, gap, normal))
    assert contacts.shapes.tolist() == [[a, b] for a, b, _, _ in expected]
    assert contacts.bodies.tolist() == contacts.shapes.tolist()
    assert np.allclose(contacts.gap, [gap for _, _, gap, _ in expected], rtol=0.0, atol=1e-13)
    wanted = np.array([normal for *_, normal in expected]).reshape(-1, 3)
    assert np.allclose(contacts.normal, wanted, rtol=0.0, atol=1e-12)


def passing_balls(apart, between, reach, slack, margin):
    """Where the second of two balls is, seen from the first, when they pass each other: that is, when the
    plane of now would stop them, and their centres never come within `reach` + `slack`. None otherwise."""
    distance = np.linalg.norm(apart)
    gap, closing = distance - reach, -(apart @ between) / distance
    if gap <= slack or closing <= gap:
        return None
    aside = gap / closing * np.linalg.norm(between + closing * apart / distance)
    nearest = apart + min(-(apart @ between) / (between @ between), 1.0) * between
    if aside <= 0.01 * margin or np.linalg.norm(nearest) <= reach + slack:
        return None
    return nearest


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_motion_selects_from_the_contacts_of_a_wide_margin(seed):
    rng = np.random.default_rng(seed)
    places = [(random_shape(rng), rng.uniform(0.0, 3.0, 3), random_orientation(rng)) for _ in range(8)]
    system = scene(*places, plane=True)
    displacement, turn = rng.normal(0.0, 0.1, (9, 3)), rng.uniform(0.0, 0.1, 9)
    margin = 0.05
    found = detect(system, margin, displacement=displacement, turn=turn)
    wide = detect(system, 3.0)
    a, b = wide.bodies.T
    closing = np.einsum("ci,ci->c", wide.normal, displacement[b] - displacement[a]) - turn[a] - turn[b]
    # Pairs that are further apart than the margin are swept, unless one is a half-space or both are balls.
    least = np.full((9, 9), np.inf)
    np.minimum.at(least, (a, b), wide.gap)
    chosen = np.minimum(wide.gap, wide.gap + closing) <= margin
    near = wide.take(np.flatnonzero(chosen & (least[a, b] <= margin)))
    one, two = found.bodies.T
    assert same_bits(found.take(np.flatnonzero(least[one, two] <= margin)), near)


def test_contacts_are_ordered_and_the_same_bits_every_time():
    rng = np.random.default_rng(4)
    places = [(random_shape(rng), rng.uniform(0.0, 4.0, 3), random_orientation(rng)) for _ in range(60)]
    system = scene(*places, plane=True)
    detector = Detector(system, 0.1)
    first = detector.detect(system.position, system.quaternion)
    detector.detect(2.0 * system.position, system.quaternion)
    assert same_bits(detector.detect(system.position, system.quaternion), first)
    assert same_bits(detect(system, 0.1), first)
    keys = list(zip(*first.shapes.T.tolist(), first.feature.tolist(), strict=True))
    assert len(keys) > 100
    assert keys == sorted(set(keys))
    assert np.all(first.shapes[:, 0] < first.shapes[:, 1])
    assert np.allclose(np.linalg.norm(first.normal, axis=1), 1.0, rtol=0.0, atol=1e-14)


def test_parts_of_one_body_and_two_fixed_bodies_do_not_touch():
    dumbbell = Compound(((Sphere(1.0), (-0.8, 0, 0), UPRIGHT), (Sphere(1.0), (0.8, 0, 0), UPRIGHT)))
    system = System()
    system.add_body(dumbbell, mass=1.0, position=(0, 0, 1.0))
    system.add_plane()
    system.add_box((1.0, 1.0, 1.0), fixed=True, position=(0, 0, 0))
    system.add_box((1.0, 1.0, 1.0), fixed=True, position=(0.5, 0, 0))
    contacts = detect(system)
    assert {tuple(pair) for pair in contacts.bodies.tolist()} == {(0, 1), (0, 2), (0, 3)}
    with_plane = contacts.bodies[:, 1] == 1
    assert contacts.shapes[with_plane].tolist() == [[0, 2], [1, 2]]
    assert np.allclose(contacts.normal[with_plane], (0, 0, -1))  # from body 0 to the plane
    assert np.allclose(contacts.point[with_plane], [[-0.8, 0, 0], [0.8, 0, 0]])


def test_friction_and_restitution_come_from_the_pair_of_materials():
    system = System()
    system.add_material("ice", friction=0.05, restitution=0.4)
    system.add_material("steel", friction=0.3, restitution=0.6)
    system.set_pair("ice", "steel", friction=0.01)
    for x, material in enumerate(("ice", "steel", "ice")):
        system.add_sphere(0.5, mass=1.0, position=(x, 0, 0), material=material)
    system.add_cylinder(0.5, 1.0, mass=1.0, position=(3.0, 0, 0), material="steel")
    contacts = detect(system, 1e-6)
    assert contacts.bodies.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert contacts.friction.tolist() == [0.01, 0.01, 0.01]
    assert contacts.restitution.tolist() == [0.4, 0.4, 0.4]


# ---- closed forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "height", "orientation", "points"),
    [
        (Sphere(0.5), 0.49, UPRIGHT, [[0, 0]]),
        (Box((1, 2, 1)), 0.49, UPRIGHT, [[-0.5, -1], [-0.5, 1], [0.5, -1], [0.5, 1]]),
        (Box((1, 2, 1)), QUARTER - 0.01, (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0), [[0, -1], [0, 1]]),
        (Capsule(0.5, 2.0), 0.49, ALONG_X, [[-1, 0], [1, 0]]),
        (Capsule(0.5, 2.0), 1.49, UPRIGHT, [[0, 0]]),
        (Cylinder(0.5, 2.0), 0.49, ALONG_X, [[-1, 0], [1, 0]]),
        (Ellipsoid((0.2, 0.3, 0.5)), 0.49, UPRIGHT, [[0, 0]]),
        (as_hull(Box((1, 1, 1))), 0.49, UPRIGHT, CORNERS[::2, :2]),
        (as_mesh(Box((1, 1, 1))), 0.49, UPRIGHT, CORNERS[::2, :2]),
    ],
)
def test_shapes_on_a_plane(shape, height, orientation, points):
    contacts = detect(scene((shape, (0, 0, height), orientation), plane=True))
    found = sorted(np.round(contacts.point[:, :2], 12).tolist())
    assert np.allclose(found, sorted(np.asarray(points, float).tolist()), rtol=0.0, atol=1e-12)
    assert np.allclose(contacts.point[:, 2], -0.005, rtol=0.0, atol=1e-12)  # midway between the surfaces
    assert np.allclose(contacts.gap, -0.01, rtol=0.0, atol=1e-12)
    assert np.allclose(contacts.normal, (0, 0, 1), rtol=0.0, atol=1e-12)
    assert len(set(contacts.feature.tolist())) == len(contacts)


def test_a_box_within_the_margin_touches_a_plane_with_its_lower_corners():
    contacts = detect(scene((Box((1, 1, 0.01)), (0, 0, 0.005), UPRIGHT), plane=True))
    assert contacts.feature.tolist() == list(range(4))
    assert np.allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-15)


def test_a_cylinder_stands_on_eight_points_of_its_rim_and_tips_on_its_lowest():
    contacts = detect(scene((Cylinder(0.5, 1.0), (0, 0, 0.5), UPRIGHT), plane=True))
    assert len(contacts) == 8
    assert np.allclose(np.hypot(*contacts.point[:, :2].T), 0.5)
    tilt, turn = 0.2, 0.3
    q = quaternions.product(
        (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0), (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
    )
    contacts = detect(scene((Cylinder(0.5, 1.0), (0, 0, 0.6), q), plane=True), margin=1.0)
    assert contacts.gap.min() == pytest.approx(0.6 - 0.5 * np.cos(tilt) - 0.5 * np.sin(tilt), abs=1e-14)


@given(seed=st.integers(0, 2**32 - 1))
def test_an_ellipsoid_above_a_plane(seed):
    rng = np.random.default_rng(seed)
    radii, q = rng.uniform(0.1, 1.0, 3), random_orientation(rng)
    contacts = detect(scene((Ellipsoid(tuple(radii)), (0, 0, 1.0), q), plane=True), margin=1.0)
    lowest = np.linalg.norm(radii * quaternions.matrix(q)[2])  # its support function downward
    assert contacts.gap == pytest.approx([1.0 - lowest], abs=1e-14)


@pytest.mark.parametrize(
    ("centre", "gap", "normal"),
    [
        ((0.2, 0.3, 1.05), 0.05, (0, 0, 1)),  # over a face
        ((0.2, 0.3, 0.95), -0.05, (0, 0, 1)),
        ((0.5 + 0.36, 0.5 + 0.48, 0.0), 0.1, (0.6, 0.8, 0)),  # beside an edge
        ((0.5 + 0.3, 0.5 + 0.3, 0.5 + 0.3), np.sqrt(0.27) - 0.5, np.ones(3) / np.sqrt(3)),  # at a corner
        ((0.1, -0.2, 0.3), -0.2 - 0.5, (0, 0, 1)),  # centre inside: out by the nearest face
    ],
)
def test_a_ball_and_a_box(centre, gap, normal):
    contacts = detect(scene((Box((1, 1, 1)), (0, 0, 0), UPRIGHT), (Sphere(0.5), centre, UPRIGHT)), 0.2)
    assert contacts.gap == pytest.approx([gap], abs=1e-15)
    assert np.allclose(contacts.normal, normal, rtol=0.0, atol=1e-15)
    assert np.allclose(contacts.point[0], np.array(centre) - (0.5 + 0.5 * gap) * np.array(normal))


def test_boxes_on_one_another():
    cube = Box((1, 1, 1))
    for height in (1.005, 0.995):
        gap = height - 1.0
        aligned = detect(scene((cube, (0, 0, 0), UPRIGHT), (cube, (0, 0, height), UPRIGHT)))
        assert len(aligned) == 4
        assert np.allclose(np.abs(aligned.point[:, :2]), 0.5)
        turned = (np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8))
        octagon = detect(scene((cube, (0, 0, 0), UPRIGHT), (cube, (0, 0, height), turned)))
        assert len(octagon) == 8
        assert np.allclose(np.hypot(*octagon.point[:, :2].T), 0.5 / np.cos(np.pi / 8), atol=1e-4)
        shifted = detect(scene((cube, (0, 0, 0), UPRIGHT), (cube, (0.7, 0.2, height), UPRIGHT)))
        corners = sorted(np.round(shifted.point[:, :2], 3).tolist())
        assert corners == [[0.2, -0.3], [0.2, 0.5], [0.5, -0.3], [0.5, 0.5]]
        for contacts in (aligned, octagon, shifted):
            assert np.allclose(contacts.gap, gap, rtol=0.0, atol=1e-14)
            assert np.allclose(contacts.normal, (0, 0, 1), rtol=0.0, atol=1e-14)
            assert np.allclose(contacts.point[:, 2], 0.5 + 0.5 * gap, rtol=0.0, atol=1e-14)
            assert len(set(contacts.feature.tolist())) == len(contacts)


def test_two_edges_that_cross():
    cube = Box((1, 1, 1))
    edge_up = (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0)  # an edge along x on top
    edge_down = (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0)  # an edge along y below
    for gap in (0.01, -0.01):
        height = 2.0 * QUARTER + gap
        contacts = detect(scene((cube, (0, 0, 0), edge_up), (cube, (0.1, 0.2, height), edge_down)))
        assert contacts.gap == pytest.approx([gap], abs=1e-14)
        assert np.allclose(contacts.normal, (0, 0, 1), rtol=0.0, atol=1e-14)
        assert np.allclose(contacts.point, (0.1, 0.0, QUARTER + 0.5 * gap), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-3])
def test_capsules_side_by_side_touch_in_two_points(tilt):
    turned = quaternions.product(ALONG_X, (np.cos(tilt / 2), 0, np.sin(tilt / 2), 0))
    one, two = Capsule(0.2, 2.0), Capsule(0.3, 1.0)
    contacts = detect(scene((one, (0, 0, 0), ALONG_X), (two, (0.8, 0, 0.495), turned)))
    assert contacts.feature[0] < contacts.feature[1]
    assert np.allclose(np.sort(contacts.point[:, 0]), [0.3, 1.0], atol=1e-3)
    assert contacts.gap.max() - contacts.gap.min() == pytest.approx(0.7 * np.tan(tilt), abs=1e-6)
    crossed = detect(scene((one, (0, 0, 0), ALONG_X), (two, (0.8, 0, 0.495), (QUARTER, QUARTER, 0, 0))))
    assert crossed.gap == pytest.approx([-0.005], abs=1e-14)
    assert np.allclose(crossed.point, [[0.8, 0, 0.1975]])


def test_a_capsule_on_a_box_rests_on_two_points_and_hangs_over_the_edge():
    box, capsule = Box((2, 2, 1)), Capsule(0.25, 1.0)
    inside = detect(scene((box, (0, 0, 0), UPRIGHT), (capsule, (0, 0, 0.745), ALONG_X)))
    assert np.allclose(inside.point, [[-0.5, 0, 0.4975], [0.5, 0, 0.4975]])
    over = detect(scene((box, (0, 0, 0), UPRIGHT), (capsule, (0.8, 0, 0.745), ALONG_X)))
    assert np.allclose(over.point, [[0.3, 0, 0.4975], [1.0, 0, 0.4975]], atol=1e-4)
    for contacts in (inside, over):
        assert np.allclose(contacts.gap, -0.005, rtol=0.0, atol=1e-14)
    # Rolling off an edge, parallel to it: two points along the edge, the normal from the edge to the axis.
    place = np.array([1, 0, 0.5]) + 0.245 * np.array([0.6, 0, 0.8])
    rolling = detect(scene((box, (0, 0, 0), UPRIGHT), (capsule, place, (QUARTER, QUARTER, 0, 0))))
    assert np.allclose(sorted(rolling.point[:, 1]), [-0.5, 0.5])
    assert np.allclose(rolling.normal, (0.6, 0, 0.8))
    assert np.allclose(rolling.gap, -0.005)


# ---- symmetries -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1))
def test_contacts_move_with_the_scene(seed):
    rng = np.random.default_rng(seed)
    places = random_pair(rng)
    before = detect(scene(*places), 0.3)
    turn, shift = random_orientation(rng), rng.uniform(-3.0, 3.0, 3)
    moved = [
        (shape, shift + quaternions.rotate(turn, np.asarray(position)), quaternions.product(turn, q))
        for shape, position, q in places
    ]
    after = detect(scene(*moved), 0.3)
    assert after.feature.tolist() == before.feature.tolist()
    assert np.allclose(after.gap, before.gap, rtol=0.0, atol=1e-9)
    assert np.allclose(after.normal, before.normal @ quaternions.matrix(turn).T, rtol=0.0, atol=1e-7)
    assert np.allclose(after.point, shift + before.point @ quaternions.matrix(turn).T, rtol=0.0, atol=1e-7)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_two_bodies_turns_the_normal(seed):
    one, two = random_pair(np.random.default_rng(seed))
    there, back = detect(scene(one, two), 0.3), detect(scene(two, one), 0.3)
    assert (len(there) == 0) == (len(back) == 0)
    if len(there):
        # A tie between two ways out may be broken either way; both are within the tie of one another.
        least, other = there.gap.min(), back.gap.min()
        assert other == pytest.approx(least, rel=0.021, abs=1e-4)
        if not isinstance(one[0], Box) or not isinstance(two[0], Box):
            assert other == pytest.approx(least, abs=1e-12)
            assert there.normal[there.gap.argmin()] @ back.normal[back.gap.argmin()] == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("upper", "height"), [(Box((1, 1, 1)), 1.0), (Box((0.8, 1.2, 1)), 1.0), (Capsule(0.25, 0.5), 0.75)]
)
@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.3, 0.1)])
def test_features_survive_trembling(upper, height, offset):
    rng = np.random.default_rng(0)
    orientation = ALONG_X if isinstance(upper, Capsule) else UPRIGHT
    system = scene((Box((1, 1, 1)), (0, 0, 0), UPRIGHT), (upper, (*offset, height), orientation))
    detector = Detector(system, 0.01)
    rest = detector.detect(system.position, system.quaternion)
    assert len(rest) >= 2
    for _ in range(50):
        position = system.position + rng.normal(0.0, 1e-7, (2, 3))
        turned = system.quaternion + rng.normal(0.0, 1e-7, (2, 4))
        contacts = detector.detect(position, quaternions.normalise(turned))
        assert contacts.feature.tolist() == rest.feature.tolist()
        assert np.allclose(contacts.point, rest.point, atol=1e-4)


# ---- against coal -----------------------------------------------------------------------------------


def coal_distance(places: list[Place]) -> tuple[float, np.ndarray]:
    """Signed distance and normal by coal."""
    import coal

    solids = []
    for shape, position, q in places:
        if isinstance(shape, Sphere):
            solid = coal.Sphere(shape.radius)
        elif isinstance(shape, Box):
            solid = coal.Box(*shape.size)
        else:
            solid = coal.Capsule(shape.radius, shape.length)
        solids += [solid, coal.Transform3s(quaternions.matrix(q), np.asarray(position))]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    return coal.distance(*solids, request, result), np.array(result.normal)


@pytest.mark.parametrize("kinds", ["s", "c", "sb", "sc", "cb", "b"])
def test_gaps_and_normals_agree_with_coal(kinds):
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(300):
        places = random_pair(rng, kinds)
        flat = sum(isinstance(shape, Box) for shape, _, _ in places)
        sharp = flat == 2 or (flat == 1 and any(isinstance(shape, Capsule) for shape, _, _ in places))
        gap, normal = coal_distance(places)
        contacts = detect(scene(*places), 0.5)
        if gap > 0.5:
            assert len(contacts) == 0
            continue
        compared += 1
        found = contacts.gap.min()
        if not sharp:
            assert found == pytest.approx(gap, abs=1e-12)
            assert contacts.normal[0] @ normal > 1.0 - 1e-9
        elif gap > 0.0:
            # A clipped face may stand for an edge that is nearly in it.
            assert gap - 1e-6 <= found <= gap * (1.0 + 1e-3) + 2e-5
            assert contacts.normal[contacts.gap.argmin()] @ normal > 1.0 - 2e-3
        else:
            # In a tie of two ways out, the first is kept.
            assert 1.02 * gap - 5e-5 <= found <= gap + 1e-6
    assert compared > 50


def test_a_gap_joins_points_on_the_two_surfaces():
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(400):
        places = random_pair(rng, "sb")
        contacts = detect(scene(*places), 0.3)
        for k in range(len(contacts)):
            if contacts.gap[k] < 0.0:
                continue
            seen += 1
            step = 0.5 * contacts.gap[k] * contacts.normal[k]
            for (shape, position, q), end in zip(places, (-1.0, 1.0), strict=True):
                local = quaternions.rotate_back(q, contacts.point[k] + end * step - position)
                if isinstance(shape, Sphere):
                    off = np.linalg.norm(local) - shape.radius
                else:
                    beyond = np.abs(local) - np.array(shape.extents)
                    off = np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0)
                assert abs(off) < 3e-5
    assert seen > 100


def approach(one: Place, two: Shape, q: np.ndarray, direction: np.ndarray, gap: float) -> Place:
    """The second shape moved along a direction until it nearly touches the first."""
    low, high = 0.0, 4.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        contacts = detect(scene(one, (two, middle * direction, q)))
        low, high = (middle, high) if len(contacts) and contacts.gap.min() < 0.0 else (low, middle)
    return (two, (low + gap) * direction, q)


@pytest.mark.parametrize("convert", [as_hull, as_mesh])
@pytest.mark.parametrize("kinds", ["s", "c", "b"])
def test_a_box_as_a_hull_or_a_mesh_has_the_gap_of_the_box(convert: Callable[[Box], Shape], kinds: str):
    rng = np.random.default_rng(3)
    compared = 0
    for trial in range(25):
        box = Box(tuple(rng.uniform(0.5, 1.5, 3)))
        one = (box, np.zeros(3), random_orientation(rng))
        direction = rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
        two = approach(
            one, random_shape(rng, kinds), random_orientation(rng), direction, 0.02 * (-1) ** trial
        )
        expected = detect(scene(one, two), 0.05)
        other = (convert(two[0]), *two[1:]) if kinds == "b" and trial % 3 else two
        found = detect(scene((convert(box), *one[1:]), other), 0.05)
        assert len(expected)
        assert found.gap.min() == pytest.approx(expected.gap.min(), rel=0.021, abs=1e-4)
        if np.all(expected.normal @ expected.normal[0] > 0.999):
            nearest = found.normal[found.gap.argmin()]
            compared += nearest @ expected.normal[0] > 0.99
    assert compared >= 15  # the others are ties


def test_boxes_touch_as_the_hulls_of_their_corners_do() -> None:
    """The quick way of boxes (faces that are clipped, edges that cross) against the general method."""
    rng = np.random.default_rng(11)
    crossings = 0
    for trial in range(60):
        one = (Box(tuple(rng.uniform(0.2, 1.5, 3))), np.zeros(3), random_orientation(rng))
        direction = rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
        box, q = Box(tuple(rng.uniform(0.2, 1.5, 3))), random_orientation(rng)
        two = approach(one, box, q, direction, (1e-3, -1e-3, 1e-6, -1e-6)[trial % 4])
        quick = detect(scene(one, two), 0.01)
        general = detect(scene(one, (as_hull(box), *two[1:])), 0.01)
        assert len(quick) == len(general) > 0
        crossings += len(quick) == 1 and quick.feature[0] >> 57 == 2
        at = [np.abs(general.point - point).sum(axis=1).argmin() for point in quick.point]
        np.testing.assert_allclose(quick.point, general.point[at], rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(quick.normal, general.normal[at], rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(quick.gap, general.gap[at], rtol=0.0, atol=1e-8)
    assert crossings > 15


@pytest.mark.parametrize("gap", [0.005, -0.005])
@pytest.mark.parametrize(
    ("lower", "upper", "points"),
    [
        (as_hull, as_hull, 4),
        (as_hull, lambda box: box, 4),
        (as_mesh, as_mesh, 4),
        (as_mesh, lambda box: box, 4),
        (as_mesh, as_hull, 4),
        (as_hull, lambda box: Cylinder(0.5, 1.0), 7),
        (lambda box: Cylinder(0.5, 1.0), lambda box: Cylinder(0.5, 1.0), 8),
    ],
)
def test_flat_faces_touch_in_the_corners_of_their_overlap(lower, upper, points, gap):
    cube = Box((1, 1, 1))
    places = (lower(cube), (0, 0, 0), UPRIGHT), (upper(cube), (0.3, 0.1, 1.0 + gap), UPRIGHT)
    contacts = detect(scene(*places))
    assert len(contacts) == points
    assert np.allclose(contacts.gap, gap, rtol=0.0, atol=1e-8)
    assert np.allclose(contacts.normal, (0, 0, 1), rtol=0.0, atol=1e-8)
    assert np.allclose(contacts.point[:, 2], 0.5 + 0.5 * gap, rtol=0.0, atol=1e-8)
    if points == 4:
        corners = sorted(np.round(contacts.point[:, :2], 3).tolist())
        assert corners == [[-0.2, -0.4], [-0.2, 0.5], [0.5, -0.4], [0.5, 0.5]]
    keys = list(zip(*contacts.shapes.T.tolist(), contacts.feature.tolist(), strict=True))
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("gap", [0.005, -0.005])
def test_cylinders_side_by_side_touch_in_two_points(gap):
    rod = Cylinder(0.5, 1.0)
    contacts = detect(scene((rod, (0, 0, 0), UPRIGHT), (rod, (1.0 + gap, 0, 0.2), UPRIGHT)))
    assert np.allclose(sorted(contacts.point[:, 2]), [-0.3, 0.5], atol=1e-4)
    assert np.allclose(contacts.gap, gap, atol=1e-7)


def test_a_ball_on_a_flat_mesh_touches_one_triangle():
    block = as_mesh(Box((4, 4, 1)))
    contacts = detect(scene((block, (0, 0, 0), UPRIGHT), (Sphere(0.5), (0.3, 0.2, 0.995), UPRIGHT)), 0.2)
    assert np.allclose(contacts.normal, [(0, 0, 1)])
    assert np.allclose(contacts.gap, [-0.005])


def test_ellipsoids_with_equal_radii_are_balls():
    rng = np.random.default_rng(0)
    ball = Ellipsoid((0.5, 0.5, 0.5))
    for _ in range(20):
        position = rng.standard_normal(3)
        position *= rng.uniform(0.9, 1.1) / np.linalg.norm(position)
        places = (ball, (0, 0, 0), random_orientation(rng)), (ball, position, random_orientation(rng))
        contacts = detect(scene(*places), 0.2)
        assert contacts.gap == pytest.approx([np.linalg.norm(position) - 1.0], abs=1e-6)
        assert np.allclose(contacts.normal, position / np.linalg.norm(position), atol=1e-3)


# ---- matching ---------------------------------------------------------------------------------------


def listed(keys: list[tuple[int, int, int]]) -> Contacts:
    contacts = Contacts.allocate(len(keys))
    table = np.array(keys, dtype=np.int64).reshape(-1, 3)
    contacts.shapes[:] = table[:, :2]
    contacts.feature[:] = table[:, 2]
    return contacts


KEYS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(4, 7), st.integers(0, 2)), unique=True, max_size=30
).map(sorted)


@given(old=KEYS, new=KEYS)
def test_impulses_go_to_the_contact_with_the_same_key(old, new):
    impulses = np.arange(3.0 * len(old)).reshape(-1, 3) + 1.0
    start = match_impulses(listed(old), impulses, listed(new))
    known = dict(zip(old, impulses, strict=True))
    assert np.array_equal(start, np.array([known.get(key, np.zeros(3)) for key in new]).reshape(-1, 3))


def test_impulses_must_belong_to_the_old_contacts():
    with pytest.raises(ProblemError, match=r"shape \(2, 3\), but there are 0 old contacts"):
        match_impulses(Contacts.empty(), np.zeros((2, 3)), Contacts.empty())


# ---- bad input --------------------------------------------------------------------------------------


def test_bad_input_is_named():
    system = scene((Sphere(1.0), (0, 0, 0), UPRIGHT), plane=True)
    for margin in (-0.1, np.nan, np.inf):
        with pytest.raises(OptionError, match=f"margin is {margin} m"):
            Detector(system, margin)
    detector = Detector(system, 0.1)
    with pytest.raises(ProblemError, match=r"position has shape \(3, 3\), but the system needs \(2, 3\)"):
        detector.detect(np.zeros((3, 3)), system.quaternion)
    position = system.position.copy()
    position[1, 2] = np.nan
    with pytest.raises(ProblemError, match="position of body 1 is"):
        detector.detect(position, system.quaternion)
    with pytest.raises(ProblemError, match="turn of body 0 is inf"):
        detector.detect(system.position, system.quaternion, turn=np.array([np.inf, 0.0]))


def test_no_shape_needs_another_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    rod = Cylinder(0.5, 1.0)
    assert len(detect(scene((rod, (0, 0, 0.5), UPRIGHT), plane=True))) == 8
    assert len(detect(scene((rod, (0, 0, 0), UPRIGHT), (rod, (0, 0, 1), UPRIGHT)))) == 8


def test_no_bodies_and_no_shapes():
    assert len(detect(System())) == 0
    assert len(detect(scene(plane=True))) == 0
    system = System()
    system.add_body(None, mass=1.0, position=(0, 0, 0), inertia=np.eye(3))
    assert len(detect(system)) == 0


def test_contacts_that_are_held_are_never_overwritten():
    rng = np.random.default_rng(0)
    system = System()
    system.add_spheres(0.3, rng.uniform(0.0, 2.0, (100, 3)), mass=1.0)
    detector = Detector(system, 0.1)
    held, points = [], []
    for step in range(20):
        contacts = detector.detect(system.position * (1.0 + 0.01 * step), system.quaternion)
        held.append((contacts, contacts.take(slice(None)).columns(), [c.copy() for c in contacts.columns()]))
        points.append((contacts.point[5:9, 1], contacts.point[5:9, 1].copy()))
        if step % 3 == 0:
            held = held[-2:]  # the rest may be used again
    for contacts, views, copies in held:
        for column, view, copy in zip(contacts.columns(), views, copies, strict=True):
            assert np.array_equal(column, copy)
            assert np.array_equal(view, copy)
    assert all(np.array_equal(view, copy) for view, copy in points)


def test_the_benchmark_still_runs(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import collision as benchmark

    monkeypatch.setattr(benchmark, "SIZES", (64,))
    monkeypatch.setattr(benchmark, "SECONDS", 0.01)
    benchmark.main()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row[:14].strip() for row in rows] == list(benchmark.SCENES)
    for row in rows:
        bodies, pairs, contacts = (int(cell) for cell in row[16:].split()[:3])
        assert pairs >= contacts > 0 < bodies
