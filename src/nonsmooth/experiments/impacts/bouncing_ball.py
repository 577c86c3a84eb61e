"""The bouncing ball: every impact's time, and the end of infinitely many, against closed forms.

A ball falls from 1 m; each impact leaves the part e of its speed. Impact k comes at
t_k = T + 2 T e (1 − eᵏ)/(1 − e), T = √(2 h/g), and at T (1 + e)/(1 − e) all are over: the accumulation
point, which the event-driven integrator has to pass. Newton's and Poisson's law agree for one contact
without friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.impacts.bouncing_report import FULL_GRID, Grid, averaged_convergence, mark_events
from nonsmooth.experiments.impacts.event_report import (
    Convergence,
    certificate_rows,
    convergence_figure,
    energy_figure,
    order_row,
)
from nonsmooth.experiments.impacts.event_timeline import mode_bars, stretch, write_convergence
from nonsmooth.experiments.shared.output import (
    BLUE,
    DARK_GREY,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    RED,
    legend_below,
    new_axes,
    prepare_folder,
    save_figure,
    write_csv,
)
from nonsmooth.scenes.closed_form.bouncing import DroppedBall

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LAWS = ("newton", "poisson")
AT_REST = 0.5
"""s that a run goes on after the accumulation point."""
WANTED = 1e-9
"""s: the accuracy asked of event times."""
_COLOURS = (BLUE, ORANGE, GREEN)


FULL, QUICK = (0.5, 0.8, 0.95), (0.5, 0.8)
"""Restitutions e."""
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
    """Let the ball bounce until it is at rest."""
    scene = DroppedBall(restitution=restitution)
    duration = scene.accumulation + AT_REST
    return Trial(scene, law, simulate_events(scene.system(), *scene.start(), duration=duration, impact=law))


def time_stepping(grid: Grid) -> dict[str, Convergence]:
    """Errors of time stepping up to the sixth impact."""
    scene = DroppedBall(restitution=SHOWN)

    def largest_error(run: SteppedRun) -> float:
        return float(np.abs(run.q[:, 0] - scene.height_at(run.time)).max())

    duration = float(scene.impact_times(6)[-1])
    return averaged_convergence(scene.system(), scene.start(), duration, grid, {"height": largest_error})


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    restitutions = QUICK if quick else FULL
    pieces = Pieces(progress, len(LAWS) * len(restitutions) + 2)
    trials = []
    for restitution in restitutions:
        for law in LAWS:
            pieces.begin(f"e = {restitution:g}, {law}")
            trials.append(run_trial(restitution, law))
    pieces.begin("time stepping")
    curves = time_stepping(FULL_GRID)
    pieces.begin("data and figures")
    shown = next(trial for trial in trials if trial.scene.restitution == SHOWN)
    times, heights = shown.samples()
    sampled = float(np.abs(heights - shown.scene.height_at(times)).max())
    title = f"Bouncing ball, e = {SHOWN:g}: both integrators"
    files = [
        _write_impacts(folder / "impacts.csv", trials),
        write_convergence(folder / "time_stepping.csv", curves),
        save_figure(_heights(trials), folder / "heights.png"),
        save_figure(_errors(trials), folder / "event_errors.png"),
        save_figure(_modes(shown), folder / "modes.png"),
        save_figure(energy_figure(shown.run, f"Bouncing ball, e = {SHOWN:g}: energy"), folder / "energy.png"),
        save_figure(convergence_figure(title, curves, sampled, "m"), folder / "convergence.png"),
    ]
    rows = compare(trials, curves)
    summary = Summary(BOUNCING_BALL.name, BOUNCING_BALL.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def compare(trials: Sequence[Trial], curves: dict[str, Convergence]) -> list[Comparison]:
    """Event times, rest and energy against the closed forms."""
    rows = []
    for trial in trials:
        scene, found = trial.scene, trial.run
        note = f"largest of {len(trial.errors)} impacts; the first ones at " + ", ".join(
            f"{t:.9f}" for t in found.times("impact")[:3]
        )
        rows += [
            Comparison.with_closed_form(
                f"error of impact times, {trial.name}", 0.0, float(trial.errors.max()), "s", note
            ),
            Comparison.with_closed_form(
                f"accumulation point, {trial.name}", scene.accumulation, trial.accumulation, "s"
            ),
            Comparison.with_closed_form(
                f"height at the end, {trial.name}", 0.0, float(found.final.q[0]), "m",
                f"at a speed of {abs(found.final.u[0]):.1g} m/s",
            ),
            Comparison.with_closed_form(
                f"energy dissipated, {trial.name}",
                scene.mass * scene.gravity * scene.height, found.final.dissipated, "J",
            ),
            *certificate_rows(found, f"{trial.name}: ")[:1],
        ]  # fmt: skip
    for name, curve in curves.items():
        note = f"from {curve.errors[0]:.2g} m at {curve.steps[0]:g} s to {curve.errors[-1]:.2g} m at "
        rows.append(order_row(f"order of time stepping, {name}", 1.0, curve, f"{note}{curve.steps[-1]:g} s"))
    return rows


def _heights(trials: Sequence[Trial]) -> Figure:
    """Height over time, one panel for each restitution."""
    chosen = [trial for trial in trials if trial.law == LAWS[0]]
    figure, axes = new_axes((9.0, 2.6 * len(chosen) + 0.6), rows=len(chosen))
    for ax, trial, colour in zip(axes, chosen, _COLOURS, strict=False):
        times, heights = trial.samples()
        ax.plot(times, trial.scene.height_at(times), color=LIGHT_GREY, linewidth=4.5, label="closed form")
        ax.plot(times, heights, color=colour, linewidth=1.2)
        impacts = trial.run.times("impact")
        ax.plot(impacts, np.zeros(len(impacts)), "|", color=DARK_GREY, markersize=9, label="impacts")
        ax.axvline(
            trial.accumulation, color=RED, linewidth=1.2, linestyle="--", label="accumulation point, found"
        )
        title = f"e = {trial.scene.restitution:g}: {len(impacts)} impacts, then rest from "
        ax.set(title=f"{title}{trial.accumulation:.6f} s on", xlabel="time in s", ylabel="height in m")
    legend_below(figure, 3)
    return figure


def _errors(trials: Sequence[Trial]) -> Figure:
    """Error of each impact's time over its number."""
    figure, (ax,) = new_axes((7.5, 5.0))
    values = sorted({trial.scene.restitution for trial in trials})
    for trial in trials:
        colour = _COLOURS[values.index(trial.scene.restitution)]
        look = "o" if trial.law == LAWS[0] else "x"
        errors = np.maximum(trial.errors, 1e-17)
        ax.semilogy(errors, look, color=colour, markersize=4, fillstyle="none", label=trial.name)
    ax.axhline(WANTED, color=RED, linewidth=1.2, linestyle="--", label="asked for")
    ax.set(xlabel="number k of the impact", ylabel=r"$|t_k - $ closed form$|$ in s", ylim=(1e-17, 1e-8))
    ax.set_title("Impact times (errors of zero are drawn at 1e-17)")
    legend_below(figure, 3)
    return figure


def _modes(trial: Trial) -> Figure:
    """Height, mode and force over time."""
    figure, (top, bars, below) = new_axes((9.0, 6.4), rows=3)
    times, heights = trial.samples()
    top.plot(times, heights, color=BLUE, linewidth=1.2, label="height")
    mark_events(top, trial.run.times("impact"), "impacts")
    top.set(xlabel="time in s", ylabel="height in m", xlim=(times[0], times[-1]))
    top.set_title(f"motion, {trial.name}")
    mode_bars(bars, trial.run)
    bars.set(xlabel="time in s", title="modes and events")
    stretch(bars, (3, 1, 2))
    force = trial.run.sample(times).forces[0][:, 0]
    below.plot(times, force, color=GREEN, linewidth=1.6, label="force of the floor")
    weight = trial.scene.mass * trial.scene.gravity
    below.axhline(weight, color=DARK_GREY, linewidth=0.8, linestyle="--", label="weight")
    below.set(xlabel="time in s", ylabel="force in N", xlim=(times[0], times[-1]))
    below.set_title("force between impacts")
    legend_below(figure, 6)
    return figure


def _write_impacts(path: Path, trials: Sequence[Trial]) -> Path:
    rows: list[tuple[object, ...]] = []
    for trial in trials:
        found = trial.run.times("impact")
        exact = trial.scene.impact_times(len(found))
        for k, (ours, value) in enumerate(zip(found.tolist(), exact.tolist(), strict=True)):
            rows.append((trial.scene.restitution, trial.law, k, ours, value))
    return write_csv(path, ("restitution", "law", "k", "time_s", "closed_form_s"), rows)


BOUNCING_BALL = Experiment(
    "bouncing-ball",
    "a bouncing ball from event to event: all impact times and the accumulation point",
    "checked against closed forms",
    run,
)
