"""Semismooth Newton: its equations, order of convergence, hard starts and dead ends; and `Auto` around it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from nonsmooth.complementarity.kernels.semismooth import fischer_burmeister, merit_function
from nonsmooth.complementarity.library.entry import NamedProblem
from nonsmooth.complementarity.library.grasps import grasps
from nonsmooth.complementarity.library.named import NAMED
from nonsmooth.complementarity.newton_system import NewtonSystem
from nonsmooth.complementarity.problem import LCP, MCP, MNCP
from nonsmooth.complementarity.solve import solve
from nonsmooth.complementarity.solvers.auto import Auto
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.iteration.status import Status

INF = np.inf
ROOT = math.sqrt(1.5)


def phi_of(z: float, f: float, lower: float, upper: float) -> tuple[float, float, float]:
    parts = np.empty((3, 1))
    merit_function(*(np.array([x], dtype=float) for x in (z, f, lower, upper)), *parts)
    return tuple(parts[:, 0])


# The functions.

phi = njit(lambda a, b: fischer_burmeister(a, b))
sizes = st.floats(-1e6, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1e-9, -1e-9, 1e-200, 1.0])


@given(sizes, sizes)
def test_fischer_burmeister_is_as_large_as_the_minimum(a: float, b: float) -> None:
    """(2 − √2)|min| ≤ |φ| ≤ (2 + √2)|min| (Tseng): its zeros are those of the natural map."""
    value, least = phi(a, b)[0], abs(min(a, b))
    assert (2.0 - math.sqrt(2.0)) * least * (1.0 - 1e-12) <= abs(value)
    assert abs(value) <= (2.0 + math.sqrt(2.0)) * least * (1.0 + 1e-12)


@given(sizes, sizes)
def test_slopes_of_fischer_burmeister_lie_on_their_circle(a: float, b: float) -> None:
    _, by_a, by_b = phi(a, b)
    assert (1.0 - by_a) ** 2 + (1.0 - by_b) ** 2 == pytest.approx(1.0, abs=1e-14)
    assert by_a >= 0.0
    assert by_b >= 0.0


BOUNDS = st.sampled_from([(0.0, INF), (-INF, 0.0), (-1.0, 2.0), (-INF, INF), (0.5, 0.5)])


@given(sizes, sizes, BOUNDS)
def test_phi_is_zero_exactly_where_the_natural_map_is(
    z: float, f: float, bounds: tuple[float, float]
) -> None:
    lower, upper = bounds
    problem = MCP(lambda x: x, [lower], [upper], jacobian=lambda x: np.eye(1))
    natural = abs(problem.natural_map(np.array([z]), np.array([f]))[0])
    value = abs(phi_of(z, f, lower, upper)[0])
    assert 0.1 * natural <= value <= 12.0 * natural


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), BOUNDS)
def test_slopes_of_phi_are_those_of_differences(z: float, f: float, bounds: tuple[float, float]) -> None:
    lower, upper = bounds
    near_kink = min(math.hypot(z - bound, f) for bound in (*bounds, 1e9) if math.isfinite(bound))
    if near_kink < 1e-2:
        return
    _, by_z, by_f = phi_of(z, f, lower, upper)
    h = 1e-6
    slope_z = (phi_of(z + h, f, lower, upper)[0] - phi_of(z - h, f, lower, upper)[0]) / (2.0 * h)
    slope_f = (phi_of(z, f + h, lower, upper)[0] - phi_of(z, f - h, lower, upper)[0]) / (2.0 * h)
    assert (by_z, by_f) == pytest.approx((slope_z, slope_f), abs=1e-6)


# Linear algebra.


@pytest.mark.parametrize("size", [7, 300])
def test_directions_solve_their_systems_dense_and_sparse(size: int) -> None:
    rng = np.random.default_rng(size)
    jacobian = sp.csr_array(sp.random_array((size, size), density=0.3, rng=rng)) + sp.eye_array(
        size, format="csr"
    )
    by_z, by_f, phi = rng.random(size), rng.random(size), rng.standard_normal(size)
    by_f[::3] = 0.0  # rows that give their component alone
    matrix = np.diag(by_z) + by_f[:, None] * jacobian.toarray()
    system = NewtonSystem(jacobian, by_z, by_f)
    np.testing.assert_allclose(system.direction(phi), np.linalg.solve(matrix, -phi), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(system.gradient(phi), matrix.T @ phi, rtol=1e-12, atol=1e-12)
    free = rng.random(size) < 0.7
    part = matrix[:, free]
    damped = np.zeros(size)
    damped[free] = np.linalg.solve(part.T @ part + 0.1 * np.eye(free.sum()), -part.T @ phi)
    np.testing.assert_allclose(system.damped_direction(phi, 0.1, free), damped, atol=1e-9)


@pytest.mark.parametrize("size", [3, 200])
def test_a_singular_system_has_no_direction(size: int) -> None:
    assert (
        NewtonSystem(sp.csr_array((size, size)), np.zeros(size), np.ones(size)).direction(np.ones(size))
        is None
    )


# Known answers.


def josephy(start: tuple[float, ...], ten: bool = False) -> MCP:
    c2, d3, q3 = (10.0, 9.0, 9.0) if ten else (3.0, 3.0, 1.0)

    def function(z: np.ndarray) -> np.ndarray:
        a, b, c, d = z
        return np.array(
            [
                3 * a**2 + 2 * a * b + 2 * b**2 + c + 3 * d - 6,
                2 * a**2 + b**2 + a + c2 * c + 2 * d - 2,
                3 * a**2 + a * b + 2 * b**2 + 2 * c + d3 * d - q3,
                a**2 + 3 * b**2 + 2 * c + 3 * d - 3,
            ]
        )

    return MCP(function, np.zeros(4), INF, jacobian="complex-step", start=np.array(start))


STARTS = [
    (0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0),
    (100.0, 100.0, 100.0, 100.0),
    (1.0, 0.0, 1.0, 0.0),
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (0.0, 1.0, 0.0, 1.0),
    (1.25, 0.0, 0.0, 0.5),
]


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("start", STARTS)
def test_josephy_from_every_start(start: tuple[float, ...], feasible: bool) -> None:
    found = solve(josephy(start), SemismoothNewton(feasible=feasible), tolerance=1e-11)
    np.testing.assert_allclose(found.point, [ROOT, 0.0, 0.0, 0.5], atol=1e-9)


@pytest.mark.parametrize("start", STARTS)
def test_kojshin_from_every_start(start: tuple[float, ...]) -> None:
    found = solve(josephy(start, ten=True), SemismoothNewton(), tolerance=1e-12)
    answers = np.array([[ROOT, 0.0, 0.0, 0.5], [1.0, 0.0, 3.0, 0.0]])
    assert np.abs(answers - found.point).max(axis=1).min() < 1e-5  # the first is degenerate: √tolerance


def billups(start: float) -> MCP:
    return MCP(
        lambda z: (z - 1.0) ** 2 - 1.01, [0.0], INF, jacobian=lambda z: 2.0 * (z[None] - 1.0), start=[start]
    )


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0, 2.0, 100.0])
def test_billups_is_left_by_proximal_problems(start: float) -> None:
    found = solve(billups(start), SemismoothNewton(restarts=0), tolerance=1e-10)
    assert found.point[0] == pytest.approx(1.0 + math.sqrt(1.01), abs=1e-9)
    if start == 0.0:
        assert "proximal problem" in found.statistics.note


def test_billups_without_a_rescue_is_stationary_and_said_to_be() -> None:
    found = solve(billups(0.0), SemismoothNewton(proximal=False, restarts=0), throw=False)
    assert found.status is Status.STATIONARY
    assert found.certificate.residual == pytest.approx(0.01)


def test_billups_by_restarts_alone() -> None:
    found = solve(billups(0.0), SemismoothNewton(proximal=False, restarts=20))
    assert "restart" in found.statistics.note


def optimal_control(steps: int, y: tuple[float, float]) -> LCP:
    """Bertsekas 1982: states, controls within [−1, 1] and free multipliers of the dynamics."""
    s, one, none = 1.0 / steps, sp.eye_array(steps), sp.csr_array((steps, steps))
    before = sp.eye_array(steps, k=-1)
    dynamics = sp.block_array([[before - one, s * before, none], [-s * before, before - one, s * one]])
    cost = sp.diags_array(np.repeat([2.0 * s, s, 6.0 * s], steps))
    vector = np.zeros(5 * steps)
    vector[[3 * steps, 4 * steps]] = y[0] + s * y[1], y[1] - s * y[0]
    bound = np.repeat([INF, INF, 1.0, INF, INF], steps)
    matrix = sp.block_array([[cost, dynamics.T], [dynamics, None]])
    return LCP(matrix, vector, lower=-bound, upper=bound)


@pytest.mark.parametrize(
    ("y", "steps", "cost", "at_bound"),
    [
        ((15, 5), 100, 236.401388, 18),
        ((10, 10), 1000, 182.301037, 366),
        ((5, 15), 1000, 185.736528, 536),
        ((20, 0), 10_000, 344.765908, 307),
        ((5, 15), 10_000, 185.600795, 5359),
    ],
)
def test_optimal_control_has_the_known_costs(y, steps: int, cost: float, at_bound: int) -> None:
    found = solve(optimal_control(steps, y), SemismoothNewton(), tolerance=1e-10)
    y1, y2, u = found.point[: 3 * steps].reshape(3, steps)
    assert 0.5 / steps * (2.0 * y1 @ y1 + y2 @ y2 + 6.0 * u @ u) == pytest.approx(cost, abs=5e-7)
    assert np.count_nonzero(np.abs(u) == 1.0) == at_bound
    assert found.statistics.iterations <= 6


def test_convergence_is_quadratic() -> None:
    """Fischer-Burmeister steps alone: each residual is at most a constant times the square of the last."""
    problem = MCP(
        lambda z: np.exp(z) + z @ z - 3.0, np.full(3, -1.0), [0.1, 9.0, 9.0], jacobian="complex-step"
    )
    found = solve(problem, SemismoothNewton(active_set=False), tolerance=1e-14, start=np.ones(3))
    merits = np.array([entry.merit for entry in found.statistics.history])
    norms = np.sqrt(2.0 * merits)
    tail = [(before, after) for before, after in pairwise(norms) if 1e-7 < before < 1e-1]
    assert len(tail) >= 2
    assert all(after <= 5.0 * before**2 for before, after in tail)


@given(st.integers(0, 100_000), st.integers(1, 12), st.booleans())
@settings(max_examples=60)
def test_random_monotone_problems_with_a_known_solution(seed: int, size: int, feasible: bool) -> None:
    """M = AAᵀ + skew part + I is positive definite: the solution it was built around is the only one."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, size, size))
    matrix = A @ A.T + B - B.T + np.eye(size)
    lower = rng.choice([-INF, -1.0, 0.0], size)
    upper = rng.choice([INF, 1.0, 2.0], size)
    where = rng.integers(0, 3, size)
    at_lower, at_upper = (where == 0) & np.isfinite(lower), (where == 1) & np.isfinite(upper)
    answer = np.clip(rng.uniform(-1.0, 1.0, size), lower + 0.1, upper - 0.1)
    answer = np.where(at_lower, lower, np.where(at_upper, upper, answer))
    value = np.where(at_lower, rng.random(size), np.where(at_upper, -rng.random(size), 0.0))  # degenerate too
    problem = LCP(matrix, value - matrix @ answer, lower=lower, upper=upper)
    found = solve(problem, SemismoothNewton(feasible=feasible, restarts=0), tolerance=1e-9)
    assert np.linalg.norm(found.point - answer) <= 1e-7 * (1.0 + np.linalg.norm(matrix))


@given(st.integers(0, 100_000))
@settings(max_examples=40)
def test_nonlinear_monotone_problems_are_solved_within_the_bounds(seed: int) -> None:
    """A gradient of a convex function plus a monotone linear part; logarithms are defined for z > 0 only."""
    rng = np.random.default_rng(seed)
    size = 8
    A = rng.standard_normal((size, size))
    matrix, vector = A @ A.T, 3.0 * rng.standard_normal(size)

    def function(z: np.ndarray) -> np.ndarray:
        assert (z >= 1e-3).all()
        return matrix @ z + np.log(z) + z**3 + vector

    found = solve(MCP(function, np.full(size, 1e-3), 5.0), SemismoothNewton(restarts=0), tolerance=1e-8)
    assert found.status is Status.SOLVED


@pytest.mark.parametrize("problem", NAMED.values(), ids=lambda problem: problem.name)
def test_every_named_problem_from_every_start(problem: NamedProblem) -> None:
    for start in problem.starts.values():
        found = solve(problem.build(), SemismoothNewton(restarts=0), start=start, tolerance=1e-10)
        assert not problem.references or problem.agrees(found.point, 1e-8)


def test_grasps_whose_contacts_break_are_solved_where_the_jacobian_is_singular() -> None:
    """λ of a broken contact is not determined, and the cone's gradient vanishes there."""
    broken = 0
    for grasp in grasps(60):
        found = solve(grasp.rolling(), SemismoothNewton(restarts=0), tolerance=1e-10)
        broken += bool((found.point[:2] < 1e-6).any())
    assert broken > 10


def linear_program(rng: np.random.Generator, variables: int, constraints: int) -> LCP:
    """Optimality of min cᵀx, Ax ≥ b, x ≥ 0, built around an optimum; the matrix is skew and singular."""
    A = sp.random_array((constraints, variables), density=0.1, rng=rng, data_sampler=rng.standard_normal)
    x = np.where(rng.random(variables) < 0.5, 0.0, rng.random(variables))
    y = np.where(rng.random(constraints) < 0.5, 0.0, rng.random(constraints))
    b = A @ x - np.where(y == 0.0, rng.random(constraints), 0.0)
    c = A.T @ y + np.where(x == 0.0, rng.random(variables), 0.0)
    return LCP(sp.block_array([[None, -A.T], [A, None]]), np.concatenate([c, -b]))


@pytest.mark.parametrize("size", [20, 150])
def test_linear_programs_are_solved_in_silence(size: int, capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(4):
        solve(linear_program(np.random.default_rng(seed), size, size // 2), SemismoothNewton())
    assert capfd.readouterr() == ("", "")


# Dead ends.


def test_no_root_is_stationary_not_solved() -> None:
    problem = MCP(lambda z: z**2 + 1.0, [-INF], INF, jacobian=lambda z: 2.0 * z[None], start=[1.0])
    found = solve(problem, SemismoothNewton(restarts=2), throw=False)
    assert found.status is Status.STATIONARY
    assert found.certificate.residual == pytest.approx(1.0)


def test_a_trial_that_is_not_finite_is_a_failed_trial() -> None:
    problem = MCP(lambda z: np.log(z) - 3.0, [-INF], INF, start=[1e3])  # the full step leads below zero
    found = solve(problem, SemismoothNewton(), tolerance=1e-10)
    assert found.point[0] == pytest.approx(math.exp(3.0), rel=1e-9)


@pytest.mark.parametrize("start", [-700.0, -5.0, 3.0, 6.5])
def test_overflow_is_a_failed_trial_and_warns_of_nothing(start: float) -> None:
    problem = MCP(lambda z: np.exp(np.exp(z)) - 3.0, [-INF], INF, start=[start])
    found = solve(problem, SemismoothNewton(), tolerance=1e-10)
    assert found.point[0] == pytest.approx(math.log(math.log(3.0)), abs=1e-9)


def test_nowhere_to_go_is_undefined() -> None:
    def only_here(z: np.ndarray) -> np.ndarray:
        return np.where(z == 1.0, z - 3.0, np.nan)

    problem = MCP(only_here, [0.0], INF, jacobian=lambda z: np.eye(1), start=[1.0])
    assert solve(problem, SemismoothNewton(), throw=False).status is Status.UNDEFINED
    problem = MCP(lambda z: z - 3.0, [0.0], INF, jacobian=lambda z: np.array([[np.nan]]))
    assert solve(problem, SemismoothNewton(), throw=False).status is Status.UNDEFINED


def test_a_tolerance_below_rounding_ends_stalled() -> None:
    problem = MCP(lambda z: np.exp(z) - 2.0, [-INF], INF, jacobian=lambda z: np.diag(np.exp(z)))
    found = solve(problem, SemismoothNewton(), tolerance=1e-300, throw=False)
    assert found.status in (Status.STALLED, Status.SOLVED)
    assert found.certificate.residual <= 1e-15
    assert found.statistics.iterations < 50


def test_a_singular_jacobian_at_the_start_is_got_over() -> None:
    found = solve(billups(1.0), SemismoothNewton(proximal=False, restarts=0), tolerance=1e-10)
    assert found.status is Status.SOLVED


def test_other_numbers_of_functions_and_bad_options_are_refused() -> None:
    problem = MNCP(lambda u, v: u - 1.0, lambda u, v: np.array([u[0] + v[0], v[0] + 1.0]), (1, 1, 2))
    with pytest.raises(UnsupportedError, match="as many functions as variables"):
        solve(problem, SemismoothNewton())
    with pytest.raises(OptionError, match="memory=0"):
        SemismoothNewton(memory=0)


def test_runs_are_repeatable_to_the_bit() -> None:
    points = [
        solve(billups(0.0), SemismoothNewton(proximal=False, restarts=20), throw=False).point
        for _ in range(2)
    ]
    assert points[0].tobytes() == points[1].tobytes()


# Auto.


def test_auto_picks_lemke_for_small_linear_problems_and_proves_what_has_no_solution() -> None:
    found = solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]))
    np.testing.assert_allclose(found.point, [4.0 / 3.0, 7.0 / 3.0])
    assert found.statistics.note.startswith("lemke")
    none = solve(LCP([[-1.0]], [-1.0]), throw=False)
    assert none.status is Status.INFEASIBLE


def test_auto_picks_newton_for_the_rest() -> None:
    for problem in (billups(0.0), optimal_control(100, (15, 5))):
        assert solve(problem, Auto(), tolerance=1e-9).statistics.note.startswith("semismooth-newton")


def test_auto_takes_more_equations_than_variables() -> None:
    problem = MNCP(
        lambda u, v: u - 1.0, lambda u, v: np.array([u[0] + v[0] - 3.0, u[0] - v[0] + 1.0]), (1, 1, 2)
    )
    found = solve(problem)
    np.testing.assert_allclose(found.point, [1.0, 2.0], atol=1e-7)
    assert found.statistics.note.startswith("box-trust-region")


def test_auto_adds_up_its_stages_and_says_how_each_ended() -> None:
    calls = 0

    def no_root(z: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return z**2 + 1.0

    problem = MCP(no_root, [-INF], INF, jacobian=lambda z: 2.0 * z[None], start=[1.0])
    found = solve(problem, Auto(restarts=1), throw=False)
    assert found.status is Status.STATIONARY
    assert found.statistics.note.count(", then ") == 2
    assert "box-trust-region ended" in found.statistics.note
    assert found.statistics.function_evaluations == calls


def test_auto_keeps_to_its_limits() -> None:
    problem = MCP(lambda z: z**2 + 1.0, [-INF], INF, start=[1.0])
    assert solve(problem, Auto(), max_iterations=7, throw=False).status is Status.ITERATION_LIMIT
    assert solve(problem, Auto(), max_iterations=7, throw=False).statistics.iterations == 7
