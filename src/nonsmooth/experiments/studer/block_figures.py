"""Figures of Studer and Glocker, drawn with the package's own proximal maps (`problem.cones`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE, RED
from nonsmooth.problem.cones import (
    kappa_disk,
    project_disk,
    project_half_line,
    regularised_friction,
    regularised_normal,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.experiments.studer.block import Sweep


_LAW: dict[str, Any] = {"color": LIGHT_GREY, "linewidth": 6.0, "solid_capstyle": "butt"}
_REGULARISED: dict[str, Any] = {"color": DARK_GREY, "linewidth": 1.8, "linestyle": "--"}
_MEET: dict[str, Any] = {"marker": "o", "color": RED, "markersize": 8, "linestyle": "none"}


def iterations(
    sweeps: Sequence[Sweep],
    cases: Mapping[str, str],
    limits: Mapping[str, float],
    *,
    limit: int,
    tolerance: float,
) -> Figure:
    """Fig. 8: iterations against ω, JORprox dashed and SORprox solid, one panel for each case."""
    figure, axes = plots.new_axes((11.0, 4.6), columns=len(cases), share_y=True)
    styles = {"JORprox": ("--", ORANGE, 1.22), "SORprox": ("-", BLUE, 1.5)}
    for ax, (case, title) in zip(axes, cases.items(), strict=True):
        for part in (part for part in sweeps if part.case == case):
            line, colour, height = styles[part.method]
            counts = np.where(part.solved, part.iterations, np.nan)
            ax.plot(part.omega, counts, line, color=colour, linewidth=1.8, label=part.method)
            missed = part.omega[~part.solved]
            ax.plot(
                missed, np.full_like(missed, height * limit), "x", color=colour, markersize=3.5,
                label=f"{part.method}: not within {limit}",
            )  # fmt: skip
        ax.axvline(
            limits[case], color=GREEN, linewidth=1.2, linestyle="-.", label="JORprox, local limit 2/ρ(D⁻¹G)"
        )
        ax.annotate(
            f"{limits[case]:.3f}",
            (limits[case], 5.0),
            (3, 0),
            textcoords="offset points",
            color=GREEN,
            va="bottom",
        )
        ax.axhline(limit, color=DARK_GREY, linewidth=0.6)
        ax.set(
            title=title, xlabel="relaxation factor ω", xlim=(0.0, 2.0), yscale="log", ylim=(4.5, 1.9 * limit)
        )
        ticks = [5, 10, 20, 50, 100, 200, limit]
        ax.set_yticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
    axes[0].set_ylabel(f"iterations to a relative residual of {tolerance:g}")
    plots.legend_below(figure, 5)
    return figure


def prox_half_line() -> Figure:
    """Fig. 3: prox of the half line; its slope is never above one."""
    figure, (ax,) = plots.new_axes((5.4, 4.4))
    x = np.linspace(-2.0, 2.0, 401)
    _axes_lines(ax)
    ax.plot(x, x, color=DARK_GREY, linewidth=1.0, linestyle="--", label=r"$\xi$ (slope 1)")
    label = r"$\mathrm{prox}(\xi)$ on the half line $\xi \geq 0$"
    ax.plot(x, project_half_line(x), color=BLUE, linewidth=2.4, label=label)
    ax.set(
        xlabel=r"$\xi$ in N",
        ylabel=r"$\mathrm{prox}(\xi)$ in N",
        xlim=(-2.0, 2.0),
        ylim=(-1.0, 2.0),
        aspect="equal",
    )
    plots.legend_below(figure, 2)
    return figure


def contraction() -> Figure:
    """Fig. 4, inequality (64): projecting two points on the disk never moves them apart."""
    figure, axes = plots.new_axes((9.6, 5.6), columns=2)
    start = np.array([1.75, 0.55])
    panels = (
        ("both outside S", np.array([start, [0.35, 1.7]]), (6, 6)),
        ("one outside S, one inside", np.array([start, [-0.35, -0.3]]), (-36, -14)),
    )
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    for ax, (title, before, offset) in zip(axes, panels, strict=True):
        after = project_disk(before, 1.0)
        apart = [float(np.linalg.norm(pair[0] - pair[1])) for pair in (before, after)]
        ax.fill(
            np.cos(angle), np.sin(angle), facecolor="#E8EEF4", edgecolor=DARK_GREY, linewidth=1.2,
            label="S, radius a = 1 N",
        )  # fmt: skip
        for point, nearest in zip(before, after, strict=True):
            ax.plot(*np.array([point, nearest]).T, color=DARK_GREY, linewidth=0.9, linestyle=":")
        label = r"$\mathbf{F}(\lambda)$ and $\mathbf{F}(\hat\lambda)$"
        ax.plot(*before.T, "o-", color=ORANGE, linewidth=2.0, label=f"{label}: {apart[0]:.3f} N apart")
        ax.plot(*after.T, "s-", color=BLUE, linewidth=2.0, label=f"their projections: {apart[1]:.3f} N apart")
        ax.annotate(r"$\mathbf{F}(\lambda)$", before[0], (6, 6), textcoords="offset points")
        ax.annotate(r"$\mathbf{F}(\hat\lambda)$", before[1], offset, textcoords="offset points")
        ax.set(
            title=title, xlabel=r"friction force along $t_1$ in N", ylabel=r"friction force along $t_2$ in N",
            xlim=(-1.25, 2.35), ylim=(-2.2, 2.1), aspect="equal",
        )  # fmt: skip
        ax.legend(loc="lower center", framealpha=1.0)
    return figure


def lipschitz(matrices: Mapping[str, Floats]) -> Figure:
    """Fig. 5: the bound (68) of the Lipschitz constant over ω and its two summands, for some matrices G."""
    figure, axes = plots.new_axes((10.0, 4.8), columns=len(matrices), share_y=True)
    omega = np.linspace(0.0, 2.0, 401)
    for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
        diagonal = np.abs(np.diag(matrix))
        others = float(((np.abs(matrix).sum(axis=1) - diagonal) / diagonal).max())
        ax.plot(omega, np.abs(1.0 - omega), "--", color=BLUE, linewidth=1.4, label=r"$|1 - \omega|$")
        sums = r"$\omega \, \max_h \sum_{k \neq h} |G_{hk} / G_{hh}|$"
        ax.plot(omega, others * omega, "--", color=GREEN, linewidth=1.4, label=sums)
        bound = np.abs(1.0 - omega) + others * omega
        ax.plot(omega, bound, color=RED, linewidth=2.2, label=r"their sum $\tilde L(\omega)$")
        ax.axhline(1.0, color=DARK_GREY, linewidth=0.9, linestyle=":", label="1: convergent below")
        least = int(np.argmin(bound))
        ax.plot(omega[least], bound[least], **_MEET)
        ax.set(xlabel=r"relaxation factor $\omega$", title=title, ylim=(0.0, 3.5))
    axes[0].set_ylabel(r"bound of the Lipschitz constant $\tilde L$")
    plots.legend_below(figure, 4)
    return figure


def exact_regularisation() -> Figure:
    """Fig. 9: Upr and its regularisation y = prox(y* − r x) of Eq. 109, which intersect at the solution."""
    figure, axes = plots.new_axes((9.6, 4.8), columns=2, share_y=True)
    slope, intercept, reach = 1.5, 1.0, 2.0
    x = np.linspace(-1.0, reach, 601)
    panels = ((intercept, "contact closed: $y = y^* > 0$"), (0.0, "contact opens: $y = y^* = 0$"))
    for ax, (shift, title) in zip(axes, panels, strict=True):
        _axes_lines(ax)
        ax.plot([0.0, 0.0, reach], [2.4, 0.0, 0.0], label=r"$-y \in \mathrm{Upr}(x)$", **_LAW)
        label = r"$y = \mathrm{prox}(y^* - r\,x)$, $r$ = 1.5 kg (Eq. 109)"
        ax.plot(x, regularised_normal(x, shift, slope), label=label, **_REGULARISED)
        ax.set(title=title, xlabel="acceleration x in m/s²", xlim=(-1.0, reach), ylim=(-0.3, 2.4))
        ax.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    closed, opens = axes
    closed.set_ylabel("force y in N")
    closed.plot(0.0, intercept, label="both laws hold with $y = y^*$", **_MEET)
    closed.annotate("$(0,\\ y^*)$", (0.0, intercept), (10, 4), textcoords="offset points", color=RED)
    _slope_mark(closed, (0.2, intercept - 0.2 * slope), 0.3, slope)
    opens.plot([0.0, reach], [0.0, 0.0], color=RED, linewidth=2.0)
    opens.annotate(r"all $x \geq 0$", (1.0, 0.0), (0, 10), textcoords="offset points", color=RED, ha="center")
    plots.legend_below(figure, 3)
    return figure


def force_laws() -> Figure:
    """Fig. 10: the laws of contact and planar friction, their inverses, and their exact regularisations."""
    figure, axes = plots.new_axes((10.0, 8.0), columns=2, rows=2)
    r, limit, reach = 1.2, 1.0, 2.0
    closing, sticking, sliding = 1.0, 0.6, 0.8
    x = np.linspace(-reach, reach, 801)
    column = x[:, None]
    half_line = ([0.0, 0.0, reach], [reach, 0.0, 0.0])
    force, acceleration = r"force $\lambda$ in N", r"acceleration $\dot\gamma$ in m/s²"
    _law(
        axes[0],
        r"-\lambda \in \mathrm{Upr}(\dot\gamma)", r"\lambda = \mathrm{prox}(\lambda^* - r\,\dot\gamma)",
        half_line, (x, regularised_normal(x, closing, r)), (0.0, closing), r"(0,\ \lambda^*)",
    )  # fmt: skip
    _law(
        axes[1],
        r"-\lambda \in a\,\mathrm{Sgn}(\dot\gamma)", r"\lambda = \mathrm{prox}_S(\lambda^* - r\,\dot\gamma)",
        ([-reach, 0.0, 0.0, reach], [limit, limit, -limit, -limit]),
        (x, regularised_friction(column, sticking, r, limit)[:, 0]), (0.0, sticking), r"(0,\ \lambda^*)",
    )  # fmt: skip
    _law(
        axes[2],
        r"-\dot\gamma \in \mathrm{Upr}(\lambda)", r"\dot\gamma = \mathrm{prox}(\dot\gamma^* - r\,\lambda)",
        half_line, (x, regularised_normal(x, closing, r)), (0.0, closing), r"(0,\ \dot\gamma^*)",
    )  # fmt: skip
    _law(
        axes[3],
        r"-\dot\gamma \in \mathrm{Sgn}^{-1}(\lambda/a)",
        r"\dot\gamma = \kappa_S(\dot\gamma^* - r\,\lambda,\ r)",
        ([-limit, -limit, limit, limit], [reach, 0.0, 0.0, -reach]),
        (x, kappa_disk(sliding - r * column, r, limit)[:, 0]), (-limit, sliding), r"(-a,\ \dot\gamma^*)",
    )  # fmt: skip
    for ax, bottom in zip(axes, (-0.5, -reach, -0.5, -reach), strict=True):
        ax.set(xlim=(-reach, reach), ylim=(bottom, reach))
    for ax in axes[:2]:
        ax.set(xlabel=acceleration, ylabel=force)
    for ax in axes[2:]:
        ax.set(xlabel=force, ylabel=acceleration)
    ticks, names = [-2.0, -limit, 0.0, limit, 2.0], ["−2", "−a = −1", "0", "a = 1", "2"]
    axes[1].set_yticks(ticks, names)
    axes[3].set_xticks(ticks, names)
    plots.legend_below(figure, 3)
    return figure


def _law(
    ax: Axes, inclusion: str, equation: str, law: Any, regularised: Any, meet: tuple[float, float], name: str
) -> None:
    _axes_lines(ax)
    ax.plot(*law, label="set-valued law", **_LAW)
    ax.plot(*regularised, label="exact regularisation, slope −r", **_REGULARISED)
    ax.plot(*meet, label="solution, at the intersection", **_MEET)
    ax.annotate(f"${name}$", meet, (10, 4), textcoords="offset points", color=RED)
    ax.set_title(f"${inclusion}$:   ${equation}$")


def _slope_mark(ax: Axes, start: tuple[float, float], run: float, slope: float) -> None:
    """Draw the triangle that shows a falling line's slope."""
    x, y = start
    ax.plot([x, x + run, x + run], [y, y, y - slope * run], color=DARK_GREY, linewidth=1.0)
    ax.annotate("1", (x + run / 2, y), (0, 3), textcoords="offset points", ha="center")
    ax.annotate("$r$", (x + run, y - slope * run / 2), (4, 0), textcoords="offset points", va="center")


def _axes_lines(ax: Axes) -> None:
    ax.axhline(0.0, color=DARK_GREY, linewidth=0.6, zorder=0.9)
    ax.axvline(0.0, color=DARK_GREY, linewidth=0.6, zorder=0.9)
