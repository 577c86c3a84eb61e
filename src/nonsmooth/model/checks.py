"""Checks of the model's arguments. Each error names the argument, its value and the cure."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError

ORIGIN = (0.0, 0.0, 0.0)

LARGEST, SMALLEST = 1e40, 1e-40
"""Bounds of inputs in SI units: products such as density · length⁵ stay in the range of a double."""


def array(name: str, value: Any, shape: tuple[int, ...], meaning: str) -> Floats:
    """Return a float64 copy of the wanted shape (−1 takes any length), finite everywhere."""
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):  # rows of unequal length
        raise ProblemError(f"{name} is not a rectangular array: give {meaning}") from None
    if given.dtype.kind not in "iuf":
        raise ProblemError(f"{name} is not made of real numbers: give {meaning}")
    out = np.array(given, dtype=np.float64, order="C")
    if out.ndim != len(shape) or any(
        want not in (-1, have) for want, have in zip(shape, out.shape, strict=True)
    ):
        raise ProblemError(f"{name} has shape {out.shape}: give {meaning}")
    wrong = ~(np.abs(out) <= LARGEST)
    if wrong.any():
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        place = f" at index {index[0] if len(index) == 1 else index}" if index else ""
        if np.isfinite(out[index]):
            raise ProblemError(f"{name} is {out[index]:g}{place}: give at most {LARGEST:g} in size")
        raise ProblemError(f"{name} is {out[index]}{place}: every number must be finite")
    return out


def vector(name: str, value: Any) -> Floats:
    """Return three finite numbers."""
    if value is ORIGIN:  # the most common default
        return np.zeros(3)
    return array(name, value, (3,), "three numbers")


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ProblemError(f"{name} is {value!r}: give one number")
    size: Any = abs(value)
    if not size <= LARGEST:  # before float(), which cannot take every whole number
        if isinstance(value, int):
            raise ProblemError(f"{name} is a number beyond {LARGEST:g}: choose a smaller one")
        raise ProblemError(f"{name} is {value}: it must be finite, and at most {LARGEST:g} in size")
    return float(value)


def positive(name: str, value: Any, unit: str) -> float:
    """Return a finite number above zero; the unit may be empty."""
    out = number(name, value)
    if out < SMALLEST:
        cure = "it must be positive" if out <= 0.0 else f"at least {SMALLEST:g} is possible"
        raise ProblemError(f"{name} is {f'{out:g} {unit}'.rstrip()}: {cure}")
    return out


def text(name: str, value: Any) -> str:
    """Return a name that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(f"{name} is {value!r}: give a nonempty string")
    return value
