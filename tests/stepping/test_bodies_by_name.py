"""Forces, contacts and states of bodies by name, in frames and recordings; a mistake is no silent zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model import shapes

G = 9.81


def stack() -> ns.System:
    """Two crates of 2 and 1 kg, one on the other, on a floor, and a dumbbell of two shapes beside them."""
    system = ns.System()
    system.add_box((0.4, 0.4, 0.2), mass=1.0, position=(0, 0, 0.3), name="upper crate")
    system.add_plane(name="floor")
    system.add_box((0.4, 0.4, 0.2), mass=2.0, position=(0, 0, 0.1), name="lower crate")
    balls = [(shapes.Sphere(0.1), (x, 0, 0), (1, 0, 0, 0)) for x in (-0.2, 0.2)]
    system.add_body(shapes.Compound(tuple(balls)), mass=4.0, position=(2, 0, 0.1), name="dumbbell")
    system.add_sphere(0.1, mass=1.0, position=(5, 0, 0.1))
    return system


@pytest.fixture(scope="module")
def last() -> dict[str, Any]:
    """The last frame of a run of the stack at rest."""
    kept: dict[str, Any] = {}
    ns.simulate(
        stack(), duration=0.1, step=0.01, tolerance=1e-10, observe=lambda frame: kept.update(frame=frame)
    )
    return kept


@pytest.mark.parametrize(
    ("body", "by", "weight"),
    [
        ("upper crate", None, 1.0),
        ("upper crate", "lower crate", 1.0),
        ("lower crate", "upper crate", -1.0),
        ("lower crate", "floor", 3.0),
        ("lower crate", None, 2.0),
        ("dumbbell", "floor", 4.0),
        ("floor", "dumbbell", -4.0),
        ("floor", None, -8.0),
        ("upper crate", "floor", 0.0),
        (4, 1, 1.0),
        (np.int32(4), None, 1.0),
    ],
)
def test_force_on_a_body_by_another(last: dict[str, Any], body: Any, by: Any, weight: float) -> None:
    np.testing.assert_allclose(last["frame"].force_on(body, by=by), (0, 0, weight * G), atol=1e-6)


def test_contacts_of_two_bodies_point_from_the_first_to_the_second(last: dict[str, Any]) -> None:
    frame = last["frame"]
    for a, b, sign in (("floor", "lower crate", 1.0), ("lower crate", "floor", -1.0)):
        found = frame.contacts_between(a, b)
        assert len(found) == 4
        assert found.bodies.tolist() == [[frame.system.index(a), frame.system.index(b)]] * 4
        np.testing.assert_allclose(found.normal, [(0, 0, sign)] * 4, atol=1e-12)
        np.testing.assert_allclose(found.force.sum(axis=0), (0, 0, sign * 3 * G), atol=1e-6)
        assert np.abs(found.point[:, :2]) == pytest.approx(0.2)
        assert np.abs(found.gap).max() < 1e-6
    assert len(frame.contacts_between("dumbbell", "floor")) == 2  # both of its shapes
    assert len(frame.contacts_of("lower crate")) == 8
    np.testing.assert_allclose(frame.contacts_of("lower crate").normal[:, 2] ** 2, 1.0)
    assert len(frame.contacts_between("dumbbell", "upper crate")) == 0


def test_torque_is_about_the_centre_that_the_contacts_were_found_with() -> None:
    """A ball that rolls fast has no torque from the floor, but for what friction does."""
    system = ns.System()
    system.add_plane(name="floor")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), velocity=(2, 0, 0), name="ball")
    torque = ns.Sensor(lambda frame: frame.torque_on("ball", by="floor"))
    force = ns.Sensor(lambda frame: frame.force_on("ball"))
    ns.simulate(system, duration=0.05, step=0.01, tolerance=1e-10, observe=torque)
    ns.simulate(system, duration=0.05, step=0.01, tolerance=1e-10, observe=force)
    assert force.values[:, 0] == pytest.approx(-0.5 * G)
    np.testing.assert_allclose(torque.values, [(0.0, 0.05 * G, 0.0)] * 5, atol=1e-9)
    np.testing.assert_allclose(torque.times, 0.01 * np.arange(1, 6))


def test_states_by_name_are_copies(last: dict[str, Any]) -> None:
    frame = last["frame"]
    for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
        own = getattr(frame, f"{name}_of")("dumbbell")
        np.testing.assert_array_equal(own, getattr(frame, name)[3])
        np.testing.assert_array_equal(own, getattr(frame.system, f"{name}_of")(3))
        own[:] = np.nan
        assert np.isfinite(getattr(frame, name)).all()


@pytest.mark.parametrize(
    "ask",
    [
        lambda frame, body: frame.force_on(body),
        lambda frame, body: frame.force_on("floor", by=body),
        lambda frame, body: frame.torque_on(body),
        lambda frame, body: frame.contacts_of(body),
        lambda frame, body: frame.contacts_between("floor", body),
        lambda frame, body: frame.position_of(body),
        lambda frame, body: frame.system.linear_velocity_of(body),
    ],
)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (99, "body 99 is not there: indices go from 0 to 4"),
        (-1, "body -1 is not there"),
        ("uper crate", "names are upper crate, floor, lower crate, dumbbell; did you mean upper crate?"),
        (True, "body is True: give an index or a name"),
        (1.0, "body is 1.0: give an index or a name"),
    ],
)
def test_what_does_not_exist_is_an_error(last: dict[str, Any], ask: Any, body: Any, message: str) -> None:
    with pytest.raises(ProblemError) as caught:
        ask(last["frame"], body)
    assert message in str(caught.value)


def test_a_body_and_itself_is_an_error(last: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="give two different bodies"):
        last["frame"].force_on("floor", by=1)


def test_many_names_are_cut_to_the_near_ones() -> None:
    system = ns.System()
    for number in range(100):
        system.add_sphere(0.1, mass=1.0, name=f"brick {number}")
    with pytest.raises(ProblemError, match=r"names are brick 7.*… \(100 names\); did you mean brick 7"):
        system.index("brik 7")


def test_recordings_answer_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    sensor = ns.Sensor(lambda frame: frame.force_on("lower crate", by="floor"))
    system = stack()
    system.linear_velocity[system.index("dumbbell")] = (1.0, 0.0, 2.0)  # it flies, and lands
    ns.simulate(system, duration=1.0, step=0.01, tolerance=1e-8, record=path, observe=sensor)
    with ns.Trajectory(path) as trajectory:
        forces = trajectory.force_on("lower crate", by="floor")
        assert np.isnan(forces[0]).all()
        np.testing.assert_allclose(forces[1:], sensor.values, atol=1e-9)
        for body in ("floor", "dumbbell", 4):
            forces = trajectory.force_on(body)
            for number in range(1, len(trajectory), 9):
                own = trajectory.contacts(number).force_on(body)
                np.testing.assert_allclose(forces[number], own, atol=1e-9)
        assert not trajectory.force_on("dumbbell")[10].any()  # in flight
        contacts = trajectory.contacts(-1)
        assert len(contacts.between("floor", "lower crate")) == 4
        about = trajectory.frame(-1).position_of("lower crate")
        np.testing.assert_allclose(contacts.torque_on("lower crate", about=about), 0.0, atol=1e-5)
        np.testing.assert_array_equal(
            trajectory.frame(-1).linear_velocity_of("dumbbell"), trajectory.history("linear_velocity", 3)[-1]
        )
        for ask in (contacts.of, contacts.force_on, trajectory.force_on, trajectory.frame(0).position_of):
            with pytest.raises(OptionError, match=r"body 'dumbell' is not in .*; did you mean dumbbell"):
                ask("dumbell")
            with pytest.raises(OptionError, match=r"body 5 is not in .*there are 5"):
                ask(5)
        with pytest.raises(OptionError, match="give two different bodies"):
            trajectory.force_on("floor", by="floor")
