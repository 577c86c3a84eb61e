"""The two streams of the command in the house style, and the bar of a long run.

Text is shown as it is: square brackets in a name are not markup.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

OUT = Console(markup=False, highlight=False)
"""Standard output: answers."""
ERR = Console(markup=False, highlight=False, stderr=True)
"""Standard error: mistakes, notices and progress."""


def headline(name: str, summary: str) -> None:
    """Say what the answer is about: its name, and its summary if there is one."""
    OUT.print(Text.assemble((name, "bold"), f": {summary}" if summary else ""), soft_wrap=True)


def print_json(answer: Any) -> None:
    """Print an answer for other programs; it must hold neither NaN nor infinity."""
    print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress_bar(name: str, quiet: bool = False) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar with the time left on stderr; give the function that moves it.

    It is called as move(done, total, what): how many pieces are done, of how many, and what is done now.
    Where stderr is no terminal, or where it is `quiet`, nothing is shown.
    """
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with shown_progress(MofNCompleteColumn(), TimeRemainingColumn(), quiet=quiet) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, now: bar.update(task, completed=done, total=total, description=now)


def shown_progress(*columns: str | ProgressColumn, quiet: bool = False) -> Progress:
    """Return a display on stderr of what is done, a bar, and more columns, which is gone in the end."""
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    shown = ERR.is_terminal and not quiet
    return Progress(
        what, BarColumn(24), *columns, console=ERR, expand=True, transient=True, disable=not shown
    )
