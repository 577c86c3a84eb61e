"""`ContactProblem`: one physical problem in every form, and an error that helps for every mistake."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.problem import COULOMB, RELAXED, ContactProblem, Law, pyramid
from nonsmooth.problem.operator import ExplicitOperator, FactoredOperator, ProductOperator

# ---- one problem, every form --------------------------------------------------------------------

SPARSE = (sp.csc_array, sp.csr_array, sp.coo_array, sp.csr_matrix)


def close(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Equal to rounding, relative to the largest number."""
    return np.allclose(found, wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max(initial=1e-300))


def forms(scene) -> dict[str, ContactProblem]:
    """Every way to give the same problem."""
    blocks, matrices, delassus = scene.block_arguments(), scene.matrix_arguments(), scene.delassus_arguments()
    out = {
        "blocks": ContactProblem(**blocks),
        "dense": ContactProblem(**matrices),
        "delassus": ContactProblem(**delassus),
        "sparse delassus": ContactProblem(**delassus | {"delassus": sp.csr_array(delassus["delassus"])}),
        "sparse jacobian": ContactProblem(**matrices | {"jacobian": sp.csr_array(matrices["jacobian"])}),
    }
    for kind in SPARSE:
        wanted = ("mass", "jacobian", "joint_jacobian")
        out[kind.__name__] = ContactProblem(**matrices | {name: kind(matrices[name]) for name in wanted})
    return out


@pytest.mark.parametrize("components", [1, 2, 3, "mixed"])
@pytest.mark.parametrize("joints", [False, True], ids=["no joints", "joints"])
def test_every_form_says_the_same(scene, components, joints):
    s = scene(1, components=components, joints=joints)
    w, q = s.delassus()
    rows = int(s.components.sum())
    rng = np.random.default_rng(0)
    gamma, joint = rng.standard_normal(rows), rng.standard_normal(len(s.joint_bias))
    mass, d, g = s.matrices()
    v = np.linalg.solve(mass, s.momentum.ravel() + d @ gamma + g @ joint)
    for form, problem in forms(s).items():
        assert problem.contacts == len(s.components), form
        assert problem.joint_rows == len(s.joint_bias), form
        assert np.array_equal(problem.components, s.components), form
        assert np.array_equal(problem.friction, s.friction), form
        assert close(problem.operator.matrix().toarray(), w), form
        assert np.allclose(problem.free_velocity, q[:rows], rtol=0.0, atol=1e-13 * np.abs(q).max()), form
        assert np.allclose(problem.joint_free_velocity, q[rows:], rtol=0.0, atol=1e-13 * np.abs(q).max()), (
            form
        )
        if problem.has_masses:
            assert problem.velocity(gamma, joint) == pytest.approx(v, rel=1e-12, abs=1e-12), form
            assert problem.generalised_impulse(gamma, joint) == pytest.approx(
                d @ gamma + g @ joint, rel=1e-12, abs=1e-12
            ), form
            assert np.allclose(problem.mass_matrix().toarray(), mass, rtol=1e-15, atol=0.0), form
            assert np.array_equal(problem.row_matrix().toarray(), np.hstack([d, g])), form


def test_each_form_takes_its_operator(scene):
    """Bodies are found in matrices too: the fast path does not depend on how the problem was given."""
    found = {form: type(problem.operator) for form, problem in forms(scene(2)).items()}
    explicit = {"delassus", "sparse delassus"}
    assert {form for form, kind in found.items() if kind is ExplicitOperator} == explicit
    assert {form for form, kind in found.items() if kind is FactoredOperator} == set(found) - explicit


@pytest.mark.parametrize("form", ["matrices", "blocks", "delassus"])
def test_constructors_of_a_form_give_the_same_bits(scene, form):
    arguments = getattr(scene(2), {"matrices": "matrix", "blocks": "block"}.get(form, form) + "_arguments")()
    one, two = ContactProblem(**arguments), getattr(ContactProblem, f"from_{form}")(**arguments)
    for name in (*ARRAYS, "joint_bounds", "joint_bodies"):
        first, second = getattr(one, name), getattr(two, name)
        assert (first is None) == (second is None), name
        assert first is None or np.array_equal(first, second), name
    assert np.array_equal(one.operator.matrix().toarray(), two.operator.matrix().toarray())
    with pytest.raises(AttributeError, match="immutable"):
        two.friction = None


def test_constructors_of_a_form_take_what_goes_with_it(scene):
    s = scene(2)
    with pytest.raises(TypeError, match="free_velocity"):
        ContactProblem.from_matrices(**s.matrix_arguments(), free_velocity=np.zeros(3))
    with pytest.raises(TypeError, match="bodies"):
        ContactProblem.from_matrices(**s.matrix_arguments(), bodies=s.bodies)
    with pytest.raises(ProblemError, match=r"blocks must be \(contacts, 2, d, 6\)"):
        ContactProblem.from_blocks(**s.block_arguments() | {"jacobian": np.zeros((6, 3))})
    with pytest.raises(ProblemError, match="give a matrix"):
        ContactProblem.from_matrices(**s.matrix_arguments() | {"jacobian": s.jacobian})


def test_diagonal_masses_are_blocks(scene):
    s = scene(3)
    diagonals = np.einsum("bkk->bk", s.mass).copy()
    full = diagonals[:, :, None] * np.eye(6)
    one = ContactProblem(**s.block_arguments() | {"mass": diagonals})
    two = ContactProblem(**s.block_arguments() | {"mass": full})
    assert np.array_equal(one.operator.matrix().toarray(), two.operator.matrix().toarray())
    assert np.array_equal(one.free_velocity, two.free_velocity)
    assert np.array_equal(one.mass_matrix().toarray(), two.mass_matrix().toarray())


@pytest.mark.parametrize("width", [1, 2, 3])
def test_blocks_of_fewer_rows(scene, width):
    """(contacts, 2, d, 6): without components, d of the blocks counts."""
    s = scene(4, components=width, joints=False)
    problem = ContactProblem(
        mass=s.mass, jacobian=s.jacobian[:, :, :width], bodies=s.bodies, friction=0.3, momentum=s.momentum
    )
    assert problem.components.tolist() == [width] * len(s.components)
    w, _ = s.delassus()
    assert close(problem.operator.matrix().toarray(), w)


def test_rows_beyond_a_contacts_components_do_not_matter(scene):
    """With components, the blocks' other rows are not read, whatever finite number stands there."""
    s = scene(5)
    noise = s.jacobian.copy()
    for c, width in enumerate(s.components):
        noise[c, :, width:] = 1e6
    one, two = (
        ContactProblem(**s.block_arguments()),
        ContactProblem(**s.block_arguments() | {"jacobian": noise}),
    )
    assert np.array_equal(one.operator.matrix().toarray(), two.operator.matrix().toarray())
    assert np.array_equal(one.free_velocity, two.free_velocity)
    assert np.array_equal(one.row_matrix().toarray(), two.row_matrix().toarray())


def test_rows_of_ground_do_not_matter(scene):
    s = scene(6)
    noise = s.jacobian.copy()
    noise[s.bodies < 0] = 1e6
    one, two = (
        ContactProblem(**s.block_arguments()),
        ContactProblem(**s.block_arguments() | {"jacobian": noise}),
    )
    assert np.array_equal(one.operator.matrix().toarray(), two.operator.matrix().toarray())
    assert np.array_equal(one.free_velocity, two.free_velocity)
    gamma, joint = np.ones(len(s.bias)), np.ones(len(s.joint_bias))
    assert np.array_equal(one.velocity(gamma, joint), two.velocity(gamma, joint))


def test_planar_bodies_and_generalised_coordinates():
    """The rod of two planar bodies: 3 coordinates each, found as bodies; and 4 odd coordinates as one."""
    d = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.2], [0.0, -1.0], [-1.0, 0.0], [0.3, 0.4]])
    mass = np.diag([2.0, 2.0, 0.5, 4.0, 4.0, 0.25])
    problem = ContactProblem(mass=mass, jacobian=d, friction=[0.5])
    assert problem.operator.matrix().toarray() == pytest.approx(d.T @ np.linalg.solve(mass, d), rel=1e-14)
    coupled = np.array(
        [[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]]
    )
    problem = ContactProblem(mass=coupled, jacobian=np.eye(4)[:, :3], friction=[0.5])
    assert problem.operator.matrix().toarray() == pytest.approx(np.linalg.inv(coupled)[:3, :3], rel=1e-14)


def test_a_contact_of_three_bodies_takes_the_general_operator():
    """Blocks of two bodies cannot hold it; the numbers stay the same."""
    mass = np.diag(np.arange(1.0, 19.0))
    d = np.random.default_rng(0).standard_normal((18, 3))
    problem = ContactProblem(mass=mass, jacobian=d, friction=[0.5], momentum=np.ones(18))
    assert isinstance(problem.operator, ProductOperator)
    assert problem.operator.matrix().toarray() == pytest.approx(d.T @ np.linalg.solve(mass, d), rel=1e-13)
    assert problem.velocity(np.ones(3)) == pytest.approx((1.0 + d.sum(axis=1)) / np.diag(mass), rel=1e-13)


@pytest.mark.parametrize("where", ["mass", "jacobian", "joint_jacobian", "delassus"])
def test_sparse_matrices_with_repeated_entries(where):
    """CSR and CSC may hold an entry in parts; the parts add up."""
    arguments = {
        "mass": np.diag([1.0, 2.0, 4.0]),
        "jacobian": np.eye(3),
        "joint_jacobian": np.array([[1.0], [1.0], [0.0]]),
        "friction": [0.5],
    }
    if where == "delassus":
        arguments = {"delassus": np.diag([1.0, 2.0, 4.0]), "free_velocity": np.zeros(3), "friction": [0.5]}
    whole = sp.csr_array(arguments[where])
    halves = sp.csr_array(
        (np.repeat(whole.data, 2) / 2.0, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape
    )
    for kind in (sp.csr_array, sp.csc_array):
        split = halves if kind is sp.csr_array else sp.csc_array(halves.T.tocsr().T)
        assert split.nnz == 2 * whole.nnz
        assert np.array_equal(split.toarray(), whole.toarray())
        one, two = ContactProblem(**arguments), ContactProblem(**arguments | {where: split})
        assert np.array_equal(one.operator.matrix().toarray(), two.operator.matrix().toarray())
        assert np.array_equal(one.free_velocity, two.free_velocity)


def test_what_is_not_given_is_zero(scene):
    s = scene(7)
    arguments = s.block_arguments()
    for name in ("momentum", "bias", "joint_bias"):
        del arguments[name]
    problem = ContactProblem(**arguments)
    assert not problem.free_velocity.any()
    assert not problem.joint_free_velocity.any()
    assert not problem.momentum.any()
    assert problem.law == COULOMB


def test_friction_may_be_one_number():
    w, q = np.eye(6), np.zeros(6)
    problem = ContactProblem(delassus=w, free_velocity=q, friction=0.4, components=3)
    assert problem.friction.tolist() == [0.4, 0.4]
    problem = ContactProblem(delassus=w, free_velocity=q, friction=0.4, components=[1, 2, 3])
    assert problem.friction.tolist() == [0.4] * 3
    problem = ContactProblem(delassus=w, free_velocity=q, friction=[0.4, 0.0, 2.0])
    assert problem.components.tolist() == [2, 2, 2]


def test_plain_lists_and_whole_numbers_are_taken():
    problem = ContactProblem(mass=[[2, 0], [0, 4]], jacobian=[[1, 0], [0, 1]], friction=[1], momentum=[2, 4])
    assert problem.free_velocity == pytest.approx([1.0, 1.0], rel=1e-15)
    assert problem.friction.dtype == np.float64


# ---- no contacts, no joints, nothing ------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"mass": np.eye(6), "jacobian": np.zeros((6, 0)), "friction": []},
        {"mass": np.eye(6), "jacobian": np.zeros((6, 0)), "friction": 0.3},
        {"mass": sp.eye_array(12).tocsc(), "jacobian": sp.csc_array((12, 0)), "friction": []},
        {"mass": np.eye(7) + 0.1, "jacobian": np.zeros((7, 0)), "friction": []},
        {
            "mass": np.ones((2, 6)),
            "jacobian": np.zeros((0, 2, 3, 6)),
            "bodies": np.zeros((0, 2), int),
            "friction": [],
        },
        {
            "mass": np.ones((0, 6)),
            "jacobian": np.zeros((0, 2, 3, 6)),
            "bodies": np.zeros((0, 2), int),
            "friction": [],
        },
        {"delassus": np.zeros((0, 0)), "free_velocity": [], "friction": []},
    ],
    ids=["dense", "one friction", "sparse", "coupled", "blocks", "no bodies", "delassus"],
)
def test_no_contacts_at_all(arguments):
    problem = ContactProblem(**arguments)
    assert (problem.contacts, problem.joint_rows, problem.layout.blocks) == (0, 0, 0)
    assert problem.free_velocity.shape == (0,)
    assert problem.free_blocks.shape == (0, 3)
    assert problem.operator.matrix().shape == (0, 0)
    assert problem.operator.apply(np.zeros((0, 3))).shape == (0, 3)
    assert problem.operator.diagonal_blocks.shape == (0, 3, 3)
    assert problem.operator.largest_eigenvalue() == 0.0
    assert problem.cones.weight.shape == (0, 3)
    if problem.has_masses:
        size = problem.mass_matrix().shape[0]
        assert problem.velocity([]).tolist() == [0.0] * size
        moving = ContactProblem(**arguments | {"momentum": np.ones(size)})
        assert moving.velocity([]) == pytest.approx(
            np.linalg.solve(problem.mass_matrix().toarray(), np.ones(size)) if size else []
        )


def test_joints_without_contacts(scene):
    s = scene(8, contacts=0)
    w, q = s.delassus()
    for form, problem in forms(s).items():
        assert (problem.contacts, problem.joint_rows) == (0, 8), form
        assert close(problem.operator.matrix().toarray(), w), form
        assert problem.joint_free_velocity == pytest.approx(q, rel=1e-12, abs=1e-13), form


# ---- immutable ----------------------------------------------------------------------------------

ARRAYS = (
    "friction", "components", "mass", "jacobian", "bodies", "momentum", "bias", "joint_jacobian",
    "joint_bodies", "joint_bias", "free_velocity", "joint_free_velocity", "free_blocks", "delassus",
)  # fmt: skip


@pytest.mark.parametrize("name", [*ARRAYS, "law", "layout", "operator", "something_new"])
def test_attributes_cannot_be_set(scene, name):
    problem = ContactProblem(**scene(9).block_arguments())
    with pytest.raises(AttributeError, match=f"immutable.*{name}"):
        setattr(problem, name, None)


def test_attributes_cannot_be_deleted(scene):
    problem = ContactProblem(**scene(9).block_arguments())
    with pytest.raises(AttributeError):
        del problem.friction


@pytest.mark.parametrize("form", ["blocks", "dense", "delassus", "csc_array", "sparse delassus"])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_cannot_be_written(scene, form, name):
    value = getattr(forms(scene(9))[form], name)
    if value is None:
        return  # this form does not have it
    parts = [value.data, value.indices, value.indptr] if sp.issparse(value) else [value]
    assert not any(part.flags.writeable for part in parts)


def test_what_is_derived_cannot_be_written(scene):
    """A solver that writes into a shared array would spoil every later solve and certificate."""
    problem = ContactProblem(**scene(9).block_arguments())
    derived = {
        "cones.friction": problem.cones.friction,
        "cones.weight": problem.cones.weight,
        "operator.diagonal_blocks": problem.operator.diagonal_blocks,
        "layout.slot": problem.layout.slot,
    }
    assert [name for name, array in derived.items() if array.flags.writeable] == []


@pytest.mark.parametrize("kind", ["blocks", "matrices", "delassus", "sparse"])
def test_the_callers_arrays_are_copied(scene, kind):
    """Changing them later changes nothing, and they stay writable."""
    s = scene(10)
    given = {"blocks": s.block_arguments, "delassus": s.delassus_arguments}.get(kind, s.matrix_arguments)()
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()
    }
    if kind == "sparse":
        for name in ("mass", "jacobian", "joint_jacobian"):
            arguments[name] = sp.csc_array(arguments[name])
    problem = ContactProblem(**arguments)
    w, q = problem.operator.matrix().toarray(), problem.free_velocity.copy()
    for value in arguments.values():
        if isinstance(value, np.ndarray):
            value[...] = 0
        elif sp.issparse(value):
            value.data[:] = 0.0
    fresh_w, fresh_q = s.delassus()
    assert np.array_equal(problem.operator.matrix().toarray(), w)
    assert close(w, fresh_w)
    assert np.array_equal(problem.free_velocity, q)
    assert close(q, fresh_q[: len(q)])


# ---- variations ---------------------------------------------------------------------------------


def test_with_law_changes_the_law_alone(scene):
    problem = ContactProblem(**scene(11).block_arguments())
    assert problem.cones.tilting == 1.0  # read before, so that a stale copy would show
    other = problem.with_law("relaxed")
    assert (problem.law, other.law) == (COULOMB, RELAXED)
    assert (problem.cones.tilting, other.cones.tilting) == (1.0, 0.0)
    assert problem.with_law("pyramid(6)").cones.sides == 6
    assert np.array_equal(other.free_blocks, problem.free_blocks)
    with pytest.raises(AttributeError, match="immutable"):
        other.law = COULOMB


def test_shifted_adds_to_the_bias(scene):
    s = scene(12)
    problem = ContactProblem(**s.block_arguments())
    before = problem.free_blocks.copy()
    shift = np.random.default_rng(0).standard_normal(len(s.bias))
    other = problem.shifted(shift)
    same = ContactProblem(**s.block_arguments() | {"bias": s.bias + shift})
    assert other.bias == pytest.approx(same.bias, rel=1e-15)
    assert other.free_velocity == pytest.approx(same.free_velocity, rel=1e-13, abs=1e-15)
    assert np.allclose(other.free_blocks, same.free_blocks, rtol=1e-13, atol=1e-15)
    assert np.array_equal(problem.free_blocks, before)
    with pytest.raises(ProblemError, match="shift"):
        problem.shifted(np.zeros(1))


# ---- what it says -------------------------------------------------------------------------------


def test_repr_says_what_it_is(scene):
    text = repr(ContactProblem(**scene(13).block_arguments() | {"law": "pyramid(6)"}))
    assert text == "ContactProblem(contacts=6, joint_rows=8, law=pyramid(6), FactoredOperator)"


def test_velocity_is_not_known_without_masses(scene):
    s = scene(13)
    problem = ContactProblem(**s.delassus_arguments())
    assert not problem.has_masses
    with pytest.raises(ProblemError, match=r"Delassus matrix: masses and v are not known"):
        problem.velocity(np.zeros(len(s.bias)), np.zeros(len(s.joint_bias)))


@pytest.mark.parametrize("form", ["blocks", "dense", "coupled"])
@pytest.mark.parametrize(("contact_rows", "joint_rows"), [(1, 0), (0, 0), (2, 1), (3, 0), (4, 0), (2, 2)])
def test_velocity_of_impulses_of_wrong_length(form, contact_rows, joint_rows):
    """One impulse must not be spread over all rows, nor a joint's impulse be read as a contact's."""
    if form == "blocks":
        problem = ContactProblem(
            mass=np.ones((1, 6)), jacobian=np.tile(np.eye(6)[:3], (1, 2, 1, 1)), bodies=[[-1, 0]],
            joint_jacobian=np.tile(np.eye(6)[3], (1, 2, 1)), joint_bodies=[[-1, 0]], friction=[0.5],
        )  # fmt: skip
    else:
        size = 6 if form == "dense" else 7
        mass = np.eye(size) + (0.1 if form == "coupled" else 0.0)
        joint = np.eye(size)[:, 3:4]
        problem = ContactProblem(
            mass=mass, jacobian=np.eye(size)[:, :3], friction=[0.5], joint_jacobian=joint
        )
    problem.velocity(np.zeros(3), np.zeros(1))
    with pytest.raises(ProblemError, match="impulses"):
        problem.velocity(np.ones(contact_rows), np.ones(joint_rows))


# ---- laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("coulomb", COULOMB),
        (" relaxed ", RELAXED),
        ("pyramid", pyramid(8)),
        ("pyramid(4)", pyramid(4)),
        ("pyramid( 16 )", pyramid(16)),
        (pyramid(6), pyramid(6)),
    ],
)
def test_laws_are_read(text, law):
    parsed = Law.parse(text)
    assert parsed == law
    assert Law.parse(str(parsed)) == law


def test_laws_say_what_they_are():
    assert [law.exact for law in (COULOMB, RELAXED, pyramid())] == [True, False, True]
    assert [law.sides for law in (COULOMB, RELAXED, pyramid())] == [0, 0, 8]
    with pytest.raises(AttributeError):
        COULOMB.name = "relaxed"


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("columb", r"law 'columb' is not known.*coulomb, relaxed, pyramid"),
        ("Coulomb", r"law 'Coulomb' is not known.*coulomb, relaxed, pyramid"),
        ("", r"law '' is not known.*coulomb"),
        ("pyramid(", r"law 'pyramid\(' is not known.*coulomb"),
        ("pyramid(5)", r"pyramid\(5\).*even and at least 4"),
        ("pyramid(2)", r"pyramid\(2\).*even and at least 4"),
        ("pyramid(0)", r"pyramid\(0\).*even and at least 4"),
        ("coulomb(8)", r"'coulomb' has a round cone.*sides"),
        (8, r"law 8 is not known.*coulomb"),
        (None, r"law None is not known.*coulomb"),
    ],
)
def test_laws_that_do_not_exist(law, message):
    with pytest.raises(OptionError, match=message):
        Law.parse(law)
    with pytest.raises(OptionError, match=message):
        ContactProblem(delassus=np.eye(3), free_velocity=np.zeros(3), friction=[0.1], law=law)


# ---- every mistake has its message --------------------------------------------------------------

BLOCKS = {
    "mass": np.ones((2, 6)),
    "jacobian": np.tile(np.eye(6)[:3], (3, 2, 1, 1)),
    "bodies": np.array([[-1, 0], [0, 1], [1, -1]]),
    "friction": np.array([0.1, 0.2, 0.3]),
    "joint_jacobian": np.tile(np.eye(6)[3], (2, 2, 1)),
    "joint_bodies": np.array([[0, 1], [-1, 1]]),
}
MATRICES = {
    "mass": np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    "jacobian": np.eye(8)[:, :6],
    "friction": np.array([0.1, 0.2]),
    "joint_jacobian": np.eye(8)[:, 6:],
}
DELASSUS = {
    "delassus": np.diag(np.arange(1.0, 9.0)),
    "free_velocity": np.zeros(8),
    "friction": [0.1, 0.2],
    "joint_rows": 2,
}
NOTHING = object()
"""Leaves the argument out."""
SHAPES = r"\(bodies, 6, 6\) or \(bodies, 6\)"
STUCK = "moves no body along its normal .*omit"
NEGATIVE = "delassus has a negative diagonal entry at index"
INDEFINITE = "mass is not positive definite: check"


def changed(value, index, number):
    out = np.array(value, dtype=float)
    out[index] = number
    return out


def coupled_mass(number: float) -> np.ndarray:
    """A mass of 8 coordinates that couples the first and the last: no bodies can be found in it."""
    out = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    out[0, 7] = out[7, 0] = number
    return out


def body_block(index, number, mirrored=None) -> np.ndarray:
    out = np.tile(np.eye(6), (2, 1, 1))
    out[index] = number
    if mirrored is not None:
        out[mirrored] = number
    return out


MISTAKES = {
    # name: (base, changes, what the message must hold, in this order)
    # -- numbers that are not finite, by argument and index
    "nan friction": (BLOCKS, {"friction": [0.1, np.nan, 0.3]}, r"friction is nan at index 1: .*finite"),
    "inf friction": (BLOCKS, {"friction": np.inf}, r"friction is inf: .*finite"),
    "nan mass": (
        BLOCKS,
        {"mass": changed(np.ones((2, 6)), (1, 4), np.nan)},
        r"mass is nan at index \(1, 4\): .*finite",
    ),
    "inf mass": (
        MATRICES,
        {"mass": changed(MATRICES["mass"], (2, 2), np.inf)},
        r"mass is inf at index \(2, 2\): .*finite",
    ),
    "nan sparse mass": (
        MATRICES,
        {"mass": sp.csr_array(changed(MATRICES["mass"], (5, 5), np.nan))},
        r"mass is nan at index \(5, 5\): .*finite",
    ),
    "nan jacobian": (
        BLOCKS,
        {"jacobian": changed(BLOCKS["jacobian"], (2, 1, 0, 5), np.nan)},
        r"jacobian is nan at index \(2, 1, 0, 5\): .*finite",
    ),
    "inf sparse jacobian": (
        MATRICES,
        {"jacobian": sp.csc_array(changed(MATRICES["jacobian"], (7, 3), -np.inf))},
        r"jacobian is -inf at index \(7, 3\): .*finite",
    ),
    "nan joint jacobian": (
        BLOCKS,
        {"joint_jacobian": changed(BLOCKS["joint_jacobian"], (1, 0, 3), np.nan)},
        r"joint_jacobian is nan at index \(1, 0, 3\): .*finite",
    ),
    "nan momentum": (
        MATRICES,
        {"momentum": changed(np.zeros(8), 3, np.nan)},
        r"momentum is nan at index 3: .*finite",
    ),
    "nan bias": (MATRICES, {"bias": changed(np.zeros(6), 5, np.nan)}, r"bias is nan at index 5: .*finite"),
    "nan joint bias": (MATRICES, {"joint_bias": [0.0, np.nan]}, r"joint_bias is nan at index 1: .*finite"),
    "nan delassus": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (4, 4), np.nan)},
        r"delassus is nan at index \(4, 4\): .*finite",
    ),
    "inf free velocity": (
        DELASSUS,
        {"free_velocity": changed(np.zeros(8), 7, np.inf)},
        r"free_velocity is inf at index 7: .*finite",
    ),
    # -- not numbers, not arrays
    "words": (MATRICES, {"friction": ["rough", "smooth"]}, r"friction is not an array of numbers: give"),
    "ragged mass": (MATRICES, {"mass": [[1.0, 0.0], [0.0]]}, r"mass is not an array of numbers: give"),
    "ragged jacobian": (
        MATRICES,
        {"jacobian": [[1.0, 0.0], [0.0]]},
        r"jacobian is not an array of numbers: give",
    ),
    "ragged joint jacobian": (
        MATRICES,
        {"joint_jacobian": [[1.0, 0.0], [0.0]]},
        r"joint_jacobian is not an array of numbers: give",
    ),
    "ragged delassus": (
        DELASSUS,
        {"delassus": [[1.0, 0.0], [0.0]]},
        r"delassus is not an array of numbers: give",
    ),
    "ragged bodies": (BLOCKS, {"bodies": [[-1, 0], [0], [1, -1]]}, r"bodies .*\(3, 2\)"),
    # -- friction and components
    "negative friction": (
        BLOCKS,
        {"friction": [0.1, 0.2, -0.3]},
        r"friction\[2\] is -0\.3: .*not be negative",
    ),
    "negative friction for all": (BLOCKS, {"friction": -0.5}, r"friction\[0\] is -0\.5: .*not be negative"),
    "friction for other contacts": (
        BLOCKS,
        {"friction": [0.1, 0.2]},
        r"friction has 2 numbers for 3 contacts: give",
    ),
    "friction as a matrix": (BLOCKS, {"friction": [[0.1, 0.2, 0.3]]}, r"friction has shape \(1, 3\): give"),
    "one friction, contacts unknown": (
        MATRICES,
        {"friction": 0.5},
        r"friction is one number .* 6 rows .*give .*components",
    ),
    "no friction for contacts": (
        MATRICES,
        {"friction": []},
        r"friction has no numbers, but there are 6 contact rows: give",
    ),
    "rows do not divide": (
        MATRICES,
        {"friction": [0.1] * 4},
        r"6 contact rows for 4 contacts .*give components",
    ),
    "four rows each": (MATRICES, {"friction": [0.1]}, r"6 contact rows for 1 contacts .*give components"),
    "components too few": (
        MATRICES,
        {"components": [3, 2]},
        r"components add up to 5, but there are 6 contact rows",
    ),
    "components too many": (
        DELASSUS,
        {"components": [3, 3], "joint_rows": 3},
        r"components add up to 6, but there are 5 contact rows",
    ),
    "one components too many": (
        MATRICES,
        {"components": 2},
        r"components add up to 4, but there are 6 contact rows",
    ),
    "components and one friction": (
        DELASSUS,
        {"friction": 0.5, "components": 3, "joint_rows": 1},
        r"components .*7 (contact )?rows",
    ),
    "four components": (MATRICES, {"components": [4, 2]}, r"components\[0\] is 4: a contact has 1, 2 or 3"),
    "no components": (
        MATRICES,
        {"friction": [0.1] * 3, "components": [3, 0, 3]},
        r"components\[1\] is 0: a contact has 1, 2 or 3",
    ),
    "components of other contacts": (
        MATRICES,
        {"components": [2, 2, 2]},
        r"components has shape \(3,\) for 2 contacts: give",
    ),
    "components above the blocks": (
        BLOCKS,
        {"jacobian": BLOCKS["jacobian"][:, :, :2], "components": [1, 2, 3]},
        r"components\[2\] is 3, but .*jacobian.* 2 rows",
    ),
    # -- masses
    "mass of wrong shape": (BLOCKS, {"mass": np.ones((2, 3))}, r"mass has shape \(2, 3\): .*" + SHAPES),
    "mass matrix with blocks": (BLOCKS, {"mass": np.eye(12)}, r"mass has shape \(12, 12\): .*" + SHAPES),
    "mass blocks of wrong shape": (
        BLOCKS,
        {"mass": np.ones((2, 6, 3))},
        r"mass has shape \(2, 6, 3\): .*" + SHAPES,
    ),
    "mass not square": (MATRICES, {"mass": np.ones((8, 6))}, r"mass has shape \(8, 6\): it must be square"),
    "mass a vector": (MATRICES, {"mass": np.ones(8)}, r"mass has shape \(8,\): give a matrix"),
    "zero mass": (
        BLOCKS,
        {"mass": changed(np.ones((2, 6)), (1, 0), 0.0)},
        r"mass of body 1 has a zero or negative diagonal .*positive; .*-1",
    ),
    "negative mass": (
        BLOCKS,
        {"mass": changed(np.ones((2, 6)), (0, 5), -1.0)},
        r"mass of body 0 has a zero or negative diagonal .*positive",
    ),
    "zero mass in a matrix": (
        MATRICES,
        {"mass": changed(MATRICES["mass"], (3, 3), 0.0)},
        r"mass has a zero or negative diagonal entry at index 3: .*positive; omit",
    ),
    "negative mass in a sparse matrix": (
        MATRICES,
        {"mass": sp.csc_array(changed(MATRICES["mass"], (4, 4), -5.0))},
        r"mass has a zero or negative diagonal entry at index 4: .*positive",
    ),
    "asymmetric block": (
        BLOCKS,
        {"mass": body_block((1, 3, 4), 0.1)},
        r"mass of body 1 is not symmetric: give",
    ),
    "asymmetric matrix": (
        MATRICES,
        {"mass": changed(MATRICES["mass"], (2, 6), 0.5)},
        r"mass is not symmetric at index \((2, 6|6, 2)\): give",
    ),
    "asymmetric sparse matrix": (
        MATRICES,
        {"mass": sp.csr_array(changed(MATRICES["mass"], (1, 7), 0.5))},
        r"mass is not symmetric at index \((1, 7|7, 1)\): give",
    ),
    "indefinite block": (
        BLOCKS,
        {"mass": body_block((1, 3, 4), 2.0, (1, 4, 3))},
        r"mass of body 1 is not positive definite: check",
    ),
    "singular block": (
        BLOCKS,
        {"mass": body_block((0, 1, 2), 1.0, (0, 2, 1))},
        r"mass of body 0 is not positive definite: check",
    ),
    "indefinite matrix": (MATRICES, {"mass": coupled_mass(3.0)}, INDEFINITE),
    "indefinite sparse matrix": (MATRICES, {"mass": sp.csc_array(coupled_mass(3.0))}, INDEFINITE),
    "singular matrix": (MATRICES, {"mass": coupled_mass(np.sqrt(8.0))}, INDEFINITE),
    "singular sparse matrix": (
        MATRICES,
        {"mass": sp.csc_array(np.where(coupled_mass(1.0) != 0.0, 1.0, 0.0))},
        INDEFINITE,
    ),
    # -- Jacobians
    "jacobian transposed": (
        MATRICES,
        {"jacobian": np.eye(8)[:6]},
        r"jacobian has 6 rows and mass has 8: .*transposed",
    ),
    "jacobian a vector": (
        MATRICES,
        {"jacobian": np.ones(8)},
        r"jacobian has shape \(8,\): give a matrix",
    ),
    "blocks of one side": (
        BLOCKS,
        {"jacobian": np.ones((3, 1, 3, 6))},
        r"jacobian has shape \(3, 1, 3, 6\): .*\(contacts, 2, d, 6\)",
    ),
    "blocks of four rows": (
        BLOCKS,
        {"jacobian": np.ones((3, 2, 4, 6))},
        r"jacobian has shape \(3, 2, 4, 6\): .*d = 1, 2 or 3",
    ),
    "blocks of planar bodies": (
        BLOCKS,
        {"jacobian": np.ones((3, 2, 3, 3))},
        r"jacobian has shape \(3, 2, 3, 3\): .*\(contacts, 2, d, 6\)",
    ),
    "joint jacobian transposed": (
        MATRICES,
        {"joint_jacobian": np.eye(8)[6:]},
        r"joint_jacobian has 2 rows and mass has 8: .*transposed",
    ),
    "joint blocks of wrong shape": (
        BLOCKS,
        {"joint_jacobian": np.ones((2, 6))},
        r"joint_jacobian has shape \(2, 6\): .*\(rows, 2, 6\)",
    ),
    "joint blocks with matrices": (
        MATRICES,
        {"joint_jacobian": np.ones((2, 2, 6))},
        r"joint_jacobian has shape \(2, 2, 6\): give a matrix",
    ),
    # -- body indices
    "body too large": (
        BLOCKS,
        {"bodies": [[-1, 0], [0, 2], [1, -1]]},
        r"bodies\[1, 1\] is 2: bodies are 0 to 1, ground is -1",
    ),
    "body too small": (
        BLOCKS,
        {"bodies": [[-1, 0], [0, 1], [-2, 1]]},
        r"bodies\[2, 0\] is -2: bodies are 0 to 1, ground is -1",
    ),
    "body with itself": (
        BLOCKS,
        {"bodies": [[-1, 0], [1, 1], [1, -1]]},
        r"bodies\[1\] names body 1 twice: .*two bodies",
    ),
    "ground with ground": (
        BLOCKS,
        {"bodies": [[-1, 0], [0, 1], [-1, -1]]},
        r"bodies\[2\] names .*-1.* twice: .*two bodies",
    ),
    "bodies missing": (BLOCKS, {"bodies": NOTHING}, r"bodies is missing: .*-1 for ground"),
    "bodies of wrong shape": (
        BLOCKS,
        {"bodies": [-1, 0, 1]},
        r"bodies has shape \(3,\): give whole numbers of shape \(3, 2\)",
    ),
    "bodies not whole": (
        BLOCKS,
        {"bodies": [[-1.0, 0.5], [0.0, 1.0], [1.0, -1.0]]},
        r"bodies .*whole numbers",
    ),
    "joint body too large": (
        BLOCKS,
        {"joint_bodies": [[0, 1], [-1, 5]]},
        r"joint_bodies\[1, 1\] is 5: bodies are 0 to 1",
    ),
    "joint body with itself": (
        BLOCKS,
        {"joint_bodies": [[0, 0], [-1, 1]]},
        r"joint_bodies\[0\] names body 0 twice",
    ),
    "joint bodies missing": (BLOCKS, {"joint_bodies": NOTHING}, r"joint_bodies is missing: .*-1 for ground"),
    # -- vectors of wrong length
    "momentum too short": (
        MATRICES,
        {"momentum": np.zeros(7)},
        r"momentum has 7 numbers instead of 8: one .*generalised velocity",
    ),
    "momentum of blocks too long": (
        BLOCKS,
        {"momentum": np.zeros((3, 6))},
        r"momentum has 18 numbers instead of 12",
    ),
    "bias too short": (
        MATRICES,
        {"bias": np.zeros(2)},
        r"bias has 2 numbers instead of 6: one .*contact component",
    ),
    "bias of one number": (
        MATRICES,
        {"bias": 0.5},
        r"bias has 1 numbers instead of 6: one .*contact component",
    ),
    "joint bias too long": (
        BLOCKS,
        {"joint_bias": np.zeros(3)},
        r"joint_bias has 3 numbers instead of 2: one .*joint row",
    ),
    "free velocity too short": (
        DELASSUS,
        {"free_velocity": np.zeros(6)},
        r"free_velocity has 6 numbers instead of 8: one .*delassus",
    ),
    # -- missing and contradictory arguments
    "mass missing": (MATRICES, {"mass": NOTHING}, r"mass is missing: give mass and jacobian, or delassus"),
    "jacobian missing": (
        MATRICES,
        {"jacobian": NOTHING},
        r"jacobian is missing: give mass and jacobian, or delassus",
    ),
    "free velocity missing": (DELASSUS, {"free_velocity": NOTHING}, r"free_velocity is missing: .*delassus"),
    "free velocity with masses": (
        MATRICES,
        {"free_velocity": np.zeros(8)},
        r"free_velocity .*delassus: use momentum, bias",
    ),
    "joint rows with masses": (MATRICES, {"joint_rows": 2}, r"joint_rows .*delassus: use .*joint_jacobian"),
    "bodies with matrices": (
        MATRICES,
        {"bodies": [[0, -1], [0, -1]]},
        r"\bbodies needs a jacobian of blocks .*omit it",
    ),
    "joint bodies with matrices": (
        MATRICES,
        {"joint_bodies": [[0, -1], [0, -1]]},
        r"joint_bodies needs .*blocks .*omit it",
    ),
    "joint bodies without joints": (
        BLOCKS,
        {"joint_jacobian": NOTHING},
        r"joint_(bodies|jacobian) .*joint_(jacobian|bodies)",
    ),
    "joint bias without joints": (
        MATRICES,
        {"joint_jacobian": NOTHING, "joint_bias": [0.0, 0.0]},
        r"joint_bias has 2 numbers instead of 0",
    ),
    # -- Delassus matrices
    "delassus not square": (
        DELASSUS,
        {"delassus": np.ones((8, 6))},
        r"delassus has shape \(8, 6\): it must be square",
    ),
    "sparse delassus not square": (
        DELASSUS,
        {"delassus": sp.csr_array(np.ones((8, 6)))},
        r"delassus has shape \(8, 6\): it must be square",
    ),
    "delassus asymmetric": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (0, 3), 2.0)},
        r"delassus is not symmetric \(by [\d.]+ of its largest entry\): .*check",
    ),
    "sparse delassus asymmetric": (
        DELASSUS,
        {"delassus": sp.csr_array(changed(DELASSUS["delassus"], (0, 3), 2.0))},
        r"delassus is not symmetric \(by [\d.]+ of its largest entry\): .*check",
    ),
    "delassus negative along a normal": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (3, 3), -1.0)},
        NEGATIVE + r" 3: .*positive semidefinite",
    ),
    "delassus negative along a tangent": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (4, 4), -1.0)},
        NEGATIVE + r" 4: .*positive semidefinite",
    ),
    "delassus negative along a joint": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (7, 7), -1.0)},
        NEGATIVE + r" 7: .*positive semidefinite",
    ),
    "too many joint rows": (DELASSUS, {"joint_rows": 9}, r"joint_rows is 9: .*between 0 and 8"),
    "negative joint rows": (DELASSUS, {"joint_rows": -1}, r"joint_rows is -1: .*between 0 and 8"),
    # -- rows that move nothing
    "contact moves nothing": (
        BLOCKS,
        {"jacobian": changed(BLOCKS["jacobian"], (1, slice(None), 0), 0.0)},
        r"contact 1 " + STUCK,
    ),
    "contact column of zeros": (
        MATRICES,
        {"jacobian": changed(MATRICES["jacobian"], (slice(None), 3), 0.0)},
        r"contact 1 " + STUCK,
    ),
    "contact of ground's rows alone": (
        BLOCKS,
        {"jacobian": changed(BLOCKS["jacobian"], (0, 1), 0.0)},
        r"contact 0 " + STUCK,
    ),
    "delassus row of zeros": (
        DELASSUS,
        {"delassus": changed(DELASSUS["delassus"], (0, 0), 0.0)},
        r"contact 0 " + STUCK,
    ),
    "joint row moves nothing": (
        BLOCKS,
        {"joint_jacobian": changed(BLOCKS["joint_jacobian"], (1, slice(None)), 0.0)},
        r"joint row 1 moves no body: omit",
    ),
    "joint column of zeros": (
        MATRICES,
        {"joint_jacobian": changed(MATRICES["joint_jacobian"], (slice(None), 0), 0.0)},
        r"joint row 0 moves no body: omit",
    ),
    "joint between fixed bodies": (
        BLOCKS,
        {"joint_bodies": [[0, 1], [-1, -1]]},
        r"joint_bodies\[1\] names .*-1.* twice",
    ),
}


def with_changes(base: dict, changes: dict) -> dict:
    return {name: value for name, value in (base | changes).items() if value is not NOTHING}


@pytest.mark.parametrize("base", [BLOCKS, MATRICES, DELASSUS], ids=["blocks", "matrices", "delassus"])
def test_the_unchanged_bases_are_good(base):
    ContactProblem(**base)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_has_its_message(mistake):
    base, changes, message = MISTAKES[mistake]
    with pytest.raises(ProblemError) as caught:
        ContactProblem(**with_changes(base, changes))
    text = str(caught.value)
    assert re.search(message, text), text
    assert "\n" not in text
    assert len(text) < 220  # one sentence


@pytest.mark.parametrize(
    "other",
    ["mass", "jacobian", "bodies", "momentum", "bias", "joint_jacobian", "joint_bodies", "joint_bias"],
)
def test_delassus_excludes_what_makes_it(other):
    with pytest.raises(ProblemError, match=rf"^{other} and delassus exclude each other: give .* or delassus"):
        ContactProblem(**DELASSUS | {other: np.zeros(2)})


def test_friction_must_be_given():
    with pytest.raises(TypeError, match="friction"):
        ContactProblem(delassus=np.eye(3), free_velocity=np.zeros(3))


# ---- masses of any size -------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [1e-6, 1e-3, 1.0, 1e3])
def test_symmetry_is_judged_at_the_scale_of_the_inertia(radius):
    """A grain of a micrometre has an inertia 4e-13 times its mass: that must not hide a wrong one."""
    mass, inertia = radius**3, 0.4 * radius**5
    good = np.diag([mass] * 3 + [inertia] * 3)
    bad = good.copy()
    bad[3, 4] = 0.5 * inertia
    jacobian = np.zeros((1, 2, 3, 6))
    jacobian[:, :, :, :3] = np.eye(3)
    ContactProblem(mass=good[None], jacobian=jacobian, bodies=[[-1, 0]], friction=[0.5])
    with pytest.raises(ProblemError, match="mass of body 0 is not symmetric"):
        ContactProblem(mass=bad[None], jacobian=jacobian, bodies=[[-1, 0]], friction=[0.5])
    with pytest.raises(ProblemError, match=r"mass.* is not symmetric"):
        ContactProblem(mass=bad, jacobian=np.eye(6)[:, :3], friction=[0.5])


@pytest.mark.parametrize("radius", [1e-6, 1e-3, 1.0, 1e3])
def test_definiteness_does_not_depend_on_the_unit_of_length(radius):
    mass, inertia = radius**3, 0.4 * radius**5
    good = np.diag([mass] * 3 + [inertia] * 3)
    bad = good.copy()
    bad[3, 4] = bad[4, 3] = 1.1 * inertia
    jacobian = np.zeros((1, 2, 3, 6))
    jacobian[:, :, :, :3] = np.eye(3)
    ContactProblem(mass=good[None], jacobian=jacobian, bodies=[[-1, 0]], friction=[0.5])
    with pytest.raises(ProblemError, match="mass of body 0 is not positive definite"):
        ContactProblem(mass=bad[None], jacobian=jacobian, bodies=[[-1, 0]], friction=[0.5])


@pytest.mark.parametrize("asymmetry", [0.0, 1e-3, 5e-3])
def test_delassus_of_rounded_files_is_taken(asymmetry):
    """Up to 1 % of the largest entry counts as rounding; beyond it is an error (see the mistakes)."""
    w = np.array([[2.0, 0.5 + asymmetry], [0.5, 1.0]])
    problem = ContactProblem(delassus=w, free_velocity=[0.0, 0.0], friction=[0.5])
    assert np.array_equal(problem.operator.matrix().toarray(), w)


def test_friction_on_contacts_of_one_component_must_be_meant():
    """One coefficient per row instead of one per contact would turn tangents into frictionless contacts."""
    arguments = {"mass": np.eye(3), "jacobian": np.eye(3)[:, :2], "friction": [0.2, 0.3]}
    with pytest.raises(ProblemError, match="one coefficient per contact"):
        ContactProblem(**arguments)
    assert ContactProblem(**arguments, components=1).contacts == 2
