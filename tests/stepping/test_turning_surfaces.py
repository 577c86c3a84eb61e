"""Fixed bodies that turn are moving surfaces: a turntable, a plane that tilts, a plane that sweeps.

    side                     from above
      ___  block               Ω ↺
_____|___|_____               .  o→ ball
======point=====           .         .
      ↑ ω                     .   .
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.model import shapes

G = 9.81


def scene(surface: str, friction: float, spin: tuple[float, float, float], **options: Any) -> ns.System:
    """A horizontal surface through the origin that turns about it."""
    system = ns.System(**options)
    system.add_material("m", friction=friction)
    if surface == "half-space":
        system.add_plane(material="m", name="table", angular_velocity=spin)
    elif surface == "compound":  # of a half-space and a knob below it
        pieces = [
            (shapes.HalfSpace(), (0, 0, 0), (1, 0, 0, 0)),
            (shapes.Sphere(0.1), (1, 0, -0.5), (1, 0, 0, 0)),
        ]
        whole = shapes.Compound(tuple(pieces))
        system.add_body(whole, fixed=True, angular_velocity=spin, material="m", name="table")
    else:
        system.add_box(
            (6, 6, 1), fixed=True, position=(0, 0, -0.5), angular_velocity=spin, material="m", name="table"
        )
    return system


def add_block(system: ns.System, radius: float, spin: tuple[float, float, float]) -> None:
    """A block at (radius, 0) that moves with the table."""
    place = np.array([radius, 0.0, 0.005])
    system.add_box(
        (0.02, 0.02, 0.01), mass=1.0, position=place, angular_velocity=spin, material="m", name="block",
        velocity=np.cross(spin, place - system.position_of("table")),
    )  # fmt: skip


@pytest.mark.parametrize("surface", ["half-space", "compound", "box"])
def test_ball_on_a_turntable_rolls_on_a_circle(surface: str) -> None:
    """A solid sphere that rolls on a turntable: v̇ = 2/7 Ω × v, a circle, wherever it starts."""
    rate, radius, start, speed = 2.0, 0.1, np.array([0.3, 0.0, 0.1]), np.array([0.0, 0.3, 0.0])
    slip = np.cross((0, 0, rate), start) - speed  # = ω × (0, 0, −r)
    errors = []
    for step in (0.02, 0.01):
        system = scene(surface, 1.0, (0, 0, rate))
        spin = (slip[1] / radius, -slip[0] / radius, 0.0)
        system.add_sphere(
            radius, mass=1.0, position=start, velocity=speed, angular_velocity=spin, material="m", name="ball"
        )
        place = ns.Sensor(lambda frame: frame.position_of("ball"))
        turn = 2.0 / 7.0 * rate
        run = ns.simulate(system, duration=2.0 * math.pi / turn, step=step, tolerance=1e-10, observe=place)
        assert run.certificate.failed == 0
        assert run.certificate.worst <= 1e-10
        centre = start[:2] + np.array([-speed[1], speed[0]]) / turn
        x, y = start[:2] - centre
        c, s = np.cos(turn * place.times), np.sin(turn * place.times)
        circle = centre + np.stack([c * x - s * y, s * x + c * y], axis=1)
        errors.append(np.abs(place.values[:, :2] - circle).max())
    size = 0.3 / turn
    assert errors[1] < 0.02 * size
    assert errors[1] < 0.6 * errors[0]  # of first order


@pytest.mark.parametrize("surface", ["half-space", "box"])
@pytest.mark.parametrize("part", [0.97, 1.03])
def test_block_sticks_on_a_turntable_until_the_friction_is_used_up(surface: str, part: float) -> None:
    """It sticks where Ω² r < μ g, and leaves where that is more."""
    friction, rate = 0.5, 4.0
    radius = part * friction * G / rate**2
    system = scene(surface, friction, (0, 0, rate))
    add_block(system, radius, (0, 0, rate))
    force = ns.Sensor(lambda frame: frame.force_on("block", by="table"))
    turn = 2.0 * math.pi / rate
    run = ns.simulate(system, duration=turn, step=0.0005, tolerance=1e-9, observe=force)
    drag = np.linalg.norm(force.values[1:, :2], axis=1)  # in the first step it moves with the table already
    gone = np.linalg.norm(run.system.position_of("block")[:2]) - radius
    assert run.certificate.failed == 0
    if part < 1.0:
        assert abs(gone) < 0.01 * radius
        np.testing.assert_allclose(drag, rate**2 * radius, rtol=0.01)
    else:
        assert gone > 0.1 * radius
        np.testing.assert_allclose(drag, friction * G, rtol=1e-6)


@pytest.mark.parametrize("surface", ["half-space", "compound", "box"])
def test_block_on_a_surface_that_tilts_slips_at_the_angle_of_friction(surface: str) -> None:
    """tan θ = μ, up to the way ½ g ω t² / cos θ that tells that it slips."""
    friction, rate = 0.4, 0.2
    system = scene(surface, friction, (0, rate, 0))
    add_block(system, 0.0, (0, rate, 0))
    slips = ns.Sensor(lambda frame: np.abs(frame.solution.contact_velocities.reshape(-1, 3)[:, 1:]).max())
    run = ns.simulate(
        system, duration=math.atan(friction) / rate + 0.2, step=0.002, tolerance=1e-9, observe=slips
    )
    assert run.certificate.failed == 0
    assert run.certificate.late_contacts == 0
    begun = slips.times[np.argmax(slips.values > 1e-4)]
    assert math.tan(rate * begun) == pytest.approx(friction, abs=5e-3)
    assert slips.values[-1] > 0.01
    half = 0.5 * rate * run.time
    np.testing.assert_allclose(
        run.system.quaternion_of("table"), (math.cos(half), 0, math.sin(half), 0), atol=1e-12
    )


@pytest.mark.parametrize("surface", ["half-space", "compound"])
def test_plane_that_sweeps_finds_what_is_far_from_its_point(surface: str) -> None:
    """At 5 m it moves by 0.1 m in a step, twice the ball's radius, and takes the ball along its normal."""
    rate, far = 2.0, 5.0
    system = scene(surface, 0.0, (0, -rate, 0), gravity=(0, 0, 0))
    system.add_sphere(0.05, mass=1.0, position=(far, 0, 0.35), material="m", name="ball")
    run = ns.simulate(system, duration=0.1, step=0.01, tolerance=1e-9)
    assert run.certificate.failed == 0
    assert run.certificate.late_contacts == 0
    assert run.certificate.largest_penetration < 1e-3
    normal = np.array([-math.sin(rate * run.time), 0.0, math.cos(rate * run.time)])
    arm = run.system.position_of("ball") - 0.05 * normal
    assert run.system.linear_velocity_of("ball") @ normal == pytest.approx(
        np.cross((0, -rate, 0), arm) @ normal, rel=0.03
    )


def test_turntable_in_a_scene_file(tmp_path: Path) -> None:
    file = tmp_path / "turntable.toml"
    file.write_text(
        """
[[bodies]]
name = "table"
shape = "plane"
angular_velocity = [0.0, 0.0, 2.0]

[[bodies]]
shape = "sphere"
radius = 0.1
mass = 1.0
position = [1.0, 0.0, 0.1]
"""
    )
    system = ns.io.read_scene(file).system
    np.testing.assert_array_equal(system.angular_velocity_of("table"), (0.0, 0.0, 2.0))
    assert ns.simulate(system, duration=0.1, step=0.01).certificate.failed == 0


def test_turntable_moves_a_free_body_of_an_event_run_as_well() -> None:
    """A block of one corner ball, dropped on a spinning plane, takes its speed; by events and by steps."""
    system = scene("half-space", 10.0, (0, 0, 1.0))
    system.add_sphere(0.1, mass=1.0, position=(1.0, 0, 0.1), material="m", name="ball")
    from nonsmooth.events import generalised

    free = generalised(system)
    run = ns.simulate_events(free.system, free.q, free.u, duration=0.5)
    stepped = ns.simulate(system, duration=0.5, step=0.001, tolerance=1e-9).system
    np.testing.assert_allclose(
        free.linear_velocity("ball", run.final.u), stepped.linear_velocity_of("ball"), atol=2e-3
    )
