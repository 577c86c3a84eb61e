"""Seams between flush boxes: nothing brakes what slides over them, and nothing sinks into them.

A contact with the second of two boxes is withheld if the body cannot meet it, because it is held above the
plane of both. Where it is not held, a body that rocks onto the second box would find nothing there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import nonsmooth as ns
from helpers.corners import Floats
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import HalfSpace
from nonsmooth.model.system import System

ALONG = quaternions.from_axis_angle((0.0, 1.0, 0.0), 0.5 * math.pi)
"""Takes the axis of a cylinder, z, to x."""


def gem(rng: np.random.Generator) -> Floats:
    """Corners of a hull with a flat polygon at the bottom, and random ones above it."""
    angle = 2.0 * np.pi * (np.arange(7) + rng.uniform(0.0, 0.6, 7)) / 7
    ring = 0.06 * np.column_stack([np.cos(angle), np.sin(angle)])
    above = np.column_stack([1.2 * ring, rng.uniform(0.0, 0.04, 7)])
    return np.vstack([np.column_stack([ring, np.full(7, -0.04)]), above])


Adder = Callable[[System, np.random.Generator, float, dict], int]
SLIDERS: dict[str, Adder] = {
    "box": lambda system, rng, r, o: system.add_box((0.16, 0.1, 0.08), **o),
    "rounded box": lambda system, rng, r, o: system.add_box((0.16, 0.1, 0.08), rounding=r, **o),
    "rounded hull": lambda system, rng, r, o: system.add_hull(gem(rng), rounding=r, **o),
    "capsule": lambda system, rng, r, o: system.add_capsule(r, 0.12, **o),
    "cylinder": lambda system, rng, r, o: system.add_cylinder(0.06, 0.08, **o),
    "rounded cylinder": lambda system, rng, r, o: system.add_cylinder(0.06, 0.08, rounding=r, **o),
    "lying cylinder": lambda system, rng, r, o: system.add_cylinder(r, 0.12, **o),
    "rounded lying cylinder": lambda system, rng, r, o: system.add_cylinder(0.04, 0.12, rounding=r, **o),
    "rounded cone": lambda system, rng, r, o: system.add_cone(0.06, 0.08, rounding=r, **o),
    "rounded ellipsoid": lambda system, rng, r, o: system.add_ellipsoid((0.08, 0.05, 0.04), rounding=r, **o),
}
"""Shapes with a size or rounding r in m."""


def add_slider(system: System, kind: str, rng: np.random.Generator, turn: Floats, **state: object) -> int:
    """Add a body of the kind that touches the plane z = 0 from above."""
    if "lying" in kind or kind == "capsule":
        turn = quaternions.product(turn, ALONG)
    options = {"mass": 1.0, "material": "ice", "orientation": turn, "name": "slider", **state}
    body = SLIDERS[kind](system, rng, 10.0 ** rng.uniform(-2.5, -1.5), options)
    system.position[body, 2] -= system.distance("slider", HalfSpace()).gap
    return body


def add_tiles(system: System, rng: np.random.Generator) -> None:
    """A floor z = 0 of flush boxes of random sizes and heights, 2.4 m in both directions."""
    x, y = (np.concatenate([[-1.2], np.sort(rng.uniform(-1.0, 1.0, 8)), [1.2]]) for _ in range(2))
    for i in range(9):
        for j in range(9):
            size = x[i + 1] - x[i], y[j + 1] - y[j], rng.uniform(0.05, 0.5)
            middle = 0.5 * (x[i] + x[i + 1]), 0.5 * (y[j] + y[j + 1]), -0.5 * size[2]
            system.add_box(size, position=middle, material="ice", fixed=True)


@pytest.mark.parametrize("step", [0.001, 0.004, 0.01])
@pytest.mark.parametrize("kind", SLIDERS)
def test_seams_take_no_speed_of_any_shape(kind: str, step: float) -> None:
    """Random speed, heading, turn, rounding, and sizes and heights of the boxes."""
    for seed in range(4):
        rng = np.random.default_rng(100 * seed + list(SLIDERS).index(kind))
        system = System()
        system.add_material("ice", friction=0.0)
        add_tiles(system, rng)
        heading, speed = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.5, 4.0)
        way = np.array([np.cos(heading), np.sin(heading), 0.0])
        turn = quaternions.from_axis_angle((0.0, 0.0, 1.0), rng.uniform(0.0, 2.0 * np.pi))
        body = add_slider(system, kind, rng, turn, position=-0.8 * way, velocity=speed * way)
        height = system.position[body, 2]
        run = ns.simulate(system, duration=1.6 / speed, step=step, tolerance=1e-10, contact_check="all")
        assert run.certificate.failed == 0
        assert run.certificate.wrong_contact_steps == 0
        kept = run.system.linear_velocity[body] @ way / speed
        assert 0.9999 <= kept <= 1.0 + 1e-9, f"{kept:.6f} (seed {seed})"
        assert run.system.position[body, 2] == pytest.approx(height, abs=1e-5)


@pytest.mark.parametrize("step", [0.001, 0.01])
@pytest.mark.parametrize("kind", SLIDERS)
def test_a_body_that_rocks_onto_the_second_box_does_not_sink_into_it(kind: str, step: float) -> None:
    for seed, slope in enumerate((1e-4, 1e-3, 1e-2)):
        depths = []
        for seams in ((-2.0, 0.0, 2.0), (-2.0, 2.0)):
            rng = np.random.default_rng(seed)
            system = System()
            system.add_material("ice", friction=0.0)
            for low, high in itertools.pairwise(seams):
                middle = 0.5 * (low + high), 0.0, -0.05
                system.add_box((high - low, 1.0, 0.1), position=middle, material="ice", fixed=True)
            axis = (0.1 * rng.normal(), -1.0, 0.0)
            turn = quaternions.from_axis_angle(axis / np.linalg.norm(axis), slope)
            # its low end is on the first box, and its middle over the second
            add_slider(system, kind, rng, turn, position=(0.02, 0.0, 0.0))
            run = ns.simulate(system, duration=0.1, step=step, tolerance=1e-10, contact_check="all")
            assert run.certificate.failed == 0
            depths.append(run.certificate.largest_penetration)
        assert depths[0] <= 1.5 * depths[1] + 1e-6
