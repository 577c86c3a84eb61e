"""A slider-crank with clearance: impacts of the slider's corners on the walls, and the energy they dissipate.

The crank starts at 150 rad/s with the slider in the middle of its guide, without a drive. Inertia
throws the slider from wall to wall; it bounces, comes to rest in infinitely many impacts, slides and leaves.
Slightly tilted, it chatters: its two corners hit the wall in turn, each impact launching the other corner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventKind, EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import Comparison, exact_row, reference_row
from nonsmooth.model.generalised import Kinematics
from nonsmooth.scenes.closed_form.slider_clearance import CORNERS, SliderClearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MECHANISM = SliderClearance()
DURATION = 0.07
"""Time in s of one revolution of the crank."""
TILT, CHATTER = 0.002, 2.695694e-3
"""Tilt in rad of the slider at the start of the second run, so that its corners hit one by one, and its
duration in s: 14 impacts, with gaps below 1 nm."""
CHECK = 0.02
"""Time in s at which crank angles are compared."""
SICONOS_CRANK = 1.6133163505828787
"""Angle (rad) by Siconos 4.4.0, Moreau-Jean time stepping, extrapolated from h = 2.5e-6 and 1.25e-6 s."""
NUDGE = 1e-9
"""Relative change of the crank's speed for the sensitivity of the motion."""
CURVE = "crank's angle at 0.02 s"
COLOURS = dict(zip(CORNERS, (BLUE, GREEN, ORANGE, DARK_GREY), strict=True))


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    later: float
    """Time in s up to which two motions with nearby initial states are compared."""
    steps: tuple[float, ...]
    """Steps of time stepping, in s; many, since an error depends on where in a step an event falls."""


def simulate(duration: float, *, tilt: float = 0.0, nudge: float = 0.0) -> EventRun:
    """Simulate with the slider tilted by an angle (rad) and a relative change of the crank speed."""
    q, u = MECHANISM.start()
    q[2] = tilt
    return simulate_events(MECHANISM.system(), q, u * (1.0 + nudge), duration=duration)


def first_touch() -> float:
    """Time in s of the first impact, by another integrator and another form of the equations.

    Crank and rod as two links whose ends move freely: Lagrange's equations of the pair, solved by hand.
    """
    l1, l2, g = MECHANISM.crank, MECHANISM.rod, MECHANISM.gravity
    (m1, m2, m3), (j1, j2, _) = MECHANISM.masses, MECHANISM.inertias
    own1, own2 = j1 + (m1 / 4.0 + m2 + m3) * l1**2, j2 + (m2 / 4.0 + m3) * l2**2
    both = (m2 / 2.0 + m3) * l1 * l2

    def rates(t: float, state: Floats) -> list[float]:
        a, b, da, db = state
        across, turned = both * math.cos(a - b), both * math.sin(a - b)
        first = -turned * db**2 - (m1 / 2.0 + m2 + m3) * g * l1 * math.cos(a)
        second = turned * da**2 - (m2 / 2.0 + m3) * g * l2 * math.cos(b)
        scale = own1 * own2 - across**2
        return [da, db, (own2 * first - across * second) / scale, (own1 * second - across * first) / scale]

    def touches(t: float, state: Floats) -> float:
        return float(MECHANISM.clearance - abs(l1 * math.sin(state[0]) + l2 * math.sin(state[1])))

    touches.terminal = True  # type: ignore[attr-defined]
    _, speed = MECHANISM.start()
    answer = solve_ivp(
        rates, (0.0, 0.01), [0.0, 0.0, speed[0], speed[1]], "Radau", events=touches, rtol=1e-12, atol=1e-13
    )
    return float(answer.t_events[0][0])


def impact_speeds(run: EventRun) -> Floats:
    """Speeds in m/s at which the corners hit, one for each impact."""
    speeds = []
    for event in run.events:
        if event.kind is EventKind.IMPACT:
            before = run.sample(np.nextafter(event.time, 0.0))
            contact = next(each for each in run.system.contacts if each.name == event.contacts[0])
            speeds.append(-Kinematics(run.system, contact, before.q[0], event.time).velocity(before.u[0])[0])
    return np.array(speeds)


def chatter_ratio(run: EventRun) -> float:
    """Factor by which impact speeds shrink when two corners hit in turn, both sliding.

    An impact at one corner with speed s sends it off with e s and launches the other at ρ (1 + e) s,
    ρ = −G₂₁/G₁₁: s'' = ρ (1 + e) s' − e s, whose slower root decides.
    """
    at = [Kinematics(run.system, contact, run.final.q, run.final.t) for contact in run.system.contacts[:2]]
    mass, restitution = MECHANISM.mass_matrix(run.final.q), MECHANISM.restitution
    pushes = []
    for place in at:
        sense = np.sign(place.velocity(run.final.u)[1])
        pushes.append(place.normal - MECHANISM.friction * sense * place.tangent[:, 0])
    normals = np.array([place.normal for place in at])
    matrix = normals @ np.linalg.solve(mass, np.array(pushes).T)
    # two impacts make a round: each corner launches the other with its own ρ
    ratios = [-matrix[1, 0] / matrix[0, 0], -matrix[0, 1] / matrix[1, 1]]
    turns = [np.array([[0.0, 1.0], [-restitution, rho * (1.0 + restitution)]]) for rho in ratios]
    return float(np.sqrt(np.abs(np.linalg.eigvals(turns[1] @ turns[0])).max()))


def stepped(setup: Setup, found: EventRun) -> convergence.Curve:
    """Time stepping, compared with the events."""
    angle = float(found.sample(CHECK).q[0, 0])

    def error(steps: SteppedRun) -> float:
        return abs(float(steps.at(CHECK)[0][0]) - angle)

    q, u = MECHANISM.start()
    return convergence.measure(MECHANISM.system(), q, u, CHECK + setup.steps[0], setup.steps, error)


def event_error(found: EventRun) -> float:
    """Change of the crank's angle in rad with a tenth of the tolerance."""
    q, u = MECHANISM.start()
    finer = simulate_events(MECHANISM.system(), q, u, duration=CHECK, relative=1e-13, absolute=1e-13)
    return abs(float(finer.final.q[0] - found.sample(CHECK).q[0, 0]))


class Found(NamedTuple):
    """What the experiment computes."""

    level: EventRun
    tilted: EventRun
    parting: Floats
    curve: convergence.Curve


class SliderWithClearance(Experiment[Setup, Found]):
    """The mechanism with its slider level and tilted."""

    name = "slider-clearance"
    summary = "a slider-crank with clearance in its guide: impacts of the slider's four corners"
    paper = "Flores, Leine and Glocker, translational clearance joints, 2010"
    belongs_to = "studer"
    seconds = (8.0, 15.0)
    FULL = Setup(0.3, tuple(2e-4 * 0.75**k for k in range(12)))
    QUICK = Setup(0.08, tuple(2e-4 * 0.7**k for k in range(6)))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run with the slider level and tilted, twice from nearby initial states, and run time stepping."""
        work.expect(4)
        work.begin("one revolution of the crank")
        level = simulate(DURATION)
        work.begin("with the slider tilted")
        tilted = simulate(CHATTER, tilt=TILT)
        work.begin("with a slightly faster crank")
        parting = _parting(setup.later)
        work.begin("time stepping")
        return Found(level, tilted, parting, stepped(setup, level))

    def data(self, found: Found) -> Data:
        """Events, motion, and errors of time stepping."""
        names = ("crank_angle", "rod_angle", "slider_angle")
        return {
            "events.csv": event_runs.events_table({"level": found.level, "tilted": found.tilted}),
            "motion.csv": event_runs.motion_table(found.level, names),
            "convergence.csv": convergence.table({CURVE: found.curve}),
        }

    def figures(self, found: Found) -> Figures:
        """Motion, path, chatter, sensitivity, energy, and both integrators."""
        level, title = found.level, "A slider-crank with clearance"
        return {
            "motion": _motion(level),
            "path": _path(level),
            "chatter": _chatter(found.tilted),
            "sensitivity": _parting_figure(found.parting),
            "energy": event_runs.energy_figure(level, f"{title}: energies"),
            "convergence": convergence.figure(
                f"{title}: both integrators", {CURVE: found.curve}, event_error(level), "rad"
            ),
        }

    def compare(self, found: Found) -> Rows:
        """First impact, crank angle, energies."""
        level, tilted, parting, curve = found
        touch = first_touch()
        angle = float(level.sample(CHECK).q[0, 0])
        turned = level.final.q[0] / (2.0 * math.pi)
        yield reference_row(
            "first impact", touch, float(level.times(EventKind.IMPACT)[0]), "s", "Radau, two free links:"
        )
        yield reference_row(
            f"crank angle at {CHECK} s", SICONOS_CRANK, angle, "rad",
            "Siconos, Moreau-Jean, extrapolated from 2.5e-6 and 1.25e-6 s:",
        )  # fmt: skip
        yield Comparison("turns of the crank", None, turned, "", f"in {DURATION} s")
        impacts, rests = level.times(EventKind.IMPACT), level.times(EventKind.ACCUMULATION)
        speeds = impact_speeds(tilted)
        shrinks = float(np.sqrt(speeds[-1] / speeds[-3]))  # over both corners
        yield Comparison("impacts", None, len(impacts), "")
        yield Comparison("accumulations of impacts", None, len(rests), "")
        yield Comparison("energy lost", None, level.final.dissipated, "J")
        yield from event_runs.certificate_rows(level)
        yield exact_row("chatter: ratio of impact speeds", chatter_ratio(tilted), shrinks, "")
        yield from event_runs.certificate_rows(tilted, "chatter: ")
        yield exact_row("slider's angle, slider level", 0.0, _largest_tilt(level), "rad")
        yield Comparison(
            f"growth of a difference until {parting[-1, 0]:.2g} s", None,
            float(parting[-1, 1] / (NUDGE * MECHANISM.start()[1][0] * parting[-1, 0])), "",
            "by what constant crank speeds would give",
        )  # fmt: skip
        yield curve.row("order of time stepping", 1.0, CURVE)


def _parting(until: float) -> Floats:
    """Rows (time in s, difference of the crank's angle in rad) of two motions with nearby initial states."""
    one, other = simulate(until), simulate(until, nudge=NUDGE)
    times = np.linspace(0.0, until, 600)
    apart = np.abs(one.sample(times).q[:, 0] - other.sample(times).q[:, 0])
    return np.column_stack([times, apart])


def _largest_tilt(found: EventRun) -> float:
    return float(np.abs(found.sample(np.linspace(0.0, found.final.t, 500)).q[:, 2]).max())


def _motion(found: EventRun) -> Figure:
    """Crank and rod, slider across its guide, normal forces and modes."""
    times = np.linspace(0.0, found.final.t, 1500)
    motion = found.sample(times)
    across = MECHANISM.slider(motion.q)[:, 1] / MECHANISM.clearance
    figure, axes = plots.new_axes((9.0, 10.0), rows=4)
    event_runs.stretch(axes[0], (2.0, 2.5, 2.5, 2.5))
    for column, name, colour in ((0, "crank", BLUE), (1, "rod", GREEN)):
        axes[0].plot(
            1e3 * times, motion.u[:, column], color=colour, linewidth=1.5, label=f"speed of the {name}"
        )
    axes[0].set(ylabel="speed in rad/s", title="one revolution of a slider-crank with clearance")
    axes[1].plot(1e3 * times, across, color=DARK_GREY, linewidth=1.5, label="slider across its guide")
    for side in (-1.0, 1.0):
        axes[1].axhline(side, color=LIGHT_GREY, linewidth=2.0, label="wall" if side > 0.0 else "_")
    for kind in (EventKind.IMPACT, EventKind.ACCUMULATION, EventKind.OPENING):
        at = found.times(kind)
        marker, colour = event_runs.EVENT_MARKS[kind]
        height = MECHANISM.slider(found.sample(at).q)[:, 1] / MECHANISM.clearance
        axes[1].plot(1e3 * at, height, marker, color=colour, markersize=5, label=str(kind))
    axes[1].set(ylabel="y / clearance")
    for force, contact in zip(motion.forces, found.system.contacts, strict=True):
        axes[2].plot(1e3 * times, force[:, 0], color=COLOURS[contact.name], linewidth=1.4, label=contact.name)
    axes[2].set(ylabel="normal force in N")
    event_runs.mode_bars(axes[3], found, unit=1e-3)
    axes[3].set(xlabel="time in ms")
    for ax in axes:
        ax.set_xlim(0.0, 1e3 * found.final.t)
    plots.legend_below(figure, 5)
    return figure


def _path(found: EventRun) -> Figure:
    """The slider's path along and across its guide."""
    figure, (ax,) = plots.new_axes((8.0, 5.4))
    place = 1e3 * MECHANISM.slider(found.sample(np.linspace(0.0, found.final.t, 2000)).q)
    ax.plot(place[:, 0], place[:, 1], color=BLUE, linewidth=1.2, label="centre of the slider")
    at = 1e3 * MECHANISM.slider(found.sample(found.times(EventKind.IMPACT)).q)
    marker, colour = event_runs.EVENT_MARKS[EventKind.IMPACT]
    ax.plot(at[:, 0], at[:, 1], marker, color=colour, markersize=4, label="impact")
    ax.plot(place[0, 0], place[0, 1], "o", color=DARK_GREY, label="start")
    for side in (-1.0, 1.0):
        ax.axhline(side * 1e3 * MECHANISM.clearance, color=LIGHT_GREY, linewidth=2.0)
    ax.set(xlabel="x in mm", ylabel="y in mm", title="the slider in its clearance, one revolution")
    plots.legend_below(figure, 3)
    return figure


def _chatter(tilted: EventRun) -> Figure:
    """Distances of the upper corners from the wall, and the speeds at which they hit it."""
    figure, (left, right) = plots.new_axes((12.0, 5.0), columns=2)
    times = np.linspace(2.5e-3, tilted.final.t, 1500)
    motion = tilted.sample(times)
    for contact in tilted.system.contacts[:2]:
        gaps = [1e6 * contact.gap(q, 0.0) for q in motion.q]
        left.plot(1e3 * times, gaps, color=COLOURS[contact.name], linewidth=1.4, label=f"gap, {contact.name}")
    left.set(xlabel="time in ms", ylabel="gap in µm", title="a tilted slider chatters on the wall")
    speeds, ratio = impact_speeds(tilted), chatter_ratio(tilted)
    count = np.arange(1, len(speeds) + 1)
    right.semilogy(count, speeds, "o", color=BLUE, label="speed of an impact")
    guide = speeds[-1] * ratio ** (count - count[-1])
    right.semilogy(count, guide, "--", color=DARK_GREY, label=f"closed form: ratio {ratio:.4f}")
    right.set(
        xlabel="number of the impact", ylabel="speed in m/s", title="each impact launches the other corner"
    )
    plots.legend_below(figure, 4)
    return figure


def _parting_figure(parting: Floats) -> Figure:
    """Difference of two motions over time."""
    figure, (ax,) = plots.new_axes((8.0, 4.8))
    ax.semilogy(parting[1:, 0], parting[1:, 1], color=BLUE, linewidth=1.2, label="difference of crank angles")
    steady = NUDGE * MECHANISM.start()[1][0] * parting[1:, 0]
    ax.semilogy(parting[1:, 0], steady, "--", color=DARK_GREY, label="at constant crank speeds")
    ax.set(xlabel="time in s", ylabel="difference in rad", title=f"initial speeds that differ by {NUDGE:g}")
    plots.legend_below(figure, 2)
    return figure
