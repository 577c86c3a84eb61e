"""The heavy symmetric top: steady precession against its closed form, and nutation against the ODE.

A top on a fixed point is let go with its axis at rest, tilted by 0.5 rad, and spinning: it falls, nutates and
precesses, and its axis comes to rest in cusps. With the right start it precesses steadily.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.mechanisms.report import Report, run_benchmark
from nonsmooth.experiments.mechanisms.setting import Benchmark, Plan, Trial, finest, in_words
from nonsmooth.experiments.mechanisms.textbook_references import Top, TopMotion
from nonsmooth.experiments.shared.output import (
    BLUE,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    legend_below,
    new_axes,
    save_figure,
)
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.linkages import top
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.simulate import simulate

MASS, HEIGHT, AXIAL, ACROSS = 0.5, 0.04, 4e-4, 3e-4
"""kg, m from the tip, and kg·m² about the axis and across it at the centre of mass."""
TILT, SPIN, GRAVITY = 0.5, 150.0, 9.81
"""rad, rad/s, m/s²"""
REFERENCE = Top(AXIAL, ACROSS + MASS * HEIGHT**2, MASS * GRAVITY * HEIGHT)
FULL = Plan(1.0, (0.004, 0.002, 0.001, 0.0005), 250)
QUICK = Plan(0.24, (0.002, 0.001), 60)
REPORT = Report(moments=(0.0, 0.04, 0.08, 0.12, 0.16, 0.2), plane=("x in m", "z in m"))
_COLOURS = {"slow": BLUE, "fast": ORANGE}


def build(precession_rate: float = 0.0) -> System:
    """The top with its axis at rest, or precessing (rad/s)."""
    return top(
        mass=MASS, height=HEIGHT, axial=AXIAL, across=ACROSS, tilt=TILT, spin=SPIN,
        precession_rate=precession_rate, gravity=GRAVITY,
    )  # fmt: skip


def measure(system: System) -> Floats:
    """The direction (3,) of the axis."""
    return quaternions.rotate(system.quaternion[0], (0.0, 0.0, 1.0))


def direction(motion: TopMotion) -> Floats:
    """The direction (n, 3) of the axis of a top that moves so."""
    sine = np.sin(motion.tilt)
    return np.column_stack(
        [sine * np.sin(motion.precession), -sine * np.cos(motion.precession), np.cos(motion.tilt)]
    )


def reference(times: Floats) -> Floats:
    """The direction (n, 3) of the axis by integration of the tilt."""
    return direction(REFERENCE.motion(times, tilt=TILT, spin=SPIN))


def draw(system: System) -> list[Floats]:
    """The axis up to the centre of mass, seen along +y."""
    return [np.array([np.zeros(2), HEIGHT * measure(system)[[0, 2]]])]


BENCHMARK = Benchmark(
    build=build,
    quantity="direction of the axis",
    components=("x", "y", "z"),
    unit="rad",
    measure=measure,
    reference=reference,
    source="the tilt's equation by DOP853",
    draw=draw,
)


@dataclasses.dataclass(frozen=True)
class Precession:
    """One run that should precess steadily."""

    name: str
    rate: float
    """By closed form, in rad/s."""
    time: Floats
    azimuth: Floats
    """Of the axis about the vertical, in rad."""
    tilt: Floats
    """Of the axis from the vertical, in rad."""

    @property
    def measured(self) -> float:
        """Mean rate in rad/s."""
        return float((self.azimuth[-1] - self.azimuth[0]) / (self.time[-1] - self.time[0]))


def precess(name: str, rate: float, duration: float, step: float) -> Precession:
    """Let the top go with the rate (rad/s) of steady precession."""
    system = build(rate)
    axes = [measure(system)]

    def look(frame: Frame) -> None:
        axes.append(measure(frame.system))

    simulate(system, duration=duration, step=step, scheme="rattle", observe=look)
    x, y, z = np.array(axes).T
    times = np.arange(len(axes), dtype=np.float64) * step
    return Precession(name, rate, times, np.unwrap(np.arctan2(x, -y)), np.arccos(z))


class _Steady:
    """The rows and the figure of steady precession, beside what every benchmark has."""

    def __init__(self, plan: Plan) -> None:
        self.duration, self.step = plan.duration, plan.steps[-1]
        self.runs: list[Precession] = []
        self.nutation: Trial | None = None

    def rows(self, trials: Sequence[Trial], pieces: Pieces) -> list[Comparison]:
        """Run both rates of steady precession."""
        self.nutation = finest(trials)
        found = []
        for name, rate in zip(("slow", "fast"), REFERENCE.steady_precession(TILT, SPIN), strict=True):
            pieces.begin(f"steady precession, {name}")
            run = precess(name, rate, self.duration, self.step)
            self.runs.append(run)
            scheme = f"rattle, h = {in_words(self.step)}"
            wander = float(np.abs(run.tilt - TILT).max())
            found += [
                Comparison.with_closed_form(
                    f"rate of {name} steady precession, {scheme}", rate, run.measured, "rad/s"
                ),
                Comparison.with_closed_form(
                    f"largest change of the tilt, {name} precession, {scheme}", 0.0, wander, "rad"
                ),
            ]
        return found

    def files(self, folder: Path) -> list[Path]:
        """Draw the ways of the axis."""
        assert self.nutation is not None
        figure, (above, tilts) = new_axes((11.0, 5.2), columns=2)
        fine = np.linspace(0.0, self.duration, 2000)
        wanted = REFERENCE.motion(fine, tilt=TILT, spin=SPIN)
        way = direction(wanted)
        above.plot(way[:, 0], way[:, 1], color=LIGHT_GREY, linewidth=4.5, label="reference")
        tilts.plot(fine, np.degrees(wanted.tilt), color=LIGHT_GREY, linewidth=4.5, label="reference")
        value, time = self.nutation.value, self.nutation.time
        above.plot(value[:, 0], value[:, 1], color=GREEN, linewidth=1.3, label="let go at rest")
        tilts.plot(
            time, np.degrees(np.arccos(value[:, 2])), color=GREEN, linewidth=1.3, label="let go at rest"
        )
        for run in self.runs:
            label, width = f"{run.name} steady precession", 3.5 if run.name == "slow" else 1.0
            look: dict[str, Any] = {"color": _COLOURS[run.name], "linewidth": width, "label": label}
            x, y = np.sin(run.tilt) * np.sin(run.azimuth), -np.sin(run.tilt) * np.cos(run.azimuth)
            above.plot(x, y, **look)
            tilts.plot(run.time, np.degrees(run.tilt), **look)
        above.set(
            xlabel="x of the axis", ylabel="y of the axis", aspect="equal", title="the axis seen from above"
        )
        tilts.set(xlabel="time in s", ylabel="tilt in degrees", title="tilt of the axis")
        legend_below(figure, 4)
        return [save_figure(figure, folder / "precession.png")]


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    plan = QUICK if quick else FULL
    steady = _Steady(plan)
    report = dataclasses.replace(REPORT, more=steady.rows, more_pieces=2, more_files=steady.files)
    return run_benchmark(SPINNING_TOP, BENCHMARK, plan, report, folder, progress)


SPINNING_TOP = Experiment(
    "spinning-top",
    "a top on a fixed point: rates of steady precession, and nutation with cusps",
    "checked against the closed form of steady precession and the heavy top's equations of motion",
    run,
)
