"""Problem files: a `ContactProblem` in HDF5, in the form in which it was given, bit for bit.

    write_problem(problem, "failing.h5", solution=solution)
    problem = read_problem("failing.h5")
    solution = solve(problem, initial=read_initial("failing.h5"))

Layout of a file, version 1 (numbers are float64, indices and counts int64 or int32):

    /                   attributes: format = "nonsmooth-problem", version = 1,
                        form = "matrices", "blocks" or "delassus", law = "coulomb", "pyramid(8)", …
    friction            μ, one per contact
    components          1, 2 or 3, one per contact
    form "matrices":    mass, jacobian, joint_jacobian (dense or sparse), momentum, bias, joint_bias
    form "blocks":      mass, jacobian, bodies, joint_jacobian, joint_bodies, momentum, bias, joint_bias
    form "delassus":    delassus (dense or sparse), free_velocity, joint_free_velocity
    solution/           where one was stored: impulses, joint_impulses;
                        attributes: status, solver, residual (relative, as in the certificate)

Names and shapes are those of `ContactProblem`, and every dataset has its unit as the attribute `unit`
(on acceleration level read N for N·s and m/s² for m/s). A sparse matrix is a group with the datasets
`data`, `indices` and `indptr` of its compressed columns and the attribute `shape`. Strings are UTF-8 of
fixed length. The free velocity of a problem with masses is not stored: reading computes it anew from
the momentum and the bias.

Nothing in a file is executed or followed elsewhere: a dataset must be plain numbers inside the file, and
no larger than the file itself.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError, NonsmoothError, ProblemError
from nonsmooth.problem.contact_problem import ContactProblem

if TYPE_CHECKING:
    from nonsmooth.solvers.solution import Solution

FilePath = str | os.PathLike[str]

_FORMAT, _VERSION = "nonsmooth-problem", 1

_FORMS = {
    "matrices": ("mass", "jacobian", "joint_jacobian", "momentum", "bias", "joint_bias"),
    "blocks": (
        "mass", "jacobian", "bodies", "joint_jacobian", "joint_bodies", "momentum", "bias", "joint_bias",
    ),
    "delassus": ("delassus", "free_velocity", "joint_free_velocity"),
}  # fmt: skip
"""What a file holds in each form, besides friction and components."""

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
    "delassus": "1/kg, 1/(kg·m²)",
    "free_velocity": "m/s",
    "joint_free_velocity": "m/s, rad/s",
    "impulses": "N·s",
    "joint_impulses": "N·s, N·m·s",
}


def write_problem(problem: ContactProblem, path: FilePath, *, solution: Solution | None = None) -> None:
    """Write a problem, and a solution of it if given, to an HDF5 file; an older file is replaced.

    The file appears whole or not at all: it is written under another name and then renamed.
    """
    if solution is not None:
        found = (len(solution.impulses), len(solution.joint_impulses))
        wanted = (problem.layout.contact_rows, problem.joint_rows)
        if found != wanted:
            raise ProblemError(
                f"solution has {found[0]} contact and {found[1]} joint impulses, and this problem has "
                f"{wanted[0]} and {wanted[1]} rows: give a solution of this problem"
            )
    form = _form_of(problem)
    with _new_file(path) as file:
        file.attrs["version"] = _VERSION
        _write_text(file, format=_FORMAT, form=form, law=str(problem.law))
        for name in ("friction", "components", *_FORMS[form]):
            _write(file, name, getattr(problem, name))
        if solution is not None:
            group = file.create_group("solution")
            _write(group, "impulses", solution.impulses)
            _write(group, "joint_impulses", solution.joint_impulses)
            group.attrs["residual"] = solution.certificate.residual
            _write_text(group, status=str(solution.status), solver=solution.statistics.solver)


def read_problem(path: FilePath) -> ContactProblem:
    """Read a problem that `write_problem` wrote.

    Raises `FileFormatError` if the file is not such a file, is damaged, or holds no valid problem.
    """
    with _problem_file(path) as file:
        form, law = file.text("form"), file.text("law")
        if form not in _FORMS:
            raise FileFormatError(f"{path} has the form {form!r}: it must be one of {', '.join(_FORMS)}")
        data: dict[str, Any] = {name: file.read(name) for name in ("friction", "components", *_FORMS[form])}
    if form == "delassus":
        joints = data.pop("joint_free_velocity")
        data["free_velocity"] = np.concatenate([data["free_velocity"].ravel(), joints.ravel()])
        data["joint_rows"] = joints.size
    try:
        return ContactProblem(**data, law=law)
    except NonsmoothError as error:
        raise FileFormatError(f"{path} holds no valid problem: {error}") from error


def read_initial(path: FilePath) -> NDArray[np.float64]:
    """Read the impulses of a stored solution as a warm start: contacts, then joint rows, in N·s."""
    with _problem_file(path) as file:
        if not file.has("solution"):
            raise FileFormatError(
                f"{path} holds no solution: write it with write_problem(problem, path, solution=solution)"
            )
        stored = file.group("solution")
        impulses, joints = stored.read("impulses"), stored.read("joint_impulses")
    return np.concatenate([impulses.ravel(), joints.ravel()])


# ---- writing ------------------------------------------------------------------------------------------


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
    _write_text(node, unit=_UNITS[name])


def _write_text(node: Any, **attributes: str) -> None:
    """Write strings of fixed length: strings of variable length need a heap, whose damage hangs readers."""
    import h5py

    for name, text in attributes.items():
        encoded = text.encode()
        node.attrs.create(name, encoded, dtype=h5py.string_dtype("utf-8", len(encoded)))


@contextmanager
def _new_file(path: FilePath) -> Iterator[Any]:
    """Give a new HDF5 file that takes the place of `path` when all went well, and is gone otherwise."""
    import h5py

    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
            what = "a folder" if target.is_dir() else "not a file that may be written"
            raise OSError(f"it is {what}; give another name")
        part.touch(exist_ok=False)
        try:
            with h5py.File(part, "w") as file:
                yield file
            with open(part, "rb+") as written:
                os.fsync(written.fileno())
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        cause = (error.strerror or error) if target.parent.is_dir() else f"there is no folder {target.parent}"
        raise type(error)(f"cannot write {path}: {cause}") from error


# ---- reading ------------------------------------------------------------------------------------------


@contextmanager
def _problem_file(path: FilePath) -> Iterator[_Node]:
    """Open a problem file whose header is right. What the HDF5 library finds wrong is a damaged file."""
    import h5py

    try:
        if not os.path.isfile(path):
            os.stat(path)
            raise OSError("it is a folder" if os.path.isdir(path) else "it is not a regular file")
        with open(path, "rb"):
            pass
    except OSError as error:
        raise type(error)(f"cannot read {path}: {error.strerror or error}") from error
    if not h5py.is_hdf5(path):
        raise FileFormatError(f"{path} is not an HDF5 file: give a file that write_problem wrote")
    try:
        with h5py.File(path, "r") as file:
            root = _Node(file, path, os.path.getsize(path), "")
            _check_header(root)
            yield root
    except FileFormatError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError) as error:
        cause = " ".join(str(error).split())
        raise FileFormatError(f"{path} is damaged and cannot be read: {cause}") from error


def _check_header(root: _Node) -> None:
    found = root.text("format") if "format" in root.node.attrs else None
    if found != _FORMAT:
        raise FileFormatError(
            f"{root.path} is an HDF5 file, but not a problem file: "
            f"its attribute 'format' is {found!r} and should be {_FORMAT!r}"
        )
    version = root.integers("version", ())
    if version > _VERSION:
        raise FileFormatError(
            f"{root.path} has version {version} of the problem format, newer than the version {_VERSION} "
            "that this program reads: pip install --upgrade nonsmooth"
        )
    if version < 1:
        raise FileFormatError(f"{root.path} has version {version} of the problem format: the first one is 1")


class _Node:
    """The file or a group in it, read with suspicion."""

    def __init__(self, node: Any, path: FilePath, file_size: int, prefix: str) -> None:
        self.node = node
        self.path = path
        self.file_size = file_size
        self.prefix = prefix

    def has(self, name: str) -> bool:
        """Tell whether there is a group or dataset of this name."""
        return self.node.get(name, getlink=True) is not None

    def text(self, name: str) -> str:
        """An attribute that must be a string of fixed length."""
        return str(self._attribute(name, (), "S", "a string of fixed length").decode())

    def integers(self, name: str, shape: tuple[int, ...]) -> Any:
        """An attribute that must be whole numbers of this shape."""
        return self._attribute(name, shape, "i", f"whole numbers of shape {shape}")

    def _attribute(self, name: str, shape: tuple[int, ...], kind: str, meaning: str) -> Any:
        """An attribute's value, looked at only when its declared type and shape are right."""
        if name not in self.node.attrs:
            raise FileFormatError(f"{self.path}: attribute {self.prefix + name!r} is missing")
        declared = self.node.attrs.get_id(name)
        if declared.dtype.kind != kind or declared.shape != shape:
            raise FileFormatError(f"{self.path}: attribute {self.prefix + name!r} must be {meaning}")
        return self.node.attrs[name]

    def group(self, name: str) -> _Node:
        """A group in this one."""
        import h5py

        found = self._own(name)
        if not isinstance(found, h5py.Group):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is not a group")
        return _Node(found, self.path, self.file_size, f"{self.prefix}{name}/")

    def read(self, name: str) -> Any:
        """A dataset as an array, or a group that stands for a sparse matrix as that matrix."""
        import h5py

        found = self._own(name)
        if isinstance(found, h5py.Group):
            return self.group(name)._sparse()
        if not isinstance(found, h5py.Dataset):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is not a dataset")
        self._check_dataset(name, found)
        return found[()].astype(found.dtype.newbyteorder("="))

    def _own(self, name: str) -> Any:
        """What stands under a name in this file itself: links to other places are not followed."""
        import h5py

        if not self.has(name):
            raise FileFormatError(f"{self.path}: dataset {self.prefix + name!r} is missing")
        if not isinstance(self.node.get(name, getlink=True), h5py.HardLink):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is a link: store the data themselves")
        return self.node[name]

    def _check_dataset(self, name: str, dataset: Any) -> None:
        place = f"{self.path}: dataset {self.prefix + name!r}"
        wanted = "int64 or int32" if name in _INTEGERS else "float64"
        found = dataset.dtype
        if found.newbyteorder("=").name not in wanted.split(" or "):
            raise FileFormatError(f"{place} has the type {found}: it must be {wanted}")
        if dataset.external is not None or dataset.is_virtual:
            raise FileFormatError(f"{place} keeps its numbers in another file: store the data themselves")
        if not dataset.shape:  # a single number, or nothing at all
            raise FileFormatError(f"{place} is not an array")
        if dataset.size * found.itemsize > self.file_size:
            raise FileFormatError(
                f"{place} declares the shape {dataset.shape}, which does not fit into the "
                f"{self.file_size} bytes of the file: it is damaged or compressed"
            )

    def _sparse(self) -> Any:
        name = self.prefix.rstrip("/")
        if name not in ("mass", "jacobian", "joint_jacobian", "delassus"):
            raise FileFormatError(f"{self.path}: {name!r} is a group and must be a dataset")
        shape = tuple(int(n) for n in self.integers("shape", (2,)))
        parts = [self.read(part) for part in ("data", "indices", "indptr")]
        try:
            matrix = sp.csc_array(tuple(parts), shape=shape)
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise FileFormatError(f"{self.path}: {name!r} is not a sparse matrix: {error}") from error
        return matrix
