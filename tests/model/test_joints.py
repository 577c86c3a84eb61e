"""Joints: derivatives against differences, what each joint leaves free, angles over many turns, and gears."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.joint_examples import ACROSS, AXIS, EXAMPLES, POINT, make
from nonsmooth.errors import ProblemError
from nonsmooth.model import System, joints, quaternions
from nonsmooth.model.joints.evaluation import Evaluation, evaluated
from nonsmooth.model.joints.kernels import rows as kernels
from nonsmooth.model.joints.placement import completed
from nonsmooth.model.joints.table import BILATERAL

JOINTS = [name for name, example in EXAMPLES.items() if example.rows]
"""All joints but the strut, which constrains nothing."""


def random_system(seed: int, bodies: int = 3) -> System:
    """Bodies without shapes, with random masses, places and velocities."""
    rng, system = np.random.default_rng(seed), System()
    for k in range(bodies):
        system.add_body(
            None,
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(1.0, 1.9, 3),
            position=rng.normal(size=3),
            orientation=rng.normal(size=4),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            name=f"body{k}",
        )
    return system


def with_all_joints(seed: int) -> System:
    """All joints between two bodies, and between a body and the ground on either side."""
    system = random_system(seed)
    for a, b in ((0, 1), (None, 1), (2, None)):
        for name in JOINTS:
            if EXAMPLES[name].ground or None not in (a, b):
                system.add_joint(make(name, a, b))
    return system


def disturb(system: System, seed: int, size: float = 1.0) -> None:
    """Move and turn all bodies at random, so that joints are open and askew."""
    rng, n = np.random.default_rng(seed), system.count
    system.position[:] += size * rng.normal(size=(n, 3))
    turn = quaternions.from_rotation_vector(size * rng.normal(size=(n, 3)))
    system.quaternion[:] = quaternions.product(system.quaternion, turn)


def now(system: System) -> Evaluation:
    return evaluated(system.joints.table.rows, system.joints.angles, system)


def residual(system: System, t: float = 0.0) -> np.ndarray:
    return now(system).value - system.joints.table.offsets(t)[0]


def turn_body(system: System, body: int, axis: tuple[float, ...], angle: float) -> None:
    """Turn a body about an axis of the world through its centre."""
    turn = quaternions.from_axis_angle(axis, angle)
    system.quaternion[body] = quaternions.product(turn, system.quaternion[body])


# ---- rows ----------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_derivatives_are_those_of_differences(seed: int) -> None:
    """Also where joints are open and askew: linear steps in the world frame, turns in the body frame."""
    system, h = with_all_joints(seed), 1e-5
    disturb(system, seed + 1)
    table, here = system.joints.table, now(system)
    system.joints.angles[:] = here.angle
    position, quaternion = system.position.copy(), system.quaternion.copy()
    expected = np.zeros_like(here.rows)
    for body in range(system.count):
        for k in range(6):
            values = []
            for step in (h, -h):
                system.position[:], system.quaternion[:] = position, quaternion
                if k < 3:
                    system.position[body, k] += step
                else:
                    turn = quaternions.from_rotation_vector(step * np.eye(3)[k - 3])
                    system.quaternion[body] = quaternions.product(quaternion[body], turn)
                values.append(now(system).value)
            for side in range(2):
                own = table.rows.bodies[:, side] == body
                expected[own, side, k] = ((values[0] - values[1]) / (2.0 * h))[own]
    # The differences' own error grows with the third derivative: near an angle's pole, the first one cubed.
    steep = 1.0 + np.abs(here.rows).max(axis=(1, 2)) ** 3
    assert np.all(np.abs(expected - here.rows).max(axis=(1, 2)) < 2e-8 * steep)


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_a_common_motion_changes_nothing(seed: int) -> None:
    system = random_system(seed)
    for name in JOINTS:
        if name != "coupling":  # which is about axes of the ground
            system.add_joint(make(name, 0, 1))
    disturb(system, seed + 1, 0.3)
    before = now(system)
    # The derivatives of A and B are opposite forces on one line, and opposite torques.
    force, own_torque = before.rows[:, :, :3], before.rows[:, :, 3:]
    torque = quaternions.rotate(system.quaternion[:2], own_torque) + np.cross(system.position[:2], force)
    assert force.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert torque.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    rng = np.random.default_rng(seed)
    turn, shift = quaternions.normalise(rng.normal(size=4)), rng.normal(size=3)
    system.position[:] = quaternions.rotate(turn, system.position) + shift
    system.quaternion[:] = quaternions.product(turn, system.quaternion)
    assert now(system).value == pytest.approx(before.value, abs=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_joints_are_closed_where_they_are_added(seed: int) -> None:
    system = with_all_joints(seed)
    assert np.abs(residual(system)).max() < 1e-13
    assert np.abs(now(system).angle).max() < 1e-13


@pytest.mark.parametrize("name", JOINTS)
def test_rows_are_as_many_as_freedoms_lost_and_independent(name: str) -> None:
    system = random_system(4)
    system.add_joint(make(name, 0, 1))
    rows = now(system).rows.reshape(-1, 12)
    assert len(rows) == EXAMPLES[name].rows
    assert np.linalg.svd(rows, compute_uv=False)[-1] > 0.05


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if example.free])
def test_what_joints_leave_free(name: str) -> None:
    """Motions of B relative to A in the joint's frame, at the joint's point."""
    system = random_system(7)
    system.add_joint(make(name, 0, 1))
    frame = (
        completed(np.array(AXIS))
        if name != "universal"
        else np.array([ACROSS, np.cross(AXIS, ACROSS), AXIS]).T
    )
    free_motions = []
    for word in EXAMPLES[name].free.split(", "):
        way, _, axis = word.partition(" ")
        along = frame[:, "xyz".index(axis or "z")]
        spin = np.zeros(3) if way == "move" else along
        shift = {"move": along, "turn": np.zeros(3), "screw": 0.2 / (2.0 * np.pi) * along}[way]
        linear = shift + np.cross(spin, system.position[1] - POINT)
        free_motions.append(np.concatenate([linear, quaternions.rotate_back(system.quaternion[1], spin)]))
    rows = now(system).rows[:, 1]
    assert rows @ np.array(free_motions).T == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.matrix_rank(rows) + len(free_motions) == 6


def test_locked_orientations_have_no_false_solution_below_120_degrees() -> None:
    system = System()
    body = system.add_sphere(1.0, mass=1.0)
    system.add_joint(joints.Fixed(None, body, point=(0, 0, 0)))
    rng = np.random.default_rng(0)
    for _ in range(2000):
        angle = rng.uniform(0.01, 2.0)
        axis = rng.normal(size=3)
        system.quaternion[body] = quaternions.from_axis_angle(axis, angle)
        assert np.abs(residual(system)[3:]).max() > 0.3 * min(angle, 2.0 * np.pi / 3.0 - angle)


def test_a_strut_of_length_zero_has_a_row_of_unit_length() -> None:
    system = System()
    body = system.add_sphere(0.1, mass=1.0, position=(0, 0, 1))
    system.add_joint(joints.Strut(None, body, point_a=(0, 0, 0), anchor_b=(0, 0, 0)))
    system.add_limit(0, upper=1.0)
    system.position[body] = 0.0
    here = now(system)
    assert here.value[0] == 0.0
    assert np.linalg.norm(here.rows[0, 1, :3]) == pytest.approx(1.0)


def test_an_angle_at_its_pole_stays_and_has_no_derivative() -> None:
    """Half a turn across the axis: the twist is not defined there."""
    table = kernels.RowTable(
        np.array([kernels.ANGLE]),
        np.array([[-1, 0]]),
        np.zeros((1, 2, 3)),
        np.array([[[1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0], [0, 1.0, 0]]]),
        np.array([[1.0, 0.0]]),
    )
    for column in table:
        column.flags.writeable = False
    system = System()
    system.add_sphere(1.0, mass=1.0, orientation=(0, 1, 0, 0))
    here = evaluated(table, np.array([[0.7, 0.0]]), system)
    assert here.value[0] == 0.7
    assert not here.rows.any()


# ---- body frames ---------------------------------------------------------------------------------


def test_an_assembly_that_starts_apart_says_what_has_to_come_together() -> None:
    system = System()
    body = system.add_box((1, 0.1, 0.1), mass=1.0, position=(3, 0, 0))
    system.add_joint(
        joints.Revolute(
            None,
            body,
            anchor_a=(0, 0, 1),
            anchor_b=(-0.5, 0, 0),
            axis_a=(0, 0, 1),
            axis_b=(0, 1, 0),
            name="pin",
        )
    )
    assert np.linalg.norm(residual(system)[:3]) == pytest.approx(np.hypot(2.5, 1.0))
    assert system.coordinate("pin") == pytest.approx(0.0, abs=1e-15)  # by the shortest turn between the axes
    system.quaternion[body] = quaternions.between((0, 1, 0), (0, 0, 1))
    system.position[body] = (0.5, 0, 1)
    assert residual(system) == pytest.approx(0.0, abs=1e-15)
    assert system.coordinate("pin") == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("name", [name for name in JOINTS if name not in ("distance", "gear", "coupling")])
def test_body_frames_and_the_world_frame_say_the_same(name: str) -> None:
    worlds, owns = random_system(3), random_system(3)
    worlds.add_joint(make(name, 0, 1))
    p, q = worlds.position, worlds.quaternion
    joint = worlds.joints[0]
    second = ACROSS if name == "universal" else AXIS
    given = {
        "anchor_a": quaternions.rotate_back(q[0], POINT - p[0]),
        "anchor_b": quaternions.rotate_back(q[1], POINT - p[1]),
        "axis_a": quaternions.rotate_back(q[0], AXIS),
        "axis_b": quaternions.rotate_back(q[1], second),
    }
    given = {key: value for key, value in given.items() if key not in EXAMPLES[name].refuses}
    more = {"pitch": 0.2} if name == "screw" else {}
    owns.add_joint(type(joint)(0, 1, **given, **more))
    for system in (worlds, owns):
        disturb(system, 11, 0.2)
    rows = [now(system).rows.reshape(-1, 12) for system in (worlds, owns)]
    if name == "universal":  # another frame across the axes: the same constraints all the same
        rows = [np.linalg.qr(r.T)[0] @ np.linalg.qr(r.T)[0].T for r in rows]
    assert rows[1] == pytest.approx(rows[0], abs=1e-13)


def test_frames_and_anchors_move_with_their_bodies() -> None:
    system = random_system(5)
    for a, b in ((0, 1), (None, 1), (1, None)):
        system.add_joint(joints.Prismatic(a, b, point=POINT, axis=AXIS))
    points, axes = system.joints.frames(system.position, system.quaternion)
    assert points == pytest.approx(np.tile(POINT, (3, 1)))
    assert axes[:, :, 2] == pytest.approx(np.tile(AXIS, (3, 1)))
    assert np.linalg.det(axes) == pytest.approx(1.0)
    system.position[1] += (1, 2, 3)
    turn_body(system, 1, AXIS, 0.5)
    moved = system.joints.anchors(system.position, system.quaternion)
    points, turned = system.joints.frames(system.position, system.quaternion)
    assert points == pytest.approx(moved[:, 0])
    assert moved[:2, 0] == pytest.approx(np.tile(POINT, (2, 1)))  # A is another body, or the ground
    arm = quaternions.rotate(quaternions.from_axis_angle(AXIS, 0.5), POINT - system.position[1] + (1, 2, 3))
    assert moved[2, 0] == pytest.approx(system.position[1] + arm)
    assert turned[:2] == pytest.approx(axes[:2])
    assert turned[2].T @ axes[2] == pytest.approx(
        np.array([[np.cos(0.5), np.sin(0.5), 0], [-np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]])
    )


# ---- angles and coordinates ----------------------------------------------------------------------


def spinner() -> System:
    system = System(gravity=(0, 0, 0))
    system.add_box((1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    system.add_joint(joints.Revolute(None, "arm", point=(0, 0, 0), axis=(0, 0, 1), name="pin"))
    return system


def turned_to(system: System, angle: float) -> None:
    system.quaternion[0] = quaternions.from_axis_angle((0, 0, 1), angle)
    system.position[0] = (0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0)


def test_angles_count_whole_turns() -> None:
    system = spinner()
    system.add_driver("pin", joints.Ramp(1.0))
    for angle in [*np.arange(0.0, 20.0, 0.5), *np.arange(20.0, -20.0, -0.7)]:
        turned_to(system, angle)
        system.forces(0.0)
        system.joints.angles[:] = now(system).angle
        assert system.coordinate("pin") == pytest.approx(angle, abs=1e-12)
        assert residual(system, angle) == pytest.approx(0.0, abs=1e-12)


def test_a_copy_and_a_memory_keep_the_turns() -> None:
    system = spinner()
    system.add_driver("pin", joints.Ramp(1.0))
    for angle in np.arange(0.0, 7.0, 1.0):
        turned_to(system, angle)
        system.forces(0.0)
        system.joints.angles[:] = now(system).angle
    memory, copied = system.joints.memory(), system.copy()
    for angle in (5.0, 3.0, 1.0, 0.0):
        turned_to(system, angle)
        system.forces(0.0)
        system.joints.angles[:] = now(system).angle
    assert copied.coordinate("pin") == pytest.approx(6.0)
    assert copied.joints.angles[-1, 0] == pytest.approx(6.0)
    turned_to(system, 6.0)
    assert system.coordinate("pin") == pytest.approx(6.0 - 2.0 * np.pi)
    system.joints.restore(memory)
    assert system.coordinate("pin") == pytest.approx(6.0)
    assert now(system).angle[-1, 0] == pytest.approx(6.0)
    copied.add_joint(joints.Spherical(None, 0, point=(0, 0, 0)))
    assert len(system.joints) == 1
    with pytest.raises(ProblemError, match="use the same system"):
        copied.joints.restore(memory)


def test_a_driver_added_late_begins_at_the_turns_made() -> None:
    system = spinner()
    for angle in np.arange(0.0, 9.0, 1.0):
        turned_to(system, angle)
        system.forces(0.0)
    system.add_driver("pin", joints.Ramp(0.0, 8.0))
    assert residual(system) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("name", [name for name in JOINTS if "coordinates" in vars(joints.BY_NAME[name])])
def test_coordinate_velocities_are_those_of_differences(name: str) -> None:
    """Fixed bodies move with the velocities that they were given."""
    system, h = random_system(9), 1e-6
    system.add_body(None, fixed=True, velocity=(0.3, 0.1, -0.2), angular_velocity=(0.5, 0.2, 0.1))
    system.add_joint(make(name, 3, 1))
    disturb(system, 1, 0.2)
    for coordinate in system.joints.coordinate_names(0):
        values, position, quaternion = [], system.position.copy(), system.quaternion.copy()
        rate = system.coordinate_velocity(0, coordinate)
        for step in (h, -h):
            system.position[:] = position + step * system.linear_velocity
            turn = quaternions.from_rotation_vector(step * system.angular_velocity)
            system.quaternion[:] = quaternions.product(quaternion, turn)
            values.append(system.coordinate(0, coordinate))
        system.position[:], system.quaternion[:] = position, quaternion
        assert rate == pytest.approx((values[0] - values[1]) / (2.0 * h), abs=1e-8)


def test_a_right_handed_screw_moves_along_its_axis_when_it_turns() -> None:
    for pitch in (0.2, -0.2):
        system = System()
        nut = system.add_box((1, 1, 1), mass=1.0)
        system.add_joint(joints.Screw(None, nut, point=(0, 0, 0), axis=(0, 0, 1), pitch=pitch))
        for turns in np.arange(0.0, 3.0, 0.25):
            system.quaternion[nut] = quaternions.from_axis_angle((0, 0, 1), 2.0 * np.pi * turns)
            system.position[nut, 2] = turns * pitch
            here = now(system)
            assert residual(system) == pytest.approx(0.0, abs=1e-14)
            system.joints.angles[:] = here.angle


# ---- gears ---------------------------------------------------------------------------------------


def two_gears(**options: object) -> System:
    system = System()
    for k in range(2):
        system.add_cylinder(0.1, 0.1, mass=1.0, position=(0.5 * k, 0, 0.2 * k))
    system.add_joint(joints.Gear(0, 1, axis=(0, 0, 1), **options))
    return system


def follow(system: System) -> np.ndarray:
    system.joints.angles[:] = now(system).angle
    return residual(system)


@pytest.mark.parametrize(("internal", "sign"), [(False, -1.0), (True, 1.0)])
def test_gears_on_fixed_axles_turn_in_the_ratio_of_their_radii(internal: bool, sign: float) -> None:
    system = two_gears(radii=(0.3, 0.2), internal=internal)
    for _ in range(40):
        turn_body(system, 0, (0, 0, 1), 0.4)
        turn_body(system, 1, (0, 0, 1), sign * 0.4 * 1.5)
        assert follow(system) == pytest.approx(0.0, abs=1e-13)


def test_a_planet_rolls_around_the_sun_on_a_moving_carrier() -> None:
    """With the sun at rest, the planet turns by ψ (1 + r_sun/r_planet) while the carrier turns by ψ."""
    system = two_gears(radii=(0.3, 0.2))
    for k in range(1, 60):
        turn_body(system, 1, (0, 0, 1), 0.2 * (1.0 + 0.3 / 0.2))
        system.position[1] = (0.5 * np.cos(0.2 * k), 0.5 * np.sin(0.2 * k), 0.2)
        assert follow(system) == pytest.approx(0.0, abs=1e-12)


def test_a_planet_rolls_inside_a_ring_that_the_ground_holds() -> None:
    system = System()
    planet = system.add_cylinder(0.1, 0.1, mass=1.0, position=(0.5, 0, 0))
    system.add_joint(
        joints.Gear(None, planet, axis=(0, 0, 1), radii=(0.7, 0.2), internal=True, anchor_a=(0, 0, 0))
    )
    for k in range(1, 60):
        turn_body(system, planet, (0, 0, 1), 0.2 * (1.0 - 0.7 / 0.2))
        system.position[planet] = (0.5 * np.cos(0.2 * k), 0.5 * np.sin(0.2 * k), 0)
        assert follow(system) == pytest.approx(0.0, abs=1e-12)


def test_bevel_gears_turn_in_their_ratio_about_axes_of_the_ground() -> None:
    system = System()
    system.add_cylinder(0.1, 0.1, mass=1.0)
    system.add_cylinder(0.1, 0.1, mass=1.0, orientation=quaternions.from_axis_angle((0, 1, 0), np.pi / 2))
    system.add_joint(joints.Coupling(0, 1, axis_a=(0, 0, 1), axis_b=(0, 0, 1), ratio=3.0))
    for _ in range(40):
        turn_body(system, 0, (0, 0, 1), 0.3)
        turn_body(system, 1, (1, 0, 0), -0.1)
        assert follow(system) == pytest.approx(0.0, abs=1e-13)
    turn_body(system, 1, (1, 0, 0), 0.5)
    assert residual(system) == pytest.approx(1.5)


# ---- the table -----------------------------------------------------------------------------------


def test_the_table_names_its_rows_and_cannot_be_changed() -> None:
    system = spinner()
    system.add_joint(joints.Distance(None, 0, point_a=(0, 0, 3), anchor_b=(0, 0, 0), length=2.0))
    table = system.joints.table
    assert table.labels == ("joint 'pin'",) * 5 + ("joint 1",)
    assert table.units == ("m",) * 3 + ("rad",) * 2 + ("m",)
    assert table.joint.tolist() == [0] * 5 + [1]
    assert table.offsets(3.0)[0].tolist() == [0.0] * 5 + [2.0]
    assert not table.on_velocity.any()
    assert np.all(table.role == BILATERAL)
    assert np.all(np.isinf(table.lower) & np.isinf(table.upper))
    with pytest.raises(ValueError):
        table.rows.anchor[0] = 0.0
    with pytest.raises(ValueError):
        table.upper[0] = 0.0
    assert system.joints.table is table
    system.add_driver("pin", joints.Ramp(1.0))
    assert len(system.joints.table) == len(table) + 1
    assert system.joints.names == {"pin": 0}
    assert [type(joint) for joint in system.joints] == [joints.Revolute, joints.Distance]
    assert system.joints["pin"] is system.joints[0]


def test_frames_for_joints_across_any_axis_are_right_handed() -> None:
    rng = np.random.default_rng(1)
    for axis in [*rng.normal(size=(200, 3)), *np.eye(3), *-np.eye(3)]:
        z = axis / np.linalg.norm(axis)
        frame = completed(z)
        assert frame.T @ frame == pytest.approx(np.eye(3), abs=1e-14)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        assert np.array_equal(frame[:, 2], z)
    assert np.array_equal(completed(np.array([0.0, 0.0, 1.0])), np.eye(3))
