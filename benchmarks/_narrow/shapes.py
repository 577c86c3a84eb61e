"""The nine shapes of the test, three sizes of each, and points of their surfaces by kind of feature."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from _narrow.solids import Core, core_of
from nonsmooth.model import shapes

VARIANTS = 3
ROOF, SLOPE = 3.0, 0.15  # half the width in m and the slope of the height field
NAMES = ("sphere", "half-space", "box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "mesh")
FEATURES = {
    "sphere": ("smooth",),
    "half-space": ("face",),
    "box": ("face", "edge", "vertex"),
    "capsule": ("side", "smooth"),
    "cylinder": ("face", "rim", "side"),
    "cone": ("face", "rim", "side", "vertex"),
    "ellipsoid": ("smooth",),
    "hull": ("face", "edge", "vertex"),
    "mesh": ("face", "edge", "vertex"),
    "height field": ("face", "edge"),
    "rounded box": ("face", "edge", "vertex"),
    "rounded cylinder": ("face", "rim", "side"),
    "rounded cone": ("face", "rim", "side", "vertex"),
    "rounded hull": ("face", "edge", "vertex"),
}


class Spot(NamedTuple):
    """A point of a surface in the shape's frame, an outward normal, and a direction along the feature."""

    point: np.ndarray
    normal: np.ndarray
    along: np.ndarray


def pairs() -> list[tuple[str, str]]:
    """The 45 pairs; two half-spaces never touch: a box on a height field takes their place."""
    both = list(itertools.combinations_with_replacement(NAMES, 2))
    return [("box", "height field") if pair == ("half-space", "half-space") else pair for pair in both]


def rounded_pairs() -> list[tuple[str, str]]:
    """Pairs of shapes with a rounding among each other and with sharp ones."""
    names = ("rounded box", "rounded cylinder", "rounded hull", "rounded cone")
    both = list(itertools.combinations_with_replacement(names, 2))
    sharp = [("half-space", names[3]), ("cone", names[3]), ("mesh", names[3])]
    return [*both, ("box", names[0]), ("half-space", names[1]), ("ellipsoid", names[2]), *sharp]


def make(name: str, variant: int) -> shapes.Shape | None:
    """A shape of about 1 m; None if this version of the package does not have it."""
    rng = np.random.default_rng([variant, 77])
    if name == "sphere":
        return shapes.Sphere((0.31, 0.05, 1.3)[variant])
    if name == "half-space":
        return shapes.HalfSpace()
    if name == "box":
        return shapes.Box(((0.6, 0.8, 1.0), (1.0, 1.0, 1.0), (1.7, 0.9, 0.11))[variant])
    if name == "capsule":
        return shapes.Capsule(*((0.23, 0.7), (0.4, 0.3), (0.06, 1.4))[variant])
    if name == "cylinder":
        return shapes.Cylinder(*((0.37, 0.9), (0.8, 0.15), (0.12, 1.3))[variant])
    if name == "cone":
        return (
            shapes.Cone(*((0.4, 0.9), (0.8, 0.35), (0.3, 0.3))[variant]) if hasattr(shapes, "Cone") else None
        )
    if name == "ellipsoid":
        return shapes.Ellipsoid(((0.3, 0.45, 0.6), (0.5, 0.5, 0.2), (0.9, 0.25, 0.15))[variant])
    if name == "hull":
        return shapes.ConvexHull((_prism(6, 0.5, 0.7), _cube(0.45), _ball_points(16, rng))[variant])
    if name == "mesh":
        return shapes.Mesh(*(_cube_mesh(0.5), _icosphere(0.6), _prism_mesh(5, 0.6, 0.5))[variant])
    if name.startswith("rounded"):
        return _rounded(name, variant)
    return _height_field()


def _rounded(name: str, variant: int) -> shapes.Shape | None:
    """A shape swept by a ball of 0.01 to 0.1 m."""
    radius = (0.05, 0.1, 0.01)[variant]
    try:
        if name == "rounded box":
            return shapes.Box((0.6, 0.8, 1.0), rounding=radius)
        if name == "rounded cylinder":
            return shapes.Cylinder(0.37, 0.9, rounding=radius)
        if name == "rounded cone":
            return shapes.Cone(0.4, 0.9, rounding=radius)
        return shapes.ConvexHull(_prism(6, 0.5, 0.7), rounding=radius)
    except TypeError:
        return None


def _height_field() -> shapes.Shape | None:
    """A roof of 24 by 24 cells: the ridge z = 0 along y, and two flat slopes."""
    if not hasattr(shapes, "HeightField"):
        return None
    x = np.linspace(-ROOF, ROOF, 25)
    heights = np.repeat(-SLOPE * np.abs(x)[:, None], 25, axis=1)
    return shapes.HeightField(heights, (ROOF / 12, ROOF / 12))


def roof() -> Core:
    """The solid below the height field, convex, as far down as no shape reaches."""
    corners = [(0.0, y, 0.0) for y in (-ROOF, ROOF)]
    corners += [(x, y, z) for x in (-ROOF, ROOF) for y in (-ROOF, ROOF) for z in (-SLOPE * ROOF, -10.0)]
    core = core_of(shapes.ConvexHull(corners))
    core.size = 1.0
    return core


def _roof_spot(feature: str, rng: np.random.Generator) -> Spot:
    """A point of a slope or of the ridge, far from the border."""
    side = rng.choice((-1.0, 1.0))
    slopes = np.array([[-SLOPE, 0.0, 1.0], [SLOPE, 0.0, 1.0]]) / math.hypot(1.0, SLOPE)
    along = np.array([0.0, 1.0, 0.0])
    if feature == "edge":
        share = rng.uniform(0.15, 0.85)
        normal = share * slopes[0] + (1.0 - share) * slopes[1]
        return Spot(np.array([0.0, rng.uniform(-1.0, 1.0), 0.0]), normal / np.linalg.norm(normal), along)
    x = side * rng.uniform(0.1, 1.2)
    return Spot(np.array([x, rng.uniform(-1.0, 1.0), -SLOPE * abs(x)]), slopes[int(side > 0.0)], along)


def spot(name: str, core: Core, feature: str, rng: np.random.Generator) -> Spot:
    """A point of a feature, well inside it."""
    turn = rng.uniform(0.0, 2.0 * math.pi)
    around = np.array([math.cos(turn), math.sin(turn), 0.0])
    beside = np.array([-math.sin(turn), math.cos(turn), 0.0])
    if name == "height field":
        return _roof_spot(feature, rng)
    if name == "half-space":
        return Spot(np.zeros(3), np.array([0.0, 0.0, 1.0]), around)
    if name == "sphere" or (name == "ellipsoid" and feature == "smooth"):
        normal = _direction(rng)
        point = core.radius * normal
        if core.axes is not None:
            scaled = core.axes * normal
            point = core.axes * scaled / np.linalg.norm(scaled)
        return Spot(point, normal, _across(normal))
    if name == "capsule":
        half = abs(core.vertices[0, 2])
        if feature == "side":
            return Spot(
                core.radius * around + np.array([0.0, 0.0, rng.uniform(-0.7, 0.7) * half]), around, _Z
            )
        normal = _direction(rng)
        normal[2] = abs(normal[2]) + 0.1
        normal /= np.linalg.norm(normal)
        return Spot(core.radius * normal + np.array([0.0, 0.0, half]), normal, _across(normal))
    if core.side is not None:
        found = _round_spot(core, feature, rng, around, beside)
    else:
        found = _polytope_spot(core, feature, rng)
    return found._replace(point=found.point + core.radius * found.normal)


_Z = np.array([0.0, 0.0, 1.0])


def _round_spot(
    core: Core, feature: str, rng: np.random.Generator, around: np.ndarray, beside: np.ndarray
) -> Spot:
    low, high, half = core.side
    slope = np.array([2.0 * half, low - high]) / math.hypot(2.0 * half, low - high)
    side = slope[0] * around + slope[1] * _Z
    top = high > 0.0 and rng.random() < 0.5
    cap, radius, level = (_Z, high, half) if top else (-_Z, low, -half)
    if feature == "face":
        return Spot(rng.uniform(0.0, 0.7) * radius * around + level * _Z, cap, beside)
    if feature == "rim":
        share = rng.uniform(0.15, 0.85)
        normal = share * cap + (1.0 - share) * side
        return Spot(radius * around + level * _Z, normal / np.linalg.norm(normal), beside)
    if feature == "vertex":
        lean = rng.uniform(0.0, 0.8) * slope[0]
        return Spot(half * _Z, lean * around + math.sqrt(1.0 - lean * lean) * _Z, around)
    share = rng.uniform(0.2, 0.8)
    generator = (high - low) * around + 2.0 * half * _Z
    point = low * around - half * _Z + share * generator
    return Spot(point, side, generator / np.linalg.norm(generator))


def _polytope_spot(core: Core, feature: str, rng: np.random.Generator) -> Spot:
    if feature == "face":
        face = core.faces[rng.integers(len(core.faces))]
        weights = rng.dirichlet(np.full(len(face.corners), 2.0))
        weights = 0.3 / len(weights) + 0.7 * weights
        along = face.corners[1] - face.corners[0]
        return Spot(weights @ face.corners, face.normal, along / np.linalg.norm(along))
    if feature == "edge":
        ends = core.edges[rng.integers(len(core.edges))]
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        point = ends[0] + rng.uniform(0.2, 0.8) * (ends[1] - ends[0])
        near = _faces_at(core, 0.5 * (ends[0] + ends[1]))
        share = rng.uniform(0.15, 0.85)
        normal = share * near[0] + (1.0 - share) * near[1]
        return Spot(point, normal / np.linalg.norm(normal), along)
    vertex = core.vertices[rng.integers(len(core.vertices))]
    near = np.array(_faces_at(core, vertex))
    normal = (0.2 / len(near) + 0.8 * rng.dirichlet(np.full(len(near), 3.0))) @ near
    normal /= np.linalg.norm(normal)
    return Spot(vertex, normal, _across(normal))


def _faces_at(core: Core, point: np.ndarray) -> list[np.ndarray]:
    return [f.normal for f in core.faces if abs(f.normal @ (point - f.corners[0])) < 1e-7 * core.size]


def _direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.standard_normal(3)
    return vector / np.linalg.norm(vector)


def _across(normal: np.ndarray) -> np.ndarray:
    helper = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.6 else np.array([0.0, 1.0, 0.0])
    vector = np.cross(normal, helper)
    return vector / np.linalg.norm(vector)


# ---- points and triangles -----------------------------------------------------------------------


def _cube(half: float) -> np.ndarray:
    return half * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def _prism(sides: int, radius: float, height: float) -> np.ndarray:
    angles = 2.0 * math.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (-0.5 * height, 0.5 * height)])


def _ball_points(count: int, rng: np.random.Generator) -> np.ndarray:
    points = rng.standard_normal((count, 3))
    return 0.5 * points / np.linalg.norm(points, axis=1)[:, None] * np.array([1.0, 1.2, 0.8])


def _as_mesh(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    hull = shapes.ConvexHull(points)
    return np.array(hull.vertices), np.array(hull.triangles)


def _cube_mesh(half: float) -> tuple[np.ndarray, np.ndarray]:
    """A cube of triangles that are split once: corners, edges and faces hold vertices of the mesh."""
    return _split(*_as_mesh(_cube(half)))


def _prism_mesh(sides: int, radius: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    return _as_mesh(_prism(sides, radius, height))


def _icosphere(radius: float) -> tuple[np.ndarray, np.ndarray]:
    gold = 0.5 * (1.0 + math.sqrt(5.0))
    points = [np.roll([0.0, a, b * gold], k) for k in range(3) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    vertices, triangles = _split(*_as_mesh(np.array(points)))
    return radius * vertices / np.linalg.norm(vertices, axis=1)[:, None], triangles


def _split(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every triangle in four."""
    points = [tuple(vertex) for vertex in vertices.tolist()]
    number: dict[tuple[int, int], int] = {}

    def middle(p: int, q: int) -> int:
        key = (min(p, q), max(p, q))
        if key not in number:
            number[key] = len(points)
            points.append(tuple(0.5 * (vertices[p] + vertices[q])))
        return number[key]

    out = []
    for p, q, r in triangles.tolist():
        x, y, z = middle(p, q), middle(q, r), middle(r, p)
        out += [(p, x, z), (x, q, y), (z, y, r), (x, y, z)]
    return np.array(points), np.array(out, dtype=np.int32)
