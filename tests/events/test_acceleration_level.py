"""Contact laws on acceleration level: index sets, drift, sliding contacts, all solutions of a problem."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonsmooth.errors import ProblemError, UnsupportedError
from nonsmooth.events.acceleration import AccelerationLevel, ActiveContact
from nonsmooth.events.enumeration import Mode, all_solutions
from nonsmooth.model.generalised import GapContact, GeneralisedSystem, Kinematics, check_derivatives
from nonsmooth.problem.library.named import BLOCK_LOADS, planar_block
from nonsmooth.solvers.solve import solve

MASS, LENGTH, HEIGHT, G = 2.1, 0.15, 0.05, 9.81


def corner(side: float, **options: object) -> GapContact:
    """A lower corner of a planar block (x, y, φ) on the floor, with derivatives but without drift."""
    return GapContact(
        "left" if side < 0 else "right",
        gap=lambda q, t: q[1] + side * LENGTH * math.sin(q[2]) - HEIGHT * math.cos(q[2]),
        normal=lambda q, t: [0.0, 1.0, side * LENGTH * math.cos(q[2]) + HEIGHT * math.sin(q[2])],
        tangent=lambda q, t: [1.0, 0.0, -side * LENGTH * math.sin(q[2]) + HEIGHT * math.cos(q[2])],
        **options,  # type: ignore[arg-type]
    )


def block(load: tuple[float, float, float], friction: float = 0.3) -> GeneralisedSystem:
    inertia = MASS * (LENGTH**2 + HEIGHT**2) / 3.0
    return GeneralisedSystem(
        np.diag([MASS, MASS, inertia]),
        lambda q, u, t: np.array(load),
        [corner(-1.0, friction=friction), corner(1.0, friction=friction)],
    )


def rod(angle: float, turning: float, friction: float, slip: float) -> AccelerationLevel:
    """The tip of a rod of 1 kg and half length 1 m on the floor, at an angle from the horizontal."""
    directions = np.array([[0.0, 1.0], [1.0, 0.0], [-math.cos(angle), math.sin(angle)]])
    drift = turning**2 * np.array([math.sin(angle), math.cos(angle)])
    tip = ActiveContact(directions, drift, friction, friction, np.array([slip]))
    return AccelerationLevel(np.diag([1.0, 1.0, 1.0 / 3.0]), [0.0, -G, 0.0], [tip])


@pytest.mark.parametrize("case", BLOCK_LOADS)
def test_the_papers_block_has_the_same_problem_and_answer(case):
    level = AccelerationLevel.of(block(BLOCK_LOADS[case]), [0.0, HEIGHT, 0.0], np.zeros(3))
    known = planar_block(BLOCK_LOADS[case])
    np.testing.assert_allclose(level.matrix, known.operator.matrix().toarray(), atol=1e-14)
    np.testing.assert_allclose(level.constant, known.free_velocity, atol=1e-13)
    answer = solve(level.problem, tolerance=1e-12)
    expected = solve(known, tolerance=1e-12).velocity
    np.testing.assert_allclose(level.acceleration(answer.impulses), expected, atol=1e-9)
    (only,) = all_solutions(level)
    np.testing.assert_allclose(only.acceleration, expected, atol=1e-9)


def test_index_sets_follow_gaps_and_velocities():
    system = block((0.0, -20.6, 0.0))
    inactive = AccelerationLevel.of(system, [0.0, HEIGHT + 1e-6, 0.0], np.zeros(3))
    assert not inactive.contacts
    with pytest.raises(ProblemError, match="motion is free"):
        _ = inactive.problem
    tilted = 0.1
    place = [0.0, LENGTH * math.sin(tilted) + HEIGHT * math.cos(tilted), tilted]
    one = AccelerationLevel.of(system, place, np.zeros(3))
    assert [each.name for each in one.contacts] == ["left"]
    sliding = AccelerationLevel.of(system, [0.0, HEIGHT, 0.0], [2.0, 0.0, 0.0])
    assert [each.rows for each in sliding.contacts] == [1, 1]
    assert np.abs(sliding.matrix - sliding.matrix.T).max() > 0.1
    np.testing.assert_allclose([each.slip for each in sliding.contacts], 1.0)
    with pytest.raises(ProblemError, match="an impact comes before accelerations"):
        AccelerationLevel.of(system, [0.0, HEIGHT, 0.0], [0.0, -1.0, 0.0])


def test_sliding_block_decelerates_by_friction():
    level = AccelerationLevel.of(block((0.0, -20.6, 0.0)), [0.0, HEIGHT, 0.0], [2.0, 0.0, 0.0])
    answer = solve(level.problem, tolerance=1e-12)
    np.testing.assert_allclose(level.acceleration(answer.impulses), [-0.3 * 20.6 / MASS, 0.0, 0.0], atol=1e-9)


def test_painleve_has_one_none_or_two_solutions():
    """G = 1 + 3 cos θ (cos θ − μ s sin θ) and c = ω² sin θ − g, by hand."""
    for angle, turning, slip in ((1.2, 0.0, 1.0), (1.2, 0.0, -1.0), (1.2, 6.0, 1.0), (1.2, 6.0, -1.0)):
        level = rod(angle, turning, 2.0, slip)
        mobility = 1.0 + 3.0 * math.cos(angle) * (math.cos(angle) + 2.0 * slip * math.sin(angle))
        free = turning**2 * math.sin(angle) - G
        np.testing.assert_allclose(level.matrix, [[mobility]], rtol=1e-13)
        np.testing.assert_allclose(level.constant, [free], rtol=1e-13)
        found = all_solutions(level)
        expected = {(True, True): 1, (True, False): 1, (False, True): 2, (False, False): 0}
        assert len(found) == expected[mobility > 0.0, free > 0.0]
        forces = sorted(each.forces[0][0] for each in found)
        if len(found) == 2:
            np.testing.assert_allclose(forces, [0.0, -free / mobility], rtol=1e-12)
    with pytest.raises(ProblemError, match="Painlevé"):
        _ = rod(1.2, 0.0, 2.0, -1.0).problem


@given(st.integers(0, 10_000))
def test_solver_and_enumeration_agree_where_there_is_one_solution(seed):
    rng = np.random.default_rng(seed)
    size, count = 4, int(rng.integers(1, 4))
    root = rng.standard_normal((size, size))
    mass = root @ root.T + np.eye(size)
    contacts = []
    for _ in range(count):
        mu = float(rng.uniform(0.0, 0.8))
        width = 2 if mu > 0.1 else 1
        contacts.append(ActiveContact(rng.standard_normal((size, width)), rng.standard_normal(width), mu, mu))
    level = AccelerationLevel(mass, rng.standard_normal(size), contacts)
    found = all_solutions(level)
    answer = solve(level.problem, tolerance=1e-10, throw=False)
    assert not (answer.status == "solved" and not found)
    if answer.status == "solved":
        accelerations = [each.acceleration for each in found]
        near = min(np.abs(level.acceleration(answer.impulses) - each).max() for each in accelerations)
        assert near < 1e-6 * (1.0 + np.abs(accelerations).max())
    for each in found:
        for contact, force in zip(level.contacts, each.forces, strict=True):
            rate = contact.directions.T @ each.acceleration + contact.drift
            assert min(force[0], rate[0]) > -1e-8
            assert abs(force[0] * rate[0]) < 1e-8 * (1.0 + abs(force[0]))
            if len(force) > 1:
                assert abs(force[1]) <= contact.friction * force[0] + 1e-8
                assert force[1] * rate[1] <= 1e-8


def test_forces_that_statics_does_not_determine_are_widest_inside_their_cones():
    level = AccelerationLevel.of(block((6.0, -20.6, 0.0)), [0.0, HEIGHT, 0.0], np.zeros(3))
    (only,) = all_solutions(level)
    assert only.modes == (Mode.STICK, Mode.STICK)
    room = [0.3 * force[0] - abs(force[1]) for force in only.forces]
    assert room[0] == pytest.approx(room[1], rel=1e-9)  # Σ room = 0.3·20.6 − 6, shared
    assert sum(room) == pytest.approx(0.3 * 20.6 - 6.0, rel=1e-9)


def test_friction_in_space_is_not_enumerated():
    contact = ActiveContact(np.eye(3), np.zeros(3), 0.3, 0.3)
    with pytest.raises(UnsupportedError, match="spatial friction"):
        all_solutions(AccelerationLevel(np.eye(3), [0.0, 0.0, -1.0], [contact]))


# ---- gap functions and their derivatives ------------------------------------------------------------


def test_drift_by_differences_is_the_closed_form():
    """Corner at (±ℓ, −h): ζ_N = −φ̇² (±ℓ sin φ − h cos φ), ζ_T = −φ̇² (±ℓ cos φ + h sin φ)."""
    system = block((0.0, 0.0, 0.0))
    q, u = np.array([0.3, 0.4, 0.7]), np.array([1.0, -2.0, 3.0])
    for side, contact in zip((-1.0, 1.0), system.contacts, strict=True):
        found = Kinematics(system, contact, q, 0.0).drift(u)
        sine, cosine = math.sin(q[2]), math.cos(q[2])
        expected = [
            -(u[2] ** 2) * (side * LENGTH * sine - HEIGHT * cosine),
            -(u[2] ** 2) * (side * LENGTH * cosine + HEIGHT * sine),
        ]
        np.testing.assert_allclose(found, expected, atol=1e-11)
    check_derivatives(system, q, u)


def test_wrong_derivatives_are_named():
    def system(**options: object) -> GeneralisedSystem:
        whole = {"gap": lambda q, t: q[0] ** 2 - 0.1 * t, "normal": lambda q, t: [2.0 * q[0]]} | options
        whole.setdefault("gap_rate", lambda q, t: -0.1)
        contact = GapContact("bump", **whole)  # type: ignore[arg-type]
        return GeneralisedSystem(np.eye(1), lambda q, u, t: np.zeros(1), [contact])

    check_derivatives(system(normal_drift=lambda q, u, t: 2.0 * u[0] ** 2), [1.0], [3.0])
    for options, word in (
        ({"normal": lambda q, t: [q[0]]}, "normal of contact 'bump'"),
        ({"gap_rate": None}, "gap_rate of contact 'bump'"),
        ({"normal_drift": lambda q, u, t: 0.0}, "normal_drift of contact 'bump'"),
        ({"tangent": lambda q, t: [q[0]], "tangent_drift": lambda q, u, t: [0.0]}, "tangent_drift of"),
    ):
        with pytest.raises(ProblemError, match=word):
            check_derivatives(system(**options), [1.0], [3.0])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"friction": -0.1}, "0 or more"),
        ({"friction": 0.3}, "no tangent"),
        ({"restitution": 1.2}, "from 0 to 1"),
        ({"friction": 0.3, "sticking_friction": 0.2, "tangent": lambda q, t: [1.0]}, "at least as much"),
        ({"slip_rate": lambda q, t: [1.0]}, "no tangent"),
    ],
)
def test_bad_contacts_are_refused(options, word):
    with pytest.raises(ProblemError, match=word):
        GapContact("c", gap=lambda q, t: q[0], normal=lambda q, t: [1.0], **options)


def test_contacts_need_names_of_their_own():
    one = GapContact("c", gap=lambda q, t: q[0], normal=lambda q, t: [1.0])
    with pytest.raises(ProblemError, match="two contacts are named 'c'"):
        GeneralisedSystem(np.eye(1), lambda q, u, t: np.zeros(1), [one, one])
