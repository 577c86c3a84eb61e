"""The references against published numbers, conservation laws, other integrators and each other."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth.errors import OptionError
from nonsmooth.experiments.mechanisms import references as mechanisms
from nonsmooth.experiments.mechanisms import textbook_references as textbook

GRAVITY = mechanisms.GRAVITY


# ---- A01 and A02 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "x", "y"),
    [
        (0.5, -3.91049e-1, -9.20370e-1),
        (5.0, -9.42305e-1, -3.34754e-1),
        (10.0, -2.75087e-1, -9.61419e-1),
        (100.0, -1.81513e-1, -9.83388e-1),
        (2000.0, 8.14603e-1, -5.80019e-1),
    ],
)
def test_pendulum_meets_the_table_that_goes_with_a01(time, x, y):
    angle, _ = mechanisms.pendulum(time)
    np.testing.assert_allclose((np.sin(angle[0]), -np.cos(angle[0])), (x, y), atol=1e-6)


def test_pendulum_meets_its_equation_of_motion():
    times = np.linspace(0.0, 10.0, 6)
    start, length = 2.9, 0.7
    angle, rate = mechanisms.pendulum(times, start=start, length=length)
    motion = mechanisms.history(
        lambda _t, state: (state[1], -GRAVITY / length * math.sin(state[0])), (start, 0.0), times
    )
    np.testing.assert_allclose(np.column_stack([angle, rate]), motion, atol=1e-10)
    energy = 0.5 * length * rate**2 - GRAVITY * np.cos(angle)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)


def test_times_that_go_back_are_refused():
    with pytest.raises(OptionError, match="times go back from 2 to 1 s"):
        mechanisms.history(lambda _t, state: state, (1.0,), [0.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("time", "x", "y"),
    [
        (5.0, -5.40191e-1, -8.41543e-1),
        (8.0, 1.41958e-1, 9.89873e-1),
        (10.0, 1.80513e-1, 9.83573e-1),
        (20.0, 4.10902e-1, 9.11679e-1),
    ],
)
def test_forty_four_bars_meet_the_table_that_goes_with_a02(time, x, y):
    angle, _ = mechanisms.four_bar(time, loops=40)
    np.testing.assert_allclose((np.cos(angle[0]), np.sin(angle[0])), (x, y), atol=2e-6)


def test_two_four_bars_meet_the_extrapolated_runs_of_another_code():
    """Exudyn's example prints B₀ at t = 10 s for h = 0.25 and 0.125 ms: second order, so Richardson."""
    coarse = np.array([0.3284552113, 0.9445195467, 1.423045728, -0.4948619021])
    fine = np.array([0.3284573768, 0.9445187937, 1.423050003, -0.4948670827])
    angle, rate = mechanisms.four_bar(10.0)
    point = (np.cos(angle), np.sin(angle), -np.sin(angle) * rate, np.cos(angle) * rate)
    np.testing.assert_allclose(np.ravel(point), fine + (fine - coarse) / 3.0, atol=5e-8)


def test_four_bars_meet_their_equation_of_motion():
    times, loops, length = np.linspace(0.0, 9.0, 10), 3, 1.3
    pull = mechanisms.four_bar_gravity(loops) / length
    motion = mechanisms.history(
        lambda _t, state: (state[1], -pull * math.cos(state[0])), (0.5 * math.pi, -2.0 / length), times
    )
    angle, rate = mechanisms.four_bar(times, loops=loops, length=length, speed=2.0)
    np.testing.assert_allclose(np.column_stack([angle, rate]), motion, atol=1e-10)


def test_apparent_gravity_of_four_bars_by_adding_up_the_links():
    loops, speed, slope = 5, 0.7, 0.3
    rockers = [(0.5, 1.0 / 12.0)] * (loops + 1)
    kinetic = sum(0.5 * (arm * speed) ** 2 + 0.5 * own * speed**2 for arm, own in rockers)
    kinetic += loops * 0.5 * speed**2
    moment = GRAVITY * math.cos(slope) * (0.5 * (loops + 1) + loops)
    expected = moment / (2.0 * kinetic / speed**2)
    assert mechanisms.four_bar_gravity(loops) * math.cos(slope) == pytest.approx(expected, rel=1e-14)


# ---- A03: Andrews' squeezer ------------------------------------------------------------------------------

TEST_SET_ANGLES = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
)  # fmt: skip
TEST_SET_RATES = (
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
    0.5735699284790808, -19.29337464421385, 0.3231791658026955,
)  # fmt: skip


def test_squeezer_meets_the_test_set_for_ivp_solvers():
    """Its values at t = 0.03 s, from PSIDE at 1e-14; they differ from ours by 1e-12 s of the motion."""
    crank, rate = mechanisms.andrews(0.03)
    angles, rates = mechanisms.andrews_angles(crank[0], rate[0])
    np.testing.assert_allclose(angles, TEST_SET_ANGLES, atol=2e-9)
    np.testing.assert_allclose(angles[2:], TEST_SET_ANGLES[2:], atol=1e-10)
    np.testing.assert_allclose(rates, TEST_SET_RATES, atol=6e-7)


def test_squeezer_starts_where_the_test_set_starts():
    angles, rates = mechanisms.andrews_angles(mechanisms.ANDREWS_START, 1.0)
    start = (
        -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885,
        0.487364979543842550, -0.222668390165885885, 1.23054744454982119,
    )  # fmt: skip
    np.testing.assert_allclose(angles, start, atol=1e-15)
    later, _ = mechanisms.andrews_angles(mechanisms.ANDREWS_START + 1e-6, 1.0)
    np.testing.assert_allclose((later - angles) / 1e-6, rates, atol=1e-5)


def test_squeezer_meets_a_run_of_mbdyn_and_another_integrator():
    """MBDyn's benchmark starts at −0.0620 rad; its crank turns by these degrees (implicit, fixed step)."""
    run = {0.005: 15.5582, 0.010: 126.9110, 0.020: 472.1024, 0.035: 1135.3837, 0.050: 1940.9948}
    crank, _ = mechanisms.andrews(list(run), start=-0.0620)
    np.testing.assert_allclose(np.degrees(crank + 0.0620), list(run.values()), atol=0.04)
    rate = mechanisms.one_freedom(mechanisms._andrews_energies)
    other = solve_ivp(rate, (0.0, 0.02), (-0.0620, 0.0), method="Radau", rtol=1e-10, atol=1e-11)
    assert other.y[0, -1] == pytest.approx(crank[2], abs=1e-9)


def test_squeezer_turns_the_motors_work_into_energy():
    crank, rate = mechanisms.andrews([0.0, 0.01, 0.03, 0.05], start=-0.0620)
    energies = [mechanisms._andrews_energies(complex(angle)) for angle in crank]
    balance = [
        0.5 * inertia.real * speed**2 + work.real
        for (inertia, work), speed in zip(energies, rate, strict=True)
    ]
    np.testing.assert_allclose(balance, balance[0], atol=1e-12)


# ---- A04: Bricard's mechanism ----------------------------------------------------------------------------


@pytest.mark.parametrize("coordinate", np.linspace(0.0, 6.0, 7))
def test_bricards_loop_closes_for_every_coordinate(coordinate):
    joints, rotations = mechanisms.bricard_pose(coordinate)
    np.testing.assert_allclose(joints[-1], (0.0, 0.0, 1.0), atol=1e-14)
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    last = rotations[-1] @ axes[5]
    np.testing.assert_allclose(last, axes[5], atol=1e-14)
    for before, after, axis in zip(rotations, rotations[1:], axes[1:5], strict=False):
        np.testing.assert_allclose(before @ axis, after @ axis, atol=1e-14)


def _quaternion(rotation):
    real = 0.5 * math.sqrt(1.0 + np.trace(rotation))
    return np.array([real, *((rotation.T - rotation)[(1, 2, 0), (2, 0, 1)] / (4.0 * real))])


def _product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def test_bricard_meets_the_number_of_another_codes_test():
    """Exudyn's test at t = 1 s: norm of all displacements of the links' first joints and Euler parameters.

    The printed 4.172189649 has 1 for the freedom and 1 for the redundant constraint in it; steps of 1 ms.
    """
    half = math.sqrt(0.5)
    references = np.array(
        [[1, 0, 0, 0], [half, 0, 0, -half], [half, 0, -half, 0], [0, 0, 0, 1], [half, 0, 0, half]]
    )
    start, _ = mechanisms.bricard_pose(mechanisms.BRICARD_START)
    joints, rotations = mechanisms.bricard_pose(mechanisms.bricard(1.0)[0][0])
    turned = [_product(_quaternion(r), q) - q for r, q in zip(rotations, references, strict=True)]
    norm = np.linalg.norm([*(joints - start)[:5].ravel(), *np.ravel(turned)])
    assert norm == pytest.approx(4.172189649307425 - 2.0, abs=3e-6)


def test_bricard_of_thin_rods_keeps_its_energy():
    """A thin rod's kinetic energy is m(u² + u·v + v²)/6 of its ends' velocities, here by differences in σ."""
    times = np.array([0.0, 0.3, 0.8, 2.0, 5.0])
    coordinates, rates = mechanisms.bricard(times, width=0.0)
    for coordinate, rate in zip(coordinates, rates, strict=True):
        ahead, behind = (mechanisms.bricard_pose(coordinate + step)[0] for step in (1e-5, -1e-5))
        velocity, joints = rate * (ahead - behind) / 2e-5, mechanisms.bricard_pose(coordinate)[0]
        first, second = velocity[:-1], velocity[1:]
        kinetic = np.sum(first**2 + first * second + second**2) / 6.0
        potential = GRAVITY * np.sum(joints[:-1, 1] + joints[1:, 1]) / 2.0
        assert kinetic + potential == pytest.approx(-3.0 * GRAVITY, abs=1e-7)


# ---- A05: stiff flyball governor -------------------------------------------------------------------------


def test_governor_keeps_momentum_and_turns_energy_into_heat():
    design = mechanisms.Governor()
    motion = mechanisms.governor(np.linspace(0.0, 2.0, 9))
    momentum = [design.spin_inertia(arm)[0] * spin for arm, spin in zip(motion.arm, motion.spin, strict=True)]
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-14)
    states = zip(*(motion.spin, motion.arm, motion.arm_rate, motion.height, motion.height_rate), strict=True)
    energy = np.array([design.energy(*state) for state in states])
    np.testing.assert_allclose(energy + motion.heat, energy[0], atol=3e-9)
    assert motion.heat[-1] > 1e-3


def test_governor_meets_another_integrator():
    design = mechanisms.Governor()
    start = (0.0, math.pi / 6.0, 0.0, 0.5, 0.0, 0.0)
    momentum = design.spin_inertia(start[1])[0] * 2.0 * math.pi
    run = solve_ivp(design.rates(momentum), (0.0, 0.25), start, method="DOP853", rtol=1e-12, atol=1e-13)
    motion = mechanisms.governor(0.25)
    found = (motion.turn, motion.arm, motion.arm_rate, motion.height, motion.height_rate, motion.heat)
    np.testing.assert_allclose(np.ravel(found), run.y[:, -1], atol=1e-10)


def test_governor_of_thin_rods_by_points():
    """Lagrange's equations by differences of the energies of points; three Gauss points are a thin rod."""
    design = mechanisms.Governor(rod_width=0.0, slider_width=0.0, stiffness=900.0, damping=0.0, rest=0.4)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    places, masses = np.append(0.5 + 0.5 * nodes, 1.0), np.append(0.3 * 0.5 * weights, 5.0)

    def points(q):
        turn, arm, height = q
        radius, level = 0.05 + places * np.cos(arm), 1.0 - places * np.sin(arm)
        rod = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), level])
        return np.vstack([rod, rod * (-1.0, -1.0, 1.0), [[0.0, 0.0, height]]])

    every = np.concatenate([masses, masses, [3.0]])

    def inertia(q):
        slopes = [(points(q + step) - points(q - step)) / 2e-5 for step in 1e-5 * np.eye(3)]
        return np.array([[np.sum(every * np.sum(a * b, axis=1)) for a in slopes] for b in slopes])

    def potential(q):
        length = math.hypot(0.5 * math.cos(q[1]), 1.0 - 0.5 * math.sin(q[1]) - q[2])
        return GRAVITY * np.sum(every * points(q)[:, 2]) + 900.0 * (length - 0.4) ** 2

    q, v = np.array([0.3, 0.6, 0.45]), np.array([5.0, 0.7, -0.4])
    steps = 1e-4 * np.eye(3)
    slopes = np.array([(inertia(q + step) - inertia(q - step)) / 2e-4 for step in steps])
    push = 0.5 * np.einsum("kij,i,j->k", slopes, v, v) - np.einsum("kij,k,j->i", slopes, v, v)
    push -= [(potential(q + step) - potential(q - step)) / 2e-4 for step in steps]
    expected = np.linalg.solve(inertia(q), push)
    momentum = design.spin_inertia(q[1])[0] * v[0]
    rate = design.rates(momentum)(0.0, np.array([q[0], q[1], v[1], q[2], v[2], 0.0]))
    np.testing.assert_allclose((rate[2], rate[4]), expected[1:], rtol=1e-6)
    assert rate[0] == pytest.approx(v[0], rel=1e-12)


# ---- slider-crank ----------------------------------------------------------------------------------------


def test_slider_crank_is_consistent_with_its_own_differences():
    sizes, step = {"crank": 0.4, "rod": 1.1, "speed": 3.0}, 1e-4
    angles = np.linspace(0.0, 6.0, 13)
    place, velocity, acceleration = textbook.slider_crank(angles, **sizes)
    pins = 0.4 * np.column_stack([np.cos(angles), np.sin(angles)])
    np.testing.assert_allclose(np.hypot(place - pins[:, 0], pins[:, 1]), 1.1, rtol=1e-14)
    ahead, behind = (textbook.slider_crank(angles + 3.0 * h, **sizes) for h in (step, -step))
    np.testing.assert_allclose(velocity, (ahead[0] - behind[0]) / (2.0 * step), atol=1e-6)
    np.testing.assert_allclose(acceleration, (ahead[1] - behind[1]) / (2.0 * step), atol=1e-5)


def test_slider_crank_torque_is_force_times_slope_and_does_no_work_in_a_turn():
    sizes = {"crank": 0.4, "rod": 1.1, "speed": 3.0}
    angles = np.linspace(0.0, 2.0 * math.pi, 200, endpoint=False)
    _, velocity, acceleration = textbook.slider_crank(angles, **sizes)
    torque = textbook.slider_crank_torque(angles, **sizes, slider_mass=2.0)
    np.testing.assert_allclose(torque, 2.0 * acceleration * velocity / 3.0, atol=1e-13)
    heavy = {"slider_mass": 2.0, "rod_mass": 1.5, "crank_mass": 0.7, "gravity": GRAVITY}
    assert np.mean(textbook.slider_crank_torque(angles, **sizes, **heavy)) == pytest.approx(0.0, abs=1e-12)
    still = textbook.slider_crank_torque(angles, crank=0.4, rod=1.1, speed=0.0, **heavy)
    np.testing.assert_allclose(still, GRAVITY * 0.2 * 2.2 * np.cos(angles), atol=1e-13)


def test_slider_cranks_rod_counts_like_three_points():
    """A thin rod of mass m moves like m/6 at each end and 2m/3 at its middle."""
    angle, step, sizes = 0.8, 1e-4, {"crank": 0.4, "rod": 1.1, "speed": 3.0}

    def ends(theta):
        slider = float(textbook.slider_crank(theta, **sizes)[0])
        return np.array([[0.4 * math.cos(theta), 0.4 * math.sin(theta)], [slider, 0.0]])

    def energy(theta):
        u, v = (ends(theta + step) - ends(theta - step)) / (2.0 * step)
        return 0.5 * (u @ u + v @ v + (u + v) @ (u + v)) / 6.0

    expected = 9.0 * (energy(angle + 1e-3) - energy(angle - 1e-3)) / 2e-3
    found = textbook.slider_crank_torque(angle, **sizes, slider_mass=0.0, rod_mass=1.0)
    assert found == pytest.approx(expected, rel=1e-5)


def test_slider_crank_refuses_a_short_rod():
    with pytest.raises(OptionError, match=r"rod = 0\.3 m must be longer"):
        textbook.slider_crank(0.0, crank=0.4, rod=0.3, speed=1.0)


# ---- double pendulum -------------------------------------------------------------------------------------


def test_double_pendulum_keeps_its_energy():
    lengths, masses = np.array([1.0, 0.6]), np.array([1.2, 0.8])
    motion = textbook.double_pendulum(
        np.linspace(0.0, 4.0, 5), start=(2.0, -1.0), lengths=tuple(lengths), masses=tuple(masses)
    )
    down = np.stack([np.sin(motion.angles), -np.cos(motion.angles)], axis=-1) * lengths[:, None]
    swing = motion.rates[..., None] * np.stack([np.cos(motion.angles), np.sin(motion.angles)], axis=-1)
    swing = swing * lengths[:, None]
    knee, tip = swing[:, 0], swing[:, 0] + swing[:, 1]
    kinetic = masses[0] * np.sum(knee**2, axis=1) / 6.0
    kinetic += masses[1] * np.sum(knee**2 + knee * tip + tip**2, axis=1) / 6.0
    potential = GRAVITY * (
        masses[0] * down[:, 0, 1] / 2.0 + masses[1] * (down[:, 0, 1] + down[:, 1, 1] / 2.0)
    )
    np.testing.assert_allclose(kinetic + potential, (kinetic + potential)[0], atol=1e-10)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_double_pendulum_swings_in_its_two_small_modes(sign):
    """Equal thin rods: ω² = (3 ∓ 6/√7) g/l with θ₂/θ₁ = (−1 ± 2√7)/3."""
    period = 2.0 * math.pi / math.sqrt((3.0 - sign * 6.0 / math.sqrt(7.0)) * GRAVITY)
    shape = np.array([1.0, (-1.0 + sign * 2.0 * math.sqrt(7.0)) / 3.0])
    motion = textbook.double_pendulum(period, start=tuple(1e-5 * shape))
    np.testing.assert_allclose(motion.angles[0] / 1e-5, shape, atol=1e-8)
    np.testing.assert_allclose(motion.rates[0] * period / (2.0 * math.pi * 1e-5), 0.0, atol=1e-8)


def test_double_pendulum_with_a_light_tip_is_a_compound_pendulum():
    times = np.linspace(0.0, 3.0, 4)
    motion = textbook.double_pendulum(times, start=(1.5, 1.5), masses=(1.0, 1e-13))
    angle, rate = mechanisms.pendulum(times, start=1.5, length=2.0 / 3.0)
    np.testing.assert_allclose(motion.angles[:, 0], angle, atol=1e-10)
    np.testing.assert_allclose(motion.rates[:, 0], rate, atol=1e-10)


# ---- hanging chain ---------------------------------------------------------------------------------------


def test_catenary_has_its_length_and_its_slope():
    parameter, sag = textbook.catenary(3.0, 2.0)
    assert 2.0 * parameter * math.sinh(1.0 / parameter) == pytest.approx(3.0, rel=1e-14)
    assert (parameter + sag) ** 2 == pytest.approx(parameter**2 + 1.5**2, rel=1e-14)


@pytest.mark.parametrize("links", [2, 3, 10, 101])
def test_hanging_chain_is_in_balance(links):
    chain = textbook.hanging_chain(links, length=3.0, span=2.0, weight=5.0)
    np.testing.assert_allclose(chain.joints[[0, -1]], [(0.0, 0.0), (2.0, 0.0)], atol=1e-13)
    arms = np.diff(chain.joints, axis=0)
    np.testing.assert_allclose(np.hypot(*arms.T), 3.0 / links, rtol=1e-14)
    left, right, weight = chain.forces[:-1], -chain.forces[1:], np.array([0.0, -5.0 / links])
    np.testing.assert_allclose(left + right + weight, 0.0, atol=1e-13)
    moment = arms[:, 0] * (right + 0.5 * weight)[:, 1] - arms[:, 1] * right[:, 0]
    np.testing.assert_allclose(moment, 0.0, atol=1e-12)


def test_hanging_chain_becomes_the_catenary_at_second_order():
    parameter, sag = textbook.catenary(3.0, 2.0)
    errors = []
    for links in (40, 80, 160):
        chain = textbook.hanging_chain(links, length=3.0, span=2.0, weight=5.0)
        errors.append((-chain.joints[links // 2, 1] - sag, -chain.forces[0, 0] * 3.0 / 5.0 - parameter))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    np.testing.assert_allclose(ratios, 4.0, atol=0.02)


@pytest.mark.parametrize(
    "call", [textbook.catenary, lambda a, b: textbook.hanging_chain(4, length=a, span=b, weight=1.0)]
)
def test_a_taut_chain_is_refused(call):
    with pytest.raises(OptionError, match="must exceed span"):
        call(2.0, 2.0)


def test_a_middle_link_longer_than_the_span_is_refused():
    with pytest.raises(OptionError, match="no room for the level middle link of 1 m"):
        textbook.hanging_chain(3, length=3.0, span=0.9, weight=1.0)


# ---- heavy top -------------------------------------------------------------------------------------------

TOP = textbook.Top(axial=0.02, transverse=0.05, moment=1.5)


@pytest.mark.parametrize("root", [0, 1])
def test_top_keeps_both_steady_precessions(root):
    tilt, spin = 0.6, 40.0
    rate = TOP.steady_precession(tilt, spin)[root]
    motion = TOP.motion([0.5, 1.0], tilt=tilt, spin=spin, precession_rate=rate)
    np.testing.assert_allclose(motion.tilt, tilt, atol=1e-11)
    np.testing.assert_allclose(motion.precession, rate * np.array([0.5, 1.0]), rtol=1e-10)
    np.testing.assert_allclose(motion.roll, (spin - rate * math.cos(tilt)) * np.array([0.5, 1.0]), rtol=1e-10)


def test_level_top_precesses_at_moment_over_momentum():
    slow, fast = TOP.steady_precession(0.5 * math.pi, 40.0)
    assert slow == pytest.approx(1.5 / (0.02 * 40.0), rel=1e-14)
    assert fast > 1e15


def test_slow_top_is_refused():
    with pytest.raises(OptionError, match="too slow for steady precession; give at least"):
        TOP.steady_precession(0.3, 1.0)


def test_top_keeps_its_energy():
    times, spin = np.linspace(0.0, 2.0, 9), 30.0
    motion = TOP.motion(times, tilt=0.9, spin=spin, precession_rate=-3.0, tilt_rate=0.5)
    vertical = 0.05 * math.sin(0.9) ** 2 * -3.0 + 0.02 * spin * math.cos(0.9)
    turn = (vertical - 0.02 * spin * np.cos(motion.tilt)) / (0.05 * np.sin(motion.tilt) ** 2)
    energy = 0.025 * (motion.tilt_rate**2 + (turn * np.sin(motion.tilt)) ** 2) + 1.5 * np.cos(motion.tilt)
    np.testing.assert_allclose(energy, energy[0], atol=1e-12)


def test_top_meets_the_runs_of_another_code():
    """The heavy top of the Lie group papers (15 kg, 1 m, 150 rad/s): Exudyn's Euler parameters at 0.2 s."""
    top = textbook.Top(axial=0.46875, transverse=15.234375, moment=15.0 * GRAVITY)
    motion = top.motion(0.2, tilt=0.5 * math.pi, spin=150.0, precession_rate=-4.61538)

    def rotation(precession, tilt, roll):
        def about(axis, angle):
            turn = np.zeros(4)
            turn[0], turn[axis] = math.cos(0.5 * angle), math.sin(0.5 * angle)
            return turn

        return _product(_product(about(3, precession), about(1, tilt)), about(3, roll))

    start = rotation(math.pi, 0.5 * math.pi, 0.0)
    end = rotation(math.pi + motion.precession[0], motion.tilt[0], motion.roll[0])
    turned = _product(end, start * (1.0, -1.0, -1.0, -1.0))
    turned = turned * np.sign(turned[0]) * -1.0
    np.testing.assert_allclose(turned, (-0.70824157, 0.43878143, 0.54578152, 0.08937154), atol=2e-4)
