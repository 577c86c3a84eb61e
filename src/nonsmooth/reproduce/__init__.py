"""Run the papers' experiments and write one page: every figure and table, theirs described beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nonsmooth.experiments._output import write_text
from nonsmooth.reproduce.entries import Claim, Entry, Paper, Source
from nonsmooth.reproduce.page import page
from nonsmooth.reproduce.papers import PAPERS
from nonsmooth.reproduce.runs import Outcome, Reproduction, State, Watcher
from nonsmooth.reproduce.verdicts import Verdict, judge_entry

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
    "write_report",
]
