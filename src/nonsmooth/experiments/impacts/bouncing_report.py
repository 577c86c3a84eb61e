"""What the experiments with bouncing balls and blocks share: event marks, convergence averaged over runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import SteppedRun
from nonsmooth.experiments.impacts.event_report import Convergence, convergence
from nonsmooth.experiments.shared.output import DARK_GREY
from nonsmooth.model.generalised import GeneralisedSystem

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SPREAD = 0.12
"""How far steps that are averaged lie from the middle one, as a part of it."""


@dataclass(frozen=True)
class Grid:
    """Steps of time stepping in s, and how many runs with nearly the same step are averaged."""

    steps: tuple[float, ...]
    runs: int


QUICK_GRID = Grid((0.008, 0.004, 0.002), 3)
FULL_GRID = Grid((0.008, 0.004, 0.002, 0.001, 0.0005), 5)


def mark_events(ax: Axes, times: Sequence[float] | Floats, label: str) -> None:
    """Draw a thin line at each time."""
    for k, t in enumerate(times):
        ax.axvline(t, color=DARK_GREY, linewidth=0.7, linestyle=":", label=label if k == 0 else None)


def averaged_convergence(
    system: GeneralisedSystem,
    start: tuple[Floats, Floats],
    duration: float,
    grid: Grid,
    errors: Mapping[str, Callable[[SteppedRun], float]],
) -> dict[str, Convergence]:
    """Errors of time stepping, each the mean of some runs with nearly the same step.

    Where in a step an event falls decides the error of a single run; the mean shows the order.
    """
    parts = np.linspace(1.0 - _SPREAD, 1.0 + _SPREAD, grid.runs).tolist()
    measured: list[list[float]] = []

    def measure(run: SteppedRun) -> float:
        measured.append([error(run) for error in errors.values()])
        return measured[-1][0]

    convergence(system, *start, duration, [step * part for step in grid.steps for part in parts], measure)
    means = np.array(measured).reshape(len(grid.steps), grid.runs, len(errors)).mean(axis=1)
    return {name: Convergence(np.array(grid.steps), means[:, k]) for k, name in enumerate(errors)}
