"""Figures of the sliding ball: velocities over time, and the first step in the plane of impulses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.experiments.melanz.ball import History


NORMAL_RANGE, FORK_RANGE, SURFACE_RANGE = (-0.08, 0.72), (-0.95, 0.3), (-0.7, 0.3)
"""Ranges of γ_n and γ_t that are drawn, in N·s: with both branches of the fork of Eq. 10 at γ_t = −4/7
in the plane, and less of the lower one in the surfaces, where it would hide the answers."""

NORMAL_LABEL, TANGENTIAL_LABEL = r"normal impulse $\gamma_n$ in N·s", r"tangential impulse $\gamma_t$ in N·s"


@dataclass(frozen=True)
class Curve:
    """The closed form: v_x and −ω R in m/s over time in s, and when sliding ends."""

    time: Floats
    forward: Floats
    rolling: Floats
    transition: float


@dataclass(frozen=True)
class Picture:
    """One view of the problem at t = 0; impulses in N·s, the objective in J."""

    numbers: tuple[int, int]
    """The paper's figures: contours, surface."""
    name: str
    title: str
    objective: Callable[[Any, Any], Any]
    gap: Callable[[Any, Any], Any] | None
    """Value that must vanish where γ_n > 0; None if the objective is sufficient."""
    gap_label: str
    optimum: Floats
    """Our solver's answer."""
    analytical: Floats
    """The exact law's closed form."""
    checked: Floats
    """The optimum of a second method."""


def velocities(histories: Sequence[History], curve: Curve) -> Figure:
    """Fig. 2: numerical velocities as markers, the closed form as lines; relaxed left, anti-relaxed right."""
    figure, axes = plots.new_axes((10.0, 5.0), columns=2, share_y=True)
    titles = {"relaxed": "Relaxed CCQO (Eq. 14)", "coulomb": "Anti-relaxed CCQO (Eq. 15)"}
    for ax, history in zip(axes, histories, strict=True):
        lines = (
            ("forward $v_x$", BLUE, "o", curve.forward, history.velocity[:, 0]),
            (r"rolling $-\omega R$", ORANGE, "s", curve.rolling, history.rolling_speed),
            ("vertical $v_y$", GREEN, "^", np.zeros_like(curve.time), history.velocity[:, 1]),
        )
        for label, colour, marker, line, points in lines:
            ax.plot(curve.time, line, color=colour, linewidth=1.2, label=f"{label}, closed form")
            ax.plot(
                history.time, points, marker, color=colour, markersize=3.5, markeredgewidth=0.8,
                markerfacecolor="none", label=f"{label}, time steps",
            )  # fmt: skip
        ax.axvline(curve.transition, color=DARK_GREY, linestyle="--", linewidth=1.0)
        ax.annotate(f"sliding ends, t = {curve.transition:.3f} s", (curve.transition + 0.015, 0.75))
        ax.set(title=titles[history.law], xlabel="time in s", xlim=(-0.015, 1.01 * float(curve.time[-1])))
    axes[0].set_ylabel("speed in m/s (R = 1 m)")
    plots.legend_below(figure, 3)
    return figure


def contours(picture: Picture, friction: float, points: int) -> Figure:
    """Figs. 3 to 6: contours of the objective and the constraints in the plane of (γ_n, γ_t)."""
    figure, (ax,) = plots.new_axes((7.6, 5.8))
    normal, tangential, height = _grid(picture, points, FORK_RANGE)
    drawn = ax.contour(normal, tangential, height, levels=24, cmap="viridis", linewidths=1.1)
    for label, style, line in _constraints(picture, friction, FORK_RANGE):
        ax.plot(*line, label=label, **style)
    for label, style, point in _answers(picture):
        ax.plot(*point, label=label, **style)
    figure.colorbar(drawn, ax=ax).set_label(_objective_label(picture))
    ax.set(
        title=picture.title, xlabel=NORMAL_LABEL, ylabel=TANGENTIAL_LABEL, xlim=NORMAL_RANGE, ylim=FORK_RANGE
    )
    plots.legend_below(figure, 2)
    return figure


def surface(picture: Picture, friction: float, points: int) -> Figure:
    """Figs. 12 to 15: the objective as a surface, with the constraints and the answers drawn on it."""
    figure = plots.new_figure((8.0, 7.0))
    # The drawing order is set explicitly: lines and answers lie on the surface and must stay visible.
    ax: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    normal, tangential, height = _grid(picture, points, SURFACE_RANGE)
    ax.plot_surface(
        normal,
        tangential,
        height,
        cmap="viridis",
        alpha=0.75,
        rcount=points,
        ccount=points,
        linewidth=0,
        zorder=1,
    )
    for label, style, (n, t) in _constraints(picture, friction, SURFACE_RANGE):
        inside = n <= NORMAL_RANGE[1]
        ax.plot(n[inside], t[inside], picture.objective(n[inside], t[inside]), label=label, zorder=2, **style)
    for label, style, point in _answers(picture):
        ax.plot(*point.reshape(2, 1), [picture.objective(*point)], label=label, zorder=3, **style)
    ax.set_title(picture.title, y=1.03)
    ax.set_xlabel(NORMAL_LABEL, labelpad=8)
    ax.set_ylabel(TANGENTIAL_LABEL, labelpad=8)
    ax.set_zlabel(_objective_label(picture), labelpad=12)
    ax.tick_params(axis="z", pad=7)
    ax.view_init(elev=34, azim=-58)
    ax.set_box_aspect(None, zoom=0.95)
    plots.legend_below(figure, 2)
    return figure


def _grid(
    picture: Picture, points: int, tangential_range: tuple[float, float]
) -> tuple[Floats, Floats, Floats]:
    normal, tangential = np.meshgrid(
        np.linspace(*NORMAL_RANGE, points), np.linspace(*tangential_range, points)
    )
    return normal, tangential, np.asarray(picture.objective(normal, tangential))


def _constraints(
    picture: Picture, friction: float, tangential_range: tuple[float, float]
) -> list[tuple[str, dict[str, Any], tuple[Floats, Floats]]]:
    """Label, style and (γ_n, γ_t) of every line that bounds the answer."""
    edge = np.linspace(0.0, NORMAL_RANGE[1], 100)
    to_apex_and_back = np.concatenate([edge[::-1], edge])  # one line, so that the legend has one entry
    cone = (to_apex_and_back, friction * np.concatenate([edge[::-1], -edge]))
    tangential = np.linspace(*tangential_range, 1000)
    wall = (np.zeros_like(tangential), tangential)
    solid = {"color": "black", "linestyle": "-", "linewidth": 1.8}
    dashed = {"color": "black", "linestyle": "--", "linewidth": 1.4}
    dotted = {"color": "black", "linestyle": ":", "linewidth": 2.2}
    lines = [(r"friction cone $|\gamma_t| \leq \mu\,\gamma_n$", solid, cone)]
    if picture.gap is None:
        return [*lines, (r"$\gamma_n \geq 0$", dashed, wall)]
    # The gap grows with γ_n along a straight line, so its zero follows from two of its values.
    at_zero, at_one = picture.gap(0.0, tangential), picture.gap(1.0, tangential)
    zero = -at_zero / (at_one - at_zero)
    return [*lines, (r"either $\gamma_n = 0$", dashed, wall), (picture.gap_label, dotted, (zero, tangential))]


def _answers(picture: Picture) -> list[tuple[str, dict[str, Any], Floats]]:
    def at(point: Floats) -> str:
        return f"({point[0]:.4f}, {point[1]:.4f})".replace("-", "−")

    cross = {"marker": "x", "markersize": 10, "markeredgewidth": 2.2, "color": RED, "linestyle": "none"}
    circle = {
        "marker": "o", "markersize": 12, "markeredgewidth": 1.8, "markerfacecolor": "none", "color": RED,
        "linestyle": "none",
    }  # fmt: skip
    return [
        (f"optimum {at(picture.optimum)} N·s", cross, picture.optimum),
        (f"analytical {at(picture.analytical)} N·s", circle, picture.analytical),
    ]


def _objective_label(picture: Picture) -> str:
    return r"objective $\gamma_t\,u_t$ in J" if picture.gap is not None else r"objective $q(\gamma)$ in J"
