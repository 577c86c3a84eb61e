"""State of the web viewer that needs no browser: the frame due, the rate of sending, scales of forces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.view.drawing.contact_forces import LEAST_CHAIN

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Simulated seconds in a second of playback, as offered on the page."""


# ---- time -------------------------------------------------------------------------------------------


class Throttle:
    """Limits the number of calls per second of wall time."""

    def __init__(self, rate: float) -> None:
        self._interval = 1.0 / rate
        self._next = -math.inf

    def due(self, now: float) -> bool:
        """Return whether a call at the wall time `now` (s) may pass, and count it if so."""
        if now < self._next:
            return False
        self._next = now + self._interval
        return True


class Playback:
    """Which frame of a recording is to be seen at a wall time; all wall times are in s from any start."""

    def __init__(self, times: ArrayLike) -> None:
        self.times = np.asarray(times, dtype=np.float64)
        """Of the frames, in simulated s."""
        self.playing = False
        self.speed = 1.0
        """Simulated seconds in a second of wall time."""
        self._frame = 0
        self._began = (0.0, 0.0)  # wall time and simulated time from which the clock runs

    def __len__(self) -> int:
        return len(self.times)

    @property
    def last(self) -> int:
        """Number of the last frame."""
        return max(len(self.times) - 1, 0)

    def frame_at(self, now: float) -> int:
        """Return the number of the frame due now; playback ends at the last one."""
        return self.place_at(now)[0]

    def place_at(self, now: float) -> tuple[int, float]:
        """Return the frame due now, and the elapsed fraction of the way to the next.

        The fraction is 0 if playback is paused.
        """
        if not self.playing or not len(self.times):
            return self._frame, 0.0
        began, start = self._began
        due = start + self.speed * (now - began)
        self._frame = max(int(np.searchsorted(self.times, due, side="right")) - 1, 0)
        self.playing = self._frame < self.last
        if not self.playing:
            return self._frame, 0.0
        before, after = self.times[self._frame : self._frame + 2]
        return self._frame, float(np.clip((due - before) / (after - before), 0.0, 1.0))

    def play(self, now: float) -> None:
        """Play from the present frame, or from the first one if the present one is the last."""
        if self._frame >= self.last:
            self._frame = 0
        self.playing = self.last > 0
        self._run_from(now)

    def pause(self, now: float) -> None:
        """Pause at the present frame."""
        self.frame_at(now)
        self.playing = False

    def seek(self, frame: int, now: float) -> None:
        """Go to the nearest frame; playback continues from there."""
        self._frame = min(max(int(frame), 0), self.last)
        self._run_from(now)

    def step(self, frames: int, now: float) -> None:
        """Pause, and move forward or back by some frames."""
        self.pause(now)
        self.seek(self._frame + frames, now)

    def set_speed(self, speed: float, now: float) -> None:
        """Set the speed of playback (simulated s per s)."""
        self.frame_at(now)
        self.speed = speed
        self._run_from(now)

    def extend(self, times: ArrayLike, now: float) -> None:
        """Take the times of a file that has grown; a playback at its end moves to the new end."""
        at_end = self.frame_at(now) == self.last
        self.times = np.asarray(times, dtype=np.float64)
        self._frame = self.last if at_end else min(self._frame, self.last)

    def _run_from(self, now: float) -> None:
        self._began = (now, float(self.times[self._frame]) if len(self.times) else 0.0)


# ---- curves -----------------------------------------------------------------------------------------


class GrowingCurve:
    """Values over time for a small plot: few points are kept, and no peak is lost."""

    def __init__(self, most: int = 400) -> None:
        self._most = most
        self._points: list[tuple[float, float]] = []

    def append(self, time: float, value: float) -> None:
        """Add a point; one that is not finite is omitted."""
        if math.isfinite(value):
            self._points.append((time, value))
            self._thin()

    def extend(self, time: ArrayLike, values: ArrayLike) -> None:
        """Add many points."""
        added = np.column_stack([time, values])
        self._points += [(t, value) for t, value in added[np.isfinite(added[:, 1])].tolist()]
        self._thin()

    def points(self) -> tuple[Floats, Floats]:
        """Return times (p,) and values (p,)."""
        points = np.array(self._points.copy()).reshape(-1, 2)  # copied at once: a run may append meanwhile
        return points[:, 0], points[:, 1]

    def _thin(self) -> None:
        """If there are too many points, keep of each piece of the curve its largest value."""
        if len(self._points) <= 2 * self._most:
            return
        values = np.array([value for _, value in self._points])
        edges = np.linspace(0, len(values), self._most + 1).astype(np.int64)[:-1]
        pieces = np.split(values, edges[1:])
        best = [int(first + np.argmax(piece)) for first, piece in zip(edges, pieces, strict=True)]
        self._points = [self._points[k] for k in best]


# ---- forces -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForceScale:
    """How forces become lengths of arrows and thicknesses of lines; `top` grows and never shrinks.

    A scale that followed every frame would make forces of different frames look alike.
    """

    top: float = 0.0
    """A round force in N, not less than nearly all that were seen; 0 before there was any."""

    def including(self, magnitudes: Floats) -> ForceScale:
        """Return the scale that has room for these forces (N) as well; the largest 2 % may be longer."""
        from nonsmooth.view.drawing.colours import scale_top

        pushing = magnitudes[magnitudes > 0.0]
        wanted = scale_top(pushing) if pushing.size else 0.0
        return ForceScale(wanted) if wanted > self.top else self


CHAIN_CLASSES = 5
"""Thicknesses of force chains: a batch of lines has one."""


def chain_class(force: Floats, top: float) -> NDArray[np.int64]:
    """Return which thickness (0 thinnest) each normal force (c,) in N has; −1 for none.

    Class k holds forces from k/5 to (k + 1)/5 of `top`, and all above it are in the last one; what is less
    than a fiftieth of `top` is not drawn.
    """
    if top <= 0.0:
        return np.full(len(force), -1, dtype=np.int64)
    share = force / top
    classes = np.clip((CHAIN_CLASSES * share).astype(np.int64), 0, CHAIN_CLASSES - 1)
    return np.where(share >= LEAST_CHAIN, classes, -1)
