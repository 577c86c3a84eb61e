"""The core of the complementarity room: problems, bad input, certificates, and the shared loop."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from nonsmooth.complementarity import (
    LCP,
    MCP,
    MNCP,
    Goal,
    Iteration,
    SolveError,
    Solver,
    Status,
    certify,
    solve,
)
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.errors import OptionError, ProblemError

INF = np.inf


def shifted(z: np.ndarray) -> np.ndarray:
    return z - np.array([1.0, -2.0])


def plain(**options) -> MCP:
    """0 ≤ z ⟂ z − (1, −2): the answer is (1, 0)."""
    return MCP(shifted, np.zeros(2), INF, **options)


# Bad input: each has a defined outcome.


def test_a_function_of_the_wrong_length_is_named() -> None:
    problem = MCP(lambda z: np.append(z, 1.0), np.zeros(2), INF, name="mine")
    with pytest.raises(ProblemError, match=r"function of mine returned .* shape \(3,\) for 2 variables"):
        solve(problem, SemismoothNewton())
    with pytest.raises(ProblemError, match=r"returned an array of shape \(\)"):
        solve(MCP(lambda z: 1.0, np.zeros(2), INF), SemismoothNewton())


def test_f_or_g_of_the_wrong_length_is_named() -> None:
    with pytest.raises(ProblemError, match=r"g\(u, v\) returned an array of shape \(3,\)"):
        MNCP(lambda u, v: u, lambda u, v: np.ones(3), (1, 1)).value(np.ones(2))


def test_nan_at_the_start_is_undefined() -> None:
    problem = MCP(lambda z: np.log(z - 5.0), [0.0], INF)
    found = solve(problem, SemismoothNewton(), throw=False)
    assert found.status is Status.UNDEFINED
    assert math.isnan(found.certificate.residual)
    with pytest.raises(SolveError, match=r"'undefined'.*give another start"):
        solve(problem, SemismoothNewton())


def test_nan_at_a_trial_point_is_only_a_failed_trial() -> None:
    found = solve(MCP(lambda z: np.sqrt(z) - 2.0, [-INF], INF, start=[400.0]), SemismoothNewton())
    assert found.point[0] == pytest.approx(4.0, abs=1e-6)


def test_a_wrong_jacobian_is_found_on_request() -> None:
    problem = plain(jacobian=lambda z: np.array([[1.0, 0.0], [0.5, 1.0]]))
    with pytest.raises(ProblemError, match=r"row 1, column 0 is 0.5, but differences of the function give 0"):
        solve(problem, SemismoothNewton(), check_jacobian=True)
    solve(plain(jacobian=lambda z: np.eye(2)), SemismoothNewton(), check_jacobian=True)


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([0.0, 2.0], [1.0, 1.0], "variable 1 has lower bound 2 and upper bound 1"),
        ([0.0, INF], INF, "variable 1 has lower bound inf"),
        ([0.0, np.nan], INF, "a bound is NaN"),
        ([0.0, 0.0], [1.0, 1.0, 1.0], "one number for each variable"),
        ([[0.0, 0.0]], INF, "one number for each variable"),
        (0.0, INF, "single numbers"),
    ],
)
def test_bad_bounds_are_refused(lower, upper, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        MCP(shifted, lower, upper)


def test_single_numbers_are_bounds_where_the_start_gives_the_size() -> None:
    problem = MCP(shifted, 0.0, INF, start=[3.0, 3.0])
    assert (problem.size, problem.lower.tolist(), problem.upper.tolist()) == (2, [0.0, 0.0], [INF, INF])


def test_a_start_outside_the_bounds_is_projected_and_said() -> None:
    found = solve(plain(), SemismoothNewton(), start=[-1.0, -1.0])
    assert "2 components of the start were outside their bounds" in found.statistics.note
    assert plain(start=[-1.0, 5.0]).start.tolist() == [0.0, 5.0]
    np.testing.assert_allclose(found.point, [1.0, 0.0], atol=1e-8)


@pytest.mark.parametrize(
    ("start", "message"),
    [([1.0], r"shape \(1,\)"), ([1.0, np.nan], "not finite"), ([1.0, INF], "not finite")],
)
def test_a_bad_start_is_refused(start, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        solve(plain(), SemismoothNewton(), start=start)
    with pytest.raises(ProblemError, match=message):
        plain(start=start)


def test_a_wrong_problem_or_solver_is_refused_with_the_cure() -> None:
    with pytest.raises(OptionError, match=r"give an object, SemismoothNewton\(\)"):
        solve(plain(), SemismoothNewton)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give a solver object"):
        solve(plain(), "semismooth-newton")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give an MCP, LCP or MNCP"):
        solve(np.eye(2), SemismoothNewton())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"tolerance": 0.0}, {"tolerance": math.nan}, {"time_limit": -1.0}, {"max_iterations": -1}]
)
def test_bad_limits_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        solve(plain(), SemismoothNewton(), **options)


@pytest.mark.parametrize(
    ("matrix", "vector", "message"),
    [
        (np.eye(2), [1.0], "M must be square and as large as q"),
        (np.ones((2, 3)), [1.0, 1.0], "M must be square and as large as q"),
        ([[np.nan]], [1.0], "M has numbers that are not finite"),
        ([[1.0]], [INF], "q must be a one-dimensional array of finite numbers"),
    ],
)
def test_bad_linear_problems_are_refused(matrix, vector, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        LCP(matrix, vector)


def test_bad_sizes_are_refused() -> None:
    for sizes in ((1,), (1, -1), (1, 1, 1, 1)):
        with pytest.raises(ProblemError, match="sizes"):
            MNCP(lambda u, v: u, lambda u, v: v, sizes)


def test_the_function_cannot_change_its_argument() -> None:
    def greedy(z: np.ndarray) -> np.ndarray:
        z[0] = 7.0
        return z

    with pytest.raises(ValueError, match="read-only"):
        MCP(greedy, np.zeros(2), INF).value(np.ones(2))


# Problems.


def test_an_mncp_is_an_mcp_with_free_variables() -> None:
    problem = MNCP(lambda u, v: u * v[:2], lambda u, v: v - 1.0, (2, 3), start=([1.0, 2.0], [3.0, 4.0, 5.0]))
    assert problem.size == problem.rows == 5
    assert problem.start.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert problem.value(problem.start).tolist() == [3.0, 8.0, 2.0, 3.0, 4.0]
    found = solve(problem, SemismoothNewton())
    u, v = found.split()
    np.testing.assert_allclose(u, 0.0, atol=1e-7)
    np.testing.assert_allclose(v, 1.0, atol=1e-8)


def test_the_jacobian_of_an_mncp_is_called_with_u_and_v() -> None:
    problem = MNCP(
        lambda u, v: u * v, lambda u, v: v - 1.0, (1, 1), jacobian=lambda u, v: [[v[0], u[0]], [0.0, 1.0]]
    )
    np.testing.assert_array_equal(problem.jacobian(np.array([2.0, 3.0])).toarray(), [[3.0, 2.0], [0.0, 1.0]])


@given(st.integers(0, 100_000))
def test_the_natural_map_is_zero_exactly_at_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 5
    lower = rng.choice([-INF, -1.0, 0.0], size)
    upper = rng.choice([INF, 1.0, 0.0], size)
    z = np.clip(rng.choice([-1.0, 0.0, 0.5, 1.0], size), lower, upper)
    value = rng.choice([-1.0, 0.0, 2.0], size)
    problem = MCP(lambda _: value, lower, upper, jacobian=lambda _: np.zeros((size, size)))
    good = (value == 0.0) | ((z == lower) & (value > 0.0)) | ((z == upper) & (value < 0.0))
    assert ((problem.natural_map(z, value) == 0.0) == (good | (lower == upper))).all()


# Certificates.


def test_a_certificate_by_hand() -> None:
    """z = (2, −0.5, 3, 0.5), F = (3, 1, −2, −4) within [0, ∞), [0, ∞), free, [0, 1]."""
    value = np.array([3.0, 1.0, -2.0, -4.0])
    problem = MCP(lambda z: value, [0.0, 0.0, -INF, 0.0], [INF, INF, INF, 1.0])
    found = certify(problem, np.array([2.0, -0.5, 3.0, 0.5]))
    assert found.bounds == 0.5
    assert found.signs == 2.0
    assert found.complementarity == 6.0  # 2·3 against 0.5·1 and (1 − 0.5)·4
    assert found.natural_map == found.residual == 2.0  # min(2, 3) and |−2|
    assert found.worst_row == 0
    assert not found.holds(1.9)
    assert found.holds(2.0)
    assert "worst row" in str(found)


def test_a_certificate_where_the_function_is_not_finite_holds_for_nothing() -> None:
    found = certify(MCP(np.log, [-INF], INF), np.array([-1.0]))
    assert math.isnan(found.residual)
    assert found.worst_row == -1
    assert not found.holds(INF)


def test_a_problem_without_variables_is_solved() -> None:
    found = solve(LCP(np.zeros((0, 0)), []), SemismoothNewton())
    assert found.status is Status.SOLVED
    assert found.certificate.worst_row == -1


# The loop.


@dataclass(frozen=True)
class Walk(Solver):
    """Steps z ← z − F/2 within the bounds, and stops with a status after so many."""

    name: ClassVar[str] = "walk"
    summary: ClassVar[str] = "a toy"
    default_iterations: ClassVar[int] = 100
    steps: int = 1000
    ends: Status = Status.SOLVED
    """What it says at the end."""

    def begin(self, problem: MCP, start: np.ndarray, goal: Goal) -> Iteration:
        return _Walking(problem, start, goal, self)


class _Walking(Iteration):
    def __init__(self, problem: MCP, start: np.ndarray, goal: Goal, solver: Walk) -> None:
        super().__init__(problem, start, goal)
        self.solver, self.done = solver, 0

    def advance(self, count: int, stop: float) -> int:
        self.point = self.problem.clip(self.point - 0.5 * self.value)
        self.value = self.evaluate.value(self.point)
        self.done += 1
        if self.done == self.solver.steps:
            self.outcome = self.solver.ends
        return 1


def test_the_loop_stops_at_the_tolerance_and_keeps_the_history() -> None:
    found = solve(plain(), Walk(), start=[5.0, 0.0], tolerance=1e-3)
    residuals = [entry.residual for entry in found.statistics.history]
    assert residuals == [4.0 / 2**k for k in range(13)]  # the twelfth halving of 4 is the first below 1e-3
    assert [entry.iteration for entry in found.statistics.history] == list(range(13))
    assert [entry.evaluations for entry in found.statistics.history] == list(range(1, 14))
    assert found.statistics.function_evaluations == 13


def test_a_start_that_is_a_solution_takes_no_iteration() -> None:
    found = solve(plain(), Walk(), start=[1.0, 0.0])
    assert (found.status, found.statistics.iterations) == (Status.SOLVED, 0)


def test_a_run_that_says_solved_and_is_not_is_stalled() -> None:
    found = solve(plain(), Walk(steps=3), start=[5.0, 0.0], throw=False)
    assert found.status is Status.STALLED
    assert found.certificate.residual == 0.5


@pytest.mark.parametrize("status", [Status.STATIONARY, Status.RAY, Status.INFEASIBLE, Status.FAILED])
def test_every_other_end_is_passed_on(status: Status) -> None:
    found = solve(plain(), Walk(steps=3, ends=status), start=[5.0, 0.0], throw=False)
    assert found.status is status
    with pytest.raises(SolveError, match=f"'{status}'") as caught:
        solve(plain(), Walk(steps=3, ends=status), start=[5.0, 0.0])
    assert caught.value.solution.status is status
    assert status.sentence in str(caught.value)


def test_limits_of_iterations_and_time() -> None:
    found = solve(plain(), Walk(), start=[5.0, 0.0], max_iterations=4, throw=False)
    assert (found.status, found.statistics.iterations) == (Status.ITERATION_LIMIT, 4)
    assert solve(plain(), Walk(), start=[5.0, 0.0], max_iterations=0, throw=False).statistics.iterations == 0
    found = solve(MCP(lambda z: np.ones(1), [-INF], INF), Walk(), throw=False)
    assert found.statistics.iterations == Walk.default_iterations
    assert solve(plain(), Walk(), start=[5.0, 0.0], time_limit=1e-9, throw=False).status is Status.TIME_LIMIT


def test_the_time_limit_does_not_count_what_kernels_take_to_compile() -> None:
    compiling = []

    def function(z: np.ndarray) -> np.ndarray:
        if not compiling:
            began = time.perf_counter()
            numba.njit(lambda values: np.linalg.norm(values) + values.sum())(np.ones(3))
            compiling.append(time.perf_counter() - began)
        return shifted(z)

    solve(plain(), SemismoothNewton())  # all of the package's own kernels are there then
    found = solve(MCP(function, np.zeros(2), INF), SemismoothNewton())
    assert found.statistics.time < 0.5 * compiling[0]


def test_the_best_point_is_returned_and_cannot_be_written() -> None:
    found = solve(MCP(lambda z: 5.0 * z, [-INF], INF), Walk(), start=[1.0], max_iterations=5, throw=False)
    assert found.point[0] == 1.0  # each step leads to −1.5 z
    with pytest.raises(ValueError, match="read-only"):
        found.point[0] = 0.0


def test_a_function_with_two_answers_at_one_point_is_never_solved() -> None:
    answers = iter([5.0, *[0.0] * 1, *[7.0] * 10])
    found = solve(MCP(lambda z: np.array([next(answers)]), [-INF], INF), Walk(), throw=False)
    assert found.status is Status.STALLED


def test_a_solution_starts_the_next_solve() -> None:
    first = solve(plain(), Walk(), start=[5.0, 0.0])
    assert solve(plain(), SemismoothNewton(), start=first).statistics.iterations == 0
    assert "solved, residual=" in repr(first)
    assert repr(plain(name="toy")) == "MCP(toy, 2 variables)"


def test_sparse_matrices_of_every_kind_are_taken() -> None:
    for matrix in (sp.csc_array(np.eye(2)), sp.coo_matrix(np.eye(2)), sp.eye_array(2), np.eye(2, dtype=int)):
        assert solve(LCP(matrix, [-1.0, 2.0]), SemismoothNewton()).point.tolist() == [1.0, 0.0]
        problem = plain(jacobian=lambda z, matrix=matrix: matrix)
        np.testing.assert_allclose(solve(problem, SemismoothNewton()).point, [1.0, 0.0], atol=1e-8)


def test_evaluations_for_differences_are_counted_apart() -> None:
    found = solve(plain(), SemismoothNewton(), start=[5.0, 3.0])
    statistics = found.statistics
    assert statistics.difference_evaluations == 2 * statistics.jacobian_evaluations > 0
    assert (
        solve(plain(jacobian=lambda z: np.eye(2)), SemismoothNewton()).statistics.difference_evaluations == 0
    )


def test_a_start_of_the_problem_outside_its_bounds_is_said_too():
    problem = MCP(lambda z: z - 2.0, [0.0], [10.0], start=[30.0])
    assert "1 components of the start" in solve(problem).statistics.note


def test_complex_values_are_refused():
    with pytest.raises(ProblemError, match="complex numbers"):
        solve(MCP(lambda z: z - 2.0 + 5j, [0.0], [np.inf]))


def test_a_large_linear_problem_without_solution_is_proved_to_have_none():
    matrix = sp.eye_array(4000).tolil()
    matrix[0, 0] = 0.0
    found = solve(LCP(matrix, -np.ones(4000)), throw=False)
    assert found.status is Status.INFEASIBLE
    assert "misses a required sign" in found.statistics.note
