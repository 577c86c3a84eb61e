"""Text files of Siconos: the same numbers as Siconos itself reads and writes, and hostile files refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from helpers.collection import collected
from helpers.paths import INTEROP
from nonsmooth.errors import FileFormatError, OptionError, UnsupportedError
from nonsmooth.io.problems import siconos as siconos_text
from nonsmooth.io.problems.siconos import read_siconos, write_siconos
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library.random_problems import random_problem

FILES = collected(".dat")
PYTHON = "/usr/bin/python3"  # where Debian's python3-siconos lives
SCRIPT = INTEROP / "siconos_numbers.py"
STORAGES = ("sparse-block", "dense", "sparse")


def kind_by_name(path: Path) -> str:
    """What the names in the collection say; the reader is not told."""
    return "global" if path.name.lower().startswith("gfc") else "local"


def numbers_of(problem: ContactProblem) -> dict[str, Any]:
    """A problem's numbers under the names of the file."""
    common = {"mu": problem.friction}
    if problem.has_masses:
        return common | {
            "M": problem.mass_matrix(), "H": problem.row_matrix(), "f": problem.momentum, "w": problem.bias,
        }  # fmt: skip
    return common | {"W": problem.delassus, "q": problem.free_velocity}


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """The same bits everywhere; a zero that is stored is the same as one that is not."""
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        if name.isupper():  # a matrix
            assert found[name].shape == value.shape
            difference = sp.csc_array(found[name]) - sp.csc_array(value)
            assert abs(difference).max() == 0.0 if difference.nnz else True, name
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


def write_text(folder: Path, text: str | bytes, name: str = "problem.dat") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- together with Siconos ----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def siconos() -> Callable[[list[dict[str, str]]], None]:
    """Return the function that hands jobs to Siconos."""
    if not os.access(PYTHON, os.X_OK):
        pytest.skip(f"no {PYTHON}: Siconos is tried with Debian's python3-siconos")
    found = subprocess.run([PYTHON, "-c", "import siconos.numerics"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"{PYTHON} has no siconos.numerics: apt install python3-siconos")

    def run(jobs: list[dict[str, str]]) -> None:
        call = subprocess.run([PYTHON, SCRIPT], input=json.dumps(jobs), capture_output=True, text=True)
        assert call.returncode == 0, call.stdout + call.stderr

    return run


def stored_numbers(path: Path) -> dict[str, Any]:
    with np.load(path) as stored:
        found = dict(stored)
    del found["dimension"]
    for name in [key.removesuffix("_value") for key in found if key.endswith("_value")]:
        value, row, column, shape = (
            found.pop(f"{name}_{part}") for part in ("value", "row", "column", "shape")
        )
        found[name] = sp.csc_array((value, (row, column)), shape=tuple(shape))
    return found


@pytest.fixture(scope="session")
def collection(siconos: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file of the collection as Siconos reads it (name.npz), and as it prints it again (name)."""
    folder = tmp_path_factory.mktemp("collection")
    siconos(
        [
            {
                "file": str(path),
                "kind": kind_by_name(path),
                "numbers": str(folder / f"{path.name}.npz"),
                "text": str(folder / path.name),
            }
            for path in FILES
        ]
    )
    return folder


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestCollection:
    def test_kind_is_found_whatever_the_name(self, path: Path, tmp_path: Path) -> None:
        misleading = "local.dat" if kind_by_name(path) == "global" else "GFC3D.dat"
        problem = read_siconos(write_text(tmp_path, path.read_bytes(), misleading))
        assert problem.has_masses == (kind_by_name(path) == "global")

    def test_same_numbers_as_siconos_reads(self, path: Path, collection: Path) -> None:
        assert_same(numbers_of(read_siconos(path)), stored_numbers(collection / f"{path.name}.npz"))

    def test_what_siconos_prints_is_read(self, path: Path, collection: Path) -> None:
        # Sparse matrices have six digits in these files already, so nothing is lost.
        assert_same(numbers_of(read_siconos(collection / path.name)), numbers_of(read_siconos(path)))

    @pytest.mark.parametrize("storage", STORAGES)
    def test_round_trip(self, path: Path, storage: Any, tmp_path: Path) -> None:
        problem = read_siconos(path)
        if storage == "dense" and problem.layout.rows > 1000:
            storage = "sparse-block"  # 4040² numbers are 80 MB of text
        write_siconos(problem, tmp_path / "again.dat", storage=storage)
        assert_same(numbers_of(read_siconos(tmp_path / "again.dat")), numbers_of(problem))

    def test_truncated(self, path: Path, tmp_path: Path) -> None:
        words = path.read_bytes().split()
        for keep in (len(words) // 3, len(words) - len(words) // 9 - 3):
            with pytest.raises(FileFormatError, match=r"line \d+: "):
                read_siconos(write_text(tmp_path, b"\n".join(words[:keep]), path.name))


def planar_problem() -> ContactProblem:
    """Two discs (x, y, θ) on ground and on each other, with numbers that need all their digits."""
    mass = np.repeat([1.0 / 3.0, 0.7], 3) * np.tile([1.0, 1.0, 0.1], 2)
    jacobian = np.zeros((6, 4))
    jacobian[[1, 4, 0, 3], [0, 0, 1, 1]] = [-1.0, 1.0, -1.0, 1.0]
    jacobian[[2, 5], 1] = np.pi / 10
    jacobian[[1, 0, 2], [2, 3, 3]] = [1.0, 1.0, np.e / 10]
    return ContactProblem(
        mass=sp.diags_array(mass), jacobian=sp.csr_array(jacobian), momentum=-mass * np.pi,
        bias=[0.1, 0.0, 1e-17, 0.0], friction=[0.3, 1.0 / 7.0], components=2,
    )  # fmt: skip


def examples(scene: Any) -> dict[str, ContactProblem]:
    full = scene(3, joints=False, components=3)
    mass, jacobian, _ = full.matrices()
    coupled = mass + 0.01 * np.outer(jacobian[:, 0], jacobian[:, 0])
    return {
        "bodies": random_problem(1, contacts=9),
        "full inertia": ContactProblem(**full.block_arguments()),
        "coupled": ContactProblem(**(full.matrix_arguments() | {"mass": 0.5 * (coupled + coupled.T)})),
        "delassus": ContactProblem(**full.delassus_arguments()),
        "planar": planar_problem(),
        "one": random_problem(2, contacts=1),
    }


def test_siconos_reads_what_is_written(siconos: Any, scene: Any, tmp_path: Path) -> None:
    jobs, wanted = [], []
    for name, problem in examples(scene).items():
        for kind in ("local", "global") if problem.has_masses else ("local",):
            for storage in STORAGES:
                path = tmp_path / f"{name} {kind} {storage}.dat"
                write_siconos(problem, path, kind=kind, storage=storage)
                again = tmp_path / f"again {path.name}"
                jobs.append({"file": str(path), "kind": kind, "numbers": f"{path}.npz", "text": str(again)})
                numbers = numbers_of(problem)
                if kind == "local" and problem.has_masses:
                    free = problem.free_velocity
                    numbers = {"mu": problem.friction, "W": problem.operator.matrix(), "q": free}
                wanted.append(numbers)
    siconos(jobs)
    for job, numbers in zip(jobs, wanted, strict=True):
        assert_same(stored_numbers(Path(job["numbers"])), numbers)
        again = numbers_of(read_siconos(job["text"]))
        if "sparse.dat" not in job["file"]:
            assert_same(again, numbers)
        else:  # of a sparse matrix Siconos prints six digits
            for name in numbers:
                value, found = (sp.coo_array(np.atleast_2d(_dense(x[name]))) for x in (numbers, again))
                np.testing.assert_allclose(found.toarray(), value.toarray(), rtol=1e-5, atol=0.0)


def _dense(value: Any) -> Any:
    return value.toarray() if sp.issparse(value) else value


def test_compressed_rows_as_siconos_prints_them(siconos: Any, tmp_path: Path) -> None:
    path = write_text(tmp_path, ROWS)
    siconos([{"file": str(path), "kind": "local", "text": str(tmp_path / "again.dat")}])
    assert (tmp_path / "again.dat").read_bytes().split()[5] == b"3"
    assert_same(numbers_of(read_siconos(tmp_path / "again.dat")), numbers_of(read_siconos(path)))


# ---- the format, by hand ------------------------------------------------------------------------------

DENSE = "3 1  0 3 3  3 3  2 0.5 0  0.501 3 0  0 0 1  -1 0 0  0.5"
TRIPLETS = """3
1
2
3
3
1
Some Version 1.2, 2016.
triplet: 3-by-3, nzmax: 9 nnz: 6
    0 0 : 1.5
    1 0 : 0.5
    0 1 : 0.501
    1 1 : 3
    2 2 : 1
    0 0 : 0.5
-1 0 0
0.5
"""
COLUMNS = """3
1
2
3
3
2
CSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016
3-by-3, nzmax: 5 nnz: 5, 1-norm: 3.501
    col 0 : locations 0 to 1
      0 : 2
      1 : 0.5
    col 1 : locations 2 to 3
      1 : 3
      0 : 0.501
    col 2 : locations 4 to 4
      2 : 1
-1 0 0
0.5
"""
ROWS = """3
1
2
3
3
3
CSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016
3-by-3, nzmax: 5 nnz: 5, 1-norm: 3.501
    col 0 : locations 0 to 1
      0 : 2
      1 : 0.501
    col 1 : locations 2 to 3
      0 : 0.5
      1 : 3
    col 2 : locations 4 to 4
      2 : 1
-1 0 0
0.5
"""
BLOCKS = """3
1
1
3
3
2
2
2
2 3
2 3
3
2
0 1 2
0 1
0
2 0.5 0.501 3
1
1
-1 0 0
0.5
"""
GLOBAL = "2 1  0 2 2 2 2  4 0 0 5  0 2 2 2 2  1 0 0 1  1 2  3 4  0.5"
ASYMMETRIC = np.array([[2.0, 0.501, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    "text",
    [DENSE, TRIPLETS, COLUMNS, ROWS, ROWS.replace("3-by-3", "csr: 3-by-3"), BLOCKS],
    ids=["dense", "triplets", "columns", "rows", "rows with a tag", "blocks"],
)
@pytest.mark.parametrize("end", ["", " 0\n", "\n1"])
def test_storages(text: str, end: str, tmp_path: Path) -> None:
    """One matrix, not symmetric so that rows and columns cannot be mixed up, in every storage."""
    problem = read_siconos(write_text(tmp_path, text + end))
    assert_same(
        numbers_of(problem),
        {"mu": np.array([0.5]), "W": ASYMMETRIC, "q": np.array([-1.0, 0.0, 0.0])},
    )
    windows = read_siconos(write_text(tmp_path, (text + end).replace("\n", "\r\n")))
    assert_same(numbers_of(windows), numbers_of(problem))


def test_half_triplets(tmp_path: Path) -> None:
    """Siconos 4.4 knows this storage, but does not read it from a file."""
    lines = "\n".join(["0 0 : 2", "1 0 : 0.5", "1 1 : 3", "2 2 : 1"])
    text = f"3 1 2 3 3 4\nversion\ntriplet: 3-by-3, nzmax: 4 nnz: 4\n{lines}\n-1 0 0 0.5"
    wanted = [[2.0, 0.5, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 1.0]]
    assert read_siconos(write_text(tmp_path, text)).delassus.toarray().tolist() == wanted
    both = text.replace("nnz: 4", "nnz: 5").replace("2 2 :", "0 1 : 0.5\n2 2 :")
    with pytest.raises(FileFormatError, match="both halves"):
        read_siconos(write_text(tmp_path, both))


def test_blocks_of_a_jacobian_with_empty_rows(tmp_path: Path) -> None:
    """Blocks 2×3 and 2×1; the last block row is empty and missing in the row pointer."""
    mass = "0 4 4 4 4  1 0 0 0  0 2 0 0  0 0 3 0  0 0 0 4"
    jacobian = "1 4 3  2 2 2  2 4  2 3  2 2  0 2  0 1  0 1 2 3 4  1 5 6"
    problem = read_siconos(write_text(tmp_path, f"3 1 {mass} {jacobian}  9 8 7 6  0.1 0.2 0.3  0.5 1"))
    wanted = [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert problem.jacobian.toarray().tolist() == wanted
    assert problem.mass.tolist() == np.diag([1.0, 2.0, 3.0, 4.0]).tolist()
    assert problem.momentum.tolist() == [9.0, 8.0, 7.0, 6.0]
    assert problem.bias.tolist() == [0.1, 0.2, 0.3]


def test_global_problem_as_large_as_its_contacts(tmp_path: Path) -> None:
    """M could be W; what follows it tells."""
    problem = read_siconos(write_text(tmp_path, GLOBAL))
    assert problem.has_masses
    assert problem.bias.tolist() == [3.0, 4.0]
    assert not read_siconos(write_text(tmp_path, "2 1  0 2 2 2 2  4 0 0 5  1 2  0.5")).has_masses


def test_no_contacts(tmp_path: Path) -> None:
    problem = read_siconos(write_text(tmp_path, "3 0 0 0 0 0 0"))
    assert problem.contacts == 0
    for storage in STORAGES:
        write_siconos(problem, tmp_path / "none.dat", storage=storage)
        assert read_siconos(tmp_path / "none.dat").contacts == 0


def test_kind_can_be_said(tmp_path: Path) -> None:
    path = write_text(tmp_path, DENSE)
    assert_same(numbers_of(read_siconos(path, kind="local")), numbers_of(read_siconos(path)))
    with pytest.raises(FileFormatError, match="H"):
        read_siconos(path, kind="global")
    with pytest.raises(OptionError, match="'rolling'"):
        read_siconos(path, kind="rolling")  # type: ignore[arg-type]


# ---- round trips --------------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=80)
@given(
    dimension=st.sampled_from([2, 3]),
    contacts=st.integers(0, 4),
    storage=st.sampled_from(STORAGES),
    sparse=st.booleans(),
    data=st.data(),
)
def test_round_trip_of_local_problems(
    dimension: int, contacts: int, storage: Any, sparse: bool, data: st.DataObject
) -> None:
    rows = dimension * contacts
    root = data.draw(npst.arrays(float, (rows, rows), elements=st.floats(-1e3, 1e3)))
    delassus = root + root.T + 1e4 * np.eye(rows)
    problem = ContactProblem(
        delassus=sp.csr_array(delassus) if sparse else delassus,
        free_velocity=data.draw(npst.arrays(float, rows, elements=finite)),
        friction=data.draw(npst.arrays(float, contacts, elements=st.floats(0.0, 1e300))),
        components=dimension,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.dat"
        write_siconos(problem, path, storage=storage)
        found = read_siconos(path)
    assert_same(numbers_of(found), numbers_of(problem))
    assert found.free_velocity.tobytes() == problem.free_velocity.tobytes()  # the sign of zero too
    assert found.contacts == 0 or found.components.tolist() == problem.components.tolist()


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), contacts=st.integers(1, 12), storage=st.sampled_from(STORAGES))
def test_round_trip_of_global_problems(seed: int, contacts: int, storage: Any) -> None:
    problem = random_problem(seed, contacts=contacts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.dat"
        write_siconos(problem, path, storage=storage)
        assert_same(numbers_of(read_siconos(path)), numbers_of(problem))
        write_siconos(problem, path, kind="local", storage=storage)
        local = read_siconos(path)
    assert_same({"W": local.delassus}, {"W": problem.operator.matrix()})
    np.testing.assert_array_equal(local.free_velocity, problem.free_velocity)


# ---- what cannot be written ---------------------------------------------------------------------------


def test_problems_that_the_format_cannot_hold(scene: Any, tmp_path: Path) -> None:
    path = write_text(tmp_path, "precious")
    plain = ContactProblem(**scene(1, joints=False, components=3).delassus_arguments())
    cases = [
        (ContactProblem(**scene(1, components=3).block_arguments()), {}, "8 joint rows"),
        (ContactProblem(**scene(1, joints=False).block_arguments()), {}, "1 and 2 and 3 components"),
        (ContactProblem(**scene(1, joints=False, components=1).block_arguments()), {}, "1 components"),
        (plain.with_law("relaxed"), {}, "the law is relaxed"),
        (plain.with_law("pyramid(8)"), {}, r"the law is pyramid\(8\)"),
        (plain, {"kind": "global"}, "kind='local'"),
    ]
    for problem, options, message in cases:
        with pytest.raises(UnsupportedError, match=message):
            write_siconos(problem, path, **options)
    with pytest.raises(OptionError, match="'compressed'"):
        write_siconos(plain, path, storage="compressed")  # type: ignore[arg-type]
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["precious"]


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = read_siconos(write_text(tmp_path, DENSE))
    path = write_text(tmp_path, "precious")
    with pytest.raises(OSError, match="there is no folder"):
        write_siconos(problem, tmp_path / "missing" / "problem.dat")
    with pytest.raises(OSError, match="it is a folder"):
        write_siconos(problem, tmp_path)

    def full_disk(*_: Any) -> Any:
        yield "3\n"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(siconos_text, "_lines", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_siconos(problem, path)
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["precious"]


# ---- hostile files ------------------------------------------------------------------------------------

HUGE = "999999999999999999"
HOSTILE = {
    "empty": ("", 1, "the dimension"),
    "only white space": (" \n\n ", 3, "the dimension"),
    "binary": (bytes(range(1, 256)), 1, "a whole number"),
    "zeros": (b"\0" * 1000, 1, "a whole number"),
    "an HDF5 file": (b"\x89HDF\r\n\x1a\n" + b"\0" * 100, 1, "a whole number"),
    "rolling": (DENSE.replace("3 1", "5 1", 1), 1, "the dimension .* is 5"),
    "no contacts, said by a minus": ("3\n-1\n0 3 3", 2, "the number of contacts must be from 0"),
    "huge contacts": (f"3\n{HUGE}\n0 3 3", 2, "the number of contacts"),
    "beyond 64 bits": ("3\n" + "9" * 30 + "\n0", 2, "a whole number"),
    "beyond the digits of an int": ("3\n" + "9" * 6000 + "\n0", 2, "a whole number"),
    "digits with underscores": (DENSE.replace("0.501", "0.5_01"), 1, "'0.5_01' stands there"),
    "storage": ("3\n1\n7\n3\n3", 3, "the storage .* is 7"),
    "huge rows": (f"3\n1\n0\n{HUGE}\n3\n", 4, "the number of rows"),
    "a dense claim": ("3 1\n0 3 3 3 3\n1 2 3", 3, "9 words.*the file ends"),
    "sizes that differ": ("3 1\n0 3 3\n3 4\n" + "1 " * 20, 3, "repeated .* must be 3, and is 4"),
    "not square": ("2 1\n0 2 1\n2 1\n1 2 0 0 0", 4, "2×1, and must be square"),
    "not a number": (DENSE.replace("0.501", "\nnan"), 2, "a finite number, and 'nan'"),
    "infinite": (DENSE.replace("0.501", "\ninf"), 2, "a finite number"),
    "too large": (DENSE.replace("0.501", "\n1e999"), 2, "a finite number"),
    "a word": (DENSE.replace("0.501", "\n\nhello"), 3, "a finite number, and 'hello'"),
    "a long word": (DENSE.replace("0.501", "x" * 100_000), 1, "'x{24}'… stands there"),
    "two flags": (DENSE + "\n0\n0", 3, "nothing is expected"),
    "a flag that is no number": (DENSE + "\nend", 2, "the flag at the end needs a whole number"),
    "negative friction": (DENSE.replace("0  0.5", "0 -0.5"), None, "friction"),
    "a negative diagonal": (DENSE.replace("  2 0.5", "  -2 0.5"), None, "negative diagonal"),
    "blocks: too many": (BLOCKS.replace("1\n3\n3\n2\n", f"1\n3\n3\n{HUGE}\n"), 6, "number of blocks"),
    "blocks: too few ends": (BLOCKS.replace("2 3\n2 3", "2 3\n2 4"), 10, "ends of the block columns"),
    "blocks: ends that fall": (BLOCKS.replace("2 3\n2 3", "3 3\n2 3"), 9, "ends of the block rows"),
    "blocks: pointer": (BLOCKS.replace("0 1 2", "0 2 1"), 13, "row pointer .* must rise from 0 to 2"),
    "blocks: pointer that wraps": (
        BLOCKS.replace("0 1 2", "0 -9223372036854775808 2"), 13, "must rise from 0 to 2",
    ),
    "blocks: column": (BLOCKS.replace("0 1\n0\n", "0 2\n0\n"), 14, "from 0 to 1, and is 2"),
    "blocks: number": (BLOCKS.replace("\n1\n1\n-1", "\n7\n1\n-1"), 17, "block 1 .* and 7 stands there"),
    "triplets: row": (TRIPLETS.replace("1 1 : 3", "3 1 : 3"), 12, "row of an entry .* and is 3"),
    "triplets: column": (TRIPLETS.replace("1 1 : 3", "1 -1 : 3"), 12, "column of an entry .* and is -1"),
    "triplets: colon": (TRIPLETS.replace("1 1 : 3", "1 1 ; 3"), 12, "needs ':', and ';'"),
    "triplets: index": (TRIPLETS.replace("1 1 : 3", "1 1.0 : 3"), 12, "a whole number, and '1.0'"),
    "triplets: huge": (TRIPLETS.replace("nnz: 6", f"nnz: {HUGE}"), 17, "should follow"),
    "triplets: more": (TRIPLETS.replace("nnz: 6", "nnz: 7"), 15, "':'"),
    "triplets: negative": (TRIPLETS.replace("nnz: 6", "nnz: -1"), 8, "the number of entries"),
    "triplets: sizes": (TRIPLETS.replace("3-by-3", "4-by-3"), 8, "must be 3-by-3"),
    "triplets: no sizes": (TRIPLETS.replace("3-by-3", "3 by 3"), 7, "the sizes of"),
    "triplets: null": ("3 1 2 3 3 1\n(null)\n-1 0 0 0.5", 2, "the sizes of"),
    "triplets: no tag": (TRIPLETS.replace("triplet:", ""), 8, "needs 'triplet:'"),
    "columns: tag": (COLUMNS.replace("3-by-3", "csr: 3-by-3"), 8, "begin with 'csr:'"),
    "columns: order": (COLUMNS.replace("col 1", "col 2"), 12, "'col 1 : locations 2 to"),
    "columns: gap": (COLUMNS.replace("2 to 3", "3 to 3"), 12, "'col 1 : locations 2 to"),
    "columns: end": (COLUMNS.replace("2 to 3", f"2 to {HUGE}"), 12, "from 1 to 4"),
    "columns: falling": (COLUMNS.replace("2 to 3", "2 to -7"), 12, "from 1 to 4"),
    "columns: row": (COLUMNS.replace("1 : 3", "7 : 3"), 13, "from 0 to 2, and is 7"),
    "columns: more": (COLUMNS.replace("nnz: 5", "nnz: 6"), 16, "5 entries, and 6 were announced"),
    "columns: huge": (COLUMNS.replace("nnz: 5", f"nnz: {HUGE}"), 19, "should follow"),
    "origin": (COLUMNS.replace("3\n2\nCSp", "3\n9\nCSp"), 6, "the origin of .* is 9"),
    "jacobian": ("2 1 0 2 2 2 2 4 0 0 5\n0 2 1 2 1\n1 0 1 2 3 4 0.5", 3, "H is 2×1, and must be 2×2"),
    "overflow": (GLOBAL.replace("4 0 0 5", "4 0 0 1e-320"), None, "overflows"),
    "too many rows": ("3 1 0 2 2 2 2 4 0 0 5\n-1 0 0 0.5", 2, "the storage of H"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile(case: str, tmp_path: Path) -> None:
    text, line, message = HOSTILE[case]
    path = write_text(tmp_path, text)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as caught:
            read_siconos(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = str(caught.value)
    assert said.startswith(f"{path}, line {line}: " if line else f"{path} holds no valid problem: ")
    assert re.search(message, said), said
    assert "\n" not in said
    assert len(said) < 300 + len(str(path))
    if line:  # otherwise kernels may have been loaded to look at the problem
        assert peak < 4_000_000


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot read"):
        read_siconos(tmp_path / "missing.dat")
    with pytest.raises(OSError, match="it is a folder"):
        read_siconos(tmp_path)


def problem_or_complaint(path: Path) -> ContactProblem | str:
    """What is read, or the one printable line that says why not; anything else is an error of the test."""
    try:
        return read_siconos(path)
    except FileFormatError as error:
        complaint = str(error)
    assert complaint.isprintable()
    return complaint


WORDS = [
    b"0",
    b"1",
    b"2",
    b"3",
    b"-1",
    b"4",
    b":",
    b"nan",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"x",
    HUGE.encode(),
]


@settings(max_examples=300)
@given(text=st.sampled_from([DENSE, TRIPLETS, COLUMNS, ROWS, BLOCKS, GLOBAL]), data=st.data())
def test_any_damage_is_refused_or_harmless(text: str, data: st.DataObject) -> None:
    """Words changed, dropped, doubled or put in anywhere: an error of one sentence, or a problem."""
    words = re.findall(rb"\S+|\n", text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        piece = data.draw(st.sampled_from([[], [words[at]] * 2, *([word] for word in WORDS)]))
        words[at : at + 1] = piece or ([] if len(words) > 1 else words)
    with tempfile.TemporaryDirectory() as folder:
        problem = problem_or_complaint(write_text(Path(folder), b" ".join(words)))
    if isinstance(problem, ContactProblem):
        assert problem.layout.rows <= len(words)


@given(noise=st.binary(max_size=200), keep=st.integers(0, len(COLUMNS)))
def test_noise_after_a_good_start(noise: bytes, keep: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        problem_or_complaint(write_text(Path(folder), COLUMNS.encode()[:keep] + noise))
