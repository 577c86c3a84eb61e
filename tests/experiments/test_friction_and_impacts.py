"""Event-driven experiments with friction and impacts: belt, woodpecker toy, slider with clearance, rod.

Numbers are asserted against closed forms, against Siconos (an independent package) and against published
states; see the modules of `nonsmooth.experiments` for their sources.
"""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from nonsmooth import experiments
from nonsmooth.errors import OptionError
from nonsmooth.events import EventKind, simulate_events
from nonsmooth.experiments.impacts import (
    painleve_rod,
    painleve_rods,
    slider_clearance,
    stick_slip_belt,
    woodpecker,
)
from nonsmooth.iteration.status import Status
from nonsmooth.model.generalised import check_derivatives
from nonsmooth.scenes.closed_form.slider_clearance import SliderClearance
from nonsmooth.scenes.closed_form.sliding_rod import CRITICAL_FRICTION, Region, SlidingRod
from nonsmooth.scenes.closed_form.stick_slip import BeltBlock
from nonsmooth.scenes.closed_form.woodpecker import BEAK, LOWER, UPPER, Woodpecker

NAMES = ("stick-slip-belt", "woodpecker", "slider-clearance", "painleve-rod")


@pytest.fixture(scope="module")
def summaries(tmp_path_factory):
    """The quick form of every experiment, run once and only when it is asked for."""
    kept = {}

    def summary(name):
        if name not in kept:
            folder = tmp_path_factory.mktemp(name)
            calls = []
            found = experiments.by_name(name).run(folder, True, lambda *call: calls.append(call))
            assert calls[-1][0] == calls[-1][1]
            kept[name] = found, {row.quantity: row for row in found.comparisons}
        return kept[name]

    return summary


@pytest.mark.parametrize("name", NAMES)
def test_quick_form_writes_its_files_and_keeps_energy(summaries, name):
    summary, rows = summaries(name)
    for path in summary.files:
        assert path.exists()
        assert path.stat().st_size > 100
    assert {"convergence.png", "energy.png", "motion.png"} <= {path.name for path in summary.files}
    balances = [row for key, row in rows.items() if "kinetic + potential + dissipated" in key]
    assert balances
    assert all(abs(row.ours) < 1e-8 for row in balances)
    if name != "painleve-rod":  # it has no row for it
        assert max(row.ours for key, row in rows.items() if key.endswith("overlap")) < 1e-9


# ---- belt -----------------------------------------------------------------------------------------------


def test_belt_events_are_those_of_the_closed_form(summaries):
    _, rows = summaries("stick-slip-belt")
    assert rows["largest error of their times, 'stick'"].ours < 1e-9
    assert rows["largest error of their times, 'slip'"].ours < 1e-9
    assert rows["period"].ours == pytest.approx(stick_slip_belt.BLOCK.period, abs=1e-9)
    assert rows["time of sliding in a period"].ours == pytest.approx(0.4338916, abs=1e-6)
    assert rows["energy lost in a period"].ours == pytest.approx(stick_slip_belt.BLOCK.cycle_loss, abs=1e-9)
    assert rows["largest error of x"].ours < 1e-9
    assert rows["largest error of the speed"].ours < 1e-9
    assert 0.7 < rows["order of time stepping"].ours < 1.3


def test_closed_form_of_the_belt_obeys_its_equations():
    block = BeltBlock(mass=2.0, stiffness=180.0, speed=0.07, slope=math.radians(3.0))
    sticks, slides = block.event_times(3)
    times = np.linspace(0.0, slides[-1], 20001)
    x, speed = block.exact(times)
    assert np.abs(np.gradient(x, times) - speed)[1:-1].max() < 1e-3
    at_slides, at_sticks = block.exact(slides[:2]), block.exact(sticks[1:])
    assert np.allclose(at_slides[0], block.release, atol=1e-12)
    assert np.allclose(at_sticks[0], block.centre - block.reach, atol=1e-12)
    assert np.allclose(at_sticks[1], block.speed, atol=1e-12)
    limit = block.sticking_friction * block.normal_force
    held = block.stiffness * block.release + block.mass * block.gravity * math.sin(block.slope)
    assert held == pytest.approx(limit, rel=1e-14)


def test_belt_from_within_the_cycle_reaches_it_too():
    block = BeltBlock()
    run = simulate_events(block.system(), [block.centre, 0.0], [0.0, 0.0], duration=1.0)
    # at the place of balance the block stays, and slides for ever
    assert run.events == ()
    assert abs(run.final.q[0] - block.centre) < 1e-12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": 0.0}, "speed of the belt is 0.0"),
        ({"sticking_friction": 0.25}, "more friction in sticking"),
    ],
)
def test_belt_refuses_what_does_not_stick_and_slip(changes, message):
    with pytest.raises(OptionError, match=message):
        BeltBlock(**changes)


def test_belt_too_fast_for_a_start_at_rest_says_so():
    with pytest.raises(OptionError, match="take a slower belt"):
        BeltBlock(speed=1.0).first_stick()


# ---- woodpecker -----------------------------------------------------------------------------------------


def test_woodpecker_is_periodic(summaries):
    _, rows = summaries("woodpecker")
    assert abs(rows["change of that angle in a period"].ours) < 1e-8
    assert rows["difference of y after 2 periods"].ours < 1e-8
    assert rows["angle of the bird at the bottom"].ours == pytest.approx(-0.52947196711, abs=1e-9)
    assert rows["period"].ours == pytest.approx(0.14597606514, abs=1e-9)
    assert rows["drop in a period"].ours == pytest.approx(0.01944537928, abs=1e-9)
    assert -1.0 < rows["factor by which deviations grow in a period"].ours < 1.0


def test_woodpecker_agrees_with_siconos_and_the_published_state(summaries):
    _, rows = summaries("woodpecker")
    # errors of first order in Siconos' steps of 1e-6 and 2e-5 s, grown by the impacts
    assert rows["period"].ours == pytest.approx(woodpecker.SICONOS_PERIOD, abs=2e-6)
    assert rows["drop in a period"].ours == pytest.approx(woodpecker.SICONOS_DROP, abs=2e-6)
    for name, value in woodpecker.PECKING.items():
        assert rows[f"{name} {woodpecker.PECKING_TIME} s after the published state"].ours == pytest.approx(
            value, rel=0.005
        )
    for name in ("speed of the sleeve at φ_S = −0.2788", "speed of the bird at φ_S = −0.2788"):
        assert rows[name].ours == pytest.approx(rows[name].paper, rel=0.005)


def test_woodpecker_loses_the_energy_of_its_drop(summaries):
    _, rows = summaries("woodpecker")
    toy = Woodpecker()
    weight = (toy.bird_mass + toy.sleeve_mass) * toy.gravity
    drop = rows["drop in a period"].ours
    assert rows["energy lost in a period"].ours == pytest.approx(weight * drop, abs=1e-12)
    assert rows["difference of event times, Newton's and Poisson's law"].ours < 1e-9


def test_woodpecker_events_come_in_the_published_order(summaries):
    _, rows = summaries("woodpecker")
    found = [match[1] for key in rows if (match := re.match(r"event \d+: (.*)", key))]
    assert found == [
        f"slip of the {LOWER}",
        f"opening of the {LOWER}",
        f"impact of the {UPPER}",
        f"impact of the {BEAK}",
        f"impact of the {UPPER}",
        f"opening of the {UPPER}",
        f"impact of the {LOWER}",
        f"impact of the {LOWER}",
        f"stick of the {LOWER}",
    ]


def test_woodpecker_data_are_consistent():
    toy = Woodpecker()
    check_derivatives(toy.system(), [0.1, 0.05, -0.2], [0.3, 2.0, -5.0])
    gaps = [
        contact.gap(np.array([0.0, -toy.jam_angle, toy.peck_angle]), 0.0) for contact in toy.system().contacts
    ]
    assert gaps[0] == pytest.approx(0.0, abs=1e-17)
    assert gaps[1] == pytest.approx(0.0, abs=1e-17)
    assert gaps[2] == pytest.approx(2.0 * (toy.sleeve_radius - toy.pole_radius))
    assert np.linalg.eigvalsh(toy.mass_matrix).min() > 0.0


# ---- slider with clearance ------------------------------------------------------------------------------


def test_slider_hits_the_wall_when_two_free_links_do(summaries):
    _, rows = summaries("slider-clearance")
    assert rows["first impact"].ours == pytest.approx(slider_clearance.first_touch(), abs=1e-9)


def test_slider_agrees_with_siconos(summaries):
    _, rows = summaries("slider-clearance")
    assert rows["crank angle at 0.02 s"].ours == pytest.approx(slider_clearance.SICONOS_CRANK, abs=2e-6)
    assert 0.8 < rows["order of time stepping"].ours < 1.2


def test_slider_comes_to_rest_in_accumulations_and_stays_level(summaries):
    _, rows = summaries("slider-clearance")
    assert rows["accumulations of impacts"].ours == 3
    assert rows["slider's angle, slider level"].ours < 1e-9
    assert rows["turns of the crank"].ours > 1.0


def test_chatter_of_a_tilted_slider_shrinks_by_the_closed_form(summaries):
    _, rows = summaries("slider-clearance")
    tilted = slider_clearance.simulate(slider_clearance.CHATTER, tilt=slider_clearance.TILT)
    hit = [event.contacts for event in tilted.events]
    assert len(hit) == 14
    assert all(len(corners) == 1 for corners in hit)
    assert all(one != other for one, other in itertools.pairwise(hit))
    assert rows["chatter: ratio of impact speeds"].ours == pytest.approx(
        slider_clearance.chatter_ratio(tilted), abs=1e-4
    )


def test_slider_corners_have_the_derivatives_they_say():
    check_derivatives(SliderClearance().system(), [0.3, -0.2, 0.05], [30.0, -20.0, 10.0])


# ---- rod ------------------------------------------------------------------------------------------------


def test_rod_regions_are_those_of_the_closed_form(summaries):
    _, rows = summaries("painleve-rod")
    assert rows["points of the map whose region differs, μ = 1.3"].ours == 0
    assert rows["points of the map whose region differs, μ = 2.0"].ours == 0
    assert rows["fraction of the map with no or two solutions, μ = 1.3"].ours == 0.0
    assert rows["fraction of the map with no or two solutions, μ = 2.0"].ours > 0.3
    assert rows["critical friction"].ours == pytest.approx(CRITICAL_FRICTION, abs=1e-9)


def test_rod_without_acceleration_jumps_as_the_closed_form_says(summaries):
    _, rows = summaries("painleve-rod")
    rod, angle, spin = painleve_rods.STARTS[Region.INCONSISTENT]
    after, impulses, lost = rod.jump(angle, spin, painleve_rods.SPEED)
    name = "impact without collision: "
    assert rows[f"{name}event"].ours == 1
    ours = [rows[f"{name}{what}"].ours for what in ("speed along", "speed up", "spin")]
    assert ours == pytest.approx(after, abs=1e-9)
    assert rows[f"{name}normal impulse"].ours == pytest.approx(impulses[0], abs=1e-9)
    assert rows[f"{name}friction impulse"].ours == pytest.approx(impulses[1], abs=1e-9)
    assert rows[f"{name}energy lost"].ours == pytest.approx(lost, abs=1e-9)
    assert rows["error of the angle 0.3 s after the jump"].ours < 1e-9


def test_rod_jump_stops_the_tip_within_the_friction_cone():
    rod = SlidingRod()
    for angle in np.linspace(0.66, 1.38, 9):
        after, impulses, lost = rod.jump(angle, 0.3, 2.0)
        normal = np.array([0.0, 1.0, -math.cos(angle)])
        tangent = np.array([1.0, 0.0, -math.sin(angle)])
        _, before = rod.sliding(angle, 0.3, 2.0)
        mass = np.diag([1.0, 1.0, rod.inertia])
        assert normal @ after == pytest.approx(0.0, abs=1e-14)
        assert tangent @ after == pytest.approx(0.0, abs=1e-14)
        assert mass @ (after - before) == pytest.approx(
            impulses[0] * normal + impulses[1] * tangent, abs=1e-14
        )
        assert abs(impulses[1]) <= rod.friction * impulses[0]
        assert lost == pytest.approx(0.5 * (before @ mass @ before - after @ mass @ after), abs=1e-14)


def test_rod_lifts_off_where_its_tip_would_and_two_solutions_are_reported(summaries):
    _, rows = summaries("painleve-rod")
    assert rows["paradoxes below the critical friction"].ours == 0
    assert abs(rows["free acceleration of the tip when it lifts off"].ours) < 1e-9
    assert rows["two solutions: reported"].ours == 1
    rod, angle, spin = painleve_rods.STARTS[Region.INDETERMINATE]
    force = -rod.free_acceleration(angle, spin) / rod.compliance(angle)
    assert rows["two solutions: one normal force"].ours == 0.0
    assert rows["two solutions: other force"].ours == pytest.approx(float(force), abs=1e-9)


def test_rod_slides_into_the_singular_point_and_the_integrator_says_so(summaries):
    _, rows = summaries("painleve-rod")
    rod = painleve_rods.ROD
    angle = rod.singular_angles[0]
    for spin in painleve_rods.APPROACHES[: painleve_rod.PainleveRod.QUICK.approaches]:
        name = f"into the singular point from {spin} rad/s: "
        assert rows[f"{name}angle"].ours == pytest.approx(angle, abs=1e-9)
        assert rows[f"{name}spin"].ours == pytest.approx(float(rod.lift_off_spin(angle)), abs=1e-3)
        assert rows[f"{name}exponent of c over G"].ours == pytest.approx(rod.singular_exponent, abs=1e-3)
    run = painleve_rods.approach(2.0)
    stopped = run.status is Status.STEP_FAILED and bool(run.message)
    assert stopped or run.events[0].kind is EventKind.INDETERMINATE
    assert painleve_rods.arrival(run) == pytest.approx(0.0650869578, abs=1e-9)


def test_forces_at_the_singular_point_stay_finite_below_a_second_friction():
    # by hand: both eigenvalues are alike where 7 cos²θ = 3, and G = 0 there for μ = 8 / (3 √3)
    border = 8.0 / (3.0 * math.sqrt(3.0))
    assert SlidingRod(friction=border).singular_exponent == pytest.approx(1.0, abs=1e-12)
    assert SlidingRod(friction=border - 0.1).singular_exponent > 1.0
    assert SlidingRod(friction=border + 0.1).singular_exponent < 1.0


def test_rod_of_little_friction_has_no_singular_angles():
    with pytest.raises(OptionError, match="more than 4/3"):
        _ = SlidingRod(friction=1.3).singular_angles
    check_derivatives(SlidingRod().system(), [0.3, 0.2, 0.5], [3.0, -2.0, 1.0])


def test_rod_of_little_friction_slides_until_it_sticks():
    run = painleve_rods.let_go("below the critical friction")
    assert [event.kind for event in run.events] == [EventKind.STICK]
