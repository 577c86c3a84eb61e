"""The rocking block of Housner (1963): period, energy lost at impacts, and the end of rocking.

A slender block leans, falls back, hits the floor with its other corner and rocks on. Housner's period is that
of the linearised equation; the exact one is a quadrature of the energy, with which event times are compared.
The fraction of the energy after an impact, (1 − 3/2 sin²α)², is not an input: it follows from the inclusions
of an impact with e = 0 and enough friction. So does the behaviour of stocky blocks, where the formula's
angular velocity has the wrong sign: both corners stay down.

G. W. Housner, The behavior of inverted pendulum structures during earthquakes, Bulletin of the Seismological
Society of America 53 (1963) 403–417.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun, SteppedRun, simulate_events
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.shared import convergence, event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.experiments.summary import exact_row, paper_row, reference_row
from nonsmooth.scenes.closed_form.blocks import RockingBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BLOCK = RockingBlock()
ACCURACY: dict[str, Any] = {"relative": 1e-13, "absolute": 1e-14}
"""Options of smooth motion: an error of one swing propagates to all later ones."""
AT_REST = 0.3
"""Time in s that the run continues after the accumulation point."""
HALF_HEIGHT = 0.5
"""Length in m, of all blocks here."""
STEPPED = 1.3
"""Duration of time stepping in s: two impacts."""


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    slopes: tuple[float, ...]
    """b/h of the blocks whose first swing is compared with Housner's formula."""
    leans: tuple[float, ...]
    """θ₀/α of that swing."""
    impact_slopes: tuple[float, ...]
    """b/h of the blocks that hit the floor once."""
    grid: convergence.Grid
    """Of time stepping."""


@dataclass(frozen=True)
class Swing:
    """The first fall of a block: times in s."""

    scene: RockingBlock
    found: float

    @property
    def exact(self) -> float:
        """By quadrature."""
        return self.scene.fall_time(self.scene.lean)

    @property
    def housner(self) -> float:
        """By Housner's formula."""
        return self.scene.housner_fall_time(self.scene.lean)


@dataclass(frozen=True)
class Rocking:
    """The long run, with the results of its impacts."""

    scene: RockingBlock
    run: EventRun

    @property
    def impacts(self) -> Floats:
        """Times in s."""
        return self.run.times("impact")

    @property
    def accumulation(self) -> float:
        """Time in s; NaN if there was none, or several."""
        found = self.run.times("accumulation")
        return float(found[0]) if len(found) == 1 else np.nan

    def energy_ratios(self) -> Floats:
        """Ratio of kinetic energies after and before each impact; at the last one rocking is passed over."""
        times = self.impacts[: -1 if np.isfinite(self.accumulation) else None]
        after = self.run.energy(times).kinetic
        before = self.run.energy(np.nextafter(times, 0.0)).kinetic
        return np.asarray(after / before)

    def leans(self) -> Floats:
        """Greatest |θ|/α after n impacts, half way between them; the first is the initial one."""
        middles = 0.5 * (self.impacts[:-1] + self.impacts[1:])
        angles = np.abs(self.run.sample(middles).q[:, 2])
        return np.concatenate([[self.scene.lean], angles / self.scene.slenderness])

    def angle_error(self) -> float:
        """Largest error of θ in rad over the whole run."""
        times = np.linspace(self.run.start.t, self.run.final.t, 1001)
        return float(np.abs(self.run.sample(times).q[:, 2] - self.scene.angle_at(times)).max())


def rock() -> Rocking:
    """Simulate the block until it stands."""
    duration = BLOCK.accumulation + AT_REST
    return Rocking(BLOCK, simulate_events(BLOCK.system(), *BLOCK.start(), duration=duration, **ACCURACY))


def first_swing(slope: float, lean: float) -> Swing:
    """Simulate a block until it has fallen back once."""
    scene = RockingBlock(half_width=slope * HALF_HEIGHT, half_height=HALF_HEIGHT, lean=lean)
    duration = 1.1 * scene.fall_time(lean)
    found = simulate_events(scene.system(), *scene.start(), duration=duration, **ACCURACY).times("impact")
    return Swing(scene, float(found[0]) if len(found) else np.nan)


def velocity_kept(slope: float) -> float:
    """θ̇⁺/θ̇⁻ of a block with b/h = slope whose right corner hits the floor."""
    scene = RockingBlock(half_width=slope * HALF_HEIGHT, half_height=HALF_HEIGHT)
    run = simulate_events(scene.system(), *scene.falling_flat(1.0), duration=1e-3)
    return 0.0 - float(run.sample([0.0]).u[0, 2])


def formula(slope: Floats | float) -> Floats:
    """1 − 3/2 sin²α."""
    return np.asarray(1.0 - 1.5 * np.square(slope) / (1.0 + np.square(slope)))


def time_stepping(grid: convergence.Grid) -> dict[str, convergence.Curve]:
    """Errors of time stepping over the first impacts."""

    def mean_error(run: SteppedRun) -> float:
        return float(np.abs(run.q[:, 2] - BLOCK.angle_at(run.time)).mean())

    errors = {"angle, mean": mean_error}
    return convergence.averaged(BLOCK.system(), BLOCK.start(), STEPPED, grid, errors)


class Found(NamedTuple):
    """What the experiment computes."""

    rocking: Rocking
    swings: list[Swing]
    kept: dict[float, float]
    curves: dict[str, convergence.Curve]


class RockingExperiment(Experiment[Setup, Found]):
    """One block that rocks until it stands, many that swing or hit the floor once."""

    name = "rocking-block"
    summary = "a block that rocks from corner to corner until it stands: periods and energy lost at impacts"
    paper = "Housner 1963; periods checked against quadrature"
    belongs_to = "studer"
    seconds = (30.0, 75.0)
    FULL = Setup(
        (0.05, 0.1, 0.2, 0.4), (0.1, 0.3, 0.5, 0.7, 0.9), tuple(np.linspace(0.1, 2.5, 25).tolist()),
        convergence.FULL_GRID,
    )  # fmt: skip
    QUICK = Setup((0.1, 0.4), (0.3, 0.7), (0.2, 0.7, 1.2, 1.4, 1.5, 2.0), convergence.QUICK_GRID)

    def measure(self, setup: Setup, work: Work) -> Found:
        """Rock until it stands, fall back once, hit the floor once, and step through time."""
        work.expect(4)
        work.begin("rocking until it stands")
        rocking = rock()
        work.begin("first swings")
        swings = [first_swing(slope, lean) for slope in setup.slopes for lean in setup.leans]
        work.begin("single impacts")
        kept = {slope: velocity_kept(slope) for slope in setup.impact_slopes}
        work.begin("time stepping")
        return Found(rocking, swings, kept, time_stepping(setup.grid))

    def data(self, found: Found) -> Data:
        """Impacts, swings, and errors of time stepping."""
        single = [(slope, value, float(formula(slope))) for slope, value in found.kept.items()]
        return {
            "impacts.csv": _impacts_table(found.rocking),
            "first_swings.csv": _swings_table(found.swings),
            "single_impacts.csv": Table(("half_width_by_half_height", "kept", "formula"), single),
            "time_stepping.csv": convergence.table(found.curves),
        }

    def figures(self, found: Found) -> Figures:
        """Motion, amplitudes, periods, single impacts, energy, and both integrators."""
        rocking, error = found.rocking, found.rocking.angle_error()
        return {
            "motion": _motion(rocking),
            "decay": _decay(rocking),
            "periods": _periods(found.swings),
            "stocky": _kept(found.kept),
            "energy": event_runs.energy_figure(rocking.run, "Rocking block: energy"),
            "convergence": convergence.figure("Rocking block: both integrators", found.curves, error, "rad"),
        }

    def compare(self, found: Found) -> Rows:
        """Compare times, energies and amplitudes with quadrature and formulas."""
        rocking, swings, kept, curves = found
        scene, ratios = rocking.scene, rocking.energy_ratios()
        amplitudes = rocking.leans()
        exact = scene.leans(len(amplitudes))
        wanted = scene.kept**2
        yield reference_row(
            "quarter of the first period", scene.fall_time(scene.lean), float(rocking.impacts[0]), "s",
            "quadrature", f"Housner's linearised formula gives {scene.housner_fall_time(scene.lean):.9g}",
        )  # fmt: skip
        yield reference_row(
            "error of impact times", 0.0, float(np.abs(_time_errors(rocking)).max()), "s", "quadrature",
            f"largest of {len(rocking.impacts)} impacts",
        )  # fmt: skip
        yield reference_row(
            "end of rocking", scene.accumulation, rocking.accumulation, "s", "sum of quadratures"
        )
        yield paper_row("energy after the first impact, (1 − 3/2 sin²α)²", wanted, float(ratios[0]), "")
        yield exact_row(
            "energy after an impact, relative error", 0.0,
            float(np.abs(ratios / wanted - 1.0).max()), "", f"largest of {len(ratios)} impacts",
        )  # fmt: skip
        yield exact_row(
            "amplitude after 10 impacts", float(exact[10]), float(amplitudes[10]), "α",
            f"Housner's {scene.housner_leans(11)[10]:.6g}",
        )  # fmt: skip
        yield exact_row(
            "error of the angle", 0.0, rocking.angle_error(), "rad", "largest; Jacobi's elliptic functions"
        )
        yield exact_row(
            "energy dissipated", scene.mass * scene.gravity * (scene.start()[0][1] - scene.half_height),
            rocking.run.final.dissipated, "J",
        )  # fmt: skip
        yield from event_runs.certificate_rows(rocking.run)
        for swing in swings:
            name = f"b/h = {swing.scene.half_width / swing.scene.half_height:g}, θ₀ = {swing.scene.lean:g} α"
            off = 100.0 * (swing.housner / swing.exact - 1.0)
            yield reference_row(
                f"quarter of a period, {name}", swing.exact, swing.found, "s", "quadrature",
                f"Housner's formula {off:+.3g} %",
            )  # fmt: skip
        for slope, value in kept.items():
            plain = float(formula(slope))
            note = "" if plain > 0.0 else f"the formula gives {plain:.4g}: both corners stay down, no rocking"
            yield exact_row(
                f"angular velocity after an impact, b/h = {slope:.3g}", max(0.0, plain), value, "", note
            )
        yield from [curve.row(f"order of time stepping, {name}", 1.0) for name, curve in curves.items()]


def _time_errors(rocking: Rocking) -> Floats:
    return rocking.impacts - rocking.scene.impact_times(len(rocking.impacts))


def _motion(rocking: Rocking) -> Figure:
    """Angle, modes and forces over time."""
    figure, (top, bars, below) = plots.new_axes((10.0, 7.4), rows=3)
    times = np.linspace(0.0, rocking.run.final.t, 1501)
    samples = rocking.run.sample(times)
    top.plot(times, samples.q[:, 2] / rocking.scene.slenderness, color=BLUE, linewidth=1.4, label="angle")
    event_runs.mark(top, rocking.impacts, "impacts")
    top.axvline(
        rocking.accumulation, color=RED, linewidth=1.2, linestyle="--", label="accumulation point, located"
    )
    top.set(xlabel="time in s", ylabel="θ/α", xlim=(0.0, times[-1]))
    top.set_title(f"rocking, b/h = {rocking.scene.half_width / rocking.scene.half_height:g}")
    event_runs.mode_bars(bars, rocking.run)
    bars.set(xlabel="time in s", title="modes and events")
    event_runs.stretch(bars, (3, 1.6, 3))
    for name, values, colour in (
        ("left, normal", samples.forces[0][:, 0], GREEN),
        ("right, normal", samples.forces[1][:, 0], ORANGE),
        ("both, friction", samples.forces[0][:, 1] + samples.forces[1][:, 1], DARK_GREY),
    ):
        below.plot(times, values, color=colour, linewidth=1.0, label=name)
    below.set(xlabel="time in s", ylabel="force in N", xlim=(0.0, times[-1]), title="forces between impacts")
    plots.legend_below(figure, 5)
    return figure


def _decay(rocking: Rocking) -> Figure:
    """Amplitudes and errors of impact times over the number of impacts."""
    figure, (left, right) = plots.new_axes((11.0, 4.8), columns=2)
    found = rocking.leans()
    count = np.arange(len(found))
    left.semilogy(rocking.scene.leans(len(found)), color=LIGHT_GREY, linewidth=4.5, label="exact")
    left.semilogy(
        rocking.scene.housner_leans(len(found)), color=ORANGE, linewidth=1.2, linestyle="--",
        label="Housner's formula, small α",
    )  # fmt: skip
    left.semilogy(count, found, "o", color=BLUE, markersize=3, label="event-driven")
    left.set(xlabel="number of impacts before", ylabel="amplitude θ/α", title="amplitudes")
    errors = np.maximum(np.abs(_time_errors(rocking)), 1e-17)
    right.semilogy(errors, "o", color=BLUE, markersize=3)
    right.axhline(1e-9, color=RED, linewidth=1.2, linestyle="--", label="required")
    right.set(xlabel="number of the impact", ylabel="error in s", title="impact times", ylim=(1e-17, 1e-8))
    plots.legend_below(figure, 4)
    return figure


def _periods(swings: Sequence[Swing]) -> Figure:
    """First swings against Housner's one curve for all blocks."""
    figure, (left, right) = plots.new_axes((11.0, 4.8), columns=2)
    lean = np.linspace(0.01, 0.98, 200)
    left.plot(
        lean, np.arccosh(1.0 / (1.0 - lean)), color=LIGHT_GREY, linewidth=4.5, label="Housner's formula"
    )
    slopes = sorted({swing.scene.half_width / swing.scene.half_height for swing in swings})
    colours = (BLUE, ORANGE, GREEN, DARK_GREY)
    for slope, colour, marker in zip(slopes, colours, "os^d", strict=False):
        own = [s for s in swings if s.scene.half_width / s.scene.half_height == slope]
        p, at = own[0].scene.frequency, [swing.scene.lean for swing in own]
        exact = [own[0].scene.fall_time(value) * p for value in lean.tolist()]
        left.plot(lean, exact, color=colour, linewidth=0.9)
        left.plot(
            at, [swing.found * p for swing in own], marker, color=colour, markersize=6, fillstyle="none",
            label=f"b/h = {slope:g}",
        )  # fmt: skip
        off = np.abs(np.arccosh(1.0 / (1.0 - lean)) / np.array(exact) - 1.0)
        right.semilogy(lean, off, color=colour, linewidth=1.0)
        off_found = [abs(swing.housner / swing.found - 1.0) for swing in own]
        right.semilogy(at, off_found, marker, color=colour, markersize=6, fillstyle="none")
    left.set(xlabel="lean θ₀/α", ylabel="p T/4", title="quarter of a period (thin lines: quadrature)")
    right.set(
        xlabel="lean θ₀/α", ylabel="relative", title="Housner's formula: difference from the exact period"
    )
    plots.legend_below(figure, 5)
    return figure


def _kept(kept: dict[float, float]) -> Figure:
    """Angular velocity after an impact, over the block's shape."""
    figure, (ax,) = plots.new_axes((7.5, 5.0))
    slopes = np.linspace(0.0, max(kept) * 1.02, 300)
    ax.plot(slopes, formula(slopes), color=LIGHT_GREY, linewidth=4.5, label=r"$1 - \frac{3}{2}\sin^2\alpha$")
    ax.plot(list(kept), list(kept.values()), "o", color=BLUE, markersize=5, label="inclusions of the impact")
    ax.axvline(np.sqrt(2.0), color=RED, linewidth=1.2, linestyle="--", label=r"$b = \sqrt{2}\,h$")
    ax.axhline(0.0, color=DARK_GREY, linewidth=0.6)
    ax.annotate("rocks on", (0.5, 0.2), ha="center")
    ax.annotate("both corners stay down", (1.46, 0.05))
    ax.set(xlabel="b/h", ylabel="angular velocity after / before", title="impact of a block on its corner")
    plots.legend_below(figure, 3)
    return figure


def _impacts_table(rocking: Rocking) -> Table:
    exact = rocking.scene.impact_times(len(rocking.impacts))
    ratios = [*rocking.energy_ratios().tolist(), None]
    rows = zip(
        range(len(exact)), rocking.impacts.tolist(), exact.tolist(), rocking.leans().tolist(),
        rocking.scene.leans(len(exact)).tolist(), ratios, strict=False,
    )  # fmt: skip
    header = ("n", "time_s", "quadrature_s", "lean_before", "lean_before_exact", "energy_left")
    return Table(header, rows)


def _swings_table(swings: Sequence[Swing]) -> Table:
    rows = [
        (s.scene.half_width / s.scene.half_height, s.scene.lean, s.found, s.exact, s.housner) for s in swings
    ]
    return Table(("half_width_by_half_height", "lean", "time_s", "quadrature_s", "housner_s"), rows)
