"""Poses of two shapes that almost touch, made from features, with the truth by brute force.

A feature of one shape (face, edge, vertex, rim, straight side, smooth point) is laid on one of the other,
with opposite normals; then the second shape is turned about the normal, tilted by 0 or 1e-14 to 1e-1 rad, and
moved along the best direction until the gap is the one wanted, of either sign and 1e-12 to 1e-3 m. Half of
the turns are aligned: directions of edges and sides are parallel or square to each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from _narrow import shapes as catalogue
from _narrow.brute_force import Truth, plane_truth, truth
from _narrow.solids import Core, Placed, core_of
from nonsmooth.model import quaternions
from nonsmooth.model import shapes as model

MARGIN = 4e-3
"""Gap in m up to which engines are asked for contacts."""
PLANE_HALF = 50.0


@dataclass(frozen=True)
class Pose:
    """Two shapes in the world; positions are those of the shapes' own frames."""

    number: int
    names: tuple[str, str]
    features: tuple[str, str]
    variants: tuple[int, int]
    wanted: float
    tilt: float
    aligned: bool
    position: np.ndarray  # (2, 3) m
    quaternion: np.ndarray  # (2, 4)
    truth: Truth

    @property
    def label(self) -> str:
        """What the pose is, in one line."""
        turn = "aligned" if self.aligned else "turned"
        return (
            f"{self.names[0]} {self.variants[0]} ({self.features[0]}) – {self.names[1]} {self.variants[1]} "
            f"({self.features[1]}), pose {self.number}, gap {self.truth.gap:.3e}, "
            f"tilt {self.tilt:.1e}, {turn}"
        )


class Shapes:
    """Shapes and cores, made once."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, int], model.Shape | None] = {}
        self._cores: dict[tuple[str, int], Core] = {}

    def shape(self, name: str, variant: int) -> model.Shape | None:
        """The shape of the package, None if it has none of that name."""
        if (name, variant) not in self._shapes:
            self._shapes[name, variant] = catalogue.make(name, variant)
        return self._shapes[name, variant]

    def core(self, name: str, variant: int) -> Core:
        """The core for brute force."""
        if (name, variant) not in self._cores:
            if name == "half-space":
                core = Core(size=1.0)
            elif name == "height field":
                core = catalogue.roof()
            else:
                core = core_of(self.shape(name, variant))
            self._cores[name, variant] = core
        return self._cores[name, variant]

    def placed(self, pose: Pose, side: int) -> Placed:
        """One of the two shapes of a pose."""
        core = self.core(pose.names[side], pose.variants[side])
        return Placed(core, pose.position[side], quaternions.matrix(pose.quaternion[side]))

    def size(self, pose: Pose) -> float:
        """Larger reach of the two, in m."""
        return max(
            self.core(name, variant).size for name, variant in zip(pose.names, pose.variants, strict=True)
        )


def poses(names: tuple[str, str], count: int, every: Shapes, seed: int = 0) -> Iterator[Pose]:
    """`count` poses of a pair, others for each seed; none if the package lacks one of the shapes."""
    if any(every.shape(name, 0) is None for name in names):
        return
    rng = np.random.default_rng([ord(letter) for letter in "".join(names)] + [seed] * (seed > 0))
    combinations = list(itertools.product(*(catalogue.FEATURES[name] for name in names)))
    made = 0
    for number in itertools.count():
        if made == count:
            return
        features = combinations[number % len(combinations)]
        pose = _pose(number, names, features, every, rng)
        if pose is not None:
            made += 1
            yield pose


def _pose(
    number: int, names: tuple[str, str], features: tuple[str, str], every: Shapes, rng: np.random.Generator
) -> Pose | None:
    variants = tuple(int(v) for v in rng.integers(catalogue.VARIANTS, size=2))
    cores = [every.core(name, variant) for name, variant in zip(names, variants, strict=True)]
    p, q = (
        catalogue.spot(name, core, feature, rng)
        for name, core, feature in zip(names, cores, features, strict=True)
    )
    wanted = 10.0 ** rng.uniform(-12.0, -3.0) * rng.choice((-1.0, 1.0))
    tilt = 10.0 ** rng.uniform(-14.0, -1.0) if rng.random() < 0.85 else 0.0
    aligned = bool(rng.random() < 0.5)
    angle = 0.5 * math.pi * rng.integers(4) if aligned else rng.uniform(0.0, 2.0 * math.pi)
    turn = quaternions.normalise(rng.standard_normal(4))
    place = rng.uniform(-1.0, 1.0, 3)
    position, quaternion = laid(p, q, place, turn, angle, tilt, rng.uniform(0.0, 2.0 * math.pi))
    # Moving along the best direction may change it: the gap is hardly ever less than the one wanted.
    true = true_contact(names, cores, position, quaternion)
    position[1] += (wanted - true.gap) * true.normal
    true = true_contact(names, cores, position, quaternion)
    if not 1e-13 < abs(true.gap) < 2e-3:
        return None
    return Pose(number, names, features, variants, wanted, tilt, aligned, position, quaternion, true)


def laid(
    p: catalogue.Spot,
    q: catalogue.Spot,
    place: np.ndarray,
    turn: np.ndarray,
    angle: float,
    tilt: float = 0.0,
    towards: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (2, 3) and quaternions (2, 4) of two shapes whose spots touch with opposite normals.

    The first shape is at `place`, turned by the quaternion `turn`; the second is turned by `angle` about the
    normal, and tilted about an axis across the normal in the direction `towards`.
    """
    frame_p = np.column_stack([p.along, np.cross(p.normal, p.along), p.normal])
    frame_q = np.column_stack([q.along, np.cross(-q.normal, q.along), -q.normal])
    c, s = math.cos(angle), math.sin(angle)
    world = quaternions.matrix(turn)
    axes_q = world @ frame_p @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ frame_q.T
    hinge = world @ frame_p @ np.array([math.cos(towards), math.sin(towards), 0.0])
    lean = np.append(math.cos(0.5 * tilt), math.sin(0.5 * tilt) * hinge)
    quaternion = np.array([turn, quaternions.normalise(quaternions.product(lean, _quaternion(axes_q)))])
    touch = place + world @ p.point
    return np.array([place, touch - quaternions.matrix(quaternion[1]) @ q.point]), quaternion


def true_contact(
    names: tuple[str, str], cores: list[Core], position: np.ndarray, quaternion: np.ndarray
) -> Truth:
    """Gap and best direction of two shapes, a half-space included."""
    axes = [quaternions.matrix(row) for row in quaternion]
    placed = [Placed(core, x, turn) for core, x, turn in zip(cores, position, axes, strict=True)]
    if "half-space" not in names:
        return truth(*placed)
    plane = names.index("half-space")
    normal = axes[plane][:, 2]
    found = plane_truth(normal, float(normal @ position[plane]), placed[1 - plane])
    return found if plane == 0 else Truth(found.gap, -found.normal)


def _quaternion(axes: np.ndarray) -> np.ndarray:
    """Unit quaternion of a rotation matrix: the eigenvector of Bar-Itzhack's symmetric matrix."""
    (a, b, c), (d, e, f), (g, h, i) = axes
    k = np.array([
        [a - e - i, b + d, c + g, h - f],
        [b + d, e - a - i, f + h, c - g],
        [c + g, f + h, i - a - e, d - b],
        [h - f, c - g, d - b, a + e + i],
    ])  # fmt: skip
    x, y, z, w = np.linalg.eigh(k)[1][:, -1]
    return quaternions.normalise(np.array([w, x, y, z]))
