"""What an experiment is, and the summary that it hands back: the paper's values beside ours."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nonsmooth._support.progress import Progress
from nonsmooth.experiments.shared.output import write_json, write_text


@dataclass(frozen=True)
class Comparison:
    """One row of a summary: a quantity as the paper prints it and as we find it."""

    quantity: str
    paper: float | None
    """The paper's value; None where the paper prints none."""
    ours: float
    """Our value; NaN where it was not found."""
    unit: str
    """Unit of both values; empty for plain numbers."""
    error_or_note: str = ""
    """How far the two are apart, or what ours was checked against and what there is to know."""
    reference: float | None = None
    """A value that ours should have and that the paper does not print: by hand or by other means."""
    uncertainty: float | None = None
    """Half the width of the 95 % interval of ours where it was fitted to scattered values, in its unit."""

    @classmethod
    def with_paper(cls, quantity: str, paper: float, ours: float, unit: str, note: str = "") -> Comparison:
        """Compare with a value that the paper prints, by number or by formula."""
        return cls(quantity, paper, ours, unit, _joined(f"error {abs(ours - paper):.2g}", note))

    @classmethod
    def with_closed_form(
        cls, quantity: str, value: float, ours: float, unit: str, note: str = ""
    ) -> Comparison:
        """Compare with a value that was worked out by hand and that the paper does not print."""
        error = f"closed form {value:.6g}, error {abs(ours - value):.2g}"
        return cls(quantity, None, ours, unit, _joined(error, note), value)

    @classmethod
    def with_reference(
        cls, quantity: str, value: float, ours: float, unit: str, source: str, note: str = ""
    ) -> Comparison:
        """Compare with a value that was computed independently of this package; `source` says how."""
        error = f"{source} {value:.9g}, error {abs(ours - value):.2g}"
        return cls(quantity, None, ours, unit, _joined(error, note), value)


@dataclass(frozen=True)
class Summary:
    """What an experiment found, and the files that it wrote, all in one folder."""

    experiment: str
    paper: str
    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]
    failures: tuple[str, ...] = ()
    """What had to hold and does not, a sentence each; the command then ends with exit code 2."""

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
        """Write summary.md and summary.json, and return the summary that lists them as well."""
        named = (folder / "summary.md", folder / "summary.json")
        complete = dataclasses.replace(self, files=self.files + named)
        write_text(named[0], complete.markdown())
        content = dataclasses.asdict(complete) | {"files": [path.name for path in complete.files]}
        for row in content["comparisons"]:
            for name in ("ours", "reference", "uncertainty"):
                if row[name] is not None and not math.isfinite(row[name]):
                    row[name] = None  # JSON has no NaN
        write_json(named[1], content)
        return complete


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper that can be run by name."""

    name: str
    """The name in the registry and on the command line."""
    summary: str
    """One line for lists."""
    paper: str
    """Which paper and which of its figures."""
    run: Callable[[Path, bool, Progress], Summary]
    """Called as run(folder, quick, progress): writes figures, data and summary into the folder.

    `quick` takes coarser grids; the numbers that are compared with the paper stay the same kind.
    """
    keeps: tuple[str, ...] = ()
    """Patterns of files in the folder from which a run that was interrupted goes on."""


def _joined(first: str, second: str) -> str:
    return f"{first}; {second}" if second else first
