"""The performance profile as a figure; matplotlib is imported when it is drawn, without pyplot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.bench.measure import Row
from nonsmooth.bench.standings import Rules, profile, standings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555", "#B8A800")
"""Colours distinguishable for colour-blind readers; line styles distinguish lines of the same colour."""
_LINES = ("-", "--", ":", "-.")


def profile_figure(rows: Sequence[Row], rules: Rules, title: str) -> Figure:
    """Share of the problems that each solver solves within τ times the best time, over log₂ τ."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.grid(True, color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    curves = profile(rows, rules)
    finite = [ratio for curve in curves.values() for ratio in curve[np.isfinite(curve)]]
    problems = max((len(curve) for curve in curves.values()), default=0)
    end = float(np.log2(max(finite, default=2.0))) * 1.05 + 0.5
    for number, line in enumerate(standings(rows, rules)):
        curve = curves[line.solver]
        ratios = np.log2(curve[np.isfinite(curve)])
        # a step at every ratio, from the share at τ = 1 to the right edge
        places = np.concatenate([[0.0], ratios, [end]])
        shares = np.concatenate([[0.0], np.arange(1, len(ratios) + 1), [len(ratios)]]) / max(problems, 1)
        axes.step(
            places, shares, where="post", linewidth=1.6, zorder=3.0 - 0.01 * number,
            color=_COLOURS[number % len(_COLOURS)], linestyle=_LINES[number // len(_COLOURS) % len(_LINES)],
            label=f"{line.solver} ({line.solved} solved)",
        )  # fmt: skip
    clock = "CPU" if rules.clock == "cpu" else "wall"
    axes.set(
        xlim=(0.0, end), ylim=(0.0, 1.02), title=title,
        xlabel=f"log₂ τ: {clock} time at most τ times the best solver's on the same problem",
        ylabel=f"share of the {problems} problems that any solver solved",
    )  # fmt: skip
    if curves:
        figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure
