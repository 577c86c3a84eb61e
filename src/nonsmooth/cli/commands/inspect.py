"""The command `nonsmooth inspect`: the contents of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from nonsmooth.cli.parts import Group, command
from nonsmooth.cli.terminal.console import OUT


@command(
    Group.RECORDINGS,
    ("nonsmooth inspect f.h5", "also during the run"),
)
def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5).")],
) -> None:
    """Show the contents of a recorded run, the time it reached, and its certificate."""
    from nonsmooth.cli.terminal.run_tables import recording_report
    from nonsmooth.io import Trajectory

    with Trajectory(file) as trajectory:
        OUT.print(Text(str(file), "bold"), soft_wrap=True)
        OUT.print(recording_report(trajectory))
