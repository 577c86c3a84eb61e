"""The certificate judges right and wrong answers: nothing may fool it, and units may not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

from nonsmooth.problem import Certificate, ContactProblem
from nonsmooth.problem.certificate import certify, relative_residual
from nonsmooth.problem.library.named import sliding_ball

ROWS = (
    "momentum_balance", "cone", "dual_cone", "complementarity", "natural_map", "penetration", "joint_drift",
    "friction_gain",
)  # fmt: skip
LAWS = ("coulomb", "relaxed", "pyramid(4)", "pyramid(8)")
NONE = np.zeros(0)


def rows_above(certificate: Certificate, level: float = 1e-12) -> set[str]:
    """Names of the rows that report a violation; what is not a number is one, but for unknown masses."""
    known = ROWS if certificate.momentum_known else [name for name in ROWS if name != "momentum_balance"]
    return {name for name in known if not getattr(certificate, name).relative <= level}


def judge(
    impulses, velocities, *, friction=0.5, law="coulomb", joint_impulses=(), joint_velocities=(), scale=1.0
) -> Certificate:
    """Certificate of contacts with the given impulses that end with the given velocities, N = scale · 1."""
    gamma = np.array(impulses, dtype=float)
    flat = np.concatenate([gamma.ravel(), joint_impulses])
    target = np.concatenate([np.ravel(velocities), joint_velocities])
    problem = ContactProblem(
        delassus=scale * np.eye(len(flat)), free_velocity=target - scale * flat,
        friction=np.full(len(gamma), friction), components=gamma.shape[1],
        joint_rows=len(joint_impulses), law=law,
    )  # fmt: skip
    return certify(problem, gamma.ravel(), np.asarray(joint_impulses, dtype=float), None)


# ---- units --------------------------------------------------------------------------------------

UNITS = {
    "millimetres": (1e3, 1.0, 1.0),
    "grams": (1.0, 1e3, 1.0),
    "milliseconds": (1.0, 1.0, 1e3),
    "feet, pounds, minutes": (3.28084, 2.20462, 1.0 / 60.0),
    "micrometres, micrograms, microseconds": (1e6, 1e9, 1e6),
    "kilometres, tonnes, hours": (1e-3, 1e-3, 1.0 / 3600.0),
}


def wrong_answer(scene, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Impulses and a velocity that violate everything."""
    rng = np.random.default_rng(seed + 1000)
    gamma, joint = rng.standard_normal(len(scene.bias)), rng.standard_normal(len(scene.joint_bias))
    mass, d, g = scene.matrices()
    v = np.linalg.solve(mass, scene.momentum.ravel() + d @ gamma + g @ joint)
    return gamma, joint, v * rng.uniform(0.5, 1.5, len(v))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_relative_residuals_do_not_depend_on_units(scene, law, units, seed):
    """Every row, for a wrong answer to bodies with rotations, contacts and joint rows in m/s and in rad/s."""
    length, mass, time = UNITS[units]
    si = scene(seed)
    gamma, joint, v = wrong_answer(si, seed)
    other = si.in_units(length, mass, time)
    gamma_other, joint_other = si.impulses_in_units(gamma, joint, length, mass, time)
    v_other = si.velocity_in_units(v, length, time)
    one = certify(ContactProblem(**si.block_arguments(), law=law), gamma, joint, v)
    two = certify(ContactProblem(**other.block_arguments(), law=law), gamma_other, joint_other, v_other)
    for name in ROWS:
        assert getattr(one, name).relative > 1e-3, name  # the answer is wrong in every way
        assert getattr(two, name).relative == pytest.approx(
            getattr(one, name).relative, rel=1e-9, nan_ok=True
        ), name
    assert two.residual == pytest.approx(one.residual, rel=1e-9)
    speed, energy = length / time, mass * (length / time) ** 2
    for name, unit in (
        ("cone", mass * speed), ("natural_map", mass * speed), ("dual_cone", speed), ("penetration", speed),
        ("complementarity", energy), ("friction_gain", energy),
    ):  # fmt: skip
        assert getattr(two, name).absolute == pytest.approx(getattr(one, name).absolute * unit, rel=1e-9), (
            name
        )
    assert two.dissipation == pytest.approx(one.dissipation * energy, rel=1e-9)


@pytest.mark.parametrize("units", UNITS)
def test_verdict_of_matrices_and_delassus_does_not_depend_on_units(scene, units):
    length, mass, time = UNITS[units]
    si = scene(3)
    gamma, joint, v = wrong_answer(si, 3)
    other = si.in_units(length, mass, time)
    gamma_other, joint_other = si.impulses_in_units(gamma, joint, length, mass, time)
    v_other = si.velocity_in_units(v, length, time)
    for arguments, v_one, v_two in (
        (lambda s: s.matrix_arguments(), v, v_other),
        (lambda s: s.delassus_arguments(), None, None),
    ):
        one = certify(ContactProblem(**arguments(si)), gamma, joint, v_one)
        two = certify(ContactProblem(**arguments(other)), gamma_other, joint_other, v_two)
        for name in ROWS:
            assert getattr(two, name).relative == pytest.approx(
                getattr(one, name).relative, rel=1e-9, nan_ok=True
            ), name


@pytest.mark.parametrize("law", LAWS)
def test_every_form_gets_the_same_certificate(scene, law):
    s = scene(4)
    gamma, joint, v = wrong_answer(s, 4)
    blocks = certify(ContactProblem(**s.block_arguments(), law=law), gamma, joint, v)
    matrices = certify(ContactProblem(**s.matrix_arguments(), law=law), gamma, joint, v)
    delassus = certify(ContactProblem(**s.delassus_arguments(), law=law), gamma, joint, None)
    for name in ROWS:
        wanted = getattr(blocks, name)
        assert getattr(matrices, name).relative == pytest.approx(wanted.relative, rel=1e-11), name
        assert getattr(matrices, name).absolute == pytest.approx(wanted.absolute, rel=1e-11), name
        if name != "momentum_balance":
            assert getattr(delassus, name).relative == pytest.approx(wanted.relative, rel=1e-11), name
            assert getattr(delassus, name).absolute == pytest.approx(wanted.absolute, rel=1e-11), name


def test_turning_the_tangents_changes_nothing(scene):
    """The round law does not know which way t1 points."""
    s = scene(5, components=3, joints=False)
    gamma, joint, v = wrong_answer(s, 5)
    angle = 0.7
    turn = np.array(
        [[1.0, 0.0, 0.0], [0.0, math.cos(angle), math.sin(angle)], [0.0, -math.sin(angle), math.cos(angle)]]
    )
    turned = s.block_arguments() | {
        "jacobian": np.einsum("ij,csjk->csik", turn, s.jacobian),
        "bias": (s.bias.reshape(-1, 3) @ turn.T).ravel(),
    }
    one = certify(ContactProblem(**s.block_arguments()), gamma, joint, v)
    two = certify(ContactProblem(**turned), (gamma.reshape(-1, 3) @ turn.T).ravel(), joint, v)
    for name in ROWS:
        assert getattr(two, name).relative == pytest.approx(
            getattr(one, name).relative, rel=1e-11, abs=1e-14
        ), name


# ---- right answers ------------------------------------------------------------------------------


def exact_problem(law: str, components: int, joints: int, seed: int):
    """A problem built round its answer: γ and u + s e_n from every state of a contact, then q = u − N γ.

    Closed and sticking: γ inside K, u = 0. Sliding: γ on the boundary, u_t against it. Open: γ = 0.
    """
    rng = np.random.default_rng(seed)
    contacts = 9
    mu = rng.uniform(0.2, 0.9, contacts)
    gamma, u = np.zeros((contacts, components)), np.zeros((contacts, components))
    for i in range(contacts):
        state = ("open", "sticking", "sliding")[i % 3]
        angle = (
            (0.0 if law.startswith("pyramid") else rng.uniform(0.0, 2.0 * math.pi))
            if components == 3
            else 0.0
        )
        direction = np.array([math.cos(angle), math.sin(angle)])[: components - 1]
        if state == "open":
            u[i, 0], u[i, 1:] = 1.0 + mu[i], direction  # opens even under the relaxed law
        elif state == "sticking" or components == 1:
            gamma[i, 0], gamma[i, 1:] = 2.0, 0.5 * mu[i] * direction
        else:
            gamma[i, 0], gamma[i, 1:] = 2.0, mu[i] * 2.0 * direction
            speed = rng.uniform(0.5, 2.0)
            u[i, 1:] = -speed * direction
            u[i, 0] = mu[i] * speed if law == "relaxed" else 0.0
    size = gamma.size + joints
    root = rng.standard_normal((size, size))
    n = root @ root.T / size + np.eye(size)
    flat = np.concatenate([gamma.ravel(), rng.standard_normal(joints)])
    target = np.concatenate([u.ravel(), np.zeros(joints)])
    problem = ContactProblem(
        delassus=n,
        free_velocity=target - n @ flat,
        friction=mu,
        components=components,
        joint_rows=joints,
        law=law,
    )
    return problem, flat[: gamma.size], flat[gamma.size :]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("joints", [0, 4])
def test_exact_answers_hold(law, components, joints):
    problem, gamma, joint = exact_problem(law, components, joints, seed=components)
    certificate = certify(problem, gamma, joint, None)
    assert rows_above(certificate, 1e-14) == set()
    assert certificate.residual <= 1e-14
    assert certificate.holds(1e-14)
    assert certificate.dissipation >= 0.0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("size", [1e-6, 1e-3])
def test_a_small_error_shows_at_its_size(law, components, size):
    """Between N's and 1's condition the residual is as large as the error: neither hidden nor blown up."""
    problem, gamma, joint = exact_problem(law, components, 3, seed=7)
    rng = np.random.default_rng(8)
    for _ in range(20):
        error = rng.standard_normal(problem.layout.rows)
        error *= size * np.linalg.norm(np.concatenate([gamma, joint])) / np.linalg.norm(error)
        wrong = np.concatenate([gamma, joint]) + error
        residual = certify(problem, wrong[: len(gamma)], wrong[len(gamma) :], None).residual
        assert 0.01 * size < residual < 10.0 * size


def test_velocity_of_the_impulses_balances_momentum(scene):
    s = scene(6)
    gamma, joint, _ = wrong_answer(s, 6)
    for arguments in (s.block_arguments(), s.matrix_arguments()):
        problem = ContactProblem(**arguments)
        balance = certify(problem, gamma, joint, problem.velocity(gamma, joint)).momentum_balance
        assert balance.relative <= 1e-15
        assert balance.absolute <= 1e-14 * np.abs(s.momentum).max()


def test_no_contacts_hold():
    problem = ContactProblem(mass=np.eye(6), jacobian=np.zeros((6, 0)), friction=[], momentum=np.ones(6))
    assert certify(problem, NONE, NONE, np.ones(6)).residual == 0.0
    assert certify(problem, NONE, NONE, 2.0 * np.ones(6)).residual == pytest.approx(1.0, rel=1e-15)


# ---- doing nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_doing_nothing_is_as_wrong_as_one(scene, law, seed):
    """S is the natural map of γ = 0 there: the verdict is 1, and no weighted distance is above it."""
    s = scene(seed)
    problem = ContactProblem(**s.block_arguments(), law=law)
    nothing = (np.zeros(len(s.bias)), np.zeros(len(s.joint_bias)))
    certificate = certify(problem, *nothing, problem.velocity(*nothing))
    assert certificate.residual == pytest.approx(1.0, rel=1e-14)
    assert certificate.cone.relative == certificate.complementarity.relative == 0.0
    assert certificate.friction_gain.relative == certificate.dissipation == 0.0
    for name in ("dual_cone", "joint_drift"):
        assert 0.0 < getattr(certificate, name).relative <= 1.0 + 1e-14, name


def test_doing_nothing_is_right_where_everything_opens():
    certificate = judge([[0.0, 0.0, 0.0]], [[1.0, 0.3, -0.2]])
    assert certificate.residual == 0.0
    assert rows_above(certificate) == set()


def test_contacts_that_fly_apart_do_not_hide_the_others():
    """A fast open contact must not enter the scale: the slow one is as wrong as before."""
    alone = judge([[1e-3, 0.0, 0.0]], [[-1e-3, 0.0, 0.0]]).residual
    beside = judge([[1e-3, 0.0, 0.0], [0.0, 0.0, 0.0]], [[-1e-3, 0.0, 0.0], [1e2, 1e1, 0.0]]).residual
    assert beside == pytest.approx(alone, rel=1e-12)


# ---- one violation at a time --------------------------------------------------------------------
# One contact with N = 1 (so ρ = 1 kg), μ = 0.5, s = 0.5 |u_t|: every number can be worked out by hand.


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("gamma", "distance"),
    [
        ((-1.0, 0.0, 0.0), 1.0),  # pulls
        ((1.0, 1.0, 0.0), 0.5 / math.sqrt(1.25)),  # more friction than μ γ_n = 0.5
        ((0.0, -2.0, 0.0), 2.0 / math.sqrt(1.25)),  # friction without pressure
        ((-2.0, 1.0, 0.0), math.sqrt(5.0)),  # in the polar cone: nearest is the apex
    ],
)
def test_impulse_outside_its_cone(law, gamma, distance):
    certificate = judge([gamma], [[0.0, 0.0, 0.0]], law=law)
    assert rows_above(certificate) == {"cone", "natural_map"}
    assert certificate.cone.absolute == pytest.approx(distance, rel=1e-14)
    assert certificate.natural_map.absolute == pytest.approx(distance, rel=1e-14)
    assert not certificate.holds(0.1)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_contact_that_pulls(law, components, friction):
    """Also without friction and without tangential components."""
    gamma = np.zeros(components)
    gamma[0] = -1.0
    certificate = judge([gamma], [np.zeros(components)], friction=friction, law=law)
    assert rows_above(certificate) == {"cone", "natural_map"}
    assert certificate.cone.absolute == pytest.approx(1.0, rel=1e-15)
    # q = 1: zero impulses are right, so that S is its least, a millionth of the weighted free velocity
    assert certificate.residual == pytest.approx(1e6, rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_contact_that_penetrates(law, components, friction):
    u = np.zeros(components)
    u[0] = -2.0
    certificate = judge([np.zeros(components)], [u], friction=friction, law=law)
    assert rows_above(certificate) == {"dual_cone", "penetration", "natural_map"}
    assert certificate.penetration.absolute == pytest.approx(2.0, rel=1e-15)
    assert certificate.dual_cone.absolute == pytest.approx(2.0, rel=1e-15)  # (−2, 0, 0): nearest is the apex
    assert certificate.residual == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_an_impulse_on_a_contact_that_opens(law, components, friction):
    gamma, u = np.zeros(components), np.zeros(components)
    gamma[0], u[0] = 3.0, 2.0
    certificate = judge([gamma], [u], friction=friction, law=law)
    assert rows_above(certificate) == {"complementarity", "natural_map"}
    assert certificate.complementarity.absolute == pytest.approx(6.0, rel=1e-15)
    assert certificate.natural_map.absolute == pytest.approx(2.0, rel=1e-15)  # min(γ, ρ u)


@pytest.mark.parametrize("law", ["coulomb", "pyramid(4)", "pyramid(8)"])
def test_friction_that_pushes_along(law):
    """γ = (2, 1, 0) while u = (0, 3, 0): friction adds 3 J, and γ·(u + s e_n) = 3 + 2·1.5 = 6 J."""
    certificate = judge([[2.0, 1.0, 0.0]], [[0.0, 3.0, 0.0]], law=law)
    assert rows_above(certificate) == {"complementarity", "natural_map", "friction_gain"}
    assert certificate.friction_gain.absolute == pytest.approx(3.0, rel=1e-14)
    assert certificate.dissipation == pytest.approx(-2.5, rel=1e-14)  # q_t = 2, so 1·(2 + 3)/2 J are added
    assert certificate.complementarity.absolute == pytest.approx(6.0, rel=1e-14)


@pytest.mark.parametrize("law", ["coulomb", "pyramid(4)", "pyramid(8)"])
@pytest.mark.parametrize("gamma", [(2.0, 0.0, 0.0), (2.0, -0.4, 0.0), (2.0, 0.0, 1.0), (2.0, 0.0, -1.0)])
def test_friction_of_wrong_size_or_direction(law, gamma):
    """Sliding along t1 asks for γ_t = (−1, 0); less, or across, shows as complementarity alone."""
    certificate = judge([gamma], [[0.0, 3.0, 0.0]], law=law)
    assert rows_above(certificate) == {"complementarity", "natural_map"}
    assert certificate.complementarity.absolute == pytest.approx(abs(3.0 * gamma[1] + 1.5 * 2.0), rel=1e-14)
    assert judge([(2.0, -1.0, 0.0)], [[0.0, 3.0, 0.0]], law=law).holds(1e-14)


def test_joint_drift_shows_alone():
    right = {"impulses": [[2.0, 0.5, 0.0]], "velocities": [[0.0, 0.0, 0.0]]}
    certificate = judge(**right, joint_impulses=(1.0, 1.0), joint_velocities=(0.0, -0.25))
    assert rows_above(certificate) == {"joint_drift", "natural_map"}
    assert certificate.joint_drift.absolute == pytest.approx(0.25, rel=1e-15)
    scale = math.sqrt(1.0 + 1.25**2)  # the joint is an island of its own, with q = (−1, −1.25)
    assert certificate.joint_drift.relative == pytest.approx(0.25 / scale, rel=1e-14)
    assert certificate.residual == pytest.approx(0.25 / scale, rel=1e-14)
    assert judge(**right, joint_impulses=(1.0, -5.0), joint_velocities=(0.0, 0.0)).holds(1e-14)  # λ is free


def test_momentum_imbalance_shows_alone():
    problem = sliding_ball()
    gamma = np.array([0.0981, -0.01962])
    v = np.array([2.0 - 0.01962, 0.0, -0.01962 / 0.4])
    assert certify(problem, gamma, NONE, v).holds(1e-14)
    certificate = certify(problem, gamma, NONE, v + np.array([0.0, 0.0, 0.5]))
    assert rows_above(certificate) == {"momentum_balance"}
    assert certificate.momentum_balance.absolute == pytest.approx(0.2, rel=1e-13)  # 0.4 kg·m² · 0.5 rad/s
    energy = 2.0**2 + 0.0981**2  # kᵀ M⁻¹ k, the largest term
    assert certificate.residual == pytest.approx(math.sqrt(0.4 * 0.25 / energy), rel=1e-12)
    assert not certificate.holds(1e-2)


def test_momentum_imbalance_shows_where_nothing_moves():
    """k = 0 and γ = 0, yet a velocity: infinitely wrong, and certainly no solution."""
    problem = ContactProblem(mass=np.eye(3), jacobian=np.eye(3), friction=[0.5])
    assert certify(problem, np.zeros(3), NONE, np.zeros(3)).residual == 0.0
    certificate = certify(problem, np.zeros(3), NONE, np.array([5.0, 0.0, 0.0]))
    assert certificate.momentum_balance.absolute == 5.0
    assert not certificate.holds(1e-8)


def test_the_worst_contact_counts():
    """Rows are the largest violation over the contacts, wherever it stands."""
    good = [2.0, 0.0, 0.0]
    for place in range(4):
        gamma = [good] * 4
        gamma[place] = [-1.0, 0.0, 0.0]
        certificate = judge(gamma, [[0.0, 0.0, 0.0]] * 4)
        assert certificate.cone.absolute == pytest.approx(1.0, rel=1e-15)


def test_natural_map_adds_up_over_contacts():
    """Relative natural map = √Σ|r_i|²/ρ_i / S in each island; the worst island counts."""
    one = judge([[1.5, 0.0, 0.0]], [[0.5, 0.0, 0.0]])  # q_n = −1, so S = 1
    two = judge([[1.5, 0.0, 0.0]] * 2, [[0.5, 0.0, 0.0]] * 2)
    assert one.residual == pytest.approx(0.5, rel=1e-14)
    assert two.residual == pytest.approx(0.5, rel=1e-14)
    beside_a_right_one = judge([[1.5, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert beside_a_right_one.residual == pytest.approx(0.5, rel=1e-14)
    # the same two contacts in one island, held together by next to nothing
    n = np.eye(6)
    n[0, 3] = n[3, 0] = 1e-13
    gamma = np.array([1.5, 0.0, 0.0, 1.0, 0.0, 0.0])
    q = np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]) - n @ gamma
    together = ContactProblem(delassus=n, free_velocity=q, friction=[0.5, 0.5])
    found = certify(together, gamma, NONE, None).residual
    assert found == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-12)


def test_a_pebble_is_not_judged_by_the_boulder_beside_it():
    """10⁶ kg at 100 m/s and 1 g at 1 mm/s, not touching: the boulder's contact is right, the pebble's not."""
    problem = ContactProblem(
        mass=np.diag([1e6, 1e-3]), jacobian=np.eye(2), momentum=[-1e8, -1e-6], friction=0.0, components=1
    )
    assert certify(problem, np.array([1e8, 0.0]), NONE, None).residual == pytest.approx(1.0)
    assert certify(problem, np.array([1e8, 1e-6]), NONE, None).holds(1e-14)


@pytest.mark.parametrize("form", ["blocks", "matrices", "delassus"])
def test_islands_are_what_moving_bodies_connect(scene, form):
    """Two copies of a scene side by side: no island has blocks of both, and ground connects nothing."""
    s = scene(4)
    mass, d, g = s.matrices()
    twice = {name: scipy.linalg.block_diag(m, m) for name, m in (("m", mass), ("d", d), ("g", g))}
    common = {"friction": np.tile(s.friction, 2), "components": np.tile(s.components, 2)}
    if form == "blocks":
        shift = np.where(s.bodies >= 0, s.bodies + len(s.mass), -1)
        joint_shift = np.where(s.joint_bodies >= 0, s.joint_bodies + len(s.mass), -1)
        problem = ContactProblem(
            **common, mass=np.tile(s.mass, (2, 1, 1)), jacobian=np.tile(s.jacobian, (2, 1, 1, 1)),
            bodies=np.concatenate([s.bodies, shift]), momentum=np.tile(np.ravel(s.momentum), 2),
            joint_jacobian=np.tile(s.joint_jacobian, (2, 1, 1)),
            joint_bodies=np.concatenate([s.joint_bodies, joint_shift]),
        )  # fmt: skip
    elif form == "matrices":
        problem = ContactProblem(
            **common, mass=twice["m"], jacobian=twice["d"], joint_jacobian=twice["g"],
            momentum=np.tile(np.ravel(s.momentum), 2),
        )  # fmt: skip
    else:
        both = twice["d"]  # without joints: their rows are gathered by threes
        w = both.T @ np.linalg.solve(twice["m"], both)
        w[np.abs(w) < 1e-14] = 0.0
        q = both.T @ np.linalg.solve(twice["m"], np.tile(np.ravel(s.momentum), 2))
        problem = ContactProblem(**common, delassus=w, free_velocity=q)
    island = problem.operator.islands[: problem.contacts]
    first, second = island[: len(s.friction)], island[len(s.friction) :]
    assert set(first).isdisjoint(second)
    pairs = s.bodies if form == "delassus" else np.concatenate([s.bodies, s.joint_bodies])
    moving = [set(pair[pair >= 0]) for pair in pairs]
    for i in range(len(s.friction)):
        for j in range(i):
            assert (first[i] == first[j]) == _connected(moving, i, j)


def _connected(moving: list[set], i: int, j: int) -> bool:
    reach = set(moving[i])
    while True:
        wider = reach.union(*(pair for pair in moving if pair & reach))
        if wider == reach:
            return bool(reach & moving[j])
        reach = wider


def test_an_answer_that_runs_away_is_not_certified():
    """Two walls close in on a particle: the larger the impulses, the smaller γ − Π(γ − ρu) against γ."""
    problem = ContactProblem(mass=np.eye(1), jacobian=[[1.0, -1.0]], friction=[0.0, 0.0], bias=[-1.0, -1.0])
    for size in (1.0, 1e8, 1e20, 1e300):
        certificate = certify(problem, np.full(2, size), NONE, None)
        assert certificate.residual >= 0.999, size


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_weights_follow_the_masses(scale):
    """ρ = 1/N: the same impulses with velocities in proportion get the same verdict."""
    certificate = judge([[1.0, 0.2, 0.0]], [[-0.3 * scale, 0.1 * scale, 0.0]], scale=scale)
    wanted = judge([[1.0, 0.2, 0.0]], [[-0.3, 0.1, 0.0]])
    assert certificate.residual == pytest.approx(wanted.residual, rel=1e-12)
    assert certificate.penetration.relative == pytest.approx(wanted.penetration.relative, rel=1e-12)


# ---- what is not a number -----------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("components", "place"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_nan_impulses_never_hold(law, components, place):
    """NaN in one component of the second of two contacts, masses unknown."""
    problem = ContactProblem(
        delassus=np.eye(2 * components), free_velocity=-np.ones(2 * components), friction=0.5,
        components=components, law=law,
    )  # fmt: skip
    gamma = np.ones(2 * components)
    gamma[components + place] = np.nan
    certificate = certify(problem, gamma, NONE, None)
    assert math.isnan(certificate.residual)
    assert not certificate.holds(1e300)
    for name in ("cone", "dual_cone", "complementarity", "natural_map", "penetration", "friction_gain"):
        assert math.isnan(getattr(certificate, name).relative), name
        assert math.isnan(getattr(certificate, name).absolute), name
    assert math.isnan(certificate.dissipation)


def test_nan_with_masses_and_joints(scene):
    s = scene(7)
    problem = ContactProblem(**s.block_arguments())
    gamma, joint = np.zeros(len(s.bias)), np.zeros(len(s.joint_bias))
    for vector, place in ((gamma, 2), (joint, 5)):
        vector[place] = np.nan
        certificate = certify(problem, gamma, joint, problem.velocity(gamma, joint))
        assert math.isnan(certificate.residual)
        assert not certificate.holds(1e300)
        assert math.isnan(certificate.momentum_balance.relative)
        assert math.isnan(certificate.joint_drift.relative)
        vector[place] = 0.0


def test_nan_velocity_alone(scene):
    s = scene(7)
    problem = ContactProblem(**s.block_arguments())
    gamma, joint = np.zeros(len(s.bias)), np.zeros(len(s.joint_bias))
    certificate = certify(problem, gamma, joint, np.full(6 * len(s.mass), np.nan))
    assert math.isnan(certificate.residual)
    assert not certificate.holds(1e300)
    rest = ContactProblem(mass=np.eye(3), jacobian=np.eye(3), friction=[0.5])  # k = 0 and γ = 0 as well
    certificate = certify(rest, np.zeros(3), NONE, np.full(3, np.nan))
    assert math.isnan(certificate.residual)
    assert not certificate.holds(1e300)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_impulses_never_hold(law, value):
    """And no row pretends to be in order: infinite, or not a number, but not zero."""
    problem = ContactProblem(
        delassus=np.eye(3) + 1.0, free_velocity=[-1.0, 0.5, 0.0], friction=[0.5], law=law
    )
    certificate = certify(problem, np.array([value, 0.0, 0.0]), NONE, None)
    assert not certificate.holds(1e300)
    assert not math.isfinite(certificate.natural_map.absolute)
    assert not math.isfinite(certificate.complementarity.absolute)


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e30, 1e100])
def test_residuals_of_very_small_and_very_large_problems(size):
    """Impulses of any size: the verdict is that of impulses near 1."""
    wanted = judge([[1.0, 0.6, 0.0]], [[-0.3, 0.1, 0.0]])
    found = judge([[size, 0.6 * size, 0.0]], [[-0.3 * size, 0.1 * size, 0.0]])
    for name in ROWS:
        assert getattr(found, name).relative == pytest.approx(
            getattr(wanted, name).relative, rel=1e-12, nan_ok=True
        ), name


# ---- the sliding ball ---------------------------------------------------------------------------

EXACT = np.array([0.0981, -0.01962])
RELAXED = (0.4981 / 1.14) * np.array([1.0, -0.2])


def test_sliding_ball_under_both_laws():
    """Melanz et al. §3.1, N = diag(1, 3.5), q = (−0.0981, 2); `sliding_ball` works the numbers out."""
    for law, gamma in (("coulomb", EXACT), ("relaxed", RELAXED)):
        problem = sliding_ball(law)
        assert problem.operator.matrix().toarray() == pytest.approx(np.diag([1.0, 3.5]), rel=1e-15)
        assert problem.free_velocity == pytest.approx([-0.0981, 2.0], rel=1e-15)
        certificate = certify(problem, gamma, NONE, problem.velocity(gamma))
        assert rows_above(certificate, 1e-14) == set(), law
        assert certificate.holds(1e-14)


def test_the_answer_of_one_law_does_not_hold_under_the_other():
    """The relaxed ball lifts off with γ_n > 0: under Coulomb's law that is an impulse without contact."""
    ball = sliding_ball()
    wrong = certify(ball, RELAXED, NONE, ball.velocity(RELAXED))
    assert not wrong.holds(0.1)
    assert rows_above(wrong) == {"complementarity", "natural_map"}
    lift_off = RELAXED[0] - 0.0981
    assert wrong.complementarity.absolute == pytest.approx(RELAXED[0] * lift_off, rel=1e-12)
    relaxed = sliding_ball("relaxed")
    wrong = certify(relaxed, EXACT, NONE, relaxed.velocity(EXACT))
    assert not wrong.holds(0.1)
    assert "dual_cone" in rows_above(wrong)  # u = (0, 1.93): outside K* without the tilting term


def test_sliding_ball_by_hand():
    """The doing-nothing answer: ρ = 2/4.5, u = (−0.0981, 2), s = 0.4, natural map of γ = 0."""
    ball = sliding_ball()
    certificate = certify(ball, np.zeros(2), NONE, ball.velocity(np.zeros(2)))
    rho = 2.0 / 4.5
    n, t = -rho * (-0.0981 + 0.4), -rho * 2.0  # the point to project on |t| ≤ 0.2 n
    p = max(0.0, (n + 0.2 * abs(t)) / 1.04)
    assert certificate.natural_map.absolute == pytest.approx(p * math.hypot(1.0, 0.2), rel=1e-13)
    assert certificate.penetration.absolute == pytest.approx(0.0981, rel=1e-14)
    assert certificate.residual == pytest.approx(1.0, rel=1e-14)


def test_the_round_answer_under_pyramids():
    """Sliding along φ at 3 m/s, γ_t = −1 against it: a polygon takes out most at its nearest corner.

    With the angle δ from −φ to that corner, s = 0.5·3 cos δ and γ·(u + s e_n) = −3 + 2 s = −3 (1 − cos δ).
    """
    phi = 0.3
    direction = np.array([math.cos(phi), math.sin(phi)])
    gamma, u = [[2.0, *-direction]], [[0.0, *(3.0 * direction)]]
    assert judge(gamma, u).holds(1e-14)
    for sides in (4, 8, 64, 1024):
        sector = 2.0 * math.pi / sides
        delta = abs((phi + math.pi) / sector - round((phi + math.pi) / sector)) * sector
        certificate = judge(gamma, u, law=f"pyramid({sides})")
        assert certificate.complementarity.absolute == pytest.approx(3.0 * (1.0 - math.cos(delta)), rel=1e-9)
        assert 1e-14 < certificate.residual < math.pi / sides


# ---- how it presents itself ---------------------------------------------------------------------


def test_rows_have_units_and_stand_in_the_table():
    certificate = judge([[2.0, 1.0, 0.0]], [[0.0, 3.0, 0.0]])
    assert [row.unit for row in certificate.rows] == ["N·s", "N·s", "m/s", "J", "N·s", "m/s", "m/s", "J"]
    text = str(certificate)
    assert all(row.name in text for row in certificate.rows)
    assert f"{certificate.residual:.3e}" in text.splitlines()[-1]
    assert len(certificate.rows) == len(ROWS)


def test_the_loops_number_is_the_certificates(scene):
    """`relative_residual` is what solvers watch; it must be the row that the certificate prints."""
    s = scene(8)
    problem = ContactProblem(**s.block_arguments())
    gamma, joint, _ = wrong_answer(s, 8)
    x = problem.layout.pad(np.concatenate([gamma, joint]))
    u = problem.operator.apply(x) + problem.free_blocks
    certificate = certify(problem, gamma, joint, problem.velocity(gamma, joint))
    assert relative_residual(problem, x, u) == certificate.natural_map.relative
    assert problem.scales.total > 0.0
    assert math.isnan(relative_residual(problem, np.full_like(x, np.nan), u))


def test_variations_are_judged_like_problems_built_anew(scene):
    """The scale S depends on law and bias: nothing of the first problem may be left over."""
    s = scene(9)
    problem = ContactProblem(**s.block_arguments())
    gamma, joint, v = wrong_answer(s, 9)
    first = certify(problem, gamma, joint, v)
    shift = np.linspace(-3.0, 3.0, len(s.bias))
    for varied, changes in (
        (problem.with_law("relaxed"), {"law": "relaxed"}),
        (problem.with_law("pyramid(4)"), {"law": "pyramid(4)"}),
        (problem.shifted(shift), {"bias": s.bias + shift}),
    ):
        found = certify(varied, gamma, joint, v)
        wanted = certify(ContactProblem(**s.block_arguments() | changes), gamma, joint, v)
        assert found.natural_map.relative != first.natural_map.relative
        for name in ROWS:
            assert getattr(found, name).relative == pytest.approx(
                getattr(wanted, name).relative, rel=1e-12
            ), name


@pytest.mark.parametrize(("contact_rows", "joint_rows"), [(1, 0), (20, 0), (13, 7)])
def test_answers_of_wrong_length_are_not_judged(scene, contact_rows, joint_rows):
    """12 contact rows and 8 joint rows: the same total in other parts is wrong as well."""
    s = scene(0)
    problem = ContactProblem(**s.block_arguments())
    assert (problem.layout.contact_rows, problem.joint_rows) == (12, 8)
    with pytest.raises(ValueError):
        certify(problem, np.zeros(contact_rows), np.zeros(joint_rows), None)


def test_dissipation_is_the_kinetic_energy_that_friction_takes():
    """Sliding ball: the normal impulse takes 0.0981²/2 J, friction the rest of what is lost."""
    problem = sliding_ball()
    gamma = np.array([0.0981, -0.01962])
    mass = np.array([1.0, 1.0, 0.4])
    before, after = problem.momentum / mass, problem.velocity(gamma)
    lost = 0.5 * mass @ (before**2 - after**2)
    found = certify(problem, gamma, NONE, after).dissipation
    assert found == pytest.approx(lost - 0.5 * 0.0981**2, rel=1e-12)
