"""Bouncing ball, rolling ball, rocking block and the block under a load, against their closed forms."""

import math

import numpy as np
import pytest
from scipy.special import ellipk, ellipkinc

from nonsmooth.errors import OptionError
from nonsmooth.events.acceleration import AccelerationLevel
from nonsmooth.experiments import by_name
from nonsmooth.experiments.impacts import bouncing_ball, rocking_block, rolling_transition
from nonsmooth.experiments.shared.convergence import FULL_GRID
from nonsmooth.experiments.studer import load
from nonsmooth.model.generalised import check_derivatives
from nonsmooth.problem.library.named import planar_block
from nonsmooth.scenes.closed_form.blocks import LoadedBlock, RockingBlock
from nonsmooth.scenes.closed_form.bouncing import DroppedBall, RollingBall, RollingDisc

TIME = 1e-9
"""s: event times."""
ENERGY = 1e-8
"""J: energy balance over a run."""


@pytest.mark.parametrize(
    "scene", [DroppedBall(), RollingDisc(), RollingBall(), RockingBlock(), LoadedBlock()]
)
def test_derivatives_are_those_of_the_gaps(scene):
    random = np.random.default_rng(3)
    q, u = scene.start()
    for _ in range(5):
        place = q + random.normal(size=len(q))
        check_derivatives(scene.system(), place, random.normal(size=len(u)), random.normal())


# ---- bouncing ball ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", bouncing_ball.LAWS)
@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_every_impact_of_the_ball_and_their_end(restitution, law):
    trial = bouncing_ball.run_trial(restitution, law)
    assert trial.run.status == "done"
    assert len(trial.errors) > 15
    assert trial.errors.max() < TIME
    assert abs(trial.accumulation - trial.scene.accumulation) < TIME
    assert trial.run.certificate.energy_error < ENERGY
    assert abs(trial.run.final.dissipated - 9.81) < ENERGY
    assert abs(trial.run.final.q[0]) < 1e-12
    assert trial.run.final.u[0] == 0.0
    times, heights = trial.samples(400)
    np.testing.assert_allclose(heights, trial.scene.height_at(times), atol=2e-11)


def test_closed_forms_of_the_ball_agree_with_each_other():
    scene = DroppedBall(restitution=0.8)
    times = scene.impact_times(200)
    assert scene.accumulation == pytest.approx(times[-1], abs=1e-12)
    np.testing.assert_allclose(scene.height_at(times[:20]), 0.0, atol=1e-13)
    tops = 0.5 * (times[:10] + times[1:11])
    np.testing.assert_allclose(scene.height_at(tops), 0.8 ** (2 * np.arange(1, 11)), rtol=1e-12)


# ---- rolling ball -----------------------------------------------------------------------------------


def test_the_ball_in_the_plane_rolls_when_it_should():
    run = rolling_transition.run_plane()
    assert [str(event.kind) for event in run.events] == ["stick"]
    assert abs(run.times("stick")[0] - 2.0 * 2.0 / (7.0 * 0.2 * 9.81)) < TIME
    np.testing.assert_allclose(run.final.u, [10.0 / 7.0, 0.0, -10.0 / 7.0], atol=1e-12)
    assert abs(run.final.dissipated - 4.0 / 7.0) < ENERGY
    assert run.certificate.energy_error < ENERGY


@pytest.mark.parametrize("name", rolling_transition.THROWS)
def test_a_thrown_ball_rolls_when_it_should(name):
    throw = rolling_transition.run_throw(name)
    scene, final = throw.scene, throw.run.final
    assert [str(event.kind) for event in throw.run.events] == ["stick"]
    assert abs(throw.transition - scene.transition) < TIME
    np.testing.assert_allclose(final.u[:2], scene.rolling_velocity, atol=1e-11)
    # rolling: v_x = r ω_y, v_y = −r ω_x; ω_z stays
    np.testing.assert_allclose(final.u[3:], [-final.u[1], final.u[0], scene.spin[2]], atol=1e-11)
    assert abs(final.dissipated - scene.dissipated) < ENERGY
    assert throw.run.certificate.energy_error < ENERGY
    times, path = throw.path(101)
    np.testing.assert_allclose(path, scene.position_at(times), atol=1e-11)


# ---- rocking block ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rocking():
    return rocking_block.rock()


def test_quadrature_of_the_period_is_the_elliptic_integral():
    for half_width in (0.05, 0.15, 0.4):
        scene = RockingBlock(half_width=half_width)
        for lean in (0.01, 0.3, 0.9):
            near = (1.0 - lean) * scene.slenderness
            parameter = math.cos(0.5 * near) ** 2
            amplitude = math.asin(math.cos(0.5 * scene.slenderness) / math.cos(0.5 * near))
            exact = (ellipk(parameter) - ellipkinc(amplitude, parameter)) / scene.frequency
            assert scene.fall_time(lean) == pytest.approx(exact, rel=1e-11)


def test_the_block_rocks_at_the_exact_times_until_it_stands(rocking):
    scene, run = rocking.scene, rocking.run
    assert run.status == "done"
    assert len(rocking.impacts) > 50
    assert np.abs(rocking.impacts - scene.impact_times(len(rocking.impacts))).max() < TIME
    assert abs(rocking.accumulation - scene.accumulation) < TIME
    assert rocking.angle_error() < 1e-11
    assert run.certificate.energy_error < ENERGY
    np.testing.assert_allclose(run.final.q, [0.0, scene.half_height, 0.0], atol=1e-10)
    np.testing.assert_allclose(run.final.u, 0.0, atol=1e-12)
    np.testing.assert_array_equal(run.sample([run.final.t]).modes[0], [2, 2])


def test_impacts_leave_the_energy_that_housner_says(rocking):
    sine = math.sin(rocking.scene.slenderness)
    wanted = (1.0 - 1.5 * sine**2) ** 2
    np.testing.assert_allclose(rocking.energy_ratios(), wanted, rtol=1e-9)
    found = rocking.leans()
    np.testing.assert_allclose(found[:30], rocking.scene.leans(30), rtol=1e-9)


def test_housners_period_is_exact_for_slender_blocks():
    off = []
    for slope in (0.05, 0.1, 0.2):
        swing = rocking_block.first_swing(slope, 0.5)
        assert abs(swing.found - swing.exact) < TIME
        off.append(abs(swing.housner / swing.exact - 1.0))
    assert off[0] < 1e-4
    np.testing.assert_allclose(np.diff(np.log2(off)), 2.0, atol=0.05)


@pytest.mark.parametrize("slope", [0.2, 1.0, 1.4, 1.42, 3.0])
def test_stocky_blocks_stay_down(slope):
    kept = rocking_block.velocity_kept(slope)
    assert kept == pytest.approx(max(0.0, 1.0 - 1.5 * slope**2 / (1.0 + slope**2)), abs=1e-12)


def test_a_lean_that_falls_over_is_refused():
    with pytest.raises(OptionError, match="lean is"):
        RockingBlock(lean=1.5)


# ---- block under a load -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def history():
    return load.run_history()


def test_the_loaded_block_switches_when_it_should(history):
    kinds = [str(event.kind) for event in history.events]
    assert kinds == ["slip", "slip", "stick", "stick", "opening", "impact", "stick", "stick"]
    found = load.found_switches(history)
    for name, (_, _, exact) in load.SWITCHES.items():
        assert abs(found[name] - exact) < TIME, name
    assert load.place_error(history, 201) < 1e-10


def test_the_loaded_blocks_energy_balance_closes(history):
    scene = load.BLOCK
    assert history.certificate.energy_error < ENERGY
    assert abs(history.final.dissipated - scene.dissipated) < ENERGY
    assert abs(history.final.work - scene.dissipated) < ENERGY


def test_solvers_find_the_runs_accelerations_in_every_phase(history):
    times = load.times_to_check(history)
    assert len(times) == 11
    seen = {tuple(modes) for modes in history.sample(times).modes.tolist()}
    assert seen == {(2, 2), (1, 1), (2, 0)}  # the three cases of Fig. 8
    for time in times:
        for check in load.check_solvers(history, time):
            assert check.acceleration_error < 1e-8, (time, check.solver)
            assert check.force_error < 1e-8, (time, check.solver)


def test_the_acceleration_level_is_the_librarys_block(history):
    scene = load.BLOCK
    time = scene.opening
    at = history.sample([time])
    level = AccelerationLevel.of(history.system, at.q[0], at.u[0], time)
    named = planar_block(scene.load(time) - [0.0, scene.weight, 0.0], scene.friction)
    np.testing.assert_allclose(level.matrix, named.operator.matrix().toarray(), atol=1e-9)
    np.testing.assert_allclose(level.problem.free_velocity, named.free_velocity, atol=1e-9)


def test_a_push_that_is_too_weak_or_too_strong_is_refused():
    for push in (6.0, 9.0):
        with pytest.raises(OptionError, match="push is"):
            LoadedBlock(push=push)


# ---- the experiments --------------------------------------------------------------------------------

ORDERS = {
    "bouncing-ball": {"height": (0.8, 1.2)},
    "rolling-transition": {"transition": (0.8, 1.2), "position": (1.8, 2.6)},
    "rocking-block": {"angle": (0.8, 1.2)},
    "studer-load": {"x in m": (0.8, 1.3), "φ in rad": (0.8, 1.3)},
}
"""Orders of time stepping in the quick form; rolling is exact on both sides of the transition."""


@pytest.mark.parametrize("name", ORDERS)
def test_quick_form_writes_its_figures_and_time_stepping_converges(name, tmp_path):
    calls = []
    summary = by_name(name).run(tmp_path, True, lambda *call: calls.append(call))
    assert calls[-1][0] == calls[-1][1]
    assert all(path.stat().st_size > 0 for path in summary.files)
    pictures = {path.stem for path in summary.files if path.suffix == ".png"}
    assert {"energy", "convergence"} < pictures
    orders = {row.quantity: row.ours for row in summary.comparisons if row.quantity.startswith("order")}
    assert len(orders) == len(ORDERS[name])
    for part, (least, most) in ORDERS[name].items():
        (order,) = (value for quantity, value in orders.items() if part in quantity)
        assert least < order < most
    assert all(math.isfinite(row.ours) for row in summary.comparisons)


@pytest.mark.long
@pytest.mark.parametrize("module", [bouncing_ball, rocking_block, load])
def test_time_stepping_is_of_first_order(module):
    for curve in module.time_stepping(FULL_GRID).values():
        assert 0.75 < curve.order < 1.25
