"""The command `nonsmooth export`: a recorded run for ParaView, as tables, or one frame as glTF."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import Group, check_target, command, number, option, switch, whole_number
from nonsmooth.cli.terminal.console import ERR, OUT, progress_bar
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.io import Trajectory

_TARGETS = "--vtk DIR, --csv DIR, --parquet DIR or --gltf FILE.glb"

Choice = TypeVar("Choice", bound=StrEnum)


@command(
    Group.RECORDINGS,
    ("nonsmooth export f.h5 --vtk paraview", "then open paraview/*.pvd"),
    ("nonsmooth export f.h5 --vtk paraview --from 1 --to 2 --every 5", "some frames"),
    ("nonsmooth export f.h5 --csv tables", "frames, contacts, joints, steps"),
    ("nonsmooth export f.h5 --parquet tables", "for pandas and others"),
    ("nonsmooth export f.h5 --gltf end.glb --time 2.0", "one frame"),
)
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5).")],
    vtk: Annotated[
        Path | None,
        option("--vtk", "DIR", "Write time series for ParaView: bodies, surfaces, contacts, joints."),
    ] = None,
    csv: Annotated[
        Path | None,
        option("--csv", "DIR", "Write tables of bodies, frames, contacts, joints and steps as CSV."),
    ] = None,
    parquet: Annotated[Path | None, option("--parquet", "DIR", "Write the same tables as Parquet.")] = None,
    gltf: Annotated[
        Path | None,
        option("--gltf", "FILE.glb", "Write one frame as a 3D scene."),
    ] = None,
    start: Annotated[
        float | None,
        option("--from", "SECONDS", "Time of the first frame.", default="the beginning", parser=number),
    ] = None,
    end: Annotated[
        float | None,
        option("--to", "SECONDS", "Time of the last frame.", default="the end", parser=number),
    ] = None,
    every: Annotated[
        int | None,
        option("--every", "FRAMES", "Export every Nth frame.", default="1", parser=whole_number),
    ] = None,
    surfaces: Annotated[
        str | None,
        option(
            "--surfaces",
            "WHICH",
            "Shapes to write as triangles with --vtk: all, meshes (no spheres) or none.",
            default="all",
        ),
    ] = None,
    time: Annotated[
        float | None,
        option(
            "--time",
            "SECONDS",
            "Time of the frame for --gltf; the nearest frame is used.",
            default="the last",
            parser=number,
        ),
    ] = None,
    colour: Annotated[
        str | None,
        option(
            "--colour",
            "WHAT",
            "Quantity that colours the bodies with --gltf: body, speed or force.",
            default="body",
        ),
    ] = None,
    quiet: Annotated[bool, switch("--quiet", "Suppress the progress bar and the list of files.")] = False,
) -> None:
    """Export a recorded run to ParaView, tables or glTF.

    An earlier export in the same folder is replaced. After Ctrl-C the frames written so far are kept.
    """
    from nonsmooth.io import Trajectory
    from nonsmooth.io.exports.selection import Selection
    from nonsmooth.io.exports.tables import TableForm, check_parquet
    from nonsmooth.view.exports.tables import export_tables
    from nonsmooth.view.exports.vtk import SurfaceChoice, export_vtk

    if vtk is csv is parquet is gltf is None:
        raise OptionError(f"no target to export {file} to: give one or more of {_TARGETS}")
    series = vtk is not None or csv is not None or parquet is not None
    _check_use("--vtk DIR", vtk is not None, {"--surfaces": surfaces})
    _check_use("--vtk, --csv or --parquet", series, {"--from": start, "--to": end, "--every": every})
    _check_use("--gltf FILE.glb", gltf is not None, {"--time": time, "--colour": colour})
    _check_glb(gltf)
    if parquet is not None:
        check_parquet()
    shapes = _choice("--surfaces", surfaces, SurfaceChoice, SurfaceChoice.ALL)
    selection = Selection(
        -math.inf if start is None else start, math.inf if end is None else end, 1 if every is None else every
    )
    with Trajectory(file) as trajectory:
        writers: list[tuple[Path, Callable[..., list[Path]]]] = []
        if vtk is not None:
            writers.append((vtk, partial(export_vtk, trajectory, vtk, selection, surfaces=shapes)))
        for folder, form in ((csv, TableForm.CSV), (parquet, TableForm.PARQUET)):
            if folder is not None:
                writers.append((folder, partial(export_tables, trajectory, folder, form, selection)))
        targets = [*(folder for folder, _ in writers), *([] if gltf is None else [gltf])]
        for number, (folder, write) in enumerate(writers):
            _write_series(folder, write, quiet, targets[number + 1 :])
        if gltf is not None:
            _write_frame(trajectory, gltf, time, colour, quiet)


def _write_series(folder: Path, write: Callable[..., list[Path]], quiet: bool, later: list[Path]) -> None:
    """Write frames with a progress bar and print a summary; `later` has still to be written."""
    from nonsmooth._support.words import counted

    reached = (0, 0)

    def progress(done: int, total: int, what: str) -> None:
        nonlocal reached
        reached = done, total
        move(done, total, what)

    try:
        with progress_bar(str(folder), quiet) as move:
            files = write(progress=progress)
    except KeyboardInterrupt:
        done, total = reached
        what = f"{done} of {counted(total, 'frame')} kept in {folder}" if done else "no frame was written"
        left = f"; nothing in {', '.join(map(str, later))}" if later else ""
        ERR.print(f"Interrupted: {what}{left}.", soft_wrap=True)
        raise typer.Exit(130) from None
    if not quiet:
        names = ", ".join(file.name for file in files)
        OUT.print(f"{counted(reached[1], 'frame')} in {folder}: {names}", soft_wrap=True)


def _write_frame(
    trajectory: Trajectory, path: Path, time: float | None, colour: str | None, quiet: bool
) -> None:
    from nonsmooth.io.exports.selection import frame_nearest
    from nonsmooth.view.drawing.colours import ColourBy
    from nonsmooth.view.exports.gltf import export_gltf

    by = _choice("--colour", colour, ColourBy, ColourBy.BODY)
    times = trajectory.times
    chosen = len(times) - 1 if time is None else frame_nearest(times, time)
    export_gltf(trajectory, path, chosen, colour_by=by)
    if not quiet:
        OUT.print(f"Frame at t = {times[chosen]:.6g} s in {path}", soft_wrap=True)


# ---- checks -----------------------------------------------------------------------------------------


def _check_use(owner: str, there: bool, options: dict[str, object]) -> None:
    """Reject options of a target that is not given."""
    for flag in (flag for flag, value in options.items() if value is not None and not there):
        raise OptionError(f"{flag} applies only to {owner}: give that target, or omit {flag}")


def _check_glb(path: Path | None) -> None:
    if path is not None and path.suffix.lower() != ".glb":
        raise OptionError(f"--gltf {path}: the name must end in .glb")
    check_target(path)


def _choice(flag: str, word: str | None, kind: type[Choice], default: Choice) -> Choice:
    if word is None:
        return default
    valid = [str(value) for value in kind]
    if word not in valid:
        raise OptionError(f"{flag} {word}: {advice(word, valid)}")
    return kind(word)
