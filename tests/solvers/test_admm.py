"""ADMM: it solves what it says, in any units, under both laws, with joints, by bodies and by rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nonsmooth as ns
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.problem.library import NAMED, random_problem, sphere_packing
from nonsmooth.problem.library.named import cube_on_plane, sliding_ball
from nonsmooth.scenes import box_stack
from nonsmooth.solvers import GaussSeidel, Newton, Status
from nonsmooth.solvers.admm import ADMM
from nonsmooth.solvers.kernels import bands

VARIANTS = {
    "admm": ADMM(),
    "rows": ADMM(form="rows"),
    "plain": ADMM(depth=0, relaxation=1.6),
    "one-penalty": ADMM(balance=False),
}


def without_masses(problem: ns.ContactProblem) -> ns.ContactProblem:
    return ns.ContactProblem(
        delassus=problem.operator.matrix(),
        free_velocity=np.concatenate([problem.free_velocity, problem.joint_free_velocity]),
        friction=problem.friction,
        components=problem.components,
        joint_rows=problem.joint_rows,
        law=problem.law,
    )


def tower_problem(boxes: int) -> ns.ContactProblem:
    """The first step of a stack of cubes at rest."""
    kept: list[ns.ContactProblem] = []
    ns.simulate(
        box_stack(boxes),
        duration=1e-3,
        step=1e-3,
        solver=ADMM(),
        observe=lambda frame: kept.append(frame.solution.problem),
    )
    return kept[0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", [n for n, named in NAMED.items() if named.build().law.name != "pyramid"])
def test_named_problems_have_their_closed_forms(name, variant):
    named = NAMED[name]
    problem = named.build()
    solution = ns.solve(problem, VARIANTS[variant], tolerance=1e-11, max_iterations=50_000)
    assert solution.certificate.holds(1e-11)
    scale = 1.0 + np.abs(named.velocity).max()
    np.testing.assert_allclose(solution.velocity, named.velocity, atol=1e-8 * scale)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_sliding_ball_to_ten_digits_under_both_laws(variant, law):
    solution = ns.solve(sliding_ball(law), VARIANTS[variant], tolerance=1e-11)
    normal = 0.0981 if law == "coulomb" else 0.4981 / 1.14
    np.testing.assert_allclose(solution.impulses, [normal, -0.2 * normal], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_hyperstatic_cube_has_one_velocity(variant, speed):
    """Coulomb friction takes μ g h = 0.3 · 0.0981 m/s from a cube that glides."""
    solution = ns.solve(cube_on_plane(speed), VARIANTS[variant], tolerance=1e-11)
    lost = 0.3 * 0.0981 if speed else 0.0
    np.testing.assert_allclose(solution.velocity, [speed - lost, 0, 0, 0, 0, 0], atol=1e-9)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    contacts=st.integers(1, 14),
    joints=st.integers(0, 3),
    law=st.sampled_from(["coulomb", "relaxed"]),
)
def test_status_and_certificate_agree(seed, contacts, joints, law):
    """Solved means certified, and what is certified under the convex law has Newton's velocities."""
    problem = random_problem(seed, contacts=contacts, mass_ratio=100.0, joint_rows=joints, law=law)
    solution = ns.solve(problem, ADMM(), tolerance=1e-9, max_iterations=3000, throw=False)
    assert (solution.status is Status.SOLVED) == solution.certificate.holds(1e-9)
    assert solution.certificate.residual < 1.0  # better than nothing at the least
    if law == "relaxed" and solution.status is Status.SOLVED:
        reference = ns.solve(problem, Newton(), tolerance=1e-10, throw=False)
        if reference.status is Status.SOLVED:
            size = max(np.abs(problem.free_velocity).max(), 1e-12)
            np.testing.assert_allclose(
                solution.contact_velocities, reference.contact_velocities, atol=1e-3 * size
            )


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
@pytest.mark.parametrize("form", ["bodies", "rows"])
def test_packing_is_solved_by_bodies_and_by_rows(law, form):
    problem = sphere_packing(60, law=law)
    solution = ns.solve(problem, ADMM(form=form), tolerance=1e-8)
    assert solution.certificate.holds(1e-8)
    np.testing.assert_allclose(
        solution.contact_velocities,
        ns.solve(problem, GaussSeidel(), tolerance=1e-8).contact_velocities,
        atol=1e-3 * np.abs(problem.free_velocity).max(),
    )


@pytest.mark.parametrize("joints", [1, 3])
def test_joints_hold_with_and_without_masses(joints):
    problem = random_problem(7, contacts=6, mass_ratio=10.0, joint_rows=joints)
    for given_as in (problem, without_masses(problem)):
        solution = ns.solve(given_as, ADMM(), tolerance=1e-10)
        drift = np.abs(solution.joint_velocities).max()
        assert drift < 1e-8 * np.abs(problem.free_velocity).max()


def test_redundant_joints_are_no_obstacle(scene):
    """The same joint twice: the matrix over the rows is singular without the penalty."""
    once = scene(3, contacts=5)
    twice = once.block_arguments()
    for name in ("joint_jacobian", "joint_bodies", "joint_bias"):
        twice[name] = np.concatenate([twice[name], twice[name]])
    assert ns.solve(ns.ContactProblem(**twice), ADMM(), tolerance=1e-9).certificate.holds(1e-9)


@pytest.mark.parametrize(("length", "mass", "time"), [(1e3, 1.0, 1.0), (1.0, 1e-3, 1.0), (1e-3, 1e6, 1e3)])
@pytest.mark.parametrize("form", ["bodies", "rows"])
def test_units_do_not_matter(scene, length, mass, time, form):
    """In other units the same iterations are done, and they end in the same place."""
    first = scene(4, components=3)
    other = first.in_units(length, mass, time)
    here = ns.solve(ns.ContactProblem(**first.block_arguments()), ADMM(form=form), tolerance=1e-9)
    there = ns.solve(ns.ContactProblem(**other.block_arguments()), ADMM(form=form), tolerance=1e-9)
    assert abs(here.statistics.iterations - there.statistics.iterations) <= 3  # rounding differs
    expected, _ = first.impulses_in_units(here.impulses, here.joint_impulses, length, mass, time)
    np.testing.assert_allclose(there.impulses, expected, atol=1e-6 * np.abs(expected).max())


def test_tall_stack_takes_few_iterations():
    """A sweep carries a force to the next contact, the factorised system from one end to the other."""
    problem = tower_problem(40)
    for given_as in (problem, without_masses(problem)):
        solution = ns.solve(given_as, ADMM(), tolerance=1e-6)
        assert solution.statistics.iterations <= 50
    sweeps = ns.solve(problem, GaussSeidel(), tolerance=1e-6, throw=False).statistics.iterations
    assert sweeps > 500


def test_acceleration_and_balance_save_iterations():
    problem = sphere_packing(60)
    iterations = {
        name: ns.solve(problem, solver, tolerance=1e-8).statistics.iterations
        for name, solver in VARIANTS.items()
    }
    assert iterations["admm"] < iterations["plain"]
    assert iterations["admm"] < iterations["one-penalty"]


def test_slightly_asymmetric_operator_is_taken_as_it_is():
    problem = sphere_packing(20)
    matrix = problem.operator.matrix().toarray()
    noise = 1e-4 * np.random.default_rng(0).standard_normal(matrix.shape) * (matrix != 0.0)
    skewed = ns.ContactProblem(
        delassus=matrix + noise - noise.T,
        free_velocity=problem.free_velocity,
        friction=problem.friction,
        components=3,
        allow_asymmetry=True,
    )
    solution = ns.solve(skewed, ADMM(), tolerance=1e-9)
    assert solution.certificate.holds(1e-9)


def test_a_good_start_is_kept_and_a_near_one_helps():
    problem = sphere_packing(60)
    first = ns.solve(problem, ADMM(), tolerance=1e-8)
    again = ns.solve(problem, ADMM(), tolerance=1e-8, start=first)
    assert again.statistics.iterations == 0
    np.testing.assert_array_equal(again.impulses, first.impulses)
    rough = ns.solve(problem, ADMM(), tolerance=1e-3)
    assert ns.solve(problem, ADMM(), start=rough).statistics.iterations < first.statistics.iterations


def test_bodies_that_touch_nothing_do_not_matter():
    problem = sphere_packing(20)
    alone = np.tile(problem.mass[:1], (30,) + (1,) * (problem.mass.ndim - 1))
    crowd = ns.ContactProblem(
        mass=np.concatenate([alone, problem.mass]),
        jacobian=problem.jacobian,
        bodies=np.where(problem.bodies < 0, -1, problem.bodies + 30),
        momentum=np.concatenate([np.ones(180), problem.momentum]),
        bias=problem.bias,
        friction=problem.friction,
    )
    np.testing.assert_allclose(
        ns.solve(crowd, ADMM()).impulses, ns.solve(problem, ADMM()).impulses, rtol=0.0, atol=1e-9
    )


def test_what_it_cannot_take_is_said():
    problem = sphere_packing(20)
    with pytest.raises(UnsupportedError, match=r"max_blocks=3"):
        ns.solve(problem, ADMM(max_blocks=3))
    with pytest.raises(UnsupportedError, match="form='rows'"):
        ns.solve(without_masses(problem), ADMM(form="bodies"))
    with pytest.raises(UnsupportedError, match="pyramid"):
        ns.solve(problem.with_law("pyramid(4)"), ADMM())


@pytest.mark.parametrize(
    ("option", "value"),
    [("penalty", 0.0), ("relaxation", 2.0), ("depth", -1), ("form", "columns"), ("max_blocks", 0)],
)
def test_bad_options_are_named(option, value):
    with pytest.raises(OptionError, match=option):
        ADMM(**{option: value})


@pytest.mark.parametrize(("bodies", "reach"), [(1, 0), (3, 1), (9, 2), (12, 11)])
def test_band_factors_solve_what_numpy_solves(bodies, reach):
    rng = np.random.default_rng(bodies)
    size, width = 6 * bodies, 6 * reach + 5
    matrix = rng.standard_normal((size, size))
    body = np.arange(size) // 6
    matrix = np.where(np.abs(body[:, None] - body) <= reach, matrix + matrix.T, 0.0) + 60.0 * np.eye(size)
    band = np.zeros((size, width + 1))
    for j in range(size):
        part = matrix[j : j + width + 1, j]
        band[j, : len(part)] = part
    factor, columns = np.empty(band.size), np.empty(6 * (width + 1))
    assert bands.factorise_band(band.ravel(), 0.5, size, width, factor, columns)
    right = rng.standard_normal(size)
    found = right.copy()
    bands.solve_band(factor, size, width, found)
    assert found == pytest.approx(np.linalg.solve(matrix + 0.5 * np.eye(size), right), rel=1e-11, abs=1e-13)
    assert not bands.factorise_band(band.ravel(), -200.0, size, width, factor, columns)


def test_bodies_are_ordered_so_that_neighbours_are_close():
    rng = np.random.default_rng(5)
    name = rng.permutation(40)  # a chain of bodies under random names, and three contacts with ground
    chain = np.stack([name[:-1], name[1:]], axis=1)
    pairs = np.concatenate([chain, chain[:, ::-1], [[name[0], 40], [40, name[7]], [name[39], 40]]]).astype(
        np.uint32
    )
    order, start = np.empty((2, 41), dtype=np.int64)
    room = bands.BodyOrder(
        order, np.empty(41, dtype=np.int64), start, np.empty(2 * len(pairs), dtype=np.int64)
    )
    assert bands.order_bodies(pairs, 40, room) == (40, 11)
    assert sorted(order[:40]) == list(range(40))
    assert (np.abs(np.diff(room.place[chain], axis=1)) == 1).all()
    assert room.place[40] == -1
