"""Joints in motion: against closed forms, conservation laws and orders of convergence."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import nonsmooth as ns
from nonsmooth.model import quaternions
from nonsmooth.stepping import TimeStepper

SCHEMES = ("stabilised", "projected", "rattle")
GRAVITY = 9.81


def pendulum(angle: float = 1.0, length: float = 1.0) -> ns.System:
    """A point-like mass on a rod of `length` (m), `angle` (rad) from hanging, in the xz plane."""
    system = ns.System(gravity=(0.0, 0.0, -GRAVITY))
    place = length * np.array([math.sin(angle), 0.0, -math.cos(angle)])
    system.add_body(None, mass=1.0, inertia=(1e-4, 1e-4, 1e-4), position=place, name="bob")
    system.add_joint(ns.joints.Revolute(None, "bob", point=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    return system


def compound_pendulum() -> ns.System:
    """A bar of 1 m and 2 kg, hung at its end, horizontal."""
    system = ns.System(gravity=(0.0, 0.0, -GRAVITY))
    moment = 2.0 / 12.0
    system.add_body(None, mass=2.0, inertia=(1e-3, moment, moment), position=(0.5, 0, 0), name="bar")
    system.add_joint(ns.joints.Revolute(None, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    return system


def test_pendulum_has_the_period_of_the_elliptic_integral() -> None:
    angle = 1.0
    period = 4.0 * math.sqrt((1.0 + 1e-4) / GRAVITY) * ellipk(math.sin(angle / 2.0) ** 2)
    run = ns.simulate(pendulum(angle), duration=period, step=period / 2000, scheme="rattle")
    assert run.system.position[0] == pytest.approx([math.sin(angle), 0.0, -math.cos(angle)], abs=1e-5)


def bar_angle(t: float) -> float:
    """Angle below the horizontal of the compound pendulum, θ̈ = 3g/(2L) cos θ."""
    found = solve_ivp(
        lambda _, y: [y[1], 1.5 * GRAVITY * math.cos(y[0])], (0.0, t), [0.0, 0.0], rtol=1e-12, atol=1e-13
    )
    return float(found.y[0, -1])


@pytest.mark.parametrize(("scheme", "order"), [("stabilised", 1), ("projected", 1), ("rattle", 2)])
def test_order_of_convergence(scheme: str, order: int) -> None:
    duration, errors = 0.8, []
    exact = bar_angle(duration)
    for steps in (100, 200, 400):
        run = ns.simulate(compound_pendulum(), duration=duration, step=duration / steps, scheme=scheme)
        x, _, z = run.system.position[0]
        errors.append(abs(math.atan2(-z, x) - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("scheme", ["projected", "rattle"])
def test_joints_do_not_drift(scheme: str) -> None:
    run = ns.simulate(compound_pendulum(), duration=20.0, step=0.01, scheme=scheme)
    assert run.steps["joint_error"].max() < 1e-10


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["projected", "rattle"])
def test_joints_do_not_drift_in_a_hundred_thousand_steps(scheme: str) -> None:
    run = ns.simulate(compound_pendulum(), duration=1000.0, step=0.01, scheme=scheme)
    assert len(run.steps["joint_error"]) == 100_000
    assert run.steps["joint_error"].max() < 1e-10


def test_rattle_keeps_energy_in_the_long_run() -> None:
    run = ns.simulate(compound_pendulum(), duration=20.0, step=0.01, scheme="rattle")
    energy = run.steps["kinetic_energy"] + run.steps["potential_energy"]
    first, last = np.abs(energy[:600]).max(), np.abs(energy[-600:]).max()
    assert first < 8e-2
    assert last < 1.2 * first


def test_reaction_of_a_bar_let_go_and_of_a_bar_at_rest() -> None:
    """At the moment when a horizontal bar is let go, its pin carries a quarter of its weight."""
    frames: list[ns.stepping.Reactions] = []
    ns.simulate(
        compound_pendulum(),
        duration=1e-4,
        step=1e-4,
        observe=lambda frame: frames.append(frame.reactions()),
        scheme="stabilised",
    )
    force, torque = frames[0].of("pin")
    assert np.linalg.norm(force) == pytest.approx(2.0 * GRAVITY / 4.0, rel=1e-6)
    assert torque == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_body_that_starts_in_the_ground_does_not_pop_up(scheme: str) -> None:
    system = ns.System()
    system.add_plane()
    system.add_box((0.2, 0.2, 0.2), density=1000.0, position=(0.0, 0.0, 0.09), name="box")
    heights: list[float] = []

    def look(frame: ns.stepping.Frame) -> None:
        heights.append(float(frame.position[1, 2]))

    run = ns.simulate(system, duration=1.0, step=0.005, scheme=scheme, tolerance=1e-9, observe=look)
    assert run.certificate.failed == 0
    if scheme != "stabilised":
        assert max(heights) == pytest.approx(0.1, abs=1e-9)
        assert run.steps["kinetic_energy"].max() < 1e-18
        assert run.steps["penetration"][1:].max() < 1e-9


def free_body(moments: tuple[float, float, float], spin: tuple[float, float, float]) -> ns.System:
    system = ns.System(gravity=(0.0, 0.0, 0.0))
    system.add_body(None, mass=1.0, inertia=moments, angular_velocity=spin)
    return system


def angular_momentum(system: ns.System) -> np.ndarray:
    """In the world frame."""
    return quaternions.rotate(system.quaternion[0], system.inertia[0] @ system.angular_velocity[0])


@pytest.mark.parametrize("moments", [(1.0, 1.0, 2.0), (1.0, 2.0, 3.0)], ids=["top", "asymmetric"])
@pytest.mark.parametrize(("scheme", "order"), [("stabilised", 1), ("rattle", 2)])
def test_a_free_body_keeps_energy_and_momentum_to_the_order(
    moments: tuple[float, float, float], scheme: str, order: int
) -> None:
    spin = (0.4, 2.0, 0.7)
    start = free_body(moments, spin)
    energy, momentum = 0.5 * float(np.array(moments) @ np.square(spin)), angular_momentum(start)
    errors = []
    for steps in (100, 200, 400):
        run = ns.simulate(start, duration=3.0, step=3.0 / steps, scheme=scheme)
        assert run.steps["kinetic_energy"] == pytest.approx(energy, rel=1e-11)
        assert np.linalg.norm(angular_momentum(run.system)) == pytest.approx(
            np.linalg.norm(momentum), rel=1e-11
        )
        errors.append(np.linalg.norm(angular_momentum(run.system) - momentum))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(order, abs=0.2)


def door(hinges: int) -> ns.System:
    """A door of 2 m × 1 m, 20 kg, on hinges along its edge, standing still."""
    system = ns.System(gravity=(0.0, 0.0, -GRAVITY))
    system.add_box((1.0, 0.05, 2.0), mass=20.0, position=(0.5, 0.0, 1.0), name="door")
    for number, z in enumerate(np.linspace(0.2, 1.8, hinges)):
        system.add_joint(
            ns.joints.Revolute(None, "door", point=(0, 0, z), axis=(0, 0, 1), name=f"hinge {number}")
        )
    return system


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_door_on_three_hinges_turns_as_on_one(scheme: str) -> None:
    def pushed(hinges: int) -> ns.System:
        system = door(hinges)
        system.add_force("door", force=(0.0, 3.0, 0.0))
        return ns.simulate(system, duration=0.5, step=0.01, scheme=scheme).system

    assert pushed(3).position == pytest.approx(pushed(1).position, abs=1e-8)


def test_reactions_of_a_door_on_three_hinges_are_those_of_least_norm() -> None:
    """Equal supports: each hinge carries a third of the weight, and moments turn about the middle one."""
    found: list[ns.stepping.Reactions] = []
    ns.simulate(door(3), duration=0.01, step=0.01, observe=lambda frame: found.append(frame.reactions()))
    force = np.array([found[0].of(f"hinge {k}")[0] for k in range(3)])
    total = force.sum(axis=0)
    assert np.abs(total).max() == pytest.approx(20.0 * GRAVITY, rel=1e-9)
    vertical = int(np.argmax(np.abs(total)))
    assert force[:, vertical] == pytest.approx(total[vertical] / 3.0, rel=1e-6)


def test_the_solver_does_not_change_reactions_of_redundant_joints() -> None:
    solvers = [ns.solvers.GaussSeidel(), ns.solvers.Newton(), ns.solvers.Proximal(), ns.solvers.APGD()]
    answers = []
    for solver in solvers:
        frames: list[np.ndarray] = []
        ns.simulate(
            door(3), duration=0.01, step=0.01, solver=solver, tolerance=1e-10, max_iterations=100_000,
            observe=lambda frame, kept=frames: kept.append(frame.reactions().force.copy()),
        )  # fmt: skip
        answers.append(frames[0])
    for answer in answers[1:]:
        assert answer == pytest.approx(answers[0], abs=1e-5 * 20.0 * GRAVITY)


def four_bar(apart: float = 0.0) -> ns.System:
    """Crank, coupler and rocker as bars, each joint written in 3D; `apart` (m) pulls the rocker away."""
    system = ns.System(gravity=(0.0, 0.0, -GRAVITY))
    corners = np.array([(0, 0, 0), (0, 0, 0.5), (1.2, 0, 1.0), (1.0, 0, 0)], dtype=float)
    names = ("crank", "coupler", "rocker")
    for name, a, b in zip(names, corners[:-1], corners[1:], strict=True):
        length = float(np.linalg.norm(b - a))
        along = quaternions.between((1, 0, 0), b - a)
        shift = np.array([apart, apart, 0.0]) if name == "rocker" else np.zeros(3)
        system.add_body(
            None, mass=length, inertia=(1e-3, length**3 / 12, length**3 / 12), position=(a + b) / 2 + shift,
            orientation=along, name=name,
        )  # fmt: skip
    chain = (None, *names, None)
    for number, corner in enumerate(corners):
        a, b = chain[number], chain[number + 1]
        system.add_joint(
            ns.joints.Revolute(
                a, b, name=f"pin {number}",
                anchor_a=_local(system, a, corner, corners), anchor_b=_local(system, b, corner, corners),
                axis_a=(0, 1, 0), axis_b=(0, 1, 0),
            )
        )  # fmt: skip
    return system


def _local(system: ns.System, body: str | None, corner: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The corner in the frame of the bar that it belongs to, wherever the bar is."""
    if body is None:
        return corner
    first = ("crank", "coupler", "rocker").index(body)
    middle = (corners[first] + corners[first + 1]) / 2
    return quaternions.rotate_back(system.quaternion[system.index(body)], corner - middle)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_planar_four_bar_written_in_3d_keeps_its_energy(scheme: str) -> None:
    run = ns.simulate(four_bar(), duration=1.0, step=0.001, scheme=scheme)
    assert run.certificate.failed == 0
    energy = run.steps["kinetic_energy"] + run.steps["potential_energy"]
    largest = run.steps["kinetic_energy"].max()
    assert np.abs(energy - energy[0]).max() < (1e-4 if scheme == "rattle" else 0.05) * largest
    assert run.steps["joint_error"].max() < (1e-10 if scheme != "stabilised" else 1e-4)


def test_an_assembly_that_starts_apart_is_closed() -> None:
    apart = four_bar(0.05)
    with pytest.raises(ns.errors.ProblemError, match=r"pin \d.*open by.*assemble"):
        ns.simulate(apart, duration=0.1, step=0.001)
    closed = ns.assemble(apart)
    run = ns.simulate(closed, duration=0.01, step=0.001, scheme="projected")
    assert run.steps["joint_error"].max() < 1e-10
    held = ns.assemble(apart, hold=["crank"])
    assert np.array_equal(held.position[0], apart.position[0])
    assert not np.array_equal(closed.position[0], apart.position[0])
    with pytest.raises(ns.errors.ProblemError, match=r"pin 3.*open by 0.05 m"):
        ns.assemble(apart, hold=["rocker"])


def test_an_assembly_that_cannot_be_closed_says_which_joint() -> None:
    system = ns.System(gravity=(0, 0, 0))
    system.add_body(None, mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0), name="bar")
    system.add_joint(ns.joints.Spherical(None, "bar", anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), name="left"))
    system.add_joint(
        ns.joints.Spherical(None, "bar", anchor_a=(2.0, 0, 0), anchor_b=(0.5, 0, 0), name="right")
    )
    with pytest.raises(ns.errors.ProblemError, match=r"joint '(left|right)' is open by 0\.5 m"):
        ns.assemble(system)


def test_drivers_that_contradict_each_other_are_named() -> None:
    system = four_bar()
    system.add_driver("pin 0", ns.joints.Ramp(1.0))
    system.add_driver("pin 3", ns.joints.Ramp(5.0))
    with pytest.raises(ns.errors.ProblemError, match="contradict"):
        ns.assemble(system)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_driven_crank_turns_as_it_is_told(scheme: str) -> None:
    system = pendulum(0.0)
    system.add_driver("pin", ns.joints.Ramp(2.0 * math.pi))
    system = ns.assemble(system)
    run = ns.simulate(system, duration=1.25, step=0.001, scheme=scheme)
    assert run.system.coordinate("pin") == pytest.approx(2.5 * math.pi, abs=1e-5)
    found = math.atan2(run.system.position[0, 0], -run.system.position[0, 2])
    assert abs(found) == pytest.approx(math.pi / 2, abs=1e-5)


def test_limits_stop_and_dry_friction_holds() -> None:
    stopped = compound_pendulum()
    stopped.add_limit("pin", lower=-0.5, upper=0.5)
    run = ns.simulate(stopped, duration=2.0, step=0.002, scheme="projected", tolerance=1e-10)
    assert abs(run.system.coordinate("pin")) == pytest.approx(0.5, abs=1e-8)
    assert run.system.linear_velocity[0] == pytest.approx(np.zeros(3), abs=1e-8)
    weight = 2.0 * GRAVITY * 0.5  # N·m at the pin
    for bound, holds in ((1.01 * weight, True), (0.99 * weight, False)):
        rubbing = compound_pendulum()
        rubbing.add_joint_friction("pin", bound)
        turned = abs(ns.simulate(rubbing, duration=1.0, step=0.005, tolerance=1e-8).system.coordinate("pin"))
        assert (turned < 1e-6) == holds


def test_a_motor_with_a_torque_limit() -> None:
    """A free wheel of 2 kg·m²: constant torque until the speed is reached, then none."""
    system = ns.System(gravity=(0, 0, 0))
    system.add_body(None, mass=1.0, inertia=(2.0, 2.0, 2.0), name="wheel")
    system.add_joint(ns.joints.Revolute(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="shaft"))
    system.add_motor("shaft", speed=3.0, limit=4.0)
    speeds: list[float] = []
    torques: list[float] = []

    def look(frame: ns.stepping.Frame) -> None:
        speeds.append(frame.system.coordinate_velocity("shaft"))
        torques.append(frame.reactions().torque[0, 2])

    ns.simulate(system, duration=3.0, step=0.01, tolerance=1e-9, observe=look)
    t = 0.01 * np.arange(1, 301)
    assert np.array(speeds) == pytest.approx(np.minimum(2.0 * t, 3.0), abs=1e-6)
    assert torques[50] == pytest.approx(4.0, rel=1e-6)
    assert torques[-1] == pytest.approx(0.0, abs=1e-6)


def test_a_jointed_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    system = four_bar()
    system.add_motor("pin 0", speed=20.0, limit=3.0)
    go = partial(ns.simulate, system, step=0.001)
    whole = go(duration=0.2)
    go(duration=0.1, record=path)
    resumed = go(duration=0.2, record=path, resume=True)
    assert np.array_equal(whole.system.position, resumed.system.position)
    assert np.array_equal(whole.system.angular_velocity, resumed.system.angular_velocity)


def test_the_stepper_says_what_it_cannot_do() -> None:
    system = pendulum()
    with pytest.raises(ns.errors.OptionError, match="scheme"):
        ns.simulate(system, duration=1.0, step=0.01, scheme="implicit")
    stepper = TimeStepper(system.copy(), 0.01)
    memory = stepper.memory()
    system.add_limit("pin", upper=2.0)
    other = TimeStepper(system.copy(), 0.01)
    with pytest.raises(ns.errors.ProblemError, match="use the same system"):
        other.restore(memory)


def resting_arm() -> ns.System:
    """An arm on a hinge, whose weight slides over the floor: joints, a contact, a limit and dry friction."""
    system = ns.System(gravity=(0.0, 0.0, -GRAVITY))
    system.add_material("floor", friction=0.3)
    system.add_plane(material="floor")
    system.add_sphere(
        0.1, mass=2.0, position=(1.0, 0.0, 0.1), velocity=(0, 1.0, 0), material="floor", name="ball"
    )
    system.add_body(None, mass=0.5, inertia=(0.05, 0.05, 0.05), position=(0.5, 0, 0.1), name="arm")
    system.angular_velocity[2] = (0, 0, 1.0)
    system.linear_velocity[2] = (0, 0.5, 0)
    system.angular_velocity[1] = (0, 0, 1.0)
    system.add_joint(ns.joints.Universal(
        None, "arm", point=(0, 0, 0.1), axis=(0, 0, 1), second_axis=(0, 1, 0), name="root"
    ))  # fmt: skip
    system.add_joint(ns.joints.Revolute("arm", "ball", point=(1, 0, 0.1), axis=(1, 0, 0), name="wheel"))
    system.add_joint_friction("wheel", 0.05)
    system.add_limit("wheel", upper=0.5)
    return system


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "pyramid(8)"])
def test_every_solver_moves_a_mechanism_in_contact_alike(law: str) -> None:
    def end(solver: ns.solvers.Solver | None) -> ns.System:
        run = ns.simulate(
            resting_arm(),
            duration=0.01,
            step=0.005,
            law=law,
            solver=solver,
            tolerance=1e-8,
            max_iterations=200_000,
        )
        assert run.certificate.failed == 0
        return run.system

    wanted = end(None)
    tried = 0
    for name, kind in ns.solvers.REGISTRY.items():
        try:
            found = end(kind())
        except ns.errors.UnsupportedError:
            continue
        tried += 1
        assert found.linear_velocity == pytest.approx(wanted.linear_velocity, abs=1e-7), name
        assert found.angular_velocity == pytest.approx(wanted.angular_velocity, abs=1e-6), name
    assert tried >= (6 if law == "coulomb" else 5)
