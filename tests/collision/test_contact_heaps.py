"""The check passes what the narrow phase finds in heaps and sweeps, and sees what is planted there."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.collision import Detector
from nonsmooth.collision.certificate import ContactCertificate, ContactChecker
from nonsmooth.collision.contacts import Contacts
from nonsmooth.model.shapes import ConvexHull
from nonsmooth.model.system import System


def add(system: System, kind: str, random: np.random.Generator, **options: Any) -> None:
    if kind == "box":
        system.add_box((0.3, 0.2, 0.16), **options)
    elif kind == "hull":
        points = random.normal(size=(14, 3))
        system.add_hull(points / np.linalg.norm(points, axis=1)[:, None] * [0.16, 0.14, 0.12], **options)
    elif kind == "cylinder":
        system.add_cylinder(0.1, 0.26, **options)
    elif kind == "cone":
        system.add_cone(0.13, 0.26, **options)
    elif kind == "capsule":
        system.add_capsule(0.08, 0.2, **options)
    else:
        system.add_ellipsoid((0.16, 0.12, 0.09), **options)


KINDS = ("box", "hull", "cylinder", "cone", "capsule", "ellipsoid")


def heap(kinds: tuple[str, ...], floor: str, count: int, seed: int) -> System:
    """Bodies that fall into a narrow container, turned at random."""
    random = np.random.default_rng(seed)
    system = System()
    if floor == "plane":
        system.add_plane()
    elif floor == "box":
        system.add_box((4.0, 4.0, 0.2), fixed=True, position=(0.0, 0.0, -0.1))
    else:
        system.add_height_field(0.15 * random.uniform(size=(25, 25)), (0.2, 0.2), position=(0.0, 0.0, -0.15))
    for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        system.add_plane(normal=normal, point=tuple(-0.35 * part for part in normal))
    for k in range(count):
        place = np.array([(k % 2 - 0.5) * 0.36, (k // 2 % 2 - 0.5) * 0.36, 0.25 + 0.36 * (k // 4)])
        add(
            system, kinds[k % len(kinds)], random, density=1000.0,
            position=place + random.uniform(-0.02, 0.02, 3), orientation=random.normal(size=4),
        )  # fmt: skip
    return system


@pytest.mark.parametrize("floor", ["plane", "box", "field"])
@pytest.mark.parametrize("kinds", [*[(kind,) for kind in KINDS], KINDS], ids=[*KINDS, "mixed"])
def test_contacts_of_heaps_pass(kinds: tuple[str, ...], floor: str) -> None:
    for seed in range(2):
        run = ns.simulate(heap(kinds, floor, 12, seed), duration=0.4, step=0.005, contact_check="all")
        assert run.certificate.contacts_checked == run.certificate.contacts > 100
        assert run.certificate.wrong_contact_steps == 0


def fast_over_a_surface(kind: str, surface: str) -> tuple[System, np.ndarray]:
    """A body that is farther from a surface than the margin and meets it within the step.

    It moves by less than half of its inner radius: the ways of faster ones are followed after the step.
    """
    random, system = np.random.default_rng(5), System()
    grid = np.linspace(-1.0, 1.0, 9)
    heights = 0.1 * random.uniform(size=(9, 9))
    if surface == "field":
        system.add_height_field(heights, (0.25, 0.25))
    else:
        x, y = np.meshgrid(grid, grid, indexing="ij")
        corner = np.arange(64).reshape(8, 8) + np.arange(8)[:, None]
        a, b, c, d = corner, corner + 9, corner + 10, corner + 1
        triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        system.add_mesh(np.stack([x, y, heights], axis=-1).reshape(-1, 3), triangles, fixed=True)
    add(system, kind, random, density=1000.0, position=(0.05, 0.1, 0.6), orientation=random.normal(size=4))
    for _ in range(30):
        system.position[1, 2] -= system.distance(0, 1).gap - 0.012
    return system, np.array([[0.0, 0.0, 0.0], [0.003, -0.002, -0.02]])


@pytest.mark.parametrize("surface", ["field", "mesh"])
@pytest.mark.parametrize("kind", KINDS)
def test_contacts_of_a_sweep_over_a_surface_are_checked_where_they_meet(kind: str, surface: str) -> None:
    system, displacement = fast_over_a_surface(kind, surface)
    detector, checker = Detector(system, 1e-3), ContactChecker(system, "all")
    contacts = detector.detect(system.position, system.quaternion, displacement, np.zeros(2))
    assert len(detector.withheld) == len(contacts) > 0
    assert 0.1 < detector.withheld.part[0] < 1.0

    def check(rows: Contacts) -> ContactCertificate:
        return checker.check(
            rows, system.position, system.quaternion,
            margin=1e-3, withheld=detector.withheld, displacement=displacement,
        )  # fmt: skip

    good = check(contacts)
    assert good.holds, good.worst
    assert good.checked == len(contacts)
    assert good.withheld == {"swept": len(contacts)}
    deepest = int(np.argmin(contacts.gap))
    for column, change in (("gap", 1e-6), ("normal", [1e-3, 0.0, 0.0]), ("point", [1e-4, 1e-4, 1e-4])):
        wrong = contacts.take(np.arange(len(contacts)))
        getattr(wrong, column)[deepest] += change
        assert not check(wrong).holds, column


@pytest.mark.parametrize("kind", ["box", "hull", "mesh"])
@pytest.mark.parametrize("thickness", [0.001, 0.03])
def test_a_plate_thinner_than_the_margin_rests_on_its_lower_corners(kind: str, thickness: float) -> None:
    system, size = System(), (1.0, 0.8, thickness)
    system.add_plane()
    options: dict[str, Any] = {"density": 1000.0, "position": (0.0, 0.0, 0.5 * thickness + 1e-5)}
    hull = ConvexHull(0.5 * np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * size)
    if kind == "box":
        system.add_box(size, **options)
    elif kind == "hull":
        system.add_hull(hull.vertices, **options)
    else:
        system.add_mesh(hull.vertices, hull.triangles, **options)
    run = ns.simulate(system, duration=0.1, step=0.005, contact_check="all")
    assert run.certificate.failed == 0
    assert run.certificate.contacts == 4 * 20
    assert system.position[1, 2] == pytest.approx(0.5 * thickness + 1e-5)  # the run has a copy of its own
    assert run.system.position[1, 2] == pytest.approx(0.5 * thickness, abs=1e-7)
