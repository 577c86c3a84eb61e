"""Contact manifolds of convex solids and half-spaces, against independent geometry."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Hull
from scipy.spatial import QhullError
from scipy.spatial.transform import Rotation

from nonsmooth._support.packed import Packed
from nonsmooth.collision.hulls import Faces, pack
from nonsmooth.collision.kernels.directions import work as directions
from nonsmooth.collision.kernels.directions.separation import separation
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    TRIANGLE,
    Solid,
)
from nonsmooth.collision.kernels.manifolds.half_spaces import half_space_contacts, plane_vertices
from nonsmooth.collision.kernels.manifolds.manifold import SPOTS, manifold
from nonsmooth.collision.kernels.manifolds.support_features import make_work, support_feature

GAPS = [0.0, 1e-14, -1e-14, 1e-10, -1e-10, 1e-6, -1e-6, 1e-3, -1e-3]
TILTS = [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 1e-1]


def _faces(vertices):
    vertices = np.asarray(vertices, dtype=float)
    triangles = Hull(vertices).simplices.copy()
    middle = vertices.mean(axis=0)
    for t in triangles:
        a, b, c = vertices[t]
        if np.cross(b - a, c - a) @ (a - middle) < 0.0:
            t[:] = t[::-1]
    return Faces(vertices, triangles)


def _prism(corners):
    angle = 2.0 * np.pi * np.arange(corners) / corners
    return [(0.5 * np.cos(a), 0.5 * np.sin(a), z) for z in (-0.5, 0.5) for a in angle]


_CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
_WEDGE = np.array([(-1, -0.5, 0), (1, -0.5, 0), (-1, 0.5, 0), (1, 0.5, 0), (-1, 0, 0.6), (1, 0, 0.6)])
# a box whose vertices are off by as much as single precision leaves: its faces fall into triangles
_ROUGH = _CUBE + 3e-8 * np.sin(np.arange(24).reshape(8, 3) ** 2)
_SOLIDS = [_CUBE, _prism(64), _WEDGE, _ROUGH, _prism(6)]
CUBE, PRISM, WEDGE, ROUGH, HEXAGON = range(5)
_TABLES = pack([_faces(v) for v in _SOLIDS])
HULLS = Packed(_TABLES)
WORK, SEARCH = Packed(make_work(_TABLES, 200)), Packed(directions.make_work(_TABLES))


def solid(kind, sizes=(0.5, 0.5, 0.5), at=(0, 0, 0), turn=None, radius=0.0, hull=0):
    axes = np.eye(3) if turn is None else turn.as_matrix()
    return Solid(kind, *map(float, sizes), float(radius), *map(float, at), np.ascontiguousarray(axes), hull)


def about(axis, angle):
    axis = np.asarray(axis, dtype=float)
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))


def contacts(p, q, reach=1e-2, found=None):
    """Spots and marks of a pair, with a check of what must hold for every pair."""
    gap, *rest = separation(p, q, HULLS, reach, SEARCH) if found is None else found
    spots, marks = np.full((SPOTS, 7), np.nan), np.full(SPOTS, -1, dtype=np.int64)
    count = manifold(p, q, HULLS, gap, *rest, reach, WORK, spots, marks)
    spots, marks = spots[:count], marks[:count]
    if gap <= reach:
        assert count >= 1
        assert len(set(marks.tolist())) == count
        assert marks.min() >= 0
        assert np.ptp(spots[:, 3:6], axis=0).max() == 0.0
        assert (spots[:, 6] <= reach).all()
        assert spots[:, 6].min() == pytest.approx(gap, abs=1e-12 + 5e-9)
        for spot in spots[spots[:, 6] > gap + 1e-8]:
            local = local_gap(p, q, spot)
            assert local is None or abs(local - spot[6]) < 1e-8
    return spots, marks


def planes(p):
    """Outward normals and offsets of a polytope's faces in the pair's coordinates; None if curved."""
    if p.kind == BOX:
        normals = np.vstack([np.eye(3), -np.eye(3)])
        offsets = np.array([p.a, p.b, p.c] * 2)
    elif p.kind == CONVEX_HULL:
        equations = Hull(_SOLIDS[p.hull]).equations
        normals, offsets = equations[:, :3], -equations[:, 3]
    else:
        return None
    normals = normals @ p.axes.T
    return normals, offsets + normals @ np.array([p.x, p.y, p.z])


def local_gap(p, q, spot):
    """Distance between the surfaces of two sharp polytopes on the line along n through a spot."""
    if p.radius or q.radius or planes(p) is None or planes(q) is None:
        return None
    point, n = spot[:3], spot[3:6]
    ends = []
    for s, sign in ((p, 1.0), (q, -1.0)):
        normals, offsets = planes(s)
        slope = sign * (normals @ n)
        # side walls a little out: clipping keeps what is within 1e-9 of the size of them
        room = offsets - normals @ point + np.where(np.abs(slope) < 0.3, 3e-9, 0.0)
        if (room[np.abs(slope) < 1e-9] < -1e-8).any():
            return np.nan
        ahead = slope > 1e-9
        ends.append(sign * (room[ahead] / slope[ahead]).min())
    return ends[1] - ends[0]


def corners_of(p, n):
    """Outline of a solid's projection along n that has its face there, by sampling its surface."""
    vertices = _SOLIDS[p.hull] if p.kind == CONVEX_HULL else _CUBE * 2.0 * np.array([p.a, p.b, p.c])
    world = vertices @ p.axes.T + np.array([p.x, p.y, p.z])
    height = world @ n
    return world[height > height.max() - 1e-5]


def across(n):
    basis = np.linalg.svd(np.asarray(n)[None])[2][1:]
    return basis.T


def area(points):
    try:
        return Hull(points).volume if len(points) > 2 else 0.0
    except QhullError:
        return 0.0


def shared_area(one, two):
    """Area of the intersection of two convex polygons given by their corners in any order."""
    h, g = Hull(one), Hull(two)
    rows = np.vstack([h.equations, g.equations])
    found = [np.empty((0, 2))]
    for i, j in itertools.combinations(range(len(rows)), 2):
        matrix = rows[[i, j], :2]
        if abs(np.linalg.det(matrix)) > 1e-7:
            point = np.linalg.solve(matrix, -rows[[i, j], 2])
            if (rows[:, :2] @ point + rows[:, 2] < 1e-7).all():
                found.append(point[None])
    return area(np.vstack(found))


def flat_area(p, q, n):
    basis = across(n)
    return shared_area(corners_of(p, n) @ basis, corners_of(q, -n) @ basis)


def spot_area(spots):
    return area(spots[:, :3] @ across(spots[0, 3:6]))


KINDS = [(BOX, 0), (CONVEX_HULL, CUBE)]


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=2)))
@pytest.mark.parametrize("turned", [False, True])
def test_equal_faces_on_one_another_have_four_corners(kinds, turned):
    (kind_p, hull_p), (kind_q, hull_q) = kinds
    axis = (0, 0, 1) if turned else (0.6, 0.8, 0.0)
    world = about((1, 2, 3), 0.7)
    for gap, angle in itertools.product(GAPS, TILTS[:7]):
        turn = about(axis, angle)
        at = world.apply([0.0, 0.0, 1.0 + gap + (0.0 if turned else 0.7 * angle)])
        p = solid(kind_p, turn=world, hull=hull_p)
        q = solid(kind_q, at=at, turn=world * turn, hull=hull_q)
        spots, _ = contacts(p, q)
        assert len(spots) == 4, (gap, angle)
        assert spot_area(spots) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=2)))
def test_corners_of_the_shared_area(kinds):
    (kind_p, hull_p), (kind_q, hull_q) = kinds
    world = about((1, -2, 0.5), 1.1)
    for gap, tilt, (x, y), turn in itertools.product(
        GAPS[::2], TILTS, [(0.3, 0.2), (0.0, 0.0), (0.9, -0.4)], [0.0, 0.3, 0.8]
    ):
        p = solid(kind_p, turn=world, hull=hull_p)
        rotation = about((1, 0.4, 0), tilt) * about((0, 0, 1), turn)
        low = (_CUBE @ rotation.as_matrix().T)[:, 2].min()
        q = solid(kind_q, at=world.apply([x, y, 0.5 - low + gap]), turn=world * rotation, hull=hull_q)
        spots, _ = contacts(p, q, 0.2)
        if tilt <= 1e-6:
            n = spots[0, 3:6]
            assert spot_area(spots) == pytest.approx(flat_area(p, q, n), rel=1e-4, abs=1e-5)
        elif (x, y) == (0.0, 0.0):
            assert spot_area(spots) > 0.6, "corners within reach stay"
            near, _ = contacts(p, q, gap + 1e-9)
            assert len(near) < len(spots)


def swapped(mark):
    """What a mark becomes if p and q change places."""
    kind, rest = mark >> 57, mark & ((1 << 57) - 1)
    if kind == 2:
        return (2 << 57) + ((rest & ((1 << 28) - 1)) << 28) + (rest >> 28)
    return ((1 - kind) << 57) + rest if kind < 2 else mark


def pairs():
    """Pairs that touch along areas and lines."""
    lying = about((0, 1, 0), np.pi / 2)
    yield "box box", solid(BOX), solid(BOX, (0.3, 0.6, 0.2), (0.4, 0.3, 0.7), about((0, 0, 1), 0.4))
    yield (
        "hexagon wedge",
        solid(CONVEX_HULL, hull=HEXAGON),
        solid(CONVEX_HULL, at=(0.2, 0.1, 0.5), hull=WEDGE),
    )
    yield "cylinder on box", solid(BOX), solid(CYLINDER, (0.3, 0.4, 0), (0.4, 0.1, 0.9))
    yield (
        "cylinder on cylinder",
        solid(CYLINDER, (0.5, 0.5, 0)),
        solid(CYLINDER, (0.3, 0.4, 0), (0.6, 0.1, 0.9)),
    )
    yield "lying cylinder", solid(BOX), solid(CYLINDER, (0.3, 0.4, 0), (0.2, 0.1, 0.8), lying)
    yield (
        "log on log",
        solid(CYLINDER, (0.3, 1, 0), turn=lying),
        solid(CYLINDER, (0.2, 0.5, 0), (0.7, 0, 0.5), lying),
    )
    yield "capsule", solid(BOX), solid(CAPSULE, (0.1, 0.4, 0), (0.2, 0.1, 0.6), lying, 0.1)
    side = about((0, 1, 0), np.pi / 2 + np.arctan2(0.2, 0.8))
    height = 0.5 - side.apply([0, 0, 0.4])[2]
    yield "lying cone", solid(BOX), solid(CONE, (0.2, 0.4, 0), (0.3, 0.1, height), side)
    yield "cone base", solid(BOX), solid(CONE, (0.3, 0.4, 0), (0.1, 0.1, 0.9))


@pytest.mark.parametrize(("name", "p", "q"), list(pairs()), ids=[name for name, *_ in pairs()])
def test_order_of_the_solids_does_not_matter(name, p, q):
    found = separation(p, q, HULLS, 0.01, SEARCH)
    spots, marks = contacts(p, q, found=found)
    gap, n, ends = found[0], -np.array(found[1:4]), found[4:]
    other, other_marks = contacts(q, p, found=(gap, *n, *ends[3:], *ends[:3]))
    assert len(spots) == len(other) >= 2
    order = [int(np.linalg.norm(other[:, :3] - spot[:3], axis=1).argmin()) for spot in spots]
    assert sorted(order) == list(range(len(spots)))
    np.testing.assert_allclose(other[order, :3], spots[:, :3], atol=1e-9)
    np.testing.assert_allclose(other[order, 6], spots[:, 6], atol=1e-9)
    if "cylinder on" not in name:  # crossings of rims are named from one side
        assert [swapped(int(m)) for m in marks] == other_marks[order].tolist()


@pytest.mark.parametrize(("name", "p", "q"), list(pairs()), ids=[name for name, *_ in pairs()])
def test_marks_stay_while_solids_tremble(name, p, q):
    _, before = contacts(p, q)
    for k in range(12):
        shift = 1e-9 * np.sin(np.arange(3) + k)
        turn = Rotation.from_rotvec(1e-9 * np.cos(np.arange(3) + 2 * k)) * Rotation.from_matrix(q.axes)
        moved = q._replace(x=q.x + shift[0], y=q.y + shift[1], z=q.z + shift[2], axes=turn.as_matrix())
        spots, marks = contacts(p, moved)
        assert sorted(marks.tolist()) == sorted(before.tolist())
        assert len(spots) == len(before)


def test_equal_faces_keep_their_marks_while_they_tremble():
    seen = set()
    for k in range(40):
        shift = 1e-9 * np.sin(np.arange(3) + k)
        turn = Rotation.from_rotvec(1e-9 * np.cos(np.arange(3) + 2 * k))
        _, marks = contacts(solid(BOX), solid(BOX, at=np.array([0, 0, 1.0]) + shift, turn=turn))
        seen.add(tuple(sorted(marks.tolist())))
    assert len(seen) == 1


def test_edge_on_a_face_is_a_line():
    for tilt in TILTS[:7]:
        turn = about((1, 0, 0), np.pi / 4) * about((0, 0, 1), tilt)
        for hull in (False, True):
            q = solid(CONVEX_HULL if hull else BOX, at=(0.2, 0, 0.5 + np.sqrt(0.5)), turn=turn)
            spots, _ = contacts(solid(BOX, (1, 1, 0.5)), q, 1e-4)
            assert len(spots) == 2
            assert np.ptp(spots[:, 0]) == pytest.approx(1.0, abs=1e-5)


def test_areas_without_width():
    """Boxes whose faces meet along an edge, or in a corner only."""
    line, _ = contacts(solid(BOX), solid(BOX, at=(1.0, 0.2, 1.0)))
    assert len(line) == 2
    np.testing.assert_allclose(np.ptp(line[:, 1]), 0.8, atol=1e-7)
    corner, _ = contacts(solid(BOX), solid(BOX, at=(1.0, 1.0, 1.0)))
    assert len(corner) == 1


def test_crossing_edges_meet_in_a_point():
    p = solid(BOX, turn=about((1, 0, 0), np.pi / 4))
    q = solid(BOX, at=(0, 0, np.sqrt(2) + 1e-4), turn=about((0, 1, 0), np.pi / 4))
    spots, _ = contacts(p, q, 1e-3)
    assert len(spots) == 1
    np.testing.assert_allclose(spots[0, :3], [0, 0, np.sqrt(0.5) + 0.5e-4], atol=3e-9)


def test_faces_of_single_precision_are_whole():
    """Triangles of a face that differ by 1e-7 in direction carry together."""
    for gap in GAPS:
        p = solid(CONVEX_HULL, hull=ROUGH)
        spots, _ = contacts(p, solid(BOX, (0.4, 0.3, 0.5), (0, 0, 1.0 + gap)), 2e-3)
        assert spot_area(spots) == pytest.approx(0.48, rel=1e-5)
        assert len(spots) <= 8
        both, _ = contacts(p, solid(CONVEX_HULL, at=(0.1, 0, 1.0 + gap), hull=ROUGH), 2e-3)
        assert spot_area(both) == pytest.approx(0.9, rel=1e-5)


@pytest.mark.parametrize("kind", [CYLINDER, CONE])
def test_caps_on_faces(kind):
    for gap, tilt in itertools.product(GAPS, TILTS):
        turn = about((0.3, 1, 0), tilt)
        low = (turn.apply([[0, 0, -0.4]])[0] - 0.3 * np.array([0, 0, np.sin(tilt)]))[2]
        q = solid(kind, (0.3, 0.4, 0), (0.1, 0.05, 0.5 - low + gap), turn)
        spots, _ = contacts(solid(BOX), q, 0.1)
        assert len(spots) in (8, 9)
        assert spot_area(spots) == pytest.approx(2 * np.sqrt(2) * 0.09, rel=1e-2)
        assert spots[:, 6].min() == pytest.approx(gap, abs=1e-10)


def test_cap_over_an_edge_reaches_the_ends_of_its_chord():
    for out in (0.5, 0.7, 0.75, 0.79):
        spots, _ = contacts(solid(BOX), solid(CYLINDER, (0.3, 0.4, 0), (out, 0, 0.9)))
        chord = np.sqrt(0.09 - (out - 0.5) ** 2)
        assert np.ptp(spots[:, 1]) >= 2 * chord - 1e-9
        spots, _ = contacts(solid(CYLINDER, (0.5, 0.5, 0)), solid(CYLINDER, (0.3, 0.4, 0), (out, 0, 0.9)))
        x = (out**2 + 0.25 - 0.09) / (2 * out)
        assert np.ptp(spots[:, 1]) >= 2 * np.sqrt(0.25 - x * x) - 1e-6


def test_lines_of_cylinders_and_capsules():
    lying = about((0, 1, 0), np.pi / 2)
    for gap, tilt, skew in itertools.product(GAPS, TILTS[:8], TILTS[:7]):
        turn = about((0, 1, 0), tilt) * about((0, 0, 1), skew) * lying
        for kind, radius in ((CYLINDER, 0.0), (CAPSULE, 0.2)):
            low = 0.2 + 0.5 * np.sin(tilt)
            q = solid(kind, (0.2, 0.5, 0), (0.7, 0.1, 0.5 + low + gap), turn, radius)
            spots, _ = contacts(solid(BOX, (1, 1, 0.5)), q, 1e-2)
            assert len(spots) == 2
            assert np.ptp(spots[:, 0]) == pytest.approx(0.8, abs=1e-2)
        if tilt == 0.0:
            p = solid(CYLINDER, (0.3, 1, 0), turn=lying)
            q = solid(CYLINDER, (0.2, 0.5, 0), (0.7, 0, 0.5 + gap), turn)
            spots, _ = contacts(p, q, 1e-2)
            assert len(spots) in (2, 3)
            assert np.ptp(spots[:, 0]) == pytest.approx(0.8, abs=1e-6)


def test_pipe_along_an_edge_keeps_both_ends():
    lying = about((0, 1, 0), np.pi / 2)
    for skew in TILTS[:8]:
        for kind, radius in ((CYLINDER, 0.0), (CAPSULE, 0.2)):
            at = np.array([0, 0.5, 0.5]) + 0.2 * np.sqrt(0.5) * np.array([0, 1, 1])
            q = solid(kind, (0.2, 0.3, 0), at, about((0, 1, -1), skew) * lying, radius)
            spots, _ = contacts(solid(BOX), q, 1e-2)
            assert np.ptp(spots[:, 0]) == pytest.approx(0.6, abs=1e-4)
            assert len(spots) <= 3


def test_round_solids_touch_in_a_point():
    for kind, radius in ((SPHERE, 0.2), (ELLIPSOID, 0.0)):
        spots, _ = contacts(solid(BOX), solid(kind, (0.2, 0.2, 0.2), (0.1, 0, 0.7), radius=radius))
        assert len(spots) == 1
        np.testing.assert_allclose(spots[0, :3], [0.1, 0, 0.5], atol=1e-9)
    crossed = solid(CYLINDER, (0.2, 0.5, 0), (0, 0, 0.4), about((1, 0, 0), np.pi / 2))
    spots, _ = contacts(solid(CYLINDER, (0.2, 0.5, 0), turn=about((0, 1, 0), np.pi / 2)), crossed)
    assert len(spots) == 1


def test_many_corners_are_reduced_to_what_spans():
    p, q = solid(CONVEX_HULL, hull=PRISM), solid(CONVEX_HULL, at=(0.1, 0, 1), hull=PRISM)
    spots, _ = contacts(p, q)
    assert 8 <= len(spots) <= 16
    assert spot_area(spots) > 0.92 * flat_area(p, q, np.array([0, 0, 1.0]))


def test_triangle_under_a_box():
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1.2, 0]]).T
    floor = Solid(TRIANGLE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.ascontiguousarray(corners), 0)
    spots, _ = contacts(floor, solid(BOX, (0.2, 0.2, 0.2), (0, 0, 0.2)))
    assert len(spots) == 4
    assert spot_area(spots) == pytest.approx(0.16)


def ground(s, reach=1e-2, n=(0.0, 0.0, 1.0)):
    spots, marks = np.full((SPOTS, 7), np.nan), np.full(SPOTS, -1, dtype=np.int64)
    count = half_space_contacts(0.0, 0.0, 0.0, *n, s, HULLS, reach, WORK, spots, marks)
    spots, marks = spots[:count], marks[:count]
    assert len(set(marks.tolist())) == count
    np.testing.assert_allclose(spots[:, 2], 0.5 * spots[:, 6], atol=1e-15)
    return spots, marks


def test_half_space():
    assert len(ground(solid(BOX, at=(3, 4, 0.5)))[0]) == 4
    assert len(ground(solid(BOX, at=(3, 4, 0.5), turn=about((1, 1, 0), 0.1)))[0]) == 3
    assert len(ground(solid(CONVEX_HULL, at=(3, 4, 0.5), hull=CUBE))[0]) == 4
    assert len(ground(solid(SPHERE, at=(0, 0, 0.2), radius=0.2))[0]) == 1
    spots, _ = ground(solid(ELLIPSOID, (0.1, 0.2, 0.3), (0, 0, 0.2), about((1, 0, 0), np.pi / 2)))
    assert len(spots) == 1
    assert spots[0, 6] == pytest.approx(0.0, abs=1e-15)
    lying = about((0, 1, 0), np.pi / 2)
    for tilt in TILTS[:8]:
        turn = about((0, 1, 0), tilt) * lying
        low = 0.2 * np.cos(tilt) + 0.5 * np.sin(tilt)
        for kind, radius in ((CYLINDER, 0.0), (CAPSULE, 0.2)):
            spots, _ = ground(solid(kind, (0.2, 0.5, 0), (0, 0, low), turn, radius))
            assert len(spots) == 2
            assert np.ptp(spots[:, 0]) == pytest.approx(1.0, abs=1e-4)
        spots, _ = ground(solid(CYLINDER, (0.2, 0.5, 0), (0, 0, 0.5), about((1, 2, 0), tilt)))
        assert len(spots) in (8, 9)
        assert spots[:, 6].min() == pytest.approx(0.5 * (1 - np.cos(tilt)) - 0.2 * np.sin(tilt), abs=1e-10)
    rolled = [
        ground(solid(CYLINDER, (0.2, 0.5, 0), (0, 0, 0.2), about((1, 0, 0), a) * lying)) for a in (0, 1)
    ]
    np.testing.assert_allclose(rolled[0][0], rolled[1][0], atol=1e-15)
    spots, _ = ground(solid(CONE, (0.3, 0.4, 0), (0, 0, 0.4)))
    assert len(spots) == 8
    slope = np.arctan2(0.3, 0.8)
    side = about((0, 1, 0), np.pi / 2 + slope)
    height = -side.apply([0, 0, 0.4])[2]
    assert len(ground(solid(CONE, (0.3, 0.4, 0), (0, 0, height), side))[0]) == 2


def test_half_space_and_many_vertices():
    spots, _ = ground(solid(CONVEX_HULL, at=(0, 0, 0.5), hull=PRISM))
    assert 8 <= len(spots) <= 16
    assert spot_area(spots) > 0.92 * np.pi / 4
    angle = np.arange(150) * 2.4
    z = np.linspace(-1, 1, 150)
    ball = 0.5 * np.column_stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z])
    out, marks = np.zeros((SPOTS, 7)), np.zeros(SPOTS, dtype=np.int64)
    frame = solid(SPHERE, at=(0, 0, 0.5))
    count = plane_vertices(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, frame, ball, 0, 150, 0.3, WORK, out, marks)
    assert count <= 16
    lowest = set(np.argsort(ball[:, 2], kind="stable")[:4].tolist())
    assert lowest <= set(marks[:count].tolist())
    np.testing.assert_allclose(out[:count, 6], ball[marks[:count], 2] + 0.5, atol=1e-15)


def test_support_features():
    for kind, hull, direction, count in [
        (BOX, 0, (0, 0.1, 1), 4), (CONVEX_HULL, HEXAGON, (0, 0, 1), 6), (CAPSULE, 0, (1, 0, 0), 2),
        (CYLINDER, 0, (0, 0, 1), 8), (CYLINDER, 0, (1, 0, 0.5), 2), (CONE, 0, (1, 0, 0.5), 2),
        (SPHERE, 0, (1, 0, 0), 0),
    ]:  # fmt: skip
        x, y, z = np.array(direction) / np.linalg.norm(direction)
        assert support_feature(solid(kind, hull=hull), HULLS, x, y, z, WORK, 0) == count
