"""The command `nonsmooth inspect`: what a recording holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from nonsmooth.cli.parts import Group, command
from nonsmooth.cli.terminal.console import OUT


@command(
    Group.RECORDINGS,
    ("nonsmooth inspect f.h5", "also while the run goes on"),
)
def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5).")],
) -> None:
    """Show what a recorded run holds, how far it came, and its certificate."""
    from nonsmooth.cli.terminal.run_tables import recording_report
    from nonsmooth.io import Trajectory

    with Trajectory(file) as trajectory:
        OUT.print(Text(str(file), "bold"), soft_wrap=True)
        OUT.print(recording_report(trajectory))
