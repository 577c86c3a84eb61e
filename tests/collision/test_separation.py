"""The best separating direction of two convex cores, against support functions and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from nonsmooth._support.packed import Packed
from nonsmooth.collision.hulls import Faces, pack
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
from nonsmooth.collision.kernels.directions.work import make_work

FAR = 1e9
CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def faces(points: np.ndarray) -> Faces:
    hull = ConvexHull(points)
    place = np.full(len(points), -1)
    place[hull.vertices] = np.arange(len(hull.vertices))
    vertices, triangles = points[hull.vertices], place[hull.simplices]
    for triangle, equation in zip(triangles, hull.equations, strict=True):
        a, b, c = vertices[triangle]
        if np.cross(b - a, c - a) @ equation[:3] < 0.0:
            triangle[1:] = triangle[:0:-1].copy()
    return Faces(vertices, triangles)


def ball(count: int, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


SOLIDS = [faces(0.5 * CORNERS), faces(0.6 * ball(14, 1)), faces(0.7 * ball(60, 2))]
_TABLES = pack(SOLIDS)
HULLS, WORK = Packed(_TABLES), Packed(make_work(_TABLES))
KINDS = ["sphere", "box", "capsule", "triangle", "hull0", "hull1", "hull2", "cylinder", "cone", "ellipsoid"]
POLYTOPES = (SPHERE, BOX, CAPSULE, TRIANGLE, CONVEX_HULL)


def solid(kind: int, sizes: object = (), radius: float = 0.0, turn: object = None, hull: int = 0) -> Solid:
    a, b, c = (*sizes, 0.0, 0.0, 0.0)[:3]  # type: ignore[misc]
    axes = np.ascontiguousarray(np.eye(3) if turn is None else turn, dtype=float)
    return Solid(kind, float(a), float(b), float(c), radius, 0.0, 0.0, 0.0, axes, hull)


def turned(rng: np.random.Generator) -> np.ndarray:
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))


def tilted(angle: float, axis: np.ndarray) -> np.ndarray:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + 2.0 * math.sin(0.5 * angle) ** 2 * cross @ cross


def some(name: str, rng: np.random.Generator) -> Solid:
    sizes = np.exp(rng.uniform(np.log(0.1), 0.0, 3))
    if name == "triangle":
        return solid(TRIANGLE, turn=rng.standard_normal((3, 3)))
    if name.startswith("hull"):
        return solid(CONVEX_HULL, turn=turned(rng), hull=int(name[4:]))
    kind, radius = {
        "sphere": (SPHERE, 0.3), "box": (BOX, 0.0), "capsule": (CAPSULE, 0.2), "cylinder": (CYLINDER, 0.0),
        "cone": (CONE, 0.05), "ellipsoid": (ELLIPSOID, 0.0),
    }[name]  # fmt: skip
    return solid(kind, sizes, radius, turned(rng))


def at(body: Solid, place: np.ndarray) -> Solid:
    return body._replace(x=float(place[0]), y=float(place[1]), z=float(place[2]))


def reaches(body: Solid, n: np.ndarray) -> np.ndarray:
    """Support function of the core for rows of directions."""
    base = n @ np.array([body.x, body.y, body.z])
    local = n @ body.axes
    a, b, c = body.a, body.b, body.c
    across = np.hypot(local[..., 0], local[..., 1])
    if body.kind == SPHERE:
        return base
    if body.kind == TRIANGLE:
        return base + local.max(axis=-1)
    if body.kind == BOX:
        return base + np.abs(local) @ np.array([a, b, c])
    if body.kind == CAPSULE:
        return base + b * np.abs(local[..., 2])
    if body.kind == CYLINDER:
        return base + b * np.abs(local[..., 2]) + a * across
    if body.kind == CONE:
        return base + np.maximum(b * local[..., 2], a * across - b * local[..., 2])
    if body.kind == ELLIPSOID:
        return base + np.linalg.norm(local * np.array([a, b, c]), axis=-1)
    return base + (local @ SOLIDS[body.hull].vertices.T).max(axis=-1)


def along(p: Solid, q: Solid, n: np.ndarray) -> np.ndarray:
    """Separation of the cores along rows of unit vectors."""
    return -reaches(q, -n) - reaches(p, n)


def features(body: Solid) -> tuple[np.ndarray, np.ndarray]:
    """Face normals and edge directions of a polytope."""
    r = body.axes
    if body.kind == BOX:
        return np.vstack([r.T, -r.T]), r.T
    if body.kind == CAPSULE:
        return np.empty((0, 3)), r.T[2:]
    if body.kind == TRIANGLE:
        edges = np.roll(r.T, -1, axis=0) - r.T
        normal = np.cross(edges[0], edges[1])
        normal /= np.linalg.norm(normal)
        return np.array([normal, -normal]), edges
    if body.kind == SPHERE:
        return np.empty((0, 3)), np.empty((0, 3))
    hull = SOLIDS[body.hull]
    ends = hull.vertices[hull.edges[:, :2]]
    return hull.planes[:, :3] @ r.T, (ends[:, 1] - ends[:, 0]) @ r.T


DIRECTIONS = ball(4000, 3)


def best_of_all(p: Solid, q: Solid) -> float:
    """Largest separation in overlap: all faces and edge pairs of polytopes, else many directions."""
    if p.kind not in POLYTOPES or q.kind not in POLYTOPES:
        return float(along(p, q, DIRECTIONS).max())
    (ours, edges), (theirs, others) = features(p), features(q)
    cross = np.cross(edges[:, None], others[None]).reshape(-1, 3)
    length = np.linalg.norm(cross, axis=1)
    cross = cross[length > 1e-10] / length[length > 1e-10, None]
    return float(along(p, q, np.vstack([ours, -theirs, cross, -cross])).max(initial=-math.inf))


def size(body: Solid) -> float:
    return float(reaches(body._replace(x=0.0, y=0.0, z=0.0), DIRECTIONS[:100]).max())


def check(p: Solid, q: Solid) -> tuple[float, np.ndarray]:
    """All that must hold of an answer; the core gap and the normal."""
    answer = np.array(separation(p, q, HULLS, FAR, WORK))
    gap, n, at_p, at_q = answer[0] + p.radius + q.radius, answer[1:4], answer[4:7], answer[7:]
    scale = size(p) + size(q)
    assert np.isfinite(answer).all()
    assert n @ n == pytest.approx(1.0, abs=1e-14)
    assert along(p, q, n) == pytest.approx(gap, abs=1e-13 * (1.0 + scale))
    assert reaches(p, n) == pytest.approx(n @ at_p, abs=2e-9 * scale)
    assert -reaches(q, -n) == pytest.approx(n @ at_q, abs=2e-9 * scale)
    if gap > 0.0 and np.linalg.norm(at_q - at_p) <= gap + 1e-12 + 1e-9 * scale:
        return gap, n  # proven: no two points are nearer than planes that part the solids
    assert gap <= 1e-12 + 1e-9 * scale
    assert best_of_all(p, q) <= gap + 1e-12 + 1e-9 * scale
    return gap, n


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("name", KINDS)
def test_no_direction_separates_better(name: str, other: str) -> None:
    rng = np.random.default_rng(sum(map(ord, name + other)))
    for gap in (0.0, 0.2, 1e-3, 1e-9, 1e-13, -1e-13, -1e-9, -1e-6, -1e-3, -0.05, -0.3, -0.8):
        p, q, n = some(name, rng), some(other, rng), ball(1, int(rng.integers(1000)))[0]
        check(p, at(q, n * (gap - along(p, q, n))))


@pytest.mark.parametrize("name", ["box", "hull0", "cylinder"])
@pytest.mark.parametrize("other", ["box", "hull0", "cylinder", "cone"])
def test_faces_that_kiss_at_any_tilt(name: str, other: str) -> None:
    rng = np.random.default_rng(5)
    cases = {
        "box": (BOX, (0.5, 0.5, 0.5)), "hull0": (CONVEX_HULL, ()), "cylinder": (CYLINDER, (0.5, 0.5)),
        "cone": (CONE, (0.5, 0.5)),
    }  # fmt: skip
    for tilt, gap in itertools.product((0.0, 1e-14, 1e-10, 1e-7, 1e-4), (0.0, 1e-14, -1e-14, 1e-9, -1e-9)):
        world = turned(rng)
        p = solid(cases[name][0], cases[name][1], turn=world)
        turn = world @ tilted(tilt, rng.standard_normal(3))
        q = solid(cases[other][0], cases[other][1], turn=turn)
        up = world[:, 2]
        _, n = check(p, at(q, (gap - along(p, q, up)) * up + 0.1 * world[:, 0]))
        assert n @ up > 1.0 - 0.51 * (tilt + 1e-7) ** 2


def test_swapping_the_solids_flips_the_normal() -> None:
    rng = np.random.default_rng(6)
    for name, other in itertools.combinations(KINDS, 2):
        p, q, n = some(name, rng), some(other, rng), ball(1, 4)[0]
        q = at(q, n * (-0.01 - along(p, q, n)))
        one = np.array(separation(p, q, HULLS, FAR, WORK))
        two = np.array(separation(q, p, HULLS, FAR, WORK))
        assert one[0] == pytest.approx(two[0], abs=1e-9)
        assert one[1:4] @ two[1:4] < -1.0 + 1e-8


def test_concentric_boxes_part_along_the_thin_side() -> None:
    plate, cube = solid(BOX, (0.5, 0.5, 0.0005)), solid(BOX, (0.5, 0.5, 0.5))
    gap, n = check(plate, cube)
    assert gap == pytest.approx(-0.5005, abs=1e-15)
    assert abs(n[2]) == 1.0


def test_beyond_reach_a_lower_bound_is_enough() -> None:
    p, q = solid(CYLINDER, (0.5, 0.5)), at(solid(ELLIPSOID, (0.3, 0.2, 0.5)), np.array([3.0, 1.0, 0.0]))
    exact = separation(p, q, HULLS, FAR, WORK)[0]
    assert 0.5 < separation(p, q, HULLS, 0.5, WORK)[0] <= exact + 1e-12
