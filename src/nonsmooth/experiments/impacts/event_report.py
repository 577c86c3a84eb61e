"""What the event-driven experiments share: their certificate, and time stepping beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun, SteppedRun, simulate_steps
from nonsmooth.experiments.base import Comparison
from nonsmooth.experiments.shared.output import BLUE, DARK_GREY, GREEN, ORANGE, RED, legend_below, new_axes
from nonsmooth.model.generalised import GeneralisedSystem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = (ORANGE, BLUE, GREEN, DARK_GREY)
_MARKERS = ("s", "o", "^", "d")


def certificate_rows(run: EventRun, prefix: str = "") -> list[Comparison]:
    """Energy balance, overlap and drift of a run."""
    found = run.certificate
    return [
        Comparison.with_closed_form(
            f"{prefix}change of kinetic + potential + dissipated − work", 0.0, found.energy_error, "J",
            f"largest over the run; kinetic energy up to {found.energy_scale:.3g} J",
        ),
        Comparison.with_closed_form(f"{prefix}overlap", 0.0, found.penetration, "m", "largest over the run"),
        Comparison.with_closed_form(
            f"{prefix}drift at closed contacts", 0.0, found.drift, "m/s", "largest, before it is put right"
        ),
    ]  # fmt: skip


@dataclass(frozen=True)
class Convergence:
    """Errors of time stepping for several steps (s), and the fitted order."""

    steps: Floats
    errors: Floats

    @property
    def order(self) -> float:
        """Slope of log error over log step."""
        return float(np.polyfit(np.log(self.steps), np.log(self.errors), 1)[0])

    @property
    def order_uncertainty(self) -> float:
        """Half the width of the slope's 95 % interval, from the scatter about the line; needs three steps.

        Errors scatter since an error depends on where in a step an event falls.
        """
        from scipy.stats import linregress, t

        error = linregress(np.log(self.steps), np.log(self.errors)).stderr
        return float(t.ppf(0.975, len(self.steps) - 2) * error)


def order_row(name: str, wanted: float, curve: Convergence, note: str = "") -> Comparison:
    """The fitted order of time stepping with its uncertainty beside that of theory."""
    if not math.isfinite(curve.order_uncertainty):
        return Comparison(name, None, curve.order, "", f"{len(curve.steps)} steps do not determine it")
    known = f"± {curve.order_uncertainty:.2g} (95 %), {len(curve.steps)} steps"
    row = Comparison.with_closed_form(name, wanted, curve.order, "", f"{known}; {note}" if note else known)
    return replace(row, uncertainty=curve.order_uncertainty)


def convergence(
    system: GeneralisedSystem,
    q: ArrayLike,
    u: ArrayLike,
    duration: float,
    steps: Sequence[float],
    error: Callable[[SteppedRun], float],
    **options: Any,
) -> Convergence:
    """Run Moreau's time stepping with several steps and measure each run by `error`."""
    errors = [error(simulate_steps(system, q, u, duration=duration, step=step, **options)) for step in steps]
    return Convergence(np.array(steps, dtype=float), np.array(errors))


def convergence_figure(
    title: str, curves: Mapping[str, Convergence], event_error: float, unit: str = ""
) -> Figure:
    """Both integrators in one plot: time stepping's error over its step, event-driven as a line."""
    figure, (ax,) = new_axes((7.2, 5.6))
    for k, (label, curve) in enumerate(curves.items()):
        ax.loglog(
            curve.steps, curve.errors, color=_COLOURS[k % 4], marker=_MARKERS[k % 4], linewidth=1.6,
            label=f"time stepping: {label}, order {curve.order:.2f} ± {curve.order_uncertainty:.2g}",
        )  # fmt: skip
    first = next(iter(curves.values()))
    ends = np.array([first.steps.min(), first.steps.max()])
    guide = 0.4 * first.errors[np.argmax(first.steps)] * ends / ends[1]
    ax.loglog(ends, guide, "--", color=DARK_GREY, linewidth=1.0, label="first order")
    ax.axhline(
        max(event_error, 1e-17),
        color=RED,
        linewidth=1.6,
        label=f"event-driven: {event_error:.1e} {unit}".rstrip(),
    )
    ax.set(xlabel="time step in s", ylabel=f"error in {unit}" if unit else "error", title=title)
    legend_below(figure, 1)
    return figure


def energy_figure(run: EventRun, title: str, count: int = 800) -> Figure:
    """All energies over time, and below them by how much their sum changes."""
    times = np.linspace(run.start.t, run.final.t, count)
    energy = run.energy(times)
    figure, (top, below) = new_axes((8.0, 6.0), rows=2)
    for name, values, colour in (
        ("kinetic", energy.kinetic, BLUE), ("potential", energy.potential, GREEN),
        ("dissipated", energy.dissipated, ORANGE), ("work done on it", energy.work, DARK_GREY),
    ):  # fmt: skip
        top.plot(times, values, color=colour, linewidth=1.6, label=name)
    top.set(xlabel="time in s", ylabel="energy in J", title=title)
    change = np.abs(energy.balance - energy.balance[0])
    below.semilogy(times, np.maximum(change, 1e-18), color=RED, linewidth=1.0)
    below.set(xlabel="time in s", ylabel="change of the sum in J", ylim=(1e-17, None))
    below.set_title("kinetic + potential + dissipated − work")
    legend_below(figure, 4)
    return figure
