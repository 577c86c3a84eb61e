"""Standard output and standard error in the common style, and the progress bar of a long run.

Text is printed verbatim: square brackets in a name are not markup.
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
"""Standard output: results."""
ERR = Console(markup=False, highlight=False, stderr=True)
"""Standard error: errors, notices and progress."""


def headline(name: str, summary: str) -> None:
    """Print the title of a result: a name, and its summary if there is one."""
    OUT.print(Text.assemble((name, "bold"), f": {summary}" if summary else ""), soft_wrap=True)


def print_json(answer: Any) -> None:
    """Print a result as JSON; it must contain neither NaN nor infinity."""
    print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress_bar(name: str, quiet: bool = False) -> Iterator[Callable[[int, int, str], None]]:
    """Show a progress bar with the time left on stderr; yield the function that updates it.

    It is called as move(done, total, what): the number of pieces done, of how many, and the present one.
    Nothing is shown if stderr is not a terminal or if `quiet` is set.
    """
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with shown_progress(MofNCompleteColumn(), TimeRemainingColumn(), quiet=quiet) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, now: bar.update(task, completed=done, total=total, description=now)


def shown_progress(*columns: str | ProgressColumn, quiet: bool = False) -> Progress:
    """Return a display on stderr of the task, a bar, and more columns; it is erased at the end."""
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    shown = ERR.is_terminal and not quiet
    return Progress(
        what, BarColumn(24), *columns, console=ERR, expand=True, transient=True, disable=not shown
    )
