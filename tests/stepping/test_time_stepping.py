"""Time stepping against closed forms, conservation laws and convergence orders; bits, kills and bad input."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.errors import NonsmoothError, OptionError, ToleranceWarning, WorldError
from nonsmooth.model import quaternions
from nonsmooth.scenes import SCENES
from nonsmooth.solvers import GaussSeidel
from nonsmooth.stepping import Frame, StepOptions, TimeStepper

G = 9.81
LAWS = ("coulomb", "relaxed")
WEIGHTLESS = (0.0, 0.0, 0.0)


def on_floor(friction: float = 0.5, restitution: float = 0.0, **floor: Any) -> ns.System:
    system = ns.System(gravity=(0.0, 0.0, -G))
    system.add_material("m", friction=friction, restitution=restitution)
    system.add_plane(material="m", **floor)
    return system


def frames_of(
    system: ns.System, duration: float, step: float, **options: Any
) -> tuple[ns.System, list[Frame]]:
    seen: list[Frame] = []
    run = ns.simulate(system, duration=duration, step=step, observe=seen.append, **options)
    assert run.certificate.failed == 0
    return run.system, seen


def order(errors: Any) -> float:
    """Observed order of convergence of errors at h, h/2, h/4."""
    return math.log2(errors[0] / errors[2]) / 2.0


# ---- one body ----------------------------------------------------------------------------------------


def test_free_fall_is_first_order() -> None:
    """Half-implicit Euler: v is exact, and z lags by ½ g h T."""
    errors = []
    for step in (0.02, 0.01, 0.005):
        system = ns.System()
        system.add_sphere(0.1, mass=2.0, position=(0, 0, 5), velocity=(1, 0, 3))
        end = ns.simulate(system, duration=1.0, step=step).system
        np.testing.assert_allclose(end.linear_velocity[0], [1.0, 0.0, 3.0 - G], atol=1e-12)
        errors.append(abs(end.position[0, 2] - (5.0 + 3.0 - 0.5 * G)))
        assert errors[-1] == pytest.approx(0.5 * G * step, rel=1e-9)
    assert order(errors) == pytest.approx(1.0, abs=1e-6)


def test_ball_slides_then_rolls() -> None:
    """Melanz et al. §3.1: γ = (0.0981, −0.01962), sliding until 2v/(7μg), rolling at 5v/7 from then on."""
    system = on_floor(friction=0.2)
    ball = system.add_sphere(1.0, mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), material="m")
    speeds = []

    def look(frame: Frame) -> None:
        speeds.append((frame.linear_velocity[ball, 0], frame.angular_velocity[ball, 1]))
        np.testing.assert_allclose(frame.impulses[0, 2], 0.0981, rtol=1e-10)
        if frame.time < 0.29:
            np.testing.assert_allclose(frame.impulses[0], [-0.01962, 0.0, 0.0981], atol=1e-12)
            assert speeds[-1][0] == pytest.approx(2.0 - 0.2 * G * frame.time, rel=1e-10)

    ns.simulate(system, duration=1.0, step=0.01, observe=look, tolerance=1e-12)
    v, w = np.array(speeds).T
    rolling = np.flatnonzero(np.abs(v - w) < 1e-9)
    assert 0.01 * (rolling[0] + 1) == pytest.approx(2.0 * 2.0 / (7.0 * 0.2 * G), abs=0.011)
    np.testing.assert_allclose(v[rolling[0] :], 10.0 / 7.0, rtol=1e-9)
    launched = frames_of(system, 0.01, 0.01, law="relaxed", tolerance=1e-12)[1][0]  # with u_n = μ u_t
    np.testing.assert_allclose(launched.impulses[0, 2], 0.4981 / 1.14, rtol=1e-10)


@pytest.mark.parametrize("turn", [0.0, 0.7])
@pytest.mark.parametrize("offset", [-0.02, 0.1])
def test_block_on_incline(offset: float, turn: float) -> None:
    """Sticks below arctan μ, slides with g (sin α − μ cos α) above; on a slope in any direction."""
    angle, friction = math.atan(0.4) + offset, 0.4
    aside = np.array([math.cos(turn), math.sin(turn), 0.0])
    normal = math.sin(angle) * aside + [0.0, 0.0, math.cos(angle)]
    downhill = math.cos(angle) * aside - [0.0, 0.0, math.sin(angle)]
    system = ns.System(gravity=(0.0, 0.0, -G))
    system.add_material("m", friction=friction)
    system.add_plane(normal, (0.3, -0.2, 0.1), material="m")
    start = np.array([0.3, -0.2, 0.1]) + 0.05 * normal
    tilt = quaternions.between((0.0, 0.0, 1.0), normal)
    box = system.add_box((0.4, 0.5, 0.1), mass=3.0, position=start, orientation=tilt, material="m")
    run = ns.simulate(system, duration=0.5, step=0.005, tolerance=1e-10)
    expected = max(0.0, G * (math.sin(angle) - friction * math.cos(angle))) * 0.5
    np.testing.assert_allclose(run.system.linear_velocity[box], expected * downhill, atol=1e-8)
    np.testing.assert_allclose(run.system.angular_velocity[box], 0.0, atol=1e-8)
    np.testing.assert_allclose(
        run.system.position[box] - start, 0.5 * expected * (0.5 + 0.005) * downhill, atol=1e-9
    )


@pytest.mark.parametrize("law", LAWS)
def test_box_rests_on_its_corners(law: str) -> None:
    system = on_floor()
    box = system.add_box((1.0, 2.0, 0.5), mass=7.0, position=(3, -2, 0.25), material="m")
    end, seen = frames_of(system, 1.0, 0.01, law=law, tolerance=1e-11)
    for frame in seen:
        assert len(frame.contacts) == 4
        np.testing.assert_allclose(frame.force_on(box), [0.0, 0.0, 7.0 * G], atol=1e-6)
        moment = frame.impulses[:, 2] @ (frame.contacts.point - [3, -2, 0])[:, :2]
        np.testing.assert_allclose(moment, 0.0, atol=1e-6)
    np.testing.assert_allclose(end.position[box], [3, -2, 0.25], atol=1e-11)
    np.testing.assert_allclose(end.quaternion[box], [1, 0, 0, 0], atol=1e-11)


@pytest.mark.parametrize("boxes", [2, 6])
def test_stack_stays_and_every_floor_carries_what_is_above(boxes: int) -> None:
    system = on_floor()
    stack = [
        system.add_box((1.0, 1.0, 0.4), mass=2.0, position=(0, 0, 0.2 + 0.4 * k), material="m")
        for k in range(boxes)
    ]
    end, seen = frames_of(system, 0.5, 0.01, tolerance=1e-9)
    contacts, force = seen[-1].contacts, seen[-1].impulses / 0.01
    for k, box in enumerate(stack):
        below = (contacts.bodies == box).any(axis=1) & (contacts.point[:, 2] < 0.4 * k + 0.2)
        assert below.sum() == 4
        assert np.abs(force[below, 2]).sum() == pytest.approx(2.0 * G * (boxes - k), rel=1e-6)
        np.testing.assert_allclose(end.position[box], [0, 0, 0.2 + 0.4 * k], atol=1e-8)


def test_pushed_box_tips_about_its_edge() -> None:
    """A cube (1 m, 1 kg) pushed at its top tips above F = mg/2, with (F·1 − mg/2)/(2m/3) about the edge."""
    for force in (0.48 * G, 0.6 * G):
        system = on_floor(friction=1.0)
        box = system.add_box((1.0, 1.0, 1.0), mass=1.0, position=(0, 0, 0.5), material="m")
        system.add_force(box, force=(force, 0, 0), point=(0, 0, 0.5))
        end = ns.simulate(system, duration=0.1, step=0.001, tolerance=1e-9).system
        expected = max(0.0, (force - 0.5 * G) / (2.0 / 3.0)) * 0.1
        assert end.angular_velocity[box, 1] == pytest.approx(expected, rel=0.02, abs=1e-6)


def torque_free(step: float, duration: float, moments: Any, spin: Any) -> tuple[float, float]:
    """Relative drift of energy and of the angular momentum of a body that tumbles freely."""
    system, moments = ns.System(WEIGHTLESS), np.array(moments)
    tilt = quaternions.from_axis_angle((1.0, 2.0, 3.0), 0.8)
    system.add_body(None, mass=1.0, inertia=moments, orientation=tilt, angular_velocity=spin)

    def invariants(state: ns.System) -> tuple[float, np.ndarray]:
        w = state.angular_velocity[0]
        return float(0.5 * w @ (moments * w)), quaternions.rotate(state.quaternion[0], moments * w)

    run = ns.simulate(system, duration=duration, step=step)
    assert np.linalg.norm(run.system.quaternion[0]) == pytest.approx(1.0, abs=1e-15)
    (energy, momentum), (energy_end, momentum_end) = invariants(system), invariants(run.system)
    drift = float(np.linalg.norm(momentum_end - momentum) / np.linalg.norm(momentum))
    return energy_end / energy - 1.0, drift


def test_torque_free_body_keeps_its_energy_and_turns_with_first_order() -> None:
    steps = (0.01, 0.005, 0.0025)
    drifts = np.abs([torque_free(step, 1.0, (1.0, 2.0, 2.5), (0.3, 2.0, 0.5)) for step in steps])
    energy, momentum = drifts.T
    assert np.all(energy < 1e-15 / np.array(steps))  # roundings of every step
    assert momentum[0] < 0.05
    assert order(momentum) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("spin", [20.0, 100.0])
def test_spinning_rod_does_not_gain_energy(spin: float) -> None:
    """A free rod (1 m, 1 kg, 0.1 m thick) that spins about its axis and nutates, with hω from 0.2 to 1."""
    energy, _ = torque_free(0.01, 2.0, (1 / 600, 0.0842, 0.0842), (spin, 0.2 * spin, 0.0))
    assert energy <= 0.1


# ---- impacts -----------------------------------------------------------------------------------------


def apex(step: float, **materials: Any) -> float:
    """Height of a ball above the floor after its first bounce, dropped from 1 m."""
    system = ns.System(gravity=(0.0, 0.0, -G))
    system.add_material("floor", restitution=materials.get("floor", 1.0))
    system.add_material("ball", restitution=materials.get("ball", 1.0))
    if "pair" in materials:
        system.set_pair("floor", "ball", restitution=materials["pair"])
    system.add_plane(material="floor")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 1.1), material="ball")
    heights = []
    run = ns.simulate(
        system, duration=0.95, step=step, observe=lambda f: heights.append((f.time, f.position[1, 2] - 0.1))
    )
    assert run.certificate.largest_penetration <= 1e-12
    return max(height for time, height in heights if time > 0.46)


@pytest.mark.parametrize(
    ("materials", "e"),
    [
        ({"floor": 0.8, "ball": 0.8}, 0.8),
        ({"floor": 0.5, "ball": 0.9}, 0.5),
        ({"floor": 0.2, "ball": 0.9, "pair": 0.7}, 0.7),
        ({"floor": 0.9, "ball": 0.0}, 0.0),
    ],
)
def test_bounce_reaches_e_squared(materials: dict[str, float], e: float) -> None:
    assert apex(0.002, **materials) == pytest.approx(e * e, abs=0.02)


def test_no_bounce_below_the_threshold() -> None:
    for speed, bounces in ((0.9, False), (1.1, True)):
        system = on_floor(restitution=0.8)
        system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), velocity=(0, 0, -speed), material="m")
        end = ns.simulate(system, duration=0.001, step=0.001, restitution_speed=1.0).system
        # the impact comes first, then gravity pulls for the rest of the step
        left = 0.8 * speed - G * 0.001 if bounces else 0.0
        assert end.linear_velocity[1, 2] == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 5.0), (30.0, 1.0)])
def test_two_spheres_collide_head_on(masses: tuple[float, float], e: float) -> None:
    """Newton: v₁' = (m₁v − m₂ e v)/(m₁ + m₂), v₂' = m₁ (1 + e) v/(m₁ + m₂)."""
    system = ns.System(WEIGHTLESS)
    system.add_material("m", friction=0.7, restitution=e)
    system.add_sphere(0.2, mass=masses[0], position=(0, 0, 0), velocity=(3, 0, 0), material="m")
    system.add_sphere(0.3, mass=masses[1], position=(0.65, 0, 0), material="m")
    end = ns.simulate(system, duration=0.2, step=0.01, tolerance=1e-12).system
    total = sum(masses)
    expected = [3.0 * (masses[0] - e * masses[1]) / total, 3.0 * masses[0] * (1.0 + e) / total]
    np.testing.assert_allclose(end.linear_velocity[:, 0], expected, atol=1e-11)
    np.testing.assert_allclose(end.linear_velocity[:, 1:], 0.0, atol=1e-13)


def add_pair(system: ns.System, kind: str) -> None:
    """Two bodies about to hit each other off their centres."""
    place = {"position": (0.0, 0.0, 0.0), "velocity": (2.0, 0.1, -0.3), "mass": 2.0}
    other = {"position": (0.52, 0.1, 0.13), "velocity": (-1.0, 0.2, 0.0), "mass": 0.7}
    tilt = {"orientation": quaternions.from_axis_angle((1.0, 1.0, 0.2), 0.4)}
    if kind == "spheres":
        system.add_sphere(0.25, **place, angular_velocity=(1.0, -2.0, 3.0))
        system.add_sphere(0.3, **other)
    elif kind == "boxes":
        system.add_box((0.4, 0.6, 0.5), **place)
        system.add_box((0.5, 0.5, 0.9), **other, **tilt)
    else:
        system.add_capsule(0.2, 0.5, **place)
        system.add_capsule(0.3, 0.4, **other, **tilt)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["spheres", "boxes", "capsules"])
def test_collisions_conserve_momentum(kind: str, law: str) -> None:
    """Linear and angular momentum of each step's velocities at the places where the impulses acted."""
    system = ns.System(WEIGHTLESS)
    system.add_material("default", friction=0.6, restitution=0.4)
    add_pair(system, kind)
    stepper = TimeStepper(system, 0.01, StepOptions(law=law, tolerance=1e-9))
    inertia, mass = system.inertia, system.mass[:, None]

    def momenta(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
        p = mass * system.linear_velocity
        own = np.einsum("bij,bj->bi", inertia, system.angular_velocity)
        turned = np.array([quaternions.rotate(q, v) for q, v in zip(quaternion, own, strict=True)])
        return np.concatenate([p.sum(axis=0), (np.cross(position, p) + turned).sum(axis=0)])

    struck = False
    for _ in range(20):
        place = system.position.copy(), system.quaternion.copy()
        before, frame = momenta(*place), stepper.advance()
        np.testing.assert_allclose(momenta(*place)[:3], before[:3], atol=1e-13)
        struck = struck or bool(np.any(frame.impulses))
        if kind == "spheres" or not struck:  # the spin that an impact gives has a gyroscopic term at once
            np.testing.assert_allclose(momenta(*place), before, atol=1e-13)
        assert frame.numbers["contact_work"] <= 1e-12
    assert struck


# ---- bodies that move as prescribed, and applied forces --------------------------------------------


def test_conveyor_drags_a_block() -> None:
    """A belt at 1 m/s takes a block along with μ g until it has the belt's speed."""
    system = on_floor(friction=0.3, velocity=(0.6, 0.8, 0.0))
    box = system.add_box((0.5, 0.5, 0.1), mass=4.0, position=(0, 0, 0.05), material="m")
    end, seen = frames_of(system, 0.5, 0.005, tolerance=1e-9)
    np.testing.assert_allclose(
        seen[19].force_on(box), [0.3 * 4 * G * 0.6, 0.3 * 4 * G * 0.8, 4 * G], rtol=1e-6
    )
    np.testing.assert_allclose(end.linear_velocity[box], [0.6, 0.8, 0.0], atol=1e-7)
    lag = 0.5 / (0.3 * G)  # of the block behind the belt
    assert np.linalg.norm(end.position[box, :2]) == pytest.approx(0.5 - lag, abs=0.005)
    np.testing.assert_allclose(end.position[0], [0.3, 0.4, 0.0], atol=1e-12)


def test_lift_and_turntable() -> None:
    """A fixed box that rises and turns about z carries a block on its centre."""
    system = on_floor()
    table = {"velocity": (0, 0, 0.5), "angular_velocity": (0, 0, 2.0), "fixed": True, "material": "m"}
    system.add_box((2, 2, 0.2), position=(0, 0, 1), **table)
    block = system.add_box((0.3, 0.3, 0.1), mass=1.0, position=(0, 0, 1.15), material="m")
    end, seen = frames_of(system, 0.4, 0.004, tolerance=1e-9)
    np.testing.assert_allclose(end.linear_velocity[block], [0, 0, 0.5], atol=1e-6)
    np.testing.assert_allclose(end.angular_velocity[block], [0, 0, 2.0], atol=1e-6)
    np.testing.assert_allclose(seen[-1].force_on(block), [0, 0, G], atol=1e-4)
    assert 2.0 * math.atan2(end.quaternion[1, 3], end.quaternion[1, 0]) == pytest.approx(0.8, abs=1e-12)


def test_forces_in_time_and_space() -> None:
    """sin t on a mass; a trap −k x; a pair spring −k (d − 1): each is first order, momentum is kept."""
    errors, exact = [], [(1.0 - math.cos(1.0)) / 2.0, math.cos(2.0), 0.5 * math.cos(2.0)]
    for step in (0.02, 0.01, 0.005):
        system = ns.System(WEIGHTLESS)
        for x in (0.0, 10.0, 20.0, 21.5):
            system.add_body(None, mass=2.0, inertia=(1, 1, 1), position=(x, 0, 0))
        system.add_force(0, force=lambda t: (0.0, math.sin(t), 0.0))
        trap = np.array([0.0, 8.0, 0.0, 0.0])[:, None]
        system.add_force_field(lambda t, s, k=trap: (-k * (s.position - [9.0, 0.0, 0.0]), None))
        system.add_pair_field(lambda d, a, b: -4.0 * (d - 1.0), cutoff=3.0)
        end = ns.simulate(system, duration=1.0, step=step).system
        x = end.position[:, 0]
        found = [end.linear_velocity[0, 1], x[1] - 9.0, x[3] - x[2] - 1.0]
        errors.append(np.abs(np.subtract(found, exact)))
        np.testing.assert_allclose(end.linear_velocity[2:].sum(axis=0), 0.0, atol=1e-14)
    for column in np.array(errors).T:
        assert order(column) == pytest.approx(1.0, abs=0.1)


# ---- energy, overlaps, late contacts ------------------------------------------------------------------

SMALL: dict[str, dict[str, int]] = {
    "filling": {"spheres": 60}, "compaction": {"spheres": 60}, "capsule-heap": {"capsules": 15},
    "box-wall": {"rows": 2, "columns": 3}, "box-pyramid": {"base": 3},
}  # fmt: skip


TOUCHING = [name for name, scene in SCENES.items() if len(scene.build().joints) == 0]
"""Scenes of contacts alone; what joints do to the energy is tested with the mechanisms."""


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", TOUCHING)
def test_contacts_add_no_energy(name: str, law: str) -> None:
    """ΔT ≤ Σ γ_n (push-out speed of overlaps): so never positive where no gap is negative."""
    step, system = 0.01, SCENES[name].build(**SMALL.get(name, {}))
    push_out = StepOptions().for_system(system, step).push_out_speed

    def look(frame: Frame) -> None:
        push = np.einsum("ci,ci->c", frame.impulses, frame.contacts.normal)
        speed = np.minimum(np.maximum(-frame.contacts.gap, 0.0) / step, push_out)
        work, kinetic = frame.numbers["contact_work"], frame.numbers["kinetic_energy"]
        assert work <= push @ speed + 1e-13 * (kinetic - work)

    run = ns.simulate(system, duration=0.6, step=step, law=law, observe=look)
    assert run.steps["contacts"].max() > 0


@pytest.mark.parametrize("law", LAWS)
def test_bounce_with_friction_adds_no_energy(law: str) -> None:
    """A slanting rod meets the floor at one end: Kane's example, where Newton's e = 1 can gain energy."""
    system = on_floor(friction=0.3, restitution=1.0)
    lean = quaternions.from_axis_angle((0, 1, 0), math.radians(30.0))
    state: Any = {"position": (0, 0, 0.25 * math.sqrt(3.0) + 0.05 + 1e-9), "velocity": (1, 0, -1)}
    system.add_capsule(0.05, 1.0, mass=1.0, orientation=lean, material="m", **state)
    _, seen = frames_of(system, 0.001, 0.001, law=law, tolerance=1e-9)
    assert seen[0].contacts.gap.min() >= 0.0
    assert seen[0].numbers["contact_work"] <= 1e-9


def test_overlap_is_pushed_out_slowly() -> None:
    """Two balls that overlap by half part at the push-out speed and no faster, and stop nowhere inside."""
    system = ns.System(WEIGHTLESS)
    system.add_spheres(1.0, [(0, 0, 0), (1.0, 0, 0)], mass=1.0)
    run = ns.simulate(system, duration=3.0, step=0.01, push_out_speed=0.5, tolerance=1e-10)
    np.testing.assert_allclose(run.system.linear_velocity[:, 0], [-0.25, 0.25], atol=1e-9)
    assert run.steps["largest_speed"].max() == pytest.approx(0.25, abs=1e-9)


def test_late_contacts_are_counted() -> None:
    """The first ball knocks the second 0.04 m on, into a third that is 0.02 m away and that nobody asked."""
    system, fast = ns.System(WEIGHTLESS), np.diag([8.0, 0.0, 0.0])
    system.add_spheres(1.0, [(0, 0, 0), (2.01, 0, 0), (4.03, 0, 0)], mass=1.0, velocities=fast)
    late, in_time = (
        ns.simulate(system, duration=0.05, step=0.01, margin=margin).certificate for margin in (0.0, None)
    )
    assert (late.late_contacts, in_time.late_contacts) == (1, 0)
    assert in_time.largest_penetration < 1e-6 < 0.01 < late.largest_penetration


# ---- what is asked for, and what goes wrong ----------------------------------------------------------


def ball_on_floor() -> ns.System:
    system = on_floor()
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), velocity=(1, 0, 0), material="m", name="ball")
    return system


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": 0.0}, {"step": -0.01}, {"step": math.nan}, {"duration": -1.0}, {"duration": math.inf},
        {"law": "newton"}, {"tolerance": 0.0}, {"margin": -1.0}, {"push_out_speed": math.nan},
        {"restitution_speed": -1.0}, {"world": ((1, 1, 1), (0, 0, 0))}, {"threads": 0}, {"resume": True},
        {"throw_": True}, {"duration": 0.001, "step": 0.1}, {"solver": GaussSeidel}, {"solver": "newton"},
        {"system": ns.System()},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options(wrong: dict[str, Any]) -> None:
    with pytest.raises(NonsmoothError):
        ns.simulate(**{"system": ball_on_floor(), "duration": 0.1, "step": 0.01, **wrong})


def test_world_bounds() -> None:
    with pytest.raises(WorldError, match=r"ball.*left the world at t = 0.5 s"):
        ns.simulate(ball_on_floor(), duration=5.0, step=0.01, world=((-1, -1, -1), (0.3605, 1, 1)))
    assert ns.simulate(ball_on_floor(), duration=0.0, step=0.01).certificate.steps == 0


def test_unsolved_steps_are_told(tmp_path: Path) -> None:
    system = on_floor()
    system.add_box((1, 1, 1), mass=1.0, position=(0, 0, 0.5), velocity=(1, 0.3, 0), material="m")
    options: dict[str, Any] = {"tolerance": 1e-18, "solver": GaussSeidel(), "record": tmp_path / "a.h5"}
    with pytest.warns(ToleranceWarning, match="3 of 3 steps"):
        assert ns.simulate(system, duration=0.03, step=0.01, **options).certificate.failed == 3
    with pytest.raises(OptionError, match=r"a\.h5 exists already"):
        ns.simulate(system, duration=0.03, step=0.01, **options)
    options["record"] = ns.Recording(tmp_path / "a.h5", overwrite=True)
    with pytest.raises(ns.SolveError):
        ns.simulate(system, duration=0.03, step=0.01, throw=True, **options)


def test_interrupt_keeps_the_record(tmp_path: Path) -> None:
    def stop(frame: Frame) -> None:
        if frame.index == 25:
            raise KeyboardInterrupt

    recording = ns.Recording(tmp_path / "run.h5", checkpoint_every=10)
    with pytest.raises(KeyboardInterrupt):
        ns.simulate(ball_on_floor(), duration=0.5, step=0.01, record=recording, observe=stop)
    with ns.Trajectory(recording.path) as trajectory:
        assert len(trajectory.times) == 26
    whole, resumed = (
        ns.simulate(ball_on_floor(), duration=0.5, step=0.01, record=record, resume=record is recording)
        for record in (None, recording)
    )
    assert np.array_equal(whole.system.position, resumed.system.position)
    assert np.array_equal(whole.steps.table(), resumed.steps.table(), equal_nan=True)
    with pytest.raises(OptionError, match="was recorded with"):
        ns.simulate(ball_on_floor(), duration=0.5, step=0.02, record=recording, resume=True)


def test_wrong_options_leave_an_old_record(tmp_path: Path) -> None:
    ns.simulate(ball_on_floor(), duration=0.1, step=0.01, record=tmp_path / "run.h5")
    with pytest.raises(OptionError):
        ns.simulate(ball_on_floor(), duration=0.1, step=0.01, record=tmp_path / "run.h5", tolerance=-1.0)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert len(trajectory.times) == 11


def test_a_body_that_stops_on_its_way_leaves_the_certificate_alone() -> None:
    """The certificate is of the solved problem: a shorter flight afterwards is no error of the balance."""
    system = ns.System()
    system.add_box((0.01, 1.0, 1.0), fixed=True, position=(0.35, 0.0, 0.0))
    system.add_sphere(0.05, mass=1.0, velocity=(50.0, 0.0, 0.0))
    seen: list[tuple[str, float]] = []
    run = ns.simulate(
        system,
        duration=0.03,
        step=0.01,
        tolerance=1e-6,
        observe=lambda frame: seen.append((frame.status, frame.residual)),
    )
    assert run.system.position[1, 0] < 0.35
    assert all(status == "solved" and residual <= 1e-6 for status, residual in seen)


def test_a_body_that_stops_on_its_way_owes_its_contacts_no_work() -> None:
    """A ball thrown at a ceiling stops before it: contacts that do not exist yet do no work."""
    system = ns.System()
    system.add_box((1.0, 1.0, 0.01), fixed=True, position=(0.0, 0.0, 0.35))
    system.add_sphere(0.05, mass=1.0, velocity=(0.0, 0.0, 50.0))
    frames: list[Frame] = []
    ns.simulate(system, duration=0.01, step=0.01, tolerance=1e-6, observe=frames.append)
    assert frames[0].system.position[1, 2] < 0.3
    assert len(frames[0].contacts) == 0
    assert frames[0].numbers["contact_work"] == 0.0


def test_the_velocity_of_a_solution_cannot_be_changed() -> None:
    """The certificate is computed from it when it is first looked at."""
    solution = ns.solve(ns.problems.by_name("sliding-ball").build())
    assert solution.velocity is not None
    with pytest.raises(ValueError, match="read-only"):
        solution.velocity[0] = 1.0
