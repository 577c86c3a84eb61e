"""The Delassus operator in its three forms against Pᵀ M⁻¹ P formed by dense algebra from scratch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from nonsmooth.problem import ContactProblem
from nonsmooth.problem.kernels.operator import BlockSparse, Factored
from nonsmooth.problem.layout import Layout, group_rows
from nonsmooth.problem.operator import ExplicitOperator, FactoredOperator, ProductOperator

SEEDS = range(6)
FORMS = ("factored", "factored from matrices", "explicit", "explicit sparse", "product", "product sparse")
EXPECTED = {
    "factored": FactoredOperator,
    "factored from matrices": FactoredOperator,
    "explicit": ExplicitOperator,
    "explicit sparse": ExplicitOperator,
    "product": ProductOperator,
    "product sparse": ProductOperator,
}


def dense_product(mass: np.ndarray, d: np.ndarray, g: np.ndarray) -> np.ndarray:
    both = np.hstack([d, g])
    return both.T @ np.linalg.inv(mass) @ both


def coupled(scene) -> np.ndarray:
    """The scene's masses with a coupling between all bodies, as generalised coordinates have."""
    mass, _, _ = scene.matrices()
    root = np.sqrt(np.diag(mass))
    link = np.random.default_rng(0).standard_normal(len(mass))
    return mass + 0.1 * np.outer(root * link, root * link)


def build(scene, form: str) -> tuple[ContactProblem, np.ndarray]:
    """The problem in one form, and its N over the flat rows."""
    mass, d, g = scene.matrices()
    if form == "factored":
        return ContactProblem(**scene.block_arguments()), dense_product(mass, d, g)
    if form == "factored from matrices":
        return ContactProblem(**scene.matrix_arguments()), dense_product(mass, d, g)
    if form.startswith("explicit"):
        arguments = scene.delassus_arguments()
        if form.endswith("sparse"):
            arguments["delassus"] = sp.coo_array(arguments["delassus"])
        return ContactProblem(**arguments), dense_product(mass, d, g)
    arguments = scene.matrix_arguments() | {"mass": coupled(scene)}
    if form.endswith("sparse"):
        for name in ("mass", "jacobian", "joint_jacobian"):
            arguments[name] = sp.csr_array(arguments[name])
    return ContactProblem(**arguments), dense_product(coupled(scene), d, g)


def close(found: np.ndarray, wanted: np.ndarray, scale: np.ndarray, rel: float = 1e-13) -> bool:
    """Equal to rounding, relative to the largest number that entered."""
    return np.allclose(found, wanted, rtol=0.0, atol=rel * max(float(np.abs(scale).max(initial=0.0)), 1e-300))


# ---- every form ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_apply_is_the_dense_product(scene, form, seed):
    problem, n = build(scene(seed), form)
    assert isinstance(problem.operator, EXPECTED[form])
    layout, rng = problem.layout, np.random.default_rng(seed)
    for _ in range(3):
        flat = rng.standard_normal(layout.rows)
        x = layout.pad(flat)
        before = x.copy()
        y = problem.operator.apply(x)
        assert y.shape == (layout.blocks, 3)
        assert close(layout.unpad(y), n @ flat, n)
        assert not y[layout.padding].any()  # rows that only pad stay zero
        assert np.array_equal(x, before)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_matrix_is_the_dense_product(scene, form, seed):
    problem, n = build(scene(seed), form)
    found = problem.operator.matrix()
    assert sp.issparse(found)
    assert found.shape == (problem.layout.rows,) * 2
    assert close(found.toarray(), n, n)
    assert close(found.toarray(), found.toarray().T, n, rel=1e-15)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_block_rows_are_in_order_and_hold_everything(scene, form, seed):
    problem, n = build(scene(seed), form)
    layout, blocks = problem.layout, problem.operator.block_sparse
    assert isinstance(blocks, BlockSparse)
    assert blocks.start[0] == 0
    assert blocks.start[-1] == len(blocks.column) == len(blocks.values)
    full = np.zeros((3 * layout.blocks, 3 * layout.blocks))
    for i in range(layout.blocks):
        columns = blocks.column[blocks.start[i] : blocks.start[i + 1]]
        assert np.all(np.diff(columns) > 0)  # ascending, none twice
        for entry in range(blocks.start[i], blocks.start[i + 1]):
            j = blocks.column[entry]
            full[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = blocks.values[entry]
    padded = np.zeros_like(full)
    padded[np.ix_(layout.slot, layout.slot)] = n
    assert close(full, padded, n)
    padding = layout.padding.ravel()
    assert not full[padding].any()
    assert not full[:, padding].any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_diagonal_blocks(scene, form, seed):
    problem, n = build(scene(seed), form)
    layout, diagonal = problem.layout, problem.operator.diagonal_blocks
    assert diagonal.shape == (layout.blocks, 3, 3)
    padded = np.eye(3 * layout.blocks)
    padded[np.ix_(layout.slot, layout.slot)] = n
    for i in range(layout.blocks):
        assert close(diagonal[i], padded[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], n)
    block, component = np.nonzero(layout.padding)
    assert np.all(diagonal[block, component, component] == 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_kernel_form_gives_the_same_product(scene, form):
    """What the compiled solvers work on, multiplied out here in Python."""
    problem, n = build(scene(3), form)
    layout, kernel_form = problem.layout, problem.operator.kernel_form
    flat = np.random.default_rng(1).standard_normal(layout.rows)
    x = layout.pad(flat)
    out = np.zeros_like(x)
    if form.startswith("factored"):
        assert isinstance(kernel_form, Factored)
        w = np.zeros((kernel_form.body_count, 6))
        for i in range(layout.blocks):
            for side in range(2):
                w[kernel_form.bodies[i, side]] += x[i] @ kernel_form.columns[i, side]
        assert not w[-1].any()  # ground does not move
        for i in range(layout.blocks):
            for side in range(2):
                out[i] += kernel_form.columns[i, side] @ w[kernel_form.bodies[i, side]]
        assert problem.operator.work().shape == w.shape
        assert close(problem.operator.weighted_velocity(x), w[:-1], w)
    else:
        assert isinstance(kernel_form, BlockSparse)
        for i in range(layout.blocks):
            for entry in range(kernel_form.start[i], kernel_form.start[i + 1]):
                out[i] += kernel_form.values[entry] @ x[kernel_form.column[entry]]
    assert close(layout.unpad(out), n @ flat, n)


@pytest.mark.parametrize("form", FORMS)
def test_operator_is_symmetric_and_positive(scene, form):
    problem, _ = build(scene(4), form)
    layout, rng = problem.layout, np.random.default_rng(2)
    x, y = layout.pad(rng.standard_normal(layout.rows)), layout.pad(rng.standard_normal(layout.rows))
    left, right = np.sum(y * problem.operator.apply(x)), np.sum(x * problem.operator.apply(y))
    assert left == pytest.approx(right, rel=1e-12)
    assert np.sum(x * problem.operator.apply(x)) > 0.0


def test_the_mass_weighted_velocity_has_the_kinetic_energy(scene):
    """w = A x = Lᵀ Δv, so |w|² = Δvᵀ M Δv."""
    s = scene(5)
    problem = ContactProblem(**s.block_arguments() | {"momentum": None})
    flat = np.random.default_rng(3).standard_normal(problem.layout.rows)
    gamma, joint = np.split(flat, [problem.layout.contact_rows])
    v, w = problem.velocity(gamma, joint), problem.operator.weighted_velocity(problem.layout.pad(flat))
    mass, _, _ = s.matrices()
    assert np.sum(w * w) == pytest.approx(v @ mass @ v, rel=1e-13)


def test_two_contacts_of_one_pair_of_bodies():
    """N_12 adds what both bodies give: two unit masses and two contacts along x give 2 everywhere."""
    rows = np.zeros((2, 2, 1, 6))
    rows[:, 0, 0, 0], rows[:, 1, 0, 0] = -1.0, 1.0
    problem = ContactProblem(mass=np.ones((2, 6)), jacobian=rows, bodies=[[0, 1], [0, 1]], friction=0.0)
    assert problem.operator.matrix().toarray().tolist() == [[2.0, 2.0], [2.0, 2.0]]
    problem = ContactProblem(mass=np.ones((2, 6)), jacobian=rows, bodies=[[0, 1], [1, 0]], friction=0.0)
    assert problem.operator.matrix().toarray().tolist() == [[2.0, -2.0], [-2.0, 2.0]]


def test_contacts_with_ground_alone_are_not_neighbours():
    """Two bodies on the ground: the ground must not couple them."""
    rows = np.zeros((2, 2, 3, 6))
    rows[:, :, :, :3] = np.eye(3)
    problem = ContactProblem(mass=np.ones((2, 6)), jacobian=rows, bodies=[[-1, 0], [1, -1]], friction=0.5)
    blocks = problem.operator.block_sparse
    assert blocks.column.tolist() == [0, 1]
    assert np.array_equal(problem.operator.matrix().toarray(), np.eye(6))


# ---- the largest eigenvalue ---------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_largest_eigenvalue_of_random_problems(scene, form, seed):
    """Guaranteed: never above the true one, because |N x| ≤ λ_max |x|.

    Needed: within 1 %, because APGD with a fixed step takes 1.01 times the estimate for an upper bound.
    Here λ₂/λ₁ is at most 0.96, so no cluster excuses more.
    """
    problem, n = build(scene(seed), form)
    second, true = np.linalg.eigvalsh(n)[-2:]
    assert second <= 0.96 * true
    found = problem.operator.largest_eigenvalue()
    assert found <= true * (1.0 + 1e-12)
    assert found >= 0.99 * true


def test_largest_eigenvalue_of_a_cluster():
    """300 eigenvalues evenly spread up to 1: a power iteration would need hundreds of steps."""
    n = np.diag(np.linspace(0.01, 1.0, 300))
    problem = ContactProblem(delassus=n, free_velocity=np.zeros(300), friction=0.5, components=3)
    found = problem.operator.largest_eigenvalue()
    assert 0.999 <= found <= 1.0 + 1e-12


def test_largest_eigenvalue_does_not_stop_on_a_plateau():
    """The start has little of the top eigenvector: the estimate rests near 1 before it climbs to 2.

    One contact is 2 along its normal among thousands of ones, so the first change of |N x| is small.
    """
    diagonal = np.ones(6000)
    diagonal[4200] = 2.0
    problem = ContactProblem(
        delassus=sp.diags_array(diagonal), free_velocity=np.zeros(6000), friction=0.5, components=3
    )
    assert problem.operator.largest_eigenvalue() == pytest.approx(2.0, rel=0.01)


def test_largest_eigenvalue_does_not_depend_on_the_padding(scene):
    """Rows that only pad have 1 in diagonal_blocks; that 1 must not become an eigenvalue."""
    s = scene(0, components=1, joints=False)
    s = s.in_units(1.0, 1e6, 1.0)  # heavy bodies: every true eigenvalue is far below 1
    problem = ContactProblem(**s.block_arguments())
    w, _ = s.delassus()
    assert problem.operator.largest_eigenvalue() == pytest.approx(np.linalg.eigvalsh(w).max(), rel=0.01)
    assert np.linalg.eigvalsh(w).max() < 1e-3


def test_estimates_are_repeatable(scene):
    one, two = build(scene(1), "factored")[0], build(scene(1), "factored")[0]
    assert one.operator.largest_eigenvalue() == two.operator.largest_eigenvalue()


# ---- blocks of three ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("components", "groups"),
    [([], []), ([3], []), ([1, 2, 3, 1], []), ([], [3, 2]), ([2, 2], [1]), ([1, 3], [3, 3, 1])],
)
def test_layout_there_and_back(components, groups):
    layout = Layout(np.array(components, dtype=np.int64), np.array(groups, dtype=np.int64))
    rows = sum(components) + sum(groups)
    assert (layout.rows, layout.contact_rows) == (rows, sum(components))
    assert (layout.contacts, layout.blocks) == (len(components), len(components) + len(groups))
    assert layout.block_kind.tolist() == [0] * len(components) + [1] * len(groups)
    flat = np.arange(1.0, rows + 1.0)
    blocks = layout.pad(flat)
    assert blocks.shape == (layout.blocks, 3)
    assert np.array_equal(layout.unpad(blocks), flat)
    taken = iter(flat)
    for block, size in zip(blocks, [*components, *groups], strict=True):  # in order, filled from the left
        assert block.tolist() == [next(taken) for _ in range(size)] + [0.0] * (3 - size)
    assert np.array_equal(layout.padding, blocks == 0.0)


@pytest.mark.parametrize("length", [0, 1, 3])
def test_layout_takes_only_its_own_length(length):
    """Four rows: a vector of one number must not be spread over all of them."""
    layout = Layout(np.array([3, 1]), np.array([], dtype=np.int64))
    with pytest.raises(ValueError):
        layout.pad(np.ones(length))


@pytest.mark.parametrize(
    ("keys", "sizes"),
    [
        ([], []),
        ([[0, 1]], [1]),
        ([[0, 1]] * 3, [3]),
        ([[0, 1]] * 5, [3, 2]),
        ([[0, 1]] * 6, [3, 3]),
        ([[0, 1], [0, 1], [0, 2]], [2, 1]),
        ([[0, 1], [0, 2], [0, 1]], [1, 1, 1]),  # rows keep their order: no gathering across
        ([[0, 1], [1, 0]], [1, 1]),
        ([[-1, 2]] * 4 + [[2, 3]] * 2, [3, 1, 2]),
    ],
)
def test_joint_rows_are_grouped_by_body_pair(keys, sizes):
    assert group_rows(np.array(keys, dtype=np.int64).reshape(-1, 2)).tolist() == sizes


def test_joint_groups_of_every_form(scene):
    """The ball joint (3 rows) and the hinge (3 + 2 rows) by bodies; three by three where they are unknown."""
    s = scene(0)
    assert ContactProblem(**s.block_arguments()).layout.joint_groups.tolist() == [3, 3, 2]
    assert ContactProblem(**s.matrix_arguments()).layout.joint_groups.tolist() == [3, 3, 2]
    assert ContactProblem(**s.delassus_arguments()).layout.joint_groups.tolist() == [3, 3, 2]
    assert build(s, "product")[0].layout.joint_groups.tolist() == [3, 3, 2]


def test_joint_rows_of_interleaved_pairs(scene):
    """Rows of two joints given in turns: every row finds its own bodies."""
    s = scene(1)
    order = np.array([0, 3, 1, 4, 2, 5, 6, 7])
    arguments = s.block_arguments()
    for name in ("joint_jacobian", "joint_bodies", "joint_bias"):
        arguments[name] = arguments[name][order]
    problem = ContactProblem(**arguments)
    assert problem.layout.joint_groups.tolist() == [1, 1, 1, 1, 1, 3]
    w, q = s.delassus()
    contacts = int(s.components.sum())
    rows = np.concatenate([np.arange(contacts), contacts + order])
    assert close(problem.operator.matrix().toarray(), w[np.ix_(rows, rows)], w)
    assert problem.joint_free_velocity == pytest.approx(q[contacts + order], rel=1e-12, abs=1e-13)
