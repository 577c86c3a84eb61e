"""Drivers, motors, springs, limits and friction on joints; pairs that do not touch; and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.collision import Detector
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model import Box, Compound, Sphere, System, joints, quaternions
from nonsmooth.model.joints import Distance, Function, Ramp, Revolute, Sine, Smooth, Spherical, Strut
from nonsmooth.model.joints.evaluation import evaluated
from nonsmooth.model.joints.table import BILATERAL, BOUNDED, LIMIT

Z = (0.0, 0.0, 1.0)


def slider(mass: float = 2.0) -> System:
    """A box on a rail along z, at z = 0."""
    system = System(gravity=(0, 0, 0))
    system.add_box((1, 1, 1), mass=mass, name="box")
    system.add_joint(joints.Prismatic(None, "box", point=(0, 0, 0), axis=Z, name="rail"))
    return system


def hinged_pair(seed: int = 0) -> System:
    """Two bodies in motion with a cylindrical joint and a strut between them, somewhat open."""
    rng, system = np.random.default_rng(seed), System(gravity=(0, 0, 0))
    for name in ("first", "second"):
        system.add_body(
            None,
            mass=rng.uniform(1, 2),
            inertia=rng.uniform(1, 1.9, 3),
            position=rng.normal(size=3),
            orientation=rng.normal(size=4),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            name=name,
        )
    system.add_joint(
        joints.Cylindrical("first", "second", point=(0.3, 0.1, 0.2), axis=(0.6, 0, 0.8), name="hinge")
    )
    system.add_joint(Strut("first", "second", anchor_a=(0.5, 0, 0), anchor_b=(0, 0.5, 0), name="strut"))
    turn = quaternions.from_rotation_vector(0.3 * rng.normal(size=(2, 3)))
    system.quaternion[:] = quaternions.product(system.quaternion, turn)
    return system


def moved(system: System, h: float) -> System:
    """The same after flying for a time h with the present velocities."""
    other = system.copy()
    other.position[:] += h * system.linear_velocity
    turn = quaternions.from_rotation_vector(h * system.angular_velocity)
    other.quaternion[:] = quaternions.product(system.quaternion, turn)
    return other


def power(system: System, t: float = 0.0) -> float:
    velocity = np.concatenate([system.linear_velocity, system.angular_velocity], axis=1)
    return float(np.sum(system.forces(t) * velocity))


# ---- motions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "motion",
    [
        Ramp(2.0, 0.5),
        Sine(0.3, 1.5, phase=0.2, offset=1.0),
        Smooth(0.2, 1.5, begin=1.0, duration=2.0),
        Function(lambda t: math.exp(-t) * math.sin(5.0 * t)),
    ],
)
def test_rates_of_motions_are_those_of_differences(motion: joints.Motion) -> None:
    h = 1e-4
    for t in (0.0, 0.3, 0.99, 1.4, 2.0, 2.9, 3.3):
        slope = (motion.value(t + h) - motion.value(t - h)) / (2.0 * h)
        assert motion.rate(t) == pytest.approx(slope, abs=1e-6)


def test_the_rate_of_a_function_is_exact_to_rounding() -> None:
    motion = Function(lambda t: math.sin(20.0 * t))
    for t in np.linspace(0.0, 10.0, 50):
        assert motion.rate(t) == pytest.approx(20.0 * math.cos(20.0 * t), abs=1e-10)


def test_a_smooth_motion_has_a_continuous_acceleration() -> None:
    motion, h = Smooth(0.0, 2.0, begin=1.0, duration=0.5), 1e-6
    assert motion.value(0.0) == 0.0
    assert motion.value(9.0) == 2.0
    for t in (1.0, 1.5):
        before, after = (motion.rate(t) - motion.rate(t - h)) / h, (motion.rate(t + h) - motion.rate(t)) / h
        assert abs(after - before) < 1e-3  # the jerk is 480 m/s³


# ---- rows of elements ----------------------------------------------------------------------------


def test_a_driver_prescribes_its_coordinate() -> None:
    system = slider()
    system.add_driver("rail", Sine(0.5, 1.0))
    table = system.joints.table
    offset, rate = table.offsets(0.3)
    assert offset[-1] == pytest.approx(0.5 * math.sin(0.6 * math.pi))
    assert rate[-1] == pytest.approx(math.pi * math.cos(0.6 * math.pi))
    assert table.labels[-1] == "driver of joint 'rail'"
    assert table.role[-1] == BILATERAL
    assert not table.on_velocity[-1]
    assert table.units[-1] == "m"


@pytest.mark.parametrize("limit", [5.0, math.inf])
def test_a_speed_motor_is_a_row_on_velocity_level(limit: float) -> None:
    system = slider()
    system.add_motor("rail", speed=lambda t: 3.0 * t, limit=limit)
    table = system.joints.table
    offset, rate = table.offsets(2.0)
    assert (offset[-1], rate[-1]) == (0.0, 6.0)
    assert (table.lower[-1], table.upper[-1]) == (-limit, limit)
    assert table.role[-1] == (BILATERAL if math.isinf(limit) else BOUNDED)
    assert table.on_velocity[-1]


def test_friction_is_a_bounded_row_at_rest() -> None:
    system = slider()
    system.add_joint_friction("rail", 4.0)
    system.add_joint_friction("rail", 1.0)
    table = system.joints.table
    assert table.role[-1] == BOUNDED
    assert table.on_velocity[-1]
    assert (table.lower[-2], table.upper[-2]) == (-4.0, 4.0)
    assert table.offsets(1.0)[1][-1] == 0.0
    assert table.labels[-2:] == ("friction of joint 'rail'", "friction of joint 'rail' (2)")


def test_limits_are_positive_inside_and_push_inwards() -> None:
    system = slider()
    system.add_limit("rail", lower=-1.0, upper=3.0)
    table = system.joints.table
    system.position[0, 2] = 2.5
    now = evaluated(table.rows, system.joints.angles, system)
    assert (now.value - table.offsets(0.0)[0])[-2:] == pytest.approx([3.5, 0.5])
    assert now.rows[-2:, 1, 2].tolist() == [1.0, -1.0]
    assert table.role[-2:].tolist() == [LIMIT, LIMIT]
    assert table.lower[-2:].tolist() == [0.0, 0.0]
    assert np.isinf(table.upper[-2:]).all()
    assert table.labels[-2:] == ("lower limit of joint 'rail'", "upper limit of joint 'rail'")


# ---- forces --------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_springs_and_dampers_do_the_work_that_their_law_says(seed: int) -> None:
    """Force times velocity is −dE/dt − c ẋ², also where the joint is open; no net force or torque."""
    system, h = hinged_pair(seed), 1e-5
    system.add_spring("hinge", coordinate="angle", stiffness=3.0, damping=0.5, rest=0.7)
    system.add_spring("hinge", coordinate="position", stiffness=20.0, rest=0.1)
    system.add_spring("strut", stiffness=10.0, damping=2.0, rest=0.4)
    energy = [moved(system, step).joints.potential_energy(moved(system, step)) for step in (h, -h)]
    lost = 0.5 * system.coordinate_velocity("hinge", "angle") ** 2
    lost += 2.0 * system.coordinate_velocity("strut") ** 2
    assert power(system) == pytest.approx(-(energy[0] - energy[1]) / (2.0 * h) - lost, rel=1e-6, abs=1e-6)
    force, own_torque = np.split(system.forces(0.0), 2, axis=1)
    torque = quaternions.rotate(system.quaternion, own_torque) + np.cross(system.position, force)
    assert force.sum(axis=0) == pytest.approx(0.0, abs=1e-11)
    assert torque.sum(axis=0) == pytest.approx(0.0, abs=1e-11)


def test_a_spring_is_at_rest_where_it_is_added_and_pulls_back() -> None:
    system = slider()
    system.position[0, 2] = 0.3
    system.add_spring("rail", stiffness=100.0)
    assert system.forces(0.0)[0] == pytest.approx(np.zeros(6))
    system.position[0, 2] = 0.5
    assert system.forces(0.0)[0] == pytest.approx([0, 0, -20, 0, 0, 0])
    assert system.joints.potential_energy(system) == pytest.approx(2.0)


def test_a_spring_counts_whole_turns() -> None:
    system = System(gravity=(0, 0, 0))
    system.add_box((1, 1, 1), mass=1.0)
    system.add_joint(Revolute(None, 0, point=(0, 0, 0), axis=Z, name="pin"))
    system.add_spring("pin", stiffness=2.0)
    for angle in np.arange(0.0, 15.0, 1.0):
        system.quaternion[0] = quaternions.from_axis_angle(Z, angle)
        assert system.forces(0.0)[0, 5] == pytest.approx(-2.0 * angle)


def test_a_torque_motor_turns_b_one_way_and_a_the_other() -> None:
    system = System(gravity=(0, 0, 0))
    for k in range(2):
        system.add_box((1, 1, 1), mass=1.0, position=(k, 0, 0))
    system.add_joint(Revolute(0, 1, point=(0.5, 0, 0), axis=Z, name="pin"))
    system.add_motor("pin", force=lambda t: 2.0 + t)
    system.add_motor("pin", force=0.5)
    assert system.forces(1.0) == pytest.approx(np.array([[0, 0, 0, 0, 0, -3.5], [0, 0, 0, 0, 0, 3.5]]))


def test_fixed_bodies_feel_no_spring_and_their_motion_counts() -> None:
    system = System(gravity=(0, 0, 0))
    system.add_sphere(0.1, fixed=True, velocity=(0, 0, 1.0))
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 2))
    system.add_joint(Strut(0, 1, anchor_a=(0, 0, 0), anchor_b=(0, 0, 0), name="strut"))
    system.add_spring("strut", damping=3.0)
    assert system.coordinate_velocity("strut") == -1.0
    assert system.forces(0.0) == pytest.approx(np.array([[0] * 6, [0, 0, 3.0, 0, 0, 0]]))


def test_elements_of_a_copy_are_its_own() -> None:
    system = slider()
    other = system.copy()
    other.add_spring("rail", stiffness=1.0, rest=1.0)
    other.add_driver("rail", Ramp(1.0))
    assert system.forces(0.0)[0, 2] == 0.0
    assert other.forces(0.0)[0, 2] == 1.0
    assert len(system.joints.elements) == 0
    assert [type(element).__name__ for element in other.joints.elements] == ["Spring", "Driver"]
    system.add_driver("rail", Ramp(2.0))  # contradicts nothing here
    assert other.joints.table.offsets(0.0)[1][-1] == 1.0


# ---- stability -----------------------------------------------------------------------------------


def longest_step(system: System) -> float:
    """The longest stable step to 1 %, by asking `stiffest`."""
    stable, unstable = 1e-6, 1e3
    while unstable / stable > 1.001:
        middle = math.sqrt(stable * unstable)
        try:
            system.joints.stiffest(middle, system)
            stable = middle
        except OptionError:
            unstable = middle
    return stable


@pytest.mark.parametrize(("stiffness", "damping"), [(200.0, 0.0), (0.0, 3.0), (200.0, 3.0), (1.0, 30.0)])
def test_the_longest_stable_step_of_a_mass_on_a_spring(stiffness: float, damping: float) -> None:
    """h² k/m + 2 h c/m = 4; and symplectic Euler itself says the same."""
    mass, system = 2.0, slider()
    system.add_spring("rail", stiffness=stiffness, damping=damping)
    longest = longest_step(system)
    assert longest**2 * stiffness / mass + 2.0 * longest * damping / mass == pytest.approx(4.0, rel=3e-3)
    for factor, bounded in ((0.99, True), (1.01, False)):
        h, x, v = factor * longest, 1.0, 1.0
        for _ in range(3000):
            v -= h * (stiffness * x + damping * v) / mass
            x += h * v
        assert (abs(v) < 1e3) == bounded


def test_joints_count_for_stability() -> None:
    """A light bob on a long arm with a torsion spring: inertia about the hinge, not about the centre."""
    system = System(gravity=(0, 0, 0))
    system.add_sphere(0.01, mass=3.0, position=(2, 0, 0))
    system.add_joint(Revolute(None, 0, point=(0, 0, 0), axis=Z, name="pin"))
    system.add_spring("pin", stiffness=500.0)
    inertia = 3.0 * (4.0 + 0.4 * 0.01**2)
    assert longest_step(system) == pytest.approx(2.0 * math.sqrt(inertia / 500.0), rel=2e-3)


@pytest.mark.parametrize("masses", [5, 200])
def test_the_fastest_mode_of_a_row_of_springs(masses: int) -> None:
    """n masses between two walls: ω² = 4 k/m sin²(n π/(2 (n + 1)))."""
    system = System(gravity=(0, 0, 0))
    for k in range(masses):
        system.add_sphere(0.1, mass=1.0, position=(k + 1.0, 0, 0))
    for k in range(masses + 1):
        a, b = (None if k == 0 else k - 1), (None if k == masses else k)
        system.add_joint(Strut(a, b, point_a=(k, 0, 0), point_b=(k + 1.0, 0, 0)))
        system.add_spring(k, stiffness=100.0)
    fastest = 20.0 * math.sin(masses * math.pi / (2.0 * (masses + 1)))
    assert longest_step(system) == pytest.approx(2.0 / fastest, rel=5e-3)
    with pytest.raises(OptionError, match="take steps") as refused:
        system.joints.stiffest(1.0, system)
    named = float(re.findall(r"at most (\S+) s", str(refused.value))[0])
    system.joints.stiffest(named, system)
    assert named == pytest.approx(2.0 / fastest, rel=0.1)


def test_an_unstable_spring_is_named_with_the_step_that_works() -> None:
    system = slider()
    system.add_spring("rail", stiffness=2.0e4)
    with pytest.raises(OptionError, match=r"spring of joint 'rail' is too stiff .* at most 0.02 s"):
        system.joints.stiffest(0.05, system)
    system.joints.stiffest(0.02, system)


# ---- pairs that do not touch ---------------------------------------------------------------------


def contacts(system: System) -> set[tuple[int, int]]:
    found = Detector(system, 0.01).detect(system.position, system.quaternion)
    return {(min(a, b), max(a, b)) for a, b in found.bodies.tolist()}


def test_joined_bodies_do_not_touch_unless_told() -> None:
    for collide in (False, True):
        system = System()
        for k in range(3):
            system.add_sphere(0.6, mass=1.0, position=(k, 0, 0))
        system.add_joint(Spherical(1, 0, point=(0.5, 0, 0), collide=collide))
        assert contacts(system) == ({(0, 1), (1, 2)} if collide else {(1, 2)})
    system.add_joint(Strut(1, 2, anchor_a=(0, 0, 0), anchor_b=(0, 0, 0)))  # constrains nothing
    assert contacts(system) == {(0, 1), (1, 2)}


def test_ignored_pairs_are_sorted_and_kept_by_copies() -> None:
    system = System()
    for k in range(4):
        system.add_sphere(0.6, mass=1.0, position=(k, 0, 0), name=f"ball{k}")
    assert system.ignored_pairs.shape == (0, 2)
    system.ignore_contacts("ball3", 2)
    system.ignore_contacts(1, 0)
    system.ignore_contacts(0, 1)
    assert system.ignored_pairs.tolist() == [[0, 1], [2, 3]]
    other = system.copy()
    other.ignore_contacts(1, 2)
    assert contacts(system) == {(1, 2)}
    assert contacts(other) == set()
    with pytest.raises(ProblemError, match="'ball1' is paired with itself"):
        system.ignore_contacts(1, "ball1")


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_what_is_ignored_is_what_is_missing(seed: int) -> None:
    """Planes, balls, boxes and compounds: all contacts but those of the pairs, in the same order.

    What a neighbour's face hides counts as found: it comes to light if the neighbour is ignored.
    """
    rng, system = np.random.default_rng(seed), System()
    system.add_plane()
    for _ in range(20):
        shape = (Sphere(0.3), Box((0.5, 0.4, 0.6)), Compound(((Sphere(0.2), (0.2, 0, 0), (1, 0, 0, 0)),
                 (Box((0.2, 0.2, 0.2)), (-0.2, 0, 0), (1, 0, 0, 0)))))[rng.integers(3)]  # fmt: skip
        system.add_body(shape, mass=1.0, position=rng.uniform(0.0, 1.0, 3), orientation=rng.normal(size=4))

    def found() -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        detector = Detector(system, 0.02)
        contacts = detector.detect(system.position, system.quaternion)
        body = system.shapes.body
        return tuple(
            [
                (*body[pair].tolist(), *pair.tolist(), gap)
                for pair, gap in zip(rows.shapes, rows.gap, strict=True)
            ]
            for rows in (contacts, detector.withheld)
        )

    everything, hidden = found()
    pairs = {tuple(sorted(rng.choice(21, 2, replace=False).tolist())) for _ in range(60)}
    for a, b in pairs:
        system.ignore_contacts(a, b)
    rest, still_hidden = found()
    kept = [row for row in everything if tuple(sorted(row[:2])) not in pairs]
    assert 0 < len(kept) < len(everything)
    came_to_light = set(rest) - set(kept)
    assert came_to_light <= set(hidden)
    assert [row for row in rest if row not in came_to_light] == kept
    assert {row for row in hidden if tuple(sorted(row[:2])) not in pairs} == came_to_light | set(still_hidden)


# ---- what is refused -----------------------------------------------------------------------------


def workshop() -> System:
    system = System()
    system.add_box((1, 1, 1), mass=1.0, name="arm")
    system.add_box((1, 1, 1), mass=1.0, position=(2, 0, 0), name="rod")
    system.add_box((1, 1, 1), fixed=True, position=(4, 0, 0), name="wall")
    system.add_joint(Revolute(None, "arm", point=(0, 0, 0), axis=Z, name="pin"))
    system.add_joint(joints.Cylindrical("arm", "rod", point=(1, 0, 0), axis=(1, 0, 0), name="sleeve"))
    system.add_joint(joints.Screw(None, "rod", point=(0, 0, 0), axis=Z, pitch=0.1, name="thread"))
    system.add_joint(Distance(None, "rod", point_a=(0, 0, 5), anchor_b=(0, 0, 0), name="rope"))
    return system


HERE = {"point": (0, 0, 0), "axis": Z, "name": "bad"}
REFUSED_JOINTS: list[tuple[Callable[[], joints.Joint], str]] = [
    (lambda: Revolute("arn", None, **HERE),
     r"joint 'bad': body 'arn' is not known: names are arm, rod, wall"),
    (lambda: Revolute(7, None, **HERE), r"joint 'bad': body 7 is not there: indices go from 0 to 2"),
    (lambda: Revolute("arm", 0, **HERE), r"joint 'bad' connects body 'arm' with itself: give two different"),
    (lambda: Revolute(None, None, **HERE), r"joint 'bad' connects the ground with itself"),
    (lambda: Revolute(None, "wall", **HERE), r"connects the ground and body 'wall', and neither can move"),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0), axis=(1, 1, 0), name="bad"),
     r"axis of joint 'bad' has length 1.41421: give the unit vector \(0.707106781, 0.707106781, 0\)"),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0), axis=(0, 0, 0)), r"axis of joint 4 is zero"),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0)),
     r"joint 4 needs its axis given one way: axis= in the world"),
    (lambda: Revolute("arm", "rod", axis=Z), r"joint 4 needs its point given one way: point= in the world"),
    (lambda: Revolute("arm", "rod", anchor_a=(0, 0, 0), axis=Z), r"needs its point given one way.*anchor_b="),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0), anchor_a=(0, 0, 0), axis=Z),
     r"needs its point given one"),
    (lambda: Revolute("arm", "rod", point=(0, 0), axis=Z), r"point of joint 4 has shape \(2,\)"),
    (lambda: Revolute("arm", "rod", point=(0, 0, math.nan), axis=Z), r"point of joint 4 is nan"),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0), axis=Z, name="pin"),
     r"named 'pin' exists already: choose another"),
    (lambda: Revolute("arm", "rod", point=(0, 0, 0), axis=Z, name=""), r"the name of a joint is ''"),
    (lambda: joints.PointOnLine("arm", "rod", point=(0, 0, 0), axis=Z, axis_b=Z),
     r"belongs to body a: omit"),
    (lambda: joints.Universal("arm", "rod", **HERE), r"'bad' needs two axes.*give axis= and second_axis="),
    (lambda: joints.Universal("arm", "rod", second_axis=(0, 0.6, 0.8), **HERE),
     r"axes of joint 'bad' are 36.8699°"),
    (lambda: joints.Screw("arm", "rod", pitch=0.0, **HERE), r"pitch of joint 'bad' is zero.*use a Revolute"),
    (lambda: Distance("arm", "rod", anchor_a=(1, 0, 0), anchor_b=(-1, 0, 0), name="bad"),
     r"anchors of joint 'bad' coincide.*move one of them, or use a Spherical joint"),
    (lambda: Distance("arm", "rod", anchor_a=(0, 0, 0), anchor_b=(0, 0, 0), length=0.0, name="bad"),
     r"length of joint 'bad' is 0 m: it must be positive; use a Spherical joint for zero"),
    (lambda: Strut("arm", "rod", anchor_a=(0, 0, 0), name="bad"),
     r"'bad' needs one end on body b: give point_b="),
    (lambda: joints.Gear("arm", "rod", axis=Z, radii=(0.1, -0.2)),
     r"the radius of body b in joint 4 is -0.2 m"),
    (lambda: joints.Gear("arm", "rod", axis=Z, radii=0.1), r"radii of joint 4 is 0.1: give two numbers"),
    (lambda: joints.Gear("arm", "rod", axis=(1, 0, 0), radii=(0.1, 0.1)),
     r"centres of joint 4 lie on one axis"),
    (lambda: joints.Gear(None, "rod", axis=Z, radii=(0.1, 0.1)),
     r"centre of the gear on the ground: give anchor_a="),
    (lambda: joints.Gear("arm", "rod", radii=(0.1, 0.1), **HERE),
     r"has two centres: give anchor_a= and anchor_b="),
    (lambda: joints.Coupling("arm", "rod", axis=Z, ratio=0.0), r"ratio of joint 4 is zero"),
    (lambda: joints.Coupling("arm", None, axis=Z, ratio=1.0), r"couples two bodies: give both"),
    (lambda: joints.Coupling("arm", "rod", ratio=1.0, **HERE), r"has no point of action: omit point"),
    (lambda: "revolute", r"joint is 'revolute': give a joint such as Revolute"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED_JOINTS)
def test_joints_that_are_refused(make: Callable[[], joints.Joint], message: str) -> None:
    system = workshop()
    rows = len(system.joints.table)
    with pytest.raises(ProblemError, match=message):
        system.add_joint(make())
    assert len(system.joints) == 4  # nothing is left behind
    assert len(system.joints.table) == rows
    assert "bad" not in system.joints.names


REFUSED_ELEMENTS: list[tuple[Callable[[System], object], str]] = [
    (lambda s: s.add_driver("pim", Ramp(1.0)),
     r"joint 'pim' is not known: names are pin, sleeve, thread, rope"),
    (lambda s: s.add_driver(9, Ramp(1.0)), r"joint 9 is not there: indices go from 0 to 3"),
    (lambda s: s.add_driver(None, Ramp(1.0)), r"joint is None: give an index or a name"),
    (lambda s: s.coordinate("sleeve"),
     r"joint 'sleeve' is a Cylindrical with angle and position: give coord"),
    (lambda s: s.coordinate("sleeve", "length"),
     r"with angle and position, and no 'length': give coordinate='angle'"),
    (lambda s: s.coordinate(s.add_joint(Spherical(None, 0, point=(0, 0, 0)))),
     r"Spherical, which has no coordinate"),
    (lambda s: s.add_driver("pin", 3.0),
     r"motion of the driver of joint 'pin' is 3.0: give a motion such as Ramp"),
    (lambda s: s.add_driver("pin", lambda t: "far"),
     r"the driver of joint 'pin' at t = 0 s is 'far': give one number"),
    (lambda s: s.add_driver("rope", Ramp(1.0)),
     r"length of joint 'rope' is fixed by the Distance itself: use a Strut"),
    (lambda s: s.add_motor("pin"), r"motor of joint 'pin' needs one of force and speed"),
    (lambda s: s.add_motor("pin", force=1.0, speed=1.0), r"needs one of force and speed"),
    (lambda s: s.add_motor("pin", force=1.0, limit=1.0), r"has a force, which needs no limit"),
    (lambda s: s.add_motor("pin", speed=1.0),
     r"needs a limit for its force: give limit=, which may be math.inf"),
    (lambda s: s.add_motor("pin", speed=1.0, limit=0.0),
     r"limit of the motor of joint 'pin' is 0: it must be pos"),
    (lambda s: s.add_motor("sleeve", force=lambda t: math.nan, coordinate="angle"),
     r"motor of the angle of joint 'sl"),
    (lambda s: s.add_spring("pin"), r"spring of joint 'pin' has no effect: give stiffness, damping or both"),
    (lambda s: s.add_spring("pin", stiffness=-1.0),
     r"stiffness of the spring of joint 'pin' is -1: it must not be"),
    (lambda s: s.add_limit("pin"), r"limit of joint 'pin' has no bound: give lower, upper or both"),
    (lambda s: s.add_limit("pin", lower=1.0, upper=1.0), r"lower must be below upper; use a driver to hold"),
    (lambda s: s.add_joint_friction("pin", 0.0),
     r"bound of the friction of joint 'pin' is 0: it must be positive"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED_ELEMENTS)
def test_elements_that_are_refused(call: Callable[[System], object], message: str) -> None:
    system = workshop()
    rows = len(system.joints.table)
    with pytest.raises(ProblemError, match=message):
        call(system)
    assert system.joints.elements == ()
    if len(system.joints) == 4:
        assert len(system.joints.table) == rows


def test_contradicting_drivers_are_refused() -> None:
    system = workshop()
    system.add_driver("pin", Ramp(1.0))
    with pytest.raises(ProblemError, match="driver of joint 'pin' contradicts the driver of joint 'pin'"):
        system.add_driver("pin", Ramp(1.0))
    with pytest.raises(
        ProblemError, match=r"motor of joint 'pin' contradicts the driver .* give a motor a limit"
    ):
        system.add_motor("pin", speed=1.0, limit=math.inf)
    system.add_motor("pin", speed=1.0, limit=5.0)  # gives way
    system.add_driver("sleeve", Ramp(1.0), coordinate="angle")
    system.add_driver("sleeve", Ramp(1.0), coordinate="position")  # two freedoms
    system.add_motor("thread", speed=1.0, limit=math.inf, coordinate="angle")
    with pytest.raises(
        ProblemError, match="driver of the position of joint 'thread' contradicts the motor of"
    ):
        system.add_driver("thread", Ramp(1.0), coordinate="position")  # one freedom
    assert len(system.joints.elements) == 5


def test_functions_that_go_wrong_later_are_named() -> None:
    system = slider()
    system.add_motor("rail", force=lambda t: 1.0 / (1.0 - t) if t != 1.0 else math.inf)
    system.add_motor("rail", speed=lambda t: None if t > 1.0 else 1.0, limit=3.0)
    with pytest.raises(ProblemError, match="the motor of joint 'rail' at t = 1 s is inf"):
        system.forces(1.0)
    with pytest.raises(ProblemError, match="the rate of the motor of joint 'rail' at t = 2 s is None"):
        system.joints.table.offsets(2.0)
