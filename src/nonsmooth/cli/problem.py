"""Problems by name: a file, or a problem of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth._support.registry import advice
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.io.problems.base import Contents
    from nonsmooth.problem import ContactProblem
    from nonsmooth.problem.library import NamedProblem


def find_problem(name: str) -> tuple[str, str, ContactProblem]:
    """Read a file, or build a problem of the library; return its name, its summary and the problem."""
    from nonsmooth.io import read_fclib, read_problem

    if Path(name).exists():
        return name, "", read_problem(name)
    built, shipped = _of_library(name)
    if built is not None:
        return name, built.summary, built.build()
    file = read_fclib(shipped)
    return name, file.info.title, file.problem


def problem_contents(name: str) -> tuple[str, Contents]:
    """Read a whole file, or build a problem of the library; return the title of the format and the data."""
    from nonsmooth.io.problems.base import Contents
    from nonsmooth.io.problems.formats import format_of

    path: str | Path = name
    if not Path(name).exists():
        built, path = _of_library(name)
        if built is not None:
            words = {"title": built.summary, "description": built.source}
            return "a problem of the library", Contents(built.build(), "", words, None)
    found = format_of(path)
    return found.title, found.contents(path)


def _of_library(name: str) -> tuple[NamedProblem | None, Path]:
    """Return a problem of the library, or the file of one that ships with the package."""
    from nonsmooth.problem.library import NAMED, shipped_problems

    shipped = shipped_problems()
    if name not in NAMED and name not in shipped and Path(name).suffix:
        raise OptionError(f"there is no file {name}: give a problem file, or a problem of the library")
    if name not in NAMED and name not in shipped:
        raise OptionError(
            f"{name!r} is neither a file nor a problem of the library: {advice(name, [*NAMED, *shipped])}"
        )
    return NAMED.get(name), shipped.get(name, Path())
