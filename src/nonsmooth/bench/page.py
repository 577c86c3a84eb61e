"""The report page: plain HTML with its style and its figure inside, for a browser or a printer."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape

from nonsmooth.bench.facts import ProblemFacts
from nonsmooth.bench.measure import Row, Settings
from nonsmooth.bench.standings import Rules, standings

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #222; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p { max-width: 60rem; } .pale { color: #666; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .86rem; }
th, td { padding: .22rem .6rem; text-align: right; border-bottom: 1px solid #e3e3e3; white-space: nowrap; }
th { background: #f4f4f4; } th:first-child, td:first-child, .text { text-align: left; }
td.solved { background: #e5f4ec; } td.missed { background: #fdeedd; } td.time { background: #fbe3e3; }
td.crashed { background: #f0c9c9; } td.unsupported { color: #888; } .fastest { font-weight: 700; }
td.note { white-space: normal; min-width: 16rem; text-align: left; color: #666; }
svg { width: 100%; height: auto; max-width: 60rem; } summary { cursor: pointer; margin: .4rem 0; }
"""

_TEXT = ("status", "note", "version")
"""Columns of words: to the left."""
_MEASURES = {
    "invariant": "the relative residual of the certificate, which does not change with units",
    "siconos": "Siconos' own error",
    "both": "both the relative residual of the certificate and Siconos' own error",
}


def page(
    rows: Sequence[Row],
    facts: Mapping[str, ProblemFacts],
    rules: Rules,
    remarks: Sequence[str],
    profile: str,
) -> str:
    """The whole page; `profile` is the figure as SVG."""
    problems = list(dict.fromkeys(row.problem for row in rows))
    clock = "CPU" if rules.clock == "cpu" else "wall"
    parts = [
        "<h1>League table of contact solvers</h1>",
        f"<p class=pale>{len(problems)} problems, {date.today().isoformat()}, "
        f"{escape(platform.system())} {escape(platform.machine())}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}</p>",
        _terms(rules.settings),
        *(f"<p class=pale>{escape(remark)}</p>" for remark in remarks),
        "<h2>Standings</h2>",
        _standings(rows, rules, clock),
        "<h2>Performance profile</h2>",
        "<p>Share of the problems solved within τ times the best solver's time (Dolan and Moré 2002): on the "
        "left edge the share on which a solver is the fastest, on the right edge the share it solves.</p>",
        profile[profile.index("<svg") :],
        f"<h2>Problem by problem: {clock} time in ms</h2>",
        "<p>Bold is the fastest. Where it was not solved the cell says why, with the error that decides.</p>",
        _matrix(rows, problems, rules),
        "<h2>Problems</h2>",
        "<p>W is the Delassus matrix. Rank defect: singular values below n·ε of the largest, n the size. "
        "Condition: largest singular value over the smallest above that. Asymmetry: largest |W − Wᵀ| over "
        "largest |W|. "
        "Smallest eigenvalue: of (W + Wᵀ)/2, in parts of the largest.</p>",
        _facts(rows, problems, facts),
        "<h2>Everything measured</h2>",
        _everything(rows, problems, rules),
    ]
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>League table of contact solvers</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _terms(settings: Settings) -> str:
    terms = f"""A problem counts as solved if the answer meets {settings.tolerance:g} in
    {_MEASURES[settings.measure]}. Both errors are recomputed here from the problem for the impulses of every
    solver, whatever it says of itself. Each solver was asked for {settings.tolerance:g} in its own measure,
    unless its name says otherwise; one that was content with an answer which does not do was asked for more,
    up to {settings.tighten} times, and its last attempt alone counts. It had {settings.time_limit:g} s of CPU
    time for a solve, one thread for linear algebra, and a fresh process for every problem. Times are those of
    the call of the solver alone, from the problem in memory to the impulses, the best of {settings.repeat}
    after a first one that is not timed, so no file is read and nothing is compiled in them. Solvers of other
    packages get W ready made, also where the problem is given by masses; Pinocchio, which wants a symmetric
    matrix, gets (W + Wᵀ)/2 and is judged on W."""
    return f"<p>{' '.join(terms.split())}</p>"


def _standings(rows: Sequence[Row], rules: Rules, clock: str) -> str:
    lines = [
        (
            escape(line.solver), f"{line.solved} of {line.problems}", str(line.fastest),
            _milliseconds(line.mean_time), _milliseconds(line.penalised_time),
            "–" if math.isnan(line.against_best) else f"{line.against_best:.2f}", str(line.missed),
            str(line.late), str(line.crashed),
            str(line.unsupported), escape(line.version),
        )
        for line in standings(rows, rules)
    ]  # fmt: skip
    heads = (
        "solver", "solved", "fastest", f"mean {clock} ms, its solved", f"mean {clock} ms, all",
        "against the best other", "missed",
        "time limit", "crashed", "unsupported", "version",
    )  # fmt: skip
    note = (
        "<p class=pale>Means are geometric; over all problems, one that was not solved counts with the time "
        "limit; against the best other: its time over that of the fastest other solver of each problem, over "
        "those that both solved. Missed: an answer that does not meet the tolerance.</p>"
    )
    return _table(heads, ([*((cell, "") for cell in line[:-1]), (line[-1], "text")] for line in lines)) + note


def _matrix(rows: Sequence[Row], problems: Sequence[str], rules: Rules) -> str:
    order = [line.solver for line in standings(rows, rules)]
    found = {(row.problem, row.solver): row for row in rows}
    lines = []
    for problem in problems:
        own = [found.get((problem, solver)) for solver in order]
        best = min((rules.time(row) for row in own if row is not None), default=math.inf)
        cells = [(escape(problem), "")]
        for row in own:
            if row is None:
                cells.append(("", ""))
                continue
            verdict = rules.verdict(row)
            style = verdict.split()[0]
            if verdict == "solved":
                style += " fastest" if rules.time(row) == best else ""
                cells.append((_milliseconds(rules.time(row)), style))
            else:
                error = row.siconos_error if rules.settings.measure == "siconos" else row.residual
                cells.append((verdict + ("" if math.isnan(error) else f" {error:.1e}"), style))
        lines.append(cells)
    return _table(("problem", *map(escape, order)), lines)


def _facts(rows: Sequence[Row], problems: Sequence[str], facts: Mapping[str, ProblemFacts]) -> str:
    digests = {row.problem: row.digest for row in rows}
    lines = []
    for problem in problems:
        fact = facts[digests[problem]]
        defect = "–" if math.isnan(fact.rank_defect) else f"{fact.rank_defect:.0f}"
        cells = (
            escape(problem), fact.kind, str(fact.dimension or "mixed"), str(fact.contacts), str(fact.rows),
            str(fact.joint_rows), defect, _short(fact.condition), _short(fact.asymmetry),
            _short(fact.smallest_eigenvalue),
        )  # fmt: skip
        lines.append([(cell, "") for cell in cells])
    heads = (
        "problem", "given by", "components", "contacts", "size of W", "joint rows", "rank defect",
        "condition", "asymmetry", "smallest eigenvalue",
    )  # fmt: skip
    return _table(heads, lines)


def _everything(rows: Sequence[Row], problems: Sequence[str], rules: Rules) -> str:
    heads = ("solver", "status", "CPU ms", "wall ms", "iterations", "residual", "Siconos' error", "note")
    blocks = []
    for problem in problems:
        lines = []
        for row in (row for row in rows if row.problem == problem):
            verdict = rules.verdict(row)
            iterations = "–" if math.isnan(row.iterations) else f"{row.iterations:.0f}"
            lines.append(
                [
                    (escape(row.solver), ""), (verdict, f"text {verdict.split()[0]}"),
                    (_milliseconds(row.cpu), ""), (_milliseconds(row.wall), ""), (iterations, ""),
                    (_short(row.residual), ""),
                    (_short(row.siconos_error), ""), (escape(row.note), "note"),
                ]
            )  # fmt: skip
        blocks.append(f"<details><summary>{escape(problem)}</summary>{_table(heads, lines)}</details>")
    return "\n".join(blocks)


def _table(heads: Sequence[str], lines: Iterable[Sequence[tuple[str, str]]]) -> str:
    """A table of ready cells, each with the names of its style."""
    head = "".join(f"<th{' class=text' * (cell in _TEXT)}>{cell}</th>" for cell in heads)
    body = "\n".join(f"<tr>{''.join(_cell(*cell) for cell in line)}</tr>" for line in lines)
    return f"<div class=scroll><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"


def _cell(content: str, style: str) -> str:
    return f'<td class="{style}">{content}</td>' if style else f"<td>{content}</td>"


def _milliseconds(seconds: float) -> str:
    return (
        f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:.0f}" if math.isfinite(seconds) else "–"
    )


def _short(value: float) -> str:
    return "–" if math.isnan(value) else "0" if value == 0.0 else f"{value:.1e}"
