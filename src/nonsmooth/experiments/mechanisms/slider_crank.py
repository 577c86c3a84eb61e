"""The slider-crank at constant speed: kinematics and driving torque against their closed forms.

A driver turns the crank at 10 rad/s; a uniform rod moves the slider. Joints and driver alone determine the
motion, so that its error is that of the position level; the torque of the driver results from the step.
As a planar mechanism in 3D it has three redundant joint rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.mechanisms.report import JOINT_ERROR
from nonsmooth.experiments.mechanisms.setting import SCHEMES
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row
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
"""Time in s of a revolution."""
DRIVER = "driver of joint 'shaft'"
START_UP = 3
"""Number of initial steps that are not compared: half-implicit velocities lag by one step."""
QUANTITIES = {"position": "m", "velocity": "m/s", "torque": "N·m"}
"""Compared quantities and their units."""
_COLOURS = {"stabilised": ORANGE, "projected": BLUE, "rattle": GREEN}
_MARKERS = {"stabilised": "s", "projected": "^", "rattle": "o"}


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    turns: int
    steps: tuple[int, ...]
    """Steps in a revolution; each doubles the one before it."""


@dataclass(frozen=True)
class Trial:
    """One run: slider and driver after every step, with the closed form."""

    scheme: str
    steps: int
    """Steps in a revolution."""
    ours: dict[str, Floats]
    """Each quantity after every step; torques are those of a step's beginning, with RATTLE its middle."""
    exact: dict[str, Floats]
    angle: dict[str, Floats]
    """Crank angle in rad of each quantity."""
    joint_error: float
    """Largest over the run, in m or rad."""
    failed: int
    """Steps that missed the tolerance."""

    def error(self, quantity: str) -> float:
        """Largest error of a quantity after the start."""
        return float(np.abs(self.ours[quantity] - self.exact[quantity])[START_UP:].max())


def run_trial(scheme: str, steps: int, turns: int) -> Trial:
    """Rotate the crank and record slider and driver."""
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


TORQUE = Quantity("largest driving torque, {}")


class SliderCrank(Experiment[Setup, list[Trial]]):
    """All schemes with several steps."""

    name = "slider-crank"
    summary = "a slider-crank at constant speed: position, velocity and driving torque"
    paper = "checked against closed forms"
    seconds = (20.0, 50.0)
    FULL = Setup(2, (100, 200, 400, 800))
    QUICK = Setup(1, (50, 100, 200))

    def measure(self, setup: Setup, work: Work) -> list[Trial]:
        """Run every scheme with every step."""
        work.expect(len(SCHEMES) * len(setup.steps))
        trials = []
        for scheme, steps in itertools.product(SCHEMES, setup.steps):
            work.begin(f"{scheme}, {steps} steps in a turn")
            trials.append(run_trial(scheme, steps, setup.turns))
        return trials

    def data(self, found: list[Trial]) -> Data:
        """The motion, and errors."""
        return {"motion.csv": _motion_table(found), "errors.csv": _errors_table(found)}

    def figures(self, found: list[Trial]) -> Figures:
        """Motion and convergence."""
        return {"motion": _motion(found), "convergence": _convergence(found)}

    def compare(self, found: list[Trial]) -> Rows:
        """Errors against the closed forms."""
        for scheme in SCHEMES:
            *_, coarse, fine = (trial for trial in found if trial.scheme == scheme)
            name = f"{scheme}, {fine.steps} steps in a turn"
            worst = START_UP + int(np.argmax(np.abs(fine.exact["torque"][START_UP:])))
            peak = float(fine.exact["torque"][worst])
            yield exact_row(TORQUE(name), peak, float(fine.ours["torque"][worst]), "N·m")
            for quantity, unit in QUANTITIES.items():
                ratio = coarse.error(quantity) / fine.error(quantity)
                note = f"{ratio:.3g} times smaller than with {coarse.steps} steps"
                if quantity != "torque" and fine.error(quantity) < 1e-9:
                    note = "limited by the closure of the joints, which alone determine it"
                first = float(np.abs(fine.ours[quantity] - fine.exact[quantity])[:START_UP].max())
                if first > fine.error(quantity):
                    note += f"; without the first {START_UP} steps, which begin with {first:.3g} {unit}"
                yield Comparison(
                    f"largest error of the {quantity}, {name}", None, fine.error(quantity), unit, note
                )
            yield Comparison(
                JOINT_ERROR(name), None, fine.joint_error, "m or rad",
                f"{fine.failed} steps missed the tolerance",
            )  # fmt: skip


def _finest(trials: Sequence[Trial]) -> list[Trial]:
    """The last trial of every scheme."""
    return list({trial.scheme: trial for trial in trials}.values())


def _motion(trials: Sequence[Trial]) -> Figure:
    """Slider and torque over a revolution, with the closed forms behind them."""
    figure, axes = plots.new_axes((14.0, 5.6), columns=3)
    best = _finest(trials)[-1]
    for ax, (quantity, unit) in zip(axes, QUANTITIES.items(), strict=True):
        order = np.argsort(best.angle[quantity] % (2.0 * math.pi))
        turned, exact = np.degrees(best.angle[quantity] % (2.0 * math.pi)), best.exact[quantity]
        ax.plot(turned[order], exact[order], color=LIGHT_GREY, linewidth=4.5, label="closed form")
        for scheme, colour in _COLOURS.items():
            trial = next(trial for trial in trials if trial.scheme == scheme)  # the coarsest
            turned = np.degrees(trial.angle[quantity][START_UP:] % (2.0 * math.pi))
            label = f"{scheme}, {trial.steps} steps in a turn"
            turns = np.flatnonzero(np.diff(turned) < 0.0) + 1  # the line is broken between revolutions
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
    plots.legend_below(figure, 5)
    return figure


def _convergence(trials: Sequence[Trial]) -> Figure:
    """Largest errors over the step."""
    label = "first and second order, through the shortest step"
    figure, axes = plots.new_axes((14.0, 5.6), columns=3)
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
    plots.legend_below(figure, 4)
    return figure


def _motion_table(trials: Sequence[Trial]) -> Table:
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
    return Table(("scheme", "crank_angle_rad", *names), rows)


def _errors_table(trials: Sequence[Trial]) -> Table:
    """Largest errors of every trial."""
    rows = [
        (t.scheme, t.steps, TURN / t.steps, *(t.error(name) for name in QUANTITIES), t.joint_error, t.failed)
        for t in trials
    ]
    header = (
        "scheme", "steps_per_turn", "step_s", "position_error_m", "velocity_error_m_per_s", "torque_error_Nm",
        "joint_error_m_or_rad", "steps_that_missed_the_tolerance",
    )  # fmt: skip
    return Table(header, rows)
