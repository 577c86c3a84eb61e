"""Problems in the text format of Siconos (`*.dat`), read and written.

    problem = read_siconos("Capsules-i100-1090.dat")
    write_siconos(problem, "capsules.dat")

A file holds numbers between white space: the dimension (2 or 3), the number of contacts c, then

    local      W, q, μ         u = W r + q                        a problem given by its Delassus matrix
    global     M, H, f, w, μ   M v = H r + f,  u = Hᵀv + w        a problem with masses

with one μ per contact, and in some files a whole number at the end, which is ignored. Components
go contact by contact, normal first; impulses r in N·s, velocities u, q and w in m/s, f in N·s. In
`ContactProblem` W is `delassus`, q `free_velocity`, M `mass`, H `jacobian`, f `momentum` and
w `bias`. The storage of matrices is described in `siconos_matrices`.

The file does not name its kind, but only one reading consumes it: the first matrix is followed by d·c + c
numbers in a local problem, and by more in a global one, whose H comes first.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError, UnsupportedError
from nonsmooth.io._hdf5 import FilePath, sync, writing
from nonsmooth.io.problems.base import Contents, ProblemFormat
from nonsmooth.io.problems.number_text import Tokens
from nonsmooth.io.problems.siconos_matrices import (
    DENSE,
    SPARSE,
    SPARSE_BLOCK,
    line_of,
    matrix_lines,
    read_matrix,
)
from nonsmooth.problem.contact_problem import ContactProblem

Kind = Literal["local", "global"]
Storage = Literal["sparse-block", "dense", "sparse"]

_STORAGES = {"sparse-block": SPARSE_BLOCK, "dense": DENSE, "sparse": SPARSE}


def read_siconos(path: FilePath, kind: Kind | None = None) -> ContactProblem:
    """Read a problem from a text file of Siconos.

    Args:
        path: the file.
        kind: "local" or "global"; None finds it from the structure of the file.

    Raises `FileFormatError` if the file is not such a file, is damaged, or holds no valid problem.
    """
    _check_kind(kind)
    tokens = Tokens(path)
    dimension = tokens.integer("the dimension (2 or 3)", 2, 3)
    contacts = tokens.integer("the number of contacts", 0, tokens.left)
    rows = dimension * contacts
    first = read_matrix(tokens, "the first matrix (W or M)")
    if first.shape[0] != first.shape[1]:
        tokens.fail(f"the first matrix (W or M) is {first.shape[0]}×{first.shape[1]}, and must be square")
    if (kind or _kind(tokens, first.shape[0], rows, contacts)) == "local":
        if first.shape[0] != rows:
            tokens.fail(f"W has {first.shape[0]} rows, and {contacts} contacts in {dimension}D need {rows}")
        data: dict[str, Any] = {"delassus": first, "free_velocity": tokens.numbers(rows, "q")}
    else:
        second = read_matrix(tokens, "H")
        if second.shape != (first.shape[0], rows):
            tokens.fail(
                f"H is {second.shape[0]}×{second.shape[1]}, and must be {first.shape[0]}×{rows}: "
                "a row for each of M, a column for each contact component"
            )
        momentum = tokens.numbers(first.shape[0], "f")
        data = {"mass": first, "jacobian": second, "momentum": momentum, "bias": tokens.numbers(rows, "w")}
    friction = tokens.numbers(contacts, "μ")
    if tokens.left:
        tokens.integers(1, "the flag at the end")
    tokens.end("the flag at the end")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            problem = ContactProblem(**data, friction=friction, components=dimension, allow_asymmetry=True)
    except NonsmoothError as error:
        raise FileFormatError(f"{path} holds no valid problem: {error}") from error
    if not np.isfinite(problem.free_velocity).all():
        raise FileFormatError(
            f"{path} holds no valid problem: HᵀM⁻¹f + w overflows: some numbers are too large or too small"
        )
    return problem


def _kind(tokens: Tokens, size: int, rows: int, contacts: int) -> Kind:
    """Return the kind from the data after the first matrix of `size` rows."""
    if size != rows:
        return "global"  # W has a row for each contact component
    if tokens.left - rows - contacts in (0, 1):
        return "local"  # too short for a second matrix and one more vector
    # damaged, or global: is this the beginning of H?
    head = tokens.ahead(2)
    begins_h = len(head) == 2 and head[0] in (b"0", b"1", b"2") and head[1] == b"%d" % size
    return "global" if begins_h or "gfc" in os.path.basename(tokens.path).lower() else "local"


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in get_args(Kind):
        raise OptionError(f"kind is {kind!r}: it must be 'local', 'global' or None")


# ---- writing ------------------------------------------------------------------------------------------


def write_siconos(
    problem: ContactProblem,
    path: FilePath,
    *,
    kind: Kind | None = None,
    storage: Storage = "sparse-block",
) -> None:
    """Write a problem as a text file of Siconos atomically; an older file is replaced.

    Numbers are written with the digits (17 at most) needed to read the same bits.

    Args:
        problem: its contacts must all have two components or all three, without joints, under Coulomb's law.
        path: the file.
        kind: "global" (M, H, f, w) or "local" (W, q); by default global if masses are known.
            "local" of a problem with masses forms W.
        storage: how matrices are stored: "sparse-block" (a block for each pair of contacts, of bodies, or of
            both, which most solvers of Siconos need for W), "dense", or "sparse" (triplets).
    """
    _check_kind(kind)
    if storage not in _STORAGES:
        raise OptionError(f"storage is {storage!r}: it must be one of {', '.join(_STORAGES)}")
    if kind is None:
        kind = "global" if problem.has_masses else "local"
    dimension = _check_writable(problem, kind)
    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    scratch = target.with_name(f".{secrets.token_hex(8)}.part")
    with writing(path):
        if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
            what = "a folder" if target.is_dir() else "not a writable file"
            raise OSError(f"it is {what}; give another name")
        try:
            with open(scratch, "x", encoding="ascii", newline="\n") as file:
                file.writelines(_lines(problem, kind, dimension, _STORAGES[storage]))
            sync(scratch)
            os.replace(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)


def _check_writable(problem: ContactProblem, kind: Kind) -> int:
    """The dimension of the contacts, 2 or 3; raises if the format cannot store this problem."""
    if kind == "global" and not problem.has_masses:
        raise UnsupportedError(
            "this problem was given by its Delassus matrix and has no masses: write it with kind='local'"
        )
    if problem.joint_rows:
        other = "" if np.isfinite(problem.joint_bounds).any() else "write_fclib or "
        raise UnsupportedError(
            f"the problem has {problem.joint_rows} joint rows, and Siconos text files store contacts only: "
            f"use {other}write_problem"
        )
    if not (problem.law.exact and problem.law.sides == 0):
        raise UnsupportedError(
            f"the law is {problem.law}, and text files of Siconos store Coulomb's: write "
            "problem.with_law('coulomb'), or keep the law with write_problem"
        )
    found = sorted({int(count) for count in problem.components}) or [3]
    if found not in ([2], [3]):
        raise UnsupportedError(
            f"contacts have {' and '.join(map(str, found))} components, and a text file of Siconos has 2 or "
            "3 for all: give every contact both tangents (with friction 0 where it has none), "
            "or use write_problem"
        )
    return found[0]


def _lines(problem: ContactProblem, kind: Kind, dimension: int, storage: int) -> Iterator[str]:
    rows = problem.layout.contact_rows
    contacts = np.arange(0, rows + 1, dimension)
    yield f"{dimension}\n{problem.contacts}\n"
    if kind == "local":
        delassus = problem.operator.matrix() if problem.has_masses else problem.delassus
        yield from matrix_lines(delassus, storage, contacts, contacts)
        vectors = [problem.free_velocity]
    else:
        mass = problem.mass_matrix()
        bodies = _body_edges(mass)
        yield from matrix_lines(mass, storage, bodies, bodies)
        yield from matrix_lines(problem.row_matrix(), storage, bodies, contacts)
        vectors = [problem.momentum, problem.bias]
    for vector in (*vectors, problem.friction):
        yield line_of(vector.tolist())


def _body_edges(mass: Any) -> NDArray[np.int64]:
    """Boundaries between bodies, which no entry of the mass matrix crosses."""
    size = mass.shape[0]
    row, column = sp.coo_array(mass).coords
    reach = np.arange(size)
    np.maximum.at(reach, np.minimum(row, column), np.maximum(row, column))
    last = np.flatnonzero(np.maximum.accumulate(reach) == np.arange(size))
    return np.concatenate([[0], last + 1]).astype(np.int64)


# ---- as a format -------------------------------------------------------------------------------------


def _recognises(path: FilePath, root: object) -> bool:
    if root is not None:
        return False
    with open(path, "rb") as file:
        return file.read(64).split()[:1] in ([b"2"], [b"3"])  # the dimension of the contacts


def _read_start(path: FilePath) -> Floats:
    raise FileFormatError(f"{path} is a text file of Siconos, which holds a problem and no solution")


def _contents(path: FilePath) -> Contents:
    problem = read_siconos(path)
    return Contents(problem, "global" if problem.has_masses else "local", {}, None)


def _write_contents(path: FilePath, contents: Contents) -> tuple[str, ...]:
    kind: Any = contents.kind if contents.kind in get_args(Kind) else None
    write_siconos(contents.problem, path, kind=kind)
    lost = [what for what in contents.words if not what.endswith(" stored")]  # those go with the solution
    lost += ["the solution"] * (contents.solution is not None) + ["the guesses"] * bool(contents.guesses)
    return tuple(lost)


FORMAT = ProblemFormat(
    name="siconos",
    title="Siconos (text)",
    suffix=".dat",
    recognises=_recognises,
    read=read_siconos,
    read_start=_read_start,
    contents=_contents,
    write=_write_contents,
)
