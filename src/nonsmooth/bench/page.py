"""The report page: self-contained HTML with style and figure, for a browser or a printer."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date

from markupsafe import Markup

from nonsmooth._support.pages import templates
from nonsmooth.bench.facts import ProblemFacts
from nonsmooth.bench.measure import Row
from nonsmooth.bench.standings import Rules, standings

_MEASURES = {
    "invariant": "the relative residual of the certificate, which does not depend on units",
    "siconos": "Siconos' error",
    "both": "both the relative residual of the certificate and Siconos' error",
}


def page(
    rows: Sequence[Row],
    facts: Mapping[str, ProblemFacts],
    rules: Rules,
    remarks: Sequence[str],
    profile: str,
) -> str:
    """The whole page; `profile` is the figure as SVG."""
    by_problem: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_problem.setdefault(row.problem, {})[row.solver] = row
    found = templates("nonsmooth.bench", milliseconds, short, whole)
    return found.get_template("league.html.j2").render(
        title="League table of contact solvers",
        circumstances=(
            date.today().isoformat(), f"{platform.system()} {platform.machine()}",
            f"{os.cpu_count()} processors", f"Python {platform.python_version()}",
        ),
        settings=rules.settings,
        measure=_MEASURES[rules.settings.measure],
        remarks=remarks,
        rules=rules,
        clock="CPU" if rules.clock == "cpu" else "wall",
        standings=standings(rows, rules),
        profile=Markup(profile[profile.index("<svg") :]),
        problems=by_problem,
        best={problem: min(map(rules.time, own.values())) for problem, own in by_problem.items()},
        facts={problem: facts[next(iter(own.values())).digest] for problem, own in by_problem.items()},
    )  # fmt: skip


def milliseconds(seconds: float) -> str:
    """A time in s as one in ms."""
    return (
        f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:.0f}" if math.isfinite(seconds) else "–"
    )


def short(value: float) -> str:
    """Two digits."""
    return "–" if math.isnan(value) else "0" if value == 0.0 else f"{value:.1e}"


def whole(value: float) -> str:
    """A number without decimals."""
    return "–" if math.isnan(value) else f"{value:.0f}"
