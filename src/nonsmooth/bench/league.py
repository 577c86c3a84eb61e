"""Every contender on every problem: rows are saved as they are measured, and not measured again."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nonsmooth._support.progress import Progress
from nonsmooth.bench.contender import Contender
from nonsmooth.bench.facts import ProblemFacts, facts_of
from nonsmooth.bench.measure import Entry, Row, Settings, measure
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError

SUFFIXES = (".h5", ".hdf5", ".dat")
"""Endings of problem files; the format is found from the content."""


class League:
    """The rows and facts measured so far, kept in two files of a folder, one JSON object per line."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        """Load the rows measured before, or discard them if `fresh`."""
        folder.mkdir(parents=True, exist_ok=True)
        self._rows_file, self._facts_file = folder / "rows.jsonl", folder / "facts.jsonl"
        if fresh:
            for file in (self._rows_file, self._facts_file):
                file.unlink(missing_ok=True)
        self.rows: list[Row] = _read(self._rows_file, Row)
        self.facts = {fact.digest: fact for fact in _read(self._facts_file, ProblemFacts)}

    def find(self, entry: Entry, contender: Contender, settings: Settings) -> Row | None:
        """The row of a contender on a problem under these settings, if it was measured."""
        wanted = (entry.digest, contender.label, contender.version, repr(settings))
        for row in reversed(self.rows):
            if wanted == (row.digest, row.solver, row.version, row.asked):
                return row
        return None

    def run(
        self,
        entries: Sequence[Entry],
        contenders: Sequence[Contender],
        settings: Settings,
        progress: Progress = lambda done, total, what: None,
    ) -> None:
        """Measure the missing rows. Rows measured before Ctrl-C are kept.

        Args:
            entries: the problems.
            contenders: the solvers.
            settings: tolerance, time limit, repetitions.
            progress: called as progress(done, total, what).
        """
        total, done = len(entries) * len(contenders), 0
        for entry in entries:
            if entry.digest not in self.facts:
                progress(done, total, f"{entry.name}: facts")
                self.facts[entry.digest] = facts_of(entry)
                _append(self._facts_file, asdict(self.facts[entry.digest]))
            for contender in contenders:
                progress(done, total, f"{entry.name}: {contender.label}")
                if self.find(entry, contender, settings) is None:
                    with tempfile.TemporaryDirectory(prefix="nonsmooth-bench-") as folder:
                        row = measure(contender, entry, settings, Path(folder))
                    self.rows.append(row)
                    _append(self._rows_file, asdict(row))
                done += 1
        progress(done, total, "done")

    def select(
        self, entries: Iterable[Entry], contenders: Sequence[Contender], settings: Settings
    ) -> list[Row]:
        """The measured rows of these problems and contenders under these settings."""
        found = (self.find(entry, contender, settings) for entry in entries for contender in contenders)
        return [row for row in found if row is not None]


def find_entries(place: Path, dimension: int | None = None) -> tuple[list[Entry], dict[str, str]]:
    """The problems in a folder and below it (or one file), small ones first; and why others are omitted.

    Args:
        place: a folder, or a problem file.
        dimension: 2 or 3 to select problems whose contacts all have that number of components.
    """
    if not place.exists():
        raise OptionError(f"there is no folder {place}")
    files = (
        [place] if place.is_file() else sorted(f for f in place.rglob("*") if f.suffix.lower() in SUFFIXES)
    )
    folder = place.parent if place.is_file() else place
    entries: list[Entry] = []
    refused: dict[str, str] = {}
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            entry = Entry(file, name)
            if dimension in (None, entry.dimension):  # reads the file, so that a wrong one is rejected here
                entries.append(entry)
        except (NonsmoothError, OSError) as error:
            refused[name] = str(error)
    if not entries:
        why = next((f": {name}: {reason}" for name, reason in refused.items()), f" ({', '.join(SUFFIXES)})")
        raise OptionError(f"there is no problem file in {place}{why}")
    entries.sort(key=lambda entry: (entry.problem.layout.rows, entry.name))
    return entries, refused


def _read(file: Path, kind: type[Any]) -> list[Any]:
    """The objects of a file, one per line; a line that was cut off by a kill is dropped."""
    if not file.exists():
        return []
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            values = json.loads(line)
            found.append(kind(**{key: math.nan if value is None else value for key, value in values.items()}))
        except (ValueError, TypeError, AttributeError):
            if not line.endswith("}"):
                continue
            raise FileFormatError(
                f"{file}, line {number}, is from another version: use --fresh, or another --output"
            ) from None
    return found


def _append(file: Path, values: dict[str, Any]) -> None:
    """Write a line; NaN becomes null."""
    line = {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in values.items()
    }
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    with file.open("a", encoding="utf-8") as stream:
        if text and not text.endswith("\n"):
            stream.write("\n")  # after a line that was cut off
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")
