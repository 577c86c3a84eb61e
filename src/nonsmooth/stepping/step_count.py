"""Number of time steps in a duration."""

from __future__ import annotations

import math

from nonsmooth.errors import OptionError


def is_finite(time: object) -> bool:
    """Whether it is a finite number, as a time in s must be."""
    try:
        return math.isfinite(time)  # type: ignore[arg-type]
    except TypeError:
        return False


def check_step(step: float) -> None:
    """Raise unless a time step in s is positive and finite."""
    if not (is_finite(step) and step > 0.0):
        raise OptionError(f"step is {_said(step)}: give a positive time step, for example 0.01")


def steps_to(time: float, step: float) -> int:
    """Number of steps until the first one that ends at or after a time, both in s."""
    return math.ceil(time / step - 1e-9)


def step_count(duration: float, step: float) -> int:
    """Number of steps of a run; inconsistent or swapped times in s are errors."""
    check_step(step)
    if not (is_finite(duration) and duration >= 0.0):
        raise OptionError(f"duration is {_said(duration)}: give a time that is not negative")
    if 0.0 < duration < step * (1.0 - 1e-9):
        raise OptionError(
            f"step is {step:g} s, which is longer than the duration of {duration:g} s: give a shorter step, "
            "or swap the two"
        )
    return steps_to(duration, step)


def _said(time: object) -> str:
    """A time in s as it was given, or what was given in its place."""
    return repr(time) if time is None or isinstance(time, str) else f"{time} s"
