"""The command `nonsmooth reproduce`: all experiments of the papers, in one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import Group, check_folder, command, compile_notice, option, switch
from nonsmooth.cli.terminal.console import ERR, OUT
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth.cli.terminal.overall_bar import OverallBar
    from nonsmooth.experiments.report import Outcome, Paper, Reproduction


@command(
    Group.PAPERS,
    ("nonsmooth reproduce --quick", "all papers, coarse and fast"),
    ("nonsmooth reproduce --paper studer --quick", "the experiments of one paper"),
    ("nonsmooth reproduce --paper melanz --paper mazhar -o two", "two papers"),
    ("nonsmooth reproduce", "all papers at full size: takes hours"),
)
def reproduce(
    paper: Annotated[
        list[str] | None,
        option(
            "--paper",
            "NAME",
            "Paper to reproduce: melanz, negrut, mazhar, studer or andreani; may be repeated.",
            default="all",
        ),
    ] = None,
    quick: Annotated[bool, switch("--quick", "Run coarser, faster versions.")] = False,
    output: Annotated[
        Path | None,
        option(
            "--output -o",
            "DIR",
            "Output folder for the report and the data.",
            default="results/reproduce, with --quick results/reproduce-quick",
        ),
    ] = None,
    fresh: Annotated[bool, switch("--fresh", "Discard saved results and run again.")] = False,
) -> None:
    """Run the papers' experiments and write one HTML report that compares their results with ours.

    The report shows, for every figure and table, our figure, the paper's number and ours,
    and the verdict; it lists the machine and the times, and links to the data.
    After Ctrl-C, run the same command to continue: complete experiments are not run again.
    Exits with status 2 if an experiment failed; the others are still run.
    """
    from nonsmooth.cli.terminal.overall_bar import overall_bar
    from nonsmooth.experiments import REGISTRY
    from nonsmooth.experiments.report import PAPERS, Reproduction, write_report

    for name in paper or []:
        if name not in PAPERS:
            raise OptionError(f"--paper {name}: {advice(name, list(PAPERS))}")
    papers = [each for each in PAPERS.values() if not paper or each.name in paper]
    names = dict.fromkeys(name for each in papers for name in each.experiments)
    wanted = [REGISTRY[name] for name in (names if paper else names | dict.fromkeys(REGISTRY))]
    folder = output or Path("results") / ("reproduce-quick" if quick else "reproduce")
    check_folder(folder)
    run = Reproduction(wanted, folder, quick=quick, fresh=fresh)
    kept = len(run.experiments) - len(run.left)
    if kept:
        ERR.print(f"{kept} of {len(run.experiments)} experiments were complete before.")
    interrupted = False
    try:
        with compile_notice(), overall_bar(run.expected_seconds) as bar:
            run.run(_Watch(bar))
    except KeyboardInterrupt:
        interrupted = True
    report = write_report(run, papers)
    _print_overview(run, papers)
    OUT.print(f"\nReport written to {report}", soft_wrap=True)
    if interrupted:
        ERR.print(
            f"Interrupted with {len(run.left)} of {len(run.experiments)} experiments left; "
            "run the same command to continue."
        )
        raise typer.Exit(130)
    for each in run.failed:
        for sentence in each.failures or (each.error,):
            ERR.print(f"{each.experiment.name} failed: {sentence}", soft_wrap=True, markup=False)
    if run.failed:
        raise typer.Exit(2)


class _Watch:
    """Shows the progress of the run: a bar, and one line per finished experiment."""

    def __init__(self, bar: OverallBar) -> None:
        self._bar = bar
        self.begin, self.move = bar.begin, bar.move

    def end(self, outcome: Outcome) -> None:
        from nonsmooth._support.words import duration

        self._bar.finish_part()
        self._bar.say(f"{outcome.experiment.name}: {outcome.state}, {duration(outcome.seconds)}")


def _print_overview(run: Reproduction, papers: list[Paper]) -> None:
    """The number of figures, tables and passages of each paper by verdict."""
    from nonsmooth.cli.terminal.tables import plain_table, titled
    from nonsmooth.experiments.report import PAPERS, judge_entry
    from nonsmooth.experiments.report.parts import counts
    from nonsmooth.experiments.report.verdicts import tally

    table = plain_table("paper", "verdicts on figures, tables and passages")
    for paper in papers:
        found = tally(judge_entry(entry, run.outcomes).verdict for entry in paper.entries)
        table.add_row(paper.name, counts(found))
    form = "quick" if run.quick else "full"
    OUT.print(titled(f"Reproduction of {len(papers)} of {len(PAPERS)} papers, {form} form", table))
