"""The heavy symmetric top: steady precession against its closed form, and nutation against the ODE.

A spinning top on a fixed point is released with its axis at rest, tilted by 0.5 rad: it falls, nutates
and precesses, and its axis stops in cusps. With suitable initial rates it precesses steadily.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Work
from nonsmooth.experiments.mechanisms.report import MechanismExperiment, More
from nonsmooth.experiments.mechanisms.setting import Plan, Trial, finest, in_words
from nonsmooth.experiments.mechanisms.textbook_references import Top, TopMotion
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import exact_row
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.linkages import top
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS, HEIGHT, AXIAL, ACROSS = 0.5, 0.04, 4e-4, 3e-4
"""kg, m from the tip, and kg·m² about the axis and across it at the centre of mass."""
TILT, SPIN, GRAVITY = 0.5, 150.0, 9.81
"""rad, rad/s, m/s²"""
REFERENCE = Top(AXIAL, ACROSS + MASS * HEIGHT**2, MASS * GRAVITY * HEIGHT)
_COLOURS = {"slow": BLUE, "fast": ORANGE}


def build(precession_rate: float = 0.0) -> System:
    """The top with its axis at rest, or precessing (rad/s)."""
    return top(
        mass=MASS, height=HEIGHT, axial=AXIAL, across=ACROSS, tilt=TILT, spin=SPIN,
        precession_rate=precession_rate, gravity=GRAVITY,
    )  # fmt: skip


def direction(motion: TopMotion) -> Floats:
    """The direction (n, 3) of the axis for a motion of the top."""
    sine = np.sin(motion.tilt)
    return np.column_stack(
        [sine * np.sin(motion.precession), -sine * np.cos(motion.precession), np.cos(motion.tilt)]
    )


@dataclasses.dataclass(frozen=True)
class Precession:
    """One run that should precess steadily."""

    name: str
    rate: float
    """Rate in rad/s in closed form."""
    time: Floats
    azimuth: Floats
    """Angle of the axis about the vertical, in rad."""
    tilt: Floats
    """Angle of the axis from the vertical, in rad."""

    @property
    def measured(self) -> float:
        """Mean rate in rad/s."""
        return float((self.azimuth[-1] - self.azimuth[0]) / (self.time[-1] - self.time[0]))


def direction_of(system: System) -> Floats:
    """The direction (3,) of the axis."""
    return quaternions.rotate(system.quaternion[0], (0.0, 0.0, 1.0))


def precess(name: str, rate: float, duration: float, step: float) -> Precession:
    """Release the top with the rate (rad/s) of steady precession."""
    system = build(rate)
    axes = [direction_of(system)]

    def look(frame: Frame) -> None:
        axes.append(direction_of(frame.system))

    simulate(system, duration=duration, step=step, scheme="rattle", observe=look)
    x, y, z = np.array(axes).T
    times = np.arange(len(axes), dtype=np.float64) * step
    return Precession(name, rate, times, np.unwrap(np.arctan2(x, -y)), np.arccos(z))


class SpinningTop(MechanismExperiment):
    """The top released at rest, and in steady precession."""

    name = "spinning-top"
    summary = "a top on a fixed point: rates of steady precession, and nutation with cusps"
    paper = "checked against the closed form of steady precession and the heavy top's equations of motion"
    belongs_to = "negrut"
    seconds = (20.0, 30.0)
    FULL = Plan(1.0, (0.004, 0.002, 0.001, 0.0005), 250)
    QUICK = Plan(0.24, (0.002, 0.001), 60)
    quantity, components, unit = "direction of the axis", ("x", "y", "z"), "rad"
    source = "the tilt's equation by DOP853"
    moments = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2)
    plane = ("x in m", "z in m")

    def build(self) -> System:
        """The top with its axis at rest."""
        return build()

    def value(self, system: System) -> Floats:
        """The direction (3,) of the axis."""
        return direction_of(system)

    def reference(self, times: Floats) -> Floats:
        """The direction (n, 3) of the axis by integration of the tilt."""
        return direction(REFERENCE.motion(times, tilt=TILT, spin=SPIN))

    def draw(self, system: System) -> list[Floats]:
        """The axis up to the centre of mass, seen along +y."""
        return [np.array([np.zeros(2), HEIGHT * direction_of(system)[[0, 2]]])]

    def more_pieces(self, plan: Plan) -> int:
        """Both rates of steady precession."""
        return 2

    def more(self, plan: Plan, trials: Sequence[Trial], work: Work) -> More:
        """Run both rates of steady precession, and draw the paths of the axis."""
        step, rows, runs = plan.steps[-1], [], []
        scheme = f"rattle, h = {in_words(step)}"
        for name, rate in zip(("slow", "fast"), REFERENCE.steady_precession(TILT, SPIN), strict=True):
            work.begin(f"steady precession, {name}")
            run = precess(name, rate, plan.duration, step)
            runs.append(run)
            wander = float(np.abs(run.tilt - TILT).max())
            rows += [
                exact_row(f"rate of {name} steady precession, {scheme}", rate, run.measured, "rad/s"),
                exact_row(f"largest change of the tilt, {name} precession, {scheme}", 0.0, wander, "rad"),
            ]
        return More(rows, {"precession": _ways(finest(trials), runs)})


def _ways(nutation: Trial, runs: Sequence[Precession]) -> Figure:
    """The paths of the axis."""
    figure, (above, tilts) = plots.new_axes((11.0, 5.2), columns=2)
    fine = np.linspace(0.0, nutation.time[-1], 2000)
    wanted = REFERENCE.motion(fine, tilt=TILT, spin=SPIN)
    way = direction(wanted)
    above.plot(way[:, 0], way[:, 1], color=LIGHT_GREY, linewidth=4.5, label="reference")
    tilts.plot(fine, np.degrees(wanted.tilt), color=LIGHT_GREY, linewidth=4.5, label="reference")
    value, time = nutation.value, nutation.time
    above.plot(value[:, 0], value[:, 1], color=GREEN, linewidth=1.3, label="released at rest")
    tilts.plot(time, np.degrees(np.arccos(value[:, 2])), color=GREEN, linewidth=1.3, label="released at rest")
    for run in runs:
        label, width = f"{run.name} steady precession", 3.5 if run.name == "slow" else 1.0
        look: dict[str, Any] = {"color": _COLOURS[run.name], "linewidth": width, "label": label}
        x, y = np.sin(run.tilt) * np.sin(run.azimuth), -np.sin(run.tilt) * np.cos(run.azimuth)
        above.plot(x, y, **look)
        tilts.plot(run.time, np.degrees(run.tilt), **look)
    above.set(
        xlabel="x of the axis", ylabel="y of the axis", aspect="equal", title="the axis seen from above"
    )
    tilts.set(xlabel="time in s", ylabel="tilt in degrees", title="tilt of the axis")
    plots.legend_below(figure, 4)
    return figure
