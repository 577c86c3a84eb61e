"""Problem (2) of Andreani et al., its minimisation on a box by BOX-QUACAN, and by the libraries' methods."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from nonsmooth.complementarity.base import Evaluations
from nonsmooth.complementarity.library import optimal_control
from nonsmooth.complementarity.problem import LCP, MCP, MNCP
from nonsmooth.complementarity.quadratic_on_box import Quadratic, minimise_quadratic, rows_of
from nonsmooth.complementarity.reformulation import Reformulation
from nonsmooth.complementarity.solve import solve
from nonsmooth.complementarity.solvers.bounded_minimiser import METHODS, BoundedMinimiser
from nonsmooth.complementarity.solvers.box_trust_region import BoxTrustRegion, TrustRegionOptions
from nonsmooth.complementarity.solvers.box_trust_region import minimise as minimise_on_box
from nonsmooth.errors import MissingSolverError, OptionError
from nonsmooth.iteration.status import Status

FREE = math.inf


def random_box(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds around 0, some of which are 0."""
    return -rng.choice([0.0, 0.5, 3.0], n), rng.choice([0.0, 0.5, 3.0], n)


def kkt_error(quadratic: Quadratic, step: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Largest component of p − mid(low, p − q'(p), high)."""
    slope = quadratic.gradient + quadratic.product(step)
    return float(np.abs(step - np.clip(step - slope, low, high)).max())


class TestQuadraticOnBox:
    def test_the_inside_minimum_is_the_linear_solution(self) -> None:
        jacobian = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 3.0]])
        gradient = np.array([1.0, -2.0, 0.5])
        found = minimise_quadratic(
            Quadratic(gradient, rows_of(jacobian)), np.full(3, -100.0), np.full(3, 100.0), accuracy=1e-12
        )
        expected = np.linalg.solve(jacobian.T @ jacobian, -gradient)
        np.testing.assert_allclose(found.step, expected, rtol=1e-10)
        assert found.converged
        assert found.change == pytest.approx(0.5 * gradient @ expected, rel=1e-12)

    def test_a_diagonal_quadratic_is_cut_off_at_its_bounds(self) -> None:
        diagonal, gradient = np.array([1.0, 4.0, 9.0, 1.0]), np.array([2.0, -2.0, 90.0, 0.0])
        low, high = np.full(4, -1.0), np.full(4, 1.0)
        found = minimise_quadratic(Quadratic(gradient, symmetric=rows_of(np.diag(diagonal))), low, high)
        np.testing.assert_allclose(found.step, np.clip(-gradient / diagonal, low, high), atol=1e-12)

    def test_a_concave_quadratic_goes_to_a_corner(self) -> None:
        found = minimise_quadratic(
            Quadratic(np.array([0.1, -0.2, 0.3]), symmetric=rows_of(-np.eye(3))), -np.ones(3), np.ones(3)
        )
        np.testing.assert_array_equal(found.step, [-1.0, 1.0, -1.0])
        assert found.change == pytest.approx(-1.5 - 0.6)

    def test_what_has_no_curvature_goes_to_its_bound(self) -> None:
        found = minimise_quadratic(
            Quadratic(np.array([1.0, -1.0])), np.array([-2.0, 0.0]), np.array([1.0, 5.0])
        )
        np.testing.assert_array_equal(found.step, [-2.0, 5.0])

    def test_a_box_without_room_is_left_alone(self) -> None:
        found = minimise_quadratic(Quadratic(np.ones(3), rows_of(np.eye(3))), np.zeros(3), np.zeros(3))
        np.testing.assert_array_equal(found.step, 0.0)
        assert (found.change, found.products, found.converged) == (0.0, 0, True)

    def test_the_limit_of_products_is_kept(self) -> None:
        rng = np.random.default_rng(0)
        jacobian = rng.standard_normal((60, 60))
        found = minimise_quadratic(
            Quadratic(rng.standard_normal(60), rows_of(jacobian)),
            np.full(60, -1e6), np.full(60, 1e6), accuracy=1e-12, max_products=7,
        )  # fmt: skip
        assert not found.converged
        assert found.products == found.iterations == 7

    @given(seed=st.integers(0, 10**6), n=st.integers(1, 12), rows=st.integers(1, 14))
    def test_convex_ones_agree_with_scipy(self, seed: int, n: int, rows: int) -> None:
        rng = np.random.default_rng(seed)
        jacobian, residual = rng.standard_normal((rows, n)), rng.standard_normal(rows)
        low, high = random_box(rng, n)
        high = np.where(high == low, 1.0, high)  # scipy wants room
        quadratic = Quadratic(jacobian.T @ residual, rows_of(jacobian))
        found = minimise_quadratic(quadratic, low, high, accuracy=1e-11, max_products=100_000)
        known = lsq_linear(jacobian, -residual, (low, high), method="bvls", tol=1e-14)
        assert found.change + 0.5 * residual @ residual == pytest.approx(known.cost, rel=1e-7, abs=1e-9)
        assert np.all((found.step >= low) & (found.step <= high))
        assert found.change == pytest.approx(quadratic.value(found.step), rel=1e-8, abs=1e-10)

    @given(seed=st.integers(0, 10**6), n=st.integers(1, 15), bent=st.booleans())
    def test_first_order_conditions_hold(self, seed: int, n: int, bent: bool) -> None:
        rng = np.random.default_rng(seed)
        low, high = random_box(rng, n)
        own = rng.standard_normal((n, n)) * (2.0 if bent else 0.0)
        quadratic = Quadratic(
            rng.standard_normal(n), rows_of(rng.standard_normal((n, n))), rows_of(own + own.T)
        )
        found = minimise_quadratic(quadratic, low, high, accuracy=1e-10, max_products=100_000)
        assert found.converged
        assert np.all((found.step >= low) & (found.step <= high))
        assert kkt_error(quadratic, found.step, low, high) < 1e-6
        assert found.change <= 0.0
        assert found.change == pytest.approx(quadratic.value(found.step), rel=1e-7, abs=1e-9)


class Rosenbrock:
    """Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)² as a sum of squares, with its whole Hessian."""

    def __init__(self, lower: list[float], upper: list[float]) -> None:
        self.lower, self.upper = np.array(lower), np.array(upper)

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual = math.sqrt(2.0) * np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])
        return residual, math.sqrt(2.0) * np.array([[-20.0 * x[0], 10.0], [-1.0, 0.0]])

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        residual, _ = self._parts(x)
        return x, 0.5 * float(residual @ residual)

    def quadratic(self, x: np.ndarray) -> Quadratic:
        residual, jacobian = self._parts(x)
        own = np.diag([-20.0 * math.sqrt(2.0) * residual[0], 0.0])
        return Quadratic(jacobian.T @ residual, rows_of(jacobian), rows_of(own))

    def refined(self) -> None:
        return None


class TestMinimise:
    @pytest.mark.parametrize(
        ("start", "low", "high", "expected"),
        [
            ([-1.2, 1.0], [-5.0, -5.0], [5.0, 5.0], [1.0, 1.0]),
            ([-1.2, 1.0], [-5.0, -5.0], [0.5, 5.0], [0.5, 0.25]),
            ([1.2, 3.0], [-5.0, 2.0], [5.0, 5.0], None),
        ],
    )
    def test_rosenbrock_in_a_box(
        self, start: list[float], low: list[float], high: list[float], expected: list[float] | None
    ) -> None:
        objective = Rosenbrock(low, high)
        found = minimise_on_box(objective, np.array(start))
        if expected is None:  # x₂ at its bound 2: 400 x³ − 798 x − 2 = 0, the largest root
            expected = [float(np.roots([400.0, 0.0, 2.0 - 800.0, -2.0]).real.max()), 2.0]
        assert found.status is Status.STATIONARY
        np.testing.assert_allclose(found.x, expected, rtol=1e-7)
        assert found.value == pytest.approx(objective.evaluate(np.array(expected))[1], abs=1e-12)
        assert 0 < found.iterations <= 60
        assert found.products >= found.inner_iterations > 0

    def test_the_iteration_limit_is_said(self) -> None:
        found = minimise_on_box(Rosenbrock([-5.0] * 2, [5.0] * 2), np.array([-1.2, 1.0]), max_iterations=3)
        assert (found.status, found.iterations) == (Status.ITERATION_LIMIT, 3)


def mixed_problem() -> MCP:
    """Every kind of bound, and a function with curvature."""
    matrix = np.random.default_rng(5).standard_normal((6, 6)) + 3.0 * np.eye(6)
    low = np.array([0.0, -FREE, -1.0, -FREE, 0.7, 0.0])
    high = np.array([FREE, 2.0, 1.0, FREE, 0.7, FREE])
    return MCP(
        lambda z: matrix @ np.sin(z) + z**3 - 1.0,
        low,
        high,
        jacobian=lambda z: matrix * np.cos(z) + np.diag(3.0 * z**2),
        start=np.full(6, 0.3),
    )


def three_equations() -> MNCP:
    """Two variables with slacks, one free one, three equations of which one repeats another."""
    return MNCP(
        lambda u, v: [u[0] + v[0] - 1.0, u[1] - v[0] + 2.0],
        lambda u, v: [v[0] - 0.5, 2.0 * v[0] - 1.0, v[0] ** 2 - 0.25],
        (2, 1, 3),
        jacobian=lambda u, v: [[1, 0, 1], [0, 1, -1], [0, 0, 1], [0, 0, 2], [0, 0, 2 * v[0]]],
        start=([1.0, 1.0], [2.0]),
    )


def by_differences(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a vector function, (rows, n)."""
    columns = [
        (function(x + step * unit) - function(x - step * unit)) / (2.0 * step) for unit in np.eye(len(x))
    ]
    return np.array(columns).T


class TestReformulation:
    @pytest.mark.parametrize(
        ("problem", "size"),
        [
            (mixed_problem(), 6 + 6),  # two slacks where there are two bounds, none where there is none
            (three_equations(), 2 + 1 + 2),
            (MNCP(lambda u, v: u, lambda u, v: v, (4, 8), jacobian=lambda u, v: np.eye(12)), 16),
            (LCP(np.eye(10), np.ones(10)), 20),
            (LCP(np.eye(5), np.ones(5), lower=[-FREE] * 4 + [-1.0], upper=[FREE] * 4 + [1.0]), 7),
        ],
    )
    def test_dimensions_are_the_papers(self, problem: MCP, size: int) -> None:
        form = Reformulation(problem)
        assert form.size == len(form.lower) == len(form.upper) == size
        assert form.rows == problem.rows + 1

    @pytest.mark.parametrize("problem", [mixed_problem(), three_equations()])
    def test_derivatives_agree_with_differences(self, problem: MCP) -> None:
        form = Reformulation(problem)
        rng = np.random.default_rng(1)
        x = np.clip(rng.uniform(0.1, 0.9, form.size), form.lower, form.upper)
        calls = Evaluations(problem)

        def residual(y: np.ndarray) -> np.ndarray:
            return form.residual(y, problem.value(form.point(y)))

        def gradient(y: np.ndarray) -> np.ndarray:
            rows = form.jacobian(y, problem.jacobian(form.point(y)))
            return form.gradient(residual(y), rows)

        rows = form.jacobian(x, problem.jacobian(form.point(x)))
        jacobian = form.matrix(rows).toarray()
        np.testing.assert_allclose(jacobian, by_differences(residual, x), atol=1e-8)
        r = residual(x)
        np.testing.assert_allclose(gradient(x), jacobian.T @ r, atol=1e-12)
        moving = form.lower < form.upper
        symmetric = form.curvature(calls, x, r, problem.jacobian(form.point(x)))
        whole = Quadratic(gradient(x), rows, symmetric)
        hessian = np.array([whole.product(unit) for unit in np.eye(form.size)])
        np.testing.assert_allclose(
            hessian[np.ix_(moving, moving)], by_differences(gradient, x)[np.ix_(moving, moving)], atol=1e-5
        )
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
        v = rng.standard_normal(form.size)
        np.testing.assert_allclose(Quadratic(r, rows).product(v), jacobian.T @ (jacobian @ v), atol=1e-12)

    def test_the_bilinear_term_is_exact(self) -> None:
        problem = LCP(np.array([[2.0, -1.0], [0.5, 3.0]]), [-1.0, 2.0], lower=[0.0, -1.0], upper=[FREE, 1.0])
        form = Reformulation(problem)
        x = np.array([0.4, 0.2, 0.3, 0.5, 0.7])
        r = form.residual(x, problem.value(x[:2]))

        def gradient(y: np.ndarray) -> np.ndarray:
            rows = form.jacobian(y, problem.matrix)
            return form.gradient(form.residual(y, problem.value(y[:2])), rows)

        model = Quadratic(gradient(x), form.jacobian(x, problem.matrix), form.bilinear(r))
        for v in np.eye(5):
            expected = (gradient(x + 1e-4 * v) - gradient(x - 1e-4 * v)) / 2e-4
            np.testing.assert_allclose(model.product(v), expected, atol=1e-6)

    @given(seed=st.integers(0, 10**6))
    @settings(max_examples=60)
    def test_best_slacks_are_the_minimum(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = 5
        low = np.array([0.0, -1.0, -FREE, -2.0, -FREE])
        high = np.array([FREE, 1.0, 3.0, 2.0, FREE])
        problem = LCP(rng.standard_normal((n, n)), rng.standard_normal(n), lower=low, upper=high)
        form = Reformulation(problem)
        z = problem.clip(rng.standard_normal(n))
        value = problem.value(z)
        best = form.best_slacks(form.with_slacks(z), value)
        assert np.all(best >= form.lower)
        slope = form.gradient(form.residual(best, value), form.jacobian(best, problem.matrix))[n:]
        assert np.abs(best[n:] - np.maximum(best[n:] - slope, 0.0)).max() < 1e-12

    def test_the_objective_is_zero_at_a_solution_and_not_elsewhere(self) -> None:
        problem = LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
        form = Reformulation(problem)
        for z, zero in (([0.5, 0.0], True), ([0.0, 0.0], False), ([0.5, 0.1], False)):
            value = problem.value(np.array(z))
            r = form.residual(form.best_slacks(form.with_slacks(np.array(z)), value), value)
            assert (np.abs(r).max() < 1e-15) == zero


def josephy(start: list[float]) -> MCP:
    """A problem with the one solution (√1.5, 0, 0, ½)."""

    def function(x: np.ndarray) -> list[float]:
        a, b, c, d = x
        return [
            3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6,
            2 * a * a + b * b + a + 3 * c + 2 * d - 2,
            3 * a * a + a * b + 2 * b * b + 2 * c + 3 * d - 1,
            a * a + 3 * b * b + 2 * c + 3 * d - 3,
        ]

    def jacobian(x: np.ndarray) -> np.ndarray:
        a, b, *_ = x
        return np.array(
            [
                [6 * a + 2 * b, 2 * a + 4 * b, 1, 3],
                [4 * a + 1, 2 * b, 3, 2],
                [6 * a + b, a + 4 * b, 2, 3],
                [2 * a, 6 * b, 2, 3],
            ]
        )

    return MCP(function, np.zeros(4), FREE, jacobian=jacobian, start=start)


def billups(start: float) -> MCP:
    """x ≥ 0 ⟂ (x − 1)² − 1.01, solved by 1 + √1.01; x = 0 is a stationary point of problem (2)."""
    return MCP(
        lambda x: (x - 1.0) ** 2 - 1.01,
        np.zeros(1),
        FREE,
        jacobian=lambda x: [2.0 * (x - 1.0)],
        start=[start],
    )


HESSIANS = ("gauss-newton", "bilinear", "full", "adaptive")


class TestBoxTrustRegion:
    @pytest.mark.parametrize("hessian", HESSIANS)
    def test_known_solutions(self, hessian: str) -> None:
        solver = BoxTrustRegion(hessian=hessian)
        found = solve(josephy([1.0, 0.0, 0.0, 0.0]), solver, tolerance=1e-10)
        np.testing.assert_allclose(found.point, [math.sqrt(1.5), 0.0, 0.0, 0.5], atol=1e-9)
        found = solve(billups(3.0), solver, tolerance=1e-12)
        assert found.point[0] == pytest.approx(1.0 + math.sqrt(1.01), abs=1e-12)

    def test_every_kind_of_bound(self) -> None:
        problem = mixed_problem()
        found = solve(problem, BoxTrustRegion(), tolerance=1e-11)
        assert found.certificate.residual <= 1e-11
        assert found.point[4] == 0.7

    def test_more_equations_than_variables(self) -> None:
        found = solve(three_equations(), BoxTrustRegion(), tolerance=1e-11)
        np.testing.assert_allclose(found.point, [0.5, 0.0, 0.5], atol=1e-10)

    def test_fewer_equations_than_variables(self) -> None:
        problem = MNCP(
            lambda u, v: u - v[:1], lambda u, v: [v[0] + v[1] - 3.0], (1, 2, 1),
            jacobian=lambda u, v: [[1, -1, 0], [0, 1, 1]],
        )  # fmt: skip
        found = solve(problem, BoxTrustRegion(), tolerance=1e-11)
        assert found.certificate.residual <= 1e-11

    @given(seed=st.integers(0, 10**6), n=st.integers(1, 8))
    @settings(max_examples=60)
    def test_monotone_lcps_have_no_other_stationary_points(self, seed: int, n: int) -> None:
        # Theorem 2: for a positive definite matrix every stationary point of (2) is a solution
        rng = np.random.default_rng(seed)
        root, skew = rng.standard_normal((n, n)), rng.standard_normal((n, n))
        problem = LCP(root @ root.T + 0.1 * np.eye(n) + skew - skew.T, rng.standard_normal(n))
        found = solve(problem, BoxTrustRegion(), tolerance=1e-9, throw=False)
        assert found.status is Status.SOLVED

    @pytest.mark.parametrize("hessian", HESSIANS)
    def test_a_stationary_point_that_is_no_solution_is_called_so(self, hessian: str) -> None:
        found = solve(billups(0.0), BoxTrustRegion(hessian=hessian), throw=False)
        assert found.status is Status.STATIONARY
        assert found.certificate.residual == pytest.approx(0.01)
        # and one inside, where the curvature of F decides: F = z² + 1, z free, has its least square at 0
        problem = MCP(lambda z: z**2 + 1.0, [-FREE], FREE, jacobian=lambda z: [2.0 * z], start=[0.7])
        found = solve(problem, BoxTrustRegion(hessian=hessian), throw=False)
        assert found.status is Status.STATIONARY
        assert found.point[0] == pytest.approx(0.0, abs=1e-6)

    def test_counts_are_true(self) -> None:
        calls = {"function": 0, "jacobian": 0}

        def function(z: np.ndarray) -> np.ndarray:
            calls["function"] += 1
            return np.array([z[0] ** 3 + z[1] - 2.0, z[1] - z[0] + 1.0])

        def jacobian(z: np.ndarray) -> np.ndarray:
            calls["jacobian"] += 1
            return np.array([[3.0 * z[0] ** 2, 1.0], [-1.0, 1.0]])

        problem = MCP(function, np.zeros(2), FREE, jacobian=jacobian, start=[3.0, 3.0])
        found = solve(problem, BoxTrustRegion(), tolerance=1e-10)
        statistics = found.statistics
        # the judgement of the answer is one more call, and no part of the method
        assert statistics.function_evaluations == calls["function"] - 1
        assert statistics.jacobian_evaluations == calls["jacobian"]
        assert statistics.function_evaluations >= statistics.iterations + 1
        assert statistics.products >= statistics.inner_iterations >= statistics.iterations > 0
        assert statistics.history[-1].merit < 1e-20
        merits = [entry.merit for entry in statistics.history]
        assert all(after < before for before, after in pairwise(merits))

    def test_trial_points_where_f_is_not_defined_are_refused(self) -> None:
        # log z below 1e-3: the first steps from 5 go to negative numbers
        problem = MCP(
            lambda z: [np.log(z[0]) if z[0] > 0.0 else np.nan], [-FREE], FREE,
            jacobian=lambda z: [[1.0 / z[0]]], start=[5.0],
        )  # fmt: skip
        found = solve(problem, BoxTrustRegion(first_radius=100.0), tolerance=1e-10)
        assert found.point[0] == pytest.approx(1.0, abs=1e-9)
        assert found.statistics.function_evaluations > found.statistics.iterations + 1

    def test_nowhere_to_go_is_undefined(self) -> None:
        problem = MCP(
            lambda z: z + 1.0 if z[0] == 1.0 else z * np.nan, [-FREE], FREE,
            jacobian=lambda z: [[1.0]], start=[1.0],
        )  # fmt: skip
        assert solve(problem, BoxTrustRegion(), throw=False).status is Status.UNDEFINED
        problem = MCP(lambda z: z + 1.0, [-FREE], FREE, jacobian=lambda z: [[np.nan]], start=[1.0])
        assert solve(problem, BoxTrustRegion(), throw=False).status is Status.UNDEFINED

    @pytest.mark.parametrize("hessian", HESSIANS)
    def test_degenerate_solutions_are_reached(self, hessian: str) -> None:
        # z₂ = F₂ = 0 at the solution: the product is rounding when both are 1e-8
        problem = LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, -0.5], start=[3.0, 3.0])
        found = solve(problem, BoxTrustRegion(hessian=hessian), tolerance=1e-12)
        np.testing.assert_allclose(found.point, [0.5, 0.0], atol=1e-11)
        # the same with an upper bound, and all of it degenerate
        problem = LCP(np.eye(2), [-1.0, -1.0], lower=-FREE, upper=1.0, start=[-3.0, 0.5])
        found = solve(problem, BoxTrustRegion(hessian=hessian), tolerance=1e-12)
        np.testing.assert_allclose(found.point, [1.0, 1.0], atol=1e-11)

    @pytest.mark.parametrize(
        "options",
        [
            {"first_radius": 0.0},
            {"least_radius": -1.0},
            {"acceptance": 1.0},
            {"inner_accuracy": 1.5},
            {"leave": 0.0},
            {"gradient_tolerance": "small"},
            {"max_products": 0},
            {"hessian": "newton"},
        ],
    )
    def test_wrong_options_are_named(self, options: dict[str, Any]) -> None:
        with pytest.raises(OptionError, match=f"BoxTrustRegion.{next(iter(options))}="):
            BoxTrustRegion(**options)
        if "hessian" not in options:
            with pytest.raises(OptionError, match="TrustRegionOptions"):
                TrustRegionOptions(**options)


class TestBoundedMinimiser:
    @pytest.mark.parametrize("method", METHODS)
    def test_a_small_problem(self, method: str) -> None:
        if method == "fides":
            pytest.importorskip("fides")
        problem = LCP([[3.0, 1.0], [1.0, 2.0]], [-1.0, 1.0], start=[1.0, 1.0])
        found = solve(problem, BoundedMinimiser(method), tolerance=1e-6)
        np.testing.assert_allclose(found.point, [1.0 / 3.0, 0.0], atol=1e-5)
        assert found.statistics.function_evaluations >= 2
        assert found.statistics.iterations >= 1

    @pytest.mark.parametrize("method", ["slsqp", "l-bfgs-b"])
    def test_a_fixed_variable_stays(self, method: str) -> None:
        problem = LCP(np.eye(2) * 2.0, [-1.0, 1.0], lower=[0.0, 0.25], upper=[FREE, 0.25])
        found = solve(problem, BoundedMinimiser(method), tolerance=1e-6)
        np.testing.assert_allclose(found.point, [0.5, 0.25], atol=1e-6)

    def test_it_minimises_what_box_trust_region_minimises(self) -> None:
        problem = josephy([1.0, 1.0, 1.0, 1.0])
        one, other = BoundedMinimiser("slsqp"), BoxTrustRegion()
        first = [solve(problem, s, max_iterations=1, throw=False).statistics.history[0] for s in (one, other)]
        assert first[0].merit == pytest.approx(first[1].merit, rel=1e-14)

    def test_a_stationary_point_is_never_called_solved(self) -> None:
        found = solve(billups(0.0), BoundedMinimiser("slsqp"), throw=False)
        assert found.status is Status.STATIONARY

    def test_limits_are_kept(self) -> None:
        found = solve(josephy([1.0] * 4), BoundedMinimiser("l-bfgs-b"), max_iterations=2, throw=False)
        assert found.status is Status.ITERATION_LIMIT
        found = solve(josephy([1.0] * 4), BoundedMinimiser("slsqp"), time_limit=1e-4, throw=False)
        assert found.status is Status.TIME_LIMIT

    def test_fides_that_is_not_installed_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fides", None)
        with pytest.raises(MissingSolverError, match=r"pip install \"nonsmooth\[complementarity\]"):
            solve(billups(3.0), BoundedMinimiser("fides"))

    def test_a_wrong_method_is_named(self) -> None:
        with pytest.raises(OptionError, match="slsqp"):
            BoundedMinimiser("newton")


def test_the_same_minimum_as_a_library_where_there_is_no_solution() -> None:
    # 0 ≤ z ⟂ −z² − 1: no solution; the least of problem (2) is at z = 0 with objective ½
    problem = MCP(lambda z: -(z**2) - 1.0, [0.0], FREE, jacobian=lambda z: [-2.0 * z], start=[0.8])
    form = Reformulation(problem)

    def objective(x: np.ndarray) -> float:
        r = form.residual(x, problem.value(x[:1]))
        return 0.5 * float(r @ r)

    known = minimize(objective, [0.8, 0.1], bounds=[(0.0, None)] * 2, method="L-BFGS-B")
    found = solve(problem, BoxTrustRegion(), throw=False)
    assert found.status is Status.STATIONARY
    assert found.statistics.history[-1].merit == pytest.approx(known.fun, abs=1e-8)
    assert known.fun == pytest.approx(0.5, abs=1e-8)


def test_the_time_limit_holds_inside_a_quadratic():
    """One quadratic of this problem may take 50,000 products, some 20 s."""
    solution = solve(optimal_control(1000, (15.0, 5.0)), BoxTrustRegion(), time_limit=0.5, throw=False)
    assert solution.status is Status.TIME_LIMIT
    assert solution.statistics.time < 5.0
