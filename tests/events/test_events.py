"""Event-driven integration against closed forms: every kind of event, energies, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.events import EventError, EventOptions, simulate_events, simulate_steps
from nonsmooth.iteration.status import Status
from nonsmooth.model.generalised import GapContact, GeneralisedSystem

G = 9.81


def ball(restitution: float, **options: object) -> GeneralisedSystem:
    """A point above the floor."""
    floor = GapContact(
        "floor", gap=lambda q, t: q[0], normal=lambda q, t: [1.0], restitution=restitution, **options
    )  # type: ignore[arg-type]
    return GeneralisedSystem(np.eye(1), lambda q, u, t: np.array([-G]), [floor], potential=lambda q: G * q[0])


def slider(friction: float, sticking: float | None = None, *, force=lambda q, u, t: 0.0, belt: float = 0.0):
    """A point (x, y) of 1 kg on a floor that may run, pushed along x."""
    floor = GapContact(
        "floor", gap=lambda q, t: q[1], normal=lambda q, t: [0.0, 1.0], tangent=lambda q, t: [1.0, 0.0],
        slip_rate=lambda q, t: [-belt], friction=friction, sticking_friction=sticking,
    )  # fmt: skip
    return GeneralisedSystem(
        np.eye(2),
        lambda q, u, t: np.array([force(q, u, t), -G]),
        [floor],
        potential=lambda q: G * q[1],
        power=lambda q, u, t: force(q, u, t) * u[0],
    )


def disc(friction: float, restitution: float = 0.0, tangential: float = 0.0) -> GeneralisedSystem:
    """A homogeneous disc (x, y, φ) of 1 kg and radius 1 m."""
    floor = GapContact(
        "floor", gap=lambda q, t: q[1] - 1.0, normal=lambda q, t: [0.0, 1.0, 0.0],
        tangent=lambda q, t: [1.0, 0.0, 1.0], friction=friction, restitution=restitution,
        tangential_restitution=tangential,
    )  # fmt: skip
    return GeneralisedSystem(
        np.diag([1.0, 1.0, 0.5]), lambda q, u, t: np.array([0.0, -G, 0.0]), [floor],
        potential=lambda q: G * q[1],
    )  # fmt: skip


def test_a_run_is_told_in_one_line():
    run = simulate_events(ball(0.5), [1.0], [0.0], duration=1.0)
    text = repr(run)
    assert text.startswith(f"EventRun(done, t = 0 to 1 s, {len(run.events)} events, energy balance to ")
    assert len(text) < 200
    assert len(run.pieces) > 5


def kinds(run) -> list[str]:
    return [str(each.kind) for each in run.events]


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("e", [0.3, 0.8])
def test_bouncing_ball_and_its_accumulation(law, e):
    run = simulate_events(ball(e), [1.0], [0.0], duration=6.0, impact=law)
    fall = math.sqrt(2.0 / G)
    impacts = run.times("impact")
    expected = fall + 2.0 * fall * e * (1.0 - e ** np.arange(len(impacts))) / (1.0 - e)
    np.testing.assert_allclose(impacts, expected, atol=1e-11)
    assert run.times("accumulation") == pytest.approx([fall + 2.0 * fall * e / (1.0 - e)], abs=1e-11)
    assert run.status == "done"
    assert abs(run.final.q[0]) < 1e-12
    assert run.final.u[0] == 0.0
    assert run.final.dissipated == pytest.approx(G, abs=1e-10)
    assert run.certificate.energy_error < 1e-10


def test_elastic_ball_keeps_bouncing():
    run = simulate_events(ball(1.0), [1.0], [0.0], duration=4.0)
    assert len(run.times("accumulation")) == 0
    assert run.final.dissipated == pytest.approx(0.0, abs=1e-12)


def test_impact_at_the_start_is_resolved():
    run = simulate_events(ball(0.5), [0.0], [-2.0], duration=0.1)
    assert run.times("impact") == pytest.approx([0.0])
    assert run.sample([0.0]).u[0, 0] == pytest.approx(1.0)


def test_rolling_begins_when_sliding_ends():
    mu, speed = 0.2, 2.0
    run = simulate_events(disc(mu), [0.0, 1.0, 0.0], [speed, 0.0, 0.0], duration=1.0)
    assert kinds(run) == ["stick"]
    assert run.times() == pytest.approx([speed / (3.0 * mu * G)], abs=1e-12)  # disc: 1 + 1/(1/2) = 3
    np.testing.assert_allclose(run.final.u, [speed * 2.0 / 3.0, 0.0, -speed * 2.0 / 3.0], atol=1e-12)
    assert run.final.dissipated == pytest.approx(speed**2 / 6.0, abs=1e-11)
    sample = run.sample([0.1, 0.9])
    assert sample.modes.tolist() == [[1], [2]]
    np.testing.assert_allclose(sample.forces[0], [[G, -mu * G], [G, 0.0]], atol=1e-10)


def test_stick_slip_and_reversal_under_an_oscillating_force():
    """Force a sin ωt: slip where it exceeds μ g; a stronger one turns the motion round without a stop."""
    weak = simulate_events(
        slider(0.3, force=lambda q, u, t: 4.0 * math.sin(t)), [0.0, 0.0], [0.0, 0.0], duration=2.5
    )
    assert kinds(weak)[0] == "slip"
    assert weak.times()[0] == pytest.approx(math.asin(0.3 * G / 4.0), abs=1e-10)
    strong = simulate_events(
        slider(0.1, force=lambda q, u, t: 9.0 * math.sin(4.0 * t)), [0, 0], [0, 0], duration=6.0
    )
    assert "reversal" in kinds(strong)
    for run in (weak, strong):
        assert run.certificate.energy_error < 1e-9
        assert run.certificate.penetration < 1e-12


def test_sticking_friction_holds_more_than_sliding_friction():
    run = simulate_events(
        slider(0.2, 0.4, force=lambda q, u, t: 10.0 * t), [0.0, 0.0], [0.0, 0.0], duration=0.5
    )
    slip = 0.4 * G / 10.0
    assert kinds(run) == ["slip"]
    assert run.times() == pytest.approx([slip], abs=1e-12)
    assert run.final.u[0] == pytest.approx(5.0 * (0.25 - slip**2) - 0.2 * G * (0.5 - slip), abs=1e-11)


def test_belt_carries_a_body_and_its_work_is_counted():
    mu, belt = 0.5, 2.0
    run = simulate_events(slider(mu, belt=belt), [0.0, 0.0], [0.0, 0.0], duration=1.0)
    assert run.times("stick") == pytest.approx([belt / (mu * G)], abs=1e-12)
    assert run.final.u[0] == pytest.approx(belt)
    energy = run.energy([1.0])
    assert energy.work[0] == pytest.approx(belt**2, abs=1e-11)  # half of it becomes heat
    assert energy.dissipated[0] == pytest.approx(0.5 * belt**2, abs=1e-11)
    assert run.certificate.energy_error < 1e-11


def test_opening_where_the_normal_force_vanishes():
    """A point slides over a hill y = −x²/2 without friction: it leaves where the hill cannot hold it down."""
    hill = GapContact(
        "hill", gap=lambda q, t: q[1] + 0.5 * q[0] ** 2, normal=lambda q, t: [q[0], 1.0],
        normal_drift=lambda q, u, t: u[0] ** 2,
    )  # fmt: skip
    system = GeneralisedSystem(
        np.eye(2), lambda q, u, t: np.array([0.0, -G]), [hill], potential=lambda q: G * q[1]
    )
    slow = simulate_events(system, [0.0, 0.0], [1.0, 0.0], duration=1.0)
    # on the curve λ vanishes where u_x² = g; energy: u_x²(1 + x²)/2 − g x²/2 = 1/2 never reaches that
    assert kinds(slow) == []
    fast = simulate_events(system, [0.0, 0.0], [math.sqrt(G) * 1.0001, 0.0], duration=0.5)
    assert kinds(fast) == []  # it leaves at once: there is nothing to switch
    assert fast.sample([0.2]).modes[0, 0] == 0
    for run in (slow, fast):
        assert run.certificate.energy_error < 1e-11


def test_moving_floor_throws_a_body_off():
    """Floor a sin ωt: a body leaves where −aω² sin ωt = −g."""
    a, w = 0.1, 20.0
    floor = GapContact(
        "floor", gap=lambda q, t: q[0] - a * math.sin(w * t), normal=lambda q, t: [1.0],
        gap_rate=lambda q, t: -a * w * math.cos(w * t),
        normal_drift=lambda q, u, t: a * w**2 * math.sin(w * t),
        restitution=0.0,
    )  # fmt: skip
    system = GeneralisedSystem(
        np.eye(1), lambda q, u, t: np.array([-G]), [floor], potential=lambda q: G * q[0]
    )
    run = simulate_events(system, [0.0], [a * w], duration=1.0)
    assert kinds(run)[:2] == ["opening", "impact"]
    assert run.times("opening")[0] == pytest.approx(math.asin(G / (a * w**2)) / w, abs=1e-11)
    assert run.certificate.energy_error < 1e-9


def test_limit_stop_of_a_pendulum():
    stop = GapContact("stop", gap=lambda q, t: 0.5 - q[0], normal=lambda q, t: [-1.0], restitution=0.5)
    pendulum = GeneralisedSystem(
        np.eye(1), lambda q, u, t: [-G * math.sin(q[0])], [stop], potential=lambda q: -G * math.cos(q[0])
    )
    run = simulate_events(pendulum, [0.0], [3.0], duration=0.5)
    speed = math.sqrt(9.0 - 2.0 * G * (1.0 - math.cos(0.5)))
    assert kinds(run) == ["impact"]
    assert run.final.dissipated == pytest.approx(0.5 * speed**2 * 0.75, abs=1e-11)


def test_newton_and_poisson_with_friction():
    """A disc hits the floor with spin: it grips where −γ_T/3 ≤ μ (1 + e) v, else it slides on."""
    for mu, grips in ((0.9, True), (0.05, False)):
        for law in ("newton", "poisson"):
            run = simulate_events(disc(mu, 0.5), [0.0, 1.0, 0.0], [2.0, -3.0, 1.0], duration=0.1, impact=law)
            normal, tangential = run.events[0].impulses[0]
            assert normal == pytest.approx(4.5, abs=1e-10)
            # Poisson: in compression friction μ 3, then μ 1.5 more; together never more than it takes to grip
            assert tangential == pytest.approx(-1.0 if grips else -mu * 4.5, abs=1e-10)


def test_tangential_restitution_turns_the_slip_round():
    run = simulate_events(disc(5.0, 0.5, 0.6), [0.0, 1.0, 0.0], [2.0, -3.0, 1.0], duration=0.01)
    slip = run.sample([1e-9]).u[0] @ [1.0, 0.0, 1.0]
    assert slip == pytest.approx(-0.6 * 3.0, abs=1e-8)


def rod(friction: float) -> GeneralisedSystem:
    """A rod of 1 kg, half length 1 m, at an angle φ from the horizontal, its lower tip on the floor."""
    tip = GapContact(
        "tip", gap=lambda q, t: q[1] - math.sin(q[2]), normal=lambda q, t: [0.0, 1.0, -math.cos(q[2])],
        normal_drift=lambda q, u, t: math.sin(q[2]) * u[2] ** 2,
        tangent=lambda q, t: [1.0, 0.0, math.sin(q[2])],
        tangent_drift=lambda q, u, t: [math.cos(q[2]) * u[2] ** 2], friction=friction,
    )  # fmt: skip
    return GeneralisedSystem(
        np.diag([1.0, 1.0, 1.0 / 3.0]), lambda q, u, t: np.array([0.0, -G, 0.0]), [tip],
        potential=lambda q: G * q[1],
    )  # fmt: skip


def test_painleve_is_passed_by_an_impact_without_collision():
    angle, slip = 1.2, -1.0
    q = [0.0, math.sin(angle), angle]
    calm = simulate_events(rod(1.0), q, [slip, 0.0, 0.0], duration=0.05)
    assert "impact without collision" not in kinds(calm)
    run = simulate_events(rod(2.0), q, [slip, 0.0, 0.0], duration=0.05)
    assert kinds(run)[0] == "impact without collision"
    # the tip stops: Λ = −G⁻¹ γ⁻ with both rows
    rows = np.array([[0.0, 1.0, -math.cos(angle)], [1.0, 0.0, math.sin(angle)]])
    mobility = rows @ np.diag([1.0, 1.0, 3.0]) @ rows.T
    impulse = np.linalg.solve(mobility, [0.0, -slip])
    np.testing.assert_allclose(run.events[0].impulses[0], impulse, atol=1e-12)
    np.testing.assert_allclose(run.sample([0.0]).u[0] @ rows.T, 0.0, atol=1e-12)
    assert run.certificate.energy_error < 1e-10
    both = simulate_events(
        rod(2.0), q, [6.0 * math.sin(angle) * -1.0 - 1.0, 6.0 * math.cos(angle), 6.0], duration=0.02
    )
    assert "indeterminate" in kinds(both)


def test_sliding_in_space_begins_where_the_load_says_and_follows_it():
    """A load (5t, 3t²) N that turns: slip where 25t² + 9t⁴ = (μ g)²."""
    mu = 0.3
    floor = GapContact(
        "floor", gap=lambda q, t: q[2], normal=lambda q, t: [0.0, 0.0, 1.0],
        tangent=lambda q, t: np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), friction=mu,
    )  # fmt: skip
    system = GeneralisedSystem(
        np.eye(3),
        lambda q, u, t: np.array([5.0 * t, 3.0 * t**2, -G]),
        [floor],
        potential=lambda q: G * q[2],
        power=lambda q, u, t: 5.0 * t * u[0] + 3.0 * t**2 * u[1],
    )
    run = simulate_events(system, np.zeros(3), np.zeros(3), duration=0.8)
    slip = math.sqrt((-25.0 + math.sqrt(625.0 + 36.0 * (mu * G) ** 2)) / 18.0)
    assert kinds(run) == ["slip"]
    assert run.times() == pytest.approx([slip], abs=1e-10)
    assert run.certificate.energy_error < 1e-12
    sample = run.sample([0.7])
    friction, velocity = sample.forces[0][0, 1:], sample.u[0, :2]
    np.testing.assert_allclose(friction, -mu * G * velocity / np.linalg.norm(velocity), atol=1e-9)


def test_event_storm_ends_with_what_was_done():
    run = simulate_events(ball(0.9), [1.0], [0.0], duration=20.0, max_events=5)
    assert run.status is Status.EVENT_LIMIT
    assert "max_events = 5" in run.message
    assert len(run.times("impact")) == 5
    assert run.final.t == run.events[-1].time
    assert len(run.sample(np.linspace(0.0, run.final.t, 7)).q) == 7


def test_interruption_keeps_what_was_done():
    def stop(done: int, total: int, what: str) -> None:
        if done > 300:
            raise KeyboardInterrupt

    run = simulate_events(ball(0.9), [1.0], [0.0], duration=5.0, progress=stop)
    assert run.status is Status.INTERRUPTED
    assert 1.5 <= run.final.t < 5.0


def test_forces_without_bound_are_told():
    system = GeneralisedSystem(np.eye(1), lambda q, u, t: np.array([1.0 / (1.0 - t) ** 2]))
    run = simulate_events(system, [0.0], [0.0], duration=2.0, relative=1e-5, absolute=1e-5)
    assert run.status is Status.STEP_FAILED
    assert run.final.t == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"q": [-0.1]}, "overlaps by 0.1 m at the start"),
        ({"q": [np.nan]}, "finite numbers"),
        ({"u": [0.0, 1.0]}, "q has 1 numbers and u 2"),
        ({"duration": "2"}, "duration is 2"),
        ({"duration": 0.0}, "duration is 0"),
    ],
)
def test_bad_starts_are_refused(change, word):
    given = {"q": [1.0], "u": [0.0], "duration": 1.0} | change
    with pytest.raises((ProblemError, OptionError), match=word):
        simulate_events(ball(0.5), given["q"], given["u"], duration=given["duration"])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"mass": np.zeros((1, 1))}, "not positive definite"),
        ({"mass": [[np.nan]]}, "mass is not finite"),
        ({"mass": np.eye(2)}, "mass has shape"),
        ({"force": lambda q, u, t: [np.nan]}, "force is"),
        ({"force": lambda q, u, t: [0.0, 1.0]}, "force returns shape"),
        ({"potential": lambda q: np.nan}, "potential is"),
    ],
)
def test_bad_systems_are_refused(change, word):
    given = {"mass": np.eye(1), "force": lambda q, u, t: [-G], "contacts": ball(0.5).contacts} | change
    with pytest.raises(ProblemError, match=word):
        simulate_events(GeneralisedSystem(**given), [1.0], [0.0], duration=1.0)


def test_bad_contacts_are_refused():
    def fall(q=(1.0,), **options):
        contact = GapContact(
            **({"name": "c", "gap": lambda q, t: q[0], "normal": lambda q, t: [1.0]} | options)
        )
        system = GeneralisedSystem(np.eye(1), lambda q, u, t: [-G], [contact], potential=lambda q: G * q[0])
        return simulate_events(system, q, [0.0], duration=1.0)

    for options, word in (
        ({"normal": lambda q, t: [2.0]}, "normal of contact 'c'"),
        ({"gap": lambda q, t: q[0] - 0.1 * t}, "gap_rate of contact 'c'"),
        ({"normal": lambda q, t: [1.0, 0.0]}, "directions of shape"),
        ({"tangent": lambda q, t: [1.0, 0.0], "friction": 0.1}, "wrong size"),
        ({"gap": lambda q, t: np.nan}, "not finite at the start"),
        ({"gap": None}, "give a function"),
    ):
        with pytest.raises(ProblemError, match=word):
            fall(**options)
    with pytest.raises(ProblemError, match="q has 2 numbers and u 1"):
        fall(q=(1.0, 2.0))
    with pytest.raises(ProblemError, match="generalised"):
        simulate_events(object(), [1.0], [0.0], duration=1.0)


def test_functions_that_fail_on_the_way_are_told():
    def gap(q, t):
        return q[0] if q[0] > 0.5 else np.nan

    contact = GapContact("c", gap=gap, normal=lambda q, t: [1.0])
    system = GeneralisedSystem(np.eye(1), lambda q, u, t: [-G], [contact], potential=lambda q: G * q[0])
    run = simulate_events(system, [1.0], [0.0], duration=1.0)
    assert run.status is Status.STEP_FAILED
    assert "the gap of contact 'c' is not a number" in run.message


def test_without_potential_there_is_no_energy_balance():
    floor = ball(0.5).contacts
    run = simulate_events(
        GeneralisedSystem(np.eye(1), lambda q, u, t: [-G], floor), [1.0], [0.0], duration=1.0
    )
    assert math.isnan(run.certificate.energy_error)
    assert "no potential" in str(run.certificate)


def test_a_simulation_that_cannot_go_on_may_be_an_error():
    run = simulate_events(ball(0.9), [1.0], [0.0], duration=20.0, max_events=5)
    with pytest.raises(EventError, match=r"event limit at t = .*: max_events = 5 reached") as caught:
        simulate_events(ball(0.9), [1.0], [0.0], duration=20.0, max_events=5, throw=True)
    assert caught.value.run.final.t == run.final.t
    assert simulate_events(ball(0.9), [1.0], [0.0], duration=0.1, throw=True).status is Status.DONE

    def stop(done, total, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_events(ball(0.9), [1.0], [0.0], duration=5.0, progress=stop, throw=True)


def test_options_by_object_and_by_keyword_are_the_same():
    options = EventOptions(impact="poisson", max_events=3)
    given = simulate_events(ball(0.9), [1.0], [0.0], duration=20.0, options=options, max_events=5)
    plain = simulate_events(ball(0.9), [1.0], [0.0], duration=20.0, impact="poisson", max_events=5)
    assert given.times().tolist() == plain.times().tolist()


def test_bad_options_and_questions_are_refused():
    with pytest.raises(OptionError, match="no option 'tolerance': did you mean"):
        simulate_events(ball(0.5), [1.0], [0.0], duration=1.0, tolerance=1e-3)
    with pytest.raises(OptionError, match="impact"):
        simulate_events(ball(0.5), [1.0], [0.0], duration=1.0, impact="moreau")
    run = simulate_events(ball(0.5), [1.0], [0.0], duration=0.5)
    with pytest.raises(OptionError, match="outside of the simulation"):
        run.sample([0.6])
    with pytest.raises(OptionError, match="no kind of event is called 'bounce': choose one of impact"):
        run.times("bounce")
    with pytest.raises(OptionError, match="no contact is called 'ceiling'"):
        run.times(contact="ceiling")
    with pytest.raises(OptionError, match="step is 0"):
        simulate_steps(ball(0.5), [1.0], [0.0], duration=1.0, step=0.0)


def test_time_stepping_converges_to_it_at_first_order():
    mu, speed = 0.2, 2.0
    exact = simulate_events(disc(mu), [0.0, 1.0, 0.0], [speed, 0.0, 0.0], duration=0.4).final.q
    errors = []
    for step in (0.01, 0.005, 0.0025):
        found = simulate_steps(disc(mu), [0.0, 1.0, 0.0], [speed, 0.0, 0.0], duration=0.4, step=step)
        errors.append(np.abs(found.q[-1] - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 2e-3
    assert 0.7 < orders.mean() < 2.3
