"""The library of complementarity problems: its Jacobians, its reference answers, and every solver over it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

from nonsmooth.complementarity import REGISTRY, SemismoothNewton, Status, certify, solve
from nonsmooth.complementarity.library import (
    NAMED,
    by_name,
    harker,
    harker_reduced,
    obstacle,
    optimal_control,
    scarf_numeraire,
)
from nonsmooth.complementarity.library.block import dynamics
from nonsmooth.complementarity.library.harker import ALPHA, BETA, ETA, NETWORKS, RHO, outcome_reduced
from nonsmooth.complementarity.library.obstacle import energy
from nonsmooth.complementarity.library.optimal_control import (
    AT_BOUND,
    FAMILIES,
    OBJECTIVES,
    SIZES,
    controls_at_bound,
    objective,
    start_of_family,
    trajectory,
)
from nonsmooth.complementarity.library.scarf import DEMAND, ENDOWMENT, demand
from nonsmooth.errors import OptionError

# ---- the problems ------------------------------------------------------------------------------------


def problem_2_size(problem):
    """Variables of problem (2): one more for each finite bound."""
    return problem.size + int(np.isfinite(problem.lower).sum() + np.isfinite(problem.upper).sum())


@pytest.mark.parametrize("name", NAMED)
def test_jacobian_matches_differences(name):
    named = NAMED[name]
    problem, rng = named.build(), np.random.default_rng(4)
    inside = problem.clip(problem.start + rng.uniform(0.1, 0.5, problem.size))
    step = 1e-6
    direction = rng.standard_normal((problem.size, 5))
    if problem.size <= 100:
        direction = np.hstack([direction, np.eye(problem.size)])
    product = problem.jacobian(inside) @ direction
    for column, along in zip(product.T, direction.T, strict=True):
        difference = (problem.value(inside + step * along) - problem.value(inside - step * along)) / (
            2 * step
        )
        np.testing.assert_allclose(column, difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", NAMED)
def test_starts_fit_the_problem(name):
    named = NAMED[name]
    problem = named.build()
    assert problem.name
    assert len(named.starts) >= 2
    for start in named.starts.values():
        assert start.shape == (problem.size,)
        assert np.isfinite(problem.value(problem.clip(start))).all()
        with pytest.raises(ValueError, match="read-only"):
            start[0] = 1.0


WHOLE = [name for name, named in NAMED.items() if any(one.what in ("z", "λ") for one in named.references)]


@pytest.mark.parametrize("name", WHOLE)
def test_reference_points_are_solutions(name):
    """To the digits given: a residual no larger than the Jacobian times half a unit of the last digit."""
    named = NAMED[name]
    problem = named.build()
    for reference in named.references:
        if len(reference.values) != problem.size:
            continue
        assert named.distance(reference.values) == 0.0
        slack = np.abs(problem.jacobian(reference.values)).sum(1).max() + 1.0
        assert certify(problem, reference.values).residual <= slack * reference.accuracy


def test_names_are_listed_where_one_is_not_known():
    assert by_name("kojshin").name == "kojshin"
    with pytest.raises(OptionError, match="no complementarity problem 'koshin': did you mean kojshin"):
        by_name("koshin")


def test_distance_is_to_the_nearest_reference():
    named = by_name("kojshin")
    assert len(named.references) == 2
    assert named.distance(np.array([1.0, 0.0, 3.0, 0.1])) == pytest.approx(0.1)
    assert named.distance(np.array([np.sqrt(1.5), 0.0, 0.2, 0.5])) == pytest.approx(0.2)
    assert np.isnan(by_name("obstacle").distance(np.zeros(2500)))
    assert not by_name("obstacle").agrees(np.zeros(2500))


@pytest.mark.parametrize(("model", "example", "size"), [
    (1, 1, 27), (2, 1, 27), (3, 1, 27), (1, 2, 46), (2, 2, 46), (3, 2, 46), (4, 1, 72), (4, 2, 129),
])  # fmt: skip
def test_harker_has_the_papers_dimensions(model, example, size):
    assert problem_2_size(harker_reduced(model, example)) == size
    assert harker(model).size == (92 if model == 4 else 32)


def convex_program(model, example):
    """Solve one of Harker's models as the convex program that it is, written out without matrices of ours."""
    network = NETWORKS[example]
    sellers = 3 if model == 4 else 1
    arcs, tails, heads = len(network.arcs), *np.array(network.arcs).T
    power, cost = (0.0 if model == 1 else 1.0), (3.0 if model == 2 else 1.0)

    def parts(w):
        return w[:3], w[3 : 3 + 3 * sellers].reshape(sellers, 3), w[3 + 3 * sellers :].reshape(sellers, arcs)

    def loss(w):
        y, x, t = parts(w)
        sold, carried = x.sum(0), t.sum(0)
        pay = (RHO * sold - ETA * sold**2 / 2).sum() - power * (ETA * x**2).sum() / 2
        return (
            (ALPHA * y + BETA * y**2).sum()
            - pay
            + (network.kappa * carried + cost * network.nu * carried**3 / 3).sum()
        )

    def gradient(w):
        y, x, t = parts(w)
        arc = network.kappa + cost * network.nu * t.sum(0) ** 2
        region = -RHO + ETA * x.sum(0) + power * ETA * x
        return np.concatenate([ALPHA + 2 * BETA * y, region.ravel(), np.tile(arc, sellers)])

    def balance(w):
        y, x, t = parts(w)
        rest = np.zeros((sellers, network.nodes))
        rest[:, :3] -= x
        rest[:, :3] += np.diag(y) if model == 4 else y
        for arc, (i, j) in enumerate(zip(tails, heads, strict=True)):
            rest[:, i] -= t[:, arc]
            rest[:, j] += t[:, arc]
        return rest.ravel()

    size = 3 + sellers * (3 + arcs)
    slope = np.column_stack([balance(row) for row in np.eye(size)])
    found = minimize(
        loss, np.ones(size), jac=gradient, method="SLSQP", bounds=[(0, None)] * size,
        constraints={"type": "eq", "fun": balance, "jac": lambda w: slope},
        options={"ftol": 1e-16, "maxiter": 1000},
    )  # fmt: skip
    return found.x


@pytest.mark.parametrize("example", [1, 2])
@pytest.mark.parametrize("model", [1, 2, 3, 4])
def test_harker_answers_are_those_of_a_convex_program(model, example):
    """Models 1 to 4 minimise cost less what buyers pay; a library's optimiser finds the same numbers.

    To 1e-5: the objective, near 1000, is flat there, and rounding hides changes of z below 1e-6.
    """
    answer = outcome_reduced(model, convex_program(model, example))
    reference = NAMED[f"harkmcp-{model}-example-{example}"].references[0]
    np.testing.assert_allclose(answer, reference.values, atol=1e-5)


def test_scarf_demand_obeys_walras_and_has_the_reference_shares():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 2.0, 6)
    bought = demand(p)
    np.testing.assert_allclose(p @ bought, p @ ENDOWMENT)
    np.testing.assert_allclose(demand(3.0 * p), bought)
    at_one = demand(np.ones(6))
    np.testing.assert_allclose(at_one / at_one.sum(0), DEMAND / DEMAND.sum(0))


def test_scarf_has_the_papers_dimensions():
    assert problem_2_size(by_name("scarfanum").build()) == 28
    assert problem_2_size(by_name("scarfasum").build()) == 30
    with pytest.raises(OptionError, match=r"numeraire='XX'.*K1, ND"):
        scarf_numeraire("XX")


def test_any_commodity_can_be_the_numeraire():
    first = by_name("scarfanum").references[0].values
    for k, name in enumerate(("K1", "ND", "DU", "K0", "SL", "UL")):
        scaled = np.concatenate([first[:6] / first[k], first[6:]])
        assert certify(scarf_numeraire(name), scaled).residual < 2e-5


def test_optimal_control_matrix_is_monotone_and_banded():
    problem = optimal_control(7, (3.0, -2.0))
    assert problem.size == 35
    assert problem_2_size(problem) == 49
    rows, columns = problem.matrix.nonzero()
    assert np.abs(rows - columns).max() == 8
    symmetric = (problem.matrix + problem.matrix.T).toarray() / 2
    np.testing.assert_allclose(symmetric, np.diag(np.tile([2.0, 1.0, 0.0, 0.0, 6.0], 7) / 7))


def test_optimal_control_is_the_stationarity_of_its_objective():
    """With the states eliminated, the gradient of J by the controls is what the control rows say."""
    initial, steps = (15.0, 5.0), 6
    problem = optimal_control(steps, initial)
    controls = np.linspace(-0.8, 0.9, steps)
    z = trajectory(controls, initial)
    multipliers = np.arange(problem.size).reshape(-1, 5)[:, 2:4].ravel()
    states = np.arange(problem.size).reshape(-1, 5)[:, :2].ravel()
    value = problem.value(z)
    np.testing.assert_allclose(value[multipliers], 0.0, atol=1e-12)
    block = problem.matrix[states][:, multipliers].toarray()
    z[multipliers] = np.linalg.solve(block, -value[states])  # the multipliers that make the state rows hold
    gradient = problem.value(z)[4::5]
    for t in range(steps):
        shifted = [trajectory(controls + sign * 1e-6 * (np.arange(steps) == t), initial) for sign in (1, -1)]
        difference = (objective(shifted[0]) - objective(shifted[1])) / 2e-6
        assert gradient[t] == pytest.approx(difference, abs=1e-7)


def test_optimal_control_starts_differ_and_follow_the_dynamics():
    controls = [start_of_family(family, 4)[4::5].tolist() for family in FAMILIES]
    assert controls == [[0.0] * 4, [1.0] * 4, [-1.0] * 4, [1.0, -1.0, 1.0, -1.0]]
    assert controls_at_bound(start_of_family(FAMILIES[1], 4)) == 4
    with pytest.raises(OptionError, match="steps=0"):
        optimal_control(0)


def active_set(problem, count=60):
    """A plain active-set Newton method for a monotone LCP with bounds, apart from the package's solvers."""
    z = problem.start.copy()
    for _ in range(count):
        value = problem.value(z)
        low, high = z - value < problem.lower, z - value > problem.upper
        held = (low | high).astype(float)
        goal = np.where(low, problem.lower, np.where(high, problem.upper, 0.0))
        matrix = sp.diags_array(held) + sp.diags_array(1.0 - held) @ problem.matrix
        z = spsolve(matrix.tocsc(), held * goal - (1.0 - held) * problem.vector)
        if certify(problem, z).residual < 1e-11:
            return z
    raise AssertionError("the active set did not settle")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("steps", SIZES[:3])
def test_optimal_control_answers(family, steps):
    """Objective and number of controls at their bound, as PATH found them."""
    problem = optimal_control(steps, family)
    z = active_set(problem)
    column = SIZES.index(steps)
    assert certify(problem, z).residual < 1e-11
    assert objective(z) == pytest.approx(OBJECTIVES[family][column], abs=6e-7)
    assert controls_at_bound(z) == AT_BOUND[family][column]


def test_obstacle_is_symmetric_and_its_answer_touches_both_obstacles():
    problem = obstacle(20)
    assert (problem.matrix != problem.matrix.T).nnz == 0
    assert np.linalg.eigvalsh(problem.matrix.toarray())[0] > 0.0
    z = minimize(
        lambda z: energy(problem, z), problem.start, jac=lambda z: problem.value(z), method="L-BFGS-B",
        bounds=np.column_stack([problem.lower, problem.upper]),
        options={"ftol": 0.0, "gtol": 1e-12, "maxiter": 2000},
    ).x  # fmt: skip
    assert certify(problem, z).residual < 1e-7  # rounding hides smaller changes of the energy
    assert (z <= problem.lower).any()
    assert (z >= problem.upper).any()
    assert ((problem.lower < z) & (z < problem.upper)).any()


def test_block_matrix_is_the_papers():
    g, b = dynamics((0.0, -20.6, 4.0))
    np.testing.assert_allclose(
        [g[0, 0], g[0, 1], g[0, 2], g[2, 2]], [1.7619, -0.8095, -0.4286, 0.6190], atol=6e-5
    )
    np.testing.assert_allclose(np.linalg.eigvalsh(g), [0.0, 0.81888, 0.95238, 2.99064], atol=6e-6)
    forces = np.array([24.695, 0.0, -1.365, 0.0])
    np.testing.assert_allclose(g @ forces + b, [0.0, 3.9, 0.0, 0.0], atol=1e-12)


# ---- every solver over every problem ----------------------------------------------------------------------

METHODS = {name: kind() for name, kind in REGISTRY.items()}
UNSOLVED = {
    ("box-trust-region", "billups"),  # a stationary point
    ("box-trust-region", "obstacle"),  # problem (2) has 7,500 variables: it takes too long
    ("bounded-minimiser", "billups"),
    ("bounded-minimiser", "transmcp"),
    ("bounded-minimiser", "harkmcp-4"),
}
"""Pairs of a method and a problem that may stay unsolved from the first start; all others must be solved."""
LARGEST_FOR_LIBRARIES = 200
"""Variables up to which a library's method is tried: it looks at the time between evaluations only."""
TAKEN = [
    (method, name)
    for name, named in NAMED.items()
    for problem in [named.build()]
    for method, solver in METHODS.items()
    if solver.takes(problem) and (method != "bounded-minimiser" or problem.size <= LARGEST_FOR_LIBRARIES)
]


def check_answer(named, found, tolerance):
    """A point that is called solved has a certificate and is a reference; a failure says what it is."""
    certificate = certify(found.problem, found.point)
    assert (certificate.residual <= tolerance) or found.status is not Status.SOLVED
    if found.status is Status.SOLVED and named.references:
        # a residual of 1e-9 moves the numbers by as much times the condition of the problem
        assert named.agrees(found.point, 1e-6), f"{named.distance(found.point):.3g} from any reference"
    if found.status is not Status.SOLVED:
        assert certificate.residual > tolerance or np.isnan(certificate.residual)
        assert found.status.sentence


@pytest.mark.parametrize(("method", "name"), TAKEN)
def test_solver_on_problem(method, name):
    named, tolerance = NAMED[name], 1e-9
    limit = 0.5 if (method, name) in UNSOLVED else 20.0
    start = next(iter(named.starts.values()))
    found = solve(
        named.build(), METHODS[method], tolerance=tolerance, time_limit=limit, start=start, throw=False
    )
    check_answer(named, found, tolerance)
    assert found.status is Status.SOLVED or (method, name) in UNSOLVED


@pytest.mark.parametrize(
    ("name", "start"), [(name, start) for name, named in NAMED.items() for start in named.starts]
)
def test_semismooth_newton_solves_every_problem_from_every_start(name, start):
    named, tolerance = NAMED[name], 1e-9
    found = solve(named.build(), SemismoothNewton(), tolerance=tolerance, start=named.starts[start])
    check_answer(named, found, tolerance)


def test_both_answers_of_kojshin_are_found():
    named = NAMED["kojshin"]
    points = [
        solve(named.build(), SemismoothNewton(), tolerance=1e-12, start=start).point
        for start in named.starts.values()
    ]
    for reference in named.references:
        assert any(reference.distance(point) < 1e-9 for point in points)


def test_optimal_control_with_70_000_variables_in_seconds():
    """The paper's largest problem, for which it needed 8.8 hours."""
    problem = optimal_control(10_000, FAMILIES[0])
    found = solve(problem, SemismoothNewton(), tolerance=1e-10, start=start_of_family(FAMILIES[0], 10_000))
    assert objective(found.point) == pytest.approx(OBJECTIVES[FAMILIES[0]][3], abs=6e-7)
    assert controls_at_bound(found.point) == AT_BOUND[FAMILIES[0]][3]
    assert found.statistics.time < 10.0
