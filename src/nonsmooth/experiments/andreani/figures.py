"""Figures of the experiments on complementarity problems: growth of cost, and performance profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31", "#7B4FA3")
_MARKERS = "os^vDP*Xh"


def style(labels: Sequence[str], own: int) -> dict[str, dict[str, Any]]:
    """Colour, line and marker of each label: solid lines for the first `own`, dashed for the libraries'."""
    styles = {}
    for number, label in enumerate(labels):
        place = number if number < own else number - own
        styles[label] = {
            "color": _COLOURS[place % len(_COLOURS)],
            "linestyle": "-" if number < own else "--",
            "marker": _MARKERS[place % len(_MARKERS)],
            "markersize": 5.0,
            "markerfacecolor": None if number < own else "white",
            "linewidth": 1.6 if number < own else 1.2,
        }
    return styles


def cost_of_inner_iterations(
    rates: Mapping[str, tuple[Sequence[int], Sequence[float]]], slope: float
) -> Figure:
    """Fig. 1: dimension of problem (2) against CPU time for each iteration of the quadratic's solver."""
    figure, (ax,) = plots.new_axes((6.4, 4.6))
    for (label, (sizes, seconds)), look in zip(
        rates.items(), style(list(rates), len(rates)).values(), strict=True
    ):
        ax.loglog(sizes, seconds, label=label, **look)
    if np.isfinite(slope):
        # call overhead dominates the first size: the slope is that of the others
        large = np.array(sorted({size for found, _ in rates.values() for size in found[1:]}), dtype=float)
        line = (
            np.median([seconds[-1] / found[-1] ** slope for found, seconds in rates.values()]) * large**slope
        )
        ax.loglog(large, line, color=LIGHT_GREY, linewidth=5.0, zorder=0.5, label=f"slope {slope:.2f}")
    ax.set(
        title="bert_oc by box-trust-region", xlabel="dimension of problem (2)", ylabel="CPU time/ItQua in s"
    )
    plots.legend_below(figure, 3)
    return figure


def growth(
    times: Mapping[str, tuple[Sequence[int], Sequence[float]]],
    failed: Mapping[str, tuple[int, float]],
    exponents: Mapping[str, float],
    limit: float,
    own: int,
) -> Figure:
    """Time to solve bert_oc against its number of steps; `failed` has N and time of failed runs."""
    figure, (ax,) = plots.new_axes((9.2, 5.8))
    for label, look in style(list(times), own).items():
        sizes, seconds = times[label]
        exponent = exponents.get(label, np.nan)
        name = label if np.isnan(exponent) else f"{label}: $N^{{{exponent:.2f}}}$"
        name += f", fails at N = {failed[label][0]}" if label in failed else ""
        ax.loglog(sizes, seconds, label=name, **look)
        if label in failed:
            at, spent = failed[label]
            ax.loglog(
                [*sizes[-1:], at], [*seconds[-1:], spent], color=look["color"], linestyle=":", linewidth=1.0
            )
            ax.loglog([at], [spent], color=look["color"], marker="x", markersize=8.0, linestyle="none")
    ax.axhline(limit, color=DARK_GREY, linewidth=0.8)
    ax.annotate(
        f"limit {limit:g} s of wall time; a cross: not solved", (0.99, limit), (0, 4), ha="right",
        xycoords=("axes fraction", "data"), textcoords="offset points", color=DARK_GREY,
    )  # fmt: skip
    ax.set(title="bert_oc, y(0) = (15, 5)", xlabel="steps N (5N variables)", ylabel="CPU time in s")
    plots.legend_below(figure, 3)
    return figure


def profile(ratios: Floats) -> tuple[Floats, Floats]:
    """Steps (τ, ρ): the share ρ of problems on which a method needs at most τ times the best's cost."""
    finite = np.sort(ratios[np.isfinite(ratios)])
    share = np.arange(1, len(finite) + 1) / max(len(ratios), 1)
    return np.concatenate([[1.0], finite]), np.concatenate([[0.0], share])


def profiles(panels: Mapping[str, Mapping[str, Floats]], labels: Sequence[str], own: int) -> Figure:
    """Performance profiles of Dolan and Moré, two panels a row; `panels` holds each method's ratios."""
    figure, axes = plots.new_axes(
        (10.0, 4.2 * ((len(panels) + 1) // 2) + 1.0), columns=2, rows=(len(panels) + 1) // 2
    )
    looks = style(labels, own)
    every = np.concatenate([ratios for methods in panels.values() for ratios in methods.values()])
    reach = max(10.0, 1.5 * float(every[np.isfinite(every)].max(initial=1.0)))
    for ax, (title, methods) in zip(axes, panels.items(), strict=True):
        for label, ratios in methods.items():
            look = {key: value for key, value in looks[label].items() if "marker" not in key}
            tau, share = profile(ratios)
            ax.step([*tau, reach], [*share, share[-1]], where="post", label=label, **look)
        ax.set(
            title=title, xscale="log", xlim=(1.0, reach), ylim=(0.0, 1.03),
            xlabel="cost as a multiple τ of the best method's", ylabel="share of problems solved within τ",
        )  # fmt: skip
    plots.legend_below(figure, 5)
    return figure
