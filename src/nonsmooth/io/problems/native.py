"""Problem files: a `ContactProblem` in HDF5, in the form in which it was given, bitwise identical.

    write_problem(problem, "failing.h5", solution=solution)
    problem = read_problem("failing.h5")
    solution = solve(problem, start=read_start("failing.h5"))

`read_problem` and `read_start` also read files of other programs: see `formats`.

Layout of the file, versions 1 and 2 (numbers are float64, indices and counts int64 or int32):

    /                   attributes: format = "nonsmooth-problem", version = 1, or 2 with joint_bounds,
                        form = "matrices", "blocks" or "delassus", law = "coulomb", "pyramid(8)", …
    friction            μ, one per contact
    components          1, 2 or 3, one per contact
    form "matrices":    mass, jacobian, joint_jacobian (dense or sparse), momentum, bias, joint_bias
    form "blocks":      mass, jacobian, bodies, joint_jacobian, joint_bodies, momentum, bias, joint_bias
    form "delassus":    delassus (dense or sparse), free_velocity, joint_free_velocity
    joint_bounds        if a joint row has a finite bound: lower and upper of each, ±inf for none
    solution/           if one was stored: impulses, joint_impulses;
                        attributes: status, solver, residual (relative, as in the certificate)

Names and shapes are those of `ContactProblem`, and every dataset has its unit as the attribute `unit`
(on acceleration level read N for N·s and m/s² for m/s). A sparse matrix is a group with the datasets
`data`, `indices` and `indptr` of its compressed columns and the attribute `shape`. Strings are UTF-8 of
fixed length. The free velocity of a problem with masses is not stored: it is recomputed from the
momentum and the bias when the file is read.

Nothing in a file is executed, and no link is followed: a dataset must be plain numbers inside the file, and
no larger than the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import FileFormatError, NonsmoothError, ProblemError, UnsupportedError
from nonsmooth.io._hdf5 import (
    FLOATS,
    INTEGERS,
    FileKind,
    FilePath,
    Node,
    new_file,
    reading,
    write_header,
    write_text,
)
from nonsmooth.io.problems.base import Contents, ProblemFormat
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.contact_problem import ContactProblem

if TYPE_CHECKING:
    from nonsmooth.solvers.solution import Solution

_KIND = FileKind("nonsmooth-problem", 2, "problem", "write_problem")
_WITHOUT_BOUNDS = _KIND._replace(version=1)
"""What programs read that know no bounds, and would take every joint row for one that holds."""

_FORMS = {
    "matrices": ("mass", "jacobian", "joint_jacobian", "momentum", "bias", "joint_bias"),
    "blocks": (
        "mass", "jacobian", "bodies", "joint_jacobian", "joint_bodies", "momentum", "bias", "joint_bias",
    ),
    "delassus": ("delassus", "free_velocity", "joint_free_velocity"),
}  # fmt: skip
"""Datasets of each form, besides friction and components."""

_INTEGERS = ("components", "bodies", "joint_bodies", "indices", "indptr")
_UNITS = {
    "friction": "1",
    "components": "1",
    "mass": "kg, kg·m²",
    "jacobian": "1, m",
    "bodies": "1",
    "joint_jacobian": "1, m",
    "joint_bodies": "1",
    "momentum": "N·s, N·m·s",
    "bias": "m/s",
    "joint_bias": "m/s, rad/s",
    "joint_bounds": "N·s, N·m·s",
    "delassus": "1/kg, 1/(kg·m²)",
    "free_velocity": "m/s",
    "joint_free_velocity": "m/s, rad/s",
    "impulses": "N·s",
    "joint_impulses": "N·s, N·m·s",
}


def write_problem(problem: ContactProblem, path: FilePath, *, solution: Solution | None = None) -> None:
    """Write a problem, and a solution of it if given, to an HDF5 file; an older file is replaced.

    The file is written atomically: under another name, and then renamed.
    """
    if solution is not None:
        found = (len(solution.impulses), len(solution.joint_impulses))
        wanted = (problem.layout.contact_rows, problem.joint_rows)
        if found != wanted:
            raise ProblemError(
                f"solution has {found[0]} contact and {found[1]} joint impulses, and this problem has "
                f"{wanted[0]} and {wanted[1]} rows: give a solution of this problem"
            )
    with new_file(path) as file:
        _write_body(file, problem)
        if solution is not None:
            words = {"status": str(solution.status), "solver": solution.statistics.solver}
            residual = solution.certificate.residual
            _write_solution(file, solution.impulses, solution.joint_impulses, residual, words)


def _contents(path: FilePath) -> Contents:
    problem = _read_own(path)
    with reading(path, _KIND) as file:
        words, form, found = {}, file.text("form"), None
        if file.has("solution"):
            stored = file.group("solution")
            said = {f"{name} stored": stored.text(name) for name in ("status", "solver")}
            words = {name: word for name, word in said.items() if word != "unknown"}
            found = _impulses(stored)
    if found is not None and len(found) != problem.layout.rows:
        raise FileFormatError(
            f"{path}: its solution has {len(found)} impulses, and the problem has {problem.layout.rows} rows"
        )
    return Contents(problem, form, words, found)


def _read_start(path: FilePath) -> Floats:
    with reading(path, _KIND) as file:
        if not file.has("solution"):
            raise FileFormatError(
                f"{path} holds no solution: write it with write_problem(problem, path, solution=solution)"
            )
        return _impulses(file.group("solution"))


def _impulses(stored: Node) -> Floats:
    parts = [_read(stored, "impulses").ravel(), _read(stored, "joint_impulses").ravel()]
    return np.concatenate(parts)


def _write_contents(path: FilePath, contents: Contents) -> tuple[str, ...]:
    problem, found = contents.problem, contents.solution
    rows = problem.layout.contact_rows
    if contents.kind in ("global", "local") and (contents.kind == "global") != problem.has_masses:
        raise UnsupportedError(
            "the own format stores a problem in the form in which it was given: omit kind="
        )
    with new_file(path) as file:
        _write_body(file, problem)
        if found is not None:
            velocity = problem.velocity(found[:rows], found[rows:]) if problem.has_masses else None
            residual = certify(problem, found[:rows], found[rows:], velocity).residual
            words = {name: contents.words.get(f"{name} stored", "unknown") for name in ("status", "solver")}
            _write_solution(file, found[:rows], found[rows:], residual, words)
    lost = [what for what in contents.words if not what.endswith(" stored")]
    return (*lost, *(("the guesses",) if contents.guesses else ()))


def _read_own(path: FilePath) -> ContactProblem:
    with reading(path, _KIND) as file:
        form, law = file.text("form"), file.text("law")
        if form not in _FORMS:
            raise FileFormatError(f"{path} has the form {form!r}: it must be one of {', '.join(_FORMS)}")
        names = ("friction", "components", *_FORMS[form])
        if file.has("joint_bounds"):
            names += ("joint_bounds",)
        data: dict[str, Any] = {name: _read(file, name) for name in names}
    if form == "delassus":
        joints = data.pop("joint_free_velocity")
        data["free_velocity"] = np.concatenate([data["free_velocity"].ravel(), joints.ravel()])
        data["joint_rows"] = joints.size
    try:
        return ContactProblem(**data, law=law, allow_asymmetry=True)
    except NonsmoothError as error:
        raise FileFormatError(f"{path} holds no valid problem: {error}") from error


# ---- writing ------------------------------------------------------------------------------------------


def _write_body(file: Any, problem: ContactProblem) -> None:
    form, bounded = _form_of(problem), bool(np.isfinite(problem.joint_bounds).any())
    write_header(file, _KIND if bounded else _WITHOUT_BOUNDS)
    write_text(file, form=form, law=str(problem.law))
    for name in ("friction", "components", *_FORMS[form]):
        _write(file, name, getattr(problem, name))
    if bounded:
        _write(file, "joint_bounds", problem.joint_bounds)


def _write_solution(
    file: Any, impulses: Floats, joint_impulses: Floats, residual: float, words: dict[str, str]
) -> None:
    group = file.create_group("solution")
    _write(group, "impulses", impulses)
    _write(group, "joint_impulses", joint_impulses)
    group.attrs["residual"] = residual
    write_text(group, **words)


def _form_of(problem: ContactProblem) -> str:
    if not problem.has_masses:
        return "delassus"
    return "blocks" if problem.bodies is not None else "matrices"


def _write(group: Any, name: str, value: Any) -> None:
    if sp.issparse(value):
        node = group.create_group(name)
        for part in ("data", "indices", "indptr"):
            node.create_dataset(part, data=getattr(value, part))
        node.attrs["shape"] = np.array(value.shape, dtype=np.int64)
    else:
        node = group.create_dataset(name, data=value)
    write_text(node, unit=_UNITS[name])


# ---- reading ------------------------------------------------------------------------------------------


def _read(node: Node, name: str) -> Any:
    """A dataset as an array, or a group that stands for a sparse matrix as that matrix."""
    if node.is_group(name):
        return _sparse(node.group(name), name)
    return node.read(name, INTEGERS if name in _INTEGERS else FLOATS)


def _sparse(node: Node, name: str) -> Any:
    if name not in ("mass", "jacobian", "joint_jacobian", "delassus"):
        raise FileFormatError(f"{node.path}: {name!r} is a group and must be a dataset")
    shape = tuple(int(n) for n in node.integers("shape", (2,)))
    parts = [_read(node, part) for part in ("data", "indices", "indptr")]
    try:
        matrix = sp.csc_array(tuple(parts), shape=shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise FileFormatError(f"{node.path}: {name!r} is not a sparse matrix: {error}") from error
    return matrix


FORMAT = ProblemFormat(
    name="own",
    title="our own (HDF5)",
    suffix=".h5",
    recognises=lambda path, root: root is not None and "format" in root.node.attrs,
    read=_read_own,
    read_start=_read_start,
    contents=_contents,
    write=_write_contents,
)
