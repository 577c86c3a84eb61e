"""Bodies that fly past each other keep their velocity; those that meet stop."""

import itertools

import numpy as np
import pytest

import nonsmooth as ns
from helpers.corners import CUBE_TRIANGLES, box_corners
from nonsmooth.model.system import System

SPEED = 4.0


def add_cube(system: System, kind: str, size: tuple[float, float, float], **options: object) -> None:
    if kind == "box":
        system.add_box(size, **options)
    elif kind == "hull":
        system.add_hull(box_corners(size), **options)
    else:
        system.add_mesh(box_corners(size), CUBE_TRIANGLES, **options)


@pytest.mark.parametrize("step", [0.002, 0.01])
@pytest.mark.parametrize("table", ["box", "hull", "mesh"])
@pytest.mark.parametrize("flyer", ["box", "hull", "mesh", "sphere", "cylinder"])
def test_what_flies_past_an_edge_is_not_struck(flyer: str, table: str, step: float) -> None:
    # before: at 4 m/s and 1 mm above the table, 1.7 m/s were left
    for start in (-1.4, -1.388, -1.379):
        system = System(gravity=(0.0, 0.0, 0.0))
        add_cube(system, table, (2.0, 2.0, 1.0), fixed=True, position=(0.0, 0.0, -0.5))
        options = {"mass": 1.0, "position": (start, 0.0, 0.151), "velocity": (4.0, 0.0, 0.0)}
        if flyer == "sphere":
            system.add_sphere(0.15, **options)
        elif flyer == "cylinder":
            system.add_cylinder(0.15, 0.3, **options)
        else:
            add_cube(system, flyer, (0.3, 0.3, 0.3), **options)
        run = ns.simulate(system, duration=0.2, step=step, contact_check="all")
        assert run.system.linear_velocity[1] == pytest.approx([4.0, 0.0, 0.0], abs=1e-12)
        assert run.certificate.wrong_contact_steps == 0


@pytest.mark.parametrize("table", ["box", "hull", "mesh"])
@pytest.mark.parametrize("flyer", ["box", "hull", "mesh"])
def test_what_meets_the_side_below_an_edge_stops(flyer: str, table: str) -> None:
    system = System(gravity=(0.0, 0.0, 0.0))
    add_cube(system, table, (2.0, 2.0, 1.0), fixed=True, position=(0.0, 0.0, -0.5))
    options = {"mass": 1.0, "position": (-1.4, 0.0, 0.13), "velocity": (4.0, 0.0, 0.0)}
    add_cube(system, flyer, (0.3, 0.3, 0.3), inertia=(1e6, 1e6, 1e6), **options)
    run = ns.simulate(system, duration=0.2, step=0.005, contact_check="all")
    assert run.system.linear_velocity[1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    assert run.system.position[1, 0] == pytest.approx(-1.15, abs=1e-6)
    assert run.certificate.wrong_contact_steps == 0


ROCK = np.random.default_rng(3).standard_normal((20, 3))
ROCK *= 0.12 / np.linalg.norm(ROCK, axis=1)[:, None]
SHAPES = {
    "sphere": lambda system, **options: system.add_sphere(0.1, **options),
    "box": lambda system, **options: system.add_box((0.2, 0.3, 0.15), **options),
    "capsule": lambda system, **options: system.add_capsule(0.07, 0.2, **options),
    "cylinder": lambda system, **options: system.add_cylinder(0.1, 0.2, **options),
    "cone": lambda system, **options: system.add_cone(0.1, 0.25, **options),
    "ellipsoid": lambda system, **options: system.add_ellipsoid((0.1, 0.15, 0.07), **options),
    "hull": lambda system, **options: system.add_hull(ROCK, **options),
    "mesh": lambda system, **options: add_cube(system, "mesh", (0.2, 0.25, 0.3), **options),
}


def unit(rng: np.random.Generator, size: int) -> np.ndarray:
    vector = rng.standard_normal(size)
    return vector / np.linalg.norm(vector)


def least_distance(system: System, start: np.ndarray, way: np.ndarray) -> tuple[float, float]:
    """Least distance of body 1 to body 0 on the line start + t way, |t| ≤ 0.6 m, and its t: by halving the
    interval three times as often as needed, for the distance of convex bodies is a convex function."""

    def gap(t: float) -> float:
        system.position[1] = start + t * way
        return system.distance(0, 1).gap

    low, high = -0.6, 0.6
    for _ in range(45):
        one, two = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, two) if gap(one) <= gap(two) else (one, high)
    return gap(low), low


@pytest.mark.parametrize(("still", "flyer"), list(itertools.combinations_with_replacement(SHAPES, 2)))
def test_what_flies_past_closely_keeps_its_velocity(still: str, flyer: str) -> None:
    """Past each other without turning, at 1e-6 to 1e-3 m: the way that is left decides, not the gap."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        way = unit(rng, 3)
        aside = np.cross(way, unit(rng, 3))
        aside /= np.linalg.norm(aside)
        places = unit(rng, 4), unit(rng, 4)
        miss, step = 10.0 ** rng.uniform(-6.0, -3.0), 10.0 ** rng.uniform(-2.7, -1.7)
        probe = System(gravity=(0.0, 0.0, 0.0))
        SHAPES[still](probe, fixed=True, orientation=places[0])
        SHAPES[flyer](probe, mass=1.0, orientation=places[1], position=(0.0, 0.0, 3.0))
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            if least_distance(probe, middle * aside, way)[0] > miss:
                high = middle
            else:
                low = middle
        _, nearest = least_distance(probe, high * aside, way)
        begin = nearest - 0.1 - rng.random() * SPEED * step
        system = System(gravity=(0.0, 0.0, 0.0))
        SHAPES[still](system, fixed=True, orientation=places[0])
        start = high * aside + begin * way
        SHAPES[flyer](system, mass=1.0, orientation=places[1], position=start, velocity=SPEED * way)
        run = ns.simulate(system, duration=0.05 + 3.0 * step, step=step, contact_check="all")
        assert run.system.linear_velocity[1] == pytest.approx(SPEED * way, abs=1e-9), (still, flyer, seed)
        assert run.certificate.wrong_contact_steps == 0
