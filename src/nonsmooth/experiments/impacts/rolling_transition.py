"""From sliding to rolling, event-driven: the exact time of transition, in the plane and in space.

A ball of 1 m (1 kg, μ = 0.2) slides at 2 m/s without spin, as in TR-2014-11 §5.3.1: it rolls after
2 v/(7 μ g), at 5/7 of its speed. In space it is thrown obliquely with spin: the velocity γ of its contact
point keeps its direction and shrinks at 7/2 μ g, so that the path is a parabola until |γ|/(7/2 μ g), and
straight after it.
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
from nonsmooth.experiments.summary import Quantity, exact_row, paper_row
from nonsmooth.scenes.closed_form.bouncing import RollingBall, RollingDisc

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DURATION = 1.5
"""s"""
STEPPED = 0.4
"""Duration of time stepping in s."""
ROLLS_BELOW = 1e-9
"""Sliding speed in m/s below which time stepping counts as rolling."""
PLANE = RollingDisc()
THROWS = {
    "oblique": RollingBall(),
    "backspin": RollingBall(velocity=(2.0, 0.6), spin=(0.0, -6.0, 2.0)),
    "sidespin": RollingBall(velocity=(2.0, 0.0), spin=(-4.0, 2.0, 0.0)),
}
"""Velocities and spins in space, by their names in figures."""
_COLOURS = (BLUE, ORANGE, GREEN)


@dataclass(frozen=True)
class Throw:
    """One run in space."""

    name: str
    scene: RollingBall
    run: EventRun

    @property
    def transition(self) -> float:
        """Time in s; NaN if there was none, or several."""
        return _only(self.run)

    def path(self, count: int = 401) -> tuple[Floats, Floats]:
        """Times in s and (x, y) in m."""
        times = np.linspace(0.0, DURATION, count)
        return times, self.run.sample(times).q[:, :2]


def _only(run: EventRun) -> float:
    found = run.times("stick")
    return float(found[0]) if len(found) == 1 else np.nan


def run_plane() -> EventRun:
    """The ball of TR-2014-11."""
    return simulate_events(PLANE.system(), *PLANE.start(), duration=DURATION)


def run_throw(name: str) -> Throw:
    """One of `THROWS`."""
    scene = THROWS[name]
    return Throw(name, scene, simulate_events(scene.system(), *scene.start(), duration=DURATION))


def time_stepping(grid: convergence.Grid) -> dict[str, convergence.Curve]:
    """Errors of time stepping in the plane."""

    def transition_error(run: SteppedRun) -> float:
        slip = np.abs(run.u[:, 0] + PLANE.radius * run.u[:, 2])
        return float(abs(run.time[np.argmax(slip < ROLLS_BELOW)] - PLANE.transition))

    def position_error(run: SteppedRun) -> float:
        return float(np.abs(run.q[:, 0] - PLANE.position_at(run.time)).max())

    errors = {"transition in s": transition_error, "position in m": position_error}
    return convergence.averaged(PLANE.system(), PLANE.start(), STEPPED, grid, errors)


TRANSITION = Quantity("transition, in the plane, 2 v/(7 μ g)")
ROLLING_SPEED = Quantity("rolling speed, in the plane")


class Found(NamedTuple):
    """What the experiment computes."""

    plane: EventRun
    throws: list[Throw]
    curves: dict[str, convergence.Curve]


class RollingTransition(Experiment[convergence.Grid, Found]):
    """Set up by the grid of time stepping."""

    name = "rolling-transition"
    summary = "a ball from sliding to rolling, in the plane and thrown with spin: exact times of transition"
    paper = (
        "Mazhar, Melanz, Ferris and Negrut, TR-2014-11, §5.3.1 (in the plane); checked against closed forms"
    )
    belongs_to = "studer"
    seconds = (15.0, 30.0)
    FULL = convergence.FULL_GRID
    QUICK = convergence.QUICK_GRID

    def measure(self, setup: convergence.Grid, work: Work) -> Found:
        """Roll in the plane, throw in space, and step through time."""
        work.expect(len(THROWS) + 2)
        work.begin("in the plane")
        plane = run_plane()
        throws = []
        for name in THROWS:
            work.begin(f"in space, {name}")
            throws.append(run_throw(name))
        work.begin("time stepping")
        return Found(plane, throws, time_stepping(setup))

    def data(self, found: Found) -> Data:
        """The motion in the plane, and errors of time stepping."""
        return {"plane.csv": _motion_table(found.plane), "time_stepping.csv": convergence.table(found.curves)}

    def figures(self, found: Found) -> Figures:
        """Motion, paths, slip, energy, and both integrators."""
        title, error = "From sliding to rolling", abs(_only(found.plane) - PLANE.transition)
        return {
            "plane": _plane(found.plane),
            "paths": _paths(found.throws),
            "slip": _space(found.throws),
            "energy": event_runs.energy_figure(found.plane, f"{title}: energy"),
            "convergence": convergence.figure(f"{title}: both integrators", found.curves, error, "s, m"),
        }

    def compare(self, found: Found) -> Rows:
        """Compare transition, final velocities and energies with the closed forms."""
        plane, throws, curves = found
        yield paper_row(TRANSITION, PLANE.transition, _only(plane), "s")
        yield exact_row(ROLLING_SPEED, PLANE.rolling_speed, float(plane.final.u[0]), "m/s")
        yield exact_row("energy dissipated, in the plane", PLANE.dissipated, plane.final.dissipated, "J")
        yield from event_runs.certificate_rows(plane, "in the plane: ")
        for throw in throws:
            scene, final = throw.scene, throw.run.final
            velocity = scene.rolling_velocity.tolist()
            times, path = throw.path()
            off = float(np.abs(path - scene.position_at(times)).max())
            yield exact_row(f"transition, {throw.name}", scene.transition, throw.transition, "s")
            yield exact_row(f"v_x at the end, {throw.name}", velocity[0], final.u[0], "m/s")
            yield exact_row(f"v_y at the end, {throw.name}", velocity[1], final.u[1], "m/s")
            yield exact_row(
                f"ω_z at the end, {throw.name}", scene.spin[2], float(final.u[5]), "rad/s",
                "a point contact does not change it",
            )  # fmt: skip
            yield exact_row(f"error of the path, {throw.name}", 0.0, off, "m", "largest")
            yield exact_row(f"energy dissipated, {throw.name}", scene.dissipated, final.dissipated, "J")
            yield from event_runs.certificate_rows(throw.run, f"{throw.name}: ")[:1]
        theory = {
            "transition in s": (1.0, "it is detected at the end of a step"),
            "position in m": (2.0, "second: steps are exact while it slides and while it rolls"),
        }
        for name, curve in curves.items():
            order, why = theory[name]
            yield curve.row(f"order of time stepping, {name}", order, why)


def _plane(run: EventRun) -> Figure:
    """Velocities, mode and forces in the plane."""
    figure, (top, bars, below) = plots.new_axes((9.0, 7.0), rows=3)
    times = np.linspace(0.0, DURATION, 401)
    samples = run.sample(times)
    for label, values, colour in (
        ("forward $v_x$", samples.u[:, 0], BLUE),
        (r"rolling $-\omega r$", -PLANE.radius * samples.u[:, 2], ORANGE),
    ):
        top.plot(times, values, color=colour, linewidth=1.6, label=label)
    event_runs.mark(top, run.times("stick"), "transition, located")
    top.set(xlabel="time in s", ylabel="velocity in m/s", xlim=(0.0, DURATION))
    top.set_title(f"in the plane: it rolls after {_only(run):.9f} s")
    event_runs.mode_bars(bars, run)
    bars.set(xlabel="time in s", title="modes and events")
    event_runs.stretch(bars, (3, 1, 3))
    for label, values, colour in (
        ("normal force", samples.forces[0][:, 0], GREEN), ("friction", samples.forces[0][:, 1], RED),
    ):  # fmt: skip
        for part in (times < PLANE.transition, times >= PLANE.transition):
            name = label if part[0] else None
            below.plot(times[part], values[part], color=colour, linewidth=1.6, label=name)
    below.set(xlabel="time in s", ylabel="force in N", xlim=(0.0, DURATION), title="forces")
    plots.legend_below(figure, 5)
    return figure


def _paths(throws: Sequence[Throw]) -> Figure:
    """Paths over the floor."""
    figure, (ax,) = plots.new_axes((8.0, 4.6))
    for throw, colour in zip(throws, _COLOURS, strict=True):
        times, path = throw.path()
        exact = throw.scene.position_at(times)
        ax.plot(exact[:, 0], exact[:, 1], color=LIGHT_GREY, linewidth=4.5, label="closed form")
        ax.plot(path[:, 0], path[:, 1], color=colour, linewidth=1.4, label=throw.name)
        place = throw.run.sample([throw.transition]).q[0]
        ax.plot(place[0], place[1], "o", color=colour, markersize=7, markeredgecolor=DARK_GREY)
    ax.plot([], [], "o", color="white", markeredgecolor=DARK_GREY, label="begins to roll")
    ax.set(xlabel="x in m", ylabel="y in m", title="in space: parabola, then straight", aspect="equal")
    plots.legend_below(figure, 5)
    return figure


def _space(throws: Sequence[Throw]) -> Figure:
    """Speed of the contact point, and its deviation from the initial direction."""
    figure, (left, right) = plots.new_axes((11.0, 4.6), columns=2)
    for throw, colour in zip(throws, _COLOURS, strict=True):
        times, _ = throw.path()
        u, r = throw.run.sample(times).u, throw.scene.radius
        slip = np.column_stack([u[:, 0] - r * u[:, 4], u[:, 1] + r * u[:, 3]])
        first = throw.scene.slip / np.linalg.norm(throw.scene.slip)
        exact = np.maximum(np.linalg.norm(throw.scene.slip) * (1.0 - times / throw.scene.transition), 0.0)
        left.plot(times, exact, color=LIGHT_GREY, linewidth=4.5, label="closed form")
        left.plot(times, np.linalg.norm(slip, axis=1), color=colour, linewidth=1.4, label=throw.name)
        off = np.abs(slip @ np.array([-first[1], first[0]]))
        right.semilogy(times, np.maximum(off, 1e-17), color=colour, linewidth=1.2)
    left.set(xlabel="time in s", ylabel=r"$|\gamma_T|$ in m/s", title="speed of the contact point")
    right.set(xlabel="time in s", ylabel="velocity in m/s", ylim=(1e-17, 1e-12))
    right.set_title("across its initial direction (zero: 1e-17)")
    plots.legend_below(figure, 4)
    return figure


def _motion_table(run: EventRun) -> Table:
    times = np.linspace(0.0, DURATION, 401)
    samples = run.sample(times)
    table = np.column_stack([times, samples.q[:, 0], samples.u[:, [0, 2]], samples.forces[0]])
    header = ("time_s", "x_m", "v_x_m_per_s", "omega_rad_per_s", "normal_force_N", "friction_N")
    return Table(header, table.tolist())
