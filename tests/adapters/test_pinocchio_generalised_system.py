"""Pinocchio's robots as generalised systems: derivatives, closed forms and conservation."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from nonsmooth.adapters import RobotPoint
from nonsmooth.adapters.pinocchio import generalised_system
from nonsmooth.errors import MissingPackageError, ProblemError
from nonsmooth.events import simulate_events
from nonsmooth.model.generalised import Kinematics, check_derivatives

G = 9.81
LENGTHS, MASSES = (0.7, 0.5), (1.2, 0.8)


@pytest.fixture
def pin() -> Any:
    return pytest.importorskip("pinocchio")


def double_pendulum(pin: Any) -> Any:
    """Two massless rods with points at their ends, in the plane x, z; angles from below, about −y."""
    model = pin.Model()
    joint = 0
    for k, name in enumerate(("shoulder", "elbow")):
        place = pin.SE3.Identity() if k == 0 else pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTHS[0]]))
        joint = model.addJoint(
            joint, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), place, name
        )
        end = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTHS[k]]))
        model.appendBodyToJoint(
            joint, pin.Inertia(MASSES[k], end.translation, np.zeros((3, 3))), pin.SE3.Identity()
        )
        model.addFrame(pin.Frame(f"end {k}", joint, 0, end, pin.FrameType.OP_FRAME))
    return model


def many_joints(pin: Any) -> Any:
    """A chain of every kind of joint whose coordinates are not its velocities' integral, and of others."""
    model = pin.Model()
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX())
    composite.addJoint(pin.JointModelPY())
    kinds = [
        pin.JointModelFreeFlyer(), pin.JointModelRUBX(), pin.JointModelPlanar(), pin.JointModelSpherical(),
        pin.JointModelRUBZ(), pin.JointModelSphericalZYX(), composite, pin.JointModelTranslation(),
        pin.JointModelRY(),
    ]  # fmt: skip
    joint = 0
    for k, kind in enumerate(kinds):
        place = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.1 * k])), np.array([0.2, 0.1, 0.3]))
        joint = model.addJoint(joint, kind, place, f"joint {k}")
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0 + 0.1 * k, 0.3, 0.4, 0.5), place)
        model.addJointFrame(joint)
    model.armature = 0.05 * np.ones(model.nv)
    return model


def wheel(pin: Any) -> Any:
    """A link that turns for ever about an axis of its own, as URDF says it."""
    inertia = '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/>'
    joint = '<parent link="world"/><child link="wheel"/><axis xyz="0.6 0 0.8"/><origin xyz="0.1 0.2 0.3"/>'
    model = pin.buildModelFromXML(
        f"""<robot name="wheel"><link name="world"/>
        <link name="wheel"><inertial><mass value="2"/>{inertia}</inertial></link>
        <joint name="axle" type="continuous">{joint}</joint></robot>"""
    )
    assert model.joints[1].shortname() == "JointModelRevoluteUnboundedUnaligned"
    return model


def random_robot_state(pin: Any, model: Any, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), rng.normal(size=model.nv)


@pytest.mark.parametrize("build", [many_joints, wheel])
def test_the_dynamics_of_a_robot_are_those_of_pinocchio(pin: Any, build: Any) -> None:
    model = build(pin)
    system = generalised_system(model, torque=lambda q, v, t: t - 0.3 * v)
    for seed in range(5):
        q, v = random_robot_state(pin, model, seed)
        expected = pin.aba(model, model.createData(), q, v, 0.2 - 0.3 * v)
        found = np.linalg.solve(system.mass_matrix(q), system.forces(q, v, 0.2))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        assert system.applied_power(q, v, 0.2) == pytest.approx((0.2 - 0.3 * v) @ v, rel=1e-13)
        step = 1e-3
        numeric = sum(
            weight * (pin.integrate(model, q, k * step * v) - pin.integrate(model, q, -k * step * v))
            for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0))
        ) / (60.0 * step)
        np.testing.assert_allclose(system.rates(q, v), numeric, atol=1e-11)


def test_derivatives_of_contacts_of_a_robot(pin: Any) -> None:
    model = many_joints(pin)
    normal = np.array([1.0, 2.0, 2.0]) / 3.0
    contacts = [
        RobotPoint("joint 8", friction=0.5),
        RobotPoint(
            "joint 8", friction=0.5, point=(0.1, 0.2, 0.3), radius=0.2, normal=normal, offset=0.3, name="b"
        ),
        RobotPoint("joint 5", friction=0.5, point=(0.1, 0.2, 0.3), radius=0.2, along=(0, 1, 0)),
        RobotPoint("joint 0", friction=0.0, point=(0.1, 0.2, 0.3)),
    ]
    system = generalised_system(model, contacts)
    for seed in range(3):
        q, v = random_robot_state(pin, model, seed)
        check_derivatives(system, q, v, tolerance=1e-8)
    widths = [Kinematics(system, each, q, 0.0).directions.shape[1] for each in system.contacts]
    assert widths == [3, 3, 2, 1]


def test_a_double_pendulum_moves_as_in_the_textbook(pin: Any) -> None:
    system = generalised_system(double_pendulum(pin))
    (m1, m2), (l1, l2) = MASSES, LENGTHS
    for seed in range(5):
        a, bend, va, vbend = np.random.default_rng(seed).normal(size=4)
        b, vb = a + bend, va + vbend
        # With both angles from below: Lagrange's equations, solved for the accelerations.
        mass = np.array(
            [[(m1 + m2) * l1**2, m2 * l1 * l2 * np.cos(a - b)], [m2 * l1 * l2 * np.cos(a - b), m2 * l2**2]]
        )
        force = np.array(
            [
                -m2 * l1 * l2 * np.sin(a - b) * vb**2 - (m1 + m2) * G * l1 * np.sin(a),
                m2 * l1 * l2 * np.sin(a - b) * va**2 - m2 * G * l2 * np.sin(b),
            ]
        )
        expected = np.linalg.solve(mass, force)
        q, u = np.array([a, bend]), np.array([va, vbend])
        found = np.linalg.solve(system.mass_matrix(q), system.forces(q, u, 0.0))
        np.testing.assert_allclose(found, [expected[0], expected[1] - expected[0]], rtol=1e-11)
        height = -(m1 + m2) * l1 * np.cos(a) - m2 * l2 * np.cos(b)
        assert system.potential_energy(q) == pytest.approx(G * height, rel=1e-12)
        kinetic = 0.5 * np.array([va, vb]) @ mass @ np.array([va, vb])
        assert system.kinetic_energy(q, u) == pytest.approx(kinetic, rel=1e-12)


def test_a_pendulum_that_hits_its_stop_keeps_the_balance(pin: Any) -> None:
    model = double_pendulum(pin)
    model.lowerPositionLimit = np.array([-np.inf, -0.2])
    model.upperPositionLimit = np.array([np.inf, 0.8])
    part = 0.5
    system = generalised_system(model, limits=True, limit_restitution=part)
    assert [contact.name for contact in system.contacts] == ["elbow lower", "elbow upper"]
    run = simulate_events(system, [0.9, 0.5], [0.0, 0.0], duration=1.0)
    assert run.status == "done", run.message
    first = run.events[0]
    assert first.kind == "impact"
    before = run.sample(first.time - 1e-9)
    after = run.sample(first.time + 1e-9)
    assert abs(before.u[0, 1]) > 0.1
    assert after.u[0, 1] == pytest.approx(-part * before.u[0, 1], abs=1e-6)
    mobility = np.linalg.inv(system.mass_matrix(before.q[0]))[1, 1]
    lost = 0.5 * (1.0 - part**2) * before.u[0, 1] ** 2 / mobility
    assert run.energy(first.time + 1e-9).dissipated[0] == pytest.approx(lost, rel=1e-6)
    assert run.certificate.energy_error < 1e-10
    assert run.certificate.penetration < 1e-9


def test_a_ball_of_pinocchio_rolls_at_the_right_moment(pin: Any) -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "ball")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.5, 0.1), pin.SE3.Identity())
    model.addJointFrame(joint)
    system = generalised_system(model, [RobotPoint("ball", radius=0.1, friction=0.3, offset=-0.1)])
    v = np.array([1.2, 1.6, 0.0, 0.0, 0.0, 0.0])
    run = simulate_events(system, pin.neutral(model), v, duration=0.5)
    assert run.status == "done", run.message
    np.testing.assert_allclose(run.times("stick"), 2.0 * 2.0 / (7.0 * 0.3 * G), atol=1e-9)


def test_limits_of_joints_with_quaternions_are_none_and_wrong_ones_are_said(pin: Any) -> None:
    model = many_joints(pin)
    model.lowerPositionLimit = -np.ones(model.nq)
    model.upperPositionLimit = np.ones(model.nq)
    names = [contact.name for contact in generalised_system(model, limits=True).contacts]
    assert names[:2] == ["joint 5 0 lower", "joint 5 0 upper"]
    assert len(names) == 2 * (3 + 2 + 3 + 1)
    q, v = random_robot_state(pin, model, 3)
    check_derivatives(generalised_system(model, limits=True), q, v)
    model.lowerPositionLimit = 2.0 * np.ones(model.nq)
    with pytest.raises(ProblemError, match=r"lower limit 2\.0 above the upper one 1\.0"):
        generalised_system(model, limits=True)


def test_wrong_descriptions_of_robots_are_said(pin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = double_pendulum(pin)
    good = RobotPoint("end 1", friction=0.3)
    with pytest.raises(ProblemError, match="has length 2 and not 1"):
        RobotPoint("end 1", friction=0.3, normal=(0, 0, 2))
    with pytest.raises(ProblemError, match="not across the normal"):
        RobotPoint("end 1", friction=0.3, along=(0, 0, 1))
    with pytest.raises(ProblemError, match="radius of the contact of frame 'end 1' is -1"):
        RobotPoint("end 1", friction=0.3, radius=-1.0)
    with pytest.raises(ProblemError, match="offset of the contact"):
        RobotPoint("end 1", friction=0.3, offset=np.nan)
    with pytest.raises(ProblemError, match="choose one of 'universe'"):
        generalised_system(model, [RobotPoint("hand", friction=0.3)])
    with pytest.raises(ProblemError, match="'universe' does not move"):
        generalised_system(model, [RobotPoint("universe", friction=0.3)])
    with pytest.raises(ProblemError, match="give a list"):
        generalised_system(model, good)  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match=r"contacts\[0\] is 'end 1'"):
        generalised_system(model, ["end 1"])  # type: ignore[list-item]
    with pytest.raises(ProblemError, match=r"give a pin\.Model"):
        generalised_system("robot.urdf")
    with pytest.raises(ProblemError, match="torque has shape"):
        generalised_system(model, torque=[1.0])
    with pytest.raises(ProblemError, match=r"torque at t = 0\.5 s has shape"):
        generalised_system(model, torque=lambda q, v, t: 1.0).forces(np.zeros(2), np.zeros(2), 0.5)
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(MissingPackageError, match=r"pip install \"nonsmooth\[robots\]"):
        generalised_system(model)
