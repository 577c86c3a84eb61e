"""Convergence of Moreau's time stepping to the motion of an event-driven run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.events import SteppedRun, simulate_steps
from nonsmooth.experiments.base import Table
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE, RED
from nonsmooth.experiments.summary import Comparison, exact_row
from nonsmooth.model.generalised import GeneralisedSystem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = (ORANGE, BLUE, GREEN, DARK_GREY)
_MARKERS = ("s", "o", "^", "d")
_SPREAD = 0.12
"""Relative spread of the averaged steps about the middle one."""


@dataclass(frozen=True)
class Curve:
    """Errors of time stepping for several steps (s), and the fitted order."""

    steps: Floats
    errors: Floats

    @property
    def order(self) -> float:
        """Slope of log error over log step."""
        return float(np.polyfit(np.log(self.steps), np.log(self.errors), 1)[0])

    @property
    def order_uncertainty(self) -> float:
        """Half-width of the slope's 95 % interval, from the scatter about the line; needs three steps.

        Errors scatter because they depend on where in a step an event falls.
        """
        from scipy.stats import linregress, t

        error = linregress(np.log(self.steps), np.log(self.errors)).stderr
        return float(t.ppf(0.975, len(self.steps) - 2) * error)

    def row(self, name: str, wanted: float, note: str = "") -> Comparison:
        """The fitted order with its uncertainty beside the theoretical order."""
        if not math.isfinite(self.order_uncertainty):
            return Comparison(name, None, self.order, "", f"{len(self.steps)} steps do not determine it")
        known = f"± {self.order_uncertainty:.2g} (95 %), {len(self.steps)} steps"
        row = exact_row(name, wanted, self.order, "", f"{known}; {note}" if note else known)
        return replace(row, uncertainty=self.order_uncertainty)


def measure(
    system: GeneralisedSystem,
    q: ArrayLike,
    u: ArrayLike,
    duration: float,
    steps: Sequence[float],
    error: Callable[[SteppedRun], float],
    **options: Any,
) -> Curve:
    """Run time stepping with several steps and measure each run by `error`."""
    errors = [error(simulate_steps(system, q, u, duration=duration, step=step, **options)) for step in steps]
    return Curve(np.array(steps, dtype=float), np.array(errors))


@dataclass(frozen=True)
class Grid:
    """Steps of time stepping in s, and the number of runs with nearly the same step that are averaged."""

    steps: tuple[float, ...]
    runs: int


QUICK_GRID = Grid((0.008, 0.004, 0.002), 3)
FULL_GRID = Grid((0.008, 0.004, 0.002, 0.001, 0.0005), 5)


def averaged(
    system: GeneralisedSystem,
    start: tuple[Floats, Floats],
    duration: float,
    grid: Grid,
    errors: Mapping[str, Callable[[SteppedRun], float]],
) -> dict[str, Curve]:
    """Errors of time stepping, each the mean of several runs with nearly the same step.

    The error of a single run depends on where in a step an event falls; the mean shows the order.
    """
    parts = np.linspace(1.0 - _SPREAD, 1.0 + _SPREAD, grid.runs).tolist()
    runs = [
        simulate_steps(system, *start, duration=duration, step=step * part)
        for step in grid.steps
        for part in parts
    ]
    measured = np.array([[error(run) for error in errors.values()] for run in runs])
    means = measured.reshape(len(grid.steps), grid.runs, len(errors)).mean(axis=1)
    return {name: Curve(np.array(grid.steps), means[:, k]) for k, name in enumerate(errors)}


def table(curves: Mapping[str, Curve]) -> Table:
    """Steps and errors of time stepping."""
    rows = [
        (label, step, error)
        for label, curve in curves.items()
        for step, error in zip(curve.steps.tolist(), curve.errors.tolist(), strict=True)
    ]
    return Table(("quantity", "step_s", "error"), rows)


def figure(title: str, curves: Mapping[str, Curve], event_error: float, unit: str = "") -> Figure:
    """Both integrators in one plot: time stepping's error over its step, event-driven as a line."""
    drawn, (ax,) = plots.new_axes((7.2, 5.6))
    for k, (label, curve) in enumerate(curves.items()):
        ax.loglog(
            curve.steps, curve.errors, color=_COLOURS[k % 4], marker=_MARKERS[k % 4], linewidth=1.6,
            label=f"time stepping: {label}, order {curve.order:.2f} ± {curve.order_uncertainty:.2g}",
        )  # fmt: skip
    first = next(iter(curves.values()))
    ends = np.array([first.steps.min(), first.steps.max()])
    guide = 0.4 * first.errors[np.argmax(first.steps)] * ends / ends[1]
    ax.loglog(ends, guide, "--", color=DARK_GREY, linewidth=1.0, label="first order")
    event_driven = f"event-driven: {event_error:.1e} {unit}".rstrip()
    ax.axhline(max(event_error, 1e-17), color=RED, linewidth=1.6, label=event_driven)
    ax.set(xlabel="time step in s", ylabel=f"error in {unit}" if unit else "error", title=title)
    plots.legend_below(drawn, 1)
    return drawn
