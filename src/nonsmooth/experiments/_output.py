"""Files and figure style that all experiments share.

matplotlib is imported when the first figure is made, and never through pyplot: a figure is an object
with a canvas of its own, so nothing global is touched and no display is needed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
BLUE, ORANGE, GREEN, RED = "#0072B2", "#D55E00", "#009E73", "#CC0000"
"""Colours that stay apart for colour-blind eyes; red is kept for answers."""
LIGHT_GREY, DARK_GREY = "#BBBBBB", "#333333"


def prepare_folder(folder: Path) -> Path:
    """Make the output folder."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"output folder {str(folder)!r} is a file: name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_text(path: Path, text: str) -> Path:
    """Write a text file."""
    path.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, content: Any) -> Path:
    """Write a JSON file; numbers keep all their digits."""
    return write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table; None becomes an empty cell, numbers keep all their digits."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
    return path


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=DPI, layout="constrained")
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
    """Put one legend for all axes below them, where it hides nothing."""
    found = {
        label: handle
        for ax in figure.axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, frameon=False)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG."""
    figure.savefig(path, dpi=DPI)
    return path
