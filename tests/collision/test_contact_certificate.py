"""The certificate of contacts: right ones pass for every kind of shape, and each kind of fault is found."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nonsmooth.collision import Detector
from nonsmooth.collision.certificate import ContactChecker, merged
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.withheld import SEAM, SWEPT, Withheld
from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import ConvexHull
from nonsmooth.model.system import System

NO_JOINTS = System().joints
SPHERE, HALF_SPACE, BOX, CAPSULE, CYLINDER, ELLIPSOID, CONVEX_HULL, MESH, HEIGHT_FIELD, CONE = range(10)
MARGIN = 1e-3


class Piece:
    """A shape at a place, with a support function of its own for closed forms."""

    def __init__(self, kind: int, size: Any, points: Any = None, rounding: float = 0.0) -> None:
        self.kind, self.size, self.rounding = kind, np.array(size, dtype=float), rounding
        self.shape: Any = SimpleNamespace(rounding=rounding)
        if kind == MESH:
            self.shape = SimpleNamespace(rounding=0.0, vertices=points[0], triangles=points[1])
        elif kind == HEIGHT_FIELD:
            self.shape = SimpleNamespace(
                rounding=0.0, heights=points, spacing=(0.1, 0.1), origin=(-1.0, -1.0)
            )
        elif points is not None:
            hull = ConvexHull(np.asarray(points))
            self.shape = SimpleNamespace(rounding=rounding, vertices=hull.vertices, triangles=hull.triangles)
        self.position, self.quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    @property
    def radius(self) -> float:
        return self.size[0] if self.kind in (SPHERE, CAPSULE) else self.rounding

    def turned(self, quaternion: Any) -> Piece:
        self.quaternion = np.asarray(quaternion) / np.linalg.norm(quaternion)
        return self

    def at(self, *position: float) -> Piece:
        self.position = np.array(position, dtype=float)
        return self

    def farthest(self, direction: Any) -> Any:
        """Point of the surface farthest along the unit `direction`, relative to the piece's origin."""
        turn = quaternions.matrix(self.quaternion)
        x, y, z = local = turn.T @ direction
        a, b = self.size[:2]
        if self.kind == SPHERE:
            p = np.zeros(3)
        elif self.kind == BOX:
            p = np.copysign(self.size, local)
        elif self.kind == CAPSULE:
            p = np.array([0, 0, np.copysign(b, z)])
        elif self.kind == ELLIPSOID:
            p = self.size**2 * local / np.linalg.norm(self.size * local)
        elif self.kind in (CYLINDER, CONE):
            across = np.hypot(x, y)
            rim = np.array([a * x / across, a * y / across, 0.0]) if across else np.zeros(3)
            p = rim + np.array([0, 0, np.copysign(b, z)])
            if self.kind == CONE:
                p = np.array([0, 0, b]) if 2 * b * z > a * across else rim - [0, 0, b]
        else:
            vertices = self.shape.vertices
            p = vertices[np.argmax(vertices @ local)]
        return turn @ p + self.radius * np.asarray(direction)


def system_of(*pieces: Piece, bodies: Any = None, fixed: Any = (), ignored: Any = ()) -> Any:
    """What the checker reads of a system, one body for each piece."""
    count = len(pieces)
    table = ShapeTable(
        body=np.arange(count, dtype=np.int32) if bodies is None else np.array(bodies, dtype=np.int32),
        kind=np.array([piece.kind for piece in pieces], dtype=np.int32),
        size=np.array([piece.size for piece in pieces]),
        offset=np.zeros((count, 3)),
        rotation=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        material=np.zeros(count, dtype=np.int32),
        objects=tuple(piece.shape for piece in pieces),
    )
    still = np.zeros(count, dtype=bool)
    still[list(fixed)] = True
    return SimpleNamespace(
        joints=NO_JOINTS,
        shapes=table,
        count=count,
        fixed=still,
        ignored_pairs=np.array(ignored, dtype=np.int64).reshape(-1, 2),
        names={f"piece {i}": i for i in range(count)},
    )


def contacts_of(*rows: Any) -> Contacts:
    """Contacts from rows (shape a, shape b, point, normal, gap)."""
    out = Contacts.allocate(len(rows))
    for i, (a, b, point, normal, gap) in enumerate(rows):
        out.shapes[i] = out.bodies[i] = a, b
        out.feature[i], out.point[i], out.normal[i], out.gap[i] = i, point, normal, gap
    return out


def check(pieces: list[Piece], contacts: Contacts, mode: str = "all", **options: Any) -> Any:
    checker = ContactChecker(options.pop("system", None) or system_of(*pieces), mode)
    position = np.array([piece.position for piece in pieces])
    quaternion = np.array([piece.quaternion for piece in pieces])
    return checker.check(contacts, position, quaternion, **{"margin": MARGIN, **options})


def rng() -> np.random.Generator:
    return np.random.default_rng(18)


def a_hull(count: int = 20) -> Any:
    points = rng().normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * [0.5, 0.4, 0.6] + [0.1, 0.0, 0.05]


def piece_of(name: str) -> Piece:
    return {
        "sphere": lambda: Piece(SPHERE, (0.5, 0, 0)),
        "box": lambda: Piece(BOX, (0.5, 0.3, 0.4)),
        "capsule": lambda: Piece(CAPSULE, (0.2, 0.4, 0)),
        "cylinder": lambda: Piece(CYLINDER, (0.3, 0.4, 0)),
        "ellipsoid": lambda: Piece(ELLIPSOID, (0.5, 0.3, 0.4)),
        "cone": lambda: Piece(CONE, (0.3, 0.4, 0)),
        "hull": lambda: Piece(CONVEX_HULL, (0, 0, 0), a_hull()),
        "rounded box": lambda: Piece(BOX, (0.5, 0.3, 0.4), rounding=0.05),
        "rounded hull": lambda: Piece(CONVEX_HULL, (0, 0, 0), a_hull(), rounding=0.02),
    }[name]()


NAMES = (
    "sphere", "box", "capsule", "cylinder", "ellipsoid", "cone", "hull", "rounded box", "rounded hull",
)  # fmt: skip


def kissing(p: Piece, q: Piece, normal: Any, gap: float) -> Contacts:
    """Move q so that its farthest point towards p is at `gap` from p's farthest; their contact."""
    normal = np.asarray(normal) / np.linalg.norm(normal)
    on_p = p.position + p.farthest(normal)
    q.position = on_p + gap * normal - q.farthest(-normal)
    return contacts_of((0, 1, on_p + 0.5 * gap * normal, normal, gap))


PAIRS = list(itertools.combinations_with_replacement(NAMES, 2))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_right_contacts_of_convex_pairs_pass_and_faults_are_found(first: str, second: str) -> None:
    random = rng()
    for gap in (1e-4, 1e-9, 0.0):
        p, q = piece_of(first).turned(random.normal(size=4)), piece_of(second).turned(random.normal(size=4))
        p.at(*random.normal(size=3))
        good = kissing(p, q, random.normal(size=3), gap)
        certificate = check([p, q], good)
        assert certificate.holds, certificate.worst
        assert certificate.checked == certificate.contacts == 1
        assert certificate.angle == 0.0

        for shift in (1e-6, -1e-6):
            assert not check([p, q], contacts_of((0, 1, good.point[0], good.normal[0], gap + shift))).holds
        across = np.cross(good.normal[0], [0.3, 0.5, 0.8])
        across /= np.linalg.norm(across)
        tilted = good.normal[0] + 1e-3 * across
        tilted /= np.linalg.norm(tilted)
        if gap > 1e-6 or {first, second} & {
            "sphere",
            "ellipsoid",
        }:  # corners that touch do so along any normal
            assert not check([p, q], contacts_of((0, 1, good.point[0], tilted, gap))).holds
        moved = good.point[0] + 1e-3 * across
        assert not check([p, q], contacts_of((0, 1, moved, good.normal[0], gap))).holds


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_missing_pair_is_found_and_one_apart_is_not(first: str, second: str) -> None:
    random = rng()
    p, q = piece_of(first).turned(random.normal(size=4)), piece_of(second).turned(random.normal(size=4))
    for gap, missing in ((2e-3, 0), (1.1e-3, 0), (0.8e-3, 1), (None, 1)):
        kissing(p, q, [1.0, 0.4, -0.7], gap or 0.0)
        if gap is None:
            q.at(*p.position)
        certificate = check([p, q], contacts_of())
        assert certificate.missing == missing, gap
        assert certificate.holds == (missing == 0)
    assert '"piece 0"' in certificate.missing_pairs[0]


def lying(gap: float = -1e-9) -> tuple[list[Piece], list[Any]]:
    """A box turned about z lies on another: four corners inside, as they are."""
    low, high = Piece(BOX, (1.0, 1.0, 0.1)), Piece(BOX, (0.3, 0.2, 0.1)).at(0.1, 0.2, 0.2 + gap)
    high.turned([1.0, 0.0, 0.0, 0.2])
    turn = quaternions.matrix(high.quaternion)
    corners = [high.position + turn @ [sx * 0.3, sy * 0.2, -0.1] for sx in (-1, 1) for sy in (-1, 1)]
    return [low, high], [(0, 1, corner - [0, 0, 0.5 * gap], [0, 0, 1], gap) for corner in corners]


@pytest.mark.parametrize("gap", [-1e-3, -1e-6, -1e-9, -1e-13, 0.0, 1e-9, 1e-4])
def test_a_box_on_a_box_needs_all_its_corners(gap: float) -> None:
    pieces, rows = lying(gap)
    assert check(pieces, contacts_of(*rows)).holds
    dropped = check(pieces, contacts_of(*rows[:3]))
    assert not dropped.holds
    assert dropped.span_error > 0.1
    a, b, point, normal, _ = rows[2]
    assert not check(pieces, contacts_of(*rows[:2], (a, b, point, normal, gap + 1e-6), rows[3])).holds
    outside = (a, b, point + np.array([1.0, 0.0, 0.0]), normal, gap)
    assert not check(pieces, contacts_of(*rows[:2], outside, rows[3])).holds


def test_an_overlap_with_a_worse_direction_is_found() -> None:
    """Sideways out of a box is farther than up, though the gap is right along that normal."""
    pieces = [Piece(BOX, (1.0, 1.0, 0.5)), Piece(BOX, (0.5, 0.5, 0.5)).at(0.0, 0.0, 0.9)]
    up = [(0, 1, [sx, sy, 0.45], [0, 0, 1], -0.1) for sx in (-0.5, 0.5) for sy in (-0.5, 0.5)]
    assert check(pieces, contacts_of(*up)).holds
    across = [(0, 1, [0.25, y, z], [1, 0, 0], -1.5) for y in (-0.5, 0.5) for z in (0.4, 0.5)]
    wrong = check(pieces, contacts_of(*across))
    assert not wrong.holds
    assert wrong.angle == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("second", ["cylinder", "ellipsoid", "cone"])
def test_a_worse_direction_of_curved_shapes_is_found(second: str) -> None:
    """One above the other, with a small overlap: up is best, sideways is much farther."""
    p, q = piece_of("cylinder"), piece_of(second)
    for normal, better in (([0.0, 0.0, 1.0], 0.0), ([1.0, 0.0, 0.0], np.pi / 2)):
        top, bottom = p.farthest(np.array([0.0, 0.0, 1.0])), q.farthest(np.array([0.0, 0.0, -1.0]))
        q.at(0.0, 0.0, top[2] - bottom[2] - 0.05)
        n = np.array(normal)
        on_p, on_q = p.farthest(n), q.position + q.farthest(-n)
        row = (0, 1, 0.5 * (on_p + on_q), n, n @ (on_q - on_p))
        assert check([p, q], contacts_of(row), margin=-1.0).angle == pytest.approx(better, abs=1e-3)


def test_half_space_contacts() -> None:
    ground = Piece(HALF_SPACE, (0, 0, 0))
    for name in NAMES:
        piece = piece_of(name).turned([1.0, 0.3, -0.2, 0.5])
        low = piece.farthest(np.array([0.0, 0.0, -1.0]))
        piece.at(0.3, -0.2, 1e-5 - low[2])
        point = piece.position + low - [0, 0, 0.5e-5]
        assert check([ground, piece], contacts_of((0, 1, point, [0, 0, 1], 1e-5))).holds, name
        assert check([piece, ground], contacts_of((0, 1, point, [0, 0, -1], 1e-5))).holds, name
        assert not check([ground, piece], contacts_of((0, 1, point, [0, 0, 1], 1.1e-5))).holds, name
        tilted = [1e-3, 0, np.sqrt(1 - 1e-6)]
        wrong = check([ground, piece], contacts_of((0, 1, point, tilted, 1e-5)))
        assert wrong.angle == pytest.approx(1e-3), name
        assert check([ground, piece], contacts_of()).missing == 1


@pytest.mark.parametrize("name", ["capsule", "cylinder"])
def test_a_line_contact_needs_both_ends(name: str) -> None:
    ground, piece = Piece(HALF_SPACE, (0, 0, 0)), piece_of(name)
    piece.turned([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]).at(0.0, 0.0, piece.size[0])
    ends = [(0, 1, [0.0, y, 0.0], [0, 0, 1], 0.0) for y in (-0.4, 0.4)]
    assert check([ground, piece], contacts_of(*ends)).holds
    one = check([ground, piece], contacts_of(ends[0]))
    assert not one.holds
    assert one.span_error == pytest.approx(0.8)


def test_a_disc_on_a_plane_needs_points_around_it() -> None:
    ground, disc = Piece(HALF_SPACE, (0, 0, 0)), Piece(CYLINDER, (0.5, 0.1, 0)).at(0, 0, 0.1)
    rim = [(0, 1, [0.5 * np.cos(t), 0.5 * np.sin(t), 0.0], [0, 0, 1], 0.0) for t in np.arange(4) * np.pi / 2]
    assert check([ground, disc], contacts_of(*rim)).holds
    assert not check([ground, disc], contacts_of(*rim[:2])).holds


def test_pairs_that_cannot_touch_are_not_missing() -> None:
    pieces = [Piece(SPHERE, (0.5, 0, 0)).at(0.1 * i, 0, 0) for i in range(3)]
    assert check(pieces, contacts_of()).missing == 3
    assert check(pieces, contacts_of(), system=system_of(*pieces, ignored=[(0, 1)])).missing == 2
    assert check(pieces, contacts_of(), system=system_of(*pieces, fixed=[0, 2])).missing == 2
    assert check(pieces, contacts_of(), system=system_of(*pieces, bodies=[0, 1, 1])).missing == 2


def chain(count: int = 1001) -> tuple[list[Piece], list[Any]]:
    """Spheres in a row, each touching the next."""
    pieces = [Piece(SPHERE, (0.5, 0, 0)).at(float(i), 0, 0) for i in range(count)]
    return pieces, [(i, i + 1, [i + 0.5, 0, 0], [1, 0, 0], 0.0) for i in range(count - 1)]


def steps_until_found(pieces: list[Piece], contacts: Contacts, mode: str) -> int:
    checker = ContactChecker(system_of(*pieces), mode)
    position = np.array([piece.position for piece in pieces])
    quaternion = np.array([piece.quaternion for piece in pieces])
    for step in range(1000, 1100):
        if not checker.check(contacts, position, quaternion, margin=MARGIN, step=step).holds:
            return step - 1000
    return 100


def test_one_wrong_of_a_thousand_is_found_at_once_by_all_and_in_100_steps_by_sampled() -> None:
    pieces, rows = chain()
    assert steps_until_found(pieces, contacts_of(*rows), "sampled") == 100
    faults = {
        "gap": (500, 501, [500.5, 0, 0], [1, 0, 0], 1e-6),
        "normal": (500, 501, [500.5, 0, 0], [np.cos(1e-3), np.sin(1e-3), 0], 0.0),
        "moved": (500, 501, [500.5, 1e-4, 0], [1, 0, 0], 0.0),
    }
    for fault, row in faults.items():
        planted = contacts_of(*rows[:500], row, *rows[501:])
        assert steps_until_found(pieces, planted, "all") == 0, fault
        assert steps_until_found(pieces, planted, "sampled") < 50, fault
    dropped = contacts_of(*rows[:500], *rows[501:])
    assert steps_until_found(pieces, dropped, "all") == 0
    assert steps_until_found(pieces, dropped, "sampled") < 50


def test_sampled_visits_every_contact_once_in_fifty_steps_and_the_same_again() -> None:
    pieces, rows = chain(201)
    checker, contacts = ContactChecker(system_of(*pieces), "sampled"), contacts_of(*rows)
    position = np.array([piece.position for piece in pieces])
    quaternion = np.array([piece.quaternion for piece in pieces])
    certificates = [
        checker.check(contacts, position, quaternion, margin=MARGIN, step=step) for step in range(100)
    ]
    assert sum(one.checked for one in certificates[:50]) == len(contacts)
    assert [repr(one) for one in certificates[:50]] == [repr(one) for one in certificates[50:]]
    whole = merged(certificates)
    assert whole.holds
    assert whole.share == pytest.approx(0.02)
    assert "holds" in str(whole)


def test_modes() -> None:
    pieces, rows = chain(3)
    off = check(pieces, contacts_of(*rows), "none")
    assert off.holds
    assert off.checked == 0
    assert np.isnan(off.gap_error)
    with pytest.raises(OptionError, match="sometimes"):
        ContactChecker(system_of(*pieces), "sometimes")


def withheld_of(
    a: int, b: int, reason: int, point: Any, normal: Any, gap: float, part: float = 1.0
) -> Withheld:
    return Withheld(
        np.array([[a, b]], dtype=np.int32), np.array([reason]), np.array([normal], dtype=float),
        np.array([point], dtype=float), np.array([gap]), np.array([part]),
    )  # fmt: skip


def test_a_seam_is_verified() -> None:
    """A box that slides over butted boxes runs against the side of the next one by rounding."""
    low, other = Piece(BOX, (0.5, 0.5, 0.5)), Piece(BOX, (0.5, 0.5, 0.5)).at(1.0, 0.0, 0.0)
    high = Piece(BOX, (0.2, 0.2, 0.2)).at(0.3, 0.0, 0.7 - 1e-9)
    rows = [(0, 2, [0.3 + sx, sy, 0.5], [0, 0, 1], -1e-9) for sx in (-0.2, 0.2) for sy in (-0.2, 0.2)]
    hidden = withheld_of(1, 2, SEAM, [0.5, 0.0, 0.5], [-1, 0, 0], 0.0)
    system = system_of(low, other, high, fixed=[0, 1])
    assert check([low, other, high], contacts_of(*rows), system=system).missing == 1
    certificate = check([low, other, high], contacts_of(*rows), system=system, withheld=hidden)
    assert certificate.holds, certificate.worst
    assert certificate.withheld == {"seam": 1}
    other.at(1.0, 0.0, 0.01)
    certificate = check([low, other, high], contacts_of(*rows), system=system, withheld=hidden)
    assert certificate.unfounded == 1
    assert not certificate.holds
    assert "seam" in certificate.worst


@pytest.mark.parametrize(("x", "holds"), [(0.49, True), (0.4, True), (0.7, False), (1.2, False)])
def test_a_contact_withheld_at_a_seam_must_be_held(x: float, holds: bool) -> None:
    """A capsule lies on a box: a contact with the flush box beside it, with a tilt, may carry it there."""
    low, other = Piece(BOX, (0.5, 0.5, 0.5)), Piece(BOX, (0.5, 0.5, 0.5)).at(1.0, 0.0, 0.0)
    lying = (
        Piece(CAPSULE, (0.1, 0.8, 0.0))
        .turned(quaternions.from_axis_angle((0.0, 1.0, 0.0), 0.5 * np.pi))
        .at(0.5, 0.0, 0.6)
    )
    rows = [(0, 2, [end, 0.0, 0.5], [0, 0, 1], 0.0) for end in (-0.3, 0.5)]
    tilt = np.array([-0.01, 0.0, 1.0]) / np.linalg.norm([-0.01, 0.0, 1.0])
    hidden = withheld_of(1, 2, SEAM, [x, 0.0, 0.5], tilt, 0.0)
    system = system_of(low, other, lying, fixed=[0, 1])
    certificate = check([low, other, lying], contacts_of(*rows), system=system, withheld=hidden)
    assert certificate.unfounded == (0 if holds else 1), certificate.worst


def test_the_normal_of_a_time_of_impact_is_verified() -> None:
    """A box falls past the edge of another and lands on its top: the normal of the landing is up."""
    low, high = Piece(BOX, (0.5, 0.5, 0.5)), Piece(BOX, (0.1, 0.1, 0.1)).at(0.65, 0.0, 0.8)
    move = np.array([[0.0, 0, 0], [-0.1, 0, -0.2]])
    up = contacts_of((0, 1, [0.55, 0, 0.6], [0, 0, 1], 0.2))
    swept = withheld_of(0, 1, SWEPT, [0.55, 0, 0.6], [0, 0, 1], 0.2, part=1.0)
    options = {"displacement": move, "rotation": np.zeros((2, 3))}
    assert not check([low, high], up, **options).holds
    assert check([low, high], up, withheld=swept, **options).holds
    sideways = withheld_of(0, 1, SWEPT, [0.55, 0, 0.6], [1, 0, 0], 0.05, part=1.0)
    assert check([low, high], up, withheld=sideways, **options).unfounded == 1


def cube_mesh() -> Piece:
    """The cube of edge 2 about the origin as twelve triangles."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    hull = ConvexHull(corners)
    return Piece(MESH, (0, 0, 0), (hull.vertices, hull.triangles))


@pytest.mark.parametrize("gap", [-1e-3, -1e-9, 0.0, 1e-4])
@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 1, 1), (0, 0.3, 1), (1, 1, 1), (0.2, 0.5, 1)])
def test_contacts_of_a_mesh_are_judged_by_its_triangles(direction: Any, gap: float) -> None:
    """A ball on a face, on edges and on corners of a cube: zeros are directions along the face or edge."""
    normal = np.array(direction) / np.linalg.norm(direction)
    on_cube = np.where(np.array(direction) == 0.0, [0.2, 0.3, 0.4], 1.0)
    cube, ball = cube_mesh(), Piece(SPHERE, (0.5, 0, 0))
    for turn in ([1.0, 0, 0, 0], [0.8, 0.1, 0.5, -0.2]):
        cube.turned(turn).at(3.0, -2.0, 1.0)
        matrix = quaternions.matrix(cube.quaternion)
        n, p = matrix @ normal, cube.position + matrix @ on_cube
        ball.at(*(p + (0.5 + gap) * n))
        point = p + 0.5 * gap * n
        good = check([cube, ball], contacts_of((0, 1, point, n, gap)))
        assert good.holds, good.worst
        assert check([ball, cube], contacts_of((0, 1, point, -n, gap))).holds
        assert not check([cube, ball], contacts_of((0, 1, point, n, gap + 1e-6))).holds
        across = np.cross(n, matrix @ [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        tilted = np.cos(1e-3) * n + np.sin(1e-3) * across
        assert not check([cube, ball], contacts_of((0, 1, point, tilted, gap))).holds
        assert not check([cube, ball], contacts_of((0, 1, point + 1e-3 * across, n, gap))).holds
        assert check([cube, ball], contacts_of()).missing == (gap < -1e-6)


def test_a_box_on_a_mesh_and_on_terrain() -> None:
    flat = Piece(HEIGHT_FIELD, (0, 0, 0), np.ones((21, 21)))
    gap, z = -1e-7, 1.0 - 0.5e-7
    box = Piece(BOX, (0.3, 0.2, 0.1)).at(0.0, 0.1, 1.1 + gap)
    corners = [(0, 1, [sx * 0.3, 0.1 + sy * 0.2, z], [0, 0, 1], gap) for sx in (-1, 1) for sy in (-1, 1)]
    for ground in (cube_mesh(), flat):
        certificate = check([ground, box], contacts_of(*corners))
        assert certificate.holds, certificate.worst
        assert certificate.checked == 4
        assert check([ground, box], contacts_of()).missing == 1
        moved = (0, 1, [0.31, 0.3, 1.0], [0, 0, 1], gap)
        assert not check([ground, box], contacts_of(*corners[:3], moved)).holds


def test_a_ball_in_a_valley_touches_both_slopes() -> None:
    heights = np.abs(np.linspace(-1.0, 1.0, 21))[:, None] * np.ones(21)
    valley, ball = Piece(HEIGHT_FIELD, (0, 0, 0), heights), Piece(SPHERE, (0.5, 0, 0))
    ball.at(0.0, 0.03, np.sqrt(0.5))
    slope = np.sqrt(0.5)
    rows = [(0, 1, [0.5 * s * slope, 0.03, 0.5 * slope], [-s * slope, 0, slope], 0.0) for s in (-1, 1)]
    assert check([valley, ball], contacts_of(*rows)).holds
    gap = slope - 0.5
    bottom = contacts_of((0, 1, [0, 0.03, 0.5 * gap], [0, 0, 1], gap))
    assert not check([valley, ball], bottom).holds


def test_the_check_of_edges_side_by_side_gives_up_in_time() -> None:
    """Two leaning cards: points 4e-9 m beside them lead the search along a ridge, where it took 17 s."""
    lean, size = np.radians(25.0), np.array([0.04, 1.25, 2.5])
    corners = np.array(list(itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size))))
    system = System()
    for side, lift, turn in ((-1.0, 0.0, 0.0), (1.0, -1.5e-9, -1e-9)):
        tilt = quaternions.product(
            quaternions.from_axis_angle((0.0, 0.0, 1.0), abs(turn)),
            quaternions.from_axis_angle((0.0, 1.0, 0.0), -side * lean),
        )
        x = side * 0.5 * (size[2] * np.sin(lean) + size[0] * np.cos(lean))
        z = 0.5 * (size[2] * np.cos(lean) + size[0] * np.sin(lean)) + lift
        orientation = quaternions.product(quaternions.from_axis_angle((1.0, 0.0, 0.0), turn), tilt)
        system.add_hull(corners, density=200.0, position=(x, 0.0, z), orientation=orientation)
    normal = np.array([np.cos(lean), 0.0, -np.sin(lean)])
    gap = 3.316211749648801e-10
    points = (
        [-2.8100011206788622e-09, -0.625, 2.265769464180697],
        [-3.7860186097304904e-09, 0.625, 2.2657694628029375],
    )
    contacts = contacts_of(*((0, 1, point, normal, gap) for point in points))
    certificate = ContactChecker(system, "all").check(
        contacts, system.position, system.quaternion, margin=0.01
    )
    assert certificate.checked == 2
    assert certificate.angle == 0.0


def leaning_cards(lift: float, turn: float, aside: float, boxes: bool) -> System:
    """Two cards whose upper edges touch along their length, but for `lift` and `aside` (m) and `turn`."""
    lean, size = np.radians(25.0), np.array([0.04, 1.25, 2.5])
    corners = np.array(list(itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size))))
    system = System()
    for side in (-1.0, 1.0):
        here = max(side, 0.0)
        tilt = quaternions.from_axis_angle((0.0, 1.0, 0.0), -side * lean)
        turned = quaternions.from_axis_angle((1.0, 0.0, 0.0), here * turn)
        about = quaternions.from_axis_angle((0.0, 0.0, 1.0), here * abs(turn))
        place = {
            "position": (
                side * 0.5 * (size[2] * np.sin(lean) + size[0] * np.cos(lean)) + here * aside,
                0.0,
                0.5 * (size[2] * np.cos(lean) + size[0] * np.sin(lean)) + here * lift,
            ),
            "orientation": quaternions.product(turned, quaternions.product(about, tilt)),
        }
        if boxes:
            system.add_box(size, density=200.0, **place)
        else:
            system.add_hull(corners, density=200.0, **place)
    return system


@pytest.mark.parametrize("boxes", [True, False])
def test_edges_that_rest_along_one_another_have_both_ends(boxes: bool) -> None:
    """Turned and aside by about what rounding decides: the check asks for no point that is left out."""
    steps = 0.0, 1e-12, 2e-10, 5e-10, 1.5e-9
    for lift, turn, aside in itertools.product(
        (*steps, -3e-10, -1.5e-9), (*steps[:4], -1e-9), (3e-10, -1e-9)
    ):
        system = leaning_cards(lift, turn, aside, boxes)
        contacts = Detector(system, 0.01).detect(system.position, system.quaternion)
        certificate = ContactChecker(system, "all").check(
            contacts, system.position, system.quaternion, margin=0.01
        )
        assert certificate.holds, (lift, turn, aside, str(certificate))
        assert len(contacts) >= 1
