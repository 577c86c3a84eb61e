"""Pinocchio's robots as contact problems: against closed forms and against Pinocchio's own dynamics."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.adapters import RobotContact
from nonsmooth.adapters.pinocchio import contact_problem
from nonsmooth.complementarity.library.grasps import HALF_SIDE, REACH, Scara, grasp_matrix
from nonsmooth.errors import MissingPackageError, ProblemError
from nonsmooth.experiments.andreani.grasp_parts import pinocchio_grasp
from nonsmooth.scenes.grasp import grasp_data, scara_urdf

pin = pytest.importorskip("pinocchio")

G, H = 9.81, 0.01
FLOOR = (0.0, 0.0, 1.0)


def free_box(mass: float = 2.0, half: float = 0.1) -> Any:
    """A cube that flies freely, with a frame at each lower corner."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "cube")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(mass, *[2.0 * half] * 3), pin.SE3.Identity())
    for k in range(4):
        corner = np.array([half * (-1) ** k, half * (-1) ** (k // 2), -half])
        model.addFrame(pin.Frame(f"corner {k}", joint, 0, pin.SE3(np.eye(3), corner), pin.FrameType.OP_FRAME))
    return model


def computed(model: Any, q: Any, v: Any) -> Any:
    data = model.createData()
    pin.computeAllTerms(model, data, q, v)
    return data


def arm() -> tuple[Any, Any, int]:
    """Pinocchio's sample arm of six joints in a general position, and the index of its last frame."""
    model = pin.buildSampleModelManipulator()
    return model, np.array([0.3, -0.7, 0.9, 0.4, -0.5, 0.2]), len(model.frames) - 1


def tip_jacobian(model: Any, q: Any, frame: int) -> Any:
    return pin.computeFrameJacobian(model, model.createData(), q, frame, pin.LOCAL_WORLD_ALIGNED)[:3]


# ---- closed forms ----------------------------------------------------------------------------------


def test_a_cube_that_falls_on_its_corners_stops() -> None:
    model = free_box()
    q, v = pin.neutral(model), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    corners = [RobotContact(f"corner {k}", normal=FLOOR, friction=0.5) for k in range(4)]
    problem = contact_problem(model, computed(model, q, v), corners, velocity=v, step=H)
    solution = ns.solve(problem, tolerance=1e-12)
    assert solution.impulses.reshape(4, 3)[:, 0].sum() == pytest.approx(2.0 * (1.0 + G * H), rel=1e-10)
    np.testing.assert_allclose(solution.velocity, 0.0, atol=1e-10)


def test_a_cube_slides_by_coulomb_and_a_gap_lets_it_fall_so_far() -> None:
    model = free_box()
    q = pin.neutral(model)
    v = np.array([0.6, 0.8, 0.0, 0.0, 0.0, 0.0])
    below = RobotContact("corner 0", normal=FLOOR, friction=0.3, point=(0.0, 0.0, 0.0))
    problem = contact_problem(model, computed(model, q, v), [below], velocity=v, step=H)
    after = ns.solve(problem, tolerance=1e-12).velocity
    np.testing.assert_allclose(after[:3], (1.0 - 0.3 * G * H) * v[:3], atol=1e-11)
    np.testing.assert_allclose(after[3:], 0.0, atol=1e-11)
    gap = replace(below, gap=5e-4)  # m: less than it would fall
    problem = contact_problem(model, computed(model, q, v), [gap], velocity=v, step=H)
    assert ns.solve(problem, tolerance=1e-12).velocity[2] == pytest.approx(-5e-4 / H, rel=1e-9)


def test_torque_that_lifts_a_cube_opens_its_contact() -> None:
    model = free_box()
    q, v, lift = pin.neutral(model), np.zeros(6), np.array([0.0, 0.0, 2.0 * (G + 3.0), 0.0, 0.0, 0.0])
    below = RobotContact("corner 0", normal=FLOOR, friction=0.3, point=(0.0, 0.0, -0.1))
    problem = contact_problem(model, computed(model, q, v), [below], velocity=v, torque=lift)
    solution = ns.solve(problem, tolerance=1e-12)
    np.testing.assert_allclose(solution.impulses, 0.0, atol=1e-12)
    np.testing.assert_allclose(solution.velocity, [0.0, 0.0, 3.0, 0.0, 0.0, 0.0], atol=1e-11)


def test_axes_are_right_handed_and_begin_with_the_normal() -> None:
    for normal in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, 0.0, -0.8)):
        axes = RobotContact("foot", normal=normal, friction=0.0).axes()
        np.testing.assert_allclose(axes[0], normal, atol=1e-15)
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(axes) == pytest.approx(1.0)
    given = RobotContact("foot", normal=FLOOR, tangent=(0.0, 1.0, 0.0), friction=0.0).axes()
    np.testing.assert_allclose(given, [FLOOR, (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)], atol=1e-15)


# ---- against Pinocchio -----------------------------------------------------------------------------


def test_a_foot_that_sticks_accelerates_as_pinocchio_says() -> None:
    """The tip is at rest while the arm moves, so that J̇v counts; friction is enough for it to stick."""
    model, q, tip = arm()
    jacobian = tip_jacobian(model, q, tip)
    v = np.linalg.svd(jacobian)[2][3:].T @ (1.0, -0.7, 0.4)  # the tip stays where it is
    data = computed(model, q, v)
    torque = np.asarray(data.nle) + jacobian.T @ (3.0, -2.0, -50.0)  # presses on the floor
    contact = RobotContact(tip, normal=FLOOR, friction=10.0, tangent=(1.0, 0.0, 0.0))
    problem = contact_problem(model, data, [contact], velocity=v, torque=torque)
    solution = ns.solve(problem, tolerance=1e-12)
    theirs = model.createData()
    pin.forwardKinematics(model, theirs, q, v, np.zeros(model.nv))
    drift = pin.getFrameClassicalAcceleration(model, theirs, tip, pin.LOCAL_WORLD_ALIGNED).linear
    acceleration = pin.forwardDynamics(model, theirs, q, v, torque, jacobian, drift)
    assert np.abs(solution.problem.bias).max() > 0.1
    assert solution.impulses[0] > 1.0
    np.testing.assert_allclose(solution.velocity, acceleration, atol=1e-8)
    np.testing.assert_allclose(np.abs(solution.impulses), np.abs(theirs.lambda_c)[[2, 0, 1]], atol=1e-7)


KINDS = {
    "spherical, by angles": lambda: pin.JointModelSphericalZYX(),
    "spherical": lambda: pin.JointModelSpherical(),
    "free": lambda: pin.JointModelFreeFlyer(),
    "planar": lambda: pin.JointModelPlanar(),
    "universal": lambda: pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
    "screw": lambda: pin.JointModelHelicalUnaligned(np.array([0.0, 0.0, 1.0]), 0.3),
    "continuous": lambda: pin.JointModelRUBZ(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_drift_is_the_derivative_of_the_jacobian_times_the_velocity(kind: str) -> None:
    model = pin.Model()
    generator = np.random.default_rng(3)
    joint = 0
    for joint_kind in (KINDS[kind](), pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX()):
        joint = model.addJoint(joint, joint_kind, pin.exp6(generator.normal(size=6)), f"joint {joint}")
        model.appendBodyToJoint(
            joint, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.exp6(generator.normal(size=6))
        )
    end = pin.exp6(generator.normal(size=6))
    frame = model.addFrame(pin.Frame("tip", joint, 0, end, pin.FrameType.OP_FRAME))
    size = model.nv
    q = pin.integrate(model, pin.neutral(model), 0.5 * generator.normal(size=size))
    v = np.linalg.svd(tip_jacobian(model, q, frame))[2][3:].T @ generator.normal(size=size - 3)
    contact = RobotContact("tip", normal=(0.0, 1.0, 0.0), friction=0.5)
    problem = contact_problem(model, computed(model, q, v), [contact], velocity=v)
    turned = [
        contact.axes() @ tip_jacobian(model, pin.integrate(model, q, side * 1e-6 * v), frame) @ v
        for side in (-1.0, 1.0)
    ]
    np.testing.assert_allclose(problem.bias, (turned[1] - turned[0]) / 2e-6, atol=1e-7)


def test_a_plastic_impact_that_sticks_is_pinocchios() -> None:
    model, q, tip = arm()
    generator = np.random.default_rng(1)
    v = generator.normal(size=model.nv)
    data = computed(model, q, v)
    jacobian = tip_jacobian(model, q, tip)
    normal = -(jacobian @ v) / np.linalg.norm(jacobian @ v)  # it comes straight at the wall
    contact = RobotContact(tip, normal=normal, friction=50.0)
    problem = contact_problem(
        model, data, [contact], velocity=v, torque=np.asarray(data.nle), step=H
    )  # the torque takes the other forces away: an impulse alone
    after = ns.solve(problem, tolerance=1e-12).velocity
    theirs = pin.impulseDynamics(model, model.createData(), q, v, jacobian, 0.0)
    np.testing.assert_allclose(after, theirs, atol=1e-8)


def test_two_links_in_contact_feel_equal_and_opposite_impulses() -> None:
    """A ball lands on a ball: the upper one is on the model's second joint."""
    model = pin.Model()
    for k, name in enumerate(("lower", "upper")):
        joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0 + k, 0.1), pin.SE3.Identity())
        model.addFrame(pin.Frame(name, joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    model.gravity = pin.Motion.Zero()
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.2])
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -3.0])
    contact = RobotContact("upper", "lower", normal=FLOOR, friction=0.5, point=(0.0, 0.0, 0.1))
    problem = contact_problem(model, computed(model, q, v), [contact], velocity=v, step=H)
    solution = ns.solve(problem, tolerance=1e-12)
    np.testing.assert_allclose(solution.velocity, [0.0, 0.0, -2.0, 0.0, 0.0, -2.0], atol=1e-10)
    assert solution.impulses[0] == pytest.approx(2.0)


def test_two_scara_robots_from_a_urdf_have_the_matrix_of_our_own_model() -> None:
    problem = pinocchio_grasp()
    order = np.arange(6).reshape(2, 3).T.ravel()
    matrix = problem.operator.matrix().toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(matrix, grasp_matrix(), atol=1e-10)
    np.testing.assert_allclose(matrix, grasp_data(ns.scenes.grasp())[0], atol=1e-10)
    assert Scara().elbow() == pytest.approx(1.68996, abs=5e-6)
    assert (REACH, HALF_SIDE) == (0.4, 0.05)


# ---- bad input -------------------------------------------------------------------------------------


def foot(**options: Any) -> RobotContact:
    return RobotContact(**{"frame": "corner 0", "normal": FLOOR, "friction": 0.5, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normal": (0.0, 0.0, 2.0)}, r"has length 2 and not 1: give \[0.0, 0.0, 1.0\]"),
        ({"normal": (0.0, 0.0, 0.0)}, "has length 0 and not 1"),
        ({"normal": (0.0, 1.0)}, "give three finite numbers"),
        ({"normal": (0.0, 0.0, np.nan)}, "give three finite numbers"),
        ({"tangent": (0.0, 0.6, 0.8)}, "is not across the normal"),
        ({"tangent": (0.0, 0.6, 0.0)}, "has length 0.6 and not 1"),
        ({"point": (0.0, np.inf, 0.0)}, "point of the contact of frame 'corner 0'"),
        ({"frame": None}, "frame is None: give a frame's name or index"),
        ({"other": 2.5}, "other is 2.5: give a frame's name or index"),
        ({"friction": -0.1}, "friction of the contact of frame 'corner 0' is -0.1"),
        ({"gap": np.nan}, "gap of the contact of frame 'corner 0' is nan"),
    ],
)
def test_bad_contacts_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        foot(**options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contacts": [foot(frame="corner 9")]}, "'corner 9' is not in the model: choose one of 'universe'"),
        ({"contacts": [foot(frame=99)]}, "frame 99 is not in the model, which has frames 0 to 4"),
        ({"contacts": [foot(other="corner 1")]}, "are on the same body"),
        ({"contacts": ["corner 0"]}, r"contacts\[0\] is 'corner 0': give a RobotContact"),
        ({"contacts": []}, "contacts is empty"),
        ({"contacts": foot()}, r"contacts is a single RobotContact: give a list, \[contact\]"),
        ({"contacts": [foot(frame="universe")]}, "contact 0 moves no body"),
        ({"velocity": np.zeros(7)}, r"velocity has shape \(7,\) and the model has nv = 6"),
        ({"velocity": np.full(6, np.nan)}, "velocity has numbers that are not finite"),
        ({"torque": np.zeros(5)}, r"torque has shape \(5,\)"),
        ({"step": 0.0}, "step is 0.0: give seconds"),
        ({"model": 1}, "model is a int: give a pin.Model"),
        ({"data": None}, "data is a NoneType: give a pin.Data"),
        ({"velocity": np.ones(6)}, r"not the one that data was computed with \(joint 'cube'"),
        ({"law": "cubic"}, "law 'cubic' is not known"),
    ],
)  # fmt: skip
def test_bad_problems_of_robots_are_named(changes: dict[str, Any], message: str) -> None:
    model = free_box()
    data = computed(model, pin.neutral(model), np.zeros(6))
    given = {
        "model": model,
        "data": data,
        "contacts": [foot()],
        "velocity": np.zeros(6),
        "step": H,
        **changes,
    }
    with pytest.raises(ns.errors.NonsmoothError, match=message):
        contact_problem(given.pop("model"), given.pop("data"), given.pop("contacts"), **given)


def test_a_contact_that_slides_has_no_place_on_acceleration_level() -> None:
    model, v = free_box(), np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    data = computed(model, pin.neutral(model), v)
    with pytest.raises(ProblemError, match=r"contacts\[0\] \(frame 'corner 0'\) moves at 0.3 m/s"):
        contact_problem(model, data, [foot()], velocity=v)


def test_an_open_contact_has_no_place_on_acceleration_level() -> None:
    model, v = free_box(), np.zeros(6)
    data = computed(model, pin.neutral(model), v)
    with pytest.raises(ProblemError, match=r"contacts\[0\] \(frame 'corner 0'\) is open by 0.01 m"):
        contact_problem(model, data, [foot(gap=0.01)], velocity=v)


def test_data_that_was_not_computed_or_belongs_to_another_model_is_said() -> None:
    model, v = free_box(), np.zeros(6)
    with pytest.raises(ProblemError, match=r"call pin.computeAllTerms\(model, data, q, v\) first"):
        contact_problem(model, model.createData(), [foot()], velocity=v, step=H)
    other, q, _ = arm()
    scara = pin.buildModelFromXML(scara_urdf())
    theirs = computed(scara, np.zeros(4), np.zeros(4))
    with pytest.raises(ProblemError, match=r"shape \(4, 4\) and the model 6 velocities"):
        contact_problem(model, theirs, [foot()], velocity=v, step=H)
    data = computed(other, q * np.nan, np.zeros(6))
    with pytest.raises(ProblemError, match="not finite"):
        contact_problem(other, data, [RobotContact(2, normal=FLOOR, friction=0.5)], velocity=v)


def test_without_pinocchio_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(MissingPackageError, match=r"pip install \"nonsmooth\[robots\]"):
        contact_problem(None, None, [foot()], velocity=[])


def test_gravity_that_was_not_computed_is_said() -> None:
    model = pin.buildSampleModelManipulator()
    data, v = model.createData(), np.zeros(model.nv)
    q = pin.integrate(model, pin.neutral(model), np.full(model.nv, 0.5))  # the arm is bent
    pin.crba(model, data, q)
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v)
    contact = RobotContact(model.frames[-1].name, normal=(0.0, 0.0, 1.0), friction=0.5)
    with pytest.raises(ProblemError, match="no nonlinear effects"):
        contact_problem(model, data, [contact], velocity=v)


def test_an_overlap_on_acceleration_level_is_said() -> None:
    model = pin.buildSampleModelManipulator()
    data, v = model.createData(), np.zeros(model.nv)
    pin.computeAllTerms(model, data, pin.neutral(model), v)
    contact = RobotContact(model.frames[-1].name, normal=(0.0, 0.0, 1.0), friction=0.5, gap=-0.001)
    with pytest.raises(ProblemError, match=r"overlaps by 0\.001 m"):
        contact_problem(model, data, [contact], velocity=v)
