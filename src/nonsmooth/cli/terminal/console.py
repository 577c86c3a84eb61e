"""The two streams of the command in the house style, and the bar of a long run.

Text is shown as it is: square brackets in a name are not markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

OUT = Console(markup=False, highlight=False)
"""Standard output: answers."""
ERR = Console(markup=False, highlight=False, stderr=True)
"""Standard error: mistakes, notices and progress."""


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar with the time left on stderr; give the function that moves it.

    It is called as move(done, total, what): how many pieces are done, of how many, and what is done now.
    Where stderr is no terminal, nothing is shown.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    columns = (what, BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    shown = ERR.is_terminal
    with Progress(*columns, console=ERR, expand=True, transient=True, disable=not shown) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, now: bar.update(task, completed=done, total=total, description=now)
