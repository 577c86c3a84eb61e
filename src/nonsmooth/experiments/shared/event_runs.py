"""Figures and rows of an event-driven run: certificate, energies, and events and modes over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventKind, EventRun
from nonsmooth.experiments.base import Table
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.experiments.summary import Comparison, exact_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODE_COLOURS = {"open": "#F2F2F2", "slides": ORANGE, "sticks": BLUE}
EVENT_MARKS = {
    EventKind.IMPACT: ("v", RED),
    EventKind.ACCUMULATION: ("*", RED),
    EventKind.CLOSING: ("v", GREEN),
    EventKind.OPENING: ("^", GREEN),
    EventKind.SLIP: (">", ORANGE),
    EventKind.STICK: ("s", BLUE),
    EventKind.REVERSAL: ("d", ORANGE),
    EventKind.IMPACT_WITHOUT_COLLISION: ("X", RED),
    EventKind.INDETERMINATE: ("P", GREEN),
}
"""Marker and colour of every kind of event."""


def certificate_rows(run: EventRun, prefix: str = "") -> list[Comparison]:
    """Energy balance, overlap and drift of a run."""
    found = run.certificate
    return [
        exact_row(
            f"{prefix}change of kinetic + potential + dissipated − work", 0.0, found.energy_error, "J",
            f"largest over the run; kinetic energy up to {found.energy_scale:.3g} J",
        ),
        exact_row(f"{prefix}overlap", 0.0, found.penetration, "m", "largest over the run"),
        exact_row(
            f"{prefix}drift at closed contacts", 0.0, found.drift, "m/s", "largest, before correction"
        ),
    ]  # fmt: skip


def mode_bars(
    ax: Axes, run: EventRun, begin: float | None = None, end: float | None = None, *, unit: float = 1.0
) -> None:
    """Draw one bar for each contact, coloured by its mode, with a mark at each of its events.

    Args:
        ax: axes to draw on.
        run: the simulation.
        begin: first time in s that is shown; by default the run's start.
        end: last time in s; by default the run's end.
        unit: time in s by which the axis is scaled: 1e-3 gives ms.
    """
    first = run.start.t if begin is None else begin
    last = run.final.t if end is None else end
    names = [contact.name for contact in run.system.contacts]
    shown: set[str] = set()
    for row, name in enumerate(names):
        spans: dict[str, list[tuple[float, float]]] = {}
        for piece in run.pieces:
            left, right = max(piece.begin, first), min(piece.end, last)
            if right > left:
                spans.setdefault(_mode(run, row, piece.motion.closed), []).append(
                    ((left - first) / unit, (right - left) / unit)
                )
        shown |= set(spans)
        for mode, bars in spans.items():
            ax.broken_barh(bars, (row - 0.3, 0.6), facecolors=MODE_COLOURS[mode])
        for kind, (marker, colour) in EVENT_MARKS.items():
            times = run.times(kind, name)
            times = times[(times >= first) & (times <= last)]
            if len(times):
                ax.plot(
                    (times - first) / unit, np.full(len(times), row + 0.42), marker, color=colour,
                    markersize=5, linestyle="none", label=str(kind), zorder=3,
                )  # fmt: skip
    for mode, colour in MODE_COLOURS.items():
        if mode in shown:
            ax.fill_between([], [], color=colour, edgecolor=LIGHT_GREY, linewidth=0.5, label=mode)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(-0.6, len(names) - 0.2)
    ax.set_xlim(0.0, (last - first) / unit)
    ax.grid(False, axis="y")


def stretch(ax: Axes, heights: Sequence[float]) -> None:
    """Set the relative heights of the rows of the figure that contains `ax`."""
    grid = ax.get_gridspec()
    assert grid is not None
    grid.set_height_ratios(heights)


def _mode(run: EventRun, contact: int, closed: Mapping[int, object]) -> str:
    if contact not in closed:
        return "open"
    sticks = closed[contact] is None and run.system.contacts[contact].static_friction > 0.0
    return "sticks" if sticks else "slides"


def mark(ax: Axes, times: Sequence[float] | Floats, label: str) -> None:
    """Draw a thin line at each time."""
    for k, t in enumerate(times):
        ax.axvline(t, color=DARK_GREY, linewidth=0.7, linestyle=":", label=label if k == 0 else None)


def energy_figure(run: EventRun, title: str, count: int = 800) -> Figure:
    """All energies over time, and below them the change of their sum."""
    times = np.linspace(run.start.t, run.final.t, count)
    energy = run.energy(times)
    figure, (top, below) = plots.new_axes((8.0, 6.0), rows=2)
    for name, values, colour in (
        ("kinetic", energy.kinetic, BLUE), ("potential", energy.potential, GREEN),
        ("dissipated", energy.dissipated, ORANGE), ("external work", energy.work, DARK_GREY),
    ):  # fmt: skip
        top.plot(times, values, color=colour, linewidth=1.6, label=name)
    top.set(xlabel="time in s", ylabel="energy in J", title=title)
    change = np.abs(energy.balance - energy.balance[0])
    below.semilogy(times, np.maximum(change, 1e-18), color=RED, linewidth=1.0)
    below.set(xlabel="time in s", ylabel="change of the sum in J", ylim=(1e-17, None))
    below.set_title("kinetic + potential + dissipated − work")
    plots.legend_below(figure, 4)
    return figure


def events_table(runs: Mapping[str, EventRun]) -> Table:
    """Every event of named runs with its contacts and impulses."""
    rows = [
        (
            name,
            event.time,
            str(event.kind),
            "; ".join(event.contacts),
            "; ".join(" ".join(f"{value:.17g}" for value in own) for own in event.impulses),
        )
        for name, run in runs.items()
        for event in run.events
    ]
    return Table(("run", "time_s", "event", "contacts", "impulses_Ns"), rows)


def motion_table(run: EventRun, coordinates: Sequence[str], count: int = 600) -> Table:
    """Coordinates, velocities, modes and contact forces at evenly spaced times."""
    motion = run.sample(np.linspace(run.start.t, run.final.t, count))
    names = [contact.name.replace(" ", "_") for contact in run.system.contacts]
    header = ["time_s", *coordinates, *(f"rate_of_{name}" for name in coordinates)]
    columns = [motion.time, *motion.q.T, *motion.u.T]
    for name, mode, force in zip(names, motion.modes.T, motion.forces, strict=True):
        header += [f"{name}_mode", f"{name}_normal_N", *[f"{name}_friction_N"] * (force.shape[1] - 1)]
        columns += [mode, *force.T]
    return Table(header, np.column_stack(columns).tolist())
