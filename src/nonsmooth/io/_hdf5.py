"""HDF5 files that are written atomically and validated when they are read.

Nothing in a file is executed, and no link is followed: a dataset must be plain numbers (or strings of fixed
length) inside the file, of a declared type, and no larger than the file itself can hold.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nonsmooth.errors import FileFormatError, UnsupportedError

FilePath = str | os.PathLike[str]

FLOATS = ("float64",)
INTEGERS = ("int64", "int32")

_LARGEST_RATIO = 1100
"""Largest expansion of a compressed chunk (deflate reaches 1032)."""

_RESERVE = 4_000_000
"""Bytes left free on a disk, so that open files can still be closed properly."""


class FileKind(NamedTuple):
    """A file format: the attribute `format`, its newest version, and names for messages."""

    format: str
    version: int
    name: str
    writer: str


# ---- writing ------------------------------------------------------------------------------------------


def write_text(node: Any, **attributes: str) -> None:
    """Write strings of fixed length: strings of variable length need a heap; a damaged one hangs readers."""
    for name, text in attributes.items():
        encoded = text.encode()
        node.attrs.create(name, encoded, dtype=text_type(len(encoded)))


def text_type(length: int) -> Any:
    """The type of UTF-8 strings of up to `length` bytes."""
    import h5py

    return h5py.string_dtype("utf-8", max(length, 1))


def write_header(file: Any, kind: FileKind) -> None:
    """Write format and version of the file."""
    file.attrs["version"] = kind.version
    write_text(file, format=kind.format)


@contextmanager
def new_file(
    path: FilePath,
    *,
    part: str | None = None,
    when_whole: Callable[[Path], None] | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Yield a new HDF5 file that replaces `path` on success, and is deleted otherwise.

    `part` is its temporary name in the same folder: a random one, unless the caller is the only writer and
    wants the next run to overwrite what a killed run left. `when_whole` is called with the file after it was
    written and closed, just before it is renamed.
    """
    import h5py

    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    scratch = target.with_name(part or f".{secrets.token_hex(8)}.part")
    with writing(path):
        if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
            what = "a folder" if target.is_dir() else "not a writable file"
            raise OSError(f"it is {what}; give another name")
        scratch.touch(exist_ok=part is not None)
        try:
            with h5py.File(scratch, "w", **options) as file:
                yield file
            sync(scratch)
            if when_whole is not None:
                when_whole(scratch)
            os.replace(scratch, target)
            _sync_folder(target.parent)
        finally:
            scratch.unlink(missing_ok=True)


@contextmanager
def writing(path: FilePath) -> Iterator[None]:
    """Convert errors while writing into one sentence that names the path."""
    try:
        yield
    except OSError as error:
        folder = Path(os.path.realpath(path)).parent
        if folder.is_dir():
            cause: Any = os.strerror(error.errno) if error.errno else error.strerror or error
        else:
            cause = f"there is no folder {folder}"
        raise type(error)(f"cannot write {path}: {cause}") from error


def sync(path: FilePath) -> None:
    """Wait until a file is written to the disk."""
    with open(path, "rb+") as written:
        os.fsync(written.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # on other systems a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_room(path: FilePath, size: int) -> None:
    """Raise if the disk has no room for `size` bytes: a full disk leaves HDF5 in an invalid state."""
    if shutil.disk_usage(Path(os.path.realpath(path)).parent).free < size + _RESERVE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# ---- reading ------------------------------------------------------------------------------------------


@contextmanager
def reading(path: FilePath, kind: FileKind, *, growing: bool = False) -> Iterator[Node]:
    """Open a file with a valid header; errors of the HDF5 library mean a damaged file."""
    root = open_file(path, kind, growing=growing)
    with suspicion(path), root.node:
        yield root


def open_file(path: FilePath, kind: FileKind, *, growing: bool = False) -> Node:
    """Open a file with a valid header; the caller closes `node`.

    Set `growing` if the file may still be written, or was when its writer was killed.
    """
    root = open_hdf5(path, kind.writer, growing=growing)
    try:
        with suspicion(path):
            _check_header(root, kind)
    except BaseException:
        root.node.close()
        raise
    return root


def open_hdf5(path: FilePath, writer: str, *, growing: bool = False) -> Node:
    """Open any HDF5 file; the caller closes `node`. `writer` names the writer of such files in messages."""
    import h5py

    check_readable(path)
    if not h5py.is_hdf5(path):
        raise FileFormatError(f"{path} is not an HDF5 file: give a file that {writer} wrote")
    with suspicion(path):
        file = _open_growing(path) if growing else h5py.File(path, "r")
        return Node(file, path, os.path.getsize(path), "")


def check_readable(path: FilePath) -> None:
    """Raise the system's error, with the path, if there is no readable regular file."""
    try:
        if not os.path.isfile(path):
            os.stat(path)
            raise OSError("it is a folder" if os.path.isdir(path) else "it is not a regular file")
        with open(path, "rb"):
            pass
    except OSError as error:
        raise type(error)(f"cannot read {path}: {error.strerror or error}") from error


def _open_growing(path: FilePath) -> Any:
    """Open like `h5py.File(path, "r", swmr=True)`, but with a limited wait at damaged data.

    Such a reader retries when a checksum is wrong, because the writer may be active: 100 times, with waits
    that double, beginning with 1 ns. This one stops after 20 retries, which take a millisecond.
    """
    import h5py
    from h5py._objects import phil

    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    # h5py does not expose this function of the library that it is linked with.
    set_attempts = getattr(ctypes.CDLL(h5py.h5p.__file__), "H5Pset_metadata_read_attempts", None)
    if set_attempts is not None:
        with phil:
            set_attempts(ctypes.c_int64(access.id), ctypes.c_uint(20))
    name = os.fsencode(os.path.abspath(path))
    return h5py.File(h5py.h5f.open(name, h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, fapl=access))


@contextmanager
def suspicion(path: FilePath) -> Iterator[None]:
    """Convert errors of the HDF5 library into the message that the file is damaged."""
    try:
        yield
    except (FileFormatError, UnsupportedError):
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError) as error:
        cause = " ".join(str(error).split())
        raise FileFormatError(f"{path} is damaged and cannot be read: {cause}") from error


def _check_header(root: Node, kind: FileKind) -> None:
    found = root.text("format") if "format" in root.node.attrs else None
    if found != kind.format:
        raise FileFormatError(
            f"{root.path} is an HDF5 file, but not a {kind.name} file: "
            f"its attribute 'format' is {found!r} and should be {kind.format!r}"
        )
    version = root.integers("version", ())
    if version > kind.version:
        raise FileFormatError(
            f"{root.path} has version {version} of the {kind.name} format, newer than the version "
            f"{kind.version} that this program reads: pip install --upgrade nonsmooth"
        )
    if version < 1:
        raise FileFormatError(
            f"{root.path} has version {version} of the {kind.name} format: versions start at 1"
        )


class Node:
    """The file or a group in it, validated when it is read."""

    def __init__(self, node: Any, path: FilePath, file_size: int, prefix: str) -> None:
        self.node = node
        self.path = path
        self.file_size = file_size
        self.prefix = prefix

    def has(self, name: str) -> bool:
        """Return whether there is a group or dataset of this name."""
        return self.node.get(name, getlink=True) is not None

    def is_group(self, name: str) -> bool:
        """Return whether there is a group of this name."""
        import h5py

        return isinstance(self._own(name), h5py.Group)

    def text(self, name: str) -> str:
        """An attribute that must be a string of fixed length."""
        return str(self._attribute(name, (), "S", "a string of fixed length").decode())

    def integers(self, name: str, shape: tuple[int, ...]) -> Any:
        """An attribute that must be whole numbers of this shape."""
        return self._attribute(name, shape, "i", f"whole numbers of shape {shape}")

    def number(self, name: str) -> float | int:
        """An attribute that must be one number of 64 bits, integer or float."""
        kind = self.node.attrs.get_id(name).dtype.name if name in self.node.attrs else "float64"
        whole = kind == "int64"
        value = self._attribute(name, (), "i" if whole else "f", "a number of 64 bits")
        return int(value) if whole else float(value)

    def _attribute(self, name: str, shape: tuple[int, ...], kind: str, meaning: str) -> Any:
        """An attribute's value, read only if its declared type and shape are valid."""
        if name not in self.node.attrs:
            raise FileFormatError(f"{self.path}: attribute {self.prefix + name!r} is missing")
        declared = self.node.attrs.get_id(name)
        if declared.dtype.kind != kind or declared.shape != shape:
            raise FileFormatError(f"{self.path}: attribute {self.prefix + name!r} must be {meaning}")
        return self.node.attrs[name]

    def group(self, name: str) -> Node:
        """A group in this one."""
        if not self.is_group(name):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is not a group")
        return Node(self._own(name), self.path, self.file_size, f"{self.prefix}{name}/")

    def read(self, name: str, types: tuple[str, ...] = FLOATS) -> Any:
        """A dataset as an array."""
        found = self.dataset(name, types)
        if not found.shape:  # a scalar, or an empty dataset
            raise FileFormatError(f"{self._place(name)} is not an array")
        self.check_size(name, found)
        return found[()].astype(found.dtype.newbyteorder("="))

    def read_text(self, name: str) -> Any:
        """A dataset of strings of fixed length as an array of bytes, or one string as bytes."""
        found = self.dataset(name, ("bytes",))
        self.check_size(name, found)
        return found[()]

    def dataset(self, name: str, types: tuple[str, ...]) -> Any:
        """A dataset whose numbers are in this file and have one of these types."""
        import h5py

        found = self._own(name)
        if not isinstance(found, h5py.Dataset):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is not a dataset")
        type_name = "bytes" if found.dtype.kind == "S" else found.dtype.newbyteorder("=").name
        if type_name not in types:
            raise FileFormatError(
                f"{self._place(name)} has the type {found.dtype}: it must be {' or '.join(types)}"
            )
        if found.external is not None or found.is_virtual:
            raise FileFormatError(
                f"{self._place(name)} stores its numbers in another file: store the data in this file"
            )
        return found

    def _own(self, name: str) -> Any:
        """The object of a name in this file; links are not followed."""
        import h5py

        if not self.has(name):
            raise FileFormatError(f"{self._place(name)} is missing")
        if not isinstance(self.node.get(name, getlink=True), h5py.HardLink):
            raise FileFormatError(f"{self.path}: {self.prefix + name!r} is a link: store the data instead")
        return self.node[name]

    def _place(self, name: str) -> str:
        return f"{self.path}: dataset {self.prefix + name!r}"

    def check_size(self, name: str, dataset: Any, *, compressed: bool = False) -> None:
        """Raise if the dataset, or one of its chunks, is larger than the file can hold."""
        most = self.file_size * (_LARGEST_RATIO if compressed else 1)
        for what, shape in (("shape", dataset.shape), ("chunks", dataset.chunks or ())):
            if shape is None or math.prod(shape) * dataset.dtype.itemsize > most:
                raise FileFormatError(
                    f"{self._place(name)} declares the {what} {shape}, which does not fit into the "
                    f"{self.file_size} bytes of the file: it is damaged or compressed"
                )
