"""The compiled walk: the same bits however many steps a call does, room that grows, frames that are kept."""

from __future__ import annotations

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.collision.certificate import ContactChecker
from nonsmooth.errors import NonsmoothError
from nonsmooth.stepping import world
from nonsmooth.stepping.schemes import scheme_step

STEP = 0.004


def heap(kind: str = "mixed", seed: int = 0, bodies: int = 12) -> ns.System:
    """Bodies that fall on a plane."""
    rng = np.random.default_rng(seed)
    system = ns.System()
    system.add_plane()
    for i in range(bodies):
        place = {
            "mass": 1.0 + rng.random(),
            "position": (0.25 * (i % 2), 0.22 * (i // 2 % 2), 0.15 + 0.21 * (i // 4)),
            "velocity": 0.3 * rng.standard_normal(3),
        }
        if kind == "spheres" or (kind == "mixed" and i % 3 == 0):
            system.add_sphere(0.1, **place)
        elif kind == "boxes" or i % 3 == 1:
            system.add_box((0.2, 0.2, 0.15), **place)
        else:
            system.add_hull(0.12 * rng.standard_normal((10, 3)), **place)
    return system


def on_mesh() -> ns.System:
    system = ns.System()
    x = np.array([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0.3)], dtype=float) - (1.0, 1.0, 0.0)
    system.add_mesh(x, np.array([(0, 1, 2), (0, 2, 3)]), fixed=True)
    system.add_box((0.3, 0.3, 0.3), mass=1.0, position=(0.1, 0.05, 0.35))
    system.add_sphere(0.1, mass=1.0, position=(-0.3, -0.2, 0.3))
    return system


def pendulum_with_contact() -> ns.System:
    system = ns.System()
    system.add_plane()
    bar = system.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 0.4))
    system.add_joint(ns.joints.Revolute(None, bar, point=(0, 0, 0.4), axis=(0, 1, 0)))
    return system


def bouncing() -> ns.System:
    system = ns.System()
    system.add_material("rubber", restitution=0.6)
    system.add_plane(material="rubber")
    for k in range(3):
        system.add_sphere(0.1, mass=1.0, position=(0.3 * k, 0, 0.15 + 0.1 * k), material="rubber")
    return system


def pushed() -> ns.System:
    """Forces that depend on time."""
    system = heap("boxes", bodies=4)
    system.add_force(1, force=ns.model.forces.Harmonic((5.0, 0.0, 0.0), 2.0))
    return system


SCENES = {
    "spheres": lambda: heap("spheres"),
    "mixed": heap,
    "mesh": on_mesh,
    "joints": pendulum_with_contact,
    "restitution": bouncing,
    "forces": pushed,
}


def state(simulation: ns.Simulation) -> list[np.ndarray]:
    system = simulation.system
    return [system.position, system.quaternion, system.linear_velocity, system.angular_velocity]


def same(one: ns.Simulation, other: ns.Simulation) -> bool:
    """Whether states, impulses and numbers are equal to the last bit."""
    pairs = [*zip(state(one), state(other), strict=True), (one.impulses, other.impulses)]
    return all(np.array_equal(a, b) for a, b in pairs) and np.array_equal(
        one.steps.table(), other.steps.table(), equal_nan=True
    )


@pytest.mark.parametrize("name", SCENES)
def test_a_hundred_steps_in_one_call_are_a_hundred_calls(name):
    one, other = (ns.Simulation(SCENES[name](), step=STEP) for _ in range(2))
    for _ in range(100):
        one.step()
    other.step(60)
    other.step(40)
    assert one.index == other.index == one.steps.count == 100
    assert same(one, other)


@pytest.mark.parametrize("name", ["spheres", "mixed", "mesh"])
@pytest.mark.parametrize("room", [1, 2])
def test_room_grows_without_a_trace(monkeypatch, name, room):
    wide = ns.Simulation(SCENES[name](), step=STEP)
    wide.step(60)
    monkeypatch.setattr(world, "_FIRST_ROOM", room)
    monkeypatch.setattr(world, "_pairs_at_first", lambda shapes: room)
    narrow = ns.Simulation(SCENES[name](), step=STEP)
    narrow.step(60)
    assert len(narrow._stepper._world.arrays.problem.x) > room
    assert same(wide, narrow)


@pytest.mark.parametrize("name", SCENES)
def test_frames_that_somebody_holds_stay(name):
    simulation = ns.Simulation(SCENES[name](), step=STEP)
    simulation.step(30)
    frames = [simulation.step() for _ in range(6)]
    again = ns.Simulation(SCENES[name](), step=STEP)
    again.step(30)
    for frame in frames:
        other = again.step()
        assert frame.index == other.index
        assert np.array_equal(frame.contacts.gap, other.contacts.gap)
        assert np.array_equal(frame.impulses, other.impulses)
        assert np.array_equal(frame.centres, other.centres)
        assert frame.numbers == other.numbers
        assert frame.residual == frame.solution.certificate.residual
        assert frame.iterations == frame.solution.statistics.iterations
        assert frame.numbers["dissipation"] == frame.solution.certificate.dissipation


def test_the_walk_checks_contacts_as_the_checker_does():
    simulation = ns.Simulation(heap(), step=STEP, contact_check="all")
    checker = ContactChecker(simulation.system, "all")
    for _ in range(40):
        position, quaternion = simulation.system.position.copy(), simulation.system.quaternion.copy()
        frame = simulation.step()
        margin = simulation._stepper._world.arrays.detection.margins[0]
        found = checker.check(frame.contacts, position, quaternion, margin=margin, step=frame.index - 1)
        mine = frame.contacts.certificate
        if not mine.withheld:
            assert mine == found
        assert frame.numbers["contacts_checked"] == mine.checked == len(frame.contacts)


def test_a_force_that_fails_loses_nothing():
    system = heap("boxes", bodies=4)

    def force(t: float) -> tuple[float, float, float]:
        if t > 6.5 * STEP:
            raise ValueError("no fuel")
        return (1.0, 0.0, 0.0)

    system.add_force(1, force=force)
    simulation = ns.Simulation(system, step=STEP)
    with pytest.raises(ValueError, match="no fuel"):
        simulation.step(20)
    assert simulation.index == simulation.steps.count == simulation.frame.index == 7
    assert simulation.frame.residual == simulation.frame.solution.certificate.residual
    assert len(simulation.contacts) == simulation.frame.numbers["contacts"]


def test_an_interrupt_within_a_step_drops_it(monkeypatch):
    simulation = ns.Simulation(on_mesh(), step=STEP)
    simulation.step(20)
    before = [array.copy() for array in state(simulation)]
    held = simulation.frame
    contacts = held.contacts.gap.copy()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(simulation._stepper._checker, "every", 1)
        patch.setattr(simulation._stepper._detector, "detect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulation.step(5)
    assert simulation.index == simulation.steps.count == 20
    assert all(np.array_equal(a, b) for a, b in zip(before, state(simulation), strict=True))
    assert np.array_equal(held.contacts.gap, contacts)
    other = ns.Simulation(on_mesh(), step=STEP)
    other.step(25)
    simulation.step(5)
    assert same(simulation, other)


def test_details_of_a_step_that_was_overwritten_are_an_error(monkeypatch):
    simulation = ns.Simulation(on_mesh(), step=STEP)
    simulation.step(20)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(simulation._stepper._detector, "detect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulation.step()
    assert simulation.frame.index == 20
    with pytest.raises(NonsmoothError, match="step 20 are not known any more"):
        _ = simulation.frame.contacts


def tower(count: int) -> ns.System:
    system = ns.System()
    system.add_plane()
    for k in range(count):
        system.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
    return system


def test_a_tower_is_solved_in_the_walk():
    simulation = ns.Simulation(tower(20), step=STEP, tolerance=1e-8)
    frame = simulation.step(50)
    assert simulation.certificate.missed == 0
    assert "admm" in frame.solution.statistics.note
    weight = 9.81 * np.arange(1, 21)[::-1]
    upward = np.array([frame.force_on(1 + k, by=k)[2] for k in range(20)])
    assert upward == pytest.approx(weight, rel=1e-6)


def test_a_tower_that_the_walk_does_not_solve_is_handed_over():
    simulation = ns.Simulation(tower(20), step=STEP, tolerance=1e-8)
    simulation._stepper._world.count[world.kernels.AHEAD] = 1
    frame = simulation.step(5)
    assert simulation.certificate.missed == 0
    assert frame.residual <= 1e-8


def chain(links: int = 4) -> ns.System:
    """Rods on hinges that hang from the ground, begun horizontally."""
    system, last = ns.System(), None
    for k in range(links):
        rod = system.add_box((0.1, 0.02, 0.02), mass=0.1, position=(0.1 * k + 0.05, 0, 0))
        system.add_joint(ns.joints.Revolute(last, rod, point=(0.1 * k, 0, 0), axis=(0, 1, 0)))
        last = rod
    return system


def loop() -> ns.System:
    """A slider-crank: its rows are redundant."""
    system = ns.System()
    up = (0, 0, 1)
    crank = system.add_box((0.1, 0.02, 0.02), mass=0.1, position=(0.05, 0, 0), angular_velocity=(0, 0, 9.0))
    rod = system.add_box((0.3, 0.02, 0.02), mass=0.3, position=(0.25, 0, 0))
    slider = system.add_box((0.05, 0.05, 0.05), mass=0.5, position=(0.4, 0, 0))
    system.add_joint(ns.joints.Revolute(None, crank, point=(0, 0, 0), axis=up))
    system.add_joint(ns.joints.Revolute(crank, rod, point=(0.1, 0, 0), axis=up))
    system.add_joint(ns.joints.Revolute(rod, slider, point=(0.4, 0, 0), axis=up))
    system.add_joint(ns.joints.Prismatic(None, slider, point=(0.4, 0, 0), axis=(1, 0, 0)))
    return ns.assemble(system)


def falling_chain() -> ns.System:
    """A chain whose end falls on a box: steps of the walk and of the scheme take turns."""
    system = chain()
    system.add_box((0.4, 0.4, 0.1), position=(0.1, 0, -0.35), fixed=True)
    return system


@pytest.mark.parametrize("build", [chain, loop, falling_chain])
def test_joints_alone_are_held_by_the_walk_as_by_the_scheme(monkeypatch, build):
    walked = ns.Simulation(build(), step=0.002)
    monkeypatch.setattr(scheme_step, "can_walk", lambda system, mechanism: False)
    other = ns.Simulation(build(), step=0.002)
    for simulation in (walked, other):
        simulation.step(150)
        simulation.step(150)
    assert walked._stepper._world.arrays.joints.slot.size > 0
    assert other._stepper._world.arrays.joints.slot.size == 0
    assert all(np.array_equal(a, b) for a, b in zip(state(walked), state(other), strict=True))
    for name in walked.steps:
        one, two = walked.steps[name], other.steps[name]
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12, nan_ok=True), name
    assert walked.state.joint_angles == pytest.approx(other.state.joint_angles, abs=0.0)
    a, b = walked.frame, other.frame
    assert a.numbers.keys() == b.numbers.keys()
    assert a.solution.certificate.residual == b.solution.certificate.residual == a.residual
    assert np.array_equal(a.joints.impulses, b.joints.impulses)
    assert np.array_equal(a.joints.rows.gradient, b.joints.rows.gradient)
    assert np.array_equal(a.reactions().force, b.reactions().force)


def test_a_chain_keeps_its_energy_to_first_order():
    energies = []
    for step in (0.002, 0.001):
        simulation = ns.Simulation(chain(2), step=step)
        simulation.run(until=0.4)
        steps = simulation.steps
        energies.append(float(np.ptp(steps["kinetic_energy"] + steps["potential_energy"])))
    assert energies[1] < 0.6 * energies[0]
