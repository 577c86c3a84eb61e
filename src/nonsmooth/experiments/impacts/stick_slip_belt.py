"""A block on an inclined belt: the stick-slip limit cycle against its closed form.

The block sticks to the belt until spring and weight overcome sticking friction, slides back in less than a
period of its spring, and sticks again. Let go at rest, it is on the limit cycle from its first sliding on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.impacts.event_report import (
    Convergence,
    certificate_rows,
    convergence,
    convergence_figure,
    energy_figure,
    order_row,
)
from nonsmooth.experiments.impacts.event_timeline import (
    mode_bars,
    stretch,
    write_convergence,
    write_events,
    write_motion,
)
from nonsmooth.experiments.shared.output import (
    BLUE,
    DARK_GREY,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    legend_below,
    new_axes,
    prepare_folder,
    save_figure,
)
from nonsmooth.scenes.closed_form.stick_slip import BeltBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BLOCK = BeltBlock()
AFTERWARDS = 0.1
"""s that a run goes on after its last event."""
CURVE = "x, mean over the run"


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    cycles: int
    stepped: float
    """s that time stepping covers."""
    steps: tuple[float, ...]
    """Of time stepping, in s; many, since an error depends on where in a step an event falls."""


FULL = Setup(12, 1.2, tuple(8e-3 * 0.93**k for k in range(40)))
QUICK = Setup(4, 1.2, tuple(8e-3 * 0.72**k for k in range(6)))


def simulate(cycles: int) -> EventRun:
    """Let the block go at rest and wait for `cycles` slidings."""
    duration = float(BLOCK.event_times(cycles)[1][-1]) + AFTERWARDS
    return simulate_events(BLOCK.system(), [0.0, 0.0], [0.0, 0.0], duration=duration)


def stepped(setup: Setup) -> Convergence:
    """Time stepping from the same start."""

    def error(steps: SteppedRun) -> float:
        return float(np.abs(steps.q[:, 0] - BLOCK.exact(steps.time)[0]).mean())

    start = np.zeros(2)
    return convergence(BLOCK.system(), start, start, setup.stepped, setup.steps, error)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    setup = QUICK if quick else FULL
    pieces = Pieces(progress, 3)
    pieces.begin(f"{setup.cycles} cycles from event to event")
    found = simulate(setup.cycles)
    pieces.begin("time stepping")
    curve = stepped(setup)
    pieces.begin("data and figures")
    rows = compare(found, curve, setup.cycles)
    title = "A block on a belt: both integrators against the closed form"
    files = [
        write_events(folder / "events.csv", {"from rest": found}),
        write_motion(folder / "motion.csv", found, ("x", "y")),
        write_convergence(folder / "convergence.csv", {CURVE: curve}),
        save_figure(_motion(found), folder / "motion.png"),
        save_figure(_portrait(found), folder / "phase_portrait.png"),
        save_figure(energy_figure(found, "A block on a belt: energies"), folder / "energy.png"),
        save_figure(
            convergence_figure(title, {CURVE: curve}, motion_error(found)[0], "m"), folder / "convergence.png"
        ),
    ]
    summary = Summary(STICK_SLIP_BELT.name, STICK_SLIP_BELT.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def motion_error(found: EventRun, count: int = 2000) -> tuple[float, float]:
    """Largest errors of x (m) and ẋ (m/s) at evenly spaced times."""
    times = np.linspace(0.0, found.final.t, count)
    motion = found.sample(times)
    x, speed = BLOCK.exact(times)
    return float(np.abs(motion.q[:, 0] - x).max()), float(np.abs(motion.u[:, 0] - speed).max())


def compare(found: EventRun, curve: Convergence, cycles: int) -> list[Comparison]:
    """Events, motion and energies against the closed form."""
    sticks, slides = BLOCK.event_times(cycles)
    rows = []
    for kind, expected in (("stick", sticks), ("slip", slides)):
        times = found.times(kind)
        missing = len(times) != len(expected)
        worst = math.nan if missing else float(np.abs(times - expected).max())
        rows += [
            Comparison.with_closed_form(f"events of kind {kind!r}", len(expected), len(times), ""),
            Comparison.with_closed_form(f"largest error of their times, {kind!r}", 0.0, worst, "s"),
        ]
    period = np.diff(found.times("slip"))
    loss = np.diff(found.energy(found.times("slip")).dissipated)
    x, speed = motion_error(found)
    rows += [
        Comparison.with_closed_form("period", BLOCK.period, float(period.mean()), "s"),
        Comparison.with_closed_form("time of sliding in a period", BLOCK.sliding_time, sliding(found), "s"),
        Comparison.with_closed_form("energy lost in a period", BLOCK.cycle_loss, float(loss.mean()), "J"),
        Comparison.with_closed_form("largest error of x", 0.0, x, "m"),
        Comparison.with_closed_form("largest error of the speed", 0.0, speed, "m/s"),
        *certificate_rows(found),
        order_row("order of time stepping", 1.0, curve, CURVE),
    ]
    return rows


def sliding(found: EventRun) -> float:
    """Mean time in s from sliding to the next sticking."""
    slides, sticks = found.times("slip"), found.times("stick")
    return float((sticks[1:] - slides[: len(sticks) - 1]).mean())


def _motion(found: EventRun) -> Figure:
    """Place, force of friction and mode over time."""
    times = np.linspace(0.0, found.final.t, 2000)
    motion = found.sample(times)
    figure, (place, force, modes) = new_axes((9.0, 7.0), rows=3)
    stretch(modes, (3.0, 3.0, 1.0))
    place.plot(times, 1e3 * BLOCK.exact(times)[0], color=LIGHT_GREY, linewidth=5.0, label="closed form")
    place.plot(times, 1e3 * motion.q[:, 0], color=BLUE, linewidth=1.4, label="event-driven")
    for kind, marker, colour in (("stick", "s", BLUE), ("slip", ">", ORANGE)):
        at = found.times(kind)
        place.plot(at, 1e3 * found.sample(at).q[:, 0], marker, color=colour, markersize=6, label=kind)
    place.set(ylabel="x in mm", title="a block on a belt, let go at rest", xlim=(0.0, times[-1]))
    force.plot(times, motion.forces[0][:, 1], color=GREEN, linewidth=1.4, label="friction")
    for mu, name, style in (
        (BLOCK.sticking_friction, "sticking", "--"), (BLOCK.friction, "sliding", ":"),
    ):  # fmt: skip
        limit = mu * BLOCK.normal_force
        force.axhline(
            limit, color=DARK_GREY, linestyle=style, linewidth=1.0, label=f"limit of {name} friction"
        )
    force.set(ylabel="friction in N", xlim=(0.0, times[-1]))
    mode_bars(modes, found)
    modes.set(xlabel="time in s")
    legend_below(figure, 5)
    return figure


def _portrait(found: EventRun) -> Figure:
    """Speed over place, with the ellipse on which the block slides."""
    times = np.linspace(0.0, found.final.t, 4000)
    motion = found.sample(times)
    figure, (ax,) = new_axes((7.0, 6.0))
    turn = np.linspace(0.0, 2.0 * math.pi, 400)
    radius = math.hypot(BLOCK.reach, BLOCK.speed / BLOCK.frequency)
    ax.plot(
        1e3 * (BLOCK.centre + radius * np.cos(turn)), radius * BLOCK.frequency * np.sin(turn), "--",
        color=LIGHT_GREY, linewidth=1.2, label="ellipse about the place of balance",
    )  # fmt: skip
    for mode, colour, name in ((1, ORANGE, "slides"), (2, BLUE, "sticks")):
        own = motion.modes[:, 0] == mode
        ax.plot(
            np.where(own, 1e3 * motion.q[:, 0], np.nan), np.where(own, motion.u[:, 0], np.nan),
            color=colour, linewidth=2.0, label=name,
        )  # fmt: skip
    ax.plot([0.0], [0.0], "o", color=DARK_GREY, label="start")
    ax.plot([1e3 * BLOCK.centre], [0.0], "+", color=DARK_GREY, markersize=9, label="place of balance")
    ax.set(xlabel="x in mm", ylabel="speed in m/s", title="onto the limit cycle in finite time")
    legend_below(figure, 3)
    return figure


STICK_SLIP_BELT = Experiment(
    "stick-slip-belt",
    "a block on an inclined belt: the stick-slip limit cycle, event by event",
    "checked against the closed form of the limit cycle",
    run,
)
