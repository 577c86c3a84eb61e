"""Trajectories: recorded runs in HDF5, readable during the run and after it was killed.

    with Trajectory("run.h5") as trajectory:
        trajectory.times                     # of the frames, in s
        trajectory.frame(-1).position        # (n, 3) in m
        trajectory.contacts(-1).force        # (c, 3) in N
        trajectory.force_on("ball")          # (frames, 3) in N
        trajectory.reactions(-1).of("pin")   # force in N and torque in N·m of a joint
        trajectory.steps["residual"]         # one for every step

Layout of a file, versions 1 and 2 (numbers are float64, indices and counts int64 or int32; every dataset has
its unit or meaning as the attribute `unit`; strings are UTF-8 of fixed length):

    /                attributes: format = "nonsmooth-trajectory", version = 1, or 2 if a shape has
                     a rounding or a kind above 7,
                     fingerprint = hash of the system and of the recording options
    settings         settings of the run, as JSON
    bodies/          mass, inertia, fixed, bounding_radius, name and named (index of the body)
    shapes/          body, kind, size, offset, rotation, material: rows of `ShapeTable`;
                     rounding: its fourth size, if any is not 0;
                     solid, vertex_count, triangle_count, vertices, triangles: of hulls, meshes and
                     height fields
    materials/       name, friction and restitution (m, m) of every pair
    joints/          type, name and named, bodies, anchor, frame, element (drivers, springs, … in words)
    joint_rows/      label, joint, unit of every row; both are missing if there are no joints
    frames/          one row per frame: time, index (steps done), step, position, quaternion,
                     linear_velocity, angular_velocity
    contacts/        first, count: one row per frame, the range of its contacts in the others;
                     bodies, point, normal, gap, impulse: one row per contact
    reactions/       one row per frame: force, torque of every joint, row_force of every joint row
    steps/           one row per step: time, step, residual, iterations, status, and the integrator's
                     numbers (kinetic_energy, …)

A frame is the state at the end of a step; its contacts are those of the step, found at its beginning. The
first frame is the initial state; it has no contacts, and its reactions are NaN. The numbers of frames and
steps are the lengths of frames/time and steps/time, which are written last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import advice
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.errors import FileFormatError, OptionError
from nonsmooth.io._hdf5 import FilePath, open_file, suspicion
from nonsmooth.io.runs.constants import (
    RecordedBodies,
    RecordedMaterials,
    read_bodies,
    read_materials,
    read_shapes,
)
from nonsmooth.io.runs.joint_constants import RecordedJoints, read_joints
from nonsmooth.io.runs.schema import (
    CONTACTS,
    FIELDS,
    REACTIONS,
    STATE,
    STEPS,
    TRAJECTORY,
    column_kinds,
    rows_of,
)
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.state_by_body import StateByBody

_BLOCK = 1 << 20
"""Number of rows of contacts read at a time."""


@dataclass(frozen=True)
class RecordedReactions:
    """Reactions of j joints with r rows in the step of a frame; see `Reactions` for signs and uniqueness."""

    force: Floats
    """(j, 3) in N on body B, in the joint's frame, whose z is the joint's axis."""
    torque: Floats
    """(j, 3) in N·m on body B at its anchor, in the joint's frame."""
    row_force: Floats
    """(r,) in N or N·m, of every joint row; `joints.row_labels` names their owners."""
    joints: RecordedJoints

    def of(self, joint: int | str) -> tuple[Floats, Floats]:
        """Return force (3,) in N and torque (3,) in N·m of one joint, by index or name."""
        index = self.joints.index(joint)
        return self.force[index], self.torque[index]

    @property
    def rows(self) -> dict[str, Floats]:
        """Forces (N) or torques (N·m) of the rows by owner, such as "driver of joint 'pin'"."""
        labels = np.array(self.joints.row_labels)
        return {label: self.row_force[labels == label] for label in dict.fromkeys(self.joints.row_labels)}


@dataclass(frozen=True, repr=False)
class RecordedFrame(StateByBody):
    """The state after a step; fields that were not recorded are None."""

    index: int
    """Steps done."""
    time: float
    """s"""
    position: Floats | None = None
    """(n, 3) in m."""
    quaternion: Floats | None = None
    """(n, 4), (w, x, y, z), body to world."""
    linear_velocity: Floats | None = None
    """(n, 3) in m/s, world frame."""
    angular_velocity: Floats | None = None
    """(n, 3) in rad/s, body frame."""
    bodies: RecordedBodies | None = field(default=None, kw_only=True)
    """The bodies; None for frames that are not from a file."""

    def __repr__(self) -> str:
        fields = ("position", "quaternion", "linear_velocity", "angular_velocity")
        held = ", ".join(name for name in fields if getattr(self, name) is not None)
        return f"RecordedFrame(index={self.index}, time={self.time:g} s, with {held or 'no state'})"

    def _index(self, body: int | str) -> int:
        if self.bodies is None:
            raise OptionError(f"body {body!r} is not known: this frame is not that of a file")
        return self.bodies.index(body)


class Trajectory:
    """A recorded run, read in parts: only requested data is in memory.

    The file may still be growing: the contents at the time of opening are visible, until `refresh`.
    """

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self._open()

    def _open(self) -> None:
        self._root = open_file(self.path, TRAJECTORY, growing=True)
        try:
            with suspicion(self.path):
                self._find_columns()
        except BaseException:
            self.close()
            raise

    def _find_columns(self) -> None:
        """Open all columns; a row is complete if it is in every column of its kind."""
        root = self._root
        frames, steps = (root.group(name).node for name in ("frames", "steps"))
        fields = [name for name in STATE if name in frames] + (["contacts"] if root.has("contacts") else [])
        bodies = root.group("bodies").dataset("mass", ("float64",)).shape
        numbers = {name: "" for name in steps if name not in STEPS}
        joints = self.joints if root.has("reactions") else None
        sizes = (0, 0) if joints is None else (len(joints), len(joints.row_labels))
        kinds = column_kinds(bodies[0] if bodies else 0, fields, numbers, sizes)
        self.fields = tuple(fields)
        """Recorded fields of each frame, besides reactions."""
        self.has_reactions = any(sizes)
        """Whether reactions of joints were recorded."""
        self._columns = {kind.path: kind.find(root) for kind in kinds}
        lengths: dict[str, int] = {}
        for path, column in self._columns.items():
            lengths[rows_of(path)] = min(lengths.get(rows_of(path), len(column)), len(column))
        self._frames, self._steps = lengths["frames"], lengths["steps"]
        self._contacts = lengths.get("contacts", 0)

    def refresh(self) -> Trajectory:
        """Reopen the file to see rows added since; return the trajectory."""
        # Reopened, because refreshing a dataset with a second handle gives wrong numbers (HDF5 2.0),
        # and because a resumed run writes a new file of the same name.
        before = self._root.text("fingerprint")
        self.close()
        self._open()
        if self._root.text("fingerprint") != before:
            raise FileFormatError(f"{self.path} holds another run now: open it again")
        return self

    def close(self) -> None:
        """Close the file."""
        self._columns = {}
        self._root.node.close()

    def __enter__(self) -> Trajectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._frames

    def __repr__(self) -> str:
        return f"Trajectory({os.fspath(self.path)!r}, {len(self)} frames, {self._steps} steps)"

    @property
    def times(self) -> Floats:
        """Times of the frames in s."""
        return np.asarray(self._read("frames/time", slice(0, self._frames)))

    @property
    def indices(self) -> NDArray[np.int64]:
        """Number of steps done at each frame."""
        return np.asarray(self._read("frames/index", slice(0, self._frames)))

    def frame(self, number: int) -> RecordedFrame:
        """Read one frame; negative numbers count from the end."""
        row = self._row(number)
        state = {name: self._read(f"frames/{name}", row) for name in STATE if name in self.fields}
        index, time = (self._read(f"frames/{name}", row) for name in ("index", "time"))
        return RecordedFrame(index=int(index), time=float(time), bodies=self.bodies, **state)

    def contacts(self, number: int) -> ContactForces:
        """Read the contacts of one frame; negative numbers count from the end."""
        self._check_field("contacts")
        row = self._row(number)
        first, count = (int(self._read(f"contacts/{name}", row)) for name in ("first", "count"))
        if not 0 <= first <= first + count <= self._contacts:
            raise FileFormatError(
                f"{self.path}: frame {row} has the contacts {first} to {first + count} of {self._contacts}: "
                "the file is damaged"
            )
        parts = {name: self._read(f"contacts/{name}", slice(first, first + count)) for name in CONTACTS}
        return ContactForces(**parts, step=float(self._read("frames/step", row)), known=self.bodies)

    def reactions(self, number: int) -> RecordedReactions:
        """Read the reactions of one frame; negative numbers count from the end."""
        if not self.has_reactions:
            cure = "record with joints=True" if len(self.joints) else "the run has no joints"
            raise OptionError(f"reactions were not recorded in {self.path}: {cure}")
        row = self._row(number)
        parts = {name: self._read(f"reactions/{name}", row) for name in (*REACTIONS, "row_force")}
        return RecordedReactions(**parts, joints=self.joints)

    def history(self, field: str, body: int | str) -> Floats:
        """Read a field of one body, given by index or name, at all frames: (frames, 3) or (frames, 4)."""
        self._check_field(field, STATE)
        index = self.bodies.index(body)
        return np.asarray(self._read(f"frames/{field}", (slice(0, self._frames), index)))

    def force_on(self, body: int | str, *, by: int | str | None = None) -> Floats:
        """Sum of the contact forces on a body, or of those `by` another, at all frames: (frames, 3) in N.

        World frame; the mean over the step of each frame. NaN in the first frame, which has no step.
        """
        self._check_field("contacts")
        wanted, other = self.bodies.index(body), None if by is None else self.bodies.index(by)
        if wanted == other:
            raise OptionError(f"body {body!r} was asked for the force on itself: give two different bodies")
        frames = slice(0, self._frames)
        first, count = (self._read(f"contacts/{name}", frames) for name in ("first", "count"))
        step, end = self._read("frames/step", frames), int((first + count).max(initial=0))
        total = np.zeros((self._frames, 3))
        for start in range(0, end, _BLOCK):
            rows = slice(start, min(start + _BLOCK, end))
            pairs, impulse = (self._read(f"contacts/{name}", rows) for name in ("bodies", "impulse"))
            sign = (pairs[:, 1] == wanted).astype(float) - (pairs[:, 0] == wanted)
            if other is not None:
                sign[~(pairs == other).any(axis=1)] = 0.0
            acting = np.flatnonzero(sign)
            frame = np.searchsorted(first, start + acting, side="right") - 1
            np.add.at(total, frame, sign[acting, None] * impulse[acting])
        total[self.indices == 0] = np.nan
        return np.asarray(total / step[:, None])

    @property
    def steps(self) -> Steps:
        """Scalars of every step by name, each read on access."""
        return Steps(self)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the run."""
        with suspicion(self.path):
            return dict(json.loads(bytes(self._root.read_text("settings"))))

    @cached_property
    def bodies(self) -> RecordedBodies:
        """Constants of the bodies."""
        with suspicion(self.path):
            return read_bodies(self._root, str(self.path))

    @cached_property
    def joints(self) -> RecordedJoints:
        """The joints and their elements; none in a run without joints."""
        with suspicion(self.path):
            return read_joints(self._root)

    @cached_property
    def shapes(self) -> ShapeTable:
        """All shapes, as in `System.shapes`."""
        with suspicion(self.path):
            return read_shapes(self._root)

    @cached_property
    def materials(self) -> RecordedMaterials:
        """Materials and the properties of their pairs."""
        with suspicion(self.path):
            return read_materials(self._root)

    def _read(self, path: str, rows: Any) -> Any:
        if not self._columns:
            raise OptionError(f"the trajectory {self.path} is closed: open it again")
        with suspicion(self.path):
            return self._columns[path][rows]

    def _row(self, number: int) -> int:
        row = number + self._frames if number < 0 else number
        if not 0 <= row < self._frames:
            raise OptionError(f"frame {number} is not in {self.path}: it has {self._frames} frames")
        return row

    def _check_field(self, name: str, choices: Any = FIELDS) -> None:
        if name not in self.fields or name not in choices:
            known = ", ".join(field for field in self.fields if field in choices)
            raise OptionError(f"{name!r} was not recorded in {self.path}: there are {known}")


class Steps(Mapping[str, NDArray[Any]]):
    """Scalars of every step by name: `steps["residual"]` is an array with one number per step."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory

    @property
    def count(self) -> int:
        """Number of steps."""
        return self._trajectory._steps

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.rows(name, slice(0, self.count))

    def rows(self, name: str, rows: slice) -> NDArray[Any]:
        """Read a range of the `count` steps; rows count from 0."""
        start, stop, stride = rows.indices(self.count)
        values = self._trajectory._read(self._path(name), slice(start, max(start, stop), stride))
        return values.astype(str) if values.dtype.kind == "S" else np.asarray(values)

    def unit(self, name: str) -> str:
        """Return the unit or the meaning of a number, as given in the file."""
        dataset = self._trajectory._columns[self._path(name)]
        with suspicion(self._trajectory.path):
            return bytes(dataset.attrs["unit"]).decode()

    def _path(self, name: str) -> str:
        if name not in set(self):
            raise KeyError(f"{name!r} was not recorded of the steps: {advice(name, list(self))}")
        return f"steps/{name}"

    def __iter__(self) -> Iterator[str]:
        return (path[6:] for path in self._trajectory._columns if path.startswith("steps/"))

    def __len__(self) -> int:
        return sum(1 for _ in self)
