"""The slider-crank at constant speed: kinematics and driving torque against their closed forms.

A driver turns the crank at 10 rad/s; a uniform rod moves the slider. Joints and driver alone determine the
motion, so that its error is that of the position level; the torque of the driver has to be found by the step.
As a plane mechanism written in 3D it has three joint rows more than it needs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.mechanisms.setting import SCHEMES
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
    write_csv,
)
from nonsmooth.scenes.linkages import slider_crank
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CRANK, ROD, SPEED, START = 0.1, 0.25, 10.0, 0.5
"""m, m, rad/s, rad"""
MASSES = {"crank_mass": 1.0, "rod_mass": 0.5, "slider_mass": 0.4}
"""kg"""
GRAVITY = 9.81
TURN = 2.0 * math.pi / SPEED
"""Time in s of a turn."""
DRIVER = "driver of joint 'shaft'"
START_UP = 3
"""Steps at the start that are not compared: velocities of half-implicit steps are of one step before."""
QUANTITIES = {"position": "m", "velocity": "m/s", "torque": "N·m"}
"""What is compared, and the units."""
_COLOURS = {"stabilised": ORANGE, "projected": BLUE, "rattle": GREEN}
_MARKERS = {"stabilised": "s", "projected": "^", "rattle": "o"}


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    turns: int
    steps: tuple[int, ...]
    """Steps in a turn; each doubles the one before it."""


FULL = Setup(2, (100, 200, 400, 800))
QUICK = Setup(1, (50, 100, 200))


@dataclass(frozen=True)
class Trial:
    """One run: slider and driver after every step, beside the closed form."""

    scheme: str
    steps: int
    """In a turn."""
    ours: dict[str, Floats]
    """Each quantity after every step; torques are those of a step's beginning, with RATTLE its middle."""
    exact: dict[str, Floats]
    angle: dict[str, Floats]
    """Crank angle in rad that each quantity belongs to."""
    joint_error: float
    """Largest over the run, in m or rad."""
    failed: int
    """Steps that missed the tolerance."""

    def error(self, quantity: str) -> float:
        """Largest error of a quantity after the start."""
        return float(np.abs(self.ours[quantity] - self.exact[quantity])[START_UP:].max())


def run_trial(scheme: str, steps: int, turns: int) -> Trial:
    """Turn the crank and look at slider and driver."""
    system = slider_crank(crank=CRANK, rod=ROD, speed=SPEED, angle=START, gravity=GRAVITY, **MASSES)
    slider, step = system.index("slider"), TURN / steps
    found: list[tuple[float, float, float]] = []

    def look(frame: Frame) -> None:
        torque = frame.reactions(minimum_norm=False).rows[DRIVER][0]  # motion alone determines it
        found.append((frame.position[slider, 0], frame.linear_velocity[slider, 0], float(torque)))

    run = simulate(system, duration=turns * TURN, step=step, scheme=scheme, observe=look)
    ours = dict(zip(QUANTITIES, np.array(found).T, strict=True))
    angle = START + SPEED * run.steps["time"]
    position, velocity, _ = references.slider_crank(angle, crank=CRANK, rod=ROD, speed=SPEED)
    acting = angle - SPEED * step * (0.5 if scheme == "rattle" else 1.0)
    exact = {"position": position, "velocity": velocity, "torque": exact_torque(acting)}
    angles = {"position": angle, "velocity": angle, "torque": acting}
    joint_error = float(run.steps["joint_error"].max())
    return Trial(scheme, steps, ours, exact, angles, joint_error, run.certificate.missed)


def exact_torque(angle: Floats) -> Floats:
    """The driver's torque in N·m at crank angles in rad."""
    return references.slider_crank_torque(angle, crank=CRANK, rod=ROD, speed=SPEED, gravity=GRAVITY, **MASSES)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    setup = QUICK if quick else FULL
    pieces = Pieces(progress, len(SCHEMES) * len(setup.steps) + 1)
    trials = []
    for scheme, steps in itertools.product(SCHEMES, setup.steps):
        pieces.begin(f"{scheme}, {steps} steps in a turn")
        trials.append(run_trial(scheme, steps, setup.turns))
    pieces.begin("data and figures")
    files = [
        _write_motion(folder / "motion.csv", trials),
        _write_errors(folder / "errors.csv", trials),
        save_figure(_motion(trials), folder / "motion.png"),
        save_figure(_convergence(trials), folder / "convergence.png"),
    ]
    rows = compare(trials)
    summary = Summary(SLIDER_CRANK.name, SLIDER_CRANK.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def compare(trials: Sequence[Trial]) -> list[Comparison]:
    """Errors against the closed forms."""
    rows = []
    for scheme in SCHEMES:
        *_, coarse, fine = (trial for trial in trials if trial.scheme == scheme)
        name = f"{scheme}, {fine.steps} steps in a turn"
        worst = START_UP + int(np.argmax(np.abs(fine.exact["torque"][START_UP:])))
        peak = float(fine.exact["torque"][worst])
        rows.append(
            Comparison.with_closed_form(
                f"largest driving torque, {name}", peak, float(fine.ours["torque"][worst]), "N·m"
            )
        )
        for quantity, unit in QUANTITIES.items():
            ratio = coarse.error(quantity) / fine.error(quantity)
            note = f"{ratio:.3g} times smaller than with {coarse.steps} steps"
            if quantity != "torque" and fine.error(quantity) < 1e-9:
                note = "as near as joints are closed: they alone determine it"
            first = float(np.abs(fine.ours[quantity] - fine.exact[quantity])[:START_UP].max())
            if first > fine.error(quantity):
                note += f"; without the first {START_UP} steps, which begin with {first:.3g} {unit}"
            rows.append(
                Comparison(f"largest error of the {quantity}, {name}", None, fine.error(quantity), unit, note)
            )
        rows.append(
            Comparison(
                f"largest error of the joints, {name}", None, fine.joint_error, "m or rad",
                f"{fine.failed} steps missed the tolerance",
            )
        )  # fmt: skip
    return rows


def _finest(trials: Sequence[Trial]) -> list[Trial]:
    """The last trial of every scheme."""
    return list({trial.scheme: trial for trial in trials}.values())


def _motion(trials: Sequence[Trial]) -> Figure:
    """Slider and torque over a turn, with the closed forms behind them."""
    figure, axes = new_axes((14.0, 5.6), columns=3)
    best = _finest(trials)[-1]
    for ax, (quantity, unit) in zip(axes, QUANTITIES.items(), strict=True):
        order = np.argsort(best.angle[quantity] % (2.0 * math.pi))
        turned, exact = np.degrees(best.angle[quantity] % (2.0 * math.pi)), best.exact[quantity]
        ax.plot(turned[order], exact[order], color=LIGHT_GREY, linewidth=4.5, label="closed form")
        for scheme, colour in _COLOURS.items():
            trial = next(trial for trial in trials if trial.scheme == scheme)  # the coarsest: it shows most
            turned = np.degrees(trial.angle[quantity][START_UP:] % (2.0 * math.pi))
            label = f"{scheme}, {trial.steps} steps in a turn"
            turns = np.flatnonzero(np.diff(turned) < 0.0) + 1  # the line is broken where a turn ends
            turned, ours = (
                np.insert(part, turns, np.nan) for part in (turned, trial.ours[quantity][START_UP:])
            )
            ax.plot(turned, ours, color=colour, linewidth=1.2, label=label)
            first = np.degrees(trial.angle[quantity][:START_UP] % (2.0 * math.pi))
            ax.plot(first, trial.ours[quantity][:START_UP], "x", color=colour, markersize=4)
        where = "slider" if quantity != "torque" else "driver"
        ax.set(xlabel="crank angle in degrees", ylabel=f"{quantity} in {unit}", xlim=(0.0, 360.0))
        ax.set(title=f"{quantity} of the {where}", xticks=np.arange(0, 361, 90))
    axes[-1].plot([], [], "x", color=DARK_GREY, markersize=4, label=f"the first {START_UP} steps")
    legend_below(figure, 5)
    return figure


def _convergence(trials: Sequence[Trial]) -> Figure:
    """Largest errors against the step."""
    label = "first and second order, through the shortest step"
    figure, axes = new_axes((14.0, 5.6), columns=3)
    for ax, (quantity, unit) in zip(axes, QUANTITIES.items(), strict=True):
        for scheme in SCHEMES:
            chosen = [trial for trial in trials if trial.scheme == scheme]
            step = np.array([TURN / trial.steps for trial in chosen])
            error = np.array([trial.error(quantity) for trial in chosen])
            look: dict[str, Any] = {"color": _COLOURS[scheme], "marker": _MARKERS[scheme], "markersize": 7}
            ax.loglog(step, error, linewidth=1.6, label=scheme, **look)
            for order in (1, 2) if error[-1] > 1e-9 else ():
                guide = error[-1] * (step / step[-1]) ** order
                ax.loglog(step, guide, ":", color=DARK_GREY, linewidth=1.0, zorder=3)
        ax.loglog([], [], ":", color=DARK_GREY, linewidth=1.0, label=label)
        every = sorted({TURN / trial.steps for trial in trials})
        ax.set_xticks(every, [f"{1e3 * step:.3g}" for step in every])
        ax.minorticks_off()
        ax.set(xlabel="time step in ms", ylabel=f"largest error in {unit}", title=quantity)
    legend_below(figure, 4)
    return figure


def _write_motion(path: Path, trials: Sequence[Trial]) -> Path:
    """Every step of the finest trial of every scheme."""
    rows: list[list[object]] = []
    for trial in _finest(trials):
        columns = [
            trial.angle["position"],
            *itertools.chain(*zip(trial.ours.values(), trial.exact.values(), strict=True)),
        ]
        rows += [[trial.scheme, *row] for row in np.column_stack(columns).tolist()]
    names = [
        f"{quantity}_{kind}_{unit.replace('/', '_per_').replace('·', '')}"
        for quantity, unit in QUANTITIES.items()
        for kind in ("ours", "exact")
    ]
    return write_csv(path, ("scheme", "crank_angle_rad", *names), rows)


def _write_errors(path: Path, trials: Sequence[Trial]) -> Path:
    """Largest errors of every trial."""
    rows = [
        (t.scheme, t.steps, TURN / t.steps, *(t.error(name) for name in QUANTITIES), t.joint_error, t.failed)
        for t in trials
    ]
    header = (
        "scheme", "steps_per_turn", "step_s", "position_error_m", "velocity_error_m_per_s", "torque_error_Nm",
        "joint_error_m_or_rad", "steps_that_missed_the_tolerance",
    )  # fmt: skip
    return write_csv(path, header, rows)


SLIDER_CRANK = Experiment(
    "slider-crank",
    "a slider-crank at constant speed: position, velocity and driving torque",
    "checked against closed forms",
    run,
)
