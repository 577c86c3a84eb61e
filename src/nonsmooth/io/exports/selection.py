"""Selection of frames of a recorded run: those of a span of time, or the one nearest to a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError

_ROUNDING = 1e-9
"""Times that differ by less than this fraction of the run's length are equal."""


@dataclass(frozen=True)
class Selection:
    """Frames of a recorded run.

    Args:
        start: first time in s.
        end: last time in s.
        every: select every Nth frame, beginning with the first.
    """

    start: float = -math.inf
    end: float = math.inf
    every: int = 1

    def __post_init__(self) -> None:
        if self.every < 1:
            raise OptionError(f"every is {self.every}: give a whole number, 1 or more")
        if not self.start <= self.end:
            raise OptionError(
                f"the span from {self.start:g} to {self.end:g} s is empty: give an end after the start"
            )

    def frames(self, times: Floats) -> list[int]:
        """Return the numbers of the frames that have these times (s); an empty selection is an error."""
        chosen = self.inside(times)[:: self.every]
        if not len(chosen):
            first = f"{self.start:g} s" if math.isfinite(self.start) else "the beginning"
            last = f"{self.end:g} s" if math.isfinite(self.end) else "the end"
            raise OptionError(f"there is no frame between {first} and {last}: {_span(times)}")
        return [int(number) for number in chosen]

    def inside(self, times: Floats) -> NDArray[np.intp]:
        """Return the indices of the times (s) from start to end, both included, up to rounding."""
        slack = _ROUNDING * float(np.abs(times).max(initial=0.0))
        return np.flatnonzero((times >= self.start - slack) & (times <= self.end + slack))


def frame_nearest(times: Floats, time: float) -> int:
    """Return the number of the frame nearest to a time in s, which must not lie outside the recording."""
    if not len(times) or not times[0] * (1 - _ROUNDING) <= time <= times[-1] * (1 + _ROUNDING):
        raise OptionError(f"there is no frame at {time:g} s: {_span(times)}")
    return int(np.argmin(np.abs(times - time)))


def _span(times: Floats) -> str:
    if not len(times):
        return "the recording has no frames"
    return f"the recording goes from {times[0]:g} to {times[-1]:g} s"
