"""Figures of falling spheres: forces and errors over time, cost over size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import DARK_GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.experiments.shared.granular import History


def forces_and_errors(histories: Sequence[History], weight_of: str) -> Figure:
    """Figs. 8 and 10: force on the container, and error of Eq. 8, against time."""
    figure, (force, error) = plots.new_axes((11.0, 5.0), columns=2)
    for each in histories:
        colour, label = each.method.colour, each.method.label
        force.plot(each.time, each.force / 1e3, color=colour, linewidth=0.5, alpha=0.3)
        force.plot(each.time, each.mean_force / 1e3, color=colour, linewidth=1.4, label=label)
        seen = np.where(each.complementarity > 0.0, each.complementarity, np.nan)
        error.plot(each.time, seen, color=colour, linewidth=0.9, label=label)
    weight, duration = histories[0].weight / 1e3, float(histories[0].time[-1])
    force.axhline(weight, color=DARK_GREY, linestyle="--", linewidth=1.2, label=f"weight of {weight_of}")
    highest = max(float(each.mean_force.max()) for each in histories) / 1e3
    force.set(
        title="Force on the container, and its mean over 0.1 s", xlabel="time in s",
        ylabel="vertical contact force in kN", xlim=(0.0, duration), ylim=(0.0, 1.25 * highest),
    )  # fmt: skip
    error.set(
        title="Complementarity error of Eq. 8", xlabel="time in s", yscale="log",
        ylabel=r"largest $|\gamma_n\,(\Phi/h + u_n)|$ in J", xlim=(0.0, duration),
    )  # fmt: skip
    plots.legend_below(figure, len(histories) + 1)
    return figure


def cost_and_motion(histories: Sequence[History]) -> Figure:
    """Further quantities that the paper monitors: iterations of every step, largest speed, kinetic energy."""
    figure, (iterations, speed, energy) = plots.new_axes((14.0, 5.6), columns=3)
    for each in histories:
        style: Any = {"color": each.method.colour, "linewidth": 0.9, "label": each.method.label}
        iterations.plot(each.time, np.where(each.iterations > 0.0, each.iterations, np.nan), **style)
        speed.plot(each.time, each.speed, **style)
        energy.plot(each.time, each.kinetic_energy, **style)
    iterations.set(title="Iterations of a step", yscale="log", ylabel="iterations")
    speed.set(title="Largest speed", ylabel="speed in m/s")
    energy.set(title="Kinetic energy", yscale="log", ylabel="kinetic energy in J")
    for ax in (iterations, speed, energy):
        ax.set(xlabel="time in s", xlim=(0.0, float(histories[0].time[-1])))
    plots.legend_below(figure, len(histories))
    return figure


def scaling(histories: Sequence[History]) -> Figure:
    """Fig. 11: largest error of Eq. 8, mean iterations and computing time against the number of contacts."""
    figure, axes = plots.new_axes((14.0, 5.6), columns=3)
    for key in dict.fromkeys(each.method.key for each in histories):
        runs = [each for each in histories if each.method.key == key]
        contacts = [float(each.contacts.max()) for each in runs]
        style: Any = {"color": runs[0].method.colour, "label": runs[0].method.label, "marker": "o"}
        axes[0].plot(contacts, [each.complementarity.max() for each in runs], **style)
        axes[1].plot(contacts, [each.iterations.mean() for each in runs], **style)
        axes[2].plot(contacts, [1e3 * each.seconds / len(each.time) for each in runs], **style)
    titles = (
        ("Largest error of Eq. 8", r"largest $|\gamma_n\,(\Phi/h + u_n)|$ in J"),
        ("Mean iterations", "iterations per step"),
        ("Computing time", "CPU time per step in ms"),
    )
    for ax, (title, label) in zip(axes, titles, strict=True):
        ax.set(title=title, ylabel=label, xlabel="contacts (most in a run)", xscale="log", yscale="log")
        ax.set(xlim=_decades(ax.get_xlim()), ylim=_decades(ax.get_ylim()))
    plots.legend_below(figure, len(axes))
    return figure


def _decades(limits: tuple[float, float]) -> tuple[float, float]:
    """The whole powers of ten around a range, so that a logarithmic axis has numbers at its ends."""
    low, high = np.log10(limits)
    return 10.0 ** np.floor(low), 10.0 ** np.ceil(high)
