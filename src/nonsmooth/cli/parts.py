"""Shared by the commands: registration, number parsers, common options, notices, checks of file names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from nonsmooth.cli.terminal.console import ERR
from nonsmooth.errors import OptionError

Function = TypeVar("Function", bound=Callable[..., None])


class Group(StrEnum):
    """Headings of the help, in order."""

    RUNS = "Simulations"
    RECORDINGS = "Recordings"
    PROBLEMS = "Contact and complementarity problems"
    PAPERS = "Experiments"
    ABOUT = "Information"


@dataclass(frozen=True)
class Command:
    """A command, which takes its arguments and its help from a function."""

    name: str
    function: Callable[..., None]
    group: Group
    epilog: str
    """Text below the help."""


COMMANDS: dict[str, Command] = {}
"""The commands imported so far, by name."""


def command(group: Group, *lines: tuple[str, str]) -> Callable[[Function], Function]:
    """Register a function as the command named after its file; `lines` are examples for its help."""

    def register(function: Function) -> Function:
        name = function.__module__.rpartition(".")[2].replace("_", "-")
        COMMANDS[name] = Command(name, function, group, examples(*lines))
        return function

    return register


def examples(*lines: tuple[str, str]) -> str:
    """Text below a command's help: command lines with explanations."""
    return "\n\n".join(
        ["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]  [dim]{what}[/dim]" for line, what in lines)]
    )


def number(text: str, kind: type = float) -> Any:
    """Read a number of the command line."""
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a {'whole ' * (kind is int)}number") from None


def whole_number(text: str) -> Any:
    """Read a whole number of the command line."""
    return number(text, int)


def option(
    names: str, metavar: str, text: str, *, default: str = "", parser: Any = None, show_default: bool = True
) -> Any:
    """Describe an option; `default` is shown if the default value of the argument does not say it."""
    shown = f"{text}  [dim]\\[{default}][/dim]" if default else text
    return typer.Option(*names.split(), metavar=metavar, help=shown, parser=parser, show_default=show_default)


def switch(name: str, text: str) -> Any:
    """Describe an option without a value."""
    return typer.Option(name, metavar="", help=text)


# ---- options that commands share --------------------------------------------------------------------

ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM", help="A problem file (HDF5, Siconos text), or the name of a library problem."
    ),
]
Method = Annotated[
    str,
    option("--solver", "NAME", "Solver; see [cyan]nonsmooth list solvers[/cyan]."),
]
MethodOptions = Annotated[
    list[str] | None,
    option("--option", "KEY=VALUE", "Set an option of the solver; may be repeated."),
]
OtherLaw = Annotated[
    str | None,
    option("--law", "LAW", "Friction law in place of the problem's: coulomb, relaxed or pyramid(8)."),
]
WantedResidual = Annotated[
    float, option("--tolerance", "NUMBER", "Tolerance on the relative residual.", parser=number)
]
IterationLimit = Annotated[
    int | None,
    option("--max-iterations", "COUNT", "Largest number of iterations.", parser=whole_number),
]
TimeLimit = Annotated[
    float,
    option("--time-limit", "SECONDS", "Time limit of a solver.", parser=number, show_default=False),
]
AsJson = Annotated[bool, switch("--json", "Print the result as JSON.")]


@contextmanager
def compile_notice() -> Iterator[None]:
    """Print a notice on stderr while kernels are compiled."""
    from nonsmooth._support.kernel_cache import watch_compilation

    with watch_compilation(lambda text: ERR.print(text, style="dim")):
        yield


def check_folder(folder: Path) -> None:
    """Reject an --output that is a file and must be a folder."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"--output {folder} is a file: name a folder")


def check_picture(flag: str, path: Path | None) -> None:
    """Check before any work that a figure can be written to `path`, in a supported format."""
    from nonsmooth.cli.terminal.plots import FORMATS

    check_target(path)
    if path is not None and path.suffix.lower() not in FORMATS:
        raise OptionError(f"{flag} {path}: the name must end in one of {', '.join(FORMATS)}")


def check_target(path: Path | None) -> None:
    """Check before a long run that its output folder exists and is writable."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise OptionError(f"cannot write {path}: permission denied; choose another folder")
