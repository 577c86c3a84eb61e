"""The report as one HTML page that needs nothing else: theirs described beside ours, with verdicts.

Pictures are inside the page, each of them once. Data files are links to the folders beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from nonsmooth._support.words import counted, duration
from nonsmooth.experiments.report.entries import Paper
from nonsmooth.experiments.report.machine import Machine
from nonsmooth.experiments.report.parts import (
    address,
    all_numbers,
    badge,
    claim_item,
    folded,
    links,
    numbers,
    slug,
    table,
)
from nonsmooth.experiments.report.pictures import embed
from nonsmooth.experiments.report.runs import ERROR_FILE, Outcome, Reproduction, State
from nonsmooth.experiments.report.style import STYLE
from nonsmooth.experiments.report.typography import typeset
from nonsmooth.experiments.report.verdicts import (
    MEANING,
    JudgedEntry,
    JudgedSource,
    Verdict,
    judge_entry,
    judge_row,
    tally,
)

_QUICK = """This is the quick form: smaller scenes, coarser steps, fewer sizes. What a paper says of thousands
of bodies is judged here on fewer; the full form is <code>nonsmooth reproduce</code> without
<code>--quick</code>."""

_RULE = """Every verdict is computed from the numbers on this page by one rule. A number agrees if it is apart
from the printed one by no more than 1 % of it, or by no more than half a unit of its last printed decimal; it
is close up to 10 %. A number that was fitted to scattered values, such as an order of time stepping with
impacts, has a 95 % interval: it agrees or is close only if all of the interval is, differs only if all of it
does, and else is undecided. Where the value is zero, up to 1e-6 agrees and up to 1e-3 is close, in the unit
of the row. Where the paper prints no number, a closed form or an independent computation takes its place, and
what agrees with it is called checked. Printed numbers that depend on something which is not printed, or on
their machine, are set beside ours in kind only and not judged. What a paper says in words is tested by the
bounds given with it. A figure or table gets the worst of all this; one with numbers in kind only is
at best in kind."""


def page(run: Reproduction, papers: Sequence[Paper]) -> str:
    """The whole page."""
    return _Page(run, papers).text()


class _Page:
    """A page that is being written: it remembers which pictures it has and where."""

    def __init__(self, run: Reproduction, papers: Sequence[Paper]) -> None:
        self.run = run
        self.papers = papers
        self.judged = {
            paper.name: [judge_entry(entry, run.outcomes) for entry in paper.entries] for paper in papers
        }
        self.places: dict[tuple[str, str], tuple[str, str]] = {}
        """Where a picture of an experiment is: the anchor and the name of the place."""
        self.cards: set[str] = set()
        """Experiments that have their card."""

    def text(self) -> str:
        title = f"Reproduction of {counted(len(self.papers), 'paper')}"
        if len(self.papers) == 1:
            title = f"Reproduction of {self.papers[0].authors}"
        named = {name for paper in self.papers for name in paper.experiments}
        others = [each for each in self.run.outcomes.values() if each.experiment.name not in named]
        sections = [self._opening(title), *map(self._paper, self.papers)]
        if others:
            cards = self._all_cards(others, "other experiments")
            sections.append(f"<section id='other'><h2>Other experiments</h2>\n{cards}</section>")
        return (
            "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
            f"<body><div class='page'>\n{self._contents(bool(others))}\n"
            f"<main>\n{chr(10).join(sections)}\n</main></div></body></html>\n"
        )

    # ---- the beginning ------------------------------------------------------------------------------

    def _opening(self, title: str) -> str:
        run, outcomes = self.run, list(self.run.outcomes.values())
        complete = [each for each in outcomes if each.complete]
        facts = (
            f"nonsmooth {run.machine.packages['nonsmooth']}",
            "quick form" if run.quick else "full form",
            f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            f"{len(complete)} of {len(outcomes)} experiments",
            f"{duration(sum(each.seconds for each in complete))} of computing",
        )
        meanings = ([(badge(kind), ""), (typeset(meaning), "")] for kind, meaning in MEANING.items())
        return "\n".join(
            (
                f"<h1 id='top'>{escape(title)}</h1>",
                f"<p class='pale'>{escape(', '.join(facts))}</p>",
                *_alarms(outcomes),
                f"<p class='hint'>{_QUICK}</p>" if run.quick else "",
                self._overview(),
                f"<h3 class='wide' id='verdicts'>How the verdicts come about</h3><p>{typeset(_RULE)}</p>",
                folded("What each verdict says of a figure or table", table((), meanings)),
                _machine(run.machine),
                folded("Experiments and the time they took", self._times(outcomes)),
            )
        )

    def _overview(self) -> str:
        """Verdicts by paper."""
        heads = [
            ("paper", "name"),
            ("figures and tables", "number"),
            ("in the text", "number"),
            ("verdicts", ""),
        ]
        lines = []
        for paper in self.papers:
            pieces = sum(entry.is_figure_or_table for entry in paper.entries)
            found = tally(entry.verdict for entry in self.judged[paper.name])
            lines.append(
                [
                    (f"<a href='#{paper.name}'>{escape(paper.authors)}</a>", "name"),
                    (str(pieces), "number"),
                    (str(len(paper.entries) - pieces), "number"),
                    (" ".join(badge(kind, f"{kind} {count}") for kind, count in found.items()), ""),
                ]
            )
        return table(heads, lines)

    def _times(self, outcomes: Iterable[Outcome]) -> str:
        heads = [
            ("experiment", ""),
            ("what it is", ""),
            ("state", ""),
            ("time", "number"),
            ("finished (UTC)", ""),
            ("on another machine", ""),
        ]
        here, lines = self.run.machine.line(), []
        for each in outcomes:
            name = each.experiment.name
            lines.append(
                [
                    (f"<a href='#{slug('run', name)}'>{escape(name)}</a>", ""),
                    (typeset(each.experiment.summary), ""),
                    (badge(each.state), ""),
                    (duration(each.seconds) if math.isfinite(each.seconds) else "", "number"),
                    (escape(each.finished), ""),
                    (escape(each.machine if each.machine != here else ""), ""),
                ]
            )
        return table(heads, lines)

    def _contents(self, others: bool) -> str:
        parts = ["<nav><a href='#top'><b>Top</b></a>"]
        for paper in self.papers:
            parts.append(f"<h2><a href='#{paper.name}'>{escape(paper.authors)}</a></h2><ul>")
            for judged in self.judged[paper.name]:
                label = judged.entry.label
                link = f"<a href='#{slug(paper.name, label)}'>{typeset(label)}</a>"
                parts.append(f"<li>{link}{badge(judged.verdict)}</li>")
            parts.append(f"<li><a href='#{paper.name}-experiments'>Experiments</a></li></ul>")
        if others:
            parts.append("<h2><a href='#other'>Other experiments</a></h2>")
        return "\n".join([*parts, "</nav>"])

    # ---- a paper ------------------------------------------------------------------------------------

    def _paper(self, paper: Paper) -> str:
        entries = "\n".join(self._entry(paper, judged) for judged in self.judged[paper.name])
        about = "All that each experiment found, its other pictures, and its data."
        if paper.further:
            about += " Those that stand beside no figure are on the paper's subject."
        cards = self._all_cards((self.run.outcomes[name] for name in paper.experiments), paper.authors)
        return (
            f"<section id='{paper.name}'><h2>{escape(paper.authors)}</h2>"
            f"<p><i>{typeset(paper.title)}</i>, {typeset(paper.place)}.</p>\n{entries}\n"
            f"<h3 class='wide' id='{paper.name}-experiments'>Experiments</h3><p>{about}</p>{cards}</section>"
        )

    def _entry(self, paper: Paper, judged: JudgedEntry) -> str:
        entry, anchor = judged.entry, slug(paper.name, judged.entry.label)
        ours = [_whence(each) for each in judged.sources]
        if entry.remark:
            ours.append(f"<p>{typeset(entry.remark)}</p>")
        claims = "".join(claim_item(claim) for each in judged.sources for claim in each.claims)
        said = f"<ul class='claims'>{claims}</ul>" if claims else ""
        pictures = "".join(
            self._picture(each.outcome, file, anchor, entry.label)
            for each in judged.sources
            for file in each.source.pictures
        )
        tables = "".join(numbers(each.rows) + _why_in_kind(each) for each in judged.sources)
        return (
            f"<article id='{anchor}'><h3>{typeset(entry.label)} {badge(judged.verdict)}</h3>"
            f"<div class='pair'><div><h4>Theirs</h4><p>{typeset(entry.theirs)}</p>{said}</div>"
            f"<div><h4>Ours</h4>{''.join(ours)}</div></div>{pictures}{tables}</article>"
        )

    def _picture(self, outcome: Outcome, file: str, anchor: str, place: str) -> str:
        """The picture, or a link to where it was shown before."""
        name = outcome.experiment.name
        if file not in outcome.files:
            return ""
        if (name, file) in self.places:
            seen, where = self.places[name, file]
            return f"<p>The picture is <a href='#{seen}'>above, with {escape(where)}</a>.</p>"
        self.places[name, file] = anchor, place
        picture = embed(self.run.folder / name / file)
        described = escape(f"{name}: {file.removesuffix('.png').replace('_', ' ')}", quote=True)
        size = f"width='{picture.width}' height='{picture.height}'"
        image = f"<img src='{picture.address}' {size} alt='{described}'>"
        return f"<figure><a href='{address(outcome, file)}'>{image}</a></figure>"

    # ---- the cards of experiments -------------------------------------------------------------------

    def _all_cards(self, outcomes: Iterable[Outcome], place: str) -> str:
        return "\n".join(self._card(each, place) for each in outcomes)

    def _card(self, outcome: Outcome, place: str) -> str:
        """All that is known of an experiment; one that belongs to two papers has its card with the first."""
        experiment, anchor = outcome.experiment, slug("run", outcome.experiment.name)
        if experiment.name in self.cards:
            return f"<p><a href='#{anchor}'>{escape(experiment.name)}</a> is above.</p>"
        self.cards.add(experiment.name)
        inside = ""
        if outcome.state is State.FAILED:
            inside = _failure(outcome)
        elif outcome.complete:
            inside = self._results(outcome, f"{place}, {experiment.name}")
        return (
            f"<article id='{anchor}'><h3>{escape(experiment.name)} {badge(outcome.state)}</h3>"
            f"<p>{typeset(experiment.summary)} <span class='pale'>({typeset(experiment.paper)})</span></p>"
            f"{inside}</article>"
        )

    def _results(self, outcome: Outcome, place: str) -> str:
        name = outcome.experiment.name
        rows = [judge_row(row) for row in outcome.rows]
        checked = tally(row.verdict for row in rows if row.row.paper is None and row.wanted is not None)
        badges = " ".join(badge(kind, f"{kind} {count}") for kind, count in checked.items())
        more = [file for file in outcome.files if file.endswith(".png") and (name, file) not in self.places]
        pictures = "".join(self._picture(outcome, file, slug("run", name), place) for file in more)
        files = links(outcome, outcome.files)
        return "".join(
            (
                "".join(f"<p class='alarm'>Failed: {escape(each)}</p>" for each in outcome.failures),
                f"<p>Against closed forms and independent references: {badges}</p>" if badges else "",
                f"<p class='small'>{duration(outcome.seconds)}, finished {escape(outcome.finished)} UTC. "
                f"Files: {files}</p>",
                folded(counted(len(more), "more picture"), pictures) if more else "",
                folded(f"All {counted(len(rows), 'number')}", all_numbers(rows)),
            )
        )


def _whence(judged: JudgedSource) -> str:
    """Which experiment it is by, what that has not given, and where its data are."""
    outcome, name = judged.outcome, judged.source.experiment
    where = f"<a href='#{slug('run', name)}'>{escape(name)}</a>"
    if outcome.state is State.FAILED:
        return f"<p>{where} failed: {escape(outcome.error)}</p>"
    if outcome.state is State.NOT_RUN:
        return f"<p>{where} was not run yet.</p>"
    absent = ""
    if judged.absent:
        absent = f"<p>The experiment has not given: {escape(', '.join(judged.absent))}.</p>"
    data = links(outcome, (file for file in outcome.files if not file.endswith((".png", ".md"))))
    return f"{absent}<p class='small'>By {where} in {duration(outcome.seconds)}. Data: {data}</p>"


def _failure(outcome: Outcome) -> str:
    file = f"<a href='{address(outcome, ERROR_FILE)}'>{ERROR_FILE}</a>"
    return f"<p>After {duration(outcome.seconds)}: {escape(outcome.error)} ({file})</p>" + folded(
        "Traceback", f"<pre>{escape(outcome.details)}</pre>"
    )


def _alarms(outcomes: Iterable[Outcome]) -> list[str]:
    """What is missing, and why."""
    found, waiting = [], []
    for each in outcomes:
        name = each.experiment.name
        if each.state is State.NOT_RUN:
            waiting.append(name)
        if each.state is State.FAILED:
            link = f"<a href='#{slug('run', name)}'>{escape(name)}</a>"
            after = f"after {duration(each.seconds)}: {escape(each.error)}"
            found.append(f"<p class='alarm'><b>{link} failed</b> {after}</p>")
        for sentence in each.failures:
            link = f"<a href='#{slug('run', name)}'>{escape(name)}</a>"
            found.append(f"<p class='alarm'><b>{link} failed:</b> {escape(sentence)}</p>")
    if waiting:
        names = escape(", ".join(waiting))
        found.append(f"<p class='alarm'><b>Not run yet:</b> {names}. The same command goes on with them.</p>")
    return found


def _machine(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.packages.items())
    facts = {
        "processor": machine.line(),
        "system": machine.system,
        "Python": machine.python,
        "packages": versions,
    }
    lines = ([(what, "pale"), (escape(fact), "")] for what, fact in facts.items())
    return f"<h3 class='wide' id='machine'>The machine</h3>{table((), lines)}"


def _why_in_kind(judged: JudgedSource) -> str:
    if not any(row.verdict is Verdict.IN_KIND for row in judged.rows):
        return ""
    return f"<p class='pale small'>In kind only: {typeset(judged.source.why_in_kind)}</p>"
