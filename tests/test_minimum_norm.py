"""Impulses of least norm: the same from every solver, and what symmetry says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import nonsmooth as ns
from nonsmooth.errors import ProblemError
from nonsmooth.solvers.minimum_norm import minimum_norm

WEIGHT = 10.0 * 9.81 * 0.01
"""Impulse in N·s that carries a table of 10 kg for a step of 0.01 s."""


def table(
    law: str = "coulomb",
    *,
    side_push: float = 0.0,
    friction: float = 0.5,
    centre: tuple[float, float] = (0.0, 0.0),
) -> ns.ContactProblem:
    """A table on four legs 1 m × 2 m apart, 0.8 m high; `side_push` in N·s along x, at the floor."""
    feet = np.array([(x - centre[0], y - centre[1], -0.8) for x in (-0.5, 0.5) for y in (-1.0, 1.0)])
    rows = np.zeros((4, 2, 3, 6))
    for i, foot in enumerate(feet):
        for k, direction in enumerate(np.eye(3)[[2, 0, 1]]):
            rows[i, 1, k] = np.concatenate([direction, np.cross(foot, direction)])
    momentum = np.array([side_push, 0.0, -WEIGHT, 0.0, side_push * -0.8, 0.0])
    return ns.ContactProblem(
        mass=np.array([[10.0, 10.0, 10.0, 4.0, 3.0, 5.0]]), jacobian=rows, bodies=np.tile((-1, 0), (4, 1)),
        momentum=momentum, friction=friction, law=law,
    )  # fmt: skip


def takes(solver: ns.solvers.Solver, law: str) -> bool:
    """Whether a solver says that it takes the law."""
    try:
        solver.check(table(law))
    except ns.errors.UnsupportedError:
        return False
    return True


PAIRS = [
    (law, name)
    for law in ("coulomb", "relaxed", "pyramid(8)")
    for name in ns.solvers.REGISTRY
    if takes(ns.solvers.by_name(name), law)
]


@pytest.mark.parametrize(("law", "name"), PAIRS)
def test_every_leg_carries_a_quarter(law: str, name: str) -> None:
    problem, solver = table(law), ns.solvers.by_name(name)
    if name == "jor-prox":  # Jacobi's own step diverges on four coupled legs
        solver = ns.solvers.JORProx(strategy="row-sum")
    rng = np.random.default_rng(3)
    start = np.abs(rng.normal(size=12)) * 0.1  # from somewhere, so that solvers end at their own impulses
    solution = ns.solve(problem, solver, tolerance=1e-8, initial=start)
    found, _ = minimum_norm(problem, solution.impulses)
    wanted = np.tile((WEIGHT / 4.0, 0.0, 0.0), 4)
    assert found == pytest.approx(wanted, abs=1e-6 * WEIGHT)
    before, after = problem.velocity(solution.impulses), problem.velocity(found)
    assert after == pytest.approx(before, abs=1e-8)


@pytest.mark.parametrize("law", ["coulomb", "pyramid(8)"])
def test_cones_hold_where_the_linear_answer_leaves_them(law: str) -> None:
    """Pushed sideways with its weight over two legs: equal shares would drag the two that carry little."""
    problem = table(law, side_push=0.3 * WEIGHT, friction=0.4, centre=(-0.3, 0.0))
    solution = ns.solve(problem, tolerance=1e-12)
    assert np.abs(problem.velocity(solution.impulses)).max() < 1e-10  # it sticks
    found, _ = minimum_norm(problem, solution.impulses)
    blocks = found.reshape(4, 3)
    inside = problem.cones.friction * blocks[:, 0] - np.linalg.norm(blocks[:, 1:], axis=1)
    assert inside.min() > -1e-7 * WEIGHT
    assert inside.min() < 1e-3 * WEIGHT  # a cone is reached
    assert problem.velocity(found) == pytest.approx(problem.velocity(solution.impulses), abs=1e-6)
    wanted = _slow_answer(problem, solution.impulses)
    assert found == pytest.approx(wanted, abs=(2e-4 if law == "coulomb" else 2e-2) * WEIGHT)


def _slow_answer(problem: ns.ContactProblem, given: np.ndarray) -> np.ndarray:
    """Least norm in round cones by a general method of SciPy."""
    rows = problem.row_matrix().toarray()

    def cone(x: np.ndarray) -> np.ndarray:
        blocks = x.reshape(-1, 3)
        return problem.friction * blocks[:, 0] - np.sqrt((blocks[:, 1:] ** 2).sum(axis=1) + 1e-16)

    answer = minimize(
        lambda x: 0.5 * x @ x, given, jac=lambda x: x, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
        constraints=[
            {"type": "eq", "fun": lambda x: rows @ (x - given), "jac": lambda _: rows},
            {"type": "ineq", "fun": cone},
        ],
    )  # fmt: skip
    return np.asarray(answer.x)


def test_sliding_contacts_keep_their_direction() -> None:
    problem = table(side_push=3.0 * WEIGHT)
    solution = ns.solve(problem, tolerance=1e-12)
    found, _ = minimum_norm(problem, solution.impulses)
    blocks = found.reshape(4, 3)
    assert np.linalg.norm(blocks[:, 1:], axis=1) == pytest.approx(0.5 * blocks[:, 0], abs=1e-8 * WEIGHT)
    assert problem.velocity(found) == pytest.approx(problem.velocity(solution.impulses), abs=1e-9)


def two_rods() -> ns.ContactProblem:
    """One mass on two joint rows of the same direction."""
    row = np.zeros((2, 2, 6))
    row[:, 1, 2] = 1.0
    return ns.ContactProblem(
        mass=np.array([[2.0, 2.0, 2.0, 1.0, 1.0, 1.0]]), jacobian=np.zeros((0, 2, 3, 6)),
        bodies=np.zeros((0, 2), dtype=int), momentum=np.array([0, 0, -6.0, 0, 0, 0]),
        friction=np.zeros(0), joint_jacobian=row, joint_bodies=np.array([(-1, 0), (-1, 0)]),
    )  # fmt: skip


def test_the_metric_decides_who_carries() -> None:
    """min λ₁² + w λ₂² with λ₁ + λ₂ = 6 has λ₁ = 6 w/(1 + w)."""
    problem = two_rods()
    solution = ns.solve(problem, tolerance=1e-12)
    for weight in (1.0, 3.0, 100.0):
        _, found = minimum_norm(problem, solution.impulses, solution.joint_impulses, np.diag([1.0, weight]))
        assert found == pytest.approx([6.0 * weight / (1.0 + weight), 6.0 / (1.0 + weight)], rel=1e-7)
    with pytest.raises(ProblemError, match="metric has shape"):
        minimum_norm(problem, solution.impulses, solution.joint_impulses, np.eye(3))


def test_nothing_stays_nothing() -> None:
    problem = two_rods()
    found = minimum_norm(problem, np.zeros(0), np.zeros(2))
    assert not np.any(found[1])
