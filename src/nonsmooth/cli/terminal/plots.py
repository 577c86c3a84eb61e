"""Plots of the iterations of a solver.

matplotlib is imported when the first figure is made, without pyplot: a figure has a separate
canvas, so no global state changes and no display is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.solvers import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")
"""File name endings that a figure can be saved to."""


def history_figure(name: str, solution: Solution, tolerance: float) -> Figure:
    """Draw the relative residual and the objective in J over the iterations; save it with `savefig`.

    `name` is the problem in the title; `tolerance` is the requested relative residual.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    history = solution.statistics.history
    figure = Figure(figsize=(7.0, 5.5), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    figure.suptitle(
        f"{name}, law {solution.problem.law}: {solution.status} by {solution.statistics.solver}", wrap=True
    )
    # Zero cannot be drawn on a logarithmic axis.
    upper.semilogy(history.iteration, np.where(history.residual > 0.0, history.residual, np.nan), marker=".")
    upper.axhline(tolerance, color="0.4", linestyle="--", linewidth=1.0, label=f"tolerance {tolerance:g}")
    upper.legend(loc="best")
    upper.set_ylabel("relative residual")
    lower.plot(history.iteration, history.objective, marker=".")
    lower.set_ylabel("objective ½ γᵀNγ + qᵀγ (J)")
    lower.set_xlabel("iteration")
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (upper, lower):
        axes.grid(True, color="0.9")
    return figure
