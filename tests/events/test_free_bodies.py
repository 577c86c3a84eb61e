"""Free bodies as generalised systems: derivatives, closed forms and conservation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nonsmooth as ns
from nonsmooth.errors import ProblemError
from nonsmooth.events import AccelerationLevel, generalised, simulate_events
from nonsmooth.model import quaternions
from nonsmooth.model.generalised import GeneralisedSystem, Kinematics, check_derivatives
from nonsmooth.model.joints import Revolute
from nonsmooth.model.shapes import Capsule, Compound, Sphere

G = 9.81
UNTURNED = (1.0, 0.0, 0.0, 0.0)
FULL_INERTIA = ((0.4, 0.03, -0.02), (0.03, 0.5, 0.05), (-0.02, 0.05, 0.6))  # kg·m², no principal axes


def random_state(bodies: int, seed: int) -> tuple[Any, Any]:
    """Any orientation and velocity, with centres at least about 2 m apart."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(bodies, 7))
    q[:, :3] = 0.3 * q[:, :3] + np.array([0.0, 0.0, 3.0]) * np.arange(1, bodies + 1)[:, None]
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    return q.ravel(), rng.normal(size=6 * bodies)


def floor(**options: Any) -> ns.System:
    system = ns.System()
    system.add_material("rough", friction=0.3, restitution=options.pop("restitution", 0.0))
    system.add_plane(material="rough", name="floor", **options)
    return system


def accelerations(system: GeneralisedSystem, q: Any, u: Any) -> Any:
    return np.linalg.solve(system.mass_matrix(q), system.forces(q, u, 0.0))


# ---- derivatives of contacts -----------------------------------------------------------------------


def add_kind(system: ns.System, kind: str) -> None:
    options: dict[str, Any] = {"mass": 2.0, "material": "rough", "name": kind}
    if kind == "sphere":
        system.add_sphere(0.3, **options)
    elif kind == "box":
        system.add_box((0.2, 0.4, 0.7), **options)
    elif kind == "capsule":
        system.add_capsule(0.1, 0.6, **options)
    elif kind == "hull":
        system.add_hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.3, 1)], **options)
    else:
        tilt = quaternions.from_axis_angle((1, 2, 3), 0.7)
        parts = ((Sphere(0.2), (0.5, 0.1, 0), UNTURNED), (Capsule(0.1, 0.3), (-0.4, 0, 0.2), tilt))
        system.add_body(Compound(parts), **options)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize(
    ("kind", "contacts"), [("sphere", 1), ("box", 8), ("capsule", 2), ("hull", 4), ("compound", 3)]
)
def test_derivatives_of_what_is_on_a_plane(kind: str, contacts: int, moving: bool) -> None:
    system = floor(
        normal=(1, 2, 3), point=(0.1, -0.2, 0.3), velocity=(0.4, 0.1, -0.3) if moving else (0, 0, 0)
    )
    if moving:
        system.angular_velocity[0] = (0.5, -0.3, 0.8)
    add_kind(system, kind)
    found = generalised(system).system
    assert len(found.contacts) == contacts
    for seed in range(3):
        q, u = random_state(1, seed)
        check_derivatives(found, q, u, t=0.3 * seed, tolerance=1e-8)


@pytest.mark.parametrize("fixed", [False, True])
def test_derivatives_of_spheres_on_spheres(fixed: bool) -> None:
    system = ns.System()
    options: dict[str, Any] = {"fixed": True} if fixed else {"mass": 2.0}
    system.add_sphere(
        0.4, position=(0, 0, 0.1), velocity=(0.1, 0.2, 0), angular_velocity=(1, 2, 3), **options
    )
    system.add_sphere(0.3, mass=1.0, position=(0, 0, 2), name="ball")
    parts = ((Sphere(0.2), (0.5, 0.1, 0), UNTURNED), (Sphere(0.1), (-0.4, 0, 0.2), UNTURNED))
    system.add_body(Compound(parts), mass=1.0, position=(0, 0, 4), name="pair")
    found = generalised(system).system
    names = {contact.name for contact in found.contacts}
    assert names == {
        "ball on body 0", "pair part 0 on body 0", "pair part 1 on body 0", "pair part 0 on ball",
        "pair part 1 on ball",
    }  # fmt: skip
    for seed in range(3):
        q, u = random_state(2 if fixed else 3, seed)
        check_derivatives(found, q, u, t=0.1 * seed, tolerance=1e-7)


def test_tangents_of_spheres_are_orthonormal_and_do_not_jump_on_the_way_round() -> None:
    system = ns.System()
    system.add_sphere(0.5, fixed=True)
    system.add_sphere(0.5, mass=1.0, position=(1, 0, 0))
    scene = generalised(system)
    contact = scene.system.contacts[0]
    steps = 400
    for plane in np.eye(3), np.roll(np.eye(3), 1, axis=0), np.roll(np.eye(3), 2, axis=0):
        before = None
        for angle in np.linspace(0.0, 2.0 * np.pi, steps + 1):
            q = scene.q.copy()
            q[:3] = np.cos(angle) * plane[0] + np.sin(angle) * plane[1]
            at = Kinematics(scene.system, contact, q, 0.0)
            axes = at.directions[:3].T
            np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
            np.testing.assert_allclose(np.cross(axes[0], axes[1]), axes[2], atol=1e-14)
            if before is not None:
                # The normal keeps asin 0.48 = 28.7° off −k, where tangents spin about it tan(75.7°) times as
                # fast as it turns: with its own turn √(1 + 3.91²) = 4.04.
                assert np.abs(axes - before).max() < 4.04 * 2.0 * np.pi / steps
            before = axes


# ---- free bodies -----------------------------------------------------------------------------------


def test_a_free_body_keeps_its_energy_and_angular_momentum() -> None:
    system = ns.System()
    system.add_body(
        None,
        mass=3.0,
        inertia=FULL_INERTIA,
        velocity=(1, -2, 3),
        angular_velocity=(0.3, 4.0, 0.2),
        name="body",
    )
    scene = generalised(system)
    found, size = scene.system, len(scene.q)

    def rates(t: float, x: Any) -> Any:
        q, u = x[:size], x[size:]
        return np.concatenate([found.rates(q, u), accelerations(found, q, u)])

    start = np.concatenate([scene.q, scene.u])
    end = solve_ivp(rates, (0.0, 10.0), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    energies, momenta = [], []
    for state in start, end:
        q, u = state[:size], state[size:]
        energies.append(found.kinetic_energy(q, u) + found.potential_energy(q))
        momenta.append(quaternions.rotate(scene.quaternion("body", q), np.array(FULL_INERTIA) @ u[3:]))
    assert energies[1] == pytest.approx(energies[0], rel=1e-10)
    np.testing.assert_allclose(momenta[1], momenta[0], atol=1e-10)
    np.testing.assert_allclose(end[:3], np.array([10.0, -20.0, 30.0 - 0.5 * G * 100.0]), rtol=1e-11)
    assert np.linalg.norm(end[3:7] - start[3:7]) > 0.1  # it has turned


def test_applied_forces_act_and_have_power() -> None:
    system = ns.System(gravity=(0.0, 0.0, -G))
    system.add_body(
        None, mass=2.0, inertia=FULL_INERTIA, velocity=(1, 2, 3), angular_velocity=(1, 0, 2), name="body"
    )
    system.add_force("body", force=lambda t: (t, 0.0, 0.0), point=(0.0, 0.1, 0.0))
    system.add_force("body", torque=(0.0, 0.0, 0.7))
    system.add_force_field(lambda t, state: (-3.0 * state.linear_velocity, None))
    scene = generalised(system)
    force = np.array([5.0 - 3.0, -6.0, -9.0 - 2.0 * G])
    torque = np.array([0.0, 0.0, 0.7 - 0.1 * 5.0])
    spin = np.array([1.0, 0.0, 2.0])
    gyroscopic = np.cross(spin, np.array(FULL_INERTIA) @ spin)
    found = scene.system.forces(scene.q, scene.u, 5.0)
    np.testing.assert_allclose(found, np.concatenate([force, torque - gyroscopic]), rtol=1e-13)
    power = (force - [0.0, 0.0, -2.0 * G]) @ (1.0, 2.0, 3.0) + torque @ spin
    assert scene.system.applied_power(scene.q, scene.u, 5.0) == pytest.approx(power, rel=1e-13)
    assert scene.system.potential_energy(scene.q) == 0.0
    # The user's own system is left as it was, and does not matter any more.
    system.linear_velocity[:] = 0.0
    np.testing.assert_array_equal(scene.system.forces(scene.q, scene.u, 5.0), found)


def test_a_ball_that_slides_accelerates_as_coulomb_says() -> None:
    system = floor()
    system.add_sphere(0.1, mass=2.0, position=(0, 0, 0.1), velocity=(3, 4, 0), material="rough", name="ball")
    scene = generalised(system)
    contact = scene.system.contacts[0]
    assert (contact.name, contact.friction) == ("ball on floor", 0.3)
    level = AccelerationLevel.of(scene.system, scene.q, scene.u, 0.0)
    normal_force = 2.0 * G
    acceleration = level.acceleration(np.array([normal_force]))
    direction = np.array([0.6, 0.8, 0.0])
    np.testing.assert_allclose(acceleration[:3], -0.3 * G * direction, atol=1e-13)
    expected = np.cross([0.0, 0.0, -0.1], -0.3 * normal_force * direction) / (0.4 * 2.0 * 0.1**2)
    np.testing.assert_allclose(acceleration[3:], expected, atol=1e-12)


def test_the_way_back_to_bodies() -> None:
    system = floor(velocity=(0.5, 0, 0))
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 1), velocity=(1, 2, 3), name="one")
    system.add_box((1, 1, 1), mass=1.0, position=(5, 0, 1), angular_velocity=(1, 2, 3), name="two")
    scene = generalised(system, pairs=[("floor", "one"), ("two", "floor")])
    assert len(scene.system.contacts) == 1 + 8
    q, u = random_state(2, 7)
    np.testing.assert_array_equal(scene.position("two", q), q[7:10])
    np.testing.assert_allclose(scene.quaternion("two", 2.0 * q), q[10:], atol=1e-15)
    np.testing.assert_array_equal(scene.linear_velocity("one", u), u[:3])
    np.testing.assert_array_equal(scene.angular_velocity(2, np.array([u, u])), np.array([u[9:], u[9:]]))
    after = scene.to_system(q, u, t=2.0)
    np.testing.assert_allclose(after.position[0], (1.0, 0.0, 0.0), atol=1e-15)
    np.testing.assert_array_equal(after.position[2], q[7:10])
    np.testing.assert_array_equal(after.angular_velocity[2], u[9:])
    again = generalised(after, pairs=[])
    np.testing.assert_allclose(again.q, q, atol=1e-15)
    np.testing.assert_array_equal(again.u, u)


def test_materials_and_ignored_pairs_count() -> None:
    system = ns.System()
    system.add_material("ice", friction=0.0)
    system.add_material("rubber", friction=0.9, restitution=0.4)
    system.add_material("steel", friction=0.2, restitution=0.8)
    system.set_pair("rubber", "steel", friction=0.7)
    system.add_plane(material="rubber", name="floor")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 1), material="steel", name="a")
    system.add_sphere(0.1, mass=1.0, position=(1, 0, 1), material="ice", name="b")
    system.ignore_contacts("a", "b")
    first, second = generalised(system).system.contacts
    assert (first.name, first.friction, first.restitution) == ("a on floor", 0.7, 0.4)
    assert (second.name, second.friction, second.tangent) == ("b on floor", 0.0, None)


def test_what_cannot_be_taken_is_said() -> None:
    system = floor()
    system.add_box((1, 1, 1), mass=1.0, position=(0, 0, 3), name="one")
    system.add_box((1, 1, 1), mass=1.0, position=(2, 0, 3), name="two")
    with pytest.raises(
        ProblemError, match=r"between the box of body 'one' and the box of body 'two'.*pairs="
    ):
        generalised(system)
    with pytest.raises(ProblemError, match="is fixed and has no coordinates"):
        generalised(system, [("floor", "one")]).position("floor", np.zeros(14))
    with pytest.raises(ProblemError, match=r"shape \(12,\).*give q for positions"):
        generalised(system, [("floor", "one")]).position("one", np.zeros(12))
    with pytest.raises(ProblemError, match="q has shape"):
        generalised(system, []).to_system(np.zeros((3, 14)), np.zeros(12))
    with pytest.raises(ProblemError, match="paired with itself"):
        generalised(system, [("one", "one")])
    with pytest.raises(ProblemError, match="not a pair"):
        generalised(system, ["one"])  # type: ignore[list-item]
    system.add_sphere(1.0, fixed=True, name="post")
    with pytest.raises(ProblemError, match="never push each other"):
        generalised(system, [("floor", "post")])
    system.add_body(None, mass=1.0, inertia=(1, 1, 1), name="ghost")
    with pytest.raises(ProblemError, match="'ghost' has no shape"):
        generalised(system, [("floor", "ghost")])
    with pytest.raises(ProblemError, match="no body that moves"):
        generalised(floor())
    twins = ns.System()
    twins.add_spheres(0.1, np.zeros((2, 3)), mass=1.0)
    with pytest.raises(ProblemError, match="same centre"):
        generalised(twins)
    system.add_joint(Revolute("one", "two", point=(1, 0, 3), axis=(0, 0, 1)))
    with pytest.raises(ProblemError, match=r"joints \(1\).*generalised_system"):
        generalised(system, [])


# ---- free bodies from event to event ---------------------------------------------------------------


def test_a_ball_rolls_at_the_right_moment() -> None:
    speed, friction = 2.0, 0.3
    system = floor()
    system.add_sphere(
        0.1,
        mass=1.5,
        position=(0, 0, 0.1),
        velocity=(0.6 * speed, 0.8 * speed, 0),
        material="rough",
        name="ball",
    )
    scene = generalised(system)
    run = simulate_events(scene.system, scene.q, scene.u, duration=0.5)
    assert run.status == "done", run.message
    (rolls,) = run.times()
    assert rolls == pytest.approx(2.0 * speed / (7.0 * friction * G), abs=1e-9)
    expected = 5.0 / 7.0 * speed * np.array([0.6, 0.8, 0.0])
    np.testing.assert_allclose(scene.linear_velocity("ball", run.final.u), expected, atol=1e-9)
    turning = quaternions.rotate(
        scene.quaternion("ball", run.final.q), scene.angular_velocity("ball", run.final.u)
    )
    np.testing.assert_allclose(turning, np.cross([0, 0, 1], expected) / 0.1, atol=1e-8)


def test_a_ball_on_a_turntable_goes_in_circles() -> None:
    # A homogeneous ball that rolls on a plane turning at Ω has v̇ = (2/7) Ω × v.
    spin, radius = 3.0, 0.1
    system = floor()
    system.angular_velocity[0] = (0.0, 0.0, spin)
    velocity = np.array([0.4, 0.1, 0.0])
    turning = np.array([0.0, 0.0, 1.3]) + np.cross([0, 0, 1], velocity) / radius  # rolls at the centre
    system.add_sphere(
        radius, mass=1.0, position=(0, 0, radius), velocity=velocity, angular_velocity=turning,
        material="rough", name="ball",
    )  # fmt: skip
    scene = generalised(system)
    run = simulate_events(scene.system, scene.q, scene.u, duration=1.5)
    assert run.status == "done", run.message
    assert len(run.events) == 0
    rate = 2.0 / 7.0 * spin
    times = np.linspace(0.0, 1.5, 7)
    z = (velocity[0] + 1j * velocity[1]) * (np.exp(1j * rate * times) - 1.0) / (1j * rate)
    found = scene.position("ball", run.sample(times).q)
    np.testing.assert_allclose(found[:, 0] + 1j * found[:, 1], z, atol=1e-9)
    np.testing.assert_allclose(found[:, 2], radius, atol=1e-12)


def test_a_smooth_ball_leaves_a_ball_where_the_textbook_says() -> None:
    # Without friction a body that starts at rest at the angle a leaves at cos b = (2/3) cos a.
    system = ns.System()
    system.add_material("default", friction=0.0)
    system.add_sphere(1.0, fixed=True, name="dome")
    start = 0.3
    position = 1.25 * np.array([np.sin(start) * 0.6, np.sin(start) * 0.8, np.cos(start)])
    system.add_sphere(0.25, mass=2.0, position=position, name="ball")
    scene = generalised(system)
    run = simulate_events(scene.system, scene.q, scene.u, duration=1.0, max_step=0.05)
    assert run.status == "done", run.message
    (leaves,) = run.times("opening")
    height = scene.position("ball", run.sample(leaves).q)[0, 2] / 1.25
    assert height == pytest.approx(2.0 / 3.0 * np.cos(start), abs=1e-9)


@pytest.mark.parametrize("drop", [0.0, 0.1])
def test_a_cube_stops_after_the_way_that_coulomb_says(drop: float) -> None:
    # While it falls it does not slow down; the impact then takes what friction would have taken meanwhile.
    speed, friction = 1.0, 0.3
    system = floor()
    system.add_box(
        (0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + drop), velocity=(0.6 * speed, 0.8 * speed, 0),
        material="rough", name="cube",
    )  # fmt: skip
    scene = generalised(system)
    run = simulate_events(scene.system, scene.q, scene.u, duration=0.5)
    assert run.status == "done", run.message
    fall = np.sqrt(2.0 * drop / G)
    left = speed - friction * G * fall
    way = speed * fall + left**2 / (2.0 * friction * G)
    expected = (0.6 * way, 0.8 * way, 0.1)
    np.testing.assert_allclose(scene.position("cube", run.final.q), expected, atol=1e-9)
    np.testing.assert_allclose(run.times("stick"), speed / (friction * G), atol=1e-9)
    assert run.certificate.energy_error < 1e-10
