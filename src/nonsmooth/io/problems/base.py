"""Interface of the formats of problem files; `formats` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nonsmooth._support.arrays import Floats
from nonsmooth.io._hdf5 import FilePath, Node
from nonsmooth.problem.contact_problem import ContactProblem


@dataclass(frozen=True)
class Contents:
    """Contents of a problem file."""

    problem: ContactProblem
    kind: str
    """Form of the stored problem: "local", "global", or a form of the own format."""
    words: Mapping[str, str]
    """Metadata of the file: title, description, …"""
    solution: Floats | None
    """Impulses of contacts, then of joint rows, in N·s and N·m·s; None if none are stored."""
    guesses: tuple[Floats, ...] = ()
    """Impulses to start from, in the same order."""


@dataclass(frozen=True)
class ProblemFormat:
    """A format of problem files."""

    name: str
    """Name on the command line."""
    title: str
    """Name in messages."""
    suffix: str
    """Ending of file names; when a file is read, its content decides."""
    recognises: Callable[[FilePath, Node | None], bool]
    """Returns whether a file seems to have this format; its root is given if it is an HDF5 file."""
    read: Callable[[FilePath], ContactProblem]
    read_start: Callable[[FilePath], Floats]
    """Returns the impulses to start from; raises `FileFormatError` if there are none."""
    contents: Callable[[FilePath], Contents]
    write: Callable[[FilePath, Contents], tuple[str, ...]]
    """Writes all data that the format can store and returns names of the rest. An empty kind is chosen from
    the problem. Raises `UnsupportedError` if the format cannot store the problem."""
