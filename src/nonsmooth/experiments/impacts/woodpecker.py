"""The woodpecker toy: its periodic solution, event by event.

While the sleeve is jammed at its lower edge, the bird alone moves, and when it turns back at the bottom of
its swing everything is at rest for an instant. There, one number describes the state: the bird's angle. So
the toy is a map of one number to the next (Leine, Glocker and van Campen 2001), and its periodic solution a
fixed point of that map, which a secant iteration finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventKind, EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.experiments.summary import Comparison, exact_row, paper_row, reference_row
from nonsmooth.scenes.closed_form.woodpecker import BEAK, LOWER, UPPER, Woodpecker

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TOY = Woodpecker()
LONGEST, NEAR = 0.26, 0.16
"""Time in s within which the bird returns to the bottom: from any state near the periodic solution."""
GUESSES = (-0.53, -0.528)
"""Initial angle in rad of the secant iteration."""
CLOSE = 1e-11
"""Tolerance in rad of a fixed point of the map."""
ROUNDS = 12
PUBLISHED = np.array([-0.2788, -0.3411, -7.4583])
"""φ_S, ẏ, φ̇_S of the periodic motion while the sleeve slides down on its lower edge: the start of the toy's
examples in Siconos and cardillo, both after Glocker."""
PECKING = {"y": -0.0413481867682806, "bird's angle": -0.340933975552258, "sleeve's speed": -0.260137330789610}
"""Siconos' own reference solution of its example WoodPecker at t = 0.29998 s, with a time step of 2e-5 s."""
PECKING_TIME = 0.29998
SICONOS_PERIOD, SICONOS_DROP = 0.14597670700028148, 0.019446042447931387
"""Period in s and drop in m from our fixed point, by Siconos 4.4.0, Moreau-Jean time stepping with 1e-6 s."""
COLOURS = {BEAK: GREEN, LOWER: BLUE, UPPER: ORANGE}
PECK = 0.06
"""Duration of time stepping in s: up to the beak's impact and beyond."""
CURVE = "sleeve's angle, mean"


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    angles: int
    """Number of points at which the map is drawn."""
    periods: int
    """Number of periods that are simulated from the fixed point."""
    steps: tuple[float, ...]
    """Steps of time stepping, in s; many, since an error depends on where in a step an event falls."""


@dataclass(frozen=True)
class Return:
    """The bird at the bottom of its swing after a period."""

    time: float
    """s"""
    angle: float
    """φ_S in rad."""
    height: float
    """y in m, from zero at the start."""
    run: EventRun


def back_at_the_bottom(angle: float, within: float = LONGEST, **options: Any) -> Return | None:
    """The map: release at rest at an angle (rad) and return the next such state; None if there is none.

    Args:
        angle: φ_S at the start.
        within: longest time in s.
        **options: tolerances of `EventOptions`.
    """
    run = simulate_events(TOY.system(), *TOY.at_rest(angle), duration=within, **options)
    slips = run.times(EventKind.SLIP, LOWER)

    def spin(t: float) -> float:
        return float(run.sample(t).u[0, 2])

    for begin in run.times(EventKind.STICK, LOWER):
        end = float(np.append(slips[slips > begin], run.final.t)[0])
        inside = end - 1e-9 * (end - begin)
        if spin(begin) < 0.0 < spin(inside):
            time = float(brentq(spin, begin, inside, xtol=1e-15))
            there = run.sample(time).q[0]
            return Return(time, float(there[2]), float(there[0]), run)
    return None


@dataclass(frozen=True)
class Periodic:
    """The fixed point of the map."""

    back: Return
    """The state after one period."""
    slope: float
    """Slope of the map there: the factor by which a small deviation grows in a period."""


def periodic() -> Periodic:
    """Find the fixed point by the secant method."""
    older, newer = GUESSES
    missed = _return(older).angle - older
    for _ in range(ROUNDS):
        back = _return(newer)
        miss = back.angle - newer
        slope = (miss - missed) / (newer - older)
        if abs(miss) < CLOSE:
            return Periodic(back, 1.0 + slope)
        older, newer, missed = newer, newer - miss / slope, miss
    raise RuntimeError(f"no fixed point of the map within {ROUNDS} rounds: the last miss was {miss:.3g} rad")


def _return(angle: float) -> Return:
    found = back_at_the_bottom(angle, within=NEAR)
    if found is None:
        raise RuntimeError(f"the bird released at {angle:.6g} rad does not come back within {NEAR} s")
    return found


def sliding_down(cycle: Return) -> Floats:
    """ẏ and φ̇_S where the periodic motion has the published angle, with the sleeve on its lower edge."""
    run = cycle.run
    landings = run.times(EventKind.IMPACT, LOWER)
    begin = float(landings[landings < cycle.time][-1])
    end = float(run.times(EventKind.STICK, LOWER)[0])
    time = brentq(lambda t: float(run.sample(t).q[0, 2]) - PUBLISHED[0], begin, end, xtol=1e-14)
    return run.sample(time).u[0, [0, 2]]


def stepped(setup: Setup, found: EventRun) -> convergence.Curve:
    """Time stepping through a peck, compared with the events."""

    def error(steps: SteppedRun) -> float:
        return _apart(steps.q, found.sample(steps.time).q)

    start = found.start
    return convergence.measure(TOY.system(), start.q, start.u, PECK, setup.steps, error)


def event_error(found: EventRun) -> float:
    """Change of the same quantity in rad with a tenth of the tolerance."""
    finer = simulate_events(
        TOY.system(), found.start.q, found.start.u, duration=PECK, relative=1e-13, absolute=1e-13
    )
    times = np.linspace(0.0, PECK, 500)
    return _apart(finer.sample(times).q, found.sample(times).q)


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one[:, 1] - other[:, 1]).mean())


class Found(NamedTuple):
    """What the experiment computes."""

    run: EventRun
    solution: Periodic
    poisson: EventRun
    table: Floats
    curve: convergence.Curve


class WoodpeckerToy(Experiment[Setup, Found]):
    """The periodic solution, its map, and other integrators for comparison."""

    name = "woodpecker"
    summary = "the woodpecker toy: its periodic solution, with all impacts, sticking and sliding"
    paper = "Glocker 1995; Leine, Glocker and van Campen, nonlinear dynamics of the woodpecker toy, 2001"
    belongs_to = "studer"
    seconds = (15.0, 180.0)
    FULL = Setup(60, 6, tuple(2e-4 * 0.925**k for k in range(36)))
    QUICK = Setup(4, 2, tuple(2e-4 * 0.7**k for k in range(4)))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Find the periodic solution, run it under both laws, draw the map, and run time stepping."""
        work.expect(5)
        work.begin("fixed point of the map")
        solution = periodic()
        start, period = TOY.at_rest(solution.back.angle), solution.back.time
        work.begin(f"{setup.periods} periods")
        run = simulate_events(TOY.system(), *start, duration=setup.periods * period)
        work.begin("Poisson's law of impact")
        poisson = simulate_events(TOY.system(), *start, duration=period, impact="poisson")
        work.begin(f"the map at {setup.angles} angles")
        table = return_map(setup.angles)
        work.begin("time stepping")
        return Found(run, solution, poisson, table, stepped(setup, run))

    def data(self, found: Found) -> Data:
        """Events, motion, the map, and errors of time stepping."""
        return {
            "events.csv": event_runs.events_table({"periodic": found.run}),
            "motion.csv": event_runs.motion_table(found.run, ("y", "sleeve_angle", "bird_angle")),
            "map.csv": Table(("angle_rad", "next_angle_rad", "time_s", "height_m"), found.table.tolist()),
            "convergence.csv": convergence.table({CURVE: found.curve}),
        }

    def figures(self, found: Found) -> Figures:
        """Motion, phase portraits, the map, energy, and both integrators."""
        run, cycle, title = found.run, found.solution.back, "The woodpecker toy"
        both = f"{title}: both integrators through a peck"
        return {
            "motion": _motion(run, cycle),
            "phase_portraits": _portraits(run, cycle),
            "map": _map_figure(found.table, cycle.angle),
            "energy": event_runs.energy_figure(run, f"{title}: energies"),
            "convergence": convergence.figure(both, {CURVE: found.curve}, event_error(run), "rad"),
        }

    def compare(self, found: Found) -> Rows:
        """Compare the periodic solution with its own laws, Siconos and the published state."""
        run, solution, poisson, _, curve = found
        cycle, source = solution.back, "Siconos, Moreau-Jean, 1e-6 s:"
        down, spin = sliding_down(cycle)
        moved = cycle.angle - float(cycle.run.start.q[2])
        yield reference_row("period", SICONOS_PERIOD, cycle.time, "s", source)
        yield reference_row("drop in a period", SICONOS_DROP, -cycle.height, "m", source)
        yield Comparison(
            "angle of the bird at the bottom", None, cycle.angle, "rad", "fixed point of the map"
        )
        yield exact_row("change of that angle in a period", 0.0, moved, "rad")
        yield Comparison(
            "factor by which deviations grow in a period", None, solution.slope, "",
            "stable, since it is between −1 and 1",
        )  # fmt: skip
        yield paper_row("speed of the sleeve at φ_S = −0.2788", PUBLISHED[1], down, "m/s")
        yield paper_row("speed of the bird at φ_S = −0.2788", PUBLISHED[2], spin, "rad/s")
        yield from _sequence(cycle)
        impacts, friction = losses(run, cycle.time)
        weight = (TOY.bird_mass + TOY.sleeve_mass) * TOY.gravity
        yield exact_row(
            "energy lost in a period", -weight * cycle.height, impacts + friction, "J",
            "weight times drop",
        )  # fmt: skip
        yield Comparison("fraction of it lost in impacts", None, impacts / (impacts + friction), "")
        yield exact_row(
            f"difference of y after {round(run.final.t / cycle.time)} periods", 0.0,
            return_error(run, cycle), "m",
        )  # fmt: skip
        yield _laws(cycle.run, poisson)
        yield from _pecking()
        yield from event_runs.certificate_rows(run)
        yield curve.row("order of time stepping", 1.0, CURVE)


def return_map(count: int) -> Floats:
    """Rows (angle, next angle, time, height) over the angles from which the toy continues to peck."""
    rows = []
    for angle in np.linspace(-0.75, -0.38, count):
        back = back_at_the_bottom(float(angle), relative=1e-8, absolute=1e-10)
        rows.append((angle, *((back.angle, back.time, back.height) if back else (np.nan,) * 3)))
    return np.array(rows)


def return_error(found: EventRun, cycle: Return) -> float:
    """Difference in m of the total drop from that of the first period repeated."""
    periods = round(found.final.t / cycle.time)
    return abs(float(found.final.q[0]) - periods * cycle.height)


def losses(run: EventRun, until: float) -> tuple[float, float]:
    """Energy in J dissipated by impacts and friction up to a time (s)."""
    times = run.times(EventKind.IMPACT)
    times = times[times <= until]
    before = run.energy(np.nextafter(times, 0.0)).dissipated
    impacts = float((run.energy(times).dissipated - before).sum())
    return impacts, float(run.energy(until).dissipated[0]) - impacts


def _sequence(cycle: Return) -> list[Comparison]:
    """The events of a period, in order."""
    return [
        Comparison(f"event {k + 1}: {event.kind} of the {event.contacts[0]}", None, event.time, "s")
        for k, event in enumerate(event for event in cycle.run.events if event.time < cycle.time)
    ]


def _laws(newton: EventRun, poisson: EventRun) -> Comparison:
    """Largest difference of event times in a period under the two laws of impact."""
    ours = newton.times()[newton.times() < poisson.final.t]
    other = poisson.times()
    apart = float(np.abs(ours - other).max()) if len(ours) == len(other) else np.nan
    return exact_row(
        "difference of event times, Newton's and Poisson's law", 0.0, apart, "s",
        "equal if one contact is hit at a time and keeps sliding",
    )  # fmt: skip


def _pecking() -> list[Comparison]:
    """Compare with the reference solution of Siconos from the published state."""
    run = simulate_events(
        TOY.system(),
        [0.0, -TOY.jam_angle, PUBLISHED[0]],
        [PUBLISHED[1], 0.0, PUBLISHED[2]],
        duration=PECKING_TIME,
    )
    ours = (run.final.q[0], run.final.q[2], run.final.u[0])
    return [
        reference_row(
            f"{name} {PECKING_TIME} s after the published state", value, float(mine), unit,
            "Siconos' example, 2e-5 s:",
        )
        for (name, value), mine, unit in zip(PECKING.items(), ours, ("m", "rad", "m/s"), strict=True)
    ]  # fmt: skip


def _motion(found: EventRun, cycle: Return) -> Figure:
    """Coordinates, normal forces and modes over two periods."""
    end = 2.0 * cycle.time
    times = np.linspace(0.0, end, 1500)
    motion = found.sample(times)
    figure, axes = plots.new_axes((9.0, 10.0), rows=4)
    event_runs.stretch(axes[0], (2.0, 3.0, 2.5, 1.8))
    axes[0].plot(
        1e3 * times, 1e3 * motion.q[:, 0], color=DARK_GREY, linewidth=1.5, label="height y of the sleeve"
    )
    axes[0].set(ylabel="y in mm", title="two periods of the woodpecker toy", xlim=(0.0, 1e3 * end))
    for column, name, colour in ((1, "sleeve φ_M", BLUE), (2, "bird φ_S", ORANGE)):
        axes[1].plot(1e3 * times, motion.q[:, column], color=colour, linewidth=1.5, label=name)
    for level, name in (
        (TOY.jam_angle, "an edge of the sleeve touches"), (-TOY.jam_angle, ""),
        (TOY.peck_angle, "the beak touches"),
    ):  # fmt: skip
        style = ":" if name.startswith("the beak") else "--"
        axes[1].axhline(level, color=LIGHT_GREY, linestyle=style, linewidth=1.2, label=name or "_")
    axes[1].set(ylabel="angle in rad", xlim=(0.0, 1e3 * end))
    for force, contact in zip(motion.forces, found.system.contacts, strict=True):
        colour = COLOURS[contact.name]
        axes[2].plot(
            1e3 * times, force[:, 0], color=colour, linewidth=1.4, label=f"normal force, {contact.name}"
        )
    axes[2].set(ylabel="force in N", xlim=(0.0, 1e3 * end))
    event_runs.mode_bars(axes[3], found, 0.0, end, unit=1e-3)
    axes[3].set(xlabel="time in ms")
    plots.legend_below(figure, 4)
    return figure


def _portraits(found: EventRun, cycle: Return) -> Figure:
    """Speed over angle of sleeve and bird, coloured by which edge of the sleeve touches."""
    times = np.linspace(0.0, cycle.time, 2000)
    motion = found.sample(times)
    figure, axes = plots.new_axes((12.0, 5.6), columns=2)
    state = np.select(
        [motion.modes[:, 1] == 2, motion.modes[:, 1] == 1, motion.modes[:, 2] > 0], [0, 1, 2], default=3
    )
    looks = (
        (0, BLUE, "lower edge sticks"), (1, ORANGE, "lower edge slides"), (2, GREEN, "upper edge slides"),
        (3, LIGHT_GREY, "no edge touches"),
    )  # fmt: skip
    for ax, column, name in zip(axes, (1, 2), ("sleeve, φ_M", "bird, φ_S"), strict=True):
        ax.plot(motion.q[:, column], motion.u[:, column], color="#E0E0E0", linewidth=0.8, zorder=1)
        for value, colour, label in looks:
            own = state == value
            ax.plot(
                np.where(own, motion.q[:, column], np.nan), np.where(own, motion.u[:, column], np.nan),
                color=colour, linewidth=1.8, label=label, zorder=2,
            )  # fmt: skip
        impacts = found.times(EventKind.IMPACT)
        after = found.sample(impacts[impacts < cycle.time])
        ax.plot(
            after.q[:, column],
            after.u[:, column],
            "o",
            color=RED,
            markersize=5,
            label="after an impact",
            zorder=3,
        )
        ax.set(xlabel=f"angle of the {name} in rad", ylabel="its rate in rad/s", title=name.split(",")[0])
    axes[0].axvline(-TOY.jam_angle, color=DARK_GREY, linewidth=0.8, linestyle=":")
    axes[0].axvline(TOY.jam_angle, color=DARK_GREY, linewidth=0.8, linestyle=":")
    axes[1].axvline(TOY.peck_angle, color=DARK_GREY, linewidth=0.8, linestyle=":")
    plots.legend_below(figure, 5)
    return figure


def _map_figure(table: Floats, angle: float) -> Figure:
    """The next angle over the last one, and the diagonal."""
    figure, (ax,) = plots.new_axes((7.0, 6.0))
    ends = [-0.78, -0.35]
    ax.plot(ends, ends, "--", color=DARK_GREY, linewidth=1.0, label="identity")
    ax.plot(table[:, 0], table[:, 1], "o-", color=BLUE, markersize=3.5, linewidth=1.0, label="the map")
    ax.plot([angle], [angle], "o", color=RED, markersize=8, label=f"periodic solution, {angle:.6f} rad")
    ax.set(xlabel="bird's angle at the bottom in rad", ylabel="next angle in rad", xlim=ends)
    ax.set_title("the woodpecker toy as a map of one number")
    plots.legend_below(figure, 2)
    return figure
