"""Figures of the grasps of Andreani et al., and of cones against pyramids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.complementarity.library.grasps import Grasp
    from nonsmooth.experiments.andreani.grasps import Answer


_LAST_CLASS = 32
"""Objectives below 10⁻³² are included in the class 32."""


def objectives(answers: Sequence[Answer], title: str) -> Figure:
    """Figs. 2 and 3: number of instances with each ⌊−log10 f*⌋, by the paper's stopping rule and by ours."""
    figure, (ax,) = plots.new_axes((9.0, 4.2))
    classes = np.arange(0, _LAST_CLASS + 1)
    for shift, label, colour, values in (
        (-0.2, "stopped as in the paper: below 1e-10", ORANGE, [a.objective_at_stop for a in answers]),
        (0.2, "stopped by the certificate, 1e-10", BLUE, [a.objective for a in answers]),
    ):
        found = [
            min(_LAST_CLASS, math.floor(-math.log10(value))) if value > 0.0 else _LAST_CLASS
            for value in values
        ]
        counts = np.bincount(np.clip(found, 0, _LAST_CLASS), minlength=len(classes))
        ax.bar(classes + shift, counts, width=0.4, color=colour, label=label)
    ax.axvline(9.5, color=DARK_GREY, linewidth=1.0, linestyle="--", label="solved by the paper's criterion")
    names = [str(k) for k in classes[::2]]
    names[-1] += "+"
    ax.set_xticks(classes[::2], names)
    ax.set(
        title=title,
        xlabel=r"$\lfloor-\log_{10}$ of the objective of problem (2)$\rfloor$",
        ylabel=f"instances, of {len(answers)}",
    )
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return figure


def forces(instances: Sequence[Grasp], table: Mapping[tuple[str, str], Sequence[Answer]]) -> Figure:
    """Tangential forces of both contacts, divided by μ c_n: the disk of the cone and the square."""
    figure, axes = plots.new_axes((9.0, 5.2), columns=2)
    circle = np.linspace(0.0, 2.0 * np.pi, 200)
    for contact, ax in enumerate(axes):
        ax.plot(np.cos(circle), np.sin(circle), color=BLUE, linewidth=1.0, label="edge of the cone")
        square = [-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]
        ax.plot(*square, color=ORANGE, linewidth=1.0, label="edge of the pyramid")
        for family, colour, marker, size in (("pyramid", ORANGE, "s", 4.5), ("rolling", BLUE, "o", 3.0)):
            found = np.array([answer.force for answer in table[family, "semismooth-newton"]])
            closed = found[:, contact] > 1e-6
            scaled = found[closed] / (instances[0].friction * found[closed, contact])[:, None]
            name = "pyramid, linear problem" if family == "pyramid" else "Coulomb's cone, mixed problem"
            ax.plot(
                scaled[:, 2 + contact], scaled[:, 4 + contact], marker, color=colour, markersize=size,
                markeredgewidth=0.0, alpha=0.8, label=name,
            )  # fmt: skip
        ax.set(
            title=f"contact {contact + 1}, where it stays closed", xlabel=r"$c_t\,/\,(\mu\,c_n)$",
            ylabel=r"$c_o\,/\,(\mu\,c_n)$", xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal",
        )  # fmt: skip
    plots.legend_below(figure, 2)
    return figure
