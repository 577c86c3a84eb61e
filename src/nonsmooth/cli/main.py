"""The `nonsmooth` command: lists, solves, runs scenes and experiments, and shows what is installed.

Exit status: 0 success, 1 a user error (one sentence on stderr), 2 a problem or a step that was not solved to
its tolerance, or joints that opened, 130 interrupted. Each command is a file of `commands/`, imported when
it is called or listed; heavy packages are imported inside the commands, so that help and error messages
appear at once.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

from nonsmooth.cli import commands
from nonsmooth.cli.errors import Commands
from nonsmooth.cli.parts import COMMANDS, Command, Group, examples
from nonsmooth.cli.terminal.console import OUT

FILES = {each.name.replace("_", "-"): each.name for each in iter_modules(commands.__path__)}
"""Command files by command name."""


@cache
def _registered(name: str) -> Command:
    """Import the file of a command."""
    import_module(f"{commands.__name__}.{FILES[name]}")
    return COMMANDS[name]


class _Files(Commands):
    """The commands, sorted by group and name."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the order of the help."""
        order = list(Group)
        return sorted(FILES, key=lambda name: (order.index(_registered(name).group), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        if cmd_name in FILES and cmd_name not in self.commands:
            found, one = _registered(cmd_name), typer.Typer()
            one.command(found.name, epilog=found.epilog, rich_help_panel=found.group.value)(found.function)
            self.commands[cmd_name] = typer.main.get_command_from_info(
                one.registered_commands[0], pretty_exceptions_short=False, rich_markup_mode="rich"
            )
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    cls=_Files,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the `nonsmooth` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without γ shows ? instead of failing
    app(prog_name="nonsmooth")


def _print_version(wanted: bool) -> None:
    if wanted:
        from nonsmooth import __version__

        OUT.print(f"nonsmooth {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=examples(
        ("nonsmooth list", "list scenes, solvers and problems"),
        ("nonsmooth run filling --record filling.h5", "run a scene"),
        ("nonsmooth solve sliding-ball", "solve a problem of the library"),
        ("nonsmooth solve failing.h5 --solver newton", "solve a stored problem"),
        ("nonsmooth compare sliding-ball --solvers auto,newton,apgd", "compare solvers"),
        ("nonsmooth experiment", "run the papers' experiments"),
    ),
)
def _root(
    context: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", metavar="", help="Show the traceback of an error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Show the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Rigid contact with exact Coulomb friction, and a certificate for every solution."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
