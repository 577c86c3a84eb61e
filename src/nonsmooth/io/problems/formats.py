"""Problem files of all formats; the format of a file is found from its content."""

from __future__ import annotations

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import Registry
from nonsmooth.errors import FileFormatError
from nonsmooth.io._hdf5 import FilePath, check_readable, open_hdf5, suspicion
from nonsmooth.io.problems import fclib_format, native, siconos
from nonsmooth.io.problems.base import ProblemFormat
from nonsmooth.problem.contact_problem import ContactProblem

FORMATS: Registry[ProblemFormat] = Registry(
    "problem format", {each.name: each for each in (fclib_format.FORMAT, siconos.FORMAT, native.FORMAT)}
)
"""Every format by name, in the order in which they are tested for a file."""


def read_problem(path: FilePath) -> ContactProblem:
    """Read a problem that `write_problem` wrote, an FCLib file, or a text file of Siconos.

    Raises `FileFormatError` if the file is none of them, is damaged, or holds no valid problem.
    """
    return format_of(path).read(path)


def read_start(path: FilePath) -> Floats:
    """Read the impulses of a stored solution as a warm start: contacts, then joint rows, in N·s.

    An FCLib file may also hold guesses: the start with the smallest residual is returned.
    """
    return format_of(path).read_start(path)


def format_of(path: FilePath) -> ProblemFormat:
    """Return the format that a file seems to have; its reader reports errors in the file."""
    import h5py

    check_readable(path)
    if not h5py.is_hdf5(path):
        for each in FORMATS.values():
            if each.recognises(path, None):
                return each
        raise FileFormatError(
            f"{path} is not an HDF5 file and not a text file of Siconos: give a file that write_problem, "
            "FCLib or Siconos wrote"
        )
    root = open_hdf5(path, "write_problem or FCLib")
    with suspicion(path), root.node:
        return next((each for each in FORMATS.values() if each.recognises(path, root)), native.FORMAT)
