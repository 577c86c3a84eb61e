"""The commands `nonsmooth run` and `nonsmooth inspect`: move a scene through time, look at a recording."""

from __future__ import annotations

import json
import math
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from nonsmooth._cli_errors import advice
from nonsmooth._cli_parts import check_target, compile_notice, examples, number, whole_number
from nonsmooth.errors import OptionError, ToleranceWarning
from nonsmooth.view.console import ERR, OUT, progress_bar

if TYPE_CHECKING:
    from nonsmooth.integrators import Run
    from nonsmooth.io import Recording, Scene

Progress = Callable[[int, int, str], None]

_DEFAULTS = {"duration": 1.0, "step": 0.005}
"""In s, where neither the command line nor the scene says anything."""
_CHECKPOINT_SECONDS = 5.0
"""Wall time between checkpoints: an interrupted run repeats no more than this."""

RUN_EXAMPLES = examples(
    ("nonsmooth run filling --set spheres=100", "a ready-made scene"),
    ("nonsmooth run box-stack --duration 0.5 --step 0.01", "other times"),
    ("nonsmooth run filling --set spheres=50 --record f.h5", "keep it"),
    ("nonsmooth run filling --set spheres=50 --record f.h5 --resume", "go on"),
    ("nonsmooth run rolling-ball --law relaxed --json", "for other programs"),
    ("nonsmooth run my_scene.toml --threads 2", "a scene file"),
)
INSPECT_EXAMPLES = examples(("nonsmooth inspect f.h5", "also while the run goes on"))


# ---- run --------------------------------------------------------------------------------------------


def run(
    scene: Annotated[
        str, typer.Argument(metavar="SCENE", help="A scene file (TOML), or the name of a ready-made scene.")
    ],
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter of a ready-made scene; repeatable."),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="SECONDS",
            parser=number,
            help="Simulated time.  [dim]\\[scene's, or 1][/dim]",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            "--step", metavar="SECONDS", parser=number, help="Time step.  [dim]\\[scene's, or 0.005][/dim]"
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law", metavar="LAW", help="coulomb, relaxed or pyramid(8).  [dim]\\[scene's, or coulomb][/dim]"
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="See [cyan]nonsmooth list solvers[/cyan].  [dim]\\[scene's, or auto][/dim]",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Set an option of the solver; repeatable."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="NUMBER",
            parser=number,
            help="Relative residual wanted in every step.  [dim]\\[scene's, or 1e-4][/dim]",
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations", metavar="COUNT", parser=whole_number, help="Iteration limit of a step."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            metavar="COUNT",
            parser=whole_number,
            help="For the solver; the result has the same bits.  [dim]\\[scene's, or 1][/dim]",
        ),
    ] = None,
    on_failure: Annotated[
        str | None,
        typer.Option(
            "--on-failure",
            metavar="WHAT",
            help="A step that misses its tolerance: count it, or raise to stop.  [dim]\\[count][/dim]",
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Record the run (HDF5).")
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            "--every", metavar="STEPS", parser=whole_number, help="Record a frame each so many steps."
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", metavar="SECONDS", parser=number, help="Record a frame each so much simulated time."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on from the recording's last checkpoint.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", metavar="", help="Show no bar and no table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print a summary as JSON.")] = False,
) -> None:
    """Move a scene through time and print the certificate of the run.

    Exit code 0 if every step reached its tolerance, 2 if not.
    Ctrl-C stops after the present step: a recording is kept, --resume goes on.
    """
    from nonsmooth.view.as_json import run_as_json
    from nonsmooth.view.run_tables import run_report

    recording = _recording(record, every, interval, resume)
    with compile_notice():
        summary, found = _find_scene(scene, parameters or [])
        given = {
            "duration": duration, "step": step, "law": law, "solver": solver, "tolerance": tolerance,
            "max_iterations": max_iterations, "threads": threads, "on_failure": on_failure,
        }  # fmt: skip
        said = {key: value for key, value in given.items() if value is not None}
        settings = {**_DEFAULTS, **found.settings, **said}
        result = _simulate(scene, found, settings, option or [], recording, resume, quiet)
    if as_json:
        answer = run_as_json(scene, result)
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))
    elif not quiet:
        OUT.print(Text.assemble((scene, "bold"), f": {summary}" if summary else ""), soft_wrap=True)
        OUT.print(run_report(result))
        if record is not None:
            OUT.print(f"\nRecorded in {record}", soft_wrap=True)
    if result.certificate.failed:
        raise typer.Exit(2)


def _simulate(
    name: str,
    scene: Scene,
    settings: dict[str, Any],
    options: list[str],
    recording: Recording | None,
    resume: bool,
    quiet: bool,
) -> Run:
    """Run it with a bar; Ctrl-C and a step that failed end the command with a sentence."""
    from nonsmooth._cli_solver import solver_with
    from nonsmooth.integrators import simulate
    from nonsmooth.solvers import SolveError

    solver = solver_with(settings.pop("solver", "auto"), options)
    bar = nullcontext(_no_bar) if quiet else progress_bar(name)
    reached = (0, 0)

    def progress(done: int, total: int, what: str) -> None:
        nonlocal reached
        reached = done, total
        move(done, total, what)
        if wants_stop() and done < total:
            raise KeyboardInterrupt

    kept = "nothing was recorded" if recording is None else f"{recording.path} is kept"
    try:
        with warnings.catch_warnings(), _ctrl_c_waits() as wants_stop, bar as move:
            warnings.simplefilter("ignore", ToleranceWarning)  # the table and the exit code say it
            return simulate(
                scene.system, solver=solver, record=recording, resume=resume, progress=progress, **settings
            )
    except KeyboardInterrupt:
        cure = (
            "--record FILE would keep it" if recording is None else "the same command with --resume goes on"
        )
        done, total = reached
        ERR.print(f"Interrupted after {done} of {total} steps: {kept}; {cure}.", soft_wrap=True)
        raise typer.Exit(130) from None
    except SolveError as error:
        residual, status = error.solution.certificate.residual, error.solution.status
        what = f"step {reached[0] + 1} ended as '{status}' at a residual of {residual:.1e}: {kept}"
        cure = "try another --solver, or go on with --on-failure count"
        ERR.print(Text("Error:", "bold red"), f"{what}; {cure}", soft_wrap=True)
        raise typer.Exit(2) from None


def _no_bar(done: int, total: int, what: str) -> None:
    """Show nothing."""


@contextmanager
def _ctrl_c_waits() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C wait for the end of a step; give the function that tells whether there was one.

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


def _find_scene(name: str, parameters: list[str]) -> tuple[str, Scene]:
    """Read a scene file, or build a ready-made scene; return its summary and itself."""
    import inspect
    import typing

    from nonsmooth._cli_solver import values_of
    from nonsmooth.io import Scene, read_scene
    from nonsmooth.scenes import SCENES

    path = Path(name)
    if path.is_file() or (path.exists() and name not in SCENES):
        if parameters:
            raise OptionError(f"--set {parameters[0]}: {name} is a file, and its values are set in it")
        return "", read_scene(name)
    if name not in SCENES:
        raise OptionError(f"{name!r} is neither a file nor a ready-made scene: {advice(name, list(SCENES))}")
    build = SCENES[name].build
    hints = typing.get_type_hints(build)
    valid = {key: hints[key] for key in inspect.signature(build).parameters}
    values = values_of("--set", f"scene {name} has no parameter", parameters, valid)
    return SCENES[name].summary, Scene(build(**values), {})


def _recording(
    path: Path | None, every: int | None, interval: float | None, resume: bool
) -> Recording | None:
    """What to record; refuses to overwrite a run that was cut off."""
    from nonsmooth.io import Recording

    if path is None:
        needs = {"--every": every is not None, "--interval": interval is not None, "--resume": resume}
        for flag in (flag for flag, given in needs.items() if given):
            raise OptionError(f"{flag} is about a recording: name its file with --record FILE")
        return None
    check_target(path)
    if path.exists() and not resume:
        _check_finished(path)
    return Recording(path, every=every, interval=interval, checkpoint_seconds=_CHECKPOINT_SECONDS)


def _check_finished(path: Path) -> None:
    """Refuse to overwrite a run that was cut off."""
    from nonsmooth.io import Trajectory

    with Trajectory(path) as old:
        done, wanted = old.steps.count, old.settings["duration"] / old.settings["step"]
    if 0 < done < wanted - 1e-9:
        raise OptionError(
            f"{path} holds a run that was cut off after {done} of {math.ceil(wanted - 1e-9)} steps: "
            "go on with --resume, or delete the file"
        )


# ---- inspect ----------------------------------------------------------------------------------------


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5).")],
) -> None:
    """Show what a recorded run holds, how far it came, and its certificate."""
    from nonsmooth.io import Trajectory
    from nonsmooth.view.run_tables import recording_report

    with Trajectory(file) as trajectory:
        OUT.print(Text(str(file), "bold"), soft_wrap=True)
        OUT.print(recording_report(trajectory))
