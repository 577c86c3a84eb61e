"""A recorded run as tables, one row each for every body, frame and body, contact, joint, and step.

DIR/bodies     constants: one row per body
DIR/frames     one row per frame and body
DIR/contacts   one row per frame and contact
DIR/joints     one row per frame and joint
DIR/joint_rows one row per frame and row of the joints' equations
DIR/steps      one row per step
DIR/columns.csv   unit and meaning of every column, beside tables in CSV
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.progress import Progress, frames_with_progress
from nonsmooth.errors import OptionError
from nonsmooth.io.exports.selection import Selection
from nonsmooth.io.exports.tables import TableColumn, TableForm, check_parquet, new_table
from nonsmooth.io.runs.trajectory import Trajectory
from nonsmooth.view.exports.quantities import FrameQuantities, Quantities, Quantity

_TABLES = ("bodies", "frames", "contacts", "joints", "joint_rows", "steps")

_STEP_ROWS = 100_000
"""Number of steps read at a time."""

_STEP_MEANINGS = {
    "time": "at the end of the step",
    "step": "length of the step",
    "iterations": "of the solver",
    "contacts": "number of contacts",
    "kinetic_energy": "at the end of the step",
    "potential_energy": "of gravity and springs, at the end of the step",
    "contact_work": "energy that contacts put in, negative where they take it",
    "dissipation": "energy that friction takes out",
    "complementarity": "largest product of normal impulse and normal velocity",
    "force_error": "estimate of the relative error of the contact forces",
    "penetration": "deepest overlap, at the beginning of the step",
    "late_contacts": "contacts found only when bodies overlapped already",
    "largest_speed": "of a body, at the end of the step",
    "joint_error": "largest opening of a joint",
    "impacts": "impacts of contacts with restitution",
    "impact_work": "energy that impacts put in, negative where they take it",
    "reduced_impacts": "impacts whose restitution was reduced to create no energy",
    "unfinished_impacts": "contacts of impacts that still approached in the end, or did not converge",
    "flight_work": "energy that the way of moving bodies adds beside the work of forces",
}
"""Meanings of the numbers of a step, if the file has only their units."""


def export_tables(
    trajectory: Trajectory,
    folder: Path,
    form: TableForm,
    selection: Selection | None = None,
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """Write tables of the chosen frames, and of the steps in that span of time, and return the files.

    Args:
        trajectory: a recorded run; what was not recorded is missing in the tables.
        folder: made if it is not there; tables of an earlier export are replaced.
        form: CSV or Parquet.
        selection: of the frames; all if omitted.
        progress: called as progress(frames done, of how many, what).
    """
    selection = selection or Selection()
    frames = selection.frames(trajectory.times)
    if form is TableForm.PARQUET:
        check_parquet()
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder} is a file: name a folder for the tables")
    folder.mkdir(parents=True, exist_ok=True)
    for name in _TABLES:
        (folder / f"{name}.{form}").unlink(missing_ok=True)
    quantities = Quantities(trajectory)
    with ExitStack() as stack:
        constants = _split(quantities.constants)
        first = _rows(quantities.at(frames[0]), constants)
        known = {"bodies": constants, **first, "steps": _steps(trajectory, slice(0, 0))}
        tables = {name: stack.enter_context(new_table(folder / f"{name}.{form}", form)) for name in known}
        tables["bodies"].append(constants)
        for rows in _step_rows(trajectory, selection):
            tables["steps"].append(rows)
        if form is TableForm.CSV:
            _describe(folder / "columns.csv", known)
        for number in frames_with_progress(frames, progress):
            for name, rows in _rows(quantities.at(number), constants).items():
                tables[name].append(rows)
    files = [table.path for table in tables.values()]
    return [*files, folder / "columns.csv"] if form is TableForm.CSV else files


def _rows(found: FrameQuantities, constants: list[TableColumn]) -> dict[str, list[TableColumn]]:
    """Return the rows of a frame by their table."""
    who = [column for column in constants if column.name in ("body", "name")]
    rows = {"frames": [*_when(found, len(who[0].values)), *who, *_split(found.bodies)]}
    more = {"contacts": found.contacts, "joints": found.joints, "joint_rows": found.joint_rows}
    for name, quantities in more.items():
        if quantities is not None:
            rows[name] = [*_when(found, len(quantities[0].values)), *_split(quantities)]
    return rows


def _when(found: FrameQuantities, rows: int) -> list[TableColumn]:
    return [
        TableColumn("frame", np.full(rows, found.number), "", "number of the frame in the recording"),
        TableColumn("steps_done", np.full(rows, found.frame.index), "", "steps done, 0 at the beginning"),
        TableColumn("time", np.full(rows, found.frame.time), "s", "simulated time"),
    ]


def _split(quantities: list[Quantity]) -> list[TableColumn]:
    """Replace codes by words, and vectors by one column per component."""
    columns = []
    for q in quantities:
        for suffix, values in _components(q):
            columns.append(TableColumn(q.name + suffix, values, q.unit, q.meaning))
    return columns


def _components(quantity: Quantity) -> Iterator[tuple[str, NDArray[Any] | list[str]]]:
    values = quantity.values
    if isinstance(values, list):
        yield "", values
    elif quantity.words:
        yield "", [("", *quantity.words)[code + 1] for code in values.tolist()]
    elif values.ndim == 1:
        yield "", values
    else:
        for axis, column in zip("wxyz"[-values.shape[1] :], values.T, strict=True):
            yield f"_{axis}", column


# ---- steps ------------------------------------------------------------------------------------------


def _step_rows(trajectory: Trajectory, selection: Selection) -> Iterator[list[TableColumn]]:
    """Give the steps of a span of time piece by piece; none is one piece without rows."""
    chosen = selection.inside(trajectory.steps["time"])
    first, end = (int(chosen[0]), int(chosen[-1]) + 1) if len(chosen) else (0, 0)
    for at in range(first, max(end, first + 1), _STEP_ROWS):
        yield _steps(trajectory, slice(at, min(at + _STEP_ROWS, end)))


def _steps(trajectory: Trajectory, rows: slice) -> list[TableColumn]:
    steps = trajectory.steps
    done = np.arange(rows.start, rows.stop) + 1
    columns = [TableColumn("steps_done", done, "", "steps done, this one included")]
    for name in steps:
        values, text = steps.rows(name, rows), steps.unit(name)
        if values.dtype.kind == "U":
            columns.append(TableColumn(name, values.tolist(), "", text))
        else:
            # What files say: "1, relative residual" is a number without a unit, and what it means.
            unit, _, meaning = text.partition(", ")
            meaning = meaning or _STEP_MEANINGS.get(name, name.replace("_", " "))
            columns.append(TableColumn(name, values, "" if unit == "1" else unit, meaning))
    return columns


# ---- the columns ------------------------------------------------------------------------------------


def _describe(path: Path, tables: dict[str, list[TableColumn]]) -> None:
    """Write unit and meaning of every column of tables that cannot carry them."""
    rows = [
        (name, each.name, each.unit, each.meaning) for name, columns in tables.items() for each in columns
    ]
    headings = ("table", "column", "unit", "meaning")
    with new_table(path, TableForm.CSV) as table:
        table.append(
            [
                TableColumn(name, list(words), "", "")
                for name, words in zip(headings, zip(*rows, strict=True), strict=True)
            ]
        )
