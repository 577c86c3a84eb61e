"""The writer of trajectories and checkpoints during a run.

    recording = Recording("run.h5", interval=0.02, checkpoint_seconds=60.0)
    with Writer(recording) as writer:
        memory = writer.begin(system, settings, numbers={"kinetic_energy": "J"}, resume=True)
        ...                                   # restore the memory if there is one
        for each step:
            writer.frame(frame)
            whole = writer.rows               # needed for a checkpoint of this step
            if writer.checkpoint_due:
                writer.checkpoint(stepper.memory(), whole)

The layout of the file is described in `nonsmooth.io.runs.trajectory`. A killed run stays readable and can be
resumed:

- The file is written in the single-writer-multiple-reader mode (SWMR) of HDF5, in which the file on
  the disk is always complete. All columns are flushed before those that define the number of rows.
- Such a file can be read after its writer was killed, but not written again. A resumed run therefore
  copies the rows up to its last checkpoint into a new file, which then replaces the old one.
- A checkpoint is written only after all its rows are on the disk.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import FileFormatError, OptionError
from nonsmooth.io._arrays import Arrays, write_constants
from nonsmooth.io._hdf5 import (
    FilePath,
    check_room,
    new_file,
    open_file,
    reading,
    suspicion,
    sync,
    text_type,
    write_header,
    write_text,
    writing,
)
from nonsmooth.io.runs.checkpoint import (
    Checkpoint,
    Memory,
    checkpoint_path,
    read_checkpoint,
    write_checkpoint,
)
from nonsmooth.io.runs.chunked_columns import Chunk, Column, ColumnKind, copy_rows
from nonsmooth.io.runs.constants import constants, fingerprint, version
from nonsmooth.io.runs.recording import FrameLike, ReactionsLike, Recording
from nonsmooth.io.runs.schema import (
    COMMITS,
    CONTACTS,
    REACTIONS,
    STATE,
    STATUS_BYTES,
    STEPS,
    TRAJECTORY,
    column_kinds,
    rows_of,
)
from nonsmooth.model.system import System

_BATCH_BYTES = 4_000_000
"""Size of full chunks, in bytes, at which they are written to the disk."""
_FLUSH_SECONDS = 1.0
"""Longest time in s until rows are visible to readers, while frames come in."""
_FORMAT = ("v110", "v110")
"""Files have the layout of HDF5 1.10 (2016), the first version in which a growing file can be read: programs
built on older versions could not open growing files with the newer layouts that HDF5 prefers."""
_MAY_CHANGE = ("duration", "threads")
"""Settings that may differ when a run is resumed."""
_BEFORE = {"scheme": "stabilised"}
"""Defaults for runs recorded before a setting existed."""
_FORMER_OPTIONS = {
    "max_blocks": "largest",
    "max_unknowns": "largest",
    "max_proximal_blocks": "proximal_blocks",
    "max_lemke_unknowns": "lemke_unknowns",
}
"""Options of solvers by their present names, and their names in recordings of version 0.1.0."""


class _Job(NamedTuple):
    """Chunks taken from a column, and its number of rows at that time."""

    column: Column
    chunks: list[Chunk]
    rows: int


class Writer:
    """Writes one trajectory and its checkpoints.

    Compression and writing run on a separate thread, one batch at a time; errors there are raised by the next
    call. After an error the rows visible to readers are kept.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._path = recording.path
        self._file: Any = None
        self._columns: dict[str, Column] = {}
        self._numbers: tuple[str, ...] = ()
        self._joint_rows: dict[str, list[int]] = {}  # rows of each label, if forces of joints are recorded
        self._fingerprint = ""
        self._kept = 0  # frames visible to readers
        self._waiting = 0  # bytes in full chunks
        self._whole = True  # all columns have the same steps
        self._flushed = self._saved = time.monotonic()
        self._saved_step = 0
        self._thread: ThreadPoolExecutor | None = None
        self._running: Future[None] | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:  # report the first error
            with suppress(OSError):
                self.close()

    def begin(
        self,
        system: System,
        settings: Mapping[str, Any],
        *,
        numbers: Mapping[str, str] | None = None,
        resume: bool = False,
        steps: int | None = None,
        index: int = 0,
        moment: float = 0.0,
    ) -> dict[str, Any] | None:
        """Create the file, or resume it; return the memory of the checkpoint to resume from, or None.

        Args:
            system: the system in the initial state of the run, also for a resumed run.
            settings: settings of the run: numbers, strings and lists by name.
            numbers: names and units of `frame.numbers`.
            resume: continue from the last checkpoint. If no step was recorded, the run starts at its
                beginning; a recording of steps without a checkpoint is an error, and is not changed. Without
                `resume` an existing file is an error, unless the recording has `overwrite`.
            steps: number of steps of the run: resuming a recording with more steps is an error.
            index: steps done before the first frame.
            moment: time of the first frame, in s.
        """
        self._check_older(resume)
        numbers = dict(numbers or {})
        for name in numbers:
            if name in STEPS or "/" in name:
                raise OptionError(f"the number {name!r} of a step cannot be recorded: give it another name")
        text = _as_json(settings)
        arrays = constants(system)
        choice = self.recording
        kept = (choice.every, choice.interval, choice.times, choice.fields, choice.compression, numbers)
        joints = ("joints",) if choice.joints else ()
        self._fingerprint = fingerprint(system, arrays, *kept, *joints)
        self._numbers = tuple(numbers)
        self._joint_rows = {}
        labels = system.joints.table.labels if choice.joints else ()
        for row, label in enumerate(labels):
            self._joint_rows.setdefault(label, []).append(row)
        checkpoint = self._find_checkpoint(text, steps) if resume else None
        kinds = column_kinds(system.count, choice.fields, numbers, (len(system.joints), len(labels)))
        try:
            self._create(arrays, text, kinds, checkpoint)
        except BaseException:
            self._end()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nonsmooth-recording")
        if checkpoint is None:
            self._store(index, moment, np.nan, system, Contacts.empty(), np.zeros((0, 3)))
            self._store_reactions(None)
        else:
            self._saved_step = self._columns["steps/time"].rows
        self._flush()
        return None if checkpoint is None else dict(checkpoint.memory)

    def frame(self, frame: FrameLike) -> None:
        """Add a step: its scalars, and its state and contacts if it is a frame to record."""
        self._check_open()
        if len(frame.status.encode()) > STATUS_BYTES:
            raise OptionError(f"status {frame.status!r} is too long to be recorded: shorten it")
        if frame.numbers.keys() - set(self._numbers):
            unknown = ", ".join(sorted(frame.numbers.keys() - set(self._numbers)))
            raise OptionError(f"numbers {unknown} of a step have no unit: name them in begin(numbers=…)")
        columns = self._columns
        self._whole = False
        self._waiting += sum(
            columns[f"steps/{name}"].append(getattr(frame, name)) for name in STEPS if name != "status"
        )
        self._waiting += columns["steps/status"].append(frame.status.encode())
        for name in self._numbers:
            self._waiting += columns[f"steps/{name}"].append(frame.numbers.get(name, np.nan))
        if self.recording.is_frame(frame.index, frame.time, frame.step):
            self._store(frame.index, frame.time, frame.step, frame, frame.contacts, frame.impulses)
            self._store_reactions(frame)
        self._whole = True
        if time.monotonic() - self._flushed >= _FLUSH_SECONDS:
            self._submit(unfinished=True)
        elif self._waiting >= _BATCH_BYTES:
            self._submit(unfinished=False)

    @property
    def checkpoint_due(self) -> bool:
        """Whether a checkpoint is due."""
        choice = self.recording
        if choice.checkpoint_every is not None:
            steps = self._columns["steps/time"].rows
            if steps - self._saved_step >= choice.checkpoint_every:
                return True
        seconds = choice.checkpoint_seconds
        return seconds is not None and time.monotonic() - self._saved >= seconds

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows of each kind added so far, including those that wait for writing."""
        self._check_open()
        rows = {"frames": self._columns["frames/time"].rows, "steps": self._columns["steps/time"].rows}
        if "contacts" in self.recording.fields:
            rows["contacts"] = self._columns["contacts/gap"].rows
        return rows

    def checkpoint(self, memory: Memory, rows: Mapping[str, int] | None = None) -> None:
        """Flush all rows to the disk, then write a checkpoint with the memory of the run.

        The memory belongs to the moment with the given `rows`; by default the present ones.
        """
        rows = self.rows if rows is None else rows
        self._flush()
        with writing(self._path):
            sync(self._path)
        write_checkpoint(checkpoint_path(self._path), Checkpoint(memory, rows, self._fingerprint))
        self._saved = time.monotonic()
        self._saved_step = rows["steps"]

    def close(self) -> None:
        """Write the remaining rows and close the file; repeated calls have no effect.

        After a step that could not be added nothing more is written, because the step would be incomplete.
        """
        if self._file is None:
            return
        try:
            if self._whole:
                self._flush()
        finally:
            self._end()

    # ---- beginning ------------------------------------------------------------------------------------

    def _check_older(self, resume: bool) -> None:
        """Raise if an existing file would be lost."""
        if resume and self.recording.overwrite:
            raise OptionError(
                f"resume=True continues {self._path} and overwrite=True replaces it: give one of them"
            )
        if not resume and not self.recording.overwrite and os.path.isfile(self._path):
            raise OptionError(
                f"{self._path} exists already: record in another file, continue it with resume=True, or "
                "replace it with overwrite=True of a Recording"
            )

    def _find_checkpoint(self, settings: str, steps: int | None) -> Checkpoint | None:
        """The checkpoint to resume from; it must belong to this system and recording, and lose no step."""
        if not os.path.exists(self._path):
            return None
        with reading(self._path, TRAJECTORY, growing=True) as old:
            found, was = old.text("fingerprint"), json.loads(bytes(old.read_text("settings")))
            times = old.group("steps").dataset("time", ("float64",))
            done, reached = len(times), float(times[-1]) if len(times) else 0.0
        self._check_same(self._path, found)
        _check_settings(self._path, was, json.loads(settings))
        if steps is not None and done > steps:
            raise OptionError(
                f"{self._path} has {done} steps already, to t = {reached:g} s, and {steps} were asked for: "
                "give a longer duration to continue, or record in another file"
            )
        path = checkpoint_path(self._path)
        if not os.path.exists(path):
            if done:
                raise OptionError(
                    f"{self._path} has {done} steps and no checkpoint to resume from: restore {path}, or "
                    "replace the recording (overwrite=True)"
                )
            return None  # killed before its first checkpoint
        checkpoint = read_checkpoint(path)
        self._check_same(path, checkpoint.fingerprint)
        return checkpoint

    def _check_same(self, path: FilePath, found: str) -> None:
        if found != self._fingerprint:
            raise OptionError(
                f"{path} belongs to another system or another state of it, or records other frames and "
                "fields: resume with what the run began with, or replace it (overwrite=True)"
            )

    def _create(
        self, arrays: Arrays, settings: str, kinds: list[ColumnKind], checkpoint: Checkpoint | None
    ) -> None:
        """Create the file with all constants, and with the rows up to the checkpoint."""
        import h5py

        def start(file: Path) -> None:
            """Reopen the file for writing, before it is renamed: a reader could lock it in its place."""
            self._file = h5py.File(file, "r+", libver=_FORMAT)
            self._columns = {kind.path: Column(self._file[kind.path]) for kind in kinds}
            self._file.swmr_mode = True
            if checkpoint is None:
                Path(checkpoint_path(self._path)).unlink(missing_ok=True)  # it belongs to the older run

        # A fixed name: if a run is killed here, the next one overwrites its file.
        part = f".{os.path.basename(self._path)}.part"
        with new_file(self._path, part=part, when_whole=start, libver=_FORMAT) as file:
            write_header(file, TRAJECTORY._replace(version=version(arrays)))
            write_text(file, fingerprint=self._fingerprint)
            write_constants(file, arrays)
            encoded = settings.encode()
            file.create_dataset("settings", data=encoded, dtype=text_type(len(encoded)))
            for kind in kinds:
                kind.create(file, compressed=self.recording.compression)
            if checkpoint is not None:
                check_room(self._path, os.path.getsize(self._path))
                self._copy(file, kinds, checkpoint.rows)

    def _copy(self, file: Any, kinds: list[ColumnKind], rows: Mapping[str, int]) -> None:
        """Copy the rows of a checkpoint from the previous file of the run."""
        old = open_file(self._path, TRAJECTORY, growing=True)
        try:
            for kind in kinds:
                count = rows.get(rows_of(kind.path), 0)
                with suspicion(self._path):
                    source = kind.find(old)
                    if len(source) < count:
                        raise FileFormatError(
                            f"{self._path} has {len(source)} rows of {kind.path} and its checkpoint counts "
                            f"{count}: it is not the file of this checkpoint; start again"
                        )
                copy_rows(source, file[kind.path], count, self._path)
        finally:
            old.node.close()

    # ---- writing --------------------------------------------------------------------------------------

    def _store(
        self, index: int, moment: float, step: float, state: Any, contacts: Contacts, impulses: Floats
    ) -> None:
        columns, fields = self._columns, self.recording.fields
        waiting = columns["frames/time"].append(moment)
        waiting += columns["frames/index"].append(index) + columns["frames/step"].append(step)
        for name in STATE:
            if name in fields:
                waiting += columns[f"frames/{name}"].append(getattr(state, name))
        if "contacts" in fields:
            waiting += columns["contacts/first"].append(columns["contacts/gap"].rows)
            waiting += columns["contacts/count"].append(len(contacts))
            for name in CONTACTS:
                values = impulses if name == "impulse" else getattr(contacts, name)
                waiting += columns[f"contacts/{name}"].extend(values)
        self._waiting += waiting

    def _store_reactions(self, frame: FrameLike | None) -> None:
        """Record the reactions of the joints, if requested; those of the initial state are unknown."""
        if not self._joint_rows:
            return
        found: ReactionsLike | None = None if frame is None else frame.reactions()
        for name in REACTIONS:
            values = np.nan if found is None else getattr(found, name)
            self._waiting += self._columns[f"reactions/{name}"].append(values)
        row_force = np.full(sum(map(len, self._joint_rows.values())), np.nan)
        if found is not None:
            for label, rows in self._joint_rows.items():
                row_force[rows] = found.rows[label]
        self._waiting += self._columns["reactions/row_force"].append(row_force)

    def _flush(self) -> None:
        """Write all rows and wait until they are visible to readers."""
        self._check_open()
        self._submit(unfinished=True)
        self._wait()

    def _submit(self, *, unfinished: bool) -> None:
        """Pass chunks to the thread, after it has finished the previous ones."""
        self._wait()
        jobs = [
            _Job(column, column.take(unfinished=unfinished), column.rows)
            for path, column in self._columns.items()
            if unfinished or path not in COMMITS
        ]
        jobs.sort(key=lambda job: job.column.name in COMMITS)
        self._waiting = 0
        if unfinished:
            self._flushed = time.monotonic()
        assert self._thread is not None
        self._running = self._thread.submit(self._write, jobs, commit=unfinished)

    def _write(self, jobs: list[_Job], *, commit: bool) -> None:
        """Write chunks; the last columns only when all others are visible."""
        check_room(self._path, sum(chunk.values.nbytes for job in jobs for chunk in job.chunks))
        for job in jobs:
            if job.column.name == COMMITS[0]:
                self._file.flush()
            job.column.write(job.chunks, job.rows)
        if commit:
            self._file.flush()
            self._kept = next(job.rows for job in jobs if job.column.name == COMMITS[0])

    def _wait(self) -> None:
        """Wait for the thread; raise its error, if any."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            running.result()
        except (OSError, RuntimeError) as error:  # HDF5 raises both for a failed write
            self._end()
            code = getattr(error, "errno", None)
            cause = os.strerror(code) if code else " ".join(str(error).split())
            raise OSError(
                f"cannot write {self._path}: {cause}; its first {self._kept} frames are kept"
            ) from error

    def _check_open(self) -> None:
        if self._file is None:
            raise OptionError(f"the recording {self._path} is closed: open a new Writer")

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
        file, self._file = self._file, None
        self._columns = {}
        if file is not None:
            with suppress(OSError, RuntimeError):  # after a failed write HDF5 cannot close properly either
                file.close()


def _as_json(settings: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(settings), sort_keys=True, default=_plain)
    except (TypeError, ValueError) as error:
        raise OptionError(f"settings cannot be recorded: {error}; give numbers and strings") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is neither a number nor a string")


def _check_settings(path: FilePath, was: dict[str, Any], now: dict[str, Any]) -> None:
    was = {name: value for name, value in _BEFORE.items() if name in now} | was
    options, present = was.get("solver_options"), now.get("solver_options")
    if isinstance(options, dict) and isinstance(present, dict):
        today = {_FORMER_OPTIONS[name]: name for name in present if name in _FORMER_OPTIONS}
        was["solver_options"] = {today.get(name, name): value for name, value in options.items()}
    for name in sorted(was.keys() | now.keys()):
        if name not in _MAY_CHANGE and was.get(name) != now.get(name):
            raise OptionError(
                f"{path} was recorded with {name} = {was.get(name)!r}, and now it is {now.get(name)!r}: "
                "resume with the same, or replace the recording (overwrite=True)"
            )
