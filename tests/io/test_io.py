"""Problem files: what is written is read back bit for bit, and broken files are told apart."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.errors import FileFormatError, NonsmoothError, ProblemError
from nonsmooth.io import read_problem, read_start, write_problem
from nonsmooth.io.problems import native
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import NAMED
from nonsmooth.solvers import Status, solve

FORMS = ("dense", "sparse", "blocks", "diagonal blocks", "dense delassus", "sparse delassus")
DATA = (
    "mass", "jacobian", "bodies", "momentum", "bias", "joint_jacobian", "joint_bodies", "joint_bias",
    "delassus", "free_velocity", "joint_free_velocity", "joint_rows", "joint_bounds", "friction",
    "components",
)  # fmt: skip


def make(
    form: str, components: list[int], joints: int, law: str, seed: int, extreme: float
) -> ContactProblem:
    """A problem of any form on three bodies; `extreme` goes in among the ordinary numbers."""
    rng = np.random.default_rng(seed)
    contacts, rows = len(components), sum(components)
    common = {"friction": rng.uniform(0.0, 1.0, contacts), "components": components, "law": law}
    if form.endswith("delassus"):
        factor = rng.normal(size=(rows + joints, rows + joints))
        delassus = factor @ factor.T + np.eye(rows + joints)
        free = rng.normal(size=rows + joints)
        free[:1] = extreme
        matrix = sp.csr_array(delassus) if form.startswith("sparse") else delassus
        return ContactProblem(delassus=matrix, free_velocity=free, joint_rows=joints, **common)
    bias = rng.normal(size=rows)
    bias[:1] = extreme
    common |= {"momentum": rng.normal(size=18), "bias": bias, "joint_bias": rng.normal(size=joints)}
    if form.endswith("blocks"):
        bodies = np.array([rng.permutation([-1, 0, 1, 2])[:2] for _ in range(contacts + joints)]).reshape(
            -1, 2
        )
        factor = rng.normal(size=(3, 6, 6))
        mass = factor @ np.swapaxes(factor, 1, 2) + np.eye(6)
        return ContactProblem(
            mass=rng.uniform(0.1, 9.0, (3, 6)) if form.startswith("diagonal") else mass,
            jacobian=rng.normal(size=(contacts, 2, max(components, default=3), 6)),
            bodies=bodies[:contacts],
            joint_jacobian=rng.normal(size=(joints, 2, 6)),
            joint_bodies=bodies[contacts:],
            **common,
        )
    factor = rng.normal(size=(18, 18))
    mass, jacobian, joint = (
        factor @ factor.T + np.eye(18),
        rng.normal(size=(18, rows)),
        rng.normal(size=(18, joints)),
    )
    if form == "sparse":
        mass, jacobian, joint = sp.coo_array(mass), sp.csc_array(jacobian), sp.csr_array(joint)
    return ContactProblem(mass=mass, jacobian=jacobian, joint_jacobian=joint, **common)


def bits(value: Any) -> Any:
    """What must be equal for two values to be the same bit for bit."""
    if sp.issparse(value):
        return "sparse", value.shape, *(bits(part) for part in (value.data, value.indices, value.indptr))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return value


def assert_same(problem: ContactProblem, other: ContactProblem) -> None:
    for name in DATA:
        assert bits(getattr(other, name)) == bits(getattr(problem, name)), name
    assert other.law == problem.law
    assert bits(other.operator.matrix()) == bits(problem.operator.matrix())


def ball() -> ContactProblem:
    return NAMED["sliding-ball"].build()


@settings(max_examples=120, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    components=st.lists(st.integers(1, 3), max_size=4),
    joints=st.integers(0, 4),
    law=st.sampled_from(["coulomb", "relaxed", "pyramid(4)", "pyramid(12)"]),
    seed=st.integers(0, 2**32 - 1),
    extreme=st.floats(-1e150, 1e150),
)
def test_round_trip_is_exact(
    form: str, components: list[int], joints: int, law: str, seed: int, extreme: float
) -> None:
    problem = make(form, components, joints, law, seed, extreme)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.h5"
        write_problem(problem, path)
        assert_same(problem, read_problem(path))


@pytest.mark.parametrize("name", NAMED)
def test_library_round_trip(name: str, tmp_path: Path) -> None:
    problem = NAMED[name].build()
    write_problem(problem, tmp_path / "problem.h5")
    assert_same(problem, read_problem(tmp_path / "problem.h5"))


def test_another_law_is_kept(tmp_path: Path) -> None:
    problem = ball().with_law("pyramid(6)")
    write_problem(problem, tmp_path / "problem.h5")
    assert_same(problem, read_problem(tmp_path / "problem.h5"))


def test_solution_is_a_warm_start(tmp_path: Path) -> None:
    problem, path = NAMED["block-opens"].build(), tmp_path / "solved.h5"
    solution = solve(problem, tolerance=1e-10)
    write_problem(problem, path, solution=solution)
    initial = read_start(path)
    assert bits(initial) == bits(solution.impulses)
    again = solve(read_problem(path), start=initial, tolerance=1e-10)
    assert again.status is Status.SOLVED
    assert again.statistics.iterations == 0
    with h5py.File(path) as file:
        stored = file["solution"].attrs
        assert stored["status"] == b"solved"
        assert stored["solver"].decode() == solution.statistics.solver
        assert stored["residual"] == solution.certificate.residual


def test_joint_impulses_follow_the_contacts(tmp_path: Path) -> None:
    problem = make("blocks", [3, 1], 2, "relaxed", 1, 0.5)
    solution = solve(problem, max_iterations=3, throw=False)
    write_problem(problem, tmp_path / "solved.h5", solution=solution)
    wanted = np.concatenate([solution.impulses, solution.joint_impulses])
    assert bits(read_start(tmp_path / "solved.h5")) == bits(wanted)


def test_solution_of_another_problem_is_refused(tmp_path: Path) -> None:
    other = solve(NAMED["block-opens"].build())
    with pytest.raises(
        ProblemError, match="4 contact and 0 joint impulses, and this problem has 2 and 0 rows"
    ):
        write_problem(ball(), tmp_path / "x.h5", solution=other)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", FORMS)
def test_every_dataset_says_its_unit_and_nothing_else_is_there(form: str, tmp_path: Path) -> None:
    write_problem(make(form, [3, 2], 1, "coulomb", 0, 1.0), tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        assert dict(file.attrs)["format"] == b"nonsmooth-problem"
        assert file.attrs["version"] == 1
        kind = file.attrs["form"].decode()
        assert set(file) == {"friction", "components", *native._FORMS[kind]}
        for node in file.values():
            assert node.attrs["unit"].decode()


def test_the_same_problem_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a.h5", "b.h5"):
        write_problem(ball(), tmp_path / name)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


# ---- writing that fails ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
def test_an_interrupted_write_leaves_the_old_file(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "problem.h5"
    write_problem(ball(), path)
    before = path.read_bytes()
    write = native._write

    def stop_at_bias(group: Any, name: str, value: Any) -> None:
        if name == "bias":
            raise error
        write(group, name, value)

    monkeypatch.setattr(native, "_write", stop_at_bias)
    with pytest.raises(error):
        write_problem(NAMED["block-opens"].build(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "problem.h5", tmp_path / "link.h5"
    write_problem(ball(), real)
    link.symlink_to(real)
    write_problem(NAMED["block-opens"].build(), link)
    assert link.is_symlink()
    assert read_problem(real).contacts == 2


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"cannot write .*x\.h5: there is no folder .*missing"):
        write_problem(ball(), tmp_path / "missing" / "x.h5")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*: there is no folder .*file"):
        write_problem(ball(), tmp_path / "file" / "x.h5")
    with pytest.raises(OSError, match=r"cannot write .*: it is a folder"):
        write_problem(ball(), tmp_path)
    with pytest.raises(OSError, match=r"cannot write .*: it is not a writable file"):
        write_problem(ball(), os.devnull)


def test_protected_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system says where writing is not allowed; said for it here, as root may write anywhere."""
    path = tmp_path / "x.h5"
    write_problem(ball(), path)
    before = path.read_bytes()

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(OSError, match="not a writable file"):
            write_problem(ball(), path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", denied)
        with pytest.raises(PermissionError, match=r"cannot write .*y\.h5: Permission denied"):
            write_problem(ball(), tmp_path / "y.h5")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.h5"]  # nothing half-written is left


# ---- files that are wrong -------------------------------------------------------------------------------


def replace(name: str, **settings: Any) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file.create_dataset(name, **settings)

    return change


def relink(name: str, link: Any) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file[name] = link

    return change


def attribute(name: str, value: Any) -> Callable[[h5py.File], None]:
    return lambda file: file.attrs.__setitem__(name, value)


def external(file: h5py.File) -> None:
    del file["momentum"]
    file.create_dataset("momentum", shape=(3,), dtype="f8", external=[("elsewhere", 0, 24)])


def virtual(file: h5py.File) -> None:
    del file["momentum"]
    layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "x", shape=(3,))
    file.create_virtual_dataset("momentum", layout)


WRONG: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "other format": (attribute("format", np.bytes_("fclib")), "not a problem file: .*'fclib'"),
    "no format": (lambda f: f.attrs.pop("format"), "not a problem file: .*None"),
    "text of any length": (attribute("format", "nonsmooth-problem"), "'format' must be a string of fixed"),
    "newer": (attribute("version", 3), "has version 3 of the problem format, newer than the version 2"),
    "version 0": (attribute("version", 0), "version 0"),
    "version in words": (attribute("version", np.bytes_("one")), "'version' must be whole numbers"),
    "no law": (lambda f: f.attrs.pop("law"), "attribute 'law' is missing"),
    "law unknown": (attribute("law", np.bytes_("viscous")), "no valid problem: law 'viscous' is not known"),
    "law not text": (attribute("law", np.array([b"a", b"b"])), "'law' must be a string"),
    "law not UTF-8": (attribute("law", np.bytes_(b"\xff\xfe")), "damaged"),
    "form unknown": (attribute("form", np.bytes_("cubes")), "form 'cubes': it must be one of matrices"),
    "other form": (attribute("form", np.bytes_("blocks")), "dataset 'bodies' is missing"),
    "missing": (lambda f: f.pop("bias"), "dataset 'bias' is missing"),
    "single precision": (replace("bias", data=np.zeros(2, "f4")), "'bias' has the type float32: .*float64"),
    "integers": (replace("bias", data=np.zeros(2, "i8")), "'bias' has the type int64"),
    "floats": (replace("components", data=np.array([2.0])), "'components' has the type float64: .*int64"),
    "complex": (replace("bias", data=np.zeros(2, "c16")), "'bias' has the type complex128"),
    "words": (replace("bias", data=np.array([b"a", b"b"])), "'bias' has the type"),
    "objects": (replace("bias", shape=(2,), dtype=h5py.string_dtype()), "'bias' has the type object"),
    "ragged": (replace("bias", shape=(2,), dtype=h5py.vlen_dtype(np.float64)), "'bias' has the type object"),
    "references": (replace("bias", shape=(2,), dtype=h5py.ref_dtype), "'bias' has the type object"),
    "records": (replace("bias", data=np.zeros(2, [("a", "f8")])), "'bias' has the type"),
    "scalar": (replace("bias", data=1.0), "'bias' is not an array"),
    "nothing": (replace("bias", dtype="f8", shape=None), "'bias' is not an array"),
    "huge": (replace("bias", shape=(10**13,), dtype="f8"), "does not fit into the .* bytes"),
    "huge chunks": (replace("bias", shape=(10**13,), dtype="f8", chunks=(10,)), "does not fit into"),
    "bomb": (replace("bias", shape=(10**7,), dtype="f8", compression="gzip"), "does not fit into"),
    "soft link": (relink("bias", h5py.SoftLink("/momentum")), "'bias' is a link"),
    "external link": (relink("bias", h5py.ExternalLink("elsewhere.h5", "/x")), "'bias' is a link"),
    "external": (external, "'momentum' stores its numbers in another file"),
    "virtual": (virtual, "'momentum' stores its numbers in another file"),
    "named type": (relink("bias", np.dtype("f8")), "'bias' is not a dataset"),
    "group": (lambda f: (f.pop("bias"), f.create_group("bias")), "'bias' is a group and must be a dataset"),
    "wrong length": (replace("bias", data=np.zeros(5)), "no valid problem: bias has 5 numbers"),
    "not finite": (replace("bias", data=np.array([0.0, np.nan])), "no valid problem: bias is nan at index 1"),
    "negative friction": (replace("friction", data=np.array([-1.0])), r"valid problem: friction\[0\] is -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_told_in_one_sentence(case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    write_problem(ball(), path)
    change, message = WRONG[case]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_problem(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def sparse_part(part: str, data: Any) -> Callable[[h5py.File], None]:
    return replace(f"delassus/{part}", data=data)


WRONG_SPARSE: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "index too large": (sparse_part("indices", np.array([0, 99])), "not a sparse matrix: .*indices"),
    "negative index": (sparse_part("indices", np.array([0, -1])), "not a sparse matrix: .*indices"),
    "pointers fall": (sparse_part("indptr", np.array([0, 2, 1])), "not a sparse matrix"),
    "pointer beyond": (sparse_part("indptr", np.array([0, 1, 9])), "not a sparse matrix"),
    "pointers short": (sparse_part("indptr", np.array([0, 2])), "not a sparse matrix"),
    "data short": (sparse_part("data", np.array([1.0])), "not a sparse matrix"),
    "part missing": (lambda f: f["delassus"].pop("data"), "dataset 'delassus/data' is missing"),
    "no shape": (lambda f: f["delassus"].attrs.pop("shape"), "attribute 'delassus/shape' is missing"),
    "long shape": (lambda f: f["delassus"].attrs.__setitem__("shape", [2, 2, 2]), "'delassus/shape' must be"),
    "huge shape": (
        lambda f: f["delassus"].attrs.__setitem__("shape", [10**12, 10**12]),
        "not a sparse matrix",
    ),
    "many rows": (lambda f: f["delassus"].attrs.__setitem__("shape", [10**12, 2]), "it must be square"),
    "negative shape": (lambda f: f["delassus"].attrs.__setitem__("shape", [-2, 2]), "not a sparse matrix"),
}


@pytest.mark.parametrize("case", WRONG_SPARSE)
def test_wrong_sparse_matrices(case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    write_problem(ContactProblem(delassus=sp.eye_array(2), free_velocity=[-1.0, 1.0], friction=[0.2]), path)
    change, message = WRONG_SPARSE[case]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError, match=message):
        read_problem(path)


def test_other_byte_order_is_the_same_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    write_problem(ball(), path)
    with h5py.File(path, "r+") as file:
        replace("momentum", data=file["momentum"][()].astype(">f8"))(file)
    assert_same(ball(), read_problem(path))


def test_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    write_problem(ball(), path)
    whole = path.read_bytes()
    for part in range(20):
        path.write_bytes(whole[: part * len(whole) // 20])
        with pytest.raises(FileFormatError, match=r"not an HDF5 file|damaged"):
            read_problem(path)


def test_damaged_files_never_end_in_another_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    path = tmp_path / "x.h5"
    write_problem(make("sparse delassus", [3, 2], 1, "coulomb", 0, 1.0), path)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    refused = 0
    for _ in range(150):
        broken = whole.copy()
        broken[rng.integers(len(broken), size=4)] = rng.integers(256, size=4)
        path.write_bytes(broken.tobytes())
        try:
            read_problem(path)
        except FileFormatError:
            refused += 1
    assert refused > 30


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot read .*nothing\.h5: No such file"):
        read_problem(tmp_path / "nothing.h5")
    with pytest.raises(OSError, match=r"cannot read .*: it is a folder"):
        read_problem(tmp_path)
    with pytest.raises(OSError, match=r"cannot read .*: it is not a regular file"):
        read_problem(os.devnull)
    (tmp_path / "notes.txt").write_text("not a problem")
    with pytest.raises(FileFormatError, match=r"notes\.txt is not an HDF5 file"):
        read_problem(tmp_path / "notes.txt")


def test_a_file_without_a_solution_is_no_warm_start(tmp_path: Path) -> None:
    write_problem(ball(), tmp_path / "x.h5")
    with pytest.raises(NonsmoothError, match="holds no solution"):
        read_start(tmp_path / "x.h5")
