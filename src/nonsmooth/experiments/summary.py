"""The summary of an experiment: quantities by name, the paper's values beside ours."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Any

from nonsmooth.experiments.shared.output import write_json, write_text


class Quantity(str):
    """The name of a quantity, with braces for the parts that differ from row to row.

    Experiments define their quantities as constants and fill them in; the catalogue of papers refers to rows
    by the same constants: `RATE = Quantity("rate of {}")`, `RATE("slow")`, `RATE.finds("rate of slow")`.
    """

    def __call__(self, *values: object, **named: object) -> str:
        """The name of one row."""
        return self.format(*values, **named)

    def __str__(self) -> str:
        """For readers, without the parts that differ from row to row."""
        return "".join(
            literal + ("" if field is None else "…") for literal, field, *_ in Formatter().parse(self)
        )

    def of(self, **named: object) -> Quantity:
        """The rows with some of the named braces filled in."""
        parts = []
        for literal, field, form, _ in Formatter().parse(self):
            filled = format(named[field], form or "") if field in named else _braces(field, form)
            parts.append(literal + filled)
        return Quantity("".join(parts))

    def finds(self, name: str) -> bool:
        """Whether the name of a row belongs to this quantity."""
        return self._pattern.fullmatch(name) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parsed = Formatter().parse(self)
        return re.compile(
            "".join(re.escape(literal) + ("" if field is None else ".+") for literal, field, *_ in parsed)
        )


def _braces(field: str | None, form: str | None) -> str:
    return "" if field is None else f"{{{field}:{form}}}" if form else f"{{{field}}}"


@dataclass(frozen=True)
class Comparison:
    """One row of a summary: a quantity in the paper and in our results."""

    quantity: str
    paper: float | None
    """The paper's value; None if the paper prints none."""
    ours: float
    """Our value; NaN where it was not found."""
    unit: str
    """Unit of both values; empty for plain numbers."""
    error_or_note: str = ""
    """Difference of the two, reference of ours, or other notes."""
    reference: float | None = None
    """A reference value that the paper does not print: derived by hand or by other means."""
    uncertainty: float | None = None
    """Half-width of the 95 % interval of ours if it was fitted to scattered values, in its unit."""


def paper_row(quantity: str, paper: float, ours: float, unit: str, note: str = "") -> Comparison:
    """Compare with a value that the paper prints, by number or by formula."""
    return Comparison(quantity, paper, ours, unit, _joined(f"error {abs(ours - paper):.2g}", note))


def exact_row(quantity: str, value: float, ours: float, unit: str, note: str = "") -> Comparison:
    """Compare with a closed-form value that the paper does not print."""
    error = f"closed form {value:.6g}, error {abs(ours - value):.2g}"
    return Comparison(quantity, None, ours, unit, _joined(error, note), value)


def reference_row(
    quantity: str, value: float, ours: float, unit: str, source: str, note: str = ""
) -> Comparison:
    """Compare with a value that was computed independently of this package; `source` names the method."""
    error = f"{source} {value:.9g}, error {abs(ours - value):.2g}"
    return Comparison(quantity, None, ours, unit, _joined(error, note), value)


@dataclass(frozen=True)
class Summary:
    """The results of an experiment, and the files that it wrote, all in one folder."""

    experiment: str
    paper: str
    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]
    failures: tuple[str, ...] = ()
    """Violated requirements, one sentence each; the command then exits with status 2."""

    def markdown(self) -> str:
        """The summary as a Markdown page with one table."""
        lines = [f"# {self.experiment}", "", f"{self.paper}.", ""]
        lines += ["| quantity | paper | ours | unit | error or note |", "| --- | --- | --- | --- | --- |"]
        for row in self.comparisons:
            printed = "" if row.paper is None else f"{row.paper:.6g}"
            cells = (row.quantity, printed, f"{row.ours:.6g}", row.unit, row.error_or_note)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if self.failures:
            lines += ["", "Failed:", "", *(f"- {sentence}" for sentence in self.failures)]
        lines += ["", "Files:", "", *(f"- [{path.name}]({path.name})" for path in self.files), ""]
        pictures = [path for path in self.files if path.suffix == ".png"]
        lines += [f"![{path.stem}]({path.name})\n" for path in pictures]
        return "\n".join(lines)

    def write(self, folder: Path) -> Summary:
        """Write summary.md and summary.json, and return the summary with these files included."""
        named = (folder / "summary.md", folder / "summary.json")
        complete = dataclasses.replace(self, files=self.files + named)
        write_text(named[0], complete.markdown())
        content: dict[str, Any] = dataclasses.asdict(complete)
        content["files"] = [path.name for path in complete.files]
        for row in content["comparisons"]:
            for name in ("ours", "reference", "uncertainty"):
                if row[name] is not None and not math.isfinite(row[name]):
                    row[name] = None  # JSON has no NaN
        write_json(named[1], content)
        return complete


def _joined(first: str, second: str) -> str:
    return f"{first}; {second}" if second else first
