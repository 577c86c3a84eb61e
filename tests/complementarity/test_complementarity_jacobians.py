"""Jacobians of complementarity problems: every way gives the same, and a wrong one is found out."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from nonsmooth.complementarity.jacobians import check_jacobian, colouring
from nonsmooth.complementarity.problem import LCP, MCP, MNCP
from nonsmooth.errors import MissingPackageError, OptionError, ProblemError


def smooth(z: np.ndarray) -> np.ndarray:
    return np.array([z[0] ** 2 * z[1] - 3.0, np.exp(z[1]) + z[2], z[2] * z[0] - 1.0])


def slopes(z: np.ndarray) -> np.ndarray:
    return np.array([[2.0 * z[0] * z[1], z[0] ** 2, 0.0], [0.0, np.exp(z[1]), 1.0], [z[2], 0.0, z[0]]])


POINT = np.array([1.3, 0.4, 2.0])


def of(function, size: int, **options) -> MCP:
    return MCP(function, np.full(size, -np.inf), np.inf, **options)


@pytest.mark.parametrize(
    ("way", "error"), [(None, 1e-7), ("finite-differences", 1e-7), ("complex-step", 1e-15)]
)
def test_named_ways_agree_with_the_closed_form(way: str | None, error: float) -> None:
    found = of(smooth, 3, jacobian=way).jacobian(POINT).toarray()
    np.testing.assert_allclose(found, slopes(POINT), rtol=error, atol=error)


def test_complex_step_is_exact_for_exponentials_of_any_size() -> None:
    for x in (-300.0, -1.0, 1e-8, 40.0, 300.0):
        found = of(np.exp, 1, jacobian="complex-step").jacobian(np.array([x]))[0, 0]
        assert found == pytest.approx(np.exp(x), rel=4e-16)


def test_automatic_differentiation_agrees_with_the_closed_form_with_and_without_a_pattern() -> None:
    anp = pytest.importorskip("autograd.numpy")

    def traced(z):
        return anp.array([z[0] ** 2 * z[1] - 3.0, anp.exp(z[1]) + z[2], z[2] * z[0] - 1.0])

    for sparsity in (None, slopes(POINT) != 0.0):
        problem = of(traced, 3, jacobian="autograd", sparsity=sparsity)
        np.testing.assert_allclose(problem.jacobian(POINT).toarray(), slopes(POINT), rtol=1e-15)
        np.testing.assert_allclose(problem.value(POINT), smooth(POINT))


def test_automatic_differentiation_of_f_and_g() -> None:
    anp = pytest.importorskip("autograd.numpy")
    problem = MNCP(
        lambda u, v: anp.array([u[0] * v[0]]),
        lambda u, v: anp.array([u[0] + v[0] ** 2, anp.sin(v[0])]),
        (1, 1, 2),
        jacobian="autograd",
    )
    expected = [[3.0, 2.0], [1.0, 6.0], [0.0, np.cos(3.0)]]
    np.testing.assert_allclose(problem.jacobian(np.array([2.0, 3.0])).toarray(), expected, rtol=1e-15)


def test_a_function_that_autograd_cannot_trace_is_named() -> None:
    pytest.importorskip("autograd")
    with pytest.raises(ProblemError, match=r"cannot be traced.*autograd\.numpy"):
        of(smooth, 3, jacobian="autograd").jacobian(POINT)


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "autograd", None)
    with pytest.raises(MissingPackageError, match=r"pip install \"nonsmooth\[complementarity\]"):
        of(smooth, 3, jacobian="autograd")


def test_an_unknown_way_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match="finite-differences, complex-step, autograd"):
        of(smooth, 3, jacobian="magic")


def chain(z: np.ndarray) -> np.ndarray:
    found = z**3 + 2.0 * z
    found[1:] -= z[:-1]
    found[:-1] -= np.sin(z[1:])
    return found


def chain_slopes(z: np.ndarray) -> sp.csr_array:
    return sp.diags_array(
        [-np.ones(len(z) - 1), 3.0 * z**2 + 2.0, -np.cos(z[1:])], offsets=[-1, 0, 1], format="csr"
    )


@pytest.mark.parametrize("way", ["finite-differences", "complex-step"])
def test_a_pattern_saves_evaluations(way: str) -> None:
    size = 2000
    z = np.linspace(-2.0, 2.0, size)
    pattern = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(size, size))
    problem = of(chain, size, jacobian=way, sparsity=pattern)
    found = problem.jacobian(z, problem.value(z))
    assert abs(found - chain_slopes(z)).max() < (1e-6 if way == "finite-differences" else 1e-14)
    first = problem.jacobian_by.evaluations
    problem.jacobian(z, problem.value(z))
    assert problem.jacobian_by.evaluations - first == 3


@given(st.integers(0, 10_000), st.integers(1, 25), st.floats(0.02, 0.5))
def test_columns_of_one_colour_share_no_row(seed: int, size: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    pattern = sp.csr_array((rng.random((size, size)) < density).astype(float))
    colours = colouring(pattern)
    for colour in range(colours.max() + 1):
        assert (pattern[:, colours == colour].toarray().sum(axis=1) <= 1.0).all()
    assert colours.max() + 1 <= 1 + (pattern.T @ pattern).toarray().astype(bool).sum(axis=0).max()


@given(st.integers(0, 10_000))
def test_evaluations_stay_within_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 6
    lower = rng.choice([-np.inf, -1.0, 0.0, 1e-12], size)
    upper = np.maximum(lower, 0.0) + rng.choice([np.inf, 1.0, 1e-9, 0.0], size)
    middle = np.where(np.isinf(upper), np.where(np.isinf(lower), 0.3, lower + 0.5), upper)
    z = np.clip(rng.choice([0.0, 1.0], size) * middle, lower, upper)

    def function(point: np.ndarray) -> np.ndarray:
        assert (lower <= point).all()
        assert (point <= upper).all()
        return point**2 + point

    problem = MCP(function, lower, upper)
    moves = upper - lower > 1e-6
    found = problem.jacobian(z).toarray()
    np.testing.assert_allclose(found[:, moves], np.diag(2.0 * z + 1.0)[:, moves], atol=1e-6)
    assert (found[:, lower == upper] == 0.0).all()
    check_jacobian(MCP(function, lower, upper, jacobian=lambda z: np.diag(2.0 * z + 1.0)), z)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: np.array([float(z[0]), 1.0]), "does not support complex numbers"),
        (lambda z: z.real, "drops the imaginary part"),
        (lambda z: np.abs(z) + z, "row 0 of the function loses imaginary parts"),
        (lambda z: np.array([z[0], np.linalg.norm(z)]), "row 1 of the function loses imaginary parts"),
        (lambda z: np.append(z, z[0]), "returned 3 numbers"),
    ],
)
def test_functions_that_lose_imaginary_parts_are_found_out(function, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        of(function, 2, jacobian="complex-step").jacobian(np.array([-1.0, 2.0]))


def test_a_jacobian_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(ProblemError, match=r"shape \(2, 3\) and must have \(3, 3\)"):
        of(smooth, 3, jacobian=lambda z: np.ones((2, 3))).jacobian(POINT)
    with pytest.raises(ProblemError, match=r"sparsity has shape \(2, 2\)"):
        of(smooth, 3, sparsity=np.ones((2, 2)))


@pytest.mark.parametrize("change", [1e-2, -1.0, 1e3])
@pytest.mark.parametrize("place", [(0, 0), (1, 0), (2, 2), (1, 2)])
def test_the_check_names_a_wrong_entry(place: tuple[int, int], change: float) -> None:
    def wrong(z: np.ndarray) -> np.ndarray:
        found = slopes(z)
        found[place] += change
        return found

    row, column = place
    there = f"{slopes(POINT)[place] + change:.8g}"
    with pytest.raises(ProblemError, match=f"row {row}, column {column} is {there}, but differences .* give"):
        check_jacobian(of(smooth, 3, jacobian=wrong), POINT)
    check_jacobian(of(smooth, 3, jacobian=slopes), POINT)


def test_the_check_finds_what_a_sparse_jacobian_lacks() -> None:
    z = np.linspace(-1.0, 1.0, 500)

    def lacking(z: np.ndarray) -> sp.csr_array:
        found = chain_slopes(z).tolil()
        found[76, 77] = 0.0
        return found.tocsr()

    with pytest.raises(ProblemError, match=r"row 76, column 77 is 0, but differences .* give -0.7"):
        check_jacobian(of(chain, 500, jacobian=lacking), z)


def test_the_check_takes_a_jacobian_at_a_kink() -> None:
    for slope in (-1.0, 0.0, 1.0):
        check_jacobian(of(np.abs, 1, jacobian=lambda z, slope=slope: np.array([[slope]])), np.zeros(1))
    with pytest.raises(ProblemError, match="row 0, column 0 is 2"):
        check_jacobian(of(np.abs, 1, jacobian=lambda z: np.array([[2.0]])), np.zeros(1))


def test_the_check_says_where_something_is_not_finite() -> None:
    with pytest.raises(ProblemError, match="row 1 of the function is not finite"):
        check_jacobian(of(np.log, 2, jacobian=lambda z: np.diag(1.0 / z)), np.array([1.0, -1.0]))
    with pytest.raises(ProblemError, match="row 1, column 1 is not finite"):
        check_jacobian(of(np.sin, 2, jacobian=lambda z: np.diag([1.0, np.nan])), np.zeros(2))


@given(
    st.integers(0, 100_000),
    st.sampled_from(["polynomial", "exponential", "linear", "rational", "root"]),
    st.integers(-6, 6),
    st.integers(-6, 6),
)
def test_a_right_jacobian_is_never_called_wrong(
    seed: int, kind: str, rows_scale: int, columns_scale: int
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-3, 4, (n, n)) * 10.0**rows_scale
    b = rng.standard_normal(n) * 10.0 ** rng.integers(-6, 9, n)
    z = rng.standard_normal(n) * 10.0**columns_scale
    if kind == "polynomial":
        function, jacobian = (lambda z: A @ z**3 + b), (lambda z: A * (3.0 * z**2))
    elif kind == "exponential":
        s = max(1.0, 10.0**columns_scale)
        function, jacobian = (lambda z: A @ np.exp(z / s) + b), (lambda z: A * np.exp(z / s) / s)
    elif kind == "linear":
        function, jacobian = (lambda z: A @ z + b), (lambda z: A)
    elif kind == "rational":
        function, jacobian = (
            (lambda z: A @ (1.0 / (1.0 + z**2))),
            (lambda z: A * (-2.0 * z / (1.0 + z**2) ** 2)),
        )
    else:
        z = np.abs(z) + 0.1
        function, jacobian = (lambda z: A @ np.sqrt(z) + b), (lambda z: A * 0.5 / np.sqrt(z))
    lower = np.where(rng.random(n) < 0.3, z, -np.inf if kind != "root" else 0.0)
    upper = np.where(rng.random(n) < 0.3, z, np.inf)
    check_jacobian(MCP(function, lower, upper, jacobian=jacobian), z)


def test_the_check_takes_the_matrix_of_a_linear_problem() -> None:
    rng = np.random.default_rng(3)
    check_jacobian(LCP(rng.standard_normal((20, 20)), rng.standard_normal(20)), rng.random(20))


@given(st.integers(0, 100_000))
def test_coarse_values_do_not_make_a_right_jacobian_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    large, frequency = 10.0 ** rng.uniform(0.0, 11.0), 10.0 ** rng.uniform(-2.0, 2.0)
    problem = of(
        lambda z: (large + np.sin(frequency * z) * z) - large,  # rounded to multiples of ε·large
        3,
        jacobian=lambda z: np.diag(np.sin(frequency * z) + z * frequency * np.cos(frequency * z)),
    )
    check_jacobian(problem, rng.standard_normal(3) * 10.0 ** rng.uniform(-3.0, 3.0))
