"""The report as one self-contained HTML page: the papers' results described beside ours, with verdicts.

Each picture is embedded once. Data files are links to the folders beside the page. The text of the page is
in the templates; its structure is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from jinja2 import Environment

from nonsmooth._support.pages import templates
from nonsmooth._support.words import counted, duration
from nonsmooth.experiments.report.entries import Paper
from nonsmooth.experiments.report.parts import badge, columns, counts, slug, tallied, tested
from nonsmooth.experiments.report.pictures import Embedded, embed
from nonsmooth.experiments.report.runs import ERROR_FILE, Outcome, Reproduction, State
from nonsmooth.experiments.report.typography import number, percent, typeset
from nonsmooth.experiments.report.verdicts import (
    MEANING,
    JudgedEntry,
    JudgedRow,
    Verdict,
    judge_entry,
    judge_row,
    tally,
)


def page(run: Reproduction, papers: Sequence[Paper]) -> str:
    """The whole page."""
    title = f"Reproduction of {counted(len(papers), 'paper')}"
    if len(papers) == 1:
        title = f"Reproduction of {papers[0].authors}"
    content = _Content(run)
    sections = [content.section(paper) for paper in papers]
    named = {name for paper in papers for name in paper.experiments}
    others = [each for each in run.outcomes.values() if each.experiment.name not in named]
    outcomes = list(run.outcomes.values())
    complete = [each for each in outcomes if each.complete]
    facts = (
        f"nonsmooth {run.machine.packages['nonsmooth']}",
        "quick form" if run.quick else "full form",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"{len(complete)} of {len(outcomes)} experiments",
        f"{duration(sum(each.seconds for each in complete))} of computing",
    )
    return report_templates().get_template("report.html.j2").render(
        title=title,
        facts=facts,
        run=run,
        outcomes=outcomes,
        sections=sections,
        others=[content.card(each, "other experiments") for each in others],
        meanings=MEANING,
    )  # fmt: skip


def report_templates() -> Environment:
    """Return the templates of the report, with their helper functions."""
    filters = (
        address, badge, columns, counted, counts, duration, number, percent, slug, tallied, tested, typeset,
    )  # fmt: skip
    found = templates("nonsmooth.experiments.report", *filters)
    found.globals.update(State=State, Verdict=Verdict, error_file=ERROR_FILE)
    return found


def address(outcome: Outcome, file: str) -> str:
    """Path of a file relative to the page."""
    return quote(f"{outcome.experiment.name}/{file}")


@dataclass(frozen=True)
class _Picture:
    """A picture of an experiment, or a link to its first place on the page."""

    outcome: Outcome
    file: str
    image: Embedded | None
    seen: tuple[str, str] = ("", "")
    """The anchor and the name of that place."""

    @property
    def described(self) -> str:
        return f"{self.outcome.experiment.name}: {self.file.removesuffix('.png').replace('_', ' ')}"


@dataclass(frozen=True)
class _Entry:
    """A figure or table with its verdicts."""

    judged: JudgedEntry
    anchor: str
    pictures: list[_Picture]


@dataclass(frozen=True)
class _Card:
    """All results of an experiment."""

    outcome: Outcome
    above: bool
    """Whether the card is under another paper already; then it is not repeated."""
    rows: Sequence[JudgedRow] = ()
    pictures: Sequence[_Picture] = ()
    """Pictures that belong to no figure or table."""

    @property
    def checked(self) -> list[JudgedRow]:
        """Numbers with a closed form or an independent reference in place of a printed one."""
        return [row for row in self.rows if row.row.paper is None and row.wanted is not None]


@dataclass(frozen=True)
class _Section:
    """A paper."""

    paper: Paper
    entries: list[_Entry]
    cards: list[_Card]

    @property
    def pieces(self) -> int:
        """Figures and tables."""
        return sum(entry.is_figure_or_table for entry in self.paper.entries)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        return tally(entry.judged.verdict for entry in self.entries)


class _Content:
    """The content of the page in order: keeps track of the pictures and cards that it has, and where."""

    def __init__(self, run: Reproduction) -> None:
        self._run = run
        self._places: dict[tuple[str, str], tuple[str, str]] = {}
        self._cards: set[str] = set()

    def section(self, paper: Paper) -> _Section:
        """A paper with its figures and tables, and the cards of its experiments."""
        entries = []
        for judged in (judge_entry(entry, self._run.outcomes) for entry in paper.entries):
            anchor = slug(paper.name, judged.entry.label)
            pictures = [
                self._picture(each.outcome, file, anchor, judged.entry.label)
                for each in judged.sources
                for file in each.source.pictures
                if file in each.outcome.files
            ]
            entries.append(_Entry(judged, anchor, pictures))
        return _Section(
            paper, entries, [self.card(self._run.outcomes[name], paper.authors) for name in paper.experiments]
        )

    def card(self, outcome: Outcome, place: str) -> _Card:
        """The card of an experiment; one that belongs to two papers appears with the first."""
        name = outcome.experiment.name
        if name in self._cards:
            return _Card(outcome, above=True)
        self._cards.add(name)
        if not outcome.complete:
            return _Card(outcome, above=False)
        more = [file for file in outcome.files if file.endswith(".png") and (name, file) not in self._places]
        pictures = [self._picture(outcome, file, slug("run", name), f"{place}, {name}") for file in more]
        return _Card(outcome, False, [judge_row(row) for row in outcome.rows], pictures)

    def _picture(self, outcome: Outcome, file: str, anchor: str, place: str) -> _Picture:
        name = outcome.experiment.name
        if (name, file) in self._places:
            return _Picture(outcome, file, None, self._places[name, file])
        self._places[name, file] = anchor, place
        return _Picture(outcome, file, embed(self._run.folder / name / file))
