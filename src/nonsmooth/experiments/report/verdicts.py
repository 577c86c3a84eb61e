"""Verdicts on our numbers beside the paper's: one rule for all, computed from the comparison.

- agrees: they differ by at most 1 %, or by half a unit of the last decimal that the paper prints;
- checked: the same, with a closed form or an independent computation for a number that the paper lacks;
- close: they differ by at most 10 %;
- differs: they differ by more;
- undecided: fitted to scattered values, with a 95 % interval that extends from close to differs;
- in kind only: not judged, because the paper does not print all data that the number depends on;
- no number: neither the paper nor a closed form gives a value.

A fitted number agrees or is close only if its whole 95 % interval is, and differs only if all of it does.
For an expected value of zero there is no relative difference: then up to 1e-6 agrees and up to 1e-3 is
close, in the unit of the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from nonsmooth.experiments import Comparison, Quantity
from nonsmooth.experiments.report.entries import Claim, Entry, Source
from nonsmooth.experiments.report.runs import Outcome, State

AGREES_WITHIN, CLOSE_WITHIN = 0.01, 0.10
"""Relative differences."""
ZERO_WITHIN, NEAR_ZERO_WITHIN = 1e-6, 1e-3
"""For expected values of zero, in the unit of the row."""


class Verdict(StrEnum):
    """The verdict on a number, a statement, or a whole figure."""

    AGREES = "agrees"
    CHECKED = "checked"
    CLOSE = "close"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    IN_KIND = "in kind only"
    NO_NUMBER = "no number"
    NOT_FOUND = "not found"
    DRAWN = "drawn"
    SKETCH = "sketch"
    MISSING = "not reproduced"
    FAILED = "failed"
    NOT_RUN = "not run"


MEANING: dict[Verdict, str] = {
    Verdict.AGREES: "the printed numbers agree, and the statements in the paper's text hold",
    Verdict.CHECKED: "the paper prints no number; ours agree with closed forms or independent computations",
    Verdict.CLOSE: "the largest difference of a number is at most 10 %",
    Verdict.DIFFERS: "a number differs by more than 10 %, or a statement in the paper's text does not hold",
    Verdict.UNDECIDED: "a number was fitted to values that scatter too much to decide whether it is close",
    Verdict.IN_KIND: "the paper's numbers depend on data that it does not print: side by side, not judged",
    Verdict.NO_NUMBER: "neither the paper nor a closed form gives a value",
    Verdict.NOT_FOUND: "our run did not produce a number or a picture that belongs here",
    Verdict.DRAWN: "drawn by us, without a number to judge it by",
    Verdict.SKETCH: "an explanatory drawing without results",
    Verdict.MISSING: "not reproduced by any experiment of ours",
    Verdict.FAILED: "the experiment failed, or one of its requirements is violated",
    Verdict.NOT_RUN: "the experiment was not run",
}
"""The meaning of each verdict on a figure or table."""


@dataclass(frozen=True)
class JudgedRow:
    """A number of ours with its expected value."""

    row: Comparison
    wanted: float | None
    """The paper's value, else the closed form or the reference."""
    verdict: Verdict

    @property
    def difference(self) -> float:
        """Relative to the expected value; NaN if there is none or it is zero."""
        if not self.wanted:
            return math.nan
        return (self.row.ours - self.wanted) / abs(self.wanted)


@dataclass(frozen=True)
class JudgedClaim:
    """A statement of a paper with the values that it was tested on."""

    claim: Claim
    values: tuple[float, ...]
    verdict: Verdict


@dataclass(frozen=True)
class JudgedSource:
    """All results of one experiment for an entry."""

    source: Source
    outcome: Outcome
    rows: tuple[JudgedRow, ...]
    claims: tuple[JudgedClaim, ...]
    absent: tuple[str, ...]
    """Pictures and quantities that the experiment did not write."""


@dataclass(frozen=True)
class JudgedEntry:
    """A figure or table with its verdict."""

    entry: Entry
    sources: tuple[JudgedSource, ...]
    verdict: Verdict


def judge_row(row: Comparison, in_kind: bool = False) -> JudgedRow:
    """Judge one number by the rule of this module."""
    wanted = row.reference if row.paper is None else row.paper
    if not math.isfinite(row.ours):
        return JudgedRow(row, wanted, Verdict.NOT_FOUND)
    if wanted is None:
        return JudgedRow(row, None, Verdict.NO_NUMBER)
    if in_kind and row.paper is not None:
        return JudgedRow(row, wanted, Verdict.IN_KIND)
    apart, uncertainty = abs(row.ours - wanted), row.uncertainty or 0.0
    if wanted == 0.0:
        limits = ZERO_WITHIN, NEAR_ZERO_WITHIN
    else:
        limits = max(AGREES_WITHIN * abs(wanted), half_last_decimal(wanted)), CLOSE_WITHIN * abs(wanted)
    if apart + uncertainty <= limits[0]:
        return JudgedRow(row, wanted, Verdict.CHECKED if row.paper is None else Verdict.AGREES)
    if apart + uncertainty <= limits[1]:
        return JudgedRow(row, wanted, Verdict.CLOSE)
    return JudgedRow(row, wanted, Verdict.DIFFERS if apart - uncertainty > limits[1] else Verdict.UNDECIDED)


def half_last_decimal(value: float) -> float:
    """Half a unit of the last decimal of a number as it is written; zero for whole numbers."""
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= 0:
        return 0.0
    return float(Decimal(5).scaleb(exponent - 1))


def judge_claim(claim: Claim, rows: Sequence[Comparison]) -> JudgedClaim:
    """Test a statement on all quantities that it names."""
    named = {row.quantity: row.ours for row in rows}
    values = [value for name, value in named.items() if _names(claim.of, name)]
    if claim.over:
        divisor = named.get(claim.over, math.nan)
        values = [value / divisor if divisor else math.nan for value in values]
    if not values or not all(map(math.isfinite, values)):
        return JudgedClaim(claim, tuple(values), Verdict.NOT_FOUND)
    holds = all(claim.least <= value <= claim.most for value in values)
    return JudgedClaim(claim, tuple(values), Verdict.AGREES if holds else Verdict.DIFFERS)


def judge_source(source: Source, outcome: Outcome) -> JudgedSource:
    """Select and judge the results of an experiment for an entry."""
    rows = tuple(
        judge_row(row, any(_names(each, row.quantity) for each in source.in_kind))
        for row in outcome.rows
        if any(_names(each, row.quantity) for each in source.rows)
    )
    claims = tuple(judge_claim(claim, outcome.rows) for claim in source.claims) if outcome.complete else ()
    absent: list[str] = []
    if outcome.complete:
        absent += [name for name in source.pictures if name not in outcome.files]
        absent += [
            str(each) for each in source.rows if not any(_names(each, row.quantity) for row in outcome.rows)
        ]
    return JudgedSource(source, outcome, rows, claims, tuple(absent))


def judge_entry(entry: Entry, outcomes: Mapping[str, Outcome]) -> JudgedEntry:
    """Judge a figure or table: the worst verdict on its numbers and statements."""
    sources = tuple(judge_source(source, outcomes[source.experiment]) for source in entry.sources)
    return JudgedEntry(entry, sources, _verdict(entry, sources))


def _verdict(entry: Entry, sources: Sequence[JudgedSource]) -> Verdict:
    if not sources:
        return Verdict.SKETCH if entry.sketch else Verdict.MISSING
    states = {each.outcome.state for each in sources}
    if State.FAILED in states or any(each.outcome.failures for each in sources):
        return Verdict.FAILED
    if State.NOT_RUN in states:
        return Verdict.NOT_RUN
    said = {row.verdict for each in sources for row in each.rows if row.wanted is not None}
    said |= {claim.verdict for each in sources for claim in each.claims}
    if any(each.absent for each in sources):
        said.add(Verdict.NOT_FOUND)
    return next((verdict for verdict in _WORST_FIRST if verdict in said), Verdict.DRAWN)


_WORST_FIRST = (
    Verdict.DIFFERS,
    Verdict.NOT_FOUND,
    Verdict.UNDECIDED,
    Verdict.IN_KIND,
    Verdict.CLOSE,
    Verdict.AGREES,
    Verdict.CHECKED,
)


def tally(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """Number of occurrences of each verdict, in the order of the rule, without zeros."""
    given = list(verdicts)
    return {each: given.count(each) for each in Verdict if each in given}


def _names(quantity: Quantity | str, name: str) -> bool:
    """Whether a row of this name belongs to a quantity, or is the named one."""
    if isinstance(quantity, Quantity):
        return quantity.finds(name)
    return quantity == name
