"""Run the papers' experiments and write one page with every figure and table, described beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nonsmooth.experiments.report.entries import Claim, Entry, Paper, Source
from nonsmooth.experiments.report.page import page
from nonsmooth.experiments.report.papers import PAPERS
from nonsmooth.experiments.report.runs import Outcome, Reproduction, State, Watcher
from nonsmooth.experiments.report.verdicts import Verdict, judge_entry, judge_source
from nonsmooth.experiments.shared.output import write_text

REPORT = "report.html"


def write_report(run: Reproduction, papers: Sequence[Paper]) -> Path:
    """Write the page into the folder of the run."""
    return write_text(run.folder / REPORT, page(run, papers))


__all__ = [
    "PAPERS",
    "Claim",
    "Entry",
    "Outcome",
    "Paper",
    "Reproduction",
    "Source",
    "State",
    "Verdict",
    "Watcher",
    "judge_entry",
    "judge_source",
    "write_report",
]
