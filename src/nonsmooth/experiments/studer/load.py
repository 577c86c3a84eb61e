"""The planar block of Studer and Glocker §5.8 moved through all three cases of Fig. 8 by a load history.

A push makes both corners slide and lets them stick again; a moment lifts the right corner about the left
one, which sticks, and lets it fall back; the impact makes both slide briefly. Every switching time is
known in closed form (`scenes.blocks.LoadedBlock`). At each of them, and between them, the forces and
accelerations of the event-driven run are compared with those that the package's solvers find.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.events.acceleration import AccelerationLevel
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import Quantity, exact_row
from nonsmooth.scenes.closed_form.blocks import LoadedBlock
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.lemke import Lemke
from nonsmooth.solvers.newton import Newton
from nonsmooth.solvers.projection_iterations import JORProx, SORProx
from nonsmooth.solvers.solve import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLOCK = LoadedBlock()
DURATION = 2.0
"""s"""
SOLVERS: dict[str, Solver] = {
    # ω = 1 is beyond the limit of JORprox where both corners stick: 0.77, see the experiment studer-block
    "JORprox": JORProx(strategy="diagonal", omega=0.7),
    "SORprox": SORProx(),
    "Gauss-Seidel": GaussSeidel(),
    "Newton": Newton(),
    "Lemke": Lemke(),
}
TOLERANCE = 1e-12
"""Relative residual that the solvers must reach."""
SWITCHES = {
    "both begin to slide": ("slip", 0, BLOCK.slip),
    "both stick again": ("stick", 0, BLOCK.stop),
    "right corner opens": ("opening", 0, BLOCK.opening),
    "right corner hits the floor": ("impact", 0, BLOCK.impact),
    "both stick for good": ("stick", 1, BLOCK.rest),
}
"""Kind of each event of the right corner, its index among events of the kind, and its time in s by hand."""


@dataclass(frozen=True)
class Check:
    """Accelerations and forces of one solver at one time, compared with those of the run."""

    time: float
    solver: str
    residual: float
    acceleration_error: float
    """Largest error in m/s² or rad/s²."""
    force_error: float
    """Largest error in N of the normal forces and the sum of the frictions (unique in stick, unlike each)."""


def run_history() -> EventRun:
    """Simulate the block through its load history."""
    return simulate_events(BLOCK.system(), *BLOCK.start(), duration=DURATION)


def found_switches(run: EventRun) -> dict[str, float]:
    """The time in s of each of `SWITCHES` in the run; NaN if it did not happen."""
    found = {}
    for name, (kind, number, _) in SWITCHES.items():
        times = run.times(kind, "right")
        found[name] = float(times[number]) if number < len(times) else np.nan
    return found


def times_to_check(run: EventRun) -> list[float]:
    """All switching times of the run, and one in the middle of each phase."""
    switches = sorted(found_switches(run).values())
    edges = [run.start.t, *switches, run.final.t]
    middles = [0.5 * (left + right) for left, right in itertools.pairwise(edges)]
    return sorted([*switches, *middles])


def check_solvers(run: EventRun, time: float) -> list[Check]:
    """Solve the problem on acceleration level at one time by every solver."""
    samples = run.sample([time])
    level = AccelerationLevel.of(run.system, samples.q[0], samples.u[0], time)
    wanted = _acceleration(run, samples.forces, level)
    checks = []
    for name, solver in SOLVERS.items():
        answer = solve(level.problem, solver, tolerance=TOLERANCE, throw=False)
        off = np.abs(level.acceleration(answer.impulses) - wanted).max()
        ours = _resultants(level, answer.impulses)
        theirs = np.array([*(own[0, 0] for own in samples.forces), sum(own[0, 1] for own in samples.forces)])
        checks.append(
            Check(time, name, answer.certificate.residual, float(off), float(np.abs(ours - theirs).max()))
        )
    return checks


def _acceleration(run: EventRun, forces: Sequence[Floats], level: AccelerationLevel) -> Floats:
    """u̇ from the run's own contact forces."""
    push = level.force.copy()
    for contact in level.contacts:
        index = _index(run, contact.name)
        push = push + contact.directions @ forces[index][0]
    return np.asarray(np.linalg.solve(level.mass, push))


def _index(run: EventRun, name: str) -> int:
    return [contact.name for contact in run.system.contacts].index(name)


def _resultants(level: AccelerationLevel, unknowns: Floats) -> Floats:
    """(λ_N left, λ_N right, sum of λ_T) in N."""
    found, at = {"left": 0.0, "right": 0.0}, 0
    friction = 0.0
    for contact in level.contacts:
        own = unknowns[at : at + contact.rows]
        at += contact.rows
        found[contact.name] = float(own[0])
        friction += float(own[1] if contact.slip is None else -contact.friction * own[0] * contact.slip[0])
    return np.array([found["left"], found["right"], friction])


def place_error(run: EventRun, count: int = 801) -> float:
    """Largest error of (x, y, φ) over the run, in m or rad."""
    times = np.linspace(0.0, DURATION, count)
    return float(np.abs(run.sample(times).q - _places(times)).max())


def _places(times: Floats) -> Floats:
    return np.array([BLOCK.place_at(t) for t in times.tolist()])


def time_stepping(grid: convergence.Grid) -> dict[str, convergence.Curve]:
    """Errors of time stepping over the whole history."""

    def error(column: int, run: SteppedRun) -> float:
        return float(np.abs(run.q[:, column] - _places(run.time)[:, column]).max())

    errors = {"x in m": lambda run: error(0, run), "φ in rad": lambda run: error(2, run)}
    return convergence.averaged(BLOCK.system(), BLOCK.start(), DURATION, grid, errors)


SWITCHED = Quantity("{}, at")
SPEED_AFTER = Quantity("speed after the impact")
DISSIPATED = Quantity("energy dissipated")
ACCELERATIONS = Quantity("{}: error of accelerations against the run")


class Found(NamedTuple):
    """What the experiment computes."""

    history: EventRun
    checks: list[Check]
    curves: dict[str, convergence.Curve]


class StuderLoad(Experiment[convergence.Grid, Found]):
    """Set up by the grid of time stepping."""

    name = "studer-load"
    summary = (
        "a block moved through stick, slide and one open corner by a load history: exact switching times"
    )
    paper = "Studer and Glocker, normal cone inclusions, §5.8; switching times checked against closed forms"
    seconds = (35.0, 75.0)
    FULL = convergence.FULL_GRID
    QUICK = convergence.QUICK_GRID

    def measure(self, setup: convergence.Grid, work: Work) -> Found:
        """Run the history, apply every solver at the events and between them, and run time stepping."""
        work.expect(3)
        work.begin("event-driven")
        history = run_history()
        work.begin("solvers on acceleration level")
        checks = [check for time in times_to_check(history) for check in check_solvers(history, time)]
        work.begin("time stepping")
        return Found(history, checks, time_stepping(setup))

    def data(self, found: Found) -> Data:
        """Events, solvers, and errors of time stepping."""
        return {
            "events.csv": event_runs.events_table({"block": found.history}),
            "solvers.csv": _checks_table(found.checks),
            "time_stepping.csv": convergence.table(found.curves),
        }

    def figures(self, found: Found) -> Figures:
        """Motion, forces, energy, and both integrators."""
        title, error = "Block under a load history", place_error(found.history)
        return {
            "motion": _motion(found.history),
            "forces": _forces(found.history),
            "energy": event_runs.energy_figure(found.history, f"{title}: energy"),
            "convergence": convergence.figure(f"{title}: both integrators", found.curves, error, "m, rad"),
        }

    def compare(self, found: Found) -> Rows:
        """Switching times, motion, energies and solvers."""
        history, checks, curves = found
        switches = found_switches(history)
        yield from [
            exact_row(SWITCHED(name), exact, switches[name], "s") for name, (_, _, exact) in SWITCHES.items()
        ]
        end, after = history.final, history.sample([switches["right corner hits the floor"]]).u[0]
        yield exact_row("the push moves it", BLOCK.slid, _slid(history), "m")
        yield exact_row(SPEED_AFTER, BLOCK.speed_after_impact, float(after[0]), "m/s")
        yield exact_row("error of the motion", 0.0, place_error(history), "m or rad", "largest of x, y and φ")
        yield exact_row(DISSIPATED, BLOCK.dissipated, end.dissipated, "J")
        yield exact_row("work of the load", BLOCK.dissipated, end.work, "J")
        yield from event_runs.certificate_rows(history)
        for solver in SOLVERS:
            own = [check for check in checks if check.solver == solver]
            note = f"largest of {len(own)} times; residual {max(c.residual for c in own):.1e}"
            yield exact_row(
                ACCELERATIONS(solver), 0.0,
                max(c.acceleration_error for c in own), "m/s² or rad/s²", note,
            )  # fmt: skip
            yield exact_row(
                f"{solver}: error of forces against the run", 0.0, max(c.force_error for c in own), "N",
                "normal forces and the sum of the frictions",
            )  # fmt: skip
        yield from [curve.row(f"order of time stepping, {name}", 1.0) for name, curve in curves.items()]


def _slid(history: EventRun) -> float:
    return float(history.sample([BLOCK.lift_begin]).q[0, 0])


def _motion(history: EventRun) -> Figure:
    """Load, motion and modes over time."""
    figure, (top, middle, below, bars) = plots.new_axes((10.0, 9.4), rows=4)
    times = np.linspace(0.0, DURATION, 801)
    load = np.array([BLOCK.load(t) for t in times.tolist()])
    samples, exact = history.sample(times), _places(times)
    top.plot(times, load[:, 0], color=ORANGE, linewidth=1.6, label="push $F_x$ in N")
    top.plot(times, load[:, 2], color=GREEN, linewidth=1.6, label="moment $M$ in N·m")
    holding = BLOCK.friction * BLOCK.weight
    top.axhline(holding, color=ORANGE, linewidth=0.8, linestyle="--", label=r"$\mu m g$")
    lifting = BLOCK.half_length * BLOCK.weight
    top.axhline(lifting, color=GREEN, linewidth=0.8, linestyle="--", label=r"$m g \ell$")
    top.set(ylabel="load", title="load", xlim=(0.0, DURATION))
    for ax, column, name in ((middle, 0, "x in m"), (below, 2, "φ in rad")):
        ax.plot(times, exact[:, column], color=LIGHT_GREY, linewidth=4.5, label="closed form")
        ax.plot(times, samples.q[:, column], color=BLUE, linewidth=1.2, label="event-driven")
        ax.set(ylabel=name, xlim=(0.0, DURATION))
    middle.set_title("motion along the floor")
    below.set_title("rotation about the left corner")
    for ax in (top, middle, below):
        _mark(ax, history)
    event_runs.mode_bars(bars, history)
    bars.set(xlabel="time in s", title="modes and events")
    event_runs.stretch(bars, (3, 3, 3, 2))
    plots.legend_below(figure, 5)
    return figure


def _forces(history: EventRun) -> Figure:
    """Contact forces over time, and the sliding after the impact."""
    figure, (top, middle, below) = plots.new_axes((10.0, 9.0), rows=3)
    times = np.linspace(0.0, DURATION, 801)
    left, right = history.sample(times).forces
    for ax, column in ((top, 0), (middle, 1)):
        ax.plot(times, left[:, column], color=BLUE, linewidth=1.4, label="left corner")
        ax.plot(times, right[:, column], color=ORANGE, linewidth=1.4, label="right corner")
        _mark(ax, history)
        ax.set(xlabel="time in s", xlim=(0.0, DURATION), ylabel="force in N")
    total = left[:, 1] + right[:, 1]
    middle.plot(times, total, color=DARK_GREY, linewidth=0.9, linestyle="--", label="both together")
    top.set_title("normal forces")
    middle.set_title("friction (in stick only the sum is determined)")
    after = np.linspace(BLOCK.impact - 0.001, BLOCK.rest + 0.002, 601)
    at = history.sample(after)
    lever = BLOCK.half_height * np.cos(at.q[:, 2]) + BLOCK.half_length * np.sin(at.q[:, 2])
    speed = at.u[:, 0] + lever * at.u[:, 2]
    since = 1e3 * (after - BLOCK.impact)
    below.plot(since, speed, color=GREEN, linewidth=1.6, label="speed of the left corner")
    below.axvline(1e3 * (BLOCK.rest - BLOCK.impact), color=DARK_GREY, linewidth=0.7, linestyle=":")
    below.set(xlabel="time since the impact in ms", ylabel="speed in m/s")
    below.set_title("the impact makes it slide, as μ < h/ℓ")
    plots.legend_below(figure, 5)
    return figure


def _mark(ax: Axes, history: EventRun) -> None:
    event_runs.mark(ax, list(found_switches(history).values()), "events")


def _checks_table(checks: Sequence[Check]) -> Table:
    rows = [(c.time, c.solver, c.residual, c.acceleration_error, c.force_error) for c in checks]
    header = ("time_s", "solver", "residual", "acceleration_error", "force_error_N")
    return Table(header, rows)
