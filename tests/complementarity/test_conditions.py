"""Matrix classes, and what a stationary point of problem (2) is worth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.complementarity import LCP, MCP, MNCP
from nonsmooth.complementarity.theory.conditions import (
    Limits,
    matrix_class,
    schur_complement,
    stationary_point_worth,
)
from nonsmooth.complementarity.theory.matrix_classes import orthant_violation, pair_violation
from nonsmooth.errors import OptionError, ProblemError

INFINITY = np.inf

# Each with the classes that it is in and those that it is not, easily checked by hand from the definitions.
KNOWN = {
    "skew": (
        [[0, 1], [-1, 0]],
        "positive_semidefinite p0_matrix sufficient copositive",
        "positive_definite p_matrix s_matrix",
    ),
    "triangular": ([[1, 4], [0, 1]], "p_matrix sufficient s_matrix", "positive_semidefinite z_matrix"),
    "nilpotent": ([[0, 1], [0, 0]], "p0_matrix copositive", "p_matrix column_sufficient row_sufficient"),
    "column sufficient alone": ([[1, 0], [1, 0]], "column_sufficient p0_matrix", "row_sufficient sufficient"),
    "row sufficient alone": ([[1, 1], [0, 0]], "row_sufficient p0_matrix", "column_sufficient sufficient"),
    "exchange": ([[0, 1], [1, 0]], "s_matrix copositive", "p0_matrix sufficient positive_semidefinite"),
    "singular": (
        [[1, -1], [-1, 1]],
        "positive_semidefinite sufficient z_matrix",
        "positive_definite p_matrix s_matrix m_matrix",
    ),
    "m-matrix": ([[2, -1], [-1, 2]], "m_matrix p_matrix positive_definite", ""),
    "z-matrix": ([[1, -2], [-2, 1]], "z_matrix", "p_matrix p0_matrix m_matrix copositive s_matrix"),
    "sufficient alone": ([[0, -2], [1, 0]], "sufficient p0_matrix", "positive_semidefinite p_matrix"),
    "negative": ([[-1]], "", "p0_matrix copositive s_matrix sufficient"),
    "zero": ([[0]], "p0_matrix sufficient", "p_matrix s_matrix"),
    "horn": (  # copositive, but not a sum of a semidefinite and a nonnegative matrix
        [[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]],
        "copositive",
        "positive_semidefinite",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_matrices_whose_classes_are_known(name):
    matrix, belongs, does_not = KNOWN[name]
    found = matrix_class(matrix)
    assert {what: getattr(found, what) for what in belongs.split()} == dict.fromkeys(belongs.split(), True)
    assert {what: getattr(found, what) for what in does_not.split()} == dict.fromkeys(does_not.split(), False)
    check_witnesses(np.array(matrix, dtype=float), found)


def check_witnesses(matrix, found):
    """Every witness shows what it says, by the definition."""
    for name, x in found.witnesses.items():
        assert getattr(found, name) is False
        if name in ("positive_semidefinite", "positive_definite", "copositive"):
            least = 1e-9 if name == "positive_definite" else 0.0
            assert x @ matrix @ x <= least
            assert name != "copositive" or x.min() >= 0.0
        elif name == "s_matrix":
            assert x.min() >= 0.0
            assert x.max() > 0.0
            assert (matrix.T @ x).max() <= 1e-6
        else:
            products = x * ((matrix if name == "column_sufficient" else matrix.T) @ x)
            assert products.min() < 0.0
            assert products.max() <= 1e-6 * -products.min()


def test_a_class_says_why():
    found = matrix_class([[1, -3], [-3, 1]])
    assert "rows 0, 1 is -8" in found.reasons["p0_matrix"]
    assert found.reasons["row_sufficient"] == "not a P₀-matrix"
    text = str(found)
    assert "p0 matrix               no: the principal minor of rows 0, 1 is -8" in text
    assert "2 × 2, to rounding" in text


def test_what_is_too_large_is_not_tested():
    generator = np.random.default_rng(0)
    matrix = np.eye(6) + np.triu(
        generator.uniform(3.0, 4.0, (6, 6)), 1
    )  # triangular: P, far from semidefinite
    assert matrix_class(matrix).p_matrix is True
    found = matrix_class(matrix, limits=Limits(minors=5, pivots=5, programs=0, dense=5))
    for name in (
        "positive_semidefinite",
        "p_matrix",
        "p0_matrix",
        "row_sufficient",
        "sufficient",
        "copositive",
    ):
        assert getattr(found, name) is None
    assert found.reasons["p_matrix"] == "n = 6 is above limits.minors = 5"
    assert "not tested: n = 6 is above limits.minors = 5" in str(found)
    with pytest.raises(OptionError, match="minors"):
        Limits(minors=-1)


def test_one_sided_sufficiency_needs_linear_programs():
    matrix = np.kron(np.eye(2), [[1, 0], [1, 0]])
    assert matrix_class(matrix).column_sufficient is True
    found = matrix_class(matrix, limits=Limits(programs=3))
    assert (found.column_sufficient, found.row_sufficient, found.sufficient) == (None, False, False)


def test_large_z_matrices_need_no_minors():
    size = 300
    matrix = sp.diags_array([-1.0, 2.0, -0.5], offsets=[-1, 0, 1], shape=(size, size))
    found = matrix_class(matrix)
    assert found.m_matrix
    assert found.p_matrix
    assert found.sufficient


def test_scale_does_not_matter():
    matrix = np.array([[0.0, -2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    units = np.array([1e-6, 1e4, 1e8])
    for scaled in (1e-12 * matrix, 1e12 * matrix, units[:, None] * matrix * units):
        assert matrix_class(scaled).sufficient
        assert matrix_class(scaled).p0_matrix
        assert not matrix_class(scaled).p_matrix


def test_rounding_does_not_decide():
    """Rank one, computed: the smallest eigenvalue is ±1e-17, and the determinant too."""
    column = np.array([1 / 3, 0.1, 0.7])
    found = matrix_class(np.outer(column, column))
    assert found.positive_semidefinite
    assert found.positive_definite is False
    assert found.p_matrix is False
    assert found.sufficient


def test_bad_matrices():
    with pytest.raises(ProblemError, match="square"):
        matrix_class(np.ones((2, 3)))
    with pytest.raises(ProblemError, match="not finite"):
        matrix_class([[np.nan]])


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_semidefinite_with_a_skew_part_is_sufficient(size, seed):
    """By the definition too, without the shortcut: no transform has a bad pair of rows."""
    generator = np.random.default_rng(seed)
    factor, skew = generator.normal(size=(size, max(size // 2, 1))), generator.normal(size=(size, size))
    matrix = factor @ factor.T + skew - skew.T
    found = matrix_class(matrix)
    assert found.sufficient
    assert found.p0_matrix
    assert pair_violation(matrix, 1e-10) is None
    assert pair_violation(matrix.T.copy(), 1e-10) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_p_matrices_are_sufficient_s_matrices(size, seed):
    generator = np.random.default_rng(seed)
    matrix = generator.normal(size=(size, size))
    matrix[np.diag_indices(size)] = np.abs(matrix).sum(axis=1) + 0.1
    found = matrix_class(matrix)
    assert found.p_matrix
    assert found.sufficient
    assert found.s_matrix
    assert orthant_violation(matrix) is None
    assert orthant_violation(matrix.T.copy()) is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-1, 1), min_size=9, max_size=9))
def test_pivot_transforms_agree_with_linear_programs(entries):
    """The theorem of Cottle and Guu against the definition, over small matrices of −1, 0 and 1."""
    matrix = np.array(entries, dtype=float).reshape(3, 3)
    matrix[np.diag_indices(3)] = np.abs(np.diag(matrix))
    found = matrix_class(matrix)
    assert found.column_sufficient == (orthant_violation(matrix) is None)
    assert found.row_sufficient == (orthant_violation(matrix.T.copy()) is None)
    check_witnesses(matrix, found)
    if found.sufficient:
        assert found.p0_matrix
        for other in (matrix.T, matrix[::-1, ::-1], np.diag([1, -1, 1]) @ matrix @ np.diag([1, -1, 1])):
            assert matrix_class(other).sufficient


# problem (2)


def quadratic_programme():
    """min ½|x|² − x₁ with x₁ + x₂ = 1, x ≥ 0: u = x, v = multiplier; solution (1, 0)."""
    return MNCP(
        lambda u, v: u - [1.0, 0.0] - v[0],
        lambda u, v: np.array([u.sum() - 1.0]),
        (2, 1),
        jacobian=lambda u, v: np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [1.0, 1.0, 0.0]]),
    )


def test_the_schur_complement():
    """f = A u + B v, g = C u + D v: A − B D⁻¹ C."""
    generator = np.random.default_rng(1)
    whole = generator.normal(size=(5, 5))
    problem = MNCP(
        lambda u, v: (whole @ np.concatenate([u, v]))[:3],
        lambda u, v: (whole @ np.concatenate([u, v]))[3:],
        (3, 2),
        jacobian=lambda u, v: whole,
    )
    expected = whole[:3, :3] - whole[:3, 3:] @ np.linalg.inv(whole[3:, 3:]) @ whole[3:, :3]
    assert schur_complement(problem, np.zeros(5)) == pytest.approx(expected)
    mixed = LCP(
        whole,
        np.zeros(5),
        lower=[-INFINITY, 0, -INFINITY, -INFINITY, 2],
        upper=[INFINITY, INFINITY, 3, INFINITY, 2],
    )
    v, u, sign = [0, 3], [1, 2], np.array([1.0, -1.0])
    block = (
        whole[np.ix_(u, u)] - whole[np.ix_(u, v)] @ np.linalg.inv(whole[np.ix_(v, v)]) @ whole[np.ix_(v, u)]
    )
    assert schur_complement(mixed, np.zeros(5)) == pytest.approx(sign[:, None] * block * sign)


def test_a_singular_g_v_has_no_schur_complement():
    with pytest.raises(ProblemError, match=r"g_v.* is singular"):
        schur_complement(quadratic_programme(), np.zeros(3))
    worth = stationary_point_worth(quadratic_programme(), np.zeros(3))
    assert worth.must_be_solution is None
    assert "singular" in worth.sentence
    with pytest.raises(ProblemError, match="z has shape"):
        schur_complement(quadratic_programme(), np.zeros(2))


def test_theorem_2_for_a_linear_problem():
    """The same programme as a linear problem: its matrix is positive semidefinite, and it is feasible."""
    matrix = [[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [1.0, 1.0, 0.0]]
    worth = stationary_point_worth(LCP(matrix, [-1.0, 0.0, -1.0], lower=[0, 0, -INFINITY]), np.zeros(3))
    assert (worth.must_be_solution, worth.theorem, worth.feasible) == (True, 2, True)
    assert "Theorem 2 applies" in str(worth)


def test_an_infeasible_problem_has_worthless_stationary_points():
    worth = stationary_point_worth(LCP([[0.0]], [-1.0]), [0.0])
    assert (worth.must_be_solution, worth.theorem, worth.feasible) == (False, None, False)
    assert "no solution" in worth.sentence


def test_theorem_1_at_a_point():
    """F = x² − 1: F′ = 2x is a row sufficient S-matrix for x > 0, at 0 not S, for x < 0 nothing."""
    problem = MCP(lambda z: z**2 - 1.0, [-5.0], [INFINITY], jacobian=lambda z: np.diag(2.0 * z))
    assert stationary_point_worth(problem, [1.0]).theorem == 1
    at_zero = stationary_point_worth(problem, [0.0])
    assert (at_zero.must_be_solution, at_zero.theorem) == (False, None)
    assert "not an S-matrix" in at_zero.sentence
    assert "row sufficient nor an S-matrix" in stationary_point_worth(problem, [-1.0]).sentence


def test_the_stationary_point_of_billups_is_worth_nothing():
    """F = (x − 1)² − 1.01 from 0: at x = 0 the slope is −2."""
    problem = MCP(
        lambda z: (z - 1.0) ** 2 - 1.01, [0.0], [INFINITY], jacobian=lambda z: np.diag(2.0 * z - 2.0)
    )
    worth = stationary_point_worth(problem, [0.0])
    assert worth.must_be_solution is False
    assert worth.schur.row_sufficient is False


def test_no_more_is_claimed_than_was_tested():
    two_sided = stationary_point_worth(LCP(np.eye(2), [1.0, 1.0], upper=[1.0, INFINITY]), [0.0, 0.0])
    assert two_sided.must_be_solution is None
    assert "1 have two" in two_sided.sentence
    oblong = MNCP(
        lambda u, v: u, lambda u, v: np.concatenate([v, v]), (1, 1, 2), jacobian=lambda u, v: np.eye(3, 2)
    )
    assert stationary_point_worth(oblong, np.zeros(2)).must_be_solution is None
    size = 5
    matrix = np.eye(size) + np.triu(np.full((size, size), 3.0), 1)
    small = Limits(minors=4, pivots=4, programs=0)
    for problem in (LCP(matrix, -np.ones(size)), MNCP(lambda u, v: matrix @ u, lambda u, v: v, (size, 0),
                                                      jacobian=lambda u, v: matrix)):  # fmt: skip
        worth = stationary_point_worth(problem, np.zeros(size), limits=small)
        assert worth.must_be_solution is None
        assert "limits.pivots = 4" in worth.sentence
        assert stationary_point_worth(problem, np.zeros(size)).must_be_solution is True


def test_a_point_where_the_jacobian_is_not_finite():
    problem = MCP(lambda z: np.sqrt(z), [0.0], [INFINITY], jacobian=lambda z: np.diag(0.5 / np.sqrt(z)))
    with pytest.raises(ProblemError, match="not finite"):
        stationary_point_worth(problem, [0.0])
