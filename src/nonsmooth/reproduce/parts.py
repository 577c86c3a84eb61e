"""Parts of the report in HTML: badges, tables of numbers, statements that were tested, links to files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from nonsmooth.reproduce.entries import Claim
from nonsmooth.reproduce.runs import Outcome
from nonsmooth.reproduce.verdicts import JudgedClaim, JudgedRow, Verdict, tally
from nonsmooth.view.tables import counted

Cell = tuple[str, str]
"""Ready HTML, and the names of its style."""

_OPEN_ROWS = 8
"""Tables up to this length are shown at once; of longer ones only what the paper prints."""
_HEADS: tuple[Cell, ...] = (
    ("quantity", ""),
    ("paper", "number"),
    ("reference", "number"),
    ("ours", "number"),
    ("unit", ""),
    ("apart", "number"),
    ("verdict", ""),
    ("note", ""),
)


def slug(*words: str) -> str:
    """A name for a place of the page, or for a style."""
    return "-".join(part for part in re.split(r"[^a-z0-9]+", " ".join(words).lower()) if part)


def badge(verdict: str, text: str = "") -> str:
    """A verdict or a state in its colour; `text` says it in other words."""
    return f"<span class='badge {slug(verdict)}'>{escape(text or verdict)}</span>"


def table(heads: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> str:
    """A table of ready cells; without heads it begins at once."""
    head = "".join(f"<th class='{style}'>{content}</th>" for content, style in heads)
    body = "\n".join(
        "<tr>" + "".join(f"<td class='{style}'>{content}</td>" for content, style in line) + "</tr>"
        for line in lines
    )
    above = f"<thead><tr>{head}</tr></thead>" if heads else ""
    return f"<div class='scroll'><table>{above}<tbody>\n{body}\n</tbody></table></div>"


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
    """The table of numbers."""
    return table(_HEADS, map(_line, rows)) if rows else ""


def claim_item(judged: JudgedClaim) -> str:
    """What the paper says, whether it holds, and how that was tested."""
    words = {Verdict.AGREES: "holds", Verdict.DIFFERS: "does not hold"}.get(judged.verdict, "")
    found = ""
    if judged.values:
        low, high = min(judged.values), max(judged.values)
        found = f", found {low:.3g}" if low == high else f", found {low:.3g} to {high:.3g}"
    tested = escape(_tested(judged.claim) + found)
    return (
        f"<li>They say: {escape(judged.claim.says)} {badge(judged.verdict, words)}<br>"
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
    return [
        (escape(row.quantity), "name"),
        (_number(row.paper), "number"),
        (_number(row.reference), "number"),
        (_number(row.ours), "number ours"),
        (escape(row.unit), ""),
        (_apart(judged), "number"),
        (badge(judged.verdict), ""),
        (escape(row.error_or_note), "note"),
    ]


def _apart(judged: JudgedRow) -> str:
    """The difference: in parts of the wanted value, as a factor where it is not judged, plain beside zero."""
    wanted, ours = judged.wanted, judged.row.ours
    if wanted is None or not math.isfinite(ours):
        return ""
    if wanted == 0.0:
        return f"{ours:.1e}" if ours else "0"
    if judged.verdict is Verdict.IN_KIND:
        return f"× {ours / wanted:.2g}"
    percent = 100.0 * judged.difference
    if percent == 0.0:
        return "0"
    if abs(percent) < 1e-3:
        return "below 0.001 %"
    return f"{percent:+.2g} %" if abs(percent) < 100.0 else f"{percent:+.0f} %"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}".replace("-", "−") if math.isfinite(value) else "–"


def _tested(claim: Claim) -> str:
    what = f"“{claim.of}”" + (f" divided by “{claim.over}”" if claim.over else "")
    if math.isinf(claim.most):
        return f"Tested: {what} is at least {claim.least:g}"
    if math.isinf(claim.least):
        return f"Tested: {what} is at most {claim.most:g}"
    return f"Tested: {what} is from {claim.least:g} to {claim.most:g}"
