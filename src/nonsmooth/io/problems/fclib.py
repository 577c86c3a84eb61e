"""FCLib files: frictional contact problems in the HDF5 layout of the Friction Contact Library.

    write_fclib(problem, "pile.hdf5", solution=solution, info=FclibInfo(title="pile"))
    file = read_fclib("pile.hdf5")
    file.problem, file.kind, file.info.title, file.guesses, file.solution

Two kinds, with FCLib's letters; a contact has its normal first, then one tangent (2D) or two (3D):

    local     u = W r + V l + q,    0 = Vᵀr + R l + s
    global    M v = H r + G l + f,  u = Hᵀv + w,  0 = Gᵀv + b

    fclib_local/        spacedim (2 or 3), W, and V and R for bilateral rows, vectors/ q mu s
    fclib_global/       spacedim, M, H, and G for bilateral rows, vectors/ f w mu b
        info/           title, description, math_info
    guesses/            number_of_guesses, and groups 1, 2, … with r, u, v (global), l (bilateral rows)
    solution/           r, u, v, l

The storage of matrices is described in `fclib_matrices`. M and W need not be symmetric. Signs are those of
`ContactProblem`: r and l are the impulses γ and λ in N·s, u and v velocities in m/s, and W, q, H, f, w, G, b
are delassus, free velocity, jacobian, momentum, bias, joint jacobian and joint bias. The law is Coulomb's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError, ProblemError, UnsupportedError
from nonsmooth.io._hdf5 import FilePath, Node, new_file, open_hdf5, suspicion
from nonsmooth.io.problems.fclib_matrices import (
    Encoding,
    check_encoding,
    completed,
    read_matrix,
    read_whole_number,
    write_matrix,
    write_whole_number,
)
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import COULOMB

if TYPE_CHECKING:
    from nonsmooth.solvers.solution import Solution

Kind = Literal["local", "global"]

_GROUPS: dict[Kind, str] = {"global": "fclib_global", "local": "fclib_local"}
_FIELDS = {"r": "impulses", "u": "velocities", "v": "generalised_velocity", "l": "joint_impulses"}
_ROLLING = ("fclib_global_rolling", "fclib_local_rolling")


@dataclass(frozen=True)
class FclibInfo:
    """Description of the problem in a file."""

    title: str = ""
    description: str = ""
    math_info: str = ""
    """Known properties: existence, uniqueness, …"""

    def __post_init__(self) -> None:
        for field in fields(self):
            if "\0" in getattr(self, field.name):
                raise OptionError(f"{field.name} holds a NUL character, which ends a string: remove it")


@dataclass(frozen=True)
class FclibState:
    """A stored solution or guess; None for data that the file does not hold."""

    impulses: Floats | None
    """r in N·s, contact by contact."""
    velocities: Floats | None
    """u in m/s, like `impulses`."""
    generalised_velocity: Floats | None = None
    """v in m/s and rad/s; global problems only."""
    joint_impulses: Floats | None = None
    """l in N·s or N·m·s, one per bilateral row."""

    @property
    def start(self) -> Floats | None:
        """Impulses of contacts and joint rows as a warm start; None if there are none."""
        if self.impulses is None:
            return None
        joints = np.zeros(0) if self.joint_impulses is None else self.joint_impulses
        return np.concatenate([self.impulses, joints])


@dataclass(frozen=True)
class FclibFile:
    """Contents of a file."""

    problem: ContactProblem
    kind: Kind
    info: FclibInfo
    guesses: tuple[FclibState, ...]
    solution: FclibState | None

    @property
    def start(self) -> Floats | None:
        """The warm start of the file: the solution or guess with the smallest residual.

        Many files hold a solution that was never computed. None if there is no complete, finite start.
        """
        found = [state.start for state in (self.solution, *self.guesses) if state is not None]
        starts = [
            start
            for start in found
            if start is not None and len(start) == self.problem.layout.rows and np.all(np.isfinite(start))
        ]
        return min(starts, key=self._residual, default=None)

    def _residual(self, start: Floats) -> float:
        problem, rows = self.problem, self.problem.layout.contact_rows
        impulses, joints = start[:rows], start[rows:]
        velocity = problem.velocity(impulses, joints) if problem.has_masses else None
        return certify(problem, impulses, joints, velocity).residual


# ---- reading ------------------------------------------------------------------------------------------


def is_fclib(root: Node) -> bool:
    """Return whether an open HDF5 file looks like an FCLib file."""
    return any(root.has(name) for name in (*_GROUPS.values(), *_ROLLING))


def read_fclib(path: FilePath, *, kind: Kind | None = None, complete_triangles: bool = False) -> FclibFile:
    """Read an FCLib file without changing any number.

    A file may hold a problem in both kinds: then `kind` selects one; the default is global.
    `complete_triangles` fills in the other half of M, W or R if only one triangle is stored.
    Raises `FileFormatError` if the file is not such a file, is damaged, or holds no valid problem, and
    `UnsupportedError` for problems with rolling friction.
    """
    if kind is not None:
        _check_kind(kind)
    with _reading(path) as root:
        found = _find_kind(root, kind)
        group = root.group(_GROUPS[found])
        read = _read_local if found == "local" else _read_global
        data = read(group, completed if complete_triangles else lambda matrix: matrix)
        info = _read_info(group)
        sizes = _sizes(data, found)
        guesses = _read_guesses(root, sizes)
        solution = _read_state(root.group("solution"), sizes) if root.has("solution") else None
    try:
        problem = ContactProblem(**data, allow_asymmetry=True)
    except NonsmoothError as error:
        raise FileFormatError(f"{path} holds no valid problem: {error}") from error
    return FclibFile(problem, found, info, guesses, solution)


@contextmanager
def _reading(path: FilePath) -> Iterator[Node]:
    root = open_hdf5(path, "FCLib")
    with suspicion(path), root.node:
        yield root


def _find_kind(root: Node, wanted: Kind | None) -> Kind:
    for name in _ROLLING:
        if root.has(name):
            raise UnsupportedError(
                f"{root.path} holds a problem with rolling friction ({name!r}), which is not supported: "
                "omit its rolling rows and store it as fclib_local or fclib_global"
            )
    present = [kind for kind, name in _GROUPS.items() if root.has(name)]
    if not present:
        raise FileFormatError(
            f"{root.path} is an HDF5 file, but not one of FCLib's: it has neither the group "
            "'fclib_local' nor 'fclib_global'"
        )
    if wanted is not None and wanted not in present:
        raise FileFormatError(f"{root.path} holds no {wanted} problem, but a {present[0]} one")
    return wanted or present[0]


def _read_local(group: Node, whole: Callable[[Any], Any]) -> dict[str, Any]:
    dimension, mu = _read_contacts(group)
    vectors = group.group("vectors")
    q = _read_vector(vectors, "q", dimension * len(mu))
    matrix = whole(read_matrix(group, "W", (len(q), len(q))))
    joints = 0
    if group.has("V") or group.has("R"):
        s = _read_vector(vectors, "s")
        joints = len(s)
        v = read_matrix(group, "V", (len(q), joints))
        r = whole(read_matrix(group, "R", (joints, joints)))
        q = np.concatenate([q, s])
        matrix = sp.block_array([[matrix, v], [v.T, r]], format="csc") if joints else matrix
    return {
        "delassus": matrix,
        "free_velocity": q,
        "joint_rows": joints,
        "friction": mu,
        "components": dimension,
    }


def _read_global(group: Node, whole: Callable[[Any], Any]) -> dict[str, Any]:
    dimension, mu = _read_contacts(group)
    vectors = group.group("vectors")
    f = _read_vector(vectors, "f")
    w = _read_vector(vectors, "w", dimension * len(mu))
    data = {
        "mass": whole(read_matrix(group, "M", (len(f), len(f)))),
        "jacobian": read_matrix(group, "H", (len(f), len(w))),
        "momentum": f,
        "bias": w,
        "friction": mu,
        "components": dimension,
    }
    if group.has("G"):
        b = _read_vector(vectors, "b")
        data |= {"joint_jacobian": read_matrix(group, "G", (len(f), len(b))), "joint_bias": b}
    return data


def _read_contacts(group: Node) -> tuple[int, Floats]:
    dimension = read_whole_number(group, "spacedim")
    if dimension not in (2, 3):
        raise FileFormatError(f"{group.path} has spacedim = {dimension}: it must be 2 or 3")
    return dimension, _read_vector(group.group("vectors"), "mu")


def _read_vector(node: Node, name: str, length: int | None = None) -> Floats:
    value: Floats = node.read(name)
    wanted = value.size if length is None else length
    if value.shape != (wanted,):
        raise FileFormatError(
            f"{node.path}: dataset {node.prefix + name!r} has the shape {value.shape}: "
            f"it must be one row of {wanted} numbers"
        )
    return value


def _read_info(group: Node) -> FclibInfo:
    if not group.has("info"):
        return FclibInfo()
    stored = group.group("info")
    names = [field.name for field in fields(FclibInfo) if stored.has(field.name)]
    return FclibInfo(**{name: _read_string(stored, name) for name in names})


def _read_string(node: Node, name: str) -> str:
    value = node.read_text(name)
    if not isinstance(value, bytes):
        raise FileFormatError(f"{node.path}: dataset {node.prefix + name!r} must be one string")
    text = value.split(b"\0")[0]
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")  # programs older than UTF-8


def _sizes(data: dict[str, Any], kind: Kind) -> dict[str, int]:
    """Lengths of the vectors r, u, v and l of a state; v and l are omitted if a problem has none."""
    rows = data["components"] * len(data["friction"])
    sizes = {"r": rows, "u": rows}
    if kind == "global":
        sizes["v"] = len(data["momentum"])
        joints = len(data.get("joint_bias", ()))
    else:
        joints = data["joint_rows"]
    if joints:
        sizes["l"] = joints
    return sizes


def _read_guesses(root: Node, sizes: dict[str, int]) -> tuple[FclibState, ...]:
    if not root.has("guesses"):
        return ()
    stored = root.group("guesses")
    count = read_whole_number(stored, "number_of_guesses")
    if count < 0:
        raise FileFormatError(f"{root.path} has number_of_guesses = {count}: it must not be negative")
    guesses, size = [], 0
    for k in range(count):
        guesses.append(_read_state(stored.group(str(k + 1)), sizes))
        size += sum(part.nbytes for part in vars(guesses[-1]).values() if part is not None)
        if size > root.file_size:  # links to the same numbers
            raise FileFormatError(
                f"{root.path} has number_of_guesses = {count}, which do not fit into "
                f"the {root.file_size} bytes of the file"
            )
    return tuple(guesses)


def _read_state(node: Node, sizes: dict[str, int]) -> FclibState:
    found = {
        _FIELDS[name]: _read_vector(node, name, size) if node.has(name) else None
        for name, size in sizes.items()
    }
    return FclibState(**found)


# ---- writing ------------------------------------------------------------------------------------------


def write_fclib(
    problem: ContactProblem,
    path: FilePath,
    *,
    kind: Kind | None = None,
    solution: Solution | ArrayLike | None = None,
    guesses: Sequence[ArrayLike] = (),
    info: FclibInfo | None = None,
    encoding: Encoding = "triplet",
) -> None:
    """Write a problem to an FCLib file atomically; an older file is replaced.

    Args:
        problem: its contacts must all have two components or all three, and its law must be Coulomb's.
        path: the file.
        kind: "global" (M, H, f, w) or "local" (W, q); by default global if masses are known.
            "local" of a problem with masses forms W.
        solution: a solution of this problem, to be stored with it, or its impulses as in `guesses`.
        guesses: impulses to start from, in N·s: contacts, then joint rows. Their velocities are computed.
        info: title, description and known properties.
        encoding: how matrices are stored: "triplet" (all programs read it), compressed "columns" or "rows".
    """
    check_encoding(encoding)
    if kind is None:
        kind = "global" if problem.has_masses else "local"
    _check_kind(kind)
    dimension = _check_writable(problem, kind)
    states = [_state_of(problem, kind, f"guess {k + 1}", guess) for k, guess in enumerate(guesses)]
    final = None
    if solution is not None:
        flat: Any = solution
        if hasattr(flat, "impulses"):
            flat = np.concatenate([flat.impulses, flat.joint_impulses])
        final = _state_of(problem, kind, "solution", flat)
    with new_file(path) as file:
        group = file.create_group(_GROUPS[kind])
        write_whole_number(group, "spacedim", dimension)
        matrices, vectors = _parts(problem, kind)
        for name, matrix in matrices.items():
            write_matrix(group, name, matrix, encoding)
        stored = group.create_group("vectors")
        for name, vector in vectors.items():
            stored.create_dataset(name, data=vector)
        _write_info(group.create_group("info"), info or FclibInfo())
        if states:
            node = file.create_group("guesses")
            write_whole_number(node, "number_of_guesses", len(states))
            for k, state in enumerate(states):
                _write_state(node.create_group(str(k + 1)), state)
        if final is not None:
            _write_state(file.create_group("solution"), final)


def _check_kind(kind: str) -> None:
    if kind not in _GROUPS:
        raise OptionError(f"kind is {kind!r}: it must be one of {', '.join(sorted(_GROUPS))}")


def _check_writable(problem: ContactProblem, kind: Kind) -> int:
    """The dimension of the contacts, 2 or 3; raises if FCLib cannot store this problem."""
    if kind == "global" and not problem.has_masses:
        raise UnsupportedError(
            "this problem was given by its Delassus matrix and has no masses: write it with kind='local'"
        )
    if problem.law != COULOMB:
        raise UnsupportedError(
            f"the law is {problem.law}, and FCLib files store Coulomb's: write problem.with_law('coulomb'), "
            "or keep the law with write_problem"
        )
    if np.isfinite(problem.joint_bounds).any():
        raise UnsupportedError(
            "joint rows have bounds, which FCLib files do not store: keep them with write_problem"
        )
    found = sorted({int(count) for count in problem.components}) or [3]
    if found not in ([2], [3]):
        raise UnsupportedError(
            f"contacts have {' and '.join(map(str, found))} components, and in an FCLib file all have 2, or "
            "all 3: give every contact its tangents (and friction 0 where it has none), or use write_problem"
        )
    return found[0]


def _parts(problem: ContactProblem, kind: Kind) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Matrices and vectors under FCLib's names."""
    rows, joints = problem.layout.contact_rows, problem.joint_rows
    if kind == "global":
        both = sp.csc_array(problem.row_matrix())
        matrices = {"M": problem.mass_matrix(), "H": both[:, :rows]}
        vectors = {"f": problem.momentum, "w": problem.bias, "mu": problem.friction}
        if joints:
            matrices["G"] = both[:, rows:]
            vectors["b"] = problem.joint_bias
        return matrices, vectors
    whole = sp.csc_array(problem.operator.matrix() if problem.has_masses else problem.delassus)
    matrices = {"W": whole[:rows, :rows]}
    vectors = {"q": problem.free_velocity, "mu": problem.friction}
    if joints:  # the block below W is not stored: it is Vᵀ
        if abs(whole[rows:, :rows] - whole[:rows, rows:].T).max() > 1e-12 * abs(whole).max():
            raise UnsupportedError(
                "rows and columns of joints differ, and FCLib stores only one of them: use write_problem"
            )
        matrices |= {"V": whole[:rows, rows:], "R": whole[rows:, rows:]}
        vectors["s"] = problem.joint_free_velocity
    return matrices, vectors


def _state_of(problem: ContactProblem, kind: Kind, name: str, impulses: ArrayLike) -> FclibState:
    """Impulses with the velocities that follow from them."""
    flat = np.asarray(impulses, dtype=float).ravel()
    rows = problem.layout.contact_rows
    if len(flat) != problem.layout.rows:
        raise ProblemError(
            f"{name} has {len(flat)} impulses, and this problem has {rows} contact components and "
            f"{problem.joint_rows} joint rows: give one each"
        )
    moved = problem.operator.apply(problem.layout.pad(flat)) + problem.free_blocks
    return FclibState(
        impulses=flat[:rows],
        velocities=problem.layout.unpad(moved)[:rows],
        generalised_velocity=problem.velocity(flat[:rows], flat[rows:]) if kind == "global" else None,
        joint_impulses=flat[rows:] if problem.joint_rows else None,
    )


def _write_state(group: Any, state: FclibState) -> None:
    for name, field in _FIELDS.items():
        value = getattr(state, field)
        if value is not None:
            group.create_dataset(name, data=value)


def _write_info(group: Any, info: FclibInfo) -> None:
    """Write strings that end with NUL, as the C library reads them."""
    import h5py

    timeless = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    timeless.set_obj_track_times(False)  # the same problem gives the same file at any time
    for field in fields(FclibInfo):
        encoded = getattr(info, field.name).encode() + b"\0"
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(len(encoded))
        kind.set_cset(h5py.h5t.CSET_UTF8)
        scalar = h5py.h5s.create(h5py.h5s.SCALAR)
        node = h5py.h5d.create(group.id, field.name.encode(), kind, scalar, timeless)
        node.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(encoded), mtype=kind)
