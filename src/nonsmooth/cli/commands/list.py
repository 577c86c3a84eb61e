"""The command `nonsmooth list`: names of scenes, experiments, solvers and problems."""

from __future__ import annotations

from typing import Annotated

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import Group, command
from nonsmooth.cli.terminal.lists import (
    list_complementarity,
    list_experiments,
    list_problems,
    list_scenes,
    list_solvers,
)
from nonsmooth.errors import OptionError

_SECTIONS = {
    "scenes": list_scenes,
    "experiments": list_experiments,
    "solvers": list_solvers,
    "problems": list_problems,
    "complementarity": list_complementarity,
}


@command(
    Group.ABOUT,
    ("nonsmooth list", "everything"),
    ("nonsmooth list solvers", "solvers and the problems they support"),
    ("nonsmooth list problems", "the problems of the library"),
)
def list_names(
    section: Annotated[
        str | None,
        typer.Argument(metavar="SECTION", help=f"One of {', '.join(_SECTIONS)}; all if omitted."),
    ] = None,
) -> None:
    """List scenes, experiments, solvers and problems."""
    if section is not None and section not in _SECTIONS:
        raise OptionError(f"there is no section {section!r} to list: {advice(section, list(_SECTIONS))}")
    for name, show in _SECTIONS.items():
        if section in (None, name):
            show()
