"""Ready-made mechanisms and their experiments: against closed forms, statics and independent integrations."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth import experiments
from nonsmooth.errors import OptionError
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.mechanisms.stirrer import contact_work
from nonsmooth.model import quaternions

MECHANISMS = {
    "slider-crank": {},
    "double-pendulum": {},
    "chain": {"links": 10},
    "top": {"precession_rate": 2.0},
    "four-bar": {},
    "four-bar-grid": {"rows": 2, "columns": 3},
    "door": {},
    "stirrer": {"spheres": 60},
}
"""Small ones of every scene with joints."""
SCHEMES = ("stabilised", "projected", "rattle")


def build(name: str, **parameters: object) -> ns.System:
    return ns.scenes.SCENES[name].build(**{**MECHANISMS[name], **parameters})


# ---- scenes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_start_closed_with_velocities_that_joints_allow(name: str) -> None:
    system = build(name)
    closed = ns.assemble(system)
    np.testing.assert_allclose(closed.position, system.position, atol=1e-13)
    np.testing.assert_allclose(closed.linear_velocity, system.linear_velocity, atol=1e-12)
    np.testing.assert_allclose(closed.angular_velocity, system.angular_velocity, atol=1e-11)


@pytest.mark.parametrize("span", [None, 0.2, 1.0, 1.49])
@pytest.mark.parametrize("links", [2, 3, 10])
def test_a_chain_is_as_long_as_it_was_asked_for_and_hangs_below_its_ends(
    links: int, span: float | None
) -> None:
    system = ns.scenes.chain(links, span=span)
    points = system.joints.anchors(system.position, system.quaternion)
    assert len(system.joints) == links + (span is not None)
    start = points[:, 0]
    np.testing.assert_allclose(start[0], 0.0, atol=1e-15)
    if span is None:
        np.testing.assert_allclose(start[:, 0], 1.5 / links * np.arange(links), atol=1e-14)
        return
    np.testing.assert_allclose(np.linalg.norm(np.diff(start, axis=0), axis=1), 1.5 / links, rtol=1e-9)
    np.testing.assert_allclose(points[-1, 1], [span, 0.0, 0.0], atol=1e-9)
    assert np.all(start[1:-1, 2] < 0.0)


def test_a_free_chain_of_two_links_starts_to_fall_as_by_hand() -> None:
    """Level from rest: the links' angular accelerations are 9g/7l downwards and 3g/7l upwards."""
    step, link = 1e-4, 0.5
    fallen = ns.simulate(ns.scenes.chain(2, span=None, length=2.0 * link), duration=step, step=step).system
    turning = -fallen.angular_velocity[:, 1] / step  # pins turn from x towards z
    np.testing.assert_allclose(turning, [-9.0 * 9.81 / (7.0 * link), 3.0 * 9.81 / (7.0 * link)], rtol=1e-9)


@pytest.mark.parametrize("driven", [True, False])
def test_four_bars_of_a_grid_do_not_know_of_each_other(driven: bool) -> None:
    grid = ns.scenes.four_bar_grid(2, 2, driven=driven)
    run = ns.simulate(grid, duration=0.2, step=0.002, scheme="rattle")
    for number in range(4):
        row, column = divmod(number, 2)
        single = ns.scenes.four_bar(angle=0.5 * math.pi * number, driven=driven)
        alone = ns.simulate(single, duration=0.2, step=0.002, scheme="rattle").system
        found = run.system.position[3 * number : 3 * number + 3] - [2.0 * column, 0.0, 2.0 * row]
        np.testing.assert_allclose(found, alone.position, atol=1e-9)


@pytest.mark.parametrize("hinges", [2, 3, 5])
def test_a_door_turns_the_same_on_any_number_of_hinges(hinges: int) -> None:
    """J θ̈ = F w/2 cos θ for a push along y on the centre; its angle after a short time is F w/2 t²/(2 J)."""
    one = ns.simulate(ns.scenes.door(1), duration=0.5, step=0.005, scheme="rattle").system
    many = ns.simulate(ns.scenes.door(hinges), duration=0.5, step=0.005, scheme="rattle").system
    np.testing.assert_allclose(many.position, one.position, atol=1e-9)
    moment = 20.0 * (1.0 + 0.05**2) / 12.0 + 20.0 * 0.25
    np.testing.assert_allclose(many.coordinate("hinge 0"), 3.0 * 0.5 * 0.25 / (2.0 * moment), rtol=1e-2)


def test_bad_parameters_of_mechanisms_are_named() -> None:
    with pytest.raises(OptionError, match=r"rod is 0\.1 m"):
        ns.scenes.slider_crank(crank=0.2, rod=0.1)
    with pytest.raises(OptionError, match="links is 1"):
        ns.scenes.chain(1)
    with pytest.raises(OptionError, match="span is 2"):
        ns.scenes.chain(10, span=2.0)
    with pytest.raises(OptionError, match="cannot join points"):
        ns.scenes.four_bar(coupler=0.1, rocker=0.1)
    with pytest.raises(OptionError, match="rows is 0"):
        ns.scenes.four_bar_grid(0)
    with pytest.raises(OptionError, match="hinges is 0"):
        ns.scenes.door(0)
    with pytest.raises(OptionError, match="spheres is 3"):
        ns.scenes.stirrer(3)
    with pytest.raises(OptionError, match="radius is -1"):
        ns.scenes.stirrer(30, radius=-1.0)


# ---- against references --------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["projected", "rattle"])
def test_a_slider_is_where_the_crank_puts_it(scheme: str) -> None:
    run = ns.simulate(ns.scenes.slider_crank(angle=0.5, speed=10.0), duration=0.3, step=0.003, scheme=scheme)
    x, v, _ = references.slider_crank(0.5 + 3.0, crank=0.1, rod=0.25, speed=10.0)
    slider = run.system.index("slider")
    assert run.system.position[slider] == pytest.approx([x, 0.0, 0.0], abs=1e-10)
    assert run.system.linear_velocity[slider, 0] == pytest.approx(v, abs=1e-9 if scheme == "rattle" else 0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_chain_at_rest_has_the_shape_and_forces_of_statics(scheme: str) -> None:
    system, kept = ns.scenes.chain(6, drag=8.0), []

    def look(frame: ns.stepping.Frame) -> None:
        if frame.time > 3.99:
            kept.append(frame.reactions())

    run = ns.simulate(system, duration=4.0, step=0.02, scheme=scheme, observe=look)
    wanted = references.hanging_chain(6, length=1.5, span=1.0, weight=9.81)
    found = run.system.joints.anchors(run.system.position, run.system.quaternion)[:, 0][:, [0, 2]]
    np.testing.assert_allclose(found, wanted.joints, atol=1e-7)
    force = np.linalg.norm(kept[-1].force, axis=1)
    np.testing.assert_allclose(force, np.linalg.norm(wanted.forces, axis=1), rtol=1e-5)


def test_a_top_precesses_steadily_to_second_order() -> None:
    reference = references.Top(4e-4, 3e-4 + 0.5 * 0.04**2, 0.5 * 9.81 * 0.04)
    rate, errors = reference.steady_precession(0.5, 150.0)[0], []
    for step in (0.001, 0.0005):  # longer ones would fly in parts
        far: list[float] = []

        def look(frame: ns.stepping.Frame, far: list[float] = far) -> None:
            sine, turned = math.sin(0.5), rate * frame.time
            wanted = [sine * math.sin(turned), -sine * math.cos(turned), math.cos(0.5)]
            axis = quaternions.rotate(frame.quaternion[0], (0.0, 0.0, 1.0))
            far.append(float(np.linalg.norm(axis - wanted)))

        ns.simulate(
            ns.scenes.top(precession_rate=rate), duration=0.2, step=step, scheme="rattle", observe=look
        )
        errors.append(max(far))
    assert errors[1] < 2e-4
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


# ---- the stirrer ---------------------------------------------------------------------------------------


def test_nothing_overlaps_in_a_stirrer_and_its_paddle_clears_the_floor() -> None:
    """Alone, the paddle goes round without touching anything, in the loop that its constants say."""
    system = ns.scenes.stirrer(60, strength=math.inf)
    assert len(ns.collision.Detector(system, 0.0).detect(system.position, system.quaternion)) == 0
    system.position[:60, 2] += 100.0  # the bed is lifted out of the way
    system.gravity = (0.0, 0.0, 0.0)
    coupler, table = system.index("coupler"), system.shapes
    paddle = np.flatnonzero(table.body == coupler)[1]
    tips: list[np.ndarray] = []

    def look(frame: ns.stepping.Frame) -> None:
        down = table.offset[paddle] + quaternions.rotate(
            table.rotation[paddle], (0.0, 0.0, -table.size[paddle, 2])
        )
        tips.append(frame.position[coupler] + quaternions.rotate(frame.quaternion[coupler], down))

    run = ns.simulate(system, duration=1.0, step=0.005, scheme="projected", observe=look)
    assert run.steps["contacts"].max() == 0.0
    x, _, z = np.array(tips).T
    half = -system.position[system.index("left"), 0]
    assert 2.5 * 0.05 < z.min() < 3.1 * 0.05
    assert np.ptp(z) == pytest.approx(1.42 * half / 3.25, rel=0.02)
    assert x.max() + x.min() == pytest.approx(0.0, abs=0.02 * half)
    assert np.abs(x).max() < 0.55 * half


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_work_of_the_stirrers_motor_is_energy_and_heat(law: str) -> None:
    system = ns.scenes.stirrer(40)
    crank, before, ledger = system.index("crank"), system.copy(), []

    def look(frame: ns.stepping.Frame) -> None:
        torque = frame.reactions(minimum_norm=False).rows["motor of joint 'shaft'"][0]
        speed = -0.5 * (before.angular_velocity[crank, 1] + frame.angular_velocity[crank, 1])
        energy = frame.numbers["kinetic_energy"] + frame.numbers["potential_energy"]
        ledger.append((torque * speed * frame.step, -contact_work(before, frame), energy))
        for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
            getattr(before, name)[:] = getattr(frame, name)

    run = ns.simulate(system, duration=0.6, step=0.004, law=law, tolerance=1e-3, observe=look)
    assert run.certificate.failed == 0
    work, heat, energy = np.array(ledger).T
    through = np.abs(work).sum() + np.abs(heat).sum()
    left = np.cumsum(work - heat)[1:] - np.cumsum(work - heat)[0] - (energy[1:] - energy[0])
    assert np.abs(left).max() < 0.01 * through
    assert heat.sum() > 0.0


# ---- experiments ---------------------------------------------------------------------------------------

FILES = {
    "slider-crank": {"motion.csv", "errors.csv", "motion.png", "convergence.png"},
    "double-pendulum": {"trials.csv", "motion.csv", "motion.png", "convergence.png", "drift.png"},
    "catenary": {"joints.csv", "errors.csv", "shape.png", "errors.png"},
    "spinning-top": {
        "trials.csv", "motion.csv", "motion.png", "convergence.png", "drift.png", "precession.png",
    },
    "stirrer": {"steps.csv", "runs.json", "scene.png", "torque.png", "work.png", "certificate.png"},
}  # fmt: skip


class Outcome:
    """One run in quick mode."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder, self.calls = folder, []
        self.summary = experiments.by_name(name).run(folder, True, lambda *call: self.calls.append(call))

    def ours(self, start: str) -> float:
        (row,) = [row for row in self.summary.comparisons if row.quantity.startswith(start)]
        return row.ours


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Filled as tests ask for experiments."""
    return {}


@pytest.fixture
def outcome_of(outcomes: dict[str, Outcome], tmp_path_factory: pytest.TempPathFactory):
    def get(name: str) -> Outcome:
        if name not in outcomes:
            outcomes[name] = Outcome(name, tmp_path_factory.mktemp("out") / name)
        return outcomes[name]

    return get


@pytest.mark.parametrize("name", FILES)
def test_experiments_write_what_they_say(name: str, outcome_of) -> None:
    from matplotlib.image import imread

    outcome = outcome_of(name)
    wanted = FILES[name] | {"summary.md", "summary.json"}
    assert {path.name for path in outcome.summary.files} == wanted
    assert {path.name for path in outcome.folder.iterdir()} == wanted
    assert all(math.isfinite(row.ours) for row in outcome.summary.comparisons)
    done = [call[0] for call in outcome.calls]
    assert done == list(range(done[-1] + 1))
    assert {call[1] for call in outcome.calls} == {done[-1]}
    for path in outcome.summary.files:
        if path.suffix == ".png":
            image = imread(path)
            assert min(image.shape[:2]) > 500
            assert image[:, :, :3].std() > 0.05
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8") as stream:
                assert len(list(csv.DictReader(stream))) >= 3


def test_slider_crank_experiment(outcome_of) -> None:
    outcome = outcome_of("slider-crank")
    assert outcome.ours("largest error of the position, projected") < 1e-10
    assert outcome.ours("largest error of the velocity, rattle") < 1e-9
    assert outcome.ours("largest error of the torque, stabilised") < 2e-3
    for scheme in ("projected", "rattle"):
        assert outcome.ours(f"largest error of the torque, {scheme}") < 0.05  # of a largest one of 1.1 N·m
    with (outcome.folder / "errors.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    torque = {(row["scheme"], int(row["steps_per_turn"])): float(row["torque_error_Nm"]) for row in rows}
    for scheme, order in (("stabilised", 2.0), ("projected", 1.0)):
        assert math.log2(torque[scheme, 100] / torque[scheme, 200]) == pytest.approx(order, abs=0.1)
    assert math.log2(torque["rattle", 100] / torque["rattle", 200]) > 0.9


@pytest.mark.parametrize("name", ["double-pendulum", "spinning-top"])
def test_schemes_converge_with_their_orders(name: str, outcome_of) -> None:
    outcome = outcome_of(name)
    assert outcome.ours("order of convergence, stabilised") == pytest.approx(1.0, abs=0.1)
    assert outcome.ours("order of convergence, projected") == pytest.approx(1.0, abs=0.2)
    assert outcome.ours("order of convergence, rattle") == pytest.approx(2.0, abs=0.05)
    assert outcome.ours("largest error of the joints, rattle") < 1e-11
    assert outcome.ours("largest error of the joints, projected") < 5e-11


def test_steady_precession_of_the_experiment(outcome_of) -> None:
    rows = {row.quantity: row for row in outcome_of("spinning-top").summary.comparisons}
    for name, rate in (("slow", 3.46294), ("fast", 58.6913)):
        (row,) = [row for quantity, row in rows.items() if quantity.startswith(f"rate of {name}")]
        assert row.ours == pytest.approx(rate, rel=1e-3)


def test_catenary_experiment(outcome_of) -> None:
    outcome = outcome_of("catenary")
    for links in (10, 20, 40):
        assert outcome.ours(f"largest distance of a joint from statics, {links}") < 1e-6
        assert outcome.ours(f"largest error of a joint's force, {links}") < 1e-4
    coarse, fine = (outcome.ours(f"largest distance from the catenary, {links}") for links in (20, 40))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.02)
    assert outcome.ours("sag") == pytest.approx(0.502633, abs=3e-4)


def test_stirrer_experiment(outcome_of) -> None:
    outcome = outcome_of("stirrer")
    runs = json.loads((outcome.folder / "runs.json").read_text(encoding="utf-8"))
    assert set(runs) == {"exact", "relaxed", "exact_projected"}
    for run in runs.values():
        assert run["steps_that_missed_the_tolerance"] == 0
        assert run["balance_error"] < 0.01
        assert 0.5 < run["turns"] <= 1.0 + 1e-9
        assert run["heat_of_contacts_J"] > 0.0
    assert runs["exact_projected"]["largest_joint_error_m_or_rad"] < 1e-10
    assert runs["exact_projected"]["largest_penetration_m"] < 1e-10
    assert runs["exact"]["largest_joint_error_m_or_rad"] < 1e-3
