"""FCLib files: every encoding there and back, the C library on the other side, and broken files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.collection import SHIPPED, collected
from helpers.paths import INTEROP
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError, ProblemError, UnsupportedError
from nonsmooth.io import read_problem, read_start, write_problem, write_siconos
from nonsmooth.io._hdf5 import Node
from nonsmooth.io.problems import fclib
from nonsmooth.io.problems.fclib import FclibInfo, read_fclib, write_fclib
from nonsmooth.io.problems.fclib_matrices import completed, read_matrix, write_matrix
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import NAMED
from nonsmooth.solvers import solve

ENCODINGS = ("triplet", "columns", "rows")
KINDS = ("local", "global")
INFO = FclibInfo("Tas de sphères", "two\nlines", "unique in u")


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def local_problem(dimension: int = 3, contacts: int = 3, joints: int = 2, seed: int = 0) -> ContactProblem:
    rng = np.random.default_rng(seed)
    size = dimension * contacts + joints
    factor = rng.normal(size=(size, size)) * (rng.random((size, size)) < 0.5)
    return ContactProblem(
        delassus=sp.csc_array(factor @ factor.T + np.eye(size)),
        free_velocity=rng.normal(size=size),
        friction=rng.uniform(0.1, 0.9, contacts),
        components=dimension,
        joint_rows=joints,
    )


def global_problem(dimension: int = 3, contacts: int = 3, joints: int = 2, seed: int = 0) -> ContactProblem:
    rng = np.random.default_rng(seed)
    size, rows = 12, dimension * contacts
    factor = rng.normal(size=(size, size)) * (rng.random((size, size)) < 0.3)
    return ContactProblem(
        mass=sp.csc_array(factor @ factor.T + np.eye(size)),
        jacobian=sp.csc_array(rng.normal(size=(size, rows)) * (rng.random((size, rows)) < 0.7)),
        joint_jacobian=rng.normal(size=(size, joints)),
        momentum=rng.normal(size=size),
        bias=rng.normal(size=rows),
        joint_bias=rng.normal(size=joints),
        friction=rng.uniform(0.1, 0.9, contacts),
        components=dimension,
    )


MAKE = {"local": local_problem, "global": global_problem}
MATRICES = {"local": ("delassus",), "global": ("mass", "jacobian", "joint_jacobian")}
VECTORS = {
    "local": ("free_velocity", "joint_free_velocity", "friction", "components"),
    "global": ("momentum", "bias", "joint_bias", "friction", "components"),
}


def assert_same(problem: ContactProblem, other: ContactProblem, kind: str) -> None:
    assert other.has_masses is (kind == "global")
    assert other.joint_rows == problem.joint_rows
    for name in MATRICES[kind]:
        np.testing.assert_array_equal(dense(getattr(other, name)), dense(getattr(problem, name)), name)
    for name in VECTORS[kind]:
        np.testing.assert_array_equal(getattr(other, name), getattr(problem, name), name)


# ---- there and back -------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("joints", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_is_exact(kind: str, joints: int, dimension: int, encoding: str, tmp_path: Path) -> None:
    problem, path = MAKE[kind](dimension, 3, joints), tmp_path / "x.hdf5"
    rng = np.random.default_rng(5)
    guesses = [rng.normal(size=problem.layout.rows) for _ in range(2)]
    solution = solve(problem, tolerance=1e-10)
    write_fclib(problem, path, solution=solution, guesses=guesses, info=INFO, encoding=encoding)
    file = read_fclib(path)
    assert file.kind == kind
    assert file.info == INFO
    assert_same(problem, file.problem, kind)
    rows = problem.layout.contact_rows
    for guess, state in zip(guesses, file.guesses, strict=True):
        np.testing.assert_array_equal(state.start, guess)
        np.testing.assert_array_equal(state.impulses, guess[:rows])
        if joints:
            np.testing.assert_array_equal(state.joint_impulses, guess[rows:])
        else:
            assert state.joint_impulses is None
    stored = file.solution
    assert stored is not None
    np.testing.assert_array_equal(stored.impulses, solution.impulses)
    np.testing.assert_allclose(stored.velocities, solution.contact_velocities, rtol=1e-13, atol=1e-14)
    if kind == "global":
        np.testing.assert_array_equal(stored.generalised_velocity, solution.velocity)
    else:
        assert stored.generalised_velocity is None
    answer = np.concatenate([solution.impulses, solution.joint_impulses])
    np.testing.assert_array_equal(read_start(path), answer)  # closer than the guesses


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_obeys_the_equations_of_fclib(kind: str, tmp_path: Path) -> None:
    """u = W r + V l + q and 0 = Vᵀr + R l + s, or M v = H r + G l + f, u = Hᵀv + w and 0 = Gᵀv + b."""
    problem, path = MAKE[kind](), tmp_path / "x.hdf5"
    write_fclib(problem, path, solution=solve(problem, tolerance=1e-12))
    with h5py.File(path) as file:
        group, state = file[f"fclib_{kind}"], {name: part[()] for name, part in file["solution"].items()}
        vector = {name: part[()] for name, part in group["vectors"].items()}
        matrix = {
            name: sp.coo_array(
                (part["x"][()], (part["i"][()], part["p"][()])), shape=(part["m"][0], part["n"][0])
            )
            for name, part in group.items()
            if name in "WVRMHG"
        }
    if kind == "local":
        u = matrix["W"] @ state["r"] + matrix["V"] @ state["l"] + vector["q"]
        held = matrix["V"].T @ state["r"] + matrix["R"] @ state["l"] + vector["s"]
    else:
        pushed = matrix["H"] @ state["r"] + matrix["G"] @ state["l"] + vector["f"]
        np.testing.assert_allclose(matrix["M"] @ state["v"], pushed, atol=1e-12)
        u = matrix["H"].T @ state["v"] + vector["w"]
        held = matrix["G"].T @ state["v"] + vector["b"]
    np.testing.assert_allclose(state["u"], u, atol=1e-11)
    np.testing.assert_allclose(held, 0.0, atol=1e-9)


def test_local_of_a_problem_with_masses_has_the_same_answer(tmp_path: Path) -> None:
    problem, path = global_problem(), tmp_path / "x.hdf5"
    solution = solve(problem, tolerance=1e-11)
    write_fclib(problem, path, kind="local", solution=solution)
    file = read_fclib(path)
    assert file.kind == "local"
    both = np.hstack([dense(problem.jacobian), dense(problem.joint_jacobian)])
    w = both.T @ np.linalg.solve(dense(problem.mass), both)
    np.testing.assert_allclose(dense(file.problem.delassus), w, atol=1e-12 * np.abs(w).max())
    start = np.concatenate([solution.impulses, solution.joint_impulses])
    np.testing.assert_array_equal(read_start(path), start)
    again = solve(file.problem, tolerance=1e-11)
    np.testing.assert_allclose(again.contact_velocities, solution.contact_velocities, atol=1e-8)


@pytest.mark.parametrize("name", NAMED)
def test_problems_of_the_library(name: str, tmp_path: Path) -> None:
    problem, path = NAMED[name].build().with_law("coulomb"), tmp_path / "x.hdf5"
    if set(problem.components) not in ({2}, {3}, set()):
        with pytest.raises(UnsupportedError, match="components, and in an FCLib file all have 2, or all 3"):
            write_fclib(problem, path)
        assert not path.exists()
        return
    if np.isfinite(problem.joint_bounds).any():
        with pytest.raises(UnsupportedError, match=r"joint rows have bounds.*keep them with write_problem"):
            write_fclib(problem, path)
        assert not path.exists()
        return
    write_fclib(problem, path)
    other = read_problem(path)
    assert other.has_masses == problem.has_masses
    np.testing.assert_allclose(
        dense(other.operator.matrix()), dense(problem.operator.matrix()), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(other.free_velocity, problem.free_velocity, rtol=1e-13, atol=1e-14)


def test_bodies_as_blocks_become_matrices(scene: Callable[..., Any], tmp_path: Path) -> None:
    arrays, path = scene(3, components=3), tmp_path / "x.hdf5"
    write_fclib(ContactProblem(**arrays.block_arguments()), path)
    assert_same(ContactProblem(**arrays.matrix_arguments()), read_problem(path), "global")


def test_no_contacts_and_no_guesses(tmp_path: Path) -> None:
    problem = ContactProblem(mass=np.eye(3), jacobian=np.zeros((3, 0)), momentum=[1.0, 2.0, 3.0], friction=[])
    write_fclib(problem, tmp_path / "x.hdf5")
    file = read_fclib(tmp_path / "x.hdf5")
    assert (file.problem.contacts, file.guesses, file.solution, file.info) == (0, (), None, FclibInfo())
    assert file.start is None


def test_the_same_problem_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_fclib(local_problem(), tmp_path / name, info=INFO)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# ---- matrices -------------------------------------------------------------------------------------------


@contextmanager
def stored_matrix(**parts: Any) -> Iterator[Node]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.hdf5"
        with h5py.File(path, "w") as file:
            for name, value in parts.items():
                file.create_dataset(f"A/{name}", data=value)
        with h5py.File(path) as file:
            yield Node(file, path, os.path.getsize(path), "")


ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 3), st.sampled_from([0.0, -1.0, 0.1, 3.0, 1e300, 5e-324, -2.5])
    ),
    max_size=25,
)


@settings(max_examples=120)
@given(
    entries=ENTRIES,
    encoding=st.sampled_from(ENCODINGS),
    spare=st.integers(0, 3),
    order=st.sampled_from(["<", ">"]),
    width=st.sampled_from([4, 8]),
)
def test_any_order_duplicates_and_zeros(
    entries: list[tuple[int, int, float]], encoding: str, spare: int, order: str, width: int
) -> None:
    """Entries as another program may store them, with places that come twice, spare room and byte order."""
    m, n = 5, 4
    wanted = np.zeros((m, n))
    for i, j, x in entries:
        wanted[i, j] += x
    rows, columns, values = ([entry[k] for entry in entries] for k in range(3))
    if encoding == "triplet":
        first, second, kind = columns, rows, len(entries)
    else:
        lines, others = (columns, rows) if encoding == "columns" else (rows, columns)
        chosen = sorted(range(len(entries)), key=lambda k: lines[k])  # unsorted within a line
        values, second = [values[k] for k in chosen], [others[k] for k in chosen]
        count = n if encoding == "columns" else m
        first = np.searchsorted([lines[k] for k in chosen], np.arange(count + 1)).tolist()
        kind = -1 if encoding == "columns" else -2
    whole, real = np.dtype(f"{order}i{width}"), np.dtype(f"{order}f8")
    pad = [99] * spare  # not in use, and no valid index
    with stored_matrix(
        m=np.array([m], whole), n=np.array([n], whole), nz=np.array([kind], whole),
        nzmax=np.array([len(entries) + 7], whole),
        p=np.array(first + (pad if kind >= 0 else []), whole),
        i=np.array(second + pad, whole), x=np.array(values + pad, real),
    ) as root:  # fmt: skip
        found = read_matrix(root, "A", (m, n))
    np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-15)


@settings(max_examples=60)
@given(entries=ENTRIES, encoding=st.sampled_from(ENCODINGS), form=st.sampled_from(["coo", "csr", "csc"]))
def test_what_is_written_is_in_order_and_exact(
    entries: list[tuple[int, int, float]], encoding: str, form: str
) -> None:
    rows, columns, values = ([entry[k] for entry in entries] for k in range(3))
    matrix = sp.coo_array((np.array(values, float), (np.array(rows, int), np.array(columns, int))), (5, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.hdf5"
        with h5py.File(path, "w") as file:
            write_matrix(file, "A", matrix.asformat(form), encoding)
            group = file["A"]
            assert {part.dtype for name, part in group.items() if name != "x"} == {np.dtype("i4")}
            count = group["nz"][0] if encoding == "triplet" else group["p"][-1]
            assert group["nzmax"][0] == count == len(group["i"]) == len(group["x"])
            root = Node(file, path, 10**6, "")
            np.testing.assert_allclose(
                read_matrix(root, "A", (5, 4)).toarray(), matrix.toarray(), rtol=1e-15, atol=0
            )


def test_one_triangle_of_a_symmetric_matrix_is_completed() -> None:
    whole = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 4.0]])
    for half in (np.triu(whole), np.tril(whole), whole):
        np.testing.assert_array_equal(dense(completed(sp.csc_array(half))), whole)
    np.testing.assert_array_equal(dense(completed(sp.eye_array(3).tocsc())), np.eye(3))


def test_an_asymmetric_matrix_comes_back_as_it_was(tmp_path: Path) -> None:
    mass = np.diag([1.0, 2.0, 3.0])
    mass[0, 1] = 0.5
    problem = ContactProblem(mass=mass, jacobian=np.eye(3), friction=[0.5], allow_asymmetry=True)
    write_fclib(problem, tmp_path / "global.hdf5")
    write_fclib(problem, tmp_path / "local.hdf5", kind="local")
    write_siconos(problem, tmp_path / "local.dat", kind="local")
    np.testing.assert_array_equal(dense(read_problem(tmp_path / "global.hdf5").mass), mass)
    for name in ("local.hdf5", "local.dat"):
        np.testing.assert_allclose(
            dense(read_problem(tmp_path / name).delassus), np.linalg.inv(mass), atol=1e-15
        )


def test_half_of_w_and_r_is_completed_beside_bilateral_rows(tmp_path: Path) -> None:
    problem, path = local_problem(), tmp_path / "x.hdf5"
    write_fclib(problem, path, encoding="triplet")
    with h5py.File(path, "r+") as file:
        for name in ("W", "R"):
            group = file["fclib_local"][name]
            upper = group["i"][()] <= group["p"][()]
            group["x"][...] = np.where(upper, group["x"][()], 0.0)
    whole = read_fclib(path, complete_triangles=True).problem
    np.testing.assert_allclose(dense(whole.delassus), dense(problem.delassus), rtol=1e-12, atol=1e-15)


def test_rows_of_joints_that_differ_from_their_columns_are_not_written(tmp_path: Path) -> None:
    matrix = np.eye(4)
    matrix[0, 3], matrix[3, 0] = 0.1, 0.105
    problem = ContactProblem(delassus=matrix, free_velocity=np.ones(4), friction=[0.5], joint_rows=1)
    with pytest.raises(UnsupportedError, match="rows and columns of joints differ"):
        write_fclib(problem, tmp_path / "x.hdf5")


# ---- files of others ------------------------------------------------------------------------------------

FILES = collected(".hdf5")
SHAPES = {  # kind, contacts, dimension, guesses, solution
    "Capsules-i125-1213": ("local", 286, 3, 1, True),
    "LMGC_100_PR_PerioBox-i00361-60-03000": ("local", 60, 3, 0, False),
    "LMGC_GlobalFrictionContactProblem00046": ("global", 9, 3, 0, False),
    "Spheres-i099-356-679": ("global", 356, 3, 1, True),
    "local_problem_test": ("local", 48, 3, 1, True),
    "spheres-in-a-box-98-i10000-256-10": ("global", 256, 3, 1, True),
}


each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_every_collected_file_is_known() -> None:
    assert {path.stem for path in FILES} <= set(SHAPES)


@each_file
def test_collected_files(path: Path, tmp_path: Path) -> None:
    file = read_fclib(path)
    problem = file.problem
    kind, contacts, dimension, guesses, solution = SHAPES[path.stem]
    assert (file.kind, problem.contacts, len(file.guesses)) == (kind, contacts, guesses)
    assert (file.solution is not None) == solution
    assert set(problem.components) == {dimension}
    assert file.info.title
    assert "\0" not in file.info.description
    for encoding in ENCODINGS:
        write_fclib(problem, tmp_path / "copy.hdf5", encoding=encoding, info=file.info)
        copy = read_fclib(tmp_path / "copy.hdf5")
        assert copy.info == file.info
        assert copy.kind == file.kind
        for part in MATRICES[file.kind]:
            difference = abs(sp.csc_array(getattr(copy.problem, part)) - sp.csc_array(getattr(problem, part)))
            assert difference.nnz == 0 or difference.max() == 0.0
        for part in VECTORS[file.kind]:
            np.testing.assert_array_equal(getattr(copy.problem, part), getattr(problem, part))


@each_file
def test_the_better_start_is_taken(path: Path) -> None:
    """Many of these files hold a solution whose impulses are all zero, and some a guess that is better."""
    file = read_fclib(path)
    if file.solution is None:
        with pytest.raises(FileFormatError, match="no solution and no guess"):
            read_start(path)
        return
    assert not np.any(file.solution.impulses)
    starts = [file.solution.impulses, file.guesses[0].impulses]
    residuals = [
        solve(file.problem, start=r, max_iterations=0, throw=False).certificate.residual for r in starts
    ]
    np.testing.assert_array_equal(read_start(path), starts[int(np.argmin(residuals))])


def test_a_mass_matrix_of_which_the_upper_half_is_stored() -> None:
    path = SHIPPED / "LMGC_GlobalFrictionContactProblem00046.hdf5"
    with h5py.File(path) as file:
        stored = file["fclib_global/M"]
        i, p, x = (stored[part][()] for part in ("i", "p", "x"))
    assert np.all(i <= p)
    upper = sp.coo_array((x, (i, p)), shape=(162, 162)).toarray()
    np.testing.assert_array_equal(dense(read_problem(path).mass), upper)
    mass = dense(read_fclib(path, complete_triangles=True).problem.mass)
    np.testing.assert_array_equal(np.triu(mass), upper)
    np.testing.assert_array_equal(mass, mass.T)
    assert np.linalg.eigvalsh(mass).min() > 0.0


# ---- the C library on the other side --------------------------------------------------------------------


@pytest.fixture(scope="module")
def c_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, list[float]]]:
    """Compile the program that reads a file with libfclib, prints it, and writes another."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: cc is not on the path")
    program = tmp_path_factory.mktemp("interop") / "fclib_roundtrip"
    source = INTEROP / "fclib_roundtrip.c"
    built = subprocess.run(
        [compiler, "-std=c11", "-Wall", str(source), "-o", str(program), "-lfclib"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode and ("fclib.h" in built.stderr or "-lfclib" in built.stderr):
        pytest.skip("libfclib is not installed (Debian: libfclib-dev)")
    assert built.returncode == 0, built.stderr

    def run(kind: str, source: Path, target: Path, guesses: bool, solution: bool) -> dict[str, list[float]]:
        done = subprocess.run(
            [str(program), kind, str(source), str(target), str(int(guesses)), str(int(solution))],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines()]
        return {name: [float(number) for number in numbers] for name, *numbers in lines}

    return run


def printed_matrix(printed: dict[str, list[float]], name: str) -> np.ndarray:
    """A matrix from what the C library read, by loops."""
    m, n, nz, _ = (int(size) for size in printed[f"{name}.sizes"])
    p, i = ([int(index) for index in printed[f"{name}.{part}"]] for part in "pi")
    out = np.zeros((m, n))
    if nz >= 0:
        for row, column, value in zip(i, p, printed[f"{name}.x"], strict=True):
            out[row, column] += value
        return out
    for line in range(len(p) - 1):
        for k in range(p[line], p[line + 1]):
            out[(i[k], line) if nz == -1 else (line, i[k])] += printed[f"{name}.x"][k]
    return out


def expected(problem: ContactProblem, kind: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rows = problem.layout.contact_rows
    if kind == "local":
        w = dense(problem.delassus)
        return (
            {"W": w[:rows, :rows], "V": w[:rows, rows:], "R": w[rows:, rows:]},
            {"q": problem.free_velocity, "s": problem.joint_free_velocity, "mu": problem.friction},
        )
    return (
        {"M": dense(problem.mass), "H": dense(problem.jacobian), "G": dense(problem.joint_jacobian)},
        {"f": problem.momentum, "w": problem.bias, "b": problem.joint_bias, "mu": problem.friction},
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("joints", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_c_library_reads_ours_and_we_read_its(
    c_library: Callable[..., dict[str, list[float]]],
    kind: str, joints: int, dimension: int, encoding: str, tmp_path: Path,
) -> None:  # fmt: skip
    problem = MAKE[kind](dimension, 3, joints, seed=1)
    solution = solve(problem, tolerance=1e-10)
    guesses = [np.random.default_rng(k).normal(size=problem.layout.rows) for k in range(2)]
    ours, theirs = tmp_path / "ours.hdf5", tmp_path / "theirs.hdf5"
    write_fclib(problem, ours, solution=solution, guesses=guesses, info=INFO, encoding=encoding)
    printed = c_library(kind, ours, theirs, True, True)

    matrices, vectors = expected(problem, kind)
    for name, matrix in matrices.items():
        if matrix.shape[1]:
            np.testing.assert_array_equal(printed_matrix(printed, name), matrix, name)
        else:
            assert f"{name}.sizes" not in printed
    for name, vector in vectors.items():
        np.testing.assert_array_equal(printed.get(name, []), vector, name)
    assert printed["spacedim"] == [dimension]
    for name in ("title", "description", "math_info"):
        assert bytes(int(code) for code in printed[name]).decode() == getattr(INFO, name)

    file, copy = read_fclib(ours), read_fclib(theirs)
    assert_same(problem, copy.problem, kind)
    assert (copy.kind, copy.info) == (kind, INFO)
    pairs = [("solution", file.solution, copy.solution)]
    pairs += [(f"guess{k + 1}", file.guesses[k], copy.guesses[k]) for k in range(2)]
    for name, one, other in pairs:
        for letter, field in fclib._FIELDS.items():
            if getattr(one, field) is None:
                assert f"{name}.{letter}" not in printed
                assert getattr(other, field) is None
            else:
                np.testing.assert_array_equal(printed[f"{name}.{letter}"], getattr(one, field))
                np.testing.assert_array_equal(getattr(other, field), getattr(one, field))


def test_the_c_library_finds_our_solution_right(
    c_library: Callable[..., dict[str, list[float]]], tmp_path: Path
) -> None:
    """Its own measure of a solution, with joint rows: all signs are those of FCLib."""
    problem, path = local_problem(3, 4, 3, seed=2), tmp_path / "x.hdf5"
    solution = solve(problem, tolerance=1e-12)
    write_fclib(problem, path, solution=solution, encoding="columns")
    assert c_library("local", path, tmp_path / "y.hdf5", False, True)["merit"][0] < 1e-10
    wrong = np.concatenate([solution.impulses, -solution.joint_impulses])
    with h5py.File(path, "r+") as file:
        file["solution/l"][...] = wrong[problem.layout.contact_rows :]
    assert c_library("local", path, tmp_path / "z.hdf5", False, True)["merit"][0] > 1e-3


# ---- what cannot be written -----------------------------------------------------------------------------


def test_what_fclib_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.hdf5"
    mixed = ContactProblem(
        delassus=np.eye(5), free_velocity=np.ones(5), friction=[0.1, 0.2], components=[3, 2]
    )
    with pytest.raises(UnsupportedError, match=r"contacts have 2 and 3 components.*write_problem"):
        write_fclib(mixed, path)
    single = ContactProblem(delassus=np.eye(1), free_velocity=[1.0], friction=[0.0], components=1)
    with pytest.raises(UnsupportedError, match="contacts have 1 components"):
        write_fclib(single, path)
    with pytest.raises(UnsupportedError, match=r"the law is relaxed.*with_law\('coulomb'\)"):
        write_fclib(local_problem().with_law("relaxed"), path)
    with pytest.raises(UnsupportedError, match="has no masses: write it with kind='local'"):
        write_fclib(local_problem(), path, kind="global")
    with pytest.raises(OptionError, match="kind is 'globl': it must be one of global, local"):
        write_fclib(local_problem(), path, kind="globl")
    with pytest.raises(OptionError, match="encoding is 'dense': it must be one of triplet, columns, rows"):
        write_fclib(local_problem(), path, encoding="dense")
    with pytest.raises(OptionError, match="title holds a NUL"):
        FclibInfo(title="a\0b")
    with pytest.raises(
        ProblemError, match=r"guess 1 has 3 impulses, and this problem has 9 contact.* 2 joint"
    ):
        write_fclib(local_problem(), path, guesses=[np.zeros(3)])
    with pytest.raises(ProblemError, match="solution has 9 impulses"):
        write_fclib(local_problem(), path, solution=solve(local_problem(joints=0)))
    with pytest.raises(OSError, match="there is no folder"):
        write_fclib(local_problem(), tmp_path / "missing" / "x.hdf5")
    assert list(tmp_path.iterdir()) == []


def test_both_kinds_in_one_file(tmp_path: Path) -> None:
    problem, path = global_problem(), tmp_path / "x.hdf5"
    write_fclib(problem, path, guesses=[np.ones(11)])
    write_fclib(problem, tmp_path / "local.hdf5", kind="local")
    with h5py.File(path, "r+") as file, h5py.File(tmp_path / "local.hdf5") as other:
        other.copy("fclib_local", file)
    assert read_fclib(path).kind == "global"
    assert read_fclib(path, kind="local").problem.has_masses is False
    np.testing.assert_array_equal(read_fclib(path, kind="local").guesses[0].start, np.ones(11))
    with pytest.raises(FileFormatError, match="holds no global problem, but a local one"):
        read_fclib(tmp_path / "local.hdf5", kind="global")


# ---- one door -------------------------------------------------------------------------------------------


def test_read_problem_tells_files_apart(tmp_path: Path) -> None:
    problem = local_problem(joints=0)
    write_problem(problem, tmp_path / "own")
    write_fclib(problem, tmp_path / "fclib")
    for name in ("own", "fclib"):
        assert_same(problem, read_problem(tmp_path / name), "local")
    text = tmp_path / "siconos"
    text.write_text("3 1\n0 3 3\n3 3\n2 0 0 0 2 0 0 0 2\n-1 0.5 0\n0.3\n")
    found = read_problem(text)
    np.testing.assert_array_equal(dense(found.delassus), 2.0 * np.eye(3))
    np.testing.assert_array_equal(found.free_velocity, [-1.0, 0.5, 0.0])
    with pytest.raises(FileFormatError, match="text file of Siconos, which holds a problem and no solution"):
        read_start(text)
    for content in (b"", b"\x89HDF", b"mass 3", b"\0" * 100):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(FileFormatError, match="not an HDF5 file and not a text file of Siconos"):
            read_problem(tmp_path / "other")
    with pytest.raises(FileFormatError, match="not an HDF5 file"):
        read_fclib(text)
    with pytest.raises(FileFormatError, match="not one of FCLib's"):
        read_fclib(tmp_path / "own")
    with pytest.raises(FileNotFoundError, match="cannot read"):
        read_fclib(tmp_path / "nothing")


def test_a_state_without_joint_impulses_is_no_start(tmp_path: Path) -> None:
    path = tmp_path / "x.hdf5"
    write_fclib(local_problem(), path, guesses=[np.ones(11), np.full(11, 2.0)])
    with h5py.File(path, "r+") as file:
        del file["guesses/1/l"]
    np.testing.assert_array_equal(read_start(path), np.full(11, 2.0))


# ---- files that are wrong -------------------------------------------------------------------------------

TOP = "fclib_local"


def replace(name: str, data: Any = None, **settings: Any) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file.create_dataset(name, data=data, **settings)

    return change


def number(name: str, value: int, dtype: str = "i4") -> Callable[[h5py.File], None]:
    return replace(f"{TOP}/{name}", np.array([value], dtype))


def entry(name: str, index: int, value: float) -> Callable[[h5py.File], None]:
    return lambda file: file[name].__setitem__(index, value)


def relink(name: str, link: Any) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file[name] = link

    return change


def group_instead(name: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file.create_group(name)

    return change


def external(file: h5py.File) -> None:
    del file[f"{TOP}/vectors/q"]
    file.create_dataset(f"{TOP}/vectors/q", shape=(9,), dtype="f8", external=[("elsewhere", 0, 72)])


def virtual(file: h5py.File) -> None:
    del file[f"{TOP}/vectors/q"]
    layout = h5py.VirtualLayout(shape=(9,), dtype="f8")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "x", shape=(9,))
    file.create_virtual_dataset(f"{TOP}/vectors/q", layout)


def bomb(name: str, size: int) -> Callable[[h5py.File], None]:
    """Few numbers in a chunk for many: all of it would be unpacked to read them."""
    kind = "i4" if size == 1 else "f8"
    return replace(
        name, np.full(size, 3, kind), maxshape=(None,), chunks=(10**7,), compression="gzip", dtype=kind
    )


def many_guesses(file: h5py.File) -> None:
    """A thousand times the same guess: small in the file, large in memory."""
    file["guesses/number_of_guesses"][0] = 1000
    for k in range(3, 1001):
        file[f"guesses/{k}"] = file["guesses/1"]


def billions(file: h5py.File) -> None:
    """Sizes that agree with each other: datasets that were declared and never written."""
    size = 3 * 10**9
    for name, count in (("mu", size // 3), ("q", size)):
        replace(f"{TOP}/vectors/{name}", shape=(count,), dtype="f8", chunks=(1024,))(file)
    number("W/m", size, "i8")(file)
    number("W/n", size, "i8")(file)


WRONG: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "rolling": (lambda f: f.move(TOP, "fclib_local_rolling"), "rolling friction .*not supported"),
    "rolling too": (lambda f: f.create_group("fclib_global_rolling"), "rolling friction .*not supported"),
    "no problem": (lambda f: f.move(TOP, "problem"), "not one of FCLib's|not a problem file"),
    "top is a dataset": (replace(TOP, 1.0), "'fclib_local' is not a group"),
    "top is a link": (relink(TOP, h5py.SoftLink("/x")), "'fclib_local' is a link"),
    "no dimension": (lambda f: f.pop(f"{TOP}/spacedim"), "'fclib_local/spacedim' is missing"),
    "four dimensions": (number("spacedim", 4), "spacedim = 4: it must be 2 or 3"),
    "other dimension": (number("spacedim", 2), "'fclib_local/vectors/q' has the shape .9,.: .* 6 numbers"),
    "dimension in words": (replace(f"{TOP}/spacedim", np.array([b"3"])), "has the type .S1"),
    "real dimension": (replace(f"{TOP}/spacedim", np.array([3.0])), "has the type float64: it must be int64"),
    "two dimensions": (replace(f"{TOP}/spacedim", np.array([3, 3])), "it must be one number"),
    "nothing for a number": (replace(f"{TOP}/spacedim", shape=None, dtype="i4"), "it must be one number"),
    "no vectors": (lambda f: f.pop(f"{TOP}/vectors"), "'fclib_local/vectors' is missing"),
    "no friction": (lambda f: f.pop(f"{TOP}/vectors/mu"), "'fclib_local/vectors/mu' is missing"),
    "no W": (lambda f: f.pop(f"{TOP}/W"), "'fclib_local/W' is missing"),
    "V without R": (lambda f: f.pop(f"{TOP}/R"), "'fclib_local/R' is missing"),
    "R without V": (lambda f: f.pop(f"{TOP}/V"), "'fclib_local/V' is missing"),
    "no s": (lambda f: f.pop(f"{TOP}/vectors/s"), "'fclib_local/vectors/s' is missing"),
    "one part missing": (lambda f: f.pop(f"{TOP}/W/x"), "'fclib_local/W/x' is missing"),
    "W is a dataset": (replace(f"{TOP}/W", np.eye(9)), "'fclib_local/W' is not a group"),
    "group for values": (group_instead(f"{TOP}/W/x"), "'fclib_local/W/x' is not a dataset"),
    "group for a number": (group_instead(f"{TOP}/W/m"), "'fclib_local/W/m' is not a dataset"),
    "negative rows": (number("W/m", -9), "'fclib_local/W' is declared -9 × 9, and .* need 9 × 9"),
    "negative columns": (number("W/n", -1), "is declared 9 × -1"),
    "huge rows": (number("W/m", 2**31 - 1), "is declared 2147483647 × 9"),
    "huger rows": (number("W/m", 2**62, "i8"), "is declared 4611686018427387904 × 9"),
    "unknown kind": (number("W/nz", -3), "nz = -3: it must be a count of triplets"),
    "too many entries": (number("W/nz", 10**9), "has 1000000000 entries, but 'p' holds"),
    "no room": (number("W/nzmax", 3), "nzmax = 3 for .* entries"),
    "negative room": (number("W/nzmax", -1), "nzmax = -1 for"),
    "columns, short pointers": (number("W/nz", -1), "pointers in 'p' and must have 10"),
    "rows, short pointers": (number("W/nz", -2), "pointers in 'p' and must have 10"),
    "row too large": (entry(f"{TOP}/W/i", 2, 9), r"has i\[2\] = 9: an index must lie between 0 and 8"),
    "negative row": (entry(f"{TOP}/W/i", 0, -1), r"has i\[0\] = -1"),
    "column too large": (entry(f"{TOP}/W/p", 1, 10**6), r"has p\[1\] = 1000000"),
    "single precision": (replace(f"{TOP}/vectors/q", np.zeros(9, "f4")), "has the type float32: .*float64"),
    "whole values": (replace(f"{TOP}/vectors/q", np.zeros(9, "i8")), "has the type int64"),
    "real indices": (replace(f"{TOP}/W/i", np.zeros(81)), "has the type float64: it must be int64 or int32"),
    "unsigned": (replace(f"{TOP}/W/i", np.zeros(81, "u4")), "has the type uint32"),
    "complex": (replace(f"{TOP}/vectors/q", np.zeros(9, "c16")), "has the type complex128"),
    "objects": (replace(f"{TOP}/vectors/q", shape=(9,), dtype=h5py.string_dtype()), "has the type object"),
    "ragged": (replace(f"{TOP}/vectors/q", shape=(9,), dtype=h5py.vlen_dtype("f8")), "has the type object"),
    "scalar": (replace(f"{TOP}/vectors/q", 1.0), "is not an array"),
    "empty": (replace(f"{TOP}/vectors/q", shape=None, dtype="f8"), "is not an array"),
    "table": (replace(f"{TOP}/vectors/q", np.zeros((3, 3))), r"has the shape \(3, 3\): it must be one row"),
    "table of friction": (replace(f"{TOP}/vectors/mu", np.zeros((3, 1))), "it must be one row of 3"),
    "table of entries": (replace(f"{TOP}/W/x", np.zeros((9, 9))), "it must be one row"),
    "short q": (replace(f"{TOP}/vectors/q", np.zeros(8)), "it must be one row of 9 numbers"),
    "more contacts": (replace(f"{TOP}/vectors/mu", np.zeros(4)), "it must be one row of 12 numbers"),
    "billions": (billions, "does not fit into the"),
    "billions of values": (replace(f"{TOP}/W/x", shape=(10**12,), dtype="f8"), "does not fit into the"),
    "bomb": (replace(f"{TOP}/W/x", shape=(10**7,), dtype="f8", compression="gzip"), "does not fit into"),
    "bomb in a chunk": (bomb(f"{TOP}/vectors/q", 9), "declares the chunks .10000000,., which does not fit"),
    "bomb in a number": (bomb(f"{TOP}/spacedim", 1), "declares the chunks .10000000,., which does not fit"),
    "soft link": (relink(f"{TOP}/vectors/q", h5py.SoftLink(f"/{TOP}/vectors/mu")), "/q' is a link"),
    "external link": (relink(f"{TOP}/W", h5py.ExternalLink("elsewhere.h5", "/W")), "/W' is a link"),
    "external": (external, "stores its numbers in another file"),
    "virtual": (virtual, "stores its numbers in another file"),
    "named type": (relink(f"{TOP}/vectors/q", np.dtype("f8")), "is not a dataset"),
    "not finite": (entry(f"{TOP}/vectors/q", 1, np.nan), "no valid problem: free_velocity is nan at index 1"),
    "infinite W": (entry(f"{TOP}/W/x", 0, np.inf), "no valid problem: delassus is inf"),
    "NaN friction": (entry(f"{TOP}/vectors/mu", 2, np.nan), "no valid problem: friction is nan at index 2"),
    "negative friction": (entry(f"{TOP}/vectors/mu", 0, -0.5), r"no valid problem: friction\[0\] is -0.5"),
    "title of numbers": (replace(f"{TOP}/info/title", 1.0), "has the type float64: it must be bytes"),
    "titles": (replace(f"{TOP}/info/title", np.array([b"a", b"b"])), "must be one string"),
    "title of any length": (replace(f"{TOP}/info/title", "a", dtype=h5py.string_dtype()), "type object"),
    "info is a dataset": (replace(f"{TOP}/info", 1.0), "'fclib_local/info' is not a group"),
    "negative guesses": (replace("guesses/number_of_guesses", np.array([-1])), "number_of_guesses = -1"),
    "more guesses": (replace("guesses/number_of_guesses", np.array([3])), "'guesses/3' is missing"),
    "a billion guesses": (replace("guesses/number_of_guesses", np.array([10**9])), "'guesses/3' is missing"),
    "many guesses": (many_guesses, "number_of_guesses = 1000, which do not fit"),
    "short guess": (replace("guesses/1/r", np.zeros(3)), "it must be one row of 9 numbers"),
    "guess is a dataset": (replace("guesses/2", np.zeros(9)), "'guesses/2' is not a group"),
    "solution is a dataset": (replace("solution", np.zeros(9)), "'solution' is not a group"),
    "long solution": (replace("solution/l", np.zeros(3)), "it must be one row of 2 numbers"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that has everything, and nothing wrong."""
    path = tmp_path_factory.mktemp("whole") / "whole.hdf5"
    problem = local_problem()
    guesses = [np.ones(11), np.zeros(11)]
    write_fclib(problem, path, solution=solve(problem, tolerance=1e-6), guesses=guesses, info=INFO)
    return path


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_told_in_one_sentence(case: str, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.hdf5"
    shutil.copy(whole, path)
    change, message = WRONG[case]
    with h5py.File(path, "r+") as file:
        change(file)
    kind = UnsupportedError if case.startswith("rolling") else FileFormatError
    with pytest.raises(kind, match=message) as caught:
        read_problem(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


COMPRESSED: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "pointers fall": (entry(f"{TOP}/W/p", 4, 1), "pointers 'p' that do not rise from 0"),
    "pointers begin late": (entry(f"{TOP}/W/p", 0, 1), "do not rise from 0"),
    "negative pointer": (entry(f"{TOP}/W/p", 0, -5), "do not rise from 0"),
    "pointer beyond": (entry(f"{TOP}/W/p", 9, 10**9), "has 1000000000 entries, but 'i' holds"),
    "index too large": (entry(f"{TOP}/W/i", 1, 9), r"has i\[1\] = 9"),
    "negative index": (entry(f"{TOP}/W/i", 1, -2), r"has i\[1\] = -2"),
    "values short": (replace(f"{TOP}/W/x", np.ones(3)), "entries, but 'x' holds 3 numbers"),
}


@pytest.mark.parametrize("encoding", ["columns", "rows"])
@pytest.mark.parametrize("case", COMPRESSED)
def test_wrong_compressed_matrices(case: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x.hdf5"
    write_fclib(local_problem(), path, encoding=encoding)
    change, message = COMPRESSED[case]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError, match=message):
        read_problem(path)


def test_wrong_global_files(tmp_path: Path) -> None:
    cases: dict[str, Callable[[h5py.File], Any]] = {
        "'fclib_global/M' is declared 12 × 12, and .* need 11 × 11": replace(
            "fclib_global/vectors/f", np.zeros(11)
        ),
        "'fclib_global/G' is declared 12 × 2, and .* need 12 × 5": replace(
            "fclib_global/vectors/b", np.zeros(5)
        ),
        "'fclib_global/vectors/b' is missing": lambda f: f.pop("fclib_global/vectors/b"),
        "'fclib_global/H' is missing": lambda f: f.pop("fclib_global/H"),
        "no valid problem: mass is not positive definite": entry("fclib_global/M/x", 0, 1e-9),
        "no valid problem: mass has a zero or negative diagonal": entry("fclib_global/M/x", 0, -1.0),
    }
    for message, change in cases.items():
        path = tmp_path / "x.hdf5"
        write_fclib(global_problem(), path)
        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises(FileFormatError, match=message):
            read_problem(path)


def test_spare_room_and_latin_titles_are_taken(whole: Path, tmp_path: Path) -> None:
    """What differs between programs and is no fault."""
    path = tmp_path / "x.hdf5"
    shutil.copy(whole, path)
    with h5py.File(path, "r+") as file:
        number("W/nzmax", 2**31 - 1)(file)
        replace(f"{TOP}/spacedim", np.int64(3))(file)
        replace(f"{TOP}/info/title", np.bytes_("sphères".encode("latin-1")))(file)
        replace(f"{TOP}/info/math_info", np.bytes_(b"end\0garbage"))(file)
        replace(f"{TOP}/vectors/q", file[f"{TOP}/vectors/q"][()].astype(">f8"))(file)
        file[f"{TOP}/W"].attrs["cond"] = 1000.0
        file[f"{TOP}/info"].attrs["numberOfInvolvedDS"] = 99
        del file[f"{TOP}/info/description"], file["guesses/1/u"], file["solution/l"]
        file["solution/r"][0] = np.nan
    read = read_fclib(path)
    assert_same(local_problem(), read.problem, "local")
    assert read.info == FclibInfo("sphères", "", "end")
    assert read.guesses[0].velocities is None
    assert read.solution.joint_impulses is None


def test_truncated_files(whole: Path, tmp_path: Path) -> None:
    path, content = tmp_path / "x.hdf5", whole.read_bytes()
    for length in range(0, len(content), len(content) // 60):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match=r"not an HDF5 file|damaged"):
            read_problem(path)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_never_end_in_another_error(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    path = tmp_path / "x.hdf5"
    write_fclib(MAKE[kind](contacts=2), path, guesses=[np.ones(8)], info=INFO)
    content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    refused = 0
    for trial in range(150):
        broken = content.copy()
        places = rng.integers(len(broken), size=4)
        if trial % 2:
            broken[places] = rng.integers(256, size=4)
        else:
            broken[places] ^= np.uint8(1) << rng.integers(8, size=4).astype(np.uint8)
        path.write_bytes(broken.tobytes())
        try:
            read_problem(path)
        except NonsmoothError:
            refused += 1
    assert refused > 30
