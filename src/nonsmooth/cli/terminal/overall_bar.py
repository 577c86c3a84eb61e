"""Progress of a run whose parts take very different times: parts done, the present part, time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonsmooth._support.words import duration
from nonsmooth.cli.terminal.console import shown_progress

if TYPE_CHECKING:
    from rich.progress import Progress

_TRUST = 20.0
"""Seconds of work after which measured and expected times have equal weight."""


class TimeLeft:
    """Time left of a run, from the time expected for each part and the time elapsed.

    Expected times may be rough: only their ratios matter once some parts are done.
    """

    def __init__(self, expected: Sequence[float], clock: Callable[[], float] = time.monotonic) -> None:
        """Take the expected seconds of every part, in order."""
        self.expected = list(expected)
        self.parts_done = 0
        self._fraction = 0.0
        self._clock = clock
        self._started = clock()

    def move(self, fraction: float) -> None:
        """Set the finished fraction of the present part, from 0 to 1."""
        self._fraction = min(max(fraction, 0.0), 1.0)

    def finish_part(self) -> None:
        """Count the present part as done."""
        self.parts_done += 1
        self._fraction = 0.0

    @property
    def done(self) -> float:
        """Expected seconds of the finished work."""
        current = self.expected[self.parts_done] if self.parts_done < len(self.expected) else 0.0
        return sum(self.expected[: self.parts_done]) + self._fraction * current

    @property
    def total(self) -> float:
        """Expected seconds of all parts."""
        return sum(self.expected)

    @property
    def left(self) -> float:
        """Seconds left."""
        spent = self._clock() - self._started
        return (spent + _TRUST) / (self.done + _TRUST) * (self.total - self.done)

    def __str__(self) -> str:
        """A column of the bar that shows the time left at each refresh."""
        return f"{duration(self.left)} left"


class OverallBar:
    """Progress messages of a run. If stderr is not a terminal, only `say` prints."""

    def __init__(self, bar: Progress, expected: Sequence[float]) -> None:
        """Take a progress display, and the expected seconds of all parts."""
        self._bar = bar
        self._estimate = TimeLeft(expected)
        self._whole = bar.add_task("all", total=self._estimate.total or 1.0, count="", left=self._estimate)
        self._part = bar.add_task("", visible=False, count="", left="")
        self._name = ""
        self._refresh()

    def begin(self, name: str) -> None:
        """Show that a part begins."""
        self._name = name
        self._bar.reset(self._part, total=None, description=name, count="", left="", visible=True)
        self._refresh()

    def move(self, done: int, total: int, what: str) -> None:
        """Show the number of pieces of the part done, of how many, and the present one."""
        self._estimate.move(done / total if total else 0.0)
        text, count = f"{self._name}: {what}", f"{done}/{total}"
        self._bar.update(self._part, completed=done, total=total, description=text, count=count)
        self._refresh()

    def finish_part(self) -> None:
        """Show that the part is done."""
        self._estimate.finish_part()
        self._bar.update(self._part, visible=False)
        self._refresh()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, soft_wrap=True)

    def _refresh(self) -> None:
        count = f"{self._estimate.parts_done}/{len(self._estimate.expected)}"
        self._bar.update(self._whole, completed=self._estimate.done, count=count)


@contextmanager
def overall_bar(expected: Sequence[float]) -> Iterator[OverallBar]:
    """Show two bars on stderr, for all parts and the present part; yield the object that updates them."""
    with shown_progress("{task.fields[count]}", "{task.fields[left]}") as bar:
        yield OverallBar(bar, expected)
