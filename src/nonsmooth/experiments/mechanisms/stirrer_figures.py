"""Figures of the stirrer: torque and speed of its motor, balance of work, joints and certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import DARK_GREY, LIGHT_GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.experiments.mechanisms.stirrer import History


_WINDOW = 0.05
"""Time in s over which torques are averaged: single impacts last one step."""


def _smooth(values: Floats, step: float) -> Floats:
    """Means over `_WINDOW` around every step."""
    ones = np.ones(2 * max(1, round(0.5 * _WINDOW / step)) + 1)
    return np.asarray(np.convolve(values, ones, "same") / np.convolve(np.ones_like(values), ones, "same"))


def torque(histories: Sequence[History]) -> Figure:
    """The motor's torque and the speed of the crank over time."""
    figure, (load, speed) = plots.new_axes((11.0, 4.8), columns=2)
    for each in histories:
        colour, label, step = each.method.colour, each.method.label, each.run.settings["step"]
        load.plot(each.time, each.torque, color=colour, linewidth=0.4, alpha=0.4)
        load.plot(each.time, _smooth(each.torque, step), color=colour, linewidth=1.5, label=label)
        speed.plot(each.time, each.speed, color=colour, linewidth=0.9, label=label)
    limit = histories[0].limit
    load.axhline(limit, color=DARK_GREY, linestyle="--", linewidth=1.0, label="limit of the motor")
    load.set(
        xlabel="time in s",
        ylabel="torque in N·m",
        title=f"torque of the motor, and its mean over {_WINDOW:g} s",
    )
    speed.set(xlabel="time in s", ylabel="speed in rad/s", title="speed of the crank")
    plots.legend_below(figure, len(histories) + 1)
    return figure


def work(histories: Sequence[History]) -> Figure:
    """Work, heat and energy of the first run over time, and the difference in all runs."""
    figure, (balance, left) = plots.new_axes((11.0, 4.8), columns=2)
    first = histories[0]
    done, heat = np.cumsum(first.motor_work), np.cumsum(first.heat)
    gained = first.energy[1:] - first.energy[0]
    balance.plot(first.time, gained + heat, color=LIGHT_GREY, linewidth=5.0, label="energy and heat together")
    balance.plot(first.time, done, color=first.method.colour, linewidth=1.6, label="work of the motor")
    balance.plot(first.time, heat, "--", color=DARK_GREY, linewidth=1.2, label="heat of the contacts")
    balance.plot(first.time, gained, ":", color=DARK_GREY, linewidth=1.6, label="energy gained")
    balance.set(
        xlabel="time in s", ylabel="work and energy in J", title=f"balance of work, {first.method.label}"
    )
    for each in histories:
        left.plot(
            each.time, each.unexplained, color=each.method.colour, linewidth=1.2, label=each.method.label
        )
    left.set(xlabel="time in s", ylabel="work in J", title="work that is neither energy nor heat")
    plots.legend_below(figure, 4)
    return figure


def certificate(histories: Sequence[History]) -> Figure:
    """Residual, joint error and iterations of every step."""
    figure, axes = plots.new_axes((14.0, 5.6), columns=3)
    titles = {
        "residual": ("relative residual of every step", "residual"),
        "joint_error": ("error of the joints after every step", "largest |g| in m or rad"),
        "iterations": ("iterations of every step", "iterations"),
    }
    for each in histories:
        for ax, name in zip(axes, titles, strict=True):
            values = each.run.steps[name]
            shown = np.where(values > 0.0, values, np.nan)
            ax.semilogy(each.time, shown, color=each.method.colour, linewidth=0.8, label=each.method.label)
    for ax, (title, label) in zip(axes, titles.values(), strict=True):
        ax.set(xlabel="time in s", ylabel=label, title=title)
    tolerance = histories[0].run.certificate.tolerance
    axes[0].axhline(tolerance, color=DARK_GREY, linestyle="--", linewidth=1.0, label="tolerance")
    plots.legend_below(figure, len(histories) + 1)
    return figure
