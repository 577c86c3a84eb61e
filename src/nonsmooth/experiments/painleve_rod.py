"""Painlevé's rod: where accelerations have one, none or two solutions, and what the integrator makes of it.

A homogeneous rod slides on its tip, which is ahead. Above μ = 4/3 the plane of angle and spin has four
regions (Génot and Brogliato 1999). Every contact mode is tried on a grid and compared with the closed forms
of their borders; then rods are let go in each of the regions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from nonsmooth.experiments._event_report import (
    Convergence,
    certificate_rows,
    convergence,
    convergence_figure,
    energy_figure,
)
from nonsmooth.experiments._event_timeline import mode_bars, write_convergence, write_events, write_motion
from nonsmooth.experiments._granular import Pieces
from nonsmooth.experiments._output import (
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
from nonsmooth.experiments.base import Comparison, Experiment, Progress, Summary
from nonsmooth.integrators.events import EventKind, EventRun, SteppedRun, simulate_events
from nonsmooth.problem.acceleration import AccelerationLevel
from nonsmooth.scenes.sliding_rod import CRITICAL_FRICTION, Region, SlidingRod
from nonsmooth.solvers.enumeration import Mode, ModeSolution, all_solutions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

ROD = SlidingRod()
SAFE = SlidingRod(friction=1.3)
"""A rod whose friction is below the critical one."""
ANGLES, SPINS = (0.02, 1.55), (-7.0, 7.0)
"""rad and rad/s of the map."""
DURATION = 0.3
SPEED = 3.0
"""m/s of the tip at the start."""
STARTS = {
    "below the critical friction": (SAFE, 0.9, 0.0),
    Region.SLIDING: (ROD, 0.3, 0.0),
    Region.LIFT_OFF: (ROD, 0.4, 6.0),
    "sliding until it lifts off": (ROD, 0.4, 4.6),
    Region.INCONSISTENT: (ROD, 0.9, 0.0),
    Region.INDETERMINATE: (ROD, 0.9, 5.0),
}
"""Rod, angle (rad) and spin (rad/s) of every start."""
APPROACHES = (0.5, 1.0, 2.0, 3.0)
"""Spins in rad/s from which the rod slides into the singular point."""
APPROACH_ANGLE, APPROACH_SPEED = 0.5, 20.0
FIT = (1e-7, 1e-3)
"""G m of the part of such a way over which its exponent is measured."""
COLOURS = {
    Region.SLIDING: "#CFE3F1", Region.LIFT_OFF: "#D3EFE4", Region.INCONSISTENT: "#F3C6B5",
    Region.INDETERMINATE: "#F4E3B2",
}  # fmt: skip
LINES = (DARK_GREY, BLUE, GREEN, "#56B4E9", RED, ORANGE)
CURVE = "angle 0.3 s after the jump"


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    grid: int
    """Angles and spins of the map."""
    approaches: int
    """Of the ways into the singular point."""
    steps: tuple[float, ...]
    """Of time stepping, in s."""


FULL = Setup(80, 4, tuple(4e-3 * 0.7**k for k in range(9)))
QUICK = Setup(24, 2, tuple(4e-3 * 0.7**k for k in range(5)))


def solutions(rod: SlidingRod, angle: float, spin: float) -> list[ModeSolution]:
    """Every acceleration of a rod that slides to the right."""
    return all_solutions(AccelerationLevel.of(rod.system(), *rod.sliding(angle, spin, SPEED)))


def region_found(rod: SlidingRod, angle: float, spin: float) -> Region:
    """The region by enumeration."""
    modes = sorted(str(each.modes[0]) for each in solutions(rod, angle, spin))
    named = {
        (): Region.INCONSISTENT,
        (str(Mode.OPEN),): Region.LIFT_OFF,
        (str(Mode.SLIDE),): Region.SLIDING,
        (str(Mode.OPEN), str(Mode.SLIDE)): Region.INDETERMINATE,
    }
    return named[tuple(modes)]


def region_map(rod: SlidingRod, count: int) -> tuple[Floats, Floats, list[list[Region]]]:
    """Angles, spins and the region found at each pair: a row for each spin."""
    angles, spins = np.linspace(*ANGLES, count), np.linspace(*SPINS, count)
    found = [[region_found(rod, float(angle), float(spin)) for angle in angles] for spin in spins]
    return angles, spins, found


def critical_friction() -> float:
    """μ from which on the smallest G that accelerations have is negative."""

    def smallest(mu: float) -> float:
        rod = SlidingRod(friction=mu)

        def compliance(angle: float) -> float:
            q, u = rod.sliding(angle, 0.0, SPEED)
            return float(AccelerationLevel.of(rod.system(), q, u).matrix[0, 0])

        return float(
            minimize_scalar(compliance, bounds=(0.5, 1.5), method="bounded", options={"xatol": 1e-9}).fun
        )

    return float(brentq(smallest, 1.0, 2.0, xtol=1e-12))


def let_go(name: str) -> EventRun:
    """Simulate from one of the starts."""
    rod, angle, spin = STARTS[name]
    return simulate_events(rod.system(), *rod.sliding(angle, spin, SPEED), DURATION)


def approach(spin: float) -> EventRun:
    """Slide into the singular point, where forces grow without bound.

    There the integrator gives up, or finds two solutions: rounding decides on which side it comes to be.
    """
    start = ROD.sliding(APPROACH_ANGLE, spin, APPROACH_SPEED)
    return simulate_events(ROD.system(), *start, DURATION, relative=1e-8, absolute=1e-12)


def arrival(run: EventRun) -> float:
    """Time in s at which sliding ends."""
    return run.events[0].time if run.events else run.final.t


def on_the_way(run: EventRun) -> tuple[Floats, Floats, Floats]:
    """Times in s at the ends of steps, G in 1/kg and c in m/s² there."""
    times = np.array([piece.end for piece in run.pieces])
    times = times[times < arrival(run)]
    motion = run.sample(times)
    return times, ROD.compliance(motion.q[:, 2]), ROD.free_acceleration(motion.q[:, 2], motion.u[:, 2])


def exponent(run: EventRun) -> float:
    """Slope of log(−c) over log G on the last part of the way."""
    _, compliance, free = on_the_way(run)
    inside = (compliance * ROD.mass > FIT[0]) & (compliance * ROD.mass < FIT[1])
    return float(np.polyfit(np.log(compliance[inside]), np.log(-free[inside]), 1)[0])


def stepped(setup: Setup, found: EventRun) -> Convergence:
    """Time stepping from the start without solution."""

    def error(steps: SteppedRun) -> float:
        return abs(float(steps.at(DURATION)[0][2] - found.final.q[2]))

    start = found.start
    return convergence(ROD.system(), start.q, start.u, DURATION + setup.steps[0], setup.steps, error)


def swing_error(found: EventRun) -> float:
    """rad by which the angle at the end differs from that of a rod that turns about its tip after the jump.

    Energy gives ω(θ), and the integral of 1/ω the time at which the rod is at the angle found.
    """
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    after, _, _ = rod.jump(angle, spin, SPEED)
    fall = 1.5 * rod.gravity / rod.half_length  # of ω² over sin θ, from ½ (4/3) m l² ω² + m g l sin θ

    def speed(theta: float) -> float:
        return math.sqrt(after[2] ** 2 - fall * (math.sin(theta) - math.sin(angle)))

    end = float(found.final.q[2])
    time, _ = quad(lambda theta: 1.0 / speed(theta), angle, end, epsabs=1e-14, epsrel=1e-13)
    return abs(float(time) - DURATION) * speed(end)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    prepare_folder(folder)
    setup = QUICK if quick else FULL
    pieces = Pieces(progress, 5)
    pieces.begin("the regions, mode by mode")
    maps = {rod.friction: region_map(rod, setup.grid) for rod in (SAFE, ROD)}
    pieces.begin("a rod in every region")
    runs = {name: let_go(name) for name in STARTS}
    pieces.begin("into the singular point")
    ways = {spin: approach(spin) for spin in APPROACHES[: setup.approaches]}
    pieces.begin("time stepping")
    jumped = runs[Region.INCONSISTENT]
    curve = stepped(setup, jumped)
    pieces.begin("data and figures")
    title = "Painlevé's rod: both integrators past the jump"
    files = [
        _write_map(folder / "map.csv", maps[ROD.friction]),
        write_events(folder / "events.csv", runs),
        write_motion(folder / "motion_no_solution.csv", jumped, ("x", "y", "angle")),
        write_convergence(folder / "convergence.csv", {CURVE: curve}),
        save_figure(_map_figure(maps[ROD.friction], runs, ways), folder / "map.png"),
        save_figure(_motion(runs), folder / "motion.png"),
        save_figure(_jump_figure(jumped), folder / "jump.png"),
        save_figure(_singular_figure(ways), folder / "singular_point.png"),
        save_figure(
            energy_figure(jumped, "Painlevé's rod, start without solution: energies"), folder / "energy.png"
        ),
        save_figure(
            convergence_figure(title, {CURVE: curve}, swing_error(jumped), "rad"), folder / "convergence.png"
        ),
    ]
    rows = compare(maps, runs, ways, curve)
    summary = Summary(PAINLEVE_ROD.name, PAINLEVE_ROD.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def compare(
    maps: Mapping[float, tuple[Floats, Floats, list[list[Region]]]],
    runs: Mapping[str, EventRun],
    ways: Mapping[float, EventRun],
    curve: Convergence,
) -> list[Comparison]:
    """Regions, jumps and the singular point against closed forms."""
    rows = [
        Comparison.with_closed_form("critical friction", CRITICAL_FRICTION, critical_friction(), ""),
        *_map_rows(maps),
        *_jump_rows(runs[Region.INCONSISTENT]),
        *_other_rows(runs),
        *_singular_rows(ways),
    ]
    for name, found in runs.items():
        rows.append(certificate_rows(found, f"{name}: ")[0])
    rows.append(Comparison.with_closed_form("order of time stepping", 1.0, curve.order, "", CURVE))
    return rows


def _map_rows(maps: Mapping[float, tuple[Floats, Floats, list[list[Region]]]]) -> list[Comparison]:
    """How often enumeration and closed form disagree, and how large the regions are."""
    rows = []
    for rod in (SAFE, ROD):
        angles, spins, found = maps[rod.friction]
        pairs = [
            (rod.region(float(angle), float(spin)), region)
            for spin, line in zip(spins, found, strict=True)
            for angle, region in zip(angles, line, strict=True)
        ]
        wrong = sum(expected is not region for expected, region in pairs)
        rows.append(
            Comparison.with_closed_form(
                f"points of the map whose region differs, μ = {rod.friction}", 0, wrong, "",
                f"of {len(pairs)}",
            )
        )  # fmt: skip
        counted = Counter(region for _, region in pairs)
        paradoxical = counted[Region.INCONSISTENT] + counted[Region.INDETERMINATE]
        rows.append(
            Comparison(
                f"part of the map with no or two solutions, μ = {rod.friction}", None,
                paradoxical / len(pairs), "",
            )
        )  # fmt: skip
    return rows


def _jump_rows(found: EventRun) -> list[Comparison]:
    """The impact without collision, and what follows."""
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    after, impulses, lost = rod.jump(angle, spin, SPEED)
    first = found.events[0]
    ours = found.sample(0.0).u[0]
    name = "impact without collision: "
    rows = [
        Comparison.with_closed_form(
            f"{name}event",
            1,
            int(first.kind is EventKind.IMPACT_WITHOUT_COLLISION),
            "",
            "1: reported, 0: not",
        )
    ]
    for k, (what, unit) in enumerate((("speed along", "m/s"), ("speed up", "m/s"), ("spin", "rad/s"))):
        rows.append(Comparison.with_closed_form(f"{name}{what}", float(after[k]), float(ours[k]), unit))
    for k, what in enumerate(("normal", "friction")):
        value = float(first.impulses[0][k])
        rows.append(Comparison.with_closed_form(f"{name}{what} impulse", float(impulses[k]), value, "N s"))
    rows += [
        Comparison.with_closed_form(
            f"{name}energy lost", lost, float(found.energy(0.0).dissipated[0]), "J"
        ),
        Comparison.with_closed_form(
            "error of the angle 0.3 s after the jump", 0.0, swing_error(found), "rad",
            "the tip sticks; time by quadrature of 1/ω",
        ),
    ]  # fmt: skip
    return rows


def _other_rows(runs: Mapping[str, EventRun]) -> list[Comparison]:
    """Lift-off where c = 0, two solutions where there are two, none of that below the critical friction."""
    safe = runs["below the critical friction"]
    paradoxes = len(safe.times(EventKind.IMPACT_WITHOUT_COLLISION)) + len(safe.times(EventKind.INDETERMINATE))
    lifted = runs["sliding until it lifts off"]
    at = lifted.sample(lifted.times(EventKind.OPENING)[:1])
    rod, angle, spin = STARTS[Region.INDETERMINATE]
    forces = sorted(float(each.forces[0][0]) for each in solutions(rod, angle, spin))
    exact = float(-rod.free_acceleration(angle, spin) / rod.compliance(angle))
    chosen = runs[Region.INDETERMINATE]
    return [
        Comparison.with_closed_form("paradoxes below the critical friction", 0, paradoxes, ""),
        Comparison.with_closed_form(
            "free acceleration of the tip when it lifts off", 0.0,
            float(ROD.free_acceleration(at.q[0, 2], at.u[0, 2])), "m/s²",
        ),
        Comparison.with_closed_form("two solutions: one normal force", 0.0, forces[0], "N", "it lifts off"),
        Comparison.with_closed_form("two solutions: other force", exact, forces[-1], "N", "it slides on"),
        Comparison.with_closed_form(
            "two solutions: reported", 1, len(chosen.times(EventKind.INDETERMINATE)), "",
            f"taken: {'sliding' if chosen.sample(0.0).modes[0, 0] else 'lift-off'}",
        ),
    ]  # fmt: skip


def _singular_rows(ways: Mapping[float, EventRun]) -> list[Comparison]:
    """Where the ways end, and how the force grows on them."""
    angle = ROD.singular_angles[0]
    spin = float(ROD.lift_off_spin(angle))
    rows = []
    for start, way in ways.items():
        name = f"into the singular point from {start} rad/s: "
        there = way.sample(arrival(way))
        what = "then: " + (", ".join(str(event.kind) for event in way.events) or str(way.status))
        rows += [
            Comparison.with_closed_form(f"{name}angle", angle, float(there.q[0, 2]), "rad", what),
            Comparison.with_closed_form(f"{name}spin", spin, float(there.u[0, 2]), "rad/s"),
            Comparison.with_closed_form(
                f"{name}exponent of c over G", ROD.singular_exponent, exponent(way), ""
            ),
        ]
    return rows


def _map_figure(
    found: tuple[Floats, Floats, list[list[Region]]],
    runs: Mapping[str, EventRun],
    ways: Mapping[float, EventRun],
) -> Figure:
    """Regions by enumeration, borders by closed form, and the ways of the rods."""
    from matplotlib.colors import ListedColormap

    angles, spins, regions = found
    names = list(COLOURS)
    figure, (ax,) = new_axes((9.0, 7.4))
    ax.pcolormesh(
        np.degrees(angles), spins, [[names.index(region) for region in line] for line in regions],
        cmap=ListedColormap(list(COLOURS.values())), vmin=-0.5, vmax=len(names) - 0.5, shading="nearest",
    )  # fmt: skip
    for region, colour in COLOURS.items():
        ax.fill_between([], [], color=colour, label=str(region))
    fine = np.linspace(*ANGLES, 400)
    for sign in (-1.0, 1.0):
        ax.plot(
            np.degrees(fine), sign * ROD.lift_off_spin(fine), "--", color=DARK_GREY, linewidth=1.2,
            label="c = 0" if sign > 0.0 else "_",
        )  # fmt: skip
    for k, angle in enumerate(ROD.singular_angles):
        ax.axvline(np.degrees(angle), color=DARK_GREY, linewidth=1.2, label="_" if k else "G = 0")
    for colour, (name, each) in zip(LINES, runs.items(), strict=True):
        if STARTS[name][0] is ROD:
            motion = _in_contact(each)
            ax.plot(np.degrees(motion[:, 0]), motion[:, 1], color=colour, linewidth=1.8)
            ax.plot(np.degrees(STARTS[name][1]), STARTS[name][2], "o", color=colour, label=f"start: {name}")
    for k, way in enumerate(ways.values()):
        motion = _in_contact(way)
        ax.plot(
            np.degrees(motion[:, 0]), motion[:, 1], color="#7B3294", linewidth=1.4,
            label="_" if k else "into the singular point",
        )  # fmt: skip
    low = ROD.singular_angles[0]
    ax.plot(np.degrees(low), ROD.lift_off_spin(low), "*", color="#7B3294", markersize=12)
    ax.set(xlabel="angle θ in degrees", ylabel="spin ω in rad/s", ylim=SPINS, xlim=np.degrees(ANGLES))
    ax.set_title(f"Painlevé's rod, μ = {ROD.friction:g}: by enumeration, with closed-form borders")
    legend_below(figure, 4)
    return figure


def _in_contact(run: EventRun) -> Floats:
    """Angle and spin (times, 2) while the tip touches; where it never does, all of them."""
    times = np.linspace(run.start.t, run.final.t, 400)
    motion = run.sample(times)
    rows = np.column_stack([motion.q[:, 2], motion.u[:, 2]])
    touches = motion.modes[:, 0] > 0
    return rows[touches] if touches.any() else rows


def _motion(runs: Mapping[str, EventRun]) -> Figure:
    """Height and speed of the tip, and its mode, from every start."""
    figure, axes = new_axes((12.0, 9.6), columns=2, rows=len(runs))
    for row, (name, each) in enumerate(runs.items()):
        rod = STARTS[name][0]
        times = np.linspace(0.0, each.final.t, 300)
        motion = each.sample(times)
        slip = motion.u[:, 0] - rod.half_length * np.sin(motion.q[:, 2]) * motion.u[:, 2]
        left, right = axes[2 * row], axes[2 * row + 1]
        left.plot(times, slip, color=BLUE, linewidth=1.4, label="sliding speed of the tip in m/s")
        left.plot(times, motion.u[:, 2], color=GREEN, linewidth=1.4, label="spin in rad/s")
        left.set_title(f"{name}, μ = {rod.friction:g}", fontsize=10)
        mode_bars(right, each)
        left.set_xlim(0.0, DURATION)
        right.set_xlim(0.0, DURATION)
    axes[-2].set_xlabel("time in s")
    axes[-1].set_xlabel("time in s")
    legend_below(figure, 4)
    return figure


def _jump_figure(found: EventRun) -> Figure:
    """The rod before and after its jump, and the tip's force."""
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    figure, (left, right) = new_axes((12.0, 5.2), columns=2)
    times = np.linspace(0.0, found.final.t, 7)
    for k, (t, q) in enumerate(zip(times, found.sample(times).q, strict=True)):
        arm = rod.half_length * np.array([np.cos(q[2]), -np.sin(q[2])])
        ends = np.array([q[:2] + arm, q[:2] - arm])
        shade = 0.85 - 0.7 * k / (len(times) - 1)
        left.plot(ends[:, 0], ends[:, 1], color=str(shade), linewidth=3.0, label=f"t = {t:.2f} s")
    left.axhline(0.0, color=LIGHT_GREY, linewidth=2.0)
    left.set(
        xlabel="x in m", ylabel="y in m", aspect="equal", title="the tip stops at once, the rod turns over it"
    )
    fine = np.linspace(0.0, found.final.t, 400)
    force = found.sample(fine).forces[0]
    right.plot(fine, force[:, 0], color=BLUE, linewidth=1.5, label="normal force")
    right.plot(fine, force[:, 1], color=ORANGE, linewidth=1.5, label="friction")
    normal, friction = rod.jump(angle, spin, SPEED)[1]
    right.plot([], [], " ", label=f"impulses at t = 0: {normal:.3f} and {friction:.3f} N s")
    right.set(xlabel="time in s", ylabel="force in N", title="forces after the jump")
    legend_below(figure, 4)
    return figure


def _singular_figure(ways: Mapping[float, EventRun]) -> Figure:
    """Forces that grow without bound, and the power law of c over G."""
    figure, (left, right) = new_axes((12.0, 5.2), columns=2)
    colours = (BLUE, GREEN, ORANGE, DARK_GREY)
    for colour, (spin, way) in zip(colours, ways.items(), strict=False):
        times, compliance, free = on_the_way(way)
        left.loglog(arrival(way) - times, -free / compliance, color=colour, label=f"from {spin:g} rad/s")
        right.loglog(compliance, -free, color=colour)
    guide = np.array([1e-12, 1e-1])
    power = ROD.singular_exponent
    right.loglog(
        guide, 3.0 * (guide / guide[-1]) ** power, "--", color=RED, label=f"closed form: slope {power:.4f}"
    )
    left.set(
        xlabel="time to the singular point in s", ylabel="normal force in N", title="the force of the tip"
    )
    left.invert_xaxis()
    right.set(xlabel="G in 1/kg", ylabel="−c in m/s²", title="on the way into G = c = 0")
    legend_below(figure, 5)
    return figure


def _write_map(path: Path, found: tuple[Floats, Floats, list[list[Region]]]) -> Path:
    angles, spins, regions = found
    rows = [
        (angle, spin, str(region))
        for spin, line in zip(spins.tolist(), regions, strict=True)
        for angle, region in zip(angles.tolist(), line, strict=True)
    ]
    return write_csv(path, ("angle_rad", "spin_rad_per_s", "region"), rows)


PAINLEVE_ROD = Experiment(
    "painleve-rod",
    "a rod that slides on its tip: no solution, two solutions, and an impact without collision",
    "Génot and Brogliato, new results on Painlevé paradoxes, 1999",
    run,
)
