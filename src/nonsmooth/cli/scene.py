"""Shared by the commands that run a scene: options, scenes by name, the progress bar and Ctrl-C."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import number, whole_number
from nonsmooth.cli.terminal.console import ERR, progress_bar
from nonsmooth.errors import ContactWarning, OptionError, ToleranceWarning

if TYPE_CHECKING:
    from nonsmooth.model import System
    from nonsmooth.stepping import Run
    from nonsmooth.view.web.viewer import LiveView

DEFAULTS = {"duration": 1.0, "step": 0.005}
"""Defaults in s, if neither the command line nor the scene gives a value."""

# ---- options ----------------------------------------------------------------------------------------

SceneName = Annotated[
    str, typer.Argument(metavar="SCENE", help="A scene file (TOML), or the name of a ready-made scene.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set a parameter of a ready-made scene; may be repeated."
    ),
]
Duration = Annotated[
    float | None,
    typer.Option(
        "--duration", metavar="SECONDS", parser=number, help="Simulated time.  [dim]\\[scene's, or 1][/dim]"
    ),
]
Step = Annotated[
    float | None,
    typer.Option(
        "--step", metavar="SECONDS", parser=number, help="Time step.  [dim]\\[scene's, or 0.005][/dim]"
    ),
]
SolverName = Annotated[
    str | None,
    typer.Option(
        "--solver",
        metavar="NAME",
        help="Solver; see [cyan]nonsmooth list solvers[/cyan].  [dim]\\[scene's, or auto][/dim]",
    ),
]
SolverOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="Set an option of the solver; may be repeated."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="NUMBER",
        parser=number,
        help="Tolerance on the relative residual of every step.  [dim]\\[scene's, or 1e-4][/dim]",
    ),
]
MaxIterations = Annotated[
    int | None,
    typer.Option(
        "--max-iterations",
        metavar="COUNT",
        parser=whole_number,
        help="Largest number of iterations in a step.",
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME",
        help="Integration scheme: stabilised, projected, rattle or ballistic.  "
        "[dim]\\[scene's, or stabilised][/dim]",
    ),
]
ContactCheck = Annotated[
    str | None,
    typer.Option(
        "--contact-check",
        metavar="WHICH",
        help="Contacts to check: all, sampled or none.  [dim]\\[scene's, or sampled][/dim]",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="COUNT",
        parser=whole_number,
        help="Solver threads; results are bitwise identical for any number.  [dim]\\[scene's, or 1][/dim]",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", metavar="", help="Suppress the progress bar and the table.")]


# ---- the scene --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundScene:
    """A scene of the command line."""

    summary: str
    """One-line summary; empty for a file."""
    system: System
    settings: dict[str, Any]
    """Settings of the run given by the scene."""
    parameters: dict[str, Any]
    """All parameters of a ready-made scene, defaults included; none for a file."""

    def with_settings(self, **given: Any) -> dict[str, Any]:
        """Arguments of `simulate`: those `given` and not None, else the scene's, else the defaults."""
        said = {key: value for key, value in given.items() if value is not None}
        return {**DEFAULTS, **self.settings, **said}


def find_scene(name: str, parameters: list[str]) -> FoundScene:
    """Read a scene file, or build a ready-made scene with parameters given as key=value."""
    import inspect
    import typing

    from nonsmooth.cli.solver import values_of
    from nonsmooth.io import read_scene
    from nonsmooth.scenes import SCENES
    from nonsmooth.stepping import assemble

    path = Path(name)
    if path.is_file() or (path.exists() and name not in SCENES):
        if parameters:
            raise OptionError(f"--set {parameters[0]}: {name} is a file: set its values in the file")
        scene = read_scene(name)
        system = assemble(scene.system) if scene.assemble else scene.system
        return FoundScene("", system, scene.settings, {})
    if name not in SCENES and path.suffix:
        raise OptionError(f"there is no file {name}: give a scene in TOML, or the name of a ready-made scene")
    if name not in SCENES:
        raise OptionError(f"{name!r} is neither a file nor a ready-made scene: {advice(name, list(SCENES))}")
    build = SCENES[name].build
    hints, known = typing.get_type_hints(build), inspect.signature(build).parameters
    valid = {key: hints[key] for key in known}
    given = values_of("--set", f"scene {name} has no parameter", parameters, valid)
    values = {key: given.get(key, known[key].default) for key in known}
    return FoundScene(SCENES[name].summary, build(**values), dict(SCENES[name].settings), values)


# ---- running it -------------------------------------------------------------------------------------


def simulate_scene(
    name: str,
    system: System,
    settings: dict[str, Any],
    options: list[str],
    *,
    kept: Callable[[], str],
    go_on: Callable[[], str] = str,
    last: Callable[[int], int] | None = None,
    quiet: bool = False,
    page: LiveView | None = None,
    **more: Any,
) -> Run:
    """Run a scene with a progress bar; Ctrl-C and a failed step end the command with a message.

    Args:
        name: shown beside the bar.
        system: the system to simulate.
        settings: arguments of `simulate`, the solver by its name.
        options: options of the solver, as key=value.
        kept: returns a text on the results of an interrupted run.
        go_on: returns a text on how to continue after Ctrl-C.
        last: returns from the steps done the last one needed, if the run may end early.
        quiet: suppress the bar.
        page: shows the run, and may pause and stop it.
        more: further arguments of `simulate`.
    """
    from nonsmooth.cli.solver import solver_with
    from nonsmooth.solvers import SolveError
    from nonsmooth.stepping import simulate

    solver = solver_with(settings.pop("solver", "auto"), options)
    bar = progress_bar(name, quiet)
    recorded, to_tell = more.get("record") is not None, more.get("resume", False) and not quiet
    reached = (0, 0)

    def progress(done: int, total: int, what: str) -> None:
        nonlocal reached, to_tell
        if to_tell:
            to_tell = False
            _tell_beginning(str(more["record"].path), done, total, settings["step"])
        total = total if last is None else min(total, last(done))
        reached = done, total
        move(done, total, what)
        if page is not None:
            page.hold(wants_stop)
        if wants_stop() and done < total:
            raise KeyboardInterrupt

    try:
        with warnings.catch_warnings(), _ctrl_c_waits() as wants_stop, bar as move:
            warnings.simplefilter("ignore", ToleranceWarning)  # shown in the table and by the exit status
            warnings.simplefilter("ignore", ContactWarning)
            if page is None:
                return simulate(system, solver=solver, progress=progress, **settings, **more)
            page.hold(wants_stop)
            if wants_stop():
                raise KeyboardInterrupt
            more |= {"observe": page.observe, "until": lambda _: page.stop_asked}
            run = simulate(system, solver=solver, progress=progress, **settings, **more)
            page.finish()
            return run
    except KeyboardInterrupt:
        done, total = reached
        where = f"after {done} of {total} steps" if total else "before the first step"
        ERR.print(f"Interrupted {where}: {kept()}{go_on()}.", soft_wrap=True)
        raise typer.Exit(130) from None
    except SolveError as error:
        residual, status = error.solution.certificate.residual, error.solution.status
        what = f"step {reached[0] + 1} ended as '{status}' at a residual of {residual:.1e}: {kept()}"
        flags = "--resume --no-throw" if recorded else "--no-throw"
        cure = f"continue with {flags}, or try another --solver"
        ERR.print(Text("Error:", "bold red"), f"{what}; {cure}", soft_wrap=True)
        raise typer.Exit(2) from None


def _tell_beginning(file: str, done: int, total: int, step: float) -> None:
    """Print the step from which a recorded run continues."""
    place = f"step {done}, t = {done * step:.6g} s"
    goes_on = f"continues from {place}"
    if done == total:
        goes_on = f"has already reached {place}: give a longer --duration to continue"
    ERR.print(f"{file} {goes_on}", soft_wrap=True)


@contextmanager
def _ctrl_c_waits() -> Iterator[Callable[[], bool]]:
    """Delay the first Ctrl-C to the end of a step; yield a function that returns whether there was one.

    A second one interrupts at once.
    """
    before = signal.getsignal(signal.SIGINT)
    pressed = False

    def press(number: int, frame: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
