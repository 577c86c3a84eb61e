"""A problem by the word that a user gives: a file, or a problem of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth._support.registry import advice
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.problem import ContactProblem


def find_problem(name: str) -> tuple[str, str, ContactProblem]:
    """Read a file, or build a problem of the library; return its name, its summary and itself."""
    from nonsmooth.io import read_fclib, read_problem
    from nonsmooth.problem.library import NAMED, shipped_problems

    if Path(name).exists():
        return name, "", read_problem(name)
    if name in NAMED:
        return name, NAMED[name].summary, NAMED[name].build()
    shipped = shipped_problems()
    if name in shipped:
        file = read_fclib(shipped[name])
        return name, file.info.title, file.problem
    raise OptionError(
        f"{name!r} is neither a file nor a problem of the library: {advice(name, [*NAMED, *shipped])}"
    )
