"""The table and the plot of the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

Row = dict[str, Any]

_STYLES = {
    "nonsmooth": ("#d62728", "*"), "rapier": ("#1f77b4", "o"), "pybullet": ("#2ca02c", "s"),
    "mujoco": ("#9467bd", "^"), "drake": ("#8c564b", "D"), "pinocchio": ("#ff7f0e", "v"),
    "dart": ("#17becf", "P"),
}  # fmt: skip

NOTES = """\
CPU, wall: seconds of the steps done, one thread. overlap: largest penetration in mm at the end, and its
mean over the last 50 steps. force: upward force of the whole container on the spheres over their weight,
mean over the last 50 steps, from the engine's contact impulses (m: from the change of momentum); floor: the
floor's part, the walls carry the rest by friction. residual: the exact Coulomb law's natural map, relative
(1: as wrong as no contact impulses), median over the run and over the last 50 steps. balance: how well the
impulses explain the change of momentum, median over the run; where it is not small, the engine did not
converge, and force and residual say little. speed: largest speed at the end in m/s. missed: steps in which
the solver says that it did not reach its tolerance, where the engine tells."""


def line(row: Row) -> str:
    """What is printed as soon as a run has ended."""
    head = f"{row['engine']} {row['setting']}: "
    if "error" in row:
        return head + f"not measured: {row['error']}"
    return head + f"{row['steps']} steps, {row['cpu']:.2f} CPU s, overlap {row['overlap_end']:.3g} mm"


def table(rows: list[Row], steps: int) -> str:
    """All runs, one line each, with what the columns and the settings mean."""
    heads = (
        "bits", "steps", "CPU s", "wall s", "ms/step", "overlap", "mean", "force", "floor", "residual",
        "at end", "balance", "speed", "missed",
    )  # fmt: skip
    lines = [f"{'engine':<20}{'setting':<9}" + "".join(f"{head:>9}" for head in heads)]
    for row in rows:
        name = f"{row['engine']} {row.get('version', '')}"
        lines.append(f"{name:<20}{row['setting']:<9}" + _cells(row))
    lines += ["", NOTES]
    early = [r for r in rows if r.get("stopped")]
    if early:
        lines.append(f"Not all {steps} steps done, and measured where it stopped:")
        lines += [f"  {r['engine']} {r['setting']} after {r['steps']}: {r['stopped']}" for r in early]
    lines.append("Settings:")
    lines += [f"  {r['engine']} {r['setting']}: {r['meaning']}" for r in rows if "meaning" in r]
    return "\n".join(lines)


def _cells(row: Row) -> str:
    if "error" in row:
        return f" not measured: {row['error']}"
    force = f"{row['force_container']:.4f}"
    if np.isnan(row["force_container"]):
        force = f"{row['force_momentum']:.4f}m"
    cells = (
        f"{row['bits']}", f"{row['steps']}", f"{row['cpu']:.2f}", f"{row['wall']:.2f}",
        f"{1e3 * row['cpu_per_step']:.2f}", f"{row['overlap_end']:.3g}", f"{row['overlap_mean']:.3g}", force,
        f"{row['force_floor']:.4f}", f"{row['residual_median']:.1e}", f"{row['residual_end']:.1e}",
        f"{row['momentum_median']:.1e}", f"{row['speed_end']:.2f}",
        "" if row["missed"] is None else f"{row['missed']}",
    )  # fmt: skip
    return "".join(f"{cell:>9}" for cell in cells)


def figure(rows: list[Row], spheres: int, steps: int) -> Figure:
    """CPU seconds of the whole run against overlap and against the Coulomb residual."""
    drawing = Figure(figsize=(11.0, 5.2), dpi=150, layout="constrained")
    FigureCanvasAgg(drawing)
    left, right = drawing.subplots(1, 2)
    drawing.suptitle(f"Filling with {spheres:,} spheres, {steps} steps of 0.01 s, μ = 0.25, one thread")
    panels = (
        (left, "overlap_mean", "largest overlap (mm, r = 1 m)\nmean over the last 50 steps"),
        (right, "residual_median", "relative residual of the exact Coulomb law\nmedian over the run"),
    )
    measured = [r for r in rows if "error" not in r]
    engines = list(dict.fromkeys(r["engine"] for r in measured))
    for axes, key, label in panels:
        for number, engine in enumerate(engines):
            colour, marker = _STYLES[engine]
            offset = (5, -12 if number % 2 else 7)  # labels of neighbours must not lie on each other
            shown = [r for r in measured if r["engine"] == engine and r[key] > 0.0]
            time = [r["cpu_per_step"] * steps for r in shown]
            axes.plot(time, [r[key] for r in shown], color=colour, linewidth=0.8, alpha=0.6)
            for r, t in zip(shown, time, strict=True):
                face = colour if r["steps"] == steps else "white"
                size = 15 if engine == "nonsmooth" else 8
                axes.plot(t, r[key], marker, color=colour, markerfacecolor=face, markersize=size)
                place = {"textcoords": "offset points", "xytext": offset}
                axes.annotate(r["setting"], (t, r[key]), **place, fontsize=7, color=colour)
        if any(r[key] > 0.0 for r in measured):  # nothing touches in the first steps
            axes.set(xscale="log", yscale="log")
        axes.set(xlabel="CPU time of the run (s)", ylabel=label)
        axes.margins(0.12)
        axes.grid(True, which="major", color="0.9")
    handles = [_legend_entry(engine, measured) for engine in engines]
    if any(r["steps"] < steps for r in measured):
        handles.append(
            Line2D([], [], color="0.3", marker="o", markerfacecolor="white", linestyle="",
                   label="open: stopped early and measured there, time extrapolated")
        )  # fmt: skip
    drawing.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)
    return drawing


def _legend_entry(engine: str, rows: list[Row]) -> Line2D:
    colour, marker = _STYLES[engine]
    row = next(r for r in rows if r["engine"] == engine)
    label = f"{engine} {row['version']} (float{row['bits']})"
    return Line2D([], [], color=colour, marker=marker, linestyle="", markersize=8, label=label)
