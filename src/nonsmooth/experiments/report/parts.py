"""Helpers of the report's templates: anchors, badges, columns of numbers, tested statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from nonsmooth.experiments.report.typography import number, percent, typeset
from nonsmooth.experiments.report.verdicts import JudgedClaim, JudgedRow, Verdict, tally

_STYLES = {
    "quantity": "name",
    "paper": "number",
    "reference": "number",
    "ours": "number ours",
    "unit": "unit",
    "apart": "number",
    "verdict": "",
}
"""Headings of a table of numbers, and the styles of their columns."""


def slug(*words: str) -> str:
    """A name for an anchor of the page, or for a style."""
    return "-".join(part for part in re.split(r"[^a-z0-9]+", " ".join(words).lower()) if part)


def badge(verdict: str, text: str = "") -> Markup:
    """A verdict or a state in its colour; `text` replaces its name."""
    return Markup("<span class='badge {}'>{}</span>").format(slug(verdict), text or str(verdict))


def counts(found: Mapping[Verdict, int]) -> str:
    """Number of occurrences of each verdict."""
    return ", ".join(f"{verdict} {count}" for verdict, count in found.items())


def tallied(judged: Iterable[JudgedRow]) -> dict[Verdict, int]:
    """Number of occurrences of each verdict among these numbers."""
    return tally(row.verdict for row in judged)


def columns(rows: Sequence[JudgedRow]) -> tuple[list[str], dict[str, str], list[list[str]]]:
    """Headings, styles and lines of a table of numbers, without empty columns."""
    lines = [_line(row) for row in rows]
    full = [k for k in range(len(_STYLES)) if any(line[k] for line in lines)]
    heads = list(_STYLES)
    return [heads[k] for k in full], _STYLES, [[line[k] for k in full] for line in lines]


def tested(judged: JudgedClaim) -> str:
    """The test of a statement of the paper, and its result."""
    claim = judged.claim
    what = f"“{claim.of}”" + (f" divided by “{claim.over}”" if claim.over else "")
    if math.isinf(claim.most):
        bounds = f"at least {claim.least:g}"
    elif math.isinf(claim.least):
        bounds = f"at most {claim.most:g}"
    else:
        bounds = f"from {claim.least:g} to {claim.most:g}"
    found = ""
    if judged.values:
        low, high = min(judged.values), max(judged.values)
        found = f", found {low:.3g}" if low == high else f", found {low:.3g} to {high:.3g}"
    return f"Tested: {what} is {bounds}{found}"


def _line(judged: JudgedRow) -> list[str]:
    row = judged.row
    name = typeset(row.quantity)
    if row.error_or_note:
        name += Markup(" <span class='note'>{}</span>").format(typeset(row.error_or_note))
    return [
        name,
        number(row.paper),
        number(row.reference),
        number(row.ours),
        typeset(row.unit),
        _apart(judged),
        badge(judged.verdict),
    ]


def _apart(judged: JudgedRow) -> str:
    """The difference: relative to the expected value, a factor if it is not judged, absolute beside zero."""
    wanted, ours = judged.wanted, judged.row.ours
    if wanted is None or not math.isfinite(ours):
        return ""
    if wanted == 0.0:
        return number(ours, 2)
    if judged.verdict is Verdict.IN_KIND:
        return Markup("× ") + number(ours / wanted, 3)
    if judged.difference == 0.0:
        return "0"
    return "below 0.001 %" if abs(judged.difference) < 1e-5 else percent(judged.difference)
