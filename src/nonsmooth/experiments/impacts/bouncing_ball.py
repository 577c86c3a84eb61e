"""The bouncing ball: impact times, and the end of infinitely many impacts, against closed forms.

A ball falls from 1 m; each impact retains the fraction e of its speed. Impact k occurs at
t_k = T + 2 T e (1 − eᵏ)/(1 − e), T = √(2 h/g), and all are over at T (1 + e)/(1 − e): the accumulation
point, which the event-driven integrator has to pass. Newton's and Poisson's law agree for one contact
without friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.experiments.summary import exact_row
from nonsmooth.scenes.closed_form.bouncing import DroppedBall

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LAWS = ("newton", "poisson")
AT_REST = 0.5
"""Time in s that a run continues after the accumulation point."""
WANTED = 1e-9
"""Required accuracy of event times in s."""
_COLOURS = (BLUE, ORANGE, GREEN)


SHOWN = 0.8
"""Restitution of the run whose modes, forces and energies are drawn and which time stepping repeats."""


@dataclass(frozen=True)
class Trial:
    """One run."""

    scene: DroppedBall
    law: str
    run: EventRun

    @property
    def name(self) -> str:
        """For summaries."""
        return f"e = {self.scene.restitution:g}, {self.law.capitalize()}"

    @property
    def errors(self) -> Floats:
        """|t_k − closed form| in s."""
        found = self.run.times("impact")
        return np.abs(found - self.scene.impact_times(len(found)))

    @property
    def accumulation(self) -> float:
        """Time in s; NaN if there was none, or several."""
        found = self.run.times("accumulation")
        return float(found[0]) if len(found) == 1 else np.nan

    def samples(self, count: int = 1000) -> tuple[Floats, Floats]:
        """Times in s and heights in m."""
        times = np.linspace(self.run.start.t, self.run.final.t, count)
        return times, self.run.sample(times).q[:, 0]


def run_trial(restitution: float, law: str) -> Trial:
    """Simulate the ball until it is at rest."""
    scene = DroppedBall(restitution=restitution)
    duration = scene.accumulation + AT_REST
    return Trial(scene, law, simulate_events(scene.system(), *scene.start(), duration=duration, impact=law))


def time_stepping(grid: convergence.Grid) -> dict[str, convergence.Curve]:
    """Errors of time stepping up to the sixth impact."""
    scene = DroppedBall(restitution=SHOWN)

    def largest_error(run: SteppedRun) -> float:
        return float(np.abs(run.q[:, 0] - scene.height_at(run.time)).max())

    duration = float(scene.impact_times(6)[-1])
    return convergence.averaged(scene.system(), scene.start(), duration, grid, {"height": largest_error})


class Found(NamedTuple):
    """What the experiment computes."""

    trials: list[Trial]
    curves: dict[str, convergence.Curve]

    @property
    def shown(self) -> Trial:
        """The run that is drawn."""
        return next(trial for trial in self.trials if trial.scene.restitution == SHOWN)


class BouncingBall(Experiment[tuple[float, ...], Found]):
    """Set up by the restitutions e."""

    name = "bouncing-ball"
    summary = "a bouncing ball from event to event: all impact times and the accumulation point"
    paper = "checked against closed forms"
    belongs_to = "studer"
    seconds = (10.0, 12.0)
    QUICK, FULL = (0.5, 0.8), (0.5, 0.8, 0.95)

    def measure(self, setup: tuple[float, ...], work: Work) -> Found:
        """Simulate balls under both laws of impact."""
        work.expect(len(LAWS) * len(setup) + 1)
        trials = []
        for restitution in setup:
            for law in LAWS:
                work.begin(f"e = {restitution:g}, {law}")
                trials.append(run_trial(restitution, law))
        work.begin("time stepping")
        return Found(trials, time_stepping(convergence.FULL_GRID))

    def data(self, found: Found) -> Data:
        """Impact times, and errors of time stepping."""
        rows: list[tuple[object, ...]] = []
        for trial in found.trials:
            times = trial.run.times("impact")
            exact = trial.scene.impact_times(len(times))
            for k, (ours, value) in enumerate(zip(times.tolist(), exact.tolist(), strict=True)):
                rows.append((trial.scene.restitution, trial.law, k, ours, value))
        return {
            "impacts.csv": Table(("restitution", "law", "k", "time_s", "closed_form_s"), rows),
            "time_stepping.csv": convergence.table(found.curves),
        }

    def figures(self, found: Found) -> Figures:
        """Heights, errors, modes, energies, and both integrators."""
        times, heights = found.shown.samples()
        sampled = float(np.abs(heights - found.shown.scene.height_at(times)).max())
        title = f"Bouncing ball, e = {SHOWN:g}"
        return {
            "heights": _heights(found.trials),
            "event_errors": _errors(found.trials),
            "modes": _modes(found.shown),
            "energy": event_runs.energy_figure(found.shown.run, f"{title}: energy"),
            "convergence": convergence.figure(f"{title}: both integrators", found.curves, sampled, "m"),
        }

    def compare(self, found: Found) -> Rows:
        """Compare event times, rest and energy with the closed forms."""
        for trial in found.trials:
            scene, run = trial.scene, trial.run
            note = f"largest of {len(trial.errors)} impacts; the first ones at " + ", ".join(
                f"{t:.9f}" for t in run.times("impact")[:3]
            )
            yield exact_row(f"error of impact times, {trial.name}", 0.0, float(trial.errors.max()), "s", note)
            yield exact_row(f"accumulation point, {trial.name}", scene.accumulation, trial.accumulation, "s")
            yield exact_row(
                f"height at the end, {trial.name}", 0.0, float(run.final.q[0]), "m",
                f"at a speed of {abs(run.final.u[0]):.1g} m/s",
            )  # fmt: skip
            yield exact_row(
                f"energy dissipated, {trial.name}",
                scene.mass * scene.gravity * scene.height, run.final.dissipated, "J",
            )  # fmt: skip
            yield from event_runs.certificate_rows(run, f"{trial.name}: ")[:1]
        for name, curve in found.curves.items():
            note = f"from {curve.errors[0]:.2g} m at {curve.steps[0]:g} s to {curve.errors[-1]:.2g} m at "
            yield curve.row(f"order of time stepping, {name}", 1.0, f"{note}{curve.steps[-1]:g} s")


def _heights(trials: Sequence[Trial]) -> Figure:
    """Height over time, one panel for each restitution."""
    chosen = [trial for trial in trials if trial.law == LAWS[0]]
    figure, axes = plots.new_axes((9.0, 2.6 * len(chosen) + 0.6), rows=len(chosen))
    for ax, trial, colour in zip(axes, chosen, _COLOURS, strict=False):
        times, heights = trial.samples()
        ax.plot(times, trial.scene.height_at(times), color=LIGHT_GREY, linewidth=4.5, label="closed form")
        ax.plot(times, heights, color=colour, linewidth=1.2)
        impacts = trial.run.times("impact")
        ax.plot(impacts, np.zeros(len(impacts)), "|", color=DARK_GREY, markersize=9, label="impacts")
        ax.axvline(
            trial.accumulation, color=RED, linewidth=1.2, linestyle="--", label="accumulation point, located"
        )
        title = f"e = {trial.scene.restitution:g}: {len(impacts)} impacts, then rest from "
        ax.set(title=f"{title}{trial.accumulation:.6f} s", xlabel="time in s", ylabel="height in m")
    plots.legend_below(figure, 3)
    return figure


def _errors(trials: Sequence[Trial]) -> Figure:
    """Error of each impact's time over its number."""
    figure, (ax,) = plots.new_axes((7.5, 5.0))
    values = sorted({trial.scene.restitution for trial in trials})
    for trial in trials:
        colour = _COLOURS[values.index(trial.scene.restitution)]
        look = "o" if trial.law == LAWS[0] else "x"
        errors = np.maximum(trial.errors, 1e-17)
        ax.semilogy(errors, look, color=colour, markersize=4, fillstyle="none", label=trial.name)
    ax.axhline(WANTED, color=RED, linewidth=1.2, linestyle="--", label="required")
    ax.set(xlabel="number k of the impact", ylabel=r"$|t_k - $ closed form$|$ in s", ylim=(1e-17, 1e-8))
    ax.set_title("Impact times (errors of zero are drawn at 1e-17)")
    plots.legend_below(figure, 3)
    return figure


def _modes(trial: Trial) -> Figure:
    """Height, mode and force over time."""
    figure, (top, bars, below) = plots.new_axes((9.0, 6.4), rows=3)
    times, heights = trial.samples()
    top.plot(times, heights, color=BLUE, linewidth=1.2, label="height")
    event_runs.mark(top, trial.run.times("impact"), "impacts")
    top.set(xlabel="time in s", ylabel="height in m", xlim=(times[0], times[-1]))
    top.set_title(f"motion, {trial.name}")
    event_runs.mode_bars(bars, trial.run)
    bars.set(xlabel="time in s", title="modes and events")
    event_runs.stretch(bars, (3, 1, 2))
    force = trial.run.sample(times).forces[0][:, 0]
    below.plot(times, force, color=GREEN, linewidth=1.6, label="force of the floor")
    weight = trial.scene.mass * trial.scene.gravity
    below.axhline(weight, color=DARK_GREY, linewidth=0.8, linestyle="--", label="weight")
    below.set(xlabel="time in s", ylabel="force in N", xlim=(times[0], times[-1]))
    below.set_title("force between impacts")
    plots.legend_below(figure, 6)
    return figure
