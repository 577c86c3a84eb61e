"""Events and modes of contacts over time: bars, marks and tables for event-driven experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.events import EventKind, EventRun
from nonsmooth.experiments.impacts.event_report import Convergence
from nonsmooth.experiments.shared.output import BLUE, GREEN, LIGHT_GREY, ORANGE, RED, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def mode_bars(
    ax: Axes, run: EventRun, begin: float | None = None, end: float | None = None, *, unit: float = 1.0
) -> None:
    """Draw one bar for each contact, coloured by what it does, with a mark at each of its events.

    Args:
        ax: where to draw.
        run: the simulation.
        begin: first time in s that is shown; the run's start if not given.
        end: last time in s; the run's end if not given.
        unit: s by which times are divided for the axis: 1e-3 gives ms.
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
    """Give the rows of a figure, of which `ax` is one, relative heights."""
    grid = ax.get_gridspec()
    assert grid is not None
    grid.set_height_ratios(heights)


def _mode(run: EventRun, contact: int, closed: Mapping[int, object]) -> str:
    if contact not in closed:
        return "open"
    sticks = closed[contact] is None and run.system.contacts[contact].static_friction > 0.0
    return "sticks" if sticks else "slides"


def write_events(path: Path, runs: Mapping[str, EventRun]) -> Path:
    """Write every event of named runs with its contacts and impulses."""
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
    return write_csv(path, ("run", "time_s", "event", "contacts", "impulses_Ns"), rows)


def write_motion(path: Path, run: EventRun, coordinates: Sequence[str], count: int = 600) -> Path:
    """Write coordinates, velocities, modes and contact forces at evenly spaced times."""
    motion = run.sample(np.linspace(run.start.t, run.final.t, count))
    names = [contact.name.replace(" ", "_") for contact in run.system.contacts]
    header = ["time_s", *coordinates, *(f"rate_of_{name}" for name in coordinates)]
    columns = [motion.time, *motion.q.T, *motion.u.T]
    for name, mode, force in zip(names, motion.modes.T, motion.forces, strict=True):
        header += [f"{name}_mode", f"{name}_normal_N", *[f"{name}_friction_N"] * (force.shape[1] - 1)]
        columns += [mode, *force.T]
    return write_csv(path, header, np.column_stack(columns).tolist())


def write_convergence(path: Path, curves: Mapping[str, Convergence]) -> Path:
    """Write steps and errors of time stepping."""
    rows = [
        (label, step, error)
        for label, curve in curves.items()
        for step, error in zip(curve.steps.tolist(), curve.errors.tolist(), strict=True)
    ]
    return write_csv(path, ("quantity", "step_s", "error"), rows)
