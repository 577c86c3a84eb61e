"""Figures of the benchmarks of mechanisms: the motion, the convergence and the drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.experiments.mechanisms.setting import SCHEMES, Mechanism, Trial, finest, in_words, of_scheme
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"stabilised": ORANGE, "projected": BLUE, "rattle": GREEN}
_MARKERS = {"stabilised": "s", "projected": "^", "rattle": "o"}
_LINES = (BLUE, ORANGE, GREEN)


def motion(
    mechanism: Mechanism,
    trial: Trial,
    moments: Sequence[float],
    plane: tuple[str, str],
    published: Mapping[float, Sequence[float]],
) -> Figure:
    """The mechanism at some times (s), and its quantity over time; `published` has values by time."""
    figure, (picture, ax) = plots.new_axes((11.0, 4.8), columns=2)
    _draw(picture, trial, moments)
    picture.set(xlabel=plane[0], ylabel=plane[1], aspect="equal", title="the mechanism at several times")
    wanted = mechanism.reference(trial.time)
    for k, (name, colour) in enumerate(zip(mechanism.components, _LINES, strict=False)):
        ax.plot(trial.time, wanted[:, k], color=LIGHT_GREY, linewidth=4.5, label="reference")
        ax.plot(trial.time, trial.value[:, k], color=colour, linewidth=1.3, label=f"{name}, {trial.name}")
        if published:
            times = [moment for moment in published if moment <= trial.time[-1] * (1.0 + 1e-9)]
            values = [published[moment][k] for moment in times]
            ax.plot(times, values, "o", color=RED, markersize=6, label="published")
    ax.set(xlabel="time in s", ylabel=f"{mechanism.quantity} in {mechanism.unit}")
    ax.set_title(f"{mechanism.quantity}: largest error {trial.error.max():.2g} {mechanism.unit}")
    plots.legend_below(figure, 4)
    return figure


def _draw(ax: Axes, trial: Trial, moments: Sequence[float]) -> None:
    """The mechanism at several times, later ones darker."""
    from matplotlib import colormaps

    moments = [moment for moment in moments if moment <= trial.time[-1]]
    for number, moment in enumerate(moments):
        at = int(np.argmin(np.abs(trial.time - moment)))
        colour = colormaps["viridis"](0.92 * (1.0 - number / max(1, len(moments) - 1)))
        for part, line in enumerate(trial.lines[at]):
            label = f"t = {_moment(trial.time[at])}" if part == 0 else None
            ax.plot(line[:, 0], line[:, 1], "o-", color=colour, linewidth=1.6, markersize=3, label=label)


def _moment(time: float) -> str:
    return f"{time:.3g} s" if time >= 0.1 or time == 0.0 else f"{1e3 * time:.3g} ms"


def convergence(mechanism: Mechanism, trials: Sequence[Trial], until: float) -> Figure:
    """Largest error up to a time (s) over the step, and that of the whole run over the CPU time."""
    figure, (by_step, by_cost) = plots.new_axes((11.0, 4.8), columns=2)
    for scheme in dict.fromkeys(trial.scheme for trial in trials):
        shown = of_scheme(trials, scheme)
        steps, errors = np.array([t.step for t in shown]), np.array([t.largest_error(until) for t in shown])
        look = {"color": _COLOURS[scheme], "marker": _MARKERS[scheme], "markersize": 7, "linewidth": 1.6}
        by_step.loglog(steps, errors, label=scheme, **look)
        by_cost.loglog([t.cpu for t in shown], [t.error.max() for t in shown], label=scheme, **look)
        slope = SCHEMES[scheme]
        by_step.loglog(steps, errors[-1] * (steps / steps[-1]) ** slope, ":", color=DARK_GREY, linewidth=1.2)
    by_step.plot([], [], ":", color=DARK_GREY, linewidth=1.2, label="theoretical first and second order")
    every = sorted({trial.step for trial in trials})
    by_step.set_xticks(every, [in_words(step) for step in every])
    by_step.minorticks_off()
    label = f"largest error of {mechanism.quantity} in {mechanism.unit}"
    by_step.set(xlabel="time step h", ylabel=label, title=f"up to t = {until:g} s")
    by_cost.set(xlabel="CPU time in s", ylabel=label, title=f"up to t = {trials[0].time[-1]:g} s")
    by_cost.xaxis.set_major_formatter("{x:g}")
    by_cost.xaxis.set_minor_formatter("")
    low, high = (f([trial.cpu for trial in trials]) for f in (min, max))
    ticks = [part * 10.0**power for power in range(-3, 5) for part in (1, 2, 5)]
    by_cost.set_xticks([tick for tick in ticks if 0.5 * low <= tick <= 2.0 * high])
    plots.legend_below(figure, 4)
    return figure


def drift(trials: Sequence[Trial]) -> Figure:
    """Energy and joint error over time, of every scheme with its shortest step."""
    figure, (energy, joints) = plots.new_axes((11.0, 4.8), columns=2)
    for scheme in dict.fromkeys(trial.scheme for trial in trials):
        trial, colour = finest(trials, scheme), _COLOURS[scheme]
        drifted = _above_zero(np.abs(trial.drift[1:]))
        energy.semilogy(trial.time[1:], drifted, color=colour, linewidth=1.2, label=trial.name)
        times = trial.step * np.arange(1, len(trial.joint_error) + 1)
        every = max(1, len(times) // 2000)
        joints.semilogy(times[::every], _above_zero(trial.joint_error[::every]), color=colour, linewidth=0.8)
    energy.set(xlabel="time in s", ylabel="|E − E(0) − work| in J", title="drift of the energy")
    joints.set(xlabel="time in s", ylabel="largest |g| in m or rad", title="error of the joints")
    plots.legend_below(figure, 3)
    return figure


def _above_zero(values: np.ndarray) -> np.ndarray:
    """Exact zeros cannot be drawn on a logarithmic axis: NaN omits them."""
    return np.where(values > 0.0, values, np.nan)
