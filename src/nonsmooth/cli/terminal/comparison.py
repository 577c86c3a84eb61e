"""Several solvers on one problem: a table, a convergence plot, and JSON values.

matplotlib is imported when the figure is made, without pyplot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.text import Text

from nonsmooth.cli.terminal.tables import BAD, GOOD, duration, plain_table
from nonsmooth.problem import ContactProblem
from nonsmooth.solvers import Solution, Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CANNOT = "not supported"
"""Shown in place of a status if a solver does not support the problem."""
_MARKERS = "osD^vPX<>*hpd"


@dataclass(frozen=True)
class Attempt:
    """The result of one solver: its solution, or the reason why it does not support the problem."""

    name: str
    """As given by the user, options included."""
    solution: Solution | None
    reason: str = ""
    recorded: Solution | None = None
    """The same solve with its history, slower; None if no plot was requested."""

    @property
    def solved(self) -> bool:
        """True if the certificate is within the tolerance."""
        return self.solution is not None and self.solution.status is Status.SOLVED


def attempt_report(attempts: Sequence[Attempt]) -> Group:
    """Return one row per solver: status, iterations, wall time, relative residual; notes below."""
    table = plain_table(
        "name", "status", "iterations", "time", "residual", numbers=("iterations", "time", "residual")
    )
    remarks = []
    for attempt in attempts:
        if attempt.solution is None:
            table.add_row(attempt.name, Text(CANNOT, "dim"), "–", "–", "–")
            remarks.append((attempt.name, attempt.reason))
            continue
        solution, statistics = attempt.solution, attempt.solution.statistics
        table.add_row(
            attempt.name,
            Text(str(solution.status), GOOD if attempt.solved else BAD),
            str(statistics.iterations),
            duration(statistics.time),
            f"{solution.certificate.residual:.2e}",
        )
        if statistics.note:
            remarks.append((attempt.name, statistics.note))
    return Group(
        table, Text(), *(Text.assemble((name, "cyan"), ": ", (note, "dim")) for name, note in remarks)
    )


def attempts_as_json(
    name: str, problem: ContactProblem, attempts: Sequence[Attempt], tolerance: float
) -> dict[str, Any]:
    """Return the table, and the histories if there are any; unknown numbers are None.

    Times are in s; `tolerance` is the requested relative residual.
    """
    return {
        "problem": {
            "name": name,
            "contacts": problem.contacts,
            "joint_rows": problem.joint_rows,
            "law": str(problem.law),
        },
        "tolerance": tolerance,
        "solvers": [_as_json(attempt) for attempt in attempts],
    }


def attempts_figure(
    name: str, problem: ContactProblem, attempts: Sequence[Attempt], tolerance: float
) -> Figure:
    """Draw relative residuals over iterations and over time in ms, all axes logarithmic.

    For a method that runs in one call only its start and end points are drawn, without a line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 5.4), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    by_iteration, by_time = figure.subplots(1, 2, sharey=True)
    figure.suptitle(f"{name}: {problem.contacts} contacts, law {problem.law}", wrap=True)
    drawn = [attempt for attempt in attempts if attempt.recorded is not None]
    for index, attempt in enumerate(drawn):
        assert attempt.recorded is not None
        history = attempt.recorded.statistics.history
        # zero cannot be drawn on a logarithmic axis
        residual = np.where(history.residual > 0.0, history.residual, np.nan)
        line = "none" if len(residual) <= 2 else "-" if attempt.solved else ":"
        style: dict[str, Any] = {
            "label": attempt.name + ("" if attempt.solved else " (not solved)"), "color": f"C{index % 10}",
            "marker": _MARKERS[index % len(_MARKERS)], "markersize": 4.0, "linewidth": 1.0,
            "linestyle": line, "markevery": max(1, len(residual) // 20),
        }  # fmt: skip
        by_iteration.plot(history.iteration, residual, **style)
        by_time.plot(1e3 * history.time, residual, **style)
    for axes, label in ((by_iteration, "iteration"), (by_time, "time in ms, without recording")):
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.axhline(tolerance, color="0.4", linestyle="--", linewidth=1.0, label=f"tolerance {tolerance:g}")
        axes.grid(True, color="0.9")
    by_iteration.set_xscale("symlog", linthresh=1.0)  # logarithmic from 1 on, with the start at 0
    by_iteration.set_xlim(left=-0.1)
    by_iteration.set_ylabel("relative residual of the certificate")
    handles, labels = by_iteration.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure


def _as_json(attempt: Attempt) -> dict[str, Any]:
    row: dict[str, Any] = {"name": attempt.name, "solved": attempt.solved}
    if attempt.solution is None:
        return row | {"status": CANNOT, "reason": attempt.reason}
    solution, statistics = attempt.solution, attempt.solution.statistics
    row |= {
        "status": str(solution.status),
        "iterations": statistics.iterations,
        "time": statistics.time,
        "residual": _finite(solution.certificate.residual),
        "note": statistics.note,
    }
    if attempt.recorded is not None:
        history = attempt.recorded.statistics.history
        row["history"] = {
            "iteration": history.iteration.tolist(),
            "residual": [_finite(value) for value in history.residual],
            "time": history.time.tolist(),
        }
    return row


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
