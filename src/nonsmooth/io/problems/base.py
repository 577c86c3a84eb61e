"""What every format of problem files defines; `formats` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nonsmooth._support.arrays import Floats
from nonsmooth.io._hdf5 import FilePath, Node
from nonsmooth.problem.contact_problem import ContactProblem


@dataclass(frozen=True)
class Contents:
    """What a problem file holds."""

    problem: ContactProblem
    kind: str
    """How the problem is stored: "local", "global", or a form of our own files."""
    words: Mapping[str, str]
    """What the file says of itself: title, description, …"""
    solution: Floats | None
    """Impulses of contacts, then of joint rows, in N·s and N·m·s; None if none are stored."""
    guesses: tuple[Floats, ...] = ()
    """Impulses to start from, in the same order."""


@dataclass(frozen=True)
class ProblemFormat:
    """A format of problem files."""

    name: str
    """As it is chosen on the command line."""
    title: str
    """For people."""
    suffix: str
    """Of the files' names; the content decides when a file is read."""
    recognises: Callable[[FilePath, Node | None], bool]
    """Tells whether a file seems to be one; its root is given if it is an HDF5 file."""
    read: Callable[[FilePath], ContactProblem]
    read_start: Callable[[FilePath], Floats]
    """Returns the impulses to start from; raises `FileFormatError` where there are none."""
    contents: Callable[[FilePath], Contents]
    write: Callable[[FilePath, Contents], tuple[str, ...]]
    """Writes all that the format can hold and returns what it cannot, in words. An empty kind is chosen from
    the problem. Raises `UnsupportedError` if the format cannot hold the problem itself."""
