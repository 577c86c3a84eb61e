"""Figures of Painlevé's rod: the regions, the motion from every start, the jump, the singular point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun
from nonsmooth.experiments.impacts.painleve_rods import (
    ANGLES,
    DURATION,
    ROD,
    SPEED,
    SPINS,
    STARTS,
    RegionMap,
    arrival,
    on_the_way,
)
from nonsmooth.experiments.shared import event_runs, plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.scenes.closed_form.sliding_rod import Region

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {
    Region.SLIDING: "#CFE3F1", Region.LIFT_OFF: "#D3EFE4", Region.INCONSISTENT: "#F3C6B5",
    Region.INDETERMINATE: "#F4E3B2",
}  # fmt: skip
LINES = (DARK_GREY, BLUE, GREEN, "#56B4E9", RED, ORANGE)


def map_figure(found: RegionMap, runs: Mapping[str, EventRun], ways: Mapping[float, EventRun]) -> Figure:
    """Regions by enumeration, borders by closed form, and the paths of the rods."""
    from matplotlib.colors import ListedColormap

    angles, spins, regions = found
    names = list(COLOURS)
    figure, (ax,) = plots.new_axes((9.0, 7.4))
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
    plots.legend_below(figure, 4)
    return figure


def _in_contact(run: EventRun) -> Floats:
    """Angle and spin (times, 2) while the tip touches; all of them if it never does."""
    times = np.linspace(run.start.t, run.final.t, 400)
    motion = run.sample(times)
    rows = np.column_stack([motion.q[:, 2], motion.u[:, 2]])
    touches = motion.modes[:, 0] > 0
    return rows[touches] if touches.any() else rows


def motion_figure(runs: Mapping[str, EventRun]) -> Figure:
    """Height and speed of the tip, and its mode, from every start."""
    figure, axes = plots.new_axes((12.0, 9.6), columns=2, rows=len(runs))
    for row, (name, each) in enumerate(runs.items()):
        rod = STARTS[name][0]
        times = np.linspace(0.0, each.final.t, 300)
        motion = each.sample(times)
        slip = motion.u[:, 0] - rod.half_length * np.sin(motion.q[:, 2]) * motion.u[:, 2]
        left, right = axes[2 * row], axes[2 * row + 1]
        left.plot(times, slip, color=BLUE, linewidth=1.4, label="sliding speed of the tip in m/s")
        left.plot(times, motion.u[:, 2], color=GREEN, linewidth=1.4, label="spin in rad/s")
        left.set_title(f"{name}, μ = {rod.friction:g}", fontsize=10)
        event_runs.mode_bars(right, each)
        left.set_xlim(0.0, DURATION)
        right.set_xlim(0.0, DURATION)
    axes[-2].set_xlabel("time in s")
    axes[-1].set_xlabel("time in s")
    plots.legend_below(figure, 4)
    return figure


def jump_figure(found: EventRun) -> Figure:
    """The rod before and after its jump, and the tip's force."""
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    figure, (left, right) = plots.new_axes((12.0, 5.2), columns=2)
    times = np.linspace(0.0, found.final.t, 7)
    for k, (t, q) in enumerate(zip(times, found.sample(times).q, strict=True)):
        arm = rod.half_length * np.array([np.cos(q[2]), -np.sin(q[2])])
        ends = np.array([q[:2] + arm, q[:2] - arm])
        shade = 0.85 - 0.7 * k / (len(times) - 1)
        left.plot(ends[:, 0], ends[:, 1], color=str(shade), linewidth=3.0, label=f"t = {t:.2f} s")
    left.axhline(0.0, color=LIGHT_GREY, linewidth=2.0)
    left.set(xlabel="x in m", ylabel="y in m", aspect="equal", title="the rod rotates about its tip")
    fine = np.linspace(0.0, found.final.t, 400)
    force = found.sample(fine).forces[0]
    right.plot(fine, force[:, 0], color=BLUE, linewidth=1.5, label="normal force")
    right.plot(fine, force[:, 1], color=ORANGE, linewidth=1.5, label="friction")
    normal, friction = rod.jump(angle, spin, SPEED)[1]
    right.plot([], [], " ", label=f"impulses at t = 0: {normal:.3f} and {friction:.3f} N·s")
    right.set(xlabel="time in s", ylabel="force in N", title="forces after the jump")
    plots.legend_below(figure, 4)
    return figure


def singular_figure(ways: Mapping[float, EventRun]) -> Figure:
    """Forces that grow without bound, and the power law of c over G."""
    figure, (left, right) = plots.new_axes((12.0, 5.2), columns=2)
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
    plots.legend_below(figure, 5)
    return figure
