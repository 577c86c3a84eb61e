"""µs per touching pair in one run: the same scene of separate pairs in this project, coal and MuJoCo.

Every pair is a fixed shape and a free one laid on it, feature on feature (face on face, edge on face, rim on
side, …) at random turns, overlapping by 1e-5 m; pairs are 6 m apart. Each engine finds the contacts of all
pairs in one call: `Detector.detect`, `mj_collision`, and for coal the faster of one `collide` of two
broad-phase managers and a loop of `coal.collide` over the pairs in Python. Runs are interleaved and the
shortest CPU time of each engine counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from _narrow import shapes as catalogue
from _narrow.engines import Unavailable, coal_geometry, mujoco_geom, sharpen
from _narrow.poses import laid
from _narrow.solids import core_of
from nonsmooth.collision import Detector
from nonsmooth.model import quaternions, shapes
from nonsmooth.model.system import System

OVERLAP = 1e-5
MARGIN = 1e-4
APART = 6.0


class Scene(NamedTuple):
    """Pairs of shapes at poses of the shapes' own frames."""

    fixed: shapes.Shape
    free: shapes.Shape
    position: np.ndarray  # (pairs, 2, 3) m
    quaternion: np.ndarray  # (pairs, 2, 4)


Work = Callable[[], int]
"""Finds the contacts of all pairs and returns their number."""


def scene(case: str, count: int) -> Scene:
    """`count` touching pairs of one of the CASES."""
    kinds, shape_a, shape_b = CASES[case]()
    rng = np.random.default_rng(5)
    cores = core_of(shape_a), core_of(shape_b)
    side = math.ceil(count**0.5)
    position, quaternion = np.empty((count, 2, 3)), np.empty((count, 2, 4))
    for k in range(count):
        features = [catalogue.FEATURES[kind][rng.integers(len(catalogue.FEATURES[kind]))] for kind in kinds]
        if k % 2 == 0:
            features[0] = catalogue.FEATURES[kinds[0]][0]  # half of the pairs lie on a face
        p, q = (
            catalogue.spot(kind, core, feature, rng)
            for kind, core, feature in zip(kinds, cores, features, strict=True)
        )
        place = APART * np.array([k % side, k // side, 0.0])
        turn = quaternions.normalise(rng.standard_normal(4))
        position[k], quaternion[k] = laid(p, q, place, turn, 0.1 * k)
        position[k, 1] -= OVERLAP * quaternions.rotate(turn, p.normal)
    return Scene(shape_a, shape_b, position, quaternion)


def ours(made: Scene) -> dict[str, Work]:
    """`Detector.detect` on the whole scene."""
    system = System()
    for position, quaternion in zip(made.position, made.quaternion, strict=True):
        for k, shape in enumerate((made.fixed, made.free)):
            centre = quaternions.rotate(quaternion[k], shape.mass_properties(1.0).centre)
            options = {"fixed": True} if k == 0 else {"mass": 1.0}
            system.add_body(shape, position=position[k] + centre, orientation=quaternion[k], **options)
    detector = Detector(system, MARGIN)
    position, quaternion = system.position.copy(), system.quaternion.copy()
    return {"ours": lambda: len(detector.detect(position, quaternion))}


def coal(made: Scene) -> dict[str, Work]:
    """A loop over the pairs in Python, and one call of two broad-phase managers."""
    try:
        import coal as library
    except ImportError:
        raise Unavailable from None
    geometry = [coal_geometry(library, shape) for shape in (made.fixed, made.free)]
    poses = [
        [library.Transform3s(quaternions.matrix(q), x) for x, q in zip(*pair, strict=True)]
        for pair in zip(made.position, made.quaternion, strict=True)
    ]
    most = 10_000 if isinstance(made.fixed, shapes.Mesh) else 1

    def request(contacts: int) -> Any:
        asked = library.CollisionRequest(library.CONTACT, contacts)
        asked.security_margin = MARGIN
        sharpen(asked)
        return asked

    asked, result = request(most), library.CollisionResult()

    def loop() -> int:
        found = 0
        for a, b in poses:
            result.clear()
            library.collide(geometry[0], a, geometry[1], b, asked, result)
            found += result.numContacts()
        return found

    managers, objects = [], []
    for k in (0, 1):
        manager = library.DynamicAABBTreeCollisionManager()
        for pair in poses:
            objects.append(library.CollisionObject(geometry[k], pair[k]))
            manager.registerObject(objects[-1])
        manager.setup()
        managers.append(manager)
    callback = library.CollisionCallBackDefault()

    def manage() -> int:
        callback.init()
        callback.data.request = request(10_000_000)
        managers[0].collide(managers[1], callback)
        kept = len(objects) and callback.data.result.numContacts()
        return int(kept)

    return {"coal": loop, "coal, managers": manage}


def mujoco(made: Scene) -> dict[str, Work]:
    """`mj_collision` on the whole scene."""
    try:
        import mujoco as library
    except ImportError:
        raise Unavailable from None
    spec = library.MjSpec()
    for k, (position, quaternion) in enumerate(zip(made.position, made.quaternion, strict=True)):
        for side, shape in enumerate((made.fixed, made.free)):
            body = spec.worldbody.add_body(pos=position[side], quat=quaternion[side])
            if side:
                body.add_freejoint()
            geom = body.add_geom(margin=MARGIN)
            mujoco_geom(library, spec, geom, shape, f"mesh{side}", again=k > 0)
    model = spec.compile()
    data = library.MjData(model)
    library.mj_forward(model, data)

    def work() -> int:
        library.mj_collision(model, data)
        return int(data.ncon)

    return {"MuJoCo": work}


def measure(case: str, count: int, seconds: float) -> dict[str, tuple[float, int]]:
    """Shortest CPU time in s of a run over all pairs, and the number of contacts, for each way."""
    made = scene(case, count)
    works: dict[str, Work] = {}
    for build in (ours, coal, mujoco):
        try:
            works |= build(made)
        except Unavailable:
            continue
    found = {name: work() for name, work in works.items()}
    best = dict.fromkeys(works, math.inf)
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or time.perf_counter() < end:
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
        rounds += 1
    return {name: (best[name], found[name]) for name in works}


def print_table(count: int, seconds: float) -> None:
    """Print µs per touching pair, and ours against the fastest of the others."""
    names = ("ours", "coal", "coal, managers", "MuJoCo")
    print(f"µs per touching pair, {count} pairs in a scene (in brackets: contacts per pair)")
    print(f"{'pair':<28}" + "".join(f"{name:>18}" for name in names) + f"{'ours / fastest':>16}")
    for case in CASES:
        found = measure(case, count, seconds)
        cells, rest = [], []
        for name in names:
            if name not in found:
                cells.append("–")
                continue
            spent, contacts = found[name]
            cells.append(f"{spent / count * 1e6:.2f} ({contacts / count:.1f})")
            if name != "ours":
                rest.append(spent)
        ratio = f"{found['ours'][0] / min(rest):.2f}" if rest else "–"
        print(f"{case:<28}" + "".join(f"{cell:>18}" for cell in cells) + f"{ratio:>16}", flush=True)


Case = tuple[tuple[str, str], shapes.Shape, shapes.Shape]


def _boxes() -> Case:
    return ("box", "box"), shapes.Box((1.0, 0.8, 0.6)), shapes.Box((0.7, 0.9, 0.5))


def _hulls(vertices: int) -> Case:
    points = shapes_points(vertices)
    return ("hull", "hull"), shapes.ConvexHull(points), shapes.ConvexHull(0.8 * points)


def shapes_points(vertices: int) -> np.ndarray:
    """A cube, or points spread over an ellipsoid."""
    if vertices == 8:
        return 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    points = np.random.default_rng(1).standard_normal((vertices, 3))
    return 0.6 * points / np.linalg.norm(points, axis=1)[:, None] * np.array([1.0, 0.8, 0.9])


def _cylinders() -> Case:
    return ("cylinder", "cylinder"), shapes.Cylinder(0.4, 0.9), shapes.Cylinder(0.3, 0.7)


def _mesh() -> Case:
    vertices, triangles = ball_mesh(50, 100)
    return ("mesh", "hull"), shapes.Mesh(vertices, triangles), shapes.ConvexHull(shapes_points(30))


def ball_mesh(rings: int, around: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball of radius 1 m with 2 rings around triangles."""
    theta = np.pi * np.arange(1, rings + 1) / (rings + 1)
    phi = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones(around)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.vstack([ring, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    top, bottom = len(ring), len(ring) + 1
    out = []
    for j in range(around):
        after = (j + 1) % around
        out += [(top, j, after), (bottom, (rings - 1) * around + after, (rings - 1) * around + j)]
        for i in range(rings - 1):
            a, b = i * around + j, i * around + after
            out += [(a, a + around, b), (b, a + around, b + around)]
    return vertices, np.array(out, dtype=np.int32)


CASES: dict[str, Callable[[], Case]] = {
    "box – box": _boxes,
    "hull – hull, 8 vertices": lambda: _hulls(8),
    "hull – hull, 30 vertices": lambda: _hulls(30),
    "hull – hull, 200 vertices": lambda: _hulls(200),
    "cylinder – cylinder": _cylinders,
    "hull – mesh, 10,000 tri.": _mesh,
}
