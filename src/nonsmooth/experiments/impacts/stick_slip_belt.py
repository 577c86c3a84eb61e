"""A block on an inclined belt: the stick-slip limit cycle against its closed form.

The block sticks to the belt until spring and weight overcome sticking friction, slides back in less than a
period of its spring, and sticks again. Released at rest, it is on the limit cycle from its first sliding on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import exact_row
from nonsmooth.scenes.closed_form.stick_slip import BeltBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BLOCK = BeltBlock()
AFTERWARDS = 0.1
"""Time in s that a run continues after its last event."""
CURVE = "x, mean over the run"


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    cycles: int
    stepped: float
    """Duration of time stepping in s."""
    steps: tuple[float, ...]
    """Steps of time stepping, in s; many, since an error depends on where in a step an event falls."""


def simulate(cycles: int) -> EventRun:
    """Release the block at rest and simulate `cycles` slidings."""
    duration = float(BLOCK.event_times(cycles)[1][-1]) + AFTERWARDS
    return simulate_events(BLOCK.system(), [0.0, 0.0], [0.0, 0.0], duration=duration)


def stepped(setup: Setup) -> convergence.Curve:
    """Time stepping from the same start."""

    def error(steps: SteppedRun) -> float:
        return float(np.abs(steps.q[:, 0] - BLOCK.exact(steps.time)[0]).mean())

    start = np.zeros(2)
    return convergence.measure(BLOCK.system(), start, start, setup.stepped, setup.steps, error)


class Found(NamedTuple):
    """What the experiment computes."""

    run: EventRun
    curve: convergence.Curve
    cycles: int


class StickSlipBelt(Experiment[Setup, Found]):
    """The block, event-driven and by time stepping."""

    name = "stick-slip-belt"
    summary = "a block on an inclined belt: the stick-slip limit cycle, event by event"
    paper = "checked against the closed form of the limit cycle"
    belongs_to = "studer"
    seconds = (10.0, 80.0)
    FULL = Setup(12, 1.2, tuple(8e-3 * 0.93**k for k in range(40)))
    QUICK = Setup(4, 1.2, tuple(8e-3 * 0.72**k for k in range(6)))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run event-driven and by time stepping."""
        work.expect(2)
        work.begin(f"{setup.cycles} cycles, event-driven")
        run = simulate(setup.cycles)
        work.begin("time stepping")
        return Found(run, stepped(setup), setup.cycles)

    def data(self, found: Found) -> Data:
        """Events, motion, and errors of time stepping."""
        return {
            "events.csv": event_runs.events_table({"from rest": found.run}),
            "motion.csv": event_runs.motion_table(found.run, ("x", "y")),
            "convergence.csv": convergence.table({CURVE: found.curve}),
        }

    def figures(self, found: Found) -> Figures:
        """Motion, phase portrait, energy, and both integrators."""
        title = "A block on a belt: both integrators against the closed form"
        return {
            "motion": _motion(found.run),
            "phase_portrait": _portrait(found.run),
            "energy": event_runs.energy_figure(found.run, "A block on a belt: energies"),
            "convergence": convergence.figure(title, {CURVE: found.curve}, motion_error(found.run)[0], "m"),
        }

    def compare(self, found: Found) -> Rows:
        """Compare events, motion and energies with the closed form."""
        run, curve, cycles = found
        sticks, slides = BLOCK.event_times(cycles)
        for kind, expected in (("stick", sticks), ("slip", slides)):
            times = run.times(kind)
            missing = len(times) != len(expected)
            worst = math.nan if missing else float(np.abs(times - expected).max())
            yield exact_row(f"events of kind {kind!r}", len(expected), len(times), "")
            yield exact_row(f"largest error of their times, {kind!r}", 0.0, worst, "s")
        period = np.diff(run.times("slip"))
        loss = np.diff(run.energy(run.times("slip")).dissipated)
        x, speed = motion_error(run)
        yield exact_row("period", BLOCK.period, float(period.mean()), "s")
        yield exact_row("time of sliding in a period", BLOCK.sliding_time, sliding(run), "s")
        yield exact_row("energy lost in a period", BLOCK.cycle_loss, float(loss.mean()), "J")
        yield exact_row("largest error of x", 0.0, x, "m")
        yield exact_row("largest error of the speed", 0.0, speed, "m/s")
        yield from event_runs.certificate_rows(run)
        yield curve.row("order of time stepping", 1.0, CURVE)


def motion_error(found: EventRun, count: int = 2000) -> tuple[float, float]:
    """Largest errors of x (m) and ẋ (m/s) at evenly spaced times."""
    times = np.linspace(0.0, found.final.t, count)
    motion = found.sample(times)
    x, speed = BLOCK.exact(times)
    return float(np.abs(motion.q[:, 0] - x).max()), float(np.abs(motion.u[:, 0] - speed).max())


def sliding(found: EventRun) -> float:
    """Mean time in s from sliding to the next sticking."""
    slides, sticks = found.times("slip"), found.times("stick")
    return float((sticks[1:] - slides[: len(sticks) - 1]).mean())


def _motion(found: EventRun) -> Figure:
    """Position, force of friction and mode over time."""
    times = np.linspace(0.0, found.final.t, 2000)
    motion = found.sample(times)
    figure, (place, force, modes) = plots.new_axes((9.0, 7.0), rows=3)
    event_runs.stretch(modes, (3.0, 3.0, 1.0))
    place.plot(times, 1e3 * BLOCK.exact(times)[0], color=LIGHT_GREY, linewidth=5.0, label="closed form")
    place.plot(times, 1e3 * motion.q[:, 0], color=BLUE, linewidth=1.4, label="event-driven")
    for kind, marker, colour in (("stick", "s", BLUE), ("slip", ">", ORANGE)):
        at = found.times(kind)
        place.plot(at, 1e3 * found.sample(at).q[:, 0], marker, color=colour, markersize=6, label=kind)
    place.set(ylabel="x in mm", title="a block on a belt, released at rest", xlim=(0.0, times[-1]))
    force.plot(times, motion.forces[0][:, 1], color=GREEN, linewidth=1.4, label="friction")
    for mu, name, style in (
        (BLOCK.sticking_friction, "sticking", "--"), (BLOCK.friction, "sliding", ":"),
    ):  # fmt: skip
        limit = mu * BLOCK.normal_force
        force.axhline(
            limit, color=DARK_GREY, linestyle=style, linewidth=1.0, label=f"limit of {name} friction"
        )
    force.set(ylabel="friction in N", xlim=(0.0, times[-1]))
    event_runs.mode_bars(modes, found)
    modes.set(xlabel="time in s")
    plots.legend_below(figure, 5)
    return figure


def _portrait(found: EventRun) -> Figure:
    """Speed over position, with the ellipse on which the block slides."""
    times = np.linspace(0.0, found.final.t, 4000)
    motion = found.sample(times)
    figure, (ax,) = plots.new_axes((7.0, 6.0))
    turn = np.linspace(0.0, 2.0 * math.pi, 400)
    radius = math.hypot(BLOCK.reach, BLOCK.speed / BLOCK.frequency)
    ax.plot(
        1e3 * (BLOCK.centre + radius * np.cos(turn)), radius * BLOCK.frequency * np.sin(turn), "--",
        color=LIGHT_GREY, linewidth=1.2, label="ellipse about the equilibrium",
    )  # fmt: skip
    for mode, colour, name in ((1, ORANGE, "slides"), (2, BLUE, "sticks")):
        own = motion.modes[:, 0] == mode
        ax.plot(
            np.where(own, 1e3 * motion.q[:, 0], np.nan), np.where(own, motion.u[:, 0], np.nan),
            color=colour, linewidth=2.0, label=name,
        )  # fmt: skip
    ax.plot([0.0], [0.0], "o", color=DARK_GREY, label="start")
    ax.plot([1e3 * BLOCK.centre], [0.0], "+", color=DARK_GREY, markersize=9, label="equilibrium")
    ax.set(xlabel="x in mm", ylabel="speed in m/s", title="onto the limit cycle in finite time")
    plots.legend_below(figure, 3)
    return figure
