"""Joint rows with bounds, −w ∈ N_[lower,upper](λ): the problem, its certificate, its files, all solvers."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

import nonsmooth as ns
from nonsmooth.errors import FileFormatError, ProblemError, UnsupportedError
from nonsmooth.io import read_problem, write_fclib, write_problem, write_siconos
from nonsmooth.problem import ContactProblem, siconos_error
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.construction import assembled
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.problem.kernels.residuals import residual_of_impulses
from nonsmooth.problem.laws import Law
from nonsmooth.problem.library import NAMED, random_problem
from nonsmooth.problem.library.named import dry_pendulum, motor_at_stop, slider_at_stop
from nonsmooth.problem.mass import mass_from_blocks
from nonsmooth.solvers import (
    ADMM,
    APGD,
    AugmentedLagrangian,
    Auto,
    FixedPoint,
    GaussSeidel,
    InteriorPoint,
    JORProx,
    Lemke,
    Newton,
    Proximal,
    Solver,
    SORProx,
    Status,
    VelocityProx,
)
from nonsmooth.solvers.kernels.coloured import coloured_sweeps

INF = np.inf
HOLDS, LIMIT, BELOW, RUBS, SHUT = (-INF, INF), (0.0, INF), (-INF, 0.3), (-0.2, 0.2), (0.0, 0.0)
KINDS = (HOLDS, LIMIT, BELOW, RUBS, SHUT, (-1.5, INF), (-0.05, 0.4))

SOLVERS: dict[str, Solver] = {
    "auto": Auto(),
    "gauss-seidel": GaussSeidel(),
    "gauss-seidel-symmetric": GaussSeidel(acceleration="none", order="symmetric"),
    "gauss-seidel-nncg": GaussSeidel(acceleration="nncg"),
    "gauss-seidel-over-relaxed": GaussSeidel(acceleration="none", relaxation=1.3),
    "apgd": APGD(),
    "sor-prox": SORProx(),
    "jor-prox": JORProx(strategy="adaptive"),
    "augmented-lagrangian": AugmentedLagrangian(),
    "velocity-prox": VelocityProx(),
    "newton": Newton(warm_sweeps=0),
    "newton-fischer-burmeister": Newton(formulation="fischer-burmeister", warm_sweeps=0),
    "proximal": Proximal(warm_sweeps=0),
    "admm": ADMM(),
    "interior-point": InteriorPoint(),
    "lemke": Lemke(),
}
"""Each once on boxes, under the relaxed law, which all of them take."""


def box(matrix: np.ndarray, free: np.ndarray, bounds: Any, law: str = "relaxed") -> ContactProblem:
    """Joint rows alone: the KKT conditions of min ½λᵀNλ + qᵀλ over a box."""
    return ContactProblem(
        delassus=matrix, free_velocity=free, friction=[], joint_rows=len(free), joint_bounds=bounds, law=law
    )


def by_active_sets(matrix: np.ndarray, free: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The box's solution by trying every row at its lower bound, at its upper one, and between."""
    size = len(free)
    for states in product((0, 1, 2), repeat=size):
        chosen = np.array(states)
        at = np.where(chosen == 0, bounds[:, 0], np.where(chosen == 1, bounds[:, 1], 0.0))
        if not np.isfinite(at).all():
            continue
        between = np.flatnonzero(chosen == 2)
        answer = at.copy()
        right = free[between] + matrix[between] @ at
        answer[between] = -np.linalg.solve(matrix[np.ix_(between, between)], right)
        w = matrix @ answer + free
        inside = (answer >= bounds[:, 0] - 1e-12) & (answer <= bounds[:, 1] + 1e-12)
        pushes = np.where(chosen == 0, w >= -1e-12, np.where(chosen == 1, w <= 1e-12, True))
        if (inside & (pushes | (bounds[:, 0] == bounds[:, 1]))).all():
            return answer
    raise AssertionError("a strictly convex box has a solution")


def spd(rng: np.random.Generator, size: int) -> np.ndarray:
    """A random matrix with eigenvalues between 0.1 and 3 and a mixed scale."""
    turn, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (turn * rng.uniform(0.1, 3.0, size)) @ turn.T
    scale = rng.uniform(0.5, 2.0, size)
    return 0.5 * (matrix + matrix.T) * np.outer(scale, scale)


# ---- the solvers on boxes ------------------------------------------------------------------------------


@settings(max_examples=40)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", SOLVERS)
def test_boxes_against_all_active_sets(name: str, kinds: list[tuple[float, float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, free, bounds = spd(rng, len(kinds)), rng.standard_normal(len(kinds)), np.array(kinds)
    wanted = by_active_sets(matrix, free, bounds)
    solution = ns.solve(box(matrix, free, bounds), SOLVERS[name], tolerance=1e-11)
    np.testing.assert_allclose(solution.joint_impulses, wanted, rtol=0.0, atol=1e-8)
    certificate = solution.certificate
    assert certificate.cone.relative < 1e-9
    assert certificate.dual_cone.relative < 1e-9
    assert certificate.complementarity.relative < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "pyramid(6)"])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_large_box_against_scipy(name: str, law: str) -> None:
    """N = AᵀA and q = Aᵀc: min ½|Aλ + c|² over the box."""
    rng = np.random.default_rng(5)
    rows = np.vstack([rng.standard_normal((45, 30)), 0.5 * np.eye(30)])
    shift = rng.standard_normal(75)
    bounds = np.array([KINDS[k] if KINDS[k] != SHUT else RUBS for k in rng.integers(0, len(KINDS), 30)])
    problem, solver = box(rows.T @ rows, rows.T @ shift, bounds, law), SOLVERS[name]
    if law not in (*solver.laws, "pyramid(6)" if "pyramid" in solver.laws else ""):
        with pytest.raises(UnsupportedError):
            ns.solve(problem, solver)
        return
    wanted = lsq_linear(rows, -shift, bounds=(bounds[:, 0], bounds[:, 1]), method="bvls", tol=1e-15)
    assert wanted.success
    assert 0 < np.count_nonzero(wanted.active_mask) < 30
    solution = ns.solve(problem, solver, tolerance=1e-11)
    np.testing.assert_allclose(solution.joint_impulses, wanted.x, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("big", [1e3, 1e6, 1e12])
def test_bounds_that_are_far_off_change_nothing(name: str, big: float) -> None:
    rng = np.random.default_rng(3)
    matrix, free = spd(rng, 6), rng.standard_normal(6)
    solution = ns.solve(box(matrix, free, np.tile([-big, big], (6, 1))), SOLVERS[name], tolerance=1e-10)
    np.testing.assert_allclose(solution.joint_impulses, -np.linalg.solve(matrix, free), atol=1e-8)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_start_beyond_the_bounds_is_brought_back(name: str) -> None:
    rng = np.random.default_rng(8)
    matrix, free = spd(rng, 5), rng.standard_normal(5)
    bounds = np.array([HOLDS, LIMIT, RUBS, BELOW, SHUT])
    solution = ns.solve(
        box(matrix, free, bounds), SOLVERS[name], tolerance=1e-11, start=[9.0, -9.0, 9.0, 9.0, -9.0]
    )
    wanted = by_active_sets(matrix, free, bounds)
    np.testing.assert_allclose(solution.joint_impulses, wanted, rtol=0.0, atol=1e-8)


# ---- closed forms (the library's answers are in test_solvers.py) ----------------------------------------


def test_motor_that_is_strong_enough_reaches_its_speed() -> None:
    """J = 0.5 kg·m² from rest to 4 rad/s takes 2 N·m·s; a motor that has more and no stop gives that."""
    weak, bounds = motor_at_stop(), np.tile([-INF, INF], (6, 1))
    bounds[5] = [-3.0, 3.0]
    strong = ContactProblem(
        mass=weak.mass, jacobian=weak.jacobian, bodies=weak.bodies, friction=[],
        joint_jacobian=weak.joint_jacobian[:6], joint_bodies=weak.joint_bodies[:6],
        joint_bias=weak.joint_bias[:6], joint_bounds=bounds,
    )  # fmt: skip
    solution = ns.solve(strong, tolerance=1e-12)
    np.testing.assert_allclose(solution.velocity, [0.0, 0.0, 0.0, 0.0, 0.0, 4.0], atol=1e-12)
    assert abs(solution.joint_impulses[5] - 2.0) < 1e-12


@pytest.mark.parametrize("torque", [0.0, 5.0, 9.81, 12.0])
def test_dry_friction_dissipates(torque: float) -> None:
    """The pendulum turns by ω = max(0, 0.0981 − 0.01 T)/0.6, and friction takes λ (q + w)/2 out."""
    problem = dry_pendulum(torque)
    solution = ns.solve(problem, tolerance=1e-12)
    rate = max(0.0, 0.0981 - 0.01 * torque) / 0.6
    np.testing.assert_allclose(solution.velocity[4], rate, atol=1e-12)
    friction = -min(0.0981, 0.01 * torque)
    certificate = solution.certificate
    assert problem.joint_free_velocity[5] == 0.0
    np.testing.assert_allclose(certificate.dissipation, -0.5 * friction * rate, atol=1e-14)
    assert certificate.friction_gain.absolute <= 1e-12
    assert certificate.joint_drift.absolute <= 1e-11
    assert certificate.holds(1e-12)


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "pyramid(8)"])
def test_slider_under_all_laws(law: str) -> None:
    solution = ns.solve(slider_at_stop(law), tolerance=1e-11)
    normal = 0.6962 if law == "relaxed" else 0.1962
    np.testing.assert_allclose(solution.impulses, [normal, -0.5 * normal, 0.0], atol=1e-10)
    np.testing.assert_allclose(solution.joint_impulses[-2:], [-0.05, 0.95 - 0.5 * normal], atol=1e-10)


def test_a_motor_against_a_joint_gives_its_limit() -> None:
    """Two rows that contradict each other: with bounds the weaker one yields, without them nothing holds."""
    rows = np.zeros((2, 2, 6))
    rows[:, 1, 0] = 1.0
    arguments: dict[str, Any] = {
        "mass": [[2.0] * 6], "jacobian": np.zeros((0, 2, 3, 6)), "bodies": np.zeros((0, 2), dtype=int),
        "friction": [], "joint_jacobian": rows, "joint_bodies": [[-1, 0]] * 2, "joint_bias": [0.0, -1.0],
    }  # fmt: skip
    yielding = ns.solve(ContactProblem(**arguments, joint_bounds=[HOLDS, (-3.0, 3.0)]), tolerance=1e-12)
    np.testing.assert_allclose(yielding.joint_impulses, [-3.0, 3.0], atol=1e-12)
    assert ns.solve(ContactProblem(**arguments), throw=False).status is Status.INFEASIBLE


# ---- mechanisms with contacts ----------------------------------------------------------------------------


def mechanism(seed: int, law: str = "coulomb", contacts: int = 8, rows: int = 9) -> ContactProblem:
    """Random bodies in contact with joint rows of every kind."""
    plain = random_problem(seed, contacts=contacts, joint_rows=rows, law=law)
    rng = np.random.default_rng(seed)
    return rebuilt(plain, np.array(KINDS)[rng.integers(0, len(KINDS), rows)] * rng.uniform(0.2, 2.0))


def rebuilt(problem: ContactProblem, bounds: Any) -> ContactProblem:
    """The same problem with other bounds."""
    return ContactProblem(
        mass=problem.mass, jacobian=problem.jacobian, bodies=problem.bodies, momentum=problem.momentum,
        bias=problem.bias, friction=problem.friction, joint_jacobian=problem.joint_jacobian,
        joint_bodies=problem.joint_bodies, joint_bias=problem.joint_bias, joint_bounds=bounds,
        law=problem.law,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "solver",
    [GaussSeidel(), Newton(), Proximal(), ADMM(), APGD(), InteriorPoint(), InteriorPoint(form="primal")],
    ids=lambda solver: f"{solver.name}-{getattr(solver, 'form', '')}",
)
def test_mechanisms_have_one_velocity_under_the_relaxed_law(seed: int, solver: Solver) -> None:
    """The relaxed problem is strictly convex in v: whatever the solver, one velocity."""
    problem = mechanism(seed, "relaxed")
    reference = ns.solve(problem, Newton(), tolerance=1e-12)
    solution = ns.solve(problem, solver, tolerance=1e-11, max_iterations=100_000)
    size = 1.0 + np.abs(reference.velocity).max()
    np.testing.assert_allclose(solution.velocity, reference.velocity, atol=1e-8 * size)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("solver", [Auto(), SORProx(), FixedPoint()], ids=lambda solver: solver.name)
def test_mechanisms_under_coulombs_law(seed: int, solver: Solver) -> None:
    solution = ns.solve(mechanism(seed), solver, tolerance=1e-9)
    low, high = solution.problem.joint_bounds.T
    assert (solution.joint_impulses >= low - 1e-7).all()
    assert (solution.joint_impulses <= high + 1e-7).all()


@pytest.mark.parametrize("seed", range(3))
def test_colours_and_threads(seed: int) -> None:
    """Enough blocks for lanes and colours: the natural order's answer, and the same bits on two threads."""
    problem = mechanism(seed, "relaxed", contacts=60, rows=30)
    assert problem.layout.blocks >= 64
    assert (problem.layout.block_kind == 2).any()
    natural = ns.solve(problem, GaussSeidel(order="natural"), tolerance=1e-11, max_iterations=100_000)
    one = ns.solve(problem, GaussSeidel(order="coloured"), tolerance=1e-11, max_iterations=100_000)
    two = ns.solve(problem, GaussSeidel(order="coloured", threads=2), tolerance=1e-11, max_iterations=100_000)
    np.testing.assert_allclose(one.velocity, natural.velocity, atol=1e-7 * (1 + np.abs(one.velocity).max()))
    np.testing.assert_array_equal(one.joint_impulses, two.joint_impulses)
    np.testing.assert_array_equal(one.impulses, two.impulses)


def test_bounds_compile_nothing_anew() -> None:
    ns.solve(random_problem(4, contacts=70), GaussSeidel(), throw=False)
    ns.solve(mechanism(1, contacts=60, rows=30), GaussSeidel(), throw=False)
    counts = len(coloured_sweeps.signatures), len(residual_of_impulses.signatures)
    ns.solve(random_problem(5, contacts=70), GaussSeidel(), throw=False)
    ns.solve(mechanism(2, contacts=60, rows=12), GaussSeidel(), throw=False)
    assert (len(coloured_sweeps.signatures), len(residual_of_impulses.signatures)) == counts


# ---- the problem -----------------------------------------------------------------------------------------


def test_rows_with_bounds_stand_alone() -> None:
    bounds = [HOLDS, HOLDS, HOLDS, HOLDS, LIMIT, HOLDS, HOLDS, RUBS]
    problem = box(np.eye(8), np.ones(8), bounds)
    assert problem.layout.joint_groups.tolist() == [3, 1, 1, 2, 1]
    assert problem.layout.block_kind.tolist() == [1, 1, 2, 1, 2]
    assert problem.cones.lower[:, 0].tolist() == [-INF, -INF, 0.0, -INF, -0.2]
    assert problem.cones.upper[:, 0].tolist() == [INF, INF, INF, INF, 0.2]
    np.testing.assert_array_equal(problem.joint_bounds, bounds)
    assert not problem.joint_bounds.flags.writeable
    free = box(np.eye(8), np.ones(8), None)
    assert free.layout.joint_groups.tolist() == [3, 3, 2]
    assert free.layout.bounded is None
    np.testing.assert_array_equal(free.joint_bounds, [HOLDS] * 8)


def test_every_form_says_the_same(scene: Any) -> None:
    s = scene(2)
    bounds = np.array([HOLDS, LIMIT, HOLDS, RUBS, HOLDS, BELOW, SHUT, HOLDS])[: len(s.joint_bias)]
    flat = np.random.default_rng(0).standard_normal(len(s.bias) + len(bounds))
    gamma, joint = flat[: len(s.bias)], flat[len(s.bias) :]
    forms = (s.block_arguments(), s.matrix_arguments(), s.delassus_arguments())
    problems = [ContactProblem(**arguments, joint_bounds=bounds) for arguments in forms]
    certificates = [certify(problem, gamma, joint, None) for problem in problems]
    for problem, certificate in zip(problems, certificates, strict=True):
        np.testing.assert_array_equal(problem.joint_bounds, bounds)
        rows = problem.layout.slot[problem.layout.contact_rows :]
        np.testing.assert_array_equal(problem.cones.lower.reshape(-1)[rows], bounds[:, 0])
        assert (problem.layout.block_kind[rows // 3] == np.where(np.isfinite(bounds).any(axis=1), 2, 1)).all()
        for one, other in zip(certificate.rows, certificates[0].rows, strict=True):
            np.testing.assert_allclose(one.relative, other.relative, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("contacts", [0, 5])
def test_assembled_problems_are_those_that_are_given(contacts: int) -> None:
    given_problem = mechanism(6, contacts=max(contacts, 1))
    if not contacts:
        given_problem = ContactProblem(
            mass=given_problem.mass, jacobian=np.zeros((0, 2, 3, 6)), bodies=np.zeros((0, 2), dtype=int),
            friction=[], momentum=given_problem.momentum, joint_jacobian=given_problem.joint_jacobian,
            joint_bodies=given_problem.joint_bodies, joint_bias=given_problem.joint_bias,
            joint_bounds=given_problem.joint_bounds,
        )  # fmt: skip
    mass = mass_from_blocks(np.asarray(given_problem.mass))
    lower = np.concatenate([mass.lower, np.eye(6)[None]])

    def columns(rows: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        out = np.einsum("...ij,...j->...i", np.linalg.inv(lower)[bodies], rows)
        out[bodies < 0] = 0.0
        return out

    rows = np.zeros((contacts, 2, 3, 6)) if not contacts else np.asarray(given_problem.jacobian)
    data = assembled(
        mass=mass, bodies=given_problem.bodies.copy(), rows=rows.copy(),
        columns=np.stack([columns(rows[:, :, k], given_problem.bodies) for k in range(3)], axis=2),
        momentum=given_problem.momentum.reshape(-1, 6).copy(),
        bias=given_problem.bias.reshape(-1, 3).copy(),
        free_velocity=given_problem.free_velocity.reshape(-1, 3).copy(),
        friction=given_problem.friction.copy(), law=Law("coulomb"),
        joint_bodies=given_problem.joint_bodies.copy(), joint_jacobian=given_problem.joint_jacobian.copy(),
        joint_columns=columns(given_problem.joint_jacobian, given_problem.joint_bodies),
        joint_bias=given_problem.joint_bias.copy(),
        joint_free_velocity=given_problem.joint_free_velocity.copy(),
        joint_bounds=given_problem.joint_bounds.copy(),
    )  # fmt: skip
    problem = ContactProblem.of_data(data)
    assert isinstance(problem.operator.kernel_form, Factored)
    np.testing.assert_array_equal(problem.layout.joint_groups, given_problem.layout.joint_groups)
    np.testing.assert_array_equal(problem.layout.block_kind, given_problem.layout.block_kind)
    one, other = problem.operator.matrix().toarray(), given_problem.operator.matrix().toarray()
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())
    first, second = ns.solve(problem, tolerance=1e-10), ns.solve(given_problem, tolerance=1e-10)
    np.testing.assert_allclose(first.joint_velocities, second.joint_velocities, atol=1e-6)


def test_variations_keep_the_bounds() -> None:
    problem = slider_at_stop()
    for other in (problem.with_law("relaxed"), problem.shifted(np.zeros(3))):
        np.testing.assert_array_equal(other.joint_bounds, problem.joint_bounds)
        np.testing.assert_array_equal(other.cones.lower, problem.cones.lower)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([[0.1, 0.2], HOLDS], r"joint_bounds\[0\] is \[0.1, 0.2\]: lower ≤ 0 ≤ upper"),
        ([HOLDS, [-2.0, -1.0]], r"joint_bounds\[1\] is \[-2, -1\]: lower ≤ 0 ≤ upper"),
        ([HOLDS, [1.0, -1.0]], r"joint_bounds\[1\] is \[1, -1\]: lower ≤ 0 ≤ upper"),
        (
            [[np.nan, 1.0], HOLDS],
            r"joint_bounds\[0\] is \[nan, 1\]: .*use -inf and inf where there is no bound",
        ),
        ([HOLDS, [0.0, np.nan]], r"joint_bounds\[1\] is \[0, nan\]"),
        ([[INF, INF], HOLDS], r"joint_bounds\[0\] is \[inf, inf\]"),
        ([HOLDS], r"joint_bounds has shape \(1, 2\): give \(lower, upper\) for each joint row, \(2, 2\)"),
        ([0.0, 1.0], r"joint_bounds has shape \(2,\)"),
        ("two", "joint_bounds is not an array of numbers"),
        ([[0.0], [0.0, 1.0]], "joint_bounds is not an array of numbers"),
    ],
)
def test_bad_bounds_are_named(bounds: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        box(np.eye(2), np.ones(2), bounds)


def test_bounds_without_joint_rows() -> None:
    arguments: dict[str, Any] = {"delassus": np.eye(3), "free_velocity": -np.ones(3), "friction": [0.5]}
    with pytest.raises(ProblemError, match=r"joint_bounds has shape \(1, 2\).*\(0, 2\)"):
        ContactProblem(**arguments, joint_bounds=[LIMIT])
    assert ContactProblem(**arguments, joint_bounds=[]).joint_bounds.shape == (0, 2)


# ---- the certificate -------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "pyramid(8)"])
@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    length=st.floats(1e-3, 1e3),
    mass=st.floats(1e-3, 1e3),
    time=st.floats(1e-3, 1e3),
)
def test_units_do_not_change_the_verdict(
    scene: Any, law: str, seed: int, length: float, mass: float, time: float
) -> None:
    si = scene(seed % 5)
    rng = np.random.default_rng(seed)
    bounds = np.array(KINDS)[rng.integers(0, len(KINDS), len(si.joint_bias))]
    gamma, joint = rng.standard_normal(len(si.bias)), rng.standard_normal(len(si.joint_bias))
    other = si.in_units(length, mass, time)
    gamma_other, joint_other = si.impulses_in_units(gamma, joint, length, mass, time)
    _, growth = si.impulses_in_units(gamma, np.ones(len(joint)), length, mass, time)
    one = ContactProblem(**si.block_arguments(), joint_bounds=bounds, law=law)
    two = ContactProblem(**other.block_arguments(), joint_bounds=bounds * growth[:, None], law=law)
    pairs = zip(
        certify(one, gamma, joint, None).rows, certify(two, gamma_other, joint_other, None).rows, strict=True
    )
    for first, second in pairs:
        np.testing.assert_allclose(second.relative, first.relative, rtol=1e-7, atol=1e-12, err_msg=first.name)


def judged(impulse: float, speed: float, bounds: tuple[float, float]) -> Any:
    """The certificate of one row with this impulse and this velocity; N = 4, so that ρ = 1/4."""
    problem = box(np.array([[4.0]]), np.array([speed - 4.0 * impulse]), [bounds])
    return certify(problem, np.zeros(0), np.array([impulse]), None)


@pytest.mark.parametrize(
    ("impulse", "speed", "bounds", "right"),
    [
        (0.2, -1.0, RUBS, True), (-0.2, 1.0, RUBS, True), (0.1, 0.0, RUBS, True), (0.2, 0.0, RUBS, True),
        (0.2, 1.0, RUBS, False), (0.1, 0.5, RUBS, False), (0.3, 0.0, RUBS, False),
        (0.0, 1.0, LIMIT, True), (5.0, 0.0, LIMIT, True), (0.0, -1.0, LIMIT, False), (5.0, 1.0, LIMIT, False),
        (-1.0, 0.0, LIMIT, False), (0.3, -1.0, BELOW, True), (-7.0, 0.0, BELOW, True),
        (0.3, 1.0, BELOW, False), (0.0, 3.0, SHUT, True), (0.0, -3.0, SHUT, True), (0.1, 0.0, SHUT, False),
        (3.0, 0.0, HOLDS, True), (3.0, 0.1, HOLDS, False),
    ],
)  # fmt: skip
def test_the_law_of_one_row(impulse: float, speed: float, bounds: tuple[float, float], right: bool) -> None:
    """−w ∈ N(λ) by hand; exactly then the residual is rounding."""
    residual = judged(impulse, speed, bounds).residual
    assert residual < 1e-12 if right else residual > 1e-3


def test_rows_of_the_certificate_say_what_is_wrong() -> None:
    beyond = judged(0.5, 0.0, RUBS)
    assert beyond.cone.absolute == pytest.approx(0.3)
    assert beyond.natural_map.absolute == pytest.approx(0.3)
    towards = judged(5.0, -0.5, LIMIT)
    assert towards.dual_cone.absolute == pytest.approx(0.5)
    assert towards.cone.absolute == 0.0
    assert towards.natural_map.absolute == pytest.approx(0.5 / 4.0)
    assert towards.complementarity.absolute == pytest.approx(2.5)
    assert towards.dissipation == 0.0  # a limit is no friction
    off = judged(0.1, 0.5, RUBS)
    assert off.complementarity.absolute == pytest.approx(0.3 * 0.5)
    assert off.friction_gain.absolute == pytest.approx(0.05)
    assert off.dissipation == pytest.approx(-0.5 * 0.1 * (0.5 + (0.5 - 0.4)))
    for certificate in (beyond, towards, off):
        assert certificate.joint_drift.absolute == 0.0
    assert judged(3.0, 0.1, HOLDS).joint_drift.absolute == pytest.approx(0.1)


def test_what_is_not_a_number_does_not_hold() -> None:
    problem = box(np.eye(2), np.ones(2), [RUBS, LIMIT])
    assert np.isnan(certify(problem, np.zeros(0), np.array([np.nan, 0.0]), None).residual)
    assert np.isnan(
        problem.scales.relative_residual(problem.cones, np.zeros((2, 3)), np.full((2, 3), np.nan))
    )


def test_zero_impulses_judge_as_one() -> None:
    """S is the residual of doing nothing, which a bound cuts: 0.2 of 1/4·8 = 2 N·s, over √ρ = 1/2."""
    problem = box(np.array([[4.0]]), np.array([8.0]), [RUBS])
    assert problem.scales.total == pytest.approx(0.4)
    assert certify(problem, np.zeros(0), np.zeros(1), None).residual == pytest.approx(1.0)


def test_siconos_error_cuts_at_the_bounds() -> None:
    problem = box(np.array([[1.0]]), np.array([-3.0]), [RUBS])
    assert siconos_error(problem, [], [0.2]) == 0.0
    assert siconos_error(problem, [], [0.1]) == pytest.approx(0.1 / 3.0)
    solution = ns.solve(slider_at_stop(), tolerance=1e-9, measure="both")
    assert siconos_error(solution.problem, solution.impulses, solution.joint_impulses) <= 1e-9


# ---- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["block_arguments", "matrix_arguments", "delassus_arguments"])
def test_our_files_keep_bounds(scene: Any, form: str, tmp_path: Path) -> None:
    s = scene(1)
    bounds = np.array(KINDS)[np.arange(len(s.joint_bias)) % len(KINDS)]
    problem = ContactProblem(**getattr(s, form)(), joint_bounds=bounds)
    write_problem(problem, tmp_path / "x.h5")
    other = read_problem(tmp_path / "x.h5")
    np.testing.assert_array_equal(other.joint_bounds, problem.joint_bounds)
    np.testing.assert_array_equal(other.layout.block_kind, problem.layout.block_kind)
    with h5py.File(tmp_path / "x.h5") as file:
        assert file.attrs["version"] == 2
        assert file["joint_bounds"].attrs["unit"].decode() == "N·s, N·m·s"


def test_files_without_bounds_stay_as_they_were(tmp_path: Path) -> None:
    write_problem(NAMED["held-on-belt"].build(), tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        assert file.attrs["version"] == 1
        assert "joint_bounds" not in file
    np.testing.assert_array_equal(read_problem(tmp_path / "x.h5").joint_bounds, [HOLDS] * 5)


def test_wrong_bounds_in_a_file(tmp_path: Path) -> None:
    write_problem(slider_at_stop(), tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "a") as file:
        file["joint_bounds"][4] = [0.1, 0.2]
    with pytest.raises(FileFormatError, match=r"no valid problem: joint_bounds\[4\] is \[0.1, 0.2\]"):
        read_problem(tmp_path / "x.h5")


def test_formats_of_others_do_not_hold_bounds(tmp_path: Path) -> None:
    for write, words in (
        (write_fclib, "joint rows have bounds, which FCLib files do not store: keep them with write_problem"),
        (write_siconos, "6 joint rows, and Siconos text files store contacts only: use write_problem"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            write(slider_at_stop(), tmp_path / "x")
        assert list(tmp_path.iterdir()) == []
