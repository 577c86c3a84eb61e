"""Cubes as meshes and hulls, their faces and edges flush but for rounding: no corner of the area is missing.

Yaw, tilt, shift and gap are drawn over all orders of magnitude around the tolerances of the narrow phase. The
area expected is one square clipped by the other, here, in plain arithmetic.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import nonsmooth as ns
from nonsmooth.collision.detector import Detector
from nonsmooth.model.quaternions import matrix
from nonsmooth.model.shapes import ConvexHull, Mesh, Shape

Floats = NDArray[np.float64]
SIZE = 1.0
CORNERS = 0.5 * SIZE * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
FACE = 0.5 * SIZE * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
POSES = 1500
NEAR = 1e-5 * SIZE  # the area that the points span
CLOSE = 2e-9 * SIZE  # their gaps


def cube(kind: str) -> Shape:
    hull = ConvexHull(CORNERS)
    return hull if kind == "hull" else Mesh(hull.vertices, hull.triangles)


def about(axis: Floats, angle: float) -> Floats:
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis / np.linalg.norm(axis)])


def times(p: Floats, q: Floats) -> Floats:
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], vector])


def magnitude(rng: np.random.Generator, low: float, high: float) -> float:
    """Of either sign, its logarithm uniform between the two powers of ten."""
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(low, high))


def poses(seed: int) -> list[tuple[Floats, Floats]]:
    """Positions (2, 3) and orientations (2, 4): the second cube stands on the first, somewhere in space."""
    rng, found = np.random.default_rng(seed), []
    for index in range(POSES):
        heading = rng.uniform(0.0, 2.0 * np.pi)
        tilt = about(
            np.array([np.cos(heading), np.sin(heading), 0.0]),
            magnitude(rng, *((-10, -8), (-12, -6))[index % 2]),
        )
        yaw = about(np.array([0.0, 0.0, 1.0]), magnitude(rng, -15, -6) + 0.5 * np.pi * rng.integers(4))
        shift = [0.0, magnitude(rng, -15, -6), rng.uniform(-0.5, 0.5)]
        along = SIZE * np.array([shift[rng.choice(3, p=(0.6, 0.3, 0.1))] for _ in range(2)])
        turn = times(tilt, yaw)
        gap = SIZE * magnitude(rng, -13, -6)
        height = SIZE / 2 + gap - (CORNERS @ matrix(turn).T)[:, 2].min()
        first, position = np.array([1.0, 0.0, 0.0, 0.0]), np.array([*along, height])
        origin = np.zeros(3)
        if index % 4 >= 2:
            first, origin = rng.normal(size=4), rng.normal(size=3)
            first /= np.linalg.norm(first)
        quaternion = np.array([first, times(first, turn)])
        found.append((np.array([origin, origin + matrix(first) @ position]), quaternion))
    return found


def shared_area(centre: Floats, turn: Floats) -> tuple[Floats, Floats]:
    """Corners (k, 2) of the faces' common area in the frame of the first cube, and the plane of the second's
    face: its height there is plane @ (1, x, y)."""
    down = int(np.argmax(np.abs(turn[2])))
    normal = turn[:, down] * np.sign(turn[2, down])
    middle = centre - 0.5 * SIZE * normal
    u, v = (turn[:, k] for k in range(3) if k != down)
    area = [middle[:2] + a * u[:2] + b * v[:2] for a, b in FACE]
    for axis, side in itertools.product(range(2), (-1.0, 1.0)):
        room = [0.5 * SIZE - side * point[axis] for point in area]
        clipped = []
        for i, point in enumerate(area):
            if room[i - 1] * room[i] < 0.0:
                part = room[i - 1] / (room[i - 1] - room[i])
                clipped.append(area[i - 1] + part * (point - area[i - 1]))
            if room[i] >= 0.0:
                clipped.append(point)
        area = clipped
    slope = -normal[:2] / normal[2]
    return np.array(area), np.array([middle[2] - slope @ middle[:2], *slope])


def beyond(points: Floats, hull: Floats) -> float:
    """Greatest distance (m) in the plane of any of `points` from the convex hull of others."""
    worst = 0.0
    along = [q - p for p, q in itertools.permutations(hull, 2)]
    for point in points:
        ways = [*(point - hull), *(np.array([y, -x]) for x, y in along)]
        lengths = np.linalg.norm(ways, axis=1)
        ways = np.array(ways)[lengths > 1e-9 * SIZE] / lengths[lengths > 1e-9 * SIZE, None]
        worst = max(worst, (ways @ point - (ways @ hull.T).max(axis=1)).max())
    return worst


def fault(detector: Detector, position: Floats, quaternion: Floats) -> str | None:
    """What is wrong with the contacts of a pose, if anything."""
    one = matrix(quaternion[0])
    corners, plane = shared_area(one.T @ (position[1] - position[0]), one.T @ matrix(quaternion[1]))
    contacts = detector.detect(position, quaternion)
    points = (contacts.point - position[0]) @ one
    if not 0 < len(contacts) <= 16:
        return f"{len(contacts)} points"
    if (contacts.normal @ one[:, 2]).min() < 1.0 - 1e-11:
        return "a normal that is not that of a face"
    if beyond(corners, points[:, :2]) > NEAR:
        return f"a corner is missing: {len(contacts)} points"
    if beyond(points[:, :2], corners) > NEAR:
        return "a point beside the area"
    gaps = plane[0] + points[:, :2] @ plane[1:] - 0.5 * SIZE
    if np.abs(contacts.gap - gaps).max() > CLOSE:
        return f"a gap wrong by {np.abs(contacts.gap - gaps).max():.1e} m"
    return None


@pytest.mark.parametrize("pair", [*itertools.product(("mesh", "hull"), repeat=2)], ids=" on ".join)
def test_contacts_of_flush_cubes_span_the_shared_area(pair: tuple[str, str]) -> None:
    system = ns.System()
    for kind in pair[::-1]:
        system.add_body(cube(kind), mass=1.0)
    detector = Detector(system, margin=1e-3 * SIZE)
    faults = [fault(detector, *pose) for pose in poses(seed=18)]
    wrong = [f"pose {at}: {what}" for at, what in enumerate(faults) if what]
    assert not wrong, f"{len(wrong)} of {POSES}:\n" + "\n".join(wrong)
