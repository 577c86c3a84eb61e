"""The command `nonsmooth run`: simulate a scene."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth.cli.commands.view import Host, Port, live_view
from nonsmooth.cli.parts import Group, check_target, command, compile_notice, number, whole_number
from nonsmooth.cli.scene import (
    ContactCheck,
    Duration,
    MaxIterations,
    Parameters,
    Quiet,
    SceneName,
    Scheme,
    SolverName,
    SolverOptions,
    Step,
    Threads,
    Tolerance,
    find_scene,
    simulate_scene,
)
from nonsmooth.cli.terminal.console import ERR, OUT, headline, print_json
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.io import Recording

_CHECKPOINT_SECONDS = 5.0
"""Wall time in s between checkpoints: a resumed run repeats at most this much."""


@command(
    Group.RUNS,
    ("nonsmooth run filling --set spheres=100", "a ready-made scene"),
    ("nonsmooth run box-stack --duration 0.5 --step 0.01", "other times"),
    ("nonsmooth run filling --set spheres=50 --record f.h5", "keep it"),
    ("nonsmooth run filling --set spheres=50 --record f.h5 --resume", "go on"),
    ("nonsmooth run four-bar --duration 0.1 --scheme rattle", "a mechanism"),
    ("nonsmooth run rolling-ball --law relaxed --json", "for other programs"),
    ("nonsmooth run my_scene.toml --threads 2", "a scene file"),
)
def run(
    scene: SceneName,
    parameters: Parameters = None,
    duration: Duration = None,
    step: Step = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            metavar="LAW",
            help="Friction law: coulomb, relaxed or pyramid(8).  [dim]\\[scene's, or coulomb][/dim]",
        ),
    ] = None,
    solver: SolverName = None,
    option: SolverOptions = None,
    tolerance: Tolerance = None,
    max_iterations: MaxIterations = None,
    scheme: Scheme = None,
    contact_check: ContactCheck = None,
    threads: Threads = None,
    throw: Annotated[
        bool,
        typer.Option(
            "--throw",
            metavar="",
            help="Stop at the first step that misses its tolerance; --no-throw counts such steps.  "
            "[dim]\\[scene's, or --no-throw][/dim]",
        ),
    ] = False,
    no_throw: Annotated[bool, typer.Option("--no-throw", metavar="", hidden=True)] = False,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Record the run (HDF5).")
    ] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", metavar="STEPS", parser=whole_number, help="Record a frame every N steps."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SECONDS",
            parser=number,
            help="Record a frame every T seconds of simulated time.",
        ),
    ] = None,
    reactions: Annotated[
        bool,
        typer.Option("--reactions", metavar="", help="Also record forces and torques of the joints."),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Continue from the last checkpoint of the recording.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", metavar="", help="Overwrite an existing recording.")
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", metavar="", help="Show the run in the browser, where it can be paused.")
    ] = False,
    host: Host = None,
    port: Port = None,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print a summary as JSON.")] = False,
) -> None:
    """Simulate a scene and print the certificate of the run.

    Exits with status 0 if every step reached its tolerance, 2 if not or if a joint
    opens by more than 0.01 m or rad. Ctrl-C stops after the present step: a recording
    is kept, and --resume continues from it.
    """
    from nonsmooth.cli.terminal.as_json import run_as_json
    from nonsmooth.cli.terminal.run_tables import run_report
    from nonsmooth.io import Trajectory

    if throw and no_throw:
        raise OptionError("--throw stops at a step that --no-throw counts: give one of them")
    recording = _recording(record, every, interval, reactions, resume, fresh)
    again = "with --resume in place of --fresh " if fresh else "" if resume else "with --resume "
    older = _which_file(record) if fresh else None

    def kept() -> str:
        if record is None or (found := _which_file(record)) is None:
            return "nothing was recorded"
        return f"{record} is unchanged" if found == older else f"{record} is kept"

    def go_on() -> str:
        if record is None:
            return "; give --record FILE to keep results"
        return (
            f"; run the same command {again}to continue" if _which_file(record) not in (None, older) else ""
        )

    if not view and (host is not None or port is not None):
        flag = "--host" if host is not None else "--port"
        raise OptionError(f"{flag} applies to the viewer: give --view as well")
    with ExitStack() as opened:
        with compile_notice():
            found = find_scene(scene, parameters or [])
            settings = found.with_settings(
                duration=duration, step=step, law=law, solver=solver, tolerance=tolerance,
                max_iterations=max_iterations, scheme=scheme, threads=threads,
                contact_check=contact_check, throw=True if throw else False if no_throw else None,
            )  # fmt: skip
            page = opened.enter_context(live_view(scene, found.system, host, port)) if view else None
            if page is not None and resume and record is not None:
                with Trajectory(record) as before:
                    page.recall(before.steps)
            result = simulate_scene(
                scene, found.system, settings, option or [], kept=kept, go_on=go_on, quiet=quiet,
                page=page, record=recording, resume=resume,
            )  # fmt: skip
        if as_json:
            answer = run_as_json(scene, result)
            print_json(answer)
        elif not quiet:
            headline(scene, found.summary)
            OUT.print(run_report(result))
            if record is not None:
                OUT.print(f"\nRecorded in {record}", soft_wrap=True)
        if page is not None and page.stop_asked:
            ERR.print(f"Stopped on the page at t = {result.time:.6g} s: {kept()}{go_on()}.", soft_wrap=True)
        if page is not None:
            ERR.print(f"The page stays open at {page.address} (Ctrl-C ends it)", soft_wrap=True)
            page.wait()
    if result.certificate.failed or not result.certificate.joints_held:
        raise typer.Exit(2)


def _recording(
    path: Path | None,
    every: int | None,
    interval: float | None,
    reactions: bool,
    resume: bool,
    fresh: bool,
) -> Recording | None:
    """Return what to record; raises instead of overwriting a run, or of resuming a missing one."""
    from nonsmooth.io import Recording

    if path is None:
        needs = {
            "--every": every is not None, "--interval": interval is not None, "--reactions": reactions,
            "--resume": resume, "--fresh": fresh,
        }  # fmt: skip
        for flag in (flag for flag, given in needs.items() if given):
            raise OptionError(f"{flag} applies to a recording: name its file with --record FILE")
        return None
    check_target(path)
    if resume and fresh:
        raise OptionError(f"--resume continues {path} and --fresh replaces it: give one of them")
    choice = Recording(
        path, every=every, interval=interval, joints=reactions, checkpoint_seconds=_CHECKPOINT_SECONDS,
        overwrite=fresh,
    )  # fmt: skip
    if resume or path.exists():
        _check_older(path, resume, fresh)
    return choice


def _which_file(path: Path | None) -> tuple[int, int] | None:
    """Identity of a file, which changes when it is replaced; None if there is no file."""
    if path is None or not path.exists():
        return None
    status = path.stat()
    return status.st_ino, status.st_ctime_ns


def _check_older(path: Path, resume: bool, fresh: bool) -> None:
    """Check that the file is a recording, and that this run may continue or replace it."""
    from nonsmooth._support.words import counted
    from nonsmooth.io import Trajectory
    from nonsmooth.io.runs.checkpoint import checkpoint_path

    if not path.exists():
        raise OptionError(f"there is no recording {path} to resume: omit --resume to start one")
    with Trajectory(path) as old:
        done, settings = old.steps.count, old.settings
    checkpoint = checkpoint_path(path)
    if resume and done and not Path(checkpoint).exists():
        raise OptionError(
            f"{path} has {counted(done, 'step')} but no checkpoint to resume from: restore {checkpoint} "
            "beside it, or replace the recording with --fresh in place of --resume"
        )
    if not resume and not fresh:
        of = ""
        if {"duration", "step"} <= settings.keys():
            of = f" of {math.ceil(settings['duration'] / settings['step'] - 1e-9)}"
        raise OptionError(
            f"{path} already holds a run of {done}{of} steps: continue with --resume, replace it with "
            "--fresh, or name another file"
        )
