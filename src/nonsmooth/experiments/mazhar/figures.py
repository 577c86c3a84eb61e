"""Figures of the ball and the boxes under six models: motion, order in h, rest."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.experiments.mazhar.dynamics import Case, Track
    from nonsmooth.experiments.mazhar.models import Model

_COLOURS = {"Primal": BLUE, "Dual": ORANGE, "EOM": GREEN}
_SIZES = {"Primal": 10.0, "Dual": 7.0, "EOM": 4.0}
"""Markers of models that agree lie inside each other."""


def motion(case: Case, tracks: Sequence[Track]) -> Figure:
    """Position, speed, spin and height of all models and in closed form; circles exact, squares relaxed."""
    figure, axes = plots.new_axes((11.0, 8.4), columns=2, rows=2)
    time = np.linspace(0.0, case.duration, 601)
    along, speed, spin = case.closed_form(time)
    panels: tuple[tuple[Axes, str, Any, str], ...] = (
        (axes[0], "position along the surface in m", along, "along"),
        (axes[1], "speed along the surface in m/s", speed, "speed"),
        (axes[2], "angular velocity in rad/s", spin, "spin"),
        (axes[3], "height above the surface in mm", np.zeros_like(time), "height"),
    )
    for ax, label, exact, name in panels:
        factor = 1e3 if name == "height" else 1.0
        ax.plot(time, exact, color="black", linewidth=1.2, label="closed form (exact law)", zorder=1.5)
        for index, track in enumerate(tracks):
            every = max(1, len(track.time) // 24)
            offset = (index * every) // len(tracks) if name == "height" else 0
            ax.plot(
                track.time, factor * getattr(track, name), label=track.model.label, linewidth=0.5,
                markevery=(offset, every), **_style(track.model),
            )  # fmt: skip
        ax.set(xlabel="time in s", ylabel=label)
        _no_smaller_than(ax, 0.1 if name == "spin" else 1e-3)
        if np.isfinite(case.sliding_ends):
            ax.axvline(case.sliding_ends, color=DARK_GREY, linestyle="--", linewidth=0.9, zorder=1.0)
    figure.suptitle(
        f"{case.title[0].upper()}{case.title[1:]}: μ = {case.friction:g}, v₀ = {case.speed:g} m/s, "
        f"h = {tracks[0].step:g} s{_end_of_sliding(case)}\n{_folded('The report, ' + case.report)}",
        fontsize=11,
    )
    plots.legend_below(figure, 4)
    return figure


def convergence(study: dict[str, list[Track]]) -> Figure:
    """Over the time step: the exact models' error of position with first order, and the relaxed lift-off."""
    from matplotlib.ticker import NullLocator

    figure, axes = plots.new_axes((10.0, 8.0), columns=2, rows=2)
    for ax, tracks in zip(axes, study.values(), strict=True):
        steps = np.array(sorted({track.step for track in tracks}))
        largest = 0.0
        for label in dict.fromkeys(track.model.label for track in tracks):
            own = sorted((t for t in tracks if t.model.label == label), key=lambda track: track.step)
            exact = own[0].model.exact
            lengths = [track.end_error if exact else float(track.height.max()) for track in own]
            what = "error of position at the end" if exact else "highest above the surface"
            ax.loglog(steps, lengths, linewidth=0.9, label=f"{label}: {what}", **_style(own[0].model))
            largest = lengths[-1] if exact else largest
        ax.loglog(
            steps, 1.4 * largest * steps / steps[-1], color="black", linestyle="--", linewidth=1.0,
            label="first order in h",
        )  # fmt: skip
        ax.set(title=tracks[0].case.title, xlabel="time step h in s", ylabel="length in m")
        ax.set_xticks(steps, [f"{step:g}" for step in steps])
        ax.xaxis.set_minor_locator(NullLocator())
    plots.legend_below(figure, 2)
    return figure


def rest(tracks: Sequence[Track]) -> Figure:
    """Largest distance of the box so far from its first position at rest on the incline."""
    figure, (ax,) = plots.new_axes((8.6, 5.0))
    for track in tracks:
        since, moved = track.moved_at_rest
        farthest = np.maximum.accumulate(moved)
        ax.plot(
            since, np.where(farthest > 0.0, farthest, np.nan), linewidth=0.9, label=track.model.label,
            markevery=max(1, len(moved) // 24), **_style(track.model),
        )  # fmt: skip
    ax.axhline(1e-12, color=DARK_GREY, linestyle="--", linewidth=1.0, label="required: below 1e-12 m")
    ax.set_yscale("log")
    ax.set(
        title=f"Box at rest on the incline of 25°, h = {tracks[0].step:g} s: creep",
        xlabel="time since it stopped in s", ylabel="largest distance so far in m", ylim=(1e-18, 1e-11),
    )  # fmt: skip
    plots.legend_below(figure, 4)
    return figure


def _style(model: Model) -> dict[str, Any]:
    kind = model.label.removesuffix("-Relaxed")
    return {
        "color": _COLOURS[kind], "marker": "o" if model.exact else "s", "markersize": _SIZES[kind],
        "markerfacecolor": "none", "markeredgewidth": 1.1,
    }  # fmt: skip


def _no_smaller_than(ax: Axes, least: float) -> None:
    """Keep rounding errors from filling the height of the figure."""
    low, high = ax.get_ylim()
    if high - low < least:
        ax.set_ylim(-least, least)


def _end_of_sliding(case: Case) -> str:
    if not np.isfinite(case.sliding_ends):
        return ""
    return f"; {'rolls' if case.is_ball else 'stops'} at {case.sliding_ends:.3f} s (dashed)"


def _folded(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 120))
