"""Ready-made scenes: they build, nothing overlaps at the start, and what has a closed form follows it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nonsmooth import scenes
from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.generalised import GeneralisedSystem
from nonsmooth.model.system import System
from nonsmooth.scenes.closed_form import MODELS
from nonsmooth.stepping import Frame, simulate

G = 9.81


def small(name: str) -> System:
    found = scenes.SCENES[name]
    return found.build(**found.small)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_scenes_start_without_overlap_and_lose_energy(name: str) -> None:
    system = small(name)
    assert scenes.SCENES[name].summary
    settings = {"step": 0.005, **scenes.SCENES[name].settings, "duration": 0.2}
    run = simulate(system, **settings)
    assert run.certificate.joints_held
    assert run.certificate.failed == 0
    assert run.certificate.late_contacts == 0
    assert run.certificate.largest_penetration <= 1e-4 * system.bounding_radius[0]
    # Boxes that stand on each other start at gaps of rounding size, which are pushed apart as they are.
    assert run.steps["contact_work"].max() < 1e-9
    assert run.steps["penetration"][0] < 1e-12


@pytest.mark.parametrize("name", ["chain", "bricard"])
def test_mechanisms_neither_open_nor_lock_at_their_own_step(name: str) -> None:
    """Their energy stays: the scheme and step of before took 43 % of the chain's and all of Bricard's."""
    system = scenes.SCENES[name].build()
    kinetic: list[float] = []
    energy: list[float] = []

    def observe(frame: Frame) -> None:
        spin = np.einsum("ni,nij,nj->", frame.angular_velocity, system.inertia, frame.angular_velocity)
        kinetic.append(float(np.sum(system.mass[:, None] * frame.linear_velocity**2) + spin) / 2.0)
        height = np.sum(system.mass[:, None] * frame.position * system.gravity)
        energy.append(kinetic[-1] - float(height))

    settings = {"step": 0.005, **scenes.SCENES[name].settings, "duration": 2.0}
    run = simulate(system, observe=observe, **settings)
    assert run.certificate.largest_joint_error < 1e-9
    assert np.ptp(energy) < 2e-3 * max(kinetic)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_scenes_are_the_same_every_time(name: str) -> None:
    first, second = small(name), small(name)
    assert np.array_equal(first.position, second.position)
    assert np.array_equal(first.quaternion, second.quaternion)


def test_systems_in_generalised_coordinates_have_names() -> None:
    assert {"dropped-ball", "woodpecker", "slider-clearance"} <= MODELS.keys()
    for each in MODELS.values():
        assert isinstance(each.build().system(), GeneralisedSystem)
        assert each.summary


def test_every_domino_falls_one_after_the_other() -> None:
    fell = np.full(5, np.inf)

    def observe(frame: Frame) -> None:
        up = np.array([quaternions.rotate(turn, (0.0, 0.0, 1.0))[2] for turn in frame.quaternion[:5]])
        fell[(up < 0.7) & np.isinf(fell)] = frame.time

    simulate(scenes.dominoes(5), duration=1.0, step=0.002, observe=observe)
    assert np.all(np.isfinite(fell))
    assert np.all(np.diff(fell) > 0.0)
    with pytest.raises(OptionError, match=r"lean is 0\.1 rad: give more than 0\.155"):
        scenes.dominoes(lean=0.1)


def test_rolling_ball_rolls_at_five_sevenths() -> None:
    run = simulate(scenes.rolling_ball(), duration=1.0, step=0.01, tolerance=1e-10)
    ball = run.system.names["ball"]
    np.testing.assert_allclose(run.system.linear_velocity[ball], [10.0 / 7.0, 0.0, 0.0], atol=1e-8)
    spin = simulate(scenes.rolling_ball(), duration=0.2, step=0.01, tolerance=1e-10).system
    assert spin.linear_velocity[0, 0] == pytest.approx(2.0 - 0.2 * G * 0.2, abs=1e-8)


def test_bouncing_ball_comes_back_to_e_squared_of_its_height() -> None:
    heights: list[float] = []
    simulate(
        scenes.bouncing_ball(height=1.0, restitution=0.8), duration=1.0, step=0.001,
        observe=lambda frame: heights.append(float(frame.position[0, 2]) - 0.1),
    )  # fmt: skip
    bounce = int(np.argmin(heights[:700]))
    assert max(heights[bounce:]) == pytest.approx(0.64, abs=1e-2)  # first order in h


@pytest.mark.parametrize("balls", [2, 5])
def test_cradle_passes_the_whole_speed_on(balls: int) -> None:
    run = simulate(scenes.newtons_cradle(balls, speed=1.0), duration=0.1, step=0.001, tolerance=1e-12)
    speed = run.system.linear_velocity[:, 0]
    np.testing.assert_allclose(speed, [0.0] * (balls - 1) + [1.0], atol=1e-9)


def test_cradle_with_loss_keeps_its_momentum() -> None:
    run = simulate(
        scenes.newtons_cradle(3, speed=2.0, restitution=0.5), duration=0.1, step=0.001, tolerance=1e-12
    )
    speed = run.system.linear_velocity[:, 0]
    assert speed.sum() == pytest.approx(2.0, abs=1e-9)
    assert speed[2] == pytest.approx(2.0 * 0.75**2, abs=1e-9)  # each impact passes (1 + e)/2 on


@pytest.mark.parametrize("friction", [0.1, 0.25, 0.5])
def test_box_on_incline_stays_or_slides(friction: float) -> None:
    angle, step = math.radians(20.0), 0.005
    run = simulate(
        scenes.box_on_incline(angle=angle, friction=friction), duration=0.2, step=step, tolerance=1e-10
    )
    down = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    wanted = max(0.0, G * (math.sin(angle) - friction * math.cos(angle))) * 0.2
    np.testing.assert_allclose(run.system.linear_velocity[0], wanted * down, atol=1e-7)


@pytest.mark.parametrize("build", [scenes.box_stack, scenes.box_wall, scenes.box_pyramid])
def test_walls_stand_and_their_floor_carries_them(build) -> None:
    system = build()
    forces: list[float] = []
    floor = system.names["floor"]
    run = simulate(
        system, duration=0.2, step=0.005, observe=lambda frame: forces.append(-frame.force_on(floor)[2])
    )
    moving = ~system.fixed
    assert np.abs(run.system.position - system.position).max() < 1e-5
    assert forces[-1] == pytest.approx(G * system.mass[moving].sum(), rel=1e-4)


def test_slab_is_as_wide_as_the_container_and_above_the_spheres() -> None:
    system = scenes.compaction(50, slab_mass=70.0, width=9.0)
    slab = system.names["slab"]
    (half,) = system.shapes.size[system.shapes.body == slab]
    np.testing.assert_allclose(half, [4.45, 4.45, 1.0, 0.0])
    assert system.position[slab, 2] - half[2] > system.position[:50, 2].max() + 1.0
    assert system.mass[slab] == 70.0


@pytest.mark.parametrize(("levels", "cards"), [(4, 26), (5, 40), (10, 155)])
@pytest.mark.parametrize("hull", [False, True])
def test_card_houses_have_as_many_cards_as_those_of_others(levels: int, cards: int, hull: bool) -> None:
    system = scenes.card_house(levels, hull=hull)
    assert np.sum(~system.fixed) == cards
    # Four edges of a card at most are as high as its storey's floor or lower: none is below the floor.
    assert system.position[:, 2].min() >= 0.0


@pytest.mark.parametrize(("stones", "friction"), [(25, 0.8), (101, 0.5)])
def test_arches_are_between_fixed_springers(stones: int, friction: float) -> None:
    system = scenes.arch(stones)
    assert np.flatnonzero(system.fixed).tolist() == [0, stones - 1, stones]
    assert system.materials.pair_table().friction.max() >= friction
    moving = system.position[1 : stones - 1]
    np.testing.assert_allclose(moving[:, 0], -moving[::-1, 0], atol=1e-12)
    np.testing.assert_allclose(moving[:, 2], moving[::-1, 2], atol=1e-12)
    # Stones of equal length along a centre line of uniform thickness have nearly equal masses.
    mass = system.mass[1 : stones - 1]
    assert np.ptp(mass) < 0.02 * mass.mean()  # chords are shorter than arcs


def test_kapla_tower_has_102_blocks() -> None:
    system = scenes.kapla()
    assert np.sum(~system.fixed) == 102
    assert system.position[:, 2].max() == pytest.approx(1.15)


def test_bad_parameters_are_named() -> None:
    with pytest.raises(OptionError, match="stones is 2"):
        scenes.arch(2)
    with pytest.raises(OptionError, match="thickness is 5"):
        scenes.arch(thickness=5.0)
    with pytest.raises(OptionError, match="lean is"):
        scenes.card_house(lean=1.0)
    with pytest.raises(OptionError, match="bases is 5"):
        scenes.kapla(bases=5)
    with pytest.raises(OptionError, match="balls is 1"):
        scenes.newtons_cradle(1)
    with pytest.raises(OptionError, match="rows is 0"):
        scenes.box_wall(0)
    with pytest.raises(OptionError, match="spheres is 0"):
        scenes.compaction(0)
    with pytest.raises(OptionError, match="width is 1"):
        scenes.filling(10, width=1.0)
