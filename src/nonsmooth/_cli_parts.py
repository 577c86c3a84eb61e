"""What the commands share: examples below the help, numbers as arguments, notices, checks of file names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from nonsmooth.errors import OptionError
from nonsmooth.view.console import ERR


def examples(*lines: tuple[str, str]) -> str:
    """Text below a command's help: command lines, each with what it does."""
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


@contextmanager
def compile_notice() -> Iterator[None]:
    """Say on stderr when kernels are being compiled."""
    from nonsmooth._kernel_cache import watch_compilation

    with watch_compilation(lambda text: ERR.print(text, style="dim")):
        yield


def check_target(path: Path | None) -> None:
    """Find out before a long run whether its file has a folder to go to."""
    if path is not None and not path.absolute().parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")
