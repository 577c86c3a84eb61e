"""The style of all figures.

matplotlib is imported when the first figure is created, and never through pyplot: a figure is an object
with its own canvas, so that there is no global state and no display is needed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth._support.arrays import Pixels
from nonsmooth.experiments.shared.notation import for_figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

DPI = 150
WIDEST = 9.6
"""Width in inches: wider figures are scaled down at the same text size, for legibility on a page."""


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches, scaled down to the width WIDEST if it is wider."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scale = min(1.0, WIDEST / size[0])
    figure = Figure(figsize=(scale * size[0], scale * size[1]), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(
    size: tuple[float, float], columns: int = 1, rows: int = 1, *, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a new figure and its axes, row by row, in the house style."""
    figure = new_figure(size)
    axes = list(figure.subplots(rows, columns, sharey=share_y, squeeze=False).flat)
    for ax in axes:
        ax.grid(True, color="#E5E5E5", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend_below(figure: Figure, columns: int) -> None:
    """Put one legend for all axes below them, in fewer columns if it is too wide."""
    found = {
        label: handle
        for ax in figure.axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    for ncols in range(columns, 0, -1):
        legend = figure.legend(
            found.values(), found.keys(), loc="outside lower center", ncols=ncols, frameon=False
        )
        if ncols == 1 or legend.get_window_extent().width < figure.bbox.width:
            return
        legend.remove()


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, with few labels on logarithmic axes and typeset numbers."""
    from matplotlib.text import Text

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "log":
                _label_few(axis)
    for text in figure.findobj(Text):
        text.set_text(for_figures(text.get_text()))
    figure.savefig(path, dpi=DPI)
    return path


def save_pixels(pixels: Pixels, path: Path) -> Path:
    """Write a picture (height, width, 3) as PNG."""
    from PIL import Image

    Image.fromarray(pixels).save(path)
    return path


def _label_few(axis: Axis) -> None:
    """Label some numbers between the powers of ten on a short axis, none on a long one; keep own labels."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter

    if not isinstance(axis.get_minor_formatter(), LogFormatter):
        return
    low, high = sorted(axis.get_view_interval())
    if high > 50.0 * low:
        axis.set_minor_formatter(NullFormatter())
        return
    digits = (1, 2, 3, 4, 6) if high < 6.0 * low else (1, 2, 5)
    plain = low > 0.001 and high < 10_000.0

    def label(value: float, _: int) -> str:
        exponent = math.floor(math.log10(value) + 1e-9)
        first = round(value / 10.0**exponent)
        if first not in digits:
            return ""
        if plain:
            return f"{value:g}"
        return rf"${first}\times10^{{{exponent}}}$" if first > 1 else rf"$10^{{{exponent}}}$"

    axis.set_minor_formatter(FuncFormatter(label))
    if isinstance(axis.get_major_formatter(), LogFormatter):
        axis.set_major_formatter(FuncFormatter(label))
