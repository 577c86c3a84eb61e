"""Accumulation points: infinitely many impacts in a finite time, seen coming and passed."""

from __future__ import annotations

from collections import deque

_KEPT = 3
_NEARLY_ONE = 1.0 - 1e-6


class ImpactRhythm:
    """The times of the last impacts, and how the pauses between them shrink."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_KEPT)

    def note(self, time: float) -> None:
        """Remember an impact."""
        self._times.append(time)

    def time_to_rest(self, pause: float, restitution: float) -> float | None:
        """Sum of all pauses to come in s; None where they do not shrink.

        From the last two pauses where there are so many; else the next one is expected to take `pause`, and
        each further one the part `restitution` of the one before.
        """
        if len(self._times) >= 3:
            first, second, third = list(self._times)[-3:]
            if second > first:
                ratio = (third - second) / (second - first)
                return (third - second) * ratio / (1.0 - ratio) if ratio < _NEARLY_ONE else None
        return pause / (1.0 - restitution) if restitution < _NEARLY_ONE else None
