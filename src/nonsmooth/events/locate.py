"""Location of the first time in a smooth step at which a monitored number becomes negative."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from nonsmooth._support.arrays import Floats
from nonsmooth.events.smooth import SmoothMotion

_FEWEST = 4
"""Smallest number of intervals of a step at whose ends all numbers are evaluated."""
_FINEST = 4.0 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Crossing:
    """The first time at which a monitored number becomes negative, and all that are negative by then."""

    time: float
    labels: tuple[tuple[str, int], ...]


def first_crossing(
    motion: SmoothMotion, dense: Callable[[float], Floats], begin: float, end: float, longest: float
) -> Crossing | None:
    """Return the first crossing of a step; `dense` gives the vector of the state at any of its times.

    All numbers are evaluated at least every `longest` seconds, and four times in a step.
    """
    times = np.linspace(begin, end, max(_FEWEST, math.ceil((end - begin) / longest)) + 1)
    limits = motion.thresholds()
    if not len(limits):
        return None
    before = motion.watch(times[0], dense(times[0]))
    for left, right in itertools.pairwise(times.tolist()):
        after = motion.watch(right, dense(right))
        found: list[tuple[float, tuple[str, int]]] = []
        for k, (label, index) in enumerate(motion.watched):

            def value(t: float, k: int = k) -> float:
                return float(motion.watch(t, dense(t))[k])

            if after[k] < -limits[k]:
                start = left
                if label == "gap":
                    start = _after_leaving(motion, dense, index, left, right)
                found.append((_root(value, start, right), (label, index)))
            elif label == "gap" and min(before[k], after[k]) > 0.0:
                lowest = _lowest(motion, dense, index, left, right)
                if lowest is not None and value(lowest) < -limits[k]:
                    found.append((_root(value, left, lowest), (label, index)))
        if found:
            first = min(time for time, _ in found)
            return Crossing(first, tuple(label for time, label in found if time <= first + 1e-12))
        before = after
    return None


def _root(value: Callable[[float], float], left: float, right: float) -> float:
    if value(left) <= 0.0:
        return left
    return float(brentq(value, left, right, xtol=1e-15, rtol=_FINEST, maxiter=200))


def _after_leaving(
    motion: SmoothMotion, dense: Callable[[float], Floats], index: int, left: float, right: float
) -> float:
    """The time of the greatest gap of a contact that opens and closes between two samples, else `left`."""

    def speed(t: float) -> float:
        return motion.opening_speed(index, t, dense(t))

    if speed(left) > 0.0 > speed(right):
        return float(brentq(speed, left, right, xtol=1e-15, rtol=_FINEST))
    return left


def _lowest(
    motion: SmoothMotion, dense: Callable[[float], Floats], index: int, left: float, right: float
) -> float | None:
    """The time of the least gap of a contact that closes and opens between two samples."""

    def speed(t: float) -> float:
        return motion.opening_speed(index, t, dense(t))

    if speed(left) < 0.0 < speed(right):
        return float(brentq(speed, left, right, xtol=1e-15, rtol=_FINEST))
    return None
