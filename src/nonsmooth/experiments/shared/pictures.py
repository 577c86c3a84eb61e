"""Pictures of a run at given times, rendered as by `nonsmooth render`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Pixels
from nonsmooth.experiments.shared import plots
from nonsmooth.io.runs.recording import Recording
from nonsmooth.stepping.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run_and_paint(
    run: Callable[[Recording | None], Run],
    times: Sequence[float],
    *,
    view: tuple[float, ...],
    size: tuple[int, int] = (640, 640),
    colour: str = "speed",
) -> tuple[Run, Pixels]:
    """Return a run with its pictures (n, height, width, 3), one after each of the times (s).

    Args:
        run: called with the recording from which the pictures are rendered.
        times: times in s; without any there are no pictures.
        view: azimuth and elevation in degrees, and zoom.
        size: width and height in pixels.
        colour: quantity shown by the colours of bodies: "speed", "force" or "body".
    """
    from nonsmooth.io import Trajectory
    from nonsmooth.view.drawing.camera import View
    from nonsmooth.view.drawing.colours import ColourBy
    from nonsmooth.view.drawing.look import Look
    from nonsmooth.view.drawing.picture import Painter

    if not times:
        return run(None), np.zeros((0, *size[::-1], 3), dtype=np.uint8)
    look = Look(colour=ColourBy(colour), width=size[0], height=size[1])
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "run.h5"
        found = run(Recording(path, times=tuple(times), checkpoint_seconds=None))
        with Trajectory(path) as trajectory:
            moments = trajectory.times[1:]  # the first frame is the initial state
            painter = Painter(trajectory, moments, look, View(*view))
            return found, np.array([painter.paint(moment) for moment in moments.tolist()])


def side_by_side(pictures: Pixels, title: str) -> Figure:
    """Pictures (n, height, width, 3) in rows of three under a title."""
    count, height, width, _ = pictures.shape
    columns = min(count, 3)
    rows = -(-count // columns)
    panel = plots.WIDEST / columns
    figure = plots.new_figure((plots.WIDEST, panel * rows * height / width + 0.4))
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, picture in zip(axes.flat, pictures, strict=False):
        ax.imshow(picture)
    figure.suptitle(title)
    return figure
