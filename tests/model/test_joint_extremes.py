"""Joints where they are easily got wrong: fast turns, axes the wrong way round, ropes, what cannot be met."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth import joints
from nonsmooth.errors import ProblemError
from nonsmooth.model import quaternions
from nonsmooth.stepping.schemes import projection

SCHEMES = ("stabilised", "projected", "rattle")


def wheel(**options: object) -> ns.System:
    """A free wheel on the z axis without gravity."""
    system = ns.System(gravity=(0, 0, 0))
    system.add_body(None, mass=1.0, inertia=(1.0, 2.0, 3.0), name="wheel", **options)  # type: ignore[arg-type]
    return system


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("speed", [320.0, -500.0, 1300.0])
def test_a_driver_may_turn_by_more_than_half_a_turn_in_a_step(scheme: str, speed: float) -> None:
    system = wheel()
    system.add_joint(joints.Revolute(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    system.add_driver("axle", joints.Ramp(speed))
    run = ns.simulate(ns.assemble(system), duration=0.1, step=0.01, scheme=scheme)
    assert run.system.angular_velocity[0, 2] == pytest.approx(speed, rel=1e-12)
    assert run.system.coordinate("axle") == pytest.approx(0.1 * speed, rel=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_fast_screw_and_fast_gears_lose_no_turns(scheme: str) -> None:
    system = wheel(angular_velocity=(0, 0, 400.0))
    system.add_joint(joints.Screw(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), pitch=0.01, name="thread"))
    run = ns.simulate(ns.assemble(system), duration=0.1, step=0.01, scheme=scheme)
    turns = 0.1 * run.system.angular_velocity[0, 2] / (2.0 * math.pi)
    assert run.system.position[0, 2] == pytest.approx(0.01 * turns, rel=1e-9)

    system = wheel()
    system.add_body(None, mass=2.0, inertia=(0.1, 0.1, 0.2), position=(0.4, 0, 0), name="pinion")
    for name, x in (("wheel", 0.0), ("pinion", 0.4)):
        system.add_joint(joints.Revolute(None, name, point=(x, 0, 0), axis=(0, 0, 1), name=name))
    system.add_joint(joints.Gear("wheel", "pinion", radii=(0.3, 0.1), axis=(0, 0, 1)))
    system.add_driver("wheel", joints.Ramp(200.0))
    run = ns.simulate(ns.assemble(system), duration=0.1, step=0.01, scheme=scheme)
    assert run.system.coordinate("pinion") == pytest.approx(-60.0, rel=1e-9)
    assert run.system.angular_velocity[1, 2] == pytest.approx(-600.0, rel=1e-9)


@pytest.mark.parametrize("kind", [joints.Revolute, joints.Cylindrical, joints.Planar, joints.Fixed])
@pytest.mark.parametrize("off", [math.pi, 3.0, 2.0])
def test_axes_that_are_opposite_are_not_closed(kind: type[joints.Joint], off: float) -> None:
    axis = (0.0, math.cos(off), math.sin(off))
    system = wheel()
    anchors = {"anchor_a": (0, 0, 0), "anchor_b": (-0.5, 0, 0), "axis_a": (0, 1, 0), "axis_b": axis}
    system.add_joint(kind(None, "wheel", **anchors, name="pin"))  # type: ignore[call-arg]
    with pytest.raises(ns.errors.ProblemError, match="joint 'pin' is open by"):
        ns.simulate(system, duration=0.01, step=0.01)
    closed = ns.assemble(system)
    assert quaternions.rotate(closed.quaternion[0], np.array(axis)) == pytest.approx((0, 1, 0), abs=1e-9)
    assert ns.simulate(closed, duration=0.02, step=0.01).certificate.failed == 0


def test_assembling_counts_whole_turns_of_coordinates() -> None:
    system = wheel()
    system.add_joint(joints.Revolute(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    system.add_driver("axle", joints.Ramp(2.0))
    assert ns.assemble(system, time=5.0).coordinate("axle") == pytest.approx(10.0, abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_drivers_do_is_not_the_work_of_contacts(scheme: str) -> None:
    system = wheel()
    system.add_joint(joints.Prismatic(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="rail"))
    system.add_driver("rail", joints.Sine(0.1, 1.0))
    run = ns.simulate(ns.assemble(system), duration=1.0, step=0.01, scheme=scheme)
    assert run.steps["kinetic_energy"].max() > 0.1
    assert np.abs(run.steps["contact_work"]).max() < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_rope_alone_holds_its_weight(scheme: str) -> None:
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, position=(0, 0, -0.5), name="ball")
    system.add_joint(joints.Strut(None, "ball", point_a=(0, 0, 0), point_b=(0, 0, -0.5), name="rope"))
    system.add_limit("rope", upper=1.0)
    pulls: list[float] = []
    run = ns.simulate(
        system,
        duration=0.6,
        step=0.005,
        scheme=scheme,
        observe=lambda frame: pulls.append(frame.reactions().rows["upper limit of joint 'rope'"][0]),
    )
    assert pulls[0] == 0.0
    assert pulls[-1] == pytest.approx(9.81, rel=1e-6)
    assert run.system.coordinate("rope") == pytest.approx(1.0, abs=1e-6)


def test_drivers_of_two_joints_that_contradict_each_other_are_refused() -> None:
    system = wheel()
    for name, speed in (("front", 1.0), ("back", 2.0)):
        system.add_joint(joints.Revolute(None, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name=name))
        system.add_driver(name, joints.Ramp(speed))
    with pytest.raises(ns.errors.ProblemError, match=r"contradict by 0\.5 rad/s"):
        ns.simulate(system, duration=0.1, step=0.01)


def test_an_overlap_that_cannot_end_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    system = ns.System()
    system.add_plane()
    system.add_plane(normal=(0, 0, -1), point=(0, 0, 0.15))
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.075))
    solves: list[ns.ContactProblem] = []

    def counted(problem: ns.ContactProblem, *_: object, **__: object) -> ns.Solution:
        solves.append(problem)
        return ns.solve(problem, ns.solvers.GaussSeidel(), max_iterations=50, throw=False)

    monkeypatch.setattr(projection, "solve", counted)
    run = ns.simulate(system, duration=0.01, step=0.01, scheme="projected")
    assert len(solves) <= 2
    assert np.isfinite(run.system.position).all()


# ---- reactions, gears and held bodies ----------------------------------------------------------------


def hoist(amplitude: float = 0.5) -> ns.System:
    """A box of 10 kg on a vertical slide that is driven up and down by a sine of 1 Hz."""
    system = ns.System()
    system.add_box((0.2, 0.2, 0.2), mass=10.0, name="box")
    system.add_joint(ns.joints.Prismatic(None, "box", point=(0, 0, 0), axis=(0, 0, 1), name="hoist"))
    system.add_driver("hoist", ns.joints.Sine(amplitude, 1.0))
    return ns.assemble(system)


def rattle_force_error(step: float) -> float:
    """Largest difference in N of the hoist's force from m (g + z̈) in the middle of the step."""
    errors = []

    def look(frame):
        middle = 2.0 * np.pi * (frame.time - 0.5 * step)
        exact = 10.0 * (9.81 - 0.5 * (2.0 * np.pi) ** 2 * np.sin(middle))
        errors.append(abs(frame.reactions().of("hoist")[0][2] - exact))

    ns.simulate(hoist(), duration=0.5, step=step, scheme="rattle", observe=look)
    return max(errors)


def test_reactions_of_rattle_are_of_second_order():
    coarse, fine = rattle_force_error(0.02), rattle_force_error(0.01)
    assert fine < 0.05
    assert np.log2(coarse / fine) > 1.9


@pytest.mark.parametrize("scheme", ["stabilised", "projected", "rattle"])
def test_reactions_balance_momentum(scheme):
    """The force of a slide is m Δv/h + m g in every step, whatever the scheme."""
    step, before = 0.01, [np.pi]

    def look(frame):
        speed = frame.linear_velocity[0, 2]
        wanted = 10.0 * ((speed - before[0]) / step + 9.81)
        before[0] = speed
        assert frame.reactions().of("hoist")[0][2] == pytest.approx(wanted, abs=1e-8)

    ns.simulate(hoist(), duration=0.2, step=step, scheme=scheme, observe=look)


def test_a_strut_has_no_reactions():
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, position=(0, 0, -1), name="ball")
    system.add_joint(ns.joints.Strut(None, "ball", anchor_a=(0, 0, 0), anchor_b=(0, 0, 0), name="spring"))
    system.add_spring("spring", stiffness=100.0, rest=1.0)
    found = []
    ns.simulate(
        system, duration=0.02, step=0.01, observe=lambda frame: found.append(frame.reactions().of("spring"))
    )
    assert all(not force.any() and not torque.any() for force, torque in found)


@pytest.mark.parametrize("internal", [False, True])
def test_gears_that_do_not_mesh_are_named(internal):
    system = ns.System()
    for name, x in (("left", 0.0), ("right", 1.0)):
        system.add_body(None, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0), name=name)
        system.add_joint(ns.joints.Revolute(None, name, point=(x, 0, 0), axis=(0, 0, 1)))
    radii = (0.1, 0.2)
    system.add_joint(
        ns.joints.Gear("left", "right", axis=(0, 0, 1), radii=radii, internal=internal, name="teeth")
    )
    with pytest.raises(ProblemError, match=r"joint 'teeth' has axles 1 m apart .* touch at 0\.[13] m"):
        ns.simulate(system, duration=0.01, step=0.01)


def test_assemble_holds_one_body_by_its_name():
    system = hoist()
    system.position[0, 2] = 0.0
    assert ns.assemble(system, hold="box").position[0, 2] == 0.0
