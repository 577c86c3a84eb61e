"""All joint rows as one block: the factor, sweeps with it, redundant rows, rows with bounds."""

import numpy as np
import pytest

import nonsmooth as ns
from helpers.mechanism_problems import GRAVITY, STEP, chain, chain_on_floor, door, four_bars, tree
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library import sphere_packing
from nonsmooth.solvers import APGD, Auto, GaussSeidel, Lemke, Newton, Proximal, Status
from nonsmooth.solvers.kernels import joint_factor as kernels
from nonsmooth.solvers.parts import joint_factor
from nonsmooth.solvers.parts.joint_block import joint_block

VARIANTS = [
    GaussSeidel(),
    GaussSeidel(order="natural", acceleration="none"),
    GaussSeidel(order="symmetric"),
    GaussSeidel(order="coloured"),
    GaussSeidel(order="coloured", acceleration="none", threads=2),
    GaussSeidel(acceleration="nncg"),
    GaussSeidel(form="block-sparse"),
    GaussSeidel(relaxation=0.9),
    Auto(),
    Auto(threads=2),
    APGD(),
]


PROBLEMS = {
    "pendulum": lambda: chain(1),
    "chain": lambda: chain(12, bend=0.7, moving=True),
    "ring": lambda: chain(12, bend=0.7, closed=True, moving=True),
    "door": lambda: door(3),
    "four bars": lambda: four_bars(1, 1),
    "net": lambda: four_bars(3, 4),
    "tree": lambda: tree(7),
}


def weighted(problem):
    """√ρ N √ρ over the joint rows, dense."""
    matrix = problem.operator.matrix().toarray()
    scale = 1.0 / np.sqrt(matrix.diagonal())
    return scale[:, None] * matrix * scale


@pytest.mark.parametrize("form", ["factored", "block-sparse"])
@pytest.mark.parametrize("name", ["pendulum", "chain", "tree"])
def test_factor_solves_what_a_dense_one_does(name, form):
    problem = PROBLEMS[name]()
    operator = problem.operator
    block = joint_block(problem, operator.kernel_form if form == "factored" else operator.block_sparse)
    number = block.place.ravel()[problem.layout.slot]
    right = np.random.default_rng(0).standard_normal(problem.joint_rows)
    found = np.empty_like(right)
    found[number] = right
    kernels.solve(block.panels, block.free, found)
    expected = np.linalg.solve(weighted(problem), right)
    assert found[number] == pytest.approx(expected, rel=1e-8, abs=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("solver", VARIANTS, ids=str)
@pytest.mark.parametrize("name", PROBLEMS)
def test_joints_alone_take_one_iteration_and_one_that_refines(name, solver):
    problem = PROBLEMS[name]()
    relaxed = getattr(solver, "relaxation", 1.0) != 1.0
    solution = ns.solve(problem, solver, tolerance=1e-12)
    assert solution.certificate.joint_drift.relative <= 1e-12
    assert solution.statistics.iterations <= (20 if relaxed else 3)


@pytest.mark.parametrize(
    "solver", [Newton(warm_sweeps=0), Proximal(warm_sweeps=0), Newton(), Proximal()], ids=str
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_newton_takes_joints_at_once(name, solver):
    solution = ns.solve(PROBLEMS[name](), solver, tolerance=1e-11)
    assert solution.statistics.iterations <= 4


def test_a_hanging_chain_carries_what_hangs_below():
    masses = np.linspace(1.0, 3.0, 300)
    solution = ns.solve(chain(300, masses=masses), tolerance=1e-11)
    pull = solution.joint_impulses.reshape(-1, 5)[:, 2]
    assert pull == pytest.approx(STEP * GRAVITY * np.cumsum(masses[::-1])[::-1], rel=1e-9)
    assert solution.statistics.iterations <= 3


def test_mass_ratio_does_not_matter():
    masses = np.ones(50)
    masses[-1] = 1e6
    solution = ns.solve(chain(50, masses=masses, bend=0.5), tolerance=1e-11)
    assert solution.statistics.iterations <= 3


@pytest.mark.parametrize(
    "build", [lambda n: chain(n, bend=0.5), lambda n: tree(n // 3)], ids=["chain", "tree"]
)
def test_factor_grows_with_the_number_of_joints(build):
    """Twice as many links make a factor of twice the size; a hub's own joints all act on each other."""
    sizes = []
    for count in (30, 60, 120):
        problem = build(count)
        sizes.append(len(joint_block(problem, problem.operator.kernel_form).free) / problem.joint_rows)
    if build(3).joint_rows == chain(3).joint_rows:
        assert sizes[2] == pytest.approx(sizes[0], rel=0.05)
    else:
        assert sizes[2] <= 4.0 * sizes[0]


def test_structure_is_kept_from_step_to_step():
    problem = chain(20, bend=0.5)
    form = problem.operator.kernel_form
    blocks, sizes = np.arange(problem.layout.blocks), problem.layout.joint_groups
    first = joint_factor.structure_of(form, blocks, sizes)
    assert joint_factor.structure_of(chain(20, bend=0.3).operator.kernel_form, blocks, sizes) is first


@pytest.mark.parametrize("solver", [GaussSeidel(), GaussSeidel(acceleration="none"), Auto(), APGD()], ids=str)
def test_slightly_contradicting_hinges_are_solved(solver):
    """Hinges that are 10⁻¹² m out of line, which asks for 10⁻⁹ m/s that are not to be had."""
    exact = ns.solve(door(3), tolerance=1e-12)
    solution = ns.solve(door(3, noise=1e-12 / STEP), solver, tolerance=1e-5)
    assert solution.velocity == pytest.approx(exact.velocity, abs=1e-8)
    assert np.abs(solution.joint_impulses).max() <= 2.0 * np.abs(exact.joint_impulses).max()


def test_contradicting_hinges_are_said_to_contradict():
    for solver in (Auto(), GaussSeidel(), Newton()):
        solution = ns.solve(door(2, noise=1.0), solver, throw=False, max_iterations=2000)
        assert solution.status is Status.INFEASIBLE


def test_too_large_a_factor_is_not_made(monkeypatch):
    problem = chain(8, bend=0.3, moving=True)
    together = ns.solve(problem, GaussSeidel(), tolerance=1e-10)
    monkeypatch.setattr(joint_factor, "_MOST_ENTRIES", 10)
    joint_factor._structure_of_bodies.cache_clear()
    separate = ns.solve(problem, GaussSeidel(), tolerance=1e-10)
    auto = ns.solve(problem, Auto(window=1, patience=5), tolerance=1e-10)
    joint_factor._structure_of_bodies.cache_clear()
    assert "one by one" in separate.statistics.note
    assert "too many joints" in auto.statistics.note
    assert separate.statistics.iterations > 20 > together.statistics.iterations
    assert separate.joint_impulses == pytest.approx(together.joint_impulses, abs=1e-7)


def test_asymmetric_matrix_is_swept_row_by_row():
    matrix = np.array([[2.0, 0.5, 0.0], [0.1, 3.0, 0.2], [0.0, 0.4, 1.0]])
    problem = ContactProblem(
        delassus=matrix, free_velocity=[1.0, -1.0, 0.5], friction=[], joint_rows=3, allow_asymmetry=True
    )
    assert joint_block(problem, problem.operator.kernel_form) is None
    assert ns.solve(problem, GaussSeidel(), tolerance=1e-12).joint_impulses == pytest.approx(
        np.linalg.solve(matrix, [-1.0, 1.0, -0.5])
    )


# ---- rows with bounds ---------------------------------------------------------------------------


@pytest.mark.parametrize("moving", [False, True], ids=["rest", "moving"])
@pytest.mark.parametrize(
    "bounds", [(-1e-3, 1e-3), (-3e-2, 3e-2), (-np.inf, 0.02), (0.0, np.inf), (0.0, 0.0)], ids=str
)
def test_bounded_rows_are_solved_in_one_block(bounds, moving):
    """Dry friction, limits and no freedom at all in every joint: the answer is that of pivoting."""
    problem = chain(15, bend=0.5, bounds=bounds, moving=moving)
    expected = ns.solve(problem, Lemke(), tolerance=1e-9).joint_impulses
    for solver in VARIANTS:
        if getattr(solver, "relaxation", 1.0) != 1.0:
            continue
        solution = ns.solve(problem, solver, tolerance=1e-11)
        assert solution.statistics.iterations <= 3
        assert solution.certificate.cone.absolute == 0.0
        assert solution.joint_impulses == pytest.approx(expected, abs=1e-8)


def test_long_chain_with_dry_friction_in_every_joint():
    """Most joints stick, so that single rows would have to bend a beam of 200 links."""
    problem = chain(200, bend=0.3, bounds=(-0.05, 0.05))
    solution = ns.solve(problem, tolerance=1e-10)
    torque = solution.joint_impulses.reshape(-1, 6)[:, 5]
    saturated = np.abs(torque) == 0.05
    assert solution.statistics.iterations <= 3
    assert 0 < saturated.sum() < 200


def test_extrapolated_impulses_return_to_their_bounds():
    """A warm start far outside the bounds."""
    problem = chain(10, bend=0.5, bounds=(-1e-3, 1e-3))
    for solver in (GaussSeidel(), GaussSeidel(order="coloured"), APGD()):
        solution = ns.solve(problem, solver, tolerance=1e-11, start=np.full(problem.joint_rows, 7.0))
        assert solution.certificate.cone.absolute == 0.0


# ---- with contacts ------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "pyramid(8)"])
def test_chain_on_a_floor(law):
    """As many contacts as links; the answer is that of methods that factorise everything."""
    problem = chain_on_floor(30, law)
    solution = ns.solve(problem, tolerance=1e-10)
    assert solution.statistics.iterations <= 400
    assert "proximal" not in solution.statistics.note
    assert "lemke" not in solution.statistics.note
    other = ns.solve(problem, Lemke() if "pyramid" in law else Proximal(warm_sweeps=0), tolerance=1e-10)
    assert solution.velocity == pytest.approx(other.velocity, abs=1e-7)


def test_chain_with_limited_motors_on_a_floor():
    """Velocities are unique under the relaxed law; under Coulomb's not, where normals are redundant."""
    problem = chain_on_floor(30, "relaxed", bounds=(-1e-4, 1e-4))
    solution = ns.solve(problem, GaussSeidel(), tolerance=1e-10)
    other = ns.solve(problem, Proximal(warm_sweeps=0), tolerance=1e-10)
    assert solution.velocity == pytest.approx(other.velocity, abs=1e-8)
    exact = ns.solve(problem.with_law("coulomb"), GaussSeidel(), tolerance=1e-12)
    assert exact.statistics.iterations <= 100


def jointed_packing(spheres, mass=1.0):
    """A bed of spheres, and the same with a chain of twelve in it: some contacts are ball joints instead."""
    bed = sphere_packing(spheres)
    links, contacts = [spheres // 2], []
    while len(links) < 12:
        touching = (bed.bodies == links[-1]).any(axis=1) & (bed.bodies >= 0).all(axis=1)
        for contact in np.flatnonzero(touching):
            other = int(bed.bodies[contact].sum() - links[-1])
            if other not in links:
                links.append(other)
                contacts.append(contact)
                break
        else:
            raise AssertionError("no neighbour is left")
    masses = bed.mass.copy()
    masses[links] *= mass
    momentum = (bed.momentum.reshape(-1, 6) / bed.mass * masses).ravel()
    kept = ~np.isin(bed.bodies, links).all(axis=1)
    rows = np.swapaxes(bed.jacobian[contacts], 1, 2).reshape(-1, 2, 6)
    return bed, ContactProblem(
        mass=masses, jacobian=bed.jacobian[kept], bodies=bed.bodies[kept], momentum=momentum,
        bias=bed.bias.reshape(-1, 3)[kept].ravel(), friction=bed.friction[kept],
        joint_jacobian=rows, joint_bodies=np.repeat(bed.bodies[contacts], 3, axis=0),
    )  # fmt: skip


@pytest.mark.parametrize("mass", [1.0, 100.0, 1e4])
def test_mechanism_in_a_granular_bed_converges_like_the_bed(mass):
    bed, problem = jointed_packing(400, mass)
    alone = ns.solve(bed, GaussSeidel(), tolerance=1e-8).statistics.iterations
    together = ns.solve(problem, GaussSeidel(), tolerance=1e-8)
    assert together.certificate.joint_drift.relative <= 1e-12
    assert together.statistics.iterations <= 1.5 * alone


def test_joints_keep_the_bits_for_any_number_of_threads():
    _, problem = jointed_packing(300)
    answers = [ns.solve(problem, GaussSeidel(threads=count), tolerance=1e-8) for count in (1, 2, 3)]
    for answer in answers[1:]:
        assert answer.impulses.tobytes() == answers[0].impulses.tobytes()
        assert answer.joint_impulses.tobytes() == answers[0].joint_impulses.tobytes()
