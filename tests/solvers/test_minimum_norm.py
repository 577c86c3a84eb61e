"""Impulses of least norm: closed forms, and the same for every solver."""

import numpy as np
import pytest
import scipy.sparse as sp

import nonsmooth as ns
from helpers.mechanism_problems import chain, chain_on_floor, door, four_bars
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library import sphere_packing
from nonsmooth.problem.library.geometry import contact_frames, contact_rows
from nonsmooth.solvers import REGISTRY, Proximal
from nonsmooth.solvers.analysis.minimum_norm import minimum_norm

LAWS = ["coulomb", "relaxed", "pyramid(8)"]
WEIGHT = 98.1 * 0.01  # N·s in a step of 0.01 s
LEGS = ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0))


def table(law="coulomb", *, legs=LEGS, force=(0.0, 0.0), torque=(0.0, 0.0, 0.0), velocity=(0.0, 0.0), mu=0.5):
    """A table of 10 kg with its centre 0.5 m above the feet of its legs; force and torque act there."""
    feet = np.column_stack([legs, np.full(len(legs), -0.5)])
    normals = np.tile([0.0, 0.0, 1.0], (len(legs), 1))
    rows = contact_rows(contact_frames(normals), np.zeros_like(feet), feet)
    rows[:, 0] = 0.0
    mass = np.array([[10.0, 10.0, 10.0, 2.0, 2.0, 3.0]])
    momentum = mass[0] * [*velocity, 0.0, 0.0, 0.0, 0.0] + 0.01 * np.array([*force, -98.1, *torque])
    bodies = np.tile([-1, 0], (len(legs), 1))
    return ContactProblem(mass=mass, jacobian=rows, bodies=bodies, friction=mu, momentum=momentum, law=law)


def solutions(problem, tolerance=1e-11):
    """The answers of all solvers that take the problem and reach the tolerance."""
    found = {}
    for name, solver in REGISTRY.items():
        try:
            solution = ns.solve(problem, solver(), tolerance=tolerance, throw=False, max_iterations=20_000)
        except ns.errors.UnsupportedError:
            continue
        if solution.certificate.holds(tolerance):
            found[name] = solution
    return found


def check_same(problem, least=4):
    """All solvers' impulses become the same; returns them."""
    answers = {}
    for name, solution in solutions(problem).items():
        answers[name] = minimum_norm(problem, solution.impulses, solution.joint_impulses)
        certificate = certify(problem, *answers[name], problem.velocity(*answers[name]))
        assert certificate.holds(1e-9), name
        before = np.concatenate([solution.impulses, solution.joint_impulses])
        after = np.concatenate(answers[name])
        assert np.linalg.norm(after) <= np.linalg.norm(before) * (1.0 + 1e-9)
        velocity = problem.velocity(*answers[name])
        assert velocity == pytest.approx(solution.velocity, abs=1e-9 * np.abs(velocity).max() + 1e-12)
    assert len(answers) >= least
    impulses, joint_impulses = answers["auto"]
    size = max(np.abs(impulses).max(initial=0.0), np.abs(joint_impulses).max(initial=0.0))
    for other in answers.values():
        assert other[0] == pytest.approx(impulses, abs=1e-7 * size)
        assert other[1] == pytest.approx(joint_impulses, abs=1e-7 * size)
    return impulses.reshape(-1, 3), joint_impulses


@pytest.mark.parametrize("law", LAWS)
def test_table_puts_a_quarter_of_its_weight_on_each_leg(law):
    impulses, _ = check_same(table(law))
    assert impulses == pytest.approx(np.tile([0.25 * WEIGHT, 0.0, 0.0], (4, 1)), abs=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_table_with_a_torque_divides_it_linearly(law):
    """n = W/4 − (τ_x y − τ_y x)/4 for legs at (±1, ±1): the least Σ n² is linear in the place."""
    torque = np.array([20.0, 10.0, 0.0]) * 0.01
    impulses, _ = check_same(table(law, torque=(20.0, 10.0, 0.0)))
    expected = [0.25 * (WEIGHT - torque[0] * y + torque[1] * x) for x, y in LEGS]
    assert impulses[:, 0] == pytest.approx(np.array(expected), abs=1e-8)
    assert impulses[:, 1:] == pytest.approx(np.zeros((4, 2)), abs=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_pushed_table_shares_friction(law):
    """A push of 30 N at half a metre's height: a quarter of it on each leg, and a moment of 15 N·m."""
    impulses, _ = check_same(table(law, force=(30.0, 0.0)))
    expected = [0.25 * (WEIGHT + 0.15 * x) for x, _ in LEGS]
    assert impulses[:, 0] == pytest.approx(np.array(expected), abs=1e-8)
    friction = np.linalg.norm(impulses[:, 1:], axis=1)
    assert friction == pytest.approx(np.full(4, 0.25 * 0.3), abs=1e-8)


@pytest.mark.parametrize("law", ["coulomb", "pyramid(8)"])
def test_sliding_table_keeps_the_ratio_of_friction(law):
    """Sliding at 1 m/s: friction μW has a moment of μW/2, which the normals n = W/4 + μWx/8 balance."""
    impulses, _ = check_same(table(law, velocity=(1.0, 0.0)), least=3)
    expected = [0.25 * WEIGHT + 0.125 * 0.5 * WEIGHT * x for x, _ in LEGS]
    assert impulses[:, 0] == pytest.approx(np.array(expected), abs=1e-8)
    assert np.linalg.norm(impulses[:, 1:], axis=1) == pytest.approx(0.5 * impulses[:, 0], abs=1e-8)


@pytest.mark.parametrize("law", ["relaxed"])
def test_sliding_table_under_the_relaxed_law(law):
    impulses, _ = check_same(table(law, velocity=(1.0, 0.3)))
    assert np.linalg.norm(impulses[:, 1:], axis=1) == pytest.approx(0.5 * impulses[:, 0], rel=1e-8)


def test_two_corners_of_a_pyramid_that_dissipate_alike():
    """A square pyramid slides towards the middle of an edge: friction is anywhere between two corners."""
    direction = np.array([1.0, 1.0]) / np.sqrt(2.0)
    problem = table("pyramid(4)", velocity=tuple(direction))
    impulses, _ = check_same(problem, least=2)
    frames = contact_frames(np.array([[0.0, 0.0, 1.0]]))[0]
    friction = impulses[:, 1:].sum(axis=0) @ frames[1:, :2]
    assert friction == pytest.approx(-0.5 * WEIGHT * np.cos(np.pi / 4) * direction, abs=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_legs_that_lift_get_nothing(law):
    """Six legs and a torque at which the left ones would have to pull: least norm without pulling."""
    legs = (*LEGS, (0.0, 1.0), (0.3, -1.0))
    impulses, _ = check_same(table(law, legs=legs, torque=(5.0, 70.0, 3.0), force=(5.0, 1.0)))
    assert (impulses[:, 0] >= 0.0).all()
    assert (impulses[:, 0] == 0.0).any()
    assert (np.linalg.norm(impulses[:, 1:], axis=1) <= 0.5 * impulses[:, 0] + 1e-12).all()


def test_a_leg_that_a_solver_left_unloaded_gets_its_share():
    """The start is an answer on three legs of four: a corner of the set of answers."""
    problem = table()
    impulses = np.zeros((4, 3))
    impulses[[0, 2], 0] = 0.5 * WEIGHT
    assert certify(problem, impulses.ravel(), np.zeros(0), None).natural_map.relative <= 1e-12
    found, _ = minimum_norm(problem, impulses.ravel())
    assert found.reshape(-1, 3)[:, 0] == pytest.approx(np.full(4, 0.25 * WEIGHT))


def test_frictionless_table():
    impulses, _ = check_same(table(mu=0.0, torque=(20.0, 0.0, 0.0)))
    expected = [0.25 * (WEIGHT - 0.2 * y) for _, y in LEGS]
    assert impulses[:, 0] == pytest.approx(np.array(expected), abs=1e-8)


def test_door_on_three_hinges():
    """The same load on each hinge, and moments by torques and forces so that Σ |f|² + |τ|² is least."""
    problem = door(3)
    _, joint_impulses = check_same(problem, least=8)
    rows = problem.row_matrix().toarray()
    start = ns.solve(problem, tolerance=1e-12).joint_impulses
    expected = np.linalg.pinv(rows) @ (rows @ start)
    assert joint_impulses == pytest.approx(expected, abs=1e-12)
    assert joint_impulses.reshape(3, 5)[:, 2] == pytest.approx(
        np.full(3, joint_impulses.reshape(3, 5)[:, 2].mean()), abs=1e-9
    )


def test_planar_four_bars_written_in_space():
    problem = four_bars(1, 1)
    _, joint_impulses = check_same(problem, least=8)
    rows = problem.row_matrix().toarray()
    start = ns.solve(problem, tolerance=1e-12).joint_impulses
    assert joint_impulses == pytest.approx(np.linalg.pinv(rows) @ (rows @ start), abs=1e-12)


def test_metric_weighs_torques_and_forces():
    """λᵀRλ is least with the motion kept: R-orthogonal to all that [D G] does not feel."""
    problem = four_bars(1, 2)
    rows = problem.row_matrix().toarray()
    generator = np.random.default_rng(0)
    parts = generator.standard_normal((problem.joint_rows // 5, 5, 5))
    metric = sp.block_diag([sp.csr_array(part @ part.T + np.eye(5)) for part in parts])
    start = ns.solve(problem, tolerance=1e-12).joint_impulses
    _, found = minimum_norm(problem, [], start, metric)
    assert rows @ found == pytest.approx(rows @ start, abs=1e-13)
    _, singular, basis = np.linalg.svd(rows)
    null = basis[(singular > 1e-10).sum() :]
    assert len(null) > 0
    assert null @ (metric @ found) == pytest.approx(np.zeros(len(null)), abs=1e-9)
    assert minimum_norm(problem, [], start, metric.toarray())[1] == pytest.approx(found, abs=1e-12)


def test_unique_impulses_stay():
    problem = chain(30, bend=0.5, bounds=(-1e-3, 1e-3))
    start = ns.solve(problem, tolerance=1e-12)
    _, found = minimum_norm(problem, start.impulses, start.joint_impulses)
    assert found == pytest.approx(start.joint_impulses, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize(
    "build", [lambda: chain_on_floor(8), lambda: sphere_packing(25)], ids=["chain", "bed"]
)
def test_the_same_without_masses(build):
    """A problem given by its matrix alone: the same motion is the same N ν."""
    problem = build()
    start = ns.solve(problem, Proximal(), tolerance=1e-12)
    bare = ContactProblem(
        delassus=problem.operator.matrix(), joint_rows=problem.joint_rows, friction=problem.friction,
        free_velocity=np.concatenate([problem.free_velocity, problem.joint_free_velocity]),
    )  # fmt: skip
    expected = np.concatenate(minimum_norm(problem, start.impulses, start.joint_impulses))
    found = np.concatenate(minimum_norm(bare, start.impulses, start.joint_impulses))
    assert found == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_rows_with_bounds_stay_within():
    """Two motors on one axis, one of them weak: it gives all it has, the other the rest."""
    row = np.zeros((2, 2, 6))
    row[:, 1, 3] = 1.0
    problem = ContactProblem(
        mass=np.ones((1, 6)), jacobian=np.zeros((0, 2, 3, 6)), bodies=np.zeros((0, 2), dtype=int),
        friction=[], momentum=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], joint_jacobian=row, joint_bodies=[[-1, 0]] * 2,
        joint_bounds=[[-0.3, 0.3], [-2.0, 2.0]],
    )  # fmt: skip
    _, joint_impulses = check_same(problem, least=5)
    assert joint_impulses == pytest.approx([-0.3, -0.7], abs=1e-9)


def test_nothing_stays_nothing():
    problem = table()
    impulses, joint_impulses = minimum_norm(problem, np.zeros(12))
    assert not impulses.any()
    assert len(joint_impulses) == 0


def test_errors_name_the_cure():
    problem = chain(2, bounds=(-1.0, 1.0))
    start = ns.solve(problem, tolerance=1e-10).joint_impulses
    with pytest.raises(ns.errors.ProblemError, match=r"metric has shape \(3, 3\): give \(12, 12\)"):
        minimum_norm(problem, [], start, np.eye(3))
    with pytest.raises(ns.errors.ProblemError, match=r"not positive definite for joint rows \[0\]"):
        minimum_norm(problem, [], start, np.diag([-1.0, *np.ones(11)]))
    coupled = np.eye(12)
    coupled[0, 5] = coupled[5, 0] = 0.1
    with pytest.raises(ns.errors.ProblemError, match="couples joint row 5"):
        minimum_norm(problem, [], start, coupled)
    with pytest.raises(ns.errors.ProblemError, match="not all finite"):
        minimum_norm(problem, [], np.full(12, np.nan))
    bare = ContactProblem(delassus=sp.eye_array(1800), free_velocity=-np.ones(1800), friction=np.zeros(600))
    with pytest.raises(ns.errors.UnsupportedError, match="up to 1500 rows"):
        minimum_norm(bare, np.ones(1800))
