"""Impacts: Newton's and Poisson's law, chains of impacts, energy, and the scheme that is exact in gravity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth import scenes
from nonsmooth.errors import ProblemError
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Revolute
from nonsmooth.stepping import Frame

G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)


def floor(gravity: tuple[float, float, float] = (0.0, 0.0, -G), **surface: Any) -> ns.System:
    system = ns.System(gravity=gravity)
    system.add_material("m", **surface)
    system.add_plane(material="m")
    return system


def energy(run: ns.Run) -> np.ndarray:
    return run.steps["kinetic_energy"] + run.steps["potential_energy"]


def books(run: ns.Run) -> np.ndarray:
    """Energy less all that was put in: it must not change."""
    parts = ("impact_work", "contact_work", "flight_work")
    return energy(run) - np.cumsum(sum(run.steps[name] for name in parts))


# ---- one ball ------------------------------------------------------------------------------------------


def test_elastic_ball_keeps_its_energy_in_ballistic_flight() -> None:
    run = ns.simulate(
        scenes.bouncing_ball(height=1.0, restitution=1.0), duration=10.0, step=0.005, scheme="ballistic"
    )
    assert run.certificate.impacts >= 10
    np.testing.assert_allclose(energy(run), energy(run)[0], rtol=1e-12)
    assert run.steps["flight_work"] == pytest.approx(0.0, abs=1e-13)


def test_euler_loses_in_flight_what_is_told() -> None:
    """Each step of free flight loses ½ m g² h², and nothing else loses energy."""
    step = 0.004
    run = ns.simulate(scenes.bouncing_ball(height=1.0, restitution=1.0), duration=2.0, step=step)
    np.testing.assert_allclose(run.steps["flight_work"], -0.5 * G**2 * step**2, rtol=1e-6)
    np.testing.assert_allclose(books(run), books(run)[0], rtol=1e-13)
    assert energy(run)[-1] < 0.99 * energy(run)[0]


def test_heights_fall_by_e_squared_and_the_ball_comes_to_rest() -> None:
    heights: list[float] = []
    run = ns.simulate(
        scenes.bouncing_ball(height=1.0, restitution=0.5), duration=1.6, step=0.001, scheme="ballistic",
        observe=lambda frame: heights.append(float(frame.position[0, 2]) - 0.1),
    )  # fmt: skip
    inside = np.array(heights)
    peaks = inside[1:-1][(inside[1:-1] > inside[:-2]) & (inside[1:-1] >= inside[2:])]
    assert peaks[:3] == pytest.approx([0.25, 0.0625, 0.015625], abs=4e-3)
    assert abs(inside[-1]) < 1e-12
    assert run.steps["impacts"][-100:].sum() == 0
    assert run.steps["impact_work"].max() <= 0.0


def bounces(far: bool = False, near: bool = False) -> np.ndarray:
    """Heights of a ball that bounces, alone or with others that do not concern it."""
    system = floor(restitution=0.9, friction=0.3)
    ball = system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.6), material="m")
    if near:
        system.add_sphere(0.1, mass=1.0, position=(0.2005, 0, 0.1), material="m")
    if far:
        system.add_sphere(0.1, mass=1.0, position=(50.0, 0, 1.0), material="m")
        system.add_sphere(0.1, mass=1.0, position=(50.0, 0, 1.1), material="m")
    seen: list[np.ndarray] = []
    ns.simulate(
        system, duration=1.0, step=0.002, observe=lambda frame: seen.append(frame.position[ball].copy())
    )
    return np.array(seen)


def test_overlaps_and_neighbours_change_no_bounce() -> None:
    alone = bounces()
    assert alone[:, 2].min() < 0.11
    assert np.array_equal(bounces(far=True), alone)
    assert np.array_equal(bounces(near=True), alone)


# ---- several at once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 1e-4, 1e-3])
@pytest.mark.parametrize("moving", [1, 2])
def test_cradle_sends_off_as_many_as_came(gap: float, moving: int) -> None:
    system = scenes.newtons_cradle(5, speed=1.0, gap=gap)
    system.linear_velocity[:moving, 0] = 1.0
    run = ns.simulate(system, duration=0.1, step=0.01, tolerance=1e-12)
    np.testing.assert_allclose(
        run.system.linear_velocity[:, 0], [0.0] * (5 - moving) + [1.0] * moving, atol=1e-14
    )
    assert run.certificate.largest_impact_work <= 1e-15
    np.testing.assert_allclose(energy(run), energy(run)[0], rtol=1e-14)


def test_box_that_lands_flat_keeps_its_energy() -> None:
    system = floor(restitution=1.0, friction=0.0)
    system.add_box((0.4, 0.6, 0.2), mass=3.0, position=(0, 0, 0.5), material="m")
    run = ns.simulate(system, duration=1.0, step=0.004, scheme="ballistic")
    assert run.certificate.impacts >= 8
    np.testing.assert_allclose(energy(run), energy(run)[0], rtol=1e-12)


def test_a_plate_on_the_floor_is_no_end_of_a_bounce() -> None:
    """A ball falls on a plate that lies on the floor without restitution: impacts go back and forth."""
    system = floor()
    system.add_material("rubber", friction=0.0, restitution=0.8)
    system.add_box((1, 1, 0.1), mass=50.0, position=(0, 0, 0.05), name="plate")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.7), velocity=(0, 0, -2), material="rubber")
    system.set_pair("rubber", "default", restitution=0.8, friction=0.0)
    run = ns.simulate(system, duration=0.3, step=0.002)
    assert run.certificate.unfinished_impacts == 0
    assert run.system.linear_velocity[2, 2] > 0.5
    assert abs(run.system.linear_velocity[1]).max() < 1e-6


def lattice(side: int = 6, radius: float = 0.25) -> ns.System:
    """SimBenchmark's elastic 666: spheres above each other, with gaps, that fall on a plane."""
    system = floor(restitution=1.0, friction=0.0)
    steps = 0.6 * np.arange(side)
    place = np.stack(np.meshgrid(steps, steps, steps + 1.0, indexing="ij"), axis=-1).reshape(-1, 3)
    system.add_spheres(radius, place, mass=1.0, material="m")
    return system


@pytest.mark.parametrize(("step", "duration"), [(0.004, 3.0), (0.001, 1.0)])
def test_elastic_666_keeps_its_energy(step: float, duration: float) -> None:
    run = ns.simulate(lattice(), duration=duration, step=step, scheme="ballistic")
    assert run.certificate.impacts > 200
    assert run.certificate.unfinished_impacts == 0
    np.testing.assert_allclose(energy(run), energy(run)[0], rtol=1e-6)
    np.testing.assert_allclose(books(run), books(run)[0], rtol=1e-12)
    assert np.abs(run.steps["impact_work"]).max() <= 1e-12 * energy(run)[0]


def test_elastic_666_loses_energy_in_flight_alone_by_euler() -> None:
    run = ns.simulate(lattice(2), duration=2.0, step=0.004)
    np.testing.assert_allclose(books(run), books(run)[0], rtol=1e-12)
    assert np.abs(run.steps["impact_work"]).max() <= 1e-13 * energy(run)[0]


# ---- friction, and energy that Newton's law would create ---------------------------------------------------


def rod(law: str, friction: float, e: float, speed: float) -> tuple[ns.System, Frame]:
    """A slanting rod that meets the floor at one end, after the step of the impact."""
    system = floor(WEIGHTLESS, friction=friction, restitution=e, impact_law=law)
    lean = quaternions.from_axis_angle((0, 1, 0), math.radians(30.0))
    state: Any = {"position": (0, 0, 0.25 * math.sqrt(3.0) + 0.05), "velocity": (speed, 0, -1)}
    system.add_capsule(0.05, 1.0, mass=1.0, orientation=lean, material="m", **state)
    seen: list[Frame] = []
    run = ns.simulate(system, duration=0.001, step=0.001, observe=seen.append)
    return run.system, seen[0]


def end_speed(system: ns.System, arm: np.ndarray) -> np.ndarray:
    """Velocity (x, z) of the end of the rod that touched."""
    spin = float(system.angular_velocity[1, 1])
    v = system.linear_velocity[1]
    return np.array([v[0] + spin * arm[1], v[2] - spin * arm[0]])


ARM = np.array([-0.5 * math.sin(math.radians(30.0)), -0.5 * math.cos(math.radians(30.0)) - 0.05])


def test_newton_and_poisson_of_a_rod_that_sticks() -> None:
    """Newton: u_n⁺ = −e u_n⁻; Poisson: u_n⁺ = e (−u_n⁻ + u_t⁻ W_nt / W_tt); both with u_t⁺ = 0."""
    for law in ("newton", "poisson"):
        system, frame = rod(law, friction=20.0, e=0.5, speed=-0.3)
        moment = float(system.inertia[1, 1, 1])
        w_tt, w_nt = 1.0 + ARM[1] ** 2 / moment, -ARM[0] * ARM[1] / moment
        expected = 0.5 if law == "newton" else 0.5 * (1.0 - 0.3 * w_nt / w_tt)
        slip, leave = end_speed(system, ARM)
        assert frame.numbers["reduced_impacts"] == 0
        assert leave == pytest.approx(expected, abs=1e-12)
        assert slip == pytest.approx(0.0, abs=1e-12)
        assert frame.numbers["impact_work"] < 0.0


def test_kanes_paradox_creates_no_energy() -> None:
    """With e = 1 and a slip that turns, Newton's law would gain energy: this impact's e is reduced, alone."""
    reduced = 0
    for speed in (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5):
        _, frame = rod("newton", friction=0.3, e=1.0, speed=speed)
        before = 0.5 * (speed**2 + 1.0)
        assert frame.numbers["kinetic_energy"] <= before * (1.0 + 1e-12)
        assert frame.numbers["impact_work"] <= 1e-12
        if frame.numbers["reduced_impacts"]:
            reduced += 1
            assert frame.numbers["impact_work"] > -0.01  # no more than needed
    assert reduced > 0


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("spin", [1.0, 200.0])
def test_spinning_ball_on_a_rough_floor(law: str, spin: float) -> None:
    """v_x⁺ = min(μ (1 + e) u, 2/7 r ω): it slides, or the spin is used up."""
    e, mu, r = 0.6, 0.3, 0.1
    system = floor(WEIGHTLESS, friction=mu, restitution=e, impact_law=law)
    system.add_sphere(
        r, mass=2.0, position=(0, 0, r), velocity=(0, 0, -3.0), angular_velocity=(0, spin, 0), material="m"
    )
    end = ns.simulate(system, duration=0.001, step=0.001).system.linear_velocity[1]
    np.testing.assert_allclose(
        end, [min(mu * (1.0 + e) * 3.0, 2.0 / 7.0 * r * spin), 0.0, e * 3.0], atol=1e-13
    )


# ---- joints, materials ---------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_hinged_rod_bounces_off_a_wall(law: str) -> None:
    """The end's speed turns round by e, and the hinge feels the impact and stays closed."""
    system = ns.System(WEIGHTLESS)
    system.add_material("m", friction=0.0, restitution=0.5, impact_law=law)
    system.add_plane(normal=(-1, 0, 0), point=(0.06, 0, 0), material="m")
    system.add_capsule(
        0.05, 0.9, mass=1.0, position=(0, 0, -0.5), velocity=(1.0, 0, 0), angular_velocity=(0, -2.0, 0),
        material="m", name="rod",
    )  # fmt: skip
    system.add_joint(Revolute(None, "rod", point=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    run = ns.simulate(system, duration=0.05, step=0.001, scheme="projected")
    assert run.certificate.impacts >= 1
    assert run.system.angular_velocity[1, 1] == pytest.approx(1.0, abs=1e-4)
    assert run.certificate.largest_joint_error < 1e-9


def test_law_of_impact_belongs_to_the_pair() -> None:
    system = ns.System()
    system.add_material("a", impact_law="poisson")
    system.add_material("b", impact_law="poisson")
    system.set_pair("a", "a", impact_law="newton")
    table = system.materials.poisson_pairs()
    np.testing.assert_array_equal(table, [[0, 0, 0], [0, 0, 1], [0, 1, 1]])
    assert system.copy().materials.poisson_pairs().tolist() == table.tolist()
    with pytest.raises(ProblemError, match="use one of newton, poisson"):
        system.add_material("c", impact_law="moreau")


def test_certificate_tells_of_impacts_only_where_there_are_some() -> None:
    quiet = ns.simulate(scenes.box_stack(boxes=2), duration=0.02, step=0.01)
    assert "impact" not in str(quiet.certificate)
    loud = ns.simulate(scenes.newtons_cradle(3), duration=0.1, step=0.01)
    assert "2 impacts" in str(loud.certificate)
