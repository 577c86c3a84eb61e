"""Meshes and height fields against convex solids and one another."""

import numpy as np
import pytest
from numba import njit

from nonsmooth._support.packed import Packed
from nonsmooth.collision import Detector
from nonsmooth.collision import hulls as hull_arrays
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    Solid,
    core_separation,
)
from nonsmooth.collision.kernels.surfaces.arrays import BORDER, CONCAVE, CONVEX, FLAT
from nonsmooth.collision.kernels.surfaces.meshes import mesh_contacts
from nonsmooth.collision.kernels.surfaces.pairs import mesh_mesh_contacts
from nonsmooth.collision.kernels.surfaces.work import make_work
from nonsmooth.collision.surfaces import HeightField, TriangleSurface, crossing, pack
from nonsmooth.errors import GeometryWarning
from nonsmooth.model import Mesh, System, polyhedra
from nonsmooth.model.shapes.surfaces import sphere_mesh

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def hull(points):
    return polyhedra.hull(points)[:2]


CUBE = hull(CORNERS)
UNIT = np.eye(3)
MOST = 1024
REACH = 1e-2


@njit
def separation_along(p, q, hulls, normal):
    return core_separation(p, q, hulls, normal[0], normal[1], normal[2])


def grid_mesh(heights, spacing):
    nx, ny = heights.shape
    x, y = np.meshgrid(np.arange(nx) * spacing, np.arange(ny) * spacing, indexing="ij")
    number = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], 2).reshape(-1, 3)
    return np.stack([x, y, heights], -1).reshape(-1, 3), triangles


def finer(vertices, triangles):
    """Each triangle in four."""
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    edges, which = np.unique(ends, axis=0, return_inverse=True)
    x, y, z = which.reshape(3, -1) + len(vertices)
    a, b, c = triangles.T
    parts = [np.column_stack(p) for p in ((a, x, z), (x, b, y), (z, y, c), (x, y, z))]
    return np.vstack([vertices, vertices[edges].mean(axis=1)]), np.vstack(parts)


def turn(vector):
    angle = np.linalg.norm(vector)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


class Scene:
    """Surfaces, hulls and scratch; contacts as (spots, marks)."""

    def __init__(self, surfaces, hulls=(), most=MOST):
        tables = hull_arrays.pack([hull_arrays.Faces(*one) for one in hulls])
        self.hulls, self.meshes = Packed(tables), Packed(pack(surfaces))
        self.work = Packed(make_work(tables, most))
        self.spots, self.marks = np.zeros((most, 7)), np.zeros(most, dtype=np.int64)

    def contacts(self, mesh, solid, reach=REACH, place=(0.0, 0.0, 0.0), axes=UNIT):
        count = mesh_contacts(
            mesh, *map(float, place), axes, solid, self.meshes, self.hulls, reach, self.work, self.spots,
            self.marks,
        )  # fmt: skip
        assert count <= len(self.spots)
        return self.spots[:count].copy(), self.marks[:count].copy()

    def between(self, one, place, axes, other, other_place, other_axes, reach=REACH):
        count = mesh_mesh_contacts(
            one, *map(float, place), axes, other, *map(float, other_place), other_axes, self.meshes, reach,
            self.work, self.spots, self.marks,
        )  # fmt: skip
        return self.spots[:count].copy(), self.marks[:count].copy()


def solid_at(kind, sizes, radius, place, axes=UNIT, number=0):
    return Solid(
        kind, *map(float, sizes), float(radius), *map(float, place), np.ascontiguousarray(axes), number
    )


@pytest.fixture(scope="module")
def cubes():
    points = np.random.default_rng(3).normal(size=(30, 3)) * 0.3
    return Scene(
        [TriangleSurface(*CUBE), TriangleSurface(*finer(*finer(*CUBE)))], [hull(points), hull(0.7 * CORNERS)]
    )


def kinds_of(surface):
    return np.array([surface.flags >> 2 * k & 3 for k in range(3)])


def test_edges_of_a_cube_are_convex_or_flat():
    surface = TriangleSurface(*finer(*CUBE))
    kinds = kinds_of(surface)
    assert np.count_nonzero(kinds == CONVEX) == 2 * 24
    assert np.count_nonzero(kinds == FLAT) == 3 * 48 - 48
    assert len(np.unique(surface.patch)) == 6
    assert np.abs(np.sort(np.abs(surface.normals), axis=1) - [0.0, 0.0, 1.0]).max() < 1e-15


def test_an_open_valley_has_borders_and_a_concave_edge():
    vertices, triangles = grid_mesh(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]), 1.0)
    for surface in (
        TriangleSurface(vertices, triangles),
        HeightField(vertices[:, 2].reshape(3, 2), (1.0, 1.0)),
    ):
        kinds = kinds_of(surface)
        assert np.count_nonzero(kinds == BORDER) == 6
        assert np.count_nonzero(kinds == CONCAVE) == 2
        assert np.count_nonzero(kinds == FLAT) == 4


SOLIDS = {
    "sphere": (SPHERE, (0, 0, 0), 0.3, 0),
    "box": (BOX, (0.35, 0.25, 0.3), 0.0, 0),
    "rounded box": (BOX, (0.35, 0.25, 0.3), 0.05, 0),
    "capsule": (CAPSULE, (0.2, 0.3, 0), 0.2, 0),
    "cylinder": (CYLINDER, (0.3, 0.4, 0), 0.0, 0),
    "cone": (CONE, (0.3, 0.4, 0), 0.0, 0),
    "ellipsoid": (ELLIPSOID, (0.3, 0.2, 0.4), 0.0, 0),
    "hull": (CONVEX_HULL, (0, 0, 0), 0.0, 0),
    "hull cube": (CONVEX_HULL, (0, 0, 0), 0.0, 1),
}


def pose(scene, box, shape, rng):
    """The solid near the unit cube: turned by chance or nearly along its axes, at a gap of 1e-14 to 1e-3."""
    kind, sizes, radius, number = shape
    bases = [np.eye(3), np.roll(np.eye(3), 1, axis=0), turn(np.array([np.pi / 2, 0.0, 0.0]))]
    axes = bases[rng.integers(3)]
    free = rng.random() < 0.25
    if free:
        axes = turn(rng.normal(size=3) * 2.0)
    elif rng.random() < 0.7:
        axes = turn(np.array([0.0, 0.0, rng.uniform(0.0, 6.0)])) @ axes
    if rng.random() < 0.8:
        axes = turn(rng.normal(size=3) * 10.0 ** rng.uniform(-14, -3)) @ axes
    place = rng.normal(size=3) if free else np.append(rng.uniform(-0.8, 0.8, 2), 1.2)
    gap = 10.0 ** rng.uniform(-14, -3) * rng.choice([-1.0, 1.0])
    for _ in range(40):
        solid = solid_at(kind, sizes, radius, place, axes, number)
        now, *rest = separation(box, solid, scene.hulls, 10.0, scene.work.direction)
        if abs(now - gap) < 1e-15 + 1e-3 * abs(gap):
            break
        place = place + (gap - now) * np.array(rest[:3])
    return solid


@pytest.mark.parametrize("name", SOLIDS)
def test_a_mesh_cube_is_a_box(cubes, name):
    rng = np.random.default_rng(11)
    box = solid_at(BOX, (0.5, 0.5, 0.5), 0.0, (0, 0, 0))
    for _ in range(150):
        solid = pose(cubes, box, SOLIDS[name], rng)
        gap, *_ = separation(box, solid, cubes.hulls, REACH, cubes.work.direction)
        if gap > 0.5 * REACH:
            continue
        for mesh in range(2):
            spots, marks = cubes.contacts(mesh, solid)
            assert len(spots)
            assert len(set(marks.tolist())) == len(marks)
            assert abs(spots[:, 6].min() - gap) < 1e-9
            for spot in spots:
                along = separation_along(box, solid, cubes.hulls, spot[3:6]) - solid.radius
                assert abs(along - gap) < 1e-9 + 1e-6 * abs(gap)


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-10, 1e-6, 1e-3])
@pytest.mark.parametrize("gap", [1e-14, 1e-9, 1e-4, -1e-14, -1e-9, -1e-4])
def test_four_corners_of_a_box_on_a_mesh_cube(cubes, tilt, gap):
    rng = np.random.default_rng(5)
    below = 0.2 * np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]])
    for way in range(8):
        axes = turn(tilt * np.array([np.cos(way), np.sin(way), 0.0])) @ turn(np.array([0, 0, 0.3 * way]))
        corners = below @ axes.T
        place = np.append(rng.uniform(-0.1, 0.1, 2), 0.5 + gap - corners[:, 2].min())
        for mesh in range(2):
            spots, _ = cubes.contacts(mesh, solid_at(BOX, (0.2, 0.2, 0.2), 0.0, place, axes))
            assert len(spots) == 4
            assert abs(spots[:, 6].min() - gap) < 1e-12
            assert np.abs(spots[:, 3:6] - [0, 0, 1]).max() < 1e-12
            for corner in corners + place:
                assert np.linalg.norm(spots[:, :2] - corner[:2], axis=1).min() < 1e-9


def test_a_flat_mesh_is_one_plane():
    scene = Scene(
        [TriangleSurface(*grid_mesh(np.zeros((21, 21)), 0.1)), HeightField(np.zeros((21, 21)), (0.1, 0.1))]
    )
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, y = rng.uniform(0.5, 1.5, 2)
        if rng.random() < 0.5:
            x, y = np.round(x, 1), np.round(y, 1)
        gap = rng.choice([-1e-4, 1e-6, 1e-3])
        for mesh in range(2):
            spots, _ = scene.contacts(mesh, solid_at(SPHERE, (0, 0, 0), 0.2, (x, y, 0.2 + gap)))
            assert spots.shape == (1, 7)
            assert np.abs(spots[0, 3:6] - [0, 0, 1]).max() == 0.0
            assert abs(spots[0, 6] - gap) < 1e-15
            axes = turn(np.array([0.0, 0.0, rng.uniform(0.0, 6.0)]))
            spots, marks = scene.contacts(
                mesh, solid_at(BOX, (0.23, 0.17, 0.1), 0.0, (x, y, 0.1 + gap), axes)
            )
            assert spots.shape == (4, 7)
            assert marks.tolist() == sorted(marks.tolist())
            assert np.abs(spots[:, 3:6] - [0, 0, 1]).max() < 1e-15
            assert np.abs(spots[:, 6] - gap).max() < 1e-15
            assert np.isclose(np.ptp(np.linalg.norm(spots[:, :2] - (x, y), axis=1)), 0.0)


@pytest.mark.parametrize("name", SOLIDS)
def test_a_height_field_is_the_mesh_of_its_triangles(name):
    rng = np.random.default_rng(8)
    heights = 0.05 * rng.normal(size=(15, 15))
    kind, sizes, radius, number = SOLIDS[name]
    scene = Scene(
        [TriangleSurface(*grid_mesh(heights, 0.1)), HeightField(heights, (0.1, 0.1))],
        [hull(rng.normal(size=(30, 3)) * 0.3), hull(0.7 * CORNERS)],
    )
    for _ in range(40):
        x, y = rng.uniform(0.5, 0.9, 2)
        axes = turn(rng.normal(size=3))
        low, high = 0.0, 1.5
        while high - low > 1e-5:  # lowered until it touches
            middle = 0.5 * (low + high)
            there, _ = scene.contacts(0, solid_at(kind, sizes, radius, (x, y, middle), axes, number), 1e-9)
            low, high = (middle, high) if len(there) else (low, middle)
        for z in (low - 1e-4, high + 1e-4):
            solid = solid_at(kind, sizes, radius, (x, y, z), axes, number)
            one, two = scene.contacts(0, solid, 1e-3)[0], scene.contacts(1, solid, 1e-3)[0]
            assert len(one) == len(two) > 0
            order = [np.lexsort(np.round(spots[:, :3], 9).T) for spots in (one, two)]
            assert np.abs(one[order[0]] - two[order[1]]).max() < 1e-7


def test_more_contacts_than_room_are_counted():
    heights = np.zeros((30, 30))
    heights[::2, ::2] = 0.1
    surface = HeightField(heights, (0.1, 0.1))
    box = solid_at(BOX, (1.0, 1.0, 0.1), 0.0, (1.45, 1.45, 0.2 - 1e-3))
    small, large = Scene([surface], most=8), Scene([surface])
    needed = mesh_contacts(
        0, 0.0, 0.0, 0.0, UNIT, box, small.meshes, small.hulls, REACH, small.work, small.spots, small.marks
    )
    assert needed > 8
    spots, _ = large.contacts(0, box)
    assert len(spots)
    assert np.abs(spots[:, 6] + 1e-3).max() < 1e-12


def test_borders_of_an_open_sheet():
    scene = Scene([TriangleSurface(*grid_mesh(np.zeros((3, 3)), 0.5))])
    beside, _ = scene.contacts(0, solid_at(SPHERE, (0, 0, 0), 0.2, (1.15, 0.4, 0.14)))
    way = np.array([0.15, 0.0, 0.14])
    assert beside.shape == (1, 7)
    assert np.abs(beside[0, 3:6] - way / np.linalg.norm(way)).max() < 1e-12
    assert abs(beside[0, 6] - np.linalg.norm(way) + 0.2) < 1e-12
    below, _ = scene.contacts(0, solid_at(SPHERE, (0, 0, 0), 0.2, (0.6, 0.4, -0.205)))
    assert len(below) == 0


def test_a_thin_plate_pushes_to_the_near_side():
    vertices = CORNERS * [4.0, 4.0, 1e-3]
    scene = Scene([TriangleSurface(vertices, CUBE[1])])
    for gap in (-2e-4, 1e-6):
        spots, _ = scene.contacts(0, solid_at(BOX, (0.3, 0.3, 0.3), 0.0, (0.1, 0.2, 0.3 + 5e-4 + gap)))
        assert spots.shape == (4, 7)
        assert np.abs(spots[:, 3:6] - [0, 0, 1]).max() < 1e-12
        assert np.abs(spots[:, 6] - gap).max() < 1e-12


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-10, 1e-6, 1e-3])
@pytest.mark.parametrize("gap", [1e-14, 1e-9, 1e-4, -1e-14, -1e-9, -1e-4])
def test_four_corners_of_a_mesh_cube_on_a_mesh_cube(cubes, tilt, gap):
    rng = np.random.default_rng(6)
    box = solid_at(BOX, (0.5, 0.5, 0.5), 0.0, (0, 0, 0))
    for way in range(8):
        axes = turn(tilt * np.array([np.cos(way), np.sin(way), 0.0]))
        place = np.append(rng.uniform(-0.4, 0.4, 2), 1.0)
        other = solid_at(BOX, (0.5, 0.5, 0.5), 0.0, place, axes)
        now, *way_out = separation(box, other, cubes.hulls, 1.0, cubes.work.direction)
        place = place + (gap - now) * np.array(way_out[:3])
        other = solid_at(BOX, (0.5, 0.5, 0.5), 0.0, place, axes)
        now, *_ = separation(box, other, cubes.hulls, 1.0, cubes.work.direction)
        for one, two in ((0, 0), (0, 1), (1, 1)):
            spots, marks = cubes.between(one, (0, 0, 0), UNIT, two, place, axes)
            assert len(spots) == 4
            assert len(set(marks.tolist())) == 4
            assert abs(spots[:, 6].min() - now) < 1e-11
            side = np.ptp(spots[:, :2], axis=0)
            assert np.abs(side - (1.0 - np.abs(place[:2]))).max() < 3e-3
            along = separation_along(box, other, cubes.hulls, spots[0, 3:6])
            assert abs(along - now) < 1e-9


@pytest.mark.parametrize("tilt", [0.0, -1e-10, 1e-10, -1e-8, -1e-6])
@pytest.mark.parametrize("gap", [1e-9, 1e-6, 1e-4, -1e-11, -1e-8])
def test_both_ends_of_edges_of_mesh_cubes_that_lie_along_one_another(cubes, tilt, gap):
    standing = turn(np.array([np.pi / 4, 0.0, 0.0]))  # an edge along x is the highest and the lowest
    axes = turn(np.array([0.0, tilt, 0.0])) @ turn(np.array([0.1, 0.0, 0.0])) @ standing
    low = min((CORNERS @ axes.T).tolist(), key=lambda corner: (round(corner[2], 2), corner[0]))
    for one, two in ((0, 0), (0, 1), (1, 1)):
        # the end of the upper edge is over the lower edge, which ends at x = 0.5
        place = np.array([-0.2, 0.0, np.sqrt(0.5) + gap]) - low
        spots, marks = cubes.between(one, (0, 0, 0), standing, two, place, axes)
        assert len(set(marks.tolist())) == len(spots)
        for end, height in ((-0.2, gap), (0.5, gap - 0.7 * np.tan(tilt))):
            there = spots[np.abs(spots[:, 0] - end) < 1e-6]
            assert len(there) > 0
            # along the normal of a face, if they overlap, and else along the way between the edges
            assert np.abs(there[:, 6] - height * there[:, 5]).max() < 1e-9


@pytest.mark.parametrize("spacing", [1.0, 0.3])
@pytest.mark.parametrize("deep", [1e-7, 1e-5, 4e-4])
def test_an_edge_in_the_ridge_of_a_height_field_leaves_it_one_way(spacing, deep):
    """The way out is the shorter one, over the whole length of the edge."""
    roof = np.repeat(-0.15 * spacing * np.abs(np.arange(-5.0, 6.0))[:, None], 11, axis=1)
    scene = Scene([HeightField(roof, (spacing, spacing))])
    normal = np.array([0.15, 0.0, 1.0]) / np.hypot(0.15, 1.0)
    axes = turn(np.array([0.0, np.pi / 4 + 0.2, 0.0]))
    low = min((CORNERS @ axes.T).tolist(), key=lambda corner: round(corner[2], 2))
    beside = 0.05 * deep
    place = np.array([5.0 * spacing + beside - low[0], 5.2 * spacing, -deep - low[2]])
    spots, _ = scene.contacts(0, solid_at(BOX, (0.5, 0.5, 0.5), 0.0, place, axes))
    assert np.abs(spots[:, 3:6] - normal).max() < 1e-12
    assert abs(spots[:, 6].min() - normal @ [beside, 0.0, -deep]) < 1e-12
    assert abs(np.ptp(spots[:, 1]) - 1.0) < 1e-9


def test_a_mesh_on_a_height_field_lies_as_a_box():
    scene = Scene([HeightField(np.zeros((11, 11)), (0.3, 0.3)), TriangleSurface(*CUBE)])
    spots, _ = scene.between(0, (0, 0, 0), UNIT, 1, (1.4, 1.3, 0.5 - 1e-5), turn(np.array([0, 0, 0.4])))
    assert spots.shape == (4, 7)
    assert np.abs(spots[:, 6] + 1e-5).max() < 1e-13
    assert np.abs(spots[:, 3:6] - [0, 0, 1]).max() < 1e-14


def test_a_height_field_is_solid_below():
    scene = Scene([HeightField(np.zeros((11, 11)), (0.3, 0.3))])
    spots, _ = scene.contacts(0, solid_at(SPHERE, (0, 0, 0), 0.2, (1.4, 1.3, -1.0)))
    assert spots.shape == (1, 7)
    assert np.abs(spots[0, 3:] - [0, 0, 1, -1.2]).max() < 1e-12


def test_a_mesh_that_crosses_itself_is_found_and_works():
    vertices = np.vstack([CUBE[0], CUBE[0] + [0.3, 0.2, 0.1]])
    surface = TriangleSurface(vertices, np.vstack([CUBE[1], CUBE[1] + 8]))
    place = crossing(surface)
    assert np.all((place >= [-0.2, -0.3, -0.4]) & (place <= 0.5))  # in what both cubes hold
    assert crossing(TriangleSurface(*finer(*CUBE))) is None
    spots, _ = Scene([surface]).contacts(0, solid_at(SPHERE, (0, 0, 0), 0.2, (-0.2, -0.1, 0.7 - 1e-6)))
    assert np.abs(spots[0, 3:] - [0, 0, 1, -1e-6]).max() < 1e-12


@pytest.mark.parametrize("away", [0.05, 0.25, 0.35, 1.0, 1.6, 1.75, 3.0])
def test_two_balls_in_one_mesh_cross_where_their_surfaces_do(away):
    """Radii 1 and 0.7: they cross between 0.3 and 1.7."""
    vertices, triangles = sphere_mesh(3)
    both = np.vstack([vertices, 0.7 * vertices + [away * 0.6, away * 0.8, 0.0]])
    surface = TriangleSurface(both, np.vstack([triangles, triangles + len(vertices)]))
    place = crossing(surface)
    assert (place is not None) == (0.3 < away < 1.7)
    if place is not None:
        assert np.linalg.norm(place) == pytest.approx(1.0, abs=0.1)
        assert np.linalg.norm(place - [away * 0.6, away * 0.8, 0.0]) == pytest.approx(0.7, abs=0.1)


def box_of(low, high, parts=1):
    """A box as a mesh; its sides are cut into `parts` × `parts` squares of two triangles."""
    steps = np.linspace(0.0, 1.0, parts + 1)
    u, v = np.meshgrid(steps, steps, indexing="ij")
    number = np.arange(u.size).reshape(u.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    side = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    vertices, triangles = [], []
    for axis in range(3):
        for end in range(2):
            points = np.empty((u.size, 3))
            points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = u.ravel(), v.ravel()
            points[:, axis] = end
            triangles.append((side if end else side[:, ::-1]) + len(vertices) * u.size)
            vertices.append(points)
    joined, where = np.unique(np.vstack(vertices), axis=0, return_inverse=True)
    low, high = np.array(low), np.array(high)
    return low + (high - low) * joined, where.ravel()[np.vstack(triangles)]


def turned_box(low, high, axis, angle, place=(0.0, 0.0, 0.0), parts=1):
    vertices, triangles = box_of(low, high, parts)
    return vertices @ turn(np.array(axis) * angle).T + place, triangles


def spindle():
    """Eight triangles around the origin in the plane z = 0, and a tip below them."""
    angle = 0.25 * np.pi * np.arange(8)
    rim = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=-1)
    here, there = 2 + np.arange(8), 2 + (1 + np.arange(8)) % 8
    top, sides = np.stack([0 * here, here, there], axis=-1), np.stack([0 * here + 1, there, here], axis=-1)
    return np.vstack([[0, 0, 0], [0, 0, -5], rim]), np.vstack([top, sides])


UNIT_BOX = box_of((0, 0, 0), (1, 1, 1))
ROOF = turned_box((-0.5, -0.5, -1), (0.5, 0.5, 1), (0, 0, 1), 0.25 * np.pi)  # edges ahead along x and y
SELF_INTERSECTIONS = {
    "edges through edges alone": (
        spindle(),
        turned_box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5), (0, 0, 1), 0.25 * np.pi),
    ),
    "sides flush": (UNIT_BOX, box_of((0.5, 0, 0), (1.5, 1, 1))),
    "one side flush, from inside": (UNIT_BOX, box_of((0.2, 0.3, 0.5), (0.6, 0.7, 1))),
    "the same again, turned over": (
        UNIT_BOX,
        turned_box((0, 0, 0), (1, 1, 1), (0, 0, 1), 0.5 * np.pi, (1, 0, 0)),
    ),
    "along edges of both": (
        box_of((-1, -1, -0.2), (1, 1, 0.2), 10),
        box_of((-0.2, -0.4, -1), (0.2, 0.4, 1), 10),
    ),
    "along edges of one": (box_of((-1, -1, -0.2), (1, 1, 0.2), 10), box_of((-0.3, -0.5, -1), (0.3, 0.5, 1))),
    "along a roof": (ROOF, box_of((0, -0.3, -0.5), (2, 0.3, 0.5), 2)),
}
ONLY_TOUCHING = {
    "apart": (UNIT_BOX, box_of((1.1, 0, 0), (2, 1, 1))),
    "inside": (UNIT_BOX, box_of((0.2, 0.2, 0.2), (0.8, 0.8, 0.8))),
    "a face": (UNIT_BOX, box_of((1, 0, 0), (2, 1, 1))),
    "a part of a face": (UNIT_BOX, box_of((1, 0.5, 0.2), (2, 2, 0.8))),
    "a face in parts": (UNIT_BOX, box_of((1, 0, 0), (2, 1, 1), 3)),
    "an edge": (UNIT_BOX, box_of((1, 1, 0), (2, 2, 1))),
    "a part of an edge": (UNIT_BOX, box_of((1, 1, 0.5), (2, 2, 3), 2)),
    "a corner": (UNIT_BOX, box_of((1, 1, 1), (2, 2, 2))),
    "edges across": (UNIT_BOX, turned_box((0, 0, 0), (1, 1, 1), (0, 1, 0), 0.25 * np.pi, (1, 0.3, 1))),
    "an edge on a face": (ROOF, box_of((np.sqrt(0.5), -1, -1), (2, 1, 1))),
    "an edge on a diagonal": (ROOF, box_of((np.sqrt(0.5), -1, -1), (2, 1, 1), 2)),
    "a corner on a face": (
        turned_box(
            (0, 0, 0), (1, 1, 1), np.array([1, -1, 0]) / np.sqrt(2), np.arctan(np.sqrt(2)), (0.4, 0.3, 1)
        ),
        UNIT_BOX,
    ),
}


def joined(parts, axes, scale):
    """Several meshes as one, turned and scaled."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    vertices = scale * np.vstack([vertices for vertices, _ in parts]) @ axes.T
    return vertices, np.vstack(
        [triangles + start for (_, triangles), start in zip(parts, starts, strict=False)]
    )


@pytest.mark.parametrize("name", [*SELF_INTERSECTIONS, *ONLY_TOUCHING])
def test_solids_in_one_mesh_intersect_or_only_touch(name):
    """Edges meet edges and sides lie in one plane but for rounding, in whatever direction."""
    parts = {**SELF_INTERSECTIONS, **ONLY_TOUCHING}[name]
    random = np.random.default_rng(6)
    for axes in (UNIT, *(turn(random.normal(size=3)) for _ in range(12))):
        for scale in (1.0, 1e-3):
            surface = TriangleSurface(*joined(parts, axes, scale))
            assert (crossing(surface) is not None) == (name in SELF_INTERSECTIONS)


def test_a_mesh_that_crosses_itself_is_told_once_with_its_body():
    both = np.vstack([CUBE[0], CUBE[0] + [0.3, 0.2, 0.1]])
    mesh = Mesh(both, np.vstack([CUBE[1], CUBE[1] + 8]))
    system = System()
    system.add_plane()
    system.add_body(mesh, mass=1.0, position=(0, 0, 3), name="knot")
    system.add_body(mesh, mass=1.0, position=(0, 0, 9))
    with pytest.warns(GeometryWarning) as caught:
        Detector(system, 0.01)
    (warning,) = caught
    assert str(warning.message).startswith("body 'knot': its mesh intersects itself, as near [")
    assert warning.filename == __file__
    Detector(system.copy(), 0.01)  # warnings are errors in tests


def test_a_mesh_cube_above_a_slab_does_not_overlap_it():
    scene = Scene([TriangleSurface(*hull(0.2 * CORNERS))])
    slab = solid_at(BOX, (4.0, 4.0, 0.5), 0.0, (0.0, 0.0, -0.5))
    rng = np.random.default_rng(4)
    for _ in range(200):
        axes = np.ascontiguousarray(turn(rng.normal(size=3) * 2.0))
        lowest = (0.2 * CORNERS @ axes.T)[:, 2].min()
        gap = 10.0 ** rng.uniform(-6, -1.5)
        spots, _ = scene.contacts(0, slab, 0.5 * gap, (0.3, 0.2, gap - lowest), axes)
        assert len(spots) == 0
        spots, _ = scene.contacts(0, slab, 1.5 * gap, (0.3, 0.2, gap - lowest), axes)
        assert abs(spots[:, 6].min() - gap) < 1e-12
        assert np.abs(spots[np.argmin(spots[:, 6]), 3:6] + [0, 0, 1]).max() < 1e-9
