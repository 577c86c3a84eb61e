"""A simulation that is driven: the same bits however it is cut into calls, state, controls, recordings."""

from __future__ import annotations

import dataclasses
import math
import signal
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.errors import OptionError, ProblemError, WorldError
from nonsmooth.events.options import EventOverrides
from nonsmooth.model.shapes import Sphere
from nonsmooth.stepping.options import StepOverrides

STEP = 0.01


def heap() -> ns.System:
    return ns.scenes.filling(20)


def pendulum(**motor: Any) -> ns.System:
    """A bob of 1 kg, 1 m below a hinge on the y axis."""
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, position=(0, 0, -1.0), name="bob")
    system.add_joint(ns.joints.Revolute(None, "bob", point=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    if motor:
        system.add_motor("hinge", **motor)
    return system


def bits(source: ns.Simulation | ns.Run) -> bytes:
    """State and numbers of all steps."""
    system = source.system
    arrays = (system.position, system.quaternion, system.linear_velocity, system.angular_velocity)
    return b"".join(array.tobytes() for array in (*arrays, source.steps.table()))


def crowd() -> ns.System:
    """A pendulum whose motor turns it round and round, and a crate in its way."""
    system = pendulum(speed=9.0, limit=30.0)
    system.add_plane(point=(0, 0, -1.2), name="floor")
    system.add_box((0.2, 0.2, 0.4), mass=0.5, position=(0.6, 0, -1.0), name="crate")
    return system


# ---- the same bits however it is called -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "scheme"), [(heap, "stabilised"), (crowd, "stabilised"), (crowd, "projected")]
)
def test_one_step_at_a_time_or_all_at_once(build: Any, scheme: str) -> None:
    single, together = (ns.Simulation(build(), step=STEP, scheme=scheme) for _ in range(2))
    for _ in range(100):
        last = single.step()
    assert last.index == single.index == together.step(100).index == 100
    run = ns.simulate(build(), duration=1.0, step=STEP, scheme=scheme)
    assert bits(single) == bits(together) == bits(run)
    assert single.time == run.time == 100 * STEP


def test_run_goes_on_from_call_to_call() -> None:
    parts, whole = (ns.Simulation(heap(), step=STEP) for _ in range(2))
    assert parts.run(until=0.0) is None
    parts.run(until=0.305)  # ends with the first step at or after it
    assert parts.time == 31 * STEP
    frame = parts.run(until=lambda frame: frame.numbers["contacts"] > 0)
    assert frame is parts.frame
    assert frame.index == parts.index > 31
    parts.run(until=1.0)
    parts.run(until=0.5)  # it is over
    whole.run(until=1.0)
    assert parts.index == 100
    assert bits(parts) == bits(whole)


def test_hooks_see_every_step() -> None:
    simulation, seen = ns.Simulation(heap(), step=STEP), []
    hook = simulation.observe(lambda frame: seen.append(frame.index))
    simulation.step(5)
    assert callable(hook)
    assert seen == [1, 2, 3, 4, 5]


def test_what_the_last_step_tells() -> None:
    simulation = ns.Simulation(ns.scenes.box_stack(2), step=STEP)
    assert len(simulation.contacts) == len(simulation.forces) == 0
    assert simulation.frame is None
    simulation.step(20)
    contacts, floor = simulation.contacts, simulation.system.index("floor")
    on_floor = np.any(contacts.bodies == floor, axis=1)
    assert abs(simulation.forces[on_floor, 2].sum()) == pytest.approx(2 * 500 * 9.81, rel=1e-3)
    assert np.abs(contacts.gap).max() < 1e-3
    assert np.allclose(simulation.impulses, STEP * simulation.forces, rtol=1e-15)


# ---- state ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "scheme"), [(heap, "stabilised"), (crowd, "projected"), (crowd, "rattle"), (pendulum, "rattle")]
)
def test_a_state_that_is_set_leads_to_the_same_bits(build: Any, scheme: str) -> None:
    simulation = ns.Simulation(build(), step=STEP, scheme=scheme)
    simulation.step(60)
    state = simulation.state
    simulation.step(30)
    there = simulation.state
    other = ns.Simulation(build(), step=STEP, scheme=scheme)
    for one in (simulation, other):
        one.state = state
        assert one.time == 60 * STEP
        one.step(30)
        for name, value in vars(there).items():
            assert np.asarray(getattr(one.state, name)).tobytes() == np.asarray(value).tobytes(), name


def test_a_state_is_a_copy_and_can_be_changed() -> None:
    simulation = ns.Simulation(pendulum(), step=STEP)
    state = simulation.state
    twin = state.copy()
    simulation.step(10)
    assert np.array_equal(state.position, twin.position)
    state.linear_velocity[0] = (1.0, 0, 0)
    state.angular_velocity[0] = (0, -1.0, 0)
    assert not np.array_equal(state.linear_velocity, twin.linear_velocity)
    simulation.state = state
    assert simulation.time == 0.0
    assert simulation.system.coordinate_velocity("hinge") == pytest.approx(-1.0)


def test_wrong_states() -> None:
    simulation = ns.Simulation(pendulum(), step=STEP)
    simulation.step(3)
    state = simulation.state
    state.position[0] = math.nan
    with pytest.raises(ProblemError, match="position"):
        simulation.state = state
    assert np.isfinite(simulation.system.position).all()
    with pytest.raises(OptionError, match=r"time 0\.03 s, which is not a multiple of the step 0\.02 s"):
        ns.Simulation(pendulum(), step=0.02).state = simulation.state
    with pytest.raises(OptionError, match="has 1 bodies and the simulation 3"):
        ns.Simulation(crowd(), step=STEP).state = simulation.state


def test_what_is_no_time_or_state_is_refused_by_name() -> None:
    sim = ns.Simulation(pendulum(), step=0.01)
    sim.add(Sphere(0.1), mass=1.0, position=(3.0, 0.0, 3.0), name="late")
    with pytest.raises(OptionError, match=r"until is 'x': give a time in s, or a function"):
        sim.run(until="x")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"step is 'a': give a positive time step"):
        ns.Simulation(pendulum(), step="a")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="observe is 3: give a function of the frame, or a Sensor"):
        sim.observe(3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the state is 5: give the state of a simulation"):
        sim.state = 5  # type: ignore[assignment]
    for wrong, words in ((5, "the state is 5"), (sim.state, "bodies")):
        with pytest.raises(OptionError, match=words):
            sim.reset(wrong)  # type: ignore[arg-type]
        assert "late" in sim.system.names  # nothing was reset


def test_what_is_printed_fits_a_line() -> None:
    sim = ns.Simulation(pendulum(), step=0.01)
    assert repr(sim.step()).startswith("Frame(index=1, time=0.01 s, ")
    assert repr(sim.state).startswith("State(time=0.01 s, ")
    assert max(len(repr(sim.frame)), len(repr(sim.state))) < 120


def test_a_missed_step_says_which_and_how_to_go_on() -> None:
    sim = ns.Simulation(
        ns.scenes.box_stack(boxes=2), step=0.01, max_iterations=1, tolerance=1e-12, throw=True
    )
    with pytest.raises(ns.SolveError, match=r"^step 1: .*\(throw=False counts such steps and goes on\.\)$"):
        sim.step(20)


def test_a_mistyped_number_or_scene_names_the_near_one() -> None:
    run = ns.simulate(pendulum(), duration=0.02, step=0.01)
    with pytest.raises(KeyError, match="did you mean residual"):
        run.steps["residul"]
    with pytest.raises(OptionError, match="no ready-made scene 'chian': did you mean chain"):
        ns.scenes.SCENES["chian"]
    with pytest.raises(OptionError, match=r"give a solver object such as ns\.solvers\.Newton\(\)"):
        ns.simulate(pendulum(), duration=0.02, step=0.01, solver="newton")  # type: ignore[arg-type]


def test_reset_begins_again() -> None:
    simulation = ns.Simulation(crowd(), step=STEP)
    begun, system = simulation.state, simulation.system
    simulation.step(50)
    first, draws = bits(simulation), simulation.random.random(3)
    simulation.set_motor("hinge", speed=-5.0)
    simulation.set_force("crate", (0, 0, 3.0))
    simulation.add(Sphere(0.1), mass=1.0, position=(0, 1, 0), name="ball")
    simulation.step(10)
    simulation.reset(seed=0)
    assert simulation.system is system  # whoever holds it sees the same bodies
    assert (simulation.time, simulation.steps.count, simulation.system.count) == (0.0, 0, 3)
    assert np.array_equal(simulation.random.random(3), draws)
    simulation.step(50)
    assert bits(simulation) == first
    begun.linear_velocity[simulation.system.index("crate")] = (0, 0, 1.0)
    simulation.reset(begun)
    assert simulation.system.linear_velocity[2, 2] == 1.0


# ---- controls -------------------------------------------------------------------------------------------


def test_a_force_is_held_until_it_is_set_again() -> None:
    system = ns.System(gravity=(0, 0, 0))
    system.add_sphere(0.1, mass=2.0, name="ball")
    simulation = ns.Simulation(system, step=STEP)
    simulation.set_force("ball", (4.0, 0, 0))
    simulation.step(100)
    assert simulation.system.linear_velocity[0] == pytest.approx((2.0, 0, 0))
    simulation.set_force("ball", (0, 1.0, 0), torque=(0, 0, 0.02))
    simulation.step(100)
    assert simulation.system.linear_velocity[0] == pytest.approx((2.0, 0.5, 0))
    spin = 0.02 / (0.4 * 2.0 * 0.1**2)
    assert simulation.system.angular_velocity[0, 2] == pytest.approx(spin)
    simulation.set_force("ball")
    simulation.step(100)
    assert simulation.system.linear_velocity[0] == pytest.approx((2.0, 0.5, 0))
    assert not system.forces(0.0).any()  # the system that was given knows nothing of it


def test_a_copy_of_the_system_is_not_steered_with_it() -> None:
    simulation = ns.Simulation(pendulum(force=0.0), step=STEP)
    simulation.set_motor("hinge", force=2.0)
    other = ns.Simulation(simulation.system, step=STEP)
    simulation.set_motor("hinge", force=0.0)
    simulation.step()
    other.step()
    assert simulation.system.coordinate_velocity("hinge") == pytest.approx(0.0, abs=1e-12)
    assert other.system.coordinate_velocity("hinge") > 0.01


def test_a_motor_with_a_force_obeys() -> None:
    """Against gravity at rest: the torque m g l sin(0.5) holds the pendulum at 0.5 rad."""
    system = pendulum(force=lambda t: 1e3)
    turned = ns.Simulation(system, step=0.001)
    gain, damping = 60.0, 12.0
    for _ in range(4000):
        angle = turned.system.coordinate("hinge")
        rate = turned.system.coordinate_velocity("hinge")
        turned.set_motor("hinge", force=9.81 * math.sin(0.5) - gain * (angle - 0.5) - damping * rate)
        turned.step()
    assert turned.system.coordinate("hinge") == pytest.approx(0.5, abs=1e-6)
    assert turned.certificate.failed == 0


def test_a_motor_with_a_speed_obeys() -> None:
    simulation = ns.Simulation(pendulum(speed=lambda t: 5.0, limit=1e3), step=STEP)
    for speed in (1.0, -2.0):
        simulation.set_motor("hinge", speed=speed)
        before = simulation.system.coordinate("hinge")
        simulation.step(100)
        assert simulation.system.coordinate_velocity("hinge") == pytest.approx(speed, abs=1e-3)
        assert simulation.system.coordinate("hinge") - before == pytest.approx(speed, abs=1e-2)


@pytest.mark.parametrize("scheme", ["stabilised", "projected", "rattle"])
def test_a_driver_is_where_it_was_told_to_be(scheme: str) -> None:
    system = pendulum()
    system.add_driver("hinge", ns.joints.Ramp(0.0))
    simulation = ns.Simulation(system, step=STEP, scheme=scheme)
    for target in (0.001, 0.003, 0.0):
        simulation.set_driver("hinge", target)
        simulation.step()
        assert simulation.system.coordinate("hinge") == pytest.approx(target, abs=1e-5)
    simulation.set_driver("hinge", 0.01, rate=1.0)
    simulation.step(101)
    assert simulation.system.coordinate("hinge") == pytest.approx(1.01, abs=1e-3)


def test_wrong_controls_name_the_cure() -> None:
    system = crowd()
    simulation = ns.Simulation(system, step=STEP)
    with pytest.raises(ProblemError, match=r"no motor with a force on its angle: add one first, .*force=0"):
        simulation.set_motor("hinge", force=1.0)
    with pytest.raises(ProblemError, match=r"no driver on its angle: add one first, system.add_driver"):
        simulation.set_driver("hinge", 1.0)
    with pytest.raises(ProblemError, match="needs one of force and speed"):
        simulation.set_motor("hinge")
    with pytest.raises(ProblemError, match="speed of the motor of joint 'hinge'"):
        simulation.set_motor("hinge", speed=math.inf)
    with pytest.raises(ProblemError, match="'floor' is fixed"):
        simulation.set_force("floor", (0, 0, 1))
    with pytest.raises(ProblemError, match="'crat' is not known"):
        simulation.set_force("crat", (0, 0, 1))


# ---- bodies that come and go ----------------------------------------------------------------------------


def test_a_body_that_is_added_and_removed_leaves_the_others_alone() -> None:
    """Far away it changes nothing: contacts of the others go on with their impulses, bit by bit."""
    alone, visited = (ns.Simulation(ns.scenes.box_stack(3), step=STEP, margin=0.01) for _ in range(2))
    for simulation in (alone, visited):
        simulation.step(10)
    index = visited.add(Sphere(0.3), density=1000.0, position=(50.0, 0, 50.0), name="far")
    assert index == visited.system.index("far") == 4
    alone.step(10)
    visited.step(10)
    assert visited.system.position[4, 2] < 50.0
    visited.remove("far")
    alone.step(10)
    visited.step(10)
    assert visited.system.position.tobytes() == alone.system.position.tobytes()
    assert "far" not in visited.system.names


def test_removing_keeps_names_joints_and_contacts() -> None:
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, position=(9, 0, 0), name="first")
    system.add_force("first", force=(0, 0, 9.81))
    system.add_plane(point=(0, 0, -2.0), name="floor")
    system.add_box((0.2, 0.2, 0.2), mass=1.0, position=(3, 0, -1.9), name="crate")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, -1.0), name="bob")
    system.add_joint(ns.joints.Revolute(None, 3, point=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    system.add_motor("hinge", force=1.0)
    system.add_force("crate", force=(0, 0, -1.0))
    system.ignore_contacts("bob", "crate")
    simulation = ns.Simulation(system, step=STEP)
    simulation.set_force("bob", (0.5, 0, 0))
    simulation.step(20)
    kept = simulation.state.contact_impulses.copy()
    simulation.remove("first")
    assert np.array_equal(simulation.state.contact_impulses, kept)
    assert simulation.system.names == {"floor": 0, "crate": 1, "bob": 2}
    assert simulation.system.ignored_pairs.tolist() == [[1, 2]]
    assert simulation.system.joints["hinge"].b == 2
    assert simulation.step().iterations == 0 or len(kept)  # it begins from the impulses it has
    simulation.step(20)
    crate = simulation.contacts.bodies[:, 1] == 1
    assert simulation.forces[crate, 2].sum() == pytest.approx(9.81 + 1.0, rel=1e-3)
    assert simulation.certificate.largest_joint_error < 1e-3
    assert simulation.certificate.steps == 41
    with pytest.raises(ProblemError, match="'bob' belongs to joint 'hinge'"):
        simulation.remove("bob")
    with pytest.raises(ProblemError, match="named 'bob' exists already"):
        simulation.add(Sphere(0.1), mass=1.0, name="bob")
    simulation.step()


# ---- certificate, errors, Ctrl-C ------------------------------------------------------------------------


def test_the_certificate_is_that_of_all_steps() -> None:
    simulation = ns.Simulation(heap(), step=STEP)
    nothing = simulation.certificate
    assert nothing.steps == 0
    assert math.isnan(nothing.worst)
    assert nothing.joints_held
    assert str(nothing) == "no step was done"
    for _ in range(4):
        simulation.step(15)
        assert simulation.certificate.steps == simulation.index
    run = ns.simulate(heap(), duration=0.6, step=STEP)
    for field in dataclasses.fields(run.certificate):
        assert getattr(run.certificate, field.name) == getattr(simulation.certificate, field.name), field.name


def test_numbers_that_are_not_known_are_no_zeros() -> None:
    steps = ns.simulate(pendulum(), duration=0.05, step=STEP).steps
    assert np.isnan(steps["flight_work"]).all()  # nobody asked
    assert not steps["impacts"].any()  # nothing bounces
    assert not steps["residual"].flags.writeable


def test_a_step_that_is_missed_is_counted_or_raised_and_not_done() -> None:
    rough = {"max_iterations": 1, "solver": ns.solvers.APGD()}
    counted = ns.Simulation(ns.scenes.box_stack(), step=STEP, **rough)
    counted.step(3)
    assert counted.certificate.missed == 3
    raised = ns.Simulation(ns.scenes.box_stack(), step=STEP, throw=True, **rough)
    before = raised.state
    with pytest.raises(ns.SolveError):
        raised.step(3)
    assert (raised.index, raised.steps.count) == (0, 0)
    assert raised.state.linear_velocity.tobytes() == before.linear_velocity.tobytes()


def test_an_error_leaves_the_last_whole_step() -> None:
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, name="ball")
    simulation = ns.Simulation(system, step=STEP, world=((-1, -1, -1), (1, 1, 1)))
    with pytest.raises(WorldError):
        simulation.run(until=10.0)
    assert simulation.system.position[0, 2] > -1.0
    assert simulation.steps.count == simulation.index


@pytest.mark.parametrize("build", [heap, crowd])
def test_ctrl_c_in_the_middle_of_a_step(build: Any) -> None:
    system, whole = build(), ns.Simulation(build(), step=STEP)
    pressed = False

    def press(t: float, system: ns.System) -> tuple[np.ndarray, None]:
        nonlocal pressed
        if t > 0.3 and not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)
        return np.zeros((system.count, 3)), None

    system.add_force_field(press)
    simulation = ns.Simulation(system, step=STEP)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            simulation.run(until=0.6)
    finally:
        signal.signal(signal.SIGINT, before)
    assert simulation.index == simulation.steps.count == 31
    simulation.run(until=0.6)
    whole.run(until=0.6)
    assert simulation.system.position.tobytes() == whole.system.position.tobytes()


# ---- recording ------------------------------------------------------------------------------------------


def test_a_recording_of_a_driven_simulation(tmp_path: Path) -> None:
    simulation = ns.Simulation(pendulum(force=0.0), step=STEP)
    simulation.step(5)
    with simulation.record(tmp_path / "run.h5") as recorder:
        for k in range(20):
            simulation.set_motor("hinge", force=float(k))
            simulation.step()
        with pytest.raises(OptionError, match=r"already recorded in .*run\.h5: close that recording first"):
            simulation.record(tmp_path / "other.h5")
        for forbidden in (
            lambda: simulation.add(Sphere(0.1), mass=1.0), lambda: simulation.remove("bob"), simulation.reset,
            lambda: setattr(simulation, "state", simulation.state),
        ):  # fmt: skip
            with pytest.raises(OptionError, match="close the recording before"):
                forbidden()
    assert recorder.closed
    simulation.step(5)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.indices.tolist() == list(range(5, 26))
        assert trajectory.times[0] == 5 * STEP
        assert trajectory.steps.count == 20
        assert np.array_equal(trajectory.steps["time"], simulation.steps["time"][5:25])
    with pytest.raises(OptionError, match="exists already"):
        simulation.record(tmp_path / "run.h5")
    simulation.record(ns.Recording(tmp_path / "run.h5", overwrite=True)).close()


def test_a_recording_of_a_driven_simulation_goes_on(tmp_path: Path) -> None:
    def drive(stop: int, path: Path, **options: Any) -> ns.Simulation:
        simulation = ns.Simulation(pendulum(force=0.0), step=STEP)
        simulation.step(5)
        with simulation.record(path, **options):
            while simulation.index < stop:
                simulation.set_motor("hinge", force=math.sin(simulation.time))
                simulation.step()
        return simulation

    drive(20, tmp_path / "run.h5")
    resumed = drive(40, tmp_path / "run.h5", resume=True)
    whole = drive(40, tmp_path / "whole.h5")
    assert resumed.steps.count == 40
    assert resumed.system.position.tobytes() == whole.system.position.tobytes()
    with ns.Trajectory(tmp_path / "run.h5") as one, ns.Trajectory(tmp_path / "whole.h5") as other:
        assert one.history("position", "bob").tobytes() == other.history("position", "bob").tobytes()


# ---- options --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "overrides"), [(ns.StepOptions, StepOverrides), (ns.EventOptions, EventOverrides)]
)
def test_keywords_are_the_fields_of_the_options(options: Any, overrides: Any) -> None:
    hints = get_type_hints(overrides)
    assert list(hints) == [field.name for field in dataclasses.fields(options)]
    assert hints == {name: get_type_hints(options)[name] for name in hints}


def test_options_by_object_and_by_keyword_are_the_same() -> None:
    options = ns.StepOptions(law="relaxed", tolerance=1e-6)
    given = ns.Simulation(heap(), step=STEP, options=options, tolerance=1e-5)
    assert (given.options.law, given.options.tolerance) == (options.law, 1e-5)
    assert dataclasses.replace(options, tolerance=1e-5) == given.options
    assert ns.StepOptions().tolerance == ns.stepping.STEP_TOLERANCE
    chosen = options.for_system(heap(), STEP)
    assert chosen.margin > 0.0
    assert chosen.for_system(heap(), STEP) == chosen
    with pytest.raises(OptionError, match="Simulation has no option 'tolerence': did you mean tolerance"):
        ns.Simulation(heap(), step=STEP, tolerence=1e-5)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="simulate has no option 'tolerence': did you mean tolerance"):
        ns.simulate(heap(), duration=STEP, step=STEP, tolerence=1e-5)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match=r"options=.rough.\): give StepOptions"):
        ns.Simulation(heap(), step=STEP, options="rough")  # type: ignore[arg-type]


def test_swapped_times_are_refused() -> None:
    message = r"step is 1 s, which is longer than the duration of 0\.001 s: give a shorter"
    with pytest.raises(OptionError, match=message):
        ns.simulate(heap(), duration=0.001, step=1.0)
    assert ns.simulate(heap(), duration=0.0, step=0.01).steps.count == 0
