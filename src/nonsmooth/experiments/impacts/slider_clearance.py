"""A slider-crank with clearance: where the slider's corners hit the walls, and what that costs.

The crank starts at 150 rad/s with the slider in the middle of its guide, and nobody drives it on. Inertia
throws the slider from wall to wall; it bounces, comes to rest in infinitely many impacts, slides and leaves.
Tilted a little, it chatters: its two corners hit the wall in turn, each impact throwing the other corner on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.events import EventKind, EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.impacts.event_report import (
    Convergence,
    certificate_rows,
    convergence,
    convergence_figure,
    energy_figure,
    order_row,
)
from nonsmooth.experiments.impacts.event_timeline import (
    EVENT_MARKS,
    mode_bars,
    stretch,
    write_convergence,
    write_events,
    write_motion,
)
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
)
from nonsmooth.model.generalised import Kinematics
from nonsmooth.scenes.closed_form.slider_clearance import CORNERS, SliderClearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MECHANISM = SliderClearance()
DURATION = 0.07
"""s in which the crank turns once."""
TILT, CHATTER = 0.002, 2.695694e-3
"""rad by which the slider is turned at the start of the second run, so that its corners hit one by one, and s
that it takes: 14 impacts, with gaps below 1 nm."""
CHECK = 0.02
"""s after which crank angles are compared."""
SICONOS_CRANK = 1.6133163505828787
"""rad then, by Siconos 4.4.0, Moreau-Jean time stepping, extrapolated from steps of 2.5e-6 and 1.25e-6 s."""
NUDGE = 1e-9
"""Part by which the crank's speed is changed to see how fast motions part."""
CURVE = "crank's angle at 0.02 s"
COLOURS = dict(zip(CORNERS, (BLUE, GREEN, ORANGE, DARK_GREY), strict=True))


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    later: float
    """s up to which two motions that began almost alike are compared."""
    steps: tuple[float, ...]
    """Of time stepping, in s; many, since an error depends on where in a step an event falls."""


FULL = Setup(0.3, tuple(2e-4 * 0.75**k for k in range(12)))
QUICK = Setup(0.08, tuple(2e-4 * 0.7**k for k in range(6)))


def simulate(duration: float, *, tilt: float = 0.0, nudge: float = 0.0) -> EventRun:
    """Let the mechanism run; the slider tilted by an angle (rad), the crank faster by a part."""
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
    """Speeds in m/s with which the corners hit, one for each impact."""
    speeds = []
    for event in run.events:
        if event.kind is EventKind.IMPACT:
            before = run.sample(np.nextafter(event.time, 0.0))
            contact = next(each for each in run.system.contacts if each.name == event.contacts[0])
            speeds.append(-Kinematics(run.system, contact, before.q[0], event.time).velocity(before.u[0])[0])
    return np.array(speeds)


def chatter_ratio(run: EventRun) -> float:
    """By what factor impact speeds shrink when two corners hit in turn, both sliding.

    An impact at one corner with speed s sends it off with e s and throws the other on with ρ (1 + e) s,
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
    # two impacts make a round: each corner throws the other on with its own ρ
    ratios = [-matrix[1, 0] / matrix[0, 0], -matrix[0, 1] / matrix[1, 1]]
    turns = [np.array([[0.0, 1.0], [-restitution, rho * (1.0 + restitution)]]) for rho in ratios]
    return float(np.sqrt(np.abs(np.linalg.eigvals(turns[1] @ turns[0])).max()))


def stepped(setup: Setup, found: EventRun) -> Convergence:
    """Time stepping, against the events."""
    angle = float(found.sample(CHECK).q[0, 0])

    def error(steps: SteppedRun) -> float:
        return abs(float(steps.at(CHECK)[0][0]) - angle)

    q, u = MECHANISM.start()
    return convergence(MECHANISM.system(), q, u, CHECK + setup.steps[0], setup.steps, error)


def event_error(found: EventRun) -> float:
    """What a tenth of the tolerance changes in the crank's angle, in rad."""
    q, u = MECHANISM.start()
    finer = simulate_events(MECHANISM.system(), q, u, duration=CHECK, relative=1e-13, absolute=1e-13)
    return abs(float(finer.final.q[0] - found.sample(CHECK).q[0, 0]))


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    setup = QUICK if quick else FULL
    pieces = Pieces(progress, 5)
    pieces.begin("a turn of the crank")
    found = simulate(DURATION)
    pieces.begin("with the slider tilted")
    tilted = simulate(CHATTER, tilt=TILT)
    pieces.begin("with the crank a little faster")
    parting = _parting(setup.later)
    pieces.begin("time stepping")
    curve = stepped(setup, found)
    pieces.begin("data and figures")
    names = ("crank_angle", "rod_angle", "slider_angle")
    title = "A slider-crank with clearance: both integrators"
    files = [
        write_events(folder / "events.csv", {"level": found, "tilted": tilted}),
        write_motion(folder / "motion.csv", found, names),
        write_convergence(folder / "convergence.csv", {CURVE: curve}),
        save_figure(_motion(found), folder / "motion.png"),
        save_figure(_path(found), folder / "path.png"),
        save_figure(_chatter(tilted), folder / "chatter.png"),
        save_figure(_parting_figure(parting), folder / "sensitivity.png"),
        save_figure(energy_figure(found, "A slider-crank with clearance: energies"), folder / "energy.png"),
        save_figure(
            convergence_figure(title, {CURVE: curve}, event_error(found), "rad"), folder / "convergence.png"
        ),
    ]
    rows = compare(found, tilted, parting, curve)
    summary = Summary(SLIDER_CLEARANCE.name, SLIDER_CLEARANCE.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def _parting(until: float) -> Floats:
    """Rows (time in s, difference of the crank's angle in rad) of two motions that began almost alike."""
    one, other = simulate(until), simulate(until, nudge=NUDGE)
    times = np.linspace(0.0, until, 600)
    apart = np.abs(one.sample(times).q[:, 0] - other.sample(times).q[:, 0])
    return np.column_stack([times, apart])


def compare(found: EventRun, tilted: EventRun, parting: Floats, curve: Convergence) -> list[Comparison]:
    """First impact, crank angle, energies."""
    touch = first_touch()
    angle = float(found.sample(CHECK).q[0, 0])
    turned = found.final.q[0] / (2.0 * math.pi)
    rows = [
        Comparison.with_reference(
            "first impact", touch, float(found.times(EventKind.IMPACT)[0]), "s", "Radau, two free links:"
        ),
        Comparison.with_reference(
            f"crank angle at {CHECK} s", SICONOS_CRANK, angle, "rad",
            "Siconos, Moreau-Jean, extrapolated from 2.5e-6 and 1.25e-6 s:",
        ),
        Comparison("turns of the crank", None, turned, "", f"in {DURATION} s"),
    ]  # fmt: skip
    impacts, rests = found.times(EventKind.IMPACT), found.times(EventKind.ACCUMULATION)
    speeds = impact_speeds(tilted)
    shrinks = float(np.sqrt(speeds[-1] / speeds[-3]))  # over both corners
    rows += [
        Comparison("impacts", None, len(impacts), ""),
        Comparison("accumulations of impacts", None, len(rests), ""),
        Comparison("energy lost", None, found.final.dissipated, "J"),
        *certificate_rows(found),
        Comparison.with_closed_form("chatter: ratio of impact speeds", chatter_ratio(tilted), shrinks, ""),
        *certificate_rows(tilted, "chatter: "),
        Comparison.with_closed_form("slider's angle, slider level", 0.0, _largest_tilt(found), "rad"),
        Comparison(
            f"growth of a difference until {parting[-1, 0]:.2g} s", None,
            float(parting[-1, 1] / (NUDGE * MECHANISM.start()[1][0] * parting[-1, 0])), "",
            "by what the same crank speeds, kept up, would give",
        ),
        order_row("order of time stepping", 1.0, curve, CURVE),
    ]  # fmt: skip
    return rows


def _largest_tilt(found: EventRun) -> float:
    return float(np.abs(found.sample(np.linspace(0.0, found.final.t, 500)).q[:, 2]).max())


def _motion(found: EventRun) -> Figure:
    """Crank and rod, slider across its guide, normal forces and modes."""
    times = np.linspace(0.0, found.final.t, 1500)
    motion = found.sample(times)
    across = MECHANISM.slider(motion.q)[:, 1] / MECHANISM.clearance
    figure, axes = new_axes((9.0, 10.0), rows=4)
    stretch(axes[0], (2.0, 2.5, 2.5, 2.5))
    for column, name, colour in ((0, "crank", BLUE), (1, "rod", GREEN)):
        axes[0].plot(
            1e3 * times, motion.u[:, column], color=colour, linewidth=1.5, label=f"speed of the {name}"
        )
    axes[0].set(ylabel="speed in rad/s", title="a turn of a slider-crank with clearance")
    axes[1].plot(1e3 * times, across, color=DARK_GREY, linewidth=1.5, label="slider across its guide")
    for side in (-1.0, 1.0):
        axes[1].axhline(side, color=LIGHT_GREY, linewidth=2.0, label="wall" if side > 0.0 else "_")
    for kind in (EventKind.IMPACT, EventKind.ACCUMULATION, EventKind.OPENING):
        at = found.times(kind)
        marker, colour = EVENT_MARKS[kind]
        height = MECHANISM.slider(found.sample(at).q)[:, 1] / MECHANISM.clearance
        axes[1].plot(1e3 * at, height, marker, color=colour, markersize=5, label=str(kind))
    axes[1].set(ylabel="y / clearance")
    for force, contact in zip(motion.forces, found.system.contacts, strict=True):
        axes[2].plot(1e3 * times, force[:, 0], color=COLOURS[contact.name], linewidth=1.4, label=contact.name)
    axes[2].set(ylabel="normal force in N")
    mode_bars(axes[3], found, unit=1e-3)
    axes[3].set(xlabel="time in ms")
    for ax in axes:
        ax.set_xlim(0.0, 1e3 * found.final.t)
    legend_below(figure, 5)
    return figure


def _path(found: EventRun) -> Figure:
    """The slider's way along and across its guide."""
    figure, (ax,) = new_axes((8.0, 5.4))
    place = 1e3 * MECHANISM.slider(found.sample(np.linspace(0.0, found.final.t, 2000)).q)
    ax.plot(place[:, 0], place[:, 1], color=BLUE, linewidth=1.2, label="centre of the slider")
    at = 1e3 * MECHANISM.slider(found.sample(found.times(EventKind.IMPACT)).q)
    marker, colour = EVENT_MARKS[EventKind.IMPACT]
    ax.plot(at[:, 0], at[:, 1], marker, color=colour, markersize=4, label="impact")
    ax.plot(place[0, 0], place[0, 1], "o", color=DARK_GREY, label="start")
    for side in (-1.0, 1.0):
        ax.axhline(side * 1e3 * MECHANISM.clearance, color=LIGHT_GREY, linewidth=2.0)
    ax.set(xlabel="x in mm", ylabel="y in mm", title="the slider in its clearance, a turn of the crank")
    legend_below(figure, 3)
    return figure


def _chatter(tilted: EventRun) -> Figure:
    """Distances of the upper corners from the wall, and the speeds with which they hit it."""
    figure, (left, right) = new_axes((12.0, 5.0), columns=2)
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
    right.semilogy(count, guide, "--", color=DARK_GREY, label=f"closed form: each {ratio:.4f} of the last")
    right.set(
        xlabel="number of the impact", ylabel="speed in m/s", title="each impact throws the other corner on"
    )
    legend_below(figure, 4)
    return figure


def _parting_figure(parting: Floats) -> Figure:
    """Difference of two motions over time."""
    figure, (ax,) = new_axes((8.0, 4.8))
    ax.semilogy(parting[1:, 0], parting[1:, 1], color=BLUE, linewidth=1.2, label="difference of crank angles")
    steady = NUDGE * MECHANISM.start()[1][0] * parting[1:, 0]
    ax.semilogy(parting[1:, 0], steady, "--", color=DARK_GREY, label="at constant crank speeds")
    ax.set(
        xlabel="time in s", ylabel="difference in rad", title=f"two starts whose speeds differ by {NUDGE:g}"
    )
    legend_below(figure, 2)
    return figure


SLIDER_CLEARANCE = Experiment(
    "slider-clearance",
    "a slider-crank with clearance in its guide: impacts of the slider's four corners",
    "Flores, Leine and Glocker, translational clearance joints, 2010",
    run,
)
