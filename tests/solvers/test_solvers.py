"""Every solver over every named problem, the shared loop, and what happens to bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.errors import MissingSolverError, OptionError, ProblemError, UnsupportedError
from nonsmooth.problem.library import NAMED, random_problem, sphere_packing
from nonsmooth.problem.library.geometry import contact_rows
from nonsmooth.problem.library.named import cube_on_plane, mixed_components, planar_block, sliding_ball
from nonsmooth.solvers import (
    ADMM,
    APGD,
    REGISTRY,
    AugmentedLagrangian,
    Auto,
    EquationsOfMotion,
    FixedPoint,
    GaussSeidel,
    InteriorPoint,
    JORProx,
    Lemke,
    Newton,
    Proximal,
    SORProx,
    Status,
    VelocityProx,
    by_name,
)

VARIANTS = {
    "auto": Auto(),
    "apgd": APGD(),
    "apgd-fixed-step": APGD(step="fixed"),
    "gauss-seidel-plain": GaussSeidel(acceleration="none"),
    "gauss-seidel-symmetric": GaussSeidel(acceleration="none", order="symmetric"),
    "gauss-seidel-over-relaxed": GaussSeidel(acceleration="none", relaxation=1.2),
    "gauss-seidel-nesterov": GaussSeidel(),
    "gauss-seidel-nncg": GaussSeidel(acceleration="nncg"),
    "gauss-seidel-block-sparse": GaussSeidel(form="block-sparse"),
    "jor-prox-row-sum": JORProx(strategy="row-sum"),
    "jor-prox-adaptive": JORProx(strategy="adaptive"),
    "sor-prox": SORProx(),
    "sor-prox-normals-first": SORProx(order="normals-first"),
    "sor-prox-adaptive": SORProx(strategy="adaptive"),
    "augmented-lagrangian": AugmentedLagrangian(),
    "augmented-lagrangian-once": AugmentedLagrangian(subproblem="once", strategy="row-sum", omega=1.0),
    "velocity-prox": VelocityProx(),
    "newton": Newton(),
    "newton-cold": Newton(warm_sweeps=0),
    "newton-alart-curnier": Newton(formulation="alart-curnier", warm_sweeps=0),
    "newton-fischer-burmeister": Newton(formulation="fischer-burmeister", warm_sweeps=0),
    "proximal": Proximal(),
    "proximal-cold": Proximal(warm_sweeps=0),
    "admm": ADMM(),
    "admm-rows": ADMM(form="rows"),
    "fixed-point": FixedPoint(),
    "fixed-point-apgd": FixedPoint(inner=APGD()),
    "fixed-point-interior-point": FixedPoint(inner=InteriorPoint()),
    "interior-point-dual": InteriorPoint(),
    "interior-point-primal": InteriorPoint(form="primal"),
    "lemke": Lemke(),
    "eom": EquationsOfMotion(),
}


def takes(solver: ns.solvers.Solver, problem: ns.ContactProblem) -> bool:
    """Whether the solver says that it takes the problem; what it refuses is tested by name below."""
    try:
        solver.check(problem)
    except UnsupportedError:
        return False
    return True


def taken(solver: ns.solvers.Solver, problem: ns.ContactProblem) -> ns.ContactProblem:
    """The problem, its relaxed law, or one whose contacts yield a little, so that W is regular."""
    if takes(solver, problem):
        return problem
    if takes(solver, problem.with_law("relaxed")):
        return problem.with_law("relaxed")
    matrix = problem.operator.matrix().toarray()
    yielding = ns.ContactProblem(
        delassus=matrix + np.diag(0.5 * np.diag(matrix)), free_velocity=problem.free_velocity,
        friction=problem.friction, components=problem.components,
    )  # fmt: skip
    assert takes(solver, yielding)
    return yielding


PAIRS = [
    (problem, solver)
    for problem in NAMED
    for solver in VARIANTS
    if takes(VARIANTS[solver], NAMED[problem].build())
]


def test_no_solver_is_left_out():
    assert {solver for _, solver in PAIRS} == set(VARIANTS)


@pytest.mark.parametrize(("problem_name", "name"), PAIRS)
def test_every_solver_on_every_named_problem(problem_name, name):
    named, solver = NAMED[problem_name], VARIANTS[name]
    problem = named.build()
    solution = ns.solve(problem, solver, tolerance=1e-11)
    assert solution.status is Status.SOLVED
    assert solution.certificate.holds(1e-11)
    scale = 1.0 + max(np.abs(problem.free_velocity).max(initial=0.0), 1.0)
    if named.impulses is not None:
        np.testing.assert_allclose(solution.impulses, named.impulses, atol=1e-9 * scale)
    np.testing.assert_allclose(solution.velocity, named.velocity, atol=1e-9 * scale)
    np.testing.assert_allclose(solution.contact_velocities, named.contact_velocities, atol=1e-9 * scale)
    if named.joint_impulses is not None:
        np.testing.assert_allclose(solution.joint_impulses, named.joint_impulses, atol=1e-9 * scale)


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
@pytest.mark.parametrize("name", VARIANTS)
def test_sliding_ball_to_ten_digits_under_both_laws(name, law):
    """What takes one law alone goes through the composition that takes the other."""
    solver, problem = VARIANTS[name], sliding_ball(law)
    if not takes(solver, problem):
        composed = {
            "interior-point-dual": FixedPoint(inner=InteriorPoint()),
            "interior-point-primal": FixedPoint(inner=InteriorPoint(form="primal")),
            "fixed-point": FixedPoint().inner,
            "fixed-point-apgd": APGD(),
            "fixed-point-interior-point": InteriorPoint(),
            "newton-alart-curnier": Newton(formulation="natural-map", warm_sweeps=0),
        }
        solver = composed[name]
    solution = ns.solve(problem, solver, tolerance=1e-11)
    normal = 0.0981 if law == "coulomb" else 0.4981 / 1.14
    np.testing.assert_allclose(solution.impulses, [normal, -0.2 * normal], rtol=0.0, atol=1e-10)


def test_registry_is_complete_and_names_the_valid_ones():
    tested = {solver.name for solver in VARIANTS.values()}
    assert tested == set(REGISTRY)
    with pytest.raises(OptionError, match="gauss-seidel"):
        by_name("gauss")


# ---- hyperstatic and random problems ----------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_cube_has_one_velocity_for_all_solvers(name, speed):
    """Forces of four corners are not unique, the velocity is."""
    solver, problem = VARIANTS[name], cube_on_plane(speed)
    if not takes(solver, problem):
        solver = FixedPoint(inner=InteriorPoint()) if "interior" in name else solver
    if isinstance(solver, VelocityProx):
        with pytest.raises(UnsupportedError, match=r"regular G.*sor-prox or gauss-seidel"):
            ns.solve(problem, solver)
        return
    if not takes(solver, problem):
        assert name == "lemke"
        problem = problem.with_law("pyramid(8)")  # a corner of the octagon points along the motion
    solution = ns.solve(problem, solver, tolerance=1e-11)
    lost = 0.3 * 0.0981 if speed else 0.0
    np.testing.assert_allclose(solution.velocity, [speed - lost, 0, 0, 0, 0, 0], atol=1e-9)


RANDOM = [
    (seed, contacts, ratio, friction, joints)
    for seed, (contacts, ratio, friction, joints) in enumerate(
        [
            (1, 1.0, 0.5, 0), (2, 1e6, 2.0, 0), (3, 1e3, 0.0, 0), (5, 1e2, 1.0, 1), (8, 1e6, 0.3, 0),
            (12, 1.0, 2.0, 2), (16, 1e4, 1.0, 0), (20, 1e6, 0.5, 3), (27, 1e2, 0.2, 0), (33, 1e5, 1.0, 0),
            (40, 1.0, 0.7, 2), (50, 1e6, 2.0, 0), (50, 1e3, 0.3, 0),
        ]
    )
]  # fmt: skip
FIRM = ("auto", "newton")
"""Solvers that must solve every one of these."""


def weighted_velocity(problem: ns.ContactProblem, solution: ns.Solution) -> np.ndarray:
    """Contact and joint velocities in √J, which brings all of them to one unit."""
    flat = np.concatenate([solution.contact_velocities, solution.joint_velocities])
    return problem.layout.pad(flat) * np.sqrt(problem.cones.weight)


@pytest.mark.parametrize(("seed", "contacts", "ratio", "friction", "joints"), RANDOM)
@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_random_problems(law, seed, contacts, ratio, friction, joints):
    """Certified or said not to be; under the relaxed law all certified velocities are the same one.

    With residual ε the objective is within O(ε²) … O(ε) of its minimum, so velocities differ by √ε at the
    worst; 1e-10 is asked for and 1e-4 of the largest velocity is allowed.
    """
    problem = random_problem(
        seed, contacts=contacts, mass_ratio=ratio, largest_friction=friction, joint_rows=joints, law=law
    )
    velocities = {}
    for name, solver in VARIANTS.items():
        if not takes(solver, problem):
            continue
        solution = ns.solve(
            problem, solver, tolerance=1e-10, max_iterations=3000, time_limit=20.0, throw=False
        )
        assert (solution.status is Status.SOLVED) == solution.certificate.holds(1e-10), name
        if solution.status is Status.SOLVED:
            velocities[name] = weighted_velocity(problem, solution)
        else:
            assert name not in FIRM, (name, solution)
    assert set(FIRM) <= set(velocities)
    if law == "relaxed":
        reference = velocities["newton"]
        size = np.abs(problem.free_blocks * np.sqrt(problem.cones.weight)).max()
        for name, velocity in velocities.items():
            np.testing.assert_allclose(velocity, reference, atol=1e-4 * size, err_msg=name)


def test_exact_law_can_have_two_answers_and_both_are_certified():
    """A rod against a wall of high friction (Painlevé): sticking without pressure, or jammed.

    N = [[1, −1.5], [−1.5, 3]], q = (0.1, −1): open with γ = 0 would need u_n = 0.1 ≥ 0, which holds. Jammed
    and sticking: γ = −N⁻¹q = (1.6, 1.1333…), |γ_t| ≤ μ γ_n for μ = 1. Both satisfy Coulomb's law.
    """
    n, q = np.array([[1.0, -1.5], [-1.5, 3.0]]), np.array([0.1, -1.0])
    problem = ns.ContactProblem(delassus=n, free_velocity=q, friction=[1.0])
    for answer in ([0.0, 0.0], -np.linalg.solve(n, q)):
        certificate = ns.problem.certificate.certify(problem, np.array(answer), np.zeros(0), None)
        assert certificate.holds(1e-8)
        found = ns.solve(problem, GaussSeidel(), start=answer, tolerance=1e-8)
        np.testing.assert_allclose(found.impulses, answer, atol=1e-12)


def test_mass_ratio_and_rank_deficiency_are_real():
    problem = random_problem(11, contacts=50, mass_ratio=1e6)
    matrix = problem.operator.matrix().toarray()
    assert np.linalg.matrix_rank(matrix) < len(matrix)
    assert problem.mass[:, 0].max() / problem.mass[:, 0].min() > 1e3


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_packing_does_not_gain_energy(law):
    """v = M⁻¹(k + Dγ) has at most the kinetic energy of M⁻¹k where no gap is negative."""
    problem = sphere_packing(100, law=law)
    solution = ns.solve(problem, tolerance=1e-9)
    mass = problem.mass.ravel()
    before = problem.momentum / mass
    assert mass @ solution.velocity**2 <= mass @ before**2 * (1.0 + 1e-9)
    assert solution.certificate.dissipation >= -1e-12


# ---- pyramids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [4, 8, 16])
def test_pyramid_solvers_agree(sides):
    problem = random_problem(3, contacts=6, mass_ratio=10.0, law=f"pyramid({sides})")
    found = {
        name: ns.solve(problem, VARIANTS[name], tolerance=1e-9, max_iterations=200_000)
        for name in ("lemke", "apgd", "sor-prox-adaptive", "auto")
    }
    for name, solution in found.items():
        assert solution.certificate.holds(1e-9), name
    assert "apgd" in found["auto"].statistics.note
    crawling = random_problem(3, contacts=40, mass_ratio=1e3, law="pyramid(8)")
    assert "picked lemke" in ns.solve(crawling, tolerance=1e-8).statistics.note


@pytest.mark.parametrize("sides", [4, 8, 16, 32])
def test_pyramid_comes_close_to_the_cone(sides):
    """A particle gliding off the axes: friction acts along the nearest corner, at most π/m away.

    γ_n = 1, μ = 0.5: the chord between the two friction forces is 2·0.5·sin(angle/2). With 32 sides
    friction turns the velocity to the middle between two corners, and acts between them.
    """
    direction = 0.3
    problem = ns.ContactProblem(
        mass=np.eye(3), jacobian=[[0, 1, 0], [0, 0, 1], [1, 0, 0]], friction=[0.5],
        momentum=[3.0 * np.cos(direction), 3.0 * np.sin(direction), -1.0], law=f"pyramid({sides})",
    )  # fmt: skip
    exact = np.array([1.0, -0.5 * np.cos(direction), -0.5 * np.sin(direction)])
    corner = 2.0 * np.pi / sides * round(direction / (2.0 * np.pi / sides))
    solution = ns.solve(problem, Lemke(), tolerance=1e-12)
    error = np.linalg.norm(solution.impulses - exact)
    if sides < 32:
        assert error == pytest.approx(2.0 * 0.5 * np.sin(abs(corner - direction) / 2.0), abs=1e-12)
    assert error <= 2.0 * 0.5 * np.sin(np.pi / sides / 2.0)


@pytest.mark.parametrize("top", [1.0, 100.0, 200.0, 1000.0, 5000.0])
@pytest.mark.parametrize("name", ["lemke", "auto", "apgd"])
def test_pyramid_carries_a_heavy_body(name, top):
    """A light cube on the ground under a heavy one, four corners each: at rest, all velocities vanish."""
    corners = np.array([[x, y] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    below, above = np.insert(corners, 2, -0.5, axis=1), np.insert(corners, 2, 0.5, axis=1)
    frames = np.tile([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (8, 1, 1))
    arm_a = np.concatenate([np.zeros((4, 3)), above])
    rows = contact_rows(frames, arm_a, np.concatenate([below, below]))
    rows[:4, 0] = 0.0
    mass = np.array([[1.0], [top]]) * [1.0, 1.0, 1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]
    problem = ns.ContactProblem(
        mass=mass, jacobian=rows, bodies=[[-1, 0]] * 4 + [[0, 1]] * 4, friction=0.4, law="pyramid(8)",
        momentum=mass * [0.0, 0.0, -0.0981, 0.0, 0.0, 0.0],
    )  # fmt: skip
    solution = ns.solve(problem, VARIANTS[name], tolerance=1e-8, max_iterations=200_000)
    np.testing.assert_allclose(solution.velocity, np.zeros(12), atol=1e-7)
    assert solution.impulses[::3][:4].sum() == pytest.approx((1.0 + top) * 0.0981, rel=1e-6)


@pytest.mark.parametrize("load", [(2.0, -20.6, 0.0), (10.0, -20.6, 0.0), (0.0, -20.6, 4.0)])
def test_planar_pyramid_is_the_planar_cone(load):
    problem = planar_block(load)
    cone = ns.solve(problem, Newton(), tolerance=1e-11)
    pyramid = ns.solve(problem.with_law("pyramid(4)"), Lemke(), tolerance=1e-11)
    np.testing.assert_allclose(pyramid.velocity, cone.velocity, atol=1e-9)


def test_newton_says_what_is_too_large():
    with pytest.raises(UnsupportedError, match="gauss-seidel"):
        ns.solve(sphere_packing(30), Newton(max_blocks=50))


def test_lemke_says_what_it_cannot_do():
    with pytest.raises(UnsupportedError, match="pyramid"):
        ns.solve(cube_on_plane(), Lemke())
    with pytest.raises(UnsupportedError, match="unknowns"):
        ns.solve(sphere_packing(200, law="pyramid(8)"), Lemke())


# ---- the shared loop --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_warm_start_from_the_solution_needs_no_iteration(name):
    solver = VARIANTS[name]
    problem = taken(solver, planar_block((10.0, -20.6, 0.0)))
    first = ns.solve(problem, solver, tolerance=1e-10)
    again = ns.solve(problem, solver, tolerance=1e-9, start=first)
    assert again.statistics.iterations == 0
    np.testing.assert_array_equal(again.impulses, first.impulses)


@pytest.mark.parametrize(
    "name", [name for name in VARIANTS if name not in ("lemke", "newton", "proximal", "auto")]
)
def test_iteration_limit_is_kept_and_said(name):
    solver = VARIANTS[name]
    problem = taken(solver, random_problem(5, contacts=30))
    solution = ns.solve(problem, solver, tolerance=1e-14, max_iterations=2, throw=False)
    assert solution.statistics.iterations <= 2
    assert solution.status in (Status.ITERATION_LIMIT, Status.STALLED)
    assert not solution.certificate.holds(1e-14)
    with pytest.raises(ns.SolveError, match="relative residual") as caught:
        ns.solve(problem, solver, tolerance=1e-14, max_iterations=2)
    assert caught.value.solution.status is solution.status


@pytest.mark.parametrize("history", [False, True])
def test_divergence_is_called_so(history):
    problem = planar_block((2.0, -20.6, 0.0))  # JORprox with ω = 1 is beyond its limit 0.771
    solution = ns.solve(problem, JORProx(r=10.0), history=history, throw=False)
    assert solution.status is Status.DIVERGED
    assert solution.statistics.history.residual[-1] > 1e8
    assert solution.certificate.residual == pytest.approx(1.0)  # the start was the best of all iterates


def test_recording_does_not_end_a_slow_run():
    problem = random_problem(4, contacts=30, mass_ratio=1e3)
    runs = [
        ns.solve(problem, SORProx(omega=0.01), max_iterations=600, history=history, throw=False)
        for history in (False, True)
    ]
    assert [run.status for run in runs] == [Status.ITERATION_LIMIT] * 2


def test_time_limit_is_kept_and_said():
    problem = random_problem(4, contacts=50, mass_ratio=1e6, largest_friction=2.0)
    solution = ns.solve(problem, APGD(), tolerance=1e-15, time_limit=0.05, max_iterations=10**9, throw=False)
    assert solution.status is Status.TIME_LIMIT
    assert solution.statistics.time < 1.0


@pytest.mark.parametrize("name", VARIANTS)
def test_history_has_every_iteration(name):
    solver = VARIANTS[name]
    problem = taken(solver, planar_block((10.0, -20.6, 0.0)))
    solution = ns.solve(problem, solver, tolerance=1e-9, history=True)
    history = solution.statistics.history
    assert history.iteration[0] == 0
    assert history.iteration[-1] == solution.statistics.iterations
    if name not in ("lemke", "interior-point-dual", "interior-point-primal"):  # these count inside one call
        np.testing.assert_array_equal(history.iteration, np.arange(solution.statistics.iterations + 1))
    assert history.residual[-1] <= 1e-9
    assert np.all(np.isfinite(history.objective))
    assert np.all(np.diff(history.time) >= 0.0)
    flat = np.concatenate([solution.impulses, solution.joint_impulses])
    n = problem.operator.matrix()
    objective = 0.5 * flat @ (n @ flat) + flat @ problem.free_velocity
    assert history.objective[-1] == pytest.approx(objective, rel=1e-9)


def test_relaxed_objective_falls_to_its_minimum():
    """APGD's recorded objective ends at the optimum that the interior-point method finds."""
    problem = random_problem(5, contacts=12, mass_ratio=10.0, law="relaxed")
    apgd = ns.solve(problem, APGD(), tolerance=1e-9, history=True)
    conic = ns.solve(problem, InteriorPoint(), tolerance=1e-9, history=True)
    objective = apgd.statistics.history.objective
    assert objective[-1] == pytest.approx(conic.statistics.history.objective[-1], rel=1e-7)
    assert objective[-1] <= objective.min() + 1e-9 * abs(objective.min())


def test_same_call_gives_the_same_bits():
    problem = sphere_packing(60)
    first, second = (ns.solve(problem, tolerance=1e-9) for _ in range(2))
    assert first.impulses.tobytes() == second.impulses.tobytes()


def test_factored_and_block_sparse_sweeps_are_the_same_iteration():
    problem = sphere_packing(60)
    results = [
        ns.solve(
            problem,
            GaussSeidel(acceleration="none", order="natural", form=form),
            tolerance=1e-13,
            max_iterations=25,
            throw=False,
        ).impulses
        for form in ("factored", "block-sparse")
    ]
    np.testing.assert_allclose(results[0], results[1], atol=1e-12)


# ---- hard to judge, hard to solve -------------------------------------------------------------------


def test_momentum_that_does_not_close_is_not_solved():
    """A mass matrix near singular: the contacts are right, M v = k + Dγ is not."""
    generator = np.random.default_rng(2)
    basis = np.linalg.qr(generator.standard_normal((7, 7)))[0]
    mass = basis @ np.diag(10.0 ** (-12.0 * np.linspace(0.0, 1.0, 7))) @ basis.T
    problem = ns.ContactProblem(
        mass=0.5 * (mass + mass.T), jacobian=generator.standard_normal((7, 3)), friction=[0.3],
        momentum=generator.standard_normal(7), bias=[-1e3, 0.0, 0.0],
    )  # fmt: skip
    solution = ns.solve(problem, throw=False)
    assert (solution.status is Status.SOLVED) == solution.certificate.holds(1e-8)


def in_units(problem: ns.ContactProblem, length: float, mass: float, time: float) -> ns.ContactProblem:
    """The same random problem (no joints) in units of which a metre, a kilogram, a second have so many."""
    momentum = length * mass / time
    arm = np.array([1.0] * 3 + [length] * 3)  # rotations have one power of length more
    return ns.ContactProblem(
        mass=problem.mass * mass * arm**2,
        jacobian=problem.jacobian * arm,
        bodies=problem.bodies,
        momentum=(problem.momentum.reshape(-1, 6) * momentum * arm).ravel(),
        bias=problem.bias * length / time,
        friction=problem.friction,
        law=problem.law,
    )


@pytest.mark.parametrize("units", [(1e9, 1.0, 1.0), (1e-9, 1.0, 1.0), (1.0, 1e6, 1.0), (1.0, 1.0, 1e9)])
@pytest.mark.parametrize("name", ["interior-point-dual", "interior-point-primal", "newton", "auto"])
def test_solvers_do_not_depend_on_units(name, units):
    law = "relaxed" if "interior" in name else "coulomb"
    problem = in_units(random_problem(6, contacts=10, law=law), *units)
    assert ns.solve(problem, VARIANTS[name], tolerance=1e-8).certificate.holds(1e-8)


def test_a_long_chain_is_not_a_contradiction():
    """100 bodies joined point to point with 10⁶ kg at the end: badly conditioned, but consistent."""
    count = 100
    mass = np.ones((count, 6))
    mass[-1] = 1e6
    joint, bodies = np.zeros((3 * count, 2, 6)), np.zeros((3 * count, 2), dtype=int)
    for row in range(3 * count):
        joint[row, :, row % 3] = -1.0, 1.0
        bodies[row] = row // 3 - 1, row // 3
    contact = np.zeros((1, 2, 3, 6))
    contact[0, 1, :, :3] = np.eye(3)
    problem = ns.ContactProblem(
        mass=mass, jacobian=contact, bodies=[[-1, count - 1]], friction=[0.3], joint_jacobian=joint,
        joint_bodies=bodies, momentum=mass * np.random.default_rng(0).standard_normal((count, 6)),
    )  # fmt: skip
    slow = GaussSeidel(joints="separate")
    assert ns.solve(problem, slow, max_iterations=50, throw=False).status is Status.ITERATION_LIMIT
    assert ns.solve(problem, tolerance=1e-8).certificate.joint_drift.relative < 1e-8


def test_tangents_that_move_nothing():
    """A belt runs under a body that cannot move sideways: it slides, and friction is all there is."""
    problem = ns.ContactProblem(
        mass=[[2.0]], jacobian=[[1.0, 0.0, 0.0]], momentum=[-2.0], bias=[0.0, 1.0, 0.0], friction=[0.5]
    )
    for name in ("gauss-seidel-nesterov", "auto", "newton", "fixed-point", "sor-prox"):
        solution = ns.solve(problem, VARIANTS[name], tolerance=1e-9)
        np.testing.assert_allclose(solution.impulses, [2.0, -1.0, 0.0], atol=1e-8, err_msg=name)
    assert ns.solve(problem, start=[1.0, 5.0, 3.0]).status is Status.SOLVED


@pytest.mark.parametrize("seed", range(3))
def test_slightly_asymmetric_delassus(seed):
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((6, 6))
    noise = generator.uniform(-1.0, 1.0, (6, 6))
    w = rows.T @ rows + 0.5 * np.eye(6)
    w += 1e-3 * np.abs(w).max() * 0.5 * (noise - noise.T)
    q = generator.standard_normal(6)
    q[::3] = -np.abs(q[::3])
    problem = ns.ContactProblem(delassus=w, free_velocity=q, friction=[0.3, 0.3])
    for solver in (GaussSeidel(), Auto(), Newton()):
        assert ns.solve(problem, solver, tolerance=1e-9).status is Status.SOLVED


@pytest.mark.parametrize("name", ["gauss-seidel-nesterov", "apgd", "auto", "sor-prox-adaptive"])
def test_a_bad_start_is_forgotten(name):
    problem = random_problem(0, contacts=12)
    garbage = 1e12 * np.random.default_rng(0).standard_normal(problem.layout.rows)
    solution = ns.solve(problem, VARIANTS[name], start=garbage, tolerance=1e-8)
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "lemke"])
def test_a_good_start_is_not_lost(name):
    problem = taken(VARIANTS[name], random_problem(1, contacts=20, mass_ratio=1e4))
    good = ns.solve(problem, tolerance=1e-9)
    after = ns.solve(problem, VARIANTS[name], start=good, tolerance=1e-15, max_iterations=3, throw=False)
    assert after.certificate.residual <= good.certificate.residual


def test_what_was_found_before_the_limit_is_returned():
    problem = planar_block((10.0, -20.6, 0.0))
    solution = ns.solve(problem, GaussSeidel(), max_iterations=4, tolerance=1e-12, throw=False)
    assert solution.statistics.iterations == 4
    assert solution.certificate.residual < 0.1
    assert solution.statistics.history.iteration[-1] == 4


def test_auto_keeps_the_iteration_limit():
    problem = random_problem(5, contacts=30, mass_ratio=1e6, law="relaxed")
    for limit in (10, 501, 1001):
        solution = ns.solve(problem, max_iterations=limit, tolerance=1e-13, throw=False)
        assert solution.statistics.iterations <= limit


# ---- defined outcomes -------------------------------------------------------------------------------


def test_contradicting_joints_are_infeasible():
    """One coordinate told to stand still and to move at 1 m/s."""
    problem = ns.ContactProblem(
        mass=np.eye(3),
        jacobian=[[0.0], [0.0], [1.0]],
        friction=[0.0],
        momentum=[0.0, 0.0, -1.0],
        joint_jacobian=[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]],
        joint_bias=[0.0, -1.0],
    )
    for solver in (
        Auto(), GaussSeidel(), APGD(), Newton(), FixedPoint(), SORProx(), Lemke(), AugmentedLagrangian(),
    ):  # fmt: skip
        solution = ns.solve(problem, solver, max_iterations=500, throw=False)
        assert solution.status is Status.INFEASIBLE, solver
    for form in ("dual", "primal"):
        solver = InteriorPoint(form=form)
        assert ns.solve(problem.with_law("relaxed"), solver, throw=False).status is Status.INFEASIBLE


def test_redundant_joints_are_not_a_contradiction():
    problem = ns.ContactProblem(
        mass=np.eye(3),
        jacobian=[[0.0], [0.0], [1.0]],
        friction=[0.0],
        momentum=[1.0, 0.0, -1.0],
        joint_jacobian=[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]],
        joint_bias=[-0.5, -0.5],
    )
    for name, solver in VARIANTS.items():
        if isinstance(solver, VelocityProx):
            continue  # redundant rows have no regular W
        target = problem if takes(solver, problem) else problem.with_law("relaxed")
        solution = ns.solve(target, solver, tolerance=1e-9)
        np.testing.assert_allclose(solution.velocity, [0.5, 0.0, 0.0], atol=1e-8, err_msg=name)


def test_relaxed_law_without_a_solution_is_infeasible():
    """Two walls that close in on a particle faster than it can move."""
    problem = ns.ContactProblem(
        mass=np.eye(1), jacobian=[[1.0, -1.0]], friction=[0.0, 0.0], bias=[-1.0, -1.0], law="relaxed"
    )
    for form in ("dual", "primal"):
        solution = ns.solve(problem, InteriorPoint(form=form), throw=False)
        assert solution.status is Status.INFEASIBLE
    for solver in (GaussSeidel(), APGD(), Newton(), Auto(), SORProx()):
        solution = ns.solve(problem, solver, max_iterations=300, throw=False)
        assert solution.status is not Status.SOLVED


def test_bad_initial_impulses():
    problem = sliding_ball()
    with pytest.raises(ProblemError, match="3 impulses"):
        ns.solve(problem, start=[0.0, 0.0, 0.0])
    with pytest.raises(ProblemError, match="finite"):
        ns.solve(problem, start=[0.0, math.nan])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussSeidel(acceleration="warp"), "nesterov"),
        (lambda: GaussSeidel(order="random"), "symmetric"),
        (lambda: GaussSeidel(relaxation=2.0), "below 2"),
        (lambda: GaussSeidel(relaxation=0.0), "positive"),
        (lambda: APGD(step="big"), "adaptive"),
        (lambda: JORProx(strategy="magic"), "row-sum"),
        (lambda: SORProx(omega=-1.0), "positive"),
        (lambda: SORProx(r=[1.0, 0.0]), "positive"),
        (lambda: SORProx(omega="fast"), "positive number"),
        (lambda: AugmentedLagrangian(subproblem="twice"), "inner, once"),
        (lambda: AugmentedLagrangian(strategy="adaptive"), "diagonal, row-sum"),
        (lambda: AugmentedLagrangian(tightening=0.0), "positive"),
        (lambda: VelocityProx(r=-1.0), "positive"),
        (lambda: Newton(formulation="other"), "natural-map"),
        (lambda: Newton(warm_sweeps=-3), "warm_sweeps=-3.*whole number"),
        (lambda: Auto(window=2.5), "whole number"),
        (lambda: ns.solve(np.eye(3)), "ContactProblem"),
        (lambda: ns.solve(sliding_ball(), "newton"), "by_name"),
        (lambda: ns.solve(sliding_ball(), Newton), r"Newton\(\)"),
        (lambda: ns.solve(sliding_ball(), tolerance="tight"), "positive number"),
        (lambda: ns.solve(sliding_ball(), max_iterations=1.5), "whole number"),
        (lambda: InteriorPoint(form="both"), "primal"),
        (lambda: FixedPoint(tightening=0.0), "positive"),
        (lambda: ns.solve(sliding_ball(), tolerance=0.0), "tolerance"),
        (lambda: ns.solve(sliding_ball(), time_limit=-1.0), "time_limit"),
        (lambda: ns.solve(sliding_ball(), max_iterations=-1), "max_iterations"),
        (lambda: ns.solve(sliding_ball(), APGD(anti_relaxation=False)), "with_law"),
        (lambda: ns.solve(sliding_ball("relaxed"), APGD(anti_relaxation=True)), "with_law"),
        (lambda: ns.solve(sliding_ball(), SORProx(r=[1.0, 2.0, 3.0])), "one per row"),
    ],
)
def test_bad_options_name_the_cure(make, message):
    with pytest.raises(OptionError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ns.solve(sliding_ball(), InteriorPoint()), "FixedPoint"),
        (lambda: ns.solve(sliding_ball("relaxed"), FixedPoint()), "coulomb"),
        (lambda: ns.solve(sliding_ball("relaxed"), Newton(formulation="alart-curnier")), "natural-map"),
        (lambda: ns.solve(sliding_ball("pyramid(8)"), Newton()), "lemke"),
        (lambda: ns.solve(cube_on_plane(), AugmentedLagrangian(max_blocks=3)), "max_blocks=3.*gauss-seidel"),
        (lambda: ns.solve(mixed_components(), VelocityProx(max_blocks=2)), "max_blocks=2.*sor-prox"),
        (lambda: ns.solve(cube_on_plane(), VelocityProx()), "regular G.*sor-prox or gauss-seidel"),
        (
            lambda: ns.solve(
                ns.ContactProblem(delassus=[[1.0]], free_velocity=[-1.0], friction=[0.0], law="relaxed"),
                InteriorPoint(form="primal"),
            ),
            "dual",
        ),
        (
            lambda: ns.solve(
                ns.ContactProblem(delassus=[[1.0]], free_velocity=[-1.0], friction=[0.0]),
                GaussSeidel(form="factored"),
            ),
            "block-sparse",
        ),
    ],
)
def test_unsupported_problems_name_what_can(make, message):
    with pytest.raises(UnsupportedError, match=message):
        make()


def test_mosek_is_used_or_its_absence_is_said():
    """With a licence it must agree with the closed form; without, the error names the cure."""
    problem, solver = sliding_ball("relaxed"), InteriorPoint(backend="mosek")
    message = ""
    try:
        assert ns.solve(problem, solver).impulses[0] == pytest.approx(0.4981 / 1.14, abs=1e-7)
    except MissingSolverError as error:
        message = str(error)
    assert message == "" or 'pip install "nonsmooth[mosek]"' in message or "licence" in message


def test_user_factors_and_strategies_of_prox():
    problem = planar_block((10.0, -20.6, 0.0))
    wanted = [9.27, -2.781, 11.33, -3.399]
    diagonal = problem.operator.matrix().diagonal()
    for solver in (
        SORProx(r=0.5 / diagonal),
        JORProx(r=0.3),
        JORProx(strategy="row-sum"),
        SORProx(strategy="row-sum", omega=1.5),
    ):
        np.testing.assert_allclose(ns.solve(problem, solver, tolerance=1e-11).impulses, wanted, atol=1e-8)


def test_delassus_form_gives_the_same_impulses():
    full = random_problem(2, contacts=8, joint_rows=2)
    bare = ns.ContactProblem(
        delassus=full.operator.matrix(),
        free_velocity=np.concatenate([full.free_velocity, full.joint_free_velocity]),
        joint_rows=2,
        friction=full.friction,
    )
    first, second = (ns.solve(problem, Newton(), tolerance=1e-11) for problem in (full, bare))
    assert second.velocity is None
    np.testing.assert_allclose(second.contact_velocities, first.contact_velocities, atol=1e-7)


def test_auto_says_what_it_picked_and_why():
    easy = ns.solve(sphere_packing(60), tolerance=1e-8)
    assert "gauss-seidel" in easy.statistics.note
    hard = random_problem(0, contacts=45, mass_ratio=1e6, largest_friction=2.0)
    solution = ns.solve(hard, Auto(window=20), tolerance=1e-10)
    assert "proximal" in solution.statistics.note
    assert "converged slowly" in solution.statistics.note
    convex = ns.solve(hard.with_law("relaxed"), Auto(window=20), tolerance=1e-10)
    assert "proximal" in convex.statistics.note
    small = ns.solve(random_problem(1, contacts=3), tolerance=1e-8)
    assert "one call" in small.statistics.note


# ---- starts beyond all numbers, problems without an answer ----------------------------------------------


@pytest.mark.parametrize("acceleration", ["none", "nesterov", "nncg"])
def test_a_start_beyond_all_numbers_does_not_become_the_answer(acceleration):
    problem = random_problem(3, contacts=4)
    start = np.full(problem.layout.rows, 1e200)
    solution = ns.solve(problem, GaussSeidel(acceleration=acceleration), start=start, throw=False)
    assert solution.status is Status.DIVERGED
    assert not solution.certificate.holds(0.5)


def test_a_mass_that_is_symmetric_up_to_rounding_is_taken_as_symmetric():
    mass = np.eye(6)
    mass[0, 1], mass[1, 0] = 0.5, 0.5 + 9e-11
    generator = np.random.default_rng(0)
    problem = ns.ContactProblem(
        mass=mass[None], jacobian=generator.standard_normal((1, 2, 3, 6)), bodies=[[-1, 0]],
        momentum=generator.standard_normal(6), bias=[-10, 0, 0], friction=[0.3],
    )  # fmt: skip
    assert ns.solve(problem, tolerance=1e-12).certificate.holds(1e-12)


def test_auto_takes_a_residual_of_nothing():
    contacts = 80
    problem = ns.ContactProblem(
        delassus=np.eye(3 * contacts),
        free_velocity=np.tile([1.0, 0, 0], contacts),
        friction=np.full(contacts, 0.3),
    )
    solution = ns.solve(problem, Auto(window=1, patience=1), start=np.ones(3 * contacts))
    np.testing.assert_array_equal(solution.impulses, 0.0)


@pytest.mark.parametrize("solver", [Lemke(), Auto()])
def test_joints_alone_are_a_linear_system(solver):
    problem = ns.ContactProblem(
        delassus=[[2.0, 1.0], [1.0, 2.0]], free_velocity=[1.0, 1.0], friction=[], joint_rows=2, law="pyramid"
    )
    found = ns.solve(problem, solver, tolerance=1e-11).joint_impulses
    np.testing.assert_allclose(found, [-1 / 3, -1 / 3], rtol=1e-9)


@pytest.mark.parametrize("solver", [Auto(), GaussSeidel(), Newton(), Proximal(), ADMM()])
def test_an_island_at_rest_forgets_a_wrong_start(solver):
    matrix, generator = np.eye(6), np.random.default_rng(1)
    problem = ns.ContactProblem(
        delassus=matrix, free_velocity=[0, 0, 0, -1.0, 0.1, 0], friction=[0.5, 0.5], components=3
    )
    solution = ns.solve(problem, solver, start=generator.standard_normal(6))
    np.testing.assert_array_equal(solution.impulses[:3], 0.0)


def test_a_problem_without_an_answer_ends_and_says_so():
    """A Painlevé paradox: W = f fᵀ + e₃ e₃ᵀ with f = (1, 2, 0), q = (−1, 0, 0) and μ = 1.

    u_t2 = r_t2 and friction opposes it, so both are zero. With y = r_n + 2 r_t1: u_n = y − 1, u_t1 = 2 y.
    Not open, for q_n < 0; hence y = 1, u_t1 = 2, r_t1 = −r_n, and y = −r_n < 0: a contradiction.
    """
    problem = ns.ContactProblem(
        delassus=[[1.0, 2, 0], [2, 4, 0], [0, 0, 1]], free_velocity=[-1.0, 0, 0], friction=[1.0]
    )
    solution = ns.solve(problem, throw=False)
    assert solution.status is not Status.SOLVED
    assert not solution.certificate.holds(1e-8)


@pytest.mark.parametrize("acceleration", ["none", "nesterov", "nncg"])
def test_a_runaway_leaves_the_better_start(acceleration):
    """The first two contacts drive each other on without end; the third one's start is its answer."""
    matrix, start = np.eye(9), np.zeros(9)
    matrix[[0, 3], [3, 0]] = -2.0
    matrix[[0, 6], [6, 0]] = 0.01
    start[6] = 10.0
    problem = ns.ContactProblem(
        delassus=matrix, free_velocity=[-1.0, 0, 0, -1.0, 0, 0, -10.0, 0, 0], friction=np.full(3, 0.3)
    )
    solution = ns.solve(
        problem, GaussSeidel(acceleration=acceleration), start=start, throw=False, max_iterations=200
    )
    assert solution.status is Status.DIVERGED
    np.testing.assert_array_equal(solution.impulses, start)
    assert solution.certificate.residual < 0.2  # 1 without impulses
