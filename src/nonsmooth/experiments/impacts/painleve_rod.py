"""Painlevé's rod: accelerations with one, no or two solutions, and the integrator's treatment of each.

A homogeneous rod slides on its tip, which is ahead. Above μ = 4/3 the plane of angle and spin has four
regions (Génot and Brogliato 1999). Every contact mode is evaluated on a grid and compared with the closed
forms of their borders; then rods are released in each of the regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nonsmooth.events import EventKind, EventRun, SteppedRun
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
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
from nonsmooth.experiments.shared import convergence, event_runs
from nonsmooth.experiments.summary import Comparison, exact_row
from nonsmooth.scenes.closed_form.sliding_rod import CRITICAL_FRICTION, Region

CURVE = "angle 0.3 s after the jump"


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    grid: int
    """Number of angles and spins of the map."""
    approaches: int
    """Number of paths into the singular point."""
    steps: tuple[float, ...]
    """Steps of time stepping in s."""


def stepped(setup: Setup, found: EventRun) -> convergence.Curve:
    """Time stepping from the start without solution."""

    def error(steps: SteppedRun) -> float:
        return abs(float(steps.at(DURATION)[0][2] - found.final.q[2]))

    start = found.start
    return convergence.measure(ROD.system(), start.q, start.u, DURATION + setup.steps[0], setup.steps, error)


class Found(NamedTuple):
    """What the experiment computes."""

    maps: dict[float, RegionMap]
    runs: dict[str, EventRun]
    ways: dict[float, EventRun]
    curve: convergence.Curve


class PainleveRod(Experiment[Setup, Found]):
    """The rod in all regions of its angle and spin."""

    name = "painleve-rod"
    summary = "a rod that slides on its tip: no solution, two solutions, and an impact without collision"
    paper = "Génot and Brogliato, new results on Painlevé paradoxes, 1999"
    belongs_to = "studer"
    seconds = (10.0, 15.0)
    FULL = Setup(80, 4, tuple(4e-3 * 0.7**k for k in range(9)))
    QUICK = Setup(24, 2, tuple(4e-3 * 0.7**k for k in range(5)))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Map the regions, start a rod in each, approach the singular point, and step through time."""
        work.expect(4)
        work.begin("the regions, mode by mode")
        maps = {rod.friction: region_map(rod, setup.grid) for rod in (SAFE, ROD)}
        work.begin("a rod in every region")
        runs = {str(name): let_go(name) for name in STARTS}
        work.begin("into the singular point")
        ways = {spin: approach(spin) for spin in APPROACHES[: setup.approaches]}
        work.begin("time stepping")
        return Found(maps, runs, ways, stepped(setup, runs[Region.INCONSISTENT]))

    def data(self, found: Found) -> Data:
        """The map, events, motion, and errors of time stepping."""
        return {
            "map.csv": _map_table(found.maps[ROD.friction]),
            "events.csv": event_runs.events_table(found.runs),
            "motion_no_solution.csv": event_runs.motion_table(
                found.runs[Region.INCONSISTENT], ("x", "y", "angle")
            ),
            "convergence.csv": convergence.table({CURVE: found.curve}),
        }

    def figures(self, found: Found) -> Figures:
        """The map, motions, the jump, the singular point, energy, and both integrators."""
        jumped, title = found.runs[Region.INCONSISTENT], "Painlevé's rod"
        return {
            "map": map_figure(found.maps[ROD.friction], found.runs, found.ways),
            "motion": motion_figure(found.runs),
            "jump": jump_figure(jumped),
            "singular_point": singular_figure(found.ways),
            "energy": event_runs.energy_figure(jumped, f"{title}, start without solution: energies"),
            "convergence": convergence.figure(
                f"{title}: both integrators past the jump", {CURVE: found.curve}, swing_error(jumped), "rad"
            ),
        }

    def compare(self, found: Found) -> Rows:
        """Regions, jumps and the singular point against closed forms."""
        maps, runs, ways, curve = found
        yield exact_row("critical friction", CRITICAL_FRICTION, critical_friction(), "")
        yield from _map_rows(maps)
        yield from _jump_rows(runs[Region.INCONSISTENT])
        yield from _other_rows(runs)
        yield from _singular_rows(ways)
        for name, run in runs.items():
            yield event_runs.certificate_rows(run, f"{name}: ")[0]
        yield curve.row("order of time stepping", 1.0, CURVE)


def _map_rows(maps: Mapping[float, RegionMap]) -> Rows:
    """Number of points where enumeration and closed form disagree, and sizes of the regions."""
    for rod in (SAFE, ROD):
        angles, spins, found = maps[rod.friction]
        pairs = [
            (rod.region(float(angle), float(spin)), region)
            for spin, line in zip(spins, found, strict=True)
            for angle, region in zip(angles, line, strict=True)
        ]
        wrong = sum(expected is not region for expected, region in pairs)
        yield exact_row(
            f"points of the map whose region differs, μ = {rod.friction}", 0, wrong, "",
            f"of {len(pairs)}",
        )  # fmt: skip
        counted = Counter(region for _, region in pairs)
        paradoxical = counted[Region.INCONSISTENT] + counted[Region.INDETERMINATE]
        yield Comparison(
            f"fraction of the map with no or two solutions, μ = {rod.friction}", None,
            paradoxical / len(pairs), "",
        )  # fmt: skip


def _jump_rows(found: EventRun) -> Rows:
    """The impact without collision, and the motion after it."""
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    after, impulses, lost = rod.jump(angle, spin, SPEED)
    first = found.events[0]
    ours = found.sample(0.0).u[0]
    name = "impact without collision: "
    yield exact_row(
        f"{name}event", 1, int(first.kind is EventKind.IMPACT_WITHOUT_COLLISION), "", "1: reported, 0: not"
    )
    for k, (what, unit) in enumerate((("speed along", "m/s"), ("speed up", "m/s"), ("spin", "rad/s"))):
        yield exact_row(f"{name}{what}", float(after[k]), float(ours[k]), unit)
    for k, what in enumerate(("normal", "friction")):
        value = float(first.impulses[0][k])
        yield exact_row(f"{name}{what} impulse", float(impulses[k]), value, "N·s")
    yield exact_row(f"{name}energy lost", lost, float(found.energy(0.0).dissipated[0]), "J")
    yield exact_row(
        "error of the angle 0.3 s after the jump", 0.0, swing_error(found), "rad",
        "the tip sticks; time by quadrature of 1/ω",
    )  # fmt: skip


def _other_rows(runs: Mapping[str, EventRun]) -> list[Comparison]:
    """Lift-off at c = 0, two solutions in their region, and no paradox below the critical friction."""
    safe = runs["below the critical friction"]
    paradoxes = len(safe.times(EventKind.IMPACT_WITHOUT_COLLISION)) + len(safe.times(EventKind.INDETERMINATE))
    lifted = runs["sliding until it lifts off"]
    at = lifted.sample(lifted.times(EventKind.OPENING)[:1])
    rod, angle, spin = STARTS[Region.INDETERMINATE]
    forces = sorted(float(each.forces[0][0]) for each in solutions(rod, angle, spin))
    exact = float(-rod.free_acceleration(angle, spin) / rod.compliance(angle))
    chosen = runs[Region.INDETERMINATE]
    return [
        exact_row("paradoxes below the critical friction", 0, paradoxes, ""),
        exact_row(
            "free acceleration of the tip when it lifts off", 0.0,
            float(ROD.free_acceleration(at.q[0, 2], at.u[0, 2])), "m/s²",
        ),
        exact_row("two solutions: one normal force", 0.0, forces[0], "N", "it lifts off"),
        exact_row("two solutions: other force", exact, forces[-1], "N", "it slides on"),
        exact_row(
            "two solutions: reported", 1, len(chosen.times(EventKind.INDETERMINATE)), "",
            f"chosen: {'sliding' if chosen.sample(0.0).modes[0, 0] else 'lift-off'}",
        ),
    ]  # fmt: skip


def _singular_rows(ways: Mapping[float, EventRun]) -> Rows:
    """The ends of the paths, and the growth of the force on them."""
    angle = ROD.singular_angles[0]
    spin = float(ROD.lift_off_spin(angle))
    for start, way in ways.items():
        name = f"into the singular point from {start} rad/s: "
        there = way.sample(arrival(way))
        what = "then: " + (", ".join(str(event.kind) for event in way.events) or str(way.status))
        yield exact_row(f"{name}angle", angle, float(there.q[0, 2]), "rad", what)
        yield exact_row(f"{name}spin", spin, float(there.u[0, 2]), "rad/s")
        yield exact_row(f"{name}exponent of c over G", ROD.singular_exponent, exponent(way), "")


def _map_table(found: RegionMap) -> Table:
    angles, spins, regions = found
    rows = [
        (angle, spin, str(region))
        for spin, line in zip(spins.tolist(), regions, strict=True)
        for angle, region in zip(angles.tolist(), line, strict=True)
    ]
    return Table(("angle_rad", "spin_rad_per_s", "region"), rows)
