"""The command `nonsmooth experiment`: one experiment of a paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.parts import Group, check_folder, command, compile_notice, option, switch
from nonsmooth.cli.terminal.console import ERR, OUT, progress_bar
from nonsmooth.cli.terminal.lists import list_experiments


@command(
    Group.PAPERS,
    ("nonsmooth experiment", "list them"),
    ("nonsmooth experiment melanz-ball", "files go to results/melanz-ball"),
    ("nonsmooth experiment melanz-ball --quick --output trial", "a coarser run"),
)
def experiment(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the experiment; lists all experiments if omitted."),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output -o", "DIR", "Output folder.", default="results/NAME"),
    ] = None,
    quick: Annotated[bool, switch("--quick", "Run a coarser, faster version.")] = False,
) -> None:
    """Run an experiment of a paper: write data and figures, and print the paper's values beside ours."""
    from nonsmooth._support.words import counted
    from nonsmooth.cli.terminal.tables import comparison_table, titled
    from nonsmooth.experiments import REGISTRY

    if name is None:
        list_experiments()
        return
    experiment = REGISTRY.by_name(name)
    folder = output if output is not None else Path("results") / name
    check_folder(folder)
    started = time.time()
    try:
        with compile_notice(), progress_bar(name) as progress:
            summary = experiment.run(folder, quick, progress)
    except KeyboardInterrupt:
        written = [file for file in folder.rglob("*") if file.is_file() and file.stat().st_mtime >= started]
        kept = sorted(file.name for file in written if file.parent == folder)
        what = f"kept {', '.join(kept)} in {folder}" if kept else "no file was written"
        if len(written) > len(kept):
            what = f"finished parts are kept in {folder}; run the same command to continue"
        ERR.print(f"Interrupted: {what}.", soft_wrap=True)
        raise typer.Exit(130) from None
    rows = [(row.quantity, row.paper, row.ours, row.unit, row.error_or_note) for row in summary.comparisons]
    OUT.print(titled(f"{summary.experiment}: {summary.paper}", comparison_table(rows)))
    OUT.print(f"\n{counted(len(summary.files), 'file')} in {folder}", soft_wrap=True)
    for sentence in summary.failures:
        ERR.print(f"Failed: {sentence}", soft_wrap=True, markup=False)
    if summary.failures:
        raise typer.Exit(2)
