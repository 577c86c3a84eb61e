"""Number of time steps in a duration."""

from __future__ import annotations

import math

from nonsmooth.errors import OptionError


def check_step(step: float) -> None:
    """Raise unless a time step in s is positive and finite."""
    if not (math.isfinite(step) and step > 0.0):
        raise OptionError(f"step is {step} s: give a positive time step, for example 0.01")


def steps_to(time: float, step: float) -> int:
    """Number of steps until the first one that ends at or after a time, both in s."""
    return math.ceil(time / step - 1e-9)


def step_count(duration: float, step: float) -> int:
    """Number of steps of a run; inconsistent or swapped times in s are errors."""
    check_step(step)
    if not (math.isfinite(duration) and duration >= 0.0):
        raise OptionError(f"duration is {duration} s: give a time that is not negative")
    if 0.0 < duration < step * (1.0 - 1e-9):
        raise OptionError(
            f"step is {step:g} s, which is longer than the duration of {duration:g} s: give a shorter step, "
            "or swap the two"
        )
    return steps_to(duration, step)
