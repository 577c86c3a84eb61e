"""The bar of a run of many parts that take very different times: parts done, the part at work, time left."""

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
"""Seconds of work after which what was measured counts as much as what was expected."""


class TimeLeft:
    """How long a run still takes, from the time expected for each part and the time that went by.

    Expected times may be rough: only how they compare matters once some of them have gone by.
    """

    def __init__(self, expected: Sequence[float], clock: Callable[[], float] = time.monotonic) -> None:
        """Take the expected seconds of every part, in their order."""
        self.expected = list(expected)
        self.parts_done = 0
        self._fraction = 0.0
        self._clock = clock
        self._started = clock()

    def move(self, fraction: float) -> None:
        """Set how much of the part at work is done, from 0 to 1."""
        self._fraction = min(max(fraction, 0.0), 1.0)

    def finish_part(self) -> None:
        """Count the part at work as done."""
        self.parts_done += 1
        self._fraction = 0.0

    @property
    def done(self) -> float:
        """Expected seconds of what is done."""
        current = self.expected[self.parts_done] if self.parts_done < len(self.expected) else 0.0
        return sum(self.expected[: self.parts_done]) + self._fraction * current

    @property
    def total(self) -> float:
        """Expected seconds of everything."""
        return sum(self.expected)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        spent = self._clock() - self._started
        return (spent + _TRUST) / (self.done + _TRUST) * (self.total - self.done)

    def __str__(self) -> str:
        """For a column of the bar, which asks again and again: what is left at this moment."""
        return f"{duration(self.left)} left"


class OverallBar:
    """What a run tells while it goes on. Where stderr is no terminal, only `say` shows something."""

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
        """Show how many pieces of the part are done, of how many, and what is done now."""
        self._estimate.move(done / total if total else 0.0)
        text, count = f"{self._name}: {what}", f"{done}/{total}"
        self._bar.update(self._part, completed=done, total=total, description=text, count=count)
        self._refresh()

    def finish_part(self) -> None:
        """Show that the part is through."""
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
    """Show two bars on stderr, all parts and the part at work; give the object that moves them."""
    with shown_progress("{task.fields[count]}", "{task.fields[left]}") as bar:
        yield OverallBar(bar, expected)
