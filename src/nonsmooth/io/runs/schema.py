"""Layout of a trajectory file: its columns, their types and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nonsmooth.io._hdf5 import FileKind
from nonsmooth.io.runs.chunked_columns import ColumnKind

TRAJECTORY = FileKind("nonsmooth-trajectory", 2, "trajectory", "a recorded run")

STATE = {
    "position": (3, "m"),
    "quaternion": (4, "unit quaternion (w, x, y, z), body to world"),
    "linear_velocity": (3, "m/s, world frame"),
    "angular_velocity": (3, "rad/s, body frame"),
}
"""Fields of the bodies: numbers for each of them, and the unit."""

FIELDS = (*STATE, "contacts")
"""Fields of a frame that can be recorded."""

CONTACTS: dict[str, tuple[tuple[int, ...], Any, str]] = {
    "bodies": ((2,), np.int32, "indices of bodies A and B"),
    "point": ((3,), np.float64, "m, world frame"),
    "normal": ((3,), np.float64, "unit vector from A to B, world frame"),
    "gap": ((), np.float64, "m, negative where bodies overlap"),
    "impulse": ((3,), np.float64, "N·s on body B, world frame; divided by frames/step it is the force in N"),
}

REACTIONS = {
    "force": (3, "N on body B, in the joint's frame"),
    "torque": (3, "N·m on body B at its anchor, in the joint's frame"),
}
"""Fields of the joints: numbers for each of them, and the unit."""

STATUS_BYTES = 24
"""Length of the status of a step."""

STEPS: dict[str, tuple[Any, str]] = {
    "time": (np.float64, "s"),
    "step": (np.float64, "s"),
    "residual": (np.float64, "1, relative residual of the certificate"),
    "iterations": (np.int64, "1"),
    "status": (np.dtype(f"S{STATUS_BYTES}"), "how the solve ended"),
}
"""Columns of every step, besides the numbers named by the integrator."""

COMMITS = ("frames/time", "steps/time")
"""Columns that are written last: a row is complete when it is in them."""


def column_kinds(
    bodies: int, fields: Iterable[str], numbers: Mapping[str, str], joints: tuple[int, int] = (0, 0)
) -> list[ColumnKind]:
    """List the columns of a trajectory of `bodies` bodies, and `joints` with rows whose forces are stored."""
    fields = tuple(fields)
    kinds = [
        ColumnKind("frames/time", (), np.float64, "s", 256),
        ColumnKind("frames/index", (), np.int64, "steps done", 256),
        ColumnKind("frames/step", (), np.float64, "s; NaN for the state that the run began with", 256),
    ]
    for name, (numbers_per_body, unit) in STATE.items():
        if name in fields:
            kinds.append(ColumnKind(f"frames/{name}", (bodies, numbers_per_body), np.float64, unit, 256))
    if "contacts" in fields:
        kinds.append(ColumnKind("contacts/first", (), np.int64, "first row of the frame", 256))
        kinds.append(ColumnKind("contacts/count", (), np.int64, "rows of the frame", 256))
        chunk = max(256, 8 * bodies)
        for name, (row, dtype, unit) in CONTACTS.items():
            kinds.append(ColumnKind(f"contacts/{name}", row, dtype, unit, chunk))
    count, rows = joints
    if rows:
        for name, (numbers_per_joint, unit) in REACTIONS.items():
            kinds.append(ColumnKind(f"reactions/{name}", (count, numbers_per_joint), np.float64, unit, 256))
        unit = "N or N·m, as the row's unit is m or rad"
        kinds.append(ColumnKind("reactions/row_force", (rows,), np.float64, unit, 256))
    for name, (dtype, unit) in STEPS.items():
        kinds.append(ColumnKind(f"steps/{name}", (), dtype, unit, 1024))
    for name, unit in numbers.items():
        kinds.append(ColumnKind(f"steps/{name}", (), np.float64, unit, 1024))
    return kinds


def rows_of(path: str) -> str:
    """Return the kind of rows of a column: "frames", "contacts" or "steps"."""
    group, name = path.split("/")
    return "frames" if group == "reactions" or name in ("first", "count") else group
