"""How the `nonsmooth` command reports errors and Ctrl-C: one sentence on stderr and an exit status."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from nonsmooth._support.registry import advice
from nonsmooth.cli.terminal.console import ERR
from nonsmooth.cli.wording import in_flags
from nonsmooth.errors import CompilationWarning, GeometryWarning, NonsmoothError, OptionError

# Typer bundles a private copy of click: this is the base class of its parser errors.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """The group of all commands: a user error ends in one sentence on stderr and exit status 1."""

    flags: tuple[str, ...] = ()
    """Flags of the command that runs."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command line and exit."""
        given = args[0] if args else settings.pop("args", None)
        words = list(sys.argv[1:] if given is None else given)
        debug = "--debug" in words
        # The flag may stand anywhere; the parser accepts it only before the command's name.
        words = ["--debug"] * debug + [word for word in words if word != "--debug"]
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                code = super().main(words, *args[1:], **{**settings, "standalone_mode": False})
        except (NonsmoothError, OSError, _UsageError) as error:
            if debug:
                traceback.print_exception(error)
            ERR.print(Text("Error:", "bold red"), _sentence(error, self.flags), soft_wrap=True)
            code = 1
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the named command; Ctrl-C ends it in one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ERR.print("Interrupted.")
            raise typer.Exit(130) from None

    def get_help_option(self, ctx: Any) -> Any:
        """Return the flag --help of the command without a name."""
        return _without_type(super().get_help_option(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; its help omits the type of --help."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_type(command.get_help_option(ctx))
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the named command."""
        found = self.get_command(ctx, args[0])
        if found is None:
            raise OptionError(f"there is no command {args[0]!r}: {advice(args[0], self.list_commands(ctx))}")
        self.flags = tuple(name for param in found.params for name in param.opts)
        return super().resolve_command(ctx, args)


_show_any = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
    """Show a warning about geometry or compiled kernels as one sentence, without a source line."""
    if issubclass(category, GeometryWarning | CompilationWarning):
        ERR.print(Text("Note:", "bold"), str(message), soft_wrap=True)
    else:
        _show_any(message, category, *place, **more)


def _without_type(flag: Any) -> Any:
    """Remove the type of the --help flag from the help, if there is one."""
    if flag is not None:
        flag.metavar = ""
    return flag


def _sentence(error: Exception, flags: tuple[str, ...]) -> str:
    """One sentence for the user about an error."""
    if isinstance(error, _UsageError):
        context: Any = getattr(error, "ctx", None)
        option: str | None = getattr(error, "option_name", None)
        text = error.format_message()  # type: ignore[attr-defined]
        if context is not None and text.startswith("No such option"):
            valid = [name for param in context.command.params for name in param.opts if name.startswith("--")]
            text = f"{context.command_path} has no option {option}: {advice(str(option), [*valid, '--help'])}"
        elif context is not None:
            text = f"{text.rstrip('.')}; see {context.command_path} --help"
    elif isinstance(error, OSError) and error.filename and error.strerror:
        text = f"cannot use {error.filename}: {error.strerror}"
    else:
        text = in_flags(" ".join(str(error).split()), flags)
    return " ".join(text.split())
