"""Prescribed motions: a coordinate as a function of time, with its rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nonsmooth.model import checks as check

_SPACING = 2.0**-13
"""Spacing in s of the points for the rate of a function; it does not round times."""
_WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
"""Central differences of order eight."""


@runtime_checkable
class Motion(Protocol):
    """A coordinate as a function of time: m or rad, and m/s or rad/s."""

    def value(self, t: float) -> float:
        """Return the coordinate at time t (s)."""
        ...

    def rate(self, t: float) -> float:
        """Return the coordinate's derivative at time t (s)."""
        ...


@dataclass(frozen=True)
class Ramp:
    """The motion start + speed · t.

    Args:
        speed: in m/s or rad/s.
        start: value at t = 0, in m or rad.
    """

    speed: float
    start: float = 0.0

    def __post_init__(self) -> None:
        _check_numbers(self, "speed", "start")

    def value(self, t: float) -> float:
        """Return the coordinate at time t (s)."""
        return self.start + self.speed * t

    def rate(self, t: float) -> float:
        """Return the coordinate's derivative at time t (s)."""
        return self.speed


@dataclass(frozen=True)
class Sine:
    """The motion offset + amplitude · sin(2π frequency t + phase).

    Args:
        amplitude: in m or rad.
        frequency: in Hz.
        phase: in rad.
        offset: in m or rad.
    """

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_numbers(self, "amplitude", "phase", "offset")
        object.__setattr__(self, "frequency", check.positive("frequency", self.frequency, "Hz"))

    def value(self, t: float) -> float:
        """Return the coordinate at time t (s)."""
        return self.offset + self.amplitude * math.sin(2.0 * math.pi * self.frequency * t + self.phase)

    def rate(self, t: float) -> float:
        """Return the coordinate's derivative at time t (s)."""
        turn = 2.0 * math.pi * self.frequency
        return self.amplitude * turn * math.cos(turn * t + self.phase)


@dataclass(frozen=True)
class Smooth:
    """From start to end with continuous acceleration: s³ (10 − 15 s + 6 s²) with s = (t − begin)/duration.

    Args:
        start: value until `begin`, in m or rad.
        end: value from begin + duration on, in m or rad.
        begin: in s.
        duration: in s.
    """

    start: float
    end: float
    begin: float
    duration: float

    def __post_init__(self) -> None:
        _check_numbers(self, "start", "end", "begin")
        object.__setattr__(self, "duration", check.positive("duration", self.duration, "s"))

    def value(self, t: float) -> float:
        """Return the coordinate at time t (s)."""
        s = self._part(t)
        return self.start + (self.end - self.start) * s * s * s * (10.0 + s * (6.0 * s - 15.0))

    def rate(self, t: float) -> float:
        """Return the coordinate's derivative at time t (s)."""
        s = self._part(t)
        return (self.end - self.start) / self.duration * 30.0 * s * s * (1.0 - s) * (1.0 - s)

    def _part(self, t: float) -> float:
        return min(1.0, max(0.0, (t - self.begin) / self.duration))


@dataclass(frozen=True)
class Function:
    """The motion function(t), whose rate comes from central differences of order eight.

    The function is evaluated up to 0.5 ms before and after t. The error of the rate is rounding, about
    10⁻¹² of the value per second, and below 10⁻⁹ of the rate for changes slower than 100 Hz; at a kink
    it is the mean of the rates on both sides.
    """

    function: Callable[[float], float]

    def value(self, t: float) -> float:
        """Return the coordinate at time t (s)."""
        return self.function(t)

    def rate(self, t: float) -> float:
        """Return the coordinate's derivative at time t (s)."""
        total = 0.0
        for k, weight in enumerate(_WEIGHTS, start=1):
            total += weight * (self.function(t + k * _SPACING) - self.function(t - k * _SPACING))
        return total / _SPACING


def _check_numbers(motion: object, *names: str) -> None:
    for name in names:
        object.__setattr__(motion, name, check.number(name, getattr(motion, name)))
