"""Three ways to one scheme (Studer and Glocker Sects. 5, 6 and 7), and the γ̇-equations of Sect. 4.

The same factor r is a relaxation factor, a penalty, and the slope of a regularised law; the iterates must be
the same numbers. The third view is written out here, on the problem's matrices alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nonsmooth as ns
from nonsmooth.errors import UnsupportedError
from nonsmooth.problem import cones
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.library.named import BLOCK_LOADS, NAMED, planar_block
from nonsmooth.solvers import AugmentedLagrangian, JORProx, Newton, Solver, Status, VelocityProx
from nonsmooth.solvers.augmented_lagrangian import RegularisedLaws

STEPS = 40


def spatial_contact(push: float) -> ns.ContactProblem:
    """A cube of 1 kg on one corner below its centre, off the middle, pushed sideways with `push` N."""
    rows = np.zeros((1, 2, 3, 6))
    rows[0, 1, :, :3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    arm = np.array([0.2, 0.1, -0.5])
    rows[0, 1, :, 3:] = np.cross(arm, rows[0, 1, :, :3])
    return ns.ContactProblem(
        mass=[[1.0, 1.0, 1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]], jacobian=rows, bodies=[[-1, 0]],
        momentum=[push, 0.5 * push, -9.81, 0.0, 0.0, 0.0], friction=0.4,
    )  # fmt: skip


PROBLEMS = {
    **{f"block-{case}": (lambda load=load: planar_block(load)) for case, load in BLOCK_LOADS.items()},
    "spatial-sticks": lambda: spatial_contact(0.5),
    "spatial-slides": lambda: spatial_contact(30.0),
    "joints": NAMED["slider-at-stop"].build,
}


def row_factors(problem: ns.ContactProblem) -> np.ndarray:
    """r of Eq. 70 for every row, the smaller one for the two rows of a disk."""
    r = 1.0 / np.abs(problem.operator.matrix().toarray()).sum(axis=1)
    first = 0
    for count in problem.components:
        r[first + 1 : first + count] = r[first + 1 : first + count].min(initial=np.inf)
        first += count
    return r


def iterates(problem: ns.ContactProblem, solver: Solver) -> np.ndarray:
    """λ after 1, 2, …, STEPS iterations from zero, in N."""
    start = np.zeros((problem.layout.blocks, 3))
    run = solver.begin(problem, start, ns.solvers.Goal())
    found = []
    for _ in range(STEPS):
        assert run.advance(1, 0.0) == 1
        found.append(problem.layout.unpad(run.impulses))
    return np.array(found)


def shifted_laws(problem: ns.ContactProblem, r: np.ndarray) -> np.ndarray:
    """Exact regularisation: the offset of the regularised law is shifted to the force it gave (Eq. 112)."""
    matrix = problem.operator.matrix().toarray()
    free = np.concatenate([problem.free_velocity, problem.joint_free_velocity])
    offset, found = np.zeros(len(free)), []
    for _ in range(STEPS):
        acceleration = matrix @ offset + free
        forces = np.empty_like(offset)
        first = 0
        for count, friction in zip(problem.components, problem.friction, strict=True):
            n, t = first, slice(first + 1, first + count)
            forces[n] = cones.regularised_normal(acceleration[n], offset[n], r[n])
            if count > 1:
                radius = friction * offset[n]
                forces[t] = cones.regularised_friction(acceleration[t], offset[t], r[t], radius)
            first += count
        joints = slice(first, None)
        forces[joints] = np.clip(offset[joints] - r[joints] * acceleration[joints], *problem.joint_bounds.T)
        offset = forces
        found.append(offset)
    return np.array(found)


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_scheme_in_three_views(name: str) -> None:
    problem = PROBLEMS[name]()
    r = row_factors(problem)
    relaxation = iterates(problem, JORProx(r=r))
    penalty = iterates(problem, AugmentedLagrangian(r=r, subproblem="once"))
    slope = shifted_laws(problem, r)
    rounding = 1e-13 * np.abs(relaxation).max()
    np.testing.assert_allclose(penalty, relaxation, rtol=0.0, atol=rounding)
    np.testing.assert_allclose(slope, relaxation, rtol=0.0, atol=rounding)
    assert np.abs(relaxation[-1] - relaxation[0]).max() > 1e3 * rounding  # they did move


@pytest.mark.parametrize("name", PROBLEMS)
def test_strategies_mean_the_same_factors(name: str) -> None:
    problem = PROBLEMS[name]()
    own = JORProx(r=row_factors(problem)).factors(problem)
    for kind in (JORProx, AugmentedLagrangian):
        np.testing.assert_allclose(kind(strategy="row-sum", omega=1.0).factors(problem), own, rtol=1e-12)


@pytest.mark.parametrize("case", BLOCK_LOADS)
def test_all_views_end_on_the_same_accelerations(case: str) -> None:
    """The closed forms of §5.8; forces are unique but for the friction that sticks."""
    named = NAMED[{"stick": "block-sticks", "slide": "block-slides", "open": "block-opens"}[case]]
    problem = planar_block(BLOCK_LOADS[case])
    for solver in (
        JORProx(strategy="row-sum"),
        AugmentedLagrangian(subproblem="once", strategy="row-sum", omega=1.0),
        AugmentedLagrangian(),
        AugmentedLagrangian(omega=1.0),
    ):
        solution = ns.solve(problem, solver, tolerance=1e-11)
        np.testing.assert_allclose(solution.velocity, named.velocity, atol=1e-8)
        np.testing.assert_allclose(solution.contact_velocities, named.contact_velocities, atol=1e-8)
        if named.impulses is not None:
            np.testing.assert_allclose(solution.impulses, named.impulses, atol=1e-8)


# ---- what r is as a penalty ----------------------------------------------------------------------------


def test_a_particle_on_a_plane_by_hand() -> None:
    """1 kg under 10 N, G = 1, c = −10: (107) with λ held is γ̇ = (λ − r γ̇) − 10, and λ' = (λ + 10 r)/(1 + r).

    From λ = 0 the gap to 10 N shrinks by 1/(1 + r) with every update; with r = 9 kg the forces are 9, 9.9, …
    """
    problem = ns.ContactProblem(delassus=[[1.0]], free_velocity=[-10.0], friction=[0.0])
    found = iterates(problem, AugmentedLagrangian(r=9.0))[:8, 0]
    np.testing.assert_allclose(found, 10.0 * (1.0 - 0.1 ** np.arange(1, 9)), rtol=1e-12)
    once = iterates(problem, AugmentedLagrangian(r=0.5, subproblem="once"))[:8, 0]
    np.testing.assert_allclose(once, 10.0 * (1.0 - 0.5 ** np.arange(1, 9)), rtol=1e-12)


@pytest.mark.parametrize("case", BLOCK_LOADS)
def test_a_larger_penalty_needs_fewer_updates(case: str) -> None:
    problem = planar_block(BLOCK_LOADS[case])
    updates = [
        ns.solve(
            problem, AugmentedLagrangian(omega=omega), tolerance=1e-10, history=True
        ).statistics.iterations
        for omega in (1.0, 10.0, 100.0, 1000.0)
    ]
    assert updates == sorted(updates, reverse=True)
    assert updates[0] > 2 * updates[-1]
    assert updates[-1] <= 6


def test_a_large_penalty_diverges_where_it_is_a_relaxation_factor() -> None:
    problem = planar_block(BLOCK_LOADS["stick"])
    solution = ns.solve(problem, AugmentedLagrangian(subproblem="once"), throw=False)
    assert solution.status is Status.DIVERGED
    assert solution.certificate.residual == pytest.approx(1.0)


def test_the_regularised_system_is_solved_before_each_shift() -> None:
    """(107) by a slow fixed-point iteration of its own, then one shift: the iterates of `inner`."""
    problem = planar_block(BLOCK_LOADS["slide"])
    matrix, free, r = problem.operator.matrix().toarray(), problem.free_velocity, 0.8
    laws = RegularisedLaws(problem, np.full((2, 3), r))
    offset, by_hand = np.zeros(4), []
    for _ in range(6):
        forces = offset.copy()
        for _ in range(400):  # damped: with r ‖G‖ > 1 the plain iteration runs away
            acceleration = problem.layout.pad(matrix @ forces + free)
            law = problem.layout.unpad(laws.forces(acceleration, problem.layout.pad(offset)))
            forces = forces + 0.25 * (law - forces)
        offset = forces
        by_hand.append(offset)
    found = iterates(problem, AugmentedLagrangian(r=r, tightening=1e-12))[:6]
    np.testing.assert_allclose(found, by_hand, atol=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["coulomb", "relaxed"]))
def test_slopes_and_potential_belong_to_the_regularised_laws(seed: int, law: str) -> None:
    """∂potential/∂γ̇ = −λ and ∂λ/∂γ̇ = −P r, by differences."""
    rng = np.random.default_rng(seed)
    problem = ns.ContactProblem(
        delassus=np.diag(rng.uniform(0.5, 2.0, 8)), free_velocity=rng.standard_normal(8), law=law,
        friction=[0.0, 0.5, 0.8], components=[1, 2, 3], joint_rows=2,
        joint_bounds=[[-0.3, 0.3], [-np.inf, np.inf]],
    )  # fmt: skip
    layout = problem.layout
    laws = RegularisedLaws(problem, AugmentedLagrangian().factors(problem) * 1e-3)
    offset, velocity = layout.pad(rng.standard_normal(8)), layout.pad(rng.standard_normal(8))
    slopes, step = laws.slopes(velocity, offset), 1e-6
    for place in layout.slot:
        move = np.zeros(velocity.size)
        move[place] = step
        ahead, behind = velocity + move.reshape(-1, 3), velocity - move.reshape(-1, 3)
        steepness = (laws.potential(ahead, offset) - laws.potential(behind, offset)) / (2 * step)
        assert steepness == pytest.approx(-laws.forces(velocity, offset).flat[place], abs=1e-5)
        rate = (laws.forces(ahead, offset) - laws.forces(behind, offset)) / (2 * step)
        block, component = divmod(int(place), 3)
        wanted = -slopes[block][:, component] * laws.r[block, component]
        if (
            np.abs(rate[block] - wanted).max() > 1e-4
        ):  # a kink within the step: the difference lies between the slopes of its two sides
            sides = [laws.slopes(v, offset)[block][:, component] for v in (ahead, behind)]
            assert np.abs(sides[0] - sides[1]).max() > 1e-4


# ---- the γ̇-equations -----------------------------------------------------------------------------------


@st.composite
def regular_problems(draw: st.DrawFn) -> ns.ContactProblem:
    """One to three contacts of one to three components with a G that is far from singular."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    components = rng.integers(1, 4, draw(st.integers(1, 3)))
    rows = int(components.sum())
    factor = rng.standard_normal((rows, rows + 2))
    skew = rng.standard_normal((rows, rows))
    matrix = factor @ factor.T / rows + 0.5 * np.eye(rows)
    if draw(st.booleans()):  # as with sliding contacts
        matrix += 0.1 * (skew - skew.T)
    return ns.ContactProblem(
        delassus=matrix, free_velocity=rng.standard_normal(rows), components=components, allow_asymmetry=True,
        friction=rng.uniform(0.0, 0.5, len(components)),
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(regular_problems())
def test_equations_in_accelerations_and_in_forces_agree(problem: ns.ContactProblem) -> None:
    forces = ns.solve(problem, Newton(), tolerance=1e-11)
    accelerations = ns.solve(problem, VelocityProx(), tolerance=1e-11)
    np.testing.assert_allclose(accelerations.contact_velocities, forces.contact_velocities, atol=1e-8)
    np.testing.assert_allclose(accelerations.impulses, forces.impulses, atol=1e-8)


def test_a_particle_in_space_by_hand() -> None:
    """1 kg on a plane under (3, 4, −10) N with μ = 0.3: a disk of 3 N, so γ̇_t = (5 − 3)·(0.6, 0.8) m/s².

    G = 1 and r = 1: γ̇ − r λ = c, and Eqs. 45 and 46 give the answer κ_S(c_t, 1) in one step once the
    normal force is known, which takes the step before.
    """
    problem = ns.ContactProblem(delassus=np.eye(3), free_velocity=[-10.0, 3.0, 4.0], friction=[0.3])
    solution = ns.solve(problem, VelocityProx(), tolerance=1e-12, history=True)
    assert solution.statistics.iterations == 2
    np.testing.assert_allclose(solution.contact_velocities, [0.0, 1.2, 1.6], atol=1e-12)
    np.testing.assert_allclose(solution.impulses, [10.0, -1.8, -2.4], atol=1e-12)
    np.testing.assert_allclose(cones.kappa_disk([3.0, 4.0], 1.0, 3.0), [1.2, 1.6], atol=1e-15)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2),
    st.floats(1e-3, 1e3),
    st.floats(0.0, 1e3),
)
@example([3.0, 4.0], 2.0, 2.5)  # on the edge of rS
@example([0.0, 0.0], 1.0, 0.0)
def test_kappa_is_what_prox_leaves(point: list[float], r: float, radius: float) -> None:
    """Eq. 130, κ_S(ξ, r) = ξ − prox_{rS}(ξ), and Eq. 25: x = κ_S(b, r) solves x + r a SgnSp(x) ∋ b."""
    xi = np.array(point)
    kappa = cones.kappa_disk(xi, r, radius)
    rounding = 4e-15 * (np.linalg.norm(xi) + r * radius)
    np.testing.assert_allclose(kappa, xi - cones.project_disk(xi, r * radius), rtol=0.0, atol=rounding)
    taken, reach = xi - kappa, r * radius  # r λ and r a
    assert np.linalg.norm(taken) <= reach + rounding
    if (length := float(np.linalg.norm(kappa))) > rounding:
        bend = rounding * (1.0 + reach / length)  # rounding turns a short κ
        np.testing.assert_allclose(taken, reach * kappa / length, rtol=0.0, atol=bend)


def test_kappa_with_a_factor_for_each_point() -> None:
    rng = np.random.default_rng(1)
    xi, r, radius = rng.standard_normal((5, 2)), rng.uniform(0.1, 2.0, 5), rng.uniform(0.0, 1.0, 5)
    together = cones.kappa_disk(xi, r, radius)
    apart = [cones.kappa_disk(xi[i], r[i], radius[i]) for i in range(5)]
    np.testing.assert_array_equal(together, apart)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, np.inf), (-0.4, 0.4), (-2.0, 0.1)])
@pytest.mark.parametrize("push", [-3.0, -0.2, 0.3, 3.0])
def test_joint_rows_with_bounds_in_accelerations(bounds: tuple[float, float], push: float) -> None:
    """One row, G = 2: λ = −push/2 cut to its bounds."""
    problem = ns.ContactProblem(
        delassus=[[2.0]], free_velocity=[push], friction=[], joint_rows=1, joint_bounds=[bounds]
    )
    wanted = np.clip(-0.5 * push, *bounds)
    for solver in (VelocityProx(), AugmentedLagrangian()):
        solution = ns.solve(problem, solver, tolerance=1e-12)
        assert solution.joint_impulses[0] == pytest.approx(wanted, abs=1e-11)


def test_equations_in_accelerations_need_a_regular_matrix() -> None:
    """The block has four rows and three degrees of freedom."""
    with pytest.raises(UnsupportedError, match=r"condition .* use sor-prox or gauss-seidel") as caught:
        ns.solve(planar_block(BLOCK_LOADS["stick"]), VelocityProx())
    assert str(caught.value).count(". ") == 0  # one sentence
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-11]])
    barely = ns.ContactProblem(delassus=matrix, free_velocity=[-1.0, -1.0], friction=[0.0, 0.0])
    with pytest.raises(UnsupportedError, match="condition"):
        VelocityProx().check(barely)


def test_the_threshold_does_not_depend_on_units() -> None:
    """A row in other units (1 N·m beside 1 MN) is not a singular matrix."""
    matrix = np.diag([1.0, 1e-12]) + np.array([[0.0, 5e-7], [5e-7, 0.0]])
    problem = ns.ContactProblem(delassus=matrix, free_velocity=[-1.0, -1e-6], friction=[0.0, 0.0])
    solution = ns.solve(problem, VelocityProx(), tolerance=1e-11)
    assert certify(problem, solution.impulses, np.zeros(0), None).holds(1e-11)
