"""Parts of the report in HTML: badges, tables of numbers, statements that were tested, links to files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from nonsmooth._support.words import counted
from nonsmooth.experiments.report.entries import Claim
from nonsmooth.experiments.report.runs import Outcome
from nonsmooth.experiments.report.typography import number, percent, typeset
from nonsmooth.experiments.report.verdicts import JudgedClaim, JudgedRow, Verdict, tally

Cell = tuple[str, str]
"""Ready HTML, and the names of its style."""

_OPEN_ROWS = 8
"""Tables up to this length are shown at once; of longer ones only what the paper prints."""
_HEADS: tuple[Cell, ...] = (
    ("quantity", "name"),
    ("paper", "number"),
    ("reference", "number"),
    ("ours", "number ours"),
    ("unit", "unit"),
    ("apart", "number"),
    ("verdict", ""),
)


def slug(*words: str) -> str:
    """A name for a place of the page, or for a style."""
    return "-".join(part for part in re.split(r"[^a-z0-9]+", " ".join(words).lower()) if part)


def badge(verdict: str, text: str = "") -> str:
    """A verdict or a state in its colour; `text` says it in other words."""
    return f"<span class='badge {slug(verdict)}'>{escape(text or verdict)}</span>"


def table(heads: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> str:
    """A table of ready cells; without heads it begins at once.

    Every cell knows its head: on a narrow screen a row becomes a list of them.
    """
    names = [content for content, _ in heads]
    head = "".join(f"<th class='{style}'>{content}</th>" for content, style in heads)
    body = "\n".join(f"<tr>{''.join(map(_cell, line, names or [''] * len(line)))}</tr>" for line in lines)
    above = f"<thead><tr>{head}</tr></thead>" if heads else ""
    kind = " class='headed'" if heads else ""
    return f"<div class='scroll'><table{kind}>{above}<tbody>\n{body}\n</tbody></table></div>"


def _cell(cell: Cell, head: str) -> str:
    content, style = cell
    return f"<td class='{style}' data-head='{head}'>{content}</td>"


def folded(summary: str, content: str) -> str:
    """Something that is shown when one clicks on its summary."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def counts(found: Mapping[Verdict, int]) -> str:
    """How often each verdict was given."""
    return ", ".join(f"{verdict} {count}" for verdict, count in found.items())


def numbers(rows: Sequence[JudgedRow]) -> str:
    """What the paper prints, at once; the rest too if it is little."""
    if len(rows) <= _OPEN_ROWS:
        return all_numbers(rows)
    printed = [row for row in rows if row.row.paper is not None]
    others = [row for row in rows if row.row.paper is None]
    if not others:
        return all_numbers(printed)
    found = counts(tally(row.verdict for row in others))
    summary = f"{counted(len(others), 'number')} that the paper does not print: {found}"
    return all_numbers(printed) + folded(summary, all_numbers(others))


def all_numbers(rows: Sequence[JudgedRow]) -> str:
    """The table of numbers, without the columns that would be empty."""
    lines = [_line(row) for row in rows]
    full = [k for k in range(len(_HEADS)) if any(line[k][0] for line in lines)]
    kept = ([line[k] for k in full] for line in lines)
    return table([_HEADS[k] for k in full], kept) if rows else ""


def claim_item(judged: JudgedClaim) -> str:
    """What the paper says, whether it holds, and how that was tested."""
    words = {Verdict.AGREES: "holds", Verdict.DIFFERS: "does not hold"}.get(judged.verdict, "")
    found = ""
    if judged.values:
        low, high = min(judged.values), max(judged.values)
        found = f", found {low:.3g}" if low == high else f", found {low:.3g} to {high:.3g}"
    tested = typeset(_tested(judged.claim) + found)
    return (
        f"<li>They say: {typeset(judged.claim.says)} {badge(judged.verdict, words)}<br>"
        f"<span class='pale small'>{tested}</span></li>"
    )


def address(outcome: Outcome, file: str) -> str:
    """Where a file is, seen from the page."""
    return quote(f"{outcome.experiment.name}/{file}")


def links(outcome: Outcome, files: Iterable[str]) -> str:
    """Links to files of an experiment."""
    return ", ".join(f"<a href='{address(outcome, file)}'>{escape(file)}</a>" for file in files)


def _line(judged: JudgedRow) -> list[Cell]:
    row = judged.row
    note = f"<span class='note'>{typeset(row.error_or_note)}</span>" if row.error_or_note else ""
    return [
        (f"{typeset(row.quantity)} {note}".strip(), "name"),
        (number(row.paper), "number"),
        (number(row.reference), "number"),
        (number(row.ours), "number ours"),
        (typeset(row.unit), "unit"),
        (_apart(judged), "number"),
        (badge(judged.verdict), ""),
    ]


def _apart(judged: JudgedRow) -> str:
    """The difference: in parts of the wanted value, as a factor where it is not judged, plain beside zero."""
    wanted, ours = judged.wanted, judged.row.ours
    if wanted is None or not math.isfinite(ours):
        return ""
    if wanted == 0.0:
        return number(ours, 2)
    if judged.verdict is Verdict.IN_KIND:
        return f"× {number(ours / wanted, 3)}"
    if judged.difference == 0.0:
        return "0"
    return "below 0.001 %" if abs(judged.difference) < 1e-5 else percent(judged.difference)


def _tested(claim: Claim) -> str:
    what = f"“{claim.of}”" + (f" divided by “{claim.over}”" if claim.over else "")
    if math.isinf(claim.most):
        return f"Tested: {what} is at least {claim.least:g}"
    if math.isinf(claim.least):
        return f"Tested: {what} is at most {claim.most:g}"
    return f"Tested: {what} is from {claim.least:g} to {claim.most:g}"
