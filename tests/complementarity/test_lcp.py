"""Lemke's method and projected Gauss-Seidel on linear complementarity problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.complementarity import LCP, MCP, SolveError, Status, solve
from nonsmooth.complementarity.kernels import lemke as kernels
from nonsmooth.complementarity.solvers.lemke import Lemke
from nonsmooth.complementarity.solvers.projected_gauss_seidel import ProjectedGaussSeidel
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.complementarity.standard_form import standard_form
from nonsmooth.errors import OptionError, UnsupportedError

INFINITY = np.inf


def pivoted(matrix, right, cover, limit):
    """z, pivots and outcome by the kernels themselves."""
    if right.min() >= 0.0:
        return np.zeros(len(right)), 0, kernels.SOLVED
    tableau = kernels.prepare(matrix, right, cover)
    _, pivots, outcome = kernels.pivot(tableau, cover, 2 * len(right), limit)
    return kernels.unknowns(tableau)[0], pivots, outcome


def lemke(matrix, vector, **bounds):
    return solve(LCP(matrix, vector, **bounds), Lemke(), tolerance=1e-10, throw=False)


def monotone(generator, size, rank=None):
    """A random positive semidefinite matrix that is not symmetric."""
    factor = generator.normal(size=(size, size if rank is None else rank))
    skew = generator.normal(size=(size, size))
    return factor @ factor.T + skew - skew.T


def murty(size):
    """Murty's example, on which Lemke's method needs 2ⁿ pivots; the solution is (1, 0, …, 0)."""
    return np.tril(np.full((size, size), 2.0), -1) + np.eye(size), -np.ones(size)


# Lemke: closed forms


def test_textbook_problems():
    assert lemke([[2, 1], [1, 2]], [-5, -6]).point == pytest.approx([4 / 3, 7 / 3], abs=1e-14)
    assert lemke([[1, 0, 0], [2, 1, 0], [2, 2, 1]], [-8, -12, -14]).point == pytest.approx(
        [8, 0, 0], abs=1e-14
    )
    assert lemke([[2, 1], [1, 2]], [3, 0]).point == pytest.approx([0, 0])


def test_a_linear_program_by_its_optimality_conditions():
    """Dantzig's transport problem: 0 ≤ x ⟂ c + λ_i − p_j ≥ 0, and so on; the cost is 153.675."""
    capacity, demand = np.array([350.0, 600]), np.array([325.0, 300, 275])
    cost = 0.09 * np.array([[2.5, 1.7, 1.8], [2.5, 1.8, 1.4]])
    sent, got = np.kron(np.eye(2), np.ones(3)), np.kron(np.ones(2), np.eye(3))
    matrix = np.block(
        [[np.zeros((6, 6)), sent.T, -got.T], [-sent, np.zeros((2, 5))], [got, np.zeros((3, 5))]]
    )
    solution = lemke(matrix, np.concatenate([cost.ravel(), capacity, -demand]))
    assert solution.status is Status.SOLVED
    assert cost.ravel() @ solution.point[:6] == pytest.approx(153.675, abs=1e-10)
    assert solution.point[1] == pytest.approx(300)
    assert solution.point[10] == pytest.approx(0.126, abs=1e-12)


@pytest.mark.parametrize("size", [6, 10])
def test_murty_s_example_takes_exponentially_many_pivots(size):
    matrix, vector = murty(size)
    solution = lemke(matrix, vector)
    assert solution.statistics.iterations == 2**size
    assert solution.point == pytest.approx(np.eye(size)[0], abs=1e-14)


def test_the_iteration_limit_counts_pivots():
    matrix, vector = murty(10)
    solution = solve(LCP(matrix, vector), Lemke(), max_iterations=100, throw=False)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.statistics.iterations == 100


# Lemke: bounds


def test_every_kind_of_bound_with_a_diagonal_matrix():
    """F = 2 z − c: z is c/2 moved into its bounds."""
    lower = np.array([0.0, -INFINITY, -INFINITY, -1.0, -1.0, -1.0, 0.3, -INFINITY])
    upper = np.array([INFINITY, 2.0, 2.0, 1.0, 1.0, 1.0, 0.3, INFINITY])
    centre = np.array([3.0, 1.0, 9.0, 7.0, -7.0, 0.5, 5.0, -4.0])
    solution = lemke(2.0 * np.eye(8), -centre, lower=lower, upper=upper)
    assert solution.point == pytest.approx(np.clip(centre / 2, lower, upper), abs=1e-15)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_bounds_of_all_kinds_with_positive_definite_matrices(size, seed):
    generator = np.random.default_rng(seed)
    matrix = monotone(generator, size) + 0.1 * np.eye(size)
    lower = np.where(generator.random(size) < 0.6, generator.normal(size=size), -INFINITY)
    above = np.where(np.isfinite(lower), lower, 0.0) + generator.exponential(size=size)
    upper = np.where(generator.random(size) < 0.5, above, INFINITY)
    fixed = generator.random(size) < 0.1
    lower[fixed] = upper[fixed] = 0.3
    solution = lemke(matrix, generator.normal(size=size), lower=lower, upper=upper)
    assert solution.status is Status.SOLVED
    assert solution.certificate.bounds == 0.0


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_equality_constraints_whose_multipliers_have_no_block_of_their_own(rows, seed, dependent):
    """A linear program with A x = b: M is zero on the free multipliers, and A may have dependent rows."""
    generator = np.random.default_rng(seed)
    columns = 2 * rows + 1
    a = generator.normal(size=(rows, columns))
    if dependent:
        a[-1] = a[0]
    x = np.maximum(generator.normal(size=columns), 0.0)
    y = generator.normal(size=rows)
    cost = a.T @ y + np.where(x == 0.0, generator.exponential(size=columns), 0.0)
    matrix = np.block([[np.zeros((columns, columns)), -a.T], [a, np.zeros((rows, rows))]])
    solution = lemke(
        matrix, np.concatenate([cost, -a @ x]), lower=np.repeat([0.0, -INFINITY], [columns, rows])
    )
    assert solution.status is Status.SOLVED
    assert cost @ solution.point[:columns] == pytest.approx(cost @ x, abs=1e-8)


def test_free_variables_alone_are_a_linear_system():
    solution = lemke([[0, 1], [2, 0]], [-3, -8], lower=-INFINITY)
    assert solution.point == pytest.approx([4, 3], abs=1e-15)
    assert lemke([[1, 1], [1, 1]], [-3, -3], lower=-INFINITY).status is Status.SOLVED
    assert lemke([[1, 1], [1, 1]], [-3, -4], lower=-INFINITY).status is Status.INFEASIBLE


def test_an_affine_problem_that_is_not_an_lcp():
    matrix = sp.csr_array([[2.0, 1.0], [1.0, 2.0]])
    problem = MCP(
        lambda z: matrix @ z - [5.0, 6.0],
        [0.0, 0.0],
        [1.0, INFINITY],
        jacobian=lambda z: matrix,
        start=[0.5, 3],
    )
    problem.matrix = matrix
    assert solve(problem, Lemke(), tolerance=1e-12).point == pytest.approx([1.0, 2.5], abs=1e-15)


def test_the_standard_form_has_the_same_function():
    """F of the original at any y ≥ 0: its rows appear in M y + q, with the sign of a mirrored variable."""
    generator = np.random.default_rng(3)
    matrix, vector = generator.normal(size=(3, 3)), generator.normal(size=3)
    problem = LCP(matrix, vector, lower=[1.0, -INFINITY, 0.0], upper=[INFINITY, 2.0, 4.0])
    form = standard_form(problem)
    y = generator.random(4)
    z, w = form.point(y), form.matrix @ y + form.vector
    assert z == pytest.approx([1 + y[0], 2 - y[1], y[2]])
    f = matrix @ z + vector
    assert w == pytest.approx([f[0], -f[1], f[2] + y[3], 4.0 - y[2]])


# Lemke: the answer is the one there is, and failure is told apart


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 15), st.integers(0, 10**6))
def test_p_matrices_have_the_one_solution_that_is_found(size, seed):
    """Strictly diagonally dominant with a positive diagonal: a P-matrix, so that the solution is unique."""
    generator = np.random.default_rng(seed)
    matrix = generator.normal(size=(size, size))
    matrix[np.diag_indices(size)] = np.abs(matrix).sum(axis=1) + 0.1
    z = np.maximum(generator.normal(size=size), 0.0)
    w = np.where(z == 0.0, generator.exponential(size=size), 0.0)
    solution = lemke(matrix, w - matrix @ z)
    assert solution.point == pytest.approx(z, abs=1e-11)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_degenerate_feasible_monotone_problems_are_solved(size, seed):
    """Integers, so that ratios tie, and a singular matrix."""
    generator = np.random.default_rng(seed)
    factor = generator.integers(-1, 2, size=(size, max(size // 2, 1))).astype(float)
    skew = np.triu(generator.integers(-1, 2, size=(size, size)))
    matrix = factor @ factor.T + skew - skew.T
    z = generator.integers(0, 2, size)
    vector = generator.integers(0, 2, size) * (z == 0) - matrix @ z
    assert lemke(matrix, vector).status is Status.SOLVED


def test_an_infeasible_problem_is_called_infeasible():
    solution = lemke([[-1.0]], [-1.0])
    assert solution.status is Status.INFEASIBLE
    assert "missed by 1 everywhere" in solution.statistics.note
    with pytest.raises(SolveError, match="no solution"):
        solve(LCP([[1, -1], [-1, 1]], [-1, -1]), Lemke())
    assert lemke([[0.0, 1.0], [-1.0, 0.0]], [-1.0, -1.0]).status is Status.INFEASIBLE


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 10), st.integers(0, 10**6))
def test_monotone_problems_without_a_solution_are_infeasible(size, seed):
    """yᵀM = 0 and yᵀq < 0 with y ≥ 0 exclude M z + q ≥ 0: the rows are made to add up to nothing."""
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(size, size - 1))
    factor[-1] = -factor[:-1].sum(axis=0)
    vector = generator.normal(size=size)
    vector -= vector.mean() + 0.1
    assert lemke(factor @ factor.T, vector).status is Status.INFEASIBLE


def test_a_feasible_problem_without_a_solution_ends_on_a_ray():
    """w₁ = −1 + z₂ ≥ 0 needs z₂ ≥ 1, so w₂ = 1 is 0: impossible. z = (0, 1) meets the signs, though."""
    solution = lemke([[0.0, 1.0], [0.0, 0.0]], [-1.0, 1.0])
    assert solution.status is Status.RAY
    assert "does not prove" in solution.statistics.note
    assert solution.statistics.iterations >= 6
    with pytest.raises(SolveError, match="ray"):
        solve(LCP([[0.0, 1.0], [0.0, 0.0]], [-1.0, 1.0]), Lemke())


def test_badly_scaled_problems():
    """Units that differ by 1e8 between variables: the same solution in these units."""
    generator = np.random.default_rng(5)
    matrix = monotone(generator, 8) + 0.1 * np.eye(8)
    vector = generator.normal(size=8)
    units = 10.0 ** generator.integers(-4, 5, 8)
    plain = lemke(matrix, vector).point
    other = solve(LCP(units[:, None] * matrix * units, units * vector), Lemke(), tolerance=1e-8).point
    assert other * units == pytest.approx(plain, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_free_variables_in_badly_scaled_units(seed):
    """A quadratic programme with two equations: the same solution whatever its units."""
    generator = np.random.default_rng(seed)
    a = generator.normal(size=(2, 6))
    matrix = np.block([[np.diag([1.0, 1, 1, 0, 0, 0]), -a.T], [a, np.zeros((2, 2))]])
    vector = np.concatenate([generator.exponential(size=6), -a @ generator.exponential(size=6)])
    lower = np.repeat([0.0, -INFINITY], [6, 2])
    units = 10.0 ** generator.integers(-5, 6, 8)
    plain = lemke(matrix, vector, lower=lower)
    problem = LCP(units[:, None] * matrix * units, units * vector, lower=lower)
    other = solve(problem, Lemke(), tolerance=1e-7, throw=False)
    assert plain.status is other.status is Status.SOLVED
    assert other.point * units == pytest.approx(plain.point, abs=1e-7)


# Lemke: sizes, and a second implementation


def active_set_answer(matrix, vector):
    """The one answer of a problem with a P-matrix, by Murty's least-index method: no pivots, no tableau."""
    active = np.zeros(len(vector), dtype=bool)
    while True:
        z = np.zeros(len(vector))
        z[active] = np.linalg.solve(matrix[np.ix_(active, active)], -vector[active])
        wrong = np.where(active, z < 0.0, matrix @ z + vector < -1e-13)
        if not wrong.any():
            return z
        if wrong.sum() < len(vector) // 4:  # near the end one by one, which is what makes it finite
            wrong[np.argmax(wrong) + 1 :] = False
        active ^= wrong


def test_large_problems_in_blocks_of_pivots():
    generator = np.random.default_rng(7)
    for size in (95, 96, 97, 200):  # the kernel lets updates wait from 96 on
        matrix = monotone(generator, size) / size + 0.1 * np.eye(size)
        vector = generator.normal(size=size)
        z, pivots, outcome = pivoted(matrix, vector, np.ones(size), 10_000)
        other = active_set_answer(matrix, vector)
        assert outcome == kernels.SOLVED
        assert pivots < 10 * size
        assert z == pytest.approx(other, abs=1e-11)
        assert lemke(matrix, vector).point == pytest.approx(other, abs=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_redundant_contacts_with_a_friction_pyramid(seed):
    """20 contacts of one body, 120 unknowns, a matrix of rank 6: where rounding makes rays."""
    generator = np.random.default_rng(seed)
    contacts, sides = 20, 4
    jacobian = generator.normal(size=(3 * contacts, 6))
    forces = np.zeros((3 * contacts, contacts * (1 + sides)))
    sums = np.kron(np.eye(contacts), np.ones(sides))
    for i in range(contacts):
        forces[3 * i, i] = 1.0
        forces[3 * i + 1 : 3 * i + 3, contacts + sides * i : contacts + sides * (i + 1)] = [
            [1, 0, -1, 0],
            [0, 1, 0, -1],
        ]
    matrix = np.block(
        [
            [
                (forces.T @ jacobian) @ (forces.T @ jacobian).T,
                np.vstack([np.zeros((contacts, contacts)), sums.T]),
            ],
            [np.hstack([0.5 * np.eye(contacts), -sums]), np.zeros((contacts, contacts))],
        ]
    )
    vector = np.concatenate([forces.T @ jacobian @ generator.normal(size=6), np.zeros(contacts)])
    assert lemke(matrix, vector).status is Status.SOLVED


def test_pivoting_in_portions_is_the_same_walk():
    generator = np.random.default_rng(8)
    matrix, vector, cover = monotone(generator, 120) + np.eye(120), generator.normal(size=120), np.ones(120)
    at_once = pivoted(matrix, vector, cover, 1000)
    tableau, entering, pivots = kernels.prepare(matrix, vector, cover), 240, 0
    outcome = kernels.PIVOT_LIMIT
    while outcome == kernels.PIVOT_LIMIT:
        entering, done, outcome = kernels.pivot(tableau, cover, entering, 7)
        pivots += done
    assert outcome == at_once[2] == kernels.SOLVED
    assert pivots == at_once[1]
    assert kernels.unknowns(tableau)[0] == pytest.approx(at_once[0], abs=1e-11)


def test_grasps_with_a_friction_pyramid_agree_with_newton():
    """The 200 problems of size 10 of the two robots: 0 ≤ (c_n, x_t, x_o, a_t⁻, a_o⁻), x = c + μ c_n."""
    a = np.array(
        [
            [1.2688, -1, 0.085, 0, 0, 0],
            [-1, 1.2688, 0, -0.085, 0, 0],
            [0.085, 0, 2.7216, -0.5, 0, 0],
            [0, -0.085, -0.5, 2.7216, 0, 0],
            [0, 0, 0, 0, 3.5, 0.5],
            [0, 0, 0, 0, 0.5, 3.5],
        ]
    )
    friction = 0.5 * np.eye(2)
    forces = np.eye(6)
    forces[2:4, :2] = forces[4:6, :2] = -friction
    matrix = np.zeros((10, 10))
    matrix[:6, :6] = a @ forces
    matrix[2:6, 6:] = np.eye(4)
    matrix[6:, 2:6] = -np.eye(4)
    matrix[6:8, :2] = matrix[8:, :2] = 2.0 * friction
    generator = np.random.default_rng(2003)
    for _ in range(200):
        vector = np.concatenate([generator.normal(size=6), np.zeros(4)])
        generator.uniform(0.0, 2.0 * np.pi, 2)
        solution = solve(LCP(matrix, vector), Lemke(), tolerance=1e-13)
        other = solve(LCP(matrix, vector), SemismoothNewton(), tolerance=1e-12)
        assert forces @ solution.point[:6] == pytest.approx(forces @ other.point[:6], abs=1e-9)


def test_what_lemke_does_not_take():
    with pytest.raises(UnsupportedError, match="semismooth-newton"):
        solve(MCP(lambda z: z**2 - 1, [0.0], [INFINITY], jacobian=lambda z: np.diag(2 * z)), Lemke())
    with pytest.raises(UnsupportedError, match="max_unknowns=3"):
        solve(LCP(np.eye(2), [-1, -1], upper=4.0), Lemke(max_unknowns=3))
    with pytest.raises(OptionError, match="max_covers=0"):
        Lemke(max_covers=0)


# projected Gauss-Seidel


def obstacle(size=50):
    """Membrane between two obstacles on the unit square, force 1; the mesh is square."""
    x = np.arange(1, size + 1) / (size + 1)
    bumps = np.outer(np.sin(9.2 * x), np.sin(9.3 * x)).ravel()
    second = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(size, size))
    matrix = sp.kron(second, sp.eye_array(size)) + sp.kron(sp.eye_array(size), second)
    return LCP(
        matrix,
        np.full(size**2, -1.0 / (size + 1) ** 2),
        lower=bumps**3,
        upper=bumps**2 + 0.2,
        name="obstacle",
    )


def test_the_obstacle_problem():
    problem = obstacle()
    plain = solve(problem, ProjectedGaussSeidel(), tolerance=1e-12)
    fast = solve(problem, ProjectedGaussSeidel(omega=1.8), tolerance=1e-12)
    assert plain.point == pytest.approx(fast.point, abs=1e-9)
    assert fast.statistics.iterations < 0.5 * plain.statistics.iterations
    at_bound = (plain.point == problem.lower) | (plain.point == problem.upper)
    assert 0.1 < at_bound.mean() < 0.9


def test_a_small_obstacle_problem_agrees_with_lemke():
    problem = obstacle(12)
    swept = solve(problem, ProjectedGaussSeidel(omega=1.5), tolerance=1e-13)
    assert swept.point == pytest.approx(solve(problem, Lemke(), tolerance=1e-13).point, abs=1e-12)


def test_bounds_of_all_kinds_are_swept():
    lower = np.array([0.0, -INFINITY, -1.0, -INFINITY, 0.5])
    upper = np.array([INFINITY, 1.0, 1.0, INFINITY, 0.5])
    matrix = 4.0 * np.eye(5) + np.diag(np.ones(4), 1) - np.diag(np.ones(4), -1)
    problem = LCP(matrix, [-1.0, -9.0, 3.0, 2.0, 7.0], lower=lower, upper=upper)
    swept = solve(problem, ProjectedGaussSeidel(), tolerance=1e-13)
    assert swept.point == pytest.approx(solve(problem, Lemke(), tolerance=1e-13).point, abs=1e-12)
    assert swept.certificate.bounds == 0.0


def test_diverging_sweeps_are_noticed():
    """Gauss-Seidel on the linear system [[1, 2], [−2, 1]] multiplies the error by −4."""
    problem = LCP([[1.0, 2.0], [-2.0, 1.0]], [-1.0, -1.0], lower=-INFINITY)
    solution = solve(problem, ProjectedGaussSeidel(), throw=False)
    assert solution.status is Status.FAILED
    assert solution.statistics.iterations < 50
    assert "diverge" in solution.statistics.note
    assert np.isfinite(solution.point).all()
    assert solve(problem, Lemke()).point == pytest.approx([-0.2, 0.6])


def test_sweeps_stop_at_the_iteration_limit():
    solution = solve(obstacle(20), ProjectedGaussSeidel(), max_iterations=5, throw=False)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.statistics.iterations == 5


def test_what_sweeps_do_not_take():
    with pytest.raises(UnsupportedError, match=r"row 1 has 0 there .*use lemke"):
        solve(LCP([[1.0, 1.0], [-1.0, 0.0]], [-1.0, 1.0]), ProjectedGaussSeidel())
    with pytest.raises(UnsupportedError, match="semismooth-newton"):
        solve(
            MCP(lambda z: z**2 - 1, [0.0], [INFINITY], jacobian=lambda z: np.diag(2 * z)),
            ProjectedGaussSeidel(),
        )
    for omega in (0.0, 2.0, -1.0):
        with pytest.raises(OptionError, match="omega"):
            ProjectedGaussSeidel(omega=omega)
    fixed = LCP([[1.0, 1.0], [-1.0, 0.0]], [-1.0, 1.0], lower=[0.0, 0.5], upper=[INFINITY, 0.5])
    assert solve(fixed, ProjectedGaussSeidel()).point == pytest.approx([0.5, 0.5])
