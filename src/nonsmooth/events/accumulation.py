"""Accumulation points: infinitely many impacts in a finite time, detected and passed."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable

_KEPT = 8
_NEARLY_ONE = 1.0 - 1e-6
_CLEARLY_LESS = 0.95
_NO_TIME = 1e-10
"""Time in s within which all further impacts must lie to be passed though they are not small."""


class ImpactRhythm:
    """The last impacts: their times, speeds and contacts, and how the pauses between them shrink."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_KEPT)
        self._speeds: deque[float] = deque(maxlen=_KEPT)
        self._contacts: deque[set[int]] = deque(maxlen=_KEPT)

    def note(self, time: float, speed: float, contacts: Iterable[int]) -> None:
        """Store an impact: its time, the largest approach speed (m/s), and the contacts that approached."""
        self._times.append(time)
        self._speeds.append(speed)
        self._contacts.append(set(contacts))

    def time_to_rest(self, pause: float, restitution: float) -> float | None:
        """Sum of all further pauses in s; None if they do not shrink.

        From the last two pauses if available; otherwise the next one is expected to last `pause`, and each
        further one is `restitution` times the one before.
        """
        if len(self._times) >= 3:
            first, second, third = list(self._times)[-3:]
            if second > first:
                ratio = (third - second) / (second - first)
                return (third - second) * ratio / (1.0 - ratio) if ratio < _NEARLY_ONE else None
        return pause / (1.0 - restitution) if restitution < _NEARLY_ONE else None

    @property
    def reach(self) -> float:
        """Distance (m) that the fastest contact of the last impact moves in the time that counts as zero."""
        return 10.0 * _NO_TIME * self._speeds[-1]

    def chatter(self) -> set[int]:
        """Contacts that hit in turn, ever faster and softer, with no time left; empty if there are none.

        Example: the corners of a slider that chatters against a wall, where pauses shrink faster than speeds.
        """
        if len(self._times) < _KEPT or not self._speeds[-1] < self._speeds[0]:
            return set()
        pauses = [later - earlier for earlier, later in itertools.pairwise(self._times)]
        if not all(0.0 < later < _CLEARLY_LESS * earlier for earlier, later in itertools.pairwise(pauses)):
            return set()
        ratio = pauses[-1] / pauses[-2]
        return set().union(*self._contacts) if pauses[-1] * ratio / (1.0 - ratio) < _NO_TIME else set()
