"""`Sensor`: records a quantity of every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.stepping.frame import Frame


class Sensor:
    """Reads a quantity from every step of the run that it observes.

        force = ns.Sensor(lambda frame: frame.force_on("crate", by="floor"))
        ns.simulate(system, duration=1.0, step=0.01, observe=force)
        force.times, force.values    # (steps,) in s, (steps, 3) in N

    Args:
        read: read(frame) returns a number or an array of the same shape in every step; it is copied.
    """

    def __init__(self, read: Callable[[Frame], ArrayLike]) -> None:
        self._read = read
        self._times: list[float] = []
        self._values: list[Floats] = []

    def __call__(self, frame: Frame) -> None:
        """Read the quantity of a step."""
        self._values.append(np.array(self._read(frame), dtype=float))
        self._times.append(frame.time)

    @property
    def times(self) -> Floats:
        """Times (steps,) at the ends of the steps in s."""
        return np.array(self._times)

    @property
    def values(self) -> Floats:
        """Values read, (steps, …)."""
        return np.array(self._values)
