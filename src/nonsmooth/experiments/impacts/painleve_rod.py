"""Painlevé's rod: where accelerations have one, none or two solutions, and what the integrator makes of it.

A homogeneous rod slides on its tip, which is ahead. Above μ = 4/3 the plane of angle and spin has four
regions (Génot and Brogliato 1999). Every contact mode is tried on a grid and compared with the closed forms
of their borders; then rods are let go in each of the regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.events import EventKind, EventRun, SteppedRun
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.impacts.event_report import (
    Convergence,
    certificate_rows,
    convergence,
    convergence_figure,
    energy_figure,
    order_row,
)
from nonsmooth.experiments.impacts.event_timeline import write_convergence, write_events, write_motion
from nonsmooth.experiments.impacts.painleve_figures import (
    jump_figure,
    map_figure,
    motion_figure,
    singular_figure,
)
from nonsmooth.experiments.impacts.painleve_rods import (
    APPROACHES,
    DURATION,
    ROD,
    SAFE,
    SPEED,
    STARTS,
    RegionMap,
    approach,
    arrival,
    critical_friction,
    exponent,
    let_go,
    region_map,
    solutions,
    swing_error,
)
from nonsmooth.experiments.shared.output import prepare_folder, save_figure, write_csv
from nonsmooth.scenes.closed_form.sliding_rod import CRITICAL_FRICTION, Region

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


def stepped(setup: Setup, found: EventRun) -> Convergence:
    """Time stepping from the start without solution."""

    def error(steps: SteppedRun) -> float:
        return abs(float(steps.at(DURATION)[0][2] - found.final.q[2]))

    start = found.start
    return convergence(ROD.system(), start.q, start.u, DURATION + setup.steps[0], setup.steps, error)


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
        save_figure(map_figure(maps[ROD.friction], runs, ways), folder / "map.png"),
        save_figure(motion_figure(runs), folder / "motion.png"),
        save_figure(jump_figure(jumped), folder / "jump.png"),
        save_figure(singular_figure(ways), folder / "singular_point.png"),
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
    maps: Mapping[float, RegionMap],
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
    rows.append(order_row("order of time stepping", 1.0, curve, CURVE))
    return rows


def _map_rows(maps: Mapping[float, RegionMap]) -> list[Comparison]:
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
        rows.append(Comparison.with_closed_form(f"{name}{what} impulse", float(impulses[k]), value, "N·s"))
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


def _write_map(path: Path, found: RegionMap) -> Path:
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
