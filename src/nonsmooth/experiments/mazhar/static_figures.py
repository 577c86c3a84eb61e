"""Figures of the static experiments of TR-2014-11: objectives, solutions, times over the problem's size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.experiments.mazhar.scaling import Measured, Setup
    from nonsmooth.experiments.mazhar.static import Analysis
    from nonsmooth.solvers.solution import Solution

_SHADES = ("#C6DBEF", "#9ECAE1", "#6BAED6", "#3182BD", "#08519C")
"""APGD after few and after many iterations."""
_COLOURS = (
    BLUE, ORANGE, "#E69F00", GREEN, "#66C2A5", "#000000", "#CC79A7", "#882255", "#56B4E9", "#8C564B",
    "#999999", "#5E3C99", "#B2DF8A",
)  # fmt: skip
_MARKERS = "osD^v<>Pp*hXd"


def objectives(analyses: Sequence[Analysis]) -> Figure:
    """Above, Figs. 1 and 3: |objective| over the iterations; below, its distance from the best one."""
    figure, axes = plots.new_axes((11.0, 8.0), columns=len(analyses), rows=2)
    for ax, below, analysis in zip(axes, axes[len(analyses) :], analyses, strict=False):
        best = analysis.best_objective
        for trace, colour, marker in ((analysis.apgd, BLUE, None), (analysis.interior, ORANGE, "o")):
            style = {"color": colour, "linewidth": 1.3, "markersize": 4.0, "label": trace.solver}
            count, value = trace.iteration[1:], trace.objective[1:]
            ax.loglog(count, np.abs(value), marker=marker, **style)
            below.loglog(count, np.abs(value / best - 1.0), marker=marker, **style)
        ax.axhline(abs(best), color=DARK_GREY, linestyle="--", linewidth=1.0, label="most accurate answer")
        recipe = analysis.settled.recipe
        ax.set(
            title=f"{recipe.spheres} spheres, {analysis.name} settled: {analysis.problem.contacts} contacts",
            xlabel="iterations", ylabel="|dual objective| in J",
        )  # fmt: skip
        below.set(xlabel="iterations", ylabel="relative error of the objective")
    plots.legend_below(figure, 3)
    return figure


def solutions(analyses: Sequence[Analysis]) -> Figure:
    """Figs. 2 and 4: contact impulses and speeds by APGD, stopped after some iterations, approach the answer.

    Statics does not determine all impulses, but it determines velocities: the lower row has a unique answer.
    """
    figure, axes = plots.new_axes((11.0, 8.0), columns=len(analyses), rows=2)
    for ax, below, analysis in zip(axes, axes[len(analyses) :], analyses, strict=False):
        shades = _SHADES[-len(analysis.snapshots) :]
        for (count, stopped), colour in zip(analysis.snapshots.items(), shades, strict=True):
            label = f"APGD, {count} iterations"
            for panel, values in ((ax, _normal(stopped)), (below, _errors(stopped, analysis.reference))):
                panel.plot(np.arange(1, len(values) + 1), values, color=colour, linewidth=1.6, label=label)
        exact = _normal(analysis.reference)
        ax.plot(
            np.arange(1, len(exact) + 1), exact, color=ORANGE, linestyle="--", linewidth=1.2,
            label="interior point",
        )  # fmt: skip
        ax.set(
            title=f"{analysis.name} settled", xlabel="contacts in descending order of impulse",
            ylabel="normal impulse in N·s",
        )  # fmt: skip
        below.set(xlabel="spheres in descending order of error", ylabel="velocity error in m/s", yscale="log")
        # a few spheres touch nothing and are exact up to rounding: they would take half of the panel
        ends = [np.quantile(np.asarray(line.get_ydata(), dtype=float), 0.05) for line in below.lines]
        below.set_ylim(bottom=0.3 * min(ends))
        ax.legend(frameon=False)
    return figure


def times(results: Sequence[Measured], setup: Setup) -> Figure:
    """Fig. 5: wall time over contacts, with fitted powers; a cross where a solver did not converge."""
    from nonsmooth.experiments.mazhar.scaling import exponent

    figure, (ax,) = plots.new_axes((10.0, 7.6))
    for index, method in enumerate(setup.methods):
        own = sorted((e for e in results if e.method == method.label), key=lambda each: each.contacts)
        missed = [e for e in own if not e.solved]
        slope, _ = exponent(results, method.label)
        power = "" if np.isnan(slope) else f", ~ $c^{{{slope:.2f}}}$"
        reached = [e.seconds if e.solved else np.nan for e in own]  # the line is interrupted at failures
        ax.loglog(
            [e.contacts for e in own], reached, color=_COLOURS[index % len(_COLOURS)],
            marker=_MARKERS[index % len(_MARKERS)], markersize=4.5, linewidth=1.2,
            label=f"{method.label}{power}",
        )  # fmt: skip
        # a solver that refuses has no time: it is marked at the limit
        heights = [setup.time_limit if np.isnan(e.seconds) else e.seconds for e in missed]
        ax.plot(
            [e.contacts for e in missed], heights, color=_COLOURS[index % len(_COLOURS)], marker="x",
            markersize=7.0, markeredgewidth=1.6, linestyle="none",
        )  # fmt: skip
    ax.axhline(
        setup.time_limit, color=RED, linestyle="--", linewidth=1.0, label=f"time limit {setup.time_limit:g} s"
    )
    ax.plot([], [], color=DARK_GREY, marker="x", linestyle="none", label="tolerance missed or refused")
    ax.set(
        title=f"One step of settled spheres from zero impulses, relative residual {setup.tolerance:g}",
        xlabel="contacts c", ylabel="wall time in s",
    )  # fmt: skip
    plots.legend_below(figure, 3)
    return figure


def primal_objectives(results: Sequence[Measured]) -> Figure:
    """Fig. 6: the primal objective, plus ½kᵀM⁻¹k, of the velocities before and after solving."""
    figure, (ax,) = plots.new_axes((8.0, 5.4))
    contacts = [each.contacts for each in results]
    after, before = [e.objective_after for e in results], [e.objective_before for e in results]
    ax.loglog(contacts, before, color=ORANGE, marker="s", label="settled data before solving")
    ax.loglog(contacts, after, color=BLUE, marker="o", label="solution")
    ax.set(title="Primal objective ½vᵀMv − kᵀv, plus ½kᵀM⁻¹k", xlabel="contacts", ylabel="objective in J")
    plots.legend_below(figure, 2)
    return figure


def _normal(solution: Solution) -> NDArray[np.float64]:
    return np.sort(solution.impulses.reshape(-1, 3)[:, 0])[::-1]


def _errors(solution: Solution, exact: Solution) -> NDArray[np.float64]:
    """Of the centres' velocities in m/s, largest first; exact ones have no logarithm."""
    assert solution.velocity is not None
    assert exact.velocity is not None
    errors = np.linalg.norm((solution.velocity - exact.velocity).reshape(-1, 6)[:, :3], axis=1)
    return np.sort(errors[errors > 0.0])[::-1]
