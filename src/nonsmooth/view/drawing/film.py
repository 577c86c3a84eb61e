"""Films of a recorded run: MP4 through imageio and ffmpeg, GIF through Pillow.

Pictures are drawn and written one by one. After Ctrl-C the film is shorter but complete.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Pixels
from nonsmooth._support.interrupts import uninterrupted
from nonsmooth._support.progress import Progress
from nonsmooth.errors import MissingPackageError, OptionError
from nonsmooth.view.drawing.gif import GifFile
from nonsmooth.view.drawing.picture import Painter

FORMATS = (".mp4", ".gif")
"""File name endings of films."""

_FASTEST_GIF = 50.0
"""Largest number of pictures per second: most programs slow down a GIF with shorter delays."""
_NO_IMAGEIO = 'films in MP4 need imageio with ffmpeg: pip install "nonsmooth[view]", or write a .gif'


@dataclass(frozen=True)
class Pace:
    """Frame rate and speed of a film.

    Args:
        fps: pictures per second of the film.
        speed: simulated seconds per second of the film; 0.1 is slow motion by a factor of ten.
    """

    fps: float = 25.0
    speed: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("fps", self.fps), ("speed", self.speed)):
            if not 0.0 < value < math.inf:
                raise OptionError(f"{name} of a film is {value}: give a positive number")

    def times(self, start: float, end: float) -> NDArray[np.float64]:
        """Return the simulated times in s of all pictures from `start` to `end`."""
        if not start <= end:
            raise OptionError(f"the film starts at {start:g} s and ends at {end:g} s: give a later end")
        count = math.floor((end - start) * self.fps / self.speed + 1e-9) + 1
        return np.asarray(np.minimum(start + np.arange(count) * (self.speed / self.fps), end))


@dataclass(frozen=True)
class Film:
    """Result of writing a film."""

    frames: int
    """Pictures in the film."""
    wanted: int
    """Pictures requested; more than `frames` after Ctrl-C."""


def check_film(path: Path, width: int, height: int, pace: Pace) -> None:
    """Raise if a film cannot be written with these settings, before any picture is drawn."""
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise OptionError(f"{path}: the name of a film must end in one of {', '.join(FORMATS)}")
    if ending == ".gif" and pace.fps > _FASTEST_GIF:
        raise OptionError(f"fps is {pace.fps:g}: a GIF can have {_FASTEST_GIF:g} or less, an MP4 more")
    if ending == ".mp4":
        if width % 2 or height % 2:
            raise OptionError(f"an MP4 cannot have {width} by {height} pixels: choose even numbers")
        _imageio()


def write_film(
    painter: Painter, times: NDArray[np.float64], path: Path, pace: Pace, progress: Progress | None = None
) -> Film:
    """Draw the run at all `times` (s) and write the film; see `Pace.times`."""
    check_film(path, painter.look.width, painter.look.height, pace)
    pictures = _Pictures(painter, times, progress)
    writer = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
    writer(path, pictures, pace)
    if not pictures.done:
        raise KeyboardInterrupt  # before the first picture there is no film to keep
    return Film(pictures.done, len(pictures))


class _Pictures:
    """The pictures of a film, drawn on demand; Ctrl-C ends them."""

    def __init__(self, painter: Painter, times: NDArray[np.float64], progress: Progress | None) -> None:
        self._painter, self._times, self._progress = painter, times, progress
        self.done = 0
        """Number of pictures in the film."""

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[Pixels]:
        for time in self._times:
            try:
                if self._progress is not None:
                    self._progress(self.done, len(self), f"t = {time:.3f} s")
                picture = self._painter.paint(float(time))
            except KeyboardInterrupt:
                return
            yield picture

    def take(self, add: Callable[..., object], *what: object) -> bool:
        """Add a complete picture to the film; return False if Ctrl-C was pressed meanwhile."""
        try:
            with uninterrupted():
                add(*what)
                self.done += 1
        except KeyboardInterrupt:
            return False
        return True


def _write_mp4(path: Path, pictures: _Pictures, pace: Pace) -> None:
    writer = _imageio().get_writer(
        path, format="FFMPEG", mode="I", fps=pace.fps, codec="libx264", quality=8,
        pixelformat="yuv420p", macro_block_size=2,
    )  # fmt: skip
    with writer:
        for picture in pictures:
            if not pictures.take(writer.append_data, picture):
                break


def _write_gif(path: Path, pictures: _Pictures, pace: Pace) -> None:
    shown = iter(pictures)
    first = next(shown, None)
    if first is None:
        return
    # A GIF counts hundredths of a second: delays vary by one to keep the mean frame rate.
    ends = np.round(np.arange(len(pictures) + 1) * (100.0 / pace.fps)).astype(int)
    height, width = first.shape[:2]
    with GifFile(path, width, height) as film:
        for picture, delay in zip(chain([first], shown), np.diff(ends).tolist(), strict=False):
            if not pictures.take(film.add, picture, delay):
                break


def _imageio() -> Any:
    """The module imageio.v2 with its ffmpeg, or an error with the install command."""
    try:
        importlib.import_module("imageio_ffmpeg")
        return importlib.import_module("imageio.v2")
    except ImportError:
        raise MissingPackageError(_NO_IMAGEIO) from None
