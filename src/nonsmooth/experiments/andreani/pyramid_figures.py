"""Figures of cones against pyramids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.experiments.andreani.grasp_parts import Polygon
    from nonsmooth.experiments.andreani.pyramid import Cost, CubeErrors, GraspErrors


_COLOURS = {4: BLUE, 8: ORANGE, 16: GREEN, 32: DARK_GREY}


def directions(
    cubes: Sequence[CubeErrors],
    grasped: Sequence[GraspErrors],
    by_hand: Callable[[Polygon, float, Floats], Floats],
    worst: Callable[[Polygon, float], tuple[float, float]],
) -> Figure:
    """Errors of the friction's direction: over the push's direction, and over the number of sides.

    The push is k times the sliding friction.
    """
    figure, (left, right) = plots.new_axes((12.0, 6.0), columns=2)
    push, fine = max(part.push for part in cubes), np.linspace(0.0, 0.5 * np.pi, 18_001)
    for part in cubes:
        if part.push == push and not part.polygon.circumscribed:
            near, colour = part.direction <= 0.5 * np.pi, _COLOURS[part.polygon.sides]
            left.plot(np.degrees(fine), by_hand(part.polygon, push, fine), "-", color=colour, linewidth=0.9)
            left.plot(
                np.degrees(part.direction[near]), part.angle[near], "o", color=colour, markersize=3.5,
                label=f"{part.polygon.sides} sides",
            )  # fmt: skip
    left.set(
        title=f"pushed cube, inscribed, k = {push:g} (lines: closed form)",
        xlabel="direction of the push from a corner of the polygon (degrees)",
        ylabel="error of the friction's direction (degrees)",
    )
    sides = sorted({part.polygon.sides for part in cubes})
    right.plot(
        sides, [180.0 / m for m in sides], "--", color=DARK_GREY, linewidth=1.0, label="closed form, π/m"
    )
    for k, marker in zip(sorted({part.push for part in cubes}), "^ds", strict=True):
        parts = [part for part in cubes if part.push == k and not part.polygon.circumscribed]
        right.plot(
            sides, [part.angle.max() for part in parts], marker, color=BLUE,
            label=f"cube, inscribed, k = {k:g}",
        )  # fmt: skip
        right.plot(
            sides, [np.degrees(worst(part.polygon, k)[1]) for part in parts], "-", color=BLUE, linewidth=0.7
        )
    for circumscribed, colour, name in ((False, GREEN, "inscribed"), (True, ORANGE, "circumscribed")):
        some = [part.angle for part in grasped if part.polygon.circumscribed is circumscribed]
        right.plot(
            sides, [np.nanmax(angle) for angle in some], "o-", color=colour, label=f"grasps, {name}, worst"
        )
        right.plot(
            sides, [np.nanmean(angle) for angle in some], "o:", color=colour, markerfacecolor="white",
            label=f"grasps, {name}, mean",
        )  # fmt: skip
    right.set(
        title="worst and mean errors (thin lines: closed form)", xlabel="sides of the polygon",
        ylabel="error of the friction's direction (degrees)", xscale="log", yscale="log",
    )  # fmt: skip
    right.set_xticks(sides, [str(m) for m in sides])
    right.minorticks_off()
    plots.legend_below(figure, 4)
    return figure


def costs(cube: Mapping[str, Cost], grasped: Sequence[GraspErrors], cone_time: Floats) -> Figure:
    """Time, unknowns and pivots against the number of sides, inscribed polygons."""
    figure, (left, right) = plots.new_axes((10.0, 4.6), columns=2)
    parts = {part.polygon.sides: part for part in grasped if not part.polygon.circumscribed}
    sides = sorted(parts)
    cubes = [cube[f"inscribed {m}-gon"] for m in sides]
    default = [1e3 * np.median(parts[m].default_time) for m in sides]
    lemke = [1e3 * np.median(parts[m].time) for m in sides]
    left.plot(sides, default, "o-", color=BLUE, label="grasp, pyramid, default solver")
    left.plot(sides, lemke, "o:", color=BLUE, label="grasp, pyramid, Lemke")
    left.plot(
        sides,
        [1e3 * part.default_time for part in cubes],
        "s-",
        color=ORANGE,
        label="cube, pyramid, default solver",
    )
    left.plot(sides, [1e3 * part.time for part in cubes], "s:", color=ORANGE, label="cube, pyramid, Lemke")
    for value, colour, name in (
        (float(np.median(cone_time)), BLUE, "grasp, cone, default solver"),
        (cube["cone"].default_time, ORANGE, "cube, cone, default solver"),
    ):
        left.axhline(1e3 * value, color=colour, linestyle="--", linewidth=1.2, label=name)
    left.set(
        title="time", xlabel="sides of the polygon", ylabel="median time of a solve (ms)", xscale="log",
        yscale="log",
    )  # fmt: skip
    right.plot(sides, [parts[m].unknowns for m in sides], "o-", color=BLUE, label="grasp, unknowns")
    right.plot(sides, [parts[m].pivots.mean() for m in sides], "o:", color=BLUE, label="grasp, mean pivots")
    right.plot(sides, [part.unknowns for part in cubes], "s-", color=ORANGE, label="cube, unknowns")
    right.plot(sides, [part.pivots for part in cubes], "s:", color=ORANGE, label="cube, mean pivots")
    right.set(
        title="size, and Lemke's pivots", xlabel="sides of the polygon", ylabel="unknowns, pivots",
        xscale="log", yscale="log",
    )  # fmt: skip
    for ax in (left, right):
        ax.set_xticks(sides, [str(m) for m in sides])
        ax.minorticks_off()
    plots.legend_below(figure, 3)
    return figure


def paths(gliding: Mapping[Polygon, Floats], cone: Floats) -> Figure:
    """Paths of a gliding cube from above, each turned so that it starts along the x axis."""
    figure, (ax,) = plots.new_axes((9.0, 3.6))
    for polygon, path in gliding.items():
        ax.plot(*_turned(path).T, color=_COLOURS[polygon.sides], label=f"{polygon.sides} sides, inscribed")
        ax.plot(*_turned(path)[-1], "o", color=_COLOURS[polygon.sides], markersize=5)
    ax.plot(*_turned(cone).T, "--", color=RED, label="Coulomb's cone")
    ax.plot(*_turned(cone)[-1], "o", color=RED, markersize=5)
    ax.set(xlabel="x, along the first velocity (m)", ylabel="y (m), enlarged")
    ax.legend(frameon=False, loc="lower left")
    return figure


def _turned(path: Floats) -> Floats:
    first = path[1] / np.linalg.norm(path[1])
    return np.asarray(path @ np.array([[first[0], -first[1]], [first[1], first[0]]]))
