"""The files of a bench: table.csv, profile.png, profile.svg, and the self-contained report.html."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from nonsmooth.bench.facts import ProblemFacts
from nonsmooth.bench.figure import profile_figure
from nonsmooth.bench.measure import Row
from nonsmooth.bench.page import page
from nonsmooth.bench.standings import Rules

_COLUMNS = (
    "problem", "contacts", "rows", "solver", "status", "cpu_s", "wall_s", "iterations", "residual",
    "siconos_error", "asked_tolerance", "note",
)  # fmt: skip


def write_results(
    folder: Path,
    rows: Sequence[Row],
    facts: Mapping[str, ProblemFacts],
    rules: Rules,
    remarks: Sequence[str] = (),
) -> list[Path]:
    """Write all files of a bench.

    Args:
        folder: the output folder.
        rows: the measured rows.
        facts: of the problems, by digest.
        rules: the criterion for solved rows, and the clock.
        remarks: sentences for the top of the page, such as files left out and the reasons.
    """
    table, drawing, sketch, report = (
        folder / name for name in ("table.csv", "profile.png", "profile.svg", "report.html")
    )
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for row in rows:
            fact = facts[row.digest]
            writer.writerow(
                (row.problem, fact.contacts, fact.rows, row.solver, rules.verdict(row), _cell(row.cpu),
                 _cell(row.wall), _cell(row.iterations), _cell(row.residual), _cell(row.siconos_error),
                 row.tolerance, row.note)
            )  # fmt: skip
    problems = len({row.problem for row in rows})
    terms = f"tolerance {rules.settings.tolerance:g} ({rules.settings.measure})"
    figure = profile_figure(rows, rules, f"Performance profile: {problems} problems, {terms}")
    figure.savefig(drawing)
    figure.savefig(sketch, metadata={"Date": None})
    text = page(rows, facts, rules, remarks, sketch.read_text(encoding="utf-8"))
    report.write_text(text, encoding="utf-8")
    return [table, drawing, sketch, report]


def _cell(value: float) -> object:
    """Empty text for NaN."""
    return "" if math.isnan(value) else value
