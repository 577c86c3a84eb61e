"""The command `nonsmooth render`: images and films of a recorded run, without a display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import Group, check_target, command, compile_notice, number, option, switch
from nonsmooth.cli.terminal.console import ERR, OUT, progress_bar
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.io import Trajectory
    from nonsmooth.view.drawing.camera import View
    from nonsmooth.view.drawing.film import Pace
    from nonsmooth.view.drawing.look import Look

_PICTURES = (".png", ".jpg", ".jpeg")
_PICTURE_ONLY, _FILM_ONLY = ("--time",), ("--fps", "--speed", "--from", "--to")


@command(
    Group.RECORDINGS,
    ("nonsmooth render f.h5 -o end.png", "the last frame"),
    ("nonsmooth render f.h5 --time 2.0 -o out.png --colour force", "another time"),
    ("nonsmooth render f.h5 -o chains.png --chains --contacts", "forces and contacts"),
    ("nonsmooth render f.h5 -o top.png --camera -90,80,1.5", "from above, larger"),
    ("nonsmooth render f.h5 --film out.mp4 --speed 0.5", "a film in slow motion"),
    ("nonsmooth render f.h5 --film out.gif --from 1 --to 2 --fps 20", "a part of it"),
)
def render(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5).")],
    output: Annotated[Path | None, option("--output -o", "FILE.png", "Write an image: .png or .jpg.")] = None,
    film: Annotated[Path | None, option("--film", "FILE.mp4", "Write a film: .mp4 or .gif.")] = None,
    time: Annotated[
        float | None,
        option(
            "--time",
            "SECONDS",
            "Simulated time of the image; states between frames are interpolated.",
            default="the last",
            parser=number,
        ),
    ] = None,
    colour: Annotated[
        str,
        option("--colour", "WHAT", "Colour bodies by speed, force, or body."),
    ] = "speed",
    forces: Annotated[bool, switch("--forces", "Draw contact forces as arrows.")] = False,
    chains: Annotated[
        bool, switch("--chains", "Draw force chains: lines between bodies, as wide as the force is large.")
    ] = False,
    contacts: Annotated[bool, switch("--contacts", "Draw contacts as dots: stick, slide, separate.")] = False,
    size: Annotated[str, option("--size", "WxH", "Width and height in pixels.")] = "1280x720",
    camera: Annotated[
        str | None,
        option("--camera", "A,E[,Z]", "Azimuth and elevation in degrees, and zoom.", default="-60,25,1"),
    ] = None,
    fps: Annotated[
        float | None,
        option("--fps", "NUMBER", "Frames per second of the film.", default="25", parser=number),
    ] = None,
    speed: Annotated[
        float | None,
        option("--speed", "NUMBER", "Simulated seconds per second of the film.", default="1", parser=number),
    ] = None,
    start: Annotated[
        float | None,
        option(
            "--from",
            "SECONDS",
            "Simulated time at the start of the film.",
            default="the first",
            parser=number,
        ),
    ] = None,
    end: Annotated[
        float | None,
        option(
            "--to", "SECONDS", "Simulated time at the end of the film.", default="the last", parser=number
        ),
    ] = None,
) -> None:
    """Render a recorded run as an image or a film; no display is needed.

    Ctrl-C ends a film early: the part written so far can be played.
    """
    given = {"--time": time, "--fps": fps, "--speed": speed, "--from": start, "--to": end}
    _check_choice(output, film, given)
    look, view = _look(colour, size, forces=forces, chains=chains, contacts=contacts), _view(camera)
    from nonsmooth.io import Trajectory

    if film is not None:
        from nonsmooth.view.drawing.film import Pace, check_film

        asked = {"fps": fps, "speed": speed}
        pace = Pace(**{name: value for name, value in asked.items() if value is not None})
        check_film(film, look.width, look.height, pace)
        with Trajectory(file) as trajectory:
            _draw_film(trajectory, film, look, view, pace, start, end)
        return
    assert output is not None
    with Trajectory(file) as trajectory, compile_notice():
        _draw_picture(trajectory, output, look, view, time)


def _draw_picture(
    trajectory: Trajectory, output: Path, look: Look, view: View | None, time: float | None
) -> None:
    from PIL import Image

    from nonsmooth.view.drawing.picture import Painter, recorded_span

    wanted = recorded_span(trajectory)[1] if time is None else time
    picture = Image.fromarray(Painter(trajectory, [wanted], look, view).paint(wanted))
    picture.save(output, quality=92)  # of a JPEG; lower values blur the legend
    OUT.print(f"t = {wanted:.3f} s drawn in {output}", soft_wrap=True)


def _draw_film(
    trajectory: Trajectory,
    film: Path,
    look: Look,
    view: View | None,
    pace: Pace,
    start: float | None,
    end: float | None,
) -> None:
    from nonsmooth.view.drawing.film import write_film
    from nonsmooth.view.drawing.picture import Painter, recorded_span

    first, last = recorded_span(trajectory)
    if start is not None and start > last:
        raise OptionError(
            f"--from {start:g} is after the end: {trajectory.path} was recorded from {first:g} s to "
            f"{last:g} s"
        )
    times = pace.times(first if start is None else start, last if end is None else end)
    with compile_notice(), progress_bar(str(film)) as progress:
        written = write_film(Painter(trajectory, times, look, view), times, film, pace, progress)
    if written.frames < written.wanted:
        ERR.print(
            f"Interrupted: {film} is kept, with {written.frames} of {written.wanted} pictures.",
            soft_wrap=True,
        )
        raise typer.Exit(130)
    seconds = written.frames / pace.fps
    OUT.print(f"{written.frames} pictures, {seconds:.1f} s of film in {film}", soft_wrap=True)


def _check_choice(output: Path | None, film: Path | None, given: dict[str, float | None]) -> None:
    """Check that an image or a film is asked for, with options that apply to it."""
    if (output is None) == (film is None):
        raise OptionError("no output given: write an image with -o FILE.png or a film with --film FILE.mp4")
    others, what = (
        (_FILM_ONLY, "a film: use --film") if film is None else (_PICTURE_ONLY, "a picture: use -o")
    )
    for flag in others:
        if given[flag] is not None:
            raise OptionError(f"{flag} applies only to {what} FILE")
    check_target(output or film)
    if output is not None and output.suffix.lower() not in _PICTURES:
        raise OptionError(f"-o {output}: the name of an image must end in one of {', '.join(_PICTURES)}")


def _look(colour: str, size: str, **shown: bool) -> Look:
    from nonsmooth.view.drawing.colours import ColourBy
    from nonsmooth.view.drawing.look import Look

    known = [each.value for each in ColourBy]
    if colour not in known:
        raise OptionError(f"--colour {colour} is not known: {advice(colour, known)}")
    try:
        width, height = (int(part) for part in size.lower().split("x"))
    except ValueError:
        raise OptionError(f"--size {size} is not a size: give width and height as 1280x720") from None
    return Look(colour=ColourBy(colour), width=width, height=height, **shown)


def _view(camera: str | None) -> View | None:
    from nonsmooth.view.drawing.camera import View

    if camera is None:
        return None
    try:
        numbers = [float(part) for part in camera.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3):
        raise OptionError(f"--camera {camera} is not a view: give azimuth,elevation[,zoom] as -60,25,1")
    return View(*numbers)
